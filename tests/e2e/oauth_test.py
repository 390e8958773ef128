#!/usr/bin/env python3
"""contract.md, items 12, 13 and 27 to 32: the steps of a browser, and what an application gets."""

import time
import urllib.parse

from application import AUTHORIZE, BACK, FASTER, Application, call
from harness import ALL_SCOPES, PLENTY, Case, Server, basic, main, over_every_transport
from visitor import Visitor, query_of, signed_in


@over_every_transport
class Flow:
    """The whole flow, on every transport and store."""

    def setUp(self):
        if getattr(type(self), "visitor", None) is None:
            type(self).visitor = signed_in(self.server)

    def registered(self, name, **fields):
        """An application that a user registers on their settings page, which works on every store."""
        page = self.visitor.get("/en/user/settings/applications/")
        shown = self.visitor.submit(page.form_with("name", "website", "redirect_url"),
                                    {"name": name, "website": "https://app.example", "redirect_url": BACK, **fields})
        self.assertEqual(200, shown.status, shown)
        app = object.__new__(Application)
        app.server, app.name = self.server, name
        app.id, = [each for each in shown.readonly_values() if each.startswith("tgi_")]
        app.secret, = [each for each in shown.readonly_values() if each.startswith("tgs_")]
        return app

    def test_from_the_request_to_the_api_and_back(self):
        app = self.registered("Reports & Co")
        page = app.ask(self.visitor, "user:balance,sitesmaker:read", state="s1", redirect_uri=BACK)
        self.assertEqual(200, page.status)
        self.assertIn("Reports & Co", page.text)
        for scope in ("user:balance", "sitesmaker:read"):
            self.assertIn(scope, page.text)
        form = page.form_with("decision")
        self.assertEqual({"allow", "deny", "other_user"}, {each.get("value") for each in form.named("decision")})

        sent_back = self.visitor.submit(form, button=("decision", "allow"), follow=False)
        self.assertEqual(303, sent_back.status)
        self.assertTrue(sent_back.location.startswith(BACK + "?"), sent_back.location)
        told = query_of(sent_back.location)
        self.assertEqual({"code", "state", "iss"}, set(told))
        self.assertEqual(("s1", self.server.ready["auth"]), (told["state"], told["iss"]))

        answer = app.exchange(told["code"], redirect_uri=BACK, state="s1")
        self.assertEqual(200, answer.status, answer)
        self.assertEqual("application/json", answer.get("Content-Type").split(";")[0])
        self.assertEqual(("no-store", "no-cache"), (answer.get("Cache-Control"), answer.get("Pragma")))
        self.assert_limit_fields(answer)
        tokens = answer.json()
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
        app = self.registered("To be revoked")
        tokens = app.tokens(self.visitor)
        page = self.visitor.get("/en/user/settings/authorizations/")
        row, = [each for each in page.all("li") if "To be revoked" in each.text]
        form, = [each for each in page.forms if self.row_of(page, each, row)]
        self.assertEqual(200, self.visitor.submit(form).status)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)
        refused = app.refresh(tokens["refresh_token"])
        self.assertEqual((400, "invalid_grant"), (refused.status, refused.json()["error"]))
        self.assertEqual(200, app.ask(self.visitor).status, "the person is asked again")

    @staticmethod
    def row_of(page, form, row):
        """Whether a form is in a table row."""
        elements = page.elements
        begin = elements.index(row)
        following = next((i for i in range(begin + 1, len(elements)) if elements[i].name == "li"), len(elements))
        return begin < elements.index(form) < following

    def test_an_application_that_is_deleted_is_refused_at_once(self):
        """Item 38."""
        app = self.registered("To be deleted")
        tokens = app.tokens(self.visitor)
        page = self.visitor.get("/en/user/settings/applications/")
        row, = [each for each in page.all("li") if "To be deleted" in each.text]
        form = next(each for each in page.forms if self.row_of(page, each, row) and
                    "delete" in [field.get("value") for field in each.fields])
        self.assertEqual(200, self.visitor.submit(form, {"confirm_name": "To be deleted"}).status)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)
        refused = app.refresh(tokens["refresh_token"])
        self.assertEqual((400, "invalid_grant"), (refused.status, refused.json()["error"]))
        self.assertEqual(400, app.ask(self.visitor).status)

    def test_neither_kind_of_token_is_accepted_as_the_other(self):
        """Item 12."""
        access = self.registered("Both kinds").tokens(self.visitor)["access_token"]
        demo = self.server.demo
        for value in (f"Bearer {demo['token_secret']}", f"Bearer {demo['token_username']}", basic(access, ""),
                      basic("", access), basic(demo["token_username"], access), basic(access, access)):
            self.assert_error(self.server.ask("GET", "/v1/user/balance", token=value), 401)
        self.assertEqual(401, call(self.server, access.swapcase()).status)

    def test_what_users_see_is_neither_framed_nor_cached(self):
        """Item 33."""
        app = self.registered("Looked at closely")
        consent = app.ask(self.visitor, state="s")
        broken = app.ask(self.visitor, redirect_uri="https://evil.example/")
        refused = self.visitor.submit(consent.form_with("decision"), {"form_token": "x"}, ("decision", "allow"), follow=False)
        sent_back = self.visitor.submit(consent.form_with("decision"), {}, ("decision", "deny"), follow=False)
        for page, status in ((consent, 200), (broken, 400), (refused, 403), (sent_back, 303)):
            get = page.answer.get
            self.assertEqual((status, "no-store", "no-referrer"), (page.status, get("Cache-Control"), get("Referrer-Policy")))
            self.assertEqual([], [each for each in page.answer.fields if each[0].lower().startswith("x-ratelimit")])
            if page.body:
                policy = get("Content-Security-Policy")
                self.assertTrue({"default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"} <= set(policy.split("; ")))
                self.assertNotIn("unsafe", policy)
                self.assertEqual(("DENY", "nosniff"), (get("X-Frame-Options"), get("X-Content-Type-Options")))
                self.assertNotIn("<script", page.body)

    def test_both_kinds_of_token_spend_one_quota(self):
        """Item 3."""
        access = self.registered("Spends").tokens(self.visitor)["access_token"]
        left = [int(answer.get("X-RateLimit-Remaining")) for answer in (
            call(self.server, access), self.server.ask("GET", "/v1/user/balance", token=self.server.demo_token),
            call(self.server, access))]
        self.assertEqual([left[0], left[0] - 1, left[0] - 2], left)

    def test_the_log_has_neither_codes_nor_tokens(self):
        app = self.registered("Logged")
        page = app.ask(self.visitor, state="secret-state")
        code = query_of(self.visitor.submit(page.form_with("decision"), button=("decision", "allow"),
                                            follow=False).location)["code"]
        tokens = app.exchange(code).json()
        self.server.ask("GET", "/v1/testservice/get?code=" + code, {"User-Agent": "marker-of-the-log"})
        log = self.server.log_after("marker-of-the-log")
        for secret in (code, tokens["access_token"], tokens["refresh_token"], app.secret, "secret-state",
                       *self.visitor.cookies.values(), page.form_with("decision").value("form_token")):
            self.assertNotIn(secret, log)


