//! The server on a machine of several NUMA nodes, in a guest that has them: who runs where, and whose memory is whose.
//!
//! Function only: the guest's nodes are all of one memory, so no time says anything. Each check is a sentence; the run
//! tells all that do not hold, and goes on. The server is asked by T-SQL through a port for each node; where its memory
//! really lies is also read from `/proc/PID/numa_maps` in the guest ([`numa_maps`]). Then the lab runs its experiments on
//! nodes there ([`experiments`]).

mod experiments;
mod memory;

use super::agent::PLACED_IN_GUEST;
use super::checks::Checks;
use super::initramfs::{self, Kernel, output};
use super::machine::{Machine, Parts, Shape};
use super::{host, numa_maps};
use crate::server::{Desk, QUICK_HASH, binary};
use executor::Collected;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// For each node: its pages come from tables of its own.
const DISK_MEGABYTES: u64 = 256;
/// Enough for pages of every node, and below a node's memory.
const SERVER_MEGABYTES: &str = "256";
/// Rows of a page each: fewer than the least pool has frames on one of eight nodes.
const ROWS: u64 = 150;
const LOADERS: usize = 4;
/// A new writer thread of the log has taken over, with a write behind it.
const WRITER_MOVES_WITHIN: Duration = Duration::from_secs(20);
/// Every loader has had time for rows since the mask was changed.
const LOAD_GOES_ON_WITHIN: Duration = Duration::from_secs(20);

/// What to run, and where.
pub struct Options {
    pub nodes: usize,
    /// All of the lab's experiments on nodes, not two of them.
    pub experiments: bool,
    pub folder: PathBuf,
    /// The kernel, kept from run to run.
    pub kernel: PathBuf,
}

/// Boots, asks, tells; `Ok(false)` when something does not hold.
pub fn run(options: &Options) -> Result<bool, String> {
    let start = Instant::now();
    let folder = host::own_folder(&options.folder);
    std::fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let done = in_folder(options, &folder);
    let _ = std::fs::remove_dir_all(&folder);
    let checks = done?;
    for wrong in &checks.wrong {
        println!("guest: {} nodes: does not hold: {wrong}", options.nodes);
    }
    println!(
        "guest: {} nodes: {} checks, {} do not hold; in {:.1} s",
        options.nodes,
        checks.held + checks.wrong.len(),
        checks.wrong.len(),
        start.elapsed().as_secs_f64()
    );
    Ok(checks.wrong.is_empty())
}

fn in_folder(options: &Options, folder: &Path) -> Result<Checks, String> {
    let kernel = Kernel::get(&options.kernel)?;
    let initramfs = folder.join("initramfs");
    initramfs::build(&kernel, &binary(), &initramfs)?;
    let (disk, log) = (folder.join("disk"), folder.join("log"));
    let of_lab = experiments::disk_megabytes(options.nodes, options.experiments);
    host::sparse(&disk, (options.nodes as u64 * DISK_MEGABYTES + of_lab) << 20)?;
    host::sparse(&log, 1 << 20)?;
    output(
        Command::new("mke2fs")
            .args(["-q", "-t", "ext4", "-F"])
            .args(["-E", "nodiscard"])
            .arg(&disk),
    )?;
    let each = experiments::cpus_of_a_node(options.nodes, options.experiments);
    let shape = Shape::of_nodes(options.nodes, each);
    let machine = Machine::boot(&Parts { kernel, initramfs }, &disk, &log, &shape)?;
    let mut run =
        Run { machine, nodes: options.nodes, cpus: shape.cpus, checks: Checks::default() };
    for request in ["map linear", "mount"] {
        run.machine.ask(request)?;
    }
    run.serve(&[])?;
    run.desk(0)?.run(&format!("ALTER LOGIN sa WITH PASSWORD = {QUICK_HASH} HASHED"))?;
    let told = run
        .machine_is_seen()
        .and_then(|()| run.ports_reach_their_nodes())
        .and_then(|()| run.pages_lie_where_they_were_asked_for())
        .and_then(|()| run.sessions_memory_lies_on_their_nodes())
        .and_then(|()| run.the_log_writer_sits_where_it_was_put())
        .and_then(|()| run.affinity_changes_under_load())
        .and_then(|()| run.what_cannot_be_is_refused())
        .and_then(|()| run.one_node_of_all())
        .and_then(|()| run.the_lab_shows_what_it_must(options.experiments));
    told.map_err(|error| format!("{error}\n{}", run.machine.words()))?;
    Ok(run.checks)
}

