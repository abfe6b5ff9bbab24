//! A copy of every page about to be written in place, so that a torn write loses nothing. (But for pages that were
//! never written before: the log has them whole.)
//!
//! ```text
//! double-write file: slots of 1 MiB, 24 at most; of each three the first and the second are the checkpoint's, the third
//!          the cleaner's
//! slot:    one header page of 8 KiB, then up to 127 pages
//! header:  magic u64 | count u32, crc32c of the page with this field zero u32 | page ids, count * u64 | zeros
//! ```
//! Invariants:
//! 1. A slot is written durably before any of its pages is written in place, and not again before those writes are
//!    durable. So a torn page has an intact copy, and of several intact copies the one with the highest page LSN is
//!    the torn one's.
//! 2. Restoring is idempotent, and touches only pages that are damaged.
//! 3. The file has the slots that the largest round so far needed, three at a time, and is filled before they are used: a
//!    full disk makes rounds smaller and fails no write. A small database keeps three.

use crate::io::TaskMutex;
use crate::pool::check_page;
use crate::{FileId, PAGE_BYTES, PageBuf, PageId, PoolError, header};
use device::File;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use stdx::AlignedBuf;
use telemetry::WaitType;

const MAGIC: u64 = u64::from_le_bytes(*b"mill2wr1");
const SLOT_BYTES: usize = 1 << 20;
/// Of each area.
const SLOTS: usize = 8;
/// Checkpoint rounds that may be under way at a time.
pub(crate) const CHECKPOINT_AREAS: usize = 2;
const AREAS: usize = CHECKPOINT_AREAS + 1;
/// Pages that a slot holds.
pub(crate) const SLOT_PAGES: usize = SLOT_BYTES / PAGE_BYTES - 1;

/// The file, and how many slots it has: whole threes.
struct Room {
    file: Arc<dyn File>,
    slots: TaskMutex<usize>,
}

impl Room {
    /// Makes the file so many slots long; how many it has then. Suspends.
    fn ensure(&self, slots: usize) -> usize {
        let mut there = self.slots.lock(WaitType::PreemptiveOsFileOps);
        while *there < slots {
            let grown =
                self.file.allocate((*there * SLOT_BYTES) as u64, (AREAS * SLOT_BYTES) as u64);
            if grown.is_err() {
                break;
            }
            *there += AREAS;
        }
        *there
    }
}

/// Some slots of the file, and the memory that is written there.
pub(crate) struct DoubleWrite {
    pub(crate) file: Arc<dyn File>,
    room: Arc<Room>,
    /// Its slot `i` is the file's `i * AREAS + area`.
    area: usize,
    /// As large as the largest round so far: a small or idle database keeps little of it.
    buf: AlignedBuf,
}

impl DoubleWrite {
    /// Pages that one round of the cleaner can take.
    pub(crate) const CLEANER_PAGES: usize = SLOTS * SLOT_PAGES;

    /// The checkpoint's and the cleaner's.
    pub(crate) fn areas(
        file: Arc<dyn File>,
    ) -> io::Result<([DoubleWrite; CHECKPOINT_AREAS], DoubleWrite)> {
        let len = file.len()?;
        let mut slots = len as usize / SLOT_BYTES / AREAS * AREAS;
        if slots == 0 {
            file.allocate(0, (AREAS * SLOT_BYTES) as u64)?;
            slots = AREAS;
        }
        let room = Arc::new(Room { file: file.clone(), slots: TaskMutex::new(slots) });
        let area = |area| {
            let (file, room) = (file.clone(), room.clone());
            DoubleWrite { file, room, area, buf: AlignedBuf::zeroed(0) }
        };
        Ok((std::array::from_fn(area), area(CHECKPOINT_AREAS)))
    }

    /// Pages that one round can take.
    pub(crate) fn capacity(&self) -> usize {
        SLOTS * SLOT_PAGES
    }

    /// Makes the memory for a round of `pages`, and the room for the first `doubled` of them; how many of those the file
    /// has room for: all, or on a full disk those of a slot at least. Suspends.
    pub(crate) fn prepare(&mut self, pages: usize, doubled: usize) -> usize {
        let whole = pages / SLOT_PAGES * SLOT_BYTES;
        let rest = pages % SLOT_PAGES;
        let bytes = whole + if rest > 0 { (1 + rest) * PAGE_BYTES } else { 0 };
        if self.buf.len() < bytes {
            self.buf = AlignedBuf::zeroed(bytes.next_power_of_two().min(SLOTS * SLOT_BYTES));
        }
        let slots = doubled.div_ceil(SLOT_PAGES);
        let there = self.room.ensure(slots * AREAS) / AREAS;
        doubled.min(there * SLOT_PAGES)
    }

    /// Where page `i` of the round lies in the memory.
    fn page_offset(i: usize) -> usize {
        i / SLOT_PAGES * SLOT_BYTES + (1 + i % SLOT_PAGES) * PAGE_BYTES
    }

