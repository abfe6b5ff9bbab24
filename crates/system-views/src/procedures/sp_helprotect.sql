    @name nvarchar(776) = NULL,
    @username sysname = NULL,
    @grantorname sysname = NULL,
    @permissionarea varchar(10) = 'o s'
AS
DECLARE @area varchar(10) = LOWER(ISNULL(@permissionarea, 'o s'))
IF @area NOT LIKE '%[os]%'
BEGIN
    RAISERROR(15300, -1, -1, @permissionarea, 'o,s')
    RETURN 1
END
-- An object, or a statement (CREATE TABLE).
DECLARE @object int = OBJECT_ID(@name)
DECLARE @found TABLE (Owner sysname, Object sysname, Grantee sysname, Grantor sysname, ProtectType nvarchar(10), Action nvarchar(60), [Column] sysname)
SET NOCOUNT ON
INSERT @found
SELECT CASE p.class WHEN 1 THEN OBJECT_SCHEMA_NAME(p.major_id) ELSE N'.' END,
    CASE p.class WHEN 1 THEN OBJECT_NAME(p.major_id) ELSE N'.' END,
    USER_NAME(p.grantee_principal_id), USER_NAME(p.grantor_principal_id),
    CASE p.state WHEN 'D' THEN N'Deny' WHEN 'W' THEN N'Grant_WGO' ELSE N'Grant' END,
    CASE WHEN p.permission_name IN ('SELECT', 'INSERT', 'UPDATE', 'DELETE', 'EXECUTE', 'REFERENCES')
        THEN LEFT(p.permission_name, 1) + LOWER(SUBSTRING(p.permission_name, 2, 60)) ELSE p.permission_name END,
    CASE WHEN p.class <> 1 OR p.permission_name NOT IN ('SELECT', 'UPDATE', 'REFERENCES') OR OBJECTPROPERTY(p.major_id, 'IsProcedure') = 1 THEN N'.'
        WHEN p.minor_id <> 0 THEN COL_NAME(p.major_id, p.minor_id) ELSE N'(All+New)' END
FROM sys.database_permissions AS p
WHERE ((p.class = 1 AND @area LIKE '%o%') OR (p.class = 0 AND @area LIKE '%s%'))
    AND (@name IS NULL OR (p.class = 1 AND p.major_id = @object) OR (p.class = 0 AND p.permission_name = @name))
    AND (@username IS NULL OR USER_NAME(p.grantee_principal_id) = @username)
    AND (@grantorname IS NULL OR USER_NAME(p.grantor_principal_id) = @grantorname)
IF NOT EXISTS (SELECT 1 FROM @found)
BEGIN
    RAISERROR(15330, -1, -1)
    RETURN 1
END
SET NOCOUNT OFF
SELECT * FROM @found ORDER BY Owner, Object, Grantee, Grantor, ProtectType, Action, [Column]
RETURN 0