class OAuthCase(Case):
    """One server with one application and one user, for what does not depend on transport and store."""

    flags = ()

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *PLENTY, *cls.flags)
        cls.addClassCleanup(cls.server.stop)
        cls.visitor = signed_in(cls.server)
        cls.app = Application(cls.server, 1)

    def failure(self, location):
        """The parameters of a redirect to the application."""
        self.assertTrue(location.startswith(BACK), location)
        told = query_of(location)
        self.assertNotIn("code", told)
        self.assertEqual(self.server.ready["auth"], told["iss"])
        return told


class Requests(OAuthCase):
    """Items 27 to 30."""

    def assert_page(self, url):
        page = self.visitor.get(url, follow=False)
        self.assertEqual(400, page.status, url)
        self.assertIsNone(page.location)
        self.assertTrue(page.answer.get("Content-Type").startswith("text/html"))
        return page

    def test_an_unknown_application(self):
        for client in ("nobody", "", self.app.id[:-1], self.app.id + "a", self.app.id.lower(), "<script>", "\0", None):
            with self.subTest(client=client):
                page = self.assert_page(self.app.request(client_id=client, redirect_uri=BACK))
                self.assertNotIn("<script", page.body)

    def test_a_redirect_that_is_not_the_registered_one(self):
        for uri in ("https://evil.example/back", BACK + "/", BACK + "?a=b", BACK + "#f", BACK.upper(), "http://app.example/back",
                    "https://app.example", "https://app.example:443/back", "https://app.example/./back", "https://app.example/back/..",
                    "https://user@app.example/back", "https://app.example.evil.example/back", "https://app.example%2fback",
                    "javascript:alert(1)", "//app.example/back", "/back", " " + BACK, BACK + "\r\nX: y", BACK + "%00"):
            with self.subTest(uri=uri):
                self.assert_page(self.app.request(redirect_uri=uri))

    def test_not_redirected_to_an_application_before_sign_in(self):
        stranger = Visitor(self.server)
        for asked in ({"client_id": "nobody"}, {"redirect_uri": "https://evil.example/"}):
            page = stranger.get(self.app.request(**asked), follow=False)
            self.assertEqual((400, None), (page.status, page.location))
        for url in (self.app.request("nothing", state="s"), self.app.request(response_type="token", state="s"),
                    self.app.request("nothing", path="/en/itemplatform/oauth/", state="s")):
            page = stranger.get(url, follow=False)
            self.assertTrue(page.location.startswith("/en/user/sign_in/?"), page.location)
            # After sign-in, the application gets the error.
            back = self.visitor.get(page.location, follow=False)
            told = self.visitor.get(back.location, follow=False)
            self.assertEqual("s", self.failure(told.location)["state"])
        page = stranger.get(self.app.request(), follow=False)
        self.assertTrue(page.location.startswith("/en/user/sign_in/?"), page.location)

    def test_a_parameter_that_is_repeated(self):
        for name, value in (("client_id", self.app.id), ("redirect_uri", BACK)):
            self.assert_page(self.app.request(redirect_uri=BACK) + f"&{name}=" + urllib.parse.quote(value))
        for name in ("response_type=code", "scope=user:balance", "state=b"):
            page = self.visitor.get(self.app.request(state="a") + "&" + name, follow=False)
            self.assertEqual("invalid_request", self.failure(page.location)["error"], name)

    def test_a_loopback_redirect_may_differ_in_its_port(self):
        app = Application(self.server, 1, redirect_url="http://127.0.0.1:1234/back")
        for port in (":1", ":65535", "", ":1234"):
            page = app.ask(self.visitor, redirect_uri=f"http://127.0.0.1{port}/back")
            self.assertEqual(200, page.status, port)
        app.tokens(self.visitor, redirect_uri="http://127.0.0.1:1/back")
        self.assertEqual(200, app.ask(self.visitor, redirect_uri="http://127.0.0.1:1/back").status, "another port is asked about")
        self.assertEqual(303, self.visitor.get(app.request(), follow=False).status)
        self.assertEqual(200, self.visitor.ask("HEAD", app.request()).status, "HEAD makes no code")
        for uri in ("http://127.0.0.1:1/other", "http://localhost:1234/back", "http://127.0.0.2:1234/back",
                    "https://127.0.0.1:1234/back", "http://127.0.0.1:99999/back"):
            self.assert_page(app.request(redirect_uri=uri))

    def test_without_a_registered_redirect_it_has_the_websites_origin(self):
        app = Application(self.server, 1, redirect_url=None)
        self.assert_page(app.request())
        for uri in ("https://evil.example/", "http://app.example/", "https://app.example:8443/", "https://app.example@evil.example/",
                    "https://app.example.evil.example/"):
            self.assert_page(app.request(redirect_uri=uri))
        self.assertEqual(200, app.ask(self.visitor, redirect_uri="https://app.example/any/where?x=y").status)
        location = app.decide(self.visitor, redirect_uri="https://app.example/any/where?x=y")
        self.assertTrue(location.startswith("https://app.example/any/where?x=y&"), location)
        code = query_of(location)["code"]
        for more, error in (({}, "invalid_request"), ({"redirect_uri": "https://app.example/"}, "invalid_grant"),
                            ({"redirect_uri": "https://app.example/any/where?x=y\0"}, "invalid_grant")):
            refused = app.exchange(code, **more)
            self.assertEqual((400, error), (refused.status, refused.json()["error"]), more)
        self.assertEqual(200, app.exchange(code, redirect_uri="https://app.example/any/where?x=y").status)
        # Consent is never skipped.
        self.assertEqual(200, app.ask(self.visitor, redirect_uri="https://app.example/any/where?x=y").status)

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
                asked = {"scope": "user:balance", "state": "a b&c", **more}
                page = self.visitor.get(self.app.request(**asked), follow=False)
                told = self.failure(page.location)
                self.assertEqual((303, error, "a b&c"), (page.status, told["error"], told["state"]))
        page = self.visitor.get(self.app.request("nothing"), follow=False)
        self.assertNotIn("state", self.failure(page.location))

    def test_scopes_are_separated_by_commas_or_blanks_and_folded(self):
        for asked, granted in (("user:balance,sitesmaker:read", "user:balance sitesmaker:read"),
                               ("user:balance sitesmaker:read", "user:balance sitesmaker:read"),
                               ("user:balance, sitesmaker:read", "user:balance sitesmaker:read"),
                               (" user:balance,,user:balance ,", "user:balance"),
                               (ALL_SCOPES, ALL_SCOPES.replace(",", " "))):
            with self.subTest(asked=asked):
                answer = self.app.tokens(self.visitor, asked)
                self.assertEqual(set(granted.split()), set(answer["scope"].split(" ")))
                self.assertEqual(len(granted.split()), len(answer["scope"].split(" ")))

    def test_state_comes_back_as_it_was(self):
        for state in ("x", "a b", "a+b", "%20", "&=?#/", "\"'<>", "\xe4\xf6\u20ac", "a" * 1000, "=", "{\"json\":[1]}"):
            with self.subTest(state=state):
                for decision in ("allow", "deny"):
                    location = Application(self.server, 1).decide(self.visitor, decision, state=state)
                    self.assertEqual(state, query_of(location)["state"])

    def test_no_state_is_returned_if_none_was_sent(self):
        self.assertNotIn("state=", Application(self.server, 1).decide(self.visitor))
        self.assertNotIn("state=", Application(self.server, 1).decide(self.visitor, state=""), "RFC 6749 section 3.1")

    def test_a_query_in_the_redirect_is_kept(self):
        for query in ("a=b", "a=b&c=%20d", "a", "code=mine"):
            app = Application(self.server, 1, redirect_url=f"{BACK}?{query}")
            for decision in ("deny", "allow"):
                location = app.decide(self.visitor, decision, "sitesmaker")
                self.assertTrue(location.startswith(f"{BACK}?{query}&"), location)

    def test_with_and_without_the_slash(self):
        for path in (AUTHORIZE, AUTHORIZE.rstrip("/")):
            self.assertIn(self.visitor.get(self.app.request("itemplatform", path=path)).status, (200, 303))

    def test_other_methods(self):
        for path in (AUTHORIZE, FASTER):
            self.assertEqual(405, self.visitor.ask("PUT", path).status)
            self.assertEqual(204, self.visitor.ask("OPTIONS", path).status)


