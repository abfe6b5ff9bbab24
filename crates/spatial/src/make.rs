//! Shapes made of one shape: its border, its hull, what lies around it, fewer points of it.
//!
//! A buffer's circles are polygons, off by a thousandth of the distance unless a tolerance is told. On the earth it is put
//! together of one piece for each segment, whose points lie at the very distance. Sources: SQL documentation, "STBuffer",
//! "BufferWithTolerance", "STConvexHull", "STBoundary", "STEnvelope", "Reduce", "STPointOnSurface", "STIsSimple".

use crate::arcs;
use crate::earth::{Earth, cross, dot};
use crate::overlay::{Op, make_valid, overlay, union_all};
use crate::plane::{Back, Frame, Parts, flat, frame};
use crate::shape::{Curve, Pos, Shape, Spatial, World};
use crate::sweep::{Meeting, meeting, pairs, segments};
use crate::{Result, work};
use geo::buffer::{BufferStyle, LineCap, LineJoin};
use geo::{Buffer, Coord, Geometry, InteriorPoint, LineString, Polygon};
use runtime::task::Breath;
use std::collections::BTreeMap;

/// The hull of its points.
pub fn convex_hull(value: &Spatial) -> Result<Spatial> {
    let frame = frame(&[value])?;
    let Geometry::MultiPoint(points) = flat(
        &value.part(Shape::MultiPoint(
            arcs::straight(value).points().into_iter().map(|p| Shape::Point(Some(p))).collect(),
        )),
        &frame,
    )?
    .geometry
    else {
        return Ok(value.part(Shape::Collection(Vec::new())));
    };
    let mut coords: Vec<Coord<f64>> = points.0.iter().map(|p| p.0).collect();
    coords.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    coords.dedup();
    let hull = hull(&coords);
    let parts = match hull.as_slice() {
        [] => Parts::default(),
        [one] => Parts { points: vec![*one], ..Parts::default() },
        [a, b] => Parts { lines: vec![LineString(vec![*a, *b])], ..Parts::default() },
        _ => Parts { area: vec![Polygon::new(LineString(hull), Vec::new())], ..Parts::default() },
    };
    value.with(parts.shape(&Back::new(frame, &[value])))
}

/// Corners of the hull of points in order, to the left.
fn hull(coords: &[Coord<f64>]) -> Vec<Coord<f64>> {
    if coords.len() < 3 {
        return coords.to_vec();
    }
    let turn = |a: Coord<f64>, b: Coord<f64>, c: Coord<f64>| {
        (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x)
    };
    let half = |coords: &mut dyn Iterator<Item = &Coord<f64>>| {
        let mut out: Vec<Coord<f64>> = Vec::new();
        for c in coords {
            while let [.., a, b] = out.as_slice()
                && turn(*a, *b, *c) <= 0.0
            {
                out.pop();
            }
            out.push(*c);
        }
        out.pop();
        out
    };
    let mut all = half(&mut coords.iter());
    all.extend(half(&mut coords.iter().rev()));
    all
}

/// The box around it.
pub fn envelope(value: &Spatial) -> Shape {
    let straight = arcs::straight(value);
    let Some((low, high)) = crate::relate::bounds(&straight) else {
        return Shape::Collection(Vec::new());
    };
    let at = Pos::new;
    if low.at(high) {
        return Shape::Point(Some(low));
    }
    if low.x == high.x || low.y == high.y {
        return Shape::Curve(Curve::Line(vec![low, high]));
    }
    Shape::Polygon(vec![vec![low, at(high.x, low.y), high, at(low.x, high.y), low]])
}

