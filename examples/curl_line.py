"""Runs the curl line that an example prints."""

import queue
import re
import shlex
import signal
import socket
import subprocess
import sys
import threading

SECONDS = 30


def check(program, expected, ends_with=0, before=lambda port: None):
    """Starts `program` on any free port; its curl line must print `expected`. SIGTERM must end it, with `ends_with`.

    `before` is called with the port first.
    """
    process = subprocess.Popen([program, "0"], stdout=subprocess.PIPE, text=True)
    lines = queue.Queue()
    threading.Thread(target=lambda: [lines.put(line) for line in process.stdout], daemon=True).start()
    try:
        line = lines.get(timeout=SECONDS)
        while not line.startswith("curl "):
            line = lines.get(timeout=SECONDS)
        before(int(re.search(r":(\d+)/", line).group(1)))
        response = subprocess.run(
            [*shlex.split(line), "--silent", "--show-error", "--fail", "--max-time", str(SECONDS)],
            capture_output=True, text=True, timeout=SECONDS, check=True).stdout
        if expected not in response:
            sys.exit(f"{line}printed {response!r}, without {expected!r}")
        process.send_signal(signal.SIGTERM)
        code = process.wait(SECONDS)
        if code != ends_with:
            sys.exit(f"ended with {code}, not {ends_with}")
    finally:
        process.kill()
        process.wait()


def check_taken_port(program):
    """On a port that is taken, `program` must end with 1 and one line that says so."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = subprocess.run([program, str(other.getsockname()[1])], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, timeout=SECONDS, check=False)
    if ended.returncode != 1 or ended.stderr.count("\n") != 1:
        sys.exit(f"on a taken port: exit {ended.returncode}, {ended.stderr!r}")


# The exit code of a program without a signal handler.
BY_SIGNAL = -signal.SIGTERM
