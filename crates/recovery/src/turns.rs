//! Who takes which pages in the background.
//!
//! Pages in the order of first change go to whoever comes next. When all are taken, those that are still on the list are
//! with the tasks that took them, and whoever comes now leaves them alone: it would read the same log and the same pages
//! for nothing. Only when nobody is at any, they are of a task that has failed or was anticipated, and one at a time
//! looks after them.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering::*};

pub(crate) struct Turns {
    pages: usize,
    taken: AtomicUsize,
    /// Tasks at pages that they have taken.
    at_work: AtomicUsize,
}

/// Lasts while a task is at its pages.
pub(crate) struct Turn<'a>(&'a AtomicUsize);

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, AcqRel);
    }
}

pub(crate) enum Taken<'a> {
    /// These, in the order of first change.
    Next(Range<usize>, Turn<'a>),
    /// Whatever is still on the list.
    Rest(Turn<'a>),
    /// Nothing: others are at all that is left.
    Nothing,
}

impl Turns {
    pub(crate) fn new(pages: usize) -> Turns {
        Turns { pages, taken: AtomicUsize::new(0), at_work: AtomicUsize::new(0) }
    }

    /// At most `n` pages.
    pub(crate) fn take(&self, n: usize) -> Taken<'_> {
        if self.taken.load(Acquire) < self.pages {
            // Before the pages are taken: who finds none left finds us at work.
            self.at_work.fetch_add(1, AcqRel);
            let turn = Turn(&self.at_work);
            let from = self.taken.fetch_add(n, AcqRel);
            if from < self.pages {
                return Taken::Next(from..self.pages.min(from + n), turn);
            }
        }
        match self.at_work.compare_exchange(0, 1, AcqRel, Acquire) {
            Ok(_) => Taken::Rest(Turn(&self.at_work)),
            Err(_) => Taken::Nothing,
        }
    }
}
