//! Redo, page by page: on demand when the pool reads a page, and batch by batch in the background.
//!
//! Why the order does not matter: what an op does to one page depends on that page alone, a page's records are applied
//! in the order of the log and all at once, and nobody changes a page that is not in the pool; so whenever a page is
//! brought up to date, by whomever, it becomes what it was at the log's end. Two who do it at the same time make the
//! same page, and the pool takes one of them (`buffer_pool::BufferPool::install`).
//!
//! Invariants:
//! 1. A page is on the list until its frame has the changes. [`Redo::oldest`] is therefore at or below whatever a
//!    checkpoint may not yet forget, if asked before the pool is.
//! 2. The log from [`Redo::oldest`] on is kept by that, so a position on the list can always be read.
//! 3. What the list says of a page never changes; it goes as a whole. So it is shared and read without a lock.
//!
//! `batch.rs` has the background's part.

use crate::batch::{self, Bench};
use crate::pending::{Changes, MapChange, PageMap, Pending};
use crate::turns::Turns;
use buffer_pool::{PageBuf, PageId, PageRedo, PageWords, PageWordsMut, PoolError, Redone, header};
use log_manager::{Log, LogError, LogReader, LogRecord, Lsn};
use mvcc::Stamp;
use parking_lot::Mutex;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::*};
use storage::PageOp;
use transaction::{Bug, Envelope, Kind, planted};

const SHARDS: usize = 64;
/// Bytes of log that a single page's records are read by, at a time.
const DEMAND_BYTES: usize = 64 << 10;
/// Readers kept for that.
const READERS_KEPT: usize = 4;

type Shard = Mutex<PageMap<Arc<Changes>>>;

/// See the file.
pub struct Redo {
    pub(crate) log: Arc<Log>,
    pub(crate) base: Lsn,
    shards: Box<[Shard]>,
    /// All pages that were on the list, by first change.
    pub(crate) order: Vec<PageId>,
    pub(crate) turns: Turns,
    left: AtomicUsize,
    /// Pages of a batch.
    pub(crate) batch_pages: usize,
    /// Bytes of log from the first change to the last.
    log_bytes: u64,
    pub(crate) applied: AtomicU64,
    demanded: AtomicU64,
    readers: Mutex<Vec<LogReader>>,
    /// Those of the background's tasks, between two batches.
    pub(crate) benches: Mutex<Vec<Bench>>,
}

/// How far it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Progress {
    /// Pages that were on the list, and that still are.
    pub pages: u64,
    pub left: u64,
    /// Records applied to pages so far.
    pub applied: u64,
    /// Pages brought up to date because somebody asked for them.
    pub demanded: u64,
    /// Bytes of log that the list spans.
    pub log_bytes: u64,
}

/// A page that could not be brought up to date, and why. It stays on the list.
#[derive(Debug)]
pub struct Damaged {
    pub page: PageId,
    pub error: PoolError,
}

/// What a batch did.
#[derive(Debug, Default)]
pub struct Step {
    /// There was nothing to do but what other tasks are at. They may fail: it is worth asking again, later.
    pub elsewhere: bool,
    pub damaged: Vec<Damaged>,
}

impl Redo {
    /// Over what analysis has found, to be worked off by about so many `tasks`. Positions that it names must stay
    /// readable in `log`: see [`Redo::oldest`].
    pub fn new(log: Arc<Log>, pending: Pending, tasks: usize) -> Arc<Redo> {
        let Pending { base, end, pages, .. } = pending;
        let mut order: Vec<(u32, u64)> = pages.iter().map(|(p, c)| (c.first(), *p)).collect();
        order.sort_unstable();
        let spans: u64 = pages.values().map(|c| u64::from(c.last() - c.first()) * 8).sum();
        let first = order.first().map_or(0, |(at, _)| u64::from(*at) * 8);
        let log_bytes = (end.0 - base.0).saturating_sub(first);
        // As many pages as lie side by side in the log: a batch of fewer would read what is theirs as well.
        let side_by_side = spans.checked_div(log_bytes).unwrap_or(0) as usize;
        let left = order.len();
        let share = left.div_ceil(tasks.max(1));
        let shards: Box<[Shard]> = (0..SHARDS).map(|_| Mutex::default()).collect();
        for (page, changes) in pages {
            shards[shard_of(PageId(page))].lock().insert(page, Arc::new(changes));
        }
        Arc::new(Redo {
            log,
            base,
            shards,
            order: order.into_iter().map(|(_, page)| PageId(page)).collect(),
            turns: Turns::new(left),
            left: AtomicUsize::new(left),
            batch_pages: batch::pages_of_batch(side_by_side, share),
            log_bytes,
            applied: AtomicU64::new(0),
            demanded: AtomicU64::new(0),
            readers: Mutex::default(),
            benches: Mutex::default(),
        })
    }

