"""The frame of a Python suite: runs the scenarios that it is asked for and prints a line for each.

A scenario is a method named like it, with underscores. It succeeds by returning, and fails by raising or by any
`check` that did not hold, so that one run shows every value that went wrong and not only the first.
"""

import contextlib
import os
import sys
import threading
import time
import traceback

import values

HOST = os.environ["MILLRACE_HOST"]
PORT = int(os.environ["MILLRACE_PORT"])
USER = os.environ["MILLRACE_USER"]
PASSWORD = os.environ["MILLRACE_PASSWORD"]
CERTIFICATE = os.environ["MILLRACE_CERTIFICATE"]
SCRATCH = os.environ["MILLRACE_SCRATCH"]
DRIVER = os.environ["MILLRACE_DRIVER"]


class Skip(Exception):
    """The client has no way to do this; the reason names what is missing."""


class Failed(Exception):
    """One or more checks did not hold."""


class Frame:
    def __init__(self):
        self.problems = []

    def check(self, holds, what):
        if not holds:
            self.problems.append(what)

    def equal(self, got, want, what):
        self.check(got == want, f"{what}: expected {short(want)}, got {short(got)}")

    def within(self, seconds, start, what):
        took = time.monotonic() - start
        self.check(took < seconds, f"{what}: took {took:.1f} s, should take less than {seconds} s")

    @contextlib.contextmanager
    def noting(self, what):
        """An error inside is noted as a problem, and the scenario goes on."""
        try:
            yield
        except Skip:
            raise
        except Exception as error:
            self.problems.append(f"{what}: {type(error).__name__}: {short(str(error))}")

    def scenario(self, name):
        name = name.replace("-", "_")
        # `connect` is PEP 249's own word.
        return getattr(self, "connect_" if name == "connect" else name)

    def run(self):
        for name in os.environ["MILLRACE_SCENARIOS"].split(","):
            print(f"{DRIVER} {name} run", flush=True)
            self.problems = []
            try:
                self.scenario(name)()
                word = "FAIL" if self.problems else "ok"
            except Skip as skip:
                word = f"skip({skip})"
            except Exception as error:
                word = "FAIL"
                place = traceback.extract_tb(error.__traceback__)
                line = next((f for f in reversed(place) if os.path.dirname(__file__) in f.filename), place[-1])
                where = f"{os.path.basename(line.filename)}:{line.lineno}"
                self.problems.append(f"{where}: {type(error).__name__}: {short(str(error), 400)}")
                traceback.print_exc(file=sys.stderr)
            print(f"{DRIVER} {name} {word}", flush=True)
            if word == "FAIL":
                for problem in self.problems:
                    print("  " + problem.replace("\n", " | "), flush=True)
        # Some drivers hang in their own clean-up after a server fault; the answers are out.
        sys.stdout.flush()
        os._exit(0)


def short(value, most=160):
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= most else f"{text[:most]}... ({len(text)} characters)"


def later(seconds, work):
    timer = threading.Timer(seconds, work)
    timer.start()
    return timer


__all__ = ["Frame", "Skip", "later", "short", "values", "HOST", "PORT", "USER", "PASSWORD", "CERTIFICATE", "SCRATCH"]
