//! The load: connections as tasks of a few schedulers, so that a client costs about as much as pgbench's.
//!
//! A round trip is one send and one receive, and the waiting between them is one sleep in epoll for all connections of
//! a scheduler. These schedulers do not spin: they share the CPUs with the server.

use crate::checked::{OverTheWire, Referee};
use crate::error::LabError;
use crate::load::executor_sink::Errors;
use crate::script;
use crate::workload::{Kind, Mode, READ_ROWS};
use client::{Address, Connection};
use hdrhistogram::Histogram;
use parking_lot::Mutex;
use runtime::net::{Stream, Waiting};
use runtime::{clock, task};
use scheduler::{Config, JoinHandle, Schedulers};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::time::Duration;
use stdx::{CachePadded, Prng};
use tds::rpc::RpcValue;
use telemetry::WaitType;
use types::{SqlType, Value};

/// As pgbench is run beside it: two threads.
const THREADS: usize = 2;
const CALL_NS: u64 = 50_000_000;
const LINE_NS: u64 = 500_000;
/// Keys of one connection.
const RANGE: u64 = 10_000_000_000;
/// Longest round trip told apart.
const LATENCY_MAX_NS: u64 = 60_000_000_000;

/// What every connection does.
#[derive(Clone)]
pub(super) struct Job {
    pub address: Address,
    pub work: Kind,
    pub mode: Mode,
    pub commit_every: u64,
    pub referee: Option<Arc<Referee>>,
}

struct Shared {
    stop: AtomicBool,
    start: AtomicBool,
    failed: AtomicBool,
    ready: AtomicUsize,
    rows: Vec<CachePadded<AtomicU64>>,
    /// Round trips in nanoseconds, one histogram for each client, so that its lock is never waited for.
    latency: Vec<CachePadded<Mutex<Histogram<u64>>>>,
}

type Outcome = Result<(), LabError>;

/// Connections at work.
pub(super) struct Clients {
    shared: Arc<Shared>,
    schedulers: Arc<Schedulers>,
    tasks: Vec<JoinHandle<Outcome>>,
}

impl Clients {
    /// Connects all; they stand at the line.
    pub fn start(job: &Job, sessions: usize) -> Result<Clients, LabError> {
        let place =
            *job.address.resolve()?.first().ok_or_else(|| {
                LabError::Connection(format!("{} has no address", job.address.host))
            })?;
        let schedulers = Schedulers::start(Config {
            count: Some(THREADS.min(sessions)),
            pin: false,
            spin_before_sleep_ns: 0,
            spin_for_device_ns: 0,
            ..Config::default()
        })?;
        let shared = Arc::new(Shared {
            stop: AtomicBool::new(false),
            start: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            ready: AtomicUsize::new(0),
            rows: (0..sessions).map(|_| CachePadded::default()).collect(),
            latency: (0..sessions).map(|_| CachePadded::new(Mutex::new(histogram()))).collect(),
        });
        let tasks = (0..sessions)
            .map(|index| {
                let (job, shared) = (job.clone(), shared.clone());
                let on = Some(index % schedulers.count());
                schedulers.spawn(&format!("client {index}"), on, move || {
                    let outcome = Stream::connect(place)
                        .and_then(Waiting::new)
                        .map_err(|error| LabError::Connection(format!("{}: {error}", job.address)))
                        .and_then(|wire| client(wire, &job, index, &shared));
                    if outcome.is_err() {
                        shared.failed.store(true, Relaxed);
                        shared.stop.store(true, Relaxed);
                    }
                    outcome
                })
            })
            .collect();
        while shared.ready.load(Relaxed) < sessions && !shared.failed.load(Relaxed) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(Clients { shared, schedulers, tasks })
    }

    /// Lets them go together.
    pub fn start_all(&self) {
        self.shared.start.store(true, Relaxed);
    }

    pub fn have_failed(&self) -> bool {
        self.shared.failed.load(Relaxed)
    }

    /// Rows acknowledged so far.
    pub fn rows(&self) -> u64 {
        self.shared.rows.iter().map(|rows| rows.load(Relaxed)).sum()
    }

    /// Latencies count from now on.
    pub fn clear_latency(&self) {
        self.shared.latency.iter().for_each(|one| one.lock().reset());
    }

    /// Round trips since [`Self::clear_latency`], in nanoseconds.
    pub fn latency(&self) -> Histogram<u64> {
        let mut all = histogram();
        for one in &self.shared.latency {
            // All have the same bounds.
            let _ = all.add(&*one.lock());
        }
        all
    }

