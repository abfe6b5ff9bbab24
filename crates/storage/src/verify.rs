//! Checking a tree: order, fences, siblings, owners, levels. (Checksums are checked when pages are read.)

use crate::slotted::{self, INNER, LEAF, Space};
use crate::{StorageError, Tree};
use buffer_pool::{PageBuf, PageId, PageWords, header};
use mvcc::Stamp;

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

/// Walks the whole tree. Nobody may be changing it.
pub fn verify(tree: &Tree) -> Result<TreeReport, StorageError> {
    let mut walk = Walk { tree, report: TreeReport::default(), next_leaf: None };
    let level = walk.page(tree.id().0, None, &[], None)?;
    if let Some((page, expected)) = walk.next_leaf
        && !expected.is_none()
    {
        return Err(StorageError::Corrupt { page, what: "the last leaf has a right sibling" });
    }
    walk.report.height = u32::from(level) + 1;
    Ok(walk.report)
}

struct Walk<'a> {
    tree: &'a Tree,
    report: TreeReport,
    /// The last leaf seen, and the right sibling that it names.
    next_leaf: Option<(PageId, PageId)>,
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
        let pool = self.tree.store.pool();
        while !pool.optimistic(page)?.copy_to(&mut p) {}
        let (kind, own_level) = slotted::kind_of(&*p);
        if p.word(header::PAGE_ID) != page.0 || p.word(slotted::OWNER) != self.tree.id().0.0 {
            return wrong("another page, or another tree's");
        }
        if self.tree.store.owner_of(page)? != Some(self.tree.id()) {
            return wrong("the allocation map names another owner");
        }
        if level.is_some_and(|l| l != own_level) || (own_level == 0) != (kind == LEAF) {
            return wrong("a wrong level");
        }
        slotted::check(&p).map_err(|what| StorageError::Corrupt { page, what })?;
        if slotted::lower_fence(&p) != lower || slotted::upper_fence(&p) != upper {
            return wrong("fences differ from the parent's keys");
        }
        let slots = Space::of(&*p).slots;
        if kind == LEAF {
            if let Some((_, expected)) = self.next_leaf
                && expected != page
            {
                return wrong("the left sibling points elsewhere");
            }
            self.next_leaf = Some((page, slotted::right_of(&*p)));
            self.report.leaves += 1;
            self.report.rows += slots as u64;
            let ghosts = (0..slots).filter(|&i| Stamp(slotted::entry_head(&*p, i)).is_ghost());
            self.report.ghosts += ghosts.count() as u64;
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
            self.page(PageId(child), Some(own_level - 1), low, high)?;
        }
        Ok(own_level)
    }
}
