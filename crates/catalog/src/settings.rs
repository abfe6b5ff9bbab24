//! The server's settings as they are kept: texts by name, all of them together.
//!
//! What they mean is said above. Kept in `master`, among the options of databases, under a number that none has
//! ([`SETTINGS`]).

use crate::system::{Cells, MasterTables};
use crate::{CatalogError, Txn};
use std::collections::BTreeMap;
use types::Value;

/// In place of a database's id.
pub(crate) const SETTINGS: i32 = -2;

/// Settings that are not at their defaults.
pub type Settings = BTreeMap<String, String>;

pub(crate) fn load(tables: &MasterTables, txn: &mut Txn) -> Result<Settings, CatalogError> {
    let mut settings = Settings::new();
    for row in tables.options.scan(txn, &[Value::Int(SETTINGS)])? {
        let mut cells = Cells::new(row);
        cells.skip()?;
        settings.insert(cells.text()?.into(), cells.text()?.into());
    }
    Ok(settings)
}
