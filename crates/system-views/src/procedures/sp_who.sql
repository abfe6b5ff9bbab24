    @loginame sysname = NULL
AS
SELECT spid, ecid, status, loginame, hostname, CAST(blocked AS char(5)) AS blk, CAST(DB_NAME(dbid) AS nchar(128)) AS dbname, cmd, request_id
FROM sys.sysprocesses
WHERE @loginame IS NULL OR loginame = @loginame OR (UPPER(@loginame) = 'ACTIVE' AND cmd <> 'AWAITING COMMAND')
    OR (ISNUMERIC(@loginame) = 1 AND CAST(spid AS varchar(10)) = @loginame)
ORDER BY spid
RETURN 0
