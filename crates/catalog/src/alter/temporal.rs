//! System versioning: the period of a table, the table of its history, and what neither may undergo meanwhile.
//!
//! Invariants: a table that is [`Temporal::Versioned`] has a period and a primary key, and its history table, which is
//! [`Temporal::History`] of it, has the same columns in the same order; both are locked, and both get a new definition,
//! when that begins or ends. What keeps the columns alike afterwards is the caller's: it changes both tables.
//!
//! Source: SQL Server's documentation of temporal tables and of messages 13500 to 13799.

use super::Work;
use crate::catalog::Catalog;
use crate::def::*;
use crate::scope::DdlScope;
use crate::spec::{AlterTable, ColumnSpec, IndexSpec, Mark, TableSpec, VersioningSpec};
use crate::{CatalogError, Txn};
use types::SqlType;

impl Catalog {
    /// An operation that versioned tables and their histories do not undergo.
    pub(crate) fn temporal(&self, number: i32, what: &str, table: &TableDef) -> CatalogError {
        let shown = self.shown(table);
        CatalogError::refused(
            number,
            format!(
                "{what} operation failed on table '{shown}' because it is not a supported operation on \
                 system-versioned temporal tables."
            ),
        )
    }

    /// Whether versioning allows a change of the table; what else it allows is the change's own affair.
    pub(super) fn check_versioning(
        &self,
        table: &TableDef,
        change: &AlterTable,
    ) -> Result<(), CatalogError> {
        let shown = self.shown(table);
        let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
        if let AlterTable::AlterColumn { name, .. } | AlterTable::DropColumn { name, .. } = change
            && let Some(at) = table.column(name)
            && table.columns[at].generated.is_some()
        {
            let column = &table.columns[at].name;
            return match change {
                AlterTable::DropColumn { .. } => refused(
                    13588,
                    format!(
                        "Column '{column}' in table '{shown}' cannot be dropped because it is a part of period \
                         definition."
                    ),
                ),
                _ => refused(
                    13599,
                    format!(
                        "Period column '{column}' in a system-versioned temporal table cannot be altered."
                    ),
                ),
            };
        }
        match (table.temporal, change) {
            (Temporal::No, _) => Ok(()),
            (_, AlterTable::DropPeriod) => refused(
                13592,
                format!(
                    "Cannot drop SYSTEM_TIME period from table '{shown}' when SYSTEM_VERSIONING is ON."
                ),
            ),
            (Temporal::Versioned { .. }, AlterTable::DropConstraint { name, .. })
                if table.primary_key.as_ref().is_some_and(|k| same_name(&k.name, name)) =>
            {
                refused(
                    13557,
                    format!(
                        "Cannot drop PRIMARY KEY constraint from a system-versioned temporal table '{shown}'."
                    ),
                )
            }
            (Temporal::Versioned { .. }, AlterTable::AddColumns(columns))
                if columns.iter().any(|c| c.computed.is_some()) =>
            {
                refused(
                    13724,
                    "System-versioned table schema modification failed because adding computed column while \
                     system-versioning is ON is not supported."
                        .into(),
                )
            }
            (Temporal::Versioned { .. }, _) => Ok(()),
            (Temporal::History { .. }, AlterTable::AddPrimaryKey(_)) => refused(
                13558,
                format!("Cannot add PRIMARY KEY constraint to a temporal history table '{shown}'."),
            ),
            (Temporal::History { .. }, AlterTable::AddUnique(_)) => refused(
                13583,
                format!("Cannot add UNIQUE KEY constraint to a temporal history table '{shown}'."),
            ),
            (Temporal::History { .. }, AlterTable::AddIndex(index)) if index.unique => refused(
                13741,
                format!("Cannot create UNIQUE index on temporal history table '{shown}'."),
            ),
            (Temporal::History { .. }, AlterTable::AddCheck(_)) => refused(
                13564,
                format!("Adding CHECK constraint to a temporal history table '{shown}' is not allowed."),
            ),
            (Temporal::History { .. }, AlterTable::AddForeignKey(key)) => {
                let name = key.name.as_deref().unwrap_or("");
                refused(
                    13565,
                    format!(
                        "Foreign key '{name}' is not valid. A temporal history table cannot be used in a foreign key \
                         definition."
                    ),
                )
            }
            (Temporal::History { .. }, AlterTable::AddPeriod { .. }) => refused(
                13598,
                format!("Temporal SYSTEM_TIME period cannot be defined on history table '{shown}'."),
            ),
            (Temporal::History { .. }, AlterTable::AddColumns(_)) => {
                Err(self.temporal(13550, "Add column", table))
            }
            (Temporal::History { .. }, AlterTable::DropColumn { .. }) => {
                Err(self.temporal(13551, "Drop column", table))
            }
            (Temporal::History { .. }, AlterTable::AlterColumn { name, .. }) => refused(
                13548,
                format!(
                    "Cannot alter column '{name}' on table '{shown}' because it is not a supported operation on \
                     system-versioned temporal or ledger tables."
                ),
            ),
            (Temporal::History { .. }, AlterTable::RenameColumn { .. }) => refused(
                13759,
                format!(
                    "Renaming a column failed on history table '{shown}' because it is not a supported operation on \
                     system-versioned tables. Consider setting SYSTEM_VERSIONING to OFF and trying again."
                ),
            ),
            (Temporal::History { .. }, _) => Ok(()),
        }
    }

