//! Definitions of tables that belong to one session: temporary tables and table variables.
//!
//! They obey the same rules as the database's own, but are written nowhere: the session keeps them. Their keys are
//! always clustered (there is nothing else to order by), and UNIQUE constraints are allowed.

use crate::CatalogError;
use crate::alter::{check_period, not_enabled};
use crate::create::{add_column, check_row_size, define_key};
use crate::def::{CheckDef, DefaultDef, IndexDef, IndexKind, Place, TableDef, same_name};
use crate::keys::find_columns;
use crate::load::lay_out;
use crate::made_names::{default_name, generated};
use crate::private_columns;
use crate::spec::{AlterTable, IndexSpec, KeySpec, TableSpec};
use types::RowLayout;

/// The definition of a private table. `object_id` must differ from those of all tables the session can name (they are
/// negative, so that no database has them); `version` from those of earlier definitions of it. 2705, 2744, 1911,
/// 1909, 1919, 8111, 1701.
pub fn define_private(
    spec: &TableSpec,
    place: Place,
    object_id: i32,
    version: u64,
) -> Result<TableDef, CatalogError> {
    let mut columns = Vec::with_capacity(spec.columns.len());
    for column in &spec.columns {
        add_column(&mut columns, column, &spec.name, object_id)?;
    }
    let clustered = |key: &KeySpec| KeySpec { clustered: true, ..key.clone() };
    let primary_key = match &spec.primary_key {
        None => None,
        Some(key) => {
            Some(define_key(&clustered(key), &spec.name, object_id, &mut columns, |name| {
                spec.columns.iter().any(|c| same_name(&c.name, name) && c.nullable == Some(true))
            })?)
        }
    };
    let mut table = TableDef {
        primary_key,
        place,
        database_collation: spec.database_collation,
        version,
        created_unix_ns: runtime::clock::unix_ns(),
        ..TableDef::bare(object_id, "dbo".into(), spec.name.clone(), columns)
    };
    let keys = spec.primary_key.iter().chain(&spec.unique).filter_map(|k| k.filegroup.as_ref());
    if let Some(space) = spec.filegroup.iter().chain(keys).find(|s| !s.columns.is_empty()) {
        return Err(crate::partition::no_scheme(&space.name));
    }
    for key in &spec.unique {
        add_unique(&mut table, key)?;
    }
    for check in &spec.checks {
        add_check(&mut table, check);
    }
    check_period(&table)?;
    lay_out(&mut table);
    check_row_size(&table)?;
    Ok(table)
}

/// Gives the definition of a table type the keys and indexes that a table of the database would have, for who shows them.
/// `shown` is what the type's text says of them: that of a variable keeps no index that is not unique. 1911.
pub fn show_indexes(table: &mut TableDef, shown: &TableSpec) -> Result<(), CatalogError> {
    let mut indexes: Vec<IndexDef> = Vec::new();
    let mut add = |table: &TableDef, spec: &IndexSpec, kind: IndexKind| {
        let others = indexes.iter().filter(|index| !index.clustered).count() as i32;
        let include: Vec<_> = spec.include.iter().map(|name| (name.clone(), false)).collect();
        let ordinals = |names| find_columns(names, &table.name, &table.columns);
        let number = table.type_constraint_id(false, indexes.len());
        indexes.push(IndexDef {
            index_id: if spec.clustered { 1 } else { others + 2 },
            constraint_id: if kind == IndexKind::Unique { number } else { 0 },
            name: match &*spec.name {
                "" => generated("UQ", &table.name, "", number),
                _ => spec.name.clone(),
            },
            kind,
            unique: spec.unique,
            clustered: spec.clustered,
            columns: ordinals(&spec.columns)?,
            include: ordinals(&include)?.into_iter().map(|(ordinal, _)| ordinal).collect(),
            columnstore: None,
            spatial: None,
            xml: None,
            filter: spec.filter.clone(),
            disabled: false,
            ignore_dup_key: spec.ignore_dup_key,
            fill_factor: spec.fill_factor,
            options: spec.options,
            buckets: spec.buckets,
            filegroup: table.filegroup.clone(),
            partitioned: None,
            tree: Default::default(),
            key_layout: Default::default(),
            stored: Vec::new(),
            layout: RowLayout::default(),
        });
        Ok::<(), CatalogError>(())
    };
    let of_key = |key: &KeySpec, name: Box<str>| IndexSpec {
        name,
        columns: key.columns.clone(),
        unique: true,
        clustered: key.clustered,
        ignore_dup_key: key.ignore_dup_key,
        fill_factor: key.fill_factor,
        options: key.options,
        buckets: key.buckets,
        ..IndexSpec::default()
    };
    if let (Some(key), Some(spec)) = (&mut table.primary_key, &shown.primary_key)
        && !spec.clustered
    {
        key.clustered = false;
        let spec = of_key(spec, key.name.clone());
        add(table, &spec, IndexKind::PrimaryKey)?;
    }
    for key in &shown.unique {
        let spec = of_key(key, key.name.clone().unwrap_or_default());
        add(table, &spec, IndexKind::Unique)?;
    }
    for spec in &shown.indexes {
        add(table, spec, IndexKind::Index)?;
    }
    indexes.sort_by_key(|index| index.index_id);
    table.indexes = indexes;
    for at in 0..table.checks.len() {
        table.checks[at].object_id = table.type_constraint_id(true, at);
    }
    Ok(())
}

