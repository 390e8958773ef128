#!/usr/bin/env python3
"""contract.md, items 12, 13 and 27 to 32: the authorization request, the consent page, and the tokens of an application."""

import time
import urllib.parse

from application import AUTHORIZE, ITEMPLATFORM_AUTHORIZE, REDIRECT_URL, Application, call
from harness import ALL_SCOPES, HIGH_LIMITS, Case, Server, basic, main, over_every_transport, run_command
from visitor import Visitor, query_of, signed_in


@over_every_transport
class Flow:
    """The whole flow, on every transport and store."""

    def setUp(self):
        if getattr(type(self), "visitor", None) is None:
            type(self).visitor = signed_in(self.server)

    def register(self, name, **fields):
        """An application that is registered on the settings page: commands cannot access a store in memory."""
        page = self.visitor.get("/en/user/settings/applications/")
        shown = self.visitor.submit(page.form_with("name", "website", "redirect_url"),
                                    {"name": name, "website": "https://app.example", "redirect_url": REDIRECT_URL, **fields})
        self.assertEqual(200, shown.status, shown)
        app = object.__new__(Application)
        app.server, app.name = self.server, name
        app.id, = [each for each in shown.readonly_values() if each.startswith("tgi_")]
        app.secret, = [each for each in shown.readonly_values() if each.startswith("tgs_")]
        return app

    def test_the_whole_flow(self):
        app = self.register("Reports & Co")
        page = app.consent_page(self.visitor, "user:balance,sitesmaker:read", state="s1", redirect_uri=REDIRECT_URL)
        self.assertEqual(200, page.status)
        self.assertIn("Reports & Co", page.text)
        for scope in ("user:balance", "sitesmaker:read"):
            self.assertIn(scope, page.text)
        form = page.form_with("decision")
        self.assertEqual({"allow", "deny", "other_user"}, {each.get("value") for each in form.named("decision")})

        redirect = self.visitor.submit(form, button=("decision", "allow"), follow=False)
        self.assertEqual(303, redirect.status)
        self.assertTrue(redirect.location.startswith(REDIRECT_URL + "?"), redirect.location)
        parameters = query_of(redirect.location)
        self.assertEqual({"code", "state", "iss"}, set(parameters))
        self.assertEqual(("s1", self.server.ready["auth"]), (parameters["state"], parameters["iss"]))

        response = app.exchange(parameters["code"], redirect_uri=REDIRECT_URL, state="s1")
        self.assertEqual(200, response.status, response)
        self.assertEqual("application/json", response.get("Content-Type").split(";")[0])
        self.assertEqual(("no-store", "no-cache"), (response.get("Cache-Control"), response.get("Pragma")))
        self.assert_limit_fields(response)
        tokens = response.json()
        self.assertEqual({"access_token", "expires_in", "token_type", "scope", "refresh_token"}, set(tokens))
        self.assertEqual(("bearer", 3600, "user:balance sitesmaker:read"),
                         (tokens["token_type"], tokens["expires_in"], tokens["scope"]))

        self.assertEqual(200, call(self.server, tokens["access_token"]).status)
        self.assertEqual(200, call(self.server, tokens["access_token"], "/v1/sitesmaker/accounts").status)
        self.assertEqual(403, call(self.server, tokens["access_token"], "/v1/itemplatform/accounts").status)

        again = app.refresh(tokens["refresh_token"]).json()
        self.assertEqual({"access_token", "expires_in", "token_type", "scope"}, set(again))
        self.assertNotEqual(tokens["access_token"], again["access_token"])
        for token in (tokens, again):
            self.assertEqual(200, call(self.server, token["access_token"]).status)

    def test_access_ends_at_once_when_the_user_revokes_it(self):
        """Item 38."""
        app = self.register("To be revoked")
        tokens = app.tokens(self.visitor)
        page = self.visitor.get("/en/user/settings/authorizations/")
        row, = [each for each in page.all("li") if "To be revoked" in each.text]
        form, = [each for each in page.forms if self.is_in_row(page, each, row)]
        self.assertEqual(200, self.visitor.submit(form).status)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)
        refused = app.refresh(tokens["refresh_token"])
        self.assertEqual((400, "invalid_grant"), (refused.status, refused.json()["error"]))
        self.assertEqual(200, app.consent_page(self.visitor).status, "the consent page")

    @staticmethod
    def is_in_row(page, form, row):
        """Whether a form is in this list item."""
        elements = page.elements
        begin = elements.index(row)
        following = next((i for i in range(begin + 1, len(elements)) if elements[i].name == "li"), len(elements))
        return begin < elements.index(form) < following

    def test_an_application_that_is_deleted_is_refused_at_once(self):
        """Item 38."""
        app = self.register("To be deleted")
        tokens = app.tokens(self.visitor)
        page = self.visitor.get("/en/user/settings/applications/")
        row, = [each for each in page.all("li") if "To be deleted" in each.text]
        form = next(each for each in page.forms if self.is_in_row(page, each, row) and
                    "delete" in [field.get("value") for field in each.fields])
        self.assertEqual(200, self.visitor.submit(form, {"confirm_name": "To be deleted"}).status)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)
        refused = app.refresh(tokens["refresh_token"])
        self.assertEqual((400, "invalid_grant"), (refused.status, refused.json()["error"]))
        self.assertEqual(400, app.consent_page(self.visitor).status)

    def test_neither_kind_of_token_is_accepted_as_the_other(self):
        """Item 12."""
        access = self.register("Both kinds").tokens(self.visitor)["access_token"]
        demo = self.server.demo
        for value in (f"Bearer {demo['token_secret']}", f"Bearer {demo['token_username']}", basic(access, ""),
                      basic("", access), basic(demo["token_username"], access), basic(access, access)):
            self.assert_error(self.server.balance(value), 401)
        self.assertEqual(401, call(self.server, access.swapcase()).status)

    def test_what_users_see_is_neither_framed_nor_cached(self):
        """Item 33."""
        app = self.register("Protected")
        consent = app.consent_page(self.visitor, state="s")
        broken = app.consent_page(self.visitor, redirect_uri="https://evil.example/")
        refused = self.visitor.submit(consent.form_with("decision"), {"form_token": "x"}, ("decision", "allow"), follow=False)
        redirect = self.visitor.submit(consent.form_with("decision"), {}, ("decision", "deny"), follow=False)
        for page, status in ((consent, 200), (broken, 400), (refused, 403), (redirect, 303)):
            get = page.response.get
            self.assertEqual((status, "no-store", "no-referrer"), (page.status, get("Cache-Control"), get("Referrer-Policy")))
            self.assertEqual([], [each for each in page.response.fields if each[0].lower().startswith("x-ratelimit")])
            if page.body:
                policy = get("Content-Security-Policy")
                self.assertTrue({"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} <= set(policy.split("; ")))
                self.assertNotIn("unsafe", policy)
                self.assertEqual(("DENY", "nosniff"), (get("X-Frame-Options"), get("X-Content-Type-Options")))
                self.assertNotIn("<script", page.body)

    def test_both_kinds_of_token_share_one_quota(self):
        """Item 3."""
        access = self.register("Spends").tokens(self.visitor)["access_token"]
        left = [int(response.get("X-RateLimit-Remaining")) for response in (
            call(self.server, access), self.server.balance(self.server.demo_token),
            call(self.server, access))]
        self.assertEqual([left[0], left[0] - 1, left[0] - 2], left)

    def test_the_log_has_neither_codes_nor_tokens(self):
        app = self.register("Logged")
        page = app.consent_page(self.visitor, state="secret-state")
        code = query_of(self.visitor.submit(page.form_with("decision"), button=("decision", "allow"),
                                            follow=False).location)["code"]
        tokens = app.exchange(code).json()
        self.server.request("GET", "/v1/testservice/get?code=" + code, {"User-Agent": "marker-of-the-log"})
        log = self.server.log_after("marker-of-the-log")
        for secret in (code, tokens["access_token"], tokens["refresh_token"], app.secret, "secret-state",
                       *self.visitor.cookies.values(), page.form_with("decision").value("form_token")):
            self.assertNotIn(secret, log)


class OAuthCase(Case):
    """One server, application and user, for tests that do not depend on transport and store."""

    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *HIGH_LIMITS, *cls.flags)
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.app = Application(cls.server, 1)

    def failure(self, location):
        """The parameters of a redirect to the application."""
        self.assertTrue(location.startswith(REDIRECT_URL), location)
        parameters = query_of(location)
        self.assertNotIn("code", parameters)
        self.assertEqual(self.server.ready["auth"], parameters["iss"])
        return parameters


class Requests(OAuthCase):
    """Items 27 to 30."""

    def assert_page(self, url):
        page = self.visitor.get(url, follow=False)
        self.assertEqual(400, page.status, url)
        self.assertIsNone(page.location)
        self.assertTrue(page.response.get("Content-Type").startswith("text/html"))
        return page

    def test_an_unknown_application(self):
        for client in ("nobody", "", self.app.id[:-1], self.app.id + "a", self.app.id.lower(), "<script>", "\0", None):
            with self.subTest(client=client):
                page = self.assert_page(self.app.authorization_url(client_id=client, redirect_uri=REDIRECT_URL))
                self.assertNotIn("<script", page.body)

    def test_a_redirect_that_is_not_the_registered_one(self):
        for uri in ("https://evil.example/back", REDIRECT_URL + "/", REDIRECT_URL + "?a=b", REDIRECT_URL + "#f", REDIRECT_URL.upper(),
                    "http://app.example/back", "https://app.example", "https://app.example:443/back", "https://app.example/./back",
                    "https://app.example/back/..",
                    "https://user@app.example/back", "https://app.example.evil.example/back", "https://app.example%2fback",
                    "javascript:alert(1)", "//app.example/back", "/back", " " + REDIRECT_URL, REDIRECT_URL + "\r\nX: y",
                    REDIRECT_URL + "%00"):
            with self.subTest(uri=uri):
                self.assert_page(self.app.authorization_url(redirect_uri=uri))

    def test_a_registered_redirect_is_accepted_as_registered_and_normalized(self):
        """Item 27, also across the exchange."""
        for registered, normalized in (("http://localhost:8080", "http://localhost:8080/"),
                                       ("https://App.example?x=1", "https://app.example/?x=1"),
                                       ("https://app.example:443/b", "https://app.example/b"), ("http://127.1/b", "http://127.0.0.1:9/b")):
            app = Application(self.server, 1, redirect_url=registered)
            for uri in (registered, normalized):
                with self.subTest(uri=uri):
                    self.assertEqual(200, app.exchange(app.code(self.visitor, redirect_uri=uri), redirect_uri=uri).status)
        page = self.assert_page(self.app.authorization_url(redirect_uri="https://evil.example/<b>"))
        self.assertIn("https://evil.example/&lt;b&gt;", page.body)
        self.assertEqual([], [link for link in page.all("a") if "evil" in link.get("href")])

    def test_a_redirect_with_a_parameter_of_the_response_is_not_registered(self):
        for name in ("code", "state", "iss", "error"):
            result = run_command("app", "register", "--user", 1, "--name", "A", "--website", "https://app.example",
                                 "--redirect-url", f"https://app.example/b?{name}=x", *self.server.store_flags)
            self.assertNotEqual(0, result.returncode)
            self.assertIn("redirect_url", result.stderr)

    def test_a_query_as_browsers_send_it(self):
        """They leave some characters unencoded."""
        url = self.app.authorization_url() + "&state={[a]}|^`\\"
        page = self.visitor.get(url)
        if page.status == 200:
            page = self.visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)
        self.assertEqual("{[a]}|^`\\", query_of(page.location)["state"])

    def test_not_redirected_to_an_application_before_sign_in(self):
        signed_out = Visitor(self.server)
        for parameters in ({"client_id": "nobody"}, {"redirect_uri": "https://evil.example/"}):
            page = signed_out.get(self.app.authorization_url(**parameters), follow=False)
            self.assertEqual((400, None), (page.status, page.location))
        for url in (self.app.authorization_url("nothing", state="s"), self.app.authorization_url(response_type="token", state="s"),
                    self.app.authorization_url("nothing", path="/en/itemplatform/oauth/", state="s")):
            page = signed_out.get(url, follow=False)
            self.assertTrue(page.location.startswith("/en/user/sign_in/?"), page.location)
            # After sign-in, the application gets the error.
            redirect = self.visitor.get(page.location, follow=False)
            redirect = self.visitor.get(redirect.location, follow=False)
            self.assertEqual("s", self.failure(redirect.location)["state"])
        page = signed_out.get(self.app.authorization_url(), follow=False)
        self.assertTrue(page.location.startswith("/en/user/sign_in/?"), page.location)

    def test_a_parameter_that_is_repeated(self):
        for name, value in (("client_id", self.app.id), ("redirect_uri", REDIRECT_URL)):
            self.assert_page(self.app.authorization_url(redirect_uri=REDIRECT_URL) + f"&{name}=" + urllib.parse.quote(value))
        for name in ("response_type=code", "scope=user:balance", "state=b"):
            page = self.visitor.get(self.app.authorization_url(state="a") + "&" + name, follow=False)
            self.assertEqual("invalid_request", self.failure(page.location)["error"], name)

    def test_a_loopback_redirect_may_differ_in_its_port(self):
        app = Application(self.server, 1, redirect_url="http://127.0.0.1:1234/back")
        for port in (":1", ":65535", "", ":1234"):
            page = app.consent_page(self.visitor, redirect_uri=f"http://127.0.0.1{port}/back")
            self.assertEqual(200, page.status, port)
        app.tokens(self.visitor, redirect_uri="http://127.0.0.1:1/back")
        self.assertEqual(200, app.consent_page(self.visitor, redirect_uri="http://127.0.0.1:1/back").status, "another port needs consent")
        self.assertEqual(303, self.visitor.get(app.authorization_url(), follow=False).status)
        self.assertEqual(200, self.visitor.request("HEAD", app.authorization_url()).status, "HEAD creates no code")
        for uri in ("http://127.0.0.1:1/other", "http://localhost:1234/back", "http://127.0.0.2:1234/back",
                    "https://127.0.0.1:1234/back", "http://127.0.0.1:99999/back"):
            self.assert_page(app.authorization_url(redirect_uri=uri))

    def test_without_a_registered_redirect_it_has_the_websites_origin(self):
        app = Application(self.server, 1, redirect_url=None)
        self.assert_page(app.authorization_url())
        for uri in ("https://evil.example/", "http://app.example/", "https://app.example:8443/", "https://app.example@evil.example/",
                    "https://app.example.evil.example/"):
            self.assert_page(app.authorization_url(redirect_uri=uri))
        self.assertEqual(200, app.consent_page(self.visitor, redirect_uri="https://app.example/any/where?x=y").status)
        location = app.decide(self.visitor, redirect_uri="https://app.example/any/where?x=y")
        self.assertTrue(location.startswith("https://app.example/any/where?x=y&"), location)
        code = query_of(location)["code"]
        for more, error in (({}, "invalid_request"), ({"redirect_uri": "https://app.example/"}, "invalid_grant"),
                            ({"redirect_uri": "https://app.example/any/where?x=y\0"}, "invalid_grant")):
            refused = app.exchange(code, **more)
            self.assertEqual((400, error), (refused.status, refused.json()["error"]), more)
        self.assertEqual(200, app.exchange(code, redirect_uri="https://app.example/any/where?x=y").status)
        # Consent is never skipped.
        self.assertEqual(200, app.consent_page(self.visitor, redirect_uri="https://app.example/any/where?x=y").status)

    def test_other_errors_are_sent_to_the_application(self):
        for more, error in (({"response_type": "token"}, "unsupported_response_type"),
                            ({"response_type": "code token"}, "unsupported_response_type"),
                            ({"response_type": None}, "invalid_request"),
                            ({"scope": None}, "invalid_request"),
                            ({"scope": "nothing"}, "invalid_scope"),
                            ({"scope": "user:balance,nothing"}, "invalid_scope"),
                            ({"scope": "USER:BALANCE"}, "invalid_scope"),
                            ({"code_challenge": "x" * 43, "code_challenge_method": "plain"}, "invalid_request"),
                            ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request"),
                            ({"code_challenge": "x" * 43}, "invalid_request"),
                            ({"code_challenge_method": "S256"}, "invalid_request")):
            with self.subTest(more=more):
                requested = {"scope": "user:balance", "state": "a b&c", **more}
                page = self.visitor.get(self.app.authorization_url(**requested), follow=False)
                parameters = self.failure(page.location)
                self.assertEqual((303, error, "a b&c"), (page.status, parameters["error"], parameters["state"]))
        page = self.visitor.get(self.app.authorization_url("nothing"), follow=False)
        self.assertNotIn("state", self.failure(page.location))

    def test_scopes_are_separated_by_commas_or_blanks_and_repeats_are_dropped(self):
        for requested, granted in (("user:balance,sitesmaker:read", "user:balance sitesmaker:read"),
                                   ("user:balance sitesmaker:read", "user:balance sitesmaker:read"),
                                   ("user:balance, sitesmaker:read", "user:balance sitesmaker:read"),
                                   (" user:balance,,user:balance ,", "user:balance"),
                                   (ALL_SCOPES, ALL_SCOPES.replace(",", " "))):
            with self.subTest(requested=requested):
                response = self.app.tokens(self.visitor, requested)
                self.assertEqual(set(granted.split()), set(response["scope"].split(" ")))
                self.assertEqual(len(granted.split()), len(response["scope"].split(" ")))

    def test_state_is_returned_unchanged(self):
        for state in ("x", "a b", "a+b", "%20", "&=?#/", "\"'<>", "\xe4\xf6\u20ac", "a" * 1000, "=", "{\"json\":[1]}"):
            with self.subTest(state=state):
                for decision in ("allow", "deny"):
                    location = Application(self.server, 1).decide(self.visitor, decision, state=state)
                    self.assertEqual(state, query_of(location)["state"])

    def test_no_state_is_returned_if_none_was_sent(self):
        self.assertNotIn("state=", Application(self.server, 1).decide(self.visitor))
        self.assertNotIn("state=", Application(self.server, 1).decide(self.visitor, state=""), "RFC 6749 section 3.1")

    def test_a_query_in_the_redirect_is_kept(self):
        for query in ("a=b", "a=b&c=%20d", "a", "mine=code"):
            app = Application(self.server, 1, redirect_url=f"{REDIRECT_URL}?{query}")
            for decision in ("deny", "allow"):
                location = app.decide(self.visitor, decision, "sitesmaker")
                self.assertTrue(location.startswith(f"{REDIRECT_URL}?{query}&"), location)

    def test_with_and_without_the_slash(self):
        app = Application(self.server, 1)  # which nobody has granted anything
        for path in (AUTHORIZE, AUTHORIZE.rstrip("/")):
            self.assertEqual(200, self.visitor.get(app.authorization_url("itemplatform", path=path)).status)

    def test_other_methods(self):
        for path in (AUTHORIZE, ITEMPLATFORM_AUTHORIZE):
            self.assertEqual(405, self.visitor.request("PUT", path).status)
            self.assertEqual(204, self.visitor.request("OPTIONS", path).status)


