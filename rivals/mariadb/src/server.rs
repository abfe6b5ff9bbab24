//! The rival itself: a desk connection for set-up, statistics and settings, and one more that samples waits.

use crate::own::{self, Own};
use crate::session::Connected;
use crate::{sql, waits};
use mysql::prelude::Queryable;
use mysql::{Conn, Opts, OptsBuilder};
use rival_harness::{
    Connect, Job, Rival, RivalError, Sampler, Session, Settings, Start, Statistics, Work,
    thread_state,
};
use std::collections::BTreeSet;
use std::time::Duration;

/// Between two looks at the sessions.
const LOOK: Duration = Duration::from_millis(50);

const SHOWN: &[&str] = &[
    "binlog_format",
    "innodb_adaptive_hash_index",
    "innodb_buffer_pool_size",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_flush_neighbors",
    "innodb_io_capacity",
    "innodb_io_capacity_max",
    "innodb_log_buffer_size",
    "innodb_log_file_buffering",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_use_native_aio",
    "log_bin",
    "max_connections",
    "performance_schema",
    "query_cache_type",
    "sync_binlog",
    "thread_handling",
    "transaction_isolation",
    "tx_isolation",
    "version",
    "version_comment",
];

/// MariaDB, up.
pub struct MariaDb {
    /// Ends before the server does.
    sampler: Option<Sampler>,
    desk: Conn,
    opts: Opts,
    own: Option<Own>,
    database: String,
    performance_schema: bool,
    version: String,
    settings: Settings,
}

/// What the server or the wire said.
pub(crate) fn failed(error: mysql::Error) -> RivalError {
    match error {
        mysql::Error::MySqlError(told) => {
            RivalError::plain(format!("MariaDB: error {}: {}", told.code, told.message))
        }
        other => RivalError::plain(format!("MariaDB: {other}")),
    }
}

impl MariaDb {
    /// One of the lab's own. Options: `port`, `bin` (its program), `user` (the account to run as), `waits`
    /// (`performance_schema`).
    pub fn start(options: &str, start: &Start) -> Result<MariaDb, RivalError> {
        let options = own::options(options)?;
        let performance_schema = options.get("waits").is_some();
        let (own, opts) = Own::start(&options, start)?;
        MariaDb::on(opts, Some(own), performance_schema)
    }

    /// One that runs already, by its address, `mysql://USER[:PASSWORD]@HOST[:PORT]`: the lab makes a database of its
    /// own there, and drops it.
    pub fn connect(address: &str) -> Result<MariaDb, RivalError> {
        let address = address.replacen("mariadb://", "mysql://", 1);
        let opts = Opts::from_url(&address).map_err(|error| {
            RivalError::new(
                format!("the address cannot be read: {error}"),
                "mysql://USER[:PASSWORD]@HOST[:PORT]",
            )
        })?;
        let opts: Opts = OptsBuilder::from_opts(opts).prefer_socket(false).into();
        MariaDb::on(opts, None, false).map_err(|error| {
            let hint = "is the server there, and does it let this user in from here without TLS? \
                        `--target mariadb` starts one of the lab's own";
            RivalError { hint: hint.to_owned(), ..error }
        })
    }

    fn on(opts: Opts, own: Option<Own>, performance_schema: bool) -> Result<MariaDb, RivalError> {
        let mut desk = Conn::new(opts.clone()).map_err(failed)?;
        let database = format!("millrace_lab_{}", std::process::id());
        desk.query_drop(format!("CREATE DATABASE {database}")).map_err(failed)?;
        desk.query_drop(format!("USE {database}")).map_err(failed)?;
        let opts = OptsBuilder::from_opts(opts).db_name(Some(database.clone())).into();
        let mut settings = Settings::new();
        for (name, value) in
            desk.query::<(String, String), _>("SHOW GLOBAL VARIABLES").map_err(failed)?
        {
            if SHOWN.contains(&&*name) {
                settings.insert(name, value);
            }
        }
        let told = |name: &str| settings.get(name).cloned().unwrap_or_default();
        let version = format!("{} {}", told("version"), told("version_comment"));
        Ok(MariaDb {
            sampler: None,
            desk,
            opts,
            own,
            database,
            performance_schema,
            version,
            settings,
        })
    }

