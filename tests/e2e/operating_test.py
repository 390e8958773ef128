#!/usr/bin/env python3
"""The commands of an operator while a server runs: users, tokens, applications, webhooks, deliveries, check and migrate."""

import base64
import contextlib
import datetime
import json
import os
import re
import signal
import sqlite3
import subprocess

import harness
from application import Application
from harness import HIGH_LIMITS, Case, Redis, Server, flags_for, main, on_postgres, run_command, temporary_directory
from receiver import Receiver, empty_response, make_certificate
from visitor import Visitor, signed_in

TOKENS = "/en/user/settings/tokens/"
SECRETS = ("tgp_", "tgs_", "whsec_", "scrypt", "secret", "digest")


def execute(store_flags, text):
    """Executes SQL statements on the store's database."""
    if on_postgres:
        harness.postgres.query(store_flags[3], text)
        return
    with contextlib.closing(sqlite3.connect(f"{store_flags[1]}/tollgate.db")) as database:
        database.executescript(text)


def directory_objects(store_flags):
    """The tables and named indexes of the users, as (kind, name)."""
    if on_postgres:
        rows = harness.postgres.query(store_flags[3], "SELECT relkind, relname FROM pg_class WHERE relkind IN ('r', 'i') "
                                                      "AND relnamespace = current_schema()::regnamespace "
                                                      "AND relname ~ '^directory_' AND relname !~ '_pkey$'")
        return [("TABLE" if kind == "r" else "INDEX", name) for kind, name in (row.split("|") for row in rows.splitlines())]
    with contextlib.closing(sqlite3.connect(f"{store_flags[1]}/tollgate.db")) as database:
        return database.execute("SELECT upper(type), name FROM sqlite_schema WHERE name GLOB 'directory_*'").fetchall()


def make_old_certificate(directory, key):
    """A certificate that expired in 2020: of openssl's commands only `ca` can set the dates."""
    (directory / "ca.cnf").write_text("[ca]\ndefault_ca=d\n[d]\ndatabase=index\nserial=serial\nnew_certs_dir=.\n"
                                      "default_md=sha256\npolicy=p\n[p]\ncommonName=supplied\n")
    (directory / "index").write_text("")
    (directory / "serial").write_text("01\n")
    for words in (["req", "-new", "-key", key, "-subj", "/CN=a", "-out", "old.csr"],
                  ["ca", "-batch", "-selfsign", "-config", "ca.cnf", "-keyfile", key, "-in", "old.csr", "-startdate",
                   "20200101000000Z", "-enddate", "20200201000000Z", "-out", "old.crt"]):
        subprocess.run(["openssl", *words], cwd=directory, check=True, capture_output=True, timeout=30)
    return directory / "old.crt"


class Operator(Case):
    def setUp(self):
        self.server = Server("--demo", *HIGH_LIMITS, "--allow-private-targets", "--webhook-retry", "1h",
                             "--cache-seconds", "3600")  # on PostgreSQL nothing that is cached expires: changes must be noticed
        self.addCleanup(self.server.stop)

    def run_ok(self, *words, stdin=""):
        result = run_command(*words, *self.server.store_flags, stdin=stdin)
        self.assertEqual((0, ""), (result.returncode, result.stderr), words)
        self.assertRegex(result.stdout, r"\A\{.*\}\n\Z")
        for each in SECRETS:
            self.assertNotIn(each, result.stdout)
        return json.loads(result.stdout)

    def assert_fails(self, *words, mentions, stdin=""):
        result = run_command(*words, *self.server.store_flags, stdin=stdin)
        self.assertEqual((1, ""), (result.returncode, result.stdout), words)
        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z")
        self.assertIn(mentions, result.stderr)

    def try_sign_in(self, login, password):
        visitor = Visitor(self.server)
        visitor.sign_in(login, password)
        return visitor

    def assert_signed_in(self, visitor, expected):
        page = visitor.get(TOKENS, follow=False)
        self.assertEqual(200 if expected else 303, page.status, page)


