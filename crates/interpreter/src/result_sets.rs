//! EXECUTE ... WITH RESULT SETS: what the callee sends goes through the clause, which renames and converts it.
//!
//! Promise: the client sees the declared columns only, and no row after one that does not fit. A mismatch is told when
//! the callee ends (SQL Server ends the callee at once): 11535 for a result set too many, 11536 for one too few, 11537
//! for another number of columns, 11538 for types without a conversion, 11553 for a NULL in a NOT NULL column
//! (learn.microsoft.com/sql/t-sql/language-elements/execute-transact-sql).

use executor::{ColumnMeta, Done, EnvironmentChange, ResultSink, SqlError, SqlMessage};
use ir::OutputColumn;
use types::{SqlType, Value, convert};

/// Stands between a callee and its caller's sink.
pub(crate) struct ResultSets<'a> {
    sets: &'a [Vec<OutputColumn>],
    to: &'a mut dyn ResultSink,
    /// Types of the result set that the callee sends now.
    types: Vec<SqlType>,
    /// Result sets that have begun.
    begun: usize,
    /// The first thing that did not fit.
    error: Option<SqlError>,
    /// The row in hand.
    row: Vec<Value>,
}

impl<'a> ResultSets<'a> {
    pub fn new(sets: &'a [Vec<OutputColumn>], to: &'a mut dyn ResultSink) -> ResultSets<'a> {
        ResultSets { sets, to, types: Vec::new(), begun: 0, error: None, row: Vec::new() }
    }

    /// The callee has ended: what did not fit, or too few result sets.
    pub fn end(self) -> Result<(), SqlError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        if self.begun < self.sets.len() {
            let text = format!(
                "specified {} result set(s), but the statement only sent {} result set(s) at run time.",
                self.sets.len(),
                self.begun
            );
            return Err(mismatch(11536, &text));
        }
        Ok(())
    }

    fn check(&self, columns: &[ColumnMeta]) -> Result<(), SqlError> {
        let Some(wanted) = self.sets.get(self.begun - 1) else {
            let text = format!(
                "specified {} result set(s), and the statement tried to send more result sets than this.",
                self.sets.len()
            );
            return Err(mismatch(11535, &text));
        };
        if wanted.len() != columns.len() {
            let text = format!(
                "specified {} column(s) for result set number {}, but the statement sent {} column(s) at run time.",
                wanted.len(),
                self.begun,
                columns.len()
            );
            return Err(mismatch(11537, &text));
        }
        for (i, (wanted, sent)) in wanted.iter().zip(columns).enumerate() {
            if convert::check_implicit(sent.ty, wanted.ty).is_err() {
                let text = format!(
                    "specified type '{}' for column #{} in result set #{}, and the corresponding type sent at run time \
                     was '{}'; there is no conversion between the two types.",
                    wanted.ty.name(),
                    i + 1,
                    self.begun,
                    sent.ty.name()
                );
                return Err(mismatch(11538, &text));
            }
        }
        Ok(())
    }

    fn convert(&mut self, row: &[Value]) -> Result<(), SqlError> {
        self.row.clear();
        let wanted = &self.sets[self.begun - 1];
        for (i, ((value, from), column)) in row.iter().zip(&self.types).zip(wanted).enumerate() {
            if value.is_null() && !column.nullable {
                let text = format!(
                    "specified a non-nullable type for column #{} in result set #{}, and the corresponding value sent \
                     at run time was null.",
                    i + 1,
                    self.begun
                );
                return Err(mismatch(11553, &text));
            }
            self.row.push(convert::cast(value, *from, column.ty, 0)?);
        }
        Ok(())
    }
}

fn mismatch(number: i32, text: &str) -> SqlError {
    SqlError::new(
        number,
        16,
        format!("EXECUTE statement failed because its WITH RESULT SETS clause {text}"),
    )
}

impl ResultSink for ResultSets<'_> {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        if self.error.is_some() {
            return;
        }
        self.begun += 1;
        self.types = columns.iter().map(|column| column.ty).collect();
        match self.check(columns) {
            Ok(()) => {
                let wanted = self.sets[self.begun - 1].iter();
                let wanted: Vec<ColumnMeta> = wanted
                    .map(|c| ColumnMeta::new(c.name.clone().unwrap_or_default(), c.ty, c.nullable))
                    .collect();
                self.to.columns(&wanted);
            }
            Err(error) => self.error = Some(error),
        }
    }

    fn row(&mut self, row: &[Value]) {
        if self.error.is_some() {
            return;
        }
        match self.convert(row) {
            Ok(()) => self.to.row(&self.row),
            Err(error) => self.error = Some(error),
        }
    }

    fn done(&mut self, done: Done) {
        if self.error.is_none() {
            self.to.done(done);
        }
    }

    fn message(&mut self, message: &SqlMessage) {
        self.to.message(message);
    }

    fn return_status(&mut self, status: i32) {
        self.to.return_status(status);
    }

    fn output(&mut self, ordinal: u16, name: &str, ty: SqlType, value: &Value) {
        self.to.output(ordinal, name, ty, value);
    }

    fn procedure_done(&mut self, status: i32) {
        self.to.procedure_done(status);
    }

    fn environment(&mut self, change: EnvironmentChange<'_>) {
        self.to.environment(change);
    }
}
