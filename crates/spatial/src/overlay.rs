//! Two shapes into one: what both have, what either has, what one has and the other not.
//!
//! Areas go through the overlay of the `geo` crate, whose grid of integers moves a point by up to 1e-9 of the extent; each
//! point of the result is then put back onto the corner or crossing that it comes from. Lines and points are cut where
//! segments meet, and each piece is kept or not by where it lies. Points lose height and measure. Source: SQL
//! documentation, "STIntersection", "STUnion", "STDifference", "STSymDifference", "MakeValid".

use crate::plane::{Back, Flat, Parts, flat, frame, key};
use crate::shape::{Shape, Spatial};
use crate::sweep::{Meeting, Segment, meeting, segments};
use crate::{Result, work};
use geo::bool_ops::FillRule;
use geo::coordinate_position::{CoordPos, CoordinatePosition};
use geo::{BooleanOps, Coord, Geometry, Line, LineString, MultiPolygon, OpType, Polygon};
use std::collections::{BTreeMap, HashMap, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Intersection,
    Union,
    Difference,
    SymDifference,
}

impl Op {
    fn keeps(self, in_a: bool, in_b: bool) -> bool {
        match self {
            Op::Intersection => in_a && in_b,
            Op::Union => in_a || in_b,
            Op::Difference => in_a && !in_b,
            Op::SymDifference => in_a != in_b,
        }
    }
}

/// What an operation makes of two valid shapes of one reference system.
pub fn overlay(op: Op, a: &Spatial, b: &Spatial) -> Result<Spatial> {
    let frame = frame(&[a, b])?;
    let (left, right) = (flat(a, &frame)?, flat(b, &frame)?);
    if left.is_rest || right.is_rest {
        return rest(op, a, left, right, &Back::new(frame, &[a, b]));
    }
    let parts = work::on([left.geometry, right.geometry], move |[a, b]| {
        combine(op, &Parts::of(a), &Parts::of(b))
    })?;
    made(a, parts.shape(&Back::new(frame, &[a, b])))
}

/// A result, which counts as valid: what rounding does to it is less than what the grid did.
fn made(of: &Spatial, shape: Shape) -> Result<Spatial> {
    Ok(Spatial { is_valid: true, ..of.with(shape)? })
}

/// A valid shape of what was not.
pub fn make_valid(value: &Spatial) -> Result<Spatial> {
    let frame = frame(&[value])?;
    let flat = flat(&Spatial { is_large: false, ..value.clone() }, &frame)?;
    let parts = work::on([flat.geometry], |[shape]| {
        let parts = Parts::of(shape);
        combine(Op::Union, &parts, &Parts::default())
    })?;
    made(value, parts.shape(&Back::new(frame, &[value])))
}

/// All of them in one; 24144 is the caller's.
pub fn union_all(values: &[Spatial]) -> Result<Option<Spatial>> {
    let Some(first) = values.first() else { return Ok(None) };
    let refs: Vec<&Spatial> = values.iter().collect();
    if values.iter().any(|value| value.is_large) {
        let mut all = first.clone();
        for value in &values[1..] {
            all = overlay(Op::Union, &all, value)?;
        }
        return Ok(Some(all));
    }
    let frame = frame(&refs)?;
    let mut all = Vec::new();
    for value in values {
        all.push(flat(value, &frame)?.geometry);
    }
    let all = Geometry::GeometryCollection(geo::GeometryCollection(all));
    let parts = work::on([all], |[all]| combine(Op::Union, &Parts::of(all), &Parts::default()))?;
    made(first, parts.shape(&Back::new(frame, &refs))).map(Some)
}