    /// The bytes of pages `from..from + n`, which are in one slot.
    pub(crate) fn pages(&self, from: usize, n: usize) -> &[u8] {
        debug_assert!(from / SLOT_PAGES == (from + n - 1) / SLOT_PAGES);
        &self.buf[Self::page_offset(from)..][..n * PAGE_BYTES]
    }

    /// Whether pages `i` and `i + 1` lie side by side.
    pub(crate) fn adjoin(i: usize) -> bool {
        !(i + 1).is_multiple_of(SLOT_PAGES)
    }

    /// The room for page `i` of the round.
    pub(crate) fn page_mut(&mut self, i: usize) -> &mut PageBuf {
        let bytes = &mut self.buf[Self::page_offset(i)..][..PAGE_BYTES];
        // SAFETY: a `PageBuf` is 8 KiB of u64 aligned to 4096; the memory is aligned so, the offset is a multiple of
        // 8 KiB, the length was just checked, and the borrow is that of `self`.
        unsafe { &mut *bytes.as_mut_ptr().cast::<PageBuf>() }
    }

    /// Fills the headers for the round's pages; the writes to make: offset in the file, bytes.
    pub(crate) fn seal(&mut self, ids: &[PageId]) -> Vec<(u64, &[u8])> {
        for (slot, ids) in ids.chunks(SLOT_PAGES).enumerate() {
            let mut h = PageBuf::zeroed();
            h.words_mut()[0] = MAGIC;
            h.words_mut()[1] = ids.len() as u64;
            for (w, id) in h.words_mut()[2..].iter_mut().zip(ids) {
                *w = id.0;
            }
            let crc = u64::from(crc32c::crc32c(h.bytes()));
            h.words_mut()[1] |= crc << 32;
            self.buf[slot * SLOT_BYTES..][..PAGE_BYTES].copy_from_slice(h.bytes());
        }
        ids.chunks(SLOT_PAGES)
            .enumerate()
            .map(|(slot, ids)| {
                let at = ((slot * AREAS + self.area) * SLOT_BYTES) as u64;
                (at, &self.buf[slot * SLOT_BYTES..][..(1 + ids.len()) * PAGE_BYTES])
            })
            .collect()
    }
}

/// The page ids of a slot's header; empty when it is no intact header.
fn slot_ids(head: &[u8]) -> Vec<PageId> {
    let mut h = PageBuf::zeroed();
    h.bytes_mut().copy_from_slice(head);
    let (count, crc) = (h.words()[1] as u32 as usize, (h.words()[1] >> 32) as u32);
    h.words_mut()[1] = count as u64;
    if h.words()[0] != MAGIC || count > SLOT_PAGES || crc32c::crc32c(h.bytes()) != crc {
        return Vec::new();
    }
    h.words()[2..2 + count].iter().map(|&id| PageId(id)).collect()
}

/// Restores pages whose in-place write was torn; returns how many. At open, before the pool is made.
pub fn repair_torn(
    doublewrite: &Arc<dyn File>,
    files: &[(FileId, Arc<dyn File>)],
) -> Result<usize, PoolError> {
    let failed = |page, action| move |error| PoolError::Io { page, action, error };
    let wait = WaitType::IoCompletion;
    let len = doublewrite.len().map_err(failed(PageId::NONE, "read"))?;
    let mut copies: BTreeMap<PageId, Box<PageBuf>> = BTreeMap::new();
    let mut slot = AlignedBuf::zeroed(SLOT_BYTES);
    for at in (0..len / SLOT_BYTES as u64).map(|s| s * SLOT_BYTES as u64) {
        doublewrite.read_exact_at(at, &mut slot, wait).map_err(failed(PageId::NONE, "read"))?;
        for (i, page) in slot_ids(&slot[..PAGE_BYTES]).into_iter().enumerate() {
            let mut copy = PageBuf::boxed();
            copy.bytes_mut().copy_from_slice(&slot[(1 + i) * PAGE_BYTES..][..PAGE_BYTES]);
            let lsn = copy.words()[header::LSN];
            if check_page(page, &copy).is_ok()
                && copies.get(&page).is_none_or(|old| old.words()[header::LSN] < lsn)
            {
                copies.insert(page, copy);
            }
        }
    }
    let mut repaired = 0;
    let mut now = PageBuf::boxed();
    for (page, copy) in &copies {
        let Some((_, file)) = files.iter().find(|(id, _)| *id == page.file()) else { continue };
        let at = u64::from(page.page_no()) * PAGE_BYTES as u64;
        match file.read_exact_at(at, now.bytes_mut(), wait) {
            Ok(()) if check_page(*page, &now).is_ok() => continue,
            Ok(()) => {}
            // The file is shorter than the page: its growth was lost, and with it every record about the page is
            // still in the log.
            Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => continue,
            Err(e) => return Err(failed(*page, "read")(e)),
        }
        file.write_all_at(at, copy.bytes(), true, wait).map_err(failed(*page, "write"))?;
        repaired += 1;
    }
    Ok(repaired)
}
