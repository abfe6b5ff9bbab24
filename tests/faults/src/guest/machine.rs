//! A guest of QEMU: booted from our own root, spoken to over TCP, killed like a machine that loses power.
//!
//! Hardware acceleration where the host has it, else software emulation. Its disks are raw files, opened with cache=none:
//! a write that the guest was told of is in the file. So a killed guest loses what its kernel and its processes had in
//! memory, and nothing that the disk had; what a disk may lose is [`states`](super::states)' part.

use super::initramfs::Kernel;
use super::{agent, placement};
use crate::ledger::{Progress, Witness};
use crate::server::{Door, PORT_IN_GUEST};
use parking_lot::Mutex;
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

/// A guest that has not come up by then never will.
const BOOT_MAX: Duration = Duration::from_secs(180);
/// Software emulation is slow, and the machine may be loaded.
const ANSWER_MAX: Duration = Duration::from_secs(180);
const LINES_KEPT: usize = 200;

/// What a guest is booted from.
pub struct Parts {
    pub kernel: Kernel,
    pub initramfs: PathBuf,
}

/// Its processors and memory.
pub struct Shape {
    /// NUMA nodes; 1: none is told of.
    pub nodes: usize,
    /// Of all nodes together.
    pub cpus: usize,
    /// MiB, likewise.
    pub memory: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape { nodes: 1, cpus: 2, memory: 1024 }
    }
}

impl Shape {
    /// Nodes with so many CPUs each. The first has the kernel's own memory, and the programs.
    pub fn of_nodes(nodes: usize, cpus_each: usize) -> Shape {
        let memory = FIRST_MEGABYTES + (nodes - 1) * NODE_MEGABYTES;
        Shape { nodes, cpus: nodes * cpus_each, memory }
    }

    fn arguments(&self) -> Vec<String> {
        let mut all = vec!["-smp".to_owned(), self.cpus.to_string()];
        all.extend(["-m".to_owned(), self.memory.to_string()]);
        if self.nodes > 1 {
            let cpus = self.cpus / self.nodes;
            for node in 0..self.nodes {
                let size = if node == 0 { FIRST_MEGABYTES } else { NODE_MEGABYTES };
                let memory = format!("memory-backend-ram,id=memory{node},size={size}M");
                let (first, last) = (node * cpus, node * cpus + cpus - 1);
                let told = format!("node,nodeid={node},cpus={first}-{last},memdev=memory{node}");
                all.extend(["-object".to_owned(), memory, "-numa".to_owned(), told]);
            }
        }
        all
    }
}

const FIRST_MEGABYTES: usize = 1024;
const NODE_MEGABYTES: usize = 384;

/// A guest that is up.
pub struct Machine {
    qemu: Child,
    console: Arc<Mutex<VecDeque<String>>>,
    agent: Line,
    agent_port: u16,
    server_port: u16,
    placed_ports: Vec<u16>,
}

