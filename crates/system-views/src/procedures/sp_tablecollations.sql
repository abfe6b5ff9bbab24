    @object nvarchar(4000)
AS
SELECT CAST(c.column_id AS int) AS colid, CAST(c.name AS sysname) AS name,
    CAST(COLLATIONPROPERTY(c.collation_name, 'tdscollation') AS binary(5)) AS tds_collation,
    CAST(c.collation_name AS sysname) AS collation
FROM sys.columns AS c
WHERE c.object_id = OBJECT_ID(@object) AND PARSENAME(@object, 3) IS NULL
UNION ALL
SELECT CAST(c.column_id AS int), CAST(c.name AS sysname),
    CAST(COLLATIONPROPERTY(c.collation_name, 'tdscollation') AS binary(5)), CAST(c.collation_name AS sysname)
FROM tempdb.sys.columns AS c
WHERE c.object_id = OBJECT_ID(N'tempdb..' + QUOTENAME(PARSENAME(@object, 1)))
    AND (PARSENAME(@object, 1) LIKE '#%' OR PARSENAME(@object, 3) = 'tempdb')
ORDER BY 1
