"""Starts the real tollgate-server and sends it bytes: the base of every *_test.py here.

Each test file is a program: `some_test.py path/to/tollgate-server [unittest's own arguments]`. With the environment's
TOLLGATE_E2E_STORE=postgres its servers use a database of the test run's PostgreSQL, with one schema for each data
directory.
"""

import base64
import contextlib
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
import stall_guard  # noqa: E402
from servers import Database, Postgres, Redis  # noqa: E402, F401

DEADLINE_SECONDS = 60  # generous: sanitizers and a busy machine are slow, and a passing test never waits for it
ALL_SCOPES = "user:balance,sitesmaker:read,sitesmaker,itemplatform:read,itemplatform"
PLENTY = ["--anonymous-limit", "1000000/day", "--user-limit", "1000000/day"]

program = None  # the path of tollgate-server, set by main()
postgres = None  # where servers keep things unless a test says otherwise; None: in a SQLite file
on_postgres = os.environ.get("TOLLGATE_E2E_STORE") == "postgres"


def main():
    global program, postgres
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(f"usage: {sys.argv[0]} path/to/tollgate-server [unittest arguments]")
    program = str(pathlib.Path(sys.argv.pop(1)).resolve())
    if on_postgres:
        postgres = Database.shared()
    unittest.main(module="__main__", testRunner=stall_guard.Runner)


def is_sanitized():
    """Whether the server is built with a sanitizer, which needs more memory, and must be the first library loaded."""
    built = pathlib.Path(program).read_bytes()
    return b"__asan_init" in built or b"__tsan_init" in built


def basic(username, secret, scheme="Basic"):
    pair = username.encode() + b":" + secret.encode()
    return f"{scheme} {base64.b64encode(pair).decode()}"


class Response:
    def __init__(self, status, reason, fields, body):
        self.status = status
        self.reason = reason
        self.fields = fields  # (name, value) as they came
        self.body = body

    def all(self, name):
        return [value for key, value in self.fields if key.lower() == name.lower()]

    def get(self, name):
        return next(iter(self.all(name)), None)

    def json(self):
        return json.loads(self.body)

    def __repr__(self):
        return f"<{self.status} {self.fields} {self.body[:200]!r}>"


class Connection:
    """One connection. `send` takes bytes as they go on the wire; `read` gives one response."""

    def __init__(self, address, tls=None, source=None):
        raw = socket.create_connection(address, DEADLINE_SECONDS, source_address=source)
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket = tls.wrap_socket(raw, server_hostname="localhost") if tls else raw
        self.incoming = self.socket.makefile("rb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.incoming.close()
        self.socket.close()

    def send(self, data):
        stall_guard.progress()
        self.socket.sendall(data)

    def read(self, method="GET"):
        """The next response; None if the connection ended instead."""
        stand_in = _OneReader(self.incoming)
        answer = http.client.HTTPResponse(stand_in, method=method)
        try:
            answer.begin()
        except (http.client.BadStatusLine, ConnectionResetError):
            return None
        return Response(answer.status, answer.reason, answer.getheaders(), answer.read())

    def ended(self):
        """Whether the server closed the connection and sent nothing more."""
        try:
            return self.incoming.read(1) == b""
        except (ConnectionResetError, ssl.SSLError):
            return True

    def ask(self, method, path, fields=(), body=None):
        self.send(encode(method, path, fields, body))
        return self.read(method)


class _OneReader:
    """Passed to HTTPResponse as a socket: it must not close the stream from which later responses are read."""

    def __init__(self, stream):
        self.stream = stream

    def makefile(self, _):
        return _Uncloseable(self.stream)


class _Uncloseable:
    def __init__(self, stream):
        self.stream = stream

    def __getattr__(self, name):
        return getattr(self.stream, name)

    def close(self):
        pass


def encode(method, path, fields=(), body=None):
    """A request as bytes. `fields` is a dict or a list of pairs; Host and User-Agent are added unless they are
    given; a value of None omits one. A body that is not bytes is sent as JSON."""
    pairs = list(fields.items()) if isinstance(fields, dict) else list(fields)
    names = {name.lower() for name, _ in pairs}
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body).encode()
        if "content-type" not in names:
            pairs.append(("Content-Type", "application/json"))
    if body is not None and not names & {"content-length", "transfer-encoding"}:
        pairs.append(("Content-Length", str(len(body))))
    for name, value in (("Host", "localhost"), ("User-Agent", "e2e")):
        if name.lower() not in names:
            pairs.insert(0, (name, value))
    head = f"{method} {path} HTTP/1.1\r\n".encode("latin-1")
    for name, value in pairs:
        if value is not None:
            value = value if isinstance(value, bytes) else value.encode("latin-1")
            head += name.encode("latin-1") + b": " + value + b"\r\n"
    return head + b"\r\n" + (body or b"")


