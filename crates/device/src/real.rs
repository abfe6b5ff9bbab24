//! Files of the operating system, through io_uring or through I/O threads.

mod threads;
mod uring;

use crate::stats::Recorder;
use crate::{File, FileStats, FileSystem, IoDone, LockGuard, Op, OpenOptions, Volume};
use runtime::{clock, task};
use std::ffi::CString;
use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use stdx::AlignedBuf;
use telemetry::WaitType;

/// What is made anew is for the server's user, who may write, and for its group, which may read (a backup program, say).
const FILE_MODE: u32 = 0o640;
const FOLDER_MODE: u32 = 0o750;

/// How operations reach the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IoMode {
    /// io_uring, or threads where the kernel refuses it.
    Auto,
    Uring,
    Threads,
}

/// One operation on its way. Owned by whoever carries it, until it is finished.
struct Request {
    op: Op,
    file: Arc<OsFile>,
    offset: u64,
    ptr: *mut u8,
    len: usize,
    /// Bytes moved so far; short transfers continue.
    moved: usize,
    /// A durable write goes out with RWF_DSYNC; otherwise fdatasync follows it.
    dsync: bool,
    submitted_ns: u64,
    /// What it is on record for; an operation of two halves (a write, then its sync) is one of the first kind.
    recorded: Op,
    ticket: u64,
    done: Arc<dyn IoDone>,
}

/// A file system refused RWF_DSYNC once: from then on durable writes are write and fdatasync.
static NO_DSYNC: AtomicBool = AtomicBool::new(false);

/// Whether durable writes of this process go out as a write and a sync, because a file system refused RWF_DSYNC.
pub fn dsync_refused() -> bool {
    NO_DSYNC.load(Relaxed)
}

// SAFETY: `ptr` is only handed to the kernel; by the contract of `File::submit` the memory is ours
// until completion, from whatever thread.
unsafe impl Send for Request {}

impl Request {
    /// A durable write failed with `error` because RWF_DSYNC is unknown: it is to go out without.
    fn without_dsync(&mut self, error: &io::Error) -> bool {
        let refused = matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS));
        let again = refused && std::mem::take(&mut self.dsync);
        if again {
            NO_DSYNC.store(true, Relaxed);
        }
        again
    }

    fn finish(self, r: io::Result<usize>) {
        let Request { done, submitted_ns, file, recorded, ticket, .. } = self;
        let now = clock::now_ns();
        let moved = r.as_ref().ok().copied();
        file.recorder.ended(ticket, recorded, moved, now.saturating_sub(submitted_ns));
        done.complete(r, submitted_ns, now);
        drop(file);
    }
}

/// The way to the kernel that all files of one file system share.
enum Carrier {
    Uring(Arc<uring::Ring>, task::PollerId),
    Threads(threads::Pool),
}

impl Drop for Carrier {
    fn drop(&mut self) {
        if let Carrier::Uring(_, id) = self {
            task::unregister_poller(*id);
        }
    }
}

/// The operating system's files.
pub struct RealFs {
    carrier: Arc<Carrier>,
}

impl RealFs {
    /// Fails only in [`IoMode::Uring`], where the kernel has none to give.
    pub fn new(mode: IoMode) -> io::Result<Arc<RealFs>> {
        let carrier = match mode {
            IoMode::Threads => Carrier::Threads(threads::Pool::new()),
            IoMode::Auto | IoMode::Uring => match uring::Ring::new() {
                Ok(ring) => {
                    let ring = Arc::new(ring);
                    let id = task::register_poller(ring.clone());
                    Carrier::Uring(ring, id)
                }
                Err(error) if mode == IoMode::Uring => return Err(error),
                Err(_) => Carrier::Threads(threads::Pool::new()),
            },
        };
        Ok(Arc::new(RealFs { carrier: Arc::new(carrier) }))
    }

    /// The mode in use: never [`IoMode::Auto`].
    pub fn mode(&self) -> IoMode {
        match *self.carrier {
            Carrier::Uring(..) => IoMode::Uring,
            Carrier::Threads(_) => IoMode::Threads,
        }
    }
}

