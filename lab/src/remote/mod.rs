//! A server over the wire: a Millrace in another process, or any SQL Server.
//!
//! A cell: a database of its own, made and dropped here; N connections, each a task of a few schedulers of the
//! client's; and at the end the rows counted against those acknowledged. Waits and spins are the difference of the
//! server's own views over the window.
//!
//! Latency is that of the client's round trips, all of them timed. CPU time of the server is not known here.

mod connections;
mod statistics;
mod switches;

use crate::Progress;
use crate::checked::{OverTheWire, Referee, Verdict};
use crate::document::{Histogram, TargetDescription};
use crate::error::LabError;
use crate::load::executor_sink::Errors;
use crate::script::{self, Shape};
use crate::target::{Done, Figures, Load, Sample, Target, TargetKind};
use crate::workload::{Durability, Kind, Mode, READ_ROWS, Settings, Workload};
use client::{Address, Connection};
use connections::{Clients, Job};
use std::collections::BTreeMap;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};

/// `--target mssql://...`; the password of an address without one is asked of the function.
pub struct RemoteKind(pub fn() -> Option<tds::login7::Password>);

impl TargetKind for RemoteKind {
    fn help(&self) -> (&'static str, &'static str) {
        (
            "mssql://[USER[:PASSWORD]@]HOST[:PORT][?encrypt=no|yes|strict][&certificate=FILE][&trust=any]",
            "a Millrace in another process, or any SQL Server; a password not given is taken from \
             MILLRACE_SA_PASSWORD or MSSQL_SA_PASSWORD",
        )
    }

    fn parse(&self, text: &str) -> Option<Result<Box<dyn Target>, LabError>> {
        text.starts_with("mssql://").then(|| {
            let mut address = Address::parse(text)?;
            if address.password.is_none() {
                address.password = (self.0)();
            }
            Ok(Box::new(Remote::new(address)) as Box<dyn Target>)
        })
    }
}

/// A server over the wire.
pub struct Remote {
    address: Address,
    name: String,
    /// The switches that the server has, once it was asked.
    switches: OnceLock<Vec<String>>,
}

impl Remote {
    pub fn new(address: Address) -> Remote {
        Remote { address, name: "mssql".to_owned(), switches: OnceLock::new() }
    }
}

/// A connection of the lab's own, for everything but the load.
pub(crate) struct Desk {
    connection: Connection<TcpStream>,
}

impl Desk {
    fn open(address: &Address) -> Result<Desk, LabError> {
        Ok(Desk { connection: Connection::open(address, "millrace lab")? })
    }

    fn execute(&mut self, batch: &str) -> Result<Option<u64>, LabError> {
        let mut errors = Errors::default();
        self.connection.execute(batch, &mut errors)?;
        let number = errors.number;
        errors.into_result(Ok(()), batch)?;
        Ok(number)
    }
}

/// Databases of this process, so that each has a name of its own.
static DATABASES: AtomicU64 = AtomicU64::new(0);

impl Target for Remote {
    fn name(&self) -> &str {
        &self.name
    }

    /// Those of a Millrace; SQL Server has none, and neither has a server that cannot be reached, which is told when it is
    /// gone to.
    fn switches(&self) -> Vec<String> {
        let ask = || {
            let all = Desk::open(&self.address).and_then(|mut desk| switches::in_force(&mut desk));
            all.map_or(Vec::new(), |all| all.into_keys().collect())
        };
        self.switches.get_or_init(ask).clone()
    }

    fn describe(&mut self) -> TargetDescription {
        let told = Desk::open(&self.address).and_then(|mut desk| statistics::describe(&mut desk));
        let mut notes = vec![
            "delayed durability: ALTER DATABASE ... SET DELAYED_DURABILITY = FORCED; full: DISABLED".to_owned(),
            "latency is that of the client's round trips; the server's CPU time is not known".to_owned(),
        ];
        let (version, settings) = told.unwrap_or_else(|error| {
            notes.push(format!("version and settings could not be read: {error}"));
            Default::default()
        });
        TargetDescription { name: self.name.clone(), version, settings, notes }
    }

