//! The engine in this process: an instance whose files are in memory, and one session on it.
//!
//! Invariants: whatever a batch does, [`Lane::run`] returns: a batch past its time is stopped (and says so), a session
//! that has ended is replaced by a new one in the same database.

use device::SimFs;
use session::{Instance, InstanceConfig, ResultSink, Session};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

/// A batch still running after this is stopped and counts as a failure.
pub const BATCH_LIMIT: Duration = Duration::from_secs(120);

const POOL_BYTES: u64 = 256 << 20;

/// Runs `body` with a session of a fresh instance, in a fresh database `t`.
pub fn with_lane<R: Send + 'static>(body: impl FnOnce(&mut Lane) -> R + Send + 'static) -> R {
    let mut config = InstanceConfig::new("/data", SimFs::new(1));
    config.buffer_pool_bytes = POOL_BYTES;
    config.log.ring_bytes = 4 << 20;
    config.log.vlf_bytes = 4 << 20;
    config.log.initial_vlfs = 4;
    let instance = Instance::open(config).expect("an instance in memory");
    let shared = instance.clone();
    let task = instance.spawn_session("corpus", move |_| {
        let mut lane = Lane::new(&shared);
        body(&mut lane)
    });
    let result = task.join();
    let _ = instance.shutdown();
    match result {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

/// One session, replaced when it ends.
pub struct Lane {
    instance: Arc<Instance>,
    session: Session,
    watchdog: Watchdog,
}

/// What became of a batch, beyond what its sink has heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It came to its end, with an error or without.
    Whole,
    /// It was stopped after [`BATCH_LIMIT`].
    Stopped,
    /// It ended its session: a panic, or an error of severity 20 and more.
    Session,
}

impl Lane {
    fn new(instance: &Arc<Instance>) -> Lane {
        let mut session = Session::new(instance);
        let _ = session.execute("CREATE DATABASE t", &mut Deaf);
        let _ = session.execute("USE t", &mut Deaf);
        Lane { instance: instance.clone(), session, watchdog: Watchdog::start() }
    }

    /// Runs one batch.
    pub fn run(&mut self, batch: &str, sink: &mut dyn ResultSink) -> End {
        self.watchdog.begin(self.session.cancel_flag());
        let _ = self.session.execute(batch, sink);
        let stopped = self.watchdog.end();
        if self.session.has_ended() {
            self.renew();
            return End::Session;
        }
        if stopped { End::Stopped } else { End::Whole }
    }

    /// A new session instead of this one, in the same database.
    pub fn renew(&mut self) {
        let database = self.session.database_name().replace(']', "]]");
        self.session = Session::new(&self.instance);
        let _ = self.session.execute(&format!("USE [{database}]"), &mut Deaf);
    }

    /// A new session, in the database that a login begins in.
    pub fn log_in(&mut self) {
        self.session = Session::new(&self.instance);
    }

    /// @@TRANCOUNT.
    pub fn trancount(&self) -> u32 {
        self.session.trancount()
    }
}

/// Hears nothing.
pub struct Deaf;

impl ResultSink for Deaf {
    fn columns(&mut self, _: &[session::ColumnMeta]) {}
    fn row(&mut self, _: &[types::Value]) {}
    fn done(&mut self, _: session::Done) {}
    fn message(&mut self, _: &session::SqlMessage) {}
}

/// A thread that sets a session's cancel flag when its batch runs too long.
struct Watchdog {
    shared: Arc<Shared>,
    thread: Option<std::thread::JoinHandle<()>>,
}

#[derive(Default)]
struct Shared {
    watched: Mutex<Watched>,
    changed: Condvar,
    stopped: AtomicBool,
}

#[derive(Default)]
struct Watched {
    /// When the present batch is to be stopped, and how.
    due: Option<(Instant, Arc<AtomicBool>)>,
    over: bool,
}

impl Watchdog {
    fn start() -> Watchdog {
        let shared = Arc::new(Shared::default());
        let theirs = shared.clone();
        let thread = std::thread::spawn(move || theirs.watch());
        Watchdog { shared, thread: Some(thread) }
    }

    fn begin(&self, flag: Arc<AtomicBool>) {
        self.shared.stopped.store(false, Ordering::Relaxed);
        self.shared.watched.lock().expect("no panic with it").due =
            Some((Instant::now() + BATCH_LIMIT, flag));
    }

    /// Whether the batch was stopped.
    fn end(&self) -> bool {
        self.shared.watched.lock().expect("no panic with it").due = None;
        self.shared.stopped.load(Ordering::Relaxed)
    }
}

impl Shared {
    fn watch(&self) {
        let mut watched = self.watched.lock().expect("no panic with it");
        while !watched.over {
            if let Some((due, flag)) = &watched.due
                && Instant::now() >= *due
            {
                self.stopped.store(true, Ordering::Relaxed);
                flag.store(true, Ordering::Relaxed);
                watched.due = None;
            }
            watched = self
                .changed
                .wait_timeout(watched, Duration::from_millis(200))
                .expect("no panic with it")
                .0;
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.shared.watched.lock().expect("no panic with it").over = true;
        self.shared.changed.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
