//! What a call costs a session, in ns, without a wire: `cargo bench -p session --bench calls`.
//!
//! One session, in memory, delayed durability. A line per kind of request: a prepared insert of one row and a prepared
//! point read by handle, the same by text (sp_executesql), a batch whose text comes again, an INSERT whose text comes again
//! or is new each time (the difference is its compilation), a text that only other sessions have met, and a procedure of
//! 4,000 lines. Run as a test (`cargo test --bench`) it does a few turns only.

use device::SimFs;
use executor::{ColumnMeta, Done, ResultSink, SqlMessage};
use session::{Instance, InstanceConfig, Rpc, RpcName, RpcParam, RpcValue, Session};
use std::sync::Arc;
use std::time::Instant;
use types::{Len, SqlType, Value};

/// Takes everything and keeps the first error.
#[derive(Default)]
struct Deaf {
    error: Option<String>,
    handle: i32,
    rows: u64,
}

impl ResultSink for Deaf {
    fn columns(&mut self, _: &[ColumnMeta]) {}
    fn row(&mut self, _: &[Value]) {
        self.rows += 1;
    }
    fn done(&mut self, _: Done) {}
    fn message(&mut self, message: &SqlMessage) {
        if message.is_error() {
            self.error.get_or_insert(message.to_string());
        }
    }
    fn output(&mut self, _: u16, _: &str, _: SqlType, value: &Value) {
        self.handle = value.as_i64().unwrap_or(0) as i32;
    }
}

fn text(value: &str) -> RpcParam {
    RpcParam::input(SqlType::NVarChar(Len::N(4000)), Value::str(value))
}

fn int(value: i32) -> RpcParam {
    RpcParam::input(SqlType::Int, Value::Int(value))
}

fn prepare(session: &mut Session, declarations: &str, statement: &str) -> i32 {
    let params = vec![
        RpcParam::input(SqlType::Int, Value::Null).output(),
        text(declarations),
        text(statement),
    ];
    let mut sink = Deaf::default();
    let call = Rpc { procedure: RpcName::Id(11), params, recompile: false };
    let _ = session.call(&call, &mut sink);
    assert_eq!(sink.error, None);
    sink.handle
}

/// Calls `turns` times, the counter in parameter `place`; prints ns a call.
fn measure(session: &mut Session, name: &str, turns: i32, first: i32, place: usize, mut call: Rpc) {
    let mut sink = Deaf::default();
    let begin = Instant::now();
    for i in 0..turns {
        call.params[place].value = RpcValue::Scalar(Value::Int(first + i));
        let _ = session.call(&call, &mut sink);
    }
    let ns = begin.elapsed().as_nanos() as f64 / turns as f64;
    assert_eq!(sink.error, None, "{name}");
    println!("{name:<44} {ns:>8.0} ns a call, {} rows back", sink.rows);
}

fn main() {
    let turns = if std::env::args().any(|arg| arg == "--bench") { 300_000 } else { 2_000 };
    let turns = std::env::var("TURNS").ok().and_then(|t| t.parse().ok()).unwrap_or(turns);
    let mut config = InstanceConfig::new("/data", SimFs::new(1));
    config.buffer_pool_bytes = 512 << 20;
    let instance = Instance::open(config).expect("opens");
    let inside = instance.clone();
    let ran = instance.spawn_session("bench", move |session| run(session, &inside, turns));
    if let Err(panic) = ran.join() {
        std::panic::resume_unwind(panic);
    }
    instance.shutdown().expect("closes");
}

