//! Where a table's rows and versions lie: pieces of memory of its own, without a lock and without the system's allocator.
//!
//! ```text
//! slot --> Share: at .. end       what is left of its chunk: new pieces come one behind the other
//!                 free[class] --> piece --> piece       given back, for whoever asks for that class
//!                 batch[class]                          a whole batch of such pieces besides, so that a slot which takes
//!                                                       and gives back in turn needs nobody
//! spare[class] --> batches that were too many           for any slot that has none left, whatever its node
//! ```
//! Who inserts takes a row and its version one after the other, so they are neighbours, and so are the rows of a
//! transaction. Chunks grow from a few KiB to a huge page, so that small tables stay small and large ones are filled
//! without a fault for every row. They go back with the table, all at once: nobody walks its rows. Until
//! then what was given back is for pieces of the same class.
//!
//! Invariants:
//! 1. A share is touched by the thread alone that has its slot; the next to have the slot comes after it.
//! 2. A piece is given back once, by its size, when nobody can look at it any more; by whichever thread, to that one's share.
//!    Who cleans need not be who writes: what a share has too much of goes on in whole batches, through a lock, which orders
//!    what is written in their pieces. The last piece of a batch has no next.
//! 3. Pieces above [`PIECE_MAX`] are the allocator's, and listed.

use parking_lot::Mutex;
use runtime::chunks::Chunk;
use runtime::pages::HUGE_BYTES;
use runtime::task::{MAX_SLOTS, slot};
use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::Cell;
use std::collections::HashSet;
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::*};
use stdx::{CachePadded, fetch};

const LINE: usize = 64;
/// Of pieces, and what classes go by.
const ALIGN: usize = 8;
/// Classes are a word apart up to this; above, eight to a power of two.
const FINE_MAX: usize = 512;
const FINE: usize = FINE_MAX / ALIGN;
/// The largest piece.
const PIECE_MAX: usize = 16 << 10;
const COARSE: usize = (PIECE_MAX.ilog2() - FINE_MAX.ilog2()) as usize * 8;
/// A share's first chunk; each further one is twice as large, up to a huge page.
const CHUNK_MIN: usize = 8 << 10;

/// Pieces go from slot to slot in batches of about so many bytes, and of at most so many.
const BATCH_BYTES: usize = 64 << 10;
const BATCH_MAX: usize = 512;
const BATCH_MIN: usize = 4;

/// The memory of one table.
pub(crate) struct Slab {
    shares: Box<[AtomicPtr<Share>]>,
    /// By class, once there is any.
    spare: OnceLock<Box<[CachePadded<Spare>]>>,
    kept: Mutex<Kept>,
}

/// What goes back with the slab.
#[derive(Default)]
struct Kept {
    small: Vec<(NonNull<u8>, Layout)>,
    huge: Vec<Chunk>,
    large: HashSet<(NonNull<u8>, usize)>,
}

/// What one slot has.
struct Share {
    at: Cell<*mut u8>,
    left: Cell<usize>,
    /// The size of the next chunk.
    next: Cell<usize>,
    free: [Pieces; FINE + COARSE],
}

/// Pieces of a class that were given back: those that come next, and a whole batch besides, or none.
struct Pieces {
    first: Cell<*mut Free>,
    count: Cell<u32>,
    batch: Cell<*mut Free>,
}

/// Batches of a class that no slot has.
#[derive(Default)]
struct Spare {
    /// As many as there are, for who looks whether it is worth the lock.
    count: AtomicUsize,
    batches: Mutex<Vec<Batch>>,
}

/// Its first piece; the last one has no next.
struct Batch(NonNull<Free>);

// SAFETY: nobody else knows these pieces; who writes or reads their links is who has taken the batch from under the lock.
unsafe impl Send for Batch {}

/// A piece that was given back.
struct Free {
    next: *mut Free,
}

