#!/usr/bin/env python3
"""contract.md, item 33: signing in and out, the session cookie, and the limit of failed attempts."""

import base64
import concurrent.futures
import contextlib
import hashlib
import sqlite3
import threading
import time
import urllib.parse

from harness import Case, Server, concurrently, main, over_every_transport, run_command
from visitor import Visitor, signed_in

TOKENS = "/en/user/settings/tokens/"
SECURITY = "/en/user/settings/security/"


@over_every_transport
class SigningIn:
    def test_without_a_session_sign_in_returns_to_the_page(self):
        visitor = Visitor(self.server)
        first = visitor.get(TOKENS, follow=False)
        self.assertEqual(303, first.status)
        self.assertEqual("/en/user/sign_in/?return_to=" + urllib.parse.quote(TOKENS, safe=""), first.location)
        page = visitor.get(TOKENS)
        result = visitor.submit(page.form_with("login", "password"),
                                {"login": self.server.demo["login"], "password": self.server.demo["password"]})
        self.assertEqual((200, self.server.ready["auth"] + TOKENS), (result.status, result.url))
        self.assertIn(self.server.demo["login"], result.text)

    def test_a_lost_session_cookie_is_reported(self):
        visitor = Visitor(self.server)
        form = visitor.get(TOKENS).form_with("login", "password")
        demo = self.server.demo
        answer = visitor.submit(form, {"login": demo["login"], "password": demo["password"]}, follow=False)
        visitor.cookies.clear()  # the browser refuses them, or does not send them over http
        page = visitor.follow(answer)
        self.assertEqual(200, page.status)
        self.assertIn(f"did not send the session cookie back. Allow cookies for this site, and open it at {self.server.ready['auth']}.",
                      page.text)
        page = visitor.submit(page.form_with("login", "password"), {"login": demo["login"], "password": demo["password"]})
        self.assertEqual((200, self.server.ready["auth"] + TOKENS), (page.status, page.url), "it still leads to the page")
        self.assertNotIn("session cookie", Visitor(self.server).get(TOKENS).text)

    def test_the_empty_path_redirects_to_the_overview(self):
        self.assertEqual(303, Visitor(self.server).get("/", follow=False).status)
        self.assertEqual(self.server.ready["auth"] + "/en/user/", signed_in(self.server).get("/").url)

    def test_the_cookie_is_protected(self):
        visitor = Visitor(self.server)
        page = visitor.sign_in(self.server.demo["login"], self.server.demo["password"], follow=False)
        self.assertEqual(303, page.status)
        line, browser = page.response.all("Set-Cookie")
        pair, *attributes = line.split("; ")
        name, _, value = pair.partition("=")
        self.assertRegex(value, r"^tgw_[A-Za-z0-9]{49}$")
        expected = {"Path=/", "HttpOnly", "SameSite=Lax"} | ({"Secure"} if self.server.tls else set())
        self.assertEqual(expected, set(attributes))
        self.assertEqual(bool(self.server.tls), name.startswith("__Host-"))
        pair, *attributes = browser.split("; ")
        self.assertRegex(pair, rf"^{name.removesuffix('_session')}_browser=[\w-]{{22}}\.[\w-]{{43}}$")
        self.assertEqual(expected | {"Max-Age=31536000"}, set(attributes))

    def test_a_login_in_another_case_is_the_same_user(self):
        signed_in(self.server, self.server.demo["login"].upper(), self.server.demo["password"])

    def test_a_wrong_password_and_an_unknown_login_look_the_same(self):
        seen = []
        for login, password in ((self.server.demo["login"], "wrong"), ("n" * len(self.server.demo["login"]), "wrong")):
            visitor = Visitor(self.server)
            page = visitor.sign_in(login, password)
            self.assertEqual(422, page.status)
            self.assertEqual({}, visitor.cookies)
            self.assertTrue(page.title.startswith("Error"), page.title)
            self.assertNotIn("wrong\"", page.body)
            self.assertEqual(login, page.form_with("login", "password").value("login"), "the login is kept")
            self.assertFalse(page.form_with("login", "password").value("password"))
            seen.append(page.body.replace(login, ""))
        self.assertEqual(*seen)

    def test_blanks_around_a_login_do_not_count(self):
        login = self.server.demo["login"]
        for typed in (f" {login}", f"{login} ", f"\t{login}\u00a0"):
            signed_in(self.server, typed, self.server.demo["password"])

    def test_password_managers_find_the_form_to_change_the_password(self):
        page = signed_in(self.server).get("/.well-known/change-password")
        self.assertEqual((200, self.server.ready["auth"] + SECURITY), (page.status, page.url))
        page.form_with("current_password", "new_password")

    def test_an_empty_form_is_an_error(self):
        page = Visitor(self.server).sign_in("", "")
        self.assertEqual(422, page.status)

    def test_signing_in_begins_a_new_session_each_time(self):
        visitor = signed_in(self.server)
        first = dict(visitor.cookies)
        other = Visitor(self.server)
        other.cookies = dict(first)
        page = other.post("/en/user/sign_in/", [("login", self.server.demo["login"]),
                                                ("password", self.server.demo["password"])])
        self.assertEqual(200, page.status)
        self.assertNotEqual(first, other.cookies)
        self.assertEqual(303, visitor.get(TOKENS, follow=False).status, "the earlier session has ended")

    def test_a_forged_cookie_is_refused(self):
        visitor = signed_in(self.server)
        (name, value), _ = visitor.cookies.items()
        for forged in ("", "tgw_" + "0" * 49, value[:-1] + ("a" if value[-1] != "a" else "b"), value + "a",
                       value.lower(), "%00", "a" * 4000, f"{value}; {name}=tgw_{'1' * 49}"):
            with self.subTest(cookie=forged):
                other = Visitor(self.server)
                other.cookies = {name: forged}
                self.assertEqual(303, other.get(TOKENS, follow=False).status)
        other_name = name.removeprefix("__Host-") if self.server.tls else "__Host-" + name
        other = Visitor(self.server)
        other.cookies = {other_name: value}
        self.assertEqual(303, other.get(TOKENS, follow=False).status)

    def test_sign_in_redirects_only_within_this_site(self):
        visitor = Visitor(self.server)
        for target in ("https://evil.example/", "//evil.example/", "/\\evil.example", "\\\\evil.example", "javascript:alert(1)",
                       "/%0d%0aX: y", "http:evil.example", "/\t/evil.example", "evil"):
            with self.subTest(target=target):
                page = Visitor(self.server).get("/en/user/sign_in/?" + urllib.parse.urlencode({"return_to": target}))
                self.assertEqual([], page.form_with("login").named("return_to"))
                result = visitor.post("/en/user/sign_in/", [
                    ("login", self.server.demo["login"]), ("password", self.server.demo["password"]),
                    ("return_to", target)])
                self.assertEqual((200, self.server.ready["auth"] + "/en/user/"), (result.status, result.url))

    def test_another_site_can_neither_sign_in_nor_out(self):
        pairs = [("login", self.server.demo["login"]), ("password", self.server.demo["password"])]
        for fields in ({"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"},
                       {"Sec-Fetch-Site": None, "Origin": "https://evil.example"}, {"Sec-Fetch-Site": None, "Origin": "null"}):
            with self.subTest(fields=fields):
                visitor = Visitor(self.server)
                page = visitor.post("/en/user/sign_in/", pairs, fields=fields)
                self.assertEqual((403, {}), (page.status, visitor.cookies))
        visitor = signed_in(self.server)
        form = visitor.get(TOKENS).form_with("form_token")
        out = "/en/user/sign_out/"
        for pairs, fields in (([], {}), ([("form_token", "x")], {}),
                              ([("form_token", form.value("form_token"))], {"Sec-Fetch-Site": "cross-site"})):
            self.assertEqual(403, visitor.post(out, pairs, fields=fields).status)
        self.assertEqual(200, visitor.get(TOKENS, follow=False).status)

    def test_signing_out_ends_the_session_everywhere(self):
        visitor = signed_in(self.server)
        cookies = dict(visitor.cookies)
        page = visitor.get(TOKENS)
        form = next(each for each in page.forms if each.url.endswith("/en/user/sign_out/"))
        result = visitor.submit(form, follow=False)
        self.assertEqual(303, result.status)
        self.assertEqual([True], [name.endswith("_browser") for name in visitor.cookies], "the cookie of the known browser is kept")
        self.assertEqual(303, visitor.get(TOKENS, follow=False).status)
        visitor.cookies = cookies
        self.assertEqual(303, visitor.get(TOKENS, follow=False).status, "the old cookie is invalid")
        self.assertEqual(200, visitor.follow(result).status)

    def test_the_log_has_no_secret(self):
        visitor = signed_in(self.server)
        visitor.get("/en/user/sign_in/?return_to=%2Fmarked-query", follow=False)
        self.server.request("GET", "/v1/testservice/get", {"User-Agent": "marker-of-the-log"})
        log = self.server.log_after("marker-of-the-log")
        self.assertIn("POST /{language}/user/sign_in/", log)
        for secret in (*visitor.cookies.values(), self.server.demo["password"], "marked-query"):
            self.assertNotIn(secret, log)


