//! Times a commit, where that costs nothing beside it: full commits always, delayed ones by sample.

use crate::Durability;
use runtime::clock;
use telemetry::commits;

/// Started when a commit is asked for; recorded when it is acknowledged, forgotten when it fails.
pub(crate) struct CommitTimer(Option<u64>);

impl CommitTimer {
    #[inline]
    pub(crate) fn start(durability: Durability) -> CommitTimer {
        let full = durability == Durability::Full && telemetry::RECORDING;
        let timed = full || commits::due();
        CommitTimer(timed.then(clock::now_ns))
    }

    #[inline]
    pub(crate) fn stop(self) {
        if let Some(began_ns) = self.0 {
            commits::record(clock::now_ns().saturating_sub(began_ns));
        }
    }
}
