// What only ADO.NET has: adapters with command builders, schema collections, TransactionScope, MARS, and the ways of the
// libraries on top (Dapper, EF 6, EF Core).

using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Linq;
using System.Threading.Tasks;
using System.Transactions;
using static Frame;

static partial class Suite
{
    static void Own(Dictionary<string, Action> scenarios)
    {
        scenarios["transaction-scope"] = Scopes;
        scenarios["data-adapter"] = DataAdapter;
        scenarios["schema-collections"] = SchemaCollections;
        scenarios["key-information"] = KeyInformation;
        scenarios["mappers"] = Mappers;
        scenarios["async"] = Async;
        scenarios["mars"] = Mars;
        scenarios["session-recovery"] = SessionRecovery;
        scenarios["password-change"] = PasswordChange;
        scenarios["random-rows"] = RandomRows;
        scenarios["scripting"] = Scripting;
    }

    static void Scopes()
    {
        var watcher = Opened("Enlist=false");
        Fixtures(watcher, "account");
        Func<object> Balance = () => Scalar(watcher, "SELECT balance FROM dbo.account WHERE id = 1");
        Action Add = () =>
        {
            using (var connection = new SqlConnection(Text(Database)))
            {
                connection.Open();
                Equal(Execute(connection, "UPDATE dbo.account SET balance = balance + @n WHERE id = 1", "@n", 1), 1, "rows");
                Equal(Scalar(connection, "SELECT @@TRANCOUNT"), 1, "@@TRANCOUNT");
            }
        };
        using (new TransactionScope()) Add();
        Equal(Balance(), 100.0000m, "a scope that was not completed");
        using (var scope = new TransactionScope())
        {
            // Twice: the pool hands out the connection of the transaction again.
            Add();
            Add();
            scope.Complete();
        }
        Equal(Balance(), 102.0000m, "a scope that was completed");
        using (var scope = new TransactionScope(TransactionScopeOption.Required, new TransactionOptions { IsolationLevel = System.Transactions.IsolationLevel.Snapshot }, TransactionScopeAsyncFlowOption.Enabled))
        {
            Execute(watcher, $"ALTER DATABASE {Database} SET ALLOW_SNAPSHOT_ISOLATION ON");
            using (var connection = new SqlConnection(Text(Database)))
            {
                connection.OpenAsync().Wait();
                Equal(Scalar(connection, "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"), 5, "the level of the scope");
            }
            scope.Complete();
        }
        using (var connection = new SqlConnection(Text(Database)))
        {
            connection.Open();
            Equal(Scalar(connection, "SELECT @@TRANCOUNT"), 0, "@@TRANCOUNT after the scopes");
        }
    }

    static void DataAdapter()
    {
        var connection = Opened();
        Execute(connection, "DROP TABLE IF EXISTS dbo.adapted; CREATE TABLE dbo.adapted (id int IDENTITY(1,1) NOT NULL CONSTRAINT pk_adapted PRIMARY KEY, name nvarchar(40) NULL, price decimal(9,2) NOT NULL, twice AS (price * 2), version rowversion NOT NULL)");
        Execute(connection, "INSERT dbo.adapted (name, price) VALUES (N'one', 1), (N'two', 2), (NULL, 3)");
        foreach (var option in new[] { ConflictOption.CompareAllSearchableValues, ConflictOption.CompareRowVersion, ConflictOption.OverwriteChanges }) Noting(option.ToString(), () =>
        {
            var table = new DataTable();
            using (var adapter = new SqlDataAdapter("SELECT id, name, price, twice, version FROM dbo.adapted ORDER BY id", connection))
            using (var builder = new SqlCommandBuilder(adapter) { ConflictOption = option })
            {
                adapter.MissingSchemaAction = MissingSchemaAction.AddWithKey;
                adapter.Fill(table);
                Equal(table.PrimaryKey.Select(c => c.ColumnName), new[] { "id" }, "the key");
                Equal(table.Columns.Cast<DataColumn>().Select(c => $"{c.ColumnName} {c.AutoIncrement} {c.ReadOnly} {c.AllowDBNull} {c.MaxLength}"),
                    new[] { "id True True False -1", "name False False True 40", "price False False False -1", "twice False True True -1", "version False True True -1" }, "columns");
                table.Rows[0]["name"] = $"by {option}";
                table.Rows[1]["price"] = 20.5m;
                table.Rows[2].Delete();
                var added = table.NewRow();
                added["name"] = "new";
                added["price"] = 4m;
                table.Rows.Add(added);
                Equal(adapter.Update(table), 4, "changes");
                if (option == ConflictOption.OverwriteChanges) return;
                // Changed by somebody else meanwhile.
                var other = new DataTable();
                adapter.Fill(other);
                Execute(connection, "UPDATE dbo.adapted SET price = price + 1");
                other.Rows[0]["name"] = "too late";
                try
                {
                    adapter.Update(other);
                    Check(false, "a lost update");
                }
                catch (DBConcurrencyException) { }
            }
        });
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.adapted"), 3, "rows");
    }

