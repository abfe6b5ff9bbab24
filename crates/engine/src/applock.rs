//! Application locks of a session: names that mean nothing to the engine, locked as keys are.
//!
//! Being a deadlock's victim here does not doom the transaction: the caller is told, and nothing was half done.

use crate::{EngineError, Txn};
use lock_manager::KeyMode;
use transaction::key_hash;

fn hash_of(principal: &str, resource: &str) -> u64 {
    let mut name = principal.to_lowercase();
    name.push('\0');
    name.push_str(resource);
    key_hash(u64::MAX, name.as_bytes())
}

impl Txn {
    /// sp_getapplock. True when it was free at once. A lock that is not the session's needs an active transaction, and
    /// goes with it; the session's goes with this object. Suspends.
    pub fn app_lock(
        &mut self,
        principal: &str,
        resource: &str,
        mode: KeyMode,
        session: bool,
        timeout_ms: Option<u64>,
    ) -> Result<bool, EngineError> {
        if !session {
            self.check()?;
        }
        let timeout = timeout_ms.map(|ms| ms.saturating_mul(1_000_000));
        self.held.cost = self.context.log_bytes();
        let hash = hash_of(principal, resource);
        Ok(self.shared.locks.lock_app(&mut self.held, hash, mode, session, timeout)?)
    }

    /// sp_releaseapplock. False when it was not held.
    pub fn app_unlock(&mut self, principal: &str, resource: &str, session: bool) -> bool {
        self.shared.locks.unlock_app(&mut self.held, hash_of(principal, resource), session)
    }

    /// APPLOCK_MODE.
    pub fn app_lock_mode(&self, principal: &str, resource: &str, session: bool) -> KeyMode {
        self.shared.locks.app_mode(&self.held, hash_of(principal, resource), session)
    }

    /// APPLOCK_TEST: whether it could be had now.
    pub fn app_lock_test(&mut self, principal: &str, resource: &str, mode: KeyMode) -> bool {
        self.shared.locks.test_app(&mut self.held, hash_of(principal, resource), mode)
    }
}
