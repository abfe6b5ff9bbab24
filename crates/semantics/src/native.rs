//! Natively compiled modules: what a definition WITH NATIVE_COMPILATION must say, and what its body may hold.
//!
//! A module is natively compiled by its options. Its body is one ATOMIC block (an inline function's a query); what SQL
//! Server's compiler does not know is refused when the module is defined, by the same numbers: 10794 for most, 10775 for
//! tables on disk. Of what the texts of messages leave open (`%S_MSG`) the words are those of "Transact-SQL Constructs
//! Not Supported by In-Memory OLTP". Definitions are looked at here, their statements in `native/statements.rs`, queries
//! and expressions in `native/queries.rs`.
//!
//! Promise: what [`check_procedure`] and its like let pass needs no further check when it is compiled from the catalog;
//! [`block`] then gives what to bind.

mod queries;
mod statements;

use catalog::ProcedureDef;
use ir::{Atomic, Isolation, ObjectName};
use syntax::ast::{self, StatementKind as S};
use types::convert::DateOrder;

use crate::error::{BindError, Result};
use crate::kept;
use crate::names::Names;
use crate::names::is_temporary;

/// The option that makes a module one of these.
pub const NATIVE: &str = "NATIVE_COMPILATION";

/// WITH NATIVE_COMPILATION?
pub fn is_native(options: &[String]) -> bool {
    options.iter().any(|o| o == NATIVE)
}

/// Was a module made WITH that option ([`NATIVE`], `SCHEMABINDING`)?
pub fn has_option(def: &ProcedureDef, option: &str) -> bool {
    text_has_option(&def.text, def.quoted_identifier, option)
}

/// May it say whose workload group a session is in: schema-bound, without parameters, of type sysname?
pub fn is_classifier(def: &ProcedureDef) -> bool {
    let Some(S::CreateFunction(create)) = kept::definition(def) else { return false };
    let ast::FunctionReturns::Scalar { ty, .. } = &create.returns else { return false };
    create.parameters.is_empty()
        && ty.name == "sysname"
        && create.options.iter().any(|option| option == "SCHEMABINDING")
}

/// Has a module of that text it?
pub fn text_has_option(text: &str, quoted_identifier: bool, option: &str) -> bool {
    kept::options_with(text, quoted_identifier, option).iter().any(|o| o == option)
}

/// The modules and table types that a natively compiled module names, and is bound to; none of any other. Its text has
/// been checked: what has gone wrong since then ends the list.
pub fn native_references(def: &ProcedureDef, names: &dyn Names) -> Vec<ObjectName> {
    let mut found = Vec::new();
    let _ = match kept::definition_with(def, NATIVE) {
        Some(S::CreateProcedure(create)) => walk_procedure(&create, names, &mut found),
        Some(S::CreateFunction(create)) => walk_function(&create, names, &mut found),
        Some(S::CreateTrigger(create)) => walk_trigger(&create, names, &mut found),
        _ => Ok(()),
    };
    found
}

/// What a module's body binds: of a natively compiled one the statements of its block, and what the block fixes. 10783,
/// 10784; 10782 for the block of one that is not.
pub fn block<'b>(
    options: &[String],
    body: &'b [ast::Statement],
    line: u32,
) -> Result<(&'b [ast::Statement], Option<Atomic>)> {
    match body {
        [ast::Statement { kind: S::Atomic(_), span }, ..] if !is_native(options) => {
            Err(misplaced(span.line.max(1)))
        }
        _ if !is_native(options) => Ok((body, None)),
        [ast::Statement { kind: S::Atomic(block), span }] => {
            Ok((&block.body, Some(atomic(&block.options, span.line.max(1))?)))
        }
        _ => Err(BindError::new(
            10783,
            15,
            line,
            "The body of a natively compiled module must be an ATOMIC block.",
        )),
    }
}

