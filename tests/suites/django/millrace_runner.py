"""Django's test runner, with a line a test for the results and a limit of time for each."""

import os
import signal
import unittest

from django.test.runner import DiscoverRunner

# Tests that the backend does not pass on SQL Server either (mssql-django's own list has them), and that leave a
# transaction open that cannot go on, so that those after them in their class fail.
NOT_RUN = {
    "prefetch_related.tests.PrefetchRelatedTests.test_m2m_prefetching_iterator_with_chunks",
}

LIMIT = int(os.environ["MILLRACE_TEST_SECONDS"])
FILE = open(os.path.join(os.environ["MILLRACE_RESULTS"], "django.lines"), "w", encoding="utf-8")


def expired(_signal, _frame):
    raise TimeoutError(f"the test took longer than {LIMIT} s")


class Result(unittest.TextTestResult):
    """A test with subtests has failed if one of them has."""

    def startTest(self, test):
        super().startTest(test)
        signal.signal(signal.SIGALRM, expired)
        signal.alarm(LIMIT)

    def stopTest(self, test):
        signal.alarm(0)
        super().stopTest(test)

    def write(self, word, test, why=""):
        name = test.id() if hasattr(test, "id") else str(test)
        print(word, name.split(" (")[0], file=FILE)
        for line in str(why).splitlines():
            print(" ", line, file=FILE)
        FILE.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.write("ok", test)

    def addError(self, test, err):
        super().addError(test, err)
        self.write("FAIL", test, f"{err[0].__name__}: {err[1]}")

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.write("FAIL", test, f"{err[0].__name__}: {err[1]}")

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.write("FAIL", test, f"{err[0].__name__}: {err[1]}")

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.write("skip", test)

    def addExpectedFailure(self, test, err):
        super().addExpectedFailure(test, err)
        self.write("skip", test)

    def addUnexpectedSuccess(self, test):
        super().addUnexpectedSuccess(test)
        self.write("ok", test)


class Runner(DiscoverRunner):
    def get_resultclass(self):
        return Result

    def build_suite(self, *args, **kwargs):
        suite = super().build_suite(*args, **kwargs)
        for test in suite:
            if test.id() in NOT_RUN:
                method = getattr(test, test._testMethodName)
                setattr(test, test._testMethodName, unittest.skip("not for this backend")(method))
        return suite

    def get_test_runner_kwargs(self):
        return {**super().get_test_runner_kwargs(), "verbosity": 2}
