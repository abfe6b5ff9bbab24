//! What is left of a database's recovery once it is in service: tasks that work on it, and what the server's log says
//! of it, in SQL Server's words (3406, 3407, 3408, 3421, 3450, 3454).
//!
//! Each scheduler gets a task; they yield like everybody, so sessions have their share of the CPUs. One more task only
//! watches: it is the session DB STARTUP of the system views.

use crate::InstanceConfig;
use crate::system_sessions::SystemSessions;
use engine::{Database, RecoveryPhase, RecoveryReport};
use runtime::{clock, task};
use scheduler::{JoinHandle, Schedulers};
use session_state::OpenDatabase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use telemetry::WaitType;

/// Tasks at most.
const TASKS: usize = 8;
/// How often the watch looks, and how often it says how far it is, in nanoseconds.
const LOOK_NS: u64 = 20_000_000;
const SAY_NS: u64 = 5_000_000_000;
const INFORMATIONAL: &str = "This is an informational message only. No user action is required.";
const COMMAND: &str = "DB STARTUP";

/// How many tasks will work on each database's recovery, as far as is known before the schedulers are.
pub(crate) fn tasks(config: &InstanceConfig) -> usize {
    let cpus = match config.cpus.len() {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        n => n,
    };
    cpus.min(TASKS)
}

/// Starts what is needed. The tasks hold the engine, not the database of the instance: they keep nobody from closing
/// it, and end soon after `stop` is set.
pub(crate) fn start(
    open: &OpenDatabase,
    schedulers: &Arc<Schedulers>,
    system: &Arc<SystemSessions>,
    stop: &Arc<AtomicBool>,
) -> Vec<JoinHandle<()>> {
    let (id, engine) = (open.id, open.engine.clone());
    let found = engine.recovery();
    if !engine.is_recovering() {
        if found.pages > 0 || found.losers > 0 {
            say_found(&open.name, id, &found);
            say_completed(&open.name, id, &found);
        }
        return Vec::new();
    }
    say_found(&open.name, id, &found);
    let mut tasks: Vec<JoinHandle<()>> = (0..schedulers.count().min(TASKS))
        .map(|on| {
            let (engine, stop) = (engine.clone(), stop.clone());
            let name = format!("recovery of {}", open.name);
            schedulers.spawn(&name, Some(on), move || engine.run_recovery(&stop))
        })
        .collect();
    let session = system.enter(COMMAND, id.into());
    let (name, system, stop) = (open.name.to_string(), system.clone(), stop.clone());
    tasks.push(schedulers.spawn(&format!("recovery watch of {name}"), None, move || {
        if let Some(session) = session {
            scheduler::set_session(session);
        }
        watch(&engine, &name, id, &stop);
        if let Some(session) = session
            && system.end(session, COMMAND)
        {
            say(&format!("Recovery is complete. {INFORMATIONAL}"));
        }
    }));
    tasks
}

fn watch(engine: &Database, name: &str, id: u16, stop: &AtomicBool) {
    let begun = clock::now_ns();
    let (mut said, mut writing) = (begun, false);
    while !stop.load(Ordering::Acquire) {
        let now = engine.recovery();
        match now.phase {
            RecoveryPhase::Done => return say_completed(name, id, &now),
            RecoveryPhase::Checkpoint if !writing => {
                writing = true;
                say(&format!(
                    "Recovery is writing a checkpoint in database '{name}' ({id}). {INFORMATIONAL}"
                ));
            }
            RecoveryPhase::Recovering if clock::now_ns() - said >= SAY_NS => {
                said = clock::now_ns();
                say_progress(name, id, &now, said - begun);
            }
            _ => {}
        }
        task::park(WaitType::SleepTask, Some(clock::now_ns() + LOOK_NS));
    }
}

fn say_progress(name: &str, id: u16, r: &RecoveryReport, took_ns: u64) {
    let (all, left) = (r.pages + r.losers, r.pages_left + r.losers_left);
    let done = all.saturating_sub(left);
    let percent = done * 100 / all.max(1);
    let remain_s = (took_ns / 1_000_000_000).saturating_mul(left) / done.max(1);
    let phase = if r.pages_left > 0 { 2 } else { 3 };
    say(&format!(
        "Recovery of database '{name}' ({id}) is {percent}% complete (approximately {remain_s} seconds remain). Phase \
         {phase} of 3. {INFORMATIONAL}"
    ));
}

fn say_found(name: &str, id: u16, r: &RecoveryReport) {
    say(&format!(
        "{} transactions rolled forward in database '{name}' ({id}:0). {INFORMATIONAL}",
        r.committed
    ));
    say(&format!(
        "{} transactions rolled back in database '{name}' ({id}:0). {INFORMATIONAL}",
        r.losers
    ));
}

fn say_completed(name: &str, id: u16, r: &RecoveryReport) {
    let ms = |ns: u64| ns / 1_000_000;
    let all = ms(r.analysis_ns + r.redo_ns.max(r.undo_ns)) / 1000;
    say(&format!(
        "Recovery completed for database {name} (database ID {id}) in {all} second(s) (analysis {} ms, redo {} ms, undo \
         {} ms.) {INFORMATIONAL}",
        ms(r.analysis_ns),
        ms(r.redo_ns),
        ms(r.undo_ns),
    ));
}

/// To the server's log.
pub(crate) fn say(text: &str) {
    if tracing::dispatcher::has_been_set() {
        tracing::info!("{text}");
    } else if !runtime::sim::active() {
        eprintln!("{text}");
    }
}
