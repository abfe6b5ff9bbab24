//! ALTER INDEX REORGANIZE: leaves of indexes are filled up to their fill factor, large values move together.
//!
//! Others go on reading and writing the table (`engine::Txn::compact`). What is done when the statement ends early, or
//! its transaction is rolled back, stays done.

use crate::Commands;
use crate::refusals::no_object;
use catalog::{CatalogError, IndexDef, TableDef};
use engine::TreeId;
use executor::SqlError;
use ir::ddl::Reorganize;
use types::Value;

impl Commands<'_> {
    /// 1088, 1973, 2727.
    pub(crate) fn reorganize(
        &mut self,
        what: &Reorganize,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let name = &what.table;
        // A temporary table has no pages.
        if name.name.starts_with('#') {
            return Ok(());
        }
        self.local(name)?;
        let schema = self.schema_of(name);
        let table = match self.state.find_object(schema.as_deref(), &name.name) {
            Some(object) if !self.may_change(&object, false) => None,
            Some(object) => object.rows().cloned(),
            None => None,
        };
        let table = table.ok_or_else(|| no_object(&name.to_string()))?;
        if let Some(number) = &what.partition {
            let number = self.partition_number(number, frame)?;
            self.check_partition(&table, what, number)?;
        }
        let trees = trees_of(&table, what)?;
        let open = self.state.database.clone();
        self.in_catalog(frame, |_, txn, _| {
            trees.into_iter().try_for_each(|(tree, percent)| {
                let done = txn.compact(&open.engine.tree(tree), percent);
                done.map_err(|e| executor::from_engine(e, Some(&table), &open.name)).map(|_| ())
            })
        })
    }
}

/// The trees to compact, and how full their pages are to be.
fn trees_of(table: &TableDef, what: &Reorganize) -> Result<Vec<(TreeId, u8)>, SqlError> {
    let full = |fill_factor: u8| if fill_factor == 0 { 100 } else { fill_factor };
    let percent = |index: &IndexDef| full(index.fill_factor);
    let rows = || {
        let key = table.primary_key.as_ref().filter(|key| key.clustered);
        let own = key.map_or(100, |key| full(key.fill_factor));
        let own = table.clustered_index().map_or(own, percent);
        let lob = table.lob.filter(|_| what.large_values).map(|lob| (lob, 100));
        std::iter::once((table.tree, own)).chain(lob)
    };
    let Some(name) = &what.index else {
        let others = table.indexes.iter().filter(|index| !index.clustered && !index.disabled);
        return Ok(rows().chain(others.map(|index| (index.tree, percent(index)))).collect());
    };
    if table.is_clustered_key(name) {
        return Ok(rows().collect());
    }
    match table.index(name) {
        None => Err(CatalogError::NoSuchIndex { name: name.clone() }.into()),
        Some(index) if index.disabled => {
            let text = format!(
                "Cannot perform the specified operation on disabled index '{}' on table '{}.{}'.",
                index.name, table.schema, table.name
            );
            Err(SqlError::new(1973, 16, text))
        }
        Some(index) if index.clustered => Ok(rows().collect()),
        Some(index) => Ok(vec![(index.tree, percent(index))]),
    }
}
