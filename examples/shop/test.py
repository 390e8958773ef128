#!/usr/bin/env python3
"""The program serves HTTPS with the certificate and the database in its directory, and its curl line works."""

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


def request(program, directory):
    """The response to the printed curl line; empty if another process has taken the port meanwhile."""
    process = subprocess.Popen([program, str(free_port())], cwd=directory, stdout=subprocess.PIPE, text=True)
    try:
        curl = shlex.split(process.stdout.readline())
        if process.poll() is not None or not curl:
            return ""
        return subprocess.run(
            [*curl, "-sS", "--retry", str(SECONDS), "--retry-connrefused", "--retry-delay", "1"],
            capture_output=True, text=True, timeout=2 * SECONDS, cwd=directory, check=False).stdout
    finally:
        process.kill()
        process.wait()


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
    response = request(sys.argv[1], directory) or request(sys.argv[1], directory)
    if response != BALANCE:
        sys.exit(f"the response is {response!r}")
    if not (pathlib.Path(directory) / "tollgate.db").is_file():
        sys.exit("no database was created")
    check_refusals(sys.argv[1], directory)
