//! Long work on shapes, elsewhere: what the `geo` crate computes does not breathe.
//!
//! Little of it is done on the spot. More goes to a thread ([`runtime::workers`]) while the task waits, and hears that it is
//! to stop; what is left of the work then goes on without anybody until it ends. So that it ends, the points of what goes
//! in are bounded by [`POINTS_MAX`] and the places where segments cross by [`CROSSINGS_MAX`], which a sweep counts before;
//! it breathes.

use crate::plane::Parts;
use crate::sweep::{Meeting, Segment, meeting, pairs, segments};
use crate::{Result, SpatialError};
use geo::{CoordsIter, Geometry};
use runtime::workers::{Outcome, Workers};
use std::sync::LazyLock;
use telemetry::WaitType;

/// Points of both shapes of an operation.
pub const POINTS_MAX: usize = 250_000;
/// Places where their segments meet.
pub const CROSSINGS_MAX: usize = 500_000;
/// So many points are looked at on the spot: a millisecond or two.
const POINTS_HERE: usize = 600;

static WORKERS: LazyLock<Workers> = LazyLock::new(|| Workers::new("spatial", 2, WaitType::Misc));

/// Does it with shapes.
pub(crate) fn on<const N: usize, T: Send + 'static>(
    shapes: [Geometry<f64>; N],
    work: impl FnOnce([&Geometry<f64>; N]) -> T + Send + 'static,
) -> Result<T> {
    let points: usize = shapes.iter().map(|shape| shape.coords_count()).sum();
    if points > POINTS_MAX {
        return Err(SpatialError::unsupported(format!(
            "An operation on more than {POINTS_MAX} points is not supported here."
        )));
    }
    if points > POINTS_HERE {
        count_crossings(&shapes)?;
    }
    let body = move || work(shapes.each_ref());
    if points <= POINTS_HERE {
        return Ok(body());
    }
    match WORKERS.run_unless_stopped(body) {
        Outcome::Done(made) => Ok(made),
        Outcome::Stopped => Err(runtime::task::Stopped::Cancelled.into()),
        Outcome::Busy => Err(SpatialError::unsupported(
            "Too many operations on large shapes wait already. Try again later.",
        )),
    }
}

fn count_crossings(shapes: &[Geometry<f64>]) -> Result<()> {
    let mut all: Vec<Segment> = Vec::new();
    for shape in shapes {
        let parts = Parts::of(shape);
        parts.lines.iter().chain(parts.rings()).for_each(|run| segments(&run.0, 0, &mut all));
    }
    let mut crossings = 0;
    pairs(&all, |a, b| {
        crossings += usize::from(!matches!(meeting(a.line, b.line), Meeting::None));
        Ok(crossings <= CROSSINGS_MAX + all.len() * 2)
    })?;
    if crossings > CROSSINGS_MAX + all.len() * 2 {
        return Err(SpatialError::unsupported(format!(
            "An operation on shapes whose segments cross in more than {CROSSINGS_MAX} places is not supported here."
        )));
    }
    Ok(())
}
