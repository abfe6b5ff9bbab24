//! Who makes things go wrong: one trouble after the other, chosen by the seed, and then calm.

use super::World;
use super::client::{Client, Manners};
use device::{Fault, Op};
use runtime::net::{self, Weather};
use runtime::{clock, sim, task};
use std::sync::Arc;
use stdx::Prng;
use telemetry::WaitType;
use workloads::Sql;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
/// Starts in a row that may fail while everything is done to make them.
const STARTS_MAX: u32 = 12;

/// A kind of trouble.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Trouble {
    /// The server is stopped and started.
    Restart,
    PowerLoss,
    /// A few requests to the disk fail, or there is no room; then a restart, for the log may be shut.
    DiskError,
    /// Requests to the disk take seconds.
    DiskStalls,
    Network,
    /// Every connection is reset at once.
    Resets,
    WallClock,
    /// Nothing runs for a while: a machine that was stopped.
    Freeze,
    Kill,
    Checkpoint,
}

/// See the file's page.
pub struct Nemesis {
    world: Arc<World>,
    rng: Prng,
}

impl Nemesis {
    pub fn new(world: Arc<World>, rng: Prng) -> Nemesis {
        Nemesis { world, rng }
    }

    fn sleep(&mut self, up_to_ns: u64) {
        let ns = self.rng.below(up_to_ns) + 1;
        task::sleep_ns(ns, WaitType::SleepTask);
    }

    fn count(&self, what: &'static str) {
        self.world.with_found(|found| found.count(what));
    }

    fn kinds(&self) -> Vec<Trouble> {
        use Trouble::*;
        let faults = self.world.options.faults;
        let mut kinds = vec![Restart, Checkpoint, Kill];
        if faults.crash {
            kinds.extend([PowerLoss; 4]);
        }
        if faults.disk {
            kinds.extend([DiskError, DiskError, DiskStalls]);
        }
        if faults.network {
            kinds.extend([Network, Network, Resets]);
        }
        if faults.clock {
            kinds.extend([WallClock, Freeze]);
        }
        kinds
    }

    /// Trouble after trouble. `None`: something hangs, and has been told.
    pub fn rage(&mut self) -> Option<()> {
        let kinds = self.kinds();
        for _ in 0..2 + self.rng.below(7) {
            self.sleep(4 * SECOND);
            let kind = kinds[self.rng.below(kinds.len() as u64) as usize];
            self.bring(kind)?;
        }
        Some(())
    }

    fn bring(&mut self, kind: Trouble) -> Option<()> {
        match kind {
            Trouble::Restart => {
                self.count("restarts");
                self.stop()?;
                self.start(false)?;
            }
            Trouble::PowerLoss => self.lose_power()?,
            Trouble::DiskError => self.disk_error()?,
            Trouble::DiskStalls => {
                self.count("stalls");
                self.world.host.fs().set_stalls(5, 3 * SECOND);
                self.sleep(10 * SECOND);
                self.world.host.fs().set_stalls(0, 0);
            }
            Trouble::Network => {
                self.count("weather");
                net::set_weather(Weather {
                    delay_ns_max: [0, 5 * MS, 200 * MS, 3 * SECOND][self.rng.below(4) as usize],
                    reset_one_in: self.rng.below(4),
                    silent_one_in: if self.rng.one_in(3) { 3 } else { 0 },
                    after_bytes_max: [300, 3_000, 40_000][self.rng.below(3) as usize],
                    unreachable: self.rng.one_in(6),
                });
                // Only new connections have the new weather.
                if self.rng.one_in(2) {
                    net::reset_all();
                }
                self.sleep(15 * SECOND);
                net::set_weather(Weather::default());
            }
            Trouble::Resets => {
                self.count("resets");
                net::reset_all();
            }
            Trouble::WallClock => {
                self.count("clock set");
                let far =
                    [SECOND, 3_600 * SECOND, 400 * 86_400 * SECOND][self.rng.below(3) as usize];
                let by = self.rng.below(far) as i64;
                sim::shift_wall(if self.rng.one_in(2) { by } else { -by });
            }
            Trouble::Freeze => {
                self.count("freezes");
                let most = if self.rng.one_in(2) { SECOND } else { 100 * SECOND };
                let ns = self.rng.below(most);
                sim::advance_to(clock::now_ns() + ns);
            }
            Trouble::Kill => {
                self.count("KILL");
                for _ in 0..1 + self.rng.below(3) {
                    let batch = format!("KILL {}", 51 + self.rng.below(12));
                    self.administer(&batch);
                }
            }
            Trouble::Checkpoint => {
                self.count("CHECKPOINT");
                self.administer("CHECKPOINT");
            }
        }
        Some(())
    }

