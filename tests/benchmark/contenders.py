"""The servers that are compared. A new contender is a program in `CMakeLists.txt` and a line here."""

from __future__ import annotations

from dataclasses import dataclass

PLAIN_REFERENCE = "raw_epoll"       # ratios of plain HTTP are to the limit of what a server can reach
TLS_REFERENCE = "plain_asio_tls"    # ratios of TLS are to a plain server with Asio's TLS


@dataclass(frozen=True)
class Contender:
    name: str                           # for --only
    title: str                          # in the table
    program: str                        # in the build's bin directory, or "nginx"
    tls: bool = False
    pipelined: bool = True              # supports pipelined requests
    idle: bool = True                   # can hold thousands of connections
    needs_keep_alive: bool = False      # closes unless the request has the `Connection: keep-alive` of HTTP/1.0
    prints_authorization: bool = False  # its first line is the value of Authorization for requests


CONTENDERS = (
    Contender("raw_epoll", "raw epoll, fixed answer (the limit)", "raw_epoll"),
    Contender("plain_asio", "plain Asio, fixed answer", "plain_asio"),
    Contender("tollgate_fixed", "**Tollgate's server, fixed handler**", "tollgate_fixed"),
    Contender("tollgate_fixed_asio", "**the same on Asio instead of epoll**", "tollgate_fixed_asio"),
    Contender("tollgate_memory", "**Tollgate, whole API, memory store**", "tollgate_memory", prints_authorization=True),
    Contender("tollgate_sqlite", "**Tollgate, whole API, SQLite**", "tollgate_sqlite", prints_authorization=True),
    Contender("nginx", "nginx, `return 200`", "nginx"),
    Contender("restinio", "RESTinio, bare handler", "restinio"),
    Contender("pistache", "Pistache, bare handler", "pistache", pipelined=False, needs_keep_alive=True),
    Contender("beast", "Boost.Beast, bare handler", "beast"),
    # It drops its read buffer after each request, and uses a thread for each connection.
    Contender("cpp_httplib", "cpp-httplib, bare handler", "cpp_httplib", pipelined=False, idle=False),
    Contender("plain_asio_tls", "plain Asio + `asio::ssl::stream`, fixed answer", "plain_asio", tls=True),
    Contender("tollgate_fixed_tls", "**Tollgate's server, fixed handler**", "tollgate_fixed", tls=True),
    Contender("tollgate_memory_tls", "**Tollgate, whole API, memory store**", "tollgate_memory", tls=True,
              prints_authorization=True),
    Contender("nginx_tls", "nginx, `return 200`", "nginx", tls=True),
)
