//! The heads of a hash index's chains: null at first, and in huge pages where there are many, for each is looked for at
//! random, and a look-up of its address that misses costs as much as the head itself.

use crate::memory::row::Row;
use crate::memory::sync::AtomicPtr;
#[cfg(not(loom))]
use runtime::pages::{HUGE_BYTES, Pages};
use std::ops::Deref;
use std::ptr::null_mut;
use stdx::fetch;

pub(crate) enum Buckets {
    Few(Box<[AtomicPtr<Row>]>),
    #[cfg(not(loom))]
    Many(Pages, usize),
}

impl Buckets {
    pub fn new(len: usize) -> Buckets {
        #[cfg(not(loom))]
        if len * size_of::<AtomicPtr<Row>>() >= HUGE_BYTES {
            return Buckets::Many(Pages::map(len * size_of::<AtomicPtr<Row>>()), len);
        }
        Buckets::Few((0..len).map(|_| AtomicPtr::new(null_mut())).collect())
    }
}

impl Buckets {
    /// One is about to be asked for.
    #[inline]
    pub fn prefetch(&self, place: usize) {
        fetch(&raw const self[place]);
    }
}

impl Deref for Buckets {
    type Target = [AtomicPtr<Row>];

    #[inline]
    fn deref(&self) -> &[AtomicPtr<Row>] {
        match self {
            Buckets::Few(buckets) => buckets,
            // SAFETY: the mapping is aligned, as long as that and zeroed, which is a null pointer; it lives as long as
            // `self`, and is touched as atomics only.
            #[cfg(not(loom))]
            Buckets::Many(pages, len) => unsafe {
                std::slice::from_raw_parts(pages.base().as_ptr().cast(), *len)
            },
        }
    }
}
