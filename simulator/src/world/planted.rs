//! `simulator world --bugs`: bugs that are planted, to show that each workload's check would find one like them.

use std::process::ExitCode;

#[cfg(not(debug_assertions))]
pub(super) fn main(_planted: Option<usize>, _from: u64) -> ExitCode {
    eprintln!(
        "simulator: --bugs needs a build with debug assertions, as the dev profile makes them"
    );
    ExitCode::from(2)
}

#[cfg(debug_assertions)]
pub(super) fn main(planted: Option<usize>, from: u64) -> ExitCode {
    match planted {
        Some(number) => imp::one(number, from),
        None => imp::all(from),
    }
}

#[cfg(debug_assertions)]
mod imp {
    use crate::world::{Faults, Options, Template, run};
    use engine::Bug;
    use std::process::ExitCode;
    use workloads::{Level, Tables};

    /// Worlds in which a bug has time to show.
    const WORLDS: u64 = 60;

    const CRASH: Faults = Faults { crash: true, ..Faults::NONE };

    /// Each bug must be found by the workload beside it, whose tables live there.
    const PLANTED: [(Bug, &str, Faults, Option<Level>, Tables); 15] = [
        (Bug::EarlyAcknowledge, "ledger", CRASH, None, Tables::Disk),
        (Bug::EarlyAcknowledge, "bank", CRASH, None, Tables::Disk),
        (Bug::EarlyAcknowledge, "queue", CRASH, None, Tables::Disk),
        (Bug::EarlyAcknowledge, "list-append", CRASH, None, Tables::Disk),
        (Bug::NoConflicts, "bank", Faults::NONE, Some(Level::Snapshot), Tables::Disk),
        (Bug::MovingSnapshot, "bank", Faults::NONE, Some(Level::Snapshot), Tables::Disk),
        (
            Bug::DirtyReads,
            "list-append",
            Faults::NONE,
            Some(Level::ReadCommittedSnapshot),
            Tables::Disk,
        ),
        (Bug::BriefLocks, "list-append", Faults::NONE, Some(Level::RepeatableRead), Tables::Disk),
        (Bug::EarlyAcknowledge, "ledger", CRASH, None, Tables::Memory),
        (
            Bug::MissedValidation,
            "list-append",
            Faults::NONE,
            Some(Level::Serializable),
            Tables::Memory,
        ),
        (Bug::EarlyCleanUp, "bank", Faults::NONE, None, Tables::Memory),
        (Bug::LostDelta, "ledger", CRASH, None, Tables::Memory),
        (Bug::LostRow, "ledger", CRASH, None, Tables::Memory),
        (Bug::LostDelta, "bank", CRASH, None, Tables::Mixed),
        (Bug::LostRow, "list-append", CRASH, None, Tables::Mixed),
    ];

    pub(super) fn one(number: usize, from: u64) -> ExitCode {
        let Some(&(bug, workload, faults, level, tables)) = PLANTED.get(number) else {
            eprintln!("simulator: there are {} bugs to plant", PLANTED.len());
            return ExitCode::from(2);
        };
        let template = Template::make();
        engine::plant(bug);
        let caught = (from..from + WORLDS).find_map(|seed| {
            let (named, tables) = (Some(workload.to_owned()), Some(tables));
            let options = Options { seed, workload: named, faults, level, tables };
            // By the workload's own check: what else a bug makes odd would not show that the check sees it.
            let by_check = |odd: &String| odd.starts_with(&format!("{workload}: "));
            run(&template, &options).odd.into_iter().find(by_check).map(|odd| (seed, odd))
        });
        let tables = tables.name();
        match caught {
            Some((seed, odd)) => {
                println!(
                    "simulator: {bug:?} in {workload}, {tables}: caught with seed {seed}: {odd}"
                );
                ExitCode::SUCCESS
            }
            None => {
                println!(
                    "simulator: {bug:?} in {workload}, {tables}: NOT caught in {WORLDS} worlds"
                );
                ExitCode::FAILURE
            }
        }
    }

    pub(super) fn all(from: u64) -> ExitCode {
        let names = PLANTED.map(|(bug, workload, _, _, tables)| {
            format!("{bug:?} in {workload}, {}", tables.name())
        });
        crate::planted::all("world", &["--seeds".to_owned(), from.to_string()], &names)
    }
}
