//! The engine in this process: a fresh instance in a fresh folder for each cell.

use crate::batch::Batch;
use crate::checked::{InProcess, Referee, Verdict};
use crate::document::{DeviceFlush, Figure, Histogram, TargetDescription};
use crate::error::LabError;
use crate::load::{self, Shared, Work};
use crate::script::{self, Shape};
use crate::shards::Shards;
use crate::target::{Done, Figures, Load, Sample, Target, TargetKind};
use crate::workload::{Durability, Kind, Mode, Settings, Table, Workload};
use crate::{Progress, cpus, flush, measure};
use device::{FileSystem, IoMode, RealFs};
use engine::LogConfig;
use runtime::clock;
use scheduler::TaskState;
use session::switches::SWITCHES;
use session::{Instance, InstanceConfig, Switches};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;
use telemetry::WaitType;

/// Of a virtual log file; how many are made in advance, `script::create_database` says.
const LOG_VLF_BYTES: u64 = 64 << 20;
const LOG_MAX_BYTES: u64 = 4 << 30;

/// `--target embedded`.
pub struct EmbeddedKind;

impl TargetKind for EmbeddedKind {
    fn help(&self) -> (&'static str, &'static str) {
        ("embedded", "an engine in this process, without a wire")
    }

    fn parse(&self, text: &str) -> Option<Result<Box<dyn Target>, LabError>> {
        (text == "embedded").then(|| Ok(Box::new(Embedded::default()) as Box<dyn Target>))
    }
}

/// The engine in this process.
#[derive(Default)]
pub struct Embedded {
    settings: BTreeMap<String, String>,
}

impl Target for Embedded {
    fn name(&self) -> &str {
        "embedded"
    }

    fn switches(&self) -> Vec<String> {
        SWITCHES.iter().map(|switch| switch.name.to_lowercase()).collect()
    }

    fn is_in_process(&self) -> bool {
        true
    }

    fn describe(&mut self) -> TargetDescription {
        TargetDescription {
            name: self.name().to_owned(),
            version: format!("Millrace {}", env!("CARGO_PKG_VERSION")),
            settings: self.settings.clone(),
            notes: vec![
                "delayed durability: ALTER DATABASE ... SET DELAYED_DURABILITY = FORCED; full: DISABLED".to_owned(),
                "each cell has a fresh instance in a fresh folder".to_owned(),
            ],
        }
    }

