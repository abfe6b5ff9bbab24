//! What happens on a machine: sessions on CPUs insert rows, take space in the log, and commit; a writer writes the log out.
//!
//! Discrete events, one for the end of each piece of work. Words: a *row* is work outside of the log and one reservation in
//! it. With lanes a reservation is one change of the tail's cache line, which goes from CPU to CPU and serves one at a
//! time. With the spinlock it is the lock: whoever finds it taken spins, and looks every eighth pause; each look takes the
//! line away, so that the more look the later it is let go and taken again. A CPU runs one session until it waits; a
//! session waits for a flush under full durability, and for room when the log's buffer is full.
//!
//! What it leaves out: caches and memory bandwidth, pages' latches, the operating system, hyper-threads that slow each
//! other.

use super::machine::Machine;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use stdx::Prng;

/// How space in the log is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reserve {
    Lanes,
    Spinlock,
}

/// Who writes the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writer {
    /// Whoever needs it: no CPU of its own.
    Leader,
    /// A worker on this CPU, which sessions may share with it: then it waits for the running one's quantum, as SQL
    /// Server's does.
    On(usize),
}

/// What was measured, in nanoseconds unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Of a row, outside of the log.
    pub row_ns: f64,
    /// Of a commit.
    pub commit_ns: f64,
    /// Of the log's lock being held, every line at hand.
    pub hold_ns: f64,
    /// Of a cache line from core to core within a node.
    pub line_ns: f64,
    /// Of one spin.
    pub spin_ns: f64,
    /// Of the device's durable write.
    pub flush_ns: f64,
    /// Of one more session that is woken after a flush.
    pub wake_ns: f64,
    pub row_bytes: f64,
    /// Bytes of the log that may be unwritten.
    pub buffer_bytes: f64,
    /// Flushes that may be on the way.
    pub queue_depth: usize,
    /// How long a running session keeps a CPU from the writer, at most.
    pub quantum_ns: f64,
}

/// What runs.
#[derive(Clone, Debug)]
pub struct Load {
    pub sessions: usize,
    /// CPUs that serve sessions.
    pub cpus: Vec<usize>,
    pub durable: bool,
    pub commit_every: u64,
    pub reserve: Reserve,
    pub writer: Writer,
}

/// What came of it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Outcome {
    pub rows_per_s: f64,
    pub spins_per_row: f64,
    /// Of the CPUs' time, in spinning.
    pub spinning: f64,
    /// Of the CPUs' time, with a session on it.
    pub busy: f64,
    pub flushes_per_s: f64,
}

/// Pauses between two looks at a lock.
const LOOK_EVERY: f64 = 8.0;
/// Lines that go along with the lock: its own, and the position that it guards.
const LOCK_LINES: f64 = 2.0;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// A session on a CPU has done a row's work and wants space.
    Worked(usize),
    /// It has its space, and goes on.
    Reserved(usize),
    /// The lock is let go.
    Released,
    /// A write of everything up to a position is durable.
    Flushed(f64),
    /// The writer has a CPU.
    Write,
}