class Applications(Operator):
    def test_a_suspended_application_stops_at_once_until_it_is_resumed(self):
        app, other = Application(self.server, 1), Application(self.server, 1, "Other")
        visitor = signed_in(self.server)
        tokens, code, kept = app.tokens(visitor), app.code(visitor), other.tokens(visitor)
        bearers = ["Bearer " + each["access_token"] for each in (tokens, kept)]
        for _ in range(2):  # the second from the cache
            self.assertEqual([200, 200], [self.server.balance(each).status for each in bearers])

        self.assertEqual({"client_id": app.id, "suspended": True}, self.run_ok("app", "suspend", "--client-id", app.id))
        self.eventually(lambda: self.server.balance(bearers[0]).status == 401)
        for response in (app.refresh(tokens["refresh_token"]), app.exchange(code)):
            self.assertEqual((400, "unauthorized_client"), (response.status, response.json()["error"]))
        page = app.consent_page(visitor)
        self.assertEqual(400, page.status)
        self.assertIn("Application suspended", page.text)
        self.assertIn("Anwendung gesperrt", visitor.get(app.authorization_url().replace("/en/", "/de/")).text)
        self.assertEqual(200, self.server.balance(bearers[1]).status)

        self.assertEqual({"client_id": app.id, "suspended": False}, self.run_ok("app", "resume", "--client-id", app.id))
        self.assertEqual(401, self.server.balance(bearers[0]).status)
        self.assertEqual(200, app.refresh(tokens["refresh_token"]).status)
        self.assertEqual(200, app.exchange(code).status)
        self.assertEqual(["application_resumed", "application_suspended"],
                         [each["what"] for each in self.run_ok("audit", "list", "--user", 1)["activities"]
                          if each["what"].startswith("application_") and each["what"] != "application_registered"])
        for command in ("suspend", "resume", "grants", "new-secret"):
            self.assert_fails("app", command, "--client-id", "tgi_nobody", mentions="tgi_nobody")

    def test_a_new_secret_leaves_the_previous_one_valid(self):
        app = Application(self.server, 1)
        token = app.tokens(signed_in(self.server))["refresh_token"]
        secrets = [app.secret]
        for _ in range(2):
            result = run_command("app", "new-secret", "--client-id", app.id, *self.server.store_flags)
            self.assertEqual((0, ""), (result.returncode, result.stderr))
            created = json.loads(result.stdout)
            self.assertEqual(["client_id", "client_secret"], list(created))
            secrets.append(created["client_secret"])
        self.assertEqual([401, 200, 200], [app.refresh(token, secret=each).status for each in secrets])
        public = self.run_ok("app", "register", "--user", 1, "--name", "P", "--website", "https://app.example", "--public")["client_id"]
        self.assert_fails("app", "new-secret", "--client-id", public, mentions="public client")

    def test_grants_are_listed_by_user_and_revoked(self):
        app = Application(self.server, 1)
        users = [self.server.add_user(f"user{n}") for n in range(3)]
        tokens = [app.tokens(signed_in(self.server, f"user{n}", "a password")) for n in range(3)]
        bearers = ["Bearer " + each["access_token"] for each in tokens]
        self.assertEqual(200, self.server.balance(bearers[1]).status)
        listed = self.run_ok("app", "grants", "--client-id", app.id)
        self.assertEqual(["grants"], list(listed))
        self.assertEqual(users, [each["user"] for each in listed["grants"]])
        self.assertEqual(["user", "scopes", "created_at", "last_used_at"], list(listed["grants"][0]))
        self.assertEqual("user:balance", listed["grants"][0]["scopes"])
        page = self.run_ok("app", "grants", "--client-id", app.id, "--limit", 2)
        self.assertEqual((users[:2], users[2]), ([each["user"] for each in page["grants"]], page["next"]))

        self.assertEqual({"client_id": app.id, "user": users[1]},
                         self.run_ok("app", "revoke-grant", "--client-id", app.id, "--user", users[1]))
        self.eventually(lambda: self.server.balance(bearers[1]).status == 401)
        self.assertEqual(200, self.server.balance(bearers[0]).status)
        self.assertEqual("invalid_grant", app.refresh(tokens[1]["refresh_token"]).json()["error"])
        self.assert_fails("app", "revoke-grant", "--client-id", app.id, "--user", users[1], mentions=str(users[1]))
        self.assertEqual([users[0], users[2]], [each["user"] for each in self.run_ok("app", "grants", "--client-id", app.id)["grants"]])
        self.assertEqual("access_revoked", self.run_ok("audit", "list", "--user", users[1])["activities"][0]["what"])


