#!/usr/bin/env python3
"""Makes one part of a server slow, and measures which requests that delays.

As a program it does so with many clients, prints what each kind of request got, and fails where a bound was missed:

    slow_parts.py path/to/tollgate-server [scenario...]

slow_parts_test.py uses the same scenarios with few clients, and judges by what is answered while the part is still slow.
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
from harness import PLENTY, Postgres, Server

UNCACHED = ["--cache-seconds", "0"]  # each request asks PostgreSQL
ANSWER_SECONDS = 60  # of a client that waits for an answer


class Crowd:
    """Clients with one request each at the same time. `answers` are pairs of status and seconds; None: no response."""

    def __init__(self, server, requests):
        self.server = server
        self.answers = [None] * len(requests)
        self.threads = [threading.Thread(target=self._ask, args=(number, request), daemon=True)
                        for number, request in enumerate(requests)]
        for each in self.threads:
            each.start()

    def _ask(self, number, request):
        began = time.monotonic()
        with contextlib.suppress(OSError, AssertionError), self.server.connect() as connection:
            connection.socket.settimeout(ANSWER_SECONDS)
            answer = connection.ask(*request)
            if answer is not None:
                self.answers[number] = (answer.status, time.monotonic() - began, answer.get("Retry-After"))

    def wait(self):
        for each in self.threads:
            each.join(2 * ANSWER_SECONDS)
        return self.answers


def request(method, path, token=None, body=None):
    return method, path, {"Authorization": token} if token else {}, body


class Subject:
    """A server with users, tokens, an account and a webhook: what the requests of a scenario use."""

    def __init__(self, *flags, store=None):
        self.server = Server("--demo", *PLENTY, *flags, store=store)
        self.account = self.server.demo["sitesmaker_account"]
        self.warm = self.server.demo_token
        user = self.server.add_user("somebody", balance="7.00")
        self.unused = self.server.add_token(user)[0]

    def list(self, token=None):
        return request("GET", f"/v1/sitesmaker/{self.account}/hooks", token or self.warm)

    def write(self, number):
        return request("POST", f"/v1/sitesmaker/{self.account}/hooks", self.warm,
                       {"event": "site.created", "target_url": f"https://hooks.example.com/{number}"})

    def cold(self):
        """A balance with a token that is not cached, until one of these requests is answered."""
        return request("GET", "/v1/user/balance", self.unused)

    def balance(self):
        return request("GET", "/v1/user/balance", self.warm)

    def warm_up(self):
        for each in (self.balance(), self.list()):
            assert self.ask(each).status == 200

    def ask(self, what):
        return self.server.ask(what[0], what[1], what[2], what[3])

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


def measure(subject, requests):
    """Seconds of each request, alone and one after the other."""
    measured = {}
    for name, what in requests.items():
        began = time.monotonic()
        answer = subject.ask(what)
        measured[name] = (answer.status, time.monotonic() - began)
    return measured


class Report:
    def __init__(self):
        self.missed = 0

    def line(self, name, seconds, bound, more=""):
        is_good = seconds <= bound
        self.missed += not is_good
        print(f"  {'ok    ' if is_good else 'MISSED'} {name}: {seconds:.3f} s, at most {bound} s {more}", flush=True)

    def quick(self, measured, bound=0.2):
        for name, (status, seconds) in measured.items():
            self.line(name, seconds, bound, f"({status})")

    def crowd(self, name, answers, bound, statuses):
        seen = collections.Counter(each[0] if each else "no answer" for each in answers)
        slowest = max((each[1] for each in answers if each), default=0)
        self.line(name, slowest, bound, str(dict(seen)))
        if not set(seen) <= set(statuses):
            self.missed += 1
            print(f"  MISSED {name}: answers other than {statuses}")


def sqlite_write_lock(report):
    """SQLite's write lock is held by a shell, with 48 writers."""
    subject = Subject()
    try:
        subject.warm_up()
        with locked_file(subject.server):
            writers = Crowd(subject.server, [subject.write(number) for number in range(48)])
            time.sleep(1)
            report.quick(measure(subject, {"anonymous 404": subject.unknown(), "list": subject.list(), "cold balance": subject.cold()}))
            report.crowd("writes", writers.wait(), 5, [503])
    finally:
        subject.server.stop()


