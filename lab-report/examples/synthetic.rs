//! Writes reports of made-up runs, for the browser test (`cargo xtask report`): `synthetic FOLDER`.
//!
//! - `sweep/report.html`: sessions x durability x log reserve, with everything a cell can have, marks, pairs and
//!   published figures; names in it try to break out of the page.
//! - `rivals/report.html`: several targets, few figures each. `empty/report.html`: cut short before its first cell.
//! - `places/report.html`: nothing numeric varies: bars, no axis.
//! - `ladder/report.html`: no engine, two axes, more combinations than lines.
//! - `compare/compare.html`: two sweeps compared.
//!
//! The figures follow from a fixed seed: two calls write the same files.

use lab::document::{
    Audit, Cell, Comparison, Device, DeviceFlush, FORMAT, Figure, Histogram, Latch, LatencyMoment,
    Machine, Mark, MarkKind, Moment, Node, Profile, Published, Run, Series, Spin, SpinCpu,
    StackShare, TargetDescription, Tick, Verdict, Wait, Warmup, WritePhase,
};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

/// Would run, close its element or open another if it were ever read as HTML.
const HOSTILE: &str = "</script><script>window.broken=1</script><img src=x onerror=\"window.broken=1\">&amp;'\"{{data}}";

fn main() -> ExitCode {
    let Some(folder) = std::env::args().nth(1) else {
        eprintln!("usage: synthetic FOLDER");
        return ExitCode::FAILURE;
    };
    match write(Path::new(&folder)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {folder}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn write(folder: &Path) -> std::io::Result<()> {
    let sweep = sweep(1.0);
    for (name, run) in [
        ("sweep", &sweep),
        ("rivals", &rivals()),
        ("ladder", &ladder()),
        ("places", &places()),
        ("empty", &empty()),
    ] {
        lab_report::write(&folder.join(name), run)?;
    }
    let slower = self::sweep(0.93);
    let compared = lab_report::compare::compare("report/monday", &sweep, HOSTILE, &slower);
    print!("{}", lab_report::comparison_text(&compared));
    lab_report::write_comparison(&folder.join("compare/compare.html"), &sweep, &slower, &compared)?;
    Ok(())
}

/// Numbers from 0 to 1 (an LCG with Knuth's constants): noise that is the same every time.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> f64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as f64 / (1u64 << 31) as f64
    }

    /// About 1, within `share` of it.
    fn near(&mut self, share: f64) -> f64 {
        1.0 + (self.next() - 0.5) * 2.0 * share
    }
}