/// Where one is most of the earth: by what it leaves out, and the rules of sets.
fn rest(op: Op, like: &Spatial, a: Flat, b: Flat, back: &Back) -> Result<Spatial> {
    // The rest of x and the rest of y: which operation on x and y, and whether the rest of that.
    let (op, swap, is_rest) = match (op, a.is_rest, b.is_rest) {
        (Op::Intersection, true, true) => (Op::Union, false, true),
        (Op::Intersection, true, false) => (Op::Difference, true, false),
        (Op::Intersection, false, _) => (Op::Difference, false, false),
        (Op::Union, true, true) => (Op::Intersection, false, true),
        (Op::Union, true, false) => (Op::Difference, false, true),
        (Op::Union, false, _) => (Op::Difference, true, true),
        (Op::Difference, true, true) => (Op::Difference, true, false),
        (Op::Difference, true, false) => (Op::Union, false, true),
        (Op::Difference, false, _) => (Op::Intersection, false, false),
        (Op::SymDifference, left, right) => (Op::SymDifference, false, left != right),
    };
    let (a, b) = if swap { (b.geometry, a.geometry) } else { (a.geometry, b.geometry) };
    let parts = work::on([a, b], move |[a, b]| combine(op, &Parts::of(a), &Parts::of(b)))?;
    if !is_rest {
        return made(like, parts.shape(back));
    }
    // Its own holes are shapes again; each ring turned round leaves the rest on its left.
    let mut rings = Vec::new();
    let mut islands = Vec::new();
    for polygon in &parts.area {
        rings.push(polygon.exterior().clone());
        islands
            .extend(polygon.interiors().iter().map(|ring| Polygon::new(ring.clone(), Vec::new())));
    }
    if rings.is_empty() && islands.is_empty() {
        return Ok(Spatial { is_large: true, ..like.part(Shape::FullGlobe) });
    }
    if !islands.is_empty() {
        return Err(crate::plane::too_large());
    }
    let turned = |ring: &LineString<f64>| {
        let mut points: Vec<_> = ring.0.iter().map(|c| back.at(*c)).collect();
        if crate::valid::signed_area(ring) > 0.0 {
            points.reverse();
        }
        points
    };
    like.with(Shape::Polygon(rings.iter().map(turned).collect()))
}

type Key = (u64, u64);

/// A piece of a segment, and what it is a piece of.
#[derive(Clone, Copy, Default)]
struct Of {
    lines: [bool; 2],
    rings: [bool; 2],
}

fn combine(op: Op, a: &Parts, b: &Parts) -> Parts {
    let both = [a, b];
    let area = |parts: &Parts| MultiPolygon::new(parts.area.clone());
    let mut all: Vec<Segment> = Vec::new();
    for (side, parts) in both.iter().enumerate() {
        parts.lines.iter().for_each(|line| segments(&line.0, side as u32 * 2, &mut all));
        parts.rings().for_each(|ring| segments(&ring.0, side as u32 * 2 + 1, &mut all));
    }
    let cut = Cut::of(&all);
    let [whole_a, whole_b] = both.map(|parts| cut.snapped(&united(&area(parts))));
    let made = match op {
        Op::Intersection => whole_a.boolean_op(&whole_b, OpType::Intersection),
        Op::Union => whole_a.boolean_op(&whole_b, OpType::Union),
        Op::Difference => whole_a.boolean_op(&whole_b, OpType::Difference),
        Op::SymDifference => whole_a.boolean_op(&whole_b, OpType::Xor),
    };
    let made = cut.snapped(&made);
    let has_lines = both.iter().any(|parts| !parts.lines.is_empty());
    let has_points = both.iter().any(|parts| !parts.points.is_empty());
    let mut out = Parts { area: made.0.clone(), ..Parts::default() };
    let is_in = |side: usize, at: Coord<f64>| {
        let whole = if side == 0 { &whole_a } else { &whole_b };
        whole.coordinate_position(&at) != CoordPos::Outside
    };
    let in_made = |at: Coord<f64>| made.coordinate_position(&at) != CoordPos::Outside;
    let corners: HashSet<Key> = made
        .iter()
        .flat_map(|p| std::iter::once(p.exterior()).chain(p.interiors()))
        .flat_map(|ring| ring.0.iter().map(|c| key(*c)))
        .collect();
    let mut kept: Vec<Line<f64>> = Vec::new();
    if has_lines || op == Op::Intersection {
        for (line, of) in &cut.pieces {
            let is_line = of.lines[0] || of.lines[1];
            let is_shared = of.rings[0] && of.rings[1] && op == Op::Intersection;
            if !is_line && !is_shared {
                continue;
            }
            let middle = (line.start + line.end) / 2.0;
            let [in_a, in_b] =
                [0, 1].map(|side| of.lines[side] || of.rings[side] || is_in(side, middle));
            let is_border = of.rings[0] || of.rings[1];
            let is_covered = in_made(middle)
                || (is_border
                    && corners.contains(&key(line.start))
                    && corners.contains(&key(line.end))
                    && near_border(&made, *line));
            if op.keeps(in_a, in_b) && !is_covered {
                kept.push(*line);
            }
        }
    }
    let ends: HashSet<Key> = kept.iter().flat_map(|l| [key(l.start), key(l.end)]).collect();
    if has_points || op == Op::Intersection {
        let own = both.map(|p| p.points.iter().map(|c| key(*c)).collect::<HashSet<Key>>());
        let mut candidates: BTreeMap<Key, Coord<f64>> = BTreeMap::new();
        both.iter().flat_map(|p| &p.points).for_each(|c| {
            candidates.insert(key(*c), *c);
        });
        if op == Op::Intersection {
            cut.shared.iter().for_each(|c| {
                candidates.insert(key(*c), *c);
            });
        }
        let shared: HashSet<Key> = cut.shared.iter().map(|c| key(*c)).collect();
        for (name, at) in candidates {
            let [in_a, in_b] = [0, 1].map(|side| {
                own[side].contains(&name)
                    || (op == Op::Intersection && shared.contains(&name))
                    || is_in(side, at)
                    || both[side]
                        .lines
                        .iter()
                        .any(|l| l.coordinate_position(&at) != CoordPos::Outside)
            });
            let is_covered = ends.contains(&name)
                || corners.contains(&name)
                || in_made(at)
                || kept.iter().any(|l| l.coordinate_position(&at) != CoordPos::Outside);
            if op.keeps(in_a, in_b) && !is_covered {
                out.points.push(at);
            }
        }
    }
    out.lines = chained(&kept);
    out
}

