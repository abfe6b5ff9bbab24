//! Bugs that can be planted, so that the checkers of histories, of worlds and of crash cases can show that they would catch
//! them. Only where debug assertions are on, as in the builds that tests run; in a release build nothing here costs
//! anything or can be switched on. They stand at the lowest crate that has one.

/// A bug to plant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u8)]
pub enum Bug {
    None,
    /// READ COMMITTED and SNAPSHOT see rows of unfinished transactions.
    DirtyReads,
    /// SNAPSHOT takes a new snapshot with every statement.
    MovingSnapshot,
    /// SNAPSHOT changes rows that have changed since.
    NoConflicts,
    /// Locks of REPEATABLE READ and SERIALIZABLE go with the row.
    BriefLocks,
    /// Inserts do not ask about gaps.
    NoGaps,
    /// A full commit does not wait for the disk.
    EarlyAcknowledge,
    /// Taking an update back restores whose the row is, and leaves what it says.
    StampsOnly,
    /// Who undoes a loser further than a crash let the last one, undoes what was undone before once more.
    UndoTwice,
    /// Redo passes over what took other changes back.
    NoCompensations,
    /// Redo of a page that is asked for leaves out its newest change.
    ShortRedo,
    /// A checkpoint while recovery goes on takes no notice of what is still to be redone.
    EagerCheckpoint,
    /// A checkpoint forgets one of the rows in memory that wait for it.
    ForgottenRow,
    /// A checkpoint lets the log go though memory trees lack beside them what it has.
    EagerTruncation,
    /// Who commits does not look at what it has read of tables in memory.
    MissedValidation,
    /// Versions of rows in memory go at once, whoever sees them still.
    EarlyCleanUp,
    /// Who reads a table into memory leaves out the newest rows that the log has of it.
    LostDelta,
    /// Who reads a table into memory leaves out one of the rows beside it.
    LostRow,
}

#[cfg(debug_assertions)]
static PLANTED: std::sync::atomic::AtomicU8 = std::sync::atomic::AtomicU8::new(0);

/// Plants a bug in every database of the process.
#[cfg(debug_assertions)]
pub fn plant(bug: Bug) {
    PLANTED.store(bug as u8, std::sync::atomic::Ordering::SeqCst);
}

/// Whether `bug` is planted.
#[inline(always)]
pub fn planted(bug: Bug) -> bool {
    #[cfg(debug_assertions)]
    return PLANTED.load(std::sync::atomic::Ordering::Relaxed) == bug as u8;
    #[cfg(not(debug_assertions))]
    {
        let _ = bug;
        false
    }
}