def locked_tokens(report, clients=300):
    """PostgreSQL: LOCK TABLE tollgate_personal_tokens, with many cold clients."""
    with Postgres() as database:
        store = database.store("slow_parts")
        subject = Subject(store=store)
        try:
            subject.warm_up()
            with locked_table(store, "tollgate_personal_tokens"):
                cold = Crowd(subject.server, [subject.cold() for _ in range(clients)])
                time.sleep(1)
                report.quick(measure(subject, {"anonymous 404": subject.unknown(), "list": subject.list(),
                                               "sign-in page": subject.sign_in_page(), "warm balance": subject.balance()}))
                report.crowd(f"{clients} cold balances", cold.wait(), 5, [503])
        finally:
            subject.server.stop()


def hung_database(report, clients=300, seconds=25):
    """PostgreSQL is stopped (SIGSTOP) under many clients."""
    with Postgres() as database:
        subject = Subject(*UNCACHED, store=database.store("slow_parts"))
        try:
            subject.warm_up()
            database.hang()
            began = time.monotonic()
            crowd = Crowd(subject.server, [subject.balance() for _ in range(clients)])
            report.crowd(f"{clients} balances at once", crowd.wait(), 5, [503])
            quick = slow = 0
            worst = 0.0
            while time.monotonic() - began < seconds:
                at = time.monotonic()
                status = subject.ask(subject.balance()).status
                took = time.monotonic() - at
                assert status == 503, status
                if took > 0.05:
                    slow += 1
                    worst = max(worst, took)
                else:
                    quick += 1
                time.sleep(0.01)
            print(f"  then {quick} answers within 0.05 s, and {slow} slower ones, which were probes (the slowest {worst:.2f} s)")
            database.go_on()
        finally:
            database.go_on()
            subject.server.stop()


def clients_who_left(report, clients=900):
    """Requests whose connections were reset while they waited, at a distance of 200 ms from PostgreSQL."""
    with Postgres() as database, Distance(database, 0.1) as distance:
        subject = Subject(*UNCACHED, store=database.store("slow_parts", distance.at))
        try:
            subject.warm_up()
            left = []
            for _ in range(clients):
                connection = subject.server.connect()
                connection.send(harness.encode(*subject.balance()))
                left.append(connection)
            for connection in left:
                connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()
            report.quick(measure(subject, {"next 404": subject.unknown()}), 0.5)
            report.quick(measure(subject, {"next balance": subject.balance()}), 1.5)
        finally:
            subject.server.stop()


def distant_database(report, clients=512):
    """PostgreSQL with a round trip of 50 ms, and 512 clients."""
    with Postgres() as database, Distance(database, 0.025) as distance:
        subject = Subject(*UNCACHED, store=database.store("slow_parts", distance.at))
        try:
            subject.warm_up()
            crowd = Crowd(subject.server, [subject.balance() for _ in range(clients)])
            report.quick(measure(subject, {"anonymous 404": subject.unknown()}))
            report.crowd(f"{clients} balances", crowd.wait(), 5, [200])
        finally:
            subject.server.stop()


class Distance:
    """Forwards connections to a PostgreSQL, each byte later by `seconds`."""

    def __init__(self, database, seconds):
        self.to = f"{database.directory}/.s.PGSQL.{database.port}"
        self.seconds = seconds
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.at = f"host=127.0.0.1 port={self.listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                here, _ = self.listener.accept()
                here.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                there = socket.socket(socket.AF_UNIX)
                there.connect(self.to)
                for one, other in ((here, there), (there, here)):
                    threading.Thread(target=self._forward, args=(one, other), daemon=True).start()

    def _forward(self, one, other):
        late = queue.Queue()

        def deliver():
            while True:
                due, data = late.get()
                time.sleep(max(0, due - time.monotonic()))
                with contextlib.suppress(OSError):
                    if not data:
                        other.shutdown(1)
                        return
                    other.sendall(data)

        threading.Thread(target=deliver, daemon=True).start()
        with contextlib.suppress(OSError):
            while data := one.recv(65536):
                late.put((time.monotonic() + self.seconds, data))
        late.put((time.monotonic() + self.seconds, b""))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


SCENARIOS = [sqlite_write_lock, locked_tokens, hung_database, clients_who_left, distant_database]


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
