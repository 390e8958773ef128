#!/usr/bin/env python3
"""Applications that no user registered: those that register themselves, and those that are known by the URL of a document. Before that,
how a program that knows only the API finds out where to be authorized, and what its tokens are for."""

import contextlib
import json
import pathlib
import socket
import subprocess
import tempfile
import threading
import time
import urllib.parse

import node_packages
from application import AUTHORIZE, TOKEN, call, encode_form
from document_host import DocumentHost, response
from harness import DEADLINE_SECONDS, Case, Server, basic, main, run_command
from visitor import Visitor, query_of, signed_in

REGISTER = "/user/oauth_register/"
REDIRECT = "http://127.0.0.1:49152/callback"
VERIFIER = "v" * 64
PKCE = {"code_challenge": "w1TpKUdYE9hUAcNSeeSRFioHDxfUxuHho_JHAfZ_vDM", "code_challenge_method": "S256"}
METADATA = "/.well-known/oauth-protected-resource"
REGISTERED_ITSELF = "This application registered itself."


def challenge_of(response):
    return response.all("WWW-Authenticate")[0]


class AgentCase(Case):
    """`flags` are those of the server."""
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *cls.flags)
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.api = cls.server.ready["api"]

    def register(self, sent, token=None, content_type="application/json"):
        body = sent if isinstance(sent, bytes) else json.dumps(sent).encode()
        return self.server.request("POST", REGISTER, {"Content-Type": content_type}, body, token=token)

    def authorization_url(self, client_id, **more):
        sent = {"client_id": client_id, "response_type": "code", "redirect_uri": REDIRECT, **PKCE, **more}
        return AUTHORIZE + "?" + urllib.parse.urlencode({name: value for name, value in sent.items() if value is not None}, doseq=True)

    def consent(self, client_id, **more):
        page = self.visitor.get(self.authorization_url(client_id, **more))
        self.assertEqual(200, page.status, page)
        return self.visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)

    def exchange(self, code, client_id, token=None, **more):
        sent = {"grant_type": "authorization_code", "code": code, "code_verifier": VERIFIER, "redirect_uri": REDIRECT,
                "client_id": client_id, **more}
        return self.server.request("POST", TOKEN, {"Content-Type": "application/x-www-form-urlencoded"},
                                   urllib.parse.urlencode(sent, doseq=True).encode(), token=token)

    def assert_refused(self, response, status, error):
        self.assertEqual((status, error), (response.status, response.json()["error"]), response)


class Discovery(AgentCase):
    def test_the_metadata_of_the_api(self):
        found = self.server.request("GET", METADATA + "/v1")
        self.assertEqual(200, found.status)
        self.assertEqual("*", self.server.request("GET", METADATA + "/v1", {"Origin": "https://agent.example"})
                         .get("Access-Control-Allow-Origin"))
        members = found.json()
        self.assertEqual(self.api, members["resource"])
        self.assertEqual([self.server.ready["auth"]], members["authorization_servers"])
        self.assertEqual(["header"], members["bearer_methods_supported"])
        self.assertIn("user:balance", members["scopes_supported"])
        self.assertEqual(200, self.server.request("GET", urllib.parse.urlsplit(members["resource_documentation"]).path).status)
        for path in (METADATA, METADATA + "/", METADATA + "/v1/", METADATA + "/v2"):
            self.assertEqual(404, self.server.request("GET", path).status, path)

    def test_a_401_says_where_to_go(self):
        refused = self.server.request("GET", "/v1/user/balance")
        url = self.server.ready["auth"] + METADATA + "/v1"
        self.assertEqual(f'Bearer realm="api", scope="user:balance", resource_metadata="{url}"', challenge_of(refused))
        self.assertTrue(refused.all("WWW-Authenticate")[1].startswith("Basic "))
        bad = self.server.request("GET", "/v1/user/balance", token="Bearer tga_x")
        self.assertIn('error="invalid_token"', challenge_of(bad))
        self.assertIn(f'resource_metadata="{url}"', challenge_of(bad))

    def test_what_is_off_by_default(self):
        server = self.server.request("GET", "/.well-known/oauth-authorization-server").json()
        self.assertNotIn("registration_endpoint", server)
        self.assertNotIn("client_id_metadata_document_supported", server)
        self.assertEqual(404, self.register({"redirect_uris": [REDIRECT]}).status)
        page = self.visitor.get(self.authorization_url("https://127.0.0.1/agent.json", scope="user:balance"))
        self.assertEqual(400, page.status)
        self.assertIn("Unknown application", page.text)


