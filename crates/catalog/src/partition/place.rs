//! Tables and indexes on partition schemes.
//!
//! Rows lie in the filegroup of the scheme's first partition. A clustered index is divided as its table's rows are.

use super::*;
use crate::Txn;
use crate::def::{ColumnDef, TableDef, same_name};
use crate::spec::SpaceSpec;
use crate::system::Cells;
use engine::FilegroupId;

impl Catalog {
    /// Where something is to lie; `None`: in the default filegroup. 1921, 2726, 1911, 7724, 7726, 7727. A scheme is
    /// locked, and counts as used from then on.
    pub(crate) fn data_space(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        space: Option<&SpaceSpec>,
        columns: &[ColumnDef],
        table: &str,
    ) -> Result<(FilegroupId, Box<str>, Option<Partitioned>), CatalogError> {
        let Some(space) = space else {
            let (number, filegroup) = self.filegroup(None)?;
            return Ok((number, filegroup, None));
        };
        let name = &space.name;
        match self.filegroup(Some(name)) {
            Ok(_) if !space.columns.is_empty() => return Err(no_scheme(name)),
            Ok((number, filegroup)) => return Ok((number, filegroup, None)),
            Err(_) => {}
        }
        let kind = ModuleKind::PartitionScheme;
        let Some((module, modified)) = self.lock_module(txn, scope, kind, Some("dbo"), name)?
        else {
            return Err(match space.columns.is_empty() {
                true => CatalogError::NoFilegroup { name: name.clone() },
                false => no_scheme(name),
            });
        };
        let function = self.function_of_scheme(Some(scope), module.object_id);
        let (Some(scheme), Some(function)) = (module.partition_scheme(), function) else {
            return Err(corrupt("a partition scheme without its function"));
        };
        let [column] = &space.columns[..] else {
            return Err(CatalogError::refused(
                2726,
                format!(
                    "Partition function '{}' uses 1 columns which does not match with the number of partition columns \
                     used to partition the table or index.",
                    function.name
                ),
            ));
        };
        let Some(ordinal) = columns.iter().position(|c| same_name(&c.name, column)) else {
            return Err(CatalogError::NoKeyColumn { column: column.clone() });
        };
        check_column(&columns[ordinal], table, &function)?;
        let first = scheme.filegroups.first().copied().unwrap_or(engine::PRIMARY);
        let partitioned = Partitioned { scheme: module.object_id, column: ordinal };
        self.use_partitioning(txn, scope, module, modified)?;
        Ok((first, self.filegroup_shown(first), Some(partitioned)))
    }

    /// A table under its Sch-M lock, for the rest of the transaction; `None`: there is none (any more). Suspends.
    pub fn table_for_switch(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        table: &TableDef,
    ) -> Result<Option<Arc<TableDef>>, CatalogError> {
        let locked = self.lock_table(txn, scope, Some(&table.schema), &table.name)?;
        Ok(locked.map(|(table, _)| table))
    }

    /// The rows of a table are divided in that way, from now on.
    pub(crate) fn divide_rows(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        partitioned: Option<Partitioned>,
    ) -> Result<(), CatalogError> {
        table.partitioned = partitioned;
        self.put_partitioned(txn, table.object_id, 0, partitioned)
    }

    /// A column has gone: those behind it have other numbers.
    pub(crate) fn divide_after(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        gone: usize,
    ) -> Result<(), CatalogError> {
        let move_down = |p: &mut Partitioned| p.column -= usize::from(p.column > gone);
        table.partitioned.iter_mut().for_each(move_down);
        table.indexes.iter_mut().filter_map(|i| i.partitioned.as_mut()).for_each(move_down);
        self.put_partitioned(txn, table.object_id, 0, table.partitioned)?;
        for index in table.indexes.iter().filter(|i| !i.clustered) {
            self.put_partitioned(txn, table.object_id, index.index_id, index.partitioned)?;
        }
        Ok(())
    }

