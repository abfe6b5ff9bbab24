//! SHUTDOWN: sessions ask whoever runs the instance to end it.
//!
//! Promise: it is asked once at most; while what runs is waited for, only administrators may sign in.

use crate::instance::Instance;
use executor::SqlError;
use security::server_role;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::*};
use telemetry::WaitType;

/// How often it is looked whether the others have come to an end.
const LOOK_NS: u64 = 10_000_000;

/// Whom to ask, and whether somebody is about to.
#[derive(Default)]
pub(crate) struct Ending {
    act: OnceLock<Box<dyn Fn() + Send + Sync>>,
    begun: AtomicBool,
}

impl Instance {
    /// Says what SHUTDOWN does, once; it must return soon, and leave the ending to another thread.
    pub fn on_shutdown(&self, act: Box<dyn Fn() + Send + Sync>) {
        let _ = self.ending.act.set(act);
    }

    /// A SHUTDOWN waits for what runs, or has been carried out.
    pub fn is_ending(&self) -> bool {
        self.ending.begun.load(Acquire)
    }

    /// Nobody but administrators may sign in now.
    pub fn refuses_login(&self, login: &str) -> bool {
        self.is_ending() && !self.is_administrator(login)
    }

    /// Is it a login of the role sysadmin?
    pub fn is_administrator(&self, login: &str) -> bool {
        let directory = self.server.directory();
        let found = directory.find(login);
        found.is_some_and(|p| {
            directory.token(p.id, server_role::PUBLIC).contains(&server_role::SYSADMIN)
        })
    }

    /// SHUTDOWN, of session `spid`; 6005 while another is under way. Suspends.
    pub(crate) fn end_server(
        &self,
        no_wait: bool,
        spid: u16,
        waits: &mut dyn FnMut(usize),
        is_cancelled: &dyn Fn() -> bool,
    ) -> Result<(), SqlError> {
        let Some(act) = self.ending.act.get() else {
            return Err(SqlError::unsupported("SHUTDOWN without a server"));
        };
        if self.ending.begun.swap(true, AcqRel) {
            return Err(SqlError::new(6005, 16, "SHUTDOWN is in progress."));
        }
        if !no_wait && !self.others_have_ended(spid, waits, is_cancelled) {
            self.ending.begun.store(false, Release);
            return Err(executor::cancelled());
        }
        act();
        Ok(())
    }

    /// An audit cannot write, and says that the server is to end then. Does not wait.
    pub(crate) fn end_for_audit(&self) {
        if let Some(act) = self.ending.act.get()
            && !self.ending.begun.swap(true, AcqRel)
        {
            act();
        }
    }

    /// Waits until no other session runs a request; false when the waiting is given up.
    fn others_have_ended(
        &self,
        spid: u16,
        waits: &mut dyn FnMut(usize),
        is_cancelled: &dyn Fn() -> bool,
    ) -> bool {
        let mut told = false;
        loop {
            let sessions = self.sessions().into_iter();
            let others = sessions.filter(|s| s.running && s.system.is_none());
            let others = others.filter(|s| s.id != i32::from(spid)).count();
            if others == 0 {
                return true;
            }
            if !std::mem::replace(&mut told, true) {
                waits(others);
            }
            if is_cancelled() {
                return false;
            }
            runtime::task::sleep_ns(LOOK_NS, WaitType::SleepTask);
        }
    }
}
