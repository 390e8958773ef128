#!/usr/bin/env python3
"""export and import: every record of one store in another, on SQLite and PostgreSQL; docs/export.md describes the file."""

import contextlib
import copy
import json
import os
import re
import sqlite3
import stat
import subprocess
import threading
import unittest

import harness
from application import LOOPBACK, TOKEN, Application, PublicClient, call
from harness import DEADLINE_SECONDS, HIGH_LIMITS, ROOT, Case, Database, Server, main, run_command, temporary_directory
from pages_test import form_in
from receiver import OK, Receiver, empty_response
from visitor import signed_in
from webhooks_test import signature_of, write_keys

KEY, OTHER_KEY = "a" * 64, "b" * 64
DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
WEBHOOKS = "/en/user/settings/webhooks/"


def serve(data, store, *flags):
    return Server(*HIGH_LIMITS, "--allow-private-targets", "--webhook-retry", "5h,5h", "--dynamic-registration", "open", *flags, data=data, store=store)


def lines_of(file):
    """The objects of a file, without the first line, which has the time."""
    return [json.loads(line) for line in file.read_text().splitlines()][1:]


class Source:
    """A store on SQLite in which every type of record occurs, and what its users know. The server has ended."""

    def __init__(self, directory):
        self.directory = directory
        self.data = directory / "source"
        self.keys = write_keys(directory / "keys", KEY)
        self.store = f"sqlite:{self.data}/tollgate.db"
        self.status = 503
        self.failing = Receiver(lambda request, connection: connection.sendall(empty_response(self.status)))
        self.receiver = Receiver()
        with serve(self.data, self.store, "--demo", *self.keys) as server:
            self.demo = server.demo
            self.fill_users(server)
            self.fill_applications(server)
            self.fill_webhooks(server)
            self.file = directory / "beside a server"
            self.export(self.file)

    def close(self):
        self.failing.__exit__(None, None, None)
        self.receiver.__exit__(None, None, None)

    def fill_users(self, server):
        self.token = server.demo_token
        self.visitor = signed_in(server)
        self.ann = server.add_user("ann", balance="-12.50")
        server.run("user", "quota", "--user", self.ann, "--per-day", 5000)
        self.anns_token, _ = server.add_token(self.ann)
        assert server.balance(self.anns_token).status == 200
        disabled = server.add_user("disabled")
        server.run("user", "disable", "--id", disabled)
        self.last_user = server.add_user("gone")
        server.run("user", "delete", "--id", self.last_user)

    def fill_applications(self, server):
        self.app = Application(server, self.ann, "Ünïcode \"& Co\"")
        self.app_tokens = self.app.tokens(self.visitor)
        self.code = self.app.code(self.visitor)
        self.second_secret = server.run("app", "new-secret", "--client-id", self.app.id)["client_secret"]
        self.public = PublicClient(server, 1)
        first = self.public.tokens(self.visitor)
        self.rotated = self.public.refresh(first["refresh_token"]).json()
        self.device_codes = [self.public.post("/user/oauth_device/", {"scope": "user:balance"}).json() for _ in range(2)]
        page = self.visitor.submit(self.visitor.get("/en/user/device/").form_with("user_code"),
                                   {"user_code": self.device_codes[0]["user_code"]})
        assert "Device authorized" in self.visitor.submit(page.form_with("decision"), button=("decision", "allow")).text
        self.registered = server.request("POST", "/user/oauth_register/", {"Content-Type": "application/json"}, json.dumps(
            {"redirect_uris": [LOOPBACK], "token_endpoint_auth_method": "none", "scope": "user:balance"}).encode()).json()
        self.agent = copy.copy(self.public)
        self.agent.id = self.registered["client_id"]
        bound = {"scope": None, "resource": server.ready["api"], "redirect_uri": LOOPBACK, **self.public.pkce}
        self.agents_tokens = self.agent.exchange(self.agent.code(self.visitor, **bound), redirect_uri=LOOPBACK,
                                                 code_verifier=self.public.verifier).json()
        self.agent.code(self.visitor, **bound)
        suspended = Application(server, self.ann, "Suspended", redirect_url=None)
        server.run("app", "suspend", "--client-id", suspended.id)

    def fill_webhooks(self, server):
        self.hook, self.old_secret = server.add_hook(self.receiver.url())
        server.emit({"name": "Ünïcode \\ \" \n", "n": 10000000000000000.5})
        self.receiver.wait(1)
        page = self.visitor.get(WEBHOOKS)
        renewed = self.visitor.submit(form_in(page, self.receiver.url(), action="new_secret"))
        self.secret, = [each for each in renewed.readonly_values() if each.startswith("whsec_")]
        self.waiting_hook, _ = server.add_hook(self.failing.url("/waiting"), event="site.deleted")
        server.emit(1, event="site.deleted")
        self.held_hook, _ = server.add_hook(self.failing.url("/gone"), event="site.published")
        for number in range(2):
            server.emit(number, event="site.published")
        self.failing.wait(3)
        self.wait_for(server, self.waiting_hook, ["waiting"], 1)
        self.wait_for(server, self.held_hook, ["waiting"] * 2, 1)
        self.status = 410
        server.run("delivery", "resend", "--id", server.deliveries(self.held_hook)[0]["id"])
        self.wait_for(server, self.held_hook, ["given_up", "held"], 1)
        self.status = 503
        deleted, _ = server.add_hook(self.receiver.url(), event="item.created")
        assert server.request("DELETE", f"/v1/itemplatform/hooks/{deleted}",
                              token=self.token).status == 204
        self.last_hook = deleted

    @staticmethod
    def wait_for(server, hook, states, attempts):
        Case().eventually(lambda: [(each["state"], each["attempts"]) for each in server.deliveries(hook)] ==
                          [(state, attempts) for state in states])

    def export(self, file, store=None, keys=None):
        """Exports this store, or another one. Returns the lines."""
        result = run_command("export", "--to", file, "--store", store or self.store, *(keys or self.keys))
        assert (result.returncode, result.stderr) == (0, ""), result
        lines = lines_of(file)
        assert json.loads(result.stdout) == {"records": len(lines) - 1}, result
        return lines

    def secrets(self):
        """Everything that a reader of the file must not see."""
        return [self.demo["password"], self.demo["token_secret"], "a password", self.app.secret, self.second_secret, self.code, KEY,
                self.agents_tokens["access_token"], self.registered["registration_access_token"],
                self.secret[6:], self.old_secret[6:], self.app_tokens["access_token"], self.app_tokens["refresh_token"],
                self.rotated["refresh_token"], *(each["device_code"] for each in self.device_codes), *self.visitor.cookies.values()]


