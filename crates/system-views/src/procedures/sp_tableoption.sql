    @TableNamePattern nvarchar(776),
    @OptionName varchar(35),
    @OptionValue varchar(12)
AS
-- How large values and locks are kept is the same whatever is said: options that the documentation has are accepted.
IF @TableNamePattern IS NULL OR NOT EXISTS (SELECT 1 FROM sys.tables WHERE object_id = OBJECT_ID(@TableNamePattern))
BEGIN
    RAISERROR(15388, -1, -1, @TableNamePattern)
    RETURN 1
END
DECLARE @option varchar(35) = LOWER(@OptionName), @value varchar(12) = LOWER(@OptionValue)
IF ISNULL(@option, '') NOT IN ('table lock on bulk load', 'insert row lock', 'text in row', 'large value types out of row', 'vardecimal storage format')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_tableoption')
    RETURN 1
END
IF @option = 'text in row'
BEGIN
    IF ISNULL(@value, '') NOT IN ('on', 'off', '0', '1', 'true', 'false') AND ISNULL(TRY_CAST(@value AS int), 0) NOT BETWEEN 24 AND 7000
    BEGIN
        RAISERROR(15112, -1, -1)
        RETURN 1
    END
END
ELSE IF ISNULL(@value, '') NOT IN ('on', 'off', '0', '1', 'true', 'false')
BEGIN
    RAISERROR(15600, -1, -1, N'sys.sp_tableoption')
    RETURN 1
END
RETURN 0
