//! CREATE, ALTER and DROP of partition functions and schemes, and statements about partitions of a table by their
//! numbers. Numbers and texts: SQL Server's messages 7701 to 7730.

use crate::Commands;
use crate::define::change::writer;
use catalog::{
    Catalog, DdlScope, ModuleKind, PARTITIONS_MAX, PartitionFunctionDef, Partitioned, ProcedureDef,
    TableDef,
};
use dml::PartitionRows;
use executor::{SqlError, SqlMessage};
use ir::Expr;
use ir::ddl::{PartitionDdl, Reorganize};
use security::Permission;
use std::sync::Arc;
use types::{SqlType, TypeError, Value, convert};

impl Commands<'_> {
    /// Each of the statements; what they refuse is in the catalog.
    pub(crate) fn define_partitioning(
        &mut self,
        change: &PartitionDdl,
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_database(Permission::AlterAnyDataspace)?;
        let mut notices = Vec::new();
        match change {
            PartitionDdl::CreateFunction { name, ty, collation, right, values } => {
                let mut boundaries = Vec::with_capacity(values.len());
                for (i, value) in values.iter().enumerate() {
                    boundaries.push(self.boundary(value, *ty, i + 1, frame)?);
                }
                let function = PartitionFunctionDef::new(*ty, *collation, *right, &boundaries)?;
                let moved = |(a, b)| types::compare::sort_order(a, b).is_ne();
                let unsorted = boundaries.iter().zip(&function.boundaries).any(moved);
                self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog.create_partition_function(txn, scope, name, function)?)
                })?;
                if unsorted {
                    notices.push((7709, not_sorted(name)));
                }
            }
            PartitionDdl::AlterFunction { name, merge, value } => {
                let (catalog, scope) = (&self.state.database.catalog, self.state.definitions());
                let kind = ModuleKind::PartitionFunction;
                let function = catalog.module(scope, None, name, kind);
                let ty = function.as_ref().and_then(|f| f.partition_function()).map(|f| f.ty);
                let value = match ty {
                    Some(ty) => self.boundary(value, ty, 1, frame)?,
                    // Gone since the statement was bound, which the catalog says.
                    None => Value::Null,
                };
                self.in_catalog(frame, |catalog, txn, scope| {
                    match merge {
                        true => catalog.merge_partitions(txn, scope, name, &value)?,
                        false => catalog.split_partition(txn, scope, name, &value)?,
                    }
                    Ok(())
                })?;
            }
            PartitionDdl::CreateScheme { name, function, all, filegroups } => {
                let groups: Vec<&str> = filegroups.iter().map(|g| &**g).collect();
                notices = self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog
                        .create_partition_scheme(txn, scope, name, function, *all, &groups)?)
                })?;
            }
            PartitionDdl::NextUsed { scheme: name, filegroup } => {
                notices = self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog.set_next_used(txn, scope, name, filegroup.as_deref())?)
                })?;
            }
            PartitionDdl::DropFunction(name) => {
                self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog.drop_partition_function(txn, scope, name)?)
                })?;
            }
            PartitionDdl::DropScheme(name) => {
                self.in_catalog(frame, |catalog, txn, scope| {
                    Ok(catalog.drop_partition_scheme(txn, scope, name)?)
                })?;
            }
        }
        for (number, text) in notices {
            self.sink.message(&SqlMessage::info(number, 1, text));
        }
        Ok(())
    }

    /// A boundary as a value of the function's type: 7705, 7720.
    fn boundary(
        &mut self,
        value: &Expr,
        ty: SqlType,
        ordinal: usize,
        frame: &mut [Value],
    ) -> Result<Value, SqlError> {
        let from = value.ty;
        let value = self.value(value, frame)?;
        let style = self.state.options.date_style();
        convert::assign_style(&value, from, ty, style).map_err(|e| match e {
            TypeError::Truncated { .. } => SqlError::new(
                7720,
                16,
                format!(
                    "Data truncated when converting range values to the partition function parameter type. The range \
                     value at ordinal {ordinal} requires data truncation."
                ),
            ),
            _ => SqlError::new(
                7705,
                16,
                format!(
                    "Could not implicitly convert range values type specified at ordinal {ordinal} to partition \
                     function parameter type."
                ),
            )
            .with_state(2),
        })
    }
}

