//! Sampled waits: a thread looks at all sessions again and again, and each look stands for the time since the last.
//!
//! A sampled wait time is an estimate: with `n` looks that found a session waiting, its standard error is about
//! `sqrt(n)` looks. What happens between two looks is not seen.

use crate::error::RivalError;
use crate::wait::{WaitClass, WaitTotal};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// By the rival's own name of the wait.
pub type WaitTotals = BTreeMap<String, WaitTotal>;

/// A look: the wait that each session is in now.
pub type Look = Box<dyn FnMut(&mut dyn FnMut(&str, WaitClass)) -> Result<(), RivalError> + Send>;

#[derive(Default)]
struct Kept {
    totals: WaitTotals,
    failed: Option<RivalError>,
}

/// A thread that looks.
pub struct Sampler {
    kept: Arc<Mutex<Kept>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Sampler {
    /// Looks once every `interval`, until dropped or until a look fails.
    pub fn start(interval: Duration, mut look: Look) -> std::io::Result<Sampler> {
        let kept = Arc::new(Mutex::new(Kept::default()));
        let stop = Arc::new(AtomicBool::new(false));
        let (theirs, stopped) = (kept.clone(), stop.clone());
        let thread = std::thread::Builder::new().name("waits".to_owned()).spawn(move || {
            let mut then = Instant::now();
            while !stopped.load(Relaxed) {
                std::thread::sleep(interval);
                let mut seen = Vec::new();
                let looked = look(&mut |name, class| seen.push((name.to_owned(), class)));
                let now = Instant::now();
                let ms = (now - then).as_secs_f64() * 1e3;
                then = now;
                let mut kept = theirs.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(error) = looked {
                    kept.failed = Some(error);
                    return;
                }
                for (name, class) in seen {
                    let total =
                        kept.totals.entry(name).or_insert(WaitTotal { class, count: 0, ms: 0.0 });
                    total.count += 1;
                    total.ms += ms;
                }
            }
        })?;
        Ok(Sampler { kept, stop, thread: Some(thread) })
    }

    /// Totals since the start; the error of a look that failed.
    pub fn totals(&self) -> Result<WaitTotals, RivalError> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        match &kept.failed {
            Some(error) => Err(error.clone().during("sampling waits")),
            None => Ok(kept.totals.clone()),
        }
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            // A look that panicked has told so on standard error.
            let _ = thread.join();
        }
    }
}
