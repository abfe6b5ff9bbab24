//! One session's rows: what it did, what was promised, what may be found.

use super::{Known, Mix, Progress, Row, State, Tally, Witness};
use crate::server::Desk;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stdx::Prng;

/// A session keeps so many pairs of rows, so that a check stays quick and pages are used again.
const PAIRS_MAX: usize = 40;

#[derive(Clone, Debug)]
enum Action {
    /// Inserts the pair, or changes both its rows.
    Put(u64, Row),
    Delete(u64),
}

#[derive(Clone, Debug)]
struct Transaction {
    number: u64,
    actions: Vec<Action>,
}

impl Transaction {
    fn apply(&self, state: &mut State) {
        state.counter = self.number;
        for action in &self.actions {
            match *action {
                Action::Put(number, row) => {
                    state.rows.insert(number, row);
                }
                Action::Delete(number) => {
                    state.rows.remove(&number);
                }
            }
        }
    }
}

/// What the driver knows of one session.
///
/// Invariants: `base` with the first `sure` of `after` is what the server promised to keep; of the rest of `after` any
/// first part may survive; the last of `after` may be unanswered.
#[derive(Clone)]
pub struct Account {
    id: u32,
    delayed: bool,
    mix: Mix,
    base: State,
    after: Vec<Transaction>,
    sure: usize,
    answered: usize,
    next: u64,
    acknowledged: u64,
    history: Option<History>,
}

/// Every transaction of a load that is watched, and the state before the first.
#[derive(Clone)]
struct History {
    origin: State,
    sent: Vec<Transaction>,
    progress: Progress,
    witness: Arc<dyn Witness>,
}

impl Account {
    pub fn new(id: u32, delayed: bool, mix: Mix) -> Account {
        let (base, after) = (State::default(), Vec::new());
        let (sure, answered, next, acknowledged) = (0, 0, 1, 0);
        Account { id, delayed, mix, base, after, sure, answered, next, acknowledged, history: None }
    }

    /// From here on all that is sent is kept, and each answer told.
    pub fn remember(&mut self, witness: Arc<dyn Witness>) {
        let (origin, sent, progress) = (self.now(), Vec::new(), Progress::default());
        self.history = Some(History { origin, sent, progress, witness });
    }

    pub fn forget(&mut self) {
        self.history = None;
    }

    /// What was known at a moment of the load that is remembered.
    pub fn as_of(&self, known: Known) -> Account {
        let history = self.history.as_ref().expect("the load was remembered");
        let mut base = history.origin.clone();
        let sure = known.progress.sure;
        history.sent[..sure].iter().for_each(|transaction| transaction.apply(&mut base));
        let after = history.sent[sure..known.sent_max.min(history.sent.len())].to_vec();
        let mut account = Account::new(self.id, self.delayed, self.mix);
        (account.base, account.after, account.next) = (base, after, self.next);
        account.answered = known.progress.answered - sure;
        account
    }

    pub fn id(&self) -> u32 {
        self.id
    }