/// A private table's definition with one more UNIQUE constraint. 1911, 1909, 1919.
pub fn private_with_unique(
    table: &TableDef,
    key: &KeySpec,
    version: u64,
) -> Result<TableDef, CatalogError> {
    let mut table = TableDef { version, ..table.clone() };
    add_unique(&mut table, key)?;
    Ok(table)
}

/// A private table's new definition, to which its rows must be rewritten.
pub struct RedefinedPrivate {
    pub table: TableDef,
    /// Which of the old columns each new one comes from; `None`: a new one, which reads as its `absent`.
    pub sources: Vec<Option<usize>>,
}

/// ALTER TABLE of a private table. `empty`: it has no row. 4901, 2705, 1779, 8111, 3728, 4922 to 4924 and what the parts
/// of a definition answer.
pub fn redefine_private(
    table: &TableDef,
    change: &AlterTable,
    empty: bool,
    version: u64,
) -> Result<RedefinedPrivate, CatalogError> {
    let mut table = TableDef { version, ..table.clone() };
    let mut sources: Vec<Option<usize>> = (0..table.columns.len()).map(Some).collect();
    match change {
        AlterTable::AddColumns(columns) => {
            for column in columns {
                add_column(&mut table.columns, column, &table.name, table.object_id)?;
                if !empty && column.rowversion {
                    let what =
                        "ALTER TABLE ADD of a rowversion column to a temporary table with rows";
                    return Err(CatalogError::NotSupported { what: what.into() });
                }
                let given = column.identity.is_some() || column.computed.is_some();
                let unfilled = column.nullable == Some(false) && !given;
                if unfilled && !empty && column.absent.is_none() {
                    let (table, column) = (table.name.clone(), column.name.clone());
                    return Err(CatalogError::AddNotNull { table, column });
                }
                if let (Some(value), Some(added)) = (&column.absent, table.columns.last_mut()) {
                    added.absent = value.clone();
                }
                sources.push(None);
            }
        }
        AlterTable::AddDefault { name, column, text } => {
            let Some(i) = table.column(column) else {
                let table = table.name.clone();
                return Err(CatalogError::NoDefaultColumn { column: column.clone(), table });
            };
            if table.columns[i].default.is_some() {
                return Err(CatalogError::DefaultExists { column: column.clone() });
            }
            let name = name.clone().unwrap_or_else(|| {
                default_name(&table.name, &table.columns[i].name, table.object_id, i)
            });
            table.columns[i].default = Some(DefaultDef { name, text: text.clone() });
        }
        AlterTable::AddPrimaryKey(key) => {
            if table.primary_key.is_some() {
                return Err(CatalogError::PrimaryKeyExists { table: table.name.clone() });
            }
            let nullable: Vec<Box<str>> =
                table.columns.iter().filter(|c| c.nullable).map(|c| c.name.clone()).collect();
            let key = KeySpec { clustered: true, ..key.clone() };
            let id = table.object_id;
            let name = table.name.clone();
            let key = define_key(&key, &name, id, &mut table.columns, |column| {
                nullable.iter().any(|c| same_name(c, column))
            })?;
            table.primary_key = Some(key);
        }
        AlterTable::AddUnique(key) => add_unique(&mut table, key)?,
        AlterTable::AddCheck(check) => add_check(&mut table, check),
        // As in SQL Server, foreign keys are not enforced here; indexes are of no use.
        AlterTable::AddForeignKey(_)
        | AlterTable::AddIndex(_)
        | AlterTable::RebuildIndex { .. }
        | AlterTable::RebuildInMemory { .. }
        | AlterTable::SetIndexOptions { .. }
        | AlterTable::EnableConstraints { .. }
        | AlterTable::DistrustConstraints => {}
        AlterTable::RenameColumn { .. }
        | AlterTable::Rename { .. }
        | AlterTable::RenameIndex { .. }
        | AlterTable::RenameConstraint { .. } => {
            return Err(CatalogError::NotSupported {
                what: "sp_rename of a temporary table".into(),
            });
        }
        AlterTable::AlterColumn { name, ty, nullable, alias, collation, mask } => {
            let i = private_columns::alterable(&table, name, *ty, *nullable, *collation)?;
            let column = &mut table.columns[i];
            (column.ty, column.alias, column.collation) = (*ty, *alias, *collation);
            column.nullable = nullable.unwrap_or(true) && column.identity.is_none();
            column.absent = types::Value::Null;
            column.mask = mask.clone();
        }
        AlterTable::DropColumn { name, if_exists } => {
            if let Some(gone) = private_columns::remove(&mut table, name, *if_exists)? {
                sources.remove(gone);
            }
        }
        AlterTable::StartVersioning(_) | AlterTable::StopVersioning => {
            let text = format!(
                "System-versioned temporal table '{}' cannot be created in a 'tempdb' database.",
                table.name
            );
            return Err(CatalogError::refused(13568, text));
        }
        AlterTable::StartTracking { .. } => {
            return Err(CatalogError::refused(1718, not_enabled("tempdb", &table.name)));
        }
        AlterTable::StopTracking => {
            let text = format!("Change tracking is not enabled on table '{}'.", table.name);
            return Err(CatalogError::refused(4998, text));
        }
        AlterTable::AddPeriod { .. }
        | AlterTable::DropPeriod
        | AlterTable::BindColumn { .. }
        | AlterTable::MarkColumn { .. }
        | AlterTable::MaskColumn { .. } => {
            return Err(CatalogError::NotSupported {
                what: "ALTER TABLE PERIOD or ALTER COLUMN ADD and DROP of a temporary table".into(),
            });
        }
        AlterTable::DropIndex { name } => table.unique.retain(|key| !same_name(&key.name, name)),
        AlterTable::DisableIndex { .. }
        | AlterTable::SetIgnoreDupKey { .. }
        | AlterTable::SetColumnstore { .. } => {
            return Err(CatalogError::NotSupported {
                what: "ALTER or DROP INDEX on a temporary table".into(),
            });
        }
        AlterTable::DropConstraint { name, if_exists } => {
            let default = table
                .columns
                .iter_mut()
                .find(|c| c.default.as_ref().is_some_and(|d| same_name(&d.name, name)));
            let unique = table.unique.iter().position(|key| same_name(&key.name, name));
            if let Some(column) = default {
                column.default = None;
            } else if let Some(i) = unique {
                table.unique.remove(i);
            } else if let Some(i) = table.checks.iter().position(|c| same_name(&c.name, name)) {
                table.checks.remove(i);
            } else if table.primary_key.as_ref().is_some_and(|key| same_name(&key.name, name)) {
                table.primary_key = None;
            } else if !if_exists {
                return Err(CatalogError::NoConstraint { name: name.clone() });
            }
        }
    }
    lay_out(&mut table);
    check_row_size(&table)?;
    Ok(RedefinedPrivate { table, sources })
}

