//! Who is told of waits for pages: somebody who knows what a page is of. The pool knows nothing of trees.

use crate::PageRead;

/// What a page was waited for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageWait {
    /// Somebody had it latched.
    Latch,
    /// It was read in.
    Io,
}

/// Is told after each wait, by whoever has waited, who may hold latches: it neither suspends nor asks for pages.
pub trait PageWaitListener: Send + Sync {
    /// The page is there now; it may be changing already.
    fn waited(&self, page: &PageRead<'_>, what: PageWait, waited_ns: u64);
}
