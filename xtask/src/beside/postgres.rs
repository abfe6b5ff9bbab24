//! A PostgreSQL in a folder of its own: made, started, stopped. Listens on 127.0.0.1 alone, and trusts who comes there.
//!
//! Root may not run it: then the account `postgres` does, and the folder must be one that it can reach.

use crate::run::Failure;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// One that runs.
pub struct Server {
    bin: PathBuf,
    /// Its data.
    cluster: PathBuf,
}

impl Server {
    /// Makes `postgres/` in the folder and starts it with these settings (`-c name=value ...`) besides its defaults.
    pub fn start(folder: &Path, port: u16, settings: &str) -> Result<Server, Failure> {
        let bin = programs()?;
        let folder = folder.join("postgres");
        std::fs::create_dir_all(&folder).map_err(|e| wrong(e.to_string()))?;
        let server = Server { bin, cluster: folder.join("cluster") };
        let opened = Command::new("chmod").arg("777").arg(&folder).status();
        opened.map_err(|e| wrong(e.to_string()))?;
        let mut init = server.command("initdb");
        init.args(["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-D"])
            .arg(&server.cluster);
        run(init)?;
        let settings = format!(
            "-p {port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= {settings}"
        );
        let mut start = server.command("pg_ctl");
        start.arg("-D").arg(&server.cluster).args(["-w", "-l"]).arg(folder.join("log"));
        start.args(["-o", &settings, "start"]);
        run(start)?;
        Ok(server)
    }

    /// A command as the account that PostgreSQL may run as.
    fn command(&self, program: &str) -> Command {
        let program = self.bin.join(program);
        let root = Command::new("id").arg("-u").output();
        if root.is_ok_and(|output| output.stdout.starts_with(b"0")) {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]).arg(program);
            return command;
        }
        Command::new(program)
    }

    /// What it calls itself: `postgres (PostgreSQL) 15.10`.
    pub fn version(&self) -> String {
        let output = Command::new(self.bin.join("postgres")).arg("--version").output();
        output.map_or_else(
            |e| e.to_string(),
            |o| String::from_utf8_lossy(&o.stdout).trim().to_owned(),
        )
    }

    /// Of the process whose children are all others.
    pub fn pid(&self) -> Result<u32, Failure> {
        let path = self.cluster.join("postmaster.pid");
        let text = std::fs::read_to_string(&path)
            .map_err(|e| Failure(format!("{}: {e}", path.display())))?;
        let first = text.lines().next().and_then(|line| line.parse().ok());
        first.ok_or_else(|| Failure(format!("{}: no number", path.display())))
    }

    /// At once: its data are not kept.
    pub fn stop(self) {
        let mut stop = self.command("pg_ctl");
        stop.arg("-D").arg(&self.cluster).args(["-w", "-m", "immediate", "stop"]);
        let _ = stop.current_dir("/").stdout(Stdio::null()).status();
    }
}

/// The folder of the programs that are installed.
pub fn programs() -> Result<PathBuf, Failure> {
    if let Ok(output) = Command::new("pg_config").arg("--bindir").output()
        && output.status.success()
    {
        let bin = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
        // The client's packages bring pg_config without a server.
        if bin.join("initdb").is_file() {
            return Ok(bin);
        }
    }
    let text = std::fs::read_dir("/usr/lib/postgresql");
    let newest = text.ok().and_then(|all| all.flatten().map(|d| d.path()).max());
    newest.map(|folder| folder.join("bin")).ok_or_else(|| {
        wrong("is not installed here: `apt-get install postgresql` brings it".into())
    })
}

fn run(mut command: Command) -> Result<(), Failure> {
    command.current_dir("/").stdout(Stdio::null()).stderr(Stdio::null());
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        other => Err(wrong(format!("{command:?}: {other:?}"))),
    }
}

fn wrong(what: String) -> Failure {
    Failure(format!("postgres: {what}"))
}
