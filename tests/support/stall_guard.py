"""Aborts a test script that makes no progress for two minutes: prints the name of the test and the stacks of this process and its
descendants. TOLLGATE_TEST_STALL_SECONDS sets another time; support/stall_guard.hpp does the same in C++."""

import faulthandler
import os
import pathlib
import signal
import subprocess
import sys
import threading
import time
import unittest

_seconds_max = float(os.environ.get("TOLLGATE_TEST_STALL_SECONDS", "120"))
_last = time.monotonic()
_running = "the script before its first test"


def allow(seconds):
    """Called by a script one of whose steps may take longer, such as a compilation on a busy machine."""
    global _seconds_max
    _seconds_max = max(_seconds_max, seconds)


def progress(test=None):
    """Called when a test starts, and when a long test makes progress."""
    global _last, _running
    _last = time.monotonic()
    _running = test or _running


class Runner(unittest.TextTestRunner):
    """unittest's runner with the guard."""

    class resultclass(unittest.TextTestResult):
        def startTest(self, test):
            progress(test.id())
            super().startTest(test)

        def addSubTest(self, test, subtest, outcome):
            progress()
            super().addSubTest(test, subtest, outcome)

    def run(self, test):
        threading.Thread(target=_watch, daemon=True).start()
        return super().run(test)


def _watch():
    while time.monotonic() - _last < _seconds_max:
        time.sleep(0.2)
    print(f"\nNo progress for {_seconds_max:g} s in: {_running}", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(all_threads=True)
    descendants = _descendants(os.getpid())
    for pid in descendants:
        name = pathlib.Path(f"/proc/{pid}/comm").read_text().strip() if os.path.exists(f"/proc/{pid}") else ""
        print(f"== {name} {pid}", file=sys.stderr, flush=True)
        if name in ("tollgate-server",) or name.startswith("example_"):
            subprocess.run(["timeout", "30", "gdb", "-nx", "-batch", "-p", str(pid), "-ex", "set pagination off", "-ex",
                            "thread apply all backtrace 40"], stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    for pid in descendants:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
    os._exit(1)


def _descendants(pid):
    found = []
    try:
        tasks = list(pathlib.Path(f"/proc/{pid}/task").iterdir())
        for task in tasks:
            for child in map(int, (task / "children").read_text().split()):
                found += [child, *_descendants(child)]
    except OSError:
        pass  # it has ended
    return found
