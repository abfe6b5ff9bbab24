//! What DONE calls the statement that an instruction belongs to.

use crate::code::Code;
use crate::op::{Op, Pc};
use executor::Command;
use session_state::Tag;

/// The kind of the statement to which an instruction belongs.
pub(crate) fn command_at(code: &Code, pc: Pc) -> Command {
    match code.ops[pc as usize] {
        Op::Statement { index } | Op::InsertCommit { index, .. } => {
            let statement = &code.statements[index as usize];
            Tag::of(&statement.kind, statement.source.as_deref().map(|s| &s.kind)).done()
        }
        Op::Begin => Command::BeginTransaction,
        Op::Commit { .. } => Command::Commit,
        // What belongs to no statement that tells its end.
        _ => Command::Other,
    }
}
