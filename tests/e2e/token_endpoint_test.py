#!/usr/bin/env python3
"""contract.md, items 34 to 37 and 39: the token endpoint, revocation and metadata, and their errors."""

import base64
import hashlib
import json

from application import REDIRECT_URL, REVOKE, TOKEN, Application, call, encode_form
from harness import HIGH_LIMITS, Case, Server, basic, concurrently, main
from visitor import Visitor, signed_in

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636 appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class TokenCase(Case):
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *(cls.flags or HIGH_LIMITS))
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.app = Application(cls.server, 1)
        cls.other = Application(cls.server, 1, name="Another")

    def assert_failure(self, response, error, status=400):
        """The response has the members of RFC 6749 section 5.2 and of the Error object."""
        self.assertEqual(status, response.status, response)
        self.assertEqual("application/json", response.get("Content-Type").split(";")[0])
        self.assertEqual(("no-store", "no-cache"), (response.get("Cache-Control"), response.get("Pragma")), response)
        body = response.json()
        self.assertEqual({"error", "error_description", "message", "documentation_url"}, set(body), response)
        self.assertEqual(error, body["error"], response)
        self.assertRegex(body["error_description"], r"^[\x20-\x21\x23-\x5b\x5d-\x7e]+$")
        self.assertRegex(body["documentation_url"], r"^https?://.+/docs/")
        self.assert_limit_fields(response)
        return response


