//! T-SQL end to end: every file of `tests/sql` is a script of batches with what they must answer.
//!
//! A file runs in order on an instance of its own (in memory), in a fresh database named `t`. A case
//! is a batch, a line `----`, and the answer; the next case begins with `====`. A batch that begins
//! with `-- session NAME` runs on that session, any other on the first one; `-- reopen` alone closes
//! the instance and opens it again; one that begins with `-- file NAME` writes the rest of itself into
//! a file of the data folder (`\n`, `\r`, `\t`, `\0`, `\\` and `\xHH` are bytes, the ends of its lines
//! nothing), `-- show NAME` answers what is in one. `UPDATE_EXPECT=1 cargo test -p session --test golden` rewrites
//! the answers; read the difference before you keep it.

use device::{FileSystem, OpenOptions, SimFs};
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Session};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use telemetry::WaitType;
use types::{SqlType, Value, format};

/// Answers as text: a line of names, lines of values, the count; messages as a client sees them. All rows go through
/// the wire's encoder, which says what a client could not read.
struct Answer {
    wire: tds::TokenWriter,
    text: String,
    types: Vec<SqlType>,
    /// An error was among the messages.
    failed: bool,
}

impl Default for Answer {
    fn default() -> Answer {
        Answer {
            wire: tds::TokenWriter::new(51),
            text: String::new(),
            types: Vec::new(),
            failed: false,
        }
    }
}

/// A column as the server tells it.
fn told(column: &ColumnMeta) -> tds::Column<'_> {
    tds::Column {
        collation: column.collation,
        name: &column.name,
        ty: column.ty,
        nullable: column.nullable,
        updatable: tds::Updatable::Unknown,
        identity: column.identity,
        computed: false,
        rowversion: false,
        long: column.base.as_ref().filter(|base| base.long).map(|base| &base.table[..]),
        key: false,
        hidden: false,
    }
}

impl ResultSink for Answer {
    fn columns(&mut self, columns: &[ColumnMeta]) {
        self.wire = tds::TokenWriter::new(51);
        self.wire.columns(columns.iter().map(told));
        self.types = columns.iter().map(|column| column.ty).collect();
        let names: Vec<&str> = columns.iter().map(|column| &*column.name).collect();
        let _ = writeln!(self.text, "| {}", names.join(" | "));
    }

    fn row(&mut self, row: &[Value]) {
        if let Err(error) = self.wire.row(row) {
            let _ = writeln!(self.text, "What cannot leave: {error}");
        }
        let cells: Vec<String> =
            row.iter().zip(&self.types).map(|(value, ty)| format::shell(value, *ty)).collect();
        let _ = writeln!(self.text, "  {}", cells.join(" | "));
    }

    fn done(&mut self, done: Done) {
        if let Some(rows) = done.rows {
            let _ = writeln!(self.text, "({rows})");
        }
    }

    fn message(&mut self, message: &SqlMessage) {
        self.failed |= message.is_error();
        // What only informs comes without its number, as in sqlcmd.
        let _ = match message.is_error() {
            true => writeln!(self.text, "{message}"),
            // How long a backup took is another every time.
            false if message.number == 4035 || message.text.contains(" MB/sec)") => Ok(()),
            false => writeln!(self.text, "{}", message.text),
        };
    }
}

/// Names the batch that panicked.
struct Blame<'a>(&'a str);

impl Drop for Blame<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the batch that panicked:\n{}", self.0);
        }
    }
}

struct Case {
    batch: String,
    expected: String,
}

fn cases(path: &Path) -> Vec<Case> {
    let file = std::fs::read_to_string(path).expect("a readable file");
    file.split("====\n")
        .filter(|case| !case.trim().is_empty())
        .map(|case| {
            let (batch, expected) = case.split_once("----\n").unwrap_or((case, ""));
            Case { batch: batch.trim_end().into(), expected: expected.trim_end().into() }
        })
        .collect()
}

fn config(fs: &Arc<SimFs>) -> InstanceConfig {
    InstanceConfig::small("/data", fs.clone())
}

/// `NAME` and, from the next line on, what the file is to hold.
fn write_file(fs: &SimFs, rest: &str) {
    let (name, text) = rest.split_once('\n').unwrap_or((rest, ""));
    let mut bytes = Vec::new();
    let mut chars = text.chars().filter(|c| *c != '\n');
    while let Some(c) = chars.next() {
        match (c, c == '\\') {
            (_, true) => bytes.push(match chars.next().expect("an escape") {
                'n' => b'\n',
                'r' => b'\r',
                't' => b'\t',
                '0' => 0,
                '\\' => b'\\',
                'x' => {
                    let digits: String = chars.by_ref().take(2).collect();
                    u8::from_str_radix(&digits, 16).expect("two digits")
                }
                other => panic!("there is no escape \\{other}"),
            }),
            (c, false) => bytes.extend_from_slice(c.to_string().as_bytes()),
        }
    }
    let file = fs.open(&Path::new("/data").join(name), OpenOptions::create()).expect("a file");
    file.set_len(0).expect("an empty file");
    if !bytes.is_empty() {
        file.write_all_at(0, &bytes, false, WaitType::IoCompletion).expect("a written file");
    }
}

