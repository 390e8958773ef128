#!/usr/bin/env python3
"""Makes the pictures of the documents from a running server: `pictures.py path/to/tollgate-server` writes docs/images/."""

import datetime
import json
import pathlib
import shutil
import subprocess
import sys
import time
import urllib.parse

import harness
import node_packages
from harness import DEADLINE_SECONDS, HIGH_LIMITS, Server

FOLDER = harness.ROOT / "docs" / "images"
HOST = "shop.example"  # the pages name it; the browser connects to the server
BYTES_MAX = 150_000
LIST = """# Pictures

`tests/e2e/pictures.py` made these pictures with Chromium from the reference server of Tollgate {version}, commit {commit}, on {date}.

{rows}
"""


def pictures(client):
    """What is shown: the file, the path, the size of the window, and the color scheme."""
    consent = "/en/user/oauth/?" + urllib.parse.urlencode(
        {"client_id": client, "response_type": "code", "scope": "user:balance,sitesmaker:read", "state": "a"})
    settings = "/en/user/settings/"
    return [{"name": name, "path": path, "width": width, "height": height, "scheme": scheme} for name, path, width, height, scheme in (
        ("overview.png", "/en/user/", 960, 620, "light"),
        ("tokens.png", settings + "tokens/", 960, 678, "light"),
        ("consent-light.png", consent, 560, 700, "light"),
        ("consent-dark.png", consent, 560, 700, "dark"),
    )]


def fill(server):
    """Gives the demo user what a real one has. Returns the id of an application that asks for access."""
    user = 1
    server.add_account(user, "sitesmaker", "Bakery")
    server.run("token", "revoke", "--id", 1)
    server.run("user", "quota", "--user", user, "--per-day", 1000)
    for description, scopes, requests in (("Nightly backup", "user:balance,sitesmaker:read", 214),
                                          ("Invoices to the bookkeeping", "user:balance", 96), ("Deployment of the web site", "sitesmaker", 12)):
        token = server.run("token", "create", "--user", user, "--description", description, "--scopes", scopes)
        credentials = harness.basic(token["username"], token["secret"])
        for _ in range(requests):
            server.request("GET", "/v1/testservice/auth", token=credentials)
        # Uses are recorded about once a second.
        deadline = time.monotonic() + DEADLINE_SECONDS
        while server.run("token", "list", "--user", user)["tokens"][-1]["last_used_at"] is None and time.monotonic() < deadline:
            time.sleep(0.1)
            server.request("GET", "/v1/testservice/auth", token=credentials)
    return server.run("app", "register", "--user", user, "--name", "Book keeper", "--website", "https://books.example",
                      "--description", "Keeps the books of small shops.", "--redirect-url", "https://books.example/back")["client_id"]


def make(folder):
    """Writes the pictures to a folder, and returns the names of their files."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise AssertionError("Debian's package chromium is missing")
    site = f"https://{HOST}"
    with Server("--demo", *HIGH_LIMITS, "--base-url", site + "/v1", "--auth-url", site, tls=True) as server:
        config = {"auth": site, "host": HOST, "port": server.address[1], "login": server.demo["login"], "password": server.demo["password"],
                  "chromium": chromium, "seconds": DEADLINE_SECONDS, "folder": str(folder), "pictures": pictures(fill(server))}
        script = subprocess.run(["node", "pictures.mjs"], cwd=node_packages.directory(), input=json.dumps(config) + "\n", text=True,
                                capture_output=True, timeout=2 * DEADLINE_SECONDS)
        if script.returncode != 0:
            raise AssertionError(script.stderr)
    return json.loads(script.stdout)


def output(*command):
    return subprocess.run(command, cwd=harness.ROOT, capture_output=True, text=True, check=True).stdout.strip()


def main():
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} path/to/tollgate-server")
    harness.program = str(pathlib.Path(sys.argv[1]).resolve())
    FOLDER.mkdir(exist_ok=True)
    names = make(FOLDER)
    version = output(harness.program, "--version").split()[-1]
    (FOLDER / "README.md").write_text(LIST.format(version=version, commit=output("git", "rev-parse", "--short=12", "HEAD"),
                                                  date=datetime.date.today(), rows="\n".join(f"- [{name}]({name})" for name in names)))
    for name in names:
        print(f"{FOLDER / name}: {(FOLDER / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
