// System.Data.SqlClient on .NET Core, with its defaults but for encryption, which is on: the server's certificate is the
// only one trusted. What every driver shows is here; what only ADO.NET has is in AdoNet.cs.

using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Data.SqlTypes;
using System.Diagnostics;
using System.IO;
using System.Linq;
using System.Threading;
using static Frame;

static partial class Suite
{
    const string Database = "drv_sqlclient";
    static readonly List<SqlConnection> open = new List<SqlConnection>();
    static bool made;

    public static void Main(string[] arguments)
    {
        if (arguments.Length > 0)
        {
            Console.WriteLine(Refusal());
            return;
        }
        var scenarios = new Dictionary<string, Action>
        {
            ["connect"] = Connect, ["encryption"] = Encryption, ["wrong-password"] = WrongPassword,
            ["unknown-database"] = UnknownDatabase, ["types"] = Types, ["parameters"] = Parameters,
            ["output-parameters"] = OutputParameters, ["prepared"] = Prepared, ["transactions"] = Transactions,
            ["savepoints"] = Savepoints, ["isolation-levels"] = IsolationLevels, ["result-sets"] = ResultSets,
            ["messages"] = Messages, ["errors"] = Errors, ["error-mid-batch"] = ErrorMidBatch, ["cancel"] = Cancel,
            ["query-timeout"] = QueryTimeout, ["large-values"] = LargeValues, ["bulk-copy"] = BulkCopy,
            ["table-valued-parameters"] = TableValuedParameters, ["pooling-reset"] = PoolingReset,
            ["time-zones"] = TimeZones, ["metadata"] = Metadata,
        };
        Own(scenarios);
        foreach (var name in scenarios.Keys.ToList())
        {
            var scenario = scenarios[name];
            // Connections of one scenario do not outlive it.
            scenarios[name] = () =>
            {
                try { scenario(); }
                finally
                {
                    lock (open)
                    {
                        foreach (var connection in open) try { connection.Dispose(); } catch (InvalidOperationException) { }
                        open.Clear();
                    }
                    SqlConnection.ClearAllPools();
                }
            };
        }
        Run(scenarios);
    }

    /// What is said to a client that does not trust the certificate. Trusted roots (SSL_CERT_FILE) are a process's own.
    static string Untrusted()
    {
        var start = new ProcessStartInfo(Process.GetCurrentProcess().MainModule.FileName, $"\"{typeof(Suite).Assembly.Location}\" untrusted") { RedirectStandardOutput = true };
        start.Environment["SSL_CERT_FILE"] = "/dev/null";
        using (var process = Process.Start(start)) return process.StandardOutput.ReadToEnd();
    }

    static string Refusal()
    {
        try
        {
            using (var connection = new SqlConnection(Text("master", "Pooling=false"))) connection.Open();
            return "connected all the same";
        }
        catch (SqlException error) { return error.Message; }
    }

    static string Text(string database, string more = "", string password = null) =>
        $"Data Source=tcp:{Host},{Port};Initial Catalog={database};User ID={User};Password='{password ?? Password}';Encrypt=true;Connect Timeout=10;{more}";

    /// A connection to the suite's own database, made when first asked for.
    static SqlConnection Opened(string more = "", string database = Database)
    {
        if (!made)
        {
            using (var first = new SqlConnection(Text("master", "Pooling=false")))
            {
                first.Open();
                Execute(first, $"IF DB_ID(N'{Database}') IS NULL CREATE DATABASE {Database}");
            }
            made = true;
        }
        var connection = new SqlConnection(Text(database, more));
        connection.Open();
        lock (open) open.Add(connection);
        return connection;
    }

    static SqlCommand Command(SqlConnection connection, string sql, params object[] parameters)
    {
        var command = new SqlCommand(sql, connection) { CommandTimeout = 20 };
        for (var i = 0; i < parameters.Length; i += 2) command.Parameters.AddWithValue((string)parameters[i], parameters[i + 1] ?? DBNull.Value);
        return command;
    }

    static int Execute(SqlConnection connection, string sql, params object[] parameters)
    {
        using (var command = Command(connection, sql, parameters)) return command.ExecuteNonQuery();
    }

    static object Scalar(SqlConnection connection, string sql, params object[] parameters)
    {
        using (var command = Command(connection, sql, parameters)) return command.ExecuteScalar();
    }

    static List<object[]> Query(SqlConnection connection, string sql, params object[] parameters)
    {
        using (var command = Command(connection, sql, parameters))
        using (var reader = command.ExecuteReader()) return All(reader);
    }

    static List<object[]> All(IDataReader reader)
    {
        var rows = new List<object[]>();
        while (reader.Read())
        {
            var row = new object[reader.FieldCount];
            reader.GetValues(row);
            rows.Add(row);
        }
        return rows;
    }

    static void Fixtures(SqlConnection connection, params string[] names)
    {
        foreach (var name in names) foreach (var sql in Fixture(name)) Execute(connection, sql);
    }

    static SqlException Refused(int number, string what, Action work)
    {
        try { work(); }
        catch (SqlException error)
        {
            Equal(error.Number, number, $"{what}: error number ({Short(error.Message)})");
            return error;
        }
        Check(false, $"{what}: was not refused");
        return null;
    }

    // -- scenarios ------------------------------------------------------------------------------------------------------

    static void Connect()
    {
        var connection = Opened();
        Equal(Scalar(connection, "SELECT 1"), 1, "SELECT 1");
        Equal(Scalar(connection, "SELECT DB_NAME()"), Database, "DB_NAME()");
        Equal(connection.ServerVersion.Split('.')[0], "16", "ServerVersion");
        Check(((string)Scalar(connection, "SELECT @@VERSION")).StartsWith("Microsoft SQL Server 2022 "), "@@VERSION");
        var second = Opened();
        Check(!Equals(Scalar(connection, "SELECT @@SPID"), Scalar(second, "SELECT @@SPID")), "two connections have one @@SPID");
        second.Close();
        Equal(Scalar(connection, "SELECT 2"), 2, "after the other closed");
        Equal(Scalar(connection, "SELECT program_name FROM sys.dm_exec_sessions WHERE session_id = @@SPID"), "Core .Net SqlClient Data Provider", "program_name");
    }

