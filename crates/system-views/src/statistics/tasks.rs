//! Tasks, workers and threads: who works, on which scheduler, what for, what it waits for.
//!
//! Columns and types: SQL Server's documentation of sys.dm_os_tasks, sys.dm_os_workers, sys.dm_os_threads and
//! sys.dm_os_waiting_tasks. A worker is a coroutine; an OS thread carries a scheduler and all of its workers. The log
//! writer is listed as a task of the scheduler that has written last (by default whoever comes by writes).

use super::locks::{lock_address, waiting_text};
use super::snapshot::{Address, Scheduler, Snapshot, Task};
use crate::context::{Context, moment};
use crate::declare::{Declared, NULL, view};
use executor::SqlError;
use runtime::clock;
use types::Value;
use types::datetime::DateTime;

/// The views of this file.
pub static VIEWS: &[&dyn Declared] = &[&TASKS, &WORKERS, &THREADS, &WAITING];

fn tasks(context: &Context<'_>, _: &[Value]) -> Result<Vec<Task>, SqlError> {
    Ok(Snapshot::take(context).tasks)
}

fn ms(ns: u64) -> i64 {
    (ns / 1_000_000) as i64
}

fn int(n: u64) -> i32 {
    n.min(i32::MAX as u64) as i32
}

view! {
    TASKS = "sys.dm_os_tasks" of Task as t, rows tasks;
    task_address varbinary(8) = t.address();
    task_state nvarchar(60) null = t.state;
    context_switches_count int null = int(t.usage.context_switches);
    pending_io_count int null = int(t.pending.0);
    pending_io_byte_count bigint null = t.pending.1 as i64;
    pending_io_byte_average int null = int(t.pending.1.checked_div(t.pending.0).unwrap_or(0));
    scheduler_id int = t.scheduler_id;
    session_id smallint null = t.session.map(|s| s as i16);
    exec_context_id int null = 0;
    request_id int null = 0;
    worker_address varbinary(8) null = t.worker();
    host_address varbinary(8) = Value::binary(&[0; 8]);
    parent_task_address varbinary(8) null = NULL;
}

view! {
    WORKERS = "sys.dm_os_workers" of Task as t, rows tasks;
    worker_address varbinary(8) = t.worker();
    status int null = 0;
    is_preemptive bit null = false;
    is_fiber bit null = true;
    is_sick bit null = false;
    is_in_cc_exception bit null = false;
    is_fatal_exception bit null = false;
    is_inside_catch bit null = false;
    is_in_polling_io_completion_routine bit null = false;
    context_switch_count int null = int(t.usage.context_switches);
    pending_io_count int null = int(t.pending.0);
    pending_io_byte_count bigint null = t.pending.1 as i64;
    pending_io_byte_average int null = int(t.pending.1.checked_div(t.pending.0).unwrap_or(0));
    wait_started_ms_ticks bigint null = t.wait.map(|_| ms(t.wait_since_ns));
    wait_resumed_ms_ticks bigint null = t.wait.is_none().then(|| ms(clock::now_ns()));
    task_bound_ms_ticks bigint null = ms(t.began_ns);
    worker_created_ms_ticks bigint null = ms(t.began_ns);
    exception_num int null = 0;
    exception_severity int null = 0;
    exception_address varbinary(8) null = NULL;
    affinity bigint null = 1i64.checked_shl(t.scheduler_id as u32).unwrap_or(0);
    state nvarchar(60) null = t.state;
    start_quantum bigint null = 0i64;
    end_quantum bigint null = 0i64;
    last_wait_type nvarchar(60) null = t.last_wait;
    return_code int null = 0;
    quantum_used bigint null = t.usage.cpu_ns as i64 / 1000;
    max_quantum bigint null = 4_000i64;
    boost_count int null = 0;
    tasks_processed_count int null = 1;
    fiber_address varbinary(8) null = t.worker();
    task_address varbinary(8) null = t.address();
    memory_object_address varbinary(8) null = Value::binary(&[0; 8]);
    thread_address varbinary(8) null = Address::Thread(t.scheduler_id).value();
    signal_worker_address varbinary(8) null = NULL;
    scheduler_address varbinary(8) null = Address::Scheduler(t.scheduler_id).value();
    processor_group smallint null = 0i16;
}

