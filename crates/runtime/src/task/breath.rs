//! Long loops that know nothing of tasks: they let others go first, and hear that they are to stop.
//!
//! A loop over a text or a tree counts its steps in a [`Breath`], and each [`STEPS`] of them looks at the clock, at the
//! flag of the request that it works for, and at the memory that is left. Short work never looks, so it never suspends:
//! a caller may hold a guard over a name's comparison, not over a text of a user. Whoever runs a request says which flag
//! is its own by [`under`]; the flag goes along with the task, also over its waits, and so does the account of what the
//! task has taken ([`crate::memory`]).

use super::{HOOKS, may_suspend, sleep_ns};
use crate::{clock, memory, shortage};
use std::cell::Cell;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use telemetry::WaitType;

/// Steps between two looks; a step is some nanoseconds.
pub const STEPS: u32 = 4096;

/// A statement waits so long for memory that leaves, at most, and looks so often.
const MEMORY_WAIT_NS: u64 = 1_000_000_000;
const MEMORY_LOOK_NS: u64 = 2_000_000;

thread_local! {
    /// The flag of the request that the running task works for.
    static CANCEL: Cell<Option<Arc<AtomicBool>>> = const { Cell::new(None) };
}

/// Why a loop is to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The request that it works for is to stop: by KILL, an attention, a time-out, the end of the server.
    Cancelled,
    /// There is no memory for what it makes.
    NoMemory,
}

/// The number of [`Stopped::Cancelled`] at every layer that has SQL Server's numbers; it is never told to a client.
pub const CANCELLED: i32 = 3617;
/// The number of the error where there is no memory.
pub const NO_MEMORY: i32 = 701;

impl Stopped {
    /// SQL Server's number: 3617, 701.
    pub fn number(self) -> i32 {
        match self {
            Stopped::Cancelled => CANCELLED,
            Stopped::NoMemory => NO_MEMORY,
        }
    }

    /// SQL Server's severity.
    pub fn severity(self) -> u8 {
        match self {
            Stopped::Cancelled => 16,
            Stopped::NoMemory => 17,
        }
    }
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stopped::Cancelled => "The query was canceled by the user.",
            Stopped::NoMemory => {
                "There is insufficient system memory in resource pool 'default' to run this query."
            }
        })
    }
}

impl std::error::Error for Stopped {}

impl From<memory::NoMemory> for Stopped {
    fn from(_: memory::NoMemory) -> Self {
        Stopped::NoMemory
    }
}

/// Counts the steps of a loop.
#[derive(Clone, Debug)]
pub struct Breath(u32);

impl Default for Breath {
    fn default() -> Self {
        Breath::new()
    }
}

impl Breath {
    #[inline]
    pub const fn new() -> Breath {
        Breath(STEPS)
    }

    /// One more step.
    #[inline(always)]
    pub fn step(&mut self) -> Result<(), Stopped> {
        self.steps(1)
    }

    /// So many more.
    #[inline(always)]
    pub fn steps(&mut self, steps: usize) -> Result<(), Stopped> {
        if steps < self.0 as usize {
            self.0 -= steps as u32;
            return Ok(());
        }
        self.0 = STEPS;
        breathe()
    }

    /// One more step of a loop that makes little: false where its request is to stop.
    #[inline(always)]
    pub fn goes_on(&mut self) -> bool {
        self.goes_on_by(1)
    }

    /// So many more.
    #[inline(always)]
    pub fn goes_on_by(&mut self, steps: usize) -> bool {
        if steps < self.0 as usize {
            self.0 -= steps as u32;
            return true;
        }
        self.0 = STEPS;
        let_others();
        !is_stopped()
    }
}

/// Lets others go first if the quantum is over, where suspending is allowed. `Err`: the caller is to stop.
#[cold]
#[inline(never)]
pub fn breathe() -> Result<(), Stopped> {
    let_others();
    if is_stopped() {
        return Err(Stopped::Cancelled);
    }
    wait_for_memory()
}

/// Waits as long as there is too little for anybody and more is to leave, for a second at most. Suspends, where that is
/// allowed; else the caller is to stop.
pub fn wait_for_memory() -> Result<(), Stopped> {
    match memory::check(0) {
        Ok(()) => Ok(()),
        Err(refused) => wait_while_memory_leaves(refused),
    }
}

#[cold]
fn wait_while_memory_leaves(mut refused: memory::NoMemory) -> Result<(), Stopped> {
    let until = clock::now_ns().saturating_add(MEMORY_WAIT_NS);
    while may_suspend() && !is_stopped() && clock::now_ns() < until && shortage::more_is_to_leave()
    {
        sleep_ns(MEMORY_LOOK_NS, WaitType::MemoryAllocationExt);
        match memory::check(0) {
            Ok(()) => return Ok(()),
            Err(again) => refused = again,
        }
    }
    match is_stopped() {
        true => Err(Stopped::Cancelled),
        false => Err(refused.into()),
    }
}

