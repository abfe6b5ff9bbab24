"""The scenarios in terms of PEP 249, which all four Python clients speak; what each does its own way is a hook.

A suite gives `connect` (and what else its client has), and overrides a scenario where its client has a better idiom.
Work is done in a database of the driver's own, so suites do not see each other.
"""

import datetime
import decimal
import time
import uuid

from suite import CERTIFICATE, Frame, Skip, later, short, values
import os

DATABASE = "drv_" + os.environ["MILLRACE_DRIVER"].replace("-", "_")
SLOW = "WAITFOR DELAY '00:00:20'"


class DbApi(Frame):
    """`mark`: the place of a parameter in SQL text. `Error`: the module's Error class."""

    mark = "?"
    Error = Exception
    unknown_database_numbers = (4060,)
    sends_empty_passwords = True

    # -- hooks ------------------------------------------------------------------------------------------------------

    def connect(self, database=DATABASE, password=None, autocommit=True, trust=True, timeout=0):
        raise NotImplementedError

    def error_number(self, error):
        """SQL Server's number of an exception."""
        raise NotImplementedError

    def error_details(self, cursor, sql):
        """Runs what fails; answers (number, severity, state, line, procedure, text); None: the client has it not."""
        raise NotImplementedError

    def messages_of(self, connection, sql):
        """Runs it and answers the messages as (number or None, severity or None, text)."""
        raise NotImplementedError

    # -- help -------------------------------------------------------------------------------------------------------

    _made = False

    def open(self, **options):
        """A connection to the suite's own database, made when first asked for."""
        if not DbApi._made:
            connection = self.connect(database="master")
            cursor = connection.cursor()
            cursor.execute(f"IF DB_ID(N'{DATABASE}') IS NULL CREATE DATABASE {DATABASE}")
            connection.close()
            DbApi._made = True
        return self.connect(**options)

    def fixture(self, connection, name):
        for batch in values.fixtures(name):
            cursor = connection.cursor()
            cursor.execute(batch)
            cursor.close()

    def scalar(self, connection, sql, parameters=None):
        cursor = connection.cursor()
        self.execute(cursor, sql, parameters)
        row = cursor.fetchone()
        cursor.close()
        return None if row is None else row[0]

    def rows(self, connection, sql, parameters=None):
        cursor = connection.cursor()
        self.execute(cursor, sql, parameters)
        rows = [tuple(row) for row in cursor.fetchall()]
        cursor.close()
        return rows

    def do(self, connection, sql, parameters=None):
        cursor = connection.cursor()
        self.execute(cursor, sql, parameters)
        count = cursor.rowcount
        cursor.close()
        return count

    def read(self, connection, sql):
        """Runs it and reads all rows: an error at run time comes behind the columns, as SQL Server sends it."""
        cursor = connection.cursor()
        cursor.execute(sql)
        if cursor.description:
            cursor.fetchall()
        cursor.close()

    def execute(self, cursor, sql, parameters=None):
        """Question marks become the driver's own mark."""
        if parameters is None:
            cursor.execute(sql)
        else:
            cursor.execute(sql.replace("?", self.mark), parameters)

    def refused(self, number, what, work):
        """The work must fail with this number."""
        try:
            work()
        except self.Error as error:
            got = self.error_number(error)
            self.equal(got, number, f"{what}: error number ({short(str(error))})")
        else:
            self.check(False, f"{what}: was not refused")

    # -- scenarios --------------------------------------------------------------------------------------------------

    def connect_(self):
        connection = self.open()
        self.equal(self.scalar(connection, "SELECT 1"), 1, "SELECT 1")
        self.equal(self.scalar(connection, "SELECT DB_NAME()"), DATABASE, "DB_NAME()")
        version = self.scalar(connection, "SELECT @@VERSION")
        self.check(isinstance(version, str) and len(version) > 10, f"@@VERSION: {version!r}")
        second = self.open()
        first_id = self.scalar(connection, "SELECT @@SPID")
        self.check(first_id != self.scalar(second, "SELECT @@SPID"), "two connections have one @@SPID")
        second.close()
        self.equal(self.scalar(connection, "SELECT @@SPID"), first_id, "@@SPID after the other closed")
        connection.close()
        self.equal(self.scalar(self.connect(database="master"), "SELECT DB_NAME()"), "master", "master")

    def encrypt_option(self, connection):
        return self.scalar(connection, "SELECT encrypt_option FROM sys.dm_exec_connections WHERE session_id = @@SPID")

    def encryption(self):
        connection = self.open()
        self.equal(self.encrypt_option(connection), "TRUE", "encrypt_option of this connection")
        connection.close()
        self.refuses_strangers()

    def refuses_strangers(self):
        try:
            self.connect(database="master", trust=False)
        except Exception as error:
            text = str(error).lower()
            self.check("18456" not in text, f"without the certificate: refused for another reason: {text}")
        else:
            self.check(False, "without the server's certificate trusted, the client connected all the same")

    def wrong_password(self):
        self.refused(18456, "wrong password", lambda: self.connect(database="master", password="not-it"))
        if self.sends_empty_passwords:
            self.refused(18456, "empty password", lambda: self.connect(database="master", password=""))
        self.equal(self.scalar(self.open(), "SELECT 1"), 1, "the next login")

    def unknown_database(self):
        # The server says 4060 and then 18456; some clients show only one of the two.
        try:
            self.connect(database="no_such_database")
        except self.Error as error:
            number = self.error_number(error)
            self.check(number in self.unknown_database_numbers, f"unknown database: {number} ({short(str(error))})")
        else:
            self.check(False, "unknown database: was not refused")
        connection = self.open()
        self.refused(911, "USE of an unknown database", lambda: self.do(connection, "USE no_such_database"))
        self.equal(self.scalar(connection, "SELECT DB_NAME()"), DATABASE, "DB_NAME() after the refusal")

    def types(self):
        connection = self.open()
        for entry in values.cases():
            with self.noting(entry["type"]):
                self._type_from_server(connection, entry)

    def _type_from_server(self, connection, entry):
        kind, name = entry["kind"], entry["type"]
        for value in entry["values"]:
            got = self.scalar(connection, f"SELECT CAST({value['sql']} AS {name}) AS v")
            good = values.same(kind, value["text"], got)
            self.check(good, f"{name} CAST: expected {short(value['text'])}, got {short(got)}")
        self.do(connection, "DROP TABLE IF EXISTS dbo.typed")
        self.do(connection, f"CREATE TABLE dbo.typed (id int NOT NULL PRIMARY KEY, v {name} NULL)")
        for number, value in enumerate(entry["values"]):
            self.do(connection, f"INSERT INTO dbo.typed (id, v) VALUES ({number}, {value['sql']})")
        self.do(connection, "INSERT INTO dbo.typed (id, v) VALUES (1000, NULL)")
        got = self.rows(connection, "SELECT id, v FROM dbo.typed ORDER BY id")
        self.equal(len(got), len(entry["values"]) + 1, f"{name}: rows in the table")
        for (_, found), value in zip(got, entry["values"]):
            good = values.same(kind, value["text"], found)
            self.check(good, f"{name} column: expected {short(value['text'])}, got {short(found)}")
        self.equal(got[-1][1], None, f"{name}: NULL")

    def parameters(self):
        connection = self.open()
        for entry in values.cases():
            with self.noting(entry["type"]):
                self._type_to_server(connection, entry)
        with self.noting("several parameters"):
            row = self.rows(connection, "SELECT ? + ? AS a, ? AS b, ? AS c", (40, 2, "x'y", None))[0]
            self.equal(row, (42, "x'y", None), "several parameters")

    def _type_to_server(self, connection, entry):
        kind, name = entry["kind"], entry["type"]
        self.do(connection, "DROP TABLE IF EXISTS dbo.sent")
        self.do(connection, f"CREATE TABLE dbo.sent (id int NOT NULL PRIMARY KEY, v {name} NULL)")
        for number, value in enumerate(entry["values"]):
            if values.has_hundred_ns(kind, value["text"]) or not self.can_send(kind, value["text"]):
                continue
            native = self.parameter(kind, values.native(kind, value["text"]))
            with self.noting(f"{name} {short(value['text'], 60)}"):
                self.do(connection, "INSERT INTO dbo.sent (id, v) VALUES (?, ?)", (number, native))
                sql = f"SELECT v, CASE WHEN v = CAST({value['sql']} AS {name}) THEN 1 ELSE 0 END FROM dbo.sent WHERE id = ?"
                rows = self.rows(connection, sql, (number,))
                self.equal(len(rows), 1, f"{name}: rows of the key just inserted")
                good = values.same(kind, value["text"], rows[0][0])
                self.check(good, f"{name}: sent {short(value['text'])}, got back {short(rows[0][0])}")
                self.equal(rows[0][1], 1, f"{name} {short(value['text'])}: equal on the server")
        self.do(connection, "INSERT INTO dbo.sent (id, v) VALUES (?, ?)", (1000, self.null(kind)))
        left = self.scalar(connection, "SELECT COUNT(*) FROM dbo.sent WHERE v IS NULL")
        self.equal(left, 1, f"{name}: NULL sent")

    def parameter(self, kind, native):
        return native

    def null(self, kind):
        return None

    def can_send(self, kind, text):
        """Whether the client's own limits let this value be a parameter."""
        return True

    def output_parameters(self):
        raise Skip("the client has no output parameters")

    def prepared(self):
        connection = self.open()
        self.fixture(connection, "everything")
        cursor = connection.cursor()
        sql = "INSERT INTO dbo.everything (id, n, s) VALUES (?, ?, ?)"
        for number in range(100):
            self.execute(cursor, sql, (number, number * 10**12, f"row {number} Ω"))
        cursor.close()
        cursor = connection.cursor()
        for number in range(100):
            self.execute(cursor, "SELECT n, s FROM dbo.everything WHERE id = ?", (number,))
            self.equal(tuple(cursor.fetchone()), (number * 10**12, f"row {number} Ω"), f"row {number}")
        # The same text, other types and NULL.
        self.execute(cursor, "SELECT COUNT(*) FROM dbo.everything WHERE s = ?", ("row 7 Ω",))
        self.equal(cursor.fetchone()[0], 1, "by text")
        self.execute(cursor, "SELECT COUNT(*) FROM dbo.everything WHERE s = ?", (None,))
        self.equal(cursor.fetchone()[0], 0, "by NULL")
        cursor.close()
        cursor = connection.cursor()
        cursor.executemany(sql.replace("?", self.mark), [(200 + n, n, "many") for n in range(20)])
        cursor.close()
        self.equal(self.scalar(connection, "SELECT COUNT(*) FROM dbo.everything"), 120, "rows after executemany")

    def transactions(self):
        connection = self.open()
        self.fixture(connection, "account")
        connection.close()
        connection, other = self.open(autocommit=False), self.open()
        self.equal(self.do(connection, "UPDATE dbo.account SET balance = balance + 1 WHERE id = 1"), 1, "rows updated")
        self.equal(self.scalar(connection, "SELECT @@TRANCOUNT") >= 1, True, "a transaction is open")
        connection.rollback()
        self.equal(self._balance(other, 1), decimal.Decimal(100), "after rollback")
        self.do(connection, "UPDATE dbo.account SET balance = balance + 1 WHERE id = 1")
        connection.commit()
        self.equal(self._balance(other, 1), decimal.Decimal(101), "after commit")
        self.do(connection, "DELETE FROM dbo.account WHERE id = 2")
        connection.close()
        self.equal(self.scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after a close without commit")
        self.do(other, "BEGIN TRANSACTION")
        self.do(other, "DELETE FROM dbo.account")
        self.do(other, "ROLLBACK TRANSACTION")
        self.equal(self.scalar(other, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after ROLLBACK TRANSACTION")
        self.equal(self.scalar(other, "SELECT @@TRANCOUNT"), 0, "@@TRANCOUNT")

    def _balance(self, connection, number):
        return self.scalar(connection, f"SELECT balance FROM dbo.account WHERE id = {number}")

    def savepoints(self):
        connection = self.open()
        self.fixture(connection, "account")
        connection.close()
        connection = self.open(autocommit=False)
        self.do(connection, "UPDATE dbo.account SET balance = 1 WHERE id = 1")
        self.do(connection, "SAVE TRANSACTION here")
        self.do(connection, "UPDATE dbo.account SET balance = 2 WHERE id = 1")
        self.do(connection, "INSERT INTO dbo.account (id, owner) VALUES (9, N'Gone')")
        self.do(connection, "ROLLBACK TRANSACTION here")
        self.equal(self.scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 3, "rows after going back")
        connection.commit()
        self.equal(self._balance(self.open(), 1), decimal.Decimal(1), "what was before the save point")

    def isolation_levels(self):
        connection, other = self.open(), self.open()
        self.fixture(connection, "account")
        self.do(connection, f"ALTER DATABASE {DATABASE} SET ALLOW_SNAPSHOT_ISOLATION ON")
        levels = ["READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE", "SNAPSHOT"]
        for number, level in enumerate(levels, 1):
            with self.noting(level):
                self.do(connection, f"SET TRANSACTION ISOLATION LEVEL {level}")
                sql = "SELECT transaction_isolation_level FROM sys.dm_exec_sessions WHERE session_id = @@SPID"
                self.equal(self.scalar(connection, sql), number, f"{level}: as the server sees it")
                self.do(connection, "BEGIN TRANSACTION")
                self.equal(self._balance(connection, 1), decimal.Decimal(100), level)
                self.do(connection, "ROLLBACK")
        # What SNAPSHOT means: a change that was committed meanwhile is not seen.
        self.do(connection, "BEGIN TRANSACTION")
        self._balance(connection, 1)
        self.do(other, "UPDATE dbo.account SET balance = 7 WHERE id = 1")
        self.equal(self._balance(connection, 1), decimal.Decimal(100), "SNAPSHOT reads what was")
        self.do(connection, "COMMIT")
        self.equal(self._balance(connection, 1), decimal.Decimal(7), "after the end")
        # What REPEATABLE READ means: a writer waits for the reader.
        self.do(connection, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
        self.do(connection, "BEGIN TRANSACTION")
        self._balance(connection, 1)
        self.do(other, "SET LOCK_TIMEOUT 200")
        update = "UPDATE dbo.account SET balance = 8 WHERE id = 1"
        self.refused(1222, "a writer under REPEATABLE READ", lambda: self.do(other, update))
        self.do(connection, "COMMIT")
        self.do(other, update)

    def result_sets(self):
        connection = self.open()
        self.fixture(connection, "account")
        cursor = connection.cursor()
        cursor.execute("SELECT 1 AS a; SELECT N'x' AS b, 2 AS c WHERE 1 = 0; SELECT id, owner FROM dbo.account ORDER BY id")
        self.equal([tuple(r) for r in cursor.fetchall()], [(1,)], "first result")
        self.check(cursor.nextset(), "there is a second result")
        self.equal([column[0] for column in cursor.description], ["b", "c"], "names of an empty result")
        self.equal(list(cursor.fetchall()), [], "empty result")
        self.check(cursor.nextset(), "there is a third result")
        rows = [tuple(r) for r in cursor.fetchall()]
        self.equal(rows, [(1, "Ann"), (2, "Bob"), (3, "Çelik 😀")], "third result")
        self.check(not cursor.nextset(), "there is no fourth result")
        cursor.close()
        self.equal(self.do(connection, "UPDATE dbo.account SET balance = 0 WHERE id <= 2"), 2, "rows updated")
        self.equal(self.do(connection, "UPDATE dbo.account SET balance = 0 WHERE id = 77"), 0, "no rows updated")
        self.equal(self.do(connection, "DELETE FROM dbo.account WHERE id = 3"), 1, "rows deleted")
        insert = "INSERT INTO dbo.account (id, owner) SELECT id + 10, owner FROM dbo.account"
        self.equal(self.do(connection, insert), 2, "rows inserted")
        many = self.rows(connection, "SELECT TOP 5000 ROW_NUMBER() OVER (ORDER BY a.id) AS n FROM dbo.account a, dbo.account b, dbo.account c, dbo.account d, dbo.account e, dbo.account f, dbo.account g")
        self.equal(len(many), 5000, "rows of a long result")
        self.equal(sorted(r[0] for r in many), list(range(1, 5001)), "values of a long result")

    def messages(self):
        connection = self.open()
        self.fixture(connection, "says")
        got = self.messages_of(connection, "EXEC dbo.says")
        texts = [text for _, _, text in got]
        self.check(any("hello Ω" in text for text in texts), f"PRINT: {texts}")
        self.check(any("warned once" in text for text in texts), f"RAISERROR of severity 5: {texts}")
        for number, severity, text in got:
            if "warned once" in text and number is not None:
                self.equal(number, 50000, "number of RAISERROR")
                if severity is not None:
                    self.equal(severity, 5, "severity of RAISERROR")

    def errors(self):
        connection = self.open()
        self.fixture(connection, "account")
        self.fixture(connection, "fails")
        expected = [
            ("EXEC dbo.fails", (50000, 15, 7, 4, "fails", "boom 42")),
            ("\n\nSELECT 1/0 AS x", (8134, 16, 1, 3, "", "Divide by zero")),
            ("SELECT *\nFROM dbo.nothing_here", (208, 16, 1, 2, "", "nothing_here")),
            ("INSERT INTO dbo.account (id, owner) VALUES (1, N'again')", (2627, 14, 1, 1, "", "pk_account")),
            ("SELEC * FROM t", (102, 15, 1, 1, "", "*")),
            ("THROW 51234, N'thrown Ω', 9", (51234, 16, 9, 1, "", "thrown Ω")),
        ]
        names = ("number", "severity", "state", "line", "procedure")
        for sql, want in expected:
            with self.noting(sql.strip()):
                got = self.error_details(connection, sql)
                if got is None:
                    self.check(False, f"{sql.strip()}: no error")
                    continue
                for name, one, other in zip(names, got, want):
                    if name == "procedure" and one is not None:
                        one = one.split(".")[-1].strip("[]")
                    if one is not None:
                        self.equal(one, other, f"{sql.strip()}: {name}")
                self.check(want[5] in got[5], f"{sql.strip()}: text {got[5]!r}")
        self.equal(self.scalar(connection, "SELECT 1"), 1, "after the errors")

    def error_mid_batch(self):
        connection = self.open()
        self.fixture(connection, "account")
        cursor = connection.cursor()
        numbers, results = [], []
        batch = (
            "SELECT 1 AS a; INSERT INTO dbo.account (id, owner) VALUES (1, N'twice');"
            " INSERT INTO dbo.account (id, owner) VALUES (5, N'after'); SELECT 2 AS b"
        )
        try:
            cursor.execute(batch)
            results.append([tuple(r) for r in cursor.fetchall()])
            while cursor.nextset():
                if cursor.description:
                    results.append([tuple(r) for r in cursor.fetchall()])
        except self.Error as error:
            numbers.append(self.error_number(error))
            self.drain(cursor, results)
        cursor.close()
        self.equal(numbers, [2627], "errors of the batch")
        self.equal(self.scalar(connection, "SELECT COUNT(*) FROM dbo.account"), 4, "the batch went on after the error")
        with self.noting("a batch that ends"):
            self.refused(245, "a conversion that fails", lambda: self.rows(connection, "SELECT CONVERT(int, N'x') AS x"))
        self.equal(self.scalar(connection, "SELECT @@TRANCOUNT"), 0, "@@TRANCOUNT after")

    def drain(self, cursor, results):
        """Reads what is left of a batch after an error, if the client can."""

    def cancel(self):
        connection = self.open()
        cursor = connection.cursor()
        start = time.monotonic()
        timer = later(0.3, lambda: self.cancel_cursor(cursor))
        try:
            cursor.execute(SLOW)
        except self.Error:
            pass
        else:
            self.check(False, "the statement was not cancelled")
        timer.join()
        self.within(10, start, "cancel after 0.3 s")
        cursor.close()
        self.equal(self.scalar(connection, "SELECT 1"), 1, "the connection after the cancel")
        self.cancel_of_result(connection)

    def cancel_cursor(self, cursor):
        cursor.cancel()

    def cancel_of_result(self, connection):
        """A long result, of which only the beginning is read."""
        self.fixture(connection, "account")
        cursor = connection.cursor()
        tables = ", ".join(f"dbo.account t{n}" for n in range(16))
        start = time.monotonic()
        cursor.execute(f"SELECT t1.owner, t2.owner, t3.owner FROM {tables}")
        for _ in range(10):
            cursor.fetchone()
        cursor.close()
        self.equal(self.scalar(connection, "SELECT 2"), 2, "the connection after a result that was not read")
        self.within(10, start, "giving up a long result")

    def query_timeout(self):
        connection = self.open(timeout=1)
        start = time.monotonic()
        try:
            self.do(connection, SLOW)
        except Exception as error:
            self.check("tim" in str(error).lower(), f"the time-out says: {short(str(error))}")
        else:
            self.check(False, "the statement did not time out")
        self.within(10, start, "time-out after 1 s")
        if self.survives_timeout:
            self.equal(self.scalar(connection, "SELECT 1"), 1, "the connection after the time-out")

    survives_timeout = True

    def large_values(self):
        connection = self.open()
        self.fixture(connection, "blob")
        size = 1 << 20
        text = ("0123456789abcdef" * (size // 16))
        wide = ("Ωμέγα😀 " * (size // 8))[:size // 2]
        if 0xD800 <= ord(wide[-1]) <= 0xDFFF:
            wide = wide[:-1]
        binary = bytes(range(256)) * (size // 256)
        self.do(connection, "INSERT INTO dbo.blob (id, v, n, b) VALUES (?, ?, ?, ?)", (1, text, wide, self.parameter("binary", binary)))
        row = self.rows(connection, "SELECT v, n, b, DATALENGTH(v), DATALENGTH(n), DATALENGTH(b) FROM dbo.blob WHERE id = 1")[0]
        self.check(row[0] == text, f"varchar(max): {short(row[0], 40)}")
        self.check(row[1] == wide, f"nvarchar(max): {short(row[1], 40)}")
        self.check(bytes(row[2]) == binary, f"varbinary(max): {short(row[2], 40)}")
        self.equal(row[3:], (size, 2 * sum(1 + (ord(c) > 0xFFFF) for c in wide), size), "DATALENGTH")
        self.do(connection, "UPDATE dbo.blob SET v = NULL, n = ?, b = 0x WHERE id = 1", ("",))
        self.equal(self.rows(connection, "SELECT v, n, b FROM dbo.blob")[0], (None, "", b""), "NULL and empty")
        many = self.rows(connection, "SELECT REPLICATE(CAST('y' AS varchar(max)), 3000000) AS y")
        self.equal(len(many[0][0]), 3000000, "a value of 3 MB made by the server")

    def bulk_copy(self):
        raise Skip("the client has no bulk copy")

    def bulk_rows(self, count):
        start = datetime.datetime(2024, 2, 29, 12, 0, 0)
        for n in range(count):
            if n % 10 == 9:
                yield (n, None, None, None, None, None, None, None, None, None)
            else:
                yield (
                    n, n * 10**10, decimal.Decimal(n) / 4, n / 8, n % 2 == 0, f"Ω {n}", f"v{n}", bytes([n % 256]) * (n % 20),
                    start + datetime.timedelta(milliseconds=n), uuid.UUID(int=n),
                )

    def check_bulk(self, connection, count):
        rows = self.rows(connection, "SELECT id, n, d, f, b, s, v, x, t, g FROM dbo.everything ORDER BY id")
        self.equal(len(rows), count, "rows after bulk copy")
        for got, want in zip(rows, self.bulk_rows(count)):
            got = got[:7] + (None if got[7] is None else bytes(got[7]),) + (got[8],) + (None if got[9] is None else uuid.UUID(str(got[9])),)
            if got != want:
                self.check(False, f"bulk row: expected {want}, got {got}")
                break

    def table_valued_parameters(self):
        raise Skip("the client has no table-valued parameters")

    def pooling_reset(self):
        raise Skip("the client has no pool that resets connections")

    def leave_state(self, connection):
        """What a careless user of a pooled connection leaves behind."""
        self.do(connection, "CREATE TABLE #left (a int)")
        self.do(connection, "SET LOCK_TIMEOUT 4321")
        self.do(connection, "SET DATEFIRST 3")
        self.do(connection, "SET TRANSACTION ISOLATION LEVEL SERIALIZABLE")
        self.do(connection, "USE master")
        self.do(connection, "BEGIN TRANSACTION")

    def check_no_state(self, connection):
        self.equal(self.scalar(connection, "SELECT DB_NAME()"), DATABASE, "database after reset")
        self.equal(self.scalar(connection, "SELECT OBJECT_ID('tempdb..#left')"), None, "temporary table after reset")
        self.equal(self.scalar(connection, "SELECT @@LOCK_TIMEOUT"), -1, "LOCK_TIMEOUT after reset")
        self.equal(self.scalar(connection, "SELECT @@DATEFIRST"), 7, "DATEFIRST after reset")

    def time_zones(self):
        connection = self.open()
        self.fixture(connection, "moments")
        zones = [0, 60, 330, -480, 840, -840, -1, 345]
        for number, minutes in enumerate(zones):
            zone = datetime.timezone(datetime.timedelta(minutes=minutes))
            moment = datetime.datetime(2024, 3, 31, 1, 59, 59, 123000, zone)
            self.do(connection, "INSERT INTO dbo.moments (id, o) VALUES (?, ?)", (number, self.parameter("datetimeoffset", moment)))
            self.do(connection, "UPDATE dbo.moments SET d = CAST(SWITCHOFFSET(o, '+00:00') AS datetime2(3)) WHERE id = ?", (number,))
            row = self.rows(connection, "SELECT o, d, DATEPART(tz, o) FROM dbo.moments WHERE id = ?", (number,))[0]
            self.equal(row[0], moment, f"moment at {minutes}")
            self.equal(row[0].utcoffset(), zone.utcoffset(None), f"offset {minutes}")
            self.equal(row[1], moment.astimezone(datetime.timezone.utc).replace(tzinfo=None), f"in UTC, {minutes}")
            self.equal(row[2], minutes, f"DATEPART(tz) {minutes}")
        got = self.scalar(connection, "SELECT SYSDATETIMEOFFSET()")
        off = abs((datetime.datetime.now(datetime.timezone.utc) - got).total_seconds())
        self.check(off < 5, f"SYSDATETIMEOFFSET() is {off} s off")

    def metadata(self):
        connection = self.open()
        self.fixture(connection, "family")
        self.describe(connection)
        sql = (
            "SELECT c.name, t.name FROM sys.columns c JOIN sys.types t ON t.user_type_id = c.user_type_id"
            " WHERE c.object_id = OBJECT_ID(N'dbo.parent') ORDER BY c.column_id"
        )
        self.equal(self.rows(connection, sql), [("a", "int"), ("b", "nvarchar"), ("c", "decimal")], "sys.columns")
        sql = "SELECT COLUMN_NAME, IS_NULLABLE FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = N'parent' ORDER BY ORDINAL_POSITION"
        self.equal(self.rows(connection, sql), [("a", "NO"), ("b", "NO"), ("c", "YES")], "INFORMATION_SCHEMA.COLUMNS")
        keys = self.rows(connection, "EXEC sp_pkeys @table_name = N'parent', @table_owner = N'dbo'")
        self.equal([(r[3], r[4]) for r in keys], [("b", 1), ("a", 2)], "sp_pkeys")

    def describe(self, connection):
        cursor = connection.cursor()
        cursor.execute("SELECT a, b, c FROM dbo.parent")
        self.equal([column[0] for column in cursor.description], ["a", "b", "c"], "description")
        cursor.close()
