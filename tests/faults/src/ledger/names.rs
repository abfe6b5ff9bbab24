//! The session that makes and drops tables and databases, checkpoints and backs up: files come, grow and go.

use super::{Known, Mix, NAMES, Progress, Tally, Witness, words};
use crate::server::{Desk, Door};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use stdx::Prng;

/// So many tables and databases of its own at a time.
const TABLES_MAX: usize = 6;
const DATABASES_MAX: usize = 1;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Change {
    Made(String),
    Dropped(String),
}

/// What the driver knows of the names.
#[derive(Clone, Default)]
pub struct Names {
    sure: BTreeSet<String>,
    /// Statements without an answer, or with an error: done or not.
    unanswered: Vec<Change>,
    next: u64,
    acknowledged: u64,
    /// Begin with one of each.
    pub tour: bool,
    mix: Mix,
    history: Option<History>,
}

/// Every change of a load that is watched, and the names before the first.
#[derive(Clone)]
struct History {
    origin: BTreeSet<String>,
    sent: Vec<Change>,
    witness: Arc<dyn Witness>,
}

impl Names {
    pub fn of(mix: Mix) -> Names {
        Names { mix, ..Names::default() }
    }

    /// From here on all changes are kept, and each answer told.
    pub fn remember(&mut self, witness: Arc<dyn Witness>) {
        let (origin, sent) = (self.sure.clone(), Vec::new());
        self.history = Some(History { origin, sent, witness });
    }

    pub fn forget(&mut self) {
        self.history = None;
    }

    /// What was known at a moment of the load that is remembered.
    pub fn as_of(&self, known: Known) -> Names {
        let history = self.history.as_ref().expect("the load was remembered");
        let mut sure = history.origin.clone();
        let answered = known.progress.answered;
        history.sent[..answered].iter().for_each(|change| apply(&mut sure, change));
        let sent = known.sent_max.clamp(answered, history.sent.len());
        let unanswered = history.sent[answered..sent].to_vec();
        Names { sure, unanswered, next: self.next, mix: self.mix, ..Names::default() }
    }

    /// Runs statements until told to stop or an error is told.
    pub fn work(
        &mut self,
        door: Door,
        random: &mut Prng,
        stop: &AtomicBool,
        toured: &AtomicBool,
    ) -> Result<(), String> {
        let mut desk = enter(door)?;
        if self.tour {
            self.look_around(door, &mut desk)?;
            toured.store(true, Ordering::Release);
        }
        let desk = &mut desk;
        while !stop.load(Ordering::Acquire) {
            let count = |prefix: char| self.sure.iter().filter(|n| n.starts_with(prefix)).count();
            let (tables, databases) = (count('T'), count('D'));
            let most = if self.mix == Mix::Checkpoints { 26 } else { 16 };
            match random.below(most) {
                0..=4 if tables < TABLES_MAX => {
                    let name = self.new_name('T');
                    let batch = format!(
                        "CREATE TABLE dbo.{name} (id int NOT NULL PRIMARY KEY, filler char(2000) NOT NULL)"
                    );
                    self.change(desk, Change::Made(name), &batch)?;
                }
                5..=7 if tables > 0 => {
                    let name = self.any('T', random);
                    self.change(
                        desk,
                        Change::Dropped(name.clone()),
                        &format!("DROP TABLE dbo.{name}"),
                    )?;
                }
                8 | 9 if tables > 0 => {
                    // Grows the files: 200 rows are 400 KB, and go again.
                    let name = self.any('T', random);
                    desk.run(&format!(
                        "DECLARE @i int = 0; BEGIN TRANSACTION; DELETE dbo.{name}; WHILE @i < 200 BEGIN \
                         INSERT dbo.{name} VALUES (@i, 'x'); SET @i = @i + 1; END; COMMIT"
                    ))?;
                    self.acknowledged += 1;
                }
                10 if databases < DATABASES_MAX => {
                    let name = self.new_name('D');
                    self.change(
                        desk,
                        Change::Made(name.clone()),
                        &format!("CREATE DATABASE {name}"),
                    )?;
                }
                11 if databases > 0 => {
                    let name = self.any('D', random);
                    self.change(
                        desk,
                        Change::Dropped(name.clone()),
                        &format!("DROP DATABASE {name}"),
                    )?;
                }
                12 => {
                    desk.run("BACKUP DATABASE Ledger TO DISK = 'NUL'")?;
                    self.acknowledged += 1;
                }
                _ => {
                    desk.run("CHECKPOINT")?;
                    self.acknowledged += 1;
                }
            }
        }
        Ok(())
    }

