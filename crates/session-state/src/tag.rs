//! One row for each kind of statement: its name among requests, the number that DONE gives it, whether it opens a
//! transaction by itself, whether DDL triggers and audits may hear of it.
//!
//! Promise: nothing here has a default. A new statement has no tag until [`Tag::of`] and [`Tag::of_tree`] name one, and a
//! new tag has no name until its row is written: the compiler asks for both. PostgreSQL's `cmdtaglist.h` is the model.
//!
//! Sources: `command` of sys.dm_exec_requests, and the DONE token of \[MS-TDS\] for the numbers ([`executor::Command`]).
//! What may stand in a function or in a natively compiled module is a row of crate `semantics` (`statement_rows.rs`).

use executor::Command;
use ir::StmtKind;
use ir::ddl::Ddl;
use syntax::ast::{DropKind, GrantVerb, SecurityStatement, StatementKind, StatisticsStatement};

/// What a tag says of its statements.
struct Row {
    /// `command` of sys.dm_exec_requests.
    request: &'static str,
    /// What DONE calls it; [`Command::Other`] for what says nothing when it is done.
    done: Command,
    /// It begins a transaction under IMPLICIT_TRANSACTIONS, and may not run in a doomed one.
    writes: bool,
    /// It may make something happen that a DDL trigger is for, or an audit.
    watched: bool,
}

macro_rules! tags {
    ($($tag:ident = $request:literal, $done:ident, $writes:literal, $watched:literal;)*) => {
        /// What a statement is. A row of the table below.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum Tag { $($tag),* }

        const ROWS: &[Row] = &[$(Row {
            request: $request,
            done: Command::$done,
            writes: $writes,
            watched: $watched,
        }),*];

        /// Every tag, by its number.
        const TAGS: &[Tag] = &[$(Tag::$tag),*];
    };
}

tags! {
    // No statement has run yet.
    None = "", Other, false, false;

    Select = "SELECT", Select, false, false;
    Insert = "INSERT", Insert, true, false;
    BulkInsert = "INSERT", BulkInsert, true, false;
    Update = "UPDATE", Update, true, false;
    Delete = "DELETE", Delete, true, false;
    Merge = "MERGE", Merge, true, false;
    Truncate = "TRUNCATE TABLE", Other, true, false;

    Begin = "BEGIN TRANSACTION", BeginTransaction, false, false;
    Commit = "COMMIT TRANSACTION", Commit, false, false;
    Rollback = "ROLLBACK TRANSACTION", Rollback, false, false;
    Save = "SAVE TRANSACTION", Other, false, false;

    // What has no name among requests: assignments, control of flow, cursors.
    Control = "OTHER", Other, false, false;
    Cursor = "OTHER", Other, false, false;
    Execute = "EXECUTE", Execute, false, false;
    Print = "PRINT", Other, false, false;
    RaiseError = "RAISERROR", Other, false, false;
    Throw = "OTHER", Other, false, false;
    WaitFor = "WAITFOR", Other, false, false;
    Set = "SET COMMAND", Other, false, false;
    Use = "USE DATABASE", Use, false, false;

    CreateDatabase = "DDL", CreateDatabase, true, true;
    AlterDatabase = "DDL", AlterDatabase, true, true;
    DropDatabase = "DDL", DropDatabase, true, true;
    CreateTable = "DDL", CreateTable, true, true;
    AlterTable = "DDL", AlterTable, true, true;
    DropTable = "DDL", DropTable, true, true;
    CreateIndex = "DDL", CreateIndex, true, true;
    AlterIndex = "DDL", AlterIndex, true, true;
    DropIndex = "DDL", DropIndex, true, true;
    CreateProcedure = "DDL", CreateProcedure, true, true;
    DropProcedure = "DDL", DropProcedure, true, true;
    CreateView = "DDL", CreateView, true, true;
    DropView = "DDL", DropView, true, true;
    CreateType = "DDL", CreateType, true, true;
    DropType = "DDL", DropType, true, true;
    // Definitions for which nothing is told when they are done.
    Define = "DDL", Other, true, true;

    CreateLogin = "SECURITY", CreateLogin, false, true;
    AlterLogin = "SECURITY", AlterLogin, false, true;
    DropLogin = "SECURITY", DropLogin, false, true;
    CreateUser = "SECURITY", CreateUser, false, true;
    AlterUser = "SECURITY", AlterUser, false, true;
    DropUser = "SECURITY", DropUser, false, true;
    CreateRole = "SECURITY", CreateRole, false, true;
    AlterRole = "SECURITY", AlterRole, false, true;
    DropRole = "SECURITY", DropRole, false, true;
    CreateApplicationRole = "SECURITY", Other, false, true;
    AlterApplicationRole = "SECURITY", Other, false, true;
    DropApplicationRole = "SECURITY", Other, false, true;
    CreateSchema = "SECURITY", CreateSchema, false, true;
    AlterSchema = "SECURITY", Other, false, true;
    DropSchema = "SECURITY", DropSchema, false, true;
    AlterAuthorization = "SECURITY", AlterAuthorization, false, true;
    Grant = "SECURITY", Grant, false, true;
    Deny = "SECURITY", Deny, false, true;
    Revoke = "SECURITY", Revoke, false, true;
    ExecuteAs = "OTHER", Other, false, false;
    Revert = "OTHER", Other, false, false;

    CreateStatistics = "CREATE STATISTICS", Other, false, true;
    UpdateStatistics = "UPDATE STATISTICS", Other, false, true;
    DropStatistics = "DROP STATISTICS", Other, false, true;

    Dbcc = "DBCC", Dbcc, false, true;
    Backup = "BACKUP", Other, false, true;
    Restore = "OTHER", Other, false, true;
    Checkpoint = "CHECKPOINT", Other, false, false;
    Kill = "KILL", Other, false, false;
    Reconfigure = "RECONFIGURE", Other, false, false;
    AlterServer = "OTHER", Other, false, true;
    // SETUSER, SHUTDOWN, and what is answered as by a server that lacks it.
    Rare = "OTHER", Other, false, true;
    NotSupported = "OTHER", Other, false, false;
}

