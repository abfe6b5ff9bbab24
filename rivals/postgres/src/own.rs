//! A PostgreSQL of the run's own: found, initialised in a folder of its own, started, stopped.

use postgres::Config;
use rival_harness::{
    Account, Folder, Launch, Options, RivalError, ServerProcess, Start, find_program, free_port,
    program_version, random_password,
};
use std::ffi::OsString;
use std::path::PathBuf;

/// The version that the figures in the design were measured with; others run, and the document says so.
pub const EXPECTED_MAJOR: u32 = 15;
/// The oldest that can COMMIT in a procedure.
const OLDEST_MAJOR: u32 = 11;
const HOW_TO_INSTALL: &str = "apt-get install postgresql (no running service is needed), or name the folder of its \
                              programs, as in `postgres?bin=/usr/lib/postgresql/15/bin`";
/// Whom root lets the server run as.
const ACCOUNTS: &[&str] = &["postgres", "nobody"];
const USER: &str = "lab";
/// Log files (of 16 MiB) made in advance: 2 GiB, as the embedded engine makes for itself.
pub(crate) const LOG_FILES: u64 = 128;

/// The server and its folder. The fields are dropped in this order: first it stops, then the folder goes.
pub(crate) struct Own {
    process: ServerProcess,
    _folder: Folder,
    pub notes: Vec<String>,
}

impl Own {
    pub fn start(options: &Options, start: &Start) -> Result<(Own, Config), RivalError> {
        let (bin, version, major) = programs(options)?;
        let mut notes = vec![format!("{version}, started by the lab from {}", bin.display())];
        if major != EXPECTED_MAJOR {
            notes.push(format!(
                "The design's figures are of PostgreSQL {EXPECTED_MAJOR}; this is {major}."
            ));
        }
        let port = free_port(options.port()?)?;
        let account = Account::for_server(options.get("user"), ACCOUNTS)?;
        let folder = Folder::new(&start.data, "postgres", account.as_ref(), start.keep)?;
        let password = random_password()?;
        let password_file = folder.write("password", &password, account.as_ref())?;
        let launch = Launch {
            account: account.clone(),
            folder: folder.path().to_owned(),
            cpus: start.cpus.clone(),
            interrupt: true,
        };
        let cluster = folder.join("cluster");
        let words = |words: &[&str]| words.iter().map(OsString::from).collect::<Vec<_>>();
        let mut arguments = words(&["-U", USER, "-A", "scram-sha-256", "-E", "UTF8", "--locale=C"]);
        arguments.extend(["-D".into(), cluster.clone().into()]);
        arguments.extend(["--pwfile".into(), password_file.into()]);
        launch
            .run(&bin.join("initdb"), &arguments, None)
            .map_err(|error| error.during("making PostgreSQL's folder"))?;
        let conf =
            folder.write("lab.conf", &configuration(start, &folder, port), account.as_ref())?;
        let mut arguments = words(&["-D"]);
        arguments.push(cluster.into());
        // The file has the last word over the one that initdb wrote.
        for line in std::fs::read_to_string(&conf).unwrap_or_default().lines() {
            arguments.extend(["-c".into(), line.replace(" = ", "=").replace('\'', "").into()]);
        }
        let log = folder.join("server.log");
        let mut process = ServerProcess::start(&launch, &bin.join("postgres"), &arguments, &log)?;
        let mut config = Config::new();
        config.host("127.0.0.1").port(port).user(USER).password(password).dbname("postgres");
        config.application_name("millrace lab");
        process.wait_until_up(|| {
            config.connect(postgres::NoTls).map(drop).map_err(crate::server::failed)
        })?;
        Ok((Own { process, _folder: folder, notes }, config))
    }

    pub fn process(&self) -> &ServerProcess {
        &self.process
    }

    pub fn stop(self) -> Result<(), RivalError> {
        self.process.stop()
    }
}

/// The options that a PostgreSQL of the lab's own takes.
pub(crate) fn options(text: &str) -> Result<Options, RivalError> {
    Options::parse(text, &["port", "bin", "user"])
}

/// Whether it is here, and could listen.
pub(crate) fn check(text: &str) -> Result<(), RivalError> {
    let options = options(text)?;
    programs(&options)?;
    free_port(options.port()?)?;
    Account::for_server(options.get("user"), ACCOUNTS).map(drop)
}