impl Commands<'_> {
    /// The number of a partition, as a statement gives it.
    pub(crate) fn partition_number(
        &mut self,
        number: &Expr,
        frame: &mut [Value],
    ) -> Result<i64, SqlError> {
        let value = self.value(number, frame)?;
        let value = convert::cast(&value, number.ty, SqlType::BigInt, 0)?;
        Ok(value.as_i64().unwrap_or(0))
    }

    /// TRUNCATE TABLE WITH (PARTITIONS (...)): 7729, 7722, 7728, 7711, 3756, 4716.
    pub(crate) fn truncate_partitions(
        &mut self,
        table: &TableDef,
        spans: &[(Expr, Option<Expr>)],
        frame: &mut [Value],
    ) -> Result<(), SqlError> {
        self.check_alter(table)?;
        let mut numbers = Vec::with_capacity(spans.len());
        for (first, last) in spans {
            let first = self.partition_number(first, frame)?;
            let last = match last {
                Some(last) => self.partition_number(last, frame)?,
                None => first,
            };
            numbers.push((first, last));
        }
        if table.is_private() {
            return Err(not_partitioned("truncate table", "table", &table.name).with_state(3));
        }
        self.in_definition(frame, |catalog, cx, scope| {
            let (schema, name) = (Some(&*table.schema), &*table.name);
            let table = catalog.truncate_partitions(writer(cx), scope, schema, name)?;
            let Some(partitioned) = table.partitioned else {
                return Err(not_partitioned("truncate table", "table", name).with_state(3));
            };
            let divided = Divided::of(catalog, scope, partitioned)?;
            let meant = divided.meant(&table, &numbers)?;
            divided.check_alignment(catalog, scope, &table)?;
            dml::delete_rows(&table, divided.rows(&meant), cx)?;
            Ok(())
        })
    }

    /// ALTER INDEX and ALTER TABLE ... PARTITION = number: 7729, 7722, 7730, 2586.
    pub(crate) fn check_partition(
        &self,
        table: &TableDef,
        what: &Reorganize,
        number: i64,
    ) -> Result<(), SqlError> {
        let (kind, name, partitioned) = match &what.index {
            None => ("table", &table.name, table.partitioned),
            Some(name) if table.is_clustered_key(name) => ("index", name, table.partitioned),
            Some(name) => match table.index(name) {
                // It is missed when its tree is looked for.
                None => return Ok(()),
                Some(index) => ("index", &index.name, table.partitioned_index(index)),
            },
        };
        let Some(partitioned) = partitioned else {
            return Err(not_partitioned(&format!("alter {kind}"), kind, name));
        };
        let (catalog, scope) = (&self.state.database.catalog, self.state.definitions());
        let function = catalog.function_of_scheme(scope, partitioned.scheme);
        let function = function.as_ref().and_then(|f| f.partition_function());
        let fanout = function.map_or(1, PartitionFunctionDef::fanout);
        let number = in_range(number, kind, name)?;
        if number <= fanout {
            return Ok(());
        }
        if !what.rebuild {
            let index = what.index.as_deref().unwrap_or("");
            let text = format!(
                "Cannot find partition number {number} for index \"{index}\", table \"{}\".",
                table.name
            );
            return Err(SqlError::new(2586, 16, text));
        }
        let text = format!(
            "Alter {kind} statement failed because partition number {number} does not exist in {kind} '{name}'."
        );
        Err(SqlError::new(7730, 16, text))
    }
}

/// How a table's rows are divided, with the function that divides them.
pub(crate) struct Divided {
    function: Arc<ProcedureDef>,
    partitioned: Partitioned,
}

impl Divided {
    pub fn of(
        catalog: &Catalog,
        scope: &DdlScope,
        partitioned: Partitioned,
    ) -> Result<Divided, SqlError> {
        match catalog.function_of_scheme(Some(scope), partitioned.scheme) {
            Some(function) => Ok(Divided { function, partitioned }),
            None => Err(SqlError::unsupported("a table on a partition scheme that is gone")),
        }
    }

    /// Ordinal of the column.
    pub fn column(&self) -> usize {
        self.partitioned.column
    }

