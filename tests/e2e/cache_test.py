"""The cache of nodes that share a PostgreSQL: cached rows need no query, and are not used after a change."""

import harness


class Cache(harness.Case):
    @classmethod
    def setUpClass(cls):
        cls.database = harness.Postgres()  # one test stops its processes
        cls.addClassCleanup(cls.database.stop)

    def nodes(self, *flags, count=2):
        store = self.database.store(self.id())
        nodes = [harness.Server(*flags, "--admin-listen", "127.0.0.1:0", store=store) for _ in range(count)]
        for each in nodes:
            self.addCleanup(each.stop)
        return store, nodes

    def warm(self, nodes, token):
        """Waits until the nodes are notified of changes, before which they cache nothing, and lets them cache rows."""
        for each in nodes:
            self.eventually(lambda: each.metrics()["tollgate_changes_received"] == 1)
            for _ in range(2):
                self.assertEqual(200, each.balance(token).status)

    def test_changes_by_any_node_become_visible_everywhere(self):
        store, nodes = self.nodes("--cache-seconds", "3600")  # not until a cached row expires
        user = nodes[0].add_user("a@b.example", balance="12.50")
        token, number = nodes[0].add_token(user, "user:balance")
        self.warm(nodes, token)
        self.database.query(store, "UPDATE directory_users SET balance = '7.25'")
        for each in nodes:
            self.eventually(lambda: each.balance(token).json().get("balance") == 7.25)
        nodes[0].run("user", "quota", "--user", user, "--per-day", 77)
        for each in nodes:
            self.eventually(lambda: each.balance(token).get("X-RateLimit-Limit") == "77")
        nodes[0].run("token", "revoke", "--id", number)
        for each in nodes:
            self.eventually(lambda: each.balance(token).status == 401)

    def test_what_is_cached_needs_no_query(self):
        _, (node,) = self.nodes("--user-limit", "1000/second", count=1)
        user = node.add_user("c@d.example", balance="12.50")
        token, _ = node.add_token(user, "user:balance")

        def cache_is_used():
            self.eventually(lambda: node.balance(token).json().get("balance") == 12.5)
            self.warm([node], token)
            self.database.hang()
            try:
                if node.balance(token).json().get("balance") != 12.5:
                    return False  # on a busy machine the node may not receive notifications yet, or not for too long
                # The cache is not used for long, because no notification would arrive.
                self.eventually(lambda: node.balance(token).status == 503)
                return True
            finally:
                self.database.resume()

        self.eventually(cache_is_used)
        self.eventually(lambda: node.balance(token).json().get("balance") == 12.5)

    def test_nothing_is_cached_when_caching_is_off(self):
        store, (node,) = self.nodes("--cache-seconds", "0", count=1)
        user = node.add_user("e@f.example", balance="12.50")
        token, _ = node.add_token(user, "user:balance")
        self.warm([node], token)
        self.database.query(store, "ALTER TABLE directory_users DISABLE TRIGGER ALL; "
                                   "UPDATE directory_users SET balance = '7.25'")
        self.assertEqual(7.25, node.balance(token).json().get("balance"))


if __name__ == "__main__":
    harness.main()
