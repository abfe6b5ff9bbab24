//! INSERT, UPDATE, DELETE and OUTPUT.

use std::sync::Arc;

use catalog::{Event, Operation, TableDef};
use syntax::ast;
use types::{SqlType, Value};

use crate::context::*;
use crate::error::{BindError, Result};
use crate::from::Source;
use crate::hints;
use crate::ir::*;
use crate::names::ObjectName;
use crate::updatable::Mapped;

/// The rows that an UPDATE or DELETE changes.
struct ChangeSource {
    table: Arc<TableDef>,
    hints: TableHints,
    rel: Rel,
    locator: ColId,
    old: Vec<ColId>,
    tables: Vec<ScopeTable>,
    /// Of a target that is no table: what its columns are in the table.
    mapped: Option<Mapped>,
}

impl Binder<'_> {
    /// `database.schema.table`
    pub fn shown_table(&self, table: &TableDef) -> String {
        let database = match table.is_private() {
            true => "tempdb".to_string(),
            false => self.names.database(),
        };
        format!("{database}.{}.{}", table.schema, table.name)
    }

    /// Rows of a history come from the changes of its table alone: 13559 to 13562.
    pub fn check_history(&self, table: &TableDef, number: i32) -> Result<()> {
        if !matches!(table.temporal, catalog::Temporal::History { .. }) {
            return Ok(());
        }
        let shown = self.shown_table(table);
        let text = match number {
            13559 => format!("Cannot insert rows in a temporal history table '{shown}'."),
            13560 => format!("Cannot delete rows from a temporal history table '{shown}'."),
            13561 => format!("Cannot update rows in a temporal history table '{shown}'."),
            _ => format!("Cannot perform MERGE operation on temporal history table '{shown}'."),
        };
        Err(self.error(number, text))
    }

    /// The table that a statement changes; 208.
    fn target_table(&self, name: &ast::ObjectName) -> Result<Arc<TableDef>> {
        let wanted = ObjectName::from(name);
        let line = name.span.line.max(1);
        if name.schema.is_none() && self.frame.table(&name.name.value).is_some() {
            return Err(BindError::new(
                286,
                16,
                line,
                "The logical tables INSERTED and DELETED cannot be updated.",
            ));
        }
        if let (Some(_), Some(table)) = (self.elsewhere(&wanted), self.table(&wanted))
            && !table.is_private()
        {
            let what = format!("change of rows in another database ({name})");
            return Err(BindError::unsupported(what, line));
        }
        self.table(&wanted).ok_or_else(|| match self.names.view(&wanted) {
            Some(_) => BindError::unsupported(format!("change of rows of view {name} here"), line),
            None => BindError::invalid_object(name, line),
        })
    }

    /// The table that a statement changes, with its hints: 208, 1087, 10700.
    pub fn target<'t>(
        &self,
        target: &'t ast::Target,
    ) -> Result<(Arc<TableDef>, &'t [ast::TableHint])> {
        match target {
            ast::Target::Table { name, hints } => Ok((self.target_table(name)?, hints)),
            ast::Target::Variable(v) => Ok((self.writable_variable(v)?, &[])),
        }
    }

    fn writable_variable(&self, v: &ast::Variable) -> Result<Arc<TableDef>> {
        let table = self.table_variable(v)?;
        if table.readonly {
            return Err(BindError::new(
                10700,
                16,
                v.span.line.max(1),
                format!(
                    "The table-valued parameter \"{}\" is READONLY and cannot be modified.",
                    v.name
                ),
            ));
        }
        Ok(table.def.clone())
    }

    pub fn insert(&mut self, insert: &ast::Insert) -> Result<Insert> {
        let through = self.insert_through(&insert.target, &insert.columns)?;
        let target_hints = match &insert.target {
            ast::Target::Table { hints, .. } => hints.as_slice(),
            ast::Target::Variable(_) => &[],
        };
        let (table, through) = match through {
            Some((table, ordinals)) => (table, Some(ordinals)),
            None => (self.target(&insert.target)?.0, None),
        };
        self.check_history(&table, 13559)?;
        let hints = hints::table_hints(target_hints)?;
        let maxdop = self.query_hints(&insert.option)?;
        self.maxdop = maxdop;
        self.push_ctes(&insert.with);
        let ordinals = match through {
            Some(ordinals) => ordinals,
            None => self.insert_columns(&table, &insert.columns)?,
        };
        let identity = table.identity();
        let explicit_identity = identity.is_some_and(|i| ordinals.contains(&Some(i)));
        // What each column gets: a position among the given values, or its default.
        let mut given: Vec<Option<usize>> = vec![None; table.columns.len()];
        for (position, ordinal) in ordinals.iter().enumerate() {
            if let Some(ordinal) = ordinal {
                given[*ordinal] = Some(position);
            }
        }
        let width = ordinals.len();
        let listed = !insert.columns.is_empty();
        let source = match &insert.source {
            ast::InsertSource::DefaultValues => {
                let row = self.insert_row(&table, &vec![None; table.columns.len()], Vec::new())?;
                InsertSource::Values(vec![row])
            }
            ast::InsertSource::Values(rows) => {
                let mut out = Vec::with_capacity(rows.len());
                for row in rows {
                    self.check_width(row.len(), width, listed, (109, 110))?;
                    let mut values = Vec::with_capacity(row.len());
                    for value in row {
                        values.push(match value {
                            ast::InsertValue::Default(_) => None,
                            ast::InsertValue::Expr(e) => Some(self.expr(e)?),
                        });
                    }
                    out.push(self.insert_row(&table, &given, values)?);
                }
                match &insert.top {
                    None => InsertSource::Values(out),
                    Some(top) => self.first_of_values(&table, out, top, maxdop)?,
                }
            }
            ast::InsertSource::Query(query) => {
                let mut query = self.query(query)?;
                if let Some(top) = &insert.top {
                    query.rel = self.top(query.rel, top, Vec::new())?;
                }
                self.check_width(query.output.len(), width, listed, (120, 121))?;
                let values =
                    query.output.iter().map(|c| Some(Expr::col(c.id, c.ty, c.nullable))).collect();
                let row = self.insert_row(&table, &given, values)?;
                InsertSource::Query { query, row }
            }
            ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_)
                if insert.top.is_some() =>
            {
                return Err(BindError::unsupported("INSERT TOP ... EXEC", self.line));
            }
            ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_) => {
                let exec = match &insert.source {
                    ast::InsertSource::ExecuteString(text) => self.exec_text(text)?,
                    ast::InsertSource::Execute(exec) => self.exec(exec)?,
                    _ => unreachable!("the arm's own sources"),
                };
                let columns: Vec<OutputColumn> = ordinals
                    .iter()
                    .map(|ordinal| {
                        let column = ordinal.map(|o| &table.columns[o]);
                        OutputColumn {
                            collation: types::Collation::default(),
                            name: column.map(|c| c.name.to_string()),
                            id: self.new_col(),
                            ty: column.map_or(SqlType::Int, |c| c.ty),
                            nullable: true,
                            identity: false,
                            updatable: false,
                        }
                    })
                    .collect();
                let values = columns.iter().map(|c| Some(Expr::col(c.id, c.ty, true))).collect();
                let row = self.insert_row(&table, &given, values)?;
                InsertSource::Exec { exec: Box::new(exec), columns, row }
            }
        };
        let output = match &insert.output {
            Some(output) => Some(self.output(output, &table, Vec::new(), true, false)?),
            None => None,
        };
        let fires = self.fires(&table, Event::Insert, output.as_ref())?;
        let block = self.blocks(&table, &[], &[Operation::AfterInsert])?;
        if let (InsertSource::Exec { .. }, Some(block)) = (&source, &block)
            && block.reads_tables()
        {
            let what = "INSERT ... EXEC into a table whose security policy reads tables";
            return Err(BindError::unsupported(what, self.line));
        }
        Ok(Insert { table, hints, source, explicit_identity, output, fires, block })
    }

    /// INSERT TOP (n) ... VALUES: whole rows of the table, of which only the first are inserted.
    fn first_of_values(
        &mut self,
        table: &TableDef,
        rows: Vec<Vec<Expr>>,
        top: &ast::Top,
        maxdop: u32,
    ) -> Result<InsertSource> {
        let columns: Vec<ColId> = table.columns.iter().map(|_| self.new_col()).collect();
        let column = |(id, c): (&ColId, &catalog::ColumnDef)| OutputColumn {
            collation: c.collation,
            name: Some(c.name.to_string()),
            id: *id,
            ty: c.ty,
            nullable: true,
            identity: false,
            updatable: false,
        };
        let output: Vec<OutputColumn> = columns.iter().zip(&table.columns).map(column).collect();
        let row = output.iter().map(|c| Expr::col(c.id, c.ty, true)).collect();
        let rel = self.top(Rel::Values { rows, columns }, top, Vec::new())?;
        Ok(InsertSource::Query {
            query: Query { rel, output, maxdop, hints: self.plan_hints },
            row,
        })
    }

    /// What OPTION says: MAXDOP is returned.
    pub fn query_hints(&mut self, hints: &[ast::QueryHint]) -> Result<u32> {
        if let Some(max) = hints::maxrecursion(hints)? {
            self.maxrecursion = max;
        }
        hints::for_planner(hints, &mut self.plan_hints);
        hints::maxdop(hints)
    }

    pub fn push_ctes(&mut self, with: &[ast::Cte]) {
        for cte in with {
            let def = CteDef {
                cte: cte.clone().into(),
                visible: self.ctes.len(),
                scopes: self.scopes.len(),
            };
            self.ctes.push(def);
        }
    }

    /// Ordinals of the columns that the statement gives values for, in its order: 207, 264.
    pub fn insert_columns(
        &self,
        table: &TableDef,
        columns: &[ast::Ident],
    ) -> Result<Vec<Option<usize>>> {
        if columns.is_empty() {
            return Ok((0..table.columns.len())
                .filter(|i| table.columns[*i].is_given())
                .map(Some)
                .collect());
        }
        let mut ordinals = Vec::with_capacity(columns.len());
        for column in columns {
            let line = column.span.line.max(1);
            let ordinal = table
                .column(&column.value)
                .ok_or_else(|| BindError::invalid_column(&column.value, line))?;
            if ordinals.contains(&Some(ordinal)) {
                return Err(BindError::new(
                    264,
                    16,
                    line,
                    format!(
                        "The column name '{}' is specified more than once in the SET clause or \
                         column list of an INSERT. A column cannot be assigned more than one value \
                         in the same clause. Modify the clause to make sure that a column is \
                         updated only once. If this statement updates or inserts columns into a \
                         view, column aliasing can conceal the duplication in your code.",
                        column.value
                    ),
                ));
            }
            ordinals.push(Some(ordinal));
        }
        Ok(ordinals)
    }

    pub fn check_width(
        &self,
        values: usize,
        columns: usize,
        listed: bool,
        numbers: (i32, i32),
    ) -> Result<()> {
        if values == columns {
            return Ok(());
        }
        if !listed {
            return Err(self.error(
                213,
                "Column name or number of supplied values does not match table definition.",
            ));
        }
        let (number, text) = match (numbers.0, values < columns) {
            (109, true) => (
                109,
                "There are more columns in the INSERT statement than values specified in the \
                 VALUES clause. The number of values in the VALUES clause must match the number of \
                 columns specified in the INSERT statement.",
            ),
            (109, false) => (
                110,
                "There are fewer columns in the INSERT statement than values specified in the \
                 VALUES clause. The number of values in the VALUES clause must match the number of \
                 columns specified in the INSERT statement.",
            ),
            (_, true) => (
                120,
                "The select list for the INSERT statement contains fewer items than the insert \
                 list. The number of SELECT values must match the number of INSERT columns.",
            ),
            (_, false) => (
                121,
                "The select list for the INSERT statement contains more items than the insert \
                 list. The number of SELECT values must match the number of INSERT columns.",
            ),
        };
        Err(self.error(number, text))
    }

    /// One value per column of the table, converted: given ones, defaults, the identity.
    pub fn insert_row(
        &mut self,
        table: &TableDef,
        given: &[Option<usize>],
        mut values: Vec<Option<Expr>>,
    ) -> Result<Vec<Expr>> {
        let mut row = Vec::with_capacity(table.columns.len());
        for (ordinal, column) in table.columns.iter().enumerate() {
            if column.is_made() {
                // Whoever writes the row fills it in.
                if let Some(Some(_)) = given[ordinal].map(|position| values[position].take()) {
                    return Err(self.made_column(table, column, true));
                }
                row.push(Expr::constant(Value::Null, column.ty));
                continue;
            }
            let value = match given[ordinal] {
                Some(position) => match values[position].take() {
                    Some(value) => value,
                    None => self.default_value(table, ordinal)?,
                },
                None if column.identity.is_some() => {
                    Expr::new(ExprKind::NextIdentity, column.ty, false)
                }
                None => self.default_value(table, ordinal)?,
            };
            row.push(self.coerce(value, column.ty, CastMode::Store { column: ordinal as u16 })?);
        }
        Ok(row)
    }

    /// 271, 272, 273, 13536, 13537: a value for a column whose values the engine makes.
    fn made_column(
        &self,
        table: &TableDef,
        column: &catalog::ColumnDef,
        insert: bool,
    ) -> BindError {
        if column.generated.is_some() {
            let shown = self.shown_table(table);
            return match insert {
                true => self.error(
                    13536,
                    format!(
                        "Cannot insert an explicit value into a GENERATED ALWAYS column in table '{shown}'. Use INSERT \
                         with a column list to exclude the GENERATED ALWAYS column, or insert a DEFAULT into GENERATED \
                         ALWAYS column."
                    ),
                ),
                false => self.error(
                    13537,
                    format!("Cannot update GENERATED ALWAYS columns in table '{shown}'."),
                ),
            };
        }
        match (column.rowversion, insert) {
            (false, _) => self.error(
                271,
                format!(
                    "The column \"{}\" cannot be modified because it is either a computed column or \
                     is the result of a UNION operator.",
                    column.name
                ),
            ),
            (true, true) => self.error(
                273,
                "Cannot insert an explicit value into a timestamp column. Use INSERT with a column \
                 list to exclude the timestamp column, or insert a DEFAULT into the timestamp column.",
            ),
            (true, false) => self.error(272, "Cannot update a timestamp column."),
        }
    }

    /// The DEFAULT of a column, or NULL (a NOT NULL column without one fails when it is run, 515).
    pub fn default_value(&mut self, table: &TableDef, ordinal: usize) -> Result<Expr> {
        let column = &table.columns[ordinal];
        match &column.default {
            Some(default) => self.default_text(&default.text),
            None => Ok(Expr::constant(Value::Null, column.ty)),
        }
    }

    /// Binds the text of a DEFAULT: it sees no columns.
    pub fn default_text(&mut self, text: &str) -> Result<Expr> {
        let parsed =
            syntax::parse_expression(text, &syntax::LexOptions::default()).map_err(|errors| {
                match errors.into_iter().next() {
                    Some(e) => BindError::new(e.number, 15, self.line, e.message),
                    None => self.error(102, format!("Incorrect syntax near '{text}'.")),
                }
            })?;
        let scopes = std::mem::take(&mut self.scopes);
        let selects = std::mem::take(&mut self.selects);
        let bound = self.expr(&parsed);
        self.scopes = scopes;
        self.selects = selects;
        bound
    }

    /// FROM of an UPDATE or DELETE: the target among it, with its locator.
    fn change_source(
        &mut self,
        target: &ast::Target,
        from: &[ast::TableRef],
        filter: Option<&ast::Expr>,
        current_of: Option<&ast::CursorName>,
        top: Option<&ast::Top>,
        set: Option<&[String]>,
    ) -> Result<ChangeSource> {
        let target_hints = match target {
            ast::Target::Table { hints, .. } => hints.as_slice(),
            ast::Target::Variable(v) => {
                self.writable_variable(v)?;
                &[]
            }
        };
        let target_hints_bound = hints::table_hints(target_hints)?;
        let locator = self.new_col();
        let mut mapped = None;
        let through = match target {
            ast::Target::Table { name, .. } if from.is_empty() => {
                let cte = name.schema.is_none().then(|| self.find_cte(&name.name.value)).flatten();
                match cte {
                    Some(index) => Some(self.cte(index, &name.name)?),
                    None if self.is_view(name, set.is_some())? => {
                        Some(self.named(name, None, &[])?)
                    }
                    None => None,
                }
            }
            _ => None,
        };
        let (mut rel, tables, old) = if let Some(mut source) = through {
            let scope = source.tables[0].clone();
            let (old, names) =
                self.through(&mut source.rel, &scope, set, locator, target_hints_bound)?;
            mapped = Some(names);
            (source.rel, source.tables, old)
        } else if from.is_empty() {
            let (table, _) = self.target(target)?;
            let (mut get, scope) = self.get(table, None, target_hints)?;
            get.locator = Some(locator);
            let old = get.columns.clone();
            (self.filtered(get)?, vec![scope], old)
        } else {
            let source = self.from(from)?;
            let (parts, shown, line) = match target {
                ast::Target::Table { name, .. } => {
                    let parts = name.schema.iter().cloned().chain([name.name.clone()]).collect();
                    (parts, name.to_string(), name.span.line.max(1))
                }
                ast::Target::Variable(v) => {
                    let name = ast::Ident { value: v.name.clone(), quoted: false, span: v.span };
                    (vec![name], v.name.clone(), v.span.line.max(1))
                }
            };
            let (first, source) = match self.find_target(&parts, &shown, line, &source) {
                Ok(first) => (first, source),
                // A target that FROM does not name is one more table of it.
                Err(error) => {
                    let Ok((table, _)) = self.target(target) else { return Err(error) };
                    let (get, scope) = self.get(table, None, target_hints)?;
                    let first = get.columns[0];
                    let (left, right) = (Box::new(self.filtered(get)?), Box::new(source.rel));
                    let rel = Rel::Join { kind: JoinKind::Cross, left, right, on: None };
                    let tables = std::iter::once(scope).chain(source.tables).collect();
                    (first, Source { rel, tables })
                }
            };
            let mut rel = source.rel;
            let mut old = None;
            set_locator(&mut rel, first, locator, target_hints_bound, &mut old);
            let old = match old {
                Some(old) => old,
                // A view, a common table expression or a derived table among FROM's.
                None => {
                    let scope = source.tables.iter().find(|t| t.columns[0].id == first).cloned();
                    let Some(scope) = scope else {
                        return Err(BindError::invalid_object(&shown, line));
                    };
                    let (old, names) =
                        self.through(&mut rel, &scope, set, locator, target_hints_bound)?;
                    mapped = Some(names);
                    old
                }
            };
            (rel, source.tables, old)
        };
        self.scopes.push(Scope { tables: tables.clone() });
        self.selects.push(SelectState::new());
        let result = (|| {
            if let Some(filter) = filter {
                let predicate = self.in_clause(Clause::Where, |b| b.condition(filter))?;
                let input = Box::new(std::mem::replace(&mut rel, Rel::OneRow));
                rel = Rel::Filter { input, predicate };
            }
            if let Some(cursor) = current_of {
                let (table, _) = find_get(&rel, locator).expect("the locator was just placed");
                let predicate = self.current_of(cursor, &table, locator, &old)?;
                let input = Box::new(std::mem::replace(&mut rel, Rel::OneRow));
                rel = Rel::Filter { input, predicate };
            }
            if let Some(top) = top {
                let input = std::mem::replace(&mut rel, Rel::OneRow);
                rel = self.top(input, top, Vec::new())?;
            }
            Ok(())
        })();
        self.selects.pop();
        self.scopes.pop();
        result?;
        let (table, hints) = find_get(&rel, locator).expect("the locator was just placed");
        Ok(ChangeSource { table, hints, rel, locator, old, tables, mapped })
    }

    /// The first column's id of the FROM item that the target names (alias, else table); 208.
    fn find_target(
        &self,
        parts: &[ast::Ident],
        shown: &str,
        line: u32,
        Source { rel, tables }: &Source,
    ) -> Result<ColId> {
        let name = parts.last().map_or("", |part| &part.value);
        let found = tables
            .iter()
            .find(|t| answers_to(t, parts))
            .or_else(|| tables.iter().find(|t| catalog::same_name(&t.name, name)));
        if let Some(found) = found {
            return Ok(found.columns[0].id);
        }
        // Under an alias the table still answers to its own name, if it is there once.
        let mut gets = Vec::new();
        tables_of(rel, &mut gets);
        gets.retain(|get| catalog::same_name(&get.table.name, name));
        if let [get] = gets[..] {
            return Ok(get.columns[0]);
        }
        Err(BindError::invalid_object(shown, line))
    }

    pub fn update(&mut self, update: &ast::Update) -> Result<Update> {
        self.push_ctes(&update.with);
        let maxdop = self.query_hints(&update.option)?;
        let names = update.set.iter().filter_map(|s| s.column.as_ref());
        let names: Vec<String> = names.map(|c| c.name.value.clone()).collect();
        let ChangeSource { table, hints, rel, locator, old, tables, mapped } = self.change_source(
            &update.target,
            &update.from,
            update.filter.as_ref(),
            update.current_of.as_ref(),
            update.top.as_ref(),
            Some(&names),
        )?;
        self.check_history(&table, 13561)?;
        let target_column = old.first().copied();
        self.scopes.push(Scope { tables: tables.clone() });
        let set = self.update_set(&update.set, &table, mapped.as_ref());
        self.scopes.pop();
        let set = set?;
        let output = match &update.output {
            Some(output) => Some(self.output(
                output,
                &table,
                without_target(&tables, target_column),
                true,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = self.fires(&table, Event::Update, output.as_ref())?;
        let operations = [Operation::BeforeUpdate, Operation::AfterUpdate];
        let block = self.blocks(&table, &old, &operations)?;
        Ok(Update { table, hints, query, locator, old, set, output, fires, block })
    }

    /// SET of an UPDATE, over the scope that is open: 207, 264, 271, 272, 8102.
    pub fn update_set(
        &mut self,
        items: &[ast::SetItem],
        table: &TableDef,
        mapped: Option<&Mapped>,
    ) -> Result<Vec<UpdateSet>> {
        let mut out = Vec::with_capacity(items.len());
        let mut seen = Vec::new();
        for item in items {
            let line = item.span.line.max(1);
            let var = item.variable.as_ref().map(|v| self.variable(v)).transpose()?;
            let ordinal = match &item.column {
                None => None,
                Some(c) => {
                    let ordinal = match mapped {
                        None => table.column(&c.name.value),
                        Some(mapped) => {
                            let named = |(n, _): &&(String, Option<usize>)| {
                                catalog::same_name(n, &c.name.value)
                            };
                            match mapped.iter().find(named) {
                                Some((_, None)) => {
                                    return Err(self.derived_column(&c.name.value));
                                }
                                Some((_, ordinal)) => *ordinal,
                                None => None,
                            }
                        }
                    };
                    let ordinal =
                        ordinal.ok_or_else(|| BindError::invalid_column(&c.name.value, line))?;
                    if seen.contains(&ordinal) {
                        return Err(BindError::new(
                            264,
                            16,
                            line,
                            format!(
                                "The column name '{}' is specified more than once in the SET \
                                 clause or column list of an INSERT. A column cannot be assigned \
                                 more than one value in the same clause. Modify the clause to make \
                                 sure that a column is updated only once. If this statement updates \
                                 or inserts columns into a view, column aliasing can conceal the \
                                 duplication in your code.",
                                c.name.value
                            ),
                        ));
                    }
                    if table.columns[ordinal].identity.is_some() {
                        return Err(BindError::new(
                            8102,
                            16,
                            line,
                            format!("Cannot update identity column '{}'.", c.name.value),
                        ));
                    }
                    if table.columns[ordinal].is_made() {
                        return Err(self.made_column(table, &table.columns[ordinal], false));
                    }
                    seen.push(ordinal);
                    Some(ordinal)
                }
            };
            let mut value = match &item.value {
                ast::InsertValue::Expr(e) => self.expr(e)?,
                ast::InsertValue::Default(span) => match ordinal {
                    Some(ordinal) => self.default_value(table, ordinal)?,
                    None => {
                        return Err(BindError::new(
                            156,
                            15,
                            span.line.max(1),
                            "Incorrect syntax near the keyword 'DEFAULT'.",
                        ));
                    }
                },
            };
            if let Some(op) = item.op.operator().and_then(crate::expr::arith_op) {
                let current = match (ordinal, &item.column, var) {
                    (Some(_), Some(c), _) => {
                        let found = self.column(c, line)?;
                        Expr::col(found.id, found.ty, found.nullable)
                    }
                    (_, _, Some(var)) => self.var_expr(var),
                    _ => return Err(self.error(102, "Incorrect syntax near '='.")),
                };
                value = self.arith(op, current, value)?;
            }
            out.push(match (var, ordinal) {
                (None, Some(ordinal)) => {
                    let ty = table.columns[ordinal].ty;
                    let mode = CastMode::Store { column: ordinal as u16 };
                    UpdateSet::Column { ordinal, value: self.coerce(value, ty, mode)? }
                }
                (Some(var), None) => {
                    let ty = self.frame.ty(var);
                    UpdateSet::Var { var, value: self.coerce(value, ty, CastMode::Implicit)? }
                }
                (Some(var), Some(ordinal)) => {
                    let ty = table.columns[ordinal].ty;
                    let mode = CastMode::Store { column: ordinal as u16 };
                    let value = self.coerce(value, ty, mode)?;
                    // The executor converts the column's new value to the variable's type.
                    types::convert::check_implicit(ty, self.frame.ty(var))
                        .map_err(|e| BindError::of_type(e, line))?;
                    UpdateSet::Both { var, ordinal, value }
                }
                (None, None) => return Err(self.error(102, "Incorrect syntax near '='.")),
            });
        }
        Ok(out)
    }

    pub fn delete(&mut self, delete: &ast::Delete) -> Result<Delete> {
        self.push_ctes(&delete.with);
        let maxdop = self.query_hints(&delete.option)?;
        let ChangeSource { table, hints, rel, locator, old, tables, .. } = self.change_source(
            &delete.target,
            &delete.from,
            delete.filter.as_ref(),
            delete.current_of.as_ref(),
            delete.top.as_ref(),
            None,
        )?;
        self.check_history(&table, 13560)?;
        let target_column = old.first().copied();
        let output = match &delete.output {
            Some(output) => Some(self.output(
                output,
                &table,
                without_target(&tables, target_column),
                false,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = self.fires(&table, Event::Delete, output.as_ref())?;
        let block = self.blocks(&table, &old, &[Operation::BeforeDelete])?;
        Ok(Delete { table, hints, query, locator, old, output, fires, block })
    }
}

/// FROM's other tables: what OUTPUT may name besides `inserted` and `deleted`.
fn without_target(tables: &[ScopeTable], target: Option<ColId>) -> Vec<ScopeTable> {
    tables.iter().filter(|t| t.columns.first().map(|c| c.id) != target).cloned().collect()
}

/// Puts the locator on the reading whose first column is `first`.
fn set_locator(
    rel: &mut Rel,
    first: ColId,
    locator: ColId,
    hints: TableHints,
    old: &mut Option<Vec<ColId>>,
) {
    if let Rel::Get(get) = rel
        && get.columns.first() == Some(&first)
    {
        get.locator = Some(locator);
        if hints != TableHints::default() {
            get.hints = hints;
        }
        *old = Some(get.columns.clone());
        return;
    }
    // Not below groupings and the like: their columns are no longer the table's rows.
    match rel {
        Rel::Join { left, right, .. } | Rel::Apply { left, right, .. } => {
            set_locator(left, first, locator, hints, old);
            set_locator(right, first, locator, hints, old);
        }
        Rel::Filter { input, .. } | Rel::Top { input, .. } | Rel::Sort { input, .. } => {
            set_locator(input, first, locator, hints, old);
        }
        _ => {}
    }
}

/// Readings of tables that a change can reach.
fn tables_of<'r>(rel: &'r Rel, out: &mut Vec<&'r Get>) {
    match rel {
        Rel::Get(get) => out.push(get),
        Rel::Join { .. } | Rel::Apply { .. } | Rel::Filter { .. } | Rel::Top { .. } => {
            rel.inputs().into_iter().for_each(|input| tables_of(input, out));
        }
        _ => {}
    }
}

fn find_get(rel: &Rel, locator: ColId) -> Option<(Arc<TableDef>, TableHints)> {
    if let Rel::Get(get) = rel
        && get.locator == Some(locator)
    {
        return Some((get.table.clone(), get.hints));
    }
    rel.inputs().into_iter().find_map(|input| find_get(input, locator))
}
