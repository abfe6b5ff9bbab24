//! Statements: the frame declared, control flow laid out, leaves bound now or left for later.
//!
//! The rule of lateness. A leaf that fails for a missing object is deferred. After a statement of
//! the same batch that may change what names mean (DDL, SELECT INTO, EXEC) a leaf that fails for another
//! reason to do with names is deferred too, unless it is the columns of tables that are there and stay; after USE every leaf that asks the catalog is, because
//! it would be bound in the wrong database. Everything else is an error of the whole batch.

mod leaf;
mod rare;

use std::collections::HashMap;
use std::sync::Arc;

use ir::*;
use syntax::ast::{self, StatementKind as S};
use types::{Len, SqlType, Value};

use crate::context::{Binder, Frame};
use crate::routine::Returning;
use semantics::definitions::is_of_definition;
use semantics::names::Names;
use semantics::tree::has_into;
use semantics::type_names::{named_type, system_type};
use semantics::{BindError, Result};

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
    uses: Option<crate::uses::Uses>,
    breath: runtime::task::Breath,
}

/// Parameters of a module or of a text (180).
const PARAMETERS_MAX: usize = 2100;

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
    pub fn noting(mut self, uses: Option<crate::uses::Uses>) -> ProgramBinder<'a> {
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

    /// One more variable, before the statements.
    pub fn declare_scalar(&mut self, name: &str, ty: SqlType, line: u32) -> Result<VarId> {
        self.frame.declare(name, ty).ok_or_else(|| already_declared(name, line))
    }

    /// `inserted` or `deleted` of a trigger, in that slot.
    pub fn declare_rows(&mut self, slot: u16, name: &str, table: &catalog::TableDef) -> Result<()> {
        let def = crate::trigger::rows_def(slot, name, table)?;
        self.frame.parent = Some(table.object_id);
        self.frame.tables.push(TableVariable { def: Arc::new(def), readonly: true, of_type: None });
        Ok(())
    }

    /// A cursor variable; its number. 134.
    fn declare_cursor(&mut self, name: &str, line: u32) -> Result<u16> {
        let frame = &mut self.frame;
        if frame.find(name).is_some() || frame.table(name).is_some() || frame.cursor(name).is_some()
        {
            return Err(already_declared(name, line));
        }
        frame.cursors.push(name.to_string());
        Ok(frame.cursors.len() as u16 - 1)
    }

    /// The table variable that a function returns.
    pub fn declare_returned(
        &mut self,
        variable: &ast::Variable,
        definition: &ast::TableDefinition,
    ) -> Result<u16> {
        let line = variable.span.line.max(1);
        let frame = std::mem::take(&mut self.frame);
        let spec = self.binder(&frame, line).table_spec(definition, self.text, &variable.name);
        self.frame = frame;
        self.declare_table(&variable.name, (None, spec?), false, line)
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

    /// A parameter of the type [`crate::UNDECLARED`]; 134 when there is one of that name.
    pub fn undeclared(&mut self, name: &str) -> Result<ProcParam> {
        let ty = crate::UNDECLARED;
        if self.frame.declare(name, ty).is_none() {
            return Err(already_declared(name, 1));
        }
        let name = name.to_owned();
        Ok(ProcParam {
            name,
            ty,
            default: None,
            output: false,
            of_type: None,
            table: None,
            cursor: None,
        })
    }

    pub fn parameters(&mut self, parameters: &[ast::Parameter]) -> Result<Vec<ProcParam>> {
        if let Some(beyond) = parameters.get(PARAMETERS_MAX) {
            let verb = if self.procedure { "CREATE PROCEDURE/FUNCTION" } else { "EXECUTE" };
            let text = format!(
                "There are too many parameters in this {verb} statement. The maximum number is {PARAMETERS_MAX}."
            );
            return Err(BindError::new(180, 15, beyond.name.span.line.max(1), text));
        }
        let mut out = Vec::with_capacity(parameters.len());
        for p in parameters {
            let line = p.name.span.line.max(1);
            if p.not_null && self.atomic.is_none() {
                return Err(semantics::native::not_null_outside(line));
            }
            if let Some((id, spec)) = self.table_type(&p.ty) {
                if !p.readonly {
                    return Err(BindError::new(
                        352,
                        15,
                        line,
                        format!(
                            "The table-valued parameter \"{}\" must be declared with the READONLY \
                             option.",
                            p.name.name
                        ),
                    ));
                }
                let slot = self.declare_table(&p.name.name, (Some(id), spec), true, line)?;
                // Its place among the variables stays empty.
                let name = p.name.name.clone();
                self.frame.vars.push(VarDef { name, ty: SqlType::Int, not_null: false });
                out.push(ProcParam {
                    name: p.name.name.clone(),
                    ty: SqlType::Int,
                    default: None,
                    output: false,
                    of_type: Some(p.ty.name.as_str().into()),
                    table: Some(slot),
                    cursor: None,
                });
                continue;
            }
            if let Some(ast::Varying(varying)) = p.cursor {
                // sp_executesql declares them without VARYING too.
                if !p.output || (self.procedure && !varying) || p.default.is_some() {
                    return Err(BindError::new(
                        1051,
                        15,
                        line,
                        "Cursor parameters in a stored procedure must be declared with OUTPUT and VARYING options, and \
                         they must be specified in the order CURSOR VARYING OUTPUT.",
                    ));
                }
                let slot = self.declare_cursor(&p.name.name, line)?;
                let name = p.name.name.clone();
                // As that of a table.
                self.frame.vars.push(VarDef {
                    name: name.clone(),
                    ty: SqlType::Int,
                    not_null: false,
                });
                let (ty, cursor) = (SqlType::Int, Some(slot));
                out.push(ProcParam {
                    name,
                    ty,
                    default: None,
                    output: true,
                    of_type: None,
                    table: None,
                    cursor,
                });
                continue;
            }
            let ty = self.declared_type(&p.ty).map_err(|e| named_in(e, &p.ty, &p.name.name))?;
            if p.readonly {
                return Err(BindError::new(
                    346,
                    15,
                    line,
                    format!(
                        "The parameter \"{}\" can not be declared READONLY since it is not a \
                         table-valued parameter.",
                        p.name.name
                    ),
                ));
            }
            if self.frame.declare(&p.name.name, ty).is_none() {
                return Err(already_declared(&p.name.name, line));
            }
            self.forbid_null(p.not_null);
            let default = match &p.default {
                None => None,
                Some(e) => Some(self.constant_default(e, ty, line)?),
            };
            let name = p.name.name.clone();
            let (output, cursor) = (p.output, None);
            out.push(ProcParam { name, ty, default, output, of_type: None, table: None, cursor });
        }
        Ok(out)
    }

    /// Of the variable declared last: NOT NULL.
    fn forbid_null(&mut self, not_null: bool) {
        if let Some(var) = self.frame.vars.last_mut() {
            var.not_null = not_null;
        }
    }

    /// The type of a variable or parameter; 2715.
    pub fn declared_type(&self, ty: &ast::TypeName) -> Result<SqlType> {
        let (found, alias) = named_type(self.names, ty)?;
        if alias.is_some() {
            self.aliases.set(true);
        }
        Ok(found)
    }

    /// What a type's name means where it is a table type.
    fn table_type(&self, ty: &ast::TypeName) -> Option<(i32, catalog::TableSpec)> {
        if !ty.args.is_empty() || (ty.schema.is_none() && system_type(ty, false).is_ok()) {
            return None;
        }
        self.names.table_type(&ObjectName {
            database: None,
            schema: ty.schema.as_ref().map(ToString::to_string),
            name: ty.name.to_string(),
        })
    }

    /// A table variable or table-valued parameter, in a slot of its own; 134.
    fn declare_table(
        &mut self,
        name: &str,
        (of_type, mut spec): (Option<i32>, catalog::TableSpec),
        readonly: bool,
        line: u32,
    ) -> Result<u16> {
        if self.frame.find(name).is_some() || self.frame.table(name).is_some() {
            return Err(already_declared(name, line));
        }
        spec.name = name.into();
        let slot = self.frame.tables.len() as u16;
        // Below the ids of all databases' objects, and unlike those of temporary tables.
        let id = -1 - slot as i32;
        let def = catalog::define_private(&spec, catalog::Place::Variable(slot), id, 1)
            .map_err(|e| BindError::of_catalog(e, line))?;
        self.frame.tables.push(TableVariable { def: Arc::new(def), readonly, of_type });
        Ok(slot)
    }

    /// The default of a parameter: a constant, converted.
    fn constant_default(&self, e: &ast::Expr, ty: SqlType, line: u32) -> Result<Value> {
        let mut binder = Binder::new(self.names, &self.frame, line);
        let bound = match &e.kind {
            // A bare word is a text.
            ast::ExprKind::Column(c) if c.qualifier.is_empty() => {
                let n = c.name.value.chars().count().clamp(1, 4000) as u16;
                Expr::constant(Value::str(&c.name.value), SqlType::NVarChar(Len::N(n)))
            }
            _ => binder.expr(e)?,
        };
        let (value, from) = match bound.kind {
            ExprKind::Const(value) => (value, bound.ty),
            ExprKind::Neg(inner) => match inner.kind {
                ExprKind::Const(value) => {
                    (types::arith::neg(&value).map_err(|e| BindError::of_type(e, line))?, bound.ty)
                }
                _ => return Err(BindError::new(102, 15, line, "Incorrect syntax near '='.")),
            },
            _ => return Err(BindError::new(102, 15, line, "Incorrect syntax near '='.")),
        };
        if value.is_null() {
            return Ok(Value::Null);
        }
        // What a date means is the session's matter that calls.
        if let Value::Str(text) = &value
            && ty.is_temporal()
            && !types::convert::is_plain_date(text)
        {
            return Ok(value);
        }
        types::convert::cast(&value, from, ty, 0).map_err(|e| BindError::of_type(e, line))
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

    fn declare(
        &mut self,
        statement: &ast::Statement,
        declarations: &[ast::Declaration],
    ) -> Result<Stmt> {
        let line = statement.span.line.max(1);
        let mut inits = false;
        let mut bound = Vec::new();
        let mut touched = false;
        for d in declarations {
            self.breath.steps(64)?;
            let d_line = d.name.span.line.max(1);
            let (ty, init) = match &d.kind {
                // Bound again: the frame knows the table already.
                _ if self.eager && self.frame.table(&d.name.name).is_some() => continue,
                ast::DeclarationKind::Table(definition) => {
                    let frame = std::mem::take(&mut self.frame);
                    let mut binder = self.binder(&frame, d_line);
                    let spec = binder.table_spec(definition, self.text, &d.name.name);
                    self.frame = frame;
                    self.declare_table(&d.name.name, (None, spec?), false, d_line)?;
                    continue;
                }
                ast::DeclarationKind::Cursor => {
                    if !self.eager {
                        self.declare_cursor(&d.name.name, d_line)?;
                    }
                    continue;
                }
                ast::DeclarationKind::Scalar { ty, not_null, init } => {
                    if *not_null && self.atomic.is_none() {
                        return Err(semantics::native::not_null_outside(d_line));
                    }
                    (ty, init)
                }
            };
            if init.is_none()
                && let Some((id, spec)) = self.table_type(ty)
            {
                self.declare_table(&d.name.name, (Some(id), spec), false, d_line)?;
                continue;
            }
            if crate::define::is_long_type(ty) {
                let text = "The text, ntext, and image data types are invalid for local variables.";
                return Err(BindError::new(2739, 16, d_line, text));
            }
            let declared = self.declared_type(ty).map_err(|e| named_in(e, ty, &d.name.name));
            let ty = declared.map_err(|e| if e.number == 2715 { e.with_state(3) } else { e })?;
            if self.eager {
                // Bound again: the frame knows the variable already.
            } else if self.frame.declare(&d.name.name, ty).is_none() {
                return Err(already_declared(&d.name.name, d_line));
            } else {
                self.forbid_null(d.kind.is_not_null());
            }
            let Some(init) = init else { continue };
            inits = true;
            let mut binder = self.binder(&self.frame, d_line);
            match binder.assignment(&d.name, ast::AssignOp::Set, init) {
                Ok(set) => {
                    if let Some(uses) = &self.uses {
                        crate::uses::of_value(uses, binder.sources.take(), &set.1);
                    }
                    bound.push(set);
                }
                Err(e) if self.may_defer(&e, binder.touched.get()) => touched = true,
                Err(e) => return Err(e),
            }
            touched |= binder.touched.get();
        }
        if !inits {
            return Ok(Stmt { line, span: statement.span, kind: StmtKind::Nothing, source: None });
        }
        let source = touched.then(|| Arc::new(statement.clone()));
        let complete = bound.len()
            == declarations
                .iter()
                .filter(|d| matches!(&d.kind, ast::DeclarationKind::Scalar { init: Some(_), .. }))
                .count();
        let late = touched && self.database_moved && !self.eager;
        let kind = if complete && !late { StmtKind::SetVars(bound) } else { StmtKind::Deferred };
        Ok(Stmt { line, span: statement.span, kind, source })
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
            crate::uses::of_value(uses, binder.sources.take(), expr);
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
            crate::uses::of_statement(uses, binder.sources.take(), kind, &statement.kind);
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
        self.objects_moved |= match &statement.kind {
            S::AlterTable(_)
            | S::CreateIndex(_)
            | S::AlterIndex(_)
            | S::Execute(_)
            | S::ExecuteString(_) => false,
            S::Select(query) => has_into(&query.body),
            S::CreateTable(_)
            | S::Partition(_)
            | S::CreateType(_)
            | S::CreateBindable(_)
            | S::CreateView(_)
            | S::DefineSequence(_)
            | S::CreateSynonym(_)
            | S::Security(_)
            | S::ExecuteAs { .. }
            | S::Revert { .. }
            | S::Rare(_)
            | S::Drop(_) => true,
            _ => false,
        };
        match &statement.kind {
            S::Use(_) => self.database_moved = true,
            S::CreateTable(_)
            | S::Partition(_)
            | S::CreateType(_)
            | S::CreateBindable(_)
            | S::CreateView(_)
            | S::DefineSequence(_)
            | S::CreateSynonym(_)
            | S::AlterTable(_)
            | S::CreateIndex(_)
            | S::AlterIndex(_)
            | S::Security(_)
            | S::ExecuteAs { .. }
            | S::Revert { .. }
            | S::Rare(_)
            | S::Drop(_)
            | S::Execute(_)
            | S::ExecuteString(_) => self.names_moved = true,
            S::Select(query) if has_into(&query.body) => self.names_moved = true,
            _ => {}
        }
        Ok(stmt)
    }
}

/// Whether it is an error of the definition, which is told when that is carried out.
fn is_found_late(e: &BindError, statement: &ast::Statement) -> bool {
    matches!(statement.kind, S::CreateTable(_) | S::AlterTable(_) | S::CreateIndex(_))
        && is_of_definition(e.number)
}

pub(crate) fn already_declared(name: &str, line: u32) -> BindError {
    BindError::new(
        134,
        15,
        line,
        format!(
            "The variable name '{name}' has already been declared. Variable names must be unique \
             within a query batch or stored procedure."
        ),
    )
}

/// 2717 tells the variable or parameter.
fn named_in(mut error: BindError, ty: &ast::TypeName, name: &str) -> BindError {
    if error.number == 2717 {
        let own = format!("given to the parameter '{}'", ty.name);
        error.text = error.text.replacen(&own, &format!("given to the parameter '{name}'"), 1);
    }
    error
}
