//! What a transaction has made of its rows, as its log record says it.
//!
//! ```text
//! 0 what u8: 1 the row is gone, 2 of the tree of the image before, 4 there is a run
//! then: tree u64 unless 2 | key length u16 | length of what is stored u16 | run's offset u16, length u16, byte u8 if 4
//!       | the key | the row without its run
//! ```
//! Images stand one behind the other, in the order of the changes; of a row that was changed several times the last
//! state alone. A row that is there is the whole new row: the log need not know whether it is new.

use crate::memory::version::Kept;
use crate::row::Run;

const GONE: u8 = 1;
const SAME_TREE: u8 = 2;
const HAS_RUN: u8 = 4;

/// Bytes of an image besides its key and its row, at most.
const HEAD_BYTES: usize = 1 + 8 + 2 + 2 + 5;

/// Images on their way into a record.
#[derive(Default, Debug)]
pub struct ImageWriter {
    bytes: Vec<u8>,
    tree: Option<u64>,
    images: u64,
}

impl ImageWriter {
    /// What has been added so far.
    #[inline]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many that are.
    pub fn images(&self) -> u64 {
        self.images
    }

    /// Begins the next record.
    #[inline]
    pub fn clear(&mut self) {
        self.bytes.clear();
        (self.tree, self.images) = (None, 0);
    }

    /// Adds what has become of the row under `key`; none: it is gone.
    #[inline]
    pub fn add(&mut self, tree: u64, key: &[u8], row: Option<&Kept<'_>>) {
        let (before, run, after) = row.map_or((&[][..], None, &[][..]), Kept::parts);
        let (Ok(key_len), Ok(stored)) =
            (u16::try_from(key.len()), u16::try_from(before.len() + after.len()))
        else {
            stdx::fatal!("a row that no log record takes")
        };
        let same = self.tree.replace(tree) == Some(tree);
        let what = if row.is_none() { GONE } else { 0 }
            | if same { SAME_TREE } else { 0 }
            | if run.is_some() { HAS_RUN } else { 0 };
        let (mut head, mut len) = ([0; HEAD_BYTES], 0);
        let mut put = |bytes: &[u8]| {
            head[len..len + bytes.len()].copy_from_slice(bytes);
            len += bytes.len();
        };
        put(&[what]);
        if !same {
            put(&tree.to_le_bytes());
        }
        put(&key_len.to_le_bytes());
        put(&stored.to_le_bytes());
        if let Some(run) = run {
            put(&run.offset.to_le_bytes());
            put(&run.len.to_le_bytes());
            put(&[run.byte]);
        }
        let bytes = &mut self.bytes;
        bytes.reserve(len + key.len() + usize::from(stored));
        bytes.extend_from_slice(&head[..len]);
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(before);
        bytes.extend_from_slice(after);
        self.images += 1;
    }
}

/// One image, read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Image<'a> {
    pub tree: u64,
    pub key: &'a [u8],
    /// None: the row is gone.
    pub row: Option<ImageRow<'a>>,
}

/// A row as an image has it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageRow<'a> {
    stored: &'a [u8],
    run: Option<Run>,
}

impl ImageRow<'_> {
    /// The whole row.
    pub fn to_vec(self) -> Vec<u8> {
        let Some(run) = self.run else { return self.stored.to_vec() };
        let (before, after) = self.stored.split_at(usize::from(run.offset));
        let mut row = Vec::with_capacity(self.stored.len() + usize::from(run.len));
        row.extend_from_slice(before);
        row.resize(row.len() + usize::from(run.len), run.byte);
        row.extend_from_slice(after);
        row
    }
}

/// The images of a record, in their order. What makes no sense is told once, as `None` within, and ends them.
pub struct Images<'a> {
    rest: &'a [u8],
    tree: Option<u64>,
}

impl<'a> Images<'a> {
    pub fn of(body: &'a [u8]) -> Images<'a> {
        Images { rest: body, tree: None }
    }

    fn take(&mut self) -> Option<Image<'a>> {
        let (&what, mut rest) = self.rest.split_first()?;
        if what & !(GONE | SAME_TREE | HAS_RUN) != 0 {
            return None;
        }
        if what & SAME_TREE == 0 {
            let (tree, after) = rest.split_first_chunk()?;
            (self.tree, rest) = (Some(u64::from_le_bytes(*tree)), after);
        }
        let (key_len, after) = rest.split_first_chunk()?;
        let (stored, mut rest) = after.split_first_chunk()?;
        let (key_len, stored) = (u16::from_le_bytes(*key_len), u16::from_le_bytes(*stored));
        let mut run = None;
        if what & HAS_RUN != 0 {
            let (&[a, b, c, d, byte], after) = rest.split_first_chunk()?;
            let (offset, len) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
            (run, rest) = (Some(Run { offset, len, byte }), after);
        }
        let (key, after) = rest.split_at_checked(usize::from(key_len))?;
        let (stored, rest) = after.split_at_checked(usize::from(stored))?;
        if run.is_some_and(|run| usize::from(run.offset) > stored.len()) {
            return None;
        }
        self.rest = rest;
        let row = (what & GONE == 0).then_some(ImageRow { stored, run });
        Some(Image { tree: self.tree?, key, row })
    }
}

impl<'a> Iterator for Images<'a> {
    type Item = Option<Image<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let image = self.take();
        if image.is_none() {
            self.rest = &[];
        }
        Some(image)
    }
}
