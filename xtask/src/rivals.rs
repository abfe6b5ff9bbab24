//! The lab's rivals, as a user meets them: the real binary, real servers that it starts and stops, one document.
//!
//! Of each rival: the procedure and the round trip, reads, both durabilities; the document's figures, settings, notes
//! and waits; that nothing is left behind, after Ctrl-C either, and that a server does not outlive a lab that was
//! killed; and what is said when something is in the way. A rival that is not installed is told and makes the command
//! fail: not measured is not passed.

use crate::run::{Failure, cargo, target_directory, workspace};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

const ALL: &[&str] = &["postgres", "mariadb", "sqlite"];
/// Those with a server of their own.
const SERVERS: &[&str] = &["postgres", "mariadb"];
/// For one `lab run`; it is killed when it takes longer.
const RUN_LIMIT: Duration = Duration::from_secs(300);
/// For a server to end after its lab was killed.
const ORPHAN_LIMIT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);

struct Yard {
    binary: PathBuf,
    folder: PathBuf,
    runs: usize,
}

/// A plain build of the engine compiles none of the rivals.
pub fn check_plain() -> Result<(), Failure> {
    let promise = "a plain build has no rivals";
    println!("xtask: {promise}");
    let listed = Command::new("cargo")
        .args(["tree", "--package", "millrace", "--edges", "normal,build", "--prefix", "none"])
        .current_dir(workspace())
        .output()
        .map_err(|error| Failure(format!("{promise}: {error}")))?;
    let tree = String::from_utf8_lossy(&listed.stdout);
    if !listed.status.success() || !tree.contains("millrace v") {
        let said = String::from_utf8_lossy(&listed.stderr);
        return Err(Failure(format!("{promise}: cargo tree: {said}")));
    }
    let names = ["rival-", "postgres", "tokio", "mysql", "rusqlite", "libsqlite3-sys"];
    if let Some(line) = tree.lines().find(|line| names.iter().any(|name| line.starts_with(name))) {
        return Err(Failure(format!("{promise}: it compiles {line}")));
    }
    Ok(())
}

pub fn run(only: &[String]) -> Result<(), Failure> {
    if let Some(unknown) = only.iter().find(|name| !ALL.contains(&&***name)) {
        return Err(Failure(format!("there is no rival {unknown}; there is {}", ALL.join(", "))));
    }
    let wanted: Vec<&str> = ALL
        .iter()
        .copied()
        .filter(|name| only.is_empty() || only.iter().any(|one| one == name))
        .collect();
    cargo(
        "the binary with its rivals",
        &["build", "--quiet", "--package", "millrace", "--features", "rivals"],
    )
    .run()?;
    let mut yard = Yard {
        binary: target_directory().join("debug").join("millrace"),
        // Beside the build: an account that is not root must be able to reach it.
        folder: std::env::temp_dir().join(format!("millrace-rivals-{}", std::process::id())),
        runs: 0,
    };
    let result = yard.all(&wanted);
    // Kept when something went wrong: the servers' logs do not lie in it, the documents do.
    if result.is_ok() {
        let _ = fs::remove_dir_all(&yard.folder);
    }
    result
}

impl Yard {
    fn all(&mut self, wanted: &[&str]) -> Result<(), Failure> {
        make(&self.folder)?;
        let mut absent = Vec::new();
        let mut present = Vec::new();
        for &rival in wanted {
            let began = Instant::now();
            match self.one(rival)? {
                Some(line) => {
                    println!("xtask: rivals: {rival}: NOT MEASURED: {line}");
                    absent.push(rival);
                }
                None => {
                    let seconds = began.elapsed().as_secs_f64();
                    println!("xtask: rivals: {rival}: passed in {seconds:.1} s");
                    present.push(rival);
                }
            }
        }
        self.together(&present)?;
        if absent.is_empty() {
            return Ok(());
        }
        Err(Failure(format!("rivals: not installed, so not measured: {}", absent.join(", "))))
    }

