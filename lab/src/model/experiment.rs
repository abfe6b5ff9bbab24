//! `predict`: parameters measured here, held against cells measured here, then taken to other machines.

use super::calibration::{self, Micro, PART};
use super::costs;
use super::judged::{HIT, Judged, orders};
use super::machine::Machine;
use super::parameters::{Load, Parameters, Reserve, Writer};
use super::posts;
use super::quiet::Patience;
use super::simulation::simulate;
use crate::bench::Bench;
use crate::document::Published;
use crate::error::LabError;
use crate::experiment::{Experiment, OwnOption};
use crate::published::{POST_1, POST_3, Post};
use crate::workload::{Durability, Kind, Settings, Workload};
use topology::Topology;

/// `predict`.
pub struct Predict;

const OPTIONS: [OwnOption; 3] = [
    OwnOption {
        name: "machine",
        values: "SOCKETSxCORES[xTHREADS][@GHZ], or a folder with a copy of a machine's /sys",
        default: "2x10x2@2.3",
        what: "machine whose rates are told, as modelled",
    },
    OwnOption {
        name: "rounds",
        values: "1 to 20",
        default: "3",
        what: "how often all cells are measured, one after the other; their medians count",
    },
    OwnOption {
        name: "wait",
        values: "0 to 3600",
        default: "60",
        what: "seconds that may be spent, over the run, in waiting for others to leave the machine quiet",
    },
];

const HELD_OUT: &str = "held out";
/// Seconds of a load that are simulated.
const SECONDS: f64 = 0.3;
const DURABLE_SECONDS: f64 = 1.0;

const POST_2: Post = (2, "2 x 6-core X5690 3.47 GHz, SQL Server 2008 R2");

impl Experiment for Predict {
    fn name(&self) -> &'static str {
        "predict"
    }

    fn what(&self) -> &'static str {
        "A discrete-event model of the log's tail, lanes, the spinlock with back-off, flushes, schedulers and cache lines \
         by distance. Its parameters are measured here: a cache line from CPU to CPU, the lock and the copy, a spin, a \
         task's turn, the device's flush by bytes, writes in flight and busy CPUs, and cells of one session. It is held \
         against sixteen cells that it has not seen, then set beside the posts' ratios, and tells rates of another \
         machine. All of that is modelled, and says so. On a loaded machine a cell's rate is compared for the CPU time \
         that it had."
    }

    fn posts(&self) -> &'static [u8] {
        &[1, 2, 3]
    }

    fn published(&self) -> Vec<Published> {
        let row = |post, arm: &str, published: &str| Published::of(post, arm, "ratio", published);
        vec![
            row(POST_1, "log writer together, apart", "55 s, 85 s"),
            row(POST_1, "the same, memory-optimised", "10.434 s, 18.388 s"),
            row(POST_2, "remote memory", "about 5%"),
            row(
                POST_3,
                "log writer's core in, out of the mask, and with TF 8015",
                "187, 437, 500 thousand/s",
            ),
        ]
    }

    fn takes(&self) -> &'static [&'static str] {
        &["buffer-pool-mb"]
    }

    fn own_options(&self) -> &'static [OwnOption] {
        &OPTIONS
    }

    fn defaults(&self) -> Settings {
        Settings {
            seconds: 1.0,
            warmup_seconds: Some(0.4),
            // What a second's rows take twice over: the memory of each cell is touched before it.
            buffer_pool_bytes: Some(1 << 30),
            ..Settings::default()
        }
    }

    fn run(&self, bench: &mut Bench<'_>) -> Result<(), LabError> {
        let own = |name: &str, at: usize| {
            let given = bench.settings().own.get(name).cloned();
            given.unwrap_or_else(|| vec![OPTIONS[at].default.to_owned()])
        };
        let parse = |name: &String| Machine::parse(name).map_err(LabError::Options);
        let machines = own("machine", 0).iter().map(parse).collect::<Result<Vec<_>, _>>()?;
        let number = |name: &str, at: usize, range: std::ops::RangeInclusive<f64>| {
            let given = own(name, at);
            let one = if given.len() == 1 { given[0].parse().ok() } else { None };
            one.filter(|n| range.contains(n)).ok_or_else(|| {
                let values = OPTIONS[at].values;
                LabError::Options(format!("--set {name}= takes one number: {values}"))
            })
        };
        let rounds = number("rounds", 1, 1.0..=20.0)? as usize;
        let wait_s = number("wait", 2, 0.0..=3600.0)?;
        // The cells run on these alone, and so does all that the model is told of them.
        let topology = Topology::machine()
            .ok_or_else(|| LabError::Options("the system does not tell its CPUs".to_owned()))?
            .clone()
            .with_cpus(&bench.settings().cpus);
        let mut here = Machine::of(&topology, "here");
        here.ghz = costs::on(topology.cpus.first().map(|cpu| cpu.id), costs::core_ghz)?;
        let mut patience = Patience::new(wait_s);
        let micro = Micro::measure(bench, &topology, &mut patience)?;
        let (calibration, held_out) = (calibration::cells(bench, &topology), held_out(bench));
        // Each round has all cells, so that a slow minute falls on what is told from and on what is told; and the device
        // before those that wait for it and after them.
        let waits = |(_, load): &&(usize, Workload)| load.durability == Durability::Full;
        let durable: Vec<_> = held_out.iter().filter(waits).cloned().collect();
        let others = held_out.iter().filter(|load| !waits(load));
        let others: Vec<_> = calibration.iter().chain(others).cloned().collect();
        let first = bench.cells().len();
        let mut flushes = Vec::new();
        for _ in 0..rounds {
            let mut times = calibration::flushes(bench, &mut patience)?;
            for cell in &durable {
                // Who waits for the device feels a neighbour most.
                patience.wait(bench);
                bench.measure_plan(std::slice::from_ref(cell))?;
            }
            times.merge(&calibration::flushes(bench, &mut patience)?);
            flushes.push(times);
            bench.measure_plan(&others)?;
        }
        let round: Vec<_> = durable.iter().chain(&others).collect();
        let cells = &bench.cells()[first..];
        let of = |flushes| calibration::parameters(cells, &micro, flushes);
        let told = flushes.iter().map(of).collect::<Result<Vec<_>, _>>()?;
        let reading = calibration::reading(cells, &micro);
        let mut judged: Vec<_> = held_out.iter().map(|(_, load)| Judged::of(load)).collect();
        let all = here.cpus.len();
        bench.change_cells(first, |cell, at| {
            let (p, workload) = (&told[at / round.len()], &round[at % round.len()].1);
            let Some(at) = held_out.iter().position(|(_, load)| load == workload) else { return };
            let load = load_of(workload, all);
            let seconds = if load.durable { DURABLE_SECONDS } else { SECONDS };
            judged[at].add(cell, simulate(&here, p, &load, seconds));
        });
        bench.conclude(micro.tell());
        flushes.iter().for_each(|one| bench.conclude(calibration::tell_flushes(one)));
        let Some(p) = told.into_iter().next() else { return Err(LabError::NoWindow) };
        tell(bench, &p, &judged);
        for ratio in posts::ratios(&p, here.ghz, reading) {
            let verdict = if ratio.hits() { "hit" } else { "miss" };
            let slower: Vec<String> = std::iter::zip(posts::SLOWER, &ratio.slower)
                .map(|(times, told)| format!("; {told:.2} if work took {times} times as long"))
                .collect();
            bench.conclude(format!(
                "Modelled, {}: published {:.2}, modelled {:.2}: {verdict} ({}{}).",
                ratio.what,
                ratio.published,
                ratio.modelled,
                ratio.assumed,
                slower.concat()
            ));
        }
        for machine in &machines {
            rates(bench, machine, &p);
        }
        bench.cannot_show(
            "What the model says of other machines was measured on none of them: caches, memory bandwidth and page latches \
             are not in it.",
        );
        Ok(())
    }
}