#[derive(Clone, Copy, PartialEq)]
struct At(f64, u64);
impl Eq for At {}
impl PartialOrd for At {
    fn partial_cmp(&self, other: &At) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for At {
    fn cmp(&self, other: &At) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// One CPU that serves sessions.
#[derive(Default)]
struct Worker {
    ready: VecDeque<usize>,
    running: Option<usize>,
    /// When it began to spin.
    spins_since: f64,
    busy_since: f64,
    busy: f64,
}

struct World<'a> {
    machine: &'a Machine,
    p: &'a Parameters,
    load: &'a Load,
    now: f64,
    events: BinaryHeap<Reverse<(At, usize)>>,
    kinds: Vec<Event>,
    workers: Vec<Worker>,
    /// Rows of each session's transaction so far.
    in_transaction: Vec<u64>,
    /// The CPU that had the tail, or the lock, last, and until when the tail is taken.
    last: usize,
    tail_free: f64,
    holder: Option<usize>,
    spinners: Vec<usize>,
    written: f64,
    durable: f64,
    in_flight: usize,
    write_due: bool,
    /// Sessions that wait until so much is durable: (bytes, worker, session).
    waiters: VecDeque<(f64, usize, usize)>,
    /// Workers whose session has no room.
    full: VecDeque<usize>,
    rows: u64,
    spins: f64,
    spun: f64,
    flushes: u64,
    chance: Prng,
}

/// Runs `seconds` of the load; the first tenth is not counted.
pub fn simulate(machine: &Machine, p: &Parameters, load: &Load, seconds: f64) -> Outcome {
    let mut world = World {
        machine,
        p,
        load,
        now: 0.0,
        events: BinaryHeap::new(),
        kinds: Vec::new(),
        workers: load.cpus.iter().map(|_| Worker::default()).collect(),
        in_transaction: vec![0; load.sessions],
        last: load.cpus.first().copied().unwrap_or(0),
        tail_free: 0.0,
        holder: None,
        spinners: Vec::new(),
        written: 0.0,
        durable: 0.0,
        in_flight: 0,
        write_due: false,
        waiters: VecDeque::new(),
        full: VecDeque::new(),
        rows: 0,
        spins: 0.0,
        spun: 0.0,
        flushes: 0,
        chance: Prng::new(0x5eed),
    };
    if load.cpus.is_empty() || load.sessions == 0 {
        return Outcome::default();
    }
    world.run(seconds * 1e9)
}

impl World<'_> {
    fn run(&mut self, end: f64) -> Outcome {
        for session in 0..self.load.sessions {
            let at = session % self.workers.len();
            self.workers[at].ready.push_back(session);
        }
        (0..self.workers.len()).for_each(|worker| self.dispatch(worker));
        let begin = end / 10.0;
        let mut before = None;
        while let Some(Reverse((At(at, _), index))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            if before.is_none() && at >= begin {
                before = Some((at, self.rows, self.spins, self.spun, self.busy(), self.flushes));
            }
            self.step(self.kinds[index]);
        }
        let Some((from, rows, spins, spun, busy, flushes)) = before else {
            return Outcome::default();
        };
        let ns = (self.now - from).max(1.0);
        let rows = (self.rows - rows) as f64;
        let whole = ns * self.workers.len() as f64;
        Outcome {
            rows_per_s: rows / ns * 1e9,
            spins_per_row: (self.spins - spins) / rows.max(1.0),
            spinning: (self.spun - spun) / whole,
            busy: (self.busy() - busy) / whole,
            flushes_per_s: (self.flushes - flushes) as f64 / ns * 1e9,
        }
    }

    fn busy(&self) -> f64 {
        let of =
            |w: &Worker| w.busy + if w.running.is_some() { self.now - w.busy_since } else { 0.0 };
        self.workers.iter().map(of).sum()
    }

    fn after(&mut self, ns: f64, event: Event) {
        let index = self.kinds.len();
        self.kinds.push(event);
        self.events.push(Reverse((At(self.now + ns.max(0.0), index as u64), index)));
    }

    /// How far the line of tail or lock comes to a worker; it is that one's then.
    fn line_to(&mut self, worker: usize) -> f64 {
        let cpu = self.load.cpus[worker];
        self.machine.distance(std::mem::replace(&mut self.last, cpu), cpu) * self.p.line_ns
    }

    /// The next session of a worker, if there is one and none runs.
    fn dispatch(&mut self, worker: usize) {
        if self.workers[worker].running.is_some() {
            return;
        }
        let Some(session) = self.workers[worker].ready.pop_front() else { return };
        self.workers[worker].running = Some(session);
        self.workers[worker].busy_since = self.now;
        self.begin_row(worker);
    }

    /// The running session leaves its CPU.
    fn leave(&mut self, worker: usize) -> Option<usize> {
        let session = self.workers[worker].running.take()?;
        self.workers[worker].busy += self.now - self.workers[worker].busy_since;
        Some(session)
    }

