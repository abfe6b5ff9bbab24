//! A value's bytes.
//!
//! ```text
//! SRID i32 | version 1 or 2 | properties: Z 1, M 2, valid 4, one point 8, one segment 16, larger than half the earth 32
//! one point or one segment: their x y, then z, then m
//! else: points u32, x y of each, z of each, m of each
//!       figures u32: attribute u8, first point i32
//!       shapes u32: parent i32, first figure i32, OpenGisType u8
//!       segments u32: type u8 (version 2, where a figure is a compound curve)
//! ```
//!
//! All little-endian. Of geography the latitude comes first. Version 2 is written where version 1 cannot tell: arcs, the
//! whole globe, more than half the earth. A count beyond the bytes at hand is an error before room is made for it.
//! Source: [MS-SSCLRT] 2.1.2 to 2.1.7, 3.1.

use crate::shape::{Curve, DEPTH_MAX, Piece, Pos, Shape, Spatial, World};
use crate::{Result, SpatialError};
use runtime::task::Breath;

const Z: u8 = 1;
const M: u8 = 2;
const VALID: u8 = 4;
const ONE_POINT: u8 = 8;
const ONE_SEGMENT: u8 = 16;
const LARGE: u8 = 32;

/// Attributes of figures, version 2. Of version 1 they tell rings apart, whose order tells the same.
const FIGURE_ARCS: u8 = 2;
const FIGURE_COMPOUND: u8 = 3;

struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (head, rest) = self.0.split_at_checked(len).ok_or_else(SpatialError::bad_bytes)?;
        self.0 = rest;
        Ok(head)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn i32(&mut self) -> Result<i32> {
        self.take(4)?.try_into().map(i32::from_le_bytes).map_err(|_| SpatialError::bad_bytes())
    }

    fn f64(&mut self) -> Result<f64> {
        self.take(8)?.try_into().map(f64::from_le_bytes).map_err(|_| SpatialError::bad_bytes())
    }

    /// A count of things that have so many bytes.
    fn count(&mut self, bytes_each: usize) -> Result<usize> {
        let count = usize::try_from(self.i32()?).map_err(|_| SpatialError::bad_bytes())?;
        if count > self.0.len() / bytes_each {
            return Err(SpatialError::bad_bytes());
        }
        Ok(count)
    }
}

struct Figure {
    attribute: u8,
    first: usize,
    last: usize,
}

struct Row {
    parent: Option<usize>,
    figure: Option<usize>,
    kind: u8,
}

/// The value that bytes are; `None` where they say NULL, which is SRID -1 alone.
pub fn read(world: World, bytes: &[u8]) -> Result<Option<Spatial>> {
    let mut from = Bytes(bytes);
    let srid = from.i32()?;
    if srid == -1 && from.0.is_empty() {
        return Ok(None);
    }
    let version = from.u8()?;
    if !(1..=2).contains(&version) {
        let name = if world == World::Earth { "Geography" } else { "Geometry" };
        return Err(SpatialError::format(format!(
            "24210: {name} type with an unexpected version of {version} received; only versions up to 2 are accepted."
        )));
    }
    let properties = from.u8()?;
    let simple = properties & (ONE_POINT | ONE_SEGMENT);
    let len = match simple {
        0 => from.count(16)?,
        ONE_POINT => 1,
        ONE_SEGMENT => 2,
        _ => return Err(SpatialError::bad_bytes()),
    };
    let points = read_points(&mut from, world, len, properties)?;
    let shape = match simple {
        ONE_POINT => Shape::Point(points.first().copied()),
        ONE_SEGMENT => Shape::Curve(Curve::Line(points)),
        _ => read_shapes(&mut from, points, version)?,
    };
    if !from.0.is_empty() {
        return Err(SpatialError::bad_bytes());
    }
    let is_large = version == 2 && properties & LARGE != 0;
    Ok(Some(Spatial { world, srid, shape, is_valid: properties & VALID != 0, is_large }))
}

