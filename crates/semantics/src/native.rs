//! Natively compiled modules: what a definition WITH NATIVE_COMPILATION must say, and what its body may hold.
//!
//! A module is natively compiled by its options. Its body is one ATOMIC block (an inline function's a query); what SQL
//! Server's compiler does not know is refused when the module is defined, by the same numbers: 10794 for most, 10775 for
//! tables on disk. Of what the texts of messages leave open (`%S_MSG`) the words are those of "Transact-SQL Constructs
//! Not Supported by In-Memory OLTP". Statements are walked here, queries and expressions in `native/queries.rs`.
//!
//! Promise: what [`check_procedure`] and its like let pass needs no further check when it is compiled from the catalog;
//! [`block`] then gives what to bind.

mod queries;

use catalog::{ModuleKind, ProcedureDef};
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

impl Walk<'_> {
    fn parameters(&mut self, parameters: &[ast::Parameter]) -> Result<()> {
        parameters.iter().try_for_each(|p| self.variable_type(&p.ty))
    }

    fn statements(&mut self, statements: &[ast::Statement]) -> Result<()> {
        statements.iter().try_for_each(|s| self.statement(s))
    }

    fn statement(&mut self, statement: &ast::Statement) -> Result<()> {
        self.line = statement.span.line.max(1);
        match &statement.kind {
            S::Declare(declarations) => declarations.iter().try_for_each(|d| self.declaration(d)),
            S::SetVariable { expr, .. } => self.expr(expr),
            S::If { condition, then, otherwise } => {
                self.expr(condition)?;
                self.statement(then)?;
                otherwise.iter().try_for_each(|s| self.statement(s))
            }
            S::While { condition, body } => {
                self.expr(condition)?;
                self.statement(body)
            }
            S::Block(list) => self.statements(list),
            S::TryCatch { body, handler } => {
                self.statements(body)?;
                let outer = std::mem::replace(&mut self.in_catch, true);
                let result = self.statements(handler);
                self.in_catch = outer;
                result
            }
            S::Return(value) => value.iter().try_for_each(|e| self.expr(e)),
            S::Throw(args) => args.iter().flat_map(|a| a.iter()).try_for_each(|e| self.expr(e)),
            S::Select(query) => self.query(query),
            S::Insert(insert) => self.insert(insert),
            S::Update(update) => self.update(update),
            S::Delete(delete) => self.delete(delete),
            S::Execute(execute) => self.execute(execute),
            S::ExecuteString(_) => Err(self.not_by_name()),
            S::SetOption(_) => Err(BindError::new(
                10769,
                15,
                self.line,
                "SET options are not supported inside ATOMIC blocks.",
            )),
            S::SaveTransaction { .. } => {
                Err(refused(12326, "Creating a savepoint is not supported with", self.line))
            }
            S::DeclareCursor(_) | S::SetCursor { .. } | S::Cursor { .. } | S::Fetch(_) => {
                Err(self.no_cursors())
            }
            S::Unsupported { what } => Err(unsupported("feature", what, self.line)),
            S::Label(_) | S::Goto(_) => Err(unsupported("operator", "GOTO", self.line)),
            other => Err(unsupported("statement", statement_name(other), self.line)),
        }
    }

    fn no_cursors(&self) -> BindError {
        refused(12306, "Cursors are not supported with", self.line)
    }

    fn no_expressions_with(&self, with: &[ast::Cte]) -> Result<()> {
        match with {
            [] => Ok(()),
            _ => {
                let text = "Common Table Expressions (CTE) are not supported with";
                Err(refused(12310, text, self.line))
            }
        }
    }

    fn declaration(&mut self, declaration: &ast::Declaration) -> Result<()> {
        match &declaration.kind {
            ast::DeclarationKind::Table(_) => {
                Err(refused(12305, "Inline table variables are not supported with", self.line))
            }
            ast::DeclarationKind::Cursor => Err(self.no_cursors()),
            ast::DeclarationKind::Scalar { not_null: true, init: None, .. } => {
                let text = format!(
                    "The variable '{}' was declared as not null, and must be declared with an initial value.",
                    declaration.name.name
                );
                Err(BindError::new(10795, 15, declaration.name.span.line.max(1), text))
            }
            ast::DeclarationKind::Scalar { ty, init, .. } => {
                self.variable_type(ty)?;
                init.iter().try_for_each(|e| self.expr(e))
            }
        }
    }

    /// The type of a variable or parameter: table types must be in memory, 41323.
    fn variable_type(&mut self, ty: &ast::TypeName) -> Result<()> {
        let name = ObjectName {
            database: None,
            schema: ty.schema.as_ref().map(|s| s.value.clone()),
            name: ty.name.clone(),
        };
        match self.names.has_memory_optimized_type(&name) {
            Some(true) => {
                self.found.push(name);
                Ok(())
            }
            Some(false) => {
                let text = format!(
                    "The table type '{name}' is not a memory optimized table type and cannot be used in a natively \
                     compiled module."
                );
                Err(BindError::new(41323, 16, ty.span.line.max(1), text))
            }
            None => self.data_type(ty),
        }
    }

    /// "Supported Data Types for In-Memory OLTP".
    fn data_type(&self, ty: &ast::TypeName) -> Result<()> {
        const NOT_THESE: [&str; 11] = [
            "datetimeoffset",
            "geography",
            "geometry",
            "hierarchyid",
            "image",
            "ntext",
            "rowversion",
            "sql_variant",
            "text",
            "timestamp",
            "xml",
        ];
        let of_system = ty.schema.as_ref().is_none_or(|s| s.value.eq_ignore_ascii_case("sys"));
        match NOT_THESE.iter().find(|name| ty.name.eq_ignore_ascii_case(name)) {
            Some(name) if of_system => Err(unsupported("type", name, ty.span.line.max(1))),
            _ => Ok(()),
        }
    }

    fn not_by_name(&self) -> BindError {
        let text = "The EXECUTE statement in natively compiled modules must use an object name. Variables and quoted \
                    identifiers are not supported.";
        BindError::new(12340, 16, self.line, text)
    }

    /// EXECUTE of another natively compiled module: 12340, 12341, 12342, 2812, 4512.
    fn execute(&mut self, execute: &ast::Execute) -> Result<()> {
        let ast::ProcedureName::Name(written) = &execute.procedure else {
            return Err(self.not_by_name());
        };
        if execute.result_sets.is_some() {
            let text = "The WITH clause is not supported with EXECUTE statements in";
            return Err(refused(12341, text, self.line));
        }
        let name = ObjectName::from(written);
        let schema = name.schema.as_deref().unwrap_or("dbo");
        if catalog::same_name(&name.name, &self.name.name)
            && self.name.schema.as_deref().is_some_and(|own| catalog::same_name(own, schema))
        {
            return Err(self.not_two_parts(&name));
        }
        let scalar = |def: &std::sync::Arc<ProcedureDef>| def.kind == ModuleKind::ScalarFunction;
        let found = self.names.procedure(&name);
        let found = found.or_else(|| self.names.function(&name).filter(scalar));
        let of_system = ["sp_", "xp_"]
            .iter()
            .any(|p| name.name.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(p)));
        match found {
            Some(def) if has_option(&def, NATIVE) => self.found.push(name),
            None if !of_system => {
                let text = format!("Could not find stored procedure '{name}'.");
                return Err(BindError::new(2812, 16, self.line, text).with_state(62));
            }
            _ => {
                return Err(BindError::new(
                    12342,
                    16,
                    self.line,
                    "The EXECUTE statement in natively compiled modules only supports executing natively compiled \
                     modules.",
                ));
            }
        }
        execute.args.iter().try_for_each(|arg| self.value(&arg.value))
    }

    fn value(&mut self, value: &ast::InsertValue) -> Result<()> {
        match value {
            ast::InsertValue::Default(_) => Ok(()),
            ast::InsertValue::Expr(e) => self.expr(e),
            ast::InsertValue::Write(parts) => parts.iter().try_for_each(|e| self.expr(e)),
        }
    }

    fn insert(&mut self, insert: &ast::Insert) -> Result<()> {
        self.no_expressions_with(&insert.with)?;
        self.top(insert.top.as_ref())?;
        self.target(&insert.target)?;
        self.output(insert.output.as_ref())?;
        self.query_hints(&insert.option)?;
        match &insert.source {
            ast::InsertSource::Values(rows) if rows.len() > 1 => Err(refused(
                12309,
                "Statements of the form INSERT...VALUES... that insert multiple rows are not supported with",
                self.line,
            )),
            ast::InsertSource::Values(rows) => {
                rows.iter().flatten().try_for_each(|value| self.value(value))
            }
            ast::InsertSource::DefaultValues => Ok(()),
            ast::InsertSource::Query(query) => self.query(query),
            ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_) => {
                Err(unsupported("feature", "INSERT EXECUTE", self.line))
            }
        }
    }

    fn update(&mut self, update: &ast::Update) -> Result<()> {
        self.no_expressions_with(&update.with)?;
        self.changed(&update.from, update.current_of.as_ref())?;
        self.top(update.top.as_ref())?;
        self.target(&update.target)?;
        update.set.iter().try_for_each(|item| self.value(&item.value))?;
        self.output(update.output.as_ref())?;
        update.filter.iter().try_for_each(|e| self.expr(e))?;
        self.query_hints(&update.option)
    }

    fn delete(&mut self, delete: &ast::Delete) -> Result<()> {
        self.no_expressions_with(&delete.with)?;
        self.changed(&delete.from, delete.current_of.as_ref())?;
        self.top(delete.top.as_ref())?;
        self.target(&delete.target)?;
        self.output(delete.output.as_ref())?;
        delete.filter.iter().try_for_each(|e| self.expr(e))?;
        self.query_hints(&delete.option)
    }

    /// 12319; 12306.
    fn changed(&self, from: &[ast::TableRef], current_of: Option<&ast::CursorName>) -> Result<()> {
        if current_of.is_some() {
            return Err(self.no_cursors());
        }
        if from.is_empty() {
            return Ok(());
        }
        let text = "Using the FROM clause in an UPDATE statement and specifying a table source in a DELETE statement \
                    is not supported with";
        Err(refused(12319, text, self.line))
    }

    fn target(&mut self, target: &ast::Target) -> Result<()> {
        match target {
            ast::Target::Variable(_) => Ok(()),
            ast::Target::Table { name, .. } => self.named_table(name),
        }
    }

    fn output(&mut self, output: Option<&ast::Output>) -> Result<()> {
        let Some(output) = output else { return Ok(()) };
        for item in output.items.iter().chain(&output.also) {
            match item {
                ast::SelectItem::Wildcard { .. } => {}
                ast::SelectItem::Expr { expr, .. } | ast::SelectItem::Assign { expr, .. } => {
                    self.expr(expr)?;
                }
            }
        }
        output.into.iter().try_for_each(|target| self.target(target))
    }
}

