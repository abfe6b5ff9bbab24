//! The harnesses of `tests/faults`: power cuts, requests and system calls that fail, a guest of QEMU whose disk
//! forgets, and a long life, each of the real binary.

use std::path::PathBuf;

use crate::build::Build;
use crate::run::{Failure, Step, target_directory};

/// What `cargo xtask test` runs of each. Where this user may not mount, a line says so; in CI that is a failure.
pub fn short(build: Build) -> Result<(), Failure> {
    let root = std::process::Command::new("id").arg("-u").output();
    let root = root.is_ok_and(|output| output.stdout.starts_with(b"0"));
    let fuse = std::fs::OpenOptions::new().read(true).write(true).open("/dev/fuse").is_ok();
    if !(root && fuse) && std::env::var_os("CI").is_none() {
        println!("xtask: power cuts and faults are left out: they need root and /dev/fuse");
        return Ok(());
    }
    let harness = Harness::of(build)?;
    // Each mostly waits for a server of its own.
    std::thread::scope(|scope| {
        let calls =
            scope.spawn(|| harness.step(CALLS).args(["syscalls", "--seconds", "1200"]).run());
        let cuts = harness.step(CUTS).args(["powercut", "--cases", "50"]).run();
        let errors = harness.step(REQUESTS).args(["disk-errors", "--seconds", "900"]).run();
        let calls =
            calls.join().unwrap_or_else(|_| Err(Failure("a fault run panicked".to_owned())));
        cuts.and(errors).and(calls)
    })
}

/// The server in a guest of QEMU. Where what it needs lacks, a line says so; in CI that is a failure.
pub fn guest(
    build: Build,
    states: u64,
    seed: u64,
    per_recording: Option<u64>,
) -> Result<(), Failure> {
    if !has_guest(true)? {
        return Ok(());
    }
    let harness = Harness::of(build)?;
    let each = per_recording.map(|each| format!("--per-recording={each}"));
    harness
        .step(GUEST)
        .args(["guest", "--states", &states.to_string(), "--seed", &seed.to_string()])
        .args(each.as_deref())
        .run()
}

/// The same on a machine of so many NUMA nodes: who runs where, whose memory is whose, and the lab's experiments on nodes, all
/// of them or two.
pub fn guest_of_nodes(build: Build, nodes: u8, experiments: bool) -> Result<(), Failure> {
    if !has_guest(false)? {
        return Ok(());
    }
    let harness = Harness::of(build)?;
    harness
        .step(NODES)
        .args(["guest", "--numa", &nodes.to_string()])
        .args(experiments.then_some("--experiments"))
        .run()
}

/// Whether there can be a guest here, and whether its disks can be mounted if they are to be; an error in CI if not.
fn has_guest(mounts: bool) -> Result<bool, Failure> {
    let lacks = lacking(mounts);
    if lacks.is_empty() {
        return Ok(true);
    }
    let lacks = format!("the guest needs {}", lacks.join(", "));
    if std::env::var_os("CI").is_some() {
        return Err(Failure(lacks));
    }
    println!("xtask: the guest is left out: {lacks}");
    Ok(false)
}

/// What the guest needs and this machine does not have.
fn lacking(mounts: bool) -> Vec<String> {
    let has = |program: &str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let mut folders: Vec<_> = std::env::split_paths(&path).collect();
        folders.extend(["/usr/sbin", "/sbin"].map(std::path::PathBuf::from));
        folders.iter().any(|folder| folder.join(program).is_file())
    };
    let mut lacks = Vec::new();
    if std::env::consts::ARCH != "x86_64" {
        lacks.push("an x86-64 machine".to_owned());
    }
    if mounts {
        lacking_for_mounts(&mut lacks);
    }
    for (program, package) in [
        ("qemu-system-x86_64", "qemu-system-x86"),
        ("mke2fs", "e2fsprogs"),
        ("apt-get", "Debian's archive, for a kernel"),
        ("dpkg-deb", "dpkg"),
    ] {
        if !has(program) {
            lacks.push(format!("{program} ({package})"));
        }
    }
    lacks
}

fn lacking_for_mounts(lacks: &mut Vec<String>) {
    let root = std::process::Command::new("id").arg("-u").output();
    if !root.is_ok_and(|output| output.stdout.starts_with(b"0")) {
        lacks.push("root, to mount the disks' states".to_owned());
    }
    if !std::path::Path::new("/dev/loop-control").exists() {
        lacks.push("/dev/loop-control".to_owned());
    }
    let kinds = std::fs::read_to_string("/proc/filesystems").unwrap_or_default();
    // A kernel that has it as a module loads it when it is asked for.
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let modules = std::path::Path::new("/lib/modules").join(release.trim()).join("kernel/fs/ext4");
    if !kinds.split_whitespace().any(|kind| kind == "ext4") && !modules.is_dir() {
        lacks.push("a kernel with ext4, to replay the states' journals".to_owned());
    }
}

const ATTACK: &str = "a login that does its worst harms no neighbour";
const SOAK: &str = "one long life under load";
const GUEST: &str = "a guest whose disk forgets, refuses and loses power";
const NODES: &str = "a guest with NUMA nodes: who runs where, whose memory is whose";
const CUTS: &str = "power cuts on a file system that forgets";
const REQUESTS: &str = "every kind of request to the file system fails once";
const CALLS: &str = "every system-call site fails once";

/// The power goes, on a file system that forgets what was not synced.
pub fn powercut(build: Build, cases: u64, seed: u64) -> Result<(), Failure> {
    let harness = Harness::of(build)?;
    harness
        .step(CUTS)
        .args(["powercut", "--cases", &cases.to_string(), "--seed", &seed.to_string()])
        .run()
}

/// Every kind of request to the file system fails, then every system-call site.
pub fn faults(build: Build, all: bool, seed: u64) -> Result<(), Failure> {
    let harness = Harness::of(build)?;
    let seed = seed.to_string();
    for (promise, command) in [(REQUESTS, "disk-errors"), (CALLS, "syscalls")] {
        harness
            .step(promise)
            .args([command, "--seed", &seed])
            .args(all.then_some("--all"))
            .run()?;
    }
    Ok(())
}

/// One process lives long under load.
pub fn soak(build: Build, minutes: u64, seed: u64) -> Result<(), Failure> {
    let harness = Harness::of(build)?;
    harness
        .step(SOAK)
        .args(["soak", "--minutes", &minutes.to_string(), "--seed", &seed.to_string()])
        .run()
}

/// A login with `public` alone does its worst.
pub fn attack(build: Build, seconds: u64, seed: u64) -> Result<(), Failure> {
    let harness = Harness::of(build)?;
    let mut step = harness.step(ATTACK).args([
        "attack",
        "--seconds",
        &seconds.to_string(),
        "--seed",
        &seed.to_string(),
    ]);
    if build == Build::Dev {
        step = step.arg("--slow-build");
    }
    step.run()
}

/// The driver of the faults, and the server that it drives.
struct Harness {
    driver: PathBuf,
    server: PathBuf,
}

impl Harness {
    /// The driver itself needs no release build: the server's time is what counts.
    fn of(build: Build) -> Result<Harness, Failure> {
        let server = build.millrace()?;
        Ok(Harness { driver: Build::Dev.binary("faults", "faults")?, server })
    }

    fn step(&self, promise: &str) -> Step {
        Step::new(promise, &self.driver.display().to_string())
            .env("MILLRACE_BINARY", self.server.display().to_string())
            .env("CARGO_TARGET_DIR", target_directory().display().to_string())
    }
}
