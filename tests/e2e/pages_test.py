#!/usr/bin/env python3
"""contract.md, item 33: the settings pages. The protection of every page, and the actions of users."""

import re
import urllib.parse

from application import Application, call
from harness import ALL_SCOPES, HIGH_LIMITS, Case, Redis, Server, basic, concurrently, main, over_every_transport
from visitor import Visitor, signed_in

SETTINGS = "/en/user/settings/"
TOKENS, APPLICATIONS = SETTINGS + "tokens/", SETTINGS + "applications/"
AUTHORIZATIONS, WEBHOOKS = SETTINGS + "authorizations/", SETTINGS + "webhooks/"
ACTIVITY = SETTINGS + "activity/"
OVERVIEW = "/en/user/"
SETTINGS_PAGES = (TOKENS, APPLICATIONS, AUTHORIZATIONS, WEBHOOKS)


def form_in(page, text, **values):
    """The form in the list item with this text, with these values in its fields."""
    for row in page.all("li"):
        if text not in row.text:
            continue
        begin = page.elements.index(row)
        following = next((i for i, each in enumerate(page.elements) if i > begin and each.name == "li"), len(page.elements))
        for form in page.forms:
            if begin < page.elements.index(form) < following and \
                    all(value in [each.get("value") for each in form.named(name)] for name, value in values.items()):
                return form
    raise AssertionError(f"no form for {text!r} {values} on {page}")


