// Random rows of all types, by seed: written by parameters, by bulk copy and as a table-valued parameter, and read back. Every
// value must come back as it went, and the server must hold the three ways' rows for equal.
//
// MILLRACE_RANDOM_ROWS says how many (200 unless it does), MILLRACE_RANDOM_SEED from which seed (1).

using System;
using System.Collections.Generic;
using System.Data;
using System.Data.SqlClient;
using System.Data.SqlTypes;
using System.IO;
using System.Linq;
using System.Text;
using System.Text.RegularExpressions;
using Microsoft.SqlServer.Server;
using Newtonsoft.Json.Linq;
using static Frame;

/// A column of random values: a type of random_types.json.
class RandomColumn
{
    // The printable characters of code page 1252 beyond ASCII.
    const string Western = "€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ¡¢£¤¥¦§¨©ª«¬®¯°±²³´µ¶·¸¹º»¼½¾¿ÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏÐÑÒÓÔÕÖ×ØÙÚÛÜÝÞßàáâãäåæçèéêëìíîïðñòóôõö÷øùúûüýþÿ";
    public readonly string Name, Type, Word;
    readonly int first, second;

    public RandomColumn(string name, string type)
    {
        (Name, Type) = (name, type);
        var match = Regex.Match(type, @"^(\w+)(?:\(([^,)]*)(?:,(\d+))?\))?$");
        Word = match.Groups[1].Value == "numeric" ? "decimal" : match.Groups[1].Value;
        first = !match.Groups[2].Success ? 0 : match.Groups[2].Value == "max" ? -1 : int.Parse(match.Groups[2].Value);
        second = match.Groups[3].Success ? int.Parse(match.Groups[3].Value) : 0;
    }

    /// A table type may have it: those of old large values are not parameters' either.
    public bool IsOld => Word == "text" || Word == "ntext" || Word == "image";

    public SqlParameter Parameter() => Values.Parameter("@" + Name, Type);

    public SqlMetaData MetaData()
    {
        var like = Parameter();
        switch (Word)
        {
            case "decimal": return new SqlMetaData(Name, SqlDbType.Decimal, (byte)first, (byte)second);
            case "time": case "datetime2": case "datetimeoffset": return new SqlMetaData(Name, like.SqlDbType, 0, (byte)first);
            case "char": case "varchar": case "nchar": case "nvarchar": case "binary": case "varbinary": return new SqlMetaData(Name, like.SqlDbType, first);
            default: return new SqlMetaData(Name, like.SqlDbType);
        }
    }