class Consent(OAuthCase):
    """Items 31 and 32."""

    def test_without_a_session_sign_in_comes_before_consent(self):
        visitor = Visitor(self.server)
        app = Application(self.server, 1, name="Comes back")
        page = app.ask(visitor, "user:balance", state="a b+c&d")
        self.assertIn("/en/user/sign_in/", page.url)
        page = visitor.submit(page.form_with("login", "password"),
                              {"login": self.server.demo["login"], "password": self.server.demo["password"]})
        self.assertIn("Comes back", page.text)
        location = visitor.submit(page.form_with("decision"), button=("decision", "allow"), follow=False).location
        self.assertEqual("a b+c&d", query_of(location)["state"])

    def test_refusal_is_reported_and_changes_nothing(self):
        app = Application(self.server, 1)
        told = self.failure(app.decide(self.visitor, "deny", state="s"))
        self.assertEqual(("access_denied", "s"), (told["error"], told["state"]))
        self.assertEqual(200, app.ask(self.visitor).status, "asked again")

    def test_a_forged_form(self):
        app = Application(self.server, 1)
        form = app.ask(self.visitor).form_with("decision")
        stranger = signed_in(self.server)
        foreign = app.ask(stranger).form_with("decision").value("form_token")
        other_request = app.ask(self.visitor, "sitesmaker").form_with("decision").value("form_token")
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
        self.assertEqual(200, app.ask(self.visitor).status, "nothing was granted")

    def test_no_form_means_no_consent(self):
        app = Application(self.server, 1)
        url = app.request()
        asked = list(query_of(url).items())
        token = app.ask(self.visitor).form_with("decision").value("form_token")
        for visitor in (self.visitor, Visitor(self.server)):
            for target, pairs in ((AUTHORIZE, []), (url, []), (AUTHORIZE, asked), (url, asked)):
                page = visitor.post(target, [*pairs, ("decision", "allow")], follow=False)
                self.assertEqual((403, None), (page.status, page.location), (target, pairs))
        for more in ("&decision=allow", "&decision=allow&form_token=" + urllib.parse.quote(token)):
            self.assertEqual(200, self.visitor.get(url + more, follow=False).status, "a link agrees to nothing")
        self.assertEqual(200, app.ask(self.visitor).status, "nothing was granted")

    def test_the_parameters_of_a_form_cannot_be_changed(self):
        app = Application(self.server, 1)
        form = app.ask(self.visitor, "user:balance", state="s").form_with("decision")
        for name, value in (("scope", ALL_SCOPES), ("state", "other"), ("client_id", self.app.id)):
            page = self.visitor.submit(form, {name: value}, ("decision", "allow"), follow=False)
            self.assertEqual(403, page.status, name)
        page = self.visitor.post(form.url, [*form.pairs(("decision", "allow")), ("redirect_uri", "https://evil.example/")],
                                 follow=False)
        self.assertIn(page.status, (400, 403))

    def test_sent_twice_the_form_gives_one_code(self):
        app = Application(self.server, 1)
        form = app.ask(self.visitor).form_with("decision")
        first, second = (self.visitor.submit(form, {}, ("decision", "allow"), follow=False).location for _ in range(2))
        self.assertEqual(query_of(first)["code"], query_of(second)["code"])
        self.assertEqual(200, app.exchange(query_of(first)["code"]).status)
        late = self.visitor.submit(form, {}, ("decision", "allow"), follow=False)
        self.assertIsNone(late.location, "the code was used, and is not handed out again")
        self.assertTrue(late.answer.get("Content-Type").startswith("text/html"))

    def test_a_form_without_a_decision(self):
        form = Application(self.server, 1).ask(self.visitor).form_with("decision")
        for pairs in (form.pairs(), [*form.pairs(), ("decision", "maybe")]):
            page = self.visitor.post(form.url, pairs, follow=False)
            self.assertEqual((400, None), (page.status, page.location))

    def test_skipped_only_for_what_was_granted_before(self):
        app = Application(self.server, 1)
        self.assertIn("code", query_of(app.decide(self.visitor, "allow", "sitesmaker,user:balance")))
        for scope in ("sitesmaker", "user:balance", "user:balance sitesmaker"):
            page = app.ask(self.visitor, scope, state="s")
            self.assertEqual(303, page.status, scope)
            self.assertEqual({"code", "state", "iss"}, set(query_of(page.location)))
            self.assertEqual(set(scope.split()), set(app.exchange(query_of(page.location)["code"]).json()["scope"].split()))
        for scope in ("sitesmaker:read", "itemplatform:read", "sitesmaker,itemplatform"):
            self.assertEqual(200, app.ask(self.visitor, scope).status, scope)
        self.server.add_user("somebody-else")
        other = signed_in(self.server, "somebody-else", "a password")
        self.assertEqual(200, app.ask(other, "sitesmaker").status, "asked for each person")

    def test_text_on_the_page_is_escaped(self):
        app = Application(self.server, 1, name="<script>alert(1)</script>\"'&")
        page = app.ask(self.visitor, state="\"><script>")
        self.assertNotIn("<script", page.body)
        self.assertIn("<script>alert(1)</script>\"'&", page.text)

    def test_no_field_of_the_page_prevents_the_redirect(self):
        """Chromium applies `form-action` to every redirect after a form, including those of the application's own site."""
        page = Application(self.server, 1).ask(self.visitor)
        self.assertNotIn("form-action", page.answer.get("Content-Security-Policy"))
        self.assertIsNone(page.answer.get("Cross-Origin-Opener-Policy"))


