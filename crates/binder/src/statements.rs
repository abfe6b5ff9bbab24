//! Statements: the frame declared, control flow laid out, leaves bound now or left for later.
//!
//! The rule of lateness. A leaf that fails for a missing object is deferred. After a statement of
//! the same batch that may change what names mean (DDL, SELECT INTO, EXEC) a leaf that fails for another
//! reason to do with names is deferred too, unless it is the columns of tables that are there and stay; after USE every leaf that asks the catalog is, because
//! it would be bound in the wrong database. Everything else is an error of the whole batch.

mod frame;
mod leaf;
mod rare;

use std::collections::HashMap;
use std::sync::Arc;

use ir::*;
use syntax::ast::{self, StatementKind as S};
use types::{Len, SqlType};

use crate::context::{Binder, Frame};
pub(crate) use frame::already_declared;
use semantics::definitions::is_of_definition;
use semantics::names::Names;
use semantics::statement_rows::{self, Moved};
use semantics::{BindError, Result};

const TEXT: SqlType = SqlType::NVarChar(Len::N(4000));

/// What RETURN leads to in the body of a function.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Returning {
    /// Its value goes into this variable.
    Scalar(VarId, SqlType),
    /// It has none: the rows are those of the table variable in this slot.
    Table(u16),
}

/// Binds a list of statements into a program.
pub(crate) struct ProgramBinder<'a> {
    names: &'a dyn Names,
    text: &'a str,
    frame: Frame,
    labels: Vec<String>,
    label_ids: HashMap<String, LabelId>,
    /// In a procedure: RETURN may have a value.
    procedure: bool,
    loops: usize,
    /// A DDL statement came before: names may have another meaning when control gets there.
    names_moved: bool,
    /// One came before that makes or drops objects, or may: names may be of other objects then.
    objects_moved: bool,
    /// USE came before.
    database_moved: bool,
    /// Bind leaves now, whatever came before (a statement reached at last).
    eager: bool,
    /// Statements that name columns that are not there.
    failed: Vec<BindError>,
    /// In the body of a function.
    pub(crate) returning: Option<Returning>,
    /// An alias type was named: the frame holds for the catalog's version only.
    aliases: std::cell::Cell<bool>,
    /// See [`Program::schema`].
    schema: Option<Arc<str>>,
    /// See [`Program::settings`].
    settings: Vec<(u32, Settings)>,
    /// Offset of the statement being bound.
    at: u32,
    /// See [`Program::atomic`].
    atomic: Option<Atomic>,
    /// What its statements read and change, where somebody asks.
    uses: Option<semantics::uses::Uses>,
    breath: runtime::task::Breath,
}

