#!/usr/bin/env python3
"""Starting, listening, certificates, signals, the demo, the log, and bounds of connections and requests."""

import base64
import contextlib
import fcntl
import hashlib
import json
import os
import re
import resource
import signal
import select
import socket
import sqlite3
import ssl
import subprocess
import threading
import time
import warnings

import harness
from harness import ALL_SCOPES, HIGH_LIMITS, Case, Connection, Server, basic, concurrently, encode, main, reserve_port, \
    run_command, temporary_directory


def peer_certificate(server):
    with server.connect() as connection:
        return connection.socket.getpeercert(binary_form=True)


def make_certificate(directory, name, common_name):
    """A pair of PEM files, created by openssl."""
    certificate, key = directory / f"{name}.crt", directory / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                    "-days", "1", "-subj",
                    f"/CN={common_name}", "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


class Starting(Case):
    def test_the_ready_line(self):
        with Server(tls=True) as server:
            port = server.address[1]
            self.assertEqual({"ready": True, "api": f"https://127.0.0.1:{port}/v1", "auth": f"https://127.0.0.1:{port}",
                              "pid": server.process.pid}, server.ready)
            self.assertEqual(["ready", "api", "auth", "pid"], list(server.ready))

    def test_only_the_owner_can_read_the_data_directory(self):
        with temporary_directory() as parent, Server("--demo", data=parent / "made" / "here", tls=True) as server:
            self.assertEqual(0o700, server.data.stat().st_mode & 0o777)
            for name in ("self-signed.crt", "self-signed.key", "tollgate.db", "demo.json"):
                self.assertEqual(0o600, (server.data / name).stat().st_mode & 0o777, name)

    def test_several_addresses_ipv4_and_ipv6(self):
        with Server("--listen", "[::1]:0", "--listen", "127.0.0.2:0", store="memory:", tls=True) as server:
            self.assertEqual(["ready", "api", "auth", "pid", "listen"], list(server.ready))
            self.assertEqual(f"https://{server.ready['listen'][0]}", server.ready["auth"])
            entries = [each.rpartition(":") for each in server.ready["listen"]]
            self.assertEqual(["127.0.0.1", "[::1]", "127.0.0.2"], [host for host, _, _ in entries], "in the order given")
            for host, _, port in entries:
                with Connection((host.strip("[]"), int(port)), server.tls) as connection:
                    self.assert_json(connection.request("GET", "/v1/testservice/get"))

    def test_a_free_port_is_reported_once(self):
        """The URLs contain it, unless both URLs are configured."""
        api, auth = ["--base-url", "https://api.example.com/v1"], ["--auth-url", "https://example.com"]
        for flags, listed in (([], False), (api, False), (auth, False), ([*api, *auth], True)):
            with self.subTest(flags=flags), temporary_directory() as data:
                words = [harness.program, "serve", "--plain", "--store", "memory:", "--data", data, "--listen",
                         "127.0.0.1:0", *flags]
                with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
                    try:
                        ready = json.loads(process.stdout.readline())
                        self.assertEqual(listed, "listen" in ready, ready)
                        urls = [each for each in (ready["api"], ready["auth"]) if "example.com" not in each]
                        (port,) = {int(re.search(r"127\.0\.0\.1:(\d+)", each)[1])
                                   for each in [*urls, *ready.get("listen", [])]}
                        path = "/v1/testservice/get"
                        with Connection(("127.0.0.1", port)) as connection:
                            self.assert_json(connection.request("GET", path))
                    finally:
                        process.terminate()

    def test_a_port_in_use(self):
        with Server(store="memory:") as first:
            result = run_command("serve", "--plain", "--store", "memory:", "--data", first.data, "--listen",
                                 f"127.0.0.1:{first.address[1]}")
            self.assertEqual((1, ""), (result.returncode, result.stdout))
            self.assertRegex(result.stderr, r"\A[^\n]+\n\Z")
            self.assertIn(str(first.address[1]), result.stderr)

    def test_the_port_is_free_again(self):
        public = ["--base-url", "https://api.example.com/v1", "--auth-url", "https://example.com"]
        with reserve_port() as reserved:
            for flags in ([], public):
                with Server(*flags, store="memory:", listen=f"127.0.0.1:{reserved.getsockname()[1]}") as server, \
                        server.connect() as connection:
                    self.assertNotIn("listen", server.ready, "the only port was chosen by the caller")
                    self.assert_json(connection.request("GET", "/v1/testservice/get"))
                    server.stop()

    def test_public_addresses(self):
        with Server("--base-url", "https://api.example.com/account/v1", "--auth-url", "https://example.com/auth",
                    store="memory:") as server:
            port = server.address[1]
            self.assertEqual(("https://api.example.com/account/v1", "https://example.com/auth"),
                             (server.ready["api"], server.ready["auth"]))
            with server.connect() as connection:
                self.assert_json(connection.request("GET", "/account/v1/testservice/get"))
                missing = connection.request("GET", "/v1/testservice/get")
                self.assert_error(missing, 404)
                for host in ("api.example.com", "API.example.com:443", "example.com", f"127.0.0.1:{port}", "localhost"):
                    self.assert_json(connection.request("GET", "/account/v1/testservice/get", {"Host": host}))
                for host in ("evil.example", "api.example.com.evil.example", "api.example.com.", "192.0.2.1"):
                    for path in ("/account/v1/testservice/get", "/auth/en/user/sign_in/", "/auth/.well-known/x"):
                        self.assert_error(connection.request("GET", path, {"Host": host}), 421)
                self.assertTrue(missing.json()["documentation_url"].startswith("https://example.com/auth/docs/"))
                self.assertEqual(200, connection.request("GET", "/auth/docs/").status)

    def test_the_address_of_the_connection_is_a_host_for_reads(self):
        with Server("--base-url", "https://api.example.com/v1", "--auth-url", "https://api.example.com", store="memory:",
                    listen="0.0.0.0:0") as server:
            with Connection(("127.0.0.2", server.address[1])) as connection:
                response = connection.request("GET", "/.well-known/oauth-authorization-server", {"Host": "127.0.0.2"})
                self.assertEqual((200, "https://api.example.com"), (response.status, response.json()["issuer"]))
                self.assert_error(connection.request("GET", "/v1/testservice/get", {"Host": "127.0.0.3"}), 421)
                self.assert_error(connection.request("POST", "/v1/testservice/post", {"Host": "127.0.0.2"}, {}), 421)

    def test_two_servers_on_one_store(self):
        with Server(*HIGH_LIMITS) as first, Server(*HIGH_LIMITS, data=first.data) as second:
            user = first.add_user("both")
            token, number = first.add_token(user)
            account = first.add_account(user, "sitesmaker")
            for server in (first, second):
                self.assert_json(server.balance(token))
            created = self.assert_json(first.request("POST", f"/v1/sitesmaker/{account}/hooks", token=token,
                                                     body={"event": "site.created", "target_url": "https://example.com/"}),
                                       201)
            self.assertEqual([created["id"]],
                             [hook["id"] for hook in second.request("GET", f"/v1/sitesmaker/{account}/hooks",
                                                                    token=token).json()])
            first.run("token", "revoke", "--id", number)
            for server in (first, second):
                self.assert_error(server.balance(token), 401)


