#!/usr/bin/env python3
"""No policy of the authorization pages prevents a real browser from returning to the application: neither `form-action`, which
Chromium applies to every redirect after a form, nor a policy that separates windows."""

import json
import shutil
import subprocess

import node_packages
from harness import DEADLINE_SECONDS, HIGH_LIMITS, Case, Server, main

SCRIPT_SECONDS = 150  # a tenth of it if all steps pass; each step that fails waits for a timeout of the browser


class ReturnToApp(Case):
    def test_every_path_returns_to_the_application(self):
        chromium = shutil.which("chromium")
        self.assertIsNotNone(chromium, "Debian's package chromium")
        with Server("--demo", *HIGH_LIMITS, tls=True) as server:
            config = {"auth": server.ready["auth"], "login": server.demo["login"], "password": server.demo["password"],
                      "chromium": chromium, "seconds": DEADLINE_SECONDS}
            with subprocess.Popen(["node", "return_to_app.mjs"], cwd=node_packages.directory(), text=True,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE) as script:
                try:
                    script.stdin.write(json.dumps(config) + "\n")
                    script.stdin.flush()
                    urls = json.loads(script.stdout.readline())
                    clients = {name: server.run("app", "register", "--user", 1, "--name", name, "--website", url,
                                                "--redirect-url", url)["client_id"] for name, url in urls.items()}
                    output, _ = script.communicate(json.dumps(clients) + "\n", timeout=SCRIPT_SECONDS)
                finally:
                    script.kill()
            self.assertEqual(0, script.returncode)
            self.assertEqual([], json.loads(output)["findings"])


if __name__ == "__main__":
    main()