/// The machine, and what was looked at on it.
struct Run {
    machine: Machine,
    nodes: usize,
    cpus: usize,
    checks: Checks,
}

/// Look-ups of pages by threads of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Lookups {
    local: i64,
    remote: i64,
}

impl Run {
    /// A server with a port for each node, and what else is said.
    fn serve(&mut self, more: &[&str]) -> Result<(), String> {
        let mut words = vec!["serve".to_owned()];
        for node in 0..self.nodes {
            let port = super::agent::PLACED_SERVER + node as u16;
            words.push("--listen".to_owned());
            // Of a machine taken as one node there is one port.
            words.push(match more.is_empty() {
                true => format!("127.0.0.1:{port}[{:#x}]", 1u64 << node),
                false => format!("127.0.0.1:{port}"),
            });
        }
        words.extend(["--no-admin", "--memory", SERVER_MEGABYTES].map(str::to_owned));
        words.extend(more.iter().map(|word| (*word).to_owned()));
        self.machine.ask(&words.join(" ")).map(drop)
    }

    /// A session through a node's port.
    fn desk(&self, node: usize) -> Result<Desk, String> {
        self.machine.placed_door(node).connect()
    }

    /// Where the server's memory lies, as the kernel tells.
    fn maps(&mut self) -> Result<String, String> {
        Ok(self.machine.ask("maps")?.replace("\\n", "\n"))
    }

    fn machine_is_seen(&mut self) -> Result<(), String> {
        let mut desk = self.desk(0)?;
        let (nodes, cpus) = (self.nodes as i64, self.cpus as i64);
        let asked = "SELECT numa_node_count, cpu_count FROM sys.dm_os_sys_info";
        let told = numbers(&desk.run(asked)?);
        self.checks.same(told, vec![nodes, cpus], "numa_node_count and cpu_count");
        let asked = "SELECT COUNT(*), SUM(online_scheduler_count), COUNT(DISTINCT memory_node_id) \
                     FROM sys.dm_os_nodes WHERE online_scheduler_count > 0";
        let told = numbers(&desk.run(asked)?);
        self.checks.same(told, vec![nodes, cpus, nodes], "sys.dm_os_nodes");
        let asked = "SELECT COUNT(*) FROM sys.dm_os_performance_counters WHERE object_name LIKE '%Buffer Node%' \
                     AND counter_name LIKE 'Local node page lookups%'";
        self.checks.same(numbers(&desk.run(asked)?), vec![nodes], "counters of buffer nodes");
        let asked = "SELECT COUNT(DISTINCT memory_node_id) FROM sys.dm_os_memory_clerks \
                     WHERE type = 'MEMORYCLERK_SQLBUFFERPOOL' AND name = 'master'";
        self.checks.same(numbers(&desk.run(asked)?), vec![nodes], "nodes of the pool of master");
        Ok(())
    }

    fn ports_reach_their_nodes(&mut self) -> Result<(), String> {
        for node in 0..self.nodes {
            for _ in 0..2 {
                let asked = "SELECT c.node_affinity, s.parent_node_id FROM sys.dm_exec_connections c \
                             JOIN sys.dm_exec_requests r ON r.session_id = c.session_id \
                             JOIN sys.dm_os_schedulers s ON s.scheduler_id = r.scheduler_id \
                             WHERE c.session_id = @@SPID";
                let told = numbers(&self.desk(node)?.run(asked)?);
                let wanted = vec![node as i64; 2];
                self.checks.same(told, wanted, &format!("the node behind port {node}"));
            }
        }
        Ok(())
    }