    fn prepare(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<Box<dyn Load>, LabError> {
        let by_itself = matches!(workload.kind, Kind::Checked(_) | Kind::Batch(_));
        if !by_itself && (workload.mode == Mode::Roundtrip || workload.kind != Kind::Insert) {
            return Err(LabError::Options(
                "a round trip needs a server: start `millrace serve` and give its address as \
                 --target mssql://HOST:PORT"
                    .to_owned(),
            ));
        }
        if workload.shards > 1 {
            let shards = self.shards(workload, settings, progress)?;
            return Ok(Box::new(Shards::new(shards)));
        }
        Ok(Box::new(self.instance(workload, settings, progress)?))
    }
}

impl Embedded {
    /// An instance for each shard, with its part of the CPUs, of the sessions and of the buffer pool.
    fn shards(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<Vec<EmbeddedLoad>, LabError> {
        let shards = workload.shards;
        let cpus = if workload.cpus.is_empty() { &settings.cpus } else { &workload.cpus };
        let cpus = match cpus.is_empty() {
            true => topology::Topology::machine().map_or(Vec::new(), |m| m.cpu_ids()),
            false => cpus.clone(),
        };
        if cpus.len() < shards || workload.sessions < shards {
            let why = format!("{shards} shards need as many CPUs and sessions");
            return Err(LabError::Options(why));
        }
        let sessions = |at: usize| workload.sessions * at / shards;
        let parts = cpus::cut(&cpus::known(&cpus), shards);
        let all = parts.into_iter().enumerate().map(|(at, cpus)| {
            let mut own = workload.clone();
            own.shards = 1;
            own.cpus = cpus;
            own.sessions = sessions(at + 1) - sessions(at);
            let pool = pool_bytes(settings) / shards as u64;
            let settings = Settings { buffer_pool_bytes: Some(pool), ..settings.clone() };
            self.instance(&own, &settings, progress)
        });
        all.collect()
    }

    fn instance(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<EmbeddedLoad, LabError> {
        let switches = switches(workload)?;
        let folder = Folder::new(&settings.data, settings.keep)?;
        progress.step("creating the database");
        let fs: Arc<dyn FileSystem> = RealFs::new(IoMode::Auto)?;
        let config = config(workload, settings, &switches, &folder.path, &fs);
        self.settings = BTreeMap::from([
            ("buffer pool".to_owned(), format!("{} MiB", config.buffer_pool_bytes >> 20)),
            ("log size at most".to_owned(), format!("{} MiB", LOG_MAX_BYTES >> 20)),
        ]);
        let instance = Instance::open(config).map_err(|error| LabError::Open(error.to_string()))?;
        let mut load = EmbeddedLoad {
            instance,
            shared: Shared::new(workload.sessions),
            handles: Vec::new(),
            switches,
            device_flush: None,
            before: Sample::default(),
            looked_up: None,
            kind: workload.kind,
            referee: match workload.kind {
                Kind::Checked(checked) => Some(Referee::new(checked)),
                _ => None,
            },
            is_shut: false,
            _folder: folder,
        };
        if !workload.fill_cpus.is_empty() {
            load.set_affinity(&workload.fill_cpus)?;
        }
        // The warm-up lasts until the load is steady: see [`Settings::warmup_seconds`].
        let warmup = settings.warmup_seconds.unwrap_or(settings.seconds * 4.0);
        load.set_up(workload, settings.seconds + warmup)?;
        if !workload.fill_cpus.is_empty() {
            load.set_affinity(&workload.run_cpus)?;
        }
        progress.step("touching the memory of pages and of tables");
        load.instance.populate_memory();
        if workload.durability == Durability::Full {
            progress.step("measuring the device's own flush");
            let measured = flush::measure(load.instance.schedulers(), &fs, &load._folder.path)?;
            load.device_flush = Some(measured);
        }
        load.line_up(workload);
        Ok(load)
    }
}

/// The engine's switches for a workload; those not given are at their defaults.
fn switches(workload: &Workload) -> Result<Switches, LabError> {
    let mut switches = Switches::default();
    for (name, value) in &workload.switches {
        let set = switches.set(name, Some(value));
        set.map_err(|error| LabError::Options(error.to_string()))?;
    }
    Ok(switches)
}

/// Every switch with its value, as the lab writes them.
fn in_force(switches: &Switches) -> BTreeMap<String, String> {
    let all = switches.iter();
    all.map(|(switch, value)| (switch.name.to_lowercase(), value.to_lowercase())).collect()
}

/// A fresh folder, removed with its contents when dropped, its parent too if that is empty then.
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    keep: bool,
}

impl Folder {
    pub(crate) fn new(data: &Path, keep: bool) -> Result<Folder, LabError> {
        let stamp = clock::unix_ns() / 1_000;
        let path = data.join(format!("lab-{}-{stamp}", std::process::id()));
        let made = std::fs::create_dir_all(data).and_then(|()| std::fs::create_dir(&path));
        made.map_err(|error| LabError::Folder { folder: data.to_owned(), error })?;
        Ok(Folder { path, keep })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // A folder left behind costs space, not figures.
            let _ = std::fs::remove_dir_all(&self.path);
            if let Some(data) = self.path.parent() {
                let _ = std::fs::remove_dir(data);
            }
        }
    }
}

/// 0: nobody knows.
fn machine_memory_bytes() -> u64 {
    let machine = topology::Topology::machine();
    machine.map_or(0, |machine| machine.nodes.iter().map(|node| node.memory_bytes).sum())
}

fn pool_bytes(settings: &Settings) -> u64 {
    let fitting = match machine_memory_bytes() {
        0 => 1 << 30,
        all => (all / 2).min(4 << 30),
    };
    settings.buffer_pool_bytes.unwrap_or(fitting)
}

/// Kept for a memory-optimised table, and touched before the sessions set off, as the buffer pool's memory is: as much as the
/// pool has, a quarter of the machine's at most.
fn table_memory_bytes(workload: &Workload, settings: &Settings) -> u64 {
    match workload.table {
        Table::Disk => 0,
        Table::Memory | Table::MemorySchemaOnly => match machine_memory_bytes() {
            0 => 0,
            all => pool_bytes(settings).min(all / 4),
        },
    }
}

fn config(
    workload: &Workload,
    settings: &Settings,
    switches: &Switches,
    folder: &Path,
    fs: &Arc<dyn FileSystem>,
) -> InstanceConfig {
    InstanceConfig {
        cpus: if workload.cpus.is_empty() { &settings.cpus } else { &workload.cpus }.clone(),
        buffer_pool_bytes: pool_bytes(settings),
        table_memory_bytes: table_memory_bytes(workload, settings),
        log: LogConfig {
            vlf_bytes: LOG_VLF_BYTES,
            max_bytes: Some(LOG_MAX_BYTES),
            ..LogConfig::default()
        },
        switches: switches.clone(),
        trace_flags: workload.trace_flags.clone(),
        ..InstanceConfig::new(folder, fs.clone())
    }
}

/// Sessions of an instance, each a task.
pub(crate) struct EmbeddedLoad {
    instance: Arc<Instance>,
    shared: Arc<Shared>,
    handles: Vec<scheduler::JoinHandle<Result<(), LabError>>>,
    switches: Switches,
    device_flush: Option<DeviceFlush>,
    /// At the window's beginning.
    before: Sample,
    /// Likewise, of loads that only read: look-ups of pages.
    looked_up: Option<LookedUp>,
    kind: Kind,
    /// Of a load that checks itself.
    referee: Option<Arc<Referee>>,
    is_shut: bool,
    /// Dropped last: the instance's files are in it.
    _folder: Folder,
}

impl EmbeddedLoad {
    fn set_up(&self, workload: &Workload, seconds: f64) -> Result<(), LabError> {
        let shape = Shape::of(workload);
        let delayed = workload.durability == Durability::Delayed;
        let seconds = workload.rows.is_none().then_some(seconds);
        let (kind, size) = (workload.kind, workload.size);
        let own = self.referee.as_ref().map(|referee| referee.set_up());
        self.on_session(move |session| {
            for batch in script::create_database(delayed, seconds) {
                load::execute(session, &batch)?;
            }
            load::execute(session, &format!("USE {};", script::DATABASE))?;
            if let (Kind::Checked(checked), Some(own)) = (kind, own) {
                let batches = checked.options(script::DATABASE).into_iter().chain(own);
                return batches.into_iter().try_for_each(|batch| load::execute(session, &batch));
            }
            if let Kind::Batch(batch) = kind {
                let all = batch.set_up(size);
                return all.iter().try_for_each(|batch| load::execute(session, batch));
            }
            let all = script::prepare_database(script::DATABASE, shape.table);
            all.iter().try_for_each(|batch| load::execute(session, batch))?;
            script::create_objects(shape).iter().try_for_each(|batch| load::execute(session, batch))
        })
    }

