//! Machines that are not at hand, read from trees in the shape of /sys: what is read, and where things would be placed,
//! held in `tests/machines/NAME.txt`. `UPDATE_EXPECT=1` writes them anew.
//!
//! The trees are built to the numbering that Linux gives such machines: which CPU numbers the hyper-threads have, how
//! sockets and nodes share them, which files are missing.

use std::fs;
use std::path::{Path, PathBuf};
use topology::soft::{Configuration, SoftNuma, Wrong};
use topology::{Topology, placement, render};

/// How a machine numbers its CPUs.
#[derive(Clone, Copy)]
enum Numbering {
    /// Socket by socket, then the second hyper-threads in the same order (most BIOSes).
    Blocks,
    /// CPU n is on socket n mod sockets (Dell's and HP's older two-socket machines).
    Interleaved,
    /// The hyper-threads of a core have neighbouring numbers (POWER, many virtual machines).
    Neighbours,
}

struct Machine {
    sockets: usize,
    nodes_a_socket: usize,
    cores_a_socket: usize,
    threads: usize,
    numbering: Numbering,
    model: &'static str,
    memory_gib_a_node: u64,
    /// Between nodes of a socket, between sockets.
    distance: (u32, u32),
    last_level_mib: u64,
    /// Not told for machines with very many CPUs: it would be a file tree of 30,000 files.
    caches: bool,
    /// Files that differ: path and text; an empty text takes the file away.
    besides: Vec<(String, String)>,
}

impl Machine {
    fn new(sockets: usize, cores_a_socket: usize, threads: usize) -> Machine {
        Machine {
            sockets,
            nodes_a_socket: 1,
            cores_a_socket,
            threads,
            numbering: Numbering::Blocks,
            model: "a processor",
            memory_gib_a_node: 32,
            distance: (12, 21),
            last_level_mib: 12,
            caches: true,
            besides: Vec::new(),
        }
    }

    fn but(mut self, path: &str, text: &str) -> Machine {
        self.besides.push((path.to_owned(), text.to_owned()));
        self
    }

    fn cpus(&self) -> usize {
        self.sockets * self.cores_a_socket * self.threads
    }

    /// (socket, core within it, thread) of a CPU.
    fn place(&self, cpu: usize) -> (usize, usize, usize) {
        let cores = self.sockets * self.cores_a_socket;
        match self.numbering {
            Numbering::Blocks => {
                let core = cpu % cores;
                (core / self.cores_a_socket, core % self.cores_a_socket, cpu / cores)
            }
            Numbering::Interleaved => {
                let core = cpu % cores;
                (core % self.sockets, core / self.sockets, cpu / cores)
            }
            Numbering::Neighbours => {
                let core = cpu / self.threads;
                (core / self.cores_a_socket, core % self.cores_a_socket, cpu % self.threads)
            }
        }
    }

    fn node(&self, cpu: usize) -> usize {
        let (socket, core, _) = self.place(cpu);
        socket * self.nodes_a_socket + core * self.nodes_a_socket / self.cores_a_socket
    }

    fn like(&self, cpu: usize, same: impl Fn(usize) -> bool) -> String {
        let all: Vec<usize> = (0..self.cpus()).filter(|&other| same(other)).collect();
        assert!(all.contains(&cpu));
        topology::format_cpulist(&all)
    }