    /// As .NET holds it exactly: decimals as SqlDecimal, the others as the reader's GetValue gives them.
    public object Value(Random random)
    {
        if (random.Next(8) == 0) return null;
        var edge = random.Next(4) == 0;
        switch (Word)
        {
            case "bit": return random.Next(2) == 1;
            case "tinyint": return edge ? Either(random, byte.MinValue, byte.MaxValue) : (byte)random.Next(256);
            case "smallint": return edge ? Either(random, short.MinValue, short.MaxValue) : (short)random.Next(short.MinValue, short.MaxValue);
            case "int": return edge ? Either(random, int.MinValue, int.MaxValue) : random.Next(int.MinValue, int.MaxValue);
            case "bigint": return edge ? Either(random, long.MinValue, long.MaxValue) : Long(random);
            case "decimal": return Decimal(random, edge);
            case "money": return (edge ? Either(random, long.MinValue, long.MaxValue) : Long(random)) / 10000m;
            case "smallmoney": return (edge ? Either(random, int.MinValue, int.MaxValue) : random.Next(int.MinValue, int.MaxValue)) / 10000m;
            case "float": return edge ? Either(random, -1.7976931348623157e308, 2.2250738585072014e-308, 0.0, double.MaxValue) : Finite(BitConverter.Int64BitsToDouble(Long(random)));
            case "real": return edge ? Either(random, float.MinValue, 1.17549435e-38f, 0f, float.MaxValue) : Finite(BitConverter.ToSingle(BitConverter.GetBytes((int)Long(random)), 0));
            case "date": return edge ? Either(random, DateTime.MinValue, DateTime.MaxValue.Date) : new DateTime(Ticks(random)).Date;
            case "datetime": return edge ? Either(random, SqlDateTime.MinValue.Value, SqlDateTime.MaxValue.Value) : new SqlDateTime(random.Next(-53690, 2958464), random.Next(25920000)).Value;
            case "smalldatetime": return edge ? Either(random, new DateTime(1900, 1, 1), new DateTime(2079, 6, 6, 23, 59, 0)) : new DateTime(1900, 1, 1).AddMinutes(random.Next(65535 * 1440));
            case "time": return edge ? Either(random, TimeSpan.Zero, new TimeSpan(Cut(TimeSpan.TicksPerDay - 1))) : new TimeSpan(Cut(Ticks(random) % TimeSpan.TicksPerDay));
            case "datetime2": return edge ? Either(random, DateTime.MinValue, new DateTime(Cut(DateTime.MaxValue.Ticks))) : new DateTime(Cut(Ticks(random)));
            case "datetimeoffset":
                // The moment by UTC stays within the calendar.
                var zone = TimeSpan.FromMinutes(edge ? Either(random, -840, 840, 0) : random.Next(-840, 841));
                return new DateTimeOffset(Cut(TimeSpan.TicksPerDay + Ticks(random) % (DateTime.MaxValue.Ticks - 2 * TimeSpan.TicksPerDay)), zone);
            case "char": return Text(random, first, edge, Narrow).PadRight(first);
            case "nchar": return Text(random, first, edge, Wide).PadRight(first);
            case "varchar": case "text": return Text(random, first, edge, Narrow);
            case "nvarchar": case "ntext": return Text(random, first, edge, Wide);
            case "binary":
                var fixedBytes = Bytes(random, first, edge);
                Array.Resize(ref fixedBytes, first);
                return fixedBytes;
            case "varbinary": case "image": return Bytes(random, first, edge);
            case "uniqueidentifier": return edge ? Guid.Empty : new Guid(Bytes(random, 16, 16));
            case "xml": return Xml(random, edge);
            case "sql_variant": return Variant(random);
            default: throw new ArgumentException(Word);
        }
    }

    static T Either<T>(Random random, params T[] edges) => edges[random.Next(edges.Length)];

    static long Long(Random random) => BitConverter.ToInt64(Bytes(random, 8, 8), 0);

    static double Finite(double value) => double.IsNaN(value) || double.IsInfinity(value) ? 1.5 : value;

    static float Finite(float value) => float.IsNaN(value) || float.IsInfinity(value) ? 1.5f : value;

    static long Ticks(Random random) => (Long(random) & long.MaxValue) % (DateTime.MaxValue.Ticks + 1);

    /// Without what the scale has no place for.
    long Cut(long ticks)
    {
        var unit = (long)Math.Pow(10, 7 - first);
        return ticks / unit * unit;
    }

    object Decimal(Random random, bool edge)
    {
        var length = edge ? first : random.Next(1, first + 1);
        var digits = new StringBuilder();
        for (var n = 0; n < length; n++) digits.Append(edge ? '9' : (char)('0' + random.Next(10)));
        var text = digits.ToString().PadLeft(second + 1, '0');
        text = text.Substring(0, text.Length - second) + (second > 0 ? "." + text.Substring(text.Length - second) : "");
        return SqlDecimal.ConvertToPrecScale(SqlDecimal.Parse(random.Next(2) == 0 ? text : "-" + text), first, second);
    }

    static string Narrow(Random random) => random.Next(3) == 0 ? Western[random.Next(Western.Length)].ToString() : ((char)random.Next(32, 127)).ToString();

