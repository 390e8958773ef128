#!/usr/bin/env python3
"""Acknowledged events arrive after kill -9. A script of its own: deliveries of a killed process wait until their lease ends.

    webhooks_kill_test.py SERVER
    TOLLGATE_KILLS=50 webhooks_kill_test.py SERVER    more kills than the default
"""

import json
import os
import signal
import threading
import time

from harness import Case, main, temporary_directory
from receiver import Receiver
from webhooks_test import webhook_server


class KillNine(Case):
    def test_every_acknowledged_event_arrives_with_one_id(self):
        kills = int(os.environ.get("TOLLGATE_KILLS", "3"))
        with temporary_directory() as data, Receiver() as receiver:
            server = webhook_server(data=data)
            server.add_hook(receiver.url())
            acknowledged, stop = set(), threading.Event()

            def report(thread):
                n = 0
                while not stop.is_set():
                    data_sent = f"{thread}-{n}"
                    try:
                        if server.emit(data_sent) == 1:
                            acknowledged.add(data_sent)
                    except AssertionError:
                        pass  # not acknowledged
                    n += 1

            threads = [threading.Thread(target=report, args=(n,)) for n in range(3)]
            for each in threads:
                each.start()
            for _ in range(kills):
                expected = len(acknowledged) + 20
                self.eventually(lambda: len(acknowledged) >= expected)
                server.signal(signal.SIGKILL)
                server.wait()
                server.process.stdout.close()
                server.process.stderr.close()
                server = webhook_server(data=data)
            stop.set()
            for each in threads:
                each.join()
            deadline = time.monotonic() + 60
            missing = acknowledged
            while missing and time.monotonic() < deadline:
                time.sleep(0.2)
                missing = acknowledged - {json.loads(each.body)["data"] for each in list(receiver.requests)}
            server.stop()
            self.assertEqual(set(), missing, f"{len(missing)} of {len(acknowledged)} did not arrive")
            ids = {}
            for each in receiver.requests:
                ids.setdefault(json.loads(each.body)["data"], set()).add(each.id)
            self.assertEqual({1}, {len(each) for each in ids.values()}, "an event arrived with two ids")
            self.assertEqual(len(ids), len({each for of_event in ids.values() for each in of_event}), "two events arrived with one id")


if __name__ == "__main__":
    main()
