//! Batches from standard input, one per line, run on an embedded engine; each answered by its rows, the time it took
//! and a line `--end--`. `cargo xtask reporting` drives it beside other engines, and so does `cargo xtask loops`.
//!
//! A line `\\N text` runs the text on N sessions at once, each of which reads its number for `{session}`; rows are not
//! printed then. The sessions stay, so that what they have compiled does too.
//!
//! Arguments: the data folder, the bytes of the buffer pool, those that queries may hold, and, where there is one more, those
//! that are kept for memory-optimised tables.

use device::{IoMode, RealFs};
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use runtime::task::{self, Waker};
use scheduler::JoinHandle;
use session::{Instance, InstanceConfig};
use std::io::{BufRead, Write};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Instant;
use telemetry::WaitType;
use types::{SqlType, Value, format};

/// Prints rows as they come, columns apart by tabs.
#[derive(Default)]
struct Printer {
    types: Vec<SqlType>,
    failed: bool,
    /// Rows are not printed.
    quiet: bool,
}

impl ResultSink for Printer {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.types = columns.iter().map(|column| column.ty).collect();
    }

    fn row(&mut self, row: &[Value]) {
        if self.quiet {
            return;
        }
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty)).collect();
        println!("{}", cells.join("\t"));
    }

    fn done(&mut self, _: Done) {}

    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.failed = true;
            println!("error: {message}");
        }
    }
}

/// The next argument.
fn bytes(arguments: &mut impl Iterator<Item = String>, what: &str) -> u64 {
    let text = arguments.next().unwrap_or_else(|| panic!("{what} is missing"));
    text.parse().unwrap_or_else(|_| panic!("{what} is a number of bytes"))
}

fn main() {
    let mut arguments = std::env::args().skip(1).peekable();
    let folder = arguments.next().expect("a data folder");
    let fs = RealFs::new(IoMode::Auto).expect("a way to do I/O");
    let mut config = InstanceConfig::new(folder, fs);
    config.buffer_pool_bytes = bytes(&mut arguments, "the buffer pool");
    config.query_memory_bytes = bytes(&mut arguments, "the memory of queries");
    let keeps = arguments.peek().is_some();
    if keeps {
        config.table_memory_bytes = bytes(&mut arguments, "the memory of tables");
    }
    let instance = Instance::open(config).expect("opens");
    if keeps {
        instance.populate_memory();
    }
    let mut crew = Crew::default();
    for line in std::io::stdin().lock().lines() {
        let Ok(line) = line else { break };
        let (sessions, text) = match line.strip_prefix('\\').and_then(|rest| rest.split_once(' ')) {
            Some((count, text)) => (count.parse().expect("a number of sessions"), text),
            None => (1, &line[..]),
        };
        let elapsed = crew.run(&instance, sessions, text);
        println!("--end-- {elapsed:.6}");
        let _ = std::io::stdout().flush();
    }
    crew.leave();
    instance.shutdown().expect("closes");
}

/// The sessions that there are so far.
#[derive(Default)]
struct Crew {
    members: Vec<Member>,
}

/// A session that sleeps until a text lies on its tray.
struct Member {
    tray: Arc<Mutex<Tray>>,
    waker: Waker,
    done: Receiver<()>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Tray {
    /// And whether its rows are not printed.
    text: Option<(String, bool)>,
    closed: bool,
}

impl Member {
    fn hire(instance: &Arc<Instance>) -> Member {
        let tray = Arc::new(Mutex::new(Tray::default()));
        let (reply, done) = channel();
        let (introduce, introduced) = channel();
        let theirs = tray.clone();
        let task = instance.spawn_session("timed", move |session| {
            introduce.send(task::current_waker()).expect("somebody hires");
            loop {
                let (text, closed) = {
                    let mut tray = theirs.lock().expect("nobody panics");
                    (tray.text.take(), tray.closed)
                };
                match text {
                    Some((text, quiet)) => {
                        let mut sink = Printer { quiet, ..Printer::default() };
                        let _ = session.execute(&text, &mut sink);
                        reply.send(()).expect("somebody waits");
                    }
                    None if closed => return,
                    None => {
                        task::park(WaitType::AsyncNetworkIo, None);
                    }
                }
            }
        });
        let waker = introduced.recv().expect("the session begins");
        Member { tray, waker, done, task }
    }

    fn tell(&self, change: impl FnOnce(&mut Tray)) {
        change(&mut self.tray.lock().expect("nobody panics"));
        self.waker.wake();
    }
}

impl Crew {
    /// Runs a text on so many sessions at once; the seconds until the last of them was done.
    fn run(&mut self, instance: &Arc<Instance>, sessions: usize, text: &str) -> f64 {
        while self.members.len() < sessions {
            self.members.push(Member::hire(instance));
        }
        let crew = &self.members[..sessions];
        let begun = Instant::now();
        for (number, member) in crew.iter().enumerate() {
            let text = text.replace("{session}", &number.to_string());
            member.tell(|tray| tray.text = Some((text, sessions > 1)));
        }
        for member in crew {
            member.done.recv().expect("the session is there");
        }
        begun.elapsed().as_secs_f64()
    }

    fn leave(self) {
        for member in self.members {
            member.tell(|tray| tray.closed = true);
            if let Err(panic) = member.task.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}