    static void KeyInformation()
    {
        var connection = Opened();
        Fixtures(connection, "family");
        Execute(connection, "DROP TABLE IF EXISTS dbo.plain; CREATE TABLE dbo.plain (k int NOT NULL UNIQUE, v nvarchar(10) NULL, t rowversion, c AS k + 1, x xml NULL)");
        Func<string, CommandBehavior, List<string>> Described = (sql, behaviour) =>
        {
            using (var reader = new SqlCommand(sql, connection).ExecuteReader(behaviour))
                return reader.GetSchemaTable().Rows.Cast<DataRow>().Select(r => $"{r["ColumnName"]}={Show(r["BaseSchemaName"])}.{Show(r["BaseTableName"])}.{Show(r["BaseColumnName"])}"
                    + string.Concat(new[] { "IsKey", "IsHidden", "IsExpression", "IsIdentity", "IsReadOnly", "IsRowVersion", "IsAliased" }.Where(f => r[f] is bool b && b).Select(f => " " + f))).ToList();
        };
        foreach (var behaviour in new[] { CommandBehavior.KeyInfo, CommandBehavior.KeyInfo | CommandBehavior.SchemaOnly })
        {
            Equal(Described("SELECT p.a AS x, p.c, p.a + 1 AS e FROM dbo.parent p", behaviour),
                new[] { "x=dbo.parent.a IsKey IsAliased", "c=dbo.parent.c", "e=null.null.e IsExpression IsReadOnly", "b=dbo.parent.b IsKey IsHidden" }, $"an alias, an expression, a hidden key, {behaviour}");
            Equal(Described("SELECT * FROM dbo.plain", behaviour),
                new[] { "k=dbo.plain.k IsKey", "v=dbo.plain.v", "t=dbo.plain.t IsReadOnly IsRowVersion", "c=dbo.plain.c IsReadOnly", "x=dbo.plain.x" }, $"a unique key, a rowversion, a computed column, {behaviour}");
            Equal(Described("SELECT COUNT(*) AS n FROM dbo.child", behaviour), new[] { "n=null.null.n IsExpression IsReadOnly" }, $"an aggregate, {behaviour}");
        }
        Equal(Described("SELECT id, name FROM dbo.child", CommandBehavior.SchemaOnly), new[] { "id=null.null.id IsIdentity IsReadOnly", "name=null.null.name" }, "without key information");
    }

    delegate string Names(string collection, string column, params string[] restrictions);

