//! The posts' arms on the posts' machines, modelled, beside the ratios that they published.

use super::machine::Machine;
use super::parameters::{Load, Parameters, Piece, Reserve, Writer};
use super::simulation::simulate;
use crate::model::flush_times::FlushTimes;

/// A ratio of two arms.
#[derive(Clone, Debug, PartialEq)]
pub struct Ratio {
    pub what: &'static str,
    pub published: f64,
    pub modelled: f64,
    /// The same where all work takes [`SLOWER`] times as long, in that order; empty where work is not what it hangs on.
    pub slower: Vec<f64>,
    /// What the model had to take for granted.
    pub assumed: &'static str,
}

impl Ratio {
    /// Within a fifth of what was published.
    pub fn hits(&self) -> bool {
        (self.modelled / self.published - 1.0).abs() <= 0.2
    }
}

/// A core of the posts' machines does less in a cycle than one of today's, and nobody has measured how much: what the
/// ratios would be then.
pub const SLOWER: [f64; 2] = [2.0, 4.0];
/// Cycles of a pause before Skylake.
const PAUSE_CYCLES: f64 = 10.0;

/// Seconds of each arm that are simulated.
const SECONDS: f64 = 0.03;
/// A line from core to core, within the socket and from the other, in nanoseconds. Of Westmere: an atomic on a line that
/// another core has modified, 120 and 324 cycles at 2.13 GHz (David, Guerraoui and Trigonakis, SOSP 2013, an EX); of
/// Haswell: the README of nviennot's core-to-core-latency for an E5-2695 v4, its successor.
const WESTMERE: (f64, f64) = (56.0, 152.0);
const HASWELL: (f64, f64) = (44.0, 118.0);
/// By how much longer a thread takes while its core's other one works: 1.5 to 1.7 are usual.
const SIBLING: f64 = 1.6;
/// PCIe flash, post 5: the average log write stall.
const FLUSH_NS: f64 = 100_000.0;
/// SQL Server's: 32 writes of at most 60 KiB may be outstanding.
const BUFFER_BYTES: f64 = 32.0 * 61_440.0;

/// Reading a table in order from memory, by one CPU.
#[derive(Clone, Copy, Debug)]
pub struct Reading {
    /// Of the report of post 2.
    pub row_ns: f64,
    pub row_bytes: f64,
    /// Of a cache line that comes in order from local memory.
    pub line_ns: f64,
}

/// Every ratio that the posts give; what was measured here is taken to their clocks by `here_ghz`.
pub fn ratios(here: &Parameters, here_ghz: Option<f64>, reading: Option<Reading>) -> Vec<Ratio> {
    let mut all = of_work(here, here_ghz, 1.0);
    for slower in SLOWER {
        let told = of_work(here, here_ghz, slower);
        all.iter_mut().zip(told).for_each(|(one, told)| one.slower.push(told.modelled));
    }
    if let Some(r) = reading {
        let lines = r.row_bytes / 64.0;
        let remote = r.row_ns + lines * r.line_ns * 0.25;
        all.push(Ratio {
            what: "post 2: remote memory at 32 streams, rows/s (about 5% less)",
            published: 0.95,
            modelled: r.row_ns / remote,
            slower: Vec::new(),
            assumed: "a remote line costs a quarter more (CoreInfo: 1.2 to 1.3), every line is fetched once",
        });
    }
    all
}

/// Those of posts 1 and 3, where work takes so many times as long as at the machine's clock alone.
fn of_work(here: &Parameters, here_ghz: Option<f64>, slower: f64) -> Vec<Ratio> {
    let mut all = Vec::new();
    let mut ratio = |what, published, modelled, assumed| {
        all.push(Ratio { what, published, modelled, slower: Vec::new(), assumed });
    };
    if let Ok(machine) = Machine::parse("2x6x2@2.4") {
        let machine = machine.with_lines(WESTMERE.0, WESTMERE.1);
        let p = on(&machine, here, here_ghz, slower);
        let (own, other) = (machine.cpus_of(0), machine.cpus_of(1));
        let told = |p: &Parameters, commit_every, writer| {
            let load = Load {
                sessions: 10,
                cpus: own[2..].to_vec(),
                durable: false,
                commit_every,
                reserve: Reserve::Spinlock,
                writer: Writer::On(writer),
            };
            simulate(&machine, p, &load, SECONDS)
        };
        let (near, far) = (own[0], other[0]);
        let (together, apart) = (told(&p, 2, near), told(&p, 2, far));
        ratio(
            "post 1: log writer on the other socket, time (85 s over 55 s)",
            85.0 / 55.0,
            together.rows_per_s / apart.rows_per_s,
            "10 CPUs of one socket, two rows a commit",
        );
        ratio(
            "post 1: the same, LOGCACHE_ACCESS spins",
            4.5,
            apart.spins_per_row / together.spins_per_row.max(1e-9),
            "as above",
        );
        let single = Piece { ns: p.single.ns / 4.0, ..p.single };
        let native = Parameters { single, ..p };
        let (together, apart) = (told(&native, 1, near), told(&native, 1, far));
        ratio(
            "post 1, memory-optimised: time (18.388 s over 10.434 s)",
            18.388 / 10.434,
            together.rows_per_s / apart.rows_per_s,
            "a native row takes a quarter of an interpreted one",
        );
    }
    if let Ok(machine) = Machine::parse("2x10x2@2.3") {
        let machine = machine.with_lines(HASWELL.0, HASWELL.1);
        let p = on(&machine, here, here_ghz, slower);
        let everywhere: Vec<usize> = (0..machine.cpus.len()).collect();
        let rate = |sessions, cpus: &[usize]| {
            let load = Load {
                sessions,
                cpus: cpus.to_vec(),
                durable: false,
                commit_every: 1,
                reserve: Reserve::Spinlock,
                writer: Writer::On(39),
            };
            simulate(&machine, &p, &load, SECONDS).rows_per_s
        };
        let (inside, outside) = (rate(40, &everywhere), rate(38, &everywhere[..38]));
        ratio(
            "post 3: the log writer's core out of the mask, rows/s (436,781 over 186,915)",
            436_781.0 / 186_915.0,
            outside / inside,
            "the writer waits for a quantum of 4 ms at most where sessions share its core",
        );
        ratio(
            "post 3: trace flag 8015, rows/s (500,000 over 436,781)",
            500_000.0 / 436_781.0,
            rate(36, &everywhere[..38]) / outside,
            "what the flag does to memory is not in the model: only two sessions fewer",
        );
    }
    all
}