/// What bounds it: the ends of lines that an odd number of lines has, the rings of polygons.
pub fn boundary(value: &Spatial) -> Shape {
    let mut ends: BTreeMap<(u64, u64), (Pos, usize)> = BTreeMap::new();
    let mut lines = Vec::new();
    border_of(&value.shape, &mut ends, &mut lines);
    let mut points: Vec<Pos> =
        ends.into_values().filter(|(_, n)| n % 2 == 1).map(|(p, _)| p).collect();
    points.sort_by(|a, b| b.y.total_cmp(&a.y).then(b.x.total_cmp(&a.x)));
    let mut points: Vec<Shape> = points.into_iter().map(|p| Shape::Point(Some(p))).collect();
    match (points.len(), lines.len()) {
        (0, 0) => Shape::Collection(Vec::new()),
        (1, 0) => points.remove(0),
        (_, 0) => Shape::MultiPoint(points),
        (0, 1) => lines.remove(0),
        (0, _) if lines.iter().all(|l| l.kind() == 2) => Shape::MultiLine(lines),
        _ => {
            points.append(&mut lines);
            Shape::Collection(points)
        }
    }
}

fn border_of(shape: &Shape, ends: &mut BTreeMap<(u64, u64), (Pos, usize)>, lines: &mut Vec<Shape>) {
    match shape {
        Shape::Curve(curve) => {
            let points = curve.points();
            if let (Some(first), Some(last)) = (points.first(), points.last())
                && !first.at(*last)
            {
                for p in [first, last] {
                    let key = ((p.x + 0.0).to_bits(), (p.y + 0.0).to_bits());
                    ends.entry(key).or_insert((p.flat(), 0)).1 += 1;
                }
            }
        }
        Shape::Polygon(rings) => {
            lines.extend(rings.iter().map(|r| Shape::Curve(Curve::Line(r.clone()))));
        }
        Shape::CurvePolygon(rings) => lines.extend(rings.iter().cloned().map(Shape::Curve)),
        _ => shape.parts().unwrap_or(&[]).iter().for_each(|part| border_of(part, ends, lines)),
    }
}

/// A point that lies in it.
pub fn point_on_surface(value: &Spatial) -> Result<Option<Pos>> {
    if value.shape.dimension() < 1 {
        return Ok(value.shape.point_at(0).map(Pos::flat));
    }
    let flat = flat(value, &Frame::Plane)?;
    let found = work::on([flat.geometry], |[shape]| shape.interior_point())?;
    Ok(found.map(|p| Pos::new(p.x(), p.y())))
}

/// Lines neither cross nor touch themselves or each other but at their ends; points are there once.
pub fn is_simple(value: &Spatial) -> Result<bool> {
    match &*arcs::straight(value) {
        Shape::Collection(parts) => {
            parts.iter().try_fold(true, |is, part| Ok(is && is_simple(&value.part(part.clone()))?))
        }
        Shape::MultiPoint(parts) => {
            let mut points: Vec<Pos> = parts.iter().filter_map(|p| p.point_at(0)).collect();
            points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
            Ok(!points.windows(2).any(|p| p[0].at(p[1])))
        }
        shape @ (Shape::Curve(_) | Shape::MultiLine(_)) => {
            let mut runs: Vec<Vec<Coord<f64>>> = Vec::new();
            shape.each_run(&mut |run| {
                let mut coords: Vec<_> = run.iter().map(|p| Coord { x: p.x, y: p.y }).collect();
                coords.dedup();
                runs.push(coords);
            });
            let mut all = Vec::new();
            for (n, run) in runs.iter().enumerate() {
                segments(run, n as u32, &mut all);
            }
            let is_end = |run: u32, c: Coord<f64>| {
                let run = &runs[run as usize];
                run.first() == Some(&c) || run.last() == Some(&c)
            };
            let mut is = true;
            pairs(&all, |a, b| {
                let follow = a.run == b.run && a.at.abs_diff(b.at) == 1;
                is = match meeting(a.line, b.line) {
                    Meeting::None => true,
                    Meeting::Stretch(_) => false,
                    Meeting::Point(..) if follow => true,
                    Meeting::Point(at, _) => is_end(a.run, at) && is_end(b.run, at),
                };
                Ok(is)
            })?;
            Ok(is)
        }
        _ => Ok(true),
    }
}

