# pyodbc's tests of SQL Server, by Microsoft's ODBC driver. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/pyodbc/databases.sql"
[ $# -gt 0 ] || set -- tests/sqlserver_test.py
odbc
export PATH="$PWD/venv/bin:$PATH"
export PYODBC_SQLSERVER="DRIVER={ODBC Driver 18 for SQL Server};SERVER=$MILLRACE_HOST,$MILLRACE_PORT;DATABASE=test;UID=$MILLRACE_USER;PWD=$MILLRACE_PASSWORD;TrustServerCertificate=yes"
cd source
run_pytest -v "$@"
