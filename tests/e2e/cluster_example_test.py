#!/usr/bin/env python3
"""Starts the cluster on free ports, runs the printed commands, kills parts, upgrades with and without success, and stops it.

    cluster_example_test.py path/to/tollgate-server    in the copy of the tracked files in which it was built
"""

import os
import pathlib
import queue
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

SECONDS = 60  # a passing test takes a few seconds; the machine may be busy
SERVER = pathlib.Path(sys.argv[1]).resolve()
EXAMPLE = SERVER.parents[3] / "examples" / "cluster"


def main():
    with tempfile.TemporaryDirectory(prefix="tollgate-cluster-") as folder:
        program = pathlib.Path(folder) / "tollgate-server"  # a link that the test can remove
        program.symlink_to(SERVER)
        pathlib.Path(folder).chmod(0o711)  # like a home folder: PostgreSQL runs as another user
        command_of_users = [EXAMPLE / "run"]
        check_port_in_use(command_of_users, folder)
        check(command_of_users, folder)
        # With the data of the first start. The first command would build the program that this test removes.
        check([sys.executable, EXAMPLE / "run_cluster.py", program], folder, removable=program)


def start(command, folder, *flags):
    return subprocess.Popen([*command, "--data", f"{folder}/data", *flags],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def check_port_in_use(command, folder):
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        process = start(command, folder, "--first-port", "0", "--port", str(port))
        errors = process.communicate(timeout=SECONDS)[1]
    if process.returncode != 1 or f"port {port}: Address already in use" not in errors or "Traceback" in errors:
        sys.exit(f"a port in use: {process.returncode}, {errors}")


def check(command, folder, removable=None):
    process = start(command, folder, "--first-port", "0", "--port", "0")
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout] + [lines.put("")], daemon=True).start()
    output = []

    def wait_for(text):
        while True:
            line = lines.get(timeout=SECONDS)
            if not line:
                sys.exit(f"no {text!r} in {output}: {process.stderr.read()}")
            output.append(line)
            if text in line:
                return line

    try:
        wait_for("Press Ctrl-C to stop everything.")
        pids = [int(pid) for pid in re.findall(r" process (\d+) ", "".join(output))]
        responses = [run_printed(line) for line in output if line.startswith("curl ")]
        for expected in ('"balance":1234.56', '"admin":true', '{"id":', "hooks.example.com"):
            if not any(expected in response for response in responses):
                sys.exit(f"no {expected} in {responses}")
        state_command = next(line for line in output if line.startswith("python3 -c"))
        if run_printed(state_command).count(" UP\n") != 3:
            sys.exit("HAProxy does not show three nodes")
        administrative_command = next(line for line in output if " user quota " in line)
        if '"per_day":5000' not in run_printed(administrative_command).replace(" ", ""):
            sys.exit("the administrative command does not print the quota")
        balance_request = next(line for line in output if line.startswith("curl "))

        run_printed(next(line for line in output if line.startswith("kill -9 ")))
        for _ in range(20):
            run_printed(balance_request)
        pids.append(int(wait_for("ended with -9").split()[-2]))
        # An immediate shutdown of PostgreSQL ends with exit code 0; it is a failure nevertheless.
        postgres = next(int(re.search(r" process (\d+) ", line)[1]) for line in output if line.startswith("# postgres "))
        os.kill(postgres, signal.SIGQUIT)
        pids.append(int(wait_for("postgres ended with").split()[-2]))
        deadline = time.monotonic() + SECONDS
        # Nodes respond with 503 until they are connected again. HAProxy distributes successive requests over the nodes.
        while any(run(balance_request).returncode != 0 for _ in range(6)):
            if time.monotonic() > deadline:
                sys.exit("the nodes do not recover from a restart of PostgreSQL")
            time.sleep(0.1)
        process.send_signal(signal.SIGUSR1)
        for number in (1, 2, 3):
            pids.append(int(wait_for(f"# node{number} is process").split()[-2]))
            run_printed(balance_request)

        if removable:
            # An upgrade that fails because the program is missing: the node is started again later.
            removable.unlink()
            process.send_signal(signal.SIGUSR1)
            wait_for("cannot be started")
            run_printed(balance_request)
            if "DRAIN" in run_printed(state_command):
                sys.exit("an upgrade that failed leaves a node drained")
            removable.symlink_to(SERVER)
            pids.append(int(wait_for("is process").split()[-2]))
            deadline = time.monotonic() + SECONDS
            while run_printed(state_command).count(" UP\n") != 3:
                if time.monotonic() > deadline:
                    sys.exit(f"after an upgrade that failed: {run_printed(state_command)}")
                time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        if process.wait(SECONDS) != 0:
            sys.exit(f"ended with {process.returncode}: {process.stderr.read()}")
        remaining = [pid for pid in pids if pathlib.Path(f"/proc/{pid}").exists()]
        if remaining:
            sys.exit(f"still running: {remaining}")
    finally:
        process.kill()
        process.wait()


def run(line):
    words = shlex.split(line)
    if words[0] == "curl":
        words += ["--silent", "--show-error", "--fail-with-body", "--max-time", str(SECONDS)]
    return subprocess.run(words, capture_output=True, text=True, timeout=SECONDS)


def run_printed(line):
    """Runs a printed line and returns its output."""
    result = run(line)
    if result.returncode != 0:
        sys.exit(f"{line}ended with {result.returncode}: {result.stdout}{result.stderr}")
    return result.stdout


if __name__ == "__main__":
    main()
