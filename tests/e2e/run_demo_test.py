#!/usr/bin/env python3
"""`examples/run` and the demo that it starts: the lines that it prints work when pasted, and one signal stops everything."""

import json
import pathlib
import re
import signal
import subprocess
import sys

import harness
from harness import DEADLINE_SECONDS, Case, main, temporary_directory


class RunDemo(Case):
    def start(self, data, *flags, command=None):
        """Starts the script that `examples/run` calls at its end, or another command."""
        script = harness.release_folder() / "examples" / "reference_server" / "run_demo.py"
        process = subprocess.Popen([*(command or (sys.executable, script, harness.program)), "--data", data,
                                    "--listen", "127.0.0.1:0", "--log", "off", *flags], stdout=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        return process

    @staticmethod
    def stop(process):
        process.terminate()  # does nothing to a process that has been waited for
        process.wait(DEADLINE_SECONDS)
        process.stdout.close()

    def test_the_printed_lines_work_as_pasted(self):
        for flags in ((), ("--plain",)):
            with self.subTest(flags=flags), temporary_directory() as data:
                process = self.start(data, *flags, command=[harness.release_folder() / "examples" / "run"])
                self.assertTrue(json.loads(process.stdout.readline())["ready"])
                responses, signed_in_at = [], None
                for line in process.stdout:
                    if "sign in as" in line:
                        url, login, password = re.search(r"(http\S+) \(sign in as (\w+), (\w+)\)", line).groups()
                        signed_in_at = subprocess.run(
                            ["curl", "-skL", "-b", "", "-o", "/dev/null", "-w", "%{url_effective}", "-d", f"login={login}",
                             "-d", f"password={password}", f"{url}en/user/sign_in/"],
                            capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True).stdout
                    if line.startswith("curl "):
                        pasted = subprocess.run(["bash", "-c", line], capture_output=True, text=True,
                                                timeout=DEADLINE_SECONDS, check=True)
                        responses.append(json.loads(pasted.stdout))
                    if "Ctrl-C" in line:
                        break
                self.assertTrue(signed_in_at.endswith("/en/user/"), signed_in_at)
                balance, accounts, created, hooks = responses
                self.assertEqual(1234.56, balance["balance"])
                self.assertEqual(1, len(accounts))
                self.assertEqual([created["id"]], [hook["id"] for hook in hooks])
                process.send_signal(signal.SIGINT)
                self.assertEqual(0, process.wait(DEADLINE_SECONDS))

    def test_each_signal_ends_the_server_too(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number), temporary_directory() as data:
                process = self.start(data, "--plain")
                server = json.loads(process.stdout.readline())["pid"]
                process.send_signal(number)
                self.assertEqual(0, process.wait(DEADLINE_SECONDS))
                self.assertFalse(pathlib.Path(f"/proc/{server}").exists())

    def test_no_signal_is_lost_just_before_a_read(self):
        # Python runs no handler for a signal that arrives between its last check and the system call, so none may arrive there.
        with temporary_directory() as data:
            process = self.start(data, "--plain")
            self.assertTrue(json.loads(process.stdout.readline())["ready"])
            main_thread = pathlib.Path(f"/proc/{process.pid}/status").read_text()
            blocked = int(re.search(r"^SigBlk:\s*(\w+)", main_thread, re.MULTILINE)[1], 16)
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                with self.subTest(number=number):
                    self.assertTrue(blocked & 1 << number - 1)

    def test_errors_of_the_server_are_passed_on(self):
        with temporary_directory() as data:
            process = self.start(data, "--help")
            self.assertIn("--demo", process.stdout.read())
            self.assertEqual(0, process.wait(DEADLINE_SECONDS))


if __name__ == "__main__":
    main()
