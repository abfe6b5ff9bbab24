# Django's source distribution has its tests; the backend mssql-django and its driver come as wheels.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=5.2.19
python_venv "django==$version" mssql-django==2.0.0 pyodbc==5.5.0 mssql-python==1.16.0
python_sources "django==$version"
odbc_drivers
echo "$version, mssql-django 2.0.0" >version
