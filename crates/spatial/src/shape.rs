//! Shapes as trees of points.
//!
//! Points are in the order of texts: x is a longitude and y a latitude where the shape is on the earth. What a point lacks
//! of height and measure is NaN.

use crate::{Result, SpatialError};

/// Which of the two types a shape is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum World {
    /// geometry
    Plane,
    /// geography
    Earth,
}

/// A point.
#[derive(Clone, Copy, Debug)]
pub struct Pos {
    pub x: f64,
    pub y: f64,
    pub z: f64,
    pub m: f64,
}

impl PartialEq for Pos {
    fn eq(&self, other: &Pos) -> bool {
        let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
        self.at(*other) && same(self.z, other.z) && same(self.m, other.m)
    }
}

impl Pos {
    pub const fn new(x: f64, y: f64) -> Pos {
        Pos { x, y, z: f64::NAN, m: f64::NAN }
    }

    /// In the same place, whatever the height.
    pub fn at(self, other: Pos) -> bool {
        self.x == other.x && self.y == other.y
    }

    pub fn flat(self) -> Pos {
        Pos::new(self.x, self.y)
    }
}

/// A part of a compound curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Piece {
    /// Circular arcs, three points each, not straight lines.
    pub is_arcs: bool,
    /// The first is the last of the piece before.
    pub points: Vec<Pos>,
}

/// What a line is made of.
#[derive(Clone, Debug, PartialEq)]
pub enum Curve {
    Line(Vec<Pos>),
    Arcs(Vec<Pos>),
    Compound(Vec<Piece>),
}

/// A shape. Parts of a `Multi` are of its kind.
#[derive(Clone, Debug, PartialEq)]
pub enum Shape {
    Point(Option<Pos>),
    Curve(Curve),
    /// Rings, the outer one first.
    Polygon(Vec<Vec<Pos>>),
    CurvePolygon(Vec<Curve>),
    MultiPoint(Vec<Shape>),
    MultiLine(Vec<Shape>),
    MultiPolygon(Vec<Shape>),
    Collection(Vec<Shape>),
    FullGlobe,
}

/// OpenGisType of [MS-SSCLRT] 2.1.5, with the name that STGeometryType gives.
pub(crate) const KINDS: [(u8, &str); 11] = [
    (1, "Point"),
    (2, "LineString"),
    (3, "Polygon"),
    (4, "MultiPoint"),
    (5, "MultiLineString"),
    (6, "MultiPolygon"),
    (7, "GeometryCollection"),
    (8, "CircularString"),
    (9, "CompoundCurve"),
    (10, "CurvePolygon"),
    (11, "FullGlobe"),
];

/// How deep collections may lie in each other.
pub const DEPTH_MAX: usize = 100;

/// A value of geometry or geography.
#[derive(Clone, Debug, PartialEq)]
pub struct Spatial {
    pub world: World,
    pub srid: i32,
    pub shape: Shape,
    /// STIsValid.
    pub is_valid: bool,
    /// It covers more than half of the earth.
    pub is_large: bool,
}

impl Curve {
    /// Every point, one after the other; of pieces, the common ones once.
    pub fn points(&self) -> Vec<Pos> {
        match self {
            Curve::Line(points) | Curve::Arcs(points) => points.clone(),
            Curve::Compound(pieces) => {
                let mut all: Vec<Pos> = Vec::new();
                for piece in pieces {
                    let from = usize::from(!all.is_empty()).min(piece.points.len());
                    all.extend_from_slice(&piece.points[from..]);
                }
                all
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Curve::Line(points) | Curve::Arcs(points) => points.is_empty(),
            Curve::Compound(pieces) => pieces.iter().all(|piece| piece.points.is_empty()),
        }
    }
}

impl Shape {
    /// Its OpenGisType.
    pub fn kind(&self) -> u8 {
        match self {
            Shape::Point(_) => 1,
            Shape::Curve(Curve::Line(_)) => 2,
            Shape::Polygon(_) => 3,
            Shape::MultiPoint(_) => 4,
            Shape::MultiLine(_) => 5,
            Shape::MultiPolygon(_) => 6,
            Shape::Collection(_) => 7,
            Shape::Curve(Curve::Arcs(_)) => 8,
            Shape::Curve(Curve::Compound(_)) => 9,
            Shape::CurvePolygon(_) => 10,
            Shape::FullGlobe => 11,
        }
    }

    /// The name of its kind.
    pub fn kind_name(&self) -> &'static str {
        KINDS[usize::from(self.kind()) - 1].1
    }

    /// The parts of a `Multi` or a collection.
    pub fn parts(&self) -> Option<&[Shape]> {
        match self {
            Shape::MultiPoint(parts)
            | Shape::MultiLine(parts)
            | Shape::MultiPolygon(parts)
            | Shape::Collection(parts) => Some(parts),
            _ => None,
        }
    }

    /// No part has a point.
    pub fn is_empty(&self) -> bool {
        match self {
            Shape::Point(point) => point.is_none(),
            Shape::Curve(curve) => curve.is_empty(),
            Shape::Polygon(rings) => rings.is_empty(),
            Shape::CurvePolygon(rings) => rings.is_empty(),
            Shape::FullGlobe => false,
            _ => self.parts().unwrap_or(&[]).iter().all(Shape::is_empty),
        }
    }