    /// Sessions are served by these CPUs from now on; none: by all.
    fn set_affinity(&self, cpus: &[usize]) -> Result<(), LabError> {
        let list: Vec<String> = cpus.iter().map(usize::to_string).collect();
        let list = if list.is_empty() { "AUTO".to_owned() } else { list.join(", ") };
        let text = format!("ALTER SERVER CONFIGURATION SET PROCESS AFFINITY CPU = {list};");
        self.on_session(move |session| load::execute(session, &text))
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.shared.failed.load(Relaxed)
    }

    pub(crate) fn schedulers(&self) -> usize {
        self.instance.schedulers().count()
    }

    /// CPUs that the threads of the online schedulers may run on, asked of the kernel by a task on each; ascending.
    pub(crate) fn scheduler_cpus(&self) -> Vec<usize> {
        let schedulers = self.instance.schedulers();
        let online = (0..schedulers.count()).filter(|index| schedulers.is_online(*index));
        let asked: Vec<_> = online
            .map(|index| schedulers.spawn("looks", Some(index), runtime::threads::affinity))
            .collect();
        // One that does not tell is missing among the CPUs.
        let told = asked.into_iter().filter_map(|task| task.join().ok()).flatten();
        BTreeSet::from_iter(told).into_iter().collect()
    }

