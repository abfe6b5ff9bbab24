//! Where a program keeps its machine code, and whether it is in use.
//!
//! Promise: decided once for all sessions, when the module is first called; a process may go without at any time.

use native::Compiled;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// Whether modules get machine code from now on: one setting of the process.
static IN_USE: AtomicBool = AtomicBool::new(true);

/// Runs natively compiled modules as machine code, or leaves them to the interpreter. What has been compiled stays.
pub fn use_machine_code(on: bool) {
    IN_USE.store(on, Relaxed);
}

pub(crate) fn in_use() -> bool {
    IN_USE.load(Relaxed)
}

/// A module's machine code; none: the interpreter's business.
#[derive(Default)]
pub(crate) struct MachineCode(OnceLock<Option<Compiled>>);

impl MachineCode {
    /// The machine code, if there is any and it is in use.
    #[inline]
    pub fn get(&self) -> Option<&Compiled> {
        let compiled = self.0.get()?.as_ref()?;
        in_use().then_some(compiled)
    }

    /// Whether it has been compiled, or tried to.
    pub fn is_decided(&self) -> bool {
        self.0.get().is_some()
    }

    /// Compiles it, if nobody has.
    pub fn decide(&self, compile: impl FnOnce() -> Option<Compiled>) {
        self.0.get_or_init(compile);
    }
}
