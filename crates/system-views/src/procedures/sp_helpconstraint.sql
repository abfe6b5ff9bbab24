    @objname nvarchar(776),
    @nomsg varchar(5) = 'msg'
AS
IF PARSENAME(@objname, 3) <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
DECLARE @id int = OBJECT_ID(@objname)
IF @id IS NULL
BEGIN
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
IF @nomsg <> 'nomsg'
    SELECT @objname AS [Object Name]
SELECT c.constraint_type, c.constraint_name, c.delete_action, c.update_action, c.status_enabled,
    CAST(CASE WHEN c.status_enabled = '(n/a)' THEN '(n/a)' ELSE 'Is_For_Replication' END AS varchar(19)) AS status_for_replication, c.constraint_keys
FROM (
    SELECT CAST(CASE k.type WHEN 'PK' THEN N'PRIMARY KEY' ELSE N'UNIQUE' END + CASE i.index_id WHEN 1 THEN N' (clustered)' ELSE N' (non-clustered)' END
            AS nvarchar(146)) AS constraint_type, k.name AS constraint_name,
        CAST('(n/a)' AS nvarchar(11)) AS delete_action, CAST('(n/a)' AS nvarchar(11)) AS update_action, CAST('(n/a)' AS varchar(8)) AS status_enabled,
        CAST(i.index_keys AS nvarchar(2126)) AS constraint_keys, k.name AS place, 1 AS line
    FROM sys.key_constraints AS k JOIN sys.spt_index_keys AS i ON i.object_id = k.parent_object_id AND i.index_id = k.unique_index_id
    WHERE k.parent_object_id = @id
    UNION ALL
    SELECT CAST(N'DEFAULT on column ' + COL_NAME(@id, d.parent_column_id) AS nvarchar(146)), d.name, '(n/a)', '(n/a)', '(n/a)',
        CAST(d.definition AS nvarchar(2126)), d.name, 1
    FROM sys.default_constraints AS d
    WHERE d.parent_object_id = @id
    UNION ALL
    SELECT CAST(N'DEFAULT on column ' + b.name + N' (bound with sp_bindefault)' AS nvarchar(146)), OBJECT_NAME(b.default_object_id), '(n/a)',
        '(n/a)', '(n/a)', CAST(OBJECT_DEFINITION(b.default_object_id) AS nvarchar(2126)), OBJECT_NAME(b.default_object_id), 1
    FROM sys.columns AS b
    WHERE b.object_id = @id AND OBJECTPROPERTY(b.default_object_id, 'IsDefault') = 1
    UNION ALL
    SELECT CAST(N'RULE on column ' + b.name + N' (bound with sp_bindrule)' AS nvarchar(146)), OBJECT_NAME(b.rule_object_id), '(n/a)', '(n/a)',
        '(n/a)', CAST(OBJECT_DEFINITION(b.rule_object_id) AS nvarchar(2126)), OBJECT_NAME(b.rule_object_id), 1
    FROM sys.columns AS b
    WHERE b.object_id = @id AND b.rule_object_id <> 0
    UNION ALL
    SELECT CAST(CASE k.parent_column_id WHEN 0 THEN N'CHECK Table Level ' ELSE N'CHECK on column ' + COL_NAME(@id, k.parent_column_id) END AS nvarchar(146)),
        k.name, '(n/a)', '(n/a)', CASE k.is_disabled WHEN 1 THEN 'Disabled' ELSE 'Enabled' END, CAST(k.definition AS nvarchar(2126)), k.name, 1
    FROM sys.check_constraints AS k
    WHERE k.parent_object_id = @id
    UNION ALL
    SELECT N'FOREIGN KEY', f.name, REPLACE(f.delete_referential_action_desc, '_', ' '), REPLACE(f.update_referential_action_desc, '_', ' '),
        CASE f.is_disabled WHEN 1 THEN 'Disabled' ELSE 'Enabled' END,
        t.constraint_keys, f.name, 1
    FROM sys.foreign_keys AS f JOIN sys.spt_foreign_keys AS t ON t.object_id = f.object_id
    WHERE f.parent_object_id = @id
    UNION ALL
    SELECT N' ', N' ', N' ', N' ', ' ',
        t.referenced_keys, f.name, 2
    FROM sys.foreign_keys AS f JOIN sys.spt_foreign_keys AS t ON t.object_id = f.object_id
    WHERE f.parent_object_id = @id
) AS c
ORDER BY c.place, c.line
IF @nomsg <> 'nomsg'
BEGIN
    IF EXISTS (SELECT 1 FROM sys.foreign_keys WHERE referenced_object_id = @id)
        SELECT DB_NAME() + '.' + OBJECT_SCHEMA_NAME(parent_object_id) + '.' + OBJECT_NAME(parent_object_id) + ': ' + name AS [Table is referenced by foreign key]
        FROM sys.foreign_keys WHERE referenced_object_id = @id ORDER BY 1
    ELSE
        PRINT 'No foreign keys reference table ''' + @objname + ''', or you do not have permissions on referencing tables.'
END
RETURN 0