    /// What a node's sessions fill lies on that node; read from there all look-ups are local, from elsewhere none is.
    fn pages_lie_where_they_were_asked_for(&mut self) -> Result<(), String> {
        for node in 0..self.nodes {
            let name = format!("placed{node}");
            let mut own = self.desk(node)?;
            fill(&mut own, &name)?;
            let asked = format!(
                "SELECT numa_node, COUNT(*) FROM sys.dm_os_buffer_descriptors \
                 WHERE database_id = DB_ID('{name}') AND page_type = 'DATA_PAGE' AND row_count <= 10 \
                 GROUP BY numa_node ORDER BY 2 DESC"
            );
            let told = numbers(&own.run(&asked)?);
            self.checks.that(told.first() == Some(&(node as i64)), || {
                format!("pages filled on node {node} lie there: by node and count {told:?}")
            });
            let scan = format!("SELECT COUNT(*), SUM(LEN(filler)) FROM {name}.dbo.wide");
            own.run(&scan)?;
            let here = self.looked_up(&mut own, node, &scan)?;
            self.checks.that(here.remote == 0 && here.local >= ROWS as i64, || {
                format!("all look-ups of node {node} in its own pages are local: {here:?}")
            });
            let other = (node + 1) % self.nodes;
            let mut far = self.desk(other)?;
            far.run(&scan)?;
            let there = self.looked_up(&mut far, other, &scan)?;
            self.checks.that(there.local == 0 && there.remote >= ROWS as i64, || {
                format!("no look-up of node {other} in pages of node {node} is local: {there:?}")
            });
            let asked = "SELECT SUM(foreign_committed_kb) FROM sys.dm_os_memory_nodes";
            self.checks.same(numbers(&own.run(asked)?), vec![0], "pages away from their nodes");
        }
        // What the kernel says of the same memory, without the server.
        let maps = self.maps()?;
        for node in 0..self.nodes {
            let (there, elsewhere) = numa_maps::pages_preferred(&maps, node);
            self.checks.that(there >= ROWS && elsewhere == 0, || {
                format!("memory bound to node {node}: {there} pages there, {elsewhere} elsewhere")
            });
        }
        Ok(())
    }

    /// What a statement adds to a node's counters. The least of three: the server's own tasks look at pages, too.
    fn looked_up(&self, desk: &mut Desk, node: usize, scan: &str) -> Result<Lookups, String> {
        let mut least: Option<Lookups> = None;
        for _ in 0..3 {
            let before = counters(desk, node)?;
            desk.run(scan)?;
            let after = counters(desk, node)?;
            let (local, remote) = (after.local - before.local, after.remote - before.remote);
            let least = least.get_or_insert(Lookups { local, remote });
            *least = Lookups { local: least.local.min(local), remote: least.remote.min(remote) };
        }
        least.ok_or_else(|| "nothing was looked up".to_owned())
    }

    fn the_log_writer_sits_where_it_was_put(&mut self) -> Result<(), String> {
        let mut desk = self.desk(0)?;
        desk.run("USE placed0")?;
        for node in (0..self.nodes).rev() {
            let set = format!(
                "ALTER SERVER CONFIGURATION SET MILLRACE (LOG_WRITER = DEDICATED, LOG_WRITER_PLACE = 'NODE {node}')"
            );
            desk.run(&set)?;
            let asked = "SELECT s.parent_node_id FROM sys.dm_exec_requests r JOIN sys.dm_os_schedulers s \
                         ON s.scheduler_id = r.scheduler_id WHERE r.command = 'LOG WRITER' \
                         AND r.database_id = DB_ID('placed0')";
            let lies = "SELECT memory_node_id FROM sys.dm_os_memory_clerks \
                        WHERE type = 'MEMORYCLERK_SQLLOGPOOL' AND name = 'placed0'";
            // The view tells who wrote last. Until the new thread runs whoever commits writes, and the old thread may be
            // at its last write, whose pages of the buffer cannot move: on this slow machine that can take a while.
            let until = Instant::now() + WRITER_MOVES_WITHIN;
            let wanted = format!("prefer:{node}");
            let (writer, buffer, policies) = loop {
                desk.run(
                    "INSERT dbo.wide (filler) VALUES ('x'); DELETE dbo.wide WHERE filler = 'x'",
                )?;
                let (writer, buffer) = (numbers(&desk.run(asked)?), numbers(&desk.run(lies)?));
                // Each database has one.
                let threads = self.threads()?;
                let mut policies = memory::policies(&threads, "log writer");
                policies.sort_unstable();
                policies.dedup();
                let policies = policies.join(", ");
                let there = writer == [node as i64] && buffer == [node as i64];
                if there && policies == wanted || Instant::now() > until {
                    break (writer, buffer, policies);
                }
                std::thread::sleep(Duration::from_millis(20));
            };
            self.checks.same(writer, vec![node as i64], "the log writer's node");
            self.checks.same(buffer, vec![node as i64], "the log buffer's node");
            self.checks.same(policies, wanted, "the policy of the log writers' threads");
        }
        desk.run("ALTER SERVER CONFIGURATION SET MILLRACE (LOG_WRITER = LEADER, LOG_WRITER_PLACE = 'ANY')")?;
        Ok(())
    }

