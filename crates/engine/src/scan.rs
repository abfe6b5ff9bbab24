//! Reading a range of a tree in key order, a leaf at a time.

use crate::{EngineError, Txn};

/// A scan in progress. Owns its position and buffers, so any number may be open in a transaction; the transaction is
/// handed to each step.
pub struct Scan {}

impl Scan {
    /// The next visible row as (key, row), or `None` at the end. Yields by itself when its quantum is over.
    #[allow(clippy::should_implement_trait, clippy::type_complexity, reason = "a lending iterator")]
    pub fn next<'a>(
        &'a mut self,
        txn: &mut Txn,
    ) -> Result<Option<(&'a [u8], &'a [u8])>, EngineError> {
        let _ = txn;
        unimplemented!()
    }
}
