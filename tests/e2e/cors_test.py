#!/usr/bin/env python3
"""Cross-origin requests of browsers: the API, the token endpoint and the metadata permit them, pages do not; preflights are not counted."""

from harness import Case, Server, main, run_command

ORIGIN = "https://app.example"
EXPOSED = {"X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset", "Retry-After", "X-Hook-Secret",
           "WWW-Authenticate", "Location", "X-Request-Id"}
OPEN = ("/v1/testservice/get", "/v1/user/balance", "/v1/nowhere", "/v1/openapi.json", "/user/oauth_token/", "/user/oauth_revoke/",
        "/.well-known/oauth-authorization-server")
PAGES = ("/en/user/sign_in/", "/en/user/settings/tokens/", "/en/user/oauth/", "/en/itemplatform/oauth/", "/en/nowhere", "/docs/")


def allowed(response):
    return response.get("Access-Control-Allow-Origin")


def preflight(server, path, origin=ORIGIN, method="GET", fields=()):
    return server.request("OPTIONS", path, [("Origin", origin), ("Access-Control-Request-Method", method),
                                            ("Access-Control-Request-Headers", "authorization"), *fields])


class AnyOrigin(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", "--anonymous-limit", "9/day")
        cls.addClassCleanup(cls.server.stop)

    def test_any_origin_may_read_responses(self):
        for path in OPEN:
            with self.subTest(path=path):
                response = self.server.request("GET", path, {"Origin": ORIGIN}, token=self.server.demo_token)
                self.assertEqual(["*"], response.all("Access-Control-Allow-Origin"), response)
                self.assertEqual(EXPOSED, set(response.get("Access-Control-Expose-Headers").split(", ")))
                self.assertIsNone(response.get("Access-Control-Allow-Credentials"))
                response = self.server.request("GET", path, token=self.server.demo_token)
                self.assertIsNone(allowed(response), "no Origin was sent")

    def test_pages_permit_no_other_origin(self):
        for path in PAGES:
            with self.subTest(path=path):
                for response in (self.server.request("GET", path, {"Origin": ORIGIN}), preflight(self.server, path)):
                    self.assertEqual([], [name for name, _ in response.fields if name.lower().startswith("access-control")])

    def test_refusals_of_what_is_no_proper_request_have_the_form_of_their_path(self):
        long = b"X: " + b"x" * 20_000 + b"\r\n"
        for path in (*OPEN, *PAGES):
            for status, head in ((414, f"GET {path}?{'x' * 9000} HTTP/1.1\r\n".encode()),
                                 (431, f"GET {path} HTTP/1.1\r\nHost: a\r\nOrigin: {ORIGIN}\r\n".encode() + long),
                                 (400, f"GET {path} HTTP/1.1\r\nHost: a\r\nOrigin: {ORIGIN}\r\nX Y: z\r\n".encode())):
                with self.subTest(path=path, status=status), self.server.connect() as connection:
                    connection.send(head)
                    response = connection.read()
                    self.assertEqual(status, response.status, response)
                    if path in PAGES:
                        self.assertEqual("text/html; charset=utf-8", response.get("Content-Type"))
                        self.assertEqual([], [name for name, _ in response.fields if name.lower().startswith("access-control")])
                    else:
                        self.assert_error(response, status)
                        self.assertEqual("*", allowed(response))

    def test_preflights_list_methods_and_fields(self):
        account = self.server.demo["sitesmaker_account"]
        for path, method in (("/v1/user/balance", "GET"), (f"/v1/sitesmaker/{account}/hooks", "POST"),
                             ("/v1/sitesmaker/hooks/1", "DELETE"), ("/user/oauth_token/", "POST"),
                             ("/user/oauth_revoke/", "POST"), ("/.well-known/oauth-authorization-server", "GET")):
            with self.subTest(path=path):
                response = preflight(self.server, path, method=method)
                self.assertEqual((204, "*", b""), (response.status, allowed(response), response.body))
                self.assertIn(method, response.get("Access-Control-Allow-Methods").split(", "))
                names = response.get("Access-Control-Allow-Headers").lower().split(", ")
                self.assertLessEqual({"authorization", "content-type", "user-agent", "x-requested-with"}, set(names))
                self.assertRegex(response.get("Access-Control-Max-Age"), r"^\d+$")
                self.assert_limit_fields(response)
        self.assertEqual(404, preflight(self.server, "/v1/nowhere").status)

    def test_preflights_are_not_counted(self):
        with Server("--anonymous-limit", "2/day") as server:
            def remaining(response):
                return int(response.get("X-RateLimit-Remaining"))

            for _ in range(5):
                self.assertEqual(2, remaining(preflight(server, "/v1/user/balance")))
                # A preflight does not check tokens: it does not reveal whether one is valid, and is not counted as a guess.
                self.assertEqual(2, remaining(preflight(server, "/v1/user/balance", fields=[("Authorization", "Bearer x")])))
            self.assertEqual(1, remaining(server.request("OPTIONS", "/v1/user/balance", {"Origin": ORIGIN})), "not a preflight")
            self.assertEqual(0, remaining(server.request("GET", "/v1/testservice/get")))
            refused = server.request("GET", "/v1/testservice/get", {"Origin": ORIGIN})
            self.assert_error(refused, 429)
            self.assertEqual("*", allowed(refused), "the page can read the error")
            self.assertEqual(204, preflight(server, "/v1/user/balance").status)

    def test_a_token_in_a_preflight_is_ignored(self):
        plain = preflight(self.server, "/v1/user/balance")
        with_token = preflight(self.server, "/v1/user/balance", fields=[("Authorization", self.server.demo_token)])
        self.assertEqual(plain.get("X-RateLimit-Limit"), with_token.get("X-RateLimit-Limit"))


class ChosenOrigins(Case):
    def test_only_the_configured_origins(self):
        with Server("--cors-origin", ORIGIN, "--cors-origin", "http://localhost:3000") as server:
            for origin in (ORIGIN, "http://localhost:3000"):
                for response in (server.request("GET", "/v1/testservice/get", {"Origin": origin}),
                                 preflight(server, "/v1/testservice/get", origin)):
                    self.assertEqual((origin, "Origin"), (allowed(response), response.get("Vary")))
            for origin in ("https://evil.example", ORIGIN + ".evil", "http://app.example", "null", "*"):
                for response in (server.request("GET", "/v1/testservice/get", {"Origin": origin}),
                                 preflight(server, "/v1/testservice/get", origin)):
                    self.assertEqual((None, "Origin"), (allowed(response), response.get("Vary")))

    def test_no_origin(self):
        with Server("--cors-origin", "none", "--anonymous-limit", "2/day") as server:
            for path in OPEN:
                response = preflight(server, path)
                self.assertEqual([], [name for name, _ in response.fields if name.lower().startswith("access-control")])
            self.assertEqual("2", preflight(server, "/v1/testservice/get").get("X-RateLimit-Remaining"))

    def test_invalid_origins(self):
        for text in ("", "*", "app.example", "https://", "https://app.example/", "https://app.example/x", "ftp://app.example",
                     "https://App.example", "https://app.example:443", "https://u@app.example", "https://app.example?x", "null"):
            with self.subTest(text=text):
                result = run_command("serve", "--store", "memory:", f"--cors-origin={text}")
                self.assertEqual((2, ""), (result.returncode, result.stdout))
                self.assertIn("--cors-origin", result.stderr)
        result = run_command("serve", "--store", "memory:", "--cors-origin", "none", "--cors-origin", ORIGIN)
        self.assertEqual(2, result.returncode)
        self.assertIn("--cors-origin", result.stderr)


if __name__ == "__main__":
    main()
