//! What makes values: texts, well-known binaries, coordinates, another SRID.

use super::{default_srid, made, this};
use crate::method::{Arg, Made};
use spatial::{Pos, Result, Shape, Spatial, SpatialError, World, check_srid, wkb, wkt};

pub(super) fn parse(world: World, args: &[Arg<'_>]) -> Result<Made> {
    build(world, wkt::read(world, args[0].text(), None)?, default_srid(world))
}

pub(super) fn from_text(world: World, args: &[Arg<'_>], kind: Option<u8>) -> Result<Made> {
    build(world, wkt::read(world, args[0].text(), kind)?, args[1].int())
}

pub(super) fn from_wkb(world: World, args: &[Arg<'_>], kind: Option<u8>) -> Result<Made> {
    build(world, Some(wkb::read(args[0].bytes(), kind)?), args[1].int())
}

fn build(world: World, shape: Option<Shape>, srid: i32) -> Result<Made> {
    let Some(shape) = shape else { return Ok(Made::Null) };
    Ok(made(&Spatial::new(world, srid, shape)?))
}

/// Of geography the latitude comes first.
pub(super) fn point(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let (a, b) = (args[0].float() + 0.0, args[1].float() + 0.0);
    let point = if world == World::Earth { Pos::new(b, a) } else { Pos::new(a, b) };
    build(world, Some(Shape::Point(Some(point))), args[2].int())
}

pub(super) fn with_srid(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let Arg::Int(srid) = args[1] else {
        return Err(SpatialError {
            class: "System.ArgumentNullException",
            ..SpatialError::argument("Value cannot be null.")
        });
    };
    check_srid(world, srid)?;
    Ok(made(&Spatial { srid, ..this(world, args)? }))
}
