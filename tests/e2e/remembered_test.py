"""What nodes cache of a shared PostgreSQL: used without a query, and never for more than a second after a change."""

import time

import harness


def balance(server, token):
    answer = server.ask("GET", "/v1/user/balance", token=token)
    return answer.json()["balance"] if answer.status == 200 else answer.status


class Remembered(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.database = harness.Postgres()  # one test stops its processes
        cls.addClassCleanup(cls.database.stop)

    def nodes(self, *flags, count=2):
        store = self.database.store(self.id())
        nodes = [harness.Server(*flags, store=store) for _ in range(count)]
        for each in nodes:
            self.addCleanup(each.stop)
        return store, nodes

    def assert_becomes(self, wanted, ask):
        began = time.monotonic()
        while (told := ask()) != wanted:
            self.assertLess(time.monotonic() - began, 1, f"{told}, not {wanted}")
            time.sleep(0.005)

    def warm(self, nodes, token):
        """Waits until the nodes receive changes, which begins moments after their start, and cache rows."""
        time.sleep(0.3)
        for each in nodes:
            for _ in range(2):
                self.assertEqual(200, each.ask("GET", "/v1/user/balance", token=token).status)

    def test_changes_by_any_node_are_visible_everywhere_within_a_second(self):
        store, nodes = self.nodes()
        user = nodes[0].add_user("a@b.example", balance="12.50")
        token, number = nodes[0].add_token(user, "user:balance")
        self.warm(nodes, token)
        self.database.query(store, "UPDATE directory_users SET balance = '7.25'")
        for each in nodes:
            self.assert_becomes(7.25, lambda: balance(each, token))
        nodes[0].run("user", "quota", "--user", user, "--per-day", 77)
        for each in nodes:
            self.assert_becomes("77", lambda: each.ask("GET", "/v1/user/balance", token=token).get("X-RateLimit-Limit"))
        nodes[0].run("token", "revoke", "--id", number)
        for each in nodes:
            self.assert_becomes(401, lambda: balance(each, token))

    def test_what_is_cached_needs_no_query(self):
        _, (one,) = self.nodes("--user-limit", "1000/second", count=1)
        user = one.add_user("c@d.example", balance="12.50")
        token, number = one.add_token(user, "user:balance")
        self.warm([one], token)
        self.database.hang()
        try:
            began = time.monotonic()
            self.assertEqual(12.5, balance(one, token))
            self.assertLess(time.monotonic() - began, 0.5)
            # But not for long, because no notification would arrive.
            time.sleep(max(0, began + 1 - time.monotonic()))
            self.assertEqual(503, balance(one, token))
        finally:
            self.database.go_on()
        deadline = time.monotonic() + 10
        while balance(one, token) != 12.5:
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_nothing_is_cached_when_caching_is_off(self):
        store, (one,) = self.nodes("--cache-seconds", "0", count=1)
        user = one.add_user("e@f.example", balance="12.50")
        token, _ = one.add_token(user, "user:balance")
        self.warm([one], token)
        self.database.query(store, "ALTER TABLE directory_users DISABLE TRIGGER ALL; "
                                   "UPDATE directory_users SET balance = '7.25'")
        self.assertEqual(7.25, balance(one, token))


if __name__ == "__main__":
    harness.main()
