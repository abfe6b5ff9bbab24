"""pyodbc with FreeTDS's ODBC driver, as Debian packs it: parameters by sp_prepexec, cancel by SQLCancel."""

import datetime
import glob
import os
import re
import struct

from suite import CERTIFICATE, HOST, PASSWORD, PORT, SCRATCH, USER, Skip

CONF = os.path.join(SCRATCH, "freetds.conf")
LIBRARY = (glob.glob("/usr/lib/*/odbc/libtdsodbc.so") + ["libtdsodbc.so"])[0]


def configure():
    empty = os.path.join(SCRATCH, "nobody.pem")
    open(empty, "w", encoding="ascii").close()
    with open(CONF, "w", encoding="ascii") as file:
        for name, authority in (("trusting", CERTIFICATE), ("doubting", empty)):
            file.write(f"[{name}]\n  host = {HOST}\n  port = {PORT}\n  tds version = 7.4\n  client charset = UTF-8\n")
            file.write(f"  encryption = require\n  ca file = {authority}\n  check certificate hostname = yes\n")


configure()
os.environ["FREETDSCONF"] = CONF

import pyodbc  # noqa: E402

from dbapi import DATABASE, DbApi  # noqa: E402
from odbc import Odbc  # noqa: E402
import random_rows  # noqa: E402

# "[42S02] [FreeTDS][SQL Server]Invalid object name 'x'. (208) (SQLExecDirectW)"
NUMBER = re.compile(r"\((-?\d+)\) \(SQL")


