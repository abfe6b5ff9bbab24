//! How many pages a tree has, and how many rows: what the views of space show.
//!
//! The pages are counted above the leaves, and again only after a page has come or gone. The rows of an index that not every
//! row of its table has an entry in are counted in its leaves once, from which on the changes are added up.
//!
//! Promise: nobody is locked out, and no guard is held while pages are read. What is counted is as of the moments when the
//! pages were met.

use crate::{Database, EngineError, Tree};
use buffer_pool::PageId;
use std::collections::HashMap;
use storage::{LevelFigures, Measure, TreeId};

/// Pages of a tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TreeSpace {
    pub leaves: u64,
    /// Pages above the leaves.
    pub inner: u64,
}

impl TreeSpace {
    /// Pages of an extent, which a tree is given at a time.
    pub const EXTENT_PAGES: u64 = storage::EXTENT as u64;
}

/// What has been counted before.
#[derive(Default)]
pub(crate) struct Known {
    /// And the structure that it had then.
    space: Option<(u64, TreeSpace)>,
    /// Rows that were there when nothing had been counted yet.
    first_rows: Option<i64>,
}

/// A lone leaf that nothing was ever put in, or that has lost all of it.
fn is_bare(levels: &[LevelFigures]) -> bool {
    matches!(levels, [leaf] if leaf.records + leaf.ghosts + leaf.ghosts_needed == 0)
}

impl Database {
    /// Pages of a tree; none of one without rows, which is how SQL Server counts; none at all: it is not on pages. `stop` is
    /// asked on the way, and what it ends is nothing to go by. Suspends.
    pub fn space_of(
        &self,
        tree: &Tree,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<TreeSpace>, EngineError> {
        let structure = tree.inner.tree.structure();
        let known = tree.inner.space.lock().space.filter(|(then, _)| *then == structure);
        // Whether the only leaf holds something is no matter of structure.
        if let Some((_, space)) = known.filter(|(_, space)| space.inner > 0) {
            return Ok(tree.is_current().then_some(space));
        }
        let mut stopped = false;
        let mut stop = || {
            stopped |= stop();
            stopped
        };
        let Some(levels) = self.measure(tree, Measure::Limited, &mut stop)? else {
            return Ok(None);
        };
        let mut space = TreeSpace::default();
        if !is_bare(&levels) {
            for figures in &levels {
                match figures.level {
                    0 => space.leaves += figures.pages,
                    _ => space.inner += figures.pages,
                }
            }
        }
        if !stopped {
            tree.inner.space.lock().space = Some((structure, space));
        }
        Ok(Some(space))
    }

    /// Rows of a tree, about: counted in its leaves (in one of a hundred, where there are very many) for who asks first.
    /// None: it is not on pages. `stop` as above. Suspends.
    pub fn rows_of(
        &self,
        tree: &Tree,
        stop: &mut dyn FnMut() -> bool,
    ) -> Result<Option<u64>, EngineError> {
        let first = tree.inner.space.lock().first_rows;
        if let Some(first) = first {
            return Ok(Some((first + tree.net_rows()).max(0) as u64));
        }
        let counted = tree.net_rows();
        let mut stopped = false;
        let mut stop = || {
            stopped |= stop();
            stopped
        };
        let levels = self.measure(tree, Measure::Sampled, &mut stop)?;
        let Some(leaf) = levels.as_deref().and_then(<[_]>::first) else { return Ok(None) };
        let rows = (leaf.records as f64 * leaf.pages as f64 / leaf.looked_at.max(1) as f64).round();
        if !stopped {
            tree.inner.space.lock().first_rows = Some(rows as i64 - counted);
        }
        Ok(Some(rows as u64))
    }

    /// Pages in the extents of each tree, with something in them or kept for it. Suspends.
    pub fn reserved_pages(&self) -> Result<HashMap<TreeId, u64>, EngineError> {
        let mut pages = HashMap::new();
        for file in self.store.store_files() {
            for extent in self.store.used_extents(&file)? {
                let tree = TreeId(PageId(extent.owner));
                *pages.entry(tree).or_default() += TreeSpace::EXTENT_PAGES;
            }
        }
        Ok(pages)
    }
}
