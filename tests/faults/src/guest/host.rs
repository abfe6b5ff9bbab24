//! Loop devices, mounts and disks on this host, and that nothing of them outlives this process, however it ends:
//!
//! - what it mounts is mounted in a namespace of its own ([`keep_mounts_to_oneself`]);
//! - a loop device clears itself when the last who uses it is gone (LO_FLAGS_AUTOCLEAR), and is never more than
//!   mounted: nobody holds it open besides;
//! - a state's disk is memory without a name ([`Slot`]);
//! - a server is killed with the thread that started it ([`Server`](crate::server::Server)).
//!
//! So an interrupt leaves only the folder of the disk's and the log's files. The next run finds that by its name, and
//! loop devices too that somebody's mount has kept: [`sweep`].

use super::states::{CHUNK, Image};
use std::ffi::{CStr, CString};
use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, FromRawFd};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const PAGE: usize = 4096;
/// What a killed process has left in the kernel may keep its files open a moment longer.
const BUSY_MAX: Duration = Duration::from_secs(30);
/// The folder of a run is called this and its process.
const FOLDER: &str = "guest-";
/// And so are its disks in memory.
const DISK: &str = "millrace-guest-";

// linux/loop.h
const LOOP_CLR_FD: u64 = 0x4c01;
const LOOP_CONFIGURE: u64 = 0x4c0a;
const LOOP_CTL_GET_FREE: u64 = 0x4c82;
const LO_FLAGS_AUTOCLEAR: u32 = 4;

#[repr(C)]
struct LoopInfo {
    device: u64,
    inode: u64,
    rdevice: u64,
    offset: u64,
    size_limit: u64,
    number: u32,
    encrypt_type: u32,
    encrypt_key_size: u32,
    flags: u32,
    names: [u8; 160],
    init: [u64; 2],
}

#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo,
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<LoopInfo>() == 232 && size_of::<LoopConfig>() == 304);

/// A file as a block device, until nobody has it open or mounted.
struct LoopDevice {
    path: PathBuf,
    /// Keeps it from clearing itself before it is mounted.
    _open: File,
}

impl LoopDevice {
    fn attach(file: &File) -> io::Result<LoopDevice> {
        let both = |path: &Path| OpenOptions::new().read(true).write(true).open(path);
        let control = both(Path::new("/dev/loop-control"))?;
        let until = Instant::now() + BUSY_MAX;
        loop {
            // SAFETY: a plain system call without memory.
            let number = unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) };
            if number < 0 {
                return Err(io::Error::last_os_error());
            }
            let path = PathBuf::from(format!("/dev/loop{number}"));
            let device = both(&path)?;
            // SAFETY: integers and arrays of them may be zero.
            let mut config: LoopConfig = unsafe { std::mem::zeroed() };
            config.fd = file.as_raw_fd() as u32;
            config.info.flags = LO_FLAGS_AUTOCLEAR;
            // SAFETY: `config` is the kernel's structure, whole, and lives.
            let done =
                unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) };
            match io::Error::last_os_error() {
                _ if done == 0 => return Ok(LoopDevice { path, _open: device }),
                // Somebody else took it.
                error if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < until => {}
                error => return Err(error),
            }
        }
    }
}

/// A disk's file, mounted here as ext4.
pub struct Mounted {
    point: PathBuf,
    mounted: bool,
}

impl Mounted {
    /// ext4 replays its journal on the way.
    pub fn new(disk: &File, point: &Path) -> Result<Mounted, String> {
        let said = |error: io::Error| format!("{}: {error}", point.display());
        let device = LoopDevice::attach(disk).map_err(|error| format!("a loop device: {error}"))?;
        // No thread of the kernel begins to fill tables of inodes in.
        mount(&device.path, point, "ext4", c"noinit_itable").map_err(said)?;
        Ok(Mounted { point: point.to_owned(), mounted: true })
    }

    pub fn path(&self) -> &Path {
        &self.point
    }

    /// When this returns the file holds everything, and the loop device is gone.
    pub fn unmount(mut self) -> Result<(), String> {
        self.mounted = false;
        unmount(&self.point)
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if self.mounted
            && let Err(error) = unmount(&self.point)
        {
            eprintln!("guest: {error}");
        }
    }
}