    fn function(&self) -> &PartitionFunctionDef {
        match self.function.partition_function() {
            Some(function) => function,
            None => {
                stdx::fatal!("{} divides a table and is no partition function", self.function.name)
            }
        }
    }

    pub fn fanout(&self) -> usize {
        self.function().fanout()
    }

    /// The partition that a row belongs to.
    pub fn partition_of(&self, row: &[Value]) -> usize {
        self.function().partition_of(&row[self.column()])
    }

    /// The rows of the partitions that are marked.
    pub fn rows<'d>(&'d self, partitions: &'d [bool]) -> PartitionRows<'d> {
        PartitionRows { function: self.function(), column: self.column(), partitions }
    }

    /// The partitions that a statement lists: 7722, 7728, 7711.
    fn meant(&self, table: &TableDef, spans: &[(i64, i64)]) -> Result<Vec<bool>, SqlError> {
        let fanout = self.fanout();
        let mut meant = vec![false; fanout];
        for (first, last) in spans {
            for number in [first, last] {
                if !(1..=fanout as i64).contains(number) {
                    return Err(out_of_range(*number, "table", &table.name, fanout).with_state(2));
                }
            }
            if first > last {
                let text = format!(
                    "Invalid partition range: {first} TO {last}. Lower bound must not be greater than upper bound."
                );
                return Err(SqlError::new(7728, 16, text));
            }
            for mark in &mut meant[*first as usize - 1..*last as usize] {
                if std::mem::replace(mark, true) {
                    let text = "The PARTITIONS option was specified more than once for the table, or for at least one \
                                of its partitions if the table is partitioned.";
                    return Err(SqlError::new(7711, 16, text).with_state(2));
                }
            }
        }
        Ok(meant)
    }

    /// Every index is divided as the table is: 3756, 4716.
    fn check_alignment(
        &self,
        catalog: &Catalog,
        scope: &DdlScope,
        table: &TableDef,
    ) -> Result<(), SqlError> {
        for index in table.secondary() {
            let other = index.partitioned.map(|p| Divided::of(catalog, scope, p)).transpose()?;
            if other.is_none_or(|other| other.function() != self.function()) {
                return Err(SqlError::new(
                    3756,
                    16,
                    format!(
                        "TRUNCATE TABLE statement failed. Index '{}' is not partitioned, but table '{}' uses partition \
                         function '{}'. Index and table must use an equivalent partition function.",
                        index.name, table.name, self.function.name
                    ),
                ));
            }
            if index.partitioned.is_some_and(|p| p.column != self.partitioned.column) {
                return Err(SqlError::new(
                    4716,
                    16,
                    format!(
                        "TRUNCATE TABLE statement failed. The column set used to partition the table '{}' is different \
                         from the column set used to partition index '{}'",
                        table.name, index.name
                    ),
                ));
            }
        }
        Ok(())
    }
}

/// A number that some function might have; 7722.
pub(crate) fn in_range(number: i64, kind: &str, name: &str) -> Result<usize, SqlError> {
    match usize::try_from(number) {
        Ok(found) if (1..=PARTITIONS_MAX).contains(&found) => Ok(found),
        _ => Err(out_of_range(number, kind, name, PARTITIONS_MAX)),
    }
}

/// 7722.
fn out_of_range(number: i64, kind: &str, name: &str, last: usize) -> SqlError {
    SqlError::new(
        7722,
        16,
        format!(
            "Invalid partition number {number} specified for {kind} '{name}', partition number can range from 1 to \
             {last}."
        ),
    )
}

/// 7729.
fn not_partitioned(statement: &str, kind: &str, name: &str) -> SqlError {
    SqlError::new(
        7729,
        16,
        format!(
            "Cannot specify partition number in the {statement} statement as the {kind} '{name}' is not partitioned."
        ),
    )
}

/// 7709.
fn not_sorted(name: &str) -> String {
    format!(
        "Warning: Range value list for partition function '{name}' is not sorted by value. Mapping of partitions to \
         filegroups during CREATE PARTITION SCHEME will use the sorted boundary values if the function '{name}' is \
         referenced in CREATE PARTITION SCHEME."
    )
}
