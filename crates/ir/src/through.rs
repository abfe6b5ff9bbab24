//! Views and inline functions on the way to a table, and which of their columns a statement uses.
//!
//! Promise: one [`Through`] stands for one naming of a module in one statement; what the statement uses of it is noted
//! while it is bound, and only read afterwards.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, OnceLock};

/// A view or an inline function on the way to a table: who reads it needs the right on it, and on the table only where
/// that belongs to somebody else.
#[derive(Debug)]
pub struct Through {
    pub object_id: i32,
    pub schema: Box<str>,
    pub name: Box<str>,
    /// The one that names it.
    pub outer: Option<Arc<Through>>,
    columns: OnceLock<Box<[UsedColumn]>>,
}

/// A column of a module, and what the statement does with it.
#[derive(Debug)]
pub struct UsedColumn {
    pub name: Box<str>,
    uses: AtomicU8,
}

/// What is done with a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnUse {
    Read = 1,
    /// It is named in the SET of an UPDATE.
    Written = 2,
}

impl Through {
    pub fn new(object_id: i32, schema: &str, name: &str, outer: Option<Arc<Through>>) -> Through {
        let (schema, name) = (schema.into(), name.into());
        Through { object_id, schema, name, outer, columns: OnceLock::new() }
    }

    /// Its columns, once they are known.
    pub fn expose(&self, names: impl Iterator<Item = Box<str>>) {
        let columns = names.map(|name| UsedColumn { name, uses: AtomicU8::new(0) });
        let known = self.columns.set(columns.collect());
        debug_assert!(known.is_ok(), "a module is exposed once where it is named");
    }

    pub fn note(&self, ordinal: usize, what: ColumnUse) {
        if let Some(column) = self.columns().get(ordinal) {
            column.uses.fetch_or(what as u8, Ordering::Relaxed);
        }
    }

    pub fn columns(&self) -> &[UsedColumn] {
        self.columns.get().map_or(&[], |columns| columns)
    }

    /// The ordinals of the columns that are used so.
    pub fn used(&self, what: ColumnUse) -> Vec<usize> {
        let is_used = |column: &UsedColumn| column.uses.load(Ordering::Relaxed) & what as u8 != 0;
        let all = self.columns().iter().enumerate();
        all.filter(|(_, column)| is_used(column)).map(|(ordinal, _)| ordinal).collect()
    }
}

/// Of one statement: the same module in the same place.
impl PartialEq for Through {
    fn eq(&self, other: &Through) -> bool {
        self.object_id == other.object_id && self.outer == other.outer
    }
}

impl Eq for Through {}
