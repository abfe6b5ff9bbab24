//! The row that another refers to, found by its key alone: looked for when the reference is written ([`Seek::finds`]), or
//! vouched for while it is (`together.rs`).

use catalog::TableDef;
use engine::EngineError;
use executor::engine_tree;
use std::sync::Arc;
use types::{KeyPart, Value, key};

/// The way to the one row of a table that has these values in a unique key of its.
pub(super) struct Seek {
    /// The table's rows, and what is looked into: these, or an index.
    base: engine::Tree,
    tree: engine::Tree,
    /// The parts of the key, and where their values are among those given.
    parts: Vec<(KeyPart, usize)>,
    key: Vec<u8>,
    row: Vec<u8>,
}

impl Seek {
    /// None where no unique key has just these columns, and for a table in memory.
    pub fn to(table: &TableDef, columns: &[usize], db: &Arc<engine::Database>) -> Option<Seek> {
        let fits = |key: &[(usize, bool)]| {
            key.len() == columns.len() && key.iter().all(|(c, _)| columns.contains(c))
        };
        // What is read in memory is looked at again at commit: the general way notes it.
        if table.is_memory() {
            return None;
        }
        let base = engine_tree(db, table);
        let clustered = fits(table.clustered_key()) && !table.has_uniquifier() && !table.is_heap();
        let (tree, layout, key_columns) = if clustered {
            (base.clone(), &table.key_layout, table.clustered_key())
        } else {
            let index = table
                .secondary()
                .find(|i| i.unique && !i.disabled && i.filter.is_none() && fits(&i.columns))?;
            (db.tree(index.tree), &index.key_layout, &index.columns[..])
        };
        let place = |(c, _): &(usize, bool)| columns.iter().position(|at| at == c);
        let places: Option<Vec<usize>> = key_columns.iter().map(place).collect();
        let parts: Vec<_> = layout.parts().iter().copied().zip(places?).collect();
        if parts.len() != columns.len() {
            return None;
        }
        Some(Seek { base, tree, parts, key: Vec::new(), row: Vec::new() })
    }

    /// Makes the key.
    pub fn encode<'v>(&mut self, value: impl Fn(usize) -> &'v Value) {
        self.key.clear();
        for (part, at) in &self.parts {
            key::encode_part(part, value(*at), &mut self.key);
        }
    }

    /// Whether the row is there; the reference has been written.
    pub fn finds(&mut self, values: &[Value], txn: &mut engine::Txn) -> Result<bool, EngineError> {
        self.encode(|at| &values[at]);
        txn.is_there(&self.base, &self.tree, &self.key, &mut self.row)
    }

    /// The key that was encoded last, of a row that must be there.
    pub fn parent(&self) -> engine::Parent<'_> {
        engine::Parent { table: &self.base, tree: &self.tree, key: &self.key }
    }
}
