//! Well-known binaries: read in either order of bytes, written little-endian.
//!
//! Heights and measures are told by kinds of 1000, 2000 and 3000 more (ISO SQL/MM); the flags of EWKB are read too. A point
//! without coordinates is written with NaN. Sources: SQL documentation, "STGeomFromWKB", "STAsBinary", "AsBinaryZM";
//! OGC 06-103r4, 8; [MS-SSCLRT] 2.2.

use crate::shape::{Curve, DEPTH_MAX, Piece, Pos, Shape, Spatial};
use crate::{Result, SpatialError};
use runtime::task::Breath;

/// 24115.
fn bad() -> SpatialError {
    SpatialError::format("24115: The well-known binary (WKB) input is not valid.")
}

struct Reader<'a> {
    rest: &'a [u8],
    breath: Breath,
}

/// One record's head.
#[derive(Clone, Copy)]
struct Head {
    is_big: bool,
    kind: u32,
    has_z: bool,
    has_m: bool,
}

/// The shape of a binary. `kind`: only that OpenGisType is expected.
pub fn read(bytes: &[u8], kind: Option<u8>) -> Result<Shape> {
    let mut reader = Reader { rest: bytes, breath: Breath::new() };
    let shape = reader.record(0)?;
    if !reader.rest.is_empty() || kind.is_some_and(|kind| shape.kind() != kind) {
        return Err(bad());
    }
    Ok(shape)
}

impl<'a> Reader<'a> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (head, rest) = self.rest.split_first_chunk().ok_or_else(bad)?;
        self.rest = rest;
        Ok(*head)
    }

    fn u32(&mut self, is_big: bool) -> Result<u32> {
        let bytes = self.take()?;
        Ok(if is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    fn f64(&mut self, is_big: bool) -> Result<f64> {
        let bytes = self.take()?;
        Ok(if is_big { f64::from_be_bytes(bytes) } else { f64::from_le_bytes(bytes) })
    }

    fn head(&mut self) -> Result<Head> {
        let is_big = match self.take::<1>()? {
            [0] => true,
            [1] => false,
            _ => return Err(bad()),
        };
        let code = self.u32(is_big)?;
        let (mut has_z, mut has_m) = (code & 0x8000_0000 != 0, code & 0x4000_0000 != 0);
        if code & 0x2000_0000 != 0 {
            // The SRID of EWKB; the caller has one.
            self.u32(is_big)?;
        }
        let code = code & 0x1fff_ffff;
        match code / 1000 {
            0 => {}
            1 => has_z = true,
            2 => has_m = true,
            3 => (has_z, has_m) = (true, true),
            _ => return Err(bad()),
        }
        Ok(Head { is_big, kind: code % 1000, has_z, has_m })
    }

    fn count(&mut self, head: Head, bytes_each: usize) -> Result<usize> {
        let count = self.u32(head.is_big)? as usize;
        if count > self.rest.len() / bytes_each { Err(bad()) } else { Ok(count) }
    }

    fn point(&mut self, head: Head) -> Result<Pos> {
        self.breath.step()?;
        let mut point = Pos::new(self.f64(head.is_big)? + 0.0, self.f64(head.is_big)? + 0.0);
        if head.has_z {
            point.z = self.f64(head.is_big)?;
        }
        if head.has_m {
            point.m = self.f64(head.is_big)?;
        }
        Ok(point)
    }

    fn points(&mut self, head: Head) -> Result<Vec<Pos>> {
        let each = 16 + 8 * (usize::from(head.has_z) + usize::from(head.has_m));
        let count = self.count(head, each)?;
        (0..count).map(|_| self.point(head)).collect()
    }

    fn parts<T>(
        &mut self,
        head: Head,
        mut one: impl FnMut(&mut Self) -> Result<T>,
    ) -> Result<Vec<T>> {
        let count = self.count(head, 5)?;
        (0..count).map(|_| one(self)).collect()
    }

    fn record(&mut self, depth: usize) -> Result<Shape> {
        if depth > DEPTH_MAX {
            return Err(bad());
        }
        self.breath.step()?;
        let head = self.head()?;
        let of = |kind: u8| {
            move |r: &mut Self| {
                let shape = r.record(depth + 1)?;
                if shape.kind() == kind { Ok(shape) } else { Err(bad()) }
            }
        };
        Ok(match head.kind {
            1 => {
                let point = self.point(head)?;
                Shape::Point((!point.x.is_nan() || !point.y.is_nan()).then_some(point))
            }
            2 => Shape::Curve(Curve::Line(self.points(head)?)),
            3 => {
                let count = self.count(head, 4)?;
                Shape::Polygon((0..count).map(|_| self.points(head)).collect::<Result<_>>()?)
            }
            4 => Shape::MultiPoint(self.parts(head, of(1))?),
            5 => Shape::MultiLine(self.parts(head, of(2))?),
            6 => Shape::MultiPolygon(self.parts(head, of(3))?),
            7 => Shape::Collection(self.parts(head, |r| match r.record(depth + 1)? {
                Shape::FullGlobe => Err(bad()),
                shape => Ok(shape),
            })?),
            8 => Shape::Curve(Curve::Arcs(self.points(head)?)),
            9 => {
                Shape::Curve(Curve::Compound(self.parts(head, |r| match r.record(depth + 1)? {
                    Shape::Curve(Curve::Line(points)) => Ok(Piece { is_arcs: false, points }),
                    Shape::Curve(Curve::Arcs(points)) => Ok(Piece { is_arcs: true, points }),
                    _ => Err(bad()),
                })?))
            }
            10 => Shape::CurvePolygon(self.parts(head, |r| match r.record(depth + 1)? {
                Shape::Curve(curve) => Ok(curve),
                _ => Err(bad()),
            })?),
            126 => Shape::FullGlobe,
            _ => return Err(bad()),
        })
    }
}

/// The binary of a value; `with_zm`: heights and measures too.
pub fn write(value: &Spatial, with_zm: bool) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    let writer = Writer { has_z: with_zm && value.has_z(), has_m: with_zm && value.has_m() };
    writer.record(&mut out, &value.shape)?;
    Ok(out)
}

