//! Each mode of the real files does what the simulated ones do; the simulated ones lose power as told.

use crate::{Fault, File, FileSystem, IoDone, IoMode, Op, OpenOptions, RealFs, SimFs};
use runtime::clock;
use runtime::task::{self, Waker};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::*};
use stdx::AlignedBuf;
use telemetry::WaitType::Misc;

/// A folder of its own, gone when dropped.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("device-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).expect("a temporary folder");
        Folder(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn filled(len: usize, byte: u8) -> AlignedBuf {
    let mut b = AlignedBuf::zeroed(len);
    b.fill(byte);
    b
}

fn round_trip(fs: &dyn FileSystem, dir: &Path) {
    fs.create_dir_all(dir).expect("folder");
    for direct in [false, true] {
        let path = dir.join(format!("file-{direct}"));
        let options = OpenOptions { direct, ..OpenOptions::create_new() };
        let file = fs.open(&path, options).expect("create");
        assert!(fs.open(&path, OpenOptions::create_new()).is_err());
        file.allocate(0, 1 << 20).expect("allocate");
        assert_eq!(file.len().expect("len"), 1 << 20);
        file.write_all_at(4096, &filled(8192, 7), true, Misc).expect("durable");
        file.write_all_at(0, &filled(4096, 9)[..4096], false, Misc).expect("write");
        // Memory that is not aligned, and ranges that are not.
        let odd = vec![5u8; 4097];
        file.write_all_at(16384, &odd[1..], false, Misc).expect("bounced");
        file.sync(Misc).expect("sync");
        file.sync_all(Misc).expect("sync");
        let every = OpenOptions { dsync: true, direct, ..OpenOptions::existing() };
        let every = fs.open(&path, every).expect("open");
        every.write_all_at(32768, &filled(4096, 6), false, Misc).expect("durable as opened");
        let mut out = vec![0u8; 4098];
        file.read_exact_at(4095, &mut out, Misc).expect("read");
        assert_eq!((out[0], out[1], out[4097]), (9, 7, 7));
        file.read_exact_at(16384 + 4095, &mut out[..2], Misc).expect("read");
        assert_eq!(&out[..2], [5, 0]);
        let past = file.read_exact_at((1 << 20) - 1, &mut out[..2], Misc);
        assert_eq!(past.expect_err("past the end").kind(), io::ErrorKind::UnexpectedEof);
        file.reserve(1 << 20, 1 << 20).expect("reserve");
        assert_eq!(file.len().expect("len"), 2 << 20);
        file.read_exact_at((2 << 20) - 2, &mut out[..2], Misc).expect("read");
        assert_eq!(&out[..2], [0, 0]);
        file.set_len(4096).expect("cut");
        assert_eq!(file.len().expect("len"), 4096);
        if file.align() > 1 {
            assert!(file.write_all_at(1, &[0; 10], false, Misc).is_err());
        }
        let volume = fs.volume(&path).expect("a volume");
        assert!(volume.bytes >= volume.free_bytes && volume.bytes > 0 && !volume.is_read_only);
        assert!(volume.mount_point.is_absolute(), "{volume:?}");
        assert!(fs.volume(&dir.join("nothing")).is_err());
        fs.rename(&path, &dir.join("renamed")).expect("rename");
        fs.sync_dir(dir).expect("sync_dir");
        assert!(!fs.exists(&path).expect("looked for"));
        assert_eq!(fs.list(dir).expect("list"), [dir.join("renamed")]);
        fs.remove(&dir.join("renamed")).expect("remove");
    }
    let held = fs.lock_exclusive(&dir.join("lock")).expect("lock");
    let second = fs.lock_exclusive(&dir.join("lock")).expect_err("held");
    assert_eq!(second.kind(), io::ErrorKind::WouldBlock);
    drop(held);
    fs.lock_exclusive(&dir.join("lock")).expect("free again");
    let gone = fs.open(&dir.join("nothing"), OpenOptions::existing()).err().expect("missing");
    assert_eq!(gone.kind(), io::ErrorKind::NotFound);
}

#[test]
fn io_threads() {
    let folder = Folder::new("threads");
    round_trip(&*RealFs::new(IoMode::Threads).expect("threads"), &folder.0);
}

#[test]
fn io_uring() {
    // Where the kernel forbids io_uring, Auto must have chosen threads.
    let folder = Folder::new("uring");
    match RealFs::new(IoMode::Uring) {
        Ok(fs) => round_trip(&*fs, &folder.0),
        Err(_) => {
            let fs = RealFs::new(IoMode::Auto).expect("auto never fails");
            assert_eq!(fs.mode(), IoMode::Threads);
        }
    }
}

#[test]
fn a_path_has_one_canonical_name() {
    let folder = Folder::new("canonical");
    let fs = RealFs::new(IoMode::Threads).expect("threads never fail");
    let data = folder.0.join("data");
    fs.create_dir_all(&data).expect("a folder");
    let file = data.join("file");
    drop(fs.open(&file, OpenOptions::create()).expect("create"));
    std::os::unix::fs::symlink("file", data.join("link")).expect("a link");
    std::os::unix::fs::symlink("absent", data.join("dangling")).expect("a link to nothing");
    std::os::unix::fs::symlink("circle", data.join("circle")).expect("a link to itself");
    let one = fs.canonical(&file).expect("it is there");
    let of = |path: &str| fs.canonical(&data.join(path));
    assert_eq!(of("link").expect("a link"), one);
    assert_eq!(of("../data/./file").expect("by its folder"), one);
    assert_eq!(of("dangling").expect("to nothing"), of("absent").expect("not there yet"));
    assert_eq!(of("none/new").expect("no folder"), of("none").expect("not there").join("new"));
    assert!(of("circle").is_err());
    assert!(of("none/../file").is_err());
}

#[test]
fn what_is_made_is_not_for_everybody() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("modes");
    let fs = RealFs::new(IoMode::Threads).expect("threads never fail");
    let data = folder.0.join("data");
    fs.create_dir_all(&data).expect("a folder");
    let file = data.join("file");
    drop(fs.open(&file, OpenOptions::create()).expect("create"));
    let mode = |path: &Path| std::fs::metadata(path).expect("it is there").permissions().mode();
    assert_eq!(mode(&data) & 0o027, 0);
    assert_eq!(mode(&file) & 0o137, 0);
}

