//! A process under ptrace, of which some system calls fail, each once.
//!
//! A seccomp filter stops the process only at the calls of [`CALLS`], so the rest runs at full speed. A *site* is a
//! call and the return addresses in the program above it, found by the chain of frame pointers (the project is built
//! with them, and so is std); addresses are not randomised, so a site has the same key in every run. A call that is to
//! fail is not made: its number is replaced by -1, and its result by the error (or, for a short transfer, its length
//! is halved). When none is left to fail, a stop costs no more than its two switches.
//!
//! Runs as a process of its own, `faults trace`, so that its tracee's waits meet no other. What it saw goes to the
//! report file when the tracee ends; which faults struck is said in `FILE.fired` at once, a line each, in order. x86-64
//! only.
//!
//! Does not reach what is submitted through io_uring, which is no system call; [`disk_errors`](crate::disk_errors)
//! does.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::io::{self, Write as _};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::str::FromStr;
use std::sync::atomic::{AtomicI32, Ordering};

/// The return addresses that make a site.
const DEPTH: usize = 6;
/// Words of stack in which the caller of libc is looked for.
const SCAN_WORDS: usize = 48;

/// A system call that may fail for reasons outside the program.
pub struct Call {
    pub number: i64,
    pub name: &'static str,
    pub errors: &'static [i32],
    /// Its third argument is a length that a short transfer halves.
    pub short: bool,
}

const fn call(number: i64, name: &'static str, errors: &'static [i32]) -> Call {
    Call { number, name, errors, short: false }
}

const fn transfer(number: i64, name: &'static str, errors: &'static [i32]) -> Call {
    Call { number, name, errors, short: true }
}

