//! The forgetful disk as a FUSE file system: the kernel's real paths above, [`Medium`] below.
//!
//! Promises: no byte is cached by the kernel (every open is FOPEN_DIRECT_IO, every answer has no time to live), so that
//! what the process wrote is here, and after a cut what it reads is what survived. Once the power is gone, every
//! request fails with EIO until it is back, and changes nothing.
//!
//! Shared mappings are refused by the kernel on such files (ENODEV); the server maps none.

use crate::medium::{Attributes, Loss, Medium, Refusal};
use fuser::{
    BackgroundSession, BsdFileFlags, Config, Errno, FileAttr, FileHandle, FileType, Filesystem,
    FopenFlags, Generation, INodeNo, LockOwner, MountOption, OpenFlags, RenameFlags, ReplyAttr,
    ReplyCreate, ReplyData, ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs,
    ReplyWrite, Request, SessionACL, TimeOrNow, WriteFlags,
};
use parking_lot::{Condvar, Mutex};
use std::collections::{BTreeMap, HashMap};
use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stdx::Prng;

const NO_TIME: Duration = Duration::ZERO;
const BLOCK: u64 = 4096;
/// What the disk says it can hold.
const CAPACITY: u64 = 64 << 30;

/// What a process asks of the file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Asked {
    Look,
    Open,
    Create,
    Read,
    Write,
    /// A write that is durable when it returns.
    WriteDurable,
    Sync,
    Length,
    Allocate,
    Remove,
    Rename,
    MakeFolder,
    SyncFolder,
    List,
}

impl Asked {
    /// It changes the disk, or makes a change durable.
    fn counts(self) -> bool {
        !matches!(self, Asked::Look | Asked::Open | Asked::Read | Asked::List)
    }
}

/// One place where the file system can fail: the `nth` request of this kind on this file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Site {
    pub request: Asked,
    /// The file's name.
    pub file: String,
    /// From 1.
    pub nth: u64,
}

/// How it fails: with this error number, and nothing done. A sync that fails orphans what it covered.
///
/// Half a transfer is not among them: io_uring completes one itself, and for direct I/O on FUSE the kernel (6.18) does so
/// from the rest of the memory at the old offset of the file. That would test the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failing(pub i32);

impl fmt::Display for Failing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            libc::EIO => f.write_str("EIO"),
            libc::ENOSPC => f.write_str("ENOSPC"),
            libc::EMFILE => f.write_str("EMFILE"),
            number => write!(f, "errno {number}"),
        }
    }
}

#[derive(Default)]
struct State {
    medium: Medium,
    /// The last name that each node was known by.
    names: HashMap<u64, String>,
    /// Requests that change the disk, since `arm`.
    changes: u64,
    cut_after: Option<u64>,
    dead: bool,
    fault: Option<(Site, Failing)>,
    fired: bool,
    seen: BTreeMap<(Asked, String), u64>,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    died: Condvar,
}

/// A mounted disk.
pub struct Mount {
    shared: Arc<Shared>,
    folder: PathBuf,
    session: Option<BackgroundSession>,
}

impl Mount {
    /// Needs /dev/fuse and the right to mount.
    pub fn new(folder: &Path) -> io::Result<Mount> {
        std::fs::create_dir_all(folder)?;
        let shared = Arc::new(Shared::default());
        let mut config = Config::default();
        config.mount_options = vec![
            MountOption::FSName("forgetful".to_owned()),
            MountOption::DefaultPermissions,
            MountOption::NoAtime,
        ];
        config.acl = SessionACL::All;
        let session = fuser::spawn_mount(Forgetful(shared.clone()), folder, &config)?;
        Ok(Mount { shared, folder: folder.to_owned(), session: Some(session) })
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// An empty disk.
    pub fn format(&self) {
        *self.shared.state.lock() = State::default();
    }

    /// The disk as it is, all of it durable, to be put back later.
    pub fn snapshot(&self) -> Medium {
        let mut medium = self.shared.state.lock().medium.clone();
        medium.settle();
        medium
    }

    /// Puts a disk back. Nobody uses the file system meanwhile.
    pub fn restore(&self, medium: &Medium) {
        *self.shared.state.lock() = State { medium: medium.clone(), ..State::default() };
    }

    /// The power goes at the `after`-th change from now, or only when [`Mount::cut`] says so.
    pub fn arm(&self, after: Option<u64>) {
        let mut state = self.shared.state.lock();
        (state.changes, state.cut_after) = (0, after);
    }

    /// One request fails; see also [`Mount::fired`]. Counting begins now.
    pub fn plan(&self, fault: Option<(Site, Failing)>) {
        let mut state = self.shared.state.lock();
        (state.fault, state.fired) = (fault, false);
        state.seen.clear();
    }

    pub fn fired(&self) -> bool {
        self.shared.state.lock().fired
    }

    /// Requests seen since [`Mount::plan`], by kind and file.
    pub fn seen(&self) -> BTreeMap<(Asked, String), u64> {
        self.shared.state.lock().seen.clone()
    }

    pub fn is_dead(&self) -> bool {
        self.shared.state.lock().dead
    }

    /// Waits until the power is gone, or for so long; whether it is.
    pub fn wait_for_death(&self, most: Duration) -> bool {
        let until = Instant::now() + most;
        let mut state = self.shared.state.lock();
        while !state.dead && !self.shared.died.wait_until(&mut state, until).timed_out() {}
        state.dead
    }

    /// The power goes now, if it is not gone: no request changes anything from here on.
    pub fn freeze(&self) {
        self.shared.state.lock().dead = true;
    }

    /// Decides what survived, and gives the power back. Nobody uses the disk meanwhile.
    pub fn cut(&self, random: &mut Prng) -> (Loss, u64) {
        let mut state = self.shared.state.lock();
        let loss = state.medium.cut(random);
        state.dead = false;
        state.cut_after = None;
        (loss, state.medium.fingerprint())
    }

    /// As [`Mount::cut`], and nothing volatile survives.
    pub fn lose(&self) -> Loss {
        let mut state = self.shared.state.lock();
        (state.dead, state.cut_after) = (false, None);
        state.medium.lose()
    }

    /// Copies everything to the real file system.
    pub fn save(&self, to: &Path) -> io::Result<()> {
        std::fs::create_dir_all(to)?;
        self.shared.state.lock().medium.save(to)
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if let Some(session) = self.session.take() {
            let _ = session.umount_and_join();
        }
        let _ = std::fs::remove_dir(&self.folder);
    }
}

struct Forgetful(Arc<Shared>);

impl Forgetful {
    fn name(state: &State, number: u64) -> String {
        state.names.get(&number).cloned().unwrap_or_else(|| "/".to_owned())
    }

