//! What happens on a machine: sessions on CPUs insert rows, take space in the log, and commit; the log is written out.
//!
//! Discrete events, one for the end of each piece of work. A *piece* is work outside of the log and one record in it: a
//! row, or the commit of several. With lanes a record is one change of the tail's line, which serves one CPU at a time;
//! with the spinlock it is made with the lock held: who finds it taken spins and looks every eighth pause, each look
//! takes the line away, so that the more look the later it is let go and taken again. A CPU runs one session until it
//! waits, or its quantum is over: for a flush under full durability, for room when the log's buffer is full. Whoever
//! commits writes the log out (*leader*), and whoever polls notices that a write has ended and wakes those it covers; or a
//! writer with a CPU of its own or a shared one does both, reads every line of the buffer, looks at the lock's line and
//! at each worker's lane, and leaves the lines behind in its own cache, and what it publishes to be read again.
//!
//! What it leaves out: pages' latches, other lines that sessions share, memory bandwidth, the operating system's own
//! work.

use super::line::Line;
use super::log::{BLOCK_BYTES, Log, Out};
use super::machine::Machine;
use super::parameters::{Load, Outcome, Parameters, Piece, Reserve, Writer};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use stdx::Prng;

/// Pauses between two looks at a lock.
const LOOK_EVERY: f64 = 8.0;
/// Lines that go along with the lock: its own, and the position that it guards.
const LOCK_LINES: f64 = 2.0;
/// A running session polls so often.
const POLL_NS: f64 = 50_000.0;
const LINE_BYTES: f64 = 64.0;
/// The part of a run that is not counted.
const WARM_UP: f64 = 0.4;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    /// The session on a CPU has done a piece's work and wants space.
    Worked(usize),
    /// It has its space, and the record is in it.
    Recorded(usize),
    /// The lock is let go.
    Released,
    /// The CPU is free for the next session.
    Free(usize),
    /// The device is done with a write.
    Landed(u64),
    /// A running session polls.
    Polled,
    /// The writer has a CPU, has looked, has read what it writes.
    WriterRuns,
    WriterLooked,
    WriterRead(Out),
}

#[derive(Clone, Copy)]
struct Item(f64, u64, Event);
impl PartialEq for Item {
    fn eq(&self, other: &Item) -> bool {
        self.1 == other.1
    }
}
impl Eq for Item {}
impl PartialOrd for Item {
    fn partial_cmp(&self, other: &Item) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Item {
    fn cmp(&self, other: &Item) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0).then(self.1.cmp(&other.1))
    }
}

/// One CPU that serves sessions.
#[derive(Default)]
struct Worker {
    /// With whether it was woken, and so must be switched to.
    ready: VecDeque<(usize, bool)>,
    running: Option<usize>,
    free_ns: f64,
    spins_since: f64,
    busy_since: f64,
    busy: f64,
    /// What the log's writer took of this CPU, and its session still has to wait.
    lost_ns: f64,
    /// What was last published, as far as this CPU has read it.
    read: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Worker(usize),
    Writer,
}

struct World<'a> {
    machine: &'a Machine,
    p: &'a Parameters,
    load: &'a Load,
    now: f64,
    made: u64,
    events: BinaryHeap<Reverse<Item>>,
    workers: Vec<Worker>,
    /// Rows of each session's transaction so far.
    rows_of: Vec<u64>,
    log: Log,
    /// The tail, or the lock with what it guards.
    line: Line,
    holder: Option<Who>,
    spinners: Vec<Who>,
    /// Sessions that wait until so much is durable: (bytes, worker, session).
    waiters: Vec<(f64, usize, usize)>,
    /// Sessions that have no room.
    full: Vec<(usize, usize)>,
    poll_is_due: bool,
    /// Share of the workers that have been at work, of late: see [`World::settle`]; and up to when it says so.
    computing: f64,
    computing_at: f64,
    /// The writer is at work, or will be.
    writer_is_up: bool,
    /// How often something was published, and by which CPU last.
    published: u64,
    publisher: usize,
    rows: u64,
    spins: f64,
    spun: f64,
    flushes: u64,
    writing: f64,
    chance: Prng,
}

