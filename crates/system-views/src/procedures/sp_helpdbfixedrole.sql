    @rolename sysname = NULL
AS
SET NOCOUNT ON
DECLARE @fixed TABLE (name sysname, description nvarchar(70))
INSERT @fixed VALUES ('db_owner', 'DB Owners'), ('db_accessadmin', 'DB Access Administrators'),
    ('db_securityadmin', 'DB Security Administrators'), ('db_ddladmin', 'DB DDL Administrators'),
    ('db_backupoperator', 'DB Backup Operator'), ('db_datareader', 'DB Data Reader'),
    ('db_datawriter', 'DB Data Writer'), ('db_denydatareader', 'DB Deny Data Reader'),
    ('db_denydatawriter', 'DB Deny Data Writer')
IF @rolename IS NOT NULL AND NOT EXISTS (SELECT 1 FROM @fixed WHERE name = @rolename)
BEGIN
    RAISERROR(15412, -1, -1, @rolename)
    RETURN 1
END
SELECT f.name AS DbFixedRole, f.description AS Description
FROM @fixed AS f JOIN sys.database_principals AS p ON p.name = f.name
WHERE @rolename IS NULL OR f.name = @rolename
ORDER BY p.principal_id
RETURN 0
