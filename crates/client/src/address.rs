//! Where a server is, who signs in, and how the bytes are protected.
//!
//! ```text
//! mssql://[USER[:PASSWORD]@]HOST[:PORT][/DATABASE][?encrypt=no|yes|strict][&certificate=FILE][&trust=any]
//! ```
//!
//! Without `encrypt`, bytes go in the clear to a loopback address and through TLS to every other. A user name or
//! password may be percent-encoded (RFC 3986, section 2.1).

use crate::ClientError;
use std::fmt;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use tds::login7::Password;

const DEFAULT_PORT: u16 = 1433;

/// How bytes are protected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encrypt {
    /// Not at all; for loopback.
    No,
    /// TLS 1.2 inside TDS 7.4, all of it.
    Yes,
    /// TDS 8.0: TLS before anything else.
    Strict,
}

/// A server, and how to sign in there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub host: String,
    pub port: u16,
    pub user: String,
    /// Never printed.
    pub password: Option<Password>,
    /// `None`: the login's default.
    pub database: Option<String>,
    pub encrypt: Encrypt,
    /// PEM: the server's own certificate, or those that may have signed it.
    pub certificate: Option<PathBuf>,
    /// Any certificate will do. Protects against listeners only.
    pub trust_any: bool,
}

impl Address {
    /// Reads an address; the scheme may be left out.
    pub fn parse(text: &str) -> Result<Address, ClientError> {
        let refuse =
            |what: &str| Err(ClientError::Address(format!("the address of the server: {what}")));
        let rest = text.strip_prefix("mssql://").unwrap_or(text);
        if rest.contains("://") {
            return refuse("it begins with mssql://, or with the host");
        }
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        // The last @: a password may have one.
        let (who, rest) = rest.rsplit_once('@').unwrap_or(("", rest));
        let (place, database) = rest.split_once('/').unwrap_or((rest, ""));
        let (user, password) = match who.split_once(':') {
            Some((user, password)) => (user, Some(Password::new(&decoded(password)?))),
            None => (who, None),
        };
        let (host, port) = match place.strip_prefix('[') {
            Some(six) => match six.split_once(']') {
                Some((host, rest)) => (host, rest.strip_prefix([':', ',']).unwrap_or("")),
                None => return refuse("a [ without its ]"),
            },
            None => place.rsplit_once([':', ',']).unwrap_or((place, "")),
        };
        if host.is_empty() {
            return refuse("the host is missing");
        }
        let port = match port {
            "" => DEFAULT_PORT,
            port => match port.parse() {
                Ok(port) => port,
                Err(_) => return refuse("the port is a number from 1 to 65535"),
            },
        };
        let user = if user.is_empty() { "sa".to_owned() } else { decoded(user)? };
        let mut address = Address {
            host: host.to_owned(),
            port,
            user,
            password,
            database: (!database.is_empty()).then(|| decoded(database)).transpose()?,
            encrypt: if is_loopback(host) { Encrypt::No } else { Encrypt::Yes },
            certificate: None,
            trust_any: false,
        };
        for option in query.split('&').filter(|o| !o.is_empty()) {
            match option.split_once('=').unwrap_or((option, "")) {
                ("encrypt", "no" | "false") => address.encrypt = Encrypt::No,
                ("encrypt", "yes" | "true") => address.encrypt = Encrypt::Yes,
                ("encrypt", "strict") => address.encrypt = Encrypt::Strict,
                ("encrypt", _) => return refuse("encrypt is no, yes or strict"),
                ("certificate", file) => address.certificate = Some(decoded(file)?.into()),
                ("trust", "any") => address.trust_any = true,
                ("trust", _) => return refuse("trust is any, or not said"),
                (other, _) => {
                    return refuse(&format!(
                        "there is no option {other}; there are encrypt, certificate and trust"
                    ));
                }
            }
        }
        Ok(address)
    }

    /// The addresses of the host, in the resolver's order.
    pub fn resolve(&self) -> Result<Vec<SocketAddr>, ClientError> {
        let found: Vec<SocketAddr> = (self.host.as_str(), self.port)
            .to_socket_addrs()
            .map_err(|error| ClientError::Address(format!("{} is not found: {error}", self.host)))?
            .collect();
        Ok(found)
    }
}

impl fmt::Display for Address {
    /// Without the password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "mssql://{}@{}:{}", self.user, self.host, self.port)
    }
}

fn is_loopback(host: &str) -> bool {
    host.eq_ignore_ascii_case("localhost")
        || host.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn decoded(text: &str) -> Result<String, ClientError> {
    let bad = || {
        ClientError::Address(
            "the address of the server: a % is followed by two hexadecimal digits".to_owned(),
        )
    };
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || {
            let digit = rest.next().and_then(|b| char::from(b).to_digit(16));
            digit.map(|d| d as u8).ok_or_else(bad)
        };
        bytes.push(digit()? << 4 | digit()?);
    }
    String::from_utf8(bytes).map_err(|_| bad())
}
