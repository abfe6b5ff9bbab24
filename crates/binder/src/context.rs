//! What binding one statement keeps at hand: the frame of variables, the scopes of columns, the
//! common table expressions in sight, and notes of one part for another.

use std::cell::Cell;
use std::collections::HashMap;

use ir::*;
use syntax::ast;
use types::SqlType;

use crate::notes::{Base, Browsing, Collated, Exposed, MAXRECURSION, Moments, Recursion, Usual};
use semantics::hints;
use semantics::names::{Names, is_private};
use semantics::uses::Sources;
use semantics::{BindError, Result};

pub(crate) use crate::scope::*;

/// The variables of a batch or procedure.
#[derive(Debug, Clone, Default)]
pub(crate) struct Frame {
    pub vars: Vec<VarDef>,
    /// Table variables; they share the variables' names.
    pub tables: Vec<TableVariable>,
    /// Cursor variables, likewise.
    pub cursors: Vec<String>,
    /// Of a trigger: the id of its table or view.
    pub parent: Option<i32>,
    by_name: HashMap<String, VarId>,
}

impl Frame {
    pub fn of(program: &Program) -> Frame {
        let mut frame = Frame {
            tables: program.tables.clone(),
            cursors: program.cursors.clone(),
            parent: program.parent,
            ..Frame::default()
        };
        for var in &program.vars {
            // The place of a parameter that is a table or a cursor stays empty.
            if frame.declare(&var.name, var.ty).is_none() {
                frame.vars.push(var.clone());
            }
        }
        frame
    }

    /// The table variable of that name, and its slot.
    pub fn table(&self, name: &str) -> Option<(u16, &TableVariable)> {
        let slot = self.tables.iter().position(|t| catalog::same_name(&t.def.name, name))?;
        Some((slot as u16, &self.tables[slot]))
    }

    /// The number of the cursor variable of that name.
    pub fn cursor(&self, name: &str) -> Option<u16> {
        let slot = self.cursors.iter().position(|c| catalog::same_name(c, name))?;
        Some(slot as u16)
    }

    /// None when the name is taken.
    pub fn declare(&mut self, name: &str, ty: SqlType) -> Option<VarId> {
        if self.table(name).is_some() || self.cursor(name).is_some() {
            return None;
        }
        let id = VarId(self.vars.len() as u32);
        let taken = self.by_name.insert(name.to_lowercase(), id);
        if let Some(old) = taken {
            self.by_name.insert(name.to_lowercase(), old);
            return None;
        }
        self.vars.push(VarDef { name: name.to_string(), ty, not_null: false });
        Some(id)
    }

    pub fn find(&self, name: &str) -> Option<VarId> {
        self.by_name.get(&name.to_lowercase()).copied()
    }

    pub fn ty(&self, id: VarId) -> SqlType {
        self.vars[id.0 as usize].ty
    }
}

/// Where a change stands within FROM (see [`crate::nested`]): what is being bound now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Nested {
    None,
    /// The change itself.
    Inside,
    /// The SELECT over it.
    Over,
}

/// What is known of a statement that changes rows of another database, while it is bound (see [`crate::away`]).
#[derive(Debug)]
pub(crate) struct Away {
    pub database: std::sync::Arc<str>,
    /// What is evaluated here; the values go along.
    pub here: Vec<Expr>,
}

