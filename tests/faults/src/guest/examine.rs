//! A recording's states, looked at one after the other on this host: mounted, so that its ext4 replays the journal; the
//! real server opens what is there; the marks before that moment say what it must have, DBCC CHECKDB the rest.
//!
//! A looker has one disk in memory and brings it from state to state. States are made one at a time, in the order of the
//! log, and looked at side by side. Between them come planted ones ([`states::planted`]): a look that finds nothing
//! wrong with those is worth nothing.

use super::host::{Mounted, Slot};
use super::states::{self, Image, Maker, Plan};
use super::write_log::WriteLog;
use crate::disk_errors::look_again;
use crate::ledger::{Ledger, Tally};
use crate::server::{Recipe, binary};
use parking_lot::Mutex;
use std::io;
use std::path::{Path, PathBuf};

/// States are looked at side by side, so that one may wait for its mount and its server.
const LOOKERS: usize = 2;
/// How it goes is told every so many states, the planted ones among them.
const TOLD: usize = 100;

/// A recording whose states are wanted.
pub struct Recording<'a> {
    pub number: u64,
    /// The disk before the load.
    pub base: &'a Path,
    pub log: &'a WriteLog,
    pub recorded: &'a Ledger,
    /// For mounts.
    pub folder: &'a Path,
}

/// A state that was looked at.
pub struct Seen {
    pub plan: Plan,
    pub hash: u64,
    /// Since its last flush.
    pub writes: usize,
    pub torn: usize,
    /// Of the disk, written to bring it to this state.
    pub pages: usize,
    pub tally: Tally,
}

struct Queue<'a> {
    maker: Maker<'a>,
    plans: std::vec::IntoIter<Plan>,
}

impl Recording<'_> {
    /// Looks at all of them; the first that cannot be made ends it.
    pub fn examine(&self, mut plans: Vec<Plan>) -> Result<Vec<Seen>, String> {
        Maker::order(&mut plans);
        let maker = self.maker()?;
        let len = maker.disk_bytes();
        let queue = Mutex::new(Queue { maker, plans: plans.into_iter() });
        let seen = Mutex::new(Vec::new());
        let failed = Mutex::new(None);
        std::thread::scope(|scope| {
            for looker in 0..LOOKERS {
                let (queue, seen, failed) = (&queue, &seen, &failed);
                let point = self.folder.join(format!("look-{looker}"));
                scope.spawn(move || {
                    if let Err(error) = self.look_at_all(len, &point, queue, seen) {
                        queue.lock().plans = Vec::new().into_iter();
                        *failed.lock() = Some(format!("a state cannot be made: {error}"));
                    }
                });
            }
        });
        match failed.into_inner() {
            Some(error) => Err(error),
            None => Ok(seen.into_inner()),
        }
    }

    fn maker(&self) -> Result<Maker<'_>, String> {
        let said = |error: io::Error| format!("{}: {error}", self.base.display());
        Ok(Maker::new(self.log, Image::read(self.base).map_err(said)?))
    }

    fn look_at_all(
        &self,
        len: usize,
        point: &Path,
        queue: &Mutex<Queue>,
        seen: &Mutex<Vec<Seen>>,
    ) -> io::Result<()> {
        let mut slot = Slot::new(len)?;
        loop {
            let mut pages = 0;
            let (plan, made) = {
                let mut queue = queue.lock();
                let Some(plan) = queue.plans.next() else { return Ok(()) };
                let show = |image: &Image| slot.bring(image).map(|written| pages = written);
                let made = queue.maker.make(&plan, show)?;
                (plan, made)
            };
            let mut tally = Tally::default();
            let mut ledger = self.recorded.as_of(&made.known);
            if let Err(error) = look_at(&slot, point, &mut ledger, &mut tally) {
                tally.other(format!("cannot be looked at: {error}"));
                // Perhaps it is still mounted somewhere.
                slot = Slot::new(len)?;
            }
            let (hash, writes, torn) = (made.hash, made.writes, made.torn);
            let mut seen = seen.lock();
            seen.push(Seen { plan, hash, writes, torn, pages, tally });
            if seen.len().is_multiple_of(TOLD) {
                let wrong = |one: &&Seen| one.plan.planted().is_none() && one.tally.odd() > 0;
                let odd = seen.iter().filter(wrong).count();
                println!("guest: recording {}: {} states, {odd} odd", self.number, seen.len());
            }
        }
    }

    /// Makes states again, each as a file, as they were before anybody looked at them.
    pub fn keep(&self, mut plans: Vec<Plan>, folder: &Path) -> Result<Vec<PathBuf>, String> {
        Maker::order(&mut plans);
        let mut maker = self.maker()?;
        let mut kept = Vec::new();
        for (i, plan) in plans.iter().enumerate() {
            let file = folder.join(format!("odd-guest-{}-{i}", self.number));
            let made = maker.make(plan, |image| image.save(&file));
            made.map_err(|error| format!("{}: {error}", file.display()))?;
            kept.push(file);
        }
        Ok(kept)
    }
}

/// What a state's disk shows to a server that opens it here.
fn look_at(
    slot: &Slot,
    point: &Path,
    ledger: &mut Ledger,
    tally: &mut Tally,
) -> Result<(), String> {
    let mounted = Mounted::new(slot.file(), point)?;
    let recipe = Recipe { binary: binary(), data: mounted.path().join("data") };
    let looked = look_again(&recipe, ledger, tally);
    mounted.unmount()?;
    looked
}

/// Of what was left out on purpose, how much was found; and what should have been and was not.
pub fn judge(seen: &[Seen]) -> (u64, u64, Vec<String>) {
    let (mut tried, mut caught) = (0, 0);
    let mut missed = Vec::new();
    for one in seen {
        let Some(certain) = one.plan.planted() else { continue };
        tried += 1;
        if one.tally.odd() > 0 {
            caught += 1;
        } else if certain {
            missed.push(format!(
                "a durable write was left out, and nothing was found: {:?}",
                one.plan
            ));
        }
    }
    if tried > 0 && caught == 0 {
        missed.push(format!("of {tried} durable writes that were left out none was missed"));
    }
    (tried, caught, missed)
}

/// The states of a range, and some planted ones.
pub fn plans(
    log: &WriteLog,
    (all, planted): (u64, usize),
    number: u64,
    which: std::ops::Range<usize>,
) -> Vec<Plan> {
    let plans = states::plan(log, all as usize, number);
    let mut plans: Vec<Plan> = plans.into_iter().take(which.end).skip(which.start).collect();
    plans.extend(states::planted(log, planted, number));
    plans
}