def moment(raw):
    """SQL_SS_TIMESTAMPOFFSET_STRUCT, which pyodbc leaves to the program."""
    year, month, day, hour, minute, second, ns, hours, minutes = struct.unpack("<hHHHHHIhh", raw)
    zone = datetime.timezone(datetime.timedelta(hours=hours, minutes=minutes))
    return datetime.datetime(year, month, day, hour, minute, second, ns // 1000, zone)


def microsoft():
    """The driver in the wheel of mssql-python-odbc."""
    import mssql_python_odbc

    home = os.path.dirname(mssql_python_odbc.__file__)
    return glob.glob(os.path.join(home, "**", "debian_ubuntu", "x86_64", "**", "libmsodbcsql*.so*"), recursive=True)[0]


def sendable(column, value):
    """pyodbc has no parameter of datetimeoffset, and one of time without a fraction; the server converts the text, which
    may be as long as the type's alone."""
    if column.word == "time" and value is not None:
        return value.isoformat(timespec="microseconds")[: 9 + column.first if column.first else 8]
    if column.word != "datetimeoffset" or value is None:
        return value
    text = value.isoformat(sep=" ", timespec="microseconds")
    fraction = text[20:26].ljust(column.first, "0")[: column.first]
    return f"{text[:19]}{'.' if fraction else ''}{fraction}{text[26:]}"


class Suite(Odbc):
    Error = pyodbc.Error
    # The driver's first record is the last error.
    unknown_database_numbers = (18456,)

    def connect(self, database=DATABASE, password=None, autocommit=True, trust=True, timeout=0):
        server = "trusting" if trust else "doubting"
        password = PASSWORD if password is None else password
        connection = pyodbc.connect(
            f"DRIVER={LIBRARY};SERVERNAME={server};UID={USER};PWD={{{password}}};DATABASE={database}",
            autocommit=autocommit, timeout=10,
        )
        connection.timeout = timeout
        connection.add_output_converter(-155, moment)
        return connection

    def error_number(self, error):
        found = NUMBER.findall(str(error.args[-1]))
        return int(found[0]) if found else None

    def error_details(self, connection, sql):
        try:
            self.read(connection, sql)
        except pyodbc.Error as error:
            # The driver keeps state, line and procedure to itself.
            return self.error_number(error), None, None, None, None, str(error)
        return None

    def messages_of(self, connection, sql):
        cursor = connection.cursor()
        cursor.execute(sql)
        got = []
        while True:
            for kind, text in cursor.messages:
                number = re.findall(r"\((\d+)\)", kind)
                got.append((int(number[0]) if number and int(number[0]) else None, None, text))
            if not cursor.nextset():
                return got

    def parameter(self, kind, native):
        # pyodbc has no parameter of datetimeoffset; the server converts the text.
        return native.isoformat(sep=" ") if kind == "datetimeoffset" else native

    def null(self, kind):
        # Without SQLDescribeParam None goes as varchar, which does not become binary.
        return pyodbc.BinaryNull if kind == "binary" else None

    def can_send(self, kind, text):
        # The driver sends dates as datetime, and pyodbc times without a fraction.
        return not (kind in ("date", "datetime2") and text < "1753" or kind == "time" and "." in text)

    def bulk_copy(self):
        raise Skip("ODBC has no bulk copy; pyodbc offers arrays of parameters")

    def table_valued_parameters(self):
        raise Skip("FreeTDS 1.3 has no table-valued parameters in ODBC")

    def pooling_reset(self):
        raise Skip("unixODBC's pool does not reset connections")

    def random_rows(self):
        """With Microsoft's ODBC driver, which has all types, arrays of parameters and table-valued parameters."""
        self.open().close()
        os.environ["SSL_CERT_FILE"] = CERTIFICATE
        connection = pyodbc.connect(
            f"DRIVER={microsoft()};SERVER={HOST},{PORT};UID={USER};PWD={{{PASSWORD}}};DATABASE={DATABASE}"
            ";Encrypt=yes",
            autocommit=True, timeout=10,
        )
        connection.add_output_converter(-155, moment)
        # CLR types come as their bytes, once somebody says so.
        connection.add_output_converter(-151, bytes)
        pyodbc.native_uuid = True
        # What goes into a variant as a member of a table the client calls nvarchar(max), which does not become one.
        of = [column for column in random_rows.columns() if column.word != "sql_variant"]
        want = random_rows.rows(of)
        sent = [[n, *map(sendable, of, row)] for n, row in enumerate(want)]
        listed = ", ".join(column.name for column in of)
        # The client has no parameters of CLR types: their bytes are cast.
        marks = ", ".join(f"CAST(CAST(? AS varbinary(max)) AS {column.word})" if column.is_clr else "?" for column in of)
        # In an array a text goes as the type that the server describes: varchar in the database's code page.
        wide = ", ".join(
            f"CAST(CAST(? AS varbinary(max)) AS {column.word})" if column.is_clr else "CAST(? AS nvarchar(max))" if column.collation else "?"
            for column in of
        )
        ways = ["by_parameters", "by_array", "by_table"]
        declared = random_rows.declare(of)
        cursor = connection.cursor()
        for way in ways:
            cursor.execute(f"DROP TABLE IF EXISTS dbo.{way}; CREATE TABLE dbo.{way} (id int NOT NULL PRIMARY KEY, {declared})")
        cursor.execute(
            "DROP PROCEDURE IF EXISTS dbo.take_random; IF TYPE_ID(N'dbo.random_row') IS NOT NULL DROP TYPE dbo.random_row;"
            f" CREATE TYPE dbo.random_row AS TABLE (id int NOT NULL, {declared})"
        )
        cursor.execute(
            f"CREATE PROCEDURE dbo.take_random @rows dbo.random_row READONLY AS INSERT dbo.by_table SELECT id, {listed} FROM @rows"
        )
        for row in sent:
            with self.noting(f"row {row[0]} by parameters"):
                cursor.execute(f"INSERT INTO dbo.by_parameters (id, {listed}) VALUES (?, {marks})", row)
        with self.noting("an array of parameters"):
            cursor.fast_executemany = True
            cursor.executemany(f"INSERT INTO dbo.by_array (id, {listed}) VALUES (?, {wide})", sent)
        with self.noting("a table-valued parameter"):
            for at in range(0, len(sent), 500):
                cursor.execute("{CALL dbo.take_random (?)}", (sent[at : at + 500],))
        for way in ways:
            random_rows.check(self, connection, of, want, way)
            random_rows.told(self, connection, of, way)
        random_rows.compare(self, connection, of, want, ways)
        connection.close()


if __name__ == "__main__":
    Suite().run()
