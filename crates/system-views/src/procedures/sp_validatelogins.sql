AS
-- Windows logins that no longer exist: there are none of Windows here.
SELECT sid AS SID, name AS [NT Login] FROM sys.server_principals WHERE type IN ('U', 'G')
RETURN 0
