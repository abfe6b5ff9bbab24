//! geometry and geography: their rows, and what takes their bytes in and out.
//!
//! Bodies are in [`access`], [`construct`] and [`compute`], for both types one; who is asked in which world comes with the
//! call. Sources: SQL documentation, "Spatial Data", "geometry data type method reference", "geography data type method
//! reference" and the pages below them.

mod access;
mod aggregate;
mod compute;
mod construct;

pub use aggregate::Aggregate;

use crate::method::{Arg, Body, Kind, Made, Method};
use crate::{ClrError, ClrType};
use spatial::overlay::Op;
use spatial::relate::Question;
use spatial::{Result, Shape, Spatial, SpatialError, World, bytes, wkt};

/// The world that a type's shapes are in.
pub(crate) const fn world(ty: ClrType) -> World {
    match ty {
        ClrType::Geography => World::Earth,
        _ => World::Plane,
    }
}

/// The SRID of what tells none.
fn default_srid(world: World) -> i32 {
    if world == World::Earth { spatial::srid::DEFAULT } else { 0 }
}

/// See [`ClrType::admit`]: whether it is valid is found out, whatever the bytes say.
pub(crate) fn admit(ty: ClrType, from: &[u8]) -> std::result::Result<Option<Vec<u8>>, ClrError> {
    let admitted = || -> Result<Option<Vec<u8>>> {
        let Some(value) = bytes::read(world(ty), from)? else { return Ok(None) };
        let value = Spatial::new(value.world, value.srid, value.shape)?;
        Ok(Some(bytes::write(&value)))
    };
    admitted().map_err(|e| ClrError::of_shapes(ty, e))
}

/// See [`ClrType::parse`].
pub(crate) fn parse(ty: ClrType, text: &str) -> std::result::Result<Option<Vec<u8>>, ClrError> {
    let world = world(ty);
    let parsed = || -> Result<Option<Vec<u8>>> {
        let Some(shape) = wkt::read(world, text, None)? else { return Ok(None) };
        Ok(Some(bytes::write(&Spatial::new(world, default_srid(world), shape)?)))
    };
    parsed().map_err(|e| ClrError::of_shapes(ty, e))
}

/// See [`ClrType::text`].
pub(crate) fn text(ty: ClrType, from: &[u8]) -> std::result::Result<String, ClrError> {
    let text = || wkt::write(&value(world(ty), from)?, true);
    text().map_err(|e| ClrError::of_shapes(ty, e))
}

/// The value that stored bytes are.
fn value(world: World, from: &[u8]) -> Result<Spatial> {
    bytes::read(world, from)?.ok_or_else(SpatialError::bad_bytes)
}

