#!/usr/bin/env python3
"""What an operator reads on the admin listener: health, readiness, metrics, and whether Prometheus understands them."""

import contextlib
import json
import pathlib
import re
import subprocess
import time

from harness import PLENTY, Case, Connection, Server, main, run_command

REFERENCE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "reference_server"


@contextlib.contextmanager
def admin_server(*flags, **settings):
    with Server("--admin-listen", "127.0.0.1:0", *PLENTY, *flags, **settings) as server:
        host, _, port = server.ready["admin"].rpartition(":")
        server.admin = (host, int(port))
        yield server


def ask(server, path, method="GET"):
    with Connection(server.admin, None) as connection:
        return connection.ask(method, path)


def samples(server):
    """name{labels} -> value."""
    text = ask(server, "/metrics").body.decode()
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2]) for line in text.splitlines() if not line.startswith("#")}


class AdminListener(Case):
    def test_paths_and_methods(self):
        with admin_server(store="memory:") as server:
            self.assertEqual(200, ask(server, "/healthz").status)
            self.eventually(lambda: ask(server, "/readyz").status == 200)
            self.assertEqual({"ready": True}, json.loads(ask(server, "/readyz").body))
            self.assertEqual(404, ask(server, "/v1/testservice/get").status, "the API is not served here")
            self.assertEqual(404, ask(server, "/").status)
            self.assertEqual(405, ask(server, "/metrics", "POST").status)
            for path in ("/metrics", "/healthz", "/readyz"):
                self.assertEqual(404, server.ask("GET", path).status, "nor are these where the API is")

    def test_off_by_default(self):
        with Server(store="memory:") as server:
            self.assertNotIn("admin", server.ready)
        for wrong in ("", "localhost", "127.0.0.1", "127.0.0.1:x", "unix:"):
            done = run_command("serve", "--admin-listen", wrong)
            self.assertEqual((2, True), (done.returncode, "--admin-listen" in done.stderr), done.stderr)

    def test_an_address_in_use(self):
        with admin_server(store="memory:") as server:
            done = run_command("serve", "--store", "memory:", "--plain", "--listen", "127.0.0.1:0",
                               "--admin-listen", server.ready["admin"], "--data", str(server.data))
            self.assertEqual((1, True), (done.returncode, "--admin-listen" in done.stderr), done.stderr)

    def test_what_is_counted(self):
        with admin_server("--demo") as server:
            for _ in range(3):  # the first records the token's use, so that the second reads it once more
                server.ask("GET", "/v1/user/balance", token=server.demo_token)
            server.ask("GET", "/v1/user/balance")
            server.ask("GET", "/nowhere")
            server.ask("GET", "/en/user/sign_in/")
            with server.connect() as connection:
                connection.send(b"nonsense\r\n\r\n")
                connection.read()
                found = samples(server)
            for line, value in {
                'tollgate_requests_total{route="/user/balance",method="GET",status="200"}': 3,
                'tollgate_requests_total{route="/user/balance",method="GET",status="401"}': 1,
                'tollgate_requests_total{route="none",method="GET",status="404"}': 1,
                'tollgate_requests_total{route="/{language}/user/sign_in/",method="GET",status="200"}': 1,
                'tollgate_request_duration_seconds_count{route="/user/balance",method="GET"}': 4,
                'tollgate_refusals_total{kind="malformed"}': 1,
                'tollgate_backend_up{backend="store"}': 1,
                "tollgate_worker_queue_length": 0,
                "tollgate_worker_dropped_total": 0,
            }.items():
                self.assertEqual(value, found.get(line), line)
            for name in ('tollgate_backend_calls_total{backend="store"}', "tollgate_worker_requests_total",
                         "tollgate_connections_accepted_total", "process_cpu_seconds_total",
                         "process_resident_memory_bytes", "process_open_fds", 'tollgate_cache_hits_total{backend="store"}'):
                self.assertGreater(found.get(name, -1), 0, name)

    def test_readiness_says_what_fails(self):
        with admin_server(store="memory:", environment={}) as server:
            self.eventually(lambda: ask(server, "/readyz").status == 200)
        with admin_server("--limits", "redis://127.0.0.1:1/0", store="memory:") as server:
            self.eventually(lambda: ask(server, "/readyz").status == 503)
            self.eventually(lambda: json.loads(ask(server, "/readyz").body) == {"ready": False, "failing": ["limits"]})
            self.assertEqual(200, ask(server, "/healthz").status)
            self.assertEqual(0, samples(server)['tollgate_backend_up{backend="limits"}'])
            self.assertIn("not ready: limits", server.log_after("not ready: limits"))
            self.assertEqual(200, server.ask("GET", "/v1/testservice/get").status, "the node counts limits by itself meanwhile")


class Prometheus(Case):
    """`promtool` is of Debian's package `prometheus`."""

    def promtool(self, *arguments, stdin=None):
        done = subprocess.run(["promtool", *map(str, arguments)], input=stdin, capture_output=True, timeout=60)
        self.assertEqual(0, done.returncode, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode() + done.stderr.decode()

    def test_metrics_are_well_formed(self):
        with admin_server("--demo") as server:
            server.ask("GET", "/v1/user/balance", token=server.demo_token)
            server.ask("GET", "/v1/sitesmaker/accounts", token=server.demo_token)
            self.assertEqual("", self.promtool("check", "metrics", stdin=ask(server, "/metrics").body))

    def test_rules_and_dashboard_name_existing_metrics(self):
        self.promtool("check", "rules", REFERENCE / "alerts.yml")
        self.promtool("test", "rules", REFERENCE / "alerts_test.yml")
        with admin_server("--demo", "--limits", "redis://127.0.0.1:1/0") as server:
            server.ask("GET", "/v1/user/balance", token=server.demo_token)
            there = {re.match("[a-z_]+", line)[0] for line in samples(server)}
        dashboard = json.loads((REFERENCE / "dashboard.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 10)
        expressions += re.findall(r"expr: (.*)", (REFERENCE / "alerts.yml").read_text())
        for expression in expressions:
            for name in re.findall(r"\b(?:tollgate|process)_[a-z_]+\b", expression):
                self.assertIn(name, there, f"in {expression}")
            # Prometheus parses each expression as one of a rule.
            rule = {"groups": [{"name": "x", "rules": [{"record": "x:y", "expr": expression.replace("$__rate_interval", "5m")}]}]}
            self.promtool("check", "rules", self.write_json(rule))

    def write_json(self, value):
        """JSON is YAML."""
        path = pathlib.Path(self.directory) / "rules.yml"
        path.write_text(json.dumps(value))
        return path

    def setUp(self):
        import tempfile
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.directory = holder.name


if __name__ == "__main__":
    main()