    /// Stops them; the first error of any.
    pub fn stop(&mut self) -> Result<(), LabError> {
        self.shared.stop.store(true, Relaxed);
        let mut failed = None;
        for task in self.tasks.drain(..) {
            match task.join() {
                Ok(Ok(())) => {}
                Ok(Err(error)) => drop(failed.get_or_insert(error)),
                Err(_) => {
                    failed.get_or_insert(LabError::Panicked("a client".to_owned()));
                }
            }
        }
        self.schedulers.stop();
        failed.map_or(Ok(()), Err)
    }
}

fn histogram() -> Histogram<u64> {
    let histogram = Histogram::new_with_bounds(1, LATENCY_MAX_NS, 2);
    histogram.unwrap_or_else(|error| stdx::fatal!("the bounds of a histogram: {error}"))
}

fn client(wire: Waiting, job: &Job, index: usize, shared: &Shared) -> Outcome {
    let mut connection = Connection::begin(wire, &job.address, "millrace lab")?;
    shared.ready.fetch_add(1, Relaxed);
    while !shared.start.load(Relaxed) && !shared.stop.load(Relaxed) {
        task::sleep_ns(LINE_NS, WaitType::SleepTask);
    }
    if let Some(referee) = &job.referee {
        return transactions(&mut connection, referee, index, shared);
    }
    match job.mode {
        Mode::Roundtrip => round_trips(&mut connection, job, index, shared),
        Mode::Procedure => calls(&mut connection, job, index, shared),
    }
}

/// Those of a load that checks itself; a latency is that of a whole committed one.
fn transactions(
    connection: &mut Connection<Waiting>,
    referee: &Referee,
    index: usize,
    shared: &Shared,
) -> Outcome {
    let mut sql = OverTheWire::new(connection);
    let goes_on = || !shared.stop.load(Relaxed);
    referee.work(index, &mut sql, goes_on, |took_ns| {
        shared.rows[index].fetch_add(1, Relaxed);
        shared.latency[index].lock().saturating_record(took_ns.max(1));
    })
}

fn round_trips(
    connection: &mut Connection<Waiting>,
    job: &Job,
    index: usize,
    shared: &Shared,
) -> Outcome {
    let (text, first) = match job.work {
        Kind::Insert => ("INSERT INTO dbo.big_table (c1) VALUES (@key)", index as u64 * RANGE + 1),
        Kind::PointRead => ("SELECT c6 FROM dbo.big_table WHERE c1 = @key", 0),
        Kind::Checked(_) | Kind::Batch(_) => {
            return Err(LabError::Options("it has no statement".to_owned()));
        }
    };
    let mut errors = Errors::default();
    let prepared = connection.prepare(text, "@key bigint", &mut errors)?;
    errors.into_result(Ok(()), text)?;
    let prepared =
        prepared.ok_or_else(|| LabError::Connection("sp_prepare gave no handle".to_owned()))?;
    let mut call = Connection::<Waiting>::run_of(
        prepared,
        vec![(SqlType::BigInt, Value::BigInt(first as i64))],
    );
    let mut chance = Prng::new(0x9E37_79B9 ^ index as u64);
    let mut done = 0;
    let mut errors = Errors::default();
    let mut sent_ns = clock::now_ns();
    while !shared.stop.load(Relaxed) {
        let key = match job.work {
            Kind::Insert => first + done,
            _ => 1 + chance.below(READ_ROWS),
        };
        call.parameters[1].value = RpcValue::Scalar(Value::BigInt(key as i64));
        connection.call(&call, &mut errors)?;
        if errors.is_failed() || (job.work == Kind::PointRead && errors.number.take().is_none()) {
            return errors.into_result(Err(()), text);
        }
        done += 1;
        shared.rows[index].store(done, Relaxed);
        let now_ns = clock::now_ns();
        shared.latency[index].lock().saturating_record((now_ns - sent_ns).max(1));
        sent_ns = now_ns;
    }
    Ok(())
}

fn calls(
    connection: &mut Connection<Waiting>,
    job: &Job,
    index: usize,
    shared: &Shared,
) -> Outcome {
    let mut chunk = job.commit_every * 8_u64.div_ceil(job.commit_every);
    let mut done = 0;
    while !shared.stop.load(Relaxed) {
        let began_ns = clock::now_ns();
        let batch = script::call(chunk, done);
        let mut errors = Errors::default();
        connection.execute(&batch, &mut errors)?;
        errors.into_result(Ok(()), &batch)?;
        done += chunk;
        shared.rows[index].store(done, Relaxed);
        let took = (clock::now_ns() - began_ns).max(1);
        let wanted = (u128::from(chunk) * u128::from(CALL_NS) / u128::from(took)) as u64;
        let wanted = wanted.clamp(chunk / 4, chunk * 4);
        chunk = (wanted / job.commit_every).max(1) * job.commit_every;
    }
    // A call is not a commit: there is no latency to tell.
    Ok(())
}
