//! CHECK and FOREIGN KEY constraints: their definitions and rows in the system tables.
//!
//! Promises: a foreign key names columns of another table that a unique index or a primary key has, of the same types;
//! both tables are locked when it comes to be, and both get a new definition, so nobody changes either under an old one.

use crate::catalog::Catalog;
use crate::def::*;
use crate::keys::{pack_ordinals, unpack_ordinals};
use crate::made_names::generated;
use crate::scope::DdlScope;
use crate::spec::{CheckSpec, ForeignKeySpec};
use crate::system::{Cells, corrupt, text_or_null};
use crate::{CatalogError, Txn, Wanted};
use types::{SqlType, Value};

const DISABLED: u8 = 1;
const NOT_TRUSTED: u8 = 2;

const CHECK: u8 = 1;
const FOREIGN_KEY: u8 = 2;

/// A constraint's row.
pub(crate) enum Constraint {
    Check(CheckDef),
    ForeignKey(ForeignKeyDef),
}

impl Catalog {
    /// Adds a CHECK to a locked table's definition; its object id. 2714, 1752-like 1911.
    pub(crate) fn add_check(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        spec: &CheckSpec,
        empty: bool,
    ) -> Result<i32, CatalogError> {
        let object_id = self.new_object_id();
        let column = match &spec.column {
            Some(name) => Some(
                table
                    .column(name)
                    .ok_or_else(|| CatalogError::NoKeyColumn { column: name.clone() })?,
            ),
            None => None,
        };
        let of = column.map_or("", |i| &*table.columns[i].name);
        let name = spec.name.clone();
        let name = name.unwrap_or_else(|| generated("CK", &table.name, of, object_id));
        self.claim_name(txn, &table.schema, &name, object_id, Wanted::Constraint)?;
        let check = CheckDef {
            object_id,
            name,
            text: spec.text.clone(),
            column,
            disabled: false,
            trusted: !spec.nocheck || empty,
        };
        self.put_check(txn, table.object_id, &check)?;
        table.checks.push(check);
        Ok(object_id)
    }

    /// Adds a FOREIGN KEY to a locked table's definition; its object id. Locks the other table as well. 1761, 1762, 1767,
    /// 1776, 1769, 1770, 1778, 1785, 1789, 4902.
    pub(crate) fn add_foreign_key(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        spec: &ForeignKeySpec,
        empty: bool,
    ) -> Result<i32, CatalogError> {
        let object_id = self.new_object_id();
        let first = spec.columns.first().map_or("", |c| &**c);
        let name = spec.name.clone();
        let name = name.unwrap_or_else(|| generated("FK", &table.name, first, object_id));
        let own = same_name(&spec.table, &table.name)
            && spec.schema.as_deref().is_none_or(|s| same_name(s, &table.schema));
        let target = if own {
            None
        } else {
            let schema = spec.schema.as_deref().or(Some(&table.schema));
            let found = match self.lock_table(txn, scope, schema, &spec.table)? {
                None if spec.schema.is_none() => self.lock_table(txn, scope, None, &spec.table)?,
                found => found,
            };
            let table = spec.shown();
            Some(found.ok_or(CatalogError::NoReferencedTable { key: name.clone(), table })?)
        };
        let parent = target.as_ref().map_or(&*table, |(t, _)| t);
        check_kinds(spec, &name, table, parent)?;
        let key = resolve(spec, &name, table, parent)?;
        check_actions(spec, &name, table, &key.columns)?;
        let key = ForeignKeyDef { object_id, name, trusted: !spec.nocheck || empty, ..key };
        if parent.object_id == table.object_id
            && (key.on_delete != RefAction::NoAction || key.on_update != RefAction::NoAction)
        {
            return Err(CatalogError::CascadeCycle { key: key.name, table: table.name.clone() });
        }
        if let Some((parent, modified)) = target {
            if key.on_delete != RefAction::NoAction || key.on_update != RefAction::NoAction {
                self.check_cascades(scope, table, &parent, &key)?;
            }
            if !parent.referencing.contains(&table.object_id) {
                let child = table.object_id;
                self.change_table(txn, scope, &parent, modified, |_, _, parent| {
                    parent.referencing.push(child);
                    Ok(())
                })?;
            }
        } else if !table.referencing.contains(&table.object_id) {
            table.referencing.push(table.object_id);
        }
        self.claim_name(txn, &table.schema, &key.name, object_id, Wanted::Constraint)?;
        self.put_foreign_key(txn, table.object_id, &key)?;
        table.foreign_keys.push(key);
        Ok(object_id)
    }