class OnePage(OAuthCase):
    """The faster address for itemplatform's users."""

    FORM_COOKIE = {"tollgate_form"}  # marks a browser that has the form; nobody is signed in by it

    def fill_in(self, visitor, app, decision="allow", **typed):
        page = app.ask(visitor, "itemplatform:read", path=FASTER, state="s")
        form = page.form_with("login", "password", "decision")
        typed = {"login": self.server.demo["login"], "password": self.server.demo["password"], **typed}
        return visitor.submit(form, typed, ("decision", decision), follow=False)

    def test_sign_in_and_consent_at_once(self):
        visitor, app = Visitor(self.server), Application(self.server, 1, name="Faster")
        done = self.fill_in(visitor, app)
        told = query_of(done.location)
        self.assertEqual(({"code", "state", "iss"}, "s"), (set(told), told["state"]))
        self.assertEqual(200, app.exchange(told["code"]).status)
        self.assertLess(self.FORM_COOKIE, set(visitor.cookies), "signed in from now on")

    def test_a_wrong_password_grants_nothing(self):
        visitor, app = Visitor(self.server), Application(self.server, 1)
        done = self.fill_in(visitor, app, password="wrong")
        self.assertEqual((422, None, self.FORM_COOKIE), (done.status, done.location, set(visitor.cookies)))
        form = done.form_with("login", "password", "decision")
        self.assertEqual(self.server.demo["login"], form.value("login"))
        self.assertFalse(form.value("password"))
        again = visitor.submit(form, {"password": self.server.demo["password"]}, ("decision", "allow"), follow=False)
        self.assertIn("code", query_of(again.location))

    def test_denial_needs_no_password(self):
        done = self.fill_in(Visitor(self.server), Application(self.server, 1), "deny", login="", password="")
        self.assertEqual("access_denied", query_of(done.location)["error"])

    def test_consent_is_never_skipped(self):
        app = Application(self.server, 1)
        for _ in range(2):
            page = app.ask(self.visitor, "itemplatform:read", path=FASTER)
            self.assertEqual(200, page.status)
            form = page.form_with("decision")
            self.assertEqual([], form.named("password"), "who is signed in is only asked")
            self.assertIn("code", query_of(
                self.visitor.submit(form, {}, ("decision", "allow"), follow=False).location))

    def test_another_site_cannot_send_it(self):
        app = Application(self.server, 1)
        page = app.ask(Visitor(self.server), "itemplatform:read", path=FASTER)
        form = page.form_with("login", "password", "decision")
        typed = {"login": self.server.demo["login"], "password": self.server.demo["password"]}
        visitor = Visitor(self.server)
        done = visitor.submit(form, typed, ("decision", "allow"), follow=False, fields={"Sec-Fetch-Site": "cross-site"})
        self.assertEqual((403, {}), (done.status, visitor.cookies))

    def test_a_form_that_is_forged(self):
        app = Application(self.server, 1)
        form = app.ask(Visitor(self.server), "itemplatform:read", path=FASTER).form_with("login", "password", "decision")
        own = {"client_id", "response_type", "scope", "login", "password", "decision"}
        hidden = {name for name, _ in form.pairs()} - own
        self.assertTrue(hidden)
        typed = [("login", self.server.demo["login"]), ("password", self.server.demo["password"]), ("decision", "allow")]
        asked = [pair for pair in form.pairs() if pair[0] in own - {"login", "password"}]
        for pairs in ([*asked, *typed], [*asked, *typed, *((name, "x") for name in hidden)], typed):
            visitor = Visitor(self.server)
            page = visitor.post(form.url, pairs, follow=False)
            self.assertEqual((403, None, {}), (page.status, page.location, visitor.cookies))

    def test_a_form_of_another_browser(self):
        app, typed = Application(self.server, 1), {key: self.server.demo[key] for key in ("login", "password")}
        first, second = Visitor(self.server), Visitor(self.server)
        form = app.ask(first, "itemplatform:read", path=FASTER).form_with("login", "password", "decision")
        app.ask(second, "itemplatform:read", path=FASTER)
        refused = second.submit(form, typed, ("decision", "allow"), follow=False)
        self.assertEqual((403, self.FORM_COOKIE), (refused.status, set(second.cookies)))
        self.assertIn("code", query_of(first.submit(form, typed, ("decision", "allow"), follow=False).location))

    def test_sitesmaker_has_no_such_page(self):
        self.assertEqual(404, self.visitor.get("/en/sitesmaker/oauth/?client_id=x").status)


