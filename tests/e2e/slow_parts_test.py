#!/usr/bin/env python3
"""One slow part delays no request that does not need it. slow_parts.py measures the same with many clients.

Nothing here depends on how long an answer takes: requests that do not need the slow part are answered while it is slow, and it
stays so until they are.
"""

import time

from harness import Case, Database, Postgres, main
from slow_parts import UNCACHED, Crowd, Subject, locked_file, locked_table

CLIENTS = 24  # more than there are workers for one kind of request


class SlowParts(Case):
    def subject(self, *flags, store=None):
        made = Subject(*flags, store=store)
        self.addCleanup(made.server.stop)
        made.warm_up()
        return made

    def assert_refused(self, answers):
        for each in answers:
            self.assertIsNotNone(each, "no answer")
            status, _, retry_after = each
            self.assertEqual(503, status)
            self.assertRegex(retry_after, "^[1-9][0-9]*$")


class SQLite(SlowParts):
    def test_a_held_write_lock_delays_only_writes(self):
        subject = self.subject(store=None)
        with locked_file(subject.server):
            writers = Crowd(subject.server, [subject.write(number) for number in range(CLIENTS)])
            self.assertEqual(404, subject.ask(subject.unknown()).status)
            self.assertEqual(200, subject.ask(subject.list()).status)
            self.assertEqual(200, subject.ask(subject.cold()).status, "the use of the token is not recorded")
            self.assertEqual(200, subject.ask(subject.sign_in_page()).status)
            self.assert_refused(writers.wait())
        self.assertEqual(201, subject.ask(subject.write(0)).status)


class PostgreSQL(SlowParts):
    def test_a_locked_table_delays_only_requests_that_need_it(self):
        store = Database.shared().store(self.id())
        subject = self.subject(store=store)
        for table, stopped, others in (
                ("tollgate_personal_tokens", subject.cold, (subject.list, subject.balance)),
                ("directory_users", subject.cold, (subject.list,)),
                ("tollgate_hooks", subject.list, (subject.cold, subject.balance))):
            with self.subTest(table=table):
                with locked_table(store, table):
                    crowd = Crowd(subject.server, [stopped() for _ in range(CLIENTS)])
                    self.assertEqual(404, subject.ask(subject.unknown()).status)
                    for each in others:
                        self.assertEqual(200, subject.ask(each()).status)
                    self.assertEqual(200, subject.ask(subject.sign_in_page()).status)
                    self.assert_refused(crowd.wait())
                self.eventually(lambda: subject.ask(stopped()).status == 200)

    def test_a_server_that_hangs_is_recognised_by_its_first_time_outs(self):
        with Postgres() as database:
            subject = self.subject(*UNCACHED, store=database.store(self.id()))
            database.hang()
            try:
                first = Crowd(subject.server, [subject.balance() for _ in range(CLIENTS)]).wait()
                self.assert_refused(first)
                longest = max(seconds for _, seconds, _ in first)
                began = time.monotonic()
                asked = 0
                while asked < 200:
                    self.assertEqual(503, subject.ask(subject.balance()).status)
                    self.assertEqual(404, subject.ask(subject.unknown()).status)
                    asked += 1
                # Only one prober at a time waits for the server: most of these do not wait at all.
                self.assertLess(time.monotonic() - began, asked / 4 * longest)
            finally:
                database.go_on()
            self.eventually(lambda: subject.ask(subject.balance()).status == 200)


if __name__ == "__main__":
    main()