    fn begin_row(&mut self, worker: usize) {
        if self.written - self.durable > self.p.buffer_bytes {
            self.full.push_back(worker);
            self.want_write();
            return;
        }
        // Between 0.7 and 1.3 of the mean, so that nothing stays in step.
        let share = 0.7 + self.chance.below(600) as f64 / 1000.0;
        self.after(self.p.row_ns * share, Event::Worked(worker));
    }

    fn step(&mut self, event: Event) {
        match event {
            Event::Worked(worker) => match self.load.reserve {
                Reserve::Lanes => {
                    let line = self.line_to(worker);
                    self.tail_free = self.tail_free.max(self.now) + line;
                    // The copy is into a lane of its own.
                    self.after(self.tail_free - self.now + self.p.hold_ns, Event::Reserved(worker));
                }
                Reserve::Spinlock if self.holder.is_none() => self.take_lock(worker, 0.0),
                Reserve::Spinlock => {
                    self.workers[worker].spins_since = self.now;
                    self.spinners.push(worker);
                }
            },
            Event::Released => {
                let holder = self.holder.take();
                if !self.spinners.is_empty() {
                    let n = self.spinners.len();
                    let next = self.spinners.swap_remove(self.chance.below(n as u64) as usize);
                    let spun = self.now - self.workers[next].spins_since;
                    self.spun += spun;
                    self.spins += spun / self.p.spin_ns.max(0.1);
                    // The first of n looks; half of the others' looks come before the winner's.
                    let look = LOOK_EVERY * self.p.spin_ns / (n + 1) as f64;
                    let others = self.p.line_ns * (n - 1) as f64 / 2.0;
                    self.take_lock(next, look + others);
                }
                if let Some(holder) = holder {
                    self.reserved(holder);
                }
            }
            Event::Reserved(worker) => self.reserved(worker),
            Event::Write => self.write(),
            Event::Flushed(up_to) => self.flushed(up_to),
        }
    }

    fn take_lock(&mut self, worker: usize, late: f64) {
        let lines = LOCK_LINES * self.line_to(worker);
        self.holder = Some(worker);
        // One who looks meanwhile has taken the line, and it must come back to be let go.
        let back = if self.spinners.is_empty() { 0.0 } else { self.p.line_ns };
        self.after(late + lines + self.p.hold_ns + back, Event::Released);
    }

    fn reserved(&mut self, worker: usize) {
        let Some(session) = self.workers[worker].running else { return };
        self.rows += 1;
        self.written += self.p.row_bytes;
        self.in_transaction[session] += 1;
        if self.in_transaction[session] < self.load.commit_every {
            return self.begin_row(worker);
        }
        self.in_transaction[session] = 0;
        if self.load.durable {
            self.waiters.push_back((self.written, worker, session));
            self.leave(worker);
            self.want_write();
            self.dispatch(worker);
        } else {
            // The commit's own cost, as a longer row.
            let end = self.p.commit_ns;
            if self.written - self.durable > self.p.buffer_bytes / 2.0 {
                self.want_write();
            }
            self.now += end;
            self.begin_row(worker);
            self.now -= end;
        }
    }

    fn want_write(&mut self) {
        if self.write_due || self.in_flight >= self.p.queue_depth {
            return;
        }
        self.write_due = true;
        let wait = match self.load.writer {
            Writer::Leader => 0.0,
            Writer::On(cpu) => {
                let shared = self.load.cpus.iter().position(|own| *own == cpu);
                match shared.filter(|at| self.workers[*at].running.is_some()) {
                    Some(_) => self.chance.below(1000) as f64 / 1000.0 * self.p.quantum_ns,
                    None => 0.0,
                }
            }
        };
        self.after(wait, Event::Write);
    }

    fn write(&mut self) {
        self.write_due = false;
        if self.written > self.durable && self.in_flight < self.p.queue_depth {
            self.in_flight += 1;
            self.flushes += 1;
            // It has looked at what there is to write.
            if let Writer::On(cpu) = self.load.writer {
                self.last = cpu;
            }
            self.after(self.p.flush_ns, Event::Flushed(self.written));
        }
    }

