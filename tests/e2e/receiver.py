"""Receivers of webhooks. Each connection has its own thread."""

import contextlib
import socket
import ssl
import subprocess
import threading
import time

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def empty_response(status, fields=()):
    lines = [f"HTTP/1.1 {status} Status", "Content-Length: 0", *fields, "", ""]
    return "\r\n".join(lines).encode()


class Request:
    def __init__(self, head, body, connection):
        self.line, *lines = head.split("\r\n")
        self.fields = {}
        for line in lines:
            name, _, value = line.partition(": ")
            self.fields[name.lower()] = value
        self.body = body
        self.connection = connection  # counted from 0
        self.at = time.monotonic()

    @property
    def id(self):
        return self.fields["webhook-id"]


def read_request(stream, connection):
    """The next request of a connection; None after its end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        line = stream.readline()
        if not line:
            return None
        head += line
    head = head[:-4].decode("latin-1")
    length = next((int(line.split(":")[1]) for line in head.split("\r\n") if line.lower().startswith("content-length:")), 0)
    body = stream.read(length)
    return Request(head, body, connection) if len(body) == length else None


class Receiver:
    """Listens on a free port. `handle(request, connection)` responds to each request, and returns False to end the connection;
    by default the response is 200. `requests` has all received requests."""

    def __init__(self, handle=None, tls=None, address="127.0.0.1"):
        self.handle = handle or (lambda request, connection: connection.sendall(OK))
        self.tls = tls
        self.requests = []
        self.changed = threading.Condition()
        self.connections = 0
        self.listener = socket.create_server((address, 0), backlog=1024)
        self.address, self.port = self.listener.getsockname()[:2]
        self.open = set()
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="/hook", host=None):
        return f"{'https' if self.tls else 'http'}://{host or self.address}:{self.port}{path}"

    def wait(self, count, seconds=60, key=lambda request: True):
        """The first `count` requests for which `key` is true; fewer if the others do not arrive in time."""
        deadline = time.monotonic() + seconds
        with self.changed:
            while True:
                matching = [each for each in self.requests if key(each)]
                left = deadline - time.monotonic()
                if len(matching) >= count or left <= 0:
                    return matching
                self.changed.wait(left)

    def _accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection, self.connections), daemon=True).start()
            self.connections += 1

    def _serve(self, connection, number):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with contextlib.suppress(OSError, ssl.SSLError), contextlib.ExitStack() as stack:
            stack.callback(connection.close)
            if self.tls:
                connection = self.tls.wrap_socket(connection, server_side=True)
                stack.callback(connection.close)
            self.open.add(connection)
            stack.callback(self.open.discard, connection)
            stream = stack.enter_context(connection.makefile("rb"))
            while True:
                request = read_request(stream, number)
                if request is None:
                    return
                with self.changed:
                    self.requests.append(request)
                    self.changed.notify_all()
                if self.handle(request, connection) is False:
                    return

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for each in list(self.open):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def hang(request, connection):
    """Does not respond until the sender gives up."""
    connection.recv(1)
    return False


def reset(request, connection):
    """Ends the connection with a reset."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
    return False


def make_certificate(directory, *names):
    """Creates a self-signed certificate for these names. Returns its file and a TLS context; the key is beside it, in .key."""
    certificate, key = directory / f"{names[0]}.crt", directory / f"{names[0]}.key"
    alternatives = ",".join(f"IP:{name}" if name[0].isdigit() else f"DNS:{name}" for name in names)
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "1",
                    "-keyout", key, "-out", certificate, "-subj", f"/CN={names[0]}", "-addext",
                    f"subjectAltName={alternatives}"], check=True, capture_output=True, timeout=30)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return certificate, context