def run_command(*arguments, stdin="", cwd=None):
    """Runs tollgate-server to its end."""
    return subprocess.run([program, *map(str, arguments)], input=stdin, text=True, capture_output=True,
                          timeout=DEADLINE_SECONDS, cwd=cwd)


def flags_for(data, store=None):
    """The flags that name a data directory and its store."""
    store = store or (postgres and postgres.store(data))
    return ["--data", str(data)] + (["--store", store] if store else [])


class Server:
    """A running `tollgate-server serve`. Failures show its standard error."""

    def __init__(self, *flags, data=None, store=None, tls=False, trusted=True, listen="127.0.0.1:0",
                 environment=None):
        self.own_directory = data is None
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="tollgate-e2e-"))
        self.store_flags = flags_for(self.data, store)
        command = [program, "serve", *self.store_flags, "--listen", listen, *map(str, flags)]
        if not tls:
            command.append("--plain")
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env={**os.environ, **(environment or {})})
        self.errors = b""
        self.reader = threading.Thread(target=self._collect, daemon=True)
        self.reader.start()
        try:
            line = self._ready_line()
            self.ready = json.loads(line)
        except Exception:
            self.process.kill()
            self.process.wait()
            self.reader.join()
            raise AssertionError(f"no ready line from {command}: {self.errors.decode(errors='replace')}") from None
        # With --base-url the ready line has addresses of other machines; those tests choose the port.
        authority = self.ready["auth"].split("://")[1] if listen.endswith(":0") else listen
        host, _, port = authority.rpartition(":")
        self.address = (host.strip("[]"), int(port))
        self.tls = None
        if tls:
            self.tls = ssl.create_default_context()
            if trusted:
                self.tls.load_verify_locations(self.data / "self-signed.crt")
            else:
                self.tls.check_hostname, self.tls.verify_mode = False, ssl.CERT_NONE

    def _collect(self):
        for line in self.process.stderr:
            self.errors += line

    def _ready_line(self):
        holder = []
        reader = threading.Thread(target=lambda: holder.append(self.process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(DEADLINE_SECONDS)
        return holder[0]

    @property
    def demo(self):
        return self.ready["demo"]

    @property
    def demo_token(self):
        return basic(self.demo["token_username"], self.demo["token_secret"])

    def connect(self, source=None):
        return Connection(self.address, self.tls, source)

    def ask(self, method, path, fields=(), body=None, token=None):
        """One request on a separate connection. `token`: the value of Authorization."""
        if token is not None:
            fields = [*(fields.items() if isinstance(fields, dict) else fields), ("Authorization", token)]
        with self.connect() as connection:
            answer = connection.ask(method, path, fields, body)
            if answer is None:
                raise AssertionError(f"no answer to {method} {path}: {self.errors.decode(errors='replace')}")
            return answer

    def run(self, *arguments, stdin=""):
        """An administrative command on this server's store: the object that it prints."""
        done = run_command(*arguments, *self.store_flags, stdin=stdin)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def add_user(self, login, balance="0", currency="EUR"):
        return self.run("user", "add", "--login", login, "--password-stdin", "--balance", balance, "--currency",
                        currency,
                        stdin="a password\n")["id"]

    def add_account(self, user, service, name="An account", admin=False):
        return self.run("account", "add", "--user", user, "--service", service, "--name", name,
                        *(["--admin"] if admin else []))["id"]

    def add_token(self, user, scopes=ALL_SCOPES):
        """The value of an Authorization field, and the token's id."""
        made = self.run("token", "create", "--user", user, "--description", "e2e", "--scopes", scopes)
        return basic(made["username"], made["secret"]), made["id"]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=DEADLINE_SECONDS):
        code = self.process.wait(seconds)
        self.reader.join()
        return code

    def stop(self):
        """Stops it as an operator would, and removes its data."""
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                self.wait()
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.wait()
        self.process.stdout.close()
        self.process.stderr.close()
        if self.own_directory:
            shutil.rmtree(self.data, ignore_errors=True)
        if b"Sanitizer" in self.errors or b"runtime error: " in self.errors:  # what is found at the end fails no request
            raise AssertionError(self.errors.decode(errors="replace"))
        return self.process.returncode

    def log_after(self, text):
        """Standard error, once it holds `text`: the log is written a moment after the response."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while text.encode() not in self.errors and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.errors.decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


@contextlib.contextmanager
def temporary_directory():
    directory = tempfile.mkdtemp(prefix="tollgate-e2e-")
    try:
        yield pathlib.Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class Case(unittest.TestCase):
    maxDiff = None

    def eventually(self, holds, seconds=DEADLINE_SECONDS):
        """Waits until `holds()` is true."""
        deadline = time.monotonic() + seconds
        while not holds():
            self.assertLess(time.monotonic(), deadline, f"not within {seconds} s")
            time.sleep(0.02)

    def assert_limit_fields(self, answer):
        for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining"):
            self.assertEqual(1, len(answer.all(name)), f"{name} in {answer}")
            self.assertRegex(answer.get(name), r"^(0|[1-9][0-9]*)$")
        resets = answer.all("X-RateLimit-Reset")
        if answer.get("X-RateLimit-Remaining") == "0":
            self.assertEqual(1, len(resets), answer)
            self.assertRegex(resets[0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        else:
            self.assertEqual([], resets, answer)

    def assert_error(self, answer, status, mentions=""):
        """The Error object with this status, and the fields that every response has."""
        self.assertIsNotNone(answer, "the connection ended without an answer")
        self.assertEqual(status, answer.status, answer)
        self.assertEqual("application/json", answer.get("Content-Type"), answer)
        error = answer.json()
        self.assertEqual({"message", "documentation_url"}, set(error), answer)
        self.assertIsInstance(error["message"], str)
        self.assertNotEqual("", error["message"])
        self.assertIn(mentions, error["message"])
        self.assertRegex(error["documentation_url"], r"^https?://.+/docs/.*$")
        self.assert_limit_fields(answer)

    def assert_json(self, answer, status=200):
        self.assertEqual(status, answer.status, answer)
        self.assertEqual("application/json", answer.get("Content-Type"), answer)
        self.assert_limit_fields(answer)
        return answer.json()


def over_every_transport(case):
    """Runs a Case over TLS and plain, on SQLite (or PostgreSQL, see above) and in memory: it gets a demo server with
    plenty of quota as `server`."""
    namespace = sys.modules[case.__module__].__dict__
    for transport in ("plain", "tls"):
        for store in ("postgres",) if on_postgres else ("sqlite", "memory"):
            def start(cls, tls=transport == "tls", kept=store):
                cls.server = Server("--demo", *PLENTY, store="memory:" if kept == "memory" else None, tls=tls)
                cls.addClassCleanup(cls.server.stop)

            name = f"{case.__name__}_{transport}_{store}"
            namespace[name] = type(name, (case, Case),
                                   {"setUpClass": classmethod(start), "__module__": case.__module__})
    return case
