#!/usr/bin/env python3
"""Acknowledged writes survive kill -9, and concurrent writes of several processes are not lost."""

import concurrent.futures
import contextlib
import pathlib
import resource
import signal
import threading
import time

import harness
from harness import HIGH_LIMITS, Case, Server, main, temporary_directory


class KillNine(Case):
    def test_acknowledged_hooks_survive_and_ids_are_not_used_again(self):
        with temporary_directory() as data:
            acknowledged, deleted, token, account = {}, set(), None, None
            for round_number in range(4):
                server = Server("--demo", *HIGH_LIMITS, data=data)
                token, account = server.demo_token, server.demo["sitesmaker_account"]
                path = f"/v1/sitesmaker/{account}/hooks"
                listed = {hook["id"]: hook["url"] for hook in server.request("GET", path, token=token).json()}
                for number, url in acknowledged.items():
                    self.assertEqual(url, listed.get(number), f"hook {number} is lost")
                for number in deleted:
                    self.assertNotIn(number, listed, f"deleted hook {number} is listed")
                for number in list(listed):  # hooks per account are limited
                    self.assertEqual(204, server.request("DELETE", f"/v1/sitesmaker/hooks/{number}", token=token).status)
                    acknowledged.pop(number, None)
                    deleted.add(number)
                stop = threading.Event()

                def write(event):
                    with contextlib.suppress(OSError), server.connect() as connection:  # until the server is killed
                        for n in range(20):
                            if stop.is_set():
                                return
                            url = f"https://example.com/{round_number}/{event}/{n}"
                            response = connection.request("POST", path, {"Authorization": token},
                                                          {"event": event, "target_url": url})
                            if response is None:
                                return
                            self.assertEqual(201, response.status, response)
                            acknowledged[response.json()["id"]] = url

                events = ("site.created", "site.published", "site.deleted")
                with concurrent.futures.ThreadPoolExecutor(len(events)) as threads:
                    writers = [threads.submit(write, event) for event in events]
                    self.eventually(lambda: len(acknowledged) >= 5 + 8 * round_number or all(writer.done() for writer in writers))
                    server.signal(signal.SIGKILL)
                    stop.set()
                for writer in writers:
                    writer.result()
                server.wait()
                server.process.stdout.close()
                server.process.stderr.close()
                self.assertFalse(deleted & set(acknowledged), "an id was used again")


class FullDisk(Case):
    def test_reads_work_on_a_full_disk_and_writes_when_there_is_space_again(self):
        with Server("--demo", *HIGH_LIMITS) as server:
            path = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
            hook = {"event": "site.created", "target_url": "https://example.com/"}
            # No file may grow: for the program this is the same as a full disk, and the test does not require root.
            before = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, resource.RLIM_INFINITY))
            for _ in range(3):
                self.assert_error(server.request("POST", path, body=hook, token=server.demo_token), 503)
            self.assertEqual([], self.assert_json(server.request("GET", path, token=server.demo_token)))
            self.assert_json(server.balance(server.demo_token))
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, before)
            created = self.assert_json(server.request("POST", path, body=hook, token=server.demo_token), 201)["id"]
            listed = self.assert_json(server.request("GET", path, token=server.demo_token))
            self.assertEqual([created], [each["id"] for each in listed])


def is_stable(value, seconds=0.5):
    """Whether a value does not change for so long."""
    before = value()
    time.sleep(seconds)
    return value() == before


