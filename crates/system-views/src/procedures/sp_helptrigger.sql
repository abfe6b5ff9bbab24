    @tabname nvarchar(776),
    @triggertype char(6) = NULL
AS
IF PARSENAME(@tabname, 3) <> DB_NAME()
BEGIN
    RAISERROR(15250, -1, -1)
    RETURN 1
END
DECLARE @id int = OBJECT_ID(@tabname)
IF @id IS NULL
BEGIN
    DECLARE @database sysname = DB_NAME()
    RAISERROR(15009, -1, -1, @tabname, @database)
    RETURN 1
END
SELECT t.name AS trigger_name, CAST(USER_NAME(1) AS sysname) AS trigger_owner,
    CAST(MAX(CASE e.type WHEN 2 THEN 1 ELSE 0 END) AS int) AS isupdate,
    CAST(MAX(CASE e.type WHEN 3 THEN 1 ELSE 0 END) AS int) AS isdelete,
    CAST(MAX(CASE e.type WHEN 1 THEN 1 ELSE 0 END) AS int) AS isinsert,
    CAST(CASE t.is_instead_of_trigger WHEN 0 THEN 1 ELSE 0 END AS int) AS isafter,
    CAST(t.is_instead_of_trigger AS int) AS isinsteadof,
    CAST(OBJECT_SCHEMA_NAME(t.object_id) AS sysname) AS trigger_schema
FROM sys.triggers t JOIN sys.trigger_events e ON e.object_id = t.object_id
WHERE t.parent_id = @id
GROUP BY t.name, t.object_id, t.is_instead_of_trigger
HAVING @triggertype IS NULL OR MAX(CASE WHEN e.type_desc = @triggertype THEN 1 ELSE 0 END) = 1
RETURN 0
