//! Lengths, areas, distances, middles.
//!
//! On the plane arcs are measured as such; on the earth they are lines first ([`crate::arcs`]). Distances on the earth are
//! geodesic, between points of great ellipses, to the millimetre. Sources: SQL documentation, "STLength", "STArea",
//! "STDistance", "ShortestLineTo", "STCentroid", "EnvelopeCenter", "EnvelopeAngle".

use crate::arcs::{self, arc};
use crate::earth::{Earth, Vector, cross, dot};
use crate::relate::{Question, ask};
use crate::shape::{Curve, Pos, Shape, Spatial, World};
use crate::{Result, SpatialError};
use runtime::task::Breath;

/// The length of lines and rings.
pub fn length(value: &Spatial) -> Result<f64> {
    let mut sum = 0.0;
    let mut failed = None;
    match value.world {
        World::Earth => {
            let earth = Earth::of(value.srid);
            arcs::straight(value).each_run(&mut |run| match earth.length(run) {
                Ok(length) => sum += length,
                Err(e) => failed = Some(e),
            });
        }
        World::Plane => each_curve(&value.shape, &mut |curve| sum += plane_length(curve)),
    }
    failed.map_or(Ok(sum), Err)
}

/// Calls it with every line and ring.
fn each_curve(shape: &Shape, take: &mut impl FnMut(&Curve)) {
    match shape {
        Shape::Curve(curve) => take(curve),
        Shape::Polygon(rings) => rings.iter().for_each(|ring| take(&Curve::Line(ring.clone()))),
        Shape::CurvePolygon(rings) => rings.iter().for_each(take),
        _ => shape.parts().unwrap_or(&[]).iter().for_each(|part| each_curve(part, take)),
    }
}

fn plane_length(curve: &Curve) -> f64 {
    let straight = |points: &[Pos]| -> f64 {
        points.windows(2).map(|p| (p[1].x - p[0].x).hypot(p[1].y - p[0].y)).sum()
    };
    let round = |points: &[Pos]| -> f64 {
        let arcs = (0..points.len().saturating_sub(2)).step_by(2);
        arcs.map(|at| match arc(points[at], points[at + 1], points[at + 2]) {
            Some(arc) => arc.radius * arc.turn.abs(),
            None => straight(&points[at..at + 3]),
        })
        .sum()
    };
    match curve {
        Curve::Line(points) => straight(points),
        Curve::Arcs(points) => round(points),
        Curve::Compound(pieces) => pieces
            .iter()
            .map(|piece| if piece.is_arcs { round(&piece.points) } else { straight(&piece.points) })
            .sum(),
    }
}

/// The area to the left of a ring.
fn ring_area(ring: &Curve) -> f64 {
    let straight = |points: &[Pos], from: Pos| -> f64 {
        let cross = |p: &[Pos]| {
            let (ax, ay, bx, by) =
                (p[0].x - from.x, p[0].y - from.y, p[1].x - from.x, p[1].y - from.y);
            ax * by - ay * bx
        };
        points.windows(2).map(cross).sum::<f64>() / 2.0
    };
    let round = |points: &[Pos], from: Pos| -> f64 {
        let arcs = (0..points.len().saturating_sub(2)).step_by(2);
        arcs.map(|at| {
            let [a, b, c] = [points[at], points[at + 1], points[at + 2]];
            match arc(a, b, c) {
                Some(arc) => {
                    let slice = arc.radius * arc.radius * (arc.turn - arc.turn.sin()) / 2.0;
                    straight(&[a, c], from) + slice
                }
                None => straight(&[a, b, c], from),
            }
        })
        .sum()
    };
    let Some(from) = ring.points().first().copied() else { return 0.0 };
    match ring {
        Curve::Line(points) => straight(points, from),
        Curve::Arcs(points) => round(points, from),
        Curve::Compound(pieces) => pieces
            .iter()
            .map(|p| if p.is_arcs { round(&p.points, from) } else { straight(&p.points, from) })
            .sum(),
    }
}

