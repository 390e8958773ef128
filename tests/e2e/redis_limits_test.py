"""Limits in Redis: several processes share one quota, and respond while Redis is down."""

import signal
import subprocess

import harness
from harness import Case, Server, concurrently, run_command, temporary_directory


class RedisLimits(Case):
    def setUp(self):
        self.redis = harness.Redis()
        self.addCleanup(self.redis.close)

    def serve(self, *flags, **named):
        server = Server("--limits", self.redis.url, *flags, **named)
        self.addCleanup(server.stop)
        return server

    def remaining(self, server):
        return int(server.request("GET", "/v1/testservice/get").get("X-RateLimit-Remaining"))

    def lines(self, server, word):
        return [line for line in server.errors.decode().splitlines() if word in line]

    def test_two_processes_share_one_quota_exactly(self):
        # A node counts separately when Redis does not respond in time, which happens on a busy machine.
        self.eventually(lambda: self.share_quota(100))

    def share_quota(self, quota):
        """Sends more requests than the quota to two processes. False if one of them was without Redis meanwhile."""
        subprocess.run(["redis-cli", "-p", str(self.redis.port), "FLUSHALL"], check=True, capture_output=True)
        flags = ["--anonymous-limit", f"{quota}/hour", "--log", "off"]
        first, second = (self.serve(*flags, store="memory:") for _ in range(2))

        def request_many(server):
            with server.connect() as connection:
                return [connection.request("GET", "/v1/testservice/get").status for _ in range(60)]

        statuses = sum(concurrently(request_many, [first, second] * 2), [])
        refused = [server.request("GET", "/v1/testservice/get") for server in (first, second)]
        for server in (first, second):
            server.stop()  # then all its lines have arrived
            if self.lines(server, "counts requests separately"):
                return False
        admitted = statuses.count(200)
        self.assertEqual(240, admitted + statuses.count(429))
        self.assertEqual(quota, admitted)
        for response in refused:
            self.assert_error(response, 429)
        self.assertEqual(refused[0].get("X-RateLimit-Reset"), refused[1].get("X-RateLimit-Reset"))
        self.assertTrue(3500 < int(refused[0].get("Retry-After")) <= 3600)
        return True

    def test_each_loss_and_return_of_redis_is_one_line(self):
        server = self.serve("--anonymous-limit", "1000/hour")
        counts = lambda: [len(self.lines(server, text)) for text in
                          ("this node counts requests separately until Redis is available again", "shared again")]
        self.assertEqual(999, self.remaining(server))
        server.log_after("GET /testservice/get")
        losses, returns = counts()  # not 0 if Redis did not respond in time on a busy machine
        self.redis.kill()
        for left in (999, 998, 997):  # the node starts its own count
            self.assertEqual(left, self.remaining(server))
        self.eventually(lambda: counts() == [losses + 1, returns])
        self.redis.start()
        self.eventually(lambda: self.remaining(server) and counts()[1] > returns)
        self.assertEqual([losses + 1, returns + 1], counts(), server.errors)

    def test_a_redis_that_comes_and_goes_is_counted_instead_of_a_line_each_time(self):
        for log_format, repeated in (("text", "more like this: Redis is available again"), ("json", '"repeated":"Redis is available again')):
            with self.subTest(log_format):
                server = self.serve("--anonymous-limit", "1000/hour", "--log", log_format, "--admin-listen", "127.0.0.1:0")
                is_up = lambda: server.metrics()['tollgate_backend_up{backend="limits"}'] == 1
                self.remaining(server)
                for _ in range(6):
                    self.redis.kill()
                    self.eventually(lambda: self.remaining(server) and not is_up())
                    self.redis.start()
                    self.eventually(lambda: self.remaining(server) and is_up())
                server.log_after(repeated)
                server.stop()
                written = [line for line in self.lines(server, "Redis is available again") if repeated not in line]
                self.assertTrue(0 < len(written) < 6, server.errors)

    def test_the_server_starts_without_redis(self):
        self.redis.kill()
        server = self.serve("--log", "json")
        self.assertEqual(59, self.remaining(server))
        server.log_after("counts requests separately")
        self.assertEqual(1, len(self.lines(server, "counts requests separately")), server.errors)

    def test_a_hanging_redis_delays_only_the_first_requests(self):
        server = self.serve("--anonymous-limit", "100000/hour", "--log", "off", "--admin-listen", "127.0.0.1:0", store="memory:")
        self.remaining(server)
        self.redis.send(signal.SIGSTOP)
        with server.connect() as connection:
            for _ in range(300):
                self.assertEqual(200, connection.request("GET", "/v1/testservice/get").status)
        timed_out = server.metrics()['tollgate_backend_errors_total{backend="limits"}']
        self.assertTrue(0 < timed_out < 150, timed_out)
        self.redis.send(signal.SIGCONT)
        self.eventually(lambda: self.remaining(server) and b"shared again" in server.errors)

    def test_no_message_shows_a_password(self):
        with temporary_directory() as data:
            for limits in ("redis://:hunter2@127.0.0.1:x", "redi://:hunter2@h", "hunter2@redis:6379", "hunter2:x@h",
                           "hunter2", "/hunter2", "memory:hunter2", "REDIS://hunter2@h", "=hunter2"):
                result = run_command("serve", "--data", data / "d", f"--limits={limits}")
                self.assertEqual(2, result.returncode)
                self.assertIn("--limits", result.stderr)
                self.assertNotIn("hunter2", result.stderr)
        server = Server("--limits", f"redis://:hunter2@127.0.0.1:{self.redis.port}")
        self.addCleanup(server.stop)
        self.remaining(server)
        self.assertIn("AUTH", server.log_after("counts requests separately"))
        self.assertNotIn("hunter2", server.errors.decode())


if __name__ == "__main__":
    harness.main()
