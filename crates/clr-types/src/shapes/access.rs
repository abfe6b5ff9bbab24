//! What a value tells of itself: its texts, its kind, its parts.

use super::{made, part, this, valid};
use crate::method::{Arg, Made};
use spatial::{Curve, Piece, Pos, Result, Shape, Spatial, SpatialError, World, wkb, wkt};

/// Of a point; NULL of everything else, and of what the point lacks.
pub(super) fn ordinate(world: World, args: &[Arg<'_>], pick: fn(Pos) -> f64) -> Result<Made> {
    Ok(match this(world, args)?.shape {
        Shape::Point(Some(point)) if !pick(point).is_nan() => Made::Float(pick(point)),
        _ => Made::Null,
    })
}

pub(super) fn as_text(world: World, args: &[Arg<'_>], with_zm: bool) -> Result<Made> {
    wkt::write(&this(world, args)?, with_zm).map(Made::Text)
}

pub(super) fn as_binary(world: World, args: &[Arg<'_>], with_zm: bool) -> Result<Made> {
    wkb::write(&this(world, args)?, with_zm).map(Made::Bytes)
}

/// Each name with the OpenGisTypes that are one.
const NAMES: [(&str, &[u8]); 17] = [
    ("Geometry", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]),
    ("Point", &[1]),
    ("Curve", &[2, 8, 9]),
    ("LineString", &[2]),
    ("Surface", &[3, 10]),
    ("Polygon", &[3]),
    ("MultiPoint", &[4]),
    ("MultiCurve", &[5]),
    ("MultiLineString", &[5]),
    ("MultiSurface", &[6]),
    ("MultiPolygon", &[6]),
    ("GeometryCollection", &[4, 5, 6, 7]),
    ("CircularString", &[8]),
    ("CompoundCurve", &[9]),
    ("CurvePolygon", &[10]),
    ("FullGlobe", &[11]),
    ("", &[]),
];

pub(super) fn instance_of(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let name = args[1].text();
    let found =
        NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name) && !name.is_empty());
    match found {
        Some((known, kinds)) if world == World::Earth || *known != "FullGlobe" => {
            Ok(Made::Bit(kinds.contains(&value.shape.kind())))
        }
        _ => Err(SpatialError::argument(format!(
            "24105: The geometryType argument in InstanceOf ('{name}') is not valid. This argument must contain one of the \
             following types: Geometry, Point, LineString, Curve, Polygon, Surface, MultiPoint, MultiLineString, \
             MultiPolygon, MultiCurve, MultiSurface, GeometryCollection, CircularString, CompoundCurve, CurvePolygon or \
             FullGlobe (geography Data Type only)."
        ))),
    }
}

