# Alembic's tests, those that need a database on ours, by Microsoft's ODBC driver. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/sqlalchemy/databases.sql"
where="$MILLRACE_USER:$MILLRACE_PASSWORD@$MILLRACE_HOST:$MILLRACE_PORT/test"
[ $# -gt 0 ] || set -- tests
odbc
export PATH="$PWD/venv/bin:$PATH" PYTHONPATH="$PWD/source"
cd source
run_pytest --maxfail=1000000 -v \
    --dburi "mssql+pyodbc://$where?driver=ODBC+Driver+18+for+SQL+Server&TrustServerCertificate=yes" "$@"
