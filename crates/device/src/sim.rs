//! `SimFs`: files in memory that lose power and fail on demand, from one seed.
//!
//! What it keeps, per file: the *live* bytes that reads see, the *durable* bytes, and the *volatile*
//! writes between them. Rules:
//! 1. A write is volatile from its submission until a [`Op::Sync`] that was submitted after the
//!    write's completion has completed. A completed [`Op::WriteDurable`] is durable.
//! 2. At a crash each volatile write, in order, is kept, dropped or torn (each 512-byte sector by
//!    itself). Where a later durable write covers sectors of an earlier volatile one, those are settled.
//! 3. A failed sync promises nothing, now or later: what it should have made durable stays volatile
//!    for good, also after a later successful sync. A write that failed may have left anything of itself. Neither comes
//!    back over what was made durable in the same place later.
//! 4. Changes of names since the last `sync_dir` survive a crash up to a point that the seed chooses.
//! 5. Operations complete from polls, one a poll, in an order that the seed chooses; in a simulated
//!    world (`runtime::sim`) each takes 10 to 300 simulated microseconds.
//! 6. One operation in so many takes longer, if [`SimFs::set_stalls`] says so.
//! 7. After the power is off every operation fails (EIO) and changes nothing.

mod disk;
mod sparse;

use crate::stats::Recorder;
use crate::{File, FileStats, FileSystem, IoDone, LockGuard, Op, OpenOptions, Volume};
use disk::Disk;
use parking_lot::Mutex;
use runtime::task::{self, Poller, PollerId};
use runtime::{clock, sim};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, Weak};
use stdx::Prng;

/// An error to be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// Only operations of this kind count and fail; `None`: all kinds.
    pub op: Option<Op>,
    /// Matching operations that still succeed before the first that fails.
    pub after: u64,
    /// How many fail then (`u64::MAX`: all).
    pub times: u64,
    /// `libc::EIO`, `libc::ENOSPC`, ...
    pub errno: i32,
}

/// A file system in memory. See the module's rules.
pub struct SimFs {
    shared: Arc<Shared>,
}

struct Shared {
    state: Mutex<State>,
    poller: OnceLock<PollerId>,
}

struct State {
    disk: Disk,
    prng: Prng,
    in_flight: Vec<InFlight>,
    faults: Vec<Fault>,
    locked: Vec<PathBuf>,
    /// Operations submitted so far.
    ops: u64,
    power_off_at: Option<u64>,
    power_on: bool,
    capacity_bytes: u64,
    /// One operation in so many takes up to so many nanoseconds more.
    stalls: Option<(u64, u64)>,
}

struct InFlight {
    op: Op,
    inode: usize,
    offset: u64,
    ptr: *mut u8,
    len: usize,
    /// For writes: the volatile write made at submission. For syncs: the moment of submission.
    seq: u64,
    fails: Option<i32>,
    submitted_ns: u64,
    ready_ns: u64,
    recorder: Arc<Recorder>,
    ticket: u64,
    done: Arc<dyn IoDone>,
}

// SAFETY: `ptr` is only written through while the operation is in flight, when by the contract of
// `File::submit` the memory is ours, from whatever thread.
unsafe impl Send for InFlight {}

impl SimFs {
    /// An empty file system.
    pub fn new(seed: u64) -> Arc<SimFs> {
        Self::from_disk(Disk::default(), seed)
    }

