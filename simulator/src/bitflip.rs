//! Bits that change on the disk: found, or proven harmless; never a wrong answer.
//!
//! A case: the files of a database (closed in order, or as a loss of power left them) and of a backup; one to three bits
//! of one file are inverted, by kind of page; the database is opened, checked as DBCC CHECKDB does, and read in whole.
//!
//! What must hold: opening refuses with an error, or the check finds something, or a read fails with an error, or every
//! row is exactly as it was. A backup with a changed bit is refused. One exception, as docs/formats/log.md says: bits in
//! the last blocks of a log that was not closed in order may cost the commits in them, since no later block vouches for
//! them; in each of those blocks one must have changed.

use backup::{Media, SetHeader, SetKind};
use device::{FileSystem, OpenOptions, SimFs};
use engine::{
    BackupRequest, DataFile, Database, DbFiles, DbOptions, Durability, EngineError, InsertHint,
    LogConfig, Lsn, PRIMARY, PageId, RowImage, ScanOptions, TreeId, TxnOptions, VlfInfo,
};
use scheduler::sim;
use std::collections::{BTreeMap, HashSet};
use std::fmt;
use std::ops::{Bound, Range};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stdx::Prng;

const PRIMARY_FILE: &str = "/db/flip.mdf";
const SECOND_FILE: &str = "/db/flip.ndf";
const LOG_FILE: &str = "/db/flip_log.ldf";
const DOUBLE_WRITE: &str = "/db/flip.mdf.dwb";
const BACKUP: &str = "/db/flip.bak";
const PAGE: u64 = 8192;

type Rows = BTreeMap<(u64, Vec<u8>), Vec<u8>>;

/// What was tried and found.
#[derive(Clone, Debug, Default)]
pub struct Report {
    pub tried: u64,
    /// Bits inverted, and how many of them by kind of place.
    pub bits: u64,
    pub places: BTreeMap<&'static str, u64>,
    /// How they came to light, or that they changed nothing.
    pub refused: u64,
    pub found: u64,
    pub read_errors: u64,
    pub harmless: u64,
    /// The last commits were lost with the last blocks of an unclosed log.
    pub last_blocks: u64,
    /// Seeds of the cases that went wrong, and how.
    pub odd: Vec<(u64, String)>,
}

impl Report {
    pub fn is_good(&self) -> bool {
        self.odd.is_empty() && self.tried > 0
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "tried {}, bits inverted {}: refused at opening {}, found by the check {}, met as an error {}, harmless {}, \
             last commits of an unclosed log {}, wrong answers {}",
            self.tried,
            self.bits,
            self.refused,
            self.found,
            self.read_errors,
            self.harmless,
            self.last_blocks,
            self.odd.len()
        )?;
        let places: Vec<String> =
            self.places.iter().map(|(place, n)| format!("{place} {n}")).collect();
        write!(f, "\nplaces: {}", places.join(", "))?;
        for (seed, what) in self.odd.iter().take(20) {
            write!(f, "\nodd: seed {seed}: {what}")?;
        }
        Ok(())
    }
}

/// Files before any bit changes, and what they hold.
struct Template {
    fs: Arc<SimFs>,
    trees: Vec<TreeId>,
    rows: Rows,
    /// Not closed in order: its last commits, the very last first.
    last: Vec<Commit>,
    /// Lengths of the log's used part: bits beyond are rarely read.
    log_used: u64,
}

/// A commit at the end of a log.
struct Commit {
    /// What there is without it, and without those behind it.
    before: Rows,
    /// Where its blocks are in the log's file.
    blocks: Vec<Range<u64>>,
}

/// So many bits change at most, and so many commits at the end of the log may be lost.
const BITS_MAX: usize = 3;
/// docs/formats/log.md: a block, and what of it belongs to the stream of LSNs.
const BLOCK: u64 = 4096;
const PAYLOAD: u64 = 4032;

/// Where the blocks of a part of the log's stream are in its file.
fn blocks_of(db: &Database, stream: Range<Lsn>) -> Vec<Range<u64>> {
    let vlfs = db.log().vlfs();
    let first_of = |vlf: &VlfInfo| vlf.first_lsn.0 / PAYLOAD;
    let place = |block: u64| {
        let begun = vlfs.iter().filter(|vlf| vlf.sequence > 0 && first_of(vlf) <= block);
        let vlf = begun.max_by_key(|vlf| vlf.sequence).expect("a block is in a VLF");
        let at = vlf.begin_offset + BLOCK * (1 + block - first_of(vlf));
        at..at + BLOCK
    };
    (stream.start.0 / PAYLOAD..stream.end.0.div_ceil(PAYLOAD)).map(place).collect()
}

