"""Starts the real tollgate-server and sends requests to it: the base of every *_test.py in this directory.

Each test file is a program: `some_test.py path/to/tollgate-server [arguments of unittest]`. With the environment variable
TOLLGATE_E2E_STORE=postgres its servers use a database of the test run's PostgreSQL, with one schema for each data
directory.
"""

import base64
import concurrent.futures
import contextlib
import http.client
import json
import os
import pathlib
import re
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
from servers import Database, Postgres, Redis, reserve_port  # noqa: E402, F401

DEADLINE_SECONDS = 60  # generous: sanitizers and busy machines are slow, and a test that passes never waits for it
ALL_SCOPES = "user:balance,sitesmaker:read,sitesmaker,itemplatform:read,itemplatform"
HIGH_LIMITS = ["--anonymous-limit", "1000000/day", "--user-limit", "1000000/day"]

ROOT = pathlib.Path(__file__).resolve().parents[2]

program = None  # the path of tollgate-server, set by main()
postgres = None  # the default store of servers; None: a SQLite file
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
    """Whether the server is built with a sanitizer, which needs more memory and must be the first library loaded."""
    binary = pathlib.Path(program).read_bytes()
    return b"__asan_init" in binary or b"__tsan_init" in binary


def basic(username, secret, scheme="Basic"):
    pair = username.encode() + b":" + secret.encode()
    return f"{scheme} {base64.b64encode(pair).decode()}"


class Response:
    def __init__(self, status, reason, fields, body):
        self.status = status
        self.reason = reason
        self.fields = fields  # (name, value) as received
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
    """One connection. `send` sends bytes unchanged; `read` returns one response."""

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
        response = http.client.HTTPResponse(_SocketOf(self.incoming), method=method)
        try:
            response.begin()
        except (http.client.BadStatusLine, ConnectionResetError):
            return None
        return Response(response.status, response.reason, response.getheaders(), response.read())

    def ended(self):
        """Whether the server closed the connection and sent nothing more."""
        try:
            return self.incoming.read(1) == b""
        except (ConnectionResetError, ssl.SSLError):
            return True

    def request(self, method, path, fields=(), body=None):
        self.send(encode(method, path, fields, body))
        return self.read(method)


class _SocketOf:
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
    """A request as bytes. `fields` is a dict or a list of pairs. Host and User-Agent are added unless `fields` has them;
    the value None omits a field. A body that is not bytes is sent as JSON."""
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


def preloaded_library(name):
    """A library of tests/support that replaces functions of the server. It is built with the unit tests."""
    return ROOT / "build" / "dev" / "bin" / f"lib{name}.so"


def release_folder():
    """The copy of the tracked files in which the server was built."""
    return pathlib.Path(program).parents[3]


def environment_of(quick_hashes, more=None):
    """The environment of a server. With quick hashes its passwords cost almost nothing, if the tests were built with that library."""
    environment = {**os.environ, **(more or {})}
    library = preloaded_library("quick_scrypt")
    if quick_hashes and library.exists():
        environment["LD_PRELOAD"] = ":".join(filter(None, [str(library), environment.get("LD_PRELOAD")]))
    return environment


def run_command(*arguments, stdin="", cwd=None, quick_hashes=True, prefix=()):
    """Runs a command of tollgate-server, and waits for its end."""
    return subprocess.run([*prefix, program, *map(str, arguments)], input=stdin, text=True, capture_output=True,
                          timeout=DEADLINE_SECONDS, cwd=cwd, env=environment_of(quick_hashes))


def flags_for(data, store=None):
    """The flags for a data directory and its store."""
    store = store or (postgres and postgres.store(data))
    return ["--data", str(data)] + (["--store", store] if store else [])