    fn from_disk(disk: Disk, seed: u64) -> Arc<SimFs> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                disk,
                prng: Prng::new(stdx::mix64(seed)),
                in_flight: Vec::new(),
                faults: Vec::new(),
                locked: Vec::new(),
                ops: 0,
                power_off_at: None,
                power_on: true,
                capacity_bytes: u64::MAX,
                stalls: None,
            }),
            poller: OnceLock::new(),
        });
        let id = task::register_poller(Arc::new(Watch(Arc::downgrade(&shared))));
        let _ = shared.poller.set(id);
        Arc::new(SimFs { shared })
    }

    /// What the disk holds after a loss of power at this moment, as a fresh file system. Operations
    /// in flight may have happened or not. This one stays as it is, and may crash again differently.
    pub fn crash(&self, seed: u64) -> Arc<SimFs> {
        let mut prng = Prng::new(stdx::mix64(seed ^ 0xc4a5));
        let disk = self.shared.state.lock().disk.crash(&mut prng);
        Self::from_disk(disk, seed)
    }

    /// Another file system that holds the same, what is volatile too; its choices follow `seed`.
    pub fn copy(&self, seed: u64) -> Arc<SimFs> {
        let disk = self.shared.state.lock().disk.clone();
        Self::from_disk(disk, seed)
    }

    /// From now on one operation in `one_in` takes up to `ns` nanoseconds of simulated time more; 0: none does.
    pub fn set_stalls(&self, one_in: u64, ns: u64) {
        self.shared.state.lock().stalls = (one_in > 0 && ns > 0).then_some((one_in, ns));
    }

    /// A hash of the names and bytes that reads see now: distinct states have distinct hashes.
    pub fn image_hash(&self) -> u64 {
        self.shared.state.lock().disk.hash()
    }

    /// Operations submitted so far (all kinds); crash points are numbered by it.
    pub fn ops(&self) -> u64 {
        self.shared.state.lock().ops
    }

    /// The power goes off when the `n`th operation (from 0, as [`SimFs::ops`] counts) is submitted:
    /// that one and what is in flight fail, and all that follows.
    pub fn power_off_at(&self, n: Option<u64>) {
        self.shared.state.lock().power_off_at = n;
    }

    /// Whether the power is still on.
    pub fn is_on(&self) -> bool {
        self.shared.state.lock().power_on
    }

    /// Turns the power off now.
    pub fn power_off(&self) {
        self.shared.state.lock().power_on = false;
    }

    pub fn inject(&self, fault: Fault) {
        self.shared.state.lock().faults.push(fault);
    }

    pub fn clear_faults(&self) {
        self.shared.state.lock().faults.clear();
    }

    /// Bytes of all files, by their lengths.
    pub fn total_bytes(&self) -> u64 {
        self.shared.state.lock().disk.total_bytes()
    }

    /// The disk is full at so many bytes, summed over the lengths of all files.
    pub fn set_capacity(&self, bytes: u64) {
        self.shared.state.lock().capacity_bytes = bytes;
    }

    /// Inverts a byte, live and durable: a damaged medium.
    pub fn damage(&self, path: &Path, offset: u64) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        let inode = state.disk.find(path)?;
        state.disk.invert(inode, offset, 0xff);
        Ok(())
    }

    /// Inverts one bit (0 to 7) of a byte, live and durable.
    pub fn flip(&self, path: &Path, offset: u64, bit: u32) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        let inode = state.disk.find(path)?;
        state.disk.invert(inode, offset, 1 << (bit % 8));
        Ok(())
    }

    /// Operations that have not completed.
    pub fn in_flight(&self) -> usize {
        self.shared.state.lock().in_flight.len()
    }
}

/// The poller of a `Shared`; does not keep it alive.
struct Watch(Weak<Shared>);

impl Poller for Watch {
    fn poll(&self) -> usize {
        self.0.upgrade().map_or(0, |shared| shared.complete_one())
    }

    fn next_ns(&self) -> Option<u64> {
        let shared = self.0.upgrade()?;
        let state = shared.state.lock();
        state.in_flight.iter().map(|f| f.ready_ns).min()
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        if let Some(id) = self.poller.get() {
            task::unregister_poller(*id);
        }
    }
}

