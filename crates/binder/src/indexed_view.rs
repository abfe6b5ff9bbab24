//! CREATE INDEX on a view: whether its rows can be kept, and what they look like.
//!
//! A view can be indexed whose rows follow from the rows of its tables one by one, so that what a change of one table adds
//! to it and takes from it is the view's own query over the changed rows ([`crate::view_change`]): inner joins of
//! different tables, WHERE, expressions that are deterministic, and over these GROUP BY with COUNT_BIG(*) and SUM.
//!
//! Promises: the text is looked at as it is written, so that what it says in vain (a hint, an ORDER BY) is told by its
//! name; the tree that it is bound to is looked at for what expressions are. What needs no names for that is in
//! [`semantics::indexed_view`]; here the view's tables are found. Errors: 208, 1937, 1942, 1947, 10116, 10137, 10140.
//! Source: SQL Server's documentation, "Create indexed views", and the texts of these messages.

use std::sync::Arc;

use catalog::{ColumnSpec, IndexSpec, ProcedureDef, TableDef};
use ir::ddl::IndexView;
use ir::*;
use syntax::ast;

use crate::context::*;
use crate::routine::is_deterministic_function;
use semantics::indexed_view::{
    Refusing, UserFunction, check_aggregates, check_bound, check_bound_view, check_grouping,
    check_join, check_key, check_kind, check_select, view_parts,
};
use semantics::kept;
use semantics::names::Names;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// The first index of a view, which must be unique and clustered. See the file's first lines.
    pub(crate) fn index_view(
        &mut self,
        view: &Arc<ProcedureDef>,
        create: &ast::CreateIndex,
        spec: IndexSpec,
    ) -> Result<IndexView> {
        let mut of = self.refusing(view, create.index.span.line.max(1));
        check_bound_view(view, &of)?;
        check_kind(&spec, &create.index, &of)?;
        let Indexable { tables, bound, names } = self.indexable(view, &spec.name, &mut of)?;
        let source = self.expose_as(bound.clone(), &view.name, &view.name, &names)?;
        let columns = source.tables.into_iter().flat_map(|table| table.columns);
        let columns: Vec<ColumnSpec> = columns
            .map(|column| ColumnSpec {
                nullable: Some(column.nullable),
                collation: self.collation_of_column(column.id, column.ty),
                ..ColumnSpec::new(column.name.as_deref().unwrap_or_default(), column.ty)
            })
            .collect();
        check_key(&spec, &columns, &view_parts(&bound), &of)?;
        let tables = tables.iter().map(|table| table.object_id).collect();
        Ok(IndexView { view: view.clone(), columns, tables, spec })
    }

    fn refusing<'v>(&self, view: &'v ProcedureDef, line: u32) -> Refusing<'v> {
        let full = format!("{}.{}.{}", self.names.database(), view.schema, view.name);
        Refusing { line, view: &view.name, full, functions: Vec::new() }
    }

    /// What is asked of the view, whatever its key is to be.
    fn indexable(
        &mut self,
        view: &ProcedureDef,
        index: &str,
        of: &mut Refusing<'_>,
    ) -> Result<Indexable> {
        let Some(ast::StatementKind::CreateView(text)) = kept::definition(view) else {
            return Err(of.error(208, format!("Invalid object name '{}'.", view.name)));
        };
        let schema: Option<Arc<str>> = Some(view.schema.as_ref().into());
        let tables = self.in_schema(schema.clone(), |b| b.tables_of_text(&text.query, of))?;
        let bound = self.in_schema(schema, |b| b.view_query(&text))?;
        of.functions = self.functions_in(&bound);
        check_bound(&bound, of)?;
        check_aggregates(&bound, of)?;
        check_grouping(&bound, index, of)?;
        if bound.output.iter().any(|c| c.is_long() || c.ty.is_xml()) {
            let why = "It contains text, ntext, image, FILESTREAM or xml columns.";
            return Err(of.error(1942, format!("Cannot create index on view '{}'. {why}", of.view)));
        }
        Ok(Indexable { tables, bound, names: text.columns.clone() })
    }

    /// The functions of users that a query calls.
    fn functions_in(&self, bound: &Query) -> Vec<UserFunction> {
        let mut ids = Vec::new();
        bound.rel.walk_exprs(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Func { func: FuncId::User(called), .. } = &e.kind {
                    ids.push(called.object_id);
                }
            });
        });
        let function = |id: i32| {
            let name = self.names.function_by_id(id)?.name.clone();
            let is_deterministic = is_deterministic_function(id, self.names);
            Some(UserFunction { id, name, is_deterministic })
        };
        ids.into_iter().filter_map(function).collect()
    }

    /// The tables that the query names, each once; what it may not say.
    fn tables_of_text(
        &mut self,
        query: &ast::Query,
        of: &Refusing<'_>,
    ) -> Result<Vec<Arc<TableDef>>> {
        if let Some(cte) = query.with.first() {
            let name = &cte.name.value;
            return Err(of.refuse(
                10137,
                format!(
                    "because it references common table expression \"{name}\". Views referencing common table \
                     expressions cannot be indexed. Consider not indexing the view, or removing the common table \
                     expression from the view definition."
                ),
            ));
        }
        let mut body = &query.body;
        while let ast::QueryBody::Nested(inner) = body {
            body = inner;
        }
        let ast::QueryBody::Select(select) = body else {
            return Err(of.refuse_in(
                10116,
                "because it contains one or more UNION, INTERSECT, or EXCEPT operators. Consider creating a separate \
                 indexed view for each query that is an input to the UNION, INTERSECT, or EXCEPT operators of the \
                 original view.",
            ));
        };
        check_select(select, query, of)?;
        let mut tables = Vec::new();
        for item in &select.from {
            self.tables_of(item, of, &mut tables)?;
        }
        if tables.is_empty() {
            return Err(BindError::unsupported("an index on a view of no table", of.line));
        }
        Ok(tables)
    }

    fn tables_of(
        &mut self,
        item: &ast::TableRef,
        of: &Refusing<'_>,
        tables: &mut Vec<Arc<TableDef>>,
    ) -> Result<()> {
        use ast::TableRef as T;
        let (name, hints) = match item {
            T::Named { name, hints, time: None, .. } => (name, hints),
            T::Named { time: Some(_), .. } => {
                return Err(BindError::unsupported("an index on a view FOR SYSTEM_TIME", of.line));
            }
            T::Join { kind, hint, left, right, .. } => {
                check_join(*kind, hint.is_some(), of)?;
                self.tables_of(left, of, tables)?;
                return self.tables_of(right, of, tables);
            }
            other => return Err(of.source(other)),
        };
        if !hints.is_empty() {
            let why = "because the view contains a table hint. Consider removing the hint.";
            return Err(of.refuse_in(10140, why));
        }
        let wanted = self.meant(name);
        let Some(table) = self.table(&wanted) else {
            return Err(match self.names.view(&wanted) {
                None => BindError::invalid_object(name, of.line),
                Some(other) => {
                    let text = format!(
                        "Cannot create index on view '{}' because it references another view '{}'. Consider expanding \
                         referenced view's definition by hand in indexed view definition.",
                        of.view, other.name
                    );
                    of.error(1937, text)
                }
            });
        };
        if tables.iter().any(|known| known.object_id == table.object_id) {
            let other = format!("{}.{}.{}", self.names.database(), table.schema, table.name);
            let text = format!(
                "Cannot create index on view \"{}\". The view contains a self join on \"{other}\".",
                of.full
            );
            return Err(of.error(1947, text));
        }
        if table.is_memory() {
            let refused = catalog::not_in_memory("operation", "CREATE INDEX on a view");
            return Err(BindError::of_catalog(refused, of.line));
        }
        if !self.names.predicates(None, table.object_id).is_empty() {
            let what = "an index on a view of a table that a security policy filters";
            return Err(BindError::unsupported(what, of.line));
        }
        tables.push(table);
        Ok(())
    }
}

