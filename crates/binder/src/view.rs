//! Views: the text that was kept, bound anew wherever the view is named.
//!
//! Promise: a view sees neither the variables nor the columns and common table expressions around its name. Changes
//! through it: [`crate::updatable`], [`crate::instead`].

use std::sync::Arc;

use catalog::ProcedureDef;
use ir::*;
use syntax::ast;

use crate::context::*;
use crate::notes::Usual;
use semantics::kept;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// A view named in FROM, from its text.
    pub fn view(
        &mut self,
        definition: &ProcedureDef,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
    ) -> Result<Source> {
        let line = name.span.line.max(1);
        let Some(ast::StatementKind::CreateView(view)) = kept::definition(definition) else {
            return Err(BindError::new(
                4413,
                16,
                line,
                format!("Could not use view or function '{name}' because of binding errors."),
            ));
        };
        self.count_unfolding(name, line)?;
        let schema = Some(definition.schema.as_ref().into());
        // What is told of another database's objects would be taken for this one's.
        let sources = self.sources.take().filter(|_| self.home.is_none());
        let before = self.failed.len();
        let (through, bound) =
            self.reached_by(definition, |b| b.in_schema(schema, |b| b.view_query(&view)));
        self.sources = sources;
        let mut wrong = self.failed.split_off(before);
        let bound = match bound {
            Ok(bound) if wrong.is_empty() => bound,
            bound => {
                wrong.extend(bound.err());
                let own = &view.name.name.value;
                return Err(BindError::of_view(wrong, own, &name.to_string(), line));
            }
        };
        if let Some(sources) = &mut self.sources {
            sources.unfolded(&bound.rel);
        }
        if view.check_option {
            self.checked.push(bound.rel.clone());
        }
        let mut source = self.expose_as(
            bound,
            &alias.unwrap_or(&name.name).value,
            &view.name.name.value,
            &view.columns,
        )?;
        let columns = source.tables.iter().flat_map(|table| &table.columns);
        let own = columns.map(|c| c.name.as_deref().unwrap_or_default().into());
        self.expose_module(&through, own, &source);
        if let Some(sources) = &mut self.sources {
            let columns = source.tables.iter().flat_map(|table| &table.columns);
            let columns = columns.map(|c| (c.name.clone().unwrap_or_default(), c.id));
            let columns = columns.collect();
            let object_id = definition.object_id;
            sources.list.push(semantics::uses::Source { object_id, columns, is_all: false });
        }
        if alias.is_none()
            && let Some(table) = source.tables.first_mut()
        {
            table.schema =
                Some(view.name.schema.as_ref().map_or_else(|| "dbo".into(), |s| s.value.clone()));
            table.shown = name.to_string();
        }
        Ok(source)
    }

    pub fn view_query(&mut self, view: &ast::CreateView) -> Result<Query> {
        let line = view.name.span.line.max(1);
        self.apart(|b| b.deeper(QUERY_DEPTH, |b| b.derived(&view.query, line)))
    }

    /// Binds what sees no query around it: a module's.
    pub fn apart<T>(&mut self, f: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        let scopes = std::mem::take(&mut self.scopes);
        let ctes = std::mem::take(&mut self.ctes);
        let selects = std::mem::take(&mut self.selects);
        let recursion = self.recursion.take();
        let in_module = std::mem::replace(&mut self.in_module, true);
        let result = f(self);
        self.in_module = in_module;
        self.recursion = recursion;
        self.scopes = scopes;
        self.ctes = ctes;
        self.selects = selects;
        result
    }

    /// Binds what is in a module of that schema.
    pub fn in_schema<T>(
        &mut self,
        schema: Option<Arc<str>>,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        self.having(|b| &mut b.schema, schema, f)
    }

    /// Binds a view of another database: what its text names is there.
    pub fn in_database<T>(
        &mut self,
        home: Option<Arc<str>>,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let usual = Usual::of(self.names.collation(home.as_deref()));
        self.having(|b| &mut b.home, home, |b| b.having(|b| &mut b.usual, usual, f))
    }

    /// What the text of another database's view may not name yet: it would mean an object of this database.
    pub fn not_of_another(&self, what: &str, name: impl std::fmt::Display) -> Result<()> {
        match &self.home {
            None => Ok(()),
            Some(home) => {
                let what = format!("{what} {name} in a view of another database ({home})");
                Err(BindError::unsupported(what, self.line))
            }
        }
    }

    /// Binds the query of a view or inline function in its place.
    pub fn reached_by<T>(
        &mut self,
        module: &ProcedureDef,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> (Arc<Through>, Result<T>) {
        let outer = self.through.take();
        let own = Through::new(module.object_id, &module.schema, &module.name, outer.clone());
        let own = Arc::new(own);
        self.through = Some(own.clone());
        let result = f(self);
        self.through = outer;
        (own, result)
    }

    /// Counts a module that is unfolded, `name`; one that unfolds itself never ends: 4429.
    pub fn count_unfolding(&mut self, name: impl std::fmt::Display, line: u32) -> Result<()> {
        self.unfolded += 1;
        if self.unfolded <= UNFOLDED_MAX {
            return Ok(());
        }
        Err(BindError::new(
            4429,
            16,
            line,
            format!(
                "View or function '{name}' contains a self-reference. Views or functions cannot \
                 reference themselves directly or indirectly."
            ),
        ))
    }

    /// CREATE VIEW: the query binds, and every column has a name of its own: 1054, 4511, 4506, 8158, 8159, 1033,
    /// 4508, 4510.
    pub fn check_view(&mut self, view: &ast::CreateView) -> Result<()> {
        if !self.frame.vars.is_empty() {
            return Err(self.error(137, "Must declare the scalar variable."));
        }
        let line = view.name.span.line.max(1);
        if semantics::names::is_temporary(&view.name.name.value) {
            return Err(BindError::new(
                4103,
                15,
                line,
                format!("\"{}\": Temporary views are not allowed.", view.name.name.value),
            ));
        }
        check_stars(&view.options, &view.query)?;
        let schema = view.name.schema.as_ref().map(|schema| schema.value.as_str().into());
        let bound = self.in_schema(schema, |b| b.view_query(view))?;
        if view.columns.is_empty()
            && let Some(n) = unnamed(&bound)
        {
            return Err(BindError::new(
                4511,
                16,
                line,
                format!(
                    "Create View or Function failed because no column name was specified for column {n}."
                ),
            ));
        }
        not_of_temporary(&bound, line)?;
        if view.check_option && !semantics::lineage::is_updatable(&bound.rel) {
            return Err(BindError::new(
                4510,
                16,
                line,
                "Could not perform CREATE VIEW because WITH CHECK OPTION was specified and the view is not updatable.",
            ));
        }
        let name = &view.name.name.value;
        self.expose_as(bound, name, name, &view.columns).map_err(|e| match e.number {
            8156 => BindError::new(
                4506,
                16,
                line,
                format!(
                    "Column names in each view or function must be unique. Column name '{}' in view or function \
                     '{name}' is specified more than once.",
                    e.text.split('\'').nth(1).unwrap_or_default()
                ),
            ),
            _ => e,
        })?;
        Ok(())
    }
}

/// 1054: what is schema-bound names its columns.
pub(crate) fn check_stars(options: &[String], query: &ast::Query) -> Result<()> {
    if !options.iter().any(|option| option == "SCHEMABINDING") {
        return Ok(());
    }
    match semantics::tree::star_of(query) {
        None => Ok(()),
        Some(line) => {
            let text = "Syntax '*' is not allowed in schema-bound objects.";
            Err(BindError::new(1054, 15, line.max(1), text).with_state(6))
        }
    }
}

/// The number of a query's first column without a name, from 1.
pub(crate) fn unnamed(query: &Query) -> Option<usize> {
    query.output.iter().position(|column| column.name.is_none()).map(|i| i + 1)
}

/// 4508: a module's query reads no temporary table.
pub(crate) fn not_of_temporary(query: &Query, line: u32) -> Result<()> {
    let mut private = false;
    query.rel.walk_tables(&mut |table| private |= table.is_private());
    if !private {
        return Ok(());
    }
    Err(BindError::new(
        4508,
        16,
        line,
        "Views or functions are not allowed on temporary tables. Table names that begin with '#' denote temporary \
         tables.",
    ))
}
