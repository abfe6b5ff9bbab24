//! User-defined functions where they are named, and their definitions.
//!
//! A scalar function is a call by its object id, an inline one its query bound anew in place, one with statements a
//! source of rows that whoever runs plans fills. Promise: the body of an inline function sees its parameters alone,
//! neither the variables nor the columns around its name.

use std::sync::Arc;

use catalog::{ModuleKind, ProcedureDef, TableSpec};
use ir::*;
use syntax::{LexOptions, MentionKind, ast};

use crate::context::*;
use crate::statements::{ProgramBinder, Returning};
use crate::view::{not_of_temporary, unnamed};
use semantics::deterministic;
use semantics::kept;
use semantics::names::Names;
use semantics::tree::is_default;
use semantics::{BindError, Result};

/// The variable for a scalar function's value: no program can write this name.
const RESULT: &str = "@\u{1}result";

/// Functions of users as those ask for them who judge what an expression computes.
pub(crate) struct BoundFunctions<'n>(pub &'n dyn Names);

impl deterministic::Functions for BoundFunctions<'_> {
    fn definition(&self, id: i32) -> Option<Arc<ProcedureDef>> {
        self.0.function_by_id(id)
    }

    fn body(&self, create: &ast::CreateFunction, def: &ProcedureDef) -> Option<Program> {
        bind_function(create, &def.text, Some(&def.schema), self.0, None).ok()
    }
}

/// Whether a scalar function gives the same for the same arguments, as OBJECTPROPERTY has it.
pub fn is_deterministic_function(id: i32, names: &dyn Names) -> bool {
    deterministic::is_deterministic_function(id, &BoundFunctions(names))
}

