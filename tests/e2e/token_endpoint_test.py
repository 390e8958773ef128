#!/usr/bin/env python3
"""contract.md, items 34 to 37 and 39: the token endpoint, revocation and metadata, and what failures look like."""

import base64
import concurrent.futures
import hashlib
import json

from application import BACK, REVOKE, TOKEN, Application, call, form_of
from harness import PLENTY, Case, Server, basic, main
from visitor import Visitor, query_of, signed_in

VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"  # RFC 7636 appendix B
CHALLENGE = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
FORM = {"Content-Type": "application/x-www-form-urlencoded"}


class TokenCase(Case):
    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *(cls.flags or PLENTY))
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.app = Application(cls.server, 1)
        cls.other = Application(cls.server, 1, name="Another")

    def assert_failure(self, answer, error, status=400):
        """RFC 6749 section 5.2, and the Error object's members."""
        self.assertEqual(status, answer.status, answer)
        self.assertEqual("application/json", answer.get("Content-Type").split(";")[0])
        self.assertEqual(("no-store", "no-cache"), (answer.get("Cache-Control"), answer.get("Pragma")), answer)
        told = answer.json()
        self.assertEqual({"error", "error_description", "message", "documentation_url"}, set(told), answer)
        self.assertEqual(error, told["error"], answer)
        self.assertRegex(told["error_description"], r"^[\x20-\x21\x23-\x5b\x5d-\x7e]+$")
        self.assertRegex(told["documentation_url"], r"^https?://.+/docs/")
        self.assert_limit_fields(answer)
        return answer


