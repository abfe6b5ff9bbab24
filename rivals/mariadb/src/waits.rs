//! MariaDB's waits in the taxonomy that all rivals share.
//!
//! Two sources. The process list names what a session's statement is doing (its state) and the id of its thread, whose
//! state the kernel tells: running, waiting for a device, or asleep. The performance schema names the instrument that
//! a thread waits on. Sources: MariaDB Knowledge Base, "General Thread States", "Performance Schema
//! events_waits_current Table".

use rival_harness::{ON_CPU, ThreadState, WaitClass};

/// Sessions of the lab: thread id of the operating system, command, state of the statement.
pub(crate) const THREADS: &str = "SELECT TID, COMMAND, COALESCE(STATE, '') \
     FROM information_schema.PROCESSLIST WHERE DB = DATABASE() AND ID <> CONNECTION_ID()";

/// Transactions that wait for a lock.
pub(crate) const LOCK_WAITS: &str = "SELECT p.TID FROM information_schema.INNODB_TRX x \
     JOIN information_schema.PROCESSLIST p ON p.ID = x.trx_mysql_thread_id WHERE x.trx_state = 'LOCK WAIT'";

/// Sessions of the lab: command, and the instrument that each waits on now, or nothing.
pub(crate) const INSTRUMENTS: &str = "SELECT t.PROCESSLIST_COMMAND, COALESCE(w.EVENT_NAME, '') \
     FROM performance_schema.threads t LEFT JOIN performance_schema.events_waits_current w \
     ON w.THREAD_ID = t.THREAD_ID AND w.END_EVENT_ID IS NULL \
     WHERE t.PROCESSLIST_DB = DATABASE() AND t.PROCESSLIST_ID <> CONNECTION_ID()";

/// Of a thread by its command, its statement's state, and what the kernel says; `locked`: its transaction waits for a
/// lock. `None` from the kernel: it is not on this machine, or has gone.
pub(crate) fn by_thread(
    command: &str,
    state: &str,
    kernel: Option<ThreadState>,
    locked: bool,
) -> (String, WaitClass) {
    if command == "Sleep" {
        return ("Sleep: client".to_owned(), WaitClass::Client);
    }
    if locked {
        return ("LOCK WAIT".to_owned(), WaitClass::Lock);
    }
    let step = if state.is_empty() { "no state" } else { state };
    // After its last statement a session waits here for the flush that another one does.
    let commits = state.to_ascii_lowercase().contains("commit") || state == "Updating status";
    match kernel {
        Some(ThreadState::Running) => (ON_CPU.to_owned(), WaitClass::Cpu),
        _ if state.starts_with("Waiting for") => (step.to_owned(), WaitClass::Lock),
        None if commits => (step.to_owned(), WaitClass::LogWrite),
        None => (step.to_owned(), WaitClass::Cpu),
        Some(ThreadState::Device) if commits => (format!("{step}: device"), WaitClass::LogWrite),
        Some(ThreadState::Device) => (format!("{step}: device"), WaitClass::DataIo),
        Some(ThreadState::Sleeping) if commits => (format!("{step}: asleep"), WaitClass::LogWrite),
        Some(ThreadState::Sleeping) => (format!("{step}: asleep"), WaitClass::Latch),
    }
}

/// Of an instrument of the performance schema.
pub(crate) fn by_instrument(command: &str, instrument: &str) -> (String, WaitClass) {
    if instrument.is_empty() {
        return match command {
            "Sleep" => ("Sleep: client".to_owned(), WaitClass::Client),
            _ => (ON_CPU.to_owned(), WaitClass::Cpu),
        };
    }
    let leaf = instrument.rsplit('/').next().unwrap_or_default();
    let class = if instrument.starts_with("wait/io/socket") || instrument == "idle" {
        WaitClass::Client
    } else if instrument.starts_with("wait/io/file") {
        if leaf.contains("log") { WaitClass::LogWrite } else { WaitClass::DataIo }
    } else if instrument.starts_with("wait/lock") {
        WaitClass::Lock
    } else if instrument.starts_with("wait/synch") {
        if leaf.contains("log_flush") || leaf.contains("LOCK_commit") {
            WaitClass::LogWrite
        } else {
            WaitClass::Latch
        }
    } else {
        WaitClass::Cpu
    };
    (instrument.to_owned(), class)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_classed_by_what_it_does_and_what_the_kernel_says() {
        use ThreadState::*;
        for (command, state, kernel, locked, expected) in [
            ("Sleep", "", Some(Sleeping), false, WaitClass::Client),
            ("Query", "Commit", Some(Sleeping), false, WaitClass::LogWrite),
            ("Query", "Updating status", Some(Sleeping), false, WaitClass::LogWrite),
            ("Query", "Commit", Some(Device), false, WaitClass::LogWrite),
            ("Query", "Commit", Some(Running), false, WaitClass::Cpu),
            ("Query", "Update", Some(Device), false, WaitClass::DataIo),
            ("Query", "Update", Some(Sleeping), false, WaitClass::Latch),
            ("Query", "Update", Some(Sleeping), true, WaitClass::Lock),
            ("Query", "Waiting for table metadata lock", Some(Sleeping), false, WaitClass::Lock),
            ("Execute", "Update", None, false, WaitClass::Cpu),
            ("Execute", "Commit", None, false, WaitClass::LogWrite),
        ] {
            let (name, class) = by_thread(command, state, kernel, locked);
            assert_eq!(class, expected, "{command} {state} {kernel:?}: {name}");
        }
    }

    #[test]
    fn an_instrument_has_its_class() {
        for (instrument, expected) in [
            ("", WaitClass::Cpu),
            ("wait/io/file/innodb/innodb_log_file", WaitClass::LogWrite),
            ("wait/io/file/innodb/innodb_data_file", WaitClass::DataIo),
            ("wait/synch/rwlock/innodb/log_latch", WaitClass::Latch),
            ("wait/synch/sxlock/innodb/index_tree_rw_lock", WaitClass::Latch),
            ("wait/lock/table/sql/handler", WaitClass::Lock),
            ("wait/io/socket/sql/client_connection", WaitClass::Client),
        ] {
            assert_eq!(by_instrument("Query", instrument).1, expected, "{instrument}");
        }
        assert_eq!(by_instrument("Sleep", "").1, WaitClass::Client);
    }
}
