//! Statistics views (`sys.dm_*`): waits, spinlocks, latches; sessions, requests, tasks; locks and transactions; files
//! and logs; counters; the machine.

pub mod buffers;
pub mod clerks;
pub mod counters;
pub mod index_arguments;
pub mod io;
pub mod locks;
pub mod log;
pub mod log_timing;
pub mod memory;
pub mod memory_engine;
pub mod memory_tables;
pub mod modules;
pub mod nodes;
pub mod operations;
pub mod physical;
pub mod plans;
pub mod process;
mod resident;
pub mod services;
pub mod sessions;
pub mod snapshot;
pub mod space;
pub mod switches;
pub mod system;
pub mod tasks;
pub mod text;
pub mod usage;
pub mod waits;
