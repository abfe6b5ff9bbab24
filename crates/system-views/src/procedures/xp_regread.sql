    @rootkey nvarchar(128),
    @key nvarchar(4000),
    @value_name nvarchar(4000) = NULL,
    @value nvarchar(4000) = NULL OUTPUT,
    @no_output varchar(20) = NULL
AS
-- There is no registry: no key is there.
SET @value = NULL
IF @no_output IS NULL
    RAISERROR(22001, 1, 1, N'RegOpenKeyEx()', N'2', N'The system cannot find the file specified.')
RETURN 1
