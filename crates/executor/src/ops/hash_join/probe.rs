//! The row that is being joined, and the keys of its batch, all looked for at once: the table's lines of memory are waited
//! for together.
//!
//! Promise: a key that cannot be computed is an error when it is its row's turn.

use super::shape::Shape;
use super::table::Table;
use crate::batch::Batch;
use crate::cx::Cx;
use crate::message::SqlError;
use types::Value;

/// The row that is being joined.
#[derive(Default)]
pub(super) struct Probe {
    pub batch: Batch,
    /// Of the batch's rows.
    pub keys: ProbeKeys,
    pub at: usize,
    pub open: bool,
    pub matched: bool,
    /// The candidate to look at next.
    pub candidate: u32,
    pub key: Vec<u8>,
    pub row: Vec<u8>,
    pub scratch: Vec<Value>,
}

/// The keys of a batch that probes.
#[derive(Default)]
pub(super) struct ProbeKeys {
    bytes: Vec<u8>,
    /// Where each key lies; None: a part of it is NULL.
    places: Vec<Option<(u32, u32)>>,
    hashes: Vec<u64>,
    /// The keys' numbers in the table, plus one; 0: nobody has such a key.
    numbers: Vec<u32>,
    /// The row behind the last key has none, but this: it is told when it is that row's turn.
    error: Option<SqlError>,
}

impl ProbeKeys {
    /// Those of a batch's rows.
    pub fn load(
        &mut self,
        shape: &Shape<'_>,
        by_left: bool,
        batch: &Batch,
        table: &Table,
        cx: &mut Cx<'_>,
    ) {
        self.bytes.clear();
        self.places.clear();
        self.error = None;
        for row in batch.rows() {
            let from = self.bytes.len();
            match shape.push_key(by_left, row, &mut self.bytes, cx) {
                Ok(true) => self.places.push(Some((from as u32, self.bytes.len() as u32))),
                Ok(false) => {
                    self.bytes.truncate(from);
                    self.places.push(None);
                }
                Err(error) => {
                    self.error = Some(error);
                    break;
                }
            }
        }
        let bytes = &self.bytes[..];
        let key =
            |place: &Option<(u32, u32)>| place.map(|(from, to)| &bytes[from as usize..to as usize]);
        table.keys.find_all(self.places.iter().map(key), &mut self.hashes, &mut self.numbers);
    }

    /// The number of a row's key in the table.
    #[inline]
    pub fn number(&mut self, row: usize) -> Result<Option<u32>, SqlError> {
        match self.numbers.get(row) {
            Some(0) => Ok(None),
            Some(number) => Ok(Some(number - 1)),
            None => match self.error.take() {
                Some(error) => Err(error),
                None => stdx::fatal!("a row that probes has no key"),
            },
        }
    }
}