    /// Counts the request, and decides about it.
    fn judge(&self, state: &mut State, request: Asked, file: &str) -> Result<(), Errno> {
        if state.dead {
            return Err(Errno::EIO);
        }
        if request.counts() {
            state.changes += 1;
            if state.cut_after.is_some_and(|after| state.changes >= after) {
                state.dead = true;
                self.0.died.notify_all();
            }
        }
        let seen = state.seen.entry((request, file.to_owned())).or_default();
        *seen += 1;
        let (seen, fired) = (*seen, state.fired);
        if let Some((site, how)) = &state.fault
            && !fired
            && site.request == request
            && site.file == file
            && site.nth == seen
        {
            state.fired = true;
            let error = Errno::from_i32(how.0);
            return Err(error);
        }
        Ok(())
    }

    /// Judges a request about a name, does it, and hands out what it found.
    fn named<T>(
        &self,
        request: Asked,
        name: &OsStr,
        act: impl FnOnce(&mut State) -> Result<T, Refusal>,
    ) -> Result<T, Errno> {
        let mut state = self.0.state.lock();
        self.judge(&mut state, request, &name.to_string_lossy())?;
        // The last change before the power went may survive, unanswered.
        Self::answer(act(&mut state), &state)
    }

    /// The same about a node.
    fn about<T>(
        &self,
        request: Asked,
        number: u64,
        act: impl FnOnce(&mut State) -> Result<T, Refusal>,
    ) -> Result<T, Errno> {
        let mut state = self.0.state.lock();
        let name = Self::name(&state, number);
        let judged = self.judge(&mut state, request, &name);
        if judged.is_err() && request == Asked::Sync {
            state.medium.fail_sync(number);
        }
        judged?;
        Self::answer(act(&mut state), &state)
    }

