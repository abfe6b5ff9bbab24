//! Whether an expression that calls functions of the user's gives the same for the same row, so that a row, an index or a
//! view may keep its value.
//!
//! A scalar function does when it is made WITH SCHEMABINDING, so that what it calls stays as it is, when it reads no table,
//! and when all that its statements evaluate is deterministic. Source: SQL Server's documentation, "Deterministic and
//! nondeterministic functions".

use catalog::{ModuleKind, ProcedureDef};
use ir::*;
use syntax::ast;

use semantics::kept;
use semantics::names::Names;

/// Functions that call each other go no deeper, as when they run.
const DEPTH_MAX: u32 = 32;

/// The same for the same row, whoever asks and whenever.
pub(crate) fn is_deterministic(e: &Expr, names: &dyn Names) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Var(_) => true,
        _ => differs(e, names, 0),
    })
}

/// Whether a scalar function gives the same for the same arguments, as OBJECTPROPERTY has it.
pub fn is_deterministic_function(id: i32, names: &dyn Names) -> bool {
    names.function_by_id(id).is_some_and(|def| of_definition(&def, names, 0))
}

fn of_definition(def: &ProcedureDef, names: &dyn Names, depth: u32) -> bool {
    if def.kind != ModuleKind::ScalarFunction || depth > DEPTH_MAX {
        return false;
    }
    let Some(ast::StatementKind::CreateFunction(create)) = kept::definition(def) else {
        return false;
    };
    if !create.options.iter().any(|option| option == "SCHEMABINDING") {
        return false;
    }
    match crate::bind_function(&create, &def.text, Some(&def.schema), names) {
        Ok(program) => of_statements(&program.body, names, depth),
        Err(_) => false,
    }
}

fn of_statements(statements: &[Stmt], names: &dyn Names, depth: u32) -> bool {
    let same = |e: &Expr| !e.any(&mut |e| differs(e, names, depth));
    let condition = |c: &Condition| c.expr.as_ref().is_some_and(same);
    statements.iter().all(|statement| match &statement.kind {
        StmtKind::SetVars(sets) => sets.iter().all(|(_, e)| same(e)),
        StmtKind::If { condition: c, then, otherwise } => {
            condition(c)
                && of_statements(then, names, depth)
                && of_statements(otherwise, names, depth)
        }
        StmtKind::While { condition: c, body } => condition(c) && of_statements(body, names, depth),
        StmtKind::Block(body) => of_statements(body, names, depth),
        StmtKind::Return(value) => value.as_ref().is_none_or(same),
        StmtKind::Select(select) => match &select.target {
            SelectTarget::Vars(vars) => {
                reads_nothing(&select.query.rel)
                    && of_rel(&select.query.rel, names, depth)
                    && vars.iter().all(|(_, e)| same(e))
            }
            _ => false,
        },
        // Into a table variable: a function changes nothing else.
        StmtKind::Insert(insert) => match &insert.source {
            InsertSource::Values(rows) => rows.iter().flatten().all(same),
            _ => false,
        },
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Label(_)
        | StmtKind::Goto(_)
        | StmtKind::Nothing => true,
        _ => false,
    })
}

fn of_rel(rel: &Rel, names: &dyn Names, depth: u32) -> bool {
    let mut all = true;
    rel.walk_exprs(&mut |e| all = all && !e.any(&mut |e| differs(e, names, depth)));
    all
}

/// Nothing but table variables, which are the function's own.
fn reads_nothing(rel: &Rel) -> bool {
    let own = match rel {
        Rel::Get(get) => matches!(get.table.place, catalog::Place::Variable(_)),
        Rel::System { .. } | Rel::Function { .. } => false,
        _ => true,
    };
    own && rel.inputs().into_iter().all(reads_nothing)
}

/// May this alone, apart from its operands, be another value the next time?
fn differs(e: &Expr, names: &dyn Names, depth: u32) -> bool {
    match &e.kind {
        ExprKind::Func { func: FuncId::User(called), .. } => {
            let def = names.function_by_id(called.object_id);
            !def.is_some_and(|def| of_definition(&def, names, depth + 1))
        }
        ExprKind::Func { func, .. } => !func.is_deterministic(),
        ExprKind::Sys(_) | ExprKind::NextIdentity => true,
        ExprKind::Subquery { query, .. } => !reads_nothing(&query.rel),
        _ => false,
    }
}