/// A mount of any kind; its place is made when it lacks.
pub fn mount(what: &Path, place: &Path, kind: &str, options: &CStr) -> io::Result<()> {
    std::fs::create_dir_all(place)?;
    let text = |path: &Path| CString::new(path.as_os_str().as_encoded_bytes()).expect("no zero");
    let (source, target) = (text(what), text(place));
    let kind = CString::new(kind).expect("no zero");
    // SAFETY: a plain system call with strings that live.
    let done = unsafe {
        libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, options.as_ptr().cast())
    };
    match done {
        0 => Ok(()),
        _ => Err(io::Error::other(format!(
            "mount at {}: {}",
            place.display(),
            io::Error::last_os_error()
        ))),
    }
}

/// Waits while it is busy; what stays busy is out of sight at least, and an error.
fn unmount(point: &Path) -> Result<(), String> {
    let target = CString::new(point.as_os_str().as_encoded_bytes()).expect("no zero");
    // SAFETY: a plain system call with a string that lives.
    let call = |flags| match unsafe { libc::umount2(target.as_ptr(), flags) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    };
    let until = Instant::now() + BUSY_MAX;
    loop {
        match call(0) {
            Ok(()) => return Ok(()),
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) && Instant::now() < until => {
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) => {
                let _ = call(libc::MNT_DETACH);
                return Err(format!("umount {}: {error}", point.display()));
            }
        }
    }
}

/// A disk in memory that takes on one state after the other.
///
/// Invariant: whoever had it mounted has unmounted it before [`Slot::bring`]; so nobody else touches its memory then.
pub struct Slot {
    file: File,
    memory: *mut u8,
    len: usize,
}

// SAFETY: the memory is the slot's own, and goes where it goes.
unsafe impl Send for Slot {}

impl Slot {
    pub fn new(len: usize) -> io::Result<Slot> {
        assert!(len > 0 && len.is_multiple_of(CHUNK));
        let name = CString::new(format!("{DISK}{}", std::process::id())).expect("no zero");
        // SAFETY: plain system calls; the descriptor is a new one and nobody else's.
        let (file, memory) = unsafe {
            let fd = libc::memfd_create(name.as_ptr(), libc::MFD_CLOEXEC);
            if fd < 0 {
                return Err(io::Error::last_os_error());
            }
            let file = File::from_raw_fd(fd);
            file.set_len(len as u64)?;
            let both = libc::PROT_READ | libc::PROT_WRITE;
            (file, libc::mmap(std::ptr::null_mut(), len, both, libc::MAP_SHARED, fd, 0))
        };
        if memory == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Slot { file, memory: memory.cast(), len })
    }

    pub fn file(&self) -> &File {
        &self.file
    }

    /// Makes it hold what the image holds, writing only pages that differ; the number of those.
    pub fn bring(&mut self, image: &Image) -> io::Result<usize> {
        assert_eq!(image.len(), self.len);
        let filled = filled(&self.file, self.len)?;
        // SAFETY: the mapping is `len` bytes long, readable and writable, and by the invariant nobody else's now.
        let memory = unsafe { std::slice::from_raw_parts_mut(self.memory, self.len) };
        let mut written = 0;
        for (i, (there, wanted)) in memory.chunks_mut(CHUNK).zip(image.chunks()).enumerate() {
            match wanted {
                None if filled[i] => {
                    let (at, len) = ((i * CHUNK) as libc::off_t, CHUNK as libc::off_t);
                    let flags = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
                    // SAFETY: a plain system call; the pages that go from the mapping read as zeros afterwards.
                    if unsafe { libc::fallocate(self.file.as_raw_fd(), flags, at, len) } < 0 {
                        return Err(io::Error::last_os_error());
                    }
                    written += CHUNK / PAGE;
                }
                None => {}
                Some(wanted) if *there == *wanted => {}
                Some(wanted) => {
                    for (there, wanted) in there.chunks_mut(PAGE).zip(wanted.chunks(PAGE)) {
                        if *there != *wanted {
                            there.copy_from_slice(wanted);
                            written += 1;
                        }
                    }
                }
            }
        }
        Ok(written)
    }
}

/// Which chunks of a sparse file have bytes of their own; the others are zeros.
pub fn filled(file: &File, len: usize) -> io::Result<Vec<bool>> {
    let mut filled = vec![false; len.div_ceil(CHUNK)];
    let mut at = 0;
    loop {
        // SAFETY: plain system calls.
        let (from, to) = unsafe {
            let from = libc::lseek(file.as_raw_fd(), at, libc::SEEK_DATA);
            (from, libc::lseek(file.as_raw_fd(), from.max(0), libc::SEEK_HOLE))
        };
        if from < 0 || to < 0 {
            let error = io::Error::last_os_error();
            // No more data.
            let end = error.raw_os_error() == Some(libc::ENXIO);
            return if end { Ok(filled) } else { Err(error) };
        }
        filled[from as usize / CHUNK..(to as usize).div_ceil(CHUNK)].fill(true);
        at = to;
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        // SAFETY: mapped by `new` and by nobody else.
        unsafe { libc::munmap(self.memory.cast(), self.len) };
    }
}