    fn prepare(
        &mut self,
        workload: &Workload,
        settings: &Settings,
        progress: &mut dyn Progress,
    ) -> Result<Box<dyn Load>, LabError> {
        if workload.mode == Mode::Procedure && workload.kind == Kind::PointRead {
            let why = "point-read has the mode roundtrip only";
            return Err(LabError::Options(why.to_owned()));
        }
        if matches!(workload.kind, Kind::Batch(_)) {
            let why = "this load runs in this process: --target embedded";
            return Err(LabError::Options(why.to_owned()));
        }
        if workload.rows.is_some() {
            let why = "a server is measured for a time: --seconds";
            return Err(LabError::Options(why.to_owned()));
        }
        progress.step("connecting");
        let mut desk =
            Desk::open(&self.address).map_err(|error| unreachable(&self.address, error))?;
        let before = switches::set(&mut desk, &workload.switches)?;
        let number = DATABASES.fetch_add(1, Relaxed);
        let database = format!("millrace_lab_{}_{number}", std::process::id());
        progress.step("creating the database");
        let made = desk.execute(&format!("CREATE DATABASE {database};"));
        let mut load = RemoteLoad {
            desk,
            database,
            keep: settings.keep || made.is_err(),
            switches: before,
            workload: workload.clone(),
            clients: None,
            before: Sample::default(),
            referee: None,
        };
        made?;
        match workload.kind {
            Kind::Checked(checked) => {
                let referee = Referee::new(checked);
                let database = &load.database;
                set_durability(workload, &mut load.desk, database)?;
                let batches = checked.options(database).into_iter().chain(referee.set_up());
                for batch in batches {
                    load.desk.execute(&batch)?;
                }
                load.referee = Some(referee);
            }
            _ => set_up(workload, &mut load.desk, &load.database, progress)?,
        }
        progress.step("connecting the sessions");
        let job = Job {
            address: Address { database: Some(load.database.clone()), ..self.address.clone() },
            work: workload.kind,
            mode: workload.mode,
            commit_every: workload.commit_every,
            referee: load.referee.clone(),
        };
        load.clients = Some(Clients::start(&job, workload.sessions)?);
        Ok(Box::new(load))
    }
}

/// What to do when the first connection fails.
fn unreachable(address: &Address, error: LabError) -> LabError {
    let LabError::Connection(what) = error else { return error };
    LabError::Connection(format!(
        "{what}; is a server listening at {address}? `millrace serve` starts one, and its password is taken from \
         MILLRACE_SA_PASSWORD or MSSQL_SA_PASSWORD"
    ))
}

fn set_durability(workload: &Workload, desk: &mut Desk, database: &str) -> Result<(), LabError> {
    let durability = match workload.durability {
        Durability::Delayed => "FORCED",
        Durability::Full => "DISABLED",
    };
    desk.execute(&format!("ALTER DATABASE {database} SET RECOVERY SIMPLE;"))?;
    desk.execute(&format!("ALTER DATABASE {database} SET DELAYED_DURABILITY = {durability};"))?;
    desk.execute(&format!("USE {database};"))?;
    Ok(())
}

fn set_up(
    workload: &Workload,
    desk: &mut Desk,
    database: &str,
    progress: &mut dyn Progress,
) -> Result<(), LabError> {
    set_durability(workload, desk, database)?;
    let shape = Shape::of(workload);
    for batch in script::prepare_database(database, shape.table) {
        desk.execute(&batch)?;
    }
    desk.execute(&script::create_table(shape.table, ""))?;
    for batch in script::procedures(shape) {
        desk.execute(&batch)?;
    }
    if workload.kind == Kind::PointRead {
        progress.step("filling the table");
        desk.execute(
            "CREATE PROCEDURE dbo.fill @rows bigint AS\n\
             SET NOCOUNT ON;\n\
             DECLARE @key bigint = 1;\n\
             BEGIN TRANSACTION;\n\
             WHILE @key <= @rows\n\
             BEGIN\n\
             \x20   INSERT INTO dbo.big_table (c1) VALUES (@key);\n\
             \x20   SET @key = @key + 1;\n\
             END;\n\
             COMMIT TRANSACTION;",
        )?;
        desk.execute(&format!("EXEC dbo.fill @rows = {READ_ROWS};"))?;
    }
    Ok(())
}

