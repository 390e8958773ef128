#!/usr/bin/env python3
"""Three nodes, PostgreSQL, Redis and HAProxy, as examples/cluster deploys them: what holds when parts of it die.

TOLLGATE_STORM=50 kills that many nodes under load instead of a few, and every part as often in proportion, and prints
the counts. TOLLGATE_FAKETIME names another libfaketime than Debian's.
"""

import concurrent.futures
import contextlib
import glob
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import ssl
import sys
import tempfile
import threading
import time
import unittest

import harness
from application import Application, call
from harness import Case, main
from receiver import Receiver
from storm import Arrivals, Client, Hooker, Reader, Refresher, Reporter, Storm
from visitor import signed_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "cluster"))
import parts  # noqa: E402

KILLS = int(os.environ.get("TOLLGATE_STORM", "4"))
ROUNDS = max(1, KILLS // 10)  # how often other parts are stopped
LEASE_SECONDS = 31  # what a dead node had taken is another's after that: an attempt's time and a margin
PASSWORD = "a password"


class Entry:
    """What clients connect to: HAProxy, or a node directly. It replaces the harness.Server of other tests."""

    def __init__(self, cluster, node=None):
        self.address = ("127.0.0.1", node.port if node else cluster.proxy.port)
        self.tls = None if node else ssl._create_unverified_context()
        self.flags = ["--config", cluster.nodes[0].configuration]
        self.ready = {"auth": cluster.url}

    connect = harness.Server.connect
    ask = harness.Server.ask
    add_user = harness.Server.add_user
    add_account = harness.Server.add_account
    add_token = harness.Server.add_token
    errors = b""

    def run(self, *arguments, stdin=""):
        done = harness.run_command(*arguments, *self.flags, stdin=stdin)
        if done.returncode != 0:
            raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def at_once(*calls):
    """Calls them concurrently, and returns their results."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as pool:
        return [each.result() for each in [pool.submit(one) for one in calls]]


def tell(text):
    if "TOLLGATE_STORM" in os.environ:
        print(text, file=sys.stderr, flush=True)


class Failing(unittest.TestCase):
    """A part that cannot be started or queried is reported in one line, and the others keep running."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tollgate-parts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_program_that_is_being_replaced(self):
        program = self.folder / "program"
        node = parts.Node(program, self.folder, 1, parts.free_ports(1)[0])
        with self.assertRaisesRegex(parts.Failure, "node1 cannot be started: .*No such file"):
            node.start()
        self.assertFalse(node.runs or node.rests)
        shutil.copy("/bin/true", program)
        with open(program, "ab"), self.assertRaisesRegex(parts.Failure, "node1 cannot be started: .*busy"):
            node.start()
        self.assertFalse(node.runs or node.rests)
        node.start()
        self.assertEqual(0, node.process.wait())
        self.assertTrue(node.rests)

    def test_a_balancer_that_is_gone_or_going(self):
        proxy = parts.Proxy(self.folder, 0, [])
        node = parts.Node("/bin/true", self.folder, 1, 0)

        def expect_failures():
            for ask in (lambda: proxy.is_up(node), lambda: proxy.state_of(node)):
                self.assertRaisesRegex(parts.Failure, "haproxy", ask)
            proxy.admit(node)  # who is gone leaves nobody out

        expect_failures()
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(proxy.control))
            expect_failures()  # nobody listens any more
            listening.listen()

            def end_each():
                with contextlib.suppress(OSError):
                    while True:
                        listening.accept()[0].close()

            ending = threading.Thread(target=end_each)
            ending.start()
            expect_failures()
            listening.shutdown(socket.SHUT_RDWR)
            ending.join()


