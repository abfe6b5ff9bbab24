//! At which isolation levels a memory-optimised table may be read: SQL Server's rules.
//!
//! | session | in its own transaction | in BEGIN TRANSACTION |
//! |---|---|---|
//! | READ COMMITTED, READ UNCOMMITTED | by a snapshot | 41368, unless a hint or MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT says how |
//! | REPEATABLE READ, SERIALIZABLE | 41333, but WITH (SNAPSHOT) | the same |
//! | SNAPSHOT | 41332 | 41332 |
//!
//! A natively compiled module reads at the level of its atomic block, and is not asked.
//!
//! Source: "Transactions with memory-optimized tables" of SQL Server's documentation.

use crate::message::SqlError;
use engine::Isolation;
use ir::TableHints;

/// Who reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MemoryAccess {
    /// A statement that is its own transaction, or MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT is ON.
    #[default]
    Free,
    /// One in a transaction that somebody has begun.
    InTransaction,
    /// A natively compiled module.
    Native,
}

/// [`check`] for a table without hints.
#[inline]
pub fn check_memory_read(session: Isolation, access: MemoryAccess) -> Result<(), SqlError> {
    if access == MemoryAccess::Native {
        return Ok(());
    }
    check(&TableHints::default(), session, access)
}

/// 41332, 41333, 41368.
pub fn check(hints: &TableHints, session: Isolation, access: MemoryAccess) -> Result<(), SqlError> {
    if access == MemoryAccess::Native {
        return Ok(());
    }
    match session {
        Isolation::Snapshot => Err(SqlError::new(
            41332,
            16,
            "Memory optimized tables and natively compiled modules cannot be accessed or created when the session \
             TRANSACTION ISOLATION LEVEL is set to SNAPSHOT.",
        )),
        Isolation::RepeatableRead | Isolation::Serializable if !hints.snapshot => {
            Err(SqlError::new(
                41333,
                16,
                "The following transactions must access memory optimized tables and natively compiled modules under \
                 snapshot isolation: RepeatableRead transactions, Serializable transactions, and transactions that \
                 access tables that are not memory optimized in RepeatableRead or Serializable isolation.",
            ))
        }
        Isolation::ReadCommitted | Isolation::ReadUncommitted
            if access == MemoryAccess::InTransaction
                && !(hints.snapshot || hints.repeatableread || hints.holdlock) =>
        {
            Err(SqlError::new(
                41368,
                16,
                "Accessing memory optimized tables using the READ COMMITTED isolation level is supported only for \
                 autocommit transactions. It is not supported for explicit or implicit transactions. Provide a \
                 supported isolation level for the memory optimized table using a table hint, such as WITH (SNAPSHOT).",
            ))
        }
        _ => Ok(()),
    }
}