/// Lets others go first if the quantum is over, where suspending is allowed: for work that is nobody's request, and for
/// what goes on to its end whatever becomes of its request.
#[cold]
#[inline(never)]
pub fn let_others() {
    if may_suspend()
        && let Some(hooks) = HOOKS.get()
    {
        let mine = leave();
        hooks.maybe_yield();
        enter(mine);
    }
}

/// Whether the request that the caller works for is to stop.
#[inline]
pub fn is_stopped() -> bool {
    let flag = CANCEL.take();
    let stopped = flag.as_ref().is_some_and(|flag| flag.load(Relaxed));
    CANCEL.set(flag);
    stopped
}

/// The items of `inner`, a step each. Those of a request that is to stop end early: whoever makes something of them asks
/// [`is_stopped`] before the result is used.
pub fn breathing<I: Iterator>(inner: I) -> Breathing<I> {
    Breathing { inner, breath: Breath::new() }
}

/// See [`breathing`].
#[derive(Clone, Debug)]
pub struct Breathing<I> {
    inner: I,
    breath: Breath,
}

impl<I: Iterator> Iterator for Breathing<I> {
    type Item = I::Item;

    #[inline]
    fn next(&mut self) -> Option<I::Item> {
        if self.breath.goes_on() { self.inner.next() } else { None }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, self.inner.size_hint().1)
    }
}

impl<I: DoubleEndedIterator> DoubleEndedIterator for Breathing<I> {
    #[inline]
    fn next_back(&mut self) -> Option<I::Item> {
        if self.breath.goes_on() { self.inner.next_back() } else { None }
    }
}

/// A long text or value is copied in pieces of so many bytes.
const PIECE_BYTES: usize = 256 << 10;

/// Copies a text behind another one, and lets others go first meanwhile. Short ones are copied at once.
#[inline]
pub fn append(to: &mut String, text: &str) {
    to.reserve(text.len());
    in_pieces(text, |piece| to.push_str(piece));
}

/// Hands a text on in pieces, and lets others go first between them. A short one is one piece.
#[inline]
pub fn in_pieces(text: &str, mut take: impl FnMut(&str)) {
    let mut rest = text;
    while rest.len() > PIECE_BYTES {
        let (piece, behind) = rest.split_at(stdx::floor_char_boundary(rest, PIECE_BYTES));
        take(piece);
        let_others();
        rest = behind;
    }
    take(rest);
}

/// [`append`] with bytes.
#[inline]
pub fn append_bytes(to: &mut Vec<u8>, bytes: &[u8]) {
    to.reserve(bytes.len());
    let mut rest = bytes;
    while rest.len() > PIECE_BYTES {
        let (piece, behind) = rest.split_at(PIECE_BYTES);
        to.extend_from_slice(piece);
        let_others();
        rest = behind;
    }
    to.extend_from_slice(rest);
}

/// A text of its own, made as [`append`] does.
#[inline]
pub fn copied(text: &str) -> String {
    let mut to = String::new();
    append(&mut to, text);
    to
}

/// Drops many things one by one, and lets others go first meanwhile.
pub fn let_go<I: IntoIterator>(items: I) {
    let mut breath = Breath::new();
    for item in items {
        drop(item);
        // To the end, whether its request is to stop or not.
        breath.goes_on_by(16);
    }
}

/// While it lives, the calling task works for the request of a flag, on an account of its own.
#[must_use]
pub struct Under(Option<Mine>);

/// What goes along with a task.
pub(super) struct Mine {
    flag: Option<Arc<AtomicBool>>,
    account: memory::Account,
}

/// From now on the calling task works for the request whose flag this is, for a session that has taken so many bytes
/// before.
pub fn under(flag: Arc<AtomicBool>, taken: i64) -> Under {
    let outer = leave();
    enter(Mine { flag: Some(flag), account: memory::Account { taken, begun: taken } });
    Under(Some(outer))
}

impl Under {
    /// The end of it; what the session has taken by now.
    pub fn end(mut self) -> i64 {
        let inner = leave();
        if let Some(outer) = self.0.take() {
            enter(outer);
        }
        inner.account.taken
    }
}

impl Drop for Under {
    fn drop(&mut self) {
        if let Some(outer) = self.0.take() {
            enter(outer);
        }
    }
}

/// Before a task gives its thread away: what is its own goes with it.
#[inline]
pub(super) fn leave() -> Mine {
    Mine { flag: CANCEL.take(), account: memory::switch(memory::Account::default()) }
}

/// It has its thread again.
#[inline]
pub(super) fn enter(mine: Mine) {
    CANCEL.set(mine.flag);
    memory::switch(mine.account);
}
