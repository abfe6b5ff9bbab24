//! Others' work on the machine: how much there was beside a cell, and waiting for there to be little.
//!
//! A model of an idle machine is held against cells that had the machine to themselves, as far as that can be had: whoever
//! computes beside a session that waits for the device keeps it waiting for a time slice of the kernel's, forty flushes
//! long. What counts as quiet does not look at what was predicted.

use crate::bench::Bench;
use crate::document::Cell;
use crate::host::Host;
use std::time::{Duration, Instant};

/// CPUs' worth of others' work up to which a cell counts as undisturbed. The kernel's own threads are in it.
const QUIET_CPUS: f64 = 0.25;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(250);

/// CPUs' worth of others' work in the window of a cell; `None` where the system tells too little.
pub(super) fn others(cell: &Cell) -> Option<f64> {
    let series = cell.series.as_ref()?;
    let ticks = series.ticks.iter().filter(|tick| tick.at_s > series.window_from_s);
    let (mut seconds, mut sum) = (0.0, 0.0);
    for tick in ticks {
        let (busy, own) = (tick.machine_busy?, tick.cpus_used?);
        seconds += tick.seconds;
        sum += tick.seconds * (busy * cpus() - own).max(0.0);
    }
    (seconds > 0.0).then(|| sum / seconds)
}

/// Whether a cell had the machine to itself.
pub(super) fn was_quiet(cell: &Cell) -> bool {
    others(cell).is_none_or(|cpus| cpus <= QUIET_CPUS)
}

fn cpus() -> f64 {
    std::thread::available_parallelism().map_or(1.0, |n| n.get() as f64)
}

/// Time that may still be spent in waiting for a quiet moment.
pub(super) struct Patience(Duration);

impl Patience {
    pub fn new(seconds: f64) -> Patience {
        Patience(Duration::from_secs_f64(seconds))
    }

    /// Waits until others have done little for a moment, or the patience is over.
    pub fn wait(&mut self, bench: &mut Bench<'_>) {
        let mut then = Host::now();
        let mut told = false;
        while !self.0.is_zero() && !bench.is_interrupted() {
            let began = Instant::now();
            std::thread::sleep(LOOK);
            let now = Host::now();
            let busy = now.busy_since(&then).unwrap_or(0.0) * cpus();
            then = now;
            if busy <= QUIET_CPUS {
                return;
            }
            if !std::mem::replace(&mut told, true) {
                bench.progress().step("waiting for the machine to be quiet");
            }
            self.0 = self.0.saturating_sub(began.elapsed());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::{Series, Tick};

    fn cell(busy: f64, own: f64) -> Cell {
        let tick = |at_s: f64, busy| Tick {
            at_s,
            seconds: 0.1,
            machine_busy: Some(busy),
            cpus_used: Some(own),
            ..Tick::default()
        };
        let series = Series {
            window_from_s: 0.1,
            // The first is of the warm-up.
            ticks: vec![tick(0.1, 1.0), tick(0.2, busy), tick(0.3, busy)],
            ..Series::default()
        };
        Cell { series: Some(series), ..Cell::default() }
    }

    #[test]
    fn others_work_is_what_is_not_the_cells() {
        let all = cpus();
        let told = others(&cell(0.8, 0.5)).expect("told");
        assert!((told - (0.8 * all - 0.5)).abs() < 1e-9, "{told}");
        assert!(was_quiet(&cell(0.5, 0.5 * all)) && !was_quiet(&cell(1.0, all - 0.5)));
        assert!(was_quiet(&Cell::default()), "nobody knows");
    }

    #[test]
    fn the_share_of_a_cell_is_never_less_than_nothing() {
        assert_eq!(others(&cell(0.1, 5.0 * cpus())), Some(0.0));
    }
}