// SAFETY: shares are touched by the owners of their slots, one at a time (invariant 1); the rest is behind a lock.
unsafe impl Send for Slab {}
// SAFETY: as above.
unsafe impl Sync for Slab {}

/// How many pieces of that size are a batch.
#[inline]
fn batch_of(size: usize) -> u32 {
    (BATCH_BYTES / size).clamp(BATCH_MIN, BATCH_MAX) as u32
}

/// The class of a piece of so many bytes, and how many it has.
#[inline]
fn class_of(bytes: usize) -> (usize, usize) {
    if bytes <= FINE_MAX {
        let words = bytes.div_ceil(ALIGN).max(1);
        return (words - 1, words * ALIGN);
    }
    let power = (bytes - 1).ilog2();
    let part = ((bytes - 1) >> (power - 3)) & 7;
    let class = FINE + (power - FINE_MAX.ilog2()) as usize * 8 + part;
    (class, (1 << power) + ((part + 1) << (power - 3)))
}

impl Slab {
    pub fn new() -> Slab {
        let shares = (0..MAX_SLOTS).map(|_| AtomicPtr::new(null_mut())).collect();
        Slab { shares, spare: OnceLock::new(), kept: Mutex::default() }
    }

    /// A piece of so many bytes, on a boundary of 8; what is in it, nobody knows.
    #[inline]
    pub fn take(&self, bytes: usize) -> NonNull<u8> {
        if bytes > PIECE_MAX {
            return self.take_large(bytes);
        }
        let (class, size) = class_of(bytes);
        let share = self.share();
        let pieces = &share.free[class];
        if let Some(piece) =
            NonNull::new(pieces.first.get()).or_else(|| self.next_batch(class, size, pieces))
        {
            // SAFETY: in our list, so nobody else has it, and it was written when it came there.
            let next = unsafe { piece.as_ref() }.next;
            // Given back long ago, perhaps: its first two lines are there when it is asked for.
            fetch(next);
            fetch(next.map_addr(|a| a + LINE));
            pieces.first.set(next);
            pieces.count.set(pieces.count.get() - 1);
            return piece.cast();
        }
        if share.left.get() < size {
            self.refill(share, size);
        }
        let at = share.at.get();
        // SAFETY: so many bytes are left of the chunk.
        share.at.set(unsafe { at.add(size) });
        share.left.set(share.left.get() - size);
        // SAFETY: inside of a chunk.
        unsafe { NonNull::new_unchecked(at) }
    }

    /// Gives a piece back.
    ///
    /// # Safety
    /// It was taken here by that number of bytes, nobody can look at it any more, and nobody else gives it back.
    #[inline]
    pub unsafe fn give(&self, piece: NonNull<u8>, bytes: usize) {
        if bytes > PIECE_MAX {
            return self.give_large(piece, bytes);
        }
        let (class, size) = class_of(bytes);
        let pieces = &self.share().free[class];
        let free: NonNull<Free> = piece.cast();
        // SAFETY: a piece has room for a word, and is nobody's.
        unsafe { free.write(Free { next: pieces.first.get() }) };
        pieces.first.set(free.as_ptr());
        pieces.count.set(pieces.count.get() + 1);
        if pieces.count.get() == batch_of(size) {
            self.put_batch_by(class, pieces);
        }
    }

    /// The first piece of a batch that was put by, which are the slot's pieces then.
    #[inline]
    fn next_batch(&self, class: usize, size: usize, pieces: &Pieces) -> Option<NonNull<Free>> {
        let mut first = NonNull::new(pieces.batch.replace(null_mut()));
        if first.is_none() {
            let spare = &self.spare.get()?[class];
            if spare.count.load(Relaxed) == 0 {
                return None;
            }
            let mut batches = spare.batches.lock();
            first = batches.pop().map(|batch| batch.0);
            spare.count.store(batches.len(), Relaxed);
        }
        if first.is_some() {
            pieces.count.set(batch_of(size));
        }
        first
    }

