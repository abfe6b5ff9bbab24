//! ALTER TABLE ... SWITCH: rows of a table, or of a partition of it, go to another table or partition.
//!
//! Both tables are locked as for any ALTER TABLE, what SQL Server asks of them is asked (messages 4900 to 4985), and
//! then the rows are moved, one by one, in the statement's transaction. That a row belongs into the target's partition
//! is asked of each row, where SQL Server wants a CHECK constraint that says so.

use crate::Commands;
use crate::define::change::writer;
use crate::define::partition::{Divided, in_range};
use catalog::{Catalog, DdlScope, IndexDef, ObjectRef, TableDef, Temporal, same_name};
use dml::PartitionRows;
use executor::{Cx, SqlError, SqlMessage};
use ir::ddl::Switch;
use std::sync::Arc;
use types::Value;

impl Commands<'_> {
    /// 4900 to 4985, 7733, 13546.
    pub(crate) fn switch_partition(
        &mut self,
        switch: &Switch,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        let mut tables = Vec::new();
        for name in [&switch.source, &switch.target] {
            if session_state::is_temporary(&name.name) {
                return Err(SqlError::unsupported("ALTER TABLE SWITCH of a temporary table"));
            }
            self.local(name)?;
            let schema = self.schema_of(name);
            match self.state.find_object(schema.as_deref(), &name.name) {
                Some(ObjectRef::Table(table))
                    if self.may_change(&ObjectRef::Table(table.clone()), false) =>
                {
                    tables.push(table);
                }
                _ => return Err(crate::refusals::no_object(&name.to_string())),
            }
        }
        let [source, target] = &tables[..] else { return Ok(()) };
        let mut numbers = [None, None];
        for (number, expr) in numbers.iter_mut().zip([&switch.partition, &switch.target_partition])
        {
            if let Some(expr) = expr {
                *number = Some(self.partition_number(expr, frame)?);
            }
        }
        let (source, target) = (source.clone(), target.clone());
        let warnings = self.in_definition(frame, |catalog, cx, scope| {
            let lock = |cx: &mut Cx<'_>, table: &TableDef| -> Result<Arc<TableDef>, SqlError> {
                let locked = catalog.table_for_switch(writer(cx), scope, table)?;
                locked.ok_or_else(|| crate::refusals::no_object(&table.name))
            };
            if source.object_id == target.object_id {
                let shown = catalog.shown(&source);
                return Err(failed(
                    4955,
                    format!("The source table '{shown}' and target table '{shown}' are same."),
                ));
            }
            let (source, target) = (lock(cx, &source)?, lock(cx, &target)?);
            below_views(catalog, &source, &target)?;
            let pair = Pair { catalog, scope, source: &source, target: &target };
            let mut warnings = Vec::new();
            let from = pair.side(&source, numbers[0], 1, &mut warnings)?;
            let to = pair.side(&target, numbers[1], 2, &mut warnings)?;
            pair.check_kinds()?;
            pair.check_columns(&from, &to)?;
            pair.check_indexes(&from, &to)?;
            pair.check_constraints()?;
            pair.move_rows(&from, &to, cx)?;
            Ok(warnings)
        })?;
        for text in warnings {
            self.sink.message(&SqlMessage::info(4903, 1, text));
        }
        Ok(())
    }
}

/// The two tables, both locked.
struct Pair<'p> {
    catalog: &'p Catalog,
    scope: &'p DdlScope,
    source: &'p Arc<TableDef>,
    target: &'p Arc<TableDef>,
}

/// A partition of a table that has some.
struct Side {
    divided: Divided,
    /// From 1.
    number: usize,
    /// Which of the partitions it is: all are false but one.
    marks: Vec<bool>,
}

impl Side {
    fn rows(&self) -> PartitionRows<'_> {
        self.divided.rows(&self.marks)
    }
}

