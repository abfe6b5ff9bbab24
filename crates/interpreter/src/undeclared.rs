//! sp_describe_undeclared_parameters: the types that the parameters of a text should have.
//!
//! A parameter that nobody declared is bound with a type that nothing else has; what the binder converts it to, or
//! compares it with, is the type to suggest. The argument of a procedure has the type of the procedure's
//! parameter, which may be a table type: drivers learn the name of a table-valued parameter's type here.

use crate::code::Code;
use crate::describe::{LONG_NAME, NAME, TYPE_NAME, argument, bit, columns, facts, user_type};
use crate::vm::Vm;
use binder::UNDECLARED;
use catalog::{ModuleKind, ProcedureDef};
use commands::Argument;
use executor::{Command, SqlError};
use ir::{Data, Exec, Expr, ExprKind, InsertSource, ProcRef, Rel, StmtKind, UpdateSet};
use syntax::ast::StatementKind;
use types::{SqlType, Value};

/// system_type_id, and token on the wire, of a table type.
const TABLE: i32 = 243;

/// What is told of one parameter.
struct Suggested {
    ty: SqlType,
    /// It is of a table type, and `ty` means nothing.
    table: Option<TableType>,
    /// The parameter of the procedure that it is an argument of.
    formal: Option<String>,
}

impl Suggested {
    fn of(ty: SqlType) -> Suggested {
        Suggested { ty, table: None, formal: None }
    }
}

struct TableType {
    id: i32,
    schema: Box<str>,
    name: Box<str>,
}

