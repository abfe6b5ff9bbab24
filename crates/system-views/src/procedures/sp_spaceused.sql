    @objname nvarchar(776) = NULL,
    @updateusage varchar(5) = 'false'
AS
IF PARSENAME(@objname, 3) <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
IF @objname IS NULL
BEGIN
    SELECT CAST(DB_NAME() AS nvarchar(128)) AS database_name, CAST(LTRIM(STR(SUM(CAST(size AS bigint)) / 128.0, 15, 2)) + ' MB' AS varchar(18)) AS database_size,
        CAST(LTRIM(STR((SELECT ISNULL(SUM(unallocated_extent_page_count), 0) FROM sys.dm_db_file_space_usage) / 128.0, 15, 2)) + ' MB' AS varchar(18)) AS [unallocated space]
    FROM sys.database_files
    SELECT CAST(LTRIM(STR(ISNULL(SUM(total_pages), 0) * 8, 15, 0)) + ' KB' AS varchar(18)) AS reserved,
        CAST(LTRIM(STR(ISNULL(SUM(data_pages), 0) * 8, 15, 0)) + ' KB' AS varchar(18)) AS data,
        CAST(LTRIM(STR(ISNULL(SUM(used_pages) - SUM(data_pages), 0) * 8, 15, 0)) + ' KB' AS varchar(18)) AS index_size,
        CAST(LTRIM(STR(ISNULL(SUM(total_pages) - SUM(used_pages), 0) * 8, 15, 0)) + ' KB' AS varchar(18)) AS unused
    FROM sys.allocation_units
    RETURN 0
END
DECLARE @id int = OBJECT_ID(@objname)
IF @id IS NULL
BEGIN
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @objname, @database)
    RETURN 1
END
SELECT CAST(OBJECT_NAME(@id) AS nvarchar(128)) AS name, CAST(SUM(CASE WHEN p.index_id <= 1 THEN p.rows ELSE 0 END) AS char(20)) AS rows,
    CAST(LTRIM(STR(SUM(a.total_pages) * 8, 15, 0)) + ' KB' AS varchar(18)) AS reserved,
    CAST(LTRIM(STR(SUM(CASE WHEN p.index_id <= 1 THEN a.data_pages ELSE 0 END) * 8, 15, 0)) + ' KB' AS varchar(18)) AS data,
    CAST(LTRIM(STR(SUM(CASE WHEN p.index_id <= 1 THEN a.used_pages - a.data_pages ELSE a.used_pages END) * 8, 15, 0)) + ' KB' AS varchar(18)) AS index_size,
    CAST(LTRIM(STR(SUM(a.total_pages - a.used_pages) * 8, 15, 0)) + ' KB' AS varchar(18)) AS unused
FROM sys.partitions AS p JOIN sys.allocation_units AS a ON a.container_id = p.hobt_id
WHERE p.object_id = @id
RETURN 0
