#!/usr/bin/env python3
"""The official client of the Model Context Protocol lists and calls the tools of the program, once with a registration of its own and once
with a client_id that is the URL of a document."""

import contextlib
import http.client
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = pathlib.Path(__file__).resolve().parents[2]
for folder in ("support", "e2e"):
    sys.path.insert(0, str(ROOT / "tests" / folder))
import harness  # noqa: E402
import node_packages  # noqa: E402
from document_host import DocumentHost  # noqa: E402
from servers import reserve_port  # noqa: E402
from visitor import Visitor  # noqa: E402

REDIRECT = "http://127.0.0.1:49152/callback"
SECONDS = 120


class Site:
    """The program, as a `Visitor` sees a server."""

    def __init__(self, url):
        self.ready = {"auth": url}

    def request(self, method, path, fields, body):
        connection = http.client.HTTPConnection(urllib.parse.urlsplit(self.ready["auth"]).netloc, timeout=SECONDS)
        with contextlib.closing(connection):
            connection.request(method, path, body, fields)
            response = connection.getresponse()
            return harness.Response(response.status, response.reason, response.getheaders(), response.read())


@contextlib.contextmanager
def started(program, port, authorities):
    process = subprocess.Popen([program, str(port), "--private"], stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "SSL_CERT_FILE": str(authorities)})
    try:
        yield process.stdout.readline()
    finally:
        process.kill()
        process.wait()


def expect(actual, expected, what):
    if actual != expected:
        sys.exit(f"{what}: {actual!r} instead of {expected!r}")


def consent(site, url, words):
    """Signs in and consents, as a user does; the URL to which the browser returns."""
    visitor = Visitor(site)
    page = visitor.get(url)
    page = visitor.submit(page.form_with("login", "password"), {"login": "ada", "password": "correct horse battery"})
    if words not in page.text:
        sys.exit(f"the consent page lacks {words!r}: {page.text}")
    return visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False).location


def run_agent(site, words, **config):
    script = node_packages.directory() / "mcp_sdk.mjs"
    with subprocess.Popen(["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as agent:
        def send(message):
            print(json.dumps(message), file=agent.stdin, flush=True)

        def receive():
            return json.loads(agent.stdout.readline() or sys.exit(f"the agent ended ({config})"))

        send({"server": site.ready["auth"] + "/v1/mcp", "redirect_uri": REDIRECT, **config})
        send({"location": consent(site, receive()["authorize"], words)})
        listed = receive()
        expect(listed["tools"], ["get_balance", "list_accounts"], "tools")
        expect(listed["scope"], "user:balance", "scope")
        expect(json.loads(receive()["balance"]), {"balance": "12.50", "currency": "EUR"}, "balance")
        expect(receive(), {"refreshed": True}, "refresh")
        send({"location": consent(site, receive()["authorize"], words)})
        wider = receive()
        expect(json.loads(wider["accounts"])["accounts"][0]["name"], "Corner shop", "accounts")
        expect(wider["scope"], "shop:read", "wider scope")
        expect(agent.wait(SECONDS), 0, "the agent's exit code")
    return listed["client_id"]


def main():
    program = harness.program = pathlib.Path(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory, DocumentHost(pathlib.Path(directory)) as host, reserve_port() as reserved:
        port = reserved.getsockname()[1]
        with started(program, port, host.authorities) as line:
            site = Site(f"http://127.0.0.1:{port}")
            expect(line.split(" (")[0], f"MCP server: {site.ready['auth']}/v1/mcp", "the first line")
            for method in ("none", "client_secret_basic", "client_secret_post"):
                client_id = run_agent(site, "This application registered itself.", method=method)
                expect(client_id[:4], "tgi_", "a registered client_id")
            url = host.add("/agent.json", {"client_name": "Agent", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"})
            client_id = run_agent(site, f"described by {urllib.parse.urlsplit(url).netloc}", method="none", document=url)
            expect(client_id, url, "the client_id of a document")


if __name__ == "__main__":
    main()
