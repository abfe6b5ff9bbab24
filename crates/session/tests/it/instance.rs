//! An instance and its sessions beyond T-SQL: opening twice, unfinished folders, power loss, full disks, panics.

use device::{FileSystem, OpenOptions, SimFs};
use executor::{Collected, ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, OpenError, Session};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use types::Value;

mod access;
mod databases;
mod options;
mod tracking;

fn config(fs: &Arc<SimFs>) -> InstanceConfig {
    InstanceConfig::small("/data", fs.clone())
}

/// Runs batches on a session of their own; returns what they said.
fn run(instance: &Arc<Instance>, batches: &'static [&'static str]) -> Collected {
    let ran = instance.spawn_session("test", move |session| {
        let mut said = Collected::default();
        for batch in batches {
            let _ = session.execute(batch, &mut said);
        }
        said
    });
    match ran.join() {
        Ok(said) => said,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

#[track_caller]
fn run_fine(instance: &Arc<Instance>, batches: &'static [&'static str]) -> Collected {
    let said = run(instance, batches);
    assert_eq!(said.errors(), [] as [i32; 0], "{:?}", said.messages);
    said
}

#[track_caller]
fn number(said: &Collected) -> i64 {
    let row = said.sets.last().and_then(|set| set.rows.last()).expect("a row");
    row[0].as_i64().expect("a number")
}

const SHOP: &[&str] = &[
    "CREATE DATABASE shop",
    "USE shop CREATE TABLE t (id int PRIMARY KEY, v varchar(20))",
    "INSERT t VALUES (1, 'one'), (2, 'two')",
];
const COUNT: &[&str] = &["USE shop", "SELECT COUNT(*) FROM t"];

#[test]
fn one_process_at_a_time() {
    let fs = SimFs::new(1);
    let first = Instance::open(config(&fs)).expect("opens");
    assert!(matches!(Instance::open(config(&fs)), Err(OpenError::InUse { .. })));
    first.shutdown().expect("closes");
    drop(first);
    Instance::open(config(&fs)).expect("opens again").shutdown().expect("closes");
}

#[test]
fn power_loss_keeps_what_was_committed() {
    let fs = SimFs::new(2);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, SHOP);
    run_fine(&instance, &["USE shop", "BEGIN TRAN INSERT t VALUES (3, 'open')"]);
    fs.power_off();
    for seed in 0..8 {
        let after = fs.crash(seed);
        let instance = Instance::open(config(&after)).expect("recovers");
        assert_eq!(number(&run_fine(&instance, COUNT)), 2);
        run_fine(&instance, &["USE shop", "INSERT t VALUES (3, 'three')"]);
        instance.shutdown().expect("closes");
    }
}

#[test]
fn a_folder_whose_making_was_cut_short_is_made_again() {
    // Power fails at every so many operations of the first opening; what is left must open.
    let whole = SimFs::new(3);
    Instance::open(config(&whole)).expect("opens").shutdown().expect("closes");
    let operations = whole.ops();
    assert!(operations > 20, "an opening takes {operations} operations");
    let mut cut = 0;
    for at in (1..operations).step_by((operations as usize / 24).max(1)) {
        let fs = SimFs::new(3);
        fs.power_off_at(Some(at));
        let opened = Instance::open(config(&fs));
        cut += u32::from(opened.is_err());
        drop(opened);
        let after = fs.crash(at);
        let instance = match Instance::open(config(&after)) {
            Ok(instance) => instance,
            Err(error) => panic!("power lost at operation {at} of {operations}: {error}"),
        };
        run_fine(&instance, SHOP);
        instance.shutdown().expect("closes");
    }
    assert!(cut > 0, "no opening was cut short");
}

#[test]
fn a_full_disk_refuses_a_database_and_keeps_the_others() {
    let fs = SimFs::new(4);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, SHOP);
    fs.set_capacity(1 << 20);
    let said = run(&instance, &["CREATE DATABASE big"]);
    assert_eq!(said.errors().len(), 1, "{:?}", said.messages);
    assert_eq!(number(&run_fine(&instance, COUNT)), 2);
    fs.set_capacity(u64::MAX);
    run_fine(&instance, &["CREATE DATABASE big", "USE big CREATE TABLE x (a int)"]);
    instance.shutdown().expect("closes");
}

#[test]
fn what_is_no_data_folder_is_refused() {
    let fs = SimFs::new(5);
    fs.create_dir_all(Path::new("/data")).expect("a folder");
    let file = fs.open(Path::new("/data/master.mdf"), OpenOptions::create()).expect("a file");
    file.set_len(8 << 20).expect("a length");
    drop(file);
    let error = Instance::open(config(&fs)).err().expect("zeros are no database");
    assert!(matches!(error, OpenError::Database { .. }), "{error}");
    assert!(
        fs.exists(Path::new("/data/master.mdf")).expect("looked for"),
        "what is not ours is left alone"
    );
}

/// Breaks at the first row.
struct Broken(Collected);

impl ResultSink for Broken {
    fn columns(&mut self, _: &[ColumnMeta]) {}

    fn row(&mut self, _: &[Value]) {
        panic!("broken on purpose");
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        self.0.message(message);
    }
}

