//! Looks, from a thread of its own, for tasks that keep a scheduler to themselves.
//!
//! A task lets others go first every 4 ms, wherever it is. One that has not been heard of for [`LIMIT_NS`] is a defect of
//! this server and no user's fault; it is logged, with the session and its text and what the system says of the thread,
//! and kept for sys.dm_os_ring_buffers (RING_BUFFER_SCHEDULER_MONITOR). A thread that would run and gets no CPU,
//! where the machine has more to do than it can, is not told of. The same thread gives memory back ([`IdleMemory`]).

use crate::Instance;
use crate::idle_memory::IdleMemory;
use parking_lot::Mutex;
use runtime::clock;
use scheduler::Held;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;
use system_views::NonYielding;
use tracing::warn;

/// So long a task may go without a word.
const LIMIT_NS: u64 = 100_000_000;
/// CPU time that a thread must have had since it was first seen at it, where it did nothing but run.
const CPU_NS: u64 = LIMIT_NS / 2;
/// Between two looks.
const LOOK: Duration = Duration::from_millis(50);
/// Records that are kept.
const KEPT: usize = 256;
/// Bytes of a text that the log shows.
const SHOWN: usize = 200;

/// See the file's first lines.
#[derive(Default)]
pub(crate) struct Watchdog(Arc<Shared>);

#[derive(Default)]
struct Shared {
    records: Mutex<VecDeque<NonYielding>>,
    stop: AtomicBool,
}

impl Watchdog {
    /// The latest records, the last one last.
    pub fn latest(&self) -> Vec<NonYielding> {
        self.0.records.lock().iter().cloned().collect()
    }

    /// It looks no more.
    pub fn stop(&self) {
        self.0.stop.store(true, Relaxed);
    }

    /// Starts the thread. A simulated world has none: its only thread is the one that would be watched.
    pub fn start(instance: &Arc<Instance>) {
        if runtime::sim::active() {
            return;
        }
        let (shared, weak) = (instance.watchdog.0.clone(), Arc::downgrade(instance));
        // The instance itself is held for a record alone: who ends it shall be its owner.
        let schedulers = Arc::downgrade(instance.schedulers());
        let watch = move || {
            // By scheduler.
            let mut told: HashMap<usize, Sight> = HashMap::new();
            let mut idle = IdleMemory::default();
            while !shared.stop.load(Relaxed) {
                std::thread::sleep(LOOK);
                idle.look();
                let Some(schedulers) = schedulers.upgrade() else { return };
                for held in schedulers.held(LOOK.as_nanos() as u64) {
                    let (now, cpu_ns) = (clock::now_ns(), cpu_ns(held.thread_id));
                    let first = Sight { since_ns: held.since_ns, cpu_ns, told: false };
                    let sight = told.entry(held.scheduler).or_insert(first);
                    if sight.since_ns != held.since_ns {
                        *sight = first;
                    }
                    if sight.told || now.saturating_sub(held.since_ns) < LIMIT_NS {
                        continue;
                    }
                    let had = cpu_ns.saturating_sub(sight.cpu_ns);
                    let state = thread_state(held.thread_id);
                    // A thread that would run and gets no CPU is the machine's affair; it may get some yet.
                    if state.starts_with('R') && had < CPU_NS {
                        continue;
                    }
                    sight.told = true;
                    if let Some(instance) = weak.upgrade() {
                        shared.tell(&instance, &held, now, had, &state);
                    }
                }
            }
        };
        if let Err(error) = runtime::threads::spawn("watchdog", watch) {
            warn!(%error, "no thread looks for tasks that keep a scheduler");
        }
    }
}

/// How a task that has not been heard of since some moment was first seen.
#[derive(Clone, Copy)]
struct Sight {
    since_ns: u64,
    /// CPU time of its thread then.
    cpu_ns: u64,
    told: bool,
}

impl Shared {
    fn tell(&self, instance: &Instance, held: &Held, now_ns: u64, cpu_ns: u64, state: &str) {
        let kept_ns = now_ns.saturating_sub(held.since_ns);
        let text = held.session.and_then(|session| instance.text_of_session(session));
        // What names a password is not for the log.
        let text = text.filter(|text| !text.to_ascii_lowercase().contains("password"));
        let text = text.unwrap_or_default();
        warn!(
            scheduler = held.scheduler,
            session = held.session.unwrap_or(0),
            task = %held.task,
            milliseconds = kept_ns / 1_000_000,
            cpu_milliseconds = cpu_ns / 1_000_000,
            thread = state,
            text = &text[..stdx::floor_char_boundary(&text, SHOWN)],
            "a task does not let others go first"
        );
        let mut records = self.records.lock();
        if records.len() == KEPT {
            records.pop_front();
        }
        records.push_back(NonYielding {
            at_ns: now_ns,
            scheduler: held.scheduler,
            thread_id: held.thread_id,
            task: held.task.clone(),
            session: held.session,
            kept_ns,
            cpu_ns,
        });
    }
}

/// CPU time of a thread, where the system tells; else 0.
fn cpu_ns(thread: u64) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/self/task/{thread}/schedstat"));
    text.unwrap_or_default().split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0)
}

/// Whether it runs, or in what call of the system it is: R, S, D and the call's number and arguments.
fn thread_state(thread: u64) -> String {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/task/{thread}/{name}"));
    let stat = read("stat").unwrap_or_default();
    let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next()).unwrap_or('?');
    let call = read("syscall").unwrap_or_default();
    format!("{state} {}", call.split(' ').next().unwrap_or_default().trim())
}
