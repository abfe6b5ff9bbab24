set nocount on
truncate table facts
declare @i int = 1
declare @batch_size int = 100000
begin tran
while @i <= 50000000
begin
   insert into facts with (tablock) (config, users, name, kind, begun, filler)
   select 'node ' + right('0' + cast((@i % 40) as varchar(5)), 2),
          ((@i % 5) + 1) * 10,
          'task' + convert(varchar(10), @i % 3),
          case @i % 4 when 0 then 'read' when 1 then 'write' else 'mixed' end,
          dateadd(ms, @i * 3, '20110101'), replicate(' ', 100)
   if @i % @batch_size = 0
   begin
      commit tran
      begin tran
   end
   select @i = @i + 1
end
if @@TRANCOUNT > 0
   commit tran
create clustered index cix_facts on facts(begun)
drop table d_users
create table d_users (id int identity(1, 1) primary key, users int)
insert d_users(users) select distinct users from (select top 100000 users from facts with (nolock)) as v
if OBJECT_ID('dbo.dims') is not NULL
   drop table dbo.dims
select distinct * into dbo.dims from d_a, d_users, d_c
select COUNT(*) from (
   select id_a, id_b, COUNT(*) as n
     from facts t1 join dims t2 on t1.config = t2.config and t1.users = t2.users
      and t1.kind = t2.kind
    group by id_a, id_b
) v
option (maxdop 1)
GO
SELECT TOP (5) WITH TIES p.name, total = SUM(o.amount), 'n' = COUNT(DISTINCT o.id), AVG(o.amount) avg_amount,
  ROW_NUMBER() OVER (PARTITION BY p.region ORDER BY SUM(o.amount) DESC, p.name) rn
FROM dbo.People AS p
LEFT OUTER JOIN Orders o WITH (NOLOCK, INDEX(ix_o)) ON o.person = p.id AND o.at BETWEEN '20200101' AND GETDATE()
CROSS APPLY (SELECT TOP 1 x.v FROM X x WHERE x.id = p.id ORDER BY x.v DESC) AS latest(v)
WHERE p.name LIKE N'A%' ESCAPE '!' AND (p.age > 30 OR p.age IS NULL) AND NOT p.kind IN (1, 2, 3)
  AND EXISTS (SELECT 1 FROM T WHERE T.id = p.id) AND p.x <> ALL (SELECT y FROM U) AND p.c COLLATE Latin1_General_BIN = 'x'
GROUP BY p.name, p.region HAVING COUNT(*) > 1
ORDER BY 2 DESC, p.name ASC OFFSET 10 ROWS FETCH NEXT 5 ROWS ONLY OPTION (MAXDOP 1, RECOMPILE, USE HINT ('X'))
UPDATE TOP (10) p SET p.age += 1, @n = name = 'x', b = DEFAULT OUTPUT deleted.age, inserted.* INTO @log (a, b) FROM People p JOIN Q ON Q.id = p.id WHERE p.id = 1
DELETE FROM People WHERE id = ~1 | 0x0F & $1.50 ^ 1e3
;WITH x (a) AS (SELECT 1 UNION ALL SELECT a + 1 FROM x WHERE a < 10), y AS (SELECT 2 b) SELECT * FROM x, y;
(SELECT 1 EXCEPT SELECT 2) UNION SELECT 3 INTERSECT SELECT 4
BEGIN TRY
  SAVE TRAN s1; ROLLBACK TRAN s1
  RAISERROR('bad %d', 16, 1, @i) WITH NOWAIT
END TRY
BEGIN CATCH
  SELECT ERROR_NUMBER() AS n; THROW
END CATCH
again:
WAITFOR DELAY '00:00:01'
PRINT 'x' + CAST(@@ROWCOUNT AS nvarchar(max))
IF 1 = 1 GOTO again
SET TRANSACTION ISOLATION LEVEL READ COMMITTED SET LOCK_TIMEOUT -1 SET STATISTICS IO, TIME ON SET IDENTITY_INSERT dbo.T OFF
EXEC ('select ' + @x) EXEC sp_configure 'x', 1 RECONFIGURE WITH OVERRIDE
ALTER TABLE t ADD c int NULL, CONSTRAINT d DEFAULT (1) FOR b
ALTER TABLE t ALTER COLUMN c varchar(10) NOT NULL ALTER TABLE t DROP COLUMN IF EXISTS c, CONSTRAINT d
ALTER TABLE t SET (LOCK_ESCALATION = DISABLE)
GRANT SELECT ON t TO public
KILL 52
