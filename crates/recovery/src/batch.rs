//! Redo in the background: many pages at a time, each log record read once for all of them.
//!
//! A batch: pages are read side by side, their records' positions put in one order, the log read forwards from piece to
//! piece (the next is on its way meanwhile), each record applied to the private copies of its pages; then the pages go
//! into the pool. Tasks share no page and no memory, so they run side by side.
//!
//! Pages are taken in the order of their first change. Where those of a page lie close together, as after inserts, a
//! batch is a stretch of the log. Where they lie far apart, as after random updates, the log is read once for every
//! batch: so a batch is a task's whole share then, as far as memory allows (an eighth of the pool). Nobody repeats what
//! another task is at (`turns.rs`).
//!
//! Invariant: nothing is allocated for a record, and what a batch works with (its bench) is kept for the next.

use crate::pending::Changes;
use crate::redo::{Damaged, Redo, Step};
use crate::turns::Taken;
use buffer_pool::{BufferPool, PageBuf, PageId, PageRedo, PageWordsMut, PoolError, Redone, header};
use log_manager::LogReader;
use std::sync::Arc;
use std::sync::atomic::Ordering::*;

/// Pages of a batch at least and at most, and records of one at most.
const BATCH_PAGES: usize = 512;
const BATCH_PAGES_MAX: usize = 64 << 10;
const BATCH_RECORDS: usize = 4 << 20;
/// Pages that are read side by side.
const READ_PAGES: usize = 256;
/// Copies of pages that a bench keeps when it is put away; a larger batch gives the rest back.
const PAGES_KEPT: usize = 4 * BATCH_PAGES;

/// Pages of a batch, of which so many lie side by side in the log, and so many are one task's share.
pub(crate) fn pages_of_batch(side_by_side: usize, share: usize) -> usize {
    side_by_side.min(share).clamp(BATCH_PAGES, BATCH_PAGES_MAX)
}

/// What a task works with.
pub(crate) struct Bench {
    reader: LogReader,
    bufs: Vec<PageBuf>,
    redone: Vec<Redone>,
    /// A position and, below it, which page of the batch.
    work: Vec<u64>,
    row: Vec<u8>,
}

type Batch = [(PageId, Arc<Changes>)];

impl Redo {
    /// Brings the next batch of pages up to date and puts them into `pool`. Any number of tasks may do so. Suspends;
    /// holds nothing that others may want.
    pub fn step(&self, pool: &BufferPool) -> Result<Step, PoolError> {
        let eighth = (pool.stats().frames / 8).max(8);
        let n = self.batch_pages.min(eighth);
        let (pages, _turn) = match self.turns.take(n) {
            Taken::Next(range, turn) => (self.order[range].to_vec(), turn),
            Taken::Rest(turn) => (self.rest(n), turn),
            Taken::Nothing => return Ok(Step { elsewhere: true, ..Step::default() }),
        };
        let mut step = Step::default();
        let mut batch: Vec<(PageId, Arc<Changes>)> = Vec::with_capacity(pages.len());
        batch.extend(pages.into_iter().filter_map(|p| Some((p, self.changes(p)?))));
        if batch.is_empty() {
            return Ok(step);
        }
        let kept = self.benches.lock().pop();
        let mut bench = kept.unwrap_or_else(|| Bench {
            reader: self.log.reader(self.base),
            bufs: Vec::new(),
            redone: Vec::new(),
            work: Vec::new(),
            row: Vec::new(),
        });
        // Few enough records at a time, whatever the pages have.
        let mut rest = &mut batch[..];
        while !rest.is_empty() {
            let mut records = 0;
            let few = |(_, c): &&(PageId, Arc<Changes>)| {
                records += c.at.len();
                records <= BATCH_RECORDS
            };
            let n = rest.iter().take_while(few).count().max(1);
            let (now, later) = std::mem::take(&mut rest).split_at_mut(n);
            self.run(pool, now, &mut bench, &mut step);
            rest = later;
        }
        bench.bufs.truncate(PAGES_KEPT);
        bench.bufs.shrink_to(PAGES_KEPT);
        self.benches.lock().push(bench);
        Ok(step)
    }

    fn run(&self, pool: &BufferPool, batch: &mut Batch, bench: &mut Bench, step: &mut Step) {
        // First those that are read from their files, in the order in which they lie there.
        batch.sort_unstable_by_key(|(page, changes)| (changes.anew, *page));
        let Bench { reader, bufs, redone, work, row } = bench;
        if bufs.len() < batch.len() {
            bufs.resize(batch.len(), PageBuf::zeroed());
        }
        redone.clear();
        redone.resize(batch.len(), Redone::NOTHING);
        let mut bad = read(pool, batch, bufs);
        work.clear();
        for (i, (_, changes)) in batch.iter().enumerate().filter(|(i, _)| bad[*i].is_none()) {
            work.extend(changes.at.iter().map(|at| u64::from(*at) << 32 | i as u64));
        }
        work.sort_unstable();
        let mut applied = 0;
        for (n, word) in work.iter().enumerate() {
            let (at, i) = (self.lsn((word >> 32) as u32), *word as u32 as usize);
            if bad[i].is_some() {
                continue;
            }
            let page = batch[i].0;
            let done = self
                .record(reader, page, at)
                .and_then(|record| Self::apply(&record, page, &mut bufs[i], &mut redone[i], row));
            match done {
                Ok(done) => applied += u64::from(done),
                Err(error) => bad[i] = Some(error),
            }
            if n % 16 == 15 {
                runtime::task::maybe_yield();
            }
        }
        for (i, (page, changes)) in batch.iter().enumerate() {
            let result = match bad[i].take() {
                None => {
                    applied += self.apply_map(changes, *page, &mut bufs[i], &mut redone[i]);
                    redone[i].whole &= changes.anew;
                    pool.install(self, *page, &bufs[i], redone[i]).map(drop)
                }
                Some(error) => Err(error),
            };
            match result {
                Ok(()) => {}
                // It may have been brought up to date by now, or made anew.
                Err(_) if !self.is_pending(*page) => {}
                Err(error) => step.damaged.push(Damaged { page: *page, error }),
            }
            runtime::task::maybe_yield();
        }
        self.applied.fetch_add(applied, Relaxed);
    }
}

/// Reads those pages of a batch that the log does not have all of, which come first in it; what is wrong with each.
fn read(pool: &BufferPool, batch: &Batch, bufs: &mut [PageBuf]) -> Vec<Option<PoolError>> {
    let from_file = batch.partition_point(|(_, changes)| !changes.anew);
    let mut bad = Vec::with_capacity(batch.len());
    let pages: Vec<PageId> = batch[..from_file].iter().map(|(page, _)| *page).collect();
    for (pages, bufs) in pages.chunks(READ_PAGES).zip(bufs.chunks_mut(READ_PAGES)) {
        // What a read that ends early leaves as it is must not look like a page.
        bufs.iter_mut().for_each(|buf| buf.words_mut().fill(0));
        bad.extend(pool.read_pages(pages, &mut bufs[..pages.len()]).into_iter().map(Result::err));
        runtime::task::maybe_yield();
    }
    // Their first record writes them whole.
    bufs[from_file..batch.len()].iter_mut().for_each(|buf| buf.set_word(header::LSN, 0));
    bad.resize_with(batch.len(), || None);
    bad
}
