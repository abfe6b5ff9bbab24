"""python-tds' tests know no port: where they mean a server's usual one, the one under test is meant."""

import os
import socket

plain = socket.create_connection


def create_connection(address, *arguments, **options):
    host, port = address
    return plain((host, int(os.environ["MILLRACE_PORT"]) if port == 1433 else port), *arguments, **options)


socket.create_connection = create_connection
