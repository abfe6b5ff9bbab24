//! The built side of a hash join, in memory: rows as bytes, chained by their keys.

use crate::arena::{Address, Arena};
use crate::cx::Cx;
use crate::key_index::{KeyIndex, hash_of};
use crate::message::SqlError;

/// Rows of the build side, chained by key.
#[derive(Default)]
pub(super) struct Table {
    pub keys: KeyIndex,
    /// Of each key, its newest row plus one.
    pub heads: Vec<u32>,
    pub rows: Vec<BuiltRow>,
    pub arena: Arena,
    /// Rows that have met somebody, where that is asked for.
    pub matched: Vec<bool>,
    /// Memory counted for it.
    pub held: usize,
}

#[derive(Clone, Copy)]
pub(super) struct BuiltRow {
    pub values: Address,
    /// The next row of the same key, plus one; 0 ends.
    pub next: u32,
}

impl Table {
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
        let number = self.rows.len() as u32 + 1;
        let values = self.arena.push(row);
        let mut next = 0;
        if let Some(key) = key {
            let hash = hash_of(key);
            match self.keys.find(key, hash) {
                Some(head) => next = std::mem::replace(&mut self.heads[head as usize], number),
                None => {
                    self.keys.add(key, hash);
                    self.heads.push(number);
                }
            }
        }
        self.rows.push(BuiltRow { values, next });
        if marks {
            self.matched.push(false);
        }
        Ok(true)
    }

    /// The newest row of a key, plus one; 0: it has none.
    pub fn head(&self, key: &[u8]) -> u32 {
        self.keys.find(key, hash_of(key)).map_or(0, |number| self.heads[number as usize])
    }

    /// Lets go of everything.
    pub fn clear(&mut self, cx: &mut Cx<'_>) {
        cx.release(self.held);
        *self = Table::default();
    }
}
