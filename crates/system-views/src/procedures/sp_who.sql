    @loginame sysname = NULL
AS
IF @loginame IS NOT NULL AND UPPER(@loginame) <> 'ACTIVE' AND @loginame LIKE '%[^0-9]%' AND SUSER_SID(@loginame) IS NULL
BEGIN
    RAISERROR(15007, -1, -1, @loginame)
    RETURN 1
END
SELECT spid, ecid, status, loginame, hostname, CAST(blocked AS char(5)) AS blk, CAST(DB_NAME(dbid) AS nchar(128)) AS dbname, cmd, request_id
FROM sys.sysprocesses
WHERE @loginame IS NULL OR loginame = @loginame OR (UPPER(@loginame) = 'ACTIVE' AND cmd <> 'AWAITING COMMAND')
    OR (@loginame NOT LIKE '%[^0-9]%' AND CAST(spid AS varchar(10)) = @loginame)
ORDER BY spid
RETURN 0