class Bodies(TokenCase):
    """Item 34."""

    def test_forms_and_json_with_both_kinds_of_client_credentials(self):
        for as_json in (False, True):
            for with_basic in (False, True):
                with self.subTest(json=as_json, basic=with_basic):
                    response = self.app.exchange(self.app.code(self.visitor), as_json=as_json, with_basic=with_basic)
                    self.assertEqual(200, response.status, response)
                    refreshed = self.app.refresh(response.json()["refresh_token"], as_json=as_json, with_basic=with_basic)
                    self.assertEqual(200, refreshed.status, refreshed)
                    self.assertEqual("no-store", refreshed.get("Cache-Control"))

    def test_types_with_parameters_and_in_any_case(self):
        for kind in ("application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-Urlencoded"):
            response = self.app.exchange(self.app.code(self.visitor), fields={"Content-Type": kind})
            self.assertEqual(200, response.status, response)
        response = self.app.exchange(self.app.code(self.visitor), as_json=True, fields={"Content-Type": "application/json; charset=utf-8"})
        self.assertEqual(200, response.status, response)

    def test_a_parameter_without_a_value_counts_as_missing(self):
        """RFC 6749 section 3.2."""
        response = self.app.exchange(self.app.code(self.visitor), redirect_uri="", state="", code_verifier="")
        self.assertEqual(200, response.status, response)
        response = self.app.exchange(self.app.code(self.visitor), redirect_uri=None, state=None, as_json=True)
        self.assertEqual(200, response.status, response)
        self.assert_failure(self.app.exchange(""), "invalid_request")
        self.assertEqual(200, self.app.refresh(response.json()["refresh_token"], scope="").status)

    def test_different_credentials_in_basic_and_body_are_refused(self):
        code = self.app.code(self.visitor)
        sent = {"grant_type": "authorization_code", "code": code}
        for own in ({"client_id": self.other.id, "client_secret": self.app.secret}, {"client_id": self.other.id},
                    {"client_id": self.app.id, "client_secret": self.other.secret}, {"client_secret": "x"}):
            self.assert_failure(self.app.post(TOKEN, {**sent, **own}, with_basic=True), "invalid_request")
        same = {"client_id": self.app.id, "client_secret": self.app.secret}
        self.assertEqual(200, self.app.post(TOKEN, {**sent, **same}, with_basic=True).status)
        response = self.app.exchange(self.app.code(self.visitor), client_id=self.app.id, with_basic=True)
        self.assertEqual(200, response.status, "the same client_id may be repeated in the body")

    def test_basic_credentials_are_form_encoded(self):
        """RFC 6749 section 2.3.1. Credentials of Tollgate need no escaping, so both interpretations agree."""
        code = self.app.code(self.visitor)
        escaped = "".join(f"%{ord(c):02X}" for c in self.app.id)
        response = self.server.request("POST", TOKEN, {**FORM, "Authorization": basic(escaped, self.app.secret)},
                                       encode_form({"grant_type": "authorization_code", "code": code}))
        self.assertEqual(200, response.status, response)

    def test_a_parameter_that_is_repeated(self):
        code = self.app.code(self.visitor)
        grant = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", REDIRECT_URL)]
        own = [("client_id", self.app.id), ("client_secret", self.app.secret)]
        for repeated in (*grant, *own):
            body = encode_form([*grant, *own, repeated])
            self.assert_failure(self.server.request("POST", TOKEN, FORM, body), "invalid_request")
        body = json.dumps(dict(grant + own))[:-1] + f", \"code\": \"{code}\"}}"
        self.assert_failure(self.server.request("POST", TOKEN, {"Content-Type": "application/json"}, body.encode()),
                            "invalid_request")
        self.assertEqual(200, self.app.exchange(code).status, "the code is still valid")

    def test_bodies_that_are_invalid(self):
        for kind, bodies in (("application/json", (b"", b"[]", b"{", b'"x"', b"[" * 5000)),
                             ("application/x-www-form-urlencoded", (b"%zz=1", b"a=\xff")),
                             ("application/x-www-form-urlencoded", (b"", b"&" * 500, b'{"grant_type": "refresh_token"}')),
                             ("text/plain", (b"grant_type=x",)), (None, (b"x",)), ("multipart/form-data; boundary=x", (b"--x--",))):
            for body in bodies:
                with self.subTest(kind=kind, body=body[:20]):
                    self.assert_failure(self.server.request("POST", TOKEN, {"Content-Type": kind}, body), "invalid_request")
        response = self.server.request("POST", TOKEN, {"Content-Type": "application/json"}, b'{"grant_type": 1}')
        self.assertIn("client_id is missing", self.assert_failure(response, "invalid_request").json()["message"])

    def test_a_body_that_is_too_large(self):
        response = self.server.request("POST", TOKEN, FORM, b"a=" + b"b" * 70_000)
        self.assertEqual(413, response.status)

    def test_other_methods_and_the_slash(self):
        for path in (TOKEN, TOKEN.rstrip("/"), REVOKE, REVOKE.rstrip("/")):
            for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
                response = self.server.request(method, path)
                self.assertEqual((405, {"POST", "OPTIONS"}), (response.status, set(response.get("Allow").split(", "))), path)
                self.assert_limit_fields(response)
            response = self.server.request("OPTIONS", path)
            self.assertEqual((204, {"POST", "OPTIONS"}), (response.status, set(response.get("Allow").split(", "))))
        code = self.app.code(self.visitor)
        response = self.app.post(TOKEN.rstrip("/"), {"grant_type": "authorization_code", "code": code})
        self.assertEqual(200, response.status, response)

    def test_parameters_in_the_query_are_refused(self):
        query = encode_form({"client_id": self.app.id, "client_secret": self.app.secret, "grant_type": "authorization_code",
                             "code": self.app.code(self.visitor)}).decode()
        response = self.server.request("POST", f"{TOKEN}?{query}", FORM, b"")
        self.assertIn("not in the query", self.assert_failure(response, "invalid_request").json()["message"])

    def test_grant_types(self):
        for grant_type in ("password", "implicit", "Authorization_Code"):
            self.assert_failure(self.app.post(TOKEN, {"grant_type": grant_type}), "unsupported_grant_type")
        self.assert_failure(self.app.post(TOKEN, {}), "invalid_request")
        self.assert_failure(self.app.post(TOKEN, {"grant_type": "authorization_code"}), "invalid_request")
        self.assert_failure(self.app.post(TOKEN, {"grant_type": "refresh_token"}), "invalid_request")

    def test_unknown_parameters_are_ignored(self):
        response = self.app.exchange(self.app.code(self.visitor), state="anything", resources="x", audience="y")
        self.assertEqual(200, response.status)

    def test_every_request_needs_a_user_agent(self):
        for path in (TOKEN, REVOKE, "/.well-known/oauth-authorization-server", "/en/user/oauth/", "/en/user/sign_in/"):
            for agent in (None, "", " "):
                response = self.server.request("GET", path, {"User-Agent": agent})
                self.assertEqual(403, response.status)
                self.assert_error(response, 403, "User-Agent")


