//! One worker: a client that does the steps of a workload, and comes again when its connection is gone.

use super::World;
use super::client::{CANCELLED, Client, Manners, UNREACHED};
use runtime::task::sleep_ns;
use std::sync::Arc;
use stdx::Prng;
use telemetry::WaitType;
use workloads::{Ended, Tables, Workload, is_retried};

/// How long a worker may take to finish when nothing fails any more (simulated nanoseconds).
pub const PATIENCE_NS: u64 = 900_000_000_000;

pub struct Worker {
    pub world: Arc<World>,
    pub workload: Arc<dyn Workload>,
    pub number: usize,
    pub rng: Prng,
    /// Transactions to do.
    pub steps: u64,
}

impl Worker {
    pub fn run(mut self) {
        let network = self.world.options.faults.network;
        let manners = Manners {
            attention_one_in: if network && self.rng.one_in(2) { 25 } else { 0 },
            dawdle_one_in: if network && self.rng.one_in(3) { 20 } else { 0 },
            lock_timeout_ms: if self.rng.one_in(3) { Some(self.rng.below(3_000)) } else { None },
            xact_abort: self.rng.one_in(2),
        };
        let mut client = Client::new(Prng::new(self.rng.next_u64()), manners);
        while self.steps > 0 {
            let step = self.workload.step(self.number, &mut self.rng, &mut client);
            match step {
                Ok(Ended::Committed) => self.world.with_found(|found| found.committed += 1),
                Ok(Ended::RolledBack) => self.world.with_found(|found| found.rolled_back += 1),
                Ok(Ended::Refused(number, text)) => self.refused(number, text),
                Err(workloads::Lost) => {
                    self.world.with_found(|found| found.lost += 1);
                    if let Some((number, text)) = client.refusal.take() {
                        self.refused(number, text);
                    }
                    client.renew();
                    // A server that is away is asked again, not all the time. Its absence is no step.
                    sleep_ns(20_000_000 + self.rng.below(500_000_000), WaitType::SleepTask);
                    if self.world.is_calm() {
                        self.steps -= 1;
                    }
                    continue;
                }
            }
            self.steps -= 1;
            if self.rng.one_in(3) {
                sleep_ns(self.rng.below(400_000_000), WaitType::SleepTask);
            }
        }
    }

    fn refused(&self, number: i32, text: String) {
        let explained = self.world.explains(number, &text);
        self.world.with_found(|found| {
            if !explained && !found.refused.contains_key(&number) {
                found.odd.push(format!("{} was refused: {number} {text}", self.workload.name()));
            }
            let entry = found.refused.entry(number).or_insert((0, text));
            entry.0 += 1;
        });
    }
}

impl World {
    /// Whether an error is one that this world may lead to.
    fn explains(&self, number: i32, _text: &str) -> bool {
        let faults = self.options.faults;
        match number {
            // Victims of each other; a lock time-out that the client has asked for; killed; cancelled.
            1205 | 1222 | 3960 | 596 | CANCELLED | UNREACHED => true,
            // The same over tables in memory, where nobody waits.
            number if is_retried(number) => self.options.tables() != Tables::Disk,
            // The log, or the database, is not available since a request to the disk failed; reading or writing failed;
            // no room.
            9001 | 823 | 942 | 1101 | 1105 | 9002 | 945 | 927 | 4060 | 3314 | 3908 => {
                faults.disk || faults.crash
            }
            _ => false,
        }
    }
}
