//! Where a rival's server lives: its programs, its folder, its port, and the account that it runs as.

use crate::error::RivalError;
use std::ffi::OsStr;
use std::io::Read;
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{fs, io};

/// What may follow a rival's name: `postgres?port=55432&user=nobody`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    values: Vec<(String, String)>,
}

impl Options {
    /// `text` is what stands behind the question mark; every name must be one of `known`.
    pub fn parse(text: &str, known: &[&str]) -> Result<Options, RivalError> {
        let mut values: Vec<(String, String)> = Vec::new();
        for word in text.split('&').filter(|word| !word.is_empty()) {
            let (name, value) = word.split_once('=').ok_or_else(|| {
                RivalError::new(format!("`{word}` is not NAME=VALUE"), known_options(known))
            })?;
            if !known.contains(&name) {
                let what = format!("there is no option `{name}`");
                return Err(RivalError::new(what, known_options(known)));
            }
            if values.iter().any(|(n, _)| n == name) {
                return Err(RivalError::plain(format!("`{name}` is given twice")));
            }
            values.push((name.to_owned(), value.to_owned()));
        }
        Ok(Options { values })
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.values.iter().find(|(n, _)| n == name).map(|(_, value)| &**value)
    }

    /// A TCP port, from 1.
    pub fn port(&self) -> Result<Option<u16>, RivalError> {
        let Some(text) = self.get("port") else { return Ok(None) };
        match text.parse::<u16>() {
            Ok(port) if port > 0 => Ok(Some(port)),
            _ => Err(RivalError::new(
                format!("`{text}` is not a port"),
                "give a number from 1 to 65535, or leave it out: a free one is taken",
            )),
        }
    }
}

fn known_options(known: &[&str]) -> String {
    format!("the options are: {}", known.join(", "))
}

/// The first of `names` found in `directories`, then in PATH.
pub fn find_program(names: &[&str], directories: &[PathBuf]) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all: Vec<PathBuf> =
        directories.iter().cloned().chain(std::env::split_paths(&path)).collect();
    let candidates = names.iter().flat_map(|name| all.iter().map(move |dir| dir.join(name)));
    candidates.into_iter().find(|path| {
        fs::metadata(path).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0)
    })
}

/// What the program says to `--version`.
pub fn program_version(program: &Path) -> Result<String, RivalError> {
    let output = Command::new(program)
        .arg("--version")
        .output()
        .map_err(|error| RivalError::plain(format!("{}: {error}", program.display())))?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A port of the loopback address that nobody listens on: `wanted`, or any.
pub fn free_port(wanted: Option<u16>) -> Result<u16, RivalError> {
    let bound = TcpListener::bind((Ipv4Addr::LOCALHOST, wanted.unwrap_or(0)));
    bound.and_then(|listener| listener.local_addr()).map(|address| address.port()).map_err(
        |error| match (error.kind(), wanted) {
            (io::ErrorKind::AddrInUse, Some(port)) => RivalError::new(
                format!("port {port} of 127.0.0.1 is taken"),
                "give another one, or leave `port` out: a free one is taken",
            ),
            (io::ErrorKind::PermissionDenied, Some(port)) => RivalError::new(
                format!("port {port} may not be listened on: {error}"),
                "give one above 1023, or leave `port` out: a free one is taken",
            ),
            _ => RivalError::plain(format!("no port of 127.0.0.1 can be listened on: {error}")),
        },
    )
}

/// Bytes of memory of this machine; `None` when it does not say.
pub fn memory_bytes() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok().map(|kb| kb << 10)
}

/// Sixteen random bytes in hexadecimal: for a server that nobody else is to use.
pub fn random_password() -> Result<String, RivalError> {
    let mut bytes = [0; 16];
    let read = fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.map_err(|error| RivalError::plain(format!("/dev/urandom: {error}")))?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// An account of this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub name: String,
    pub uid: u32,
    pub gid: u32,
}

impl Account {
    /// The account that a server runs as: none but one's own, unless that is root. Then the one `asked` for, or the
    /// first of `usual` that exists.
    pub fn for_server(asked: Option<&str>, usual: &[&str]) -> Result<Option<Account>, RivalError> {
        if !rustix::process::geteuid().is_root() {
            return match asked {
                None => Ok(None),
                Some(name) => Err(RivalError::new(
                    format!("only root can run a server as `{name}`"),
                    "leave `user` out",
                )),
            };
        }
        let passwd = fs::read_to_string("/etc/passwd").unwrap_or_default();
        Account::choose(&passwd, asked, usual).map(Some)
    }

    fn choose(passwd: &str, asked: Option<&str>, usual: &[&str]) -> Result<Account, RivalError> {
        let names = asked.map_or_else(|| usual.to_vec(), |name| vec![name]);
        let found = names.iter().find_map(|name| Account::find(passwd, name));
        let account = found.ok_or_else(|| {
            RivalError::new(
                format!("this machine has no account {}", names.join(" or ")),
                "a database server is not run as root: name an account, as in `?user=nobody`",
            )
        })?;
        if account.uid == 0 {
            return Err(RivalError::new(
                "a database server is not run as root",
                "name another account, as in `?user=nobody`, or leave `user` out",
            ));
        }
        Ok(account)
    }

    fn find(passwd: &str, name: &str) -> Option<Account> {
        passwd.lines().find_map(|line| {
            let mut fields = line.split(':');
            if fields.next()? != name {
                return None;
            }
            let uid = fields.nth(1)?.parse().ok()?;
            let gid = fields.next()?.parse().ok()?;
            Some(Account { name: name.to_owned(), uid, gid })
        })
    }
}

/// A fresh folder that belongs to the server's account, readable by nobody else; removed with its contents when
/// dropped, its parent too if that is empty then.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
    keep: bool,
}