#[test]
fn many_in_flight_from_many_threads() {
    let folder = Folder::new("many");
    for mode in [IoMode::Auto, IoMode::Threads] {
        let fs = RealFs::new(mode).expect("auto and threads never fail");
        let path = folder.0.join(format!("{mode:?}"));
        let file = fs.open(&path, OpenOptions::create().direct()).expect("create");
        file.allocate(0, 64 * 4096).expect("allocate");
        std::thread::scope(|s| {
            for t in 0..8u64 {
                let file = &file;
                s.spawn(move || {
                    for i in 0..8 {
                        let byte = (t * 8 + i) as u8;
                        let at = (t * 8 + i) * 4096;
                        file.write_all_at(at, &filled(4096, byte), i % 2 == 0, Misc)
                            .expect("write");
                        let mut out = filled(4096, 255);
                        file.read_exact_at(at, &mut out, Misc).expect("read");
                        assert!(out.iter().all(|&b| b == byte));
                    }
                });
            }
        });
    }
}

/// Starts more reads than the rings have room for, and looks for completions only afterwards.
fn start_many_then_wait(file: &dyn File, n: usize) {
    struct Counted {
        left: AtomicUsize,
        failed: AtomicUsize,
        waker: Waker,
    }
    impl IoDone for Counted {
        fn complete(&self, r: io::Result<usize>, _: u64, _: u64) {
            self.failed.fetch_add(usize::from(r.ok() != Some(4096)), Relaxed);
            if self.left.fetch_sub(1, AcqRel) == 1 {
                self.waker.wake();
            }
        }
    }
    let mut bufs: Vec<AlignedBuf> = (0..n).map(|_| AlignedBuf::zeroed(4096)).collect();
    let (left, failed) = (AtomicUsize::new(n), AtomicUsize::new(0));
    let done = Arc::new(Counted { left, failed, waker: task::current_waker() });
    for (i, buf) in bufs.iter_mut().enumerate() {
        let at = (i % 64 * 4096) as u64;
        // SAFETY: the buffers live until every read is over, or the process ends in `fatal` below.
        unsafe { file.submit(Op::Read, at, buf.as_mut_ptr(), 4096, done.clone()) };
    }
    let late = clock::now_ns() + 60_000_000_000;
    while done.left.load(Acquire) > 0 {
        if task::park(Misc, Some(late)) == task::Parked::TimedOut {
            stdx::fatal!("{} of {n} reads never completed", done.left.load(Acquire));
        }
    }
    assert_eq!(done.failed.load(Relaxed), 0);
}