impl Binder<'_> {
    /// A call of a scalar function by a name with a schema; 4121.
    pub fn user_function(&mut self, f: &ast::FunctionCall, line: u32) -> Result<Option<Expr>> {
        self.touched.set(true);
        self.not_of_another("function", &f.name)?;
        let name = self.meant(&f.name);
        let Some(def) = self.names.function(&name).filter(|d| d.kind == ModuleKind::ScalarFunction)
        else {
            return Ok(None);
        };
        let create = definition(&def, &f.name, line)?;
        let ast::FunctionReturns::Scalar { ty, .. } = &create.returns else { return Ok(None) };
        self.check_function_over_change(&f.name, &create)?;
        let ty = self.declared_type(ty)?;
        let args = self.routine_args(&create, &f.name, &f.args, line)?;
        let kind = ExprKind::Func { func: FuncId::User(self.called(&def)), args };
        Ok(Some(Expr::new(kind, ty, true)))
    }

    /// A call of it, from where it stands.
    fn called(&self, function: &ProcedureDef) -> Called {
        let within = self.through.as_ref().map_or(0, |module| module.object_id);
        Called { object_id: function.object_id, within }
    }

    /// Arguments as the parameters want them: 313, 8144, 201.
    fn routine_args(
        &mut self,
        create: &ast::CreateFunction,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        line: u32,
    ) -> Result<Vec<Expr>> {
        if args.len() < create.parameters.len() {
            return Err(BindError::new(
                313,
                16,
                line,
                format!(
                    "An insufficient number of arguments were supplied for the procedure or function {name}."
                ),
            )
            .with_state(2));
        }
        if args.len() > create.parameters.len() {
            return Err(BindError::new(
                8144,
                16,
                line,
                format!("Procedure or function {name} has too many arguments specified."),
            ));
        }
        let mut out = Vec::with_capacity(args.len());
        for (arg, param) in args.iter().zip(&create.parameters) {
            let ty = self.declared_type(&param.ty)?;
            let bound = match (is_default(arg), &param.default) {
                (true, Some(default)) => self.expr(default)?,
                (true, None) => {
                    return Err(BindError::new(
                        201,
                        16,
                        line,
                        format!(
                            "Procedure or function '{}' expects parameter '{}', which was not supplied.",
                            create.name.name.value, param.name.name
                        ),
                    ));
                }
                (false, _) => self.expr(arg)?,
            };
            let bound = self.coerce(bound, ty, CastMode::Implicit)?;
            out.push(self.plain_text(bound));
        }
        Ok(out)
    }

    /// A table-valued function in FROM.
    pub fn table_routine(
        &mut self,
        def: &ProcedureDef,
        name: &ast::ObjectName,
        args: &[ast::Expr],
        alias: Option<&ast::Ident>,
        columns: &[ast::Ident],
    ) -> Result<Source> {
        let line = name.span.line.max(1);
        let create = definition(def, name, line)?;
        let args = self.routine_args(&create, name, args, line)?;
        let mut source = match &create.returns {
            ast::FunctionReturns::Scalar { .. } => {
                return Err(BindError::invalid_object(name, line));
            }
            ast::FunctionReturns::Inline(query) => {
                let (rel, bound, through) = self.unfold(def, &create, query, args, line)?;
                let own = bound.output.iter().map(|c| c.name.as_deref().unwrap_or_default().into());
                let own: Vec<Box<str>> = own.collect();
                let exposed = &alias.unwrap_or(&name.name).value;
                let mut source = self.expose_as(bound, exposed, &name.name.value, columns)?;
                self.expose_module(&through, own.into_iter(), &source);
                source.rel = match rel {
                    None => source.rel,
                    Some(left) => Rel::Apply {
                        outer: false,
                        left: Box::new(left),
                        right: Box::new(source.rel),
                    },
                };
                source
            }
            ast::FunctionReturns::Table { variable, definition, .. } => {
                let spec = self.returned_table(def, variable, definition)?;
                let shown = spec.columns.iter().map(|c| SystemColumn {
                    name: c.name.to_string(),
                    ty: c.ty,
                    nullable: c.nullable != Some(false),
                });
                let view = SystemView {
                    name: format!("{}.{}", def.schema, def.name),
                    database: None,
                    columns: shown.collect(),
                    params: Some(args.iter().map(|a| a.ty).collect()),
                    function: Some(self.called(def)),
                };
                self.system(Arc::new(view), args, name, alias, columns)?
            }
        };
        if alias.is_none()
            && let Some(table) = source.tables.first_mut()
        {
            table.schema = Some(def.schema.to_string());
            table.shown = name.to_string();
        }
        Ok(source)
    }

    /// An inline function's query over its arguments; those that are not simple come as a row of their own.
    fn unfold(
        &mut self,
        def: &ProcedureDef,
        create: &ast::CreateFunction,
        query: &ast::Query,
        args: Vec<Expr>,
        line: u32,
    ) -> Result<(Option<Rel>, Query, Arc<Through>)> {
        self.count_unfolding(&create.name.name.value, line)?;
        let mut computed = Vec::new();
        let mut params = Vec::with_capacity(args.len());
        for (param, arg) in create.parameters.iter().zip(args) {
            let simple = matches!(
                arg.kind,
                ExprKind::Const(_) | ExprKind::Var(_) | ExprKind::Col(_) | ExprKind::Param(_)
            );
            let value = if simple {
                arg
            } else {
                let id = self.new_col();
                let value = Expr::col(id, arg.ty, arg.nullable);
                self.note_plain([(id, arg.ty)].into_iter());
                computed.push((id, arg));
                value
            };
            params.push((param.name.name.to_lowercase(), value));
        }
        let schema = Some(def.schema.as_ref().into());
        let query = |b: &mut Self| b.deeper(QUERY_DEPTH, |b| b.derived(query, line));
        let sources = self.sources.take();
        let (through, bound) =
            self.reached_by(def, |b| b.inside(params, |b| b.in_schema(schema, query)));
        let bound = bound?;
        self.sources = sources;
        if let Some(sources) = &mut self.sources {
            sources.unfolded(&bound.rel);
        }
        let left = (!computed.is_empty())
            .then(|| Rel::Project { input: Box::new(Rel::OneRow), exprs: computed });
        Ok((left, bound, through))
    }

    /// Binds what sees these parameters and nothing else of what is around.
    fn inside<T>(
        &mut self,
        params: Vec<(String, Expr)>,
        f: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<T> {
        let outer = self.params.replace(params);
        let result = self.apart(f);
        self.params = outer;
        result
    }

    /// CREATE FUNCTION of an inline one: its query binds, and every column has a name: 4514, 4506, 1033.
    fn check_inline(&mut self, create: &ast::CreateFunction, query: &ast::Query) -> Result<()> {
        let line = create.name.span.line.max(1);
        let schema = create.name.schema.as_ref().map(|schema| schema.value.as_str().into());
        let name = &create.name.name.value;
        crate::view::check_stars(&create.options, query)?;
        let bound = self.inline_query(create, query, schema)?;
        if let Some(n) = unnamed(&bound) {
            return Err(BindError::new(
                4514,
                16,
                line,
                format!(
                    "CREATE FUNCTION failed because a column name is not specified for column {n}."
                ),
            ));
        }
        not_of_temporary(&bound, line)?;
        self.expose_as(bound, name, name, &[]).map(|_| ())
    }

    /// The query of an inline function, over parameters of which nothing is known.
    pub fn inline_query(
        &mut self,
        create: &ast::CreateFunction,
        query: &ast::Query,
        schema: Option<Arc<str>>,
    ) -> Result<Query> {
        let line = create.name.span.line.max(1);
        let mut params: Vec<(String, Expr)> = Vec::new();
        for p in &create.parameters {
            let key = p.name.name.to_lowercase();
            if params.iter().any(|(known, _)| *known == key) {
                return Err(crate::statements::already_declared(
                    &p.name.name,
                    p.name.span.line.max(1),
                ));
            }
            if p.not_null {
                return Err(semantics::native::not_null_outside(p.name.span.line.max(1)));
            }
            let ty = self.declared_type(&p.ty).map_err(|e| {
                let (schema, name) = (p.ty.schema.as_ref(), p.ty.name.clone());
                let schema = schema.map(|s| s.value.clone());
                let written = ObjectName { database: None, schema, name };
                match self.names.has_memory_optimized_type(&written) {
                    Some(_) => {
                        let what = "a table-valued parameter of an inline function";
                        BindError::unsupported(what, e.line)
                    }
                    None => e,
                }
            })?;
            let value = Expr::col(self.new_col(), ty, true);
            params.push((key, value));
        }
        let query = |b: &mut Self| b.deeper(QUERY_DEPTH, |b| b.derived(query, line));
        self.inside(params, |b| b.in_schema(schema, query))
    }

    /// The columns of the table that a function with statements returns.
    pub fn returned_table(
        &mut self,
        def: &ProcedureDef,
        variable: &ast::Variable,
        definition: &ast::TableDefinition,
    ) -> Result<TableSpec> {
        self.inside(Vec::new(), |b| b.table_spec(definition, &def.text, &variable.name))
    }
}

