//! What the database should hold: who did what, who asked to commit, who was told so.

use engine::Lsn;
use std::collections::{BTreeMap, BTreeSet};

/// The rows of the data tables.
pub type State = Vec<BTreeMap<u64, Vec<u8>>>;

/// Number of data tables.
pub const TABLES: usize = 2;

/// Table `n` is the tree named under key `n` of this system tree.
pub const TABLES_TREE: usize = 0;
/// Numbers of the transactions that have committed.
pub const JOURNAL_TREE: usize = 1;

#[derive(Clone, Debug)]
pub enum Effect {
    Put { table: usize, key: u64, row: Vec<u8> },
    Delete { table: usize, key: u64 },
    Clear { table: usize },
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    Running,
    RolledBack,
    /// Commit was called and has not answered, or with an error: either is fine.
    Asked,
    Acknowledged {
        csn: Lsn,
    },
}

#[derive(Clone, Debug)]
pub struct Transaction {
    pub effects: Vec<Effect>,
    pub fate: Fate,
    /// Order of the calls of commit. Conflicting transactions commit in this order: the later one could go on only
    /// after the earlier one's commit record was appended.
    pub asked: u64,
    /// Somebody relies on it: it must survive.
    pub must: bool,
}

#[derive(Debug)]
pub struct Model {
    pub base: State,
    pub first_id: u64,
    pub transactions: Vec<Transaction>,
    asked: u64,
}

/// What a comparison found wrong.
#[derive(Debug, Default)]
pub struct Verdict {
    pub acknowledged: u64,
    pub delayed_lost: u64,
    pub lost: u64,
    pub resurrected: u64,
    pub odd: Option<String>,
}

impl Model {
    pub fn new(base: State, first_id: u64) -> Model {
        Model { base, first_id, transactions: Vec::new(), asked: 0 }
    }

    pub fn begin(&mut self) -> u64 {
        self.transactions.push(Transaction {
            effects: Vec::new(),
            fate: Fate::Running,
            asked: 0,
            must: false,
        });
        self.first_id + self.transactions.len() as u64 - 1
    }

    /// `None` for what came before this round.
    pub fn get(&mut self, id: u64) -> Option<&mut Transaction> {
        self.transactions.get_mut(usize::try_from(id.checked_sub(self.first_id)?).ok()?)
    }

    pub fn ask(&mut self, id: u64) {
        self.asked += 1;
        let asked = self.asked;
        let t = self.get(id).expect("it has begun");
        (t.fate, t.asked) = (Fate::Asked, asked);
    }

    /// A flush succeeded: `upto` transactions had been acknowledged before it was asked for.
    pub fn rely_on(&mut self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            if let Some(t) = self.get(id) {
                t.must = true;
            }
        }
    }

    pub fn acknowledged(&self) -> Vec<u64> {
        let is = |t: &Transaction| matches!(t.fate, Fate::Acknowledged { .. });
        let ids = self.transactions.iter().enumerate().filter(|(_, t)| is(t));
        ids.map(|(i, _)| self.first_id + i as u64).collect()
    }

    /// The same of a copy that was restored from backups: nothing later than the backup need be there, but what is must
    /// be one moment of the history.
    pub fn judge_copy(&self, survivors: &BTreeSet<u64>, found: &State) -> Option<String> {
        let relaxed = |t: &Transaction| Transaction { must: false, ..t.clone() };
        let copy = Model {
            base: self.base.clone(),
            first_id: self.first_id,
            transactions: self.transactions.iter().map(relaxed).collect(),
            asked: self.asked,
        };
        copy.judge(survivors, found).odd
    }

    /// Compares who survived and what is there with what may be.
    pub fn judge(&self, survivors: &BTreeSet<u64>, found: &State) -> Verdict {
        let mut verdict = Verdict::default();
        let mut odd = Vec::new();
        let mut last_survivor = Lsn::NONE;
        for (i, t) in self.transactions.iter().enumerate() {
            if let (true, Fate::Acknowledged { csn }) =
                (survivors.contains(&(self.first_id + i as u64)), t.fate)
            {
                last_survivor = last_survivor.max(csn);
            }
        }
        let mut replayed: Vec<&Transaction> = Vec::new();
        for (i, t) in self.transactions.iter().enumerate() {
            let id = self.first_id + i as u64;
            let survived = survivors.contains(&id);
            match t.fate {
                Fate::Acknowledged { csn } => {
                    verdict.acknowledged += 1;
                    if !survived && t.must {
                        verdict.lost += 1;
                        odd.push(format!("transaction {id} (commit {csn}) is lost"));
                    } else if !survived && csn < last_survivor {
                        odd.push(format!(
                            "{id} (commit {csn}) is lost, a later one survived ({last_survivor})"
                        ));
                    } else if !survived {
                        verdict.delayed_lost += 1;
                    }
                }
                Fate::Running | Fate::RolledBack if survived => {
                    verdict.resurrected += 1;
                    odd.push(format!("transaction {id} is back: {:?}", t.fate));
                }
                _ if t.must && !survived => {
                    verdict.lost += 1;
                    odd.push(format!("transaction {id} was seen by a full commit and is lost"));
                }
                _ => {}
            }
            if survived {
                replayed.push(t);
            }
        }
        replayed.sort_by_key(|t| t.asked);
        let mut state = self.base.clone();
        replayed.iter().flat_map(|t| &t.effects).for_each(|e| apply(&mut state, e));
        for (table, (is, should)) in found.iter().zip(&state).enumerate() {
            if let Some(key) = (is.keys().chain(should.keys())).find(|k| is.get(k) != should.get(k))
            {
                let show = |s: &BTreeMap<u64, Vec<u8>>| s.get(key).map(|r| (writer(r), r.len()));
                odd.push(format!(
                    "table {table} key {key}: is {:?}, should be {:?}",
                    show(is),
                    show(should)
                ));
            }
        }
        verdict.odd = (!odd.is_empty()).then(|| odd.join("; "));
        verdict
    }
}

pub fn key(n: u64) -> [u8; 8] {
    n.to_be_bytes()
}

/// A row begins with the number of the transaction that wrote it.
pub fn writer(row: &[u8]) -> u64 {
    row.get(..8).map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
}

fn apply(state: &mut State, effect: &Effect) {
    match effect {
        Effect::Put { table, key, row } => {
            state[*table].insert(*key, row.clone());
        }
        Effect::Delete { table, key } => {
            state[*table].remove(key);
        }
        Effect::Clear { table } => state[*table].clear(),
    }
}
