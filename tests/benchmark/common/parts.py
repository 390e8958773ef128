"""The PostgreSQL and the Redis that nodes share: real ones, started for this run, which nobody else sees."""

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

from common.processes import BENCHMARK, BUILD, LOAD_CORE, START_SECONDS_MAX, Failed, cpu_seconds_of, free_port, pinned

sys.path.insert(0, str(BENCHMARK.parent / "support"))
from servers import Postgres  # noqa: E402

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


class Database:
    """PostgreSQL as one sets it up who wants to keep what is in it: it waits for the disk. Beside the load, off the
    nodes' core."""

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
        """The connection string of an empty schema, which `query` looks into from now on."""
        self._schemas += 1
        self.schema = f"benchmark_{self._schemas}"
        self.query(f"CREATE SCHEMA {self.schema}")
        return self.at(self.directory)

    def at(self, directory: pathlib.Path) -> str:
        """The same, through a socket in another directory."""
        return f"host={directory} port={self.port} user=postgres dbname=postgres options=-csearch_path={self.schema}"

    def query(self, text: str) -> list[list[str]]:
        where = self.at(self.directory) if self.schema else \
            f"host={self.directory} port={self.port} user=postgres dbname=postgres"
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-F", "\t", "-v", "ON_ERROR_STOP=1", "-d", where],
                              input=text, capture_output=True, text=True, timeout=900)
        if done.returncode != 0:
            raise Failed(f"psql: {done.stderr[-300:].strip()}")
        return [line.split("\t") for line in done.stdout.splitlines()]

    def cpu_seconds(self) -> float:
        """Of all its processes, those that have ended, too."""
        ended = pathlib.Path(f"/proc/{self._pid}/stat").read_text().rsplit(")", 1)[1].split()
        used = (int(ended[13]) + int(ended[14])) / TICKS_PER_SECOND
        return used + sum(cpu_seconds_of(pid) or 0 for pid in [self._pid, *self._children()])

    def flush_milliseconds(self) -> float:
        """What a commit waits for at least: the median of 100 writes to its disk."""
        took = []
        with open(self.directory / "flushed", "wb", buffering=0) as file:
            for _ in range(100):
                file.write(bytes(8192))
                began = time.monotonic()
                os.fdatasync(file.fileno())
                took.append((time.monotonic() - began) * 1000)
        return statistics.median(took)

    def connections(self) -> int:
        return int(self.query("SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'")[0][0]) - 1

    def _children(self) -> list[int]:
        return [int(pid) for pid in
                pathlib.Path(f"/proc/{self._pid}/task/{self._pid}/children").read_text().split()]

    def stop(self) -> None:
        self._server.stop()


class Windows:
    """Redis, which keeps nothing on a disk: windows are over before that would be of use."""

    def __init__(self):
        self._place = pathlib.Path(tempfile.mkdtemp(prefix="redis_", dir=BUILD))
        self.port = free_port()
        self._process = subprocess.Popen(
            ["redis-server", "--bind", "127.0.0.1", "--port", str(self.port), "--save", "", "--appendonly", "no",
             "--maxmemory-policy", "noeviction", "--dir", self._place], stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=pinned(LOAD_CORE))
        self.url = f"redis://127.0.0.1:{self.port}/0"
        end = time.monotonic() + START_SECONDS_MAX
        while True:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            if self._process.poll() is not None or time.monotonic() > end:
                raise Failed("redis-server does not start")
            time.sleep(0.02)

    def cpu_seconds(self) -> float:
        return cpu_seconds_of(self._process.pid) or 0

    def scripts_run(self) -> int:
        """How often it was asked about a window."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as asking:
            asking.sendall(b"*2\r\n$4\r\nINFO\r\n$12\r\ncommandstats\r\n")
            told = b""
            while b"\r\n" not in told or not told.endswith(b"\r\n"):
                told += asking.recv(65536)
        return sum(int(line.split(b"calls=")[1].split(b",")[0]) for line in told.split()
                   if line.startswith(b"cmdstat_eval"))

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        shutil.rmtree(self._place, ignore_errors=True)


class Turns:
    """A socket before PostgreSQL's that counts round trips: how often somebody asks after having been answered. Asking
    whether changes are still heard (four times a second on a connection of its own) is counted apart."""

    def __init__(self, database: Database):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="turns_", dir=BUILD))
        name = f".s.PGSQL.{database.port}"
        self._behind = str(database.directory / name)
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.directory / name))
        self._listener.listen(64)
        self._counts: list[list] = []  # of each connection: whether it listens, turns
        threading.Thread(target=self._accept, daemon=True).start()

    def of_requests(self) -> int:
        return sum(count for listens, count in self._counts if not listens)

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._listener.accept()
            except OSError:
                return
            count = [False, 0]
            self._counts.append(count)
            threading.Thread(target=self._forward, args=(caller, count), daemon=True).start()

    def _forward(self, caller: socket.socket, count: list) -> None:
        with caller, socket.socket(socket.AF_UNIX) as server, selectors.DefaultSelector() as ready:
            server.connect(self._behind)
            ready.register(caller, selectors.EVENT_READ, server)
            ready.register(server, selectors.EVENT_READ, caller)
            was_answered = True
            with contextlib.suppress(OSError):
                while True:
                    for key, _ in ready.select():
                        told = key.fileobj.recv(65536)
                        if not told:
                            return
                        if key.fileobj is server:
                            was_answered = True
                        elif was_answered:
                            was_answered = False
                            count[0] = count[0] or b"LISTEN tollgate" in told
                            count[1] += 1
                        key.data.sendall(told)

    def stop(self) -> None:
        self._listener.close()
        shutil.rmtree(self.directory, ignore_errors=True)
