//! Pages give way to whatever else the process has. A program of its own, because limits are the process's.

use buffer_pool::{BufferPool, PAGE_BYTES, PageBuf, PageId, PoolConfig, header};
use device::{FileSystem, OpenOptions, SimFs};
use log_manager::{Harden, LogError, Lsn};
use runtime::memory::{self, NoMemory};
use runtime::pages::Pages;
use std::path::Path;
use std::sync::Arc;

const MB: usize = 1 << 20;
const LIMIT: usize = 128 * MB;
const POOL: usize = 64 * MB;

/// All is hardened.
struct Hard;

impl Harden for Hard {
    fn durable(&self) -> Lsn {
        Lsn(u64::MAX)
    }

    fn wait_durable(&self, _: Lsn) -> Result<(), LogError> {
        Ok(())
    }
}

/// The pool's target in MB, after it has come down to it.
fn settled(pool: &BufferPool) -> usize {
    pool.follow_memory();
    while pool.evict_some(1).expect("written") > 0 || pool.trim_step() {}
    pool.target_bytes() as usize / MB
}

#[test]
fn pages_give_way_to_what_is_mapped_beside_them_and_come_again() {
    let fs = SimFs::new(1);
    let open = |path: &str| fs.open(Path::new(path), OpenOptions::create()).expect("opened");
    let files = [open("/data"), open("/more")];
    files.iter().for_each(|file| file.allocate(0, POOL as u64).expect("room"));
    let config = PoolConfig { bytes: POOL, prefault_bytes: 0, ..PoolConfig::default() };
    let pool = BufferPool::new(config, Arc::new(Hard), open("/doublewrite")).expect("made");
    let count = (POOL / PAGE_BYTES) as u32;
    for (id, file) in [1, 2].into_iter().zip(files) {
        pool.register_file(id, file, count).expect("registered");
    }
    memory::set_limit_bytes(LIMIT as u64);
    pool.set_bounds(0, u64::MAX);

    // Pages themselves are not what they give way to.
    let fill = |file| {
        for n in 0..count - 64 {
            let mut page = PageBuf::zeroed();
            page.words_mut()[header::KIND] = 9 << 32;
            page.words_mut()[header::PAGE_ID] = PageId::new(file, n).0;
            let mut write = pool.create_or_wait(PageId::new(file, n)).expect("a frame");
            write.copy_from(&page);
            write.set_lsn(Lsn(8), Lsn(16));
        }
    };
    fill(1);
    assert_eq!(settled(&pool), POOL / MB);
    let full = pool.huge_bytes().1 as usize;
    assert!((POOL - MB..=POOL).contains(&full), "{full}");
    assert!(memory::mapped_bytes() as usize >= full);

    // A sixteenth of the limit is small tasks', and a 64th or two whoever's comes next.
    let tables = Pages::map(90 * MB);
    let left = LIMIT - LIMIT / 16 - tables.bytes();
    let target = settled(&pool);
    assert!((left / MB - 4..left / MB).contains(&target), "{target}");
    assert!(pool.huge_bytes().1 as usize <= target * MB);
    assert_eq!(memory::check(MB), Ok(()), "and a statement is not refused for pages");
    drop(tables);
    assert_eq!(settled(&pool), POOL / MB);

    // Before anybody is refused, pages that are as their files have them go: here all but a few.
    fill(2);
    pool.flush_all().expect("written");
    let full = pool.huge_bytes().1 as usize;
    assert!(full > POOL / 2, "{full}");
    memory::set_limit_bytes(LIMIT as u64 / 2);
    let tables = Pages::map(40 * MB);
    assert_eq!(memory::check(MB), Ok(()));
    let less = pool.huge_bytes().1 as usize;
    assert!(less <= full - 5 * MB, "{less} of {full}");
    while memory::mapped_bytes() > LIMIT as u64 / 2 {
        assert_eq!(memory::check(MB), Ok(()));
    }
    assert_eq!(memory::check(LIMIT), Err(NoMemory), "there is an end");
    drop(tables);
    memory::set_limit_bytes(u64::MAX);
}
