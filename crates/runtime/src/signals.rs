//! Signals, waited for by one thread instead of interrupting any.

use std::io;

/// What the outside asks of the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// SIGTERM or SIGINT: end.
    Terminate,
    /// SIGHUP: read the settings again.
    Reload,
}

const WATCHED: [(i32, Signal); 3] = [
    (libc::SIGTERM, Signal::Terminate),
    (libc::SIGINT, Signal::Terminate),
    (libc::SIGHUP, Signal::Reload),
];

fn watched() -> libc::sigset_t {
    // SAFETY: an all-zero sigset_t may be written to; sigemptyset makes it a valid empty set, and the
    // numbers added are valid signals.
    unsafe {
        let mut set: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        for (number, _) in WATCHED {
            libc::sigaddset(&mut set, number);
        }
        set
    }
}

/// Holds the signals back for [`wait`], in the calling thread and in those that it starts from now on: call it before
/// the first one.
pub fn hold() -> io::Result<()> {
    let set = watched();
    // SAFETY: `set` is a valid signal set; the old mask is not asked for.
    match unsafe { libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) } {
        0 => Ok(()),
        error => Err(io::Error::from_raw_os_error(error)),
    }
}

/// Asks the process itself to end, as SIGTERM from outside does: [`wait`] returns, on whichever thread waits.
pub fn terminate() {
    // SAFETY: both calls take and return plain numbers; the signal is held back in every thread, so no default action
    // runs.
    unsafe {
        libc::kill(libc::getpid(), libc::SIGTERM);
    }
}

/// Blocks the calling thread until one comes. After [`hold`].
pub fn wait() -> Signal {
    let set = watched();
    loop {
        let mut number = 0;
        // SAFETY: both point to valid values for the time of the call.
        let result = unsafe { libc::sigwait(&set, &mut number) };
        let known = WATCHED.iter().find(|(watched, _)| *watched == number);
        if let (0, Some((_, signal))) = (result, known) {
            return *signal;
        }
    }
}
