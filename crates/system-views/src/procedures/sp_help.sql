    @objname nvarchar(776) = NULL
AS
IF PARSENAME(@objname, 3) <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
IF @objname IS NULL
BEGIN
    SELECT o.name AS Name, CAST('dbo' AS sysname) AS Owner,
        CAST(CASE o.type WHEN 'U' THEN 'user table' WHEN 'V' THEN 'view' WHEN 'P' THEN 'stored procedure'
            WHEN 'PK' THEN 'primary key cns' WHEN 'D' THEN 'default (maybe cns)' ELSE LOWER(o.type_desc) END AS nvarchar(31)) AS Object_type
    FROM sys.all_objects AS o
    ORDER BY o.is_ms_shipped, 3 DESC, 1
    RETURN 0
END
DECLARE @id int = OBJECT_ID(@objname)
IF @id IS NULL
BEGIN
    -- It may be a type.
    IF TYPE_ID(@objname) IS NOT NULL
    BEGIN
        SELECT t.name AS Type_name, TYPE_NAME(t.system_type_id) AS Storage_type, t.max_length AS Length, t.precision AS Prec,
            t.scale AS Scale, CAST(CASE WHEN t.is_nullable = 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS Nullable,
            ISNULL(OBJECT_NAME(NULLIF(t.default_object_id, 0)), 'none') AS Default_name, ISNULL(OBJECT_NAME(NULLIF(t.rule_object_id, 0)), 'none') AS Rule_name, t.collation_name AS Collation
        FROM sys.types AS t WHERE t.user_type_id = TYPE_ID(@objname)
        RETURN 0
    END
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
SELECT o.name AS Name, CAST('dbo' AS sysname) AS Owner,
    CAST(CASE o.type WHEN 'U' THEN 'user table' WHEN 'V' THEN 'view' WHEN 'P' THEN 'stored procedure'
        WHEN 'D' THEN 'default (maybe cns)' ELSE LOWER(o.type_desc) END AS nvarchar(31)) AS Type,
    o.create_date AS Created_datetime
FROM sys.all_objects AS o WHERE o.object_id = @id
IF EXISTS (SELECT 1 FROM sys.all_columns WHERE object_id = @id)
BEGIN
    SELECT c.name AS Column_name, CAST(TYPE_NAME(c.user_type_id) AS sysname) AS Type,
        CAST(CASE WHEN c.is_computed = 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS Computed, CAST(c.max_length AS int) AS Length,
        CAST(CASE WHEN TYPE_NAME(c.system_type_id) IN ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'numeric', 'float', 'real', 'money', 'smallmoney', 'date', 'time', 'datetime2', 'datetimeoffset')
            THEN CAST(c.precision AS char(5)) ELSE '     ' END AS char(5)) AS Prec,
        CAST(CASE WHEN TYPE_NAME(c.system_type_id) IN ('tinyint', 'smallint', 'int', 'bigint', 'decimal', 'numeric', 'money', 'smallmoney', 'time', 'datetime2', 'datetimeoffset')
            THEN CAST(c.scale AS char(5)) ELSE '     ' END AS char(5)) AS Scale,
        CAST(CASE WHEN c.is_nullable = 1 THEN 'yes' ELSE 'no' END AS varchar(35)) AS Nullable,
        CAST(CASE WHEN c.system_type_id IN (165, 167, 173, 175) THEN 'no' ELSE '(n/a)' END AS varchar(35)) AS TrimTrailingBlanks,
        CAST(CASE WHEN c.system_type_id IN (165, 167, 173, 175) THEN CASE WHEN c.is_nullable = 1 THEN 'yes' ELSE 'no' END ELSE '(n/a)' END AS varchar(35)) AS FixedLenNullInSource,
        c.collation_name AS Collation
    FROM sys.all_columns AS c WHERE c.object_id = @id ORDER BY c.column_id
    IF EXISTS (SELECT 1 FROM sys.identity_columns WHERE object_id = @id)
        SELECT i.name AS [Identity], IDENT_SEED(@objname) AS Seed, IDENT_INCR(@objname) AS Increment, CAST(0 AS int) AS [Not For Replication]
        FROM sys.identity_columns AS i WHERE i.object_id = @id
    ELSE
        SELECT CAST('No identity column defined.' AS sysname) AS [Identity], CAST(NULL AS numeric(38, 0)) AS Seed,
            CAST(NULL AS numeric(38, 0)) AS Increment, CAST(NULL AS int) AS [Not For Replication]
    IF EXISTS (SELECT 1 FROM sys.columns WHERE object_id = @id AND is_rowguidcol = 1)
        SELECT c.name AS [RowGuidCol] FROM sys.columns AS c WHERE c.object_id = @id AND c.is_rowguidcol = 1
    ELSE
        SELECT CAST('No rowguidcol column defined.' AS sysname) AS [RowGuidCol]
    IF OBJECTPROPERTY(@id, 'IsTable') = 1
    BEGIN
        SELECT CAST(FILEGROUP_NAME(i.data_space_id) AS sysname) AS Data_located_on_filegroup FROM sys.indexes AS i WHERE i.object_id = @id AND i.index_id < 2
        EXEC sys.sp_helpindex @objname
        EXEC sys.sp_helpconstraint @objname, 'nomsg'
    END
END
IF EXISTS (SELECT 1 FROM sys.all_parameters WHERE object_id = @id)
    SELECT p.name AS Parameter_name, CAST(TYPE_NAME(p.user_type_id) AS sysname) AS Type, p.max_length AS Length,
        CAST(CASE WHEN p.system_type_id IN (165, 167, 173, 175) THEN p.max_length
            WHEN p.system_type_id IN (231, 239) AND p.max_length > 0 THEN p.max_length / 2
            WHEN p.system_type_id IN (231, 239) THEN p.max_length ELSE p.precision END AS int) AS Prec,
        CAST(CASE WHEN p.system_type_id IN (34, 35, 36, 59, 62, 98, 99, 104, 165, 167, 173, 175, 231, 239, 241) THEN NULL ELSE p.scale END AS int) AS Scale, p.parameter_id AS Param_order,
        CAST(CASE WHEN p.system_type_id IN (35, 99, 167, 175, 231, 239) THEN CAST(DATABASEPROPERTYEX(DB_NAME(), 'Collation') AS nvarchar(128)) ELSE NULL END AS sysname) AS Collation
    FROM sys.all_parameters AS p WHERE p.object_id = @id ORDER BY p.parameter_id
RETURN 0
