//! A page's name, its 1,024 words, and the three words of its header that the pool knows.
//!
//! ```text
//! word 0   checksum u32 (low half) | type u8 | level u8 | flags u16
//! word 1   page id
//! word 2   page LSN: end of the last log record applied
//! word 3.. the access method's business
//! ```
//! Invariant: the bytes of a shared page are touched only as aligned 64-bit atomics, or copied by [`copy_shared`], never
//! through a reference to bytes; [`PageBuf`] is the private copy that may be handled freely. Words are little-endian, as
//! is the machine.

use std::fmt;
use std::sync::atomic::AtomicU64;

const _: () =
    assert!(cfg!(target_endian = "little"), "pages are laid out for little-endian machines");

/// Bytes of a page.
pub const PAGE_BYTES: usize = 8192;
/// 64-bit words of a page.
pub const PAGE_WORDS: usize = PAGE_BYTES / 8;

/// Number of a data file within its database, from 1.
pub type FileId = u16;

/// Name of a page: its file and its number within the file.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
#[repr(transparent)]
pub struct PageId(pub u64);

impl PageId {
    /// No page.
    pub const NONE: PageId = PageId(0);

    /// Page `page_no` of file `file`.
    #[inline]
    pub const fn new(file: FileId, page_no: u32) -> PageId {
        PageId((file as u64) << 32 | page_no as u64)
    }

    /// The file.
    #[inline]
    pub const fn file(self) -> FileId {
        (self.0 >> 32) as FileId
    }

    /// The number within the file.
    #[inline]
    pub const fn page_no(self) -> u32 {
        self.0 as u32
    }

    /// Whether this is [`PageId::NONE`].
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Display for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{})", self.file(), self.page_no())
    }
}

impl fmt::Debug for PageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}:{})", self.file(), self.page_no())
    }
}

/// Reading a page word by word. Indices are taken modulo [`PAGE_WORDS`], so garbage seen by an optimistic reader can
/// mislead it but never leads it out of the page.
pub trait PageWords {
    /// Word `i` of the page.
    fn word(&self, i: usize) -> u64;

    /// A copy of the page.
    fn copied(&self) -> PageBuf {
        let mut copy = PageBuf::zeroed();
        for (i, word) in copy.words.iter_mut().enumerate() {
            *word = self.word(i);
        }
        copy
    }
}

/// Changing a page word by word.
pub trait PageWordsMut: PageWords {
    /// Sets word `i`, which is below [`PAGE_WORDS`].
    fn set_word(&mut self, i: usize, value: u64);

    /// Sets the words from `i` on, all of which are below [`PAGE_WORDS`].
    fn set_words(&mut self, i: usize, values: &[u64]);
}

/// The words of the header that the pool knows.
pub mod header {
    use super::PageWords;

    /// Checksum and type.
    pub const KIND: usize = 0;
    /// Page id.
    pub const PAGE_ID: usize = 1;
    /// Page LSN.
    pub const LSN: usize = 2;
    /// The first word free for access methods.
    pub const FIRST_FREE: usize = 3;

    /// The page's type byte.
    #[inline]
    pub fn page_type(p: &impl PageWords) -> u8 {
        (p.word(KIND) >> 32) as u8
    }
}

/// Words of a line.
pub(crate) const LINE_WORDS: usize = 8;

/// Has the processor fetch the lines of a page into its second cache.
#[inline]
pub(crate) fn prefetch(words: &[AtomicU64; PAGE_WORDS]) {
    words.chunks_exact(LINE_WORDS).for_each(|line| stdx::fetch_second(line.as_ptr()));
}

/// Has it fetch some of them into its first cache; those beyond the page's end it has not.
#[inline]
pub(crate) fn prefetch_lines(words: &[AtomicU64; PAGE_WORDS], from: usize, lines: usize) {
    let lines = words.chunks_exact(LINE_WORDS).skip(from).take(lines);
    lines.for_each(|line| stdx::fetch(line.as_ptr()));
}

/// Copies the words of a shared page; while others change it, what is copied may be of several states, or rubbish.
#[inline]
pub(crate) fn copy_shared(from: &[AtomicU64; PAGE_WORDS], to: &mut [u64; PAGE_WORDS]) {
    // SAFETY: `to` is valid for that many words, and borrowed exclusively.
    unsafe { copy_words(from, to.as_mut_ptr()) }
}

