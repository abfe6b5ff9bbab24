//! One io_uring for all files: anyone submits, anyone reaps.
//!
//! Submission pushes and enters the kernel under one mutex (`line`); completions are reaped under another,
//! with `try_lock`, by whichever poll comes first, so a finished write never waits for the thread
//! that submitted it. An eventfd tells sleepers.
//!
//! The kernel has at most as many requests as the completion queue has room for. What does not fit there it would keep
//! aside until somebody enters it again, and a poll does not: whoever started more and then only waited would wait for
//! ever. So the others wait in a line of our own until completions are reaped.
//!
//! Invariants:
//! 1. `user_data` of every entry is a `Box<Request>` that the ring owns until its completion is
//!    reaped; each completion is reaped once.
//! 2. Callbacks run with no lock of the ring held.
//! 3. The ring outlives its requests: each holds its file, whose carrier holds the ring.
//! 4. `in_flight`, which counts a request until its completion has left the queue, never exceeds `room`; it grows only
//!    under `line`. Who finds no room says so in `waiting` and looks again; who makes room looks at `waiting` afterwards:
//!    one of them sees the other, so the line never stands still while there is room.

use super::Request;
use crate::Op;
use io_uring::{IoUring, opcode, types};
use parking_lot::Mutex;
use runtime::task::Poller;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicUsize, Ordering::*};

const ENTRIES: u32 = 256;
/// Completions that wait to be reaped, and so requests that the kernel has: what all rounds of a checkpoint and of the
/// cleaner start at a time.
const COMPLETIONS: u32 = 4096;
/// Completions reaped under the lock at one go.
const BATCH: usize = 32;

pub(super) struct Ring {
    ring: IoUring,
    /// Requests that the kernel is still to be given. The submission queue is its holder's.
    line: Mutex<VecDeque<Box<Request>>>,
    completion: Mutex<()>,
    event: OwnedFd,
    /// Requests that the kernel has, and how many it may have.
    in_flight: AtomicUsize,
    room: usize,
    /// Requests in `line`, for those who do not hold it.
    waiting: AtomicUsize,
}

impl Ring {
    pub fn new() -> io::Result<Ring> {
        let ring = IoUring::builder().setup_clamp().setup_cqsize(COMPLETIONS).build(ENTRIES);
        // Old kernels count it as locked memory, of which a process may have little.
        let ring = ring.or_else(|_| IoUring::builder().setup_clamp().build(ENTRIES))?;
        let room = ring.params().cq_entries() as usize;
        // SAFETY: a plain system call.
        let fd = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: a fresh descriptor that nobody else owns.
        let event = unsafe { OwnedFd::from_raw_fd(fd) };
        ring.submitter().register_eventfd(event.as_raw_fd())?;
        Ok(Ring {
            ring,
            line: Mutex::default(),
            completion: Mutex::new(()),
            event,
            in_flight: AtomicUsize::new(0),
            room,
            waiting: AtomicUsize::new(0),
        })
    }

    pub fn submit(&self, request: Box<Request>) {
        let mut line = self.line.lock();
        line.push_back(request);
        self.forward(&mut line);
    }

    /// Gives the kernel those in line, as far as there is room.
    fn forward(&self, line: &mut VecDeque<Box<Request>>) {
        loop {
            let mut some = false;
            while !line.is_empty() && self.in_flight.load(SeqCst) < self.room {
                let Some(request) = line.pop_front() else { break };
                self.in_flight.fetch_add(1, SeqCst);
                self.push(request);
                some = true;
            }
            if some {
                self.enter();
            }
            let before = self.waiting.load(Relaxed);
            if before != line.len() {
                self.waiting.store(line.len(), SeqCst);
            }
            // Looked at after `waiting` was set: invariant 4.
            if line.is_empty() || self.in_flight.load(SeqCst) >= self.room {
                return;
            }
        }
    }

    /// Room was made: those in line are next.
    fn freed(&self, n: usize) {
        self.in_flight.fetch_sub(n, SeqCst);
        if self.waiting.load(SeqCst) > 0 {
            self.forward(&mut self.line.lock());
        }
    }