class Clients(TokenCase):
    def test_a_wrong_secret_is_refused_and_keeps_the_code(self):
        """Item 35."""
        code = self.app.code(self.visitor)
        wrong = self.app.secret[:-1] + ("a" if self.app.secret[-1] != "a" else "b")
        for secret in (wrong, self.other.secret, "x", self.app.secret + "a", self.app.secret.upper()):
            response = self.assert_failure(self.app.exchange(code, secret=secret), "invalid_client", 401)
            self.assertEqual([], response.all("WWW-Authenticate"))
            response = self.assert_failure(self.app.exchange(code, secret=secret, with_basic=True), "invalid_client", 401)
            self.assertEqual(1, len(response.all("WWW-Authenticate")))
            self.assertTrue(response.get("WWW-Authenticate").startswith("Basic"))
        self.assertEqual(200, self.app.exchange(code).status)

    def test_missing_client_credentials(self):
        """Item 34: they are named, and count only if a secret is tested."""
        def remaining(response):
            return int(response.get("X-RateLimit-Remaining"))

        before = remaining(self.server.request("OPTIONS", TOKEN))
        for sent, error, status, text in (
                ({}, "invalid_request", 400, "client_id is missing"),
                ({"client_secret": self.app.secret}, "invalid_request", 400, "client_id is missing"),
                ({"client_id": "", "client_secret": ""}, "invalid_request", 400, "client_id is missing"),
                ({"client_id": self.app.id}, "invalid_client", 401, "client_secret is missing"),
                ({"client_id": "nobody"}, "invalid_client", 401, "no application with this client_id")):
            response = self.server.request("POST", TOKEN, FORM, encode_form({"grant_type": "authorization_code", "code": "x", **sent}))
            self.assertIn(text, self.assert_failure(response, error, status).json()["error_description"])
            self.assertEqual(before, remaining(response))
        own = encode_form({"grant_type": "refresh_token", "refresh_token": "x", "client_id": self.app.id, "client_secret": self.app.secret})
        for value, error, status in (
                ("Basic", "invalid_client", 401), ("Basic !!!", "invalid_client", 401),
                ("Basic " + base64.b64encode(b"no colon").decode(), "invalid_client", 401), ("Bearer x", "invalid_request", 400)):
            response = self.server.request("POST", TOKEN, {**FORM, "Authorization": value}, own)
            self.assert_failure(response, error, status)
            self.assertEqual(before, remaining(response))
        response = self.server.request("POST", TOKEN, FORM, encode_form({"client_id": "nobody", "client_secret": self.app.secret}))
        self.assert_failure(response, "invalid_client", 401)
        self.assertEqual(before - 1, remaining(response))

    def test_an_unknown_client_and_a_wrong_secret_look_the_same(self):
        bodies = [self.server.request("POST", TOKEN, FORM, encode_form({"client_id": client, "client_secret": self.other.secret,
                                                                        "grant_type": "authorization_code", "code": "x"})).body
                  for client in (self.app.id, "tgi_" + "0" * 22)]
        self.assertEqual(*bodies)


class Codes(TokenCase):
    """Items 35 and 36."""

    def test_a_code_works_once_and_its_reuse_revokes(self):
        code = self.app.code(self.visitor)
        tokens = self.app.exchange(code).json()
        more = self.app.refresh(tokens["refresh_token"]).json()
        self.assertEqual(200, call(self.server, more["access_token"]).status)
        self.assert_failure(self.app.exchange(code), "invalid_grant")
        for token in (tokens, more):
            self.assert_error(call(self.server, token["access_token"]), 401)
        self.assert_failure(self.app.refresh(tokens["refresh_token"]), "invalid_grant")

    def test_one_of_many_concurrent_exchanges_succeeds(self):
        code = self.app.code(self.visitor)
        responses = concurrently(lambda _: self.app.exchange(code), range(16))
        self.assertEqual(1, [each.status for each in responses].count(200), responses)
        for response in responses:
            if response.status != 200:
                self.assert_failure(response, "invalid_grant")

    def test_one_of_many_concurrent_exchanges_at_two_servers_succeeds(self):
        code = self.app.code(self.visitor)
        with Server("--demo", *HIGH_LIMITS, data=self.server.data) as second:
            copy = object.__new__(Application)
            copy.server, copy.id, copy.secret = second, self.app.id, self.app.secret
            responses = concurrently(lambda app: app.exchange(code), [self.app, copy] * 8)
        self.assertEqual(1, [each.status for each in responses].count(200), responses)
        for response in responses:
            if response.status != 200:
                self.assert_failure(response, "invalid_grant")

    def test_codes_of_others_and_forged_codes(self):
        code = self.app.code(self.visitor)
        self.assert_failure(self.other.exchange(code), "invalid_grant")
        for forged in ("x", "tgc_" + "0" * 49, code[:-1], code + "a", code.swapcase(), "\0", "x" * 5000):
            self.assert_failure(self.app.exchange(forged), "invalid_grant")
        self.assert_failure(self.app.exchange(""), "invalid_request")
        self.assertEqual(200, self.app.exchange(code).status, "attempts of others do not invalidate the code")

    def test_the_redirect_of_the_request(self):
        code = self.app.code(self.visitor, redirect_uri=REDIRECT_URL)
        for uri in (REDIRECT_URL + "/", "https://evil.example/", REDIRECT_URL.upper()):
            self.assert_failure(self.app.exchange(code, redirect_uri=uri), "invalid_grant")
        self.assertEqual(200, self.app.exchange(code, redirect_uri=REDIRECT_URL).status)
        self.assertEqual(200, self.app.exchange(self.app.code(self.visitor, redirect_uri=REDIRECT_URL)).status,
                         "the specification does not require it")

    def test_pkce_once_sent_is_required(self):
        pkce = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        self.assertEqual(CHALLENGE, base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode())
        code = self.app.code(self.visitor, **pkce)
        self.assert_failure(self.app.exchange(code), "invalid_grant")
        for verifier in (CHALLENGE, VERIFIER[:-1], VERIFIER + "a", "a" * 43, "a" * 200, "!" * 50):
            self.assert_failure(self.app.exchange(code, code_verifier=verifier), "invalid_grant")
        self.assertEqual(200, self.app.exchange(code, code_verifier=VERIFIER).status)
        self.assert_failure(self.app.exchange(self.app.code(self.visitor), code_verifier=VERIFIER), "invalid_grant")


