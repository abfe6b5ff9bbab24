//! How much memory the process has, and how much of it the running task has taken.
//!
//! The binary's allocator is wrapped in [`Counting`]: each allocation adds to a counter of its thread, which the task
//! that runs there takes along over its waits. So one account holds all that a session makes, whatever it is: trees,
//! plans, values, documents, rows of temporary tables. The sum of the process is brought up to date by each thread
//! every [`FLUSH_BYTES`], and when it ends; what is mapped beside the allocator is told by [`mapped`], pages of the buffer pools, which give
//! way to all else ([`spare_for_pages`]), by [`mapped_for_pages`].
//!
//! [`check`] is asked by whatever makes much: it refuses a task that has taken much once the process is near its limit
//! and nobody gives way ([`shortage`]), so a statement that cannot get on ends for itself alone. Without the allocator nothing
//! is counted and nothing refused.

use crate::shortage;
use std::alloc::{GlobalAlloc, Layout};
use std::cell::Cell;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// A thread tells the process of its allocations when they have come to so many bytes.
pub const FLUSH_BYTES: i64 = 256 << 10;

/// A request that has taken less goes on while the process is near its limit: short statements are nobody's harm. What its
/// session had before does not count: some of that is freed by others, and stays on its account.
pub const SMALL_BYTES: i64 = 8 << 20;

/// So much of the limit, below it and above it, only small tasks may have: what great ones take between two checks, and what
/// the allocator cannot use of it, stays about within the limit.
const RESERVE_PART: i64 = 16;

/// So much more than a task asks for is given back at a time, so that not each of its steps asks.
const GIVEN_STEP: i64 = 4 << 20;

/// So much more than it has may the process have while it is brought down to a lower limit.
const ABOVE_FLOOR: i64 = 32 << 20;

/// What the process has in memory and nobody has counted is taken for used, up to this part of the limit.
const BESIDE_PART: i64 = 5;

thread_local! {
    /// Of the running task.
    static TAKEN: Cell<i64> = const { Cell::new(0) };
    /// What TAKEN was when its request began.
    static BEGUN: Cell<i64> = const { Cell::new(0) };
    /// Of the thread, and not yet told; [`ENDED`] of one that ends.
    static UNTOLD: Cell<i64> = const { Cell::new(0) };
    static END: End = const { End };
}

/// Of a thread that has told what it had: whatever its other destructors still take and free is told at once, being so far from 0.
const ENDED: i64 = 1 << 62;

/// Tells when it is dropped, with the thread.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        tell(UNTOLD.get().wrapping_add(ENDED));
    }
}

/// The calling thread shall tell what it has not told when it ends. Not for the allocator: it allocates.
pub(crate) fn tell_at_end() {
    END.with(|_| ());
}

static HEAP: AtomicI64 = AtomicI64::new(0);
static MAPPED: AtomicI64 = AtomicI64::new(0);
/// Of MAPPED.
static PAGES: AtomicI64 = AtomicI64::new(0);
static ASIDE: AtomicI64 = AtomicI64::new(0);
static LIMIT: AtomicI64 = AtomicI64::new(i64::MAX);
/// Above LIMIT, while the process is brought down to it; else 0. See [`change_limit_bytes`].
static FLOOR: AtomicI64 = AtomicI64::new(0);
static BESIDE: AtomicI64 = AtomicI64::new(0);
static REFUSED: AtomicU64 = AtomicU64::new(0);

/// An allocator that counts.
pub struct Counting<A>(pub A);

/// What a block of `size` bytes takes of the system's allocator (glibc's malloc.c, `request2size`): with its header, in
/// steps of 16, 32 at least. Trees of small things are half as large again as the sum of them.
#[inline(always)]
const fn weight(size: usize) -> i64 {
    let whole = (size as i64 + 23) & !15;
    if whole < 32 { 32 } else { whole }
}

#[inline(always)]
fn count(bytes: i64) {
    // Also in a thread that ends: a cell without a destructor stays.
    TAKEN.set(TAKEN.get().wrapping_add(bytes));
    let untold = UNTOLD.get().wrapping_add(bytes);
    if untold.unsigned_abs() < FLUSH_BYTES as u64 {
        UNTOLD.set(untold);
    } else {
        tell(untold);
    }
}