#[test]
fn who_only_starts_loses_no_completion() {
    let folder = Folder::new("room");
    for (direct, threads, n) in [(false, 1, 10_000), (true, 1, 5_000), (false, 4, 3_000)] {
        let fs = RealFs::new(IoMode::Auto).expect("auto never fails");
        let options = OpenOptions { direct, ..OpenOptions::create() };
        let path = folder.0.join(format!("file-{direct}-{threads}"));
        let file = fs.open(&path, options).expect("create");
        file.allocate(0, 64 * 4096).expect("allocate");
        std::thread::scope(|s| {
            (0..threads).for_each(|_| drop(s.spawn(|| start_many_then_wait(&*file, n))));
        });
    }
}

#[test]
fn simulated() {
    let fs = SimFs::new(1);
    round_trip(&*fs, Path::new("/data"));
    let _world = runtime::sim::enter(1);
    round_trip(&*SimFs::new(1), Path::new("/data"));
}

fn byte_at(fs: &SimFs, path: &Path, at: u64) -> Option<u8> {
    let file = fs.open(path, OpenOptions::existing()).ok()?;
    let mut out = [0];
    file.read_exact_at(at, &mut out, Misc).ok().map(|_| out[0])
}

#[test]
fn power_loss_keeps_the_durable_and_gambles_with_the_rest() {
    let _world = runtime::sim::enter(3);
    let fs = SimFs::new(3);
    let (a, b) = (Path::new("a"), Path::new("b"));
    let file = fs.open(a, OpenOptions::create()).expect("create");
    file.allocate(0, 8192).expect("allocate");
    fs.sync_dir(Path::new("")).expect("sync_dir");
    file.write_all_at(0, &[1; 1024], false, Misc).expect("write");
    file.sync(Misc).expect("sync");
    file.write_all_at(0, &[2; 1024], false, Misc).expect("volatile");
    file.write_all_at(512, &[3; 512], true, Misc).expect("settles the second sector");
    file.write_all_at(4096, &[4; 2048], true, Misc).expect("durable");
    let every = fs.open(a, OpenOptions { dsync: true, ..OpenOptions::existing() }).expect("open");
    every.write_all_at(6144, &[4; 2048], false, Misc).expect("durable as the file was opened");
    fs.open(b, OpenOptions::create()).expect("a name not made durable");

    let (mut first, mut named, mut hashes) = (Vec::new(), Vec::new(), Vec::new());
    for seed in 0..64 {
        let after = fs.crash(seed);
        assert_eq!(byte_at(&after, a, 512), Some(3), "a durable write is never undone");
        assert_eq!(byte_at(&after, a, 8191), Some(4));
        first.push(byte_at(&after, a, 0).expect("there"));
        named.push(after.exists(b).expect("looked for"));
        hashes.push(after.image_hash());
        assert_eq!(
            after.image_hash(),
            fs.crash(seed).image_hash(),
            "a crash is a function of its seed"
        );
    }
    first.sort_unstable();
    first.dedup();
    assert_eq!(first, [1, 2]);
    assert!(named.contains(&true) && named.contains(&false));
    hashes.sort_unstable();
    hashes.dedup();
    assert_eq!(hashes.len(), 4);
}

