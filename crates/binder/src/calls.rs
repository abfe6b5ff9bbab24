//! SELECT as a statement (to the client, into variables, into a new table), and EXEC.

use ir::*;
use syntax::ast;
use types::{Len, SqlType, Value};

use crate::context::Binder;
use crate::notes::Browsing;
use crate::select::Assigned;
use semantics::tree::into_of;
use semantics::{BindError, Result};

impl Binder<'_> {
    /// SELECT as a statement: to the client, into variables, into a new table.
    pub fn select_statement(&mut self, query: &ast::Query) -> Result<StmtKind> {
        if let ast::QueryBody::Select(select) = &query.body
            && let Some(set) = self.assignments_alone(query, select)?
        {
            return Ok(StmtKind::SetVars(set));
        }
        let browses = self.settings.browse
            && query.for_clause.is_none()
            && matches!(&query.body, ast::QueryBody::Select(select) if select.into.is_none());
        self.browsing = if browses { Browsing::Keys } else { Browsing::No };
        let (mut bound, assigned) = self.query_with_assignments(query)?;
        if let Some(clause) = &query.for_clause {
            if into_of(&query.body).is_some() {
                return Err(crate::serialize::not_allowed(clause, "SELECT INTO"));
            }
            crate::serialize::for_client(&mut bound);
        }
        for column in &mut bound.output {
            column.nullable =
                column.nullable || semantics::told::may_be_null(&bound.rel, column.id);
        }
        let target = match (assigned, into_of(&query.body)) {
            (Assigned::Vars(vars), None) => SelectTarget::Vars(vars),
            (Assigned::Vars(_), Some(into)) => {
                return Err(BindError::new(
                    194,
                    15,
                    into.table.span.line.max(1),
                    "A SELECT INTO statement cannot contain a SELECT statement that assigns values \
                     to a variable.",
                ));
            }
            (Assigned::No, None) => SelectTarget::Client,
            (Assigned::No, Some(into)) => self.select_into(&bound, into)?,
        };
        Ok(StmtKind::Select(Box::new(Select { query: bound, target })))
    }

    /// `SELECT @a = x, @b = y` without rows is a sequence of assignments.
    fn assignments_alone(
        &mut self,
        query: &ast::Query,
        select: &ast::Select,
    ) -> Result<Option<Vec<(VarId, Expr)>>> {
        let plain = query.with.is_empty()
            && query.order_by.is_empty()
            && query.offset.is_none()
            && select.from.is_empty()
            && select.filter.is_none()
            && select.group_by.is_empty()
            && select.having.is_none()
            && select.top.is_none()
            && select.items.iter().all(|i| matches!(i, ast::SelectItem::Assign { .. }));
        if !plain {
            return Ok(None);
        }
        let mut out = Vec::with_capacity(select.items.len());
        for item in &select.items {
            if let ast::SelectItem::Assign { variable, op, expr } = item {
                // An aggregate without FROM is still a query of one row.
                if mentions_aggregate(expr) {
                    return Ok(None);
                }
                out.push(self.assignment(variable, *op, expr)?);
            }
        }
        crate::sequence::one_number(out.iter_mut().map(|(_, value)| value));
        Ok(Some(out))
    }

    /// `IDENTITY(type [, seed, increment])` of a SELECT INTO: what it says, and a value that is NULL until the row is
    /// written. 177 without INTO, 2749 and 2756.
    pub(crate) fn new_identity(
        &self,
        select: &ast::Select,
        expr: &ast::Expr,
    ) -> Result<Option<(catalog::Identity, Expr)>> {
        let ast::ExprKind::Function(call) = &expr.kind else { return Ok(None) };
        if !call.name.name.is("IDENTITY") || call.name.schema.is_some() {
            return Ok(None);
        }
        let line = expr.span.line.max(1);
        if select.into.is_none() {
            let text = "The IDENTITY function can only be used when the SELECT statement has an INTO clause.";
            return Err(BindError::new(177, 15, line, text));
        }
        let wrong = || BindError::new(102, 15, line, "Incorrect syntax near 'IDENTITY'.");
        let (ty, numbers) = call.args.split_first().ok_or_else(wrong)?;
        let (name, args) = match &ty.kind {
            ast::ExprKind::Column(c) if c.qualifier.is_empty() => (&c.name.value, &[][..]),
            ast::ExprKind::Function(f) => (&f.name.name.value, &f.args[..]),
            _ => return Err(wrong()),
        };
        let digits = |e: &ast::Expr| semantics::constants::constant_int(e).map(|n| n.to_string());
        let args = args.iter().map(|e| {
            Some(ast::TypeArg::Number(u32::try_from(semantics::constants::constant_int(e)?).ok()?))
        });
        let args = args.collect::<Option<Vec<_>>>().ok_or_else(wrong)?;
        let ty = ast::TypeName {
            name: name.to_lowercase(),
            schema: None,
            args,
            xml: None,
            span: ty.span,
        };
        let ty = self.declared_type(&ty)?;
        let (seed, increment) = match numbers {
            [] => ("1".to_owned(), "1".to_owned()),
            [seed, increment] => {
                (digits(seed).ok_or_else(wrong)?, digits(increment).ok_or_else(wrong)?)
            }
            _ => return Err(wrong()),
        };
        let identity = self.identity(&ast::Identity { seed, increment }, ty, "IDENTITY", line)?;
        Ok(Some((identity, Expr::new(ExprKind::Const(Value::Null), ty, true))))
    }

    fn select_into(&mut self, bound: &Query, into: &ast::SelectInto) -> Result<SelectTarget> {
        let line = into.table.span.line.max(1);
        let mut name = ObjectName::from(&into.table);
        self.makes_in(&name);
        if self.away.is_some() {
            name.database = None;
        }
        let mut columns: Vec<catalog::ColumnSpec> = Vec::with_capacity(bound.output.len());
        let mut identity_seen: Option<(&str, bool)> = None;
        for column in &bound.output {
            let Some(column_name) = &column.name else {
                return Err(BindError::new(
                    1038,
                    15,
                    line,
                    "An object or column name is missing or empty. For SELECT INTO statements, \
                     verify each column has a name. For other statements, look for empty alias \
                     names. Aliases defined as \"\" or [] are not allowed. Change the alias to a \
                     valid name.",
                )
                .with_state(5));
            };
            if columns.len() >= catalog::COLUMNS_MAX {
                return Err(semantics::table_definition::too_many_columns(
                    column_name,
                    &name.name,
                    line,
                ));
            }
            if columns.iter().any(|c| catalog::same_name(&c.name, column_name)) {
                return Err(BindError::new(
                    2705,
                    16,
                    line,
                    format!(
                        "Column names in each table must be unique. Column name '{column_name}' in \
                         table '{}' is specified more than once.",
                        name.name
                    ),
                )
                .with_state(3));
            }
            // What IDENTITY(...) makes is told by being NULL until it has its number.
            let made = column.nullable;
            let identity = match (column.identity, identity_seen) {
                (None, _) => None,
                (Some(identity), None) => {
                    identity_seen = Some((column_name, made));
                    Some(identity)
                }
                (Some(_), Some((first, first_made))) if made || first_made => {
                    return Err(two_identities(&name.name, first, made && first_made, line));
                }
                _ => None,
            };
            columns.push(catalog::ColumnSpec {
                nullable: Some(column.nullable && identity.is_none()),
                identity,
                collation: column.collation,
                alias: column
                    .base
                    .as_ref()
                    .filter(|base| base.long)
                    .and_then(|_| long_type(column.ty)),
                ..catalog::ColumnSpec::new(column_name, column.ty)
            });
        }
        let spec = catalog::TableSpec {
            schema: name.schema.as_deref().unwrap_or("").into(),
            name: name.name.as_str().into(),
            columns,
            filegroup: into.filegroup.as_ref().map(|f| f.value.as_str().into()),
            ..catalog::TableSpec::default()
        };
        Ok(SelectTarget::Into { name, spec: Box::new(spec) })
    }

    /// EXEC: arguments are constants and variables.
    pub fn exec(&mut self, exec: &ast::Execute) -> Result<Exec> {
        let procedure = match &exec.procedure {
            ast::ProcedureName::Name(name) => {
                self.of_this_server(name)?;
                ProcRef::Name(ObjectName::from(name))
            }
            ast::ProcedureName::Variable(v) => ProcRef::Var(self.variable(v)?),
            ast::ProcedureName::Text(text) => self.text_to_run(text)?,
        };
        let result_sets = exec.result_sets.as_ref().map(|sets| self.result_shapes(sets));
        let result_sets = result_sets.transpose()?;
        let result = exec.return_code.as_ref().map(|v| self.variable(v)).transpose()?;
        let mut args = Vec::with_capacity(exec.args.len());
        let named = exec.args.iter().position(|arg| arg.name.is_some());
        if let Some(named) = named
            && let Some(after) = exec.args[named..].iter().position(|arg| arg.name.is_none())
        {
            return Err(BindError::new(
                119,
                15,
                self.line,
                format!(
                    "Must pass parameter number {} and subsequent parameters as '@name = value'. After the form '@name = \
                     value' has been used, all subsequent parameters must be passed in the form '@name = value'.",
                    named + after + 1
                ),
            ));
        }
        for arg in &exec.args {
            if let ast::InsertValue::Expr(e) = &arg.value
                && let ast::ExprKind::Variable(v) = &e.kind
                && let Some((slot, _)) = self.frame.table(&v.name)
            {
                if arg.output {
                    let text = format!(
                        "The table variable \"{}\" can not be passed to a stored procedure with the OUTPUT option.",
                        v.name
                    );
                    return Err(BindError::new(348, 16, self.line, text));
                }
                let name = arg.name.as_ref().map(|n| n.name.clone());
                let table = Some(slot);
                args.push(ExecArg { name, value: None, output: None, table, cursor: None });
                continue;
            }
            if let ast::InsertValue::Expr(e) = &arg.value
                && let ast::ExprKind::Variable(v) = &e.kind
                && let Some(slot) = self.frame.cursor(&v.name)
            {
                if !arg.output {
                    return Err(self.not_for_a_cursor(v));
                }
                let name = arg.name.as_ref().map(|n| n.name.clone());
                let cursor = Some(slot);
                args.push(ExecArg { name, value: None, output: None, table: None, cursor });
                continue;
            }
            let value = match &arg.value {
                ast::InsertValue::Default(_) | ast::InsertValue::Write(_) => None,
                ast::InsertValue::Expr(e) => Some(match &e.kind {
                    ast::ExprKind::Column(c) if c.qualifier.is_empty() => {
                        let n = c.name.value.chars().count().clamp(1, 4000) as u16;
                        let ty = SqlType::NVarChar(Len::N(n));
                        Expr::constant(Value::str(&c.name.value), ty)
                    }
                    _ => {
                        let value = self.expr(e)?;
                        self.plain_text(value)
                    }
                }),
            };
            let output = match (&value, arg.output) {
                (Some(Expr { kind: ExprKind::Var(id), .. }), true) => Some(*id),
                (_, true) => {
                    return Err(self.error(
                        179,
                        "Cannot use the OUTPUT option when passing a constant to a stored \
                         procedure.",
                    ));
                }
                (_, false) => None,
            };
            let name = arg.name.as_ref().map(|n| n.name.clone());
            args.push(ExecArg { name, value, output, table: None, cursor: None });
        }
        let acting = match &exec.acting {
            None => None,
            Some((login, name)) => {
                let name = self.expr(name)?;
                let ty = SqlType::NVarChar(Len::N(128));
                Some(Box::new((*login, self.coerce(name, ty, CastMode::Implicit)?)))
            }
        };
        Ok(Exec { procedure, args, result, result_sets, acting })
    }

    /// EXEC ('text') where a call is wanted.
    pub fn exec_text(&mut self, text: &ast::Expr) -> Result<Exec> {
        let procedure = self.text_to_run(text)?;
        Ok(Exec { procedure, args: Vec::new(), result: None, result_sets: None, acting: None })
    }

    fn text_to_run(&mut self, text: &ast::Expr) -> Result<ProcRef> {
        Ok(ProcRef::Text(Box::new(self.text_of_pieces(text)?)))
    }

    /// EXEC ('...' + @v): literals and variables, which become text one by one, whatever their types.
    pub fn text_of_pieces(&mut self, text: &ast::Expr) -> Result<Expr> {
        let ty = SqlType::NVarChar(Len::Max);
        let mut pieces = Vec::new();
        if !pieces_of(text, &mut pieces) {
            let text = self.expr(text)?;
            return self.coerce(text, ty, CastMode::Implicit);
        }
        let mut whole: Option<Expr> = None;
        for piece in pieces {
            let piece = self.expr(piece)?;
            let piece = match piece.ty.is_character() {
                true => piece,
                false => self.coerce(piece, ty, CastMode::Implicit)?,
            };
            whole = Some(match whole {
                None => piece,
                Some(before) => self.arith(ArithOp::Add, before, piece)?,
            });
        }
        match whole {
            Some(whole) => self.coerce(whole, ty, CastMode::Implicit),
            None => stdx::fatal!("a text of no pieces"),
        }
    }
}

