//! Memory and NUMA nodes: where it shall lie, where it lies, and where the calling thread's own is.
//!
//! [`bind`] prefers a node and does not insist: a node that is full gives way to its neighbours, and what came of it is
//! told by [`nodes_of`]. A kernel without NUMA (ENOSYS) refuses both. The place of a thread is what [`set_place`] said of
//! it last; a thread of which nobody said anything is on node 0. Knows nothing of what machine there is.

use std::cell::Cell;
use std::io;

/// Nodes that a mask can name, as many as the kernel can have.
const NODES: usize = 1024;
const WORD: usize = u64::BITS as usize;
/// linux/mempolicy.h.
const MPOL_PREFERRED: libc::c_int = 1;
const MPOL_MF_STRICT: libc::c_uint = 1 << 0;
const MPOL_MF_MOVE: libc::c_uint = 1 << 1;
/// Addresses of one call of move_pages(2).
const BATCH: usize = 4096;

/// Where a thread runs, and whose memory is nearest to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Place {
    pub node: u16,
    pub memory: u16,
}

thread_local! {
    static PLACE: Cell<Place> = const { Cell::new(Place { node: 0, memory: 0 }) };
}

/// Where the calling thread is from now on.
pub fn set_place(place: Place) {
    PLACE.set(place);
}

/// Where the calling thread is.
#[inline]
pub fn place() -> Place {
    PLACE.get()
}

/// Lets the pages of a range come from a node, and moves those there that came from elsewhere. The range begins at a
/// page. EIO: some stay where they are, as a page does that a write under way holds (mbind(2)); the others are moved, and
/// what comes from now on comes from the node.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the kernel checks the range; nobody reads it")]
pub fn bind(at: *const u8, bytes: usize, node: usize) -> io::Result<()> {
    let mut mask = [0u64; NODES / WORD];
    let Some(word) = mask.get_mut(node / WORD) else {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    };
    *word = 1 << (node % WORD);
    // SAFETY: the call reads the mask, of NODES bits (the kernel takes one off the count), and changes where pages lie,
    // never what is in them; a range that is not mapped is an error.
    let rc = unsafe {
        libc::syscall(
            libc::SYS_mbind,
            at,
            bytes,
            MPOL_PREFERRED,
            mask.as_ptr(),
            NODES + 1,
            MPOL_MF_STRICT | MPOL_MF_MOVE,
        )
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The node that each address lies on; `None` for one whose page was never touched.
pub fn nodes_of(addresses: &[*const u8]) -> io::Result<Vec<Option<usize>>> {
    let mut all = Vec::with_capacity(addresses.len());
    for some in addresses.chunks(BATCH) {
        let mut status = vec![0 as libc::c_int; some.len()];
        // SAFETY: without a list of nodes the call moves nothing: it reads `some` and writes as many numbers to `status`.
        let rc = unsafe {
            libc::syscall(
                libc::SYS_move_pages,
                0,
                some.len(),
                some.as_ptr(),
                std::ptr::null::<libc::c_int>(),
                status.as_mut_ptr(),
                0,
            )
        };
        if rc < 0 {
            return Err(io::Error::last_os_error());
        }
        all.extend(status.into_iter().map(|node| usize::try_from(node).ok()));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_lies_where_it_was_asked_for() {
        let bytes = 64 << 10;
        let mut memory = stdx::AlignedBuf::zeroed(bytes);
        let at = memory.as_ptr();
        // Every machine has node 0, and no process has node 1023.
        match bind(at, bytes, 0) {
            Ok(()) => {}
            // A kernel without nodes, or a sandbox.
            Err(error) if matches!(error.raw_os_error(), Some(libc::ENOSYS | libc::EPERM)) => {
                return;
            }
            Err(error) => panic!("{error}"),
        }
        assert!(bind(at, bytes, 1023).is_err() && bind(at, bytes, NODES).is_err());
        memory[0] = 1;
        assert_eq!(
            nodes_of(&[std::hint::black_box(&memory).as_ptr()]).expect("answered"),
            [Some(0)]
        );
        // What is not mapped lies nowhere.
        assert_eq!(nodes_of(&[std::ptr::null()]).expect("answered"), [None]);
    }

    #[test]
    fn a_place_is_a_threads_own() {
        set_place(Place { node: 3, memory: 2 });
        assert_eq!(std::thread::spawn(place).join().expect("no panic"), Place::default());
        assert_eq!(place(), Place { node: 3, memory: 2 });
        set_place(Place::default());
    }
}
