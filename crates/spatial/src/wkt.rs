//! Well-known texts: read, and written.
//!
//! Labels are told in any case of letters, and by their beginning, as SQL Server does: what follows one is expected to be
//! `(` or EMPTY. Positions in errors count characters from 0; SQL Server counts past a word that it took.
//! Sources: SQL documentation, "STGeomFromText", "AsTextZM", "ToString"; OGC 06-103r4.

use crate::shape::{Curve, DEPTH_MAX, Piece, Pos, Shape, Spatial, World};
use crate::{Result, SpatialError, number};
use runtime::task::Breath;

/// Longer labels before those that begin them.
const LABELS: [(&str, u8); 11] = [
    ("MULTILINESTRING", 5),
    ("MULTIPOLYGON", 6),
    ("MULTIPOINT", 4),
    ("GEOMETRYCOLLECTION", 7),
    ("CIRCULARSTRING", 8),
    ("COMPOUNDCURVE", 9),
    ("CURVEPOLYGON", 10),
    ("LINESTRING", 2),
    ("POLYGON", 3),
    ("POINT", 1),
    ("FULLGLOBE", 11),
];

struct Reader<'a> {
    text: &'a str,
    at: usize,
    world: World,
    breath: Breath,
}

/// The shape of a text; `None` of the word NULL. `kind`: only that OpenGisType is expected.
pub fn read(world: World, text: &str, kind: Option<u8>) -> Result<Option<Shape>> {
    let mut reader = Reader { text, at: 0, world, breath: Breath::new() };
    reader.blanks();
    if reader.rest().trim_end().eq_ignore_ascii_case("null") {
        return Ok(None);
    }
    if reader.rest().is_empty() {
        return Err(SpatialError::format(
            "24112: The well-known text (WKT) input is empty. To input an empty instance, specify an empty instance of \
             one of the following types: Point, LineString, Polygon, MultiPoint, MultiLineString, MultiPolygon, \
             CircularString, CompoundCurve, CurvePolygon or GeometryCollection.",
        ));
    }
    if let Some(kind) = kind {
        reader.expect_label(kind)?;
    }
    let shape = reader.tagged(0)?;
    reader.blanks();
    if !reader.rest().is_empty() {
        return Err(SpatialError::format("24111: The well-known text (WKT) input is not valid."));
    }
    Ok(Some(shape))
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn blanks(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    /// Characters before this place, which are what errors count.
    fn position(&self) -> usize {
        self.text[..self.at].chars().count()
    }

    fn at_word(&self, word: &str) -> bool {
        self.rest().get(..word.len()).is_some_and(|head| head.eq_ignore_ascii_case(word))
    }

    fn word(&mut self, word: &str) -> bool {
        self.blanks();
        let is = self.at_word(word);
        if is {
            self.at += word.len();
        }
        is
    }

    fn sign(&mut self, sign: char) -> bool {
        self.blanks();
        let is = self.rest().starts_with(sign);
        if is {
            self.at += 1;
        }
        is
    }

    /// 24142, 24209.
    fn expected(&self, what: &str, position: usize, len: usize) -> SpatialError {
        if self.rest().is_empty() {
            return SpatialError::format(
                "24209: Unexpected end of input. Check that the input data is complete and has not been truncated.",
            );
        }
        let shown: String = self.rest().chars().take(len).collect();
        SpatialError::format(format!(
            "24142: Expected \"{what}\" at position {position}. The input has \"{shown}\"."
        ))
    }

    fn expect_sign(&mut self, sign: char) -> Result<()> {
        if self.sign(sign) {
            return Ok(());
        }
        Err(self.expected(&sign.to_string(), self.position(), 1))
    }

    fn expect_label(&mut self, kind: u8) -> Result<()> {
        let label = LABELS.iter().find(|(_, k)| *k == kind).map_or("", |(label, _)| label);
        if self.at_word(label) {
            return Ok(());
        }
        let is_longer = self.rest().chars().count() > label.len();
        let (by, len) = if is_longer { (1, label.len()) } else { (0, 1) };
        Err(self.expected(label, self.position() + by, len))
    }

    fn tagged(&mut self, depth: usize) -> Result<Shape> {
        self.breath.step()?;
        self.blanks();
        let Some((label, kind)) = LABELS.iter().find(|(label, _)| self.at_word(label)) else {
            return Err(SpatialError::format(format!(
                "24114: The label {} in the input well-known text (WKT) is not valid. Valid labels are POINT, \
                 LINESTRING, POLYGON, MULTIPOINT, MULTILINESTRING, MULTIPOLYGON, GEOMETRYCOLLECTION, CIRCULARSTRING, \
                 COMPOUNDCURVE, CURVEPOLYGON and FULLGLOBE (geography Data Type only).",
                beginning(self.rest())
            )));
        };
        self.at += label.len();
        if *kind == 11 {
            if self.world == World::Plane {
                return Err(SpatialError::format(
                    "24303: The OpenGisGeometryType provided, FullGlobe, is not valid.",
                ));
            }
            if depth > 0 {
                return Err(crate::rules::globe_in_collection());
            }
            return Ok(Shape::FullGlobe);
        }
        self.body(*kind, depth)
    }

    fn body(&mut self, kind: u8, depth: usize) -> Result<Shape> {
        Ok(match kind {
            1 => Shape::Point(match self.word("EMPTY") {
                true => None,
                false => {
                    self.expect_sign('(')?;
                    let point = self.point()?;
                    self.expect_sign(')')?;
                    Some(point)
                }
            }),
            2 => Shape::Curve(Curve::Line(self.points()?)),
            3 => Shape::Polygon(self.list(Self::points)?),
            4 => Shape::MultiPoint(self.multi_point()?),
            5 => Shape::MultiLine(self.list(|r| Ok(Shape::Curve(Curve::Line(r.points()?))))?),
            6 => Shape::MultiPolygon(self.list(|r| Ok(Shape::Polygon(r.list(Self::points)?)))?),
            8 => Shape::Curve(Curve::Arcs(self.points()?)),
            9 => Shape::Curve(Curve::Compound(self.list(Self::piece)?)),
            10 => Shape::CurvePolygon(self.list(Self::ring)?),
            _ => {
                if depth >= DEPTH_MAX {
                    return Err(SpatialError::format(
                        "24111: The well-known text (WKT) input is not valid.",
                    ));
                }
                Shape::Collection(self.list(|r| r.tagged(depth + 1))?)
            }
        })
    }

    fn list<T>(&mut self, mut one: impl FnMut(&mut Self) -> Result<T>) -> Result<Vec<T>> {
        let mut all = Vec::new();
        if self.word("EMPTY") {
            return Ok(all);
        }
        self.expect_sign('(')?;
        loop {
            self.breath.step()?;
            all.push(one(self)?);
            if !self.sign(',') {
                break;
            }
        }
        self.expect_sign(')')?;
        Ok(all)
    }

    fn points(&mut self) -> Result<Vec<Pos>> {
        self.list(Self::point)
    }

    /// `(1 2, 3 4)` and `((1 2), (3 4))`.
    fn multi_point(&mut self) -> Result<Vec<Shape>> {
        self.list(|r| {
            if r.word("EMPTY") {
                return Ok(Shape::Point(None));
            }
            let in_signs = r.sign('(');
            let point = r.point()?;
            if in_signs {
                r.expect_sign(')')?;
            }
            Ok(Shape::Point(Some(point)))
        })
    }

    fn piece(&mut self) -> Result<Piece> {
        let is_arcs = self.word("CIRCULARSTRING");
        Ok(Piece { is_arcs, points: self.points()? })
    }

    fn ring(&mut self) -> Result<Curve> {
        if self.word("COMPOUNDCURVE") {
            return Ok(Curve::Compound(self.list(Self::piece)?));
        }
        if self.word("CIRCULARSTRING") {
            return Ok(Curve::Arcs(self.points()?));
        }
        Ok(Curve::Line(self.points()?))
    }

    fn point(&mut self) -> Result<Pos> {
        let mut point = Pos::new(self.number()?, self.number()?);
        if self.goes_on() {
            point.z = self.number_or_null()?;
            if self.goes_on() {
                point.m = self.number_or_null()?;
            }
        }
        Ok(point)
    }

    fn goes_on(&mut self) -> bool {
        self.blanks();
        !self.rest().is_empty() && !self.rest().starts_with([',', ')'])
    }

    fn number_or_null(&mut self) -> Result<f64> {
        if self.rest().starts_with(['n', 'N']) {
            if self.word("NULL") {
                return Ok(f64::NAN);
            }
            return Err(self.expected("NULL", self.position(), 4));
        }
        self.number()
    }

    fn number(&mut self) -> Result<f64> {
        self.blanks();
        if self.rest().is_empty() {
            return Err(self.expected("", 0, 0));
        }
        let ends = |c: char| c.is_whitespace() || matches!(c, ',' | '(' | ')');
        let len = self.rest().find(ends).unwrap_or(self.rest().len());
        let word = &self.rest()[..len];
        let is_plain = word.bytes().all(|b| b.is_ascii_digit() || b"+-.eE".contains(&b));
        if let Ok(number) = word.parse::<f64>()
            && is_plain
            && number.is_finite()
        {
            self.at += len;
            // Zero has no sign here.
            return Ok(number + 0.0);
        }
        let shown: String = match len {
            0 => self.rest().chars().take(1).collect(),
            _ => word.to_owned(),
        };
        self.at += len;
        Err(SpatialError::format(format!(
            "24141: A number is expected at position {} of the input. The input has {shown}.",
            self.position()
        )))
    }
}

/// What an error shows of a text.
fn beginning(text: &str) -> String {
    text.chars().take(1000).collect()
}

/// The text of a value; `with_zm`: heights and measures too.
pub fn write(value: &Spatial, with_zm: bool) -> Result<String> {
    let mut writer = Writer { out: String::new(), with_zm, breath: Breath::new() };
    writer.tagged(&value.shape)?;
    Ok(writer.out)
}

struct Writer {
    out: String,
    with_zm: bool,
    breath: Breath,
}

impl Writer {
    fn tagged(&mut self, shape: &Shape) -> Result<()> {
        let kind = shape.kind();
        let label = LABELS.iter().find(|(_, k)| *k == kind).map_or("", |(label, _)| label);
        self.out.push_str(label);
        if *shape != Shape::FullGlobe {
            self.out.push(' ');
            self.body(shape)?;
        }
        Ok(())
    }

    fn body(&mut self, shape: &Shape) -> Result<()> {
        match shape {
            Shape::Point(point) => self.points(point.as_slice()),
            Shape::Curve(Curve::Line(points) | Curve::Arcs(points)) => self.points(points),
            Shape::Curve(Curve::Compound(pieces)) => self.list(pieces, Self::piece),
            Shape::Polygon(rings) => self.list(rings, |w, ring| w.points(ring)),
            Shape::CurvePolygon(rings) => self.list(rings, Self::ring),
            Shape::Collection(parts) => self.list(parts, Self::tagged),
            _ => self.list(shape.parts().unwrap_or(&[]), Self::body),
        }
    }

    fn list<T>(
        &mut self,
        all: &[T],
        mut one: impl FnMut(&mut Self, &T) -> Result<()>,
    ) -> Result<()> {
        if all.is_empty() {
            self.out.push_str("EMPTY");
            return Ok(());
        }
        for (at, item) in all.iter().enumerate() {
            self.breath.step()?;
            self.out.push_str(if at == 0 { "(" } else { ", " });
            one(self, item)?;
        }
        self.out.push(')');
        Ok(())
    }

    fn points(&mut self, points: &[Pos]) -> Result<()> {
        self.list(points, |w, point| {
            w.point(*point);
            Ok(())
        })
    }

    fn piece(&mut self, piece: &Piece) -> Result<()> {
        if piece.is_arcs {
            self.out.push_str("CIRCULARSTRING ");
        }
        self.points(&piece.points)
    }

    fn ring(&mut self, ring: &Curve) -> Result<()> {
        match ring {
            Curve::Line(points) => self.points(points),
            Curve::Arcs(points) => {
                self.out.push_str("CIRCULARSTRING ");
                self.points(points)
            }
            Curve::Compound(pieces) => {
                self.out.push_str("COMPOUNDCURVE ");
                self.list(pieces, Self::piece)
            }
        }
    }

    fn point(&mut self, point: Pos) {
        number::put(&mut self.out, point.x);
        self.out.push(' ');
        number::put(&mut self.out, point.y);
        if !self.with_zm || (point.z.is_nan() && point.m.is_nan()) {
            return;
        }
        for (number, needed) in [(point.z, true), (point.m, !point.m.is_nan())] {
            match number.is_nan() {
                _ if !needed => {}
                true => self.out.push_str(" NULL"),
                false => {
                    self.out.push(' ');
                    number::put(&mut self.out, number);
                }
            }
        }
    }
}