fn add_check(table: &mut TableDef, check: &crate::CheckSpec) {
    let object_id = table.object_id.wrapping_sub(1000 + table.checks.len() as i32);
    let column = check.column.as_ref().and_then(|name| table.column(name));
    let of = column.map_or("", |i| &*table.columns[i].name);
    let name = check.name.clone();
    let name = name.unwrap_or_else(|| generated("CK", &table.name, of, object_id));
    let text = check.text.clone();
    table.checks.push(CheckDef { object_id, name, text, column, disabled: false, trusted: true });
}

fn add_unique(table: &mut TableDef, key: &KeySpec) -> Result<(), CatalogError> {
    let nullable: Vec<bool> = table.columns.iter().map(|c| c.nullable).collect();
    let number = table.object_id.wrapping_sub(1 + table.unique.len() as i32);
    let spec = KeySpec { clustered: true, ..key.clone() };
    let name = table.name.clone();
    let mut key = define_key(&spec, &name, number, &mut table.columns, |_| false)?;
    // Unlike a primary key, UNIQUE allows NULL (once).
    table.columns.iter_mut().zip(nullable).for_each(|(c, nullable)| c.nullable = nullable);
    if spec.name.is_none()
        && let Some(rest) = key.name.strip_prefix("PK__")
    {
        key.name = format!("UQ__{rest}").into();
    }
    table.unique.push(key);
    Ok(())
}
