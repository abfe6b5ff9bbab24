# Alembic's source distribution has its tests.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=1.20.1
python_venv "alembic==$version" sqlalchemy==2.1.9 pyodbc==5.5.0 mssql-python==1.16.0 pymssql==2.4.6 python-dateutil black==24.1.1
python_sources "alembic==$version"
odbc_drivers
echo "$version" >version
