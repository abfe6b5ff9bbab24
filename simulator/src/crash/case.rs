//! One case: the template's copy, sessions, power loss, recovery, comparison.

use super::beside;
use super::copy;
use super::index;
use super::memory::InMemory;
use super::model::{JOURNAL_TREE, Model, State, TABLES, TABLES_TREE, Verdict, key};
use super::session::Session;
use backup::SetKind;
use device::{FileSystem, SimFs};
use engine::{
    DataFile, Database, DbFiles, DbOptions, DelayedDurability, Durability, EngineError, InsertHint,
    LogConfig, PRIMARY, PageId, RecoveryModel, RowImage, ScanOptions, TreeId, TxnOptions,
};
use runtime::task;
use scheduler::{JoinHandle, sim};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::{Arc, Mutex};
use stdx::Prng;
use telemetry::WaitType;

/// What one case found.
#[derive(Debug, Default)]
pub struct Found {
    /// Hashes of the disks that the power losses left.
    pub images: Vec<u64>,
    pub acknowledged: u64,
    pub delayed_lost: u64,
    pub lost: u64,
    pub resurrected: u64,
    /// Backups restored after a loss of power, and log backups on top of them.
    pub copies: u64,
    pub logs: u64,
    /// Openings after which recovery went on behind the users, losses of power meanwhile, and pages that were brought
    /// up to date because somebody asked for them.
    pub early: u64,
    pub cut: u64,
    pub demanded: u64,
    /// What users did beside recovery, and how often a loser's row was in their way.
    pub beside: u64,
    pub refused: u64,
    pub odd: Option<String>,
}

/// A small database, closed; its files are copied for each case.
pub struct Template {
    fs: Arc<SimFs>,
    base: State,
}

const PRIMARY_FILE: &str = "/db/crash.mdf";
const PREFILLED: u64 = 60;
/// Transactions of the template have numbers below.
const FIRST_ID: u64 = 1000;

fn options(rng: &mut Prng) -> DbOptions {
    let delayed =
        [DelayedDurability::Disabled, DelayedDurability::Allowed, DelayedDurability::Forced];
    DbOptions {
        log: LogConfig {
            ring_bytes: 1 << 20,
            vlf_bytes: 64 << 10,
            initial_vlfs: 4,
            full_wait_ms: 20,
            // Several writes in flight, and small ones.
            write_bytes_max: 4096 << rng.below(4),
            queue_depth: [1, 4, 32][rng.below(3) as usize],
            ..LogConfig::default()
        },
        buffer_pool_bytes: (32 + rng.below(64)) * 8192,
        delayed_durability: delayed[rng.below(3) as usize],
        checkpoint_log_bytes: 1 << 30,
        // Most open after analysis alone, and some have a list of what pages lack that is soon full.
        recover_first_bytes: if rng.one_in(3) { 16 << 20 } else { 0 },
        redo_list_bytes: if rng.one_in(4) { 500 + rng.below(8000) } else { 1 << 20 },
        ..DbOptions::default()
    }
}

impl Template {
    pub fn make() -> Template {
        sim::run(0, |_| {
            let fs = SimFs::new(0);
            let files = DbFiles {
                data: vec![DataFile { initial_bytes: 2 << 20, ..DataFile::primary(PRIMARY_FILE) }],
                log: "/db/crash_log.ldf".into(),
            };
            let options = options(&mut Prng::new(0));
            let db = Database::create(fs.clone() as Arc<dyn FileSystem>, &files, options)
                .expect("create");
            let tables = db.tree(db.system_tree(TABLES_TREE));
            let mut txn = db.begin(TxnOptions::default());
            let mut base = State::new();
            for table in 0..TABLES as u64 {
                let id = txn.create_tree(PRIMARY).expect("create a tree");
                let image = id.0.0.to_le_bytes();
                let mut hint = InsertHint::default();
                txn.insert(&tables, &key(table), &RowImage::new(&image), &mut hint)
                    .expect("insert");
                let tree = db.tree(id);
                let index_id = txn.create_tree(PRIMARY).expect("create a tree");
                let image = index_id.0.0.to_le_bytes();
                txn.insert(
                    &tables,
                    &key(index::INDEX + table),
                    &RowImage::new(&image),
                    &mut InsertHint::default(),
                )
                .expect("insert");
                let entries = db.tree(index_id);
                let mut rows = BTreeMap::new();
                let mut hint = InsertHint::default();
                for n in 0..PREFILLED {
                    let mut row = vec![0; 8];
                    row.resize(100 + 20 * table as usize + 7 * n as usize, n as u8);
                    // Every third key is free.
                    if n % 3 != 0 {
                        txn.insert(&tree, &key(n), &RowImage::new(&row), &mut hint)
                            .expect("insert");
                        index::add(&mut txn, &entries, n, &row).expect("insert an entry");
                        rows.insert(n, row);
                    }
                }
                base.push(rows);
            }
            txn.commit(Durability::Full).expect("commit");
            db.close().expect("close");
            Template { fs, base }
        })
    }
}