class Certificates(Case):
    def test_the_self_signed_certificate_is_valid_for_its_names_and_kept(self):
        with temporary_directory() as data:
            fingerprints = []
            for _ in range(2):
                with Server(data=data, store="memory:", tls=True) as server:
                    fingerprints.append(hashlib.sha256(peer_certificate(server)).hexdigest())
                    for name in ("localhost", "127.0.0.1", "::1"):
                        with socket.create_connection(server.address) as raw:
                            server.tls.wrap_socket(raw, server_hostname=name).close()
                    with self.assertRaises(ssl.SSLCertVerificationError):
                        with socket.create_connection(server.address) as raw:
                            server.tls.wrap_socket(raw, server_hostname="example.com")
            self.assertEqual(*fingerprints)

    def test_a_broken_or_incomplete_pair_is_created_again(self):
        with temporary_directory() as data:
            (data / "self-signed.crt").write_text("nonsense")
            with Server(data=data, store="memory:", tls=True) as server:
                first = peer_certificate(server)
            (data / "self-signed.key").unlink()
            with Server(data=data, store="memory:", tls=True) as server:
                self.assertNotEqual(first, peer_certificate(server))

    def test_it_is_no_certificate_authority_and_one_that_is_gets_replaced(self):
        with temporary_directory() as data:
            # As earlier versions created it.
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                            "/CN=localhost", "-days", "365", "-addext", "basicConstraints=critical,CA:TRUE", "-keyout",
                            data / "self-signed.key", "-out", data / "self-signed.crt"], check=True, capture_output=True)
            with Server(data=data, store="memory:", tls=True) as server:
                self.assertEqual(200, server.request("GET", "/v1/testservice/get").status)
            text = subprocess.run(["openssl", "x509", "-in", data / "self-signed.crt", "-noout", "-text"], check=True,
                                  capture_output=True, text=True).stdout
            self.assertIn("CA:FALSE", text)
            self.assertNotIn("Certificate Sign", text)

    def test_versions(self):
        with Server(store="memory:", tls=True) as server:
            versions = ssl.TLSVersion
            for version, ok in ((versions.TLSv1_2, True), (versions.TLSv1_3, True), (versions.TLSv1_1, False)):
                context = ssl.create_default_context(cafile=str(server.data / "self-signed.crt"))
                context.set_ciphers("DEFAULT@SECLEVEL=0")
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", DeprecationWarning)  # 1.1 is tried because it is deprecated
                    context.minimum_version = context.maximum_version = version
                if ok:
                    with Connection(server.address, context) as connection:
                        self.assertEqual(200, connection.request("GET", "/v1/testservice/get").status)
                else:
                    with self.assertRaises((ssl.SSLError, ConnectionError)):
                        Connection(server.address, context)

    def test_sighup_does_not_wait_forever_for_a_process_that_keeps_the_directory_locked(self):
        with temporary_directory() as data, Server(data=data, store="memory:", tls=True) as server:
            first = peer_certificate(server)
            lock = os.open(data, os.O_RDONLY)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX)
                server.signal(signal.SIGHUP)
                self.assertIn("the old certificate remains in use: another process has locked", server.log_after("SIGHUP"))
                self.assertEqual(first, peer_certificate(server))
                server.signal(signal.SIGTERM)
                self.assertEqual(0, server.process.wait(30), "it ends while the directory is locked")
            finally:
                os.close(lock)

    def test_a_reload_that_waits_does_not_delay_the_watchdog(self):
        with temporary_directory() as data, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as manager:
            manager.bind(str(data / "notify"))
            manager.settimeout(harness.DEADLINE_SECONDS)
            environment = {"NOTIFY_SOCKET": str(data / "notify"), "WATCHDOG_USEC": "20000"}
            with Server(data=data, store="memory:", tls=True, environment=environment) as server:
                self.assertEqual(b"READY=1", manager.recv(100))
                lock = os.open(data, os.O_RDONLY)
                try:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    server.signal(signal.SIGHUP)
                    for _ in range(100):
                        self.assertEqual(b"WATCHDOG=1", manager.recv(100))
                    self.assertNotIn(b"SIGHUP", server.errors, "the reload has ended")
                finally:
                    os.close(lock)
                server.log_after("SIGHUP")

    def test_sighup_reloads_the_certificate_and_keeps_the_old_one_if_that_fails(self):
        with temporary_directory() as directory:
            certificate, key = make_certificate(directory, "pair", "first")
            flags = ["--tls-cert", certificate, "--tls-key", key]
            with Server(*flags, store="memory:", tls=True, trusted=False) as server:
                def current_certificate():
                    return ssl.DER_cert_to_PEM_cert(peer_certificate(server))

                first = certificate.read_text()
                self.assertEqual(first, current_certificate())
                with server.connect() as before:
                    before.request("GET", "/v1/testservice/get")
                    make_certificate(directory, "pair", "second")
                    server.signal(signal.SIGHUP)
                    self.eventually(lambda: current_certificate() == certificate.read_text())
                    self.assertEqual(200, before.request("GET", "/v1/testservice/get").status,
                                     "an open connection still works")
                second = certificate.read_text()
                key.write_text("nonsense")
                server.signal(signal.SIGHUP)
                self.assertIn("SIGHUP", server.log_after("SIGHUP"))
                self.assertEqual(second, current_certificate())

    def test_a_failed_reload_is_a_problem_and_is_counted(self):
        with temporary_directory() as directory:
            certificate, key = make_certificate(directory, "pair", "first")
            ticket_keys = directory / "ticket-keys"
            ticket_keys.write_text(base64.b64encode(bytes(32)).decode() + "\n")
            with Server("--tls-cert", certificate, "--tls-key", key, "--tls-ticket-keys", ticket_keys, "--admin-listen",
                        "127.0.0.1:0", store="memory:", tls=True, trusted=False) as server:
                failures = lambda: server.metrics()["tollgate_reload_failures_total"]  # noqa: E731
                expiry = server.metrics()["tollgate_certificate_expires_at_seconds"]
                self.assertGreater(expiry, time.time())
                self.assertEqual(0, failures())
                ticket_keys.write_text("nonsense")
                server.signal(signal.SIGHUP)
                self.eventually(lambda: failures() == 1)
                key.write_text("nonsense")
                server.signal(signal.SIGHUP)
                self.eventually(lambda: failures() == 2)
                self.assertEqual(expiry, server.metrics()["tollgate_certificate_expires_at_seconds"])
                kept = "the old certificate remains in use: "
                self.assertIn("problem: SIGHUP: " + kept, server.log_after(kept))

    def test_an_invalid_pair(self):
        with temporary_directory() as directory:
            certificate, _ = make_certificate(directory, "one", "one")
            _, other_key = make_certificate(directory, "two", "two")
            for pair in ((certificate, other_key), (certificate, directory / "nowhere"),
                         (directory / "nowhere", other_key)):
                result = run_command("serve", "--store", "memory:", "--data", directory / "d", "--listen", "127.0.0.1:0",
                                     "--tls-cert", pair[0], "--tls-key", pair[1])
                self.assertEqual((2, ""), (result.returncode, result.stdout), result)
                self.assertRegex(result.stderr, r"\A[^\n]*--tls-(cert|key)[^\n]+\n\Z")
                self.assertNotIn("unknown", result.stderr)

    def test_an_endless_file_and_a_pipe_without_a_writer_are_refused(self):
        with temporary_directory() as directory:
            certificate, key = make_certificate(directory, "one", "one")
            fifo = directory / "fifo"
            os.mkfifo(fifo)
            for flag in ("--tls-cert", "--tls-key", "--tls-ticket-keys", "--secret-key-file", "--config"):
                for file in (fifo, "/dev/zero"):
                    with self.subTest(flag=flag, file=file):
                        files = {"--tls-cert": certificate, "--tls-key": key, flag: file}
                        result = run_command("serve", "--data", directory / "d", "--listen", "127.0.0.1:0",
                                             *(each for pair in files.items() for each in pair))
                        self.assertEqual((2, ""), (result.returncode, result.stdout), result)
                        self.assertRegex(result.stderr, rf"\A[^\n]*{flag}[^\n]*{file}[^\n]*\n\Z")

    def test_a_shell_may_pass_files_as_pipes(self):
        with temporary_directory() as directory:
            certificate, key = make_certificate(directory, "one", "one")
            command = """exec "$0" serve --data "$1" --listen 127.0.0.1:0 --tls-cert <(cat "$2") --tls-key <(cat "$3") \
                --tls-ticket-keys <(openssl rand -base64 32) --secret-key-file <(openssl rand -hex 32) --config <(echo '{"log": "off"}')"""
            with subprocess.Popen(["bash", "-c", command, harness.program, directory / "d", certificate, key],
                                  stdout=subprocess.PIPE, text=True) as process:
                try:
                    self.assertTrue(json.loads(process.stdout.readline())["ready"])
                finally:
                    process.terminate()

    def test_plain_http_to_a_tls_port(self):
        with Server(store="memory:", tls=True) as server:
            with Connection(server.address) as connection:
                connection.send(encode("GET", "/v1/testservice/get"))
                self.assert_error(connection.read(), 400, "TLS")
            self.assert_json(server.request("GET", "/v1/testservice/get"))