class Consent(OAuthCase):
    """Items 31 and 32."""

    def test_without_a_session_sign_in_comes_before_consent(self):
        visitor = Visitor(self.server)
        app = Application(self.server, 1, name="Returns")
        page = app.consent_page(visitor, "user:balance", state="a b+c&d")
        self.assertIn("/en/user/sign_in/", page.url)
        page = visitor.submit(page.form_with("login", "password"),
                              {"login": self.server.demo["login"], "password": self.server.demo["password"]})
        self.assertIn("Returns", page.text)
        location = visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False).location
        self.assertEqual("a b+c&d", query_of(location)["state"])

    def test_refusal_is_reported_and_changes_nothing(self):
        app = Application(self.server, 1)
        parameters = self.failure(app.decide(self.visitor, "deny", state="s"))
        self.assertEqual(("access_denied", "s"), (parameters["error"], parameters["state"]))
        self.assertEqual(200, app.consent_page(self.visitor).status, "the consent page")

    def test_a_forged_form(self):
        app = Application(self.server, 1)
        form = app.consent_page(self.visitor).form_with("decision")
        other = signed_in(self.server)
        foreign = app.consent_page(other).form_with("decision").value("form_token")
        other_request = app.consent_page(self.visitor, "sitesmaker").form_with("decision").value("form_token")
        settings = self.visitor.get("/en/user/settings/tokens/").form_with("form_token").value("form_token")
        good = form.value("form_token")
        for token in ("", "x", good[:-1], good + "a", foreign, other_request, settings):
            with self.subTest(token=token):
                page = self.visitor.submit(form, {"form_token": token}, ("decision", "allow"), follow=False)
                self.assertEqual((403, None), (page.status, page.location))
        without = [pair for pair in form.pairs(("decision", "allow")) if pair[0] != "form_token"]
        self.assertEqual(403, self.visitor.post(form.url, without, follow=False).status)
        for fields in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": None, "Origin": "https://evil.example"}):
            page = self.visitor.submit(form, {}, ("decision", "allow"), follow=False, fields=fields)
            self.assertEqual(403, page.status)
        self.assertEqual(200, app.consent_page(self.visitor).status, "nothing was granted")

    def test_no_form_means_no_consent(self):
        app = Application(self.server, 1)
        url = app.authorization_url()
        parameters = list(query_of(url).items())
        token = app.consent_page(self.visitor).form_with("decision").value("form_token")
        for visitor in (self.visitor, Visitor(self.server)):
            for target, pairs in ((AUTHORIZE, []), (url, []), (AUTHORIZE, parameters), (url, parameters)):
                page = visitor.post(target, [*pairs, ("decision", "allow")], follow=False)
                self.assertEqual((403, None), (page.status, page.location), (target, pairs))
        for more in ("&decision=allow", "&decision=allow&form_token=" + urllib.parse.quote(token)):
            self.assertEqual(200, self.visitor.get(url + more, follow=False).status, "a link gives no consent")
        self.assertEqual(200, app.consent_page(self.visitor).status, "nothing was granted")

    def test_the_parameters_of_a_form_cannot_be_changed(self):
        app = Application(self.server, 1)
        form = app.consent_page(self.visitor, "user:balance", state="s").form_with("decision")
        for name, value in (("scope", ALL_SCOPES), ("state", "other"), ("client_id", self.app.id)):
            page = self.visitor.submit(form, {name: value}, ("decision", "allow"), follow=False)
            self.assertEqual(403, page.status, name)
        page = self.visitor.post(form.url, [*form.pairs(("decision", "allow")), ("redirect_uri", "https://evil.example/")],
                                 follow=False)
        self.assertEqual((400, None), (page.status, page.location))

    def test_a_form_sent_twice_gives_one_code(self):
        app = Application(self.server, 1)
        form = app.consent_page(self.visitor).form_with("decision")
        first, second = (self.visitor.submit(form, {}, ("decision", "allow"), follow=False).location for _ in range(2))
        self.assertEqual(query_of(first)["code"], query_of(second)["code"])
        self.assertEqual(200, app.exchange(query_of(first)["code"]).status)
        third = self.visitor.submit(form, {}, ("decision", "allow"), follow=False)
        self.assertIsNone(third.location, "a used code is not issued again")
        self.assertTrue(third.response.get("Content-Type").startswith("text/html"))

    def test_a_form_without_a_decision(self):
        form = Application(self.server, 1).consent_page(self.visitor).form_with("decision")
        for pairs in (form.pairs(), [*form.pairs(), ("decision", "maybe")]):
            page = self.visitor.post(form.url, pairs, follow=False)
            self.assertEqual((400, None), (page.status, page.location))

    def test_consent_is_skipped_only_for_scopes_granted_before(self):
        app = Application(self.server, 1)
        self.assertIn("code", query_of(app.decide(self.visitor, "allow", "sitesmaker,user:balance")))
        for scope in ("sitesmaker", "user:balance", "user:balance sitesmaker"):
            page = app.consent_page(self.visitor, scope, state="s")
            self.assertEqual(303, page.status, scope)
            self.assertEqual({"code", "state", "iss"}, set(query_of(page.location)))
            self.assertEqual(set(scope.split()), set(app.exchange(query_of(page.location)["code"]).json()["scope"].split()))
        for scope in ("sitesmaker:read", "itemplatform:read", "sitesmaker,itemplatform"):
            self.assertEqual(200, app.consent_page(self.visitor, scope).status, scope)
        self.server.add_user("other-user")
        other = signed_in(self.server, "other-user", "a password")
        self.assertEqual(200, app.consent_page(other, "sitesmaker").status, "each user gives consent")

    def test_text_on_the_page_is_escaped(self):
        app = Application(self.server, 1, name="<script>alert(1)</script>\"'&")
        page = app.consent_page(self.visitor, state="\"><script>")
        self.assertNotIn("<script", page.body)
        self.assertIn("<script>alert(1)</script>\"'&", page.text)

    def test_no_field_of_the_page_prevents_the_redirect(self):
        """Chromium applies `form-action` to every redirect after a form, including those of the application's own site."""
        page = Application(self.server, 1).consent_page(self.visitor)
        self.assertNotIn("form-action", page.response.get("Content-Security-Policy"))
        self.assertIsNone(page.response.get("Cross-Origin-Opener-Policy"))


