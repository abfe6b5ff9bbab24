//! Waits by what they are for: the taxonomy that all targets share.

/// Where a wait type of SQL Server's (and so of ours) belongs.
pub fn of_sql_server(name: &str) -> &'static str {
    match name {
        "WRITELOG" | "LOGMGR_FLUSH" => "log write",
        "LOGBUFFER" | "LOGMGR_RESERVE_APPEND" | "LOGMGR" => "log space",
        "ASYNC_NETWORK_IO" => "client",
        "ASYNC_IO_COMPLETION" | "IO_COMPLETION" | "WRITE_COMPLETION" => "data I/O",
        _ if crate::measure::is_idle(name) => "idle",
        _ if name.starts_with("LCK_") => "lock",
        _ if name.starts_with("PAGEIOLATCH_") || name.starts_with("PREEMPTIVE_OS_FILE") => {
            "data I/O"
        }
        _ if name.starts_with("PAGELATCH_") || name.starts_with("LATCH_") => "latch",
        _ => "CPU and other",
    }
}

#[cfg(test)]
mod tests {
    use super::of_sql_server;

    #[test]
    fn the_posts_waits_have_a_place() {
        for (name, category) in [
            ("WRITELOG", "log write"),
            ("LOGBUFFER", "log space"),
            ("PAGELATCH_EX", "latch"),
            ("PAGEIOLATCH_SH", "data I/O"),
            ("LCK_M_X", "lock"),
            ("SLEEP_TASK", "idle"),
            ("ASYNC_NETWORK_IO", "client"),
            ("SOS_SCHEDULER_YIELD", "CPU and other"),
        ] {
            assert_eq!(of_sql_server(name), category, "{name}");
        }
    }
}
