//! A session: a spid, its state, and batches run one after the other.

use crate::Instance;
use crate::host::InstanceHost;
use executor::ResultSink;
use interpreter::SessionState;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A user's session. Lives on one task or thread at a time; dropping it rolls an open transaction back and frees its
/// spid.
pub struct Session {
    instance: Arc<Instance>,
    state: SessionState,
}

impl Session {
    /// A fresh session in `master`.
    pub fn new(instance: &Arc<Instance>) -> Session {
        let spid = instance.take_spid();
        let state = SessionState::new(spid, instance.master());
        Session { instance: instance.clone(), state }
    }

    /// @@SPID: from 51, as for users in SQL Server.
    pub fn spid(&self) -> u16 {
        self.state.spid
    }

    /// Runs one batch to its end; everything it has to say goes to `sink`. `Err` when an error of severity 11 or more
    /// was among it. Suspends.
    #[allow(clippy::result_unit_err, reason = "the errors themselves have gone to the sink")]
    pub fn execute(&mut self, batch: &str, sink: &mut dyn ResultSink) -> Result<(), ()> {
        let mut host = InstanceHost::new(self.instance.clone());
        interpreter::execute_batch(&mut self.state, &mut host, batch, sink)
    }

    /// Set it from elsewhere to stop the batch that runs.
    pub fn cancel_flag(&self) -> Arc<AtomicBool> {
        self.state.cancel.clone()
    }

    /// @@TRANCOUNT.
    pub fn trancount(&self) -> u32 {
        self.state.trancount()
    }

    /// The current database's name.
    pub fn database_name(&self) -> &str {
        &self.state.database.name
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.state.reset();
        }
        self.instance.give_spid(self.state.spid);
    }
}
