#!/usr/bin/env python3
"""Webhooks end to end: signatures, retries, receivers that fail or hang, and checks of targets."""

import base64
import collections
import hashlib
import hmac
import json
import os
import signal
import socket
import subprocess
import threading
import time

import harness
import node_packages
from harness import HIGH_LIMITS, Case, Server, concurrently, flags_for, main, on_postgres, run_command, temporary_directory
from receiver import OK, Receiver, empty_response, hang, make_certificate, reset

SOON = ["--webhook-retry", "300ms,300ms,300ms"]
LATER = ["--webhook-retry", "1h"]


def webhook_server(*flags, **more):
    return Server("--demo", *HIGH_LIMITS, "--allow-private-targets", *flags, **more)


def signature_of(secret, request):
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{request.id}.{request.fields['webhook-timestamp']}.".encode() + request.body
    return "v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()


class WebhookCase(Case):
    def assert_ended(self, server, hook, state, attempts):
        """The only delivery of this webhook reaches a state in which nothing more is sent, after so many attempts."""
        self.eventually(lambda: server.deliveries(hook)[0]["state"] == state)
        self.assertEqual([(attempts, None)], [(each["attempts"], each["next_attempt_at"]) for each in server.deliveries(hook)])


class Delivery(WebhookCase):
    def test_the_webhooks_of_a_disabled_user_wait_until_the_user_is_enabled(self):
        with Receiver() as receiver, Receiver() as other, temporary_directory() as data:
            with webhook_server(data=data) as server:
                server.add_hook(other.url())
                user = server.add_user("ann")
                account = server.add_account(user, "sitesmaker", admin=True)
                token, _ = server.add_token(user)
                hook, _ = server.add_hook(receiver.url(), account=account, token=token)
                server.run("user", "disable", "--id", user)
                self.assertEqual(1, server.emit(1, account=account))
                server.emit(2)
                other.wait(1)  # its event came later
                waiting, = server.deliveries(hook)
                self.assertEqual(("waiting", 0), (waiting["state"], waiting["attempts"]))
                self.assertEqual([], receiver.requests)
                server.run("user", "enable", "--id", user)
            with webhook_server(data=data) as server:
                server.run("delivery", "resend", "--id", waiting["id"])  # otherwise it is due in a minute
                receiver.wait(1)
                self.assert_ended(server, hook, "delivered", 1)

    def test_an_event_arrives_once_signed_and_as_documented(self):
        with Receiver() as receiver, webhook_server() as server:
            hook, secret = server.add_hook(receiver.url("/in?tenant=a%20b"))
            server.add_hook(receiver.url("/other"), event="site.published")
            before = int(time.time())
            self.assertEqual(1, server.emit({"name": "Ünïcode", "n": 10000000000000000.5}))
            (request,) = receiver.wait(1)
            self.assertEqual("POST /in?tenant=a%20b HTTP/1.1", request.line)
            self.assertEqual(f"127.0.0.1:{receiver.port}", request.fields["host"])
            self.assertEqual("application/json", request.fields["content-type"])
            self.assertRegex(request.fields["user-agent"], r"^Tollgate/\d")
            self.assertNotIn("transfer-encoding", request.fields)
            self.assertNotIn("authorization", request.fields)
            self.assertEqual(signature_of(secret, request), request.fields["webhook-signature"])
            self.assertTrue(before <= int(request.fields["webhook-timestamp"]) <= time.time())
            body = json.loads(request.body)
            self.assertEqual(["type", "timestamp", "service", "account", "data"], list(body))
            self.assertEqual("site.created", body["type"])
            self.assertEqual("Ünïcode", body["data"]["name"])
            self.assertRegex(body["timestamp"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
            self.assert_ended(server, hook, "delivered", 1)
        self.assertEqual(1, len(receiver.requests))

    def test_many_arrive_over_few_connections(self):
        with webhook_server() as server, Receiver() as receiver:
            for _ in range(10):
                server.add_hook(receiver.url())
            for n in range(5):
                self.assertEqual(10, server.emit(n))
            requests = receiver.wait(50)
            self.assertEqual(50, len({each.id for each in requests}))
            self.assertLessEqual(receiver.connections, 8)

    def test_interoperability_with_another_library(self):
        with webhook_server() as server, Receiver() as receiver:
            _, secret = server.add_hook(receiver.url())
            server.emit({"a": "ß"})
            (request,) = receiver.wait(1)
        message = {"secret": secret, "body": request.body.decode(),
                   "headers": {name: value for name, value in request.fields.items() if name.startswith("webhook-")}}
        directory = node_packages.directory()
        result = subprocess.run(["node", directory / "standard_webhooks.mjs"], input=json.dumps(message) + "\n", text=True,
                                capture_output=True, timeout=60)
        self.assertEqual(0, result.returncode, result.stderr)
        report = json.loads(result.stdout)
        self.assertEqual({"a": "ß"}, report["verified"]["data"])
        self.assertEqual(request.fields["webhook-signature"], report["signature"])
        self.assertEqual("refused", report["forged"])


class Retries(WebhookCase):
    def test_retries_keep_the_id_and_get_a_new_signature(self):
        def handle(request, connection):
            connection.sendall(empty_response(503) if len(receiver.requests) < 3 else OK)

        # At least 1.04 s pass between two attempts, so that their timestamps differ.
        with Receiver(handle) as receiver, webhook_server("--webhook-retry", "1300ms,1300ms,1300ms") as server:
            hook, secret = server.add_hook(receiver.url())
            server.emit()
            requests = receiver.wait(3)
            self.assertEqual(1, len({each.id for each in requests}))
            self.assertEqual(1, len({each.body for each in requests}))
            self.assertEqual(3, len({each.fields["webhook-timestamp"] for each in requests}))
            for each in requests:
                self.assertEqual(signature_of(secret, each), each.fields["webhook-signature"])
            self.assert_ended(server, hook, "delivered", 3)
        self.assertEqual(3, len(receiver.requests))

    def test_redirects_are_failures_and_not_followed(self):
        for status in (301, 302, 303, 307, 308):
            with self.subTest(status), webhook_server(*LATER) as server, Receiver() as inside:
                def handle(request, connection):
                    connection.sendall(empty_response(status, [f"Location: {inside.url()}"]))

                with Receiver(handle) as receiver:
                    server.add_hook(receiver.url())
                    server.emit()
                    self.assertEqual(1, len(receiver.wait(1)))
                    self.assertIn(f"answered {status}", server.log_after("webhook "))
                    self.assertEqual([], inside.requests)

    def test_repeated_failures_are_counted_with_the_last_one(self):
        with webhook_server(*LATER) as server, Receiver(lambda request, connection: connection.sendall(empty_response(503))) as receiver:
            hook, _ = server.add_hook(receiver.url())
            for _ in range(3):
                server.emit()
            host = receiver.url().rsplit("/", 1)[0]
            self.assertIn(f" more like this: webhook {hook}; the last: webhook {hook} to {host}: answered 503\n",
                          server.log_after("more like this: webhook"))

    def test_410_disables_the_hook(self):
        with Receiver(lambda request, connection: connection.sendall(empty_response(410))) as receiver, webhook_server(*SOON) as server:
            hook, _ = server.add_hook(receiver.url())
            server.emit()
            receiver.wait(1)
            self.assertIn("the webhook is disabled", server.log_after("disabled"))
            self.assertEqual(0, server.emit())
            self.assert_ended(server, hook, "given_up", 1)
        self.assertEqual(1, len(receiver.requests))

    def test_retry_after_is_honored(self):
        for retry_after, planned, seconds_min in (("3", "1s", 3), ("0", "2s", 1)):
            with self.subTest(retry_after):
                def handle(request, connection):
                    connection.sendall(empty_response(429, [f"Retry-After: {retry_after}"]) if len(receiver.requests) == 1 else OK)

                with webhook_server("--webhook-retry", f"{planned},{planned}") as server, Receiver(handle) as receiver:
                    server.add_hook(receiver.url())
                    server.emit()
                    # By the sender's clock: the receiver may read a request later.
                    first, second = (int(each.fields["webhook-timestamp"]) for each in receiver.wait(2))
                    self.assertGreaterEqual(second - first, seconds_min)

    def test_a_deleted_hook_gets_no_further_attempt(self):
        deleted = threading.Event()

        def handle(request, connection):
            deleted.wait(harness.DEADLINE_SECONDS)
            connection.sendall(empty_response(500))

        with webhook_server(*SOON) as server, Receiver(handle) as receiver, Receiver(handle) as other:
            hook, _ = server.add_hook(receiver.url())
            server.add_hook(other.url(), "site.deleted")
            server.emit()
            receiver.wait(1)
            self.assertEqual(204, server.request("DELETE", f"/v1/sitesmaker/hooks/{hook}", token=server.demo_token).status)
            deleted.set()
            # The second retry of a later event comes after the time of the first retry.
            server.emit(event="site.deleted")
            self.assertEqual(3, len(other.wait(3)))
            self.assertEqual(1, len(receiver.requests))

    def test_a_connection_that_is_closed_while_idle_is_not_used(self):
        def handle(request, connection):
            connection.sendall(OK)
            return False  # closes the connection without `Connection: close`

        with webhook_server(*LATER) as server, Receiver(handle) as receiver:
            server.add_hook(receiver.url())
            for n in range(5):
                server.emit(n)
                self.assertEqual(n + 1, len(receiver.wait(n + 1)))


class FailingReceivers(WebhookCase):
    """Each test has a receiver that fails in a different way, which the log states, and a healthy one that gets its request."""

    def check(self, handle, words, receiver=None):
        with webhook_server(*LATER) as server, Receiver() as healthy, receiver or Receiver(handle) as failing:
            server.add_hook(failing.url())
            server.add_hook(healthy.url())
            server.emit()
            self.assertEqual(1, len(healthy.wait(1)))
            self.assertIn(words, server.log_after(": " + words))

    def test_resets(self):
        self.check(reset, "connection closed early")

    def test_not_http(self):
        self.check(lambda request, connection: connection.sendall(b"SSH-2.0-x\r\n\r\n"), "invalid response")

    def test_malformed_fields_after_a_status_and_endless_ones(self):
        def send_endless(request, connection):
            connection.sendall(b"HTTP/1.1 500 Oh\r\n")
            while True:
                connection.sendall(b"X-Field: value\r\n" * 100)

        self.check(send_endless, "answered 500")
        heads = (b"HTTP/1.1 200 OK\nContent-Length: 0\n\n", b"HTTP/1.1 200 OK\r\nX: a\r\n b\r\nContent-Length: 0\r\n\r\n",
                 b"HTTP/1.1 200 OK\r\n" + b"X: a\r\n" * 200 + b"\r\n", b"HTTP/1.1 200 OK\r\nX: " + b"a" * 16384 + b"\r\n\r\n")
        with webhook_server(*LATER) as server:
            for head in heads:
                with self.subTest(head[:40]), Receiver(lambda request, connection: connection.sendall(head)) as receiver:
                    hook, _ = server.add_hook(receiver.url(), event="site.published")
                    server.emit(event="site.published")
                    self.assert_ended(server, hook, "delivered", 1)
                    self.assertEqual("2xx", f"{server.deliveries(hook)[0]['last_attempt']['status'] // 100}xx")

    def test_the_last_attempt_is_listed_with_its_cause(self):
        closed = Receiver()
        closed.close()
        with temporary_directory() as directory, webhook_server(*LATER) as server:
            _, tls = make_certificate(directory, "localhost", "127.0.0.1")
            with Receiver() as fine, Receiver(lambda request, connection: connection.sendall(empty_response(503))) as busy, \
                    Receiver(tls=tls) as untrusted:
                expected = {server.add_hook(url)[0]: result for url, result in (
                    (fine.url(), (200, "answered", None)), (busy.url(), (503, "answered", None)),
                    (untrusted.url(), (None, "no_tls", "certificate_not_trusted")),
                    (closed.url(), (None, "no_connection", "connection_refused")),
                    ("http://no-such-name.invalid/", (None, "no_address", "name_not_found")))}
                server.emit()
                for hook, (status, outcome, cause) in expected.items():
                    self.eventually(lambda: server.deliveries(hook)[0]["last_attempt"])
                    last = server.deliveries(hook)[0]["last_attempt"]
                    self.assertEqual((status, outcome, cause), (last["status"], last["outcome"], last["cause"]))
                    self.assertRegex(last["at"], r"^\d{4}-\d\d-\d\dT")

    def test_a_failing_webhook_is_named_beside_others(self):
        with webhook_server(*LATER) as server, Receiver(lambda request, connection: connection.sendall(empty_response(503))) as busy:
            hooks = [server.add_hook(busy.url(f"/{number}"))[0] for number in range(5)]
            server.emit()
            for hook in hooks:
                self.assertIn(f"webhook {hook} to ", server.log_after(f"webhook {hook} to "))

    def test_hanging_and_byte_by_byte(self):
        def send_slowly(request, connection):
            for byte in OK * 100:
                connection.sendall(bytes([byte]))
                time.sleep(0.6)

        concurrently(lambda handle: self.check(handle, "timed out"), (hang, send_slowly))

    def test_connection_refused(self):
        closed = Receiver()
        closed.close()
        self.check(None, "no connection", receiver=closed)

    def test_unknown_host_name(self):
        with webhook_server(*LATER) as server:
            server.add_hook("http://no-such-name.invalid/")
            server.emit()
            self.assertIn("no such host", server.log_after("webhook "))

    def test_certificates(self):
        with temporary_directory() as directory:
            good, tls = make_certificate(directory, "localhost", "127.0.0.1")
            other, other_tls = make_certificate(directory, "elsewhere.example")
            trusted = directory / "trusted.pem"
            trusted.write_bytes(good.read_bytes() + other.read_bytes())
            with Receiver(tls=tls) as untrusted:
                self.check(None, "TLS handshake failed (self-signed", receiver=untrusted)
            os.environ["SSL_CERT_FILE"] = str(trusted)
            try:
                with webhook_server(*LATER) as server, Receiver(tls=tls) as valid, Receiver(tls=other_tls) as invalid:
                    server.add_hook(valid.url())
                    server.add_hook(valid.url(host="localhost"))
                    server.add_hook(invalid.url())
                    server.emit()
                    self.assertEqual(2, len(valid.wait(2)))
                    self.assertIn("TLS handshake failed (", server.log_after("TLS handshake"))
                    self.assertEqual([], invalid.requests)
            finally:
                del os.environ["SSL_CERT_FILE"]

    def test_sighup_reads_the_certificate_authorities_again(self):
        with temporary_directory() as directory, Receiver() as plain:
            files = [make_certificate(directory, *names) for names in (("localhost", "127.0.0.1"), ("127.0.0.1", "localhost"))]
            trusted = directory / "trusted.pem"
            trusted.write_bytes(files[0][0].read_bytes())
            os.environ["SSL_CERT_FILE"] = str(trusted)
            try:
                with webhook_server(*LATER) as server, Receiver(tls=files[0][1]) as first, Receiver(tls=files[1][1]) as second:
                    for each in (first, second, plain):
                        server.add_hook(each.url())
                    server.emit()
                    first.wait(1)
                    plain.wait(1)
                    self.assertIn("self-signed", server.log_after("TLS handshake"))
                    trusted.write_bytes(files[1][0].read_bytes())
                    server.signal(signal.SIGHUP)

                    def is_trusted():
                        server.emit()
                        return second.requests

                    self.eventually(is_trusted)
            finally:
                del os.environ["SSL_CERT_FILE"]


class TargetChecks(Case):
    def test_a_target_is_checked_again_before_each_attempt(self):
        with temporary_directory() as data, Receiver() as receiver:
            with webhook_server(data=data) as server:
                hooks = [server.add_hook(receiver.url(host=host))[0]
                         for host in ("127.0.0.1", "localhost", "127.1", "0x7f000001", "[::ffff:127.0.0.1]")]
            # The same store without the permission, as if the names now resolved to private addresses.
            with Server("--demo", *HIGH_LIMITS, *LATER, data=data) as server:
                self.assertEqual(5, server.emit())
                self.assertIn("may not be sent", server.log_after("may not be sent"))
                self.eventually(lambda: [1] * 5 == [server.deliveries(hook)[0]["attempts"] for hook in hooks])
            with socket.create_connection((receiver.address, receiver.port)):  # accepted after any earlier one
                self.eventually(lambda: receiver.connections)
            self.assertEqual(1, receiver.connections)


class HangingReceivers(Case):
    def test_healthy_receivers_are_served_while_many_hang(self):
        hanging_requests = []  # (host, connection)

        def handle(request, connection):
            hanging_requests.append((request.fields["host"], connection))
            hang(request, connection)

        def is_open(connection):
            try:
                return connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT) != b""
            except BlockingIOError:
                return True
            except OSError:
                return False

        def in_progress():
            return [each for each in hanging_requests if is_open(each[1])]

        with webhook_server(*LATER) as server, Receiver(address="0.0.0.0") as healthy, Receiver(handle, address="0.0.0.0") as hanging:
            events = ("site.created", "site.published", "site.deleted")
            for n in range(60):
                server.add_hook(hanging.url(host=f"127.0.1.{n + 1}"), event=events[n // 20])
            server.add_hook(healthy.url(), "item.created")
            for event in events * 3:
                self.assertEqual(20, server.emit(event=event))
            self.eventually(lambda: len(in_progress()) == 120)

            def arrives_meanwhile(number):
                """Whether an event arrives while all of them hang, so that it has not waited for the end of one."""
                before = in_progress()
                server.emit(number, "item.created")
                self.assertEqual(number + 1, len(healthy.wait(number + 1)))
                return len(before) == 120 and in_progress() == before

            self.assertTrue(any(arrives_meanwhile(number) for number in range(20)))
            self.assertEqual({2}, set(collections.Counter(host for host, _ in in_progress()).values()), "at once to one host")


class Stopping(WebhookCase):
    def test_attempts_in_progress_finish_before_the_process_ends(self):
        stopping = threading.Event()

        def handle(request, connection):
            stopping.wait(harness.DEADLINE_SECONDS)
            connection.sendall(OK)

        with Receiver(handle) as receiver, webhook_server() as server:
            hook, _ = server.add_hook(receiver.url())
            server.emit()
            receiver.wait(1)
            server.signal(signal.SIGTERM)
            self.eventually(lambda: not server.is_listening())
            stopping.set()
            self.assertEqual(0, server.wait())
            self.assert_ended(server, hook, "delivered", 1)
            self.assertEqual(1, len(receiver.requests))

    def test_a_hanging_receiver_does_not_delay_the_stop(self):
        with webhook_server() as server, Receiver(hang) as receiver:
            server.add_hook(receiver.url())
            server.emit()
            receiver.wait(1)
            server.signal(signal.SIGTERM)
            self.assertEqual(0, server.wait())
            self.assertIn("connection closed early", server.errors.decode(), "it has not waited until the attempt timed out")


def write_keys(path, *keys):
    path.write_text("# created by a test\n" + "".join(f"{key}\n" for key in keys))
    path.chmod(0o600)
    return ["--secret-key-file", path]


class EncryptedSecrets(Case):
    """--secret-key-file: the store alone does not reveal the secrets of webhooks."""

    def stored(self, data):
        """Every byte of the store."""
        if not on_postgres:
            return b"".join(path.read_bytes() for path in data.glob("tollgate.db*"))
        return harness.postgres.query(flags_for(data)[-1], "SELECT secret FROM tollgate_hooks UNION ALL "
                                      "SELECT secret FROM tollgate_hook_secrets").encode()

    def test_secrets_are_encrypted_and_keys_rotated(self):
        first, second = "a" * 64, "b" * 64
        with temporary_directory() as directory, Receiver() as receiver:
            data, file = directory / "data", directory / "keys"

            def serve(*flags):
                return webhook_server(*flags, data=data)

            def arrives(server, secret):
                before = len(receiver.requests)
                server.emit()
                request = receiver.wait(before + 1)[before]
                self.assertEqual(signature_of(secret, request), request.fields["webhook-signature"])

            with serve() as server:
                _, secret = server.add_hook(receiver.url())
                arrives(server, secret)
                self.assertIn(secret[6:].encode(), self.stored(data))
            with serve(*write_keys(file, first)) as server:
                self.assertNotIn(secret[6:].encode(), self.stored(data), "secrets that were stored before are encrypted, too")
                _, other = server.add_hook(receiver.url(), event="site.published")
                self.assertNotIn(other[6:].encode(), self.stored(data))
                self.assertIn(b"aes256gcm.", self.stored(data))
                arrives(server, secret)
                self.assertNotIn(secret[6:].encode(), self.stored(data))
            with serve(*write_keys(file, second, first)) as server:
                arrives(server, secret)
            with serve(*write_keys(file, second)) as server:
                arrives(server, secret)
            for flags in ([], write_keys(file, first)):
                for command in (["serve", "--listen", "127.0.0.1:0"], ["check"]):
                    result = run_command(*command, *flags_for(data), *flags)
                    self.assertEqual((1, ""), (result.returncode, result.stdout))
                    self.assertIn("which is not among the" if flags else "and no key is given", result.stderr)
                    self.assertNotIn(first, result.stderr)
            self.assertEqual(0, run_command("check", *flags_for(data), *write_keys(file, second)).returncode)
            file.chmod(0o644)
            for path, line in (directory / "nowhere", "there is no file"), (file, "warning: --secret-key-file: other users can"):
                result = run_command("check", *flags_for(data), "--secret-key-file", path)
                self.assertEqual(1, result.stderr.count(line), result)

    def test_errors_in_the_key_file_are_reported(self):
        with temporary_directory() as directory:
            file = directory / "keys"
            for text, mentions in ((None, "no file"), ("", "contains no key"), ("x" * 64, "line 1"), ("a" * 64 + "\n" + "b" * 63, "line 2")):
                with self.subTest(text=text):
                    if text is not None:
                        file.write_text(text)
                    result = run_command("serve", *flags_for(directory / "data"), "--secret-key-file", file)
                    self.assertEqual((2, ""), (result.returncode, result.stdout))
                    self.assertRegex(result.stderr, rf"\A[^\n]*--secret-key-file: [^\n]*{mentions}[^\n]*\n\Z")
                    self.assertNotIn("b" * 63, result.stderr)
            result = run_command("serve", "--store", "memory:", *write_keys(file, "a" * 64))
            self.assertEqual(2, result.returncode)
            self.assertIn("--secret-key-file", result.stderr)
            file.chmod(0o644)
            with Server("--secret-key-file", file) as server:
                self.assertIn("warning: --secret-key-file: other users can access", server.log_after("warning"))
            file.chmod(0o600)
            with Server("--secret-key-file", file) as server:
                self.assertNotIn("warning", server.errors.decode())


if __name__ == "__main__":
    main()