class Prompts(OAuthCase):
    """OpenID Connect Core, section 3.1.2.1."""

    def test_login_asks_for_the_password_again_and_once(self):
        app = Application(self.server, 1)
        app.code(self.visitor, scope="user:balance")
        page = app.consent_page(self.visitor, prompt="login", login_hint="demo", state="s")
        form = page.form_with("login", "password")
        self.assertEqual("demo", form.value("login"))
        wrong = self.visitor.submit(form, {"password": "wrong"})
        self.assertEqual(422, wrong.status)
        result = self.visitor.submit(wrong.form_with("login", "password"), {"password": self.server.demo["password"]})
        self.assertEqual({"code", "state", "iss"}, set(query_of(result.location)))

    def test_consent_and_select_account_ask_although_access_was_granted(self):
        app = Application(self.server, 1)
        app.code(self.visitor)
        self.assertEqual(303, app.consent_page(self.visitor).status)
        for prompt in ("consent", "select_account", "consent select_account"):
            page = app.consent_page(self.visitor, prompt=prompt)
            self.assertEqual((200, "other_user"), (page.status, page.form_with("decision").named("decision")[0].get("value")))
            result = self.visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)
            self.assertIn("code", query_of(result.location))

    def test_none_shows_no_page(self):
        app = Application(self.server, 1)
        stranger = Visitor(self.server)
        self.assertEqual("login_required", self.failure(app.consent_page(stranger, prompt="none").location)["error"])
        self.assertEqual({}, stranger.cookies)
        self.assertEqual("consent_required", self.failure(app.consent_page(self.visitor, prompt="none").location)["error"])
        app.code(self.visitor)
        self.assertIn("code", query_of(app.consent_page(self.visitor, prompt="none").location))
        for prompt in ("none login", "create"):
            self.assertEqual("invalid_request", self.failure(app.consent_page(self.visitor, prompt=prompt).location)["error"])


