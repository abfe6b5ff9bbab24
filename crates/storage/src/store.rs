//! The pages of one database: its pool, files, filegroups and trees.
//!
//! Life of a store: `new`, `add_file` for each data file, and then anything else: pages that a crash has left behind
//! their log are brought up to date as the pool reads them in (`buffer_pool::PageRedo`). Invariant: the epoch changes before pages change owners, so a remembered leaf of an older epoch is never used.

use crate::alloc::{self, PageSource};
use crate::boot::{FileHeader, write_header};
use crate::compact::Adopted;
use crate::slotted::{self, Identity, LEAF};
use crate::waits::Waits;
use crate::{PageOp, StorageError, SystemLog, Tree, TreeId, TreeWaits};
use buffer_pool::{BufferPool, FileId, PAGE_BYTES, PageId, TaskMutex};
use device::File;
use parking_lot::{Mutex, RwLock};
use runtime::spin::SpinLock;
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::*};
use stdx::CachePadded;

/// Number of a filegroup; 1 is PRIMARY.
pub type FilegroupId = u16;

/// Pages that a file may have: 1 TiB, 1 GiB of addresses for their words.
const FILE_PAGES_MAX: u32 = 1 << 27;

/// A data file that was added.
pub(crate) struct DataFile {
    pub(crate) id: FileId,
    pub(crate) filegroup: FilegroupId,
    pub(crate) file: Arc<dyn File>,
    /// How far it may grow.
    pub(crate) max_bytes: AtomicU64,
    /// What the page words can address.
    pub(crate) most_bytes: u64,
    pub(crate) space: SpinLock<alloc::Space>,
}

/// What all handles of one tree share.
pub(crate) struct TreeShared {
    pub(crate) id: TreeId,
    pub(crate) filegroup: FilegroupId,
    pages: PageSource,
    /// Whose turn it is to compact the tree; whether its free pages have been looked for (see `compact.rs`).
    pub(crate) compacting: TaskMutex<Adopted>,
    /// How often it has gained or lost a page: see [`Tree::structure`].
    pub(crate) structure: AtomicU64,
}

impl TreeShared {
    pub(crate) fn take_page(&self, store: &Store) -> Result<PageId, StorageError> {
        self.pages.take(store, self.id, self.filegroup)
    }

    /// The tree is about to have other pages: its leaves are latched.
    pub(crate) fn note_structure(&self) {
        self.structure.fetch_add(1, AcqRel);
    }

    pub(crate) fn give_page(&self, page: PageId) {
        self.pages.give(page);
    }

    /// Takes the extents of which every page is spare; their first pages.
    pub(crate) fn take_spare_extents(&self) -> Vec<PageId> {
        self.pages.take_whole_extents()
    }
}

/// See the file's first lines.
pub struct Store {
    pool: Arc<BufferPool>,
    pub(crate) log: Arc<dyn SystemLog>,
    files: RwLock<Vec<Arc<DataFile>>>,
    trees: Mutex<HashMap<TreeId, Arc<TreeShared>>>,
    /// Held while a file grows or its maps are read.
    pub(crate) growing: TaskMutex<()>,
    epoch: CachePadded<AtomicU64>,
    waits: Arc<Waits>,
}

impl Store {
    /// A store without files.
    pub fn new(pool: Arc<BufferPool>, log: Arc<dyn SystemLog>) -> Arc<Store> {
        let waits = Arc::new(Waits::new());
        pool.tell_waits(waits.clone());
        Arc::new(Store {
            pool,
            log,
            files: RwLock::new(Vec::new()),
            trees: Mutex::new(HashMap::new()),
            growing: TaskMutex::new(()),
            epoch: CachePadded::new(AtomicU64::new(1)),
            waits,
        })
    }

    /// Waits for the pages of a tree since the store is there.
    pub fn waits_of(&self, tree: TreeId) -> TreeWaits {
        self.waits.of(tree)
    }

    /// The pool.
    pub fn pool(&self) -> &Arc<BufferPool> {
        &self.pool
    }

