//! Threads for work that neither waits nor breathes, so that no scheduler does it.
//!
//! Promises: at most so many at a time and at most [`QUEUE_MAX`] waiting; a thread starts when there is work and ends
//! after [`IDLE`] without any, so an idle server has none; the asking task parks. What the work makes lies on the memory node
//! of who asks. In a simulated world, which is one thread, and where the task may not suspend, the work is done on the spot.

use crate::task::{self, Waker};
use crate::{clock, numa, sim, threads};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use telemetry::WaitType;

/// Jobs that may wait.
const QUEUE_MAX: usize = 512;
/// How long a thread stays without work.
const IDLE: Duration = Duration::from_secs(5);
/// How often a waiting task looks whether its request is to stop, for who sets the flag and wakes nobody.
const LOOK_NS: u64 = 100_000_000;

type Work = Box<dyn FnOnce() + Send>;

/// A bounded pool.
pub struct Workers {
    shared: Arc<Shared>,
    name: &'static str,
    threads_max: usize,
    wait: WaitType,
}

/// What became of work.
pub enum Outcome<T> {
    Done(T),
    /// The request is to stop; the work goes on, and what it makes is thrown away.
    Stopped,
    /// Too much waits already.
    Busy,
}

struct Shared {
    queue: Mutex<Queue>,
    /// Signalled when work comes.
    work: Condvar,
}

#[derive(Default)]
struct Queue {
    jobs: VecDeque<Work>,
    threads: usize,
    idle: usize,
}

/// Where a result is put, and who waits for it.
struct Slot<T> {
    result: Mutex<Option<std::thread::Result<T>>>,
    waker: Waker,
}

impl Workers {
    /// Threads of that name (15 bytes are shown), whose work tasks wait for under `wait`.
    pub fn new(name: &'static str, threads_max: usize, wait: WaitType) -> Workers {
        let shared = Shared { queue: Mutex::default(), work: Condvar::new() };
        Workers { shared: Arc::new(shared), name, threads_max: threads_max.max(1), wait }
    }

    /// Runs `work` on a thread of the pool; `None` when too much waits already. Suspends.
    pub fn run<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
        match self.wait_for(work, None) {
            Outcome::Done(made) => Some(made),
            Outcome::Stopped | Outcome::Busy => None,
        }
    }

    /// The same, unless the request that asks is to stop before it is done. Suspends.
    pub fn run_unless_stopped<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Outcome<T> {
        self.wait_for(work, Some(LOOK_NS))
    }

    fn wait_for<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
        look_ns: Option<u64>,
    ) -> Outcome<T> {
        if sim::active() || !task::may_suspend() {
            return Outcome::Done(work());
        }
        let slot = Arc::new(Slot { result: Mutex::new(None), waker: task::current_waker() });
        let theirs = slot.clone();
        let seat = numa::seat();
        let job: Work = Box::new(move || {
            // Refused, it lies where the thread is: slower, not wrong.
            let _ = numa::sit(seat);
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            *theirs.result.lock() = Some(result);
            theirs.waker.wake();
        });
        if !self.push(job) {
            return Outcome::Busy;
        }
        loop {
            let result = slot.result.lock().take();
            match result {
                Some(Ok(value)) => return Outcome::Done(value),
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None if look_ns.is_some() && task::is_stopped() => return Outcome::Stopped,
                None => {
                    task::park(self.wait, look_ns.map(|ns| clock::now_ns() + ns));
                }
            }
        }
    }

    fn push(&self, job: Work) -> bool {
        let mut queue = self.shared.queue.lock();
        if queue.jobs.len() >= QUEUE_MAX {
            return false;
        }
        if queue.idle <= queue.jobs.len() && queue.threads < self.threads_max {
            let shared = self.shared.clone();
            match threads::spawn(self.name, move || shared.serve()) {
                Ok(_) => queue.threads += 1,
                // With another thread there the work waits; without one it is refused.
                Err(_) if queue.threads == 0 => return false,
                Err(_) => {}
            }
        }
        queue.jobs.push_back(job);
        drop(queue);
        self.shared.work.notify_one();
        true
    }
}

impl Shared {
    fn serve(&self) {
        // Not only where the scheduler is bound to that has begun it. Refused is slower, not wrong.
        let _ = threads::pin_current_to(threads::process_affinity());
        let mut queue = self.queue.lock();
        loop {
            if let Some(job) = queue.jobs.pop_front() {
                drop(queue);
                job();
                queue = self.queue.lock();
                continue;
            }
            queue.idle += 1;
            let late = self.work.wait_for(&mut queue, IDLE).timed_out();
            queue.idle -= 1;
            if late && queue.jobs.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_than_so_many_at_a_time_and_every_one_answers() {
        let workers = Arc::new(Workers::new("test", 2, WaitType::Misc));
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let callers: Vec<_> = (0..16)
            .map(|i| {
                let (workers, now, most) = (workers.clone(), now.clone(), most.clone());
                std::thread::spawn(move || {
                    workers.run(move || {
                        most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        std::thread::sleep(Duration::from_millis(2));
                        now.fetch_sub(1, Ordering::SeqCst);
                        i
                    })
                })
            })
            .collect();
        for (i, caller) in callers.into_iter().enumerate() {
            assert_eq!(caller.join().unwrap(), Some(i));
        }
        assert!(most.load(Ordering::SeqCst) <= 2);
    }

    #[test]
    fn work_is_done_at_the_place_of_who_asks() {
        let workers = Workers::new("test", 1, WaitType::Misc);
        // The one thread is begun from the first.
        for node in [3, 5] {
            let place = numa::Place { node, memory: node };
            numa::set_place(place);
            assert_eq!(workers.run(numa::place), Some(place));
        }
        numa::set_place(numa::Place::default());
    }

    #[test]
    fn a_full_queue_refuses() {
        let workers = Workers::new("test", 1, WaitType::Misc);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        assert!(workers.push(Box::new(move || gate.recv().unwrap_or(()))));
        // One may have been taken up already.
        let taken = (0..QUEUE_MAX + 5).filter(|_| workers.push(Box::new(|| ()))).count();
        assert!((QUEUE_MAX - 1..=QUEUE_MAX).contains(&taken), "{taken}");
        go.send(()).unwrap();
    }
}
