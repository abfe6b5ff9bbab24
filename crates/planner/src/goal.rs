//! What somebody above is content with: the first rows of an order, or any.
//!
//! It knows nothing of how they are had.

use ir::ColId;

/// The rows that somebody above is content with.
#[derive(Debug, Clone)]
pub(crate) struct Goal {
    /// The order that they are the first in; none: any rows will do.
    pub keys: Vec<(ColId, bool)>,
    /// How many.
    pub rows: f64,
}

/// A TOP of nobody knows how many rows.
pub(crate) const FEW_ROWS: f64 = 100.0;

impl Goal {
    /// The same of other columns, as `renamed` has it; None where one is no column there.
    pub fn renamed(mut self, renamed: impl Fn(ColId) -> Option<ColId>) -> Option<Goal> {
        for (id, _) in &mut self.keys {
            *id = renamed(*id)?;
        }
        Some(self)
    }
}
