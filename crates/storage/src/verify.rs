//! Checking a tree: order, fences, siblings, owners, levels. (Checksums are checked when pages are read.)
//!
//! Promise: whatever a page holds, the check ends, and says what is wrong instead of stopping the process; below a page
//! that is wrong it does not look, beside it it does.

use crate::slotted::{self, FREE, INNER, LEAF, Space};
use crate::{StorageError, Tree};
use buffer_pool::{PageBuf, PageId, PageWords, header};
use mvcc::Stamp;

/// Levels that a tree may have: more than fill the largest file.
const LEVELS_MAX: u8 = 24;

/// What [`verify`] counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TreeReport {
    /// Leaf pages.
    pub leaves: u64,
    /// Inner pages.
    pub inner: u64,
    /// Rows, ghosts included.
    pub rows: u64,
    /// Ghosts.
    pub ghosts: u64,
    /// Levels, 1 for a lone leaf.
    pub height: u32,
}

/// Told of every row of a good leaf: page, stamp, key, row.
pub type EachRow<'a> = &'a mut dyn FnMut(PageId, Stamp, &[u8], &[u8]);

/// Walks the whole tree; the first thing that is wrong. Nobody may be changing it.
pub fn verify(tree: &Tree) -> Result<TreeReport, StorageError> {
    let mut first = None;
    let report = check_tree(
        tree,
        &mut |error| {
            first.get_or_insert(error);
        },
        &mut |_, _, _, _| {},
    );
    first.map_or(Ok(report), Err)
}

/// Walks the whole tree and tells everything that is wrong; `row` gets the rows of good leaves.
/// Nobody may be changing it.
pub fn check_tree(
    tree: &Tree,
    wrong: &mut dyn FnMut(StorageError),
    row: EachRow<'_>,
) -> TreeReport {
    let mut walk = Walk { tree, report: TreeReport::default(), next_leaf: None, wrong, row };
    match walk.page(tree.id().0, None, &[], None) {
        Ok(level) => walk.report.height = u32::from(level) + 1,
        Err(error) => {
            walk.next_leaf = None;
            (walk.wrong)(error);
        }
    }
    if let Some((page, expected)) = walk.next_leaf
        && !expected.is_none()
    {
        (walk.wrong)(StorageError::Corrupt { page, what: "the last leaf has a right sibling" });
    }
    walk.report
}

struct Walk<'a> {
    tree: &'a Tree,
    report: TreeReport,
    /// The last leaf seen, and the right sibling that it names; none at the beginning and behind a page that is wrong.
    next_leaf: Option<(PageId, PageId)>,
    wrong: &'a mut dyn FnMut(StorageError),
    row: EachRow<'a>,
}

impl Walk<'_> {
    /// Checks the page and all below; returns its level.
    fn page(
        &mut self,
        page: PageId,
        level: Option<u8>,
        lower: &[u8],
        upper: Option<&[u8]>,
    ) -> Result<u8, StorageError> {
        let wrong = |what| Err(StorageError::Corrupt { page, what });
        let mut p = PageBuf::boxed();
        self.tree.store.pool().copy_page(page, &mut p)?;
        let (kind, own_level) = slotted::kind_of(&*p);
        if p.word(header::PAGE_ID) != page.0 || p.word(slotted::OWNER) != self.tree.id().0.0 {
            return wrong("another page, or another tree's");
        }
        if self.tree.store.owner_of(page)? != Some(self.tree.id()) {
            return wrong("the allocation map names another owner");
        }
        if kind == FREE {
            return wrong("it has left the tree, and its parent still names it");
        }
        let levels = own_level <= LEVELS_MAX && level.is_none_or(|l| l == own_level);
        if !levels || (own_level == 0) != (kind == LEAF) {
            return wrong("a wrong level");
        }
        slotted::check(&p).map_err(|what| StorageError::Corrupt { page, what })?;
        if slotted::lower_fence(&p) != lower || slotted::upper_fence(&p) != upper {
            return wrong("fences differ from the parent's keys");
        }
        let slots = Space::of(&*p).slots;
        if kind == LEAF {
            let before = self.next_leaf.replace((page, slotted::right_of(&*p)));
            self.report.leaves += 1;
            self.report.rows += slots as u64;
            for i in 0..slots {
                let (head, key, row) = slotted::entry(&p, i);
                self.report.ghosts += u64::from(Stamp(head).is_ghost());
                (self.row)(page, Stamp(head), key, row);
            }
            runtime::task::maybe_yield();
            if let Some((left, expected)) = before
                && expected != page
            {
                (self.wrong)(StorageError::Corrupt {
                    page: left,
                    what: "the right sibling is not the next leaf",
                });
            }
            return Ok(0);
        }
        if kind != INNER || slots == 0 {
            return wrong("not a page of a tree");
        }
        self.report.inner += 1;
        if slotted::entry(&p, 0).1 != lower {
            return wrong("the first key is not the lower fence");
        }
        for i in 0..slots {
            let (child, low, _) = slotted::entry(&p, i);
            let high = if i + 1 < slots { Some(slotted::entry(&p, i + 1).1) } else { upper };
            if let Err(error) = self.page(PageId(child), Some(own_level - 1), low, high) {
                (self.wrong)(error);
                self.next_leaf = None;
            }
        }
        Ok(own_level)
    }
}
