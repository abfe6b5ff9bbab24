//! `millrace doctor`: what this machine can and cannot measure, and why.
//!
//! Each check is a line: `ok`, `so-so` (figures are right but slower or noisier than they could be)
//! or `no`. The exit code is a failure only if the engine could not run here at all.

use device::{File, FileSystem, IoMode, OpenOptions, RealFs};
use runtime::{clock, threads};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use telemetry::WaitType;

#[derive(clap::Args)]
pub struct Args {
    /// The folder that would hold the data.
    #[arg(long, default_value = ".", value_name = "DIR")]
    data: PathBuf,
}

enum Verdict {
    Ok,
    SoSo,
    No,
}

fn say(verdict: Verdict, what: &str, why: &str) {
    let mark = match verdict {
        Verdict::Ok => "ok   ",
        Verdict::SoSo => "so-so",
        Verdict::No => "no   ",
    };
    println!("{mark}  {what}: {why}");
}

fn read(path: &str) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

pub fn run(args: Args) -> ExitCode {
    cpus();
    clock_source();
    huge_pages();
    profiler();
    match device(&args.data) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(Verdict::No, "data folder", &format!("{}: {error}", args.data.display()));
            ExitCode::FAILURE
        }
    }
}

fn cpus() {
    let mine = threads::process_affinity();
    match topology::Topology::discover() {
        Err(error) => say(Verdict::SoSo, "topology", &format!("/sys cannot be read: {error}")),
        Ok(t) => {
            let why = format!("{} usable, {} node(s)", mine.len(), t.nodes.len());
            say(Verdict::Ok, "CPUs", &why);
            if t.nodes.len() < 2 {
                let why = "one node: local against remote memory cannot be measured here";
                say(Verdict::No, "NUMA", why);
            }
            if let Some(quota) = t.quota_cpus.filter(|&q| q < mine.len() as f64) {
                let why = format!(
                    "the control group allows {quota} CPUs' worth: long runs are throttled"
                );
                say(Verdict::SoSo, "CPU quota", &why);
            }
        }
    }
    if read("/proc/cpuinfo").is_some_and(|t| t.contains("hypervisor")) {
        let why =
            "a virtual machine: waking a sleeping CPU costs some 40 us, and neighbours add noise";
        say(Verdict::SoSo, "bare metal", why);
    }
}

fn clock_source() {
    let name = read("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    let began = clock::now_ns();
    let n = 100_000;
    (0..n).for_each(|_| {
        std::hint::black_box(clock::now_ns());
    });
    let each = (clock::now_ns() - began) as f64 / f64::from(n);
    let why = format!("{} ({each:.0} ns a reading)", name.as_deref().unwrap_or("unknown"));
    say(if each < 100.0 { Verdict::Ok } else { Verdict::SoSo }, "clock", &why);
}

fn huge_pages() {
    match read("/sys/kernel/mm/transparent_hugepage/enabled") {
        Some(text) if text.contains("[never]") => {
            say(
                Verdict::SoSo,
                "huge pages",
                "transparent huge pages are off: more misses of the TLB",
            );
        }
        Some(_) => say(Verdict::Ok, "huge pages", "transparent huge pages can be asked for"),
        None => say(Verdict::SoSo, "huge pages", "this kernel has none"),
    }
}

fn profiler() {
    match read("/proc/sys/kernel/perf_event_paranoid").and_then(|t| t.parse::<i32>().ok()) {
        None => say(Verdict::No, "profiles", "the kernel has no perf events"),
        Some(level) if level > 2 => {
            let why = format!("kernel.perf_event_paranoid is {level}: sampling needs privileges");
            say(Verdict::SoSo, "profiles", &why);
        }
        Some(level) => {
            say(Verdict::Ok, "profiles", &format!("kernel.perf_event_paranoid is {level}"))
        }
    }
}

fn device(folder: &Path) -> std::io::Result<()> {
    match RealFs::new(IoMode::Uring) {
        Ok(_) => say(Verdict::Ok, "io_uring", "available"),
        Err(error) => {
            say(Verdict::SoSo, "io_uring", &format!("refused ({error}): I/O threads are used"));
        }
    }
    let fs = RealFs::new(IoMode::Auto)?;
    let path = folder.join(format!("millrace-doctor-{}.tmp", std::process::id()));
    let file = fs.open(&path, OpenOptions::create().direct())?;
    let measured = flush(&file);
    fs.remove(&path)?;
    let (p10_us, p50_us, p99_us) = measured?;
    let why = format!(
        "4 KiB durable writes take {p10_us:.0} / {p50_us:.0} / {p99_us:.0} us (p10 / p50 / p99)"
    );
    if file.align() > 1 {
        say(Verdict::Ok, "direct I/O", "available in the data folder");
    } else {
        say(
            Verdict::SoSo,
            "direct I/O",
            "this file system has none: writes go through the page cache",
        );
    }
    if p50_us < 5.0 {
        let why = format!("{why}: too fast to reach a device; is this memory?");
        say(Verdict::SoSo, "durable writes", &why);
    } else {
        say(Verdict::Ok, "durable writes", &why);
    }
    Ok(())
}

/// Latency of 300 durable writes by a scheduler's task: p10, p50, p99 in microseconds.
fn flush(file: &Arc<dyn File>) -> std::io::Result<(f64, f64, f64)> {
    const WRITES: u64 = 300;
    file.allocate(0, WRITES * 4096)?;
    let schedulers = scheduler::Schedulers::start(scheduler::Config::with_count(1))?;
    let file = file.clone();
    let task = schedulers.spawn("doctor", None, move || -> std::io::Result<Vec<u64>> {
        let bytes = stdx::AlignedBuf::zeroed(4096);
        (0..WRITES)
            .map(|i| {
                let began = clock::now_ns();
                file.write_all_at(i * 4096, &bytes, true, WaitType::WriteLog)?;
                Ok(clock::now_ns() - began)
            })
            .collect()
    });
    let latencies =
        task.join().map_err(|_| std::io::Error::other("the measuring task panicked"))?;
    schedulers.stop();
    let mut latencies = latencies?;
    latencies.sort_unstable();
    let at = |q: usize| latencies[latencies.len() * q / 100] as f64 / 1e3;
    Ok((at(10), at(50), at(99)))
}
