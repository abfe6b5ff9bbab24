//! Password hashes, and the comparison that takes the same time whatever differs.
//!
//! New hashes are Argon2id (RFC 9106) in the PHC string form, which carries its parameters:
//!
//! ```text
//! $argon2id$v=19$m=12288,t=3,p=1$<salt, 16 bytes, base64>$<hash, 32 bytes, base64>
//! ```
//!
//! 12 MiB, 3 passes, 1 lane: one of the settings that OWASP's password storage cheat sheet names as equal in strength.
//! The small one, so that two at a time leave an idle server below 50 MB.
//!
//! Hashes of SQL Server 2012 to 2022 (`0x0200`, 4 bytes of salt, SHA-512 of the password in UTF-16LE and the salt) are
//! verified too, so that logins can be moved with CREATE LOGIN ... WITH PASSWORD = 0x0200... HASHED.

use crate::Password;
use argon2::{Algorithm, Argon2, Params, Version};
use base64::Engine;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest, Sha512};
use std::fmt;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

const SALT_BYTES: usize = 16;
const HASH_BYTES: usize = 32;
/// The most that a hash given by HASHED may cost: more would be a way to starve the server.
const MEMORY_KIB_MAX: u32 = 64 << 10;
const PASSES_MAX: u32 = 16;

/// What an Argon2id hash costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashCost {
    pub memory_kib: u32,
    pub passes: u32,
}

impl Default for HashCost {
    fn default() -> HashCost {
        HashCost { memory_kib: 12 << 10, passes: 3 }
    }
}

/// A hash with all that is needed to verify a password against it. Debug does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordHash {
    stored: Arc<[u8]>,
    form: Form,
}

#[derive(Clone, PartialEq, Eq)]
enum Form {
    Argon2id {
        cost: HashCost,
        salt: [u8; SALT_BYTES],
        hash: [u8; HASH_BYTES],
    },
    /// SQL Server 2012 to 2022.
    Sha512 {
        salt: [u8; 4],
        hash: [u8; 64],
    },
}

/// What is given as a hash is none (15021 where it came with HASHED).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HashError;

impl fmt::Display for HashError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("The value is not a password hash of a known form.")
    }
}

impl std::error::Error for HashError {}

impl PasswordHash {
    /// Hashes with a fresh salt. Takes tens of milliseconds: not on a scheduler (see [`crate::Authenticator::hash`]).
    pub(crate) fn make(password: &Password, cost: HashCost) -> PasswordHash {
        let mut salt = [0; SALT_BYTES];
        runtime::random::fill(&mut salt);
        let hash = argon2id(password, cost, &salt);
        let text = format!(
            "$argon2id$v=19$m={},t={},p=1${}${}",
            cost.memory_kib,
            cost.passes,
            STANDARD_NO_PAD.encode(salt),
            STANDARD_NO_PAD.encode(hash.as_slice())
        );
        let form = Form::Argon2id { cost, salt, hash: *hash };
        PasswordHash { stored: text.into_bytes().into(), form }
    }

    /// Reads a stored hash, or one given with HASHED.
    pub fn parse(stored: &[u8]) -> Result<PasswordHash, HashError> {
        let form = match stored {
            [2, 0, rest @ ..] if rest.len() == 68 => {
                let (salt, hash) = rest.split_at(4);
                Form::Sha512 {
                    salt: salt.try_into().map_err(|_| HashError)?,
                    hash: hash.try_into().map_err(|_| HashError)?,
                }
            }
            _ => phc(stored).ok_or(HashError)?,
        };
        Ok(PasswordHash { stored: stored.into(), form })
    }

    /// The form to store, and what sys.sql_logins.password_hash shows to those who may see it. At most 256 bytes.
    pub fn stored(&self) -> &[u8] {
        &self.stored
    }

    /// Compares in constant time. Takes as long as hashing.
    pub(crate) fn matches(&self, password: &Password) -> bool {
        match &self.form {
            Form::Argon2id { cost, salt, hash } => {
                argon2id(password, *cost, salt).ct_eq(hash).into()
            }
            Form::Sha512 { salt, hash } => {
                let mut sha = Sha512::new();
                for unit in password.reveal().encode_utf16() {
                    sha.update(unit.to_le_bytes());
                }
                sha.update(salt);
                let mut made: [u8; 64] = sha.finalize().into();
                let equal = made.ct_eq(hash).into();
                made.zeroize();
                equal
            }
        }
    }
}

impl fmt::Debug for PasswordHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PasswordHash(redacted)")
    }
}

