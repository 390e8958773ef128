#!/usr/bin/env python3
"""contract.md's last section: malformed HTTP/1.1 that must be refused, over real sockets, plain and TLS. Each request is
sent whole, byte by byte, and followed by a second request that must get no response."""

import contextlib

from harness import HIGH_LIMITS, Case, Server, main

FIELDS = b"Host: localhost\r\nUser-Agent: e2e\r\n"
NEXT_REQUEST = b"GET /v1/testservice/get HTTP/1.1\r\n" + FIELDS + b"\r\n"
LAST_REQUEST = b"GET /v1/nowhere HTTP/1.1\r\nConnection: close\r\n" + FIELDS + b"\r\n"
PATH = b"/v1/testservice/post"


def request(fields=b"", body=b"", line=b"POST " + PATH + b" HTTP/1.1", host=b"Host: localhost\r\n"):
    return line + b"\r\n" + host + b"User-Agent: e2e\r\n" + fields + b"\r\n" + body


def length(value, body=b"{}   "):
    return request(b"Content-Type: application/json\r\nContent-Length:" + value + b"\r\n", body)


def coded(fields, body=b"2\r\n{}\r\n0\r\n\r\n"):
    return request(b"Content-Type: application/json\r\n" + fields, body)


def chunked(body):
    return coded(b"Transfer-Encoding: chunked\r\n", body)


def line(text):
    return request(line=text)


