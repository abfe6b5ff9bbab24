//! The rival itself: a desk connection for set-up, statistics and settings, and one more that samples waits.

use crate::own::{self, LOG_FILES, Own};
use crate::session::Connected;
use crate::{sql, waits};
use postgres::{Client, Config, NoTls};
use rival_harness::{
    Connect, Job, Rival, RivalError, Sampler, Session, Settings, Start, Statistics, Work,
};
use std::str::FromStr;
use std::time::Duration;

/// Between two looks at the sessions: a look costs the server some 0.3 ms.
const LOOK: Duration = Duration::from_millis(50);

const SETTINGS: &str = "SELECT name, current_setting(name) FROM pg_settings WHERE name = ANY($1)";
const SHOWN: &[&str] = &[
    "autovacuum",
    "bgwriter_delay",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "jit",
    "max_connections",
    "max_wal_senders",
    "max_wal_size",
    "min_wal_size",
    "server_encoding",
    "server_version",
    "shared_buffers",
    "ssl",
    "wal_buffers",
    "wal_compression",
    "wal_init_zero",
    "wal_level",
    "wal_segment_size",
    "wal_sync_method",
    "wal_writer_delay",
    "wal_writer_flush_after",
];

/// PostgreSQL, up.
pub struct Postgres {
    /// Ends before the server does.
    sampler: Option<Sampler>,
    desk: Client,
    config: Config,
    own: Option<Own>,
    /// The database to drop, on a server that is not the lab's own.
    made: Option<(String, Config)>,
    version: String,
    settings: Settings,
}

/// What the server or the wire said.
pub(crate) fn failed(error: postgres::Error) -> RivalError {
    match error.as_db_error() {
        Some(told) => RivalError::plain(format!(
            "PostgreSQL: {} {}: {}",
            told.severity(),
            told.code().code(),
            told.message()
        )),
        None => {
            let cause = std::error::Error::source(&error);
            let cause = cause.map(|cause| format!(": {cause}")).unwrap_or_default();
            RivalError::plain(format!("PostgreSQL: {error}{cause}"))
        }
    }
}

impl Postgres {
    /// One of the lab's own. Options: `port`, `bin` (the folder of its programs), `user` (the account to run as).
    pub fn start(options: &str, start: &Start) -> Result<Postgres, RivalError> {
        let options = own::options(options)?;
        let (own, config) = Own::start(&options, start)?;
        let mut rival = Postgres::on(config, Some(own), None)?;
        rival.desk.batch_execute(&sql::make_log_files(LOG_FILES)).map_err(failed)?;
        rival.desk.batch_execute("CHECKPOINT").map_err(failed)?;
        Ok(rival)
    }

    /// One that runs already, by its address, `postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]`: the lab makes a
    /// database of its own there, and drops it.
    pub fn connect(address: &str) -> Result<Postgres, RivalError> {
        let config = Config::from_str(address).map_err(|error| {
            RivalError::new(
                format!("the address cannot be read: {error}"),
                "postgres://USER[:PASSWORD]@HOST[:PORT][/DATABASE]",
            )
        })?;
        let mut first = config.connect(NoTls).map_err(|error| {
            let hint = "is the server there, and does it let this user in from here without TLS? \
                        `--target postgres` starts one of the lab's own";
            RivalError { hint: hint.to_owned(), ..failed(error) }
        })?;
        let name = format!("millrace_lab_{}", std::process::id());
        first.batch_execute(&format!("CREATE DATABASE {name}")).map_err(failed)?;
        let mut inside = config.clone();
        inside.dbname(&name);
        Postgres::on(inside, None, Some((name, config)))
    }

    fn on(
        config: Config,
        own: Option<Own>,
        made: Option<(String, Config)>,
    ) -> Result<Postgres, RivalError> {
        let mut desk = config.connect(NoTls).map_err(failed)?;
        let version = desk.query_one("SELECT version()", &[]).map_err(failed)?;
        let mut settings = Settings::new();
        for row in desk.query(SETTINGS, &[&SHOWN]).map_err(failed)? {
            settings.insert(row.get(0), row.get(1));
        }
        Ok(Postgres { sampler: None, desk, config, own, made, version: version.get(0), settings })
    }

    /// A view's one row, each column as a number where it is one: so that a column that a version lacks is absent,
    /// and no error.
    fn numbers(&mut self, view: &str) -> Result<Vec<(String, f64)>, RivalError> {
        let query = format!(
            "SELECT key, value FROM (SELECT to_jsonb(v) AS j FROM {view} v) x, jsonb_each_text(j) \
             WHERE value ~ '^[0-9.]+$'"
        );
        let rows = self.desk.query(&query, &[]).map_err(failed)?;
        let pairs = rows.iter().map(|row| (row.get::<_, String>(0), row.get::<_, String>(1)));
        Ok(pairs.filter_map(|(name, text)| Some((name, text.parse().ok()?))).collect())
    }
}

