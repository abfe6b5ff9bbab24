# Django's tests of models, queries, migrations and databases, by the backend mssql-django. An argument is a label of
# them; without one, all that mssql-django itself runs.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
odbc
export PATH="$PWD/venv/bin:$PATH" PYTHONPATH="$MILLRACE_SUITE_SCRIPTS/django"
[ $# -gt 0 ] || set -- $(cat "$MILLRACE_SUITE_SCRIPTS/django/labels.txt")
cd source/tests
python runtests.py --settings=millrace_settings --noinput --parallel=1 "$@" || true
