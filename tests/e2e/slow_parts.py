#!/usr/bin/env python3
"""Slows down one part of a server, and measures which requests that delays.

As a program it runs scenarios with many clients, prints how long each kind of request took, and fails if a bound is exceeded:

    slow_parts.py path/to/tollgate-server [scenario...]

slow_parts_test.py does the same with few clients, and checks which requests succeed while the part is slow.
"""

import collections
import contextlib
import pathlib
import queue
import socket
import sqlite3
import struct
import subprocess
import sys
import threading
import time

import harness
from harness import HIGH_LIMITS, Postgres, Server

UNCACHED = ["--cache-seconds", "0"]  # each request queries PostgreSQL
RESPONSE_SECONDS = 60  # the timeout of clients


class ConcurrentRequests:
    """Clients that send one request each at the same time. A response is (status, seconds, Retry-After), or None."""

    def __init__(self, server, requests):
        self.server = server
        self.responses = [None] * len(requests)
        self.threads = [threading.Thread(target=self._send, args=(number, request), daemon=True)
                        for number, request in enumerate(requests)]
        for each in self.threads:
            each.start()

    def _send(self, number, request):
        started = time.monotonic()
        with contextlib.suppress(OSError, AssertionError), self.server.connect() as connection:
            connection.socket.settimeout(RESPONSE_SECONDS)
            response = connection.request(*request)
            if response is not None:
                self.responses[number] = (response.status, time.monotonic() - started, response.get("Retry-After"))

    def wait(self):
        for each in self.threads:
            each.join(2 * RESPONSE_SECONDS)
        return self.responses


def request(method, path, token=None, body=None):
    return method, path, {"Authorization": token} if token else {}, body


class Fixture:
    """A server with the users, tokens and account that the requests of a scenario use."""

    def __init__(self, *flags, store=None):
        self.server = Server("--demo", *HIGH_LIMITS, *flags, store=store)
        self.account = self.server.demo["sitesmaker_account"]
        self.warm = self.server.demo_token
        user = self.server.add_user("cold", balance="7.00")
        self.unused = self.server.add_token(user)[0]

    def list(self, token=None):
        return request("GET", f"/v1/sitesmaker/{self.account}/hooks", token or self.warm)

    def write(self, number):
        return request("POST", f"/v1/sitesmaker/{self.account}/hooks", self.warm,
                       {"event": "site.created", "target_url": f"https://hooks.example.com/{number}"})

    def cold(self):
        """A balance with a token that is not cached until one of these requests succeeds."""
        return request("GET", "/v1/user/balance", self.unused)

    def balance(self):
        return request("GET", "/v1/user/balance", self.warm)

    def warm_up(self):
        for each in (self.balance(), self.list()):
            assert self.send(each).status == 200

    def send(self, request):
        return self.server.request(*request)

    @staticmethod
    def unknown():
        return request("GET", "/v1/nowhere")

    @staticmethod
    def sign_in_page():
        return request("GET", "/en/user/sign_in/")


@contextlib.contextmanager
def locked_file(server):
    """Another process holds SQLite's write lock."""
    with contextlib.closing(sqlite3.connect(server.data / "tollgate.db", isolation_level=None)) as shell:
        shell.execute("BEGIN IMMEDIATE")
        yield
        shell.execute("ROLLBACK")