class Users(Operator):
    def test_a_list_has_pages(self):
        ids = [1] + [self.server.add_user(f"user{n}", balance="-3.50", currency="USD") for n in range(3)]
        self.run_ok("user", "quota", "--user", ids[1], "--per-day", 7)
        listed = self.run_ok("user", "list")
        self.assertEqual(["users"], list(listed))
        self.assertEqual(ids, [each["id"] for each in listed["users"]])
        self.assertEqual({"id": ids[1], "login": "user0", "disabled": False, "currency": "USD", "balance": "-3.50",
                          "per_day": 7}, listed["users"][1])
        self.assertIsNone(listed["users"][0]["per_day"])
        # The same flag has two names, in each command of a user.
        self.assertEqual({"id": ids[1], "per_day": None}, self.run_ok("user", "quota", "--id", ids[1], "--per-day", "default"))
        self.assertIsNone(self.run_ok("user", "list")["users"][1]["per_day"])
        for command in ("disable", "enable", "sign-out"):
            self.assertEqual({"id": ids[1]}, self.run_ok("user", command, "--user", ids[1]))
        page = self.run_ok("user", "list", "--limit", 3)
        self.assertEqual((ids[:3], ids[3]), ([each["id"] for each in page["users"]], page["next"]))
        page = self.run_ok("user", "list", "--limit", 3, "--first", page["next"])
        self.assertEqual((["users"], [ids[3]]), (list(page), [each["id"] for each in page["users"]]))

    def test_a_disabled_user_loses_access_at_once_until_enabled(self):
        user = self.server.add_user("ann")
        token, _ = self.server.add_token(user)
        app = Application(self.server, 1)
        visitor = signed_in(self.server, "ann", "a password")
        granted = app.tokens(visitor)
        bearer = "Bearer " + granted["access_token"]
        for _ in range(2):  # the second from the cache
            self.assertEqual([200, 200], [self.server.balance(each).status for each in (token, bearer)])
        self.assert_signed_in(visitor, True)

        self.assertEqual({"id": user}, self.run_ok("user", "disable", "--id", user))
        self.eventually(lambda: [401, 401] == [self.server.balance(each).status for each in (token, bearer)])
        self.assert_signed_in(visitor, False)
        self.assert_signed_in(self.try_sign_in("ann", "a password"), False)
        self.assertTrue(self.run_ok("user", "list", "--first", user)["users"][0]["disabled"])
        self.assert_fails("token", "create", "--user", user, "--description", "x", "--scopes", "user:balance",
                          mentions="disabled")
        self.assertEqual(200, self.server.balance(self.server.demo_token).status, "others are served")

        self.run_ok("user", "enable", "--id", user)
        self.eventually(lambda: [200, 200] == [self.server.balance(each).status for each in (token, bearer)])
        self.assert_signed_in(visitor, False)
        self.assert_signed_in(signed_in(self.server, "ann", "a password"), True)

    def test_a_session_is_invalid_while_its_user_is_disabled(self):
        user = self.server.add_user("ann")
        visitor = signed_in(self.server, "ann", "a password")
        execute(self.server.store_flags, f"UPDATE directory_users SET disabled = {'true' if on_postgres else 1} WHERE id = {user}")
        self.eventually(lambda: visitor.get(TOKENS, follow=False).status == 303)

    def test_a_new_password_ends_sessions(self):
        user = self.server.add_user("ann")
        visitor = signed_in(self.server, "ann", "a password")
        words = ("user", "password", "--id", user)
        self.assertEqual(2, run_command(*words, *self.server.store_flags, stdin="another one\n").returncode)
        result = run_command(*words, "--password-stdin", *self.server.store_flags, stdin="short\n")
        self.assertEqual(2, result.returncode)
        self.assert_signed_in(visitor, True)
        self.assertEqual({"id": user}, self.run_ok(*words, "--password-stdin", stdin="another one\n"))
        self.assert_signed_in(visitor, False)
        self.assert_signed_in(signed_in(self.server, "ann", "another one"), True)
        self.assert_signed_in(self.try_sign_in("ann", "a password"), False)

    def test_sign_out_keeps_tokens(self):
        user = self.server.add_user("ann")
        token, _ = self.server.add_token(user)
        visitors = [signed_in(self.server, "ann", "a password") for _ in range(2)]
        other = signed_in(self.server)
        self.assertEqual({"id": user}, self.run_ok("user", "sign-out", "--id", user))
        for each in visitors:
            self.assert_signed_in(each, False)
        self.assert_signed_in(other, True)
        self.assertEqual(200, self.server.balance(token).status)

    def test_the_applications_of_a_disabled_user_stop_at_once_until_enabled(self):
        owner = self.server.add_user("owner")
        app, suspended = Application(self.server, owner), Application(self.server, owner, "Suspended")
        visitor = signed_in(self.server)
        tokens, code = app.tokens(visitor), app.code(visitor)
        bearer = "Bearer " + tokens["access_token"]
        for _ in range(2):  # the second from the cache
            self.assertEqual(200, self.server.balance(bearer).status)
        self.run_ok("app", "suspend", "--client-id", suspended.id)

        self.run_ok("user", "disable", "--id", owner)
        self.eventually(lambda: self.server.balance(bearer).status == 401)
        for response in (app.refresh(tokens["refresh_token"]), app.exchange(code)):
            self.assertEqual((400, "unauthorized_client"), (response.status, response.json()["error"]))
        self.assertEqual(400, app.consent_page(visitor).status)
        reasons = lambda: {each["client_id"]: each["suspended"] for each in self.run_ok("app", "list", "--user", owner)["applications"]}
        self.assertEqual({app.id: "owner_disabled", suspended.id: "operator"}, reasons())
        self.assert_fails("app", "resume", "--client-id", app.id, mentions="disabled")

        self.run_ok("user", "enable", "--id", owner)
        self.assertEqual({app.id: None, suspended.id: "operator"}, reasons())
        self.assertEqual(401, self.server.balance(bearer).status)
        self.assertEqual(200, app.refresh(tokens["refresh_token"]).status)
        self.assertEqual(200, app.exchange(code).status)

    def test_deleting_a_user_removes_everything_of_it(self):
        user = self.server.add_user("ann")
        account = self.server.add_account(user, "sitesmaker", admin=True)
        token, number = self.server.add_token(user)
        visitor = signed_in(self.server, "ann", "a password")
        own, theirs = Application(self.server, user, name="Own"), Application(self.server, 1, name="Theirs")
        bearers = ["Bearer " + app.tokens(visitor)["access_token"] for app in (own, theirs)]
        foreign = "Bearer " + own.tokens(signed_in(self.server))["access_token"]
        with Receiver() as receiver:
            hook, _ = self.server.add_hook(receiver.url(), account=account, token=token)
            self.assertEqual([200] * 4, [self.server.balance(each).status for each in (token, foreign, *bearers)])

            self.assertEqual({"id": user}, self.run_ok("user", "delete", "--id", user))
            self.eventually(lambda: [401] * 4 == [self.server.balance(each).status for each in (token, foreign, *bearers)])
            self.assert_signed_in(visitor, False)
            self.assert_fails("user", "delete", "--id", user, mentions=f"no user {user}")
            self.assert_fails("token", "revoke", "--id", number, mentions=f"no token {number}")
            self.assert_fails("app", "delete", "--client-id", own.id, mentions=own.id)
            self.assert_fails("hook", "enable", "--id", hook, mentions=f"no webhook {hook}")
            self.assert_fails("hook", "list", "--service", "sitesmaker", "--account", account, mentions="no account")
            self.assertEqual([theirs.id], [each["client_id"] for each in self.run_ok("app", "list")["applications"]])
            self.assertEqual([1], [each["id"] for each in self.run_ok("user", "list")["users"]])
        self.assertEqual(200, self.server.balance(self.server.demo_token).status)
        self.assertGreater(again := self.server.add_user("ann"), user, "an id is never reused")
        self.assertGreater(self.server.add_account(again, "sitesmaker"), account, "an account's neither")

    def test_the_accounts_of_a_user_are_bounded(self):
        user = self.server.add_user("ann")
        add = "account", "add", "--user", user, "--name", "One more", "--service"
        # 998 of the 1000 accounts at one service, and ids that no command assigned.
        ids = ("", "") if on_postgres else (", id", ", number + 1000")
        execute(self.server.store_flags, "WITH RECURSIVE numbers (number) AS (SELECT 1 UNION ALL SELECT number + 1 FROM numbers "
                                         f"WHERE number < 998) INSERT INTO directory_accounts (service, user_id, name, admin{ids[0]}) "
                                         f"SELECT 'sitesmaker', {user}, 'One of many', false{ids[1]} FROM numbers")
        for _ in range(2):
            self.run_ok(*add, "sitesmaker")
        self.assert_fails(*add, "sitesmaker", mentions=f"--user: user {user} already has 1000 accounts at sitesmaker")
        self.run_ok(*add, "itemplatform")
        token, _ = self.server.add_token(user)
        self.assertEqual(1000, len(self.server.request("GET", "/v1/sitesmaker/accounts", token=token).json()))

    def test_users_that_do_not_exist(self):
        for words in (("disable",), ("enable",), ("delete",), ("sign-out",), ("password", "--password-stdin")):
            self.assert_fails("user", words[0], "--id", 77, *words[1:], mentions="no user 77", stdin="a password\n")
        self.assert_fails("token", "list", "--user", 77, mentions="no user 77")
        self.assert_fails("app", "list", "--user", 77, mentions="no user 77")
        self.assert_fails("app", "delete", "--client-id", "tgi_x", mentions="tgi_x")
        self.assert_fails("hook", "list", "--service", "sitesmaker", "--account", 77, mentions="no account 77")
        self.assert_fails("hook", "enable", "--id", 77, mentions="no webhook 77")
        self.assert_fails("delivery", "list", "--hook", 77, mentions="no webhook 77")
        self.assert_fails("delivery", "resend", "--id", 77, mentions="no delivery 77")


