//! What DBCC CHECKDB asks of the storage engine: every page in use as it is on disk, who owns what, each tree, the log.
//!
//! Promises: nothing here changes the database or stops the process, whatever is found; work goes on meanwhile. Pages
//! are read past the buffer pool, so that what memory still has right does not hide what the disk has wrong. A tree is
//! checked as it is in memory; who calls keeps others from changing it.

use crate::{Database, EngineError, Lsn, SYSTEM_TREES, Tree};
use buffer_pool::{DamageKind, PAGE_BYTES, PageBuf, PageId, PoolError, check_page, header};
use runtime::task;
use std::collections::HashSet;
use stdx::AlignedBuf;
use storage::{EXTENT, StorageError, StoreFile, TreeReport, UsedExtent};
use telemetry::WaitType;

const EXTENT_BYTES: usize = EXTENT as usize * PAGE_BYTES;
/// A page that is just being written may be read in two halves: looked at again so often.
const LOOKS: usize = 5;

/// Something that is not as it must be.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// SQL Server's number.
    pub number: i32,
    /// Of allocation rather than of consistency, as SQL Server counts.
    pub allocation: bool,
    /// Where, if it has a page.
    pub page: Option<PageId>,
    /// What is wrong.
    pub what: String,
}

impl Finding {
    fn of_page(number: i32, page: PageId, what: impl Into<String>) -> Finding {
        Finding { number, allocation: false, page: Some(page), what: what.into() }
    }

    fn of(error: EngineError, what: &str) -> Finding {
        let page = match &error {
            EngineError::DamagedPage { file, page, .. } => Some(PageId::new(*file, *page)),
            _ => None,
        };
        let what = format!("{what}{error}");
        Finding { number: error.number(), allocation: false, page, what }
    }
}

/// Given a row's key and bytes, says what is wrong with it.
pub type RowCheck<'a> = &'a mut dyn FnMut(&[u8], &[u8]) -> Option<String>;

/// What was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckCounts {
    pub files: u64,
    pub extents: u64,
    /// Pages that hold something.
    pub pages: u64,
    pub log_blocks: u64,
    /// Extents whose tree nobody knows: left by a crash between making a tree and naming it. No damage.
    pub unnamed_extents: u64,
}

impl Database {
    /// Checks files, allocation and log; `known` are the trees that the catalog names. Suspends.
    pub fn check_files(&self, known: &HashSet<u64>, find: &mut dyn FnMut(Finding)) -> CheckCounts {
        let mut counts = CheckCounts::default();
        if let Err(e) = self.finish_recovery() {
            find(Finding::of(e, "recovery is not finished: "));
        }
        for file in self.store.store_files() {
            counts.files += 1;
            self.check_file(&file, known, &mut counts, find);
        }
        self.check_log(&mut counts, find);
        counts
    }

    fn check_file(
        &self,
        file: &StoreFile,
        known: &HashSet<u64>,
        counts: &mut CheckCounts,
        find: &mut dyn FnMut(Finding),
    ) {
        match storage::header_copies(&*file.file) {
            Ok(copies) => {
                for (i, _) in copies.into_iter().enumerate().filter(|(_, good)| !good) {
                    let page = PageId::new(file.id, i as u32);
                    find(Finding::of_page(8946, page, "a copy of the file's header is damaged"));
                }
            }
            Err(e) => find(Finding::of(e.into(), "")),
        }
        let extents = match self.store.used_extents(file) {
            Ok(extents) => extents,
            Err(e) => {
                let mut finding = Finding::of(e.into(), "the allocation map cannot be read: ");
                finding.allocation = true;
                find(finding);
                return;
            }
        };
        match self.store.lost_extents(file) {
            Ok(lost) => lost.iter().for_each(|extent| {
                let what = "the file ends before this page, which is in use";
                find(Finding::of_page(823, extent.first, what));
            }),
            Err(e) => find(Finding::of(e.into(), "")),
        }
        let mut bytes = AlignedBuf::zeroed(EXTENT_BYTES);
        for extent in &extents {
            counts.extents += 1;
            self.check_owner(extent, known, counts, find);
            self.check_extent(file, extent, &mut bytes, counts, find);
            task::maybe_yield();
        }
    }

    /// The owner of an extent is a tree whose root lies in an extent of its own.
    fn check_owner(
        &self,
        extent: &UsedExtent,
        known: &HashSet<u64>,
        counts: &mut CheckCounts,
        find: &mut dyn FnMut(Finding),
    ) {
        if extent.is_system() || known.contains(&extent.owner) {
            return;
        }
        let root = PageId(extent.owner);
        let owned = self.store.owner_of(root);
        // A root is the first page of its extent.
        let may_be_root = root.page_no().is_multiple_of(EXTENT);
        if may_be_root && matches!(owned, Ok(Some(owner)) if owner.0 == root) {
            counts.unnamed_extents += 1;
            return;
        }
        // Let go of since the map was read.
        if matches!(self.store.owner_of(extent.first), Ok(owner) if owner.is_none_or(|o| o.0 != root))
        {
            return;
        }
        find(Finding {
            number: 8905,
            allocation: true,
            page: Some(extent.first),
            what: format!("the extent belongs to {root}, which is no tree"),
        });
    }

