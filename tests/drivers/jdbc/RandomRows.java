import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopyOptions;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;
import com.microsoft.sqlserver.jdbc.SQLServerResultSet;

import microsoft.sql.DateTimeOffset;

/**
 * Random rows of all types, by seed: written by parameters, copied in bulk from there, and sent as a table-valued parameter; read
 * back from each. Every value must come back as it went, and be the same to the server: what T-SQL computes of each (SHA2_256 of
 * its bytes or of its text, by {@code forms} of random_types.json) is what is computed here of the value that was sent. What the
 * driver's metadata say of the columns is checked besides.
 *
 * <p>MILLRACE_RANDOM_ROWS says how many (100 unless it does), MILLRACE_RANDOM_SEED from which seed (1).
 */
class RandomRows extends Frame {
    private static final String[] WAYS = {"by_parameters", "by_bulk_copy", "by_table"};
    private static final String WESTERN = western();
    private static final LocalDateTime FIRST = LocalDate.of(1, 1, 1).atStartOfDay();
    private static final LocalDateTime LAST = LocalDate.of(9999, 12, 31).atTime(23, 59, 59, 999_999_900);

    /** A type of ../random_types.json, and the column c0, c1 ... that has it. */
    private static final class Column {
        final String name;
        final String type;
        final String word;
        final int first;
        final int second;
        final String collation;

        Column(int n, String type) {
            Matcher parts = Pattern.compile("(\\w+)(?:\\((max|\\d+)(?:,(\\d+))?\\))?(?: COLLATE (\\w+))?").matcher(type);
            parts.matches();
            this.name = "c" + n;
            this.type = type;
            this.word = parts.group(1).equals("numeric") ? "decimal" : parts.group(1);
            this.first = parts.group(2) == null ? 0 : parts.group(2).equals("max") ? -1 : Integer.parseInt(parts.group(2));
            this.collation = parts.group(4) == null ? "" : parts.group(4);
            this.second = parts.group(3) == null ? 0 : Integer.parseInt(parts.group(3));
        }

        boolean isOld() {
            return word.equals("text") || word.equals("ntext") || word.equals("image");
        }

        /** In bulk the driver writes varchar(max) in the database's code page, whatever the column's. */
        boolean isLeftOut() {
            return !collation.isEmpty() && first < 0;
        }

        boolean isClr() {
            return List.of("hierarchyid", "geometry", "geography").contains(word);
        }