#[cold]
fn tell(untold: i64) {
    let rest = if untold > ENDED / 2 { ENDED } else { 0 };
    UNTOLD.set(rest);
    HEAP.fetch_add(untold.wrapping_sub(rest), Relaxed);
}

// SAFETY: every call goes to the inner allocator with the arguments as they came; what is done beside it are additions
// to cells and atomics, which neither allocate nor unwind.
unsafe impl<A: GlobalAlloc> GlobalAlloc for Counting<A> {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(weight(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(weight(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { self.0.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        count(-weight(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { self.0.dealloc(ptr, layout) }
    }

    #[inline]
    unsafe fn realloc(&self, ptr: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count(weight(new_size) - weight(layout.size()));
        // SAFETY: the caller's promises are passed on.
        unsafe { self.0.realloc(ptr, layout, new_size) }
    }
}

/// So many bytes were mapped beside the allocator; less than 0: given back.
pub fn mapped(bytes: i64) {
    MAPPED.fetch_add(bytes, Relaxed);
}

/// So many of them for pages of databases.
pub fn mapped_for_pages(bytes: i64) {
    PAGES.fetch_add(bytes, Relaxed);
    mapped(bytes);
}

/// The running task has taken so many bytes that the allocator knows nothing of; less than 0: given back.
#[inline]
pub(crate) fn note_taken(bytes: i64) {
    TAKEN.set(TAKEN.get().wrapping_add(bytes));
}

/// So many bytes of addresses were set aside for pages of databases; less than 0: given up.
pub fn set_aside(bytes: i64) {
    ASIDE.fetch_add(bytes, Relaxed);
}

/// What is set aside, whether it is mapped or not.
pub fn aside_bytes() -> u64 {
    ASIDE.load(Relaxed).max(0) as u64
}

/// What the allocator has given out, in bytes, to within [`FLUSH_BYTES`] of each thread that there is.
pub fn heap_bytes() -> u64 {
    HEAP.load(Relaxed).max(0) as u64
}

/// What is mapped beside it.
pub fn mapped_bytes() -> u64 {
    MAPPED.load(Relaxed).max(0) as u64
}

/// What the process may have for pages of databases: what all else leaves of the limit, but for what only small tasks may have,
/// so that no task is refused for pages.
pub fn spare_for_pages() -> u64 {
    spare_for_pages_beside(0)
}

/// The same where all else has so many bytes more.
pub fn spare_for_pages_beside(bytes: u64) -> u64 {
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX);
    let else_used = (whole() - PAGES.load(Relaxed)).saturating_add(bytes);
    (great_limit(LIMIT.load(Relaxed)) - else_used).max(0) as u64
}

/// What the process may have; `u64::MAX` as long as nobody has said.
pub fn limit_bytes() -> u64 {
    LIMIT.load(Relaxed) as u64
}

/// Sets it.
pub fn set_limit_bytes(bytes: u64) {
    LIMIT.store(i64::try_from(bytes).unwrap_or(i64::MAX), Relaxed);
}

/// Sets it while statements run. Where the process has more, it is brought down as it gives memory back, and may not grow
/// meanwhile: nobody is refused what small things need for what was allowed before, or cannot be given back at all.
pub fn change_limit_bytes(bytes: u64) {
    let (before, bytes) = (limit(), i64::try_from(bytes).unwrap_or(i64::MAX));
    let floor = match before == i64::MAX || bytes >= before {
        true => 0,
        false => before.min(whole().saturating_add(ABOVE_FLOOR)),
    };
    FLOOR.store(floor, Relaxed);
    LIMIT.store(bytes, Relaxed);
}

/// One step down.
fn follow_floor() {
    let floor = FLOOR.load(Relaxed);
    let lower = floor.min(whole().saturating_add(ABOVE_FLOOR));
    let lower = if lower <= LIMIT.load(Relaxed) { 0 } else { lower };
    if lower != floor {
        // Lost where somebody sets another limit at this moment: then it is his that counts.
        let _ = FLOOR.compare_exchange(floor, lower, Relaxed, Relaxed);
    }
}

/// What the process may have as of now.
#[inline]
fn limit() -> i64 {
    LIMIT.load(Relaxed).max(FLOOR.load(Relaxed))
}

/// What the process has in memory, in bytes; 0 where the system does not tell.
pub fn resident_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = text.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok());
    // SAFETY: a question to the system, with an argument that it knows.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    pages.unwrap_or(0) * u64::try_from(page).unwrap_or(4096)
}

/// Blocks of so many bytes have mappings of their own.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MAPPED_BYTES_MIN: i32 = 4 << 20;
/// So much free memory at the end of a heap stays for who asks next.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const SPARE_BYTES_MAX: i32 = 8 << 20;

/// Tells the system's allocator to keep no thread waiting for long: what is large grows by moving its pages, and goes
/// back to the system when it is freed, whatever was freed before (left to itself, it raises that bound up to 32 MB); and
/// small blocks are joined with their neighbours one by one, not by the million when a large one is freed.
/// To be called once, before there are threads.
pub fn settle() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: parameters that the allocator knows; those it does not are left as they are.
    unsafe {
        libc::mallopt(libc::M_MXFAST, 0);
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED_BYTES_MIN);
        libc::mallopt(libc::M_TRIM_THRESHOLD, SPARE_BYTES_MAX);
    }
}

/// Whoever watches tells what the process has in memory now: the program itself, and what the allocator keeps between
/// what it has given out, are counted by this alone.
pub fn note_resident(bytes: u64) {
    let counted = HEAP.load(Relaxed) + MAPPED.load(Relaxed);
    let beside = i64::try_from(bytes).unwrap_or(i64::MAX).saturating_sub(counted);
    BESIDE.store(beside.clamp(0, LIMIT.load(Relaxed) / BESIDE_PART), Relaxed);
    follow_floor();
}

/// Gives what the system's allocator holds and nobody uses back to the system. Its locks are taken meanwhile: for an idle
/// process.
pub fn give_back() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: it may be called at any time, and moves nothing that is in use.
    unsafe {
        libc::malloc_trim(0);
    }
}