/// The value that a method is called on.
fn this(world: World, args: &[Arg<'_>]) -> Result<Spatial> {
    value(world, args[0].bytes())
}

/// The same, which must be valid.
fn valid(world: World, args: &[Arg<'_>]) -> Result<Spatial> {
    let value = this(world, args)?;
    value.valid()?;
    Ok(value)
}

/// The value and the first argument, both valid; `None` where their reference systems differ.
fn two(world: World, args: &[Arg<'_>]) -> Result<Option<(Spatial, Spatial)>> {
    let (this, other) = (valid(world, args)?, value(world, args[1].bytes())?);
    other.valid()?;
    Ok((this.srid == other.srid).then_some((this, other)))
}

fn made(value: &Spatial) -> Made {
    Made::Bytes(bytes::write(value))
}

/// A part of a value, or NULL.
fn part(of: &Spatial, shape: Option<Shape>) -> Made {
    shape.map_or(Made::Null, |shape| made(&of.part(shape)))
}

type Shapes = fn(World, &[Arg<'_>]) -> Result<Made>;

const THIS: Kind = Kind::Own;

const fn method(name: &'static str, takes: &'static [Kind], gives: Kind, body: Shapes) -> Method {
    Method::new(ClrType::Geometry, name, takes, gives, Body::Shapes(body))
}

const fn maker(name: &'static str, takes: &'static [Kind], body: Shapes) -> Method {
    Method { is_static: true, ..method(name, takes, THIS, body) }
}

const fn property(name: &'static str, gives: Kind, body: Shapes) -> Method {
    Method { is_property: true, ..method(name, &[], gives, body) }
}

const OF_TEXT: &[Kind] = &[Kind::LongText, Kind::Int];
const OF_BYTES: &[Kind] = &[Kind::LongBytes, Kind::Int];

/// What both types have.
const BOTH: [Method; 70] = [
    maker("Parse", &[Kind::LongText], construct::parse),
    maker("Point", &[Kind::Float, Kind::Float, Kind::Int], construct::point),
    maker("STGeomFromText", OF_TEXT, |w, a| construct::from_text(w, a, None)),
    maker("STPointFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(1))),
    maker("STLineFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(2))),
    maker("STPolyFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(3))),
    maker("STMPointFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(4))),
    maker("STMLineFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(5))),
    maker("STMPolyFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(6))),
    maker("STGeomCollFromText", OF_TEXT, |w, a| construct::from_text(w, a, Some(7))),
    maker("STGeomFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, None)),
    maker("STPointFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(1))),
    maker("STLineFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(2))),
    maker("STPolyFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(3))),
    maker("STMPointFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(4))),
    maker("STMLineFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(5))),
    maker("STMPolyFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(6))),
    maker("STGeomCollFromWKB", OF_BYTES, |w, a| construct::from_wkb(w, a, Some(7))),
    Method {
        is_static: true,
        is_property: true,
        ..method("Null", &[], THIS, |_, _| Ok(Made::Null))
    },
    property("STSrid", Kind::Int, |w, a| Ok(Made::Int(this(w, a)?.srid))),
    // What SET @g.STSrid = n calls.
    Method {
        is_property: true,
        is_hidden: true,
        takes_null: true,
        ..method("STSrid", &[Kind::Int], THIS, construct::with_srid)
    },
    property("Z", Kind::Float, |w, a| access::ordinate(w, a, |p| p.z)),
    property("M", Kind::Float, |w, a| access::ordinate(w, a, |p| p.m)),
    property("HasZ", Kind::Bit, |w, a| Ok(Made::Bit(this(w, a)?.has_z()))),
    property("HasM", Kind::Bit, |w, a| Ok(Made::Bit(this(w, a)?.has_m()))),
    property("IsNull", Kind::Bit, |_, _| Ok(Made::Bit(false))),
    method("STAsText", &[], Kind::LongText, |w, a| access::as_text(w, a, false)),
    method("AsTextZM", &[], Kind::LongText, |w, a| access::as_text(w, a, true)),
    method("ToString", &[], Kind::LongText, |w, a| access::as_text(w, a, true)),
    method("STAsBinary", &[], Kind::LongBytes, |w, a| access::as_binary(w, a, false)),
    method("AsBinaryZM", &[], Kind::LongBytes, |w, a| access::as_binary(w, a, true)),
    method("STGeometryType", &[], Kind::Text, |w, a| {
        Ok(Made::Text(valid(w, a)?.shape.kind_name().to_owned()))
    }),
    method("InstanceOf", &[Kind::Text], Kind::Bit, access::instance_of),
    method("STNumPoints", &[], Kind::Int, |w, a| {
        Ok(Made::Int(valid(w, a)?.shape.points_len() as i32))
    }),
    method("STPointN", &[Kind::Int], THIS, access::point_n),
    method("STStartPoint", &[], THIS, |w, a| access::end_point(w, a, false)),
    method("STEndPoint", &[], THIS, |w, a| access::end_point(w, a, true)),
    method("STNumGeometries", &[], Kind::Int, access::num_geometries),
    method("STGeometryN", &[Kind::Int], THIS, access::geometry_n),
    method("STNumCurves", &[], Kind::Int, access::num_curves),
    method("STCurveN", &[Kind::Int], THIS, access::curve_n),
    method("STIsEmpty", &[], Kind::Bit, |w, a| Ok(Made::Bit(this(w, a)?.shape.is_empty()))),
    method("STIsClosed", &[], Kind::Bit, access::is_closed),
    method("STIsValid", &[], Kind::Bit, |w, a| Ok(Made::Bit(this(w, a)?.is_valid))),
    method("STDimension", &[], Kind::Int, |w, a| Ok(Made::Int(valid(w, a)?.shape.dimension()))),
    method("MinDbCompatibilityLevel", &[], Kind::Int, access::compatibility_level),
    method("MakeValid", &[], THIS, compute::make_valid),
    method("Reduce", &[Kind::Float], THIS, compute::reduce),
    method("STCurveToLine", &[], THIS, compute::curve_to_line),
    method("STDistance", &[THIS], Kind::Float, compute::distance),
    method("ShortestLineTo", &[THIS], THIS, compute::shortest_line),
    method("STLength", &[], Kind::Float, compute::length),
    method("STArea", &[], Kind::Float, compute::area),
    method("STConvexHull", &[], THIS, compute::convex_hull),
    method("STBuffer", &[Kind::Float], THIS, compute::buffer),
    method(
        "BufferWithTolerance",
        &[Kind::Float, Kind::Float, Kind::Bit],
        THIS,
        compute::buffer_with_tolerance,
    ),
    method("STIntersects", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Intersects)),
    method("Filter", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Intersects)),
    method("STDisjoint", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Disjoint)),
    method("STContains", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Contains)),
    method("STWithin", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Within)),
    method("STOverlaps", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Overlaps)),
    method("STEquals", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Equals)),
    method("STIntersection", &[THIS], THIS, |w, a| compute::overlaid(w, a, Op::Intersection)),
    method("STUnion", &[THIS], THIS, |w, a| compute::overlaid(w, a, Op::Union)),
    method("STDifference", &[THIS], THIS, |w, a| compute::overlaid(w, a, Op::Difference)),
    method("STSymDifference", &[THIS], THIS, |w, a| compute::overlaid(w, a, Op::SymDifference)),
    method("BufferWithCurves", &[Kind::Float], THIS, |_, _| Err(not_here("BufferWithCurves"))),
    method("CurveToLineWithTolerance", &[Kind::Float, Kind::Bit], THIS, |_, _| {
        Err(not_here("CurveToLineWithTolerance"))
    }),
    method("IsValidDetailed", &[], Kind::LongText, |_, _| Err(not_here("IsValidDetailed"))),
];

const PLANE: [Method; 15] = [
    property("STX", Kind::Float, |w, a| access::ordinate(w, a, |p| p.x)),
    property("STY", Kind::Float, |w, a| access::ordinate(w, a, |p| p.y)),
    method("STExteriorRing", &[], THIS, access::exterior_ring),
    method("STNumInteriorRing", &[], Kind::Int, access::num_interior_ring),
    method("STInteriorRingN", &[Kind::Int], THIS, |w, a| access::ring_n(w, a, true)),
    method("STIsSimple", &[], Kind::Bit, compute::is_simple),
    method("STIsRing", &[], Kind::Bit, compute::is_ring),
    method("STCentroid", &[], THIS, compute::centroid),
    method("STEnvelope", &[], THIS, compute::envelope),
    method("STBoundary", &[], THIS, compute::boundary),
    method("STPointOnSurface", &[], THIS, compute::point_on_surface),
    method("STCrosses", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Crosses)),
    method("STTouches", &[THIS], Kind::Bit, |w, a| compute::ask(w, a, Question::Touches)),
    Method {
        takes_null: true,
        ..method("STRelate", &[THIS, Kind::Text], Kind::Bit, compute::relate)
    },
    method("AsGml", &[], Kind::LongText, |_, _| Err(not_here("AsGml"))),
];

const EARTH: [Method; 8] = [
    property("Lat", Kind::Float, |w, a| access::ordinate(w, a, |p| p.y)),
    property("Long", Kind::Float, |w, a| access::ordinate(w, a, |p| p.x)),
    method("NumRings", &[], Kind::Int, access::num_rings),
    method("RingN", &[Kind::Int], THIS, |w, a| access::ring_n(w, a, false)),
    method("EnvelopeCenter", &[], THIS, compute::envelope_center),
    method("EnvelopeAngle", &[], Kind::Float, compute::envelope_angle),
    method("ReorientObject", &[], THIS, compute::reorient),
    method("AsGml", &[], Kind::LongText, |_, _| Err(not_here("AsGml"))),
];

/// A method of SQL Server's that is refused.
#[cold]
fn not_here(name: &str) -> SpatialError {
    SpatialError::unsupported(format!("{name} is not supported in this version of SQL Server."))
}

const fn of<const N: usize, const M: usize>(
    owner: ClrType,
    both: &[Method],
    own: &[Method; M],
) -> [Method; N] {
    let mut all = [own[0]; N];
    let mut at = 0;
    while at < N {
        all[at] = if at < both.len() { both[at] } else { own[at - both.len()] };
        all[at].owner = owner;
        at += 1;
    }
    all
}

pub(crate) const GEOMETRY: [Method; BOTH.len() + PLANE.len()] =
    of(ClrType::Geometry, &BOTH, &PLANE);
pub(crate) const GEOGRAPHY: [Method; BOTH.len() + EARTH.len()] =
    of(ClrType::Geography, &BOTH, &EARTH);
