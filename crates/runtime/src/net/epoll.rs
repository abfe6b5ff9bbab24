//! The kernel's epoll sets: made, changed, waited for, with nanosecond timeouts where the kernel has them.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Events taken from the kernel at a time.
pub(super) const EVENTS_AT_ONCE: usize = 64;

pub(super) type Events = [libc::epoll_event; EVENTS_AT_ONCE];

pub(super) fn no_events() -> Events {
    [libc::epoll_event { events: 0, u64: 0 }; EVENTS_AT_ONCE]
}

/// One epoll set (epoll(7)).
pub struct Epoll(OwnedFd);

impl Epoll {
    /// An empty one.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: a plain system call that returns a fresh descriptor or -1.
        let fd = unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a descriptor just returned by the kernel, owned by nobody else.
        Ok(Epoll(unsafe { OwnedFd::from_raw_fd(fd) }))
    }

    /// Its own descriptor, readable while an event waits: sets can be nested.
    pub fn fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }

    /// Adds a descriptor with EPOLL* bits; `data` comes back with its events.
    pub fn add(&self, fd: RawFd, events: u32, data: u64) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, events, data)
    }

    /// Takes a descriptor out.
    pub fn remove(&self, fd: RawFd) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, 0)
    }

    fn control(&self, op: i32, fd: RawFd, events: u32, data: u64) -> io::Result<()> {
        let mut event = libc::epoll_event { events, u64: data };
        // SAFETY: `event` is a valid epoll_event for the time of the call.
        match unsafe { libc::epoll_ctl(self.fd(), op, fd, &mut event) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Fills `events`; how many there are. `ns`: 0 does not wait, `None` waits for ever. A signal ends the wait early.
    pub(super) fn wait(&self, events: &mut Events, ns: Option<u64>) -> usize {
        let n = if ns == Some(0) { self.wait_ms(events, 0) } else { self.wait_ns(events, ns) };
        usize::try_from(n).unwrap_or(0)
    }

    /// Waits for any event, or for `ns`; whether one was of a descriptor with this `data`. `None` waits for ever.
    pub fn sleep(&self, ns: Option<u64>, data: u64) -> bool {
        let mut events = no_events();
        let n = self.wait(&mut events, ns);
        events[..n].iter().any(|event| event.u64 == data)
    }

    fn wait_ns(&self, events: &mut Events, ns: Option<u64>) -> i64 {
        /// The kernel (before 5.11) has no epoll_pwait2.
        static NO_PWAIT2: AtomicBool = AtomicBool::new(false);
        if !NO_PWAIT2.load(Relaxed) {
            let ts = ns.map(|ns| libc::timespec {
                tv_sec: (ns / 1_000_000_000) as i64,
                tv_nsec: (ns % 1_000_000_000) as i64,
            });
            let ts: *const libc::timespec = ts.as_ref().map_or(std::ptr::null(), |ts| ts);
            // SAFETY: `events` holds as many entries as said, `ts` is null or a valid timespec, and the
            // signal mask is null.
            let rc = unsafe {
                libc::syscall(
                    libc::SYS_epoll_pwait2,
                    self.fd(),
                    events.as_mut_ptr(),
                    EVENTS_AT_ONCE,
                    ts,
                    std::ptr::null::<libc::sigset_t>(),
                    0,
                )
            };
            if rc >= 0 || io::Error::last_os_error().raw_os_error() != Some(libc::ENOSYS) {
                return rc;
            }
            NO_PWAIT2.store(true, Relaxed);
        }
        let ms = ns.map_or(-1, |ns| ns.div_ceil(1_000_000).min(i32::MAX as u64) as i32);
        self.wait_ms(events, ms)
    }

    fn wait_ms(&self, events: &mut Events, ms: i32) -> i64 {
        // SAFETY: `events` holds as many entries as said.
        let rc =
            unsafe { libc::epoll_wait(self.fd(), events.as_mut_ptr(), EVENTS_AT_ONCE as i32, ms) };
        i64::from(rc)
    }
}
