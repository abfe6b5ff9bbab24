//! Where the tables of a history or a workload live: on disk, in memory, or some there and some here; and how a level is
//! asked for then.
//!
//! A table in memory is read by one snapshot for the whole transaction, whatever the level; by REPEATABLE READ and
//! SERIALIZABLE it is looked at again as the transaction commits. The levels are hints: the session's own stays READ
//! COMMITTED, or READ UNCOMMITTED, where no hint means SNAPSHOT (MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT).

use crate::stage::Level;
use std::str::FromStr;

/// See the file's page.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Tables {
    Disk,
    Memory,
    /// Some in memory, some on disk, in the same transactions.
    Mixed,
}

impl Tables {
    pub const ALL: [Tables; 3] = [Tables::Disk, Tables::Memory, Tables::Mixed];

    pub fn name(self) -> &'static str {
        match self {
            Tables::Disk => "disk",
            Tables::Memory => "memory",
            Tables::Mixed => "mixed",
        }
    }

    /// Batches by which a database may have such tables.
    pub fn options(self, database: &str) -> Vec<String> {
        if self == Tables::Disk {
            return Vec::new();
        }
        vec![
            format!(
                "ALTER DATABASE {database} ADD FILEGROUP in_memory CONTAINS MEMORY_OPTIMIZED_DATA"
            ),
            format!(
                "ALTER DATABASE {database} ADD FILE (NAME = 'in_memory', FILENAME = 'in_memory') \
                 TO FILEGROUP in_memory"
            ),
            format!("ALTER DATABASE {database} SET MEMORY_OPTIMIZED_ELEVATE_TO_SNAPSHOT ON"),
        ]
    }

    /// Of the session, as in SET TRANSACTION ISOLATION LEVEL, so that its transactions are of `level`.
    pub fn session_level(self, level: Level) -> &'static str {
        match (self, level) {
            (Tables::Disk, level) => level.sql(),
            (Tables::Memory, Level::ReadUncommitted) => level.sql(),
            _ => Level::ReadCommittedSnapshot.sql(),
        }
    }
}

impl FromStr for Tables {
    type Err = String;

    fn from_str(text: &str) -> Result<Tables, String> {
        let found = Tables::ALL.into_iter().find(|tables| tables.name() == text);
        found.ok_or_else(|| format!("tables are disk, memory or mixed, not '{text}'"))
    }
}

/// What a statement says behind the name of a table in memory, so that it reads it by `level`.
pub fn hint(level: Level) -> &'static str {
    match level {
        Level::RepeatableRead => " WITH (REPEATABLEREAD)",
        Level::Serializable => " WITH (SERIALIZABLE)",
        Level::Snapshot => " WITH (SNAPSHOT)",
        // SNAPSHOT all the same.
        _ => "",
    }
}

/// What a table's definition ends with that lives in memory.
pub const IN_MEMORY: &str = " WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA)";

/// Whether an error ends a transaction over tables in memory that another has come in the way of: it is to be done again
/// from its beginning.
pub fn is_retried(error: i32) -> bool {
    matches!(error, 41301 | 41302 | 41305 | 41325)
}
