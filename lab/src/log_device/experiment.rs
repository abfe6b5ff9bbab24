//! `log-device` as an experiment: options from the command line, cells for the document.

use super::{Beside, Carrier, Options, Rung, Way, run};
use crate::bench::Bench;
use crate::document::{Cell, Figure, Histogram, Mark, MarkKind, Published};
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::limits;
use crate::published::POST_5;
use crate::workload::Settings;
use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

/// `log-device`.
pub struct LogDevice;

/// As in the posts' tables.
const STALL: &str = "log write stall, ms";

impl Experiment for LogDevice {
    fn name(&self) -> &'static str {
        "log-device"
    }

    fn what(&self) -> &'static str {
        "What the log's device can do, without an engine: durable writes by size, by way of making them durable, by how \
         many are in flight (--sessions), through io_uring and through threads, alone and beside the writes of a \
         checkpoint. A commit cannot be faster than the rung its log writes stand on. One axis is varied at a time from \
         the engine's own way; --seconds is the length of a rung. What the machine refuses is told as refused. Files of \
         64 and 128 MiB are made in --data and removed at once."
    }

    fn posts(&self) -> &'static [u8] {
        &[5]
    }

    fn published(&self) -> Vec<Published> {
        let of_post_5 = |figure: &str, published: &str, value: f64| {
            let arm = "log writes of about 6.7 KB under full durability";
            Published::of(POST_5, arm, figure, published).with_value(value).beside([
                ("bytes", "8192"),
                ("sessions", "1"),
                ("way", Way::DirectRwfDsync.name()),
                ("carrier", Carrier::IoUring.name()),
                ("beside", Beside::Alone.name()),
            ])
        };
        vec![
            of_post_5(STALL, "0.1 ms", 0.1),
            of_post_5("log flushes/s", "about 15,000/s", 15_000.0),
            of_post_5("log MB/s", "100 MB/s", 100.0),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["sessions"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &[
            OwnOption {
                name: "bytes",
                values: "512 to 1048576, a list",
                default: "512,4096,8192,16384,61440,65536,262144,1048576",
                what: "bytes of a write",
            },
            OwnOption {
                name: "way",
                values: "direct+rwf_dsync, direct+o_dsync, direct+fdatasync, o_dsync, fdatasync, fsync, direct; a list",
                default: "all",
                what: "how a write is made durable (direct alone is not)",
            },
            OwnOption {
                name: "carrier",
                values: "io_uring, threads; a list",
                default: "both",
                what: "how writes reach the kernel",
            },
            OwnOption {
                name: "beside",
                values: "alone, checkpoint; a list",
                default: "both",
                what: "what else the device has to do",
            },
            OwnOption {
                name: "every",
                values: "no, yes",
                default: "no",
                what: "every combination, and not one axis at a time",
            },
            OwnOption {
                name: "gib",
                values: "1 to 1024",
                default: "16",
                what: "what all rungs together may write",
            },
        ]
    }

    fn defaults(&self) -> Settings {
        let Options { depths, rung_seconds, .. } = Options::default();
        Settings { sessions: depths, seconds: rung_seconds, ..Settings::default() }
    }

    fn has_target(&self) -> bool {
        false
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let options = options(bench.settings())?;
        if bench.machine().virtual_machine {
            bench.cannot_show(
                "A virtual machine: its device is a file or a share of one elsewhere, and a flush goes as far as the \
                 host takes it. Latencies are of that path, not of a disk.",
            );
        }
        limits::of_cpus(bench, 12, "writes in flight wait for a CPU as well as for the device");
        let titles: Vec<String> = super::plan(&options).iter().map(title).collect();
        // The flag is read between rungs; the bench is ours in between.
        if let Some(first) = titles.first() {
            bench.progress().begin(0, titles.len(), first);
        }
        let mut interrupted = false;
        run(&options, |index, of, rung| {
            bench.push(cell(rung));
            interrupted = bench.interruption().load(Relaxed);
            if let Some(next) = titles.get(index + 1).filter(|_| !interrupted) {
                bench.progress().begin(index + 1, of, next);
            }
            !interrupted
        })?;
        if interrupted { Err(LabError::Interrupted) } else { Ok(()) }
    }
}

fn options(settings: &Settings) -> Result<Options, LabError> {
    let own = &settings.own;
    fn each<T: Copy>(
        own: &BTreeMap<String, Vec<String>>,
        name: &str,
        all: &[T],
        named: impl Fn(T) -> &'static str,
    ) -> Result<Vec<T>, LabError> {
        let Some(words) = own.get(name) else { return Ok(all.to_vec()) };
        let known = || all.iter().map(|&one| named(one)).collect::<Vec<_>>().join(", ");
        let find = |word: &String| {
            all.iter().copied().find(|&one| named(one) == word).ok_or_else(|| {
                LabError::Options(format!("{name} takes {}, and not {word}", known()))
            })
        };
        words.iter().map(find).collect()
    }
    fn number(name: &str, word: &str) -> Result<u64, LabError> {
        word.parse().map_err(|_| LabError::Options(format!("{name} takes numbers, and not {word}")))
    }
    let default = Options::default();
    let one = |name: &str| own.get(name).and_then(|words| words.first());
    Ok(Options {
        data: settings.data.clone(),
        sizes: match own.get("bytes") {
            Some(words) => words.iter().map(|w| number("bytes", w)).collect::<Result<_, _>>()?,
            None => default.sizes,
        },
        ways: each(own, "way", &Way::ALL, Way::name)?,
        depths: settings.sessions.clone(),
        carriers: each(own, "carrier", &Carrier::ALL, Carrier::name)?,
        beside: each(own, "beside", &Beside::ALL, Beside::name)?,
        product: each(own, "every", &["no", "yes"], |word| word)?
            .first()
            .is_some_and(|&word| word == "yes" && own.contains_key("every")),
        rung_seconds: settings.seconds,
        bytes_max: match one("gib") {
            Some(word) => number("gib", word)?.clamp(1, 1024) << 30,
            None => default.bytes_max,
        },
        cpus: settings.cpus.clone(),
    })
}

fn title(axis: &super::Axis) -> String {
    let super::Axis { bytes, way, depth, carrier, beside } = axis;
    let beside = if *beside == Beside::Alone { "" } else { ", beside a checkpoint" };
    format!("{bytes} bytes, {}, {depth} in flight, {}{beside}", way.name(), carrier.name())
}

/// A rung in the document's terms: writes are its rows, writes in flight its sessions.
fn cell(rung: &Rung) -> Cell {
    let axis = &rung.axis;
    let named = |name: &str, value: String| (name.to_owned(), value);
    let mut marks = Vec::new();
    for text in rung.refused.iter().map(|why| format!("refused: {why}")).chain(rung.note.clone()) {
        marks.push(Mark { kind: MarkKind::Unmeasured, text });
    }
    let mut figures = BTreeMap::new();
    let mut figure = |name: &str, value: f64, unit: &str, what: &str| {
        let figure = Figure { value, unit: unit.to_owned(), what: what.to_owned() };
        figures.insert(name.to_owned(), figure);
    };
    if let Some(l) = rung.latency {
        figure(STALL, l.mean_us / 1e3, "ms", "mean latency of a write");
        figure("p90 us", l.p90_us, "us", "latency of a write");
        figure("p99.9 us", l.p999_us, "us", "latency of a write");
        figure("longest us", l.max_us, "us", "latency of a write");
    }
    if let Some(rate) = rung.checkpoint_mb_per_s {
        figure("checkpoint MB/s", rate, "MB/s", "written beside it");
    }
    let durable_per_s = if axis.way.is_durable() { rung.writes_per_s } else { 0.0 };
    Cell {
        experiment: LogDevice.name().to_owned(),
        target: "device".to_owned(),
        mode: axis.way.name().to_owned(),
        sessions: axis.depth,
        durability: if axis.way.is_durable() { "full" } else { "none" }.to_owned(),
        commit_every: 1,
        rows_per_insert: 1,
        seconds: rung.seconds,
        rows: rung.writes,
        rows_per_s: rung.writes_per_s,
        commits_per_s: durable_per_s,
        p10_us: rung.latency.map(|l| l.p10_us),
        p50_us: rung.latency.map(|l| l.p50_us),
        p99_us: rung.latency.map(|l| l.p99_us),
        commits_timed: rung.writes,
        log_flushes_per_s: durable_per_s,
        log_bytes_per_flush: axis.bytes as f64,
        log_mb_per_s: rung.mb_per_s,
        log_bytes_per_row: axis.bytes as f64,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        settings: BTreeMap::from([
            named("bytes", axis.bytes.to_string()),
            named("way", axis.way.name().to_owned()),
            named("carrier", axis.carrier.name().to_owned()),
            named("beside", axis.beside.name().to_owned()),
        ]),
        marks,
        latency: Histogram { buckets: rung.buckets.clone() },
        figures,
        ..Cell::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn own(pairs: &[(&str, &[&str])]) -> Settings {
        let owned = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect();
        let own = pairs.iter().map(|(name, words)| ((*name).to_owned(), owned(words)));
        Settings { own: own.collect(), ..LogDevice.defaults() }
    }

    #[test]
    fn options_are_read_or_refused() {
        let all = options(&own(&[])).expect("defaults");
        assert_eq!((all.ways.len(), all.carriers.len(), all.product), (7, 2, false));
        assert_eq!(all.sizes, super::super::SIZES);
        let some = own(&[("bytes", &["512", "4096"]), ("way", &["fsync"]), ("every", &["yes"])]);
        let some = options(&some).expect("known words");
        assert_eq!((some.sizes.len(), &some.ways[..]), (2, &[Way::CachedFsync][..]));
        assert!(some.product);
        for wrong in [("way", "osync"), ("bytes", "4k"), ("every", "always"), ("gib", "-1")] {
            let refused = options(&own(&[(wrong.0, &[wrong.1])]));
            assert!(matches!(refused, Err(LabError::Options(_))), "{wrong:?}");
        }
    }
}
