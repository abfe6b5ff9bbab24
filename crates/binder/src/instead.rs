//! Changes of views that have INSTEAD OF triggers: the rows are told to the trigger, and nothing is changed.
//!
//! Such a view stands as a table of its own, with the view's columns and id, that has no rows: what is "inserted" are
//! values for its columns, what is "updated" or "deleted" are the rows that the view's query gives.
//!
//! Invariants: a statement of the trigger's own body about its view goes through to the base table (an INSTEAD OF
//! trigger does not fire itself); a plan whose target is such a table always has the trigger that runs.

use std::sync::Arc;

use catalog::{Event, Place, ProcedureDef, TableDef};
use ir::*;
use syntax::ast;
use types::Value;

use crate::context::*;
use semantics::kept;
use semantics::lineage::LOCATOR;
use semantics::names::Names;
use semantics::{BindError, Result};

/// A view as the target of a change, and what runs instead.
pub(crate) struct Instead {
    pub table: Arc<TableDef>,
    pub fires: Arc<Fires>,
}

impl Binder<'_> {
    /// The view that a statement changes, where a trigger runs instead.
    pub fn instead_of(&mut self, target: &ast::Target, event: Event) -> Result<Option<Instead>> {
        let ast::Target::Table { name, .. } = target else { return Ok(None) };
        self.of_this_server(name)?;
        if name.schema.is_none() && self.find_cte(&name.name.value).is_some() {
            return Ok(None);
        }
        match self.named_view(name) {
            Some(view) => self.instead_of_view(&view, event),
            None => Ok(None),
        }
    }

    /// The same for a view that is known.
    pub fn instead_of_view(
        &mut self,
        view: &ProcedureDef,
        event: Event,
    ) -> Result<Option<Instead>> {
        if self.frame.parent == Some(view.object_id) {
            return Ok(None);
        }
        let fires = semantics::triggers::fires_of(self.names, view.object_id, event);
        let Some(fires) = fires.filter(|fires| fires.instead.is_some()) else { return Ok(None) };
        Ok(Some(Instead { table: Arc::new(view_rows(view, self.names)?), fires }))
    }

    /// The view that an item of FROM names, by the name that it is exposed under.
    pub fn view_among(&self, from: &[ast::TableRef], exposed: &str) -> Option<Arc<ProcedureDef>> {
        from.iter().find_map(|item| match item {
            ast::TableRef::Named { name, alias, .. } => {
                let shown = alias.as_ref().unwrap_or(&name.name);
                let cte = name.schema.is_none() && self.find_cte(&name.name.value).is_some();
                let wanted = catalog::same_name(&shown.value, exposed) && !cte;
                if wanted { self.named_view(name) } else { None }
            }
            ast::TableRef::Join { left, right, .. } => self
                .view_among(std::slice::from_ref(left), exposed)
                .or_else(|| self.view_among(std::slice::from_ref(right), exposed)),
            _ => None,
        })
    }

    fn named_view(&self, name: &ast::ObjectName) -> Option<Arc<ProcedureDef>> {
        let wanted = self.meant(name);
        if name.schema.is_none() && self.frame.table(&name.name.value).is_some() {
            return None;
        }
        match self.table(&wanted) {
            None if self.elsewhere(&wanted).is_none() => self.names.view(&wanted),
            _ => None,
        }
    }
}

/// The columns of a view as those of a table that has no rows.
pub(crate) fn view_rows(view: &ProcedureDef, names: &dyn Names) -> Result<TableDef> {
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    let bound = with_view(view, |create| {
        let bound =
            binder.in_schema(Some(view.schema.as_ref().into()), |b| b.view_query(create))?;
        binder.expose_as(bound, &view.name, &view.name, &create.columns)
    });
    let source = bound.unwrap_or_else(|| {
        let text =
            format!("Could not use view or function '{}' because of binding errors.", view.name);
        Err(BindError::new(4413, 16, 1, text))
    })?;
    let column = |c: &ScopeColumn| catalog::ColumnSpec {
        collation: binder.collation_of_column(c.id, c.ty),
        ..catalog::ColumnSpec::new(c.name.as_deref().unwrap_or_default(), c.ty)
    };
    let spec = catalog::TableSpec {
        name: view.name.clone(),
        columns: source.tables.iter().flat_map(|t| &t.columns).map(column).collect(),
        ..catalog::TableSpec::default()
    };
    let place = Place::Variable(u16::MAX);
    let table = catalog::define_private(&spec, place, view.object_id, names.version())
        .map_err(|e| BindError::of_catalog(e, 1))?;
    Ok(TableDef { schema: view.schema.clone(), ..table })
}

/// What a view's text says; none when it cannot be read.
pub(crate) fn with_view<T>(
    view: &ProcedureDef,
    f: impl FnOnce(&ast::CreateView) -> T,
) -> Option<T> {
    match kept::definition(view)? {
        ast::StatementKind::CreateView(create) => Some(f(&create)),
        _ => None,
    }
}

/// The rows of a view with a locator, which every change asks for: here it finds nothing.
pub(crate) fn with_locator(input: Rel, tables: &[ScopeTable], locator: ColId) -> Rel {
    let mut exprs: Vec<(ColId, Expr)> = Vec::new();
    for c in tables.iter().flat_map(|t| &t.columns) {
        if !exprs.iter().any(|(id, _)| *id == c.id) {
            exprs.push((c.id, Expr::col(c.id, c.ty, c.nullable)));
        }
    }
    exprs.push((locator, Expr::constant(Value::binary(&[0]), LOCATOR)));
    Rel::Project { input: Box::new(input), exprs }
}