struct Writer {
    has_z: bool,
    has_m: bool,
}

impl Writer {
    fn head(&self, out: &mut Vec<u8>, kind: u8) {
        let more = u32::from(self.has_z) * 1000 + u32::from(self.has_m) * 2000;
        // The whole globe's code is its own.
        let kind = if kind == 11 { 126 } else { u32::from(kind) };
        out.push(1);
        out.extend_from_slice(&(kind + more).to_le_bytes());
    }

    fn point(&self, out: &mut Vec<u8>, p: Pos) {
        let numbers = [(p.x, true), (p.y, true), (p.z, self.has_z), (p.m, self.has_m)];
        for (number, is) in numbers {
            if is {
                out.extend_from_slice(&number.to_le_bytes());
            }
        }
    }

    fn points(&self, out: &mut Vec<u8>, points: &[Pos]) {
        out.extend_from_slice(&(points.len() as u32).to_le_bytes());
        points.iter().for_each(|p| self.point(out, *p));
    }

    fn curve(&self, out: &mut Vec<u8>, curve: &Curve) {
        match curve {
            Curve::Line(points) => {
                self.head(out, 2);
                self.points(out, points);
            }
            Curve::Arcs(points) => {
                self.head(out, 8);
                self.points(out, points);
            }
            Curve::Compound(pieces) => {
                self.head(out, 9);
                out.extend_from_slice(&(pieces.len() as u32).to_le_bytes());
                for piece in pieces {
                    self.head(out, if piece.is_arcs { 8 } else { 2 });
                    self.points(out, &piece.points);
                }
            }
        }
    }

    fn record(&self, out: &mut Vec<u8>, shape: &Shape) -> Result<()> {
        runtime::task::maybe_yield();
        match shape {
            Shape::Curve(curve) => {
                self.curve(out, curve);
                return Ok(());
            }
            _ => self.head(out, shape.kind()),
        }
        match shape {
            Shape::Point(point) => {
                self.point(out, point.unwrap_or(Pos::new(f64::NAN, f64::NAN)));
            }
            Shape::Polygon(rings) => {
                out.extend_from_slice(&(rings.len() as u32).to_le_bytes());
                rings.iter().for_each(|ring| self.points(out, ring));
            }
            Shape::CurvePolygon(rings) => {
                out.extend_from_slice(&(rings.len() as u32).to_le_bytes());
                rings.iter().for_each(|ring| self.curve(out, ring));
            }
            _ => {
                let parts = shape.parts().unwrap_or(&[]);
                if *shape != Shape::FullGlobe {
                    out.extend_from_slice(&(parts.len() as u32).to_le_bytes());
                }
                for part in parts {
                    self.record(out, part)?;
                }
            }
        }
        Ok(())
    }
}