/// A piece of a border lies along the result's border, but for rounding.
fn near_border(made: &MultiPolygon<f64>, line: Line<f64>) -> bool {
    let (a, b) = (key(line.start), key(line.end));
    made.iter()
        .flat_map(|p| std::iter::once(p.exterior()).chain(p.interiors()))
        .flat_map(|ring| ring.0.windows(2))
        .any(|pair| [(a, b), (b, a)].contains(&(key(pair[0]), key(pair[1]))))
}

/// Polygons that may lie over each other, or cross themselves, as some that do not.
fn united(area: &MultiPolygon<f64>) -> MultiPolygon<f64> {
    let nothing = MultiPolygon::new(Vec::new());
    let each: Vec<MultiPolygon<f64>> = area
        .iter()
        .map(|p| MultiPolygon::new(vec![p.clone()]))
        .map(|p| p.union_with_fill_rule(&nothing, FillRule::EvenOdd))
        .collect();
    match each.len() {
        0 => nothing,
        1 => each.into_iter().next().unwrap_or(nothing),
        _ => geo::unary_union(each.iter()),
    }
}

/// Segments cut where they meet.
struct Cut {
    pieces: Vec<(Line<f64>, Of)>,
    /// Corners and crossings, by cells.
    places: HashMap<(i64, i64), Vec<Coord<f64>>>,
    cell: f64,
    /// Where the first shape and the second one meet.
    shared: Vec<Coord<f64>>,
}

impl Cut {
    fn of(all: &[Segment]) -> Cut {
        let mut cuts: Vec<Vec<Coord<f64>>> = vec![Vec::new(); all.len()];
        let mut shared = Vec::new();
        // Names of segments are their places, which a sweep of copies keeps.
        let named: Vec<Segment> =
            all.iter().enumerate().map(|(at, s)| Segment { at: at as u32, ..*s }).collect();
        let swept = crate::sweep::pairs(&named, |a, b| {
            let are_two = a.run / 2 != b.run / 2;
            match meeting(a.line, b.line) {
                Meeting::None => {}
                Meeting::Point(at, _) => {
                    let at = exact(at, a.line, b.line);
                    cuts[a.at as usize].push(at);
                    cuts[b.at as usize].push(at);
                    if are_two {
                        shared.push(at);
                    }
                }
                Meeting::Stretch(line) => {
                    for at in [line.start, line.end] {
                        cuts[a.at as usize].push(at);
                        cuts[b.at as usize].push(at);
                        if are_two {
                            shared.push(at);
                        }
                    }
                }
            }
            Ok(true)
        });
        debug_assert!(swept.is_ok() || runtime::task::is_stopped());
        let mut pieces: BTreeMap<(Key, Key), (Line<f64>, Of)> = BTreeMap::new();
        let mut places: HashMap<(i64, i64), Vec<Coord<f64>>> = HashMap::new();
        let reach = all
            .iter()
            .flat_map(|s| [s.line.start, s.line.end])
            .fold(0.0, |most: f64, c| most.max(c.x.abs()).max(c.y.abs()));
        let cell = (reach * 1e-8).max(f64::MIN_POSITIVE * 1e8);
        for (segment, cuts) in all.iter().zip(&mut cuts) {
            let Line { start, end } = segment.line;
            let along = |c: &Coord<f64>| {
                let (d, p) = (end - start, *c - start);
                d.x * p.x + d.y * p.y
            };
            cuts.extend([start, end]);
            cuts.sort_by(|a, b| along(a).total_cmp(&along(b)));
            cuts.dedup();
            for pair in cuts.windows(2) {
                let (a, b) = (key(pair[0]), key(pair[1]));
                let name = if a < b { (a, b) } else { (b, a) };
                let (_, of) = pieces
                    .entry(name)
                    .or_insert_with(|| (Line::new(pair[0], pair[1]), Of::default()));
                let side = segment.run as usize / 2;
                match segment.run % 2 {
                    0 => of.lines[side] = true,
                    _ => of.rings[side] = true,
                }
            }
            for c in cuts.iter() {
                let at = places.entry(cell_of(*c, cell)).or_default();
                if !at.contains(c) {
                    at.push(*c);
                }
            }
        }
        Cut { pieces: pieces.into_values().collect(), places, cell, shared }
    }