class Cookies(Case):
    def test_two_servers_on_one_host_do_not_sign_each_other_out(self):
        """Cookies ignore ports, so a browser sends those of both servers to each of them."""
        with Server("--demo", cookie_name=None) as first, Server("--demo", cookie_name=None) as second:
            visitors = [signed_in(first), signed_in(second)]
            self.assertEqual(4, len({name for each in visitors for name in each.cookies}))
            for each in visitors:
                each.cookies = {**visitors[0].cookies, **visitors[1].cookies}
                self.assertEqual(200, each.get(TOKENS, follow=False).status)

    def test_the_names_of_cookies_are_a_flag(self):
        for tls, name in ((False, "shop_session"), (True, "__Host-shop_session")):
            with Server("--demo", cookie_name="shop", tls=tls) as server:
                self.assertIn(name, signed_in(server).cookies)
        for bad in ("__Host-shop", "a b", "a=b", "", "x" * 65):
            result = run_command("serve", "--demo", "--plain", "--listen", "127.0.0.1:0", "--store", "memory:", "--cookie-name", bad)
            self.assertEqual((2, True), (result.returncode, "--cookie-name" in result.stderr), result.stderr)

    def test_behind_a_proxy_that_ends_tls_cookies_are_secure(self):
        with Server("--demo", "--base-url", "https://api.example/v1", "--auth-url", "https://auth.example") as server:
            visitor = Visitor(server)
            page = visitor.sign_in(server.demo["login"], server.demo["password"], follow=False)
            for line in page.response.all("Set-Cookie"):
                self.assertTrue(line.startswith("__Host-"), line)
                self.assertIn("; Secure", line)
            self.assertEqual(200, visitor.get(TOKENS, follow=False).status)
            self.assertEqual(403, visitor.post("/en/user/sign_in/", [], fields={
                "Sec-Fetch-Site": None, "Origin": f"http://127.0.0.1:{server.address[1]}"}).status, "only the public origin is accepted")

    def test_sessions_outlive_the_server_on_sqlite(self):
        with Server("--demo") as server:
            visitor = signed_in(server)
            cookies = dict(visitor.cookies)
            with Server("--demo", data=server.data) as second:
                other = Visitor(second)
                other.cookies = cookies
                self.assertEqual(200, other.get(TOKENS, follow=False).status)


