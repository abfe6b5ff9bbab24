//! The guest's first process: this same program, as `/init`. It loads the modules, brings up the network, and does what
//! the host says over TCP, a line a request and a line an answer: `ok ...` or `error ...`.
//!
//! | request | what it does |
//! |---|---|
//! | `map KIND` | makes the device `disk` over /dev/vda, or changes its table: `linear`, `log` (all writes to /dev/vdb too), `drop` (writes vanish), `fail` (a second of good writes, a second of EIO, and so on) |
//! | `unmap` | removes it |
//! | `mount`, `umount` | ext4 on it at /mnt |
//! | `serve`, `end`, `kill` | the server on /mnt/data: begun and ready; asked to end, and how it did; SIGKILL |
//! | `serve ARGUMENTS` | the same, begun with these |
//! | `maps` | its `/proc/PID/numa_maps` |
//! | `threads` | memory policy and name of each of its threads |
//! | `lab ARGUMENTS` | `millrace lab run` with these, to its end: its exit status, and what it printed |
//! | `document` | the document of that run |
//! | `words` | what it printed last, also after its end |
//! | `mark TEXT` | a mark in the log of writes, in the order of completed writes |
//!
//! A connection has a thread, so marks of several sessions do not wait for each other in here. The server listens on the
//! guest's loopback, since it demands TLS elsewhere, which emulation makes slow: what comes to [`PORT_IN_GUEST`] is
//! passed on.

use super::device_mapper::Mapper;
use super::{host, processes};
use crate::server::{PORT_IN_GUEST, Recipe, Server, Start};
use parking_lot::Mutex;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::os::fd::AsRawFd;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Where it listens.
pub const PORT: u16 = 7000;
/// The modules, in the order in which they are loaded.
pub const MODULES: &str = "/modules";
/// Where ports of nodes are found, from the first node's on, and where the server listens for them.
pub const PLACED_IN_GUEST: u16 = 2000;
pub const PLACED_SERVER: u16 = 3000;
const PLACED_MAX: u16 = 8;
/// Where the server itself listens.
const SERVER_PORT: u16 = 1434;
/// Software emulation is slow.
const PATIENCE: Duration = Duration::from_secs(120);
const MOUNT_POINT: &str = "/mnt";
const DISK: &str = "/dev/vda";
const LOG: &str = "/dev/vdb";

/// Never returns while the machine runs.
pub fn run() -> ! {
    if let Err(error) = serve() {
        eprintln!("agent: {error}");
    }
    // SAFETY: plain system calls; the machine ends here.
    unsafe {
        libc::sync();
        libc::reboot(libc::RB_POWER_OFF);
    }
    std::process::exit(1)
}

fn serve() -> io::Result<()> {
    for (kind, place) in [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys")] {
        mount("none", place, kind)?;
    }
    mount("none", "/tmp", "tmpfs")?;
    let mut modules: Vec<_> =
        std::fs::read_dir(MODULES)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    modules.sort();
    modules.iter().try_for_each(|module| load(module))?;
    for (interface, address) in [("lo", [127, 0, 0, 1]), ("eth0", [10, 0, 2, 15])] {
        bring_up(interface, address)?;
    }
    for disk in [DISK, LOG] {
        let until = Instant::now() + PATIENCE;
        while !Path::new(disk).exists() && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    let placed = (0..PLACED_MAX).map(|node| (PLACED_IN_GUEST + node, PLACED_SERVER + node));
    for (port, server) in placed.chain([(PORT_IN_GUEST, SERVER_PORT)]) {
        let servers = TcpListener::bind(("0.0.0.0", port))?;
        std::thread::spawn(move || {
            for stream in servers.incoming().map_while(Result::ok) {
                // Without a server it is closed at once, as a port that nobody listens on.
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    pass_on(&stream, &server);
                }
            }
        });
    }
    let listener = TcpListener::bind(("0.0.0.0", PORT))?;
    eprintln!("agent: ready");
    let guest = Arc::new(Guest::default());
    for stream in listener.incoming() {
        let (stream, guest) = (stream?, guest.clone());
        std::thread::spawn(move || guest.listen(stream));
    }
    Ok(())
}

