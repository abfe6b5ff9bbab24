    @objname nvarchar(776),
    @nomsg varchar(5) = 'msg'
AS
DECLARE @id int = OBJECT_ID(@objname)
IF @id IS NULL
BEGIN
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
IF @nomsg <> 'nomsg'
    SELECT @objname AS [Object Name]
SELECT c.constraint_type, c.constraint_name, CAST('(n/a)' AS nvarchar(9)) AS delete_action, CAST('(n/a)' AS nvarchar(9)) AS update_action,
    CAST('(n/a)' AS varchar(8)) AS status_enabled, CAST('(n/a)' AS varchar(19)) AS status_for_replication, c.constraint_keys
FROM (
    SELECT CAST(N'PRIMARY KEY (clustered)' AS nvarchar(146)) AS constraint_type, k.name AS constraint_name,
        CAST(i.index_keys AS nvarchar(2126)) AS constraint_keys
    FROM sys.key_constraints AS k JOIN sys.spt_index_keys AS i ON i.object_id = k.parent_object_id
    WHERE k.parent_object_id = @id
    UNION ALL
    SELECT CAST(N'DEFAULT on column ' + COL_NAME(@id, d.parent_column_id) AS nvarchar(146)), d.name, CAST(d.definition AS nvarchar(2126))
    FROM sys.default_constraints AS d
    WHERE d.parent_object_id = @id
) AS c
ORDER BY 1, 2
IF @nomsg <> 'nomsg'
    PRINT 'No foreign keys reference table ''' + @objname + ''', or you do not have permissions on referencing tables.'
RETURN 0
