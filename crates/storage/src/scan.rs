//! Walking a tree a copied leaf at a time.
//!
//! Invariants: a scan sees each leaf as it was at one moment; between leaves it goes by fences, so splits and compaction
//! behind its back neither skip nor repeat a key. It holds no latch while its caller thinks.

use crate::node::Target;
use crate::sample::PageSample;
use crate::slotted::{self, LEAF};
use crate::{StorageError, Tree};
use buffer_pool::{PageBuf, PageId, PageRead, PageWords, header};
use mvcc::Stamp;
use std::ops::Bound;

/// A private copy of a leaf.
pub struct LeafCopy {
    page: Box<PageBuf>,
    /// The page's word when it was copied.
    word: u64,
}

impl LeafCopy {
    pub(crate) fn new() -> LeafCopy {
        LeafCopy { page: PageBuf::boxed(), word: 0 }
    }

    /// Copies the page that `look` is at; `false` when it has changed since.
    pub(crate) fn take(&mut self, look: PageRead<'_>, latched: bool) -> bool {
        self.word = look.seen();
        if !latched {
            return look.copy_to(&mut self.page);
        }
        let Some(w) = look.try_exclusive() else { return false };
        w.copy_to(&mut self.page);
        w.unlock_unchanged();
        true
    }

    /// The page.
    pub fn page(&self) -> &PageBuf {
        &self.page
    }

    /// Rows on the leaf, ghosts included.
    pub fn len(&self) -> usize {
        slotted::Space::of(&*self.page).slots
    }

    /// Whether the leaf has no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Row `i`: stamp, key, row.
    #[inline]
    pub fn row(&self, i: usize) -> ScanRow<'_> {
        let (head, key, row) = slotted::entry(&self.page, i);
        (Stamp(head), key, row)
    }
}

/// A row as a scan yields it: the newest version, whoever wrote it.
pub type ScanRow<'a> = (Stamp, &'a [u8], &'a [u8]);

/// Rows of a scan that lie on one leaf.
pub struct Stretch<'a> {
    leaf: &'a LeafCopy,
    from: usize,
    to: usize,
    reverse: bool,
}

impl<'a> Stretch<'a> {
    /// The leaf's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.leaf.page.bytes()
    }

    /// The rows in the scan's order: stamp, number, and where in [`Stretch::bytes`] the row begins and how long it is.
    #[inline]
    pub fn rows(&self) -> impl ExactSizeIterator<Item = (Stamp, usize, (usize, usize))> {
        let (leaf, from, to, reverse) = (self.leaf, self.from, self.to, self.reverse);
        (from..to).map(move |i| {
            let i = if reverse { to - 1 - (i - from) } else { i };
            let (head, place) = slotted::placed(&leaf.page, i);
            (Stamp(head), i, place)
        })
    }

    /// The key of the row of this number.
    pub fn key(&self, number: usize) -> &'a [u8] {
        self.leaf.row(number).1
    }
}

/// See [`Tree::scan`].
pub struct Scan {
    tree: Tree,
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
    reverse: bool,
    /// See [`Scan::latch_leaves`].
    latched: bool,
    /// Leaves copied.
    leaves: u64,
    leaf: LeafCopy,
    /// The store's epoch when it was copied; 0: it is no leaf.
    epoch: u64,
    /// Slots of the leaf still to yield.
    from: usize,
    to: usize,
    state: State,
    /// Leaves that the next read-ahead asks for; doubled each time.
    ahead: usize,
    /// Leaves that are read; none: all.
    sample: Option<PageSample>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unread,
    Reading,
    Ended,
}

impl Scan {
    pub(crate) fn new(tree: Tree, lower: Bound<&[u8]>, upper: Bound<&[u8]>, reverse: bool) -> Scan {
        let own = |b: Bound<&[u8]>| b.map(|k| k.to_vec());
        let (lower, upper) = (own(lower), own(upper));
        let leaf = LeafCopy::new();
        Scan {
            tree,
            lower,
            upper,
            reverse,
            latched: false,
            leaves: 0,
            leaf,
            epoch: 0,
            from: 0,
            to: 0,
            state: State::Unread,
            ahead: 4,
            sample: None,
        }
    }

    /// Copies each leaf under its latch from here on: whoever changes the leaf afterwards sees what the caller did
    /// before, and the copy has everything that was changed before.
    pub fn latch_leaves(&mut self) {
        self.latched = true;
    }

    /// Gives the rows of these leaves alone.
    pub fn sample(&mut self, sample: PageSample) {
        self.sample = Some(sample);
    }

    /// How many leaves have been copied.
    pub fn leaves(&self) -> u64 {
        self.leaves
    }

    /// Whether the leaf of the row yielded last is still as it was copied.
    pub fn is_current(&self) -> Result<bool, StorageError> {
        is_as_copied(&self.tree, &self.leaf)
    }

