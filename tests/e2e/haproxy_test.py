#!/usr/bin/env python3
"""The responses of HAProxy in examples/cluster when a node closes a connection instead of responding, or responds with 503."""

import os
import pathlib
import ssl
import subprocess

from harness import Case, Connection, main, temporary_directory
from receiver import OK, Receiver, empty_response, make_certificate
from servers import parts, reserve_port

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "examples/cluster/haproxy.cfg"


def close_after_writes(request, connection):
    """Responds to GET, and closes the connection after any other request."""
    is_read = request.line.startswith("GET")
    if is_read:
        connection.sendall(OK)
    return is_read


class Node(Receiver):
    """Responds to health checks with 200 and to other requests with `status`."""

    def __init__(self):
        self.status = 200
        super().__init__(self._respond)

    @property
    def received(self):
        """The number of requests without health checks."""
        return sum(not self._is_check(each) for each in self.requests)

    @staticmethod
    def _is_check(request):
        return "/.well-known/" in request.line

    def _respond(self, request, connection):
        connection.sendall(empty_response(200 if self._is_check(request) else self.status))


class Proxied(Case):
    def start(self, nodes):
        directory = self.enterContext(temporary_directory())
        for each in nodes:
            self.addCleanup(each.close)
        certificate, _ = make_certificate(directory, "localhost")
        (directory / "both.pem").write_bytes(certificate.read_bytes() + certificate.with_suffix(".key").read_bytes())
        self.port = self.enterContext(reserve_port()).getsockname()[1]
        names = {"LISTEN": f"127.0.0.1:{self.port}", "CERTIFICATE": directory / "both.pem", "CONTROL": directory / "control",
                 "AUTH_URL": "https://api.example.com",
                 **{f"NODE_{number}": f"127.0.0.1:{nodes[number % len(nodes)].port}" for number in (1, 2, 3)}}
        self.proxy = subprocess.Popen(["haproxy", "-db", "-q", "-f", CONFIGURATION],
                                      env={**os.environ, **{f"TOLLGATE_{name}": str(value) for name, value in names.items()}})
        self.addCleanup(self.proxy.wait)
        self.addCleanup(self.proxy.terminate)
        self.eventually(lambda: parts.is_listening(self.port))

    def connect(self):
        tls = ssl.create_default_context()
        tls.check_hostname, tls.verify_mode = False, ssl.CERT_NONE
        return self.enterContext(Connection(("127.0.0.1", self.port), tls))


class ClosedConnections(Proxied):
    def test_a_write_without_a_response_gets_a_json_502(self):
        node = Receiver(close_after_writes)
        self.start([node])
        client = self.connect()
        for round_number in range(5):
            for method in ("GET", "POST", "GET", "DELETE", "GET", "PUT"):
                with self.subTest(method=method, round_number=round_number):
                    response = client.request(method, "/v1/x", body={} if method == "POST" else None)
                    self.assertIsNotNone(response, "closed without a response")
                    if method == "GET":
                        self.assertEqual(200, response.status)
                        continue
                    self.assertEqual((502, "application/json", "1"),
                                     (response.status, response.get("Content-Type"), response.get("Retry-After")))
                    self.assertIn("may have been executed", response.json()["message"])
                if response is None:
                    client = self.connect()
        self.assertEqual(15, sum(not each.line.startswith("GET") for each in node.requests), "no write is sent twice")


class Unavailable(Proxied):
    """The database is down, so that nodes respond with 503."""

    def test_a_503_is_not_sent_to_another_node(self):
        nodes = [Node() for _ in range(3)]
        self.start(nodes)
        client = self.connect()
        for each in nodes:
            each.status = 503
        for _ in range(6):
            self.assertEqual(503, client.request("GET", "/v1/x").status)
        self.assertEqual(6, sum(each.received for each in nodes))

    def test_a_read_gets_a_response_when_a_node_ends(self):
        nodes = [Node() for _ in range(3)]
        self.start(nodes)
        clients = [self.connect() for _ in range(6)]
        for client in clients * 2:  # then HAProxy has connections to the nodes that it uses again
            self.assertEqual(200, client.request("GET", "/v1/x").status)
        for each in nodes:
            each.status = 503
        nodes[0].close()
        for client in clients * 4:
            response = client.request("GET", "/v1/x")
            self.assertIsNotNone(response, "closed without a response")
            self.assertEqual(503, response.status)


if __name__ == "__main__":
    main()