class Signals(Case):
    def test_each_signal_ends_the_server_with_exit_code_0(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            for tls in (False, True):
                with Server(tls=tls) as server:
                    with server.connect() as idle:
                        idle.request("GET", "/v1/testservice/get")
                        server.signal(number)
                        self.assertEqual(0, server.wait())
                        self.assertTrue(idle.ended())

    def test_requests_in_flight_finish_and_no_new_ones_are_accepted(self):
        with Server("--demo", *HIGH_LIMITS, store="memory:") as server, server.connect() as connection, server.connect() as idle:
            self.assert_json(idle.request("GET", "/v1/testservice/get"))
            request = encode("POST", "/v1/testservice/post", {"Content-Type": "application/json"},
                             b'{"a": "' + b"x" * 1000 + b'"}')
            connection.send(encode("GET", "/v1/testservice/get") + request[:-500])
            self.assert_json(connection.read())  # so the server has received the beginning of the second request, too
            server.signal(signal.SIGTERM)
            self.eventually(lambda: not server.is_listening())
            self.assertTrue(idle.ended(), "an idle connection does not delay the stop")
            self.assertIsNone(server.process.poll(), "the server waits for the request")
            connection.send(request[-500:])
            response = connection.read()
            self.assert_json(response)
            self.assertEqual("close", response.get("Connection"))
            self.assertTrue(connection.ended())
            self.assertEqual(0, server.wait())

    def test_while_the_server_stops_no_request_is_lost(self):
        for tls in (False, True):
            with self.subTest(tls=tls), \
                    Server("--shutdown-grace", "3000", "--admin-listen", "127.0.0.1:0", store="memory:", tls=tls) as server, \
                    server.connect() as kept, server.connect() as idle:
                for each in (kept, idle):
                    self.assertIsNone(each.request("GET", "/v1/testservice/get").get("Connection"))
                self.eventually(lambda: server.admin("/readyz").status == 200)
                server.signal(signal.SIGTERM)
                self.eventually(lambda: server.admin("/readyz").status == 503)
                self.assertEqual({"ready": False, "failing": ["stopping"]}, server.admin("/readyz").json())
                self.assertEqual(200, server.admin("/healthz").status)
                self.eventually(lambda: server.request("GET", "/v1/testservice/get").get("Connection") == "close")
                response = kept.request("GET", "/v1/testservice/get")
                self.assertEqual((200, "close"), (response.status, response.get("Connection")))
                self.assertTrue(kept.ended())
                self.assertIsNone(server.process.poll())
                server.signal(signal.SIGTERM)
                self.assertEqual(1, server.wait())
                self.assertTrue(idle.ended())

    def test_a_second_signal_ends_the_server_at_once(self):
        with Server(store="memory:") as server, server.connect() as connection:
            connection.send(encode("GET", "/v1/testservice/get") + b"POST /v1/testservice/post HTTP/1.1\r\nHost: x\r\n")
            self.assert_json(connection.read())  # so the server has received the beginning of the second request, too
            server.signal(signal.SIGTERM)
            self.eventually(lambda: not server.is_listening())
            self.assertIsNone(server.process.poll())
            server.signal(signal.SIGINT)
            self.assertEqual(1, server.wait())


class Demo(Case):
    NAMES = ["login", "password", "token_username", "token_secret", "sitesmaker_account", "itemplatform_account"]

    def assert_works(self, server):
        self.assertEqual(["ready", "api", "auth", "pid", "demo"], list(server.ready))
        self.assertEqual(self.NAMES, list(server.demo))
        balance = self.assert_json(server.balance(server.demo_token))
        self.assertEqual("EUR", balance["currency"])
        for service in ("sitesmaker", "itemplatform"):
            (account,) = self.assert_json(server.request("GET", f"/v1/{service}/accounts", token=server.demo_token))
            self.assertEqual(server.demo[service + "_account"], account["id"])

    def test_the_demo_is_created_once(self):
        with temporary_directory() as data:
            demos = []
            for _ in range(3):
                with Server("--demo", data=data) as server:
                    self.assert_works(server)
                    demos.append(server.demo)
            self.assertEqual(demos[:1] * 3, demos)
            with Server(data=data) as server:
                self.assertNotIn("demo", server.ready)
                pair = basic(demos[0]["token_username"], demos[0]["token_secret"])
                self.assert_json(server.balance(pair))

    def test_missing_parts_are_created_again(self):
        with temporary_directory() as data:
            with Server("--demo", data=data) as server:
                first = server.demo
                server.run("token", "revoke", "--id", 1)
            with Server("--demo", data=data) as server:
                self.assert_works(server)
                self.assertNotEqual(first["token_secret"], server.demo["token_secret"])
                second = server.demo
                self.assertEqual((first["login"], first["sitesmaker_account"]),
                                 (second["login"], second["sitesmaker_account"]), "the user and its accounts are the same")
            (data / "demo.json").unlink()
            with Server("--demo", data=data) as server:
                self.assert_works(server)
                self.assertRegex(server.demo["login"], r"\Ademo-[a-z2-9]{5}\Z", "without demo.json the user `demo` may be anybody's")
                pair = basic(second["token_username"], second["token_secret"])
                self.assert_json(server.balance(pair))

    def test_a_damaged_file_is_reported_and_kept(self):
        with temporary_directory() as data:
            with Server("--demo", data=data) as server:
                first = server.demo
            file = data / "demo.json"
            whole = file.read_text()
            for damaged in ("", "{", "[]", "{}", whole[:-10], whole + "x", json.dumps({**first, "password": 1}),
                            json.dumps({**first, "sitesmaker_account": 0}), json.dumps({**first, "elsewhere": [{}]})):
                file.write_text(damaged)
                result = run_command("serve", "--plain", "--demo", *server.store_flags, "--listen", "127.0.0.1:0")
                self.assertEqual((1, ""), (result.returncode, result.stdout), (damaged, result))
                self.assertRegex(result.stderr, rf"\A[^\n]*'{re.escape(str(file))}' is damaged[^\n]*\n\Z")
                self.assertNotIn(first["password"], result.stderr)
                self.assertEqual(damaged, file.read_text())
            file.write_text(whole)
            with Server("--demo", data=data) as server:
                self.assertEqual(first, server.demo)

    def test_an_existing_user_of_that_name_is_not_changed(self):
        for login in ("demo", "DEMO"):
            with self.subTest(login=login), temporary_directory() as data:
                def hash_of_the_user():
                    with contextlib.closing(sqlite3.connect(data / "tollgate.db")) as opened:
                        (row,) = opened.execute("SELECT password_hash FROM directory_users WHERE login = ?", [login])
                        tokens = opened.execute("SELECT count(*) FROM tollgate_personal_tokens WHERE user_id = 1").fetchone()
                        return row + tokens
                words = ["user", "add", "--login", login, "--password-stdin", "--data", data]
                self.assertEqual(0, run_command(*words, stdin="somebody else's\n").returncode)
                # The file names a user `demo` of another store.
                with Server("--demo", data=data, store=f"sqlite:{data}/other.db") as server:
                    self.assertEqual("demo", server.demo["login"])
                demos = []
                for _ in range(2):
                    with Server("--demo", data=data, store=f"sqlite:{data}/tollgate.db") as server:
                        self.assert_works(server)
                        self.assertRegex(server.demo["login"], r"\Ademo-[a-z2-9]{5}\Z")
                        demos.append((server.demo, hash_of_the_user()))
                self.assertEqual(*demos)
                self.assertEqual(0, demos[0][1][1], "the existing user has no token")

    def test_each_store_has_a_demo(self):
        with temporary_directory() as data:
            def demo_at(name):
                with Server("--demo", data=data, store=f"sqlite:{data}/{name}.db") as server:
                    self.assert_works(server)
                    return server.demo

            first, other = demo_at("tollgate"), demo_at("other")
            self.assertNotEqual(first["token_secret"], other["token_secret"])
            self.assertEqual([first, other, other, first], [demo_at(name) for name in ("tollgate", "other", "other",
                                                                                       "tollgate")])
            stored = json.loads((data / "demo.json").read_text())
            self.assertEqual([other], stored.pop("elsewhere"))
            self.assertEqual(first, stored, "the demo that was used last is at the top level")
            (data / "demo.json").write_text(json.dumps(other))  # the format of older releases
            self.assertEqual(other, demo_at("other"))
            # The demos of the stores that were used least recently are dropped.
            others = [{**other, "token_username": f"x{number}"} for number in range(40)]
            (data / "demo.json").write_text(json.dumps({**other, "elsewhere": [*others, first]}))
            self.assertNotEqual(first, demo_at("tollgate"))
            self.assertEqual(15, len(json.loads((data / "demo.json").read_text())["elsewhere"]))

    def test_a_store_in_memory_writes_no_file(self):
        with temporary_directory() as data:
            secrets = set()
            for _ in range(2):
                with Server("--demo", data=data, store="memory:") as server:
                    self.assert_works(server)
                    secrets.add(server.demo["token_secret"])
            self.assertEqual(2, len(secrets))
            self.assertEqual([], list(data.iterdir()))

    def test_several_first_starts_at_once_agree(self):
        with temporary_directory() as data:
            servers = []
            starters = [threading.Thread(target=lambda: servers.append(Server("--demo", *HIGH_LIMITS, data=data, tls=True)))
                        for _ in range(4)]
            for starter in starters:
                starter.start()
            for starter in starters:
                starter.join()
            try:
                self.assertEqual(4, len(servers))
                self.assertEqual([servers[0].demo] * 4, [server.demo for server in servers])
                for server in servers:
                    self.assert_works(server)
            finally:
                for server in servers:
                    server.stop()

    def test_with_other_users(self):
        with Server("--demo", *HIGH_LIMITS) as server:
            user = server.add_user("second")
            self.assertEqual(2, user)
            token, _ = server.add_token(user, ALL_SCOPES)
            self.assertEqual([], self.assert_json(server.request("GET", "/v1/sitesmaker/accounts", token=token)))
            refused = server.request("GET", f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks", token=token)
            self.assert_error(refused, 404)


class Log(Case):
    def test_one_line_per_request(self):
        for form in ("text", "json"):
            with Server("--demo", "--log", form, *HIGH_LIMITS, "--base-url", "https://api.example.com/v1",
                        store="memory:") as server:
                response = server.request("GET", "/v1/user/balance?x=1",
                                          {"X-Request-Id": "job-7", "traceparent": f"00-{'a' * 32}-{'b' * 16}-01"},
                                          token=server.demo_token)
                self.assertEqual("job-7", response.get("X-Request-Id"))
                server.request("GET", "/nowhere", {"User-Agent": 'quoted " agent', "X-Request-Id": "job-8"})
                with server.connect() as connection:
                    connection.send(b"nonsense\r\n\r\n")
                    refused_id = connection.read().get("X-Request-Id")
                server.request("GET", "/v1/user/balance", {"Host": "other.example", "X-Request-Id": "job-9"})
                server.signal(signal.SIGTERM)
                server.wait()
                lines = server.errors.decode().splitlines()
                self.assertEqual(4, len(lines), lines)
                if form == "json":
                    entries = [json.loads(line) for line in lines]
                    self.assertEqual([200, 404, 400, 421], [each["status"] for each in entries])
                    self.assertEqual(("GET", "/user/balance", "/v1/user/balance", 1, 1, "127.0.0.1", "job-7", "a" * 32),
                                     tuple(entries[0][name] for name in ("method", "route", "path", "user", "token", "client",
                                                                         "request_id", "trace_id")))
                    self.assertEqual(("", 'quoted " agent'), (entries[1]["route"], entries[1]["agent"]))
                    self.assertEqual("job-8", entries[1]["request_id"])
                    for each in entries:
                        self.assertGreaterEqual(each["duration_ms"], 0)
                        self.assertRegex(each["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
                        self.assertRegex(each["trace_id"], "^[0-9a-f]{32}$")
                    self.assertEqual(entries[2]["request_id"], refused_id)
                    self.assertTrue({"method", "path"}.isdisjoint(entries[2]))
                    self.assertEqual(("GET", "/v1/user/balance", "job-9"),
                                     tuple(entries[3][name] for name in ("method", "path", "request_id")))
                    self.assertIn("host", entries[3]["reason"])
                else:
                    for line, expected in zip(lines, ("GET /user/balance 200", "GET - 404", "refused 400", "GET - 421")):
                        self.assertRegex(line, rf"^\d{{4}}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{{3}}Z {expected} [0-9.]+ms client=127\.0\.0\.1 ")
                    self.assertIn(" user=1 token=1 request=job-7 trace=" + "a" * 32, lines[0])
                    self.assertIn(" request=" + refused_id, lines[2])
                    self.assertRegex(lines[3], ' request=job-9 .* reason="[^"]*host[^"]*" path=/v1/user/balance agent=')

    def test_a_secret_that_a_client_misplaced_is_masked(self):
        token, shorter = "tga_" + "Ab1" * 16 + "z", "tgp_" + "x" * 48
        digits, base64 = token[4:], "MNyJ+/x9" * 5 + "Zm8="
        cases = {  # what a client sends, and what is shown of it
            token: "tga_***",
            f"{token}/{token}x/{shorter}": f"tga_***/tga_***x/{shorter}",
            f"tga%5F{digits}": "tga%5F***",
            f"tga%5f{digits}": "tga%5f***",
            f"%74%67%61%5F{digits}/": "%74%67%61%5F***/",
            f"t%67%61_{digits}-": "t%67%61_***-",
            f"tga%255F{digits}": "tga%255F***",
            f"tga_%41{digits[1:]}": "tga_***",
            f"whsec_{base64}": "whsec_***",
            f"whsec_{base64},whsec_{base64}": "whsec_***,whsec_***",
            "whsec_MNyJ%2B%2f-_%3D,": "whsec_***,",
            "whsec%5FMNyJ": "whsec%5F***",
            "%77h%73ec_MNyJ": "%77h%73ec_***",
            # not secrets
            **{each: each for each in (shorter, "tgu_" + "x" * 22, "tgp%5F" + "x" * 48, "tga%5G" + digits, "tgP_" + digits, "tga%" + digits,
                                       "tga%5", "tga%25", "whsec_", "whsec_,x", "WHSEC_x", "50%25_tg")},
        }
        for form in ("text", "json"):
            with Server("--log", form, store="memory:") as server:
                for sent in cases:
                    server.request("GET", f"/v1/{sent}", {"User-Agent": f"agent {sent}", "X-Request-Id": f"id-{sent}"})
                server.signal(signal.SIGTERM)
                server.wait()
                lines = server.errors.decode().splitlines()
                for (sent, shown), line in zip(cases.items(), lines, strict=True):
                    with self.subTest(form=form, sent=sent):
                        parts = json.loads(line) if form == "json" else {
                            "path": re.search(" path=(.*) agent=", line)[1], "agent": re.search(' agent="(.*)"$', line)[1],
                            "request_id": re.search(" request=(.*) trace=", line)[1]}
                        self.assertEqual((f"/v1/{shown}", f"agent {shown}"), (parts["path"], parts["agent"]))
                        if re.fullmatch("[A-Za-z0-9_]+", sent):
                            self.assertEqual(f"id-{shown}", parts["request_id"])
                        if sent != shown:
                            self.assertNotIn(digits[1:], line)
                            self.assertNotIn("MNyJ", line)

    def test_off(self):
        with Server("--log", "off", store="memory:") as server:
            server.request("GET", "/v1/testservice/get")
            server.signal(signal.SIGTERM)
            server.wait()
            self.assertEqual(b"", server.errors)

    def test_no_secrets_and_no_lines_injected_by_clients(self):
        for form in ("text", "json"):
            with Server("--demo", "--log", form, *HIGH_LIMITS) as server:
                secret = server.demo["token_secret"]
                pair = server.demo_token.split()[1]
                account = server.demo["sitesmaker_account"]
                server.request("GET", f"/v1/user/balance?access_token={secret}", token=server.demo_token)
                server.request("GET", "/v1/user/balance",
                               {"Cookie": secret, "X-Api-Key": secret, "Referer": f"http://x/?t={secret}"},
                               token="Bearer " + secret)
                created = server.request("POST", f"/v1/sitesmaker/{account}/hooks", token=server.demo_token,
                                         body={"event": "site.created", "target_url": f"https://example.com/?key={secret}"})
                server.request("GET", "/v1/%0a%1b", {"User-Agent": "\x1b[2J\xc2\x9b\xe2\x80\xa8\xe2\x80\xa9"})
                server.request("GET", "/" + "x" * 5000)
                with server.connect() as connection:
                    connection.send(f"GET /v1/?{secret}\x1b HTTP/1.1\r\n{secret}\r\n\r\n".encode())
                    connection.read()
                other, _ = server.add_token(server.add_user("other"))
                server.balance(other)
                server.signal(signal.SIGTERM)
                server.wait()
                text = server.errors.decode()
                for hidden in (secret, pair, other.split()[1], created.get("X-Hook-Secret"), "access_token",
                               server.demo["password"], "a password"):
                    self.assertNotIn(hidden, text)
                self.assertNotRegex(text, "[\x00-\x09\x0b-\x1f\x7f-\x9f]")
                self.assertEqual(7, len(text.splitlines()), text)
                self.assertLess(max(map(len, text.splitlines())), 1500)

    @contextlib.contextmanager
    def full_pipe(self, *flags, tls=None):
        """Starts a server and fills the pipe of its standard error. Gives the process, its address, and the read end of the pipe."""
        read_end, write_end = os.pipe()
        with temporary_directory() as data:
            process = subprocess.Popen([harness.program, "serve", "--listen", "127.0.0.1:0", "--data", data, "--store", "memory:",
                                        *HIGH_LIMITS, *map(str, flags), *([] if tls else ["--plain"])],
                                       stdout=subprocess.PIPE, stderr=write_end)
            os.close(write_end)
            try:
                address = ("127.0.0.1", int(json.loads(process.stdout.readline())["auth"].rsplit(":", 1)[1]))
                with Connection(address, tls) as connection:
                    for _ in range(100):
                        connection.send(encode("GET", "/" + "x" * 400, {"User-Agent": "y" * 120}) * 50)
                        for _ in range(50):
                            self.assertEqual(404, connection.read().status)
                yield process, address, read_end
            finally:
                process.kill()
                process.wait()
                process.stdout.close()
                os.close(read_end)

    def assert_stops(self, process):
        process.send_signal(signal.SIGTERM)
        self.assertEqual(0, process.wait(harness.DEADLINE_SECONDS))

    def test_a_pipe_without_a_reader_delays_neither_requests_nor_the_stop(self):
        with self.full_pipe() as (process, _, _):
            self.assert_stops(process)

    def test_a_slow_reader_does_not_delay_the_stop(self):
        with self.full_pipe() as (process, _, read_end):
            sizes = []

            def read_slowly():
                while process.poll() is None:
                    sizes.append(len(os.read(read_end, select.PIPE_BUF)))
                    time.sleep(0.05)

            reader = threading.Thread(target=read_slowly)
            reader.start()
            process.send_signal(signal.SIGTERM)
            self.assertEqual(0, process.wait(harness.DEADLINE_SECONDS))
            reader.join()
            self.assertLess(sum(sizes), 512 * 1024, "more than a megabyte of log lines was queued")

    def test_warnings_do_not_wait_for_the_reader(self):
        with self.full_pipe("--threads", "1") as (process, address, _), contextlib.ExitStack() as opened:
            before = opened.enter_context(Connection(address))
            self.assertEqual(404, before.request("GET", "/v1/nowhere").status)
            used = max(map(int, os.listdir(f"/proc/{process.pid}/fd"))) + 1
            resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (used, used))
            statuses = []
            while 503 not in statuses:
                statuses.append(opened.enter_context(Connection(address)).request("GET", "/v1/nowhere").status)
            self.assertEqual(404, before.request("GET", "/v1/nowhere").status)
            self.assert_stops(process)

    def test_a_failed_reload_does_not_wait_for_the_reader(self):
        with temporary_directory() as directory:
            certificate, key = make_certificate(directory, "pair", "first")
            context = ssl.create_default_context(cafile=certificate)
            context.check_hostname = False
            with self.full_pipe("--tls-cert", certificate, "--tls-key", key, tls=context) as (process, _, _):
                key.write_text("nonsense")
                process.send_signal(signal.SIGHUP)  # handled before SIGTERM: it has the lower number
                self.assert_stops(process)


class Bounds(Case):
    def test_with_few_descriptors_the_server_runs_or_says_what_is_wrong(self):
        ended_with = {}
        for limit in [*range(10, 28), 48]:
            with self.subTest(limit=limit), temporary_directory() as data:
                command = ["prlimit", f"--nofile={limit}:{limit}", harness.program, "serve", "--data", data, "--plain",
                           "--listen", "127.0.0.1:0", "--shutdown-grace", "0"]
                with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process, \
                        contextlib.ExitStack() as at_end:
                    at_end.callback(process.kill)
                    ready = process.stdout.readline()
                    if ready:
                        host, _, port = json.loads(ready)["api"].split("/")[2].partition(":")
                        with Connection((host, int(port))) as client:
                            response = client.request("GET", "/v1/testservice/get")
                        if response.status != 200:  # no descriptor is left for a connection
                            self.assertEqual(503, response.status)
                            self.assertIn("too many open files", response.json()["message"])
                        process.send_signal(signal.SIGTERM)
                    _, errors = process.communicate(timeout=harness.DEADLINE_SECONDS)
                    ended_with[limit] = process.returncode
                    if not ready:
                        self.assertEqual(1, process.returncode)
                        self.assertIn("Too many open files", errors)
                        self.assertNotIn("Internal server error", errors)
        self.assertEqual((1, 1, 0), tuple(ended_with[limit] for limit in (10, 17, 48)))

    def test_time_outs(self):
        for tls in (False, True):
            with self.subTest(tls=tls), Server("--header-timeout", "1s", "--idle-timeout", "1s", store="memory:",
                                               tls=tls) as server:
                def response_to(sent):
                    """None if a busy machine delays the client until the connection, without a request, timed out."""
                    with server.connect() as client, contextlib.suppress(OSError):
                        client.send(sent)
                        if response := client.read():
                            self.assertTrue(client.ended(), "closed without another response")
                        return response

                for sent, status in ((b"GET /v1/testservice/get HTTP/1.1\r\nHost: x\r\n", 408),
                                     (encode("GET", "/v1/testservice/get"), 200)):
                    self.eventually(lambda: (response := response_to(sent)) is not None and response.status == status)
                with server.connect() as idle:
                    idle.read()
                    self.assertTrue(idle.ended())
                with socket.create_connection(server.address, harness.DEADLINE_SECONDS) as raw:
                    self.assertEqual(b"", raw.recv(1), "closed without a byte")

    def test_too_many_connections(self):
        for tls in (False, True):
            with self.subTest(tls=tls), Server("--max-connections", "5", store="memory:", tls=tls) as server:
                opened = [server.connect() for _ in range(5)]
                for connection in opened:
                    self.assert_json(connection.request("GET", "/v1/testservice/get"))
                with server.connect() as extra:
                    self.assert_json(extra.request("GET", "/v1/testservice/get"))
                    replaced = select.select([each.socket for each in opened], [], [], harness.DEADLINE_SECONDS)[0]
                    self.assertEqual(1, len(replaced), "an idle connection is closed for the new one")
                    closed = next(each for each in opened if each.socket is replaced[0])
                    self.assertTrue(closed.ended())
                    opened.remove(closed)
                    for connection in [*opened, extra]:
                        connection.send(b"GET /v1")
                    with server.connect() as refused:
                        self.assert_error(refused.read(), 503)
                        self.assertTrue(refused.ended())
                for connection in opened:
                    connection.close()

                def is_served():
                    with server.connect() as connection:
                        connection.send(encode("GET", "/v1/testservice/get"))
                        response = connection.read()
                        return response is not None and response.status == 200

                self.eventually(is_served)

    def test_header_section(self):
        with Server("--max-header-bytes", "2048", store="memory:") as server:
            self.assert_json(server.request("GET", "/v1/testservice/get", {"X": "x" * 1500}))
            with server.connect() as connection:
                connection.send(encode("GET", "/v1/testservice/get", {"X": "x" * 2100}))
                self.assert_error(connection.read(), 431)
                self.assertTrue(connection.ended())


class EarlyRefusals(Case):
    """Requests that can be refused by their header section are refused before their bodies arrive."""

    FORM, JSON = "application/x-www-form-urlencoded", "application/json"

    @staticmethod
    def head(method, path, *fields):
        lines = [f"{method} {path} HTTP/1.1", "Host: x", "User-Agent: e2e", "Content-Length: 65536", *fields, "", ""]
        return "\r\n".join(lines).encode()

    def test_refusals_do_not_wait_for_the_body(self):
        with Server("--demo", *HIGH_LIMITS) as server:
            reader, _ = server.add_token(1, "user:balance")
            form, json_type = f"Content-Type: {self.FORM}", f"Content-Type: {self.JSON}"
            hooks = "/v1/sitesmaker/1/hooks"
            for status, head in (
                    (401, self.head("POST", hooks, json_type)),
                    (401, self.head("POST", hooks, json_type, "Authorization: Bearer tga_x")),
                    (403, self.head("POST", hooks, json_type, f"Authorization: {reader}")),
                    (404, self.head("POST", "/v1/nowhere", json_type)),
                    (404, self.head("POST", "/nowhere", json_type)),
                    (405, self.head("PUT", hooks, json_type)),
                    (501, self.head("BREW", hooks, json_type)),
                    (415, self.head("POST", hooks, "Content-Type: text/plain", f"Authorization: {server.demo_token}")),
                    (415, self.head("POST", "/v1/testservice/post", json_type, "Content-Encoding: gzip")),
                    (403, self.head("POST", "/v1/testservice/post", json_type).replace(b"User-Agent: e2e", b"User-Agent:")),
                    (303, self.head("POST", "/en/user/settings/tokens/", form)),
                    (403, self.head("POST", "/en/user/sign_in/", form, "Sec-Fetch-Site: cross-site")),
                    (403, self.head("POST", "/en/user/oauth/", form, "Sec-Fetch-Site: cross-site")),
                    (415, self.head("POST", "/en/itemplatform/oauth/", json_type)),
                    (405, self.head("PUT", "/user/oauth_token/", form))):
                for sent in (head, head[:-2] + b"Expect: 100-continue\r\n\r\n"):
                    with self.subTest(sent=sent), server.connect() as connection:
                        connection.send(sent)
                        self.assertEqual(status, connection.read().status)
            # The counterpart: the server waits for the body of any other request.
            for head in (self.head("POST", hooks, json_type, f"Authorization: {server.demo_token}"),
                         self.head("POST", "/en/user/sign_in/", form), self.head("POST", "/user/oauth_token/", form)):
                with self.subTest(head=head), server.connect() as connection:
                    connection.send(head[:-2] + b"Expect: 100-continue\r\n\r\n")
                    self.assertEqual(b"HTTP/1.1 100 Continue\r\n\r\n", connection.socket.recv(100))

    def test_bodies_of_refused_requests_are_not_kept(self):
        with Server("--anonymous-limit", "1/hour", store="memory:") as server:
            self.assertEqual(200, server.request("GET", "/v1/testservice/get").status)

            def resident_bytes():
                with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
                    return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

            for status, path, kind in ((429, "/v1/testservice/post", self.JSON),
                                       (303, "/en/user/settings/tokens/", self.FORM)):
                with self.subTest(path), contextlib.ExitStack() as opened:
                    before = resident_bytes()
                    connections = [opened.enter_context(server.connect()) for _ in range(400)]
                    for connection in connections:
                        connection.send(self.head("POST", path, f"Content-Type: {kind}") + b"x" * 60_000)
                    for connection in connections:
                        self.assertEqual(status, connection.read().status)
                    # A sanitizer keeps freed memory; the other presets test this.
                    if not harness.is_sanitized():
                        self.assertLess((resident_bytes() - before) // len(connections), 24 * 1024)


class Parallel(Case):
    def test_many_concurrent_clients(self):
        with Server("--demo", *HIGH_LIMITS, tls=True) as server:
            def client(number):
                with server.connect() as connection:
                    for n in range(number, number + 50):
                        status, fields = (200, {"Authorization": server.demo_token}) if n % 2 else (401, {})
                        self.assertEqual(status, connection.request("GET", "/v1/user/balance", fields).status)

            concurrently(client, range(16))


if __name__ == "__main__":
    main()
