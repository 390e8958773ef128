#!/usr/bin/env python3
"""OAuth clients of other projects complete the whole flow: authlib and requests-oauthlib (Python), oauth4webapi and simple-oauth2
(Node). None was written for Tollgate, and each interprets the standards in its own way."""

import contextlib
import json
import os
import subprocess
import sys

SYSTEM_PYTHON = "/usr/bin/python3"  # Debian's Python, which finds Debian's packages

try:
    import authlib.integrations.requests_client
    import requests_oauthlib
except ModuleNotFoundError:
    if os.path.realpath(sys.executable) == os.path.realpath(SYSTEM_PYTHON):
        raise
    os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, *sys.argv])

import node_packages  # noqa: E402
from application import AUTHORIZE, REDIRECT_URL, REVOKE, TOKEN, Application, PublicClient  # noqa: E402
from harness import DEADLINE_SECONDS, HIGH_LIMITS, Case, Server, main  # noqa: E402
from visitor import query_of, signed_in  # noqa: E402

SCOPE = "user:balance sitesmaker:read"


class Clients(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *HIGH_LIMITS, tls=True)
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.certificate = os.environ["REQUESTS_CA_BUNDLE"] = str(cls.server.data / "self-signed.crt")
        os.environ["NO_PROXY"] = os.environ["no_proxy"] = "127.0.0.1"  # the server is never reached through a proxy
        cls.site = cls.server.ready["auth"]
        cls.balance_url = cls.server.ready["api"] + "/user/balance"

    def setUp(self):
        self.app = Application(self.server, 1, name=self._testMethodName)

    def authorize(self, url):
        """Gives consent at the URL of a client, and returns the URL of the redirect."""
        self.assertTrue(url.startswith(self.site + AUTHORIZE + "?"), url)
        page = self.visitor.get(url)
        self.assertIn(self.app.name, page.text)
        location = self.visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False).location
        self.assertIn("code", query_of(location))
        return location

    def assert_balance(self, response):
        self.assertEqual((200, 1234.56), (response.status_code, response.json()["balance"]))


class Python(Clients):
    def test_authlib(self):
        for method in ("client_secret_basic", "client_secret_post"):
            with self.subTest(method=method):
                self.app = Application(self.server, 1, name=method)
                verifier = "v" * 64
                with authlib.integrations.requests_client.OAuth2Session(
                        self.app.id, self.app.secret, scope=SCOPE, redirect_uri=REDIRECT_URL, code_challenge_method="S256",
                        token_endpoint_auth_method=method, revocation_endpoint_auth_method=method) as session:
                    url, state = session.create_authorization_url(self.site + AUTHORIZE, code_verifier=verifier)
                    token = session.fetch_token(self.site + TOKEN, authorization_response=self.authorize(url), state=state,
                                                code_verifier=verifier)
                    self.assertEqual(set(SCOPE.split()), set(token["scope"].split()))
                    self.assert_balance(session.get(self.balance_url))
                    before = token["access_token"]
                    refresh_token = token["refresh_token"]
                    session.refresh_token(self.site + TOKEN, refresh_token=refresh_token)
                    self.assertNotEqual(before, session.token["access_token"])
                    self.assert_balance(session.get(self.balance_url))
                    revoked = session.revoke_token(self.site + REVOKE, token=refresh_token, token_type_hint="refresh_token")
                    self.assertEqual(200, revoked.status_code)
                    self.assertEqual(401, session.get(self.balance_url).status_code)

    def test_requests_oauthlib(self):
        for in_body in (True, False):
            with self.subTest(in_body=in_body):
                self.app = Application(self.server, 1, name=f"requests_oauthlib {in_body}")
                with requests_oauthlib.OAuth2Session(self.app.id, redirect_uri=REDIRECT_URL, scope=SCOPE.split()) as session:
                    url, _ = session.authorization_url(self.site + AUTHORIZE)
                    token = session.fetch_token(self.site + TOKEN, authorization_response=self.authorize(url),
                                                client_secret=self.app.secret, include_client_id=in_body)
                    self.assert_balance(session.get(self.balance_url))
                    before = token["access_token"]
                    session.refresh_token(self.site + TOKEN, client_id=self.app.id, client_secret=self.app.secret)
                    self.assertNotEqual(before, session.token["access_token"])
                    self.assert_balance(session.get(self.balance_url))

    def test_requests_oauthlib_reports_a_refusal(self):
        with requests_oauthlib.OAuth2Session(self.app.id, redirect_uri=REDIRECT_URL, scope=["user:balance"]) as session:
            url, _ = session.authorization_url(self.site + AUTHORIZE)
            page = self.visitor.get(url)
            location = self.visitor.submit(page.form_with("decision"), button=("decision", "deny"), follow=False).location
            with self.assertRaises(Exception) as caught:
                session.fetch_token(self.site + TOKEN, authorization_response=location, client_secret=self.app.secret)
            self.assertIn("access_denied", repr(caught.exception))
            with self.assertRaises(Exception) as caught:
                session.fetch_token(self.site + TOKEN, code="tgc_" + "0" * 49, client_secret=self.app.secret)
            self.assertIn("invalid_grant", repr(caught.exception))


