# python-tds' tests. An argument is a part of them.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
sql "$MILLRACE_SUITE_SCRIPTS/pyodbc/databases.sql"
[ $# -gt 0 ] || set -- $(cd source && ls tests/*_test.py tests/*_tests.py)
export PATH="$PWD/venv/bin:$PATH" PYTHONPATH="$PWD/source/src"
# Their settings; the port goes by conftest.py.
python - >source/tests/.connection.json <<'END'
import json, os
settings = dict.fromkeys(["tenant_id", "client_id", "client_secret", "azure_host"])
settings |= {"database": "test", "use_mars": True}
for key, name in (("host", "HOST"), ("sqluser", "USER"), ("sqlpassword", "PASSWORD"), ("cafile", "CERTIFICATE")):
    settings[key] = os.environ["MILLRACE_" + name]
print(json.dumps(settings))
END
cp "$MILLRACE_SUITE_SCRIPTS/python-tds/conftest.py" source/tests/
cd source
run_pytest -v "$@"