/// A statement as messages name it.
fn statement_name(kind: &S) -> &'static str {
    match kind {
        S::Break => "BREAK",
        S::Continue => "CONTINUE",
        S::Print(_) => "PRINT",
        S::RaiseError(_) => "RAISERROR",
        S::WaitFor { .. } => "WAITFOR",
        S::BeginTransaction { .. } => "BEGIN TRANSACTION",
        S::Commit { .. } => "COMMIT TRANSACTION",
        S::Rollback { .. } => "ROLLBACK TRANSACTION",
        S::Atomic(_) => "BEGIN ATOMIC",
        S::Merge(_) => "MERGE",
        S::Truncate(_) => "TRUNCATE TABLE",
        S::BulkInsert(_) => "BULK INSERT",
        S::Use(_) => "USE",
        S::ExecuteAs { .. } => "EXECUTE AS",
        S::Revert { .. } => "REVERT",
        S::Checkpoint => "CHECKPOINT",
        S::Dbcc(_) => "DBCC",
        S::Kill { .. } => "KILL",
        S::Backup(_) => "BACKUP",
        S::Restore(_) => "RESTORE",
        S::Reconfigure => "RECONFIGURE",
        S::CreateTable(_) => "CREATE TABLE",
        S::CreateIndex(_) => "CREATE INDEX",
        S::CreateType(_) => "CREATE TYPE",
        S::CreateDatabase(_) => "CREATE DATABASE",
        S::AlterTable(_) | S::Switch(_) => "ALTER TABLE",
        S::AlterIndex(_) => "ALTER INDEX",
        S::AlterDatabase(_) => "ALTER DATABASE",
        S::CreateSynonym(_) => "CREATE SYNONYM",
        S::EnableTrigger(_) | S::EnableDdlTrigger(_) => "ENABLE TRIGGER",
        S::Statistics(_) => "UPDATE STATISTICS",
        S::Drop(_) => "DROP",
        _ => "DDL",
    }
}
