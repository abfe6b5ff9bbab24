//! Money moved between accounts, and audits meanwhile.
//!
//! Finds: money made or lost; a transfer that was acknowledged and is not there, or was taken back and is; a balance that
//! does not follow from the transfers; a reader that sees one half of a transfer.

use crate::{
    Answer, Ended, Fate, Level, Lost, Sql, Tables, Workload, ask, commit, integer, refused,
    roll_back,
};
use isolation::tables::{IN_MEMORY, hint};
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering::Relaxed};
use stdx::Prng;

const START: i64 = 1_000;

/// See the file's page.
pub struct Bank {
    accounts: i64,
    /// Of the transfers; audits read by a level that sees one moment.
    level: Level,
    /// Mixed: the accounts in memory, the transfers on disk.
    tables: Tables,
    next: AtomicI64,
    transfers: Mutex<BTreeMap<i64, Fate>>,
    odd: Mutex<Vec<String>>,
}

impl Bank {
    /// `level` is of the transfers, and must keep updates from being lost.
    pub fn new(accounts: i64, level: Level) -> Bank {
        Bank {
            accounts,
            level,
            tables: Tables::Disk,
            next: AtomicI64::new(1),
            transfers: Mutex::default(),
            odd: Mutex::default(),
        }
    }

    pub fn on(self, tables: Tables) -> Bank {
        Bank { tables, ..self }
    }

    fn settle(&self, transfer: i64, fate: Fate) {
        self.transfers.lock().unwrap().insert(transfer, fate);
    }

    fn note(&self, what: String) {
        self.odd.lock().unwrap().push(what);
    }

    fn begin(&self, level: Level) -> String {
        let level = self.tables.session_level(level);
        format!("SET TRANSACTION ISOLATION LEVEL {level}; BEGIN TRANSACTION")
    }

    /// What statements say behind the accounts' name.
    fn hint(&self, level: Level) -> &'static str {
        if self.tables == Tables::Disk { "" } else { hint(level) }
    }

    fn audit(&self, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        let level = if rng.one_in(2) { Level::Snapshot } else { Level::Serializable };
        let hint = self.hint(level);
        let begin = self.begin(level);
        let answer = sql.run(&begin)?;
        if !answer.is_good() {
            return refused(sql, &answer);
        }
        // Row by row, so that others come in between.
        let mut sum = 0;
        for account in 0..self.accounts {
            let one = format!("SELECT balance FROM bank_accounts{hint} WHERE id = {account}");
            let answer = sql.run(&one)?;
            if !answer.is_good() {
                return refused(sql, &answer);
            }
            match answer.integer(0) {
                Some(balance) => sum += balance,
                None => self.note(format!("account {account} is not there: {answer:?}")),
            }
        }
        roll_back(sql)?;
        if sum != self.accounts * START {
            self.note(format!(
                "an audit by {} saw {sum} of {}",
                level.sql(),
                self.accounts * START
            ));
        }
        Ok(Ended::RolledBack)
    }

    fn transfer(&self, rng: &mut Prng, sql: &mut dyn Sql, transfer: i64) -> Result<Ended, Lost> {
        let from = rng.below(self.accounts as u64) as i64;
        let to = (from + 1 + rng.below(self.accounts as u64 - 1) as i64) % self.accounts;
        let amount = 1 + rng.below(50) as i64;
        let by_level = self.hint(self.level);
        let mut steps = vec![self.begin(self.level)];
        let move_money = |account, by: i64| {
            // As an application does it that reads, computes and writes; the level alone, or a hint, keeps others from
            // coming in between.
            let hint = match by.rem_euclid(3) {
                // Tables in memory know no locks.
                0 if self.tables == Tables::Disk => " WITH (UPDLOCK)",
                0 | 1 => by_level,
                _ => {
                    return format!(
                        "UPDATE bank_accounts{by_level} SET balance = balance + {by} WHERE id = {account}"
                    );
                }
            };
            format!(
                "DECLARE @b{account} bigint; \
                 SELECT @b{account} = balance FROM bank_accounts{hint} WHERE id = {account}; \
                 UPDATE bank_accounts{by_level} SET balance = @b{account} + {by} WHERE id = {account}"
            )
        };
        steps.push(move_money(from, -amount));
        steps.push(move_money(to, amount));
        steps.push(format!("INSERT bank_transfers VALUES ({transfer}, {from}, {to}, {amount})"));
        // In one batch, or a round trip each.
        if rng.one_in(3) {
            steps = vec![steps.join(";\n")];
        }
        for step in steps {
            let answer = sql.run(&step)?;
            if !answer.is_good() {
                self.settle(transfer, Fate::Undone);
                return refused(sql, &answer);
            }
        }
        if rng.one_in(8) {
            self.settle(transfer, Fate::Undone);
            roll_back(sql)?;
            return Ok(Ended::RolledBack);
        }
        self.settle(transfer, Fate::Unknown);
        let (fate, ended) = commit(sql)?;
        self.settle(transfer, fate);
        Ok(ended)
    }
}