/// Binds one statement.
pub(crate) struct Binder<'a> {
    pub names: &'a dyn Names,
    pub frame: &'a Frame,
    /// Line of the statement: messages without a better one quote it.
    pub line: u32,
    pub next_col: u32,
    pub scopes: Vec<Scope>,
    pub ctes: Vec<CteDef>,
    pub selects: Vec<SelectState>,
    /// Something was asked of the catalog: the result holds for its version only.
    pub touched: Cell<bool>,
    pub maxdop: u32,
    pub plan_hints: QueryHints,
    /// Of the module whose text is bound: see [`Binder::meant`].
    pub schema: Option<std::sync::Arc<str>>,
    /// The other database whose view's text is bound; none: what is bound is of the current one.
    pub home: Option<std::sync::Arc<str>>,
    /// In the query of an inline function: its parameters, by their names in lower case, and nothing else.
    pub params: Option<Vec<(String, Expr)>>,
    /// In the body of a function: nothing with side effects is called.
    pub in_function: bool,
    /// OPTION (MAXRECURSION n): levels that a recursion may have; 0: any number.
    pub maxrecursion: u32,
    /// The recursive common table expression whose step is being bound.
    pub recursion: Option<Recursion>,
    /// Subqueries of expressions open now.
    pub subqueries: usize,
    /// Levels of expressions and queries open now, common table expressions unfolded.
    depth: usize,
    pub breath: runtime::task::Breath,
    /// Steps of looking for names since the breath counted last.
    pub looked: Cell<usize>,
    /// Most passes over windows upon each other in what has been bound of the present SELECT.
    pub passes: usize,
    /// Common table expressions unfolded so far.
    pub unfolded: usize,
    /// The view or inline function whose query is being bound, where it stands for its rows.
    pub through: Option<std::sync::Arc<Through>>,
    /// Columns of views and inline functions that names can find.
    pub exposed: std::collections::HashMap<ColId, Vec<Exposed>>,
    /// The FROM of the last SELECT with FOR XML AUTO or FOR JSON AUTO.
    pub auto_tables: Vec<ScopeTable>,
    /// Columns with a collation of their own.
    pub collated: Collated,
    /// There was a COLLATE.
    pub collates: Cell<bool>,
    /// First and last id of each table's columns.
    pub base_columns: Vec<(u32, u32)>,
    /// FROM is that of a SELECT with grouping sets: see `expose_as`.
    pub tells_apart: bool,
    /// Tables that are read: see [`crate::browse`].
    pub bases: Vec<Base>,
    /// The tables and views that a module's own text reads, where somebody asks for them: see [`crate::shape`].
    pub sources: Option<Sources>,
    /// The next SELECT is the statement's own: what its columns tell of their tables.
    pub browsing: Browsing,
    pub settings: Settings,
    /// What texts go by that belong to no column.
    pub usual: Usual,
    /// Columns whose texts have no rule with them though the usual one is another than theirs.
    pub plain: std::collections::HashSet<ColId>,
    /// Columns that `*` leaves out.
    pub hidden: std::collections::HashSet<ColId>,
    /// Columns of queries in FROM that are NULL itself in each row: they take any type.
    pub null_columns: std::collections::HashSet<ColId>,
    /// Names of columns that were not found so far; only with `gathers`, when whoever binds asks for them in the end.
    pub failed: Vec<BindError>,
    pub gathers: bool,
    /// Columns that are computed when they are read, and what they are over the other columns of their rows.
    pub volatile: std::collections::HashMap<ColId, Expr>,
    /// What was bound of CAST AS text, ntext and image.
    pub long_casts: Vec<Expr>,
    /// Columns of queries that are text, ntext or image, and no table's column as it is.
    pub long_columns: std::collections::HashSet<ColId>,
    /// In the text of a DEFAULT.
    pub in_default: bool,
    /// Columns of nodes(), which only methods take.
    pub node_columns: std::collections::HashMap<ColId, crate::notes::KnownXml>,
    /// In a kept definition whose literals stay as they are, whatever the database's page lacks.
    pub whole_literals: bool,
    /// Values of column sets that are computed once, below the statement's rows; `None` where there is no place for them.
    pub set_values: Option<Vec<(ColId, Expr)>>,
    /// In the predicate of a security policy: no policy is heeded there.
    pub in_policy: bool,
    /// In the query of a view or inline function, or in such a predicate.
    pub in_module: bool,
    /// In a view under FOR SYSTEM_TIME: the time for the versioned tables in it.
    pub moments: Option<Moments>,
    /// The rows of the views WITH CHECK OPTION that were bound so far.
    pub checked: Vec<Rel>,
    /// What is around the expression being bound.
    pub placing: semantics::placing::Placing,
    /// Of an INSERT whose FROM is a change: what is being bound.
    pub nested: Nested,
    /// The statement changes rows of another database.
    pub away: Option<Away>,
    /// Of a change of an indexed view: tables, by id, whose rows others stand for. See [`crate::view_change`].
    pub changed: Option<Vec<(i32, std::sync::Arc<catalog::TableDef>)>>,
}

