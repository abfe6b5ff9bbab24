//! A MariaDB of the run's own: found, initialised in a folder of its own, started, stopped.
//!
//! The folder is made by the server itself (`--bootstrap`) from the scripts that come with it: Debian's package of the
//! server alone is enough, and no service runs.

use mysql::{Conn, Opts, OptsBuilder};
use rival_harness::{
    Account, Folder, Launch, Options, RivalError, ServerProcess, Start, find_program, free_port,
    program_version, random_password,
};
use std::ffi::OsString;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The version that the figures in the design were measured with; others run, and the document says so.
const EXPECTED: (u32, u32) = (10, 11);
const HOW_TO_INSTALL: &str = "apt-get install mariadb-server (or mariadb-server-core, which has no service), or name \
                              the program, as in `mariadb?bin=/usr/sbin/mariadbd`";
/// Whom root lets the server run as.
const ACCOUNTS: &[&str] = &["mysql", "nobody"];
const USER: &str = "lab";

/// The server and its folder. The fields are dropped in this order: first it stops, then the folder goes.
pub(crate) struct Own {
    process: ServerProcess,
    _folder: Folder,
    pub notes: Vec<String>,
}

impl Own {
    pub fn start(options: &Options, start: &Start) -> Result<(Own, Opts), RivalError> {
        let (program, version) = program(options)?;
        let mut notes = vec![format!("{version}, started by the lab")];
        let expected = format!("{}.{}.", EXPECTED.0, EXPECTED.1);
        if !version.contains(&expected) {
            notes.push(format!(
                "The design's figures are of MariaDB {}.{}; this is another version.",
                EXPECTED.0, EXPECTED.1
            ));
        }
        let scripts = scripts(&program)?;
        let port = free_port(options.port()?)?;
        let account = Account::for_server(options.get("user"), ACCOUNTS)?;
        let folder = Folder::new(&start.data, "mariadb", account.as_ref(), start.keep)?;
        let launch = Launch {
            account: account.clone(),
            folder: folder.path().to_owned(),
            cpus: start.cpus.clone(),
            interrupt: false,
        };
        let bootstrap = folder.write("bootstrap.sql", &scripts, account.as_ref())?;
        let cluster = folder.join("cluster");
        let mut make = vec![OsString::from("--no-defaults"), "--bootstrap".into()];
        make.push(named("--datadir=", &cluster));
        // Its temporary files go there too: not everywhere may each account write in /tmp.
        let temporary = folder.join("temporary");
        for path in [&cluster, &temporary] {
            make_folder(path, account.as_ref())
                .map_err(|error| RivalError::plain(format!("{}: {error}", path.display())))?;
        }
        make.push(named("--tmpdir=", &temporary));
        launch
            .run(&program, &make, Some(&bootstrap))
            .map_err(|error| error.during("making MariaDB's folder"))?;

        let password = random_password()?;
        // Accounts without a password came with the scripts; the lab's is the only one that stays.
        let accounts = format!(
            "DELETE FROM mysql.global_priv;\nFLUSH PRIVILEGES;\n\
             CREATE USER {USER}@'127.0.0.1' IDENTIFIED BY '{password}';\n\
             GRANT ALL ON *.* TO {USER}@'127.0.0.1' WITH GRANT OPTION;\n"
        );
        let init = folder.write("accounts.sql", &accounts, account.as_ref())?;
        let mut serve: Vec<OsString> = vec![
            "--no-defaults".into(),
            named("--datadir=", &cluster),
            named("--tmpdir=", &temporary),
            named("--init-file=", &init),
        ];
        serve.extend(
            configuration(start, &folder, port, options.get("waits").is_some())
                .into_iter()
                .map(OsString::from),
        );
        let log = folder.join("server.log");
        let mut process = ServerProcess::start(&launch, &program, &serve, &log)?;
        let opts: Opts = OptsBuilder::new()
            .ip_or_hostname(Some("127.0.0.1"))
            .tcp_port(port)
            .prefer_socket(false)
            .user(Some(USER))
            .pass(Some(password))
            .into();
        process
            .wait_until_up(|| Conn::new(opts.clone()).map(drop).map_err(crate::server::failed))?;
        Ok((Own { process, _folder: folder, notes }, opts))
    }

    pub fn process(&self) -> &ServerProcess {
        &self.process
    }

    pub fn stop(self) -> Result<(), RivalError> {
        self.process.stop()
    }
}

/// An option with a path, which need not be UTF-8.
fn named(option: &str, path: &Path) -> OsString {
    let mut word = OsString::from(option);
    word.push(path);
    word
}

fn make_folder(path: &Path, owner: Option<&Account>) -> std::io::Result<()> {
    std::fs::create_dir(path)?;
    match owner {
        Some(a) => std::os::unix::fs::chown(path, Some(a.uid), Some(a.gid)),
        None => Ok(()),
    }
}

