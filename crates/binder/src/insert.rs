//! INSERT: which columns are given values, by what, and what the others get.
//!
//! Promise: whatever the rows come from (VALUES, a query, a procedure, another change), what leaves here is a row of the
//! table with a value for each column, converted to its type. Errors: 109, 110, 120, 121, 207, 213, 264, 339, 483, 8101.

use catalog::{Event, Operation, TableDef};
use ir::*;
use syntax::ast;
use types::{SqlType, Value};

use crate::context::*;
use crate::updatable::InsertThrough;
use semantics::hints;
use semantics::{BindError, Result};

impl Binder<'_> {
    pub fn insert(&mut self, insert: &ast::Insert) -> Result<Insert> {
        let over = match &insert.source {
            ast::InsertSource::Query(query) => semantics::tree::over_change(query),
            _ => None,
        };
        if let Some(over) = &over {
            self.check_around_change(insert, over)?;
        }
        self.push_ctes(&insert.with);
        let instead = self.instead_of(&insert.target, Event::Insert)?;
        let through = match &instead {
            Some(_) => None,
            None => self.insert_through(&insert.target, &insert.columns)?,
        };
        let target_hints = match &insert.target {
            ast::Target::Table { hints, .. } => hints.as_slice(),
            ast::Target::Variable(_) => &[],
        };
        let table = match (&through, &instead) {
            (Some(through), _) => through.table.clone(),
            (None, Some(instead)) => instead.table.clone(),
            (None, None) => {
                let database = self.database_of(&insert.target);
                self.goes_to(database);
                self.target(&insert.target)?.0
            }
        };
        self.check_history(&table, 13559)?;
        let hints = hints::target_hints(target_hints, Some(Event::Insert))?;
        let maxdop = self.query_hints(&insert.option)?;
        self.maxdop = maxdop;
        let (ordinals, mapped, check, way) = match through {
            Some(InsertThrough { ordinals, mapped, check, way, .. }) => {
                (ordinals, Some(mapped), check, way)
            }
            None => (self.insert_columns(&table, &insert.columns)?, None, None, None),
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
        let source = match (&insert.source, &over) {
            (_, Some(over)) => self.changed_rows(insert, over, &table, &given, width)?,
            (ast::InsertSource::DefaultValues, _) => {
                let row = self.insert_row(&table, &vec![None; table.columns.len()], Vec::new())?;
                self.check_defaults(&row)?;
                InsertSource::Values(vec![row])
            }
            (ast::InsertSource::Values(rows), _) => {
                let mut out = Vec::with_capacity(rows.len());
                let mut below = Vec::new();
                for row in rows {
                    self.check_given(insert, &table, row.len(), width, (109, 110))?;
                    let mut values = Vec::with_capacity(row.len());
                    for value in row {
                        values.push(match value {
                            ast::InsertValue::Default(_) | ast::InsertValue::Write(_) => None,
                            ast::InsertValue::Expr(e) => {
                                let mut value = self.expr(e)?;
                                self.bring(&mut value)?;
                                Some(value)
                            }
                        });
                    }
                    // A row alone may have something below it.
                    let has_place = rows.len() == 1 && insert.top.is_none();
                    let around = std::mem::replace(&mut self.set_values, has_place.then(Vec::new));
                    let row = self.insert_row(&table, &given, values);
                    below = std::mem::replace(&mut self.set_values, around).unwrap_or_default();
                    let row = row?;
                    self.check_defaults(&row)?;
                    out.push(row);
                }
                match &insert.top {
                    None if !below.is_empty() => self.over_values(below, out.remove(0), maxdop),
                    None => InsertSource::Values(out),
                    Some(top) => self.first_of_values(&table, out, top, maxdop)?,
                }
            }
            (ast::InsertSource::Query(query), _) => {
                self.check_no_into(query)?;
                let mut query = self.query(query)?;
                if let Some(top) = &insert.top {
                    query.rel = self.top(query.rel, top, Vec::new())?;
                }
                self.check_given(insert, &table, query.output.len(), width, (120, 121))?;
                // NULL itself in the list of the SELECT takes the column's type; that of a UNION has become an int by then.
                let value = |c: &OutputColumn| match self.is_null_output(&query.rel, c.id) {
                    true => Expr::constant(Value::Null, c.ty),
                    false => Expr::col(c.id, c.ty, c.nullable),
                };
                let values = query.output.iter().map(|c| Some(value(c))).collect();
                let row = self.insert_row(&table, &given, values)?;
                self.check_defaults(&row)?;
                InsertSource::Query { query, row }
            }
            (ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_), _)
                if insert.top.is_some() =>
            {
                return Err(BindError::unsupported("INSERT TOP ... EXEC", self.line));
            }
            (ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_), _)
                if insert.output.is_some() =>
            {
                let text = "The OUTPUT clause cannot be used in an INSERT...EXEC statement.";
                return Err(self.error(483, text));
            }
            (ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_), _) => {
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
                            base: None,
                            collation: types::Collation::default(),
                            name: column.map(|c| c.name.to_string()),
                            id: self.new_col(),
                            ty: column.map_or(SqlType::Int, |c| c.ty),
                            nullable: true,
                            identity: None,
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
            Some(output) => {
                Some(self.output(output, &table, mapped.as_ref(), Vec::new(), true, false)?)
            }
            None => None,
        };
        let fires = match instead {
            Some(instead) => Some(self.told(instead.fires, &table, output.as_ref())?),
            None => self.at_target(|b| b.fires(&table, Event::Insert, output.as_ref()))?,
        };
        let block = self.at_target(|b| b.blocks(&table, &[], &[Operation::AfterInsert]))?;
        if let Some(block) = &block
            && block.reads_tables()
        {
            let what = match &source {
                InsertSource::Exec { .. } => Some("INSERT ... EXEC"),
                InsertSource::Changed(_) => Some("INSERT ... SELECT from a nested change"),
                InsertSource::Values(_) | InsertSource::Query { .. } => None,
            };
            if let Some(what) = what {
                let what = format!("{what} into a table whose security policy reads tables");
                return Err(BindError::unsupported(what, self.line));
            }
        }
        let tracking_context = self.tracking_context(insert.tracking_context.as_deref())?;
        Ok(Insert {
            table,
            tracking_context,
            hints,
            source,
            explicit_identity,
            output,
            fires,
            block,
            check,
            through: way,
        })
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
            base: None,
            collation: c.collation,
            name: Some(c.name.to_string()),
            id: *id,
            ty: c.ty,
            nullable: true,
            identity: None,
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

    /// A row of VALUES over what is computed once for it.
    fn over_values(
        &mut self,
        exprs: Vec<(ColId, Expr)>,
        row: Vec<Expr>,
        maxdop: u32,
    ) -> InsertSource {
        let column = |(id, value): &(ColId, Expr)| OutputColumn {
            base: None,
            collation: types::Collation::default(),
            name: None,
            id: *id,
            ty: value.ty,
            nullable: true,
            identity: None,
            updatable: false,
        };
        let output = exprs.iter().map(column).collect();
        let rel = Rel::Project { input: Box::new(Rel::OneRow), exprs };
        let query = Query { rel, output, maxdop, hints: self.plan_hints };
        InsertSource::Query { query, row }
    }

    /// Ordinals of the columns that the statement gives values for, in its order: 207, 264.
    pub fn insert_columns(
        &self,
        table: &TableDef,
        columns: &[ast::Ident],
    ) -> Result<Vec<Option<usize>>> {
        if columns.is_empty() {
            let is_in_set = table.is_in_set();
            return Ok((0..table.columns.len())
                .filter(|i| table.columns[*i].is_given())
                .filter(|i| !is_in_set(&table.columns[*i]))
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
                return Err(BindError::column_twice(&column.value, line));
            }
            ordinals.push(Some(ordinal));
        }
        Ok(ordinals)
    }

    /// Whether an INSERT gives as many values as it should; 8101 without a list of columns for one more, which is the
    /// identity column's.
    pub fn check_given(
        &self,
        insert: &ast::Insert,
        table: &TableDef,
        values: usize,
        width: usize,
        numbers: (i32, i32),
    ) -> Result<()> {
        let listed = !insert.columns.is_empty();
        if listed || values != width + 1 || table.identity().is_none() {
            return self.check_width(values, width, listed, numbers);
        }
        let shown = match &insert.target {
            ast::Target::Table { name, .. } => name.to_string(),
            ast::Target::Variable(variable) => variable.name.clone(),
        };
        let text = format!(
            "An explicit value for the identity column in table '{shown}' can only be specified when a column list is \
             used and IDENTITY_INSERT is ON."
        );
        Err(self.error(8101, text))
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
        let set = self.given_set(table, given, &mut values)?;
        let set = set.map(|set| (set, self.names_of_set(table)));
        for (ordinal, column) in table.columns.iter().enumerate() {
            if column.marks.column_set {
                row.push(Expr::constant(Value::Null, column.ty));
                continue;
            }
            if let Some((set, names)) = set.as_ref().filter(|_| column.marks.sparse) {
                let part = self.part_of_set(set, names, column);
                row.push(self.store(part, column.ty, column.collation, ordinal)?);
                continue;
            }
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
                    Some(Expr { kind: ExprKind::Const(Value::Null), .. }) | None
                        if column.identity.is_some() =>
                    {
                        let text = "DEFAULT or NULL are not allowed as explicit identity values.";
                        return Err(self.error(339, text));
                    }
                    Some(value) => value,
                    None => self.default_value(table, ordinal)?,
                },
                None if column.identity.is_some() => {
                    Expr::new(ExprKind::NextIdentity, column.ty, false)
                }
                None => self.default_value(table, ordinal)?,
            };
            row.push(self.store(value, column.ty, column.collation, ordinal)?);
        }
        crate::sequence::one_number(&mut row);
        Ok(row)
    }
}