/// What may fail, and how. Left out: calls that the environment cannot make fail (clocks, futex, signal masks, close).
pub const CALLS: &[Call] = &[
    call(libc::SYS_openat, "openat", &[libc::EMFILE, libc::EIO]),
    call(libc::SYS_open, "open", &[libc::EMFILE, libc::EIO]),
    transfer(libc::SYS_read, "read", &[libc::EIO]),
    transfer(libc::SYS_pread64, "pread64", &[libc::EIO]),
    call(libc::SYS_preadv, "preadv", &[libc::EIO]),
    transfer(libc::SYS_write, "write", &[libc::EIO, libc::ENOSPC]),
    transfer(libc::SYS_pwrite64, "pwrite64", &[libc::EIO, libc::ENOSPC]),
    call(libc::SYS_writev, "writev", &[libc::EIO]),
    call(libc::SYS_pwritev, "pwritev", &[libc::EIO, libc::ENOSPC]),
    call(libc::SYS_pwritev2, "pwritev2", &[libc::EIO, libc::ENOSPC]),
    call(libc::SYS_fsync, "fsync", &[libc::EIO]),
    call(libc::SYS_fdatasync, "fdatasync", &[libc::EIO]),
    call(libc::SYS_fallocate, "fallocate", &[libc::ENOSPC]),
    call(libc::SYS_ftruncate, "ftruncate", &[libc::EIO]),
    call(libc::SYS_rename, "rename", &[libc::EIO]),
    call(libc::SYS_unlink, "unlink", &[libc::EIO]),
    call(libc::SYS_mkdir, "mkdir", &[libc::ENOSPC]),
    call(libc::SYS_chmod, "chmod", &[libc::EPERM]),
    call(libc::SYS_fchmod, "fchmod", &[libc::EPERM]),
    call(libc::SYS_getdents64, "getdents64", &[libc::EIO]),
    call(libc::SYS_statx, "statx", &[libc::EIO]),
    call(libc::SYS_newfstatat, "newfstatat", &[libc::EIO]),
    call(libc::SYS_lseek, "lseek", &[libc::EIO]),
    call(libc::SYS_flock, "flock", &[libc::EIO]),
    call(libc::SYS_socket, "socket", &[libc::EMFILE]),
    call(libc::SYS_bind, "bind", &[libc::EADDRINUSE]),
    call(libc::SYS_listen, "listen", &[libc::EADDRINUSE]),
    call(libc::SYS_accept4, "accept4", &[libc::EMFILE, libc::ECONNABORTED]),
    call(libc::SYS_setsockopt, "setsockopt", &[libc::EINVAL]),
    call(libc::SYS_getsockname, "getsockname", &[libc::ENOBUFS]),
    call(libc::SYS_getpeername, "getpeername", &[libc::ENOTCONN]),
    transfer(libc::SYS_recvfrom, "recvfrom", &[libc::ECONNRESET]),
    transfer(libc::SYS_sendto, "sendto", &[libc::EPIPE]),
    call(libc::SYS_shutdown, "shutdown", &[libc::ENOTCONN]),
    call(libc::SYS_epoll_create1, "epoll_create1", &[libc::EMFILE]),
    call(libc::SYS_epoll_ctl, "epoll_ctl", &[libc::ENOMEM]),
    call(libc::SYS_epoll_wait, "epoll_wait", &[libc::EINTR]),
    call(libc::SYS_epoll_pwait, "epoll_pwait", &[libc::EINTR]),
    call(libc::SYS_poll, "poll", &[libc::EINTR]),
    call(libc::SYS_ppoll, "ppoll", &[libc::EINTR]),
    call(libc::SYS_eventfd2, "eventfd2", &[libc::EMFILE]),
    call(libc::SYS_pipe2, "pipe2", &[libc::EMFILE]),
    call(libc::SYS_signalfd4, "signalfd4", &[libc::EMFILE]),
    call(libc::SYS_timerfd_create, "timerfd_create", &[libc::EMFILE]),
    call(libc::SYS_memfd_create, "memfd_create", &[libc::EMFILE]),
    call(libc::SYS_io_uring_setup, "io_uring_setup", &[libc::ENOMEM, libc::EPERM]),
    call(libc::SYS_io_uring_enter, "io_uring_enter", &[libc::EAGAIN, libc::EINTR, libc::EBUSY]),
    call(libc::SYS_io_uring_register, "io_uring_register", &[libc::ENOMEM]),
    call(libc::SYS_mmap, "mmap", &[libc::ENOMEM]),
    call(libc::SYS_mremap, "mremap", &[libc::ENOMEM]),
    call(libc::SYS_mprotect, "mprotect", &[libc::ENOMEM]),
    call(libc::SYS_madvise, "madvise", &[libc::EINVAL]),
    call(libc::SYS_clone3, "clone3", &[libc::EAGAIN]),
    call(libc::SYS_sched_setaffinity, "sched_setaffinity", &[libc::EINVAL]),
    call(libc::SYS_sched_getaffinity, "sched_getaffinity", &[libc::EINVAL]),
    call(libc::SYS_prlimit64, "prlimit64", &[libc::EPERM]),
    call(libc::SYS_getrandom, "getrandom", &[libc::EINTR]),
];

/// What a fault does to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    Error(i32),
    Short,
}

/// The call that is to fail: the `nth` (from 1) at the site of this key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub key: u64,
    pub nth: u64,
    pub how: How,
}

/// KEY:NTH:ERRNO or KEY:NTH:short, the key in hexadecimal digits.
impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:x}:{}:", self.key, self.nth)?;
        match self.how {
            How::Error(error) => write!(f, "{error}"),
            How::Short => f.write_str("short"),
        }
    }
}

impl FromStr for Fault {
    type Err = String;

    fn from_str(text: &str) -> Result<Fault, String> {
        let bad = || format!("{text}: a fault is KEY:NTH:ERRNO or KEY:NTH:short");
        let [key, nth, how] = text.split(':').collect::<Vec<_>>()[..] else { return Err(bad()) };
        Ok(Fault {
            key: u64::from_str_radix(key, 16).map_err(|_| bad())?,
            nth: nth.parse().map_err(|_| bad())?,
            how: match how {
                "short" => How::Short,
                number => How::Error(number.parse().map_err(|_| bad())?),
            },
        })
    }
}

/// What was seen of a site.
#[derive(Clone, Debug)]
pub struct Seen {
    pub key: u64,
    /// Of [`CALLS`].
    pub number: i64,
    pub count: u64,
    /// What it moves goes whole or not at all, as the kernel has it: an eventfd's eight bytes, a few bytes of a pipe.
    pub whole: bool,
    /// Offsets in the program, the innermost first.
    pub stack: Vec<u64>,
}

static TRACEE: AtomicI32 = AtomicI32::new(0);