    /// A character of one unit or of two. Half of a pair by itself SqlClient does not let through.
    static string Wide(Random random)
    {
        switch (random.Next(5))
        {
            case 0: return char.ConvertFromUtf32(random.Next(0x10000, 0x110000));
            case 1: return ((char)random.Next(0xe000, 0x10000)).ToString();
            case 2: return ((char)random.Next(1, 0xd800)).ToString();
            default: return ((char)random.Next(32, 127)).ToString();
        }
    }

    static int Length(Random random, int most, bool edge)
    {
        if (edge && random.Next(2) == 0) return 0;
        // A (max) value: mostly short, some over pages, at an edge of the protocol's chunks.
        if (most <= 0) return edge ? Either(random, 4000, 4001, 8000, 8001, 70000) : random.Next(random.Next(20) == 0 ? 30000 : 60);
        // Rows have room for one long value, not for all of them.
        return most > 1000 ? (edge && random.Next(20) == 0 ? Math.Min(most, 2000) : random.Next(100)) : edge ? most : random.Next(most + 1);
    }

    static string Text(Random random, int most, bool edge, Func<Random, string> character)
    {
        var length = Length(random, most, edge);
        var text = new StringBuilder();
        while (text.Length < length) text.Append(character(random));
        if (text.Length > length) text.Remove(length - 1, text.Length - length + 1).Append('x');
        return text.ToString();
    }

    static byte[] Bytes(Random random, int most, bool edge)
    {
        var length = Length(random, most, edge);
        return Bytes(random, length, length);
    }

    static byte[] Bytes(Random random, int length, int _)
    {
        var bytes = new byte[length];
        random.NextBytes(bytes);
        return bytes;
    }

    static string Xml(Random random, bool edge)
    {
        if (edge) return random.Next(2) == 0 ? "" : "<e/>";
        var text = new string(Enumerable.Range(0, random.Next(1, 30)).Select(n => "abc äßλ漢字xyz"[random.Next(12)]).ToArray()).Trim() + "z";
        return $"<r a=\"{text} &lt;&amp;\" n=\"{random.Next()}\"><c>{text}&amp;&lt;&gt;</c><d/>t</r>";
    }

    static object Variant(Random random)
    {
        switch (random.Next(12))
        {
            case 0: return random.Next(2) == 1;
            case 1: return (byte)random.Next(256);
            case 2: return (short)random.Next(short.MinValue, short.MaxValue);
            case 3: return random.Next();
            case 4: return Long(random);
            case 5: return new decimal(random.Next(), random.Next(), random.Next(), random.Next(2) == 0, (byte)random.Next(29));
            case 6: return (double)random.Next() / 7;
            case 7: return (float)random.Next();
            case 8: return new SqlDateTime(random.Next(-53690, 2958464), random.Next(25920000)).Value;
            case 9: return Text(random, 50, false, Wide);
            case 10: return Bytes(random, 50, false);
            default: return new Guid(Bytes(random, 16, 16));
        }
    }
}

static partial class Suite
{
    const string Ways = "by_parameters by_bulk_copy by_table";

