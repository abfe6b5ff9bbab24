//! Waiting for several operations at once, for a page being read by another, and for one's turn.

use crate::PageId;
use device::{File, IoDone, Op};
use parking_lot::Mutex;
use runtime::spin::SpinLock;
use runtime::task::{self, Waker};
use std::cell::UnsafeCell;
use std::collections::VecDeque;
use std::io;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use telemetry::{SpinClass, WaitType};

/// Operations started together, awaited together.
pub(crate) struct Group {
    done: Arc<GroupDone>,
}

struct GroupDone {
    pending: AtomicUsize,
    waker: Waker,
    failed: Mutex<Option<io::Error>>,
}

impl IoDone for GroupDone {
    fn complete(&self, r: io::Result<usize>, _submitted_ns: u64, _completed_ns: u64) {
        if let Err(e) = r {
            self.failed.lock().get_or_insert(e);
        }
        // AcqRel: the waiter that sees zero sees every error.
        if self.pending.fetch_sub(1, AcqRel) == 1 {
            self.waker.wake();
        }
    }
}

impl Group {
    pub(crate) fn new() -> Group {
        let waker = task::current_waker();
        // One pending for the submitter itself, so that zero means "all submitted and all done".
        let done = GroupDone { pending: AtomicUsize::new(1), waker, failed: Mutex::new(None) };
        Group { done: Arc::new(done) }
    }

    /// Starts a write of `bytes`.
    ///
    /// # Safety
    /// `bytes` stays valid and unchanged until [`Group::wait`] returns, and the group is waited for.
    pub(crate) unsafe fn write(&self, file: &dyn File, offset: u64, bytes: &[u8], durable: bool) {
        self.done.pending.fetch_add(1, AcqRel);
        let op = if durable { Op::WriteDurable } else { Op::Write };
        let ptr = bytes.as_ptr().cast_mut();
        // SAFETY: passed on to the caller.
        unsafe { file.submit(op, offset, ptr, bytes.len(), self.done.clone()) };
    }

    /// Starts a read into `bytes`. One that ends before, at the end of the file, leaves the rest as it is.
    ///
    /// # Safety
    /// `bytes` stays valid and untouched by others until [`Group::wait`] returns, and the group is waited for.
    pub(crate) unsafe fn read(&self, file: &dyn File, offset: u64, bytes: *mut [u8]) {
        self.done.pending.fetch_add(1, AcqRel);
        // SAFETY: passed on to the caller.
        unsafe {
            file.submit(Op::Read, offset, bytes.cast::<u8>(), bytes.len(), self.done.clone())
        };
    }

    /// Starts a sync.
    pub(crate) fn sync(&self, file: &dyn File) {
        self.done.pending.fetch_add(1, AcqRel);
        // SAFETY: a sync touches no memory.
        unsafe { file.submit(Op::Sync, 0, std::ptr::null_mut(), 0, self.done.clone()) };
    }

    /// Waits for all; the first error, if any.
    pub(crate) fn wait(self, wait: WaitType) -> io::Result<()> {
        self.done.pending.fetch_sub(1, AcqRel);
        while self.done.pending.load(Acquire) != 0 {
            task::park(wait, None);
        }
        match self.done.failed.lock().take() {
            Some(e) => Err(e),
            None => Ok(()),
        }
    }
}

type Shard = SpinLock<Vec<(PageId, Waker)>>;

/// Tasks waiting for pages that others read in, in shards by page.
pub(crate) struct LoadWaiters {
    shards: Box<[Shard]>,
}

const SHARDS: usize = 64;

impl LoadWaiters {
    pub(crate) fn new() -> LoadWaiters {
        let shard = || SpinLock::new(SpinClass::BufHash, Vec::new());
        LoadWaiters { shards: (0..SHARDS).map(|_| shard()).collect() }
    }

    fn shard(&self, page: PageId) -> &Shard {
        &self.shards[stdx::mix64(page.0) as usize % SHARDS]
    }

    /// Waits until `loading` is false.
    pub(crate) fn wait(&self, page: PageId, loading: impl Fn() -> bool, wait: WaitType) {
        while loading() {
            let waker = task::current_waker();
            {
                let mut shard = self.shard(page).lock();
                // Looked at again under the lock: whoever ends the loading takes it afterwards.
                if !loading() {
                    return;
                }
                shard.push((page, waker.clone()));
            }
            task::park(wait, None);
            // After a wake for no reason the entry is still there.
            self.shard(page).lock().retain(|(p, w)| *p != page || !w.will_wake(&waker));
        }
    }

    /// Wakes all that wait for `page`. Called after the LOADING bit is gone.
    pub(crate) fn wake(&self, page: PageId) {
        let mut wakers = Vec::new();
        self.shard(page).lock().retain(|(p, w)| {
            let theirs = *p == page;
            if theirs {
                wakers.push(w.clone());
            }
            !theirs
        });
        wakers.iter().for_each(Waker::wake);
    }
}

/// A mutex whose waiters suspend, and whose holder may.
pub struct TaskMutex<T> {
    state: SpinLock<Turns>,
    value: UnsafeCell<T>,
}

struct Turns {
    held: bool,
    waiters: VecDeque<Waker>,
}

// SAFETY: `&mut T` goes to one holder at a time, so sharing needs only `T: Send`.
unsafe impl<T: Send> Sync for TaskMutex<T> {}

/// Lets the next one in when dropped.
pub struct TaskGuard<'a, T>(&'a TaskMutex<T>);

impl<T> TaskMutex<T> {
    /// One around `value`.
    pub fn new(value: T) -> TaskMutex<T> {
        let state = Turns { held: false, waiters: VecDeque::new() };
        TaskMutex { state: SpinLock::new(SpinClass::DpList, state), value: UnsafeCell::new(value) }
    }

    /// Waits for one's turn, as `wait`.
    pub fn lock(&self, wait: WaitType) -> TaskGuard<'_, T> {
        loop {
            {
                let mut s = self.state.lock();
                if !s.held {
                    s.held = true;
                    return TaskGuard(self);
                }
                let waker = task::current_waker();
                if !s.waiters.iter().any(|w| w.will_wake(&waker)) {
                    s.waiters.push_back(waker);
                }
            }
            task::park(wait, None);
        }
    }
}

impl<T> TaskMutex<T> {
    /// Takes the lock if nobody has it.
    pub fn try_lock(&self) -> Option<TaskGuard<'_, T>> {
        let mut s = self.state.lock();
        if s.held {
            return None;
        }
        s.held = true;
        Some(TaskGuard(self))
    }
}

impl<T> Drop for TaskGuard<'_, T> {
    fn drop(&mut self) {
        // All are woken, since a waiter may have been woken for no reason and be gone: rare, and short.
        let waiters = {
            let mut s = self.0.state.lock();
            s.held = false;
            std::mem::take(&mut s.waiters)
        };
        waiters.iter().for_each(Waker::wake);
    }
}

impl<T> Deref for TaskGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the guard is the one holder.
        unsafe { &*self.0.value.get() }
    }
}

impl<T> DerefMut for TaskGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: as above.
        unsafe { &mut *self.0.value.get() }
    }
}
