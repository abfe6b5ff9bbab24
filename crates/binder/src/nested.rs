//! Rows of a change as the source of an INSERT: `INSERT t SELECT ... FROM (UPDATE ... OUTPUT ...) AS d WHERE ...`.
//!
//! Invariant: what stands over the inner change's OUTPUT reads its columns alone: no other source, no query, no
//! aggregate. So it needs no plan, and rows that WHERE does not hold of are never kept.
//!
//! Sources: dml_table_source in "FROM (Transact-SQL)" and "INSERT (Transact-SQL)"; "OUTPUT clause (Transact-SQL)",
//! inserting data returned from an OUTPUT clause; the texts of 353 to 357, 5321 to 5323, 10716 to 10733 and 11734 are
//! those of sys.messages.

use catalog::TableDef;
use ir::*;
use syntax::ast;

use crate::context::*;
use semantics::tree::OverChange;
use semantics::{BindError, Result};

const WHEN_NESTED: &str =
    "when the FROM clause contains a nested INSERT, UPDATE, DELETE, or MERGE statement";

/// What 10716 to 10733 call the inner change.
const NESTED: &str = "nested INSERT, UPDATE, DELETE, or MERGE statement";

impl Binder<'_> {
    /// A change within FROM where there may be none: 10727 to 10733; 10731 within another.
    pub fn misplaced(&self, number: i32, line: u32) -> BindError {
        let number = if self.nested == Nested::Inside { 10731 } else { number };
        let place = match number {
            10727 => "on either side of a JOIN or APPLY operator",
            10728 => "as the table source of a PIVOT or UNPIVOT operator",
            10729 => {
                "in a SELECT statement that is not the immediate source of rows for an INSERT statement"
            }
            10730 => "in the FROM clause of an UPDATE or DELETE statement",
            10731 => "inside another nested INSERT, UPDATE, DELETE, or MERGE statement",
            10732 => "on either side of a UNION, INTERSECT, or EXCEPT operator",
            _ => "in the USING clause of a MERGE statement",
        };
        BindError::new(number, 15, line.max(1), format!("A {NESTED} is not allowed {place}."))
    }

    /// A side of a join: 10727 where it is a change.
    pub fn check_operand(&self, item: &ast::TableRef) -> Result<()> {
        match item {
            ast::TableRef::Changed { change, .. } => Err(self.misplaced(10727, change.span.line)),
            _ => Ok(()),
        }
    }

    /// A SELECT over a change that gives no INSERT its rows; `query` is None for a side of a set operation.
    #[cold]
    pub fn misplaced_change(&self, select: &ast::Select, query: Option<&ast::Query>) -> BindError {
        let clauses = query.map_or(Ok(()), |query| self.check_clauses(select, query));
        let number = if query.is_some() { 10729 } else { 10732 };
        clauses.err().unwrap_or_else(|| self.misplaced(number, select.span.line))
    }

    fn not_when_nested(&self, number: i32, what: &str) -> BindError {
        BindError::new(number, 15, self.line, format!("{what} {WHEN_NESTED}."))
    }

    /// The clauses that a SELECT over a change cannot have: 10717, 10722.
    fn check_clauses(&self, select: &ast::Select, query: &ast::Query) -> Result<()> {
        let clauses = [
            ("TOP or OFFSET", select.top.is_some() || query.offset.is_some()),
            ("INTO", select.into.is_some()),
            ("GROUP BY", !select.group_by.is_empty() || select.group_all),
            ("HAVING", select.having.is_some()),
            ("ORDER BY", !query.order_by.is_empty()),
            ("FOR", query.for_clause.is_some()),
        ];
        if let Some((clause, _)) = clauses.into_iter().find(|(_, is_there)| *is_there) {
            return Err(self.not_when_nested(10717, &format!("The {clause} clause is not allowed")));
        }
        if select.distinct {
            return Err(self.not_when_nested(10722, "The DISTINCT keyword is not allowed"));
        }
        Ok(())
    }

    /// What an INSERT around a change must be, before its target is looked at: 354, 10717, 10722.
    #[cold]
    pub fn check_around_change(&mut self, insert: &ast::Insert, over: &OverChange) -> Result<()> {
        if self.nested == Nested::Inside {
            return Err(self.misplaced(10731, over.change.span.line));
        }
        self.check_clauses(over.select, over.query)?;
        if insert.output.as_ref().is_some_and(|output| output.into.is_some()) {
            return Err(self.not_when_nested(10717, "The OUTPUT INTO clause is not allowed"));
        }
        if insert.top.is_some() {
            return Err(BindError::unsupported(
                "INSERT TOP ... SELECT from a nested change",
                self.line,
            ));
        }
        if let ast::Target::Table { name, .. } = &insert.target {
            let is_cte = |cte: &ast::Cte| catalog::same_name(&cte.name.value, &name.name.value);
            let cte = name.schema.is_none() && insert.with.iter().any(is_cte);
            if cte || self.is_view(name) {
                let text = format!(
                    "The target '{name}' of the INSERT statement cannot be a view or common table expression {WHEN_NESTED}."
                );
                return Err(BindError::new(354, 16, self.line, text));
            }
        }
        Ok(())
    }

    /// The source of an INSERT into `table` that gives `width` of its columns, by `given`.
    pub fn changed_rows(
        &mut self,
        insert: &ast::Insert,
        over: &OverChange,
        table: &TableDef,
        given: &[Option<usize>],
        width: usize,
    ) -> Result<InsertSource> {
        self.check_target_around(&shown_target(&insert.target), table)?;
        let maxdop = self.query_hints(&over.query.option)?;
        self.maxdop = self.maxdop.max(maxdop);
        self.push_ctes(&over.query.with);
        self.nested = Nested::Inside;
        let change = self.inner_change(over.change);
        self.nested = Nested::None;
        let change = change?;
        let told = change.output().and_then(Output::told).unwrap_or_default();
        let output: Vec<OutputColumn> = told.iter().map(|(column, _)| column.clone()).collect();
        for (column, expr) in told {
            self.note_collation(column.id, expr);
        }
        let rows = Query { rel: Rel::OneRow, output, maxdop: 0, hints: ir::QueryHints::default() };
        let alias = &over.alias.value;
        let source = self.expose_as(rows, alias, alias, over.columns)?;
        self.scopes.push(Scope::of(source.tables));
        self.selects.push(SelectState::new(self.scopes.len()));
        self.nested = Nested::Over;
        let list = self.list_over_change(over.select);
        self.nested = Nested::None;
        self.selects.pop();
        self.scopes.pop();
        let (filter, values) = list?;
        self.check_given(insert, table, values.len(), width, (120, 121))?;
        let row = self.insert_row(table, given, values.into_iter().map(Some).collect())?;
        Ok(InsertSource::Changed(Box::new(ChangedRows { change, filter, row })))
    }

    /// The target of an INSERT around a change: 355, 356, 357.
    fn check_target_around(&self, shown: &str, table: &TableDef) -> Result<()> {
        let refused = |number: i32, what: &str, found: String| {
            let text = format!(
                "The target table '{shown}' of the INSERT statement {what} {WHEN_NESTED}.{found}"
            );
            Err(BindError::new(number, 16, self.line, text))
        };
        if self.has_triggers(table) {
            return refused(355, "cannot have any enabled triggers", String::new());
        }
        if let Some(rule) = self.rule_of(table) {
            return refused(357, "cannot have any enabled rules", format!(" Found rule '{rule}'."));
        }
        if let Some(key) = self.reference_of(table) {
            let what = "cannot be on either side of a (primary key, foreign key) relationship";
            return refused(356, what, format!(" Found reference constraint '{key}'."));
        }
        Ok(())
    }

    /// Has a table enabled triggers of any kind?
    pub fn has_triggers(&self, table: &TableDef) -> bool {
        let is_enabled = |t: &catalog::TriggerDef| !t.is_disabled();
        !table.is_private()
            && self
                .names
                .triggers(table.object_id)
                .iter()
                .any(|module| module.trigger.as_ref().is_some_and(is_enabled))
    }

    /// The name of a foreign key of a table, or of another's that refers to it.
    pub fn reference_of(&self, table: &TableDef) -> Option<String> {
        if let Some(key) = table.foreign_keys.first() {
            return Some(key.name.to_string());
        }
        table.referencing.iter().filter_map(|id| self.names.table_by_id(*id)).find_map(|child| {
            let key = child.foreign_keys.iter().find(|key| key.table == table.object_id)?;
            Some(key.name.to_string())
        })
    }

    /// The change itself: 483, 10716, 10718, 10720, 10721.
    fn inner_change(&mut self, change: &ast::Statement) -> Result<StmtKind> {
        use ast::StatementKind as S;
        let (output, option, current) = match &change.kind {
            S::Insert(insert) => {
                let option = match &insert.source {
                    ast::InsertSource::Query(query) => &query.option,
                    _ => &insert.option,
                };
                (&insert.output, option, false)
            }
            S::Update(update) => (&update.output, &update.option, update.current_of.is_some()),
            S::Delete(delete) => (&delete.output, &delete.option, delete.current_of.is_some()),
            S::Merge(merge) => (&merge.output, &merge.option, false),
            _ => return Err(self.error(102, "Incorrect syntax near '('.")),
        };
        let line = change.span.line.max(1);
        let refused = |number, text| Err(BindError::new(number, 15, line, text));
        match output {
            None => return refused(10716, format!("A {NESTED} must have an OUTPUT clause.")),
            Some(output) if output.into.is_some() => {
                return refused(
                    10720,
                    format!("An OUTPUT INTO clause is not allowed in a {NESTED}."),
                );
            }
            Some(_) => {}
        }
        if !option.is_empty() {
            return refused(10718, format!("Query hints are not allowed in {NESTED}s."));
        }
        if current {
            let text = format!("The WHERE CURRENT OF clause is not allowed in a {NESTED}.");
            return refused(10721, text);
        }
        if let S::Insert(insert) = &change.kind
            && let ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_) =
                &insert.source
        {
            let text = "The OUTPUT clause cannot be used in an INSERT...EXEC statement.";
            return Err(BindError::new(483, 16, line, text));
        }
        let bound = match &change.kind {
            S::Insert(insert) => StmtKind::Insert(Box::new(self.insert(insert)?)),
            S::Update(update) => StmtKind::Update(Box::new(self.update(update)?)),
            S::Delete(delete) => StmtKind::Delete(Box::new(self.delete(delete)?)),
            S::Merge(merge) => StmtKind::Merge(Box::new(self.merge(merge)?)),
            _ => StmtKind::Nothing,
        };
        let fires = match &bound {
            StmtKind::Insert(insert) => insert.fires.is_some(),
            StmtKind::Update(update) => update.fires.is_some(),
            StmtKind::Delete(delete) => delete.fires.is_some(),
            StmtKind::Merge(merge) => !merge.fires.is_empty(),
            _ => false,
        };
        if fires {
            // Its own are 334 already: these are triggers of what follows by foreign keys.
            let what = "a nested change after which rows of other tables fire triggers";
            return Err(BindError::unsupported(what, line));
        }
        Ok(bound)
    }

    /// WHERE and the select list, over the scope that is open.
    fn list_over_change(&mut self, select: &ast::Select) -> Result<(Option<Expr>, Vec<Expr>)> {
        let filter = match &select.filter {
            Some(filter) => Some(self.in_clause(Clause::Where, |b| b.condition(filter))?),
            None => None,
        };
        let (mut items, mut assigned) = (Vec::new(), Vec::new());
        self.in_clause(Clause::SelectList, |b| b.items(select, &mut items, &mut assigned))?;
        if !assigned.is_empty() {
            return Err(self.error(102, "Incorrect syntax near '='."));
        }
        let state = self.selects.last();
        if state.is_some_and(|state| !state.aggs.is_empty()) {
            return Err(self.not_in("An aggregate function is", 5322, 16, "SELECT"));
        }
        if state.is_some_and(|state| !state.windows.is_empty()) {
            let ranked = select.items.iter().find_map(windowed).unwrap_or_default();
            return Err(self.not_in(&format!("The '{ranked}' function is"), 5321, 16, "SELECT"));
        }
        let values: Vec<Expr> = items.into_iter().map(|item| item.expr).collect();
        for value in &values {
            self.check_over_change(value, "SELECT")?;
        }
        if let Some(filter) = &filter {
            self.check_over_change(filter, "WHERE")?;
        }
        Ok((filter, values))
    }

    fn not_in(&self, what: &str, number: i32, severity: u8, clause: &str) -> BindError {
        let text = format!("{what} not allowed in the {clause} clause {WHEN_NESTED}.");
        BindError::new(number, severity, self.line, text)
    }

    /// What an expression over a change cannot have: 5323, 11734.
    fn check_over_change(&self, expr: &Expr, clause: &str) -> Result<()> {
        let mut found = None;
        expr.any(&mut |e| {
            found = match &e.kind {
                ExprKind::Subquery { .. } => Some(self.not_in("Subqueries are", 5323, 15, clause)),
                ExprKind::Func { func: FuncId::NextValue(_), .. } => {
                    Some(self.not_in("NEXT VALUE FOR function is", 11734, 16, clause))
                }
                _ => None,
            };
            found.is_some()
        });
        found.map_or(Ok(()), Err)
    }

    /// 353: a function that is not bound to its schema is taken to read data.
    pub fn check_function_over_change(
        &self,
        name: &ast::ObjectName,
        create: &ast::CreateFunction,
    ) -> Result<()> {
        if self.nested != Nested::Over || create.options.iter().any(|o| o == "SCHEMABINDING") {
            return Ok(());
        }
        let clause = match self.selects.last().map(|select| select.clause) {
            Some(Clause::Where) => "WHERE",
            _ => "SELECT",
        };
        let text = format!(
            "Function '{name}' is not allowed in the {clause} clause {WHEN_NESTED}. This is because the function performs \
             user or system data access, or is assumed to perform this access. By default, a function is assumed to \
             perform data access if it is not schema-bound."
        );
        Err(BindError::new(353, 16, self.line, text))
    }
}

/// The target of a change as it is written.
pub(crate) fn shown_target(target: &ast::Target) -> String {
    match target {
        ast::Target::Table { name, .. } => name.to_string(),
        ast::Target::Variable(v) => v.name.clone(),
    }
}

/// The name of a function with OVER that an item is.
fn windowed(item: &ast::SelectItem) -> Option<String> {
    let ast::SelectItem::Expr { expr, .. } = item else { return None };
    match &expr.kind {
        ast::ExprKind::Function(f) if f.over.is_some() => {
            Some(f.name.name.value.to_ascii_lowercase())
        }
        _ => None,
    }
}