/// What is in a file, with control characters shown.
fn show_file(fs: &SimFs, name: &str) -> String {
    let Ok(file) = fs.open(&Path::new("/data").join(name), OpenOptions::read_only()) else {
        return "(there is none)".to_owned();
    };
    let mut bytes = vec![0; file.len().expect("a length") as usize];
    if !bytes.is_empty() {
        file.read_exact_at(0, &mut bytes, WaitType::IoCompletion).expect("a readable file");
    }
    String::from_utf8_lossy(&bytes).escape_debug().to_string().replace("\\n", "\\n\n")
}

/// Runs `batches` until one asks for a reopening; returns the answers.
fn answers(
    instance: &Arc<Instance>,
    fs: &Arc<SimFs>,
    batches: Vec<String>,
    database: bool,
) -> Vec<String> {
    let (sessions, fs) = (instance.clone(), fs.clone());
    let run = instance.spawn_session("golden", move |first| {
        let mut others: BTreeMap<String, Session> = BTreeMap::new();
        let fresh = if database { "CREATE DATABASE t" } else { "" };
        for batch in [fresh, "USE t"] {
            let mut answer = Answer::default();
            let done = first.execute(batch, &mut answer);
            assert!(done.is_ok(), "{batch}: {}", answer.text);
        }
        let mut answers = Vec::new();
        for batch in batches {
            let name = batch.strip_prefix("-- session ").and_then(|rest| rest.lines().next());
            let session = match name {
                None => &mut *first,
                Some(name) => others.entry(name.to_owned()).or_insert_with(|| {
                    let mut session = Session::new(&sessions);
                    let _ = session.execute("USE t", &mut Answer::default());
                    session
                }),
            };
            if let Some(rest) = batch.strip_prefix("-- file ") {
                write_file(&fs, rest);
                answers.push(String::new());
                continue;
            }
            if let Some(name) = batch.strip_prefix("-- show ") {
                answers.push(show_file(&fs, name));
                continue;
            }
            let mut answer = Answer::default();
            let blame = Blame(&batch);
            let done = session.execute(&batch, &mut answer);
            drop(blame);
            assert_eq!(done.is_err(), answer.failed, "{batch}\n{}", answer.text);
            answers.push(answer.text);
        }
        answers
    });
    match run.join() {
        Ok(answers) => answers,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

fn run_file(path: &Path) -> Vec<(Case, String)> {
    let fs = SimFs::new(1);
    let mut instance = Instance::open(config(&fs)).expect("a fresh instance");
    let mut done = Vec::new();
    let mut cases = cases(path).into_iter().peekable();
    let mut fresh = true;
    while cases.peek().is_some() {
        let mut part: Vec<Case> = Vec::new();
        let mut reopen = None;
        for case in cases.by_ref() {
            if case.batch == "-- reopen" {
                reopen = Some(case);
                break;
            }
            part.push(case);
        }
        let batches = part.iter().map(|case| case.batch.clone()).collect();
        let found = answers(&instance, &fs, batches, fresh);
        fresh = false;
        done.extend(part.into_iter().zip(found));
        if let Some(case) = reopen {
            instance.shutdown().expect("a clean end");
            drop(instance);
            instance = Instance::open(config(&fs)).expect("the instance again");
            done.push((case, String::new()));
        }
    }
    instance.shutdown().expect("a clean end");
    done
}

fn check(path: &Path) -> Result<(), String> {
    let mut rewritten = String::new();
    let mut wrong = String::new();
    for (case, found) in run_file(path) {
        let found = found.trim_end();
        if found != case.expected {
            let _ = write!(
                wrong,
                "\n{}\n-- expected\n{}\n-- found\n{found}\n",
                case.batch, case.expected
            );
        }
        let _ = write!(rewritten, "====\n{}\n----\n{found}\n\n", case.batch);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, rewritten).expect("a writable file");
        return Ok(());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}:\n{wrong}", path.display())) }
}

fn check_folder(folder: &str) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests").join(folder);
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.sort();
    if let Some(only) = std::env::var_os("ONLY") {
        files.retain(|file| file.file_stem() == Some(&only));
    }
    assert!(!files.is_empty(), "the cases are missing");
    let wrong: Vec<String> = files.iter().filter_map(|file| check(file).err()).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn batches_and_their_answers() {
    check_folder("sql");
}

/// SQL Server's answers that ours are not yet: a case moves to `tests/sql` when it is right.
#[test]
#[ignore = "what the engine does not answer yet as SQL Server does"]
fn wanted_answers() {
    check_folder("wanted");
}
