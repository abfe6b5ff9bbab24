//! The 64 bits on every row: who wrote it, or when that was committed.
//!
//! ```text
//! 63      62         61     60 ............ 0
//! IS_XID  HAS_OLDER  GHOST  value: Xid, or CSN (LSN of the commit record)
//! ```
//! Invariants: the value of a stamp with IS_XID is an Xid that may be unfinished, finished or even forgotten (then it
//! is committed); without IS_XID it is a CSN, and CSN 0 is visible to everybody.

use log_manager::Lsn;
use std::fmt;

/// Identity of a transaction. Unique for the life of a database; says nothing about order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct Xid(pub u64);

impl Xid {
    /// No transaction.
    pub const NONE: Xid = Xid(0);

    /// Whether this is [`Xid::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "xid:{:x}", self.0)
    }
}

impl fmt::Display for Xid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}", self.0)
    }
}

/// What a row says about its own birth. See the file's drawing.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Stamp(pub u64);

impl Stamp {
    /// The value is an [`Xid`].
    pub const IS_XID: u64 = 1 << 63;
    /// An older version may be in the version store.
    pub const HAS_OLDER: u64 = 1 << 62;
    /// The row is deleted.
    pub const GHOST: u64 = 1 << 61;
    /// The bits of the value.
    pub const VALUE: u64 = Self::GHOST - 1;

    /// Written by `xid`, which may be unfinished.
    #[inline]
    pub const fn active(xid: Xid) -> Stamp {
        debug_assert!(xid.0 & !Self::VALUE == 0);
        Stamp(Self::IS_XID | xid.0)
    }

    /// Committed at `csn`.
    #[inline]
    pub const fn committed(csn: Lsn) -> Stamp {
        debug_assert!(csn.0 & !Self::VALUE == 0);
        Stamp(csn.0)
    }

    /// Committed before everything: visible to every snapshot.
    #[inline]
    pub const fn frozen() -> Stamp {
        Stamp(0)
    }

    /// The same, with HAS_OLDER set.
    #[inline]
    pub const fn with_older(self) -> Stamp {
        Stamp(self.0 | Self::HAS_OLDER)
    }

    /// The same, with HAS_OLDER cleared.
    #[inline]
    pub const fn without_older(self) -> Stamp {
        Stamp(self.0 & !Self::HAS_OLDER)
    }

    /// The same, with GHOST set.
    #[inline]
    pub const fn ghost(self) -> Stamp {
        Stamp(self.0 | Self::GHOST)
    }

    /// Whether an older version may be in the version store.
    #[inline]
    pub const fn has_older(self) -> bool {
        self.0 & Self::HAS_OLDER != 0
    }

    /// Whether the row is deleted.
    #[inline]
    pub const fn is_ghost(self) -> bool {
        self.0 & Self::GHOST != 0
    }

    /// The writer, when the stamp is an Xid.
    #[inline]
    pub const fn xid(self) -> Option<Xid> {
        if self.0 & Self::IS_XID != 0 { Some(Xid(self.0 & Self::VALUE)) } else { None }
    }

    /// The commit number, when the stamp is one.
    #[inline]
    pub const fn csn(self) -> Option<Lsn> {
        if self.0 & Self::IS_XID != 0 { None } else { Some(Lsn(self.0 & Self::VALUE)) }
    }
}

impl fmt::Debug for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.xid() {
            Some(x) => write!(f, "{x:?}")?,
            None => write!(f, "csn:{:x}", self.0 & Self::VALUE)?,
        }
        if self.has_older() {
            f.write_str("+older")?;
        }
        if self.is_ghost() {
            f.write_str("+ghost")?;
        }
        Ok(())
    }
}
