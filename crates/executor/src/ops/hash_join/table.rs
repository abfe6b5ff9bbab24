//! The built side of a hash join, in memory: rows as bytes, chained by their keys.
//!
//! Invariant: what several tasks probe is not changed any more.

use crate::arena::{Address, Arena};
use crate::batch::Batch;
use crate::cx::Cx;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;
use crate::ops::Operator;
use crate::rowcode;
use std::ops::Deref;
use std::sync::Arc;

/// Rows of the build side, chained by key.
#[derive(Default)]
pub(super) struct Built {
    pub keys: KeyIndex,
    /// Of each key, its newest row plus one.
    pub heads: Vec<u32>,
    pub rows: Vec<BuiltRow>,
    pub arena: Arena,
}

/// They, and what the one who probes them knows.
#[derive(Default)]
pub(super) struct Table {
    side: Side,
    /// Rows that have met somebody, where that is asked for.
    pub matched: Vec<bool>,
    /// Memory counted for it.
    pub held: usize,
}

enum Side {
    Own(Built),
    /// Others probe it, too.
    Shared(Arc<Built>),
}

impl Default for Side {
    fn default() -> Side {
        Side::Own(Built::default())
    }
}

impl Deref for Side {
    type Target = Built;

    #[inline]
    fn deref(&self) -> &Built {
        match self {
            Side::Own(built) => built,
            Side::Shared(built) => built,
        }
    }
}

impl Deref for Table {
    type Target = Built;

    #[inline]
    fn deref(&self) -> &Built {
        &self.side
    }
}

#[derive(Clone, Copy)]
pub(super) struct BuiltRow {
    pub values: Address,
    /// The next row of the same key, plus one; 0 ends.
    pub next: u32,
}

impl Table {
    /// One that somebody else has built.
    pub fn of_shared(built: Arc<Built>) -> Table {
        Table { side: Side::Shared(built), ..Table::default() }
    }

    /// For others to probe, too.
    pub fn share(&mut self) -> Arc<Built> {
        let built = match std::mem::take(&mut self.side) {
            Side::Own(built) => Arc::new(built),
            Side::Shared(built) => built,
        };
        self.side = Side::Shared(built.clone());
        built
    }

    /// Rows, and which of them have met somebody.
    #[inline]
    pub fn parts(&mut self) -> (&Built, &mut Vec<bool>) {
        (&self.side, &mut self.matched)
    }

    /// To be changed.
    #[inline]
    pub fn own(&mut self) -> &mut Built {
        match &mut self.side {
            Side::Own(built) => built,
            Side::Shared(_) => stdx::fatal!("a table that others probe is changed"),
        }
    }

    /// Adds a row under the key, if it has one; false when there is no memory for it. `marks`: whether it meets somebody
    /// will be asked for.
    pub fn add(
        &mut self,
        key: Option<&[u8]>,
        row: &[u8],
        marks: bool,
        must: bool,
        cx: &mut Cx<'_>,
    ) -> Result<bool, SqlError> {
        let fresh = key.map_or(0, |key| KeyIndex::entry_bytes(key.len()) + 8);
        let bytes = row.len() + 2 * size_of::<BuiltRow>() + fresh + 1;
        if !cx.try_hold(bytes)? {
            if !must {
                return Ok(false);
            }
            cx.force_hold(bytes)?;
        }
        self.held += bytes;
        let built = self.own();
        let number = built.rows.len() as u32 + 1;
        let values = built.arena.push(row);
        let mut next = 0;
        if let Some(key) = key {
            let hash = hash_of(key);
            match built.keys.find(key, hash) {
                Some(head) => next = std::mem::replace(&mut built.heads[head as usize], number),
                None => {
                    built.keys.add(key, hash);
                    built.heads.push(number);
                }
            }
        }
        built.rows.push(BuiltRow { values, next });
        if marks {
            self.matched.push(false);
        }
        Ok(true)
    }

    /// The newest row of a key, plus one; 0: it has none.
    pub fn head(&self, key: &[u8]) -> u32 {
        self.keys.find(key, hash_of(key)).map_or(0, |number| self.heads[number as usize])
    }

    /// Its rows, to be read in their order. Their memory stays counted here, for as long as they are there.
    pub fn take_rows(&mut self, width: usize) -> BuiltRows {
        let Built { rows, arena, .. } = std::mem::take(self.own());
        BuiltRows { rows, arena, width, at: 0 }
    }

    /// Lets go of everything.
    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = Table::default();
    }
}

/// The rows of a table that nobody is to probe, in the order in which they came.
pub(super) struct BuiltRows {
    rows: Vec<BuiltRow>,
    arena: Arena,
    width: usize,
    at: usize,
}

impl Operator for BuiltRows {
    fn next(&mut self, cx: &mut Cx<'_>, out: &mut Batch) -> Result<bool, SqlError> {
        cx.breathe()?;
        out.start(self.width);
        while let Some(row) = self.rows.get(self.at).filter(|_| !out.is_full()) {
            rowcode::decode(self.arena.get(row.values), self.width, out.values_mut());
            out.finish_row();
            self.at += 1;
        }
        Ok(!out.is_empty())
    }

    /// The join that has built them begins anew.
    fn rewind(&mut self, _: &mut Cx<'_>) -> Result<(), SqlError> {
        Ok(())
    }
}
