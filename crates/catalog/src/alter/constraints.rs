//! Keys, defaults and other constraints that come, are enabled or disabled, renamed, and go.

use super::Work;
use crate::catalog::Catalog;
use crate::constraint::is_unique_key;
use crate::create::define_key;
use crate::def::*;
use crate::made_names::default_name;
use crate::properties::PropertyTarget;
use crate::scope::DdlScope;
use crate::spec::KeySpec;
use crate::{CatalogError, Txn, Wanted};
use types::Value;

impl Catalog {
    #[allow(clippy::too_many_arguments, reason = "the parts of one statement")]
    pub(super) fn enable(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        names: &[Box<str>],
        enable: bool,
        verify: bool,
        empty: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        for name in names {
            let known = table.checks.iter().map(|c| &c.name);
            let mut known = known.chain(table.foreign_keys.iter().map(|k| &k.name));
            if !known.any(|n| same_name(n, name)) {
                let kept = |kind| matches!(kind, IndexKind::PrimaryKey | IndexKind::Unique);
                let keys = table.indexes.iter().filter(|i| kept(i.kind)).map(|i| &i.name);
                let keys = keys.chain(table.primary_key.as_ref().map(|k| &k.name));
                let defaults = table.columns.iter().filter_map(|c| Some(&c.default.as_ref()?.name));
                if keys.chain(defaults).any(|n| same_name(n, name)) {
                    let text = format!(
                        "Object '{name}' cannot be disabled or enabled. This action applies only to foreign key and \
                         check constraints."
                    );
                    return Err(CatalogError::refused(11415, text));
                }
                return Err(CatalogError::NoSuchConstraint { name: name.clone() });
            }
        }
        let meant = |name: &str| names.is_empty() || names.iter().any(|n| same_name(n, name));
        for i in 0..table.checks.len() {
            let check = &mut table.checks[i];
            if meant(&check.name) {
                let as_before = !check.disabled && check.trusted;
                check.disabled = !enable;
                check.trusted = enable && (verify || empty || as_before);
                if enable && verify {
                    work.push(Work::VerifyCheck { object_id: check.object_id });
                }
                self.put_check(txn, table.object_id, &table.checks[i])?;
            }
        }
        for i in 0..table.foreign_keys.len() {
            let key = &mut table.foreign_keys[i];
            if meant(&key.name) {
                let as_before = !key.disabled && key.trusted;
                key.disabled = !enable;
                key.trusted = enable && (verify || empty || as_before);
                if enable && verify {
                    work.push(Work::VerifyForeignKey { object_id: key.object_id });
                }
                self.put_foreign_key(txn, table.object_id, &table.foreign_keys[i])?;
            }
        }
        Ok(())
    }

    pub(super) fn distrust(&self, txn: &mut Txn, table: &mut TableDef) -> Result<(), CatalogError> {
        for i in 0..table.checks.len() {
            if std::mem::take(&mut table.checks[i].trusted) {
                self.put_check(txn, table.object_id, &table.checks[i])?;
            }
        }
        for i in 0..table.foreign_keys.len() {
            if std::mem::take(&mut table.foreign_keys[i].trusted) {
                self.put_foreign_key(txn, table.object_id, &table.foreign_keys[i])?;
            }
        }
        Ok(())
    }

    pub(super) fn rename_constraint(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        from: &str,
        to: &str,
    ) -> Result<(), CatalogError> {
        self.claim_name(txn, &table.schema, to, table.object_id, Wanted::Constraint)?;
        self.free_name(txn, &table.schema, from)?;
        let id = table.object_id;
        if let Some(key) = table.primary_key.as_mut().filter(|k| same_name(&k.name, from)) {
            key.name = to.into();
            self.put_key_row(txn, id, key)?;
        }
        for i in 0..table.indexes.len() {
            if same_name(&table.indexes[i].name, from) {
                table.indexes[i].name = to.into();
                self.put_index(txn, id, &table.indexes[i])?;
            }
        }
        for i in 0..table.checks.len() {
            if same_name(&table.checks[i].name, from) {
                table.checks[i].name = to.into();
                self.put_check(txn, id, &table.checks[i])?;
            }
        }
        for i in 0..table.foreign_keys.len() {
            if same_name(&table.foreign_keys[i].name, from) {
                table.foreign_keys[i].name = to.into();
                self.put_foreign_key(txn, id, &table.foreign_keys[i])?;
            }
        }
        for i in 0..table.columns.len() {
            let column = &mut table.columns[i];
            if let Some(default) = column.default.as_mut().filter(|d| same_name(&d.name, from)) {
                default.name = to.into();
                self.put_column(txn, id, i, &table.columns[i])?;
            }
        }
        Ok(())
    }