    /// What a change of a versioned table's columns means for its history, if anything.
    pub fn change_of_history(change: &AlterTable) -> Option<AlterTable> {
        match change {
            AlterTable::AddColumns(columns) => {
                let plain = |column: &ColumnSpec| ColumnSpec {
                    default: None,
                    identity: None,
                    computed: None,
                    // What rows in the history have there is what rows in the table have.
                    nullable: Some(column.nullable != Some(false) && column.identity.is_none()),
                    marks: Marks { rowguidcol: false, not_for_replication: false, ..column.marks },
                    ..column.clone()
                };
                Some(AlterTable::AddColumns(columns.iter().map(plain).collect()))
            }
            AlterTable::AlterColumn { .. }
            | AlterTable::DropColumn { .. }
            | AlterTable::RenameColumn { .. } => Some(change.clone()),
            AlterTable::MarkColumn { mark: Mark::Sparse | Mark::Hidden, .. }
            | AlterTable::MaskColumn { .. } => Some(change.clone()),
            _ => None,
        }
    }

    /// PERIOD FOR SYSTEM_TIME: over columns that are added as its ends, or over two that are there. 13597, 13501, 13587,
    /// 13513, 13504 to 13507.
    pub(super) fn add_period(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        start: &str,
        end: &str,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let shown = self.shown(table);
        let find = |name: &str| {
            table.column(name).ok_or_else(|| CatalogError::NoColumn {
                action: "ADD PERIOD FOR SYSTEM_TIME",
                column: name.into(),
                table: table.name.clone(),
            })
        };
        let ends = (find(start)?, find(end)?);
        // The ends may have been added as such a moment ago; any other period is there already.
        if table.period().is_some_and(|period| period != ends) {
            return Err(CatalogError::refused(
                13597,
                format!("Temporal SYSTEM_TIME period is already defined on table '{shown}'."),
            ));
        }
        for (at, edge) in [(ends.0, PeriodEdge::Start), (ends.1, PeriodEdge::End)] {
            table.columns[at].generated = Some(edge);
        }
        check_period(table)?;
        for at in [ends.0, ends.1] {
            self.put_column(txn, table.object_id, at, &table.columns[at])?;
        }
        work.push(Work::VerifyPeriod);
        Ok(())
    }

    /// Its columns go on as ordinary ones; 13593.
    pub(super) fn drop_period(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let Some((start, end)) = table.period() else {
            let shown = self.shown(table);
            return Err(CatalogError::refused(
                13593,
                format!(
                    "SYSTEM_TIME period cannot be dropped from table '{shown}', because SYSTEM_TIME period does not \
                     exist."
                ),
            ));
        };
        for at in [start, end] {
            table.columns[at].generated = None;
            table.columns[at].marks.hidden = false;
            self.put_column(txn, table.object_id, at, &table.columns[at])?;
        }
        Ok(())
    }