    /// Where its rows are.
    fn table(&self) -> &'static str {
        if self.id.is_multiple_of(2) { "dbo.EntryInMemory" } else { "dbo.Entry" }
    }

    /// Runs transactions until told to stop or an error is told.
    pub fn work(
        &mut self,
        desk: &mut Desk,
        random: &mut Prng,
        stop: &AtomicBool,
    ) -> Result<(), String> {
        desk.run("USE Ledger; SET XACT_ABORT ON; SET NOCOUNT ON")?;
        while !stop.load(Ordering::Acquire) {
            let number = self.next;
            self.next += 1;
            let (transaction, mut batch) = self.invent(number, random);
            if random.one_in(6) {
                desk.run(&(batch + " ROLLBACK"))?;
                self.acknowledged += 1;
                continue;
            }
            let delayed = self.delayed && !random.one_in(8);
            batch += if delayed { " COMMIT WITH (DELAYED_DURABILITY = ON)" } else { " COMMIT" };
            if let Some(history) = &mut self.history {
                history.sent.push(transaction.clone());
            }
            self.after.push(transaction);
            desk.run(&batch)?;
            self.acknowledged += 1;
            self.answered = self.after.len();
            if delayed && random.one_in(20) {
                desk.run("EXEC sys.sp_flush_log")?;
                self.sure = self.after.len();
            }
            if !delayed {
                self.sure = self.after.len();
            }
            if let Some(history) = &mut self.history {
                history.progress.answered = history.sent.len();
                if self.sure > 0 {
                    history.progress.sure = history.sent.len();
                }
                history.witness.told(self.id, history.progress)?;
            }
            self.fold();
        }
        Ok(())
    }

    /// What is sure becomes the base.
    fn fold(&mut self) {
        for transaction in self.after.drain(..self.sure) {
            transaction.apply(&mut self.base);
        }
        self.answered -= self.sure;
        self.sure = 0;
    }

    fn now(&self) -> State {
        let mut state = self.base.clone();
        self.after.iter().for_each(|transaction| transaction.apply(&mut state));
        state
    }

    fn invent(&self, number: u64, random: &mut Prng) -> (Transaction, String) {
        let (id, table) = (self.id, self.table());
        let now = self.now();
        let row = any_row(self.mix, random);
        let mut actions = vec![Action::Put(number, row)];
        let value = |row: Row| {
            let letter = char::from(row.letter);
            (format!("REPLICATE(CONVERT(varchar(max), '{letter}'), {})", row.len), letter)
        };
        let (filler, letter) = value(row);
        let mut batch = format!(
            "BEGIN TRANSACTION; INSERT {table} VALUES ({id}, {number}, 0, {filler}, '{letter}'), \
             ({id}, {number}, 1, {filler}, '{letter}'); "
        );
        let old: Vec<u64> = now.rows.keys().copied().collect();
        if !old.is_empty() && random.one_in(2) {
            let which = old[random.below(old.len() as u64) as usize];
            let row = any_row(self.mix, random);
            let (filler, letter) = value(row);
            actions.push(Action::Put(which, row));
            batch += &format!(
                "UPDATE {table} SET filler = {filler}, letter = '{letter}' \
                 WHERE session = {id} AND number = {which}; "
            );
        }
        if old.len() >= PAIRS_MAX || !old.is_empty() && random.one_in(6) {
            let which = old[random.below(old.len() as u64) as usize];
            actions.push(Action::Delete(which));
            batch += &format!("DELETE {table} WHERE session = {id} AND number = {which}; ");
        }
        batch += &format!("UPDATE dbo.Counter SET number = {number} WHERE session = {id};");
        (Transaction { number, actions }, batch)
    }

    /// Finds which of the allowed states was found, and goes on from it; counts what is wrong.
    pub fn settle(&mut self, found: State, tally: &mut Tally) {
        tally.acknowledged += std::mem::take(&mut self.acknowledged);
        let mut allowed = self.base.clone();
        let mut matches = None;
        let mut all = Vec::new();
        for survived in 0..=self.after.len() {
            if survived > 0 {
                self.after[survived - 1].apply(&mut allowed);
            }
            if survived >= self.sure {
                if allowed == found {
                    matches = Some(survived);
                    break;
                }
                all.push(allowed.clone());
            }
        }
        match matches {
            Some(survived) => {
                tally.delayed_gone += self.answered.saturating_sub(survived) as u64;
                tally.unanswered_there += survived.saturating_sub(self.answered) as u64;
            }
            None => self.complain(&found, &all, tally),
        }
        self.base = found;
        self.after.clear();
        (self.sure, self.answered) = (0, 0);
    }

    fn complain(&self, found: &State, allowed: &[State], tally: &mut Tally) {
        let before = tally.odd();
        let id = self.id;
        let numbers = allowed.iter().flat_map(|s| s.rows.keys()).chain(found.rows.keys());
        let numbers: std::collections::BTreeSet<u64> = numbers.copied().collect();
        for number in numbers {
            let here = found.rows.get(&number);
            if allowed.iter().any(|s| s.rows.get(&number) == here) {
                continue;
            }
            match here {
                Some(_) if allowed.iter().all(|s| !s.rows.contains_key(&number)) => {
                    tally.resurrected += 1;
                    tally.details.push(format!("session {id}: {number} is there again"));
                }
                _ => {
                    tally.lost += 1;
                    let should = allowed.first().and_then(|s| s.rows.get(&number));
                    tally
                        .details
                        .push(format!("session {id}: {number} is {here:?}, not {should:?}"));
                }
            }
        }
        if tally.odd() == before {
            tally.torn += 1;
            let counters: Vec<u64> = allowed.iter().map(|s| s.counter).collect();
            tally.details.push(format!(
                "session {id}: rows and counter are of different states (counter {}, allowed {counters:?})",
                found.counter
            ));
        }
    }
}

/// Mostly short; sometimes one that needs pages of its own.
fn any_row(mix: Mix, random: &mut Prng) -> Row {
    let kind = match mix {
        Mix::Everything | Mix::Delayed => random.below(12),
        Mix::Checkpoints => 4,
        Mix::LargeValues => random.below(3),
    };
    let len = match kind {
        0 => 9_000 + random.below(30_000),
        1..=3 => 500 + random.below(3_000),
        _ => 1 + random.below(200),
    };
    Row { len: len as u32, letter: b'a' + random.below(26) as u8 }
}

#[cfg(test)]
mod tests;