/// Connections at work in a database of their own.
struct RemoteLoad {
    desk: Desk,
    database: String,
    keep: bool,
    /// Switches as they were before, to be set again.
    switches: BTreeMap<String, String>,
    workload: Workload,
    /// `None` before they are connected, and after they were stopped.
    clients: Option<Clients>,
    before: Sample,
    /// Of a load that checks itself.
    referee: Option<Arc<Referee>>,
}

impl RemoteLoad {
    fn rows(&self) -> u64 {
        self.clients.as_ref().map_or(0, Clients::rows)
    }

    fn remove(&mut self) -> Result<(), LabError> {
        let before = std::mem::take(&mut self.switches);
        let restored = switches::set(&mut self.desk, &before).map(drop);
        if std::mem::replace(&mut self.keep, true) {
            return restored;
        }
        self.desk.execute("USE master;")?;
        self.desk.execute(&format!("DROP DATABASE {};", self.database))?;
        restored
    }
}

impl Drop for RemoteLoad {
    fn drop(&mut self) {
        // Whoever drops it unfinished has an error to tell already.
        if let Some(clients) = &mut self.clients {
            let _ = clients.stop();
        }
        let _ = self.remove();
    }
}

impl Load for RemoteLoad {
    fn start(&mut self) {
        if let Some(clients) = &self.clients {
            clients.start_all();
        }
    }

    fn done(&self) -> Done {
        let rows = self.rows();
        let commits = match self.workload.kind {
            Kind::Insert => self.workload.commits(rows),
            Kind::PointRead => 0,
            Kind::Checked(_) | Kind::Batch(_) => rows,
        };
        Done { rows, commits }
    }

    fn has_ended(&self) -> bool {
        self.clients.as_ref().is_none_or(Clients::have_failed)
    }

    fn open_window(&mut self) -> Result<(), LabError> {
        self.before = statistics::take(&mut self.desk)?;
        if let Some(clients) = &self.clients {
            clients.clear_latency();
        }
        Ok(())
    }

    /// Five queries every tick would be a load of their own.
    fn sample(&mut self) -> Option<Sample> {
        None
    }

    fn latency(&mut self) -> Option<Histogram> {
        let all = self.clients.as_ref()?.latency();
        Some(Histogram {
            buckets: all
                .iter_recorded()
                .map(|v| (v.value_iterated_to() as f64 / 1e3, v.count_since_last_iteration()))
                .collect(),
        })
    }

    fn close_window(&mut self) -> Result<Figures, LabError> {
        let latency = self.latency().unwrap_or_default();
        Ok(Figures {
            sample: statistics::take(&mut self.desk)?.since(&self.before),
            latency,
            schedulers: statistics::schedulers(&mut self.desk)?,
            switches: switches::in_force(&mut self.desk)?,
            ..Figures::default()
        })
    }

    fn verdict(&mut self, progress: &mut dyn Progress) -> Result<Option<Verdict>, LabError> {
        let Some(referee) = self.referee.clone() else { return Ok(None) };
        self.clients.as_mut().map_or(Ok(()), Clients::stop)?;
        progress.step("checking what is there");
        referee.judge(&mut OverTheWire::new(&mut self.desk.connection)).map(Some)
    }

    fn finish(mut self: Box<Self>, progress: &mut dyn Progress) -> Result<u64, LabError> {
        let stopped = self.clients.as_mut().map_or(Ok(()), Clients::stop);
        let acknowledged = self.rows();
        self.clients = None;
        let counted = stopped.and_then(|()| match self.workload.kind {
            Kind::PointRead | Kind::Checked(_) | Kind::Batch(_) => Ok(acknowledged),
            Kind::Insert => {
                progress.step("counting the rows");
                let found = self.desk.execute(script::COUNT)?.unwrap_or(0);
                match found == acknowledged {
                    true => Ok(found),
                    false => Err(LabError::Lost { acknowledged, found }),
                }
            }
        });
        let removed = self.remove();
        // What went wrong first is what is told.
        counted.and_then(|rows| removed.map(|()| rows))
    }
}