/// Whether less than an eighth of what the process may have is left: nothing is set ready for later.
pub fn is_short() -> bool {
    let limit = LIMIT.load(Relaxed);
    whole() > limit - limit / 8
}

/// What great tasks may bring the process to.
#[inline]
fn great_limit(limit: i64) -> i64 {
    limit - limit / RESERVE_PART
}

/// What the process has, counted or not.
#[inline]
fn whole() -> i64 {
    HEAP.load(Relaxed) + MAPPED.load(Relaxed) + BESIDE.load(Relaxed)
}

/// How often a task was refused.
pub fn refusals() -> u64 {
    REFUSED.load(Relaxed)
}

/// What the running task has taken and not given back.
pub fn taken_bytes() -> i64 {
    TAKEN.get()
}

/// What the running request has taken so far no longer counts against it: a statement of it was refused memory, and what that
/// had is on its way back.
pub fn begin_anew() {
    BEGUN.set(TAKEN.get());
}

/// There is no memory for what the caller is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory;

/// May the running task have so many bytes more? It is asked before they are allocated, or while they are.
#[inline]
pub fn check(bytes: usize) -> Result<(), NoMemory> {
    let limit = limit();
    let bytes = i64::try_from(bytes).unwrap_or(i64::MAX / 4);
    let whole = whole();
    if whole + bytes <= great_limit(limit) {
        return Ok(());
    }
    make_room(bytes, limit)
}

/// What gives way is asked before anybody is refused: what it gives is the task's.
#[cold]
fn make_room(bytes: i64, limit: i64) -> Result<(), NoMemory> {
    let goes_on = || {
        let whole = whole() + bytes;
        whole <= great_limit(limit) || is_small(whole, limit, TAKEN.get() - BEGUN.get() + bytes)
    };
    if goes_on() {
        return Ok(());
    }
    let (wanted, mut given) = ((bytes + GIVEN_STEP) as u64, 0);
    while given < wanted {
        match shortage::ask(wanted - given) {
            0 => break,
            more => given += more,
        }
    }
    // More was given than it takes: the process comes nearer to its limit all the same.
    if given >= wanted || goes_on() {
        return Ok(());
    }
    REFUSED.fetch_add(1, Relaxed);
    Err(NoMemory)
}

