//! What DONE calls a statement.

use crate::code::{Code, Op, Pc};
use binder::ddl::Ddl;
use binder::ir::StmtKind;
use executor::Command;
use syntax::ast::{DropKind, GrantVerb, SecurityStatement, StatementKind};

/// A bound statement's kind; [`Command::Other`] for what says nothing when it is done.
pub(crate) fn command_of(kind: &StmtKind) -> Command {
    match kind {
        StmtKind::Select(_) => Command::Select,
        StmtKind::Insert(_) => Command::Insert,
        StmtKind::Update(_) => Command::Update,
        StmtKind::Delete(_) => Command::Delete,
        StmtKind::Merge(_) => Command::Merge,
        StmtKind::BulkInsert(_) => Command::BulkInsert,
        StmtKind::Begin { .. } => Command::BeginTransaction,
        StmtKind::Commit { .. } => Command::Commit,
        StmtKind::Rollback { .. } => Command::Rollback,
        StmtKind::Exec(_) | StmtKind::ExecString { .. } => Command::Execute,
        StmtKind::Use { .. } => Command::Use,
        StmtKind::Dbcc { .. } => Command::Dbcc,
        StmtKind::Ddl(ddl) => match &**ddl {
            Ddl::CreateDatabase(_) => Command::CreateDatabase,
            Ddl::AlterDatabase(_) => Command::AlterDatabase,
            Ddl::CreateTable(_) => Command::CreateTable,
            Ddl::AlterTable(_) => Command::AlterTable,
            Ddl::Reorganize(_) => Command::AlterIndex,
            Ddl::CreateProcedure(_) => Command::CreateProcedure,
            Ddl::PrivateUnique { .. } => Command::CreateIndex,
            Ddl::CreateView(_) => Command::CreateView,
            Ddl::DefineSequence(..) | Ddl::CreateSynonym(_) => Command::Other,
            Ddl::CreateTrigger(..) | Ddl::EnableTrigger(_) => Command::Other,
            Ddl::CreateDdlTrigger { .. } | Ddl::EnableDdlTrigger(_) => Command::Other,
            Ddl::Switch(_) => Command::AlterTable,
            Ddl::CreateFunction(..) | Ddl::SecurityPolicy { .. } | Ddl::Partition(_) => {
                Command::Other
            }
            Ddl::CreateType { .. } => Command::CreateType,
            Ddl::CreateBindable { .. } => Command::Other,
            Ddl::Drop(drop) => dropped(drop.kind),
        },
        StmtKind::Security(statement) => match &**statement {
            SecurityStatement::CreateLogin { .. } | SecurityStatement::CreateLoginFrom { .. } => {
                Command::CreateLogin
            }
            SecurityStatement::AlterLogin { .. } => Command::AlterLogin,
            SecurityStatement::DropLogin { .. } => Command::DropLogin,
            SecurityStatement::CreateUser { .. } => Command::CreateUser,
            SecurityStatement::AlterUser { .. } => Command::AlterUser,
            SecurityStatement::DropUser { .. } => Command::DropUser,
            SecurityStatement::CreateRole { .. } => Command::CreateRole,
            SecurityStatement::AlterRole { .. } => Command::AlterRole,
            SecurityStatement::DropRole { .. } => Command::DropRole,
            SecurityStatement::CreateSchema { .. } => Command::CreateSchema,
            SecurityStatement::AlterSchema { .. } => Command::Other,
            SecurityStatement::DropSchema { .. } => Command::DropSchema,
            SecurityStatement::AlterAuthorization { .. } => Command::AlterAuthorization,
            SecurityStatement::Grant(grant) => match grant.verb {
                GrantVerb::Grant => Command::Grant,
                GrantVerb::Deny => Command::Deny,
                GrantVerb::Revoke => Command::Revoke,
            },
        },
        _ => Command::Other,
    }
}

fn dropped(kind: DropKind) -> Command {
    match kind {
        DropKind::Database => Command::DropDatabase,
        DropKind::Table => Command::DropTable,
        DropKind::Procedure => Command::DropProcedure,
        DropKind::Index => Command::DropIndex,
        DropKind::View => Command::DropView,
        DropKind::Type => Command::DropType,
        DropKind::Function
        | DropKind::Trigger
        | DropKind::DatabaseTrigger
        | DropKind::ServerTrigger
        | DropKind::Sequence
        | DropKind::Synonym
        | DropKind::Rule
        | DropKind::Default
        | DropKind::SecurityPolicy => Command::Other,
    }
}

/// The kind of the statement to which an instruction belongs.
pub(crate) fn command_at(code: &Code, pc: Pc) -> Command {
    match code.ops[pc as usize] {
        Op::Statement { index } | Op::InsertCommit { index, .. } => {
            let statement = &code.statements[index as usize];
            match (&statement.kind, statement.source.as_deref()) {
                (StmtKind::Deferred, Some(source)) => match &source.kind {
                    StatementKind::Select(_) => Command::Select,
                    StatementKind::Insert(_) => Command::Insert,
                    StatementKind::Update(_) => Command::Update,
                    StatementKind::Delete(_) => Command::Delete,
                    StatementKind::Merge(_) => Command::Merge,
                    _ => Command::Other,
                },
                (kind, _) => command_of(kind),
            }
        }
        Op::Begin => Command::BeginTransaction,
        Op::Commit { .. } => Command::Commit,
        _ => Command::Other,
    }
}
