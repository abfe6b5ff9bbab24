//! What one session does until the power goes: random transactions, each step told to the model.

use super::index;
use super::memory::InMemory;
use super::model::{Effect, Fate, JOURNAL_TREE, Model, TABLES, TABLES_TREE, key, writer};
use engine::{
    Database, DelayedDurability, Durability, EngineError, InsertHint, PageId, RowImage,
    ScanOptions, Tree, TreeId, Txn, TxnOptions,
};
use runtime::task;
use std::ops::Bound;
use std::sync::{Arc, Mutex};
use stdx::Prng;

pub struct Session {
    pub db: Arc<Database>,
    pub model: Arc<Mutex<Model>>,
    pub rng: Prng,
    pub keys: u64,
    pub memory: InMemory,
    pub transactions: u64,
    /// Something that no crash explains.
    pub odd: Arc<Mutex<Vec<String>>>,
}

/// How a transaction goes on after a step.
enum Next {
    Go,
    /// It has to be rolled back.
    Back,
}

/// The transaction in hand.
struct Work {
    id: u64,
    seen: Vec<u64>,
}

impl Session {
    pub fn run(mut self) {
        let mut txn =
            self.db.txn(TxnOptions { lock_timeout_ms: Some(50), ..TxnOptions::default() });
        for _ in 0..self.transactions {
            let over = match self.rng.below(10) {
                0..2 => self.fused(&mut txn),
                2 if self.rng.one_in(3) => self.flush(),
                _ => self.transaction(&mut txn),
            };
            if over {
                return;
            }
            if self.rng.one_in(3) {
                task::sleep_ns(self.rng.below(3_000_000), telemetry::WaitType::Waitfor);
            }
        }
    }

    fn row(&mut self, id: u64) -> Vec<u8> {
        let len = match self.rng.below(12) {
            0 => 1500 + self.rng.below(1500),
            1..4 => 200 + self.rng.below(300),
            _ => 8 + self.rng.below(60),
        };
        let mut row = id.to_le_bytes().to_vec();
        row.resize(len as usize, self.rng.next_u64() as u8);
        row
    }

    fn durability(&mut self) -> Durability {
        if self.rng.one_in(2) { Durability::Full } else { Durability::Delayed }
    }

    fn is_full(&self, asked: Durability) -> bool {
        match self.db.delayed_durability() {
            DelayedDurability::Disabled => true,
            DelayedDurability::Allowed => asked == Durability::Full,
            DelayedDurability::Forced => false,
        }
    }

    fn note(&self, what: String) {
        self.odd.lock().unwrap().push(what);
    }

    /// After an error that a crash explains the session ends.
    fn over(&self, e: &EngineError) -> bool {
        match e {
            EngineError::LogUnavailable { .. }
            | EngineError::Io { .. }
            | EngineError::Unavailable { .. } => true,
            EngineError::LogFull { .. }
            | EngineError::NoMemory
            | EngineError::FilegroupFull { .. } => false,
            EngineError::Deadlock | EngineError::LockTimeout | EngineError::Duplicate => false,
            EngineError::NoSuchTree => false,
            EngineError::WriteConflict
            | EngineError::NotSerializable
            | EngineError::NotRepeatable
            | EngineError::Redefined => false,
            e => {
                self.note(format!("a session got {}: {e}", e.number()));
                true
            }
        }
    }

    fn acknowledge(&mut self, work: &Work, full: bool, csn: engine::Lsn) {
        let mut model = self.model.lock().unwrap();
        if let Some(t) = model.get(work.id) {
            t.fate = Fate::Acknowledged { csn };
            t.must |= full;
        }
        if full {
            model.rely_on(work.seen.iter().copied());
        }
    }

    fn flush(&mut self) -> bool {
        let acknowledged = self.model.lock().unwrap().acknowledged();
        match self.db.flush_log() {
            Ok(()) => {
                self.model.lock().unwrap().rely_on(acknowledged);
                false
            }
            Err(e) => self.over(&e),
        }
    }

    /// One record in the journal: begin, insert, commit at once.
    fn fused(&mut self, txn: &mut Txn) -> bool {
        let id = self.model.lock().unwrap().begin();
        let row = self.row(id);
        let asked = self.durability();
        let journal = self.db.tree(self.db.system_tree(JOURNAL_TREE));
        self.model.lock().unwrap().ask(id);
        let work = Work { id, seen: Vec::new() };
        match txn.insert_commit(
            &journal,
            &key(id),
            &RowImage::new(&row),
            &mut InsertHint::default(),
            asked,
            None,
        ) {
            Ok(csn) => {
                self.acknowledge(&work, self.is_full(asked), csn);
                false
            }
            Err(e) => self.over(&e),
        }
    }

