//! The round earth: edges are arcs of great ellipses, which a plane through its centre cuts.
//!
//! Seen from the centre onto a plane that touches the earth elsewhere, each such arc is a straight line. So whatever is
//! asked of how shapes lie to each other is asked of their pictures there, and what is made there is carried back; nothing
//! is approximated but by rounding. It holds for shapes that together lie within [`REACH_COS`] of a point; what is farther
//! apart does not meet. Lengths and areas are geodesic ones, of Karney's algorithms (geographiclib): the difference from
//! those of great ellipses is below 1e-6 of an edge of 1,000 km.

use crate::shape::{Pos, Spatial};
use crate::srid::{self, Srid};
use crate::{Result, SpatialError};
use geographiclib_rs::{DirectGeodesic, Geodesic, InverseGeodesic, PolygonArea, Winding};
use runtime::task::Breath;

/// A direction from the centre.
pub(crate) type Vector = [f64; 3];

/// The cosine of 85 degrees, the farthest from its middle that a picture reaches.
const REACH_COS: f64 = 0.087;

pub(crate) fn dot(a: Vector, b: Vector) -> f64 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

pub(crate) fn cross(a: Vector, b: Vector) -> Vector {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}

fn scaled(a: Vector, by: f64) -> Vector {
    a.map(|n| n * by)
}

fn added(a: Vector, b: Vector) -> Vector {
    [a[0] + b[0], a[1] + b[1], a[2] + b[2]]
}

fn normal(a: Vector) -> Option<Vector> {
    let len = dot(a, a).sqrt();
    (len > 1e-12).then(|| scaled(a, 1.0 / len))
}

/// The sine and cosine of degrees, exact at the quarters.
fn sin_cos(degrees: f64) -> (f64, f64) {
    let turned = degrees % 360.0;
    let quarter = (turned / 90.0).round();
    let (s, c) = (turned - quarter * 90.0).to_radians().sin_cos();
    match (quarter as i64).rem_euclid(4) {
        0 => (s, c),
        1 => (c, -s),
        2 => (-s, -c),
        _ => (-c, s),
    }
}

/// The direction of a point as latitude and longitude would have it on a sphere.
fn on_sphere(p: Pos) -> Vector {
    let ((sin_lat, cos_lat), (sin_long, cos_long)) = (sin_cos(p.y), sin_cos(p.x));
    [cos_lat * cos_long, cos_lat * sin_long, sin_lat]
}

/// No arc joins them: 1e-8 of a half turn or less is missing.
pub(crate) fn are_antipodal(a: Pos, b: Pos) -> bool {
    let (a, b) = (on_sphere(a), on_sphere(b));
    let sum = added(a, b);
    dot(sum, sum).sqrt() < 1e-8
}

/// An ellipsoid.
#[derive(Clone, Copy)]
pub(crate) struct Earth {
    pub a: f64,
    pub f: f64,
    geodesic: Geodesic,
}

impl Earth {
    pub fn of(srid: i32) -> Earth {
        // A value's SRID was looked at; bytes may have another one.
        let Srid { a, .. } = srid::find(srid).copied().unwrap_or(srid::ALL[0]);
        let f = srid::find(srid).map_or(0.0, Srid::f);
        Earth { a, f, geodesic: Geodesic::new(a, f) }
    }

    /// The direction from the centre, of length 1.
    pub fn vector(&self, p: Pos) -> Vector {
        let [x, y, z] = on_sphere(p);
        let e2 = self.f * (2.0 - self.f);
        normal([x, y, z * (1.0 - e2)]).unwrap_or([1.0, 0.0, 0.0])
    }

    /// The point in a direction.
    pub fn point(&self, v: Vector) -> Pos {
        let e2 = self.f * (2.0 - self.f);
        let across = v[0].hypot(v[1]);
        let y = (v[2] / (1.0 - e2)).atan2(across).to_degrees();
        let x = if across == 0.0 { 0.0 } else { v[1].atan2(v[0]).to_degrees() };
        Pos::new(x, y)
    }

