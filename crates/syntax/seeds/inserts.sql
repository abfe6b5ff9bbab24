-- A table of the insert tests, its procedure, and what surrounds a run.
CREATE DATABASE [bench] ON PRIMARY (NAME = N'bench', FILENAME = 'bench.mdf', SIZE = 64MB, MAXSIZE = UNLIMITED, FILEGROWTH = 10%),
   FILEGROUP [FG_01] DEFAULT (NAME = f1, FILENAME = 'f1.ndf', SIZE = 1 GB, FILEGROWTH = 64MB), (NAME = f2, FILENAME = 'f2.ndf')
   LOG ON (NAME = bench_log, FILENAME = 'bench.ldf', SIZE = 1024)
   COLLATE SQL_Latin1_General_CP1_CI_AS
ALTER DATABASE bench SET DELAYED_DURABILITY = FORCED WITH NO_WAIT;
ALTER DATABASE [bench] SET RECOVERY SIMPLE, READ_COMMITTED_SNAPSHOT ON WITH ROLLBACK IMMEDIATE
ALTER DATABASE bench ADD FILEGROUP FG_02
ALTER DATABASE bench ADD FILE (NAME = n, FILENAME = 'n.ndf') TO FILEGROUP FG_02
GO
USE bench
GO
IF OBJECT_ID('dbo.Events', 'U') IS NOT NULL DROP TABLE dbo.Events
CREATE TABLE [dbo].[Events](
	[k] [bigint] NOT NULL,
	[at] [datetime] NULL CONSTRAINT [DF_at] DEFAULT (getdate()),
	[pad] [char](111) NULL CONSTRAINT [DF_pad] DEFAULT ('a'),
	[n1] [int] NULL DEFAULT ((1)),
	[n2] [int] NULL DEFAULT 2,
	[n3] [bigint] NULL DEFAULT -42
 ,CONSTRAINT [PK_Events] PRIMARY KEY CLUSTERED ([k] ASC)
   WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON) ON [FG_01]
) ON [FG_01]
GO
TRUNCATE TABLE dbo.Events;
WITH r4 AS (SELECT n FROM (VALUES(0),(0),(0),(0)) t(n))
    ,r256 AS (SELECT 0 AS n FROM r4 AS a CROSS JOIN r4 AS b CROSS JOIN r4 AS c CROSS JOIN r4 AS d)
    ,r16M AS (SELECT ROW_NUMBER() OVER (ORDER BY (a.n)) AS num FROM r256 AS a CROSS JOIN r256 AS b CROSS JOIN r256 AS c)
INSERT INTO dbo.Events WITH TABLOCKX
SELECT CAST(CRYPT_GEN_RANDOM(8) AS BIGINT), GETDATE(), 'a', 1, 2, 42
FROM r16M;
CHECKPOINT
BACKUP LOG TO DISK = 'NUL:'
BACKUP LOG [bench] TO DISK='NUL:' WITH INIT, COMPRESSION
DBCC SQLPERF("sys.dm_os_wait_stats"    , clear)
DBCC SQLPERF('sys.dm_os_spinlock_stats', CLEAR) WITH NO_INFOMSGS
DBCC DROPCLEANBUFFERS
GO
CREATE PROCEDURE [dbo].[usp_Singles]
     @BatchSize    int = 1
    ,@RowsToInsert int = 2000000
AS
BEGIN
    SET NOCOUNT ON;
    DECLARE  @i    INTEGER = 0
            ,@base BIGINT  = @@SPID * 10000000000;
    WHILE @i < @RowsToInsert
    BEGIN
        BEGIN TRANSACTION
            INSERT INTO dbo.Events (k) VALUES (@base + @i);
        COMMIT;
        SET @i += 1;
    END;
END;
GO
CREATE OR ALTER PROC dbo.usp_Pairs (@rows int = 10, @done bigint = NULL OUTPUT) WITH RECOMPILE AS
  DECLARE @i int = 0, @k bigint = 0, @base bigint = @@SPID * 10000000000
  WHILE @i < @rows BEGIN
    INSERT INTO dbo.Events (k) VALUES (@base + @k), (@base + @k + 1)
    SET @k += 2
    SELECT @i = @i + 2
    IF @i % 1000 = 998 BEGIN COMMIT TRAN BEGIN TRAN END ELSE CONTINUE
  END
  RETURN 0
GO
EXEC dbo.usp_Singles @RowsToInsert = 10, @BatchSize = DEFAULT
EXECUTE usp_Pairs 10
DECLARE @rc int, @out bigint EXEC @rc = dbo.usp_Pairs 5, @done = @out OUTPUT
INSERT dbo.Events DEFAULT VALUES
COMMIT TRANSACTION WITH (DELAYED_DURABILITY = ON)
GO 3