struct OsFile {
    file: fs::File,
    /// Keeps the carrier alive while operations are in flight.
    carrier: Arc<Carrier>,
    recorder: Recorder,
}

impl OsFile {
    fn fd(&self) -> RawFd {
        self.file.as_raw_fd()
    }
}

struct RealFile {
    os: Arc<OsFile>,
    path: PathBuf,
    align: usize,
}

impl RealFile {
    /// Reserves space and extends the file; false if the file system cannot.
    fn fallocate(&self, from: u64, len: u64) -> io::Result<bool> {
        loop {
            // SAFETY: a plain system call on an open descriptor.
            if unsafe { libc::fallocate(self.os.fd(), 0, from as i64, len as i64) } == 0 {
                return Ok(true);
            }
            let error = io::Error::last_os_error();
            match error.raw_os_error() {
                Some(libc::EINTR) => {}
                Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(false),
                _ => return Err(error),
            }
        }
    }
}

impl File for RealFile {
    unsafe fn submit(&self, op: Op, offset: u64, ptr: *mut u8, len: usize, done: Arc<dyn IoDone>) {
        let submitted_ns = clock::now_ns();
        let align = self.align;
        let aligned = offset.is_multiple_of(align as u64)
            && len.is_multiple_of(align)
            && (ptr as usize).is_multiple_of(align);
        if !op.is_sync() && !aligned {
            let what = format!("{op:?} of {len} bytes at {offset} is not a multiple of {align}");
            done.complete(
                Err(io::Error::new(io::ErrorKind::InvalidInput, what)),
                submitted_ns,
                submitted_ns,
            );
            return;
        }
        let file = self.os.clone();
        let dsync = op == Op::WriteDurable && !NO_DSYNC.load(Relaxed);
        let ticket = file.recorder.begin(op, offset, len, submitted_ns);
        let request = Box::new(Request {
            op,
            file,
            offset,
            ptr,
            len,
            moved: 0,
            dsync,
            submitted_ns,
            recorded: op,
            ticket,
            done,
        });
        match &*self.os.carrier {
            Carrier::Uring(ring, _) => ring.submit(request),
            Carrier::Threads(pool) => pool.submit(request),
        }
    }

    fn len(&self) -> io::Result<u64> {
        Ok(self.os.file.metadata()?.len())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.os.file.set_len(len)
    }

    fn allocate(&self, from: u64, len: u64) -> io::Result<()> {
        const CHUNK_BYTES: u64 = 4 << 20;
        // Asks for the space first: contiguous, and a full disk is known before anything is written.
        self.fallocate(from, len)?;
        let zeros = AlignedBuf::zeroed(len.min(CHUNK_BYTES) as usize);
        let this: &dyn File = self;
        let mut at = from;
        while at < from + len {
            let n = (from + len - at).min(CHUNK_BYTES);
            this.write_all_at(at, &zeros[..n as usize], false, WaitType::PreemptiveOsFileOps)?;
            at += n;
        }
        this.sync(WaitType::PreemptiveOsFileOps)
    }

    fn reserve(&self, from: u64, len: u64) -> io::Result<()> {
        if !self.fallocate(from, len)? && self.len()? < from + len {
            self.set_len(from + len)?;
        }
        let this: &dyn File = self;
        this.sync(WaitType::PreemptiveOsFileOps)
    }

    fn path(&self) -> &Path {
        &self.path
    }

    fn stats(&self) -> FileStats {
        self.os.recorder.stats()
    }

    fn align(&self) -> usize {
        self.align
    }
}

