    @dbname sysname,
    @filename1 nvarchar(260),
    @filename2 nvarchar(260) = NULL, @filename3 nvarchar(260) = NULL, @filename4 nvarchar(260) = NULL,
    @filename5 nvarchar(260) = NULL, @filename6 nvarchar(260) = NULL, @filename7 nvarchar(260) = NULL,
    @filename8 nvarchar(260) = NULL, @filename9 nvarchar(260) = NULL, @filename10 nvarchar(260) = NULL,
    @filename11 nvarchar(260) = NULL, @filename12 nvarchar(260) = NULL, @filename13 nvarchar(260) = NULL,
    @filename14 nvarchar(260) = NULL, @filename15 nvarchar(260) = NULL, @filename16 nvarchar(260) = NULL
AS
DECLARE @text nvarchar(max), @files nvarchar(max)
SELECT @files = STRING_AGG(CAST(N'(FILENAME = N''' + REPLACE(f, N'''', N'''''') + N''')' AS nvarchar(max)), N', ') WITHIN GROUP (ORDER BY n)
FROM (VALUES (1, @filename1), (2, @filename2), (3, @filename3), (4, @filename4), (5, @filename5), (6, @filename6),
    (7, @filename7), (8, @filename8), (9, @filename9), (10, @filename10), (11, @filename11), (12, @filename12),
    (13, @filename13), (14, @filename14), (15, @filename15), (16, @filename16)) AS v (n, f)
WHERE f IS NOT NULL
SET @text = N'CREATE DATABASE ' + QUOTENAME(@dbname) + N' ON ' + @files + N' FOR ATTACH'
EXEC (@text)
IF @@ERROR <> 0 RETURN 1
RETURN 0
