//! STIsValid: which shapes operations may be asked of.
//!
//! A line does not run along itself; rings do not cross themselves or each other, meet in single points that do not part
//! the inside, and lie inside the outer one; polygons of one shape meet in points at most. On the earth a ring has its
//! inside on its left, and all rings of a polygon must mean the same inside; what reaches too far for a picture
//! ([`crate::earth`]) is taken as it is. Sources: SQL documentation, "STIsValid", "Polygon", "LineString", "MakeValid".

use crate::Result;
use crate::arcs;
use crate::earth::{Earth, Picture};
use crate::rules;
use crate::shape::{Curve, Pos, Shape, Spatial, World, check_srid};
use crate::sweep::{Meeting, Segment, meeting, pairs, segments};
use geo::coordinate_position::{CoordPos, coord_pos_relative_to_ring};
use geo::{Coord, LineString};
use runtime::task::Breath;
use std::collections::{HashMap, HashSet};

impl Spatial {
    /// A shape that somebody wrote: its numbers are looked at, and whether it is valid is found out.
    pub fn new(world: World, srid: i32, shape: Shape) -> Result<Spatial> {
        check_srid(world, srid)?;
        let mut all = Spatial { world, srid, shape, is_valid: true, is_large: false };
        rules::check(&all)?;
        stamp(&mut all)?;
        Ok(all)
    }

    /// What an operation made of this.
    pub fn with(&self, shape: Shape) -> Result<Spatial> {
        let mut made = Spatial { shape, is_valid: true, is_large: false, ..*self };
        stamp(&mut made)?;
        Ok(made)
    }
}

/// Finds out whether a value is valid and large, and notes it.
fn stamp(value: &mut Spatial) -> Result<()> {
    if matches!(value.shape, Shape::Point(_) | Shape::MultiPoint(_)) {
        return Ok(());
    }
    let shape = arcs::straight(value);
    let mut check = Check { picture: None, is_earth: value.world == World::Earth, is_large: false };
    let is_valid = match value.world {
        World::Plane => check.shape(&shape)?,
        World::Earth => {
            let earth = Earth::of(value.srid);
            check.picture = Picture::of(earth, &shape.points());
            match check.picture {
                Some(_) => check.shape(&shape)?,
                None => {
                    check.is_large = is_wide(&earth, &shape)?;
                    true
                }
            }
        }
    };
    let is_large = check.is_large || value.shape.has_globe();
    (value.is_valid, value.is_large) = (is_valid, is_large);
    Ok(())
}

/// The rings of a polygon leave more than half of the earth inside.
fn is_wide(earth: &Earth, shape: &Shape) -> Result<bool> {
    match shape {
        Shape::Polygon(rings) => {
            let whole = earth.whole_area();
            let mut area = whole;
            for ring in rings {
                area += earth.area(ring)? - whole;
            }
            Ok(!rings.is_empty() && area.rem_euclid(whole) > whole / 2.0)
        }
        _ => shape
            .parts()
            .unwrap_or(&[])
            .iter()
            .try_fold(false, |is, p| Ok(is || is_wide(earth, p)?)),
    }
}

struct Check {
    picture: Option<Picture>,
    is_earth: bool,
    is_large: bool,
}

type Ring = LineString<f64>;

impl Check {
    fn run(&self, points: &[Pos]) -> Ring {
        let at = |p: &Pos| match &self.picture {
            Some(picture) => picture.project(*p),
            None => *p,
        };
        points.iter().map(at).map(|p| Coord { x: p.x, y: p.y }).collect()
    }