class Lists(Operator):
    def test_tokens_and_applications(self):
        user = self.server.add_user("ann")
        self.assertEqual({"tokens": []}, self.run_ok("token", "list", "--user", user))
        token, number = self.server.add_token(user, "user:balance")
        self.assertEqual(200, self.server.balance(token).status)
        (listed,) = self.run_ok("token", "list", "--user", user)["tokens"]
        self.assertEqual(["id", "username", "description", "scopes", "created_at", "expires_at", "last_used_at", "last_used_from"],
                         list(listed))
        self.assertEqual((number, "e2e", "user:balance"), tuple(listed[name] for name in ("id", "description", "scopes")))
        for name in ("created_at", "last_used_at"):
            self.assertRegex(listed[name], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

        app, other = Application(self.server, user), Application(self.server, 1, redirect_url=None)
        self.assertEqual({app.id, other.id}, {each["client_id"] for each in self.run_ok("app", "list")["applications"]})
        (listed,) = self.run_ok("app", "list", "--user", user)["applications"]
        self.assertEqual((app.id, user, "Acme"), (listed["client_id"], listed["user"], listed["name"]))
        self.assertEqual(("confidential", ["https://app.example/back"], 0), (listed["type"], listed["redirect_urls"], listed["users"]))
        bearer = "Bearer " + app.tokens(signed_in(self.server))["access_token"]
        self.assertEqual(200, self.server.balance(bearer).status)
        self.assertEqual({"client_id": app.id}, self.run_ok("app", "delete", "--client-id", app.id))
        self.eventually(lambda: self.server.balance(bearer).status == 401)
        self.assertEqual({"applications": []}, self.run_ok("app", "list", "--user", user))

    def test_hooks_and_deliveries(self):
        account = self.server.demo["sitesmaker_account"]
        def handle(request, connection):
            connection.sendall(empty_response(410 if len(receiver.requests) == 1 else 204))

        with Receiver(handle) as receiver:
            hook, _ = self.server.add_hook(receiver.url())
            list_hooks = ("hook", "list", "--service", "sitesmaker", "--account", account)

            def listed():
                (found,) = self.run_ok(*list_hooks)["hooks"]
                return found

            self.assertEqual((hook, "site.created", receiver.url(), "api", None),
                             tuple(listed()[name] for name in ("id", "event", "target_url", "source", "disabled_at")))
            self.assertEqual([], self.server.deliveries(hook))
            self.assertEqual(1, self.server.emit())
            self.eventually(lambda: listed()["disabled_at"] is not None)
            self.assertEqual("gone", listed()["disable_reason"])
            (first,) = self.server.deliveries(hook)
            self.assertEqual(("given_up", 1, receiver.requests[0].id), (first["state"], first["attempts"], first["webhook_id"]))
            self.assert_fails("delivery", "resend", "--id", first["id"], mentions="disabled")

            self.assertEqual({"id": hook}, self.run_ok("hook", "enable", "--id", hook))
            self.assertIsNone(listed()["disabled_at"])
            self.assertEqual({"id": first["id"]}, self.run_ok("delivery", "resend", "--id", first["id"]))
            self.assertEqual(2, len(receiver.wait(2)))
            self.assertEqual(first["webhook_id"], receiver.requests[1].id)
            self.server.emit()
            self.eventually(lambda: [each["state"] for each in self.server.deliveries(hook)] == ["delivered", "delivered"])
            self.assertEqual([self.server.deliveries(hook)[0]], self.run_ok("delivery", "list", "--hook", hook, "--limit", 1)["deliveries"])

            # As deleting a webhook with many deliveries leaves it for a while.
            execute(self.server.store_flags, f"UPDATE tollgate_hooks SET account_id = 0 WHERE id = {hook}")
            self.assert_fails("delivery", "resend", "--id", first["id"], mentions=f"no delivery {first['id']}")


class Check(Case):
    def check(self, data, *flags, code=0, store=True):
        result = run_command("check", *(flags_for(data) if store else ()), *flags)
        self.assertEqual(code, result.returncode, result)
        if code == 0:
            self.assertEqual("", result.stderr)
            report = json.loads(result.stdout)
            self.assertIs(True, report["ok"])
            return report
        self.assertEqual("", result.stdout)
        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z")
        return result.stderr

    def test_a_valid_installation(self):
        with temporary_directory() as data:
            run_command("user", "add", "--login", "ann", "--password-stdin", *flags_for(data / "d"), stdin="a password\n")
            report = self.check(data / "d")
            self.assertEqual(["ok", "certificate", "secret_keys", "store", "limits"], list(report))
            self.assertEqual((False, "memory"), (report["certificate"]["made"], report["limits"]))
            self.assertEqual(report["store"]["version"], report["store"]["newest"])
            self.assertFalse((data / "d" / "self-signed.crt").exists(), "no certificate is created")
            with Server(data=data / "d", tls=True):
                expires = self.check(data / "d")["certificate"]["expires_at"]
                days = (datetime.datetime.fromisoformat(expires[:-1]) - datetime.datetime.utcnow()).days
                self.assertIn(days, range(390, 398))
            self.assertIsNone(self.check(data / "d", "--plain")["certificate"])
            self.assertNotIn("store", self.check(data, "--store", "memory:", "--plain", store=False))

    def test_a_store_that_is_missing(self):
        with temporary_directory() as data:
            self.assertIn("store: ", self.check(data / "d", code=1))
            self.assertEqual([], list(data.iterdir()))

    def test_files_that_cannot_be_accessed_are_not_missing(self):
        """Root may read all files, so a link that leads to itself stands for missing permissions."""
        for file, flag in (("self-signed.crt", "--data"), ("tollgate.db", "--store"), ("keys", "--secret-key-file")):
            if on_postgres and flag == "--store":
                continue
            with self.subTest(file), temporary_directory() as data:
                run_command("migrate", *flags_for(data))
                (data / file).unlink(missing_ok=True)
                (data / file).symlink_to(file)
                error = self.check(data, *(["--secret-key-file", data / file] if file == "keys" else []), code=1)
                self.assertRegex(error, rf"{flag}: cannot (access|read) '{re.escape(str(data / file))}': \w+")

    def test_a_database_that_cannot_be_written(self):
        if on_postgres:
            self.skipTest("for SQLite")
        unprivileged = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []  # root may write to all files
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            (data / "tollgate.db").chmod(0o400)
            for command, message in ("check", "store: the database cannot be written: "), ("serve", "--store: cannot write to "):
                result = run_command(command, *flags_for(data), "--plain", prefix=unprivileged)
                self.assertEqual(1, result.returncode, result)
                self.assertRegex(result.stderr, f"^tollgate-server: {message}.*this process may not write to the file")

    def test_a_directory_that_cannot_be_written(self):
        if on_postgres:
            self.skipTest("for SQLite")
        unprivileged = ["setpriv", "--bounding-set=-dac_override"] if os.geteuid() == 0 else []  # root may write to all directories
        for has_store in (False, True):
            with self.subTest(has_store=has_store), temporary_directory() as data:
                if has_store:
                    run_command("migrate", *flags_for(data))
                data.chmod(0o500)
                result = run_command("serve", *flags_for(data), "--plain", prefix=unprivileged)
                data.chmod(0o700)
                self.assertEqual(1, result.returncode, result)
                self.assertIn("the directory of the database cannot be written: Permission denied", result.stderr)

    def test_a_data_directory_that_others_can_access_gets_a_warning(self):
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            for mode, count in ((0o700, 0), (0o750, 1), (0o701, 1)):
                data.chmod(mode)
                result = run_command("check", *flags_for(data))
                self.assertEqual(0, result.returncode, result)
                if not on_postgres:  # which keeps nothing in it
                    self.assertEqual(count, result.stderr.count("warning: --data: other users can access"), result)

    def test_configuration(self):
        with temporary_directory() as data:
            self.assertIn("--threads", self.check(data / "d", "--threads", "0", code=2))

    def test_certificates(self):
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data / "d"))
            make_certificate(data, "a.example")
            make_certificate(data, "b.example")
            certificate, key, other = data / "a.example.crt", data / "a.example.key", data / "b.example.key"
            old = make_old_certificate(data, key)
            (data / "text").write_text("no PEM")
            locked = data / "locked.key"
            subprocess.run(["openssl", "pkey", "-in", key, "-aes128", "-passout", "pass:x", "-out", locked], check=True)
            self.check(data / "d", "--tls-cert", certificate, "--tls-key", key)
            flags = "--tls-cert", certificate, "--tls-key", key, "--tls-ticket-keys"
            (data / "tickets").write_bytes(base64.b64encode(bytes(32)) + b"\n")
            self.check(data / "d", *flags, data / "tickets")
            self.check(data / "d", "--tls-ticket-keys", data / "tickets")
            for broken in data / "text", data / "nowhere":
                self.assertIn(str(broken), self.check(data / "d", *flags, broken, code=1))
                self.assertIn(str(broken), self.check(data / "d", "--tls-ticket-keys", broken, code=1))
            for pair, mentions in (((certificate, other), "is not the key of"), ((old, key), "expired"),
                                   ((data / "text", key), "not a PEM certificate"), ((certificate, data / "text"), "not a PEM private key"),
                                   ((certificate, locked), "not a PEM private key"), ((data / "nowhere", key), "there is no file")):
                with self.subTest(mentions=mentions):
                    error = self.check(data / "d", "--tls-cert", pair[0], "--tls-key", pair[1], code=1)
                    self.assertIn("certificate: ", error)
                    self.assertIn(mentions, error)

    def test_a_server_reports_that_its_certificate_expired(self):
        with temporary_directory() as data:
            make_certificate(data, "a.example")
            certificate, key = data / "a.example.crt", data / "a.example.key"
            old = make_old_certificate(data, key)
            with Server("--tls-cert", certificate, "--tls-key", key, store="memory:", tls=True, trusted=False) as server:
                self.assertNotIn("refuse", server.errors.decode())
                certificate.write_text(old.read_text())
                server.signal(signal.SIGHUP)
                notice = f"--tls-cert: clients will refuse the certificate: '{certificate}' expired at 2020-02-01T00:00:00Z."
                self.assertIn(notice, server.log_after("will refuse"))
            with Server("--tls-cert", certificate, "--tls-key", key, store="memory:", tls=True, trusted=False) as server:
                self.assertIn(notice, server.log_after("will refuse"))

    def test_secret_keys(self):
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data / "d"))
            keys = data / "keys"
            self.assertIn("--secret-key-file: ", self.check(data / "d", "--secret-key-file", keys, code=1))
            keys.write_text("no key\n")
            keys.chmod(0o600)
            self.assertIn("--secret-key-file: ", self.check(data / "d", "--secret-key-file", keys, code=1))
            keys.write_text("0f" * 32 + "\n")
            self.assertEqual(str(keys), self.check(data / "d", "--secret-key-file", keys)["secret_keys"]["file"])

    def test_limits(self):
        with temporary_directory() as data:
            redis = Redis()
            self.addCleanup(redis.close)
            run_command("migrate", *flags_for(data))
            limits = ("--limits", redis.url)
            self.assertEqual("redis", self.check(data, *limits)["limits"])
            redis.kill()
            self.assertIn("limits: ", self.check(data, *limits, code=1))

    def test_a_store_of_a_later_release(self):
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            execute(flags_for(data), f"UPDATE tollgate_schema SET version = 99{', works_with = 99' if on_postgres else ''} "
                                     "WHERE component = 'reference_directory'")
            self.assertIn("99", self.check(data, code=1))

    def test_a_table_or_index_is_missing(self):
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            of_directory = directory_objects(flags_for(data))
        self.assertEqual(8 if on_postgres else 9, len(of_directory))
        for kind, name in (("TABLE", "tollgate_personal_tokens"), ("TABLE", "tollgate_attempts"), ("INDEX", "tollgate_hooks_by_account"),
                           *of_directory):
            with self.subTest(name), temporary_directory() as data:
                run_command("migrate", *flags_for(data))
                execute(flags_for(data), "CREATE TABLE directory_of_others (id INTEGER)")
                self.check(data)
                execute(flags_for(data), f"DROP {kind} {name}{' CASCADE' if on_postgres else ''}")
                missing = f"the table or index {name} is missing."
                self.assertIn(f"store: {missing}", self.check(data, code=1))
                for flags in ((), ("--dry-run",)):
                    migrated = run_command("migrate", *flags_for(data), *flags)
                    self.assertEqual((1, "", True), (migrated.returncode, migrated.stdout, missing in migrated.stderr), migrated)
                # Tables that are older may not have it yet.
                execute(flags_for(data), "UPDATE tollgate_schema SET version = version - 1")
                self.assertEqual(0, run_command("migrate", "--dry-run", *flags_for(data)).returncode)

    def test_a_user_who_may_not_write(self):
        if not on_postgres:
            return  # SQLite has no privileges
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            role = "reads_" + data.name.replace("-", "_").lower()
            schema = flags_for(data)[3].split("search_path=")[1]
            execute(flags_for(data), f"CREATE ROLE {role} LOGIN; GRANT USAGE ON SCHEMA {schema} TO {role}; "
                                     f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role}")
            self.addCleanup(execute, flags_for(data), f"DROP OWNED BY {role}; DROP ROLE {role}")
            store = flags_for(data)[3].replace("user=postgres", f"user={role}")
            result = run_command("check", "--plain", "--data", str(data), "--store", store)
            self.assertEqual(1, result.returncode, result)
            self.assertIn("store: this user may not read and write the table directory_accounts.", result.stderr)

    def test_a_damaged_store(self):
        if on_postgres:
            execute(flags_for("damaged"), "SELECT 1")
            run_command("migrate", *flags_for("damaged"))
            execute(flags_for("damaged"), "ALTER TABLE directory_accounts ADD CONSTRAINT odd CHECK (id > 5) NOT VALID")
            self.assertIn("odd", self.check("damaged", "--plain", code=1))
            return
        with temporary_directory() as data:
            run_command("migrate", *flags_for(data))
            execute(flags_for(data), "PRAGMA foreign_keys = OFF; INSERT INTO directory_accounts VALUES ('sitesmaker', 1, 99, 'x', 0)")
            self.assertIn("directory_accounts", self.check(data, code=1))
            execute(flags_for(data), "DELETE FROM directory_accounts")
            self.check(data)
            # An index without an entry for a row.
            execute(flags_for(data), "INSERT INTO directory_users VALUES (1, 'ann', 'x', 'EUR', '0', NULL, 0); PRAGMA writable_schema = ON;"
                                     "UPDATE sqlite_schema SET sql = replace(sql, 'login TEXT NOT NULL', 'login INTEGER NOT NULL')"
                                     " WHERE name = 'directory_users'")
            self.assertIn("damaged", self.check(data, code=1))