class Bodies(TokenCase):
    """Item 34."""

    def test_forms_and_json_with_both_kinds_of_client_credentials(self):
        for as_json in (False, True):
            for with_basic in (False, True):
                with self.subTest(json=as_json, basic=with_basic):
                    answer = self.app.exchange(self.app.code(self.visitor), as_json=as_json, with_basic=with_basic)
                    self.assertEqual(200, answer.status, answer)
                    refreshed = self.app.refresh(answer.json()["refresh_token"], as_json=as_json, with_basic=with_basic)
                    self.assertEqual(200, refreshed.status, refreshed)
                    self.assertEqual("no-store", refreshed.get("Cache-Control"))

    def test_types_with_parameters_and_in_any_case(self):
        for kind in ("application/x-www-form-urlencoded; charset=UTF-8", "Application/X-WWW-Form-Urlencoded"):
            answer = self.app.exchange(self.app.code(self.visitor), fields={"Content-Type": kind})
            self.assertEqual(200, answer.status, answer)
        answer = self.app.exchange(self.app.code(self.visitor), as_json=True, fields={"Content-Type": "application/json; charset=utf-8"})
        self.assertEqual(200, answer.status, answer)

    def test_a_parameter_without_a_value_counts_as_missing(self):
        """RFC 6749 section 3.2."""
        answer = self.app.exchange(self.app.code(self.visitor), redirect_uri="", state="", code_verifier="")
        self.assertEqual(200, answer.status, answer)
        answer = self.app.exchange(self.app.code(self.visitor), redirect_uri=None, state=None, as_json=True)
        self.assertEqual(200, answer.status, answer)
        self.assert_failure(self.app.exchange(""), "invalid_request")
        self.assertEqual(200, self.app.refresh(answer.json()["refresh_token"], scope="").status)

    def test_both_and_different_are_refused(self):
        code = self.app.code(self.visitor)
        sent = {"grant_type": "authorization_code", "code": code}
        for own in ({"client_id": self.other.id, "client_secret": self.app.secret}, {"client_id": self.other.id},
                    {"client_id": self.app.id, "client_secret": self.other.secret}, {"client_secret": "x"}):
            self.assert_failure(self.app.post(TOKEN, {**sent, **own}, with_basic=True), "invalid_request")
        same = {"client_id": self.app.id, "client_secret": self.app.secret}
        self.assertEqual(200, self.app.post(TOKEN, {**sent, **same}, with_basic=True).status)
        answer = self.app.exchange(self.app.code(self.visitor), client_id=self.app.id, with_basic=True)
        self.assertEqual(200, answer.status, "the same client_id is no second way")

    def test_basic_credentials_are_form_encoded(self):
        """RFC 6749 section 2.3.1; ours need no escaping, so both interpretations agree."""
        code = self.app.code(self.visitor)
        escaped = "".join(f"%{ord(c):02X}" for c in self.app.id)
        answer = self.server.ask("POST", TOKEN, {**FORM, "Authorization": basic(escaped, self.app.secret)},
                                 form_of({"grant_type": "authorization_code", "code": code}))
        self.assertEqual(200, answer.status, answer)

    def test_a_parameter_that_is_repeated(self):
        code = self.app.code(self.visitor)
        whole = [("grant_type", "authorization_code"), ("code", code), ("redirect_uri", BACK)]
        own = [("client_id", self.app.id), ("client_secret", self.app.secret)]
        for twice in (*whole, *own):
            body = form_of([*whole, *own, twice])
            self.assert_failure(self.server.ask("POST", TOKEN, FORM, body), "invalid_request")
        body = json.dumps(dict(whole + own))[:-1] + f", \"code\": \"{code}\"}}"
        self.assert_failure(self.server.ask("POST", TOKEN, {"Content-Type": "application/json"}, body.encode()),
                            "invalid_request")
        self.assertEqual(200, self.app.exchange(code).status, "the code is still good")

    def test_bodies_that_are_invalid(self):
        for kind, body in (("application/json", b""), ("application/json", b"[]"), ("application/json", b"{"),
                           ("application/json", b"{\"grant_type\": 1}"), ("application/json", b"\"x\""),
                           ("application/json", b"[" * 5000), ("application/x-www-form-urlencoded", b""),
                           ("application/x-www-form-urlencoded", b"%zz=1"), ("application/x-www-form-urlencoded", b"a=\xff"),
                           ("application/x-www-form-urlencoded", b"&" * 500), ("text/plain", b"grant_type=x"), (None, b"x"),
                           ("multipart/form-data; boundary=x", b"--x--")):
            with self.subTest(kind=kind, body=body[:20]):
                answer = self.server.ask("POST", TOKEN, {"Content-Type": kind}, body)
                self.assertIn(answer.status, (400, 401, 415), answer)
                told = answer.json()
                self.assertTrue({"error", "message", "documentation_url"} <= set(told), told)

    def test_a_body_that_is_too_large(self):
        answer = self.server.ask("POST", TOKEN, FORM, b"a=" + b"b" * 70_000)
        self.assertEqual(413, answer.status)

    def test_other_methods_and_the_slash(self):
        for path in (TOKEN, TOKEN.rstrip("/"), REVOKE, REVOKE.rstrip("/")):
            for method in ("GET", "HEAD", "PUT", "DELETE", "PATCH"):
                answer = self.server.ask(method, path)
                self.assertEqual((405, {"POST", "OPTIONS"}), (answer.status, set(answer.get("Allow").split(", "))), path)
                self.assert_limit_fields(answer)
            answer = self.server.ask("OPTIONS", path)
            self.assertEqual((204, {"POST", "OPTIONS"}), (answer.status, set(answer.get("Allow").split(", "))))
        code = self.app.code(self.visitor)
        answer = self.app.post(TOKEN.rstrip("/"), {"grant_type": "authorization_code", "code": code})
        self.assertEqual(200, answer.status, answer)

    def test_parameters_in_the_query_are_ignored(self):
        query = form_of({"client_id": self.app.id, "client_secret": self.app.secret, "grant_type": "authorization_code",
                         "code": self.app.code(self.visitor)}).decode()
        answer = self.server.ask("POST", f"{TOKEN}?{query}", FORM, b"")
        self.assertIn(answer.status, (400, 401))

    def test_grant_types(self):
        for grant_type in ("password", "implicit", "Authorization_Code"):
            self.assert_failure(self.app.post(TOKEN, {"grant_type": grant_type}), "unsupported_grant_type")
        self.assert_failure(self.app.post(TOKEN, {}), "invalid_request")
        self.assert_failure(self.app.post(TOKEN, {"grant_type": "authorization_code"}), "invalid_request")
        self.assert_failure(self.app.post(TOKEN, {"grant_type": "refresh_token"}), "invalid_request")

    def test_unknown_parameters_are_ignored(self):
        answer = self.app.exchange(self.app.code(self.visitor), state="anything", resource="x", audience="y")
        self.assertEqual(200, answer.status)

    def test_every_request_needs_a_user_agent(self):
        for path in (TOKEN, REVOKE, "/.well-known/oauth-authorization-server", "/en/user/oauth/", "/en/user/sign_in/"):
            for agent in (None, "", " "):
                answer = self.server.ask("GET", path, {"User-Agent": agent})
                self.assertEqual(403, answer.status)
                self.assert_error(answer, 403, "User-Agent")


