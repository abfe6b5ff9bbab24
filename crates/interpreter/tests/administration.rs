//! Statements about the server rather than the data.

mod support;

use support::check;

#[test]
fn statistics_are_cleared() {
    check(
        "DBCC SQLPERF(\"sys.dm_os_wait_stats\", clear) WITH NO_INFOMSGS;
         DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR);
         DBCC SQLPERF(\"sys.dm_os_latch_stats\", CLEAR) WITH NO_INFOMSGS;
         DBCC NOSUCH",
        "= DBCC execution completed. If DBCC printed error messages, contact your system administrator.
         Msg 40510, 4: Statement 'DBCC NOSUCH' is not supported in this version of SQL Server.",
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
         Msg 40510, 7: Statement 'BACKUP to anything but DISK = 'NUL:', of anything but a log' is not supported in this version of SQL Server.",
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