    fn line_up(&mut self, workload: &Workload) {
        for index in 0..workload.sessions {
            let work = Work { index, workload: workload.clone(), referee: self.referee.clone() };
            self.handles.push(load::spawn(&self.instance, &self.shared, work));
        }
        while self.shared.ready.load(Relaxed) < workload.sessions
            && !self.shared.failed.load(Relaxed)
        {
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Runs `body` on a session of its own and waits for it.
    fn on_session<R: Send + 'static>(
        &self,
        body: impl FnOnce(&mut session::Session) -> Result<R, LabError> + Send + 'static,
    ) -> Result<R, LabError> {
        joined(self.instance.spawn_session("lab", body))
    }

    fn stop(&mut self) -> Result<(), LabError> {
        self.shared.stop.store(true, Relaxed);
        let ended: Vec<_> = self.handles.drain(..).map(joined).collect();
        ended.into_iter().collect()
    }

    fn shut(&mut self) -> Result<(), LabError> {
        self.is_shut = true;
        let closed = self.instance.shutdown();
        closed.map_err(|error| LabError::Open(format!("the instance did not close: {error}")))
    }
}

impl Drop for EmbeddedLoad {
    fn drop(&mut self) {
        if !self.is_shut {
            // Whoever drops it unfinished has an error to tell already.
            let _ = self.stop();
            let _ = self.shut();
        }
    }
}

/// The nodes that schedulers on these CPUs are counted by, ascending.
pub(crate) fn nodes_of(cpus: &[usize]) -> Vec<usize> {
    let there = topology::soft::current();
    let nodes: BTreeSet<usize> = cpus.iter().filter_map(|cpu| there.node_of(*cpu)).collect();
    nodes.into_iter().collect()
}

fn joined<R>(handle: scheduler::JoinHandle<Result<R, LabError>>) -> Result<R, LabError> {
    match handle.join() {
        Ok(result) => result,
        Err(panic) => {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|s| (*s).to_owned()));
            Err(LabError::Panicked(text.unwrap_or_else(|| "without a message".to_owned())))
        }
    }
}

impl Load for EmbeddedLoad {
    fn start(&mut self) {
        self.shared.start.store(true, Relaxed);
    }

    fn done(&self) -> Done {
        Done { rows: self.shared.rows(), commits: self.shared.commits() }
    }

    fn has_ended(&self) -> bool {
        self.shared.failed.load(Relaxed) || self.handles.iter().all(|h| h.is_finished())
    }

    fn open_window(&mut self) -> Result<(), LabError> {
        measure::clear();
        self.before = measure::sample();
        self.looked_up = matches!(self.kind, Kind::Batch(Batch::Report)).then(LookedUp::now);
        Ok(())
    }

    fn sample(&mut self) -> Option<Sample> {
        let stats = self.instance.schedulers().stats();
        Some(Sample {
            run_queue: Some(stats.iter().map(|s| s.runnable_tasks).sum()),
            ..measure::sample()
        })
    }

    fn latency(&mut self) -> Option<Histogram> {
        Some(measure::latency())
    }

    /// Sessions that wait for the log, or have been woken from it and wait for the CPU.
    fn in_flight(&self) -> Option<u64> {
        let log = WaitType::WriteLog.name();
        let tasks = self.instance.schedulers().tasks();
        let waits = tasks.iter().filter(|task| match task.state {
            TaskState::Suspended(wait) => wait == log,
            TaskState::Runnable => task.last_wait == Some(log),
            TaskState::Running => false,
        });
        Some(waits.count() as u64)
    }