fn options() -> DbOptions {
    DbOptions {
        log: LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 64 << 10,
            initial_vlfs: 4,
            queue_depth: 1,
            ..LogConfig::default()
        },
        buffer_pool_bytes: 2 << 20,
        ..DbOptions::default()
    }
}

fn files() -> DbFiles {
    let second = DataFile {
        filegroup: 2,
        file_id: 3,
        path: SECOND_FILE.into(),
        initial_bytes: 512 << 10,
        growth_bytes: 64 << 10,
        max_bytes: None,
    };
    let first = DataFile { initial_bytes: 1 << 20, ..DataFile::primary(PRIMARY_FILE) };
    DbFiles { data: vec![first, second], log: LOG_FILE.into() }
}

fn header() -> SetHeader {
    SetHeader {
        server: "simulator".into(),
        compressed: true,
        ..SetHeader::new(SetKind::Database, "flip")
    }
}

impl Template {
    fn make(closed: bool) -> Template {
        sim::run(0, move |_| {
            let fs = SimFs::new(0);
            let db = Database::create(fs.clone() as Arc<dyn FileSystem>, &files(), options())
                .expect("create");
            let mut rng = Prng::new(7);
            let (mut rows, mut trees) = (Rows::new(), Vec::new());
            let mut txn = db.begin(TxnOptions::default());
            for group in [PRIMARY, PRIMARY, 2] {
                trees.push(txn.create_tree(group).expect("create a tree"));
            }
            txn.commit(Durability::Full).expect("commit");
            let mut put = |tree: TreeId, n: u64, rng: &mut Prng| {
                let len = 20 + rng.below(500) as usize;
                let row: Vec<u8> = (0..len).map(|_| rng.next_u64() as u8).collect();
                let key = n.to_be_bytes().to_vec();
                txn.begin();
                let image = RowImage::new(&row);
                txn.insert(&db.tree(tree), &key, &image, &mut InsertHint::default())
                    .expect("insert");
                if n % 9 == 4 {
                    txn.delete(&db.tree(tree), &key).expect("delete");
                } else {
                    rows.insert((tree.0.0, key), row);
                }
                txn.commit(Durability::Full).expect("commit");
                rows.clone()
            };
            for n in 0..420 {
                put(trees[(n % 3) as usize], n, &mut rng);
            }
            let take = BackupRequest {
                path: Some(BACKUP.into()),
                init: true,
                header: header(),
                progress: &mut |_, _| {},
            };
            db.backup(take).expect("backup");
            let mut last = Vec::new();
            let mut all = Rows::new();
            for n in 420..480 {
                let (before, from) = (std::mem::take(&mut all), db.log().tail());
                all = put(trees[(n % 3) as usize], n, &mut rng);
                last.insert(0, Commit { before, blocks: blocks_of(&db, from..db.log().tail()) });
                last.truncate(BITS_MAX);
            }
            let log_used =
                db.log().vlfs().iter().filter(|v| v.active).map(|v| v.begin_offset + v.bytes).max();
            drop(txn);
            if closed {
                last.clear();
            }
            let fs = if closed {
                db.close().expect("close");
                drop(db);
                fs
            } else {
                fs.power_off();
                let after = fs.crash(1);
                drop(db);
                after
            };
            Template { fs, trees, rows: all, last, log_used: log_used.unwrap_or(0) }
        })
    }
}

impl Template {
    /// Whether `rows` are what is there without the last commits, whose blocks have been hit one and all.
    fn cut_off(&self, rows: &Rows, bits: &[(u64, u32)]) -> bool {
        let hit = |commit: &&Commit| {
            commit.blocks.iter().any(|block| bits.iter().any(|(at, _)| block.contains(at)))
        };
        self.last.iter().take_while(hit).any(|commit| commit.before == *rows)
    }
}

/// Tries `cases` cases from `seed` on.
pub fn run(cases: u64, seed: u64) -> Report {
    let templates = Arc::new([Template::make(true), Template::make(false)]);
    let mut report = Report::default();
    for i in 0..cases {
        let seed = seed.wrapping_add(i);
        let (templates, mut so_far) = (templates.clone(), std::mem::take(&mut report));
        report = sim::run(seed, move |_| {
            let mut rng = Prng::new(stdx::mix64(seed));
            let template = &templates[rng.below(2) as usize];
            if let Err(what) = case(template, &mut rng, &mut so_far) {
                so_far.odd.push((seed, what));
            }
            so_far
        });
    }
    report
}

