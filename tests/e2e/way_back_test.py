#!/usr/bin/env python3
"""Nothing that the authorization pages say of themselves keeps a real browser from going back to the application: not
`form-action`, which Chromium applies to every redirect behind a form, and no policy that would part windows."""

import json
import shutil
import subprocess

import node_packages
from harness import DEADLINE_SECONDS, PLENTY, Case, Server, main

WALKS_SECONDS = 150  # passing ones take a tenth of it; each that fails waits for its browser


class WayBack(Case):
    def test_every_path_returns_to_the_application(self):
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "Debian's package chromium")
        with Server("--demo", *PLENTY, tls=True) as server:
            told = {"auth": server.ready["auth"], "login": server.demo["login"], "password": server.demo["password"],
                    "chromium": chromium, "seconds": DEADLINE_SECONDS}
            with subprocess.Popen(["node", "way_back.mjs"], cwd=node_packages.directory(), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as walker:
                try:
                    walker.stdin.write(json.dumps(told) + "\n")
                    walker.stdin.flush()
                    urls = json.loads(walker.stdout.readline())
                    clients = {name: server.run("app", "register", "--user", 1, "--name", name, "--website", url,
                                                "--redirect-url", url)["client_id"] for name, url in urls.items()}
                    said, _ = walker.communicate(json.dumps(clients) + "\n", timeout=WALKS_SECONDS)
                finally:
                    walker.kill()
            self.assertEqual(0, walker.returncode)
            self.assertEqual([], json.loads(said)["findings"])


if __name__ == "__main__":
    main()
