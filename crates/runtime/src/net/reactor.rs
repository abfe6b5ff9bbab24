//! A reactor: the sources of one scheduler, and the one place where they are told.
//!
//! Invariants: a token names one registration for ever (its generation goes up when its place is used
//! again), so an event for what has gone is dropped; no lock is held while a source is told.

use super::epoll::{Epoll, Events, no_events};
use super::simulated;
use crate::sim;
use parking_lot::Mutex;
use std::cell::RefCell;
use std::io;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};

/// What has changed at a socket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ready {
    /// There may be bytes, or the end of them.
    pub readable: bool,
    /// There may be room.
    pub writable: bool,
    /// The other side has closed, or the connection is broken. What came before can still be read.
    pub closed: bool,
}

/// Something that owns a registered socket.
pub trait Source: Send + Sync {
    /// Its socket has changed. Called on the thread that polls the reactor, between two tasks or at a point where the
    /// running one may suspend; must not suspend, and returns fast.
    fn ready(self: Arc<Self>, ready: Ready);
}

/// Names a registration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Token(pub(super) u64);

/// The token of the owner's own wake-up descriptor.
const OWN: u64 = u64::MAX;

#[derive(Default)]
struct Sources {
    places: Vec<(u32, Option<Arc<dyn Source>>)>,
    free: Vec<u32>,
}

enum Kind {
    Kernel(Epoll),
    Simulated(Arc<simulated::Edges>),
}

/// A set of sources that one thread polls. Registering is for any thread.
pub struct Reactor {
    kind: Kind,
    sources: Mutex<Sources>,
    count: AtomicUsize,
}

thread_local! {
    static CURRENT: RefCell<Option<Arc<Reactor>>> = const { RefCell::new(None) };
}

/// The reactor of the scheduler that the caller runs on.
pub fn current() -> Option<Arc<Reactor>> {
    CURRENT.with_borrow(Clone::clone)
}

/// Says which reactor the calling thread polls.
pub fn install(reactor: Option<Arc<Reactor>>) {
    CURRENT.set(reactor);
}

impl Reactor {
    /// An empty one, simulated if the calling thread is.
    pub fn new() -> io::Result<Reactor> {
        let kind = if sim::active() {
            Kind::Simulated(Arc::default())
        } else {
            Kind::Kernel(Epoll::new()?)
        };
        Ok(Reactor { kind, sources: Mutex::default(), count: AtomicUsize::new(0) })
    }

    /// A descriptor that is readable while an event waits to be polled.
    pub fn fd(&self) -> Option<RawFd> {
        match &self.kind {
            Kind::Kernel(epoll) => Some(epoll.fd()),
            Kind::Simulated(_) => None,
        }
    }

    /// Polls and sleeps end, with one piece of work done, when this descriptor becomes readable. It is never read.
    pub fn wake_by(&self, fd: RawFd) -> io::Result<()> {
        match &self.kind {
            Kind::Kernel(epoll) => epoll.add(fd, (libc::EPOLLIN | libc::EPOLLET) as u32, OWN),
            Kind::Simulated(_) => Ok(()),
        }
    }

    /// How many sources are registered.
    #[inline]
    pub fn len(&self) -> usize {
        self.count.load(Relaxed)
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Tells the sources whose sockets have changed; how many there were. Does not wait.
    pub fn poll(&self) -> usize {
        match &self.kind {
            Kind::Kernel(_) => self.wait(Some(0)),
            Kind::Simulated(edges) => {
                let told = edges.take_one();
                told.map_or(0, |(token, ready)| usize::from(self.tell(token, ready)))
            }
        }
    }

    /// As [`Self::poll`], and waits up to `ns` (`None`: for ever) while there is nothing. Not in simulation.
    pub fn wait(&self, ns: Option<u64>) -> usize {
        let Kind::Kernel(epoll) = &self.kind else { return self.poll() };
        let mut events: Events = no_events();
        let n = epoll.wait(&mut events, ns);
        let told = events[..n].iter().filter(|event| {
            let (bits, token) = (event.events, event.u64);
            token == OWN || self.tell(Token(token), from_bits(bits))
        });
        told.count()
    }

    fn tell(&self, Token(token): Token, ready: Ready) -> bool {
        let (generation, at) = ((token >> 32) as u32, token as u32 as usize);
        let source = match self.sources.lock().places.get(at) {
            Some((theirs, Some(source))) if *theirs == generation => source.clone(),
            _ => return false,
        };
        source.ready(ready);
        true
    }

    fn place(&self, source: Arc<dyn Source>) -> Token {
        let mut sources = self.sources.lock();
        self.count.fetch_add(1, Relaxed);
        let at = match sources.free.pop() {
            Some(at) => at,
            None => {
                sources.places.push((0, None));
                sources.places.len() as u32 - 1
            }
        };
        let place = &mut sources.places[at as usize];
        place.1 = Some(source);
        Token((u64::from(place.0) << 32) | u64::from(at))
    }

    /// Registers what can be polled by a descriptor.
    pub(super) fn add_fd(&self, fd: RawFd, source: Arc<dyn Source>) -> io::Result<Token> {
        let Kind::Kernel(epoll) = &self.kind else { return Err(other_world()) };
        let token = self.place(source);
        let events = libc::EPOLLIN | libc::EPOLLOUT | libc::EPOLLRDHUP | libc::EPOLLET;
        if let Err(error) = epoll.add(fd, events as u32, token.0) {
            self.forget(token);
            return Err(error);
        }
        Ok(token)
    }

    pub(super) fn remove_fd(&self, fd: RawFd, token: Token) {
        if let Kind::Kernel(epoll) = &self.kind {
            // It may be closed already, which has removed it.
            let _ = epoll.remove(fd);
        }
        self.forget(token);
    }

    /// Registers an end of a simulated pipe: `watch` leaves the token with it.
    pub(super) fn add_simulated(
        &self,
        source: Arc<dyn Source>,
        watch: impl FnOnce(simulated::Watch),
    ) -> io::Result<Token> {
        let Kind::Simulated(edges) = &self.kind else { return Err(other_world()) };
        let token = self.place(source);
        watch(simulated::Watch { edges: edges.clone(), token });
        Ok(token)
    }

    pub(super) fn forget(&self, Token(token): Token) {
        let (generation, at) = ((token >> 32) as u32, token as u32);
        let mut sources = self.sources.lock();
        let Some(place) = sources.places.get_mut(at as usize) else { return };
        if place.0 != generation {
            return;
        }
        let Some(gone) = place.1.take() else { return };
        place.0 = place.0.wrapping_add(1) & 0x7fff_ffff;
        sources.free.push(at);
        self.count.fetch_sub(1, Relaxed);
        drop(sources);
        // Outside the lock: its drop may register or forget others.
        drop(gone);
    }
}

fn other_world() -> io::Error {
    io::Error::other("a simulated socket and a real reactor, or the other way round")
}

fn from_bits(bits: u32) -> Ready {
    let has = |flags: i32| bits & flags as u32 != 0;
    Ready {
        readable: has(libc::EPOLLIN | libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
        writable: has(libc::EPOLLOUT | libc::EPOLLHUP | libc::EPOLLERR),
        closed: has(libc::EPOLLRDHUP | libc::EPOLLHUP | libc::EPOLLERR),
    }
}