fn run(session: &mut Session, instance: &Arc<Instance>, turns: i32) {
    let mut sink = Deaf::default();
    for batch in [
        "CREATE DATABASE bench",
        "ALTER DATABASE bench SET DELAYED_DURABILITY = FORCED",
        "USE bench",
        "CREATE TABLE fixed (id int NOT NULL PRIMARY KEY, a bigint NOT NULL, filler char(80) NOT NULL)
         CREATE TABLE varied (id int NOT NULL PRIMARY KEY, name nvarchar(40) NULL)",
    ] {
        let _ = session.execute(batch, &mut sink);
    }
    assert_eq!(sink.error, None);
    let by_handle = |handle: i32, rest: Vec<RpcParam>| {
        let params = std::iter::once(int(handle)).chain(rest).collect();
        Rpc { procedure: RpcName::Id(12), params, recompile: false }
    };
    let insert = "INSERT fixed (id, a, filler) VALUES (@id, @a, 'x')";
    let handle = prepare(session, "@id int, @a bigint", insert);
    let bigint = || RpcParam::input(SqlType::BigInt, Value::BigInt(7));
    let call = by_handle(handle, vec![int(0), bigint()]);
    measure(session, "insert, fixed columns, by handle", turns, 0, 1, call);

    let declarations = "@id int, @a bigint";
    let params = vec![text(insert), text(declarations), int(0), bigint()];
    let call = Rpc { procedure: RpcName::Id(10), params, recompile: false };
    measure(session, "insert, fixed columns, sp_executesql", turns, turns, 2, call);

    let handle =
        prepare(session, "@id int, @name nvarchar(40)", "INSERT varied VALUES (@id, @name)");
    let call = by_handle(handle, vec![int(0), text("a name of some length")]);
    measure(session, "insert, nvarchar, by handle", turns, 0, 1, call);

    let handle = prepare(session, "@id int", "SELECT a, filler FROM fixed WHERE id = @id");
    measure(session, "point read, by handle", turns, 0, 1, by_handle(handle, vec![int(0)]));

    let handle = prepare(session, "@id int", "UPDATE fixed SET a = a + 1 WHERE id = @id");
    measure(session, "update by key, by handle", turns, 0, 1, by_handle(handle, vec![int(0)]));

    let begin = Instant::now();
    for _ in 0..turns {
        let _ = session.execute("SELECT a FROM fixed WHERE id = 1", &mut sink);
    }
    let ns = begin.elapsed().as_nanos() as f64 / turns as f64;
    println!("{:<44} {ns:>8.0} ns a batch", "the same batch again");
    assert_eq!(sink.error, None);

    // A text met again costs a look-up; one that differs in a literal is parsed, bound, planned and compiled.
    let _ =
        session.execute("CREATE TABLE anywhere (a int, name nvarchar(20), at datetime)", &mut sink);
    for (name, step) in
        [("an INSERT's text again", 0), ("an INSERT's text with another literal", 1)]
    {
        let texts = turns.min(20_000);
        let begin = Instant::now();
        for i in 0..texts {
            let a = i * step;
            let text = format!("INSERT anywhere (a, name, at) VALUES ({a}, N'one', GETDATE())");
            let _ = session.execute(&text, &mut sink);
        }
        let ns = begin.elapsed().as_nanos() as f64 / f64::from(texts);
        println!("{name:<44} {ns:>8.0} ns a batch");
        assert_eq!(sink.error, None);
    }

    // Whoever comes later finds what others have compiled.
    let mut elapsed_ns = 0;
    let sessions = (turns / 100).max(1);
    for i in 0..sessions {
        let mut other = Session::new(instance);
        let _ = other.execute("USE bench", &mut sink);
        let id = int(2 * turns + i);
        let params = vec![text(insert), text(declarations), id, bigint()];
        let call = Rpc { procedure: RpcName::Id(10), params, recompile: false };
        let begin = Instant::now();
        let _ = other.call(&call, &mut sink);
        elapsed_ns += begin.elapsed().as_nanos();
    }
    let ns = elapsed_ns as f64 / f64::from(sessions);
    println!("{:<44} {ns:>8.0} ns a call", "insert, sp_executesql, first of a session");
    assert_eq!(sink.error, None);
    long_procedure(session);
}

/// Making a procedure of 4,000 lines, which reads and checks it, and its first call, which binds, plans and compiles all
/// of it and returns at once.
fn long_procedure(session: &mut Session) {
    const BLOCK: &str = "
IF @id > 0
BEGIN
    SELECT f.id, f.a, v.name
    FROM fixed AS f
    JOIN varied AS v ON v.id = f.id
    WHERE f.a > @a AND v.name LIKE N'a%'
    ORDER BY f.id
    UPDATE fixed
    SET a = a + 1, filler = LEFT(filler, 10)
    WHERE id = @id
    INSERT varied (id, name)
    SELECT id + @k, CONVERT(nvarchar(40), a)
    FROM fixed
    WHERE id BETWEEN @id AND @id + 10
    DELETE varied
    WHERE id = @id AND name IS NULL
    SET @k = @k + 1
END";
    let mut sink = Deaf::default();
    let (mut making, mut calling) = (Vec::new(), Vec::new());
    for turn in 0..9 {
        let mut text = format!(
            "CREATE PROCEDURE long_{turn} @id int, @a bigint AS\nDECLARE @k int = {turn}\n\
             IF @id < 0 RETURN"
        );
        while text.lines().count() < 4_000 {
            text.push_str(BLOCK);
        }
        let begin = Instant::now();
        let _ = session.execute(&text, &mut sink);
        making.push(begin.elapsed());
        let begin = Instant::now();
        let _ = session.execute(&format!("EXEC long_{turn} -1, 1"), &mut sink);
        calling.push(begin.elapsed());
        assert_eq!(sink.error, None);
    }
    for (name, mut times) in
        [("a procedure of 4,000 lines, made", making), ("the same, its first call", calling)]
    {
        times.sort();
        println!(
            "{name:<44} {:>8.1} ms, the median of {}",
            times[4].as_secs_f64() * 1e3,
            times.len()
        );
    }
}
