//! What a page is, told from its header, for whoever lists pages.
//!
//! Promise: any words are taken, also a page that changes meanwhile; the answer is then as torn as the page was.

use crate::slotted::{self, Space};
use crate::{alloc, boot};
use buffer_pool::PageWords;

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PageKind {
    /// Rows of a tree.
    Leaf,
    /// Children of a tree's node.
    Inner,
    /// Who owns which extents.
    Map,
    /// About the file.
    Header,
    /// It has left its tree.
    Free,
    Unknown,
}

/// See the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageSummary {
    pub kind: PageKind,
    /// 0 is the leaves'.
    pub level: u8,
    /// Rows, or children, ghosts among them.
    pub slots: u32,
    /// Between and among its entries.
    pub free_bytes: u32,
    /// The root page of the tree that it belongs to; 0 of a page of no tree.
    pub owner: u64,
}

/// Tells it.
pub fn summary(page: &impl PageWords) -> PageSummary {
    let (kind, level) = slotted::kind_of(page);
    let kind = match kind {
        slotted::LEAF => PageKind::Leaf,
        slotted::INNER => PageKind::Inner,
        alloc::MAP => PageKind::Map,
        boot::HEADER => PageKind::Header,
        slotted::FREE => PageKind::Free,
        _ => PageKind::Unknown,
    };
    if !matches!(kind, PageKind::Leaf | PageKind::Inner) {
        return PageSummary { kind, level: 0, slots: 0, free_bytes: 0, owner: 0 };
    }
    let space = Space::of(page);
    PageSummary {
        kind,
        level,
        slots: space.slots as u32,
        free_bytes: (space.gap() + space.dead) as u32,
        owner: page.word(slotted::OWNER),
    }
}
