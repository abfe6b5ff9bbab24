//! Columns that come, change, are renamed and go.

use super::{Work, without_keys};
use crate::catalog::Catalog;
use crate::create::add_column;
use crate::def::*;
use crate::scope::DdlScope;
use crate::spec::ColumnSpec;
use crate::{CatalogError, Txn, Wanted};
use types::Value;

impl Catalog {
    #[allow(clippy::too_many_arguments, reason = "the parts of one clause")]
    pub(super) fn alter_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        ty: types::SqlType,
        nullable: Option<bool>,
        alias: Option<i32>,
        collation: types::Collation,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        const ACTION: &str = "ALTER COLUMN";
        let Some(ordinal) = table.column(name) else {
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: ACTION, column, table });
        };
        let nullable = nullable.unwrap_or(true);
        let column = &table.columns[ordinal];
        let counts = matches!(ty, types::SqlType::Decimal { scale: 0, .. })
            || (ty.is_integer() && ty != types::SqlType::Bit);
        if column.identity.is_some() && !counts {
            let text = format!(
                "Identity column '{name}' must be of data type int, bigint, smallint, tinyint, or decimal or numeric with \
                 a scale of 0, unencrypted, and constrained to be nonnullable."
            );
            return Err(CatalogError::refused(2749, text));
        }
        if column.computed.is_some() || column.rowversion || column.marks.column_set {
            let what = match (column.rowversion, column.marks.column_set) {
                (true, _) => "timestamp",
                (_, true) => "COLUMN_SET",
                _ => "COMPUTED",
            };
            return Err(CatalogError::unalterable(&column.name, what));
        }
        if column.is_made() {
            let what = "ALTER COLUMN of a column of a period".into();
            return Err(CatalogError::NotSupported { what });
        }
        // What only grows, and keys that only grow, need not be let go first.
        let grows = same_kind_wider(column.ty, ty) && column.collation == collation;
        let same = column.ty == ty && column.collation == collation;
        let in_key = |i: &IndexDef| i.columns.iter().any(|(k, _)| *k == ordinal);
        let keyed =
            table.primary_key.as_ref().filter(|k| k.columns.iter().any(|(i, _)| *i == ordinal));
        let mut users: Vec<Box<str>> = Vec::new();
        users.extend(keyed.filter(|_| !grows || nullable).map(|key| key.name.clone()));
        let indexes =
            table.indexes.iter().filter(|i| !grows && (in_key(i) || i.include.contains(&ordinal)));
        users.extend(indexes.map(|index| index.name.clone()));
        // A default minds another type, not another length, precision, scale or collation.
        let same_type = std::mem::discriminant(&column.ty) == std::mem::discriminant(&ty);
        let default = column.default.as_ref().filter(|_| !same_type);
        users.extend(default.map(|default| default.name.clone()));
        users.extend(self.bound_name(None, column).filter(|_| !grows));
        let scheme = table.partitioned_by(ordinal);
        let scheme = scheme.filter(|_| column.ty != ty || column.collation != collation);
        users.extend(scheme.map(|scheme| self.scheme_shown(scheme)));
        // Foreign keys mind no change of nullability alone.
        users.extend(match same {
            true => self.dependents(&without_keys(table), ordinal, !grows),
            false => self.dependents(table, ordinal, !grows),
        });
        unused(table, ACTION, ordinal, users)?;
        if crate::keys::is_max(ty) && table.indexes.iter().any(in_key) {
            let (table, column) = (table.name.clone(), column.name.clone());
            let spatial = ty.is_spatial();
            return Err(CatalogError::InvalidKeyType { table, column, spatial });
        }
        let column = &mut table.columns[ordinal];
        (column.ty, column.nullable) = (ty, nullable && column.identity.is_none());
        column.absent = Value::Null;
        (column.alias, column.collation) = (alias, collation);
        self.put_column(txn, table.object_id, ordinal, &table.columns[ordinal])?;
        self.move_rows(txn, table, work)
    }

    /// A constraint or computed column that depends on a column; with `types` those that only its type matters to.
    pub(super) fn dependents(
        &self,
        table: &TableDef,
        ordinal: usize,
        types: bool,
    ) -> Vec<Box<str>> {
        let name = &table.columns[ordinal].name;
        let names = |text: &str| mentions(text, name);
        let mut all: Vec<Box<str>> = Vec::new();
        let checks = table.checks.iter().filter(|c| types && names(&c.text));
        all.extend(checks.map(|check| check.name.clone()));
        let computed =
            table.columns.iter().filter(|c| c.computed.as_ref().is_some_and(|k| names(&k.text)));
        all.extend(computed.map(|column| column.name.clone()));
        let filtered = |i: &&IndexDef| i.filter.as_ref().is_some_and(|f| names(f));
        all.extend(table.indexes.iter().filter(filtered).map(|index| index.name.clone()));
        let policies = self.policies(None);
        let bound = policies.iter().filter(|(_, policy)| {
            let on = |p: &&crate::PredicateDef| p.table == table.object_id;
            policy.schema_bound && policy.predicates.iter().filter(on).any(|p| names(&p.call))
        });
        all.extend(bound.map(|(policy, _)| policy.name.clone()));
        let keys = table.foreign_keys.iter().filter(|k| {
            k.columns.contains(&ordinal)
                || (k.table == table.object_id && k.referenced.contains(&ordinal))
        });
        all.extend(keys.map(|key| key.name.clone()));
        all
    }

    pub(super) fn drop_column(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        name: &str,
        if_exists: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        const ACTION: &str = "DROP COLUMN";
        let Some(gone) = table.column(name) else {
            if if_exists {
                return Ok(());
            }
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: ACTION, column, table });
        };
        let of_key = |k: &&KeyDef| k.columns.iter().any(|(i, _)| *i == gone);
        let of_index = |i: &&IndexDef| {
            i.columns.iter().any(|(k, _)| *k == gone)
                || i.include.contains(&gone)
                || i.columnstore.as_ref().is_some_and(|c| c.order.contains(&gone))
        };
        let children = self.references_to(Some(scope), table);
        let refers = children
            .iter()
            .filter(|(child, k)| child.foreign_keys[*k].referenced.contains(&gone))
            .map(|(child, k)| child.foreign_keys[*k].name.clone());
        let mut users: Vec<Box<str>> = Vec::new();
        users.extend(table.columns[gone].default.as_ref().map(|d| d.name.clone()));
        users.extend(self.bound_name(Some(scope), &table.columns[gone]));
        users.extend(table.primary_key.as_ref().filter(of_key).map(|k| k.name.clone()));
        users.extend(table.indexes.iter().filter(of_index).map(|i| i.name.clone()));
        users.extend(table.partitioned_by(gone).map(|scheme| self.scheme_shown(scheme)));
        users.extend(self.dependents(table, gone, true));
        users.extend(refers);
        unused(table, ACTION, gone, users)?;
        if table.columns.iter().filter(|c| c.computed.is_none()).count() == 1
            && table.columns[gone].computed.is_none()
        {
            let (column, table) = (table.columns[gone].name.clone(), table.name.clone());
            return Err(CatalogError::LastColumn { column, table });
        }
        let columns = (0..table.columns.len()).filter(|i| *i != gone).map(Some).collect();
        table.columns.remove(gone);
        self.forget_grants_of_column(txn, scope, table.object_id, gone as i32 + 1)?;
        self.forget_properties_of_column(txn, scope, table, gone)?;
        let id = Value::Int(table.object_id);
        for (ordinal, column) in table.columns.iter().enumerate().skip(gone) {
            self.put_column(txn, table.object_id, ordinal, column)?;
        }
        let last = Value::SmallInt(table.columns.len() as i16);
        self.tables.columns.delete(txn, &[id.clone(), last])?;
        // Whoever names columns by ordinal names them anew.
        let move_down = |i: &mut usize| *i -= usize::from(*i > gone);
        if let Some(key) = &mut table.primary_key {
            key.columns.iter_mut().for_each(|(i, _)| move_down(i));
            self.put_key_row(txn, table.object_id, key)?;
        }
        for index in &mut table.indexes {
            index.columns.iter_mut().for_each(|(i, _)| move_down(i));
            index.include.iter_mut().for_each(move_down);
            index.columnstore.iter_mut().flat_map(|c| &mut c.order).for_each(move_down);
        }
        self.divide_after(txn, table, gone)?;
        for i in 0..table.checks.len() {
            table.checks[i].column.iter_mut().for_each(move_down);
            self.put_check(txn, table.object_id, &table.checks[i])?;
        }
        let own = table.object_id;
        for i in 0..table.foreign_keys.len() {
            let key = &mut table.foreign_keys[i];
            key.columns.iter_mut().for_each(move_down);
            if key.table == own {
                key.referenced.iter_mut().for_each(move_down);
            }
            self.put_foreign_key(txn, own, &table.foreign_keys[i])?;
        }
        if let Some((child, _)) = children
            .iter()
            .find(|(child, k)| child.foreign_keys[*k].referenced.iter().any(|i| *i > gone))
        {
            let what = format!(
                "ALTER TABLE DROP COLUMN before a column that table '{}' refers to",
                child.name
            );
            return Err(CatalogError::NotSupported { what: what.into() });
        }
        self.rewrite(txn, table, columns, work)
    }

    pub(super) fn add_one(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        table: &mut TableDef,
        spec: &ColumnSpec,
        empty: bool,
    ) -> Result<(), CatalogError> {
        let name = table.name.clone();
        add_column(&mut table.columns, spec, &name, table.object_id)?;
        let ordinal = table.columns.len() - 1;
        let column = &mut table.columns[ordinal];
        if !matches!(table.temporal, Temporal::History { .. }) {
            self.inherit_bindings(scope, column);
        }
        column.absent = spec.absent.clone().unwrap_or_default();
        let unfilled = !column.nullable && column.absent.is_null();
        // Numbers, and what the engine makes, the rows that are there are given.
        let given = spec.identity.is_some() || column.is_made();
        if unfilled && !empty && !given {
            let column = spec.name.clone();
            return Err(CatalogError::AddNotNull { table: name, column });
        }
        if let Some(default) = &column.default {
            self.claim_name(
                txn,
                &table.schema,
                &default.name,
                table.object_id,
                Wanted::Constraint,
            )?;
        }
        self.put_column(txn, table.object_id, ordinal, column)?;
        if unfilled && empty {
            // A session that has waited for our lock with the old definition would leave a row
            // without this column. Its tree is gone then, and it must look again.
            self.renew_tree(txn, table)?;
        }
        Ok(())
    }

    pub(super) fn rename_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        from: &str,
        to: &str,
    ) -> Result<(), CatalogError> {
        let Some(ordinal) = table.column(from) else {
            return Err(CatalogError::NoKeyColumn { column: from.into() });
        };
        if table.column(to).is_some_and(|taken| taken != ordinal) {
            let table = table.name.clone();
            return Err(CatalogError::DuplicateColumn { table, column: to.into() });
        }
        // Texts that name the column would lose it.
        let users = self.dependents(&without_keys(table), ordinal, true);
        unused(table, "RENAME COLUMN", ordinal, users)?;
        table.columns[ordinal].name = to.into();
        self.put_column(txn, table.object_id, ordinal, &table.columns[ordinal])
    }
}

