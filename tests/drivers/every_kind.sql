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
EXEC sp_bindrule 'dbo.positive', 'dbo.amount', 'futureonly';
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
ALTER DATABASE CURRENT ADD FILEGROUP archive;
GO
ALTER DATABASE CURRENT ADD FILE (NAME = drv_archive, FILENAME = 'drv_scripted_archive.ndf', SIZE = 8MB, MAXSIZE = 256MB, FILEGROWTH = 8MB) TO FILEGROUP archive;
GO
ALTER DATABASE CURRENT ADD FILEGROUP in_memory CONTAINS MEMORY_OPTIMIZED_DATA;
GO
ALTER DATABASE CURRENT ADD FILE (NAME = drv_in_memory, FILENAME = 'drv_scripted_in_memory') TO FILEGROUP in_memory;
GO
ALTER DATABASE CURRENT SET CHANGE_TRACKING = ON (CHANGE_RETENTION = 3 DAYS, AUTO_CLEANUP = ON);
GO
CREATE APPLICATION ROLE till WITH PASSWORD = 'Str0ng-enough', DEFAULT_SCHEMA = sales;
GO
GRANT SELECT ON SCHEMA::sales TO till;
GO
CREATE XML SCHEMA COLLECTION sales.forms AS N'<xsd:schema xmlns:xsd="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:form" xmlns="urn:form" elementFormDefault="qualified"><xsd:element name="form"><xsd:complexType><xsd:sequence><xsd:element name="line" type="xsd:string" minOccurs="0" maxOccurs="unbounded"/></xsd:sequence><xsd:attribute name="n" type="xsd:int"/></xsd:complexType></xsd:element></xsd:schema>';
GO
GRANT REFERENCES ON XML SCHEMA COLLECTION::sales.forms TO clerks;
GO
CREATE TABLE sales.papers (id int NOT NULL CONSTRAINT pk_papers PRIMARY KEY CLUSTERED, form xml(DOCUMENT sales.forms) NULL, part xml(CONTENT sales.forms) NULL, loose xml NULL, place geography NULL, outline geometry NULL, node hierarchyid NULL,
  body nvarchar(max) NULL, kind varchar(8) NULL, document varbinary(max) NULL, level AS (node.GetLevel()) PERSISTED);
GO
CREATE PRIMARY XML INDEX xml_loose ON sales.papers (loose);
GO
CREATE XML INDEX xml_paths ON sales.papers (loose) USING XML INDEX xml_loose FOR PATH WITH (ALLOW_PAGE_LOCKS = OFF);
GO
CREATE XML INDEX xml_values ON sales.papers (loose) USING XML INDEX xml_loose FOR VALUE;
GO
CREATE XML INDEX xml_properties ON sales.papers (loose) USING XML INDEX xml_loose FOR PROPERTY;
GO
CREATE SPATIAL INDEX by_place ON sales.papers (place) USING GEOGRAPHY_GRID WITH (GRIDS = (LEVEL_1 = MEDIUM, LEVEL_2 = LOW, LEVEL_3 = HIGH, LEVEL_4 = MEDIUM), CELLS_PER_OBJECT = 16);
GO
CREATE SPATIAL INDEX by_outline ON sales.papers (outline) USING GEOMETRY_GRID WITH (BOUNDING_BOX = (0, -10, 500, 200.5), GRIDS = (LOW, LOW, MEDIUM, HIGH), CELLS_PER_OBJECT = 12, PAD_INDEX = ON, FILLFACTOR = 90);
GO
CREATE FULLTEXT CATALOG words WITH ACCENT_SENSITIVITY = OFF AS DEFAULT;
GO
CREATE FULLTEXT CATALOG other_words;
GO
CREATE FULLTEXT INDEX ON sales.papers (body LANGUAGE 1033, document TYPE COLUMN kind LANGUAGE 1031) KEY INDEX pk_papers ON words WITH (CHANGE_TRACKING = MANUAL, STOPLIST = OFF);
GO
ALTER TABLE sales.papers ENABLE CHANGE_TRACKING WITH (TRACK_COLUMNS_UPDATED = ON);
GO
ALTER TABLE sales.customers ENABLE CHANGE_TRACKING;
GO
CREATE VIEW sales.totals_of_customers WITH SCHEMABINDING AS
SELECT customer, COUNT_BIG(*) AS n, SUM(total) AS total FROM sales.orders GROUP BY customer;
GO
CREATE UNIQUE CLUSTERED INDEX by_customer ON sales.totals_of_customers (customer) WITH (FILLFACTOR = 75);
GO
CREATE NONCLUSTERED INDEX by_total ON sales.totals_of_customers (total DESC) INCLUDE (n);
GO
CREATE TABLE dbo.archived (id int NOT NULL CONSTRAINT pk_archived PRIMARY KEY NONCLUSTERED ON archive, day date NOT NULL, body nvarchar(max) NULL) ON archive TEXTIMAGE_ON [PRIMARY];
GO
CREATE CLUSTERED INDEX by_day ON dbo.archived (day) ON years (day);
GO
CREATE TABLE dbo.halves (id int NOT NULL, day date NOT NULL, INDEX by_id UNIQUE CLUSTERED (id, day), INDEX recent NONCLUSTERED (day) WHERE ([day] >= '2024-01-01'));
GO
CREATE TABLE sales.carts (id int IDENTITY(1,1) NOT NULL CONSTRAINT pk_carts PRIMARY KEY NONCLUSTERED HASH WITH (BUCKET_COUNT = 1024), who nvarchar(40) COLLATE Latin1_General_100_BIN2 NOT NULL, made datetime2(3) NOT NULL CONSTRAINT df_made DEFAULT (SYSUTCDATETIME()), total decimal(19,4) NULL CONSTRAINT ck_total CHECK (total >= 0),
  INDEX by_who NONCLUSTERED (who, made DESC), INDEX by_hash HASH (who) WITH (BUCKET_COUNT = 2048), CONSTRAINT uq_carts UNIQUE NONCLUSTERED (who, id)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
GO
CREATE TABLE sales.cart_lines (cart int NOT NULL CONSTRAINT fk_cart FOREIGN KEY REFERENCES sales.carts (id), line int NOT NULL, what nvarchar(max) NULL, CONSTRAINT pk_cart_lines PRIMARY KEY NONCLUSTERED (cart, line)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA);
GO
CREATE TABLE dbo.passing (id uniqueidentifier NOT NULL PRIMARY KEY NONCLUSTERED, v varbinary(100) NULL) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_ONLY);
GO
CREATE TABLE sales.prices (id int NOT NULL CONSTRAINT pk_prices PRIMARY KEY NONCLUSTERED, price money NOT NULL, began datetime2 GENERATED ALWAYS AS ROW START NOT NULL, ended datetime2 GENERATED ALWAYS AS ROW END NOT NULL, PERIOD FOR SYSTEM_TIME (began, ended)) WITH (MEMORY_OPTIMIZED = ON, DURABILITY = SCHEMA_AND_DATA, SYSTEM_VERSIONING = ON (HISTORY_TABLE = sales.prices_before));
GO
CREATE TYPE sales.picked AS TABLE (line int NOT NULL, what nvarchar(40) NULL, PRIMARY KEY NONCLUSTERED HASH (line) WITH (BUCKET_COUNT = 64), INDEX by_what (what)) WITH (MEMORY_OPTIMIZED = ON);
GO
CREATE PROCEDURE sales.add_cart @who nvarchar(40), @id int OUTPUT WITH NATIVE_COMPILATION, SCHEMABINDING, EXECUTE AS OWNER AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
  INSERT sales.carts (who) VALUES (@who);
  SET @id = SCOPE_IDENTITY();
