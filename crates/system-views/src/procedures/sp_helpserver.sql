    @server sysname = NULL,
    @optname varchar(35) = NULL,
    @show_topology varchar(1) = NULL
AS
IF @server IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sys.servers WHERE name = @server)
BEGIN
    RAISERROR(15015, -1, -1, @server)
    RETURN 1
END
SELECT name, CAST(data_source AS sysname) AS network_name, CAST('rpc,rpc out,use remote collation' AS varchar(70)) AS status,
    CAST(server_id AS char(4)) AS id, collation_name, connect_timeout, query_timeout
FROM sys.servers
WHERE (@server IS NULL OR name = @server) AND (@optname IS NULL OR @optname IN ('rpc', 'rpc out', 'use remote collation'))
ORDER BY name
RETURN 0