#[derive(Default)]
struct Guest {
    server: Mutex<Option<Server>>,
    /// Of the server that was asked to end last.
    last_words: Mutex<String>,
    mapper: Mutex<Option<Mapper>>,
}

impl Guest {
    fn listen(&self, stream: TcpStream) {
        let _ = stream.set_nodelay(true);
        let Ok(mut answers) = stream.try_clone() else { return };
        // A mark waits for nobody: each connection has a door of its own.
        let mut marks = None;
        for line in BufReader::new(stream).lines().map_while(Result::ok) {
            let answer = match self.obey(&line, &mut marks) {
                Ok(told) => format!("ok {told}\n"),
                Err(error) => format!("error {}\n", error.replace('\n', "\\n")),
            };
            if answers.write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    fn obey(&self, line: &str, marks: &mut Option<Mapper>) -> Result<String, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        let said = |error: io::Error| format!("{line}: {error}");
        match word {
            "mark" => {
                if marks.is_none() {
                    *marks = Some(Mapper::open().map_err(said)?);
                }
                let mapper = marks.as_ref().expect("opened");
                mapper.message("disk", &format!("mark {rest}")).map_err(said)?;
            }
            "map" => self.map(rest).map_err(said)?,
            "unmap" => {
                if let Some(mapper) = self.mapper.lock().take() {
                    mapper.remove("disk").map_err(said)?;
                }
            }
            "mount" => mount("/dev/dm-0", MOUNT_POINT, "ext4").map_err(said)?,
            "umount" => {
                let point = CString::new(MOUNT_POINT).expect("no zero");
                // SAFETY: a plain system call with a string that lives.
                if unsafe { libc::umount2(point.as_ptr(), 0) } < 0 {
                    return Err(said(io::Error::last_os_error()));
                }
            }
            "serve" => {
                let recipe = Recipe {
                    binary: processes::BINARY.into(),
                    data: Path::new(MOUNT_POINT).join("data"),
                };
                let command = match rest.is_empty() {
                    true => recipe.command_at(&format!("127.0.0.1:{SERVER_PORT}")),
                    false => recipe.command_of(rest.split(' ')),
                };
                let mut server = Server::of(command).map_err(said)?;
                let start = server.wait_ready(PATIENCE, || false);
                if !matches!(start, Start::Ready) {
                    return Err(format!("does not start\n{}", server.last_words()));
                }
                *self.server.lock() = Some(server);
                self.last_words.lock().clear();
            }
            "maps" => {
                let server = self.server.lock();
                let Some(server) = server.as_ref() else { return Err("no server".to_owned()) };
                let maps = std::fs::read_to_string(format!("/proc/{}/numa_maps", server.id()));
                return Ok(maps.map_err(said)?.replace('\n', "\\n"));
            }
            "threads" => {
                let server = self.server.lock();
                let Some(server) = server.as_ref() else { return Err("no server".to_owned()) };
                return Ok(processes::threads(server.id()).map_err(said)?.replace('\n', "\\n"));
            }
            "lab" => return Ok(processes::lab(rest)?.replace('\n', "\\n")),
            "document" => return processes::document().map_err(said),
            "end" => {
                // There is none from now on: one that does not end is killed with the variable.
                let Some(mut server) = self.server.lock().take() else {
                    return Err("no server".to_owned());
                };
                let status = server.stop(PATIENCE);
                *self.last_words.lock() = server.last_words();
                let status = status.ok_or("does not end when asked")?;
                return Ok(format!("{} {}", status.success(), server.panicked()));
            }
            "kill" => {
                self.last_words.lock().clear();
                if let Some(mut server) = self.server.lock().take() {
                    server.kill();
                }
            }
            "words" => {
                let own = self.server.lock().as_ref().map(Server::last_words);
                let words = own.unwrap_or_else(|| self.last_words.lock().clone());
                return Ok(words.replace('\n', "\\n"));
            }
            _ => return Err(format!("unknown request {line}")),
        }
        Ok(String::new())
    }

    fn map(&self, kind: &str) -> io::Result<()> {
        let sectors: u64 = std::fs::read_to_string("/sys/block/vda/size")?
            .trim()
            .parse()
            .map_err(|_| io::Error::other("the size of the disk"))?;
        let (target, parameters) = match kind {
            "linear" => ("linear", format!("{DISK} 0")),
            "log" => ("log-writes", format!("{DISK} {LOG}")),
            "drop" => ("flakey", format!("{DISK} 0 0 100000 1 drop_writes")),
            "fail" => ("flakey", format!("{DISK} 0 1 1 1 error_writes")),
            _ => return Err(io::Error::other("unknown kind of map")),
        };
        let mut held = self.mapper.lock();
        match &*held {
            Some(mapper) => mapper.table("disk", sectors, target, &parameters),
            None => {
                let mapper = Mapper::open()?;
                mapper.create("disk")?;
                mapper.table("disk", sectors, target, &parameters)?;
                *held = Some(mapper);
                Ok(())
            }
        }
    }
}

/// Bytes both ways, until either side ends.
fn pass_on(one: &TcpStream, other: &TcpStream) {
    for (from, to) in [(one, other), (other, one)] {
        let (Ok(mut from), Ok(mut to)) = (from.try_clone(), to.try_clone()) else { return };
        let _ = to.set_nodelay(true);
        std::thread::spawn(move || {
            let _ = io::copy(&mut from, &mut to);
            for stream in [from, to] {
                let _ = stream.shutdown(std::net::Shutdown::Both);
            }
        });
    }
}

fn mount(what: &str, place: &str, kind: &str) -> io::Result<()> {
    host::mount(Path::new(what), Path::new(place), kind, c"")
}

fn load(module: &Path) -> io::Result<()> {
    let file = File::open(module)?;
    // SAFETY: a plain system call; the parameters are an empty string.
    match unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) } {
        0 => Ok(()),
        // What the processor cannot do, another module does.
        _ if io::Error::last_os_error().raw_os_error() == Some(libc::ENODEV) => Ok(()),
        _ => {
            let error = io::Error::last_os_error();
            Err(io::Error::other(format!("module {}: {error}", module.display())))
        }
    }
}

