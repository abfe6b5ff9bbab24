//! The classic form of suspending: one queue of all suspended tasks, behind the spinlock SOS_SUSPEND_QUEUE.
//!
//! By default a task that waits is known to whoever wakes it, and to nobody else. In the classic form, chosen for the whole
//! process while it runs, each task enters one queue when it suspends and leaves it when it runs again.
//!
//! Promise: who has entered leaves, also when the form was changed meanwhile; where it is not chosen a task pays one look at
//! a word that nobody writes.

use runtime::spin::SpinLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::SpinClass;

static SHARED: AtomicBool = AtomicBool::new(false);

static QUEUE: SpinLock<Queue> =
    SpinLock::new(SpinClass::SosSuspendQueue, Queue { places: Vec::new(), free: Vec::new() });

/// Who is suspended: scheduler and task, each at a place of its own.
struct Queue {
    places: Vec<Option<(u32, u32)>>,
    free: Vec<u32>,
}

impl Queue {
    fn enter(&mut self, who: (u32, u32)) -> u32 {
        if let Some(place) = self.free.pop() {
            self.places[place as usize] = Some(who);
            return place;
        }
        self.places.push(Some(who));
        self.places.len() as u32 - 1
    }

    fn leave(&mut self, place: u32) -> Option<(u32, u32)> {
        self.free.push(place);
        self.places[place as usize].take()
    }
}

/// Whether all tasks of the process wait in one queue.
pub fn share_suspend_queue(shared: bool) {
    SHARED.store(shared, Relaxed);
}

/// How many tasks are in the queue.
#[cfg(test)]
pub(crate) fn suspended_in_queue() -> usize {
    let queue = QUEUE.lock();
    queue.places.len() - queue.free.len()
}

/// A place in the queue.
pub(crate) struct Entered(u32);

/// Task `index` of a scheduler suspends.
#[inline]
pub(crate) fn enter(scheduler: usize, index: u32) -> Option<Entered> {
    SHARED.load(Relaxed).then(|| enter_shared(scheduler, index))
}

#[cold]
fn enter_shared(scheduler: usize, index: u32) -> Entered {
    Entered(QUEUE.lock().enter((scheduler as u32, index)))
}

/// It runs again.
#[inline]
pub(crate) fn leave(entered: Option<Entered>, index: u32) {
    if let Some(Entered(place)) = entered {
        let left = QUEUE.lock().leave(place);
        debug_assert_eq!(left.map(|(_, task)| task), Some(index));
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;

    #[test]
    fn places_are_used_again_and_name_who_is_there() {
        let mut queue = Queue { places: Vec::new(), free: Vec::new() };
        let (a, b) = (queue.enter((0, 7)), queue.enter((1, 7)));
        assert_eq!(queue.leave(a), Some((0, 7)));
        let c = queue.enter((0, 9));
        assert_eq!((a, queue.places.len()), (c, 2));
        assert_eq!((queue.leave(b), queue.leave(c)), (Some((1, 7)), Some((0, 9))));
        assert_eq!(queue.free.len(), 2);
    }
}