    /// SYSTEM_VERSIONING = ON of a locked table. 13510, 13553, 13596, 13757, and what is wrong with a history table.
    pub(crate) fn start_versioning(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        spec: &VersioningSpec,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let shown = self.shown(table);
        let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
        if let Temporal::Versioned { history, .. } = table.temporal {
            // Said again: only what is kept of how long may change.
            let same = match (&spec.history, self.table_by_id(Some(scope), history)) {
                (Some((schema, name)), Some(known)) => {
                    same_name(schema, &known.schema) && same_name(name, &known.name)
                }
                _ => true,
            };
            if !same {
                return refused(
                    13757,
                    format!(
                        "Temporal table '{shown}' already has history table defined. Consider dropping \
                         system_versioning first if you want to use different history table."
                    ),
                );
            }
            table.temporal = Temporal::Versioned { history, retention: spec.retention };
            return self.put_table(txn, table);
        }
        if table.period().is_none() {
            return refused(
                13510,
                "Cannot set SYSTEM_VERSIONING to ON when SYSTEM_TIME period is not defined and the LEDGER=ON option is \
                 not specified."
                    .into(),
            );
        }
        if table.primary_key.is_none() {
            let text =
                format!("System versioned temporal table '{shown}' must have primary key defined.");
            return refused(13553, text);
        }
        if table.memory.is_some_and(|memory| !memory.durable) {
            return Err(crate::memory::not_in_memory(
                "feature",
                "SYSTEM_VERSIONING with DURABILITY=SCHEMA_ONLY",
            ));
        }
        let known = match &spec.history {
            Some((schema, name)) => self.lock_table(txn, scope, Some(schema), name)?,
            None => None,
        };
        if known.as_ref().is_some_and(|(history, _)| history.is_memory()) {
            return Err(crate::memory::not_in_memory("feature", "HISTORY_TABLE"));
        }
        let history = match known {
            Some((history, modified)) => {
                self.check_history(table, &history)?;
                let of = table.object_id;
                self.change_table(txn, scope, &history, modified, |_, _, history| {
                    history.temporal = Temporal::History { of };
                    Ok(())
                })?;
                if !spec.unchecked {
                    work.push(Work::VerifyHistory { object_id: history.object_id });
                }
                history.object_id
            }
            None => {
                if let Some((schema, name)) = &spec.history
                    && self.object(Some(scope), Some(schema), name).is_some()
                {
                    let text = format!(
                        "Specified object '{schema}.{name}' cannot be used as history table."
                    );
                    return refused(13511, text);
                }
                let spec = history_spec(table, spec);
                let made = self.create_table(txn, scope, &spec)?;
                let Some((made, modified)) =
                    self.lock_table(txn, scope, Some(&made.schema), &made.name)?
                else {
                    return Err(CatalogError::InvalidObject { name: made.name.clone() });
                };
                let of = table.object_id;
                self.change_table(txn, scope, &made, modified, |catalog, txn, history| {
                    history.temporal = Temporal::History { of };
                    catalog.unbind_columns(txn, history)
                })?;
                made.object_id
            }
        };
        table.temporal = Temporal::Versioned { history, retention: spec.retention };
        self.put_table(txn, table)
    }

    /// SYSTEM_VERSIONING = OFF; 13591.
    pub(super) fn stop_versioning(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        let Temporal::Versioned { history, .. } = table.temporal else {
            let shown = self.shown(table);
            let text = format!("SYSTEM_VERSIONING is not turned ON for table '{shown}'.");
            return Err(CatalogError::refused(13591, text));
        };
        if let Some(known) = self.table_by_id(Some(scope), history)
            && let Some((known, modified)) =
                self.lock_table(txn, scope, Some(&known.schema), &known.name)?
        {
            self.change_table(txn, scope, &known, modified, |_, _, history| {
                history.temporal = Temporal::No;
                Ok(())
            })?;
        }
        table.temporal = Temporal::No;
        self.put_table(txn, table)
    }

