//! The crew on sessions that are not databases, and server processes that are not servers.

use crate::{Crew, Folder, Job, Launch, RivalError, ServerProcess, Session, Work, session_key};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Remembers the keys; fails at `fail_at`.
struct Notebook {
    index: usize,
    keys: Arc<Mutex<BTreeSet<i64>>>,
    fail_at: Option<i64>,
}

impl Session for Notebook {
    fn procedure(
        &mut self,
        done: u64,
        rows: u64,
        _commit_ns: &mut dyn FnMut(u64),
    ) -> Result<(), RivalError> {
        (done..done + rows).try_for_each(|n| self.insert(session_key(self.index, n)))
    }

    fn procedure_read(&mut self, _rows: u64) -> Result<(), RivalError> {
        Ok(())
    }

    fn insert(&mut self, key: i64) -> Result<(), RivalError> {
        if self.fail_at == Some(key) {
            return Err(RivalError::plain("the page is full"));
        }
        let new = self.keys.lock().expect("no thread panics").insert(key);
        if new { Ok(()) } else { Err(RivalError::plain(format!("{key} comes twice"))) }
    }

    fn read(&mut self, _key: i64) -> Result<(), RivalError> {
        Ok(())
    }
}

fn crew(
    work: Work,
    shares: Vec<Option<u64>>,
    fail_at: Option<i64>,
) -> (Crew, Arc<Mutex<BTreeSet<i64>>>) {
    let keys = Arc::new(Mutex::new(BTreeSet::new()));
    let theirs = keys.clone();
    let connect = move |index| {
        let keys = theirs.clone();
        Ok(Box::new(Notebook { index, keys, fail_at }) as Box<dyn Session>)
    };
    let job = Job { work, sessions: shares.len(), delayed: true };
    (Crew::assemble(Box::new(connect), job, shares).expect("sessions"), keys)
}

fn wait_for_the_end(crew: &Crew) {
    let until = Instant::now() + Duration::from_secs(60);
    while !crew.has_ended() {
        assert!(Instant::now() < until, "the sessions do not end");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn each_session_does_its_share_with_keys_of_its_own() {
    for work in [
        Work::Procedure { commit_every: 1, rows_per_insert: 1 },
        Work::Procedure { commit_every: 100, rows_per_insert: 10 },
        Work::RoundtripInsert,
    ] {
        let (crew, keys) = crew(work, vec![Some(1000), Some(500), Some(0)], None);
        assert_eq!(crew.done(), (0, 0), "nobody has set off");
        crew.start();
        wait_for_the_end(&crew);
        let (_, commits) = crew.done();
        let per = if let Work::Procedure { commit_every, .. } = work { commit_every } else { 1 };
        assert_eq!(commits, 1500 / per, "{work:?}");
        assert_eq!(crew.stop().expect("nobody failed"), 1500);
        assert_eq!(keys.lock().expect("whole").len(), 1500, "{work:?}");
    }
}

#[test]
fn a_session_that_fails_stops_all_and_is_told() {
    let fail_at = Some(session_key(1, 77));
    let (crew, _) = crew(Work::RoundtripInsert, vec![None, None, None], fail_at);
    crew.start();
    wait_for_the_end(&crew);
    let error = crew.stop().expect_err("session 2 failed");
    assert_eq!(error.what, "session 2: the page is full");
}

#[test]
fn a_session_that_cannot_connect_is_told_and_nobody_is_left_waiting() {
    let connect =
        |index| match index {
            2 => Err(RivalError::new("no more connections", "ask for fewer")),
            _ => Ok(Box::new(Notebook { index, keys: Arc::default(), fail_at: None })
                as Box<dyn Session>),
        };
    let job = Job { work: Work::RoundtripInsert, sessions: 4, delayed: true };
    let error =
        Crew::assemble(Box::new(connect), job, vec![None; 4]).map(drop).expect_err("refused");
    assert_eq!(error.to_string(), "session 3: no more connections\nwhat to do: ask for fewer");
}

fn launch(folder: &Folder) -> Launch {
    Launch { account: None, folder: folder.path().to_owned(), cpus: Vec::new(), interrupt: false }
}

fn folder(name: &str) -> Folder {
    let data = std::env::temp_dir().join(format!("rival-process-{name}-{}", std::process::id()));
    Folder::new(&data, "x", None, false).expect("a folder")
}

fn sh(script: &str) -> (PathBuf, Vec<OsString>) {
    (PathBuf::from("/bin/sh"), vec!["-c".into(), script.into()])
}

#[test]
fn a_server_is_stopped_by_its_id() {
    let folder = folder("stop");
    let (program, arguments) = sh("echo ready; exec sleep 1000");
    let log = folder.join("log");
    let mut process =
        ServerProcess::start(&launch(&folder), &program, &arguments, &log).expect("started");
    let id = process.id();
    let ready = process.wait_until_up(|| match std::fs::read_to_string(&log) {
        Ok(text) if text.contains("ready") => Ok(text.len()),
        _ => Err(RivalError::plain("not yet")),
    });
    assert_eq!(ready.expect("up"), 6);
    assert!(process.cpu_s().is_some() && process.context_switches().is_some());
    process.stop().expect("stopped");
    assert!(!Path::new(&format!("/proc/{id}")).exists());
}

#[test]
fn a_server_that_ends_at_once_tells_its_last_words() {
    let folder = folder("ends");
    let (program, arguments) = sh("echo the disk is full >&2; exit 3");
    let log = folder.join("log");
    let mut process =
        ServerProcess::start(&launch(&folder), &program, &arguments, &log).expect("started");
    let error = process
        .wait_until_up(|| Err::<(), _>(RivalError::plain("no answer")))
        .expect_err("it has ended");
    assert!(error.what.contains("the disk is full") && error.what.contains('3'), "{error}");
    let error = launch(&folder).run(&program, &arguments, None).expect_err("status 3");
    assert!(error.what.contains("the disk is full"), "{error}");
    let (program, arguments) = sh("read line; test \"$line\" = hello");
    let input = folder.write("input", "hello\n", None).expect("written");
    launch(&folder).run(&program, &arguments, Some(&input)).expect("it reads its input");
}
