//! What a shape must be before it is a value at all, whoever wrote it: numbers of points, closed rings, latitudes.
//!
//! Sources: SQL documentation, "Spatial Data Types Overview" and the pages of each type; the texts are SQL Server's.

use crate::shape::{Curve, Piece, Pos, Shape, Spatial, World};
use crate::{Result, SpatialError};

/// 24150.
pub(crate) fn globe_in_collection() -> SpatialError {
    SpatialError::format(
        "24150: FullGlobe instances cannot be objects in the GeometryCollection. GeometryCollections can contain the \
         following instances: Points, MultiPoints, LineStrings, MultiLineStrings, Polygons, MultiPolygons, \
         CircularStrings, CompoundCurves, CurvePolygons and GeometryCollections.",
    )
}

/// 241xx, 242xx, 243xx.
pub(crate) fn check(value: &Spatial) -> Result<()> {
    shape(value.world, &value.shape)?;
    let mut bad = None;
    value.shape.each_run(&mut |run| {
        for p in run {
            if !p.x.is_finite() || !p.y.is_finite() {
                bad.get_or_insert_with(SpatialError::bad_bytes);
            } else if value.world == World::Earth {
                bad = bad.take().or_else(|| off_earth(*p));
            }
        }
        if value.world == World::Earth {
            bad = bad.take().or_else(|| {
                let is_bad = |pair: &[Pos]| crate::earth::are_antipodal(pair[0], pair[1]);
                run.windows(2).any(is_bad).then(antipodal)
            });
        }
    });
    bad.map_or(Ok(()), Err)
}

fn off_earth(p: Pos) -> Option<SpatialError> {
    if !(-90.0..=90.0).contains(&p.y) {
        return Some(SpatialError::format(
            "24201: Latitude values must be between -90 and 90 degrees.",
        ));
    }
    (!(-15069.0..=15069.0).contains(&p.x)).then(|| {
        SpatialError::format("24202: Longitude values must be between -15069 and 15069 degrees.")
    })
}

fn antipodal() -> SpatialError {
    SpatialError::geodetic(
        "24206: The specified input cannot be accepted because it contains an edge with antipodal points. For \
         information about using spatial methods with FullGlobe objects, see Types of Spatial Data in SQL Server Books \
         Online.",
    )
}

fn shape(world: World, of: &Shape) -> Result<()> {
    match of {
        Shape::Curve(curve) => open_curve(curve),
        Shape::Polygon(rings) => {
            rings.iter().enumerate().try_for_each(|(at, ring)| line_ring(world, at, ring))
        }
        Shape::CurvePolygon(rings) => {
            rings.iter().enumerate().try_for_each(|(at, ring)| ring_of(world, at, ring))
        }
        Shape::FullGlobe if world == World::Plane => Err(SpatialError::format(
            "24303: The OpenGisGeometryType provided, FullGlobe, is not valid.",
        )),
        _ => {
            let parts = of.parts().unwrap_or(&[]);
            if parts.contains(&Shape::FullGlobe) {
                return Err(globe_in_collection());
            }
            parts.iter().try_for_each(|part| shape(world, part))
        }
    }
}

fn open_curve(curve: &Curve) -> Result<()> {
    match curve {
        Curve::Line(points) if points.len() == 1 => Err(SpatialError::format(
            "24117: The LineString input is not valid because it does not have enough points. A LineString must have at \
             least two points.",
        )),
        Curve::Line(_) => Ok(()),
        Curve::Arcs(points) => arcs(points),
        Curve::Compound(pieces) => compound(pieces),
    }
}

fn arcs(points: &[Pos]) -> Result<()> {
    if matches!(points.len(), 1 | 2) {
        return Err(SpatialError::format(
            "24212: The CircularString input is not valid because it does not have enough points. A CircularString must \
             have at least three points.",
        ));
    }
    if !points.is_empty() && points.len().is_multiple_of(2) {
        return Err(SpatialError::format(
            "24213: The CircularString input is not valid because it has an even number of points. A CircularString \
             must have an odd number of points.",
        ));
    }
    let same = |a: f64, b: f64| a == b || (a.is_nan() && b.is_nan());
    let is_level =
        |at: usize| same(points[at].z, points[at + 1].z) && same(points[at].z, points[at + 2].z);
    if (0..points.len().saturating_sub(2)).step_by(2).all(is_level) {
        return Ok(());
    }
    Err(SpatialError::format(
        "24214: Circular arc segments with Z values must have equal Z value for all 3 points.",
    ))
}

fn compound(pieces: &[Piece]) -> Result<()> {
    let mut end: Option<Pos> = None;
    for piece in pieces {
        match piece.is_arcs {
            true => arcs(&piece.points)?,
            false => open_curve(&Curve::Line(piece.points.clone()))?,
        }
        let (Some(first), Some(last)) = (piece.points.first(), piece.points.last()) else {
            return Err(SpatialError::format(
                "24301: Expected a call to AddSegmentLine or AddSegmentArc, but EndGeometry was called.",
            ));
        };
        if end.is_some_and(|end| end != *first) {
            return Err(SpatialError::format(
                "24134: Sequential parts of a compound curve must have one common endpoint. Add a common endpoint. All \
                 coordinates, including optional Z and M, must be equal.",
            ));
        }
        end = Some(*last);
    }
    Ok(())
}

fn line_ring(world: World, at: usize, ring: &[Pos]) -> Result<()> {
    if ring.len() < 4 {
        let what = match (world, at) {
            (World::Earth, _) => {
                format!("24305: The Polygon input is not valid because the ring number {}", at + 1)
            }
            (_, 0) => "24118: The Polygon input is not valid because the exterior ring".to_owned(),
            _ => format!(
                "24120: The Polygon input is not valid because the interior ring number {at}"
            ),
        };
        return Err(SpatialError::format(format!(
            "{what} does not have enough points. Each ring of a polygon must contain at least four points."
        )));
    }
    closed(world, at, ring)
}

fn closed(world: World, at: usize, ring: &[Pos]) -> Result<()> {
    if let (Some(first), Some(last)) = (ring.first(), ring.last())
        && first.at(*last)
    {
        return Ok(());
    }
    let (number, what) = match (world, at) {
        (World::Earth, _) => (24306, format!("ring number {}", at + 1)),
        (_, 0) => (24119, "exterior ring".to_owned()),
        _ => (24121, format!("interior ring number {at}")),
    };
    Err(SpatialError::format(format!(
        "{number}: The Polygon input is not valid because the start and end points of the {what} are not the same. Each \
         ring of a polygon must have the same start and end points."
    )))
}

fn ring_of(world: World, at: usize, ring: &Curve) -> Result<()> {
    match ring {
        Curve::Line(points) => line_ring(world, at, points),
        _ => {
            open_curve(ring)?;
            closed(world, at, &ring.points())
        }
    }
}
