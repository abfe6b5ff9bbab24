//! Names of machine code for profilers: `/tmp/perf-PID.map`, which Linux's `perf` reads.
//!
//! By a switch, `MILLRACE_PERF_MAP` in the environment: the file is in a folder that everybody may write, and it grows.

use std::io::Write;

/// A line of the map, where it is wanted. A profile without names is no reason to fail.
pub(crate) fn note(code: *const u8, bytes: usize, name: &str) {
    if std::env::var_os("MILLRACE_PERF_MAP").is_none() {
        return;
    }
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    if let Ok(mut file) = file {
        let name: String = name.chars().map(|c| if c.is_control() { '?' } else { c }).collect();
        let _ = writeln!(file, "{:x} {bytes:x} {name}", code.addr());
    }
}
