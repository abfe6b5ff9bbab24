//! Signing in with a name and a password.
//!
//! ```text
//! line full? --yes--> TooManyAttempts
//!    | no
//! the same password verified before? --yes--> in
//!    | no
//! wait (see `delays.rs`) --> hash on a thread of its own --> compare --> in, or count the failure
//! ```
//!
//! Promises:
//! 1. The caller's scheduler never hashes; the calling task parks.
//! 2. An unknown login costs the same hash as a known one, against a hash nobody has a password for.
//! 3. A disabled login, one without a password and a wrong password all take that time too.
//! 4. `verified` holds no password and no hash that could be attacked apart from this process's memory: an HMAC under a
//!    key that never leaves it. A changed password or a dropped login does not match any more, because the stored hash
//!    is part of what is keyed. It spares a pool of connections one Argon2 each.
//!
//! Fields: each mutex guards what it names, held for look-ups only, never while suspended.

use crate::delays::Delays;
use crate::rules::BadPasswords;
use crate::{HashCost, LoginFailure, Password, PasswordHash, PasswordRules};
use hmac::{Hmac, KeyInit, Mac};
use parking_lot::Mutex;
use runtime::workers::Workers;
use runtime::{clock, task};
use sha2::Sha512;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use subtle::ConstantTimeEq;
use telemetry::WaitType;
use zeroize::Zeroizing;

/// Logins whose last verified password is remembered (as an HMAC).
const VERIFIED_MAX: usize = 1024;
/// Bytes of a login's name or password beyond which nothing is looked at: LOGIN7 carries 128 characters each.
const INPUT_BYTES_MAX: usize = 1024;

/// Who signed in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginPrincipal {
    /// In sys.server_principals; `sa` is 1.
    pub principal_id: i32,
    /// As created.
    pub name: Box<str>,
    /// 1 byte for `sa`, else 16.
    pub sid: Box<[u8]>,
    pub default_database: Box<str>,
}

/// A login as it is stored.
#[derive(Clone, Debug)]
pub struct StoredLogin {
    pub principal: LoginPrincipal,
    /// `None`: nobody can sign in with it.
    pub password: Option<PasswordHash>,
    /// The password was made up by [`Authenticator::first_start`] and not set by anybody since.
    pub generated: bool,
    pub disabled: bool,
    /// CONNECT SQL is granted and not denied.
    pub may_connect: bool,
    /// Wrong passwords lock it.
    pub may_be_locked: bool,
    pub locked: bool,
    pub must_change: bool,
    pub expired: bool,
}

/// Where logins are. Its calls may suspend.
pub trait LoginStore: Send + Sync + 'static {
    /// By name, any case.
    fn login(&self, name: &str) -> Option<StoredLogin>;
    /// Too many wrong passwords: the login is locked from now on.
    fn lock(&self, principal_id: i32);
    /// The login with id 1, under whatever name.
    fn sa(&self) -> StoredLogin;
    /// Stores the first password of `sa`, durable when it returns. `Err` says why it could not.
    fn set_sa_password(&self, hash: &PasswordHash, generated: bool) -> Result<(), String>;
}

/// Settings of an [`Authenticator`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Of new hashes.
    pub cost: HashCost,
    /// Hashes made at the same time.
    pub threads: usize,
    pub rules: PasswordRules,
}

impl Default for Config {
    fn default() -> Config {
        Config { cost: HashCost::default(), threads: 2, rules: PasswordRules::default() }
    }
}

/// Verifies passwords. One for each instance.
pub struct Authenticator {
    pub(crate) store: Arc<dyn LoginStore>,
    config: Config,
    workers: Workers,
    delays: Mutex<Delays>,
    bad: Mutex<BadPasswords>,
    verified: Mutex<Verified>,
    /// What an unknown login's password is compared with; made at the first need.
    dummy: Mutex<Option<PasswordHash>>,
}

struct Verified {
    key: Zeroizing<[u8; 64]>,
    macs: HashMap<i32, [u8; 64]>,
}

impl Authenticator {
    pub fn new(store: Arc<dyn LoginStore>, config: Config) -> Authenticator {
        let mut key = Zeroizing::new([0; 64]);
        runtime::random::fill(&mut *key);
        Authenticator {
            store,
            config,
            workers: Workers::new("password-hash", config.threads, WaitType::PreemptiveOsCryptOps),
            delays: Mutex::default(),
            bad: Mutex::default(),
            verified: Mutex::new(Verified { key, macs: HashMap::new() }),
            dummy: Mutex::new(None),
        }
    }

    /// Verifies a login's password. `peer` is the address it comes from, without the port. Suspends: for the hash, and
    /// up to 40 seconds in line after failures (four at most for who asks one at a time).
    pub fn verify(
        &self,
        name: &str,
        password: &Password,
        peer: &str,
    ) -> Result<LoginPrincipal, LoginFailure> {
        if name.len() > INPUT_BYTES_MAX || password.reveal().len() > INPUT_BYTES_MAX {
            return Err(LoginFailure::UnknownLogin);
        }
        let key = name.to_lowercase();
        let begun = self.delays.lock().begin(clock::now_ns(), &key, peer);
        let turn = begun.ok_or(LoginFailure::TooManyAttempts)?;
        let known = self.store.login(name);
        let remembered = known.as_ref().is_some_and(|login| self.is_verified(login, password));
        if !remembered {
            while clock::now_ns() < turn.until_ns {
                task::park(WaitType::SleepTask, Some(turn.until_ns));
            }
        }
        let outcome = self.evaluate(known.as_ref(), password, remembered);
        if let Some(login) = &known {
            self.count(login, &outcome);
        }
        // A full queue says nothing about the password.
        let succeeded = !matches!(
            outcome,
            Err(LoginFailure::UnknownLogin
                | LoginFailure::WrongPassword
                | LoginFailure::DisabledWrongPassword
                | LoginFailure::Locked)
        );
        self.delays.lock().end(clock::now_ns(), &key, peer, turn, succeeded);
        outcome
    }