class Cluster(Case):
    """One cluster for all tests, which run in the order of their numbers: the last one checks what the first one stored."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tollgate-cluster-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        pathlib.Path(folder.name).chmod(0o711)
        cls.cluster = parts.Cluster(harness.program, pathlib.Path(folder.name) / "data", 0, 0, {
            "anonymous-limit": "1000000/day", "user-limit": "1000000/day", "allow-private-targets": True,
            "webhook-retry": ",".join(["1s"] * 16)})
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.entry = Entry(cls.cluster)
        cls.entries = [Entry(cls.cluster, node) for node in cls.cluster.nodes]
        cls.login = "ada"
        cls.user = cls.entry.add_user(cls.login, "12.50")
        cls.token, _ = cls.entry.add_token(cls.user)
        cls.arrivals = Arrivals()
        cls.receiver = Receiver(cls.arrivals.play)
        cls.addClassCleanup(cls.receiver.close)

    def setUp(self):
        self.began = time.monotonic()

    def tearDown(self):
        tell(f"{self.id().rpartition('.')[2]}: {time.monotonic() - self.began:.1f} s")
        for node in self.cluster.nodes:
            text = node.log.read_text(errors="replace")
            self.assertFalse("Sanitizer" in text or "runtime error: " in text, text)

    def start_again(self, part):
        """The children of a killed part may live on for a moment, and prevent its start."""
        deadline = time.monotonic() + harness.DEADLINE_SECONDS
        while True:
            try:
                return part.start()
            except parts.Failure:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def settle(self, node):
        node.wait()
        self.eventually(lambda: self.cluster.proxy.is_up(node))

    def all_clients(self, storm_number, receiver):
        """Clients that read, and clients that write: each with its own account."""
        accounts = [self.entry.add_account(self.user, "sitesmaker") for _ in range(4)]
        visitor = signed_in(self.entry, self.login, PASSWORD)
        app = Application(self.entry, self.user, f"Storm {storm_number}")
        refresh_token = app.tokens(visitor)["refresh_token"]
        paths = [receiver.url(f"/{accounts[0]}/{number}") for number in range(3)]
        for url in paths:
            made = self.entry.ask("POST", f"/v1/sitesmaker/{accounts[0]}/hooks", token=self.token,
                                 body={"event": "site.published", "target_url": url})
            self.assertEqual(201, made.status, made)
        self.paths = [url.split(str(receiver.port))[1] for url in paths]
        self.hookers = [Hooker(self.token, account) for account in accounts[1:3]]
        self.refresher = Refresher(app, refresh_token)
        self.reporters = [Reporter(f"{storm_number}.{number}", self.entry.flags, accounts[0]) for number in range(2)]
        reader = Reader(self.token, ["/v1/user/balance", f"/v1/sitesmaker/{accounts[3]}/hooks",
                                     "/v1/sitesmaker/accounts", "/v1/testservice/get"])
        return [reader, Reader(self.token, ["/v1/user/balance"]), *self.hookers, self.refresher, *self.reporters]

    def verify_writers(self):
        client = Client(self.entry)
        self.addCleanup(client.close)
        for each in (*self.hookers, self.refresher):
            self.assertEqual([], each.verify(client))

    def test_1_kills_under_load_lose_nothing_acknowledged(self):
        storm = Storm(self.entry)
        clients = self.all_clients(1, self.receiver)
        storm.begin(clients)
        chance = random.Random(KILLS)
        for turn in range(KILLS):
            time.sleep(0.3 + 0.7 * chance.random())
            node = chance.choice(self.cluster.nodes)
            node.kill()
            time.sleep(0.5 * chance.random())
            node.start()
            self.settle(node)
            if turn % 5 == 2:
                self.cluster.postgres.kill()
                time.sleep(0.2 * chance.random())
                self.start_again(self.cluster.postgres)
            if turn % 5 == 3:
                self.cluster.redis.kill()
                self.start_again(self.cluster.redis)
        storm.end()
        tell(f"{KILLS} kills: {storm.summary()}")
        self.assertEqual([], storm.faults)
        self.verify_writers()
        self.assertGreater(len(self.refresher.given), KILLS)
        type(self).promised = (sum((each.kept for each in self.reporters), []), self.paths, time.monotonic())

    def test_2_three_nodes_admit_exactly_one_quota(self):
        user = self.entry.add_user("quota")
        token, _ = self.entry.add_token(user)
        self.entry.run("user", "quota", "--user", user, "--per-day", 1000)

        def ask_many(entry):
            with entry.connect() as connection:
                return [ask_until_judged(connection) for _ in range(130)]

        def ask_until_judged(connection):
            """The status. A request that gets 503, because the database did not respond in time, was not counted: it is repeated."""
            deadline = time.monotonic() + harness.DEADLINE_SECONDS
            while True:
                status = connection.ask("GET", "/v1/testservice/auth", {"Authorization": token}).status
                if status != 503 or time.monotonic() > deadline:
                    return status
                time.sleep(0.05)

        statuses = sum(at_once(*[lambda entry=entry: ask_many(entry) for entry in (*self.entries, *self.entries, *self.entries)]),
                       [])
        self.assertEqual({200: 1000, 429: 170}, {status: statuses.count(status) for status in set(statuses)},
                         [node.last_words() for node in self.cluster.nodes])
        resets = {entry.ask("GET", "/v1/testservice/auth", token=token).get("X-RateLimit-Reset") for entry in self.entries}
        self.assertEqual(1, len(resets), resets)

    def test_2_untrusted_forwarding_fields_are_ignored(self):
        def left(address, **fields):
            with self.entry.connect(source=(address, 0)) as connection:
                named = {name.replace("_", "-"): value for name, value in fields.items()}
                return int(connection.ask("GET", "/v1/testservice/get", named).get("X-RateLimit-Remaining"))

        first = left("127.0.0.11")
        self.assertEqual([first - 1, first - 2, first - 3], [
            left("127.0.0.11", X_Forwarded_For="192.0.2.1"), left("127.0.0.11", Forwarded="for=192.0.2.1"),
            left("127.0.0.11", X_Forwarded_For="192.0.2.1, 127.0.0.1", Forwarded="for=192.0.2.1")])
        self.assertEqual(first, left("127.0.0.12"))

    def test_3_a_revoked_token_is_refused_everywhere_within_a_second(self):
        for _ in range(ROUNDS):
            token, number = self.entry.add_token(self.user)
            for entry in self.entries * 3:  # so that all nodes cache it
                self.assertEqual(200, entry.ask("GET", "/v1/user/balance", token=token).status)
            self.entry.run("token", "revoke", "--id", number)
            time.sleep(1)
            for entry in (*self.entries, self.entry):
                self.assert_error(entry.ask("GET", "/v1/user/balance", token=token), 401)

    def test_4_nodes_restarted_one_by_one_fail_no_request(self):
        storm = Storm(self.entry)
        # A separate host: deliveries that killed nodes had leased count as in flight to the other host until the leases end.
        receiver = Receiver(self.arrivals.play, address="127.0.0.2")
        self.addCleanup(receiver.close)
        clients = self.all_clients(4, receiver)
        storm.begin(clients)
        for _ in range(ROUNDS):
            for node in self.cluster.nodes:
                self.cluster.renew(node)
        self.eventually(lambda: sum(len(each.kept) for each in self.reporters) > 3)
        storm.end()
        tell(f"{ROUNDS} upgrades: {storm.summary()}")
        self.assertEqual([], storm.faults)
        failed = {kind: times for kind, times in storm.seen.items() if kind[1] not in (200, 201, 204, "kept")}
        self.assertEqual({}, failed)
        self.verify_writers()
        self.expect_arrivals(sum((each.kept for each in self.reporters), []), self.paths, harness.DEADLINE_SECONDS)

    def test_4_a_failed_upgrade_leaves_no_node_drained(self):
        node, program = self.cluster.nodes[0], self.cluster.nodes[0].program
        for broken in ("/nowhere/tollgate-server", "/bin/false"):
            with self.subTest(broken):
                node.program = broken
                try:
                    with self.assertRaises(parts.Failure):
                        self.cluster.renew(node)
                finally:
                    node.program = program
                self.eventually(lambda: self.cluster.proxy.state_of(node) == "DOWN")
                self.cluster.start_again(node)
                self.settle(node)
        # Nor does an upgrade that was interrupted between stop and start.
        self.cluster.proxy.tell(f"set server nodes/{node.name} state drain")
        node.stop()
        self.cluster.start_again(node)
        self.settle(node)
        self.assertEqual(200, self.entry.ask("GET", "/v1/user/balance", token=self.token).status)

    def test_5_without_postgresql_the_response_is_503_until_it_is_back(self):
        postgres = self.cluster.postgres

        def stop(number):
            postgres.send(number)
            postgres.process.wait()

        def hang():
            for pid in postgres.family():
                os.kill(pid, signal.SIGSTOP)

        def go_on():
            for pid in postgres.family():
                os.kill(pid, signal.SIGCONT)

        ways = {"stopped": (lambda: stop(signal.SIGINT), lambda: self.start_again(postgres)),
                "killed": (lambda: stop(signal.SIGKILL), lambda: self.start_again(postgres)),
                "hanging": (hang, go_on)}
        path = "/v1/sitesmaker/accounts"
        for name, (break_it, mend_it) in list(ways.items()) * ROUNDS:
            with self.subTest(name):
                break_it()
                try:
                    began = time.monotonic()
                    for answer in at_once(*[lambda entry=entry: entry.ask("GET", path, token=self.token)
                                            for entry in (self.entry, *self.entries)]):
                        self.assert_error(answer, 503)
                        self.assertGreaterEqual(int(answer.get("Retry-After")), 1)
                    self.assertLess(time.monotonic() - began, harness.DEADLINE_SECONDS)
                    tell(f"PostgreSQL {name}: refused within {time.monotonic() - began:.2f} s")
                    # Cached data may be returned for one second more.
                    self.eventually(lambda: self.entries[0].ask("GET", "/v1/user/balance", token=self.token).status == 503)
                finally:
                    mend_it()
                began = time.monotonic()
                self.eventually(lambda: all(entry.ask("GET", path, token=self.token).status == 200
                                            for entry in self.entries))
                tell(f"PostgreSQL {name}: served again after {time.monotonic() - began:.2f} s")

    def test_6_requests_succeed_without_redis(self):
        redis = self.cluster.redis

        def stop(number):
            redis.send(number)
            redis.process.wait()

        ways = {"stopped": (lambda: stop(signal.SIGTERM), lambda: self.start_again(redis)),
                "killed": (lambda: stop(signal.SIGKILL), lambda: self.start_again(redis)),
                "hanging": (lambda: redis.send(signal.SIGSTOP), lambda: redis.send(signal.SIGCONT))}
        for name, (break_it, mend_it) in list(ways.items()) * ROUNDS:
            with self.subTest(name):
                break_it()
                try:
                    began = time.monotonic()
                    for _ in range(30):
                        for entry in (self.entry, *self.entries):
                            answer = entry.ask("GET", "/v1/user/balance", token=self.token)
                            self.assertEqual(200, answer.status, answer)
                            self.assert_limit_fields(answer)
                    self.assertLess(time.monotonic() - began, harness.DEADLINE_SECONDS)
                finally:
                    mend_it()
                self.expect_shared_limits()

    def expect_shared_limits(self):
        """Whether one node sees what another one counts."""
        def shared():
            left = [int(entry.ask("GET", "/v1/user/balance", token=self.token).get("X-RateLimit-Remaining"))
                    for entry in self.entries]
            return left == [left[0], left[0] - 1, left[0] - 2]

        self.eventually(shared)

    def test_7_a_node_whose_clock_is_five_minutes_off_behaves_like_the_others(self):
        library = os.environ.get("TOLLGATE_FAKETIME") or next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), "")
        self.assertTrue(library, "install faketime")
        if harness.is_sanitized():
            return  # a sanitizer must be the first library, and so must libfaketime; the other presets test this
        node, odd, even = self.cluster.nodes[2], self.entries[2], self.entries[0]
        for shift in ("+5m", "-5m"):
            with self.subTest(shift):
                node.environment = {"LD_PRELOAD": library, "FAKETIME": shift, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
                self.cluster.renew(node)
                user = self.entry.add_user(f"late{shift}", "1")
                token, _ = self.entry.add_token(user)
                self.entry.run("user", "quota", "--user", user, "--per-day", 6)
                # The sixth response says when the window ends, the same on every node.
                answers = [entry.ask("GET", "/v1/testservice/auth", token=token) for entry in (odd, even) * 3]
                answers += [entry.ask("GET", "/v1/testservice/auth", token=token) for entry in (even, odd)]
                self.assertEqual([200] * 6 + [429] * 2, [each.status for each in answers])
                self.assertEqual(1, len({each.get("X-RateLimit-Reset") for each in answers[5:]}), answers[5:])
                # A code is valid for a minute, regardless of the nodes that issue and redeem it.
                for maker, taker in ((odd, even), (even, odd)):
                    visitor = signed_in(maker, self.login, PASSWORD)
                    app = Application(maker, self.user, f"Clock {shift} {maker.address[1]}")
                    code = app.code(visitor)
                    app.server = visitor.server = taker
                    given = app.exchange(code)
                    self.assertEqual(200, given.status, given)
                    for entry in self.entries:
                        self.assertEqual(200, call(entry, given.json()["access_token"]).status)
                    self.assertEqual(200, visitor.get("/en/user/settings/tokens/", follow=False).status)
        node.environment = None
        self.cluster.renew(node)

    def test_8_a_hanging_node_gets_no_requests(self):
        """It accepts connections and does not respond. In a long storm it hangs until others have sent its deliveries."""
        node = self.cluster.nodes[1]
        storm = Storm(self.entry)
        receiver = Receiver(self.arrivals.play, address="127.0.0.3")
        self.addCleanup(receiver.close)
        self.all_clients(8, receiver)
        storm.begin(self.reporters)
        time.sleep(0.5)
        node.send(signal.SIGSTOP)
        try:
            hung = time.monotonic()
            self.eventually(lambda: not self.cluster.proxy.is_up(node))
            for _ in range(30):
                self.assertEqual(200, self.entry.ask("GET", "/v1/user/balance", token=self.token).status)
            if KILLS >= 50:
                time.sleep(max(0, hung + LEASE_SECONDS - time.monotonic()))
        finally:
            node.send(signal.SIGCONT)
        self.settle(node)
        self.assertEqual(200, self.entries[1].ask("GET", "/v1/user/balance", token=self.token).status)
        storm.end()
        self.assertEqual([], storm.faults)
        self.expect_arrivals(sum((each.kept for each in self.reporters), []), self.paths,
                             LEASE_SECONDS + harness.DEADLINE_SECONDS)

    def test_8_without_any_node_the_balancer_responds_like_the_api(self):
        for node in self.cluster.nodes:
            node.stop()
        for method in ("GET", "POST"):
            answer = self.entry.ask(method, "/v1/user/balance", token=self.token)
            self.assertEqual((503, "application/json", "1"),
                             (answer.status, answer.get("Content-Type"), answer.get("Retry-After")), answer)
            self.assertEqual({"message", "documentation_url"}, set(answer.json()))
            self.assertTrue(answer.json()["documentation_url"].startswith(self.cluster.url + "/docs/"), answer)
        for node in self.cluster.nodes:
            node.start()
        for node in self.cluster.nodes:
            self.settle(node)
        self.assertEqual(200, self.entry.ask("GET", "/v1/user/balance", token=self.token).status)

    def test_9_every_event_of_the_storm_arrived(self):
        if not hasattr(self, "promised"):
            self.skipTest("the storm was not over")
        names, paths, ended = self.promised
        left = max(0, ended + LEASE_SECONDS - time.monotonic())
        self.expect_arrivals(names, paths, left + harness.DEADLINE_SECONDS)
        tell(f"{len(names)} events to {len(paths)} hooks each: {self.arrivals.summary()}")

    def expect_arrivals(self, names, paths, seconds):
        self.assertGreater(len(names), 3)
        self.eventually(lambda: not self.arrivals.missing(names, paths), seconds)
        self.assertEqual([], self.arrivals.faults())


if __name__ == "__main__":
    main()
