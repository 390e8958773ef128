#!/usr/bin/env python3
"""The pages in a real browser: Debian's Chromium goes through all of them, by mouse and by keyboard alone, under the
pages' own content security policy, without scripts, and with axe looking on in every size and colour.

Pictures of every page go to e2e-shots/ in the build directory, or to $TOLLGATE_SHOTS."""

import json
import os
import pathlib
import shutil
import subprocess

import harness
import node_packages
from harness import DEADLINE_SECONDS, PLENTY, Case, Server, main

LONG = "W" * 80


class Pages(Case):
    def go(self, name, tls, **more):
        """Visits all pages of a separate server, and returns a list of faults."""
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "Debian's package chromium")
        with Server("--demo", *PLENTY, tls=tls) as server:
            # Texts of maximum length, in words that do not break.
            shown = server.run("app", "register", "--user", 1, "--name", LONG, "--description", LONG * 3, "--website",
                               "https://" + "w" * 60 + ".example/" + LONG, "--redirect-url", "https://back.example/" + LONG * 3)
            server.run("token", "create", "--user", 1, "--description", LONG * 3, "--scopes", harness.ALL_SCOPES)
            server.add_account(1, "itemplatform", LONG)
            account = server.add_account(1, "sitesmaker", "Bakery")
            server.run("user", "add", "--login", "empty", "--password-stdin", stdin="empty handed")
            shots = pathlib.Path(os.environ.get("TOLLGATE_SHOTS") or pathlib.Path(harness.program).parent.parent / "e2e-shots")
            told = {"auth": server.ready["auth"], "api": server.ready["api"], "login": server.demo["login"],
                    "password": server.demo["password"], "token": server.demo_token, "account": account, "account_name": "Bakery",
                    "empty": {"login": "empty", "password": "empty handed"}, "language": None,
                    "long": {"id": shown["client_id"], "redirect": "https://back.example/" + LONG * 3},
                    "chromium": chromium, "seconds": DEADLINE_SECONDS, "shots": str(shots / name),
                    "keyboard": False, "scripts": True, "thorough": False, **more}
            environment = dict(os.environ)
            if tls:
                environment["NODE_EXTRA_CA_CERTS"] = str(server.data / "self-signed.crt")
            with subprocess.Popen(["node", "browser.mjs"], cwd=node_packages.directory(), env=environment, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as browser:
                browser.stdin.write(json.dumps(told) + "\n")
                browser.stdin.close()
                complaints = []
                for line in browser.stderr:  # each page that is looked at is named there
                    complaints.append(line)
                    harness.stall_guard.progress()
                found = browser.stdout.read()
            self.assertEqual(0, browser.returncode, "".join(complaints))
            seen = json.loads(found)
            if seen["findings"]:
                self.fail("\n".join(seen["findings"]))
            self.assertGreater(seen["looks"], 30)

    def test_by_mouse_in_every_size_and_colour(self):
        self.go("pages", tls=True, thorough=True)

    def test_by_keyboard_alone_under_the_pages_own_policy(self):
        self.go("keyboard", tls=True, keyboard=True)

    def test_german_words_fit_the_narrowest_screen(self):
        self.go("german", tls=True, thorough=True, language="de")

    def test_without_scripts_and_without_tls(self):
        self.go("plain", tls=False, scripts=False)


if __name__ == "__main__":
    main()
