//! Shapes as the `geo` crate has them, on a plane: their own, or a picture of the earth; and back.

use crate::arcs;
use crate::earth::{Earth, Picture, points_of, too_wide};
use crate::shape::{Curve, Pos, Shape, Spatial, World};
use crate::{Result, SpatialError};
use geo::{
    Coord, Geometry, GeometryCollection, LineString, MultiLineString, MultiPoint, MultiPolygon,
    Point, Polygon,
};
use std::collections::HashMap;

/// Where shapes lie that are looked at together.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant, reason = "one or two live at a time")]
pub(crate) enum Frame {
    Plane,
    Earth(Picture),
}

impl Frame {
    /// The one for all these; `None` where the earth is too round for it.
    pub fn of(values: &[&Spatial]) -> Option<Frame> {
        match values.first() {
            Some(first) if first.world == World::Earth => {
                Picture::of(Earth::of(first.srid), &points_of(values)).map(Frame::Earth)
            }
            _ => Some(Frame::Plane),
        }
    }

    fn to(&self, p: Pos) -> Coord<f64> {
        let p = match self {
            Frame::Plane => p,
            Frame::Earth(picture) => picture.project(p),
        };
        Coord { x: p.x, y: p.y }
    }

    fn back(&self, c: Coord<f64>) -> Pos {
        let p = Pos::new(c.x + 0.0, c.y + 0.0);
        match self {
            Frame::Plane => p,
            Frame::Earth(picture) => picture.back(p),
        }
    }
}

/// The way back to where points come from: what an operation left where it was is what it was, to the last bit.
pub(crate) struct Back {
    frame: Frame,
    known: HashMap<(u64, u64), Pos>,
}

impl Back {
    pub fn new(frame: Frame, of: &[&Spatial]) -> Back {
        let points = match frame {
            Frame::Plane => Vec::new(),
            Frame::Earth(_) => points_of(of),
        };
        let known = points.into_iter().map(|p| (key(frame.to(p)), p.flat())).collect();
        Back { frame, known }
    }

    pub fn at(&self, c: Coord<f64>) -> Pos {
        self.known.get(&key(c)).copied().unwrap_or_else(|| self.frame.back(c))
    }
}

/// A place, to the last bit.
pub(crate) fn key(c: Coord<f64>) -> (u64, u64) {
    ((c.x + 0.0).to_bits(), (c.y + 0.0).to_bits())
}

/// A shape on a plane.
#[derive(Clone, Debug)]
pub(crate) struct Flat {
    pub geometry: Geometry<f64>,
    /// It is all of the earth but that.
    pub is_rest: bool,
}

/// A shape in a frame.
pub(crate) fn flat(value: &Spatial, frame: &Frame) -> Result<Flat> {
    let shape = arcs::straight(value);
    if value.shape == Shape::FullGlobe {
        let nothing = MultiPolygon::new(Vec::new()).into();
        return Ok(Flat { geometry: nothing, is_rest: true });
    }
    if value.is_large {
        let rings = match &*shape {
            Shape::Polygon(rings) => rings,
            Shape::MultiPolygon(parts) => match parts.as_slice() {
                [Shape::Polygon(rings)] => rings,
                _ => return Err(too_large()),
            },
            _ => return Err(too_large()),
        };
        let holes = rings.iter().map(|ring| Polygon::new(run(ring, frame), Vec::new())).collect();
        return Ok(Flat { geometry: MultiPolygon::new(holes).into(), is_rest: true });
    }
    Ok(Flat { geometry: geometry(&shape, frame), is_rest: false })
}

#[cold]
pub(crate) fn too_large() -> SpatialError {
    SpatialError::unsupported(
        "Instances of several parts that are larger than a hemisphere are not supported by this operation here.",
    )
}

fn run(points: &[Pos], frame: &Frame) -> LineString<f64> {
    points.iter().map(|p| frame.to(*p)).collect()
}

fn polygon(rings: &[Vec<Pos>], frame: &Frame) -> Polygon<f64> {
    let mut rings: Vec<LineString<f64>> = rings.iter().map(|ring| run(ring, frame)).collect();
    if let Frame::Earth(_) = frame {
        // The outer ring is the one that turns left.
        let outer = rings.iter().position(|ring| crate::valid::signed_area(ring) > 0.0);
        rings.swap(0, outer.unwrap_or(0));
    }
    let mut rings = rings.into_iter();
    Polygon::new(rings.next().unwrap_or(LineString(Vec::new())), rings.collect())
}