impl Workload for Bank {
    fn name(&self) -> &'static str {
        "bank"
    }

    fn set_up(&self) -> Vec<String> {
        let rows: Vec<String> = (0..self.accounts).map(|id| format!("({id}, {START})")).collect();
        let accounts = match self.tables {
            Tables::Disk => {
                "CREATE TABLE bank_accounts (id bigint PRIMARY KEY, balance bigint NOT NULL)"
                    .to_owned()
            }
            Tables::Memory | Tables::Mixed => format!(
                "CREATE TABLE bank_accounts (id bigint PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 16), \
                 balance bigint NOT NULL){IN_MEMORY}"
            ),
        };
        let columns = "source bigint NOT NULL, target bigint NOT NULL, amount bigint NOT NULL";
        let transfers = match self.tables {
            Tables::Disk | Tables::Mixed => vec![
                format!("CREATE TABLE bank_transfers (id bigint PRIMARY KEY, {columns})"),
                "CREATE INDEX by_source ON bank_transfers (source)".to_owned(),
            ],
            Tables::Memory => vec![format!(
                "CREATE TABLE bank_transfers (id bigint PRIMARY KEY NONCLUSTERED, {columns}, \
                 INDEX by_source NONCLUSTERED (source)){IN_MEMORY}"
            )],
        };
        let rows = format!("INSERT bank_accounts VALUES {}", rows.join(", "));
        std::iter::once(accounts).chain(transfers).chain([rows]).collect()
    }

    fn step(&self, _: usize, rng: &mut Prng, sql: &mut dyn Sql) -> Result<Ended, Lost> {
        if rng.one_in(5) {
            return self.audit(rng, sql);
        }
        let transfer = self.next.fetch_add(1, Relaxed);
        // Until it is asked to commit, whatever ends the connection undoes it.
        self.settle(transfer, Fate::Undone);
        self.transfer(rng, sql, transfer)
    }

    fn check(&self, sql: &mut dyn Sql) -> Result<Vec<String>, Lost> {
        let mut odd = std::mem::take(&mut *self.odd.lock().unwrap());
        let select = "SELECT id, balance FROM bank_accounts ORDER BY id";
        let accounts = match ask(sql, select)? {
            Ok(answer) => pairs(&answer),
            Err(what) => return Ok(vec![what]),
        };
        let select = "SELECT id, source, target, amount FROM bank_transfers ORDER BY id";
        let journal = match ask(sql, select)? {
            Ok(answer) => answer,
            Err(what) => return Ok(vec![what]),
        };
        let mut expected: BTreeMap<i64, i64> = (0..self.accounts).map(|id| (id, START)).collect();
        let transfers = self.transfers.lock().unwrap();
        let mut there = BTreeMap::new();
        for row in &journal.rows {
            let [Some(id), Some(from), Some(to), Some(amount)] =
                [0, 1, 2, 3].map(|at| row.get(at).and_then(integer))
            else {
                odd.push(format!("a transfer is not whole: {row:?}"));
                continue;
            };
            *expected.entry(from).or_default() -= amount;
            *expected.entry(to).or_default() += amount;
            there.insert(id, ());
            match transfers.get(&id) {
                Some(Fate::Acknowledged | Fate::Unknown) => {}
                Some(Fate::Undone) => odd.push(format!("resurrected: transfer {id}")),
                None => odd.push(format!("transfer {id} was made by nobody")),
            }
        }
        for (id, fate) in transfers.iter() {
            if *fate == Fate::Acknowledged && !there.contains_key(id) {
                odd.push(format!("lost: transfer {id}"));
            }
        }
        let total: i64 = accounts.iter().map(|(_, balance)| balance).sum();
        if total != self.accounts * START {
            odd.push(format!("money: {total} of {}", self.accounts * START));
        }
        if accounts.into_iter().collect::<BTreeMap<_, _>>() != expected {
            odd.push("balances do not follow from the transfers".to_owned());
        }
        Ok(odd)
    }
}

fn pairs(answer: &Answer) -> Vec<(i64, i64)> {
    let pair = |row: &Vec<types::Value>| Some((integer(row.first()?)?, integer(row.get(1)?)?));
    answer.rows.iter().filter_map(pair).collect()
}