    /// The slot's pieces are a batch: it is kept, and the one before it is anybody's.
    #[cold]
    fn put_batch_by(&self, class: usize, pieces: &Pieces) {
        pieces.count.set(0);
        let before = pieces.batch.replace(pieces.first.replace(null_mut()));
        if let Some(first) = NonNull::new(before) {
            let spare = self.spare.get_or_init(|| {
                (0..FINE + COARSE).map(|_| CachePadded::new(Spare::default())).collect()
            });
            let mut batches = spare[class].batches.lock();
            batches.push(Batch(first));
            spare[class].count.store(batches.len(), Relaxed);
        }
    }

    #[inline]
    fn share(&self) -> &Share {
        let slot = slot();
        // Of this thread, or of one that had the slot before: the slot's lock stands between.
        let share = self.shares[slot].load(Acquire);
        // SAFETY: shares live as long as the slab.
        match unsafe { share.as_ref() } {
            Some(share) => share,
            None => self.new_share(slot),
        }
    }

    #[cold]
    fn new_share(&self, slot: usize) -> &Share {
        let share = Box::into_raw(Box::new(Share {
            at: Cell::new(null_mut()),
            left: Cell::new(0),
            next: Cell::new(CHUNK_MIN),
            free: std::array::from_fn(|_| Pieces {
                first: Cell::new(null_mut()),
                count: Cell::new(0),
                batch: Cell::new(null_mut()),
            }),
        }));
        self.shares[slot].store(share, Release);
        // SAFETY: it lives as long as the slab.
        unsafe { &*share }
    }

    #[cold]
    fn refill(&self, share: &Share, size: usize) {
        let bytes = share.next.get().max(size.next_power_of_two());
        share.next.set((bytes * 2).min(HUGE_BYTES));
        let base = if bytes >= HUGE_BYTES {
            let chunk = Chunk::take();
            let base = chunk.base();
            self.kept.lock().huge.push(chunk);
            base
        } else {
            let layout = layout(bytes);
            let base = allocate(layout);
            self.kept.lock().small.push((base, layout));
            base
        };
        share.at.set(base.as_ptr());
        share.left.set(bytes);
    }

    #[cold]
    fn take_large(&self, bytes: usize) -> NonNull<u8> {
        let piece = allocate(layout(bytes));
        self.kept.lock().large.insert((piece, bytes));
        piece
    }

    #[cold]
    fn give_large(&self, piece: NonNull<u8>, bytes: usize) {
        if self.kept.lock().large.remove(&(piece, bytes)) {
            // SAFETY: it was in the list, so `take_large` has made it by this layout, and it is nobody's any more.
            unsafe { dealloc(piece.as_ptr(), layout(bytes)) };
        }
    }
}

impl Drop for Slab {
    fn drop(&mut self) {
        for share in &mut self.shares {
            let share = *share.get_mut();
            if !share.is_null() {
                // SAFETY: made by `new_share`, and ours alone.
                drop(unsafe { Box::from_raw(share) });
            }
        }
        let kept = self.kept.get_mut();
        for (base, layout) in kept.small.drain(..) {
            // SAFETY: made by `refill` with this layout; nobody has a piece of it any more.
            unsafe { dealloc(base.as_ptr(), layout) };
        }
        for (piece, bytes) in kept.large.drain() {
            // SAFETY: made by `take_large` with this layout; nobody has it any more.
            unsafe { dealloc(piece.as_ptr(), layout(bytes)) };
        }
    }
}

fn layout(bytes: usize) -> Layout {
    match Layout::from_size_align(bytes, ALIGN) {
        Ok(layout) => layout,
        Err(_) => stdx::fatal!("a row of {bytes} bytes"),
    }
}

