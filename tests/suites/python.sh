# Functions for the suites in Python; sourced by their scripts, which run with bash -eu in target/suites/NAME.

# python_venv PACKAGE...: a virtual environment in ./venv with pytest and these.
python_venv() {
    rm -rf venv
    python3 -m venv venv
    venv/bin/pip install --quiet --disable-pip-version-check pytest pytest-timeout "$@"
}

# python_sources PACKAGE==VERSION: the source distribution, unpacked into ./source; or what --source names.
python_sources() {
    rm -rf source sdist
    if [ -n "${MILLRACE_SUITE_SOURCE:-}" ]; then
        checkout "$MILLRACE_SUITE_SOURCE"
        return
    fi
    mkdir sdist source
    venv/bin/pip download --quiet --no-deps --no-binary "${1%%==*}" --dest sdist "$1"
    tar -xzf sdist/*.tar.gz -C source --strip-components=1
}

# checkout DIR [PATH...]: a work tree, or (these paths of) a git directory without one, as ./source.
checkout() {
    local from=$1
    shift
    rm -rf source
    mkdir source
    if [ -d "$from/.git" ] || [ ! -f "$from/HEAD" ]; then
        cp -a "$from/." source
    else
        git --git-dir="$from" archive HEAD "$@" | tar -x -C source
    fi
}

# odbc_drivers: an odbcinst.ini with Microsoft's driver, as the wheel mssql-python-odbc brings it, and Debian's FreeTDS.
# The driver manager and FreeTDS are Debian's packages, unpacked into ./odbc where they are not installed.
odbc_drivers() {
    local library
    rm -rf odbc
    mkdir odbc
    (cd odbc && apt-get download --quiet libodbc2 libodbcinst2 libltdl7 tdsodbc && for file in *.deb; do dpkg -x "$file" .; done) ||
        echo "no Debian packages: what is installed is used"
    library=$(find "$PWD/venv/lib" -path '*debian*' -name 'libmsodbcsql-18*' | head -1)
    printf '[ODBC Driver 18 for SQL Server]\nDriver=%s\n' "$library" >odbcinst.ini
    library=$(find "$PWD/odbc" /usr/lib -name libtdsodbc.so | head -1)
    printf '[FreeTDS]\nDriver=%s\n' "$library" >>odbcinst.ini
}

# odbc: lets the programs that follow find the drivers.
odbc() {
    local manager
    manager=$(find "$PWD/odbc" -name libodbc.so.2 -printf '%h' | head -1)
    export ODBCSYSINI="$PWD" LD_LIBRARY_PATH="$manager:${LD_LIBRARY_PATH:-}"
}

# sql FILE: runs batches, told apart by lines of GO, as sa.
sql() {
    venv/bin/python "$MILLRACE_SUITE_SCRIPTS/sql.py" "$1"
}

# run_pytest ARGUMENTS: one run with its results as JUnit's XML. Its own success is not ours: the results are judged.
run_pytest() {
    python -m pytest -p no:cacheprovider --timeout "$MILLRACE_TEST_SECONDS" \
        --junitxml "$MILLRACE_RESULTS/pytest.xml" "$@" || true
}
