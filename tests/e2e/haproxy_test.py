#!/usr/bin/env python3
"""The responses of HAProxy in examples/cluster when a node closes a connection instead of responding, or responds with 503."""

import contextlib
import os
import pathlib
import socket
import ssl
import subprocess
import threading

from harness import Case, Connection, main, temporary_directory
from receiver import make_certificate
from servers import parts, reserve_port

CONFIGURATION = pathlib.Path(__file__).resolve().parents[2] / "examples/cluster/haproxy.cfg"


class ClosingNode:
    """Responds to GET, and closes the connection after any other request."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.closed = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                threading.Thread(target=self._serve, args=(self.listener.accept()[0],), daemon=True).start()

    def _serve(self, client):
        with client, client.makefile("rb") as incoming, contextlib.suppress(OSError):
            while line := incoming.readline():
                length = 0
                while (field := incoming.readline()) not in (b"\r\n", b""):
                    if field.lower().startswith(b"content-length:"):
                        length = int(field.split(b":")[1])
                incoming.read(length)
                if not line.startswith(b"GET"):
                    self.closed += 1
                    return
                client.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")

    def close(self):
        self.listener.close()


class FailingNode:
    """Responds to health checks with 200 and to other requests with `status`, and keeps connections open."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.listener.getsockname()[1]
        self.status = 200
        self.received = 0
        self.clients = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listener.accept()[0]
                self.clients.append(client)
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, client.makefile("rb") as incoming, contextlib.suppress(OSError):
            while line := incoming.readline():
                while incoming.readline() not in (b"\r\n", b""):
                    pass
                is_check = b"/.well-known/" in line
                self.received += not is_check
                client.sendall(b"HTTP/1.1 %d Status\r\nContent-Length: 2\r\n\r\nok" % (200 if is_check else self.status))

    def close(self):
        """Like the end of the process: closes all connections and refuses new ones."""
        for each in (self.listener, *self.clients):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        self.listener.close()


class Proxied(Case):
    def start(self, nodes):
        directory = self.enterContext(temporary_directory())
        for each in nodes:
            self.addCleanup(each.close)
        certificate, _ = make_certificate(directory, "localhost")
        (directory / "both.pem").write_bytes(certificate.read_bytes() + certificate.with_suffix(".key").read_bytes())
        self.port = self.enterContext(reserve_port()).getsockname()[1]
        names = {"LISTEN": f"127.0.0.1:{self.port}", "CERTIFICATE": directory / "both.pem", "CONTROL": directory / "control",
                 "AUTH_URL": "https://api.example.com", **{f"NODE_{number}": nodes[number % len(nodes)].address for number in (1, 2, 3)}}
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
        node = ClosingNode()
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
        self.assertEqual(15, node.closed, "no write is sent twice")


class Unavailable(Proxied):
    """The database is down, so that nodes respond with 503."""

    def test_a_503_is_not_sent_to_another_node(self):
        nodes = [FailingNode() for _ in range(3)]
        self.start(nodes)
        client = self.connect()
        for each in nodes:
            each.status = 503
        for _ in range(6):
            self.assertEqual(503, client.request("GET", "/v1/x").status)
        self.assertEqual(6, sum(each.received for each in nodes))

    def test_a_read_gets_a_response_when_a_node_ends(self):
        nodes = [FailingNode() for _ in range(3)]
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
