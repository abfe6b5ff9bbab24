//! A session tells others how it stands.

use crate::activity::isolation_number;
use crate::state::SessionState;
use std::sync::atomic::Ordering::Relaxed;

impl SessionState {
    /// Tells the others the session's settings and what the last statement left.
    pub fn publish(&self) {
        let (state, to) = (self, &*self.activity);
        let options = &state.options;
        to.database.store(state.database.id.into(), Relaxed);
        to.trancount.store(state.trancount(), Relaxed);
        to.switches.store(options.bits(), Relaxed);
        to.nesting.store(state.nesting, Relaxed);
        let timeout = options.lock_timeout_ms.map_or(-1, |ms| ms.min(i32::MAX as u64) as i64);
        to.lock_timeout_ms.store(timeout, Relaxed);
        to.textsize.store(options.textsize, Relaxed);
        to.error.store(state.error, Relaxed);
        to.rows.store(state.rowcount, Relaxed);
        let bytes = [
            isolation_number(options.isolation) as u8,
            options.date_order as u8,
            options.datefirst,
            options.language,
            options.deadlock_priority as u8,
            0,
            0,
            0,
        ];
        to.small.store(u64::from_le_bytes(bytes), Relaxed);
        let has_context = state.context_info.is_some();
        if has_context || to.has_context.load(Relaxed) {
            to.has_context.store(has_context, Relaxed);
            to.context_info.lock().clone_from(&state.context_info);
        }
    }
}