    /// Goes on behind `key` (before it, in reverse), with a new look at the tree.
    pub fn go_on_behind(&mut self, key: &[u8]) {
        let end = if self.reverse { &mut self.upper } else { &mut self.lower };
        match end {
            Bound::Included(k) | Bound::Excluded(k) => {
                k.clear();
                k.extend_from_slice(key);
                let k = std::mem::take(k);
                *end = Bound::Excluded(k);
            }
            Bound::Unbounded => *end = Bound::Excluded(key.to_vec()),
        }
        self.look_again();
    }

    /// Begins anew between other keys, in its direction. The leaf that it has is not copied again where it is the one to
    /// begin with, and as it was.
    pub fn begin_between(&mut self, lower: Bound<&[u8]>, upper: Bound<&[u8]>) {
        renew(&mut self.lower, lower);
        renew(&mut self.upper, upper);
        self.ahead = 4;
        self.look_again();
    }

    /// Begins again where it began (or last went on).
    pub fn look_again(&mut self) {
        self.state = State::Unread;
        (self.from, self.to) = (0, 0);
    }

    /// The next row. Not an iterator: the slices live until the next call.
    #[allow(clippy::should_implement_trait, reason = "a lending iterator")]
    pub fn next(&mut self) -> Result<Option<ScanRow<'_>>, StorageError> {
        while self.from >= self.to {
            if self.state == State::Ended || !self.next_leaf()? {
                self.state = State::Ended;
                return Ok(None);
            }
        }
        let i = if self.reverse {
            self.to -= 1;
            self.to
        } else {
            self.from += 1;
            self.from - 1
        };
        Ok(Some(self.leaf.row(i)))
    }

    /// The next rows, as many as there are on one leaf: as [`Scan::next`] gives them one by one.
    pub fn next_stretch(&mut self) -> Result<Option<Stretch<'_>>, StorageError> {
        while self.from >= self.to {
            if self.state == State::Ended || !self.next_leaf()? {
                self.state = State::Ended;
                return Ok(None);
            }
        }
        let (from, to, reverse) = (self.from, self.to, self.reverse);
        // Nothing is left of it.
        self.from = self.to;
        Ok(Some(Stretch { leaf: &self.leaf, from, to, reverse }))
    }

    /// At most `n` of the rows that come next, in its order, as far as they are on the leaf that it has.
    pub fn coming(&self, n: usize) -> impl Iterator<Item = ScanRow<'_>> {
        let n = n.min(self.to.saturating_sub(self.from));
        let at = move |i| if self.reverse { self.to - 1 - i } else { self.from + i };
        (0..n).map(move |i| self.leaf.row(at(i)))
    }

    /// Copies the next leaf and finds its part of the range; `false` at the end.
    fn next_leaf(&mut self) -> Result<bool, StorageError> {
        // Where the last leaf ended, when the next one may have begun before it.
        let mut ended = None;
        match (self.state, self.reverse) {
            (State::Ended, _) => return Ok(false),
            (State::Unread, false) => {
                let key: &[u8] = match &self.lower {
                    Bound::Included(k) | Bound::Excluded(k) => k,
                    Bound::Unbounded => &[],
                };
                if !has_leaf_of(&self.tree, key, &self.leaf, self.epoch, self.latched)? {
                    self.epoch = 0;
                    let epoch = self.tree.store.epoch();
                    self.tree.copy_leaf(Target::Key(key), self.latched, &mut self.leaf)?;
                    self.epoch = epoch;
                }
            }
            (State::Unread, true) => {
                let target = match &self.upper {
                    Bound::Included(k) | Bound::Excluded(k) => Target::Key(k),
                    Bound::Unbounded => Target::Last,
                };
                self.tree.copy_leaf(target, self.latched, &mut self.leaf)?;
            }
            (State::Reading, false) => {
                let Some(fence) = slotted::upper_fence(&self.leaf.page) else { return Ok(false) };
                let past = match &self.upper {
                    Bound::Included(k) => fence > k.as_slice(),
                    Bound::Excluded(k) => fence >= k.as_slice(),
                    Bound::Unbounded => false,
                };
                if past {
                    return Ok(false);
                }
                let fence = fence.to_vec();
                let right = slotted::right_of(&*self.leaf.page);
                if !right.is_none() && !self.tree.store.pool().is_resident(right) {
                    self.read_ahead(Target::Key(&fence))?;
                }
                // The epoch stays: an older one than the new leaf's says less.
                let epoch = std::mem::take(&mut self.epoch);
                if !self.follow_right(&fence)? {
                    self.tree.copy_leaf(Target::Key(&fence), self.latched, &mut self.leaf)?;
                    ended = Some(fence);
                }
                self.epoch = epoch;
            }
            (State::Reading, true) => {
                let fence = slotted::lower_fence(&self.leaf.page);
                let past = match &self.lower {
                    Bound::Included(k) | Bound::Excluded(k) => fence <= k.as_slice(),
                    Bound::Unbounded => false,
                };
                if past || fence.is_empty() {
                    return Ok(false);
                }
                let fence = fence.to_vec();
                self.reverse_ahead(&fence)?;
                self.tree.copy_leaf(Target::Below(&fence), self.latched, &mut self.leaf)?;
                // The leaf may have been split since, and still ends at the fence; or it has got what was behind that.
                if slotted::upper_fence(&self.leaf.page).is_some_and(|upper| upper < &fence[..]) {
                    let page = self.leaf.page.word(buffer_pool::header::PAGE_ID);
                    let what = "siblings' fences do not meet";
                    return Err(StorageError::Corrupt { page: buffer_pool::PageId(page), what });
                }
                ended = Some(fence);
            }
        }
        self.state = State::Reading;
        self.leaves += 1;
        let page = &*self.leaf.page;
        if let Some(sample) = self.sample
            && !sample.takes(page.word(header::PAGE_ID))
        {
            (self.from, self.to) = (0, 0);
            runtime::task::maybe_yield();
            return Ok(true);
        }
        let slots = slotted::Space::of(page).slots;
        let at = |key: &[u8], after: bool| match slotted::search(page, key) {
            Ok(i) => i + usize::from(after),
            Err(i) => i,
        };
        // `search` wants keys between the fences; beyond them the whole leaf is in or out.
        let inside =
            |key: &[u8]| slotted::above_lower(page, key) && slotted::below_upper(page, key);
        self.from = match &self.lower {
            Bound::Included(k) if inside(k) => at(k, false),
            Bound::Excluded(k) if inside(k) => at(k, true),
            Bound::Included(k) | Bound::Excluded(k) if !slotted::below_upper(page, k) => slots,
            _ => 0,
        };
        self.to = match &self.upper {
            Bound::Included(k) if inside(k) => at(k, true),
            Bound::Excluded(k) if inside(k) => at(k, false),
            Bound::Included(k) | Bound::Excluded(k) if !slotted::above_lower(page, k) => 0,
            _ => slots,
        };
        if let Some(fence) = ended.filter(|fence| inside(fence)) {
            match self.reverse {
                false => self.from = self.from.max(at(&fence, false)),
                true => self.to = self.to.min(at(&fence, false)),
            }
        }
        Ok(true)
    }

    /// Asks for the leaves from `target` on, in the scan's direction, as far as their parent knows them.
    fn read_ahead(&mut self, target: Target<'_>) -> Result<(), StorageError> {
        let leaves = self.tree.leaves_from(target, self.ahead, self.reverse)?;
        self.tree.store.pool().read_ahead(&leaves);
        self.ahead = (self.ahead * 2).min(buffer_pool::READ_AHEAD_MAX);
        Ok(())
    }

    /// The same, backwards, where no leaf names its left neighbour.
    fn reverse_ahead(&mut self, fence: &[u8]) -> Result<(), StorageError> {
        let next = self.tree.leaves_from(Target::Below(fence), 1, true)?;
        let absent = |page: &buffer_pool::PageId| !self.tree.store.pool().is_resident(*page);
        if next.first().is_some_and(absent) {
            self.read_ahead(Target::Below(fence))
        } else {
            Ok(())
        }
    }

    /// Copies the right sibling, if it begins where our leaf ends.
    fn follow_right(&mut self, fence: &[u8]) -> Result<bool, StorageError> {
        let right = slotted::right_of(&*self.leaf.page);
        if right.is_none() {
            return Ok(false);
        }
        telemetry::counters::add(telemetry::Counter::PageLookups, 1);
        let pool = self.tree.store.pool();
        let look = pool.optimistic(right)?;
        if !self.leaf.take(look, self.latched) {
            return Ok(false);
        }
        let page = &*self.leaf.page;
        let is_next = slotted::kind_of(page).0 == LEAF
            && page.word(slotted::OWNER) == self.tree.id().0.0
            && slotted::lower_fence(page) == fence;
        if is_next {
            // Its lines come while the rows of this one are looked at.
            pool.prefetch(slotted::right_of(page));
        }
        Ok(is_next)
    }
}