/// The folder of the programs, what they call themselves, and the major version.
fn programs(options: &Options) -> Result<(PathBuf, String, u32), RivalError> {
    let directories = match options.get("bin") {
        Some(bin) => vec![PathBuf::from(bin)],
        None => installed(),
    };
    let missing = |what: String| RivalError::new(what, HOW_TO_INSTALL);
    let found = match options.get("bin") {
        Some(bin) => Some(PathBuf::from(bin).join("postgres"))
            .filter(|path| path.is_file())
            .ok_or_else(|| missing(format!("there is no PostgreSQL server in {bin}")))?,
        None => find_program(&["postgres"], &directories)
            .ok_or_else(|| missing("PostgreSQL's server is not installed here".to_owned()))?,
    };
    // A link in PATH leads to where its companions are.
    let program = found.canonicalize().unwrap_or(found);
    let bin = program.parent().map(PathBuf::from).unwrap_or_default();
    if !bin.join("initdb").is_file() {
        return Err(missing(format!("there is no initdb beside {}", program.display())));
    }
    let version = program_version(&program)?;
    let major = major_of(&version).ok_or_else(|| {
        missing(format!("{} does not tell its version: `{version}`", program.display()))
    })?;
    if major < OLDEST_MAJOR {
        return Err(RivalError::new(
            format!("{version} is too old: its procedures cannot commit"),
            format!("PostgreSQL {OLDEST_MAJOR} or later is needed, {EXPECTED_MAJOR} is expected"),
        ));
    }
    Ok((bin, version, major))
}

/// Debian's folders, the expected version first, then the newest.
fn installed() -> Vec<PathBuf> {
    let mut majors: Vec<u32> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    majors.sort_by_key(|&major| (major != EXPECTED_MAJOR, std::cmp::Reverse(major)));
    let mut all: Vec<PathBuf> = majors
        .iter()
        .map(|major| PathBuf::from(format!("/usr/lib/postgresql/{major}/bin")))
        .collect();
    all.push(PathBuf::from("/usr/local/pgsql/bin"));
    all
}

/// Of `postgres (PostgreSQL) 15.18 (Debian ...)`.
fn major_of(version: &str) -> Option<u32> {
    let number = version.split(' ').find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
    let digits: String = number.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

/// Tuned for this workload on this machine, and safe: nothing that a crash would not survive is switched off.
fn configuration(start: &Start, folder: &Folder, port: u16) -> String {
    let mib = |bytes: u64| format!("{}MB", bytes >> 20);
    // Checkpoints come by size, and rarely; the log has at most a quarter of the free space.
    let log_bytes = (folder.free_bytes() / 4).clamp(1 << 30, 24 << 30);
    let kept_bytes = log_bytes.min(LOG_FILES * (16 << 20));
    [
        ("listen_addresses", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        ("unix_socket_directories", String::new()),
        ("max_connections", (start.sessions_max + 20).max(100).to_string()),
        ("shared_buffers", mib(start.buffer_pool_bytes)),
        ("huge_pages", "try".to_owned()),
        ("work_mem", "64MB".to_owned()),
        ("maintenance_work_mem", "256MB".to_owned()),
        ("wal_level", "minimal".to_owned()),
        ("max_wal_senders", "0".to_owned()),
        ("wal_buffers", "64MB".to_owned()),
        ("wal_sync_method", "fdatasync".to_owned()),
        ("fsync", "on".to_owned()),
        ("full_page_writes", "on".to_owned()),
        ("wal_compression", "off".to_owned()),
        ("wal_recycle", "on".to_owned()),
        ("min_wal_size", mib(kept_bytes)),
        ("max_wal_size", mib(log_bytes)),
        ("checkpoint_timeout", "1h".to_owned()),
        ("checkpoint_completion_target", "0.9".to_owned()),
        ("wal_writer_delay", "200ms".to_owned()),
        ("commit_delay", "0".to_owned()),
        ("bgwriter_delay", "200ms".to_owned()),
        ("random_page_cost", "1.1".to_owned()),
        ("max_parallel_workers_per_gather", "0".to_owned()),
        ("autovacuum", "on".to_owned()),
        ("jit", "on".to_owned()),
        ("ssl", "off".to_owned()),
    ]
    .map(|(name, value)| format!("{name} = {value}"))
    .join("\n")
}

#[cfg(test)]
mod tests {
    use super::major_of;

    #[test]
    fn a_version_is_read() {
        assert_eq!(major_of("postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)"), Some(15));
        assert_eq!(major_of("postgres (PostgreSQL) 17beta1"), Some(17));
        assert_eq!(major_of("not a version"), None);
    }
}