def setUpModule():
    """One source for all tests."""
    ExportCase.directory = unittest.enterModuleContext(temporary_directory())
    ExportCase.database = Database.shared()
    ExportCase.source = Source(ExportCase.directory)
    unittest.addModuleCleanup(ExportCase.source.close)
    ExportCase.file = ExportCase.directory / "file"
    ExportCase.lines = ExportCase.source.export(ExportCase.file)
    ExportCase.keys = ExportCase.source.keys


class ExportCase(Case):
    stores = 0

    def new_store(self, kind):
        """An empty store."""
        ExportCase.stores += 1
        name = self.directory / f"store{self.stores}"
        store = f"sqlite:{name}.db" if kind == "sqlite" else self.database.store(name)
        self.assertEqual(0, run_command("migrate", "--store", store).returncode)
        return store

    def import_into(self, store, file=None, keys=None):
        return run_command("import", "--from", file or self.file, "--store", store, *(self.keys if keys is None else keys))

    def filled_store(self, kind, file=None):
        store = self.new_store(kind)
        result = self.import_into(store, file)
        self.assertEqual((0, ""), (result.returncode, result.stderr))
        return store

    def assert_refused(self, result, code, *mentions):
        self.assertEqual((code, ""), (result.returncode, result.stdout), result)
        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z", "one line")
        for each in mentions:
            self.assertIn(each, result.stderr)
        for each in self.source.secrets():
            self.assertNotIn(each, result.stderr)