class Node(Clients):
    @contextlib.contextmanager
    def run_script(self, script, config):
        """Runs a script with this configuration. Gives functions to send and receive messages, and the process."""
        with subprocess.Popen(["node", script], cwd=node_packages.directory(), text=True, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              env={**os.environ, "NODE_EXTRA_CA_CERTS": self.certificate}) as client:
            def send(message):
                client.stdin.write(json.dumps(message) + "\n")
                client.stdin.flush()

            def receive():
                line = client.stdout.readline()
                self.assertTrue(line, "" if line else client.stderr.read())
                return json.loads(line)

            send(config)
            yield send, receive, client

    def run_flow(self, script, **more):
        config = {"issuer": self.site, "client_id": self.app.id, "client_secret": self.app.secret, "scope": SCOPE,
                  "redirect_uri": REDIRECT_URL, "balance_url": self.balance_url, **more}
        with self.run_script(script, config) as (send, receive, client):
            send({"location": self.authorize(receive()["authorize"])})
            first = receive()
            self.assertEqual(1234.56, first["balance"])
            self.assertEqual(set(SCOPE.split()), set(first["scope"].split()))
            self.assertEqual({"balance": 1234.56}, receive())
            self.assertEqual({"status": 401, "error": "invalid_token"}, receive())
            self.assertEqual(0, client.wait(DEADLINE_SECONDS))

    def test_oauth4webapi(self):
        for method in ("basic", "post"):
            with self.subTest(method=method):
                self.app = Application(self.server, 1, name=f"oauth4webapi {method}")
                self.run_flow("oauth4webapi.mjs", method=method)

    def test_oauth4webapi_as_a_public_client(self):
        self.app = PublicClient(self.server, 1, "http://127.0.0.1/back")
        self.app.secret = None
        self.run_flow("oauth4webapi.mjs", method="none", redirect_uri="http://127.0.0.1:49152/back")

    def test_oauth4webapi_on_a_device(self):
        device = PublicClient(self.server, 1, None)
        service = self.server.run("app", "register", "--user", 1, "--name", "Service", "--website", "https://app.example",
                                  "--resource-server")
        with self.run_script("oauth4webapi_device.mjs",
                             {"issuer": self.site, "client_id": device.id, "scope": SCOPE, "balance_url": self.balance_url,
                              "service_id": service["client_id"], "service_secret": service["client_secret"]}) as (send, receive, client):
            codes = receive()
            self.assertEqual(5, codes["interval"])
            page = self.visitor.get(codes["verification_uri"])
            consent = self.visitor.submit(page.form_with("user_code"), {"user_code": codes["user_code"]})
            self.visitor.submit(consent.form_with("decision"), button=("decision", "allow"))
            send({})
            result = receive()
            self.assertEqual((1234.56, "slow_down", True, device.id),
                             (result["balance"], result["error"], result["active"], result["client_id"]))
            self.assertEqual(set(SCOPE.split()), set(result["scope"].split()))
            self.assertEqual(0, client.wait(DEADLINE_SECONDS))

    def test_simple_oauth2(self):
        for method, in_json in (("basic", False), ("post", False), ("post", True)):
            with self.subTest(method=method, json=in_json):
                self.app = Application(self.server, 1, name=f"simple-oauth2 {method} {in_json}")
                self.run_flow("simple_oauth2.mjs", method=method, json=in_json)


if __name__ == "__main__":
    main()
