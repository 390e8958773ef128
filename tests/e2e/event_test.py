#!/usr/bin/env python3
"""`event emit`: while the server runs, while it is down, and with invalid arguments."""

import json

from harness import Case, Server, concurrently, main, run_command, temporary_directory
from receiver import Receiver


class Events(Case):
    def test_while_the_server_runs(self):
        with Receiver() as receiver, Server("--demo", "--allow-private-targets") as server:
            self.assertEqual(0, server.emit(), "there is no hook yet")
            for event in ("site.published", "site.published", "site.created"):
                server.add_hook(receiver.url(), event)
            data = {"version": 7, "name": "Zo\u00eb"}
            self.assertEqual(2, server.emit(data, "site.published"))
            requests = receiver.wait(2)
            self.assertEqual(2, len(requests))
            self.assertEqual(2, len({each.id for each in requests}), "each hook gets a separate message")
            for each in requests:
                message = json.loads(each.body)
                self.assertEqual(("site.published", "sitesmaker", server.demo["sitesmaker_account"], data),
                                 (message["type"], message["service"], message["account"], message["data"]))
            self.assertEqual(0, server.emit(1, "site.deleted"))
            self.assertEqual(1, server.emit([None], "site.created"))
            self.assertEqual([None], json.loads(receiver.wait(3)[2].body)["data"])

    def test_an_account_that_does_not_exist(self):
        with Server("--demo") as server:
            for service, account in (("sitesmaker", 99), ("sitesmaker", server.demo["itemplatform_account"]),
                                     ("itemplatform", server.demo["sitesmaker_account"])):
                with self.subTest(service=service, account=account):
                    event = {"sitesmaker": "site.published", "itemplatform": "item.created"}[service]
                    result = run_command("event", "emit", "--service", service, "--account", account, "--event", event,
                                         "--data", "{}", *server.store_flags)
                    self.assertEqual((1, ""), (result.returncode, result.stdout))
                    self.assertRegex(result.stderr, rf"\A[^\n]*there is no account {account} at {service}\.\n\Z")

    def test_while_the_server_is_down(self):
        with temporary_directory() as data, Receiver() as receiver:
            with Server("--demo", "--allow-private-targets", data=data) as server:
                server.add_hook(receiver.url())
            for number in range(3):
                self.assertEqual(1, server.emit(number))
            self.assertEqual([], receiver.requests)
            with Server("--allow-private-targets", data=data):
                requests = receiver.wait(3)
                self.assertEqual({0, 1, 2}, {json.loads(each.body)["data"] for each in requests})
                self.assertEqual(3, len({each.id for each in requests}))

    def test_many_at_once(self):
        with Receiver() as receiver, Server("--demo", "--allow-private-targets") as server:
            server.add_hook(receiver.url())
            self.assertEqual([1] * 8, concurrently(server.emit, range(8)))
            self.assertEqual(8, len({each.id for each in receiver.wait(8)}))

    def test_invalid_arguments(self):
        with temporary_directory() as data:
            def refused(*flags, mentions):
                with self.subTest(flags=[each[:40] for each in flags]):
                    result = run_command("event", "emit", *flags, "--store", f"sqlite:{data}/d.db")
                    self.assertEqual((2, ""), (result.returncode, result.stdout), result)
                    self.assertRegex(result.stderr, r"\A[^\n]+\n\Z", "one line")
                    self.assertIn(mentions, result.stderr)

            good = {"--service": "sitesmaker", "--account": "1", "--event": "site.published", "--data": "{}"}
            for flag, values in {
                "--service": ["", "x", "user", "Sitesmaker"],
                "--account": ["", "0", "-1", "x", "01", "9223372036854775808"],
                "--event": ["", "x", "item.created", "site.Published", "site.published\n"],
                "--data": ["", "{", "{} {}", "nul", "'a'", '{"a": 1, "a": 2}', "[" * 65 + "]" * 65],
            }.items():
                for value in values:
                    words = [word for each in {**good, flag: value}.items() for word in each]
                    refused(*words, mentions=flag)
                words = [word for name, each in good.items() if name != flag for word in (name, each)]
                refused(*words, mentions=flag)
            words = [word for each in good.items() for word in each]
            for values in (["x", "y"], ["x", "{}", "y"], ["{}", "1"]):
                refused(*words[:-2], *[word for each in values for word in ("--data", each)], mentions="--data")
            result = run_command("event", "emit", *words, "--store", "memory:")
            self.assertEqual(2, result.returncode, result)
            self.assertIn("--store", result.stderr)
            self.assertEqual([], list(data.iterdir()), "nothing was created")

    def test_payload_is_one_flag_and_data_another(self):
        with temporary_directory() as data:
            with Server("--demo", data=data, store=f"sqlite:{data}/tollgate.db") as server:
                account = server.demo["sitesmaker_account"]
            words = ["event", "emit", "--service", "sitesmaker", "--account", account, "--event", "site.published"]
            result = run_command(*words, "--payload", "{}", "--data", data)
            self.assertEqual((0, '{"deliveries": 0}\n', ""), (result.returncode, result.stdout, result.stderr))
            for flags, mentions in ((["--payload", "{"], "--payload"), (["--payload", "{}", "--data", data, "--data", data], "--data"),
                                    (["--data", data], "--data"), ([], "--payload")):
                result = run_command(*words, *flags, "--store", f"sqlite:{data}/tollgate.db")
                self.assertEqual((2, ""), (result.returncode, result.stdout), result)
                self.assertIn(mentions, result.stderr)

    def test_payload_from_stdin(self):
        """An argument holds at most 128 KiB on Linux."""
        with Receiver() as receiver, Server("--demo", "--allow-private-targets") as server:
            server.add_hook(receiver.url(), "site.published")
            words = ["event", "emit", "--service", "sitesmaker", "--account", server.demo["sitesmaker_account"], "--event",
                     "site.published", "--payload", "-", *server.store_flags]
            largest = '"' + "x" * (256 * 1024 - 2) + '"'
            result = run_command(*words, stdin=largest)
            self.assertEqual((0, '{"deliveries": 1}\n'), (result.returncode, result.stdout), result.stderr)
            self.assertEqual(json.loads(largest), json.loads(receiver.wait(1)[0].body)["data"])
            for refused in ("", "{", largest[:-1] + 'x"'):
                result = run_command(*words, stdin=refused)
                self.assertEqual((2, True), (result.returncode, "--payload" in result.stderr), result.stderr)

    def test_json_as_data_is_deprecated(self):
        with temporary_directory() as data, Receiver() as receiver:
            with Server("--demo", data=data, store=f"sqlite:{data}/tollgate.db") as server:
                account = server.demo["sitesmaker_account"]
            for flags in (["--data", data, "--data", "{}"], ["--data", "{}", "--data", data],
                          ["--data", "{}", "--store", f"sqlite:{data}/tollgate.db"]):
                result = run_command("event", "emit", "--service", "sitesmaker", "--account", account, "--event",
                                     "site.published", *flags)
                self.assertEqual((0, '{"deliveries": 0}\n', ""), (result.returncode, result.stdout, result.stderr))
            self.assertEqual([], receiver.requests)


if __name__ == "__main__":
    main()