@over_every_transport
class Settings:
    def setUp(self):
        if getattr(type(self), "visitor", None) is None:
            type(self).visitor = signed_in(self.server)

    def assert_safe(self, page):
        """The header fields that prevent framing, caching and foreign scripts."""
        get = page.response.get
        policy = dict(each.split(" ", 1) for each in get("Content-Security-Policy").split("; "))
        self.assertEqual("'none'", policy["default-src"])
        self.assertEqual(("'self'", "'none'", "'none'"),
                         (policy["style-src"], policy["base-uri"], policy["frame-ancestors"]))
        # The only script copies secrets, and only pages that show a secret have it.
        scripts = re.findall(r"<script[^>]*>[^<]*", page.body)
        self.assertEqual("'self'" if page.readonly_values() else None, policy.get("script-src"))
        self.assertEqual(len(scripts), 1 if page.readonly_values() else 0)
        for each in scripts:
            self.assertRegex(each, r'^<script src="/en/copy-[0-9a-f]+\.js" defer>$')
        self.assertNotIn("unsafe", get("Content-Security-Policy"))
        self.assertEqual(("DENY", "no-referrer", "no-store", "nosniff"),
                         (get("X-Frame-Options"), get("Referrer-Policy"), get("Cache-Control"), get("X-Content-Type-Options")))
        self.assertEqual(bool(self.server.tls), get("Strict-Transport-Security") is not None)
        self.assertEqual([], [each for each in page.response.fields if each[0].lower().startswith("x-ratelimit")])
        if page.body:
            self.assertEqual([], re.findall(r"\son\w+=|\sstyle=|javascript:", page.body))
            for element in page.elements:
                for name in ("src", "href", "action"):
                    target = urllib.parse.urljoin(page.url, element.get(name) or "")
                    if element.name in ("link", "img", "form", "script", "iframe"):
                        self.assertTrue(target.startswith((self.server.ready["auth"] + "/", "data:image/")), target)

    def assert_readable(self, page):
        """The page can be used with a keyboard and a screen reader."""
        self.assertEqual("en", page.all("html")[0].get("lang"))
        self.assertEqual(1, len(page.all("h1")), page.url)
        self.assertEqual(1, len(page.all("main")))
        self.assertTrue(page.title)
        labelled = {each.get("for") for each in page.all("label")}
        identities = [each.get("id") for each in page.elements if each.get("id")]
        self.assertEqual(len(identities), len(set(identities)), "ids are unique")
        for form in page.forms:
            for field in form.fields:
                if field.name == "option" or field.get("type") in ("hidden", "submit") or field.name == "button":
                    continue
                self.assertTrue(field.get("id") in labelled or field.get("aria-label") or field.get("aria-labelledby"),
                                (page.url, field.attributes))
                for description in (field.get("aria-describedby") or "").split():
                    self.assertIn(description, identities)

    def test_every_page_is_safe_and_readable(self):
        signed_out = Visitor(self.server)
        for visitor, path in ((signed_out, "/en/user/sign_in/"), (signed_out, "/en/user/oauth/"), (self.visitor, "/en/user/oauth/?x"),
                              *((self.visitor, path) for path in (*SETTINGS_PAGES, ACTIVITY, OVERVIEW, "/en/user/sign_out/"))):
            with self.subTest(path=path):
                page = visitor.get(path)
                self.assert_safe(page)
                self.assert_readable(page)

    def test_the_overview_links_to_all_pages(self):
        page = self.visitor.get("/")
        self.assertEqual(self.server.ready["auth"] + OVERVIEW, page.url)
        for text in ("1234.56 EUR", "Access to your account", "Recent activity", "Signed in"):
            self.assertIn(text, page.text)
        targets = {urllib.parse.urlsplit(urllib.parse.urljoin(page.url, each.get("href"))).path for each in page.all("a")}
        self.assertLessEqual({*SETTINGS_PAGES, ACTIVITY, "/docs/"}, targets)
        for path in sorted(targets):
            self.assertEqual(200, self.visitor.get(path).status, path)
        self.assertIn(self.server.ready["auth"] + "/user/", [each.get("href") for each in Visitor(self.server).get("/docs/").all("a")])

    def test_the_icon_is_served_as_favicon(self):
        icon = self.server.request("GET", "/favicon.ico")
        self.assertEqual((200, "image/svg+xml"), (icon.status, icon.get("Content-Type")))
        refused = self.server.request("PUT", "/favicon.ico")
        self.assertEqual((405, "text/html; charset=utf-8"), (refused.status, refused.get("Content-Type")))
        for each in (icon, refused):
            self.assertIsNone(each.get("X-RateLimit-Limit"))
        self.assertIsNotNone(self.server.request("PUT", "/favicon.ic").get("X-RateLimit-Limit"), "not a page")
        link, = self.visitor.get("/").all("link", rel="icon")
        self.assertEqual(icon.body, self.server.request("GET", link.get("href")).body)

    def test_a_path_that_does_not_exist_returns_a_page(self):
        for path in ("/en/nowhere", "/en/user/settings/nowhere/", "/en/user/nobody/", "/en/style-0.css"):
            with self.subTest(path=path):
                page = self.visitor.get(path)
                self.assertEqual(404, page.status)
                self.assert_safe(page)
                self.assert_readable(page)
        for path in ("/enough", "/nowhere"):
            self.assertEqual("application/json", self.visitor.get(path).response.get("Content-Type").split(";")[0])

    def test_what_is_too_large_returns_a_page_in_the_language_of_its_path(self):
        cookies = {"Accept": "text/html,*/*;q=0.8", "Cookie": "a=" + "x" * 17_000}  # browsers send cookies last
        for path, fields, status, text in (("/?" + "x" * 20_000, {}, 414, "The address of the page is too long."),
                                           ("/de/user/?" + "x" * 20_000, {}, 414, "Die Adresse der Seite ist zu lang."),
                                           ("/", cookies, 431, "Delete the cookies of this site"),
                                           ("/de/user/", cookies, 431, "die Cookies dieser Website")):
            with self.subTest(path=path[:12], status=status):
                response = self.server.request("GET", path, fields=list(fields.items()))
                self.assertEqual((status, "text/html; charset=utf-8"), (response.status, response.get("Content-Type")))
                self.assertIn(text, response.body.decode())

    def test_responses_to_forms_have_the_same_protection(self):
        for path in SETTINGS_PAGES:
            for pairs in ([], [("form_token", "x")]):
                page = self.visitor.post(path, pairs)
                self.assertEqual(403, page.status)
                self.assert_safe(page)
        page = self.visitor.get(TOKENS)
        page = self.visitor.submit(page.form_with("description", "scopes"), {"description": "", "scopes": []})
        self.assertEqual(422, page.status)
        self.assert_safe(page)
        self.assert_readable(page)
        self.assertTrue(page.title.startswith("Error"))

    def test_a_form_of_another_user_or_site_is_refused(self):
        form = self.visitor.get(TOKENS).form_with("description", "scopes")
        other = signed_in(self.server)
        typed = {"description": "forged", "scopes": ["user:balance"]}
        foreign = other.get(TOKENS).form_with("description").value("form_token")
        self.assertEqual(403, self.visitor.submit(form, {**typed, "form_token": foreign}).status)
        for fields in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                       {"Sec-Fetch-Site": None, "Origin": "https://evil.example"}, {"Sec-Fetch-Site": None, "Origin": "null"}):
            self.assertEqual(403, self.visitor.submit(form, typed, fields=fields).status, fields)
        self.assertNotIn("forged", self.visitor.get(TOKENS).text)

    def test_a_token_is_created_shown_once_used_and_revoked(self):
        page = self.visitor.get(TOKENS)
        form = page.form_with("description", "scopes")
        self.assertEqual(set(ALL_SCOPES.split(",")), {each.get("value") for each in form.named("scopes")})
        shown = self.visitor.submit(form, {"description": "Nightly <b>backup</b>", "scopes": ["user:balance", "sitesmaker:read"]})
        self.assertEqual(200, shown.status)
        self.assert_safe(shown)
        self.assert_readable(shown)
        username, = [each for each in shown.readonly_values() if each.startswith("tgu_")]
        secret, = [each for each in shown.readonly_values() if each.startswith("tgp_")]
        token = basic(username, secret)
        self.assertEqual(200, self.server.balance(token).status)
        self.assertEqual(403, self.server.request("GET", "/v1/itemplatform/accounts", token=token).status)

        listed = self.visitor.get(TOKENS)
        self.assertIn("Nightly <b>backup</b>", listed.text)
        self.assertNotIn(secret, listed.body)
        self.visitor.submit(form_in(listed, username, action="revoke"))
        self.assertEqual(401, self.server.balance(token).status)
        self.assertNotIn(username, self.visitor.get(TOKENS).text)

    def test_a_form_sent_several_times_at_once_creates_one_token(self):
        form = self.visitor.get(TOKENS).form_with("description", "scopes")
        typed = {"description": "Sent several times", "scopes": ["user:balance"]}
        pages = concurrently(lambda _: self.visitor.submit(form, typed), range(6))
        self.assertEqual(1, len({tuple(page.readonly_values()) for page in pages}), pages)
        token = basic(*pages[0].readonly_values())
        self.assertEqual(200, self.server.balance(token).status)
        listed = self.visitor.get(TOKENS)
        self.assertEqual(1, len([row for row in listed.all("li") if "Sent several times" in row.text]))
        renewal = form_in(listed, "Sent several times", action="renew")
        pages = concurrently(lambda _: self.visitor.submit(renewal), range(6))
        self.assertEqual(1, len({tuple(page.readonly_values()) for page in pages}), pages)
        self.assertEqual(401, self.server.balance(token).status)
        self.assertEqual(200, self.server.balance(basic(*pages[0].readonly_values())).status)

    def test_a_form_of_a_replaced_session_is_shown_again(self):
        form = self.visitor.get(TOKENS).form_with("description", "scopes")
        other_tab = Visitor(self.server)
        other_tab.cookies = self.visitor.cookies  # of the same browser
        other_tab.post("/en/user/sign_in/", [("login", self.server.demo["login"]), ("password", self.server.demo["password"])])
        page = self.visitor.submit(form, {"description": "Kept text", "scopes": ["user:balance"]})
        self.assertEqual(403, page.status)
        self.assertIn("You signed in again", page.text)
        again = page.form_with("description", "scopes")
        self.assertEqual("Kept text", again.value("description"))
        self.assertEqual(200, self.visitor.submit(again, {"description": "Kept text", "scopes": ["user:balance"]}).status)

    def test_a_revocation_that_is_sent_again_says_that_it_was_done(self):
        form = self.visitor.get(TOKENS).form_with("description", "scopes")
        self.visitor.submit(form, {"description": "Revoked twice", "scopes": ["user:balance"]})
        revocation = form_in(self.visitor.get(TOKENS), "Revoked twice", action="revoke")
        for page in [*concurrently(lambda _: self.visitor.submit(revocation), range(4)), self.visitor.submit(revocation)]:
            self.assertEqual(200, page.status)
            self.assertIn("The token was revoked.", page.text)
        unknown = [(name, "999999" if name == "token" else value) for name, value in revocation.pairs()]
        self.assertEqual(404, self.visitor.post(TOKENS, unknown).status)

    def test_invalid_fields_of_a_token(self):
        form = self.visitor.get(TOKENS).form_with("description", "scopes")
        for typed in ({"description": "", "scopes": ["user:balance"]}, {"description": "x" * 256, "scopes": ["user:balance"]},
                      {"description": "none", "scopes": []}, {"description": "unknown", "scopes": ["nothing:read"]},
                      {"description": "a\nb", "scopes": ["user:balance"]}):
            with self.subTest(typed=typed):
                page = self.visitor.submit(form, typed)
                self.assertEqual(422, page.status)
                self.assertEqual([], page.readonly_values())
                kept = page.form_with("description").value("description") or ""
                self.assertEqual(typed["description"].split(), kept.split(), "the input is kept")

    def test_an_application_is_registered_renewed_and_deleted(self):
        page = self.visitor.get(APPLICATIONS)
        form = page.form_with("name", "website", "description", "redirect_url")
        typed = {"name": "Acme \"reports\"", "website": "https://app.example", "description": "Reads <things>",
                 "redirect_url": "https://app.example/back"}
        shown = self.visitor.submit(form, typed)
        self.assert_safe(shown)
        client, = [each for each in shown.readonly_values() if each.startswith("tgi_")]
        secret, = [each for each in shown.readonly_values() if each.startswith("tgs_")]
        listed = self.visitor.get(APPLICATIONS)
        for text in (client, typed["name"], typed["description"], typed["redirect_url"]):
            self.assertIn(text, listed.text)
        self.assertNotIn(secret, listed.body)

        app = object.__new__(Application)
        app.server, app.id, app.secret = self.server, client, secret
        tokens = app.tokens(self.visitor)
        secret_form = next(each for each in listed.forms if "secret" in " ".join(map(str, each.pairs())) and each.named("action"))
        renewed = self.visitor.submit(form_in(listed, client, action=secret_form.value("action")))
        new_secret, = [each for each in renewed.readonly_values() if each.startswith("tgs_")]
        self.assertNotEqual(secret, new_secret)
        self.assertEqual(200, app.refresh(tokens["refresh_token"]).status, "the old secret is valid until it is removed")
        self.visitor.submit(form_in(self.visitor.get(APPLICATIONS), client, action="remove_secret"))
        self.assertEqual(401, app.refresh(tokens["refresh_token"]).status)
        app.secret = new_secret
        self.assertEqual(200, app.refresh(tokens["refresh_token"]).status)
        delete = form_in(self.visitor.get(APPLICATIONS), client, action="delete")
        self.assertEqual(422, self.visitor.submit(delete, {"confirm_name": "Acme"}).status)
        self.visitor.submit(delete, {"confirm_name": typed["name"]})
        self.assertNotIn(client, self.visitor.get(APPLICATIONS).text)
        self.assertEqual(401, call(self.server, tokens["access_token"]).status)

    def test_invalid_fields_of_an_application(self):
        form = self.visitor.get(APPLICATIONS).form_with("name", "website")
        good = {"name": "A", "website": "https://app.example", "description": "", "redirect_url": ""}
        for invalid in ({"name": ""}, {"name": "x" * 101}, {"website": ""}, {"website": "app.example"}, {"website": "javascript:alert(1)"},
                        {"website": "https://u:p@app.example"}, {"description": "x" * 256}, {"redirect_url": "/back"},
                        {"redirect_url": "https://app.example/#f"}, {"redirect_url": "https://u@app.example/"}):
            with self.subTest(invalid=invalid):
                page = self.visitor.submit(form, {**good, **invalid})
                self.assertEqual(422, page.status)
                self.assert_readable(page)
                (name, value), = invalid.items()
                field, = page.form_with("name", "website").named(name)
                self.assertEqual("true", field.get("aria-invalid"))
                self.assertTrue(field.get("aria-describedby"))
                self.assertEqual(value, (field.get("value") or "") if field.name == "input" else field.text.strip())
                self.assertEqual([], page.readonly_values())

    def test_webhooks_are_created_listed_and_deleted_on_pages_and_by_the_api(self):
        page = self.visitor.get(WEBHOOKS)
        account = self.server.demo["sitesmaker_account"]
        chooser = next((each for each in page.forms if each.method == "GET" and each.named("account")), None)
        if chooser is not None:
            value = next(each.get("value") for each in chooser.named("account") if str(account) in each.get("value"))
            page = self.visitor.get(WEBHOOKS + "?" + urllib.parse.urlencode({"account": value}))
        target = "https://example.com/hook?from=page"
        typed = {"event": "site.created", "target_url": target}
        form = next(each for each in page.forms
                    if each.named("target_url") and "site.created" in [f.get("value") for f in each.named("event")])
        shown = self.visitor.submit(form, typed)
        self.assertEqual(200, shown.status, shown)
        self.assert_safe(shown)
        path = f"/v1/sitesmaker/{account}/hooks"
        hooks = [each for each in self.server.request("GET", path, token=self.server.demo_token).json() if each["url"] == target]
        self.assertEqual(["manual"], [each["source"] for each in hooks])
        refused = self.visitor.submit(form, {**typed, "target_url": "http://127.0.0.1/"})
        self.assertEqual(422, refused.status)
        shown = self.visitor.submit(form, {**typed, "account": str(account), "target_url": target + "&by=id"})
        self.assertEqual(200, shown.status, "an account can be chosen by its id")
        refused = self.visitor.submit(form, {**typed, "account": "99999"})
        self.assertEqual(422, refused.status)

        for _ in range(2):
            self.visitor.submit(form_in(self.visitor.get(page.url), target, action="delete"))
        self.assertEqual([], [each["url"] for each in self.server.request("GET", path, token=self.server.demo_token).json()
                              if each["url"].startswith(target)])

    def test_the_style_sheet_may_be_cached_forever(self):
        page = Visitor(self.server).get("/en/user/sign_in/")
        sheet, = page.all("link", rel="stylesheet")
        response = self.server.request("GET", sheet.get("href"))
        self.assertEqual((200, "text/css"), (response.status, response.get("Content-Type").split(";")[0]))
        self.assertIn("immutable", response.get("Cache-Control"))
        self.assertNotIn(b"http", response.body)
        self.assertIn(b"prefers-color-scheme", response.body)

    def test_other_methods(self):
        for path in (*SETTINGS_PAGES, "/en/user/sign_in/", "/en/user/sign_out/"):
            page = self.visitor.request("DELETE", path)
            self.assertEqual(405, page.status)
            self.assertTrue({"GET", "POST", "HEAD", "OPTIONS"} <= set(page.response.get("Allow").split(", ")))
            self.assertEqual(204, self.visitor.request("OPTIONS", path).status)
            self.assertEqual(b"", self.visitor.request("HEAD", path).response.body)

    def test_invalid_forms(self):
        for kind, body in (("application/json", b"{}"), ("text/plain", b"a=b"), ("multipart/form-data; boundary=x", b"--x--")):
            response = self.visitor.request("POST", TOKENS, body, {"Content-Type": kind, "Sec-Fetch-Site": "same-origin"})
            self.assertEqual(415, response.status, kind)
        response = self.visitor.request("POST", TOKENS, b"a=" + b"b" * 70_000, {"Sec-Fetch-Site": "same-origin"})
        self.assertEqual(413, response.status)