fn read_points(from: &mut Bytes<'_>, world: World, len: usize, has: u8) -> Result<Vec<Pos>> {
    let mut breath = Breath::new();
    let mut points = Vec::with_capacity(len);
    for _ in 0..len {
        breath.step()?;
        let (a, b) = (from.f64()?, from.f64()?);
        points.push(if world == World::Earth { Pos::new(b, a) } else { Pos::new(a, b) });
    }
    if has & Z != 0 {
        for point in &mut points {
            point.z = from.f64()?;
        }
    }
    if has & M != 0 {
        for point in &mut points {
            point.m = from.f64()?;
        }
    }
    Ok(points)
}

fn read_shapes(from: &mut Bytes<'_>, points: Vec<Pos>, version: u8) -> Result<Shape> {
    let bad = SpatialError::bad_bytes;
    let mut figures: Vec<Figure> = Vec::with_capacity(from.next_count(5)?);
    for _ in 0..from.count(5)? {
        let attribute = from.u8()?;
        let first = usize::try_from(from.i32()?).map_err(|_| bad())?;
        if let Some(before) = figures.last_mut() {
            if first < before.first {
                return Err(bad());
            }
            before.last = first;
        } else if first != 0 {
            return Err(bad());
        }
        if first > points.len() {
            return Err(bad());
        }
        figures.push(Figure { attribute, first, last: points.len() });
    }
    if figures.is_empty() != points.is_empty() {
        return Err(bad());
    }
    let mut rows: Vec<Row> = Vec::with_capacity(from.next_count(9)?);
    let mut depths: Vec<usize> = Vec::new();
    for at in 0..from.count(9)? {
        let parent = usize::try_from(from.i32()?).ok();
        let figure = usize::try_from(from.i32()?).ok();
        let kind = from.u8()?;
        if parent.is_some_and(|p| p >= at) || (at > 0) != parent.is_some() {
            return Err(bad());
        }
        let depth = parent.map_or(0, |p| depths[p] + 1);
        if depth > DEPTH_MAX {
            return Err(bad());
        }
        depths.push(depth);
        rows.push(Row { parent, figure, kind });
    }
    let is_compound = |f: &Figure| version == 2 && f.attribute == FIGURE_COMPOUND;
    let segments = if figures.iter().any(is_compound) {
        let count = from.count(1)?;
        from.take(count)?
    } else {
        &[]
    };
    let mut tree = Tree { points, figures, segments, version };
    tree.build(&rows)
}

impl Bytes<'_> {
    /// The count that comes next, which stays there.
    fn next_count(&self, bytes_each: usize) -> Result<usize> {
        Bytes(self.0).count(bytes_each)
    }
}

struct Tree<'a> {
    points: Vec<Pos>,
    figures: Vec<Figure>,
    segments: &'a [u8],
    version: u8,
}

