//! The machine and the process: sys.dm_os_sys_info, sys.dm_os_host_info, sys.dm_os_schedulers, and what listens.
//!
//! Columns and types: SQL Server's documentation of each view. What has no meaning here is 0 or NULL. The memory of the
//! buffer pools is what they have room for and what holds pages.

use super::process::Process;
use super::snapshot::{self, Address, Scheduler, Snapshot};
use crate::context::{Context, Database, ServerFacts, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use runtime::clock;
use topology::{Topology, soft};
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] =
    &[&SYS_INFO, &PROCESS_MEMORY, &SYS_MEMORY, &HOST_INFO, &SCHEDULERS, &LISTENERS, &RING_BUFFERS];

/// The machine, and how many schedulers run on it.
pub struct System {
    facts: ServerFacts,
    schedulers: i32,
    now_ns: u64,
    now_unix_ns: u64,
    process: Process,
    deadlocks: u64,
    /// Of the memory of pages: in huge pages, where those were asked for.
    large_bytes: u64,
    model: (i32, &'static str),
}

fn int(n: i64) -> i32 {
    n.clamp(0, i32::MAX as i64) as i32
}

impl System {
    /// Milliseconds since the instance started.
    fn up_ms(&self) -> i64 {
        (self.now_unix_ns.saturating_sub(self.facts.start_unix_ns) / 1_000_000) as i64
    }

    fn now_ms(&self) -> i64 {
        (self.now_ns / 1_000_000) as i64
    }