class Clients(TokenCase):
    def test_a_wrong_secret_is_refused_and_keeps_the_code(self):
        """Item 35."""
        code = self.app.code(self.visitor)
        wrong = self.app.secret[:-1] + ("a" if self.app.secret[-1] != "a" else "b")
        for secret in (wrong, self.other.secret, "x", self.app.secret + "a", self.app.secret.upper()):
            answer = self.assert_failure(self.app.exchange(code, secret=secret), "invalid_client", 401)
            self.assertEqual([], answer.all("WWW-Authenticate"))
            answer = self.assert_failure(self.app.exchange(code, secret=secret, with_basic=True), "invalid_client", 401)
            self.assertEqual(1, len(answer.all("WWW-Authenticate")))
            self.assertTrue(answer.get("WWW-Authenticate").startswith("Basic"))
        self.assertEqual(200, self.app.exchange(code).status)

    def test_missing_client_credentials(self):
        for sent in ({}, {"client_id": self.app.id}, {"client_secret": self.app.secret}, {"client_id": "", "client_secret": ""},
                     {"client_id": "nobody", "client_secret": self.app.secret}):
            answer = self.server.ask("POST", TOKEN, FORM, form_of({"grant_type": "authorization_code", "code": "x", **sent}))
            self.assertIn(answer.json()["error"], ("invalid_client", "invalid_request"), answer)
        for value in ("Basic", "Basic !!!", "Basic " + base64.b64encode(b"no colon").decode(), "Bearer x",
                      "Basic " + base64.b64encode(b"\xff\xfe:\xff").decode()):
            answer = self.server.ask("POST", TOKEN, {**FORM, "Authorization": value}, b"grant_type=authorization_code&code=x")
            self.assertIn(answer.status, (400, 401), (value, answer))
            self.assertIn(answer.json()["error"], ("invalid_client", "invalid_request"))

    def test_an_unknown_client_and_a_wrong_secret_look_the_same(self):
        bodies = [self.server.ask("POST", TOKEN, FORM, form_of({"client_id": client, "client_secret": self.other.secret,
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

    def test_of_many_at_once_one_succeeds(self):
        code = self.app.code(self.visitor)
        with concurrent.futures.ThreadPoolExecutor(16) as many:
            answers = list(many.map(lambda _: self.app.exchange(code), range(16)))
        self.assertEqual(1, [each.status for each in answers].count(200), answers)
        for answer in answers:
            if answer.status != 200:
                self.assert_failure(answer, "invalid_grant")

    def test_of_many_at_once_at_two_servers_one_succeeds(self):
        code = self.app.code(self.visitor)
        with Server("--demo", *PLENTY, data=self.server.data) as beside:
            there = object.__new__(Application)
            there.server, there.id, there.secret = beside, self.app.id, self.app.secret
            with concurrent.futures.ThreadPoolExecutor(16) as many:
                answers = list(many.map(lambda i: (self.app, there)[i % 2].exchange(code), range(16)))
        self.assertEqual(1, [each.status for each in answers].count(200), answers)
        for answer in answers:
            if answer.status != 200:
                self.assert_failure(answer, "invalid_grant")

    def test_codes_of_others_and_forged_codes(self):
        code = self.app.code(self.visitor)
        self.assert_failure(self.other.exchange(code), "invalid_grant")
        for made_up in ("x", "", "tgc_" + "0" * 49, code[:-1], code + "a", code.swapcase(), "\0", "x" * 5000):
            answer = self.app.exchange(made_up)
            self.assertEqual(400, answer.status, answer)
            self.assertIn(answer.json()["error"], ("invalid_grant", "invalid_request"))
        self.assertEqual(200, self.app.exchange(code).status, "nobody else's try used it up")

    def test_the_redirect_of_the_request(self):
        code = self.app.code(self.visitor, redirect_uri=BACK)
        for uri in (BACK + "/", "https://evil.example/", BACK.upper()):
            self.assert_failure(self.app.exchange(code, redirect_uri=uri), "invalid_grant")
        self.assertEqual(200, self.app.exchange(code, redirect_uri=BACK).status)
        self.assertEqual(200, self.app.exchange(self.app.code(self.visitor, redirect_uri=BACK)).status,
                         "not required, the specification says")

    def test_pkce_once_sent_is_required(self):
        asked = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
        self.assertEqual(CHALLENGE, base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode())
        code = self.app.code(self.visitor, **asked)
        self.assert_failure(self.app.exchange(code), "invalid_grant")
        for verifier in (CHALLENGE, VERIFIER[:-1], VERIFIER + "a", "a" * 43, "a" * 200, "!" * 50):
            self.assert_failure(self.app.exchange(code, code_verifier=verifier), "invalid_grant")
        self.assertEqual(200, self.app.exchange(code, code_verifier=VERIFIER).status)
        self.assert_failure(self.app.exchange(self.app.code(self.visitor), code_verifier=VERIFIER), "invalid_grant")


class Refreshing(TokenCase):
    """Item 37."""

    def test_again_and_in_parallel(self):
        token = self.app.tokens(self.visitor)["refresh_token"]
        with concurrent.futures.ThreadPoolExecutor(8) as many:
            answers = list(many.map(lambda _: self.app.refresh(token), range(24)))
        self.assertEqual([200] * 24, [each.status for each in answers])
        made = {each.json()["access_token"] for each in answers}
        self.assertEqual(24, len(made))
        for access in made:
            self.assertEqual(200, call(self.server, access).status)
        for each in answers:
            self.assertNotIn("refresh_token", each.json())

    def test_fewer_scopes_but_never_more(self):
        tokens = self.app.tokens(self.visitor, "user:balance,sitesmaker")
        fewer = self.app.refresh(tokens["refresh_token"], scope="user:balance").json()
        self.assertEqual("user:balance", fewer["scope"])
        self.assertEqual(403, call(self.server, fewer["access_token"], "/v1/sitesmaker/accounts").status)
        for scope in ("itemplatform", "user:balance itemplatform:read", "nothing", "user:balance,sitesmaker,itemplatform"):
            self.assert_failure(self.app.refresh(tokens["refresh_token"], scope=scope), "invalid_scope")
        whole = self.app.refresh(tokens["refresh_token"]).json()
        self.assertEqual({"user:balance", "sitesmaker"}, set(whole["scope"].split(" ")), "it was not narrowed itself")

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
        answer = self.app.post(REVOKE, {"token": tokens["access_token"], "token_type_hint": "access_token"})
        self.assertEqual(200, answer.status, answer)
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
        mine = self.app.tokens(self.visitor)
        self.assertEqual(200, self.other.post(REVOKE, {"token": mine["access_token"]}).status)
        self.assertEqual(200, call(self.server, mine["access_token"]).status, "somebody else's lives on")

    def test_failures(self):
        self.assert_failure(self.app.post(REVOKE, {}), "invalid_request")
        self.assert_failure(self.app.post(REVOKE, {"token": "x"}, secret="wrong"), "invalid_client", 401)


class Metadata(TokenCase):
    def test_contents(self):
        """RFC 8414."""
        answer = self.server.ask("GET", "/.well-known/oauth-authorization-server")
        self.assertEqual((200, "application/json"), (answer.status, answer.get("Content-Type").split(";")[0]))
        told = answer.json()
        site = self.server.ready["auth"]
        self.assertEqual(site, told["issuer"])
        self.assertEqual(f"{site}/en/user/oauth/", told["authorization_endpoint"])
        self.assertEqual(f"{site}{TOKEN}", told["token_endpoint"])
        self.assertEqual(f"{site}{REVOKE}", told["revocation_endpoint"])
        self.assertEqual(["code"], told["response_types_supported"])
        self.assertEqual({"authorization_code", "refresh_token", "client_credentials",
                          "urn:ietf:params:oauth:grant-type:device_code"}, set(told["grant_types_supported"]))
        self.assertEqual(["S256"], told["code_challenge_methods_supported"])
        self.assertEqual({"client_secret_basic", "client_secret_post", "none"}, set(told["token_endpoint_auth_methods_supported"]))
        self.assertIs(True, told["authorization_response_iss_parameter_supported"])
        self.assertTrue({"user:balance", "sitesmaker", "itemplatform:read"} <= set(told["scopes_supported"]))


class Limits(TokenCase):
    """What the token endpoint counts, and against which address."""

    flags = ("--anonymous-limit", "5/hour")

    def test_only_wrong_secrets_count_and_correct_ones_always_work(self):
        tokens = self.app.tokens(self.visitor)
        for _ in range(8):
            answer = self.app.refresh(tokens["refresh_token"])
            self.assertEqual((200, "5", "5"), (answer.status, answer.get("X-RateLimit-Limit"), answer.get("X-RateLimit-Remaining")))
        for left in (4, 3, 2, 1, 0):
            answer = self.assert_failure(self.app.refresh("x", secret="wrong"), "invalid_client", 401)
            self.assertEqual(str(left), answer.get("X-RateLimit-Remaining"))
        answer = self.app.refresh("x", secret="wrong")
        self.assertEqual(429, answer.status)
        self.assertRegex(answer.get("Retry-After"), r"^[1-9][0-9]*$")
        self.assert_limit_fields(answer)
        self.assertTrue({"message", "documentation_url"} <= set(answer.json()))
        self.assertEqual(200, self.app.refresh(tokens["refresh_token"]).status, "a right secret is never refused")
        self.assertEqual(200, self.app.exchange(self.app.code(self.visitor)).status)
        self.assertEqual(429, self.server.ask("GET", "/v1/testservice/get").status, "it is the address' one window")
        self.assertEqual(200, Visitor(self.server).get("/en/user/sign_in/").status, "pages have none")


class LimitsBehindAProxy(TokenCase):
    flags = ("--anonymous-limit", "2/hour", "--trusted-proxy", "127.0.0.1")

    def test_failures_count_for_the_clients_own_address(self):
        def ask(address, secret="wrong"):
            return self.app.refresh("x", secret=secret, fields={"X-Forwarded-For": address})
        self.assertEqual([401, 401, 429], [ask("192.0.2.1").status for _ in range(3)])
        self.assertEqual([401, 401, 429], [ask("192.0.2.2").status for _ in range(3)])
        self.assertEqual(400, ask("192.0.2.1", self.app.secret).status, "a right secret is heard")
        self.assertEqual(429, self.server.ask("GET", "/v1/testservice/get", {"X-Forwarded-For": "192.0.2.1"}).status)
        self.assertEqual(200, self.server.ask("GET", "/v1/testservice/get", {"X-Forwarded-For": "192.0.2.3"}).status)


if __name__ == "__main__":
    main()
