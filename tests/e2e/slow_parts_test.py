#!/usr/bin/env python3
"""One slow part delays only requests that need it. slow_parts.py measures the same with many clients.

No test depends on the duration of a response: a part stays slow until the requests that do not need it have succeeded.
"""

from harness import Case, Database, Postgres, main
from slow_parts import UNCACHED, ConcurrentRequests, Fixture, locked_file, locked_table

CLIENTS = 24  # more than the workers for one kind of request


class SlowParts(Case):
    def fixture(self, *flags, store=None):
        fixture = Fixture(*flags, store=store)
        self.addCleanup(fixture.server.stop)
        fixture.warm_up()
        return fixture

    def assert_refused(self, responses):
        for each in responses:
            self.assertIsNotNone(each, "no response")
            status, _, retry_after = each
            self.assertEqual(503, status)
            self.assertRegex(retry_after, "^[1-9][0-9]*$")


class SQLite(SlowParts):
    def test_a_held_write_lock_delays_only_writes(self):
        fixture = self.fixture(store=None)
        with locked_file(fixture.server):
            writers = ConcurrentRequests(fixture.server, [fixture.write(number) for number in range(CLIENTS)])
            self.assertEqual(404, fixture.send(fixture.unknown()).status)
            self.assertEqual(200, fixture.send(fixture.list()).status)
            self.assertEqual(200, fixture.send(fixture.cold()).status, "it succeeds without recording the use of the token")
            self.assertEqual(200, fixture.send(fixture.sign_in_page()).status)
            self.assert_refused(writers.wait())
        self.assertEqual(201, fixture.send(fixture.write(0)).status)


class PostgreSQL(SlowParts):
    def test_a_locked_table_delays_only_requests_that_need_it(self):
        store = Database.shared().store(self.id())
        fixture = self.fixture(store=store)
        for table, blocked, others in (
                ("tollgate_personal_tokens", fixture.cold, (fixture.list, fixture.balance)),
                ("directory_users", fixture.cold, (fixture.list,)),
                ("tollgate_hooks", fixture.list, (fixture.cold, fixture.balance))):
            with self.subTest(table=table):
                with locked_table(store, table):
                    requests = ConcurrentRequests(fixture.server, [blocked() for _ in range(CLIENTS)])
                    self.assertEqual(404, fixture.send(fixture.unknown()).status)
                    for each in others:
                        self.assertEqual(200, fixture.send(each()).status)
                    self.assertEqual(200, fixture.send(fixture.sign_in_page()).status)
                    self.assert_refused(requests.wait())
                self.eventually(lambda: fixture.send(blocked()).status == 200)

    def test_requests_do_not_wait_after_the_first_time_outs_of_a_hanging_server(self):
        with Postgres() as database:
            fixture = self.fixture(*UNCACHED, "--admin-listen", "127.0.0.1:0", store=database.store(self.id()))
            database.hang()
            try:
                self.assert_refused(ConcurrentRequests(fixture.server, [fixture.balance() for _ in range(CLIENTS)]).wait())
                errors = 'tollgate_backend_errors_total{backend="store"}'
                before = fixture.server.metrics()[errors]
                for _ in range(60):
                    self.assertEqual(503, fixture.send(fixture.balance()).status)
                    self.assertEqual(404, fixture.send(fixture.unknown()).status)
                # At most one request at a time waits, as a probe of the server; the others do not wait.
                self.assertLess(fixture.server.metrics()[errors] - before, 30)
            finally:
                database.resume()
            self.eventually(lambda: fixture.send(fixture.balance()).status == 200)


if __name__ == "__main__":
    main()
