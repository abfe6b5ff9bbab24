//! The server under test: started on an empty folder, waited for, stopped, and its end looked at.

use std::fs::File;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::build::Build;
use crate::run::Failure;

/// Where the suites connect, and what they trust.
pub struct Target {
    pub host: String,
    pub port: u16,
    pub password: String,
    /// PEM, as the server made it.
    pub certificate: PathBuf,
}

impl Target {
    /// A server that somebody else started; its password is in MILLRACE_SA_PASSWORD.
    pub fn running(address: &str, certificate: Option<PathBuf>) -> Result<Target, Failure> {
        let parts = address
            .rsplit_once(':')
            .and_then(|(host, port)| port.parse::<u16>().ok().map(|port| (host.to_owned(), port)));
        let Some((host, port)) = parts else {
            return Err(Failure(format!("--server wants host:port, not {address:?}")));
        };
        let Ok(password) = std::env::var("MILLRACE_SA_PASSWORD") else {
            return Err(Failure("--server needs sa's password in MILLRACE_SA_PASSWORD".into()));
        };
        let Some(certificate) = certificate else {
            return Err(Failure("--server needs the server's --certificate, to trust it".into()));
        };
        let certificate = std::fs::canonicalize(&certificate)
            .map_err(|error| Failure(format!("{}: {error}", certificate.display())))?;
        Ok(Target { host, port, password, certificate })
    }
}

/// A server of our own.
pub struct Server {
    child: Child,
    data: PathBuf,
    log: PathBuf,
}

impl Server {
    pub fn start(folder: &Path, build: Build) -> Result<(Target, Server), Failure> {
        Server::start_binary(folder, &build.millrace()?)
    }

    /// One that is built already. Its data and its log are in the folder.
    pub fn start_binary(folder: &Path, binary: &Path) -> Result<(Target, Server), Failure> {
        let data = folder.join(format!("data-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&data);
        let log = folder.join("server.log");
        let io = |error: std::io::Error| Failure(format!("drivers: {error}"));
        let errors = File::create(&log).map_err(io)?;
        let port = free_port().map_err(io)?;
        // Not a secret: the server lives for this run, on loopback, on an empty folder.
        let password = format!("Driver-tests-{}!", std::process::id());
        let child = Command::new(binary)
            .arg("serve")
            .arg("--data")
            .arg(&data)
            .arg("--listen")
            .arg(format!("127.0.0.1:{port}"))
            .env("MILLRACE_SA_PASSWORD", &password)
            .stdin(Stdio::null())
            .stdout(errors.try_clone().map_err(io)?)
            .stderr(errors)
            .spawn()
            .map_err(|error| Failure(format!("{}: {error}", binary.display())))?;
        let mut server = Server { child, data, log };
        server.wait_until_ready(port)?;
        let certificate = server.certificate()?;
        let host = "localhost".to_owned();
        Ok((Target { host, port, password, certificate }, server))
    }

    fn wait_until_ready(&mut self, port: u16) -> Result<(), Failure> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if let Ok(Some(status)) = self.child.try_wait() {
                let log = self.log.display();
                return Err(Failure(format!(
                    "millrace serve ended at start ({status}); see {log}"
                )));
            }
            if TcpStream::connect_timeout(&address, Duration::from_millis(200)).is_ok() {
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        let _ = self.child.kill();
        Err(Failure(format!("millrace serve does not listen; see {}", self.log.display())))
    }

    /// The certificate that the server made for itself in its data folder.
    fn certificate(&self) -> Result<PathBuf, Failure> {
        let path = self.data.join("server-certificate.pem");
        if path.is_file() {
            return Ok(path);
        }
        Err(Failure(format!("the server made no {}", path.display())))
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// SIGTERM, and a clean end.
    pub fn stop(mut self) -> Result<(), Failure> {
        if let Ok(Some(status)) = self.child.try_wait() {
            let log = self.log.display();
            return Err(Failure(format!("the server died under the tests ({status}); see {log}")));
        }
        let asked = Command::new("kill").arg("-TERM").arg(self.child.id().to_string()).status();
        if !asked.is_ok_and(|status| status.success()) {
            return Err(Failure("the server could not be sent SIGTERM".into()));
        }
        let start = Instant::now();
        while start.elapsed() < Duration::from_secs(20) {
            if let Ok(Some(status)) = self.child.try_wait() {
                if !status.success() {
                    let log = self.log.display();
                    return Err(Failure(format!("after SIGTERM: {status}; see {log}")));
                }
                let _ = std::fs::remove_dir_all(&self.data);
                return Ok(());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let log = self.log.display();
        Err(Failure(format!("the server did not stop within 20 s of SIGTERM; see {log}")))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port of loopback that nobody listens on now.
pub fn free_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