class Registration(AgentCase):
    flags = ("--dynamic-registration", "open", "--anonymous-limit", "100000/hour")

    def registered(self, **more):
        created = self.register({"client_name": "Agent", "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none", **more})
        self.assertEqual(201, created.status, created)
        return created.json()

    def test_the_response_has_the_defaults_of_the_standard(self):
        created = self.register({"redirect_uris": [REDIRECT], "logo_uri": "https://a.example/i.png", "x": {}})
        self.assertEqual((201, "no-store"), (created.status, created.get("Cache-Control")))
        client = created.json()
        self.assertEqual("client_secret_basic", client["token_endpoint_auth_method"])
        self.assertEqual(0, client["client_secret_expires_at"])
        self.assertEqual([REDIRECT], client["redirect_uris"])
        self.assertEqual(["authorization_code", "refresh_token"], client["grant_types"])
        self.assertEqual(["code"], client["response_types"])
        self.assertLess(abs(client["client_id_issued_at"] - time.time()), 60 * 60)
        self.assertNotIn("scope", client)
        server = self.server.request("GET", "/.well-known/oauth-authorization-server").json()
        self.assertEqual(self.server.ready["auth"] + REGISTER, server["registration_endpoint"])

    def test_a_public_client(self):
        client = self.registered()
        self.assertNotIn("client_secret", client)
        self.assertNotIn("client_secret_expires_at", client)
        page = self.visitor.get(self.authorization_url(client["client_id"], scope="user:balance", state="s"))
        self.assertIn(REGISTERED_ITSELF, page.text)
        back = query_of(self.consent(client["client_id"], scope="user:balance", state="s").location)
        tokens = self.exchange(back["code"], client["client_id"])
        self.assertEqual(200, tokens.status, tokens)
        self.assertEqual(200, call(self.server, tokens.json()["access_token"]).status)
        # Consent is asked for again, although it was given.
        self.assertEqual(200, self.visitor.get(self.authorization_url(client["client_id"], scope="user:balance")).status)

    def test_a_confidential_client_needs_its_secret_and_pkce(self):
        client = self.registered(token_endpoint_auth_method="client_secret_post")
        url = self.authorization_url(client["client_id"], scope="user:balance", code_challenge=None, code_challenge_method=None)
        self.assertEqual("invalid_request", query_of(self.visitor.get(url).location)["error"])
        code = query_of(self.consent(client["client_id"], scope="user:balance").location)["code"]
        self.assert_refused(self.exchange(code, client["client_id"]), 401, "invalid_client")
        self.assertEqual(200, self.exchange(code, client["client_id"], client_secret=client["client_secret"]).status)

    def test_the_registered_scope_is_a_default_and_no_bound(self):
        client = self.registered(scope="openid user:balance email")
        self.assertEqual("user:balance", client["scope"])
        code = query_of(self.consent(client["client_id"]).location)["code"]
        self.assertEqual("user:balance", self.exchange(code, client["client_id"]).json()["scope"])
        code = query_of(self.consent(client["client_id"], scope="sitesmaker:read").location)["code"]
        self.assertEqual("sitesmaker:read", self.exchange(code, client["client_id"]).json()["scope"])
        other = self.registered()
        url = self.authorization_url(other["client_id"])
        self.assertEqual("invalid_request", query_of(self.visitor.get(url).location)["error"])

    def test_what_cannot_be_registered(self):
        for sent, error in (
                ({}, "invalid_redirect_uri"),
                ({"redirect_uris": []}, "invalid_redirect_uri"),
                ({"redirect_uris": ["http://a.example/cb"]}, "invalid_redirect_uri"),
                ({"redirect_uris": ["https://a.example/cb#f"]}, "invalid_redirect_uri"),
                ({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
                ({"redirect_uris": [REDIRECT], "grant_types": ["password"]}, "invalid_client_metadata"),
                ({"redirect_uris": [REDIRECT], "response_types": ["token"]}, "invalid_client_metadata"),
                ({"redirect_uris": [REDIRECT], "client_name": "\x07"}, "invalid_client_metadata"),
                (b"[]", "invalid_client_metadata"),
                (b"{", "invalid_client_metadata"),
                (b"", "invalid_client_metadata")):
            with self.subTest(sent=sent):
                self.assert_refused(self.register(sent), 400, error)
        self.assert_refused(self.register(b"a=b", content_type="application/x-www-form-urlencoded"), 400, "invalid_client_metadata")
        self.assertEqual(405, self.server.request("PUT", REGISTER).status)

    def test_an_application_reads_and_deletes_its_registration(self):
        client = self.registered(scope="user:balance", client_uri="https://agent.example")
        at = client["registration_client_uri"].removeprefix(self.server.ready["auth"])
        token = "Bearer " + client["registration_access_token"]
        read = self.server.request("GET", at, token=token)
        self.assertEqual(200, read.status)
        for name in ("client_id", "client_name", "client_uri", "redirect_uris", "token_endpoint_auth_method", "scope", "client_id_issued_at",
                     "registration_client_uri"):
            self.assertEqual(client[name], read.json()[name], name)
        self.assertNotIn("registration_access_token", read.json())
        other = "Bearer " + self.registered()["registration_access_token"]
        for wrong in (None, other, "Bearer x", basic("a", "b")):
            for method in ("GET", "DELETE"):
                refused = self.server.request(method, at, token=wrong)
                self.assertEqual(401, refused.status)
                self.assertTrue(challenge_of(refused).startswith("Bearer "))
        code = query_of(self.consent(client["client_id"], scope="user:balance").location)["code"]
        access = self.exchange(code, client["client_id"]).json()["access_token"]
        self.assertEqual(204, self.server.request("DELETE", at, token=token).status)
        self.assertEqual(401, self.server.request("GET", at, token=token).status)
        self.assertEqual(401, call(self.server, access).status)

    def test_the_operator_sees_and_deletes_them(self):
        client = self.registered()
        listed = self.server.run("app", "list")["applications"]
        self.assertIn(client["client_id"], [each["client_id"] for each in listed])
        self.server.run("app", "suspend", "--client-id", client["client_id"])
        page = self.visitor.get(self.authorization_url(client["client_id"], scope="user:balance"))
        self.assertIn("Application suspended", page.text)
        self.server.run("app", "delete", "--client-id", client["client_id"])
        page = self.visitor.get(self.authorization_url(client["client_id"], scope="user:balance"))
        self.assertIn("Unknown application", page.text)

    def test_openid_client_registers_itself(self):
        script = node_packages.directory() / "openid_client_registration.mjs"
        server = Server("--demo", "--dynamic-registration", "open", tls=True)
        self.addCleanup(server.stop)
        visitor = signed_in(server)
        for method in ("client_secret_basic", "client_secret_post", "none"):
            with self.subTest(method=method), subprocess.Popen(
                    ["node", str(script)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                    env={"NODE_EXTRA_CA_CERTS": str(server.data / "self-signed.crt"), "PATH": "/usr/bin:/bin:/usr/local/bin"}) as node:
                def send(message):
                    print(json.dumps(message), file=node.stdin, flush=True)

                send({"issuer": server.ready["auth"], "redirect_uri": REDIRECT, "method": method, "scope": "user:balance",
                      "resource": server.ready["api"], "balance_url": server.ready["api"] + "/user/balance"})
                page = visitor.get(json.loads(node.stdout.readline())["authorize"])
                self.assertIn(REGISTERED_ITSELF, page.text)
                send({"location": visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False).location})
                self.assertEqual({"balance": 1234.56, "scope": "user:balance"}, json.loads(node.stdout.readline()))
                self.assertEqual(0, node.wait(DEADLINE_SECONDS))


class RegistrationWithToken(AgentCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        file = directory / "token"
        file.write_text("initial-access-token-of-the-test\n")
        file.chmod(0o600)
        cls.flags = ("--dynamic-registration", file, "--anonymous-limit", "5/hour")
        super().setUpClass()

    def test_only_its_bearers_register(self):
        sent = {"redirect_uris": [REDIRECT]}
        for _ in range(10):  # charged to nobody
            refused = self.register(sent)
            self.assertEqual((401, 'Bearer realm="oauth"'), (refused.status, challenge_of(refused)))
        self.assertEqual(201, self.register(sent, "Bearer initial-access-token-of-the-test").status)
        self.assertEqual(401, self.register(sent, basic("x", "initial-access-token-of-the-test")).status)
        for _ in range(4):
            self.assert_refused(self.register(sent, "Bearer initial-access-token-of-the-tes"), 401, "invalid_client")
        self.assertEqual(429, self.register(sent, "Bearer x").status)
        self.assertEqual(201, self.register(sent, "bearer initial-access-token-of-the-test").status)

    def test_the_file(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory) / "token"
            for text in (None, "", "short", "two words of a token that is long"):
                if text is not None:
                    file.write_text(text)
                    file.chmod(0o600)
                result = run_command("serve", "--data", directory, "--dynamic-registration", str(file), "--listen", "127.0.0.1:0", "--plain")
                self.assertEqual((2, 1), (result.returncode, result.stderr.strip().count("\n") + 1), result.stderr)
                self.assertIn("--dynamic-registration", result.stderr)


class RegistrationRate(AgentCase):
    flags = ("--dynamic-registration", "open")

    def test_registrations_are_limited_by_address(self):
        statuses = [self.register({"redirect_uris": [REDIRECT]}).status for _ in range(21)]
        self.assertEqual([201] * 20 + [429], statuses)


class Resources(AgentCase):
    flags = ("--dynamic-registration", "open")

    def test_a_resource_that_is_none(self):
        client = self.register({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}).json()["client_id"]
        for resource in ("https://other.example/v1", self.server.ready["auth"], self.api + "/user"):
            page = self.visitor.get(self.authorization_url(client, scope="user:balance", resource=resource))
            self.assertEqual("invalid_target", query_of(page.location)["error"], resource)
        page = self.visitor.get(self.authorization_url(client, scope="user:balance", resource=[self.api, "https://other.example"]))
        self.assertEqual("invalid_target", query_of(page.location)["error"])

    def test_tokens_for_the_api(self):
        client = self.register({"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}).json()["client_id"]
        code = query_of(self.consent(client, scope="user:balance", resource=[self.api, self.api + "/"]).location)["code"]
        self.assert_refused(self.exchange(code, client, resource="https://other.example"), 400, "invalid_target")
        tokens = self.exchange(code, client, resource=self.api).json()
        self.assertEqual(200, call(self.server, tokens["access_token"]).status)
        refresh = {"grant_type": "refresh_token", "client_id": client, "refresh_token": tokens["refresh_token"]}
        post = lambda sent: self.server.request("POST", TOKEN, {"Content-Type": "application/x-www-form-urlencoded"}, encode_form(sent))
        self.assert_refused(post({**refresh, "resource": "https://other.example"}), 400, "invalid_target")
        renewed = post({**refresh, "resource": self.api})
        self.assertEqual(200, renewed.status, renewed)
        introspector = self.server.run("app", "register", "--user", 1, "--name", "R", "--website", "https://r.example", "--resource-server")
        described = self.server.request("POST", "/user/oauth_introspect/", {"Content-Type": "application/x-www-form-urlencoded"},
                                        encode_form({"token": renewed.json()["access_token"]}),
                                        token=basic(introspector["client_id"], introspector["client_secret"]))
        self.assertEqual(([self.api], client), (described.json()["aud"], described.json()["client_id"]))


class Documents(AgentCase):
    @classmethod
    def setUpClass(cls):
        directory = pathlib.Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.host = cls.enterClassContext(DocumentHost(directory))
        cls.server = Server("--demo", "--client-metadata-documents", "--allow-private-targets", "--log", "json",
                            environment={"SSL_CERT_FILE": str(cls.host.authorities)})
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.api = cls.server.ready["api"]

    def document(self, **more):
        return self.host.add(f"/{self._testMethodName}.json", {"client_name": "Agent", "redirect_uris": [REDIRECT], **more})

    def test_a_client_that_is_known_by_its_url(self):
        client = self.document(token_endpoint_auth_method="none", scope="user:balance")
        self.assertTrue(self.server.request("GET", "/.well-known/oauth-authorization-server").json()["client_id_metadata_document_supported"])
        page = self.visitor.get(self.authorization_url(client))
        self.assertIn(f"not registered here. It is described by {urllib.parse.urlsplit(client).netloc}.", page.text)
        self.assertIn("Authorize Agent?", page.text)
        # A loopback redirect may differ in its port.
        redirect = REDIRECT.replace("49152", "50000")
        location = self.consent(client, redirect_uri=redirect, state="s").location
        self.assertTrue(location.startswith(redirect + "?"), location)
        tokens = self.exchange(query_of(location)["code"], client, redirect_uri=redirect)
        self.assertEqual((200, "user:balance"), (tokens.status, tokens.json()["scope"]))
        self.assertEqual(200, call(self.server, tokens.json()["access_token"]).status)
        grants = self.visitor.get("/en/user/settings/authorizations/")
        self.assertIn("Agent", grants.text)
        self.assertIn(client, [each["client_id"] for each in self.server.run("app", "list")["applications"]])
        self.server.run("app", "suspend", "--client-id", client)
        self.assertIn("Application suspended", self.visitor.get(self.authorization_url(client)).text)
        self.assertEqual(401, call(self.server, tokens.json()["access_token"]).status)
        self.server.run("app", "resume", "--client-id", client)
        self.assertEqual(200, self.visitor.get(self.authorization_url(client)).status)

    def test_nobody_is_redirected_before_the_document_is_known(self):
        client = self.document()
        stranger = Visitor(self.server)
        page = stranger.get(self.authorization_url(client, scope="user:balance"), follow=False)
        self.assertTrue(page.location.startswith("/en/user/sign_in/"), page)
        page = stranger.get(self.authorization_url(client, scope="user:balance", redirect_uri="https://evil.example/"), follow=False)
        self.assertEqual((400, None), (page.status, page.location))
        self.assertIn("Redirect URL not registered", page.text)

    def test_pkce_is_required(self):
        client = self.document()
        url = self.authorization_url(client, scope="user:balance", code_challenge=None, code_challenge_method=None)
        self.assertEqual("invalid_request", query_of(self.visitor.get(url).location)["error"])

    def test_hostile_documents(self):
        elsewhere = self.host.url("/elsewhere.json")

        def slow(connection):
            with contextlib.suppress(OSError):
                for byte in response(b"{}"):
                    connection.sendall(bytes([byte]))
                    time.sleep(0.2)
            return False

        def document(**more):
            return lambda url: response(json.dumps({"client_id": url, "redirect_uris": [REDIRECT], **more}).encode())

        for number, (name, sent, reason) in enumerate((
                ("a redirect", response(b"", 302, fields=[f"Location: {elsewhere}"]), "302"),
                ("nothing", response(b"", 404), "404"),
                ("10 MB", response(b'{"client_id":"' + b"x" * 10_000_000 + b'"}'), "longer"),
                ("another client_id", document(client_id=elsewhere), "client_id"),
                ("HTML", response(b"<html>", content_type="text/html"), "Content-Type"),
                ("not JSON", response(b"<html>"), "JSON"),
                ("a secret", document(client_secret="s"), "client_secret"),
                ("a method with a secret", document(token_endpoint_auth_method="client_secret_basic"), "none"),
                ("bytes that are no HTTP", b"SSH-2.0\r\n", "HTTP"),
                ("an unfinished body", response(b"{}").replace(b"Content-Length: 2", b"Content-Length: 20"), "not complete"),
                ("a closed connection", b"", "closed"),
                ("slow bytes", slow, "in time"))):
            with self.subTest(name):
                path = f"/{self._testMethodName}.json?{number}"
                url = self.host.url(path)
                self.host.responses[path] = sent(url) if callable(sent) and sent is not slow else sent
                page = self.visitor.get(self.authorization_url(url, scope="user:balance"))
                self.assertEqual((400, None), (page.status, page.location), page)
                self.assertIn("Application cannot be identified", page.text)
                self.assertIn(reason, page.text)
        self.assertNotIn("/elsewhere.json", " ".join(each.line for each in self.host.requests))

    def test_a_document_that_changes_its_redirect_urls(self):
        how = {"fields": ["Cache-Control: no-store"]}
        path = f"/{self._testMethodName}.json"
        client = self.host.add(path, {"redirect_uris": [REDIRECT]}, **how)
        page = self.visitor.get(self.authorization_url(client, scope="user:balance"))
        self.host.add(path, {"redirect_uris": ["https://evil.example/"]}, **how)
        refused = self.visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)
        self.assertEqual((400, None), (refused.status, refused.location))
        self.assertIn("Redirect URL not registered", refused.text)

    def test_a_document_is_kept_as_its_host_allows(self):
        client = self.host.add("/kept.json", {"redirect_uris": [REDIRECT]}, fields=["Cache-Control: max-age=3600"])
        count = lambda: len([each for each in self.host.requests if "/kept.json" in each.line])
        for _ in range(3):
            self.assertEqual(200, self.visitor.get(self.authorization_url(client, scope="user:balance")).status)
        self.assertEqual(1, count())

    def test_the_log_names_the_client(self):
        client = self.host.url("/missing.json")
        self.visitor.get(self.authorization_url(client, scope="user:balance"))
        lines = [line for line in self.server.log_after(client).splitlines() if client in line]
        self.assertTrue(any("invalid_client" in line for line in lines), lines)


class PublicDocumentsOnly(AgentCase):
    flags = ("--client-metadata-documents",)

    def test_inner_addresses_are_not_asked(self):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            listener.settimeout(0.2)
            port = listener.getsockname()[1]
            for host in ("127.0.0.1", "localhost", "[::1]", "127.1", "0x7f000001", "10.0.0.1", "169.254.169.254", "[::ffff:7f00:1]"):
                with self.subTest(host):
                    page = self.visitor.get(self.authorization_url(f"https://{host}:{port}/c.json", scope="user:balance"))
                    self.assertEqual((400, None), (page.status, page.location))
                    self.assertIn("Application cannot be identified", page.text)
            with self.assertRaises(TimeoutError):
                listener.accept()


class DocumentRate(AgentCase):
    flags = ("--client-metadata-documents",)

    def test_documents_are_limited_by_address(self):
        fetch = lambda number: self.visitor.get(self.authorization_url(f"https://192.0.2.1/{number}", scope="user:balance")).status
        # Documentation addresses are refused at once, and count like all others.
        self.assertIn(429, {fetch(number) for number in range(40)})


if __name__ == "__main__":
    main()
