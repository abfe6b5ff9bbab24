-- One object of each kind that a script can hold; batches are parted by GO. The scenario `scripting` has SMO write it anew.
CREATE SCHEMA sales;
GO
CREATE SCHEMA [odd name] AUTHORIZATION dbo;
GO
CREATE ROLE clerks;
GO
CREATE ROLE leads AUTHORIZATION clerks;
GO
CREATE USER ann WITHOUT LOGIN WITH DEFAULT_SCHEMA = sales;
GO
CREATE USER [bob o'neil] WITHOUT LOGIN;
GO
ALTER ROLE clerks ADD MEMBER ann;
GO
ALTER ROLE db_datareader ADD MEMBER [bob o'neil];
GO
CREATE TYPE sales.code FROM varchar(12) NOT NULL;
GO
CREATE TYPE dbo.amount FROM decimal(19,4) NULL;
GO
CREATE TYPE sales.lines AS TABLE (id int NOT NULL IDENTITY(1,1) PRIMARY KEY, what nvarchar(40) COLLATE Latin1_General_CS_AS NULL DEFAULT (N'x'), price money NOT NULL CHECK (price >= 0), twice AS (price * 2), UNIQUE (what), INDEX by_price NONCLUSTERED (price));
GO
CREATE SEQUENCE sales.numbers AS bigint START WITH 100 INCREMENT BY 5 MINVALUE 100 MAXVALUE 100000 CYCLE CACHE 20;
GO
CREATE SEQUENCE dbo.plain_numbers AS int;
GO
CREATE RULE dbo.positive AS @value > 0;
GO
CREATE DEFAULT dbo.unknown AS 'unknown';
GO
CREATE PARTITION FUNCTION by_year (date) AS RANGE RIGHT FOR VALUES ('2023-01-01', '2024-01-01', '2025-01-01');
GO
CREATE PARTITION SCHEME years AS PARTITION by_year ALL TO ([PRIMARY]);
GO
CREATE TABLE sales.every_type (
  id int IDENTITY(10,3) NOT FOR REPLICATION NOT NULL CONSTRAINT pk_every_type PRIMARY KEY CLUSTERED WITH (FILLFACTOR = 80, PAD_INDEX = ON, ALLOW_ROW_LOCKS = OFF, OPTIMIZE_FOR_SEQUENTIAL_KEY = ON, DATA_COMPRESSION = PAGE),
  c_bit bit NULL, c_tinyint tinyint NULL, c_smallint smallint NULL, c_int int NULL, c_bigint bigint NULL,
  c_decimal decimal(38,10) NULL, c_numeric numeric(9,0) NULL, c_money money NULL, c_smallmoney smallmoney NULL, c_float float NULL, c_float24 float(24) NULL, c_real real NULL,
  c_date date NULL, c_time time(3) NULL, c_time7 time NULL, c_datetime datetime NULL, c_smalldatetime smalldatetime NULL, c_datetime2 datetime2(0) NULL, c_datetimeoffset datetimeoffset(5) NULL,
  c_char char(10) NULL, c_varchar varchar(8000) NULL, c_varcharmax varchar(max) NULL, c_nchar nchar(7) NULL, c_nvarchar nvarchar(4000) NULL, c_nvarcharmax nvarchar(max) NULL,
  c_binary binary(16) NULL, c_varbinary varbinary(300) NULL, c_varbinarymax varbinary(max) NULL, c_text text NULL, c_ntext ntext NULL, c_image image NULL,
  c_guid uniqueidentifier ROWGUIDCOL NOT NULL CONSTRAINT df_guid DEFAULT (NEWSEQUENTIALID()), c_xml xml NULL, c_variant sql_variant NULL, c_version rowversion NOT NULL, c_sysname sysname NOT NULL,
  c_code sales.code NOT NULL, c_amount dbo.amount NULL, c_collated nvarchar(20) COLLATE Japanese_CI_AS NOT NULL, c_sparse int SPARSE NULL, c_hidden varchar(20) MASKED WITH (FUNCTION = 'partial(1,"xx",1)') NULL,
  c_computed AS (c_int + 1), c_persisted AS (c_int * 2) PERSISTED, c_required AS (ISNULL(c_int, 0)) PERSISTED NOT NULL);
GO
CREATE TABLE sales.customers (
  id int NOT NULL CONSTRAINT df_customer DEFAULT (NEXT VALUE FOR sales.numbers), name nvarchar(100) NOT NULL, code sales.code NOT NULL CONSTRAINT uq_code UNIQUE NONCLUSTERED, region char(2) NULL CONSTRAINT df_region DEFAULT ('NL'),
  boss int NULL, born date NULL, since datetime2(7) NOT NULL CONSTRAINT df_since DEFAULT (SYSUTCDATETIME()),
  CONSTRAINT pk_customers PRIMARY KEY NONCLUSTERED (id), CONSTRAINT ck_name CHECK (LEN(name) > 1), CONSTRAINT ck_dates CHECK NOT FOR REPLICATION (born IS NULL OR born < since));
GO
CREATE CLUSTERED INDEX by_name ON sales.customers (name, region DESC);
GO
ALTER TABLE sales.customers ADD CONSTRAINT fk_boss FOREIGN KEY (boss) REFERENCES sales.customers (id);
GO
ALTER TABLE sales.customers NOCHECK CONSTRAINT ck_dates;
GO
CREATE TABLE sales.orders (
  id bigint NOT NULL, line smallint NOT NULL, customer int NULL CONSTRAINT df_nobody DEFAULT (0), placed date NOT NULL, total money NOT NULL, note nvarchar(max) NULL, paid bit NOT NULL CONSTRAINT df_paid DEFAULT (0),
  CONSTRAINT pk_orders PRIMARY KEY (id, line DESC), CONSTRAINT fk_customer FOREIGN KEY (customer) REFERENCES sales.customers (id) ON DELETE SET NULL ON UPDATE CASCADE);
GO
CREATE INDEX unpaid ON sales.orders (customer, placed DESC) INCLUDE (total, paid) WHERE ([paid] = (0) AND [total] > (10)) WITH (FILLFACTOR = 70, PAD_INDEX = ON, IGNORE_DUP_KEY = OFF, ALLOW_PAGE_LOCKS = OFF, STATISTICS_NORECOMPUTE = ON);
GO
CREATE UNIQUE INDEX once ON sales.orders (placed, id, line) WITH (IGNORE_DUP_KEY = ON);
GO
CREATE INDEX unused ON sales.orders (total) WITH (DATA_COMPRESSION = ROW);
GO
ALTER INDEX unused ON sales.orders DISABLE;
GO
CREATE STATISTICS of_totals ON sales.orders (total, placed);
GO
CREATE NONCLUSTERED COLUMNSTORE INDEX columns ON sales.orders (customer, placed, total);
GO
CREATE TABLE dbo.years_of_rows (id int NOT NULL, day date NOT NULL, amount dbo.amount, CONSTRAINT pk_years PRIMARY KEY (id, day)) ON years (day);
GO
CREATE TABLE dbo.plain_heap ([odd ]] column] int, [select] nvarchar(10)) WITH (DATA_COMPRESSION = PAGE);
GO
CREATE TABLE dbo.packed (id int NOT NULL, v int, INDEX cci CLUSTERED COLUMNSTORE);
GO
CREATE TABLE dbo.bound (n int NULL, what varchar(20) NULL);
GO
EXEC sp_bindrule 'dbo.positive', 'dbo.bound.n';
GO
EXEC sp_bindefault 'dbo.unknown', 'dbo.bound.what';
GO
CREATE TABLE dbo.versions (id int NOT NULL PRIMARY KEY, v nvarchar(20), began datetime2 GENERATED ALWAYS AS ROW START HIDDEN NOT NULL, ended datetime2 GENERATED ALWAYS AS ROW END HIDDEN NOT NULL, PERIOD FOR SYSTEM_TIME (began, ended)) WITH (SYSTEM_VERSIONING = ON (HISTORY_TABLE = dbo.versions_before));
GO
CREATE FUNCTION sales.discount (@total money, @share decimal(5,2) = 0.1) RETURNS money WITH SCHEMABINDING AS
BEGIN
  RETURN @total * (1 - @share);