/// Levels after which a statement is refused (8631), in units of an expression's share of the
/// stack (1.2 KB). The parser allows fewer; common table expressions that use each other add up.
const DEPTH_MAX: usize = 400;

/// What a query counts for, measured: 6.9 KB where a dev build is incremental, 4.7 KB otherwise.
pub(crate) const QUERY_DEPTH: usize = 6;

/// Common table expressions that one statement may unfold (8623): each use doubles what it uses.
pub(crate) const UNFOLDED_MAX: usize = 2000;

impl<'a> Binder<'a> {
    pub fn new(names: &'a dyn Names, frame: &'a Frame, line: u32) -> Binder<'a> {
        Binder {
            names,
            frame,
            line,
            next_col: 0,
            scopes: Vec::new(),
            ctes: Vec::new(),
            selects: Vec::new(),
            touched: Cell::new(false),
            maxdop: 0,
            plan_hints: Default::default(),
            schema: None,
            home: None,
            params: None,
            in_function: false,
            maxrecursion: MAXRECURSION,
            recursion: None,
            subqueries: 0,
            depth: 0,
            breath: runtime::task::Breath::new(),
            looked: Cell::new(0),
            passes: 0,
            unfolded: 0,
            through: None,
            exposed: Default::default(),
            auto_tables: Vec::new(),
            collated: Collated::new(),
            collates: Cell::new(false),
            base_columns: Vec::new(),
            tells_apart: false,
            bases: Vec::new(),
            sources: None,
            browsing: Browsing::No,
            settings: names.settings(),
            usual: Usual::of(names.collation(None)),
            plain: Default::default(),
            hidden: Default::default(),
            null_columns: Default::default(),
            failed: Vec::new(),
            gathers: false,
            volatile: Default::default(),
            long_casts: Vec::new(),
            long_columns: Default::default(),
            in_default: false,
            node_columns: Default::default(),
            moments: None,
            whole_literals: false,
            set_values: None,
            in_policy: false,
            in_module: false,
            placing: Default::default(),
            checked: Vec::new(),
            nested: Nested::None,
            away: None,
            changed: None,
        }
    }

    /// The same where texts that belong to no column go by that collation.
    pub fn under(mut self, collation: types::Collation) -> Binder<'a> {
        self.usual = Usual::of(collation);
        self
    }

    /// What OPTION says: MAXDOP is returned.
    pub fn query_hints(&mut self, hints: &[ast::QueryHint]) -> Result<u32> {
        if let Some(max) = hints::maxrecursion(hints)? {
            self.maxrecursion = max;
        }
        hints::for_planner(hints, &mut self.plan_hints);
        hints::maxdop(hints)
    }

    /// Some levels down, unless that is too deep for a worker's stack.
    pub fn deeper<T>(
        &mut self,
        levels: usize,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        if self.depth + levels > DEPTH_MAX {
            return Err(BindError::stack_limit(self.line));
        }
        self.breath.steps(16 + self.looked.take())?;
        self.depth += levels;
        let result = f(self);
        self.depth -= levels;
        result
    }

    /// Binds with another value in one of the binder's own places, which has what it had again after it.
    pub fn having<V, T>(
        &mut self,
        place: fn(&mut Self) -> &mut V,
        value: V,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let around = std::mem::replace(place(self), value);
        let result = f(self);
        *place(self) = around;
        result
    }

    pub fn new_col(&mut self) -> ColId {
        let id = ColId(self.next_col);
        self.next_col += 1;
        id
    }

    pub fn error(&self, number: i32, text: impl Into<String>) -> BindError {
        BindError::new(number, if number < 200 { 15 } else { 16 }, self.line, text)
    }

    /// What a name in a query or a change of rows means: without a schema, in a module, an object of the module's schema,
    /// else one of dbo, whoever runs it. ("CREATE PROCEDURE (Transact-SQL)", best practices.) DDL, EXECUTE of a text and
    /// what is in no module go by the user's default schema.
    pub fn meant(&self, name: impl Into<ObjectName>) -> ObjectName {
        let mut written = name.into();
        if is_private(&written.name) {
            return written;
        }
        let named = written.schema.is_some() || written.database.is_some();
        if written.database.is_none() {
            written.database = self.home.as_deref().map(str::to_owned);
        }
        let Some(schema) = self.schema.as_ref().filter(|_| !named) else {
            return self.names.stands_for(&written).unwrap_or(written);
        };
        self.touched.set(true);
        let of = |schema: &str| ObjectName { schema: Some(schema.to_owned()), ..written.clone() };
        [of(schema), of("dbo")]
            .into_iter()
            .find_map(|name| match self.names.has_object(&name) {
                true => Some(name),
                false => self.names.stands_for(&name),
            })
            .unwrap_or(written)
    }

    pub fn table(&self, name: &ObjectName) -> Option<std::sync::Arc<catalog::TableDef>> {
        self.touched.set(true);
        self.names.table(name)
    }

    /// The same for a statement that changes what a table is, for which a synonym does not stand.
    pub fn own_table(
        &self,
        name: &syntax::ast::ObjectName,
    ) -> Option<std::sync::Arc<catalog::TableDef>> {
        let name = ObjectName::from(name);
        self.table(&name).filter(|_| !self.names.is_synonym(&name))
    }

    /// The variable of that name; 137.
    pub fn variable(&self, v: &ast::Variable) -> Result<VarId> {
        self.frame.find(&v.name).ok_or_else(|| match self.frame.cursor(&v.name) {
            Some(_) => self.not_for_a_cursor(v),
            None => self.undeclared(v),
        })
    }

    /// 16949.
    pub fn not_for_a_cursor(&self, v: &ast::Variable) -> BindError {
        BindError::new(
            16949,
            16,
            v.span.line.max(1),
            format!(
                "The variable '{}' is a cursor variable, but it is used in a place where a cursor variable is not valid.",
                v.name
            ),
        )
    }

    /// A variable, or a parameter of the inline function around; 137.
    pub fn variable_value(&self, v: &ast::Variable) -> Result<Expr> {
        let of_value = |e: BindError| if e.number == 137 { e.with_state(2) } else { e };
        let Some(params) = &self.params else {
            return Ok(self.var_expr(self.variable(v).map_err(of_value)?));
        };
        let key = v.name.to_lowercase();
        match params.iter().find(|(name, _)| *name == key) {
            Some((_, value)) => Ok(value.clone()),
            None => Err(of_value(self.undeclared(v))),
        }
    }

    fn undeclared(&self, v: &ast::Variable) -> BindError {
        BindError::new(
            137,
            15,
            v.span.line.max(self.line.min(1)),
            format!("Must declare the scalar variable \"{}\".", v.name),
        )
    }

    /// The table variable of that name; 1087.
    pub fn table_variable(&self, v: &ast::Variable) -> Result<&'a TableVariable> {
        self.frame.table(&v.name).map(|(_, table)| table).ok_or_else(|| {
            BindError::new(
                1087,
                15,
                v.span.line.max(1),
                format!("Must declare the table variable \"{}\".", v.name),
            )
            .with_state(2)
        })
    }

    pub fn var_expr(&self, id: VarId) -> Expr {
        Expr::new(ExprKind::Var(id), self.frame.ty(id), true)
    }

    /// What was bound; `None` where a column's name is wrong, which is told with what else is.
    pub fn gathered<T>(&mut self, bound: Result<T>) -> Result<Option<T>> {
        match bound {
            Ok(bound) => Ok(Some(bound)),
            Err(error) if self.gathers && error.is_about_column() => {
                self.failed.push(error);
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// The end of a statement or condition: all that is wrong with its names goes before anything else that is.
    pub fn settled<T>(&mut self, bound: Result<T>) -> Result<T> {
        if self.failed.is_empty() {
            return bound;
        }
        let mut failed = std::mem::take(&mut self.failed);
        failed
            .extend(bound.err().filter(|e| e.is_about_column() || matches!(e.number, 208 | 4413)));
        match BindError::all(failed) {
            Some(error) => Err(error),
            None => stdx::fatal!("errors came and went"),
        }
    }

    /// The name that a column has in a result: as it is written, or its own where it is meant by what it is marked as.
    pub fn shown_name(&self, c: &ast::ColumnRef) -> String {
        let by_mark = ["$identity", "identitycol", "$rowguid", "rowguidcol"];
        let own = || self.column(c, self.line).ok()?.name;
        by_mark
            .iter()
            .any(|mark| c.name.is(mark))
            .then(own)
            .flatten()
            .unwrap_or_else(|| c.name.value.clone())
    }

    /// Finds a column by name and perhaps qualifier: 207, 209, 4104.
    pub fn column(&self, c: &ast::ColumnRef, line: u32) -> Result<ScopeColumn> {
        // More parts than a name has.
        let far = c.qualifier.len() > 3;
        for scope in self.scopes.iter().rev().filter(|_| !far) {
            let (mut hits, mut marked) = (Vec::new(), Vec::new());
            let mut named = false;
            let mut looked = scope.tables.len();
            for table in &scope.tables {
                if !matches_qualifier(table, &c.qualifier) {
                    continue;
                }
                named = true;
                looked += table.columns.len();
                hits.extend(table.columns.iter().filter(|k| k.is_named(&c.name.value)));
                if hits.is_empty() {
                    marked.extend(table.columns.iter().filter(|k| k.is_marked(&c.name)));
                }
            }
            // A column may be called so.
            let hits = if hits.is_empty() { marked } else { hits };
            self.looked.set(self.looked.get() + looked);
            match hits.len() {
                1 => {
                    self.note_use(hits[0], ColumnUse::Read);
                    return Ok(hits[0].clone());
                }
                0 if named && !c.qualifier.is_empty() => {
                    return Err(BindError::invalid_column(&c.name.value, line));
                }
                0 => {}
                _ => {
                    return Err(BindError::new(
                        209,
                        16,
                        line,
                        format!("Ambiguous column name '{}'.", c.name.value),
                    ));
                }
            }
        }
        let mut full: Vec<&str> = c.qualifier.iter().map(|q| q.value.as_str()).collect();
        full.push(&c.name.value);
        let full = full.join(".");
        let state = if c.qualifier.is_empty() { 1 } else { 2 };
        match self.scopes.last().map(|scope| scope.place) {
            Some(Place::MergeCondition(ast::MergeWhen::NotMatched)) => {
                let text = format!(
                    "The identifier '{full}' cannot be bound. Only source columns and columns in the clause scope are \
                     allowed in the 'WHEN NOT MATCHED' clause of a MERGE statement."
                );
                return Err(BindError::new(5333, 16, line, text).with_state(state));
            }
            Some(Place::MergeCondition(ast::MergeWhen::NotMatchedBySource)) => {
                let text = format!(
                    "The identifier '{full}' cannot be bound. Only target columns and columns in the clause scope are \
                     allowed in the 'WHEN NOT MATCHED BY SOURCE' clause of a MERGE statement."
                );
                return Err(BindError::new(5334, 16, line, text).with_state(state));
            }
            _ if c.qualifier.is_empty() => {
                return Err(BindError::invalid_column(&c.name.value, line));
            }
            _ => {}
        }
        let text = format!("The multi-part identifier \"{full}\" could not be bound.");
        Err(BindError::new(4104, 16, line, text))
    }
}

pub(crate) fn matches_qualifier(table: &ScopeTable, qualifier: &[ast::Ident]) -> bool {
    match qualifier {
        [] => true,
        [name] => catalog::same_name(&table.name, &name.value),
        [.., schema, name] => {
            catalog::same_name(&table.name, &name.value)
                && table.schema.as_deref().is_some_and(|s| catalog::same_name(s, &schema.value))
        }
    }
}

/// Tells if a table of FROM answers to `qualifier`.
pub(crate) fn answers_to(table: &ScopeTable, qualifier: &[ast::Ident]) -> bool {
    matches_qualifier(table, qualifier)
}
