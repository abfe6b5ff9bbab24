import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.HexFormat;

import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import com.microsoft.sqlserver.jdbc.SQLServerResultSet;

import microsoft.sql.DateTimeOffset;

/** Values there and back: the cases of ../types.json through java.time and java.math, which hold all of them exactly. */
class Values {
    /** Whether column {@code i} of the current row is the value, exactly. */
    static boolean same(String kind, String text, ResultSet row, int i) throws Exception {
        switch (kind) {
            case "bit":
                return row.getBoolean(i) == text.equals("1");
            case "int":
                return row.getInt(i) == Integer.parseInt(text);
            case "bigint":
                return row.getLong(i) == Long.parseLong(text);
            case "decimal":
            case "money":
                return new BigDecimal(text).equals(row.getBigDecimal(i));
            case "float":
                return row.getDouble(i) == Double.parseDouble(text);
            case "real":
                return row.getFloat(i) == Float.parseFloat(text);
            case "varchar":
                return text.equals(row.getString(i));
            case "nvarchar":
                return text.equals(row.getNString(i));
            case "binary":
                return Arrays.equals(HexFormat.of().parseHex(text), row.getBytes(i));
            case "date":
                return LocalDate.parse(text).equals(row.getObject(i, LocalDate.class));
            case "time":
                // java.sql.Time has no fraction; getString shows the column's own digits.
                return text.equals(row.getString(i));
            case "datetime":
            case "datetime2":
                return LocalDateTime.parse(text.replace(' ', 'T')).equals(row.getObject(i, LocalDateTime.class));
            case "datetimeoffset":
                DateTimeOffset got = ((SQLServerResultSet) row).getDateTimeOffset(i);
                return got != null && offset(text).equals(got.getOffsetDateTime());
            case "guid":
                return text.equals(row.getString(i));
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    static OffsetDateTime offset(String text) {
        int zone = text.lastIndexOf(' ');
        LocalDateTime moment = LocalDateTime.parse(text.substring(0, zone).replace(' ', 'T'));
        return OffsetDateTime.of(moment, ZoneOffset.of(text.substring(zone + 1)));
    }

    /** Sets parameter {@code i} the way a program does that knows the column's type. */
    static void set(PreparedStatement statement, int i, String type, String kind, String text) throws Exception {
        switch (kind) {
            case "bit":
                statement.setBoolean(i, text.equals("1"));
                break;
            case "int":
                statement.setInt(i, Integer.parseInt(text));
                break;
            case "bigint":
                statement.setLong(i, Long.parseLong(text));
                break;
            case "decimal":
                statement.setBigDecimal(i, new BigDecimal(text));
                break;
            case "money":
                ((SQLServerPreparedStatement) statement).setMoney(i, new BigDecimal(text));
                break;
            case "float":
                statement.setDouble(i, Double.parseDouble(text));
                break;
            case "real":
                statement.setFloat(i, Float.parseFloat(text));
                break;
            case "varchar":
                statement.setString(i, text);
                break;
            case "nvarchar":
                statement.setNString(i, text);
                break;
            case "binary":
                statement.setBytes(i, HexFormat.of().parseHex(text));
                break;
            case "date":
                statement.setObject(i, LocalDate.parse(text));
                break;
            case "time":
                statement.setObject(i, LocalTime.parse(text));
                break;
            case "datetime":
                ((SQLServerPreparedStatement) statement).setDateTime(i, java.sql.Timestamp.valueOf(text));
                break;
            case "datetime2":
                statement.setObject(i, LocalDateTime.parse(text.replace(' ', 'T')));
                break;
            case "datetimeoffset":
                statement.setObject(i, offset(text));
                break;
            case "guid":
                ((SQLServerPreparedStatement) statement).setUniqueIdentifier(i, text);
                break;
            default:
                throw new IllegalArgumentException(kind);
        }
    }

    /** The JDBC type with which NULL is sent. */
    static int nullType(String kind) {
        switch (kind) {
            case "bit": return Types.BIT;
            case "int": return Types.INTEGER;
            case "bigint": return Types.BIGINT;
            case "decimal": case "money": return Types.DECIMAL;
            case "float": return Types.DOUBLE;
            case "real": return Types.REAL;
            case "varchar": return Types.VARCHAR;
            case "nvarchar": return Types.NVARCHAR;
            case "binary": return Types.VARBINARY;
            case "date": return Types.DATE;
            case "time": return Types.TIME;
            case "datetime": case "datetime2": return Types.TIMESTAMP;
            case "datetimeoffset": return microsoft.sql.Types.DATETIMEOFFSET;
            case "guid": return Types.CHAR;
            default: throw new IllegalArgumentException(kind);
        }
    }
}
