#!/usr/bin/env python3
"""Other kinds of OAuth clients: public clients, devices, resource servers, and applications that act for their owner."""

import secrets

from application import LOOPBACK, REVOKE, TOKEN, Application, PublicClient, call
from harness import Case, Server, concurrently, main, run_command
from visitor import Visitor, query_of, signed_in


class ServerCase(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--demo"))
        cls.visitor = signed_in(cls.server)

    def assert_refused(self, response, status, error):
        self.assertEqual((status, error), (response.status, response.json()["error"]))


class Public(ServerCase):
    def setUp(self):
        self.app = PublicClient(self.server, 1)

    def test_the_code_grant_with_pkce_and_without_a_secret(self):
        tokens = self.app.tokens(self.visitor)
        self.assertEqual({"access_token", "expires_in", "token_type", "scope", "refresh_token"}, set(tokens))
        self.assertEqual(200, call(self.server, tokens["access_token"]).status)
        self.assertEqual(200, self.app.consent_page(self.visitor, redirect_uri=LOOPBACK, **self.app.pkce).status, "the consent page")
        refused = self.app.consent_page(self.visitor, redirect_uri=LOOPBACK)
        self.assertEqual("invalid_request", query_of(refused.location)["error"])
        code = self.app.code(self.visitor, redirect_uri=LOOPBACK, **self.app.pkce)
        self.assert_refused(self.app.exchange(code, redirect_uri=LOOPBACK), 400, "invalid_grant")
        self.assert_refused(self.app.post(TOKEN, {"grant_type": "authorization_code", "code": code, "client_secret": "x",
                                                  "redirect_uri": LOOPBACK, "code_verifier": self.app.verifier}),
                            401, "invalid_client")

    def test_refresh_tokens_are_replaced_and_reuse_revokes_the_grant(self):
        first = self.app.tokens(self.visitor)
        second = self.app.refresh(first["refresh_token"]).json()
        self.assertEqual({"access_token", "expires_in", "token_type", "scope", "refresh_token"}, set(second))
        again = self.app.refresh(first["refresh_token"]).json()
        self.assertEqual(second["refresh_token"], again["refresh_token"])
        third = self.app.refresh(second["refresh_token"]).json()
        self.assertNotEqual(second["refresh_token"], third["refresh_token"])
        self.assert_refused(self.app.refresh(first["refresh_token"]), 400, "invalid_grant")
        self.assert_refused(self.app.refresh(third["refresh_token"]), 400, "invalid_grant")
        for each in (first, second, again, third):
            self.assertEqual(401, call(self.server, each["access_token"]).status)

    def test_a_private_use_scheme(self):
        for good in ("com.example.app:/back", "com.example.app://back"):
            app = PublicClient(self.server, 1, good)
            location = app.decide(self.visitor, **app.pkce)
            self.assertTrue(location.startswith(good + "?code="), location)
        for flags in (["--redirect-url", "app:/back", "--public"], ["--redirect-url", "com.example.app:/back"],
                      ["--public", "--resource-server"]):
            result = run_command("app", "register", "--user", 1, "--name", "P", "--website", "https://app.example", *flags,
                                 *self.server.store_flags)
            self.assertEqual((2, ""), (result.returncode, result.stdout))
            self.assertIn("--re", result.stderr)

    def test_several_redirect_urls(self):
        urls = ["https://app.example/back", "com.example.app:/back"]
        flags = [word for each in urls for word in ("--redirect-url", each)]
        created = self.server.run("app", "register", "--user", 1, "--name", "Two", "--website", "https://app.example", "--public", *flags)
        listed = self.server.run("app", "list", "--user", 1)["applications"]
        self.assertEqual([urls], [each["redirect_urls"] for each in listed if each["client_id"] == created["client_id"]])
        flags = [word for i in range(21) for word in ("--redirect-url", f"https://app.example/{i}")]
        result = run_command("app", "register", "--user", 1, "--name", "Many", "--website", "https://app.example", *flags,
                             *self.server.store_flags)
        self.assertEqual((2, ""), (result.returncode, result.stdout))
        self.assertIn("--redirect-url: ", result.stderr)

    def test_revocation_by_the_client_id_alone(self):
        tokens = self.app.tokens(self.visitor)
        self.assertEqual(200, self.app.post(REVOKE, {"token": tokens["refresh_token"]}).status)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)

    def test_metadata(self):
        metadata = self.server.request("GET", "/.well-known/oauth-authorization-server").json()
        for name in ("token_endpoint_auth_methods_supported", "revocation_endpoint_auth_methods_supported"):
            self.assertIn("none", metadata[name])


