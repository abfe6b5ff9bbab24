//! Queries: SELECT with its clauses in the order in which they mean something (FROM, WHERE, GROUP
//! BY, HAVING, select list, DISTINCT, ORDER BY, TOP), and set operations.

use std::collections::HashSet;

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::grouping::{AggScope, Groups};
use crate::notes::Browsing;
use crate::order_by::Key;
use crate::select_list::Item;
use semantics::{BindError, Result};

/// What a SELECT statement does with its rows.
pub(crate) enum Assigned {
    No,
    /// SELECT @v = x: the variables and values, over the query's rows.
    Vars(Vec<(VarId, Expr)>),
}

/// Elements of a select list, stars spread out (docs/limits.md).
const SELECT_LIST_MAX: usize = 4096;

/// EXISTS (SELECT * ... GROUP BY ...): what `*` stands for is not looked at, so columns that are not grouped do no harm.
fn without_list(query: &ast::Query) -> Option<ast::Query> {
    let ast::QueryBody::Select(select) = &query.body else { return None };
    let [ast::SelectItem::Wildcard { qualifier: None, span }] = &select.items[..] else {
        return None;
    };
    if select.group_by.is_empty() && select.having.is_none() {
        return None;
    }
    let kind = ast::ExprKind::Literal(ast::Literal::Int(1));
    let one = ast::SelectItem::Expr { expr: ast::Expr::new(kind, *span), alias: None };
    let mut query = query.clone();
    if let ast::QueryBody::Select(select) = &mut query.body {
        select.items = vec![one];
    }
    Some(query)
}

