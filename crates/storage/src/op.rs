//! What the log says about pages: one [`PageOp`] per record, its bytes, and how it is taken back.
//!
//! ```text
//! header 8 + 16 bytes, little-endian:
//!   0 kind u8 | 1 flags u8 (1 = run elided) | 2 key length u16 | 4 row length u16 (elided run included) | 6 n u16
//!   8 page: file u16, number u32 | 14 tree: file u16, number u32 | 20 aux u32
//! then, as flags and kind say: run (offset u16, length u16, byte u8, pad 3), old stamp u64, key, row (without its
//! run), old row / image
//! ```
//! `docs/formats/page.md` has the table per kind. Invariants: an op names every page it changes; `redo` applies it
//! only to pages whose LSN is below the record's end; an op for a row can be undone by key alone.

use crate::{RowImage, Run, TreeId};
use buffer_pool::PageId;
use mvcc::Stamp;

/// Slices of an encoded op, header included.
pub const OP_PARTS: usize = 5;

/// A row as the log has it: perhaps without its run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LogRow<'a> {
    /// Bytes before the run.
    pub head: &'a [u8],
    /// Length of the run.
    pub fill_len: u16,
    /// The byte that the run repeats.
    pub fill_byte: u8,
    /// Bytes after the run.
    pub tail: &'a [u8],
}

impl<'a> LogRow<'a> {
    /// A row without a run.
    #[inline]
    pub const fn whole(bytes: &'a [u8]) -> LogRow<'a> {
        LogRow { head: bytes, fill_len: 0, fill_byte: 0, tail: &[] }
    }

    /// Bytes of the row, the run included.
    #[inline]
    pub const fn len(&self) -> usize {
        self.head.len() + self.fill_len as usize + self.tail.len()
    }

    /// Whether the row has no bytes.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends the whole row to `out`.
    pub fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self.head);
        out.resize(out.len() + self.fill_len as usize, self.fill_byte);
        out.extend_from_slice(self.tail);
    }
}

impl<'a> From<&RowImage<'a>> for LogRow<'a> {
    #[inline]
    fn from(row: &RowImage<'a>) -> Self {
        match row.run {
            None => LogRow::whole(row.bytes),
            Some(Run { offset, len, byte }) => LogRow {
                head: &row.bytes[..offset as usize],
                fill_len: len,
                fill_byte: byte,
                tail: &row.bytes[offset as usize + len as usize..],
            },
        }
    }
}

