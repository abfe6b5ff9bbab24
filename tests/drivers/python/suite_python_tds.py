"""python-tds: TDS in Python alone. Parameters go by sp_executesql, procedures by RPC, TLS through pyOpenSSL."""

import datetime
import decimal
import os
import time

import pytds
from pytds import tds_types

from dbapi import DATABASE, DbApi
from suite import CERTIFICATE, HOST, PASSWORD, PORT, SCRATCH, USER


class Suite(DbApi):
    mark = "%s"
    Error = pytds.Error
    # The client raises the last error of several.
    unknown_database_numbers = (18456,)

    def parameter(self, kind, native):
        # Plain bytes are text to the client.
        return pytds.Binary(native) if kind == "binary" else native

    def connect(self, database=DATABASE, password=None, autocommit=True, trust=True, timeout=0, **more):
        return pytds.connect(
            dsn=HOST, port=PORT, user=USER, password=PASSWORD if password is None else password, database=database,
            autocommit=autocommit, timeout=timeout or None, login_timeout=10,
            cafile=CERTIFICATE if trust else self._another_certificate(), disable_connect_retry=True, **more,
        )

    def _another_certificate(self):
        """Somebody else's: a self-signed one, made here."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import ec

        path = os.path.join(SCRATCH, "other.pem")
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
        now = datetime.datetime.now(datetime.timezone.utc)
        made = (
            x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
            .serial_number(x509.random_serial_number()).not_valid_before(now)
            .not_valid_after(now + datetime.timedelta(days=1)).sign(key, hashes.SHA256())
        )
        with open(path, "wb") as file:
            file.write(made.public_bytes(serialization.Encoding.PEM))
        return path

    def error_number(self, error):
        return getattr(error, "msg_no", None)

    def error_details(self, connection, sql):
        try:
            self.read(connection, sql)
        except pytds.Error as error:
            return error.msg_no, error.severity, error.state, error.line, error.procname, error.text
        return None

    def messages_of(self, connection, sql):
        cursor = connection.cursor()
        cursor.execute(sql)
        return [(error.msg_no, error.severity, error.text) for _, error in cursor.messages]

    def output_parameters(self):
        connection = self.open()
        self.fixture(connection, "out_params")
        self.fixture(connection, "out_and_rows")
        cursor = connection.cursor()
        arguments = (
            21, pytds.output(param_type=int), pytds.output(value="abc", param_type="nvarchar(50)"),
            pytds.output(param_type="decimal(10,3)"),
        )
        got = cursor.callproc("dbo.out_params", arguments)
        self.equal(list(got), [21, 42, "abc 😀", decimal.Decimal("1234567.891")], "outputs")
        self.equal(cursor.get_proc_return_status(), 42, "return status")
        cursor.callproc("dbo.out_and_rows", {"@n": pytds.output(param_type=int)})
        self.equal([tuple(r) for r in cursor.fetchall()], [(1,), (2,)], "first result of a procedure")
        cursor.nextset()
        self.equal([tuple(r) for r in cursor.fetchall()], [("x",)], "second result of a procedure")
        cursor.nextset()
        self.equal(list(cursor.get_proc_outputs()), [7], "output after results")
        self.equal(cursor.return_value, -3, "return status after results")

    def cancel(self):
        # The client reads in the calling thread; it sends an attention for a result that was not read to its end.
        self.cancel_of_result(self.open())

    def bulk_copy(self):
        connection = self.open()
        self.fixture(connection, "everything")
        column = pytds.Column
        columns = [
            column("id", tds_types.IntType(), flags=0), column("n", tds_types.BigIntType()),
            column("d", tds_types.DecimalType(18, 4)), column("f", tds_types.FloatType()), column("b", tds_types.BitType()),
            column("s", tds_types.NVarCharType(100)), column("v", tds_types.VarCharType(100)),
            column("x", tds_types.VarBinaryType(100)), column("t", tds_types.DateTime2Type(3)),
            column("g", tds_types.UniqueIdentifierType()),
        ]
        start = time.monotonic()
        connection.cursor().copy_to(data=self.bulk_rows(1000), table_or_view="everything", schema="dbo", columns=columns)
        self.within(10, start, "bulk copy of 1,000 rows")
        self.check_bulk(connection, 1000)

    def table_valued_parameters(self):
        connection = self.open()
        self.fixture(connection, "id_list")
        columns = [pytds.Column("id", tds_types.IntType()), pytds.Column("name", tds_types.NVarCharType(50))]
        rows = [(n, f"name {n:03}") for n in range(500)] + [(500, None)]
        value = pytds.TableValuedParam("dbo.id_list", columns=columns, rows=rows)
        cursor = connection.cursor()
        cursor.callproc("dbo.take_list", [value])
        self.equal(tuple(cursor.fetchone()), (501, 125250, "name 499"), "a table of 501 rows")
        cursor.close()
        cursor = connection.cursor()
        cursor.callproc("dbo.take_list", [pytds.TableValuedParam("dbo.id_list", columns=columns, rows=[])])
        self.equal(tuple(cursor.fetchone()), (0, None, None), "a table without rows")

    def pooling_reset(self):
        first = self.open(pooling=True)
        spid = self.scalar(first, "SELECT @@SPID")
        self.leave_state(first)
        first.close()
        second = self.open(pooling=True)
        self.equal(self.scalar(second, "SELECT @@SPID"), spid, "the pooled connection comes back")
        self.check_no_state(second)


if __name__ == "__main__":
    Suite().run()
