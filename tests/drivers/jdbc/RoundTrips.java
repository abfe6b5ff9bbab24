import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Round trips of mssql-jdbc and pgjdbc by one connection; ../README.md ("Round trips") says what is asked and answered.
 *
 * <p>The same code for both, as JDBC has it: two PreparedStatements, autocommit. Each driver prepares on the server what it
 * sees repeated.
 */
class RoundTrips {
    private final PreparedStatement select;
    private final PreparedStatement insert;
    private int at;

    interface Work {
        void run() throws SQLException;
    }

    public static void main(String[] arguments) throws Exception {
        String place = Frame.env("HOST") + ":" + Frame.env("PORT");
        String url =
                Frame.DRIVER.equals("pgjdbc")
                        ? "jdbc:postgresql://" + place + "/round_trips?sslmode=disable"
                        : "jdbc:sqlserver://" + place + ";databaseName=round_trips;encrypt=false";
        try (Connection connection = DriverManager.getConnection(url, Frame.env("USER"), Frame.env("PASSWORD"))) {
            new RoundTrips(connection).serve(new BufferedReader(new InputStreamReader(System.in)));
        }
    }

    RoundTrips(Connection connection) throws SQLException {
        select = connection.prepareStatement("SELECT value, name FROM kept WHERE id = ?");
        insert = connection.prepareStatement("INSERT INTO added (value, name) VALUES (?, ?)");
    }

    void serve(BufferedReader lines) throws Exception {
        for (String line = lines.readLine(); line != null; line = lines.readLine()) {
            String[] words = line.split(" ");
            Work work = words[0].equals("select") ? this::selectOne : this::insertOne;
            long begun = System.nanoTime();
            long limit = (long) (Double.parseDouble(words[1]) * 1e9);
            long count = 0;
            long took = 0;
            while (took < limit) {
                work.run();
                count++;
                took = System.nanoTime() - begun;
            }
            System.out.println(count + " " + took / 1e9);
        }
    }

    /** Every one of the 10,000 rows in turn, in no order. */
    private int next() {
        at = (at * 21 + 7) % 10_000;
        return at + 1;
    }

    private void selectOne() throws SQLException {
        int id = next();
        select.setInt(1, id);
        try (ResultSet rows = select.executeQuery()) {
            boolean found = rows.next();
            if (!found || rows.getInt(1) != id || !rows.getString(2).equals("the name of row " + id)) {
                throw new SQLException("row " + id + (found ? " came as " + rows.getInt(1) : " did not come"));
            }
        }
    }

    private void insertOne() throws SQLException {
        int value = next();
        insert.setInt(1, value);
        insert.setString(2, "the name of row " + value);
        insert.executeUpdate();
    }
}