/// The kind of module that a definition makes.
pub(crate) fn kind_of(create: &ast::CreateFunction) -> ModuleKind {
    match create.returns {
        ast::FunctionReturns::Scalar { .. } => ModuleKind::ScalarFunction,
        ast::FunctionReturns::Inline(_) => ModuleKind::InlineFunction,
        ast::FunctionReturns::Table { .. } => ModuleKind::TableFunction,
    }
}

/// CREATE FUNCTION: the whole is bound for its errors.
pub(crate) fn check_function(
    create: &ast::CreateFunction,
    text: &str,
    names: &dyn Names,
    b: &mut Binder<'_>,
) -> Result<()> {
    let line = create.name.span.line.max(1);
    semantics::native::check_function(create, names)?;
    if semantics::names::is_temporary(&create.name.name.value) {
        return Err(BindError::new(
            1062,
            15,
            line,
            "CREATE FUNCTION does not allow temporary functions.",
        ));
    }
    if let ast::FunctionReturns::Scalar { ty, .. } = &create.returns
        && matches!(ty.name.as_str(), "text" | "ntext" | "image" | "timestamp" | "rowversion")
    {
        let text = format!("The {} data type is invalid for return values.", ty.name);
        return Err(BindError::new(2733, 16, line, text));
    }
    for p in &create.parameters {
        if p.output {
            let text = "Cannot use the OUTPUT option in a DECLARE, CREATE AGGREGATE or CREATE FUNCTION statement.";
            return Err(BindError::new(181, 15, p.name.span.line.max(1), text));
        }
    }
    let of_rows = |kind| matches!(kind, MentionKind::Source | MentionKind::Target);
    let mentions = syntax::mentions(text, &LexOptions::default());
    let mut names_of_rows = mentions.iter().filter(|m| of_rows(m.kind)).map(|m| &m.name.name);
    if let Some(name) = names_of_rows.find(|name| name.value.starts_with('#')) {
        let text = "Cannot access temporary tables from within a function.";
        return Err(BindError::new(2772, 16, name.span.line.max(1), text));
    }
    match &create.returns {
        ast::FunctionReturns::Inline(query) => b.check_inline(create, query),
        _ => {
            let schema = create.name.schema.as_ref().map(|schema| schema.value.as_str());
            bind_function(create, text, schema, names, None).map(|_| ())
        }
    }
}

