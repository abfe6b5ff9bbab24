//! Mapped memory: zero at first, backed as it is touched, never moved; on a node, in huge pages, or locked, if asked.
//!
//! What was asked and not had is slower, not wrong, so nothing here fails but the mapping itself; what came of it is told
//! by [`Mapping::huge_bytes`], [`Mapping::is_locked`] and [`Mapping::nodes_of`].

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// Of 2 MiB: what x86 and arm64 have.
const HUGE_PAGE: usize = 2 << 20;
// linux/mman.h; the C library need not know it yet.
const MADV_DONTNEED_LOCKED: libc::c_int = 24;

/// What a mapping's pages shall be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Pages {
    /// As the system has them.
    #[default]
    Small,
    /// Huge where the kernel finds some.
    Advised,
    /// Reserved huge pages (hugetlbfs) for all of it, if there are as many; else as `Advised`.
    Reserved,
}

/// A private anonymous mapping.
pub(crate) struct Mapping {
    base: *mut u8,
    len: usize,
    reserved: bool,
    /// Why it is not, where it was to be.
    not_reserved: Option<io::Error>,
    locked: AtomicBool,
}

// SAFETY: a mapping is memory; who may touch which bytes is the business of its users.
unsafe impl Send for Mapping {}
// SAFETY: as above.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn new(len: usize, pages: Pages) -> io::Result<Mapping> {
        let len = len.max(1);
        let not_reserved = match pages {
            Pages::Reserved => match Mapping::reserved(len.next_multiple_of(HUGE_PAGE)) {
                Ok(mapping) => return Ok(mapping),
                Err(error) => Some(error),
            },
            Pages::Small | Pages::Advised => None,
        };
        let base = map(len, libc::MAP_NORESERVE)?;
        if pages != Pages::Small {
            // SAFETY: advice about our own mapping; a refusal changes nothing.
            unsafe { libc::madvise(base.cast(), len, libc::MADV_HUGEPAGE) };
        }
        Ok(Mapping { base, len, reserved: false, not_reserved, locked: AtomicBool::new(false) })
    }

    /// Reserved huge pages, all of them had now: one that is missing later would end the process (SIGBUS).
    fn reserved(len: usize) -> io::Result<Mapping> {
        let base = map(len, libc::MAP_HUGETLB)?;
        let locked = AtomicBool::new(false);
        let mapping = Mapping { base, len, reserved: true, not_reserved: None, locked };
        mapping.populate(0, len)?;
        Ok(mapping)
    }

    /// The mapping as atomic words.
    #[inline]
    pub(crate) fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping is page-aligned, zeroed, lives as long as `self`, and is touched as atomics only.
        unsafe { std::slice::from_raw_parts(self.base.cast(), self.len / 8) }
    }

    #[inline]
    pub(crate) fn base(&self) -> *mut u8 {
        self.base
    }

    /// Backs a range with memory now. A refusal (an old kernel, no memory) leaves the pages to be touched on first use.
    pub(crate) fn populate(&self, from: usize, len: usize) -> io::Result<()> {
        let len = len.min(self.len.saturating_sub(from));
        let at = self.base.wrapping_add(from);
        if len == 0 { Ok(()) } else { runtime::pages::populate(at, len) }
    }

    /// Gives the memory of a range back, which is zeros from then on; false where that cannot be.
    pub(crate) fn give_back(&self, from: usize, len: usize) -> bool {
        if self.reserved || from + len > self.len {
            return false;
        }
        let advice = match self.locked.load(Relaxed) {
            true => MADV_DONTNEED_LOCKED,
            false => libc::MADV_DONTNEED,
        };
        // SAFETY: the range is inside of our mapping, whose bytes are touched as atomics only: who still reads them
        // finds other values, as it does when somebody writes.
        unsafe { libc::madvise(self.base.add(from).cast(), len, advice) == 0 }
    }

    /// Lets a range come from a node; what is backed already moves there.
    pub(crate) fn bind(&self, from: usize, len: usize, node: u16) -> io::Result<()> {
        let len = len.min(self.len.saturating_sub(from));
        let at = self.base.wrapping_add(from);
        if len == 0 { Ok(()) } else { runtime::numa::bind(at, len, node.into()) }
    }

    /// Keeps what is backed, now or later, in memory.
    pub(crate) fn lock(&self) -> io::Result<()> {
        // SAFETY: locking our own mapping changes no contents.
        match unsafe { libc::mlock2(self.base.cast(), self.len, libc::MLOCK_ONFAULT as _) } {
            0 => {
                self.locked.store(true, Relaxed);
                Ok(())
            }
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub(crate) fn is_locked(&self) -> bool {
        self.locked.load(Relaxed)
    }

    /// The nodes that the pages at these offsets lie on; `None`: not backed, or the kernel does not tell.
    pub(crate) fn nodes_of(&self, offsets: impl Iterator<Item = usize>) -> Vec<Option<usize>> {
        let all: Vec<*const u8> =
            offsets.map(|offset| self.base.wrapping_add(offset).cast_const()).collect();
        runtime::numa::nodes_of(&all).unwrap_or_else(|_| vec![None; all.len()])
    }

    /// Whether it is of reserved huge pages, and so backed whole.
    pub(crate) fn is_reserved(&self) -> bool {
        self.reserved
    }

    /// Why it is not, where it was to be.
    pub(crate) fn why_not_reserved(&self) -> Option<&io::Error> {
        self.not_reserved.as_ref()
    }

    /// Bytes of it that lie in huge pages, as /proc tells.
    pub(crate) fn huge_bytes(&self) -> u64 {
        if self.reserved {
            return self.len as u64;
        }
        let maps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
        huge_bytes_within(&maps, self.base as usize, self.base as usize + self.len)
    }
}

fn map(len: usize, flags: libc::c_int) -> io::Result<*mut u8> {
    // SAFETY: a fresh private anonymous mapping at an address of the kernel's choice touches nothing of ours.
    let base = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            len,
            libc::PROT_READ | libc::PROT_WRITE,
            libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | flags,
            -1,
            0,
        )
    };
    if base == libc::MAP_FAILED { Err(io::Error::last_os_error()) } else { Ok(base.cast()) }
}

