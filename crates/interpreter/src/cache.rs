//! Compiled texts of a session: batches, parameterised statements, and the handles of prepared ones. The first level of
//! the plan cache; [`crate::plan_cache`] is the second.
//!
//! Promises: the same text under the same declarations, settings and database is parsed, bound and compiled once, and
//! its plans and the fast statements' buffers are kept between its runs; a text without a handle is kept from its
//! second use on (most ad hoc texts have none), at most [`KEPT`] of them and [`KEPT_BYTES`]; a handle keeps its text until it
//! is given up. The next user of a pooled connection finds the texts of those before, and none of their handles.
//!
//! Invariant: `places` names each text that a slot holds by its hash, once; of two texts of one hash the later is named.

use crate::cursor::PreparedCursor;
use crate::plan::CodeState;
use crate::plan_cache::SessionPlan;
use std::collections::HashMap;
use std::sync::Arc;

/// Texts kept that no handle asks for: an application has some hundreds, and a decimal parameter of another scale makes
/// another of each. What is left out is planned each time, which costs more than most statements of an application.
const KEPT: usize = 512;
/// The same where the process comes near its limit.
const KEPT_WHERE_SHORT: usize = 64;
/// What those may take, in bytes by their own estimate.
const KEPT_BYTES: usize = 8 << 20;
/// Longer texts are not kept without a handle, nor shared, in bytes.
pub(crate) const TEXT_BYTES_MAX: usize = 128 << 10;

/// What a compiled text depends on besides the catalog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Setting {
    pub database: u16,
    /// The SET options that change what a text means.
    pub options: u32,
}

/// A compiled text.
struct Compiled {
    hash: u64,
    setting: Setting,
    text: Box<str>,
    /// Declarations of parameters; a batch has none.
    declarations: Option<Box<str>>,
    code: Arc<SessionPlan>,
    /// Absent while it runs.
    state: Option<CodeState>,
    handles: u32,
    used: u64,
}

/// Where a compiled text was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot(u32);

/// What a handle stands for.
#[derive(Debug, Clone)]
pub(crate) enum Prepared {
    /// A compiled text.
    Text(Slot),
    /// A procedure of that name (sp_prepexecrpc).
    Procedure(Arc<str>),
    /// The text of a server cursor (sp_cursorprepare).
    Cursor(Arc<PreparedCursor>),
}

/// The compiled texts of a session.
#[derive(Default)]
pub(crate) struct TextCache {
    slots: Vec<Option<Box<Compiled>>>,
    /// The slot of each text's hash.
    places: HashMap<u64, u32>,
    /// What each handle stands for, by handle.
    handles: Vec<(i32, Prepared)>,
    last_handle: i32,
    /// Hashes of texts seen once, by some of their bits.
    seen: Vec<u64>,
    /// The same of texts whose constants are not to be taken for parameters.
    refused: Vec<u64>,
    clock: u64,
}

/// A text's hash; its quality decides only how often two texts are compared.
#[inline]
pub(crate) fn hash_text(setting: Setting, declarations: Option<&str>, text: &str) -> u64 {
    const PRIME: u64 = 0x9E37_79B9_7F4A_7C15;
    let mut hash = (setting.options as u64) << 16 | setting.database as u64;
    let mut add = |bytes: &[u8]| {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            hash = (hash ^ u64::from_le_bytes(*word)).wrapping_mul(PRIME);
            hash ^= hash >> 29;
        }
        let mut last = [0; 8];
        last[..rest.len()].copy_from_slice(rest);
        hash = (hash ^ u64::from_le_bytes(last) ^ (bytes.len() as u64) << 56).wrapping_mul(PRIME);
        hash ^= hash >> 32;
    };
    add(declarations.unwrap_or("\u{1}").as_bytes());
    add(text.as_bytes());
    hash | 1
}

/// Where a hash is noted.
fn place(hash: u64) -> usize {
    (hash >> 8) as usize % KEPT
}

impl TextCache {
    /// The compiled form of a text, with what was learnt of it.
    #[inline]
    pub fn find(
        &mut self,
        hash: u64,
        setting: Setting,
        declarations: Option<&str>,
        text: &str,
    ) -> Option<(Slot, Arc<SessionPlan>, CodeState)> {
        let found = *self.places.get(&hash)?;
        let compiled = self.slots[found as usize].as_ref()?;
        let same = compiled.setting == setting
            && *compiled.text == *text
            && compiled.declarations.as_deref() == declarations;
        if !same {
            return None;
        }
        if compiled.code.is_gone() && compiled.handles == 0 {
            // DBCC FREEPROCCACHE: it is to be compiled again.
            self.free(found as usize);
            return None;
        }
        Some(self.take(Slot(found)))
    }

    /// The compiled text of a slot that a handle names.
    #[inline]
    pub fn take(&mut self, slot: Slot) -> (Slot, Arc<SessionPlan>, CodeState) {
        self.clock += 1;
        let Some(compiled) = &mut self.slots[slot.0 as usize] else {
            stdx::fatal!("a handle of a text that is gone");
        };
        compiled.used = self.clock;
        let code = compiled.code.clone();
        let state = compiled.state.take().unwrap_or_else(|| CodeState::new(&code));
        state.meter.note_use();
        (slot, code, state)
    }

    /// Keeps a text that was compiled, if it is worth it or `always`.
    pub fn keep(
        &mut self,
        hash: u64,
        setting: Setting,
        declarations: Option<&str>,
        text: &str,
        code: &Arc<SessionPlan>,
        always: bool,
    ) -> Option<Slot> {
        if !always {
            let was_seen = self.was_seen(hash);
            self.note_seen(hash);
            if !was_seen || text.len() > TEXT_BYTES_MAX {
                return None;
            }
        }
        self.clock += 1;
        let compiled = Box::new(Compiled {
            hash,
            setting,
            text: text.into(),
            declarations: declarations.map(Into::into),
            code: code.clone(),
            state: None,
            handles: 0,
            used: self.clock,
        });
        self.make_room();
        let free = self.slots.iter().position(Option::is_none).unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.places.insert(hash, free as u32);
        self.slots[free] = Some(compiled);
        Some(Slot(free as u32))
    }

