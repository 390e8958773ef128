"""Starts contenders, pinned to the server's core, and reads their CPU time and memory."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pathlib
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from contenders import Contender

BENCHMARK = pathlib.Path(__file__).resolve().parent.parent
BUILD = BENCHMARK.parent.parent / "build" / "benchmark"
BIN = BUILD / "bin"

START_SECONDS_MAX = 30   # a debugging tool such as valgrind starts slowly
STOP_SECONDS_MAX = 15

_cores = sorted(os.sched_getaffinity(0))
SERVER_CORE, LOAD_CORE = _cores[0], _cores[-1]


class Failed(Exception):
    """A contender or a load failed."""


def raise_descriptor_limit() -> int:
    """Raises the limit of descriptors, for thousands of idle connections on both sides, and returns it."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def pinned(core: int):
    """A `preexec_fn` that pins the child to one core."""
    return lambda: os.sched_setaffinity(0, {core})


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def cpu_seconds_of(pid: int) -> float | None:
    """User and system time of a process: as in /proc/PID/stat, but with nanoseconds instead of ticks."""
    clock = ctypes.c_int()
    if ctypes.CDLL(None).clock_getcpuclockid(pid, ctypes.byref(clock)) != 0:
        return None
    try:
        return time.clock_gettime(clock.value)
    except OSError:
        return None


def certificate() -> tuple[pathlib.Path, pathlib.Path]:
    """A self-signed P-256 certificate and its key, created once for each build directory."""
    file, key = BUILD / "certificate.pem", BUILD / "key.pem"
    if not file.exists():
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "3650", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", file],
                       check=True, capture_output=True, timeout=60)
    return file, key


def _nginx_command(folder: pathlib.Path, port: int, tls: bool) -> list[str]:
    """nginx as one process without a master, which returns a fixed response."""
    cert, key = certificate() if tls else ("", "")
    tls_directives = f"ssl_certificate {cert}; ssl_certificate_key {key}; ssl_protocols TLSv1.3;" if tls else ""
    temporary = " ".join(f"{kind}_temp_path {folder}/{kind};" for kind in
                         ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    settings = folder / "nginx.conf"
    settings.write_text(f"""
daemon off; master_process off; pid {folder}/pid; error_log stderr crit;
events {{ worker_connections 16384; }}
http {{
    access_log off; {temporary}
    keepalive_requests 1000000000; keepalive_timeout 300s; tcp_nodelay on;
    server {{
        listen 127.0.0.1:{port}{" ssl" if tls else ""}; {tls_directives}
        location = /v1/user/balance {{
            default_type application/json;
            return 200 '{{"id":1,"balance":1234.56,"currency":"EUR"}}';
        }}
    }}
}}
""")
    return ["nginx", "-e", "stderr", "-c", str(settings)]


class Server:
    """A running contender."""

    def __init__(self, contender: Contender, tool: tuple[str, ...] = (), arguments: tuple[str, ...] = (), threads: int = 1):
        self.contender = contender
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix=f"{contender.name}_", dir=BUILD))  # removed with the server
        self.port = free_port()
        self.authorization = "Basic " + "dG9sbGdhdGU6" * 6  # as long as a real one; bare handlers do not read it
        if contender.program == "nginx":
            command = _nginx_command(self._folder, self.port, contender.tls)
        else:
            command = [str(BIN / contender.program), str(self.port), *arguments]
            command += [str(path) for path in certificate()] if contender.tls else []
        self._errors = (self._folder / "stderr").open("w+")
        self._process = subprocess.Popen([*tool, *command], cwd=self._folder, text=True, stdin=subprocess.DEVNULL,
                                         stdout=subprocess.PIPE, stderr=self._errors, env={**os.environ, "BENCHMARK_THREADS": str(threads)},
                                         preexec_fn=pinned(SERVER_CORE) if threads == 1 else None)
        self.pid = self._process.pid

    def wait_until_ready(self) -> None:
        end = time.monotonic() + START_SECONDS_MAX
        while True:
            if self._process.poll() is not None or time.monotonic() > end:
                raise Failed(f"{self.contender.name} does not start: {self.errors()}")
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                break
            time.sleep(0.02)
        if self.contender.prints_authorization:
            self.authorization = self._process.stdout.readline().strip()

    def errors(self) -> str:
        self._errors.flush()
        self._errors.seek(0)
        return self._errors.read()[-400:].strip()

    def cpu_seconds(self) -> float:
        """User and system time of all its threads."""
        used = cpu_seconds_of(self.pid)
        if used is None:
            raise Failed(f"{self.contender.name} has ended: {self.errors()}")
        return used

    def resident_bytes(self) -> int:
        for line in pathlib.Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1]) * 1024
        raise Failed(f"{self.contender.name} has ended: {self.errors()}")

    def stop(self) -> None:
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(STOP_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._process.stdout.close()
        self._errors.close()
        shutil.rmtree(self._folder, ignore_errors=True)


@contextlib.contextmanager
def running(contender: Contender, tool: tuple[str, ...] = (), arguments: tuple[str, ...] = (), threads: int = 1):
    server = Server(contender, tool, arguments, threads)
    try:
        server.wait_until_ready()
        yield server
    finally:
        server.stop()
