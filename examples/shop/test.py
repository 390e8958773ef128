#!/usr/bin/env python3
"""The program serves HTTPS with the certificate and the database in its directory, and its curl line works, also after a restart."""

import contextlib
import pathlib
import shlex
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))
from servers import reserve_port  # noqa: E402

SECONDS = 30
BALANCE = '{"id":1,"balance":12.50,"currency":"EUR"}'


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


def check_starts(program, directory, port):
    """The first start issues a token, and a second one does not."""
    with started(program, directory, port) as curl:
        if not curl.startswith("curl "):
            sys.exit(f"the first start printed {curl!r}")
        if (response := response_to(curl, directory)) != BALANCE:
            sys.exit(f"the response is {response!r}")
    with started(program, directory, port) as line:
        if "earlier start" not in line:
            sys.exit(f"the second start printed {line!r}")
        if (response := response_to(curl, directory)) != BALANCE:
            sys.exit(f"the response after the second start is {response!r}")


def check_refusals(program, directory, port):
    """With an invalid key or database the program exits with 1 and prints one line with the reason."""
    for name, expected in (("key.pem", "key.pem"), ("tollgate.db", "tollgate.db")):
        path = pathlib.Path(directory) / name
        content = path.read_bytes()
        path.write_bytes(b"invalid")
        result = subprocess.run([program, str(port)], cwd=directory, capture_output=True, text=True,
                                timeout=2 * SECONDS, check=False)
        path.write_bytes(content)
        if result.returncode != 1 or result.stderr.count("\n") != 1 or expected not in result.stderr:
            sys.exit(f"with a bad {name}: exit {result.returncode}, {result.stderr!r}")


with tempfile.TemporaryDirectory() as directory, reserve_port() as reserved:
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
         "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"],
        cwd=directory, check=True, stderr=subprocess.DEVNULL)
    port = reserved.getsockname()[1]
    check_starts(sys.argv[1], directory, port)
    if not (pathlib.Path(directory) / "tollgate.db").is_file():
        sys.exit("no database was created")
    check_refusals(sys.argv[1], directory, port)
