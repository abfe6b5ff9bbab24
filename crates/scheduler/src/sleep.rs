//! Where an idle scheduler sleeps: in its reactor, or, when it watches for all, in a set around it.
//!
//! Two epoll sets. The inner one is the reactor's: the scheduler's sockets, and its own eventfd. The outer one holds
//! the inner one and the pollers' descriptors. Of all sleeping schedulers only the last uses the outer (see `run`), so
//! a finished write wakes one thread and not all, while a socket's news wake its own scheduler and nobody else.
//!
//! The pollers' descriptors and the eventfd are edge-triggered: nobody drains them, and an edge that came while nobody
//! slept costs one early return later. The inner set is level-triggered in the outer one: it is ready exactly while the
//! reactor has something to tell.

use runtime::net::{Epoll, Reactor};
use runtime::task::Pollers;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;

/// In the outer set: a poller's descriptor, and the inner set.
const POLLER: u64 = 0;
const INNER: u64 = 1;

/// No error of an eventfd is known to pass by itself (eventfd(2)); a sandbox or a tracer may make one that does.
const WAKE_ATTEMPTS: usize = 16;

pub(crate) struct Sleeper {
    event: OwnedFd,
    reactor: Arc<Reactor>,
    outer: Epoll,
}

impl Sleeper {
    pub fn new(reactor: Arc<Reactor>) -> io::Result<Sleeper> {
        // SAFETY: a plain system call that returns a fresh descriptor or -1.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
        let event = unsafe { OwnedFd::from_raw_fd(event) };
        let outer = Epoll::new()?;
        reactor.wake_by(event.as_raw_fd())?;
        if let Some(inner) = reactor.fd() {
            outer.add(inner, libc::EPOLLIN as u32, INNER)?;
        }
        Ok(Sleeper { event, reactor, outer })
    }

    /// Ends the owner's sleep. From any thread. A wake is never lost: what fails is tried again, and a process in which
    /// it goes on failing ends, for its sleepers would sleep for ever.
    pub fn wake(&self) {
        let one = 1u64;
        for _ in 0..WAKE_ATTEMPTS {
            // SAFETY: writes the 8 bytes of `one`.
            let written =
                unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
            // EAGAIN means 2^64 - 1 wakes that nobody has read: the sleeper has an edge already.
            if written == 8 || io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock {
                return;
            }
        }
        eprintln!("a scheduler cannot be woken: {}", io::Error::last_os_error());
        std::process::abort();
    }

    /// The set of pollers has changed. `watched` are the descriptors of the last call. False when the kernel has refused
    /// one (it may lack memory): then nobody may sleep for long, for that poller's news would wake nobody.
    pub fn watch(&self, pollers: &Pollers, watched: &mut Vec<RawFd>) -> bool {
        for fd in watched.drain(..) {
            // It may be closed already, which has removed it.
            let _ = self.outer.remove(fd);
        }
        let mut all = true;
        for fd in pollers.iter().filter_map(|p| p.wake_fd()) {
            match self.outer.add(fd, (libc::EPOLLIN | libc::EPOLLET) as u32, POLLER) {
                Ok(()) => watched.push(fd),
                // It could not be removed above.
                Err(error) if error.raw_os_error() == Some(libc::EEXIST) => watched.push(fd),
                Err(_) => all = false,
            }
        }
        all
    }

    /// Sleeps until woken, until a socket or (when `watching`) a poller has news, or for `ns`. Tells the sockets' news.
    pub fn sleep(&self, watching: bool, ns: Option<u64>) {
        if !watching {
            self.reactor.wait(ns);
        } else if self.outer.sleep(ns, INNER) {
            self.reactor.poll();
        }
    }
}
