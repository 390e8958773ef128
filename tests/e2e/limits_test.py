#!/usr/bin/env python3
"""contract.md, items 1 to 6: the User-Agent field and the rate limits."""

import datetime
import time

from harness import Case, Server, basic, encode, is_sanitized, main


def seconds_from_now(reset):
    at = datetime.datetime.strptime(reset, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc)
    return at.timestamp() - time.time()


class UserAgents(Case):
    """Item 1."""

    def test_missing_empty_and_blank_agents_are_refused_on_every_path(self):
        with Server("--demo", "--anonymous-limit", "1000/hour", store="memory:") as server:
            left = 1000
            for path in ("/v1/user/balance", "/v1/testservice/get", "/v1/nowhere", "/", "/v2/x", "/docs/"):
                for agent in (None, "", " ", " \t "):
                    for token in (None, server.demo_token):
                        with self.subTest(path=path, agent=agent, token=token is not None):
                            response = server.request("GET", path, {"User-Agent": agent}, token=token)
                            self.assert_error(response, 403, "User-Agent")
                            left -= 1
                            self.assertEqual(str(left), response.get("X-RateLimit-Remaining"),
                                             "counted against the address")
            self.assert_json(server.request("GET", "/v1/testservice/get", {"User-Agent": "x"}))

    def test_without_quota_the_status_is_429(self):
        with Server("--anonymous-limit", "2/hour", store="memory:") as server:
            for status in (403, 403, 429, 429):
                self.assert_error(server.request("GET", "/v1/testservice/get", {"User-Agent": None}), status)


class AnonymousWindow(Case):
    """Item 2."""

    def test_sixty_requests_and_no_more(self):
        with Server(store="memory:") as server, server.connect() as connection:
            for number in range(1, 61):
                response = connection.request("GET", "/v1/testservice/get")
                self.assert_json(response)
                self.assertEqual("60", response.get("X-RateLimit-Limit"))
                self.assertEqual(str(60 - number), response.get("X-RateLimit-Remaining"))
                self.assertEqual(number == 60, response.get("X-RateLimit-Reset") is not None)
            for _ in range(3):
                refused = connection.request("GET", "/v1/testservice/get")
                self.assert_error(refused, 429, "rate limit exceeded")
                self.assertEqual("0", refused.get("X-RateLimit-Remaining"))
                wait = seconds_from_now(refused.get("X-RateLimit-Reset"))
                self.assertTrue(3500 < wait <= 3601, wait)
                self.assertTrue(3500 < int(refused.get("Retry-After")) <= 3600, refused)

    def test_after_the_reset_the_window_is_full_again(self):
        with Server("--anonymous-limit", "3/second", store="memory:") as server, server.connect() as connection:
            response = None
            for _ in range(50):  # until a window is exhausted within its second, even on a slow machine
                response = connection.request("GET", "/v1/testservice/get")
                if response.status == 429:
                    break
            self.assert_error(response, 429)
            self.assertEqual("1", response.get("Retry-After"))
            time.sleep(1.05)
            response = connection.request("GET", "/v1/testservice/get")
            self.assert_json(response)
            self.assertEqual("2", response.get("X-RateLimit-Remaining"))

    def test_every_kind_of_response_is_counted_and_a_429_is_not(self):
        with Server("--anonymous-limit", "6/hour", store="memory:") as server:
            left = []
            for method, path in (("GET", "/v1/testservice/get"), ("GET", "/nowhere"), ("GET", "/v1/user/balance"),
                                 ("DELETE", "/v1/testservice/get"), ("HEAD", "/v1/testservice/get"),
                                 ("OPTIONS", "/v1/testservice/get")):
                left.append(server.request(method, path).get("X-RateLimit-Remaining"))
            self.assertEqual(["5", "4", "3", "2", "1", "0"], left)
            self.assert_error(server.request("GET", "/nowhere"), 429)

    def test_malformed_http_gets_the_fields_and_is_not_counted(self):
        with Server("--anonymous-limit", "5/hour", store="memory:") as server:
            for _ in range(10):
                with server.connect() as connection:
                    connection.send(b"GET  / HTTP/1.1\r\n\r\n")
                    self.assert_error(connection.read(), 400)
            self.assertEqual("4", server.request("GET", "/v1/testservice/get").get("X-RateLimit-Remaining"))


