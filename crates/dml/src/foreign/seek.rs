//! The row that another refers to, found by its key alone: looked for when the reference is written ([`Seek::finds`]), or
//! vouched for while it is (`together.rs`).

use super::{ForeignKeys, same};
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

    fn encode<'v>(&mut self, value: impl Fn(usize) -> &'v Value) {
        self.key.clear();
        for (part, at) in &self.parts {
            key::encode_part(part, value(*at), &mut self.key);
        }
    }

    pub fn finds(&mut self, values: &[Value], txn: &mut engine::Txn) -> Result<bool, EngineError> {
        self.encode(|at| &values[at]);
        txn.is_there(&self.base, &self.tree, &self.key, &mut self.row)
    }
}

impl ForeignKeys {
    /// Whether the table refers to nothing.
    pub fn are_of_others(&self) -> bool {
        self.own.is_empty()
    }

    /// Whether nothing refers to the table.
    pub fn are_own(&self) -> bool {
        self.children.is_empty()
    }

    /// Whether all that a row refers to lies under a whole unique key of another table.
    pub fn can_be_vouched_for(&self) -> bool {
        self.own.iter().all(|own| own.seek.is_some())
    }

    /// A row is to be written: notes the keys that it refers to, and did not before.
    pub fn note_parents(&mut self, old: Option<&[Value]>, new: Option<&[Value]>) {
        for own in &mut self.own {
            own.noted = false;
            let (Some(new), Some(seek)) = (new, &mut own.seek) else { continue };
            let columns = &own.key.columns;
            let stays = old.is_some_and(|old| same(columns, old, new));
            if !stays && !columns.iter().any(|column| new[*column].is_null()) {
                seek.encode(|at| &new[columns[at]]);
                own.noted = true;
            }
        }
    }

    /// The keys noted.
    pub fn parents(&self) -> impl Iterator<Item = engine::Parent<'_>> {
        let noted = self.own.iter().filter(|own| own.noted);
        noted.filter_map(|own| own.seek.as_ref()).map(|seek| {
            let Seek { base, tree, key, .. } = seek;
            engine::Parent { table: base, tree, key }
        })
    }
}