@contextlib.contextmanager
def locked_table(store, table):
    """Another session holds a lock on a table that blocks readers."""
    with subprocess.Popen(["psql", "-qAtX", store.removeprefix("postgres:")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True) as shell:
        shell.stdin.write(f"BEGIN; LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE; SELECT 'locked';\n")
        shell.stdin.flush()
        line = shell.stdout.readline()
        assert line.strip() == "locked", line
        try:
            yield
        finally:
            shell.stdin.write("ROLLBACK;\n")
            shell.stdin.close()
            shell.wait()


def measure(fixture, requests):
    """Sends the requests one after the other. Returns the status and seconds of each."""
    measured = {}
    for name, each in requests.items():
        started = time.monotonic()
        response = fixture.send(each)
        measured[name] = (response.status, time.monotonic() - started)
    return measured


class Report:
    def __init__(self):
        self.missed = 0

    def line(self, name, seconds, bound, note=""):
        is_good = seconds <= bound
        self.missed += not is_good
        print(f"  {'ok    ' if is_good else 'MISSED'} {name}: {seconds:.3f} s, at most {bound} s {note}", flush=True)

    def quick(self, measured, bound=0.2):
        for name, (status, seconds) in measured.items():
            self.line(name, seconds, bound, f"({status})")

    def concurrent(self, name, responses, bound, statuses):
        counts = collections.Counter(each[0] if each else "no response" for each in responses)
        slowest = max((each[1] for each in responses if each), default=0)
        self.line(name, slowest, bound, str(dict(counts)))
        if not set(counts) <= set(statuses):
            self.missed += 1
            print(f"  MISSED {name}: responses other than {statuses}")


def sqlite_write_lock(report):
    """Another process holds SQLite's write lock, with 48 writers."""
    fixture = Fixture()
    try:
        fixture.warm_up()
        with locked_file(fixture.server):
            writers = ConcurrentRequests(fixture.server, [fixture.write(number) for number in range(48)])
            time.sleep(1)
            report.quick(measure(fixture, {"anonymous 404": fixture.unknown(), "list": fixture.list(), "cold balance": fixture.cold()}))
            report.concurrent("writes", writers.wait(), 5, [503])
    finally:
        fixture.server.stop()


def locked_tokens(report, clients=300):
    """PostgreSQL: LOCK TABLE tollgate_personal_tokens, with many cold clients."""
    with Postgres() as database:
        store = database.store("slow_parts")
        fixture = Fixture(store=store)
        try:
            fixture.warm_up()
            with locked_table(store, "tollgate_personal_tokens"):
                cold = ConcurrentRequests(fixture.server, [fixture.cold() for _ in range(clients)])
                time.sleep(1)
                report.quick(measure(fixture, {"anonymous 404": fixture.unknown(), "list": fixture.list(),
                                               "sign-in page": fixture.sign_in_page(), "warm balance": fixture.balance()}))
                report.concurrent(f"{clients} cold balances", cold.wait(), 5, [503])
        finally:
            fixture.server.stop()


def hung_database(report, clients=300, seconds=25):
    """PostgreSQL is stopped (SIGSTOP) under many clients."""
    with Postgres() as database:
        fixture = Fixture(*UNCACHED, store=database.store("slow_parts"))
        try:
            fixture.warm_up()
            database.hang()
            started = time.monotonic()
            requests = ConcurrentRequests(fixture.server, [fixture.balance() for _ in range(clients)])
            report.concurrent(f"{clients} balances at once", requests.wait(), 5, [503])
            quick = slow = 0
            worst = 0.0
            while time.monotonic() - started < seconds:
                sent = time.monotonic()
                status = fixture.send(fixture.balance()).status
                took = time.monotonic() - sent
                assert status == 503, status
                if took > 0.05:
                    slow += 1
                    worst = max(worst, took)
                else:
                    quick += 1
                time.sleep(0.01)
            print(f"  then {quick} responses within 0.05 s, and {slow} slower ones, which were probes (the slowest {worst:.2f} s)")
            database.resume()
        finally:
            database.resume()
            fixture.server.stop()


def reset_connections(report, clients=900):
    """Requests whose connections were reset while they waited, with a round trip of 200 ms to PostgreSQL."""
    with Postgres() as database, DelayingProxy(database, 0.1) as proxy:
        fixture = Fixture(*UNCACHED, store=database.store("slow_parts", proxy.conninfo))
        try:
            fixture.warm_up()
            connections = []
            for _ in range(clients):
                connection = fixture.server.connect()
                connection.send(harness.encode(*fixture.balance()))
                connections.append(connection)
            for connection in connections:
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            report.quick(measure(fixture, {"next 404": fixture.unknown()}), 0.5)
            report.quick(measure(fixture, {"next balance": fixture.balance()}), 1.5)
        finally:
            fixture.server.stop()


def distant_database(report, clients=512):
    """512 clients, with a round trip of 50 ms to PostgreSQL."""
    with Postgres() as database, DelayingProxy(database, 0.025) as proxy:
        fixture = Fixture(*UNCACHED, store=database.store("slow_parts", proxy.conninfo))
        try:
            fixture.warm_up()
            requests = ConcurrentRequests(fixture.server, [fixture.balance() for _ in range(clients)])
            report.quick(measure(fixture, {"anonymous 404": fixture.unknown()}))
            report.concurrent(f"{clients} balances", requests.wait(), 5, [200])
        finally:
            fixture.server.stop()


class DelayingProxy:
    """Forwards connections to a PostgreSQL, and delays each byte by `seconds`."""

    def __init__(self, database, seconds):
        self.address = f"{database.directory}/.s.PGSQL.{database.port}"
        self.seconds = seconds
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.conninfo = f"host=127.0.0.1 port={self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                database = socket.socket(socket.AF_UNIX)
                database.connect(self.address)
                for source, target in ((client, database), (database, client)):
                    threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    def _forward(self, source, target):
        delayed = queue.Queue()

        def deliver():
            while True:
                due, data = delayed.get()
                time.sleep(max(0, due - time.monotonic()))
                with contextlib.suppress(OSError):
                    if not data:
                        target.shutdown(1)
                        return
                    target.sendall(data)

        threading.Thread(target=deliver, daemon=True).start()
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                delayed.put((time.monotonic() + self.seconds, data))
        delayed.put((time.monotonic() + self.seconds, b""))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


SCENARIOS = [sqlite_write_lock, locked_tokens, hung_database, reset_connections, distant_database]


def main():
    if len(sys.argv) < 2:
        sys.exit(f"usage: {sys.argv[0]} path/to/tollgate-server [{' | '.join(each.__name__ for each in SCENARIOS)}]...")
    harness.program = str(pathlib.Path(sys.argv[1]).resolve())
    report = Report()
    for each in SCENARIOS:
        if len(sys.argv) == 2 or each.__name__ in sys.argv[2:]:
            print(each.__doc__, flush=True)
            each(report)
    sys.exit(1 if report.missed else 0)


if __name__ == "__main__":
    main()
