//! One rung: `depth` tasks of one scheduler, each with one write in flight after the other, for a time.
//!
//! A write's latency is that of a task of the engine: from before its submission until the task runs again with the
//! write, and what makes it durable, done. It includes the wake-up.

use super::files::{DATA_BYTES, Files, LOG_BYTES};
use super::{Axis, Beside, Way};
use crate::LabError;
use device::File;
use hdrhistogram::Histogram;
use runtime::clock;
use scheduler::{JoinHandle, Schedulers};
use serde::Serialize;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use stdx::{AlignedBuf, Prng};
use telemetry::WaitType;

/// What was measured of one combination.
#[derive(Clone, Debug, Serialize)]
pub struct Rung {
    #[serde(flatten)]
    pub axis: Axis,
    /// Why it could not be measured; the figures are then zero.
    pub refused: Option<String>,
    /// What the reader of the figures must know.
    pub note: Option<String>,
    /// From the first submission to the last completion.
    pub seconds: f64,
    pub writes: u64,
    pub writes_per_s: f64,
    pub mb_per_s: f64,
    /// Null where nothing was written.
    pub latency: Option<Latency>,
    /// Latencies by bucket: its largest value in microseconds, and how many. About 6% wide.
    #[serde(skip)]
    pub buckets: Vec<(f64, u64)>,
    /// What the checkpoint beside it wrote, MB/s.
    pub checkpoint_mb_per_s: Option<f64>,
}

/// In microseconds.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Latency {
    pub p10_us: f64,
    pub p50_us: f64,
    pub p90_us: f64,
    pub p99_us: f64,
    pub p999_us: f64,
    pub max_us: f64,
    pub mean_us: f64,
}

/// The share of a rung's time that goes by before its figures are kept.
const WARM_UP: f64 = 0.1;
const LATENCY_MAX_NS: u64 = 60_000_000_000;

/// What the writers of a rung share.
struct Shared {
    file: Arc<dyn File>,
    axis: Axis,
    /// Writes begun; tells the place of the next.
    begun: AtomicU64,
    writes_max: u64,
    warm_ns: u64,
    ends_ns: u64,
}

/// Measures one combination. Errors are those that end the run; what the machine refuses is in the rung.
pub(super) fn measure(
    schedulers: &Arc<Schedulers>,
    files: &mut Files,
    axis: Axis,
    seconds: f64,
    bytes_max: u64,
) -> Result<Rung, LabError> {
    let file = match files.log(axis.way, axis.carrier)? {
        Ok(file) => file,
        Err(why) => return Ok(Rung::refused(axis, why)),
    };
    if !axis.bytes.is_multiple_of(file.align() as u64) {
        let why = format!("O_DIRECT here takes multiples of {} bytes", file.align());
        return Ok(Rung::refused(axis, why));
    }
    // Half of the bytes are the checkpoint's.
    let parts = if axis.beside == Beside::Checkpoint { 2 } else { 1 };
    let bytes_max = bytes_max / parts;
    let stop = Arc::new(AtomicBool::new(false));
    let checkpoint = match axis.beside {
        Beside::Alone => None,
        Beside::Checkpoint => {
            let data = files.data(axis.carrier)?;
            Some(start_checkpoint(schedulers, &data, &stop, bytes_max))
        }
    };
    let began_ns = clock::now_ns();
    let length_ns = (seconds * 1e9) as u64;
    let shared = Arc::new(Shared {
        file,
        axis,
        begun: AtomicU64::new(0),
        writes_max: (bytes_max / axis.bytes).max(axis.depth as u64),
        warm_ns: began_ns + (length_ns as f64 * WARM_UP) as u64,
        ends_ns: began_ns + length_ns,
    });
    let tasks: Vec<_> = (0..axis.depth)
        .map(|_| {
            let shared = shared.clone();
            schedulers.spawn("log device", Some(0), move || write_until_the_end(&shared))
        })
        .collect();
    let mut all = Written::new()?;
    let mut failed = None;
    for task in tasks {
        match joined(task)? {
            Ok(written) => all.add(&written)?,
            Err(error) => failed = Some(error),
        }
    }
    stop.store(true, Relaxed);
    let mut checkpoint_bytes = 0;
    let checkpoint_seconds = (clock::now_ns() - began_ns) as f64 / 1e9;
    for task in checkpoint.into_iter().flatten() {
        checkpoint_bytes += joined(task)??;
    }
    if let Some(error) = failed {
        return Ok(Rung::refused(axis, format!("the write failed: {error}")));
    }
    let beside = axis.beside == Beside::Checkpoint;
    let rate = checkpoint_bytes as f64 / 1e6 / checkpoint_seconds;
    Ok(all.into_rung(axis, beside.then_some(rate)))
}