/// The same into a page of its own.
#[inline]
pub(crate) fn copied_shared(from: &[AtomicU64; PAGE_WORDS]) -> PageBuf {
    let mut copy = std::mem::MaybeUninit::<PageBuf>::uninit();
    // SAFETY: a `PageBuf` is its words and nothing else, and all of these are written before it is taken for one.
    unsafe {
        copy_words(from, copy.as_mut_ptr().cast());
        copy.assume_init()
    }
}

/// On x86-64 the processor's own copy moves whole lines. Compiled, a loop of atomic loads stays one of 1,024 loads and
/// stores, and takes two and a half times as long where the page is in a cache.
///
/// # Safety
/// `to` is aligned and valid for writes of [`PAGE_WORDS`] words, which are nobody else's. All of them are written.
#[inline]
unsafe fn copy_words(from: &[AtomicU64; PAGE_WORDS], to: *mut u64) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    // SAFETY: both are valid for so many words, `to` is nobody else's and so apart from `from`, and the direction flag is
    // clear wherever a block of assembly begins. To the compiler the block is what the loop below is, loads whose order
    // nobody relies on; the processor moves no later load before those of a string instruction.
    unsafe {
        std::arch::asm!(
            "rep movsq",
            inout("rcx") PAGE_WORDS => _,
            inout("rsi") from.as_ptr() => _,
            inout("rdi") to => _,
            options(nostack, preserves_flags),
        );
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    for (i, from) in from.iter().enumerate() {
        // SAFETY: as the caller says.
        unsafe { to.add(i).write(from.load(std::sync::atomic::Ordering::Relaxed)) };
    }
}

const _: () = assert!(size_of::<PageBuf>() == PAGE_BYTES);

/// A private copy of a page.
#[derive(Clone)]
#[repr(C, align(4096))]
pub struct PageBuf {
    words: [u64; PAGE_WORDS],
}

impl PageBuf {
    /// A page of zeros.
    pub const fn zeroed() -> PageBuf {
        PageBuf { words: [0; PAGE_WORDS] }
    }

    /// A page of zeros on the heap.
    pub fn boxed() -> Box<PageBuf> {
        Box::new(PageBuf::zeroed())
    }

    /// All words.
    #[inline]
    pub fn words(&self) -> &[u64; PAGE_WORDS] {
        &self.words
    }

    /// All words, to change.
    #[inline]
    pub fn words_mut(&mut self) -> &mut [u64; PAGE_WORDS] {
        &mut self.words
    }

    /// All bytes.
    #[inline]
    pub fn bytes(&self) -> &[u8; PAGE_BYTES] {
        // SAFETY: an array of u64 is valid as bytes, of the same size, and borrowed with the same lifetime.
        unsafe { &*self.words.as_ptr().cast() }
    }

    /// All bytes, to change.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8; PAGE_BYTES] {
        // SAFETY: as `bytes`; every byte pattern is a valid u64.
        unsafe { &mut *self.words.as_mut_ptr().cast() }
    }

    /// Whether the page is all zeros.
    pub fn is_zero(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// CRC32C of the page with the checksum's own field taken as zero.
    pub fn checksum(&self) -> u32 {
        let crc = crc32c::crc32c(&[0; 4]);
        crc32c::crc32c_append(crc, &self.bytes()[4..])
    }

    /// Stores the checksum in its field.
    pub fn seal(&mut self) {
        let sum = u64::from(self.checksum());
        self.words[header::KIND] = self.words[header::KIND] & !0xffff_ffff | sum;
    }

    /// Whether the stored checksum fits.
    pub fn is_sealed(&self) -> bool {
        self.words[header::KIND] as u32 == self.checksum()
    }
}

impl PageWords for PageBuf {
    #[inline]
    fn word(&self, i: usize) -> u64 {
        self.words[i % PAGE_WORDS]
    }

    fn copied(&self) -> PageBuf {
        self.clone()
    }
}

impl PageWordsMut for PageBuf {
    #[inline]
    fn set_word(&mut self, i: usize, value: u64) {
        self.words[i % PAGE_WORDS] = value;
    }

    #[inline]
    fn set_words(&mut self, i: usize, values: &[u64]) {
        self.words[i..i + values.len()].copy_from_slice(values);
    }
}
