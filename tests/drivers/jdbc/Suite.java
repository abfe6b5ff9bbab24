import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.sql.CallableStatement;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ParameterMetaData;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.sql.Savepoint;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TimeZone;

import javax.sql.PooledConnection;

import com.microsoft.sqlserver.jdbc.ISQLServerConnection;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopy;
import com.microsoft.sqlserver.jdbc.SQLServerBulkCopyOptions;
import com.microsoft.sqlserver.jdbc.SQLServerConnectionPoolDataSource;
import com.microsoft.sqlserver.jdbc.SQLServerDataTable;
import com.microsoft.sqlserver.jdbc.SQLServerException;
import com.microsoft.sqlserver.jdbc.SQLServerPreparedStatement;

/** mssql-jdbc, in its defaults: encrypt is true and the certificate is verified; the server's own is the only one trusted. */
public final class Suite extends Frame {
    private static final String DATABASE = "drv_mssql_jdbc";
    private static final String STORE_PASSWORD = "changeit";
    private static final List<Connection> open = new ArrayList<>();
    private static boolean made;

    @SuppressWarnings("unchecked")
    private static final Map<String, List<String>> fixtures() throws Exception {
        return (Map<String, List<String>>) json("fixtures.json");
    }

    /** A trust store with one certificate, or with somebody else's. */
    private static String trustStore(boolean trust) throws Exception {
        Path path = Path.of(env("SCRATCH"), trust ? "trusted.p12" : "empty.p12");
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        if (trust) {
            try (InputStream in = Files.newInputStream(Path.of(env("CERTIFICATE")))) {
                store.setCertificateEntry("millrace", CertificateFactory.getInstance("X.509").generateCertificate(in));
            }
        }
        try (var out = Files.newOutputStream(path)) {
            store.store(out, STORE_PASSWORD.toCharArray());
        }
        return path.toString();
    }

    private static String url() {
        return "jdbc:sqlserver://" + env("HOST") + ":" + env("PORT");
    }

    private static Properties properties(String database, String password, boolean trust, String... more) throws Exception {
        Properties all = new Properties();
        all.setProperty("user", env("USER"));
        all.setProperty("password", password);
        all.setProperty("databaseName", database);
        all.setProperty("loginTimeout", "10");
        all.setProperty("connectRetryCount", "0");
        all.setProperty("trustStore", trustStore(trust));
        all.setProperty("trustStoreType", "PKCS12");
        all.setProperty("trustStorePassword", STORE_PASSWORD);
        for (int i = 0; i < more.length; i += 2) {
            all.setProperty(more[i], more[i + 1]);
        }
        return all;
    }

    private static Connection connect(String database, String password, boolean trust, String... more) throws Exception {
        Connection connection = new com.microsoft.sqlserver.jdbc.SQLServerDriver().connect(url(), properties(database, password, trust, more));
        open.add(connection);
        return connection;
    }

    /** A connection to the suite's own database, made when first asked for. */
    private static Connection opened(String... more) throws Exception {
        make();
        return connect(DATABASE, env("PASSWORD"), true, more);
    }

    private static void make() throws Exception {
        if (!made) {
            Connection connection = connect("master", env("PASSWORD"), true);
            run(connection, "IF DB_ID(N'" + DATABASE + "') IS NULL CREATE DATABASE " + DATABASE);
            connection.close();
            made = true;
        }
    }