    /// Sessions insert while the mask goes round; none is lost, and every acknowledged row is there.
    fn affinity_changes_under_load(&mut self) -> Result<(), String> {
        let stop = Arc::new(AtomicBool::new(false));
        let rows = Arc::new(AtomicU64::new(0));
        let mut boss = self.desk(0)?;
        boss.run("USE placed0")?;
        boss.run("CREATE TABLE dbo.loaded (id int IDENTITY PRIMARY KEY, who int)")?;
        let mut loaders = Vec::new();
        for who in 0..LOADERS {
            let mut desk = self.desk(who % self.nodes)?;
            desk.run("USE placed0")?;
            let (stop, rows) = (stop.clone(), rows.clone());
            loaders.push(std::thread::spawn(move || -> Result<(), String> {
                while !stop.load(Relaxed) {
                    desk.run(&format!("INSERT dbo.loaded (who) VALUES ({who})"))?;
                    rows.fetch_add(1, Relaxed);
                }
                desk.run("SELECT 1").map(drop)
            }));
        }
        for node in (0..self.nodes).chain([0]) {
            let before = rows.load(Relaxed);
            boss.run(&format!(
                "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = {node}"
            ))?;
            let until = Instant::now() + LOAD_GOES_ON_WITHIN;
            let goes_on = || rows.load(Relaxed) >= before + 2 * LOADERS as u64;
            while !goes_on() && Instant::now() < until {
                std::thread::sleep(Duration::from_millis(20));
            }
            self.checks.that(goes_on(), || {
                let new = rows.load(Relaxed) - before;
                format!("the load goes on within the mask of node {node}: {new} rows since")
            });
            let asked = "SELECT COUNT(*) FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE' \
                         AND parent_node_id <> ";
            let told = numbers(&boss.run(&format!("{asked}{node}"))?);
            self.checks.same(told, vec![0], "schedulers online outside of the mask");
            let asked = "SELECT COUNT(*) FROM sys.dm_exec_requests r JOIN sys.dm_os_schedulers s \
                         ON s.scheduler_id = r.scheduler_id WHERE s.status = 'VISIBLE OFFLINE' \
                         AND r.session_id > 50";
            let told = numbers(&boss.run(asked)?);
            self.checks.same(told, vec![0], "requests of users left outside of the mask");
        }
        boss.run("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = AUTO")?;
        stop.store(true, Relaxed);
        for loader in loaders {
            let ended = loader.join().unwrap_or_else(|_| Err("a thread panicked".to_owned()));
            self.checks.that(ended.is_ok(), || format!("a session was lost: {ended:?}"));
        }
        let told = numbers(&boss.run("SELECT COUNT(*) FROM placed0.dbo.loaded")?);
        self.checks.same(told, vec![rows.load(Relaxed) as i64], "rows acknowledged");
        Ok(())
    }

    /// SQL Server's errors, and nothing changed.
    fn what_cannot_be_is_refused(&mut self) -> Result<(), String> {
        let mut desk = self.desk(0)?;
        let online = "SELECT COUNT(*) FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE'";
        let before = numbers(&desk.run(online)?);
        let set = "ALTER SERVER CONFIGURATION SET";
        let (nodes, cpus) = (self.nodes, self.cpus);
        for (number, text) in [
            ("5832", format!("{set} PROCESS AFFINITY NUMANODE = {nodes}")),
            ("5832", format!("{set} PROCESS AFFINITY NUMANODE = 0 TO {nodes}")),
            ("5832", format!("{set} PROCESS AFFINITY CPU = {cpus}")),
            ("15129", format!("{set} MILLRACE (LOG_WRITER_PLACE = 'NODE {nodes}')")),
        ] {
            let refused = desk.run(&text).err().unwrap_or_default();
            self.checks.that(refused.contains(number), || format!("{text}: {refused:?}"));
        }
        self.checks.same(numbers(&desk.run(online)?), before, "schedulers after refusals");
        self.machine.ask("end")?;
        for (why, start) in [
            (
                "the bit map names a node that has no scheduler here",
                format!("serve --listen 127.0.0.1:3990[{:#x}]", 1u64 << nodes),
            ),
            (
                "the address is given twice",
                "serve --listen 127.0.0.1:3991[0x1] --listen 127.0.0.1:3991[0x2]".to_owned(),
            ),
            ("invalid value '0' for '-T", "serve -T 0".to_owned()),
        ] {
            match self.machine.ask(&start) {
                Err(told) => self.checks.that(told.contains(why), || format!("{start}: {told}")),
                Ok(_) => {
                    self.checks.that(false, || format!("{start}: it serves"));
                    self.machine.ask("end")?;
                }
            }
        }
        Ok(())
    }

