//! `simulator crash --bugs`: bugs that are planted in analysis, redo, undo and checkpoints, to show that the crash cases
//! would find one like them.

use std::process::ExitCode;

#[cfg(not(debug_assertions))]
pub fn main(_planted: Option<usize>, _from: u64) -> ExitCode {
    eprintln!(
        "simulator: --bugs needs a build with debug assertions, as the dev profile makes them"
    );
    ExitCode::from(2)
}

/// All of them, or the one with this number; cases from `from` on.
#[cfg(debug_assertions)]
pub fn main(planted: Option<usize>, from: u64) -> ExitCode {
    match planted {
        Some(number) => imp::one(number, from),
        None => imp::all(from),
    }
}

#[cfg(debug_assertions)]
mod imp {
    use crate::crash::case::{Template, run};
    use engine::Bug;
    use std::process::ExitCode;

    /// Cases in which a bug has time to show.
    const CASES: u64 = 2_000;

    const PLANTED: [Bug; 10] = [
        Bug::StampsOnly,
        Bug::UndoTwice,
        Bug::NoCompensations,
        Bug::ShortRedo,
        Bug::EagerCheckpoint,
        Bug::EarlyAcknowledge,
        Bug::ForgottenRow,
        Bug::EagerTruncation,
        Bug::LostDelta,
        Bug::LostRow,
    ];

    pub(super) fn one(number: usize, from: u64) -> ExitCode {
        let Some(&bug) = PLANTED.get(number) else {
            eprintln!("simulator: there are {} bugs to plant", PLANTED.len());
            return ExitCode::from(2);
        };
        let template = Template::make();
        engine::plant(bug);
        let caught =
            (from..from + CASES).find_map(|seed| run(&template, seed).odd.map(|odd| (seed, odd)));
        match caught {
            Some((seed, odd)) => {
                println!("simulator: {bug:?}: caught by crash case {seed}: {odd}");
                ExitCode::SUCCESS
            }
            None => {
                println!("simulator: {bug:?}: NOT caught in {CASES} crash cases");
                ExitCode::FAILURE
            }
        }
    }

    pub(super) fn all(from: u64) -> ExitCode {
        let names = PLANTED.map(|bug| format!("{bug:?}"));
        crate::planted::all("crash", &["--seed".to_owned(), from.to_string()], &names)
    }
}