/// The folder of this run's disks.
pub fn own_folder(folder: &Path) -> PathBuf {
    folder.join(format!("{FOLDER}{}", std::process::id()))
}

/// Removes what runs have left here that ended in the middle: their folders, and loop devices on their disks.
pub fn sweep(folder: &Path) {
    let gone = |process: &str| {
        process.parse::<u32>().is_ok() && !Path::new("/proc").join(process).exists()
    };
    for name in names(Path::new("/sys/block")).filter(|name| name.starts_with("loop")) {
        let told = Path::new("/sys/block").join(&name).join("loop/backing_file");
        let Ok(backing) = std::fs::read_to_string(told) else { continue };
        let of_memory = backing.split_once(DISK).map(|(_, rest)| rest);
        let of_folder = backing
            .strip_prefix(&*folder.to_string_lossy())
            .and_then(|rest| rest.strip_prefix('/')?.strip_prefix(FOLDER));
        let process = of_memory.or(of_folder).unwrap_or_default();
        let digits = process.len() - process.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        if gone(&process[..digits])
            && let Ok(device) = File::open(Path::new("/dev").join(&name))
        {
            // SAFETY: a plain system call without memory.
            unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CLR_FD) };
            println!("guest: an earlier run had left /dev/{name} ({})", backing.trim());
        }
    }
    for name in names(folder) {
        if name.strip_prefix(FOLDER).is_some_and(gone) {
            println!("guest: an earlier run had left {}", folder.join(&name).display());
            let _ = std::fs::remove_dir_all(folder.join(&name));
        }
    }
}

fn names(folder: &Path) -> impl Iterator<Item = String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok())
}

/// What is mounted from here on is gone with this process, however it ends.
pub fn keep_mounts_to_oneself() -> Result<(), String> {
    let flags = libc::MS_REC | libc::MS_PRIVATE;
    let (none, root) = (std::ptr::null(), c"/".as_ptr());
    // SAFETY: plain system calls; the only pointer that is not null is a string that lives.
    let done = unsafe {
        libc::unshare(libc::CLONE_NEWNS) == 0
            && libc::mount(none, root, none, flags, none.cast()) == 0
    };
    if !done {
        return Err(format!("mounts: {}", io::Error::last_os_error()));
    }
    // A file system of another process goes only when nobody has it mounted: ours are copies of its mounts.
    let mounts = std::fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    for place in mounts.lines().filter_map(fuse_mount) {
        let place = CString::new(place).expect("no zero");
        // SAFETY: a plain system call with a string that lives.
        unsafe { libc::umount2(place.as_ptr(), libc::MNT_DETACH) };
    }
    Ok(())
}

/// The place of a line of proc_mounts(5), if it is a file system in user space.
fn fuse_mount(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().skip(1);
    let place = words.next()?;
    words.next()?.starts_with("fuse").then_some(place)
}

/// The kernel whose ext4 replays the states' journals.
pub fn kernel() -> String {
    let told = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    format!("Linux {}", told.trim())
}

/// Seconds of CPU that this process and its children that have ended have had.
pub fn cpu_seconds() -> f64 {
    let of = |who| {
        // SAFETY: a plain system call that fills in a structure of integers.
        let usage: libc::rusage = unsafe {
            let mut usage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        seconds(usage.ru_utime) + seconds(usage.ru_stime)
    };
    of(libc::RUSAGE_SELF) + of(libc::RUSAGE_CHILDREN)
}

/// A file of zeros.
pub fn sparse(path: &Path, len: u64) -> Result<File, String> {
    let said = |error: io::Error| format!("{}: {error}", path.display());
    let open = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path);
    let file = open.map_err(said)?;
    file.set_len(len).map_err(said)?;
    Ok(file)
}

/// A sparse copy of a sparse file.
pub fn copy_sparse(from: &Path, to: &Path) -> io::Result<()> {
    let (from, to) = (File::open(from)?, File::create(to)?);
    let len = from.metadata()?.len();
    to.set_len(len)?;
    let mut chunk = vec![0; CHUNK];
    for (i, _) in filled(&from, len as usize)?.iter().enumerate().filter(|(_, filled)| **filled) {
        let at = (i * CHUNK) as u64;
        let part = &mut chunk[..CHUNK.min((len - at) as usize)];
        from.read_exact_at(part, at)?;
        to.write_all_at(part, at)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
