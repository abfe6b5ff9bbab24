//! INSERT, UPDATE, DELETE and OUTPUT.

use std::sync::Arc;

use catalog::{Event, Operation, TableDef};
use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::*;
use crate::target::ChangeSource;
use crate::updatable::{InsertThrough, Mapped};
use semantics::hints;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// `database.schema.table`
    pub fn shown_table(&self, table: &TableDef) -> String {
        let database = match (table.is_private(), &self.away) {
            (true, _) => "tempdb".to_string(),
            (false, Some(away)) => away.database.to_string(),
            (false, None) => self.names.database(),
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
        self.of_this_server(name)?;
        let wanted = self.meant(name);
        let line = name.span.line.max(1);
        if name.schema.is_none() && self.frame.table(&name.name.value).is_some() {
            return Err(BindError::new(
                286,
                16,
                line,
                "The logical tables INSERTED and DELETED cannot be updated.",
            ));
        }
        self.table(&wanted).ok_or_else(|| match self.names.view(&wanted) {
            Some(_) => BindError::unsupported(format!("change of rows of view {name} here"), line),
            None => self.no_object(name, &wanted),
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

    pub fn writable_variable(&self, v: &ast::Variable) -> Result<Arc<TableDef>> {
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
        let hints = hints::target_hints(target_hints)?;
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
        match (&column.default, &column.bound_default) {
            (Some(default), _) => self.default_text(&default.text),
            (None, Some(bound)) => self.bound_default(bound),
            (None, None) => Ok(Expr::constant(Value::Null, column.ty)),
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
        let around = std::mem::replace(&mut self.in_default, true);
        let placing = std::mem::take(&mut self.placing);
        let bound = self.expr(&parsed);
        self.placing = placing;
        self.in_default = around;
        self.scopes = scopes;
        self.selects = selects;
        bound
    }

    /// 4104 for a column of SET that another table than the target is named for.
    fn of_target(
        &self,
        column: &ast::ColumnRef,
        tables: &[ScopeTable],
        target: Option<ColId>,
        line: u32,
    ) -> Result<()> {
        let is_target = |t: &&ScopeTable| t.columns.first().map(|c| c.id) == target;
        let Some(table) = tables.iter().find(is_target) else { return Ok(()) };
        let good = match column.qualifier.as_slice() {
            [] => true,
            [.., schema, name] => {
                let same =
                    |s: &String| schema.value.is_empty() || catalog::same_name(s, &schema.value);
                catalog::same_name(&table.name, &name.value)
                    && table.schema.as_ref().is_some_and(same)
            }
            [name] => catalog::same_name(&table.name, &name.value),
        };
        if good {
            return Ok(());
        }
        let parts = column.qualifier.iter().chain([&column.name]);
        let shown = parts.map(|part| part.value.as_str()).collect::<Vec<_>>().join(".");
        let text = format!("The multi-part identifier \"{shown}\" could not be bound.");
        Err(BindError::new(4104, 16, line, text))
    }

    pub fn update(&mut self, update: &ast::Update) -> Result<Update> {
        self.push_ctes(&update.with);
        let maxdop = self.query_hints(&update.option)?;
        let names = update.set.iter().filter_map(|s| s.column.as_ref());
        let names: Vec<String> = names.map(|c| c.name.value.clone()).collect();
        let ChangeSource { table, hints, rel, locator, old, tables, mapped, instead, check } = self
            .change_source(
                &update.target,
                &update.from,
                update.filter.as_ref(),
                update.current_of.as_ref(),
                update.top.as_ref(),
                Some(&names),
            )?;
        self.check_history(&table, 13561)?;
        let target_column = old.first().copied();
        for item in &update.set {
            if let Some(column) = &item.column {
                self.of_target(column, &tables, target_column, item.span.line.max(1))?;
            }
        }
        self.scopes.push(Scope { tables: tables.clone(), place: Place::Set });
        // What a view makes of its rows may be read beside the columns that are known here.
        let has_place = mapped.is_none() && instead.is_none() && check.is_none();
        let around = std::mem::replace(&mut self.set_values, has_place.then(Vec::new));
        let set = self.update_set(&update.set, &table, &old, mapped.as_ref());
        let values = std::mem::replace(&mut self.set_values, around).unwrap_or_default();
        self.scopes.pop();
        let set = set?;
        let seen = tables.iter().flat_map(|t| &t.columns).map(|c| (c.id, c.ty, c.nullable));
        let own = old.iter().zip(&table.columns).map(|(id, c)| (*id, c.ty, c.nullable));
        let read = [(locator, crate::updatable::LOCATOR, false)].into_iter().chain(seen).chain(own);
        let rel = self.beside(rel, values, read);
        let output = match &update.output {
            Some(output) => Some(self.output(
                output,
                &table,
                mapped.as_ref(),
                without_target(&tables, target_column),
                true,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = match instead {
            Some(instead) => Some(self.told(instead, &table, output.as_ref())?),
            None => self.at_target(|b| b.fires(&table, Event::Update, output.as_ref()))?,
        };
        let operations = [Operation::BeforeUpdate, Operation::AfterUpdate];
        let block = self.at_target(|b| b.blocks(&table, &old, &operations))?;
        let tracking_context = self.tracking_context(update.tracking_context.as_deref())?;
        Ok(Update {
            table,
            tracking_context,
            hints,
            query,
            locator,
            old,
            set,
            output,
            fires,
            block,
            check,
        })
    }

    /// `c.WRITE (expression, offset, length)`: 258 for a column that is not of a (max) type.
    fn written(
        &mut self,
        column: &catalog::ColumnDef,
        old: ColId,
        parts: &[ast::Expr; 3],
    ) -> Result<Expr> {
        let large = matches!(
            column.ty,
            SqlType::VarChar(Len::Max) | SqlType::NVarChar(Len::Max) | SqlType::VarBinary(Len::Max)
        );
        if !large {
            let text = format!("Cannot call methods on {}.", column.ty.message_name());
            return Err(BindError::new(258, 15, self.line, text));
        }
        let [value, offset, length] = parts;
        let value = self.expr(value)?;
        let value = self.coerce(value, column.ty, CastMode::Implicit)?;
        let mut place = |part: &ast::Expr| {
            let part = self.expr(part)?;
            self.coerce(part, SqlType::BigInt, CastMode::Implicit)
        };
        let (offset, length) = (place(offset)?, place(length)?);
        // For the message about a value that is NULL.
        let name = Expr::constant(Value::str(&column.name), SqlType::NVarChar(Len::N(128)));
        let old = Expr::col(old, column.ty, column.nullable);
        let args = vec![old, value, offset, length, name];
        let kind = ExprKind::Func { func: FuncId::WriteInto, args };
        Ok(Expr::new(kind, column.ty, false))
    }

    /// SET of an UPDATE, over the scope that is open, of a table whose columns there are `old`: 207, 264, 271, 272, 8102.
    pub fn update_set(
        &mut self,
        items: &[ast::SetItem],
        table: &TableDef,
        old: &[ColId],
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
                            let named =
                                mapped.iter().find(|m| catalog::same_name(&m.name, &c.name.value));
                            match named {
                                Some(found) if found.ordinal.is_none() => {
                                    return Err(self.derived_column(&c.name.value));
                                }
                                found => found.and_then(|found| found.ordinal),
                            }
                        }
                    };
                    let ordinal =
                        ordinal.ok_or_else(|| BindError::invalid_column(&c.name.value, line))?;
                    if seen.contains(&ordinal) {
                        return Err(BindError::column_twice(&c.name.value, line));
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
                ast::InsertValue::Expr(e) => match (ordinal, e.change_of_itself()) {
                    (Some(ordinal), Some(_)) if table.columns[ordinal].marks.column_set => {
                        let text = "The XQuery modify method is not allowed on sparse column sets.";
                        return Err(self.error(9522, text));
                    }
                    // The target's, whatever else of that name there is.
                    (Some(ordinal), Some((name, args))) => {
                        let column = &table.columns[ordinal];
                        let value = Expr::col(old[ordinal], column.ty, column.nullable);
                        self.change_of_column(value, (&table.name, &column.name), name, args, line)?
                    }
                    _ => self.expr(e)?,
                },
                ast::InsertValue::Write(parts) => match ordinal {
                    Some(ordinal) => self.written(&table.columns[ordinal], old[ordinal], parts)?,
                    None => return Err(self.error(102, "Incorrect syntax near 'WRITE'.")),
                },
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
                let current = match (ordinal, var) {
                    // The target's, whatever else of that name there is.
                    (Some(ordinal), _) => {
                        let column = &table.columns[ordinal];
                        Expr::col(old[ordinal], column.ty, column.nullable)
                    }
                    (None, Some(var)) => self.var_expr(var),
                    (None, None) => return Err(self.error(102, "Incorrect syntax near '='.")),
                };
                value = self.arith(op, current, value)?;
            }
            if let Some(ordinal) = ordinal
                && table.columns[ordinal].marks.column_set
            {
                if var.is_some() || item.op.operator().is_some() {
                    let what = "SET of a column set together with a variable or an operator";
                    return Err(BindError::unsupported(what, line));
                }
                let set = self.set_as_xml(value)?;
                let set = self.once(set)?;
                self.update_by_set(&set, table, &mut out)?;
                continue;
            }
            out.push(match (var, ordinal) {
                (None, Some(ordinal)) => {
                    let column = &table.columns[ordinal];
                    let value = self.store(value, column.ty, column.collation, ordinal)?;
                    UpdateSet::Column { ordinal, value }
                }
                (Some(var), None) => {
                    let ty = self.frame.ty(var);
                    UpdateSet::Var { var, value: self.coerce(value, ty, CastMode::Implicit)? }
                }
                (Some(var), Some(ordinal)) => {
                    let ty = table.columns[ordinal].ty;
                    let value = self.store(value, ty, table.columns[ordinal].collation, ordinal)?;
                    // The executor converts the column's new value to the variable's type.
                    types::convert::check_implicit(ty, self.frame.ty(var))
                        .map_err(|e| BindError::of_type(e, line))?;
                    UpdateSet::Both { var, ordinal, value }
                }
                (None, None) => return Err(self.error(102, "Incorrect syntax near '='.")),
            });
        }
        self.check_set_alone(table, &seen)?;
        crate::sequence::one_number(out.iter_mut().map(|set| match set {
            UpdateSet::Column { value, .. }
            | UpdateSet::Var { value, .. }
            | UpdateSet::Both { value, .. } => value,
        }));
        Ok(out)
    }

    pub fn delete(&mut self, delete: &ast::Delete) -> Result<Delete> {
        self.push_ctes(&delete.with);
        let maxdop = self.query_hints(&delete.option)?;
        let ChangeSource { table, hints, rel, locator, old, tables, mapped, instead, .. } = self
            .change_source(
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
                mapped.as_ref(),
                without_target(&tables, target_column),
                false,
                true,
            )?),
            None => None,
        };
        let query = Query { rel, output: Vec::new(), maxdop, hints: self.plan_hints };
        let fires = match instead {
            Some(instead) => Some(self.told(instead, &table, output.as_ref())?),
            None => self.at_target(|b| b.fires(&table, Event::Delete, output.as_ref()))?,
        };
        let block = self.at_target(|b| b.blocks(&table, &old, &[Operation::BeforeDelete]))?;
        let tracking_context = self.tracking_context(delete.tracking_context.as_deref())?;
        Ok(Delete { table, tracking_context, hints, query, locator, old, output, fires, block })
    }
}

/// FROM's other tables: what OUTPUT may name besides `inserted` and `deleted`.
fn without_target(tables: &[ScopeTable], target: Option<ColId>) -> Vec<ScopeTable> {
    tables.iter().filter(|t| t.columns.first().map(|c| c.id) != target).cloned().collect()
}
