//! Nodes of soft-NUMA, and the settings of a server that its next start takes up. A program of its own: nodes are the
//! process's.

use device::SimFs;
use session::{Collected, Instance, InstanceConfig, OpenError, Session};
use std::sync::Arc;

fn rows(sink: &Collected) -> Vec<String> {
    let text = |row: &Vec<types::Value>| {
        let words = row.iter().map(|v| types::format::shell(v, v.natural_type()));
        words.collect::<Vec<_>>().join(" ")
    };
    sink.sets.iter().flat_map(|set| &set.rows).map(text).collect()
}

fn run(instance: &Arc<Instance>, batch: &str) -> Vec<String> {
    let mut sink = Collected::default();
    let done = Session::new(instance).execute(batch, &mut sink);
    done.unwrap_or_else(|()| panic!("{batch}: {:?}", sink.messages));
    rows(&sink)
}

fn error(instance: &Arc<Instance>, batch: &str) -> Option<i32> {
    let mut sink = Collected::default();
    let _ = Session::new(instance).execute(batch, &mut sink);
    sink.messages.iter().find(|message| message.severity > 10).map(|message| message.number)
}

const TOLD: &str = "SELECT softnuma_configuration, softnuma_configuration_desc, numa_node_count, affinity_type_desc \
                    FROM sys.dm_os_sys_info";
const NODES: &str =
    "SELECT node_id, memory_node_id, cpu_count FROM sys.dm_os_nodes ORDER BY node_id";
const OPTION: &str =
    "SELECT CAST(value AS int), CAST(value_in_use AS int) FROM sys.configurations WHERE name = ";

#[test]
fn a_server_keeps_its_settings_and_divides_its_nodes_by_hand() {
    let fs = SimFs::new(1);
    let cpus = runtime::threads::process_affinity();
    let open = |soft_nodes: &[Vec<usize>]| {
        let mut config = InstanceConfig::small("/data", fs.clone());
        config.soft_nodes = soft_nodes.to_vec();
        Instance::open(config)
    };
    let none = cpus.iter().max().expect("there is one") + 1;
    match open(&[vec![none]]) {
        Err(OpenError::SoftNode { what }) => assert!(what.contains(&none.to_string()), "{what}"),
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("there is no CPU {none}"),
    }

    let by_hand: Vec<Vec<usize>> = cpus.iter().map(|cpu| vec![*cpu]).collect();
    let first = open(&by_hand).expect("opened");
    let machine = topology::Topology::machine().expect("a machine");
    let told = |affinity: &str| format!("2 MANUAL {} {affinity}", cpus.len());
    assert_eq!(run(&first, TOLD), [told("AUTO")]);
    let node =
        |(at, cpu): (usize, &usize)| format!("{at} {} 1", machine.cpu(*cpu).expect("ours").node);
    assert_eq!(run(&first, NODES), cpus.iter().enumerate().map(node).collect::<Vec<_>>());
    let last = cpus.len() - 1;
    let set = "ALTER SERVER CONFIGURATION SET";
    run(&first, &format!("{set} PROCESS AFFINITY NUMANODE = {last}"));
    assert_eq!(
        error(&first, &format!("{set} PROCESS AFFINITY NUMANODE = {}", last + 1)),
        Some(5832)
    );
    run(&first, &format!("{set} MILLRACE (LOG_WRITER_PLACE = 'NODE {last}')"));

    // What is configured and not installed is not kept.
    run(&first, "EXEC sp_configure 'show advanced options', 1; RECONFIGURE");
    run(&first, "EXEC sp_configure 'max degree of parallelism', 3; RECONFIGURE");
    run(&first, "EXEC sp_configure 'cost threshold for parallelism', 77");
    run(&first, &format!("{set} SOFTNUMA OFF"));
    let disabled = "'automatic soft-NUMA disabled'";
    assert_eq!(run(&first, &format!("{OPTION}{disabled}")), ["1 0"]);
    assert_eq!(error(&first, &format!("EXEC sp_configure {disabled}, 0")), Some(15129));
    first.shutdown().expect("closed");
    drop(first);

    let second = open(&[]).expect("opened again");
    let off = format!("0 OFF {} MANUAL", machine.nodes.len());
    assert_eq!(run(&second, TOLD), [off]);
    let online = "SELECT cpu_id FROM sys.dm_os_schedulers WHERE status = 'VISIBLE ONLINE'";
    assert_eq!(run(&second, online), [cpus[last].to_string()]);
    assert_eq!(run(&second, &format!("{OPTION}'max degree of parallelism'")), ["3 3"]);
    assert_eq!(run(&second, &format!("{OPTION}'cost threshold for parallelism'")), ["5 5"]);
    assert_eq!(run(&second, &format!("{OPTION}{disabled}")), ["1 1"]);
    run(&second, &format!("{set} PROCESS AFFINITY CPU = AUTO; {set} SOFTNUMA ON"));
    second.shutdown().expect("closed");
    drop(second);

    let third = open(&[]).expect("opened once more");
    assert_eq!(run(&third, online).len(), cpus.len());
    assert_eq!(run(&third, &format!("{OPTION}{disabled}")), ["0 0"]);
    third.shutdown().expect("closed");
}