    /// 1785: cascades from a table may reach no table twice, and not the table itself.
    fn check_cascades(
        &self,
        scope: &DdlScope,
        child: &TableDef,
        parent: &TableDef,
        key: &ForeignKeyDef,
    ) -> Result<(), CatalogError> {
        let refuse =
            || CatalogError::CascadeCycle { key: key.name.clone(), table: child.name.clone() };
        let all: Vec<_> = self
            .objects_in(Some(scope))
            .into_iter()
            .filter_map(|o| match o {
                ObjectRef::Table(t) if t.object_id != child.object_id => Some((*t).clone()),
                _ => None,
            })
            .chain([child.clone()])
            .collect();
        let cascades = |f: &ForeignKeyDef| {
            f.on_delete != RefAction::NoAction || f.on_update != RefAction::NoAction
        };
        let children = |of: i32| {
            all.iter().flat_map(move |t| {
                let mut found: Vec<i32> = t
                    .foreign_keys
                    .iter()
                    .filter(|f| f.table == of && cascades(f))
                    .map(|_| t.object_id)
                    .collect();
                if of == parent.object_id && t.object_id == child.object_id {
                    found.push(t.object_id);
                }
                found
            })
        };
        // From every table that reaches the new edge: is any table reached twice?
        for root in &all {
            let mut reached = vec![root.object_id];
            let mut to_do = vec![root.object_id];
            while let Some(next) = to_do.pop() {
                for table in children(next) {
                    if reached.contains(&table) {
                        return Err(refuse());
                    }
                    reached.push(table);
                    to_do.push(table);
                }
            }
        }
        Ok(())
    }

    /// The foreign keys of other tables to this one, as `scope` has them.
    pub fn references_to(
        &self,
        scope: Option<&DdlScope>,
        table: &TableDef,
    ) -> Vec<(std::sync::Arc<TableDef>, usize)> {
        let mut found = Vec::new();
        for id in table.referencing.iter().filter(|id| **id != table.object_id) {
            if let Some(child) = self.table_by_id(scope, *id) {
                let keys = child.foreign_keys.iter().enumerate();
                let keys = keys.filter(|(_, f)| f.table == table.object_id).map(|(i, _)| i);
                found.extend(keys.map(|i| (child.clone(), i)));
            }
        }
        found
    }

    /// A table, or the rows of an indexed view, by its id: as `scope` has defined it, else as it is committed.
    pub fn table_by_id(
        &self,
        scope: Option<&DdlScope>,
        object_id: i32,
    ) -> Option<std::sync::Arc<TableDef>> {
        self.object_in(scope, object_id)?.rows().cloned()
    }

    pub(crate) fn put_check(
        &self,
        txn: &mut Txn,
        object_id: i32,
        check: &CheckDef,
    ) -> Result<(), CatalogError> {
        let column: Vec<usize> = check.column.into_iter().collect();
        let row = [
            object_id.into(),
            check.object_id.into(),
            Value::str(&check.name),
            Value::TinyInt(CHECK),
            Value::TinyInt(flags(check.disabled, check.trusted)),
            Value::binary(&pack_ordinals(&column)),
            Value::Null,
            Value::Null,
            Value::Null,
            Value::Null,
            text_or_null(Some(&check.text)),
        ];
        self.tables.constraints.put(txn, &row)
    }