    static void RandomRows()
    {
        Func<string, int, int> Number = (name, otherwise) => int.TryParse(Environment.GetEnvironmentVariable(name), out var n) ? n : otherwise;
        var (count, seed) = (Number("MILLRACE_RANDOM_ROWS", 200), Number("MILLRACE_RANDOM_SEED", 1));
        var columns = JArray.Parse(File.ReadAllText(Path.Combine(Tests, "random_types.json"))).Select((type, n) => new RandomColumn($"c{n}", (string)type)).ToList();
        var random = new Random(seed);
        var rows = Enumerable.Range(0, count).Select(n => columns.Select(c => c.Value(random)).ToArray()).ToList();
        var connection = Opened();
        var ways = Ways.Split(' ');
        var listed = string.Join(", ", columns.Select(c => c.Name));
        foreach (var way in ways)
            Execute(connection, $"DROP TABLE IF EXISTS dbo.{way}; CREATE TABLE dbo.{way} (id int NOT NULL PRIMARY KEY, {string.Join(", ", columns.Select(c => $"{c.Name} {c.Type} NULL"))}, version rowversion NOT NULL)");
        ByParameters(connection, columns, rows, listed);
        ByBulkCopy(connection, columns, rows);
        ByTable(connection, columns, rows, listed);
        foreach (var way in ways)
            foreach (var where in new[] { "", " WHERE id >= @from" })
                using (var command = Command(connection, $"SELECT id, {listed}, version FROM dbo.{way}{where} ORDER BY id", "@from", 0))
                using (var reader = command.ExecuteReader())
                    ReadBack(reader, columns, rows, way + where);
        // The server's own comparison, by bytes.
        foreach (var way in ways.Skip(1))
            foreach (var column in columns)
            {
                Func<string, string> As = (table) => column.Word == "xml" || column.IsOld ? $"CAST({table}.{column.Name} AS {(column.Word == "image" ? "varbinary(max)" : "nvarchar(max)")})" : $"{table}.{column.Name}";
                // What precision a decimal in a variant has is the client's choice, and another for each way.
                var lengths = column.Word == "sql_variant" ? "" : $" OR DATALENGTH(a.{column.Name}) <> DATALENGTH(b.{column.Name})";
                var wrong = Scalar(connection, $"SELECT COUNT(*) FROM dbo.{ways[0]} a FULL JOIN dbo.{way} b ON a.id = b.id WHERE a.id IS NULL OR b.id IS NULL OR (a.{column.Name} IS NULL AND b.{column.Name} IS NOT NULL) OR (a.{column.Name} IS NOT NULL AND b.{column.Name} IS NULL) OR {As("a")} <> {As("b")}{lengths}");
                Equal(wrong, 0, $"{column.Type}: rows that differ between {ways[0]} and {way}");
            }
    }

    static void ByParameters(SqlConnection connection, List<RandomColumn> columns, List<object[]> rows, string listed)
    {
        using (var command = new SqlCommand($"INSERT INTO dbo.by_parameters (id, {listed}) VALUES (@id, {string.Join(", ", columns.Select(c => "@" + c.Name))})", connection))
        {
            command.Parameters.Add("@id", SqlDbType.Int);
            foreach (var column in columns) command.Parameters.Add(column.Parameter());
            for (var n = 0; n < rows.Count; n++)
            {
                command.Parameters[0].Value = n;
                for (var i = 0; i < columns.Count; i++) command.Parameters[i + 1].Value = rows[n][i] ?? DBNull.Value;
                Noting($"row {n} by parameters", () => command.ExecuteNonQuery());
            }
        }
    }

    static void ByBulkCopy(SqlConnection connection, List<RandomColumn> columns, List<object[]> rows)
    {
        var table = new DataTable();
        table.Columns.Add("id", typeof(int));
        foreach (var column in columns) table.Columns.Add(column.Name, column.Word == "decimal" ? typeof(SqlDecimal) : typeof(object));
        for (var n = 0; n < rows.Count; n++) table.Rows.Add(new object[] { n }.Concat(rows[n].Select(v => v ?? DBNull.Value)).ToArray());
        Noting("bulk copy", () =>
        {
            using (var copy = new SqlBulkCopy(connection) { DestinationTableName = "dbo.by_bulk_copy", BatchSize = 1000 })
            {
                foreach (DataColumn column in table.Columns) copy.ColumnMappings.Add(column.ColumnName, column.ColumnName);
                copy.WriteToServer(table);
            }
        });
    }

