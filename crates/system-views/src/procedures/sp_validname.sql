    @name sysname,
    @raiserror bit = 1
AS
IF @name IS NULL
BEGIN
    IF @raiserror = 1 RAISERROR(15004, -1, -1)
    RETURN 1
END
IF @name = N'' OR CHARINDEX(NCHAR(0), @name COLLATE Latin1_General_BIN2) > 0 OR CHARINDEX(NCHAR(65535), @name COLLATE Latin1_General_BIN2) > 0
BEGIN
    IF @raiserror = 1 RAISERROR(15006, -1, -1, @name)
    RETURN 1
END
RETURN 0
