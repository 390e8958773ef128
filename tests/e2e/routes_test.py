#!/usr/bin/env python3
"""contract.md, items 7 and 8: methods and paths, and the documentation to which errors link."""

import urllib.parse

from harness import encode, main, over_every_transport

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

    def test_head_has_the_fields_of_get_and_no_body(self):
        for path in ("/v1/user/balance", "/v1/sitesmaker/accounts", "/v1/testservice/get", "/v1/nowhere",
                     "/v1/openapi.json"):
            with self.subTest(path=path), self.server.connect() as connection:
                token = {"Authorization": self.server.demo_token}
                get = connection.request("GET", path, token)
                head = connection.request("HEAD", path, token)
                self.assertEqual(b"", head.body)
                self.assertEqual(get.status, head.status)
                varying = ("date", "x-ratelimit-remaining", "x-request-id")
                same = [[(n.lower(), v) for n, v in each.fields if n.lower() not in varying] for each in (get, head)]
                self.assertEqual(*same)
                self.assertEqual(str(len(get.body)), head.get("Content-Length"))
                self.assertEqual(200, connection.request("GET", "/v1/testservice/get").status,
                                 "the next response on the connection is correct")

    def test_options_lists_the_methods(self):
        for path, methods in KNOWN.items():
            for token in (None, self.server.demo_token):
                with self.subTest(path=path):
                    response = self.server.request("OPTIONS", path, token=token)
                    self.assertEqual((204, b""), (response.status, response.body), response)
                    self.assertEqual(set(methods.split(", ")), set(response.get("Allow").split(", ")))
                    self.assertIsNone(response.get("Content-Length"), "RFC 9110 section 8.6")
                    self.assert_limit_fields(response)

    def test_the_documentation_lists_its_methods(self):
        response = self.server.request("OPTIONS", "/docs/")
        self.assertEqual((204, b"", "GET, HEAD, OPTIONS"), (response.status, response.body, response.get("Allow")))
        response = self.server.request("POST", "/docs/")
        self.assertEqual((405, "GET, HEAD, OPTIONS"), (response.status, response.get("Allow")))

    def test_an_unsupported_method_gets_405_and_allow(self):
        for path, methods in KNOWN.items():
            for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE"):
                if method in methods.split(", "):
                    continue
                for token in (None, self.server.demo_token):
                    with self.subTest(path=path, method=method):
                        response = self.server.request(method, path, token=token)
                        self.assert_error(response, 405)
                        self.assertEqual(set(methods.split(", ")), set(response.get("Allow").split(", ")))

    def test_an_unknown_method_gets_501_on_every_path(self):
        for path in (*KNOWN, "/v1/nowhere"):
            for method in ("BREW", "get"):  # names are case-sensitive: RFC 9110 section 9.1
                with self.subTest(path=path, method=method):
                    self.assert_error(self.server.request(method, path), 501)
        self.assertEqual(501, self.server.request("BREW", "/docs/").status)

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

    def test_similar_paths_are_not_found(self):
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
                    self.assert_error(self.server.request("GET", path, token=token), 404)

    def test_a_query_changes_nothing(self):
        for query in ("?", "?x=1", "?/../", "?a?b", "?access_token=x"):
            with self.subTest(query=query):
                self.assert_json(self.server.request("GET", "/v1/user/balance" + query, token=self.server.demo_token))

    def test_the_absolute_form(self):
        response = self.server.request("GET", "http://localhost/v1/testservice/get")
        self.assert_json(response)


@over_every_transport
class Documentation:
    def page(self, url):
        parts = urllib.parse.urlsplit(url)
        self.assertEqual(self.server.ready["auth"], f"{parts.scheme}://{parts.netloc}")
        return self.server.request("GET", parts.path)

    def test_every_documentation_url_has_a_page(self):
        hooks = f"/v1/sitesmaker/{self.server.demo['sitesmaker_account']}/hooks"
        errors = [self.server.request("POST", hooks, body={}, token=self.server.demo_token),
                  self.server.request("POST", "/v1/testservice/post", body={"x": "x" * 65536}),
                  self.server.request("GET", "/v1/user/balance", [("Authorization", "a"), ("Authorization", "b")]),
                  self.server.request("GET", "/v1/user/balance", {"User-Agent": None}),
                  self.server.balance(),
                  self.server.request("GET", "/v1/nowhere"), self.server.request("PUT", "/v1/user/balance"),
                  self.server.request("POST", "/v1/testservice/post", {"Content-Type": "text/plain"}, b"x"),
                  self.server.request("POST", "/v1/testservice/post", {"Content-Type": "application/json"}, b"x"),
                  self.server.request("POST", "/user/oauth_token/"), self.server.request("GET", "/user/oauth_token/"),
                  self.server.request("POST", "/user/oauth_token/", {"User-Agent": None}),
                  self.server.request("POST", "/user/oauth_revoke/", body={"client_id": "a", "client_id_": "b"}),
                  self.server.request("POST", "/.well-known/oauth-authorization-server", body={})]
        with self.server.connect() as connection:
            connection.send(b"nonsense\r\n\r\n")
            errors.append(connection.read())
        targets = {urllib.parse.urlsplit(error.json()["documentation_url"]).path for error in errors}
        self.assertIn("/docs/oauth/", targets)
        for error in errors:
            page = self.page(error.json()["documentation_url"])
            self.assertEqual(200, page.status, error)
            self.assertTrue(page.get("Content-Type").startswith("text/html"), page)
            self.assertIn(b"<h1", page.body)

    def test_the_pages_link_to_existing_pages_of_this_server(self):
        read, unread = set(), {"/docs/"}
        while unread:
            path = unread.pop()
            read.add(path)
            page = self.server.request("GET", path)
            self.assertEqual(200, page.status, path)
            text = page.body.decode()
            if page.get("Content-Type").startswith("text/html"):
                self.assertIn("default-src 'none'", page.get("Content-Security-Policy"), path)
            self.assertNotIn("<script", text)
            for attribute in ("href", "src"):
                for piece in text.split(f'{attribute}="')[1:]:
                    url = urllib.parse.urljoin(path, piece.split('"')[0].split("#")[0])
                    if url.startswith("/docs/") and url not in read:
                        unread.add(url)
        self.assertGreater(len(read), 4)

    def test_openapi(self):
        document = self.assert_json(self.server.request("GET", "/v1/openapi.json"))
        self.assertTrue(document["openapi"].startswith("3.1."))
        self.assertEqual(self.server.ready["api"], document["servers"][0]["url"])
        for path in ("/user/balance", "/{service}/accounts", "/{service}/{account}/hooks", "/{service}/hooks/{hook}"):
            self.assertIn(path, document["paths"])


if __name__ == "__main__":
    main()
