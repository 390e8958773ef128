#!/usr/bin/env python3
"""contract.md, items 18 to 26: balances, accounts and hooks."""

import calendar
import json
import re
import time

from harness import HIGH_LIMITS, Case, Server, main, over_every_transport

EVENTS = {"sitesmaker": ["site.created", "site.published", "site.deleted"],
          "itemplatform": ["item.created", "item.updated", "item.deleted"]}
INVALID_IDS = ["0", "-1", "01", "+1", "1.0", "9223372036854775808", "1e0", "0x1", "%31", "1%20", "%D9%A3", "a", "00",
               "-0", "1,0"]


@over_every_transport
class Hooks:
    """Items 20 to 25, with the accounts of the demo user."""

    def path(self, service="sitesmaker"):
        return f"/v1/{service}/{self.server.demo[service + '_account']}/hooks"

    def post(self, body, fields=(), service="sitesmaker", **more):
        return self.server.request("POST", self.path(service), fields, body, token=self.server.demo_token, **more)

    def hooks(self, service="sitesmaker"):
        return self.assert_json(self.server.request("GET", self.path(service), token=self.server.demo_token))

    def delete(self, number, service="sitesmaker", fields=(), body=None):
        return self.server.request("DELETE", f"/v1/{service}/hooks/{number}", fields, body, token=self.server.demo_token)

    def tearDown(self):
        for service in EVENTS:
            for hook in self.hooks(service):
                self.assertEqual(204, self.delete(hook["id"], service).status)

    def test_20_created_listed_and_deleted(self):
        for service, events in EVENTS.items():
            for event in events:
                for url in ("https://example.com/a?b=c&d=%20;%C3%A9", "http://EXAMPLE.com:8080/A/../b",
                            "https://example.com",
                            "https://example.com/" + "x" * 2028, "http://93.184.216.34/"):
                    with self.subTest(event=event, url=url[:40]):
                        before = int(time.time())
                        created = self.post({"event": event, "target_url": url}, service=service)
                        number = self.assert_json(created, 201)["id"]
                        self.assertEqual({"id": number}, created.json())
                        self.assertIs(int, type(number))
                        self.assertRegex(created.get("X-Hook-Secret"), r"^whsec_[A-Za-z0-9+/]{43}=$")
                        (listed,) = self.hooks(service)
                        self.assertEqual(["id", "event", "source", "type", "url", "date_created"], list(listed))
                        self.assertEqual((number, event, "api", "webhook", url),
                                         tuple(listed[name] for name in ("id", "event", "source", "type", "url")))
                        self.assertRegex(listed["date_created"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
                        date = calendar.timegm(time.strptime(listed["date_created"], "%Y-%m-%dT%H:%M:%SZ"))
                        # A node follows the clock of its database within 2 s.
                        self.assertTrue(before - 2 <= date <= time.time() + 2, listed)
                        deleted = self.delete(number, service)
                        self.assertEqual((204, b""), (deleted.status, deleted.body))
                        self.assert_limit_fields(deleted)
                        self.assertIsNone(deleted.get("Content-Type"))
                        self.assert_error(self.delete(number, service), 404)

    def test_20_the_same_hook_twice_is_two_hooks_and_the_21st_is_too_many(self):
        hook = {"event": "site.created", "target_url": "https://example.com/"}
        numbers = [self.assert_json(self.post(hook), 201)["id"] for _ in range(20)]
        self.assertEqual(20, len(set(numbers)))
        self.assertEqual(numbers, [each["id"] for each in self.hooks()], "oldest first")
        self.assert_error(self.post(hook), 422, "20")
        self.assert_json(self.post({**hook, "event": "site.deleted"}), 201)
        self.delete(numbers[0])
        again = self.assert_json(self.post(hook), 201)["id"]
        self.assertNotIn(again, numbers, "an id is never reused")

    def test_21_members(self):
        good = {"event": "site.created", "target_url": "https://example.com/"}
        for name in good:
            for bad in (None, 1, True, [], {}, ["https://example.com/"]):
                self.assert_error(self.post({**good, name: bad}), 422, name)
            self.assert_error(self.post({key: value for key, value in good.items() if key != name}), 422, name)
            self.assert_error(self.post({**good, name: ""}), 422, name)
        for event in ("item.created", "site.Created", "site.created ", "site.created\n", "nope", "*", "x" * 10_000,
                      "site.créated"):
            self.assert_error(self.post({**good, "event": event}), 422, "event")
        self.assert_json(self.post({**good, "active": True, "secret": "x", "id": 7}), 201)
        self.assert_json(self.post(json.dumps(good).replace("e", "\\u0065").encode(),
                                   {"Content-Type": "application/json"}), 201)

    def test_22_json(self):
        json_type = {"Content-Type": "application/json"}
        text = b'{"event": "site.created", "target_url": "https://example.com/"}'
        self.assert_error(self.post(b"", json_type), 400, "missing")
        for bad in (b" ", b"{", text[:-1], text + b"x", text + text, b"[" + text + b"]", b"null", b'"x"', b"1",
                    b"[]",
                    text + b"\x00", b"\xef\xbb\xbf" + text, text.replace(b"site", b"\xff\xfe"),
                    text.replace(b"site", b"\\ud800"),
                    text.replace(b"site", b"\xed\xa0\x80"), text[:-1] + b', "event": "site.created"}',
                    text[:-1] + b', "a": 1, "a": 1}',
                    text[:-1] + b', "a": {"b": 1, "b": 2}}', text[:-1] + b",}", text.replace(b'"event"', b"event"),
                    text.replace(b'"', b"'"), text[:-1] + b', "a": NaN}', text[:-1] + b', "a": 01}',
                    text[:-1] + b', "a": "\n"}',
                    text[:-1] + b', "a": ' + b"[" * 1000 + b"]" * 1000 + b"}", b"[" * 30_000, b'{"a":' * 10_000,
                    text[:-1] + b" /* */}"):
            with self.subTest(bad=bad[:100]):
                self.assert_error(self.post(bad, json_type), 400)
        self.assert_json(self.post(b" \t\r\n" + text + b"\n", json_type), 201)
        self.assertEqual(1, len(self.hooks()))

    def test_23_media_types(self):
        text = b'{"event": "site.created", "target_url": "https://example.com/"}'
        for bad in (None, "", "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "application/xml",
                    "json",
                    "application/json, text/plain", "application/json; charset=iso-8859-1", "multipart/form-data"):
            with self.subTest(bad=bad):
                self.assert_error(self.post(text, {"Content-Type": bad}), 415)
        for good in ("application/json", "application/json; charset=utf-8", "application/json;charset=UTF-8",
                     "APPLICATION/JSON",
                     'application/json; charset="utf-8"'):
            with self.subTest(good=good):
                self.assert_json(self.post(text, {"Content-Type": good}), 201)

    def test_23_too_large_bodies_are_refused_promptly(self):
        json_type = ("Content-Type", "application/json")
        token = ("Authorization", self.server.demo_token)
        with self.server.connect() as connection:
            connection.send(f"POST {self.path()} HTTP/1.1\r\nHost: localhost\r\nUser-Agent: e2e\r\n"
                            f"Content-Type: application/json\r\nAuthorization: {token[1]}\r\n"
                            "Content-Length: 65537\r\n\r\n".encode())
            self.assert_error(connection.read(), 413)  # after a time-out it would be 408
            self.assertTrue(connection.ended())
        padding = 65536 - len('{"event": "site.created", "target_url": "https://example.com/", "x": ""}')
        body = json.dumps({"event": "site.created", "target_url": "https://example.com/", "x": "x" * padding}).encode()
        self.assertEqual(65536, len(body))
        self.assert_json(self.post(body, [json_type]), 201)
        self.assert_error(self.post(body + b" ", [json_type]), 413)

    def test_24_refused_targets(self):
        for url in ("", "example.com", "//example.com/", "/hook", "ftp://example.com/", "javascript:alert(1)",
                    "file:///etc/passwd",
                    "https://", "https:///x", "https:example.com", "https://user@example.com/",
                    "https://user:pass@example.com/",
                    "https://@example.com/", "https://example.com/#x", "https://example.com/#",
                    "https://example.com/\n",
                    "https://example.com/\x00", "https://example.com/\x7f", " https://example.com/",
                    "https://example.com/ ",
                    "https://exa mple.com/", "https://example.com:0x50/", "https://example.com:65536/",
                    "https://example.com:-1/",
                    "https://example.com\\@127.0.0.1/", "http://127.0.0.1/", "http://127.1/", "http://127.0.1/",
                    "http://0x7f000001/",
                    "http://2130706433/", "http://017700000001/", "http://0177.0.0.1/", "http://127.0.0.1./",
                    "http://0/",
                    "http://0.0.0.0/", "http://%31%32%37.0.0.1/", "http://[::1]/", "http://[::]/",
                    "http://[::ffff:7f00:1]/",
                    "http://[::ffff:127.0.0.1]/", "http://[0:0:0:0:0:ffff:7f00:0001]/", "http://10.0.0.1/",
                    "http://172.16.0.1/",
                    "http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/",
                    "http://[fe80::1]/",
                    "http://[fc00::1]/", "http://[fd00:ec2::254]/", "http://224.0.0.1/", "http://239.255.255.250/",
                    "http://[ff02::1]/",
                    "http://255.255.255.255/", "http://100.64.0.1/", "http://100.127.255.254/",
                    "http://[64:ff9b::7f00:1]/",
                    "http://[2002:7f00:1::]/", "http://[2002:a00:1::1]/", "http://192.0.0.1/", "http://198.18.0.1/",
                    "http://240.0.0.1/",
                    "http://[::127.0.0.1]/", "http://１２７.0.0.1/", "https://[::1", "https://example.com/" + "x" * 2029):
            with self.subTest(url=url):
                self.assert_error(self.post({"event": "site.created", "target_url": url}), 422, "target_url")
        self.assertEqual([], self.hooks())

    def test_25_deleting(self):
        def create(service):
            return self.assert_json(self.post({"event": EVENTS[service][0], "target_url": "https://example.com/"},
                                              service=service), 201)["id"]

        for fields, body in (({"Content-Type": "application/json"}, None), ({"Content-Type": "text/plain"}, None),
                             ({"Content-Type": "application/json"}, b"{}"), ({"Content-Type": None}, b"{}"), ({}, b"")):
            deleted = self.delete(create("sitesmaker"), fields=fields, body=body)
            self.assertEqual((204, b""), (deleted.status, deleted.body), (fields, body))
        site, shop = create("sitesmaker"), create("itemplatform")
        if site != shop:
            self.assert_error(self.delete(site, "itemplatform"), 404)
        self.assertEqual([site], [hook["id"] for hook in self.hooks()])
        for number in INVALID_IDS + ["999999", "9223372036854775807"]:
            self.assert_error(self.delete(number), 404)
        self.assertEqual([shop], [hook["id"] for hook in self.hooks("itemplatform")])


class PrivateTargets(Case):
    """Item 24, with private targets allowed."""

    def test_private_targets_can_be_allowed(self):
        with Server("--demo", "--allow-private-targets", store="memory:") as server:
            path = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
            for url in ("http://127.0.0.1:8080/", "http://[::1]/", "http://10.0.0.1/", "http://localhost/"):
                created = server.request("POST", path, body={"event": "site.created", "target_url": url},
                                         token=server.demo_token)
                self.assert_json(created, 201)
            for url in ("ftp://127.0.0.1/", "http://user@127.0.0.1/"):
                created = server.request("POST", path, body={"event": "site.created", "target_url": url},
                                         token=server.demo_token)
                self.assert_error(created, 422, "target_url")


class TwoUsers(Case):
    """Items 18, 19 and 25: resources of another user."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server(*HIGH_LIMITS)
        cls.addClassCleanup(cls.server.stop)
        cls.ann, cls.bob = cls.server.add_user("ann"), cls.server.add_user("bob")
        cls.ann_token, _ = cls.server.add_token(cls.ann)
        cls.bob_token, _ = cls.server.add_token(cls.bob)
        cls.ann_sites = [cls.server.add_account(cls.ann, "sitesmaker", name) for name in ("One", "Zwei ✓ \"quoted\"")]
        cls.bob_site = cls.server.add_account(cls.bob, "sitesmaker", "Bob's", admin=True)
        cls.bob_shops = [cls.server.add_account(cls.bob, "itemplatform", f"Shop {n}") for n in range(3)]

    def test_18_lists_are_json_arrays(self):
        self.assertEqual([],
                         self.assert_json(self.server.request("GET", "/v1/itemplatform/accounts", token=self.ann_token)))
        listed = self.assert_json(self.server.request("GET", "/v1/sitesmaker/accounts", token=self.ann_token))
        self.assertEqual([{"id": self.ann_sites[0], "name": "One", "admin": False},
                          {"id": self.ann_sites[1], "name": "Zwei ✓ \"quoted\"", "admin": False}], listed)
        listed = self.assert_json(self.server.request("GET", "/v1/sitesmaker/accounts", token=self.bob_token))
        self.assertEqual([{"id": self.bob_site, "name": "Bob's", "admin": True}], listed)
        self.assertEqual([],
                         self.assert_json(self.server.request("GET", f"/v1/sitesmaker/{self.bob_site}/hooks",
                                                              token=self.bob_token)))

    def test_no_two_accounts_have_the_same_id(self):
        ids = [*self.ann_sites, self.bob_site, *self.bob_shops]
        self.assertEqual(len(ids), len(set(ids)))
        for path in [f"/v1/sitesmaker/{shop}/hooks" for shop in self.bob_shops] + [
                f"/v1/itemplatform/{self.bob_site}/hooks"]:
            with self.subTest(path=path):
                self.assert_error(self.server.request("GET", path, token=self.bob_token), 404)

    def test_19_the_same_404_for_all_accounts_of_others(self):
        unknown = self.server.request("GET", "/v1/sitesmaker/999/hooks", token=self.ann_token)
        self.assert_error(unknown, 404)
        others = [f"/v1/sitesmaker/{self.bob_site}/hooks", f"/v1/itemplatform/{self.ann_sites[0]}/hooks"]
        others += [f"/v1/sitesmaker/{number}/hooks" for number in INVALID_IDS]
        for path in others:
            with self.subTest(path=path):
                hook = {"event": "site.created", "target_url": "https://example.com/"}
                for method, body in (("GET", None), ("POST", hook)):
                    response = self.server.request(method, path, body=body, token=self.ann_token)
                    self.assert_error(response, 404)
                    self.assertEqual(unknown.body, response.body)

    def test_25_another_users_hook_is_kept(self):
        body = {"event": "site.created", "target_url": "https://example.com/"}
        created = self.server.request("POST", f"/v1/sitesmaker/{self.bob_site}/hooks", body=body, token=self.bob_token)
        number = self.assert_json(created, 201)["id"]
        unknown = self.server.request("DELETE", "/v1/sitesmaker/hooks/999", token=self.ann_token)
        foreign = self.server.request("DELETE", f"/v1/sitesmaker/hooks/{number}", token=self.ann_token)
        wrong_service = self.server.request("DELETE", f"/v1/itemplatform/hooks/{number}", token=self.bob_token)
        for response in (unknown, foreign, wrong_service):
            self.assert_error(response, 404)
            self.assertEqual(unknown.body, response.body)
        listed = self.assert_json(self.server.request("GET", f"/v1/sitesmaker/{self.bob_site}/hooks", token=self.bob_token))
        self.assertEqual([number], [hook["id"] for hook in listed])

    def test_accounts_added_while_the_server_runs_exist_at_once(self):
        carl = self.server.add_user("carl")
        token, _ = self.server.add_token(carl, "itemplatform:read")
        self.assertEqual([], self.assert_json(self.server.request("GET", "/v1/itemplatform/accounts", token=token)))
        added = self.server.add_account(carl, "itemplatform")
        (listed,) = self.assert_json(self.server.request("GET", "/v1/itemplatform/accounts", token=token))
        self.assertEqual(added, listed["id"])


class Money(Case):
    """Item 26."""

    def test_balances_keep_their_digits(self):
        with Server(*HIGH_LIMITS) as server:
            balances = ("10000000000000000.01", "0.10", "-3.5", "0", "-0.00", "1234.56", "99999999999999999999.99999999")
            for number, balance in enumerate(balances):
                user = server.add_user(f"user{number}", balance, "JPY")
                token, _ = server.add_token(user)
                response = server.balance(token)
                body = self.assert_json(response)
                self.assertEqual(["id", "balance", "currency"], list(body))
                self.assertEqual((user, "JPY"), (body["id"], body["currency"]))
                self.assertTrue(re.search(rb'"balance": ?' + re.escape(balance.encode()) + rb"[,}]", response.body),
                                response.body)


if __name__ == "__main__":
    main()
