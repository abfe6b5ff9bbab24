//! Committing what a transaction has done to memory trees, or taking it back.
//!
//! The log record of a commit has images of the rows (`storage::memory::Image`), of a large transaction the records before it
//! too. Nothing is logged before the commit, so nothing is ever undone: recovery passes over images without a commit.
//!
//! Order: a row is listed for the tree beside (`Table::log_image`), then its image is logged, then the commit. So whoever
//! takes the lists having looked at what transactions were unfinished before has every row whose images the log may let
//! go: see `beside.rs`.

use super::{Change, MemoryPart, Read, Touched, Xids, in_memory};
use crate::{EngineError, Lsn, Txn};
use log_manager::Lease;
use std::sync::atomic::{Ordering::*, fence};
use storage::memory::{Changed, ImageWriter, Kept, Pin, Sight};
use telemetry::{Counter, counters};
use transaction::{Bug, Kind, planted};

/// Images that are more than this go to the log in a record of their own: so large a record, and one more image, are
/// below the log's bound.
const IMAGES_BYTES: usize = 32 << 10;
/// So many trees are kept from one transaction to the next.
const TREES_MAX: usize = 8;

impl Txn {
    /// Whether its reads of memory trees are to be looked at when it commits.
    #[inline]
    pub(crate) fn must_validate(&self) -> bool {
        !self.memory.read.is_empty() && !planted(Bug::MissedValidation)
    }

    /// The first half of committing: what the log is to say of durable trees' rows is made, and what it has read is
    /// looked at. Suspends.
    pub(crate) fn prepare_memory(&mut self) -> Result<(), EngineError> {
        self.memory.images.clear();
        if !self.memory.written.is_empty() {
            self.make_images()?;
        }
        if !self.must_validate() {
            // Who has read nothing that must stay as it is looks at nothing: committing says that it has prepared.
            return Ok(());
        }
        if !self.memory.written.is_empty() {
            self.shared.xids.preparing(self.context.xid());
        }
        // Between saying that it prepares and looking at what others have written: `storage::memory::Table::changed`.
        fence(SeqCst);
        let Some(snapshot) = self.memory.snapshot else { return Ok(()) };
        let read = std::mem::take(&mut self.memory.read);
        let sight = Sight { snapshot, own: self.context.xid(), states: &Xids(&self.shared.xids) };
        for what in read {
            let (Read::Key(tree, _) | Read::Range(tree, _)) = &what;
            if tree.is_gone.load(Acquire) {
                counters::add(Counter::XtpValidationFailures, 1);
                return Err(EngineError::NotRepeatable);
            }
            let changed = match what {
                Read::Key(tree, key) => tree.table.changed(&key, &sight),
                Read::Range(tree, mut cursor) => tree.table.changed_within(&mut cursor, &sight),
            };
            let error = match changed {
                Changed::No => None,
                Changed::Row => Some(EngineError::NotRepeatable),
                Changed::Phantom => Some(EngineError::NotSerializable),
            };
            if let Some(error) = error {
                counters::add(Counter::XtpValidationFailures, 1);
                return Err(error);
            }
            runtime::task::maybe_yield();
        }
        Ok(())
    }

    /// What the log is to say of the rows of durable trees. All of it stays for the commit record, but for what would not
    /// fit there.
    fn make_images(&mut self) -> Result<(), EngineError> {
        let changes = std::mem::take(&mut self.memory.written);
        let mut trees = std::mem::take(&mut self.memory.trees);
        let mut images = std::mem::take(&mut self.memory.images);
        let result = self.make_images_of(&changes, &mut trees, &mut images);
        // Also after an error: their bits say that they are listed.
        list_rows(&mut trees);
        (self.memory.written, self.memory.trees, self.memory.images) = (changes, trees, images);
        result
    }

