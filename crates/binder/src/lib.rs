//! Names and types resolved: tree to typed IR.
//!
//! To bind is to promise: what leaves here names only things that exist, converts only what
//! converts, and says so in the tree. Everything below (planner, executor, interpreter) reads
//! [`ir`] and never the syntax of an expression.
//!
//! It knows nothing of rows, indexes' contents, transactions or sessions; what exists comes through
//! [`Names`].
//!
//! How a batch becomes a program: [`bind_batch`] declares the frame of variables, lays out control
//! flow, and binds each statement. A statement that names something missing is left
//! [`ir::StmtKind::Deferred`]; when control reaches it, [`bind_statement`] tries again (deferred
//! name resolution). The same call refreshes a statement after the catalog's version has moved.

#![forbid(unsafe_code)]

mod aggregate;
mod away;
mod bindable;
mod browse;
mod calls;
mod chain;
mod coerce;
mod collate;
mod column_set;
mod context;
mod cte;
mod cursor;
mod define;
mod exposed;
mod expr;
mod from;
mod fulltext;
mod functions;
mod grouping;
mod indexed_view;
mod insert;
mod instead;
mod merge;
mod methods;
mod nested;
mod notes;
mod order_by;
mod output;
mod partition;
mod pivot;
mod policy;
mod properties;
mod recursive;
mod result_shapes;
mod routine;
mod rowsets;
mod rules;
mod sample;
mod scope;
mod select;
mod select_list;
mod sequence;
mod serialize;
mod sets;
mod shape;
mod statements;
mod target;
mod tracking;
mod trigger;
mod updatable;
mod update;
mod versions;
mod view;
mod view_change;
mod volatile;
mod window;
mod xml;

pub use routine::is_deterministic_function;
pub use rules::{FindFunction, TableRules, rules_of, rules_with};
pub use semantics::BindError;
pub use semantics::constants::constant;
pub use semantics::names::{AliasType, LostSynonym, Names};
pub use semantics::triggers::{fires_of, trigger_def};
pub use semantics::uses::{Source, Used};
pub use view_change::view_change;

use std::sync::Arc;

use ir::{Expr, Program, Stmt};
use semantics::{native, type_names};
use statements::ProgramBinder;
use syntax::ast;
use types::{Len, SqlType};

/// The type of the system that a type's name in a program stands for; `None` when there is none of that name.
pub fn type_of(ty: &ast::TypeName) -> Option<types::SqlType> {
    type_names::system_type(ty, false).ok()
}

/// Binds a batch. An error means that no statement of it may run.
pub fn bind_batch(batch: &ast::Batch, text: &str, names: &dyn Names) -> Result<Program, BindError> {
    ProgramBinder::new(names, text, false).program(Vec::new(), &batch.statements)
}

/// The type of a parameter of which it is to be found out: text longer than any that can be declared, which converts
/// implicitly to every other type.
pub const UNDECLARED: SqlType = SqlType::VarChar(Len::N(8001));

/// Binds a batch that has parameters (sp_executesql), and more of them in the last places, which are of the type
/// [`UNDECLARED`]. The program is to look at then, not to run.
pub fn bind_undeclared(
    parameters: &[ast::Parameter],
    undeclared: &[String],
    batch: &ast::Batch,
    text: &str,
    names: &dyn Names,
) -> Result<Program, BindError> {
    let mut binder = ProgramBinder::new(names, text, false);
    let mut params = binder.parameters(parameters)?;
    for name in undeclared {
        params.push(binder.undeclared(name)?);
    }
    binder.program(params, &batch.statements)
}