fn joined<T>(task: JoinHandle<T>) -> Result<T, LabError> {
    task.join().map_err(|_| LabError::Panicked("a writer of the log device".to_owned()))
}

/// What one task did, or all together.
struct Written {
    latencies: Histogram<u64>,
    writes: u64,
    first_ns: u64,
    last_ns: u64,
}

impl Written {
    fn new() -> Result<Written, LabError> {
        let latencies = Histogram::new_with_max(LATENCY_MAX_NS, 3)
            .map_err(|error| LabError::Options(error.to_string()))?;
        Ok(Written { latencies, writes: 0, first_ns: u64::MAX, last_ns: 0 })
    }

    fn add(&mut self, other: &Written) -> Result<(), LabError> {
        self.latencies
            .add(&other.latencies)
            .map_err(|error| LabError::Options(error.to_string()))?;
        self.writes += other.writes;
        self.first_ns = self.first_ns.min(other.first_ns);
        self.last_ns = self.last_ns.max(other.last_ns);
        Ok(())
    }

    fn into_rung(self, axis: Axis, checkpoint_mb_per_s: Option<f64>) -> Rung {
        let seconds = self.last_ns.saturating_sub(self.first_ns) as f64 / 1e9;
        let per_s = |n: f64| if seconds > 0.0 { n / seconds } else { 0.0 };
        let h = &self.latencies;
        let us = |q: f64| h.value_at_quantile(q) as f64 / 1e3;
        let latency = (!h.is_empty()).then(|| Latency {
            p10_us: us(0.10),
            p50_us: us(0.50),
            p90_us: us(0.90),
            p99_us: us(0.99),
            p999_us: us(0.999),
            max_us: h.max() as f64 / 1e3,
            mean_us: h.mean() / 1e3,
        });
        let slow_way = axis.way == Way::DirectRwfDsync && device::dsync_refused();
        Rung {
            axis,
            refused: None,
            note: slow_way
                .then(|| "RWF_DSYNC is refused here: each is a write and fdatasync".to_owned()),
            seconds,
            writes: self.writes,
            writes_per_s: per_s(self.writes as f64),
            mb_per_s: per_s(self.writes as f64 * axis.bytes as f64 / 1e6),
            latency,
            buckets: buckets(h),
            checkpoint_mb_per_s,
        }
    }
}

impl Rung {
    fn refused(axis: Axis, why: String) -> Rung {
        Rung {
            axis,
            refused: Some(why),
            note: None,
            seconds: 0.0,
            writes: 0,
            writes_per_s: 0.0,
            mb_per_s: 0.0,
            latency: None,
            buckets: Vec::new(),
            checkpoint_mb_per_s: None,
        }
    }
}

