"""What pyodbc and mssql-python share: both wrap an ODBC driver, take question marks, and describe catalogs by ODBC."""

import decimal

from dbapi import DbApi
from suite import Skip, later, short, values


class Odbc(DbApi):
    mark = "?"

    def output_parameters(self):
        """Neither has output parameters; their manuals' idiom is a batch of variables."""
        connection = self.open()
        self.fixture(connection, "out_params")
        sql = (
            "SET NOCOUNT ON; DECLARE @b int, @s nvarchar(50) = ?, @d decimal(10,3), @r int;"
            " EXEC @r = dbo.out_params ?, @b OUTPUT, @s OUTPUT, @d OUTPUT; SELECT @r, @b, @s, @d"
        )
        row = self.rows(connection, sql, ("abc", 21))[0]
        self.equal(row, (42, 42, "abc 😀", decimal.Decimal("1234567.891")), "outputs by a batch")
        cursor = connection.cursor()
        cursor.execute("{CALL dbo.out_params (?, NULL, NULL, NULL)}", (21,))
        cursor.close()

    def describe(self, connection):
        super().describe(connection)
        cursor = connection.cursor()
        names = sorted(row[2] for row in cursor.tables(schema="dbo", tableType="TABLE").fetchall())
        self.check({"parent", "child"} <= set(names), f"SQLTables: {names}")
        columns = [(r[3], r[5], r[10]) for r in cursor.columns(table="parent", schema="dbo").fetchall()]
        self.equal(columns, [("a", "int", 0), ("b", "nvarchar", 0), ("c", "decimal", 1)], "SQLColumns")
        child = [(r[3], r[5]) for r in cursor.columns(table="child", schema="dbo").fetchall()]
        self.equal(child, [("id", "int identity"), ("name", "varchar"), ("made", "datetime2")], "SQLColumns of child")
        keys = [(r[3], r[4]) for r in cursor.primaryKeys("parent", schema="dbo").fetchall()]
        self.equal(keys, [("b", 1), ("a", 2)], "SQLPrimaryKeys")
        procedures = [r[2].split(";")[0] for r in cursor.procedures(procedure="of_family", schema="dbo").fetchall()]
        self.equal(procedures, ["of_family"], "SQLProcedures")
        statistics = {r[5] for r in cursor.statistics("parent", schema="dbo").fetchall()}
        self.check("pk_parent" in statistics, f"SQLStatistics: {statistics}")
        cursor.close()
