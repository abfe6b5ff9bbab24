    @optname sysname = NULL
AS
SELECT CAST(v.id AS int) AS [Index], CAST(v.name AS sysname) AS Name, CAST(v.number AS int) AS Internal_Value,
    CAST(v.value AS nvarchar(256)) AS Character_Value
FROM (
    SELECT 1 AS id, N'ProductName' AS name, NULL AS number, N'Microsoft SQL Server' AS value
    UNION ALL SELECT 2, N'ProductVersion', 1048576, CAST(SERVERPROPERTY('ProductVersion') AS nvarchar(256))
    UNION ALL SELECT 3, N'Language', 1033, N'English (United States)'
    UNION ALL SELECT 4, N'Platform', NULL, host_architecture FROM sys.dm_os_host_info
    UNION ALL SELECT 5, N'Comments', NULL, N'Millrace'
    UNION ALL SELECT 15, N'WindowsVersion', NULL, host_platform FROM sys.dm_os_host_info
    UNION ALL SELECT 16, N'ProcessorCount', cpu_count, CAST(cpu_count AS nvarchar(256)) FROM sys.dm_os_sys_info
    UNION ALL SELECT 19, N'PhysicalMemory', CAST(physical_memory_kb / 1024 AS int),
        CAST(physical_memory_kb / 1024 AS nvarchar(20)) + N' (' + CAST(physical_memory_kb * 1024 AS nvarchar(20)) + N')' FROM sys.dm_os_sys_info
) AS v
WHERE @optname IS NULL OR v.name = @optname
ORDER BY 1
