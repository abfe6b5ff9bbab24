//! A mutex that may be held while suspended: for long, rare things such as a checkpoint.

use parking_lot::Mutex;
use runtime::task::{self, Waker};
use telemetry::WaitType;

#[derive(Default)]
struct State {
    held: bool,
    waiters: Vec<Waker>,
}

/// Not fair, not fast; never blocks an OS thread that has other tasks.
#[derive(Default)]
pub(crate) struct TaskMutex {
    state: Mutex<State>,
}

pub(crate) struct TaskGuard<'a>(&'a TaskMutex);

impl TaskMutex {
    pub(crate) fn lock(&self, wait: WaitType) -> TaskGuard<'_> {
        loop {
            if let Some(guard) = self.try_lock() {
                return guard;
            }
            {
                let mut state = self.state.lock();
                if state.held {
                    state.waiters.push(task::current_waker());
                } else {
                    continue;
                }
            }
            task::park(wait, None);
        }
    }

    pub(crate) fn try_lock(&self) -> Option<TaskGuard<'_>> {
        let mut state = self.state.lock();
        (!std::mem::replace(&mut state.held, true)).then_some(TaskGuard(self))
    }
}

impl Drop for TaskGuard<'_> {
    fn drop(&mut self) {
        let waiters = {
            let mut state = self.0.state.lock();
            state.held = false;
            std::mem::take(&mut state.waiters)
        };
        waiters.iter().for_each(Waker::wake);
    }
}