class RoundTrips(ExportCase):
    def test_every_type_occurs_and_no_secret(self):
        counts = {}
        for line in self.lines:
            counts[line["type"]] = counts.get(line["type"], 0) + 1
        self.assertEqual({"user": 3, "account": 2, "hook": 3, "hook_secret": 1, "personal_token": 2, "application": 4, "grant": 3,
                          "refresh_token": 3, "access_token": 4, "code": 6, "device_code": 2, "session": 1, "event": 4,
                          "delivery": 4, "attempt": 5, "activity": counts["activity"], "end": 1}, counts)
        states = {each["state"] for each in self.lines if each["type"] == "delivery"}
        self.assertEqual({"waiting", "delivered", "given_up", "held"}, states)
        text = self.file.read_text()
        for each in self.source.secrets():
            self.assertNotIn(each, text)
        self.assertEqual({"type": "header", "format": "tollgate-records", "version": 1},
                         {name: value for name, value in json.loads(text.partition("\n")[0]).items() if name != "created_at"})
        self.assertEqual((self.source.last_user, self.source.last_hook),
                         tuple(self.lines[-1]["last_ids"][each] for each in ("user", "hook")))
        self.assertEqual(lines_of(self.source.file), self.lines, "the file that was written while the server ran")

    def test_the_document_lists_the_members_in_order(self):
        rows = re.findall(r"^\| `([a-z_]+)`[^|]*\| (`id`.*|`[a-z]+_digest`.*) \|$", (ROOT / "docs" / "export.md").read_text(), re.MULTILINE)
        listed = {name: ["type", *re.findall(r"`([a-z_]+)`", members)] for name, members in rows}
        self.assertEqual({each["type"]: list(each) for each in self.lines if each["type"] != "end"}, listed)
        self.assertEqual([], [each["type"] for each in self.lines[:-1] if list(each) != listed[each["type"]]])
        self.assertEqual([each for each in listed if listed[each][1] == "id"], list(self.lines[-1]["last_ids"]))

    def test_the_other_database_has_equal_records(self):
        on_postgres = self.filled_store("postgres")
        second = self.source.export(self.directory / "second", on_postgres)
        self.assertEqual(self.lines, second)
        content = re.search(r"^content\(\) .*$", (ROOT / "docs" / "deployment.md").read_text(), re.MULTILINE)[0]
        script = f"{content}\nfor file; do content \"$file\" | sha256sum; done"
        printed = subprocess.run(["bash", "-c", script, "", self.file, self.directory / "second"], capture_output=True, check=True).stdout
        first, other = printed.splitlines()
        self.assertEqual(first, other, "as deployment.md compares them")
        back = self.filled_store("sqlite", self.directory / "second")
        third = self.source.export(self.directory / "third", back)
        self.assertEqual(self.lines, third)

    def test_a_store_of_the_same_kind_is_equal(self):
        for kind, first in (("sqlite", self.source.store), ("postgres", self.filled_store("postgres"))):
            with self.subTest(kind=kind):
                file, again = self.directory / f"first {kind}", self.directory / f"again {kind}"
                lines = self.source.export(file, first)
                copy = self.filled_store(kind, file)
                self.assertEqual(lines, self.source.export(again, copy))
                self.assertEqual(file.read_text().split("\n", 1)[1], again.read_text().split("\n", 1)[1], "byte by byte")
                self.assertEqual(self.content(kind, first), self.content(kind, copy), "every column of every table")

    def content(self, kind, store):
        """All rows by table, without the columns and tables that other columns determine."""
        if kind == "postgres":
            names = self.database.query(store, "SELECT table_name, string_agg(quote_ident(column_name), ',' ORDER BY column_name) "
                                        "FROM information_schema.columns WHERE table_schema = current_schema() "
                                        "AND column_name NOT IN ('host_id', 'ready_at') GROUP BY 1")
            tables = dict(line.split("|") for line in names.splitlines())
            tables["tollgate_hosts"] = "name"
            del tables["directory_keys"]
            return {table: sorted(self.database.query(store, f"SELECT {columns} FROM {table}").splitlines())
                    for table, columns in tables.items()}
        with contextlib.closing(sqlite3.connect(store.removeprefix("sqlite:"))) as database:
            tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' "
                                                         "AND name NOT IN ('directory_keys', 'sqlite_stat1')")]
            columns = {table: [row[1] for row in database.execute(f"PRAGMA table_info({table})") if row[1] not in ("host", "ready_at")]
                       for table in tables}
            return {table: sorted(map(repr, database.execute(f"SELECT {','.join(map(self.quote, columns[table]))} FROM {table}")))
                    for table in tables}

    @staticmethod
    def quote(name):
        return f'"{name}"'

    def test_everything_works_on_the_other_database(self):
        store = self.filled_store("postgres")
        self.assertEqual("", run_command("check", "--store", store, *self.keys).stderr)
        self.check_everything(store)

    def test_everything_works_after_a_way_over_postgres(self):
        file = self.directory / "over postgres"
        self.source.export(file, self.filled_store("postgres"))
        store = self.filled_store("sqlite", file)
        self.assertEqual("", run_command("check", "--store", store, *self.keys).stderr)
        self.check_everything(store)

    def check_everything(self, store):
        """What users, applications and receivers have still works, and new ids were never used before."""
        source, receiver = self.source, self.source.receiver
        received = len(receiver.requests)
        with temporary_directory() as data, serve(data, store, *self.keys) as server:
            self.assertEqual(200, server.balance(source.token).status)
            self.assertEqual(-12.5, server.balance(source.anns_token).json()["balance"])
            source.visitor.server, source.visitor.site = server, server.ready["auth"]
            self.assertEqual(200, source.visitor.get(WEBHOOKS, follow=False).status, "still signed in")
            signed_in(server, "ANN", "a password")
            self.check_applications(server)

            hook = next(each for each in server.run("hook", "list", "--service", "sitesmaker", "--account",
                                                    source.demo["sitesmaker_account"])["hooks"] if each["id"] == source.hook)
            self.assertIsNone(hook["disabled_at"])
            self.assertEqual(1, server.run("event", "emit", "--service", "sitesmaker", "--account", source.demo["sitesmaker_account"],
                                           "--event", "site.created", "--payload", "1")["deliveries"])
            request = receiver.wait(received + 1)[received]
            self.assertEqual({signature_of(secret, request) for secret in (source.secret, source.old_secret)},
                             set(request.fields["webhook-signature"].split(" ")))
            waiting, = server.deliveries(source.waiting_hook)
            before = len(source.failing.requests)
            server.run("delivery", "resend", "--id", waiting["id"])
            self.assertEqual(waiting["webhook_id"], source.failing.wait(before + 1)[before].id)
            self.assertEqual(["given_up", "held"], [each["state"] for each in server.deliveries(source.held_hook)])
            server.run("hook", "enable", "--id", source.held_hook)
            self.assertIn("/gone", source.failing.wait(before + 2)[before + 1].line)

            self.assertEqual(source.last_user + 1, server.add_user("new"))
            new_hook = server.request("POST", f"/v1/sitesmaker/{source.demo['sitesmaker_account']}/hooks", token=source.token,
                                      body={"event": "site.created", "target_url": receiver.url("/new")})
            self.assertEqual(source.last_hook + 1, new_hook.json()["id"])
            self.assertEqual(max(source.demo["sitesmaker_account"], source.demo["itemplatform_account"]) + 1,
                             server.add_account(source.ann, "sitesmaker"))

    def check_applications(self, server):
        source = self.source
        source.app.server = source.public.server = source.agent.server = server
        read = server.request("GET", f"/user/oauth_register/?client_id={source.agent.id}",
                              token="Bearer " + source.registered["registration_access_token"])
        self.assertEqual((200, "user:balance"), (read.status, read.json().get("scope")), read)
        self.assertEqual(200, source.agent.refresh(source.agents_tokens["refresh_token"]).status)
        self.assertEqual(200, call(server, source.app_tokens["access_token"]).status)
        self.assertEqual(200, source.app.refresh(source.app_tokens["refresh_token"]).status)
        self.assertEqual(200, source.app.refresh(source.app_tokens["refresh_token"], secret=source.second_secret).status)
        again = source.public.refresh(source.rotated["refresh_token"])
        self.assertEqual(200, again.status)
        allowed = source.public.post(TOKEN, {"grant_type": DEVICE_GRANT, "device_code": source.device_codes[0]["device_code"]})
        self.assertEqual(200, allowed.status, allowed)
        pending = source.public.post(TOKEN, {"grant_type": DEVICE_GRANT, "device_code": source.device_codes[1]["device_code"]})
        self.assertEqual("authorization_pending", pending.json()["error"])

    def test_deliveries_that_wait_are_sent_when_they_are_due(self):
        lines = [json.loads(line) for line in self.file.read_text().splitlines()]
        waiting, = [each for each in lines if each["type"] == "delivery" and each["hook"] == self.source.waiting_hook]
        waiting["at"] = 0
        due = self.directory / "due"
        due.write_text("".join(json.dumps(each) + "\n" for each in lines))
        for kind in ("sqlite", "postgres"):
            before = len(self.source.failing.requests)
            with self.subTest(kind=kind), temporary_directory() as data, serve(data, self.filled_store(kind, due), *self.keys):
                self.assertIn("/waiting", self.source.failing.wait(before + 1)[before].line)

    def test_what_belongs_to_a_deleted_webhook_is_left_out(self):
        for kind in ("sqlite", "postgres"):
            with self.subTest(kind=kind):
                store = self.filled_store(kind)
                self.execute(store, "UPDATE tollgate_hooks SET account_id = 0, secret = '', secret_digest = NULL "
                                    f"WHERE id = {self.source.hook}")
                left = self.source.export(self.directory / f"deleted {kind}", store)
                without = {"hook": self.source.hook, "delivery": 1, "event": 1, "hook_secret": 1, "attempt": 1}
                expected = [each for each in self.lines[:-1] if without.get(each["type"], 0) != each.get("id")]
                self.assertEqual(expected, left[:-1])
                self.filled_store(kind, self.directory / f"deleted {kind}")

    def test_what_belongs_to_a_missing_user_is_left_out(self):
        for kind in ("sqlite", "postgres"):
            with self.subTest(kind=kind):
                store = self.filled_store(kind)
                self.execute(store, "UPDATE tollgate_sessions SET user_id = 99")
                file = self.directory / f"orphan {kind}"
                left = self.source.export(file, store)
                self.assertEqual([each for each in self.lines[:-1] if each["type"] != "session"], left[:-1])
                self.filled_store(kind, file)

    def execute(self, store, statement):
        if not store.startswith("sqlite:"):
            return self.database.query(store, statement)
        with contextlib.closing(sqlite3.connect(store.removeprefix("sqlite:"))) as database:
            database.execute(statement)
            database.commit()
        return None