/// Runs the case `seed`.
pub fn run(template: &Template, seed: u64) -> Found {
    let (template_fs, base) = (template.fs.clone(), template.base.clone());
    let (found, outcome) = sim::run_with_outcome(seed, move |sim| {
        let mut rng = Prng::new(stdx::mix64(seed));
        let memory = InMemory::of(seed);
        let mut found = Found::default();
        // Inside: a simulated file system belongs to the world in which it is made.
        let (mut fs, mut base, mut first_id) = (template_fs.crash(seed), base, FIRST_ID);
        let rounds = 1 + rng.below(2);
        for round in 0..rounds {
            let options = options(&mut rng);
            let mut model = Model::new(base, first_id);
            let odd = sessions(sim, &fs, &options, &mut model, &mut rng, (round, memory));
            found.odd = found.odd.take().or(odd);
            fs = fs.crash(rng.next_u64());
            found.images.push(fs.image_hash());
            let (recovered, db) = match recover(sim, &fs, &options, &mut rng, memory, &mut found) {
                Ok(ok) => ok,
                Err(e) => {
                    found.odd.get_or_insert(format!("round {round}: recovery failed: {e}"));
                    return found;
                }
            };
            fs = recovered;
            // Not always: it takes longer than the rest of a case.
            let restored = match rng.one_in(6) {
                true => copy::restore(&fs, &options, &model, &mut rng, memory),
                false => Ok(None),
            };
            match restored {
                Ok(None) => {}
                Ok(Some(logs)) => {
                    found.copies += 1;
                    found.logs += logs;
                }
                Err(e) => {
                    found.odd.get_or_insert(format!("round {round}: {e}"));
                }
            }
            // Recovery may still be going on, with the help of up to two tasks or of nobody.
            let helpers = Helpers::start(sim, &db, rng.below(3));
            let seen = inspect(&db);
            helpers.end();
            found.demanded += db.recovery().pages_demanded;
            match seen {
                Ok((survivors, state, differ)) => {
                    let differ = differ.map(|what| format!("round {round}: {what}"));
                    found.odd = found.odd.take().or(differ);
                    let Verdict { acknowledged, delayed_lost, lost, resurrected, odd } =
                        model.judge(&survivors, &state);
                    found.acknowledged += acknowledged;
                    found.delayed_lost += delayed_lost;
                    found.lost += lost;
                    found.resurrected += resurrected;
                    found.odd = found.odd.take().or(odd.map(|o| format!("round {round}: {o}")));
                    base = state;
                }
                Err(e) => {
                    found.odd.get_or_insert(format!("round {round}: after recovery: {e}"));
                    return found;
                }
            }
            first_id += model.transactions.len() as u64;
            // Half of the time the next round opens it after a clean end.
            if round + 1 < rounds
                && rng.one_in(2)
                && let Err(e) = db.close()
            {
                found.odd.get_or_insert(format!("round {round}: it cannot be closed: {e}"));
            }
        }
        found
    });
    let mut found = found;
    if found.odd.is_none() && !outcome.abandoned.is_empty() {
        found.odd = Some(format!("tasks wait for ever: {:?}", outcome.abandoned));
    }
    found
}