    static void Encryption()
    {
        var untrusted = Untrusted();
        Check(untrusted.Contains("certificate") || untrusted.Contains("handshake"), $"without the certificate: {untrusted}");
        const string sql = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
        Equal(Scalar(Opened(), sql), "TRUE", "encrypt_option");
        Equal(Scalar(Opened("Encrypt=false"), sql), "FALSE", "encrypt_option with Encrypt=false");
        Equal(Scalar(Opened("TrustServerCertificate=true"), sql), "TRUE", "encrypt_option with TrustServerCertificate");
    }

    static void WrongPassword()
    {
        Opened();
        foreach (var password in new[] { "not-it", "" })
            Refused(18456, $"password {password}", () => new SqlConnection(Text("master", "Pooling=false", password)).Open());
        Equal(Scalar(Opened(), "SELECT 1"), 1, "the next login");
    }

    static void UnknownDatabase()
    {
        var connection = Opened();
        Refused(4060, "unknown database", () => new SqlConnection(Text("no_such_database", "Pooling=false")).Open());
        Refused(911, "USE of an unknown database", () => Execute(connection, "USE no_such_database"));
        Refused(911, "ChangeDatabase", () => connection.ChangeDatabase("no_such_database"));
        Equal(Scalar(connection, "SELECT DB_NAME()"), Database, "DB_NAME() after the refusal");
        connection.ChangeDatabase("master");
        Equal(Scalar(connection, "SELECT DB_NAME()"), "master", "DB_NAME() after ChangeDatabase");
        Equal(connection.Database, "master", "Database after ChangeDatabase");
        Execute(connection, $"USE {Database}");
        Equal(connection.Database, Database, "Database after USE");
    }

    static void Types()
    {
        var connection = Opened();
        foreach (var typed in Frame.Types) Noting(typed.Type, () =>
        {
            foreach (var value in typed.Values)
                using (var command = Command(connection, $"SELECT CAST({value.Sql} AS {typed.Type}) AS v"))
                using (var reader = command.ExecuteReader())
                {
                    reader.Read();
                    Check(Values.Same(typed.Kind, value.Text, reader, 0), $"{typed.Type} CAST: expected {Short(value.Text)}, got {Short(Show(reader.GetProviderSpecificValue(0)))}");
                }
            Execute(connection, "DROP TABLE IF EXISTS dbo.typed");
            Execute(connection, $"CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v {typed.Type} NULL, w {typed.Type} NOT NULL)");
            for (var n = 0; n < typed.Values.Count; n++)
                Execute(connection, $"INSERT INTO dbo.typed (id, v, w) VALUES ({n}, {typed.Values[n].Sql}, {typed.Values[n].Sql})");
            Execute(connection, $"INSERT INTO dbo.typed (id, v, w) VALUES (1000, NULL, {typed.Values[0].Sql})");
            // By a query without parameters and by one with them; SqlClient says that it needs no column metadata in the second.
            foreach (var at in new[] { "", " WHERE id >= @from" })
                using (var command = Command(connection, $"SELECT id, v, w FROM dbo.typed{at} ORDER BY id", "@from", 0))
                using (var reader = command.ExecuteReader())
                {
                    foreach (var value in typed.Values)
                    {
                        Check(reader.Read(), $"{typed.Type}: a row is missing");
                        foreach (var column in new[] { 1, 2 })
                            Check(Values.Same(typed.Kind, value.Text, reader, column), $"{typed.Type} column {column}{at}: expected {Short(value.Text)}, got {Short(Show(reader.GetProviderSpecificValue(column)))}");
                    }
                    Check(reader.Read() && reader.IsDBNull(1), $"{typed.Type}: NULL");
                }
        });
    }

