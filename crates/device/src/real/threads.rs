//! I/O threads: blocking system calls elsewhere, so that the caller's OS thread never blocks.
//!
//! Threads start on demand, one more whenever a request finds nobody idle, up to [`THREADS_MAX`], and
//! end when the pool is dropped and the queue is empty.

use super::Request;
use crate::Op;
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

const THREADS_MAX: usize = 32;

#[derive(Default)]
struct State {
    queue: VecDeque<Box<Request>>,
    threads: usize,
    idle: usize,
    closed: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    work: Condvar,
}

pub(super) struct Pool(Arc<Shared>);

impl Pool {
    pub fn new() -> Pool {
        Pool(Arc::default())
    }

    pub fn submit(&self, request: Box<Request>) {
        let mut state = self.0.state.lock();
        state.queue.push_back(request);
        if state.queue.len() <= state.idle || state.threads >= THREADS_MAX {
            drop(state);
            self.0.work.notify_one();
            return;
        }
        state.threads += 1;
        let alone = state.threads == 1;
        drop(state);
        let shared = self.0.clone();
        if let Err(error) = runtime::threads::spawn("io", move || serve(&shared)) {
            self.0.state.lock().threads -= 1;
            // With other threads alive the request is only later, not lost.
            if alone {
                stdx::fatal!("no I/O thread can be started: {error}");
            }
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.state.lock().closed = true;
        self.0.work.notify_all();
    }
}

fn serve(shared: &Shared) {
    let mut state = shared.state.lock();
    loop {
        if let Some(mut request) = state.queue.pop_front() {
            drop(state);
            let result = perform(&mut request);
            request.finish(result);
            state = shared.state.lock();
        } else if state.closed {
            state.threads -= 1;
            return;
        } else {
            state.idle += 1;
            shared.work.wait(&mut state);
            state.idle -= 1;
        }
    }
}

fn perform(r: &mut Request) -> io::Result<usize> {
    if r.op.is_sync() {
        return sync(r);
    }
    while r.moved < r.len {
        match transfer(r) {
            Ok(0) if r.op == Op::Read => break,
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(n) => r.moved += n,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if r.without_dsync(&e) => {}
            Err(e) => return Err(e),
        }
    }
    if r.op == Op::WriteDurable && !r.dsync {
        sync(r)?;
    }
    Ok(r.moved)
}

fn transfer(r: &Request) -> io::Result<usize> {
    let fd = r.file.fd();
    let offset = (r.offset + r.moved as u64) as i64;
    // SAFETY: `moved` < `len`, so the rest lies inside the caller's memory, which is ours until
    // completion (contract of `File::submit`).
    let n = unsafe {
        let ptr = r.ptr.add(r.moved);
        let iov = libc::iovec { iov_base: ptr.cast(), iov_len: r.len - r.moved };
        match r.op {
            Op::Read => libc::preadv(fd, &iov, 1, offset),
            Op::WriteDurable if r.dsync => libc::pwritev2(fd, &iov, 1, offset, libc::RWF_DSYNC),
            _ => libc::pwritev(fd, &iov, 1, offset),
        }
    };
    if n < 0 { Err(io::Error::last_os_error()) } else { Ok(n as usize) }
}

fn sync(r: &Request) -> io::Result<usize> {
    let status = match r.op {
        // SAFETY: a plain system call on an open descriptor.
        Op::SyncAll => unsafe { libc::fsync(r.file.fd()) },
        // SAFETY: as above.
        _ => unsafe { libc::fdatasync(r.file.fd()) },
    };
    match status {
        0 => Ok(0),
        _ => Err(io::Error::last_os_error()),
    }
}