/// Could a view have a clustered index?
pub(crate) fn is_indexable(view: &ProcedureDef, names: &dyn Names) -> bool {
    let frame = Frame::default();
    let mut binder = Binder::new(names, &frame, 1);
    let mut of = binder.refusing(view, 1);
    check_bound_view(view, &of).is_ok() && binder.indexable(view, "", &mut of).is_ok()
}

/// What is known of a view that can be indexed.
struct Indexable {
    tables: Vec<Arc<TableDef>>,
    bound: Query,
    /// Its columns' own names; nothing where they are the query's.
    names: Vec<ast::Ident>,
}

impl Binder<'_> {
    /// The rows of an indexed view, for NOEXPAND; 8171 where there are none.
    pub(crate) fn unexpanded(
        &mut self,
        rows: Option<Arc<TableDef>>,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
    ) -> Result<Source> {
        let Some(rows) = rows else {
            let text = format!("Hint 'noexpand' on object '{name}' is invalid.");
            return Err(BindError::new(8171, 16, name.span.line.max(1), text).with_state(2));
        };
        if rows.is_disabled_view() {
            let text = format!(
                "The query processor is unable to produce a plan because the index '{}' on table or view '{}' is disabled.",
                rows.clustered_name().unwrap_or_default(),
                rows.name
            );
            return Err(BindError::new(8655, 16, name.span.line.max(1), text));
        }
        let (get, mut scope) = self.get(rows, alias, hints)?;
        if alias.is_none() {
            scope.shown = name.to_string();
        }
        Ok(Source { rel: Rel::Get(Box::new(get)), tables: vec![scope] })
    }

    /// The rows of an indexed view that a statement about indexes names.
    pub(crate) fn indexed_rows(&self, name: &ObjectName) -> Option<Arc<TableDef>> {
        self.names.view(name)?.rows.clone()
    }
}