impl Vm<'_> {
    /// sp_describe_undeclared_parameters @tsql [, @params]; 11506 when the text does not tell a type.
    pub fn describe_parameters(&mut self, args: &[Argument]) -> Result<(), SqlError> {
        use SqlType::{Bit, Int, SmallInt, TinyInt};
        let (text, declarations) = (argument(args, 0, "tsql"), argument(args, 1, "params"));
        let found = self.undeclared(text, declarations)?;
        self.sink.columns(&columns(&[
            ("parameter_ordinal", Int),
            ("name", NAME),
            ("suggested_system_type_id", Int),
            ("suggested_system_type_name", TYPE_NAME),
            ("suggested_max_length", SmallInt),
            ("suggested_precision", TinyInt),
            ("suggested_scale", TinyInt),
            ("suggested_user_type_id", Int),
            ("suggested_user_type_database", NAME),
            ("suggested_user_type_schema", NAME),
            ("suggested_user_type_name", NAME),
            ("suggested_assembly_qualified_type_name", LONG_NAME),
            ("suggested_xml_collection_id", Int),
            ("suggested_xml_collection_database", NAME),
            ("suggested_xml_collection_schema", NAME),
            ("suggested_xml_collection_name", NAME),
            ("suggested_is_xml_document", Bit),
            ("suggested_is_case_sensitive", Bit),
            ("suggested_is_fixed_length_clr_type", Bit),
            ("suggested_is_input", Bit),
            ("suggested_is_output", Bit),
            ("formal_parameter_name", NAME),
            ("suggested_tds_type_id", Int),
            ("suggested_tds_length", Int),
        ]));
        let database = Value::str(&self.state.database.name);
        for (i, (name, found)) in found.iter().enumerate() {
            let ty = found.ty;
            let of = facts(ty);
            let mut row = vec![Value::Int(i as i32 + 1), Value::str(name)];
            match &found.table {
                None => {
                    row.extend([
                        Value::Int(ty.system_type_id() as i32),
                        Value::str(&ty.to_string()),
                        Value::SmallInt(of.max_length),
                        Value::TinyInt(of.precision),
                        Value::TinyInt(of.scale),
                    ]);
                    row.extend(user_type(ty));
                }
                Some(table) => row.extend([
                    Value::Int(TABLE),
                    Value::Null,
                    Value::SmallInt(-1),
                    Value::TinyInt(0),
                    Value::TinyInt(0),
                    Value::Int(table.id),
                    database.clone(),
                    Value::str(&table.schema),
                    Value::str(&table.name),
                    Value::Null,
                ]),
            }
            row.extend(std::iter::repeat_n(Value::Null, 4));
            row.extend([bit(false), bit(false), bit(false), bit(true), bit(false)]);
            row.push(found.formal.as_deref().map_or(Value::Null, Value::str));
            let (tds_type, length) = match &found.table {
                None if of.max_length < 0 => (of.tds_type, 65535),
                None => (of.tds_type, i32::from(of.max_length)),
                Some(_) => (TABLE, 65535),
            };
            row.extend([Value::Int(tds_type), Value::Int(length)]);
            self.sink.row(&row);
        }
        self.tell_done(Command::Select, Some(found.len() as u64));
        Ok(())
    }

    /// The parameters of a text that it does not declare, with the types they should have.
    fn undeclared(
        &mut self,
        text: &str,
        declarations: &str,
    ) -> Result<Vec<(String, Suggested)>, SqlError> {
        let options =
            syntax::LexOptions { quoted_identifier: self.state.options.quoted_identifier };
        let declared = syntax::parse_parameters(declarations, &options)
            .map_err(crate::mistakes::first_mistake)?;
        let mut names =
            syntax::undeclared_variables(text).map_err(crate::mistakes::first_mistake)?;
        names.retain(|n| !declared.iter().any(|d| d.name.name.eq_ignore_ascii_case(n)));
        if names.is_empty() {
            return Ok(Vec::new());
        }
        let (code, _) = self.compile_undeclared(text, Some(declarations), &names)?;
        let mut types: Vec<Option<Suggested>> = Vec::new();
        types.resize_with(code.vars.len(), || None);
        for index in 0..code.statements.len() {
            self.suggest(&code, index, &mut types)?;
        }
        for plan in &code.exprs {
            suggest_from(&plan.expr, &mut types);
        }
        for condition in &code.conditions {
            if let Some(expr) = &condition.expr {
                suggest_from(expr, &mut types);
            }
        }
        names
            .into_iter()
            .map(|name| {
                let place = code.params.iter().position(|p| p.name.eq_ignore_ascii_case(&name));
                match place.and_then(|place| types[place].take()) {
                    Some(found) => Ok((name, found)),
                    None => Err(SqlError::new(
                        11506,
                        16,
                        format!(
                            "The type for parameter '{name}' cannot be deduced in the present context."
                        ),
                    )),
                }
            })
            .collect()
    }

    /// What one statement tells of the parameters.
    fn suggest(
        &mut self,
        code: &Code,
        index: usize,
        types: &mut [Option<Suggested>],
    ) -> Result<(), SqlError> {
        let bound = self.bound(code, index)?;
        let mut kind = &bound;
        let mut look = |expr: &Expr| suggest_from(expr, types);
        if let Some(from) = bound.inner_change() {
            from.filter.iter().chain(&from.row).for_each(&mut look);
            kind = &from.change;
        }
        if let StmtKind::Exec(exec) = kind {
            return self.suggest_arguments(code, exec, types);
        }
        match kind.data() {
            Data::Select(select) => walk(&select.query.rel, &mut look),
            Data::Insert(insert) => match &insert.source {
                InsertSource::Values(rows) => rows.iter().flatten().for_each(look),
                InsertSource::Query { query, row } => {
                    walk(&query.rel, &mut look);
                    row.iter().for_each(look);
                }
                InsertSource::Exec { .. } | InsertSource::Changed(_) => {}
            },
            Data::Update(update) => {
                walk(&update.query.rel, &mut look);
                for set in &update.set {
                    match set {
                        UpdateSet::Column { value, .. }
                        | UpdateSet::Var { value, .. }
                        | UpdateSet::Both { value, .. } => look(value),
                    }
                }
            }
            Data::Delete(delete) => walk(&delete.query.rel, &mut look),
            Data::Merge(merge) => {
                walk(&merge.query.rel, &mut look);
                merge.for_each_expr(&mut look);
            }
            Data::Cursor(_) | Data::SetVars(_) | Data::Return(_) | Data::None => {}
        }
        Ok(())
    }

    /// What the parameters of a procedure tell of its arguments.
    fn suggest_arguments(
        &mut self,
        code: &Code,
        exec: &Exec,
        types: &mut [Option<Suggested>],
    ) -> Result<(), SqlError> {
        let ProcRef::Name(name) = &exec.procedure else { return Ok(()) };
        let Some(definition) = self.find_procedure(code.program.schema.as_deref(), name) else {
            return Ok(());
        };
        let (called, learnt) = self.procedure(&definition)?;
        self.keep_learnt(&definition, &called, learnt);
        for (i, arg) in exec.args.iter().enumerate() {
            let param = match &arg.name {
                None => called.params.get(i),
                Some(name) => called.params.iter().find(|p| p.name.eq_ignore_ascii_case(name)),
            };
            if let (Some(param), Some(Expr { kind: ExprKind::Var(var), .. })) = (param, &arg.value)
                && types[var.0 as usize].is_none()
            {
                let table = param.table.and_then(|_| self.table_type_of(&definition, &param.name));
                let formal = Some(param.name.clone());
                types[var.0 as usize] = Some(Suggested { ty: param.ty, table, formal });
            }
        }
        Ok(())
    }

    /// The table type of a procedure's parameter.
    fn table_type_of(&self, procedure: &ProcedureDef, parameter: &str) -> Option<TableType> {
        let options = syntax::LexOptions { quoted_identifier: procedure.quoted_identifier };
        let batch = syntax::parse_batch(&procedure.text, &options).ok()?;
        let StatementKind::CreateProcedure(create) = &batch.statements.first()?.kind else {
            return None;
        };
        let parameter = create.parameters.iter().find(|p| p.name.name == parameter)?;
        let schema = parameter.ty.schema.as_ref().map(|schema| schema.value.as_str());
        let scope = self.state.transaction.scope();
        let catalog = &self.state.database.catalog;
        let found = catalog.module(scope, schema, &parameter.ty.name, ModuleKind::TableType)?;
        Some(TableType {
            id: found.object_id,
            schema: found.schema.clone(),
            name: found.name.clone(),
        })
    }
}