impl FileSystem for RealFs {
    fn open(&self, path: &Path, options: OpenOptions) -> io::Result<Arc<dyn File>> {
        let open = |flags: i32| {
            fs::OpenOptions::new()
                .read(true)
                .write(!options.read_only)
                .create(options.create && !options.read_only)
                .create_new(options.create_new && !options.read_only)
                .truncate(options.truncate && !options.read_only)
                .mode(FILE_MODE)
                .custom_flags(flags | if options.dsync { libc::O_DSYNC } else { 0 })
                .open(path)
        };
        let (file, direct) = if options.direct {
            match open(libc::O_DIRECT) {
                Ok(file) => (file, true),
                // The file system has no direct I/O. The refused open may have made the file.
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) => {
                    let options = OpenOptions { create_new: false, ..options };
                    return self.open(path, OpenOptions { direct: false, ..options });
                }
                Err(e) => return Err(e),
            }
        } else {
            (open(0)?, false)
        };
        if file.metadata()?.is_dir() {
            return Err(io::Error::from_raw_os_error(libc::EISDIR));
        }
        let align = if direct { file.metadata()?.blksize().clamp(512, 4096) as usize } else { 1 };
        let carrier = self.carrier.clone();
        let os = Arc::new(OsFile { file, carrier, recorder: Recorder::default() });
        Ok(Arc::new(RealFile { os, path: path.to_owned(), align }))
    }

    fn exists(&self, path: &Path) -> io::Result<bool> {
        path.try_exists()
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        match fs::canonicalize(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            done => return done,
        }
        // It, or a folder above it, is not there yet. A link to nothing is followed by hand.
        if let Ok(target) = fs::read_link(path) {
            let folder = path.parent().unwrap_or(Path::new("."));
            return self.canonical(&folder.join(target));
        }
        let path = std::path::absolute(path)?;
        match (path.parent(), path.components().next_back()) {
            (Some(folder), Some(Component::Normal(name))) => Ok(self.canonical(folder)?.join(name)),
            // `..` in a folder that is not there.
            _ => Err(io::ErrorKind::NotFound.into()),
        }
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn volume(&self, path: &Path) -> io::Result<Volume> {
        let path = fs::canonicalize(path)?;
        let device = fs::metadata(&path)?.dev();
        let same = |path: &&Path| fs::metadata(path).is_ok_and(|found| found.dev() == device);
        let mount_point = path.ancestors().take_while(same).last().unwrap_or(&path).to_owned();
        let name = CString::new(path.as_os_str().as_bytes())?;
        let mut found = MaybeUninit::<libc::statvfs>::uninit();
        // SAFETY: a plain system call with a name that ends in zero and room for the answer.
        if unsafe { libc::statvfs(name.as_ptr(), found.as_mut_ptr()) } != 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the call that succeeded has filled it in.
        let found = unsafe { found.assume_init() };
        Ok(Volume {
            mount_point,
            bytes: found.f_blocks * found.f_frsize,
            free_bytes: found.f_bavail * found.f_frsize,
            is_read_only: found.f_flag & libc::ST_RDONLY != 0,
        })
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut all = fs::read_dir(dir)?.map(|e| Ok(e?.path())).collect::<io::Result<Vec<_>>>()?;
        all.sort();
        Ok(all)
    }

    fn create_dir_all(&self, dir: &Path) -> io::Result<()> {
        let named = |path: &&Path| !path.as_os_str().is_empty();
        let missing: Vec<&Path> =
            dir.ancestors().filter(named).take_while(|path| !path.is_dir()).collect();
        for &path in missing.iter().rev() {
            match fs::DirBuilder::new().mode(FOLDER_MODE).create(path) {
                // Somebody else was quicker.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => {}
                done => done?,
            }
            self.sync_dir(path.parent().unwrap_or(path))?;
        }
        if missing.is_empty()
            && let Some(above) = dir.parent()
        {
            // Whoever made it may have died before its name was durable. What we may not read, we did not make.
            let _ = self.sync_dir(above);
        }
        Ok(())
    }

    fn sync_dir(&self, dir: &Path) -> io::Result<()> {
        // The folder of a bare file name.
        let dir = if dir.as_os_str().is_empty() { Path::new(".") } else { dir };
        fs::File::open(dir)?.sync_all()
    }

    fn lock_exclusive(&self, path: &Path) -> io::Result<LockGuard> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .mode(FILE_MODE)
            .open(path)?;
        // SAFETY: a plain system call on an open descriptor.
        if unsafe { libc::flock(file.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(LockGuard(Box::new(file)))
    }
}
