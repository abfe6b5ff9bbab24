//! What the body of a function may not do: 443, 444.
//!
//! "Create User-defined Functions" in SQL Server's documentation lists what is allowed: declarations, assignments,
//! control of flow but for TRY, changes of the function's own table variables, cursors of its own.

use syntax::ast::{self, StatementKind as S};

use crate::error::{BindError, Result};
use crate::statement_rows;

/// A statement of a function's body, with those inside it. A natively compiled one may handle errors.
pub fn check(statement: &ast::Statement, native: bool) -> Result<()> {
    let check = |s: &ast::Statement| check(s, native);
    let line = statement.span.line.max(1);
    let what = match &statement.kind {
        S::If { then, otherwise, .. } => {
            check(then)?;
            return otherwise.iter().try_for_each(|s| check(s));
        }
        S::While { body, .. } => return check(body),
        S::Block(list) => return list.iter().try_for_each(check),
        S::TryCatch { body, handler } if native => {
            return body.iter().chain(handler).try_for_each(check);
        }
        S::Throw(_) if native => return Ok(()),
        S::Declare(_)
        | S::SetVariable { .. }
        | S::Break
        | S::Continue
        | S::Label(_)
        | S::Goto(_)
        | S::Return(_)
        | S::DeclareCursor(_)
        | S::SetCursor { .. }
        | S::Cursor { .. }
        | S::Fetch(_)
        | S::Unsupported { .. }
        // An extended procedure may be called; anything else is 557 when it is.
        | S::Execute(_) => return Ok(()),
        S::Select(query) => {
            if crate::tree::has_into(&query.body) {
                "SELECT INTO"
            } else if !assigns(&query.body) {
                return Err(BindError::new(
                    444,
                    16,
                    line,
                    "Select statements included within a function cannot return data to a client.",
                )
                .with_state(2));
            } else {
                return Ok(());
            }
        }
        S::Insert(insert) => match (&insert.target, &insert.source) {
            (_, ast::InsertSource::Execute(_) | ast::InsertSource::ExecuteString(_)) => {
                "INSERT EXEC"
            }
            (ast::Target::Variable(_), ast::InsertSource::Query(query)) => {
                // What the rows come from may be a change itself.
                return crate::tree::over_change(query).map_or(Ok(()), |over| check(over.change));
            }
            (ast::Target::Variable(_), _) => return Ok(()),
            _ => "INSERT",
        },
        S::Update(update) if is_own(&update.target, &update.from) => return Ok(()),
        S::Delete(delete) if is_own(&delete.target, &delete.from) => return Ok(()),
        S::SetOption(ast::SetOption::Switch { on: false, .. }) => "SET OPTION OFF",
        S::Rare(rare) => match &**rare {
            ast::RareStatement::LineNumber(_) => return Ok(()),
            ast::RareStatement::InsertBulk(_) => "INSERT",
            ast::RareStatement::BeginDistributed => "BEGIN TRANSACTION",
            ast::RareStatement::SetUser { .. } => "SETUSER",
            ast::RareStatement::Shutdown { .. } => "SHUTDOWN",
            ast::RareStatement::Governor(_) | ast::RareStatement::Audit(_) => "ALTER",
            ast::RareStatement::XmlSchema(_) => "XML SCHEMA COLLECTION",
            ast::RareStatement::Fulltext(_) => "FULLTEXT",
            ast::RareStatement::Sensitivity(_) => "SENSITIVITY CLASSIFICATION",
        },
other => statement_rows::of(other).side_effect,
    };
    Err(side_effect(what, line))
}

/// 443 of a statement: state 14 of what only runs, 15 of what changes rows or settings.
fn side_effect(what: &str, line: u32) -> BindError {
    let runs =
        ["BEGIN TRY", "EXECUTE STRING", "INSERT EXEC", "PRINT", "RAISERROR", "THROW", "WAITFOR"];
    operator(what, line).with_state(if runs.contains(&what) { 14 } else { 15 })
}

/// 443 of a function that is called.
pub fn operator(what: &str, line: u32) -> BindError {
    let text = format!("Invalid use of a side-effecting operator '{what}' within a function.");
    BindError::new(443, 16, line, text)
}

/// Does every column of the query go into a variable?
fn assigns(body: &ast::QueryBody) -> bool {
    match body {
        ast::QueryBody::Select(select) => {
            select.items.iter().all(|i| matches!(i, ast::SelectItem::Assign { .. }))
        }
        ast::QueryBody::Nested(inner) => assigns(inner),
        _ => false,
    }
}

/// Is it a table variable that changes, by its name or by its alias in FROM?
fn is_own(target: &ast::Target, from: &[ast::TableRef]) -> bool {
    fn aliased(item: &ast::TableRef, name: &str) -> bool {
        match item {
            ast::TableRef::Variable { alias: Some(alias), .. } => {
                catalog::same_name(&alias.value, name)
            }
            ast::TableRef::Join { left, right, .. } => aliased(left, name) || aliased(right, name),
            _ => false,
        }
    }
    match target {
        ast::Target::Variable(_) => true,
        ast::Target::Table { name, .. } => {
            name.schema.is_none() && from.iter().any(|item| aliased(item, &name.name.value))
        }
    }
}