/// Where bits are inverted: the file, a range, and its name.
fn place(template: &Template, rng: &mut Prng) -> (PathBuf, u64, u64, &'static str) {
    let len = |path: &str| {
        let file = template.fs.open(Path::new(path), OpenOptions::read_only()).expect("a file");
        file.len().expect("a length")
    };
    let page = |path: &str, n: u64, kind| (PathBuf::from(path), n * PAGE, PAGE, kind);
    let (path, bytes) = match rng.below(5) {
        0 => (SECOND_FILE, len(SECOND_FILE)),
        _ => (PRIMARY_FILE, len(PRIMARY_FILE)),
    };
    match rng.below(12) {
        0 => page(path, rng.below(2), "file header"),
        1 => page(path, 2, "allocation map"),
        2 => {
            // The root of a tree.
            let tree = template.trees[rng.below(template.trees.len() as u64) as usize];
            let path = if tree.0.file() == 1 { PRIMARY_FILE } else { SECOND_FILE };
            page(path, u64::from(tree.0.page_no()), "root page")
        }
        3..6 => page(path, rng.below(bytes / PAGE), "any page"),
        6 => (LOG_FILE.into(), 0, 8192, "log header"),
        7 => {
            let vlf = rng.below(template.log_used / (64 << 10));
            (LOG_FILE.into(), 8192 + vlf * (64 << 10), 4096, "VLF header")
        }
        8 | 9 => (LOG_FILE.into(), 8192, template.log_used - 8192, "log block"),
        10 => (DOUBLE_WRITE.into(), 0, len(DOUBLE_WRITE), "double-write file"),
        _ => (BACKUP.into(), 0, len(BACKUP), "backup"),
    }
}

fn case(template: &Template, rng: &mut Prng, report: &mut Report) -> Result<(), String> {
    let fs = template.fs.crash(rng.next_u64());
    let (path, from, len, kind) = place(template, rng);
    let mut where_ = Vec::new();
    for _ in 0..1 + rng.below(BITS_MAX as u64) {
        let (at, bit) = (from + rng.below(len), rng.below(8) as u32);
        fs.flip(&path, at, bit).map_err(|e| format!("{}: {e}", path.display()))?;
        report.bits += 1;
        where_.push((at, bit));
    }
    report.tried += 1;
    *report.places.entry(kind).or_default() += 1;
    let told = || format!("{kind}, {} bits {where_:?}", path.display());
    if kind == "backup" {
        return match read_backup(&fs) {
            Err(_) => {
                report.refused += 1;
                Ok(())
            }
            // Two bits may be one, twice.
            Ok(()) if where_.len() > 1 => {
                report.harmless += 1;
                Ok(())
            }
            Ok(()) => Err(format!("{}: the backup was believed", told())),
        };
    }
    let fs = fs as Arc<dyn FileSystem>;
    let db = match Database::open(fs, Path::new(PRIMARY_FILE), options()) {
        Ok(db) => db,
        Err(_) => {
            report.refused += 1;
            return Ok(());
        }
    };
    let findings = check(&db, template);
    match read_all(&db, template) {
        Err(_) => report.read_errors += 1,
        Ok(rows) if rows == template.rows => match findings.is_empty() {
            true => report.harmless += 1,
            false => report.found += 1,
        },
        Ok(_) if !findings.is_empty() => report.found += 1,
        Ok(rows) if kind == "log block" && template.cut_off(&rows, &where_) => {
            report.last_blocks += 1;
        }
        Ok(rows) => {
            let (have, want) = (rows.len(), template.rows.len());
            return Err(format!(
                "{}: {have} rows instead of {want}, and nothing was found",
                told()
            ));
        }
    }
    Ok(())
}

fn read_backup(fs: &Arc<SimFs>) -> Result<(), backup::BackupError> {
    let media = Media::open(&**fs, Path::new(BACKUP))?;
    let mut set = media.set(1)?;
    while set.next_part()?.is_some() {}
    Ok(())
}

fn check(db: &Arc<Database>, template: &Template) -> Vec<engine::Finding> {
    let mut findings = Vec::new();
    let system = db.system_tree_numbers();
    let known: HashSet<u64> = template.trees.iter().map(|t| t.0.0).chain(system).collect();
    db.check_files(&known, &mut |f| findings.push(f));
    for number in known {
        let tree = db.tree(TreeId(PageId(number)));
        tree.check(db.log().tail(), &mut |_, _| None, &mut |f| findings.push(f));
    }
    findings
}

fn read_all(db: &Arc<Database>, template: &Template) -> Result<Rows, EngineError> {
    let mut rows = Rows::new();
    let mut txn = db.begin(TxnOptions::default());
    for &id in &template.trees {
        let tree = db.tree(id);
        let mut scan =
            txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, ScanOptions::default())?;
        while let Some((key, row)) = scan.next(&mut txn)? {
            rows.insert((id.0.0, key.to_vec()), row.to_vec());
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_bits_are_found_or_change_nothing() {
        let report = run(400, 1);
        assert!(report.is_good(), "{report}");
        assert!(report.refused > 0 && report.found > 0 && report.harmless > 0, "{report}");
        assert!(report.places.len() >= 8, "{report}");
    }
}
