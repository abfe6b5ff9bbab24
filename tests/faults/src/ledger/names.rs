//! The session that makes and drops tables and databases, checkpoints and backs up: files come, grow and go.

use super::{Tally, words};
use crate::server::Desk;
use std::collections::BTreeSet;
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
    /// A statement without an answer.
    unanswered: Option<Change>,
    next: u64,
    acknowledged: u64,
    /// Begin with one of each.
    pub tour: bool,
}

impl Names {
    /// Runs statements until told to stop or an error is told.
    pub fn work(
        &mut self,
        desk: &mut Desk,
        random: &mut Prng,
        stop: &AtomicBool,
        toured: &AtomicBool,
    ) -> Result<(), String> {
        desk.run("USE Ledger; SET NOCOUNT ON")?;
        if self.tour {
            self.look_around(desk)?;
            toured.store(true, Ordering::Release);
        }
        while !stop.load(Ordering::Acquire) {
            let count = |prefix: char| self.sure.iter().filter(|n| n.starts_with(prefix)).count();
            let (tables, databases) = (count('T'), count('D'));
            match random.below(16) {
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

    /// One of everything that makes, grows, renames and removes files.
    fn look_around(&mut self, desk: &mut Desk) -> Result<(), String> {
        let (table, database) = (self.new_name('T'), self.new_name('D'));
        let batch = format!(
            "CREATE TABLE dbo.{table} (id int NOT NULL PRIMARY KEY, filler char(2000) NOT NULL)"
        );
        self.change(desk, Change::Made(table.clone()), &batch)?;
        desk.run("CHECKPOINT")?;
        self.change(desk, Change::Made(database.clone()), &format!("CREATE DATABASE {database}"))?;
        desk.run("BACKUP DATABASE Ledger TO DISK = 'tour.bak' WITH INIT")?;
        desk.run("BACKUP DATABASE Ledger TO DISK = 'tour.bak' WITH NOINIT")?;
        self.change(desk, Change::Dropped(database.clone()), &format!("DROP DATABASE {database}"))?;
        self.change(desk, Change::Dropped(table.clone()), &format!("DROP TABLE dbo.{table}"))?;
        desk.run("CHECKPOINT")?;
        Ok(())
    }

    fn change(&mut self, desk: &mut Desk, change: Change, batch: &str) -> Result<(), String> {
        self.unanswered = Some(change.clone());
        desk.run(batch).map_err(|error| format!("{batch}: {error}"))?;
        self.unanswered = None;
        apply(&mut self.sure, &change);
        self.acknowledged += 1;
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
        let mut other = self.sure.clone();
        let unanswered = self.unanswered.take();
        if let Some(change) = &unanswered {
            apply(&mut other, change);
        }
        if found == other && found != self.sure {
            tally.unanswered_there += 1;
        } else if found != self.sure {
            for name in self.sure.intersection(&other).filter(|n| !found.contains(*n)) {
                tally.lost += 1;
                tally.details.push(format!("{name} is lost"));
            }
            for name in found.iter().filter(|n| !self.sure.contains(*n) && !other.contains(*n)) {
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

fn apply(names: &mut BTreeSet<String>, change: &Change) {
    match change {
        Change::Made(name) => names.insert(name.clone()),
        Change::Dropped(name) => names.remove(name),
    };
}