impl Folder {
    /// `data/NAME-PID-N`.
    pub fn new(
        data: &Path,
        name: &str,
        account: Option<&Account>,
        keep: bool,
    ) -> Result<Folder, RivalError> {
        let refused = |what: String, error: io::Error| {
            let hint =
                "give a folder that may be written, on the device to be measured: --data DIR";
            RivalError::new(format!("{what}: {error}"), hint)
        };
        fs::create_dir_all(data)
            .map_err(|e| refused(format!("the folder {} cannot be made", data.display()), e))?;
        let data = data
            .canonicalize()
            .map_err(|e| refused(format!("the folder {} cannot be found", data.display()), e))?;
        let pid = std::process::id();
        let mut number = 0;
        let path = loop {
            let path = data.join(format!("{name}-{pid}-{number}"));
            match fs::create_dir(&path) {
                Ok(()) => break path,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => {
                    return Err(refused(format!("{} cannot be written", data.display()), error));
                }
            }
        };
        let folder = Folder { path, keep };
        folder
            .own(&folder.path, account)
            .map_err(|e| refused(format!("{} cannot be given away", folder.path.display()), e))?;
        if let Some(account) = account {
            folder.check_reach(account)?;
        }
        Ok(folder)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path in the folder as text, for settings files.
    pub fn join(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    /// Writes a file that the server's account, and nobody else, may read.
    pub fn write(
        &self,
        name: &str,
        text: &str,
        account: Option<&Account>,
    ) -> Result<PathBuf, RivalError> {
        let path = self.path.join(name);
        let written = fs::write(&path, text).and_then(|()| self.own(&path, account));
        written.map_err(|e| RivalError::plain(format!("{}: {e}", path.display())))?;
        Ok(path)
    }

    /// Bytes that are free on its device.
    pub fn free_bytes(&self) -> u64 {
        rustix::fs::statvfs(&self.path).map_or(0, |stat| stat.f_bavail * stat.f_frsize)
    }

    fn own(&self, path: &Path, account: Option<&Account>) -> io::Result<()> {
        let mode = if path == self.path { 0o700 } else { 0o600 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
        match account {
            Some(a) => std::os::unix::fs::chown(path, Some(a.uid), Some(a.gid)),
            None => Ok(()),
        }
    }

    /// A folder above may be closed to the account, as root's home is.
    fn check_reach(&self, account: &Account) -> Result<(), RivalError> {
        let tested = Command::new("test")
            .args([OsStr::new("-w"), self.path.as_os_str()])
            .current_dir("/")
            .uid(account.uid)
            .gid(account.gid)
            .status();
        if tested.as_ref().is_ok_and(|status| !status.success()) {
            return Err(RivalError::new(
                format!("the account `{}` cannot reach {}", account.name, self.path.display()),
                "a folder above it is closed to that account: give another one, --data DIR, or \
                 another account, as in `?user=nobody`",
            ));
        }
        Ok(())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if !self.keep {
            // A folder left behind costs space, not figures.
            let _ = fs::remove_dir_all(&self.path);
            if let Some(data) = self.path.parent() {
                let _ = fs::remove_dir(data);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/bash\n\
                          toor:x:0:0::/root:/bin/sh\n\
                          nobody:x:65534:65533:nobody:/nonexistent:/usr/sbin/nologin\n";

    #[test]
    fn the_first_account_that_exists_is_taken_and_never_root() {
        let account = Account::choose(PASSWD, None, &["postgres", "nobody"]).expect("nobody");
        assert_eq!((account.uid, account.gid), (65534, 65533));
        let none = Account::choose(PASSWD, Some("postgres"), &["nobody"]).expect_err("absent");
        assert!(none.to_string().contains("no account postgres"), "{none}");
        for root in ["root", "toor"] {
            let root = Account::choose(PASSWD, Some(root), &[]).expect_err("refused");
            assert!(root.what.contains("not run as root"), "{root}");
        }
    }

    #[test]
    fn options_are_told_apart_and_checked() {
        let options = Options::parse("port=5433&user=nobody", &["port", "user"]).expect("two");
        assert_eq!(
            (options.port().expect("a port"), options.get("user")),
            (Some(5433), Some("nobody"))
        );
        assert_eq!(Options::default().port().expect("none"), None);
        for (text, what) in [
            ("port", "not NAME=VALUE"),
            ("prot=1", "no option `prot`"),
            ("port=1&port=2", "given twice"),
        ] {
            let error = Options::parse(text, &["port"]).expect_err(text);
            assert!(error.to_string().contains(what), "{error}");
        }
        let zero = Options::parse("port=0", &["port"]).expect("well formed").port();
        assert!(zero.expect_err("no port").what.contains("not a port"));
    }

    #[test]
    fn a_taken_port_is_told() {
        let held = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a listener");
        let port = held.local_addr().expect("bound").port();
        let error = free_port(Some(port)).expect_err("taken");
        assert!(error.what.contains(&format!("port {port} of 127.0.0.1 is taken")), "{error}");
        assert!(error.hint.contains("leave `port` out"));
        assert!(free_port(None).expect("a free one") > 0);
    }

    #[test]
    fn a_folder_comes_and_goes_and_one_that_cannot_be_made_is_told() {
        let data = std::env::temp_dir().join(format!("rival-folder-{}", std::process::id()));
        let first = Folder::new(&data, "x", None, false).expect("made");
        let second = Folder::new(&data, "x", None, false).expect("another one");
        assert_ne!(first.path(), second.path());
        let file = first.write("a.conf", "x", None).expect("written");
        let error = Folder::new(&file, "x", None, false).expect_err("a file is no folder");
        assert!(error.to_string().contains("--data DIR"), "{error}");
        drop((first, second));
        assert!(!data.exists());
    }
}
