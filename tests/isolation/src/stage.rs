//! An instance in memory, three databases with different options (and one for memory-optimised tables, once somebody wants
//! it), and actors: threads with a session each.
//!
//! Invariant: an actor does one step at a time; after [`Stage::settle`] every actor is idle or waits for a lock.

use crate::tables::{Tables, is_retried};
use device::SimFs;
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use types::Value;

/// The six modes of SQL Server: level, and the options of the database.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Level {
    ReadUncommitted,
    ReadCommittedLocking,
    ReadCommittedSnapshot,
    RepeatableRead,
    Snapshot,
    Serializable,
}

impl Level {
    pub const ALL: [Level; 6] = [
        Level::ReadUncommitted,
        Level::ReadCommittedLocking,
        Level::ReadCommittedSnapshot,
        Level::RepeatableRead,
        Level::Snapshot,
        Level::Serializable,
    ];

    /// As in SET TRANSACTION ISOLATION LEVEL.
    pub fn sql(self) -> &'static str {
        match self {
            Level::ReadUncommitted => "READ UNCOMMITTED",
            Level::ReadCommittedLocking | Level::ReadCommittedSnapshot => "READ COMMITTED",
            Level::RepeatableRead => "REPEATABLE READ",
            Level::Snapshot => "SNAPSHOT",
            Level::Serializable => "SERIALIZABLE",
        }
    }

    /// Which database of the stage has its options.
    pub fn database(self) -> &'static str {
        match self {
            Level::ReadCommittedSnapshot => "versions",
            Level::Snapshot => "snapshots",
            _ => "locking",
        }
    }
}

/// The database of [`Stage::make_memory`].
pub const MEMORY: &str = "memory";

/// What a batch answered.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Answer {
    /// Rows of all result sets.
    pub rows: Vec<Vec<Value>>,
    /// Rows changed by the last statement that said so.
    pub changed: Option<u64>,
    /// Numbers of the errors.
    pub errors: Vec<i32>,
}

impl Answer {
    /// Rows of two integers.
    pub fn pairs(&self) -> Vec<(i64, i64)> {
        self.rows.iter().map(|r| (integer(&r[0]), integer(&r[1]))).collect()
    }

    /// The error that ended the transaction, if one did.
    pub fn aborted(&self) -> bool {
        self.errors.iter().any(|e| matches!(e, 1205 | 3960) || is_retried(*e))
    }
}

/// An integer of any width.
pub fn integer(value: &Value) -> i64 {
    match value {
        Value::Int(v) => i64::from(*v),
        Value::BigInt(v) => *v,
        other => panic!("{other:?} is no integer"),
    }
}

impl ResultSink for Answer {
    fn columns(&mut self, _: &[ColumnMeta]) {}

    fn row(&mut self, row: &[Value]) {
        self.rows.push(row.to_vec());
    }

    fn done(&mut self, done: Done) {
        self.changed = done.rows.or(self.changed);
    }

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.errors.push(message.number);
        }
    }
}

/// How a step went so far.
#[derive(Clone, Debug, PartialEq)]
pub enum Stepped {
    Done(Answer),
    Blocked,
}

impl Stepped {
    /// The answer of a step that must not block.
    #[track_caller]
    pub fn answer(self) -> Answer {
        match self {
            Stepped::Done(answer) => answer,
            Stepped::Blocked => panic!("the step blocks"),
        }
    }
}

/// A session on a thread of its own.
pub struct Actor {
    spid: u16,
    steps: Option<Sender<String>>,
    answers: Receiver<Answer>,
    busy: bool,
    thread: Option<thread::JoinHandle<()>>,
    cancel: Arc<std::sync::atomic::AtomicBool>,
    database: String,
}

impl Actor {
    /// @@SPID.
    pub fn spid(&self) -> u16 {
        self.spid
    }

    /// Whether a step of it is not finished.
    pub fn is_busy(&self) -> bool {
        self.busy
    }

    /// Sends an attention.
    pub fn cancel(&self) {
        self.cancel.store(true, std::sync::atomic::Ordering::Relaxed);
    }
}

impl Drop for Actor {
    fn drop(&mut self) {
        self.steps = None;
        if let Some(thread) = self.thread.take()
            && !thread::panicking()
        {
            let _ = thread.join();
        }
    }
}

/// An instance and its databases `locking`, `versions` and `snapshots`.
pub struct Stage {
    instance: Arc<Instance>,
    /// For set-up and looking at the end.
    director: Mutex<Session>,
}

