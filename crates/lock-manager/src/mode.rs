//! Lock modes and which go together: SQL Server's matrix, as far as we use it.

use telemetry::WaitType;

/// Mode of a row lock.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RowMode {
    Shared,
    /// Read now, perhaps to change later: one at a time, beside readers.
    Update,
    Exclusive,
}

impl RowMode {
    pub(crate) fn compatible(self, other: RowMode) -> bool {
        use RowMode::*;
        matches!((self, other), (Shared, Shared) | (Shared, Update) | (Update, Shared))
    }

    pub(crate) fn wait_type(self) -> WaitType {
        match self {
            RowMode::Shared => WaitType::LckMS,
            RowMode::Update => WaitType::LckMU,
            RowMode::Exclusive => WaitType::LckMX,
        }
    }

    /// `request_mode` in `sys.dm_tran_locks`.
    pub fn name(self) -> &'static str {
        match self {
            RowMode::Shared => "S",
            RowMode::Update => "U",
            RowMode::Exclusive => "X",
        }
    }
}

/// Mode of a lock on a whole table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TableMode {
    /// Uses the table's pages: in the way of Sch-M only.
    SchemaStability,
    IntentShared,
    IntentExclusive,
    Shared,
    Exclusive,
    SchemaModification,
}

impl TableMode {
    pub(crate) fn compatible(self, other: TableMode) -> bool {
        use TableMode::*;
        matches!(
            (self, other),
            (
                SchemaStability,
                SchemaStability | IntentShared | IntentExclusive | Shared | Exclusive
            ) | (IntentShared | IntentExclusive | Shared | Exclusive, SchemaStability)
                | (IntentShared, IntentShared | IntentExclusive | Shared)
                | (IntentExclusive, IntentShared | IntentExclusive)
                | (Shared, IntentShared | Shared)
        )
    }

    /// Whether a holder of `self` needs no separate `other`.
    pub(crate) fn covers(self, other: TableMode) -> bool {
        use TableMode::*;
        match self {
            SchemaModification => true,
            Exclusive => other != SchemaModification,
            Shared => matches!(other, Shared | IntentShared | SchemaStability),
            IntentExclusive => matches!(other, IntentExclusive | IntentShared | SchemaStability),
            IntentShared => matches!(other, IntentShared | SchemaStability),
            SchemaStability => other == SchemaStability,
        }
    }

    /// Modes with counters per slot.
    pub(crate) fn is_fast(self) -> bool {
        matches!(self, TableMode::IntentExclusive | TableMode::SchemaStability)
    }

    /// Modes that conflict with those of the counters raise the bucket's flag.
    pub(crate) fn is_strong(self) -> bool {
        self >= TableMode::Shared
    }

    pub(crate) fn wait_type(self) -> WaitType {
        match self {
            TableMode::SchemaStability => WaitType::LckMSchS,
            TableMode::IntentShared => WaitType::LckMIs,
            TableMode::IntentExclusive => WaitType::LckMIx,
            TableMode::Shared => WaitType::LckMS,
            TableMode::Exclusive => WaitType::LckMX,
            TableMode::SchemaModification => WaitType::LckMSchM,
        }
    }

    /// `request_mode` in `sys.dm_tran_locks`.
    pub fn name(self) -> &'static str {
        match self {
            TableMode::SchemaStability => "Sch-S",
            TableMode::IntentShared => "IS",
            TableMode::IntentExclusive => "IX",
            TableMode::Shared => "S",
            TableMode::Exclusive => "X",
            TableMode::SchemaModification => "Sch-M",
        }
    }
}
