//! Bugs that are planted, each in a process of its own: a bug is planted for all of one.

use std::process::{Command, ExitCode, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::*};

/// Runs `simulator HARNESS --planted N` for each of `bugs`, by whose numbers the harness knows them; as many at a time as
/// there are CPUs. Fails unless each was caught.
pub fn all(harness: &str, arguments: &[String], bugs: &[String]) -> ExitCode {
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
        for _ in 0..side_by_side.min(bugs.len()) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Relaxed);
                    let Some(bug) = bugs.get(number) else { return };
                    let mut command = Command::new(&program);
                    command.args([harness, "--planted", &number.to_string()]).args(arguments);
                    // What a caught bug makes the server say is of no interest.
                    let output = command.stderr(Stdio::null()).output();
                    let said = output.as_ref().map(|o| String::from_utf8_lossy(&o.stdout));
                    print!("{}", said.unwrap_or_default());
                    if !output.is_ok_and(|output| output.status.success()) {
                        println!("simulator: {bug}: not shown");
                        missed.store(true, Relaxed);
                    }
                }
            });
        }
    });
    if missed.into_inner() { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
