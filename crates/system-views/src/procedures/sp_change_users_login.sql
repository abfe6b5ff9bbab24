    @Action varchar(10),
    @UserNamePattern sysname = NULL,
    @LoginName sysname = NULL,
    @Password sysname = NULL
AS
DECLARE @text nvarchar(1000), @user sysname, @linked int = 0, @made int = 0
SET @Action = UPPER(@Action)
IF @Action NOT IN ('REPORT', 'UPDATE_ONE', 'AUTO_FIX')
BEGIN
    RAISERROR(15286, -1, -1, @Action)
    RETURN 1
END
IF IS_MEMBER('db_owner') = 0
BEGIN
    RAISERROR(15247, -1, -1)
    RETURN 1
END
IF @Action = 'REPORT'
BEGIN
    SELECT name AS UserName, sid AS UserSID FROM sys.database_principals
    WHERE type = 'S' AND authentication_type = 1 AND principal_id > 4 AND SUSER_SNAME(sid) IS NULL
    ORDER BY name
    RETURN 0
END
SELECT @user = name FROM sys.database_principals WHERE name = @UserNamePattern AND type = 'S' AND authentication_type = 1 AND principal_id > 4
IF @user IS NULL
BEGIN
    RAISERROR(15291, -1, -1, 'User', @UserNamePattern)
    RETURN 1
END
IF @Action = 'UPDATE_ONE'
BEGIN
    IF @LoginName IS NULL OR SUSER_ID(@LoginName) IS NULL
    BEGIN
        RAISERROR(15291, -1, -1, 'Login', @LoginName)
        RETURN 1
    END
    SET @text = N'ALTER USER ' + QUOTENAME(@user) + N' WITH LOGIN = ' + QUOTENAME(@LoginName)
    EXEC (@text)
    IF @@ERROR <> 0 RETURN 1
    RETURN 0
END
IF SUSER_SNAME((SELECT sid FROM sys.database_principals WHERE name = @user)) IS NULL
BEGIN
    IF SUSER_ID(@user) IS NOT NULL
    BEGIN
        RAISERROR(15292, -1, -1, @user)
        SET @linked = 1
    END
    ELSE
    BEGIN
        IF @Password IS NULL
        BEGIN
            RAISERROR(15600, -1, -1, 'sys.sp_change_users_login')
            RETURN 1
        END
        RAISERROR(15293, -1, -1, @user)
        SET @text = N'CREATE LOGIN ' + QUOTENAME(@user) + N' WITH PASSWORD = N''' + REPLACE(@Password, N'''', N'''''') + N''''
        EXEC (@text)
        IF @@ERROR <> 0 RETURN 1
        SET @made = 1
    END
    SET @text = N'ALTER USER ' + QUOTENAME(@user) + N' WITH LOGIN = ' + QUOTENAME(@user)
    EXEC (@text)
    IF @@ERROR <> 0 RETURN 1
END
RAISERROR(15295, -1, -1, @linked)
RAISERROR(15294, -1, -1, @made)
RETURN 0
