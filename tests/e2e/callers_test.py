#!/usr/bin/env python3
"""contract.md, items 9 to 17: credentials and scopes."""

import base64

from harness import HIGH_LIMITS, Case, Server, basic, main, over_every_transport


def raw_basic(pair):
    return "Basic " + base64.b64encode(pair).decode()


@over_every_transport
class Credentials:
    def assert_unauthorized(self, response, sent_invalid=True):
        self.assert_error(response, 401)
        challenges = ", ".join(response.all("WWW-Authenticate"))
        self.assertIn("Basic ", challenges)
        self.assertIn("Bearer ", challenges)
        self.assertEqual(sent_invalid, 'error="invalid_token"' in challenges, challenges)

    def test_9_the_scheme_is_case_insensitive_but_not_the_token(self):
        username, secret = self.server.demo["token_username"], self.server.demo["token_secret"]
        for scheme in ("Basic", "basic", "BASIC", "bAsIc", "Basic  "):
            with self.subTest(scheme=scheme):
                self.assert_json(self.server.balance(basic(username, secret, scheme)))
        for bad in ((username.swapcase(), secret), (username, secret.swapcase()), (username, secret.upper()),
                    (username, secret + "x"),
                    (username, secret[:-1]), (username, ""), ("", secret), ("", ""), (username + " ", secret),
                    (username, " " + secret)):
            with self.subTest(bad=bad):
                self.assert_unauthorized(self.server.balance(basic(*bad)))

    def test_10_broken_credentials_are_a_401_and_never_a_500(self):
        username, secret = self.server.demo["token_username"], self.server.demo["token_secret"]
        good = basic(username, secret)
        for value in ("Bearer", "Bearer ", "Bearer a b", "Bearer \xff\xfe", "Basic", "Basic ", "Basic !!!!",
                      "Basic " + "A" * 5000,
                      good + "=", good.rstrip("=") + "====", good[:-3] + "*" + good[-2:], good + " x", "Basic YQ",
                      "Basic YWJj",
                      raw_basic(b"no colon"), raw_basic(b"\xff\xfe:\xff"), raw_basic(b"\x00:\x00"), raw_basic(b":"),
                      raw_basic(username.encode() + b":" + secret.encode() + b"\x00"), "Digest username=x", "Negotiate",
                      "x", "=", ",",
                      base64.b64encode(f"{username}:{secret}".encode()).decode()):
            with self.subTest(value=value):
                self.assert_unauthorized(self.server.balance(value))
        self.assert_unauthorized(self.server.balance(""))

    def test_10_the_password_begins_at_the_first_colon(self):
        username, secret = self.server.demo["token_username"], self.server.demo["token_secret"]
        self.assert_unauthorized(self.server.balance(raw_basic(f"{username}:{secret}:".encode())))
        self.assert_unauthorized(self.server.balance(raw_basic(f"{username}::{secret}".encode())))

    def test_11_two_authorization_fields_are_refused(self):
        good = ("Authorization", self.server.demo_token)
        for fields in ([good, good], [good, ("authorization", "Bearer x")], [("Authorization", "x"), good]):
            response = self.server.request("GET", "/v1/user/balance", fields)
            self.assert_error(response, 400, "Authorization")

    def test_11_a_token_in_the_query_is_ignored(self):
        secret = self.server.demo["token_secret"]
        for query in (f"access_token={secret}", f"token={secret}"):
            self.assert_unauthorized(self.server.request("GET", "/v1/user/balance?" + query), sent_invalid=False)

    def test_12_a_personal_token_is_not_a_bearer_token(self):
        self.assert_unauthorized(self.server.balance("Bearer " + self.server.demo["token_secret"]))
        self.assert_unauthorized(self.server.balance("Bearer " + self.server.demo_token.split()[1]))

    def test_14_the_demonstration_paths(self):
        def assert_strings(response):
            lines = self.assert_json(response)
            self.assertTrue(lines and all(isinstance(each, str) for each in lines), lines)

        for token in (None, self.server.demo_token):
            assert_strings(self.server.request("GET", "/v1/testservice/get", token=token))
            assert_strings(self.server.request("POST", "/v1/testservice/post", token=token))
            assert_strings(self.server.request("POST", "/v1/testservice/post", body={"a": 1}, token=token))
        self.assert_unauthorized(self.server.request("GET", "/v1/testservice/auth"), sent_invalid=False)
        for path in ("auth", "get"):  # credentials that are sent must be valid, even where none are needed
            self.assert_unauthorized(self.server.request("GET", "/v1/testservice/" + path, token="Bearer x"))
        assert_strings(self.server.request("GET", "/v1/testservice/auth", token=self.server.demo_token))

    def test_the_order_of_refusals(self):
        """Agent, caller, limit, route, credentials, scope, body, endpoint: the cheapest check first."""
        self.assert_error(self.server.request("GET", "/v1/nowhere", {"User-Agent": ""}, token="Bearer x"), 403,
                          "User-Agent")
        self.assert_error(self.server.request("GET", "/v1/nowhere", token="Bearer x"), 404)
        self.assert_error(self.server.request("PUT", "/v1/user/balance", token="Bearer x"), 405)
        self.assert_error(self.server.request("POST", "/v1/sitesmaker/1/hooks", {"Content-Type": "text/plain"}, b"x"), 401)


