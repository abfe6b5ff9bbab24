# pymssql's source distribution has its tests.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
version=2.4.6
python_venv "pymssql==$version" sqlalchemy==2.1.9 gevent psutil
python_sources "pymssql==$version"
# The sources would hide the wheel.
rm -rf source/src
echo "$version" >version
