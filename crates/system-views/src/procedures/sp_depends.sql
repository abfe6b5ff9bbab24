    @objname nvarchar(776)
AS
DECLARE @id int = OBJECT_ID(@objname), @database sysname = DB_NAME(), @found bit = 0
IF PARSENAME(@objname, 3) IS NOT NULL AND PARSENAME(@objname, 3) <> @database
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
IF @id IS NULL OR @id < 0
BEGIN
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
IF EXISTS (SELECT 1 FROM sys.sql_dependencies WHERE object_id = @id AND class < 2 AND referenced_major_id <> @id)
BEGIN
    SET @found = 1
    RAISERROR(15459, -1, -1)
    SELECT CAST(s.name + N'.' + o.name AS nvarchar(257)) AS name,
        CAST(LOWER(REPLACE(REPLACE(o.type_desc, N'SQL_', N''), N'_', N' ')) AS nvarchar(60)) AS type,
        CAST(CASE WHEN MAX(CAST(d.is_updated AS int)) = 1 THEN 'yes' ELSE 'no' END AS varchar(7)) AS updated,
        CAST(CASE WHEN MAX(CAST(d.is_selected AS int)) = 1 THEN 'yes' ELSE 'no' END AS varchar(8)) AS selected,
        CAST(COL_NAME(d.referenced_major_id, d.referenced_minor_id) AS sysname) AS [column]
    FROM sys.sql_dependencies AS d JOIN sys.objects AS o ON o.object_id = d.referenced_major_id
        JOIN sys.schemas AS s ON s.schema_id = o.schema_id
    WHERE d.object_id = @id AND d.class < 2 AND d.referenced_major_id <> @id
    GROUP BY s.name, o.name, o.type_desc, d.referenced_major_id, d.referenced_minor_id
    ORDER BY 1, 5
END
IF EXISTS (SELECT 1 FROM sys.sql_dependencies WHERE referenced_major_id = @id AND class < 2 AND object_id <> @id)
BEGIN
    SET @found = 1
    RAISERROR(15460, -1, -1)
    SELECT DISTINCT CAST(s.name + N'.' + o.name AS nvarchar(257)) AS name,
        CAST(LOWER(REPLACE(REPLACE(o.type_desc, N'SQL_', N''), N'_', N' ')) AS nvarchar(60)) AS type
    FROM sys.sql_dependencies AS d JOIN sys.objects AS o ON o.object_id = d.object_id
        JOIN sys.schemas AS s ON s.schema_id = o.schema_id
    WHERE d.referenced_major_id = @id AND d.class < 2 AND d.object_id <> @id
    ORDER BY 1
END
IF @found = 0 RAISERROR(15461, -1, -1)
RETURN 0