    pub(crate) fn put_foreign_key(
        &self,
        txn: &mut Txn,
        object_id: i32,
        key: &ForeignKeyDef,
    ) -> Result<(), CatalogError> {
        let row = [
            object_id.into(),
            key.object_id.into(),
            Value::str(&key.name),
            Value::TinyInt(FOREIGN_KEY),
            Value::TinyInt(flags(key.disabled, key.trusted)),
            Value::binary(&pack_ordinals(&key.columns)),
            key.table.into(),
            Value::binary(&pack_ordinals(&key.referenced)),
            Value::TinyInt(key.on_delete.number()),
            Value::TinyInt(key.on_update.number()),
            Value::Null,
        ];
        self.tables.constraints.put(txn, &row)
    }

    /// Takes a constraint's row and name away.
    pub(crate) fn forget_constraint(
        &self,
        txn: &mut Txn,
        table: &TableDef,
        object_id: i32,
        name: &str,
    ) -> Result<(), CatalogError> {
        let key = [Value::Int(table.object_id), Value::Int(object_id)];
        self.tables.constraints.delete(txn, &key)?;
        self.free_name(txn, &table.schema, name)
    }
}

/// 10778, 10719, 10780: tables in memory refer to each other's primary keys, and to no rows that are gone after a restart.
fn check_kinds(
    spec: &ForeignKeySpec,
    name: &str,
    table: &TableDef,
    parent: &TableDef,
) -> Result<(), CatalogError> {
    let (own, other) = match (table.memory, parent.memory) {
        (None, None) => return Ok(()),
        (Some(own), Some(other)) => (own, other),
        _ => {
            return Err(CatalogError::refused(
                10778,
                "Foreign key relationships between memory optimized tables and non-memory optimized tables are not \
                 supported.",
            ));
        }
    };
    if own.durable && !other.durable {
        return Err(CatalogError::refused(
            10719,
            "Foreign key relationships from a memory optimized table with DURABILITY set to SCHEMA_AND_DATA to a memory \
             optimized table with DURABILITY set to SCHEMA_ONLY are not supported.",
        ));
    }
    let named: Option<Vec<usize>> = spec.referenced.iter().map(|c| parent.column(c)).collect();
    let is_key = match (&parent.primary_key, named) {
        // A column that is not there is told of otherwise.
        (_, None) => true,
        (None, Some(_)) => false,
        (Some(key), Some(named)) => {
            named.is_empty()
                || (named.len() == key.columns.len()
                    && key.columns.iter().all(|(i, _)| named.contains(i)))
        }
    };
    if is_key {
        return Ok(());
    }
    let text = format!(
        "There is no primary key in the referenced table '{}' that matches the referencing column list in the foreign key \
         '{name}'. Foreign keys in memory-optimized tables must reference primary keys.",
        crate::keys::shown(parent)
    );
    Err(CatalogError::refused(10780, text))
}

/// 1761, 1762: columns that an action sets must be able to take what it sets them to.
fn check_actions(
    spec: &ForeignKeySpec,
    name: &str,
    table: &TableDef,
    columns: &[usize],
) -> Result<(), CatalogError> {
    let sets = |action| spec.on_delete == action || spec.on_update == action;
    let mut strict = columns.iter().map(|i| &table.columns[*i]).filter(|c| !c.nullable);
    let (number, action, why) = match () {
        () if sets(RefAction::SetNull) && strict.clone().next().is_some() => {
            (1761, "SET NULL", "columns are not nullable")
        }
        () if sets(RefAction::SetDefault) && strict.any(|c| c.default.is_none()) => {
            (1762, "SET DEFAULT", "not-nullable columns lack a default constraint")
        }
        () => return Ok(()),
    };
    let text = format!(
        "Cannot create the foreign key \"{name}\" with the {action} referential action, because one or more referencing \
         {why}."
    );
    Err(CatalogError::refused(number, text))
}

