//! What has one door: threads, clocks, randomness and files go through it, or the file is named here with its reason.
//!
//! A simulated world has no thread, clock or disk of its own: whatever went around the door would escape the simulation, and
//! show as a run that no seed repeats. Looked at are the crates of the house (`crates/`, the binary apart), without their
//! tests.

struct Door {
    /// What a source says that goes around it.
    calls: &'static [&'static str],
    /// Where it is.
    door: &'static str,
    /// Files, or folders, that may.
    may: &'static [(&'static str, &'static str)],
}

const PROC: &str = "what the kernel tells of this process or machine";

const DOORS: &[Door] = &[
    Door {
        calls: &["thread::spawn", "thread::Builder", "thread::scope", "thread::sleep"],
        door: "runtime::threads and runtime::task",
        may: &[
            ("crates/runtime/src/threads.rs", "the door"),
            ("crates/session/src/watchdog.rs", "watches schedulers from outside of them"),
        ],
    },
    Door { calls: &["Instant::now", "SystemTime::now"], door: "runtime::clock", may: &[] },
    Door {
        calls: &["getrandom", "RandomState", "SystemRandom"],
        door: "runtime::random",
        may: &[
            ("crates/runtime/src/random.rs", "the door"),
            ("crates/executor/src/key_index.rs", "a key of hashes, fixed in a simulated world"),
        ],
    },
    Door {
        calls: &["std::fs"],
        door: "device::FileSystem",
        may: &[
            ("crates/device/src/real.rs", "the door"),
            ("crates/buffer-pool/src/mapping.rs", PROC),
            ("crates/runtime/src/memory.rs", PROC),
            ("crates/session/src/facts.rs", PROC),
            ("crates/session/src/watchdog.rs", PROC),
            ("crates/server/src/server.rs", PROC),
            ("crates/system-views/src/statistics/resident.rs", PROC),
            ("crates/system-views/src/statistics/process.rs", PROC),
            ("crates/system-views/src/statistics/system.rs", PROC),
            ("crates/topology/", "reads /sys and cgroups, behind a root path"),
            ("crates/native/src/perf.rs", "the map of frames that perf reads"),
            ("crates/server/src/certificate.rs", "certificate and key, before there is an engine"),
        ],
    },
];

pub fn check(file: &str, text: &str, problems: &mut Vec<String>) {
    let house = file.starts_with("crates/") && !file.starts_with("crates/millrace/");
    let tests = ["/tests/", "/examples/", "/benches/", "tests.rs"];
    if !house || tests.iter().any(|part| file.contains(part)) {
        return;
    }
    let tests = ["#[cfg(test)]\nmod ", "#[cfg(all(test"];
    let end = tests.iter().filter_map(|mark| text.find(mark)).min().unwrap_or(text.len());
    let text = &text[..end];
    for Door { calls, door, may } in DOORS {
        if may.iter().any(|(place, _)| file.starts_with(place)) {
            continue;
        }
        let mut code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        if let Some(line) = code.find(|line| calls.iter().any(|call| line.contains(call))) {
            problems.push(format!("{file}: `{}` goes around {door}", line.trim()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems(file: &str, text: &str) -> usize {
        let mut problems = Vec::new();
        check(file, text, &mut problems);
        problems.len()
    }

    #[test]
    fn who_goes_around_a_door_is_told() {
        let text = "fn f() {\n    let now = Instant::now();\n}\n";
        assert_eq!(problems("crates/engine/src/open.rs", text), 1);
        assert_eq!(problems("lab/src/drive.rs", text), 0);
        assert_eq!(problems("crates/engine/src/tests/open.rs", text), 0);
        let tested = format!("#[cfg(test)]\nmod tests {{\n{text}}}\n");
        assert_eq!(problems("crates/engine/src/open.rs", &tested), 0);
        assert_eq!(problems("crates/runtime/src/memory.rs", "std::fs::read(\"/proc\")"), 0);
    }
}
