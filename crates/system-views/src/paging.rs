//! Reading pages of tables for a view, in steps between which others run.
//!
//! Promise: KILL, attention and time-outs are heard while pages are read.

use engine::EngineError;
use executor::SqlError;
use runtime::task::Breath;

/// What reads pages, stopped when the session is to stop.
pub fn while_breathing<T>(
    read: impl FnOnce(&mut dyn FnMut() -> bool) -> Result<T, EngineError>,
) -> Result<T, SqlError> {
    let mut stopped = None;
    let mut breath = Breath::new();
    let mut stop = || match breath.steps(PAGE_STEPS) {
        Ok(()) => false,
        Err(error) => {
            stopped = Some(error);
            true
        }
    };
    let read = read(&mut stop);
    match stopped {
        Some(error) => Err(error.into()),
        None => read.map_err(executor::from_engine_alone),
    }
}

/// Steps that a page counts for.
const PAGE_STEPS: usize = 64;