/// Every expression of a query.
fn walk(rel: &Rel, look: &mut impl FnMut(&Expr)) {
    rel.walk_exprs(&mut |expr| look(expr));
}

/// What an expression tells of the parameters in it.
fn suggest_from(expr: &Expr, types: &mut [Option<Suggested>]) {
    let var = |e: &Expr| match e.kind {
        ExprKind::Var(var) if e.ty == UNDECLARED => Some(var.0 as usize),
        _ => None,
    };
    // What is compared with text is converted to it, as binary is: its own type is the one to suggest.
    let own = |e: &Expr| match &e.kind {
        ExprKind::Cast { input, .. } if e.ty == UNDECLARED => input.ty,
        _ => e.ty,
    };
    expr.walk(&mut |e| match &e.kind {
        ExprKind::Cast { input, .. } => {
            if let Some(var) = var(input) {
                types[var].get_or_insert_with(|| Suggested::of(e.ty));
            }
        }
        ExprKind::Compare { left, right, .. } | ExprKind::Concat { left, right } => {
            for (a, b) in [(left, right), (right, left)] {
                let ty = own(b);
                if let (Some(var), true) = (var(a), ty != UNDECLARED) {
                    types[var].get_or_insert_with(|| Suggested::of(ty));
                }
            }
        }
        ExprKind::Like { input, pattern, .. } => {
            if let (Some(var), true) = (var(pattern), input.ty != UNDECLARED) {
                types[var].get_or_insert_with(|| Suggested::of(input.ty));
            }
        }
        ExprKind::In { input, list, .. } => {
            for item in list {
                if let (Some(var), true) = (var(item), input.ty != UNDECLARED) {
                    types[var].get_or_insert_with(|| Suggested::of(input.ty));
                }
            }
        }
        _ => {}
    });
}
