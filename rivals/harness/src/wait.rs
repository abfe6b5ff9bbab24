//! One taxonomy of waits for every database.
//!
//! Each database names its waits its own way; a class says what kind of thing was waited for, so that a plot of
//! several databases has one legend. The adapters keep the own names and give each its class.

/// What kind of thing was waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum WaitClass {
    /// For the log to reach the device, or for whoever writes it.
    LogWrite,
    /// For room in the log's buffer or files.
    LogSpace,
    /// For a lock of another transaction.
    Lock,
    /// For a latch, mutex or other short lock of the engine's own.
    Latch,
    /// For pages to be read or written.
    DataIo,
    /// For the client, or the network to it.
    Client,
    /// Nothing to do.
    Idle,
    /// On the CPU, or ready for it, or a wait that no other class holds.
    Cpu,
}

impl WaitClass {
    /// The name that the lab's documents use.
    pub fn name(self) -> &'static str {
        match self {
            WaitClass::LogWrite => "log write",
            WaitClass::LogSpace => "log space",
            WaitClass::Lock => "lock",
            WaitClass::Latch => "latch",
            WaitClass::DataIo => "data I/O",
            WaitClass::Client => "client",
            WaitClass::Idle => "idle",
            WaitClass::Cpu => "CPU and other",
        }
    }
}

/// What one wait came to, since the sampler began.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WaitTotal {
    pub class: WaitClass,
    /// How often a session was seen in it; where the rival counts its waits itself, how many there were.
    pub count: u64,
    /// Session-milliseconds.
    pub ms: f64,
}

/// What the adapters call a session that runs, or is ready to: no wait, and shown apart.
pub const ON_CPU: &str = "CPU";
