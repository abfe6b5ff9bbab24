//! A store on a simulated disk, and a log that keeps its records in a vector.

use crate::*;
use buffer_pool::{BufferPool, PageBuf, PoolConfig, PoolError};
use device::{FileSystem, OpenOptions, SimFs};
use log_manager::{Harden, LogError, Lsn};
use mvcc::{Stamp, Xid};
use parking_lot::Mutex;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};

#[derive(Clone)]
pub struct Record {
    pub stamp: Stamp,
    pub start: Lsn,
    pub end: Lsn,
    pub op: Vec<u8>,
}

/// Appends under a mutex; hardening is a number.
pub struct MemLog {
    pub records: Mutex<Vec<Record>>,
    tail: AtomicU64,
    durable: AtomicU64,
}

impl MemLog {
    pub fn new() -> Arc<MemLog> {
        let (tail, durable) = (AtomicU64::new(4096), AtomicU64::new(4096));
        Arc::new(MemLog { records: Mutex::new(Vec::new()), tail, durable })
    }

    pub fn tail(&self) -> Lsn {
        Lsn(self.tail.load(Acquire))
    }

    fn append(&self, op: &PageOp<'_>, stamp: impl FnOnce(Lsn) -> Stamp) -> Logged {
        let mut header = OpHeader::new();
        let op = op.encode(&mut header).concat();
        let mut records = self.records.lock();
        let start = self.tail();
        let end = Lsn(start.0 + 8 + (op.len() as u64).next_multiple_of(8));
        self.tail.store(end.0, Release);
        let stamp = stamp(start);
        records.push(Record { stamp, start, end, op });
        Logged { stamp, start, end }
    }
}

impl Harden for MemLog {
    fn durable(&self) -> Lsn {
        Lsn(self.durable.load(Acquire))
    }

    fn wait_durable(&self, upto: Lsn) -> Result<(), LogError> {
        assert!(upto <= self.tail(), "a page is ahead of the log");
        self.durable.fetch_max(upto.0, AcqRel);
        Ok(())
    }
}

impl SystemLog for MemLog {
    fn ensure(&self, _bytes: usize) -> Result<(), LogError> {
        Ok(())
    }

    fn log(&self, op: &PageOp<'_>) -> Logged {
        self.append(op, |_| Stamp::frozen())
    }
}

/// A transaction of sorts: commits everything at once, or under an Xid keeps what undoes it.
pub struct Txn {
    pub log: Arc<MemLog>,
    pub xid: Option<Xid>,
    pub undo: Vec<Vec<u8>>,
    pub purge: bool,
}

impl Txn {
    pub fn new(log: &Arc<MemLog>) -> Txn {
        Txn { log: log.clone(), xid: None, undo: Vec::new(), purge: false }
    }
}

impl TxnLog for Txn {
    fn ensure(&mut self, _bytes: usize) -> Result<(), StorageError> {
        assert!(runtime::task::may_suspend(), "ensure is called with nothing latched");
        Ok(())
    }

    fn log(&mut self, op: &PageOp<'_>) -> Logged {
        assert!(!runtime::task::may_suspend(), "a page is latched");
        let xid = self.xid;
        let stamp = |start| xid.map_or(Stamp::committed(start), Stamp::active);
        let logged = self.log.append(op, stamp);
        if xid.is_some() && op.undo().is_some() {
            self.undo.push(op.encode(&mut OpHeader::new()).concat());
        }
        logged
    }

    fn conflict(&mut self, existing: Stamp) -> OnExisting {
        match existing.xid() {
            Some(x) if Some(x) != self.xid => OnExisting::Wait(x),
            _ if existing.is_ghost() => OnExisting::ReplaceGhost,
            _ => OnExisting::Duplicate,
        }
    }

    fn before_write(&mut self, existing: Stamp) -> OnWrite {
        match existing.xid() {
            Some(x) if Some(x) != self.xid => OnWrite::Wait(x),
            _ if existing.is_ghost() => OnWrite::Gone,
            _ => OnWrite::Proceed,
        }
    }

    fn purgeable(&self, ghost: Stamp, _: TreeId, _: &mut dyn FnMut() -> Vec<u8>) -> bool {
        self.purge && ghost.xid().is_none()
    }
}

pub struct Kit {
    pub fs: Arc<SimFs>,
    pub log: Arc<MemLog>,
    pub store: Arc<Store>,
}