extern "C" fn pass_on(signal: libc::c_int) {
    // SAFETY: kill is safe in a signal handler.
    unsafe { libc::kill(TRACEE.load(Ordering::Relaxed), signal) };
}

fn check(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

/// Runs the program to its end; returns the exit status of this process. Without a fault, every site is reported.
pub fn run(
    report: &Path,
    faults: Vec<Fault>,
    program: &Path,
    arguments: &[String],
) -> io::Result<i32> {
    let filter = filter();
    let mut command = Command::new(program);
    command.args(arguments);
    // SAFETY: between fork and exec only system calls are made, on memory that exists already.
    unsafe { command.pre_exec(move || enter(&filter)) };
    // Not waited for by std: the loop below is the only one that waits.
    let pid = command.spawn()?.id() as i32;
    TRACEE.store(pid, Ordering::Relaxed);
    // SAFETY: a handler that only calls kill.
    unsafe { libc::signal(libc::SIGTERM, pass_on as *const () as libc::sighandler_t) };
    let mut status = 0;
    // SAFETY: plain system calls about our own child; `status` lives.
    unsafe {
        if libc::waitpid(pid, &mut status, libc::__WALL) != pid || !libc::WIFSTOPPED(status) {
            return Err(io::Error::other("the program did not start"));
        }
        let options = libc::PTRACE_O_EXITKILL
            | libc::PTRACE_O_TRACESECCOMP
            | libc::PTRACE_O_TRACECLONE
            | libc::PTRACE_O_TRACEFORK
            | libc::PTRACE_O_TRACEVFORK;
        check(libc::ptrace(libc::PTRACE_SETOPTIONS, pid, 0, options))?;
        check(libc::ptrace(libc::PTRACE_CONT, pid, 0, 0))?;
    }
    let mut tracer = Tracer {
        pid,
        text: text_of(pid, program)?,
        records: faults.is_empty(),
        faults,
        fired: report.with_extension("fired"),
        seen: BTreeMap::new(),
    };
    let ended = tracer.follow()?;
    std::fs::write(report, tracer.report())?;
    Ok(ended)
}

struct Tracer {
    pid: i32,
    /// Where the program's own code lies, and where its file begins in memory.
    text: (u64, u64, u64),
    /// Every site is to be reported; else those are looked at which may still fail.
    records: bool,
    /// Those that have not struck.
    faults: Vec<Fault>,
    fired: PathBuf,
    seen: BTreeMap<u64, Seen>,
}

impl Tracer {
    fn follow(&mut self) -> io::Result<i32> {
        let mut known = std::collections::HashSet::from([self.pid]);
        loop {
            let mut status = 0;
            // SAFETY: a plain system call; `status` lives.
            let who = unsafe { libc::waitpid(-1, &mut status, libc::__WALL) };
            if who < 0 {
                let error = io::Error::last_os_error();
                if error.kind() == io::ErrorKind::Interrupted {
                    continue;
                }
                return Err(error);
            }
            if libc::WIFEXITED(status) || libc::WIFSIGNALED(status) {
                if who != self.pid {
                    continue;
                }
                if libc::WIFEXITED(status) {
                    return Ok(libc::WEXITSTATUS(status));
                }
                let signal = libc::WTERMSIG(status);
                let name = match signal {
                    libc::SIGSEGV => "SIGSEGV",
                    libc::SIGBUS => "SIGBUS",
                    libc::SIGABRT => "SIGABRT",
                    _ => "a signal",
                };
                eprintln!("trace: the program was ended by {name} ({signal})");
                return Ok(128 + signal);
            }
            let (event, signal) = (status >> 16, libc::WSTOPSIG(status));
            let deliver = match (event, signal) {
                (libc::PTRACE_EVENT_SECCOMP, _) => {
                    self.stopped(who)?;
                    0
                }
                (0, libc::SIGSTOP) if known.insert(who) => 0,
                (0, signal) => signal,
                _ => 0,
            };
            // A thread that was killed meanwhile is no error.
            // SAFETY: a plain system call on a stopped tracee.
            unsafe { libc::ptrace(libc::PTRACE_CONT, who, 0, deliver) };
        }
    }

    /// A thread stands before a call.
    fn stopped(&mut self, thread: i32) -> io::Result<()> {
        if !self.records && self.faults.is_empty() {
            return Ok(());
        }
        // SAFETY: zeros are a valid value of plain registers, which the kernel then fills.
        let mut registers: libc::user_regs_struct = unsafe { std::mem::zeroed() };
        // SAFETY: as above; the thread is stopped.
        if unsafe { libc::ptrace(libc::PTRACE_GETREGS, thread, 0, &mut registers) } < 0 {
            return Ok(());
        }
        let number = registers.orig_rax as i64;
        // What it prints is what it is judged by: its own words never fail.
        if number == libc::SYS_write && registers.rdi <= 2 {
            return Ok(());
        }
        let stack = self.stack(thread, &registers);
        let key = key_of(number, &stack);
        let pid = self.pid;
        let seen = self.seen.entry(key).or_insert_with(|| {
            let whole = moves_whole(pid, &registers);
            Seen { key, number, count: 0, whole, stack }
        });
        seen.count += 1;
        let strikes = self.faults.iter().position(|f| f.key == key && f.nth == seen.count);
        if let Some(fault) = strikes.map(|i| self.faults.swap_remove(i)) {
            match fault.how {
                How::Error(error) => {
                    registers.orig_rax = u64::MAX;
                    registers.rax = -i64::from(error) as u64;
                }
                How::Short => registers.rdx = registers.rdx.div_ceil(2),
            }
            // Said before it strikes: it may end the program.
            let fired = std::fs::OpenOptions::new().create(true).append(true).open(&self.fired);
            writeln!(fired?, "{fault}")?;
            // SAFETY: the thread is stopped, the registers are whole.
            check(unsafe { libc::ptrace(libc::PTRACE_SETREGS, thread, 0, &registers) })?;
        }
        Ok(())
    }

    /// Return addresses inside the program, as offsets, the innermost first.
    fn stack(&self, thread: i32, registers: &libc::user_regs_struct) -> Vec<u64> {
        let (from, to, base) = self.text;
        let inside = |address: u64| (from..to).contains(&address);
        let mut found = Vec::new();
        if inside(registers.rip) {
            found.push(registers.rip - base);
        } else {
            // libc keeps no frame pointers: its caller is the first address of ours on the stack.
            let mut words = [0u64; SCAN_WORDS];
            let read = peek(thread, registers.rsp, &mut words);
            found.extend(words[..read].iter().find(|w| inside(**w)).map(|w| w - base));
        }
        let mut frame = registers.rbp;
        let mut below = registers.rsp;
        while found.len() < DEPTH && frame >= below && frame.is_multiple_of(8) {
            let mut pair = [0u64; 2];
            if peek(thread, frame, &mut pair) < 2 {
                break;
            }
            if inside(pair[1]) && found.last() != Some(&(pair[1] - base)) {
                found.push(pair[1] - base);
            }
            (below, frame) = (frame + 16, pair[0]);
        }
        found
    }

    fn report(&self) -> String {
        let mut text = String::new();
        for seen in self.seen.values() {
            let stack: Vec<String> = seen.stack.iter().map(|a| format!("{a:x}")).collect();
            let whole = u8::from(seen.whole);
            let (key, number, count) = (seen.key, seen.number, seen.count);
            let _ = writeln!(text, "{key:x} {number} {count} {whole} {}", stack.join(","));
        }
        text
    }
}

/// Reads what a run has reported.
pub fn read_report(file: &Path) -> io::Result<Vec<Seen>> {
    let bad = || io::Error::new(io::ErrorKind::InvalidData, "no report of a trace");
    let line = |line: &str| {
        let mut words = line.split(' ');
        let mut word = || words.next();
        let key = u64::from_str_radix(word()?, 16).ok()?;
        let (number, count) = (word()?.parse().ok()?, word()?.parse().ok()?);
        let whole = word()? == "1";
        let stack = word()?.split(',').filter_map(|a| u64::from_str_radix(a, 16).ok()).collect();
        Some(Seen { key, number, count, whole, stack })
    };
    let text = std::fs::read_to_string(file)?;
    text.lines().map(|l| line(l).ok_or_else(bad)).collect()
}

/// Which faults struck, in order.
pub fn read_fired(report: &Path) -> Vec<Fault> {
    let text = std::fs::read_to_string(report.with_extension("fired")).unwrap_or_default();
    text.lines().filter_map(|line| line.parse().ok()).collect()
}

/// Whether the descriptor of a transfer takes or gives all or nothing: half of it is what no kernel does. eventfd(2):
/// a write of less than 8 bytes fails with EINVAL; pipe(7): a write of PIPE_BUF bytes or fewer is atomic.
fn moves_whole(pid: i32, registers: &libc::user_regs_struct) -> bool {
    let link = std::fs::read_link(format!("/proc/{pid}/fd/{}", registers.rdi)).unwrap_or_default();
    let link = link.to_string_lossy();
    let writes = registers.orig_rax as i64 == libc::SYS_write;
    link.starts_with("anon_inode:") || writes && link.starts_with("pipe:") && registers.rdx <= 4096
}

/// FNV-1a over the call and its callers.
fn key_of(number: i64, stack: &[u64]) -> u64 {
    let words = std::iter::once(number as u64).chain(stack.iter().copied());
    words.flat_map(u64::to_le_bytes).fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Reads words of the tracee's memory; how many there were.
fn peek(thread: i32, address: u64, words: &mut [u64]) -> usize {
    let bytes = std::mem::size_of_val(words);
    let local = libc::iovec { iov_base: words.as_mut_ptr().cast(), iov_len: bytes };
    let remote = libc::iovec { iov_base: address as *mut libc::c_void, iov_len: bytes };
    // SAFETY: `local` is our own memory of this length; the remote one is only read, and may be invalid.
    let n = unsafe { libc::process_vm_readv(thread, &local, 1, &remote, 1, 0) };
    if n < 0 { 0 } else { n as usize / 8 }
}

/// The program's executable range in memory, and its base.
fn text_of(pid: i32, program: &Path) -> io::Result<(u64, u64, u64)> {
    let program = std::fs::canonicalize(program)?;
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps"))?;
    let mut base = None;
    let mut text: Option<(u64, u64)> = None;
    for line in maps.lines().filter(|l| l.ends_with(&*program.to_string_lossy())) {
        let mut words = line.split_whitespace();
        let (Some(range), Some(rights)) = (words.next(), words.next()) else { continue };
        let Some((from, to)) = range.split_once('-') else { continue };
        let (Ok(from), Ok(to)) = (u64::from_str_radix(from, 16), u64::from_str_radix(to, 16))
        else {
            continue;
        };
        base.get_or_insert(from);
        if rights.contains('x') {
            text = Some(text.map_or((from, to), |(first, _)| (first, to)));
        }
    }
    match (text, base) {
        (Some((from, to)), Some(base)) => Ok((from, to, base)),
        _ => Err(io::Error::other("the program is not in its own memory map")),
    }
}

/// seccomp: the calls of [`CALLS`] stop for the tracer, all others go through.
fn filter() -> Vec<libc::sock_filter> {
    let statement = |code: u32, k: u32| libc::sock_filter { code: code as u16, jt: 0, jf: 0, k };
    // The number is the first word of what the filter sees.
    let mut program = vec![statement(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0)];
    for (i, call) in CALLS.iter().enumerate() {
        program.push(libc::sock_filter {
            code: (libc::BPF_JMP | libc::BPF_JEQ | libc::BPF_K) as u16,
            // Over the tests that are left and the statement that allows.
            jt: (CALLS.len() - i) as u8,
            jf: 0,
            k: call.number as u32,
        });
    }
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_ALLOW));
    program.push(statement(libc::BPF_RET | libc::BPF_K, libc::SECCOMP_RET_TRACE));
    program
}

/// In the child, before exec.
fn enter(filter: &[libc::sock_filter]) -> io::Result<()> {
    let program = libc::sock_fprog { len: filter.len() as u16, filter: filter.as_ptr().cast_mut() };
    // SAFETY: plain system calls about this process; the filter lives in the copied memory.
    unsafe {
        check(libc::personality(libc::ADDR_NO_RANDOMIZE as libc::c_ulong).into())?;
        check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL).into())?;
        check(libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0))?;
        check(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0).into())?;
        check(libc::prctl(libc::PR_SET_SECCOMP, libc::SECCOMP_MODE_FILTER, &program).into())
    }
}

#[cfg(test)]
mod tests;
