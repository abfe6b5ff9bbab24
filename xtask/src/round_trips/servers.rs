//! The two servers of a comparison, each on an empty folder of the same file system, listening on loopback.
//!
//! Both run as they come: of PostgreSQL's settings only where it listens is said, so fsync and synchronous_commit are on, and
//! Millrace's database has no delayed durability. Tables are made and counted by their own shells, `millrace sql` and `psql`.

use crate::beside::postgres;
use crate::drivers::server::{Server, free_port};
use crate::processes;
use crate::run::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The database on either server.
const DATABASE: &str = "round_trips";

/// What a client reads, each of 10,000 rows by its key, and what it inserts into. Both are new for each driver.
const MILLRACE_TABLES: &str = "
    DROP TABLE IF EXISTS kept, added;
    CREATE TABLE kept (id int NOT NULL PRIMARY KEY, value int NOT NULL, name varchar(100) NOT NULL);
    CREATE TABLE added (id int IDENTITY PRIMARY KEY, value int NOT NULL, name varchar(100) NOT NULL);
    INSERT INTO kept SELECT value, value, CONCAT('the name of row ', value) FROM GENERATE_SERIES(1, 10000);
    CHECKPOINT;";
const POSTGRES_TABLES: &[&str] = &[
    "DROP TABLE IF EXISTS kept, added",
    "CREATE TABLE kept (id int NOT NULL PRIMARY KEY, value int NOT NULL, name varchar(100) NOT NULL)",
    "CREATE TABLE added (id serial PRIMARY KEY, value int NOT NULL, name varchar(100) NOT NULL)",
    "INSERT INTO kept SELECT n, n, 'the name of row ' || n FROM generate_series(1, 10000) AS n",
    "VACUUM ANALYZE kept",
    "CHECKPOINT",
];

/// One of the two.
pub struct Database {
    pub name: &'static str,
    pub port: u16,
    pub user: &'static str,
    /// Empty where it asks for none.
    pub password: String,
    running: Running,
}

enum Running {
    Millrace { binary: PathBuf, server: Server },
    Postgres(postgres::Server),
}

impl Database {
    pub fn millrace(folder: &Path, binary: &Path) -> Result<Database, Failure> {
        let (target, server) = Server::start_binary(folder, binary)?;
        let database = Database {
            name: "millrace",
            port: target.port,
            user: "sa",
            password: target.password,
            running: Running::Millrace { binary: binary.to_owned(), server },
        };
        database.run("master", &[&format!("CREATE DATABASE {DATABASE}")])?;
        Ok(database)
    }

    pub fn postgres(folder: &Path) -> Result<Database, Failure> {
        let port = free_port().map_err(|error| Failure(format!("postgres: {error}")))?;
        let server = postgres::Server::start(folder, port, "")?;
        let database = Database {
            name: "postgres",
            port,
            user: "postgres",
            password: String::new(),
            running: Running::Postgres(server),
        };
        match database.run("postgres", &[&format!("CREATE DATABASE {DATABASE}")]) {
            Ok(_) => Ok(database),
            Err(failure) => {
                let _ = database.stop();
                Err(failure)
            }
        }
    }

    /// Makes the tables anew.
    pub fn make_tables(&self) -> Result<(), Failure> {
        match self.running {
            Running::Millrace { .. } => self.run(DATABASE, &[MILLRACE_TABLES]),
            Running::Postgres(_) => self.run(DATABASE, POSTGRES_TABLES),
        }
        .map(drop)
    }

    /// Rows that clients have inserted.
    pub fn added(&self) -> Result<u64, Failure> {
        let told = self.run(DATABASE, &["SELECT COUNT(*) FROM added"])?;
        let count = told.lines().find_map(|line| line.trim().parse().ok());
        count.ok_or_else(|| Failure(format!("{}: no count in {told:?}", self.name)))
    }

    /// CPU time so far of its processes, in seconds.
    pub fn cpu(&self) -> Result<f64, Failure> {
        processes::cpu(match &self.running {
            Running::Millrace { server, .. } => server.pid(),
            Running::Postgres(server) => server.pid()?,
        })
    }

    /// What it is, for the reader of its figures.
    pub fn described(&self) -> String {
        match &self.running {
            Running::Millrace { binary, .. } => format!("millrace ({})", binary.display()),
            Running::Postgres(server) => server.version(),
        }
    }

    /// Runs statements by its shell: what that printed.
    fn run(&self, database: &str, statements: &[&str]) -> Result<String, Failure> {
        let mut command = match &self.running {
            Running::Millrace { binary, .. } => {
                let mut command = Command::new(binary);
                let address = format!("sa@127.0.0.1:{}/{database}?encrypt=no", self.port);
                command.args(["sql", "--server", &address, "-q", &statements.join(";\n")]);
                command.env("MILLRACE_SA_PASSWORD", &self.password);
                command
            }
            Running::Postgres(_) => {
                let mut command = Command::new("psql");
                command.args([
                    "-qAtX",
                    "-v",
                    "ON_ERROR_STOP=1",
                    "-h",
                    "127.0.0.1",
                    "-U",
                    self.user,
                ]);
                command.args(["-p", &self.port.to_string(), "-d", database]);
                command.args(statements.iter().flat_map(|one| ["-c", one]));
                command
            }
        };
        let output = command
            .output()
            .map_err(|e| Failure(format!("{}: {:?}: {e}", self.name, command.get_program())))?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(Failure(format!("{}: {}: {}", self.name, output.status, told.trim())));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    pub fn stop(self) -> Result<(), Failure> {
        match self.running {
            Running::Millrace { server, .. } => server.stop(),
            Running::Postgres(server) => {
                server.stop();
                Ok(())
            }
        }
    }
}