/// The layout is not empty.
fn allocate(layout: Layout) -> NonNull<u8> {
    // SAFETY: a piece has a row or a version in it, so the layout is not empty.
    match NonNull::new(unsafe { alloc(layout) }) {
        Some(memory) => memory,
        None => handle_alloc_error(layout),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn a_piece_is_as_large_as_its_class_and_classes_rise() {
        let mut last = (0, 0);
        for bytes in 1..=PIECE_MAX {
            let (class, size) = class_of(bytes);
            assert!(size >= bytes && size.is_multiple_of(ALIGN), "{bytes}: {size}");
            assert!(size - bytes < ALIGN.max(bytes / 7), "{bytes}: {size}");
            assert!(class == last.0 && size == last.1 || class == last.0 + 1 || bytes == 1);
            assert!(class < FINE + COARSE);
            last = (class, size);
        }
        assert_eq!(last, (FINE + COARSE - 1, PIECE_MAX));
    }

    #[test]
    fn what_one_thread_gives_back_another_takes() {
        const BYTES: [usize; 2] = [100, 9_000];
        let slab = Slab::new();
        // Nobody else's while the others are there.
        slot();
        let elsewhere = |bytes: usize, pieces: usize| -> HashSet<usize> {
            let take = || (0..pieces).map(|_| slab.take(bytes).expose_provenance().get()).collect();
            std::thread::scope(|scope| scope.spawn(take).join().expect("no panic"))
        };
        let spare = |bytes: usize| {
            let all = slab.spare.get().map(|all| &all[class_of(bytes).0]);
            let count = all.map_or(0, |spare| spare.count.load(Relaxed));
            assert_eq!(count, all.map_or(0, |spare| spare.batches.lock().len()));
            count * batch_of(class_of(bytes).1) as usize
        };
        for bytes in BYTES {
            let batch = batch_of(class_of(bytes).1) as usize;
            let first = elsewhere(bytes, 8 * batch);
            assert_eq!(first.len(), 8 * batch);
            for piece in &first {
                let piece = std::ptr::with_exposed_provenance_mut(*piece);
                // SAFETY: taken by that size, ours by now, and given back once.
                unsafe { slab.give(NonNull::new(piece).expect("a piece"), bytes) };
            }
            // All but what is kept here comes again there, none of it twice, and what others of another size is no help.
            assert_eq!(spare(bytes), 7 * batch);
            assert!(elsewhere(200, 1).is_disjoint(&first));
            let again = elsewhere(bytes, 7 * batch);
            assert!(again.is_subset(&first) && again.len() == 7 * batch);
            assert_eq!(spare(bytes), 0);
            assert!(elsewhere(bytes, 1).is_disjoint(&first));
        }
    }

    #[test]
    fn pieces_do_not_overlap_and_come_again() {
        let slab = Slab::new();
        let mut mine: HashMap<usize, (NonNull<u8>, usize, u8)> = HashMap::new();
        let mut random = 7u64;
        for i in 0..20_000usize {
            random = stdx::mix64(random.wrapping_add(1));
            let bytes = match random % 16 {
                0 => 1 + (random >> 8) as usize % (2 * PIECE_MAX),
                _ => 1 + (random >> 8) as usize % 300,
            };
            let piece = slab.take(bytes);
            assert!(piece.addr().get().is_multiple_of(ALIGN));
            // SAFETY: a piece of so many bytes, and ours.
            unsafe { piece.write_bytes(i as u8, bytes) };
            mine.insert(i, (piece, bytes, i as u8));
            let old = random as usize % (i + 1);
            if let Some((piece, bytes, what)) = mine.remove(&old) {
                // SAFETY: ours, written above, and given back once.
                unsafe {
                    let all = std::slice::from_raw_parts(piece.as_ptr(), bytes);
                    assert!(all.iter().all(|b| *b == what), "piece {old} was written over");
                    slab.give(piece, bytes);
                }
            }
        }
        let (a, bytes) = (slab.take(40), 40);
        // SAFETY: ours, and given back once.
        unsafe { slab.give(a, bytes) };
        assert_eq!(slab.take(bytes), a);
    }
}