/// Whether a request that has taken so much goes on near the limit, where great ones do not.
fn is_small(whole: i64, limit: i64, taken: i64) -> bool {
    taken < SMALL_BYTES && whole <= limit + limit / RESERVE_PART
}

/// An account: what was taken, and of that what was when its request began.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Account {
    pub taken: i64,
    pub begun: i64,
}

/// The running task's changes hands: what it was, and `account` from now on.
#[inline]
pub(crate) fn switch(account: Account) -> Account {
    Account { taken: TAKEN.replace(account.taken), begun: BEGUN.replace(account.begun) }
}

/// What `free` frees of the heap, which is nobody's account that happens to run here.
pub fn freed_by(free: impl FnOnce()) -> u64 {
    let before = TAKEN.get();
    free();
    u64::try_from(before.wrapping_sub(TAKEN.replace(before))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::alloc::System;

    #[test]
    fn what_is_taken_is_counted_and_given_back() {
        let counting = Counting(System);
        let layout = Layout::from_size_align(1 << 20, 8).expect("a layout");
        let (before, heap) = (taken_bytes(), heap_bytes());
        // SAFETY: the layout is not empty; the block is freed with the layout that it has then.
        unsafe {
            let block = counting.alloc(layout);
            assert_eq!(taken_bytes() - before, weight(1 << 20));
            let block = counting.realloc(block, layout, 3 << 20);
            assert_eq!(taken_bytes() - before, weight(3 << 20));
            assert!(heap_bytes() >= heap + (2 << 20));
            counting.dealloc(block, Layout::from_size_align(3 << 20, 8).expect("a layout"));
        }
        assert_eq!(taken_bytes(), before);
    }

    #[test]
    fn a_thread_that_ends_tells_at_once_what_its_destructors_do() {
        std::thread::spawn(|| {
            count(1000);
            assert_eq!(UNTOLD.get(), 1000);
            drop(End);
            assert_eq!(UNTOLD.get(), ENDED);
            for bytes in [32, -32, FLUSH_BYTES * 3, -FLUSH_BYTES * 3, -1000] {
                count(bytes);
                assert_eq!(UNTOLD.get(), ENDED, "nothing is left untold");
            }
        })
        .join()
        .expect("no panic");
    }

    #[test]
    fn a_limit_is_lowered_as_memory_leaves() {
        // Nothing is counted here: no wrapped allocator.
        let had = whole();
        mapped(200 << 20);
        LIMIT.store(300 << 20, Relaxed);
        change_limit_bytes(100 << 20);
        assert_eq!(limit_bytes(), 100 << 20, "it is told at once");
        assert_eq!(limit(), had + (232 << 20));
        assert_eq!(check(1 << 20), Ok(()), "a small request goes on");
        assert_eq!(check(100 << 20), Err(NoMemory), "a great one does not");
        mapped(-(80 << 20));
        follow_floor();
        assert_eq!(limit(), had + (152 << 20));
        mapped(50 << 20);
        follow_floor();
        assert_eq!(limit(), had + (152 << 20), "it does not rise again");
        mapped(-(140 << 20));
        follow_floor();
        assert_eq!((limit(), FLOOR.load(Relaxed)), (100 << 20, 0));
        mapped(-(30 << 20));
        set_limit_bytes(u64::MAX);
    }

    #[test]
    fn a_small_task_goes_on_at_the_limit_and_a_great_one_does_not() {
        assert!(is_small(101 << 20, 100 << 20, 1 << 20));
        assert!(!is_small(101 << 20, 100 << 20, SMALL_BYTES));
        // There is an end for small ones too.
        assert!(!is_small(107 << 20, 100 << 20, 1 << 20));
    }
}
