//! OS threads: started with a name, pinned to a CPU; and what the process may open.

use crate::{memory, numa};
use std::io;
use std::sync::OnceLock;

/// Starts an OS thread. The name is cut to what the kernel shows (15 bytes). It is where the calling thread is: CPUs and memory
/// policy are handed down by the kernel, and the seat here.
pub fn spawn<T: Send + 'static>(
    name: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> io::Result<std::thread::JoinHandle<T>> {
    let seat = numa::seat();
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        numa::inherit(seat);
        memory::tell_at_end();
        f()
    })
}

/// A mask of CPUs of any number, as the kernel takes it: bit n of the words is CPU n.
///
/// libc's `cpu_set_t` ends at 1,024 CPUs; the system calls do not (sched_setaffinity(2), "Handling systems with more
/// than 1024 CPUs").
struct Mask(Vec<libc::c_ulong>);

const WORD: usize = libc::c_ulong::BITS as usize;
/// CPUs are numbered below this: no kernel is built for more (`CONFIG_NR_CPUS` of x86 and arm64 ends at 8,192).
pub const MOST_CPUS: usize = 1 << 16;

impl Mask {
    fn of(cpus: &[usize]) -> io::Result<Mask> {
        let most = cpus.iter().copied().max().unwrap_or(0);
        if cpus.is_empty() || most >= MOST_CPUS {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        let mut words = vec![0; most / WORD + 1];
        cpus.iter().for_each(|&cpu| words[cpu / WORD] |= 1 << (cpu % WORD));
        Ok(Mask(words))
    }

    /// Of the calling thread. The kernel says EINVAL while the mask is shorter than its own.
    fn current() -> io::Result<Mask> {
        let mut words: Vec<libc::c_ulong> = vec![0; 1024 / WORD];
        loop {
            let bytes = std::mem::size_of_val(words.as_slice());
            // SAFETY: the kernel writes at most `bytes` bytes to `words`, which has as many.
            let rc =
                unsafe { libc::syscall(libc::SYS_sched_getaffinity, 0, bytes, words.as_mut_ptr()) };
            if rc >= 0 {
                return Ok(Mask(words));
            }
            let error = io::Error::last_os_error();
            if error.raw_os_error() != Some(libc::EINVAL) || words.len() * WORD >= MOST_CPUS {
                return Err(error);
            }
            words = vec![0; words.len() * 2];
        }
    }

    fn cpus(&self) -> Vec<usize> {
        let is_set = |cpu: &usize| self.0[cpu / WORD] >> (cpu % WORD) & 1 == 1;
        (0..self.0.len() * WORD).filter(is_set).collect()
    }
}

static OF_PROCESS: OnceLock<Vec<usize>> = OnceLock::new();

/// Pins the calling thread to one CPU.
pub fn pin_current(cpu: usize) -> io::Result<()> {
    pin_current_to(&[cpu])
}

/// Lets the calling thread run on these CPUs only. EINVAL if none of them is online and allowed.
pub fn pin_current_to(cpus: &[usize]) -> io::Result<()> {
    // Known before the first thread is bound to less.
    process_affinity();
    let mask = Mask::of(cpus)?;
    let bytes = std::mem::size_of_val(mask.0.as_slice());
    // SAFETY: the kernel reads `bytes` bytes from the words, which have as many.
    let rc = unsafe { libc::syscall(libc::SYS_sched_setaffinity, 0, bytes, mask.0.as_ptr()) };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPUs that the calling thread may run on, ascending.
pub fn affinity() -> Vec<usize> {
    Mask::current().map_or_else(|_| vec![0], |mask| mask.cpus())
}

/// The CPUs that the process was given, ascending: those of the thread that asked first, before any was pinned by
/// [`pin_current_to`]. The same for every thread and for the life of the process.
pub fn process_affinity() -> &'static [usize] {
    OF_PROCESS.get_or_init(affinity)
}

/// The calling thread's number in the system, as under `/proc/self/task`.
pub fn current_id() -> u64 {
    // SAFETY: a plain system call without arguments; the number is never negative.
    unsafe { libc::syscall(libc::SYS_gettid) as u64 }
}

/// The CPU that the calling thread runs on at the moment, where the system tells.
pub fn current_cpu() -> Option<usize> {
    // SAFETY: a plain call without arguments.
    usize::try_from(unsafe { libc::sched_getcpu() }).ok()
}

/// Lets the process open as many descriptors as it may; how many that is.
pub fn raise_descriptor_limit() -> u64 {
    // SAFETY: `limit` is a valid rlimit to write to and to read from; both calls touch nothing else.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) != 0 {
            return 0;
        }
        let raised = libc::rlimit { rlim_cur: limit.rlim_max, ..limit };
        match libc::setrlimit(libc::RLIMIT_NOFILE, &raised) {
            0 => raised.rlim_cur,
            _ => limit.rlim_cur,
        }
    }
}