    fn make_images_of(
        &mut self,
        changes: &[Change],
        trees: &mut [Touched],
        images: &mut ImageWriter,
    ) -> Result<(), EngineError> {
        let own = self.context.xid();
        let mut pin = Pin::new();
        for change in changes {
            if images.bytes().len() > IMAGES_BYTES {
                list_rows(trees);
                drop(pin);
                self.log_images(images)?;
                runtime::task::maybe_yield();
                pin = Pin::new();
            }
            let Touched { tree, listing } = &mut trees[change.tree];
            let memory = in_memory(tree);
            if !memory.durable || self.drops.iter().any(|(gone, _)| gone.id() == tree.id()) {
                // Or one between two steps of a definition.
                continue;
            }
            let tell = |key: &[u8], row: Option<&Kept<'_>>| images.add(tree.number(), key, row);
            memory.table.log_image(change.written, own, listing, &pin, tell);
        }
        drop(pin);
        // A checkpoint that makes room meanwhile finds them.
        list_rows(trees);
        self.db.room_aside.draw(&self.db, images)
    }

    #[cold]
    fn log_images(&mut self, images: &mut ImageWriter) -> Result<(), EngineError> {
        self.db.room_aside.draw(&self.db, images)?;
        self.context.log_note(Kind::Rows, images.bytes(), Lease::Normal)?;
        images.clear();
        Ok(())
    }

    /// The other half: the commit is in the log.
    pub(crate) fn stamp_memory(&mut self, csn: Lsn) {
        let (own, pin) = (self.context.xid(), Pin::new());
        for change in &self.memory.written {
            self.memory.trees[change.tree].memory().table.stamp(change.written, own, csn, &pin);
        }
    }

    /// The definition that has filled trees is committed. Under their tables' Sch-M locks.
    #[cold]
    pub(crate) fn note_filled(&mut self, csn: Lsn) {
        for change in &self.memory.written {
            let memory = self.memory.trees[change.tree].memory();
            if memory.is_filling.swap(false, Relaxed) {
                memory.filled_at.store(csn.0, Release);
            }
        }
    }

    /// Takes changes back until so many are left.
    pub(crate) fn take_memory_back(&mut self, to: usize) {
        self.memory.take_back_to(to);
    }

    /// The transaction is over; its snapshot is not in use any more.
    pub(crate) fn finish_memory(&mut self) {
        counters::add(Counter::XtpTransactions, 1);
        if self.memory.written.is_empty() {
            counters::add(Counter::XtpReadOnly, 1);
        }
        self.status.note_memory(Lsn::NONE);
        self.memory.snapshot = None;
        self.memory.read.clear();
        self.memory.written.clear();
        let trees = &mut self.memory.trees;
        for touched in trees.iter() {
            let memory = touched.memory();
            let at = if planted(Bug::EarlyCleanUp) { 1 } else { memory.clean_at.load(Relaxed) };
            if memory.table.to_clean() >= at {
                let in_use = self.shared.snapshots.advance(&self.shared.log);
                let gone = memory.clean(&self.db, &in_use);
                self.db.figures.cleaned_by_transactions.fetch_add(gone, Relaxed);
            }
        }
        // What is gone is not held on to, nor what has another shape by now.
        trees.retain(|touched| touched.tree.is_current());
        if trees.len() > TREES_MAX {
            trees.drain(..trees.len() - TREES_MAX);
        }
    }
}

/// What was gathered goes into the lists of its tables.
fn list_rows(trees: &mut [Touched]) {
    for Touched { tree, listing } in trees {
        in_memory(tree).table.put_into_lists(listing);
    }
}

impl MemoryPart {
    /// Takes everything back, for a transaction whose session is gone.
    pub(crate) fn abandon(&mut self) {
        self.take_back_to(0);
        self.trees.clear();
    }

    /// Takes changes back, newest first, until so many are left.
    fn take_back_to(&mut self, to: usize) {
        while self.written.len() > to {
            if let Some(change) = self.written.pop() {
                let touched = &self.trees[change.tree];
                let rows = touched.memory().table.take_back(change.written);
                touched.tree.count_taken_back(rows);
            }
        }
    }
}