    static void SchemaCollections()
    {
        var connection = Opened();
        Fixtures(connection, "family", "id_list", "out_params");
        Execute(connection, "IF OBJECT_ID('dbo.seen') IS NULL EXEC('CREATE VIEW dbo.seen AS SELECT a, b FROM dbo.parent')");
        var names = connection.GetSchema().Rows.Cast<DataRow>().Select(r => (string)r["CollectionName"]).ToList();
        foreach (var name in names) Noting($"GetSchema({name})", () => Check(connection.GetSchema(name).Columns.Count > 0, $"{name}: no columns"));
        Names Of = (name, column, restrictions) =>
            Show(connection.GetSchema(name, restrictions).Rows.Cast<DataRow>().Select(r => Show(r[column])).OrderBy(n => n, StringComparer.Ordinal));
        Equal(Of("Tables", "TABLE_NAME", Database, "dbo", "parent"), "[parent]", "Tables");
        Equal(Of("Columns", "COLUMN_NAME", Database, "dbo", "parent"), "[a, b, c]", "Columns");
        Equal(Of("AllColumns", "COLUMN_NAME", Database, "dbo", "parent"), "[a, b, c]", "AllColumns");
        Equal(Of("Views", "TABLE_NAME", Database, "dbo", "seen"), "[seen]", "Views");
        Equal(Of("ViewColumns", "COLUMN_NAME", null, null, "seen"), "[a, b]", "ViewColumns");
        Equal(Of("Procedures", "SPECIFIC_NAME", Database, "dbo", "out_params"), "[out_params]", "Procedures");
        Equal(Of("ProcedureParameters", "PARAMETER_NAME", Database, "dbo", "out_params"), "[@a, @b, @d, @s]", "ProcedureParameters");
        Equal(Of("Indexes", "index_name", Database, "dbo", "parent"), "[pk_parent]", "Indexes");
        Equal(Of("IndexColumns", "column_name", Database, "dbo", "parent"), "[a, b]", "IndexColumns");
        Equal(Of("Databases", "database_name", Database), $"[{Database}]", "Databases");
        Equal(Of("DataSourceInformation", "DataSourceProductName"), "[Microsoft SQL Server]", "DataSourceInformation");
        // The query of SqlClient asks for the schema of the type's object, which is sys.
        Equal(Of("StructuredTypeMembers", "MEMBER_NAME", Database, "sys", "id_list"), "[id, name]", "StructuredTypeMembers");
        Check(Of("Users", "user_name").Contains("dbo"), "Users");
        Check(Of("ReservedWords", "ReservedWord").Contains("SELECT"), "ReservedWords");
    }

