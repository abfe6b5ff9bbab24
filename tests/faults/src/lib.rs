//! Faults against the real binary, over the wire: the power fails, a file system call fails, a system call fails.
//!
//! [`ledger`] is the load that checks itself: a driver in this process knows what was acknowledged, and holds what a
//! restarted server has against it. [`medium`] is a disk that forgets, [`mount`] puts it under the server by FUSE, and
//! [`powercut`] cuts its power, again and again; [`disk_errors`] lets its requests fail, [`syscalls`] every system
//! call; [`guest`] puts it into a machine of QEMU whose kernel logs, drops and refuses writes; [`soak`] lets it live long;
//! [`attack`] lets a login do its worst.
//! `cargo xtask powercut`, `faults`, `guest`, `soak` and `attack` run them; docs/reliability.md says what was run.
//!
//! Knows nothing of the engine's insides: only its command line, its protocol and what it prints.

pub mod attack;
pub mod disk_errors;
#[cfg(target_arch = "x86_64")]
pub mod guest;
pub mod ledger;
pub mod medium;
pub mod mount;
pub mod powercut;
pub mod server;
pub mod soak;
mod symbols;
pub mod syscalls;
#[cfg(target_arch = "x86_64")]
pub mod trace;
