    @name nvarchar(776),
    @namespace nvarchar(20) = N'OBJECT'
AS
-- What a module's text says is looked up anew whenever something that it names has changed: there is nothing to refresh.
IF UPPER(ISNULL(@namespace, N'OBJECT')) NOT IN (N'OBJECT', N'DATABASE_DDL_TRIGGER', N'SERVER_DDL_TRIGGER')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_refreshsqlmodule')
    RETURN 1
END
IF UPPER(ISNULL(@namespace, N'OBJECT')) <> N'OBJECT' OR OBJECT_DEFINITION(OBJECT_ID(@name)) IS NULL
BEGIN
    RAISERROR(15165, -1, -1, @name)
    RETURN 1
END
IF OBJECTPROPERTY(OBJECT_ID(@name), 'IsView') = 1
BEGIN
    DECLARE @text nvarchar(800) = N'IF EXISTS (SELECT * FROM ' + QUOTENAME(OBJECT_SCHEMA_NAME(OBJECT_ID(@name))) + N'.'
        + QUOTENAME(OBJECT_NAME(OBJECT_ID(@name))) + N' WHERE 1 = 0) RETURN'
    EXEC (@text)
    IF @@ERROR <> 0 RETURN 1
END
RETURN 0