impl Stage {
    /// A fresh one.
    pub fn new() -> Stage {
        let mut config = InstanceConfig::small("/data", SimFs::new(1));
        config.cpus = vec![0];
        let instance = Instance::open(config).expect("an instance in memory");
        let director = Mutex::new(Session::new(&instance));
        let stage = Stage { instance, director };
        for (name, versions, snapshots) in
            [("locking", "OFF", "OFF"), ("versions", "ON", "OFF"), ("snapshots", "OFF", "ON")]
        {
            stage.direct(&format!("CREATE DATABASE {name}"));
            stage.direct(&format!("ALTER DATABASE {name} SET READ_COMMITTED_SNAPSHOT {versions}"));
            stage
                .direct(&format!("ALTER DATABASE {name} SET ALLOW_SNAPSHOT_ISOLATION {snapshots}"));
            stage.direct(&format!("ALTER DATABASE {name} SET DELAYED_DURABILITY = FORCED"));
        }
        stage
    }

    /// Runs a batch that must succeed, as nobody in particular.
    #[track_caller]
    pub fn direct(&self, batch: &str) -> Answer {
        let mut answer = Answer::default();
        let _ = self.director.lock().expect("no panic").execute(batch, &mut answer);
        assert!(answer.errors.is_empty(), "{batch}: {:?}", answer.errors);
        answer
    }

    /// Makes the database [`MEMORY`], unless it is there.
    pub fn make_memory(&self) {
        if self.instance.database(MEMORY).is_some() {
            return;
        }
        self.direct(&format!("CREATE DATABASE {MEMORY}"));
        self.direct(&format!("ALTER DATABASE {MEMORY} SET READ_COMMITTED_SNAPSHOT ON"));
        self.direct(&format!("ALTER DATABASE {MEMORY} SET DELAYED_DURABILITY = FORCED"));
        Tables::Memory.options(MEMORY).iter().for_each(|batch| drop(self.direct(batch)));
    }

    /// The engine of a database.
    pub fn engine(&self, database: &str) -> Arc<engine::Database> {
        self.instance.database(database).expect("a database of the stage").engine.clone()
    }

    /// A session of the caller's own, in `database`.
    pub fn session(&self, database: &str) -> Session {
        let mut session = Session::new(&self.instance);
        let _ = session.execute(&format!("USE {database}"), &mut Answer::default());
        session
    }

    /// A session in `database`.
    pub fn actor(&self, database: &str) -> Actor {
        let (steps, todo) = channel::<String>();
        let (done, answers) = channel();
        let instance = self.instance.clone();
        let (tell, told) = channel();
        let run = move || {
            let mut session = Session::new(&instance);
            let _ = tell.send((session.spid(), session.cancel_flag()));
            for step in todo {
                let mut answer = Answer::default();
                let _ = session.execute(&step, &mut answer);
                if done.send(answer).is_err() {
                    return;
                }
            }
        };
        let thread = Some(thread::spawn(run));
        let (spid, cancel) = told.recv().expect("a session");
        let steps = Some(steps);
        let busy = false;
        let mut actor =
            Actor { spid, steps, answers, busy, thread, cancel, database: database.to_owned() };
        self.step(&mut actor, &format!("USE {database}")).answer();
        actor
    }

    /// Begins a step and waits until it is done or blocked.
    #[track_caller]
    pub fn step(&self, actor: &mut Actor, batch: &str) -> Stepped {
        assert!(!actor.busy, "an actor does one thing at a time");
        let sent = actor.steps.as_ref().map(|s| s.send(batch.to_owned()));
        assert!(matches!(sent, Some(Ok(()))), "the actor's thread has ended");
        actor.busy = true;
        self.settle(actor)
    }

    /// Waits until what the actor does is done or blocked (again).
    pub fn settle(&self, actor: &mut Actor) -> Stepped {
        let engine = self.engine(&actor.database);
        loop {
            if let Ok(answer) = actor.answers.try_recv() {
                actor.busy = false;
                return Stepped::Done(answer);
            }
            assert!(
                !actor.thread.as_ref().is_none_or(thread::JoinHandle::is_finished),
                "an actor's thread has panicked"
            );
            if engine.lock_waits().iter().any(|w| w.session == Some(u32::from(actor.spid))) {
                return Stepped::Blocked;
            }
            thread::yield_now();
        }
    }

    /// Waits until a step that may be blocked now is done.
    pub fn finish(&self, actor: &mut Actor) -> Answer {
        let answer = actor.answers.recv().expect("the actor's thread lives");
        actor.busy = false;
        answer
    }
}

impl Default for Stage {
    fn default() -> Self {
        Stage::new()
    }
}