    /// Only under `line`.
    fn push(&self, request: Box<Request>) {
        let entry = self.entry(&request);
        let entry = entry.user_data(Box::into_raw(request) as u64);
        // SAFETY: `line` makes us the only user of the submission queue; the memory that the entry names stays valid
        // until completion (contract of `File::submit`).
        while unsafe { self.ring.submission_shared().push(&entry) }.is_err() {
            self.enter();
        }
    }

    fn entry(&self, r: &Request) -> io_uring::squeue::Entry {
        let fd = types::Fd(r.file.fd());
        // At most 1 GiB at a time: lengths are 32 bits; the rest continues as a short transfer does.
        let len = (r.len - r.moved).min(1 << 30) as u32;
        let ptr = r.ptr.wrapping_add(r.moved);
        let offset = r.offset + r.moved as u64;
        match r.op {
            Op::Read => opcode::Read::new(fd, ptr, len).offset(offset).build(),
            Op::Write => opcode::Write::new(fd, ptr, len).offset(offset).build(),
            Op::WriteDurable => {
                let flags = if r.dsync { libc::RWF_DSYNC } else { 0 };
                opcode::Write::new(fd, ptr, len).offset(offset).rw_flags(flags).build()
            }
            Op::Sync => opcode::Fsync::new(fd).flags(types::FsyncFlags::DATASYNC).build(),
            Op::SyncAll => opcode::Fsync::new(fd).build(),
        }
    }

    /// Hands all that was pushed to the kernel. Only under `line`.
    fn enter(&self) {
        // SAFETY: `line` makes us the only user of the submission queue.
        while !unsafe { self.ring.submission_shared().is_empty() } {
            match self.ring.submitter().submit() {
                // Perhaps not all of it: the kernel stops where it finds something wrong.
                Ok(_) => {}
                Err(e) => match e.raw_os_error() {
                    Some(libc::EINTR) => {}
                    // The kernel is short of memory.
                    Some(libc::EAGAIN | libc::EBUSY) => std::thread::yield_now(),
                    _ => stdx::fatal!("io_uring_enter failed: {e}"),
                },
            }
        }
    }

    /// One completion: done, or to be continued.
    fn finish(&self, mut request: Box<Request>, result: i32) {
        if result < 0 {
            let error = io::Error::from_raw_os_error(-result);
            match -result {
                libc::EINTR | libc::EAGAIN if !request.op.is_sync() => {
                    return self.submit(request);
                }
                _ if request.without_dsync(&error) => return self.submit(request),
                _ => return request.finish(Err(error)),
            }
        }
        if request.op.is_sync() {
            let moved = request.moved;
            return request.finish(Ok(moved));
        }
        request.moved += result as usize;
        let (moved, len) = (request.moved, request.len);
        if moved < len && result > 0 {
            return self.submit(request);
        }
        if moved < len && request.op != Op::Read {
            return request.finish(Err(io::ErrorKind::WriteZero.into()));
        }
        if request.op == Op::WriteDurable && !request.dsync {
            // The second half of a durable write where RWF_DSYNC is unknown.
            request.op = Op::Sync;
            return self.submit(request);
        }
        request.finish(Ok(moved));
    }
}

impl Poller for Ring {
    fn poll(&self) -> usize {
        let mut work = 0;
        loop {
            let mut batch = [(0u64, 0i32); BATCH];
            let mut n = 0;
            {
                let Some(_guard) = self.completion.try_lock() else { return work };
                // SAFETY: `completion` makes us the only user of the completion queue.
                let mut queue = unsafe { self.ring.completion_shared() };
                while n < BATCH
                    && let Some(entry) = queue.next()
                {
                    batch[n] = (entry.user_data(), entry.result());
                    n += 1;
                }
            }
            if n > 0 {
                self.freed(n);
            }
            for &(data, result) in &batch[..n] {
                // SAFETY: invariant 1: the box was leaked into the entry and comes back once.
                let request = unsafe { Box::from_raw(data as *mut Request) };
                self.finish(request, result);
            }
            work += n;
            if n < BATCH {
                return work;
            }
        }
    }

    fn busy(&self) -> bool {
        self.in_flight.load(Relaxed) > 0
    }

    fn wake_fd(&self) -> Option<RawFd> {
        Some(self.event.as_raw_fd())
    }
}