    fn shape(&mut self, shape: &Shape) -> Result<bool> {
        match shape {
            Shape::Curve(Curve::Line(points)) => self.lines(&[points]),
            Shape::MultiLine(parts) => {
                let lines: Vec<&Vec<Pos>> = parts
                    .iter()
                    .filter_map(|part| match part {
                        Shape::Curve(Curve::Line(points)) => Some(points),
                        _ => None,
                    })
                    .collect();
                self.lines(&lines)
            }
            Shape::Polygon(rings) => Ok(self.polygon(rings)?.is_some()),
            Shape::MultiPolygon(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    let Shape::Polygon(rings) = part else { continue };
                    if rings.is_empty() {
                        continue;
                    }
                    let Some(polygon) = self.polygon(rings)? else { return Ok(false) };
                    all.push(polygon);
                }
                // Of what covers most of the earth only the rings are looked at.
                if self.is_large { Ok(true) } else { are_apart(&all) }
            }
            Shape::Collection(parts) => {
                for part in parts {
                    if !self.shape(part)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(true),
        }
    }

    fn lines(&self, lines: &[&Vec<Pos>]) -> Result<bool> {
        let mut all = Vec::new();
        for (run, points) in lines.iter().enumerate() {
            let points = self.run(points);
            let before = all.len();
            segments(&points.0, run as u32, &mut all);
            if !points.0.is_empty() && all.len() == before {
                return Ok(false);
            }
            // It may stand still, but in the plane not at its end.
            if !self.is_earth && matches!(points.0.as_slice(), [.., a, b] if a == b) {
                return Ok(false);
            }
        }
        let mut is_valid = true;
        pairs(&all, |a, b| {
            is_valid = !matches!(meeting(a.line, b.line), Meeting::Stretch(_));
            Ok(is_valid)
        })?;
        Ok(is_valid)
    }

    /// Its rings, the outer one first; `None` of one that is not valid.
    fn polygon(&mut self, rings: &[Vec<Pos>]) -> Result<Option<Vec<Ring>>> {
        let mut all = Vec::new();
        for ring in rings {
            let Some(ring) = without_repeats(self.run(ring)) else { return Ok(None) };
            let Some(lobes) = lobes(ring)? else { return Ok(None) };
            all.extend(lobes);
        }
        if all.is_empty() {
            return Ok(Some(all));
        }
        let mut outer = 0;
        if self.is_earth {
            let left: Vec<usize> =
                (0..all.len()).filter(|at| signed_area(&all[*at]) > 0.0).collect();
            match left.as_slice() {
                [] => {
                    self.is_large = true;
                    return Ok((is_knit(&all, None)?).then_some(all));
                }
                [one] => outer = *one,
                _ => return Ok(None),
            }
        }
        all.swap(0, outer);
        Ok(is_knit(&all, Some(0))?.then_some(all))
    }
}

/// Twice the area, more than 0 to the left.
pub(crate) fn signed_area(ring: &Ring) -> f64 {
    let Some(first) = ring.0.first() else { return 0.0 };
    let cross = |pair: &[Coord<f64>]| {
        let (a, b) = (pair[0] - *first, pair[1] - *first);
        a.x * b.y - a.y * b.x
    };
    ring.0.windows(2).map(cross).sum()
}

/// No point twice in a row; `None` of a ring without an inside.
fn without_repeats(mut ring: Ring) -> Option<Ring> {
    ring.0.dedup();
    (ring.0.len() >= 4 && signed_area(&ring) != 0.0).then_some(ring)
}

fn key(c: Coord<f64>) -> (u64, u64) {
    ((c.x + 0.0).to_bits(), (c.y + 0.0).to_bits())
}

/// A ring that comes back to a point of its own is several, of which all but the greatest turn the other way round.
fn lobes(ring: Ring) -> Result<Option<Vec<Ring>>> {
    let mut breath = Breath::new();
    let points = &ring.0[..ring.0.len() - 1];
    let mut open: Vec<Coord<f64>> = Vec::with_capacity(points.len());
    let mut places: HashMap<(u64, u64), usize> = HashMap::new();
    let mut all = Vec::new();
    for point in points {
        breath.step()?;
        if let Some(&at) = places.get(&key(*point)) {
            let mut lobe: Vec<Coord<f64>> = open.drain(at + 1..).collect();
            lobe.iter().for_each(|c| {
                places.remove(&key(*c));
            });
            lobe.insert(0, *point);
            lobe.push(*point);
            all.push(LineString(lobe));
            continue;
        }
        places.insert(key(*point), open.len());
        open.push(*point);
    }
    if all.is_empty() {
        return Ok(Some(vec![ring]));
    }
    open.extend(open.first().copied());
    all.push(LineString(open));
    let mut kept = Vec::new();
    for lobe in all {
        let Some(lobe) = without_repeats(lobe) else { return Ok(None) };
        kept.push(lobe);
    }
    let size = |ring: &Ring| signed_area(ring).abs();
    kept.sort_by(|a, b| size(b).total_cmp(&size(a)));
    let way = signed_area(&kept[0]) > 0.0;
    let others_turn = kept[1..].iter().all(|lobe| (signed_area(lobe) > 0.0) != way);
    Ok(others_turn.then_some(kept))
}

/// Rings meet in points alone, do not part the inside, and the others lie in the outer one and not in each other.
fn is_knit(rings: &[Ring], outer: Option<usize>) -> Result<bool> {
    let mut all: Vec<Segment> = Vec::new();
    for (run, ring) in rings.iter().enumerate() {
        segments(&ring.0, run as u32, &mut all);
    }
    let last: Vec<u32> = rings.iter().map(|ring| ring.0.len() as u32 - 2).collect();
    let mut is_valid = true;
    let mut touches: HashSet<(u32, u64, u64)> = HashSet::new();
    let mut touching: HashSet<(u32, u32)> = HashSet::new();
    pairs(&all, |a, b| {
        let follow = |a: &Segment, b: &Segment| {
            a.at + 1 == b.at || (b.at == 0 && a.at == last[a.run as usize])
        };
        let are_neighbours = a.run == b.run && (follow(a, b) || follow(b, a));
        match meeting(a.line, b.line) {
            Meeting::None => {}
            Meeting::Point(..) if are_neighbours => {}
            Meeting::Point(at, false) if a.run != b.run => {
                let (x, y) = key(at);
                touches.extend([(a.run, x, y), (b.run, x, y)]);
                touching.insert((a.run.min(b.run), a.run.max(b.run)));
            }
            _ => is_valid = false,
        }
        Ok(is_valid)
    })?;
    if !is_valid || has_cycle(&touches, rings.len()) {
        return Ok(false);
    }
    for at in 0..rings.len() {
        for other in at + 1..rings.len() {
            let touch = touching.contains(&(at as u32, other as u32));
            let (of_other, of_this) =
                (side(&rings[other], &rings[at], touch)?, side(&rings[at], &rings[other], touch)?);
            let is_right = match outer {
                Some(outer) if outer == at => of_other == Some(CoordPos::Inside),
                _ => of_other == Some(CoordPos::Outside) && of_this == Some(CoordPos::Outside),
            };
            if !is_right {
                return Ok(false);
            }
        }
    }
    Ok(true)
}

/// Where a ring lies of another one that it does not cross but may touch; `None`: on both sides, or along it.
fn side(ring: &Ring, of: &Ring, touch: bool) -> Result<Option<CoordPos>> {
    let mut breath = Breath::new();
    let mut found = None;
    for pair in ring.0.windows(2) {
        for at in [pair[0], (pair[0] + pair[1]) / 2.0] {
            breath.steps(of.0.len())?;
            match coord_pos_relative_to_ring(at, of) {
                CoordPos::OnBoundary => {}
                _ if found.is_some() && !touch => return Ok(found),
                pos if found.is_some_and(|f| f != pos) => return Ok(None),
                pos => found = Some(pos),
            }
        }
    }
    Ok(found)
}

/// Rings that touch in points form a tree, or part the inside.
fn has_cycle(touches: &HashSet<(u32, u64, u64)>, rings: usize) -> bool {
    let mut points: HashMap<(u64, u64), usize> = HashMap::new();
    let mut parent: Vec<usize> = (0..rings).collect();
    fn root(parent: &mut [usize], mut at: usize) -> usize {
        while parent[at] != at {
            parent[at] = parent[parent[at]];
            at = parent[at];
        }
        at
    }
    for (ring, x, y) in touches {
        let point = *points.entry((*x, *y)).or_insert_with(|| {
            parent.push(parent.len());
            parent.len() - 1
        });
        let (a, b) = (root(&mut parent, *ring as usize), root(&mut parent, point));
        if a == b {
            return true;
        }
        parent[a] = b;
    }
    false
}

/// Polygons meet in points at most, and none lies in another.
fn are_apart(polygons: &[Vec<Ring>]) -> Result<bool> {
    let mut all = Vec::new();
    for (run, rings) in polygons.iter().enumerate() {
        rings.iter().for_each(|ring| segments(&ring.0, run as u32, &mut all));
    }
    let mut is_valid = true;
    let mut touching: HashSet<(u32, u32)> = HashSet::new();
    pairs(&all, |a, b| {
        if a.run != b.run {
            match meeting(a.line, b.line) {
                Meeting::None => {}
                Meeting::Point(_, false) => {
                    touching.insert((a.run.min(b.run), a.run.max(b.run)));
                }
                _ => is_valid = false,
            }
        }
        Ok(is_valid)
    })?;
    let boxes: Vec<_> = polygons.iter().map(|rings| bounds(&rings[0])).collect();
    let mut breath = Breath::new();
    for at in 0..polygons.len() {
        for other in at + 1..polygons.len() {
            breath.step()?;
            if !is_valid {
                return Ok(false);
            }
            let ((a, b), (c, d)) = (boxes[at], boxes[other]);
            if a.x > d.x || c.x > b.x || a.y > d.y || c.y > b.y {
                continue;
            }
            let touch = touching.contains(&(at as u32, other as u32));
            is_valid = is_out(&polygons[at][0], &polygons[other], touch)?
                && is_out(&polygons[other][0], &polygons[at], touch)?;
        }
    }
    Ok(is_valid)
}

fn bounds(ring: &Ring) -> (Coord<f64>, Coord<f64>) {
    let first = ring.0[0];
    ring.0.iter().fold((first, first), |(low, high), c| {
        let pick = |f: fn(f64, f64) -> f64, a: Coord<f64>| Coord { x: f(a.x, c.x), y: f(a.y, c.y) };
        (pick(f64::min, low), pick(f64::max, high))
    })
}

/// A ring lies outside of a polygon: not in its outer ring, or in one of its holes.
fn is_out(ring: &Ring, polygon: &[Ring], touch: bool) -> Result<bool> {
    if side(ring, &polygon[0], touch)? == Some(CoordPos::Outside) {
        return Ok(true);
    }
    for hole in &polygon[1..] {
        if side(ring, hole, true)? == Some(CoordPos::Inside) {
            return Ok(true);
        }
    }
    Ok(false)
}
