//! The fault harnesses of `tests/faults`: power cuts, and requests and system calls that fail, under the real binary.

use crate::run::{Failure, Step, cargo, target_directory};

/// What `cargo xtask test` runs of each. Where this user may not mount, a line says so; in CI that is a failure.
pub fn short() -> Result<(), Failure> {
    let root = std::process::Command::new("id").arg("-u").output();
    let root = root.is_ok_and(|output| output.stdout.starts_with(b"0"));
    let fuse = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !(root && fuse) && std::env::var_os("CI").is_none() {
        println!("xtask: power cuts and faults are left out: they need root and /dev/fuse");
        return Ok(());
    }
    release_binary()?;
    build().run()?;
    // Each mostly waits for a server of its own.
    std::thread::scope(|scope| {
        let calls = scope.spawn(|| harness(CALLS).args(["syscalls", "--seconds", "180"]).run());
        let cuts = harness(CUTS).args(["powercut", "--cases", "50"]).run();
        let errors = harness(REQUESTS).args(["disk-errors", "--seconds", "90"]).run();
        let calls =
            calls.join().unwrap_or_else(|_| Err(Failure("a fault run panicked".to_owned())));
        cuts.and(errors).and(calls)
    })
}

const CUTS: &str = "power cuts on a file system that forgets";
const REQUESTS: &str = "every kind of request to the file system fails once";
const CALLS: &str = "every system-call site fails once";

/// The power goes, on a file system that forgets what was not synced.
pub fn powercut(cases: u64, seed: u64) -> Result<(), Failure> {
    release_binary()?;
    build().run()?;
    harness(CUTS)
        .args(["powercut", "--cases", &cases.to_string(), "--seed", &seed.to_string()])
        .run()
}

/// Every kind of request to the file system fails, then every system-call site.
pub fn faults(all: bool, seed: u64) -> Result<(), Failure> {
    release_binary()?;
    build().run()?;
    let seed = seed.to_string();
    for (promise, command) in [(REQUESTS, "disk-errors"), (CALLS, "syscalls")] {
        harness(promise).args([command, "--seed", &seed]).args(all.then_some("--all")).run()?;
    }
    Ok(())
}

fn release_binary() -> Result<(), Failure> {
    cargo("the release binary", &["build", "--release", "--quiet", "--package", "millrace"]).run()
}

/// The driver itself needs no release build: the server's time is what counts.
fn build() -> Step {
    cargo("the driver of the faults", &["build", "--quiet", "--package", "faults"])
}

fn harness(promise: &str) -> Step {
    let target = target_directory();
    Step::new(promise, &target.join("debug/faults").display().to_string())
        .env("MILLRACE_BINARY", target.join("release/millrace").display().to_string())
        .env("CARGO_TARGET_DIR", target.display().to_string())
}