class Migrate(Case):
    def migrate(self, data, *flags):
        result = run_command("migrate", *flags_for(data), *flags)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        return json.loads(result.stdout)

    def test_from_an_empty_and_from_an_older_store(self):
        with temporary_directory() as data:
            planned = self.migrate(data / "d", "--dry-run")
            self.assertEqual(["from", "to", "statements", "directory"], list(planned))
            self.assertEqual(0, planned["from"])
            self.assertGreater(planned["statements"], planned["to"])
            self.assertEqual([], list(data.iterdir()), "nothing was created")
            self.assertEqual(planned, self.migrate(data / "d", "--dry-run"))
            self.assertEqual(planned, self.migrate(data / "d"))
            result = self.migrate(data / "d")
            self.assertEqual((planned["to"], planned["to"], 0), (result["from"], result["to"], result["statements"]))

            newest = result["directory"]["to"]
            newest_step = ("DROP TABLE directory_keys" if on_postgres else
                           "DROP TABLE directory_last_account; "
                           "INSERT INTO directory_users VALUES (1, 'ann', '', 'EUR', '0', NULL, 0); "
                           "INSERT INTO directory_accounts VALUES ('sitesmaker', 7, 1, 'An account', 0)")
            execute(flags_for(data / "d"), f"{newest_step}; UPDATE tollgate_schema "
                                           f"SET version = {newest - 1} WHERE component = 'reference_directory'")
            planned = self.migrate(data / "d", "--dry-run")["directory"]
            self.assertEqual((newest - 1, newest), (planned["from"], planned["to"]))
            self.assertGreater(planned["statements"], 0)
            self.assertEqual(planned, self.migrate(data / "d", "--dry-run")["directory"], "nothing was changed")
            self.assertEqual(planned, self.migrate(data / "d")["directory"])
            self.assertEqual(result, self.migrate(data / "d"))
            if not on_postgres:  # there, tables of a later release can be compatible
                set_version = "UPDATE tollgate_schema SET version = {} WHERE component = 'reference_directory'"
                execute(flags_for(data / "d"), set_version.format(99))
                refused = run_command("migrate", "--dry-run", *flags_for(data / "d"))
                self.assertEqual((1, True), (refused.returncode, "later release" in refused.stderr), refused)
                execute(flags_for(data / "d"), set_version.format(newest))
                added = run_command("account", "add", "--user", 1, "--service", "itemplatform", "--name", "Next", *flags_for(data / "d"))
                self.assertEqual('{"id": 8}\n', added.stdout, added)

    def test_an_index_that_is_missing_after_the_steps(self):
        with temporary_directory() as data:
            self.migrate(data)
            execute(flags_for(data), f"DROP TABLE {'directory_keys' if on_postgres else 'directory_last_account'}; "
                                     "DROP INDEX directory_activities_by_age; "
                                     "UPDATE tollgate_schema SET version = version - 1 WHERE component = 'reference_directory'")
            for _ in range(2):
                migrated = run_command("migrate", *flags_for(data))
                self.assertEqual((1, ""), (migrated.returncode, migrated.stdout))
                self.assertIn("the table or index directory_activities_by_age is missing.", migrated.stderr)
            execute(flags_for(data), "CREATE INDEX directory_activities_by_age ON directory_activities (at)")
            self.assertEqual(0, self.migrate(data)["directory"]["statements"])


if __name__ == "__main__":
    main()