/// The operands of a run of `+`, where all are literals or variables.
fn pieces_of<'e>(text: &'e ast::Expr, into: &mut Vec<&'e ast::Expr>) -> bool {
    match &text.kind {
        ast::ExprKind::Literal(_) | ast::ExprKind::Variable(_) => {
            into.push(text);
            true
        }
        ast::ExprKind::Binary { op: ast::BinaryOp::Add, left, right } => {
            pieces_of(left, into) && pieces_of(right, into)
        }
        ast::ExprKind::Chain { first, rest } => {
            let mut all = pieces_of(first, into);
            rest.each(|(op, e)| all = all && *op == ast::BinaryOp::Add && pieces_of(e, into));
            all
        }
        _ => false,
    }
}

/// INTO stands in the first SELECT of a body.
/// 8108, or 8109 when IDENTITY(...) is there twice.
fn two_identities(table: &str, first: &str, both_made: bool, line: u32) -> BindError {
    if both_made {
        let text = format!(
            "Attempting to add multiple identity columns to table '{table}' using the SELECT INTO statement."
        );
        return BindError::new(8109, 16, line, text);
    }
    let text = format!(
        "Cannot add identity column, using the SELECT INTO statement, to table '{table}', which already has column \
         '{first}' that inherits the identity property."
    );
    BindError::new(8108, 16, line, text)
}

