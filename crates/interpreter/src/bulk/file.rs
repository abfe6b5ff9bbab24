//! BULK INSERT: rows of a file on the server.
//!
//! Promises: a file is never in memory as a whole; a batch (BATCHSIZE; without it, the whole file) is a statement of its
//! own; a row that cannot be read costs one of MAXERRORS and is left out, an error of the table (2627, 515, 547) ends the
//! load.

use super::sorted::Sorted;
use super::source::Source;
use super::{Column, Loading, Rules};
use crate::vm::Vm;
use executor::{Command, SqlError, SqlMessage};
use session_state::{Halted, check_may_load};
use syntax::ast::BulkInsert;
use types::Value;

impl Vm<'_> {
    // Not a part of every statement's stack: procedures nest.
    #[cold]
    #[inline(never)]
    pub fn bulk_insert(
        &mut self,
        bulk: &BulkInsert,
        line: u32,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<(), Halted> {
        check_may_load(self.state)?;
        refuse(bulk)?;
        let rules = Rules {
            statement: "BULK INSERT",
            table: &bulk.table,
            keeps_nulls: bulk.has("KEEPNULLS"),
            checks_constraints: bulk.has("CHECK_CONSTRAINTS"),
            fires_triggers: bulk.has("FIRE_TRIGGERS"),
            locks_table: bulk.has("TABLOCK"),
        };
        let columns = self.bulk_columns(&rules)?;
        let mut source = Source::open(self, bulk, columns, line, guarded)?;
        for column in &bulk.order {
            if !source.columns.iter().any(|c| catalog::same_name(&c.name, &column.name.value)) {
                let text = format!(
                    "Could not bulk load. The sorted column '{}' is not valid. The ORDER hint is ignored.",
                    column.name.value
                );
                self.sink.message(&SqlMessage::info(4817, line, text));
            }
        }
        let listed = source.listed();
        let columns: Vec<&Column> = listed.iter().map(|c| &source.columns[*c]).collect();
        let mut loading = self.open_bulk(&rules, &columns, frame)?;
        source.note_defaults(&loading.has_default);
        let loaded = self.load_file(bulk, &mut loading, &mut source, frame, guarded);
        let closed = source.close();
        self.failed |= source.told > 0;
        let total = loaded?;
        closed?;
        self.state.rowcount = total as i64;
        self.state.error = source.last_told;
        if !self.state.options.nocount {
            self.tell_done(Command::BulkInsert, Some(total));
        }
        Ok(())
    }

    /// Batch after batch; the number of rows.
    fn load_file(
        &mut self,
        bulk: &BulkInsert,
        loading: &mut Loading,
        source: &mut Source,
        frame: &mut [Value],
        guarded: bool,
    ) -> Result<u64, Halted> {
        let batch = bulk.number("BATCHSIZE").filter(|rows| *rows > 0);
        let target = super::find_table(self.state, &ir::ObjectName::from(&bulk.table));
        let listed = source.listed();
        let names: Vec<Box<str>> = listed.iter().map(|c| source.columns[*c].name.clone()).collect();
        let names: Vec<&str> = names.iter().map(|name| &**name).collect();
        let mut total = 0;
        loop {
            source.begin_batch(batch.unwrap_or(u64::MAX));
            let table = target.as_ref();
            let mut sorted = table.and_then(|t| Sorted::by_hint(t, &bulk.order, &names));
            let mut next = |values: &mut Vec<Value>, sink: &mut dyn executor::ResultSink| {
                let is_there = source.next(values, sink)?;
                if let Some(sorted) = sorted.as_mut().filter(|_| is_there) {
                    sorted.check(values)?;
                }
                Ok(is_there)
            };
            let count = loading.insert(self, &mut next, frame, guarded)?;
            total += count;
            if source.is_over() {
                return Ok(total);
            }
            if !self.state.options.nocount {
                self.tell_done(Command::BulkInsert, Some(count));
            }
        }
    }
}

/// What is not here, and what makes no sense.
fn refuse(bulk: &BulkInsert) -> Result<(), SqlError> {
    for name in ["DATA_SOURCE", "FORMATFILE_DATA_SOURCE", "ERRORFILE_DATA_SOURCE"] {
        if let Some(source) = bulk.text(name) {
            let text = format!("Referenced external data source \"{source}\" not found.");
            return Err(SqlError::new(12703, 16, text).with_state(2));
        }
    }
    let kind = bulk.text("DATAFILETYPE").unwrap_or("CHAR");
    if matches!(kind, "WIDECHAR_ANSI" | "DTS_BUFFERS") {
        return Err(SqlError::unsupported(format!("BULK INSERT with DATAFILETYPE = '{kind}'")));
    }
    if bulk.has("INCLUDE_HIDDEN") {
        return Err(SqlError::unsupported("BULK INSERT with INCLUDE_HIDDEN"));
    }
    if bulk.has("FORMAT") && matches!(kind, "NATIVE" | "WIDENATIVE") {
        let text = "CSV format option is supported for char and widechar datafiletype options.";
        return Err(SqlError::new(5339, 16, text));
    }
    let one = |text: &str| text.chars().count() == 1 && text.encode_utf16().count() == 1;
    if !bulk.text("FIELDQUOTE").is_none_or(one) || !bulk.text("ESCAPECHAR").is_none_or(one) {
        return Err(SqlError::new(
            4878,
            16,
            "Invalid quote character specified for bulk load. Quote character can be one single byte or Unicode \
             character.",
        ));
    }
    let first = bulk.number("FIRSTROW").unwrap_or(1);
    if bulk.number("LASTROW").is_some_and(|last| last > 0 && first > last) {
        return Err(SqlError::new(
            4880,
            16,
            "Cannot bulk load. When you use the FIRSTROW and LASTROW parameters, the value for FIRSTROW cannot be \
             greater than the value for LASTROW.",
        ));
    }
    Ok(())
}