    /// A batch on a connection of its own. What it says does not matter.
    fn administer(&mut self, batch: &str) {
        let mut client = Client::new(Prng::new(self.rng.next_u64()), Manners::default());
        let _ = client.run(batch);
    }

    fn lose_power(&mut self) -> Option<()> {
        self.count("power losses");
        let fs = self.world.host.fs();
        // At a request to the disk, or between two.
        if self.rng.one_in(2) {
            fs.power_off_at(Some(fs.ops() + self.rng.below(60)));
            for _ in 0..20 {
                if !fs.is_on() {
                    break;
                }
                task::sleep_ns(50 * MS, WaitType::SleepTask);
            }
        }
        fs.power_off();
        if self.rng.one_in(2) {
            net::reset_all();
        }
        self.power_cycle()?;
        self.start(true)
    }

    /// The power is off: the server ends on a dead disk, and the disk is what it is then.
    fn power_cycle(&mut self) -> Option<()> {
        self.world.workloads.iter().for_each(|workload| workload.power_lost());
        self.stop()?;
        let image = self.world.host.power_on(self.rng.next_u64());
        self.world.with_found(|found| found.images.push(image));
        Some(())
    }

    fn disk_error(&mut self) -> Option<()> {
        self.count("disk errors");
        let fs = self.world.host.fs();
        for _ in 0..1 + self.rng.below(2) {
            let ops = [Op::Read, Op::Write, Op::WriteDurable, Op::Sync];
            let op = match self.rng.below(5) {
                4 => None,
                n => Some(ops[n as usize]),
            };
            fs.inject(Fault {
                op,
                after: self.rng.below(40),
                times: [1, 1, 5, u64::MAX][self.rng.below(4) as usize],
                errno: [libc::EIO, libc::EIO, libc::ENOSPC][self.rng.below(3) as usize],
            });
        }
        self.sleep(5 * SECOND);
        fs.clear_faults();
        if self.world.options.faults.crash && self.rng.one_in(2) {
            self.count("power losses");
            fs.power_off();
            self.power_cycle()?;
        } else {
            self.stop()?;
        }
        self.start(false)
    }

    fn stop(&mut self) -> Option<()> {
        match self.world.host.stop() {
            Ok(_) => Some(()),
            Err(what) => {
                self.world.odd(what);
                None
            }
        }
    }

    /// Starts the server. `trouble`: with chance the power goes again while it does.
    fn start(&mut self, trouble: bool) -> Option<()> {
        for attempt in 0..STARTS_MAX {
            let fs = self.world.host.fs();
            let troubled = trouble && attempt < 3 && self.rng.one_in(3);
            if troubled {
                fs.power_off_at(Some(fs.ops() + self.rng.below(400)));
            }
            let started = self.world.host.start();
            if troubled {
                if started.is_ok() && self.rng.one_in(2) {
                    // Recovery may go on behind the first users.
                    self.sleep(SECOND);
                }
                let went = !fs.is_on();
                fs.power_off_at(None);
                if went || started.is_err() {
                    self.count("power losses while starting");
                    fs.power_off();
                    self.power_cycle()?;
                    continue;
                }
            }
            match started {
                Ok(()) if self.world.host.has_database() => return Some(()),
                Ok(()) => {
                    self.world.odd("the database is not open after a start".to_owned());
                    return None;
                }
                Err(what) => {
                    self.world.odd(format!("the server does not start: {what}"));
                    return None;
                }
            }
        }
        self.world.odd("the server did not start".to_owned());
        None
    }

    /// Nothing fails from here on.
    pub fn calm(&mut self) -> Option<()> {
        net::set_weather(Weather::default());
        *self.world.calm_since_ns.lock().unwrap() = Some(clock::now_ns());
        Some(())
    }

    /// Every worker is done: a last start, after a loss of power or an orderly end, so that what is checked comes from
    /// the disk.
    pub fn last_start(&mut self) -> Option<()> {
        if self.world.options.faults.crash && self.rng.one_in(2) {
            self.count("power losses");
            self.world.host.fs().power_off();
            self.power_cycle()?;
        } else {
            match self.world.host.stop() {
                Ok(None) => {}
                Ok(Some(what)) => self.world.odd(format!("the server ended with: {what}")),
                Err(what) => {
                    self.world.odd(what);
                    return None;
                }
            }
        }
        self.start(false)
    }

    /// The end: nothing fails, so nothing may be said.
    pub fn last_stop(&mut self) -> Option<()> {
        match self.world.host.stop() {
            Ok(None) => Some(()),
            Ok(Some(what)) | Err(what) => {
                self.world.odd(format!("the last end: {what}"));
                None
            }
        }
    }
}
