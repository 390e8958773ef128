#!/usr/bin/env python3
"""Visits all pages with Debian's Chromium: by mouse and by keyboard alone, with the pages' content security policy,
without scripts, and with axe in each size and color scheme.

With TOLLGATE_SHOTS=folder it also takes a screenshot of each page in each size and color scheme, which takes longer."""

import json
import os
import pathlib
import shutil
import subprocess

import harness
import node_packages
from harness import DEADLINE_SECONDS, HIGH_LIMITS, Case, Server, main

LONG = "W" * 80


class Pages(Case):
    def visit_pages(self, name, tls, **more):
        """Visits all pages of a separate server. Fails if there is a finding."""
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "Debian's package chromium")
        with Server("--demo", *HIGH_LIMITS, tls=tls) as server:
            # Texts of maximum length, in words that cannot wrap.
            app = server.run("app", "register", "--user", 1, "--name", LONG, "--description", LONG * 3, "--website",
                               "https://" + "w" * 60 + ".example/" + LONG, "--redirect-url", "https://back.example/" + LONG * 3)
            server.run("token", "create", "--user", 1, "--description", LONG * 3, "--scopes", harness.ALL_SCOPES)
            server.add_account(1, "itemplatform", LONG)
            account = server.add_account(1, "sitesmaker", "Bakery")
            server.run("user", "add", "--login", "empty", "--password-stdin", stdin="empty handed")
            wanted = os.environ.get("TOLLGATE_SHOTS")
            screenshots = pathlib.Path(wanted or pathlib.Path(harness.program).parent.parent / "e2e-shots")
            config = {"auth": server.ready["auth"], "api": server.ready["api"], "login": server.demo["login"],
                      "password": server.demo["password"], "token": server.demo_token, "account": account, "account_name": "Bakery",
                      "empty": {"login": "empty", "password": "empty handed"}, "language": None,
                      "long": {"id": app["client_id"], "redirect": "https://back.example/" + LONG * 3},
                      "chromium": chromium, "seconds": DEADLINE_SECONDS, "screenshots": str(screenshots / name), "all_screenshots": bool(wanted),
                      "keyboard": False, "scripts": True, "thorough": False, **more}
            environment = dict(os.environ)
            if tls:
                environment["NODE_EXTRA_CA_CERTS"] = str(server.data / "self-signed.crt")
            with subprocess.Popen(["node", "browser.mjs"], cwd=node_packages.directory(), env=environment, text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as browser:
                browser.stdin.write(json.dumps(config) + "\n")
                browser.stdin.close()
                log = []
                for line in browser.stderr:  # a line for each inspected page
                    log.append(line)
                    harness.stall_guard.progress()
                output = browser.stdout.read()
            self.assertEqual(0, browser.returncode, "".join(log))
            result = json.loads(output)
            if result["findings"]:
                self.fail("\n".join(result["findings"]))
            self.assertGreater(result["inspected"], 30)

    def test_by_mouse_in_every_size_and_color_scheme(self):
        self.visit_pages("pages", tls=True, thorough=True)

    def test_by_keyboard_alone_with_the_pages_policy(self):
        self.visit_pages("keyboard", tls=True, keyboard=True)

    def test_german_words_fit_the_narrowest_screen(self):
        self.visit_pages("german", tls=True, thorough=True, language="de")

    def test_without_scripts_and_without_tls(self):
        self.visit_pages("plain", tls=False, scripts=False)


if __name__ == "__main__":
    main()
