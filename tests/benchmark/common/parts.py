"""The PostgreSQL and the Redis that nodes share, started for this run."""

from __future__ import annotations

import contextlib
import os
import pathlib
import selectors
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

from common.processes import BENCHMARK, BUILD, LOAD_CORE, Failed, cpu_seconds_of

sys.path.insert(0, str(BENCHMARK.parent / "support"))
from servers import Postgres, Redis  # noqa: E402

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Database:
    """PostgreSQL with durable commits, on the core of the load."""

    def __init__(self):
        self._server = Postgres(durable=True)
        self.directory = self._server.directory
        self.port = self._server.port
        self._pid = self._server.process.pid
        for pid in [self._pid, *self._children()]:
            with contextlib.suppress(ProcessLookupError):
                os.sched_setaffinity(pid, {LOAD_CORE})
        self._schemas = 0
        self.schema = ""

    def fresh(self) -> str:
        """Creates an empty schema, which `query` uses from now on. Returns its connection string."""
        self._schemas += 1
        self.schema = f"benchmark_{self._schemas}"
        self.query(f"CREATE SCHEMA {self.schema}")
        return self.at(self.directory)

    def at(self, directory: pathlib.Path) -> str:
        """The connection string with a socket in another directory."""
        return f"host={directory} port={self.port} user=postgres dbname=postgres options=-csearch_path={self.schema}"

    def query(self, text: str) -> list[list[str]]:
        connection_string = self.at(self.directory) if self.schema else \
            f"host={self.directory} port={self.port} user=postgres dbname=postgres"
        result = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", connection_string],
                                input=text, capture_output=True, text=True, timeout=900)
        if result.returncode != 0:
            raise Failed(f"psql: {result.stderr[-300:].strip()}")
        return [line.split("\t") for line in result.stdout.splitlines()]

    def cpu_seconds(self) -> float:
        """The CPU seconds of all its processes, including those that have ended."""
        fields = pathlib.Path(f"/proc/{self._pid}/stat").read_text().rsplit(")", 1)[1].split()
        ended = (int(fields[13]) + int(fields[14])) / TICKS_PER_SECOND
        return ended + sum(cpu_seconds_of(pid) or 0 for pid in [self._pid, *self._children()])

    def flush_milliseconds(self) -> float:
        """The minimum duration of a commit: the median of 100 writes to its disk."""
        durations = []
        with open(self.directory / "flushed", "wb", buffering=0) as file:
            for _ in range(100):
                file.write(bytes(8192))
                started = time.monotonic()
                os.fdatasync(file.fileno())
                durations.append((time.monotonic() - started) * 1000)
        return statistics.median(durations)

    def connections(self) -> int:
        return int(self.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")[0][0]) - 1

    def _children(self) -> list[int]:
        return [int(pid) for pid in
                pathlib.Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()]

    def stop(self) -> None:
        self._server.stop()


class Windows:
    """Redis, without a copy on disk."""

    def __init__(self):
        self._server = Redis()
        self.url = self._server.url
        for thread in pathlib.Path(f"/proc/{self._server.process.pid}/task").iterdir():
            os.sched_setaffinity(int(thread.name), {LOAD_CORE})

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._server.process.pid) or 0

    def scripts_run(self) -> int:
        """How often it ran a script, once for each use of a window."""
        with socket.create_connection(("127.0.0.1", self._server.port), timeout=5) as connection:
            connection.sendall(b"*2\r\n$4\r\nINFO\r\n$12\r\ncommandstats\r\n")
            data = b""
            while b"\r\n" not in data or not data.endswith(b"\r\n"):
                data += connection.recv(65536)
        return sum(int(line.split(b"calls=")[1].split(b",")[0]) for line in data.split()
                   if line.startswith(b"cmdstat_eval"))

    def stop(self) -> None:
        self._server.close()


class RoundTripProxy:
    """A proxy for PostgreSQL's socket that counts round trips: how often a client sends data after a response. Those of the
    connection that listens for changes, four a second, do not count."""

    def __init__(self, database: Database):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="turns_", dir=BUILD))
        name = f".s.PGSQL.{database.port}"
        self._target = str(database.directory / name)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.directory / name))
        self._listener.listen(64)
        self._counts: list[list] = []  # of each connection: whether it listens for changes, and its round trips
        threading.Thread(target=self._accept, daemon=True).start()

    def request_round_trips(self) -> int:
        return sum(count for is_listener, count in self._counts if not is_listener)

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            count = [False, 0]
            self._counts.append(count)
            threading.Thread(target=self._forward, args=(client, count), daemon=True).start()

    def _forward(self, client: socket.socket, count: list) -> None:
        with client, socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as ready:
            server.connect(self._target)
            ready.register(client, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, client)
            has_response = True
            with contextlib.suppress(OSError):
                while True:
                    for key, _ in ready.select():
                        data = key.fileobj.recv(65536)
                        if not data:
                            return
                        if key.fileobj is server:
                            has_response = True
                        elif has_response:
                            has_response = False
                            count[0] = count[0] or b"LISTEN tollgate" in data
                            count[1] += 1
                        key.data.sendall(data)

    def stop(self) -> None:
        self._listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)
