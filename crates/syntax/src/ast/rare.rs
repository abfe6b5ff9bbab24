//! Statements that programs seldom have, in one box, so that they cost the others nothing.

use super::*;

/// One of them.
#[derive(Clone, Debug, PartialEq)]
pub enum RareStatement {
    /// INSERT BULK within a batch.
    InsertBulk(InsertBulk),
    /// BEGIN DISTRIBUTED TRANSACTION [name].
    BeginDistributed,
    /// LINENO number: what follows has other lines, which the parser has given it.
    LineNumber(u32),
    /// SETUSER ['name' [WITH NORESET]].
    SetUser {
        /// Text or variable; none: back to who it was.
        name: Option<Expr>,
        /// WITH NORESET: SETUSER without a name does not bring back who it was.
        no_reset: bool,
    },
    /// Resource Governor.
    Governor(GovernorStatement),
    /// SHUTDOWN [WITH NOWAIT].
    Shutdown {
        /// WITH NOWAIT.
        no_wait: bool,
    },
}

/// What EXECUTE AS says of its end.
#[derive(Clone, Debug, PartialEq)]
pub enum ExecuteAsEnd {
    /// Nothing: REVERT ends it.
    Revert,
    /// WITH NO REVERT: nothing but the session's end does.
    NoRevert,
    /// WITH COOKIE INTO @v: REVERT WITH COOKIE, of what the variable then holds.
    Cookie(Variable),
}

/// What KILL does to a session or a distributed transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillWith {
    /// Ends it.
    Nothing,
    /// STATUSONLY: tells how far an earlier KILL has come.
    StatusOnly,
    /// COMMIT or ROLLBACK, of a distributed transaction that is in doubt.
    Outcome,
}