class Device(ServerCase):
    PAGE = "/en/user/device/"
    GRANT = "urn:ietf:params:oauth:grant-type:device_code"

    def setUp(self):
        self.app = PublicClient(self.server, 1, None)

    def request_codes(self):
        response = self.app.post("/user/oauth_device/", {"scope": "user:balance"})
        self.assertEqual(200, response.status, response)
        return response.json()

    def poll(self, codes):
        return self.app.post(TOKEN, {"grant_type": self.GRANT, "device_code": codes["device_code"]})

    def consent_page(self, code, visitor=None):
        visitor = visitor or self.visitor
        return visitor.submit(visitor.get(self.PAGE).form_with("user_code"), {"user_code": code})

    def test_the_device_gets_what_the_user_allows(self):
        allowed, denied, waiting = (self.request_codes() for _ in range(3))
        self.assertEqual({"device_code", "user_code", "verification_uri", "verification_uri_complete", "expires_in", "interval"},
                         set(allowed))
        self.assertTrue(allowed["verification_uri"].endswith(self.PAGE))
        page = self.visitor.get(allowed["verification_uri_complete"])
        field, = page.form_with("user_code").named("user_code")
        self.assertEqual(allowed["user_code"], field.get("value"))

        for codes, decision, text_shown in ((allowed, "allow", "Device authorized"), (denied, "deny", "Access denied")):
            page = self.consent_page(codes["user_code"].lower().replace("-", " "))
            for text in ("Pocket", "user:balance", "127.0.0.1", "Continue only if you started it yourself"):
                self.assertIn(text, page.text)
            self.assertIn(text_shown, self.visitor.submit(page.form_with("decision"), button=("decision", decision)).text)
        self.assert_refused(self.poll(denied), 400, "access_denied")
        self.assert_refused(self.poll(waiting), 400, "authorization_pending")
        self.assert_refused(self.poll(waiting), 400, "slow_down")
        tokens = self.poll(allowed)
        self.assertEqual(200, tokens.status, tokens)
        self.assertEqual(200, call(self.server, tokens.json()["access_token"]).status)
        self.assertEqual(422, self.consent_page(allowed["user_code"]).status)

    def test_a_decision_sent_twice_has_one_result(self):
        for decision, text in (("allow", "Device authorized"), ("deny", "Access denied")):
            form = self.consent_page(self.request_codes()["user_code"]).form_with("decision")
            pages = concurrently(lambda _, form=form, decision=decision: self.visitor.submit(form, button=("decision", decision)), range(6))
            self.assertEqual([(200, True)] * 6, [(page.status, text in page.text) for page in pages], pages)
            again = self.visitor.get(pages[0].url)
            self.assertIn(text, again.text, "the result can be reloaded")

    def test_guesses_are_bounded(self):
        password = secrets.token_urlsafe(16)
        self.server.add_user("second", password=password)
        second = signed_in(self.server, "second", password)
        self.assertEqual(422, self.consent_page("nonsense", second).status)
        statuses = [self.consent_page("BBBB-BBBB", second).status for _ in range(11)]
        self.assertEqual([422] * 10 + [429], statuses)
        self.assertEqual(429, self.consent_page(self.request_codes()["user_code"], second).status)
        self.assertEqual(200, self.consent_page(self.request_codes()["user_code"]).status)

    def test_without_a_session_sign_in_returns_with_the_code(self):
        page = Visitor(self.server).get(self.PAGE + "?user_code=bcdf-ghjk", follow=False)
        self.assertEqual(303, page.status)
        self.assertIn("BCDF-GHJK", page.location)