END
GO
CREATE FUNCTION sales.orders_of (@customer int) RETURNS TABLE AS
RETURN (SELECT id, line, total FROM sales.orders WHERE customer = @customer);
GO
CREATE FUNCTION sales.totals (@from date) RETURNS @t TABLE (customer int NOT NULL PRIMARY KEY, total money NULL) WITH EXECUTE AS OWNER AS
BEGIN
  INSERT @t SELECT customer, SUM(total) FROM sales.orders WHERE placed >= @from AND customer IS NOT NULL GROUP BY customer;
  RETURN;
END
GO
CREATE VIEW sales.[open orders] WITH SCHEMABINDING AS
-- a comment of the view
SELECT o.id, o.line, c.name FROM sales.orders AS o JOIN sales.customers AS c ON c.id = o.customer WHERE o.paid = 0;
GO
CREATE VIEW dbo.checked AS SELECT id, name FROM sales.customers WHERE id > 0 WITH CHECK OPTION;
GO
CREATE PROCEDURE sales.place @customer int, @lines sales.lines READONLY, @id bigint OUTPUT, @note nvarchar(max) = N'none' AS
SET NOCOUNT ON;
SELECT @id = ISNULL(MAX(id), 0) + 1 FROM sales.orders;
INSERT sales.orders (id, line, customer, placed, total, note) SELECT @id, id, @customer, GETDATE(), price, @note FROM @lines;
GO
CREATE PROCEDURE dbo.calls_place WITH RECOMPILE, EXECUTE AS CALLER AS
DECLARE @l sales.lines, @id bigint;
EXEC sales.place 1, @l, @id OUTPUT;
GO
CREATE TRIGGER sales.watch ON sales.orders AFTER INSERT, UPDATE NOT FOR REPLICATION AS
IF UPDATE(total) PRINT 'changed';
GO
CREATE TRIGGER sales.instead_of ON sales.[open orders] INSTEAD OF DELETE AS
RETURN;
GO
DISABLE TRIGGER sales.watch ON sales.orders;
GO
CREATE TRIGGER no_drops ON DATABASE FOR DROP_TABLE, ALTER_TABLE AS
PRINT 'tables change';
GO
DISABLE TRIGGER no_drops ON DATABASE;
GO
CREATE SYNONYM dbo.o FOR sales.orders;
GO
CREATE FUNCTION dbo.visible (@owner int) RETURNS TABLE WITH SCHEMABINDING AS RETURN (SELECT 1 AS ok WHERE @owner > 0);
GO
CREATE SECURITY POLICY sales.guarded ADD FILTER PREDICATE dbo.visible(id) ON sales.customers, ADD BLOCK PREDICATE dbo.visible(id) ON sales.customers AFTER INSERT WITH (STATE = OFF);
GO
GRANT SELECT ON sales.customers TO clerks WITH GRANT OPTION;
GO
GRANT SELECT (name, code), UPDATE (name) ON sales.customers TO ann;
GO
DENY DELETE ON sales.orders TO clerks;
GO
GRANT EXECUTE ON SCHEMA::sales TO leads;
GO
GRANT EXECUTE ON sales.discount TO [bob o'neil];
GO
GRANT CREATE TABLE, VIEW DEFINITION TO ann;
GO
GRANT EXECUTE ON TYPE::sales.lines TO clerks;
GO
EXEC sp_addextendedproperty N'MS_Description', N'the database''s own';
EXEC sp_addextendedproperty N'MS_Description', N'customers of ours', N'SCHEMA', N'sales', N'TABLE', N'customers';
EXEC sp_addextendedproperty N'MS_Description', N'what they are called', N'SCHEMA', N'sales', N'TABLE', N'customers', N'COLUMN', N'name';
EXEC sp_addextendedproperty N'MS_Description', N'a schema', N'SCHEMA', N'sales';
EXEC sp_addextendedproperty N'MS_Description', N'an index', N'SCHEMA', N'sales', N'TABLE', N'orders', N'INDEX', N'unpaid';
EXEC sp_addextendedproperty N'MS_Description', N'a constraint', N'SCHEMA', N'sales', N'TABLE', N'customers', N'CONSTRAINT', N'ck_name';
EXEC sp_addextendedproperty N'MS_Description', N'a procedure', N'SCHEMA', N'sales', N'PROCEDURE', N'place';
EXEC sp_addextendedproperty N'MS_Description', N'a parameter', N'SCHEMA', N'sales', N'PROCEDURE', N'place', N'PARAMETER', N'@customer';
EXEC sp_addextendedproperty N'MS_Description', N'a view', N'SCHEMA', N'sales', N'VIEW', N'open orders';
EXEC sp_addextendedproperty N'MS_Description', N'a trigger', N'SCHEMA', N'sales', N'TABLE', N'orders', N'TRIGGER', N'watch';
EXEC sp_addextendedproperty N'MS_Description', N'a user', N'USER', N'ann';
EXEC sp_addextendedproperty N'MS_Description', N'a type', N'SCHEMA', N'sales', N'TYPE', N'code';
GO