impl Shared {
    fn complete_one(&self) -> usize {
        let mut state = self.state.lock();
        let now = clock::now_ns();
        let ready: Vec<usize> = (0..state.in_flight.len())
            .filter(|&i| !sim::active() || state.in_flight[i].ready_ns <= now)
            .collect();
        if ready.is_empty() {
            return 0;
        }
        let at = ready[state.prng.below(ready.len() as u64) as usize];
        let f = state.in_flight.swap_remove(at);
        let result = state.perform(&f);
        drop(state);
        sim::note(
            "disk",
            f.offset ^ (f.len as u64) << 40 ^ (f.op as u64) << 60 ^ u64::from(result.is_err()),
        );
        let moved = result.as_ref().ok().copied();
        f.recorder.ended(f.ticket, f.op, moved, now.saturating_sub(f.submitted_ns));
        f.done.complete(result, f.submitted_ns, now);
        1
    }
}

impl State {
    /// Counts one more operation; whether it fails, and how.
    fn admit(&mut self, op: Option<Op>) -> Option<i32> {
        if self.power_off_at.is_some_and(|at| self.ops >= at) {
            self.power_on = false;
        }
        self.ops += 1;
        if !self.power_on {
            return Some(libc::EIO);
        }
        for fault in &mut self.faults {
            if fault.op.is_some() && fault.op != op {
                continue;
            }
            if fault.after > 0 {
                fault.after -= 1;
            } else if fault.times > 0 {
                fault.times = fault.times.saturating_sub(u64::from(fault.times != u64::MAX));
                return Some(fault.errno);
            }
        }
        None
    }

    fn perform(&mut self, f: &InFlight) -> io::Result<usize> {
        if !self.power_on {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        if let Some(errno) = f.fails {
            if f.op.is_sync() {
                self.disk.sync_failed(f.inode, f.seq);
            } else if f.op != Op::Read {
                self.disk.write_failed(f.inode, f.seq);
            }
            return Err(io::Error::from_raw_os_error(errno));
        }
        match f.op {
            Op::Read => {
                // SAFETY: contract of `File::submit`: valid, writable and ours until completion.
                let out = unsafe { std::slice::from_raw_parts_mut(f.ptr, f.len) };
                return Ok(self.disk.read(f.inode, f.offset, out));
            }
            Op::Write => self.disk.write_completed(f.inode, f.seq, false),
            Op::WriteDurable => self.disk.write_completed(f.inode, f.seq, true),
            Op::Sync | Op::SyncAll => self.disk.synced(f.inode, f.seq),
        }
        Ok(f.len)
    }

    fn room_for(&self, inode: usize, end: u64) -> bool {
        let grows = end.saturating_sub(self.disk.len(inode));
        grows == 0 || self.disk.total_bytes() + grows <= self.capacity_bytes
    }
}

struct SimFile {
    shared: Arc<Shared>,
    inode: usize,
    path: PathBuf,
    read_only: bool,
    dsync: bool,
    align: usize,
    recorder: Arc<Recorder>,
}

impl File for SimFile {
    unsafe fn submit(&self, op: Op, offset: u64, ptr: *mut u8, len: usize, done: Arc<dyn IoDone>) {
        let submitted_ns = clock::now_ns();
        let op = if op == Op::Write && self.dsync { Op::WriteDurable } else { op };
        let mut state = self.shared.state.lock();
        let is_write = matches!(op, Op::Write | Op::WriteDurable);
        let aligned = op.is_sync()
            || (offset.is_multiple_of(self.align as u64) && len.is_multiple_of(self.align));
        let mut fails = state.admit(Some(op));
        if fails.is_none() && !aligned {
            fails = Some(libc::EINVAL);
        }
        if fails.is_none() && self.read_only && is_write {
            fails = Some(libc::EBADF);
        }
        if fails.is_none() && is_write && !state.room_for(self.inode, offset + len as u64) {
            fails = Some(libc::ENOSPC);
        }
        let seq = if is_write && state.power_on && (fails.is_none() || fails == Some(libc::EIO)) {
            // SAFETY: contract of `File::submit`: valid and unchanged until completion.
            let bytes = unsafe { std::slice::from_raw_parts(ptr, len) };
            state.disk.write_submitted(self.inode, offset, bytes)
        } else {
            state.disk.now()
        };
        let mut ready_ns = submitted_ns + 10_000 + state.prng.below(290_000);
        if let Some((one_in, ns)) = state.stalls
            && state.prng.one_in(one_in)
        {
            ready_ns += state.prng.below(ns);
        }
        state.in_flight.push(InFlight {
            op,
            inode: self.inode,
            offset,
            ptr,
            len: if op.is_sync() { 0 } else { len },
            seq,
            fails,
            submitted_ns,
            ready_ns,
            recorder: self.recorder.clone(),
            ticket: self.recorder.begin(op, offset, len, submitted_ns),
            done,
        });
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.shared.state.lock().disk.len(self.inode))
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        fail(state.admit(None))?;
        if !state.room_for(self.inode, len) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        state.disk.set_len(self.inode, len);
        Ok(())
    }