impl Tree<'_> {
    /// Leaves take their figures in the order of the shapes; parts go to their parent from the last one backwards.
    fn build(&mut self, rows: &[Row]) -> Result<Shape> {
        let bad = SpatialError::bad_bytes;
        let mut parts: Vec<Vec<Shape>> = rows.iter().map(|_| Vec::new()).collect();
        let mut made: Vec<Option<Shape>> = Vec::with_capacity(rows.len());
        let mut next = 0;
        for (at, row) in rows.iter().enumerate() {
            let Some(figure) = row.figure.filter(|_| !matches!(row.kind, 4..=7)) else {
                made.push(None);
                continue;
            };
            let end = rows[at + 1..].iter().find_map(|r| r.figure).unwrap_or(self.figures.len());
            if figure != next || end < figure || end > self.figures.len() {
                return Err(bad());
            }
            next = end;
            made.push(Some(self.leaf(row.kind, figure, end)?));
        }
        if next != self.figures.len() || !self.segments.is_empty() {
            return Err(bad());
        }
        let mut whole = None;
        for (at, row) in rows.iter().enumerate().rev() {
            let mut own = std::mem::take(&mut parts[at]);
            own.reverse();
            if !matches!(row.kind, 4..=7) && !own.is_empty() {
                return Err(bad());
            }
            let all_are =
                |own: &[Shape], kinds: &[u8]| own.iter().all(|s| kinds.contains(&s.kind()));
            let shape = match (row.kind, made[at].take()) {
                (_, Some(leaf)) => leaf,
                (4, _) if all_are(&own, &[1]) => Shape::MultiPoint(own),
                (5, _) if all_are(&own, &[2]) => Shape::MultiLine(own),
                (6, _) if all_are(&own, &[3]) => Shape::MultiPolygon(own),
                (7, _) if all_are(&own, &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10]) => Shape::Collection(own),
                (1, _) => Shape::Point(None),
                (2, _) => Shape::Curve(Curve::Line(Vec::new())),
                (3, _) => Shape::Polygon(Vec::new()),
                (8, _) if self.version == 2 => Shape::Curve(Curve::Arcs(Vec::new())),
                (9, _) if self.version == 2 => Shape::Curve(Curve::Compound(Vec::new())),
                (10, _) if self.version == 2 => Shape::CurvePolygon(Vec::new()),
                (11, _) if self.version == 2 => Shape::FullGlobe,
                _ => return Err(bad()),
            };
            match row.parent {
                Some(parent) => parts[parent].push(shape),
                None => whole = Some(shape),
            }
        }
        whole.ok_or_else(bad)
    }

    fn leaf(&mut self, kind: u8, from: usize, to: usize) -> Result<Shape> {
        let run = |f: &Figure| self.points[f.first..f.last].to_vec();
        let figures = &self.figures[from..to];
        Ok(match (kind, figures) {
            (1, [one]) if one.last - one.first == 1 => Shape::Point(Some(self.points[one.first])),
            (2, [one]) => Shape::Curve(Curve::Line(run(one))),
            (3, [_, ..]) => Shape::Polygon(figures.iter().map(run).collect()),
            (8, [one]) => Shape::Curve(Curve::Arcs(run(one))),
            (9, [_]) => Shape::Curve(Curve::Compound(self.pieces(from)?)),
            (10, [_, ..]) => {
                let mut rings = Vec::with_capacity(to - from);
                for at in from..to {
                    rings.push(self.ring(at)?);
                }
                Shape::CurvePolygon(rings)
            }
            _ => return Err(SpatialError::bad_bytes()),
        })
    }

    fn ring(&mut self, at: usize) -> Result<Curve> {
        let figure = &self.figures[at];
        let run = || self.points[figure.first..figure.last].to_vec();
        Ok(match figure.attribute {
            FIGURE_COMPOUND => Curve::Compound(self.pieces(at)?),
            FIGURE_ARCS => Curve::Arcs(run()),
            _ => Curve::Line(run()),
        })
    }

    /// The pieces of a compound curve, whose segments are the next.
    fn pieces(&mut self, at: usize) -> Result<Vec<Piece>> {
        let bad = SpatialError::bad_bytes;
        let Figure { attribute, first, last } = self.figures[at];
        if attribute != FIGURE_COMPOUND || self.version != 2 {
            return Err(bad());
        }
        let mut pieces: Vec<Piece> = Vec::new();
        let mut at = first;
        while at + 1 < last {
            let (segment, rest) = self.segments.split_first().ok_or_else(bad)?;
            self.segments = rest;
            let (is_arcs, begins) = match segment {
                0 => (false, false),
                1 => (true, false),
                2 => (false, true),
                3 => (true, true),
                _ => return Err(bad()),
            };
            let step = if is_arcs { 2 } else { 1 };
            if at + step >= last {
                return Err(bad());
            }
            match pieces.last_mut() {
                Some(piece) if !begins && piece.is_arcs == is_arcs => {
                    piece.points.extend_from_slice(&self.points[at + 1..=at + step]);
                }
                _ => pieces.push(Piece { is_arcs, points: self.points[at..=at + step].to_vec() }),
            }
            at += step;
        }
        Ok(pieces)
    }
}

