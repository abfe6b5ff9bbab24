//! Memory and NUMA nodes: where it shall lie, where it lies, and where the calling thread's own is.
//!
//! [`bind`] prefers a node and does not insist: a node that is full gives way to its neighbours, and what came of it is
//! told by [`nodes_of`]. A kernel without NUMA (ENOSYS) refuses both. The place of a thread is what [`set_place`] or [`sit`]
//! said of it last; a thread of which nobody said anything is on node 0. [`sit`] also tells the kernel which node's memory
//! the thread shall get: whatever it touches first, and nobody has bound, comes from there, whichever CPU it is on then. A
//! thread that another begins has its seat. Knows nothing of what machine there is.

use std::cell::Cell;
use std::io;

/// Nodes that a mask can name, as many as the kernel can have.
const NODES: usize = 1024;
const WORD: usize = u64::BITS as usize;
const WORDS: usize = NODES / WORD;
/// linux/mempolicy.h.
const MPOL_DEFAULT: libc::c_int = 0;
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

/// A place, and the node whose memory whoever has it gets; `None`: that of the CPU that touches it first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seat {
    pub place: Place,
    pub preferred: Option<u16>,
}

thread_local! {
    /// What is preferred is what the kernel has taken, never what it has refused.
    static SEAT: Cell<Seat> =
        const { Cell::new(Seat { place: Place { node: 0, memory: 0 }, preferred: None }) };
}

/// Where the calling thread is from now on. Its memory comes from where it came before.
pub fn set_place(place: Place) {
    SEAT.set(Seat { place, ..SEAT.get() });
}

/// Where the calling thread is.
#[inline]
pub fn place() -> Place {
    SEAT.get().place
}

/// The calling thread's seat, for who works for it on another thread.
pub fn seat() -> Seat {
    SEAT.get()
}

/// Where the calling thread is from now on, and whose memory it gets (set_mempolicy(2)). An error (ENOSYS, EPERM, or EINVAL for
/// a node that is not there) leaves the memory to come from where it came before; the place holds. Asks the system only when
/// something changes for it.
pub fn sit(seat: Seat) -> io::Result<()> {
    let preferred = SEAT.get().preferred;
    SEAT.set(Seat { preferred, ..seat });
    if seat.preferred != preferred {
        prefer(seat.preferred)?;
        SEAT.set(seat);
    }
    Ok(())
}

/// The seat of who began the calling thread, whose policy the kernel has handed down.
pub(crate) fn inherit(seat: Seat) {
    SEAT.set(seat);
}

fn prefer(node: Option<u16>) -> io::Result<()> {
    let (mode, mask) = match node {
        None => (MPOL_DEFAULT, [0; WORDS]),
        Some(node) => (MPOL_PREFERRED, mask_of(node.into())?),
    };
    // SAFETY: the call reads the mask, of NODES bits (the kernel takes one off the count), and changes where pages come from
    // that are touched later, never what is in them.
    let rc = unsafe { libc::syscall(libc::SYS_set_mempolicy, mode, mask.as_ptr(), NODES + 1) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// One node, as the kernel takes it. EINVAL for a number that no kernel has.
fn mask_of(node: usize) -> io::Result<[u64; WORDS]> {
    let mut mask = [0u64; WORDS];
    match mask.get_mut(node / WORD) {
        Some(word) => *word = 1 << (node % WORD),
        None => return Err(io::Error::from_raw_os_error(libc::EINVAL)),
    }
    Ok(mask)
}

/// Lets the pages of a range come from a node, and moves those there that came from elsewhere. The range begins at a
/// page. EIO: some stay where they are, as a page does that a write under way holds (mbind(2)); the others are moved, and
/// what comes from now on comes from the node.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the kernel checks the range; nobody reads it")]
pub fn bind(at: *const u8, bytes: usize, node: usize) -> io::Result<()> {
    let mask = mask_of(node)?;
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

/// Undoes [`bind`]: what comes from now on comes from whoever touches it; what is there stays where it is.
#[allow(clippy::not_unsafe_ptr_arg_deref, reason = "the kernel checks the range; nobody reads it")]
pub fn unbind(at: *const u8, bytes: usize) -> io::Result<()> {
    let no_mask = std::ptr::null::<u64>();
    // SAFETY: the call reads no mask and changes where pages come from, never what is in them; a range that is not mapped
    // is an error.
    let rc = unsafe { libc::syscall(libc::SYS_mbind, at, bytes, MPOL_DEFAULT, no_mask, 0, 0) };
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
        // As the kernel tells it, where it does, of the range that begins there.
        let own = format!("{:x} prefer", at as usize);
        let bound = || {
            let maps = std::fs::read_to_string("/proc/self/numa_maps").ok()?;
            Some(maps.lines().any(|line| line.starts_with(&own)))
        };
        assert_ne!(bound(), Some(false));
        unbind(at, bytes).expect("bound before");
        assert_ne!(bound(), Some(true));
        assert_eq!(memory[0], 1);
        // What is not mapped lies nowhere.
        assert_eq!(nodes_of(&[std::ptr::null()]).expect("answered"), [None]);
    }

    /// The policy of the calling thread, as the kernel tells it beside the stack that the process began with.
    fn policy() -> Option<String> {
        let maps = std::fs::read_to_string("/proc/thread-self/numa_maps").ok()?;
        let line = maps.lines().find(|line| line.split(' ').any(|word| word == "stack"))?;
        line.split(' ').nth(1).map(str::to_owned)
    }

    #[test]
    fn a_thread_gets_memory_of_the_node_that_it_prefers_and_so_do_those_that_it_begins() {
        // A thread of its own: a policy stays.
        let begun = std::thread::spawn(|| {
            let place = Place { node: 3, memory: 0 };
            let seat = Seat { place, preferred: Some(0) };
            match sit(seat) {
                Ok(()) => assert_eq!(super::seat(), seat),
                // A kernel without nodes, or a sandbox: the place holds.
                Err(error) => {
                    let told = error.raw_os_error();
                    assert!(matches!(told, Some(libc::ENOSYS | libc::EPERM)), "{error}");
                    assert_eq!(super::seat(), Seat { place, preferred: None });
                    return;
                }
            }
            // No process has node 1023; what held before holds.
            for node in [1023, NODES as u16] {
                assert!(sit(Seat { preferred: Some(node), ..seat }).is_err());
                assert_eq!(super::seat(), seat);
            }
            let theirs = crate::threads::spawn("child", || (super::seat(), policy()));
            let theirs = theirs.expect("begun").join().expect("no panic");
            assert_eq!(theirs.0, seat);
            // A sandbox may take a policy and tell of none.
            if policy().is_some() {
                assert_eq!(policy().as_deref(), Some("prefer:0"));
                assert_eq!(theirs.1.as_deref(), Some("prefer:0"));
                sit(Seat::default()).expect("taken back");
                assert_eq!(policy().as_deref(), Some("default"));
            }
        });
        begun.join().expect("no panic");
    }

    #[test]
    fn a_place_is_a_threads_own() {
        set_place(Place { node: 3, memory: 2 });
        assert_eq!(std::thread::spawn(place).join().expect("no panic"), Place::default());
        assert_eq!(place(), Place { node: 3, memory: 2 });
        set_place(Place::default());
    }
}
