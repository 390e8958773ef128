#!/usr/bin/env python3
"""contract.md, items 7 and 8: methods and paths, and the pages to which errors link."""

import urllib.parse

from harness import Case, encode, main, over_every_transport

KNOWN = {
    "/v1/user/balance": "GET, HEAD, OPTIONS",
    "/v1/sitesmaker/accounts": "GET, HEAD, OPTIONS",
    "/v1/itemplatform/1/hooks": "GET, HEAD, POST, OPTIONS",
    "/v1/sitesmaker/hooks/1": "DELETE, OPTIONS",
    "/v1/testservice/get": "GET, HEAD, OPTIONS",
    "/v1/testservice/auth": "GET, HEAD, OPTIONS",
    "/v1/testservice/post": "POST, OPTIONS",
    "/v1/openapi.json": "GET, HEAD, OPTIONS",
}


@over_every_transport
class Methods:
    """Item 7."""

    def test_head_has_gets_fields_and_no_body(self):
        for path in ("/v1/user/balance", "/v1/sitesmaker/accounts", "/v1/testservice/get", "/v1/nowhere",
                     "/v1/openapi.json"):
            with self.subTest(path=path), self.server.connect() as connection:
                token = {"Authorization": self.server.demo_token}
                got = connection.ask("GET", path, token)
                head = connection.ask("HEAD", path, token)
                self.assertEqual(b"", head.body)
                self.assertEqual(got.status, head.status)
                varying = ("date", "x-ratelimit-remaining", "x-request-id")
                same = [[(n.lower(), v) for n, v in each.fields if n.lower() not in varying] for each in (got, head)]
                self.assertEqual(*same)
                self.assertEqual(str(len(got.body)), head.get("Content-Length"))
                self.assertEqual(200, connection.ask("GET", "/v1/testservice/get").status,
                                 "the connection goes on in step")

    def test_options_lists_the_methods(self):
        for path, methods in KNOWN.items():
            for token in (None, self.server.demo_token):
                with self.subTest(path=path):
                    answer = self.server.ask("OPTIONS", path, token=token)
                    self.assertEqual((204, b""), (answer.status, answer.body), answer)
                    self.assertEqual(set(methods.split(", ")), set(answer.get("Allow").split(", ")))
                    self.assertIsNone(answer.get("Content-Length"), "RFC 9110 section 8.6")
                    self.assert_limit_fields(answer)

    def test_the_documentation_lists_its_methods(self):
        answer = self.server.ask("OPTIONS", "/docs/")
        self.assertEqual((204, b"", "GET, HEAD, OPTIONS"), (answer.status, answer.body, answer.get("Allow")))
        answer = self.server.ask("POST", "/docs/")
        self.assertEqual((405, "GET, HEAD, OPTIONS"), (answer.status, answer.get("Allow")))

    def test_an_unsupported_method_gets_405_and_allow(self):
        for path, methods in KNOWN.items():
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"):
                if method in methods.split(", "):
                    continue
                for token in (None, self.server.demo_token):
                    with self.subTest(path=path, method=method):
                        answer = self.server.ask(method, path, token=token)
                        self.assert_error(answer, 405)
                        self.assertEqual(set(methods.split(", ")), set(answer.get("Allow").split(", ")))

    def test_an_unknown_method_gets_501_on_every_path(self):
        for path in (*KNOWN, "/v1/nowhere"):
            for method in ("BREW", "get"):  # names are case-sensitive: RFC 9110 section 9.1
                with self.subTest(path=path, method=method):
                    self.assert_error(self.server.ask(method, path), 501)
        self.assertEqual(501, self.server.ask("BREW", "/docs/").status)

    def test_http_1_0(self):
        with self.server.connect() as connection:
            connection.send(b"GET /v1/testservice/get HTTP/1.0\r\nUser-Agent: old\r\n\r\n")
            self.assert_json(connection.read())
            self.assertTrue(connection.ended())

    def test_pipelined_requests_are_answered_in_order(self):
        with self.server.connect() as connection:
            paths = ["/v1/testservice/get", "/v1/nowhere", "/v1/user/balance", "/v1/testservice/get"] * 8
            connection.send(b"".join(encode("GET", path) for path in paths))
            self.assertEqual([200, 404, 401, 200] * 8, [connection.read().status for _ in paths])