    private static int run(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
            return statement.getUpdateCount();
        }
    }

    private static Object scalar(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            return rows.next() ? rows.getObject(1) : "no row";
        }
    }

    private static List<List<Object>> read(ResultSet rows) throws SQLException {
        List<List<Object>> all = new ArrayList<>();
        int columns = rows.getMetaData().getColumnCount();
        while (rows.next()) {
            List<Object> row = new ArrayList<>();
            for (int i = 1; i <= columns; i++) {
                row.add(rows.getObject(i));
            }
            all.add(row);
        }
        return all;
    }

    private static List<List<Object>> rows(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery(sql)) {
            return read(rows);
        }
    }

    private static void fixture(Connection connection, String name) throws Exception {
        for (String batch : fixtures().get(name)) {
            run(connection, batch);
        }
    }

    private static void refused(int number, String what, Work work) throws Exception {
        try {
            work.run();
        } catch (SQLException error) {
            check(error.getErrorCode() == number, what + ": expected error " + number + ", got " + error.getErrorCode() + " (" + error.getMessage() + ")");
            return;
        }
        check(false, what + ": was not refused");
    }

    private static void later(int milliseconds, Work work) {
        new Thread(() -> {
            try {
                Thread.sleep(milliseconds);
                work.run();
            } catch (Exception error) {
                error.printStackTrace();
            }
        }).start();
    }

    private static BigDecimal balance(Connection connection) throws SQLException {
        return (BigDecimal) scalar(connection, "SELECT balance FROM dbo.account WHERE id = 1");
    }

    private static final BigDecimal HUNDRED = new BigDecimal("100.0000");

    // -- scenarios --------------------------------------------------------------------------------------------------

    private static void connects() throws Exception {
        Connection connection = opened();
        equal(scalar(connection, "SELECT 1"), 1, "SELECT 1");
        equal(scalar(connection, "SELECT DB_NAME()"), DATABASE, "DB_NAME()");
        equal(connection.getCatalog(), DATABASE, "getCatalog");
        check(connection.isValid(5), "isValid");
        check(scalar(connection, "SELECT @@VERSION").toString().length() > 10, "@@VERSION");
        Connection second = opened();
        Object spid = scalar(connection, "SELECT @@SPID");
        check(!spid.equals(scalar(second, "SELECT @@SPID")), "two connections have one @@SPID");
        second.close();
        equal(scalar(connection, "SELECT @@SPID"), spid, "@@SPID after the other closed");
        connection.setCatalog("master");
        equal(scalar(connection, "SELECT DB_NAME()"), "master", "setCatalog");
        DatabaseMetaData about = connection.getMetaData();
        equal(about.getDatabaseProductName(), "Microsoft SQL Server", "getDatabaseProductName");
        check(about.getDatabaseMajorVersion() >= 13, "getDatabaseMajorVersion " + about.getDatabaseMajorVersion());
    }

    private static void encryption() throws Exception {
        String option = "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID";
        try {
            connect("master", env("PASSWORD"), false);
            check(false, "without the certificate: connected all the same");
        } catch (SQLException error) {
            check(error.getMessage().toLowerCase().contains("ssl") || error.getMessage().contains("PKIX"), "without the certificate: " + error.getMessage());
        }
        equal(scalar(opened(), option), "TRUE", "encrypt_option");
        Connection login = opened("encrypt", "false");
        equal(scalar(login, option), "FALSE", "encrypt_option with encrypt=false");
        Connection strict = opened("encrypt", "strict", "serverCertificate", env("CERTIFICATE"));
        equal(scalar(strict, option), "TRUE", "encrypt_option with encrypt=strict");
    }

    private static void wrongPassword() throws Exception {
        refused(18456, "wrong password", () -> connect("master", "not-it", true));
        refused(18456, "empty password", () -> connect("master", "", true));
        equal(scalar(opened(), "SELECT 1"), 1, "the next login");
    }

    private static void unknownDatabase() throws Exception {
        refused(4060, "unknown database", () -> connect("no_such_database", env("PASSWORD"), true));
        Connection connection = opened();
        refused(911, "USE of an unknown database", () -> run(connection, "USE no_such_database"));
        equal(scalar(connection, "SELECT DB_NAME()"), DATABASE, "DB_NAME() after the refusal");
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> types() throws Exception {
        List<Map<String, Object>> types = (List<Map<String, Object>>) json("types.json");
        for (Map<String, Object> type : types) {
            for (Map<String, Object> value : (List<Map<String, Object>>) type.get("values")) {
                value.computeIfPresent("text", (key, text) -> ((String) text).repeat((Integer) value.getOrDefault("repeat", 1)));
            }
        }
        return types;
    }

    @SuppressWarnings("unchecked")
    private static List<Map<String, Object>> valuesOf(Map<String, Object> type) {
        return (List<Map<String, Object>>) type.get("values");
    }

    private static void typesFromServer() throws Exception {
        Connection connection = opened();
        for (Map<String, Object> entry : types()) {
            String type = (String) entry.get("type");
            String kind = (String) entry.get("kind");
            noting(type, () -> {
                for (Map<String, Object> value : valuesOf(entry)) {
                    String text = (String) value.get("text");
                    try (Statement statement = connection.createStatement();
                            ResultSet row = statement.executeQuery("SELECT CAST(" + value.get("sql") + " AS " + type + ") AS v")) {
                        check(row.next() && Values.same(kind, text, row, 1), type + " CAST: expected " + brief(text) + ", got " + brief(row.getString(1)));
                    }
                }
                run(connection, "DROP TABLE IF EXISTS dbo.typed");
                run(connection, "CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v " + type + " NULL)");
                int number = 0;
                for (Map<String, Object> value : valuesOf(entry)) {
                    run(connection, "INSERT INTO dbo.typed (id, v) VALUES (" + number++ + ", " + value.get("sql") + ")");
                }
                run(connection, "INSERT INTO dbo.typed (id, v) VALUES (1000, NULL)");
                try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery("SELECT id, v FROM dbo.typed ORDER BY id")) {
                    for (Map<String, Object> value : valuesOf(entry)) {
                        String text = (String) value.get("text");
                        check(row.next() && Values.same(kind, text, row, 2), type + " column: expected " + brief(text) + ", got " + brief(row.getString(2)));
                    }
                    check(row.next() && row.getObject(2) == null && row.wasNull(), type + ": NULL");
                    check(!row.next(), type + ": more rows than were put in");
                }
            });
        }
    }

    private static void parameters() throws Exception {
        // By default the driver sends a time as datetime, with its 1/300 s.
        Connection connection = opened("sendTimeAsDatetime", "false");
        for (Map<String, Object> entry : types()) {
            String type = (String) entry.get("type");
            String kind = (String) entry.get("kind");
            noting(type, () -> {
                run(connection, "DROP TABLE IF EXISTS dbo.sent");
                run(connection, "CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v " + type + " NULL)");
                try (PreparedStatement insert = connection.prepareStatement("INSERT INTO dbo.sent (id, v) VALUES (?, ?)")) {
                    int number = 0;
                    for (Map<String, Object> value : valuesOf(entry)) {
                        int id = number++;
                        String text = (String) value.get("text");
                        if (kind.equals("datetimeoffset") && text.startsWith("0001")) {
                            // The driver counts the days of a moment of that year in the Julian calendar.
                            continue;
                        }
                        noting(type + " " + brief(text), () -> {
                            insert.setInt(1, id);
                            Values.set(insert, 2, type, kind, text);
                            equal(insert.executeUpdate(), 1, type + ": rows inserted");
                            String sql = "SELECT v, CASE WHEN v = CAST(" + value.get("sql") + " AS " + type + ") THEN 1 ELSE 0 END FROM dbo.sent WHERE id = ?";
                            try (PreparedStatement select = connection.prepareStatement(sql)) {
                                select.setInt(1, id);
                                try (ResultSet row = select.executeQuery()) {
                                    check(row.next() && Values.same(kind, text, row, 1), type + ": sent " + brief(text) + ", got back " + brief(row.getString(1)));
                                    equal(row.getInt(2), 1, type + " " + brief(text) + ": equal on the server");
                                }
                            }
                        });
                    }
                    insert.setInt(1, 1000);
                    insert.setNull(2, Values.nullType(kind));
                    equal(insert.executeUpdate(), 1, type + ": NULL sent");
                    equal(scalar(connection, "SELECT COUNT(*) FROM dbo.sent WHERE v IS NULL"), 1, type + ": NULL there");
                }
            });
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT ? + ?, ?, ?")) {
            select.setInt(1, 40);
            select.setInt(2, 2);
            select.setString(3, "x'y😀");
            select.setObject(4, null);
            equal(read(select.executeQuery()), List.of(Arrays.asList(42, "x'y😀", null)), "several parameters");
        }
    }

    private static void outputParameters() throws Exception {
        Connection connection = opened();
        fixture(connection, "out_params");
        fixture(connection, "out_and_rows");
        try (CallableStatement call = connection.prepareCall("{? = call dbo.out_params(?, ?, ?, ?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.setInt(2, 21);
            call.registerOutParameter(3, Types.INTEGER);
            call.setNString(4, "abc");
            call.registerOutParameter(4, Types.NVARCHAR);
            call.registerOutParameter(5, Types.DECIMAL, 3);
            call.execute();
            equal(Arrays.asList(call.getInt(1), call.getInt(3), call.getNString(4), call.getBigDecimal(5)),
                    Arrays.asList(42, 42, "abc 😀", new BigDecimal("1234567.891")), "status and outputs");
        }
        try (CallableStatement call = connection.prepareCall("{call dbo.out_params(@a = ?, @b = ?, @s = ?, @d = ?)}")) {
            call.setInt("a", 4);
            call.registerOutParameter("b", Types.INTEGER);
            call.registerOutParameter("s", Types.NVARCHAR);
            call.registerOutParameter("d", Types.DECIMAL, 3);
            call.execute();
            equal(call.getInt("b"), 8, "by name");
            equal(call.getNString("s"), null, "NULL by name");
        }
        try (CallableStatement call = connection.prepareCall("{? = call dbo.out_and_rows(?)}")) {
            call.registerOutParameter(1, Types.INTEGER);
            call.registerOutParameter(2, Types.INTEGER);
            check(call.execute(), "there is a first result");
            equal(read(call.getResultSet()), List.of(List.of(1), List.of(2)), "first result of a procedure");
            check(call.getMoreResults(), "there is a second result");
            equal(read(call.getResultSet()), List.of(List.of("x")), "second result of a procedure");
            equal(Arrays.asList(call.getInt(1), call.getInt(2)), Arrays.asList(-3, 7), "status and output after results");
        }
    }

    private static void prepared() throws Exception {
        Connection connection = opened();
        fixture(connection, "everything");
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO dbo.everything (id, n, s) VALUES (?, ?, ?)")) {
            for (int n = 0; n < 100; n++) {
                insert.setInt(1, n);
                insert.setLong(2, n * 1_000_000_000_000L);
                insert.setNString(3, "row " + n + " Ω");
                equal(insert.executeUpdate(), 1, "rows of insert " + n);
            }
            insert.setInt(1, 1);
            refused(2627, "a duplicate by a prepared statement", insert::executeUpdate);
            for (int n = 200; n < 220; n++) {
                insert.setInt(1, n);
                insert.setNull(2, Types.BIGINT);
                insert.setNString(3, "batched");
                insert.addBatch();
            }
            int[] counts = insert.executeBatch();
            check(counts.length == 20 && Arrays.stream(counts).allMatch(c -> c == 1), "counts of a batch: " + Arrays.toString(counts));
        }
        try (PreparedStatement select = connection.prepareStatement("SELECT n, s FROM dbo.everything WHERE id = ?")) {
            for (int n = 0; n < 100; n++) {
                select.setInt(1, n);
                equal(read(select.executeQuery()), List.of(List.of(n * 1_000_000_000_000L, "row " + n + " Ω")), "row " + n);
            }
            select.setInt(1, 12345);
            equal(read(select.executeQuery()), List.of(), "an unknown key");
            ParameterMetaData about = select.getParameterMetaData();
            equal(about.getParameterCount() + " " + about.getParameterTypeName(1), "1 int", "getParameterMetaData");
            ResultSetMetaData columns = select.getMetaData();
            equal(columns.getColumnName(1) + " " + columns.getColumnTypeName(2), "n nvarchar", "getMetaData before execution");
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO dbo.child (name, made) VALUES ('key', SYSDATETIME())", Statement.RETURN_GENERATED_KEYS);
        } catch (SQLException error) {
            equal(error.getErrorCode(), 208, "insert into a table that may not exist yet");
        }
        fixture(connection, "family");
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("INSERT INTO dbo.child (name, made) VALUES ('key', SYSDATETIME())", Statement.RETURN_GENERATED_KEYS);
            try (ResultSet keys = statement.getGeneratedKeys()) {
                check(keys.next() && keys.getInt(1) == 1, "getGeneratedKeys");
            }
        }
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.everything"), 120, "rows");
    }

    private static void transactions() throws Exception {
        Connection connection = opened();
        Connection other = opened();
        fixture(connection, "account");
        String add = "UPDATE dbo.account SET balance = balance + 1 WHERE id = 1";
        connection.setAutoCommit(false);
        equal(run(connection, add), 1, "rows updated");
        equal(scalar(connection, "SELECT @@TRANCOUNT"), 1, "@@TRANCOUNT");
        connection.rollback();
        equal(balance(other), HUNDRED, "after rollback");
        run(connection, add);
        connection.commit();
        equal(balance(other), new BigDecimal("101.0000"), "after commit");
        run(connection, "DELETE FROM dbo.account");
        connection.close();
        equal(scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after a close without commit");
        run(other, "BEGIN TRANSACTION");
        run(other, "DELETE FROM dbo.account");
        run(other, "ROLLBACK TRANSACTION");
        equal(scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after ROLLBACK TRANSACTION");
        other.setAutoCommit(false);
        run(other, add);
        other.setAutoCommit(true);
        equal(balance(other), new BigDecimal("102.0000"), "setAutoCommit(true) commits");
        equal(scalar(other, "SELECT @@TRANCOUNT"), 0, "@@TRANCOUNT after");
    }

    private static void savepoints() throws Exception {
        Connection connection = opened();
        fixture(connection, "account");
        connection.setAutoCommit(false);
        run(connection, "UPDATE dbo.account SET balance = 1 WHERE id = 1");
        Savepoint here = connection.setSavepoint("here");
        run(connection, "UPDATE dbo.account SET balance = 2 WHERE id = 1");
        run(connection, "INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')");
        Savepoint deeper = connection.setSavepoint();
        run(connection, "DELETE FROM dbo.account");
        connection.rollback(deeper);
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 4, "rows after going back one step");
        connection.rollback(here);
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after going back two");
        connection.commit();
        equal(balance(connection), new BigDecimal("1.0000"), "what was before the save point");
    }

    private static void isolationLevels() throws Exception {
        Connection connection = opened();
        Connection other = opened();
        fixture(connection, "account");
        run(connection, "ALTER DATABASE " + DATABASE + " SET ALLOW_SNAPSHOT_ISOLATION ON");
        int[] levels = {Connection.TRANSACTION_READ_UNCOMMITTED, Connection.TRANSACTION_READ_COMMITTED, Connection.TRANSACTION_REPEATABLE_READ,
            Connection.TRANSACTION_SERIALIZABLE, ISQLServerConnection.TRANSACTION_SNAPSHOT};
        for (int n = 0; n < levels.length; n++) {
            int level = levels[n];
            Object seen = n + 1;
            noting("level " + level, () -> {
                connection.setTransactionIsolation(level);
                equal(connection.getTransactionIsolation(), level, "getTransactionIsolation");
                connection.setAutoCommit(false);
                equal(balance(connection), HUNDRED, "level " + level);
                Object got = scalar(connection, "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID");
                equal(((Number) got).intValue(), seen, "level " + level + " as the server sees it");
                connection.setAutoCommit(true);
            });
        }
        connection.setAutoCommit(false);
        balance(connection);
        run(other, "UPDATE dbo.account SET balance = 7 WHERE id = 1");
        equal(balance(connection), HUNDRED, "SNAPSHOT reads what was");
        refused(3960, "an update of what changed since", () -> run(connection, "UPDATE dbo.account SET balance = 8 WHERE id = 1"));
        connection.setAutoCommit(true);
        connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
        connection.setAutoCommit(false);
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.account WHERE id BETWEEN 1 AND 50"), 3, "rows of the range");
        run(other, "SET LOCK_TIMEOUT 200");
        refused(1222, "a writer under SERIALIZABLE", () -> run(other, "INSERT INTO dbo.account (id, owner) VALUES (20, N'Phantom')"));
        connection.commit();
    }

    private static void resultSets() throws Exception {
        Connection connection = opened();
        fixture(connection, "account");
        try (Statement statement = connection.createStatement()) {
            check(statement.execute("SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; UPDATE dbo.account SET balance = 0 WHERE id <= 2;"
                    + " SELECT id, owner FROM dbo.account ORDER BY id"), "there is a first result");
            equal(read(statement.getResultSet()), List.of(List.of(1)), "first result");
            check(statement.getMoreResults(), "there is a second result");
            ResultSet empty = statement.getResultSet();
            equal(empty.getMetaData().getColumnLabel(2), "c", "name of an empty result");
            equal(read(empty), List.of(), "empty result");
            check(!statement.getMoreResults(), "then comes a count");
            equal(statement.getUpdateCount(), 2, "rows updated");
            check(statement.getMoreResults(), "there is a third result");
            equal(read(statement.getResultSet()), List.of(List.of(1, "Ann"), List.of(2, "Bob"), List.of(3, "Çelik 😀")), "third result");
            check(!statement.getMoreResults() && statement.getUpdateCount() == -1, "there is no more");
        }
        equal(run(connection, "UPDATE dbo.account SET balance = 0 WHERE id = 77"), 0, "no rows updated");
        equal(run(connection, "DELETE FROM dbo.account WHERE id = 3"), 1, "rows deleted");
        run(connection, "INSERT INTO dbo.account (id, owner) VALUES (3, N'C')");
        long sum = 0;
        for (List<Object> row : rows(connection, "SELECT TOP 5000 ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g, dbo.account h")) {
            sum += (Long) row.get(0);
        }
        equal(sum, 12502500L, "sum of a long result");
        serverCursors();
    }

    /** Result sets that the server keeps: scrolled, fetched in blocks. */
    private static void serverCursors() throws Exception {
        Connection connection = opened("selectMethod", "cursor");
        run(connection, "IF OBJECT_ID('dbo.walk') IS NOT NULL DROP TABLE dbo.walk");
        run(connection, "CREATE TABLE dbo.walk (id int NOT NULL PRIMARY KEY, v nvarchar(20) NULL)");
        run(connection, "INSERT INTO dbo.walk SELECT value, CONCAT('row ', value) FROM GENERATE_SERIES(1, 100)");
        try (Statement statement = connection.createStatement(ResultSet.TYPE_SCROLL_INSENSITIVE, ResultSet.CONCUR_READ_ONLY)) {
            statement.setFetchSize(7);
            ResultSet rows = statement.executeQuery("SELECT id, v FROM dbo.walk ORDER BY id");
            equal(rows.getMetaData().getColumnCount(), 2, "columns of a cursor");
            check(rows.last(), "there is a last row");
            equal(rows.getInt(1) + " " + rows.getRow(), "100 100", "the last row");
            check(rows.absolute(50) && rows.getInt(1) == 50, "the fiftieth row");
            check(rows.relative(-8) && rows.getInt(1) == 42, "eight rows back");
            check(rows.previous() && rows.getInt(1) == 41, "the row before");
            check(rows.absolute(-3) && rows.getInt(1) == 98, "the last but two");
            rows.beforeFirst();
            int seen = 0;
            while (rows.next()) {
                seen += rows.getInt(1);
            }
            equal(seen, 5050, "sum of a walk");
            check(rows.isAfterLast() && rows.previous() && rows.getInt(1) == 100, "back from behind the end");
        }
        try (PreparedStatement statement = connection.prepareStatement("SELECT id FROM dbo.walk WHERE id > ? ORDER BY id")) {
            statement.setFetchSize(10);
            for (int least : new int[] {95, 0, 99}) {
                statement.setInt(1, least);
                try (ResultSet rows = statement.executeQuery()) {
                    int count = 0;
                    while (rows.next()) {
                        count++;
                    }
                    equal(count, 100 - least, "rows of a prepared cursor");
                }
            }
        }
        run(connection, "DROP TABLE dbo.walk");
    }

    private static void messages() throws Exception {
        Connection connection = opened();
        fixture(connection, "says");
        try (Statement statement = connection.createStatement()) {
            statement.execute("EXEC dbo.says");
            List<String> got = new ArrayList<>();
            for (SQLWarning warning = statement.getWarnings(); warning != null; warning = warning.getNextWarning()) {
                got.add(warning.getErrorCode() + " " + warning.getMessage());
            }
            equal(got, List.of("0 hello Ω", "50000 warned once"), "messages");
        }
    }

    private static void errors() throws Exception {
        Connection connection = opened();
        fixture(connection, "account");
        fixture(connection, "fails");
        Object[][] expected = {
            {"EXEC dbo.fails", 50000, 15, 7, 4L, "fails", "boom 42"},
            {"\n\nSELECT 1/0 AS x", 8134, 16, 1, 3L, "", "Divide by zero"},
            {"SELECT *\nFROM dbo.nothing_here", 208, 16, 1, 2L, "", "nothing_here"},
            {"INSERT INTO dbo.account (id, owner) VALUES (1, N'again')", 2627, 14, 1, 1L, "", "pk_account"},
            {"SELEC * FROM t", 102, 15, 1, 1L, "", "*"},
            {"THROW 51234, N'thrown Ω', 9", 51234, 16, 9, 1L, "", "thrown Ω"},
        };
        for (Object[] want : expected) {
            String sql = (String) want[0];
            try {
                try (Statement statement = connection.createStatement()) {
                    if (statement.execute(sql)) {
                        read(statement.getResultSet());
                    }
                }
                check(false, sql + ": no error");
            } catch (SQLServerException error) {
                var got = error.getSQLServerError();
                String procedure = got.getProcedureName() == null ? "" : got.getProcedureName();
                procedure = procedure.substring(procedure.lastIndexOf('.') + 1);
                equal(Arrays.asList(got.getErrorNumber(), got.getErrorSeverity(), got.getErrorState(), got.getLineNumber(), procedure),
                        Arrays.asList(want[1], want[2], want[3], want[4], want[5]), sql);
                check(error.getMessage().contains((String) want[6]), sql + ": text " + error.getMessage());
            }
        }
        check(connection.isValid(5), "the connection after the errors");
    }

    private static void errorMidBatch() throws Exception {
        Connection connection = opened();
        fixture(connection, "account");
        try (Statement statement = connection.createStatement()) {
            check(statement.execute("SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice');"
                    + " INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b"), "there is a first result");
            equal(read(statement.getResultSet()), List.of(List.of(1)), "the result before the error");
            refused(2627, "the second statement", statement::getMoreResults);
            check(!statement.getMoreResults(), "the third statement is a count");
            equal(statement.getUpdateCount(), 1, "rows of the third statement");
            check(statement.getMoreResults(), "there is a last result");
            equal(read(statement.getResultSet()), List.of(List.of(2)), "the result after the error");
        }
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 4, "the batch went on after the error");
        refused(245, "a conversion that fails", () -> scalar(connection, "SELECT CONVERT(int, N'x') AS x"));
        equal(scalar(connection, "SELECT 1"), 1, "after");
    }

    private static void cancel() throws Exception {
        Connection connection = opened();
        try (Statement statement = connection.createStatement()) {
            later(300, statement::cancel);
            long start = System.nanoTime();
            try {
                statement.execute("WAITFOR DELAY '00:00:20'");
                check(false, "the statement was not cancelled");
            } catch (SQLException error) {
                check(error.getMessage().contains("cancel"), "cancel: " + error.getMessage());
            }
            long took = (System.nanoTime() - start) / 1_000_000;
            check(took < 10000, "cancel took " + took + " ms");
        }
        equal(scalar(connection, "SELECT 1"), 1, "the connection after the cancel");
        fixture(connection, "account");
        StringBuilder tables = new StringBuilder("dbo.account t0");
        for (int n = 1; n < 16; n++) {
            tables.append(", dbo.account t").append(n);
        }
        long start = System.nanoTime();
        try (Statement statement = connection.createStatement()) {
            ResultSet rows = statement.executeQuery("SELECT t1.owner FROM " + tables);
            check(rows.next(), "a first row");
            statement.cancel();
            try {
                while (rows.next()) {
                    check(rows.getString(1) != null, "a row");
                }
                check(false, "the result was not cancelled");
            } catch (SQLException error) {
                check(error.getMessage().contains("cancel"), "cancel of a result: " + error.getMessage());
            }
        }
        long took = (System.nanoTime() - start) / 1_000_000;
        check(took < 10000, "cancel of a result took " + took + " ms");
        equal(scalar(connection, "SELECT 2"), 2, "the connection after the second cancel");
    }

    private static void queryTimeout() throws Exception {
        Connection connection = opened();
        try (Statement statement = connection.createStatement()) {
            statement.setQueryTimeout(1);
            long start = System.nanoTime();
            try {
                statement.execute("WAITFOR DELAY '00:00:20'");
                check(false, "the statement did not time out");
            } catch (SQLException error) {
                check(error.getMessage().contains("timed out"), "time-out: " + error.getMessage());
            }
            long took = (System.nanoTime() - start) / 1_000_000;
            check(took < 10000, "time-out took " + took + " ms");
        }
        equal(scalar(connection, "SELECT 1"), 1, "the connection after the time-out");
    }

    private static void largeValues() throws Exception {
        Connection connection = opened();
        fixture(connection, "blob");
        int size = 1 << 20;
        String text = "0123456789abcdef".repeat(size / 16);
        String wide = "Ωμέγα😀 ".repeat(65536);
        byte[] binary = new byte[size];
        for (int n = 0; n < size; n++) {
            binary[n] = (byte) n;
        }
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO dbo.blob (id, v, n, b) VALUES (?, ?, ?, ?)")) {
            insert.setInt(1, 1);
            insert.setString(2, text);
            insert.setNString(3, wide);
            insert.setBytes(4, binary);
            insert.executeUpdate();
            insert.setInt(1, 2);
            insert.setCharacterStream(2, new java.io.StringReader(text));
            insert.setNull(3, Types.NVARCHAR);
            insert.setBinaryStream(4, new java.io.ByteArrayInputStream(binary));
            insert.executeUpdate();
        }
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("SELECT v, n, b, DATALENGTH(v), DATALENGTH(n), DATALENGTH(b) FROM dbo.blob ORDER BY id")) {
            check(row.next(), "a row");
            check(text.equals(row.getString(1)), "varchar(max)");
            check(wide.equals(row.getNString(2)), "nvarchar(max)");
            check(Arrays.equals(binary, row.getBytes(3)), "varbinary(max)");
            equal(Arrays.asList(row.getInt(4), row.getInt(5), row.getInt(6)), Arrays.asList(size, 2 * wide.length(), size), "DATALENGTH");
            check(row.next(), "a streamed row");
            check(text.equals(row.getString(1)) && row.getNString(2) == null, "varchar(max) from a stream");
            check(Arrays.equals(binary, row.getBinaryStream(3).readAllBytes()), "varbinary(max) as a stream");
        }
        run(connection, "UPDATE dbo.blob SET v = NULL, n = N'', b = 0x WHERE id = 1");
        List<Object> row = rows(connection, "SELECT v, n, b FROM dbo.blob WHERE id = 1").get(0);
        check(row.get(0) == null && "".equals(row.get(1)) && ((byte[]) row.get(2)).length == 0, "NULL and empty");
        equal(((String) scalar(connection, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000)")).length(), 3000000, "3 MB");
    }

    private static List<Object> bulkRow(int n) {
        if (n % 10 == 9) {
            return Arrays.asList(n, null, null, null, null, null, null, null, null, null);
        }
        byte[] bytes = new byte[n % 20];
        Arrays.fill(bytes, (byte) n);
        return Arrays.asList(n, n * 10_000_000_000L, BigDecimal.valueOf(n * 2500L, 4), n / 8.0, n % 2 == 0, "Ω " + n, "v" + n, bytes,
                LocalDateTime.of(2024, 2, 29, 12, 0).plusNanos(n * 1_000_000L), String.format("00000000-0000-0000-0000-%012X", n));
    }

    private static void bulkCopy() throws Exception {
        Connection connection = opened();
        fixture(connection, "everything");
        // From a result of another connection, which is how the class is used to copy tables.
        Connection source = opened();
        fixture(source, "blob");
        run(source, "DROP TABLE IF EXISTS dbo.source");
        run(source, fixtures().get("everything").get(1).replace("dbo.everything", "dbo.source").replace("pk_everything", "pk_source"));
        try (PreparedStatement insert = source.prepareStatement("INSERT INTO dbo.source (id, n, d, f, b, s, v, x, t, g) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")) {
            int[] types = {Types.INTEGER, Types.BIGINT, Types.DECIMAL, Types.DOUBLE, Types.BIT, Types.NVARCHAR, Types.VARCHAR, Types.VARBINARY, Types.TIMESTAMP, Types.CHAR};
            for (int n = 0; n < 500; n++) {
                int i = 1;
                for (Object value : bulkRow(n)) {
                    if (value == null) {
                        insert.setNull(i, types[i - 1]);
                    } else {
                        insert.setObject(i, value);
                    }
                    i++;
                }
                insert.addBatch();
            }
            insert.executeBatch();
        }
        try (Statement statement = source.createStatement(); ResultSet rows = statement.executeQuery("SELECT * FROM dbo.source ORDER BY id")) {
            SQLServerBulkCopyOptions options = new SQLServerBulkCopyOptions();
            options.setBatchSize(200);
            options.setKeepNulls(true);
            try (SQLServerBulkCopy copy = new SQLServerBulkCopy(connection)) {
                copy.setBulkCopyOptions(options);
                copy.setDestinationTableName("dbo.everything");
                copy.writeToServer(rows);
            }
        }
        List<List<Object>> got = rows(connection, "SELECT id, n, d, f, b, s, v, x, t, g FROM dbo.everything ORDER BY id");
        equal(got.size(), 500, "rows after bulk copy");
        for (int n = 0; n < got.size(); n++) {
            List<Object> row = got.get(n);
            List<Object> want = bulkRow(n);
            for (int i = 0; i < row.size(); i++) {
                Object one = row.get(i);
                if (one instanceof java.sql.Timestamp) {
                    one = ((java.sql.Timestamp) one).toLocalDateTime();
                }
                Object other = want.get(i);
                boolean same = one instanceof byte[] ? Arrays.equals((byte[]) one, (byte[]) other) : java.util.Objects.equals(one, other);
                if (!same) {
                    equal(one, other, "bulk row " + n + " column " + i);
                    return;
                }
            }
        }
        // Batched inserts by way of bulk copy, which the connection property turns on.
        Connection batching = opened("useBulkCopyForBatchInsert", "true");
        try (PreparedStatement insert = batching.prepareStatement("INSERT INTO dbo.everything (id, n, s) VALUES (?, ?, ?)")) {
            for (int n = 1000; n < 1100; n++) {
                insert.setInt(1, n);
                insert.setLong(2, n);
                insert.setNString(3, "Ω" + n);
                insert.addBatch();
            }
            insert.executeBatch();
        }
        equal(scalar(connection, "SELECT COUNT(*) FROM dbo.everything WHERE n = id AND id >= 1000"), 100, "rows of batched inserts");
    }

    private static void tableValuedParameters() throws Exception {
        Connection connection = opened();
        fixture(connection, "id_list");
        SQLServerDataTable table = new SQLServerDataTable();
        table.addColumnMetadata("id", Types.INTEGER);
        table.addColumnMetadata("name", Types.NVARCHAR);
        for (int n = 0; n < 500; n++) {
            table.addRow(n, String.format("name %03d", n));
        }
        table.addRow(500, null);
        try (SQLServerPreparedStatement call = (SQLServerPreparedStatement) connection.prepareStatement("EXEC dbo.take_list ?")) {
            call.setStructured(1, "dbo.id_list", table);
            equal(read(call.executeQuery()), List.of(List.of(501, 125250, "name 499")), "a table of 501 rows");
            SQLServerDataTable empty = new SQLServerDataTable();
            empty.addColumnMetadata("id", Types.INTEGER);
            empty.addColumnMetadata("name", Types.NVARCHAR);
            call.setStructured(1, "dbo.id_list", empty);
            equal(read(call.executeQuery()), List.of(Arrays.asList(0, null, null)), "a table without rows");
        }
    }

    private static void poolingReset() throws Exception {
        make();
        SQLServerConnectionPoolDataSource source = new SQLServerConnectionPoolDataSource();
        source.setURL(url());
        source.setUser(env("USER"));
        source.setPassword(env("PASSWORD"));
        source.setDatabaseName(DATABASE);
        source.setTrustStore(trustStore(true));
        source.setTrustStoreType("PKCS12");
        source.setTrustStorePassword(STORE_PASSWORD);
        PooledConnection pooled = source.getPooledConnection();
        Connection first = pooled.getConnection();
        Object spid = scalar(first, "SELECT @@SPID");
        for (String sql : List.of("CREATE TABLE #left (a int)", "SET LOCK_TIMEOUT 4321", "SET DATEFIRST 3",
                "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "USE master", "BEGIN TRANSACTION")) {
            run(first, sql);
        }
        first.close();
        Connection second = pooled.getConnection();
        equal(scalar(second, "SELECT @@SPID"), spid, "the pooled connection comes back");
        equal(scalar(second, "SELECT DB_NAME()"), DATABASE, "database after reset");
        equal(scalar(second, "SELECT OBJECT_ID('tempdb..#left')"), null, "temporary table after reset");
        equal(scalar(second, "SELECT @@LOCK_TIMEOUT"), -1, "LOCK_TIMEOUT after reset");
        equal(((Number) scalar(second, "SELECT @@DATEFIRST")).intValue(), 7, "DATEFIRST after reset");
        equal(scalar(second, "SELECT @@TRANCOUNT"), 0, "@@TRANCOUNT after reset");
        second.close();
        pooled.close();
    }

    private static void timeZones() throws Exception {
        Connection connection = opened();
        fixture(connection, "moments");
        int[] zones = {0, 60, 330, -480, 840, -840, -1, 345};
        TimeZone before = TimeZone.getDefault();
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO dbo.moments (id, o) VALUES (?, ?)");
                PreparedStatement select = connection.prepareStatement(
                        "SELECT o, CAST(SWITCHOFFSET(o, '+00:00') AS datetime2(3)), DATEPART(tz, o) FROM dbo.moments WHERE id = ?")) {
            for (int n = 0; n < zones.length; n++) {
                // The zone of the virtual machine must not matter.
                TimeZone.setDefault(TimeZone.getTimeZone(n % 2 == 0 ? "Asia/Kolkata" : "America/New_York"));
                OffsetDateTime moment = OffsetDateTime.of(2024, 3, 31, 1, 59, 59, 123_000_000, ZoneOffset.ofTotalSeconds(zones[n] * 60));
                insert.setInt(1, n);
                insert.setObject(2, moment);
                insert.executeUpdate();
                select.setInt(1, n);
                try (ResultSet row = select.executeQuery()) {
                    check(row.next(), "a row");
                    equal(row.getObject(1, OffsetDateTime.class), moment, "moment at " + zones[n]);
                    equal(row.getObject(2, LocalDateTime.class), moment.withOffsetSameInstant(ZoneOffset.UTC).toLocalDateTime(), "in UTC, " + zones[n]);
                    equal(row.getInt(3), zones[n], "DATEPART(tz) " + zones[n]);
                }
            }
        } finally {
            TimeZone.setDefault(before);
        }
        try (Statement statement = connection.createStatement(); ResultSet row = statement.executeQuery("SELECT SYSDATETIMEOFFSET()")) {
            check(row.next(), "a row");
            long off = Math.abs(row.getObject(1, OffsetDateTime.class).toInstant().toEpochMilli() - System.currentTimeMillis());
            check(off < 5000, "SYSDATETIMEOFFSET() is " + off + " ms off");
        }
    }

    private static List<String> column(ResultSet rows, String... names) throws SQLException {
        List<String> got = new ArrayList<>();
        while (rows.next()) {
            List<String> parts = new ArrayList<>();
            for (String name : names) {
                parts.add(rows.getString(name));
            }
            got.add(String.join(" ", parts));
        }
        rows.close();
        return got;
    }

    private static void metadata() throws Exception {
        Connection connection = opened();
        fixture(connection, "family");
        DatabaseMetaData about = connection.getMetaData();
        noting("getTables", () -> {
            List<String> tables = column(about.getTables(DATABASE, "dbo", "%", new String[] {"TABLE"}), "TABLE_NAME", "TABLE_TYPE");
            check(tables.containsAll(List.of("parent TABLE", "child TABLE")), "getTables: " + tables);
        });
        noting("getColumns", () -> equal(column(about.getColumns(DATABASE, "dbo", "parent", "%"), "COLUMN_NAME", "TYPE_NAME", "COLUMN_SIZE", "NULLABLE", "DATA_TYPE"),
                List.of("a int 10 0 4", "b nvarchar 20 0 -9", "c decimal 10 1 3"), "getColumns"));
        noting("getColumns of child", () -> equal(column(about.getColumns(DATABASE, "dbo", "child", "%"), "COLUMN_NAME", "TYPE_NAME", "IS_AUTOINCREMENT"),
                List.of("id int identity YES", "name varchar NO", "made datetime2 NO"), "getColumns of child"));
        noting("getPrimaryKeys", () -> equal(column(about.getPrimaryKeys(DATABASE, "dbo", "parent"), "COLUMN_NAME", "KEY_SEQ", "PK_NAME"),
                List.of("b 1 pk_parent", "a 2 pk_parent"), "getPrimaryKeys"));
        noting("getProcedures", () -> equal(column(about.getProcedures(DATABASE, "dbo", "of_family"), "PROCEDURE_SCHEM"), List.of("dbo"), "getProcedures"));
        noting("getProcedureColumns", () -> equal(column(about.getProcedureColumns(DATABASE, "dbo", "of_family", "%"), "COLUMN_NAME", "TYPE_NAME"),
                List.of("@RETURN_VALUE int", "@a int", "@b nvarchar"), "getProcedureColumns"));
        noting("getIndexInfo", () -> check(column(about.getIndexInfo(DATABASE, "dbo", "parent", true, false), "INDEX_NAME").contains("pk_parent"), "getIndexInfo"));
        noting("getSchemas", () -> check(column(about.getSchemas(), "TABLE_SCHEM").contains("dbo"), "getSchemas"));
        noting("getCatalogs", () -> check(column(about.getCatalogs(), "TABLE_CAT").containsAll(List.of("master", DATABASE)), "getCatalogs"));
        noting("getTypeInfo", () -> check(column(about.getTypeInfo(), "TYPE_NAME").containsAll(List.of("int", "nvarchar", "datetime2")), "getTypeInfo"));
        noting("getImportedKeys", () -> equal(column(about.getImportedKeys(DATABASE, "dbo", "child"), "FK_NAME"), List.of(), "getImportedKeys"));
        try (Statement statement = connection.createStatement(); ResultSet rows = statement.executeQuery("SELECT a, b, c, a + 1 AS e FROM dbo.parent")) {
            ResultSetMetaData columns = rows.getMetaData();
            List<String> got = new ArrayList<>();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                got.add(columns.getColumnLabel(i) + " " + columns.getColumnTypeName(i) + " " + columns.getPrecision(i) + " " + columns.getScale(i) + " " + columns.isNullable(i));
            }
            equal(got, List.of("a int 10 0 0", "b nvarchar 20 0 0", "c decimal 10 2 1", "e int 10 0 1"), "ResultSetMetaData");
        }
    }

    public static void main(String[] arguments) {
        Map<String, Work> scenarios = new LinkedHashMap<>();
        scenarios.put("connect", Suite::connects);
        scenarios.put("encryption", Suite::encryption);
        scenarios.put("wrong-password", Suite::wrongPassword);
        scenarios.put("unknown-database", Suite::unknownDatabase);
        scenarios.put("types", Suite::typesFromServer);
        scenarios.put("parameters", Suite::parameters);
        scenarios.put("output-parameters", Suite::outputParameters);
        scenarios.put("prepared", Suite::prepared);
        scenarios.put("transactions", Suite::transactions);
        scenarios.put("savepoints", Suite::savepoints);
        scenarios.put("isolation-levels", Suite::isolationLevels);
        scenarios.put("result-sets", Suite::resultSets);
        scenarios.put("messages", Suite::messages);
        scenarios.put("errors", Suite::errors);
        scenarios.put("error-mid-batch", Suite::errorMidBatch);
        scenarios.put("cancel", Suite::cancel);
        scenarios.put("query-timeout", Suite::queryTimeout);
        scenarios.put("large-values", Suite::largeValues);
        scenarios.put("bulk-copy", Suite::bulkCopy);
        scenarios.put("table-valued-parameters", Suite::tableValuedParameters);
        scenarios.put("pooling-reset", Suite::poolingReset);
        scenarios.put("time-zones", Suite::timeZones);
        scenarios.put("metadata", Suite::metadata);
        scenarios.put("random-rows", () -> RandomRows.run(opened("sendTimeAsDatetime", "false"), opened("sendTimeAsDatetime", "false")));
        scenarios.replaceAll((name, work) -> () -> {
            try {
                work.run();
            } finally {
                for (Connection connection : open) {
                    connection.close();
                }
                open.clear();
            }
        });
        Frame.run(scenarios);
        System.exit(0);
    }
}