    /// Every work of one rival. `Some`: it is not installed, and what to do.
    fn one(&mut self, rival: &str) -> Result<Option<String>, Failure> {
        let lists = ["--sessions", "1,4", "--durability", "full,delayed"];
        for (experiment, more, cells) in [
            ("singleton-insert", &["--mode", "procedure"][..], 4),
            ("singleton-insert", &["--mode", "procedure", "--commit-every", "100"][..], 4),
            ("singleton-insert", &["--mode", "roundtrip"][..], 4),
        ] {
            let arguments = [&lists[..], more].concat();
            match self.measure(experiment, rival, &arguments)? {
                Ran::Absent(line) => return Ok(Some(line)),
                Ran::Document(document) => check_document(&document, &[rival], cells)?,
            }
        }
        if let Ran::Document(document) = self.measure("point-read", rival, &["--sessions", "2"])? {
            check_document(&document, &[rival], 1)?;
        }
        self.refusals(rival)?;
        if SERVERS.contains(&rival) {
            self.interrupted(rival)?;
            self.orphan(rival)?;
        }
        Ok(None)
    }

    /// All in one document, the embedded engine first.
    fn together(&mut self, present: &[&str]) -> Result<(), Failure> {
        let targets: Vec<&str> =
            std::iter::once("embedded").chain(present.iter().copied()).collect();
        let ran = self.measure("singleton-insert", &targets.join(","), &["--sessions", "1,4"])?;
        let Ran::Document(document) = ran else {
            return Err(Failure("rivals: a rival that was there has gone".to_owned()));
        };
        check_document(&document, &targets, 2 * targets.len())?;
        println!("xtask: rivals: {} in one document: passed", targets.join(", "));
        Ok(())
    }