    /// Trace flag 8015.
    fn one_node_of_all(&mut self) -> Result<(), String> {
        self.serve(&["-T", "8015"])?;
        let mut desk = self.desk(0)?;
        let told = numbers(&desk.run("SELECT numa_node_count, cpu_count FROM sys.dm_os_sys_info")?);
        self.checks.same(told, vec![1, self.cpus as i64], "numa_node_count with trace flag 8015");
        let told = numbers(&desk.run("SELECT DISTINCT parent_node_id FROM sys.dm_os_schedulers")?);
        self.checks.same(told, vec![0], "the nodes of schedulers with trace flag 8015");
        let threads = self.threads()?;
        let with_policy: Vec<_> =
            threads.iter().filter(|(policy, _)| policy.starts_with("prefer")).collect();
        let holds = !threads.is_empty() && with_policy.is_empty();
        self.checks.that(holds, || {
            format!("with trace flag 8015 no thread prefers a node: {with_policy:?} of {threads:?}")
        });
        let set = "ALTER SERVER CONFIGURATION SET PROCESS AFFINITY NUMANODE = 1";
        let refused = desk.run(set).err().unwrap_or_default();
        self.checks.that(refused.contains("5832"), || format!("{set}: {refused:?}"));
        let asked = "SELECT COUNT(*) FROM placed0.dbo.wide";
        self.checks.same(numbers(&desk.run(asked)?), vec![ROWS as i64], "rows after a restart");
        let ended = self.machine.ask("end")?;
        self.checks.same(ended.as_str(), "true false", "how the server ended");
        Ok(())
    }
}

/// A database whose table has a row on each of many pages.
fn fill(desk: &mut Desk, name: &str) -> Result<(), String> {
    desk.run(&format!("CREATE DATABASE {name}"))?;
    desk.run(&format!("ALTER DATABASE {name} SET DELAYED_DURABILITY = FORCED"))?;
    desk.run(&format!("USE {name}"))?;
    desk.run("CREATE TABLE dbo.wide (id int IDENTITY PRIMARY KEY, filler char(7000) NOT NULL)")?;
    desk.run(&format!(
        "SET NOCOUNT ON; DECLARE @n int = 0; WHILE @n < {ROWS} BEGIN \
         INSERT dbo.wide (filler) VALUES ('y'); SET @n = @n + 1; END"
    ))?;
    desk.run("CHECKPOINT; USE master").map(drop)
}

fn counters(desk: &mut Desk, node: usize) -> Result<Lookups, String> {
    let told = numbers(&desk.run(&format!(
        "SELECT MAX(CASE WHEN counter_name LIKE 'Local%' THEN cntr_value END), \
         MAX(CASE WHEN counter_name LIKE 'Remote%' THEN cntr_value END) \
         FROM sys.dm_os_performance_counters WHERE object_name LIKE '%Buffer Node%' AND instance_name = '{node:03}'"
    ))?);
    match told[..] {
        [local, remote] => Ok(Lookups { local, remote }),
        _ => Err(format!("counters of node {node}: {told:?}")),
    }
}

/// Every number of every row.
fn numbers(told: &Collected) -> Vec<i64> {
    let rows = told.sets.iter().flat_map(|set| &set.rows);
    rows.flatten().filter_map(types::Value::as_i64).collect()
}

/// Ports of a guest that lead to the server's ports of nodes.
pub fn ports(nodes: usize) -> impl Iterator<Item = u16> {
    (0..nodes).map(|node| PLACED_IN_GUEST + node as u16)
}