    fn answer<T>(result: Result<T, Refusal>, state: &State) -> Result<T, Errno> {
        match result {
            Ok(_) if state.dead => Err(Errno::EIO),
            other => other.map_err(Errno::from_i32),
        }
    }
}

fn attributes(of: Attributes) -> FileAttr {
    FileAttr {
        ino: INodeNo(of.number),
        size: of.len,
        blocks: of.allocated.div_ceil(512),
        atime: UNIX_EPOCH,
        mtime: UNIX_EPOCH,
        ctime: UNIX_EPOCH,
        crtime: UNIX_EPOCH,
        kind: if of.folder { FileType::Directory } else { FileType::RegularFile },
        perm: of.mode,
        nlink: if of.folder { 2 } else { 1 },
        uid: 0,
        gid: 0,
        rdev: 0,
        blksize: BLOCK as u32,
        flags: 0,
    }
}

fn direct() -> FopenFlags {
    FopenFlags::FOPEN_DIRECT_IO | FopenFlags::FOPEN_PARALLEL_DIRECT_WRITES
}

impl Filesystem for Forgetful {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let found = self.named(Asked::Look, name, |state| {
            let number = state.medium.lookup(parent.0, name)?;
            state.names.insert(number, name.to_string_lossy().into_owned());
            state.medium.attributes(number)
        });
        match found {
            Ok(of) => reply.entry(&NO_TIME, &attributes(of), Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match self.about(Asked::Look, number.0, |state| state.medium.attributes(number.0)) {
            Ok(of) => reply.attr(&NO_TIME, &attributes(of)),
            Err(error) => reply.error(error),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        _: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let request = if size.is_some() { Asked::Length } else { Asked::Look };
        let done = self.about(request, number.0, |state| {
            if let Some(size) = size {
                state.medium.set_len(number.0, size)?;
            }
            if let Some(mode) = mode {
                state.medium.set_mode(number.0, (mode & 0o7777) as u16);
            }
            state.medium.attributes(number.0)
        });
        match done {
            Ok(of) => reply.attr(&NO_TIME, &attributes(of)),
            Err(error) => reply.error(error),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        reply: ReplyEntry,
    ) {
        let made = self.named(Asked::MakeFolder, name, |state| {
            let number =
                state.medium.make_folder(parent.0, name, (mode & !umask & 0o7777) as u16)?;
            state.names.insert(number, name.to_string_lossy().into_owned());
            state.medium.attributes(number)
        });
        match made {
            Ok(of) => reply.entry(&NO_TIME, &attributes(of), Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.named(Asked::Remove, name, |s| s.medium.remove(parent.0, name, false)));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        empty(reply, self.named(Asked::Remove, name, |s| s.medium.remove(parent.0, name, true)));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let done = self.named(Asked::Rename, new_name, |state| {
            if !flags.is_empty() {
                return Err(libc::EINVAL);
            }
            state.medium.rename(parent.0, name, new_parent.0, new_name)?;
            let number = state.medium.lookup(new_parent.0, new_name)?;
            state.names.insert(number, new_name.to_string_lossy().into_owned());
            Ok(())
        });
        empty(reply, done);
    }

    fn open(&self, _: &Request, number: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        match self.about(Asked::Open, number.0, |state| state.medium.attributes(number.0)) {
            Ok(_) => reply.opened(FileHandle(0), direct()),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        umask: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let made = self.named(Asked::Create, name, |state| {
            let number = state.medium.create(parent.0, name, (mode & !umask & 0o7777) as u16)?;
            state.names.insert(number, name.to_string_lossy().into_owned());
            state.medium.attributes(number)
        });
        match made {
            Ok(of) => {
                reply.created(&NO_TIME, &attributes(of), Generation(0), FileHandle(0), direct());
            }
            Err(error) => reply.error(error),
        }
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let read = self.about(Asked::Read, number.0, |state| {
            state.medium.read(number.0, offset, size as usize)
        });
        match read {
            Ok(bytes) => reply.data(&bytes),
            Err(error) => reply.error(error),
        }
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        flags: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        // The kernel puts RWF_DSYNC and RWF_SYNC of the single write among the flags (fuse_write_flags).
        let durable = flags.0 & libc::O_DSYNC != 0;
        let request = if durable { Asked::WriteDurable } else { Asked::Write };
        let written = self.about(request, number.0, |state| {
            // The one at which the power goes has not answered: it is as volatile as any.
            let durable = durable && !state.dead;
            state.medium.write(number.0, offset, data, durable)?;
            Ok(data.len() as u32)
        });
        match written {
            Ok(n) => reply.written(n),
            Err(error) => reply.error(error),
        }
    }

    fn fallocate(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        let done = self.about(Asked::Allocate, number.0, |state| {
            if mode != 0 {
                return Err(libc::EOPNOTSUPP);
            }
            let end = offset + length;
            if state.medium.attributes(number.0)?.len < end {
                state.medium.set_len(number.0, end)?;
            }
            Ok(())
        });
        empty(reply, done);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let done = self.about(Asked::Sync, number.0, |state| {
            // Of the one at which the power goes, nothing is sure.
            if state.dead { Ok(()) } else { state.medium.sync(number.0) }
        });
        empty(reply, done);
    }

    fn fsyncdir(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        let done = self.about(Asked::SyncFolder, number.0, |state| {
            if state.dead { Ok(()) } else { state.medium.sync_folder(number.0) }
        });
        empty(reply, done);
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let listed = self.about(Asked::List, number.0, |state| {
            let mut all = vec![(".".into(), number.0, true), ("..".into(), number.0, true)];
            for (name, number) in state.medium.list(number.0)? {
                let folder = state.medium.attributes(number)?.folder;
                all.push((name, number, folder));
            }
            Ok(all)
        });
        match listed {
            Ok(all) => {
                for (i, (name, number, folder)) in all.into_iter().enumerate().skip(offset as usize)
                {
                    let kind = if folder { FileType::Directory } else { FileType::RegularFile };
                    if reply.add(INodeNo(number), i as u64 + 1, kind, name) {
                        break;
                    }
                }
                reply.ok();
            }
            Err(error) => reply.error(error),
        }
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        let free = CAPACITY.saturating_sub(self.0.state.lock().medium.allocated()) / BLOCK;
        reply.statfs(
            CAPACITY / BLOCK,
            free,
            free,
            1 << 20,
            1 << 20,
            BLOCK as u32,
            255,
            BLOCK as u32,
        );
    }
}

fn empty(reply: ReplyEmpty, done: Result<(), Errno>) {
    match done {
        Ok(()) => reply.ok(),
        Err(error) => reply.error(error),
    }
}

#[cfg(test)]
mod tests;
