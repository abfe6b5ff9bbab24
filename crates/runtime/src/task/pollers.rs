//! Pollers: things that make progress when someone looks, such as a completion queue.
//!
//! Real pollers are global; the pollers of a simulated world belong to its thread. Readers hold a
//! snapshot and renew it when [`VERSION`] has moved, so a turn of a scheduler takes no lock. A poller
//! may therefore be polled for a short while after it was unregistered.
//!
//! A poller with a [`Bell`] is polled in each turn only while that is rung; while it is hushed, each reader glances at it
//! every [`GLANCE_NS`]. In a simulated world, which has few, all are polled always.

use super::Wake;
use super::bell::{self, Bell};
use crate::{clock, sim};
use parking_lot::Mutex;
use std::cell::RefCell;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};

/// Makes progress when polled. Polled from many threads; must not suspend, and returns fast.
pub trait Poller: Send + Sync {
    /// Does what can be done now; the amount of work done (0: nothing to do).
    fn poll(&self) -> usize;

    /// A descriptor that becomes readable when polling is worth while. An edge per event is enough.
    fn wake_fd(&self) -> Option<RawFd> {
        None
    }

    /// Whether something is in flight that polling will find soon. A scheduler whose tasks wait for
    /// the device spins a little longer then.
    fn busy(&self) -> bool {
        false
    }

    /// Rung while polling it in each turn is worth while; none: it always is.
    fn bell(&self) -> Option<&Bell> {
        None
    }

    /// When this poller next wants a poll by the clock. Sleepers do not sleep past it. (A sleeping
    /// scheduler looks at a poller without a descriptor every few milliseconds anyway.)
    fn next_ns(&self) -> Option<u64> {
        None
    }
}

/// Names a registered poller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PollerId(u64);

/// A hushed poller is polled so often.
const GLANCE_NS: u64 = 3_000_000;

type List = Arc<Vec<(PollerId, Arc<dyn Poller>)>>;

static VERSION: AtomicU64 = AtomicU64::new(1);
static NEXT_ID: AtomicU64 = AtomicU64::new(1);
static GLOBAL: Mutex<Option<List>> = Mutex::new(None);
/// Scheduler loops alive. While there are any, plain threads leave polling to them.
static DRIVERS: AtomicUsize = AtomicUsize::new(0);
static DRIVER_WAKERS: Mutex<Vec<Arc<dyn Wake>>> = Mutex::new(Vec::new());

thread_local! {
    static SIMULATED: RefCell<List> = RefCell::new(Arc::new(Vec::new()));
}

fn edit(change: impl FnOnce(&mut Vec<(PollerId, Arc<dyn Poller>)>)) {
    if sim::active() {
        SIMULATED.with_borrow_mut(|list| change(Arc::make_mut(list)));
    } else {
        change(Arc::make_mut(GLOBAL.lock().get_or_insert_default()));
    }
    VERSION.fetch_add(1, Release);
    // A sleeping scheduler must learn of the change, or nobody would poll the newcomer.
    if !sim::active() {
        wake_drivers();
    }
}

/// From now on `poller` is polled (see the module's promise 3).
pub fn register_poller(poller: Arc<dyn Poller>) -> PollerId {
    let id = PollerId(NEXT_ID.fetch_add(1, Relaxed));
    edit(|list| list.push((id, poller)));
    id
}

/// Ends it; polls under way may still finish.
pub fn unregister_poller(id: PollerId) {
    let mut gone = None;
    edit(|list| {
        if let Some(at) = list.iter().position(|(i, _)| *i == id) {
            gone = Some(list.remove(at));
        }
    });
    // Dropped outside the lock: a poller's drop may unregister others.
    drop(gone);
}

pub(crate) fn forget_sim_pollers() {
    let list = SIMULATED.with_borrow_mut(std::mem::take);
    drop(list);
    VERSION.fetch_add(1, Release);
}

/// A reader's snapshot of the pollers.
#[derive(Default)]
pub struct Pollers {
    version: u64,
    simulated: bool,
    list: List,
    /// Indices in `list` of those without a bell.
    eager: Vec<usize>,
    /// Indices in `list` by the bell's place.
    belled: Vec<Option<usize>>,
    glanced_ns: u64,
}

