//! Threads that hash, so that no scheduler does.
//!
//! Promises: at most `threads` hashes at a time and at most [`QUEUE_MAX`] waiting; a thread starts when there is work
//! and ends after [`IDLE`] without any, so an idle server has none; the asking task parks. In a simulated world, which
//! is one thread, the work is done on the spot.

use parking_lot::{Condvar, Mutex};
use runtime::task::{self, Waker};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;
use telemetry::WaitType;

/// Jobs that may wait.
const QUEUE_MAX: usize = 512;
/// How long a thread stays without work.
const IDLE: Duration = Duration::from_secs(5);

type Work = Box<dyn FnOnce() + Send>;

/// A bounded pool.
pub(crate) struct Workers {
    shared: Arc<Shared>,
    threads_max: usize,
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
    pub(crate) fn new(threads_max: usize) -> Workers {
        let shared = Shared { queue: Mutex::default(), work: Condvar::new() };
        Workers { shared: Arc::new(shared), threads_max: threads_max.max(1) }
    }

    /// Runs `work` on a thread of the pool; `None` when too much waits already. Suspends.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Option<T> {
        if runtime::sim::active() {
            return Some(work());
        }
        let slot = Arc::new(Slot { result: Mutex::new(None), waker: task::current_waker() });
        let theirs = slot.clone();
        let job: Work = Box::new(move || {
            let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
            *theirs.result.lock() = Some(result);
            theirs.waker.wake();
        });
        if !self.push(job) {
            return None;
        }
        loop {
            let result = slot.result.lock().take();
            match result {
                Some(Ok(value)) => return Some(value),
                Some(Err(panic)) => std::panic::resume_unwind(panic),
                None => {
                    task::park(WaitType::PreemptiveOsCryptOps, None);
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
            match runtime::threads::spawn("password-hash", move || shared.serve()) {
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
        let workers = Arc::new(Workers::new(2));
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
    fn a_full_queue_refuses() {
        let workers = Workers::new(1);
        let (go, gate) = std::sync::mpsc::channel::<()>();
        assert!(workers.push(Box::new(move || gate.recv().unwrap_or(()))));
        // One may have been taken up already.
        let taken = (0..QUEUE_MAX + 5).filter(|_| workers.push(Box::new(|| ()))).count();
        assert!((QUEUE_MAX - 1..=QUEUE_MAX).contains(&taken), "{taken}");
        go.send(()).unwrap();
    }
}
