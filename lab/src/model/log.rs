//! The log of the model: what is written, what is on its way, what is durable, and when a write goes out.
//!
//! The rules are those of `log-manager` (`flush.rs`): writes are whole blocks, in order, each block once. What somebody
//! waits for goes out at once while fewer than two writes are outstanding, the block that it ends in filled up; else it
//! gathers until a write ends or as many blocks have come together as are worth one. Durable is the prefix of the writes
//! that have ended. Knows nothing of CPUs and sessions.

use std::collections::VecDeque;

/// Of a block: as on disk, and of that the stream's.
pub const BLOCK_BYTES: f64 = 4096.0;
pub const PAYLOAD_BYTES: f64 = 4032.0;
/// Outstanding writes up to which what is wanted goes out at once.
const SMALL_WRITES: usize = 2;
/// Blocks that start a write by themselves, times one more than are outstanding; and the most that one takes.
const ENOUGH: u64 = 15;
const WRITE_BLOCKS_MAX: u64 = 256;

#[derive(Clone, Copy, Debug)]
struct Write {
    end_block: u64,
    landed: bool,
}

/// A write that goes out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Out {
    /// Which: writes are numbered from 0.
    pub number: u64,
    pub blocks: u64,
    /// Outstanding with it.
    pub in_flight: usize,
}

/// Positions are bytes of the stream.
#[derive(Debug)]
pub struct Log {
    tail: f64,
    want: f64,
    next_block: u64,
    durable: f64,
    first: u64,
    writes: VecDeque<Write>,
    depth: usize,
}

impl Log {
    pub fn new(depth: usize) -> Log {
        let writes = VecDeque::new();
        Log { tail: 0.0, want: 0.0, next_block: 0, durable: 0.0, first: 0, writes, depth }
    }

    /// A record of so many bytes; where it ends.
    pub fn append(&mut self, bytes: f64) -> f64 {
        self.tail += bytes;
        self.tail
    }

    /// Somebody waits for everything below `upto`.
    pub fn want(&mut self, upto: f64) {
        self.want = self.want.max(upto);
    }

    #[cfg(test)]
    pub fn tail(&self) -> f64 {
        self.tail
    }

    pub fn durable(&self) -> f64 {
        self.durable
    }

    pub fn unwritten(&self) -> f64 {
        self.tail - self.durable
    }

    #[cfg(test)]
    pub fn in_flight(&self) -> usize {
        self.writes.len()
    }

    fn enough(&self) -> u64 {
        (ENOUGH * (1 + self.writes.len() as u64)).min(WRITE_BLOCKS_MAX)
    }

    /// Whether a write would go out for the bytes alone that have come.
    pub fn has_enough(&self) -> bool {
        let gathered = (self.tail / PAYLOAD_BYTES) as u64;
        self.writes.len() < self.depth && gathered.saturating_sub(self.next_block) >= self.enough()
    }

    /// The next write that goes out now, if one does. `pressed`: somebody has no room.
    pub fn next(&mut self, pressed: bool) -> Option<Out> {
        let from = self.next_block as f64 * PAYLOAD_BYTES;
        if self.writes.len() >= self.depth || self.tail <= from {
            return None;
        }
        let wanted = self.want > from && self.writes.len() < SMALL_WRITES;
        let full = (self.tail / PAYLOAD_BYTES) as u64;
        if wanted && self.want > full as f64 * PAYLOAD_BYTES {
            self.tail = (full + 1) as f64 * PAYLOAD_BYTES;
        }
        let ready = (self.tail / PAYLOAD_BYTES) as u64 - self.next_block;
        if ready == 0 || !(wanted || pressed || ready >= self.enough()) {
            return None;
        }
        let blocks = ready.min(WRITE_BLOCKS_MAX);
        self.next_block += blocks;
        self.writes.push_back(Write { end_block: self.next_block, landed: false });
        let number = self.first + self.writes.len() as u64 - 1;
        Some(Out { number, blocks, in_flight: self.writes.len() })
    }

    /// The device is done with a write.
    pub fn landed(&mut self, number: u64) {
        if let Some(write) = self.writes.get_mut((number - self.first) as usize) {
            write.landed = true;
        }
    }

    /// Takes the writes that have ended, in order; whether there were any.
    pub fn collect(&mut self) -> bool {
        let before = self.first;
        while let Some(write) = self.writes.front().filter(|write| write.landed) {
            self.durable = write.end_block as f64 * PAYLOAD_BYTES;
            self.writes.pop_front();
            self.first += 1;
        }
        self.first > before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wanted_goes_out_at_once_twice_and_then_gathers() {
        let mut log = Log::new(32);
        let first = log.append(100.0);
        assert_eq!(log.next(false), None);
        log.want(first);
        assert_eq!(log.next(false), Some(Out { number: 0, blocks: 1, in_flight: 1 }));
        assert_eq!((log.next(false), log.tail()), (None, PAYLOAD_BYTES));
        let second = log.append(5000.0);
        log.want(second);
        assert_eq!(log.next(false), Some(Out { number: 1, blocks: 2, in_flight: 2 }));
        let third = log.append(100.0);
        log.want(third);
        assert_eq!(log.next(false), None);
        // In order: the second is done first, and nothing is durable.
        log.landed(1);
        assert!(!log.collect());
        log.landed(0);
        assert!(log.collect());
        assert_eq!((log.durable(), log.in_flight()), (3.0 * PAYLOAD_BYTES, 0));
        assert_eq!(log.next(false), Some(Out { number: 2, blocks: 1, in_flight: 1 }));
    }

    #[test]
    fn bytes_alone_go_out_when_enough_have_come() {
        let mut log = Log::new(2);
        log.append(14.5 * PAYLOAD_BYTES);
        assert!(!log.has_enough() && log.next(false).is_none());
        log.append(PAYLOAD_BYTES);
        assert!(log.has_enough());
        assert_eq!(log.next(false).map(|out| out.blocks), Some(15));
        // With one outstanding twice as many are needed.
        log.append(20.0 * PAYLOAD_BYTES);
        assert!(!log.has_enough());
        log.append(1000.0 * PAYLOAD_BYTES);
        assert_eq!(log.next(false).map(|out| out.blocks), Some(256));
        assert!(!log.has_enough() && log.next(true).is_none(), "two may be outstanding");
    }
}
