//! How long a durable write takes: by its bytes, by how many are in flight, by how busy the CPUs are.
//!
//! An idle device with one write at a time is not what a log meets. Writes in flight share the device and its file system;
//! the kernel finishes a durable write in a thread of its own, which needs one of the CPUs that sessions run on; whoever
//! wrote must be noticed and woken. So [`measure`] lets tasks write as the log does (direct, RWF_DSYNC, in order, into
//! space written before), so many at a time, alone and beside tasks that compute, and keeps the distribution.
//!
//! A time is a task's: from before the submission until the task runs again. Nothing here is of any cell.

use crate::error::LabError;
use device::{File, FileSystem, OpenOptions};
use runtime::{clock, task};
use scheduler::Schedulers;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;
use stdx::{AlignedBuf, Prng};
use telemetry::WaitType;

/// Equally likely times that stand for a distribution, each the mean of its part.
const PARTS: usize = 40;

/// What was measured at one point.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    pub bytes: f64,
    pub in_flight: f64,
    /// Whether every scheduler had a task that computes.
    pub busy: bool,
    /// Rising; nanoseconds. All equally likely.
    pub parts_ns: Vec<f64>,
    /// Nanoseconds of the process's CPU time that a write took beside those who computed: submission, completion in the
    /// process's name, noticing and waking. 0 where nobody computed.
    pub cpu_ns: f64,
}

impl Point {
    /// Of a device that always takes the same.
    pub fn constant(bytes: f64, in_flight: f64, busy: bool, ns: f64) -> Point {
        Point { bytes, in_flight, busy, parts_ns: vec![ns], cpu_ns: 0.0 }
    }

    fn of(bytes: u64, in_flight: usize, busy: bool, seen: Seen) -> Option<Point> {
        let Seen { times: mut all, taken_ns } = seen;
        let cpu_ns = (taken_ns / all.len().max(1) as f64).max(0.0);
        all.sort_unstable();
        let parts = PARTS.min(all.len());
        let part = |i: usize| {
            let of = &all[i * all.len() / parts..(i + 1) * all.len() / parts];
            of.iter().sum::<u64>() as f64 / of.len() as f64
        };
        (parts > 0).then(|| Point {
            bytes: bytes as f64,
            in_flight: in_flight as f64,
            busy,
            parts_ns: (0..parts).map(part).collect(),
            cpu_ns,
        })
    }

    fn at(&self, chance: f64) -> f64 {
        let last = self.parts_ns.len() - 1;
        self.parts_ns[((chance * self.parts_ns.len() as f64) as usize).min(last)]
    }

    /// Nanoseconds.
    pub fn mean_ns(&self) -> f64 {
        self.parts_ns.iter().sum::<f64>() / self.parts_ns.len() as f64
    }
}

/// Every point of a grid of bytes and writes in flight, idle and busy.
#[derive(Clone, Debug, PartialEq)]
pub struct FlushTimes {
    points: Vec<Point>,
}

impl FlushTimes {
    /// `None` unless the points are a whole grid: every bytes with every number in flight, idle; busy the same, or none.
    pub fn new(points: Vec<Point>) -> Option<FlushTimes> {
        let idle = points.iter().filter(|p| !p.busy).count();
        let busy = points.len() - idle;
        let times = FlushTimes { points };
        let grid = times.axis(|p| p.bytes).len() * times.axis(|p| p.in_flight).len();
        let whole = idle == grid && (busy == grid || busy == 0);
        (whole && grid > 0 && times.points.iter().all(|p| !p.parts_ns.is_empty())).then_some(times)
    }

    /// A device that takes the same whatever is asked of it.
    pub fn constant(ns: f64) -> FlushTimes {
        FlushTimes { points: vec![Point::constant(4096.0, 1.0, false, ns)] }
    }