    pub(crate) fn add_unique(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        key: &KeySpec,
    ) -> Result<i32, CatalogError> {
        let unlike = self.new_object_id();
        let name = key.name.clone().unwrap_or_else(|| {
            let first: String = table.name.chars().take(8).collect();
            let hash = (unlike as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            format!("UQ__{first}__{hash:016X}").into()
        });
        self.add_key_index(txn, scope, table, key, &name, IndexKind::Unique)
    }

    pub(super) fn add_default(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: Option<&str>,
        column: &str,
        text: &str,
    ) -> Result<(), CatalogError> {
        let Some(ordinal) = table.column(column) else {
            let table = table.name.clone();
            return Err(CatalogError::NoDefaultColumn { column: column.into(), table });
        };
        let target = &mut table.columns[ordinal];
        if target.default.is_some() || target.bound_default.is_some() {
            return Err(CatalogError::DefaultExists { column: column.into() });
        }
        let generated = || default_name(&table.name, &target.name, table.object_id, ordinal);
        let name = name.map_or_else(generated, Into::into);
        self.claim_name(txn, &table.schema, &name, table.object_id, Wanted::Constraint)?;
        target.default = Some(DefaultDef { name, text: text.into() });
        self.put_column(txn, table.object_id, ordinal, target)
    }

    pub(super) fn add_key(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        spec: &KeySpec,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        if table.primary_key.is_some() {
            return Err(CatalogError::PrimaryKeyExists { table: table.name.clone() });
        }
        if spec.clustered
            && let Some(index) = table.clustered_index()
        {
            let (table, index) = (crate::keys::shown(table), index.name.clone());
            return Err(CatalogError::ClusteredExists { table, index });
        }
        // An empty table's columns may become NOT NULL.
        let nullable: Vec<Box<str>> =
            table.columns.iter().filter(|c| c.nullable).map(|c| c.name.clone()).collect();
        let unlike = self.new_object_id();
        let key = define_key(spec, &table.name, unlike, &mut table.columns, |name| {
            nullable.iter().any(|n| same_name(n, name))
        })?;
        self.put_key(txn, table, &key)?;
        let clustered = key.clustered;
        if clustered {
            let mut partitioned = table.partitioned;
            if let Some(space) = &spec.filegroup {
                let (columns, name) = (&table.columns, &table.name);
                partitioned = self.data_space(txn, scope, Some(space), columns, name)?.2;
            }
            crate::partition::check_key(&table.columns, partitioned, &key.columns, &key.name)?;
            self.divide_rows(txn, table, partitioned)?;
        }
        let name = key.name.clone();
        table.primary_key = Some(key);
        if let Some(memory) = &mut table.memory {
            memory.buckets = spec.buckets;
        }
        // A heap's tree has keys of another shape, ghosts among them: a clustered key moves the rows, if there are none too.
        let index_id = match clustered {
            true => 1,
            false => self.add_key_index(txn, scope, table, spec, &name, IndexKind::PrimaryKey)?,
        };
        self.filled(txn, table, index_id, work)
    }

    pub(super) fn drop_constraint(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        table: &mut TableDef,
        name: &str,
        if_exists: bool,
        work: &mut Vec<Work>,
    ) -> Result<(), CatalogError> {
        let of_column =
            |c: &ColumnDef| c.default.as_ref().is_some_and(|d| same_name(&d.name, name));
        if let Some(ordinal) = table.columns.iter().position(of_column) {
            let column = &mut table.columns[ordinal];
            column.default = None;
            self.free_name(txn, &table.schema, name)?;
            self.put_column(txn, table.object_id, ordinal, column)?;
            let id = table.default_id(ordinal);
            return self.forget_properties_of(txn, scope, id);
        }
        if let Some(i) = table.checks.iter().position(|c| same_name(&c.name, name)) {
            let check = table.checks.remove(i);
            self.forget_properties_of(txn, scope, check.object_id)?;
            return self.forget_constraint(txn, table, check.object_id, &check.name);
        }
        if let Some(i) = table.foreign_keys.iter().position(|k| same_name(&k.name, name)) {
            let key = table.foreign_keys.remove(i);
            self.forget_properties_of(txn, scope, key.object_id)?;
            return self.forget_constraint(txn, table, key.object_id, &key.name);
        }
        let primary = table.primary_key.clone().filter(|k| same_name(&k.name, name));
        let index =
            table.indexes.iter().find(|i| i.kind != IndexKind::Index && same_name(&i.name, name));
        let constraint = index.map_or(0, |i| i.constraint_id);
        let index = index.map(|i| (i.index_id, i.columns.clone()));
        let columns = primary.as_ref().map(|k| k.columns.clone());
        let Some(columns) = columns.or(index.as_ref().map(|(_, c)| c.clone())) else {
            return match if_exists {
                true => Ok(()),
                false => Err(CatalogError::NoConstraint { name: name.into() }),
            };
        };
        let columns: Vec<usize> = columns.iter().map(|(i, _)| *i).collect();
        let clustered = primary.as_ref().is_some_and(|k| k.clustered)
            || index.as_ref().is_some_and(|(id, _)| *id == 1);
        let constraint = if primary.is_some() { table.primary_key_id() } else { constraint };
        let of_index = index.as_ref().map_or(1, |(id, _)| *id);
        let of_index = PropertyTarget::index(table.object_id, of_index);
        self.forget_properties(txn, scope, |t| t == of_index || t.is_part_of(constraint))?;
        if primary.is_some() {
            table.primary_key = None;
            if let Some(memory) = &mut table.memory {
                memory.buckets = None;
            }
            self.tables.keys.delete(txn, &[Value::Int(table.object_id)])?;
        }
        match index {
            // It frees the name.
            Some((id, _)) => {
                self.remove_index(txn, table, id)?;
            }
            None => self.free_name(txn, &table.schema, name)?,
        }
        // A foreign key needs a key.
        let own = table.foreign_keys.iter().filter(|k| k.table == table.object_id);
        let own = own.map(|k| (table.name.clone(), k.clone()));
        let others = self.references_to(Some(scope), table);
        let others = others.iter().map(|(c, k)| (c.name.clone(), c.foreign_keys[*k].clone()));
        for (child, key) in own.chain(others) {
            let same = key.referenced.len() == columns.len()
                && key.referenced.iter().all(|i| columns.contains(i));
            if same && !is_unique_key(table, &key.referenced) {
                let by = key.name.clone();
                return Err(CatalogError::KeyReferenced { key: name.into(), table: child, by });
            }
        }
        if clustered {
            self.move_rows(txn, table, work)?;
        }
        Ok(())
    }
}
