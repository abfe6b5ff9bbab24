    @name sysname = NULL OUTPUT,
    @full int = 0
AS
-- Not documented: what the network calls this machine. It knows no domain.
SET @name = CAST(SERVERPROPERTY('MachineName') AS sysname)
RETURN 0