@over_every_transport
class Paths:
    """Item 8."""

    def test_what_is_similar_to_a_path_is_not_found(self):
        account = self.server.demo["sitesmaker_account"]
        for path in ("/v1/sitesmaker/accounts/", "/v1/user/balance/", "/v1//user/balance", "//v1/user/balance",
                     "/v1/user//balance",
                     "/v2/user/balance", "/user/balance", "/v1", "/v1/", "//", "/v1/user", "/v1/user%2Fbalance",
                     "/v1/user%2fbalance",
                     "/v1/user/%62alance", "/v1/sitesmaker/../user/balance", "/v1/./user/balance", "/v1/user/balance/.",
                     "/v1/user/balance;x",
                     "/v1/USER/balance", "/V1/user/balance", "/v1/user/balance%00", "/v1/user/balance%20",
                     "/v1/sitesmaker%20/accounts",
                     f"/v1/sitesmaker/{account}/hooks/", f"/v1/sitesmaker/{account}", "/v1/sitesmaker",
                     "/v1/testservice/accounts",
                     "/v1/testservice/1/hooks", "/v1/unknown/accounts", "/v10/user/balance"):
            for token in (None, self.server.demo_token):
                with self.subTest(path=path, token=token is not None):
                    self.assert_error(self.server.ask("GET", path, token=token), 404)

    def test_a_query_changes_nothing(self):
        for query in ("?", "?x=1", "?/../", "?a?b", "?access_token=x"):
            with self.subTest(query=query):
                self.assert_json(self.server.ask("GET", "/v1/user/balance" + query, token=self.server.demo_token))

    def test_the_absolute_form(self):
        answer = self.server.ask("GET", "http://localhost/v1/testservice/get")
        self.assert_json(answer)


@over_every_transport
class Documentation:
    def page(self, url):
        parts = urllib.parse.urlsplit(url)
        self.assertEqual(self.server.ready["auth"], f"{parts.scheme}://{parts.netloc}")
        return self.server.ask("GET", parts.path)

    def test_every_documentation_url_leads_to_a_page(self):
        hooks = f"/v1/sitesmaker/{self.server.demo['sitesmaker_account']}/hooks"
        errors = [self.server.ask("POST", hooks, body={}, token=self.server.demo_token),
                  self.server.ask("POST", "/v1/testservice/post", body={"x": "x" * 65536}),
                  self.server.ask("GET", "/v1/user/balance", [("Authorization", "a"), ("Authorization", "b")]),
                  self.server.ask("GET", "/v1/user/balance", {"User-Agent": None}),
                  self.server.ask("GET", "/v1/user/balance"),
                  self.server.ask("GET", "/v1/nowhere"), self.server.ask("PUT", "/v1/user/balance"),
                  self.server.ask("POST", "/v1/testservice/post", {"Content-Type": "text/plain"}, b"x"),
                  self.server.ask("POST", "/v1/testservice/post", {"Content-Type": "application/json"}, b"x"),
                  self.server.ask("POST", "/user/oauth_token/"), self.server.ask("GET", "/user/oauth_token/"),
                  self.server.ask("POST", "/user/oauth_token/", {"User-Agent": None}),
                  self.server.ask("POST", "/user/oauth_revoke/", body={"client_id": "a", "client_id_": "b"}),
                  self.server.ask("POST", "/.well-known/oauth-authorization-server", body={})]
        with self.server.connect() as connection:
            connection.send(b"nonsense\r\n\r\n")
            errors.append(connection.read())
        led_to = {urllib.parse.urlsplit(error.json()["documentation_url"]).path for error in errors}
        self.assertIn("/docs/oauth/", led_to)
        for error in errors:
            page = self.page(error.json()["documentation_url"])
            self.assertEqual(200, page.status, error)
            self.assertTrue(page.get("Content-Type").startswith("text/html"), page)
            self.assertIn(b"<h1", page.body)

    def test_the_pages_stay_on_this_server_and_lead_to_each_other(self):
        seen, to_see = set(), {"/docs/"}
        while to_see:
            path = to_see.pop()
            seen.add(path)
            page = self.server.ask("GET", path)
            self.assertEqual(200, page.status, path)
            text = page.body.decode()
            if page.get("Content-Type").startswith("text/html"):
                self.assertIn("default-src 'none'", page.get("Content-Security-Policy"), path)
            self.assertNotIn("<script", text)
            for attribute in ("href", "src"):
                for piece in text.split(f'{attribute}="')[1:]:
                    url = urllib.parse.urljoin(path, piece.split('"')[0].split("#")[0])
                    if url.startswith("/docs/") and url not in seen:
                        to_see.add(url)
        self.assertGreater(len(seen), 4)

    def test_openapi(self):
        described = self.assert_json(self.server.ask("GET", "/v1/openapi.json"))
        self.assertTrue(described["openapi"].startswith("3.1."))
        self.assertEqual(self.server.ready["api"], described["servers"][0]["url"])
        for path in ("/user/balance", "/{service}/accounts", "/{service}/{account}/hooks", "/{service}/hooks/{hook}"):
            self.assertIn(path, described["paths"])


if __name__ == "__main__":
    main()