#[test]
fn a_torn_write_is_a_mixture_of_sectors() {
    let _world = runtime::sim::enter(4);
    let fs = SimFs::new(4);
    let file = fs.open(Path::new("a"), OpenOptions::create()).expect("create");
    file.allocate(0, 4096).expect("allocate");
    fs.sync_dir(Path::new("")).expect("sync_dir");
    file.write_all_at(0, &[1; 4096], false, Misc).expect("volatile");
    let torn = (0..32).any(|seed| {
        let after = fs.crash(seed);
        let f = after.open(Path::new("a"), OpenOptions::existing()).expect("there");
        let mut out = [0; 4096];
        f.read_exact_at(0, &mut out, Misc).expect("read");
        assert!(out.chunks(512).all(|s| s.iter().all(|&b| b == s[0])), "sectors are whole");
        out.contains(&0) && out.contains(&1)
    });
    assert!(torn);
}

#[test]
fn faults_come_when_told_and_a_failed_sync_promises_nothing() {
    let _world = runtime::sim::enter(5);
    let fs = SimFs::new(5);
    let file = fs.open(Path::new("a"), OpenOptions::create()).expect("create");
    file.allocate(0, 4096).expect("allocate");
    fs.sync_dir(Path::new("")).expect("sync_dir");
    fs.inject(Fault { op: Some(Op::Sync), after: 1, times: 1, errno: libc::EIO });
    file.sync(Misc).expect("the first succeeds");
    file.write_all_at(0, &[1; 512], false, Misc).expect("write");
    let failed = file.sync(Misc).expect_err("the second fails");
    assert_eq!(failed.raw_os_error(), Some(libc::EIO));
    file.sync(Misc).expect("the third lies");
    let survivors: Vec<_> = (0..32).map(|s| byte_at(&fs.crash(s), Path::new("a"), 0)).collect();
    assert!(survivors.contains(&Some(0)) && survivors.contains(&Some(1)));

    fs.set_capacity(8192);
    let full = file.write_all_at(8192, &[1; 512], true, Misc).expect_err("full");
    assert_eq!(full.raw_os_error(), Some(libc::ENOSPC));
    fs.power_off_at(Some(fs.ops() + 1));
    file.write_all_at(0, &[2; 512], true, Misc).expect("the last before the power goes");
    file.write_all_at(0, &[3; 512], true, Misc).expect_err("no power");
    assert!(!fs.is_on());
    assert_eq!(byte_at(&fs.crash(0), Path::new("a"), 0), Some(2));
}

#[test]
fn completions_come_in_an_order_of_the_seed() {
    struct Note(parking_lot::Mutex<Vec<u64>>);
    struct One(Arc<Note>, u64);
    impl IoDone for One {
        fn complete(&self, r: io::Result<usize>, _: u64, _: u64) {
            r.expect("no fault");
            self.0.0.lock().push(self.1);
        }
    }
    let order = |seed| {
        let _world = runtime::sim::enter(seed);
        let fs = SimFs::new(seed);
        let file = fs.open(Path::new("a"), OpenOptions::create()).expect("create");
        let note = Arc::new(Note(parking_lot::Mutex::default()));
        let bytes = filled(512, 1);
        for i in 0..10 {
            let done = Arc::new(One(note.clone(), i));
            // SAFETY: `bytes` outlives the loop below, which ends when all are complete.
            unsafe { file.submit(Op::Write, i * 512, bytes.as_ptr().cast_mut(), 512, done) };
        }
        while fs.in_flight() > 0 {
            runtime::task::sleep_ns(1000, Misc);
        }
        note.0.lock().clone()
    };
    assert_eq!(order(1), order(1));
    assert_ne!(order(1), order(2));
    assert_ne!(order(1), (0..10).collect::<Vec<_>>());
}