    /// The row that says how an index, or (0) the rows of a table are divided; none for what is not.
    pub(crate) fn put_partitioned(
        &self,
        txn: &mut Txn,
        object_id: i32,
        index_id: i32,
        partitioned: Option<Partitioned>,
    ) -> Result<(), CatalogError> {
        let key = [Value::Int(object_id), Value::Int(index_id)];
        let Some(Partitioned { scheme, column }) = partitioned else {
            self.tables.partitioned.delete(txn, &key)?;
            return Ok(());
        };
        let [object, index] = key;
        let row = [object, index, Value::Int(scheme), Value::Int(column as i32)];
        self.tables.partitioned.put(txn, &row)
    }

    /// What a scheme is called, for messages.
    pub(crate) fn scheme_shown(&self, scheme: i32) -> Box<str> {
        match self.object_by_id(scheme) {
            Some(ObjectRef::Procedure(module)) => module.name.clone(),
            _ => "partition scheme".into(),
        }
    }
}

/// From a row of `partitioned`.
pub(crate) fn divide(table: &mut TableDef, row: Vec<Value>) -> Result<(), CatalogError> {
    let mut cells = Cells::new(row);
    cells.int()?;
    let (index, scheme, column) = (cells.int()? as i32, cells.int()? as i32, cells.int()?);
    let column = usize::try_from(column).ok().filter(|c| *c < table.columns.len());
    let column = column.ok_or_else(|| corrupt("a table divided by a column that is not there"))?;
    let partitioned = Some(Partitioned { scheme, column });
    if index == 0 {
        table.partitioned = partitioned;
        return Ok(());
    }
    let found = table.indexes.iter_mut().find(|i| i.index_id == index);
    found.ok_or_else(|| corrupt("an index is divided that is not there"))?.partitioned =
        partitioned;
    Ok(())
}

/// 1908: the key of a unique index has the column that divides it.
pub(crate) fn check_key(
    columns: &[ColumnDef],
    partitioned: Option<Partitioned>,
    key: &[(usize, bool)],
    name: &str,
) -> Result<(), CatalogError> {
    let Some(partitioned) = partitioned else { return Ok(()) };
    if key.iter().any(|(column, _)| *column == partitioned.column) {
        return Ok(());
    }
    Err(CatalogError::refused(
        1908,
        format!(
            "Column '{}' is partitioning column of the index '{name}'. Partition columns for a unique index must be a \
             subset of the index key.",
            columns[partitioned.column].name
        ),
    ))
}

/// 1921.
pub(crate) fn no_scheme(name: &str) -> CatalogError {
    CatalogError::refused(1921, format!("Invalid partition scheme '{name}' specified."))
}

/// Whether a column is one that a function may divide: 7724, 7726, 7727.
fn check_column(
    column: &ColumnDef,
    table: &str,
    module: &ProcedureDef,
) -> Result<(), CatalogError> {
    let Some(function) = module.partition_function() else { return Ok(()) };
    let name = &column.name;
    if column.computed.as_ref().is_some_and(|c| !c.persisted) {
        return Err(CatalogError::refused(
            7724,
            format!(
                "Computed column cannot be used as a partition key if it is not persisted. Partition key column \
                 '{name}' in table '{table}' is not persisted."
            ),
        ));
    }
    if !column.ty.has_values_of(function.ty) {
        return Err(CatalogError::refused(
            7726,
            format!(
                "Partition column '{name}' has data type {} which is different from the partition function '{}' \
                 parameter data type {}.",
                column.ty, module.name, function.ty
            ),
        ));
    }
    if column.ty.is_character() && column.collation != function.collation {
        return Err(CatalogError::refused(
            7727,
            format!(
                "Collation of partition column '{name}' does not match collation of corresponding parameter in \
                 partition function '{}'.",
                module.name
            ),
        ));
    }
    Ok(())
}