/// The place that the argument counts from 1; the refusal of one below it.
fn index(args: &[Arg<'_>], refusal: impl FnOnce(i32) -> String) -> Result<usize> {
    let n = args[1].int();
    let at = usize::try_from(n).ok().and_then(|n| n.checked_sub(1));
    at.ok_or_else(|| SpatialError::range(refusal(n), "n"))
}

/// 24102, NULL beyond the last.
pub(super) fn point_n(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let at = index(args, |n| {
        format!(
            "24102: The point index n ({n}) passed to STPointN is less than 1. This number must be greater than or \
             equal to 1 and less than or equal to the number of points returned by STNumPoints."
        )
    })?;
    Ok(part(&value, value.shape.point_at(at).map(|p| Shape::Point(Some(p)))))
}

pub(super) fn end_point(world: World, args: &[Arg<'_>], last: bool) -> Result<Made> {
    let value = valid(world, args)?;
    let len = value.shape.points_len();
    let at = if last { len.checked_sub(1) } else { Some(0) };
    let point = at.and_then(|at| value.shape.point_at(at));
    Ok(part(&value, point.map(|p| Shape::Point(Some(p)))))
}

fn count_of(shape: &Shape) -> usize {
    shape.parts().map_or(usize::from(!shape.is_empty()), <[Shape]>::len)
}

pub(super) fn num_geometries(world: World, args: &[Arg<'_>]) -> Result<Made> {
    Ok(Made::Int(count_of(&valid(world, args)?.shape) as i32))
}

/// 24103, NULL beyond the last.
pub(super) fn geometry_n(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let at = index(args, |n| {
        format!(
            "24103: The geometry index n ({n}) passed to STGeometryN is less than 1. The number must be greater than or \
             equal to 1 and should be less than or equal to the number of instances returned by STNumGeometries."
        )
    })?;
    if at >= count_of(&value.shape) {
        return Ok(Made::Null);
    }
    match value.shape.parts() {
        None => Ok(made(&value)),
        // Parts of a large one may be large.
        Some(parts) => Ok(made(&value.with(parts[at].clone())?)),
    }
}

/// Segments of a curve: a line between two points, an arc of three.
fn curves(shape: &Shape) -> Option<Vec<Shape>> {
    let Shape::Curve(curve) = shape else { return None };
    let lines = |points: &[Pos]| -> Vec<Shape> {
        points.windows(2).map(|p| Shape::Curve(Curve::Line(p.to_vec()))).collect()
    };
    let arcs = |points: &[Pos]| -> Vec<Shape> {
        let starts = (0..points.len().saturating_sub(2)).step_by(2);
        starts.map(|at| Shape::Curve(Curve::Arcs(points[at..at + 3].to_vec()))).collect()
    };
    let of_piece = |p: &Piece| if p.is_arcs { arcs(&p.points) } else { lines(&p.points) };
    Some(match curve {
        Curve::Line(points) => lines(points),
        Curve::Arcs(points) => arcs(points),
        Curve::Compound(pieces) => pieces.iter().flat_map(of_piece).collect(),
    })
}

pub(super) fn num_curves(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let all = curves(&valid(world, args)?.shape);
    Ok(all.map_or(Made::Null, |all| Made::Int(all.len() as i32)))
}

/// 24151, NULL beyond the last.
pub(super) fn curve_n(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let at = index(args, |n| {
        format!(
            "24151: The curve index n ({n}) passed to STCurveN is less than 1. This number must be greater than or equal \
             to 1 and less than or equal to the number of curves returned by STNumCurves."
        )
    })?;
    let curve = curves(&value.shape).and_then(|mut all| (at < all.len()).then(|| all.remove(at)));
    Ok(part(&value, curve))
}

/// Every line and ring of it ends where it begins; points are not closed.
pub(super) fn is_closed(world: World, args: &[Arg<'_>]) -> Result<Made> {
    fn closed(shape: &Shape) -> bool {
        if shape.is_empty() || shape.dimension() < 1 {
            return false;
        }
        if let Some(parts) = shape.parts() {
            return parts.iter().all(closed);
        }
        let mut is = true;
        shape.each_run(&mut |run| is &= matches!(run, [first, .., last] if first.at(*last)));
        is
    }
    Ok(Made::Bit(closed(&valid(world, args)?.shape)))
}

fn rings(shape: &Shape) -> Option<Vec<Shape>> {
    match shape {
        Shape::Polygon(rings) => {
            Some(rings.iter().map(|ring| Shape::Curve(Curve::Line(ring.clone()))).collect())
        }
        Shape::CurvePolygon(rings) => Some(rings.iter().cloned().map(Shape::Curve).collect()),
        _ => None,
    }
}

pub(super) fn exterior_ring(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let value = valid(world, args)?;
    let first = rings(&value.shape).and_then(|rings| rings.into_iter().next());
    Ok(part(&value, first))
}

pub(super) fn num_interior_ring(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let rings = rings(&valid(world, args)?.shape);
    Ok(rings.map_or(Made::Null, |rings| Made::Int(rings.len().saturating_sub(1) as i32)))
}

pub(super) fn num_rings(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let rings = rings(&valid(world, args)?.shape);
    Ok(rings.map_or(Made::Null, |rings| Made::Int(rings.len() as i32)))
}

/// 24104, NULL beyond the last. Of geometry the outer ring is not counted.
pub(super) fn ring_n(world: World, args: &[Arg<'_>], inner: bool) -> Result<Made> {
    let value = valid(world, args)?;
    let at = index(args, |n| {
        format!(
            "24104: The ring index n ({n}) passed to STInteriorRingN is less than 1. The number must be greater than or \
             equal to 1 and should be less than or equal to the number of rings returned by STNumInteriorRing."
        )
    })?;
    let ring = rings(&value.shape).and_then(|rings| rings.into_iter().nth(at + usize::from(inner)));
    Ok(part(&value, ring))
}

/// What SQL Server 2012 brought needs 110.
pub(super) fn compatibility_level(world: World, args: &[Arg<'_>]) -> Result<Made> {
    let Spatial { shape, is_large, .. } = this(world, args)?;
    Ok(Made::Int(if is_large || shape.has_arcs() || shape.has_globe() { 110 } else { 100 }))
}
