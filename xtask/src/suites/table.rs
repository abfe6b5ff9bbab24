//! The suites that are known: one line each. How to add one is said in `tests/suites/README.md`.

use std::time::Duration;

/// A suite that somebody else wrote.
pub struct Suite {
    /// What it is called on the command line, in `tests/suites/expected/NAME.txt` and in docs/suites.md.
    pub name: &'static str,
    /// Its folder in `tests/suites`, which holds `install.sh` and `run.sh`. Suites that differ by a driver share one.
    pub scripts: &'static str,
    /// What tells suites of one folder apart; the scripts find it in MILLRACE_SUITE_VARIANT.
    pub variant: &'static str,
    /// The language or runtime, for the table of results.
    pub platform: &'static str,
    /// What the tests are, for the table of results.
    pub about: &'static str,
    /// For the whole run, installation apart.
    pub limit: Duration,
    /// For one test. The runner is told it; one that prints nothing for three times as long is ended as hung.
    pub test_limit: Duration,
}

const fn suite(
    name: &'static str,
    (scripts, variant): (&'static str, &'static str),
    platform: &'static str,
    minutes: u64,
    about: &'static str,
) -> Suite {
    Suite {
        name,
        scripts,
        variant,
        platform,
        about,
        limit: Duration::from_secs(minutes * 60),
        test_limit: Duration::from_secs(60),
    }
}

pub const SUITES: &[Suite] = &[
    suite(
        "sqlalchemy-pyodbc",
        ("sqlalchemy", "pyodbc"),
        "Python",
        30,
        "SQLAlchemy's dialect compliance suite and its tests of mssql, by Microsoft's ODBC driver 18",
    ),
    suite(
        "sqlalchemy-pymssql",
        ("sqlalchemy", "pymssql"),
        "Python",
        30,
        "the same by pymssql (FreeTDS)",
    ),
    suite(
        "sqlalchemy-mssql-python",
        ("sqlalchemy", "mssql-python"),
        "Python",
        30,
        "the same by mssql-python",
    ),
    suite(
        "django",
        ("django", ""),
        "Python",
        120,
        "Django's tests by mssql-django and Microsoft's ODBC driver 18: the labels that mssql-django runs",
    ),
    suite("alembic", ("alembic", ""), "Python", 20, "Alembic's tests by pyodbc"),
    suite("pyodbc", ("pyodbc", ""), "Python", 20, "pyodbc's tests by Microsoft's ODBC driver 18"),
    suite("pymssql", ("pymssql", ""), "Python", 20, "pymssql's tests"),
    suite(
        "python-tds",
        ("python-tds", ""),
        "Python",
        20,
        "python-tds' tests (--source: a checkout)",
    ),
    suite(
        "mssql-python",
        ("mssql-python", ""),
        "Python",
        30,
        "mssql-python's tests (--source: a checkout)",
    ),
];

pub fn find(name: &str) -> Option<&'static Suite> {
    SUITES.iter().find(|suite| suite.name == name)
}
