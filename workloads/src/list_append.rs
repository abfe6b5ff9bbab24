//! Lists to which transactions append and which they read, at one isolation level; the history is checked.
//!
//! Every element is appended once, and an append tells the list that it replaced, so the order of versions is known:
//! it goes to the checker of histories (`isolation::history`) as a register whose value is the list's last element.
//!
//! Finds: what the checker finds, of what the level forbids; a list that is no extension of one that a committed
//! transaction has read; an append that was acknowledged and is not there, or was taken back and is; half of a
//! transaction.

use crate::{
    Answer, Ended, Fate, Level, Lost, Sql, Tables, Workload, ask, commit, integer, refused,
    roll_back,
};
use isolation::history::{Op, Transaction, check, forbidden};
use isolation::tables::{IN_MEMORY, hint};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use stdx::Prng;
use types::Value;

/// See the file's page.
pub struct ListAppend {
    lists: i64,
    level: Level,
    /// Mixed: every second list in memory.
    tables: Tables,
    next: AtomicI64,
    /// Lists that are used at a time; all of them, if there are no more.
    at_a_time: i64,
    done: Mutex<Vec<Done>>,
}

/// Appends after which one list gives way to another.
const STAY: i64 = 40;

struct Done {
    worker: usize,
    ops: Vec<Op>,
    /// Lists as they were read.
    reads: Vec<(i64, Vec<i64>)>,
    appended: Vec<(i64, i64)>,
    fate: Fate,
}

impl ListAppend {
    pub fn new(lists: i64, level: Level) -> ListAppend {
        ListAppend::moving(lists, lists, level)
    }

    /// The same for long runs, in which a list would become too long for its row: `at_a_time` of the lists are in use,
    /// and they move on with the appends, to the first again after the last.
    pub fn moving(lists: i64, at_a_time: i64, level: Level) -> ListAppend {
        ListAppend {
            lists,
            level,
            tables: Tables::Disk,
            next: AtomicI64::new(1),
            at_a_time,
            done: Mutex::default(),
        }
    }

    pub fn on(self, tables: Tables) -> ListAppend {
        ListAppend { tables, ..self }
    }

    fn is_in_memory(&self, list: i64) -> bool {
        match self.tables {
            Tables::Disk => false,
            Tables::Memory => true,
            Tables::Mixed => list % 2 == 1,
        }
    }

    /// Where a list is, and what a statement says behind that name.
    fn table(&self, list: i64) -> (&'static str, &'static str) {
        match self.is_in_memory(list) {
            true => ("lists_in_memory", hint(self.level)),
            false => ("lists", ""),
        }
    }

    fn pick(&self, rng: &mut Prng) -> i64 {
        let from = match self.at_a_time < self.lists {
            true => self.next.load(Relaxed) / STAY,
            false => 0,
        };
        (from + rng.below(self.at_a_time as u64) as i64) % self.lists
    }

    /// The steps of a transaction, up to its end.
    fn transact(&self, rng: &mut Prng, sql: &mut dyn Sql, done: &mut Done) -> Result<Ended, Lost> {
        let level = self.tables.session_level(self.level);
        let begin = format!("SET TRANSACTION ISOLATION LEVEL {level}; BEGIN TRANSACTION");
        let answer = sql.run(&begin)?;
        if !answer.is_good() {
            return refused(sql, &answer);
        }
        for _ in 0..1 + rng.below(4) {
            let list = self.pick(rng);
            let (table, hint) = self.table(list);
            if rng.one_in(2) {
                let answer = sql.run(&format!("SELECT v FROM {table}{hint} WHERE k = {list}"))?;
                let Some(elements) = answer.errors.is_empty().then(|| elements(&answer)).flatten()
                else {
                    return refused(sql, &answer);
                };
                done.ops.push(Op::Read { key: list, value: last(&elements) });
                done.reads.push((list, elements));
            } else {
                let element = self.next.fetch_add(1, Relaxed);
                done.appended.push((list, element));
                let answer = sql.run(&format!(
                    "UPDATE {table}{hint} SET v = v + ',{element}' OUTPUT deleted.v WHERE k = {list}"
                ))?;
                let Some(before) = answer.errors.is_empty().then(|| elements(&answer)).flatten()
                else {
                    return refused(sql, &answer);
                };
                done.ops.push(Op::Write { key: list, before: last(&before), value: element });
            }
        }
        if rng.one_in(8) {
            roll_back(sql)?;
            return Ok(Ended::RolledBack);
        }
        done.fate = Fate::Unknown;
        let (fate, ended) = commit(sql)?;
        done.fate = fate;
        Ok(ended)
    }
}

fn last(elements: &[i64]) -> i64 {
    elements.last().copied().unwrap_or(0)
}