/// netdevice(7): an address, a mask of 24 bits, and up.
fn bring_up(interface: &str, address: [u8; 4]) -> io::Result<()> {
    // SAFETY: plain system calls; `request` is zeroes, then a name shorter than its field and a valid address.
    unsafe {
        let socket = libc::socket(libc::AF_INET, libc::SOCK_DGRAM, 0);
        if socket < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut request: libc::ifreq = std::mem::zeroed();
        for (to, from) in request.ifr_name.iter_mut().zip(interface.bytes()) {
            *to = from as libc::c_char;
        }
        let calls = [
            (libc::SIOCSIFADDR, Some(address)),
            (libc::SIOCSIFNETMASK, Some([255, 255, 255, 0])),
            (libc::SIOCSIFFLAGS, None),
        ];
        for (call, value) in calls {
            match value {
                Some(value) => {
                    let mut address: libc::sockaddr_in = std::mem::zeroed();
                    address.sin_family = libc::AF_INET as u16;
                    address.sin_addr.s_addr = u32::from_ne_bytes(value);
                    request.ifr_ifru.ifru_addr =
                        std::mem::transmute::<libc::sockaddr_in, libc::sockaddr>(address);
                }
                None => request.ifr_ifru.ifru_flags = libc::IFF_UP as libc::c_short,
            }
            if libc::ioctl(socket, call, &request) < 0 {
                let error = io::Error::last_os_error();
                libc::close(socket);
                return Err(io::Error::other(format!("{interface}: {error}")));
            }
        }
        libc::close(socket);
    }
    Ok(())
}