/// What was measured here, there. What takes cycles takes longer at a slower clock, and lines take what they take there;
/// the log's buffer is SQL Server's, which caches hold.
fn on(there: &Machine, p: &Parameters, here_ghz: Option<f64>, slower: f64) -> Parameters {
    let clock = match (here_ghz, there.ghz) {
        (Some(here), Some(there)) => here / there,
        _ => 1.0,
    };
    let slower = slower * clock;
    let line_ns = there.line_ns.unwrap_or(p.line_ns);
    let farther = line_ns / p.line_ns;
    let piece = |piece: Piece| Piece { ns: piece.ns * slower, ..piece };
    Parameters {
        single: piece(p.single),
        row: piece(p.row),
        commit: piece(p.commit),
        copy_ns: p.copy_ns * slower,
        lock_ns: p.lock_ns * slower,
        line_ns,
        taken_ns: p.taken_ns * farther,
        read_ns: p.read_ns * farther,
        spin_ns: there.ghz.map_or(p.spin_ns, |ghz| PAUSE_CYCLES / ghz),
        turn_ns: p.turn_ns * slower,
        turn_other_ns: p.turn_other_ns * slower,
        flushes: FlushTimes::constant(FLUSH_NS),
        buffer_bytes: BUFFER_BYTES,
        buffer_is_cached: true,
        queue_depth: p.queue_depth,
        quantum_ns: p.quantum_ns,
        sibling: if there.cpus.len() > there.cores() { SIBLING } else { 1.0 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn here() -> Parameters {
        Parameters {
            single: Piece { ns: 330.0, bytes: 110.0 },
            row: Piece { ns: 380.0, bytes: 115.0 },
            commit: Piece { ns: 200.0, bytes: 40.0 },
            copy_ns: 6.0,
            lock_ns: 2.0,
            line_ns: 30.0,
            taken_ns: 8.0,
            read_ns: 1.5,
            spin_ns: 20.0,
            turn_ns: 130.0,
            turn_other_ns: 500.0,
            flushes: FlushTimes::constant(80_000.0),
            buffer_bytes: 64e6,
            buffer_is_cached: false,
            queue_depth: 32,
            quantum_ns: 4e6,
            sibling: 1.0,
        }
    }

    #[test]
    fn a_far_writer_costs_time_and_spins_and_its_core_is_worth_having() {
        let reading = Reading { row_ns: 200.0, row_bytes: 250.0, line_ns: 5.0 };
        let all = ratios(&here(), Some(3.7), Some(reading));
        assert_eq!(all.len(), 6);
        for ratio in &all[..3] {
            assert!(ratio.modelled > 1.02, "{ratio:?}");
            assert_eq!(ratio.slower.len(), SLOWER.len());
        }
        assert!(all[3].modelled > 0.95, "{:?}", all[3]);
        assert!((all[5].modelled - 200.0 / (200.0 + 250.0 / 64.0 * 5.0 / 4.0)).abs() < 1e-9);
    }

    /// With lines that come as fast from the other socket nothing is left of the distance.
    #[test]
    fn without_a_distance_there_is_no_ratio() {
        let machine = Machine::parse("2x6x2@2.4").expect("a machine").with_lines(50.0, 50.0);
        let p = on(&machine, &here(), Some(3.7), 1.0);
        let rate = |writer: usize| {
            let load = Load {
                sessions: 10,
                cpus: machine.cpus_of(0)[2..].to_vec(),
                durable: false,
                commit_every: 2,
                reserve: Reserve::Spinlock,
                writer: Writer::On(writer),
            };
            simulate(&machine, &p, &load, 0.02).rows_per_s
        };
        let over = rate(0) / rate(12);
        assert!((over - 1.0).abs() < 0.02, "{over}");
    }
}