/// The bytes of a value.
pub fn write(value: &Spatial) -> Vec<u8> {
    let (has_z, has_m) = (value.has_z(), value.has_m());
    let version2 = value.shape.has_arcs() || value.shape.has_globe() || value.is_large;
    let mut properties = 0;
    for (is, bit) in [(has_z, Z), (has_m, M), (value.is_valid, VALID), (value.is_large, LARGE)] {
        properties |= if is { bit } else { 0 };
    }
    match &value.shape {
        Shape::Point(Some(_)) => properties |= ONE_POINT,
        Shape::Curve(Curve::Line(points)) if points.len() == 2 => properties |= ONE_SEGMENT,
        _ => {}
    }
    let points = value.shape.points();
    let mut out = Vec::with_capacity(32 + points.len() * 16);
    out.extend_from_slice(&value.srid.to_le_bytes());
    out.push(if version2 { 2 } else { 1 });
    out.push(properties);
    let is_short = properties & (ONE_POINT | ONE_SEGMENT) != 0;
    if !is_short {
        put(&mut out, points.len());
    }
    for p in &points {
        let (a, b) = if value.world == World::Earth { (p.y, p.x) } else { (p.x, p.y) };
        out.extend_from_slice(&a.to_le_bytes());
        out.extend_from_slice(&b.to_le_bytes());
    }
    if has_z {
        points.iter().for_each(|p| out.extend_from_slice(&p.z.to_le_bytes()));
    }
    if has_m {
        points.iter().for_each(|p| out.extend_from_slice(&p.m.to_le_bytes()));
    }
    if is_short {
        return out;
    }
    let mut tables = Tables { version2, ..Tables::default() };
    tables.shape(&value.shape, -1);
    put(&mut out, tables.figures.len());
    for (attribute, first) in &tables.figures {
        out.push(*attribute);
        put(&mut out, *first);
    }
    put(&mut out, tables.shapes.len());
    for (parent, figure, kind) in &tables.shapes {
        out.extend_from_slice(&parent.to_le_bytes());
        out.extend_from_slice(&figure.to_le_bytes());
        out.push(*kind);
    }
    if !tables.segments.is_empty() {
        put(&mut out, tables.segments.len());
        out.extend_from_slice(&tables.segments);
    }
    out
}

/// Counts are below 2^31: a value has at most 2 GB.
fn put(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

#[derive(Default)]
struct Tables {
    version2: bool,
    points: usize,
    figures: Vec<(u8, usize)>,
    shapes: Vec<(i32, i32, u8)>,
    segments: Vec<u8>,
}

impl Tables {
    fn shape(&mut self, shape: &Shape, parent: i32) {
        let own = self.shapes.len() as i32;
        let figure = if shape.is_empty() || *shape == Shape::FullGlobe {
            -1
        } else {
            self.figures.len() as i32
        };
        self.shapes.push((parent, figure, shape.kind()));
        match shape {
            Shape::Point(Some(_)) => self.figure(if self.version2 { 0 } else { 1 }, 1),
            Shape::Curve(curve) => self.curve(curve),
            Shape::Polygon(rings) => {
                for (at, ring) in rings.iter().enumerate() {
                    let attribute = match (self.version2, at) {
                        (true, _) => 1,
                        (false, 0) => 2,
                        (false, _) => 0,
                    };
                    self.figure(attribute, ring.len());
                }
            }
            Shape::CurvePolygon(rings) => rings.iter().for_each(|ring| self.curve(ring)),
            _ => shape.parts().unwrap_or(&[]).iter().for_each(|part| self.shape(part, own)),
        }
    }

    fn curve(&mut self, curve: &Curve) {
        if curve.is_empty() {
            return;
        }
        match curve {
            Curve::Line(points) => self.figure(1, points.len()),
            Curve::Arcs(points) => self.figure(FIGURE_ARCS, points.len()),
            Curve::Compound(pieces) => {
                self.figure(FIGURE_COMPOUND, curve.points().len());
                for piece in pieces {
                    let (each, step) = if piece.is_arcs { (1, 2) } else { (0, 1) };
                    let count = piece.points.len().saturating_sub(1) / step;
                    for at in 0..count {
                        self.segments.push(if at == 0 { each + 2 } else { each });
                    }
                }
            }
        }
    }

    fn figure(&mut self, attribute: u8, len: usize) {
        self.figures.push((attribute, self.points));
        self.points += len;
    }
}