        Object value(Random r) {
            // NULL in a variant of a table the driver sends as that of another type.
            if (r.nextInt(8) == 0 && !word.equals("sql_variant")) {
                return null;
            }
            boolean edge = r.nextInt(4) == 0;
            if (!collation.isEmpty()) {
                return collated(r, length(r, edge));
            }
            switch (word) {
                case "hierarchyid": return path(r);
                case "geometry": case "geography": return shape(r, word.equals("geography"), edge);
                case "bit": return r.nextBoolean();
                case "tinyint": return whole(r, edge, 0, 255);
                case "smallint": return whole(r, edge, -32768, 32767);
                case "int": return whole(r, edge, Integer.MIN_VALUE, Integer.MAX_VALUE);
                case "bigint": return whole(r, edge, Long.MIN_VALUE, Long.MAX_VALUE);
                case "decimal": return decimal(r, edge);
                case "money": return BigDecimal.valueOf(whole(r, edge, Long.MIN_VALUE, Long.MAX_VALUE), 4);
                case "smallmoney": return BigDecimal.valueOf(whole(r, edge, Integer.MIN_VALUE, Integer.MAX_VALUE), 4);
                case "float":
                    double d = edge ? pick(r, -Double.MAX_VALUE, Double.MIN_NORMAL, 0.0) : Double.longBitsToDouble(r.nextLong());
                    return Double.isFinite(d) ? d : 1.5;
                case "real":
                    float f = edge ? pick(r, -Float.MAX_VALUE, Float.MIN_NORMAL, 0f) : Float.intBitsToFloat(r.nextInt());
                    return Float.isFinite(f) ? f : 1.5f;
                case "date": return (edge ? pick(r, FIRST, LAST) : moment(r, FIRST, LAST)).toLocalDate();
                case "datetime": return datetime(r, edge);
                case "smalldatetime":
                    LocalDateTime from = LocalDate.of(1900, 1, 1).atStartOfDay();
                    LocalDateTime to = LocalDateTime.of(2079, 6, 6, 23, 59);
                    return (edge ? pick(r, from, to) : moment(r, from, to)).withSecond(0).withNano(0);
                case "datetime2": return cut(edge ? pick(r, FIRST, LAST) : moment(r, FIRST, LAST));
                case "time": return cut(edge ? pick(r, FIRST, LAST) : moment(r, FIRST, LAST)).toLocalTime();
                case "datetimeoffset":
                    int zone = edge ? pick(r, -840, 840, 0) : r.nextInt(1681) - 840;
                    // Earlier ones the driver sends in the Julian calendar.
                    return cut(moment(r, LocalDate.of(1583, 1, 1).atStartOfDay(), LAST.minusDays(1))).atOffset(ZoneOffset.ofTotalSeconds(zone * 60));
                case "char": return filled(narrow(r, length(r, edge)));
                case "nchar": return filled(wide(r, length(r, edge)));
                case "varchar": case "text": return narrow(r, length(r, edge));
                case "nvarchar": case "ntext": return wide(r, length(r, edge));
                // The driver sends more than ASCII in a variant of a table with a wrong length.
                case "sql_variant": return Long.toString(r.nextLong(), 36);
                case "binary": return Arrays.copyOf(bytes(r, length(r, edge)), first);
                case "varbinary": case "image": return bytes(r, length(r, edge));
                case "uniqueidentifier": return edge ? "00000000-0000-0000-0000-000000000000" : new java.util.UUID(r.nextLong(), r.nextLong()).toString().toUpperCase();
                case "xml": return xml(r, edge);
                default: throw new IllegalArgumentException(word);
            }
        }

        private BigDecimal decimal(Random r, boolean edge) {
            int length = edge ? first : 1 + r.nextInt(first);
            BigInteger most = BigInteger.TEN.pow(length);
            BigInteger digits = edge ? most.subtract(BigInteger.ONE) : new BigInteger(130, r).mod(most);
            return new BigDecimal(r.nextBoolean() ? digits : digits.negate(), second);
        }

        /** Without what the scale has no place for. */
        private LocalDateTime cut(LocalDateTime moment) {
            int unit = (int) Math.pow(10, 9 - first);
            return moment.withNano(moment.getNano() / unit * unit);
        }

        private int length(Random r, boolean edge) {
            if (edge && r.nextBoolean()) {
                return 0;
            }
            if (first <= 0) {
                return edge ? pick(r, 4000, 4001, 8000, 8001, r.nextInt(8) == 0 ? 100000 : 9000) : r.nextInt(r.nextInt(20) == 0 ? 30000 : 60);
            }
            if (first > 1000) {
                // A row has room for one long value, not for all of them.
                return edge && r.nextInt(20) == 0 ? 2000 : r.nextInt(100);
            }
            return edge ? first : r.nextInt(first + 1);
        }

        private String filled(String text) {
            return text + " ".repeat(first - text.length());
        }

        private String collated(Random r, int length) {
            if (collation.endsWith("BIN2")) {
                return wide(r, length);
            }
            if (collation.endsWith("UTF8")) {
                return utf8(r, length);
            }
            String letters = collation.startsWith("C") ? "АБВЯабвяёЁЖжЎў№" : collation.startsWith("G") ? "ΑΒΓΩαβγωάέήΐΰςΏ" : "あいうアイウ漢字表示東京ｱｲ。、";
            StringBuilder text = new StringBuilder();
            for (int n = collation.startsWith("J") ? length / 2 : length; n > 0; n--) {
                text.append(r.nextInt(3) == 0 ? (char) (32 + r.nextInt(95)) : letters.charAt(r.nextInt(letters.length())));
            }
            return word.equals("char") ? filled(text.toString()) : text.toString();
        }

