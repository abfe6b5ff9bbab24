    @loginame sysname = NULL
AS
IF @loginame IS NOT NULL AND UPPER(@loginame) <> 'ACTIVE' AND @loginame LIKE '%[^0-9]%' AND SUSER_SID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
SELECT CAST(spid AS char(5)) AS SPID, CAST(CASE status WHEN 'running' THEN 'RUNNABLE' WHEN 'sleeping' THEN status ELSE UPPER(status) END AS nvarchar(30)) AS Status,
    CAST(RTRIM(loginame) AS sysname) AS Login, CAST(CASE WHEN hostname = '' THEN '  .' ELSE RTRIM(hostname) END AS sysname) AS HostName,
    CAST(CASE WHEN blocked = 0 THEN '  .' ELSE CAST(blocked AS char(5)) END AS char(5)) AS BlkBy, CAST(DB_NAME(dbid) AS sysname) AS DBName,
    CAST(RTRIM(cmd) AS nvarchar(16)) AS Command, CAST(cpu AS varchar(30)) AS CPUTime, CAST(physical_io AS varchar(30)) AS DiskIO,
    CAST(CONVERT(varchar(5), last_batch, 101) + ' ' + CONVERT(varchar(8), last_batch, 108) AS varchar(14)) AS LastBatch,
    CAST(RTRIM(program_name) AS nvarchar(128)) AS ProgramName, CAST(spid AS char(5)) AS SPID, CAST(request_id AS char(5)) AS REQUESTID
FROM sys.sysprocesses
WHERE @loginame IS NULL OR loginame = @loginame OR (UPPER(@loginame) = 'ACTIVE' AND cmd <> 'AWAITING COMMAND')
    OR (@loginame NOT LIKE '%[^0-9]%' AND CAST(spid AS varchar(10)) = @loginame)
ORDER BY sys.sysprocesses.spid
RETURN 0
