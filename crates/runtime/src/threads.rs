//! OS threads: started with a name, pinned to a CPU; and what the process may open.

use std::io;

/// Starts an OS thread. The name is cut to what the kernel shows (15 bytes).
pub fn spawn<T: Send + 'static>(
    name: &str,
    f: impl FnOnce() -> T + Send + 'static,
) -> io::Result<std::thread::JoinHandle<T>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(f)
}

/// Pins the calling thread to one CPU.
pub fn pin_current(cpu: usize) -> io::Result<()> {
    pin_current_to(&[cpu])
}

/// Lets the calling thread run on these CPUs only.
pub fn pin_current_to(cpus: &[usize]) -> io::Result<()> {
    if cpus.iter().any(|&cpu| cpu >= libc::CPU_SETSIZE as usize) {
        return Err(io::Error::from_raw_os_error(libc::EINVAL));
    }
    // SAFETY: an all-zero cpu_set_t is the empty set; each CPU is below CPU_SETSIZE, checked above.
    let rc = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        cpus.iter().for_each(|&cpu| libc::CPU_SET(cpu, &mut set));
        libc::sched_setaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &set)
    };
    if rc == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// The CPUs that the calling thread may run on, ascending.
pub fn affinity() -> Vec<usize> {
    // SAFETY: an all-zero cpu_set_t is valid to be written to, and its size is given.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, std::mem::size_of::<libc::cpu_set_t>(), &mut set) != 0 {
            return vec![0];
        }
        set
    };
    (0..libc::CPU_SETSIZE as usize)
        // SAFETY: `cpu` is below CPU_SETSIZE.
        .filter(|&cpu| unsafe { libc::CPU_ISSET(cpu, &set) })
        .collect()
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
