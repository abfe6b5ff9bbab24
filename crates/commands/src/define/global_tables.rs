//! Global temporary tables (`##t`) as their session remembers them.

use crate::Commands;
use catalog::TableDef;
use session_state::GlobalTable;

impl Commands<'_> {
    /// A table was made: if it is global, the session remembers to drop it.
    pub fn note_global(&mut self, table: &TableDef) {
        if catalog::is_global_name(&table.name) {
            self.state.global_tables.push(GlobalTable {
                database: self.state.database.name.clone(),
                name: (&*table.name).into(),
                object_id: table.object_id,
            });
        }
    }
}