    static void Mappers()
    {
        var connection = Opened();
        Execute(connection, "DROP TABLE IF EXISTS dbo.blogs; CREATE TABLE dbo.blogs (Id int NOT NULL IDENTITY, Url nvarchar(max) NULL, Rating decimal(18,2) NOT NULL DEFAULT 1.5, Version rowversion NOT NULL, CONSTRAINT PK_Blogs PRIMARY KEY (Id))");
        // EF Core 3: an insert with what the server made, then an update guarded by its version.
        var row = Query(connection, "SET NOCOUNT ON;\r\nINSERT INTO [dbo].[blogs] ([Url])\r\nVALUES (@p0);\r\nSELECT [Id], [Rating], [Version]\r\nFROM [dbo].[blogs]\r\nWHERE @@ROWCOUNT = 1 AND [Id] = scope_identity();\r\n", "@p0", "http://one")[0];
        Equal(row.Take(2), new object[] { 1, 1.50m }, "EF Core's insert");
        Equal(Scalar(connection, "SET NOCOUNT ON;\r\nUPDATE [dbo].[blogs] SET [Url] = @p0\r\nWHERE [Id] = @p1 AND [Version] = @p2;\r\nSELECT @@ROWCOUNT;\r\n", "@p0", "http://two", "@p1", 1, "@p2", row[2]), 1, "EF Core's update");
        Equal(Scalar(connection, "SET NOCOUNT ON;\r\nUPDATE [dbo].[blogs] SET [Url] = @p0\r\nWHERE [Id] = @p1 AND [Version] = @p2;\r\nSELECT @@ROWCOUNT;\r\n", "@p0", "late", "@p1", 1, "@p2", row[2]), 0, "EF Core's update that comes too late");
        // EF Core 7: MERGE for many rows, OUTPUT for one.
        var merged = Query(connection, "SET IMPLICIT_TRANSACTIONS OFF;\r\nSET NOCOUNT ON;\r\nMERGE [dbo].[blogs] USING (\r\nVALUES (@p0, 0),\r\n(@p1, 1)) AS i ([Url], _Position) ON 1=0\r\nWHEN NOT MATCHED THEN\r\nINSERT ([Url])\r\nVALUES (i.[Url])\r\nOUTPUT INSERTED.[Id], INSERTED.[Rating], i._Position;\r\n", "@p0", "a", "@p1", null);
        Equal(merged.OrderBy(r => (int)r[2]), new[] { new object[] { 2, 1.50m, 0 }, new object[] { 3, 1.50m, 1 } }, "EF Core's merge");
        Equal(Query(connection, "SET IMPLICIT_TRANSACTIONS OFF;\r\nSET NOCOUNT ON;\r\nUPDATE [dbo].[blogs] SET [Rating] = @p0\r\nOUTPUT 1\r\nWHERE [Id] = @p1;\r\n", "@p0", 2.5m, "@p1", 2), new[] { new object[] { 1 } }, "EF Core's update with OUTPUT");
        Equal(Query(connection, "SELECT [b].[Id], [b].[Url]\r\nFROM [dbo].[blogs] AS [b]\r\nWHERE ((@__name_0 = N'') OR (CHARINDEX(@__name_0, [b].[Url]) > 0)) AND [b].[Id] IN (\r\n    SELECT [i].[value]\r\n    FROM OPENJSON(@__ids_1) WITH ([value] int '$') AS [i]\r\n)\r\nORDER BY [b].[Id]\r\nOFFSET @__p_2 ROWS FETCH NEXT @__p_3 ROWS ONLY", "@__name_0", "", "@__ids_1", "[1,2,3]", "@__p_2", 1, "@__p_3", 5).Select(r => r[0]), new[] { 2, 3 }, "EF Core's query");
        // EF 6: an insert, and a count in a derived table.
        Equal(Query(connection, "INSERT [dbo].[blogs]([Url])\r\nVALUES (@0)\r\nSELECT [Id], [Version]\r\nFROM [dbo].[blogs]\r\nWHERE @@ROWCOUNT > 0 AND [Id] = scope_identity()", "@0", "six")[0][0], 4, "EF 6's insert");
        Equal(Scalar(connection, "SELECT \r\n    [GroupBy1].[A1] AS [C1]\r\n    FROM ( SELECT \r\n        COUNT(1) AS [A1]\r\n        FROM [dbo].[blogs] AS [Extent1]\r\n        WHERE ([Extent1].[Url] LIKE @p__linq__0 ESCAPE N'~') OR ((@p__linq__0 IS NULL) AND ([Extent1].[Url] IS NULL))\r\n    )  AS [GroupBy1]", "@p__linq__0", "%x%"), 1, "EF 6's count");
        // Dapper: a list becomes parameters, several results of one command, a string of 4000 characters.
        Equal(Query(connection, "select Id from dbo.blogs where Id in (@ids1,@ids2,@ids3) order by Id", "@ids1", 1, "@ids2", 3, "@ids3", 99).Select(r => r[0]), new[] { 1, 3 }, "Dapper's list");
        using (var command = Command(connection, "select * from dbo.blogs where Id = @id; select count(*) from dbo.blogs where Url = @url", "@id", 1))
        {
            command.Parameters.Add("@url", SqlDbType.NVarChar, 4000).Value = "six";
            using (var reader = command.ExecuteReader(CommandBehavior.SequentialAccess))
            {
                Check(reader.Read() && reader.GetInt32(0) == 1 && reader.NextResult() && reader.Read() && reader.GetInt32(0) == 1, "Dapper's several results");
            }
        }
    }

