//! Where an idle scheduler sleeps: in its reactor, or, when it watches for all, in a set around it.
//!
//! Two epoll sets. The inner one is the reactor's: the scheduler's sockets, and its own eventfd. The outer one holds
//! the inner one and the pollers' descriptors. Of all sleeping schedulers only the last uses the outer (see `run`), so
//! a finished write wakes one thread and not all, while a socket's news wake its own scheduler and nobody else.
//!
//! The pollers' descriptors and the eventfd are edge-triggered: nobody drains them, and an edge that came while nobody
//! slept costs one early return later. The inner set is level-triggered in the outer one: it is ready exactly while the
//! reactor has something to tell.

use runtime::net::Reactor;
use runtime::task::Pollers;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

pub(crate) struct Sleeper {
    event: OwnedFd,
    reactor: Arc<Reactor>,
    outer: OwnedFd,
}

fn own(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

fn control(epoll: &OwnedFd, op: i32, fd: RawFd, events: i32) -> io::Result<()> {
    let mut event = libc::epoll_event { events: events as u32, u64: 0 };
    // SAFETY: `event` is a valid epoll_event for the time of the call.
    match unsafe { libc::epoll_ctl(epoll.as_raw_fd(), op, fd, &mut event) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

impl Sleeper {
    pub fn new(reactor: Arc<Reactor>) -> io::Result<Sleeper> {
        // SAFETY: plain system calls that return a fresh descriptor or -1.
        let (event, outer) = unsafe {
            (
                own(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK))?,
                own(libc::epoll_create1(libc::EPOLL_CLOEXEC))?,
            )
        };
        reactor.wake_by(event.as_raw_fd())?;
        if let Some(inner) = reactor.fd() {
            control(&outer, libc::EPOLL_CTL_ADD, inner, libc::EPOLLIN)?;
        }
        Ok(Sleeper { event, reactor, outer })
    }

    /// Ends the owner's sleep. From any thread.
    pub fn wake(&self) {
        let one = 1u64;
        // SAFETY: writes the 8 bytes of `one`. EAGAIN would mean 2^64 - 1 unread wakes.
        unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// The set of pollers has changed. `watched` are the descriptors of the last call.
    pub fn watch(&self, pollers: &Pollers, watched: &mut Vec<RawFd>) {
        for fd in watched.drain(..) {
            // It may be closed already, which has removed it.
            let _ = control(&self.outer, libc::EPOLL_CTL_DEL, fd, 0);
        }
        for fd in pollers.iter().filter_map(|p| p.wake_fd()) {
            if control(&self.outer, libc::EPOLL_CTL_ADD, fd, libc::EPOLLIN | libc::EPOLLET).is_ok()
            {
                watched.push(fd);
            }
        }
    }

    /// Sleeps until woken, until a socket or (when `watching`) a poller has news, or for `ns`. Tells the sockets' news.
    pub fn sleep(&self, watching: bool, ns: Option<u64>) {
        if watching {
            wait(self.outer.as_raw_fd(), ns);
            self.reactor.poll();
        } else {
            self.reactor.wait(ns);
        }
    }
}

/// The kernel (before 5.11) has no epoll_pwait2.
static NO_PWAIT2: AtomicBool = AtomicBool::new(false);

fn wait(epoll: RawFd, ns: Option<u64>) {
    let mut events = [libc::epoll_event { events: 0, u64: 0 }; 8];
    if !NO_PWAIT2.load(Relaxed) {
        let ts = ns.map(|ns| libc::timespec {
            tv_sec: (ns / 1_000_000_000) as i64,
            tv_nsec: (ns % 1_000_000_000) as i64,
        });
        let ts: *const libc::timespec = ts.as_ref().map_or(std::ptr::null(), |ts| ts);
        // SAFETY: `events` holds 8 entries, `ts` is null or a valid timespec, and the signal mask is null.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_epoll_pwait2,
                epoll,
                events.as_mut_ptr(),
                8,
                ts,
                std::ptr::null::<libc::sigset_t>(),
                0,
            )
        };
        if rc >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
            return;
        }
        NO_PWAIT2.store(true, Relaxed);
    }
    let ms = ns.map_or(-1, |ns| ns.div_ceil(1_000_000).min(i32::MAX as u64) as i32);
    // SAFETY: `events` holds 8 entries.
    unsafe { libc::epoll_wait(epoll, events.as_mut_ptr(), 8, ms) };
}