fn names<V>(pairs: impl IntoIterator<Item = (&'static str, V)>) -> BTreeMap<String, V> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn mark(kind: MarkKind, text: &str) -> Mark {
    Mark { kind, text: text.to_owned() }
}

fn machine() -> Machine {
    Machine {
        cpu_model: "Example CPU at 2.70 GHz".to_owned(),
        cpus: 2,
        cores: 1,
        packages: 1,
        nodes: vec![Node { id: 0, cpus: vec![0, 1], memory_bytes: 24 << 30, distances: vec![10] }],
        memory_bytes: 24 << 30,
        kernel: "Linux 6.1.0".to_owned(),
        architecture: "x86_64".to_owned(),
        clock_source: "tsc".to_owned(),
        virtual_machine: true,
        transparent_huge_pages: "madvise".to_owned(),
        device: Device {
            folder: "/srv/data/a/rather/long/path/to/the/folder/of/the/database/files".to_owned(),
            file_system: "ext4".to_owned(),
            source: "/dev/vda1".to_owned(),
            mount_options: "rw,relatime".to_owned(),
            io_scheduler: "none".to_owned(),
            rotational: Some(false),
            write_cache: "write back".to_owned(),
        },
        load_average: [0.31, 0.22, 0.18],
        ..Machine::default()
    }
}

fn sweep(speed: f64) -> Run {
    let mut noise = Noise(7);
    let mut cells = Vec::new();
    for reserve in ["lanes", "spinlock"] {
        for durability in ["full", "delayed"] {
            for sessions in [1, 2, 4, 10, 40, 128] {
                cells.push(cell(reserve, durability, sessions, speed, &mut noise));
            }
        }
    }
    cells[3].marks.push(mark(MarkKind::Drifted, "Throughput fell by 14% over the window."));
    cells[8].marks.push(mark(MarkKind::Steal, "The hypervisor took 4.1% of the CPU time."));
    cells[23].marks.push(mark(MarkKind::CutShort, "Ended by Ctrl-C after 3.1 s of 10."));
    Run {
        conclusions: Vec::new(),
        format: FORMAT,
        experiment: "singleton-insert".to_owned(),
        what: "N sessions insert row after row into a clustered table, each row its own transaction, from a loop in a \
               procedure. It shows what a commit costs, and what concurrent committers wait for."
            .to_owned(),
        posts: vec![3, 4, 5],
        command: format!("millrace lab run singleton-insert --sessions 1,2,4,10,40,128 --log-reserve lanes,spinlock --durability full,delayed --out '{HOSTILE}'"),
        version: "0.1.0".to_owned(),
        began_unix_s: 1_780_000_000.0,
        seconds: 288.4,
        cut_short: true,
        machine: machine(),
        targets: vec![TargetDescription {
            name: "embedded".to_owned(),
            version: format!("Millrace 0.1.0 {HOSTILE}"),
            settings: names([("buffer_pool_mb", "4096".to_owned()), ("log_queue_depth", "112".to_owned())]),
            notes: vec!["An engine in the lab's own process.".to_owned()],
        }],
        published: published(),
        cannot_show: vec!["The log writer on another socket: this machine has one node.".to_owned()],
        cells,
        comparisons: vec![pairs(&mut noise)],
        marks: vec![mark(MarkKind::CutShort, "Ended by Ctrl-C in cell 24 of 24; the cells before it are whole.")],
    }
}

fn published() -> Vec<Published> {
    let one = |arm: &str, printed: &str, value: f64, sessions: &str| Published {
        post: 3,
        machine: "2 x 10-core E5-2650 v3, SQL Server 2016 CTP".to_owned(),
        arm: arm.to_owned(),
        figure: "rows/s".to_owned(),
        published: printed.to_owned(),
        value: Some(value),
        beside: names([("sessions", sessions.to_owned()), ("durability", "delayed".to_owned())]),
    };
    vec![
        one("40 sessions, all CPUs", "186,915/s", 186_915.0, "40"),
        one("38 sessions, without the log writer's core", "436,781/s", 436_781.0, "38"),
    ]
}

fn pairs(noise: &mut Noise) -> Comparison {
    Comparison {
        figure: "rows_per_s".to_owned(),
        a: "lanes".to_owned(),
        b: "spinlock".to_owned(),
        pairs: 12,
        ratio: 0.871,
        low: 0.858,
        high: 0.884,
        floor: 1.002,
        floor_low: 0.991,
        floor_high: 1.013,
        least_detectable: 1.017,
        verdict: Verdict::Differs,
        ratios: (0..12).map(|_| 0.871 * noise.near(0.03)).collect(),
    }
}

fn cell(reserve: &str, durability: &str, sessions: usize, speed: f64, noise: &mut Noise) -> Cell {
    let full = durability == "full";
    let spinning = reserve == "spinlock";
    let n = sessions as f64;
    let rate = speed
        * noise.near(0.02)
        * match (full, spinning) {
            (true, _) => 5_600.0 * n.powf(0.88),
            (false, false) => 1_900_000.0 * (1.0 - (-n / 1.4).exp()),
            (false, true) => 1_650_000.0 * (1.0 - (-n / 1.2).exp()) / (1.0 + n / 400.0),
        };
    let seconds = 10.0;
    let rows = (rate * seconds) as u64;
    let p50 = if full { 170.0 + n * 1.1 } else { 2.1 + n * 0.2 };
    let spins = if spinning { n.min(40.0) * 2.5 } else { 0.4 };
    Cell {
        experiment: "singleton-insert".to_owned(),
        target: "embedded".to_owned(),
        mode: "procedure".to_owned(),
        sessions,
        durability: durability.to_owned(),
        commit_every: 1,
        rows_per_insert: 1,
        log_reserve: reserve.to_owned(),
        log_writer: "leader".to_owned(),
        seconds,
        rows,
        rows_verified: rows + rows / 5,
        rows_per_s: rate,
        commits_per_s: rate,
        p10_us: Some(p50 * 0.8),
        p50_us: Some(p50),
        p99_us: Some(p50 * 3.4),
        commits_timed: rows,
        cpu_s: Some(18.4),
        schedulers: 2,
        log_flushes_per_s: if full { 6_000.0 } else { 640.0 },
        log_bytes_per_flush: rate * 210.0 / 6_000.0,
        log_mb_per_s: rate * 210.0 / 1e6,
        log_bytes_per_row: 210.0,
        context_switches_per_s: 4_100.0,
        device_flush: full.then_some(DeviceFlush {
            p10_us: 151.0,
            p50_us: 163.0,
            p99_us: 410.0,
            flushes_per_s: 6_100.0,
        }),
        waits: waits(full, n, seconds),
        spins: names([
            ("LOGCACHE_ACCESS", spin(spins * rate * seconds)),
            ("XDESMGR", spin(0.05 * rate * seconds)),
            ("LOGFLUSHQ", Spin::default()),
        ]),
        latches: names([(
            "BUFFER",
            Latch { waiting_requests_count: 812, wait_time_ms: 44.1, max_wait_time_ms: Some(2.3) },
        )]),
        course: (1..=48).map(|i| Moment { at_s: i as f64 * 0.25, rows_per_s: rate }).collect(),
        version: "0.1.0".to_owned(),
        settings: names([
            ("durability", durability.to_owned()),
            ("log_reserve", reserve.to_owned()),
            ("log_writer", "leader".to_owned()),
            ("commit_every", "1".to_owned()),
        ]),
        cpu_ns_per_row: Some(18.4e9 / rows as f64),
        warmup: Warmup {
            seconds: 2.0,
            steady: Some(true),
            why: "Throughput and the mix of waits were stable for 1 s.".to_owned(),
        },
        audit: full.then_some(Audit {
            by_throughput: n * 0.97,
            by_count: n * 0.96,
            by_waits: n * 0.94,
            looks: 4_980,
            spread: 0.021,
            agrees: true,
            tolerance: 0.05,
        }),
        spin_cpu: if spinning {
            names([(
                "LOGCACHE_ACCESS",
                SpinCpu {
                    spins_per_row: spins,
                    ns_per_spin: 1.9,
                    cycles_per_spin: Some(5.1),
                    share_by_clock: 0.171,
                    share_by_profile: Some(0.158),
                },
            )])
        } else {
            BTreeMap::new()
        },
        log_writes: phases(full),
        latency: histogram(p50, rows, noise),
        figures: names([(
            "recovery_s",
            Figure {
                value: 0.84,
                unit: "s".to_owned(),
                what: "Time to open the database again after the cell.".to_owned(),
            },
        )]),
        wait_categories: names(
            [
                ("WRITELOG", "log write"),
                ("LOGBUFFER", "log space"),
                ("PAGELATCH_EX", "latch"),
                ("PAGELATCH_SH", "latch"),
                ("LCK_M_X", "lock"),
                ("PAGEIOLATCH_EX", "data I/O"),
                ("ASYNC_NETWORK_IO", "client"),
                ("SOS_SCHEDULER_YIELD", "CPU and other"),
                ("LAZYWRITER_SLEEP", "idle"),
            ]
            .map(|(name, category)| (name, category.to_owned())),
        ),
        series: Some(series(rate, p50, full, spins, noise)),
        profile: (sessions == 10 && spinning && !full).then(profile),
        ..Cell::default()
    }
}

fn spin(spins: f64) -> Spin {
    Spin {
        collisions: (spins / 300.0) as u64,
        spins: spins as u64,
        spins_per_collision: 300.0,
        sleep_time_ms: spins / 1e7,
        backoffs: (spins / 2_000.0) as u64,
    }
}

fn waits(full: bool, n: f64, seconds: f64) -> BTreeMap<String, Wait> {
    let wait = |share: f64| Wait {
        waiting_tasks_count: (share * 1e5) as u64 + 1,
        wait_time_ms: share * n * seconds * 1e3,
        max_wait_time_ms: Some(3.2),
        signal_wait_time_ms: share * n * seconds * 90.0,
    };
    names([
        ("WRITELOG", wait(if full { 0.78 } else { 0.0 })),
        ("LOGBUFFER", wait(if full { 0.01 } else { 0.09 })),
        ("PAGELATCH_EX", wait(0.03)),
        ("PAGELATCH_SH", wait(0.01)),
        ("LCK_M_X", wait(0.004)),
        ("PAGEIOLATCH_EX", wait(0.006)),
        ("SOS_SCHEDULER_YIELD", wait((1.0 - 2.0 / n).max(0.0) * if full { 0.1 } else { 0.8 })),
        ("LAZYWRITER_SLEEP", wait(1.0)),
    ])
}

fn phases(full: bool) -> Vec<WritePhase> {
    let each = [
        ("queue", 12.0),
        ("submit", 6.0),
        ("device", if full { 163.0 } else { 210.0 }),
        ("wake-up", 9.0),
    ];
    each.iter()
        .map(|&(phase, mean_us)| WritePhase {
            phase: phase.to_owned(),
            count: 61_002,
            mean_us,
            p50_us: mean_us * 0.92,
            p90_us: mean_us * 1.5,
            p99_us: mean_us * 2.8,
            max_us: mean_us * 20.0,
        })
        .collect()
}

fn histogram(p50: f64, count: u64, noise: &mut Noise) -> Histogram {
    let buckets = (-24..=40)
        .map(|step| {
            let bell =
                (-f64::from(step * step) / 90.0).exp() + if step > 20 { 0.0006 } else { 0.0 };
            (p50 * 1.06f64.powi(step), (bell * count as f64 / 16.0 * noise.near(0.2)) as u64)
        })
        .filter(|(_, n)| *n > 0)
        .collect();
    Histogram { buckets }
}

fn series(rate: f64, p50: f64, full: bool, spins: f64, noise: &mut Noise) -> Series {
    let ticks = (1..=120)
        .map(|i| {
            let at_s = f64::from(i) * 0.1;
            let rows_per_s = rate * noise.near(0.06) * (at_s / 0.6).min(1.0);
            Tick {
                at_s,
                seconds: 0.1,
                rows_per_s,
                commits_per_s: rows_per_s,
                cpus_used: Some(1.84 * noise.near(0.04)),
                machine_busy: Some(0.95),
                steal: Some(0.004 * noise.next()),
                run_queue: Some((noise.next() * 6.0) as u64),
                context_switches_per_s: Some(4_100.0 * noise.near(0.2)),
                log_flushes_per_s: Some(if full { 6_000.0 } else { 640.0 } * noise.near(0.05)),
                log_mb_per_s: Some(rows_per_s * 210.0 / 1e6),
                waits_ms_per_s: names([
                    ("WRITELOG", 7_700.0 * noise.near(0.05)),
                    ("PAGELATCH_EX", 240.0 * noise.near(0.4)),
                ]),
                spins_per_s: names([("LOGCACHE_ACCESS", spins * rows_per_s)]),
                latches_ms_per_s: BTreeMap::new(),
            }
        })
        .collect();
    let latency = (3..=12)
        .map(|at| LatencyMoment {
            at_s: f64::from(at),
            histogram: histogram(p50 * noise.near(0.1), rate as u64, noise),
        })
        .collect();
    Series { window_from_s: 2.0, window_to_s: 12.0, ticks, latency }
}

fn profile() -> Profile {
    let stacks = [
        ("thread;scheduler::run;interpreter::execute;engine::insert;storage::leaf::insert", 3_200),
        (
            "thread;scheduler::run;interpreter::execute;engine::insert;log_manager::append;log_manager::reserve;spin::back_off",
            1_720,
        ),
        ("thread;scheduler::run;interpreter::execute;engine::insert;log_manager::append;copy", 900),
        (
            "thread;scheduler::run;interpreter::execute;engine::commit;log_manager::append;log_manager::reserve;spin::back_off",
            640,
        ),
        ("thread;scheduler::run;interpreter::execute;engine::commit;transaction::end", 410),
        ("thread;scheduler::run;interpreter::execute", 1_450),
        ("thread;scheduler::poll;device::poll;io_uring_enter", 380),
        (HOSTILE, 120),
    ];
    Profile {
        method: "perf cpu-clock 997 Hz, frame pointers".to_owned(),
        samples: stacks.iter().map(|(_, n)| n).sum(),
        lost: 0,
        folded: stacks.iter().map(|&(stack, n)| (stack.to_owned(), n)).collect(),
        off_cpu: vec![
            ("session;WRITELOG".to_owned(), 780_000),
            ("session;PAGELATCH_EX".to_owned(), 30_000),
        ],
        functions: vec![
            StackShare { name: "storage::leaf::insert".to_owned(), itself: 0.36, total: 0.36 },
            StackShare { name: HOSTILE.to_owned(), itself: 0.013, total: 0.013 },
        ],
        spinlocks: vec![StackShare {
            name: "LOGCACHE_ACCESS".to_owned(),
            itself: 0.158,
            total: 0.267,
        }],
        ..Profile::default()
    }
}

/// Four targets with what each can tell.
fn rivals() -> Run {
    let mut noise = Noise(11);
    let mut cells = Vec::new();
    for (target, rate) in [
        ("embedded", 1_900_000.0),
        ("postgres", 217_000.0),
        ("mariadb", 148_000.0),
        ("sqlite", 354_000.0),
    ] {
        for sessions in [1, 10] {
            let mut one = cell("lanes", "delayed", sessions, rate / 1_900_000.0, &mut noise);
            one.target = target.to_owned();
            if target != "embedded" {
                one.spins.clear();
                one.log_writes.clear();
                one.cpu_ns_per_row = None;
                one.series = None;
                one.settings.remove("log_reserve");
                one.waits = names([(
                    "IO:WALWrite",
                    Wait { waiting_tasks_count: 10, wait_time_ms: 900.0, ..Wait::default() },
                )]);
                one.wait_categories = names([("IO:WALWrite", "log write".to_owned())]);
            }
            cells.push(one);
        }
    }
    Run {
        format: FORMAT,
        experiment: "singleton-insert".to_owned(),
        command: "millrace lab run singleton-insert --target embedded,postgres,mariadb,sqlite --sessions 1,10".to_owned(),
        machine: machine(),
        cells,
        ..Run::default()
    }
}

/// The log writer in three places.
fn places() -> Run {
    let mut noise = Noise(17);
    let cells = [
        "in the mask",
        "out of the mask",
        "no dedicated writer, whoever commits first writes the log",
    ]
    .iter()
    .map(|place| {
        let mut one = cell("spinlock", "delayed", 40, noise.near(0.4), &mut Noise(19));
        one.settings.insert("log_writer_place".to_owned(), (*place).to_owned());
        one
    })
    .collect();
    Run {
        format: FORMAT,
        experiment: "log-writer-placement".to_owned(),
        command: "millrace lab run log-writer-placement".to_owned(),
        machine: machine(),
        cells,
        ..Run::default()
    }
}

/// A device's writes: sizes at one depth, depths at one size, by way and carrier.
fn ladder() -> Run {
    let mut noise = Noise(13);
    let mut cells = Vec::new();
    let sizes = [512, 4096, 8192, 16384, 61440, 65536, 262_144, 1_048_576];
    let rungs =
        sizes.map(|bytes| (bytes, 1)).into_iter().chain([2, 4, 8, 32].map(|depth| (4096, depth)));
    for (bytes, depth) in rungs {
        for (way, cost) in [("direct+rwf_dsync", 1.0), ("direct+fdatasync", 1.3), ("fsync", 2.1)] {
            for carrier in ["io_uring", "threads"] {
                let p50 =
                    cost * (150.0 + bytes as f64 / 900.0) * noise.near(0.1) * (depth as f64).sqrt();
                let rate = depth as f64 * 1e6 / p50;
                cells.push(Cell {
                    experiment: "log-device".to_owned(),
                    sessions: depth,
                    seconds: 1.0,
                    rows: rate as u64,
                    rows_per_s: rate,
                    commits_per_s: rate,
                    p50_us: Some(p50),
                    p99_us: Some(p50 * 2.2),
                    log_flushes_per_s: rate,
                    log_mb_per_s: rate * bytes as f64 / 1e6,
                    settings: names([
                        ("bytes", bytes.to_string()),
                        ("way", way.to_owned()),
                        ("carrier", carrier.to_owned()),
                    ]),
                    ..Cell::default()
                });
            }
        }
    }
    Run {
        format: FORMAT,
        experiment: "log-device".to_owned(),
        command: "millrace lab run log-device".to_owned(),
        machine: machine(),
        cells,
        ..Run::default()
    }
}

fn empty() -> Run {
    Run {
        format: FORMAT,
        experiment: "writelog".to_owned(),
        command: "millrace lab run writelog".to_owned(),
        cut_short: true,
        ..Run::default()
    }
}