impl Binder<'_> {
    /// A query below a statement: no assignments.
    pub fn query(&mut self, query: &ast::Query) -> Result<Query> {
        let (query, assigned) = self.query_with_assignments(query)?;
        match assigned {
            Assigned::No => Ok(query),
            Assigned::Vars(_) => Err(self.error(102, "Incorrect syntax near '='.")),
        }
    }

    pub fn query_with_assignments(&mut self, query: &ast::Query) -> Result<(Query, Assigned)> {
        let outer_ctes = self.ctes.len();
        let maxdop = self.query_hints(&query.option)?;
        self.maxdop = self.maxdop.max(maxdop);
        self.open_ctes(query)?;
        let result = self.placed(query, |b| b.deeper(QUERY_DEPTH, |b| b.body(&query.body, query)));
        self.ctes.truncate(outer_ctes);
        let (mut bound, assigned) = result?;
        if let Some(clause) = &query.for_clause {
            let tables = std::mem::take(&mut self.auto_tables);
            if let Assigned::Vars(_) = assigned {
                return Err(crate::serialize::not_allowed(clause, "ASSIGNMENT"));
            }
            bound = self.serialize(bound, clause, &tables)?;
        }
        bound.maxdop = self.maxdop;
        bound.hints = self.plan_hints;
        Ok((bound, assigned))
    }

    /// The names of WITH; 239. Not inlined, as `select_in_scope` is not: what recurses has a narrow frame.
    #[inline(never)]
    fn open_ctes(&mut self, query: &ast::Query) -> Result<()> {
        let mut names = std::collections::HashSet::new();
        for cte in &query.with {
            if !names.insert(catalog::fold_name(&cte.name.value)) {
                return Err(BindError::new(
                    239,
                    16,
                    cte.name.span.line,
                    format!(
                        "Duplicate common table expression name '{}' was specified.",
                        cte.name.value
                    ),
                ));
            }
            let def = CteDef {
                cte: cte.clone().into(),
                visible: self.ctes.len(),
                scopes: self.scopes.len(),
            };
            self.ctes.push(def);
        }
        Ok(())
    }

    fn body(&mut self, body: &ast::QueryBody, query: &ast::Query) -> Result<(Query, Assigned)> {
        match body {
            ast::QueryBody::Select(select) => self.select(select, Some(query)),
            ast::QueryBody::Nested(inner) => self.body(inner, query),
            ast::QueryBody::Values(rows) => Ok((self.values(rows)?, Assigned::No)),
            ast::QueryBody::SetOperation { .. } => {
                let bound = self.set_operation(body)?;
                Ok((self.order_set(bound, query)?, Assigned::No))
            }
        }
    }

    /// One side of a set operation: no ORDER BY of its own.
    pub fn side(&mut self, body: &ast::QueryBody) -> Result<Query> {
        match body {
            ast::QueryBody::Select(select) => match self.select(select, None)? {
                (query, Assigned::No) => Ok(query),
                _ => Err(self.error(
                    10734,
                    "Variable assignment is not allowed in a statement containing a top level \
                     UNION, INTERSECT or EXCEPT operator.",
                )),
            },
            ast::QueryBody::Nested(inner) => self.side(inner),
            ast::QueryBody::Values(rows) => self.values(rows),
            ast::QueryBody::SetOperation { .. } => self.set_operation(body),
        }
    }

    pub fn offset(&mut self, rel: &mut Rel, query: &ast::Query) -> Result<()> {
        let Some(offset) = &query.offset else { return Ok(()) };
        self.refuse_in_recursion(461)?;
        let offset = self.bigint(offset)?;
        let fetch = query.fetch.as_ref().map(|e| self.bigint(e)).transpose()?;
        let input = Box::new(std::mem::replace(rel, Rel::OneRow));
        *rel = Rel::Offset { input, offset, fetch };
        Ok(())
    }

    fn bigint(&mut self, e: &ast::Expr) -> Result<Expr> {
        let bound = self.expr(e)?;
        self.coerce(bound, SqlType::BigInt, CastMode::Implicit)
    }

    /// A subquery of an expression: 1033, and 116 unless only its existence is asked for.
    pub fn subquery(&mut self, query: &ast::Query, exists: bool) -> Result<Query> {
        self.check_order_by(query, query.span.line)?;
        self.check_no_into(query)?;
        self.subqueries += 1;
        let bound = match exists.then(|| without_list(query)).flatten() {
            Some(query) => self.query(&query),
            None => self.query(query),
        };
        self.subqueries -= 1;
        let bound = bound?;
        if !exists && bound.output.len() != 1 {
            return Err(BindError::new(
                116,
                16,
                query.span.line.max(1),
                "Only one expression can be specified in the select list when the subquery is not \
                 introduced with EXISTS.",
            ));
        }
        Ok(bound)
    }

    /// One SELECT; `query` holds its ORDER BY and OFFSET when it is not a side of a set operation.
    fn select(
        &mut self,
        select: &ast::Select,
        query: Option<&ast::Query>,
    ) -> Result<(Query, Assigned)> {
        if select.distinct {
            self.refuse_in_recursion(460)?;
        }
        if select.top.is_some() {
            self.refuse_in_recursion(461)?;
        }
        if let [ast::TableRef::Changed { .. }] = &select.from[..] {
            return Err(self.misplaced_change(select, query));
        }
        let browsing = std::mem::take(&mut self.browsing);
        let beside = std::mem::take(&mut self.passes);
        let sets = select.group_by.iter().any(|item| !matches!(item, ast::GroupItem::Expr(_)));
        let around = std::mem::replace(&mut self.tells_apart, sets);
        let source = self.from(&select.from);
        self.tells_apart = around;
        let source = source?;
        let from_columns: HashSet<ColId> =
            source.tables.iter().flat_map(|t| t.columns.iter().map(|c| c.id)).collect();
        self.scopes.push(Scope::of(source.tables));
        self.selects.push(SelectState::new(self.scopes.len()));
        let result = self.select_in_scope(select, query, source.rel, &from_columns, browsing);
        self.selects.pop();
        let scope = self.scopes.pop();
        self.passes = self.passes.max(beside);
        if query.and_then(|q| q.for_clause.as_ref()).is_some_and(|f| f.mode == ast::ForMode::Auto) {
            self.auto_tables = scope.map_or_else(Vec::new, |s| s.tables);
        }
        result
    }

    #[inline(never)]
    fn select_in_scope(
        &mut self,
        select: &ast::Select,
        query: Option<&ast::Query>,
        mut rel: Rel,
        from_columns: &HashSet<ColId>,
        browsing: Browsing,
    ) -> Result<(Query, Assigned)> {
        let mut kept = None;
        if let Some(filter) = &select.filter {
            let predicate = self.in_clause(Clause::Where, |b| b.condition(filter));
            let predicate = self.gathered(predicate)?.unwrap_or_else(|| nowhere(SqlType::Bit));
            if select.group_all {
                let column = self.new_col();
                rel = self.marked(rel, predicate, column);
                kept = Some(column);
            } else {
                rel = Rel::Filter { input: Box::new(rel), predicate };
            }
        }
        let Groups { group, sets } = self.groups(&select.group_by)?;
        if select.group_all && sets.is_some() {
            return Err(BindError::unsupported("GROUP BY ALL with grouping sets", self.line));
        }
        let state = self.selects.last_mut().expect("pushed by select");
        state.groups = group.iter().map(|(_, e)| e.clone()).collect();
        state.mask = sets.as_ref().map(|s| s.mask);
        state.named = select.windows.clone();
        self.check_windows(&select.windows)?;
        let mut assigned = Vec::new();
        let mut items = Vec::new();
        self.in_clause(Clause::SelectList, |b| b.items(select, &mut items, &mut assigned))?;
        crate::sequence::one_number(items.iter_mut().map(|item| &mut item.expr));
        crate::sequence::one_number(assigned.iter_mut().map(|(_, value)| value));
        if !assigned.is_empty() && !items.is_empty() {
            return Err(BindError::new(
                141,
                15,
                select.span.line.max(1),
                "A SELECT statement that assigns a value to a variable must not be combined with \
                 data-retrieval operations.",
            ));
        }
        let mut having = match &select.having {
            Some(e) => Some(self.in_clause(Clause::Having, |b| b.condition(e))?),
            None => None,
        };
        let order_by = query.map_or(&[][..], |q| &q.order_by);
        let mut keys = self.in_clause(Clause::OrderBy, |b| b.order_keys(order_by, &items))?;

        let state = self.selects.last_mut().expect("pushed by select");
        let mut aggs = std::mem::take(&mut state.aggs);
        if let Some(kept) = kept {
            aggs.iter_mut().for_each(|agg| of_marked(agg, kept));
        }
        let mut windows = std::mem::take(&mut state.windows);
        self.check_orders(&aggs)?;
        let grouped = !select.group_by.is_empty() || !aggs.is_empty() || having.is_some();
        if grouped {
            self.refuse_in_recursion(467)?;
            let agg_of = AggScope {
                group: &group,
                nullable: sets.is_some(),
                from_columns,
                tables: &self.scopes,
            };
            for item in &mut items {
                agg_of.rewrite(&mut item.expr, Clause::SelectList, self.line)?;
            }
            for (_, value) in &mut assigned {
                agg_of.rewrite(value, Clause::SelectList, self.line)?;
            }
            if let Some(having) = &mut having {
                agg_of.rewrite(having, Clause::Having, self.line)?;
            }
            for key in &mut keys {
                if let Key::Expr(e, _) = key {
                    agg_of.rewrite(e, Clause::OrderBy, self.line)?;
                }
            }
            for w in &mut windows {
                let mut failed = None;
                let mut each = |e: &mut Expr| {
                    if let Err(err) = agg_of.rewrite(e, Clause::SelectList, self.line) {
                        failed.get_or_insert(err);
                    }
                };
                w.partition.iter_mut().for_each(&mut each);
                w.order.iter_mut().for_each(|k| each(&mut k.expr));
                w.func.for_each_arg_mut(&mut each);
                if let Some(err) = failed {
                    return Err(err);
                }
            }
            // GROUP BY () is the same as none.
            let scalar = group.is_empty() && sets.is_none();
            rel = Rel::Aggregate { input: Box::new(rel), group, aggs, scalar, sets };
            if let Some(predicate) = having {
                rel = Rel::Filter { input: Box::new(rel), predicate };
            }
        }
        if !windows.is_empty() {
            rel = self.passes_over(rel, windows)?;
        }
        if let Some(expr) = self.selects.last_mut().and_then(|state| state.numbered.take()) {
            rel = Rel::Sort { input: Box::new(rel), keys: vec![SortKey { expr, desc: false }] };
        }
        if !assigned.is_empty() {
            rel = self.order_and_top(rel, &[], keys, select, query)?;
            let query = Query { rel, output: Vec::new(), maxdop: 0, hints: Default::default() };
            return Ok((query, Assigned::Vars(assigned)));
        }

        // The list: a bare column keeps its id, everything else gets one.
        let mut exprs: Vec<(ColId, Expr)> = Vec::with_capacity(items.len());
        let mut output = Vec::with_capacity(items.len());
        let keyed = browsing != Browsing::No && !grouped && !select.distinct;
        let missing = match keyed && browsing == Browsing::Keys {
            true => self.missing_keys(&items),
            false => Vec::new(),
        };
        let mut unsettled = Vec::new();
        for item in items.into_iter().chain(missing) {
            let (ty, nullable) = (item.expr.ty, item.expr.nullable);
            let collation = self.collation_of(&item.expr);
            if self.selects.len() == 1 {
                unsettled.extend(self.has_collation(&item.expr, output.len() + 1).err());
            }
            let base = self.base_of(&item, browsing, keyed);
            self.breath.steps(16 + exprs.len())?;
            let id = self.place(&mut exprs, item.expr);
            if base.as_ref().is_some_and(|base| base.long) {
                self.long_columns.insert(id);
            }
            output.push(OutputColumn {
                base,
                collation,
                name: item.name,
                id,
                ty,
                nullable,
                identity: item.identity.filter(|_| !grouped),
                updatable: item.updatable && !grouped && !select.distinct,
            });
        }
        if let Some(error) = BindError::all(unsettled) {
            return Err(error);
        }
        let visible: HashSet<ColId> = output.iter().map(|c| c.id).collect();
        let mut sort = Vec::with_capacity(keys.len());
        for key in keys {
            let (expr, desc) = match key {
                Key::Item(i, desc) => {
                    if output[i].is_long() {
                        return Err(self.not_ordered());
                    }
                    (Expr::col(output[i].id, output[i].ty, output[i].nullable), desc)
                }
                Key::Expr(expr, desc) => {
                    self.ordered(&expr, "ORDER BY")?;
                    let (ty, nullable) = (expr.ty, expr.nullable);
                    let id = self.place(&mut exprs, expr);
                    if select.distinct && !visible.contains(&id) {
                        return Err(self.error(
                            145,
                            "ORDER BY items must appear in the select list if SELECT DISTINCT is \
                             specified.",
                        ));
                    }
                    (Expr::col(id, ty, nullable), desc)
                }
            };
            self.sortable(expr.ty, "ORDER BY")?;
            sort.push(SortKey { expr, desc });
        }
        rel = Rel::Project { input: Box::new(rel), exprs };
        if select.distinct {
            if let Some(name) = output.iter().find_map(semantics::typing::not_comparable) {
                return Err(self.error(
                    421,
                    format!("The {name} data type cannot be selected as DISTINCT because it is not comparable."),
                ));
            }
            let mut over: Vec<ColId> = Vec::new();
            for column in &output {
                if !over.contains(&column.id) {
                    over.push(column.id);
                }
            }
            rel = Rel::Distinct { input: Box::new(rel), over };
        }
        rel = self.order_and_top(rel, &sort, Vec::new(), select, query)?;
        Ok((Query { rel, output, maxdop: 0, hints: Default::default() }, Assigned::No))
    }

    /// The rows of FROM with one column more, which is 1 where WHERE holds.
    fn marked(&mut self, input: Rel, predicate: Expr, column: ColId) -> Rel {
        let scope = self.scopes.last().map_or(&[][..], |scope| &scope.tables);
        let columns = scope.iter().flat_map(|table| &table.columns);
        let mut exprs: Vec<(ColId, Expr)> =
            columns.map(|c| (c.id, Expr::col(c.id, c.ty, c.nullable))).collect();
        let branches = vec![(predicate, Expr::int(1))];
        let mark = Expr::new(ExprKind::Case { branches, otherwise: None }, SqlType::Int, true);
        exprs.push((column, mark));
        Rel::Project { input: Box::new(input), exprs }
    }

    /// Puts an expression into a projection, or finds it there; its id.
    fn place(&mut self, exprs: &mut Vec<(ColId, Expr)>, expr: Expr) -> ColId {
        let per_row = expr.any(&mut |e| match &e.kind {
            ExprKind::Func { func, .. } => func.is_per_row(),
            _ => false,
        });
        if !per_row && let Some((id, _)) = exprs.iter().find(|(_, e)| *e == expr) {
            return *id;
        }
        // A column of a row further out is produced here under an id of its own.
        let id = match expr.kind {
            ExprKind::Col(id) if !self.is_outer(id) => id,
            _ => self.new_col(),
        };
        self.note_collation(id, &expr);
        exprs.push((id, expr));
        id
    }

    fn is_outer(&self, id: ColId) -> bool {
        let around = self.scopes.split_last().map_or(&[][..], |(_, around)| around);
        let mut params = self.params.iter().flatten();
        // An aggregate may be a further query's, see crate::aggregate.
        let selects = self.selects.split_last().map_or(&[][..], |(_, around)| around);
        let mut aggregates = selects.iter().flat_map(|s| &s.aggs);
        around.iter().any(|scope| scope.has(id))
            || aggregates.any(|a| a.out == id)
            || params.any(|(_, e)| e.kind == ExprKind::Col(id))
            || self.recursion.as_ref().is_some_and(|r| r.has(id))
    }

    fn order_and_top(
        &mut self,
        mut rel: Rel,
        sort: &[SortKey],
        keys: Vec<Key>,
        select: &ast::Select,
        query: Option<&ast::Query>,
    ) -> Result<Rel> {
        let mut sort = sort.to_vec();
        sort.extend(keys.into_iter().filter_map(|k| match k {
            Key::Expr(expr, desc) => Some(SortKey { expr, desc }),
            Key::Item(..) => None,
        }));
        for key in &sort {
            self.ordered(&key.expr, "ORDER BY")?;
        }
        if !sort.is_empty() {
            rel = Rel::Sort { input: Box::new(rel), keys: sort.clone() };
        }
        if let Some(top) = &select.top {
            if query.is_some_and(|query| query.offset.is_some()) {
                return Err(BindError::new(
                    10741,
                    15,
                    self.line,
                    "A TOP can not be used in the same query or sub-query as a OFFSET.",
                )
                .with_state(2));
            }
            if top.with_ties && sort.is_empty() {
                return Err(BindError::new(
                    1062,
                    15,
                    self.line,
                    "The TOP N WITH TIES clause is not allowed without a corresponding ORDER BY \
                     clause.",
                ));
            }
            rel = self.top(rel, top, sort)?;
        }
        if let Some(query) = query {
            self.offset(&mut rel, query)?;
        }
        Ok(rel)
    }

    /// The count of TOP, a bigint or a float; it sees no columns of its own query: 4115. 1060 for a number with a fraction.
    pub fn top_count(&mut self, top: &ast::Top) -> Result<Expr> {
        if let ast::ExprKind::Column(c) = &top.count.kind
            && let Ok(found) = self.column(c, self.line)
            && self.scopes.last().is_some_and(|scope| scope.has(found.id))
        {
            let mut name: Vec<&str> = c.qualifier.iter().map(|q| q.value.as_str()).collect();
            name.push(&c.name.value);
            let text = format!(
                "The reference to column \"{}\" is not allowed in an argument to a TOP, OFFSET, or FETCH clause. Only \
                 references to columns at an outer scope or standalone expressions and subqueries are allowed here.",
                name.join(".")
            );
            return Err(BindError::new(4115, 15, top.count.span.line.max(1), text));
        }
        // What is around the query is seen: the row that APPLY or a subquery is for.
        let own = self.scopes.pop();
        let count = self.expr(&top.count);
        self.scopes.extend(own);
        let count = count?;
        let ty = if top.percent { SqlType::Float } else { SqlType::BigInt };
        if !top.percent
            && matches!(
                count.ty,
                SqlType::Decimal { .. } | SqlType::Float | SqlType::Real | SqlType::Money
            )
        {
            return Err(BindError::new(
                1060,
                15,
                self.line,
                "The number of rows provided for a TOP or FETCH clauses row count parameter must be an integer.",
            ));
        }
        self.coerce(count, ty, CastMode::Implicit)
    }

    /// TOP over a source.
    pub fn top(&mut self, rel: Rel, top: &ast::Top, sort: Vec<SortKey>) -> Result<Rel> {
        let count = self.top_count(top)?;
        let ties = top.with_ties.then_some(sort);
        Ok(Rel::Top { input: Box::new(rel), count, percent: top.percent, ties })
    }

    /// The select list: stars spread out, assignments apart.
    pub fn items(
        &mut self,
        select: &ast::Select,
        items: &mut Vec<Item>,
        assigned: &mut Vec<(VarId, Expr)>,
    ) -> Result<()> {
        self.few_enough(select.items.len())?;
        for item in &select.items {
            match item {
                ast::SelectItem::Wildcard { qualifier, span } => {
                    self.star(qualifier.as_ref(), span.line, items)?;
                }
                ast::SelectItem::Expr { expr, alias } => {
                    if let Some((identity, made)) = self.new_identity(select, expr)? {
                        let name = alias.as_ref().map(|a| a.value.clone());
                        let identity = Some(identity);
                        items.push(Item {
                            name,
                            expr: made,
                            identity,
                            updatable: false,
                            hidden: false,
                        });
                        continue;
                    }
                    let bound = self.expr(expr);
                    let bound = self
                        .gathered(bound)?
                        .unwrap_or_else(|| nowhere(SqlType::NVarChar(Len::N(1))));
                    let (name, (identity, updatable)) = match (&alias, &expr.kind) {
                        (Some(alias), ast::ExprKind::Column(c)) => {
                            (Some(alias.value.clone()), self.column_properties(c))
                        }
                        (Some(alias), _) => (Some(alias.value.clone()), (None, false)),
                        // A property of a column has no name.
                        (None, ast::ExprKind::Column(_)) if bound.is_method() => {
                            (None, (None, false))
                        }
                        (None, ast::ExprKind::Column(c)) => {
                            (Some(self.shown_name(c)), self.column_properties(c))
                        }
                        _ => (None, (None, false)),
                    };
                    items.push(Item { name, expr: bound, identity, updatable, hidden: false });
                }
                ast::SelectItem::Assign { variable, op, expr } => {
                    assigned.push(self.assignment(variable, *op, expr)?);
                }
            }
        }
        self.few_enough(items.len())
    }

    /// 1056.
    fn few_enough(&self, elements: usize) -> Result<()> {
        if elements <= SELECT_LIST_MAX {
            return Ok(());
        }
        let text = format!(
            "The number of elements in the select list exceeds the maximum allowed number of {SELECT_LIST_MAX} elements."
        );
        Err(BindError::new(1056, 15, self.line, text))
    }

    /// `@v op= expr` with the value converted to the variable's type.
    pub fn assignment(
        &mut self,
        variable: &ast::Variable,
        op: ast::AssignOp,
        expr: &ast::Expr,
    ) -> Result<(VarId, Expr)> {
        let var = self.variable(variable)?;
        let mut value = self.expr(expr)?;
        if let Some(op) = op.operator().and_then(crate::expr::arith_op) {
            value = self.arith(op, self.var_expr(var), value)?;
        }
        let value = self.coerce(value, self.frame.ty(var), CastMode::Implicit)?;
        let value = self.plain_text(value);
        Ok((var, value))
    }

    /// Whether a column is an identity (of the only table) and whether it may be written.
    fn column_properties(&self, c: &ast::ColumnRef) -> (Option<catalog::Identity>, bool) {
        let single = self.scopes.last().is_some_and(|s| s.tables.len() == 1);
        self.column(c, self.line)
            .map_or((None, false), |c| (c.identity.filter(|_| single), c.updatable))
    }

    fn star(
        &mut self,
        qualifier: Option<&ast::ObjectName>,
        line: u32,
        items: &mut Vec<Item>,
    ) -> Result<()> {
        let scope = self.scopes.last().expect("a SELECT has a scope");
        if scope.tables.is_empty() {
            return Err(BindError::new(263, 16, line.max(1), "Must specify table to select from."));
        }
        let parts: Vec<ast::Ident> = match qualifier {
            None => Vec::new(),
            Some(q) => q.schema.iter().cloned().chain([q.name.clone()]).collect(),
        };
        let single = scope.tables.len() == 1;
        let mut found = false;
        for table in &scope.tables {
            if !answers_to(table, &parts) {
                continue;
            }
            found = true;
            if let (Some(sources), Some(first)) = (&mut self.sources, table.columns.first()) {
                sources.shown_whole(first.id);
            }
            for c in table.columns.iter().filter(|c| !self.hidden.contains(&c.id)) {
                self.check_node_column(c.id, c.name.as_deref().unwrap_or(""))?;
                self.note_use(c, ColumnUse::Read);
                items.push(Item {
                    name: c.name.clone(),
                    expr: self.given(self.column_value(c)),
                    identity: c.identity.filter(|_| single),
                    updatable: c.updatable,
                    hidden: false,
                });
            }
        }
        if !found {
            return Err(BindError::new(
                107,
                15,
                line.max(1),
                format!(
                    "The column prefix '{}' does not match with a table name or alias name used in \
                     the query.",
                    qualifier.map_or(String::new(), ToString::to_string)
                ),
            ));
        }
        Ok(())
    }
}

/// GROUP BY ALL: an aggregate sees only the rows of its group that WHERE holds of.
fn of_marked(agg: &mut Aggregate, kept: ColId) {
    let arg = agg.arg.take().unwrap_or_else(|| Expr::int(1));
    let ty = arg.ty;
    let is_kept = Expr::compare(CompareOp::Eq, Expr::col(kept, SqlType::Int, true), Expr::int(1));
    let kind = ExprKind::Case { branches: vec![(is_kept, arg)], otherwise: None };
    agg.arg = Some(Expr::new(kind, ty, true));
}

/// Stands for an expression that could not be bound, in a statement that does not come to run.
pub(crate) fn nowhere(ty: SqlType) -> Expr {
    Expr::new(ExprKind::Const(Value::Null), ty, true)
}
