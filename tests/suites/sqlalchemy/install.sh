# SQLAlchemy's source distribution has its tests; the drivers come as wheels.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=2.1.9
python_venv "sqlalchemy==$version" pyodbc==5.5.0 pymssql==2.4.6 mssql-python==1.16.0
python_sources "sqlalchemy==$version"
odbc_drivers
echo "$version" >version
