#!/usr/bin/env python3
"""The curl line that the example prints works as pasted, also after clients that reset their connections."""

import pathlib
import socket
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import curl_line  # noqa: E402


def reset_connections(port):
    """Some of them are reset before they are accepted."""
    for _ in range(200):
        with socket.create_connection(("127.0.0.1", port)) as client:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


curl_line.check(sys.argv[1], '"balance":12.50', curl_line.BY_SIGNAL, before=reset_connections)
curl_line.check_taken_port(sys.argv[1])