REFUSED = {
    "content-length": [
        *map(length,
             (b" -1", b" +5", b" 0x5", b" 1_0", b" 1 0", b" 5abc", b"", b" ", b" 5, 10", b" 5, 5", b" 005",
              b" 18446744073709551616",
                      b" 99999999999999999999999", b" 5\x0b", b" \xef\xbc\x95", b" 5.0", b" 5e0")),
        request(b"Content-Length: 5\r\nContent-Length: 5\r\n", b"{}   "),
        request(b"Content-Length: 5\r\nContent-Length: 6\r\n", b"{}   "),
        request(b"Content-Length : 5\r\n", b"{}   "),
    ],
    "transfer-encoding": [
        coded(b"Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"),
        coded(b"Content-Length: 5\r\nTransfer-Encoding: chunked\r\n"),
        request(b"Transfer-Encoding: chunked\r\n", b"0\r\n\r\n", line=b"POST " + PATH + b" HTTP/1.0"),
        *(coded(b"Transfer-Encoding:" + value + b"\r\n") for value in (
            b" gzip", b" identity", b" xchunked", b" chunkedx", b" chunked, chunked", b" chunked, gzip",
            b" gzip, chunked", b"", b" ", b" ,chunked",
            b" chunked,", b" chunked;q=1", b" \x0bchunked", b" chunked\x0b", b" \x00chunked", b" \"chunked\"",
            b"\tchunked", b" chunked\t", b" chunked\xa0", b" \x85chunked")),
        coded(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
        coded(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n"),
        coded(b"Transfer-Encoding : chunked\r\n"), coded(b"Transfer-Encoding:\r\n chunked\r\n"),
    ],
    "chunks": [chunked(body) for body in (
        b"-1\r\n{}\r\n0\r\n\r\n", b"+2\r\n{}\r\n0\r\n\r\n", b"0x2\r\n{}\r\n0\r\n\r\n", b"1_0\r\n{}\r\n0\r\n\r\n",
        b" 2\r\n{}\r\n0\r\n\r\n", b"\r\n{}\r\n0\r\n\r\n",
        b"zz\r\n{}\r\n0\r\n\r\n", b"FFFFFFFFFFFFFFFF0\r\n{}\r\n0\r\n\r\n", b"2\r\n{}xx0\r\n\r\n", b"2\r\n{}\n0\r\n\r\n",
        b"2\n{}\r\n0\r\n\r\n", b"2\r{}\r\n0\r\n\r\n",
        b"2\r\n{}\r0\r\n\r\n", b"2;" + b"x" * 100_000 + b"\r\n{}\r\n0\r\n\r\n", b"2 x\r\n{}\r\n0\r\n\r\n",
        b"2;\x00\r\n{}\r\n0\r\n\r\n",
        b"2\r\n{}\r\n0\r\nbad trailer\r\n\r\n", b"2\r\n{}\r\n0\r\n folded: x\r\n\r\n")],
    "host": [request(host=value) for value in (
        b"", b"Host: a\r\nHost: a\r\n", b"Host: a\r\nHost: b\r\n", b"Host:\r\n", b"Host: \r\n",
        b"Host: user@localhost\r\n", b"Host: a,b\r\n", b"Host: a/b\r\n",
        b"Host: a b\r\n", b"Host: a:x\r\n", b"Host: [::1\r\n", b"Host: a?b\r\n", b"Host: a#b\r\n")],
    "fields": [request(value) for value in (
        b"X: a\x00b\r\n", b"X: a\x01b\r\n", b"X: a\x7fb\r\n", b"X: a\rb\r\n", b"X: a\nb\r\n", b"X: \x0b\r\n",
        b"X Y: a\r\n", b"X : a\r\n", b": a\r\n", b"X\r\n", b"X@: a\r\n",
        b"X\xc3\xa9: a\r\n", b"X(: a\r\n", b"X: a\r\n folded\r\n", b"X: a\r\n\tfolded\r\n", b"X: a\n", b"X: a\r",
        b"X\x00: a\r\n")] + [
        b"GET / HTTP/1.1\r\n Host: localhost\r\nUser-Agent: e2e\r\n\r\n",
        b"GET / HTTP/1.1\r\n\tHost: localhost\r\n\r\n", b"GET / HTTP/1.1\nHost: localhost\r\n\r\n",
        b"GET / HTTP/1.1\rHost: localhost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: localhost\n\n"],
    "request line": [*map(line, (
        b"GET  / HTTP/1.1", b"GET /  HTTP/1.1", b"GET\t/ HTTP/1.1", b"GET /\tHTTP/1.1", b" GET / HTTP/1.1",
        b"GET / HTTP/1.1 ", b"GET / HTTP/1.32", b"GET / HTTP/1.10", b"GET / HTTP/1.x",
        *(b"GET /" + bytes([byte]) + b" HTTP/1.1" for byte in b"\"<>[\\]^`{|}"),
        *(b"GET /?" + bytes([byte]) + b" HTTP/1.1" for byte in b"\"<>#\x7f\x80\xff"),
        b"GET / HTTP/9.9", b"GET / HTTP/2.0", b"GET / HTTP/0.9", b"GET / http/1.1", b"GET / HTTP/1", b"GET / HTTP/1.",
        b"GET / HTTP /1.1", b"GET /", b"GET", b"GET / XTTP/1.1",
        b"GET /#fragment HTTP/1.1", b"GET /\xc3\xa9 HTTP/1.1", b"GET /\x00 HTTP/1.1", b"GET /\x7f HTTP/1.1",
        b"GET x HTTP/1.1", b"GET * HTTP/1.1", b"G@T / HTTP/1.1",
        b"GET / x HTTP/1.1", b"(GET) / HTTP/1.1", b"GET http:// HTTP/1.1", b"GET ftp://localhost/ HTTP/1.1",
        b"GET http://user@localhost/ HTTP/1.1")),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(64)),
        b"\x00\x00\r\n\r\n", b"\r\r\nGET / HTTP/1.1\r\n\r\n"],
}
LARGE = [
    (414, line(b"GET /" + b"x" * 9000 + b" HTTP/1.1")), (414, b"GET /" + b"x" * 100_000),
    (431, request(b"X: " + b"x" * 17_000 + b"\r\n")),
    (431, request(b"X: x\r\n" * 101)), (431, b"GET / HTTP/1.1\r\nHost: a\r\nX: " + b"x" * 100_000),
    (501, b"G" * 100_000),  # longer than any known method: RFC 9112 section 3
]


class Malformed(Case):
    TLS = False
    BYTE_BY_BYTE = True

    @classmethod
    def setUpClass(cls):
        # The client times out long before the server: a response to an incomplete request does not come from a time-out.
        cls.server = Server(*HIGH_LIMITS, "--header-timeout", "1h", "--idle-timeout", "1h", store="memory:", tls=cls.TLS)
        cls.addClassCleanup(cls.server.stop)

    def assert_refused(self, status, *pieces):
        with self.server.connect() as connection:
            with contextlib.suppress(OSError):  # refused before the last byte; the response can be read nevertheless
                for piece in pieces:
                    connection.send(piece)
            response = connection.read()
            self.assert_error(response, status)
            self.assertEqual("close", response.get("Connection"))
            self.assertTrue(connection.ended(), "a second response, or an open connection")

    def test_refused_whole_byte_by_byte_and_with_a_second_request(self):
        for kind, samples in REFUSED.items():
            for sent in samples:
                with self.subTest(kind=kind, sent=sent[:120]):
                    self.assert_refused(400, sent)
                    self.assert_refused(400, sent + NEXT_REQUEST)
                    if self.BYTE_BY_BYTE and len(sent) < 500:
                        self.assert_refused(400, *(bytes([byte]) for byte in sent))

    def test_too_large_heads_are_refused_at_once(self):
        for status, sent in LARGE:
            with self.subTest(status=status, sent=sent[:60]):
                self.assert_refused(status, sent)
                self.assert_refused(status, *(sent[i:i + 1000] for i in range(0, len(sent), 1000)))

    def test_a_body_is_never_parsed_as_a_request(self):
        body = NEXT_REQUEST * 3
        cases = [(b"GET /v1/testservice/get HTTP/1.1", b"", 200), (b"DELETE /v1/sitesmaker/hooks/1 HTTP/1.1", b"", 401),
                 (b"HEAD /v1/nowhere HTTP/1.1", b"", 404),
                 (b"POST /v1/nowhere HTTP/1.1", b"", 404), (b"POST /v1/sitesmaker/1/hooks HTTP/1.1", b"", 401),
                 (b"POST /v1/testservice/post HTTP/1.1", b"Content-Type: text/plain\r\n", 415),
                 (b"POST /v1/testservice/post HTTP/1.1",
                  b"Content-Type: application/json\r\nContent-Encoding: gzip\r\n", 415),
                 (b"PUT /v1/testservice/get HTTP/1.1", b"", 405), (b"BREW /v1/testservice/get HTTP/1.1", b"", 501)]
        for request_line, fields, status in cases:
            framings = ((b"Content-Length: %d\r\n" % len(body), body),
                        (b"Transfer-Encoding: chunked\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(body), body)))
            for framing, sent in framings:
                with self.subTest(line=request_line, framing=framing), self.server.connect() as connection:
                    connection.send(request(fields + framing, sent, request_line) + LAST_REQUEST)
                    first = connection.read(request_line.split()[0].decode())
                    self.assertEqual(status, first.status)
                    second = connection.read()  # the response to the last request, or None
                    if second is not None:
                        self.assertEqual(404, second.status)  # those in the body would get 200
                        self.assertTrue(connection.ended())

    def test_a_body_without_an_agent_or_too_large_is_not_a_request(self):
        json_type = b"Content-Type: application/json\r\n"
        without_agent = b"POST " + PATH + b" HTTP/1.1\r\nHost: x\r\n" + json_type
        too_large = (NEXT_REQUEST * 1000)[:70_000]
        for sent, status in ((without_agent + b"Content-Length: %d\r\n\r\n" % len(NEXT_REQUEST) + NEXT_REQUEST, 403),
                             (request(json_type + b"Content-Length: 70000\r\n", too_large), 413),
                             (request(json_type + b"Transfer-Encoding: chunked\r\n",
                                      b"%x\r\n%b\r\n0\r\n\r\n" % (70_000, too_large)), 413)):
            with self.subTest(status=status), self.server.connect() as connection:
                with contextlib.suppress(OSError):
                    connection.send(sent + request(line=b"GET /v1/nowhere HTTP/1.1"))
                self.assert_error(connection.read(), status)
                second = connection.read()
                self.assertTrue(second is None or second.status == 404, "a response to part of a body")

    def test_unusual_but_valid_requests(self):
        for sent in (request(b"Content-Type: application/json\r\nContent-Length: 2\r\n", b"{}"),
                     chunked(b"2\r\n{}\r\n0\r\n\r\n"), chunked(b"2;a=b;c=\"d\"\r\n{}\r\n0\r\n\r\n"),
                     chunked(b"0002\r\n{}\r\n000\r\n\r\n"), chunked(b"1\r\n{\r\n1\r\n}\r\n0\r\nX-Trailer: y\r\n\r\n"),
                     coded(b"Transfer-Encoding: CHUNKED\r\n"), line(b"GET /v1/testservice/get HTTP/1.9"),
                     line(b"GET /v1/testservice/get?filter[]=1&state={a:'b'}|^`\\ HTTP/1.1"),
                     b"\r\n" + request(b"X-Odd: !#$%&'*+-.^_`|~\t \r\nX-Empty:\r\nX-High: \xc3\xa9\r\n")):
            for pieces in ([sent], [bytes([byte]) for byte in sent]):
                with self.subTest(sent=sent[:150]), self.server.connect() as connection:
                    for piece in pieces:
                        connection.send(piece)
                    self.assertEqual(200, connection.read().status)
                    connection.send(NEXT_REQUEST)
                    self.assertEqual(200, connection.read().status)

    def test_trailers_never_change_the_request(self):
        sent = coded(b"Transfer-Encoding: chunked\r\n",
                     b"2\r\n{}\r\n0\r\nAuthorization: Basic x\r\nHost: other\r\nContent-Length: 500\r\n\r\n")
        with self.server.connect() as connection:
            connection.send(sent + NEXT_REQUEST)
            self.assertEqual([200, 200], [connection.read().status for _ in range(2)])

    def test_expect_100_continue(self):
        head = request(b"Content-Type: application/json\r\nContent-Length: 2\r\nExpect: 100-continue\r\n")
        with self.server.connect() as connection:
            connection.send(head)
            self.assertEqual(b"HTTP/1.1 100 Continue\r\n", connection.incoming.readline())
            self.assertEqual(b"\r\n", connection.incoming.readline())
            connection.send(b"{}")
            self.assertEqual(200, connection.read().status)
        with self.server.connect() as connection:
            connection.send(request(b"Content-Length: 2\r\nExpect: the impossible\r\n", b"{}"))
            self.assert_error(connection.read(), 417)

    def test_response_fields_cannot_be_split(self):
        for path in ("/v1/%0d%0aX-Injected:%201", "/%0d%0a%0d%0aHTTP/1.1%20200%20OK", "/docs%0d%0aX:1"):
            response = self.server.request("GET", path)
            self.assertEqual(404, response.status)
            self.assertFalse({name.lower() for name, _ in response.fields} & {"x", "x-injected"})


class MalformedOverTls(Malformed):
    TLS = True
    BYTE_BY_BYTE = False  # one TLS record for each byte takes long, and tests nothing else of the parser


if __name__ == "__main__":
    main()
