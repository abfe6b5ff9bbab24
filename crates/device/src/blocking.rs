//! Calls on a file that wait: the task suspends, the OS thread does not block.
//!
//! Memory that does not have the file's alignment goes through a bounce buffer. Each call allocates
//! one small completion; paths that must not, keep their own [`IoDone`] and call [`File::submit`].

use crate::{File, IoDone, Op};
use parking_lot::Mutex;
use runtime::task::{self, Waker};
use std::io;
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

struct Waiting {
    waker: Waker,
    result: Mutex<Option<io::Result<usize>>>,
}

impl IoDone for Waiting {
    fn complete(&self, r: io::Result<usize>, _submitted_ns: u64, _completed_ns: u64) {
        *self.result.lock() = Some(r);
        self.waker.wake();
    }
}

impl dyn File {
    /// Fills `out` from `offset`; `UnexpectedEof` if the file ends before.
    pub fn read_exact_at(&self, offset: u64, out: &mut [u8], wait: WaitType) -> io::Result<()> {
        let align = self.align() as u64;
        let fits = offset.is_multiple_of(align)
            && (out.len() as u64).is_multiple_of(align)
            && (out.as_ptr() as u64).is_multiple_of(align);
        if fits {
            let n = self.run(Op::Read, offset, out.as_mut_ptr(), out.len(), wait)?;
            return if n == out.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
        }
        let from = stdx::round_down(offset, align);
        let to = stdx::round_up(offset + out.len() as u64, align);
        let mut bounce = AlignedBuf::zeroed((to - from) as usize);
        let n = self.run(Op::Read, from, bounce.as_mut_ptr(), bounce.len(), wait)?;
        let skip = (offset - from) as usize;
        if n < skip + out.len() {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        out.copy_from_slice(&bounce[skip..skip + out.len()]);
        Ok(())
    }

    /// Writes all of `bytes` at `offset`; durable on return if asked. Offset and length have the
    /// file's alignment; the memory need not.
    pub fn write_all_at(
        &self,
        offset: u64,
        bytes: &[u8],
        durable: bool,
        wait: WaitType,
    ) -> io::Result<()> {
        let op = if durable { Op::WriteDurable } else { Op::Write };
        let n = if (bytes.as_ptr() as usize).is_multiple_of(self.align()) {
            self.run(op, offset, bytes.as_ptr().cast_mut(), bytes.len(), wait)?
        } else {
            let mut bounce = AlignedBuf::zeroed(bytes.len());
            bounce.copy_from_slice(bytes);
            self.run(op, offset, bounce.as_mut_ptr(), bounce.len(), wait)?
        };
        if n == bytes.len() { Ok(()) } else { Err(io::ErrorKind::WriteZero.into()) }
    }

    /// Makes completed writes and the length durable. A failure is final: do not sync again and
    /// believe it.
    pub fn sync(&self, wait: WaitType) -> io::Result<()> {
        self.run(Op::Sync, 0, std::ptr::null_mut(), 0, wait).map(|_| ())
    }

    /// As [`sync`](Self::sync), by fsync.
    pub fn sync_all(&self, wait: WaitType) -> io::Result<()> {
        self.run(Op::SyncAll, 0, std::ptr::null_mut(), 0, wait).map(|_| ())
    }

    /// The private door of the calls above: they own `ptr..ptr + len` until this returns, and this
    /// returns only after completion.
    fn run(
        &self,
        op: Op,
        offset: u64,
        ptr: *mut u8,
        len: usize,
        wait: WaitType,
    ) -> io::Result<usize> {
        let waiting = Arc::new(Waiting { waker: task::current_waker(), result: Mutex::new(None) });
        // SAFETY: the caller's memory outlives this call, and we do not return before completion
        // (parking neither unwinds nor gives up).
        unsafe { self.submit(op, offset, ptr, len, waiting.clone()) };
        loop {
            if let Some(result) = waiting.result.lock().take() {
                return result;
            }
            task::park(wait, None);
        }
    }
}