/// 4922 that tells of all that stands in the way, each once.
pub(crate) fn unused(
    table: &TableDef,
    action: &'static str,
    ordinal: usize,
    users: Vec<Box<str>>,
) -> Result<(), CatalogError> {
    let mut objects: Vec<(&'static str, Box<str>)> = Vec::with_capacity(users.len());
    for user in users {
        if !objects.iter().any(|(_, known)| same_name(known, &user)) {
            objects.push((kind_of(table, &user), user));
        }
    }
    match objects.is_empty() {
        true => Ok(()),
        false => {
            let column = table.columns[ordinal].name.clone();
            Err(CatalogError::ColumnInUse { action, column, objects })
        }
    }
}

/// What something that depends on a column is, by its name.
fn kind_of(table: &TableDef, name: &str) -> &'static str {
    let plain = |i: &&IndexDef| i.kind == IndexKind::Index && same_name(&i.name, name);
    if table.indexes.iter().any(|i| plain(&i)) {
        "index"
    } else if table.columns.iter().any(|c| c.computed.is_some() && same_name(&c.name, name)) {
        "column"
    } else {
        "object"
    }
}

/// Every value of `old` is one of `new`, told in the same way: varchar(10) and varchar(20).
pub(crate) fn same_kind_wider(old: types::SqlType, new: types::SqlType) -> bool {
    use types::{Len, SqlType::*};
    let wider = |a: Len, b: Len| a.limit() <= b.limit() && (b != Len::Max || a == Len::Max);
    match (old, new) {
        (VarChar(a), VarChar(b)) | (NVarChar(a), NVarChar(b)) | (VarBinary(a), VarBinary(b)) => {
            wider(a, b)
        }
        (a, b) => a == b,
    }
}

/// Does a text of T-SQL use a name? Looked for as a whole word, in brackets or not.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let text = text.to_lowercase();
    let name = name.to_lowercase();
    let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '#' | '$');
    text.match_indices(&name).any(|(at, found)| {
        let before = text[..at].chars().next_back();
        let after = text[at + found.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}
