//! FROM: tables, derived tables, common table expressions, joins.

use std::sync::Arc;

use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::names::LostSynonym;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// The whole FROM clause; one row of nothing when empty.
    pub fn from(&mut self, items: &[ast::TableRef]) -> Result<Source> {
        let mut whole: Option<Source> = None;
        for item in items {
            if items.len() > 1 {
                self.check_operand(item)?;
            }
            let source = self.table_ref(item)?;
            whole = Some(match whole {
                None => source,
                Some(left) => self.join_sources(left, source, JoinKind::Cross, None)?,
            });
        }
        Ok(whole.unwrap_or(Source { rel: Rel::OneRow, tables: Vec::new() }))
    }

    fn join_sources(
        &self,
        mut left: Source,
        right: Source,
        kind: JoinKind,
        on: Option<Expr>,
    ) -> Result<Source> {
        self.check_names(&left.tables, &right.tables)?;
        left.tables.extend(right.tables);
        let rel = Rel::Join { kind, left: Box::new(left.rel), right: Box::new(right.rel), on };
        Ok(Source { rel, tables: left.tables })
    }

    pub fn check_names(&self, left: &[ScopeTable], right: &[ScopeTable]) -> Result<()> {
        for r in right {
            let clash = left.iter().find(|l| {
                catalog::same_name(&l.name, &r.name)
                    && match (&l.schema, &r.schema) {
                        (Some(a), Some(b)) => catalog::same_name(a, b),
                        (None, None) => true,
                        _ => true,
                    }
            });
            if let Some(l) = clash {
                // The name of a table is another's alias.
                let aliased = match (&l.schema, &r.schema) {
                    (Some(_), None) => Some((&r.name, &l.shown)),
                    (None, Some(_)) => Some((&l.name, &r.shown)),
                    _ => None,
                };
                return Err(if let Some((alias, table)) = aliased {
                    self.error(
                        1012,
                        format!(
                            "The correlation name '{alias}' has the same exposed name as table '{table}'."
                        ),
                    )
                } else if l.schema.is_some() {
                    self.error(
                        1013,
                        format!(
                            "The objects \"{}\" and \"{}\" in the FROM clause have the same \
                             exposed names. Use correlation names to distinguish them.",
                            l.shown, r.shown
                        ),
                    )
                } else {
                    self.error(
                        1011,
                        format!(
                            "The correlation name '{}' is specified multiple times in a FROM \
                             clause.",
                            r.name
                        ),
                    )
                });
            }
        }
        Ok(())
    }

    pub fn table_ref(&mut self, item: &ast::TableRef) -> Result<Source> {
        match item {
            ast::TableRef::Named { name, alias, hints, time: Some(time) } => {
                self.named_at(name, alias.as_ref(), hints, time)
            }
            ast::TableRef::Named { name, alias, hints, time: None } => {
                if let Some(found) = self.recursive_reference(name, alias.as_ref()) {
                    return found;
                }
                if name.schema.is_none()
                    && let Some(index) = self.find_cte(&name.name.value)
                {
                    return self.cte(index, alias.as_ref().unwrap_or(&name.name));
                }
                self.named(name, alias.as_ref(), hints)
            }
            ast::TableRef::Variable { name, alias } => self.variable_source(name, alias.as_ref()),
            ast::TableRef::Derived { query, alias, columns } => {
                let bound = self.derived(query, alias.span.line)?;
                self.expose(bound, alias, columns)
            }
            ast::TableRef::Function { name, args, schema, alias, columns }
                if name.is_bare(ir::OPENJSON) =>
            {
                self.openjson(name, args, schema, alias.as_ref(), columns)
            }
            ast::TableRef::Function { name, args, schema, alias, columns }
                if name.is_bare(ir::OPENXML) =>
            {
                self.openxml(name, args, schema, alias.as_ref(), columns)
            }
            ast::TableRef::Function { name, args, alias, columns, .. }
                if name.is_bare(ir::OPENROWSET) =>
            {
                self.openrowset(name, args, alias.as_ref(), columns)
            }
            ast::TableRef::Function { name, args, alias, columns, .. } => {
                if (name.name.is("nodes") || name.name.value.starts_with('.'))
                    && let Some(rows) = self.xml_nodes(name, args, alias.as_ref(), columns)?
                {
                    return Ok(rows);
                }
                self.table_function(name, args, alias.as_ref(), columns)
            }
            ast::TableRef::Join { kind, hint, left, right, on } => {
                if let Some(method) = hint {
                    semantics::hints::join_method(&method.value, &mut self.plan_hints);
                }
                self.join(*kind, left, right, on)
            }
            ast::TableRef::Changes(changes) => self.change_table(changes),
            ast::TableRef::Fulltext(rows) => self.fulltext_rows(rows),
            ast::TableRef::Changed { change, .. } => Err(self.misplaced(10730, change.span.line)),
            ast::TableRef::Pivot { .. } | ast::TableRef::Unpivot { .. } => self.turned(item),
            ast::TableRef::Sampled { table, sample } => self.sampled(table, sample),
        }
    }

    #[inline(never)]
    fn variable_source(
        &mut self,
        name: &ast::Variable,
        alias: Option<&ast::Ident>,
    ) -> Result<Source> {
        let table = self.table_variable(name)?.def.clone();
        let (get, scope) = self.get(table, alias, &[])?;
        Ok(Source { rel: Rel::Get(Box::new(get)), tables: vec![scope] })
    }

    /// PIVOT and UNPIVOT.
    #[inline(never)]
    fn turned(&mut self, item: &ast::TableRef) -> Result<Source> {
        if let ast::TableRef::Pivot { input, .. } | ast::TableRef::Unpivot { input, .. } = item
            && let ast::TableRef::Changed { change, .. } = &**input
        {
            return Err(self.misplaced(10728, change.span.line));
        }
        match item {
            ast::TableRef::Pivot { input, aggregate, column, values, alias } => {
                let input = self.table_ref(input)?;
                self.pivot(input, aggregate, column, values, alias)
            }
            ast::TableRef::Unpivot { input, value, name, columns, alias } => {
                let input = self.table_ref(input)?;
                self.unpivot(input, (value, name), columns, alias)
            }
            other => self.table_ref(other),
        }
    }

    #[inline(never)]
    fn join(
        &mut self,
        kind: ast::JoinKind,
        left: &ast::TableRef,
        right: &ast::TableRef,
        on: &Option<ast::Expr>,
    ) -> Result<Source> {
        self.check_operand(left)?;
        self.check_operand(right)?;
        let mut left = self.table_ref(left)?;
        if matches!(kind, ast::JoinKind::CrossApply | ast::JoinKind::OuterApply) {
            let tables = std::mem::take(&mut left.tables);
            let (right, tables) = self.seeing(tables, Place::Applied, |b| b.table_ref(right));
            left.tables = tables;
            let mut right = right?;
            self.check_names(&left.tables, &right.tables)?;
            let outer = kind == ast::JoinKind::OuterApply;
            if outer {
                self.refuse_in_recursion(462)?;
                self.settle_volatile(&mut right);
                make_nullable(&mut right.tables);
            }
            left.tables.extend(right.tables);
            let rel = Rel::Apply { outer, left: Box::new(left.rel), right: Box::new(right.rel) };
            return Ok(Source { rel, tables: left.tables });
        }
        let mut right = self.table_ref(right)?;
        let join_kind = match kind {
            ast::JoinKind::Inner => JoinKind::Inner,
            ast::JoinKind::Left => JoinKind::Left,
            ast::JoinKind::Right => JoinKind::Right,
            ast::JoinKind::Full => JoinKind::Full,
            _ => JoinKind::Cross,
        };
        let on = match on {
            None => None,
            Some(on) => {
                let mut tables = std::mem::take(&mut left.tables);
                let of_left = tables.len();
                tables.append(&mut right.tables);
                let (bound, mut tables) = self
                    .seeing(tables, Place::On, |b| b.in_clause(Clause::On, |b| b.condition(on)));
                right.tables = tables.split_off(of_left);
                left.tables = tables;
                Some(bound?)
            }
        };
        if matches!(join_kind, JoinKind::Left | JoinKind::Right | JoinKind::Full) {
            self.refuse_in_recursion(462)?;
        }
        if matches!(join_kind, JoinKind::Left | JoinKind::Full) {
            self.settle_volatile(&mut right);
            make_nullable(&mut right.tables);
        }
        if matches!(join_kind, JoinKind::Right | JoinKind::Full) {
            self.settle_volatile(&mut left);
            make_nullable(&mut left.tables);
        }
        self.join_sources(left, right, join_kind, on)
    }

    /// Binds with some tables in sight, and gives them back: a chain of joins sees all before it at each step.
    fn seeing<T>(
        &mut self,
        tables: Vec<ScopeTable>,
        place: Place,
        f: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<ScopeTable>) {
        self.scopes.push(Scope { tables, place });
        let made = f(self);
        let tables = self.scopes.pop().map(|scope| scope.tables).unwrap_or_default();
        (made, tables)
    }

    /// A table or view FOR SYSTEM_TIME; 13544.
    #[inline(never)]
    fn named_at(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
        time: &ast::SystemTime,
    ) -> Result<Source> {
        let wanted = self.meant(name);
        let is_cte = name.schema.is_none() && self.find_cte(&name.name.value).is_some();
        let versioned = match self.table(&wanted) {
            Some(table) => matches!(table.temporal, catalog::Temporal::Versioned { .. }),
            None => self.names.view(&wanted).is_some(),
        };
        if is_cte || !versioned {
            return Err(match versioned || self.table(&wanted).is_some() || is_cte {
                true => self.not_versioned(name),
                false => self.no_such_source(name, &wanted),
            });
        }
        if self.elsewhere(&wanted).is_some() {
            let what = "FOR SYSTEM_TIME of a table in another database";
            return Err(BindError::unsupported(what, name.span.line.max(1)));
        }
        let moments = self.moments(time)?;
        let around = self.moments.replace(moments);
        let found = self.named(name, alias, hints);
        self.moments = around;
        found
    }

    /// A table or system view by name; 208.
    #[inline(never)]
    pub fn named(
        &mut self,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
    ) -> Result<Source> {
        self.of_this_server(name)?;
        let wanted = self.meant(name);
        // `inserted` and `deleted` of a trigger; the names of other such tables begin with `@`.
        if name.schema.is_none()
            && self.params.is_none()
            && let Some((_, table)) = self.frame.table(&name.name.value)
        {
            let (get, scope) = self.get(table.def.clone(), alias, hints)?;
            return Ok(Source { rel: Rel::Get(Box::new(get)), tables: vec![scope] });
        }
        if let Some(table) = self.table(&wanted) {
            if self.moments.is_some()
                && matches!(table.temporal, catalog::Temporal::Versioned { .. })
            {
                let moments = self.moments.clone().unwrap_or(crate::notes::Moments::All);
                let mut source = self.versions(table, alias, hints, &moments)?;
                if alias.is_none() {
                    source.tables[0].shown = name.to_string();
                }
                return Ok(source);
            }
            if hints.iter().any(|hint| hint.name == "NOEXPAND") {
                return self.unexpanded(None, name, alias, hints);
            }
            let (mut get, mut scope) = self.get(self.standing_for(table), alias, hints)?;
            get.hints.readcommittedlock |= self.changed.is_some();
            // Messages name the table, whatever its alias.
            scope.shown = name.to_string();
            get.database =
                self.elsewhere(&wanted).map(Arc::from).filter(|_| !get.table.is_private());
            self.note_database(get.database.as_deref());
            return Ok(Source { rel: self.filtered(get)?, tables: vec![scope] });
        }
        if let Some(view) = self.names.view(&wanted) {
            let home: Option<Arc<str>> = self.elsewhere(&wanted).map(Arc::from);
            if hints.iter().any(|hint| hint.name == "NOEXPAND") {
                if let Some(home) = home {
                    let what = format!("NOEXPAND of a view of another database ({home})");
                    return Err(BindError::unsupported(what, self.line));
                }
                return self.unexpanded(view.rows.clone(), name, alias, hints);
            }
            let usual = self.names.collation(home.as_deref());
            let source = self.in_database(home, |b| b.view(&view, name, alias))?;
            self.note_foreign(&source, usual);
            return Ok(source);
        }
        match self.names.system_view(&wanted) {
            Some(view) if view.params.is_none() => self.system(view, Vec::new(), name, alias, &[]),
            _ => Err(self.no_such_source(name, &wanted)),
        }
    }

    /// 216 for a function without its arguments, else 208.
    fn no_such_source(&self, name: &ast::ObjectName, wanted: &ObjectName) -> BindError {
        let line = name.span.line.max(1);
        match self.names.function(wanted) {
            Some(f) if f.kind != catalog::ModuleKind::ScalarFunction => BindError::new(
                216,
                16,
                line,
                format!("Parameters were not supplied for the function '{name}'."),
            ),
            _ => self.no_object(name, wanted),
        }
    }

    /// 7202 for a name of another server: none is linked.
    pub fn of_this_server(&self, name: &ast::ObjectName) -> Result<()> {
        let Some(server) = &name.server else { return Ok(()) };
        if self.names.is_this_server(&server.value) {
            return Ok(());
        }
        let text = format!(
            "Could not find server '{}' in sys.servers. Verify that the correct server name was specified. If necessary, \
             execute the stored procedure sp_addlinkedserver to add the server to sys.servers.",
            server.value
        );
        Err(BindError::new(7202, 11, name.span.line.max(1), text).with_state(2))
    }

    /// 208; of a synonym that leads nowhere 470 or 5313, in a database that is closed 942 and its like.
    pub fn no_object(&self, name: &ast::ObjectName, wanted: &ObjectName) -> BindError {
        let line = name.span.line.max(1);
        let closed = wanted.database.as_ref().and_then(|database| self.names.why_closed(database));
        if let Some((number, severity, text)) = closed {
            return BindError::new(number, severity, line, text).with_state(4);
        }
        let written = || self.names.lost_synonym(&ObjectName::from(name));
        match self.names.lost_synonym(wanted).or_else(written) {
            None => BindError::invalid_object(name, line),
            Some(LostSynonym::Missing) => BindError::new(
                5313,
                16,
                line,
                format!("Synonym '{name}' refers to an invalid object."),
            ),
            Some(LostSynonym::Chained(base)) => {
                let text = format!(
                    "The synonym \"{name}\" referenced synonym \"{base}\". Synonym chaining is not allowed."
                );
                BindError::new(470, 16, line, text)
            }
        }
    }

    /// The database that a name names, when it is not the current one.
    pub fn elsewhere<'n>(&self, name: &'n ObjectName) -> Option<&'n str> {
        let named = name.database.as_deref()?;
        (!named.is_empty() && !named.eq_ignore_ascii_case(&self.names.database())).then_some(named)
    }

    /// Reading of a base table under an alias.
    pub fn get(
        &mut self,
        table: Arc<catalog::TableDef>,
        alias: Option<&ast::Ident>,
        hints: &[ast::TableHint],
    ) -> Result<(Get, ScopeTable)> {
        let hints = semantics::hints::hints_for(hints, Some(&table))?;
        let columns: Vec<ColId> = table.columns.iter().map(|_| self.new_col()).collect();
        self.note_columns(&table, &columns);
        self.note_base(&table, &columns);
        let is_in_set = table.is_in_set();
        let hidden = table.columns.iter().zip(&columns);
        let hidden = hidden.filter(|(c, _)| c.marks.hidden || is_in_set(c));
        self.hidden.extend(hidden.map(|(_, id)| *id));
        self.note_volatile(&table, &columns)?;
        let scope = ScopeTable {
            name: alias.map_or_else(|| table.name.to_string(), |a| a.value.clone()),
            schema: if alias.is_some() { None } else { Some(table.schema.to_string()) },
            shown: alias.map_or_else(|| table.name.to_string(), |a| a.value.clone()),
            columns: table
                .columns
                .iter()
                .zip(&columns)
                .map(|(c, id)| ScopeColumn {
                    name: Some(c.name.to_string()),
                    id: *id,
                    ty: c.ty,
                    nullable: c.nullable,
                    identity: c.identity,
                    updatable: c.identity.is_none() && !c.is_made(),
                    rowguid: c.marks.rowguidcol,
                })
                .collect(),
        };
        let through = self.through.clone();
        let get =
            Get { table, database: None, columns, locator: None, hints, sample: None, through };
        Ok((get, scope))
    }

    pub fn system(
        &mut self,
        view: Arc<SystemView>,
        args: Vec<Expr>,
        name: &ast::ObjectName,
        alias: Option<&ast::Ident>,
        renamed: &[ast::Ident],
    ) -> Result<Source> {
        let columns: Vec<ColId> = view.columns.iter().map(|_| self.new_col()).collect();
        let scope = ScopeTable {
            name: alias.unwrap_or(&name.name).value.clone(),
            schema: alias.is_none().then(|| {
                name.schema.as_ref().map_or_else(|| "sys".to_string(), |s| s.value.clone())
            }),
            shown: alias.map_or_else(|| name.to_string(), |a| a.value.clone()),
            columns: view
                .columns
                .iter()
                .zip(&columns)
                .enumerate()
                .map(|(i, (c, id))| ScopeColumn {
                    name: Some(renamed.get(i).map_or_else(|| c.name.clone(), |r| r.value.clone())),
                    id: *id,
                    ty: c.ty,
                    nullable: c.nullable,
                    identity: None,
                    updatable: false,
                    rowguid: false,
                })
                .collect(),
        };
        Ok(Source { rel: Rel::System { view, args, columns }, tables: vec![scope] })
    }

    #[inline(never)]
    fn table_function(
        &mut self,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        alias: Option<&ast::Ident>,
        columns: &[ast::Ident],
    ) -> Result<Source> {
        if let Some(source) = self.language_function(name, args, alias, columns)? {
            return Ok(source);
        }
        self.of_this_server(name)?;
        self.touched.set(true);
        self.not_of_another("function of rows", name)?;
        let routine = self.names.function(&self.meant(name));
        if let Some(routine) = routine.filter(|r| r.kind != catalog::ModuleKind::ScalarFunction) {
            return self.table_routine(&routine, name, args, alias, columns);
        }
        let view = self
            .names
            .system_view(&ObjectName::from(name))
            .filter(|view| view.params.is_some())
            .ok_or_else(|| BindError::invalid_object(name, name.span.line.max(1)))?;
        let params = view.params.clone().unwrap_or_default();
        if args.len() != params.len() {
            let (number, what) = if args.len() < params.len() {
                (313, "An insufficient")
            } else {
                (8144, "Too many")
            };
            return Err(BindError::new(
                number,
                16,
                name.span.line,
                if number == 313 {
                    format!(
                        "{what} number of arguments were supplied for the procedure or function \
                         {name}."
                    )
                } else {
                    format!("Procedure or function {name} has too many arguments specified.")
                },
            ));
        }
        let args = args
            .iter()
            .zip(params)
            .map(|(e, ty)| {
                // DEFAULT stands for NULL in all of them.
                let bound = match &e.kind {
                    _ if semantics::tree::is_default(e) => Expr::constant(types::Value::Null, ty),
                    _ => self.expr(e)?,
                };
                self.coerce(bound, ty, CastMode::Implicit)
            })
            .collect::<Result<Vec<Expr>>>()?;
        let source = self.system(view, args, name, alias, columns)?;
        let columns = source.tables.iter().flat_map(|table| &table.columns);
        self.note_plain(columns.map(|c| (c.id, c.ty)));
        Ok(source)
    }

    /// 8155 for each column of a query that has no name, unless a list names them.
    fn check_named(&self, bound: &Query, columns: &[ast::Ident], name: &str) -> Result<()> {
        let nameless = bound.output.iter().enumerate().filter(|(_, column)| column.name.is_none());
        let told = |(i, _): (usize, _)| {
            let text = format!("No column name was specified for column {} of '{name}'.", i + 1);
            self.error(8155, text).with_state(2)
        };
        match columns.is_empty() {
            true => BindError::all(nameless.map(told).collect()).map_or(Ok(()), Err),
            false => Ok(()),
        }
    }

    /// A query in FROM: ORDER BY only with TOP or OFFSET (1033).
    pub fn derived(&mut self, query: &ast::Query, line: u32) -> Result<Query> {
        self.check_order_by(query, line)?;
        self.check_no_into(query)?;
        self.placed_below(|b| b.query(query))
    }

    /// 156: a query that is part of something makes no table.
    pub fn check_no_into(&self, query: &ast::Query) -> Result<()> {
        match semantics::tree::into_of(&query.body) {
            None => Ok(()),
            Some(into) => {
                let line = into.table.span.line.max(1);
                Err(BindError::new(156, 15, line, "Incorrect syntax near the keyword 'INTO'."))
            }
        }
    }

    pub fn check_order_by(&self, query: &ast::Query, line: u32) -> Result<()> {
        let has_top = matches!(&query.body, ast::QueryBody::Select(s) if s.top.is_some());
        let serialised = query.for_clause.is_some();
        if !query.order_by.is_empty() && query.offset.is_none() && !has_top && !serialised {
            return Err(BindError::new(
                1033,
                15,
                query.order_by[0].expr.span.line.max(line).max(1),
                "The ORDER BY clause is invalid in views, inline functions, derived tables, \
                 subqueries, and common table expressions, unless TOP, OFFSET or FOR XML is also \
                 specified.",
            ));
        }
        Ok(())
    }

    fn expose(
        &mut self,
        bound: Query,
        alias: &ast::Ident,
        columns: &[ast::Ident],
    ) -> Result<Source> {
        self.expose_as(bound, &alias.value, &alias.value, columns)
    }

    /// The output of a query as a table: 8155 to 8159.
    #[inline(never)]
    pub fn expose_as(
        &mut self,
        mut bound: Query,
        alias: &str,
        name: &str,
        columns: &[ast::Ident],
    ) -> Result<Source> {
        if !columns.is_empty() && columns.len() != bound.output.len() {
            let (number, word) =
                if columns.len() < bound.output.len() { (8158, "more") } else { (8159, "fewer") };
            return Err(self.error(
                number,
                format!("'{name}' has {word} columns than were specified in the column list."),
            ));
        }
        self.check_named(&bound, columns, name)?;
        if self.tells_apart {
            self.tell_apart(&mut bound);
        }
        let mut scope = ScopeTable {
            name: alias.to_string(),
            schema: None,
            shown: alias.to_string(),
            columns: Vec::new(),
        };
        let mut names = std::collections::HashSet::with_capacity(bound.output.len());
        for (i, column) in bound.output.iter().enumerate() {
            let column_name = match columns.get(i) {
                Some(renamed) => Some(renamed.value.clone()),
                None => column.name.clone(),
            };
            let column_name = column_name.expect("checked before");
            if !names.insert(catalog::fold_name(&column_name)) {
                return Err(self.error(
                    8156,
                    format!(
                        "The column '{column_name}' was specified multiple times for '{name}'."
                    ),
                ));
            }
            // What a query shows is not hidden from who reads it.
            self.hidden.remove(&column.id);
            if self.is_null_throughout(&bound.rel, column.id) {
                self.null_columns.insert(column.id);
            }
            scope.columns.push(ScopeColumn {
                name: Some(column_name),
                id: column.id,
                ty: column.ty,
                nullable: column.nullable,
                identity: column.identity,
                updatable: column.updatable,
                rowguid: false,
            });
        }
        Ok(Source { rel: bound.rel, tables: vec![scope] })
    }

    /// Gives each column of a query's output an id of its own, also where several show the same: GROUPING SETS group by one
    /// of them and not by the other.
    fn tell_apart(&mut self, bound: &mut Query) {
        let mut seen = std::collections::HashSet::with_capacity(bound.output.len());
        if bound.output.iter().all(|column| seen.insert(column.id)) {
            return;
        }
        seen.clear();
        let mut exprs = Vec::with_capacity(bound.output.len());
        for column in &mut bound.output {
            let shown = Expr::col(column.id, column.ty, column.nullable);
            let is_null = self.is_null_throughout(&bound.rel, column.id);
            let is_long = self.long_columns.contains(&column.id);
            if !seen.insert(column.id) {
                column.id = self.new_col();
                self.note_collation(column.id, &shown);
                if self.is_of_table(&shown) {
                    self.base_columns.push((column.id.0, column.id.0));
                }
                if is_long {
                    self.long_columns.insert(column.id);
                }
            }
            if is_null {
                self.null_columns.insert(column.id);
            }
            exprs.push((column.id, shown));
        }
        let input = Box::new(std::mem::replace(&mut bound.rel, Rel::OneRow));
        bound.rel = Rel::Project { input, exprs };
    }

    /// Binds under a clause of the innermost SELECT, if there is one.
    pub fn in_clause<T>(
        &mut self,
        clause: Clause,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let before = self.selects.last_mut().map(|s| std::mem::replace(&mut s.clause, clause));
        let result = f(self);
        if let (Some(before), Some(select)) = (before, self.selects.last_mut()) {
            select.clause = before;
        }
        result
    }
}

pub(crate) fn make_nullable(tables: &mut [ScopeTable]) {
    for column in tables.iter_mut().flat_map(|t| &mut t.columns) {
        column.nullable = true;
    }
}