class Refusals(ExportCase):
    def test_the_new_file(self):
        target = self.directory / "new"
        target.mkdir()
        file = target / "file"
        self.source.export(file)
        self.assertEqual(0o600, stat.S_IMODE(file.stat().st_mode))
        before = file.read_bytes()
        dangling = target / "link"
        dangling.symlink_to(target / "elsewhere")
        for name, mentions in ((file, "exists already"), (dangling, "exists already"), (target, "exists already"),
                               (target / "missing" / "file", "cannot write")):
            with self.subTest(name=name):
                self.assert_refused(run_command("export", "--to", name, "--store", self.source.store, *self.keys), 1, mentions)
        self.assertEqual(before, file.read_bytes())
        self.assert_refused(run_command("export", "--to", target / "other", "--store", self.source.store), 2, "--secret-key-file")
        self.assertEqual({file, dangling}, set(target.iterdir()), "nothing is left behind")

    def test_stores(self):
        for command in ("export", "--to", "x"), ("import", "--from", self.file):
            self.assert_refused(run_command(*command, "--store", "memory:"), 2, "--store: 'memory:' exists only in the serving process")
        for kind in ("sqlite", "postgres"):
            with self.subTest(kind=kind):
                store = self.filled_store(kind)
                before = self.source.export(self.directory / f"before {kind}", store)
                self.assert_refused(self.import_into(store), 1, "--store: the store has users")
                self.assertEqual(before, self.source.export(self.directory / f"after {kind}", store))
                store = self.new_store(kind)
                self.assertEqual(0, run_command("user", "add", "--login", "bob", "--password-stdin", "--store", store,
                                                stdin="a password\n").returncode)
                self.assertEqual(0, run_command("user", "delete", "--id", 1, "--store", store).returncode)
                self.assert_refused(self.import_into(store), 1, "--store: the store is not empty: it has records of the type 'activity'")
                store = self.new_store(kind)
                with temporary_directory() as data, serve(data, store, *self.keys):
                    pass
                self.assertEqual(0, self.import_into(store).returncode, "a server without users has run on the store")

    def test_keys(self):
        wrong = write_keys(self.directory / "wrong", OTHER_KEY)
        both = write_keys(self.directory / "both", OTHER_KEY, KEY)
        first_hook = 2 + next(i for i, each in enumerate(self.lines) if each["type"] == "hook")
        with_other_key = self.directory / "with other key"
        for kind in ("sqlite", "postgres"):
            with self.subTest(kind=kind):
                store = self.new_store(kind)
                self.assert_refused(self.import_into(store, keys=[]), 2, "--secret-key-file")
                self.assert_refused(self.import_into(store, keys=wrong), 1, f"line {first_hook}: 'secret' is encrypted with a key")
                self.assertEqual(0, self.import_into(store, keys=both).returncode)
                new = self.directory / f"new {kind}"
                self.assert_refused(run_command("export", "--to", new, "--store", store, *self.keys), 1, "cannot read the secret of hook")
                lines = self.source.export(new, store, wrong)
                secrets = [each["secret"] for each in lines if "secret" in each]
                self.assertEqual(4, len(secrets))
                self.assertEqual(set(), set(secrets) & {each.get("secret") for each in self.lines})
                self.assertEqual(len(secrets), len({each.split(".")[1] + each for each in secrets}))
                self.assertEqual(1, len({each.split(".")[1] for each in secrets}), "all are encrypted with the first key")
        self.source.export(with_other_key, keys=both)
        self.assertEqual(0, self.import_into(self.new_store("sqlite"), with_other_key, wrong).returncode)

        no_hooks = self.new_store("sqlite")
        self.assertEqual(0, run_command("user", "add", "--login", "bob", "--password-stdin", "--store", no_hooks,
                                        stdin="a password\n").returncode)
        result = run_command("export", "--to", self.directory / "no hooks", "--store", no_hooks)
        self.assertEqual((0, {"records": 2}), (result.returncode, json.loads(result.stdout)), "without webhooks, no key is needed")
        self.assertEqual(0, self.import_into(self.new_store("postgres"), self.directory / "no hooks", []).returncode)

    def test_broken_files(self):
        stores = [self.new_store(kind) for kind in ("sqlite", "postgres")]
        broken = self.directory / "broken"
        lines = self.file.read_text().splitlines(keepends=True)

        def refused(content, number, mentions):
            broken.write_bytes(content.encode() if isinstance(content, str) else content)
            for store in stores:
                with self.subTest(mentions=mentions, store=store):
                    self.assert_refused(self.import_into(store, broken), 1, f"'{broken}', line {number}: ", mentions)

        def where(kind, nth=0):
            return [i for i, line in enumerate(lines) if json.loads(line)["type"] == kind][nth]

        def changed(kind, mentions, /, nth=0, number=None, **values):
            """A line with other values; Ellipsis removes a member."""
            at = where(kind, nth)
            line = {name: value for name, value in {**json.loads(lines[at]), **values}.items() if value is not ...}
            refused("".join([*lines[:at], json.dumps(line) + "\n", *lines[at + 1:]]), number or at + 1, mentions)

        def replaced(at, text, mentions, number=None):
            refused("".join([*lines[:at], text, *lines[at + 1:]]), number or at + 1, mentions)

        end = len(lines) - 1
        # The first and the last line, and where the file ends.
        refused("", 1, "cut off")
        refused("".join(lines[1:]), 1, "not the first line")
        refused(b"SQLite format 3\0\n", 1, "not a JSON object")
        changed("header", "version", version=2)
        changed("header", "first line", format="other")
        refused("".join(lines[:-1]), end + 1, "the last line is missing: the file was cut off")
        refused("".join(lines)[:-1], end + 1, "it has no end: the file was cut off")
        refused("".join(lines)[:-20], end + 1, "cut off")
        refused("".join(lines[:7]), 8, "cut off")
        refused("".join(lines) + "\n", end + 2, "behind the last line")
        refused("".join(lines) + lines[1], end + 2, "behind the last line")
        refused("".join(lines) + "x", end + 2, "cut off")
        changed("end", "it does not say", records=1)
        changed("end", "last_ids", last_ids={})
        changed("end", "last_ids", last_ids=...)
        changed("end", "a member", more=1)
        changed("end", "last_ids", last_ids={**json.loads(lines[end])["last_ids"], "user": -1})
        replaced(where("activity", -1), "", "it does not say", end)  # a line is missing

        # Lines.
        for text, mentions in (("\n", "JSON"), ("[]\n", "JSON"), ("x\n", "JSON"), ('{"type":"user"} x\n', "JSON"), ("{}\n", "no 'type'"),
                               ('{"type":1}\n', "no 'type'"), ('{"type":"user","type":"user"}\n', "JSON"),
                               ('{"type":"user","id":1e999}\n', "JSON"), ('{"type":"x"}\n', "its type"),
                               ('{"type":"header"}\n', "its type"), ('{"a":"' + "x" * (1 << 20) + '"}\n', "longer than 1048576 bytes")):
            replaced(1, text, mentions)
        refused("".join(lines[:1]).encode() + b'{"type":"\xff"}\n', 2, "JSON")

        # Members.
        changed("user", "'login' is missing", login=...)
        changed("user", "a member that is not one of its type", more=1)
        for name, values in {"id": (0, -1, "1", 1.0, 1 << 63, None), "login": ("", 1, None, "a\0b"), "balance": ("x", 12.5),
                             "currency": ("EURO",), "requests_per_day": (-1, "1"), "disabled": (0, None)}.items():
            for value in values:
                changed("user", f"'{name}' ", **{name: value})
        for name, value in {"secret_digest": "0" * 62, "scopes": "a\"b", "username": "", "created_at": "2026-11-28T00:00:00Z"}.items():
            changed("personal_token", f"'{name}' ", **{name: value})
        changed("personal_token", "'secret_digest' ", secret_digest="A" * 64)
        changed("application", "'redirect_urls' ", redirect_urls="https://app.example/back")
        changed("application", "'redirect_urls' ", redirect_urls=["https://app.example/back\nhttps://other.example/"])
        changed("application", "'client_type' ", client_type="other")
        changed("hook", "'disable_reason' ", disable_reason="other")
        changed("hook", "'target_url' ", target_url="x")
        changed("hook", "'secret' is not encrypted", secret=self.source.secret)
        changed("hook", "'secret' is damaged, or that of another account", secret=json.loads(lines[where("hook")])["secret"][:-4] + "AAAA")
        changed("hook", "'secret' is damaged, or that of another account", account=self.source.demo["itemplatform_account"])
        changed("delivery", "'state' ", state="0")
        changed("attempt", "'outcome' ", outcome="bad_answer")
        changed("attempt", "'response' ", response="abc")
        changed("activity", "'kind' ", kind="other")

        # Records that are twice in the file, or refer to records that are not in it.
        changed("user", "its id is not above", nth=1, id=1)
        changed("user", "the store refuses the record", nth=1, login=self.source.demo["login"].upper())
        changed("access_token", "the store refuses the record", nth=1,
                token_digest=json.loads(lines[where("access_token")])["token_digest"])
        for kind, name in (("account", "user"), ("personal_token", "user"), ("session", "user"), ("application", "owner"),
                           ("grant", "user"), ("grant", "application"), ("refresh_token", "grant"), ("code", "grant"),
                           ("access_token", "user"), ("access_token", "application"), ("device_code", "application"),
                           ("hook_secret", "hook"), ("event", "account"), ("delivery", "hook"), ("delivery", "event"),
                           ("attempt", "delivery")):
            changed(kind, f"'{name}' refers to no such record in the lines before", nth=-1, **{name: 1000})
        changed("event", "'account' refers to no such record", service="itemplatform")
        changed("attempt", "'delivery' refers to no such record", hook=self.source.held_hook)

        for store in stores:
            self.assertEqual(0, self.import_into(store).returncode, "nothing was left in the store")

    def test_ids_above_those_of_the_records_need_not_be_used(self):
        """What `last_ids` says below the ids of the records does not count."""
        lines = [*self.file.read_text().splitlines()[:-1], json.dumps({**self.lines[-1], "last_ids": {
            name: 0 for name in self.lines[-1]["last_ids"]}})]
        low = self.directory / "low"
        low.write_text("".join(line + "\n" for line in lines))
        for kind in ("sqlite", "postgres"):
            store = self.filled_store(kind, low)
            added = run_command("user", "add", "--login", "new", "--password-stdin", "--store", store, stdin="a password\n")
            self.assertEqual({"id": max(each["id"] for each in self.lines if each["type"] == "user") + 1}, json.loads(added.stdout))


class Progress(ExportCase):
    def test_a_long_import_tells_how_far_it_is(self):
        """From a pipe that is slow."""
        pipe = self.directory / "pipe"
        os.mkfifo(pipe)
        store = self.new_store("sqlite")
        importing = subprocess.Popen([harness.program, "import", "--from", pipe, "--store", store], stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, text=True)
        told = []
        reader = threading.Thread(target=lambda: told.append(importing.stderr.readline()))
        reader.start()
        user = next(each for each in self.lines if each["type"] == "user")
        written = 0
        with open(pipe, "w") as to:
            to.write(self.file.read_text().splitlines()[0] + "\n")
            while reader.is_alive():
                written += 1
                to.write(json.dumps({**user, "id": written, "login": f"user{written}"}) + "\n")
                to.flush()
                reader.join(0.01)
            to.write(json.dumps({"type": "end", "records": written, "last_ids": {**self.lines[-1]["last_ids"], "user": written}}) + "\n")
        self.assertEqual({"records": written}, json.loads(importing.communicate(timeout=DEADLINE_SECONDS)[0]))
        self.assertRegex(told[0], r"^tollgate-server: imported \d+ records so far\.\n$")


if __name__ == "__main__":
    main()