/// One change of one page, or of the few pages of a split.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageOp<'a> {
    /// A key that was not on the page. Stamped by the envelope.
    Insert { tree: TreeId, page: PageId, key: &'a [u8], row: LogRow<'a> },
    /// A new row over an old one, or over a ghost. Stamped by the envelope.
    Update {
        tree: TreeId,
        page: PageId,
        key: &'a [u8],
        row: LogRow<'a>,
        old_stamp: Stamp,
        old_row: &'a [u8],
    },
    /// The row stays as a ghost. Stamped by the envelope, the GHOST bit added. `row` is not logged (empty when
    /// decoded): it is there for the version store.
    Ghost { tree: TreeId, page: PageId, key: &'a [u8], old_stamp: Stamp, row: &'a [u8] },
    /// Compensation of an insert: the key is removed.
    Remove { tree: TreeId, page: PageId, key: &'a [u8] },
    /// Compensation of an update: the old row with its old stamp.
    Restore { tree: TreeId, page: PageId, key: &'a [u8], stamp: Stamp, row: &'a [u8] },
    /// Compensation of a delete: the old stamp.
    Restamp { tree: TreeId, page: PageId, key: &'a [u8], stamp: Stamp },
    /// Dead ghosts leave the page: their slots, ascending, as u16 each.
    Purge { tree: TreeId, page: PageId, slots: &'a [u8] },
    /// An empty root leaf.
    FormatRoot { tree: TreeId },
    /// `left` keeps its first `keep` slots; `right` is `image` (see `split.rs`); `parent` gets `separator` -> right.
    Split {
        tree: TreeId,
        parent: PageId,
        left: PageId,
        right: PageId,
        keep: u16,
        separator: &'a [u8],
        image: &'a [u8],
    },
    /// Entries have moved from `right` to `left` (see `compact.rs`): both are their images now. Below `parent`, `right`
    /// begins at `separator` and no longer at `old_separator`; or both that and its image are empty: it has left.
    Compact {
        tree: TreeId,
        parent: PageId,
        left: PageId,
        right: PageId,
        old_separator: &'a [u8],
        separator: &'a [u8],
        left_image: &'a [u8],
        right_image: &'a [u8],
    },
    /// The root's content moves to `child` (`image`), and the root becomes an inner node above it.
    RootSplit { tree: TreeId, child: PageId, image: &'a [u8] },
    /// Extent number `extent` of map page `map` belongs to `owner`; to nobody, if that is page 0.
    AllocExtent { map: PageId, extent: u32, owner: TreeId },
    /// The extents of map page `map` that belong to `owner` are free.
    FreeExtents { map: PageId, owner: TreeId },
}

/// What takes an op back: a change by key, to be made by [`crate::Tree::apply_undo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undo<'a> {
    /// The tree.
    pub tree: TreeId,
    /// The key.
    pub key: &'a [u8],
    /// The change.
    pub action: UndoAction<'a>,
}

/// See [`Undo`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UndoAction<'a> {
    /// The key goes.
    Remove,
    /// The old row comes back.
    Restore {
        /// Its stamp.
        stamp: Stamp,
        /// Its bytes.
        row: &'a [u8],
    },
    /// The old stamp comes back.
    Restamp {
        /// It.
        stamp: Stamp,
    },
}

/// Room for the fixed part of an encoded op; lives on the caller's stack.
pub struct OpHeader {
    bytes: [u8; 40],
    len: usize,
}

impl OpHeader {
    /// An empty one.
    #[inline]
    pub const fn new() -> OpHeader {
        OpHeader { bytes: [0; 40], len: 0 }
    }
}

impl Default for OpHeader {
    fn default() -> Self {
        Self::new()
    }
}

const RUN: u8 = 1;

impl<'a> PageOp<'a> {
    /// The op as slices to append to the log, unused ones empty. Allocates nothing.
    #[inline]
    pub fn encode<'b>(&self, header: &'b mut OpHeader) -> [&'b [u8]; OP_PARTS]
    where
        'a: 'b,
    {
        match *self {
            PageOp::Insert { tree, page, key, row } => {
                header.start(1, key.len(), row.len(), page, tree.0, 0);
                header.run(&row);
                header.parts([key, row.head, row.tail, &[]])
            }
            PageOp::Update { tree, page, key, row, old_stamp, old_row } => {
                header.start(2, key.len(), row.len(), page, tree.0, old_row.len() as u32);
                header.run(&row);
                header.u64(old_stamp.0);
                header.parts([key, row.head, row.tail, old_row])
            }
            PageOp::Ghost { tree, page, key, old_stamp, .. } => {
                header.start(3, key.len(), 0, page, tree.0, 0);
                header.u64(old_stamp.0);
                header.parts([key, &[], &[], &[]])
            }
            PageOp::Remove { tree, page, key } => {
                header.start(4, key.len(), 0, page, tree.0, 0);
                header.parts([key, &[], &[], &[]])
            }
            PageOp::Restore { tree, page, key, stamp, row } => {
                header.start(5, key.len(), row.len(), page, tree.0, 0);
                header.u64(stamp.0);
                header.parts([key, row, &[], &[]])
            }
            PageOp::Restamp { tree, page, key, stamp } => {
                header.start(6, key.len(), 0, page, tree.0, 0);
                header.u64(stamp.0);
                header.parts([key, &[], &[], &[]])
            }
            PageOp::Purge { tree, page, slots } => {
                header.start(7, 0, slots.len(), page, tree.0, 0);
                header.parts([slots, &[], &[], &[]])
            }
            PageOp::FormatRoot { tree } => {
                header.start(8, 0, 0, tree.0, tree.0, 0);
                header.parts([&[], &[], &[], &[]])
            }
            PageOp::Split { tree, parent, left, right, keep, separator, image } => {
                header.start(9, separator.len(), image.len(), left, tree.0, u32::from(keep));
                header.u64(parent.0);
                header.u64(right.0);
                header.parts([separator, image, &[], &[]])
            }
            PageOp::RootSplit { tree, child, image } => {
                header.start(10, 0, image.len(), child, tree.0, 0);
                header.parts([image, &[], &[], &[]])
            }
            PageOp::AllocExtent { map, extent, owner } => {
                header.start(11, 0, 0, map, owner.0, extent);
                header.parts([&[], &[], &[], &[]])
            }
            PageOp::FreeExtents { map, owner } => {
                header.start(12, 0, 0, map, owner.0, 0);
                header.parts([&[], &[], &[], &[]])
            }
            PageOp::Compact {
                tree,
                parent,
                left,
                right,
                old_separator,
                separator,
                left_image,
                right_image,
            } => {
                let more = separator.len() as u32 | (right_image.len() as u32) << 16;
                header.start(13, old_separator.len(), left_image.len(), left, tree.0, more);
                header.u64(parent.0);
                header.u64(right.0);
                header.parts([old_separator, separator, left_image, right_image])
            }
        }
    }

    /// The same for a transaction of one record, which is never taken back: without the row that it replaces.
    #[inline]
    pub fn for_good(self) -> PageOp<'a> {
        match self {
            PageOp::Update { tree, page, key, row, old_stamp, .. } => {
                PageOp::Update { tree, page, key, row, old_stamp, old_row: &[] }
            }
            op => op,
        }
    }

    /// Bytes of the encoded op, as an upper bound for `ensure`.
    #[inline]
    pub fn encoded_len(&self) -> usize {
        let mut h = OpHeader::new();
        self.encode(&mut h).iter().map(|p| p.len()).sum()
    }

    /// The op in `bytes`, which may be followed by padding. `None` when they are no op.
    pub fn decode(bytes: &'a [u8]) -> Option<PageOp<'a>> {
        let mut r = Reader { bytes };
        let kind = r.u8()?;
        let flags = r.u8()?;
        let key_len = r.u16()? as usize;
        let row_len = r.u16()? as usize;
        r.u16()?;
        let page = r.page()?;
        let tree = TreeId(r.page()?);
        let aux = r.u32()?;
        Some(match kind {
            1 => {
                let run = r.run(flags)?;
                let key = r.take(key_len)?;
                PageOp::Insert { tree, page, key, row: r.row(row_len, run)? }
            }
            2 => {
                let run = r.run(flags)?;
                let old_stamp = Stamp(r.u64()?);
                let key = r.take(key_len)?;
                let row = r.row(row_len, run)?;
                let old_row = r.take(aux as usize)?;
                PageOp::Update { tree, page, key, row, old_stamp, old_row }
            }
            3 => {
                let old_stamp = Stamp(r.u64()?);
                PageOp::Ghost { tree, page, key: r.take(key_len)?, old_stamp, row: &[] }
            }
            4 => PageOp::Remove { tree, page, key: r.take(key_len)? },
            5 => {
                let stamp = Stamp(r.u64()?);
                let key = r.take(key_len)?;
                PageOp::Restore { tree, page, key, stamp, row: r.take(row_len)? }
            }
            6 => {
                let stamp = Stamp(r.u64()?);
                PageOp::Restamp { tree, page, key: r.take(key_len)?, stamp }
            }
            7 => PageOp::Purge { tree, page, slots: r.take(row_len)? },
            8 => PageOp::FormatRoot { tree },
            9 => {
                let parent = PageId(r.u64()?);
                let right = PageId(r.u64()?);
                let separator = r.take(key_len)?;
                let image = r.take(row_len)?;
                PageOp::Split {
                    tree,
                    parent,
                    left: page,
                    right,
                    keep: aux as u16,
                    separator,
                    image,
                }
            }
            10 => PageOp::RootSplit { tree, child: page, image: r.take(row_len)? },
            11 => PageOp::AllocExtent { map: page, extent: aux, owner: tree },
            12 => PageOp::FreeExtents { map: page, owner: tree },
            13 => {
                let parent = PageId(r.u64()?);
                let right = PageId(r.u64()?);
                let old_separator = r.take(key_len)?;
                let separator = r.take(usize::from(aux as u16))?;
                let left_image = r.take(row_len)?;
                let right_image = r.take((aux >> 16) as usize)?;
                PageOp::Compact {
                    tree,
                    parent,
                    left: page,
                    right,
                    old_separator,
                    separator,
                    left_image,
                    right_image,
                }
            }
            _ => return None,
        })
    }

    /// The tree that the op changes.
    pub fn tree(&self) -> TreeId {
        match *self {
            PageOp::Insert { tree, .. }
            | PageOp::Update { tree, .. }
            | PageOp::Ghost { tree, .. }
            | PageOp::Remove { tree, .. }
            | PageOp::Restore { tree, .. }
            | PageOp::Restamp { tree, .. }
            | PageOp::Purge { tree, .. }
            | PageOp::FormatRoot { tree }
            | PageOp::Split { tree, .. }
            | PageOp::Compact { tree, .. }
            | PageOp::RootSplit { tree, .. } => tree,
            PageOp::AllocExtent { owner, .. } | PageOp::FreeExtents { owner, .. } => owner,
        }
    }

    /// What takes the op back; `None` for compensations and housekeeping, which are redo-only.
    pub fn undo(&self) -> Option<Undo<'a>> {
        match *self {
            PageOp::Insert { tree, key, .. } => {
                Some(Undo { tree, key, action: UndoAction::Remove })
            }
            PageOp::Update { tree, key, old_stamp, old_row, .. } => {
                let action = UndoAction::Restore { stamp: old_stamp, row: old_row };
                Some(Undo { tree, key, action })
            }
            PageOp::Ghost { tree, key, old_stamp, .. } => {
                Some(Undo { tree, key, action: UndoAction::Restamp { stamp: old_stamp } })
            }
            _ => None,
        }
    }
}