class Lifetimes(Case):
    def test_an_access_token_expires_after_expires_in(self):
        """Item 13."""
        with Server("--demo", *PLENTY, "--access-token-seconds", "1") as server:
            app, visitor = Application(server, 1), signed_in(server)
            code = app.code(visitor)
            tokens = app.exchange(code).json()
            received = time.monotonic()
            self.assertEqual(1, tokens["expires_in"])
            status = call(server, tokens["access_token"]).status
            if time.monotonic() - received < 0.5:
                self.assertEqual(200, status)
            while time.monotonic() - received < 1.05:
                time.sleep(0.01)
            answer = call(server, tokens["access_token"])
            self.assert_error(answer, 401)
            self.assertIn("error=\"invalid_token\"", " ".join(answer.all("WWW-Authenticate")))
            again = app.refresh(tokens["refresh_token"]).json()
            self.assertEqual(1, again["expires_in"])
            self.assertIn(call(server, again["access_token"]).status, (200, 401))

    def test_grants_survive_a_restart(self):
        with Server("--demo", *PLENTY) as server:
            app = Application(server, 1)
            visitor = signed_in(server)
            code = app.code(visitor)
            with Server("--demo", *PLENTY, data=server.data) as second:
                app.server = second
                tokens = app.exchange(code).json()
                self.assertEqual(200, call(server, tokens["access_token"]).status)
                self.assertEqual(200, call(second, tokens["access_token"]).status)


if __name__ == "__main__":
    main()