    static void Async()
    {
        Opened();
        // 40 workers on a pool of 10.
        Func<int, Task<int>> Work = async (n) =>
        {
            using (var connection = new SqlConnection(Text(Database, "Application Name=async;Max Pool Size=10")))
            {
                await connection.OpenAsync();
                using (var command = Command(connection, "SELECT TOP (@n) ROW_NUMBER() OVER (ORDER BY a.object_id) AS n FROM sys.all_columns a", "@n", n))
                using (var reader = await command.ExecuteReaderAsync())
                {
                    var sum = 0;
                    while (await reader.ReadAsync()) sum += (int)await reader.GetFieldValueAsync<long>(0);
                    return sum;
                }
            }
        };
        Equal(Task.WhenAll(Enumerable.Range(1, 40).Select(Work)).GetAwaiter().GetResult(), Enumerable.Range(1, 40).Select(n => n * (n + 1) / 2), "sums of 40 readers");
        using (var connection = Opened())
        using (var command = Command(connection, "SELECT @v AS v FOR XML RAW", "@v", "Ω"))
        using (var xml = command.ExecuteXmlReader())
        {
            xml.Read();
            Equal(xml.GetAttribute("v"), "Ω", "ExecuteXmlReader");
        }
    }

    static void Mars()
    {
        var connection = Opened("MultipleActiveResultSets=true");
        Execute(connection, "DROP TABLE IF EXISTS dbo.many; CREATE TABLE dbo.many (id int NOT NULL PRIMARY KEY, owner int NOT NULL, text nvarchar(200) NOT NULL)");
        Execute(connection, "INSERT dbo.many SELECT value, value % 10, REPLICATE(N'x', 200) FROM GENERATE_SERIES(1, 5000)");
        // EF 6 without Include: a reader inside a reader, and a statement inside both.
        var nested = 0;
        using (var outer = Command(connection, "SELECT DISTINCT owner FROM dbo.many ORDER BY owner").ExecuteReader())
            while (outer.Read())
                using (var inner = Command(connection, "SELECT id FROM dbo.many WHERE owner = @o", "@o", outer.GetInt32(0)).ExecuteReader())
                    while (inner.Read())
                        if (++nested % 500 == 0) Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.many WHERE id = @id", "@id", inner.GetInt32(0)), 1, "a statement inside two readers");
        Equal(nested, 5000, "rows of the inner readers");
        // A hundred readers, a row at a time in turn; one of them is cancelled on the way.
        var commands = Enumerable.Range(0, 100).Select(n => Command(connection, "SELECT id, text FROM dbo.many WHERE id > @n ORDER BY id", "@n", n)).ToList();
        var readers = commands.Select(c => c.ExecuteReader()).ToList();
        var counts = new int[100];
        for (var round = 0; round < 400; round++)
        {
            if (round == 200) commands[50].Cancel();
            for (var n = 0; n < 100; n++)
            {
                if (n == 50 && round >= 200) continue;
                Check(readers[n].Read(), $"reader {n} ended early");
                if (readers[n].GetInt32(0) != n + ++counts[n]) Check(false, $"reader {n}: row {counts[n]} is {readers[n].GetInt32(0)}");
            }
        }
        readers[50].Close();
        for (var n = 0; n < 100; n += 20) while (readers[n].Read()) counts[n]++;
        for (var n = 0; n < 100; n += 20) Equal(counts[n], 5000 - n, $"rows of reader {n}");
        foreach (var reader in readers) reader.Dispose();
        // One session: a transaction, settings and temporary tables are shared.
        using (var transaction = connection.BeginTransaction())
        {
            Func<string, SqlCommand> In = (sql) => new SqlCommand(sql, connection, transaction);
            In("CREATE TABLE #shared (a int); INSERT #shared VALUES (1), (2), (3)").ExecuteNonQuery();
            using (var reader = In("SELECT a FROM #shared ORDER BY a").ExecuteReader())
                while (reader.Read()) In($"UPDATE dbo.many SET owner = 77 WHERE id = {reader.GetInt32(0)}").ExecuteNonQuery();
            Equal(In("SELECT COUNT(*) FROM dbo.many WHERE owner = 77").ExecuteScalar(), 3, "changes in the transaction");
            transaction.Rollback();
        }
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.many WHERE owner = 77"), 0, "changes after the rollback");
        // An error in one leaves the others.
        using (var reader = Command(connection, "SELECT id, text FROM dbo.many ORDER BY id").ExecuteReader())
        {
            for (var n = 0; n < 100; n++) reader.Read();
            Refused(8134, "an error beside a reader", () => Scalar(connection, "SELECT 1 / 0"));
            var left = 0;
            while (reader.Read()) left++;
            Equal(left, 4900, "rows of the reader after the error");
        }
        // Asynchronously, all at once.
        Func<int, Task<int>> Count = async (n) =>
        {
            using (var command = Command(connection, "SELECT id, text FROM dbo.many WHERE owner = @n", "@n", n))
            using (var reader = await command.ExecuteReaderAsync())
            {
                var rows = 0;
                while (await reader.ReadAsync()) rows++;
                return rows;
            }
        };
        Equal(Task.WhenAll(Enumerable.Range(0, 10).Select(Count)).GetAwaiter().GetResult(), Enumerable.Repeat(500, 10), "ten readers at once");
        // The pool's reset, with MARS.
        connection.Close();
        connection.Open();
        Equal(Scalar(connection, "SELECT OBJECT_ID('tempdb..#shared')"), null, "temporary table after the reset");
    }

