//! CPU samples of this process over a window: who was running, and who had called it.
//!
//! The kernel's CPU clock (a software event: no performance counter is needed, so it works in virtual machines) ends
//! a period every millisecond of a thread's CPU time and walks the frame pointers; coroutine stacks are stacks like
//! any other. Each thread has a ring of its own, drained by whoever holds the profiler, and what did not fit is counted.
//!
//! Stacks become names only when the window is over.

mod flame;
mod fold;
mod spinlocks;

use crate::document::Profile;
use perf_event::events::Software;
use perf_event::{Builder, SampleFlag, Sampler};
use std::collections::{BTreeSet, HashMap};
use std::io;

/// Samples per second of CPU time: a prime, so as not to march with anything that happens every millisecond.
const HZ: u64 = 997;
/// A thread's ring: more than a tenth of a second of deep stacks.
const RING_BYTES: usize = 256 << 10;
/// Where memory may not be locked for a ring like that.
const SMALL_RING_BYTES: usize = 32 << 10;
/// Markers between the kernel's part of a chain and the user's, not addresses.
const MARKER_LEAST: u64 = -4095_i64 as u64;
/// Addresses of the kernel lie in the upper half.
const KERNEL_LEAST: u64 = 1 << 63;

/// Samples of all threads of the process.
pub(crate) struct Profiler {
    threads: HashMap<i32, Sampler>,
    with_kernel: bool,
    /// Innermost address first.
    stacks: HashMap<Vec<u64>, u64>,
    samples: u64,
    lost: u64,
    /// Threads that could not be sampled.
    refused: BTreeSet<i32>,
}

impl Profiler {
    /// Begins with the threads there are; those that come later are found by [`Self::drain`]. The text says what to do
    /// when sampling is not allowed.
    pub fn start() -> Result<Profiler, String> {
        let mut profiler = Profiler {
            threads: HashMap::new(),
            with_kernel: true,
            stacks: HashMap::new(),
            samples: 0,
            lost: 0,
            refused: BTreeSet::new(),
        };
        let probe = sampler(0, true).or_else(|_| {
            profiler.with_kernel = false;
            sampler(0, false)
        });
        match probe {
            Ok(_) => {
                profiler.attach();
                Ok(profiler)
            }
            Err(error) => Err(refusal(&error)),
        }
    }

    fn attach(&mut self) {
        let Ok(tasks) = std::fs::read_dir("/proc/self/task") else { return };
        let ids = tasks.flatten().filter_map(|task| task.file_name().to_str()?.parse().ok());
        for id in ids {
            if self.threads.contains_key(&id) || self.refused.contains(&id) {
                continue;
            }
            match sampler(id, self.with_kernel) {
                Ok(sampler) => drop(self.threads.insert(id, sampler)),
                Err(_) => drop(self.refused.insert(id)),
            }
        }
    }

    /// Takes what the rings hold. Called at least every tenth of a second or so.
    pub fn drain(&mut self) {
        for sampler in self.threads.values_mut() {
            while let Some(record) = sampler.next_record() {
                match record.parse_record() {
                    Ok(perf_event::data::Record::Sample(sample)) => {
                        let Some(chain) = sample.callchain() else { continue };
                        let stack = chain.iter().copied().filter(|&address| address < MARKER_LEAST);
                        *self.stacks.entry(stack.collect()).or_default() += 1;
                        self.samples += 1;
                    }
                    Ok(perf_event::data::Record::Lost(lost)) => self.lost += lost.lost,
                    _ => {}
                }
            }
        }
        self.attach();
    }

    /// Ends the sampling. Naming the stacks may take a second or two: [`Samples::profile`].
    pub fn finish(mut self) -> Samples {
        self.drain();
        Samples {
            method: format!(
                "perf_event_open cpu-clock at {HZ} Hz of CPU time, frame pointers{}",
                if self.with_kernel {
                    ""
                } else {
                    "; time in the kernel is left out (not allowed here)"
                }
            ),
            stacks: self.stacks,
            samples: self.samples,
            lost: self.lost,
        }
    }
}

/// Stacks that were sampled, as addresses.
pub(crate) struct Samples {
    method: String,
    stacks: HashMap<Vec<u64>, u64>,
    samples: u64,
    lost: u64,
}

impl Samples {
    /// Names, folds and draws; `waits` is the time not on the CPU, by wait type in microseconds with its category.
    pub fn profile(&self, waits: &[(String, &str, u64)]) -> Profile {
        let folded = fold::fold(&self.stacks);
        let off_cpu =
            waits.iter().map(|(name, category, us)| (format!("{category};{name}"), *us)).collect();
        Profile {
            method: self.method.clone(),
            samples: self.samples,
            lost: self.lost,
            flame_svg: flame::draw(&folded, flame::Way::FromRoot),
            inverted_svg: flame::draw(&folded, flame::Way::FromLeaf),
            off_cpu,
            functions: fold::functions(&folded),
            spinlocks: spinlocks::shares(&folded),
            folded: fold::most_frequent(folded),
        }
    }
}

/// A ring for one thread (0: the caller's).
fn sampler(thread: i32, with_kernel: bool) -> io::Result<Sampler> {
    let open = || {
        Builder::new(Software::CPU_CLOCK)
            .observe_pid(thread)
            .any_cpu()
            .exclude_kernel(!with_kernel)
            .exclude_hv(true)
            .sample_frequency(HZ)
            .sample(SampleFlag::IP | SampleFlag::CALLCHAIN)
            .enabled(true)
            .build()
    };
    open()?.sampled(RING_BYTES).or_else(|_| open()?.sampled(SMALL_RING_BYTES))
}

fn refusal(error: &io::Error) -> String {
    let level = std::fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
    let level = level.map(|text| text.trim().to_owned()).unwrap_or_else(|_| "unknown".to_owned());
    format!(
        "the CPU cannot be sampled here ({error}; kernel.perf_event_paranoid is {level}): run as root, or \
         `sysctl kernel.perf_event_paranoid=1`, or in a container allow perf_event_open"
    )
}

#[cfg(test)]
mod tests;