    fn close_window(&mut self) -> Result<Figures, LabError> {
        let figures = Figures {
            sample: measure::sample().since(&self.before),
            latency: measure::latency(),
            commit_mean_ns: measure::commit_mean_ns(),
            log_writes: measure::log_writes(),
            schedulers: self.instance.schedulers().count(),
            switches: in_force(&self.switches),
            device_flush: self.device_flush,
            figures: self.looked_up.map_or(BTreeMap::new(), LookedUp::figures),
            ..Figures::default()
        };
        // After all that is of the window.
        let scheduler_cpus = self.scheduler_cpus();
        let scheduler_nodes = nodes_of(&scheduler_cpus);
        Ok(Figures { scheduler_cpus, scheduler_nodes, ..figures })
    }

    fn verdict(&mut self, progress: &mut dyn Progress) -> Result<Option<Verdict>, LabError> {
        let Some(referee) = self.referee.clone() else { return Ok(None) };
        self.stop()?;
        progress.step("checking what is there");
        let judge = move |session: &mut session::Session| {
            load::execute(session, &format!("USE {};", script::DATABASE))?;
            referee.judge(&mut InProcess(session))
        };
        self.on_session(judge).map(Some)
    }

    fn finish(mut self: Box<Self>, progress: &mut dyn Progress) -> Result<u64, LabError> {
        self.stop()?;
        if self.referee.is_some() || matches!(self.kind, Kind::Batch(_)) {
            self.shut()?;
            return Ok(self.shared.rows());
        }
        progress.step("counting the rows");
        let acknowledged = self.shared.rows();
        let found = self.on_session(|session| {
            load::execute(session, &format!("USE {};", script::DATABASE))?;
            load::number(session, script::COUNT)
        })?;
        self.shut()?;
        match found == acknowledged {
            true => Ok(found),
            false => Err(LabError::Lost { acknowledged, found }),
        }
    }
}

/// Look-ups of pages at a moment: in the memory of the looker's own node, and in another's.
#[derive(Clone, Copy)]
struct LookedUp {
    at_ns: u64,
    local: u64,
    remote: u64,
}

impl LookedUp {
    fn now() -> LookedUp {
        let nodes = topology::Topology::machine().map_or(1, |machine| machine.nodes.len());
        let all = telemetry::nodes::lookups();
        let (local, remote) = match nodes {
            // On a machine of one node all are local, and counted once.
            0 | 1 => (telemetry::counters::get(telemetry::Counter::PageLookups), 0),
            _ => (all.iter().map(|of| of.local).sum(), all.iter().map(|of| of.remote).sum()),
        };
        LookedUp { at_ns: clock::now_ns(), local, remote }
    }

    fn figures(self) -> BTreeMap<String, Figure> {
        let now = LookedUp::now();
        let seconds = (now.at_ns - self.at_ns).max(1) as f64 / 1e9;
        let figure = |new: u64| Figure {
            value: new as f64 / seconds,
            unit: "/s".to_owned(),
            what: "of pages, by the node of who looks".to_owned(),
        };
        [("local", now.local - self.local), ("remote", now.remote - self.remote)]
            .map(|(which, new)| (format!("page look-ups, {which}"), figure(new)))
            .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_are_the_instances_own() {
        let mut settings = Settings::default();
        settings.switches.insert("log_reserve".to_owned(), vec!["spinlock".to_owned()]);
        let workload = &settings.workloads(Kind::Insert, &Embedded::default().switches())[0];
        let named = in_force(&switches(workload).expect("known ones"));
        assert_eq!(named["log_reserve"], "spinlock");
        assert_eq!(named["log_writer"], "leader");
        let mut wrong = workload.clone();
        wrong.switches.insert("log_reserve".to_owned(), "neither".to_owned());
        assert!(matches!(switches(&wrong), Err(LabError::Options(_))));
    }
}