    static void ByTable(SqlConnection connection, List<RandomColumn> columns, List<object[]> rows, string listed)
    {
        Execute(connection, $"IF TYPE_ID(N'dbo.random_row') IS NOT NULL DROP TYPE dbo.random_row; CREATE TYPE dbo.random_row AS TABLE (id int NOT NULL, {string.Join(", ", columns.Select(c => $"{c.Name} {c.Type} NULL"))})");
        var meta = new[] { new SqlMetaData("id", SqlDbType.Int) }.Concat(columns.Select(c => c.MetaData())).ToArray();
        Func<int, SqlDataRecord> Record = (n) =>
        {
            var record = new SqlDataRecord(meta);
            record.SetInt32(0, n);
            for (var i = 0; i < columns.Count; i++)
            {
                var value = rows[n][i];
                if (value == null) record.SetDBNull(i + 1);
                else if (value is SqlDecimal d) record.SetSqlDecimal(i + 1, d);
                else if (columns[i].Word == "xml") record.SetSqlXml(i + 1, new SqlXml(new MemoryStream(Encoding.Unicode.GetBytes("\ufeff" + (string)value))));
                else record.SetValue(i + 1, value);
            }
            return record;
        };
        Noting("a table-valued parameter", () =>
        {
            for (var from = 0; from < rows.Count; from += 500)
                using (var command = new SqlCommand($"INSERT INTO dbo.by_table (id, {listed}) SELECT id, {listed} FROM @rows", connection))
                {
                    var parameter = command.Parameters.Add("@rows", SqlDbType.Structured);
                    parameter.TypeName = "dbo.random_row";
                    parameter.Value = Enumerable.Range(from, Math.Min(500, rows.Count - from)).Select(Record);
                    command.ExecuteNonQuery();
                }
        });
    }

    static void ReadBack(SqlDataReader reader, List<RandomColumn> columns, List<object[]> rows, string way)
    {
        for (var i = 0; i < columns.Count; i++) if (!columns[i].IsOld) Equal(reader.GetDataTypeName(i + 1), columns[i].Type.Split('(')[0].Replace("numeric", "decimal"), $"{way}: type of {columns[i].Type}");
        var bad = new Dictionary<int, int>();
        var (at, version) = (0, 0UL);
        for (; reader.Read(); at++)
        {
            Equal(reader.GetInt32(0), at, $"{way}: id");
            for (var i = 0; i < columns.Count; i++)
            {
                var (got, want) = (Read(reader, i + 1, columns[i].Word), rows[at][i]);
                if (Same(got, want)) continue;
                // A type that goes wrong is told of three times.
                bad.TryGetValue(i, out var before);
                bad[i] = before + 1;
                if (before < 3) Check(false, $"{way}: {columns[i].Type}, row {at}: expected {Plain(want)}, got {Plain(got)}");
            }
            var stamp = BitConverter.ToUInt64(((byte[])reader.GetValue(columns.Count + 1)).Reverse().ToArray(), 0);
            Check(stamp > version, $"{way}: rowversion of row {at}");
            version = stamp;
        }
        Equal(at, rows.Count, $"{way}: rows");
    }

    static object Read(SqlDataReader reader, int at, string word)
    {
        if (reader.IsDBNull(at)) return null;
        if (word == "decimal") return reader.GetSqlDecimal(at);
        // SqlClient writes XML anew as it reads it.
        return word == "xml" ? reader.GetString(at).Replace(" />", "/>") : reader.GetValue(at);
    }

    /// As ASCII, in which halves of pairs can be seen.
    static string Plain(object value) => Short(string.Concat(Show(value).Select(c => c >= ' ' && c < 127 ? c.ToString() : $"\\u{(int)c:x4}")), 120);

    static bool Same(object got, object want)
    {
        if (got == null || want == null) return got == null && want == null;
        if (got is byte[] a && want is byte[] b) return a.SequenceEqual(b);
        if (got is SqlDecimal c && want is SqlDecimal d) return c.ToString() == d.ToString();
        if (got is DateTimeOffset e && want is DateTimeOffset f) return e.EqualsExact(f);
        if (got is string g && want is string h) return string.Equals(g, h, StringComparison.Ordinal);
        return got.GetType() == want.GetType() && got.Equals(want);
    }
}