    /// Whether a table may be the history of another. 13512 to 13534, 13574, 13580.
    fn check_history(&self, table: &TableDef, history: &TableDef) -> Result<(), CatalogError> {
        let (shown, of) = (self.shown(history), self.shown(table));
        let failed = |number: i32, why: String| {
            Err(CatalogError::refused(
                number,
                format!("Setting SYSTEM_VERSIONING to ON failed because {why}"),
            ))
        };
        let has = |number: i32, what: &str, whats: &str| {
            failed(
                number,
                format!(
                    "history table '{shown}' has {what}. Consider dropping all {whats} and trying again."
                ),
            )
        };
        if history.object_id == table.object_id {
            let text = format!("Specified object '{shown}' cannot be used as history table.");
            return Err(CatalogError::refused(13511, text));
        }
        match history.temporal {
            Temporal::History { .. } => {
                let text = format!("History table '{shown}' is already in use.");
                return Err(CatalogError::refused(13514, text));
            }
            Temporal::Versioned { .. } => {
                let text = format!("Temporal table '{shown}' is already in use.");
                return Err(CatalogError::refused(13566, text));
            }
            Temporal::No => {}
        }
        if history.period().is_some() {
            let why = format!("temporal history table '{shown}' contains SYSTEM_TIME period.");
            return failed(13574, why);
        }
        if history.primary_key.is_some() || history.indexes.iter().any(|i| i.unique) {
            return has(13515, "custom unique keys defined", "unique keys");
        }
        if !history.foreign_keys.is_empty() || !history.referencing.is_empty() {
            return has(13516, "foreign keys defined", "foreign keys");
        }
        if !history.checks.is_empty() || history.columns.iter().any(|c| c.default.is_some()) {
            return has(
                13517,
                "table or column constraints defined",
                "table and column constraints",
            );
        }
        if history.identity().is_some() {
            return has(13518, "IDENTITY column specification", "IDENTITY column specifications");
        }
        if history.columns.iter().any(|c| c.computed.is_some()) {
            return has(13519, "computed column specification", "computed column specifications");
        }
        if history.columns.iter().any(|c| c.marks.rowguidcol) {
            return has(13580, "ROWGUID column specification", "ROWGUID column specifications");
        }
        if !self.triggers_of(None, history.object_id).is_empty() {
            return has(13522, "triggers defined", "triggers");
        }
        let (own, theirs) = (table.columns.len(), history.columns.len());
        if own != theirs {
            let why =
                format!("table '{of}' has {own} columns and table '{shown}' has {theirs} columns.");
            return failed(13523, why);
        }
        for (i, (column, kept)) in table.columns.iter().zip(&history.columns).enumerate() {
            let (name, other) = (&column.name, &kept.name);
            if !same_name(name, other) {
                let why = format!(
                    "column '{other}' at ordinal {} in history table '{shown}' has a different name than the column \
                     '{name}' at the same ordinal in table '{of}'.",
                    i + 1
                );
                return failed(13524, why);
            }
            if column.ty != kept.ty {
                let why = format!(
                    "column '{name}' has data type {} in history table '{shown}' which is different from corresponding \
                     column type {} in table '{of}'.",
                    kept.ty, column.ty
                );
                return failed(13525, why);
            }
            if column.collation != kept.collation {
                let why = format!(
                    "column '{name}' does not have the same collation in tables '{of}' and '{shown}'."
                );
                return failed(13526, why);
            }
            if column.generated.is_some() && kept.nullable {
                let why = format!(
                    "system column '{name}' in history table '{shown}' corresponds to a period column in table '{of}' \
                     and cannot be nullable."
                );
                return failed(13530, why);
            }
            if column.nullable != kept.nullable {
                let why = format!(
                    "column '{name}' does not have the same nullability attribute in tables '{of}' and '{shown}'."
                );
                return failed(13531, why);
            }
        }
        Ok(())
    }
}

/// The ends of a period: datetime2, not NULL, of one precision. 13501, 13587, 13513, 13504, 13505.
pub(crate) fn check_period(table: &TableDef) -> Result<(), CatalogError> {
    let refused = |number: i32, text: String| Err(CatalogError::refused(number, text));
    let ends: Vec<&ColumnDef> = table.columns.iter().filter(|c| c.generated.is_some()).collect();
    for column in &ends {
        let name = &column.name;
        if !matches!(column.ty, SqlType::DateTime2(_)) {
            let text = format!("Temporal generated always column '{name}' has invalid data type.");
            return refused(13501, text);
        }
        if column.nullable {
            let text = format!(
                "Period column '{name}' in a system-versioned temporal table cannot be nullable."
            );
            return refused(13587, text);
        }
    }
    if ends.windows(2).any(|pair| pair[0].ty != pair[1].ty) {
        let text = "SYSTEM_TIME period columns cannot have different datatype precision.";
        return refused(13513, text.into());
    }
    Ok(())
}

/// A history table as it is made: the same columns without what makes or checks them, in the order in which rows end.
fn history_spec(table: &TableDef, versioning: &VersioningSpec) -> TableSpec {
    let (schema, name) = versioning.history.clone().unwrap_or_else(|| {
        let name = format!("MSSQL_TemporalHistoryFor_{}", table.object_id);
        (table.schema.clone(), name.into())
    });
    let column = |c: &ColumnDef| ColumnSpec {
        nullable: Some(c.nullable),
        alias: c.alias,
        collation: c.collation,
        marks: Marks { rowguidcol: false, not_for_replication: false, ..c.marks },
        mask: c.mask.clone(),
        ..ColumnSpec::new(&c.name, c.ty)
    };
    let mut spec = TableSpec {
        schema,
        columns: table.columns.iter().map(column).collect(),
        filegroup: Some((&*table.filegroup).into()),
        ..TableSpec::default()
    };
    if let Some((start, end)) = table.period() {
        let key = |i: usize| (table.columns[i].name.clone(), false);
        spec.indexes.push(IndexSpec {
            name: format!("ix_{name}").into(),
            columns: vec![key(end), key(start)],
            clustered: true,
            ..IndexSpec::default()
        });
    }
    spec.name = name;
    spec
}