    static void Parameters()
    {
        var connection = Opened();
        foreach (var typed in Frame.Types) Noting(typed.Type, () =>
        {
            Execute(connection, "DROP TABLE IF EXISTS dbo.sent");
            Execute(connection, $"CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v {typed.Type} NULL)");
            for (var n = 0; n <= typed.Values.Count; n++)
            {
                var value = n < typed.Values.Count ? typed.Values[n] : null;
                Noting($"{typed.Type} {Short(value?.Text ?? "NULL", 60)}", () =>
                {
                    using (var insert = Command(connection, "INSERT INTO dbo.sent (id, v) OUTPUT inserted.v VALUES (@id, @v)", "@id", n))
                    {
                        var parameter = insert.Parameters.Add(Values.Parameter("@v", typed.Type));
                        parameter.Value = value == null ? DBNull.Value : Values.Native(typed.Kind, value.Text);
                        using (var reader = insert.ExecuteReader())
                        {
                            Check(reader.Read(), $"{typed.Type}: OUTPUT inserted gives no row");
                            Check(value == null ? reader.IsDBNull(0) : Values.Same(typed.Kind, value.Text, reader, 0), $"{typed.Type}: sent {Short(value?.Text ?? "NULL")}, got back {Short(Show(reader.GetProviderSpecificValue(0)))}");
                        }
                    }
                    var sql = value == null ? "v IS NULL" : $"v = CAST({value.Sql} AS {typed.Type})";
                    Equal(Scalar(connection, $"SELECT COUNT(*) FROM dbo.sent WHERE id = @id AND {sql}", "@id", n), 1, $"{typed.Type} {Short(value?.Text ?? "NULL")}: equal on the server");
                });
            }
        });
        var row = Query(connection, "SELECT @a + @b, @s, @none", "@a", 40, "@b", 2, "@s", "x'y😀", "@none", null)[0];
        Equal(row, new object[] { 42, "x'y😀", null }, "several parameters");
        // What AddWithValue makes of .NET's types, as Dapper sends them, and in sql_variant.
        object[] plain = { true, (byte)7, (short)-7, 7, 7L, 1.25f, 1.25, 12345678901234567890.123456789m, 0.0000000000000000000000000001m, -79228162514264337593543950335m, "Ω", new byte[] { 1, 2 }, new DateTime(2024, 2, 29, 12, 34, 56), new Guid("01234567-89AB-CDEF-0123-456789ABCDEF"), new DateTimeOffset(2024, 2, 29, 1, 2, 3, TimeSpan.FromHours(5.5)), new TimeSpan(1, 2, 3) };
        Execute(connection, "CREATE TABLE #v (id int NOT NULL, v sql_variant NULL)");
        for (var n = 0; n < plain.Length; n++)
        {
            var value = plain[n];
            Noting($"{value.GetType().Name} {Show(value)}", () =>
            {
                Equal(Scalar(connection, "SELECT @v", "@v", value), value, $"{value.GetType().Name} there and back");
                using (var insert = Command(connection, "INSERT #v (id, v) VALUES (@id, @v)", "@id", n))
                {
                    insert.Parameters.Add("@v", SqlDbType.Variant).Value = value;
                    insert.ExecuteNonQuery();
                }
                var back = Query(connection, "SELECT v, 5 AS after FROM #v WHERE id = @id", "@id", n)[0];
                Equal(back, new object[] { value is TimeSpan ? back[0] : value, 5 }, $"{value.GetType().Name} in a sql_variant");
            });
        }
        for (var precision = 1; precision <= 38; precision++)
        {
            var digits = new string('9', precision);
            using (var command = Command(connection, $"SELECT CAST(CAST('-{digits}' AS decimal({precision},0)) AS sql_variant), 1, CAST(NULL AS sql_variant) WHERE 1 = @one", "@one", 1))
            using (var reader = command.ExecuteReader())
            {
                reader.Read();
                Equal(new[] { reader.GetSqlValue(0).ToString(), reader.GetValue(1), reader.GetValue(2) }, new object[] { "-" + digits, 1, null }, $"a variant of precision {precision}");
            }
        }
    }

    static void OutputParameters()
    {
        var connection = Opened();
        Fixtures(connection, "out_params", "out_and_rows");
        using (var command = Command(connection, "dbo.out_params", "@a", 21))
        {
            command.CommandType = CommandType.StoredProcedure;
            var b = command.Parameters.Add("@b", SqlDbType.Int);
            b.Direction = ParameterDirection.Output;
            var s = command.Parameters.Add("@s", SqlDbType.NVarChar, 50);
            (s.Direction, s.Value) = (ParameterDirection.InputOutput, "abc");
            var d = command.Parameters.Add("@d", SqlDbType.Decimal);
            (d.Precision, d.Scale, d.Direction) = (10, 3, ParameterDirection.Output);
            var status = command.Parameters.Add("@status", SqlDbType.Int);
            status.Direction = ParameterDirection.ReturnValue;
            command.ExecuteNonQuery();
            Equal(new[] { b.Value, s.Value, d.Value, status.Value }, new object[] { 42, "abc 😀", 1234567.891m, 42 }, "outputs");
        }
        using (var command = Command(connection, "dbo.out_and_rows"))
        {
            command.CommandType = CommandType.StoredProcedure;
            command.Parameters.Add("@n", SqlDbType.Int).Direction = ParameterDirection.Output;
            command.Parameters.Add("@status", SqlDbType.Int).Direction = ParameterDirection.ReturnValue;
            using (var reader = command.ExecuteReader())
            {
                Equal(All(reader), new[] { new[] { 1 }, new[] { 2 } }, "first result");
                Check(reader.NextResult(), "there is a second result");
                Equal(All(reader), new[] { new[] { "x" } }, "second result");
                Check(!reader.NextResult(), "there is a third result");
            }
            Equal(command.Parameters.Cast<SqlParameter>().Select(p => p.Value), new[] { 7, -3 }, "output and status after results");
        }
        using (var command = Command(connection, "SET @n = @n + 1"))
        {
            var n = command.Parameters.Add("@n", SqlDbType.Int);
            (n.Direction, n.Value) = (ParameterDirection.InputOutput, 4);
            command.ExecuteNonQuery();
            Equal(n.Value, 5, "an output of a statement");
        }
        // Every type comes back in its own, NULL too.
        foreach (var typed in Frame.Types) Noting(typed.Type, () =>
        {
            using (var command = Command(connection, $"SET @v = CAST({typed.Values[0].Sql} AS {typed.Type}); SET @none = NULL"))
            {
                var v = command.Parameters.Add(Values.Parameter("@v", typed.Type));
                var none = command.Parameters.Add(Values.Parameter("@none", typed.Type));
                v.Direction = none.Direction = ParameterDirection.Output;
                command.ExecuteNonQuery();
                Check(!(v.SqlValue is INullable value && value.IsNull) && !(v.SqlValue is DBNull), $"{typed.Type}: an output is NULL");
                Equal(none.Value, null, $"{typed.Type}: an output of NULL");
            }
        });
        using (var command = new SqlCommand("dbo.out_params", connection) { CommandType = CommandType.StoredProcedure })
        {
            SqlCommandBuilder.DeriveParameters(command);
            Equal(command.Parameters.Cast<SqlParameter>().Select(p => $"{p.ParameterName} {p.SqlDbType} {p.Direction} {p.Size} {p.Precision} {p.Scale}"),
                new[] { "@RETURN_VALUE Int ReturnValue 0 0 0", "@a Int Input 0 0 0", "@b Int InputOutput 0 0 0", "@s NVarChar InputOutput 50 0 0", "@d Decimal InputOutput 0 10 3" }, "DeriveParameters");
        }
    }