impl OpHeader {
    #[inline]
    fn start(&mut self, kind: u8, key: usize, row: usize, page: PageId, tree: PageId, aux: u32) {
        debug_assert!(key <= u16::MAX as usize && row <= u16::MAX as usize);
        let b = &mut self.bytes;
        b[0] = kind;
        b[1] = 0;
        b[2..4].copy_from_slice(&(key as u16).to_le_bytes());
        b[4..6].copy_from_slice(&(row as u16).to_le_bytes());
        b[6..8].copy_from_slice(&[0; 2]);
        b[8..10].copy_from_slice(&page.file().to_le_bytes());
        b[10..14].copy_from_slice(&page.page_no().to_le_bytes());
        b[14..16].copy_from_slice(&tree.file().to_le_bytes());
        b[16..20].copy_from_slice(&tree.page_no().to_le_bytes());
        b[20..24].copy_from_slice(&aux.to_le_bytes());
        self.len = 24;
    }

    #[inline]
    fn run(&mut self, row: &LogRow<'_>) {
        if row.fill_len != 0 {
            self.bytes[1] |= RUN;
            let run = u64::from(row.head.len() as u16)
                | u64::from(row.fill_len) << 16
                | u64::from(row.fill_byte) << 32;
            self.u64(run);
        }
    }

