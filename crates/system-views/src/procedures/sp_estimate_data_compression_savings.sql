    @schema_name sysname,
    @object_name sysname,
    @index_id int,
    @partition_number int,
    @data_compression nvarchar(60) = NULL,
    @xml_compression bit = NULL
AS
DECLARE @id int = (SELECT object_id FROM sys.objects WHERE name = @object_name
    AND schema_id = CASE WHEN @schema_name IS NULL THEN SCHEMA_ID() ELSE SCHEMA_ID(@schema_name) END AND type IN ('U', 'V'))
IF @id IS NULL
BEGIN
    RAISERROR(15001, -1, -1, @object_name)
    RETURN 1
END
-- Rows are kept as they are under each setting.
SELECT @object_name AS [object_name], OBJECT_SCHEMA_NAME(@id) AS [schema_name], index_id, partition_number,
    kept AS [size_with_current_compression_setting(KB)], kept AS [size_with_requested_compression_setting(KB)],
    kept AS [sample_size_with_current_compression_setting(KB)], kept AS [sample_size_with_requested_compression_setting(KB)]
FROM (SELECT index_id, partition_number, used_page_count * 8 AS kept FROM sys.dm_db_partition_stats
    WHERE object_id = @id AND (@index_id IS NULL OR index_id = @index_id)
        AND (@partition_number IS NULL OR partition_number = @partition_number)) AS p
ORDER BY index_id, partition_number
RETURN 0
