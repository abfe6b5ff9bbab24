//! Circular arcs become straight lines: 256 to a whole circle, so that none is off by more than 0.0075% of the radius.
//!
//! An arc goes from its first point over the second to the third; where the first is the third it is the whole circle whose
//! diameter ends at the second; three points in line are lines. On the earth it lies on the plane through its points.

use crate::earth::{Earth, Vector, cross, dot};
use crate::shape::{Curve, Pos, Shape, Spatial, World};
use std::borrow::Cow;
use std::f64::consts::{PI, TAU};

const STEP: f64 = TAU / 256.0;

/// The shape without arcs.
pub(crate) fn straight(value: &Spatial) -> Cow<'_, Shape> {
    if !value.shape.has_arcs() {
        return Cow::Borrowed(&value.shape);
    }
    let earth = (value.world == World::Earth).then(|| Earth::of(value.srid));
    Cow::Owned(shape(&value.shape, earth.as_ref()))
}

fn shape(of: &Shape, earth: Option<&Earth>) -> Shape {
    let parts = |all: &[Shape]| all.iter().map(|part| shape(part, earth)).collect();
    match of {
        Shape::Curve(c) => Shape::Curve(Curve::Line(curve(c, earth))),
        Shape::CurvePolygon(rings) => {
            Shape::Polygon(rings.iter().map(|ring| curve(ring, earth)).collect())
        }
        Shape::Collection(all) => Shape::Collection(parts(all)),
        other => other.clone(),
    }
}

/// The points of a curve, straight between each other.
pub(crate) fn curve(of: &Curve, earth: Option<&Earth>) -> Vec<Pos> {
    match of {
        Curve::Line(points) => points.clone(),
        Curve::Arcs(points) => arcs(points, earth),
        Curve::Compound(pieces) => {
            let mut all: Vec<Pos> = Vec::new();
            for piece in pieces {
                let run = match piece.is_arcs {
                    true => arcs(&piece.points, earth),
                    false => piece.points.clone(),
                };
                let from = usize::from(!all.is_empty()).min(run.len());
                all.extend_from_slice(&run[from..]);
            }
            all
        }
    }
}

fn arcs(points: &[Pos], earth: Option<&Earth>) -> Vec<Pos> {
    let mut all: Vec<Pos> = points.first().copied().into_iter().collect();
    for at in (0..points.len().saturating_sub(2)).step_by(2) {
        let [a, b, c] = [points[at], points[at + 1], points[at + 2]];
        match earth {
            Some(earth) => on_earth(earth, a, b, c, &mut all),
            None => on_plane(a, b, c, &mut all),
        }
        all.push(c);
    }
    all
}

/// An arc in the plane: its middle, its radius, where it begins, and how far it turns (more than 0: to the left).
pub(crate) struct Arc {
    pub x: f64,
    pub y: f64,
    pub radius: f64,
    pub begin: f64,
    pub turn: f64,
}

/// `None` of points in line.
pub(crate) fn arc(a: Pos, b: Pos, c: Pos) -> Option<Arc> {
    if a.at(c) {
        let (x, y) = ((a.x + b.x) / 2.0, (a.y + b.y) / 2.0);
        let radius = (a.x - x).hypot(a.y - y);
        let begin = (a.y - y).atan2(a.x - x);
        return (radius > 0.0).then_some(Arc { x, y, radius, begin, turn: TAU });
    }
    let (bx, by, cx, cy) = (b.x - a.x, b.y - a.y, c.x - a.x, c.y - a.y);
    let d = 2.0 * (bx * cy - by * cx);
    let (b2, c2) = (bx * bx + by * by, cx * cx + cy * cy);
    let (ux, uy) = ((cy * b2 - by * c2) / d, (bx * c2 - cx * b2) / d);
    let radius = ux.hypot(uy);
    if d == 0.0 || !radius.is_finite() || radius > 1e9 * c2.sqrt() {
        return None;
    }
    let (x, y) = (a.x + ux, a.y + uy);
    let begin = (-uy).atan2(-ux);
    let end = (c.y - y).atan2(c.x - x);
    let turn = match d > 0.0 {
        true => (end - begin).rem_euclid(TAU),
        false => -(begin - end).rem_euclid(TAU),
    };
    Some(Arc { x, y, radius, begin, turn })
}

fn on_plane(a: Pos, b: Pos, c: Pos, out: &mut Vec<Pos>) {
    let Some(arc) = arc(a, b, c) else { return out.push(b) };
    let steps = (arc.turn.abs() / STEP).ceil().max(1.0) as usize;
    for step in 1..steps {
        let (sin, cos) = (arc.begin + arc.turn * step as f64 / steps as f64).sin_cos();
        out.push(Pos { x: arc.x + arc.radius * cos, y: arc.y + arc.radius * sin, ..a });
    }
}

fn on_earth(earth: &Earth, a: Pos, b: Pos, c: Pos, out: &mut Vec<Pos>) {
    let [va, vb, vc] = [a, b, c].map(|p| earth.vector(p));
    let less = |u: Vector, v: Vector| [u[0] - v[0], u[1] - v[1], u[2] - v[2]];
    let axis = match a.at(c) {
        true => [va[0] + vb[0], va[1] + vb[1], va[2] + vb[2]],
        false => cross(less(vb, va), less(vc, va)),
    };
    let len = dot(axis, axis).sqrt();
    if len < 1e-15 {
        return out.push(b);
    }
    let axis = axis.map(|n| n / len);
    // Around the axis, from a on.
    let along = dot(va, axis);
    let out_x = less(va, axis.map(|n| n * along));
    let out_y = cross(axis, out_x);
    let angle = |v: Vector| dot(v, out_y).atan2(dot(v, out_x)).rem_euclid(TAU);
    let turn = if a.at(c) { TAU } else { angle(vc) };
    // A small arc of a great circle is hardly bent.
    if turn < PI && dot(out_x, out_x).sqrt() > 1.0 - 1e-15 {
        return out.push(b);
    }
    let steps = (turn / STEP).ceil().max(1.0) as usize;
    for step in 1..steps {
        let (sin, cos) = (turn * step as f64 / steps as f64).sin_cos();
        let v = [0, 1, 2].map(|i| axis[i] * along + out_x[i] * cos + out_y[i] * sin);
        let p = earth.point(v);
        out.push(Pos { x: p.x, y: p.y, ..a });
    }
}
