#!/usr/bin/env python3
"""Three nodes, PostgreSQL, Redis and HAProxy, as examples/cluster deploys them: what is guaranteed when parts of it fail.

TOLLGATE_KILLS=50 kills nodes fifty times under load instead of four times, stops the other parts in proportion, and prints
counts. TOLLGATE_FAKETIME names another libfaketime than Debian's.
"""

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
from harness import Case, concurrently, main
from load import Client, HookWriter, Load, ReceivedEvents, Reader, Refresher, Reporter
from receiver import Receiver
from visitor import signed_in

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "examples" / "cluster"))
import parts  # noqa: E402

KILLS = int(os.environ.get("TOLLGATE_KILLS", "4"))
ROUNDS = max(1, KILLS // 10)  # how often other parts are stopped
LEASE_SECONDS = 31  # after that, another node sends the deliveries of a dead one: the time of an attempt and a margin
PASSWORD = "a password"


class Endpoint:
    """The address to which clients connect: HAProxy, or a node. It replaces the harness.Server of other tests."""

    def __init__(self, cluster, node=None):
        self.address = ("127.0.0.1", node.port if node else cluster.proxy.port)
        self.tls = None if node else ssl._create_unverified_context()
        self.flags = ["--config", cluster.nodes[0].configuration]
        self.ready = {"auth": cluster.url}

    connect = harness.Server.connect
    request = harness.Server.request
    add_user = harness.Server.add_user
    add_account = harness.Server.add_account
    add_token = harness.Server.add_token
    balance = harness.Server.balance
    errors = b""

    def run(self, *arguments, stdin=""):
        result = harness.run_command(*arguments, *self.flags, stdin=stdin, quick_hashes=False)  # as on its nodes
        if result.returncode != 0:
            raise AssertionError(f"{arguments} ended with {result.returncode}: {result.stderr}")
        return json.loads(result.stdout)


def report(text):
    if "TOLLGATE_KILLS" in os.environ:
        print(text, file=sys.stderr, flush=True)


class Failing(unittest.TestCase):
    """A part that cannot be started or queried is reported in one line, and the other parts keep running."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tollgate-parts-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_program_that_is_being_replaced(self):
        program = self.folder / "program"
        node = parts.Node(program, self.folder, 1, parts.free_ports(1)[0])
        with self.assertRaisesRegex(parts.Failure, "node1 cannot be started: .*No such file"):
            node.start()
        self.assertFalse(node.is_running or node.stays_down)
        shutil.copy("/bin/true", program)
        with open(program, "ab"), self.assertRaisesRegex(parts.Failure, "node1 cannot be started: .*busy"):
            node.start()
        self.assertFalse(node.is_running or node.stays_down)
        node.start()
        self.assertEqual(0, node.process.wait())
        self.assertTrue(node.stays_down)

    def test_a_balancer_that_is_stopped_or_stopping(self):
        proxy = parts.Proxy(self.folder, 0, [])
        node = parts.Node("/bin/true", self.folder, 1, 0)

        def expect_failures():
            for query in (lambda: proxy.is_up(node), lambda: proxy.state_of(node)):
                self.assertRaisesRegex(parts.Failure, "haproxy", query)
            proxy.admit(node)  # there is no balancer that could exclude the node

        expect_failures()
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(proxy.control))
            expect_failures()  # the socket exists, and no process listens
            listener.listen()

            def close_each():
                with contextlib.suppress(OSError):
                    while True:
                        listener.accept()[0].close()

            closer = threading.Thread(target=close_each)
            closer.start()
            expect_failures()
            listener.shutdown(socket.SHUT_RDWR)
            closer.join()


class Cluster(Case):
    """All tests share one cluster and run in the order of their numbers: the last one checks the events of the first one."""

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="tollgate-cluster-", ignore_cleanup_errors=True)
        cls.addClassCleanup(folder.cleanup)
        pathlib.Path(folder.name).chmod(0o711)
        cls.cluster = parts.Cluster(harness.program, pathlib.Path(folder.name) / "data", 0, 0, {
            "anonymous-limit": "1000000/day", "user-limit": "1000000/day", "allow-private-targets": True,
            "webhook-retry": ",".join(["1s"] * 16), "cache-seconds": 3600})
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()
        cls.endpoint = Endpoint(cls.cluster)
        cls.endpoints = [Endpoint(cls.cluster, node) for node in cls.cluster.nodes]
        cls.login = "ada"
        cls.user = cls.endpoint.add_user(cls.login, "12.50")
        cls.token, _ = cls.endpoint.add_token(cls.user)
        cls.received_events = ReceivedEvents()
        cls.receiver = Receiver(cls.received_events.handle)
        cls.addClassCleanup(cls.receiver.close)

    def setUp(self):
        self.started = time.monotonic()

    def tearDown(self):
        report(f"{self.id().rpartition('.')[2]}: {time.monotonic() - self.started:.1f} s")
        for node in self.cluster.nodes:
            text = node.log.read_text(errors="replace")
            self.assertFalse("Sanitizer" in text or "runtime error: " in text, text)

    def restart(self, part):
        """Starts a part that was killed. Its children may run a moment longer, and prevent the start."""
        deadline = time.monotonic() + harness.DEADLINE_SECONDS
        while True:
            try:
                return part.start()
            except parts.Failure:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)

    def wait_until_up(self, node):
        node.wait()
        self.eventually(lambda: self.cluster.proxy.is_up(node))

    def make_clients(self, load_number, receiver):
        """Clients that read and clients that write, each with its own account."""
        accounts = [self.endpoint.add_account(self.user, "sitesmaker") for _ in range(4)]
        visitor = signed_in(self.endpoint, self.login, PASSWORD)
        app = Application(self.endpoint, self.user, f"Load {load_number}")
        refresh_token = app.tokens(visitor)["refresh_token"]
        paths = [receiver.url(f"/{accounts[0]}/{number}") for number in range(3)]
        for url in paths:
            created = self.endpoint.request("POST", f"/v1/sitesmaker/{accounts[0]}/hooks", token=self.token,
                                            body={"event": "site.published", "target_url": url})
            self.assertEqual(201, created.status, created)
        self.paths = [url.split(str(receiver.port))[1] for url in paths]
        self.hook_writers = [HookWriter(self.token, account) for account in accounts[1:3]]
        self.refresher = Refresher(app, refresh_token)
        self.reporters = [Reporter(f"{load_number}.{number}", self.endpoint.flags, accounts[0]) for number in range(2)]
        reader = Reader(self.token, ["/v1/user/balance", f"/v1/sitesmaker/{accounts[3]}/hooks",
                                     "/v1/sitesmaker/accounts", "/v1/testservice/get"])
        return [reader, Reader(self.token, ["/v1/user/balance"]), *self.hook_writers, self.refresher, *self.reporters]

    def verify_writers(self):
        client = Client(self.endpoint)
        self.addCleanup(client.close)
        for each in (*self.hook_writers, self.refresher):
            self.assertEqual([], each.verify(client))

    def test_1_kills_under_load_lose_nothing_acknowledged(self):
        load = Load(self.endpoint)
        clients = self.make_clients(1, self.receiver)
        load.start(clients)
        generator = random.Random(KILLS)
        for round_number in range(KILLS):
            time.sleep(0.3 + 0.7 * generator.random())
            node = generator.choice(self.cluster.nodes)
            node.kill()
            time.sleep(0.5 * generator.random())
            node.start()
            self.wait_until_up(node)
            if round_number % 5 == 2:
                self.cluster.postgres.kill()
                time.sleep(0.2 * generator.random())
                self.restart(self.cluster.postgres)
            if round_number % 5 == 3:
                self.cluster.redis.kill()
                self.restart(self.cluster.redis)
        load.stop()
        report(f"{KILLS} kills: {load.summary()}")
        self.assertEqual([], load.violations)
        self.verify_writers()
        self.assertGreater(len(self.refresher.received), KILLS)
        type(self).acknowledged = (sum((each.acknowledged for each in self.reporters), []), self.paths, time.monotonic())

    def test_2_three_nodes_admit_exactly_one_quota(self):
        user = self.endpoint.add_user("quota")
        token, _ = self.endpoint.add_token(user)
        self.endpoint.run("user", "quota", "--user", user, "--per-day", 1000)

        def request_many(endpoint):
            with endpoint.connect() as connection:
                return [request_until_counted(connection) for _ in range(130)]

        def request_until_counted(connection):
            """The status. A request that gets 503, because the database did not respond in time, is not counted, and is sent again."""
            deadline = time.monotonic() + harness.DEADLINE_SECONDS
            while True:
                status = connection.request("GET", "/v1/testservice/auth", {"Authorization": token}).status
                if status != 503 or time.monotonic() > deadline:
                    return status
                time.sleep(0.05)

        statuses = sum(concurrently(request_many, self.endpoints * 3), [])
        self.assertEqual({200: 1000, 429: 170}, {status: statuses.count(status) for status in set(statuses)},
                         [node.last_log_line() for node in self.cluster.nodes])
        resets = {endpoint.request("GET", "/v1/testservice/auth", token=token).get("X-RateLimit-Reset") for endpoint in self.endpoints}
        self.assertEqual(1, len(resets), resets)

    def test_2_untrusted_forwarding_fields_are_ignored(self):
        def remaining(address, **fields):
            with self.endpoint.connect(source=(address, 0)) as connection:
                named = {name.replace("_", "-"): value for name, value in fields.items()}
                return int(connection.request("GET", "/v1/testservice/get", named).get("X-RateLimit-Remaining"))

        first = remaining("127.0.0.11")
        self.assertEqual([first - 1, first - 2, first - 3], [
            remaining("127.0.0.11", X_Forwarded_For="192.0.2.1"), remaining("127.0.0.11", Forwarded="for=192.0.2.1"),
            remaining("127.0.0.11", X_Forwarded_For="192.0.2.1, 127.0.0.1", Forwarded="for=192.0.2.1")])
        self.assertEqual(first, remaining("127.0.0.12"))

    def test_3_a_revoked_token_is_refused_everywhere(self):
        """Though what nodes cache does not expire: they notice the change."""
        for _ in range(ROUNDS):
            token, number = self.endpoint.add_token(self.user)
            for endpoint in self.endpoints * 3:  # so that all nodes cache it
                self.assertEqual(200, endpoint.balance(token).status)
            self.endpoint.run("token", "revoke", "--id", number)
            for endpoint in (*self.endpoints, self.endpoint):
                self.eventually(lambda: endpoint.balance(token).status == 401)

    def test_4_nodes_restarted_one_by_one_fail_no_request(self):
        load = Load(self.endpoint)
        # A separate host: until the leases of killed nodes end, their deliveries count as in flight to the other host.
        receiver = Receiver(self.received_events.handle, address="127.0.0.2")
        self.addCleanup(receiver.close)
        clients = self.make_clients(4, receiver)
        load.start(clients)
        for _ in range(ROUNDS):
            for node in self.cluster.nodes:
                self.cluster.upgrade(node)
        self.eventually(lambda: sum(len(each.acknowledged) for each in self.reporters) > 3)
        load.stop()
        report(f"{ROUNDS} upgrades: {load.summary()}")
        self.assertEqual([], load.violations)
        failed = {kind: times for kind, times in load.counts.items() if kind[1] not in (200, 201, 204, "acknowledged")}
        self.assertEqual({}, failed)
        self.verify_writers()
        self.expect_delivered(sum((each.acknowledged for each in self.reporters), []), self.paths, harness.DEADLINE_SECONDS)

    def test_4_a_failed_upgrade_leaves_no_node_drained(self):
        node, program = self.cluster.nodes[0], self.cluster.nodes[0].program
        for broken in ("/nowhere/tollgate-server", "/bin/false"):
            with self.subTest(broken):
                node.program = broken
                try:
                    with self.assertRaises(parts.Failure):
                        self.cluster.upgrade(node)
                finally:
                    node.program = program
                self.eventually(lambda: self.cluster.proxy.state_of(node) == "DOWN")
                self.cluster.restart(node)
                self.wait_until_up(node)
        # The same after an upgrade that was interrupted between stop and start.
        self.cluster.proxy.send_command(f"set server nodes/{node.name} state drain")
        node.stop()
        self.cluster.restart(node)
        self.wait_until_up(node)
        self.assertEqual(200, self.endpoint.balance(self.token).status)

    def test_5_without_postgresql_the_response_is_503_until_it_is_back(self):
        postgres = self.cluster.postgres

        def stop(number):
            postgres.send(number)
            postgres.process.wait()

        def hang():
            for pid in postgres.pids():
                os.kill(pid, signal.SIGSTOP)

        def resume():
            for pid in postgres.pids():
                os.kill(pid, signal.SIGCONT)

        failures = {"stopped": (lambda: stop(signal.SIGINT), lambda: self.restart(postgres)),
                    "killed": (lambda: stop(signal.SIGKILL), lambda: self.restart(postgres)),
                    "hanging": (hang, resume)}
        path = "/v1/sitesmaker/accounts"
        for name, (fail, restore) in list(failures.items()) * ROUNDS:
            with self.subTest(name):
                fail()
                try:
                    started = time.monotonic()
                    for response in concurrently(lambda endpoint: endpoint.request("GET", path, token=self.token),
                                                 (self.endpoint, *self.endpoints)):
                        self.assert_error(response, 503)
                        self.assertGreaterEqual(int(response.get("Retry-After")), 1)
                    report(f"PostgreSQL {name}: refused within {time.monotonic() - started:.2f} s")
                    # Cached data may be returned for another second.
                    self.eventually(lambda: self.endpoints[0].balance(self.token).status == 503)
                finally:
                    restore()
                started = time.monotonic()
                self.eventually(lambda: all(endpoint.request("GET", path, token=self.token).status == 200
                                            for endpoint in self.endpoints))
                report(f"PostgreSQL {name}: served again after {time.monotonic() - started:.2f} s")

    def test_6_requests_succeed_without_redis(self):
        redis = self.cluster.redis

        def stop(number):
            redis.send(number)
            redis.process.wait()

        failures = {"stopped": (lambda: stop(signal.SIGTERM), lambda: self.restart(redis)),
                    "killed": (lambda: stop(signal.SIGKILL), lambda: self.restart(redis)),
                    "hanging": (lambda: redis.send(signal.SIGSTOP), lambda: redis.send(signal.SIGCONT))}
        for name, (fail, restore) in list(failures.items()) * ROUNDS:
            with self.subTest(name):
                fail()
                try:
                    for _ in range(30):
                        for endpoint in (self.endpoint, *self.endpoints):
                            response = endpoint.balance(self.token)
                            self.assertEqual(200, response.status, response)
                            self.assert_limit_fields(response)
                finally:
                    restore()
                self.expect_shared_limits()

    def expect_shared_limits(self):
        """Waits until the nodes share one count."""
        def shared():
            remaining = [int(endpoint.balance(self.token).get("X-RateLimit-Remaining"))
                         for endpoint in self.endpoints]
            return remaining == [remaining[0], remaining[0] - 1, remaining[0] - 2]

        self.eventually(shared)

    def test_7_a_node_whose_clock_is_five_minutes_off_behaves_like_the_others(self):
        library = os.environ.get("TOLLGATE_FAKETIME") or next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), "")
        self.assertTrue(library, "install faketime")
        if harness.is_sanitized():
            return  # both a sanitizer and libfaketime must be loaded first; the other presets run this test
        node, shifted, correct = self.cluster.nodes[2], self.endpoints[2], self.endpoints[0]
        for shift in ("+5m", "-5m"):
            with self.subTest(shift):
                node.environment = {"LD_PRELOAD": library, "FAKETIME": shift, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
                self.cluster.upgrade(node)
                user = self.endpoint.add_user(f"late{shift}", "1")
                token, _ = self.endpoint.add_token(user)
                self.endpoint.run("user", "quota", "--user", user, "--per-day", 6)
                # The sixth response says when the window ends, the same on every node.
                responses = [endpoint.request("GET", "/v1/testservice/auth", token=token) for endpoint in (shifted, correct) * 3]
                responses += [endpoint.request("GET", "/v1/testservice/auth", token=token) for endpoint in (correct, shifted)]
                self.assertEqual([200] * 6 + [429] * 2, [each.status for each in responses])
                self.assertEqual(1, len({each.get("X-RateLimit-Reset") for each in responses[5:]}), responses[5:])
                # A code is valid for a minute, regardless of the nodes that issue and redeem it.
                for issuer, redeemer in ((shifted, correct), (correct, shifted)):
                    visitor = signed_in(issuer, self.login, PASSWORD)
                    app = Application(issuer, self.user, f"Clock {shift} {issuer.address[1]}")
                    code = app.code(visitor)
                    app.server = visitor.server = redeemer
                    tokens = app.exchange(code)
                    self.assertEqual(200, tokens.status, tokens)
                    for endpoint in self.endpoints:
                        self.assertEqual(200, call(endpoint, tokens.json()["access_token"]).status)
                    self.assertEqual(200, visitor.get("/en/user/settings/tokens/", follow=False).status)
        node.environment = None
        self.cluster.upgrade(node)

    def test_8_a_hanging_node_gets_no_requests(self):
        """It accepts connections and does not respond. In a long run it hangs until other nodes have sent its deliveries."""
        node = self.cluster.nodes[1]
        load = Load(self.endpoint)
        receiver = Receiver(self.received_events.handle, address="127.0.0.3")
        self.addCleanup(receiver.close)
        self.make_clients(8, receiver)
        load.start(self.reporters)
        time.sleep(0.5)
        node.send(signal.SIGSTOP)
        try:
            stopped = time.monotonic()
            self.eventually(lambda: not self.cluster.proxy.is_up(node))
            for _ in range(30):
                self.assertEqual(200, self.endpoint.balance(self.token).status)
            if KILLS >= 50:
                time.sleep(max(0, stopped + LEASE_SECONDS - time.monotonic()))
        finally:
            node.send(signal.SIGCONT)
        self.wait_until_up(node)
        self.assertEqual(200, self.endpoints[1].balance(self.token).status)
        load.stop()
        self.assertEqual([], load.violations)
        self.expect_delivered(sum((each.acknowledged for each in self.reporters), []), self.paths,
                              LEASE_SECONDS + harness.DEADLINE_SECONDS)

    def test_8_without_any_node_the_balancer_responds_like_the_api(self):
        for node in self.cluster.nodes:
            node.stop()
        for method in ("GET", "POST"):
            response = self.endpoint.request(method, "/v1/user/balance", token=self.token)
            self.assertEqual((503, "application/json", "1"),
                             (response.status, response.get("Content-Type"), response.get("Retry-After")), response)
            self.assertEqual({"message", "documentation_url"}, set(response.json()))
            self.assertTrue(response.json()["documentation_url"].startswith(self.cluster.url + "/docs/"), response)
        for node in self.cluster.nodes:
            node.start()
        for node in self.cluster.nodes:
            self.wait_until_up(node)
        self.assertEqual(200, self.endpoint.balance(self.token).status)

    def test_9_every_acknowledged_event_arrived(self):
        if not hasattr(self, "acknowledged"):
            self.fail("test_1 failed or did not run")
        names, paths, ended = self.acknowledged
        remaining = max(0, ended + LEASE_SECONDS - time.monotonic())
        self.expect_delivered(names, paths, remaining + harness.DEADLINE_SECONDS)
        report(f"{len(names)} events to {len(paths)} hooks each: {self.received_events.summary()}")

    def expect_delivered(self, names, paths, seconds):
        self.assertGreater(len(names), 3)
        self.eventually(lambda: not self.received_events.missing(names, paths), seconds)
        self.assertEqual([], self.received_events.violations())


if __name__ == "__main__":
    main()