/// Runs `seconds` of the load; its beginning is not counted.
pub fn simulate(machine: &Machine, p: &Parameters, load: &Load, seconds: f64) -> Outcome {
    let Some(first) = load.cpus.first().copied().filter(|_| load.sessions > 0) else {
        return Outcome::default();
    };
    let mut world = World {
        machine,
        p,
        load,
        now: 0.0,
        made: 0,
        events: BinaryHeap::new(),
        workers: load.cpus.iter().map(|_| Worker::default()).collect(),
        rows_of: vec![0; load.sessions],
        log: Log::new(p.queue_depth),
        line: Line::new(first),
        holder: None,
        spinners: Vec::new(),
        waiters: Vec::new(),
        full: Vec::new(),
        poll_is_due: false,
        computing: 0.0,
        computing_at: 0.0,
        writer_is_up: false,
        published: 0,
        publisher: first,
        rows: 0,
        spins: 0.0,
        spun: 0.0,
        flushes: 0,
        writing: 0.0,
        chance: Prng::new(0x5eed),
    };
    world.run(seconds * 1e9)
}

impl World<'_> {
    fn run(&mut self, end: f64) -> Outcome {
        for session in 0..self.load.sessions {
            let at = session % self.workers.len();
            self.workers[at].ready.push_back((session, false));
        }
        (0..self.workers.len()).for_each(|worker| self.dispatch(worker));
        let mut before = None;
        while let Some(Reverse(Item(at, _, event))) = self.events.pop() {
            if at > end {
                break;
            }
            self.now = at;
            if before.is_none() && at >= end * WARM_UP {
                before = Some((at, self.sums()));
            }
            self.step(event);
        }
        let Some((from, before)) = before else { return Outcome::default() };
        let ns = (self.now - from).max(1.0);
        let [rows, spins, spun, busy, flushes, writing] = self.sums();
        let rows = rows - before[0];
        let whole = ns * self.workers.len() as f64;
        Outcome {
            rows_per_s: rows / ns * 1e9,
            spins_per_row: (spins - before[1]) / rows.max(1.0),
            spinning: (spun - before[2]) / whole,
            busy: (busy - before[3]) / whole,
            flushes_per_s: (flushes - before[4]) / ns * 1e9,
            writing: (writing - before[5]) / ns,
        }
    }

    fn sums(&self) -> [f64; 6] {
        let of =
            |w: &Worker| w.busy + if w.running.is_some() { self.now - w.busy_since } else { 0.0 };
        let busy = self.workers.iter().map(of).sum();
        [self.rows as f64, self.spins, self.spun, busy, self.flushes as f64, self.writing]
    }

    fn after(&mut self, ns: f64, event: Event) {
        self.made += 1;
        self.events.push(Reverse(Item(self.now + ns.max(0.0), self.made, event)));
    }

    fn share(&mut self) -> f64 {
        self.chance.below(1 << 20) as f64 / f64::from(1 << 20)
    }

    fn step(&mut self, event: Event) {
        match event {
            Event::Worked(worker) => self.reserve(worker),
            Event::Recorded(worker) => self.recorded(worker),
            Event::Released => self.released(),
            Event::Free(worker) => self.free(worker),
            Event::Landed(number) => self.landed(number),
            Event::Polled => {
                self.poll_is_due = false;
                self.notice(None);
            }
            Event::WriterRuns => self.writer_runs(),
            Event::WriterLooked => self.writer_looked(),
            Event::WriterRead(out) => {
                self.submit(out);
                self.writer_runs();
            }
        }
    }

    // Sessions.

    fn is_idle(&self, worker: usize) -> bool {
        self.workers[worker].running.is_none() && self.now >= self.workers[worker].free_ns
    }

    /// The next session of a worker, if there is one and none runs.
    fn dispatch(&mut self, worker: usize) {
        if !self.is_idle(worker) {
            return;
        }
        let Some((session, woken)) = self.workers[worker].ready.pop_front() else { return };
        self.settle();
        self.workers[worker].running = Some(session);
        self.workers[worker].busy_since = self.now;
        self.begin(worker, if woken { self.p.turn_ns } else { 0.0 });
    }

    /// The running session leaves its CPU.
    fn leave(&mut self, worker: usize) -> Option<usize> {
        self.workers[worker].running?;
        self.settle();
        let session = self.workers[worker].running.take()?;
        self.workers[worker].busy += self.now - self.workers[worker].busy_since;
        Some(session)
    }

    /// The CPU does something else for so long, then what is next.
    fn occupy(&mut self, worker: usize, ns: f64) {
        self.workers[worker].free_ns = self.now + ns;
        self.after(ns, Event::Free(worker));
    }

    fn piece(&self, session: usize) -> Piece {
        match self.load.commit_every {
            1 => self.p.single,
            rows if self.rows_of[session] >= rows => self.p.commit,
            _ => self.p.row,
        }
    }

    /// The running session begins its next piece, `late` by so much.
    fn begin(&mut self, worker: usize, late: f64) {
        let Some(session) = self.workers[worker].running else { return };
        if self.log.unwritten() > self.p.buffer_bytes {
            self.leave(worker);
            self.full.push((worker, session));
            self.write_out(Some(worker));
            return self.dispatch(worker);
        }
        // Between 0.7 and 1.3 of the mean, so that nothing stays in step.
        let varied = 0.7 + 0.6 * self.share();
        let ns =
            self.piece(session).ns * varied * self.slowed(self.load.cpus[worker], Some(worker));
        let lost = std::mem::take(&mut self.workers[worker].lost_ns);
        self.after(late + lost + ns, Event::Worked(worker));
    }

    /// By the other thread of a CPU's core, if that works.
    fn slowed(&self, cpu: usize, but: Option<usize>) -> f64 {
        if self.p.sibling <= 1.0 {
            return 1.0;
        }
        let beside = |other: usize| other != cpu && self.machine.distance(cpu, other) == 0.0;
        let worker = (0..self.workers.len())
            .any(|w| Some(w) != but && beside(self.load.cpus[w]) && !self.is_idle(w));
        let writer = match self.load.writer {
            Writer::On(at) => self.writer_is_up && beside(at),
            Writer::Leader => false,
        };
        if worker || writer { self.p.sibling } else { 1.0 }
    }

    fn reserve(&mut self, worker: usize) {
        match self.load.reserve {
            Reserve::Lanes => {
                let cpu = self.load.cpus[worker];
                let way = self.line.come(self.machine, self.p.line_ns, cpu);
                let had = self.line.serve(self.now, way);
                let copied = self.copy_ns(worker);
                self.after(had - self.now + copied, Event::Recorded(worker));
            }
            Reserve::Spinlock => self.want_lock(Who::Worker(worker)),
        }
    }

    /// The record is put into the buffer, whose lines may have to come from the writer.
    fn copy_ns(&self, worker: usize) -> f64 {
        let Some(session) = self.workers[worker].running else { return 0.0 };
        let lines = (self.piece(session).bytes / LINE_BYTES).ceil();
        let taken = match self.load.writer {
            Writer::On(cpu) if self.p.buffer_is_cached => {
                self.machine.distance(cpu, self.load.cpus[worker]) * self.p.taken_ns * lines
            }
            _ => 0.0,
        };
        self.p.copy_ns + taken
    }

    fn recorded(&mut self, worker: usize) {
        let Some(session) = self.workers[worker].running else { return };
        let end = self.log.append(self.piece(session).bytes);
        if self.load.commit_every == 1 || self.rows_of[session] < self.load.commit_every {
            self.rows += 1;
            self.rows_of[session] += 1;
            if self.load.commit_every > 1 {
                return self.begin(worker, 0.0);
            }
        }
        self.rows_of[session] = 0;
        if self.load.durable {
            self.leave(worker);
            self.log.want(end);
            self.waiters.push((end, worker, session));
            let cost = self.write_out(Some(worker));
            return self.occupy(worker, cost);
        }
        if self.log.has_enough() {
            // What it costs is in the rows: those that were measured paid for it, too.
            self.write_out(Some(worker));
        }
        let late = self.read_published(worker);
        let over = self.now - self.workers[worker].busy_since >= self.p.quantum_ns;
        if over && !self.workers[worker].ready.is_empty() {
            self.leave(worker);
            self.workers[worker].ready.push_back((session, true));
            return self.dispatch(worker);
        }
        self.begin(worker, late);
    }

    /// A commit looks at what the writer has published, whose line comes anew each time.
    fn read_published(&mut self, worker: usize) -> f64 {
        if std::mem::replace(&mut self.workers[worker].read, self.published) == self.published {
            return 0.0;
        }
        self.machine.distance(self.publisher, self.load.cpus[worker]) * self.p.line_ns
    }

    fn free(&mut self, worker: usize) {
        if self.is_idle(worker) {
            if self.load.writer == Writer::Leader {
                self.notice(Some(worker));
            }
            self.dispatch(worker);
        }
    }

    // The lock.

    fn want_lock(&mut self, who: Who) {
        if self.holder.is_none() {
            return self.take_lock(who, 0.0);
        }
        if let Who::Worker(worker) = who {
            self.workers[worker].spins_since = self.now;
        }
        self.spinners.push(who);
    }

    fn take_lock(&mut self, who: Who, late: f64) {
        let cpu = match (who, self.load.writer) {
            (Who::Worker(worker), _) => self.load.cpus[worker],
            (Who::Writer, Writer::On(cpu)) => cpu,
            (Who::Writer, Writer::Leader) => return,
        };
        let lines = LOCK_LINES * self.line.come(self.machine, self.p.line_ns, cpu);
        self.holder = Some(who);
        // One who looks meanwhile has taken the line, and it must come back to be let go.
        let back = if self.spinners.is_empty() { 0.0 } else { self.p.line_ns };
        let held = match who {
            Who::Worker(worker) => self.copy_ns(worker),
            Who::Writer => self.lanes_ns(cpu),
        };
        self.after(late + lines + self.p.lock_ns + held + back, Event::Released);
    }

    fn released(&mut self) {
        let holder = self.holder.take();
        if !self.spinners.is_empty() {
            let n = self.spinners.len();
            let next = self.spinners.swap_remove(self.chance.below(n as u64) as usize);
            if let Who::Worker(worker) = next {
                let spun = self.now - self.workers[worker].spins_since;
                self.spun += spun;
                self.spins += spun / self.p.spin_ns.max(0.1);
            }
            // The first of n looks; half of the others' looks come before the winner's.
            let look = LOOK_EVERY * self.p.spin_ns / (n + 1) as f64;
            let others = self.p.line_ns * (n - 1) as f64 / 2.0;
            self.take_lock(next, look + others);
        }
        match holder {
            Some(Who::Worker(worker)) => self.recorded(worker),
            Some(Who::Writer) => self.writer_looked(),
            None => {}
        }
    }

    // Writing the log out.

    /// Whoever has to sees to it that what is wanted goes out; nanoseconds that it takes of this worker's CPU.
    fn write_out(&mut self, worker: Option<usize>) -> f64 {
        if let Writer::On(_) = self.load.writer {
            self.wake_writer();
            return 0.0;
        }
        let mut cost = 0.0;
        while let Some(out) = self.log.next(!self.full.is_empty()) {
            cost += self.p.flushes.cpu_ns(out.blocks as f64 * BLOCK_BYTES, out.in_flight as f64);
            self.submit(out);
            self.publish(worker.map(|worker| self.load.cpus[worker]));
        }
        cost
    }

    fn publish(&mut self, by: Option<usize>) {
        self.published += 1;
        self.publisher = by.unwrap_or(self.publisher);
    }

    /// Brings the share of workers that compute up to now. It is an average over about a quantum, which is as long as whoever
    /// computes keeps a write waiting: a row's few hundred nanoseconds at the moment at which a write goes out keep none.
    fn settle(&mut self) {
        let running = self.workers.iter().filter(|w| w.running.is_some()).count();
        let old = (-(self.now - self.computing_at) / self.p.quantum_ns.max(1.0)).exp();
        let share = running as f64 / self.workers.len() as f64;
        self.computing = self.computing * old + share * (1.0 - old);
        self.computing_at = self.now;
    }

    fn submit(&mut self, out: Out) {
        self.flushes += 1;
        self.settle();
        let (bytes, chance) = (out.blocks as f64 * BLOCK_BYTES, self.share());
        let ns = self.p.flushes.ns(bytes, out.in_flight as f64, self.computing, chance);
        // Measured up to when a task runs again.
        self.after((ns - self.p.turn_ns).max(1.0), Event::Landed(out.number));
    }

    fn landed(&mut self, number: u64) {
        self.log.landed(number);
        if let Writer::On(_) = self.load.writer {
            return self.wake_writer();
        }
        if let Some(idle) = (0..self.workers.len()).find(|worker| self.is_idle(*worker)) {
            self.notice(Some(idle));
        } else if !self.poll_is_due {
            self.poll_is_due = true;
            let wait = POLL_NS / self.workers.len() as f64 * self.share();
            self.after(wait, Event::Polled);
        }
    }

    /// Somebody polls: what has ended is taken, what is wanted goes out, those who waited are woken.
    fn notice(&mut self, worker: Option<usize>) {
        if !self.log.collect() {
            return;
        }
        let cost = self.write_out(worker);
        if let Some(worker) = worker {
            self.occupy(worker, cost);
        }
        self.wake(worker);
        // Those who had no room took what was pressed for; others may have come together meanwhile.
        self.write_out(worker);
    }

    /// Wakes whom what is durable by now covers, and those who had no room.
    fn wake(&mut self, by: Option<usize>) {
        let durable = self.log.durable();
        let (covered, waiting) = self.waiters.drain(..).partition(|(upto, ..)| *upto <= durable);
        self.waiters = waiting;
        let covered: Vec<(f64, usize, usize)> = covered;
        let covered = covered.into_iter().map(|(_, worker, session)| (worker, session));
        let room = self.log.unwritten() <= self.p.buffer_bytes;
        let full = if room { std::mem::take(&mut self.full) } else { Vec::new() };
        for (worker, session) in covered.chain(full) {
            self.workers[worker].ready.push_back((session, true));
            let own = by == Some(worker);
            let way = if own { 0.0 } else { self.p.turn_other_ns - self.p.turn_ns };
            self.after(way, Event::Free(worker));
        }
    }

    // The writer with a CPU.

    fn wake_writer(&mut self) {
        let Writer::On(cpu) = self.load.writer else { return };
        if std::mem::replace(&mut self.writer_is_up, true) {
            return;
        }
        let shared = self.shared_with(cpu).filter(|worker| !self.is_idle(*worker));
        let wait = match shared {
            Some(_) => self.share() * self.p.quantum_ns,
            None => self.p.turn_other_ns,
        };
        self.after(wait, Event::WriterRuns);
    }

    fn shared_with(&self, cpu: usize) -> Option<usize> {
        self.load.cpus.iter().position(|own| *own == cpu)
    }

    /// Time of the writer's: a session on the same CPU loses it.
    fn spend(&mut self, ns: f64, then: Event) {
        self.writing += ns;
        if let Writer::On(cpu) = self.load.writer
            && let Some(worker) = self.shared_with(cpu)
        {
            self.workers[worker].lost_ns += ns;
        }
        self.after(ns, then);
    }

    /// It looks at what is complete: at the tail, with the lock held where there is one, and at every worker's lane.
    fn writer_runs(&mut self) {
        let Writer::On(cpu) = self.load.writer else { return };
        if self.log.collect() {
            self.wake(None);
        }
        match self.load.reserve {
            Reserve::Spinlock => self.want_lock(Who::Writer),
            Reserve::Lanes => {
                let way = self.line.come(self.machine, self.p.line_ns, cpu);
                let lanes = self.lanes_ns(cpu);
                self.spend(way + lanes, Event::WriterLooked);
            }
        }
    }

    fn lanes_ns(&self, cpu: usize) -> f64 {
        let far = |own: &usize| self.machine.distance(cpu, *own) * self.p.line_ns;
        self.load.cpus.iter().map(far).sum()
    }

    fn writer_looked(&mut self) {
        let Writer::On(cpu) = self.load.writer else { return };
        self.publish(Some(cpu));
        match self.log.next(!self.full.is_empty()) {
            Some(out) => {
                let far: f64 =
                    self.load.cpus.iter().map(|own| self.machine.distance(cpu, *own)).sum();
                let far = far / self.load.cpus.len() as f64;
                let lines = out.blocks as f64 * BLOCK_BYTES / LINE_BYTES;
                let ns = lines * self.p.read_ns * far * self.slowed(cpu, None);
                self.spend(ns, Event::WriterRead(out));
            }
            None => self.writer_is_up = false,
        }
    }
}

#[cfg(test)]
mod tests;