    fn measure(&mut self, experiment: &str, target: &str, more: &[&str]) -> Result<Ran, Failure> {
        self.runs += 1;
        let (out, data) = (self.path("out"), self.path("data"));
        let arguments = self.arguments(experiment, target, more, &out, &data);
        let output = finish(&self.binary, &arguments)?;
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let shown = format!("millrace {}", arguments.join(" "));
        if !output.status.success() {
            if let Some(line) = said.lines().find(|line| line.contains("not installed")) {
                return Ok(Ran::Absent(line.to_owned()));
            }
            return Err(Failure(format!("rivals: {shown}: {}\n{said}", output.status)));
        }
        if data.exists() {
            return Err(Failure(format!("rivals: {shown}: {} was left behind", data.display())));
        }
        let document = read_document(&out)?;
        Ok(Ran::Document(Box::new(document)))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}{}", self.runs))
    }

    fn arguments(
        &self,
        experiment: &str,
        target: &str,
        more: &[&str],
        out: &Path,
        data: &Path,
    ) -> Vec<String> {
        let mut words: Vec<String> =
            ["lab", "run", experiment, "--target", target, "--seconds", "1", "--warmup", "0.5"]
                .map(str::to_owned)
                .into();
        if experiment == "singleton-insert" {
            words.extend(["--buffer-pool-mb".to_owned(), "256".to_owned()]);
        }
        words.extend(["--out".to_owned(), out.display().to_string()]);
        words.extend(["--data".to_owned(), data.display().to_string()]);
        words.extend(more.iter().map(|word| (*word).to_owned()));
        words
    }

    /// What is in the way is told, with what to do.
    fn refusals(&mut self, rival: &str) -> Result<(), Failure> {
        let held = TcpListener::bind(("127.0.0.1", 0))
            .map_err(|error| Failure(format!("rivals: no port: {error}")))?;
        let port = held.local_addr().map_or(0, |address| address.port());
        let mut cases = vec![(format!("{rival}?colour=red"), "no option `colour`".to_owned())];
        if SERVERS.contains(&rival) {
            cases.extend([
                (format!("{rival}?port={port}"), format!("port {port} of 127.0.0.1 is taken")),
                (format!("{rival}?bin=/nowhere"), "/nowhere".to_owned()),
                (format!("{rival}?user=no-such-account"), "no-such-account".to_owned()),
                (format!("{rival}?user=root"), "root".to_owned()),
            ]);
            let scheme = if rival == "mariadb" { "mysql" } else { rival };
            cases.push((format!("{scheme}://lab@127.0.0.1:1"), "what to do".to_owned()));
        }
        for (target, expected) in cases {
            self.refused(&target, &expected, None)?;
        }
        // A file where the folder should be: not even root can write there.
        let file = self.folder.join("a-file");
        fs::write(&file, "").map_err(|error| Failure(format!("{}: {error}", file.display())))?;
        self.refused(rival, "--data", Some(file.join("data")))
    }

    fn refused(
        &mut self,
        target: &str,
        expected: &str,
        data: Option<PathBuf>,
    ) -> Result<(), Failure> {
        self.runs += 1;
        let (out, data) = (self.path("out"), data.unwrap_or_else(|| self.path("data")));
        let arguments =
            self.arguments("singleton-insert", target, &["--sessions", "1"], &out, &data);
        let output = finish(&self.binary, &arguments)?;
        let said = String::from_utf8_lossy(&output.stderr);
        if output.status.success() || !said.contains(expected) {
            return Err(Failure(format!(
                "rivals: --target {target}: expected a refusal with `{expected}`, got {}:\n{said}",
                output.status
            )));
        }
        Ok(())
    }

    /// The lab is killed in the middle of a run: its server must not live on.
    fn orphan(&mut self, rival: &str) -> Result<(), Failure> {
        let (mut lab, _, data) = self.busy(rival)?;
        let server = server_in(&data);
        let killed = lab.kill().and_then(|()| lab.wait());
        killed.map_err(|error| Failure(format!("rivals: the lab cannot be killed: {error}")))?;
        let server =
            server.ok_or_else(|| Failure(format!("rivals: {rival} has written no process id")))?;
        gone(rival, server)?;
        let _ = fs::remove_dir_all(&data);
        Ok(())
    }

    /// Ctrl-C: what was measured is told, the server is stopped in order, and nothing is left.
    fn interrupted(&mut self, rival: &str) -> Result<(), Failure> {
        let (mut lab, out, data) = self.busy(rival)?;
        let server = server_in(&data);
        signal(lab.id());
        let status = lab.wait().map_err(|error| Failure(format!("rivals: {error}")))?;
        if status.code() != Some(130) || data.exists() {
            let left = if data.exists() { "something was left behind" } else { "nothing left" };
            return Err(Failure(format!("rivals: {rival}: Ctrl-C: {status}, {left}")));
        }
        if let Some(server) = server {
            gone(rival, server)?;
        }
        let document = read_document(&out)?;
        if document["cut_short"] != true || document["cells"].as_array().is_none_or(Vec::is_empty) {
            return Err(Failure(format!("rivals: {rival}: Ctrl-C: the document is not marked")));
        }
        Ok(())
    }

    /// A lab in the middle of a long cell, its report's folder and its data folder.
    fn busy(&mut self, rival: &str) -> Result<(Child, PathBuf, PathBuf), Failure> {
        self.runs += 1;
        let (out, data) = (self.path("out"), self.path("data"));
        let mut arguments =
            self.arguments("singleton-insert", rival, &["--sessions", "2"], &out, &data);
        if let Some(at) = arguments.iter().position(|word| word == "--seconds") {
            arguments[at + 1] = "60".to_owned();
        }
        let failed = |error: std::io::Error| Failure(format!("rivals: {error}"));
        let mut lab = Command::new(&self.binary)
            .args(&arguments)
            .current_dir(workspace())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(failed)?;
        let said = lab.stderr.take().ok_or_else(|| Failure("rivals: no pipe".to_owned()))?;
        let (tell, told) = std::sync::mpsc::channel();
        // Reads on to the end, so that the lab never waits for its reader.
        std::thread::spawn(move || {
            for line in BufReader::new(said).lines().map_while(Result::ok) {
                // The window has begun: the rate is told, and not as the warm-up's.
                if line.contains("rows/s") && !line.contains("warm-up") {
                    let _ = tell.send(());
                }
            }
        });
        if told.recv_timeout(RUN_LIMIT).is_err() {
            let _ = lab.kill().and_then(|()| lab.wait());
            return Err(Failure(format!("rivals: {rival} did not come to its window")));
        }
        Ok((lab, out, data))
    }
}