#[test]
fn a_panic_ends_its_session_and_nothing_else() {
    let fs = SimFs::new(6);
    let instance = Instance::open(config(&fs)).expect("opens");
    run_fine(&instance, SHOP);
    let theirs = instance.clone();
    let broken = instance.spawn_session("broken", move |session| {
        let mut said = Broken(Collected::default());
        let _ = session.execute("USE shop", &mut said);
        let _ = session.execute("BEGIN TRAN UPDATE t SET v = 'lost' SELECT * FROM t", &mut said);
        assert!(session.has_ended());
        let _ = session.execute("SELECT 1", &mut said);
        // The locks are gone although the session object lives on.
        let mut other = Session::new(&theirs);
        assert_ne!(other.spid(), session.spid());
        let mut fine = Collected::default();
        let _ = other.execute("USE shop", &mut fine);
        let _ = other.execute("SET LOCK_TIMEOUT 5000 UPDATE t SET v = 'kept'", &mut fine);
        assert_eq!(fine.errors(), [] as [i32; 0], "{:?}", fine.messages);
        said.0.errors()
    });
    assert_eq!(broken.join().expect("the session's task lives"), [3624, 596]);
    let said = run_fine(&instance, &["USE shop", "SELECT COUNT(*) FROM t WHERE v = 'kept'"]);
    assert_eq!(number(&said), 2);
    instance.shutdown().expect("closes");
}

#[test]
fn spids_begin_at_51_and_come_back() {
    let fs = SimFs::new(7);
    let instance = Instance::open(config(&fs)).expect("opens");
    let (a, b) = (Session::new(&instance), Session::new(&instance));
    assert_eq!((a.spid(), b.spid()), (51, 52));
    drop(a);
    assert_eq!(Session::new(&instance).spid(), 51);
    drop(b);
    instance.shutdown().expect("closes");
}

#[test]
fn sa_gets_its_password_once_and_keeps_it() {
    let fs = SimFs::new(77);
    let verify = |instance: &Arc<Instance>, text: &str| {
        let password = security::Password::new(text.to_owned());
        let verified = instance.security().verify("SA", &password, "127.0.0.1");
        verified.map(|login| login.principal_id)
    };
    let first = |name: &str| (name == "MSSQL_SA_PASSWORD").then(|| "First-pass-1".to_owned());
    let instance = Instance::open(config(&fs)).expect("opens");
    assert_eq!(verify(&instance, ""), Err(security::LoginFailure::WrongPassword));
    let done = instance.security().first_start(&first).expect("stored");
    assert!(matches!(done, security::FirstStart::Set { variable: "MSSQL_SA_PASSWORD" }));
    assert_eq!(verify(&instance, "First-pass-1"), Ok(1));
    instance.shutdown().expect("closes");
    drop(instance);
    let instance = Instance::open(config(&fs)).expect("opens");
    let later = |_: &str| Some("Later-pass-2".to_owned());
    let done = instance.security().first_start(&later).expect("nothing to do");
    assert!(matches!(done, security::FirstStart::NotFirst));
    assert!(instance.security().sa_password_was_set());
    assert_eq!(verify(&instance, "Later-pass-2"), Err(security::LoginFailure::WrongPassword));
    assert_eq!(verify(&instance, "First-pass-1"), Ok(1));
    instance.shutdown().expect("closes");
}

/// Tells what `Collected` does, and stops a request when it hears that one is waited for.
struct Impatient {
    said: Collected,
    stops: Arc<AtomicBool>,
}

impl ResultSink for Impatient {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.said.columns(columns);
    }

    fn row(&mut self, row: &[Value]) {
        self.said.row(row);
    }

    fn done(&mut self, done: Done) {
        self.said.done(done);
    }

    fn message(&mut self, message: &SqlMessage) {
        if message.number == 6001 {
            self.stops.store(true, Relaxed);
        }
        self.said.message(message);
    }
}

#[test]
fn shutdown_asks_whoever_serves_and_waits_for_what_runs() {
    let fs = SimFs::new(1);
    let instance = Instance::open(config(&fs)).expect("opens");
    assert_eq!(run(&instance, &["SHUTDOWN"]).errors(), [40510]);
    let asked = Arc::new(AtomicU32::new(0));
    let theirs = asked.clone();
    instance.on_shutdown(Box::new(move || {
        theirs.fetch_add(1, Relaxed);
    }));
    assert_eq!(run(&instance, &["BEGIN TRANSACTION SHUTDOWN"]).errors(), [6007]);
    assert_eq!(run(&instance, &["EXEC ('SHUTDOWN')"]).errors(), [6007]);
    assert!(!instance.is_ending() && asked.load(Relaxed) == 0);
    // Whoever asks waits for what runs.
    let (tell, told) = std::sync::mpsc::channel();
    let working = instance.spawn_session("busy", move |session| {
        tell.send((session.spid(), session.cancel_flag())).expect("somebody who hears");
        let mut said = Collected::default();
        let _ = session.execute("WAITFOR DELAY '23:00'", &mut said);
    });
    let (spid, stops) = told.recv().expect("who is busy");
    let runs = || instance.sessions().iter().any(|s| s.id == i32::from(spid) && s.running);
    while !runs() {
        std::thread::yield_now();
    }
    let asking = instance.spawn_session("asks", move |session| {
        let mut sink = Impatient { said: Collected::default(), stops };
        let _ = session.execute("SHUTDOWN", &mut sink);
        sink.said
    });
    let said = asking.join().expect("a session");
    let texts: Vec<&str> = said.messages.iter().map(|m| m.text.as_str()).collect();
    assert_eq!(
        texts,
        [
            "SHUTDOWN is waiting for 1 process(es) to complete.",
            "Server shut down by request from login sa."
        ]
    );
    working.join().expect("a session");
    assert_eq!(asked.load(Relaxed), 1);
    assert!(instance.is_ending() && instance.refuses_login("nobody"));
    assert!(!instance.refuses_login("sa"));
    assert_eq!(run(&instance, &["SHUTDOWN WITH NOWAIT"]).errors(), [6005]);
    instance.shutdown().expect("closes");
}