impl Tag {
    /// `command` of sys.dm_exec_requests.
    pub fn request(self) -> &'static str {
        ROWS[self as usize].request
    }

    /// What DONE calls it.
    #[inline]
    pub fn done(self) -> Command {
        ROWS[self as usize].done
    }

    /// Does it begin a transaction under IMPLICIT_TRANSACTIONS, whatever it reads?
    #[inline]
    pub fn writes(self) -> bool {
        ROWS[self as usize].writes
    }

    /// May it make something happen that a DDL trigger is for, or an audit? No DDL trigger is for a backup, but audits are.
    pub fn is_watched(self) -> bool {
        ROWS[self as usize].watched
    }

    /// By its number, which a session publishes.
    pub(crate) fn numbered(number: u8) -> Tag {
        TAGS[usize::from(number)]
    }

    /// Of a bound statement; of one that is bound when it runs by its tree, `source`.
    #[inline]
    pub fn of(kind: &StmtKind, source: Option<&StatementKind>) -> Tag {
        match kind {
            StmtKind::Select(_) => Tag::Select,
            StmtKind::Insert(_) => Tag::Insert,
            StmtKind::Update(_) => Tag::Update,
            StmtKind::Delete(_) => Tag::Delete,
            StmtKind::Merge(_) => Tag::Merge,
            StmtKind::There(there) => Tag::of(&there.change, source),
            StmtKind::Truncate { .. } => Tag::Truncate,
            StmtKind::BulkInsert(_) => Tag::BulkInsert,
            StmtKind::Begin { .. } => Tag::Begin,
            StmtKind::Commit { .. } => Tag::Commit,
            StmtKind::Rollback { .. } => Tag::Rollback,
            StmtKind::Save { .. } => Tag::Save,
            StmtKind::SetVars(_)
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::Break
            | StmtKind::Continue
            | StmtKind::Block(_)
            | StmtKind::TryCatch { .. }
            | StmtKind::Label(_)
            | StmtKind::Goto(_)
            | StmtKind::Return(_)
            | StmtKind::Nothing => Tag::Control,
            StmtKind::Cursor(_) => Tag::Cursor,
            StmtKind::Exec(_) | StmtKind::ExecString { .. } => Tag::Execute,
            StmtKind::Print(_) => Tag::Print,
            StmtKind::RaiseError(_) => Tag::RaiseError,
            StmtKind::Throw(_) => Tag::Throw,
            StmtKind::WaitFor(_) => Tag::WaitFor,
            StmtKind::Set(_) => Tag::Set,
            StmtKind::Use { .. } => Tag::Use,
            StmtKind::Ddl(ddl) => Tag::of_definition(ddl),
            StmtKind::Security(statement) => Tag::of_security(statement),
            StmtKind::Statistics(statement) => Tag::of_statistics(statement),
            StmtKind::ExecuteAs { .. } => Tag::ExecuteAs,
            StmtKind::Revert { .. } => Tag::Revert,
            StmtKind::Rare(_) => Tag::Rare,
            StmtKind::Dbcc { .. } => Tag::Dbcc,
            StmtKind::Backup(_) => Tag::Backup,
            StmtKind::Restore(_) => Tag::Restore,
            StmtKind::Checkpoint => Tag::Checkpoint,
            StmtKind::Kill { .. } => Tag::Kill,
            StmtKind::Reconfigure { .. } => Tag::Reconfigure,
            StmtKind::AlterServer(_) => Tag::AlterServer,
            StmtKind::NotSupported { .. } => Tag::NotSupported,
            StmtKind::Deferred => source.map_or(Tag::Control, Tag::of_tree),
        }
    }

    fn of_definition(ddl: &Ddl) -> Tag {
        match ddl {
            Ddl::CreateDatabase(_) => Tag::CreateDatabase,
            Ddl::AlterDatabase(_) => Tag::AlterDatabase,
            Ddl::CreateTable(_) => Tag::CreateTable,
            Ddl::AlterTable(_) | Ddl::Switch(_) => Tag::AlterTable,
            Ddl::Reorganize(_) => Tag::AlterIndex,
            Ddl::PrivateUnique { .. } | Ddl::IndexView(_) => Tag::CreateIndex,
            Ddl::CreateProcedure(_) => Tag::CreateProcedure,
            Ddl::CreateView(_) => Tag::CreateView,
            Ddl::CreateType { .. } => Tag::CreateType,
            Ddl::CreateFunction(..)
            | Ddl::CreateTrigger(..)
            | Ddl::CreateDdlTrigger { .. }
            | Ddl::EnableTrigger(_)
            | Ddl::EnableDdlTrigger(_)
            | Ddl::DefineSequence(..)
            | Ddl::CreateSynonym(_)
            | Ddl::CreateBindable { .. }
            | Ddl::SecurityPolicy { .. }
            | Ddl::Partition(_) => Tag::Define,
            Ddl::Drop(drop) => Tag::of_drop(drop.kind),
        }
    }

    fn of_drop(kind: DropKind) -> Tag {
        match kind {
            DropKind::Database => Tag::DropDatabase,
            DropKind::Table => Tag::DropTable,
            DropKind::Procedure => Tag::DropProcedure,
            DropKind::Index => Tag::DropIndex,
            DropKind::View => Tag::DropView,
            DropKind::Type => Tag::DropType,
            DropKind::Function
            | DropKind::Trigger
            | DropKind::DatabaseTrigger
            | DropKind::ServerTrigger
            | DropKind::Sequence
            | DropKind::Synonym
            | DropKind::Rule
            | DropKind::Default
            | DropKind::SecurityPolicy => Tag::Define,
        }
    }

    fn of_security(statement: &SecurityStatement) -> Tag {
        match statement {
            SecurityStatement::CreateLogin { .. } | SecurityStatement::CreateLoginFrom { .. } => {
                Tag::CreateLogin
            }
            SecurityStatement::AlterLogin { .. } => Tag::AlterLogin,
            SecurityStatement::DropLogin { .. } => Tag::DropLogin,
            SecurityStatement::CreateUser { .. } => Tag::CreateUser,
            SecurityStatement::AlterUser { .. } => Tag::AlterUser,
            SecurityStatement::DropUser { .. } => Tag::DropUser,
            SecurityStatement::CreateRole { .. } => Tag::CreateRole,
            SecurityStatement::AlterRole { .. } => Tag::AlterRole,
            SecurityStatement::DropRole { .. } => Tag::DropRole,
            SecurityStatement::CreateApplicationRole { .. } => Tag::CreateApplicationRole,
            SecurityStatement::AlterApplicationRole { .. } => Tag::AlterApplicationRole,
            SecurityStatement::DropApplicationRole { .. } => Tag::DropApplicationRole,
            SecurityStatement::CreateSchema { .. } => Tag::CreateSchema,
            SecurityStatement::AlterSchema { .. } => Tag::AlterSchema,
            SecurityStatement::DropSchema { .. } => Tag::DropSchema,
            SecurityStatement::AlterAuthorization { .. } => Tag::AlterAuthorization,
            SecurityStatement::Grant(grant) => match grant.verb {
                GrantVerb::Grant => Tag::Grant,
                GrantVerb::Deny => Tag::Deny,
                GrantVerb::Revoke => Tag::Revoke,
            },
        }
    }

    fn of_statistics(statement: &StatisticsStatement) -> Tag {
        match statement {
            StatisticsStatement::Create { .. } => Tag::CreateStatistics,
            StatisticsStatement::Update { .. } => Tag::UpdateStatistics,
            StatisticsStatement::Drop(_) => Tag::DropStatistics,
        }
    }

    /// Of a statement that is not bound yet.
    pub fn of_tree(kind: &StatementKind) -> Tag {
        use StatementKind as S;
        match kind {
            S::Select(_) => Tag::Select,
            S::Insert(_) => Tag::Insert,
            S::Update(_) => Tag::Update,
            S::Delete(_) => Tag::Delete,
            S::Merge(_) => Tag::Merge,
            S::Truncate(_) => Tag::Truncate,
            S::BulkInsert(_) => Tag::BulkInsert,
            S::BeginTransaction { .. } => Tag::Begin,
            S::Commit { .. } => Tag::Commit,
            S::Rollback { .. } => Tag::Rollback,
            S::SaveTransaction { .. } => Tag::Save,
            S::Declare(_)
            | S::SetVariable { .. }
            | S::If { .. }
            | S::While { .. }
            | S::Break
            | S::Continue
            | S::Block(_)
            | S::Atomic(_)
            | S::TryCatch { .. }
            | S::Label(_)
            | S::Goto(_)
            | S::Return(_) => Tag::Control,
            S::DeclareCursor(_) | S::SetCursor { .. } | S::Cursor { .. } | S::Fetch(_) => {
                Tag::Cursor
            }
            S::Execute(_) | S::ExecuteString(_) => Tag::Execute,
            S::Print(_) => Tag::Print,
            S::RaiseError(_) => Tag::RaiseError,
            S::Throw(_) => Tag::Throw,
            S::WaitFor { .. } => Tag::WaitFor,
            S::SetOption(_) => Tag::Set,
            S::Use(_) => Tag::Use,
            S::CreateDatabase(_) => Tag::CreateDatabase,
            S::AlterDatabase(_) => Tag::AlterDatabase,
            S::CreateTable(_) => Tag::CreateTable,
            S::AlterTable(_) | S::Switch(_) => Tag::AlterTable,
            S::CreateIndex(_) => Tag::CreateIndex,
            S::AlterIndex(_) => Tag::AlterIndex,
            S::CreateProcedure(_) => Tag::CreateProcedure,
            S::CreateView(_) => Tag::CreateView,
            S::CreateType(_) => Tag::CreateType,
            S::CreateFunction(_)
            | S::CreateTrigger(_)
            | S::CreateDdlTrigger(_)
            | S::CreateBindable(_)
            | S::DefineSequence(_)
            | S::CreateSynonym(_)
            | S::EnableTrigger(_)
            | S::EnableDdlTrigger(_)
            | S::SecurityPolicy(_)
            | S::Partition(_) => Tag::Define,
            S::Drop(drop) => Tag::of_drop(drop.kind),
            S::Security(statement) => Tag::of_security(statement),
            S::Statistics(statement) => Tag::of_statistics(statement),
            S::ExecuteAs { .. } => Tag::ExecuteAs,
            S::Revert { .. } => Tag::Revert,
            S::Rare(_) => Tag::Rare,
            S::Dbcc(_) => Tag::Dbcc,
            S::Backup(_) => Tag::Backup,
            S::Restore(_) => Tag::Restore,
            S::Checkpoint => Tag::Checkpoint,
            S::Kill { .. } => Tag::Kill,
            S::Reconfigure { .. } => Tag::Reconfigure,
            S::AlterServer(_) => Tag::AlterServer,
            S::Unsupported { .. } => Tag::NotSupported,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tag(text: &str) -> Tag {
        let batch = syntax::parse_batch(text, &syntax::LexOptions::default()).expect("it parses");
        Tag::of_tree(&batch.statements[0].kind)
    }

    #[test]
    fn statistics_are_no_matter_of_security() {
        assert_eq!(tag("UPDATE STATISTICS t").request(), "UPDATE STATISTICS");
        assert_eq!(tag("DROP STATISTICS t.s").request(), "DROP STATISTICS");
        assert_eq!(tag("CREATE USER u WITHOUT LOGIN").request(), "SECURITY");
    }

    #[test]
    fn a_number_leads_back_to_its_tag() {
        for (number, tag) in TAGS.iter().enumerate() {
            assert_eq!(*tag as usize, number);
            assert_eq!(Tag::numbered(number as u8), *tag);
        }
        assert_eq!(Tag::numbered(0).request(), "");
    }
}