    /// Was it met, and not long ago?
    pub fn was_seen(&self, hash: u64) -> bool {
        self.seen.get(place(hash)) == Some(&hash)
    }

    /// A text was met.
    pub fn note_seen(&mut self, hash: u64) {
        self.seen.resize(KEPT, 0);
        self.seen[place(hash)] = hash;
    }

    /// Was it found, not long ago, that its constants are not to be taken for parameters?
    pub fn was_refused(&self, hash: u64) -> bool {
        self.refused.get(place(hash)) == Some(&hash)
    }

    /// The text with parameters is not to be used.
    pub fn note_refused(&mut self, hash: u64) {
        self.refused.resize(KEPT, 0);
        self.refused[place(hash)] = hash;
    }

    /// Lets those texts go that nobody holds and that were not used for longest, where there are too many.
    fn make_room(&mut self) {
        loop {
            let unheld = || self.slots.iter().enumerate();
            let unheld =
                unheld().filter_map(|(i, s)| Some((i, s.as_ref().filter(|c| c.handles == 0)?)));
            let (count, bytes) = unheld
                .clone()
                .fold((0, 0), |(count, bytes), (_, c)| (count + 1, bytes + c.code.bytes()));
            let most = if runtime::memory::is_short() { KEPT_WHERE_SHORT } else { KEPT };
            if count < most && bytes < KEPT_BYTES {
                return;
            }
            let Some((oldest, _)) = unheld.min_by_key(|(_, c)| c.used) else { return };
            self.free(oldest);
        }
    }

    /// Empties a slot.
    fn free(&mut self, slot: usize) {
        if let Some(compiled) = self.slots[slot].take()
            && self.places.get(&compiled.hash) == Some(&(slot as u32))
        {
            self.places.remove(&compiled.hash);
        }
    }

    /// Gives back what was learnt while it ran.
    #[inline]
    pub fn give(&mut self, slot: Option<Slot>, code: &Arc<SessionPlan>, state: CodeState) {
        let Some(slot) = slot else { return };
        // The slot may have been given to another text meanwhile.
        if let Some(Some(compiled)) = self.slots.get_mut(slot.0 as usize)
            && Arc::ptr_eq(&compiled.code, code)
        {
            compiled.state = Some(state);
        }
    }

    /// A new handle.
    pub fn prepare(&mut self, prepared: Prepared) -> i32 {
        self.last_handle += 1;
        if let Prepared::Text(slot) = prepared
            && let Some(Some(compiled)) = self.slots.get_mut(slot.0 as usize)
        {
            compiled.handles += 1;
        }
        self.handles.push((self.last_handle, prepared));
        self.last_handle
    }

    /// A handle of a server cursor's text.
    pub fn prepare_cursor(&mut self, cursor: PreparedCursor) -> i32 {
        self.prepare(Prepared::Cursor(Arc::new(cursor)))
    }

    /// The text behind it.
    pub fn prepared_cursor(&self, handle: i32) -> Option<Arc<PreparedCursor>> {
        match self.prepared(handle) {
            Some(Prepared::Cursor(cursor)) => Some(cursor.clone()),
            _ => None,
        }
    }

    /// What a handle stands for.
    #[inline]
    pub fn prepared(&self, handle: i32) -> Option<&Prepared> {
        let at = self.handles.binary_search_by_key(&handle, |(h, _)| *h).ok()?;
        Some(&self.handles[at].1)
    }

    /// The text in a slot.
    pub fn text(&self, slot: Slot) -> Option<&str> {
        self.slots.get(slot.0 as usize)?.as_ref().map(|compiled| &*compiled.text)
    }

    /// Gives a handle up; false when there is none of that number.
    pub fn release(&mut self, handle: i32) -> bool {
        let Ok(at) = self.handles.binary_search_by_key(&handle, |(h, _)| *h) else { return false };
        if let (_, Prepared::Text(slot)) = self.handles.remove(at)
            && let Some(Some(compiled)) = self.slots.get_mut(slot.0 as usize)
        {
            compiled.handles -= 1;
        }
        true
    }

    /// Forgets plans, which hold on to a database; texts and handles stay.
    pub fn forget_plans(&mut self) {
        self.slots.iter_mut().flatten().for_each(|compiled| compiled.state = None);
    }

    /// Gives all handles up; of the texts, those stay that would without handles.
    pub fn release_all(&mut self) {
        self.handles.clear();
        self.retain(|compiled| compiled.text.len() <= TEXT_BYTES_MAX);
        self.slots.iter_mut().flatten().for_each(|compiled| compiled.handles = 0);
        let mut used: Vec<u64> = self.slots.iter().flatten().map(|c| c.used).collect();
        if used.len() <= KEPT {
            return;
        }
        used.sort_unstable();
        let oldest_kept = used[used.len() - KEPT];
        self.retain(|compiled| compiled.used >= oldest_kept);
    }

    /// Lets all others go.
    fn retain(&mut self, keeps: impl Fn(&Compiled) -> bool) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].as_ref().is_some_and(|compiled| !keeps(compiled)) {
                self.free(slot);
            }
        }
    }

    /// Forgets everything, handles too.
    pub fn clear(&mut self) {
        let last_handle = self.last_handle;
        *self = TextCache { last_handle, ..TextCache::default() };
    }
}
