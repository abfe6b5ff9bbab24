AS
SELECT d.name AS DATABASE_NAME, CAST(CASE WHEN SUM(CAST(f.size AS bigint)) * 8 <= 2147483647 THEN SUM(CAST(f.size AS bigint)) * 8 END AS int) AS DATABASE_SIZE, CAST(NULL AS varchar(254)) AS REMARKS
FROM sys.databases AS d JOIN sys.master_files AS f ON f.database_id = d.database_id
WHERE d.state = 0 AND HAS_DBACCESS(d.name) = 1
GROUP BY d.name
ORDER BY 1
