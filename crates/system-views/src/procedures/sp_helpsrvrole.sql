    @srvrolename sysname = NULL
AS
SET NOCOUNT ON
DECLARE @fixed TABLE (name sysname, description sysname)
INSERT @fixed VALUES ('sysadmin', 'System Administrators'), ('securityadmin', 'Security Administrators'),
    ('serveradmin', 'Server Administrators'), ('setupadmin', 'Setup Administrators'),
    ('processadmin', 'Process Administrators'), ('diskadmin', 'Disk Administrators'),
    ('dbcreator', 'Database Creators'), ('bulkadmin', 'Bulk Insert Administrators')
IF @srvrolename IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @fixed WHERE name = @srvrolename)
BEGIN
    RAISERROR(15412, -1, -1, @srvrolename)
    RETURN 1
END
SELECT f.name AS ServerRole, f.description AS Description
FROM @fixed AS f JOIN sys.server_principals AS p ON p.name = f.name
WHERE @srvrolename IS NULL OR f.name = @srvrolename
ORDER BY p.principal_id
RETURN 0