    fn allocate(&self, from: u64, len: u64) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        fail(state.admit(None))?;
        if !state.room_for(self.inode, from + len) {
            return Err(io::Error::from_raw_os_error(libc::ENOSPC));
        }
        state.disk.allocate(self.inode, from, len);
        Ok(())
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn stats(&self) -> FileStats {
        self.recorder.stats()
    }

    fn align(&self) -> usize {
        self.align
    }
}

fn fail(errno: Option<i32>) -> io::Result<()> {
    errno.map_or(Ok(()), |errno| Err(io::Error::from_raw_os_error(errno)))
}

impl FileSystem for SimFs {
    fn open(&self, path: &Path, options: OpenOptions) -> io::Result<Arc<dyn File>> {
        let mut state = self.shared.state.lock();
        if !state.power_on {
            return Err(io::Error::from_raw_os_error(libc::EIO));
        }
        let inode = match state.disk.find(path) {
            Ok(_) if options.create_new => return Err(io::ErrorKind::AlreadyExists.into()),
            Ok(inode) => inode,
            Err(e) if !options.create || options.read_only => return Err(e),
            Err(_) => state.disk.create(path)?,
        };
        if options.truncate {
            state.disk.set_len(inode, 0);
        }
        Ok(Arc::new(SimFile {
            shared: self.shared.clone(),
            inode,
            path: path.to_owned(),
            read_only: options.read_only,
            dsync: options.dsync,
            align: if options.direct { 4096 } else { 1 },
            recorder: Arc::default(),
        }))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        let state = self.shared.state.lock();
        Ok(state.disk.find(path).is_ok() || state.disk.has_dir(path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        fail(state.admit(None))?;
        state.disk.remove(path)
    }

    /// A disk of a tebibyte that never fills.
    fn volume(&self, path: &Path) -> io::Result<Volume> {
        if !self.exists(path)? {
            return Err(io::ErrorKind::NotFound.into());
        }
        let (bytes, mount_point) = (1 << 40, PathBuf::from("/"));
        Ok(Volume { mount_point, bytes, free_bytes: bytes, is_read_only: false })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        fail(state.admit(None))?;
        state.disk.rename(from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        self.shared.state.lock().disk.list(dir)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        self.shared.state.lock().disk.create_dir_all(dir);
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        let mut state = self.shared.state.lock();
        fail(state.admit(Some(Op::Sync)))?;
        state.disk.sync_dir(dir);
        Ok(())
    }

    fn lock_exclusive(&self, path: &Path) -> io::Result<LockGuard> {
        struct Held(Arc<Shared>, PathBuf);
        impl Drop for Held {
            fn drop(&mut self) {
                self.0.state.lock().locked.retain(|p| *p != self.1);
            }
        }
        let mut state = self.shared.state.lock();
        if state.locked.iter().any(|p| p == path) {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        state.locked.push(path.to_owned());
        Ok(LockGuard(Box::new(Held(self.shared.clone(), path.to_owned()))))
    }
}