class OtherUsers(Case):
    @classmethod
    def setUpClass(cls):
        cls.server = Server("--demo", *HIGH_LIMITS)
        cls.addClassCleanup(cls.server.stop)
        cls.server.add_user("second")
        cls.first, cls.second = signed_in(cls.server), signed_in(cls.server, "second", "a password")

    def test_no_user_can_change_resources_of_others(self):
        app = Application(self.server, 1, name="Of the first user")
        tokens = app.tokens(self.first)
        self.server.add_hook("https://example.com/")
        for path in SETTINGS_PAGES:
            token = self.second.get(path).form_with("form_token").value("form_token")
            forms = [form for form in self.first.get(path).forms
                     if form.url.endswith(path) and form.method == "POST" and form.named("action")]
            for form in forms:
                pairs = [(name, token if name == "form_token" else value) for name, value in form.pairs()]
                if form.named("description") or form.named("target_url"):
                    continue  # the form creates something
                self.assertEqual(404, self.second.post(path, pairs).status, (path, pairs))
        self.assertEqual(200, call(self.server, tokens["access_token"]).status)
        self.assertEqual(200, app.refresh(tokens["refresh_token"]).status)
        self.assertEqual(200, self.server.balance(self.server.demo_token).status)
        hooks = self.server.request("GET", f"/v1/sitesmaker/{self.server.demo['sitesmaker_account']}/hooks", token=self.server.demo_token)
        self.assertEqual(1, len(hooks.json()))
        page = self.second.get(APPLICATIONS)
        self.assertNotIn("Of the first user", page.text)

    def test_the_number_of_tokens_is_bounded(self):
        self.server.add_user("bob")
        visitor = signed_in(self.server, "bob", "a password")
        form = visitor.get(TOKENS).form_with("description", "scopes")
        statuses = [visitor.submit(form, {"description": f"n{i}", "scopes": ["user:balance"]}).status for i in range(101)]
        self.assertEqual([200] * 100 + [422], statuses)
        pages = [visitor.get(f"{TOKENS}?page={number}") for number in range(1, 6)]
        self.assertEqual([25] * 5, [len([form for form in page.forms if form.named("token") and form.named("action")]) // 2 for page in pages])
        self.assertEqual(["n99", "n99"], [max(re.findall(r"n\d\d", page.text)) for page in pages[3:]], "there are four pages")
        self.assertLess(max(len(page.body) for page in pages), 200_000)
        form = next(form for form in pages[3].forms if form.named("token") and form.value("action") == "revoke")
        self.assertIn("page=4", visitor.submit(form, follow=False).location)


class PathPrefix(Case):
    def test_pages_and_oauth_below_a_path(self):
        site = "http://auth.example/account"
        with Server("--demo", *HIGH_LIMITS, "--auth-url", site) as server:
            visitor = Visitor(server)
            page = visitor.get(site + "/")
            self.assertEqual(site + "/en/user/sign_in/", page.url.split("?")[0])
            page = visitor.submit(page.form_with("login"), {"login": server.demo["login"], "password": server.demo["password"]})
            self.assertEqual((200, site + OVERVIEW), (page.status, page.url))
            self.assertEqual(404, server.request("GET", "/en/user/sign_in/").status)
            for path in ("/.well-known/oauth-authorization-server/account", "/account/.well-known/oauth-authorization-server",
                         "/.well-known/oauth-authorization-server/account/", "/account//.well-known/oauth-authorization-server"):
                self.assertEqual(site, server.request("GET", path).json()["issuer"])
            self.assertEqual(405, server.request("GET", "/account/user/oauth_token/").status)
            self.assertEqual(200, server.request("GET", "/account/docs/").status)


class Usage(Case):
    def test_requests_of_today(self):
        with Server() as server:
            user = server.add_user("ann")
            token, _ = server.add_token(user)
            server.run("app", "register", "--user", user, "--name", "Counted", "--website", "https://counted.example",
                       "--redirect-url", "https://counted.example/back")
            visitor = signed_in(server, "ann", "a password")
            self.assertIn("0 of 1000 used, 1000 left.", visitor.get(OVERVIEW).text)
            for path in ("/v1/user/balance", "/v1/user/balance", "/v1/sitesmaker/accounts", "/v1/nothing"):
                server.request("GET", path, token=token)
            server.balance(basic("nobody", "wrong"))
            overview = visitor.get(OVERVIEW)
            self.assertIn("4 of 1000 used, 996 left. The count starts again: ", overview.text)
            self.assertEqual(2, len(overview.all("svg")), "one bar of the user, and one of the token")
            self.assertEqual([], re.findall(r"\sstyle=|<script", overview.body))
            for page in (overview, visitor.get(TOKENS)):
                self.assertIn("Requests today", page.text)
                self.assertIn("4 (1 failed)", page.text)
            self.assertRegex(visitor.get(APPLICATIONS).text, r"Users\s*0\s*Requests today\s*0")
            german = visitor.get("/de/user/")
            for text in ("4 von 1000 verbraucht, 996 übrig.", "Anfragen heute", "4 (1 fehlgeschlagen)"):
                self.assertIn(text, german.text)

    def test_limits_in_redis(self):
        """Each node would know only a part of the requests of a token, but the window is that of all nodes."""
        redis = Redis()
        self.addCleanup(redis.close)
        with Server("--limits", redis.url) as server, Server("--limits", redis.url, data=server.data) as other:
            user = server.add_user("ann")
            token, _ = server.add_token(user)
            for each in (server, other, other):
                self.assert_json(each.balance(token))
            overview = signed_in(server, "ann", "a password").get(OVERVIEW)
            self.assertIn("3 of 1000 used, 997 left.", overview.text)
            self.assertNotIn("Requests today", overview.text)


if __name__ == "__main__":
    main()
