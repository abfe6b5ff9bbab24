//! Columns of private tables that change or go: what stands in the way, and what moves up when one is gone.

use crate::CatalogError;
use crate::alter::{mentions, same_kind_wider, unused};
use crate::def::TableDef;
use types::{Collation, SqlType};

/// The column that ALTER COLUMN may give another type or nullability: 4924, 4922.
pub(crate) fn alterable(
    table: &TableDef,
    name: &str,
    ty: SqlType,
    nullable: Option<bool>,
    collation: Collation,
) -> Result<usize, CatalogError> {
    const ACTION: &str = "ALTER COLUMN";
    let ordinal = find(table, ACTION, name)?;
    let column = &table.columns[ordinal];
    if column.is_made() {
        let what = "ALTER COLUMN of a computed or rowversion column".into();
        return Err(CatalogError::NotSupported { what });
    }
    let grows = same_kind_wider(column.ty, ty) && column.collation == collation;
    let same = column.ty == ty && column.collation == collation;
    let keyed = table.primary_key.as_ref().filter(|k| k.columns.iter().any(|(i, _)| *i == ordinal));
    let mut users: Vec<Box<str>> = Vec::new();
    let keyed = keyed.filter(|_| !grows || nullable.unwrap_or(true));
    users.extend(keyed.map(|k| k.name.clone()));
    if !grows {
        users.extend(unique_on(table, ordinal));
        users.extend(column.default.as_ref().filter(|_| !same).map(|d| d.name.clone()));
    }
    users.extend(read_by(table, ordinal, !grows));
    unused(table, ACTION, ordinal, users).map(|()| ordinal)
}

/// Takes a column out of a definition; where it was. `None`: there is none of the name, and none is needed. 4922 to 4924.
pub(crate) fn remove(
    table: &mut TableDef,
    name: &str,
    if_exists: bool,
) -> Result<Option<usize>, CatalogError> {
    const ACTION: &str = "DROP COLUMN";
    if if_exists && table.column(name).is_none() {
        return Ok(None);
    }
    let gone = find(table, ACTION, name)?;
    let keyed = table.primary_key.as_ref().filter(|k| k.columns.iter().any(|(i, _)| *i == gone));
    let mut users: Vec<Box<str>> = Vec::new();
    users.extend(table.columns[gone].default.as_ref().map(|d| d.name.clone()));
    users.extend(keyed.map(|k| k.name.clone()));
    users.extend(unique_on(table, gone));
    users.extend(read_by(table, gone, true));
    unused(table, ACTION, gone, users)?;
    let stored = |c: &&crate::def::ColumnDef| c.computed.is_none();
    if table.columns.iter().filter(stored).count() == 1 && stored(&&table.columns[gone]) {
        let (column, table) = (table.columns[gone].name.clone(), table.name.clone());
        return Err(CatalogError::LastColumn { column, table });
    }
    table.columns.remove(gone);
    let move_down = |i: &mut usize| *i -= usize::from(*i > gone);
    for key in table.primary_key.iter_mut().chain(&mut table.unique) {
        key.columns.iter_mut().for_each(|(i, _)| move_down(i));
    }
    for check in &mut table.checks {
        check.column.iter_mut().for_each(move_down);
    }
    Ok(Some(gone))
}

fn find(table: &TableDef, action: &'static str, name: &str) -> Result<usize, CatalogError> {
    table.column(name).ok_or_else(|| {
        let (column, table) = (name.into(), table.name.clone());
        CatalogError::NoColumn { action, column, table }
    })
}

fn unique_on(table: &TableDef, ordinal: usize) -> impl Iterator<Item = Box<str>> {
    let over = move |k: &&crate::def::KeyDef| k.columns.iter().any(|(i, _)| *i == ordinal);
    table.unique.iter().filter(over).map(|k| k.name.clone())
}

/// Computed columns that read the column; with `checks` CHECK constraints too.
fn read_by(table: &TableDef, ordinal: usize, checks: bool) -> Vec<Box<str>> {
    let name = &table.columns[ordinal].name;
    let reads =
        |c: &&crate::def::ColumnDef| c.computed.as_ref().is_some_and(|k| mentions(&k.text, name));
    let checks = table.checks.iter().filter(|c| checks && mentions(&c.text, name));
    let computed = table.columns.iter().filter(reads);
    checks.map(|c| c.name.clone()).chain(computed.map(|c| c.name.clone())).collect()
}