class LongState(OAuthCase):
    def test_a_state_of_2000_characters_survives_the_sign_in(self):
        app = Application(self.server, 1)
        for state in ('"' * 2000, "%" * 2000, '{"a": "&=?#"}' * 150):
            with self.subTest(state[:10]):
                visitor = Visitor(self.server)
                page = app.consent_page(visitor, state=state)
                self.assertEqual(200, page.status, page.location)
                page = visitor.submit(page.form_with("login", "password"),
                                      {"login": self.server.demo["login"], "password": self.server.demo["password"]})
                if page.status == 200:
                    page = visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False)
                self.assertEqual(state, query_of(page.location)["state"])


class OnePage(OAuthCase):
    """Sign-in and consent on one page, for itemplatform."""

    FORM_COOKIE = {"e2e_form"}  # identifies the browser that has the form; it signs nobody in

    def fill_in(self, visitor, app, decision="allow", **typed):
        page = app.consent_page(visitor, "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE, state="s")
        form = page.form_with("login", "password", "decision")
        typed = {"login": self.server.demo["login"], "password": self.server.demo["password"], **typed}
        return visitor.submit(form, typed, ("decision", decision), follow=False)

    def test_sign_in_and_consent_in_one_request(self):
        visitor, app = Visitor(self.server), Application(self.server, 1, name="One page")
        result = self.fill_in(visitor, app)
        parameters = query_of(result.location)
        self.assertEqual(({"code", "state", "iss"}, "s"), (set(parameters), parameters["state"]))
        self.assertEqual(200, app.exchange(parameters["code"]).status)
        self.assertLess(self.FORM_COOKIE, set(visitor.cookies), "the browser is signed in")

    def test_a_wrong_password_grants_nothing(self):
        visitor, app = Visitor(self.server), Application(self.server, 1)
        result = self.fill_in(visitor, app, password="wrong")
        self.assertEqual((422, None, self.FORM_COOKIE), (result.status, result.location, set(visitor.cookies)))
        form = result.form_with("login", "password", "decision")
        self.assertEqual(self.server.demo["login"], form.value("login"))
        self.assertFalse(form.value("password"))
        again = visitor.submit(form, {"password": self.server.demo["password"]}, ("decision", "allow"), follow=False)
        self.assertIn("code", query_of(again.location))

    def test_denial_needs_no_password(self):
        result = self.fill_in(Visitor(self.server), Application(self.server, 1), "deny", login="", password="")
        self.assertEqual("access_denied", query_of(result.location)["error"])

    def test_consent_is_never_skipped(self):
        app = Application(self.server, 1)
        for _ in range(2):
            page = app.consent_page(self.visitor, "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE)
            self.assertEqual(200, page.status)
            form = page.form_with("decision")
            self.assertEqual([], form.named("password"), "a signed-in user needs no password")
            self.assertIn("code", query_of(
                self.visitor.submit(form, {}, ("decision", "allow"), follow=False).location))

    def test_another_site_cannot_send_it(self):
        app = Application(self.server, 1)
        page = app.consent_page(Visitor(self.server), "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE)
        form = page.form_with("login", "password", "decision")
        typed = {"login": self.server.demo["login"], "password": self.server.demo["password"]}
        visitor = Visitor(self.server)
        result = visitor.submit(form, typed, ("decision", "allow"), follow=False, fields={"Sec-Fetch-Site": "cross-site"})
        self.assertEqual((403, {}), (result.status, visitor.cookies))

    def test_a_form_that_is_forged(self):
        app = Application(self.server, 1)
        page = app.consent_page(Visitor(self.server), "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE)
        form = page.form_with("login", "password", "decision")
        own = {"client_id", "response_type", "scope", "login", "password", "decision"}
        hidden = {name for name, _ in form.pairs()} - own
        self.assertTrue(hidden)
        typed = [("login", self.server.demo["login"]), ("password", self.server.demo["password"]), ("decision", "allow")]
        parameters = [pair for pair in form.pairs() if pair[0] in own - {"login", "password"}]
        for pairs in ([*parameters, *typed], [*parameters, *typed, *((name, "x") for name in hidden)], typed):
            visitor = Visitor(self.server)
            page = visitor.post(form.url, pairs, follow=False)
            self.assertEqual((403, None), (page.status, page.location))
            self.assertLessEqual(set(visitor.cookies), {"e2e_form"}, "a form to try again, and no session")

    def test_a_form_of_another_browser(self):
        app, typed = Application(self.server, 1), {key: self.server.demo[key] for key in ("login", "password")}
        first, second = Visitor(self.server), Visitor(self.server)
        form = app.consent_page(first, "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE).form_with("login", "password", "decision")
        app.consent_page(second, "itemplatform:read", path=ITEMPLATFORM_AUTHORIZE)
        refused = second.submit(form, typed, ("decision", "allow"), follow=False)
        self.assertEqual((403, self.FORM_COOKIE), (refused.status, set(second.cookies)))
        self.assertIn("code", query_of(first.submit(form, typed, ("decision", "allow"), follow=False).location))

    def test_sitesmaker_has_no_such_page(self):
        self.assertEqual(404, self.visitor.get("/en/sitesmaker/oauth/?client_id=x").status)


class Lifetimes(Case):
    def test_an_access_token_expires_after_expires_in(self):
        """Item 13."""
        with Server("--demo", *HIGH_LIMITS, "--access-token-seconds", "1") as server:
            app, visitor = Application(server, 1), signed_in(server)
            code = app.code(visitor)
            sent = time.monotonic()
            tokens = app.exchange(code).json()
            self.assertEqual(1, tokens["expires_in"])
            self.eventually(lambda: call(server, tokens["access_token"]).status == 401)
            self.assertGreaterEqual(time.monotonic() - sent, 1)
            response = call(server, tokens["access_token"])
            self.assert_error(response, 401)
            self.assertIn("error=\"invalid_token\"", " ".join(response.all("WWW-Authenticate")))

            def refreshed_token_is_valid():
                """It may expire before a busy machine uses it."""
                again = app.refresh(tokens["refresh_token"]).json()
                self.assertEqual(1, again["expires_in"])
                return call(server, again["access_token"]).status == 200

            self.eventually(refreshed_token_is_valid)

    def test_grants_survive_a_restart(self):
        with Server("--demo", *HIGH_LIMITS) as server:
            app = Application(server, 1)
            visitor = signed_in(server)
            code = app.code(visitor)
            with Server("--demo", *HIGH_LIMITS, data=server.data) as second:
                app.server = second
                tokens = app.exchange(code).json()
                self.assertEqual(200, call(server, tokens["access_token"]).status)
                self.assertEqual(200, call(second, tokens["access_token"]).status)


if __name__ == "__main__":
    main()
