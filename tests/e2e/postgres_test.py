#!/usr/bin/env python3
"""Several nodes that share one PostgreSQL: they behave as one server, and respond while the database is down."""

import calendar
import concurrent.futures
import contextlib
import glob
import json
import select
import signal
import time

from application import Application, PublicClient
from harness import HIGH_LIMITS, Case, Database, Postgres, Server, basic, concurrently, encode, flags_for, main, \
    run_command, temporary_directory
from receiver import Receiver, make_certificate
from visitor import Visitor, signed_in

TOKENS = "/en/user/settings/tokens/"
APPLICATIONS = "/en/user/settings/applications/"
WEBHOOKS = "/en/user/settings/webhooks/"
FAKETIME = next(iter(glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1")), None)

shared = None  # one Postgres for tests that do not stop it


def setUpModule():
    global shared
    shared = Database.shared()


class Nodes(Case):
    def store(self, more=""):
        return shared.store(self.id(), more)

    def node(self, *flags, store=None, limits=tuple(HIGH_LIMITS), **more):
        node = Server("--allow-private-targets", *limits, *flags, store=store or self.store(), **more)
        self.addCleanup(node.stop)
        return node


class Starting(Nodes):
    def test_several_starts_at_once_on_an_empty_database(self):
        store = self.store()
        nodes = concurrently(lambda _: self.node("--demo", store=store), range(3))
        logins = [node.demo["login"] for node in nodes]
        self.assertEqual(3, len(set(logins)), "each data directory has a separate demo")
        self.assertIn("demo", logins)
        for owner in nodes:
            for node in nodes:
                self.assert_json(node.balance(owner.demo_token))
                signed_in(node, owner.demo["login"], owner.demo["password"])
        again = self.node("--demo", store=store, data=nodes[1].data)
        self.assertEqual(nodes[1].demo, again.demo, "the data directory keeps its demo")

    def test_several_starts_at_once_on_one_data_directory(self):
        store = self.store()
        with temporary_directory() as data:
            nodes = concurrently(lambda _: self.node("--demo", store=store, data=data), range(3))
            self.assertEqual([nodes[0].demo] * 3, [node.demo for node in nodes])
            self.assertEqual("demo", nodes[0].demo["login"])
            # After its token is revoked, the demo gets a new one of the same user.
            nodes[0].run("token", "revoke", "--id", "1")
            renewed = self.node("--demo", store=store, data=data).demo
            self.assertEqual("demo", renewed["login"])
            self.assertNotEqual(nodes[0].demo["token_secret"], renewed["token_secret"])

    def test_without_a_server(self):
        for conninfo in ("host=127.0.0.1 port=1 user=x password=hunter2", "postgresql://x:hunter2@127.0.0.1:1/x"):
            for command in (["serve", "--listen", "127.0.0.1:0"], ["token", "revoke", "--id", "1"]):
                with self.subTest(conninfo=conninfo, command=command), temporary_directory() as data:
                    result = run_command(*command, "--data", data, "--store", f"postgres:{conninfo}")
                    self.assertEqual((1, ""), (result.returncode, result.stdout), result)
                    self.assertRegex(result.stderr, r"\A[^\n]*--store[^\n]*127\.0\.0\.1[^\n]*\n\Z", "one line")
                    self.assertNotIn("hunter2", result.stderr)

    def test_no_message_contains_a_password(self):
        for store in ("postgres:password=hunter2 nonsense", "postgres:nonsense=1 password=hunter2",
                      "postgres://x:hunter2@a,b:1:2", "postgres:password=hunter2 host=a,b port=1,2,3",
                      "postgresq://x:hunter2@h/", "password=hunter2 host=h", "x://hunter2@h", "/hunter2",
                      "hunter2@h/db", "hunter2:x@h/db", "hunter2", "memory:hunter2", "redis://:hunter2@h"):
            with self.subTest(store=store), temporary_directory() as data:
                result = run_command("serve", "--data", data / "d", "--listen", "127.0.0.1:0", "--store", store)
                self.assertEqual(2, result.returncode)
                self.assertIn("--store", result.stderr)
                self.assertNotIn("hunter2", result.stderr + result.stdout)

    def test_over_tls(self):
        with temporary_directory() as files:
            certificate, _ = make_certificate(files, "localhost", "127.0.0.1")
            other, _ = make_certificate(files, "example.com")
            for file in files.iterdir():
                file.chmod(0o644)
            files.chmod(0o755)
            with Postgres(tls=(certificate, certificate.with_suffix(".key"))) as server:
                good = server.store("tls", f"sslmode=verify-full sslrootcert={certificate}")
                with Server("--demo", store=good) as node:
                    self.assert_json(node.balance(node.demo_token))
                    self.assertEqual("0", server.query(good, "SELECT count(*) FROM pg_stat_ssl JOIN pg_stat_activity "
                                                             "USING (pid) WHERE client_addr IS NOT NULL AND NOT ssl"))
                wrong_store = server.store("tls", f"sslmode=verify-full sslrootcert={other}")
                for command in (["serve", "--listen", "127.0.0.1:0"], ["token", "revoke", "--id", "1"]):
                    result = run_command(*command, "--data", files / "d", "--store", wrong_store)
                    self.assertEqual((1, ""), (result.returncode, result.stdout), result)
                    self.assertIn("certificate", result.stderr)

    def test_connections_are_bounded(self):
        node = self.node("--demo", "--store-connections", "6")
        concurrently(lambda _: [node.balance(node.demo_token) for _ in range(5)], range(32))
        listeners = 2
        self.assertLessEqual(int(shared.query(node.store_flags[3], "SELECT count(*) FROM pg_stat_activity "
                                              "WHERE datname = current_database() "
                                              "AND application_name = 'tollgate'")), 6 + listeners)


class Upgrading(Nodes):
    """Nodes of this release with tables of a later one."""

    def test_additions_of_a_later_release_are_compatible(self):
        store = self.store()
        running = self.node("--demo", store=store)
        shared.query(store, "ALTER TABLE tollgate_personal_tokens ADD COLUMN later text DEFAULT 'x'; "
                            "ALTER TABLE directory_users ADD COLUMN later text; "
                            "UPDATE tollgate_schema SET version = version + 1")
        started = self.node(store=store)
        with temporary_directory() as data:
            checked = run_command("check", "--data", data, "--store", store)
            self.assertEqual((0, ""), (checked.returncode, checked.stderr), checked)
        for node in (running, started):
            self.assert_json(node.balance(running.demo_token))
            token, _ = node.add_token(1)
            self.assert_json(node.balance(token))

    def test_incompatible_tables_are_reported(self):
        store = self.store()
        self.node("--demo", store=store).stop()
        for component in ("store", "reference_directory"):
            with self.subTest(component=component), temporary_directory() as data:
                self.assertEqual("1", shared.query(store, "WITH changed AS (UPDATE tollgate_schema SET version = 1000, "
                                                          f"works_with = 1000 WHERE component = '{component}' "
                                                          "RETURNING 1) SELECT count(*) FROM changed"))
                for command in (["serve", "--listen", "127.0.0.1:0"],
                                ["token", "create", "--user", "1", "--description", "x", "--scopes", "user:balance"]):
                    result = run_command(*command, "--data", data, "--store", store)
                    self.assertEqual((1, ""), (result.returncode, result.stdout), result)
                    self.assertIn("later release", result.stderr)
                if component == "store":
                    self.assertIn("later release", run_command("check", "--data", data, "--store", store).stderr)
                shared.query(store, "UPDATE tollgate_schema SET version = works_with, works_with = 0 "
                                    f"WHERE component = '{component}'")


class Commands(Nodes):
    def test_accounts_added_at_once_stay_within_the_maximum(self):
        store = self.store()
        with temporary_directory() as data, shared.session() as session:
            flags = flags_for(data, store)
            run_command("user", "add", "--login", "ann", "--password-stdin", *flags, stdin="a password\n")
            schema = shared.query(store, "SELECT current_schema()")
            waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
            add = ["account", "add", "--user", "1", "--service", "sitesmaker", "--name", "x", *flags]
            for _ in range(9):  # a command waits for a second at most, and may start late on a busy machine
                shared.query(store, "DELETE FROM directory_accounts; INSERT INTO directory_accounts (service, user_id, name, admin) "
                                    "SELECT 'sitesmaker', 1, 'x', false FROM generate_series(1, 999)")
                # Both commands get as far as they can before another transaction has ended.
                session.execute(f"BEGIN; SELECT id FROM {schema}.directory_users FOR UPDATE")
                with concurrent.futures.ThreadPoolExecutor(2) as pool:
                    commands = [pool.submit(run_command, *add) for _ in range(2)]
                    while not (both_wait := shared.query(store, waiting) == "2") and not any(each.done() for each in commands):
                        pass
                    session.execute("COMMIT")
                if both_wait:
                    break
            results = [command.result() for command in commands]
        self.assertEqual("1000", shared.query(store, "SELECT count(*) FROM directory_accounts"))
        self.assertEqual(["", "tollgate-server: --user: user 1 already has 1000 accounts at sitesmaker, the maximum.\n"],
                         sorted(result.stderr for result in results))


class SharedStore(Nodes):
    def setUp(self):
        store = self.store()
        # What is cached never expires: nodes must notice changes.
        flags = ["--cache-seconds", "3600"]
        self.nodes = concurrently(lambda number: self.node(*flags, *(["--demo"] if number == 0 else []), store=store), range(3))
        self.first, *self.rest = self.nodes
        for node in self.rest:
            node.ready["demo"] = self.first.demo

    def test_changes_of_one_node_are_visible_on_all(self):
        visitor = signed_in(self.first)
        page = visitor.get(TOKENS)
        created = visitor.submit(page.form_with("description", "scopes"), {"description": "Of a test",
                                                                           "scopes": ["user:balance"]})
        username, secret = created.readonly_values()
        token = basic(username, secret)
        for node in self.nodes:
            self.assert_json(node.balance(token))
        # The session is visible too, and a token that is revoked on one node is refused on the others.
        visitor.server, visitor.site = self.rest[0], self.rest[0].ready["auth"]
        page = visitor.get(TOKENS)
        row = next(row for row in page.all("li") if "Of a test" in row.text)
        self.assertIn(username, row.text)
        token, number = self.first.add_token(1)
        for node in self.nodes:
            self.assert_json(node.balance(token))
        self.first.run("token", "revoke", "--id", number)
        for node in self.nodes:
            self.eventually(lambda: node.balance(token).status == 401)

    def test_quota_and_limits_are_the_same_on_all_nodes(self):
        self.first.run("user", "quota", "--user", "1", "--per-day", "7")
        for node in self.nodes:
            self.eventually(lambda: node.balance(node.demo_token).get("X-RateLimit-Limit") == "7")

    def test_commands_while_nodes_run(self):
        user = self.first.add_user("ann@example.com", "12.50", "CHF")
        account = self.first.add_account(user, "itemplatform", admin=True)
        token, _ = self.first.add_token(user)
        for node in self.nodes:
            self.assertIn(b"12.50", node.balance(token).body)
            self.assertIn(account, [each["id"] for each in
                                    node.request("GET", "/v1/itemplatform/accounts", token=token).json()])
            visitor = signed_in(node, "ann@example.com", "a password")
        app = Application(self.first, user)
        app.server = self.rest[1]
        visitor.server, visitor.site = self.rest[1], self.rest[1].ready["auth"]
        self.assertIn("access_token", app.tokens(visitor))

    def test_one_code_at_three_nodes_at_once(self):
        visitor = signed_in(self.first)
        app = Application(self.first, 1)
        for _ in range(5):
            code = app.code(visitor)

            def redeem(number):
                copy = object.__new__(Application)
                copy.server, copy.id, copy.secret = self.nodes[number % 3], app.id, app.secret
                return copy.exchange(code)

            responses = concurrently(redeem, range(9))
            self.assertEqual([200] + [400] * 8, sorted(each.status for each in responses), responses)
            # The code was used more than once, so its tokens are revoked on all nodes.
            token = next(each for each in responses if each.status == 200).json()["access_token"]
            for node in self.nodes:
                self.eventually(lambda: node.balance(f"Bearer {token}").status == 401)

    def test_one_form_at_three_nodes_at_once_creates_one_secret(self):
        visitor = signed_in(self.first)
        account = f"sitesmaker/{self.first.demo['sitesmaker_account']}"

        def submit_everywhere(form, values):
            def submit(number):
                node = Visitor(self.nodes[number % 3])
                node.cookies = dict(visitor.cookies)
                pairs = [pair for pair in form.pairs() if pair[0] not in values]
                pairs += [(name, each) for name, value in values.items() for each in (value if isinstance(value, list) else [value])]
                return node.post(form.get("action"), pairs)

            pages = concurrently(submit, range(6))
            self.assertEqual([200] * 6, [each.status for each in pages], pages)
            shown = {tuple(each.readonly_values()) for each in pages}
            self.assertEqual(1, len(shown), shown)
            return shown.pop()

        def forms(path, action):
            return [form for form in visitor.get(path).forms if form.named("action") and form.value("action") == action]

        for path, values, renew in ((TOKENS, {"description": "Of all nodes", "scopes": ["user:balance"]}, "renew"),
                                    (APPLICATIONS, {"name": "Of all nodes", "website": "https://app.example"}, "new_secret"),
                                    (WEBHOOKS, {"account": account, "event": "site.created", "target_url": "https://hooks.example/"},
                                     "new_secret")):
            with self.subTest(path=path):
                before = len(forms(path, renew))
                page = visitor.get(f"{path}?account={account}" if path == WEBHOOKS else path)
                created = submit_everywhere(page.form_with(list(values)[-1]), values)
                self.assertEqual(before + 1, len(forms(path, renew)))
                renewed = submit_everywhere(forms(path, renew)[-1], {})
                self.assertNotEqual(created, renewed)
                self.assertEqual(before + 1, len(forms(path, renew)))
                if path == TOKENS:
                    for node in self.nodes:
                        self.eventually(lambda: node.balance(basic(*renewed)).status == 200)

    def test_one_device_at_three_nodes_at_once(self):
        names = ("first", "second")
        visitors = []
        for name in names:
            self.first.add_user(name)
            visitors.append(signed_in(self.first, name, "a password"))
        device = PublicClient(self.first, 1, None)
        page_path = "/en/user/device/"
        for _ in range(5):
            codes = device.post("/user/oauth_device/", {"scope": "user:balance"}).json()
            forms = [visitor.submit(visitor.get(page_path).form_with("user_code"), {"user_code": codes["user_code"]})
                     .form_with("decision") for visitor in visitors]

            def allow(number):
                node = Visitor(self.nodes[number % 3])
                node.cookies = dict(visitors[number % 2].cookies)
                return node.post(page_path, forms[number % 2].pairs(("decision", "allow")))

            pages = concurrently(allow, range(6))
            self.assertEqual([200] * 6, [each.status for each in pages], pages)
            winners = {number % 2 for number, page in enumerate(pages) if "Device authorized" in page.text}
            self.assertEqual(1, len(winners), pages)
            winner = winners.pop()
            for number, page in enumerate(pages):
                self.assertIn(f"the account of {names[winner]}." if number % 2 == winner else "Another user has answered", page.text)
            authorized = ["Pocket" in visitor.get("/en/user/settings/authorizations/").text for visitor in visitors]
            self.assertTrue(authorized[winner])
            if not authorized[1 - winner]:
                token = device.post("/user/oauth_token/", {"grant_type": "urn:ietf:params:oauth:grant-type:device_code",
                                                           "device_code": codes["device_code"]}).json()["access_token"]
                self.assert_json(self.rest[0].balance(f"Bearer {token}"))

    def test_an_event_is_delivered_once_by_any_node(self):
        with Receiver() as receiver:
            self.rest[0].add_hook(receiver.url())
            for number in range(20):
                self.first.emit(number)
            requests = receiver.wait(20)
            self.assertEqual(list(range(20)), sorted(json.loads(each.body)["data"] for each in requests))
            # The last node delivers all events.
            for node in self.nodes[:2]:
                node.signal(signal.SIGKILL)
                node.wait()
            self.rest[1].emit(20)
            self.assertEqual(20, json.loads(receiver.wait(21)[20].body)["data"])
            self.assertEqual(21, len({each.id for each in receiver.requests}))

    def test_kill_9_loses_nothing_acknowledged(self):
        path = f"/v1/sitesmaker/{self.first.demo['sitesmaker_account']}/hooks"
        acknowledged = []
        with self.first.connect() as connection, contextlib.suppress(OSError):
            for number in range(8):
                if number == 6:
                    self.first.signal(signal.SIGKILL)
                response = connection.request("POST", path, {"Authorization": self.first.demo_token}, {
                    "type": "webhook", "event": "site.created", "target_url": f"https://example.com/{number}"})
                if response is None:
                    break
                self.assertEqual(201, response.status, response)
                acknowledged.append(response.json()["id"])
        self.first.wait()
        self.assertGreaterEqual(len(acknowledged), 6)
        for node in self.rest:
            stored = [each["id"] for each in node.request("GET", path, token=self.first.demo_token).json()]
            self.assertLessEqual(set(acknowledged), set(stored))


class Clocks(Nodes):
    def setUp(self):
        self.assertIsNotNone(FAKETIME, "install faketime")

    def test_a_node_whose_clock_is_minutes_off_behaves_like_the_others(self):
        store = self.store()
        correct = self.node("--demo", store=store)
        for shift in ("+5m", "-5m"):
            with self.subTest(shift=shift):
                shifted = self.node(store=store, limits=["--anonymous-limit", "1/hour"],
                                    environment={"LD_PRELOAD": FAKETIME, "FAKETIME": shift,
                                                 "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
                shifted.ready["demo"] = correct.demo
                self.assert_json(shifted.balance(correct.demo_token))
                # The end of a window is in correct time.
                before = time.time()
                response = shifted.request("GET", "/v1/testservice/get")
                self.assertEqual("0", response.get("X-RateLimit-Remaining"))
                resets = calendar.timegm(time.strptime(response.get("X-RateLimit-Reset"), "%Y-%m-%dT%H:%M:%SZ"))
                self.assertTrue(before - 1 <= resets - 3600 <= time.time() + 1, resets)
                # Codes, tokens and sessions have the same age on all nodes.
                for issuer, redeemer in ((correct, shifted), (shifted, correct)):
                    visitor = signed_in(issuer)
                    app = Application(correct, 1)
                    app.server = issuer
                    code = app.code(visitor)
                    app.server = redeemer
                    response = app.exchange(code)
                    self.assertEqual(200, response.status, response)
                    for node in (correct, shifted):
                        self.assert_json(node.balance("Bearer " + response.json()["access_token"]))
                    visitor.server, visitor.site = redeemer, redeemer.ready["auth"]
                    self.assertIn(correct.demo["login"], visitor.get(TOKENS).text)
                # An event that one node reports is delivered at once by the other, with the correct time.
                with Receiver() as receiver:
                    hook, _ = shifted.add_hook(receiver.url())
                    before = time.time()
                    for _ in range(4):
                        correct.emit()
                    for each in receiver.wait(4):
                        self.assertTrue(before - 2 <= int(each.fields["webhook-timestamp"]) <= time.time() + 1, each.fields)
                    self.assertEqual(4, len(receiver.requests))
                    correct.request("DELETE", f"/v1/sitesmaker/hooks/{hook}", token=correct.demo_token)
                shifted.stop()


class PostgresDown(Nodes):
    """PostgreSQL is down or hangs until requests have been refused. It is a separate PostgreSQL: other tests are not affected."""

    @classmethod
    def setUpClass(cls):
        cls.server = Postgres()
        cls.addClassCleanup(cls.server.stop)

    def setUp(self):
        self.single_node = self.node("--demo", store=self.server.store(self.id(), "password=hunter2"))

    def assert_unavailable(self):
        response = self.single_node.balance(self.single_node.demo_token)
        self.assert_error(response, 503)
        self.assertRegex(response.get("Retry-After"), r"^[1-9][0-9]*$")

    def assert_available(self):
        self.eventually(lambda: self.single_node.balance(self.single_node.demo_token).status == 200)

    def test_stopped_and_started(self):
        visitor = signed_in(self.single_node)
        app = Application(self.single_node, 1)
        code = app.code(visitor)
        self.server.halt()
        try:
            for _ in range(3):
                self.assert_unavailable()
            page = visitor.get(TOKENS)
            self.assertEqual(503, page.status, page)
            self.assertRegex(page.response.get("Retry-After"), r"^[1-9][0-9]*$")
            self.assertRegex(page.response.get("Content-Type"), r"^text/html")
            self.assertEqual(503, Visitor(self.single_node).sign_in("demo", "wrong").status)
            self.assertEqual(503, app.exchange(code).status)
            # Requests without a query succeed.
            self.assertEqual(200, self.single_node.request("GET", "/v1/testservice/get").status)
        finally:
            self.server.start()
        self.assert_available()
        # The server's other connections may still wait before they try again.
        self.eventually(lambda: visitor.get(TOKENS, follow=False).status == 200)  # otherwise it leads to the sign-in page
        self.assertNotIn("hunter2", self.single_node.errors.decode())

    def test_failures_are_counted_in_the_log(self):
        """In every log format there is a line at once, and then a count of the other failures."""
        for log_format, repeated in (("text", "more like this: PostgreSQL"), ("json", '"repeated":"PostgreSQL'),
                                     ("off", "more like this: PostgreSQL")):
            with self.subTest(log_format=log_format):
                node = self.node("--demo", "--log", log_format, store=self.server.store(self.id() + log_format, "password=hunter2"))
                self.server.halt()
                try:
                    for _ in range(200):
                        self.assert_error(node.balance(node.demo_token), 503)
                    lines = node.log_after(repeated).splitlines()
                finally:
                    self.server.start()
                problems = [line for line in lines if "problem" in line]
                self.assertTrue(1 <= len(problems) <= 8, problems)
                counts = [line for line in lines if repeated in line]
                self.assertRegex(counts[-1], '"last":"PostgreSQL: .+"' if log_format == "json" else "; the last: PostgreSQL: .+")

    def test_killed_with_connections_open(self):
        self.assert_json(self.single_node.balance(self.single_node.demo_token))
        self.server.query(self.single_node.store_flags[3], "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
                                                   "WHERE application_name = 'tollgate'")
        self.assert_json(self.single_node.balance(self.single_node.demo_token))

    def test_hanging(self):
        self.assert_json(self.single_node.balance(self.single_node.demo_token))
        self.server.hang()
        try:
            # Until the first time-out, cached data may be used.
            self.eventually(lambda: [503] * 4 == concurrently(
                lambda _: self.single_node.balance(self.single_node.demo_token).status, range(4)))
            self.assert_unavailable()
            self.assertEqual(200, self.single_node.request("GET", "/v1/testservice/get").status)
        finally:
            self.server.resume()
        self.assert_available()

    def test_health_checks_succeed_while_all_workers_wait(self):
        health, secret = "/.well-known/oauth-authorization-server", self.single_node.demo["token_secret"]
        self.assertEqual(200, self.single_node.request("GET", health).status)

        def served_while_workers_wait():
            """Whether a health check succeeds before more clients, who asked earlier, get a response than there are workers."""
            self.server.hang()
            try:
                with contextlib.ExitStack() as all_open:
                    clients = [all_open.enter_context(self.single_node.connect()) for _ in range(100)]
                    for number, each in enumerate(clients):
                        each.send(encode("GET", "/v1/user/balance", {"Authorization": basic(f"nobody{number}", secret)}))
                    self.assertEqual(200, self.single_node.request("GET", health).status)
                    return len(select.select([each.socket for each in clients], [], [], 0)[0]) < len(clients) - 32
            finally:
                self.server.resume()
                self.assert_available()

        self.eventually(served_while_workers_wait)

    def test_an_event_reported_after_a_restart_arrives(self):
        with Receiver() as receiver:
            self.single_node.add_hook(receiver.url())
            self.server.halt()
            self.server.start()
            self.assertEqual(1, self.single_node.emit())
            self.assertEqual(1, len(receiver.wait(1)))

    def test_the_server_stops_while_postgresql_hangs(self):
        self.server.hang()
        try:
            self.single_node.signal(signal.SIGTERM)
            self.assertEqual(0, self.single_node.wait())
        finally:
            self.server.resume()


if __name__ == "__main__":
    main()
