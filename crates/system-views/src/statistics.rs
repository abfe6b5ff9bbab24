//! Statistics views (`sys.dm_*`): waits, spinlocks, latches, sessions, counters.

pub mod counters;
pub mod log;
pub mod sessions;
pub mod switches;
pub mod system;
pub mod waits;