impl Pair<'_> {
    /// The partition of one of the tables; `None`: it has none. 4911, 4950; 4903 is a warning.
    fn side(
        &self,
        table: &TableDef,
        number: Option<i64>,
        state: u8,
        warnings: &mut Vec<String>,
    ) -> Result<Option<Side>, SqlError> {
        let shown = self.catalog.shown(table);
        let divided = table.partitioned.map(|p| Divided::of(self.catalog, self.scope, p));
        let (divided, number) = match (divided.transpose()?, number) {
            (None, None) => return Ok(None),
            (None, Some(number)) => {
                warnings.push(format!(
                    "Warning: The specified partition {number} for the table '{shown}' was ignored in ALTER TABLE \
                     SWITCH statement because the table is not partitioned."
                ));
                return Ok(None);
            }
            (Some(_), None) => {
                let text = format!(
                    "Cannot specify a partitioned table without partition number in ALTER TABLE SWITCH statement. The \
                     table '{shown}' is partitioned."
                );
                return Err(SqlError::new(4911, 16, text).with_state(state));
            }
            (Some(divided), Some(number)) => (divided, number),
        };
        let fanout = divided.fanout();
        let number = in_range(number, "table", &shown)?;
        if number > fanout {
            return Err(SqlError::new(
                4950,
                16,
                format!(
                    "ALTER TABLE SWITCH statement failed because partition number {number} does not exist in table \
                     '{shown}'."
                ),
            ));
        }
        let mut marks = vec![false; fanout];
        marks[number - 1] = true;
        Ok(Some(Side { divided, number, marks }))
    }

    fn shown(&self) -> (String, String) {
        (self.catalog.shown(self.source), self.catalog.shown(self.target))
    }

    /// Tables that keep more than their rows: 4900, 13546, 13577.
    fn check_kinds(&self) -> Result<(), SqlError> {
        let (source, target) = self.shown();
        for (table, shown, state) in [(self.target, &target, 1), (self.source, &source, 2)] {
            if table.tracking.is_some() {
                let text = format!(
                    "The ALTER TABLE SWITCH statement failed for table '{shown}'. It is not possible to switch the \
                     partition of a table that has change tracking enabled. Disable change tracking before using \
                     ALTER TABLE SWITCH."
                );
                return Err(SqlError::new(4900, 16, text).with_state(state));
            }
        }
        if matches!(self.source.temporal, Temporal::Versioned { .. }) {
            return Err(SqlError::new(
                13546,
                16,
                format!(
                    "Switching out partition failed on table '{source}' because it is not a supported operation on \
                     system-versioned tables. Consider setting SYSTEM_VERSIONING to OFF and trying again."
                ),
            ));
        }
        if matches!(self.target.temporal, Temporal::History { .. }) {
            return Err(SqlError::unsupported("ALTER TABLE SWITCH into a history table"));
        }
        if self.target.period().is_some() && self.source.period().is_none() {
            return Err(SqlError::new(
                13577,
                16,
                format!(
                    "ALTER TABLE SWITCH statement failed on table '{source}' because target table has SYSTEM_TIME \
                     PERIOD while source table does not have it."
                ),
            ));
        }
        Ok(())
    }

    /// The same columns: 4943, 4942, 4944, 4945, 4985, 4966, 4958, 11412, 4953.
    fn check_columns(&self, from: &Option<Side>, to: &Option<Side>) -> Result<(), SqlError> {
        let (source, target) = self.shown();
        let because = |number: i32, text: String| {
            SqlError::new(number, 16, format!("ALTER TABLE SWITCH statement failed because {text}"))
        };
        let (here, there) = (&self.source.columns, &self.target.columns);
        if here.len() != there.len() {
            let text = format!(
                "table '{source}' has {} columns and table '{target}' has {} columns.",
                here.len(),
                there.len()
            );
            return Err(because(4943, text));
        }
        for (i, (a, b)) in here.iter().zip(there).enumerate() {
            let name = &a.name;
            let differs = |number: i32, what: &str| {
                because(
                    number,
                    format!(
                        "column '{name}' does not have {what} in tables '{source}' and '{target}'."
                    ),
                )
            };
            if !same_name(name, &b.name) {
                let text = format!(
                    "column '{name}' at ordinal {} in table '{source}' has a different name than the column '{}' at \
                     the same ordinal in table '{target}'.",
                    i + 1,
                    b.name
                );
                return Err(because(4942, text));
            }
            if a.ty != b.ty || a.rowversion != b.rowversion {
                let text = format!(
                    "column '{name}' has data type {} in source table '{source}' which is different from its type {} \
                     in target table '{target}'.",
                    a.ty, b.ty
                );
                return Err(because(4944, text));
            }
            if a.ty.is_character() && a.collation != b.collation {
                return Err(differs(4945, "the same collation"));
            }
            let text = |c: &catalog::ColumnDef| c.computed.as_ref().map(|k| k.text.clone());
            let (own, other) = (text(a), text(b));
            if own != other {
                let shown = |text: Option<Box<str>>| text.unwrap_or_else(|| "(null)".into());
                return Err(failed(
                    4966,
                    format!(
                        "Computed column '{name}' defined as '{}' in table '{source}' is different from the same \
                         column in table '{target}' defined as '{}'.",
                        shown(own),
                        shown(other)
                    ),
                ));
            }
            if a.nullable != b.nullable {
                return Err(differs(4985, "the same nullability attribute"));
            }
            if a.marks.rowguidcol != b.marks.rowguidcol {
                return Err(differs(4958, "the same ROWGUIDCOL property"));
            }
            if a.marks.sparse != b.marks.sparse {
                return Err(differs(11412, "the same sparse storage attribute"));
            }
        }
        if let (Some(from), Some(to)) = (from, to)
            && from.divided.column() != to.divided.column()
        {
            return Err(failed(
                4953,
                format!(
                    "The columns set used to partition the table '{source}' is different from the column set used to \
                     partition the table '{target}'."
                ),
            ));
        }
        Ok(())
    }

    /// Every index of the target is one of the source too, and divided as its table is: 4913, 4947, 7733.
    fn check_indexes(&self, from: &Option<Side>, to: &Option<Side>) -> Result<(), SqlError> {
        let (source, target) = self.shown();
        let sides = [(self.source, from, &source), (self.target, to, &target)];
        for (table, side, shown) in sides {
            let alone = table.secondary().find(|i| side.is_some() && i.partitioned.is_none());
            if let Some(index) = alone {
                return Err(SqlError::new(
                    7733,
                    16,
                    format!(
                        "'ALTER TABLE SWITCH' statement failed. The table '{shown}' is partitioned while index '{}' is \
                         not partitioned.",
                        index.name
                    ),
                )
                .with_state(4));
            }
        }
        let one = |with: &str, index: &str, without: &str, state: u8| {
            let text = format!(
                "The table '{with}' has clustered index '{index}' while the table '{without}' does not have clustered \
                 index."
            );
            failed(4913, text).with_state(state)
        };
        let missing = |index: &str| {
            let text = format!(
                "There is no identical index in source table '{source}' for the index '{index}' in target table \
                 '{target}' ."
            );
            failed(4947, text)
        };
        match (self.source.clustered_name(), self.target.clustered_name()) {
            (Some(index), None) => return Err(one(&source, index, &target, 1)),
            (None, Some(index)) => return Err(one(&target, index, &source, 2)),
            (Some(_), Some(index)) => {
                let same = self.source.clustered_key() == self.target.clustered_key()
                    && self.source.has_uniquifier() == self.target.has_uniquifier();
                if !same {
                    return Err(missing(index));
                }
            }
            (None, None) => {}
        }
        let same = |a: &IndexDef, b: &IndexDef| {
            a.columns == b.columns
                && a.include == b.include
                && a.unique == b.unique
                && a.filter == b.filter
        };
        for index in self.target.secondary() {
            if !self.source.secondary().any(|own| same(own, index)) {
                return Err(missing(&index.name));
            }
        }
        Ok(())
    }

    /// What the target's constraints say of its rows, the source's say too: 4971, 4968; nobody refers to rows that go:
    /// 4967.
    fn check_constraints(&self) -> Result<(), SqlError> {
        let (source, target) = self.shown();
        for check in self.target.checks.iter().filter(|c| !c.disabled) {
            let own = self.source.checks.iter();
            if !own.filter(|c| !c.disabled).any(|c| c.text == check.text) {
                return Err(failed(
                    4971,
                    format!(
                        "Target table '{target}' has a column level check constraint '{}' but the source table \
                         '{source}' does not have a corresponding constraint.",
                        check.name
                    ),
                ));
            }
        }
        for key in self.target.foreign_keys.iter().filter(|k| !k.disabled) {
            let same = |own: &catalog::ForeignKeyDef| {
                own.table == key.table
                    && own.columns == key.columns
                    && own.referenced == key.referenced
            };
            if !self.source.foreign_keys.iter().any(same) {
                return Err(failed(
                    4968,
                    format!(
                        "Target table '{target}' has foreign key for constraint '{}' but source table '{source}' does \
                         not have corresponding key.",
                        key.name
                    ),
                ));
            }
        }
        let own = self.source.foreign_keys.iter().filter(|k| k.table == self.source.object_id);
        let others = self.catalog.references_to(Some(self.scope), self.source);
        let others = others.iter().map(|(child, k)| &child.foreign_keys[*k]);
        if let Some(key) = own.chain(others).next() {
            return Err(failed(
                4967,
                format!(
                    "SWITCH is not allowed because source table '{source}' contains primary key for constraint '{}'.",
                    key.name
                ),
            ));
        }
        Ok(())
    }

    /// 4904, 4905, 4972, 4982.
    fn move_rows(
        &self,
        from: &Option<Side>,
        to: &Option<Side>,
        cx: &mut Cx<'_>,
    ) -> Result<(), SqlError> {
        let (source, target) = self.shown();
        if !dml::has_no_rows(self.target, to.as_ref().map(Side::rows), cx)? {
            return Err(match to {
                Some(side) => failed(
                    4904,
                    format!(
                        "The specified partition {} of target table '{target}' must be empty.",
                        side.number
                    ),
                ),
                None => failed(4905, format!("The target table '{target}' must be empty.")),
            });
        }
        let fits = |values: &[Value]| match to {
            Some(side) if side.divided.partition_of(values) != side.number && from.is_none() => {
                Err(failed(
                    4982,
                    format!(
                        "Check constraints of source table '{source}' allow values that are not allowed by range defined \
                         by partition {} on target table '{target}'.",
                        side.number
                    ),
                ))
            }
            Some(side) if side.divided.partition_of(values) != side.number => Err(failed(
                4972,
                format!(
                    "Check constraints or partition function of source table '{source}' allows values that are not \
                     allowed by check constraints or partition function on target table '{target}'."
                ),
            )),
            _ => Ok(()),
        };
        let rows = from.as_ref().map(Side::rows);
        dml::move_rows(self.source, rows, self.target, &fits, cx)?;
        Ok(())
    }
}

/// 11402: what comes or goes in one piece would be missing in the views above.
fn below_views(catalog: &Catalog, source: &TableDef, target: &TableDef) -> Result<(), SqlError> {
    let (from, to) = (catalog.shown(source), catalog.shown(target));
    if !target.views.is_empty() {
        return Err(failed(
            11402,
            format!(
                "Target table '{to}' is referenced by {} indexed view(s), but source table '{from}' is only referenced by {} \
                 indexed view(s). Every indexed view on the target table must have at least one matching indexed view on \
                 the source table.",
                target.views.len(),
                source.views.len()
            ),
        ));
    }
    match source.views.is_empty() {
        true => Ok(()),
        false => Err(SqlError::unsupported("ALTER TABLE SWITCH of a table below an indexed view")),
    }
}

fn failed(number: i32, text: impl std::fmt::Display) -> SqlError {
    SqlError::new(number, 16, format!("ALTER TABLE SWITCH statement failed. {text}"))
}