    fn check_extent(
        &self,
        file: &StoreFile,
        extent: &UsedExtent,
        bytes: &mut AlignedBuf,
        counts: &mut CheckCounts,
        find: &mut dyn FnMut(Finding),
    ) {
        let at = u64::from(extent.first.page_no()) * PAGE_BYTES as u64;
        let read = file.file.read_exact_at(at, bytes, WaitType::IoCompletion);
        if let Err(e) = read {
            let what = match e.kind() {
                std::io::ErrorKind::UnexpectedEof => "the file ends before this page".to_owned(),
                _ => e.to_string(),
            };
            find(Finding::of_page(823, extent.first, what));
            return;
        }
        let mut page = PageBuf::boxed();
        for i in 0..EXTENT {
            let id = PageId(extent.first.0 + u64::from(i));
            if extent.is_system() && id != extent.map_page() {
                continue;
            }
            let from = i as usize * PAGE_BYTES;
            page.bytes_mut().copy_from_slice(&bytes[from..from + PAGE_BYTES]);
            if page.is_zero() && self.pool.written_lsn(id).is_none() {
                continue;
            }
            counts.pages += 1;
            if let Err(error) = self.look_again(file, id, &mut page) {
                find(Finding::of_page(8939, id, error));
            }
        }
    }

    /// Whether a page is what it must be; one that is not is read again, as it may just be being written.
    fn look_again(&self, file: &StoreFile, id: PageId, page: &mut PageBuf) -> Result<(), String> {
        let at = u64::from(id.page_no()) * PAGE_BYTES as u64;
        for look in 0.. {
            match self.judge_page(id, page) {
                Ok(()) => break,
                Err(what) if look == LOOKS => return Err(what),
                Err(_) => {
                    task::sleep_ns(1_000_000, WaitType::IoCompletion);
                    let read =
                        file.file.read_exact_at(at, page.bytes_mut(), WaitType::IoCompletion);
                    let io = |error| PoolError::Io { page: id, action: "read", error }.to_string();
                    read.map_err(io)?;
                }
            }
        }
        Ok(())
    }

    /// A page as its file has it: whole, and what memory has if that was written. So a write that the device has lost is
    /// found as long as memory still has the page.
    fn judge_page(&self, id: PageId, page: &PageBuf) -> Result<(), String> {
        match check_page(id, page) {
            Ok(()) => {}
            Err(PoolError::Checksum { kind: DamageKind::NeverWritten, .. })
                if self.pool.written_lsn(id).is_none() =>
            {
                return Ok(());
            }
            Err(error) => return Err(error.to_string()),
        }
        let on_disk = Lsn(page.words()[header::LSN]);
        match self.pool.written_lsn(id) {
            Some(lsn) if lsn != on_disk => Err(format!(
                "the file has the page as of {on_disk}, though it was written as of {lsn}"
            )),
            _ => Ok(()),
        }
    }

    /// The log from where recovery would begin.
    fn check_log(&self, counts: &mut CheckCounts, find: &mut dyn FnMut(Finding)) {
        let to = self.log().durable();
        let from = self.recovery_start();
        if let Err(e) = self.log().check_header() {
            find(Finding::of(e.into(), ""));
        }
        let mut blocks = self.log().block_reader(from, to);
        loop {
            match blocks.next_block() {
                Ok(Some(_)) => counts.log_blocks += 1,
                Ok(None) => break,
                // A checkpoint may have let the beginning go meanwhile.
                Err(_) if self.recovery_start() > from => break,
                Err(e) => {
                    find(Finding::of(e.into(), ""));
                    break;
                }
            }
            task::maybe_yield();
        }
    }

    /// The trees that every database is born with.
    pub fn system_tree_numbers(&self) -> Vec<u64> {
        (0..SYSTEM_TREES).map(|n| self.system_tree(n).0.0).collect()
    }
}

impl Tree {
    /// Checks the tree's structure and the stamps of its rows, and tells everything that is wrong. `row` gets every row
    /// that is not deleted. Nobody may be changing the tree. Suspends.
    pub fn check(&self, tail: Lsn, row: RowCheck<'_>, find: &mut dyn FnMut(Finding)) -> TreeReport {
        let mut of_rows = Vec::new();
        let mut wrong = Vec::new();
        let report = storage::check_tree(
            &self.inner.tree,
            &mut |error: StorageError| {
                let number = if matches!(error, StorageError::Pool(_)) { 8928 } else { 8936 };
                let mut finding = Finding::of(error.into(), "");
                finding.number = number;
                wrong.push(finding);
            },
            &mut |page, stamp, key, bytes| {
                if stamp.csn().is_some_and(|csn| csn >= tail) {
                    let what = "a row was committed by what is not in the log";
                    of_rows.push(Finding::of_page(8970, page, what));
                }
                if !stamp.is_ghost()
                    && let Some(what) = row(key, bytes)
                {
                    of_rows.push(Finding::of_page(8970, page, what));
                }
            },
        );
        wrong.into_iter().chain(of_rows).for_each(find);
        report
    }
}
