# The compliance suite for dialects, and the tests of the dialect mssql. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/sqlalchemy/databases.sql"
where="$MILLRACE_USER:$MILLRACE_PASSWORD@$MILLRACE_HOST:$MILLRACE_PORT/test"
case $MILLRACE_SUITE_VARIANT in
pyodbc) url="mssql+pyodbc://$where?driver=ODBC+Driver+18+for+SQL+Server&TrustServerCertificate=yes" ;;
pymssql) url="mssql+pymssql://$where" ;;
mssql-python) url="mssql+mssqlpython://$where?Encrypt=yes&TrustServerCertificate=yes" ;;
esac
[ $# -gt 0 ] || set -- test/dialect/test_suite.py test/dialect/mssql
odbc
export PATH="$PWD/venv/bin:$PATH" PYTHONPATH="$PWD/source/lib"
cd source
# The project's own setting ends a run after 250 failures.
run_pytest --maxfail=1000000 --dburi "$url" "$@"