    /// Both, as one distribution for each point; those of the other that this has not are left out.
    pub fn merge(&mut self, other: &FlushTimes) {
        for point in &mut self.points {
            let same = |p: &&Point| {
                (p.bytes, p.in_flight, p.busy) == (point.bytes, point.in_flight, point.busy)
            };
            let Some(more) = other.points.iter().find(same) else { continue };
            point.parts_ns.extend(&more.parts_ns);
            point.parts_ns.sort_unstable_by(f64::total_cmp);
            point.cpu_ns = (point.cpu_ns + more.cpu_ns) / 2.0;
        }
    }

    pub fn points(&self) -> &[Point] {
        &self.points
    }

    fn axis(&self, of: impl Fn(&Point) -> f64) -> Vec<f64> {
        let mut all: Vec<f64> = self.points.iter().map(of).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.dedup();
        all
    }

    /// Nanoseconds of the CPUs that a write of `bytes` takes, of so many in flight.
    pub fn cpu_ns(&self, bytes: f64, in_flight: f64) -> f64 {
        let found = self.grid(true, bytes, in_flight, |p| p.cpu_ns);
        found.unwrap_or(0.0)
    }

    /// Nanoseconds of a write of `bytes` when it is one of `in_flight`, with a share of the CPUs computing. `chance`, from 0
    /// to 1, chooses among the times that occur. Between measured points along straight lines; beyond the last number in
    /// flight and the last size in proportion, since the device is shared then.
    pub fn ns(&self, bytes: f64, in_flight: f64, computing: f64, chance: f64) -> f64 {
        let of = |busy| self.grid(busy, bytes, in_flight, |p| p.at(chance));
        let idle = of(false).unwrap_or(0.0);
        of(true).map_or(idle, |busy| idle + (busy - idle) * computing.clamp(0.0, 1.0))
    }

    fn grid(
        &self,
        busy: bool,
        bytes: f64,
        in_flight: f64,
        of: impl Fn(&Point) -> f64,
    ) -> Option<f64> {
        let sizes = self.axis(|p| p.bytes);
        let numbers = self.axis(|p| p.in_flight);
        between(&sizes, bytes, |bytes| {
            between(&numbers, in_flight, |in_flight| {
                let same =
                    |p: &&Point| p.bytes == bytes && p.in_flight == in_flight && p.busy == busy;
                self.points.iter().find(same).map(&of)
            })
        })
    }
}

/// The value at `x` of what is known at the rising `xs`.
fn between(xs: &[f64], x: f64, at: impl Fn(f64) -> Option<f64>) -> Option<f64> {
    let next = xs.partition_point(|known| *known < x);
    match (next, xs.len()) {
        (_, 0) => None,
        (0, _) => at(xs[0]),
        (next, len) if next == len => {
            Some(at(xs[len - 1])? * if len > 1 { x / xs[len - 1] } else { 1.0 })
        }
        (next, _) => {
            let (a, b) = (xs[next - 1], xs[next]);
            let share = (x - a) / (b - a);
            Some(at(a)? * (1.0 - share) + at(b)? * share)
        }
    }
}

/// The grid: bytes with nanoseconds of each point, and numbers in flight. Few blocks with one or two in flight are what
/// commits that wait reach, more what delayed ones do.
const BYTES: [(u64, u64); 4] = [
    (4 << 10, 150_000_000),
    (16 << 10, 100_000_000),
    (64 << 10, 60_000_000),
    (1 << 20, 60_000_000),
];
const IN_FLIGHT: [usize; 3] = [1, 2, 8];
const FILE_BYTES: u64 = 32 << 20;
/// Turns of a computing task's loop before it lets others go first: about a row's work. It lets them after each, so that a
/// writer waits for the device and not for its turn; the CPU is taken all the same, and the kernel's threads must ask for it.
const COMPUTES: u64 = 400;

/// What came of one point.
#[derive(Default)]
struct Seen {
    times: Vec<u64>,
    /// Nanoseconds of CPU time beyond what those who computed used.
    taken_ns: f64,
}

