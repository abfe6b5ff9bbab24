//! Variables, parameters, table and cursor variables: a program's frame, as its text declares it.
//!
//! Promise: a name is declared once (134), wherever in the text that is; its place in the frame never moves. Bound again,
//! a statement finds the frame as it was. Errors: 102, 134, 180, 346, 352, 1051, 2715, 2717, 2739.

use std::sync::Arc;

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use super::ProgramBinder;
use crate::context::Binder;
use semantics::type_names::{named_type, system_type};
use semantics::{BindError, Result};

/// Parameters of a module or of a text (180).
const PARAMETERS_MAX: usize = 2100;

impl ProgramBinder<'_> {
    /// One more variable, before the statements.
    pub fn declare_scalar(&mut self, name: &str, ty: SqlType, line: u32) -> Result<VarId> {
        self.frame.declare(name, ty).ok_or_else(|| already_declared(name, line))
    }

    /// `inserted` or `deleted` of a trigger, in that slot.
    pub fn declare_rows(&mut self, slot: u16, name: &str, table: &catalog::TableDef) -> Result<()> {
        let def = semantics::triggers::rows_def(slot, name, table)?;
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

    pub(super) fn declare(
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
            if semantics::table_definition::is_long_type(ty) {
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
                        semantics::uses::of_value(uses, binder.sources.take(), &set.1);
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