    /// -1 of an empty one.
    pub fn dimension(&self) -> i32 {
        if self.is_empty() {
            return -1;
        }
        match self {
            Shape::Point(_) | Shape::MultiPoint(_) => 0,
            Shape::Curve(_) | Shape::MultiLine(_) => 1,
            Shape::Polygon(_) | Shape::CurvePolygon(_) | Shape::MultiPolygon(_) => 2,
            Shape::FullGlobe => 2,
            Shape::Collection(parts) => parts.iter().map(Shape::dimension).max().unwrap_or(-1),
        }
    }

    /// Calls it with every run of points: a point, a line, a ring.
    pub fn each_run(&self, take: &mut impl FnMut(&[Pos])) {
        match self {
            Shape::Point(Some(point)) => take(std::slice::from_ref(point)),
            Shape::Point(None) | Shape::FullGlobe => {}
            Shape::Curve(curve) => run_of(curve, take),
            Shape::Polygon(rings) => rings.iter().for_each(|ring| take(ring)),
            Shape::CurvePolygon(rings) => rings.iter().for_each(|ring| run_of(ring, take)),
            _ => self.parts().unwrap_or(&[]).iter().for_each(|part| part.each_run(take)),
        }
    }

    /// Every point in the order of STPointN.
    pub fn points(&self) -> Vec<Pos> {
        let mut all = Vec::new();
        self.each_run(&mut |run| all.extend_from_slice(run));
        all
    }

    pub fn points_len(&self) -> usize {
        let mut len = 0;
        self.each_run(&mut |run| len += run.len());
        len
    }

    /// The point of that number, from 0.
    pub fn point_at(&self, n: usize) -> Option<Pos> {
        let mut left = Some(n);
        let mut found = None;
        self.each_run(&mut |run| match left {
            Some(n) if n < run.len() => {
                found = Some(run[n]);
                left = None;
            }
            Some(n) => left = Some(n - run.len()),
            None => {}
        });
        found
    }

    /// Changes every point.
    pub fn map(&self, change: &impl Fn(Pos) -> Pos) -> Shape {
        let run = |points: &[Pos]| points.iter().map(|p| change(*p)).collect::<Vec<_>>();
        let curve = |c: &Curve| match c {
            Curve::Line(points) => Curve::Line(run(points)),
            Curve::Arcs(points) => Curve::Arcs(run(points)),
            Curve::Compound(pieces) => Curve::Compound(
                pieces
                    .iter()
                    .map(|piece| Piece { is_arcs: piece.is_arcs, points: run(&piece.points) })
                    .collect(),
            ),
        };
        let parts = |all: &[Shape]| all.iter().map(|part| part.map(change)).collect::<Vec<_>>();
        match self {
            Shape::Point(point) => Shape::Point(point.map(change)),
            Shape::Curve(c) => Shape::Curve(curve(c)),
            Shape::Polygon(rings) => Shape::Polygon(rings.iter().map(|ring| run(ring)).collect()),
            Shape::CurvePolygon(rings) => Shape::CurvePolygon(rings.iter().map(curve).collect()),
            Shape::MultiPoint(all) => Shape::MultiPoint(parts(all)),
            Shape::MultiLine(all) => Shape::MultiLine(parts(all)),
            Shape::MultiPolygon(all) => Shape::MultiPolygon(parts(all)),
            Shape::Collection(all) => Shape::Collection(parts(all)),
            Shape::FullGlobe => Shape::FullGlobe,
        }
    }

    /// It has circular arcs.
    pub fn has_arcs(&self) -> bool {
        match self {
            Shape::Curve(curve) => !matches!(curve, Curve::Line(_)),
            Shape::CurvePolygon(_) => true,
            _ => self.parts().is_some_and(|parts| parts.iter().any(Shape::has_arcs)),
        }
    }

    /// It has the whole globe in it.
    pub fn has_globe(&self) -> bool {
        match self {
            Shape::FullGlobe => true,
            _ => self.parts().is_some_and(|parts| parts.iter().any(Shape::has_globe)),
        }
    }
}

fn run_of(curve: &Curve, take: &mut impl FnMut(&[Pos])) {
    match curve {
        Curve::Line(points) | Curve::Arcs(points) => take(points),
        Curve::Compound(_) => take(&curve.points()),
    }
}

impl Spatial {
    /// A part of this, as valid as it.
    pub fn part(&self, shape: Shape) -> Spatial {
        Spatial { world: self.world, srid: self.srid, shape, is_valid: true, is_large: false }
    }

    pub fn has_z(&self) -> bool {
        let mut has = false;
        self.shape.each_run(&mut |run| has |= run.iter().any(|p| !p.z.is_nan()));
        has
    }

    pub fn has_m(&self) -> bool {
        let mut has = false;
        self.shape.each_run(&mut |run| has |= run.iter().any(|p| !p.m.is_nan()));
        has
    }

    /// 24144 of what is not valid.
    pub fn valid(&self) -> Result<&Spatial> {
        if self.is_valid { Ok(self) } else { Err(SpatialError::invalid_instance()) }
    }
}

/// 24100, 24204.
pub fn check_srid(world: World, srid: i32) -> Result<()> {
    match world {
        World::Plane if !(0..=999_999).contains(&srid) => Err(SpatialError::argument(
            "24100: The spatial reference identifier (SRID) is not valid. SRIDs must be between 0 and 999999.",
        )),
        World::Earth if crate::srid::find(srid).is_none() => Err(SpatialError::argument(
            "24204: The spatial reference identifier (SRID) is not valid. The specified SRID must match one of the \
             supported SRIDs displayed in the sys.spatial_reference_systems catalog view.",
        )),
        _ => Ok(()),
    }
}
