#!/usr/bin/env python3
"""A test program that hangs is aborted, and prints which test hangs and where; one that makes progress is not."""

import os
import pathlib
import subprocess
import sys
import unittest

program = sys.argv.pop(1)


def run(test, stall_seconds=2):
    return subprocess.run([program, test], capture_output=True, text=True, timeout=100,
                          env={**os.environ, "TOLLGATE_TEST_STALL_SECONDS": str(stall_seconds)})


class StallGuard(unittest.TestCase):
    def test_a_hang_ends_with_the_stacks_of_all_threads(self):
        result = run("hangs")
        self.assertNotEqual(0, result.returncode)
        self.assertIn("No progress for 2 s in: hangs", result.stderr)
        self.assertIn("wait_for_ever", result.stderr)
        self.assertIn("Thread 2", result.stderr)

    def test_progress_within_a_test_keeps_it_running(self):
        result = run("makes progress for longer than the guard waits", stall_seconds=6)
        self.assertEqual(0, result.returncode, result.stderr)

    def test_a_script_that_hangs_ends_with_its_stacks(self):
        support = pathlib.Path(__file__).resolve().parents[1]
        script = (f"import sys; sys.path.insert(0, {str(support)!r})\n"
                  "import stall_guard, threading, unittest\n"
                  "class Hanging(unittest.TestCase):\n"
                  "    def test_it(self):\n"
                  "        threading.Event().wait()\n"
                  "unittest.main(testRunner=stall_guard.Runner)\n")
        result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=100,
                                env={**os.environ, "TOLLGATE_TEST_STALL_SECONDS": "1"})
        self.assertNotEqual(0, result.returncode)
        self.assertIn("No progress for 1 s in: __main__.Hanging.test_it", result.stderr)
        self.assertIn("in test_it", result.stderr)


if __name__ == "__main__":
    unittest.main()
