//! Waiting for a task's end, from a task or from a thread.

use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use telemetry::WaitType;

/// What a task panicked with.
pub type Panic = Box<dyn Any + Send>;

enum State<T> {
    Running(Vec<Waker>),
    Done(Result<T, Panic>),
    Taken,
}

/// Waits for one task. Dropping it lets the task run on.
pub struct JoinHandle<T>(Arc<Mutex<State<T>>>);

impl<T> JoinHandle<T> {
    /// Suspends until the task has ended; `Err` is its panic.
    pub fn join(self) -> Result<T, Panic> {
        loop {
            let mut state = self.0.lock();
            match &mut *state {
                State::Running(wakers) => {
                    let me = task::current_waker();
                    if !wakers.iter().any(|w| w.will_wake(&me)) {
                        wakers.push(me);
                    }
                }
                done => {
                    return match std::mem::replace(done, State::Taken) {
                        State::Done(result) => result,
                        _ => stdx::fatal!("a task was joined twice"),
                    };
                }
            }
            drop(state);
            task::park(WaitType::Misc, None);
        }
    }

    pub fn is_finished(&self) -> bool {
        !matches!(*self.0.lock(), State::Running(_))
    }
}

/// Completes the handle: with the result, or with an error if the task is dropped unrun.
pub(crate) struct Completer<T>(Arc<Mutex<State<T>>>);

pub(crate) fn pair<T>() -> (JoinHandle<T>, Completer<T>) {
    let state = Arc::new(Mutex::new(State::Running(Vec::new())));
    (JoinHandle(state.clone()), Completer(state))
}

impl<T> Completer<T> {
    /// The root of a task: no panic passes it.
    pub fn run(self, f: impl FnOnce() -> T) {
        let result = catch_unwind(AssertUnwindSafe(f));
        self.complete(result);
    }

    fn complete(&self, result: Result<T, Panic>) {
        let mut state = self.0.lock();
        let State::Running(wakers) = &mut *state else { return };
        let wakers = std::mem::take(wakers);
        *state = State::Done(result);
        drop(state);
        wakers.iter().for_each(Waker::wake);
    }
}

impl<T> Drop for Completer<T> {
    fn drop(&mut self) {
        if matches!(*self.0.lock(), State::Running(_)) {
            self.complete(Err(Box::new("the schedulers had stopped")));
        }
    }
}