/// The server ends, and soon.
fn gone(rival: &str, server: u32) -> Result<(), Failure> {
    let until = Instant::now() + ORPHAN_LIMIT;
    // Whoever inherits it may be slow to bury it.
    let lives = || {
        let stat = fs::read_to_string(format!("/proc/{server}/stat")).unwrap_or_default();
        stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
    };
    while lives() {
        if Instant::now() > until {
            return Err(Failure(format!(
                "rivals: {rival}'s server, process {server}, outlives its lab"
            )));
        }
        std::thread::sleep(LOOK);
    }
    Ok(())
}

/// What Ctrl-C sends.
fn signal(id: u32) {
    let _ = Command::new("kill").args(["-INT", &id.to_string()]).status();
}

fn read_document(out: &Path) -> Result<Value, Failure> {
    let path = out.join("run.json");
    let failed = |what: String| Failure(format!("rivals: {}: {what}", path.display()));
    let text = fs::read_to_string(&path).map_err(|error| failed(error.to_string()))?;
    serde_json::from_str(&text).map_err(|error| failed(error.to_string()))
}

enum Ran {
    Document(Box<Value>),
    Absent(String),
}

/// The process id that a server has written in the folder of the lab's own.
fn server_in(data: &Path) -> Option<u32> {
    fs::read_dir(data).ok()?.flatten().find_map(|entry| {
        let cluster = entry.path().join("cluster");
        let file = fs::read_dir(cluster)
            .ok()?
            .flatten()
            .find(|file| file.path().extension().is_some_and(|extension| extension == "pid"))?;
        fs::read_to_string(file.path()).ok()?.lines().next()?.trim().parse().ok()
    })
}

fn make(folder: &Path) -> Result<(), Failure> {
    fs::create_dir_all(folder).map_err(|error| Failure(format!("{}: {error}", folder.display())))
}

/// Runs it to its end, or kills it when it takes too long.
fn finish(binary: &Path, arguments: &[String]) -> Result<Output, Failure> {
    let failed = |error: std::io::Error| Failure(format!("rivals: {}: {error}", binary.display()));
    let child = Command::new(binary)
        .args(arguments)
        .current_dir(workspace())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let id = child.id();
    let (done, ended) = std::sync::mpsc::channel::<()>();
    let guard = std::thread::spawn(move || {
        if ended.recv_timeout(RUN_LIMIT) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            // The lab stops its servers on the signal that Ctrl-C sends.
            signal(id);
        }
    });
    let output = child.wait_with_output().map_err(failed);
    drop(done);
    let _ = guard.join();
    output
}

fn check_document(document: &Value, targets: &[&str], cells: usize) -> Result<(), Failure> {
    let wrong = |what: String| Failure(format!("rivals: the document: {what}"));
    let all = document["cells"].as_array().cloned().unwrap_or_default();
    if all.len() != cells {
        return Err(wrong(format!("{} cells and not {cells}", all.len())));
    }
    for cell in &all {
        let name = cell["target"].as_str().unwrap_or_default();
        let rows = cell["rows"].as_u64().unwrap_or(0);
        let verified = cell["rows_verified"].as_u64().unwrap_or(0);
        if rows == 0 || verified < rows || !targets.contains(&name) {
            return Err(wrong(format!("a cell of {name}: {rows} rows, {verified} verified")));
        }
        if cell["cpu_s"].as_f64().is_none() {
            return Err(wrong(format!("a cell of {name} has no CPU time")));
        }
        for wait in cell["waits"].as_object().into_iter().flat_map(|waits| waits.keys()) {
            if name != "embedded" && cell["wait_categories"][wait].as_str().is_none() {
                return Err(wrong(format!("{name}: the wait {wait} has no category")));
            }
        }
    }
    for &target in targets {
        let described = document["targets"].as_array().into_iter().flatten();
        let one = described.clone().find(|one| one["name"] == target);
        let Some(one) = one else {
            return Err(wrong(format!("{target} is not described")));
        };
        let settings = one["settings"].as_object().map_or(0, serde_json::Map::len);
        let notes = one["notes"].as_array().map_or(0, Vec::len);
        let version = one["version"].as_str().unwrap_or_default();
        if target != "embedded" && (settings < 5 || notes < 3 || version.is_empty()) {
            return Err(wrong(format!(
                "{target}: {settings} settings, {notes} notes, version `{version}`"
            )));
        }
    }
    Ok(())
}