    fn evaluate(
        &self,
        known: Option<&StoredLogin>,
        password: &Password,
        remembered: bool,
    ) -> Result<LoginPrincipal, LoginFailure> {
        let hash = known.and_then(|login| login.password.clone());
        let has_password = hash.is_some();
        let right = remembered || {
            let hash = match hash {
                Some(hash) => hash,
                None => self.dummy()?,
            };
            let password = password.clone();
            let matches = self.workers.run(move || hash.matches(&password));
            matches.ok_or(LoginFailure::Busy)? && has_password
        };
        let Some(login) = known else { return Err(LoginFailure::UnknownLogin) };
        match (right, login.disabled) {
            _ if login.locked => Err(LoginFailure::Locked),
            (false, true) => Err(LoginFailure::DisabledWrongPassword),
            (false, false) => Err(LoginFailure::WrongPassword),
            (true, true) => Err(LoginFailure::Disabled),
            (true, false) if !login.may_connect => Err(LoginFailure::NoServerAccess),
            (true, false) if login.must_change => Err(LoginFailure::MustChange),
            (true, false) if login.expired => Err(LoginFailure::Expired),
            (true, false) => {
                if !remembered {
                    self.remember(login, password);
                }
                Ok(login.principal.clone())
            }
        }
    }

    /// Wrong passwords one after the other lock a login where the rules say so; a right one ends the row.
    fn count(&self, login: &StoredLogin, outcome: &Result<LoginPrincipal, LoginFailure>) {
        let id = login.principal.principal_id;
        match outcome {
            Err(LoginFailure::WrongPassword | LoginFailure::DisabledWrongPassword) => {
                let bad = self.bad.lock().add(id, clock::unix_ns());
                let most = self.config.rules.lockout_after;
                if login.may_be_locked && most != 0 && bad >= most {
                    self.store.lock(id);
                }
            }
            // Says nothing of the password.
            Err(LoginFailure::Locked | LoginFailure::Busy) => {}
            _ => self.bad.lock().forget(id),
        }
    }

    /// Wrong passwords of a login since the last right one, and when the last of them came (UTC, ns since 1970).
    pub fn bad_passwords(&self, principal_id: i32) -> Option<(u32, u64)> {
        self.bad.lock().of(principal_id)
    }

    /// They are forgotten: the login was unlocked.
    pub fn forget_bad_passwords(&self, principal_id: i32) {
        self.bad.lock().forget(principal_id);
    }

    pub fn rules(&self) -> PasswordRules {
        self.config.rules
    }

    /// Hashes a password for storing (CREATE LOGIN), on a thread of its own. `None` when too many wait. Suspends.
    pub fn hash(&self, password: &Password) -> Option<PasswordHash> {
        let (password, cost) = (password.clone(), self.config.cost);
        self.workers.run(move || PasswordHash::make(&password, cost))
    }

    /// Whether a password matches a stored hash (ALTER LOGIN ... OLD_PASSWORD). `None` when too many wait. Suspends.
    pub fn matches(&self, hash: &PasswordHash, password: &Password) -> Option<bool> {
        let (password, hash) = (password.clone(), hash.clone());
        self.workers.run(move || hash.matches(&password))
    }

    /// Whether `sa` has a password that somebody set, and not one made up at the first start: listening off loopback
    /// needs that.
    pub fn sa_password_was_set(&self) -> bool {
        let sa = self.store.sa();
        sa.password.is_some() && !sa.generated
    }

    fn dummy(&self) -> Result<PasswordHash, LoginFailure> {
        if let Some(hash) = self.dummy.lock().clone() {
            return Ok(hash);
        }
        let made = self.hash(&Password::generate()).ok_or(LoginFailure::Busy)?;
        Ok(self.dummy.lock().get_or_insert(made).clone())
    }

    fn is_verified(&self, login: &StoredLogin, password: &Password) -> bool {
        let verified = self.verified.lock();
        let Some(mac) = verified.macs.get(&login.principal.principal_id) else { return false };
        verified.mac(login, password).is_some_and(|made| made.ct_eq(mac).into())
    }

    fn remember(&self, login: &StoredLogin, password: &Password) {
        let mut verified = self.verified.lock();
        let Some(mac) = verified.mac(login, password) else { return };
        if verified.macs.len() >= VERIFIED_MAX {
            verified.macs.clear();
        }
        verified.macs.insert(login.principal.principal_id, mac);
    }
}

impl Verified {
    /// Of the login's id, its stored hash and the password; `None` without a hash.
    fn mac(&self, login: &StoredLogin, password: &Password) -> Option<[u8; 64]> {
        let hash = login.password.as_ref()?.stored();
        let mut mac = Hmac::<Sha512>::new_from_slice(&*self.key).ok()?;
        mac.update(&login.principal.principal_id.to_le_bytes());
        mac.update(&(hash.len() as u64).to_le_bytes());
        mac.update(hash);
        mac.update(password.reveal().as_bytes());
        Some(mac.finalize().into_bytes().into())
    }
}

impl fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authenticator").field("config", &self.config).finish_non_exhaustive()
    }
}