/// Opens the database, tables in memory and all.
fn open(
    fs: &Arc<SimFs>,
    options: &DbOptions,
    memory: InMemory,
) -> Result<Arc<Database>, EngineError> {
    let fs = fs.clone() as Arc<dyn FileSystem>;
    let db = Database::open(fs, Path::new(PRIMARY_FILE), options.clone())?;
    memory.load(&db)?;
    Ok(db)
}

/// Opens the database and lets sessions work until the power goes or they are done.
fn sessions(
    sim: &sim::Sim,
    fs: &Arc<SimFs>,
    options: &DbOptions,
    model: &mut Model,
    rng: &mut Prng,
    (round, memory): (u64, InMemory),
) -> Option<String> {
    let db = match open(fs, options, memory) {
        Ok(db) => db,
        Err(e) => return Some(format!("round {round}: it does not open: {e}")),
    };
    if let Err(e) = db.set_delayed_durability(options.delayed_durability) {
        return Some(format!("round {round}: an option cannot be set: {e}"));
    }
    copy::forget(fs);
    if rng.one_in(2) {
        // Half of those have a full backup to begin with.
        let set = db.set_recovery_model(RecoveryModel::Full);
        let first = rng.one_in(2) && copy::back_up(&db, SetKind::Database, rng);
        if set.is_err() || first {
            return Some(format!("round {round}: a first full backup cannot be had: {set:?}"));
        }
    }
    let count = 1 + rng.below(4);
    // So that about one in eight ends before the power does.
    let until = fs.ops() + 1 + rng.below(25 + 45 * count);
    fs.power_off_at(Some(until));
    let first_id = model.first_id;
    let shared = Arc::new(Mutex::new(std::mem::replace(model, Model::new(State::new(), first_id))));
    let odd = Arc::new(Mutex::new(Vec::new()));
    let keys = 4 + rng.below(2 * PREFILLED);
    let tasks: Vec<_> = (0..count)
        .map(|_| {
            let session = Session {
                db: db.clone(),
                model: shared.clone(),
                rng: Prng::new(rng.next_u64()),
                keys,
                memory,
                transactions: 2 + rng.below(12),
                odd: odd.clone(),
            };
            sim.spawn("session", move || session.run())
        })
        .collect();
    let stop = Arc::new(AtomicBool::new(false));
    let background = sim.spawn("background", {
        let (db, stop, mut rng) = (db.clone(), stop.clone(), Prng::new(rng.next_u64()));
        move || background(&db, &stop, &mut rng)
    });
    let panicked = tasks.into_iter().filter_map(|t| t.join().err()).count();
    stop.store(true, Release);
    let panicked = panicked + usize::from(background.join().is_err());
    fs.power_off();
    drop(db);
    *model = std::mem::replace(&mut *shared.lock().unwrap(), Model::new(State::new(), first_id));
    let mut odd = odd.lock().unwrap();
    if panicked > 0 {
        odd.push(format!("{panicked} tasks panicked"));
    }
    (!odd.is_empty()).then(|| format!("round {round}: {}", odd.join("; ")))
}

fn background(db: &Arc<Database>, stop: &AtomicBool, rng: &mut Prng) {
    while !stop.load(Acquire) {
        let failed = match rng.below(4) {
            0 => db.checkpoint().is_err(),
            1 if rng.one_in(2) => db.backup_log_nul().is_err(),
            1 => {
                copy::back_up(db, if rng.one_in(4) { SetKind::Database } else { SetKind::Log }, rng)
            }
            _ => {
                db.background_step();
                db.lazy_writer_step();
                false
            }
        };
        if failed {
            return;
        }
        task::sleep_ns(1 + rng.below(4_000_000), WaitType::SleepTask);
    }
}

/// Tasks that work on recovery.
struct Helpers {
    stop: Arc<AtomicBool>,
    tasks: Vec<JoinHandle<()>>,
}

impl Helpers {
    fn start(sim: &sim::Sim, db: &Arc<Database>, count: u64) -> Helpers {
        let stop = Arc::new(AtomicBool::new(false));
        let tasks = (0..count)
            .map(|_| {
                let (db, stop) = (db.clone(), stop.clone());
                sim.spawn("recovery", move || db.run_recovery(&stop))
            })
            .collect();
        Helpers { stop, tasks }
    }

