//! How often each tree is used by statements, and when last: what `sys.dm_db_index_usage_stats` shows.
//!
//! Three forms, chosen for the whole process while it runs:
//! - *per scheduler* (the default): each slot has counters of its own in the tree's handle, in a line that it writes
//!   anyway; a statement costs two stores and a look at the kernel's coarse clock.
//! - *shared* (the classic form): one counter for all, behind the spinlock OPT_IDX_STATS, one for the whole process, as
//!   in post 4.
//! - *off* (trace flag 2330): nothing is counted.
//!
//! Invariant: a figure never goes back while the database is open, whatever the form is changed to: readers add the
//! slots and the shared counters up. One statement counts once, whatever its rows; who runs statements says so.

use crate::{Database, Tree, TreeId};
use runtime::clock;
use runtime::spin::SpinLock;
use runtime::task::slot;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use telemetry::SpinClass;

/// What a statement did with a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Use {
    /// Looked up by key, or by a range of it.
    Seek,
    /// Read from end to end.
    Scan,
    /// Read for the columns that another index has not (a bookmark look-up).
    Lookup,
    /// Inserted, changed or deleted rows.
    Update,
}

const USES: usize = 4;

/// How uses are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum UsageForm {
    #[default]
    PerScheduler,
    Shared,
    Off,
}

/// 0 per scheduler, 1 shared, 2 off.
static FORM: AtomicU8 = AtomicU8::new(0);

/// The classic structure's lock. It guards every tree's shared counters.
static SHARED: SpinLock<()> = SpinLock::new(SpinClass::OptIdxStats, ());

/// Chooses the form, for every database of the process.
pub fn set_usage_form(form: UsageForm) {
    FORM.store(form as u8, Relaxed);
}

/// The form in force.
pub fn usage_form() -> UsageForm {
    match FORM.load(Relaxed) {
        0 => UsageForm::PerScheduler,
        1 => UsageForm::Shared,
        _ => UsageForm::Off,
    }
}

/// Counters with one writer at a time.
#[derive(Default)]
pub(crate) struct Uses {
    counts: [AtomicU64; USES],
    /// UTC, nanoseconds since 1970, to a few milliseconds; 0: never.
    last_unix_ns: [AtomicU64; USES],
}

impl Uses {
    #[inline]
    fn note(&self, what: Use, now_unix_ns: u64) {
        let count = &self.counts[what as usize];
        count.store(count.load(Relaxed) + 1, Relaxed);
        self.last_unix_ns[what as usize].store(now_unix_ns, Relaxed);
    }

    fn add_to(&self, figures: &mut UsageFigures) {
        for i in 0..USES {
            figures.counts[i] += self.counts[i].load(Relaxed);
            let last = &mut figures.last_unix_ns[i];
            *last = (*last).max(self.last_unix_ns[i].load(Relaxed));
        }
    }
}

/// How a tree has been used since the database was opened.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UsageFigures {
    counts: [u64; USES],
    last_unix_ns: [u64; USES],
}

impl UsageFigures {
    /// Statements that used it so.
    pub fn count(&self, what: Use) -> u64 {
        self.counts[what as usize]
    }

    /// When the last one did; UTC, nanoseconds since 1970.
    pub fn last_unix_ns(&self, what: Use) -> Option<u64> {
        Some(self.last_unix_ns[what as usize]).filter(|&ns| ns > 0)
    }

    /// SQL Server has no row for an index that was never used.
    pub fn is_unused(&self) -> bool {
        self.counts == [0; USES]
    }
}

impl Tree {
    /// A statement uses the tree. Once for each statement (for each reading of it, where a statement reads it twice).
    #[inline]
    pub fn note_use(&self, what: Use) {
        self.note_use_at(what, None);
    }

    /// As [`Tree::note_use`], with the clock as the statement has read it, if it has.
    #[inline]
    pub fn note_use_at(&self, what: Use, unix_ns: Option<u64>) {
        match FORM.load(Relaxed) {
            0 => {
                let now = unix_ns.unwrap_or_else(clock::coarse_unix_ns);
                self.inner.slots[slot()].uses.note(what, now);
            }
            1 => self.note_shared(what),
            _ => {}
        }
    }

    /// A statement finds a row by its key and changes it: a seek and an update, and one look-up, by whatever steps.
    #[inline]
    pub fn note_change(&self) {
        self.count_lookup();
        if FORM.load(Relaxed) == 0 {
            let now = clock::coarse_unix_ns();
            let uses = &self.inner.slots[slot()].uses;
            uses.note(Use::Seek, now);
            uses.note(Use::Update, now);
            return;
        }
        self.note_use(Use::Seek);
        self.note_use(Use::Update);
    }

    #[cold]
    fn note_shared(&self, what: Use) {
        let guard = SHARED.lock();
        self.inner.shared_uses.note(what, clock::coarse_unix_ns());
        drop(guard);
    }

    /// How it has been used since the database was opened.
    pub fn usage(&self) -> UsageFigures {
        let mut figures = UsageFigures::default();
        self.inner.slots.iter().for_each(|slot| slot.uses.add_to(&mut figures));
        self.inner.shared_uses.add_to(&mut figures);
        figures
    }
}

impl Database {
    /// Every tree that statements have used since the database was opened, in the order of their numbers.
    pub fn index_usage(&self) -> Vec<(TreeId, UsageFigures)> {
        let used = self.open_trees().into_iter().map(|tree| (tree.id(), tree.usage()));
        let mut used: Vec<_> = used.filter(|(_, figures)| !figures.is_unused()).collect();
        used.sort_unstable_by_key(|(id, _)| id.0.0);
        used
    }
}
