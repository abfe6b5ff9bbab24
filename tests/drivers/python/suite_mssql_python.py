"""mssql-python: Microsoft's own ODBC driver 18 comes inside the wheel. Its default is Encrypt=yes with the certificate
checked against the system's authorities; SSL_CERT_FILE names the one that is trusted here."""

import os
import re
import time

from suite import CERTIFICATE, HOST, PASSWORD, PORT, SCRATCH, USER, Skip

NOBODY = os.path.join(SCRATCH, "nobody.pem")
open(NOBODY, "w", encoding="ascii").close()
os.environ["SSL_CERT_FILE"] = CERTIFICATE
os.environ["SSL_CERT_DIR"] = SCRATCH

import mssql_python  # noqa: E402

from dbapi import DATABASE, DbApi  # noqa: E402
from odbc import Odbc  # noqa: E402

# The driver gives no number, only the text of the server.
TEXTS = [
    (18456, "Login failed for user"),
    (4060, "Cannot open database"),
    (911, "does not exist. Make sure that the name is entered correctly"),
    (2627, "Violation of PRIMARY KEY constraint"),
    (1222, "Lock request time out period exceeded"),
    (245, "Conversion failed when converting"),
]


class Suite(Odbc):
    Error = mssql_python.Error
    # The driver shows the first record, which is the last error.
    unknown_database_numbers = (18456,)
    # The client itself refuses an empty PWD.
    sends_empty_passwords = False

    def connect(self, database=DATABASE, password=None, autocommit=True, trust=True, timeout=0, pooled=False):
        os.environ["SSL_CERT_FILE"] = CERTIFICATE if trust else NOBODY
        mssql_python.pooling(enabled=pooled)
        password = PASSWORD if password is None else password
        connection = mssql_python.connect(
            f"Server={HOST},{PORT};UID={USER};PWD={{{password}}};Database={database}", autocommit=autocommit, timeout=10,
        )
        if timeout:
            connection.timeout = timeout
        return connection

    def error_number(self, error):
        text = str(error)
        for number, part in TEXTS:
            if part in text:
                return number
        return None

    def error_details(self, connection, sql):
        try:
            self.read(connection, sql)
        except mssql_python.Error as error:
            return None, None, None, None, None, str(error)
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

    def can_send(self, kind, text):
        # The client refuses dates before 1753.
        return not (kind == "date" and text < "1753")

    def cancel(self):
        # There is no public cancel; a result that was not read is cancelled by closing its cursor.
        self.cancel_of_result(self.open())

    def bulk_copy(self):
        connection = self.open()
        self.fixture(connection, "everything")
        cursor = connection.cursor()
        start = time.monotonic()
        result = cursor.bulkcopy("dbo.everything", list(self.bulk_rows(1000)), batch_size=300)
        self.within(10, start, "bulk copy of 1,000 rows")
        self.equal(result["rows_copied"], 1000, "rows the client says it copied")
        self.check_bulk(connection, 1000)

    def table_valued_parameters(self):
        raise Skip("mssql-python has no table-valued parameters")

    def pooling_reset(self):
        first = self.open(pooled=True)
        spid = self.scalar(first, "SELECT @@SPID")
        self.leave_state(first)
        first.close()
        second = self.open(pooled=True)
        self.equal(self.scalar(second, "SELECT @@SPID"), spid, "the pooled connection comes back")
        self.check_no_state(second)


if __name__ == "__main__":
    Suite().run()