    /// Sockets, physical cores of one, logical CPUs of one.
    fn shape(&self) -> (i32, i32, i32) {
        let cpus = Topology::machine().map_or(&[][..], |machine| &machine.cpus);
        let distinct = |mut keys: Vec<(usize, usize)>| {
            keys.sort_unstable();
            keys.dedup();
            keys.len().max(1) as i32
        };
        let sockets = distinct(cpus.iter().map(|c| (c.package, 0)).collect());
        let cores = distinct(cpus.iter().map(|c| (c.package, c.core)).collect());
        (sockets, cores / sockets, (cpus.len() as i32 / sockets).max(1))
    }
}

/// What the memory of users' databases is made of: bytes in huge pages, and SQL Server's name for it. It is called by
/// what was reached and not by what was asked for.
fn memory_model(databases: &[Database], asked_large: bool) -> (u64, (i32, &'static str)) {
    let open = databases.iter().filter(|d| d.definition.is_some()).filter_map(|d| d.open.as_ref());
    let pools: Vec<(bool, u64, u64)> = open
        .map(|open| {
            let (huge, backed) = match asked_large {
                true => open.engine.pool_huge_bytes(),
                false => (0, 0),
            };
            (open.engine.pool_is_locked(), huge, backed)
        })
        .collect();
    let (huge, backed) =
        pools.iter().fold((0, 0), |(huge, backed), pool| (huge + pool.1, backed + pool.2));
    let model = match () {
        // The kernel may have left single pages of the edges small.
        () if asked_large && backed > 0 && huge >= backed / 10 * 9 => (3, "LARGE_PAGES"),
        () if !pools.is_empty() && pools.iter().all(|pool| pool.0) => (2, "LOCK_PAGES"),
        () => (1, "CONVENTIONAL"),
    };
    (huge, model)
}

fn system(context: &Context<'_>, _: &[Value]) -> Result<Vec<System>, SqlError> {
    let schedulers = context.server.schedulers();
    let facts = context.server.facts();
    let (large_bytes, model) = memory_model(&context.server.databases(), facts.large_pages);
    Ok(vec![System {
        large_bytes,
        model,
        facts,
        schedulers: schedulers.len() as i32,
        now_ns: clock::now_ns(),
        now_unix_ns: clock::unix_ns(),
        process: Process::now(),
        deadlocks: telemetry::counters::get(telemetry::Counter::Deadlocks),
    }])
}

view! {
    PROCESS_MEMORY = "sys.dm_os_process_memory" of System as s, rows system;
    physical_memory_in_use_kb bigint = s.process.resident_kb;
    large_page_allocations_kb bigint = (s.large_bytes / 1024) as i64;
    locked_page_allocations_kb bigint = s.process.locked_kb;
    total_virtual_address_space_kb bigint = 137_438_953_344i64;
    virtual_address_space_reserved_kb bigint = s.process.virtual_kb;
    virtual_address_space_committed_kb bigint = s.process.resident_kb;
    virtual_address_space_available_kb bigint = 137_438_953_344 - s.process.virtual_kb;
    page_fault_count bigint = s.process.page_faults;
    memory_utilization_percentage int = 100;
    available_commit_limit_kb bigint = (s.facts.memory_kb - s.process.resident_kb).max(0);
    process_physical_memory_low bit = false;
    process_virtual_memory_low bit = false;
}

/// What the machine tells of its memory, in KiB; zeros where it does not.
pub struct MachineMemory {
    text: String,
}

impl MachineMemory {
    fn kb(&self, name: &str) -> i64 {
        let line = self.text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.and_then(|rest| rest.split_whitespace().next()?.parse().ok()).unwrap_or(0)
    }

    /// Whether plenty is available, or next to nothing: as a share of all, since the system has no signal of its own.
    fn signals(&self) -> (bool, bool) {
        let (all, available) = (self.kb("MemTotal"), self.kb("MemAvailable"));
        (available > all / 4, available < all / 32)
    }

    fn state(&self) -> &'static str {
        match self.signals() {
            (true, _) => "Available physical memory is high",
            (_, true) => "Available physical memory is low",
            _ => "Physical memory usage is steady",
        }
    }
}

fn machine_memory(_: &Context<'_>, _: &[Value]) -> Result<Vec<MachineMemory>, SqlError> {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    Ok(vec![MachineMemory { text }])
}

view! {
    SYS_MEMORY = "sys.dm_os_sys_memory" of MachineMemory as m, rows machine_memory;
    total_physical_memory_kb bigint = m.kb("MemTotal");
    available_physical_memory_kb bigint = m.kb("MemAvailable");
    total_page_file_kb bigint = m.kb("MemTotal") + m.kb("SwapTotal");
    available_page_file_kb bigint = m.kb("MemAvailable") + m.kb("SwapFree");
    system_cache_kb bigint = m.kb("Cached");
    kernel_paged_pool_kb bigint = m.kb("SReclaimable");
    kernel_nonpaged_pool_kb bigint = m.kb("SUnreclaim");
    system_high_memory_signal_state bit = m.signals().0;
    system_low_memory_signal_state bit = m.signals().1;
    system_memory_state_desc nvarchar(256) = m.state();
}

view! {
    SYS_INFO = "sys.dm_os_sys_info" of System as s, rows system;
    cpu_ticks bigint = s.now_ns as i64;
    ms_ticks bigint = s.now_ms();
    cpu_count int = s.facts.cpus;
    hyperthread_ratio int = s.shape().2;
    physical_memory_kb bigint = s.facts.memory_kb;
    virtual_memory_kb bigint = 137_438_953_344i64;
    committed_kb int = int(s.process.resident_kb);
    committed_target_kb int = int(s.facts.limit_kb);
    visible_target_kb int = int(s.facts.limit_kb);
    stack_size_in_bytes int = 1_048_576;
    os_quantum bigint = 4i64;
    os_error_mode int = 0;
    os_priority_class int null = 32;
    max_workers_count int = 32_767;
    scheduler_count int = s.schedulers;
    scheduler_total_count int = s.schedulers;
    deadlock_monitor_serial_number int = int(s.deadlocks as i64);
    sqlserver_start_time_ms_ticks bigint = s.now_ms() - s.up_ms();
    sqlserver_start_time datetime = moment(s.facts.start_unix_ns);
    affinity_type int = if s.facts.manual_affinity { 1 } else { 2 };
    affinity_type_desc varchar(60) = if s.facts.manual_affinity { "MANUAL" } else { "AUTO" };
    process_kernel_time_ms bigint = s.process.kernel_ms;
    process_user_time_ms bigint = s.process.user_ms;
    time_source int = 0;
    time_source_desc nvarchar(60) = "QUERY_PERFORMANCE_COUNTER";
    virtual_machine_type int = i32::from(is_virtual());
    virtual_machine_type_desc nvarchar(60) = if is_virtual() { "HYPERVISOR" } else { "NONE" };
    softnuma_configuration int = soft::current().configuration as i32;
    softnuma_configuration_desc nvarchar(60) = soft::current().configuration.description();
    process_physical_affinity nvarchar(3072) = physical_affinity();
    sql_memory_model int = s.model.0;
    sql_memory_model_desc nvarchar(120) = s.model.1;
    socket_count int = s.shape().0;
    cores_per_socket int = s.shape().1;
    numa_node_count int = snapshot::nodes().len() as i32;
    container_type int = 0;
    container_type_desc nvarchar(60) = "NONE";
}

/// Whether the processor says that a hypervisor is below.
fn is_virtual() -> bool {
    static KNOWN: std::sync::OnceLock<bool> = std::sync::OnceLock::new();
    *KNOWN.get_or_init(|| {
        let told = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        told.lines().any(|l| l.starts_with("flags") && l.contains(" hypervisor"))
    })
}

/// `{{group,mask}...}` of the CPUs that the process may use.
fn physical_affinity() -> String {
    let mask = runtime::threads::process_affinity().iter().filter(|cpu| **cpu < 64);
    format!("{{{{0,{:x}}}}}", mask.fold(0u64, |mask, cpu| mask | 1 << cpu))
}

view! {
    HOST_INFO = "sys.dm_os_host_info" of System as s, rows system;
    host_platform nvarchar(256) = "Linux";
    host_distribution nvarchar(256) = "Linux";
    host_release nvarchar(256) = "";
    host_service_pack_level nvarchar(256) = "";
    host_sku int null = NULL;
    os_language_version int = 0;
    host_architecture nvarchar(256) = if cfg!(target_arch = "aarch64") { "ARM64" } else { "X64" };
}

/// A scheduler and the tasks on it.
pub struct OnScheduler {
    s: Scheduler,
    /// Tasks that are there, tasks that run or wait for their turn, the running one's worker.
    tasks: i32,
    active: i32,
    signal_ns: u64,
    running: Option<Value>,
}

fn schedulers(context: &Context<'_>, _: &[Value]) -> Result<Vec<OnScheduler>, SqlError> {
    let snapshot = Snapshot::take(context);
    let one = |s: &Scheduler| {
        let here = || snapshot.tasks.iter().filter(|t| t.scheduler_id == s.id);
        OnScheduler {
            tasks: here().count() as i32,
            active: here().filter(|t| t.state != "SUSPENDED").count() as i32,
            signal_ns: here().map(|t| t.usage.signal_ns).sum(),
            running: here().find(|t| t.state == "RUNNING").map(|t| t.worker()),
            s: s.clone(),
        }
    };
    Ok(snapshot.schedulers.iter().map(one).collect())
}

view! {
    SCHEDULERS = "sys.dm_os_schedulers" of OnScheduler as o, rows schedulers;
    scheduler_address varbinary(8) = Address::Scheduler(o.s.id).value();
    parent_node_id int = o.s.node;
    scheduler_id int = o.s.id;
    cpu_id smallint = o.s.cpu.unwrap_or(0) as i16;
    status nvarchar(60) = o.s.status;
    is_online bit = o.s.status != "VISIBLE OFFLINE";
    is_idle bit = o.active == 0;
    preemptive_switches_count int = 0;
    context_switches_count int = int(o.s.stats.context_switches as i64);
    idle_switches_count int = int(o.s.stats.sleeps as i64);
    current_tasks_count int = o.tasks;
    runnable_tasks_count int = int(o.s.stats.runnable_tasks as i64);
    current_workers_count int = o.tasks;
    active_workers_count int = o.tasks;
    work_queue_count bigint = 0i64;
    pending_disk_io_count int = int(o.s.pending_io as i64);
    load_factor int = o.tasks;
    yield_count int = int(o.s.stats.yields as i64);
    last_timer_activity bigint = 0i64;
    failed_to_create_worker bit null = false;
    active_worker_address varbinary(8) null = o.running.clone().unwrap_or(Value::Null);
    memory_object_address varbinary(8) = Value::binary(&[0; 8]);
    task_memory_object_address varbinary(8) = Value::binary(&[0; 8]);
    quantum_length_us bigint = 4_000i64;
    total_cpu_usage_ms bigint null = (o.s.stats.busy_ns / 1_000_000) as i64;
    total_cpu_idle_capped_ms bigint null = 0i64;
    total_scheduler_delay_ms bigint null = (o.signal_ns / 1_000_000) as i64;
    ideal_workers_limit int null = NULL;
}

fn ring_buffers(
    context: &Context<'_>,
    _: &[Value],
) -> Result<Vec<crate::facts::NonYielding>, SqlError> {
    Ok(context.server.non_yielding())
}

/// As SQL Server's monitor of schedulers tells it.
fn non_yielding_record(r: &crate::facts::NonYielding) -> String {
    format!(
        "<Record id=\"{}\" type=\"RING_BUFFER_SCHEDULER_MONITOR\" time=\"{}\"><SchedulerMonitorEvent>\
         <NonYielding><Node>0</Node><Scheduler>{}</Scheduler><Thread>{}</Thread><Task>{}</Task><Session>{}</Session>\
         <Elapsed>{}</Elapsed><ProcessUtilization>{}</ProcessUtilization></NonYielding>\
         </SchedulerMonitorEvent></Record>",
        r.at_ns,
        r.at_ns / 1_000_000,
        r.scheduler,
        r.thread_id,
        r.task,
        r.session.unwrap_or(0),
        r.kept_ns / 1_000_000,
        r.cpu_ns / 1_000_000,
    )
}

view! {
    RING_BUFFERS = "sys.dm_os_ring_buffers" of crate::facts::NonYielding as r, rows ring_buffers;
    ring_buffer_address varbinary(8) = Value::binary(&1u64.to_be_bytes());
    ring_buffer_type nvarchar(60) = "RING_BUFFER_SCHEDULER_MONITOR";
    timestamp bigint = (r.at_ns / 1_000_000) as i64;
    record nvarchar(3072) null = non_yielding_record(r);
}

fn listeners(
    context: &Context<'_>,
    _: &[Value],
) -> Result<Vec<(i32, crate::facts::ListenerFacts)>, SqlError> {
    Ok((1..).zip(context.server.listeners()).collect())
}

view! {
    LISTENERS = "sys.dm_tcp_listener_states" of (i32, crate::facts::ListenerFacts) as l, rows listeners;
    listener_id int = l.0;
    ip_address nvarchar(48) = l.1.ip.to_string();
    is_ipv4 bit = l.1.ip.is_ipv4();
    port int = i32::from(l.1.port);
    r#type tinyint = 0u8;
    type_desc nvarchar(20) = "TSQL";
    state tinyint = 1u8;
    state_desc nvarchar(16) = "ONLINE";
    start_time datetime = moment(l.1.start_unix_ns);
}