    /// Whether no page lacks anything any more.
    pub fn is_done(&self) -> bool {
        self.left.load(Acquire) == 0
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress {
            pages: self.order.len() as u64,
            left: self.left.load(Acquire) as u64,
            applied: self.applied.load(Relaxed),
            demanded: self.demanded.load(Relaxed),
            log_bytes: self.log_bytes,
        }
    }

    /// The oldest record that a page on the list may lack. To be asked before the pool's `min_rec_lsn`.
    pub fn oldest(&self) -> Option<Lsn> {
        let oldest = |shard: &Shard| shard.lock().values().map(|c| c.first()).min();
        self.shards.iter().filter_map(oldest).min().map(|at| self.lsn(at))
    }

    pub(crate) fn lsn(&self, at: u32) -> Lsn {
        Lsn(self.base.0 + u64::from(at) * 8)
    }

    pub(crate) fn changes(&self, page: PageId) -> Option<Arc<Changes>> {
        self.shards[shard_of(page)].lock().get(&page.0).cloned()
    }

    /// At most `n` pages that are still on the list.
    pub(crate) fn rest(&self, n: usize) -> Vec<PageId> {
        let of = |s: &Shard| s.lock().keys().map(|p| PageId(*p)).collect::<Vec<_>>();
        self.shards.iter().flat_map(of).take(n).collect()
    }