/// Columns on both sides.
fn resolve(
    spec: &ForeignKeySpec,
    name: &str,
    table: &TableDef,
    parent: &TableDef,
) -> Result<ForeignKeyDef, CatalogError> {
    let mut columns = Vec::with_capacity(spec.columns.len());
    for column in &spec.columns {
        columns.push(table.column(column).ok_or_else(|| CatalogError::NoForeignKeyColumn {
            key: name.into(),
            column: column.clone(),
            table: table.name.clone(),
            own: true,
        })?);
    }
    let no_key = || CatalogError::NoReferencedKey { key: name.into(), table: spec.shown() };
    let referenced: Vec<usize> = if spec.referenced.is_empty() {
        let key = parent
            .primary_key
            .as_ref()
            .ok_or_else(|| CatalogError::NoPrimaryKey { key: name.into(), table: spec.shown() })?;
        key.columns.iter().map(|(i, _)| *i).collect()
    } else {
        let mut found = Vec::with_capacity(spec.referenced.len());
        for column in &spec.referenced {
            found.push(parent.column(column).ok_or_else(|| CatalogError::NoForeignKeyColumn {
                key: name.into(),
                column: column.clone(),
                table: spec.shown(),
                own: false,
            })?);
        }
        found
    };
    if referenced.len() != columns.len() {
        return Err(CatalogError::ForeignKeyWidth { table: table.name.clone() });
    }
    if !is_unique_key(parent, &referenced) {
        return Err(no_key());
    }
    for (own, other) in columns.iter().zip(&referenced) {
        let (own, other) = (&table.columns[*own], &parent.columns[*other]);
        // decimal and numeric have the same values and are two types all the same.
        let numeric = |ty| matches!(ty, SqlType::Decimal { numeric: true, .. });
        let other_name = numeric(own.ty) != numeric(other.ty);
        if !own.ty.has_values_of(other.ty) || other_name {
            return Err(CatalogError::ForeignKeyType {
                key: name.into(),
                referenced: format!("{}.{}", spec.shown(), other.name).into(),
                referencing: format!("{}.{}", table.name, own.name).into(),
                length: std::mem::discriminant(&own.ty) == std::mem::discriminant(&other.ty)
                    && !other_name,
            });
        }
    }
    Ok(ForeignKeyDef {
        object_id: 0,
        name: Box::default(),
        columns,
        table: parent.object_id,
        referenced,
        on_delete: spec.on_delete,
        on_update: spec.on_update,
        disabled: false,
        trusted: true,
    })
}

/// Is there a key that these columns, in whichever order, are?
pub(crate) fn is_unique_key(table: &TableDef, columns: &[usize]) -> bool {
    let same = |key: &[(usize, bool)]| {
        key.len() == columns.len() && key.iter().all(|(i, _)| columns.contains(i))
    };
    table.primary_key.as_ref().is_some_and(|k| same(&k.columns))
        || table
            .indexes
            .iter()
            .any(|i| i.unique && i.filter.is_none() && !i.disabled && same(&i.columns))
}

/// From a row of `constraints`.
pub(crate) fn constraint(row: Vec<Value>) -> Result<Constraint, CatalogError> {
    let mut cells = Cells::new(row);
    cells.int()?;
    let object_id = cells.int()? as i32;
    let name = cells.text()?;
    let kind = cells.int()? as u8;
    let flags = cells.int()? as u8;
    let (disabled, trusted) = (flags & DISABLED != 0, flags & NOT_TRUSTED == 0);
    let columns = unpack_ordinals(&cells.opt_bytes()?.unwrap_or_default());
    let table = cells.opt_int()?;
    let referenced = unpack_ordinals(&cells.opt_bytes()?.unwrap_or_default());
    let (on_delete, on_update) = (cells.opt_int()?, cells.opt_int()?);
    if kind == CHECK {
        let (column, text) = (columns.first().copied(), cells.text()?);
        return Ok(Constraint::Check(CheckDef {
            object_id,
            name,
            text,
            column,
            disabled,
            trusted,
        }));
    }
    let action = |n: Option<i64>| {
        n.and_then(RefAction::of_number).ok_or_else(|| corrupt("a foreign key without action"))
    };
    Ok(Constraint::ForeignKey(ForeignKeyDef {
        object_id,
        name,
        columns,
        table: table.ok_or_else(|| corrupt("a foreign key to nowhere"))? as i32,
        referenced,
        on_delete: action(on_delete)?,
        on_update: action(on_update)?,
        disabled,
        trusted,
    }))
}

fn flags(disabled: bool, trusted: bool) -> u8 {
    (if disabled { DISABLED } else { 0 }) | (if trusted { 0 } else { NOT_TRUSTED })
}