        /** What the server computes of the value, as the bytes that HASHBYTES takes. */
        byte[] form(Object value) {
            if (value instanceof byte[]) {
                return (byte[]) value;
            }
            if (value instanceof Double) {
                return ByteBuffer.allocate(8).putDouble((Double) value).array();
            }
            if (value instanceof Float) {
                return ByteBuffer.allocate(4).putFloat((Float) value).array();
            }
            if (word.equals("sql_variant")) {
                return ("nvarchar " + value).getBytes(StandardCharsets.UTF_16LE);
            }
            if (value instanceof String && !word.equals("uniqueidentifier")) {
                return ((String) value).getBytes(StandardCharsets.UTF_16LE);
            }
            return written(value).getBytes(StandardCharsets.US_ASCII);
        }

        private String written(Object value) {
            int scale = word.equals("datetime") ? 3 : first;
            String clock = "HH:mm:ss" + (scale == 0 ? "" : "." + "S".repeat(scale));
            switch (word) {
                case "bit": return (Boolean) value ? "1" : "0";
                case "decimal": case "money": case "smallmoney": return ((BigDecimal) value).toPlainString();
                case "date": return DateTimeFormatter.ofPattern("uuuu-MM-dd").format((LocalDate) value);
                case "time": return DateTimeFormatter.ofPattern(clock).format((LocalTime) value);
                case "smalldatetime": case "datetime": case "datetime2": return DateTimeFormatter.ofPattern("uuuu-MM-dd " + clock).format((LocalDateTime) value);
                case "datetimeoffset": return DateTimeFormatter.ofPattern("uuuu-MM-dd " + clock + " xxx").format((OffsetDateTime) value);
                default: return String.valueOf(value);
            }
        }

        /** Precision and scale as JDBC tells them, where a type has them. */
        int[] told() {
            int point = first == 0 ? 0 : first + 1;
            switch (word) {
                case "bit": return new int[] {1, 0};
                case "tinyint": return new int[] {3, 0};
                case "smallint": return new int[] {5, 0};
                case "int": return new int[] {10, 0};
                case "bigint": return new int[] {19, 0};
                case "decimal": return new int[] {first, second};
                case "money": return new int[] {19, 4};
                case "smallmoney": return new int[] {10, 4};
                case "float": return new int[] {15, 0};
                case "real": return new int[] {7, 0};
                case "date": return new int[] {10, 0};
                case "datetime": return new int[] {23, 3};
                case "smalldatetime": return new int[] {16, 0};
                case "time": return new int[] {8 + point, first};
                case "datetime2": return new int[] {19 + point, first};
                case "datetimeoffset": return new int[] {26 + point, first};
                case "char": case "varchar": case "nchar": case "nvarchar": case "binary": case "varbinary":
                    return new int[] {first > 0 ? first : word.startsWith("n") ? (1 << 30) - 1 : Integer.MAX_VALUE, 0};
                case "uniqueidentifier": return new int[] {36, 0};
                case "text": case "image": return new int[] {Integer.MAX_VALUE, 0};
                case "ntext": return new int[] {(1 << 30) - 1, 0};
                default: return null;
            }
        }
    }

    private static String western() {
        StringBuilder all = new StringBuilder();
        for (int n = 32; n < 256; n++) {
            String one = new String(new byte[] {(byte) n}, java.nio.charset.Charset.forName("windows-1252"));
            if (n != 127 && !one.equals("\ufffd") && one.charAt(0) >= 32 && (n < 128 || n >= 160 || one.charAt(0) > 255)) {
                all.append(one);
            }
        }
        return all.toString();
    }

