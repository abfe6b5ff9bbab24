//! Random bytes: from the operating system, through a buffer per thread; or the simulation's.
//!
//! In real mode every byte comes from getrandom(2), fetched 4 KiB at a time because a system call
//! per row would dominate CRYPT_GEN_RANDOM; each byte is given out once.

use crate::sim;
use std::cell::RefCell;

const BUFFER_BYTES: usize = 4096;

struct Buffer {
    bytes: [u8; BUFFER_BYTES],
    /// Bytes before this are used up.
    next: usize,
}

thread_local! {
    static BUFFER: RefCell<Buffer> =
        const { RefCell::new(Buffer { bytes: [0; BUFFER_BYTES], next: BUFFER_BYTES }) };
}

/// Fills `out` with cryptographically random bytes (in simulation: with the seed's).
pub fn fill(out: &mut [u8]) {
    if sim::active() {
        for chunk in out.chunks_mut(8) {
            chunk.copy_from_slice(&sim::next_u64().to_le_bytes()[..chunk.len()]);
        }
        return;
    }
    BUFFER.with_borrow_mut(|buffer| {
        let mut at = 0;
        while at < out.len() {
            if buffer.next == BUFFER_BYTES {
                from_os(&mut buffer.bytes);
                buffer.next = 0;
            }
            let n = (out.len() - at).min(BUFFER_BYTES - buffer.next);
            out[at..at + n].copy_from_slice(&buffer.bytes[buffer.next..buffer.next + n]);
            buffer.bytes[buffer.next..buffer.next + n].fill(0);
            buffer.next += n;
            at += n;
        }
    });
}

/// A random number.
pub fn next_u64() -> u64 {
    let mut bytes = [0; 8];
    fill(&mut bytes);
    u64::from_le_bytes(bytes)
}

fn from_os(out: &mut [u8]) {
    let mut at = 0;
    while at < out.len() {
        // SAFETY: the pointer and length are those of the rest of `out`.
        let n = unsafe { libc::getrandom(out[at..].as_mut_ptr().cast(), out.len() - at, 0) };
        if n < 0 {
            let error = std::io::Error::last_os_error();
            if error.kind() == std::io::ErrorKind::Interrupted {
                continue;
            }
            stdx::fatal!("getrandom failed: {error}");
        }
        at += n as usize;
    }
}