class Throttle(Case):
    def fail_to_sign_in(self, server, login, times, **fields):
        return [Visitor(server, **fields).post("/en/user/sign_in/", [("login", login), ("password", "wrong")]).status
                for _ in range(times)]

    def test_ten_failures_block_that_login_at_that_address_only(self):
        with Server("--demo", "--trusted-proxy", "127.0.0.1", "--log", "off") as server:
            server.add_user("other")
            here, elsewhere = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "198.51.100.1"}
            self.assertEqual([422] * 10, self.fail_to_sign_in(server, "demo", 10, **here))
            page = Visitor(server, **here).sign_in(server.demo["login"], server.demo["password"])
            self.assertEqual(429, page.status)
            self.assertTrue(0 < int(page.response.get("Retry-After")) <= 900, page)
            self.assertEqual(429, Visitor(server, **here).sign_in("DEMO", server.demo["password"]).status)
            signed_in(server, **elsewhere)
            signed_in(server, "other", "a password", **here)

    def test_a_browser_that_has_signed_in_before_is_not_locked_out_by_others(self):
        with Server("--demo", "--log", "off") as server:
            visitor = signed_in(server)
            form = next(each for each in visitor.get(TOKENS).forms if each.url.endswith("/en/user/sign_out/"))
            visitor.submit(form)
            self.assertEqual([422] * 10 + [429], self.fail_to_sign_in(server, "demo", 11))
            self.assertEqual(429, Visitor(server).sign_in("demo", server.demo["password"]).status)
            self.assertEqual(200, visitor.sign_in("demo", server.demo["password"]).status)

    def test_a_known_browser_is_known_to_other_nodes_and_after_a_restart(self):
        with Server("--demo", "--log", "off") as server:
            visitor = signed_in(server)
            with Server("--demo", "--log", "off", data=server.data) as other:
                self.assertEqual([422] * 10 + [429], self.fail_to_sign_in(other, "demo", 11))
                known_browser = Visitor(other)
                known_browser.cookies = {name: value for name, value in visitor.cookies.items() if name.endswith("_browser")}
                self.assertEqual(429, Visitor(other).sign_in("demo", server.demo["password"]).status)
                self.assertEqual(200, known_browser.sign_in("demo", server.demo["password"]).status)

    def test_passwords_that_are_too_long_lock_no_one_out(self):
        with Server("--demo", "--log", "off") as server:
            for password in ("x" * 1025, "x" * 30000):
                for _ in range(12):
                    page = Visitor(server).post("/en/user/sign_in/", [("login", "demo"), ("password", password)])
                    self.assertEqual(422, page.status)
            signed_in(server)

    def test_wrong_passwords_of_others_do_not_block_a_correct_one(self):
        with Server("--demo", "--trusted-proxy", "127.0.0.1", "--log", "off", store="memory:", quick_hashes=False) as server, \
                concurrent.futures.ThreadPoolExecutor(8) as pool:
            done = threading.Event()

            def guess(number):
                """Guesses until the others have signed in, at most ten times."""
                statuses = set()
                for _ in range(10):
                    statuses |= set(self.fail_to_sign_in(server, f"nobody{number}", 1, **{"X-Forwarded-For": f"198.51.100.{number}"}))
                    if done.is_set():
                        break
                return statuses

            guesses = [pool.submit(guess, i) for i in range(8)]
            for i in range(5):
                page = Visitor(server, **{"X-Forwarded-For": "192.0.2.1"}).sign_in("demo", server.demo["password"])
                self.assertEqual(200, page.status)
            done.set()
            for each in guesses:
                self.assertEqual({422, 503} | each.result(), {422, 503})

    def test_at_most_ten_concurrent_guesses(self):
        with Server("--demo", quick_hashes=False) as server, concurrent.futures.ThreadPoolExecutor(8) as pool:
            statuses = [status for each in [pool.submit(self.fail_to_sign_in, server, "demo", 5) for _ in range(8)]
                        for status in each.result()]
            checked = statuses.count(422)
            self.assertLessEqual(checked, 10)
            self.assertEqual({422, 429, 503} | set(statuses), {422, 429, 503})
            self.assertGreater(statuses.count(429) + statuses.count(503), 0)

    def test_an_unknown_login_takes_as_long_as_a_known_one(self):
        with Server("--demo", "--trusted-proxy", "127.0.0.1", quick_hashes=False) as server:
            def ticks():
                """The CPU time of the server: unlike elapsed time, it is the same on a busy machine."""
                with open(f"/proc/{server.process.pid}/stat", encoding="ascii") as file:
                    return sum(map(int, file.read().rpartition(")")[2].split()[11:13]))

            def ticks_of(login):
                before = ticks()
                for i in range(3):
                    self.fail_to_sign_in(server, login, 1, **{"X-Forwarded-For": f"192.0.2.{i + 1}"})
                return ticks() - before

            known, unknown = ticks_of("demo"), ticks_of("nobody")
            self.assertGreater(known, 3, "enough ticks for a comparison")
            self.assertGreater(unknown, known / 3)
            self.assertGreater(known, unknown / 3)

    def test_the_api_responds_while_passwords_are_checked(self):
        with Server("--demo", "--anonymous-limit", "1000000/day", store="memory:", quick_hashes=False) as server, \
                concurrent.futures.ThreadPoolExecutor(8) as pool:
            guesses = [pool.submit(self.fail_to_sign_in, server, f"nobody{i}", 1) for i in range(8)]
            responses = 0
            with server.connect() as connection:
                while not all(each.done() for each in guesses):
                    self.assertEqual(200, connection.request("GET", "/v1/testservice/get").status)
                    responses += 1
                    time.sleep(0.002)
            checked = [status for each in guesses for status in each.result()]
            self.assertEqual({422, 503}, {422, 503, *checked})
            # If they waited for the passwords that others asked to check before, there would be one for several of those.
            self.assertGreater(responses, len(checked))