    fn flushed(&mut self, up_to: f64) {
        self.in_flight -= 1;
        self.durable = self.durable.max(up_to);
        let mut woken = 0.0;
        while self.waiters.front().is_some_and(|(bytes, ..)| *bytes <= self.durable) {
            let Some((_, worker, session)) = self.waiters.pop_front() else { break };
            self.workers[worker].ready.push_back(session);
            woken += self.p.wake_ns;
            self.now += woken;
            self.dispatch(worker);
            self.now -= woken;
        }
        for worker in std::mem::take(&mut self.full) {
            self.begin_row(worker);
        }
        if !self.waiters.is_empty() || !self.full.is_empty() {
            self.want_write();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Parameters {
        Parameters {
            row_ns: 400.0,
            commit_ns: 50.0,
            hold_ns: 60.0,
            line_ns: 60.0,
            spin_ns: 10.0,
            flush_ns: 100_000.0,
            wake_ns: 500.0,
            row_bytes: 200.0,
            buffer_bytes: 4e6,
            queue_depth: 32,
            quantum_ns: 4e6,
        }
    }

    fn load(sessions: usize, cpus: usize, reserve: Reserve) -> Load {
        Load {
            sessions,
            cpus: (0..cpus).collect(),
            durable: false,
            commit_every: 1,
            reserve,
            writer: Writer::Leader,
        }
    }

    #[test]
    fn one_session_takes_what_its_row_takes() {
        let machine = Machine::parse("1x4").expect("a machine");
        let told = simulate(&machine, &parameters(), &load(1, 1, Reserve::Lanes), 0.02);
        let wanted = 1e9 / (400.0 + 50.0 + 60.0);
        assert!((told.rows_per_s / wanted - 1.0).abs() < 0.02, "{told:?}");
        assert_eq!(told.spins_per_row, 0.0);
        assert!(told.busy > 0.99);
    }

    #[test]
    fn the_lock_is_a_ceiling_that_more_cpus_lower() {
        let machine = Machine::parse("2x10").expect("a machine");
        let rate = |cpus: usize, reserve| {
            simulate(&machine, &parameters(), &load(40, cpus, reserve), 0.02).rows_per_s
        };
        let (few, many) = (rate(4, Reserve::Spinlock), rate(20, Reserve::Spinlock));
        assert!(many < few, "20 CPUs {many}, 4 CPUs {few}");
        assert!(rate(20, Reserve::Lanes) > 2.0 * many);
    }

    #[test]
    fn a_durable_commit_waits_for_the_device_and_shares_it() {
        let machine = Machine::parse("1x2").expect("a machine");
        let durable = |sessions| {
            let load = Load { durable: true, ..load(sessions, 2, Reserve::Lanes) };
            simulate(&machine, &parameters(), &load, 0.5)
        };
        let one = durable(1);
        assert!((one.rows_per_s / 9_950.0 - 1.0).abs() < 0.05, "{one:?}");
        let many = durable(64);
        assert!(many.rows_per_s > 20.0 * one.rows_per_s, "{many:?}");
    }

    #[test]
    fn a_writer_that_waits_for_a_quantum_holds_everybody_up() {
        let machine = Machine::parse("1x4").expect("a machine");
        let p = Parameters { buffer_bytes: 2e5, ..parameters() };
        let rate = |cpus: Vec<usize>, writer| {
            let load = Load { cpus, writer, ..load(8, 4, Reserve::Lanes) };
            simulate(&machine, &p, &load, 0.2).rows_per_s
        };
        let inside = rate(vec![0, 1, 2, 3], Writer::On(3));
        let outside = rate(vec![0, 1, 2], Writer::On(3));
        assert!(outside > inside, "outside {outside}, inside {inside}");
    }

    #[test]
    fn the_same_load_has_the_same_outcome() {
        let machine = Machine::parse("2x4").expect("a machine");
        let load = load(16, 8, Reserve::Spinlock);
        let twice = [0; 2].map(|_| simulate(&machine, &parameters(), &load, 0.01));
        assert_eq!(twice[0], twice[1]);
    }
}
