    @objname nvarchar(776)
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
IF NOT EXISTS (SELECT 1 FROM sys.spt_index_keys WHERE object_id = @id)
BEGIN
    RAISERROR(15472, -1, -1, @objname)
    RETURN 0
END
SELECT index_name, index_description, index_keys FROM sys.spt_index_keys WHERE object_id = @id ORDER BY index_name
RETURN 0
