// Values there and back: the cases of types.json as .NET's, and whether what came is the value, exactly.

using System;
using System.Data;
using System.Data.SqlClient;
using System.Data.SqlTypes;
using System.Globalization;
using System.Text.RegularExpressions;

static class Values
{
    static readonly CultureInfo Plain = CultureInfo.InvariantCulture;

    /// A parameter of a type of types.json.
    public static SqlParameter Parameter(string name, string type)
    {
        var match = Regex.Match(type, @"^(\w+)(?:\(([^,)]*)(?:,(\d+))?\))?$");
        var word = match.Groups[1].Value;
        var parameter = new SqlParameter(name, Of(word));
        if (!match.Groups[2].Success) return parameter;
        var length = match.Groups[2].Value == "max" ? -1 : int.Parse(match.Groups[2].Value);
        if (word == "decimal" || word == "numeric")
        {
            parameter.Precision = (byte)length;
            parameter.Scale = match.Groups[3].Success ? byte.Parse(match.Groups[3].Value) : (byte)0;
        }
        else if (word == "time" || word == "datetime2" || word == "datetimeoffset") parameter.Scale = (byte)length;
        else parameter.Size = length;
        return parameter;
    }

    static SqlDbType Of(string word)
    {
        switch (word)
        {
            case "numeric": return SqlDbType.Decimal;
            case "sql_variant": return SqlDbType.Variant;
            case "rowversion": return SqlDbType.Timestamp;
            default: return (SqlDbType)Enum.Parse(typeof(SqlDbType), word, true);
        }
    }

    /// The value as a program passes it.
    public static object Native(string kind, string text)
    {
        switch (kind)
        {
            case "bit": return text == "1";
            case "int": case "bigint": return long.Parse(text, Plain);
            case "decimal": return SqlDecimal.Parse(text);
            case "money": return decimal.Parse(text, Plain);
            case "float": return double.Parse(text, Plain);
            case "real": return float.Parse(text, Plain);
            case "varchar": case "nvarchar": return text;
            case "binary": return Bytes(text);
            case "date": case "datetime": case "datetime2": return DateTime.Parse(text, Plain);
            case "time": return TimeSpan.Parse(text, Plain);
            case "datetimeoffset": return DateTimeOffset.Parse(text, Plain);
            case "guid": return Guid.Parse(text);
            default: throw new ArgumentException(kind);
        }
    }

    /// Whether the column at hand holds the value.
    public static bool Same(string kind, string text, SqlDataReader row, int at)
    {
        if (row.IsDBNull(at)) return false;
        switch (kind)
        {
            case "bit": return row.GetBoolean(at) == (text == "1");
            case "int": case "bigint": return Convert.ToInt64(row.GetValue(at)) == long.Parse(text, Plain);
            case "decimal": return row.GetSqlDecimal(at).ToString() == text;
            case "money": return row.GetDecimal(at) == decimal.Parse(text, Plain);
            case "float": return row.GetDouble(at) == double.Parse(text, Plain);
            case "real": return row.GetFloat(at) == float.Parse(text, Plain);
            case "varchar": case "nvarchar": return row.GetString(at) == text;
            case "binary": return Hex((byte[])row.GetValue(at)) == text;
            case "date": case "datetime": case "datetime2": return row.GetDateTime(at) == DateTime.Parse(text, Plain);
            case "time": return row.GetTimeSpan(at) == TimeSpan.Parse(text, Plain);
            case "datetimeoffset":
                var (got, want) = (row.GetDateTimeOffset(at), DateTimeOffset.Parse(text, Plain));
                return got == want && got.Offset == want.Offset;
            case "guid": return row.GetGuid(at) == Guid.Parse(text);
            default: throw new ArgumentException(kind);
        }
    }

    public static string Hex(byte[] bytes) => BitConverter.ToString(bytes).Replace("-", "").ToLowerInvariant();

    static byte[] Bytes(string hex)
    {
        var bytes = new byte[hex.Length / 2];
        for (var i = 0; i < bytes.Length; i++) bytes[i] = Convert.ToByte(hex.Substring(2 * i, 2), 16);
        return bytes;
    }
}
