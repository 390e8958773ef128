"""A host of client ID metadata documents, with a certificate of its own."""

import json

from receiver import Receiver, make_certificate


def response(body, status=200, content_type="application/json", fields=()):
    lines = [f"HTTP/1.1 {status} Status", f"Content-Type: {content_type}", f"Content-Length: {len(body)}", "Connection: close", *fields]
    return "\r\n".join(lines).encode() + b"\r\n\r\n" + body


class DocumentHost(Receiver):
    """`authorities` is the file with its certificate, for `SSL_CERT_FILE`. `responses` maps paths to bytes, or to functions that get the
    connection."""

    def __init__(self, directory):
        self.authorities, tls = make_certificate(directory, "127.0.0.1", "localhost")
        self.responses = {}
        super().__init__(self.respond, tls=tls)

    def add(self, path, members, **how):
        """The URL of a document with these members and its own URL as the client_id."""
        url = self.url(path)
        self.responses[path] = response(json.dumps({"client_id": url, **members}).encode(), **how)
        return url

    def respond(self, request, connection):
        found = self.responses.get(request.line.split(" ")[1], response(b"", status=404))
        if callable(found):
            return found(connection)
        connection.sendall(found)
        return False