class SecurityCase(Case):
    quick_hashes = True

    def setUp(self):
        self.server = Server("--demo", "--trusted-proxy", "127.0.0.1", "--log", "off", quick_hashes=self.quick_hashes)
        self.addCleanup(self.server.stop)
        self.server.add_user("ann")

    def visitor(self, address, agent="visitor"):
        return signed_in(self.server, "ann", "a password", **{"X-Forwarded-For": address, "User-Agent": agent})

    def is_signed_in(self, visitor):
        return visitor.get(TOKENS, follow=False).status == 200

    def change(self, visitor, current, new, repeated=None):
        form = visitor.get(SECURITY).form_with("current_password")
        return visitor.submit(form, {"current_password": current, "new_password": new,
                                     "repeated_password": new if repeated is None else repeated})


class Security(SecurityCase):
    FIREFOX = "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:128.0) Gecko/20100101 Firefox/128.0"

    def test_signing_out_elsewhere(self):
        here, phone, third = self.visitor("192.0.2.1", self.FIREFOX), self.visitor("198.51.100.7"), self.visitor("203.0.113.9")
        page = here.get(SECURITY)
        for text in ("Firefox on Windows This session", "198.51.100.0/24", "203.0.113.0/24"):
            self.assertIn(text, page.text)
        forms = [each for each in page.forms if each.named("session")]
        self.assertEqual(2, len(forms))
        self.assertIn("was signed out", here.submit(forms[0]).text)
        self.assertEqual([False, True], sorted([self.is_signed_in(phone), self.is_signed_in(third)]))
        self.assertIn("was signed out", here.submit(forms[0]).text, "sent again")
        fourth = self.visitor("192.0.2.4")
        page = here.get(SECURITY)
        self.assertIn("All other sessions", here.submit(page.form_with(action="end_others")).text)
        self.assertEqual([True, False, False, False], [self.is_signed_in(each) for each in (here, phone, third, fourth)])
        activity = here.get("/en/user/settings/activity/").text
        self.assertIn("Signed out another session", activity)
        self.assertIn("Signed out everywhere else", activity)

    def test_changing_the_password(self):
        here, phone = self.visitor("192.0.2.1"), self.visitor("198.51.100.7")
        for current, new, repeated in (("a guess", "another one", None), ("a password", "short", None),
                                       ("a password", "another one", "another two"), ("", "another one", None)):
            page = self.change(here, current, new, repeated)
            self.assertEqual(422, page.status)
            self.assertTrue(page.title.startswith("Error"))
            for each in (current, new, repeated):
                self.assertFalse(each and each in page.body.replace("a password to", ""), each)
        self.assertTrue(self.is_signed_in(phone))
        attacker = Visitor(self.server, **here.fields)
        attacker.cookies = dict(here.cookies)
        self.assertTrue(self.is_signed_in(attacker))
        page = self.change(here, "a password", "another one")
        self.assertIn("Your password was changed", page.text)
        self.assertEqual((True, False, False), (self.is_signed_in(here), self.is_signed_in(phone), self.is_signed_in(attacker)))
        self.assertEqual(422, Visitor(self.server).sign_in("ann", "a password").status)
        signed_in(self.server, "ann", "another one")
        listed = self.server.run("audit", "list", "--user", 2)["activities"]
        self.assertIn(("password_set", "192.0.2.1"), [(each["what"], each["client"]) for each in listed])

    def test_a_change_that_is_sent_again_leads_to_the_same_session(self):
        here = self.visitor("192.0.2.1")
        form = here.get(SECURITY).form_with("current_password")
        values = {"current_password": "a password", "new_password": "another one", "repeated_password": "another one"}
        before = dict(here.cookies)

        def change(_):
            tab = Visitor(self.server, **here.fields)  # all with the cookie of the form, as when a button is clicked twice
            tab.cookies = dict(before)
            return tab, tab.submit(form, values)

        for tab, page in [*concurrently(change, range(2)), change(0)]:
            self.assertIn("Your password was changed", page.text)
            self.assertTrue(self.is_signed_in(tab))
            self.assertIn("Your password was changed", tab.submit(form, values).text, "with the new cookie")
        self.assertFalse(self.is_signed_in(here), "the session of the form has ended")
        signed_in(self.server, "ann", "another one")
        listed = self.server.run("audit", "list", "--user", 2)["activities"]
        self.assertEqual(1, [each["what"] for each in listed].count("password_set"), listed)

    def test_a_form_of_another_user_names_who_is_signed_in(self):
        self.server.add_user("bob")
        form = self.visitor("192.0.2.1").get(TOKENS).form_with("description", "scopes")
        page = signed_in(self.server, "bob", "a password").submit(form, {"description": "Secret plans", "scopes": ["user:balance"]})
        self.assertEqual(403, page.status)
        self.assertIn("You are signed in as bob now.", page.text)
        self.assertNotIn("Secret plans", page.body)

    def test_guesses_at_the_current_password_are_throttled(self):
        here = self.visitor("192.0.2.1")
        self.assertEqual([422] * 10, [self.change(here, f"guess {i}", "another one").status for i in range(10)])
        page = self.change(here, "a password", "another one")
        self.assertEqual(429, page.status)
        self.assertTrue(0 < int(page.response.get("Retry-After")) <= 900)