class Confidential(ServerCase):
    def test_introspection(self):
        app, other = Application(self.server, 1), Application(self.server, 1)
        service = object.__new__(Application)
        created = self.server.run("app", "register", "--user", 1, "--name", "Service", "--website", "https://app.example",
                                  "--resource-server")
        service.server, service.id, service.secret = self.server, created["client_id"], created["client_secret"]
        tokens = app.tokens(self.visitor)

        def introspect(client, token, **more):
            return client.post("/user/oauth_introspect/", {"token": token}, **more)

        claims = introspect(app, tokens["access_token"]).json()
        self.assertEqual({"active", "scope", "client_id", "token_type", "exp", "iat", "sub", "iss"}, set(claims))
        self.assertEqual((True, "user:balance", app.id, "1", 3600),
                         (claims["active"], claims["scope"], claims["client_id"], claims["sub"], claims["exp"] - claims["iat"]))
        self.assertEqual(claims, introspect(service, tokens["access_token"], with_basic=True).json())
        for client, token in ((other, tokens["access_token"]), (other, tokens["refresh_token"]), (service, tokens["refresh_token"]),
                              (app, "x"), (service, "tga_x")):
            response = introspect(client, token)
            self.assertEqual((200, b'{"active":false}'), (response.status, response.body))
        self.assertEqual(401, introspect(app, tokens["access_token"], secret=other.secret).status)
        app.post(REVOKE, {"token": tokens["access_token"]})
        self.assertEqual({"active": False}, introspect(service, tokens["access_token"]).json())
        self.assertEqual(400, service.consent_page(self.visitor).status)

        password = secrets.token_urlsafe(16)
        user = self.server.add_user("disabled", password=password)
        visitor = signed_in(self.server, "disabled", password)
        tokens = app.tokens(visitor)
        self.assertTrue(introspect(service, tokens["access_token"]).json()["active"])
        code = app.code(visitor)
        refresh = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
        self.server.run("user", "disable", "--id", user)
        self.assertEqual({"active": False}, introspect(service, tokens["access_token"]).json())
        for grant in (refresh, {"grant_type": "authorization_code", "code": code}):
            response = app.post(TOKEN, grant)
            self.assertEqual((400, "invalid_grant"), (response.status, response.json()["error"]))
        self.server.run("user", "enable", "--id", user)
        self.assertEqual(200, app.post(TOKEN, refresh).status)

    def test_an_application_acts_for_its_owner_if_allowed(self):
        app = Application(self.server, 1, "For myself")
        request = {"grant_type": "client_credentials", "scope": "user:balance"}
        refused = app.post(TOKEN, request)
        self.assertEqual((400, "unauthorized_client"), (refused.status, refused.json()["error"]))
        self.edit("For myself", acts_for_owner=True)
        issued = app.post(TOKEN, request).json()
        self.assertEqual({"access_token", "expires_in", "token_type", "scope"}, set(issued))
        self.assertEqual(1, call(self.server, issued["access_token"]).json()["id"])
        self.edit("For myself", acts_for_owner=False)
        self.assertEqual(401, call(self.server, issued["access_token"]).status)

    def edit(self, name, acts_for_owner):
        page = self.visitor.get("/en/user/settings/applications/")
        link, = [each for each in page.all("a") if "?edit=" in (each.get("href") or "") and name in each.text]
        form = self.visitor.get(link.get("href")).form_with("name", "acts_for_owner")
        box, = form.named("acts_for_owner")
        values = {"acts_for_owner": [box.get("value")] if acts_for_owner else []}
        self.assertEqual(200, self.visitor.submit(form, values).status)


if __name__ == "__main__":
    main()
