//! Entries of two rows each, written by workers that know what they have written: inserts, updates, deletes, with full
//! and with delayed durability.
//!
//! Finds: an entry that was acknowledged in full and is not there as it was written, or was taken back and is; half of
//! one; an update or a delete that is gone; delayed entries of a worker that did not go from the end; an index that
//! disagrees with its table.
//!
//! Who reads an entry with full durability makes it durable: a worker that comes with a new connection reads what is
//! there of its delayed entries first, and what it has seen must stay.

use crate::{Ended, Fate, Lost, Sql, Tables, Workload, ask, commit, integer, refused, roll_back};
use isolation::tables::IN_MEMORY;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use stdx::Prng;

/// See the file's page.
#[derive(Default)]
pub struct Ledger {
    workers: Mutex<BTreeMap<usize, Entries>>,
    odd: Mutex<Vec<String>>,
    power_losses: AtomicU64,
    in_memory: bool,
}

/// What a worker knows of what it has written.
#[derive(Default)]
struct Entries {
    next: i64,
    entries: BTreeMap<i64, Entry>,
    /// The last step ended with the connection.
    was_lost: bool,
}

#[derive(Clone, Debug)]
struct Entry {
    /// Values that its rows may have; `None`: not there. One of them alone: known for sure.
    may_be: Vec<Option<i64>>,
    /// Acknowledged with delayed durability and not seen since: a loss of power may take it.
    delayed: bool,
}

impl Ledger {
    pub fn new() -> Ledger {
        Ledger::default()
    }

    /// Its one table is on disk, or it is in memory.
    pub fn on(self, tables: Tables) -> Ledger {
        Ledger { in_memory: tables != Tables::Disk, ..self }
    }

    fn note(&self, what: String) {
        self.odd.lock().unwrap().push(what);
    }

    fn with<R>(&self, worker: usize, f: impl FnOnce(&mut Entries) -> R) -> R {
        f(self.workers.lock().unwrap().entry(worker).or_default())
    }

    /// Compares what is there of a worker's entries with what may be; afterwards it is known.
    fn look(&self, worker: usize, rows: &[Vec<types::Value>]) {
        let mut there: BTreeMap<i64, Vec<(i64, i64)>> = BTreeMap::new();
        for row in rows {
            let [Some(number), Some(side), Some(value)] =
                [0, 1, 2].map(|at| row.get(at).and_then(integer))
            else {
                self.note(format!("not a row of the ledger: {row:?}"));
                continue;
            };
            there.entry(number).or_default().push((side, value));
        }
        let mut odd = Vec::new();
        self.with(worker, |known| {
            let mut lost_from = None;
            for (number, entry) in &mut known.entries {
                let sides = there.remove(number).unwrap_or_default();
                let value = match sides[..] {
                    [] => None,
                    [(0, a), (1, b)] if a == b => Some(a),
                    _ => {
                        odd.push(format!("entry {worker}/{number} is not whole: {sides:?}"));
                        continue;
                    }
                };
                let fine = entry.may_be.contains(&value);
                if entry.delayed {
                    match (value, lost_from) {
                        (None, _) => drop(lost_from.get_or_insert(*number)),
                        (Some(_), Some(lost)) => odd.push(format!(
                            "entry {worker}/{number} survived and {lost}, committed before it, did not"
                        )),
                        _ => {}
                    }
                }
                if !fine {
                    let what = match (value, &entry.may_be[..]) {
                        (None, _) => "lost",
                        (Some(_), [None]) => "resurrected",
                        _ => "other than written",
                    };
                    odd.push(format!("{what}: entry {worker}/{number} is {value:?}: {entry:?}"));
                }
                *entry = Entry { may_be: vec![value], delayed: false };
            }
            known.was_lost = false;
        });
        odd.extend(there.keys().map(|n| format!("entry {worker}/{n} was written by nobody")));
        self.odd.lock().unwrap().extend(odd);
    }

    fn read_own(&self, worker: usize, sql: &mut dyn Sql) -> Result<Option<Ended>, Lost> {
        // Full durability, whatever the others do: what is read here is on the disk before the answer.
        let answer = sql.run(&format!(
            "SELECT number, side, value FROM ledger_entries WHERE worker = {worker} ORDER BY number, side"
        ))?;
        if !answer.is_good() {
            return refused(sql, &answer).map(Some);
        }
        self.look(worker, &answer.rows);
        Ok(None)
    }