class Passwords(SecurityCase):
    COMPOSED, DECOMPOSED = "\u00fcbung \u00e4\u00f6\u00fc", "u\u0308bung a\u0308o\u0308u\u0308"

    def test_both_forms_of_a_letter_are_one_password(self):
        for login, password, other in (("composed", self.COMPOSED, self.DECOMPOSED), ("decomposed", self.DECOMPOSED, self.COMPOSED)):
            self.server.add_user(login, password=password)
            for each in (password, other):
                signed_in(self.server, login, each)
        visitor = self.visitor("192.0.2.1")
        self.assertEqual(200, self.change(visitor, "a password", self.DECOMPOSED, self.DECOMPOSED).status)
        signed_in(self.server, "ann", self.COMPOSED)

    def test_common_passwords_are_refused_when_they_are_set(self):
        for words in (("user", "add", "--login", "bob@shop.example", "--password-stdin"), ("user", "password", "--id", "2", "--password-stdin")):
            for password in ("12345678", "Password123", "bob@shop.example" if words[1] == "add" else "iloveyou"):
                result = run_command(*words, *self.server.store_flags, stdin=password + "\n")
                self.assertEqual((2, True), (result.returncode, "common" in result.stderr), result)
        page = self.change(self.visitor("192.0.2.1"), "a password", "12345678")
        self.assertEqual(422, page.status)
        self.assertIn("easy to guess", page.text)

    def test_a_login_is_added_without_blanks(self):
        self.server.add_user(" bob ")
        signed_in(self.server, "bob", "a password")