END
GO
CREATE FUNCTION sales.with_tax (@total decimal(19,4)) RETURNS decimal(19,4) WITH NATIVE_COMPILATION, SCHEMABINDING AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
  RETURN @total * 1.21;
END
GO
CREATE TRIGGER sales.watch_carts ON sales.carts WITH NATIVE_COMPILATION, SCHEMABINDING AFTER INSERT AS
BEGIN ATOMIC WITH (TRANSACTION ISOLATION LEVEL = SNAPSHOT, LANGUAGE = N'us_english')
  DECLARE @n int = 1;
END
GO
EXEC sp_settriggerorder 'sales.watch', 'First', 'INSERT';
GO
CREATE USER drv_of_login FOR LOGIN drv_scripted_login;
GO
ALTER AUTHORIZATION ON SCHEMA::[odd name] TO clerks;
GO
CREATE TYPE sales.checked_code FROM varchar(10) NULL;
GO
CREATE SYNONYM sales.far FOR master.dbo.spt_values;
GO
ALTER DATABASE SCOPED CONFIGURATION SET MAXDOP = 2;
GO
EXEC sp_addextendedproperty N'MS_Description', N'forms', N'SCHEMA', N'sales', N'XML SCHEMA COLLECTION', N'forms';
EXEC sp_addextendedproperty N'MS_Description', N'numbers', N'SCHEMA', N'sales', N'SEQUENCE', N'numbers';
EXEC sp_addextendedproperty N'MS_Description', N'a synonym', N'SCHEMA', N'dbo', N'SYNONYM', N'o';
EXEC sp_addextendedproperty N'MS_Description', N'a function of partitions', N'PARTITION FUNCTION', N'by_year';
EXEC sp_addextendedproperty N'MS_Description', N'a scheme of partitions', N'PARTITION SCHEME', N'years';
EXEC sp_addextendedproperty N'MS_Description', N'a function', N'SCHEMA', N'sales', N'FUNCTION', N'discount';
EXEC sp_addextendedproperty N'MS_Description', N'lines', N'SCHEMA', N'sales', N'TYPE', N'lines';
EXEC sp_addextendedproperty N'MS_Description', N'a rule', N'SCHEMA', N'dbo', N'RULE', N'positive';
EXEC sp_addextendedproperty N'MS_Description', N'a trigger of the database', N'TRIGGER', N'no_drops';
GO
