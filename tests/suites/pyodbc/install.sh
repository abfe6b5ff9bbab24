# pyodbc's source distribution has its tests.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=5.5.0
python_venv "pyodbc==$version" pymssql==2.4.6 mssql-python==1.16.0
python_sources "pyodbc==$version"
odbc_drivers
echo "$version" >version