class Refreshing(TokenCase):
    """Item 37."""

    def test_a_refresh_token_can_be_reused_in_parallel(self):
        token = self.app.tokens(self.visitor)["refresh_token"]
        responses = concurrently(lambda _: self.app.refresh(token), range(24))
        self.assertEqual([200] * 24, [each.status for each in responses])
        created = {each.json()["access_token"] for each in responses}
        self.assertEqual(24, len(created))
        for access in created:
            self.assertEqual(200, call(self.server, access).status)
        for each in responses:
            self.assertNotIn("refresh_token", each.json())

    def test_fewer_scopes_but_never_more(self):
        tokens = self.app.tokens(self.visitor, "user:balance,sitesmaker")
        fewer = self.app.refresh(tokens["refresh_token"], scope="user:balance").json()
        self.assertEqual("user:balance", fewer["scope"])
        self.assertEqual(403, call(self.server, fewer["access_token"], "/v1/sitesmaker/accounts").status)
        for scope in ("itemplatform", "user:balance itemplatform:read", "nothing", "user:balance,sitesmaker,itemplatform"):
            self.assert_failure(self.app.refresh(tokens["refresh_token"], scope=scope), "invalid_scope")
        whole = self.app.refresh(tokens["refresh_token"]).json()
        self.assertEqual({"user:balance", "sitesmaker"}, set(whole["scope"].split(" ")), "the refresh token keeps its scopes")

    def test_tokens_of_others_and_other_kinds(self):
        tokens = self.app.tokens(self.visitor)
        self.assert_failure(self.other.refresh(tokens["refresh_token"]), "invalid_grant")
        for token in (tokens["access_token"], "x", "tgr_" + "0" * 49, tokens["refresh_token"] + "a"):
            self.assert_failure(self.app.refresh(token), "invalid_grant")
        self.assert_error(call(self.server, tokens["refresh_token"]), 401)


class Revoking(TokenCase):
    """Item 39, and RFC 7009."""

    def test_an_access_token_alone(self):
        tokens = self.app.tokens(self.visitor)
        response = self.app.post(REVOKE, {"token": tokens["access_token"], "token_type_hint": "access_token"})
        self.assertEqual(200, response.status, response)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)
        self.assertEqual(200, self.app.refresh(tokens["refresh_token"]).status)

    def test_a_refresh_token_and_its_access_tokens(self):
        tokens = self.app.tokens(self.visitor)
        more = self.app.refresh(tokens["refresh_token"]).json()
        self.assertEqual(200, self.app.post(REVOKE, {"token": tokens["refresh_token"]}, with_basic=True).status)
        for token in (tokens, more):
            self.assertEqual(401, call(self.server, token["access_token"]).status)
        self.assert_failure(self.app.refresh(tokens["refresh_token"]), "invalid_grant")

    def test_the_response_does_not_reveal_whether_a_token_existed(self):
        tokens = self.app.tokens(self.visitor)
        for sent in ({"token": "unknown"}, {"token": tokens["access_token"], "token_type_hint": "refresh_token"},
                     {"token": "x", "token_type_hint": "nonsense"}):
            self.assertEqual(200, self.app.post(REVOKE, sent).status)
        tokens = self.app.tokens(self.visitor)
        self.assertEqual(200, self.other.post(REVOKE, {"token": tokens["access_token"]}).status)
        self.assertEqual(200, call(self.server, tokens["access_token"]).status, "a client cannot revoke tokens of others")

    def test_failures(self):
        self.assert_failure(self.app.post(REVOKE, {}), "invalid_request")
        self.assert_failure(self.app.post(REVOKE, {"token": "x"}, secret="wrong"), "invalid_client", 401)


