    @procedure_name sysname,
    @group_number int = 1,
    @procedure_schema sysname = NULL,
    @parameter_name sysname = NULL
AS
-- What SqlCommandBuilder.DeriveParameters reads: MANAGED_DATA_TYPE is a SqlDbType, PARAMETER_TYPE an OLE DB direction.
DECLARE @id int = OBJECT_ID(ISNULL(QUOTENAME(@procedure_schema) + N'.', N'') + QUOTENAME(@procedure_name))
SELECT CAST(DB_NAME() AS sysname) AS PROCEDURE_CATALOG, CAST(SCHEMA_NAME(o.schema_id) AS sysname) AS PROCEDURE_SCHEMA,
    o.name AS PROCEDURE_NAME, CAST(p.name AS sysname) AS PARAMETER_NAME, CAST(p.place AS smallint) AS ORDINAL_POSITION,
    CAST(p.direction AS smallint) AS PARAMETER_TYPE, CAST(0 AS tinyint) AS PARAMETER_HASDEFAULT,
    CAST(NULL AS nvarchar(255)) AS PARAMETER_DEFAULT, CAST(CASE WHEN p.direction = 4 THEN 0 ELSE 1 END AS bit) AS IS_NULLABLE,
    CAST(CASE p.type_id
        WHEN 127 THEN 0 WHEN 173 THEN 1 WHEN 104 THEN 2 WHEN 175 THEN 3 WHEN 61 THEN 4 WHEN 106 THEN 5 WHEN 108 THEN 5 WHEN 62 THEN 6
        WHEN 34 THEN 7 WHEN 56 THEN 8 WHEN 60 THEN 9 WHEN 239 THEN 10 WHEN 99 THEN 11 WHEN 231 THEN 12 WHEN 59 THEN 13 WHEN 36 THEN 14
        WHEN 58 THEN 15 WHEN 52 THEN 16 WHEN 122 THEN 17 WHEN 35 THEN 18 WHEN 189 THEN 19 WHEN 48 THEN 20 WHEN 165 THEN 21
        WHEN 167 THEN 22 WHEN 98 THEN 23 WHEN 241 THEN 25 WHEN 240 THEN 29 WHEN 243 THEN 30 WHEN 40 THEN 31 WHEN 41 THEN 32
        WHEN 42 THEN 33 WHEN 43 THEN 34 END AS smallint) AS MANAGED_DATA_TYPE,
    CAST(CASE WHEN p.type_id IN (231, 239) AND p.max_length > 0 THEN p.max_length / 2
        WHEN p.type_id IN (165, 167, 173, 175, 231, 239) AND p.max_length >= 0 THEN p.max_length
        WHEN p.type_id IN (165, 167, 231, 241) THEN 0 END AS int) AS CHARACTER_MAXIMUM_LENGTH,
    CAST(CASE WHEN p.type_id IN (165, 167, 173, 175, 231, 239) AND p.max_length >= 0 THEN p.max_length
        WHEN p.type_id IN (165, 167, 231, 241) THEN 0 END AS int) AS CHARACTER_OCTET_LENGTH,
    CAST(CASE WHEN p.type_id IN (48, 52, 56, 59, 60, 62, 106, 108, 122, 127) THEN p.precision END AS smallint) AS NUMERIC_PRECISION,
    CAST(CASE WHEN p.type_id IN (48, 52, 56, 60, 106, 108, 122, 127) THEN p.scale END AS smallint) AS NUMERIC_SCALE,
    CAST(NULL AS nvarchar(255)) AS DESCRIPTION,
    CAST(CASE WHEN p.type_id = 243 THEN DB_NAME() END AS sysname) AS TYPE_CATALOG_NAME,
    CAST(CASE WHEN p.type_id = 243 THEN SCHEMA_NAME(t.schema_id) END AS sysname) AS TYPE_SCHEMA_NAME,
    CAST(CASE WHEN p.type_id = 243 THEN t.name ELSE TYPE_NAME(p.type_id) END AS sysname) AS TYPE_NAME,
    CAST(CASE WHEN p.type_id = 243 THEN t.name ELSE TYPE_NAME(p.type_id) END AS sysname) AS LOCAL_TYPE_NAME,
    CAST(NULL AS sysname) AS XML_CATALOGNAME, CAST(NULL AS sysname) AS XML_SCHEMANAME, CAST(NULL AS sysname) AS XML_SCHEMACOLLECTIONNAME,
    CAST(CASE WHEN p.type_id IN (41, 42, 43) THEN p.scale WHEN p.type_id = 61 THEN 3 WHEN p.type_id IN (40, 58) THEN 0 END AS int)
        AS SS_DATETIME_PRECISION
FROM sys.all_objects AS o
    CROSS APPLY (
        SELECT N'@RETURN_VALUE' AS name, 0 AS place, 4 AS direction, 56 AS type_id, 56 AS user_type_id, 4 AS max_length, 10 AS precision,
            0 AS scale
        WHERE o.type = 'P'
        UNION ALL
        SELECT CASE WHEN a.parameter_id = 0 THEN N'@RETURN_VALUE' ELSE a.name END, a.parameter_id,
            CASE WHEN a.parameter_id = 0 THEN 4 WHEN a.is_output = 1 THEN 2 ELSE 1 END, a.system_type_id, a.user_type_id, a.max_length,
            a.precision, a.scale
        FROM sys.all_parameters AS a WHERE a.object_id = @id
    ) AS p
    LEFT JOIN sys.types AS t ON t.user_type_id = p.user_type_id
WHERE o.object_id = @id AND o.type IN ('P', 'FN', 'IF', 'TF') AND (@group_number IS NULL OR @group_number IN (0, 1))
    AND (@parameter_name IS NULL OR p.name = @parameter_name)
ORDER BY p.place