fn is_as_copied(tree: &Tree, leaf: &LeafCopy) -> Result<bool, StorageError> {
    let page = PageId(leaf.page.word(header::PAGE_ID));
    Ok(tree.store.pool().optimistic(page)?.seen() == leaf.word)
}

/// Whether a descent to the key would end at the leaf as it was copied, in this epoch of the store. Under latches it is
/// copied anew: whoever latches it later is to see what was done before.
fn has_leaf_of(
    tree: &Tree,
    key: &[u8],
    leaf: &LeafCopy,
    epoch: u64,
    latched: bool,
) -> Result<bool, StorageError> {
    let page = &*leaf.page;
    if epoch == 0 || latched || epoch != tree.store.epoch() {
        return Ok(false);
    }
    let inside = slotted::above_lower(page, key) && slotted::below_upper(page, key);
    if !inside || !is_as_copied(tree, leaf)? {
        return Ok(false);
    }
    telemetry::counters::add(telemetry::Counter::PageLookups, 1);
    Ok(true)
}

/// Makes a bound another one, in the memory that it has.
fn renew(bound: &mut Bound<Vec<u8>>, other: Bound<&[u8]>) {
    let mut key = match std::mem::replace(bound, Bound::Unbounded) {
        Bound::Included(key) | Bound::Excluded(key) => key,
        Bound::Unbounded => Vec::new(),
    };
    key.clear();
    *bound = other.map(|other| {
        key.extend_from_slice(other);
        key
    });
}