/// Coarser than they were recorded: each bound is a sixteenth above the one before.
fn buckets(h: &Histogram<u64>) -> Vec<(f64, u64)> {
    let mut all: Vec<(f64, u64)> = Vec::new();
    for step in h.iter_recorded() {
        let us = step.value_iterated_to() as f64 / 1e3;
        let n = step.count_since_last_iteration();
        // The bound of the power of a sixteenth that holds it.
        let bound = 1.0625_f64.powf((us.max(1e-3).ln() / 1.0625_f64.ln()).ceil());
        match all.last_mut() {
            Some((last, count)) if *last == bound => *count += n,
            _ => all.push((bound, n)),
        }
    }
    all
}

/// One task's writes, in turn through the file like a log's; those of the warm-up leave no figures.
fn write_until_the_end(s: &Shared) -> io::Result<Written> {
    let mut written = Written::new().map_err(io::Error::other)?;
    let mut bytes = AlignedBuf::zeroed(s.axis.bytes as usize);
    let places = LOG_BYTES / s.axis.bytes;
    let mut now_ns = clock::now_ns();
    // On a machine that was away for the whole of a short rung, one write is measured all the same.
    while now_ns < s.ends_ns || written.writes == 0 {
        let n = s.begun.fetch_add(1, Relaxed);
        if n >= s.writes_max {
            break;
        }
        bytes[..8].copy_from_slice(&n.to_le_bytes());
        let at = n % places * s.axis.bytes;
        let durable = s.axis.way == Way::DirectRwfDsync;
        s.file.write_all_at(at, &bytes, durable, WaitType::WriteLog)?;
        match s.axis.way {
            Way::DirectFdatasync | Way::CachedFdatasync => s.file.sync(WaitType::WriteLog)?,
            Way::CachedFsync => s.file.sync_all(WaitType::WriteLog)?,
            Way::DirectRwfDsync | Way::DirectODsync | Way::CachedODsync | Way::DirectVolatile => {}
        }
        let began_ns = std::mem::replace(&mut now_ns, clock::now_ns());
        // The warm-up is a share of what ends the rung first: its seconds or its bytes.
        if began_ns >= s.warm_ns || n as f64 >= s.writes_max as f64 * WARM_UP {
            written.first_ns = written.first_ns.min(began_ns);
            written.last_ns = now_ns;
            written.writes += 1;
            written.latencies.saturating_record(now_ns - began_ns);
        }
    }
    Ok(written)
}

const CHECKPOINT_TASKS: u64 = 8;
const SCATTERED_BYTES: u64 = 64 << 10;
const SCATTERED: u64 = 16;
const SEQUENTIAL_BYTES: u64 = 1 << 20;

/// Starts the writes of a checkpoint, on the second scheduler; each task returns the bytes it wrote.
fn start_checkpoint(
    schedulers: &Arc<Schedulers>,
    data: &Arc<dyn File>,
    stop: &Arc<AtomicBool>,
    bytes_max: u64,
) -> Vec<JoinHandle<io::Result<u64>>> {
    let on = schedulers.count() - 1;
    (0..CHECKPOINT_TASKS)
        .map(|index| {
            let (data, stop) = (data.clone(), stop.clone());
            schedulers.spawn("checkpoint", Some(on), move || {
                let mut prng = Prng::new(index + 1);
                let bytes = AlignedBuf::zeroed(SEQUENTIAL_BYTES as usize);
                let mut written = 0;
                while !stop.load(Relaxed) && written < bytes_max / CHECKPOINT_TASKS {
                    let wait = WaitType::PageIoLatchSh;
                    data.write_all_at(index * SEQUENTIAL_BYTES, &bytes, false, wait)?;
                    written += SEQUENTIAL_BYTES;
                    for _ in 0..SCATTERED {
                        let at = prng.below(DATA_BYTES / SCATTERED_BYTES) * SCATTERED_BYTES;
                        let bytes = &bytes[..SCATTERED_BYTES as usize];
                        data.write_all_at(at, bytes, false, wait)?;
                        written += SCATTERED_BYTES;
                    }
                    data.sync(wait)?;
                }
                Ok(written)
            })
        })
        .collect()
}
