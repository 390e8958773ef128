#!/usr/bin/env python3
"""What `examples/run` starts: the lines that it prints work as pasted, and one signal stops everything."""

import json
import pathlib
import re
import signal
import subprocess
import sys

import harness
from harness import DEADLINE_SECONDS, Case, main, temporary_directory

RUN_DEMO = pathlib.Path(__file__).resolve().parents[2] / "examples" / "reference_server" / "run_demo.py"


class RunDemo(Case):
    def start(self, data, *flags):
        command = [sys.executable, RUN_DEMO, harness.program, "--data", data, "--listen", "127.0.0.1:0", "--log", "off"]
        started = subprocess.Popen([*command, *flags], stdout=subprocess.PIPE, text=True)
        self.addCleanup(started.stdout.close)
        self.addCleanup(lambda: started.poll() is None and started.terminate())
        return started

    def test_the_printed_lines_work_as_pasted(self):
        for flags in ((), ("--plain",)):
            with self.subTest(flags=flags), temporary_directory() as data:
                started = self.start(data, *flags)
                self.assertTrue(json.loads(started.stdout.readline())["ready"])
                answers, signed_in_at = [], None
                for line in started.stdout:
                    if "sign in as" in line:
                        url, login, password = re.search(r"(http\S+) \(sign in as (\w+), (\w+)\)", line).groups()
                        signed_in_at = subprocess.run(
                            ["curl", "-sk", "-o", "/dev/null", "-w", "%{redirect_url}", "-d", f"login={login}",
                             "-d", f"password={password}", f"{url}en/user/sign_in/"],
                            capture_output=True, text=True, timeout=DEADLINE_SECONDS, check=True).stdout
                    if line.startswith("curl "):
                        pasted = subprocess.run(["bash", "-c", line], capture_output=True, text=True,
                                                timeout=DEADLINE_SECONDS, check=True)
                        answers.append(json.loads(pasted.stdout))
                    if "Ctrl-C" in line:
                        break
                self.assertTrue(signed_in_at.endswith("/en/user/"), signed_in_at)
                balance, accounts, made, hooks = answers
                self.assertEqual(1234.56, balance["balance"])
                self.assertEqual(1, len(accounts))
                self.assertEqual([made["id"]], [hook["id"] for hook in hooks])
                started.send_signal(signal.SIGINT)
                self.assertEqual(0, started.wait(DEADLINE_SECONDS))

    def test_each_signal_ends_the_server_too(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            with self.subTest(number=number), temporary_directory() as data:
                started = self.start(data, "--plain")
                server = json.loads(started.stdout.readline())["pid"]
                started.send_signal(number)
                self.assertEqual(0, started.wait(DEADLINE_SECONDS))
                self.assertFalse(pathlib.Path(f"/proc/{server}").exists())

    def test_errors_of_the_server_are_passed_on(self):
        with temporary_directory() as data:
            started = self.start(data, "--help")
            self.assertIn("--demo", started.stdout.read())
            self.assertEqual(0, started.wait(DEADLINE_SECONDS))


if __name__ == "__main__":
    main()
