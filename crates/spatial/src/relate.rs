//! How two shapes lie to each other: the nine intersections of DE-9IM, and the questions that are asked of them.
//!
//! Exact on the plane; on the earth as exact as the picture's rounding ([`crate::earth`]). Sources: SQL documentation,
//! "STRelate" and the page of each method; OGC 06-103r4, 6.1.15.

use crate::earth::{Picture, Vector, dot, too_wide};
use crate::plane::{Flat, Frame, flat};
use crate::shape::{Pos, Shape, Spatial, World};
use crate::{Result, SpatialError, work};
use geo::coordinate_position::CoordPos;
use geo::dimensions::{Dimensions, HasDimensions};
use geo::{Geometry, Relate};

/// Dimensions of the intersections of inside, boundary and outside; -1 of none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matrix(pub [i8; 9]);

/// Radians that the arc cosine of a number near 1 may be off, and more.
const CAP_SLACK: f64 = 1e-6;

fn number(dimensions: Dimensions) -> i8 {
    match dimensions {
        Dimensions::Empty => -1,
        Dimensions::ZeroDimensional => 0,
        Dimensions::OneDimensional => 1,
        Dimensions::TwoDimensional => 2,
    }
}

/// The nine intersections of two valid shapes of one reference system.
pub fn matrix(a: &Spatial, b: &Spatial) -> Result<Matrix> {
    let Some(frame) = Frame::of(&[a, b]) else { return over_parts(a, b) };
    let (a, b) = (flat(a, &frame)?, flat(b, &frame)?);
    let inside_out = (a.is_rest, b.is_rest);
    let found = work::on([a.geometry, b.geometry], |[a, b]| {
        let found = a.relate(b);
        let all = [CoordPos::Inside, CoordPos::OnBoundary, CoordPos::Outside];
        let mut cells = [-1; 9];
        for (row, left) in all.iter().enumerate() {
            for (column, right) in all.iter().enumerate() {
                cells[row * 3 + column] = number(found.get(*left, *right));
            }
        }
        cells
    })?;
    Ok(Matrix(found).turned(inside_out))
}

/// Of shapes that one picture does not have: their parts that lie apart are left out, and added to what is outside.
fn over_parts(a: &Spatial, b: &Spatial) -> Result<Matrix> {
    for (this, other, is_turned) in [(a, b, false), (b, a, true)] {
        let Some(parts) = this.shape.parts().filter(|_| !this.is_large) else { continue };
        let (mut near, mut far) = (Vec::new(), -1);
        for part in parts {
            let one = this.part(part.clone());
            match ask(Question::Intersects, &one, other)? {
                true => near.push(part.clone()),
                false => far = far.max(part.dimension()),
            }
        }
        if near.len() == parts.len() {
            continue;
        }
        let Matrix(mut m) = match near.is_empty() {
            true => {
                let d = other.shape.dimension() as i8;
                Matrix([-1, -1, -1, -1, -1, -1, d, d - 1, 2])
            }
            false => matrix(&this.part(Shape::Collection(near)), other)?,
        };
        // Boundaries of closed lines are told too great, which nobody on the earth can ask for.
        (m[2], m[5]) = (m[2].max(far as i8), m[5].max(far as i8 - 1));
        let turned = [m[0], m[3], m[6], m[1], m[4], m[7], m[2], m[5], m[8]];
        return Ok(Matrix(if is_turned { turned } else { m }));
    }
    apart(a, b)
}

/// Of shapes that one picture does not have: those that cannot meet.
fn apart(a: &Spatial, b: &Spatial) -> Result<Matrix> {
    let cap = |value: &Spatial| -> Result<(Cap, Flat)> {
        let Some(frame @ Frame::Earth(picture)) = Frame::of(&[value]) else {
            return Err(too_wide());
        };
        Ok((Cap::around(&value.shape, &picture), flat(value, &frame)?))
    };
    let ((left, a), (right, b)) = (cap(a)?, cap(b)?);
    if !left.is_far_from(&right) {
        return Err(too_wide());
    }
    let dims = |g: &Geometry<f64>| (number(g.dimensions()), number(g.boundary_dimensions()));
    let ((di, db), (ei, eb)) = (dims(&a.geometry), dims(&b.geometry));
    Ok(Matrix([-1, -1, di, -1, -1, db, ei, eb, 2]).turned((a.is_rest, b.is_rest)))
}

impl Matrix {
    /// Inside and outside change places, of either shape.
    fn turned(self, (left, right): (bool, bool)) -> Matrix {
        let Matrix(mut c) = self;
        if left {
            (0..3).for_each(|at| c.swap(at, at + 6));
        }
        if right {
            (0..3).for_each(|row| c.swap(row * 3, row * 3 + 2));
        }
        Matrix(c)
    }

    /// Does a pattern of `012TF*` fit?
    pub fn fits(&self, pattern: &str) -> bool {
        self.0.iter().zip(pattern.bytes()).all(|(cell, sign)| match sign {
            b'*' => true,
            b'T' => *cell >= 0,
            b'F' => *cell < 0,
            digit => i16::from(*cell) == i16::from(digit) - i16::from(b'0'),
        })
    }
}