impl Rival for Postgres {
    fn version(&self) -> &str {
        &self.version
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn cpu_s(&self) -> Option<f64> {
        self.own.as_ref()?.process().cpu_s()
    }

    fn notes(&self, job: &Job) -> Vec<String> {
        let mut notes = self.own.as_ref().map(|own| own.notes.clone()).unwrap_or_default();
        notes.push(match job.delayed {
            false => "Full durability is synchronous_commit = on: a COMMIT, in a procedure too, returns when its \
                      log is flushed; one flush serves all who wait."
                .to_owned(),
            true => "Delayed durability is synchronous_commit = off: a COMMIT returns at once, the WAL writer \
                     flushes within three times wal_writer_delay; a crash loses the last commits and nothing else."
                .to_owned(),
        });
        notes.push(match job.work {
            Work::Procedure { .. } | Work::ProcedureRead { .. } => {
                "The loop is a PL/pgSQL procedure with COMMIT in it, called outside a transaction."
            }
            Work::RoundtripInsert | Work::RoundtripRead { .. } => {
                "A round trip is a prepared statement of the extended protocol (Bind, Execute and Sync in one \
                 write), by the crate `postgres`, one thread a session, over TCP on the loopback."
            }
        }.to_owned());
        notes.push(
            "The table is a heap with a B-tree for its key: PostgreSQL has no clustered tables."
                .to_owned(),
        );
        notes.push(format!(
            "Waits are sampled from pg_stat_activity every {} ms: times are estimates, counts are sightings.",
            LOOK.as_millis()
        ));
        notes
    }

    fn prepare(&mut self, job: &Job) -> Result<(), RivalError> {
        self.desk.batch_execute(sql::DROP).map_err(failed)?;
        self.desk.batch_execute(sql::TABLE).map_err(failed)?;
        if let Some(procedure) = sql::procedure(&job.work) {
            self.desk.batch_execute(&procedure).map_err(failed)?;
        }
        if let Work::ProcedureRead { rows } | Work::RoundtripRead { rows } = job.work {
            self.desk.batch_execute(&sql::fill(rows)).map_err(failed)?;
            self.desk.batch_execute("VACUUM (ANALYZE) big_table").map_err(failed)?;
        }
        if self.own.is_some() {
            self.desk.batch_execute("CHECKPOINT").map_err(failed)?;
        }
        Ok(())
    }

    fn connector(&self, job: &Job) -> Connect {
        let (config, job) = (self.config.clone(), *job);
        Box::new(move |index| {
            Connected::open(&config, &job, index).map(|s| Box::new(s) as Box<dyn Session>)
        })
    }

    fn watch(&mut self) -> Result<(), RivalError> {
        let mut eye = self.config.connect(NoTls).map_err(failed)?;
        let look = eye.prepare(waits::LOOK).map_err(failed)?;
        let sampler = Sampler::start(
            LOOK,
            Box::new(move |see| {
                for row in eye.query(&look, &[]).map_err(failed)? {
                    let (name, class) = waits::named(row.get(0), row.get(1));
                    for _ in 0..row.get::<_, i64>(2) {
                        see(&name, class);
                    }
                }
                Ok(())
            }),
        );
        self.sampler = Some(sampler.map_err(|error| RivalError::plain(error.to_string()))?);
        Ok(())
    }

    fn sampled(&self) -> Option<&Sampler> {
        self.sampler.as_ref()
    }

    fn unwatch(&mut self) {
        self.sampler = None;
    }

    fn statistics(&mut self) -> Result<Statistics, RivalError> {
        let mut told = Statistics {
            context_switches: self.own.as_ref().and_then(|own| own.process().context_switches()),
            ..Statistics::default()
        };
        for (name, value) in self.numbers("pg_stat_wal").unwrap_or_default() {
            match &*name {
                "wal_sync" => told.log_flushes = Some(value as u64),
                "wal_bytes" => told.log_bytes = Some(value as u64),
                _ => {}
            }
            told.counters.insert(format!("pg_stat_wal.{name}"), value);
        }
        let mut written = 0.0;
        for (name, value) in self.numbers("pg_stat_bgwriter")? {
            if ["buffers_checkpoint", "buffers_clean", "buffers_backend"].contains(&&*name) {
                written += value;
                told.page_writes = Some(written as u64);
            }
            told.counters.insert(format!("pg_stat_bgwriter.{name}"), value);
        }
        let view = "(SELECT * FROM pg_stat_database WHERE datname = current_database())";
        for (name, value) in self.numbers(view)? {
            if name == "blks_read" {
                told.page_reads = Some(value as u64);
            }
            if ["blks_read", "blks_hit", "xact_commit", "deadlocks"].contains(&&*name) {
                told.counters.insert(format!("pg_stat_database.{name}"), value);
            }
        }
        Ok(told)
    }

    fn count(&mut self) -> Result<u64, RivalError> {
        let row = self.desk.query_one(sql::COUNT, &[]).map_err(failed)?;
        Ok(row.get::<_, i64>(0) as u64)
    }

    fn clear(&mut self) -> Result<(), RivalError> {
        self.desk.batch_execute(sql::DROP).map_err(failed)?;
        if self.own.is_some() {
            // What is dirty is written now, and not while another target is measured.
            self.desk.batch_execute("CHECKPOINT").map_err(failed)?;
        }
        Ok(())
    }

    fn close(self: Box<Self>) -> Result<(), RivalError> {
        let Postgres { sampler, desk, own, made, .. } = *self;
        drop(sampler);
        // A connection that has been cut has nothing left to close.
        let _ = desk.close();
        if let Some((name, config)) = made {
            let mut last = config.connect(NoTls).map_err(failed)?;
            last.batch_execute(&format!("DROP DATABASE {name}")).map_err(failed)?;
        }
        own.map_or(Ok(()), Own::stop)
    }
}