    /// One of everything that makes, grows, renames and removes files. What fails does not keep the rest from being
    /// tried; the first failure is told in the end.
    fn look_around(&mut self, door: Door, desk: &mut Desk) -> Result<(), String> {
        let (table, database) = (self.new_name('T'), self.new_name('D'));
        let create = format!(
            "CREATE TABLE dbo.{table} (id int NOT NULL PRIMARY KEY, filler char(2000) NOT NULL)"
        );
        let steps = [
            (Some(Change::Made(table.clone())), create),
            (None, "CHECKPOINT".to_owned()),
            (Some(Change::Made(database.clone())), format!("CREATE DATABASE {database}")),
            (None, "BACKUP DATABASE Ledger TO DISK = 'tour.bak' WITH INIT".to_owned()),
            (None, "BACKUP DATABASE Ledger TO DISK = 'tour.bak' WITH NOINIT".to_owned()),
            (Some(Change::Dropped(database.clone())), format!("DROP DATABASE {database}")),
            (Some(Change::Dropped(table.clone())), format!("DROP TABLE dbo.{table}")),
            (None, "CHECKPOINT".to_owned()),
        ];
        let mut first = None;
        for (change, batch) in steps {
            let done = match change {
                Some(change) => self.change(desk, change, &batch),
                None => desk.run(&batch).map(drop),
            };
            if let Err(error) = done {
                first.get_or_insert(error);
                // The connection may be gone with it.
                if desk.run("SELECT 1").is_err() {
                    *desk = enter(door)?;
                }
            }
        }
        first.map_or(Ok(()), Err)
    }

    fn change(&mut self, desk: &mut Desk, change: Change, batch: &str) -> Result<(), String> {
        self.unanswered.push(change.clone());
        if let Some(history) = &mut self.history {
            history.sent.push(change.clone());
        }
        desk.run(batch).map_err(|error| format!("{batch}: {error}"))?;
        self.unanswered.pop();
        apply(&mut self.sure, &change);
        self.acknowledged += 1;
        if let Some(history) = &self.history {
            let (answered, sure) = (history.sent.len(), history.sent.len());
            history.witness.told(NAMES, Progress { answered, sure })?;
        }
        Ok(())
    }

    /// Never used before: what comes back is known by its name.
    fn new_name(&mut self, prefix: char) -> String {
        self.next += 1;
        format!("{prefix}{}", self.next)
    }

    fn any(&self, prefix: char, random: &mut Prng) -> String {
        let all: Vec<_> = self.sure.iter().filter(|n| n.starts_with(prefix)).collect();
        all[random.below(all.len() as u64) as usize].clone()
    }

    /// Holds what the server has against what it must have.
    pub fn verify(&mut self, desk: &mut Desk, tally: &mut Tally) -> Result<(), String> {
        tally.acknowledged += std::mem::take(&mut self.acknowledged);
        let tables = words(desk, "SELECT name FROM Ledger.sys.tables WHERE name LIKE 'T[0-9]%'")?;
        let databases = words(desk, "SELECT name FROM sys.databases WHERE name LIKE 'D[0-9]%'")?;
        let found: BTreeSet<String> = tables.into_iter().chain(databases).collect();
        let unanswered = std::mem::take(&mut self.unanswered);
        for name in self.sure.difference(&found) {
            if !unanswered.contains(&Change::Dropped(name.clone())) {
                tally.lost += 1;
                tally.details.push(format!("{name} is lost"));
            }
        }
        for name in found.difference(&self.sure) {
            if unanswered.contains(&Change::Made(name.clone())) {
                tally.unanswered_there += 1;
            } else {
                tally.resurrected += 1;
                tally.details.push(format!("{name} is there again"));
            }
        }
        // A database that is there can be used.
        for name in found.iter().filter(|n| n.starts_with('D')) {
            if let Err(error) = desk.run(&format!("SELECT COUNT(*) FROM {name}.sys.tables")) {
                tally.other(format!("{name} is there and cannot be used: {error}"));
            }
        }
        self.sure = found;
        Ok(())
    }
}

fn enter(door: Door) -> Result<Desk, String> {
    let mut desk = door.connect()?;
    desk.run("USE Ledger; SET NOCOUNT ON")?;
    Ok(desk)
}

fn apply(names: &mut BTreeSet<String>, change: &Change) {
    match change {
        Change::Made(name) => names.insert(name.clone()),
        Change::Dropped(name) => names.remove(name),
    };
}
