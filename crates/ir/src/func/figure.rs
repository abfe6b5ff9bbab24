//! The `@@` variables that tell what the server has counted.
//!
//! Promise: each is one figure of the server, whoever asks.

/// What the server has counted since it began: the `@@` variables that sp_monitor is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ServerFigure {
    Connections,
    CpuBusy,
    Idle,
    IoBusy,
    PacketErrors,
    PacketsReceived,
    PacketsSent,
    TotalErrors,
    TotalRead,
    TotalWrite,
}

impl ServerFigure {
    /// By the variable's name in capitals.
    pub fn of_name(name: &str) -> Option<ServerFigure> {
        use ServerFigure::*;
        Some(match name {
            "@@CONNECTIONS" => Connections,
            "@@CPU_BUSY" => CpuBusy,
            "@@IDLE" => Idle,
            "@@IO_BUSY" => IoBusy,
            "@@PACKET_ERRORS" => PacketErrors,
            "@@PACK_RECEIVED" => PacketsReceived,
            "@@PACK_SENT" => PacketsSent,
            "@@TOTAL_ERRORS" => TotalErrors,
            "@@TOTAL_READ" => TotalRead,
            "@@TOTAL_WRITE" => TotalWrite,
            _ => return None,
        })
    }
}
