//! `simulator world --bugs`: bugs that are planted, to show that each workload's check would find one like them.
//!
//! A bug is planted for the whole process, so each has a process of its own; as many run at a time as there are CPUs.

use std::process::ExitCode;

#[cfg(not(feature = "seeded-bugs"))]
pub(super) fn main(_planted: Option<usize>, _from: u64) -> ExitCode {
    eprintln!("simulator: --bugs needs a build with the feature seeded-bugs");
    ExitCode::from(2)
}

#[cfg(feature = "seeded-bugs")]
pub(super) fn main(planted: Option<usize>, from: u64) -> ExitCode {
    match planted {
        Some(number) => imp::one(number, from),
        None => imp::all(from),
    }
}

#[cfg(feature = "seeded-bugs")]
mod imp {
    use crate::world::{Faults, Options, Template, run};
    use engine::Bug;
    use std::process::{Command, ExitCode, Stdio};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};
    use workloads::Level;

    /// Worlds in which a bug has time to show.
    const WORLDS: u64 = 60;

    const CRASH: Faults = Faults { crash: true, ..Faults::NONE };

    /// Each bug must be found by the workload beside it.
    const PLANTED: [(Bug, &str, Faults, Option<Level>); 8] = [
        (Bug::EarlyAcknowledge, "ledger", CRASH, None),
        (Bug::EarlyAcknowledge, "bank", CRASH, None),
        (Bug::EarlyAcknowledge, "queue", CRASH, None),
        (Bug::EarlyAcknowledge, "list-append", CRASH, None),
        (Bug::NoConflicts, "bank", Faults::NONE, Some(Level::Snapshot)),
        (Bug::MovingSnapshot, "bank", Faults::NONE, Some(Level::Snapshot)),
        (Bug::DirtyReads, "list-append", Faults::NONE, Some(Level::ReadCommittedSnapshot)),
        (Bug::BriefLocks, "list-append", Faults::NONE, Some(Level::RepeatableRead)),
    ];

    pub(super) fn one(number: usize, from: u64) -> ExitCode {
        let Some(&(bug, workload, faults, level)) = PLANTED.get(number) else {
            eprintln!("simulator: there are {} bugs to plant", PLANTED.len());
            return ExitCode::from(2);
        };
        let template = Template::make();
        engine::plant(bug);
        let caught = (from..from + WORLDS).find_map(|seed| {
            let options = Options { seed, workload: Some(workload.to_owned()), faults, level };
            // By the workload's own check: what else a bug makes odd would not show that the check sees it.
            let by_check = |odd: &String| odd.starts_with(&format!("{workload}: "));
            run(&template, &options).odd.into_iter().find(by_check).map(|odd| (seed, odd))
        });
        match caught {
            Some((seed, odd)) => {
                println!("simulator: {bug:?} in {workload}: caught with seed {seed}: {odd}");
                ExitCode::SUCCESS
            }
            None => {
                println!("simulator: {bug:?} in {workload}: NOT caught in {WORLDS} worlds");
                ExitCode::FAILURE
            }
        }
    }

    pub(super) fn all(from: u64) -> ExitCode {
        let program = match std::env::current_exe() {
            Ok(program) => program,
            Err(error) => {
                eprintln!("simulator: {error}");
                return ExitCode::FAILURE;
            }
        };
        let (next, missed) = (AtomicUsize::new(0), AtomicBool::new(false));
        let side_by_side = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| {
            for _ in 0..side_by_side.min(PLANTED.len()) {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Relaxed);
                        if number >= PLANTED.len() {
                            return;
                        }
                        let mut command = Command::new(&program);
                        command.args(["world", "--planted", &number.to_string()]);
                        command.args(["--seeds", &from.to_string()]);
                        // What a caught bug makes the server say is of no interest.
                        let output = command.stderr(Stdio::null()).output();
                        let said = output.as_ref().map(|o| String::from_utf8_lossy(&o.stdout));
                        print!("{}", said.unwrap_or_default());
                        if !output.is_ok_and(|output| output.status.success()) {
                            let (bug, workload, ..) = PLANTED[number];
                            println!("simulator: {bug:?} in {workload}: not shown");
                            missed.store(true, Relaxed);
                        }
                    }
                });
            }
        });
        if missed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
    }
}
