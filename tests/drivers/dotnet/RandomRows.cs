// Random rows of all types, by seed: written by parameters, by bulk copy and as a table-valued parameter, and read back. Every
// value must come back as it went, and be the same to the server: what T-SQL computes of each (SHA2_256 of its bytes or of its
// text, by `forms` of random_types.json) is what is computed here of the value that was sent.
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
    public readonly string Name, Type, Word, Collation;
    readonly int first, second;

    public RandomColumn(string name, string type)
    {
        (Name, Type) = (name, type);
        var match = Regex.Match(type, @"^(\w+)(?:\(([^,)]*)(?:,(\d+))?\))?(?: COLLATE (\w+))?$");
        Collation = match.Groups[4].Value;
        Word = match.Groups[1].Value == "numeric" ? "decimal" : match.Groups[1].Value;
        first = !match.Groups[2].Success ? 0 : match.Groups[2].Value == "max" ? -1 : int.Parse(match.Groups[2].Value);
        second = match.Groups[3].Success ? int.Parse(match.Groups[3].Value) : 0;
    }

    /// A table type may have it: those of old large values are not parameters' either.
    public bool IsOld => Word == "text" || Word == "ntext" || Word == "image";

    public bool IsClr => Word == "hierarchyid" || Word == "geometry" || Word == "geography";

    /// What a program declares: text in a collation of its own as Unicode, since varchar is in the database's; bytes of CLR types.
    string Declared => IsClr ? "varbinary(max)" : Collation == "" ? Type : $"n{Word.TrimStart('n')}({(first < 0 ? "max" : first.ToString())})";

    public SqlParameter Parameter() => Values.Parameter("@" + Name, Declared);

    public SqlMetaData MetaData()
    {
        var like = Parameter();
        if (IsClr) return new SqlMetaData(Name, SqlDbType.VarBinary, -1);
        if (Collation != "") return new SqlMetaData(Name, like.SqlDbType, first);
        switch (Word)
        {
            case "decimal": return new SqlMetaData(Name, SqlDbType.Decimal, (byte)first, (byte)second);
            case "time": case "datetime2": case "datetimeoffset": return new SqlMetaData(Name, like.SqlDbType, 0, (byte)first);
            case "char": case "varchar": case "nchar": case "nvarchar": case "binary": case "varbinary": return new SqlMetaData(Name, like.SqlDbType, first);
            default: return new SqlMetaData(Name, like.SqlDbType);
        }
    }

    /// Size, precision and scale, where the type has one; whether it is a long one.
    public (int?, int?, int?, bool) Told()
    {
        switch (Word)
        {
            case "tinyint": return (1, 3, 255, false);
            case "smallint": return (2, 5, 255, false);
            case "int": return (4, 10, 255, false);
            case "bigint": return (8, 19, 255, false);
            case "bit": return (1, 255, 255, false);
            case "decimal": return (17, first, second, false);
            case "money": return (8, 19, 255, false);
            case "smallmoney": return (4, 10, 255, false);
            case "float": return (8, 15, 255, false);
            case "real": return (4, 7, 255, false);
            case "time": case "datetime2": case "datetimeoffset": return (null, null, first, false);
            case "uniqueidentifier": return (16, 255, 255, false);
            case "char": case "nchar": case "varchar": case "nvarchar": case "binary": case "varbinary": return (first < 0 ? int.MaxValue : first, 255, 255, first < 0);
            case "text": case "image": return (int.MaxValue, 255, 255, true);
            case "ntext": return (int.MaxValue / 2, 255, 255, true);
            case "xml": case "geometry": case "geography": return (int.MaxValue, 255, 255, true);
            case "hierarchyid": return (892, 255, 255, false);
            default: return (null, null, null, false);
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
            case "char": case "varchar": case "nvarchar":
                if (Collation == "") break;
                var own = Collation.EndsWith("UTF8") ? Utf8(random, edge) : Collation.EndsWith("BIN2") ? Text(random, first, edge, Wide) : Text(random, Collation.StartsWith("Jap") ? first / 2 : first, edge, Alphabet);
                return Word == "char" ? own.PadRight(first) : own;
            case "hierarchyid": return Path(random);
            case "geometry": case "geography": return Shape(random, edge);
        }
        switch (Word)
        {
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

    string Alphabet(Random random)
    {
        var letters = Collation.StartsWith("Cyr") ? "АБВЯабвяёЁЖжЎў№" : Collation.StartsWith("Greek") ? "ΑΒΓΩαβγωάέήΐΰςΏ" : "あいうアイウ漢字表示東京ｱｲ。、";
        return random.Next(3) == 0 ? ((char)random.Next(32, 127)).ToString() : letters[random.Next(letters.Length)].ToString();
    }

    /// As many bytes as the column has at most.
    string Utf8(Random random, bool edge)
    {
        var (text, left) = (new StringBuilder(), Length(random, first, edge));
        for (var next = Wide(random); Encoding.UTF8.GetByteCount(next) <= left; next = Wide(random))
        {
            text.Append(next);
            left -= Encoding.UTF8.GetByteCount(next);
        }
        return text.ToString();
    }

    /// A hierarchyid of levels from 0 to 3, of which each has five bits: 01, the number, 1.
    static byte[] Path(Random random)
    {
        var bits = string.Concat(Enumerable.Range(0, random.Next(8)).Select(n => $"01{Convert.ToString(random.Next(4), 2).PadLeft(2, '0')}1"));
        return Enumerable.Range(0, (bits.Length + 7) / 8).Select(n => Convert.ToByte(bits.PadRight(40, '0').Substring(n * 8, 8), 2)).ToArray();
    }

    /// A point, or a line of two points, as [MS-SSCLRT] writes them; of the earth latitude comes first.
    byte[] Shape(Random random, bool edge)
    {
        var line = random.Next(2) == 0;
        var bytes = new MemoryStream();
        var writer = new BinaryWriter(bytes);
        writer.Write(Word == "geography" ? 4326 : edge ? 0 : random.Next(1000000));
        writer.Write((byte)1);
        writer.Write((byte)(line ? 0x14 : 0x0c));
        for (var n = 0; n < (line ? 2 : 1); n++)
        {
            writer.Write(random.NextDouble() * 170 - 85);
            writer.Write(n * 20 + random.NextDouble() * 10 - (Word == "geography" ? 100 : 1e6));
        }
        return bytes.ToArray();
    }

    /// What the server computes of the value, as the bytes that HASHBYTES takes.
    public byte[] Form(object value)
    {
        var plain = System.Globalization.CultureInfo.InvariantCulture;
        Func<byte[], byte[]> Turned = (b8) => b8.Reverse().ToArray();
        if (value == null) return null;
        if (Word == "sql_variant") return Encoding.Unicode.GetBytes(OfVariant(value));
        if (value is byte[] same) return same;
        if (value is string text) return Encoding.Unicode.GetBytes(text);
        if (value is double d) return Turned(BitConverter.GetBytes(d));
        if (value is float f) return Turned(BitConverter.GetBytes(f));
        if (value is bool b) return Encoding.ASCII.GetBytes(b ? "1" : "0");
        if (value is Guid g) return Encoding.ASCII.GetBytes(g.ToString().ToUpperInvariant());
        return Encoding.ASCII.GetBytes(Written(value, plain));
    }

    string Written(object value, IFormatProvider plain)
    {
        var digits = first == 0 ? "" : "." + new string('f', first);
        switch (Word)
        {
            case "money": case "smallmoney": return ((decimal)value).ToString("0.0000", plain);
            case "date": return ((DateTime)value).ToString("yyyy-MM-dd", plain);
            case "datetime": return ((DateTime)value).ToString("yyyy-MM-dd HH:mm:ss.fff", plain);
            case "smalldatetime": return ((DateTime)value).ToString("yyyy-MM-dd HH:mm:ss", plain);
            case "time": return (DateTime.MinValue + (TimeSpan)value).ToString("HH:mm:ss" + digits, plain);
            case "datetime2": return ((DateTime)value).ToString("yyyy-MM-dd HH:mm:ss" + digits, plain);
            case "datetimeoffset": return ((DateTimeOffset)value).ToString("yyyy-MM-dd HH:mm:ss" + digits + " zzz", plain);
            default: return value is SqlDecimal d ? d.ToString() : ((IFormattable)value).ToString(null, plain);
        }
    }

    /// Its base type and its text.
    static string OfVariant(object value)
    {
        var plain = System.Globalization.CultureInfo.InvariantCulture;
        if (value is bool b) return b ? "bit 1" : "bit 0";
        if (value is byte n8) return "tinyint " + n8.ToString(plain);
        if (value is short n16) return "smallint " + n16.ToString(plain);
        if (value is int n32) return "int " + n32.ToString(plain);
        if (value is long n64) return "bigint " + n64.ToString(plain);
        if (value is decimal n) return "numeric " + n.ToString(plain);
        if (value is double d) return "float " + Values.Hex(BitConverter.GetBytes(d).Reverse().ToArray()).ToUpperInvariant();
        if (value is float f) return "real " + Values.Hex(BitConverter.GetBytes(f).Reverse().ToArray()).ToUpperInvariant();
        if (value is DateTime t) return "datetime " + t.ToString("yyyy-MM-dd HH:mm:ss.fff", plain);
        if (value is TimeSpan u) return "time " + (DateTime.MinValue + u).ToString("HH:mm:ss.fffffff", plain);
        if (value is DateTimeOffset v) return "datetimeoffset " + v.ToString("yyyy-MM-dd HH:mm:ss.fffffff zzz", plain);
        if (value is byte[] bytes) return "varbinary " + Values.Hex(bytes).ToUpperInvariant();
        if (value is Guid g) return "uniqueidentifier " + g.ToString().ToUpperInvariant();
        return "nvarchar " + value;
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
        if (most <= 0) return edge ? Either(random, 4000, 4001, 8000, 8001, random.Next(8) == 0 ? 100000 : 9000) : random.Next(random.Next(20) == 0 ? 30000 : 60);
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
        switch (random.Next(14))
        {
            case 12: return new TimeSpan(Ticks(random) % TimeSpan.TicksPerDay);
            case 13: return new DateTimeOffset(TimeSpan.TicksPerDay + Ticks(random) % (DateTime.MaxValue.Ticks - 2 * TimeSpan.TicksPerDay), TimeSpan.FromMinutes(random.Next(-840, 841)));
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
        var all = JObject.Parse(File.ReadAllText(Path.Combine(Tests, "random_types.json")));
        var columns = all["types"].Select((type, n) => new RandomColumn($"c{n}", (string)type)).ToList();
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
        using (var sha = System.Security.Cryptography.SHA256.Create())
        {
            var want = rows.Select(row => columns.Select((c, i) => row[i] == null ? null : sha.ComputeHash(c.Form(row[i]))).ToArray()).ToList();
            foreach (var way in ways) Compare(connection, columns, rows, want, way, all["forms"]);
        }
    }

    /// What T-SQL computes of each value.
    static void Compare(SqlConnection connection, List<RandomColumn> columns, List<object[]> rows, List<byte[][]> want, string way, JToken forms)
    {
        var sums = string.Join(", ", columns.Select(c => $"HASHBYTES('SHA2_256', {((string)forms[c.Word]).Replace("$", c.Name)})"));
        using (var command = Command(connection, $"SELECT {sums} FROM dbo.{way} ORDER BY id"))
        using (var reader = command.ExecuteReader())
        {
            var bad = new int[columns.Count];
            for (var at = 0; reader.Read() && at < rows.Count; at++)
                for (var i = 0; i < columns.Count; i++)
                {
                    var got = reader.IsDBNull(i) ? null : (byte[])reader.GetValue(i);
                    if (Same(got, want[at][i])) continue;
                    if (bad[i]++ < 3) Check(false, $"{way}: {columns[i].Type}, row {at}: T-SQL's sum is not that of {Plain(rows[at][i])}");
                }
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
        Told(reader.GetSchemaTable(), columns, way);
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

    /// What the server says of the columns: as SqlDataReader.GetSchemaTable documents it.
    static void Told(DataTable told, List<RandomColumn> columns, string way)
    {
        for (var i = 0; i < columns.Count + 2; i++)
        {
            var row = told.Rows[i];
            var column = i == 0 || i > columns.Count ? null : columns[i - 1];
            Func<string, object> Of = (name) => row[name] is DBNull ? null : row[name];
            var what = $"{way}: {column?.Type ?? (string)row["ColumnName"]}";
            Equal(Of("AllowDBNull"), column != null, $"{what}: AllowDBNull");
            Equal(Of("ColumnOrdinal"), i, $"{what}: ColumnOrdinal");
            Equal(Of("IsReadOnly"), i > columns.Count, $"{what}: IsReadOnly");
            if (column == null) continue;
            Equal(Of("ColumnName"), column.Name, $"{what}: ColumnName");
            // This client does not say that it reads UTF-8, and is sent UTF-16.
            var word = column.Collation.EndsWith("UTF8") ? "nvarchar" : column.Word;
            Equal(((string)Of("DataTypeName")).Split('.').Last(), word, $"{what}: DataTypeName");
            var (size, precision, scale, isLong) = column.Told();
            if (size != null) Equal(Of("ColumnSize"), size, $"{what}: ColumnSize");
            if (precision != null) Equal(Of("NumericPrecision"), precision, $"{what}: NumericPrecision");
            if (scale != null) Equal(Of("NumericScale"), scale, $"{what}: NumericScale");
            Equal(Of("IsLong"), isLong, $"{what}: IsLong");
        }
    }

    static object Read(SqlDataReader reader, int at, string word)
    {
        if (reader.IsDBNull(at)) return null;
        if (word == "decimal") return reader.GetSqlDecimal(at);
        // SqlClient writes XML anew as it reads it.
        if (word == "hierarchyid" || word == "geometry" || word == "geography") return reader.GetSqlBytes(at).Value;
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