    static void Prepared()
    {
        var connection = Opened();
        Fixtures(connection, "everything");
        using (var command = new SqlCommand("INSERT INTO dbo.everything (id, n, s) VALUES (@id, @n, @s)", connection))
        {
            var id = command.Parameters.Add("@id", SqlDbType.Int);
            var n = command.Parameters.Add("@n", SqlDbType.BigInt);
            var s = command.Parameters.Add("@s", SqlDbType.NVarChar, 100);
            command.Prepare();
            for (var i = 0; i < 100; i++)
            {
                (id.Value, n.Value, s.Value) = (i, i * 1000000000L, $"row {i} Ω");
                Equal(command.ExecuteNonQuery(), 1, $"rows of insert {i}");
            }
            (id.Value, n.Value, s.Value) = (100, DBNull.Value, DBNull.Value);
            command.ExecuteNonQuery();
            id.Value = 1;
            Refused(2627, "a duplicate by a prepared statement", () => command.ExecuteNonQuery());
        }
        using (var command = new SqlCommand("SELECT n, s FROM dbo.everything WHERE id = @id", connection))
        {
            command.Parameters.Add("@id", SqlDbType.Int);
            command.Prepare();
            foreach (var at in new[] { 99, 3, 99 })
            {
                command.Parameters[0].Value = at;
                using (var reader = command.ExecuteReader()) Equal(All(reader)[0], new object[] { at * 1000000000L, $"row {at} Ω" }, $"row {at}");
            }
        }
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.everything"), 101, "rows");
    }