    #[inline]
    fn u64(&mut self, v: u64) {
        self.bytes[self.len..self.len + 8].copy_from_slice(&v.to_le_bytes());
        self.len += 8;
    }

    #[inline]
    fn parts<'b>(&'b self, rest: [&'b [u8]; OP_PARTS - 1]) -> [&'b [u8]; OP_PARTS] {
        [&self.bytes[..self.len], rest[0], rest[1], rest[2], rest[3]]
    }
}

struct Reader<'a> {
    bytes: &'a [u8],
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Option<&'a [u8]> {
        let (head, rest) = self.bytes.split_at_checked(n)?;
        self.bytes = rest;
        Some(head)
    }

    fn u8(&mut self) -> Option<u8> {
        Some(self.take(1)?[0])
    }

    fn u16(&mut self) -> Option<u16> {
        Some(u16::from_le_bytes(self.take(2)?.try_into().ok()?))
    }

    fn u32(&mut self) -> Option<u32> {
        Some(u32::from_le_bytes(self.take(4)?.try_into().ok()?))
    }

    fn u64(&mut self) -> Option<u64> {
        Some(u64::from_le_bytes(self.take(8)?.try_into().ok()?))
    }

    fn page(&mut self) -> Option<PageId> {
        let file = self.u16()?;
        Some(PageId::new(file, self.u32()?))
    }

    fn run(&mut self, flags: u8) -> Option<Run> {
        if flags & RUN == 0 {
            return Some(Run { offset: 0, len: 0, byte: 0 });
        }
        let v = self.u64()?;
        Some(Run { offset: v as u16, len: (v >> 16) as u16, byte: (v >> 32) as u8 })
    }

    fn row(&mut self, len: usize, run: Run) -> Option<LogRow<'a>> {
        let logged = len.checked_sub(run.len as usize)?;
        let bytes = self.take(logged)?;
        if run.len == 0 {
            return Some(LogRow::whole(bytes));
        }
        let (head, tail) = bytes.split_at_checked(run.offset as usize)?;
        Some(LogRow { head, fill_len: run.len, fill_byte: run.byte, tail })
    }
}
