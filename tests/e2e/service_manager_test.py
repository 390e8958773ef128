#!/usr/bin/env python3
"""The interface to systemd: notifications, the watchdog, sockets that outlive a restart; and Unix domain sockets."""

import contextlib
import json
import os
import signal
import socket
import stat
import subprocess
import threading

import harness
from harness import DEADLINE_SECONDS, HIGH_LIMITS, Case, Connection, Server, encode, main, run_command, temporary_directory

HOSTS = ["--base-url", "http://api.example/v1", "--auth-url", "http://api.example"]


class Manager:
    """Acts as systemd: receives notifications, and passes a listening socket to each server that it starts."""

    def __init__(self, directory, abstract=False):
        self.name = f"@tollgate-e2e-{os.getpid()}" if abstract else str(directory / "notify")
        self.notify = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notify.bind(self.name.replace("@", "\0"))
        self.notify.settimeout(DEADLINE_SECONDS)
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.data = directory / "data"

    def notification(self):
        return self.notify.recv(4096).decode()

    def start(self, *flags, passing=None, environment=None, urls=HOSTS, stdout=subprocess.DEVNULL):
        """`passing`: sockets that the program gets as descriptors 3 and up, see sd_listen_fds(3)."""
        passing = [self.listener] if passing is None else passing

        def pass_sockets():  # runs in the child, as in systemd, between fork and exec
            for number, each in enumerate(passing):
                os.dup2(each.fileno(), 100 + number)
            for number in range(len(passing)):
                os.dup2(100 + number, 3 + number, inheritable=True)
                os.close(100 + number)

        set_pid = ["sh", "-c", 'export LISTEN_PID=$$; exec "$@"', "sh"]
        variables = {**os.environ, "NOTIFY_SOCKET": self.name, **(environment or {})}
        if passing:
            variables["LISTEN_FDS"] = str(len(passing))
        return subprocess.Popen([*set_pid, harness.program, "serve", "--plain", "--data", str(self.data), *urls, *HIGH_LIMITS,
                                 *map(str, flags)], env=variables, stdout=stdout, stderr=subprocess.PIPE,
                                close_fds=False, preexec_fn=pass_sockets)

    def close(self):
        self.notify.close()
        self.listener.close()


@contextlib.contextmanager
def manager(**settings):
    with temporary_directory() as directory:
        systemd = Manager(directory, **settings)
        try:
            yield systemd
        finally:
            systemd.close()


def wait_for_exit(process):
    """Waits for the end of a process. Returns its exit code and standard error."""
    try:
        errors = process.communicate(timeout=DEADLINE_SECONDS)[1]
    except subprocess.TimeoutExpired:
        process.kill()
        errors = process.communicate()[1]
    return process.returncode, errors.decode()


