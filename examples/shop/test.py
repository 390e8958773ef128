#!/usr/bin/env python3
"""The program serves HTTPS with the certificate and the database in its directory, and its curl line works, also after a restart."""

import contextlib
import pathlib
import shlex
import socket
import subprocess
import sys
import tempfile

SECONDS = 30
BALANCE = '{"id":1,"balance":12.50,"currency":"EUR"}'


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def started(program, directory, port):
    """The first line that the program prints."""
    process = subprocess.Popen([program, str(port)], cwd=directory, stdout=subprocess.PIPE, text=True)
    try:
        yield process.stdout.readline()
    finally:
        process.kill()
        process.wait()


def response_to(curl, directory):
    return subprocess.run(
        [*shlex.split(curl), "-sS", "--retry", str(SECONDS), "--retry-connrefused", "--retry-delay", "1"],
        capture_output=True, text=True, timeout=2 * SECONDS, cwd=directory, check=False).stdout


def check_starts(program, directory):
    """The first start issues a token, and a second one does not. An error; empty if there is none."""
    port = free_port()
    with started(program, directory, port) as curl:
        if not curl.startswith("curl "):
            return f"the first start printed {curl!r}"
        if (response := response_to(curl, directory)) != BALANCE:
            return f"the response is {response!r}"
    with started(program, directory, port) as line:
        if "earlier start" not in line:
            return f"the second start printed {line!r}"
        if (response := response_to(curl, directory)) != BALANCE:
            return f"the response after the second start is {response!r}"
    return ""


def check_refusals(program, directory):
    """With an invalid key or database the program exits with 1 and prints one line with the reason."""
    for name, expected in (("key.pem", "key.pem"), ("tollgate.db", "tollgate.db")):
        path = pathlib.Path(directory) / name
        content = path.read_bytes()
        path.write_bytes(b"invalid")
        result = subprocess.run([program, str(free_port())], cwd=directory, capture_output=True, text=True,
                                timeout=2 * SECONDS, check=False)
        path.write_bytes(content)
        if result.returncode != 1 or result.stderr.count("\n") != 1 or expected not in result.stderr:
            sys.exit(f"with a bad {name}: exit {result.returncode}, {result.stderr!r}")


with tempfile.TemporaryDirectory() as directory:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=directory, check=True, stderr=subprocess.DEVNULL)
    if error := check_starts(sys.argv[1], directory):
        # Perhaps another process took the port meanwhile.
        for path in pathlib.Path(directory).glob("tollgate.db*"):
            path.unlink()
        print(error, "- once more", file=sys.stderr)
        error = check_starts(sys.argv[1], directory)
    if error:
        sys.exit(error)
    if not (pathlib.Path(directory) / "tollgate.db").is_file():
        sys.exit("no database was created")
    check_refusals(sys.argv[1], directory)
