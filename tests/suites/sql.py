"""Runs a file of batches (told apart by lines of GO) as sa, to make a suite's databases before it starts."""

import os
import re
import sys

import pymssql

with pymssql.connect(
    server=os.environ["MILLRACE_HOST"],
    port=os.environ["MILLRACE_PORT"],
    user=os.environ["MILLRACE_USER"],
    password=os.environ["MILLRACE_PASSWORD"],
    autocommit=True,
) as connection, connection.cursor() as cursor:
    with open(sys.argv[1], encoding="utf-8") as file:
        for batch in re.split(r"(?mi)^GO\s*$", file.read()):
            if batch.strip():
                cursor.execute(batch)
