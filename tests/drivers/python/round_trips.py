"""Round trips of pyodbc, mssql-python and psycopg by one connection; ../README.md ("Round trips") says what is asked and answered.

Each as its manual has it: one cursor, a statement with marks, autocommit. psycopg prepares a statement by itself that is
repeated. pyodbc by FreeTDS and mssql-python send sp_prepexec and sp_unprepare each time: two trips on the wire, counted as one.
"""

import glob
import os
import sys
import time


def env(name):
    return os.environ["MILLRACE_" + name]


def connect(driver):
    """A connection, and the mark of a parameter."""
    host, port, user, password = env("HOST"), env("PORT"), env("USER"), env("PASSWORD")
    if driver == "psycopg":
        import psycopg

        connection = psycopg.connect(
            host=host, port=port, user=user, password=password, dbname="round_trips", sslmode="disable", autocommit=True
        )
        return connection, "%s"
    if driver == "mssql-python":
        import mssql_python

        text = f"Server={host},{port};UID={user};PWD={{{password}}};Database=round_trips;Encrypt=no"
        return mssql_python.connect(text, autocommit=True), "?"
    import pyodbc

    library = (glob.glob("/usr/lib/*/odbc/libtdsodbc.so") + ["libtdsodbc.so"])[0]
    text = f"DRIVER={library};SERVER={host};PORT={port};UID={user};PWD={{{password}}};DATABASE=round_trips"
    return pyodbc.connect(f"{text};TDS_Version=7.4;ClientCharset=UTF-8;Encrypt=no", autocommit=True), "?"


class Client:
    def __init__(self, connection, mark):
        self.cursor = connection.cursor()
        self.select_text = f"SELECT value, name FROM kept WHERE id = {mark}"
        self.insert_text = f"INSERT INTO added (value, name) VALUES ({mark}, {mark})"
        self.at = 0

    def next(self):
        """Every one of the 10,000 rows in turn, in no order."""
        self.at = (self.at * 21 + 7) % 10_000
        return self.at + 1

    def select(self):
        key = self.next()
        self.cursor.execute(self.select_text, (key,))
        # To the end: what is left unread when the next statement comes, FreeTDS cancels by an attention.
        rows = [tuple(row) for row in self.cursor.fetchall()]
        if rows != [(key, f"the name of row {key}")]:
            raise ValueError(f"row {key} came as {rows!r}")

    def insert(self):
        key = self.next()
        self.cursor.execute(self.insert_text, (key, f"the name of row {key}"))


def main():
    client = Client(*connect(env("DRIVER")))
    for line in sys.stdin:
        work, seconds = line.split()
        work = {"select": client.select, "insert": client.insert}[work]
        count, begun = 0, time.perf_counter()
        end = begun + float(seconds)
        now = begun
        while now < end:
            work()
            count += 1
            now = time.perf_counter()
        print(count, now - begun, flush=True)


if __name__ == "__main__":
    main()