class Systemd(Case):
    def test_ready_and_stopping(self):
        for abstract in (False, True):
            with self.subTest(abstract=abstract), manager(abstract=abstract) as systemd:
                process = systemd.start()
                try:
                    self.assertEqual("READY=1", systemd.notification())
                    with Connection(systemd.listener.getsockname(), None) as connection:
                        self.assertEqual(200, connection.request("GET", "/v1/testservice/get", {"Host": "localhost"}).status)
                    process.send_signal(signal.SIGTERM)
                    self.assertEqual("STOPPING=1", systemd.notification())
                finally:
                    process.terminate()
                    code, errors = wait_for_exit(process)
                self.assertIn(code, (0, 1), errors)  # a second signal ends it at once

    def test_watchdog(self):
        with manager() as systemd:
            process = systemd.start(environment={"WATCHDOG_USEC": "100000"})
            try:
                self.assertEqual(["READY=1", "WATCHDOG=1", "WATCHDOG=1", "WATCHDOG=1"], [systemd.notification() for _ in range(4)])
            finally:
                process.send_signal(signal.SIGTERM)
                self.assertEqual(0, wait_for_exit(process)[0])
        with manager() as systemd:  # signals do not postpone it
            process = systemd.start(environment={"WATCHDOG_USEC": str(30 * 60 * 1_000_000)})
            try:
                self.assertEqual(["READY=1", "WATCHDOG=1"], [systemd.notification() for _ in range(2)])
                process.send_signal(signal.SIGHUP)
                self.assertEqual("WATCHDOG=1", systemd.notification())
            finally:
                process.send_signal(signal.SIGTERM)
                self.assertEqual(0, wait_for_exit(process)[0])
        with manager() as systemd:  # the watchdog is for another process
            process = systemd.start(environment={"WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
            self.assertEqual("READY=1", systemd.notification())
            process.send_signal(signal.SIGTERM)
            self.assertEqual("STOPPING=1", systemd.notification())
            self.assertEqual(0, wait_for_exit(process)[0])

    def test_a_restart_refuses_no_connection(self):
        with manager() as systemd:
            process = systemd.start()
            self.assertEqual("READY=1", systemd.notification())
            refused, responses, stop = [], [], threading.Event()

            def send_requests():
                while not stop.is_set():
                    try:
                        with Connection(systemd.listener.getsockname(), None) as connection:
                            response = connection.request("GET", "/v1/testservice/get", {"Host": "localhost"})
                        if response is not None:
                            responses.append(response.status)
                    except ConnectionRefusedError as error:
                        refused.append(error)
                    except OSError:
                        pass  # a server that stops may close a connection before its request: clients repeat the request

            clients = [threading.Thread(target=send_requests) for _ in range(4)]
            for each in clients:
                each.start()
            try:
                for _ in range(3):
                    process.send_signal(signal.SIGTERM)
                    self.assertEqual("STOPPING=1", systemd.notification())
                    self.assertEqual(0, wait_for_exit(process)[0])
                    process = systemd.start()
                    self.assertEqual("READY=1", systemd.notification())
                count = len(responses)
                self.eventually(lambda: len(responses) > count + 20)
            finally:
                stop.set()
                for each in clients:
                    each.join()
                process.send_signal(signal.SIGTERM)
                code, errors = wait_for_exit(process)
            self.assertEqual([], refused)
            self.assertEqual({200}, set(responses))
            self.assertEqual(0, code, errors)

    def test_a_descriptor_that_is_not_a_listening_socket(self):
        with manager() as systemd, socket.socket() as wrong:
            code, errors = wait_for_exit(systemd.start(passing=[wrong]))
            self.assertEqual(1, code)
            self.assertIn("not a listening socket", errors)
            code, errors = wait_for_exit(systemd.start(passing=[], environment={"LISTEN_FDS": "many"}))
            self.assertEqual((1, True), (code, "LISTEN_FDS" in errors), errors)

    def test_passed_sockets_require_urls(self):
        with manager() as systemd:
            for flags in ([], HOSTS[:2], HOSTS[2:]):
                with self.subTest(flags=flags):
                    code, errors = wait_for_exit(systemd.start(urls=flags))
                    self.assertEqual((2, True), (code, "--base-url" in errors), errors)

    def test_the_ready_line_names_passed_sockets(self):
        with manager() as systemd:
            process = systemd.start(stdout=subprocess.PIPE)
            try:
                address, port = systemd.listener.getsockname()
                self.assertEqual([f"{address}:{port}"], json.loads(process.stdout.readline())["listen"])
            finally:
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=DEADLINE_SECONDS)

    def test_sockets_for_another_process_are_ignored(self):
        with manager() as systemd:
            with Server(data=systemd.data, store="memory:",
                        environment={"LISTEN_FDS": "1", "LISTEN_PID": "1"}) as server:
                self.assertEqual(200, server.request("GET", "/v1/testservice/get").status)


class UnixSockets(Case):
    def server(self, path, *flags):
        """A server on a Unix domain socket, and on a port for the harness."""
        return Server("--listen", f"unix:{path}", *HIGH_LIMITS, *flags, store="memory:")

    def request(self, path, fields=()):
        with socket.socket(socket.AF_UNIX) as connection:
            connection.settimeout(DEADLINE_SECONDS)
            connection.connect(str(path))
            connection.sendall(encode("GET", "/v1/testservice/get", {"Connection": "close", **dict(fields)}))
            return b"".join(iter(lambda: connection.recv(4096), b""))

    def test_requests_and_the_file(self):
        with temporary_directory() as directory:
            path = directory / "tollgate.sock"
            with self.server(path) as server:
                self.assertIn(f"unix:{path}", server.ready["listen"])
                self.assertTrue(self.request(path).startswith(b"HTTP/1.1 200 "))
                self.assertEqual(0o660, stat.S_IMODE(path.stat().st_mode))
                self.assertIn("client=127.0.0.1", server.log_after("testservice"))
            self.assertFalse(path.exists(), "removed at the end")

    def test_the_file_of_another_server_is_not_removed(self):
        with temporary_directory() as directory:
            path = directory / "tollgate.sock"
            with self.server(path) as first:
                path.unlink()
                with self.server(path):
                    first.stop()
                    self.assertTrue(self.request(path).startswith(b"HTTP/1.1 200 "))

    def test_a_proxy_behind_it_names_its_clients_if_it_is_trusted(self):
        with temporary_directory() as directory:
            path = directory / "tollgate.sock"
            for flags, client in (((), "127.0.0.1"), (("--trusted-proxy", "127.0.0.1"), "192.0.2.9")):
                with self.server(path, *flags) as server:
                    self.assertTrue(self.request(path, {"X-Forwarded-For": "192.0.2.9"}).startswith(b"HTTP/1.1 200 "))
                    self.assertIn(f"client={client} ", server.log_after("testservice"))

    def test_a_stale_socket_file_is_replaced(self):
        with temporary_directory() as directory:
            path = directory / "tollgate.sock"
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(str(path))
            self.assertTrue(path.exists())
            with self.server(path):
                self.assertTrue(self.request(path).startswith(b"HTTP/1.1 200 "))

    def test_a_socket_file_in_use_is_not_replaced(self):
        with temporary_directory() as directory:
            path = directory / "tollgate.sock"
            with self.server(path):
                result = run_command("serve", "--plain", "--store", "memory:", "--data", str(directory / "other"), *HOSTS,
                                     "--listen", f"unix:{path}")
                self.assertEqual((1, True), (result.returncode, "in use" in result.stderr), result.stderr)
                self.assertTrue(self.request(path).startswith(b"HTTP/1.1 200 "), "the first server still responds")

    def test_another_file_is_not_replaced(self):
        with temporary_directory() as directory:
            path = directory / "file"
            path.write_text("data")
            result = run_command("serve", "--plain", "--store", "memory:", "--data", str(directory / "other"), *HOSTS,
                                 "--listen", f"unix:{path}")
            self.assertEqual((1, "data"), (result.returncode, path.read_text()), result.stderr)

    def test_a_unix_socket_alone_requires_urls(self):
        result = run_command("serve", "--plain", "--store", "memory:", "--listen", "unix:/tmp/x")
        self.assertEqual((2, True), (result.returncode, "--base-url" in result.stderr), result.stderr)
        for invalid in ("unix:", "unix:" + "x" * 108, "unix:a\nb"):
            result = run_command("serve", "--listen", invalid)
            self.assertEqual((2, True), (result.returncode, "--listen" in result.stderr), result.stderr)


if __name__ == "__main__":
    main()