/// The area of polygons.
pub fn area(value: &Spatial) -> Result<f64> {
    match value.world {
        World::Plane => Ok(plane_area(&value.shape)),
        World::Earth => {
            let earth = Earth::of(value.srid);
            earth_area(&earth, &arcs::straight(value))
        }
    }
}

fn plane_area(shape: &Shape) -> f64 {
    let rings = |areas: Vec<f64>| {
        let outer = areas.first().map_or(0.0, |a| a.abs());
        outer - areas.iter().skip(1).map(|a| a.abs()).sum::<f64>()
    };
    match shape {
        Shape::Polygon(all) => {
            rings(all.iter().map(|ring| ring_area(&Curve::Line(ring.clone()))).collect())
        }
        Shape::CurvePolygon(all) => rings(all.iter().map(ring_area).collect()),
        _ => shape.parts().unwrap_or(&[]).iter().map(plane_area).sum(),
    }
}

fn earth_area(earth: &Earth, shape: &Shape) -> Result<f64> {
    match shape {
        Shape::FullGlobe => Ok(earth.whole_area()),
        Shape::Polygon(rings) if rings.is_empty() => Ok(0.0),
        Shape::Polygon(rings) => {
            // What each ring leaves on its right is missing.
            let whole = earth.whole_area();
            let mut area = whole;
            for ring in rings {
                area += earth.area(ring)? - whole;
            }
            Ok(if area < 0.0 { area + whole } else { area })
        }
        _ => {
            let mut sum = 0.0;
            for part in shape.parts().unwrap_or(&[]) {
                sum += earth_area(earth, part)?;
            }
            Ok(sum)
        }
    }
}

/// The middle of the area of polygons; `None` of what has none.
pub fn centroid(value: &Spatial) -> Result<Option<Pos>> {
    let is_area =
        matches!(value.shape, Shape::Polygon(_) | Shape::CurvePolygon(_) | Shape::MultiPolygon(_));
    let shape = arcs::straight(value);
    let Some(from) = shape.point_at(0).filter(|_| is_area) else { return Ok(None) };
    let (mut area, mut x, mut y) = (0.0, 0.0, 0.0);
    let mut take = |rings: &[Vec<Pos>]| {
        for (at, ring) in rings.iter().enumerate() {
            let (mut a, mut rx, mut ry) = (0.0, 0.0, 0.0);
            for p in ring.windows(2) {
                let (ax, ay, bx, by) =
                    (p[0].x - from.x, p[0].y - from.y, p[1].x - from.x, p[1].y - from.y);
                let cross = ax * by - ay * bx;
                (a, rx, ry) = (a + cross, rx + (ax + bx) * cross, ry + (ay + by) * cross);
            }
            let sign = if (a > 0.0) == (at == 0) { 1.0 } else { -1.0 };
            (area, x, y) = (area + sign * a, x + sign * rx, y + sign * ry);
        }
    };
    match &*shape {
        Shape::Polygon(rings) => take(rings),
        Shape::MultiPolygon(parts) => parts.iter().for_each(|part| {
            if let Shape::Polygon(rings) = part {
                take(rings);
            }
        }),
        _ => {}
    }
    Ok((area != 0.0).then(|| Pos::new(from.x + x / (3.0 * area), from.y + y / (3.0 * area))))
}

/// The middle of the earth's directions to a shape's points.
pub fn envelope_center(value: &Spatial) -> Option<Pos> {
    let earth = Earth::of(value.srid);
    let points = value.shape.points();
    let sum = points
        .iter()
        .map(|p| earth.vector(*p))
        .fold([0.0; 3], |a: Vector, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
    (!points.is_empty()).then(|| earth.point(sum))
}

/// Degrees from there to the farthest point.
pub fn envelope_angle(value: &Spatial) -> Option<f64> {
    if value.is_large {
        return Some(180.0);
    }
    let earth = Earth::of(value.srid);
    let middle = earth.vector(envelope_center(value)?);
    let angle = |p: &Pos| {
        let v = earth.vector(*p);
        let c = cross(v, middle);
        dot(c, c).sqrt().atan2(dot(v, middle)).to_degrees()
    };
    Some(value.shape.points().iter().map(angle).fold(0.0, f64::max))
}

/// A segment, or a point twice.
#[derive(Clone, Copy)]
struct Seg {
    ends: [Pos; 2],
    dirs: [Vector; 2],
}

/// Segments side by side, and a ball around them.
struct Chunk<'a> {
    all: &'a [Seg],
    middle: Vector,
    reach: f64,
}

