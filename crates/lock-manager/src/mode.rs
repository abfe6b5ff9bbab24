//! Lock modes, which go together, and what two of them make: SQL Server's matrix.
//!
//! A key's mode has two parts: the lock on the key itself, and the one on the gap below it, down to the next lower
//! key. RangeS-U, for instance, is S on the gap and U on the key. Two modes go together when both parts do.
//!
//! ```text
//! key    IS IX S SIX U X          gap     S  I  X         table  Sch-S IS IX S U SIX X Sch-M
//! IS      y  y y  y  y n          S       y  n  n         Sch-S    y   y  y  y y  y  y   n
//! IX      y  y n  n  n n          I       n  y  n         others as keys' modes of the same name
//! S       y  n y  n  y n          X       n  n  n         Sch-M goes with nothing
//! SIX     y  n n  n  n n
//! U       y  n y  n  n n
//! X       n  n n  n  n n
//! ```
//! Intent modes on keys occur in application locks only.

use telemetry::WaitType;

/// The lock on a key, or its share in a table's mode.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
enum Part {
    #[default]
    None,
    IntentShared,
    IntentExclusive,
    Shared,
    SharedIntentExclusive,
    Update,
    Exclusive,
}

impl Part {
    fn compatible(self, other: Part) -> bool {
        use Part::*;
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match low {
            None => true,
            IntentShared => high != Exclusive,
            IntentExclusive => high == IntentExclusive,
            Shared => matches!(high, Shared | Update),
            SharedIntentExclusive | Update | Exclusive => false,
        }
    }

    /// The weakest mode that covers both.
    fn union(self, other: Part) -> Part {
        use Part::*;
        let (low, high) = if self <= other { (self, other) } else { (other, self) };
        match (low, high) {
            (None | IntentShared, _) => high,
            (IntentExclusive, Shared) => SharedIntentExclusive,
            (IntentExclusive | SharedIntentExclusive, Update) => Exclusive,
            _ => high,
        }
    }
}

/// The lock on the gap below a key.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(u8)]
enum Gap {
    #[default]
    None,
    Shared,
    /// A moment before a row goes into the gap.
    Insert,
    Exclusive,
}

impl Gap {
    fn compatible(self, other: Gap) -> bool {
        self == Gap::None || other == Gap::None || (self == other && self != Gap::Exclusive)
    }

    fn union(self, other: Gap) -> Gap {
        match (self, other) {
            (Gap::None, one) | (one, Gap::None) => one,
            (a, b) if a == b => a,
            _ => Gap::Exclusive,
        }
    }
}

/// Mode of a lock on a key (and the gap below it), or of an application lock.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct KeyMode {
    key: Part,
    gap: Gap,
}

impl KeyMode {
    /// Nothing.
    pub const NONE: KeyMode = KeyMode::of(Part::None, Gap::None);
    /// Application locks only.
    pub const INTENT_SHARED: KeyMode = KeyMode::of(Part::IntentShared, Gap::None);
    /// Application locks only.
    pub const INTENT_EXCLUSIVE: KeyMode = KeyMode::of(Part::IntentExclusive, Gap::None);
    pub const SHARED: KeyMode = KeyMode::of(Part::Shared, Gap::None);
    /// Read now, perhaps to change later: one at a time, beside readers.
    pub const UPDATE: KeyMode = KeyMode::of(Part::Update, Gap::None);
    pub const EXCLUSIVE: KeyMode = KeyMode::of(Part::Exclusive, Gap::None);
    /// A serializable reader's: the key, and that nothing comes into the gap.
    pub const RANGE_S_S: KeyMode = KeyMode::of(Part::Shared, Gap::Shared);
    /// The same of one who may change the row.
    pub const RANGE_S_U: KeyMode = KeyMode::of(Part::Update, Gap::Shared);
    /// An insert's, on the key above the new one.
    pub const RANGE_I_N: KeyMode = KeyMode::of(Part::None, Gap::Insert);
    /// A serializable writer's.
    pub const RANGE_X_X: KeyMode = KeyMode::of(Part::Exclusive, Gap::Exclusive);

    const fn of(key: Part, gap: Gap) -> KeyMode {
        KeyMode { key, gap }
    }

    /// The same mode on the key, with the gap below it kept shut.
    #[must_use]
    pub fn with_gap(self) -> KeyMode {
        let gap = if self.key == Part::Exclusive { Gap::Exclusive } else { Gap::Shared };
        KeyMode { key: self.key, gap }
    }

    /// Whether it keeps inserts by others out of the gap.
    pub fn guards_gap(self) -> bool {
        matches!(self.gap, Gap::Shared | Gap::Exclusive)
    }

    /// Whether somebody may hold `self` while another holds `other`.
    #[must_use]
    pub fn compatible(self, other: KeyMode) -> bool {
        self.key.compatible(other.key) && self.gap.compatible(other.gap)
    }