fn argon2id(password: &Password, cost: HashCost, salt: &[u8]) -> Zeroizing<[u8; HASH_BYTES]> {
    let mut out = Zeroizing::new([0; HASH_BYTES]);
    let params = Params::new(cost.memory_kib, cost.passes, 1, Some(HASH_BYTES));
    let made = params.and_then(|params| {
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params).hash_password_into(
            password.reveal().as_bytes(),
            salt,
            &mut *out,
        )
    });
    // The parameters are ours or were checked by `phc`; no password is longer than Argon2 takes (4 GiB).
    if let Err(error) = made {
        stdx::fatal!("Argon2id refused parameters that were checked: {error}");
    }
    out
}

/// Takes a PHC string apart; `None` for whatever we would not have written.
fn phc(stored: &[u8]) -> Option<Form> {
    let text = std::str::from_utf8(stored).ok().filter(|text| text.len() <= 256)?;
    let mut parts = text.strip_prefix("$argon2id$v=19$")?.split('$');
    let (costs, salt, hash) = (parts.next()?, parts.next()?, parts.next()?);
    if parts.next().is_some() {
        return None;
    }
    let mut costs = costs.split(',');
    let memory_kib = costs.next()?.strip_prefix("m=")?.parse().ok()?;
    let passes = costs.next()?.strip_prefix("t=")?.parse().ok()?;
    if costs.next()? != "p=1" || costs.next().is_some() {
        return None;
    }
    if !(8..=MEMORY_KIB_MAX).contains(&memory_kib) || !(1..=PASSES_MAX).contains(&passes) {
        return None;
    }
    let salt = STANDARD_NO_PAD.decode(salt).ok()?.try_into().ok()?;
    let hash = STANDARD_NO_PAD.decode(hash).ok()?.try_into().ok()?;
    Some(Form::Argon2id { cost: HashCost { memory_kib, passes }, salt, hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHEAP: HashCost = HashCost { memory_kib: 8, passes: 1 };

    fn password(text: &str) -> Password {
        Password::new(text.to_owned())
    }

    #[test]
    fn a_hash_knows_its_password_and_no_other() {
        let hash = PasswordHash::make(&password("Grüße, 世界 1"), CHEAP);
        assert!(hash.matches(&password("Grüße, 世界 1")));
        for other in ["", "Grüße, 世界", "grüße, 世界 1", "Grüße, 世界 1 "] {
            assert!(!hash.matches(&password(other)), "{other:?}");
        }
        assert_ne!(
            hash.stored(),
            PasswordHash::make(&password("Grüße, 世界 1"), CHEAP).stored(),
            "salted"
        );
    }

    #[test]
    fn a_stored_hash_is_read_back() {
        let hash = PasswordHash::make(&password("x"), CHEAP);
        let again = PasswordHash::parse(hash.stored()).unwrap();
        assert!(again == hash && again.matches(&password("x")));
        assert!(hash.stored().starts_with(b"$argon2id$v=19$m=8,t=1,p=1$"));
        assert!(
            PasswordHash::make(&password("x"), HashCost::default()).stored().len() <= 256,
            "fits password_hash"
        );
    }

    #[test]
    fn argon2id_answers_as_the_reference_does() {
        // The reference implementation: echo -n password | argon2 somesaltsomesalt -id -t 2 -m 16 -p 1 -l 32.
        let made = argon2id(
            &password("password"),
            HashCost { memory_kib: 64 << 10, passes: 2 },
            b"somesalt",
        );
        let hex = stdx::hex(&*made);
        assert_eq!(hex, "09316115d5cf24ed5a15a31a3ba326e5cf32edc24702987c02b6566f61913cf7");
    }

    #[test]
    fn hashes_of_sql_server_are_verified() {
        // 0x0200, salt, SHA-512 of the UTF-16LE password and the salt: made here from the description.
        let mut stored = vec![2, 0, 0x11, 0x22, 0x33, 0x44];
        let mut input: Vec<u8> = "Pa$$w0rd".encode_utf16().flat_map(u16::to_le_bytes).collect();
        input.extend_from_slice(&[0x11, 0x22, 0x33, 0x44]);
        stored.extend_from_slice(&Sha512::digest(&input));
        let hash = PasswordHash::parse(&stored).unwrap();
        assert!(hash.matches(&password("Pa$$w0rd")));
        assert!(!hash.matches(&password("pa$$w0rd")));
    }

    #[test]
    fn what_is_no_hash_is_refused() {
        let good =
            String::from_utf8(PasswordHash::make(&password("x"), CHEAP).stored().to_vec()).unwrap();
        let bad = [
            String::new(),
            "secret".into(),
            good.replace("m=8", "m=4000000"),
            good.replace("t=1", "t=400"),
            good.replace("p=1", "p=2"),
            good.replace("v=19", "v=16"),
            format!("{good}$"),
            good[..good.len() - 1].to_owned(),
            good.replace("argon2id", "argon2d"),
        ];
        for text in bad {
            assert_eq!(PasswordHash::parse(text.as_bytes()).err(), Some(HashError), "{text}");
        }
        assert_eq!(PasswordHash::parse(&[2, 0, 1]).err(), Some(HashError));
    }
}