const CHUNK: usize = 32;

fn less(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn far(a: Vector, b: Vector) -> f64 {
    let d = less(a, b);
    dot(d, d).sqrt()
}

fn chunks<'a>(all: &'a [Seg], is_earth: bool) -> Vec<Chunk<'a>> {
    let of = |all: &'a [Seg]| {
        let ends = || all.iter().flat_map(|s| s.dirs);
        let sum = ends().fold([0.0; 3], |a: Vector, b| [a[0] + b[0], a[1] + b[1], a[2] + b[2]]);
        let middle = sum.map(|n| n / (all.len() * 2) as f64);
        // An arc is bent outwards by less than its chord's square.
        let bend = match is_earth {
            true => all.iter().map(|s| far(s.dirs[0], s.dirs[1]).powi(2)).fold(0.0, f64::max),
            false => 0.0,
        };
        let reach = ends().map(|v| far(v, middle)).fold(0.0, f64::max) + bend;
        Chunk { all, middle, reach }
    };
    all.chunks(CHUNK).map(of).collect()
}

/// The least distance between two valid shapes, and where it is; `None` where one is empty.
pub fn nearest(a: &Spatial, b: &Spatial) -> Result<Option<(f64, Pos, Pos)>> {
    if a.shape.is_empty() || b.shape.is_empty() {
        return Ok(None);
    }
    let is_earth = a.world == World::Earth;
    let is_point = |value: &Spatial| matches!(value.shape, Shape::Point(_));
    if let (Some(p), Some(q), true) =
        (a.shape.point_at(0), b.shape.point_at(0), is_point(a) && is_point(b))
    {
        let distance = match is_earth {
            true => Earth::of(a.srid).distance(p, q),
            false => (p.x - q.x).hypot(p.y - q.y),
        };
        return Ok(Some((distance, p, q)));
    }
    if meet(a, b)? {
        let at = match is_earth && (a.shape.has_globe() || b.shape.has_globe()) {
            true => None,
            false => {
                crate::overlay::overlay(crate::overlay::Op::Intersection, a, b)?.shape.point_at(0)
            }
        };
        let at = at.or(a.shape.point_at(0)).or(b.shape.point_at(0)).unwrap_or(Pos::new(0.0, 0.0));
        return Ok(Some((0.0, at, at)));
    }
    let earth = Earth::of(a.srid);
    let segs = |value: &Spatial| {
        let mut all = Vec::new();
        arcs::straight(value).each_run(&mut |run| {
            let dir = |p: Pos| if is_earth { earth.vector(p) } else { [p.x, p.y, 0.0] };
            if let [one] = run {
                all.push(Seg { ends: [*one; 2], dirs: [dir(*one); 2] });
            }
            all.extend(
                run.windows(2).map(|p| Seg { ends: [p[0], p[1]], dirs: [dir(p[0]), dir(p[1])] }),
            );
        });
        all
    };
    let (left, right) = (segs(a), segs(b));
    let (left, right) = (chunks(&left, is_earth), chunks(&right, is_earth));
    // No way is shorter than the chord on a ball as small as the earth's shorter half axis.
    let scale = if is_earth { earth.a * (1.0 - earth.f) } else { 1.0 };
    let mut best: Option<(f64, Pos, Pos)> = None;
    let mut breath = Breath::new();
    for l in &left {
        for r in &right {
            breath.steps(4)?;
            let apart = (far(l.middle, r.middle) - l.reach - r.reach) * scale;
            if best.is_some_and(|(d, ..)| apart > d) {
                continue;
            }
            for s in l.all {
                for t in r.all {
                    breath.steps(8)?;
                    for (at, seg, turned) in
                        [(0, t, false), (1, t, false), (0, s, true), (1, s, true)]
                    {
                        let from = if turned { t } else { s };
                        let limit = best.map_or(f64::INFINITY, |(d, ..)| d);
                        let (p, v) = (from.ends[at], from.dirs[at]);
                        let found = match is_earth {
                            true => on_arc(&earth, p, v, seg, limit),
                            false => Some(on_segment(p, seg)),
                        };
                        if let Some((d, q)) = found.filter(|(d, _)| *d < limit) {
                            best = Some(if turned { (d, q, p) } else { (d, p, q) });
                        }
                    }
                }
            }
        }
    }
    Ok(best)
}