class OlderPasswords(SecurityCase):
    quick_hashes = False

    def test_a_hash_of_a_password_that_was_not_normalized_stays_valid(self):
        def hash_of(password):
            salt = bytes(range(16))
            key = hashlib.scrypt(password.encode(), salt=salt, n=2**15, r=8, p=3, maxmem=2**26, dklen=32)
            texts = [base64.b64encode(each).decode().rstrip("=") for each in (salt, key)]
            return "$scrypt$ln=15,r=8,p=3$" + "$".join(texts)

        with contextlib.closing(sqlite3.connect(self.server.data / "tollgate.db", timeout=30)) as database:
            def stored():
                return database.execute("SELECT password_hash FROM directory_users WHERE login = 'ann'").fetchone()[0]

            for password in (Passwords.DECOMPOSED, "12345678"):  # a common one, too
                with database:
                    database.execute("UPDATE directory_users SET password_hash = ? WHERE login = 'ann'", [hash_of(password)])
                signed_in(self.server, "ann", password)
                replaced = stored() != hash_of(password)
                self.assertEqual(password == Passwords.DECOMPOSED, replaced, "the hash of the form NFC replaces it")
            with database:
                database.execute("UPDATE directory_users SET password_hash = ? WHERE login = 'ann'", [hash_of(Passwords.DECOMPOSED)])
            signed_in(self.server, "ann", Passwords.DECOMPOSED)
            signed_in(self.server, "ann", Passwords.COMPOSED)