impl Pollers {
    pub fn new() -> Self {
        Self::default()
    }

    /// The pollers of the moment, and whether they differ from those of the last call.
    pub fn refresh(&mut self) -> bool {
        let version = VERSION.load(Acquire);
        if version == self.version && self.simulated == sim::active() {
            return false;
        }
        self.version = version;
        self.simulated = sim::active();
        self.list = if self.simulated {
            SIMULATED.with_borrow(|list| list.clone())
        } else {
            GLOBAL.lock().clone().unwrap_or_default()
        };
        self.eager.clear();
        self.belled.clear();
        self.glanced_ns = 0;
        for (at, (_, poller)) in self.list.iter().enumerate() {
            let place = poller.bell().and_then(Bell::place);
            match place.filter(|_| !self.simulated) {
                Some(place) => {
                    // Whole words.
                    let len = self.belled.len().max((place / 64 + 1) * 64);
                    self.belled.resize(len, None);
                    self.belled[place] = Some(at);
                }
                None => self.eager.push(at),
            }
        }
        true
    }

    /// Polls each that wants it; the work done.
    #[inline]
    pub fn poll(&mut self) -> usize {
        self.refresh();
        self.poll_known()
    }

    /// As [`Self::poll`], over the snapshot as it is.
    #[inline]
    pub fn poll_known(&mut self) -> usize {
        if !self.belled.is_empty() {
            let now = clock::now_ns();
            if now.saturating_sub(self.glanced_ns) >= GLANCE_NS {
                self.glanced_ns = now;
                return self.list.iter().map(|(_, poller)| poller.poll()).sum();
            }
        }
        self.awake().map(|poller| poller.poll()).sum()
    }

    /// Those without a bell, and those whose bell is rung.
    fn awake(&self) -> impl Iterator<Item = &Arc<dyn Poller>> {
        let rung = self.belled.chunks(64).enumerate().flat_map(|(at, pollers)| {
            let mut bits = bell::word(at);
            std::iter::from_fn(move || {
                let bit = bits.trailing_zeros() as usize;
                // A shift by 64 would be none; without a bit there is nothing to clear either.
                bits &= bits.wrapping_sub(1);
                pollers.get(bit)
            })
        });
        let all = self.eager.iter().copied().chain(rung.flatten().copied());
        all.map(|at| &self.list[at].1)
    }

    pub fn iter(&self) -> impl Iterator<Item = &Arc<dyn Poller>> {
        self.list.iter().map(|(_, poller)| poller)
    }

    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether any has something in flight.
    pub fn busy(&self) -> bool {
        self.awake().any(|p| p.busy())
    }

    /// The earliest moment that a poller asks for; one that is hushed asks for none.
    pub fn next_ns(&self) -> Option<u64> {
        self.awake().filter_map(|p| p.next_ns()).min()
    }
}

/// Polls every poller once; the work done.
pub fn poll_all() -> usize {
    thread_local! {
        static MINE: RefCell<Pollers> = RefCell::new(Pollers::new());
    }
    // Polling from within a poll is no progress.
    MINE.with(|mine| mine.try_borrow_mut().map_or(0, |mut pollers| pollers.poll()))
}

/// While one lives, its scheduler loop polls, and plain threads need not.
#[must_use]
pub struct DriverGuard(Arc<dyn Wake>);

/// Announces a scheduler loop; `waker` gets it out of its sleep when the set of pollers changes.
pub fn driver_guard(waker: Arc<dyn Wake>) -> DriverGuard {
    DRIVER_WAKERS.lock().push(waker.clone());
    DRIVERS.fetch_add(1, SeqCst);
    DriverGuard(waker)
}

impl Drop for DriverGuard {
    fn drop(&mut self) {
        DRIVERS.fetch_sub(1, SeqCst);
        DRIVER_WAKERS.lock().retain(|w| !Arc::ptr_eq(w, &self.0));
        // One of the others must now watch for those that sleep.
        wake_drivers();
    }
}

fn wake_drivers() {
    for waker in DRIVER_WAKERS.lock().iter() {
        waker.wake();
    }
}

pub(crate) fn driven() -> bool {
    DRIVERS.load(SeqCst) > 0
}