fn mentions_aggregate(e: &ast::Expr) -> bool {
    use ast::ExprKind as K;
    match &e.kind {
        K::Function(f) => {
            f.over.is_some()
                || (f.name.schema.is_none()
                    && semantics::signatures::aggregate_func(
                        &f.name.name.value.to_ascii_uppercase(),
                    )
                    .is_some())
                || f.args.iter().any(mentions_aggregate)
        }
        K::Unary { expr, .. } | K::IsNull { expr, .. } | K::Collate { expr, .. } => {
            mentions_aggregate(expr)
        }
        K::Chain { first, rest } => {
            mentions_aggregate(first) || rest.iter().any(|(_, e)| mentions_aggregate(e))
        }
        K::Binary { left, right, .. } => mentions_aggregate(left) || mentions_aggregate(right),
        K::Cast(c) => mentions_aggregate(&c.expr),
        K::Case { operand, branches, otherwise } => {
            operand.as_deref().is_some_and(mentions_aggregate)
                || branches
                    .iter()
                    .any(|b| mentions_aggregate(&b.when) || mentions_aggregate(&b.then))
                || otherwise.as_deref().is_some_and(mentions_aggregate)
        }
        _ => false,
    }
}

/// user_type_id of text, ntext or image, by the type that their values have.
fn long_type(ty: SqlType) -> Option<i32> {
    match ty {
        SqlType::VarBinary(Len::Max) => Some(34),
        SqlType::VarChar(Len::Max) => Some(35),
        SqlType::NVarChar(Len::Max) => Some(99),
        _ => None,
    }
}