class PasswordChange(SecurityCase):
    quick_hashes = False

    def visitors_during(self, change):
        """All who sign in with the old password, from before a change until after it."""
        visitors = []

        def sign_in(address):
            for _ in range(100):
                visitors.append(Visitor(self.server, **{"X-Forwarded-For": address}))
                if visitors[-1].sign_in("ann", "a password").status == 422:
                    return True
            return False

        with concurrent.futures.ThreadPoolExecutor(3) as many:
            attempts = [many.submit(sign_in, f"198.51.100.{i}") for i in range(3)]
            self.eventually(lambda: len(visitors) > 6)
            change()
            self.assertEqual([True] * 3, [each.result() for each in attempts], "the old password is wrong")
        return visitors

    def test_no_sign_in_with_the_old_password_outlives_a_change(self):
        here = self.visitor("192.0.2.1")
        for name, change in (("of the user", lambda: self.change(here, "a password", "another one")),
                             ("of an operator", lambda: self.server.run("user", "password", "--id", 2, "--password-stdin",
                                                                        stdin="a third one"))):
            with self.subTest(name):
                self.server.run("user", "password", "--id", 2, "--password-stdin", stdin="a password")
                here = self.visitor("192.0.2.1")
                self.assertEqual([], [each.cookies for each in self.visitors_during(change) if self.is_signed_in(each)])


if __name__ == "__main__":
    main()