    /// Metres between two points.
    pub fn distance(&self, a: Pos, b: Pos) -> f64 {
        self.geodesic.inverse(a.y, a.x, b.y, b.x)
    }

    /// The point so many metres away, at degrees from north.
    pub fn away(&self, from: Pos, degrees: f64, metres: f64) -> Pos {
        let (y, x) = self.geodesic.direct(from.y, from.x, degrees, metres);
        Pos::new(x, y)
    }

    /// Degrees from north at which `b` lies of `a`.
    pub fn azimuth(&self, a: Pos, b: Pos) -> f64 {
        let (azimuth, _, _): (f64, f64, f64) = self.geodesic.inverse(a.y, a.x, b.y, b.x);
        azimuth
    }

    /// Metres along a run of points.
    pub fn length(&self, run: &[Pos]) -> Result<f64> {
        let mut breath = Breath::new();
        let mut sum = 0.0;
        for pair in run.windows(2) {
            breath.steps(16)?;
            sum += self.distance(pair[0], pair[1]);
        }
        Ok(sum)
    }

    /// Square metres to the left of a ring.
    pub fn area(&self, ring: &[Pos]) -> Result<f64> {
        let mut breath = Breath::new();
        let mut area = PolygonArea::new(&self.geodesic, Winding::CounterClockwise);
        for p in ring.iter().skip(1) {
            breath.steps(16)?;
            area.add_point(p.y, p.x);
        }
        let (_, area, _) = area.compute(false);
        Ok(area)
    }

    /// Square metres of all of it.
    pub fn whole_area(&self) -> f64 {
        let b = self.a * (1.0 - self.f);
        let e2 = self.f * (2.0 - self.f);
        let c2 = match e2 > 0.0 {
            true => (self.a * self.a + b * b * e2.sqrt().atanh() / e2.sqrt()) / 2.0,
            false => self.a * self.a,
        };
        4.0 * std::f64::consts::PI * c2
    }
}

/// A plane that touches the earth, and the picture on it.
#[derive(Clone, Copy)]
pub(crate) struct Picture {
    pub earth: Earth,
    middle: Vector,
    right: Vector,
    up: Vector,
}

impl Picture {
    /// One that has all these points; `None` where they lie too far apart.
    pub fn of(earth: Earth, points: &[Pos]) -> Option<Picture> {
        let vectors = || points.iter().map(|p| earth.vector(*p));
        let sum = vectors().fold([0.0; 3], added);
        let middle = match points.is_empty() {
            true => [1.0, 0.0, 0.0],
            false => normal(sum)?,
        };
        if vectors().any(|v| dot(v, middle) < REACH_COS) {
            return None;
        }
        // East and north of the middle.
        let right = normal(cross([0.0, 0.0, 1.0], middle)).unwrap_or([0.0, 1.0, 0.0]);
        Some(Picture { earth, middle, right, up: cross(middle, right) })
    }

    pub fn project(&self, p: Pos) -> Pos {
        let v = self.earth.vector(p);
        let depth = dot(v, self.middle);
        // Adding zero takes the sign from a zero.
        let x = dot(v, self.right) / depth + 0.0;
        Pos { x, y: dot(v, self.up) / depth + 0.0, ..p }
    }

    pub fn back(&self, p: Pos) -> Pos {
        let v = added(self.middle, added(scaled(self.right, p.x), scaled(self.up, p.y)));
        let at = self.earth.point(normal(v).unwrap_or(v));
        Pos { x: at.x, y: at.y, ..p }
    }

    /// The middle, which is a point of the earth.
    pub fn middle(&self) -> Pos {
        self.earth.point(self.middle)
    }
}

/// The points of all of them, for a picture.
pub(crate) fn points_of(values: &[&Spatial]) -> Vec<Pos> {
    values.iter().flat_map(|value| value.shape.points()).collect()
}

/// What lies too far apart for what is asked.
#[cold]
pub(crate) fn too_wide() -> SpatialError {
    SpatialError::unsupported(
        "The shapes reach farther than 85 degrees from their middle, which this operation does not support here.",
    )
}
