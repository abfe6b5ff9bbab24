//! What becomes of a password in time: it must be changed, it grows old, and who guesses at it locks its login.
//!
//! SQL Server leaves that to the policy of the system that it runs on; here it is [`PasswordRules`], by default what a
//! system says that was not told otherwise: nobody is locked out ([`crate::Authenticator`] makes guessing slow), and a
//! password whose login has CHECK_EXPIRATION is good for 42 days.

use crate::directory::Principal;
use std::collections::HashMap;

const DAY_NS: u64 = 24 * 60 * 60 * 1_000_000_000;
const MINUTE_NS: u64 = 60 * 1_000_000_000;
/// Logins whose failures are counted; a crowd of them begins anew.
const COUNTED_MAX: usize = 8_192;

/// The rules of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PasswordRules {
    /// Wrong passwords one after the other that lock a login with CHECK_POLICY; 0: none do.
    pub lockout_after: u32,
    /// So long it is locked; 0: until somebody unlocks it.
    pub lockout_minutes: u64,
    /// So long a password is good, of a login with CHECK_EXPIRATION; 0: for ever.
    pub age_days: u64,
}

impl Default for PasswordRules {
    fn default() -> PasswordRules {
        PasswordRules { lockout_after: 0, lockout_minutes: 30, age_days: 42 }
    }
}

impl PasswordRules {
    /// Whether a login is locked at a moment.
    pub fn is_locked(&self, login: &Principal, unix_ns: u64) -> bool {
        let Some(facts) = &login.login else { return false };
        let locked = facts.locked_unix_ns;
        let ends = locked.saturating_add(self.lockout_minutes.saturating_mul(MINUTE_NS));
        locked != 0 && (self.lockout_minutes == 0 || unix_ns < ends)
    }

    /// Whole days until a login's password is too old, 0 on its last day and afterwards; `None`: nobody asks its age.
    pub fn days_left(&self, login: &Principal, unix_ns: u64) -> Option<u64> {
        let facts = login.login.as_ref()?;
        if !facts.check_policy || !facts.check_expiration || self.age_days == 0 {
            return None;
        }
        let age = unix_ns.saturating_sub(login.password_set_unix_ns());
        Some(self.age_days.saturating_mul(DAY_NS).saturating_sub(age) / DAY_NS)
    }

    /// Whether it is too old.
    pub fn is_expired(&self, login: &Principal, unix_ns: u64) -> bool {
        let Some(facts) = &login.login else { return false };
        let age = unix_ns.saturating_sub(login.password_set_unix_ns());
        facts.check_policy
            && facts.check_expiration
            && self.age_days != 0
            && age >= self.age_days.saturating_mul(DAY_NS)
    }
}

/// Wrong passwords by login, one after the other. Kept as long as the process runs.
#[derive(Debug, Default)]
pub(crate) struct BadPasswords(HashMap<i32, (u32, u64)>);

impl BadPasswords {
    /// One more; how many there are now.
    pub fn add(&mut self, login: i32, unix_ns: u64) -> u32 {
        if self.0.len() >= COUNTED_MAX && !self.0.contains_key(&login) {
            self.0.clear();
        }
        let entry = self.0.entry(login).or_default();
        *entry = (entry.0.saturating_add(1), unix_ns);
        entry.0
    }

    pub fn forget(&mut self, login: i32) {
        self.0.remove(&login);
    }

    /// How many, and when the last one was.
    pub fn of(&self, login: i32) -> Option<(u32, u64)> {
        self.0.get(&login).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::{LoginFacts, PrincipalKind};

    fn login(facts: LoginFacts) -> Principal {
        let mut login = Principal::new(300, "l", PrincipalKind::User, 300);
        login.created_unix_ns = DAY_NS;
        login.login = Some(facts);
        login
    }

    #[test]
    fn a_password_grows_old_where_somebody_asks() {
        let rules = PasswordRules::default();
        let asked = LoginFacts { check_policy: true, check_expiration: true, ..Default::default() };
        let old = login(asked.clone());
        assert_eq!(rules.days_left(&old, DAY_NS), Some(42));
        assert_eq!(rules.days_left(&old, 43 * DAY_NS - 1), Some(0));
        assert!(!rules.is_expired(&old, 43 * DAY_NS - 1));
        assert!(rules.is_expired(&old, 43 * DAY_NS));
        let changed = login(LoginFacts { password_set_unix_ns: 40 * DAY_NS, ..asked });
        assert!(!rules.is_expired(&changed, 43 * DAY_NS));
        let unasked = login(LoginFacts { check_policy: true, ..Default::default() });
        assert!(!rules.is_expired(&unasked, 1_000 * DAY_NS));
        assert_eq!(rules.days_left(&unasked, DAY_NS), None);
    }

    #[test]
    fn a_lock_ends_by_itself_where_the_rules_say_so() {
        let locked = login(LoginFacts { locked_unix_ns: DAY_NS, ..Default::default() });
        let rules = PasswordRules { lockout_minutes: 30, ..Default::default() };
        assert!(rules.is_locked(&locked, DAY_NS + 29 * MINUTE_NS));
        assert!(!rules.is_locked(&locked, DAY_NS + 30 * MINUTE_NS));
        let rules = PasswordRules { lockout_minutes: 0, ..Default::default() };
        assert!(rules.is_locked(&locked, 1_000 * DAY_NS));
        assert!(!rules.is_locked(&login(LoginFacts::default()), DAY_NS));
    }
}
