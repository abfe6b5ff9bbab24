"""Django's settings for a run against millrace: two databases, and results as lines."""

import os


def database(name):
    return {
        "ENGINE": "mssql",
        "NAME": name,
        "USER": os.environ["MILLRACE_USER"],
        "PASSWORD": os.environ["MILLRACE_PASSWORD"],
        "HOST": os.environ["MILLRACE_HOST"],
        "PORT": os.environ["MILLRACE_PORT"],
        "OPTIONS": {
            "driver": "ODBC Driver 18 for SQL Server",
            "extra_params": "TrustServerCertificate=yes",
            "return_rows_bulk_insert": True,
        },
    }


DATABASES = {"default": database("default"), "other": database("other")}
SECRET_KEY = "tests"
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
DEFAULT_AUTO_FIELD = "django.db.models.AutoField"
USE_TZ = False
TEST_RUNNER = "millrace_runner.Runner"
