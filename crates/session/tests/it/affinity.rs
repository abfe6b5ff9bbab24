//! The CPUs that sessions run on: set by statement and by mask, one setting; what is refused changes nothing; and where a
//! log's writer may be put.

use device::SimFs;
use executor::Collected;
use session::{Instance, InstanceConfig, OpenError, Session};
use std::sync::Arc;
use types::Value;

const SET: &str = "ALTER SERVER CONFIGURATION SET";
const PROCESS: [&str; 2] = ["affinity mask", "affinity64 mask"];
const IO: [&str; 2] = ["affinity I/O mask", "affinity64 I/O mask"];

fn open(
    fs: &Arc<SimFs>,
    change: impl FnOnce(&mut InstanceConfig),
) -> Result<Arc<Instance>, OpenError> {
    let mut config = InstanceConfig::small("/data", fs.clone());
    change(&mut config);
    Instance::open(config)
}

fn opened(fs: &Arc<SimFs>) -> Arc<Instance> {
    let instance = open(fs, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    run(&instance, "EXEC sp_configure 'show advanced options', 1; RECONFIGURE");
    instance
}

fn said(instance: &Arc<Instance>, batch: &str) -> Collected {
    let mut said = Collected::default();
    let _ = Session::new(instance).execute(batch, &mut said);
    said
}

fn errors(instance: &Arc<Instance>, batch: &str) -> Vec<i32> {
    said(instance, batch).errors()
}

fn run(instance: &Arc<Instance>, batch: &str) -> Vec<Vec<Value>> {
    let said = said(instance, batch);
    assert_eq!(said.errors(), [] as [i32; 0], "{batch}: {:?}", said.messages);
    said.sets.into_iter().flat_map(|set| set.rows).collect()
}

/// Of the two options' bits, which are int.
fn halves(mask: u64) -> [i32; 2] {
    [mask as u32 as i32, (mask >> 32) as u32 as i32]
}

/// Configured and in use.
fn masks(instance: &Arc<Instance>, names: [&str; 2]) -> [[i32; 2]; 2] {
    let of = |column: &str| {
        names.map(|name| {
            let query = format!(
                "SELECT CAST({column} AS int) FROM sys.configurations WHERE name = '{name}'"
            );
            run(instance, &query)[0][0].as_i64().expect("an int") as i32
        })
    };
    [of("value"), of("value_in_use")]
}

fn configure(instance: &Arc<Instance>, names: [&str; 2], mask: u64) {
    for (name, half) in names.iter().zip(halves(mask)) {
        run(instance, &format!("EXEC sp_configure '{name}', {half}"));
    }
}

/// The CPUs of schedulers that are online.
fn online(instance: &Arc<Instance>) -> Vec<usize> {
    let stats = instance.schedulers().stats();
    stats.iter().filter(|stats| stats.online).filter_map(|stats| stats.cpu).collect()
}

fn affinity_type(instance: &Arc<Instance>) -> Value {
    run(instance, "SELECT affinity_type_desc FROM sys.dm_os_sys_info")[0][0].clone()
}

/// The CPUs of this process, one that a mask can name and that it has not, and its first one's bit.
fn machine() -> Option<(&'static [usize], usize, u64)> {
    let cpus = runtime::threads::process_affinity();
    let none = (0..64).find(|cpu| !cpus.contains(cpu) && cpus[0] < 64)?;
    Some((cpus, none, 1 << cpus[0]))
}

#[test]
fn masks_tell_what_the_statement_has_set_and_can_be_set_again() {
    let Some((cpus, _, bit)) = machine() else { return };
    let fs = SimFs::new(1);
    let instance = opened(&fs);
    let one = vec![cpus[0]];
    for _ in 0..2 {
        run(&instance, &format!("{SET} PROCESS AFFINITY CPU = {}", cpus[0]));
        assert_eq!(masks(&instance, PROCESS), [halves(bit); 2]);
        assert_eq!(
            (online(&instance), affinity_type(&instance)),
            (one.clone(), Value::str("MANUAL"))
        );
        // What was set by the one is taken back by the other, and the other way round.
        configure(&instance, PROCESS, 0);
        assert_eq!(masks(&instance, PROCESS), [halves(0), halves(bit)]);
        run(&instance, "RECONFIGURE");
        assert_eq!(
            (online(&instance), affinity_type(&instance)),
            (cpus.to_vec(), Value::str("AUTO"))
        );
        configure(&instance, PROCESS, bit);
        run(&instance, "RECONFIGURE");
        assert_eq!(online(&instance), one);
        run(&instance, &format!("{SET} PROCESS AFFINITY CPU = AUTO"));
        assert_eq!(masks(&instance, PROCESS), [halves(0); 2]);
        assert_eq!(online(&instance), cpus);
    }
    // The statement counts where a mask was configured and not installed.
    configure(&instance, PROCESS, 0);
    run(&instance, &format!("{SET} PROCESS AFFINITY CPU = {}; RECONFIGURE", cpus[0]));
    instance.shutdown().expect("closed");
    drop(instance);

    let instance = opened(&fs);
    assert_eq!((masks(&instance, PROCESS), online(&instance)), ([halves(bit); 2], one));
    instance.shutdown().expect("closed");
}

#[test]
fn a_mask_that_cannot_be_changes_nothing() {
    let Some((cpus, none, bit)) = machine() else { return };
    let fs = SimFs::new(1);
    let instance = opened(&fs);
    let threshold = "SELECT CAST(value_in_use AS int) FROM sys.configurations \
                     WHERE name = 'cost threshold for parallelism'";
    run(&instance, "EXEC sp_configure 'cost threshold for parallelism', 77");
    for names in [PROCESS, IO] {
        configure(&instance, names, bit | 1 << none);
        for reconfigure in ["RECONFIGURE", "RECONFIGURE WITH OVERRIDE"] {
            assert_eq!(errors(&instance, reconfigure), [5832]);
        }
        assert_eq!(masks(&instance, names), [halves(bit | 1 << none), halves(0)]);
        assert_eq!(run(&instance, threshold), [[Value::Int(5)]]);
        assert_eq!(
            (online(&instance), affinity_type(&instance)),
            (cpus.to_vec(), Value::str("AUTO"))
        );
        configure(&instance, names, 0);
    }
    run(&instance, "RECONFIGURE");
    assert_eq!(run(&instance, threshold), [[Value::Int(77)]]);
    instance.shutdown().expect("closed");
}

#[test]
fn masks_of_sessions_and_of_io_meet_only_by_override() {
    let Some((cpus, _, bit)) = machine() else { return };
    let fs = SimFs::new(1);
    let instance = opened(&fs);
    // Where no mask says which CPUs sessions have, none meets.
    configure(&instance, IO, bit);
    run(&instance, "RECONFIGURE");
    configure(&instance, PROCESS, bit);
    assert_eq!(errors(&instance, "RECONFIGURE"), [5834]);
    assert_eq!(online(&instance), cpus);
    run(&instance, "RECONFIGURE WITH OVERRIDE");
    assert_eq!(online(&instance), cpus[..1]);
    assert_eq!(masks(&instance, PROCESS), [halves(bit); 2]);
    // It is not dynamic.
    assert_eq!(masks(&instance, IO), [halves(bit), halves(0)]);
    instance.shutdown().expect("closed");
    drop(instance);

    let instance = open(&fs, |_| ()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(masks(&instance, IO), [halves(bit); 2]);
    assert_eq!(errors(&instance, "RECONFIGURE"), [5834], "whatever else was changed");
    instance.shutdown().expect("closed");
}

#[test]
fn changes_at_one_time_leave_what_is_kept_in_force() {
    let Some((cpus, _, bit)) = machine() else { return };
    let fs = SimFs::new(1);
    let instance = opened(&fs);
    let last = cpus.iter().copied().filter(|cpu| *cpu < 64).max().unwrap_or(cpus[0]);
    std::thread::scope(|threads| {
        for set in [format!("{}", cpus[0]), format!("{last}"), "AUTO".to_owned()] {
            let instance = &instance;
            threads.spawn(move || {
                for _ in 0..20 {
                    run(instance, &format!("{SET} PROCESS AFFINITY CPU = {set}"));
                }
            });
        }
        threads.spawn(|| {
            for i in 0..20 {
                configure(&instance, PROCESS, if i % 2 == 0 { bit } else { 0 });
                run(&instance, "RECONFIGURE");
            }
        });
    });
    // Whoever came last: all that tells of it tells the same.
    run(&instance, "RECONFIGURE");
    let told = |instance: &Arc<Instance>| {
        (masks(instance, PROCESS), online(instance), affinity_type(instance))
    };
    let (masks, now, desc) = told(&instance);
    assert!(!now.is_empty());
    let of_cpus =
        if desc == Value::str("AUTO") { 0 } else { now.iter().fold(0, |m, cpu| m | 1 << cpu) };
    assert_eq!(masks, [halves(of_cpus); 2]);
    instance.shutdown().expect("closed");
    drop(instance);

    let instance = opened(&fs);
    assert_eq!(told(&instance), (masks, now, desc));
    instance.shutdown().expect("closed");
}

#[test]
fn a_writer_on_a_scheduler_is_put_where_one_is() {
    let cpus = runtime::threads::process_affinity();
    let &[first, second, ..] = cpus else { return };
    let fs = SimFs::new(1);
    let alone = |config: &mut InstanceConfig| config.cpus = vec![first];
    let instance = open(&fs, alone).unwrap_or_else(|error| panic!("{error}"));
    let set = |switches: &str| errors(&instance, &format!("{SET} MILLRACE ({switches})"));
    let switches = || run(&instance, "SELECT value FROM sys.dm_millrace_switches");
    let before = switches();
    let place = format!("LOG_WRITER_PLACE = 'CPU {second}'");
    assert_eq!(set(&format!("LOG_WRITER = SCHEDULER, {place}")), [15129]);
    assert_eq!(switches(), before);
    // A thread goes anywhere, and stays where it is when it cannot become a task.
    assert_eq!(set(&format!("LOG_WRITER = DEDICATED, {place}")), [0; 0]);
    let before = switches();
    assert_eq!(set("LOG_WRITER = SCHEDULER"), [15129]);
    assert_eq!(switches(), before);
    assert_eq!(set(&format!("LOG_WRITER = SCHEDULER, LOG_WRITER_PLACE = 'CPU {first}'")), [0; 0]);
    assert_eq!(set("LOG_WRITER = DEFAULT, LOG_WRITER_PLACE = DEFAULT"), [0; 0]);
    instance.shutdown().expect("closed");
    drop(instance);

    let asked = |config: &mut InstanceConfig| {
        alone(config);
        let place = format!("CPU {second}");
        config.switches.set("LOG_WRITER_PLACE", Some(&place)).expect("it may be used");
        config.switches.set("LOG_WRITER", Some("SCHEDULER")).expect("allowed");
    };
    match open(&fs, asked) {
        Err(OpenError::Switch { what }) => assert!(what.contains("LOG_WRITER_PLACE"), "{what}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("nobody is there"),
    }
}
