//! How a change of a private table is taken back.

use crate::key::Key;
use crate::table::{Row, Table, row_bytes};
use std::sync::Arc;

/// A change that was made, and what brings back the state before it.
#[derive(Debug)]
pub(crate) enum Undo {
    Inserted(Key),
    Replaced(Key, Row),
    Removed(Key, Row),
    /// TRUNCATE, or a new definition: the table as it was.
    Whole(Arc<Table>),
}

impl Undo {
    /// Memory held for undoing, in bytes.
    pub fn bytes(&self) -> usize {
        match self {
            Undo::Inserted(_) => size_of::<Undo>(),
            Undo::Replaced(key, row) | Undo::Removed(key, row) => {
                size_of::<Undo>() + row_bytes(key.as_bytes(), row)
            }
            Undo::Whole(table) => table.bytes(),
        }
    }

    /// Takes the change back. Done in reverse order of the changes, so what each needs is free.
    pub fn apply(self, table: &mut Arc<Table>) {
        let result = match self {
            Undo::Inserted(key) => {
                Arc::make_mut(table).remove(key.as_bytes());
                Ok(())
            }
            Undo::Replaced(key, row) => {
                Arc::make_mut(table).replace(key.as_bytes(), row).map(|_| ())
            }
            Undo::Removed(key, row) => Arc::make_mut(table).put(key, row),
            Undo::Whole(old) => {
                *table = old;
                Ok(())
            }
        };
        if let Err(error) = result {
            stdx::fatal!("a change of a private table cannot be undone: {error:?}");
        }
    }
}