/// Other numbers of sessions, durabilities, batches and forms of reservation.
fn held_out(bench: &Bench<'_>) -> Vec<(usize, Workload)> {
    let forms = ["spinlock", "lanes"].map(str::to_owned);
    let settings = Settings {
        sessions: vec![2, 10],
        durability: vec![Durability::Delayed, Durability::Full],
        commit_every: vec![1, 10],
        switches: [("log_reserve".to_owned(), forms.to_vec())].into(),
        ..bench.settings().clone()
    };
    let known = bench.targets().next().map(|(_, known)| known).unwrap_or_default();
    let mut all = settings.workloads(Kind::Insert, &known);
    all.iter_mut().for_each(|workload| {
        workload.arm.insert(PART.to_owned(), HELD_OUT.to_owned());
    });
    all.into_iter().map(|workload| (0, workload)).collect()
}

fn load_of(workload: &Workload, cpus: usize) -> Load {
    let is_spinlock = workload.switches.get("log_reserve").is_some_and(|form| form == "spinlock");
    Load {
        sessions: workload.sessions,
        cpus: (0..cpus).collect(),
        durable: workload.durability == Durability::Full,
        commit_every: workload.commit_every,
        reserve: if is_spinlock { Reserve::Spinlock } else { Reserve::Lanes },
        writer: Writer::Leader,
    }
}

fn tell(bench: &mut Bench<'_>, p: &Parameters, judged: &[Judged]) {
    bench.conclude(format!(
        "Out of the calibration: a row that is a transaction {:.0} ns and {:.0} bytes of log, one of several {:.0} and \
         {:.0}, their commit {:.0} and {:.0}.",
        p.single.ns + p.copy_ns,
        p.single.bytes,
        p.row.ns + p.copy_ns,
        p.row.bytes,
        p.commit.ns + p.copy_ns,
        p.commit.bytes
    ));
    judged.iter().for_each(|judged| bench.conclude(format!("Held out: {}.", judged.tell())));
    let hits = judged.iter().filter(|judged| judged.hits()).count();
    bench.conclude(format!(
        "Held-out cells: {hits} of {} within {:.0}%, the order of the arms {}.",
        judged.len(),
        HIT * 100.0,
        orders(judged).tell()
    ));
}

/// What the engine would do on a machine.
fn rates(bench: &mut Bench<'_>, machine: &Machine, p: &Parameters) {
    let cpus: Vec<usize> = (0..machine.cpus.len()).collect();
    let rate = |sessions: usize, reserve| {
        let load = Load {
            sessions,
            cpus: cpus.clone(),
            durable: false,
            commit_every: 1,
            reserve,
            writer: Writer::Leader,
        };
        simulate(machine, p, &load, 0.02)
    };
    let mut counts = vec![1, machine.cpus.len() / 2, machine.cpus.len(), machine.cpus.len() * 2];
    counts.retain(|n| *n > 0);
    counts.dedup();
    for sessions in counts {
        let (lanes, lock) = (rate(sessions, Reserve::Lanes), rate(sessions, Reserve::Spinlock));
        bench.conclude(format!(
            "Modelled, {} with {sessions} session(s), delayed durability: {:.0} rows/s with lanes, {:.0} with the spinlock \
             ({:.0}% of the CPUs' time in spinning).",
            machine.name,
            lanes.rows_per_s,
            lock.rows_per_s,
            lock.spinning * 100.0
        ));
    }
}