/// Measures the whole grid in a scratch file in `folder`, by tasks over all of `schedulers`. Some three seconds.
pub fn measure(
    schedulers: &Arc<Schedulers>,
    fs: &Arc<dyn FileSystem>,
    folder: &Path,
) -> Result<FlushTimes, LabError> {
    let path = folder.join("flush-times.tmp");
    let file = fs.open(&path, OpenOptions::create().direct())?;
    let made = {
        let file = file.clone();
        let task = schedulers.spawn("flush times", None, move || file.allocate(0, FILE_BYTES));
        task.join().map_err(|_| LabError::Panicked("flush times".to_owned()))?
    };
    let measured = made.map_err(LabError::from).and_then(|()| all_points(schedulers, &file));
    fs.remove(&path)?;
    FlushTimes::new(measured?).ok_or(LabError::NoWindow)
}

fn all_points(schedulers: &Arc<Schedulers>, file: &Arc<dyn File>) -> Result<Vec<Point>, LabError> {
    let (alone, cpu_ns) = beside(schedulers, true, || {
        std::thread::sleep(Duration::from_nanos(BYTES[0].1));
        Ok(())
    })?;
    let turn_ns = cpu_ns / alone.max(1) as f64;
    let mut points = Vec::new();
    for (bytes, point_ns) in BYTES {
        for in_flight in IN_FLIGHT {
            for busy in [false, true] {
                let mut times = Vec::new();
                let write =
                    || write_all(schedulers, file, (bytes, point_ns), in_flight, &mut times);
                let (turns, cpu_ns) = beside(schedulers, busy, write)?;
                let taken_ns = if busy { cpu_ns - turns as f64 * turn_ns } else { 0.0 };
                let point = Point::of(bytes, in_flight, busy, Seen { times, taken_ns });
                points.push(point.ok_or(LabError::NoWindow)?);
            }
        }
    }
    Ok(points)
}

/// Does something, beside a task on every scheduler that computes if it is to be `busy`: turns of those, and
/// nanoseconds of the process's CPU time.
fn beside(
    schedulers: &Arc<Schedulers>,
    busy: bool,
    what: impl FnOnce() -> Result<(), LabError>,
) -> Result<(u64, f64), LabError> {
    let stop = Arc::new(AtomicBool::new(false));
    let began = clock::process_cpu_ns();
    let computing: Vec<_> = (0..schedulers.count())
        .filter(|_| busy)
        .map(|on| {
            let stop = stop.clone();
            schedulers.spawn("computes", Some(on), move || {
                let (mut turns, mut chance) = (0, Prng::new(on as u64));
                while !stop.load(Relaxed) {
                    (0..COMPUTES).for_each(|_| {
                        std::hint::black_box(chance.next_u64());
                    });
                    turns += 1;
                    task::yield_now();
                }
                turns
            })
        })
        .collect();
    let done = what();
    stop.store(true, Relaxed);
    let mut turns = 0;
    for task in computing {
        turns += task.join().map_err(|_| LabError::Panicked("flush times".to_owned()))?;
    }
    done.map(|()| (turns, (clock::process_cpu_ns() - began) as f64))
}

fn write_all(
    schedulers: &Arc<Schedulers>,
    file: &Arc<dyn File>,
    (bytes, point_ns): (u64, u64),
    in_flight: usize,
    times: &mut Vec<u64>,
) -> Result<(), LabError> {
    let begun = Arc::new(AtomicU64::new(0));
    let ends_ns = clock::now_ns() + point_ns;
    let writers: Vec<_> = (0..in_flight)
        .map(|i| {
            let (file, begun) = (file.clone(), begun.clone());
            schedulers.spawn("writes", Some(i % schedulers.count()), move || {
                write_until(&file, &begun, bytes, ends_ns)
            })
        })
        .collect();
    let mut failed = None;
    for writer in writers {
        match writer.join().map_err(|_| LabError::Panicked("flush times".to_owned()))? {
            Ok(own) => times.extend(own),
            Err(error) => failed = Some(error),
        }
    }
    failed.map_or(Ok(()), |error| Err(error.into()))
}