class Scopes(Case):
    """Items 15 to 17."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*HIGH_LIMITS)
        cls.addClassCleanup(cls.server.stop)
        cls.user = cls.server.add_user("scopes")
        cls.site = cls.server.add_account(cls.user, "sitesmaker")
        cls.shop = cls.server.add_account(cls.user, "itemplatform")

    def assert_insufficient(self, response, scope):
        self.assert_error(response, 403)
        challenge = ", ".join(response.all("WWW-Authenticate"))
        self.assertIn("Bearer ", challenge)
        self.assertIn('error="insufficient_scope"', challenge)
        self.assertIn(f'scope="{scope}"', challenge)

    def test_what_each_scope_permits(self):
        paths = {"/v1/user/balance": "user:balance", "/v1/sitesmaker/accounts": "sitesmaker:read",
                 f"/v1/sitesmaker/{self.site}/hooks": "sitesmaker:read",
                 "/v1/itemplatform/accounts": "itemplatform:read",
                 f"/v1/itemplatform/{self.shop}/hooks": "itemplatform:read"}
        for scopes in ("user:balance", "sitesmaker:read", "sitesmaker", "itemplatform:read", "itemplatform",
                       "sitesmaker user:balance"):
            permitted = set(scopes.split())
            permitted |= {scope + ":read" for scope in permitted if ":" not in scope}
            token, _ = self.server.add_token(self.user, scopes)
            for path, scope in paths.items():
                with self.subTest(scopes=scopes, path=path):
                    response = self.server.request("GET", path, token=token)
                    if scope in permitted:
                        self.assert_json(response)
                    else:
                        self.assert_insufficient(response, scope)
            self.assert_json(self.server.request("GET", "/v1/testservice/auth", token=token))

    def test_reading_is_enough_for_hooks(self):
        token, _ = self.server.add_token(self.user, "sitesmaker:read")
        hook = {"event": "site.created", "target_url": "https://example.com/"}
        created = self.server.request("POST", f"/v1/sitesmaker/{self.site}/hooks", body=hook, token=token)
        number = self.assert_json(created, 201)["id"]
        self.assertEqual(204, self.server.request("DELETE", f"/v1/sitesmaker/hooks/{number}", token=token).status)
        self.assert_insufficient(self.server.request("POST", f"/v1/itemplatform/{self.shop}/hooks", body=hook, token=token),
                                 "itemplatform:read")
        self.assert_insufficient(self.server.request("DELETE", "/v1/itemplatform/hooks/1", token=token),
                                 "itemplatform:read")


class Revocation(Case):
    def test_a_revoked_token_is_refused_from_the_next_request_on(self):
        with Server(*HIGH_LIMITS) as server, server.connect() as connection:
            token, number = server.add_token(server.add_user("revoked"))
            for _ in range(3):
                self.assert_json(connection.request("GET", "/v1/user/balance", {"Authorization": token}))
            self.assertEqual({"id": number}, server.run("token", "revoke", "--id", number))
            self.assert_error(connection.request("GET", "/v1/user/balance", {"Authorization": token}), 401)


if __name__ == "__main__":
    main()
