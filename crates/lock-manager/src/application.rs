//! Application locks: sp_getapplock and its kin. Names, hashed, in a tree's number of their own; held by the
//! transaction or by the session, and counted, so that they are released as often as they were taken.

use crate::held::HeldApp;
use crate::keys::Request;
use crate::{APPLICATION, Held, KeyMode, LockError, LockManager, RowKey};

fn resource(hash: u64) -> RowKey {
    RowKey { tree: APPLICATION, hash }
}

impl LockManager {
    /// sp_getapplock. True when the lock was free at once. Suspends otherwise.
    pub fn lock_app(
        &self,
        held: &mut Held,
        hash: u64,
        mode: KeyMode,
        session: bool,
        timeout_ns: Option<u64>,
    ) -> Result<bool, LockError> {
        telemetry::locks::request(telemetry::LockKind::Application);
        let key = resource(hash);
        let mut at_once = true;
        if let Request::Blocked(before) = self.keys.request(key, held.owner, mode, Some(&held.node))
        {
            at_once = false;
            self.wait_for_key(held, key, before.union(mode), timeout_ns)?;
        }
        let same = |a: &&mut HeldApp| a.key == key && a.mode == mode && a.session == session;
        match held.app.iter_mut().find(same) {
            Some(entry) => entry.count += 1,
            None => held.app.push(HeldApp { key, mode, session, count: 1 }),
        }
        Ok(at_once)
    }

    /// APPLOCK_TEST: whether the lock could be had now.
    pub fn test_app(&self, held: &mut Held, hash: u64, mode: KeyMode) -> bool {
        let key = resource(hash);
        match self.keys.request(key, held.owner, mode, None) {
            Request::Covered => true,
            Request::Granted(before) => {
                self.keys.weaken(key, held.owner, before);
                true
            }
            Request::Blocked(_) => false,
        }
    }

    /// sp_releaseapplock: the lock taken last by this kind of owner. False when there is none.
    pub fn unlock_app(&self, held: &mut Held, hash: u64, session: bool) -> bool {
        let key = resource(hash);
        let Some(at) = held.app.iter().rposition(|a| a.key == key && a.session == session) else {
            return false;
        };
        held.app[at].count -= 1;
        if held.app[at].count == 0 {
            held.app.remove(at);
            self.keys.weaken(key, held.owner, held.app_mode(key));
        }
        true
    }

    /// APPLOCK_MODE: what this kind of owner holds.
    pub fn app_mode(&self, held: &Held, hash: u64, session: bool) -> KeyMode {
        let key = resource(hash);
        let mine = held.app.iter().filter(|a| a.key == key && a.session == session);
        mine.fold(KeyMode::NONE, |mode, a| mode.union(a.mode))
    }

    /// Releases the application locks of the session: it is over.
    pub fn release_session(&self, held: &mut Held) {
        self.release_app(held, true);
    }

    /// Releases the application locks of one kind of owner.
    #[cold]
    pub(crate) fn release_app(&self, held: &mut Held, session: bool) {
        let gone: Vec<RowKey> =
            held.app.iter().filter(|a| a.session == session).map(|a| a.key).collect();
        held.app.retain(|a| a.session != session);
        for key in gone {
            self.keys.weaken(key, held.owner, held.app_mode(key));
        }
    }
}