    /// Points back where they come from.
    fn snapped(&self, shape: &MultiPolygon<f64>) -> MultiPolygon<f64> {
        let snap = |c: &Coord<f64>| {
            let (x, y) = cell_of(*c, self.cell);
            let near = (x - 1..=x + 1).flat_map(|x| (y - 1..=y + 1).map(move |y| (x, y)));
            let far = |p: &Coord<f64>| (p.x - c.x).hypot(p.y - c.y);
            let places = near.filter_map(|cell| self.places.get(&cell)).flatten();
            let nearest = places.min_by(|a, b| far(a).total_cmp(&far(b)));
            nearest.copied().filter(|p| far(p) < self.cell).unwrap_or(*c)
        };
        let ring = |ring: &LineString<f64>| {
            let mut coords: Vec<Coord<f64>> = ring.0.iter().map(snap).collect();
            coords.dedup();
            LineString(coords)
        };
        // What is no wider than the grid is none.
        let is_wide = |ring: &LineString<f64>| {
            let around: f64 =
                ring.0.windows(2).map(|p| (p[1].x - p[0].x).hypot(p[1].y - p[0].y)).sum();
            ring.0.len() >= 4 && crate::valid::signed_area(ring).abs() > around * self.cell
        };
        let polygons = shape.iter().filter_map(|p| {
            let outer = ring(p.exterior());
            let holes = p.interiors().iter().map(ring).filter(is_wide).collect();
            is_wide(&outer).then(|| Polygon::new(outer, holes))
        });
        MultiPolygon::new(polygons.collect())
    }
}

fn cell_of(c: Coord<f64>, cell: f64) -> (i64, i64) {
    ((c.x / cell).round() as i64, (c.y / cell).round() as i64)
}

/// An end of a segment, where a crossing is one but for rounding.
fn exact(at: Coord<f64>, a: Line<f64>, b: Line<f64>) -> Coord<f64> {
    [a.start, a.end, b.start, b.end].into_iter().find(|c| *c == at).unwrap_or(at)
}

/// Pieces put together where two of them, and no third one, meet.
fn chained(pieces: &[Line<f64>]) -> Vec<LineString<f64>> {
    let mut at: HashMap<Key, Vec<usize>> = HashMap::new();
    for (n, piece) in pieces.iter().enumerate() {
        at.entry(key(piece.start)).or_default().push(n);
        at.entry(key(piece.end)).or_default().push(n);
    }
    let mut used = vec![false; pieces.len()];
    let mut lines = Vec::new();
    let mut walk = |from: usize, start: Coord<f64>, used: &mut Vec<bool>| {
        let mut coords = vec![start];
        let mut next = Some(from);
        while let Some(n) = next {
            used[n] = true;
            let here = coords[coords.len() - 1];
            let piece = pieces[n];
            let there = if piece.start == here { piece.end } else { piece.start };
            coords.push(there);
            let around = &at[&key(there)];
            next = match around.as_slice() {
                [a, b] => [*a, *b].into_iter().find(|other| !used[*other]),
                _ => None,
            };
        }
        lines.push(LineString(coords));
    };
    // From ends and forks first, then what is closed.
    for (n, piece) in pieces.iter().enumerate() {
        for end in [piece.start, piece.end] {
            if !used[n] && at[&key(end)].len() != 2 {
                walk(n, end, &mut used);
            }
        }
    }
    for (n, piece) in pieces.iter().enumerate() {
        if !used[n] {
            walk(n, piece.start, &mut used);
        }
    }
    lines.iter().map(simple).collect()
}

/// Without the points that lie straight between their neighbours.
fn simple(line: &LineString<f64>) -> LineString<f64> {
    use geo::Kernel;
    let mut coords: Vec<Coord<f64>> = Vec::with_capacity(line.0.len());
    for (at, c) in line.0.iter().enumerate() {
        let between = coords.last().zip(line.0.get(at + 1));
        let is_straight = between.is_some_and(|(a, b)| {
            geo::algorithm::kernels::RobustKernel::orient2d(*a, *c, *b)
                == geo::algorithm::kernels::Orientation::Collinear
        });
        if !is_straight || at == 0 {
            coords.push(*c);
        }
    }
    LineString(coords)
}