    @SafeVarargs
    private static <T> T pick(Random r, T... edges) {
        return edges[r.nextInt(edges.length)];
    }

    private static long whole(Random r, boolean edge, long low, long high) {
        if (edge) {
            return r.nextBoolean() ? low : high;
        }
        return high - low < 0 ? r.nextLong() : low + Math.floorMod(r.nextLong(), high - low + 1);
    }

    private static LocalDateTime moment(Random r, LocalDateTime low, LocalDateTime high) {
        long seconds = Duration.between(low, high).getSeconds();
        return low.plusSeconds(Math.floorMod(r.nextLong(), seconds)).withNano(r.nextInt(10_000_000) * 100);
    }

    /** A tick of datetime is a third of a hundredth of a second; of these the milliseconds come back. */
    private static LocalDateTime datetime(Random r, boolean edge) {
        LocalDateTime low = LocalDate.of(1753, 1, 1).atStartOfDay();
        LocalDateTime high = LocalDate.of(9999, 12, 31).atTime(23, 59, 59);
        LocalDateTime moment = edge ? pick(r, low, high) : moment(r, low, high);
        return moment.withNano(edge ? 0 : r.nextInt(100) * 10_000_000 + pick(r, 0, 3_000_000, 7_000_000));
    }

    private static String narrow(Random r, int length) {
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            text.append(WESTERN.charAt(r.nextInt(WESTERN.length())));
        }
        return text.toString();
    }

    /** Characters of one unit and of two; halves of pairs by themselves the driver does not let through. */
    private static String wide(Random r, int length) {
        StringBuilder text = new StringBuilder();
        while (text.length() < length) {
            switch (r.nextInt(5)) {
                case 0 -> text.appendCodePoint(0x10000 + r.nextInt(0x100000));
                case 1 -> text.append((char) (0xe000 + r.nextInt(0x2000)));
                case 2 -> text.append((char) (1 + r.nextInt(0xd7ff)));
                default -> text.append((char) (32 + r.nextInt(95)));
            }
        }
        if (text.length() > length) {
            text.setLength(length - 1);
            text.append('x');
        }
        return text.toString();
    }

    /** As many bytes as there is room for. */
    private static String utf8(Random r, int length) {
        StringBuilder text = new StringBuilder();
        int left = length;
        while (true) {
            String next = wide(r, 1 + r.nextInt(2));
            left -= next.getBytes(StandardCharsets.UTF_8).length;
            if (left < 0) {
                return text.toString();
            }
            text.append(next);
        }
    }

    /** A hierarchyid of levels from 0 to 3, of which each has five bits: 01, the number, 1. */
    private static byte[] path(Random r) {
        StringBuilder bits = new StringBuilder();
        for (int n = r.nextInt(8); n > 0; n--) {
            bits.append(pick(r, "01001", "01011", "01101", "01111"));
        }
        while (bits.length() % 8 != 0) {
            bits.append('0');
        }
        byte[] bytes = new byte[bits.length() / 8];
        for (int n = 0; n < bytes.length; n++) {
            bytes[n] = (byte) Integer.parseInt(bits.substring(n * 8, n * 8 + 8), 2);
        }
        return bytes;
    }

    /** A point, or a line of two points, as [MS-SSCLRT] writes them; of the earth latitude comes first. */
    private static byte[] shape(Random r, boolean earth, boolean edge) {
        int points = 1 + r.nextInt(2);
        ByteBuffer bytes = ByteBuffer.allocate(6 + 16 * points).order(ByteOrder.LITTLE_ENDIAN);
        bytes.putInt(earth ? 4326 : edge ? 0 : r.nextInt(1000000)).put((byte) 1).put((byte) (points == 2 ? 0x14 : 0x0c));
        for (int n = 0; n < points; n++) {
            bytes.putDouble(r.nextDouble() * 170 - 85).putDouble(n * 20 + r.nextDouble() * 10 - (earth ? 100 : 1e6));
        }
        return bytes.array();
    }

    private static byte[] bytes(Random r, int length) {
        byte[] bytes = new byte[length];
        r.nextBytes(bytes);
        return bytes;
    }

    private static String xml(Random r, boolean edge) {
        if (edge) {
            return r.nextBoolean() ? "" : "<e/>";
        }
        StringBuilder text = new StringBuilder();
        for (int n = r.nextInt(30); n >= 0; n--) {
            text.append("abc äßλ漢字xyz".charAt(r.nextInt(12)));
        }
        String inner = text.toString().strip() + "z";
        return "<r a=\"" + inner + " &lt;&amp;\" n=\"" + r.nextInt(1 << 30) + "\"><c>" + inner + "&amp;&lt;&gt;</c><d/>t</r>";
    }

    private static void set(SQLServerPreparedStatement insert, int i, Column column, Object value) throws Exception {
        if (!column.collation.isEmpty()) {
            insert.setNString(i, (String) value);
            return;
        }
        switch (column.word) {
            case "money": insert.setMoney(i, (BigDecimal) value); break;
            case "smallmoney": insert.setSmallMoney(i, (BigDecimal) value); break;
            case "decimal": insert.setBigDecimal(i, (BigDecimal) value, column.first, column.second); break;
            case "datetime": insert.setDateTime(i, value == null ? null : Timestamp.valueOf((LocalDateTime) value)); break;
            case "smalldatetime": insert.setSmallDateTime(i, value == null ? null : Timestamp.valueOf((LocalDateTime) value)); break;
            case "uniqueidentifier": insert.setUniqueIdentifier(i, (String) value); break;
            case "char": case "varchar": case "text": insert.setString(i, (String) value); break;
            case "nchar": case "nvarchar": case "ntext": case "xml": case "sql_variant": insert.setNString(i, (String) value); break;
            case "hierarchyid": case "geometry": case "geography": case "binary": case "varbinary": case "image": insert.setBytes(i, (byte[]) value); break;
            case "date": insert.setObject(i, value, Types.DATE); break;
            case "time": insert.setObject(i, value, Types.TIME); break;
            case "datetime2": insert.setObject(i, value, Types.TIMESTAMP); break;
            case "datetimeoffset": insert.setDateTimeOffset(i, value == null ? null : DateTimeOffset.valueOf((OffsetDateTime) value)); break;
            case "float": insert.setObject(i, value, Types.DOUBLE); break;
            case "real": insert.setObject(i, value, Types.REAL); break;
            case "bit": insert.setObject(i, value, Types.BIT); break;
            default: insert.setObject(i, value, Types.BIGINT); break;
        }
    }

    private static Object get(SQLServerResultSet row, int i, String word) throws Exception {
        Object value;
        switch (word) {
            case "bit": value = row.getBoolean(i); break;
            case "tinyint": case "smallint": case "int": case "bigint": value = row.getLong(i); break;
            case "decimal": case "money": case "smallmoney": value = row.getBigDecimal(i); break;
            case "float": value = row.getDouble(i); break;
            case "real": value = row.getFloat(i); break;
            case "date": value = row.getObject(i, LocalDate.class); break;
            case "time": value = row.getObject(i, LocalTime.class); break;
            case "datetime": case "smalldatetime": case "datetime2": value = row.getObject(i, LocalDateTime.class); break;
            case "datetimeoffset": value = row.getObject(i, OffsetDateTime.class); break;
            case "hierarchyid": case "geometry": case "geography": case "binary": case "varbinary": case "image": value = row.getBytes(i); break;
            case "nchar": case "nvarchar": case "ntext": value = row.getNString(i); break;
            default: value = row.getString(i); break;
        }
        return row.wasNull() ? null : value;
    }

    private static String shown(Object value) {
        String text = value instanceof byte[] ? Arrays.toString((byte[]) value) : String.valueOf(value);
        String plain = text.chars().mapToObj(c -> c >= ' ' && c < 127 ? "" + (char) c : String.format("\\u%04x", c)).collect(Collectors.joining());
        return plain.length() > 120 ? plain.substring(0, 120) + "..." : plain;
    }

    private static int number(String name, int otherwise) {
        String text = env(name);
        return text == null || text.isEmpty() ? otherwise : Integer.parseInt(text);
    }

    /** {@code other}: a second connection, to read by while the first one writes; {@code sendTimeAsDatetime} is off in both. */
    static void run(Connection connection, Connection other) throws Exception {
        List<Column> columns = new ArrayList<>();
        Map<?, ?> all = (Map<?, ?>) json("random_types.json");
        for (Object type : (List<?>) all.get("types")) {
            columns.add(new Column(columns.size(), (String) type));
        }
        Random random = new Random(number("RANDOM_SEED", 1));
        List<Object[]> want = new ArrayList<>();
        for (int n = number("RANDOM_ROWS", 100); n > 0; n--) {
            want.add(columns.stream().map(column -> column.value(random)).toArray());
        }
        String listed = columns.stream().map(c -> c.name).collect(Collectors.joining(", "));
        String declared = columns.stream().map(c -> c.name + " " + c.type + " NULL").collect(Collectors.joining(", "));
        try (Statement statement = connection.createStatement()) {
            for (String way : WAYS) {
                statement.execute("DROP TABLE IF EXISTS dbo." + way + "; CREATE TABLE dbo." + way + " (id int NOT NULL PRIMARY KEY, " + declared + ")");
            }
            statement.execute("IF TYPE_ID(N'dbo.random_row') IS NOT NULL DROP TYPE dbo.random_row; CREATE TYPE dbo.random_row AS TABLE (id int NOT NULL, " + declared + ")");
        }
        String marks = columns.stream().map(c -> "?").collect(Collectors.joining(", "));
        try (SQLServerPreparedStatement insert = (SQLServerPreparedStatement) connection.prepareStatement("INSERT INTO dbo.by_parameters (id, " + listed + ") VALUES (?, " + marks + ")")) {
            for (int n = 0; n < want.size(); n++) {
                int row = n;
                noting("row " + n + " by parameters", () -> {
                    insert.setInt(1, row);
                    for (int i = 0; i < columns.size(); i++) {
                        set(insert, i + 2, columns.get(i), want.get(row)[i]);
                    }
                    insert.executeUpdate();
                });
            }
        }
        // Of CLR types the driver copies the bytes alone.
        String bytes = columns.stream().map(c -> c.isClr() ? "CAST(" + c.name + " AS varbinary(max)) AS " + c.name : c.name).collect(Collectors.joining(", "));
        String source = "SELECT id, " + bytes + " FROM dbo.by_parameters ORDER BY id";
        noting("bulk copy", () -> {
            SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
            options.setKeepNulls(true);
            try (Statement statement = other.createStatement(); ResultSet rows = statement.executeQuery(source); SQLServerBulkCopy copy = new SQLServerBulkCopy(connection)) {
                copy.setBulkCopyOptions(options);
                copy.setDestinationTableName("dbo.by_bulk_copy");
                copy.addColumnMapping("id", "id");
                for (Column column : columns) {
                    if (!column.isLeftOut()) {
                        copy.addColumnMapping(column.name, column.name);
                    }
                }
                copy.writeToServer(rows);
            }
            try (Statement statement = connection.createStatement()) {
                for (Column column : columns) {
                    if (column.isLeftOut()) {
                        statement.execute("UPDATE b SET " + column.name + " = a." + column.name + " FROM dbo.by_bulk_copy b JOIN dbo.by_parameters a ON a.id = b.id");
                    }
                }
            }
        });
        noting("a table-valued parameter", () -> {
            String sql = "INSERT INTO dbo.by_table (id, " + listed + ") SELECT id, " + listed + " FROM ?";
            // A message has room for so many.
            for (int from = 0; from < want.size(); from += 500) {
                String part = source.replace(" ORDER", " WHERE id BETWEEN " + from + " AND " + (from + 499) + " ORDER");
                try (Statement statement = other.createStatement(); ResultSet rows = statement.executeQuery(part);
                        SQLServerPreparedStatement insert = (SQLServerPreparedStatement) connection.prepareStatement(sql)) {
                    insert.setStructured(1, "dbo.random_row", rows);
                    insert.execute();
                }
            }
        });
        for (String way : WAYS) {
            for (String where : List.of("", " WHERE id >= ?")) {
                try (PreparedStatement query = connection.prepareStatement("SELECT id, " + listed + " FROM dbo." + way + where + " ORDER BY id")) {
                    if (!where.isEmpty()) {
                        query.setInt(1, 0);
                    }
                    readBack((SQLServerResultSet) query.executeQuery(), columns, want, way + where);
                }
            }
        }
        for (String way : WAYS) {
            compare(connection, columns, want, way, (Map<?, ?>) all.get("forms"));
        }
    }

    private static void readBack(SQLServerResultSet rows, List<Column> columns, List<Object[]> want, String way) throws Exception {
        Map<String, Integer> bad = new HashMap<>();
        int at = 0;
        told(rows.getMetaData(), columns, way);
        for (; rows.next() && at < want.size(); at++) {
            equal(rows.getInt(1), at, way + ": id");
            for (int i = 0; i < columns.size(); i++) {
                Column column = columns.get(i);
                Object got = get(rows, i + 2, column.word);
                Object one = want.get(at)[i];
                boolean same = got instanceof byte[] && one instanceof byte[] ? Arrays.equals((byte[]) got, (byte[]) one) : Objects.equals(got, one);
                // A type that goes wrong is told of three times.
                if (!same && bad.merge(column.type, 1, Integer::sum) <= 3) {
                    check(false, way + ": " + column.type + ", row " + at + ": expected " + shown(one) + ", got " + shown(got));
                }
            }
        }
        equal(at, want.size(), way + ": rows");
    }

    private static void told(ResultSetMetaData told, List<Column> columns, String way) throws Exception {
        equal(told.isNullable(1), ResultSetMetaData.columnNoNulls, way + ": whether id may be NULL");
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.get(i);
            String what = way + ": " + column.type + ": ";
            equal(told.getColumnName(i + 2), column.name, what + "name");
            equal(told.getColumnTypeName(i + 2), column.type.replaceAll("\\W.*", ""), what + "type");
            equal(told.isNullable(i + 2), ResultSetMetaData.columnNullable, what + "whether NULL");
            if (column.told() != null) {
                equal(Arrays.toString(new int[] {told.getPrecision(i + 2), told.getScale(i + 2)}), Arrays.toString(column.told()), what + "precision, scale");
            }
        }
    }

    /** What T-SQL computes of each value. */
    private static void compare(Connection connection, List<Column> columns, List<Object[]> want, String way, Map<?, ?> forms) throws Exception {
        String sums = columns.stream().map(c -> "HASHBYTES('SHA2_256', " + ((String) forms.get(c.word)).replace("$", c.name) + ")").collect(Collectors.joining(", "));
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        Map<String, Integer> bad = new HashMap<>();
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("SELECT " + sums + " FROM dbo." + way + " ORDER BY id")) {
            for (int at = 0; rows.next() && at < want.size(); at++) {
                for (int i = 0; i < columns.size(); i++) {
                    Column column = columns.get(i);
                    Object value = want.get(at)[i];
                    byte[] sum = value == null ? null : digest.digest(column.form(value));
                    if (!Arrays.equals(rows.getBytes(i + 1), sum) && bad.merge(column.type, 1, Integer::sum) <= 3) {
                        check(false, way + ": " + column.type + ", row " + at + ": T-SQL's sum is not that of " + shown(value));
                    }
                }
            }
        }
    }
}