/// Do they meet? What is too far apart for a picture, but for points, does not where boundaries are what is nearest.
fn meet(a: &Spatial, b: &Spatial) -> Result<bool> {
    match ask(Question::Intersects, a, b) {
        Err(SpatialError { stop: None, .. })
            if a.shape.dimension() < 2 && b.shape.dimension() < 2 =>
        {
            Ok(false)
        }
        other => other,
    }
}

fn on_segment(p: Pos, seg: &Seg) -> (f64, Pos) {
    let [a, b] = seg.ends;
    let (dx, dy) = (b.x - a.x, b.y - a.y);
    let len = dx * dx + dy * dy;
    let t = if len == 0.0 { 0.0 } else { ((p.x - a.x) * dx + (p.y - a.y) * dy) / len };
    let q = match t {
        t if t <= 0.0 => a,
        t if t >= 1.0 => b,
        t => Pos::new(a.x + t * dx, a.y + t * dy),
    };
    ((p.x - q.x).hypot(p.y - q.y), q)
}

/// The nearest point of an arc, if it may be nearer than `limit`.
fn on_arc(earth: &Earth, p: Pos, v: Vector, seg: &Seg, limit: f64) -> Option<(f64, Pos)> {
    let [a, b] = seg.dirs;
    let n = cross(a, b);
    let len = dot(n, n).sqrt();
    let ends = || {
        let [d, e] = seg.ends.map(|q| (earth.distance(p, q), q));
        if d.0 <= e.0 { d } else { e }
    };
    if len < 1e-14 {
        return Some(ends());
    }
    let n = n.map(|c| c / len);
    // How far along the arc, in radians, the foot of p is.
    let side = cross(n, a);
    let whole = len.atan2(dot(a, b));
    let foot = dot(v, side).atan2(dot(v, a));
    let nearest = foot.clamp(0.0, whole);
    let at = |t: f64| {
        let (sin, cos) = t.sin_cos();
        [0, 1, 2].map(|i| a[i] * cos + side[i] * sin)
    };
    let shorter_axis = earth.a * (1.0 - earth.f);
    let near_end = |t: f64| far(at(t), v);
    let least = near_end(nearest).min(near_end(0.0)).min(near_end(whole));
    // The true foot lies within a hundredth of the distance of this one.
    let slack = 0.012 * least + 1e-9;
    if (least - slack) * shorter_axis > limit {
        return None;
    }
    let (mut low, mut high) = ((nearest - slack).max(0.0), (nearest + slack).min(whole));
    let measure = |t: f64| earth.distance(p, earth.point(at(t)));
    let golden = 0.618_033_988_749_895;
    let (mut c, mut d) = (high - golden * (high - low), low + golden * (high - low));
    let (mut fc, mut fd) = (measure(c), measure(d));
    while high - low > 1e-10 {
        if fc < fd {
            (high, d, fd) = (d, c, fc);
            c = high - golden * (high - low);
            fc = measure(c);
        } else {
            (low, c, fc) = (c, d, fd);
            d = low + golden * (high - low);
            fd = measure(d);
        }
    }
    let middle = (low + high) / 2.0;
    let inner = (measure(middle), earth.point(at(middle)));
    let ends = ends();
    Some(if ends.0 <= inner.0 { ends } else { inner })
}