pub const FILE: &str = "/db/data.mdf";
const DOUBLEWRITE: &str = "/db/doublewrite";

pub fn header() -> FileHeader {
    FileHeader { database_uuid: [7; 16], file_id: 1, filegroup: 1, boot: b"boot".to_vec() }
}

/// A fresh database.
pub fn kit(frames: usize) -> Kit {
    let fs = SimFs::new(1);
    fs.create_dir_all(Path::new("/db")).unwrap();
    let file = fs.open(Path::new(FILE), OpenOptions::create()).unwrap();
    Store::format_file(&*file, &header(), 4 << 20).unwrap();
    drop(file);
    open(fs, MemLog::new(), frames)
}

/// A database over what is on the disk.
pub fn open(fs: Arc<SimFs>, log: Arc<MemLog>, frames: usize) -> Kit {
    let file = fs.open(Path::new(FILE), OpenOptions::create()).unwrap();
    let doublewrite = fs.open(Path::new(DOUBLEWRITE), OpenOptions::create()).unwrap();
    fs.sync_dir(Path::new("/db")).unwrap();
    buffer_pool::repair_torn(&doublewrite, &[(1, file.clone())]).unwrap();
    let config = PoolConfig { bytes: frames * 8192, prefault_bytes: 0, ..PoolConfig::default() };
    let pool = BufferPool::new(config, log.clone(), doublewrite).unwrap();
    let store = Store::new(pool, log.clone());
    store.add_file(1, 1, file, None).unwrap();
    Kit { fs, log, store }
}

impl Kit {
    pub fn txn(&self) -> Txn {
        Txn::new(&self.log)
    }

    /// Replays every record from `from` on.
    pub fn replay(&self, from: Lsn) {
        let records = self.log.records.lock().clone();
        for r in records.iter().filter(|r| r.start >= from) {
            let op = PageOp::decode(&r.op).expect("a logged op decodes");
            for touched in op.pages() {
                self.redo(r, &op, touched);
            }
        }
    }

    /// One op on one of its pages. The first write of a page that was made anew may be torn with no other copy: then
    /// its record says all.
    fn redo(&self, r: &Record, op: &PageOp<'_>, Touched { page, anew }: Touched) {
        let pool = self.store.pool();
        let mut w = match pool.exclusive(page) {
            Ok(w) => w,
            Err(PoolError::Checksum { .. }) if anew => pool.create_or_wait(page).unwrap(),
            // Some later record makes it anew, or whoever reads it meets the error.
            Err(PoolError::Checksum { .. }) => return,
            Err(e) => panic!("{e}"),
        };
        let mut copy = PageBuf::boxed();
        w.copy_to(&mut copy);
        if op.redo(page, &mut copy, r.stamp, r.end, &mut Vec::new()).unwrap() {
            w.copy_from(&copy);
            w.set_lsn(r.start, r.end);
        } else {
            w.unlock_unchanged();
        }
    }
}

pub fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// A row that says which key and version it is.
pub fn row(n: u64, version: u64, len: usize) -> Vec<u8> {
    let mut r = vec![0u8; len.max(16)];
    r[..8].copy_from_slice(&n.to_le_bytes());
    r[8..16].copy_from_slice(&version.to_le_bytes());
    r
}

/// Keys and rows.
pub type Rows = Vec<(Vec<u8>, Vec<u8>)>;

/// All live rows, through a scan.
pub fn rows(tree: &Tree) -> Rows {
    let mut scan = tree.scan(std::ops::Bound::Unbounded, std::ops::Bound::Unbounded, false);
    let mut out = Vec::new();
    while let Some((stamp, key, row)) = scan.next().unwrap() {
        if !stamp.is_ghost() {
            out.push((key.to_vec(), row.to_vec()));
        }
    }
    out
}

/// Compacts the whole tree, as the engine does.
pub fn compact(tree: &Tree, txn: &mut Txn, percent: u8) -> Compacted {
    let go_on = &mut || false;
    let mut turn = tree.compaction().expect("nobody else compacts it");
    turn.adopt_free_pages(go_on).unwrap();
    loop {
        let mut from = Some(Vec::new());
        while let Some(at) = from {
            from = turn.leaves(txn, &at, percent, go_on).unwrap();
        }
        if turn.inner(go_on).unwrap() == 0 {
            break;
        }
    }
    turn.free_spare_extents().unwrap();
    turn.done
}