fn geometry(shape: &Shape, frame: &Frame) -> Geometry<f64> {
    match shape {
        Shape::Point(Some(p)) => Point(frame.to(*p)).into(),
        Shape::Point(None) => MultiPoint(Vec::new()).into(),
        Shape::Curve(curve) => match curve {
            Curve::Line(points) | Curve::Arcs(points) => run(points, frame).into(),
            Curve::Compound(_) => run(&curve.points(), frame).into(),
        },
        Shape::Polygon(rings) if rings.is_empty() => MultiPolygon::new(Vec::new()).into(),
        Shape::Polygon(rings) => polygon(rings, frame).into(),
        Shape::MultiPoint(parts) => {
            let points = parts.iter().filter_map(|part| part.point_at(0));
            MultiPoint(points.map(|p| Point(frame.to(p))).collect()).into()
        }
        Shape::MultiLine(parts) => {
            let lines = parts.iter().filter(|part| !part.is_empty()).map(|part| match part {
                Shape::Curve(Curve::Line(points)) => run(points, frame),
                other => run(&other.points(), frame),
            });
            MultiLineString(lines.collect()).into()
        }
        Shape::MultiPolygon(parts) => {
            let polygons = parts.iter().filter_map(|part| match part {
                Shape::Polygon(rings) if !rings.is_empty() => Some(polygon(rings, frame)),
                _ => None,
            });
            MultiPolygon::new(polygons.collect()).into()
        }
        Shape::Collection(parts) => {
            let parts = parts.iter().filter(|part| !part.is_empty());
            Geometry::GeometryCollection(GeometryCollection(
                parts.map(|part| geometry(part, frame)).collect(),
            ))
        }
        // Arcs went before, the globe is told apart.
        Shape::CurvePolygon(_) | Shape::FullGlobe => MultiPolygon::new(Vec::new()).into(),
    }
}

/// What a shape is made of, by dimension.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    pub points: Vec<Coord<f64>>,
    pub lines: Vec<LineString<f64>>,
    pub area: Vec<Polygon<f64>>,
}

impl Parts {
    pub fn of(geometry: &Geometry<f64>) -> Parts {
        let mut parts = Parts::default();
        parts.take(geometry);
        parts
    }

    fn take(&mut self, geometry: &Geometry<f64>) {
        match geometry {
            Geometry::Point(p) => self.points.push(p.0),
            Geometry::LineString(line) => self.lines.push(line.clone()),
            Geometry::Polygon(polygon) => self.area.push(polygon.clone()),
            Geometry::MultiPoint(all) => self.points.extend(all.0.iter().map(|p| p.0)),
            Geometry::MultiLineString(all) => self.lines.extend_from_slice(&all.0),
            Geometry::MultiPolygon(all) => self.area.extend_from_slice(&all.0),
            Geometry::GeometryCollection(all) => all.0.iter().for_each(|part| self.take(part)),
            _ => {}
        }
    }

    /// The rings of its areas.
    pub fn rings(&self) -> impl Iterator<Item = &LineString<f64>> {
        self.area.iter().flat_map(|p| std::iter::once(p.exterior()).chain(p.interiors()))
    }

    /// The shape, with the points carried back; polygons begin where they lie lowest and turn left.
    pub fn shape(&self, back: &Back) -> Shape {
        let run = |coords: &[Coord<f64>]| coords.iter().map(|c| back.at(*c)).collect::<Vec<_>>();
        let mut points: Vec<Shape> =
            self.points.iter().map(|c| Shape::Point(Some(back.at(*c)))).collect();
        let mut lines: Vec<Shape> =
            self.lines.iter().map(|line| Shape::Curve(Curve::Line(run(&line.0)))).collect();
        let mut area: Vec<(Coord<f64>, Shape)> = Vec::new();
        for polygon in &self.area {
            let mut rings = vec![from_lowest(polygon.exterior(), true)];
            rings.extend(polygon.interiors().iter().map(|ring| from_lowest(ring, false)));
            rings.retain(|ring| ring.len() >= 4);
            if let Some(first) = rings.first().and_then(|ring| ring.first()).copied() {
                area.push((first, Shape::Polygon(rings.iter().map(|ring| run(ring)).collect())));
            }
        }
        area.sort_by(|(a, _), (b, _)| b.y.total_cmp(&a.y).then(b.x.total_cmp(&a.x)));
        let mut area: Vec<Shape> = area.into_iter().map(|(_, shape)| shape).collect();
        match (points.len(), lines.len(), area.len()) {
            (0, 0, 0) => Shape::Collection(Vec::new()),
            (1, 0, 0) => points.remove(0),
            (0, 1, 0) => lines.remove(0),
            (0, 0, 1) => area.remove(0),
            (_, 0, 0) => Shape::MultiPoint(points),
            (0, _, 0) => Shape::MultiLine(lines),
            (0, 0, _) => Shape::MultiPolygon(area),
            _ => {
                points.append(&mut lines);
                points.append(&mut area);
                Shape::Collection(points)
            }
        }
    }
}

/// A ring from its lowest point on, the leftmost of those, to the left or to the right.
fn from_lowest(ring: &LineString<f64>, left: bool) -> Vec<Coord<f64>> {
    let mut coords = ring.0.clone();
    coords.dedup();
    if (crate::valid::signed_area(ring) > 0.0) != left {
        coords.reverse();
    }
    coords.pop();
    let lowest = |(_, a): &(usize, &Coord<f64>), (_, b): &(usize, &Coord<f64>)| {
        a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x))
    };
    let at = coords.iter().enumerate().min_by(lowest).map_or(0, |(at, _)| at);
    coords.rotate_left(at);
    coords.extend(coords.first().copied());
    coords
}

/// The frame of two, or an error where they lie too far apart.
pub(crate) fn frame(values: &[&Spatial]) -> Result<Frame> {
    Frame::of(values).ok_or_else(too_wide)
}
