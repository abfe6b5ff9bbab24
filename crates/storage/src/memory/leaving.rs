//! What is out of every structure, on its way back to its table's memory: gathered, and given back together.

use crate::memory::reclaim::Guard;
use crate::memory::row::Row;
use crate::memory::slab::Slab;
use crate::memory::version::Version;
use std::ptr::NonNull;
use std::sync::Arc;

/// Pieces that are out of every structure, and go back to their slab together.
#[derive(Default)]
pub(crate) struct Leaving(Vec<(NonNull<u8>, usize)>);

impl Leaving {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    fn push(&mut self, piece: NonNull<u8>, bytes: usize) -> usize {
        self.0.push((piece, bytes));
        bytes
    }

    /// A version that no link leads to any more; its size.
    pub fn version(&mut self, version: *mut Version) -> usize {
        match NonNull::new(version) {
            // SAFETY: it lives until it goes.
            Some(piece) => self.push(piece.cast(), unsafe { piece.as_ref() }.size()),
            None => 0,
        }
    }

    /// A row that is out of its index, with the versions that it still has; their size.
    pub fn row(&mut self, row: &Row, guard: &Guard) -> usize {
        let mut bytes = 0;
        let mut at = row.newest(guard);
        while let Some(version) = at {
            bytes += self.push(NonNull::from(version).cast(), version.size());
            at = version.older(guard);
        }
        bytes + self.push(NonNull::from(row).cast(), row.size())
    }

    /// Gives them back when nobody can look at them any more.
    ///
    /// # Safety
    /// They were taken from this slab by these sizes, no link leads to them any more, and nobody else gives them back.
    pub unsafe fn go(self, slab: &Arc<Slab>, guard: &Guard) {
        if self.0.is_empty() {
            return;
        }
        let slab = slab.clone();
        let give = move || {
            for (piece, bytes) in self.0 {
                // SAFETY: the caller's promise, and that of the guard.
                unsafe { slab.give(piece, bytes) }
            }
        };
        // SAFETY: the caller's promise.
        unsafe { guard.defer(give) }
    }
}