/// What an ATOMIC block says: 10784, 10794 for the isolation levels that it cannot have, 2741, 2744.
fn atomic(options: &ast::AtomicOptions, line: u32) -> Result<Atomic> {
    let missing = |option: &str| {
        let text = format!(
            "The WITH clause of BEGIN ATOMIC statement must specify a value for the option '{option}'."
        );
        BindError::new(10784, 15, line, text)
    };
    let isolation = match options.isolation {
        None => return Err(missing("transaction isolation level")),
        Some(ast::IsolationLevel::Snapshot) => Isolation::Snapshot,
        Some(ast::IsolationLevel::RepeatableRead) => Isolation::RepeatableRead,
        Some(ast::IsolationLevel::Serializable) => Isolation::Serializable,
        Some(other) => {
            let uncommitted = other == ast::IsolationLevel::ReadUncommitted;
            let level = if uncommitted { "READ UNCOMMITTED" } else { "READ COMMITTED" };
            let error = unsupported("transaction isolation level", level, line);
            return Err(error.with_state(77));
        }
    };
    let Some(language) = &options.language else { return Err(missing("language")) };
    let date_order = match &options.dateformat {
        None => None,
        Some(word) => Some(DateOrder::of_name(word).ok_or_else(|| {
            let text = format!("SET DATEFORMAT date order '{word}' is invalid.");
            BindError::new(2741, 16, line, text)
        })?),
    };
    let datefirst = match options.datefirst {
        None => None,
        Some(day @ 1..=7) => Some(day as u8),
        Some(other) => {
            let text = format!("SET DATEFIRST {other} is out of range.");
            return Err(BindError::new(2742, 16, line, text));
        }
    };
    let delayed = options.delayed_durability;
    Ok(Atomic { isolation, language: language.as_str().into(), date_order, datefirst, delayed })
}

/// 10782: an ATOMIC block where there may be none.
pub fn misplaced(line: u32) -> BindError {
    let text = "BEGIN ATOMIC is supported only in natively compiled modules.";
    BindError::new(10782, 15, line, text)
}

/// 10785: NOT NULL of a variable or parameter of what is not natively compiled.
pub fn not_null_outside(line: u32) -> BindError {
    let text = "The feature 'NOT NULL' is supported only with natively compiled modules.";
    BindError::new(10785, 15, line, text)
}

/// 10794.
fn unsupported(kind: &str, what: &str, line: u32) -> BindError {
    let text = format!("The {kind} '{what}' is not supported with natively compiled modules.");
    BindError::new(10794, 16, line, text)
}

/// The numbers 12303 to 12351: `text` stands before "natively compiled modules".
fn refused(number: i32, text: &str, line: u32) -> BindError {
    BindError::new(number, 16, line, format!("{text} natively compiled modules."))
}

/// CREATE and ALTER PROCEDURE.
pub fn check_procedure(create: &ast::CreateProcedure, names: &dyn Names) -> Result<()> {
    walk_procedure(create, names, &mut Vec::new())
}

fn walk_procedure(
    create: &ast::CreateProcedure,
    names: &dyn Names,
    found: &mut Vec<ObjectName>,
) -> Result<()> {
    let module = Module { kind: "procedure", name: &create.name, options: &create.options };
    if !module.check_options()? {
        return Ok(());
    }
    if is_temporary(&create.name.name.value) {
        let text = "Creating a temporary procedure is not supported with";
        return Err(refused(12321, text, module.line()));
    }
    let mut walk = module.walk(names, found);
    walk.parameters(&create.parameters)?;
    let (body, _) = block(&create.options, &create.body, module.line())?;
    walk.statements(body)
}

/// CREATE and ALTER FUNCTION.
pub fn check_function(create: &ast::CreateFunction, names: &dyn Names) -> Result<()> {
    walk_function(create, names, &mut Vec::new())
}

