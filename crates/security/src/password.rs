//! A password in memory, and what makes one good enough.
//!
//! Invariants: its bytes are wiped when it is dropped; nothing prints it.

use std::fmt;
use zeroize::Zeroizing;

/// Fewest characters of a password that the policy accepts.
pub(crate) const LENGTH_MIN: usize = 8;
/// Most characters of a password, as in SQL Server.
pub(crate) const LENGTH_MAX: usize = 128;

/// A password in clear. Wiped when dropped; Debug shows that it is there and no more.
#[derive(Clone)]
pub struct Password(Zeroizing<String>);

impl Password {
    /// Takes the text over; it is wiped with this value.
    pub fn new(text: String) -> Password {
        Password(Zeroizing::new(text))
    }

    /// The text itself, for the one place that must show it (a generated password, once).
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// Checks CHECK_POLICY's rules: 8 to 128 characters, of three of the four kinds (capital letters, small letters,
    /// digits, others), without the login's name in it. As SQL Server on Linux has them.
    pub fn check_policy(&self, login: &str) -> Result<(), PolicyError> {
        let text = self.reveal();
        let length = text.chars().count();
        if length < LENGTH_MIN {
            return Err(PolicyError::TooShort);
        }
        if length > LENGTH_MAX {
            return Err(PolicyError::TooLong);
        }
        let kinds = [
            text.chars().any(|c| c.is_uppercase()),
            text.chars().any(|c| c.is_lowercase()),
            text.chars().any(|c| c.is_numeric()),
            text.chars().any(|c| !c.is_alphanumeric()),
        ];
        let named = login.chars().count() >= 3
            && Zeroizing::new(text.to_lowercase()).contains(&login.to_lowercase());
        if kinds.iter().filter(|kind| **kind).count() < 3 || named {
            return Err(PolicyError::NotComplex);
        }
        Ok(())
    }

    /// 24 random characters (142 bits) that the policy accepts.
    pub(crate) fn generate() -> Password {
        // No letters that look alike, nothing a shell or a connection string would mangle.
        const ALPHABET: &[u8; 60] = b"ABCDEFGHJKLMNPQRSTUVWXYZabcdefghjkmnpqrstuvwxyz23456789-_.+~";
        loop {
            let mut text = String::with_capacity(24);
            while text.len() < 24 {
                let mut byte = [0];
                runtime::random::fill(&mut byte);
                // 240 is four times 60: no character is likelier than another.
                if byte[0] < 240 {
                    text.push(char::from(ALPHABET[usize::from(byte[0] % 60)]));
                }
            }
            let password = Password::new(text);
            if password.check_policy("sa").is_ok() {
                return password;
            }
        }
    }
}

impl fmt::Debug for Password {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Password(redacted)")
    }
}

/// Why the policy refuses a password: Msg 15116 to 15118.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PolicyError {
    TooShort,
    TooLong,
    NotComplex,
}

impl PolicyError {
    /// SQL Server's message number.
    pub fn number(self) -> i32 {
        match self {
            PolicyError::TooShort => 15116,
            PolicyError::TooLong => 15117,
            PolicyError::NotComplex => 15118,
        }
    }
}

impl fmt::Display for PolicyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let why = match self {
            PolicyError::TooShort => "too short",
            PolicyError::TooLong => "too long",
            PolicyError::NotComplex => "not complex enough",
        };
        write!(
            f,
            "Password validation failed. The password does not meet the operating system policy requirements because \
             it is {why}."
        )
    }
}

impl std::error::Error for PolicyError {}