    /// The weakest mode that covers both.
    #[must_use]
    pub fn union(self, other: KeyMode) -> KeyMode {
        KeyMode { key: self.key.union(other.key), gap: self.gap.union(other.gap) }
    }

    /// Whether a holder of `self` needs no separate `other`.
    #[must_use]
    pub fn covers(self, other: KeyMode) -> bool {
        self.union(other) == self
    }

    /// Whether it is a writer's: to be escalated into an X lock, not an S lock.
    pub fn writes(self) -> bool {
        self.key >= Part::Update
    }

    /// What waiting for it is called.
    pub fn wait_type(self) -> WaitType {
        use {Gap as G, Part as P};
        match (self.gap, self.key) {
            (G::None, P::None | P::Shared) => WaitType::LckMS,
            (G::None, P::IntentShared) => WaitType::LckMIs,
            (G::None, P::IntentExclusive) => WaitType::LckMIx,
            (G::None, P::SharedIntentExclusive) => WaitType::LckMSix,
            (G::None, P::Update) => WaitType::LckMU,
            (G::None, P::Exclusive) => WaitType::LckMX,
            (G::Shared, P::Update | P::Exclusive) => WaitType::LckMRsU,
            (G::Shared, _) => WaitType::LckMRsS,
            (G::Insert, P::Shared) => WaitType::LckMRinS,
            (G::Insert, P::Update) => WaitType::LckMRinU,
            (G::Insert, P::Exclusive) => WaitType::LckMRinX,
            (G::Insert, _) => WaitType::LckMRinNl,
            (G::Exclusive, P::Update) => WaitType::LckMRxU,
            (G::Exclusive, P::Exclusive) => WaitType::LckMRxX,
            (G::Exclusive, _) => WaitType::LckMRxS,
        }
    }

    /// `request_mode` in `sys.dm_tran_locks`.
    pub fn name(self) -> &'static str {
        use {Gap as G, Part as P};
        match (self.gap, self.key) {
            (G::None, P::None) => "NULL",
            (G::None, P::IntentShared) => "IS",
            (G::None, P::IntentExclusive) => "IX",
            (G::None, P::Shared) => "S",
            (G::None, P::SharedIntentExclusive) => "SIX",
            (G::None, P::Update) => "U",
            (G::None, P::Exclusive) => "X",
            (G::Shared, P::Update) => "RangeS-U",
            (G::Shared, P::Exclusive) => "RangeX-X",
            (G::Shared, _) => "RangeS-S",
            (G::Insert, P::Shared) => "RangeI-S",
            (G::Insert, P::Update) => "RangeI-U",
            (G::Insert, P::Exclusive) => "RangeI-X",
            (G::Insert, _) => "RangeI-N",
            (G::Exclusive, P::Update) => "RangeX-U",
            (G::Exclusive, P::Exclusive) => "RangeX-X",
            (G::Exclusive, _) => "RangeX-S",
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
    Update,
    /// Reads the whole table and changes rows of it.
    SharedIntentExclusive,
    Exclusive,
    SchemaModification,
}

impl TableMode {
    fn part(self) -> Part {
        match self {
            TableMode::SchemaStability => Part::None,
            TableMode::IntentShared => Part::IntentShared,
            TableMode::IntentExclusive => Part::IntentExclusive,
            TableMode::Shared => Part::Shared,
            TableMode::Update => Part::Update,
            TableMode::SharedIntentExclusive => Part::SharedIntentExclusive,
            TableMode::Exclusive | TableMode::SchemaModification => Part::Exclusive,
        }
    }

    pub(crate) fn compatible(self, other: TableMode) -> bool {
        use TableMode::SchemaModification;
        self != SchemaModification
            && other != SchemaModification
            && self.part().compatible(other.part())
    }

    /// Whether a holder of `self` needs no separate `other`.
    pub fn covers(self, other: TableMode) -> bool {
        use TableMode::{SchemaModification, SchemaStability};
        match (self, other) {
            (SchemaModification, _) => true,
            (_, SchemaModification) => false,
            (_, SchemaStability) => true,
            _ => self.part().union(other.part()) == self.part(),
        }
    }

    /// Whether a holder of `self` needs no lock on a key for `key`.
    pub(crate) fn covers_keys(self, key: KeyMode) -> bool {
        match self {
            TableMode::Exclusive | TableMode::SchemaModification => true,
            TableMode::Shared | TableMode::Update | TableMode::SharedIntentExclusive => {
                !key.writes() && key.gap != Gap::Insert
            }
            _ => false,
        }
    }

    /// Modes with counters per slot.
    pub(crate) fn is_fast(self) -> bool {
        self <= TableMode::IntentExclusive
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
            TableMode::Update => WaitType::LckMU,
            TableMode::SharedIntentExclusive => WaitType::LckMSix,
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
            TableMode::Update => "U",
            TableMode::SharedIntentExclusive => "SIX",
            TableMode::Exclusive => "X",
            TableMode::SchemaModification => "Sch-M",
        }
    }
}