fn walk_function(
    create: &ast::CreateFunction,
    names: &dyn Names,
    found: &mut Vec<ObjectName>,
) -> Result<()> {
    let module = Module { kind: "function", name: &create.name, options: &create.options };
    if !module.check_options()? {
        return Ok(());
    }
    let mut walk = module.walk(names, found);
    walk.parameters(&create.parameters)?;
    match &create.returns {
        ast::FunctionReturns::Scalar { ty, body } => {
            walk.data_type(ty)?;
            if ty.args.first() == Some(&ast::TypeArg::Max) {
                let text = "Max length data types are not supported as the return type of a natively compiled user \
                            defined function.";
                return Err(BindError::new(12345, 16, module.line(), text));
            }
            let (body, _) = block(&create.options, body, module.line())?;
            walk.statements(body)
        }
        ast::FunctionReturns::Inline(query) => {
            // Its query is bound in the place of its name, where nothing could watch a parameter.
            if create.parameters.iter().any(|p| p.not_null) {
                let what = "NOT NULL of an inline function's parameter";
                return Err(BindError::unsupported(what, module.line()));
            }
            walk.query(query)
        }
        ast::FunctionReturns::Table { .. } => {
            Err(refused(12308, "Table-valued functions are not supported with", module.line()))
        }
    }
}

/// CREATE and ALTER TRIGGER, as far as the text alone tells.
pub fn check_trigger(create: &ast::CreateTrigger) -> Result<()> {
    let module = Module { kind: "trigger", name: &create.name, options: &create.options };
    if !module.check_options()? {
        return Ok(());
    }
    if create.instead_of {
        let text = "The option 'INSTEAD OF' is not supported with natively compiled triggers.";
        return Err(BindError::new(10794, 16, module.line(), text).with_state(130));
    }
    block(&create.options, &create.body, module.line()).map(|_| ())
}

/// What one of a memory-optimised table does.
pub fn check_trigger_body(create: &ast::CreateTrigger, names: &dyn Names) -> Result<()> {
    walk_trigger(create, names, &mut Vec::new())
}

fn walk_trigger(
    create: &ast::CreateTrigger,
    names: &dyn Names,
    found: &mut Vec<ObjectName>,
) -> Result<()> {
    let module = Module { kind: "trigger", name: &create.name, options: &create.options };
    if !module.check_options()? {
        return Ok(());
    }
    let mut walk = module.walk(names, found);
    let (body, _) = block(&create.options, &create.body, module.line())?;
    walk.statements(body)
}

/// A definition.
struct Module<'a> {
    /// `procedure`, `function`, `trigger`.
    kind: &'static str,
    name: &'a ast::ObjectName,
    options: &'a [String],
}

impl<'a> Module<'a> {
    fn line(&self) -> u32 {
        self.name.span.line.max(1)
    }

    /// Is it natively compiled? 10796, 10794.
    fn check_options(&self) -> Result<bool> {
        let has = |option: &str| self.options.iter().any(|o| o == option);
        let (native, bound) = (is_native(self.options), has("SCHEMABINDING"));
        // Functions may be bound to what they name in any case.
        if native != bound && (native || self.kind != "function") {
            let text = "The SCHEMABINDING option is supported only for natively compiled modules, and is required for \
                        those modules.";
            return Err(BindError::new(10796, 15, self.line(), text));
        }
        if native && let Some(option) = ["ENCRYPTION", "RECOMPILE"].into_iter().find(|o| has(o)) {
            return Err(unsupported("option", option, self.line()));
        }
        Ok(native)
    }

    fn walk<'w>(&self, names: &'w dyn Names, found: &'w mut Vec<ObjectName>) -> Walk<'w> {
        let schema = self.name.schema.as_ref().map_or("dbo", |s| &s.value);
        let name = ObjectName {
            database: None,
            schema: Some(schema.to_owned()),
            name: self.name.name.value.clone(),
        };
        let line = self.line();
        Walk { names, kind: self.kind, name, found, line, in_catch: false, subqueries: false }
    }
}

/// A walk over what a module does.
struct Walk<'a> {
    names: &'a dyn Names,
    /// The module: what it is and what it is called.
    kind: &'static str,
    name: ObjectName,
    /// Modules and table types that it names.
    found: &'a mut Vec<ObjectName>,
    /// Of the statement looked at.
    line: u32,
    in_catch: bool,
    /// Subqueries may stand here: in a SELECT.
    subqueries: bool,
}