    static void SessionRecovery()
    {
        var watcher = Opened();
        var connection = Opened("ConnectRetryCount=3;ConnectRetryInterval=1;Pooling=false", "master");
        Execute(connection, $"USE {Database}");
        Execute(connection, "SET LOCK_TIMEOUT 1234; SET DATEFIRST 3; SET ANSI_NULLS OFF");
        var spid = Scalar(connection, "SELECT @@SPID");
        Execute(watcher, $"KILL {spid}");
        System.Threading.Thread.Sleep(300);
        Equal(Query(connection, "SELECT DB_NAME(), @@LOCK_TIMEOUT, @@DATEFIRST, SESSIONPROPERTY('ANSI_NULLS')")[0], new object[] { Database, 1234, 3, 0 }, "the session after it was killed");
        // With a transaction it does not come back.
        Execute(connection, "BEGIN TRANSACTION");
        Execute(watcher, $"KILL {Scalar(connection, "SELECT @@SPID")}");
        System.Threading.Thread.Sleep(300);
        try
        {
            Scalar(connection, "SELECT 1");
            Check(false, "a transaction was lost silently");
        }
        catch (SqlException) { }
    }

    static void PasswordChange()
    {
        var connection = Opened();
        Execute(connection, "IF SUSER_ID('drv_changing') IS NOT NULL DROP LOGIN drv_changing");
        Execute(connection, "CREATE LOGIN drv_changing WITH PASSWORD = 'Old-pass-1!'");
        Func<string, string> As = (password) => $"Data Source=tcp:{Host},{Port};User ID=drv_changing;Password='{password}';Encrypt=true;Pooling=false;Connect Timeout=10";
        SqlConnection.ChangePassword(As("Old-pass-1!"), "New-pass-2!");
        Refused(18456, "the old password", () => new SqlConnection(As("Old-pass-1!")).Open());
        using (var changed = new SqlConnection(As("New-pass-2!")))
        {
            changed.Open();
            Equal(Scalar(changed, "SELECT SUSER_NAME()"), "drv_changing", "the new password");
        }
        Refused(18456, "a change with a wrong password", () => SqlConnection.ChangePassword(As("wrong"), "Third-pass-3!"));
        Execute(connection, "DROP LOGIN drv_changing");
    }
}