/// What lies no farther than that; less of it where the distance is below 0.
pub fn buffer(value: &Spatial, distance: f64, tolerance: f64) -> Result<Spatial> {
    if distance == 0.0 || value.shape.is_empty() {
        return Ok(value.clone());
    }
    if distance < 0.0 && value.shape.dimension() < 2 {
        return Ok(value.part(Shape::Collection(Vec::new())));
    }
    // The angle whose chord is that far from its arc.
    let part = (tolerance / distance.abs()).clamp(1e-5, 0.3);
    let angle = 2.0 * (1.0 - part).acos();
    match value.world {
        World::Plane => {
            let flat = flat(value, &Frame::Plane)?;
            let parts = work::on([flat.geometry], move |[shape]| {
                let style = BufferStyle::new(distance)
                    .line_join(LineJoin::Round(angle))
                    .line_cap(LineCap::Round(angle));
                Parts { area: shape.buffer_with_style(style).0, ..Parts::default() }
            })?;
            value.with(parts.shape(&Back::new(Frame::Plane, &[])))
        }
        World::Earth => around(value, distance, tolerance, angle),
    }
}

fn around(value: &Spatial, distance: f64, tolerance: f64, angle: f64) -> Result<Spatial> {
    let earth = Earth::of(value.srid);
    let far = distance.abs();
    if value.is_large || far > earth.a {
        return Err(crate::earth::too_wide());
    }
    // How long a piece of a segment may be whose side is drawn straight.
    let step = (8.0 * tolerance.max(far * 1e-5) * earth.a / (far / earth.a).tan()).sqrt();
    let mut pieces = Vec::new();
    let mut breath = Breath::new();
    let mut failed = None;
    let mut points = 0;
    arcs::straight(value).each_run(&mut |run| {
        let one = [run[0], run[0]];
        let run = if run.len() == 1 { &one[..] } else { run };
        for pair in run.windows(2) {
            failed = failed.take().or(breath.steps(64).err());
            if failed.is_some() || points > work::POINTS_MAX {
                return;
            }
            let ring = capsule(&earth, pair[0], pair[1], far, step, angle);
            points += ring.len();
            pieces.push(value.part(Shape::Polygon(vec![ring])));
        }
    });
    if let Some(stop) = failed {
        return Err(stop.into());
    }
    if distance > 0.0 && value.shape.dimension() == 2 {
        pieces.push(value.clone());
    }
    let nothing = || value.part(Shape::Collection(Vec::new()));
    let all = union_all(&pieces)?.unwrap_or_else(nothing);
    if distance > 0.0 { Ok(all) } else { overlay(Op::Difference, value, &all) }
}

