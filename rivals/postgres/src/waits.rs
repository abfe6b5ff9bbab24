//! PostgreSQL's wait events in the taxonomy that all rivals share.
//!
//! Source: PostgreSQL 15, "The Cumulative Statistics System", tables 28.4 to 28.12 (wait event types and events).

use rival_harness::{ON_CPU, WaitClass};

/// What the sessions wait for now: (type, event, how many).
pub(crate) const LOOK: &str = "SELECT coalesce(wait_event_type, ''), coalesce(wait_event, ''), count(*)::bigint \
     FROM pg_stat_activity WHERE application_name = 'millrace lab session' GROUP BY 1, 2";

/// The name to show, and its class. An active session without an event is on the CPU, or ready for it.
pub(crate) fn named(kind: &str, event: &str) -> (String, WaitClass) {
    if kind.is_empty() {
        return (ON_CPU.to_owned(), WaitClass::Cpu);
    }
    (format!("{kind}:{event}"), class(kind, event))
}

fn class(kind: &str, event: &str) -> WaitClass {
    match (kind, event) {
        ("LWLock", "WALWrite") | ("IO", "WALWrite" | "WALSync") | ("IPC", "SyncRep") => {
            WaitClass::LogWrite
        }
        ("LWLock", "WALBufMapping") => WaitClass::LogSpace,
        ("IO", _) if event.starts_with("WALInit") => WaitClass::LogSpace,
        ("IO", _) if event.starts_with("WAL") => WaitClass::LogWrite,
        // One at a time makes a file longer: a latch in all but its name.
        ("Lock", "extend") => WaitClass::Latch,
        ("Lock", _) => WaitClass::Lock,
        ("LWLock" | "BufferPin", _) | ("Timeout", "SpinDelay") => WaitClass::Latch,
        ("IO", _) => WaitClass::DataIo,
        ("Client", _) => WaitClass::Client,
        ("Activity", _) => WaitClass::Idle,
        _ => WaitClass::Cpu,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_its_class() {
        for (kind, event, expected) in [
            ("", "", WaitClass::Cpu),
            ("LWLock", "WALWrite", WaitClass::LogWrite),
            ("IO", "WALSync", WaitClass::LogWrite),
            ("IO", "WALInitSync", WaitClass::LogSpace),
            ("LWLock", "WALBufMapping", WaitClass::LogSpace),
            ("LWLock", "WALInsert", WaitClass::Latch),
            ("LWLock", "BufferContent", WaitClass::Latch),
            ("Lock", "transactionid", WaitClass::Lock),
            ("Lock", "extend", WaitClass::Latch),
            ("IO", "DataFileExtend", WaitClass::DataIo),
            ("Client", "ClientRead", WaitClass::Client),
            ("IPC", "ProcArrayGroupUpdate", WaitClass::Cpu),
        ] {
            assert_eq!(named(kind, event).1, expected, "{kind}:{event}");
        }
        assert_eq!(named("LWLock", "WALWrite").0, "LWLock:WALWrite");
    }
}
