//! Segments that may meet, found from left to right; and how two meet.

use crate::Result;
use geo::line_intersection::{LineIntersection, line_intersection};
use geo::{Coord, Line};
use runtime::task::Breath;

/// A segment, and where it is from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Segment {
    pub line: Line<f64>,
    /// Which run of points.
    pub run: u32,
    /// Which segment there.
    pub at: u32,
}

/// The segments of a run that have a length.
pub(crate) fn segments(points: &[Coord<f64>], run: u32, out: &mut Vec<Segment>) {
    let pairs = points.windows(2).enumerate().filter(|(_, pair)| pair[0] != pair[1]);
    out.extend(pairs.map(|(at, pair)| Segment {
        line: Line::new(pair[0], pair[1]),
        run,
        at: at as u32,
    }));
}

/// Calls it for each pair whose boxes meet; false ends it.
pub(crate) fn pairs(
    segments: &[Segment],
    mut meet: impl FnMut(&Segment, &Segment) -> Result<bool>,
) -> Result<()> {
    let left = |s: &Segment| s.line.start.x.min(s.line.end.x);
    let right = |s: &Segment| s.line.start.x.max(s.line.end.x);
    let low = |s: &Segment| s.line.start.y.min(s.line.end.y);
    let high = |s: &Segment| s.line.start.y.max(s.line.end.y);
    let mut order: Vec<u32> = (0..segments.len() as u32).collect();
    order.sort_by(|a, b| left(&segments[*a as usize]).total_cmp(&left(&segments[*b as usize])));
    let mut breath = Breath::new();
    let mut open: Vec<u32> = Vec::new();
    for at in order {
        let new = &segments[at as usize];
        let (from, bottom, top) = (left(new), low(new), high(new));
        let mut next = 0;
        while next < open.len() {
            breath.step()?;
            let old = &segments[open[next] as usize];
            if right(old) < from {
                open.swap_remove(next);
                continue;
            }
            next += 1;
            if low(old) <= top && high(old) >= bottom && !meet(old, new)? {
                return Ok(());
            }
        }
        open.push(at);
    }
    Ok(())
}

/// Where two segments meet.
pub(crate) enum Meeting {
    None,
    /// In a point, inside of both or not.
    Point(Coord<f64>, bool),
    /// Along a stretch.
    Stretch(Line<f64>),
}

pub(crate) fn meeting(a: Line<f64>, b: Line<f64>) -> Meeting {
    match line_intersection(a, b) {
        None => Meeting::None,
        Some(LineIntersection::SinglePoint { intersection, is_proper }) => {
            Meeting::Point(intersection, is_proper)
        }
        Some(LineIntersection::Collinear { intersection }) => {
            match intersection.start == intersection.end {
                true => Meeting::Point(intersection.start, false),
                false => Meeting::Stretch(intersection),
            }
        }
    }
}
