//! tiberius's suite. This file is its frame: it runs the scenarios that it is asked for and prints a line for each.
//!
//! A scenario succeeds by returning `Ok`, and fails by an error or by any check that did not hold.

mod scenarios;
mod values;

use std::cell::RefCell;
use std::fmt::{Debug, Display};

use serde_json::Value as Json;
use tiberius::{AuthMethod, Client, ColumnData, Config, Query, Row, error::Error};
use tokio::net::TcpStream;
use tokio_util::compat::{Compat, TokioAsyncWriteCompatExt};

pub const DATABASE: &str = "drv_tiberius";

pub type Result<T = ()> = std::result::Result<T, Failure>;
pub type Connection = Client<Compat<TcpStream>>;

/// Why a scenario could not go on.
#[derive(Debug)]
pub enum Failure {
    Client(Error),
    Other(String),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Client(error)
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Failure {
        Failure::Other(error.to_string())
    }
}

thread_local! {
    static PROBLEMS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let driver = env("DRIVER");
    for name in env("SCENARIOS").split(',') {
        println!("{driver} {name} run");
        PROBLEMS.take();
        if name == "pooling-reset" {
            println!("{driver} {name} skip(the client has no pool)");
            continue;
        }
        match scenarios::run_one(name).await {
            Ok(()) => {}
            Err(Failure::Client(error)) => problem(format!("{error:?}")),
            Err(Failure::Other(text)) => problem(text),
        }
        let problems = PROBLEMS.take();
        println!("{driver} {name} {}", if problems.is_empty() { "ok" } else { "FAIL" });
        for problem in problems {
            println!("  {}", problem.replace('\n', " | "));
        }
    }
}

pub fn env(name: &str) -> String {
    std::env::var(format!("MILLRACE_{name}"))
        .unwrap_or_else(|_| panic!("MILLRACE_{name} is not set"))
}

pub fn json(name: &str) -> Json {
    let path = std::path::Path::new(&env("DRIVER_TESTS")).join(name);
    let text = std::fs::read_to_string(&path)
        .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

pub fn problem(text: String) {
    PROBLEMS.with_borrow_mut(|all| all.push(text));
}

pub fn check(holds: bool, what: impl Display) {
    if !holds {
        problem(what.to_string());
    }
}

pub fn equal<T: PartialEq + Debug>(got: T, want: T, what: impl Display) {
    if got != want {
        problem(format!("{what}: expected {}, got {}", short(&want), short(&got)));
    }
}

/// An error inside is noted as a problem, and the scenario goes on.
pub fn note<T>(what: impl Display, result: Result<T>) -> Option<T> {
    result.map_err(|error| problem(format!("{what}: {}", short(&error)))).ok()
}

pub fn short(value: &impl Debug) -> String {
    let text = format!("{value:?}");
    match text.char_indices().nth(200) {
        None => text,
        Some((at, _)) => format!("{}... ({} bytes)", &text[..at], text.len()),
    }
}

/// The defaults: encryption required, and the certificate verified; the server's own is trusted.
pub fn config(database: &str, password: &str, trust: bool) -> Config {
    let mut config = Config::new();
    config.host(env("HOST"));
    config.port(env("PORT").parse().expect("MILLRACE_PORT is a number"));
    config.database(database);
    config.authentication(AuthMethod::sql_server(env("USER"), password));
    if trust {
        config.trust_cert_ca(env("CERTIFICATE"));
    }
    config
}

pub async fn connect(config: Config) -> Result<Connection> {
    let stream = TcpStream::connect(config.get_addr()).await?;
    stream.set_nodelay(true)?;
    Ok(Client::connect(config, stream.compat_write()).await?)
}

/// A connection to the suite's own database, which is made when first asked for.
pub async fn open() -> Result<Connection> {
    let mut master = connect(config("master", &env("PASSWORD"), true)).await?;
    run(&mut master, &format!("IF DB_ID(N'{DATABASE}') IS NULL CREATE DATABASE {DATABASE}"))
        .await?;
    master.close().await?;
    connect(config(DATABASE, &env("PASSWORD"), true)).await
}

/// A batch, read to its end.
pub async fn run(connection: &mut Connection, sql: &str) -> Result<Vec<Vec<Row>>> {
    Ok(connection.simple_query(sql).await?.into_results().await?)
}

pub async fn fixture(connection: &mut Connection, name: &str) -> Result {
    for batch in json("fixtures.json")[name].as_array().expect("a fixture is a list") {
        run(connection, batch.as_str().expect("a batch is text")).await?;
    }
    Ok(())
}

/// Rows changed by a statement with parameters `@P1`, `@P2`, ...
pub async fn execute(
    connection: &mut Connection,
    sql: &str,
    parameters: Vec<ColumnData<'static>>,
) -> Result<u64> {
    let mut query = Query::new(sql);
    for parameter in parameters {
        query.bind(parameter);
    }
    Ok(query.execute(connection).await?.total())
}

/// The rows of a query with parameters `@P1`, `@P2`, ...
pub async fn rows(
    connection: &mut Connection,
    sql: &str,
    parameters: Vec<ColumnData<'static>>,
) -> Result<Vec<Row>> {
    let mut query = Query::new(sql);
    for parameter in parameters {
        query.bind(parameter);
    }
    Ok(query.query(connection).await?.into_first_result().await?)
}

/// The first value of the first row.
pub async fn scalar(connection: &mut Connection, sql: &str) -> Result<ColumnData<'static>> {
    let rows = run(connection, sql).await?.into_iter().next().unwrap_or_default();
    let row = rows.into_iter().next().ok_or_else(|| Failure::Other(format!("no row: {sql}")))?;
    row.into_iter().next().ok_or_else(|| Failure::Other(format!("no column: {sql}")))
}

/// The work must have failed with this number.
pub fn refused<T>(number: u32, what: &str, result: Result<T>) {
    match result {
        Ok(_) => problem(format!("{what}: was not refused")),
        Err(Failure::Client(error)) => {
            check(
                error.code() == Some(number),
                format!("{what}: expected error {number}, got {error:?}"),
            );
        }
        Err(other) => problem(format!("{what}: expected error {number}, got {other:?}")),
    }
}
