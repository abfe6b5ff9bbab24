//! Rules and defaults that are objects of their own, and what they are bound to: columns and alias types.
//!
//! A column has what is bound to it with the whole text of that object, so that nobody needs the catalog to read it; in
//! the system tables it has the object's id alone. A binding to an alias type is what its later columns begin with.
//! Neither a rule nor a default can be altered, so a text stays what it was.

use crate::catalog::Catalog;
use crate::def::*;
use crate::scope::DdlScope;
use crate::{CatalogError, Txn};
use std::sync::Arc;

/// A rule or default that is bound to a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binding {
    pub object_id: i32,
    /// Its definition, from CREATE on.
    pub text: Arc<str>,
    /// As in [`ProcedureDef`].
    pub quoted_identifier: bool,
}

impl Binding {
    /// Of a rule or default.
    pub fn of(module: &ProcedureDef) -> Binding {
        let (object_id, text) = (module.object_id, Arc::from(&*module.text));
        Binding { object_id, text, quoted_identifier: module.quoted_identifier }
    }
}

/// What an alias type has bound, by object ids.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TypeBindings {
    pub rule: Option<i32>,
    pub default: Option<i32>,
}

impl TypeBindings {
    /// A row's two numbers; 0: nothing.
    pub(crate) fn of_numbers(rule: i64, default: i64) -> TypeBindings {
        let of = |n: i64| (n != 0).then_some(n as i32);
        TypeBindings { rule: of(rule), default: of(default) }
    }
    /// Of one of the two kinds.
    pub fn of_kind(&self, kind: ModuleKind) -> Option<i32> {
        if kind == ModuleKind::Rule { self.rule } else { self.default }
    }
}

impl ColumnDef {
    /// What is bound to it of one of the two kinds.
    pub fn bound(&self, kind: ModuleKind) -> Option<&Binding> {
        if kind == ModuleKind::Rule { self.rule.as_ref() } else { self.bound_default.as_ref() }
    }
    /// The text of its DEFAULT, or of the default that is bound to it.
    pub fn default_text(&self) -> Option<&str> {
        let own = self.default.as_ref().map(|default| &*default.text);
        own.or_else(|| self.bound_default.as_ref().map(|bound| &*bound.text))
    }
}

impl Catalog {
    /// A rule, default or alias type by its id, as a transaction sees it.
    pub fn bindable_by_id(&self, scope: Option<&DdlScope>, id: i32) -> Option<Arc<ProcedureDef>> {
        match self.object_in(scope, id)? {
            ObjectRef::Procedure(module) => Some(module),
            ObjectRef::Table(_) => None,
        }
    }

    /// Takes the lock under which a rule or default is bound and dropped. 208. Suspends.
    pub fn lock_bindable(
        &self,
        txn: &mut Txn,
        scope: &DdlScope,
        module: &ProcedureDef,
    ) -> Result<(), CatalogError> {
        let (found, _) = self.lock_definition(txn, scope, module)?;
        match found.object_id == module.object_id {
            true => Ok(()),
            false => Err(CatalogError::InvalidObject { name: module.name.clone() }),
        }
    }

    /// Is a rule or default bound to a column or alias type?
    pub fn is_bound(&self, scope: Option<&DdlScope>, id: i32) -> bool {
        let is = |binding: &Option<Binding>| binding.as_ref().is_some_and(|b| b.object_id == id);
        self.objects_in(scope).iter().any(|object| match object {
            ObjectRef::Table(table) => {
                table.columns.iter().any(|c| is(&c.rule) || is(&c.bound_default))
            }
            ObjectRef::Procedure(module) => {
                module.bindings.rule == Some(id) || module.bindings.default == Some(id)
            }
        })
    }

    /// What columns of an alias type get from now on, of one of the two kinds. 208. Suspends.
    pub fn bind_type(
        &self,
        txn: &mut Txn,
        scope: &mut DdlScope,
        ty: &ProcedureDef,
        kind: ModuleKind,
        to: Option<i32>,
    ) -> Result<(), CatalogError> {
        let (old, modified) = self.lock_definition(txn, scope, ty)?;
        let mut bindings = old.bindings;
        match kind {
            ModuleKind::Rule => bindings.rule = to,
            _ => bindings.default = to,
        }
        let new = ProcedureDef { bindings, version: self.new_version(), ..(*old).clone() };
        self.write_module(txn, scope, new, modified + 1)?;
        Ok(())
    }

    /// A new column begins with what its alias type has bound; with a DEFAULT of its own it keeps that.
    pub(crate) fn inherit_bindings(&self, scope: &DdlScope, column: &mut ColumnDef) {
        let Some(ty) = column.alias.and_then(|id| self.bindable_by_id(Some(scope), id)) else {
            return;
        };
        let object = |id: Option<i32>| {
            let module = self.bindable_by_id(Some(scope), id?)?;
            Some(Binding::of(&module))
        };
        if !column.is_made() {
            column.rule = object(ty.bindings.rule);
            if column.default.is_none() && column.identity.is_none() {
                column.bound_default = object(ty.bindings.default);
            }
        }
    }

    /// Rows of a history come from its table alone, as they were: nothing is asked of them.
    pub(crate) fn unbind_columns(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
    ) -> Result<(), CatalogError> {
        for (at, column) in table.columns.iter_mut().enumerate() {
            if column.rule.take().is_some() | column.bound_default.take().is_some() {
                self.put_column(txn, table.object_id, at, column)?;
            }
        }
        Ok(())
    }

    /// Binds to a column, or unbinds: 207-like 4924 for a column that is not there.
    pub(crate) fn bind_column(
        &self,
        txn: &mut Txn,
        table: &mut TableDef,
        name: &str,
        kind: ModuleKind,
        to: Option<&Binding>,
    ) -> Result<(), CatalogError> {
        let Some(at) = table.column(name) else {
            let (column, table) = (name.into(), table.name.clone());
            return Err(CatalogError::NoColumn { action: "ALTER COLUMN", column, table });
        };
        let column = &mut table.columns[at];
        match kind {
            ModuleKind::Rule => column.rule = to.cloned(),
            _ => column.bound_default = to.cloned(),
        }
        self.put_column(txn, table.object_id, at, &table.columns[at])
    }

    /// The name of what is bound to a column, so that the column cannot change.
    pub(crate) fn bound_name(
        &self,
        scope: Option<&DdlScope>,
        column: &ColumnDef,
    ) -> Option<Box<str>> {
        let id = column.bound_default.as_ref().or(column.rule.as_ref())?.object_id;
        Some(self.bindable_by_id(scope, id).map_or_else(|| "?".into(), |m| m.name.clone()))
    }
}

/// Fills in the texts of what columns have bound, once all objects are known.
pub(crate) fn resolve(table: &mut TableDef, find: impl Fn(i32) -> Option<Binding>) {
    for column in &mut table.columns {
        for binding in [&mut column.rule, &mut column.bound_default] {
            if let Some(bound) = binding {
                *binding = find(bound.object_id);
            }
        }
    }
}

/// A binding as a row of the system tables has it.
pub(crate) fn unresolved(object_id: Option<i64>) -> Option<Binding> {
    let object_id = object_id? as i32;
    Some(Binding { object_id, text: "".into(), quoted_identifier: true })
}
