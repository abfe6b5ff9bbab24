# mssql-python's tests, without those of its own code alone. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/pyodbc/databases.sql"
[ $# -gt 0 ] || set -- tests
export PATH="$PWD/venv/bin:$PATH"
export DB_CONNECTION_STRING="Server=$MILLRACE_HOST,$MILLRACE_PORT;Database=test;Uid=$MILLRACE_USER;Pwd=$MILLRACE_PASSWORD;Encrypt=yes;TrustServerCertificate=yes"
cd source
run_pytest -v "$@"