class Server:
    """A running `tollgate-server serve`. Messages of failures contain its standard error.

    Servers stand for nodes of one site on different ports, so all have the same names of cookies, unless `cookie_name` is None.
    """

    def __init__(self, *flags, data=None, store=None, tls=False, trusted=True, listen="127.0.0.1:0",
                 environment=None, quick_hashes=True, cookie_name="e2e"):
        self.quick_hashes = quick_hashes
        self.own_directory = data is None
        self.data = pathlib.Path(data or tempfile.mkdtemp(prefix="tollgate-e2e-"))
        self.store_flags = flags_for(self.data, store)
        command = [program, "serve", *self.store_flags, "--listen", listen, *map(str, flags)]
        if "--shutdown-grace" not in flags:  # most tests have no client that uses the grace
            command += ["--shutdown-grace", "0"]
        if not tls:
            command.append("--plain")
        if cookie_name:
            command += ["--cookie-name", cookie_name]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                        stdin=subprocess.DEVNULL, env=environment_of(quick_hashes, environment))
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
        host, _, port = listen.rpartition(":")
        if port == "0":  # --base-url and --auth-url replace the address in one URL; with both, `listen` has it
            addresses = [*self.ready.get("listen", []), self.ready["api"], self.ready["auth"]]
            port = re.search(re.escape(host) + r":(\d+)", " ".join(addresses))[1]
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
        lines = []
        reader = threading.Thread(target=lambda: lines.append(self.process.stdout.readline()), daemon=True)
        reader.start()
        reader.join(DEADLINE_SECONDS)
        return lines[0]

    @property
    def demo(self):
        return self.ready["demo"]

    @property
    def demo_token(self):
        return basic(self.demo["token_username"], self.demo["token_secret"])

    def connect(self, source=None):
        return Connection(self.address, self.tls, source)

    def request(self, method, path, fields=(), body=None, token=None):
        """Sends a request on a separate connection, and returns the response. `token`: the value of Authorization."""
        if token is not None:
            fields = [*(fields.items() if isinstance(fields, dict) else fields), ("Authorization", token)]
        with self.connect() as connection:
            response = connection.request(method, path, fields, body)
            if response is None:
                raise AssertionError(f"no response to {method} {path}: {self.errors.decode(errors='replace')}")
            return response

    def run(self, *arguments, stdin=""):
        """Runs an administrative command on this server's store, and returns the object that it prints."""
        result = run_command(*arguments, *self.store_flags, stdin=stdin, quick_hashes=self.quick_hashes)
        if result.returncode != 0:
            raise AssertionError(f"{arguments} ended with {result.returncode}: {result.stderr}")
        return json.loads(result.stdout)

    def add_user(self, login, balance="0", currency="EUR", password="a password"):
        return self.run("user", "add", "--login", login, "--password-stdin", "--balance", balance, "--currency", currency,
                        stdin=password + "\n")["id"]

    def add_account(self, user, service, name="An account", admin=False):
        return self.run("account", "add", "--user", user, "--service", service, "--name", name,
                        *(["--admin"] if admin else []))["id"]

    def add_token(self, user, scopes=ALL_SCOPES):
        """Creates a token. Returns the value of the Authorization field, and the token's id."""
        created = self.run("token", "create", "--user", user, "--description", "e2e", "--scopes", scopes)
        return basic(created["username"], created["secret"]), created["id"]

    def is_listening(self):
        try:
            socket.create_connection(self.address, DEADLINE_SECONDS).close()
        except ConnectionRefusedError:
            return False
        return True

    def admin(self, path, method="GET"):
        """A response of the admin listener."""
        host, _, port = self.ready["admin"].rpartition(":")
        with Connection((host, int(port))) as connection:
            return connection.request(method, path)

    def metrics(self):
        """The samples of the admin listener: name{labels} -> value."""
        lines = (line.rpartition(" ") for line in self.admin("/metrics").body.decode().splitlines() if not line.startswith("#"))
        return {name: float(value) for name, _, value in lines}

    def balance(self, token=None):
        """The response to a request for the balance."""
        return self.request("GET", "/v1/user/balance", token=token)

    def add_hook(self, url, event="site.created", account=None, token=None):
        """Creates a webhook, by default of the demo user's account. Returns its id and secret."""
        service = service_of(event)
        created = self.request("POST", f"/v1/{service}/{account or self.demo[service + '_account']}/hooks",
                               body={"event": event, "target_url": url}, token=token or self.demo_token)
        if created.status != 201:
            raise AssertionError(created)
        return created.json()["id"], created.get("X-Hook-Secret")

    def emit(self, data=None, event="site.created", account=None):
        """Reports an event, by default of the demo user's account, and returns the number of webhooks."""
        service = service_of(event)
        return self.run("event", "emit", "--service", service, "--account", account or self.demo[service + "_account"],
                        "--event", event, "--payload", json.dumps(data))["deliveries"]

    def deliveries(self, hook):
        """Those of a webhook, the latest first: see `delivery list`."""
        return self.run("delivery", "list", "--hook", hook)["deliveries"]

    def signal(self, number):
        self.process.send_signal(number)

    def wait(self, seconds=DEADLINE_SECONDS):
        code = self.process.wait(seconds)
        self.reader.join()
        return code

    def stop(self):
        """Stops the server by SIGTERM, and removes its data. A server that runs must end by itself, without an error."""
        failure = None
        if self.process.poll() is None:
            self.signal(signal.SIGTERM)
            try:
                code = self.wait()
                failure = f"the server ended with {code}" if code else None
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.wait()
                failure = f"the server did not stop within {DEADLINE_SECONDS} s"
        self.process.stdout.close()
        self.process.stderr.close()
        if self.own_directory:
            shutil.rmtree(self.data, ignore_errors=True)
        if b"Sanitizer" in self.errors or b"runtime error: " in self.errors:  # the last findings of a sanitizer fail no request
            raise AssertionError(self.errors.decode(errors="replace"))
        if failure:
            raise AssertionError(failure + ": " + self.errors.decode(errors="replace")[-2000:])
        return self.process.returncode

    def log_after(self, text):
        """Standard error, once it contains `text`: the log is written a moment after the response."""
        deadline = time.monotonic() + DEADLINE_SECONDS
        while text.encode() not in self.errors and time.monotonic() < deadline:
            time.sleep(0.005)
        return self.errors.decode(errors="replace")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def service_of(event):
    return {"site": "sitesmaker", "item": "itemplatform"}[event.partition(".")[0]]