/// The ring around a segment, to the left.
fn capsule(earth: &Earth, a: Pos, b: Pos, far: f64, step: f64, angle: f64) -> Vec<Pos> {
    let mut ring = Vec::new();
    let mut turn = |at: Pos, from: f64, by: f64| {
        let steps = (by.to_radians() / angle).ceil().max(4.0) as usize;
        for n in 0..=steps {
            ring.push(earth.away(at, from - by * n as f64 / steps as f64, far));
        }
    };
    if a.at(b) {
        turn(a, 360.0, 360.0);
    } else {
        let (va, vb) = (earth.vector(a), earth.vector(b));
        let n = cross(va, vb);
        let whole = dot(n, n).sqrt().atan2(dot(va, vb));
        let side = cross(n.map(|c| c / dot(n, n).sqrt()), va);
        let count = (whole * earth.a / step).ceil().clamp(1.0, 1000.0) as usize;
        let along = |t: usize| match t {
            0 => a,
            t if t == count => b,
            t => {
                let (sin, cos) = (whole * t as f64 / count as f64).sin_cos();
                earth.point([0, 1, 2].map(|i| va[i] * cos + side[i] * sin))
            }
        };
        let inner: Vec<Pos> = (0..=count).map(along).collect();
        let (out, home) = (earth.azimuth(a, b), earth.azimuth(b, a));
        // Round the far end, back along the left side, round the near end, along the right side.
        turn(b, home - 90.0, 180.0);
        for n in (1..count).rev() {
            ring.push(earth.away(inner[n], earth.azimuth(inner[n], inner[n - 1]) + 90.0, far));
        }
        let mut turn = |at: Pos, from: f64, by: f64| {
            let steps = (by.to_radians() / angle).ceil().max(4.0) as usize;
            for n in 0..=steps {
                ring.push(earth.away(at, from - by * n as f64 / steps as f64, far));
            }
        };
        turn(a, out - 90.0, 180.0);
        for n in 1..count {
            ring.push(earth.away(inner[n], earth.azimuth(inner[n], inner[n + 1]) + 90.0, far));
        }
    }
    ring.dedup_by(|a, b| a.at(*b));
    ring.extend(ring.first().copied());
    let turns_left = Frame::of(&[&Spatial {
        world: World::Earth,
        srid: crate::srid::DEFAULT,
        shape: Shape::Curve(Curve::Line(ring.clone())),
        is_valid: true,
        is_large: false,
    }])
    .is_none_or(|frame| match frame {
        Frame::Earth(picture) => {
            let run = ring.iter().map(|p| picture.project(*p));
            crate::valid::signed_area(&run.map(|p| Coord { x: p.x, y: p.y }).collect()) > 0.0
        }
        Frame::Plane => true,
    });
    if !turns_left {
        ring.reverse();
    }
    ring
}

/// The circle around it on the earth, as a polygon.
pub fn round_envelope(value: &Spatial) -> Result<Spatial> {
    let earth = Earth::of(value.srid);
    let Some(center) = crate::measure::envelope_center(value) else { return Ok(value.clone()) };
    let mut far = 0.0f64;
    let mut breath = Breath::new();
    for p in value.shape.points() {
        breath.steps(16)?;
        far = far.max(earth.distance(center, p));
    }
    if far == 0.0 {
        return Ok(value.part(Shape::Point(Some(center))));
    }
    // Its corners lie farther, so that its sides do not come nearer.
    buffer(&value.part(Shape::Point(Some(center))), far * 1.001, far / 1000.0)
}

/// How far apart the corners of what is around it are; on the earth twice the way from its middle.
pub fn diameter(value: &Spatial) -> f64 {
    match value.world {
        World::Plane => crate::relate::bounds(&arcs::straight(value))
            .map_or(0.0, |(low, high)| (high.x - low.x).hypot(high.y - low.y)),
        World::Earth => {
            let angle = crate::measure::envelope_angle(value).unwrap_or(0.0);
            2.0 * angle.to_radians() * Earth::of(value.srid).a
        }
    }
}

/// Lines in the place of arcs.
pub fn without_arcs(value: &Spatial) -> Result<Spatial> {
    if value.shape.has_arcs() {
        value.with(arcs::straight(value).into_owned())
    } else {
        Ok(value.clone())
    }
}

/// Every ring the other way round.
pub fn reoriented(shape: &Shape) -> Shape {
    let parts = |all: &[Shape]| all.iter().map(reoriented).collect();
    let turned = |points: &[Pos]| points.iter().rev().copied().collect::<Vec<_>>();
    let curve = |curve: &Curve| match curve {
        Curve::Line(points) => Curve::Line(turned(points)),
        Curve::Arcs(points) => Curve::Arcs(turned(points)),
        Curve::Compound(pieces) => Curve::Compound(
            pieces
                .iter()
                .rev()
                .map(|p| crate::Piece { is_arcs: p.is_arcs, points: turned(&p.points) })
                .collect(),
        ),
    };
    match shape {
        Shape::Polygon(rings) => Shape::Polygon(rings.iter().map(|ring| turned(ring)).collect()),
        Shape::CurvePolygon(rings) => Shape::CurvePolygon(rings.iter().map(curve).collect()),
        Shape::MultiPolygon(all) => Shape::MultiPolygon(parts(all)),
        Shape::Collection(all) => Shape::Collection(parts(all)),
        other => other.clone(),
    }
}

