# mssql-python publishes wheels alone: its tests are in a checkout of microsoft/mssql-python (--source).
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=1.16.0
if [ -z "${MILLRACE_SUITE_SOURCE:-}" ]; then
    echo "the tests are in no package: give a checkout of github.com/microsoft/mssql-python by --source"
    exit 1
fi
python_venv "mssql-python==$version" pymssql==2.4.6 pyarrow pandas polars
python_sources "mssql-python==$version"
# The sources would hide the wheel.
rm -rf source/mssql_python
echo "$version" >version