/// Binds the body of a procedure; `text` is its whole definition, `schema` where names without one are looked for first.
pub fn bind_procedure(
    procedure: &ast::CreateProcedure,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program, BindError> {
    let line = procedure.name.span.line.max(1);
    let (body, atomic) = native::block(&procedure.options, &procedure.body, line)?;
    let mut binder = ProgramBinder::new(names, text, true).of_module(schema).atomic(atomic);
    let params = binder.parameters(&procedure.parameters)?;
    binder.program(params, body)
}

/// What the statements of a procedure, a function or a trigger read and change, each object once; nothing of a module of
/// another kind.
pub fn uses_of(module: &catalog::ProcedureDef, names: &dyn Names) -> Result<Vec<Used>, BindError> {
    let noted = semantics::uses::Uses::default();
    let noting = || Some(noted.clone());
    let schema = Some(&*module.schema);
    match semantics::kept::definition(module) {
        Some(ast::StatementKind::CreateProcedure(create)) => {
            let line = create.name.span.line.max(1);
            let (body, atomic) = native::block(&create.options, &create.body, line)?;
            let binder = ProgramBinder::new(names, &module.text, true).of_module(schema);
            let mut binder = binder.atomic(atomic).noting(noting());
            let params = binder.parameters(&create.parameters)?;
            binder.program(params, body)?;
        }
        Some(ast::StatementKind::CreateFunction(create))
            if module.kind != catalog::ModuleKind::InlineFunction =>
        {
            routine::bind_function(&create, &module.text, schema, names, noting())?;
        }
        Some(ast::StatementKind::CreateTrigger(create)) => {
            let table = module.trigger.and_then(|t| names.table_by_id(t.parent));
            let Some(table) = table else { return Ok(Vec::new()) };
            trigger::bind_trigger(&create, &module.text, &table, schema, names, noting())?;
        }
        _ => {}
    }
    Ok(noted.take())
}

/// Binds the body of a function with statements (not of an inline one); as [`bind_procedure`] otherwise.
pub fn bind_function(
    function: &ast::CreateFunction,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program, BindError> {
    routine::bind_function(function, text, schema, names, None)
}

/// The columns of a view as those of a table that has no rows: what its INSTEAD OF triggers see.
pub fn view_rows(
    view: &catalog::ProcedureDef,
    names: &dyn Names,
) -> Result<catalog::TableDef, BindError> {
    instead::view_rows(view, names)
}

/// The columns of a view, table-valued function or table type, as those of a table; 208 for modules of other kinds.
pub fn shape_of(
    module: &catalog::ProcedureDef,
    names: &dyn Names,
) -> Result<catalog::TableDef, BindError> {
    shape::of_module(module, names)
}

/// The tables and views that a view's own text reads, with the columns that it uses.
pub fn sources_of(
    view: &catalog::ProcedureDef,
    names: &dyn Names,
) -> Result<Vec<Source>, BindError> {
    shape::sources_of(view, names)
}

/// Could a view have a clustered index: OBJECTPROPERTY's IsIndexable?
pub fn is_indexable(view: &catalog::ProcedureDef, names: &dyn Names) -> bool {
    indexed_view::is_indexable(view, names)
}

/// Was a view made WITH CHECK OPTION?
pub fn has_check_option(view: &catalog::ProcedureDef) -> bool {
    let says = view.text.to_ascii_uppercase().contains("OPTION");
    says && instead::with_view(view, |create| create.check_option).unwrap_or_default()
}

/// Binds the body of a trigger of a table or view. `inserted` and `deleted` are the tables in slots 0 and 1. As
/// [`bind_procedure`] otherwise.
pub fn bind_trigger(
    trigger: &ast::CreateTrigger,
    text: &str,
    table: &catalog::TableDef,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program, BindError> {
    trigger::bind_trigger(trigger, text, table, schema, names, None)
}

/// Binds the body of a trigger of the database or the server. As [`bind_procedure`] otherwise.
pub fn bind_ddl_trigger(
    trigger: &ast::CreateDdlTrigger,
    text: &str,
    schema: Option<&str>,
    names: &dyn Names,
) -> Result<Program, BindError> {
    trigger::bind_ddl_trigger(trigger, text, schema, names)
}

/// Binds a table type from the text that [`ir::ddl::Ddl::CreateType`] kept.
pub fn bind_table_type(text: &str, names: &dyn Names) -> Result<catalog::TableSpec, BindError> {
    with_table_type(text, names, |binder, create, definition| {
        binder.table_type(create, definition, text)
    })
}

/// The keys and indexes of a table type as its text says them, with those that its variables have no use for.
pub(crate) fn bind_type_indexes(
    text: &str,
    names: &dyn Names,
) -> Result<catalog::TableSpec, BindError> {
    with_table_type(text, names, |binder, create, definition| {
        binder.type_indexes(create, definition, text)
    })
}

fn with_table_type(
    text: &str,
    names: &dyn Names,
    read: impl FnOnce(
        &mut context::Binder<'_>,
        &ast::CreateType,
        &ast::TableDefinition,
    ) -> Result<catalog::TableSpec, BindError>,
) -> Result<catalog::TableSpec, BindError> {
    let broken = || BindError::new(102, 15, 1, "Incorrect syntax in the definition of a type.");
    let batch = syntax::parse_batch(text, &syntax::LexOptions::default()).map_err(|_| broken())?;
    let Some(ast::StatementKind::CreateType(create)) = batch.statements.first().map(|s| &s.kind)
    else {
        return Err(broken());
    };
    let frame = context::Frame::default();
    let ast::TypeDefinition::Table(definition) = &create.definition else { return Err(broken()) };
    read(&mut context::Binder::new(names, &frame, 1), create, definition)
}

/// Binds the DEFAULT of a column by itself, converted to the column's type; NULL when there is none.
pub fn bind_default(
    table: &catalog::TableDef,
    ordinal: usize,
    names: &dyn Names,
) -> Result<Expr, BindError> {
    let frame = context::Frame::default();
    let mut binder = context::Binder::new(names, &frame, 1);
    let value = binder.default_value(table, ordinal)?;
    let column = &table.columns[ordinal];
    binder.store(value, column.ty, column.collation, ordinal)
}

/// Binds `source`, a statement of `program` ([`Stmt::source`]), against the catalog of now. The
/// result never contains control flow and is never deferred: a missing name is an error now.
pub fn bind_statement(
    program: &Program,
    source: &Arc<ast::Statement>,
    names: &dyn Names,
) -> Result<Stmt, BindError> {
    ProgramBinder::again(names, program).statement(source)
}

/// Binds the condition of an IF or WHILE of `program` ([`ir::Condition::source`]) again.
pub fn bind_condition(
    program: &Program,
    source: &Arc<ast::Expr>,
    names: &dyn Names,
) -> Result<Expr, BindError> {
    ProgramBinder::again(names, program).condition_again(source)
}
