# python-tds' tests are in a checkout of denisenkom/pytds (--source), whose sources they test: the source distribution
# has none.
. "$MILLRACE_SUITE_SCRIPTS/python.sh"
if [ -z "${MILLRACE_SUITE_SOURCE:-}" ]; then
    echo "the tests are in no package: give a checkout of github.com/denisenkom/pytds by --source"
    exit 1
fi
# The wheel brings what the sources need, and is hidden by them.
python_venv python-tds==1.17.1 pymssql==2.4.6 pyOpenSSL==26.0.0 sqlalchemy==2.0.34 sqlalchemy-pytds==1.0.3 \
    pyspnego ntlm-auth tzlocal
checkout "$MILLRACE_SUITE_SOURCE"
# Only mypy needs it.
rm -f source/conftest.py
git -C "$MILLRACE_SUITE_SOURCE" describe --tags >version || echo 1.17.1 >version