class UserWindow(Case):
    """Items 3 and 4."""

    @classmethod
    def setUpClass(cls):
        cls.server = Server("--anonymous-limit", "40/hour")
        cls.addClassCleanup(cls.server.stop)

    def test_two_tokens_of_one_user_share_a_thousand_and_a_raise_counts_at_once(self):
        user = self.server.add_user("shared")
        first, _ = self.server.add_token(user)
        second, _ = self.server.add_token(user, "user:balance")
        with self.server.connect() as connection:
            for number in range(1, 1001):
                token = first if number % 2 else second
                response = connection.request("GET", "/v1/user/balance", {"Authorization": token})
                if number in (1, 2, 999, 1000):
                    self.assert_json(response)
                    self.assertEqual("1000", response.get("X-RateLimit-Limit"))
                    self.assertEqual(str(1000 - number), response.get("X-RateLimit-Remaining"))
            for token in (first, second):
                refused = connection.request("GET", "/v1/user/balance", {"Authorization": token})
                self.assert_error(refused, 429)
                self.assertTrue(86_000 < seconds_from_now(refused.get("X-RateLimit-Reset")) <= 86_401)

            self.assertEqual({"id": user, "per_day": 5000},
                             self.server.run("user", "quota", "--user", user, "--per-day", 5000))
            response = connection.request("GET", "/v1/user/balance", {"Authorization": second})
            self.assert_json(response)
            self.assertEqual(("5000", "3999"), (response.get("X-RateLimit-Limit"), response.get("X-RateLimit-Remaining")))

            self.server.run("user", "quota", "--user", user, "--per-day", 10)
            self.assert_error(connection.request("GET", "/v1/user/balance", {"Authorization": first}), 429)

    def test_an_invalid_token_counts_for_the_address_and_not_for_its_owner(self):
        user = self.server.add_user("owner")
        created = self.server.run("token", "create", "--user", user, "--description", "x", "--scopes", "user:balance")
        good = basic(created["username"], created["secret"])
        guess = basic(created["username"], created["secret"][:-1] + ("a" if created["secret"][-1] != "a" else "b"))
        before = int(self.server.balance(good).get("X-RateLimit-Remaining"))
        response = self.server.balance(guess)
        while response.status == 401:
            self.assertEqual("40", response.get("X-RateLimit-Limit"), "the window of the address")
            response = self.server.balance(guess)
        self.assert_error(response, 429)
        self.assert_error(self.server.request("GET", "/v1/testservice/get"), 429)
        after = self.server.balance(good)
        self.assert_json(after)
        self.assertEqual(str(before - 1), after.get("X-RateLimit-Remaining"))


class Proxies(Case):
    """Item 5."""

    def remaining(self, server, fields):
        return int(server.request("GET", "/v1/testservice/get", fields).get("X-RateLimit-Remaining"))

    def test_fields_of_untrusted_peers_are_ignored(self):
        for flags in ([], ["--trusted-proxy", "10.0.0.0/8", "--trusted-proxy", "2001:db8::/32"]):
            with self.subTest(flags=flags), Server(*flags, store="memory:") as server:
                for number, fields in enumerate(({"X-Forwarded-For": "203.0.113.7"}, {"Forwarded": "for=203.0.113.8"},
                                                 {"X-Forwarded-For": "203.0.113.9, 203.0.113.10"}), 1):
                    self.assertEqual(60 - number, self.remaining(server, fields))

    def test_from_a_trusted_proxy_the_right_most_untrusted_address_counts(self):
        with Server("--trusted-proxy", "127.0.0.0/8", "--trusted-proxy", "2001:db8:1::/48", store="memory:") as server:
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "203.0.113.7"}))
            self.assertEqual(58, self.remaining(server, {"X-Forwarded-For": "198.51.100.1, 203.0.113.7"}),
                             "any client can write addresses to the left")
            self.assertEqual(57, self.remaining(server, {"X-Forwarded-For": "203.0.113.7, 2001:db8:1::5, 127.0.0.9"}))
            self.assertEqual(56, self.remaining(server, {"X-Forwarded-For": "::ffff:203.0.113.7"}),
                             "the same address in another notation")
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "203.0.113.8"}))
            self.assertEqual(59, self.remaining(server, {}), "the proxy itself")

    def test_an_ipv6_client_counts_by_its_64(self):
        with Server("--trusted-proxy", "127.0.0.1", store="memory:") as server:
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "2001:db8:2:3::1"}))
            self.assertEqual(58, self.remaining(server, {"X-Forwarded-For": "2001:db8:2:3:ffff::2"}))
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "2001:db8:2:4::1"}))

    def test_an_ipv6_proxy(self):
        with Server("--trusted-proxy", "::1", store="memory:", listen="[::1]:0") as server:
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "203.0.113.7"}))
            self.assertEqual(59, self.remaining(server, {"X-Forwarded-For": "203.0.113.8"}))


class ManyAddresses(Case):
    """Item 6."""

    def test_many_addresses_use_bounded_memory_and_lock_no_one_out(self):
        def resident_kilobytes(pid):
            with open(f"/proc/{pid}/status") as status:
                return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))

        addresses, batch = 40_000, 400
        request = encode("GET", "/v1/testservice/get", {"X-Forwarded-For": "11.%d.%d.%d"})
        flags = ["--trusted-proxy", "127.0.0.1", "--log", "off", "--demo"]
        with Server(*flags, store="memory:") as server, server.connect() as connection:
            def flood(first):
                for start in range(first, first + addresses, batch):
                    connection.send(b"".join(request % (n >> 16, n >> 8 & 255, n & 255) for n in range(start, start + batch)))
                    responses = b""
                    while responses.count(b"\r\n\r\n") < batch:  # once in each response
                        self.assertTrue(received := connection.socket.recv(1 << 20), "the connection ended")
                        responses += received
                    self.assertEqual(batch, responses.count(b"HTTP/1.1 200 OK\r\n"))

            flood(0)
            before = resident_kilobytes(server.process.pid)
            flood(addresses)
            # Less than any table could keep of each address. A sanitizer needs memory of its own.
            self.assertLess(resident_kilobytes(server.process.pid) - before, 64 * 1024 if is_sanitized() else 1024)
            self.assert_json(server.balance(server.demo_token))
            self.assert_json(server.request("GET", "/v1/testservice/get", {"X-Forwarded-For": "12.0.0.1"}))


if __name__ == "__main__":
    main()