/// The list in the answer's first row; `None`: there is none, or it is not one.
fn elements(answer: &Answer) -> Option<Vec<i64>> {
    let Some(Value::Str(text)) = answer.rows.first().and_then(|row| row.first()) else {
        return None;
    };
    let text = text.to_string();
    text.split(',').filter(|part| !part.is_empty()).map(|part| part.parse().ok()).collect()
}

impl Workload for ListAppend {
    fn name(&self) -> &'static str {
        "list-append"
    }

    fn set_up(&self) -> Vec<String> {
        let mut batches = Vec::new();
        for (in_memory, kind, end) in [(false, "", ""), (true, " NONCLUSTERED", IN_MEMORY)] {
            let lists: Vec<i64> =
                (0..self.lists).filter(|k| self.is_in_memory(*k) == in_memory).collect();
            let Some(one) = lists.first() else { continue };
            let (table, _) = self.table(*one);
            batches.push(format!(
                "CREATE TABLE {table} (k bigint PRIMARY KEY{kind}, v varchar(7000) NOT NULL){end}"
            ));
            // A VALUES takes a thousand rows.
            batches.extend(lists.chunks(1000).map(|some| {
                let rows: Vec<String> = some.iter().map(|k| format!("({k}, '')")).collect();
                format!("INSERT {table} VALUES {}", rows.join(", "))
            }));
        }
        batches
    }

    fn step(&self, worker: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        let mut done = Done {
            worker,
            ops: Vec::new(),
            reads: Vec::new(),
            appended: Vec::new(),
            fate: Fate::Undone,
        };
        let ended = self.transact(rng, sql, &mut done);
        self.done.lock().unwrap().push(done);
        ended
    }

    fn check(&self, sql: &mut dyn Sql) -> Result<Vec<String>, Lost> {
        let mut odd = Vec::new();
        let mut lists = BTreeMap::new();
        let all = match self.tables {
            Tables::Disk => "SELECT v, k FROM lists ORDER BY k",
            Tables::Memory => "SELECT v, k FROM lists_in_memory ORDER BY k",
            Tables::Mixed => {
                "SELECT v, k FROM lists UNION ALL SELECT v, k FROM lists_in_memory ORDER BY k"
            }
        };
        let answer = match ask(sql, all)? {
            Ok(answer) => answer,
            Err(what) => return Ok(vec![what]),
        };
        for row in answer.rows {
            let key = row.get(1).and_then(integer);
            let one = Answer { rows: vec![row], errors: Vec::new() };
            match (key, elements(&one)) {
                (Some(key), Some(elements)) => drop(lists.insert(key, elements)),
                _ => odd.push(format!("not a list: {one:?}")),
            }
        }
        let there: BTreeSet<(i64, i64)> =
            lists.iter().flat_map(|(k, all)| all.iter().map(|e| (*k, *e))).collect();
        if there.len() != lists.values().map(Vec::len).sum::<usize>() {
            odd.push(format!("an element is there twice: {lists:?}"));
        }
        let mut history = Vec::new();
        let mut known = BTreeSet::new();
        for done in self.done.lock().unwrap().iter() {
            known.extend(done.appended.iter().copied());
            let found = done.appended.iter().filter(|a| there.contains(a)).count();
            match done.fate {
                Fate::Acknowledged if found < done.appended.len() => {
                    odd.push(format!("lost: one of {:?}", done.appended));
                }
                Fate::Undone if found > 0 => {
                    odd.push(format!("resurrected: one of {:?}", done.appended));
                }
                Fate::Unknown if found > 0 && found < done.appended.len() => {
                    odd.push(format!("half of {:?}", done.appended));
                }
                _ => {}
            }
            let committed = match done.fate {
                Fate::Acknowledged => true,
                Fate::Undone => false,
                Fate::Unknown => found > 0,
            };
            let dirty = self.level == Level::ReadUncommitted && self.tables == Tables::Disk;
            for (list, seen) in done.reads.iter().filter(|_| committed && !dirty) {
                // Its own appends may be at the end.
                let own = |e: &i64| done.appended.contains(&(*list, *e));
                let seen: Vec<i64> = seen.iter().copied().filter(|e| !own(e)).collect();
                let all: Vec<i64> = lists
                    .get(list)
                    .map(|all| all.iter().copied().filter(|e| !own(e)).collect())
                    .unwrap_or_default();
                if !all.starts_with(&seen) {
                    odd.push(format!("list {list} was read as {seen:?} and became {all:?}"));
                }
            }
            history.push(Transaction { session: done.worker, ops: done.ops.clone(), committed });
        }
        for (list, element) in there.difference(&known) {
            odd.push(format!("element {element} of list {list} was appended by nobody"));
        }
        let forbidden = forbidden(self.tables, self.level);
        let wrong: Vec<_> = check(&history).into_iter().filter(|a| forbidden.contains(a)).collect();
        if !wrong.is_empty() {
            odd.push(format!("{:?} forbids {wrong:?}, tables {}", self.level, self.tables.name()));
        }
        Ok(odd)
    }
}
