//! Who may come in: a name and a password.

use ring::digest::{SHA256, digest};
use std::net::IpAddr;

/// Why somebody may not; for the log only.
pub(crate) struct Refusal {
    /// SQL Server's state of 18456.
    pub state: u8,
    pub text: &'static str,
}

/// Knows the password of `sa`, as a digest.
pub(crate) struct Door {
    sa: Vec<u8>,
}

impl Door {
    pub fn new(sa_password: &str) -> Door {
        Door { sa: digest(&SHA256, sa_password.as_bytes()).as_ref().to_vec() }
    }

    /// Suspends.
    pub fn check(&self, user: &str, password: &str, _peer: IpAddr) -> Result<(), Refusal> {
        let given = digest(&SHA256, password.as_bytes());
        let differing = given.as_ref().iter().zip(&self.sa).fold(0, |all, (a, b)| all | (a ^ b));
        match (user.eq_ignore_ascii_case("sa"), differing) {
            (true, 0) => Ok(()),
            (true, _) => Err(Refusal { state: 8, text: "wrong password" }),
            (false, _) => Err(Refusal { state: 5, text: "no such login" }),
        }
    }
}