    /// Sets what decides how a commit is flushed; on a server that is not the lab's own, asks.
    fn set_durability(&mut self, delayed: bool) -> Result<(), RivalError> {
        let wanted = if delayed { "0" } else { "1" };
        let name = "innodb_flush_log_at_trx_commit";
        if self.own.is_some() {
            self.desk.query_drop(format!("SET GLOBAL {name} = {wanted}")).map_err(failed)?;
            self.settings.insert(name.to_owned(), wanted.to_owned());
            return Ok(());
        }
        let there = self.settings.get(name).map_or("", |value| &**value);
        let agrees = if delayed { there != "1" } else { there == "1" };
        if agrees {
            return Ok(());
        }
        let durability = if delayed { "delayed" } else { "full" };
        Err(RivalError::new(
            format!("the server has {name} = {there}, which is not {durability} durability"),
            "it counts for all its users, so the lab does not change it: set it there, or ask for the other durability",
        ))
    }
}

impl Rival for MariaDb {
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
        let in_procedure = matches!(job.work, Work::Procedure { .. });
        notes.push(match job.delayed {
            true => "Delayed durability is innodb_flush_log_at_trx_commit = 0: the log is written and flushed about \
                     once a second; a crash loses up to that."
                .to_owned(),
            false if in_procedure => {
                "Full durability is innodb_flush_log_at_trx_commit = 1, but a COMMIT inside a procedure waits only \
                 for a flush that its own session does; for one that another session does, not the COMMIT but the \
                 answer to the CALL (some 50 ms of rows) waits. With several sessions MariaDB is no durable peer in \
                 this mode; compare round trips instead."
                    .to_owned()
            }
            false => "Full durability is innodb_flush_log_at_trx_commit = 1: the answer to a commit waits for the \
                      flush; one flush serves all who wait."
                .to_owned(),
        });
        notes.push(match job.work {
            Work::Procedure { .. } | Work::ProcedureRead { .. } => {
                "The loop is a stored procedure with START TRANSACTION and COMMIT in it."
            }
            Work::RoundtripInsert | Work::RoundtripRead { .. } => {
                "A round trip is a statement prepared on the server, binary protocol, by the crate `mysql`, one thread \
                 a session, over TCP on the loopback."
            }
        }.to_owned());
        notes.push("The binary log is off: nothing follows this server.".to_owned());
        notes.push(match self.performance_schema {
            true => format!(
                "Waits are sampled from the performance schema every {} ms; its instruments cost throughput.",
                LOOK.as_millis()
            ),
            false => format!(
                "Waits are sampled every {} ms from the process list and the kernel's state of each thread (the \
                 performance schema is off, as installed): times are estimates, counts are sightings.",
                LOOK.as_millis()
            ),
        });
        notes
    }

    fn prepare(&mut self, job: &Job) -> Result<(), RivalError> {
        self.set_durability(job.delayed)?;
        self.desk.query_drop(sql::DROP).map_err(failed)?;
        self.desk.query_drop(sql::TABLE).map_err(failed)?;
        if let Some((old, new)) = sql::procedure(&job.work) {
            self.desk.query_drop(old).map_err(failed)?;
            self.desk.query_drop(new).map_err(failed)?;
        }
        if let Work::ProcedureRead { rows } | Work::RoundtripRead { rows } = job.work {
            for step in sql::fill(rows) {
                self.desk.query_drop(step).map_err(failed)?;
            }
        }
        Ok(())
    }

    fn connector(&self, job: &Job) -> Connect {
        let (opts, job) = (self.opts.clone(), *job);
        Box::new(move |index| {
            Connected::open(opts.clone(), &job, index).map(|s| Box::new(s) as Box<dyn Session>)
        })
    }

    fn watch(&mut self) -> Result<(), RivalError> {
        let mut eye = Conn::new(self.opts.clone()).map_err(failed)?;
        let desk = self.desk.connection_id();
        // The desk is a session of the database, too.
        let others = format!("<> CONNECTION_ID() AND {{}} <> {desk}");
        let but_desk =
            |query: &str, id: &str| query.replace("<> CONNECTION_ID()", &others.replace("{}", id));
        let process = self.own.as_ref().map(|own| own.process().id());
        let look: rival_harness::Look = if self.performance_schema {
            let query = but_desk(waits::INSTRUMENTS, "t.PROCESSLIST_ID");
            Box::new(move |see| {
                let rows = eye.query::<(String, String), _>(&query).map_err(failed)?;
                for (command, instrument) in rows {
                    let (name, class) = waits::by_instrument(&command, &instrument);
                    see(&name, class);
                }
                Ok(())
            })
        } else {
            let query = but_desk(waits::THREADS, "ID");
            Box::new(move |see| {
                let locked: BTreeSet<u32> =
                    eye.query(waits::LOCK_WAITS).map_err(failed)?.into_iter().collect();
                let rows = eye.query::<(u32, String, String), _>(&query).map_err(failed)?;
                for (thread, command, state) in rows {
                    let kernel = process.and_then(|process| thread_state(process, thread));
                    let waits = locked.contains(&thread);
                    let (name, class) = waits::by_thread(&command, &state, kernel, waits);
                    see(&name, class);
                }
                Ok(())
            })
        };
        let sampler = Sampler::start(LOOK, look);
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
        let query = "SHOW GLOBAL STATUS WHERE Variable_name LIKE 'Innodb\\_%' OR Variable_name LIKE 'Com\\_commit'";
        for (name, value) in self.desk.query::<(String, String), _>(query).map_err(failed)? {
            let Ok(number) = value.parse::<f64>() else { continue };
            let whole = number as u64;
            match &*name {
                // Later versions (10.8 and on) count writes only; each is followed by its flush.
                "Innodb_os_log_fsyncs" | "Innodb_log_writes" => told.log_flushes = Some(whole),
                "Innodb_os_log_written" => told.log_bytes = Some(whole),
                "Innodb_pages_read" => told.page_reads = Some(whole),
                "Innodb_pages_written" => told.page_writes = Some(whole),
                _ => {}
            }
            let wanted = ["log_", "row_lock", "os_log", "data_fsyncs", "buffer_pool_wait", "Com_"];
            if wanted.iter().any(|part| name.contains(part)) {
                told.counters.insert(name, number);
            }
        }
        // Shown only to accounts that may see it; of the same name, all together.
        let mutexes = self.desk.query::<(String, String, String), _>("SHOW ENGINE INNODB MUTEX");
        for (_, name, status) in mutexes.unwrap_or_default() {
            if let Some(waits) = status.split_once('=').and_then(|(_, n)| n.parse::<f64>().ok()) {
                *told.counters.entry(format!("waits of {name}")).or_default() += waits;
            }
        }
        Ok(told)
    }

    fn count(&mut self) -> Result<u64, RivalError> {
        let count = self.desk.query_first::<u64, _>(sql::COUNT).map_err(failed)?;
        count.ok_or_else(|| RivalError::plain("MariaDB: a count gave no row"))
    }

    fn clear(&mut self) -> Result<(), RivalError> {
        self.desk.query_drop(sql::DROP).map_err(failed)
    }

    fn close(self: Box<Self>) -> Result<(), RivalError> {
        let MariaDb { sampler, mut desk, own, database, .. } = *self;
        drop(sampler);
        desk.query_drop(format!("DROP DATABASE {database}")).map_err(failed)?;
        drop(desk);
        own.map_or(Ok(()), Own::stop)
    }
}