/// What is asked of two shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    Intersects,
    Disjoint,
    Contains,
    Within,
    Overlaps,
    Crosses,
    Touches,
    Equals,
}

/// The answer; both are valid and of one reference system.
pub fn ask(question: Question, a: &Spatial, b: &Spatial) -> Result<bool> {
    if let Some(answer) = soon(question, a, b) {
        return Ok(answer);
    }
    let m = matrix(a, b)?;
    let meet = [0, 1, 3, 4].iter().any(|at| m.0[*at] >= 0);
    let (left, right) = (a.shape.dimension(), b.shape.dimension());
    Ok(match question {
        Question::Intersects => meet,
        Question::Disjoint => !meet,
        Question::Contains => m.fits("T*****FF*"),
        Question::Within => m.fits("T*F**F***"),
        Question::Equals => m.fits("T*F**FFF*") || (left < 0 && right < 0),
        Question::Touches => ["FT*******", "F**T*****", "F***T****"].iter().any(|p| m.fits(p)),
        Question::Crosses if left == 1 && right == 1 => m.fits("0********"),
        Question::Crosses => left < right && m.fits("T*T******"),
        Question::Overlaps if left != right => false,
        Question::Overlaps if left == 1 => m.fits("1*T***T**"),
        Question::Overlaps => m.fits("T*T***T**"),
    })
}

/// What boxes and single points tell.
fn soon(question: Question, a: &Spatial, b: &Spatial) -> Option<bool> {
    if a.world != World::Plane {
        return are_far(a, b).then_some(question == Question::Disjoint);
    }
    if let (Shape::Point(Some(p)), Shape::Point(Some(q))) = (&a.shape, &b.shape) {
        let same = p.at(*q);
        return Some(match question {
            Question::Disjoint => !same,
            Question::Overlaps | Question::Crosses | Question::Touches => false,
            _ => same,
        });
    }
    let ((a_low, a_high), (b_low, b_high)) = (bounds(&a.shape)?, bounds(&b.shape)?);
    let far = a_low.x > b_high.x || b_low.x > a_high.x || a_low.y > b_high.y || b_low.y > a_high.y;
    far.then_some(question == Question::Disjoint)
}

/// The part of the earth around a shape: its middle, and how many radians the shape reaches from there.
struct Cap {
    middle: Vector,
    reach: f64,
}

impl Cap {
    fn around(shape: &Shape, picture: &Picture) -> Cap {
        let earth = picture.earth;
        let middle = earth.vector(picture.middle());
        let angle = |p: &Pos| angle(earth.vector(*p), middle);
        let mut reach: f64 = 0.0;
        shape.each_run(&mut |run| reach = run.iter().map(angle).fold(reach, f64::max));
        Cap { middle, reach }
    }

    fn is_far_from(&self, other: &Cap) -> bool {
        angle(self.middle, other.middle) > self.reach + other.reach + CAP_SLACK
    }
}

/// Radians between two directions.
fn angle(a: Vector, b: Vector) -> f64 {
    dot(a, b).clamp(-1.0, 1.0).acos()
}

/// The caps around them do not meet; false too where one has no such cap.
fn are_far(a: &Spatial, b: &Spatial) -> bool {
    let cap = |value: &Spatial| {
        if value.is_large || value.shape.is_empty() || value.shape.has_arcs() {
            return None;
        }
        let Some(Frame::Earth(picture)) = Frame::of(&[value]) else { return None };
        Some(Cap::around(&value.shape, &picture))
    };
    let (Some(left), Some(right)) = (cap(a), cap(b)) else { return false };
    left.is_far_from(&right)
}

/// The box around a shape without arcs.
pub(crate) fn bounds(shape: &Shape) -> Option<(Pos, Pos)> {
    if shape.has_arcs() {
        return None;
    }
    let mut found: Option<(Pos, Pos)> = None;
    shape.each_run(&mut |run| {
        for p in run {
            let (low, high) = found.get_or_insert((p.flat(), p.flat()));
            (low.x, low.y) = (low.x.min(p.x), low.y.min(p.y));
            (high.x, high.y) = (high.x.max(p.x), high.y.max(p.y));
        }
    });
    found
}

/// 24109, 24110: is a pattern one?
pub fn check_pattern(pattern: &str) -> Result<()> {
    let len = pattern.chars().count();
    if len != 9 {
        return Err(SpatialError::format(format!(
            "24109: The intersectionPatternMatrix argument to STRelate is not valid. This argument must contain exactly 9 \
             characters, but the string provided has {len} characters."
        )));
    }
    match pattern.chars().enumerate().find(|(_, c)| !"012TF*".contains(*c)) {
        None => Ok(()),
        Some((at, c)) => Err(SpatialError::format(format!(
            "24110: Character {at} ({c}) of the intersectionPatternMatrix argument to STRelate is not valid. This argument \
             must only contain the characters 0, 1, 2, T, F, and *."
        ))),
    }
}
