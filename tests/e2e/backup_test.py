#!/usr/bin/env python3
"""Backup and restore as docs/deployment.md describes them: tokens, sessions and webhooks work after the restore."""

import subprocess

from harness import HIGH_LIMITS, Case, Database, Server, main, run_command, temporary_directory
from receiver import Receiver
from visitor import signed_in
from webhooks_test import signature_of

FLAGS = ["--demo", *HIGH_LIMITS, "--allow-private-targets"]
TOKENS = "/en/user/settings/tokens/"


def run(*words):
    subprocess.run([str(word) for word in words], check=True, capture_output=True, timeout=60)


class Backup(Case):
    def check_restore(self, data, store, back_up, destroy, restore):
        with Receiver() as receiver:
            with Server(*FLAGS, data=data, store=store) as server:
                _, secret = server.add_hook(receiver.url())
                token, _ = server.add_token(server.add_user("ann", balance="12.50"))
                visitor = signed_in(server, "ann", "a password")
                back_up()
                token_after_backup, _ = server.add_token(1)
                self.assertEqual(200, server.balance(token_after_backup).status)
            destroy()
            self.assertEqual(1, run_command("check", *server.store_flags).returncode, "the store is deleted")
            restore()
            self.assertEqual("", run_command("check", *server.store_flags).stderr)

            with Server(*FLAGS, data=data, store=store) as restored:
                self.assertEqual(12.5, restored.balance(token).json()["balance"])
                self.assertEqual(200, restored.balance(server.demo_token).status)
                self.assertEqual(401, restored.balance(token_after_backup).status)
                visitor.server, visitor.site = restored, restored.ready["auth"]
                self.assertEqual(200, visitor.get(TOKENS, follow=False).status, "still signed in")
                self.assertEqual(1, restored.emit())
                (request,) = receiver.wait(1)
                self.assertEqual(signature_of(secret, request), request.fields["webhook-signature"])

    def test_sqlite(self):
        with temporary_directory() as directory:
            data, copy = directory / "data", directory / "copy.db"
            database = data / "tollgate.db"

            def destroy():
                for each in data.glob("tollgate.db*"):
                    each.unlink()

            self.check_restore(data, f"sqlite:{database}",
                               lambda: run("sqlite3", database, f".backup {copy}"), destroy,
                               lambda: run("install", "-m", "600", copy, database))

    def test_postgres(self):
        database = Database.shared()
        with temporary_directory() as directory:
            store = database.store(directory)
            schema = store.split("search_path=")[1].split()[0]
            database_flags = ["-h", database.directory, "-p", database.port, "-U", "postgres", "-d", database.name]
            dump = directory / "dump"
            self.check_restore(directory / "data", store,
                               lambda: run("pg_dump", *database_flags, "--format=custom", f"--schema={schema}", f"--file={dump}"),
                               lambda: database.psql(f"DROP SCHEMA {schema} CASCADE; CREATE SCHEMA {schema}"),
                               lambda: (database.psql(f"DROP SCHEMA {schema} CASCADE"),
                                        run("pg_restore", *database_flags, "--exit-on-error", "--no-owner", dump)))


if __name__ == "__main__":
    main()