/// Binds the body of a function with statements.
pub(crate) fn bind_function(
    create: &ast::CreateFunction,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
    uses: Option<semantics::uses::Uses>,
) -> Result<Program> {
    let line = create.name.span.line.max(1);
    let (body, atomic) =
        semantics::native::block(&create.options, create.returns.statements(), line)?;
    let native = atomic.is_some();
    let binder = ProgramBinder::new(names, text, false).of_module(schema).atomic(atomic);
    let mut binder = binder.noting(uses);
    let params = binder.parameters(&create.parameters)?;
    let returning = match &create.returns {
        ast::FunctionReturns::Scalar { ty, .. } => {
            let ty = binder.declared_type(ty)?;
            let var = binder.declare_scalar(RESULT, ty, line)?;
            Returning::Scalar(var, ty)
        }
        ast::FunctionReturns::Table { variable, definition, .. } => {
            let slot = binder.declare_returned(variable, definition)?;
            Returning::Table(slot)
        }
        ast::FunctionReturns::Inline(_) => {
            return Err(BindError::new(102, 15, line, "An inline function has no statements."));
        }
    };
    if !matches!(body.last().map(|s| &s.kind), Some(ast::StatementKind::Return(_))) {
        return Err(BindError::new(
            455,
            16,
            body.last().map_or(line, |s| s.span.line.max(1)),
            "The last statement included within a function must be a return statement.",
        )
        .with_state(2));
    }
    body.iter().try_for_each(|s| semantics::effects::check(s, native))?;
    binder.returning = Some(returning);
    let mut program = binder.program(params, body)?;
    if let Some(ProgramResult::Scalar { strict, .. }) = &mut program.result {
        *strict = create.options.iter().any(|o| o == "RETURNS NULL ON NULL INPUT");
    }
    Ok(program)
}

/// The definition of a function from its text; 4413.
fn definition(
    def: &ProcedureDef,
    name: &ast::ObjectName,
    line: u32,
) -> Result<ast::CreateFunction> {
    match kept::definition(def) {
        Some(ast::StatementKind::CreateFunction(create)) => Ok(*create),
        _ => Err(BindError::new(
            4413,
            16,
            line,
            format!("Could not use view or function '{name}' because of binding errors."),
        )),
    }
}
