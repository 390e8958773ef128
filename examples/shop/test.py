#!/usr/bin/env python3
"""The program serves HTTPS with the certificate and the database beside it, and what it says to curl works."""

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
    """What the line that the program prints gets; empty if another process has taken the port meanwhile."""
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
    """Without a certificate or a database it exits with 1 and one line that says why."""
    for name, expected in (("key.pem", "key.pem"), ("tollgate.db", "tollgate.db")):
        path = pathlib.Path(directory) / name
        kept = path.read_bytes()
        path.write_bytes(b"not what it should be")
        ended = subprocess.run([program, str(free_port())], cwd=directory, capture_output=True, text=True,
                               timeout=2 * SECONDS, check=False)
        path.write_bytes(kept)
        if ended.returncode != 1 or ended.stderr.count("\n") != 1 or expected not in ended.stderr:
            sys.exit(f"with a bad {name}: exit {ended.returncode}, {ended.stderr!r}")


with tempfile.TemporaryDirectory() as directory:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=directory, check=True, stderr=subprocess.DEVNULL)
    answer = request(sys.argv[1], directory) or request(sys.argv[1], directory)
    if answer != BALANCE:
        sys.exit(f"answered {answer!r}")
    if not (pathlib.Path(directory) / "tollgate.db").is_file():
        sys.exit("made no database")
    check_refusals(sys.argv[1], directory)