    static void Transactions()
    {
        var (connection, other) = (Opened(), Opened());
        Fixtures(connection, "account");
        Func<object> Balance = () => Scalar(other, "SELECT balance FROM dbo.account WHERE id = 1");
        Action<SqlTransaction> Add = (transaction) =>
        {
            using (var command = new SqlCommand("UPDATE dbo.account SET balance = balance + @n WHERE id = 1", connection, transaction))
            {
                command.Parameters.AddWithValue("@n", 1);
                command.ExecuteNonQuery();
            }
        };
        using (var transaction = connection.BeginTransaction())
        {
            Add(transaction);
            transaction.Rollback();
        }
        Equal(Balance(), 100.0000m, "after rollback");
        using (var transaction = connection.BeginTransaction())
        {
            Add(transaction);
            transaction.Commit();
        }
        Equal(Balance(), 101.0000m, "after commit");
        using (var transaction = connection.BeginTransaction()) Add(transaction);
        Equal(Balance(), 101.0000m, "after a dispose without commit");
        var third = Opened("Pooling=false");
        Execute(third, "BEGIN TRANSACTION; DELETE FROM dbo.account");
        third.Close();
        Thread.Sleep(200);
        Equal(Scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after a close without commit");
        Execute(other, "BEGIN TRANSACTION; DELETE FROM dbo.account");
        Execute(other, "ROLLBACK TRANSACTION");
        Equal(Scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after ROLLBACK TRANSACTION");
    }

    static void Savepoints()
    {
        var connection = Opened();
        Fixtures(connection, "account");
        using (var transaction = connection.BeginTransaction())
        {
            Action<string> Do = (sql) => { using (var command = new SqlCommand(sql, connection, transaction)) command.ExecuteNonQuery(); };
            Do("UPDATE dbo.account SET balance = 1 WHERE id = 1");
            transaction.Save("here");
            Do("UPDATE dbo.account SET balance = 2 WHERE id = 1");
            Do("INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')");
            transaction.Rollback("here");
            transaction.Commit();
        }
        Equal(Query(connection, "SELECT balance, (SELECT COUNT(*) FROM dbo.account) FROM dbo.account WHERE id = 1")[0], new object[] { 1.0000m, 3 }, "what was before the save point");
    }

    static void IsolationLevels()
    {
        var (connection, other) = (Opened(), Opened());
        Fixtures(connection, "account");
        Execute(connection, $"ALTER DATABASE {Database} SET ALLOW_SNAPSHOT_ISOLATION ON");
        Func<SqlTransaction, string, object> In = (transaction, sql) => { using (var command = new SqlCommand(sql, connection, transaction)) return command.ExecuteScalar(); };
        var levels = new[] { IsolationLevel.ReadUncommitted, IsolationLevel.ReadCommitted, IsolationLevel.RepeatableRead, IsolationLevel.Serializable, IsolationLevel.Snapshot };
        for (var i = 0; i < levels.Length; i++)
            using (var transaction = connection.BeginTransaction(levels[i]))
            {
                Equal(In(transaction, "SELECT balance FROM dbo.account WHERE id = 1"), 100.0000m, levels[i].ToString());
                Equal(In(transaction, "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"), i + 1, $"{levels[i]}: as the server sees it");
                transaction.Commit();
            }
        using (var transaction = connection.BeginTransaction(IsolationLevel.Snapshot))
        {
            In(transaction, "SELECT balance FROM dbo.account WHERE id = 1");
            Execute(other, "UPDATE dbo.account SET balance = 7 WHERE id = 1");
            Equal(In(transaction, "SELECT balance FROM dbo.account WHERE id = 1"), 100.0000m, "SNAPSHOT reads what was");
        }
        using (var transaction = connection.BeginTransaction(IsolationLevel.Serializable))
        {
            Equal(In(transaction, "SELECT COUNT(*) FROM dbo.account WHERE id BETWEEN 1 AND 50"), 3, "rows of the range");
            Execute(other, "SET LOCK_TIMEOUT 200");
            Refused(1222, "a writer under SERIALIZABLE", () => Execute(other, "INSERT INTO dbo.account (id, owner) VALUES (20, N'Phantom')"));
        }
    }

    static void ResultSets()
    {
        var connection = Opened();
        Fixtures(connection, "account");
        using (var command = Command(connection, "SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; SELECT id, owner FROM dbo.account ORDER BY id; UPDATE dbo.account SET balance = 0 WHERE id <= 2"))
        using (var reader = command.ExecuteReader())
        {
            Equal(All(reader), new[] { new[] { 1 } }, "first");
            Check(reader.NextResult() && reader.FieldCount == 2 && !reader.HasRows, "second, empty");
            Check(reader.NextResult(), "third");
            Equal(All(reader), new[] { new object[] { 1, "Ann" }, new object[] { 2, "Bob" }, new object[] { 3, "Çelik 😀" } }, "third");
            Check(!reader.NextResult(), "no fourth");
            Equal(reader.RecordsAffected, 2, "RecordsAffected");
        }
        Equal(Execute(connection, "SET NOCOUNT ON; UPDATE dbo.account SET balance = 0; SET NOCOUNT OFF"), -1, "row count under NOCOUNT");
        var many = Query(connection, "SELECT TOP (@n) ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g, dbo.account h", "@n", 5000);
        Equal(new[] { many.Count, many.Sum(row => (long)row[0]) }, new[] { 5000, 12502500 }, "rows and sum of a long result");
        using (var command = Command(connection, "SELECT id, owner FROM dbo.account ORDER BY id"))
        using (var reader = command.ExecuteReader(CommandBehavior.SequentialAccess | CommandBehavior.SingleRow))
            Check(reader.Read() && reader.GetInt32(0) == 1 && reader.GetString(1) == "Ann", "SequentialAccess, SingleRow");
    }

    static void Messages()
    {
        var connection = Opened();
        Fixtures(connection, "says");
        var got = new List<object[]>();
        connection.InfoMessage += (sender, e) => got.AddRange(e.Errors.Cast<SqlError>().Select(m => new object[] { m.Number, m.Class, m.State, m.Message, m.Procedure }));
        Execute(connection, "EXEC dbo.says");
        Equal(got.Select(m => m.Take(4)), new[] { new object[] { 0, 0, 1, "hello Ω" }, new object[] { 50000, 5, 3, "warned once" } }, "messages");
        connection.FireInfoMessageEventOnUserErrors = true;
        got.Clear();
        Execute(connection, "RAISERROR(N'now', 16, 2) WITH NOWAIT; SELECT 1");
        Equal(got.Select(m => m.Take(4)), new[] { new object[] { 50000, 16, 2, "now" } }, "an error as a message");
        connection.StatisticsEnabled = true;
        Query(connection, "SELECT 1");
        Equal(connection.RetrieveStatistics()["SelectRows"], 1, "statistics");
    }

    static void Errors()
    {
        var connection = Opened();
        Fixtures(connection, "account", "fails");
        var expected = new[]
        {
            ("EXEC dbo.fails", 50000, 15, 7, 4, "fails", "boom 42"),
            ("\n\nSELECT 1/0 AS x", 8134, 16, 1, 3, "", "Divide by zero"),
            ("SELECT *\nFROM dbo.nothing_here", 208, 16, 1, 2, "", "nothing_here"),
            ("INSERT INTO dbo.account (id, owner) VALUES (1, N'again')", 2627, 14, 1, 1, "", "pk_account"),
            ("SELEC * FROM t", 102, 15, 1, 1, "", "*"),
            ("THROW 51234, N'thrown Ω', 9", 51234, 16, 9, 1, "", "thrown Ω"),
        };
        foreach (var want in expected)
        {
            var (sql, number, level, state, line, procedure, text) = want;
            foreach (var parameters in new[] { new object[0], new object[] { "@unused", 1 } }) Noting(sql, () =>
            {
                var error = Refused(number, sql, () => Query(connection, sql, parameters));
                if (error == null) return;
                Equal(new object[] { error.Class, error.State, error.LineNumber, error.Procedure.Split('.').Last() }, new object[] { level, state, line, procedure }, sql);
                Check(error.Message.Contains(text), $"{sql}: text {error.Message}");
            });
        }
        Equal(Scalar(connection, "SELECT 1"), 1, "after the errors");
    }

    static void ErrorMidBatch()
    {
        var connection = Opened();
        Fixtures(connection, "account");
        var seen = new List<object>();
        Refused(2627, "the batch", () =>
        {
            using (var command = Command(connection, "SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice'); INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b"))
            using (var reader = command.ExecuteReader())
                do { while (reader.Read()) seen.Add(reader.GetValue(0)); } while (reader.NextResult());
        });
        Equal(seen, new[] { 1 }, "results before the error");
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 4, "the batch went on after the error");
        Refused(245, "a row that fails", () => Query(connection, "SELECT CONVERT(int, v) AS n FROM (VALUES ('1'), ('2'), ('x')) AS t(v)"));
        Equal(Scalar(connection, "SELECT 1"), 1, "after");
    }

    static void Cancel()
    {
        var connection = Opened();
        Fixtures(connection, "account");
        var tables = string.Join(", ", Enumerable.Range(0, 16).Select(n => $"dbo.account t{n}"));
        var watch = Stopwatch.StartNew();
        watch.Restart();
        using (var command = Command(connection, $"SELECT t1.owner FROM {tables}"))
        {
            using (var reader = command.ExecuteReader())
            {
                for (var i = 0; i < 1000; i++) reader.Read();
                Thread.Sleep(200);
                command.Cancel();
            }
        }
        Check(watch.ElapsedMilliseconds < 10000, $"cancel of a result took {watch.ElapsedMilliseconds} ms");
        Equal(Scalar(connection, "SELECT 2"), 2, "the connection after the second cancel");
        // By a token, of a wait (Cancel from another thread waits for the reading one in this client, outside Windows) and of a result half read.
        watch.Restart();
        using (var source = new CancellationTokenSource(300))
        using (var command = Command(connection, "WAITFOR DELAY '00:00:20'"))
            Refused(0, "ExecuteNonQueryAsync", () => command.ExecuteNonQueryAsync(source.Token).GetAwaiter().GetResult());
        Check(watch.ElapsedMilliseconds < 10000, $"an async cancel took {watch.ElapsedMilliseconds} ms");
        using (var source = new CancellationTokenSource(300))
        using (var command = Command(connection, $"SELECT t1.owner, @x AS x FROM {tables}", "@x", new string('x', 2000)))
        using (var reader = command.ExecuteReaderAsync().GetAwaiter().GetResult())
        {
            try
            {
                while (reader.ReadAsync(source.Token).GetAwaiter().GetResult()) { }
                Check(false, "a result half read was not cancelled");
            }
            catch (Exception error) when (error is SqlException || error is OperationCanceledException) { }
            command.Cancel();
        }
        Equal(Scalar(connection, "SELECT 3"), 3, "the connection after the async cancels");
        using (var transaction = connection.BeginTransaction())
        using (var command = new SqlCommand("UPDATE dbo.account SET balance = 5; WAITFOR DELAY '00:00:20'", connection, transaction))
        {
            using (var source = new CancellationTokenSource(200))
                Refused(0, "in a transaction", () => command.ExecuteNonQueryAsync(source.Token).GetAwaiter().GetResult());
            command.CommandText = "SELECT @@TRANCOUNT";
            Equal(command.ExecuteScalar(), 1, "a cancel keeps the transaction");
        }
    }

    static void QueryTimeout()
    {
        var connection = Opened();
        var watch = Stopwatch.StartNew();
        using (var command = new SqlCommand("WAITFOR DELAY '00:00:20'", connection) { CommandTimeout = 1 })
            Refused(-2, "the statement that timed out", () => command.ExecuteNonQuery());
        Check(watch.ElapsedMilliseconds < 10000, $"time-out took {watch.ElapsedMilliseconds} ms");
        Equal(Scalar(connection, "SELECT 1"), 1, "the connection after the time-out");
    }

    static void LargeValues()
    {
        var connection = Opened();
        Fixtures(connection, "blob");
        const int size = 1 << 20;
        var text = string.Concat(Enumerable.Repeat("0123456789abcdef", size / 16));
        var wide = string.Concat(Enumerable.Repeat("Ωμέγα😀 ", 65536));
        var binary = Enumerable.Range(0, size).Select(n => (byte)n).ToArray();
        using (var command = Command(connection, "INSERT INTO dbo.blob (id, v, n, b) VALUES (1, @v, @n, @b)"))
        {
            command.Parameters.Add("@v", SqlDbType.VarChar, -1).Value = text;
            command.Parameters.Add("@n", SqlDbType.NVarChar, -1).Value = new StringReader(wide);
            command.Parameters.Add("@b", SqlDbType.VarBinary, -1).Value = new MemoryStream(binary);
            command.ExecuteNonQuery();
        }
        var row = Query(connection, "SELECT v, n, b, DATALENGTH(v), DATALENGTH(n), DATALENGTH(b) FROM dbo.blob WHERE id = @id", "@id", 1)[0];
        Check((string)row[0] == text, "varchar(max)");
        Check((string)row[1] == wide, "nvarchar(max)");
        Check(((byte[])row[2]).SequenceEqual(binary), "varbinary(max)");
        Equal(row.Skip(3), new[] { size, 2 * wide.Length, size }, "DATALENGTH");
        using (var command = Command(connection, "SELECT b, n FROM dbo.blob"))
        using (var reader = command.ExecuteReader(CommandBehavior.SequentialAccess))
        {
            reader.Read();
            var copy = new MemoryStream();
            reader.GetStream(0).CopyTo(copy);
            Check(copy.ToArray().SequenceEqual(binary), "GetStream");
            Check(reader.GetTextReader(1).ReadToEnd() == wide, "GetTextReader");
        }
        Execute(connection, "UPDATE dbo.blob SET v = NULL, n = @n, b = 0x", "@n", "");
        var empty = Query(connection, "SELECT v, n, b FROM dbo.blob")[0];
        Equal(empty, new object[] { null, "", new byte[0] }, "NULL and empty");
        Equal(((string)Scalar(connection, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000)")).Length, 3000000, "3 MB");
    }

    static void BulkCopy()
    {
        var connection = Opened();
        Fixtures(connection, "everything");
        var table = new DataTable();
        foreach (var column in new[] { ("id", typeof(int)), ("n", typeof(long)), ("d", typeof(decimal)), ("f", typeof(double)), ("b", typeof(bool)), ("s", typeof(string)), ("v", typeof(string)), ("x", typeof(byte[])), ("t", typeof(DateTime)), ("g", typeof(Guid)) })
            table.Columns.Add(column.Item1, column.Item2);
        for (var n = 0; n < 1000; n++)
            if (n % 10 == 9) table.Rows.Add(n);
            else table.Rows.Add(n, n * 10000000000L, n / 4m, n / 8.0, n % 2 == 0, $"Ω {n}", $"v{n}", new byte[n % 20], new DateTime(2024, 2, 29).AddMilliseconds(n), new Guid(n, 0, 0, new byte[8]));
        const string columns = "id, n, d, f, b, s, v, x, t, g";
        Action<string, DataTable, SqlBulkCopyOptions> LoadWith = (into, rows, options) =>
        {
            using (var copy = new SqlBulkCopy(connection, options, null) { DestinationTableName = into, BatchSize = 300 }) copy.WriteToServer(rows);
        };
        Action<string, DataTable> Load = (into, rows) => LoadWith(into, rows, SqlBulkCopyOptions.Default);
        Func<string, string> Rows = (from) => Show(Query(connection, $"SELECT {columns} FROM {from} ORDER BY id"));
        var want = Show(table.Rows.Cast<DataRow>().Select(r => r.ItemArray.Select((v, i) => v is decimal d ? decimal.Parse(d.ToString("F4")) : v)));
        Load("dbo.everything", table);
        Check(Rows("dbo.everything") == want, "rows after the load");
        // Into a temporary table, by each form of its name.
        Execute(connection, $"SELECT {columns} INTO #copy FROM dbo.everything WHERE 1 = 0; CREATE TABLE ##shared (id int, s varchar(10) COLLATE Latin1_General_BIN)");
        Load("#copy", table);
        Check(Rows("#copy") == want, "rows after the load into #copy");
        LoadWith("tempdb..#copy", table, SqlBulkCopyOptions.TableLock);
        Equal(Scalar(connection, "SELECT COUNT(*) FROM #copy"), 2000, "rows after the load into tempdb..#copy");
        var two = new DataTable { Columns = { { "id", typeof(int) }, { "s", typeof(string) } } };
        two.Rows.Add(1, "x");
        Load("##shared", two);
        Equal(Query(connection, "SELECT id, s FROM ##shared"), new[] { new object[] { 1, "x" } }, "##shared");
        // Decimals of every precision: SqlClient announces the length of the precision and sends 17 bytes.
        for (var precision = 1; precision <= 38; precision++)
        {
            var digits = new string('9', precision);
            Execute(connection, $"CREATE TABLE #d{precision} (d decimal({precision},0) NULL, v sql_variant NULL)");
            var row = new DataTable { Columns = { { "d", typeof(SqlDecimal) }, { "v", typeof(object) } } };
            row.Rows.Add(SqlDecimal.Parse(digits), precision < 29 ? (object)decimal.Parse(digits) : 1m);
            row.Rows.Add(SqlDecimal.Null, DBNull.Value);
            Noting($"decimal({precision},0)", () =>
            {
                Load($"#d{precision}", row);
                Equal(Scalar(connection, $"SELECT COUNT(*) FROM #d{precision} WHERE d = {digits} OR d IS NULL"), 2, $"decimal({precision},0)");
            });
        }
        var failed = table.Clone();
        failed.Rows.Add(5000);
        failed.Rows.Add(1);
        Refused(2627, "a load of a duplicate", () => Load("dbo.everything", failed));
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.everything"), 1000, "rows after a load that failed");
        // From a reader of another connection, columns by name, identity kept, in a transaction that is given up.
        Execute(connection, "DROP TABLE IF EXISTS dbo.target; CREATE TABLE dbo.target (other int IDENTITY(10, 1) NOT NULL, name nvarchar(50) NULL, number bigint NOT NULL DEFAULT 5)");
        using (var transaction = connection.BeginTransaction())
        using (var source = Command(Opened(), "SELECT id, s, n FROM dbo.everything WHERE id IN (1, 9)").ExecuteReader())
        {
            using (var copy = new SqlBulkCopy(connection, SqlBulkCopyOptions.KeepIdentity | SqlBulkCopyOptions.CheckConstraints | SqlBulkCopyOptions.FireTriggers, transaction) { DestinationTableName = "dbo.target", EnableStreaming = true })
            {
                copy.ColumnMappings.Add("s", "name");
                copy.ColumnMappings.Add("id", "other");
                copy.WriteToServer(source);
            }
            using (var count = new SqlCommand("SELECT COUNT(*) FROM dbo.target WHERE other IN (1, 9) AND number = 5", connection, transaction)) Equal(count.ExecuteScalar(), 2, "rows in the transaction");
        }
        Equal(Scalar(connection, "SELECT COUNT(*) FROM dbo.target"), 0, "rows after the transaction was given up");
    }

    static void TableValuedParameters()
    {
        var connection = Opened();
        Fixtures(connection, "id_list");
        Func<object, object[]> Take = (rows) =>
        {
            using (var command = Command(connection, "dbo.take_list"))
            {
                command.CommandType = CommandType.StoredProcedure;
                var parameter = command.Parameters.Add("@rows", SqlDbType.Structured);
                (parameter.TypeName, parameter.Value) = ("dbo.id_list", rows);
                using (var reader = command.ExecuteReader()) return All(reader)[0];
            }
        };
        var table = new DataTable { Columns = { { "id", typeof(int) }, { "name", typeof(string) } } };
        for (var n = 0; n < 500; n++) table.Rows.Add(n, $"name {n:D3}");
        table.Rows.Add(500, null);
        Equal(Take(table), new object[] { 501, 125250, "name 499" }, "a table of 501 rows");
        Equal(Take(table.Clone()), new object[] { 0, null, null }, "a table without rows");
        using (var source = Command(Opened(), "SELECT 7 AS id, N'seven' AS name").ExecuteReader()) Equal(Take(source), new object[] { 1, 7, "seven" }, "rows of a reader");
        using (var command = Command(connection, "SELECT name FROM @rows WHERE id = @id", "@id", 3))
        {
            var parameter = command.Parameters.Add("@rows", SqlDbType.Structured);
            (parameter.TypeName, parameter.Value) = ("dbo.id_list", table);
            Equal(command.ExecuteScalar(), "name 003", "in a statement");
        }
        Execute(connection, "IF TYPE_ID(N'dbo.wide_list') IS NOT NULL DROP TYPE dbo.wide_list; CREATE TYPE dbo.wide_list AS TABLE (d decimal(28,5) NULL, m money NULL, t datetime2(7) NULL, o datetimeoffset(7) NULL, g uniqueidentifier NULL, x varbinary(max) NULL, f real NULL, b bit NULL)");
        var wide = new DataTable();
        foreach (var column in new[] { ("d", typeof(SqlDecimal)), ("m", typeof(SqlMoney)), ("t", typeof(DateTime)), ("o", typeof(DateTimeOffset)), ("g", typeof(Guid)), ("x", typeof(byte[])), ("f", typeof(float)), ("b", typeof(bool)) }) wide.Columns.Add(column.Item1, column.Item2);
        var moment = new DateTime(2024, 2, 29, 1, 2, 3).AddTicks(1234567);
        wide.Rows.Add(SqlDecimal.Parse("12345678901234567890123.00001"), new SqlMoney(-1.5m), moment, new DateTimeOffset(moment, TimeSpan.FromHours(-3)), new Guid(1, 2, 3, new byte[8]), new byte[9000], 1.5f, true);
        wide.Rows.Add();
        using (var command = Command(connection, "SELECT d, m, t, o, g, DATALENGTH(x), f, b FROM @rows"))
        {
            var parameter = command.Parameters.Add("@rows", SqlDbType.Structured);
            (parameter.TypeName, parameter.Value) = ("dbo.wide_list", wide);
            using (var reader = command.ExecuteReader())
                Equal(All(reader), new[] { new object[] { 12345678901234567890123.00001m, -1.5000m, moment, new DateTimeOffset(moment, TimeSpan.FromHours(-3)), new Guid(1, 2, 3, new byte[8]), 9000, 1.5f, true }, new object[8] }, "all types in a table");
        }
    }

    static void PoolingReset()
    {
        const string pool = "Application Name=pooling-reset;Max Pool Size=1";
        object spid;
        using (var connection = new SqlConnection(Text(Database, pool)))
        {
            Opened();
            connection.Open();
            spid = Scalar(connection, "SELECT @@SPID");
            foreach (var sql in new[] { "CREATE TABLE #left (a int)", "SET LOCK_TIMEOUT 4321", "SET DATEFIRST 3", "USE master", "BEGIN TRANSACTION", "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE" }) Execute(connection, sql);
        }
        using (var connection = new SqlConnection(Text(Database, pool)))
        {
            connection.Open();
            Equal(Query(connection, "SELECT @@SPID, DB_NAME(), OBJECT_ID('tempdb..#left'), @@LOCK_TIMEOUT, @@DATEFIRST, @@TRANCOUNT")[0], new[] { spid, Database, null, -1, 7, 0 }, "the session after the reset");
            Execute(connection, "CREATE TABLE #kept (a int)");
            Equal(Scalar(connection, "SELECT COUNT(*) FROM #kept"), 0, "no second reset");
            // A reader that was not read to its end.
            Command(connection, "SELECT a.object_id FROM sys.all_objects a, sys.all_objects b").ExecuteReader().Read();
        }
        using (var connection = new SqlConnection(Text(Database, pool)))
        {
            connection.Open();
            Equal(Scalar(connection, "SELECT @@SPID"), spid, "the session after a reader half read");
        }
        // A pooled connection that the server has closed meanwhile is not handed out again as if it lived.
        Execute(Opened(), $"KILL {spid}");
        Thread.Sleep(100);
        using (var connection = new SqlConnection(Text(Database, pool)))
        {
            connection.Open();
            Equal(Scalar(connection, "SELECT 1"), 1, "after KILL");
        }
    }

    static void TimeZones()
    {
        var connection = Opened();
        Fixtures(connection, "moments");
        for (var hours = -14; hours <= 14; hours++)
        {
            var moment = new DateTimeOffset(2024, 3, 31, 1, 59, 59, 123, TimeSpan.FromHours(hours));
            var back = (DateTimeOffset)Scalar(connection, "INSERT INTO dbo.moments (id, o) OUTPUT inserted.o VALUES (@id, @o)", "@id", hours, "@o", moment);
            Equal(back.ToString("o"), moment.ToString("o"), $"offset {hours}");
        }
        var now = (DateTimeOffset)Scalar(connection, "SELECT SYSDATETIMEOFFSET()");
        Check(Math.Abs((now - DateTimeOffset.Now).TotalSeconds) < 5, $"SYSDATETIMEOFFSET() {now}");
    }

    static void Metadata()
    {
        var connection = Opened();
        Fixtures(connection, "family");
        using (var command = Command(connection, "SELECT a, b, c, a + 1 AS e FROM dbo.parent"))
        using (var reader = command.ExecuteReader(CommandBehavior.SchemaOnly))
        {
            var columns = reader.GetSchemaTable().Rows.Cast<DataRow>();
            Equal(columns.Select(c => $"{c["ColumnName"]} {c["DataTypeName"]} {c["ColumnSize"]} {c["NumericPrecision"]} {c["NumericScale"]} {c["AllowDBNull"]}"),
                new[] { "a int 4 10 255 False", "b nvarchar 20 255 255 False", "c decimal 17 10 2 True", "e int 4 10 255 True" }, "columns");
            Check(!reader.Read(), "no rows under SchemaOnly");
        }
        Equal(Query(connection, "SELECT name FROM sys.tables WHERE name IN (@a, @b) ORDER BY name", "@a", "parent", "@b", "child"), new[] { new[] { "child" }, new[] { "parent" } }, "sys.tables");
        using (var keys = Command(connection, "sp_pkeys", "@table_name", "parent"))
        {
            keys.CommandType = CommandType.StoredProcedure;
            using (var reader = keys.ExecuteReader()) Equal(All(reader).Select(r => new[] { r[3], r[4] }), new[] { new object[] { "b", 1 }, new object[] { "a", 2 } }, "sp_pkeys");
        }
    }
}