class SystemFaults(Case):
    """The server with tests/support/system_faults.cpp."""

    @contextlib.contextmanager
    def server(self, *flags):
        library = harness.preloaded_library("system_faults")
        self.assertTrue(library.exists())
        with temporary_directory() as faults:
            server = Server(*HIGH_LIMITS, *flags, environment={"LD_PRELOAD": str(library), "TOLLGATE_TEST_FAULTS": str(faults)})
            try:
                yield server, faults
            finally:
                server.process.kill()
                server.wait()
                server.stop()

    def test_a_log_that_hangs_delays_no_request_and_the_end_of_the_process_only_for_a_while(self):
        with self.server() as (server, faults):
            (faults / "log").touch()
            for _ in range(3):
                self.assert_json(server.request("GET", "/v1/testservice/get"))
            server.signal(signal.SIGTERM)
            self.assertEqual(1, server.process.wait(harness.DEADLINE_SECONDS))

    def test_a_file_system_that_hangs_delays_no_request_that_needs_no_store(self):
        with self.server("--demo", "--threads", "1") as (server, faults), server.connect() as warm, server.connect() as other:
            token = {"Authorization": server.demo_token}
            self.assert_json(warm.request("GET", "/v1/user/balance", token))
            (faults / "files").touch()
            responses = []

            def read_balances():  # until one of them waits: whether the file is in place is known for a second
                while (faults / "files").exists():
                    responses.append(warm.request("GET", "/v1/user/balance", token).status)

            reader = threading.Thread(target=read_balances)
            reader.start()
            self.eventually(lambda: is_stable(lambda: len(responses)))
            self.assert_error(other.request("GET", "/v1/nowhere"), 404)
            (faults / "files").unlink()
            reader.join()
            self.assertLessEqual(set(responses), {200, 503})

    def test_a_worker_whose_notification_is_lost_is_notified_again(self):
        with self.server("--demo") as (server, faults), server.connect() as connection:
            (faults / "wakeups").touch()
            path = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
            for n in range(20):  # writes, because each needs a worker
                response = connection.request("POST", path, {"Authorization": server.demo_token},
                                              {"event": "site.created", "target_url": f"https://example.com/{n}"})
                self.assert_json(response, 201)

    def test_requests_in_flight_are_finished_if_no_thread_can_be_started(self):
        # With one thread, because another would not have read what came before.
        with self.server("--threads", "1") as (server, faults), server.connect() as connection:
            body = b'{"event": "site.created"}'
            request = harness.encode("POST", "/v1/testservice/post", {"Content-Type": "application/json"}, body)
            connection.send(request[:-1])
            self.assert_json(server.request("GET", "/v1/testservice/get"))  # the server has read what came before
            (faults / "threads").touch()
            server.signal(signal.SIGTERM)
            self.eventually(lambda: not server.is_listening())
            connection.send(request[-1:])
            self.assert_json(connection.read())
            self.assertEqual(0, server.process.wait(harness.DEADLINE_SECONDS))


class ParallelCommands(Case):
    def test_commands_in_parallel_with_a_server_that_writes(self):
        with Server("--demo", *HIGH_LIMITS) as server:
            added = []

            def administer(name):
                user = server.add_user(name)
                added.append((user, server.add_account(user, "sitesmaker"), server.add_token(user)[0]))

            threads = [threading.Thread(target=administer, args=(f"user{n}",)) for n in range(4)]
            for thread in threads:
                thread.start()
            path = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
            with server.connect() as connection:
                for n in range(20):
                    response = connection.request("POST", path, {"Authorization": server.demo_token},
                                                  {"event": "site.created", "target_url": "https://example.com/"})
                    self.assert_json(response, 201)
            for thread in threads:
                thread.join()
            self.assertEqual(4, len({user for user, _, _ in added}))
            self.assertEqual(4, len({account for _, account, _ in added}))
            for user, account, token in added:
                self.assertEqual(user, self.assert_json(server.balance(token))["id"])
                (listed,) = self.assert_json(server.request("GET", "/v1/sitesmaker/accounts", token=token))
                self.assertEqual(account, listed["id"])

    def test_commands_before_the_first_start_and_after_the_end(self):
        with temporary_directory() as data:
            with Server(data=data) as server:
                server.stop()
                user = server.add_user("between")
                token, _ = server.add_token(user)
            with Server(data=data) as server:
                self.assertEqual(user, self.assert_json(server.balance(token))["id"])


if __name__ == "__main__":
    main()