    fn enter(&self, worker: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        // The last of three workers commits with delayed durability, and only adds.
        let delayed = worker % 3 == 2;
        let (number, old) = self.with(worker, |known| {
            let chosen = match known.entries.len() {
                0 => None,
                n if !delayed && rng.one_in(3) => {
                    known.entries.iter().nth(rng.below(n as u64) as usize)
                }
                _ => None,
            };
            match chosen {
                Some((number, entry)) if matches!(entry.may_be[..], [Some(_)]) => {
                    (*number, Some(entry.clone()))
                }
                _ => {
                    known.next += 1;
                    (known.next, None)
                }
            }
        });
        let value = rng.below(1_000_000) as i64;
        let filler = match rng.below(8) {
            0 => 2_000 + rng.below(1_000),
            _ => rng.below(60),
        };
        let (statements, new) = match (&old, rng.one_in(3)) {
            (None, _) => (
                vec![
                    format!(
                        "INSERT ledger_entries VALUES ({worker}, {number}, 0, {value}, REPLICATE('x', {filler}))"
                    ),
                    format!(
                        "INSERT ledger_entries VALUES ({worker}, {number}, 1, {value}, REPLICATE('y', {filler}))"
                    ),
                ],
                Some(value),
            ),
            (Some(_), true) => (
                vec![format!(
                    "DELETE ledger_entries WHERE worker = {worker} AND number = {number}"
                )],
                None,
            ),
            (Some(_), false) => (
                vec![
                    format!(
                        "UPDATE ledger_entries SET value = {value} WHERE worker = {worker} AND number = {number} AND side = 0"
                    ),
                    format!(
                        "UPDATE ledger_entries SET value = {value}, filler = REPLICATE('z', {filler}) WHERE worker = {worker} AND number = {number} AND side = 1"
                    ),
                ],
                Some(value),
            ),
        };
        let before = match &old {
            None => None,
            Some(entry) => entry.may_be[0],
        };
        // Until it commits nothing of it happens.
        let settle = |may_be: Vec<Option<i64>>, delayed| {
            self.with(worker, |known| {
                known.entries.insert(number, Entry { may_be, delayed });
            });
        };
        settle(vec![before], false);
        let mut batch = "BEGIN TRANSACTION".to_owned();
        for statement in statements {
            batch = format!("{batch};\n{statement}");
            if rng.one_in(2) {
                let answer = sql.run(&std::mem::take(&mut batch))?;
                if !answer.is_good() {
                    return refused(sql, &answer);
                }
            }
        }
        if !batch.is_empty() {
            let answer = sql.run(&batch)?;
            if !answer.is_good() {
                return refused(sql, &answer);
            }
        }
        if rng.one_in(7) {
            roll_back(sql)?;
            return Ok(Ended::RolledBack);
        }
        settle(vec![before, new], false);
        let power_losses = self.power_losses.load(SeqCst);
        if delayed {
            let answer = sql.run("COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON)")?;
            if let Some((number, text)) = answer.errors.first().cloned() {
                roll_back(sql)?;
                return Ok(Ended::Refused(number, text));
            }
            // The answer may have been on its way when the power went.
            let gone = self.power_losses.load(SeqCst) > power_losses;
            settle(if gone { vec![before, new] } else { vec![new] }, true);
            return Ok(Ended::Committed);
        }
        let (fate, ended) = commit(sql)?;
        match fate {
            Fate::Acknowledged => settle(vec![new], false),
            Fate::Undone => settle(vec![before], false),
            Fate::Unknown => {}
        }
        Ok(ended)
    }
}

impl Workload for Ledger {
    fn name(&self) -> &'static str {
        "ledger"
    }

    fn set_up(&self) -> Vec<String> {
        let columns = "worker bigint NOT NULL, number bigint NOT NULL, side bigint NOT NULL, \
                       value bigint NOT NULL, filler varchar(3000) NOT NULL";
        if self.in_memory {
            return vec![format!(
                "CREATE TABLE ledger_entries ({columns}, PRIMARY KEY NONCLUSTERED (worker, number, side), \
                 INDEX by_value NONCLUSTERED (value)){IN_MEMORY}"
            )];
        }
        vec![
            format!("CREATE TABLE ledger_entries ({columns}, PRIMARY KEY (worker, number, side))"),
            "CREATE INDEX by_value ON ledger_entries (value)".to_owned(),
        ]
    }

    fn power_lost(&self) {
        self.power_losses.fetch_add(1, SeqCst);
        let mut workers = self.workers.lock().unwrap();
        for entry in workers.values_mut().flat_map(|known| known.entries.values_mut()) {
            if entry.delayed && !entry.may_be.contains(&None) {
                entry.may_be.push(None);
            }
        }
    }

    fn step(&self, worker: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        if self.with(worker, |known| known.was_lost) || rng.one_in(12) {
            // Not known before it has read; a step that fails here is tried again.
            self.with(worker, |known| known.was_lost = true);
            return Ok(self.read_own(worker, sql)?.unwrap_or(Ended::RolledBack));
        }
        let ended = self.enter(worker, rng, sql);
        if !matches!(ended, Ok(Ended::Committed | Ended::RolledBack)) {
            self.with(worker, |known| known.was_lost = true);
        }
        ended
    }

    fn check(&self, sql: &mut dyn Sql) -> Result<Vec<String>, Lost> {
        let all =
            "SELECT worker, number, side, value FROM ledger_entries ORDER BY worker, number, side";
        let rows = match ask(sql, all)? {
            Ok(answer) => answer.rows,
            Err(what) => return Ok(vec![what]),
        };
        let mut of: BTreeMap<usize, Vec<Vec<types::Value>>> = BTreeMap::new();
        of.extend(self.workers.lock().unwrap().keys().map(|worker| (*worker, Vec::new())));
        for row in &rows {
            match row.first().and_then(integer) {
                Some(worker) => of.entry(worker as usize).or_default().push(row[1..].to_vec()),
                None => self.note(format!("not a row of the ledger: {row:?}")),
            }
        }
        for (worker, rows) in of {
            self.look(worker, &rows);
        }
        let by_index =
            "SELECT COUNT_BIG(*) FROM ledger_entries WITH (INDEX (by_value)) WHERE value >= 0";
        match ask(sql, by_index)? {
            Ok(answer) if answer.integer(0) == Some(rows.len() as i64) => {}
            Ok(answer) => self.note(format!(
                "the index has {:?} entries for {} rows",
                answer.integer(0),
                rows.len()
            )),
            Err(what) => self.note(what),
        }
        Ok(std::mem::take(&mut *self.odd.lock().unwrap()))
    }
}