/// The options that a MariaDB of the lab's own takes.
pub(crate) fn options(text: &str) -> Result<Options, RivalError> {
    let options = Options::parse(text, &["port", "bin", "user", "waits"])?;
    match options.get("waits") {
        None | Some("performance_schema") => Ok(options),
        Some(other) => Err(RivalError::new(
            format!("there is no source of waits `{other}`"),
            "waits=performance_schema, or leave it out",
        )),
    }
}

/// Whether it is here, and could listen.
pub(crate) fn check(text: &str) -> Result<(), RivalError> {
    let options = options(text)?;
    scripts(&program(&options)?.0)?;
    free_port(options.port()?)?;
    Account::for_server(options.get("user"), ACCOUNTS).map(drop)
}

/// The server's program, and what it calls itself.
fn program(options: &Options) -> Result<(PathBuf, String), RivalError> {
    let missing = |what: String| RivalError::new(what, HOW_TO_INSTALL);
    let found = match options.get("bin") {
        Some(bin) => Some(PathBuf::from(bin))
            .filter(|path| path.is_file())
            .ok_or_else(|| missing(format!("there is no program {bin}")))?,
        None => {
            let usual = [PathBuf::from("/usr/sbin"), PathBuf::from("/usr/local/mysql/bin")];
            find_program(&["mariadbd", "mysqld"], &usual)
                .ok_or_else(|| missing("MariaDB's server is not installed here".to_owned()))?
        }
    };
    let version = program_version(&found)?;
    if !version.contains("MariaDB") {
        return Err(RivalError::new(
            format!("{} is not MariaDB: `{version}`", found.display()),
            "a MySQL that runs already can be measured by its address: mysql://USER:PASSWORD@HOST",
        ));
    }
    Ok((found, version))
}

/// What `--bootstrap` reads: the system tables, as the installation has them. One statement must end each line that
/// ends with a semicolon, as theirs do.
fn scripts(program: &Path) -> Result<String, RivalError> {
    let beside = program.parent().and_then(Path::parent).unwrap_or(Path::new("/usr"));
    let folders = [beside.join("share/mysql"), beside.join("share/mariadb"), beside.join("share")];
    let names = ["mysql_system_tables.sql", "mysql_system_tables_data.sql"];
    let folder = folders.iter().find(|folder| names.iter().all(|name| folder.join(name).is_file()));
    let folder = folder.ok_or_else(|| {
        RivalError::new(
            format!("there is no {} in share/mysql beside {}", names[0], program.display()),
            HOW_TO_INSTALL,
        )
    })?;
    let mut all = "CREATE DATABASE IF NOT EXISTS mysql;\nUSE mysql;\n".to_owned();
    for name in names {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path)
            .map_err(|error| RivalError::plain(format!("{}: {error}", path.display())))?;
        let _ = writeln!(all, "{text}");
    }
    Ok(all)
}

/// Tuned for this workload on this machine, and safe: pages are written twice, the log is flushed as the durability
/// asks.
fn configuration(
    start: &Start,
    folder: &Folder,
    port: u16,
    performance_schema: bool,
) -> Vec<String> {
    let mib = |bytes: u64| format!("{}M", bytes >> 20);
    // One log file, made in full at the start; at most a quarter of the free space.
    let log_bytes = (folder.free_bytes() / 4).clamp(256 << 20, 8 << 30);
    let mut all: Vec<String> = [
        ("bind-address", "127.0.0.1".to_owned()),
        ("port", port.to_string()),
        // In the data folder; nobody uses it.
        ("socket", "server.sock".to_owned()),
        ("skip-name-resolve", "1".to_owned()),
        ("skip-log-bin", "1".to_owned()),
        ("max-connections", (start.sessions_max + 20).max(151).to_string()),
        ("table-open-cache", "2000".to_owned()),
        ("thread-cache-size", (start.sessions_max + 20).to_string()),
        ("query-cache-type", "0".to_owned()),
        ("innodb-buffer-pool-size", mib(start.buffer_pool_bytes)),
        ("innodb-log-file-size", mib(log_bytes)),
        ("innodb-log-buffer-size", "64M".to_owned()),
        // Each cell sets its own.
        ("innodb-flush-log-at-trx-commit", "1".to_owned()),
        ("innodb-flush-method", "O_DIRECT".to_owned()),
        ("innodb-doublewrite", "1".to_owned()),
        ("innodb-flush-neighbors", "0".to_owned()),
        ("innodb-io-capacity", "2000".to_owned()),
        ("innodb-io-capacity-max", "20000".to_owned()),
        ("innodb-use-native-aio", "1".to_owned()),
        ("performance-schema", if performance_schema { "ON" } else { "OFF" }.to_owned()),
    ]
    .map(|(name, value)| format!("--{name}={value}"))
    .into();
    if performance_schema {
        all.extend([
            "--performance-schema-consumer-events-waits-current=ON".to_owned(),
            "--performance-schema-instrument=wait/%=ON".to_owned(),
        ]);
    }
    all
}