/// Fewer points, none of which is left out that lies farther than that from what stays (Douglas and Peucker).
pub fn reduce(value: &Spatial, tolerance: f64) -> Result<Spatial> {
    let earth = (value.world == World::Earth).then(|| Earth::of(value.srid));
    let mut breath = Breath::new();
    let shape = reduced(&arcs::straight(value), tolerance, earth.as_ref(), &mut breath)?;
    let made = value.with(shape.unwrap_or(Shape::Collection(Vec::new())))?;
    if made.is_valid { Ok(made) } else { make_valid(&made) }
}

fn reduced(
    shape: &Shape,
    tolerance: f64,
    earth: Option<&Earth>,
    breath: &mut Breath,
) -> Result<Option<Shape>> {
    let mut parts = |all: &[Shape]| -> Result<Vec<Shape>> {
        let mut out = Vec::new();
        for part in all {
            out.extend(reduced(part, tolerance, earth, breath)?);
        }
        Ok(out)
    };
    Ok(Some(match shape {
        Shape::MultiLine(all) => Shape::MultiLine(parts(all)?),
        Shape::MultiPolygon(all) => Shape::MultiPolygon(parts(all)?),
        Shape::Collection(all) => Shape::Collection(parts(all)?),
        Shape::Curve(curve) => {
            Shape::Curve(Curve::Line(run_of(&curve.points(), tolerance, earth, breath)?))
        }
        Shape::Polygon(rings) => {
            let mut out = Vec::new();
            for (at, ring) in rings.iter().enumerate() {
                let ring = run_of(ring, tolerance, earth, breath)?;
                match ring.len() {
                    4.. => out.push(ring),
                    _ if at == 0 => return Ok(None),
                    _ => {}
                }
            }
            Shape::Polygon(out)
        }
        other => other.clone(),
    }))
}

fn run_of(
    run: &[Pos],
    tolerance: f64,
    earth: Option<&Earth>,
    breath: &mut Breath,
) -> Result<Vec<Pos>> {
    if run.len() < 3 {
        return Ok(run.to_vec());
    }
    let vector = |p: &Pos| match earth {
        Some(earth) => earth.vector(*p).map(|n| n * earth.a),
        None => [p.x, p.y, 0.0],
    };
    let vectors: Vec<_> = run.iter().map(vector).collect();
    let off = |p: usize, a: usize, b: usize| {
        let less = |u: usize, v: usize| [0, 1, 2].map(|i| vectors[u][i] - vectors[v][i]);
        let (d, v) = (less(b, a), less(p, a));
        let len = dot(d, d);
        let t = if len == 0.0 { 0.0 } else { (dot(d, v) / len).clamp(0.0, 1.0) };
        let rest = [0, 1, 2].map(|i| v[i] - t * d[i]);
        match earth {
            // The chord lies below the arc; what counts is the way along the ground.
            Some(earth) if t > 0.0 && t < 1.0 => {
                let n = cross(vectors[a], vectors[b]);
                let n_len = dot(n, n).sqrt();
                (dot(n, vectors[p]) / (n_len * earth.a)).clamp(-1.0, 1.0).asin().abs() * earth.a
            }
            _ => dot(rest, rest).sqrt(),
        }
    };
    let mut keep = vec![false; run.len()];
    (keep[0], keep[run.len() - 1]) = (true, true);
    let mut open = vec![(0, run.len() - 1)];
    while let Some((a, b)) = open.pop() {
        let mut most = (0.0, a);
        for p in a + 1..b {
            breath.step()?;
            let d = off(p, a, b);
            if d > most.0 {
                most = (d, p);
            }
        }
        if most.0 > tolerance {
            keep[most.1] = true;
            open.extend([(a, most.1), (most.1, b)]);
        }
    }
    Ok(run.iter().zip(keep).filter(|(_, keep)| *keep).map(|(p, _)| *p).collect())
}