/// A scheduler's thread.
pub struct Thread {
    scheduler: Scheduler,
    started: DateTime,
    /// Milliseconds in the kernel and outside; 0 where the system does not tell.
    kernel_ms: i64,
    user_ms: i64,
}

fn threads(context: &Context<'_>, _: &[Value]) -> Result<Vec<Thread>, SqlError> {
    let started = moment(context.server.facts().start_unix_ns);
    let snapshot = Snapshot::take(context);
    let running = snapshot.schedulers.into_iter().filter(|s| s.stats.thread_id.is_some());
    Ok(running
        .map(|scheduler| {
            let id = scheduler.stats.thread_id;
            let (kernel_ms, user_ms) =
                id.and_then(super::process::thread_times_ms).unwrap_or((0, 0));
            Thread { scheduler, started, kernel_ms, user_ms }
        })
        .collect())
}

view! {
    THREADS = "sys.dm_os_threads" of Thread as t, rows threads;
    thread_address varbinary(8) = Address::Thread(t.scheduler.id).value();
    started_by_sqlservr bit null = true;
    os_thread_id int null = t.scheduler.stats.thread_id.map(int);
    status int null = 0;
    instruction_address varbinary(8) null = NULL;
    creation_time datetime null = t.started;
    kernel_time bigint null = t.kernel_ms;
    usermode_time bigint null = t.user_ms;
    stack_base_address varbinary(8) null = NULL;
    stack_end_address varbinary(8) null = NULL;
    stack_bytes_committed int null = NULL;
    stack_bytes_used int null = NULL;
    affinity bigint null = t.scheduler.cpu.and_then(|c| 1i64.checked_shl(c as u32)).unwrap_or(0);
    Priority int null = 0;
    Locale int null = 1033;
    Token varbinary(8) null = NULL;
    is_impersonating int null = 0;
    is_waiting_on_loader_lock int null = 0;
    fiber_data varbinary(8) null = NULL;
    thread_handle varbinary(8) null = NULL;
    event_handle varbinary(8) null = NULL;
    scheduler_address varbinary(8) null = Address::Scheduler(t.scheduler.id).value();
    worker_address varbinary(8) null = NULL;
    fiber_context_address varbinary(8) null = NULL;
    self_address varbinary(8) null = Address::Thread(t.scheduler.id).value();
    processor_group smallint null = 0i16;
}

/// A wait that goes on.
pub struct Waiting {
    task: Task,
    wait_ms: i64,
    resource: Option<u64>,
    description: Option<String>,
    blocking_task: Option<Value>,
    blocking_session: Option<i32>,
}

fn waiting(context: &Context<'_>, _: &[Value]) -> Result<Vec<Waiting>, SqlError> {
    let snapshot = Snapshot::take(context);
    let one = |task: &Task| {
        let lock = task.session.and_then(|session| snapshot.lock_wait_of(session));
        let blocker = lock.and_then(|(_, wait)| wait.blocking_session).map(|s| s as i32);
        Waiting {
            wait_ms: lock.map_or(task.waited_ms(), |(_, wait)| ms(wait.wait_ns)),
            resource: lock.map(|(db, wait)| lock_address(db, wait.owner, wait.resource)),
            description: lock.map(|(db, wait)| waiting_text(context, db, wait.resource, wait.mode)),
            blocking_task: blocker.and_then(|s| snapshot.task_of(s)).map(Task::address),
            blocking_session: blocker,
            task: task.clone(),
        }
    };
    Ok(snapshot.tasks.iter().filter(|task| task.wait.is_some()).map(one).collect())
}

view! {
    WAITING = "sys.dm_os_waiting_tasks" of Waiting as w, rows waiting;
    waiting_task_address varbinary(8) = w.task.address();
    session_id smallint null = w.task.session.map(|s| s as i16);
    exec_context_id int null = 0;
    wait_duration_ms bigint null = w.wait_ms;
    wait_type nvarchar(60) null = w.task.wait;
    resource_address varbinary(8) null = w.resource.map_or(Value::Null, |n| Address::Lock(n).value());
    blocking_task_address varbinary(8) null = w.blocking_task.clone().unwrap_or(Value::Null);
    blocking_session_id smallint null = w.blocking_session.map(|s| s as i16);
    blocking_exec_context_id int null = w.blocking_session.map(|_| 0);
    resource_description nvarchar(3072) null = w.description.as_deref();
}
