//! 'fill factor (%)': how full the leaves of an index are made where its definition does not say it. Kept with the index, as in
//! SQL Server, so the option may change without changing it.

use crate::Commands;
use catalog::{AlterTable, IndexSpec, KeySpec, TableSpec};

const FILL_FACTOR: &str = "fill factor (%)";

fn fill_key(key: &mut KeySpec, percent: u8) {
    if key.fill_factor == 0 {
        key.fill_factor = percent;
    }
}

fn fill_index(index: &mut IndexSpec, percent: u8) {
    if index.fill_factor == 0 && index.columnstore.is_none() {
        index.fill_factor = percent;
    }
}

impl Commands<'_> {
    /// None: they are filled.
    fn default_fill(&self) -> Option<u8> {
        let percent = self.host.option_in_use(FILL_FACTOR)?;
        u8::try_from(percent).ok().filter(|percent| (1..=100).contains(percent))
    }

    /// For the keys and indexes of a table that is made.
    pub(super) fn fill_table(&self, spec: &mut TableSpec) {
        let Some(percent) = self.default_fill().filter(|_| spec.memory.is_none()) else { return };
        let keys = spec.primary_key.iter_mut().chain(&mut spec.unique);
        keys.for_each(|key| fill_key(key, percent));
        spec.indexes.iter_mut().for_each(|index| fill_index(index, percent));
    }

    /// For those that a table on pages gets.
    pub(super) fn fill_changes(&self, changes: &mut [AlterTable]) {
        let Some(percent) = self.default_fill() else { return };
        for change in changes {
            match change {
                AlterTable::AddPrimaryKey(key) | AlterTable::AddUnique(key) => {
                    fill_key(key, percent);
                }
                AlterTable::AddIndex(index) => fill_index(index, percent),
                _ => {}
            }
        }
    }
}
