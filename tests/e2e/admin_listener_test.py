#!/usr/bin/env python3
"""The admin listener: health, readiness and metrics, and that Prometheus and the dashboard can use them."""

import contextlib
import json
import math
import pathlib
import re
import socket
import sqlite3
import subprocess
import threading
import urllib.parse
import urllib.request

from harness import (HIGH_LIMITS, Case, Connection, Redis, Server, encode, main, on_postgres, run_command,
                     temporary_directory)
from receiver import Receiver

ROOT = pathlib.Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "examples" / "reference_server"


def admin_server(*flags, limits=HIGH_LIMITS, **settings):
    return Server("--admin-listen", "127.0.0.1:0", *limits, *flags, **settings)


def families(server):
    return set(re.findall("^# TYPE ([a-z_]+)", server.admin("/metrics").body.decode(), re.MULTILINE))



@contextlib.contextmanager
def prometheus(*targets):
    """A Prometheus that scrapes every second. Gives a function from an expression to its samples: (labels, value)."""
    with temporary_directory() as directory:
        (directory / "prometheus.yml").write_text(json.dumps({  # JSON is YAML
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "tollgate", "static_configs": [{"targets": list(targets)}]}]}))
        running = subprocess.Popen(["prometheus", f"--config.file={directory}/prometheus.yml", "--web.listen-address=127.0.0.1:0",
                                    f"--storage.tsdb.path={directory}/data"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            lines = []
            for line in running.stderr:
                lines.append(line)
                if '"Listening on"' in line:
                    break
            else:
                raise AssertionError("".join(lines))
            threading.Thread(target=running.stderr.read, daemon=True).start()
            url = "http://" + line.rpartition("address=")[2].strip()

            def query(expression):
                with urllib.request.urlopen(f"{url}/api/v1/query", urllib.parse.urlencode({"query": expression}).encode()) as response:
                    return [(each["metric"], float(each["value"][1])) for each in json.load(response)["data"]["result"]]

            yield query
        finally:
            running.kill()
            running.wait()
            running.stderr.close()


class AdminListener(Case):
    def test_paths_and_methods(self):
        with admin_server(store="memory:") as server:
            self.assertEqual(200, server.admin("/healthz").status)
            self.eventually(lambda: server.admin("/readyz").status == 200)
            self.assertEqual({"ready": True}, json.loads(server.admin("/readyz").body))
            self.assertEqual(404, server.admin("/v1/testservice/get").status, "the API is not served here")
            self.assertEqual(404, server.admin("/").status)
            self.assertEqual(405, server.admin("/metrics", "POST").status)
            for path in ("/metrics", "/healthz", "/readyz"):
                self.assertEqual(404, server.request("GET", path).status, "the API's listener does not serve these")

    def test_hosts(self):
        """A web page with a name that resolves to this address (DNS rebinding) cannot read the metrics."""
        def status(server, host):
            address, _, port = server.ready["admin"].rpartition(":")
            with Connection((address, int(port))) as connection:
                return connection.request("GET", "/metrics", {"Host": host}).status

        with admin_server("--admin-host", "node1.internal.example", store="memory:") as server:
            for host in ("127.0.0.1", "127.0.0.1:9464", "[::1]:9464", "10.1.2.3", "localhost:9464", "tollgate:9464", socket.gethostname(),
                         "node1.internal.example", "NODE1.internal.example:9464"):
                self.assertEqual(200, status(server, host), host)
            for host in ("attacker.example", "attacker.example:9464", "localhost.attacker.example", "127.0.0.1.attacker.example",
                         "node1.internal.example.attacker.example", "localhost."):
                self.assertEqual(421, status(server, host), host)

    def test_unfinished_requests_do_not_keep_health_checks_out(self):
        with admin_server(store="memory:") as server, contextlib.ExitStack() as opened:
            host, _, port = server.ready["admin"].rpartition(":")
            for _ in range(100):
                unfinished = opened.enter_context(Connection((host, int(port))))
                unfinished.send(b"GET /healthz HTTP/1.1\r\nHost: ")
            for path in ("/healthz", "/metrics"):
                self.assertEqual(200, server.admin(path).status)

    def test_off_by_default(self):
        with Server(store="memory:") as server:
            self.assertNotIn("admin", server.ready)
        for invalid in ("", "localhost", "127.0.0.1", "127.0.0.1:x", "unix:"):
            result = run_command("serve", "--admin-listen", invalid)
            self.assertEqual((2, True), (result.returncode, "--admin-listen" in result.stderr), result.stderr)

    def test_an_address_in_use(self):
        with admin_server(store="memory:") as server:
            result = run_command("serve", "--store", "memory:", "--plain", "--listen", "127.0.0.1:0",
                                 "--admin-listen", server.ready["admin"], "--data", str(server.data))
            self.assertEqual((1, True), (result.returncode, "--admin-listen" in result.stderr), result.stderr)

    def test_what_is_counted(self):
        with admin_server("--demo") as server:
            for _ in range(3):  # the first records the use of the token, so that the second reads the token again
                server.balance(server.demo_token)
            server.balance()
            server.request("GET", "/nowhere")
            server.request("GET", "/en/user/sign_in/")
            with server.connect() as connection:
                connection.send(b"nonsense\r\n\r\n")
                connection.read()
                found = server.metrics()
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

    def test_who_is_affected(self):
        def affected():
            """The samples without those of slow requests: on a busy machine any request may be slow."""
            return {line: value for line, value in server.metrics().items()
                    if line.startswith("tollgate_affected") and 'kind="slow"' not in line}

        with admin_server("--demo", limits=["--anonymous-limit", "1/day"]) as server:
            user = server.run("user", "list")["users"][0]["id"]
            self.assertEqual((200, 401), (server.balance(server.demo_token).status, server.balance().status))
            self.assertEqual({}, affected())
            server.run("user", "quota", "--user", str(user), "--per-day", "1")
            for _ in range(3):
                self.assertEqual(429, server.balance(server.demo_token).status)
            self.assertEqual(429, server.balance().status)
            # The metrics name the user's id and the network, and nothing else.
            limited = {f'tollgate_affected_requests{{kind="limited",user="{user}"}}': 3,
                       'tollgate_affected_requests{kind="limited",network="127.0.0.0/24"}': 1}
            self.assertEqual(limited, affected())
            self.assertNotIn(server.demo["login"], server.admin("/metrics").body.decode())
            # While another process has the write lock of its file, the store refuses writes.
            server.run("user", "quota", "--user", str(user), "--per-day", "100")
            with contextlib.closing(sqlite3.connect(server.data / "tollgate.db", isolation_level=None)) as other:
                other.execute("BEGIN IMMEDIATE")
                hook = {"event": "site.created", "target_url": "https://example.com/"}
                path = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
                self.assertEqual(503, server.request("POST", path, body=hook, token=server.demo_token).status)
            self.assertEqual({**limited, f'tollgate_affected_requests{{kind="failed",user="{user}"}}': 1}, affected())

    def test_readiness_names_what_fails(self):
        with admin_server(store="memory:", environment={}) as server:
            self.eventually(lambda: server.admin("/readyz").status == 200)
        with admin_server("--limits", "redis://127.0.0.1:1/0", store="memory:") as server:
            self.eventually(lambda: server.admin("/readyz").status == 503)
            self.eventually(lambda: json.loads(server.admin("/readyz").body) == {"ready": False, "failing": ["limits"]})
            self.assertEqual(200, server.admin("/healthz").status)
            self.assertEqual(0, server.metrics()['tollgate_backend_up{backend="limits"}'])
            self.assertIn("not ready: limits", server.log_after("not ready: limits"))
            self.assertEqual(200, server.request("GET", "/v1/testservice/get").status, "without Redis the node counts requests separately")


    def test_a_reader_that_keeps_the_log_from_being_copied(self):
        if on_postgres:
            self.skipTest("for SQLite")
        with admin_server() as server, contextlib.closing(sqlite3.connect(server.data / "tollgate.db", isolation_level=None)) as reader:
            age = lambda: server.metrics()["tollgate_sqlite_wal_oldest_reader_seconds"]  # noqa: E731
            self.eventually(lambda: server.metrics()["tollgate_sqlite_wal_bytes"] > 0)
            server.add_user("first")
            self.assertEqual(0, age())
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM tollgate_hooks").fetchone()
            server.add_user("second")
            self.eventually(lambda: age() > 0)
            reader.execute("COMMIT")
            self.eventually(lambda: age() == 0)


class Prometheus(Case):
    """`promtool` is in Debian's package `prometheus`."""

    def promtool(self, *arguments, stdin=None):
        result = subprocess.run(["promtool", *map(str, arguments)], input=stdin, capture_output=True, timeout=60)
        self.assertEqual(0, result.returncode, result.stdout.decode() + result.stderr.decode())
        return result.stdout.decode() + result.stderr.decode()

    def test_metrics_are_well_formed(self):
        with admin_server("--demo") as server:
            server.balance(server.demo_token)
            server.request("GET", "/v1/sitesmaker/accounts", token=server.demo_token)
            self.assertEqual("", self.promtool("check", "metrics", stdin=server.admin("/metrics").body))

    def test_rules_and_dashboard_name_existing_metrics(self):
        self.promtool("check", "rules", REFERENCE / "alerts.yml")
        self.promtool("test", "rules", REFERENCE / "alerts_test.yml")
        with admin_server("--demo", "--limits", "redis://127.0.0.1:1/0") as server:
            server.balance(server.demo_token)
            existing = families(server) | {re.match("[a-z_]+", line)[0] for line in server.metrics()}
        dashboard = json.loads((REFERENCE / "dashboard.json").read_text())
        expressions = [target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])]
        self.assertGreater(len(expressions), 10)
        expressions += re.findall(r"expr: (.*)", (REFERENCE / "alerts.yml").read_text())
        for expression in expressions:
            for name in re.findall(r"\b(?:tollgate|process)_[a-z_]+\b", expression):
                self.assertIn(name, existing, f"in {expression}")
            # promtool parses the expression as part of a rule.
            rule = {"groups": [{"name": "x", "rules": [{"record": "x:y", "expr": expression.replace("$__rate_interval", "5m")}]}]}
            self.promtool("check", "rules", self.write_json(rule))

    def test_monitoring_md_names_all_metrics(self):
        listed = re.findall(r"^\| `(?:tollgate|process)_.*?\|", (ROOT / "docs" / "monitoring.md").read_text(), re.MULTILINE)
        documented = set(re.findall(r"`([a-z_]+)`", "".join(listed)))
        with admin_server("--demo", "--limits", "redis://127.0.0.1:1/0") as server:
            self.assertEqual(families(server), documented)

    def test_each_query_of_the_dashboard_gives_data(self):
        """With the values that Grafana gives to its variables."""
        panels = {f'{panel["title"]} {target["refId"]}':
                  target["expr"].replace("$job", ".*").replace("$__rate_interval", "30s")
                  for panel in json.loads((REFERENCE / "dashboard.json").read_text())["panels"] for target in panel["targets"]
                  if not (on_postgres and panel["title"].startswith("SQLite"))}
        redis = Redis()
        self.addCleanup(redis.close)
        with Receiver() as receiver, admin_server("--demo", "--limits", redis.url, "--allow-private-targets", tls=True) as server, \
                prometheus(server.ready["admin"]) as query:
            hooks = f"/v1/sitesmaker/{server.demo['sitesmaker_account']}/hooks"
            limited = server.add_user("limited")
            limited_token, _ = server.add_token(limited)
            server.run("user", "quota", "--user", str(limited), "--per-day", "1")
            server.add_hook(receiver.url())

            def load():
                """Requests of all kinds."""
                for method, path, token in (("GET", "/v1/user/balance", server.demo_token), ("GET", hooks, server.demo_token),
                                            ("GET", "/v1/user/balance", None), ("GET", "/nowhere", None),
                                            ("GET", "/v1/user/balance", limited_token),
                                            ("GET", "/en/user/sign_in/", None), ("BREW", "/v1/user/balance", server.demo_token)):
                    server.request(method, path, token=token)
                with server.connect() as connection:
                    connection.send(b"nonsense\r\n\r\n")
                    connection.read()
                server.emit()

            def has_data(name):
                return any(math.isfinite(value) for _, value in query(panels[name]))

            def found():
                load()
                missing[:] = [name for name in panels if not has_data(name)]
                return not missing

            # Nothing has failed yet: the share is 0 %, not missing.
            self.eventually(lambda: server.balance(server.demo_token) and has_data("Share of 5xx A"))
            self.assertEqual([({}, 0)], query(panels["Share of 5xx A"]))

            missing = []
            with server.connect() as slow:  # its body is sent once Prometheus has data for all other panels
                body = b"{}"
                slow.send(encode("POST", hooks, {"Authorization": server.demo_token, "Content-Type": "application/json",
                                                 "Content-Length": str(len(body))}))
                self.eventually(lambda: found() or missing == ["Who is affected C"])
                slow.send(body)
                self.assertEqual(422, slow.read().status)
            try:
                self.eventually(found)
            except AssertionError:
                self.assertEqual([], missing)

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