    fn transaction(&mut self, txn: &mut Txn) -> bool {
        let id = self.model.lock().unwrap().begin();
        let mut work = Work { id, seen: Vec::new() };
        txn.begin();
        let steps = 1 + self.rng.below(6);
        for _ in 0..steps {
            match self.step(txn, &mut work) {
                Ok(Next::Go) => {}
                Ok(Next::Back) => return self.roll_back(txn, &work),
                Err(e) => {
                    let over = self.over(&e);
                    return self.roll_back(txn, &work) || over;
                }
            }
            // Long enough, at times, for a checkpoint to come between.
            match self.rng.below(12) {
                0..3 => task::yield_now(),
                3 => task::sleep_ns(self.rng.below(10_000_000), telemetry::WaitType::Waitfor),
                _ => {}
            }
        }
        if self.rng.one_in(6) {
            return self.roll_back(txn, &work);
        }
        self.commit(txn, &work)
    }

    fn commit(&mut self, txn: &mut Txn, work: &Work) -> bool {
        let asked = self.durability();
        let reads_only = !txn.has_written();
        if !reads_only {
            let row = self.row(work.id);
            let journal = self.db.tree(self.db.system_tree(JOURNAL_TREE));
            if let Err(e) = txn.insert(
                &journal,
                &key(work.id),
                &RowImage::new(&row),
                &mut InsertHint::default(),
            ) {
                let over = self.over(&e);
                return self.roll_back(txn, work) || over;
            }
            self.model.lock().unwrap().ask(work.id);
        }
        match txn.commit(asked) {
            Ok(_) if reads_only => {
                let full = self.is_full(asked);
                let mut model = self.model.lock().unwrap();
                if let Some(t) = model.get(work.id) {
                    t.fate = Fate::RolledBack;
                }
                if full {
                    model.rely_on(work.seen.iter().copied());
                }
                false
            }
            Ok(csn) => {
                self.acknowledge(work, self.is_full(asked), csn);
                false
            }
            Err(e) => self.over(&e),
        }
    }

    fn roll_back(&mut self, txn: &mut Txn, work: &Work) -> bool {
        if let Some(t) = self.model.lock().unwrap().get(work.id) {
            t.fate = Fate::RolledBack;
        }
        match txn.rollback() {
            Ok(()) => false,
            Err(e) => self.over(&e),
        }
    }

    fn effects(&self, work: &Work) -> usize {
        self.model.lock().unwrap().get(work.id).map_or(0, |t| t.effects.len())
    }

    fn forget_effects(&self, work: &Work, from: usize) {
        if let Some(t) = self.model.lock().unwrap().get(work.id) {
            t.effects.truncate(from);
        }
    }

    fn add(&self, work: &Work, effect: Effect) {
        if let Some(t) = self.model.lock().unwrap().get(work.id) {
            t.effects.push(effect);
        }
    }

    fn step(&mut self, txn: &mut Txn, work: &mut Work) -> Result<Next, EngineError> {
        match self.rng.below(12) {
            0 => {
                // Some changes, taken back to a savepoint.
                let before = self.effects(work);
                let save = txn.savepoint();
                for _ in 0..self.rng.below(3) {
                    if let Next::Back = self.change(txn, work)? {
                        return Ok(Next::Back);
                    }
                }
                txn.rollback_to(save)?;
                self.forget_effects(work, before);
                Ok(Next::Go)
            }
            1 | 2 => self.scan(txn, work),
            3 if self.rng.one_in(4) => self.truncate(txn, work),
            4 if self.rng.one_in(3) => self.reorganize(txn),
            _ => self.change(txn, work),
        }
    }

    fn table(&mut self, txn: &mut Txn, table: usize) -> Result<Tree, EngineError> {
        let tables = self.db.tree(self.db.system_tree(TABLES_TREE));
        let mut row = Vec::new();
        txn.begin_statement();
        let found = txn.get(&tables, &key(table as u64), &mut row);
        txn.end_statement();
        if !found? {
            self.note(format!("table {table} is not in the catalog"));
            return Err(EngineError::NoSuchTree);
        }
        Ok(self.db.tree(TreeId(PageId(writer(&row)))))
    }

    fn truncate(&mut self, txn: &mut Txn, work: &mut Work) -> Result<Next, EngineError> {
        let table = self.rng.below(TABLES as u64) as usize;
        let tables = self.db.tree(self.db.system_tree(TABLES_TREE));
        let mut row = Vec::new();
        if !txn.read_latest_locked(&tables, &key(table as u64), &mut row)? {
            return Ok(Next::Back);
        }
        let tree = self.db.tree(TreeId(PageId(writer(&row))));
        let fresh = txn.truncate_tree(&tree)?;
        self.memory.keep(&self.db, table as u64, fresh)?;
        txn.update(&tables, &key(table as u64), &RowImage::new(&fresh.0.0.to_le_bytes()))?;
        let name = key(index::INDEX + table as u64);
        if !txn.read_latest_locked(&tables, &name, &mut row)? {
            return Ok(Next::Back);
        }
        let entries = self.db.tree(TreeId(PageId(writer(&row))));
        let fresh = txn.truncate_tree(&entries)?;
        self.memory.keep(&self.db, index::INDEX + table as u64, fresh)?;
        txn.update(&tables, &name, &RowImage::new(&fresh.0.0.to_le_bytes()))?;
        self.add(work, Effect::Clear { table });
        Ok(Next::Go)
    }

