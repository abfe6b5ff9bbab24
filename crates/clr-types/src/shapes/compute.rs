//! What is computed: measures, relations, operations on two, shapes made of one.

use super::{made, part, this, two, valid};
use crate::method::{Arg, Made};
use spatial::make;
use spatial::measure;
use spatial::overlay::{self, Op};
use spatial::relate::{self, Question};
use spatial::{Curve, Pos, Result, Shape, Spatial, SpatialError, World, number_text};

pub(super) fn make_valid(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = this(world, args)?;
    Ok(made(&if value.is_valid { value } else { overlay::make_valid(&value)? }))
}

/// 24125.
pub(super) fn reduce(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let tolerance = args[1].float();
    if tolerance < 0.0 {
        return Err(not_positive(24125, "Reduce", tolerance));
    }
    make::reduce(&value, tolerance).map(|reduced| made(&reduced))
}

fn not_positive(number: i32, method: &str, tolerance: f64) -> SpatialError {
    let text = format!(
        "{number}: The tolerance ({}) passed to {method} is not valid. Tolerances must be positive numbers.",
        number_text(tolerance)
    );
    SpatialError::range(text, "tolerance")
}

pub(super) fn curve_to_line(world: World, args: &[Arg<'_>]) -> Result<Made> {
    Ok(made(&make::without_arcs(&valid(world, args)?)?))
}

pub(super) fn distance(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let Some((a, b)) = two(world, args)? else { return Ok(Made::Null) };
    Ok(measure::nearest(&a, &b)?.map_or(Made::Null, |(distance, ..)| Made::Float(distance)))
}

pub(super) fn shortest_line(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let Some((a, b)) = two(world, args)? else { return Ok(Made::Null) };
    let line = match measure::nearest(&a, &b)? {
        Some((distance, from, to)) if distance > 0.0 => vec![from.flat(), to.flat()],
        _ => Vec::new(),
    };
    Ok(part(&a, Some(Shape::Curve(Curve::Line(line)))))
}

pub(super) fn length(world: World, args: &[Arg<'_>]) -> Result<Made> {
    measure::length(&this(world, args)?).map(Made::Float)
}

pub(super) fn area(world: World, args: &[Arg<'_>]) -> Result<Made> {
    measure::area(&valid(world, args)?).map(Made::Float)
}

pub(super) fn convex_hull(world: World, args: &[Arg<'_>]) -> Result<Made> {
    make::convex_hull(&valid(world, args)?).map(|hull| made(&hull))
}

/// Off by a thousandth of the distance.
pub(super) fn buffer(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let distance = args[1].float();
    make::buffer(&value, distance, distance.abs() / 1000.0).map(|buffer| made(&buffer))
}

/// 24108. A relative tolerance is one of the diameter of what is around it.
pub(super) fn buffer_with_tolerance(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let (distance, mut tolerance) = (args[1].float(), args[2].float());
    if tolerance <= 0.0 {
        return Err(not_positive(24108, "BufferWithTolerance", tolerance));
    }
    if matches!(args[3], Arg::Bit(true)) {
        tolerance *= make::diameter(&value);
    }
    make::buffer(&value, distance, tolerance).map(|buffer| made(&buffer))
}

/// NULL where reference systems differ.
pub(super) fn ask(world: World, args: &[Arg<'_>], question: Question) -> Result<Made> {
    let Some((a, b)) = two(world, args)? else { return Ok(Made::Null) };
    relate::ask(question, &a, &b).map(Made::Bit)
}

/// The pattern is looked at first.
pub(super) fn relate(world: World, args: &[Arg<'_>]) -> Result<Made> {
    relate::check_pattern(args[2].text())?;
    if matches!(args[1], Arg::Null) {
        return Ok(Made::Null);
    }
    let Some((a, b)) = two(world, args)? else { return Ok(Made::Null) };
    Ok(Made::Bit(relate::matrix(&a, &b)?.fits(args[2].text())))
}

/// NULL where reference systems differ.
pub(super) fn overlaid(world: World, args: &[Arg<'_>], op: Op) -> Result<Made> {
    let Some((a, b)) = two(world, args)? else { return Ok(Made::Null) };
    overlay::overlay(op, &a, &b).map(|all| made(&all))
}

pub(super) fn is_simple(world: World, args: &[Arg<'_>]) -> Result<Made> {
    make::is_simple(&valid(world, args)?).map(Made::Bit)
}

/// NULL of what is no line; asked of invalid ones too.
pub(super) fn is_ring(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = this(world, args)?;
    let Shape::Curve(curve) = &value.shape else { return Ok(Made::Null) };
    let points = curve.points();
    let closed = matches!(points.as_slice(), [first, .., last] if first.at(*last));
    Ok(Made::Bit(closed && value.is_valid && make::is_simple(&value)?))
}

fn point(of: &Spatial, at: Option<Pos>) -> Made {
    part(of, at.map(|p| Shape::Point(Some(p))))
}

pub(super) fn centroid(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(point(&value, measure::centroid(&value)?))
}

pub(super) fn envelope(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(part(&value, Some(make::envelope(&value))))
}

pub(super) fn boundary(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(part(&value, Some(make::boundary(&value))))
}

pub(super) fn point_on_surface(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(point(&value, make::point_on_surface(&value)?))
}

pub(super) fn envelope_center(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(point(&value, measure::envelope_center(&value)))
}

pub(super) fn envelope_angle(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let angle = measure::envelope_angle(&valid(world, args)?);
    Ok(angle.map_or(Made::Null, Made::Float))
}

/// What was outside is inside.
pub(super) fn reorient(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    Ok(made(&value.with(make::reoriented(&value.shape))?))
}
