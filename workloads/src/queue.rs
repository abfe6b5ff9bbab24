//! A queue in a table: items put in, and taken out by whoever comes first (DELETE TOP (1) with READPAST; of a table in memory
//! whoever comes second is refused).
//!
//! Finds: an item handed out twice, or lost; one that was never put in, or whose putting in was taken back.

use crate::{Ended, Fate, Lost, Sql, Tables, Workload, ask, commit, integer, refused, roll_back};
use isolation::tables::IN_MEMORY;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use stdx::Prng;

/// See the file's page.
#[derive(Default)]
pub struct Queue {
    next: AtomicI64,
    in_memory: bool,
    /// Of each item: its putting in.
    put: Mutex<BTreeMap<i64, Fate>>,
    /// Items taken, and how that ended.
    taken: Mutex<Vec<(i64, Fate)>>,
    odd: Mutex<Vec<String>>,
}

impl Queue {
    pub fn new() -> Queue {
        Queue { next: AtomicI64::new(1), ..Queue::default() }
    }

    /// Its one table is in memory, or it is on disk.
    pub fn on(self, tables: Tables) -> Queue {
        Queue { in_memory: tables == Tables::Memory, ..self }
    }

    fn settle(&self, items: &[i64], fate: Fate) {
        let mut put = self.put.lock().unwrap();
        put.extend(items.iter().map(|item| (*item, fate)));
    }

    fn put_in(&self, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        let items: Vec<i64> =
            (0..1 + rng.below(3)).map(|_| self.next.fetch_add(1, Relaxed)).collect();
        self.settle(&items, Fate::Undone);
        let rows: Vec<String> =
            items.iter().map(|i| format!("({i}, REPLICATE('q', {}))", i % 90)).collect();
        let insert = format!("INSERT queue_items VALUES {}", rows.join(", "));
        if rng.one_in(3) {
            // A transaction of its own.
            self.settle(&items, Fate::Unknown);
            let answer = sql.run(&insert)?;
            if let Some((number, text)) = answer.errors.into_iter().next() {
                // Refused while it committed, maybe: it stays unknown.
                roll_back(sql)?;
                return Ok(Ended::Refused(number, text));
            }
            self.settle(&items, Fate::Acknowledged);
            return Ok(Ended::Committed);
        }
        let answer = sql.run(&format!("BEGIN TRANSACTION; {insert}"))?;
        if !answer.is_good() {
            return refused(sql, &answer);
        }
        if rng.one_in(6) {
            roll_back(sql)?;
            return Ok(Ended::RolledBack);
        }
        self.settle(&items, Fate::Unknown);
        let (fate, ended) = commit(sql)?;
        self.settle(&items, fate);
        Ok(ended)
    }

    fn take_out(&self, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        let count = 1 + rng.below(2);
        // In memory nobody waits: who comes second is refused.
        let hint = if self.in_memory { "SNAPSHOT" } else { "ROWLOCK, UPDLOCK, READPAST" };
        let answer = sql.run(&format!(
            "BEGIN TRANSACTION; \
             DELETE TOP ({count}) FROM queue_items WITH ({hint}) OUTPUT deleted.id"
        ))?;
        if !answer.is_good() {
            return refused(sql, &answer);
        }
        let items: Vec<i64> = answer.rows.iter().filter_map(|row| integer(row.first()?)).collect();
        for item in &items {
            if !self.put.lock().unwrap().contains_key(item) {
                self.odd.lock().unwrap().push(format!("item {item} was put in by nobody"));
            }
        }
        if rng.one_in(6) {
            roll_back(sql)?;
            return Ok(Ended::RolledBack);
        }
        let first = {
            let mut taken = self.taken.lock().unwrap();
            let first = taken.len();
            taken.extend(items.iter().map(|item| (*item, Fate::Unknown)));
            first
        };
        let (fate, ended) = commit(sql)?;
        let mut taken = self.taken.lock().unwrap();
        taken[first..first + items.len()].iter_mut().for_each(|(_, known)| *known = fate);
        Ok(ended)
    }
}

impl Workload for Queue {
    fn name(&self) -> &'static str {
        "queue"
    }

    fn set_up(&self) -> Vec<String> {
        let (kind, end) = if self.in_memory { (" NONCLUSTERED", IN_MEMORY) } else { ("", "") };
        vec![format!(
            "CREATE TABLE queue_items (id bigint PRIMARY KEY{kind}, body varchar(100) NOT NULL){end}"
        )]
    }

    fn step(&self, worker: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        // Each worker does both, the even ones more of the first.
        let put = if worker.is_multiple_of(2) { rng.below(5) < 3 } else { rng.below(5) < 2 };
        if put { self.put_in(rng, sql) } else { self.take_out(rng, sql) }
    }

    fn check(&self, sql: &mut dyn Sql) -> Result<Vec<String>, Lost> {
        let mut odd = std::mem::take(&mut *self.odd.lock().unwrap());
        let left: BTreeSet<i64> = match ask(sql, "SELECT id FROM queue_items")? {
            Ok(answer) => answer.rows.iter().filter_map(|row| integer(row.first()?)).collect(),
            Err(what) => return Ok(vec![what]),
        };
        let put = self.put.lock().unwrap();
        let taken = self.taken.lock().unwrap();
        let mut sure: BTreeMap<i64, u32> = BTreeMap::new();
        let mut maybe: BTreeSet<i64> = BTreeSet::new();
        for (item, fate) in taken.iter() {
            match fate {
                Fate::Acknowledged => *sure.entry(*item).or_default() += 1,
                Fate::Unknown => drop(maybe.insert(*item)),
                Fate::Undone => {}
            }
        }
        for (item, times) in &sure {
            if *times > 1 {
                odd.push(format!("item {item} was handed out {times} times"));
            }
            if left.contains(item) {
                odd.push(format!("resurrected: item {item} was handed out and is there"));
            }
        }
        for (item, fate) in put.iter() {
            let gone = sure.contains_key(item) || maybe.contains(item);
            match fate {
                Fate::Acknowledged if !gone && !left.contains(item) => {
                    odd.push(format!("lost: item {item}"));
                }
                Fate::Undone if sure.contains_key(item) => {
                    odd.push(format!("item {item} was taken back and handed out"));
                }
                Fate::Undone if left.contains(item) => {
                    odd.push(format!("resurrected: item {item}"));
                }
                _ => {}
            }
        }
        for item in left.iter().filter(|item| !put.contains_key(item)) {
            odd.push(format!("item {item} was put in by nobody"));
        }
        Ok(odd)
    }
}
