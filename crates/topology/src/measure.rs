//! What the machine's distances cost: a cache line from CPU to CPU ([`lines`]), memory from node to node ([`memory`]).
//!
//! Every figure is of many short rounds. A round in which a neighbour of this machine took a CPU is long, none is too
//! short: the lowest decile is the machine's own figure, the median and the highest decile say how noisy it was. Rounds of
//! different pairs are interleaved, so that a slow minute falls on all of them.

mod lines;
mod memory;

pub use lines::{Line, lines};
pub use memory::{Memory, memory};

/// Deciles and median of rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    pub p10: f64,
    pub p50: f64,
    pub p90: f64,
}

impl Spread {
    /// `None` of no rounds.
    pub fn of(mut rounds: Vec<f64>) -> Option<Spread> {
        rounds.sort_unstable_by(f64::total_cmp);
        let last = rounds.len().checked_sub(1)?;
        let at = |share: f64| rounds[(last as f64 * share).round() as usize];
        Some(Spread { p10: at(0.1), p50: at(0.5), p90: at(0.9) })
    }
}

/// How much is measured.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Rounds of each pair.
    pub rounds: usize,
    /// Hand-overs of a line in a round.
    pub handovers: u32,
    /// Bytes of memory that are read, larger than every cache.
    pub memory_bytes: usize,
    /// Reads of a round.
    pub reads: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Effort { rounds: 50, handovers: 2_000, memory_bytes: 256 << 20, reads: 20_000 }
    }
}