/// What was done with a file is on record, in bytes and operations; a failed one is not.
fn records(fs: &dyn FileSystem, dir: &Path) {
    fs.create_dir_all(dir).expect("folder");
    let file = fs.open(&dir.join("recorded"), OpenOptions::create_new()).expect("create");
    let before = file.stats();
    file.write_all_at(0, &filled(4096, 1), true, Misc).expect("durable");
    file.write_all_at(4096, &filled(8192, 2), false, Misc).expect("write");
    file.sync(Misc).expect("sync");
    let mut out = vec![0u8; 512];
    file.read_exact_at(0, &mut out, Misc).expect("read");
    let after = file.stats();
    assert_eq!((after.writes - before.writes, after.write_bytes - before.write_bytes), (2, 12_288));
    assert_eq!((after.reads - before.reads, after.read_bytes - before.read_bytes), (1, 512));
    assert!(after.pending.is_empty());
}

#[test]
fn what_was_done_with_a_file_is_on_record() {
    for mode in [IoMode::Auto, IoMode::Threads] {
        let folder = Folder::new(&format!("records-{mode:?}"));
        records(&*RealFs::new(mode).expect("a file system"), &folder.0);
    }
    let fs = SimFs::new(3);
    records(&*fs, Path::new("/d"));
    let file = fs.open(Path::new("/d/recorded"), OpenOptions::existing()).expect("open");
    fs.inject(Fault { op: Some(Op::Write), after: 0, times: 1, errno: libc::EIO });
    assert!(file.write_all_at(0, &filled(4096, 3), false, Misc).is_err());
    assert_eq!(file.stats(), crate::FileStats::default());
}

#[test]
fn what_is_on_its_way_is_listed() {
    struct Nothing;
    impl IoDone for Nothing {
        fn complete(&self, _: io::Result<usize>, _: u64, _: u64) {}
    }
    let _world = runtime::sim::enter(9);
    let fs = SimFs::new(9);
    let file = fs.open(Path::new("/f"), OpenOptions::create()).expect("create");
    let bytes = filled(4096, 1);
    // SAFETY: the buffer lives until the operation is over, at the end of the test.
    unsafe {
        file.submit(Op::WriteDurable, 8192, bytes.as_ptr().cast_mut(), 4096, Arc::new(Nothing));
    }
    let pending = file.stats().pending;
    assert_eq!(pending.len(), 1);
    assert_eq!(
        (pending[0].op, pending[0].offset, pending[0].bytes),
        (Op::WriteDurable, 8192, 4096)
    );
    file.sync(Misc).expect("sync");
    assert!(file.stats().pending.iter().all(|io| io.op == Op::WriteDurable));
    while fs.in_flight() > 0 {
        runtime::task::sleep_ns(1_000_000, Misc);
    }
    assert!(file.stats().pending.is_empty());
    assert_eq!(file.stats().writes, 1);
}

#[test]
fn what_cannot_be_looked_at_is_not_absent() {
    let fs = RealFs::new(IoMode::Threads).expect("threads are always there");
    let folder = std::env::temp_dir().join(format!("millrace-exists-{}", std::process::id()));
    assert!(!fs.exists(&folder.join("a/b")).expect("looked for"));
    fs.create_dir_all(&folder.join("a/b")).expect("made");
    fs.create_dir_all(&folder.join("a/b")).expect("made before");
    assert!(fs.exists(&folder.join("a/b")).expect("looked for"));
    // A name that no file system takes.
    let error = fs.exists(&folder.join("x".repeat(300))).expect_err("no answer");
    assert_eq!(error.raw_os_error(), Some(libc::ENAMETOOLONG));
    std::fs::remove_dir_all(&folder).expect("removed");
}