def concurrently(call, values):
    """The results of `call(value)` for all values, each on a thread of its own."""
    with concurrent.futures.ThreadPoolExecutor(len(values)) as pool:
        return list(pool.map(call, values))


@contextlib.contextmanager
def temporary_directory():
    directory = tempfile.mkdtemp(prefix="tollgate-e2e-")
    try:
        yield pathlib.Path(directory)
    finally:
        shutil.rmtree(directory, ignore_errors=True)


class Case(unittest.TestCase):
    maxDiff = None

    def eventually(self, condition, seconds=DEADLINE_SECONDS):
        """Waits until `condition()` is true."""
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"not within {seconds} s")
            time.sleep(0.02)

    def assert_limit_fields(self, response):
        for name in ("X-RateLimit-Limit", "X-RateLimit-Remaining"):
            self.assertEqual(1, len(response.all(name)), f"{name} in {response}")
            self.assertRegex(response.get(name), r"^(0|[1-9][0-9]*)$")
        resets = response.all("X-RateLimit-Reset")
        if response.get("X-RateLimit-Remaining") == "0":
            self.assertEqual(1, len(resets), response)
            self.assertRegex(resets[0], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        else:
            self.assertEqual([], resets, response)

    def assert_error(self, response, status, mentions=""):
        """The response has this status, the Error object and the fields that every response has."""
        self.assertIsNotNone(response, "the connection ended without a response")
        self.assertEqual(status, response.status, response)
        self.assertEqual("application/json", response.get("Content-Type"), response)
        error = response.json()
        self.assertEqual({"message", "documentation_url"}, set(error), response)
        self.assertIsInstance(error["message"], str)
        self.assertNotEqual("", error["message"])
        self.assertIn(mentions, error["message"])
        self.assertRegex(error["documentation_url"], r"^https?://.+/docs/.*$")
        self.assert_limit_fields(response)

    def assert_json(self, response, status=200):
        self.assertEqual(status, response.status, response)
        self.assertEqual("application/json", response.get("Content-Type"), response)
        self.assert_limit_fields(response)
        return response.json()


def over_every_transport(case):
    """Runs a Case with plain HTTP and with TLS, on SQLite (or PostgreSQL, see above) and in memory. `server` is a demo
    server with high limits."""
    namespace = sys.modules[case.__module__].__dict__
    for transport in ("plain", "tls"):
        for store in ("postgres",) if on_postgres else ("sqlite", "memory"):
            def start(cls, tls=transport == "tls", store=store):
                cls.server = Server("--demo", *HIGH_LIMITS, store="memory:" if store == "memory" else None, tls=tls)
                cls.addClassCleanup(cls.server.stop)

            name = f"{case.__name__}_{transport}_{store}"
            namespace[name] = type(name, (case, Case),
                                   {"setUpClass": classmethod(start), "__module__": case.__module__})
    return case
