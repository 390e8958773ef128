#!/usr/bin/env python3
"""`token import` and `hook import`: scripts and receivers of an older system continue to work."""

import base64
import hashlib
import hmac
import json
import os
import re
import sqlite3

from harness import Case, Server, basic, main, on_postgres, run_command, temporary_directory
from receiver import Receiver

SECRET = "9f86d081884c7d659a2feaa0c55ad015"
KEY = bytes(range(24))
SIGNING_SECRET = "whsec_" + base64.b64encode(KEY).decode()


def lines(*objects):
    return "".join(json.dumps(each) + "\n" for each in objects)


class Imports(Case):
    def refused(self, server, command, text, *mentions):
        result = run_command(command, "import", "--file", "-", *server.store_flags, stdin=text)
        self.assertEqual((1, ""), (result.returncode, result.stdout))
        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z", "one line")
        for each in mentions:
            self.assertIn(each, result.stderr)
        self.assertNotIn(SECRET, result.stderr)
        self.assertNotIn(SIGNING_SECRET, result.stderr)
        return result.stderr

    def test_tokens(self):
        with Server("--accept-imported-tokens") as server, Server(data=server.data) as strict:
            user, other = server.add_user("ann", balance="12.50"), server.add_user("bob")
            text = "\n" + lines(
                {"user": user, "username": "ann-backup", "secret": SECRET, "scopes": "user:balance,sitesmaker:read",
                 "description": "nightly", "created_at": "2019-02-03T04:05:06Z"},
                {"user": other, "username": "bob", "secret_sha256": hashlib.sha256(b"bobs").hexdigest(), "scopes": "user:balance",
                 "expires_at": "2100-01-01T00:00:00Z", "description": None},
                {"user": other, "username": "gone", "secret": SECRET, "scopes": "user:balance", "created_at": "2019-01-01T00:00:00Z",
                 "expires_at": "2020-01-01T00:00:00Z"}) + "  \r\n"
            self.assertEqual({"created": 3, "unchanged": 0}, server.run("token", "import", "--file", "-", stdin=text))
            self.assertEqual({"created": 0, "unchanged": 3}, server.run("token", "import", "--file", "-", stdin=text))

            self.assert_json(server.balance(basic("ann-backup", SECRET)))
            self.assertEqual(200, server.request("GET", "/v1/sitesmaker/accounts", token=basic("ann-backup", SECRET)).status)
            self.assertEqual(403, server.request("GET", "/v1/itemplatform/accounts", token=basic("ann-backup", SECRET)).status)
            self.assert_json(server.balance(basic("bob", "bobs")))
            for credentials in (basic("gone", SECRET), basic("bob", SECRET), basic("ann-backup", SECRET[1:]), basic("carl", SECRET)):
                self.assert_error(server.balance(credentials), 401)
            # Own tokens work, too. A server without the flag accepts nothing else.
            own, _ = server.add_token(user)
            self.assert_json(server.balance(own))
            self.assert_json(strict.balance(own))
            self.assert_error(strict.balance(basic("ann-backup", SECRET)), 401)

            first, *_ = server.run("token", "list", "--user", user)["tokens"]
            self.assertEqual(("ann-backup", "nightly", "2019-02-03T04:05:06Z", None),
                             tuple(first[name] for name in ("username", "description", "created_at", "expires_at")))
            self.assertIn("nightly", [each["subject"] for each in server.run("audit", "list", "--user", user)["activities"]])
            server.run("token", "revoke", "--id", first["id"])
            self.assert_error(server.balance(basic("ann-backup", SECRET)), 401)

    def test_a_fault_in_one_line_imports_nothing(self):
        with Server() as server:
            user, disabled = server.add_user("ann"), server.add_user("bob")
            server.run("user", "disable", "--id", disabled)
            good = {"user": user, "username": "a", "secret": SECRET, "scopes": "user:balance"}
            server.run("token", "import", "--file", "-", stdin=lines({**good, "username": "taken"}))
            for change, fault in (
                ({"user": 99}, "there is no user 99"), ({"user": disabled}, f"user {disabled} is disabled"), ({"user": "1"}, "user is not an id"),
                ({"user": None}, "user is missing"), ({"username": ""}, "username must be"), ({"username": "b" * 33}, "username is longer"),
                ({"username": "b:c"}, "username must be"), ({"username": "a"}, "username is that of line 1"),
                ({"username": "taken", "secret": "another"}, "username belongs to"), ({"secret": ""}, "secret is not a text"),
                ({"secret": "x" * 256}, "secret is not a text"), ({"secret": None}, "either secret or"),
                ({"secret_sha256": "0" * 64}, "either secret or"), ({"secret": None, "secret_sha256": "0" * 63 + "g"}, "secret_sha256 is not"),
                ({"scopes": "user:everything"}, "scopes is not"), ({"scopes": ""}, "scopes is not"), ({"scopes": ["user:balance"]}, "scopes is not a string"),
                ({"created_at": "2019-02-30T00:00:00Z"}, "created_at is not a time"), ({"expires_at": 1700000000}, "expires_at is not a string"),
                ({"expires_at": "2020-01-01T00:00:00Z"}, "expires_at must be later"), ({"description": "x" * 256}, "description must be"),
                ({"expires": "2100-01-01T00:00:00Z"}, "a member is not one of user, username"),
            ):
                with self.subTest(fault):
                    self.refused(server, "token", lines(good, {"username": "b", **{k: v for k, v in good.items() if k != "username"}, **change}),
                                 "nothing was imported", "Line 2: " + fault)
            self.refused(server, "token", lines(good) + '{"user": 1, "secret": "' + SECRET + '"', "Line 2: not a JSON object")
            self.refused(server, "token", lines(good) + " " * (16 * 1024 + 1) + "\n", "line 2 is longer than 16 KiB")
            many = self.refused(server, "token", "x\n" * 12, "Line 10:", "And 2 more.")
            self.assertNotIn("Line 11:", many)
            too_many = [{**good, "username": f"b{number}"} for number in range(100)]
            self.refused(server, "token", lines(*too_many), "Line 100: user 1 would have more than 100 tokens")
            self.assertEqual(["taken"], [each["username"] for each in server.run("token", "list", "--user", user)["tokens"]])
            self.assertEqual(99, server.run("token", "import", "--file", "-", stdin=lines(*too_many[1:]))["created"])

    def test_files(self):
        with Server("--demo") as server, temporary_directory() as directory:
            (directory / "empty").write_text("\n\n")
            self.assertEqual({"created": 0, "unchanged": 0}, server.run("token", "import", "--file", directory / "empty"))
            (directory / "last").write_text(json.dumps({"user": 1, "username": "a", "secret": SECRET, "scopes": "user:balance"}))  # no line end
            self.assertEqual({"created": 1, "unchanged": 0}, server.run("token", "import", "--file", directory / "last"))
            for path in (directory / "none", directory):
                result = run_command("token", "import", "--file", path, *server.store_flags)
                self.assertEqual(1, result.returncode)
                self.assertIn(f"--file: cannot read '{path}'", result.stderr)

    def test_webhooks(self):
        with Receiver() as receiver, Server("--demo", "--allow-private-targets") as server:
            account = server.demo["sitesmaker_account"]
            hook = {"service": "sitesmaker", "account": account, "event": "site.created", "target_url": receiver.url(), "secret": SIGNING_SECRET,
                    "created_at": "2019-02-03T04:05:06Z"}
            words = ("hook", "import", "--allow-private-targets", "--file", "-")
            self.assertEqual({"created": 1, "unchanged": 0}, server.run(*words, stdin=lines(hook)))
            self.assertEqual({"created": 0, "unchanged": 1}, server.run(*words, stdin=lines(hook)))
            listed, = server.run("hook", "list", "--service", "sitesmaker", "--account", account)["hooks"]
            self.assertEqual((receiver.url(), "manual", "2019-02-03T04:05:06Z"), tuple(listed[name] for name in ("target_url", "source", "created_at")))
            self.assertEqual(1, server.emit({"site": 7}))
            request, = receiver.wait(1)
            signed = f"{request.id}.{request.fields['webhook-timestamp']}.".encode() + request.body
            expected = base64.b64encode(hmac.digest(KEY, signed, "sha256")).decode()
            self.assertEqual("v1," + expected, request.fields["webhook-signature"])

            good = {**hook, "target_url": "https://hooks.example/in"}
            for change, fault in (
                ({"service": "other"}, "service is not"), ({"event": "site.eaten"}, "event is not"), ({"account": 99}, "there is no such account"),
                ({"account": "1"}, "account is not an id"), ({"target_url": receiver.url()}, "target_url must"), ({"secret": "hunter2"}, "secret is not whsec_"),
                ({"secret": None}, "secret is missing"), ({"created_at": "yesterday"}, "created_at is not a time"), ({"url": "x"}, "a member is not one of service"),
            ):
                with self.subTest(fault):
                    self.refused(server, "hook", lines(good, {**good, **change}), "nothing was imported", "Line 2: " + fault)
            self.assertEqual(1, len(server.run("hook", "list", "--service", "sitesmaker", "--account", account)["hooks"]))

            # The store's bound, 20 for each event, is found only when the lines are stored. A second run after the cause is gone continues.
            many = [{**good, "target_url": f"https://hooks.example/{number}"} for number in range(20)]
            self.refused(server, "hook", lines(*many), "line 20: ", "19 lines before it were imported")
            self.assertEqual({"created": 0, "unchanged": 19}, server.run("hook", "import", "--file", "-", stdin=lines(*many[:19])))

    def test_webhook_secrets_are_encrypted(self):
        with temporary_directory() as data, temporary_directory() as keys:
            (keys / "keys").write_text(os.urandom(32).hex() + "\n")
            os.chmod(keys / "keys", 0o600)
            key_flags = ("--secret-key-file", keys / "keys")
            with Receiver() as receiver, Server("--demo", "--allow-private-targets", *key_flags, data=data) as server:
                hook = {"service": "sitesmaker", "account": server.demo["sitesmaker_account"], "event": "site.created",
                        "target_url": receiver.url(), "secret": SIGNING_SECRET}
                server.run("hook", "import", "--allow-private-targets", *key_flags, "--file", "-", stdin=lines(hook))
                if not on_postgres:
                    with sqlite3.connect(data / "tollgate.db") as database:
                        stored = [row[0] for row in database.execute("SELECT secret FROM tollgate_hooks")]
                    self.assertTrue(stored and all(re.match(r"aes256gcm\.", each) for each in stored), stored)
                server.emit()
                self.assertEqual(1, len(receiver.wait(1)))


if __name__ == "__main__":
    main()
