//! One row for each kind of statement as it is written: what those say of it who refuse it, and what names mean behind it.
//!
//! Promise: nothing here has a default, so that the compiler asks for the row of a new statement. What is done with a
//! bound statement is in [`ir::Data`], how it is told of in `session_state::Tag`.
//!
//! A batch is bound as a whole before any of it runs. What names an object behind a statement that has moved names may have
//! to be bound when it is reached (deferred name resolution).

use syntax::ast::StatementKind as S;

/// What is known of a kind of statement.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    /// What 443 calls it in a function, where it is not allowed there ([`crate::effects`]).
    pub side_effect: &'static str,
    /// What it is called in a natively compiled module, where it is not allowed there ([`crate::native`]).
    pub native: &'static str,
    pub moved: Moved,
}

/// What a statement may have moved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moved {
    Nothing,
    /// Columns and indexes of what is there, or whatever a procedure or a text does: objects stay.
    Columns,
    /// Objects come and go, or somebody else asks for them.
    Objects,
    /// All names are another database's.
    Database,
}

/// The row of a statement.
pub fn of(kind: &S) -> Row {
    let row = |side_effect, native, moved| Row { side_effect, native, moved };
    match kind {
        S::Select(query) if crate::tree::has_into(&query.body) => {
            row("SELECT INTO", "DDL", Moved::Objects)
        }
        S::Select(_) => row("SELECT INTO", "DDL", Moved::Nothing),
        S::Insert(_) => row("INSERT", "DDL", Moved::Nothing),
        S::Update(_) => row("UPDATE", "DDL", Moved::Nothing),
        S::Delete(_) => row("DELETE", "DDL", Moved::Nothing),
        S::Merge(_) => row("MERGE", "MERGE", Moved::Nothing),
        S::Truncate(_) => row("TRUNCATE TABLE", "TRUNCATE TABLE", Moved::Nothing),
        S::CreateDatabase(_) => row("ALTER", "CREATE DATABASE", Moved::Nothing),
        S::AlterDatabase(_) => row("ALTER", "ALTER DATABASE", Moved::Nothing),
        S::CreateTable(_) => row("CREATE TABLE", "CREATE TABLE", Moved::Objects),
        S::CreateView(_)
        | S::Security(_)
        | S::Partition(_)
        | S::CreateBindable(_)
        | S::DefineSequence(_)
        | S::Rare(_) => row("ALTER", "DDL", Moved::Objects),
        S::CreateType(_) => row("ALTER", "CREATE TYPE", Moved::Objects),
        S::AlterTable(_) => row("ALTER TABLE", "ALTER TABLE", Moved::Columns),
        S::Switch(_) => row("ALTER", "ALTER TABLE", Moved::Nothing),
        S::CreateIndex(_) => row("CREATE INDEX", "CREATE INDEX", Moved::Columns),
        S::AlterIndex(_) => row("ALTER", "ALTER INDEX", Moved::Columns),
        S::SecurityPolicy(_)
        | S::CreateProcedure(_)
        | S::CreateFunction(_)
        | S::CreateTrigger(_)
        | S::CreateDdlTrigger(_)
        | S::Declare(_)
        | S::SetVariable { .. }
        | S::DeclareCursor(_)
        | S::SetCursor { .. }
        | S::Cursor { .. }
        | S::Fetch(_)
        | S::If { .. }
        | S::While { .. }
        | S::Block(_)
        | S::Label(_)
        | S::Goto(_)
        | S::Return(_)
        | S::AlterServer(_)
        | S::Unsupported { .. } => row("ALTER", "DDL", Moved::Nothing),
        S::Statistics(_) => row("ALTER", "UPDATE STATISTICS", Moved::Nothing),
        S::CreateSynonym(_) => row("ALTER", "CREATE SYNONYM", Moved::Objects),
        S::EnableTrigger(_) | S::EnableDdlTrigger(_) => {
            row("ALTER", "ENABLE TRIGGER", Moved::Nothing)
        }
        S::Drop(_) => row("DROP OBJECT", "DROP", Moved::Objects),
        S::SetOption(_) => row("SET OPTION ON", "DDL", Moved::Nothing),
        S::Break => row("ALTER", "BREAK", Moved::Nothing),
        S::Continue => row("ALTER", "CONTINUE", Moved::Nothing),
        S::Atomic(_) => row("ALTER", "BEGIN ATOMIC", Moved::Nothing),
        S::TryCatch { .. } => row("BEGIN TRY", "DDL", Moved::Nothing),
        S::Print(_) => row("PRINT", "PRINT", Moved::Nothing),
        S::Throw(_) => row("THROW", "DDL", Moved::Nothing),
        S::RaiseError(_) => row("RAISERROR", "RAISERROR", Moved::Nothing),
        S::WaitFor { .. } => row("WAITFOR", "WAITFOR", Moved::Nothing),
        S::BeginTransaction { .. } => row("BEGIN TRANSACTION", "BEGIN TRANSACTION", Moved::Nothing),
        S::Commit { .. } => row("COMMIT TRANSACTION", "COMMIT TRANSACTION", Moved::Nothing),
        S::Rollback { .. } => row("ROLLBACK TRANSACTION", "ROLLBACK TRANSACTION", Moved::Nothing),
        S::SaveTransaction { .. } => row("SAVE TRANSACTION", "DDL", Moved::Nothing),
        S::Execute(_) => row("ALTER", "DDL", Moved::Columns),
        S::ExecuteString(_) => row("EXECUTE STRING", "DDL", Moved::Columns),
        S::Use(_) => row("USE DATABASE", "USE", Moved::Database),
        S::Checkpoint => row("CHECKPOINT", "CHECKPOINT", Moved::Nothing),
        S::Dbcc(_) => row("DBCC", "DBCC", Moved::Nothing),
        S::BulkInsert(_) => row("BULK INSERT", "BULK INSERT", Moved::Nothing),
        S::Backup(_) => row("ALTER", "BACKUP", Moved::Nothing),
        S::Restore(_) => row("ALTER", "RESTORE", Moved::Nothing),
        S::Kill { .. } => row("KILL", "KILL", Moved::Nothing),
        S::Reconfigure { .. } => row("ALTER", "RECONFIGURE", Moved::Nothing),
        S::ExecuteAs { .. } => row("ALTER", "EXECUTE AS", Moved::Objects),
        S::Revert { .. } => row("ALTER", "REVERT", Moved::Objects),
    }
}
