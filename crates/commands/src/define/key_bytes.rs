//! What is said of an index whose keys may turn out too long: 1945.

use crate::Commands;
use catalog::{TableDef, key_bytes_max};
use executor::SqlMessage;

impl Commands<'_> {
    /// 1945 for each key of a table that may be longer than a key can be, but for those of these names.
    pub(crate) fn tell_long_keys(&mut self, table: &TableDef, known: &[Box<str>]) {
        if table.is_memory() {
            return;
        }
        for (name, columns, clustered) in keys(table) {
            if known.iter().any(|known| catalog::same_name(known, name)) {
                continue;
            }
            let bytes = |(at, _): &(usize, bool)| types::key::column_bytes(table.columns[*at].ty).1;
            let bytes: usize = columns.iter().map(bytes).sum();
            let most = key_bytes_max(clustered);
            if bytes > most {
                let kind = if clustered { "clustered" } else { "nonclustered" };
                let text = format!(
                    "Warning! The maximum key length for a {kind} index is {most} bytes. The index '{name}' has maximum \
                     length of {bytes} bytes. For some combination of large values, the insert/update operation will fail."
                );
                self.sink.message(&SqlMessage::info(1945, 1, text));
            }
        }
    }
}

/// The names of a table's keys and indexes.
pub(crate) fn key_names(table: &TableDef) -> Vec<Box<str>> {
    keys(table).map(|(name, ..)| name.into()).collect()
}

/// Name, columns, and whether it is clustered.
fn keys(table: &TableDef) -> impl Iterator<Item = (&str, &[(usize, bool)], bool)> {
    let primary = table.primary_key.iter().filter(|key| key.clustered);
    let primary = primary.map(|key| (&*key.name, &key.columns[..], true));
    let indexes = table.indexes.iter().filter(|index| index.columnstore.is_none());
    primary.chain(indexes.map(|index| (&*index.name, &index.columns[..], index.clustered)))
}
