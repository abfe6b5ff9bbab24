//! The machine and the process: sys.dm_os_sys_info, sys.dm_os_host_info, sys.dm_os_schedulers, sys.dm_server_services.
//!
//! Columns and types: SQL Server's documentation of each view. What has no meaning here is 0 or NULL.

use crate::context::{Context, ServerFacts, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use types::Value;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&SYS_INFO, &HOST_INFO, &SCHEDULERS];

/// The machine, and how many schedulers run on it.
pub struct System {
    facts: ServerFacts,
    schedulers: i32,
    now_ns: u64,
    now_unix_ns: u64,
}

impl System {
    /// Milliseconds since the instance started.
    fn up_ms(&self) -> i64 {
        (self.now_unix_ns.saturating_sub(self.facts.start_unix_ns) / 1_000_000) as i64
    }

    /// As much as an int can say.
    fn memory_kb(&self) -> i32 {
        self.facts.memory_kb.min(i32::MAX as i64) as i32
    }

    fn now_ms(&self) -> i64 {
        (self.now_ns / 1_000_000) as i64
    }
}

fn system(context: &Context<'_>, _: &[Value]) -> Result<Vec<System>, SqlError> {
    Ok(vec![System {
        facts: context.server.facts(),
        schedulers: context.server.schedulers().len() as i32,
        now_ns: runtime::clock::now_ns(),
        now_unix_ns: runtime::clock::unix_ns(),
    }])
}

view! {
    SYS_INFO = "sys.dm_os_sys_info" of System as s, rows system;
    cpu_ticks bigint = s.now_ns as i64;
    ms_ticks bigint = s.now_ms();
    cpu_count int = s.facts.cpus;
    hyperthread_ratio int = s.facts.cpus;
    physical_memory_kb bigint = s.facts.memory_kb;
    virtual_memory_kb bigint = 137_438_953_344i64;
    committed_kb int = 0;
    committed_target_kb int = s.memory_kb();
    visible_target_kb int = s.memory_kb();
    stack_size_in_bytes int = 262_144;
    os_quantum bigint = 4i64;
    os_error_mode int = 0;
    os_priority_class int null = 32;
    max_workers_count int = 32_767;
    scheduler_count int = s.schedulers;
    scheduler_total_count int = s.schedulers;
    deadlock_monitor_serial_number int = 0;
    sqlserver_start_time_ms_ticks bigint = s.now_ms() - s.up_ms();
    sqlserver_start_time datetime = moment(s.facts.start_unix_ns);
    affinity_type int = 2;
    affinity_type_desc varchar(60) = "AUTO";
    process_kernel_time_ms bigint = 0i64;
    process_user_time_ms bigint = 0i64;
    time_source int = 0;
    time_source_desc nvarchar(60) = "QUERY_PERFORMANCE_COUNTER";
    virtual_machine_type int = 0;
    virtual_machine_type_desc nvarchar(60) = "NONE";
    softnuma_configuration int = 0;
    softnuma_configuration_desc nvarchar(60) = "OFF";
    process_physical_affinity nvarchar(3072) = "";
    sql_memory_model int = 1;
    sql_memory_model_desc nvarchar(120) = "CONVENTIONAL";
    socket_count int = 1;
    cores_per_socket int = s.facts.cpus;
    numa_node_count int = 1;
    container_type int = 0;
    container_type_desc nvarchar(60) = "NONE";
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

fn schedulers(context: &Context<'_>, _: &[Value]) -> Result<Vec<scheduler::Stats>, SqlError> {
    Ok(context.server.schedulers())
}

view! {
    SCHEDULERS = "sys.dm_os_schedulers" of scheduler::Stats as s, rows schedulers;
    scheduler_address varbinary(8) = Value::binary(&(s.index as u64 + 1).to_be_bytes());
    parent_node_id int = 0;
    scheduler_id int = s.index as i32;
    cpu_id smallint = s.cpu.unwrap_or(s.index) as i16;
    status nvarchar(60) = "VISIBLE ONLINE";
    is_online bit = true;
    is_idle bit = s.runnable_tasks == 0;
    preemptive_switches_count int = 0;
    context_switches_count int = s.context_switches as i32;
    idle_switches_count int = s.sleeps as i32;
    current_tasks_count int = s.current_tasks as i32;
    runnable_tasks_count int = s.runnable_tasks as i32;
    current_workers_count int = s.current_tasks as i32;
    active_workers_count int = s.current_tasks as i32;
    work_queue_count bigint = 0i64;
    pending_disk_io_count int = 0;
    load_factor int = s.current_tasks as i32;
    yield_count int = s.yields as i32;
    last_timer_activity bigint = 0i64;
    failed_to_create_worker bit null = false;
    active_worker_address varbinary(8) null = NULL;
    memory_object_address varbinary(8) = Value::binary(&[0; 8]);
    task_memory_object_address varbinary(8) = Value::binary(&[0; 8]);
    quantum_length_us bigint = 4_000i64;
    total_cpu_usage_ms bigint null = NULL;
    total_cpu_idle_capped_ms bigint null = (s.idle_ns / 1_000_000) as i64;
    total_scheduler_delay_ms bigint null = NULL;
    ideal_workers_limit int null = NULL;
}