impl<'a> ProgramBinder<'a> {
    pub fn new(names: &'a dyn Names, text: &'a str, procedure: bool) -> ProgramBinder<'a> {
        ProgramBinder {
            names,
            text,
            frame: Frame::default(),
            labels: Vec::new(),
            label_ids: HashMap::new(),
            procedure,
            loops: 0,
            names_moved: false,
            objects_moved: false,
            database_moved: false,
            eager: false,
            failed: Vec::new(),
            returning: None,
            aliases: std::cell::Cell::new(false),
            schema: None,
            settings: vec![(0, names.settings())],
            at: 0,
            atomic: None,
            uses: None,
            breath: runtime::task::Breath::new(),
        }
    }

    /// For the block of a natively compiled module, whose SET options are always the same.
    pub fn atomic(mut self, atomic: Option<Atomic>) -> ProgramBinder<'a> {
        if atomic.is_some() {
            self.settings = vec![(0, Settings::default())];
        }
        self.atomic = atomic;
        self
    }

    /// Notes what statements read and change.
    pub fn noting(mut self, uses: Option<semantics::uses::Uses>) -> ProgramBinder<'a> {
        self.uses = uses;
        self
    }

    /// For the body of a module of that schema.
    pub fn of_module(mut self, schema: Option<&str>) -> ProgramBinder<'a> {
        self.schema = schema.map(Arc::from);
        self
    }

    /// Binds expressions of a statement over the frame.
    fn binder<'b>(&self, frame: &'b Frame, line: u32) -> Binder<'b>
    where
        'a: 'b,
    {
        let mut binder = Binder::new(self.names, frame, line);
        binder.in_function = self.returning.is_some();
        binder.settings = self.current_settings();
        binder.schema = self.schema.clone();
        binder.sources = self.uses.as_ref().map(|_| Default::default());
        binder
    }

    /// The SET options that the statement being bound runs under, as far as the text tells.
    fn current_settings(&self) -> Settings {
        let found = self.settings.iter().rev().find(|(offset, _)| *offset <= self.at);
        found.map_or_else(Settings::default, |(_, settings)| *settings)
    }

    /// For binding one statement of a program again.
    pub fn again(names: &'a dyn Names, program: &'a Program) -> ProgramBinder<'a> {
        let mut binder = ProgramBinder::new(names, &program.text, !program.params.is_empty());
        binder.procedure = true;
        binder.frame = Frame::of(program);
        binder.eager = true;
        binder.settings = program.settings.clone();
        binder.schema = program.schema.clone();
        binder.atomic = program.atomic.clone();
        binder.returning = program.result.map(|result| match result {
            ProgramResult::Scalar { var, .. } => Returning::Scalar(var, binder.frame.ty(var)),
            ProgramResult::Table(slot) => Returning::Table(slot),
        });
        binder
    }

    pub fn program(
        mut self,
        params: Vec<ProcParam>,
        statements: &[ast::Statement],
    ) -> Result<Program> {
        if statements.len() > 1 {
            rare::check_bulk_alone(statements)?;
        }
        for statement in statements {
            self.collect_labels(statement)?;
        }
        let body = self.list(statements);
        if !self.failed.is_empty() {
            let mut failed = std::mem::take(&mut self.failed);
            failed.extend(body.err());
            return Err(match BindError::all(failed) {
                Some(error) => error,
                None => stdx::fatal!("errors came and went"),
            });
        }
        let body = body?;
        Ok(Program {
            vars: self.frame.vars,
            params,
            tables: self.frame.tables,
            cursors: self.frame.cursors,
            body,
            labels: self.labels,
            text: Arc::from(self.text),
            result: self.returning.map(|returning| match returning {
                Returning::Scalar(var, _) => ProgramResult::Scalar { var, strict: false },
                Returning::Table(slot) => ProgramResult::Table(slot),
            }),
            catalog_version: self.names.version(),
            aliases: self.aliases.get(),
            settings: self.settings,
            schema: self.schema,
            parent: self.frame.parent,
            atomic: self.atomic,
            rule: self.names.collation(None).rule(),
        })
    }

    fn collect_labels(&mut self, statement: &ast::Statement) -> Result<()> {
        match &statement.kind {
            S::Label(name) => {
                let key = name.value.to_lowercase();
                let id = LabelId(self.labels.len() as u32);
                if self.label_ids.insert(key, id).is_some() {
                    return Err(BindError::new(
                        132,
                        15,
                        statement.span.line,
                        format!(
                            "The label '{}' has already been declared. Label names must be unique \
                             within a query batch or stored procedure.",
                            name.value
                        ),
                    ));
                }
                self.labels.push(name.value.clone());
                Ok(())
            }
            S::If { then, otherwise, .. } => {
                self.collect_labels(then)?;
                otherwise.iter().try_for_each(|s| self.collect_labels(s))
            }
            S::While { body, .. } => self.collect_labels(body),
            S::Block(list) => list.iter().try_for_each(|s| self.collect_labels(s)),
            S::TryCatch { body, handler } => {
                body.iter().chain(handler).try_for_each(|s| self.collect_labels(s))
            }
            _ => Ok(()),
        }
    }

    fn list(&mut self, statements: &[ast::Statement]) -> Result<Vec<Stmt>> {
        // A plain loop: blocks nest, and an iterator's frames would take as much stack again as the statements.
        let mut bound = Vec::with_capacity(statements.len());
        for statement in statements {
            bound.push(self.statement(statement)?);
        }
        Ok(bound)
    }

    /// A statement as the body of IF or WHILE: a block gives its statements.
    fn nested(&mut self, statement: &ast::Statement) -> Result<Vec<Stmt>> {
        match &statement.kind {
            S::Block(list) => self.list(list),
            _ => Ok(vec![self.statement(statement)?]),
        }
    }

    /// Binds one statement. What nests keeps its frame small: all else is bound in [`Self::plain`].
    pub fn statement(&mut self, statement: &ast::Statement) -> Result<Stmt> {
        self.breath.steps(64)?;
        let line = statement.span.line.max(1);
        let span = statement.span;
        self.at = span.start;
        let kind = match &statement.kind {
            S::If { condition, then, otherwise } => {
                let condition = self.condition(condition, line)?;
                let then = self.nested(then)?;
                let otherwise = match otherwise {
                    Some(otherwise) => self.nested(otherwise)?,
                    None => Vec::new(),
                };
                StmtKind::If { condition, then, otherwise }
            }
            S::While { condition, body } => {
                let condition = self.condition(condition, line)?;
                self.loops += 1;
                let body = self.nested(body);
                self.loops -= 1;
                StmtKind::While { condition, body: body? }
            }
            S::Block(list) => StmtKind::Block(self.list(list)?),
            S::TryCatch { body, handler } => {
                let body = self.list(body)?;
                StmtKind::TryCatch { body, handler: self.list(handler)? }
            }
            _ => return self.plain(statement),
        };
        Ok(Stmt { line, span, kind, source: None })
    }

    /// Binds a statement that has none inside.
    #[inline(never)]
    fn plain(&mut self, statement: &ast::Statement) -> Result<Stmt> {
        let line = statement.span.line.max(1);
        let span = statement.span;
        if let S::SetOption(ast::SetOption::Switch { names, on }) = &statement.kind
            && !self.eager
        {
            let old = self.current_settings();
            let new = names.iter().fold(old, |settings, name| settings.set(name, *on));
            if new != old {
                self.settings.push((self.at, new));
            }
        }
        let plain = |kind| Stmt { line, span, kind, source: None };
        Ok(match &statement.kind {
            S::Break | S::Continue if self.loops == 0 => {
                let (number, word) =
                    if statement.kind == S::Break { (135, "BREAK") } else { (136, "CONTINUE") };
                return Err(BindError::new(
                    number,
                    15,
                    line,
                    format!(
                        "Cannot use a {word} statement outside the scope of a WHILE statement."
                    ),
                ));
            }
            S::Break => plain(StmtKind::Break),
            S::Continue => plain(StmtKind::Continue),
            S::Atomic(_) => return Err(semantics::native::misplaced(line)),
            S::Label(name) => plain(StmtKind::Label(self.label_ids[&name.value.to_lowercase()])),
            S::Goto(name) => match self.label_ids.get(&name.value.to_lowercase()) {
                Some(id) => plain(StmtKind::Goto(*id)),
                None => {
                    return Err(BindError::new(
                        133,
                        15,
                        line,
                        format!(
                            "A GOTO statement references the label '{}' but the label has not been \
                             declared.",
                            name.value
                        ),
                    ));
                }
            },
            S::Declare(declarations) => self.declare(statement, declarations)?,
            // The value of a function is assigned, and then it ends.
            S::Return(Some(_)) if self.returning.is_some() && !self.eager => {
                let assigned = self.leaf(statement)?;
                let end = Stmt { line, span, kind: StmtKind::Return(None), source: None };
                plain(StmtKind::Block(vec![assigned, end]))
            }
            _ => self.leaf(statement)?,
        })
    }

    fn may_defer(&self, e: &BindError, touched: bool) -> bool {
        !self.eager
            && (e.is_missing_object()
                || self.database_moved && touched
                || (self.names_moved
                    && (self.objects_moved || !e.is_bound_early())
                    && (touched || e.is_about_names())))
    }

    fn condition(&mut self, e: &ast::Expr, line: u32) -> Result<Condition> {
        let mut binder = self.binder(&self.frame, line);
        binder.gathers = true;
        let bound = binder.condition(e);
        let bound = binder.settled(bound);
        if let (Some(uses), Ok(expr)) = (&self.uses, &bound) {
            semantics::uses::of_value(uses, binder.sources.take(), expr);
        }
        let touched = binder.touched.get();
        let source = || Some(Arc::new(e.clone()));
        match bound {
            Ok(_) if touched && self.database_moved => {
                Ok(Condition { expr: None, source: source() })
            }
            Ok(expr) => Ok(Condition { expr: Some(expr), source: touched.then(source).flatten() }),
            Err(err) if self.may_defer(&err, touched) => {
                Ok(Condition { expr: None, source: source() })
            }
            Err(err) => Err(err),
        }
    }

    /// A condition reached at last.
    pub fn condition_again(&mut self, e: &ast::Expr) -> Result<Expr> {
        self.at = e.span.start;
        self.binder(&self.frame, e.span.line.max(1)).condition(e)
    }

    /// A statement without statements inside.
    fn leaf(&mut self, statement: &ast::Statement) -> Result<Stmt> {
        let line = statement.span.line.max(1);
        let frame = std::mem::take(&mut self.frame);
        let mut binder = self.binder(&frame, line);
        binder.gathers = true;
        let result = self.leaf_kind(&mut binder, statement);
        let result = binder.settled(result);
        if let (Some(uses), Ok(kind)) = (&self.uses, &result) {
            semantics::uses::of_statement(uses, binder.sources.take(), kind, &statement.kind);
        }
        let touched = binder.touched.get();
        self.frame = frame;
        let span = statement.span;
        let source = || Some(Arc::new(statement.clone()));
        // A procedure of another server is missed when it is called.
        let is_far_call =
            |e: &BindError| e.number == 7202 && matches!(statement.kind, S::Execute(_));
        let stmt = match result {
            Ok(_) if touched && self.database_moved && !self.eager => {
                Stmt { line, span, kind: StmtKind::Deferred, source: source() }
            }
            Ok(kind) => Stmt { line, span, kind, source: if touched { source() } else { None } },
            Err(e)
                if self.may_defer(&e, touched)
                    || (is_far_call(&e) || is_found_late(&e, statement)) && !self.eager =>
            {
                Stmt { line, span, kind: StmtKind::Deferred, source: source() }
            }
            // The rest of the batch may have more of the kind.
            Err(e) if e.is_about_column() && !self.eager => {
                self.failed.push(e);
                Stmt { line, span, kind: StmtKind::Nothing, source: None }
            }
            Err(e) => return Err(e),
        };
        match statement_rows::of(&statement.kind).moved {
            Moved::Nothing => {}
            Moved::Columns => self.names_moved = true,
            Moved::Objects => (self.names_moved, self.objects_moved) = (true, true),
            Moved::Database => self.database_moved = true,
        }
        Ok(stmt)
    }
}

/// Whether it is an error of the definition, which is told when that is carried out.
fn is_found_late(e: &BindError, statement: &ast::Statement) -> bool {
    matches!(statement.kind, S::CreateTable(_) | S::AlterTable(_) | S::CreateIndex(_))
        && is_of_definition(e.number)
}