    /// The record at `at`.
    pub(crate) fn record<'r>(
        &self,
        reader: &'r mut LogReader,
        page: PageId,
        at: Lsn,
    ) -> Result<LogRecord<'r>, PoolError> {
        let failed = |what: String| PoolError::Redo { page, what };
        reader.seek(at);
        match reader.next_record() {
            Ok(Some(record)) if record.start == at => Ok(record),
            Ok(_) => Err(failed(format!("the log has no record at {at} any more"))),
            // The log is not to blame where the device is.
            Err(LogError::Io { kind, what }) => {
                Err(PoolError::Io { page, action: "redo", error: io::Error::new(kind, what) })
            }
            Err(e) => Err(failed(e.to_string())),
        }
    }

    /// Applies a record to a page, if the page lacks it; whether it did. `row` is memory to work with.
    pub(crate) fn apply(
        record: &LogRecord<'_>,
        page: PageId,
        buf: &mut PageBuf,
        redone: &mut Redone,
        row: &mut Vec<u8>,
    ) -> Result<bool, PoolError> {
        let at = record.start;
        let failed = |what: &str| PoolError::Redo { page, what: format!("record {at}: {what}") };
        let senseless = || failed("it makes no sense");
        let envelope = Envelope::decode(record.payload).ok_or_else(senseless)?;
        if envelope.kind == Kind::FusedMany {
            // No two of them are of one page.
            let mut applied = false;
            for op in transaction::ops_together(envelope.body) {
                let op = op.ok_or_else(senseless)?;
                if op.pages().any(|touched| touched.page == page) {
                    let stamp = Stamp::committed(at);
                    applied |= op.redo(page, buf, stamp, record.end, row).map_err(failed)?;
                }
            }
            note(at, applied, redone);
            return Ok(applied);
        }
        let op = PageOp::decode(envelope.body).ok_or_else(senseless)?;
        if envelope.kind == Kind::Compensation && planted(Bug::NoCompensations) {
            return Ok(false);
        }
        let stamp = match envelope.kind {
            Kind::Fused => Stamp::committed(at),
            Kind::Op => Stamp::active(envelope.xid),
            _ => Stamp::frozen(),
        };
        let applied = op.redo(page, buf, stamp, record.end, row).map_err(failed)?;
        note(at, applied, redone);
        Ok(applied)
    }

    /// Applies what the list has of a map page; how many changes that were.
    pub(crate) fn apply_map(
        &self,
        changes: &Changes,
        page: PageId,
        buf: &mut PageBuf,
        redone: &mut Redone,
    ) -> u64 {
        let mut applied = 0;
        for &MapChange { at, len, extent, owner } in &changes.map {
            let (start, end) = (self.lsn(at), Lsn(self.lsn(at).0 + u64::from(len) * 8));
            let op = match extent {
                Some(extent) => PageOp::AllocExtent { map: page, extent, owner },
                None => PageOp::FreeExtents { map: page, owner },
            };
            let done = op.redo(page, buf, Stamp::frozen(), end, &mut Vec::new()) == Ok(true);
            note(start, done, redone);
            applied += u64::from(done);
        }
        applied
    }

    fn redo_one(
        &self,
        page: PageId,
        changes: &Changes,
        buf: &mut PageBuf,
    ) -> Result<Redone, PoolError> {
        let (mut redone, mut applied, mut row) = (Redone::NOTHING, 0, Vec::new());
        if !changes.at.is_empty() {
            let kept = self.readers.lock().pop();
            let mut reader = kept.unwrap_or_else(|| self.log.reader_by(self.base, DEMAND_BYTES));
            let newest = if planted(Bug::ShortRedo) { 1 } else { 0 };
            for &at in &changes.at[..changes.at.len() - newest] {
                let record = self.record(&mut reader, page, self.lsn(at))?;
                applied += u64::from(Self::apply(&record, page, buf, &mut redone, &mut row)?);
                runtime::task::maybe_yield();
            }
            let mut readers = self.readers.lock();
            if readers.len() < READERS_KEPT {
                readers.push(reader);
            }
        }
        applied += self.apply_map(changes, page, buf, &mut redone);
        self.applied.fetch_add(applied, Relaxed);
        redone.whole &= changes.anew;
        Ok(redone)
    }
}

impl PageRedo for Redo {
    fn is_pending(&self, page: PageId) -> bool {
        self.shards[shard_of(page)].lock().contains_key(&page.0)
    }

    fn redo(
        &self,
        page: PageId,
        buf: &mut PageBuf,
        read: &dyn Fn(&mut PageBuf) -> Result<(), PoolError>,
    ) -> Result<Redone, PoolError> {
        let Some(changes) = self.changes(page) else {
            read(buf)?;
            return Ok(Redone::NOTHING);
        };
        if changes.anew {
            debug_assert_eq!(buf.word(header::LSN), 0);
            buf.set_word(header::LSN, 0);
        } else {
            read(buf)?;
        }
        let redone = self.redo_one(page, &changes, buf)?;
        self.demanded.fetch_add(1, Relaxed);
        Ok(redone)
    }

    fn done(&self, page: PageId) {
        if self.shards[shard_of(page)].lock().remove(&page.0).is_some() {
            self.left.fetch_sub(1, AcqRel);
        }
    }
}

/// A page changed, or shows the change already. Whether the medium has what the file shows, nobody knows: the sync
/// behind it may have failed, or not have come. So the page counts as changed from there on, and is written again before
/// the log lets the record go.
fn note(at: Lsn, applied: bool, redone: &mut Redone) {
    if redone.rec_lsn.is_none() {
        *redone = Redone { rec_lsn: at, whole: applied };
    }
}

fn shard_of(page: PageId) -> usize {
    (stdx::mix64(page.0) >> 32) as usize % SHARDS
}
