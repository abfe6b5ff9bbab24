    @spid1 int = NULL,
    @spid2 int = NULL
AS
SELECT CAST(request_session_id AS smallint) AS spid, CAST(resource_database_id AS smallint) AS dbid,
    CASE resource_type WHEN 'OBJECT' THEN CAST(resource_associated_entity_id AS int)
        ELSE ISNULL((SELECT TOP 1 p.object_id FROM sys.partitions AS p
            WHERE p.hobt_id = l.resource_associated_entity_id AND l.resource_database_id = DB_ID()), 0) END AS ObjId,
    CAST(CASE resource_type WHEN 'KEY' THEN 1 ELSE 0 END AS smallint) AS IndId,
    CAST(CASE resource_type WHEN 'OBJECT' THEN 'TAB' WHEN 'KEY' THEN 'KEY' WHEN 'APPLICATION' THEN 'APP'
        ELSE resource_type END AS nchar(4)) AS Type,
    CAST(resource_description AS nchar(32)) AS Resource, CAST(request_mode AS nvarchar(8)) AS Mode,
    CAST(CASE request_status WHEN 'CONVERT' THEN 'CNVT' ELSE request_status END AS nvarchar(5)) AS Status
FROM sys.dm_tran_locks AS l
WHERE @spid1 IS NULL OR request_session_id IN (@spid1, @spid2)
ORDER BY request_session_id
RETURN 0