    /// Formats a new, empty data file: first size (at least one extent beside the system's), map pages, headers.
    /// Durable on return. May suspend.
    pub fn format_file(
        file: &(dyn File + 'static),
        header: &FileHeader,
        bytes: u64,
    ) -> Result<(), StorageError> {
        let extent = alloc::EXTENT_PAGES as u64 * PAGE_BYTES as u64;
        let bytes = stdx::round_up(bytes.max(2 * extent), extent);
        alloc::grow_file(file, header.file_id, bytes)?;
        write_header(file, header)
    }

    /// Adds a formatted data file to a filegroup. `max_bytes`: how far it may grow.
    pub fn add_file(
        &self,
        file_id: FileId,
        filegroup: FilegroupId,
        file: Arc<dyn File>,
        max_bytes: Option<u64>,
    ) -> Result<(), StorageError> {
        self.pool.register_file(file_id, file.clone(), FILE_PAGES_MAX)?;
        let most_bytes = u64::from(FILE_PAGES_MAX) * PAGE_BYTES as u64;
        let space = alloc::Space::unknown();
        let max_bytes = AtomicU64::new(max_bytes.unwrap_or(u64::MAX));
        let file = DataFile { id: file_id, filegroup, file, max_bytes, most_bytes, space };
        self.files.write().push(Arc::new(file));
        Ok(())
    }

    /// Changes how far a data file may grow. What is there already stays.
    pub fn set_max_bytes(&self, file_id: FileId, max_bytes: Option<u64>) {
        for file in self.files.read().iter().filter(|f| f.id == file_id) {
            file.max_bytes.store(max_bytes.unwrap_or(u64::MAX), Release);
        }
    }

    /// Forgets a data file and its pages in memory. Nobody may be using it.
    pub fn remove_file(&self, file_id: FileId) {
        self.epoch.fetch_add(1, AcqRel);
        self.files.write().retain(|f| f.id != file_id);
        self.pool.unregister_file(file_id);
    }

    pub(crate) fn all_files(&self) -> Vec<Arc<DataFile>> {
        self.files.read().clone()
    }

    pub(crate) fn files_of(&self, fg: FilegroupId) -> Vec<Arc<DataFile>> {
        self.files.read().iter().filter(|f| f.filegroup == fg).cloned().collect()
    }

    /// Changes when pages may have changed owners.
    #[inline]
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch.load(Acquire)
    }

    /// Makes an empty tree in a filegroup. Its records belong to no transaction: log the intent first, and free the
    /// tree when the transaction does not commit.
    pub fn create_tree(self: &Arc<Self>, filegroup: FilegroupId) -> Result<Tree, StorageError> {
        let root = self.allocate_root(filegroup)?;
        let tree = self.tree(TreeId(root), filegroup);
        tree.shared.pages.fill(PageId(root.0 + 1), alloc::EXTENT_PAGES - 1);
        self.format_root(TreeId(root))?;
        Ok(tree)
    }

    fn format_root(&self, id: TreeId) -> Result<(), StorageError> {
        let mut reserved = self.pool.reserve(1)?;
        loop {
            reserved.refill(1)?;
            self.log.ensure(256)?;
            let Some(mut w) = self.pool.create(id.0, &mut reserved)? else {
                drop(self.pool.create_or_wait(id.0)?);
                continue;
            };
            let logged = self.log.log(&PageOp::FormatRoot { tree: id });
            w.copy_from(&empty_root(id));
            w.set_lsn(logged.start, logged.end);
            return Ok(());
        }
    }

    /// Opens a tree that exists. Reads nothing.
    pub fn tree(self: &Arc<Self>, id: TreeId, filegroup: FilegroupId) -> Tree {
        let mut trees = self.trees.lock();
        let shared = trees.entry(id).or_insert_with(|| {
            let (pages, compacting) = (PageSource::new(), TaskMutex::new(Adopted::default()));
            let structure = AtomicU64::new(0);
            Arc::new(TreeShared { id, filegroup, pages, compacting, structure })
        });
        Tree { store: self.clone(), shared: shared.clone() }
    }

    /// Pages are about to change owners: remembered leaves are not to be used.
    pub(crate) fn next_epoch(&self) {
        self.epoch.fetch_add(1, AcqRel);
    }

    pub(crate) fn forget_tree(&self, id: TreeId) {
        self.waits.forget(id);
        self.epoch.fetch_add(1, AcqRel);
        self.trees.lock().remove(&id);
    }
}

/// The root page of an empty tree.
pub(crate) fn empty_root(id: TreeId) -> buffer_pool::PageBuf {
    let root = Identity { page: id.0, owner: id.0, kind: LEAF, level: 0 };
    slotted::shell(root, &[], None, PageId::NONE)
}