impl Machine {
    /// Boots, with `disk` as /dev/vda and `log` as /dev/vdb.
    pub fn boot(parts: &Parts, disk: &Path, log: &Path, shape: &Shape) -> Result<Machine, String> {
        let (agent_port, server_port) = (free_port()?, free_port()?);
        let accelerator = if hardware() { "kvm" } else { "tcg,thread=multi" };
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-machine", "q35", "-accel", accelerator, "-cpu", "max"])
            .args(shape.arguments())
            .args(["-nodefaults", "-no-user-config", "-display", "none"])
            .args(["-serial", "stdio", "-monitor", "none", "-no-reboot", "-append"])
            .arg("console=ttyS0 quiet panic=-1 mitigations=off nokaslr")
            .arg("-kernel")
            .arg(&parts.kernel.image)
            .arg("-initrd")
            .arg(&parts.initramfs);
        for (name, file, cache) in [("disk", disk, "none"), ("log", log, "writeback")] {
            let file = file.display();
            command
                .arg("-drive")
                .arg(format!("id={name},if=none,format=raw,cache={cache},file={file}"))
                .arg("-device")
                .arg(format!("virtio-blk-pci,drive={name}"));
        }
        let forward = |host: u16, guest: u16| format!("hostfwd=tcp:127.0.0.1:{host}-:{guest}");
        let mut forwards =
            vec![forward(agent_port, agent::PORT), forward(server_port, PORT_IN_GUEST)];
        let mut placed_ports = Vec::new();
        for there in placement::ports(if shape.nodes > 1 { shape.nodes } else { 0 }) {
            let here = free_port()?;
            forwards.push(forward(here, there));
            placed_ports.push(here);
        }
        command
            .arg("-netdev")
            .arg(format!("user,id=net,restrict=on,{}", forwards.join(",")))
            .args(["-device", "virtio-net-pci,netdev=net,romfile="]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // SAFETY: a system call between fork and exec.
        unsafe {
            command.pre_exec(|| {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                Ok(())
            });
        }
        let mut qemu = command.spawn().map_err(|error| format!("qemu-system-x86_64: {error}"))?;
        let console: Arc<Mutex<VecDeque<String>>> = Arc::default();
        let (tell, ready) = channel();
        let outputs: [Option<Box<dyn std::io::Read + Send>>; 2] = [
            qemu.stdout.take().map(|o| Box::new(o) as _),
            qemu.stderr.take().map(|o| Box::new(o) as _),
        ];
        for output in outputs.into_iter().flatten() {
            let (kept, tell) = (console.clone(), tell.clone());
            std::thread::spawn(move || {
                for line in BufReader::new(output).split(b'\n').map_while(Result::ok) {
                    let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                    if line.ends_with("agent: ready") {
                        let _ = tell.send(());
                    }
                    let mut kept = kept.lock();
                    if kept.len() == LINES_KEPT {
                        kept.pop_front();
                    }
                    kept.push_back(line);
                }
            });
        }
        drop(tell);
        let up = ready.recv_timeout(BOOT_MAX).is_ok();
        let agent = if up { Line::open(agent_port) } else { Err("it did not come up".to_owned()) };
        match agent {
            Ok(agent) => {
                Ok(Machine { qemu, console, agent, agent_port, server_port, placed_ports })
            }
            Err(error) => {
                let _ = qemu.kill();
                let _ = qemu.wait();
                let lines: Vec<String> = console.lock().iter().cloned().collect();
                Err(format!("the guest: {error}\n{}", lines.join("\n")))
            }
        }
    }

    /// One request to the agent.
    pub fn ask(&mut self, request: &str) -> Result<String, String> {
        self.agent.ask(request).map_err(|error| format!("the guest: {error}\n{}", self.words()))
    }

    /// One request that may take longer than others.
    pub fn ask_within(&mut self, most: Duration, request: &str) -> Result<String, String> {
        self.agent.wait_at_most(most)?;
        let told = self.ask(request);
        self.agent.wait_at_most(ANSWER_MAX)?;
        told
    }

    pub fn door(&self) -> Door {
        Door::of_guest(self.server_port)
    }

    /// Of the server's port of a node.
    pub fn placed_door(&self, node: usize) -> Door {
        Door::of_guest(self.placed_ports[node])
    }

    /// One that sets a mark for each answer.
    pub fn marker(&self) -> Arc<dyn Witness> {
        Arc::new(Marker { port: self.agent_port, lines: Mutex::default() })
    }

    /// The last lines of the console and of the server.
    pub fn words(&mut self) -> String {
        let mut text: String =
            self.console.lock().iter().rev().take(20).rev().map(|l| format!("    {l}\n")).collect();
        if let Ok(words) = self.agent.ask("words") {
            text += &words.replace("\\n", "\n");
        }
        text
    }

    /// The power goes.
    pub fn kill(mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = self.qemu.kill();
        let _ = self.qemu.wait();
    }
}

/// A connection to the agent.
struct Line(BufReader<TcpStream>);

impl Line {
    fn open(port: u16) -> Result<Line, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        let prepared = stream
            .set_nodelay(true)
            .and_then(|()| stream.set_read_timeout(Some(ANSWER_MAX)))
            .and_then(|()| stream.set_write_timeout(Some(ANSWER_MAX)));
        prepared.map_err(|error| error.to_string())?;
        Ok(Line(BufReader::new(stream)))
    }

    fn wait_at_most(&self, most: Duration) -> Result<(), String> {
        self.0.get_ref().set_read_timeout(Some(most)).map_err(|error| error.to_string())
    }

    fn ask(&mut self, request: &str) -> Result<String, String> {
        let said = |error: std::io::Error| format!("{request}: {error}");
        self.0.get_mut().write_all(format!("{request}\n").as_bytes()).map_err(said)?;
        let mut line = String::new();
        self.0.read_line(&mut line).map_err(said)?;
        let line = line.trim_end();
        match line.split_once(' ').unwrap_or((line, "")) {
            ("ok", told) => Ok(told.to_owned()),
            ("error", told) => Err(told.replace("\\n", "\n")),
            _ => Err(format!("{request}: no answer")),
        }
    }
}

/// Sets a mark in the guest's log of writes for each answer of the server, before the session goes on.
struct Marker {
    port: u16,
    lines: Mutex<BTreeMap<u32, Arc<Mutex<Line>>>>,
}

impl Witness for Marker {
    fn told(&self, session: u32, progress: Progress) -> Result<(), String> {
        let held = self.lines.lock().get(&session).cloned();
        let line = match held {
            Some(line) => line,
            None => {
                let line = Arc::new(Mutex::new(Line::open(self.port)?));
                self.lines.lock().insert(session, line.clone());
                line
            }
        };
        let text = format!("mark {session}:{}:{}", progress.answered, progress.sure);
        let told = line.lock().ask(&text);
        told.map(drop)
    }
}

/// Whether the processor can run guests. A machine may show /dev/kvm and not be able to: one here did, and its guests
/// never began.
fn hardware() -> bool {
    let flags = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let can = flags.split_whitespace().any(|flag| flag == "vmx" || flag == "svm");
    can && std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok()
}

fn free_port() -> Result<u16, String> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).map_err(|error| error.to_string())?;
    Ok(listener.local_addr().map_err(|error| error.to_string())?.port())
}