    fn end(self) {
        self.stop.store(true, Release);
        self.tasks.into_iter().for_each(|task| drop(task.join()));
    }
}

/// Opens after a power loss; sometimes the power goes again meanwhile, or while recovery goes on behind a first user.
fn recover(
    sim: &sim::Sim,
    fs: &Arc<SimFs>,
    options: &DbOptions,
    rng: &mut Prng,
    memory: InMemory,
    found: &mut Found,
) -> Result<(Arc<SimFs>, Arc<Database>), EngineError> {
    let mut fs = fs.clone();
    let mut users = rng.clone();
    let mut beside = |db: &Arc<Database>, found: &mut Found| {
        let worked = beside::work(db, &mut users, PREFILLED + PREFILLED / 2)?;
        found.beside += worked.done;
        found.refused += worked.refused;
        Ok::<(), EngineError>(())
    };
    let mut again = if rng.one_in(3) { 1 + rng.below(3) } else { 0 };
    loop {
        // While it opens, or afterwards.
        let late = again > 0 && rng.one_in(2);
        if again > 0 && !late {
            fs.power_off_at(Some(fs.ops() + rng.below(40)));
        }
        match open(&fs, options, memory) {
            Ok(db) if fs.is_on() => {
                found.early += u64::from(db.is_recovering());
                if again > 0 && db.is_recovering() {
                    if late {
                        fs.power_off_at(Some(fs.ops() + rng.below(30)));
                    }
                    let helpers = Helpers::start(sim, &db, rng.below(3));
                    // What it finds counts once the power stays.
                    let seen = beside(&db, found).and_then(|()| inspect(&db));
                    helpers.end();
                    if !fs.is_on() {
                        found.cut += 1;
                        drop(db);
                        again -= 1;
                        fs = fs.crash(rng.next_u64());
                        found.images.push(fs.image_hash());
                        continue;
                    }
                    seen?;
                }
                fs.power_off_at(None);
                if db.is_recovering() {
                    beside(&db, found)?;
                }
                return Ok((fs, db));
            }
            Err(e) if fs.is_on() => return Err(e),
            // Still off, or lost right at the end.
            result => {
                drop(result);
                again -= 1;
                fs = fs.crash(rng.next_u64());
                found.images.push(fs.image_hash());
            }
        }
    }
}

/// Reads everything, checks the trees, and puts the database to work.
pub fn inspect(db: &Arc<Database>) -> Result<(BTreeSet<u64>, State, Option<String>), EngineError> {
    let mut txn = db.begin(TxnOptions::default());
    let read = |txn: &mut engine::Txn, id: TreeId| -> Result<BTreeMap<u64, Vec<u8>>, EngineError> {
        let tree = db.tree(id);
        let mut scan =
            txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, ScanOptions::default())?;
        let mut rows = BTreeMap::new();
        while let Some((key, row)) = scan.next(txn)? {
            rows.insert(u64::from_be_bytes(key.try_into().expect("8 bytes")), row.to_vec());
        }
        // Afterwards: who has read all of the tree has waited for its losers, which nobody undoes any more.
        tree.verify()?;
        Ok(rows)
    };
    let survivors = read(&mut txn, db.system_tree(JOURNAL_TREE))?.into_keys().collect();
    let tables = read(&mut txn, db.system_tree(TABLES_TREE))?;
    let mut state = State::new();
    let mut differ = None;
    for table in 0..TABLES as u64 {
        let named = |n: u64| {
            let id = tables.get(&n).map_or(0, |row| super::model::writer(row));
            TreeId(PageId(id))
        };
        let rows = read(&mut txn, named(table))?;
        let entries = db.tree(named(index::INDEX + table));
        differ = differ.or(index::compare(&mut txn, &entries, &rows)?);
        state.push(rows);
    }
    txn.rollback()?;
    let journal = db.tree(db.system_tree(JOURNAL_TREE));
    txn.begin();
    let probe = key(u64::MAX);
    txn.insert(&journal, &probe, &RowImage::new(b"probe"), &mut InsertHint::default())?;
    txn.delete(&journal, &probe)?;
    txn.commit(Durability::Full)?;
    Ok((survivors, state, differ))
}