fn write_until(
    file: &Arc<dyn File>,
    begun: &AtomicU64,
    bytes: u64,
    ends_ns: u64,
) -> std::io::Result<Vec<u64>> {
    let mut memory = AlignedBuf::zeroed(bytes as usize);
    // Not zeros: a device may take those for less.
    let mut chance = Prng::new(bytes);
    memory.chunks_mut(8).for_each(|word| {
        let noise = chance.next_u64().to_le_bytes();
        word.copy_from_slice(&noise[..word.len()]);
    });
    let mut times = Vec::new();
    let mut now = clock::now_ns();
    while now < ends_ns {
        let at = begun.fetch_add(1, Relaxed) % (FILE_BYTES / bytes) * bytes;
        file.write_all_at(at, &memory, true, WaitType::WriteLog)?;
        let then = std::mem::replace(&mut now, clock::now_ns());
        times.push(now - then);
    }
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> FlushTimes {
        let mut points = Vec::new();
        for busy in [false, true] {
            for bytes in [4096.0, 65536.0] {
                for in_flight in [1.0, 2.0] {
                    let ns = 100.0 * in_flight + bytes / 4096.0 + if busy { 50.0 } else { 0.0 };
                    let parts_ns = vec![ns, 3.0 * ns];
                    let cpu_ns = 10.0 * in_flight;
                    points.push(Point { bytes, in_flight, busy, parts_ns, cpu_ns });
                }
            }
        }
        FlushTimes::new(points).expect("a grid")
    }

    #[test]
    fn measured_points_are_told_as_they_are_and_others_between_them() {
        let times = grid();
        assert_eq!(times.ns(4096.0, 1.0, 0.0, 0.2), 101.0);
        assert_eq!(times.ns(4096.0, 1.0, 0.0, 0.9), 303.0);
        assert_eq!(times.ns(4096.0, 1.0, 1.0, 0.0), 151.0);
        assert_eq!(times.ns(4096.0, 1.0, 0.5, 0.0), 126.0);
        assert_eq!(times.ns(4096.0, 1.5, 0.0, 0.0), 151.0);
        // Below the smallest as the smallest; above the largest in proportion.
        assert_eq!(times.ns(512.0, 1.0, 0.0, 0.0), 101.0);
        assert_eq!(times.ns(4096.0, 4.0, 0.0, 0.0), 402.0);
        assert_eq!(times.ns(131_072.0, 1.0, 0.0, 0.0), 232.0);
        assert_eq!(
            (times.cpu_ns(4096.0, 1.5), FlushTimes::constant(7.0).cpu_ns(1.0, 1.0)),
            (15.0, 0.0)
        );
        assert_eq!(FlushTimes::constant(7.0).ns(1e6, 9.0, 1.0, 0.5), 7.0);
    }

    #[test]
    fn two_measurements_are_one_distribution() {
        let mut times = FlushTimes::constant(10.0);
        times.merge(&FlushTimes::constant(30.0));
        assert_eq!((times.points()[0].mean_ns(), times.ns(4096.0, 1.0, 0.0, 0.9)), (20.0, 30.0));
    }

    #[test]
    fn a_grid_with_a_hole_is_none() {
        let mut points = grid().points().to_vec();
        points.pop();
        assert!(FlushTimes::new(points).is_none());
        assert!(FlushTimes::new(Vec::new()).is_none());
    }

    #[test]
    fn parts_keep_the_mean() {
        let times: Vec<u64> = (1..=1000).collect();
        let seen = Seen { times, taken_ns: 5_000.0 };
        let point = Point::of(4096, 1, false, seen).expect("times");
        assert_eq!(point.cpu_ns, 5.0);
        assert!((point.mean_ns() - 500.5).abs() < 1e-9);
        assert_eq!(point.parts_ns.len(), PARTS);
        assert!(Point::of(4096, 1, false, Seen::default()).is_none());
    }
}