class Metadata(TokenCase):
    def test_contents(self):
        """RFC 8414."""
        response = self.server.request("GET", "/.well-known/oauth-authorization-server")
        self.assertEqual((200, "application/json"), (response.status, response.get("Content-Type").split(";")[0]))
        metadata = response.json()
        site = self.server.ready["auth"]
        self.assertEqual(site, metadata["issuer"])
        self.assertEqual(f"{site}/en/user/oauth/", metadata["authorization_endpoint"])
        self.assertEqual(f"{site}{TOKEN}", metadata["token_endpoint"])
        self.assertEqual(f"{site}{REVOKE}", metadata["revocation_endpoint"])
        self.assertEqual(["code"], metadata["response_types_supported"])
        self.assertEqual({"authorization_code", "refresh_token", "client_credentials",
                          "urn:ietf:params:oauth:grant-type:device_code"}, set(metadata["grant_types_supported"]))
        self.assertEqual(["S256"], metadata["code_challenge_methods_supported"])
        self.assertEqual({"client_secret_basic", "client_secret_post", "none"}, set(metadata["token_endpoint_auth_methods_supported"]))
        self.assertIs(True, metadata["authorization_response_iss_parameter_supported"])
        self.assertTrue({"user:balance", "sitesmaker", "itemplatform:read"} <= set(metadata["scopes_supported"]))


class Limits(TokenCase):
    """The requests to the token endpoint that count against the limit of an address."""

    flags = ("--anonymous-limit", "5/hour")

    def test_only_wrong_secrets_count_and_correct_ones_always_work(self):
        tokens = self.app.tokens(self.visitor)
        for _ in range(8):
            response = self.app.refresh(tokens["refresh_token"])
            self.assertEqual((200, "5", "5"), (response.status, response.get("X-RateLimit-Limit"), response.get("X-RateLimit-Remaining")))
        for left in (4, 3, 2, 1, 0):
            response = self.assert_failure(self.app.refresh("x", secret="wrong"), "invalid_client", 401)
            self.assertEqual(str(left), response.get("X-RateLimit-Remaining"))
        response = self.app.refresh("x", secret="wrong")
        self.assertEqual(429, response.status)
        self.assertRegex(response.get("Retry-After"), r"^[1-9][0-9]*$")
        self.assert_limit_fields(response)
        self.assertTrue({"message", "documentation_url"} <= set(response.json()))
        self.assertEqual(200, self.app.refresh(tokens["refresh_token"]).status, "a correct secret is never refused")
        self.assertEqual(200, self.app.exchange(self.app.code(self.visitor)).status)
        self.assertEqual(429, self.server.request("GET", "/v1/testservice/get").status, "the address has one window for all requests")
        self.assertEqual(200, Visitor(self.server).get("/en/user/sign_in/").status, "pages have no limit")


class LimitsBehindAProxy(TokenCase):
    flags = ("--anonymous-limit", "2/hour", "--trusted-proxy", "127.0.0.1")

    def test_failures_count_for_the_clients_own_address(self):
        def refresh(address, secret="wrong"):
            return self.app.refresh("x", secret=secret, fields={"X-Forwarded-For": address})
        self.assertEqual([401, 401, 429], [refresh("192.0.2.1").status for _ in range(3)])
        self.assertEqual([401, 401, 429], [refresh("192.0.2.2").status for _ in range(3)])
        self.assertEqual(400, refresh("192.0.2.1", self.app.secret).status, "a correct secret is accepted")
        self.assertEqual(429, self.server.request("GET", "/v1/testservice/get", {"X-Forwarded-For": "192.0.2.1"}).status)
        self.assertEqual(200, self.server.request("GET", "/v1/testservice/get", {"X-Forwarded-For": "192.0.2.3"}).status)


if __name__ == "__main__":
    main()
