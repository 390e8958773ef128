#!/usr/bin/env python3
"""The audit log: operators and users can read it, its size is bounded, and a request succeeds even if its entry cannot be written."""

import contextlib
import json
import sqlite3

import harness
from application import Application
from harness import HIGH_LIMITS, Case, Server, main, on_postgres, run_command
from receiver import Receiver
from visitor import Visitor, signed_in

SETTINGS = "/en/user/settings/"


class Audit(Case):
    def setUp(self):
        self.server = Server("--demo", *HIGH_LIMITS, "--allow-private-targets")
        self.addCleanup(self.server.stop)
        self.user = self.server.add_user("ann", balance="1")

    def entries(self, user=None, limit=100):
        flags = ["--user", user] if user else []
        return self.server.run("audit", "list", "--limit", limit, *flags)["activities"]

    def activities(self, user=None):
        """Pairs of activity and subject, oldest first."""
        return [(each["what"], each["subject"]) for each in reversed(self.entries(user or self.user))]

    def execute(self, text):
        if on_postgres:
            return harness.postgres.query(self.server.store_flags[3], text)
        with contextlib.closing(sqlite3.connect(self.server.data / "tollgate.db")) as database:
            value = database.execute(text).fetchone()
            database.commit()
            return str(value[0]) if value else ""

    def test_what_a_user_does(self):
        account = self.server.add_account(self.user, "sitesmaker")
        visitor = signed_in(self.server, "ann", "a password")
        shown = visitor.submit(visitor.get(SETTINGS + "tokens/").form_with("description", "scopes"),
                               {"description": "back <b>up", "scopes": ["user:balance", "sitesmaker"]})
        secrets = [each for each in shown.readonly_values() if each.startswith("tgp_")]
        shown = visitor.submit(visitor.get(SETTINGS + "tokens/").form_with("token", action="renew"))
        secrets += [each for each in shown.readonly_values() if each.startswith("tgp_")]
        visitor.submit(visitor.get(SETTINGS + "tokens/").form_with("token", action="revoke"))
        visitor.submit(visitor.get(SETTINGS + "applications/").form_with("name", "website"),
                       {"name": "Own", "website": "https://own.example"})
        page = visitor.get(SETTINGS + "applications/")
        for form in [each for each in page.forms if each.named("application")]:
            shown = visitor.submit(form)
            secrets += [each for each in shown.readonly_values() if each.startswith("tgs_")]
        app = Application(self.server, 1, name="Theirs")
        app.tokens(visitor)
        app.tokens(visitor)  # without a consent page, since access was granted before
        visitor.submit(visitor.get(SETTINGS + "authorizations/").form_with("application"))
        token, _ = self.server.add_token(self.user)
        with Receiver() as receiver:
            hook, _ = self.server.add_hook(receiver.url(), account=account, token=token)
            self.assertEqual(204, self.server.request("DELETE", f"/v1/sitesmaker/hooks/{hook}", token=token).status)
        self.assertEqual([("user_added", "ann"), ("account_added", f"sitesmaker {account}"), ("signed_in", ""),
                          ("token_created", "back <b>up"), ("token_renewed", "back <b>up"), ("token_revoked", "back <b>up"),
                          ("application_registered", "Own"),
                          ("client_secret_replaced", "Own"), ("application_deleted", "Own"), ("access_granted", "Theirs"),
                          ("access_revoked", "Theirs"), ("token_created", "e2e"), ("hook_created", str(hook)),
                          ("hook_deleted", str(hook))], self.activities())
        self.assertEqual(3, len(secrets))
        for each in secrets:
            self.assertNotIn(each, json.dumps(self.entries()))
        self.assertEqual({"user": "127.0.0.1", "operator": None}, {each["by"]: each["client"] for each in self.entries(self.user)})
        self.assertEqual(3, len(self.entries(self.user, limit=3)))
        self.assertLess(len(self.entries(self.user)), len(self.entries()), "there are entries of other users")

        page = visitor.get(SETTINGS + "activity/")
        self.assertEqual(200, page.status)
        for text in ("Signed in", "Created the token back <b>up", "Authorized the application Theirs", "127.0.0.1",
                     "The operator of this site"):
            self.assertIn(text, page.text)
        self.assertNotIn("<b>up", page.body)
        other = signed_in(self.server).get(SETTINGS + "activity/")
        self.assertNotIn("back <b>up", other.text)
        self.assertEqual(405, visitor.post(SETTINGS + "activity/", [("form_token", page.forms[0].value("form_token"))]).status)

    def test_what_operators_do(self):
        run = self.server.run
        run("user", "quota", "--user", self.user, "--per-day", 7)
        run("user", "password", "--id", self.user, "--password-stdin", stdin="another one\n")
        run("user", "sign-out", "--id", self.user)
        run("user", "disable", "--id", self.user)
        run("user", "enable", "--id", self.user)
        _, token = self.server.add_token(self.user)
        run("token", "revoke", "--id", token)
        app = Application(self.server, self.user)
        run("app", "delete", "--client-id", app.id)
        account = self.server.add_account(self.user, "itemplatform")
        self.server.emit(1, "item.created", account)
        run("user", "delete", "--id", self.user)
        self.assertEqual([("user_added", "ann"), ("quota_set", "7"), ("password_set", ""), ("sessions_ended", ""),
                          ("user_disabled", ""), ("user_enabled", ""), ("token_created", "e2e"), ("token_revoked", "e2e"),
                          ("application_registered", "Acme"), ("application_deleted", "Acme"),
                          ("account_added", f"itemplatform {account}"), ("event_reported", "item.created"),
                          ("user_deleted", "")], self.activities(), "the entries of a deleted user are kept")
        self.assertEqual({"operator"}, {each["by"] for each in self.entries(self.user)})

    def test_a_revocation_after_reuse_is_recorded_logged_and_counted(self):
        owner = self.server.add_user("owner")
        app = Application(self.server, owner, "Theirs")
        visitor = signed_in(self.server, "ann", "a password")
        code = app.code(visitor)
        self.assertEqual(200, app.exchange(code).status)
        for _ in range(2):
            self.assertEqual(400, app.exchange(code).status)
        entries = [each for each in self.entries(self.user) if each["what"] == "access_revoked_after_reuse"]
        self.assertEqual([("application", "Theirs", "127.0.0.1")], [(each["by"], each["subject"], each["client"]) for each in entries])
        self.assertIn("Revoked the access of the application Theirs: code or refresh token used again", visitor.get(SETTINGS + "activity/").text)
        self.assertIn(f'client_id="{app.id}" oauth_error=invalid_grant', self.server.log_after("oauth_error"))

    def test_a_failed_sign_in_is_not_recorded(self):
        Visitor(self.server).sign_in("ann", "a wrong one")
        self.assertEqual([("user_added", "ann")], self.activities())

    def test_the_log_is_bounded(self):
        numbers = "generate_series(1, 1500)" if on_postgres else \
            "(WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1500) SELECT i FROM n)"
        self.execute("INSERT INTO directory_activities (kind, user_id, subject, client, at) "
                     f"SELECT 'sessions_ended', {self.user}, '', '', 4000000000000 FROM {numbers} AS n")
        self.server.run("user", "sign-out", "--id", self.user)
        count = f"SELECT count(*) FROM directory_activities WHERE user_id = {self.user} AND kind "
        self.assertEqual(("200", "1"), (self.execute(count + "= 'sessions_ended'"), self.execute(count + "= 'user_added'")))
        self.execute("INSERT INTO directory_activities (kind, user_id, subject, client, at) VALUES "
                     + ", ".join(f"('signed_in', 99, '', '', {n})" for n in range(6)))
        old_entries = "SELECT count(*) FROM directory_activities WHERE user_id = 99"
        self.server.run("user", "sign-out", "--id", self.user)
        self.assertEqual("2", self.execute(old_entries), "each new entry deletes a few old ones")
        self.server.run("user", "sign-out", "--id", self.user)
        self.assertEqual("0", self.execute(old_entries))

    def test_requests_succeed_without_the_log(self):
        self.execute("DROP TABLE directory_activities")
        visitor = signed_in(self.server, "ann", "a password")
        self.assertEqual(200, visitor.get(SETTINGS + "tokens/").status)
        self.assertIn("directory_activities", self.server.log_after("directory_activities"))
        self.assertEqual(500, visitor.get(SETTINGS + "activity/").status)

    def test_commands_succeed_without_the_log_and_warn(self):
        account = self.server.add_account(self.user, "itemplatform")
        self.execute("DROP TABLE directory_activities")
        for printed, words in (("secret", ("token", "create", "--user", self.user, "--description", "x", "--scopes", "user:balance")),
                               ("deliveries", ("event", "emit", "--service", "itemplatform", "--account", account,
                                               "--event", "item.created", "--payload", "1"))):
            result = run_command(*words, *self.server.store_flags)
            self.assertEqual(0, result.returncode, result.stderr)
            self.assertIn(printed, json.loads(result.stdout))
            self.assertRegex(result.stderr, "^tollgate-server: warning: the change was made, but the audit log cannot be written: "
                                            ".*directory_activities.*\n$")


if __name__ == "__main__":
    main()
