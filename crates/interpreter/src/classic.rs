//! What a statement takes before it runs, in the forms that all sessions share: the classic ones, chosen for the whole
//! process while it runs. None of them is needed here: by default a session has its plans, frames and memory for itself.
//!
//! | form | what each execution of a statement does | what it shows |
//! |---|---|---|
//! | plans | finds its text in one table, and counts its use there | spins of SQL_MGR |
//! | objects | takes an object from one store, and gives it back at its end | spins of SOS_OBJECT_STORE |
//! | memory | takes a block from the one thread-safe memory object of its scheduler's node | waits of CMEMTHREAD |
//!
//! Promise: where no form is chosen a statement pays one look at a word that nobody writes. What a statement took it gives
//! back, also when a form was changed meanwhile.

use crate::code::Code;
use parking_lot::{Mutex, MutexGuard};
use runtime::clock;
use runtime::spin::SpinLock;
use runtime::task::NoSuspend;
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU8, Ordering::Relaxed};
use stdx::CachePadded;
use telemetry::{SpinClass, WaitType, waits};

/// Which are shared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SharedForms {
    /// The table of plans.
    pub plans: bool,
    /// The store of objects.
    pub objects: bool,
    /// Memory objects.
    pub memory: bool,
}

const PLANS: u8 = 1;
const OBJECTS: u8 = 2;
const MEMORY: u8 = 4;

/// Bits of the forms in force.
static FORMS: AtomicU8 = AtomicU8::new(0);

/// Chooses the forms, for every session of the process.
pub fn set_shared_forms(forms: SharedForms) {
    let bit = |is_shared, bit| if is_shared { bit } else { 0 };
    let bits = bit(forms.plans, PLANS) | bit(forms.objects, OBJECTS) | bit(forms.memory, MEMORY);
    FORMS.store(bits, Relaxed);
}

/// Texts in the table, at most; a full one begins anew.
const TEXTS_MAX: usize = 4096;
/// Objects and blocks that wait to be used again, at most: in the store, and in each memory object.
const FREE_MAX: usize = 1024;
/// Bytes of an object and of a block.
const OBJECT_BYTES: usize = 64;
const BLOCK_BYTES: usize = 512;
/// Memory objects: more nodes share them in turn.
const MEMORY_OBJECTS: usize = 64;

type Object = Box<[u8; OBJECT_BYTES]>;
type Block = Box<[u8; BLOCK_BYTES]>;

/// How often each text was run, by its hash.
static TABLE: LazyLock<SpinLock<HashMap<u64, u64>>> =
    LazyLock::new(|| SpinLock::new(SpinClass::SqlMgr, HashMap::with_capacity(TEXTS_MAX)));

static STORE: SpinLock<Vec<Object>> = SpinLock::new(SpinClass::SosObjectStore, Vec::new());

/// A memory object that any thread may take from.
struct MemoryObject(CachePadded<Mutex<Vec<Block>>>);

static MEMORY_OF_NODES: [MemoryObject; MEMORY_OBJECTS] =
    [const { MemoryObject(CachePadded::new(Mutex::new(Vec::new()))) }; MEMORY_OBJECTS];

impl MemoryObject {
    fn of_this_node() -> &'static MemoryObject {
        &MEMORY_OF_NODES[scheduler::current_node() % MEMORY_OBJECTS]
    }

    /// Whoever does not get it at once is in CMEMTHREAD; it is held for nanoseconds.
    fn free(&self) -> MutexGuard<'_, Vec<Block>> {
        if let Some(free) = self.0.try_lock() {
            return free;
        }
        let began = clock::stat_ns();
        let free = self.0.lock();
        waits::record(WaitType::CMemThread, clock::stat_ns() - began, 0);
        free
    }
}

/// What a statement has taken; given back when dropped.
#[derive(Default)]
pub(crate) struct Taken {
    object: Option<Object>,
    block: Option<(&'static MemoryObject, Block)>,
}

/// A statement of a program is about to run.
#[inline]
pub(crate) fn take(code: &Code, index: usize) -> Option<Taken> {
    match FORMS.load(Relaxed) {
        0 => None,
        forms => Some(take_shared(forms, code, index)),
    }
}

#[cold]
fn take_shared(forms: u8, code: &Code, index: usize) -> Taken {
    if forms & PLANS != 0 {
        let span = code.statements[index].span;
        let text = code.program.text.get(span.start as usize..span.end as usize);
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        note_run(hasher.finish());
    }
    let mut taken = Taken::default();
    if forms & OBJECTS != 0 {
        let free = STORE.lock().pop();
        taken.object = Some(free.unwrap_or_else(|| Box::new([0; OBJECT_BYTES])));
    }
    if forms & MEMORY != 0 {
        let memory = MemoryObject::of_this_node();
        let _held = NoSuspend::new();
        let free = memory.free().pop();
        taken.block = Some((memory, free.unwrap_or_else(|| Box::new([0; BLOCK_BYTES]))));
    }
    taken
}

fn note_run(hash: u64) {
    let mut table = TABLE.lock();
    if let Some(runs) = table.get_mut(&hash) {
        *runs += 1;
        return;
    }
    if table.len() == TEXTS_MAX {
        table.clear();
    }
    table.insert(hash, 1);
}

impl Drop for Taken {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            let mut free = STORE.lock();
            if free.len() < FREE_MAX {
                free.push(object);
            }
        }
        if let Some((memory, block)) = self.block.take() {
            let _held = NoSuspend::new();
            let mut free = memory.free();
            if free.len() < FREE_MAX {
                free.push(block);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_table_begins_anew() {
        for hash in 0..2 * TEXTS_MAX as u64 {
            note_run(hash);
            note_run(hash);
            let table = TABLE.lock();
            assert_eq!(table.get(&hash), Some(&2));
            assert!(table.len() <= TEXTS_MAX);
        }
    }

    #[test]
    fn who_meets_another_in_a_memory_object_has_waited() {
        let memory = &MEMORY_OF_NODES[MEMORY_OBJECTS - 1];
        let count = || {
            let all = waits::totals();
            all.iter().find(|w| w.name == "CMEMTHREAD").map_or(0, |w| w.waiting_tasks_count)
        };
        let before = count();
        std::thread::scope(|scope| {
            let held = memory.free();
            let other = scope.spawn(|| {
                memory.free().push(Box::new([0; BLOCK_BYTES]));
            });
            // It is in its wait by then; where it is not, this shows nothing and the count below is what fails.
            std::thread::sleep(std::time::Duration::from_millis(200));
            assert!(!other.is_finished());
            drop(held);
            other.join().expect("it got it");
        });
        assert_eq!(memory.free().len(), 1);
        assert!(!telemetry::RECORDING || count() > before);
    }
}
