"""pymssql, which brings FreeTDS's db-lib along. It quotes parameters into the SQL text itself, so nearly all is a batch;
`callproc` is an RPC.

The certificate is trusted in freetds.conf; db-lib's default is to encrypt when the server can.
"""

import os
import time

from suite import CERTIFICATE, HOST, PASSWORD, PORT, SCRATCH, USER

CONF = os.path.join(SCRATCH, "freetds.conf")


def configure(trust):
    with open(CONF, "w", encoding="ascii") as file:
        authority = CERTIFICATE if trust else os.path.join(SCRATCH, "nobody.pem")
        file.write(f"[global]\n  ca file = {authority}\n  check certificate hostname = yes\n")
    with open(os.path.join(SCRATCH, "nobody.pem"), "w", encoding="ascii"):
        pass


configure(trust=True)
os.environ["FREETDSCONF"] = CONF

import pymssql  # noqa: E402
from pymssql import _mssql  # noqa: E402

from dbapi import DATABASE, DbApi  # noqa: E402


class Suite(DbApi):
    mark = "%s"
    Error = pymssql.Error
    # db-lib gives the connection up when a query times out.
    survives_timeout = False
    # db-lib keeps the error of the highest severity.
    unknown_database_numbers = (18456,)

    def connect(self, database=DATABASE, password=None, autocommit=True, trust=True, timeout=0, **more):
        configure(trust)
        return pymssql.connect(
            server=HOST, port=str(PORT), user=USER, password=PASSWORD if password is None else password,
            database=database, autocommit=autocommit, timeout=timeout, login_timeout=10,
            **{"use_datetime2": True, **more},
        )

    def _type_to_server(self, connection, entry):
        # Moments are texts of six digits by use_datetime2, which the old types do not take (241).
        if entry["type"] in ("datetime", "smalldatetime"):
            connection = self.open(use_datetime2=False)
        super()._type_to_server(connection, entry)

    def execute(self, cursor, sql, parameters=None):
        cursor.execute(sql.replace("?", "%s") if parameters else sql, *([parameters] if parameters else []))

    def error_number(self, error):
        first = error.args[0]
        if isinstance(first, tuple):
            first = first[0]
        return first

    def error_details(self, connection, sql):
        try:
            connection._conn.execute_non_query(sql)
        except _mssql.MSSQLDatabaseException as error:
            text = error.text if isinstance(error.text, str) else error.text.decode()
            procedure = error.procname.decode() if error.procname else ""
            return error.number, error.severity, error.state, error.line, procedure, text
        return None

    def messages_of(self, connection, sql):
        got = []

        def handler(state, severity, server, procedure, line, text):
            got.append((None, severity, text if isinstance(text, str) else text.decode()))

        connection._conn.set_msghandler(handler)
        connection._conn.execute_non_query(sql)
        connection._conn.set_msghandler(None)
        return got

    def parameter(self, kind, native):
        # bytes are quoted as text, a bytearray as binary.
        return bytearray(native) if kind == "binary" else str(native) if kind == "guid" else native

    def encryption(self):
        # db-lib's default is to encrypt the login alone; the certificate is checked all the same.
        connection = self.open()
        self.equal(self.encrypt_option(connection), "FALSE", "encrypt_option of the default")
        connection.close()
        connection = self.open(encryption="require")
        self.equal(self.encrypt_option(connection), "TRUE", "encrypt_option of encryption='require'")
        connection.close()
        self.refuses_strangers()

    def output_parameters(self):
        connection = self.open()
        self.fixture(connection, "out_params")
        cursor = connection.cursor()
        # A decimal output has no length that db-lib would take without a value.
        arguments = (21, pymssql.output(int), pymssql.output(str, "abc"), pymssql.output(float))
        got = cursor.callproc("dbo.out_params", arguments)
        cursor.nextset()
        self.equal(cursor.returnvalue, 42, "return status")
        self.equal(got[0], 21, "input")
        self.equal(got[1], 42, "int output")
        self.equal(got[2], "abc 😀", "nvarchar output")

    def cancel(self):
        # db-lib has no cancel of a running statement from another thread; it cancels a result that is being read.
        self.cancel_of_result(self.open())

    def bulk_copy(self):
        connection = self.open()
        self.fixture(connection, "everything")
        rows = [self._bulk_row(row) for row in self.bulk_rows(1000)]
        start = time.monotonic()
        connection.bulk_copy("dbo.everything", rows, batch_size=300)
        self.within(10, start, "bulk copy of 1,000 rows")
        self.check_bulk(connection, 1000)

    def bulk_rows(self, count):
        # db-lib loads an empty value as NULL.
        for row in super().bulk_rows(count):
            yield tuple(b"\x00" if value == b"" else value for value in row)

    def _bulk_row(self, row):
        return tuple(str(v) if n == 9 and v is not None else v for n, v in enumerate(row))


if __name__ == "__main__":
    Suite().run()
