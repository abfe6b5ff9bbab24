# pymssql's tests. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/pyodbc/databases.sql"
[ $# -gt 0 ] || set -- tests
export PATH="$PWD/venv/bin:$PATH" PYMSSQL_TEST_SERVER="$MILLRACE_HOST" PYMSSQL_TEST_PORT="$MILLRACE_PORT" \
    PYMSSQL_TEST_USERNAME="$MILLRACE_USER" PYMSSQL_TEST_PASSWORD="$MILLRACE_PASSWORD" PYMSSQL_TEST_DATABASE=test
cd source
run_pytest -v "$@"
