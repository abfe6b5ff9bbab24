//! `millrace topology`: the machine, where the engine's parts would go on it, and what its distances cost.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use topology::measure::{self, Effort, Line, Memory, Spread};
use topology::placement::{self, Placement};
use topology::soft::SoftNuma;
use topology::{Topology, heatmap, render};

#[derive(clap::Args)]
pub struct Args {
    /// Read a folder in the shape of / (with sys/ in it) instead of this machine.
    #[arg(long, alias = "root", value_name = "DIR")]
    sysroot: Option<PathBuf>,
    /// Where schedulers, memory, the log writer and ports would be placed.
    #[arg(long)]
    plan: bool,
    /// Measure: a cache line from each CPU to each, memory from each node to each. Takes both CPUs of a pair for
    /// seconds.
    #[arg(long, conflicts_with = "sysroot")]
    measure: bool,
    /// Rounds of each pair.
    #[arg(long, value_name = "N", default_value_t = Effort::default().rounds, requires = "measure")]
    rounds: usize,
    /// The measured matrices as heat maps, in one SVG file.
    #[arg(long, value_name = "FILE.svg", requires = "measure")]
    heatmap: Option<PathBuf>,
    /// Everything as JSON.
    #[arg(long)]
    json: bool,
}

pub fn run(args: Args) -> ExitCode {
    let found = match &args.sysroot {
        Some(root) => Topology::from_sysfs(root),
        None => Topology::discover(),
    };
    let told = found
        .map_err(|error| format!("the machine cannot be read: {error}"))
        .and_then(|machine| tell(&args, &machine));
    match told {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn tell(args: &Args, machine: &Topology) -> Result<String, String> {
    let effort = Effort { rounds: args.rounds.clamp(1, 100_000), ..Effort::default() };
    // Found out before seconds of measuring and not after them.
    let cannot = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
    let picture = match &args.heatmap {
        Some(path) => Some((path, File::create(path).map_err(|error| cannot(path, error))?)),
        None => None,
    };
    let measured = if args.measure {
        let both = measure::lines(&machine.cpu_ids(), effort)
            .and_then(|lines| Ok((lines, measure::memory(machine, effort)?)));
        Some(both.map_err(|error| format!("the machine cannot be measured: {error}"))?)
    } else {
        None
    };
    if let (Some((path, mut file)), Some((lines, memory))) = (picture, &measured) {
        let name = machine.model_name.as_deref().unwrap_or("this machine");
        let svg = heatmap::svg(name, lines, memory);
        file.write_all(svg.as_bytes()).map_err(|error| cannot(path, error))?;
        eprintln!("heat maps: {}", path.display());
    }
    if args.json {
        return Ok(format!("{:#}\n", json(machine, measured.as_ref())));
    }
    let mut parts = vec![render::machine(machine)];
    if args.plan {
        parts.push(render::placement(&planned(machine)));
    }
    if let Some((lines, memory)) = &measured {
        parts.push(render::lines(lines));
        parts.push(render::memory(memory));
    }
    Ok(parts.join("\n"))
}

/// As a start with the default settings divides and uses it.
fn planned(machine: &Topology) -> Placement {
    placement::plan(machine, &SoftNuma::automatic(machine))
}

fn json(machine: &Topology, measured: Option<&(Vec<Line>, Vec<Memory>)>) -> serde_json::Value {
    use serde_json::json;
    let spread = |s: &Spread| json!({ "p10": s.p10, "p50": s.p50, "p90": s.p90 });
    let cpus = machine
        .cpus
        .iter()
        .map(|c| json!({ "id": c.id, "node": c.node, "core": c.core, "package": c.package }));
    let nodes = machine.nodes.iter().map(|n| {
        json!({
            "id": n.id, "cpus": n.cpus, "memory_bytes": n.memory_bytes, "distances": n.distances,
            "firmware": n.access.map(|a| json!({
                "read_latency_ns": a.read_latency_ns, "write_latency_ns": a.write_latency_ns,
                "read_mib_per_s": a.read_bandwidth, "write_mib_per_s": a.write_bandwidth,
            })),
        })
    });
    let caches = machine.caches.iter().map(|c| {
        json!({
            "level": c.level, "kind": c.kind, "bytes": c.bytes, "line_bytes": c.line_bytes,
            "cpus": c.cpus,
        })
    });
    let plan = planned(machine);
    let placed = plan.nodes.iter().map(|n| {
        json!({
            "node": n.node, "machine_node": n.machine_node, "schedulers": n.schedulers,
            "memory_node": n.memory_node, "port_mask": n.port_mask,
        })
    });
    let measured = measured.map(|(lines, memory)| {
        let lines = lines.iter().map(
            |l| json!({ "from": l.from, "to": l.to, "home_cpu": l.home, "ns": spread(&l.ns) }),
        );
        let memory = memory.iter().map(|m| {
            json!({
                "from": m.from, "to": m.to, "latency_ns": spread(&m.latency_ns),
                "gib_per_s": spread(&m.gib_per_s),
            })
        });
        json!({ "lines": lines.collect::<Vec<_>>(), "memory": memory.collect::<Vec<_>>() })
    });
    json!({
        "processor": machine.model_name,
        "quota_cpus": machine.quota_cpus,
        "allowed_cpus": machine.allowed_cpus,
        "allowed_memory_nodes": machine.allowed_memory,
        "offline": machine.offline,
        "cpus": cpus.collect::<Vec<_>>(),
        "nodes": nodes.collect::<Vec<_>>(),
        "caches": caches.collect::<Vec<_>>(),
        "plan": {
            "nodes": placed.collect::<Vec<_>>(),
            "soft_numa": plan.soft_numa.description(),
            "dedicated_log_writer_cpu": plan.log_writer.map(|place| place.cpu),
            "dedicated_log_writer_node": plan.log_writer.map(|place| place.node),
            "away_memory_nodes": plan.away,
        },
        "measured": measured,
    })
}
