//! How fast changed pages go home: megabytes a second of pages, each written twice (double write, in place).
//!
//! `cargo run --release -p buffer-pool --example writeback_bench [-- DIR [MEGABYTES]]`

use buffer_pool::*;
use device::{FileSystem, IoMode, OpenOptions, RealFs};
use log_manager::{Harden, LogError, Lsn};
use runtime::clock::now_ns;
use std::path::PathBuf;
use std::sync::Arc;

struct NoLog;

impl Harden for NoLog {
    fn durable(&self) -> Lsn {
        Lsn::MAX
    }
    fn wait_durable(&self, _upto: Lsn) -> Result<(), LogError> {
        Ok(())
    }
}

fn cpu_ns() -> u64 {
    let mut t = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `t` is a timespec to be written.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut t) };
    t.tv_sec as u64 * 1_000_000_000 + t.tv_nsec as u64
}

fn main() {
    let mut args = std::env::args().skip(1);
    let dir = PathBuf::from(args.next().unwrap_or("/tmp".into())).join("writeback_bench");
    let megabytes: u64 = args.next().and_then(|a| a.parse().ok()).unwrap_or(1024);
    let fs = RealFs::new(IoMode::Auto).expect("a file system");
    fs.create_dir_all(&dir).expect("a folder");
    let open =
        |name: &str| fs.open(&dir.join(name), OpenOptions::create().direct()).expect("a file");
    let (data, doublewrite) = (open("data"), open("doublewrite"));
    let bytes = megabytes << 20;
    data.allocate(0, bytes).expect("space");
    let config = PoolConfig {
        bytes: bytes as usize,
        prefault_bytes: bytes as usize,
        ..PoolConfig::default()
    };
    let pool = BufferPool::new(config, Arc::new(NoLog), doublewrite).expect("memory");
    let pages = (bytes / PAGE_BYTES as u64) as u32;
    pool.register_file(1, data, pages).expect("registered");
    for round in 0..4u64 {
        let tasks = 1 + round % 2;
        for n in 0..pages {
            let page = PageId::new(1, n);
            let mut w = pool.create_or_wait(page).expect("created");
            let mut p = PageBuf::zeroed();
            p.words_mut()[header::PAGE_ID] = page.0;
            p.words_mut()[8..].fill(round);
            w.copy_from(&p);
            w.set_lsn(Lsn(8 + round * 8), Lsn(16 + round * 8));
        }
        let (began, cpu) = (now_ns(), cpu_ns());
        let mut written = 0;
        std::thread::scope(|s| {
            let pass = || {
                let mut sum = 0;
                while pool.dirty_pages() != 0 {
                    sum += pool.checkpoint_pass(Lsn::MAX, 1 << 20).expect("written");
                }
                sum
            };
            let threads: Vec<_> = (0..tasks).map(|_| s.spawn(pass)).collect();
            threads.into_iter().for_each(|t| written += t.join().expect("done"));
        });
        assert_eq!(written, pages as usize);
        let (ns, cpu) = (now_ns() - began, cpu_ns() - cpu);
        let per_page = cpu / u64::from(pages);
        let mb_s = bytes as f64 / ns as f64 * 1e9 / (1 << 20) as f64;
        println!("{mb_s:8.0} MB/s of pages by {tasks}, {per_page} ns of CPU a page");
    }
    for name in ["data", "doublewrite"] {
        fs.remove(&dir.join(name)).expect("removed");
    }
}