    /// Changes pages and no row: nothing that the model need know.
    fn reorganize(&mut self, txn: &mut Txn) -> Result<Next, EngineError> {
        let table = self.rng.below(TABLES as u64);
        let tables = self.db.tree(self.db.system_tree(TABLES_TREE));
        let percent = [50, 90, 100][self.rng.below(3) as usize];
        for name in [key(table), key(index::INDEX + table)] {
            let mut row = Vec::new();
            txn.begin_statement();
            let found = txn.get(&tables, &name, &mut row);
            let done = found
                .and_then(|_| txn.compact(&self.db.tree(TreeId(PageId(writer(&row)))), percent));
            txn.end_statement();
            done?;
        }
        Ok(Next::Go)
    }

    fn scan(&mut self, txn: &mut Txn, work: &mut Work) -> Result<Next, EngineError> {
        let table = self.rng.below(TABLES as u64) as usize;
        let tree = self.table(txn, table)?;
        txn.begin_statement();
        let options = ScanOptions { reverse: self.rng.one_in(2), ..ScanOptions::default() };
        let mut scan = txn.scan(&tree, Bound::Unbounded, Bound::Unbounded, options)?;
        while let Some((_, row)) = scan.next(txn)? {
            let by = writer(row);
            if by != work.id && !work.seen.contains(&by) {
                work.seen.push(by);
                self.check_seen(by);
            }
        }
        txn.end_statement();
        Ok(Next::Go)
    }

    /// Whoever is read must at least have asked to commit.
    fn check_seen(&self, by: u64) {
        let fate = self.model.lock().unwrap().get(by).map(|t| t.fate);
        if matches!(fate, Some(Fate::Running | Fate::RolledBack)) {
            self.note(format!("a row of transaction {by} was read while it was {fate:?}"));
        }
    }

    fn enter(&self, txn: &mut Txn, entries: &Tree, n: u64, row: &[u8]) -> Result<(), EngineError> {
        let added = index::add(txn, entries, n, row);
        if let Err(EngineError::Duplicate) = added {
            self.note(format!("the index has an entry of row {n} that came only now"));
        }
        added
    }

    fn take_out(
        &self,
        txn: &mut Txn,
        entries: &Tree,
        n: u64,
        row: &[u8],
    ) -> Result<(), EngineError> {
        if !index::remove(txn, entries, n, row)? {
            self.note(format!("the index has no entry of row {n}"));
        }
        Ok(())
    }

    fn change(&mut self, txn: &mut Txn, work: &mut Work) -> Result<Next, EngineError> {
        let table = self.rng.below(TABLES as u64) as usize;
        let tree = self.table(txn, table)?;
        let n = self.rng.below(self.keys);
        let row = self.row(work.id);
        txn.begin_statement();
        let entries = self.table(txn, index::INDEX as usize + table)?;
        let mut old = Vec::new();
        let done = match self.rng.below(6) {
            0..3 => {
                let image = RowImage::new(&row);
                let done = txn.insert(&tree, &key(n), &image, &mut InsertHint::default());
                match done {
                    Ok(()) => self.enter(txn, &entries, n, &row).map(|()| true),
                    Err(e) => Err(e),
                }
            }
            3..5 => txn.read_latest_locked(&tree, &key(n), &mut old).and_then(|there| {
                if !there || !txn.update(&tree, &key(n), &RowImage::new(&row))? {
                    return Ok(false);
                }
                if index::entry(n, &old) != index::entry(n, &row) {
                    self.take_out(txn, &entries, n, &old)?;
                    self.enter(txn, &entries, n, &row)?;
                }
                Ok(true)
            }),
            _ => {
                let done = txn.read_latest_locked(&tree, &key(n), &mut old).and_then(|there| {
                    if !there || !txn.delete(&tree, &key(n))? {
                        return Ok(false);
                    }
                    self.take_out(txn, &entries, n, &old).map(|()| true)
                });
                if let Ok(true) = done {
                    txn.end_statement();
                    self.add(work, Effect::Delete { table, key: n });
                    return Ok(Next::Go);
                }
                done
            }
        };
        match done {
            Ok(changed) => {
                if changed && self.rng.one_in(8) {
                    txn.rollback_statement()?;
                    return Ok(Next::Go);
                }
                txn.end_statement();
                if changed {
                    self.add(work, Effect::Put { table, key: n, row });
                }
                Ok(Next::Go)
            }
            Err(EngineError::Duplicate) => {
                txn.rollback_statement()?;
                Ok(Next::Go)
            }
            Err(e) => Err(e),
        }
    }
}
