# mssql-python publishes wheels alone: its tests are in a checkout of microsoft/mssql-python (--source). The wheel is of
# the version that the checkout says it is.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
if [ -z "${MILLRACE_SUITE_SOURCE:-}" ]; then
    echo "the tests are in no package: give a checkout of github.com/microsoft/mssql-python by --source"
    exit 1
fi
checkout "$MILLRACE_SUITE_SOURCE" setup.py pytest.ini tests .github/scripts
version=$(sed -n 's/^ *version="\([0-9.]*\)",$/\1/p' source/setup.py)
python_venv "mssql-python==$version" pymssql==2.4.6 psutil pyarrow pandas polars
# The sources would hide the wheel.
rm -rf source/mssql_python
echo "$version" >version
