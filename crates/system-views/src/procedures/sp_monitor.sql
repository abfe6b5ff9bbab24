AS
IF IS_SRVROLEMEMBER(N'sysadmin') = 0
BEGIN
    RAISERROR(15247, -1, -1)
    RETURN 1
END
-- No run is kept: what is told since the last one is told since the server's start.
DECLARE @started datetime = (SELECT sqlserver_start_time FROM sys.dm_os_sys_info), @now datetime = GETDATE()
DECLARE @seconds bigint = DATEDIFF_BIG(second, @started, @now)
DECLARE @cpus float = (SELECT cpu_count FROM sys.dm_os_sys_info), @tick float = @@TIMETICKS / 1000000.0
DECLARE @busy bigint = @@CPU_BUSY * @tick, @io bigint = @@IO_BUSY * @tick, @idle bigint = @@IDLE * @tick
DECLARE @all float = NULLIF(@cpus * @seconds, 0)
SELECT @started AS last_run, @now AS current_run, CAST(@seconds AS int) AS seconds
SELECT CONCAT(@busy, '(', @busy, ')-', CAST(ISNULL(@busy * 100 / @all, 0) AS int), '%') AS cpu_busy,
    CONCAT(@io, '(', @io, ')-', CAST(ISNULL(@io * 100 / @all, 0) AS int), '%') AS io_busy,
    CONCAT(@idle, '(', @idle, ')-', CAST(ISNULL(@idle * 100 / @all, 0) AS int), '%') AS idle
SELECT CONCAT(@@PACK_RECEIVED, '(', @@PACK_RECEIVED, ')') AS packets_received,
    CONCAT(@@PACK_SENT, '(', @@PACK_SENT, ')') AS packets_sent,
    CONCAT(@@PACKET_ERRORS, '(', @@PACKET_ERRORS, ')') AS packet_errors
SELECT CONCAT(@@TOTAL_READ, '(', @@TOTAL_READ, ')') AS total_read,
    CONCAT(@@TOTAL_WRITE, '(', @@TOTAL_WRITE, ')') AS total_write,
    CONCAT(@@TOTAL_ERRORS, '(', @@TOTAL_ERRORS, ')') AS total_errors,
    CONCAT(@@CONNECTIONS, '(', @@CONNECTIONS, ')') AS connections
RETURN 0
