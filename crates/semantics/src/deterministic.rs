//! Whether an expression that calls functions of the user's gives the same for the same row, so that a row, an index or a
//! view may keep its value.
//!
//! A scalar function does when it is made WITH SCHEMABINDING, so that what it calls stays as it is, when it reads no table,
//! and when all that its statements evaluate is deterministic. Source: SQL Server's documentation, "Deterministic and
//! nondeterministic functions".

use std::sync::Arc;

use catalog::{ModuleKind, ProcedureDef};
use ir::*;
use syntax::ast;

use crate::kept;

/// Functions that call each other go no deeper, as when they run.
const DEPTH_MAX: u32 = 32;

/// What the functions that an expression calls are: their definitions, and their bodies bound.
pub trait Functions {
    fn definition(&self, id: i32) -> Option<Arc<ProcedureDef>>;
    /// The body of a scalar function; nothing of one that cannot be bound.
    fn body(&self, create: &ast::CreateFunction, def: &ProcedureDef) -> Option<Program>;
}

/// The same for the same row, whoever asks and whenever.
pub fn is_deterministic(e: &Expr, functions: &dyn Functions) -> bool {
    !e.any(&mut |e| match &e.kind {
        ExprKind::Var(_) => true,
        _ => differs(e, functions, 0),
    })
}

/// Whether a scalar function gives the same for the same arguments, as OBJECTPROPERTY has it.
pub fn is_deterministic_function(id: i32, functions: &dyn Functions) -> bool {
    functions.definition(id).is_some_and(|def| of_definition(&def, functions, 0))
}

fn of_definition(def: &ProcedureDef, functions: &dyn Functions, depth: u32) -> bool {
    if def.kind != ModuleKind::ScalarFunction || depth > DEPTH_MAX {
        return false;
    }
    let Some(ast::StatementKind::CreateFunction(create)) = kept::definition(def) else {
        return false;
    };
    if !create.options.iter().any(|option| option == "SCHEMABINDING") {
        return false;
    }
    let program = functions.body(&create, def);
    program.is_some_and(|program| of_statements(&program.body, functions, depth))
}

fn of_statements(statements: &[Stmt], functions: &dyn Functions, depth: u32) -> bool {
    let same = |e: &Expr| !e.any(&mut |e| differs(e, functions, depth));
    let condition = |c: &Condition| c.expr.as_ref().is_some_and(same);
    let all = |statements: &[Stmt]| of_statements(statements, functions, depth);
    statements.iter().all(|statement| match &statement.kind {
        StmtKind::If { condition: c, then, otherwise } => {
            condition(c) && all(then) && all(otherwise)
        }
        StmtKind::While { condition: c, body } => condition(c) && all(body),
        StmtKind::Block(body) => all(body),
        StmtKind::Break
        | StmtKind::Continue
        | StmtKind::Label(_)
        | StmtKind::Goto(_)
        | StmtKind::Return(None)
        | StmtKind::Nothing => true,
        other => match other.data() {
            Data::SetVars(sets) => sets.iter().all(|(_, e)| same(e)),
            Data::Return(value) => same(value),
            Data::Select(select) => match &select.target {
                SelectTarget::Vars(vars) => {
                    reads_nothing(&select.query.rel)
                        && of_rel(&select.query.rel, functions, depth)
                        && vars.iter().all(|(_, e)| same(e))
                }
                SelectTarget::Client | SelectTarget::Into { .. } => false,
            },
            // Into a table variable: a function changes nothing else.
            Data::Insert(insert) => match &insert.source {
                InsertSource::Values(rows) => rows.iter().flatten().all(same),
                InsertSource::Query { .. }
                | InsertSource::Exec { .. }
                | InsertSource::Changed(_) => false,
            },
            Data::Update(_) | Data::Delete(_) | Data::Merge(_) | Data::Cursor(_) | Data::None => {
                false
            }
        },
    })
}

fn of_rel(rel: &Rel, functions: &dyn Functions, depth: u32) -> bool {
    let mut all = true;
    rel.walk_exprs(&mut |e| all = all && !e.any(&mut |e| differs(e, functions, depth)));
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
fn differs(e: &Expr, functions: &dyn Functions, depth: u32) -> bool {
    match &e.kind {
        ExprKind::Func { func: FuncId::User(called), .. } => {
            let def = functions.definition(called.object_id);
            !def.is_some_and(|def| of_definition(&def, functions, depth + 1))
        }
        ExprKind::Func { func, .. } => !func.is_deterministic(),
        ExprKind::Sys(_) | ExprKind::NextIdentity => true,
        ExprKind::Subquery { query, .. } => !reads_nothing(&query.rel),
        _ => false,
    }
}
