//! Statements about the server rather than the data.

use crate::support::check;

#[test]
fn statistics_are_cleared() {
    check(
        "DBCC SQLPERF(\"sys.dm_os_wait_stats\", clear) WITH NO_INFOMSGS;
         DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR);
         DBCC SQLPERF(\"sys.dm_os_latch_stats\", CLEAR) WITH NO_INFOMSGS;
         DBCC NOSUCH",
        "= DBCC execution completed. If DBCC printed error messages, contact your system administrator.
         Msg 2526, 4: Incorrect DBCC statement. Check the documentation for the correct DBCC syntax and options.",
    );
}

#[test]
fn the_log_is_backed_up_and_flushed() {
    check(
        "CREATE TABLE t(a int PRIMARY KEY)
         ALTER DATABASE test SET DELAYED_DURABILITY = ALLOWED
         BEGIN TRAN; INSERT t VALUES (1); COMMIT TRAN WITH (DELAYED_DURABILITY = ON)
         EXEC sp_flush_log; EXEC sys.sp_flush_log
         CHECKPOINT
         BACKUP LOG TO DISK = 'NUL:'
         BACKUP LOG test TO DISK = 'elsewhere'
         DBCC TRACEON(8048, -1) WITH NO_INFOMSGS",
        "(1)
         = BACKUP LOG successfully processed the log of 'test'.
         Msg 40510, 7: Statement 'BACKUP without a server' is not supported in this version of SQL Server.",
    );
}

#[test]
fn trace_flags_are_a_sessions_or_the_servers() {
    check(
        "DBCC TRACESTATUS
         DBCC TRACEON(1222) DBCC TRACEON (2032, 9999) WITH NO_INFOMSGS
         DBCC TRACEON(834, 8048, 4711, -1)
         DBCC TRACESTATUS() WITH NO_INFOMSGS
         DBCC TRACESTATUS(1222, -1) WITH NO_INFOMSGS
         DBCC TRACEOFF(1222, 2032) WITH NO_INFOMSGS
         DBCC TRACESTATUS(2032, 9999) WITH NO_INFOMSGS",
        "= DBCC execution completed. If DBCC printed error messages, contact your system administrator.
         = Trace flag 1222 has an effect for the whole server only (every deadlock goes to the log): DBCC TRACEON (1222, -1).
         = DBCC execution completed. If DBCC printed error messages, contact your system administrator.
         = Ignoring trace flag 834. It is either an invalid trace flag or a trace flag that can only be specified during server startup.
         = Trace flag 8048 has no effect here: memory objects are kept by CPU.
         = Trace flag 4711 has no effect here.
         = DBCC execution completed. If DBCC printed error messages, contact your system administrator.
         1222 | 1 | 0 | 1
         2032 | 1 | 0 | 1
         9999 | 1 | 0 | 1
         (3)
         1222 | 0 | 0 | 0
         (1)
         2032 | 0 | 0 | 0
         9999 | 1 | 0 | 1
         (2)",
    );
}

#[test]
fn settings_end_with_their_procedure() {
    check(
        "CREATE PROCEDURE still AS BEGIN SET NOCOUNT ON; SET LOCK_TIMEOUT 5 END
         GO
         EXEC still; SELECT @@LOCK_TIMEOUT;
         SET LOCK_TIMEOUT 1000; SELECT @@LOCK_TIMEOUT;
         WAITFOR DELAY '00:00:00.010';
         SET TRANSACTION ISOLATION LEVEL SERIALIZABLE;
         PRINT 'end'",
        "-1
         (1)
         1000
         (1)
         = end",
    );
}
