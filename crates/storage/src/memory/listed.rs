//! Where a row is on its way to the tree beside: three bits.
//!
//! ```text
//! LISTED   it is in a list, or whoever has set the bit is about to put it there
//! HELD     whoever writes the tree beside has taken it from a list
//! THERE    the tree beside has a row under its key: set and cleared by whoever writes there
//! ```
//! - A row is listed while a version of an unfinished transaction is on top of it, so it is not dead then; and while it is
//!   listed or held the cleaner does not kill it. The cleaner, who kills rows that are on top of nothing, sets LISTED
//!   first, from no bit at all, and keeps it if the row is dead then: nobody lists it any more. If something has come on
//!   top meanwhile the cleaner lists the row itself, for a transaction, perhaps, that has found the bit set and is over
//!   by now: so whoever takes the lists does it while nobody cleans.
//! - Whoever writes clears LISTED (and sets HELD) before it looks at the row. All that is done to the bits is a
//!   read-modify-write, so of who lists and who clears one comes first: if the listing does, its version is seen,
//!   committed or not; if the clearing does, the row goes into a list again. A row on which an unfinished transaction's
//!   version is seen goes back into a list, since that transaction may have listed it already.

use crate::memory::sync::{AtomicU8, Ordering::*};

const LISTED: u8 = 1;
const HELD: u8 = 2;
const THERE: u8 = 4;

/// See the file.
pub(crate) struct Listing(AtomicU8);

impl Listing {
    /// Of a row that is in no list.
    pub fn new(is_there: bool) -> Listing {
        Listing(AtomicU8::new(if is_there { THERE } else { 0 }))
    }

    /// It is to be in a list: whether the caller has to put it there.
    #[inline]
    pub fn list(&self) -> bool {
        self.0.fetch_or(LISTED, AcqRel) & LISTED == 0
    }

    /// It has come out of a list, and is about to be looked at: whether the tree beside has a row.
    pub fn hold(&self) -> bool {
        self.0.fetch_or(HELD, AcqRel);
        self.0.fetch_and(!LISTED, AcqRel) & THERE != 0
    }

    /// It has been written, or not: whether the tree beside has a row now.
    pub fn release(&self, is_there: bool) {
        if is_there {
            self.0.fetch_or(THERE, AcqRel);
            self.0.fetch_and(!HELD, AcqRel);
        } else {
            self.0.fetch_and(!(HELD | THERE), AcqRel);
        }
    }

    /// The cleaner is about to kill it: whether it may.
    pub fn claim(&self) -> bool {
        self.0.compare_exchange(0, LISTED, AcqRel, Acquire).is_ok()
    }
}