/// The sum of `AnonHugePages` of the areas of `maps` that lie within `from..to`. An area that reaches out of it (the
/// kernel joins neighbours) counts for as much of it as is inside.
fn huge_bytes_within(maps: &str, from: usize, to: usize) -> u64 {
    let mut inside = (0, 1);
    let mut sum = 0;
    for line in maps.lines() {
        let range = line.split_whitespace().next().and_then(|word| word.split_once('-'));
        let ends = range.and_then(|(from, to)| {
            let hex = |text| usize::from_str_radix(text, 16).ok();
            Some((hex(from)?, hex(to)?))
        });
        if let Some((first, end)) = ends {
            inside = (end.min(to).saturating_sub(first.max(from)), (end - first).max(1));
        } else if let Some(kb) = line.strip_prefix("AnonHugePages:") {
            let kb: u64 = kb.trim().trim_end_matches(" kB").parse().unwrap_or(0);
            sum += (u128::from(kb << 10) * inside.0 as u128 / inside.1 as u128) as u64;
        }
    }
    sum
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: `base` and `len` are of the mmap in `new`; borrows of the mapping have ended.
        unsafe { libc::munmap(self.base.cast(), self.len) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn what_is_given_back_is_zero_and_can_be_used_again() {
        let mapping = Mapping::new(1 << 20, Pages::Small).expect("mapped");
        mapping.words()[1024].store(7, Relaxed);
        assert!(mapping.give_back(8192, 8192));
        assert_eq!(mapping.words()[1024].load(Relaxed), 0);
        mapping.words()[1024].store(8, Relaxed);
        assert_eq!(mapping.words()[1024].load(Relaxed), 8);
        assert!(!mapping.give_back(1 << 20, 8192));
    }

    #[test]
    fn locked_memory_can_be_given_back_too() {
        let mapping = Mapping::new(1 << 16, Pages::Small).expect("mapped");
        // A process may have no right to lock; then nothing is locked.
        if mapping.lock().is_ok() {
            assert!(mapping.is_locked());
            mapping.words()[0].store(7, Relaxed);
            if mapping.give_back(0, 8192) {
                assert_eq!(mapping.words()[0].load(Relaxed), 0);
            }
        } else {
            assert!(!mapping.is_locked());
        }
    }

    #[test]
    fn huge_pages_are_counted_where_they_are() {
        let maps = "1000-3000 rw-p 00000000 00:00 0\nAnonHugePages:      8 kB\nVmFlags: rd\n\
                    3000-5000 rw-p 00000000 00:00 0 [heap]\nAnonHugePages:     16 kB\n\
                    9000-a000 rw-p 00000000 00:00 0\nAnonHugePages:     64 kB\n";
        assert_eq!(huge_bytes_within(maps, 0x1000, 0x5000), 24 << 10);
        // Half of the second.
        assert_eq!(huge_bytes_within(maps, 0x1000, 0x4000), 16 << 10);
        assert_eq!(huge_bytes_within(maps, 0x5000, 0x9000), 0);
    }
}