    /// Writes the tree and reads it.
    fn read(&self, name: &str) -> Topology {
        let root = std::env::temp_dir().join(format!("machine-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        let put = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("created");
            fs::write(path, format!("{text}\n")).expect("written");
        };
        let last = self.cpus() - 1;
        let (cpu_dir, node_dir) = ("sys/devices/system/cpu", "sys/devices/system/node");
        for file in ["online", "present"] {
            put(&format!("{cpu_dir}/{file}"), &format!("0-{last}"));
        }
        for cpu in 0..=last {
            let own = format!("{cpu_dir}/cpu{cpu}");
            let (socket, core, _) = self.place(cpu);
            put(&format!("{own}/topology/core_id"), &core.to_string());
            put(&format!("{own}/topology/physical_package_id"), &socket.to_string());
            if !self.caches {
                continue;
            }
            let of_core = self.like(cpu, |c| self.place(c).0 == socket && self.place(c).1 == core);
            let of_socket = self.like(cpu, |c| self.place(c).0 == socket);
            let mib = format!("{}K", self.last_level_mib << 10);
            let caches = [
                ("1", "Data", "32K", &of_core),
                ("1", "Instruction", "32K", &of_core),
                ("2", "Unified", "256K", &of_core),
                ("3", "Unified", mib.as_str(), &of_socket),
            ];
            for (index, (level, kind, size, shared)) in caches.into_iter().enumerate() {
                let cache = format!("{own}/cache/index{index}");
                put(&format!("{cache}/level"), level);
                put(&format!("{cache}/type"), kind);
                put(&format!("{cache}/size"), size);
                put(&format!("{cache}/shared_cpu_list"), shared);
                put(&format!("{cache}/coherency_line_size"), "64");
            }
        }
        let nodes = self.sockets * self.nodes_a_socket;
        put(&format!("{node_dir}/online"), &format!("0-{}", nodes - 1));
        for node in 0..nodes {
            let own = format!("{node_dir}/node{node}");
            let cpus: Vec<usize> = (0..=last).filter(|&cpu| self.node(cpu) == node).collect();
            put(&format!("{own}/cpulist"), &topology::format_cpulist(&cpus));
            let kib = self.memory_gib_a_node << 20;
            put(&format!("{own}/meminfo"), &format!("Node {node} MemTotal: {kib} kB"));
            let to = |other: usize| match () {
                () if other == node => 10,
                () if other / self.nodes_a_socket == node / self.nodes_a_socket => self.distance.0,
                () => self.distance.1,
            };
            let distances: Vec<String> = (0..nodes).map(|other| to(other).to_string()).collect();
            put(&format!("{own}/distance"), &distances.join(" "));
        }
        put("proc/cpuinfo", &format!("model name\t: {}", self.model));
        for (path, text) in &self.besides {
            match text.is_empty() {
                true => fs::remove_file(root.join(path)).expect("there"),
                false => put(path, text),
            }
        }
        let read = Topology::from_sysfs(&root).expect("readable");
        let _ = fs::remove_dir_all(&root);
        read
    }

    #[track_caller]
    fn check(&self, name: &str) {
        let machine = self.read(name);
        let plan = placement::plan(&machine, &SoftNuma::automatic(&machine));
        let text = format!("{}\n{}", render::machine(&machine), render::placement(&plan));
        let path: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/machines")
            .join(format!("{name}.txt"));
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            fs::write(&path, &text).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(text == expected, "{}:\n{text}", path.display());
    }
}

/// Post 1: two six-core Westmeres with hyper-threading, sockets in turn.
#[test]
fn two_sockets_of_six_cores() {
    let mut machine = Machine::new(2, 6, 2);
    machine.numbering = Numbering::Interleaved;
    machine.model = "Intel(R) Xeon(R) CPU X5650 @ 2.67GHz";
    machine.check("westmere-2x6");
}

/// Post 3: two ten-core Haswells with hyper-threading.
#[test]
fn two_sockets_of_ten_cores() {
    let mut machine = Machine::new(2, 10, 2);
    machine.model = "Intel(R) Xeon(R) CPU E5-2650 v3 @ 2.30GHz";
    machine.last_level_mib = 25;
    machine.check("haswell-2x10");
}

/// Post 4: eight sockets of eight cores.
#[test]
fn eight_sockets_of_eight_cores() {
    let mut machine = Machine::new(8, 8, 1);
    machine.model = "Intel(R) Xeon(R) CPU X7560 @ 2.27GHz";
    machine.distance = (10, 17);
    machine.last_level_mib = 24;
    machine.check("dl980-8x8");
}

/// A socket divided into two nodes (sub-NUMA clusters).
#[test]
fn sub_numa_clusters() {
    let mut machine = Machine::new(2, 20, 2);
    machine.nodes_a_socket = 2;
    machine.model = "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz";
    machine.distance = (11, 21);
    machine.check("cascade-lake-snc2");
}

/// Four nodes a socket, their memory's cost told by firmware.
#[test]
fn four_nodes_a_socket() {
    let mut machine = Machine::new(1, 32, 2);
    machine.nodes_a_socket = 4;
    machine.model = "AMD EPYC 7551 32-Core Processor";
    machine.distance = (16, 32);
    for node in 0..4 {
        let own = format!("sys/devices/system/node/node{node}/access0/initiators");
        for (file, value) in [
            ("read_latency", 90),
            ("write_latency", 90),
            ("read_bandwidth", 40_960),
            ("write_bandwidth", 36_864),
        ] {
            machine = machine.but(&format!("{own}/{file}"), &value.to_string());
        }
    }
    machine.check("epyc-nps4");
}

/// arm64: no model name, packages unknown, no shared caches told.
#[test]
fn arm64() {
    let mut machine = Machine::new(1, 16, 1);
    machine.besides = (0..16)
        .map(|cpu| {
            let path = format!("sys/devices/system/cpu/cpu{cpu}/topology/physical_package_id");
            (path, "-1".to_owned())
        })
        .collect();
    machine.but("proc/cpuinfo", "CPU implementer\t: 0x41\nCPU part\t: 0xd0c").check("neoverse-16");
}

/// CPUs switched off, a node without memory, one without CPUs, a container that gets a part.
#[test]
fn a_part_of_an_uneven_machine() {
    let node = "sys/devices/system/node";
    Machine::new(2, 4, 2)
        .but("sys/devices/system/cpu/online", "0-11")
        .but(&format!("{node}/online"), "0-2")
        .but(&format!("{node}/node1/meminfo"), "Node 1 MemTotal: 0 kB")
        .but(&format!("{node}/node2/cpulist"), " ")
        .but(&format!("{node}/node2/meminfo"), "Node 2 MemTotal: 67108864 kB")
        .but(&format!("{node}/node0/distance"), "10 21 17")
        .but(&format!("{node}/node1/distance"), "21 10 28")
        .but(&format!("{node}/node2/distance"), "17 28 10")
        .but("proc/self/cgroup", "0::/box/db")
        .but("sys/fs/cgroup/box/cpu.max", "250000 100000")
        .but("sys/fs/cgroup/box/db/cpu.max", "max 100000")
        .but("sys/fs/cgroup/box/db/cpuset.cpus.effective", "0-9")
        .but("sys/fs/cgroup/box/db/cpuset.mems.effective", "0,2")
        .check("uneven");
}

/// What a thread takes from the system comes from its CPU's node, where more than one node has memory.
#[test]
fn a_seat_has_memory_of_its_node_where_there_is_a_choice() {
    let machine = Machine::new(2, 6, 2).read("seats");
    for cpu in &machine.cpus {
        let seat = placement::seat(&machine, cpu.id);
        assert_eq!(seat.place, placement::place(&machine, cpu.id));
        assert_eq!(seat.preferred.map(usize::from), Some(cpu.node));
    }
    for machine in [machine.as_one_node(), Machine::new(1, 4, 1).read("no-choice")] {
        assert!(
            machine.cpus.iter().all(|cpu| placement::seat(&machine, cpu.id).preferred.is_none())
        );
    }
    // The memory of node 1 is not ours: all of it comes from node 0, as it would by itself.
    let node = "sys/devices/system/node/node1/meminfo";
    let machine = Machine::new(2, 4, 1).but(node, "Node 1 MemTotal: 0 kB").read("no-memory");
    let seat = placement::seat(&machine, machine.nodes[1].cpus[0]);
    assert_eq!((seat.place.node, seat.place.memory, seat.preferred), (1, 0, None));
}

/// As trace flag 8015 has it.
#[test]
fn a_machine_as_one_node() {
    let machine = Machine::new(2, 6, 2).read("one-node").as_one_node();
    // It divides nothing then.
    let plan = placement::plan(&machine, &SoftNuma::off(&machine));
    assert_eq!((plan.nodes.len(), plan.nodes[0].schedulers.len()), (1, 24));
    assert_eq!((machine.nodes[0].memory_bytes, machine.distance(0, 0)), (64 << 30, Some(10)));
    assert_eq!(machine.packages(), [0, 1]);
}

/// As a run on a part of the CPUs has it.
#[test]
fn a_machine_with_some_of_its_cpus() {
    let machine = Machine::new(2, 4, 2).read("some-cpus");
    assert_eq!(machine.clone().with_cpus(&[]), machine);
    let some = machine.with_cpus(&[12, 1, 9, 99]);
    assert_eq!((some.cpu_ids(), some.core_count()), (vec![1, 9, 12], 2));
    assert_eq!(some.cpus_of(1).map(|cpu| cpu.id).collect::<Vec<_>>(), [12]);
    assert_eq!(some.nodes.len(), 2);
}

/// Control groups of version 1.
#[test]
fn control_groups_of_version_1() {
    let machine = Machine::new(1, 4, 1)
        .but("proc/self/cgroup", "7:cpu,cpuacct:/docker/abc\n3:cpuset:/docker/abc")
        .but("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_quota_us", "150000")
        .but("sys/fs/cgroup/cpu/docker/abc/cpu.cfs_period_us", "100000")
        .but("sys/fs/cgroup/cpuset/docker/abc/cpuset.cpus", "1-2")
        .read("cgroup-1");
    assert_eq!(machine.quota_cpus, Some(1.5));
    assert_eq!(machine.cpu_ids(), [1, 2]);
}

/// More CPUs than libc's masks have bits.
#[test]
fn more_than_1024_cpus() {
    let mut machine = Machine::new(8, 72, 2);
    machine.caches = false;
    machine.numbering = Numbering::Neighbours;
    let machine = machine.read("many");
    assert_eq!((machine.cpus.len(), machine.core_count()), (1152, 576));
    assert_eq!(machine.cpu(1151).map(|cpu| (cpu.node, cpu.core)), Some((7, 71)));
    assert_eq!(machine.siblings(&machine.cpus[1150]), [1150, 1151]);
}

/// What a start would make of a machine, one soft node a line: id, the machine's node, CPUs.
fn soft(numa: &SoftNuma) -> Vec<(usize, usize, String)> {
    let tell = |(id, node): &(usize, topology::soft::SoftNode)| {
        (*id, node.node, topology::format_cpulist(&node.cpus))
    };
    numa.nodes.iter().map(tell).collect()
}

#[test]
fn large_nodes_are_divided_and_small_ones_keep_their_ids() {
    let large = Machine::new(2, 10, 2).read("soft-large");
    let automatic = SoftNuma::automatic(&large);
    assert_eq!(automatic.configuration, Configuration::Automatic);
    let of = |id, node, cpus: &str| (id, node, cpus.to_owned());
    let four = [
        of(0, 0, "0-4,20-24"),
        of(1, 0, "5-9,25-29"),
        of(2, 1, "10-14,30-34"),
        of(3, 1, "15-19,35-39"),
    ];
    assert_eq!(soft(&automatic), four);
    assert_eq!((automatic.node_of(29), automatic.node_of(40)), (Some(1), None));
    assert_eq!(soft(&SoftNuma::off(&large)), [of(0, 0, "0-9,20-29"), of(1, 1, "10-19,30-39")]);
    let small = Machine::new(2, 8, 1).read("soft-small");
    assert_eq!(SoftNuma::automatic(&small), SoftNuma::off(&small));
}

/// A port's map, the log writer's place and a scheduler's node have one numbering: the server's.
#[test]
fn a_plan_has_the_servers_nodes() {
    let machine = Machine::new(2, 10, 2).read("plan-ids");
    let divided = SoftNuma::automatic(&machine);
    let plan = placement::plan(&machine, &divided);
    let masks: Vec<Option<u64>> = plan.nodes.iter().map(|node| node.port_mask).collect();
    assert_eq!(masks, [1, 2, 4, 8].map(Some));
    for node in &plan.nodes {
        assert!(node.schedulers.iter().all(|cpu| divided.node_of(*cpu) == Some(node.node)));
        assert_eq!(node.memory_node, Some(node.machine_node));
    }
    assert_eq!(plan.nodes.iter().map(|node| node.machine_node).collect::<Vec<_>>(), [0, 0, 1, 1]);
    let writer = plan.log_writer.expect("a place");
    assert_eq!((writer.cpu, divided.node_of(writer.cpu)), (24, Some(writer.node)));
    let all: usize = plan.nodes.iter().map(|node| node.schedulers.len()).sum();
    assert_eq!(all, machine.cpus.len());
}

/// A map has 64 bits: what has none of them gets no map that means another node, or none.
#[test]
fn nodes_beyond_a_ports_map_are_told() {
    let mut machine = Machine::new(66, 1, 1);
    machine.caches = false;
    let machine = machine.read("plan-many");
    let plan = placement::plan(&machine, &SoftNuma::automatic(&machine));
    let masks: Vec<Option<u64>> = plan.nodes.iter().map(|node| node.port_mask).collect();
    assert_eq!(masks[62..], [Some(1 << 62), Some(1 << 63), None, None]);
    let told = render::placement(&plan);
    assert!(told.contains("PORT[0x8000000000000000]") && !told.contains("[0x0]"), "{told}");
    assert_eq!(told.matches("PORT, of all nodes").count(), 2);
}

#[test]
fn nodes_by_hand_lie_within_nodes() {
    let machine = Machine::new(2, 4, 1).read("soft-hand");
    let by_hand = |wanted: &[&[usize]]| {
        let wanted: Vec<Vec<usize>> = wanted.iter().map(|cpus| cpus.to_vec()).collect();
        SoftNuma::manual(&machine, &wanted)
    };
    let made = by_hand(&[&[1, 0], &[5]]).expect("possible");
    let of = |id, node, cpus: &str| (id, node, cpus.to_owned());
    let four = [of(0, 0, "0-1"), of(1, 1, "5"), of(2, 0, "2-3"), of(3, 1, "4,6-7")];
    assert_eq!((made.configuration, soft(&made)), (Configuration::Manual, four.to_vec()));
    assert_eq!(by_hand(&[&[0, 8]]), Err(Wrong::NoCpu(8)));
    assert_eq!(by_hand(&[&[0, 1], &[1]]), Err(Wrong::Twice(1)));
    assert_eq!(by_hand(&[&[2, 2]]), Err(Wrong::Twice(2)));
    assert_eq!(by_hand(&[&[3, 4]]), Err(Wrong::Across { node: 0, other: 1 }));
    assert_eq!(by_hand(&[&[]]), Err(Wrong::Empty));
}
