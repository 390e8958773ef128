"""What is asked of a running contender, and what it cost: each function is one figure of a table."""

from __future__ import annotations

import contextlib
import json
import pathlib
import subprocess
import tempfile
import time

from common.processes import BENCHMARK, BIN, LOAD_CORE, SERVER_CORE, Failed, Server, pinned, running
from contenders import Contender

CONNECTIONS = 64
POPULATION_CONNECTIONS = 256  # of many users
DEPTH = 16               # requests in one piece, when pipelined
SLACK_SECONDS = 20       # what a load may take beyond its own time before it is ended


def _client(server: Server, *words: object, seconds: float = 60) -> int:
    """Runs `load_client` to its end and returns how many requests were answered."""
    return int(_told_by_client(server, *words, seconds=seconds))


def _told_by_client(server: Server, *words: object, seconds: float = 60) -> str:
    command = [BIN / "load_client", "tls" if server.contender.tls else "plain", str(server.port),
               server.authorization, *map(str, words)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=pinned(LOAD_CORE))
    except subprocess.TimeoutExpired:
        raise Failed(f"{server.contender.name}: {words[0]} took over {seconds} s") from None
    if done.returncode != 0:
        raise Failed(f"{server.contender.name}: {words[0]}: {done.stderr[-300:].strip()} {server.errors()}")
    return done.stdout


def answered_to_wrk(server: Server, depth: int, seconds: int) -> int:
    return _told_by_wrk(server, CONNECTIONS, depth, seconds)["requests"]


def answered_to_population(server: Server, seconds: int, authorizations: pathlib.Path) -> int:
    """`authorizations`: a file with one for each user, of whom each request is by another."""
    return _told_by_wrk(server, POPULATION_CONNECTIONS, 1, seconds, authorizations)["requests"]


def median_alone(server: Server, seconds: int, authorizations: pathlib.Path) -> float:
    """Microseconds that a request takes while there is no other, each by another user."""
    return _told_by_wrk(server, 1, 1, seconds, authorizations)["median"]


def _told_by_wrk(server: Server, connections: int, depth: int, seconds: int, authorizations: pathlib.Path | None = None) -> dict[str, int]:
    scheme = "https" if server.contender.tls else "http"
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s",
               BENCHMARK / "common" / "load.lua", "-H", "User-Agent: benchmark",
               "-H", f"Authorization: {server.authorization}",
               *(["-H", "Connection: keep-alive"] if server.contender.asks_keep_alive else []),
               f"{scheme}://127.0.0.1:{server.port}/v1/user/balance", "--", str(depth),
               *([authorizations] if authorizations else [])]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + SLACK_SECONDS,
                              preexec_fn=pinned(LOAD_CORE))
    except subprocess.TimeoutExpired:
        raise Failed(f"{server.contender.name}: wrk did not end") from None
    if done.returncode != 0 or not done.stdout:
        raise Failed(f"{server.contender.name}: wrk: {done.stderr[-300:].strip()}")
    told = json.loads(done.stdout.splitlines()[-1])
    if told["failures"] != 0 or told["requests"] == 0:
        raise Failed(f"{server.contender.name}: {told['failures']} of {told['requests']} requests failed")
    return told


def requests_per_cpu_second(contender: Contender, depth: int, seconds: int, threads: int = 1) -> float:
    """Requests answered for each second of CPU that the server used while wrk kept it busy."""
    with running(contender, threads=threads) as server:
        _client(server, "rounds", CONNECTIONS, 20)  # warm: caches, allocator, lazy initialisation
        before = server.cpu_seconds()
        answered = answered_to_wrk(server, depth, seconds)
        return answered / (server.cpu_seconds() - before)


def ask_in_rounds(server: Server, rounds: int, connections: int = CONNECTIONS) -> None:
    _client(server, "rounds", connections, rounds)


def latency_microseconds(server: Server, requests: int) -> tuple[float, float]:
    """Median and 99th percentile of what one caller waits who asks now and then."""
    median, p99 = _told_by_client(server, "latency", requests).split()
    return float(median), float(p99)


def handshakes_per_cpu_second(contender: Contender, seconds: float) -> float:
    """Full TLS 1.3 handshakes, each with one request and a close, for each second of the server's CPU."""
    with running(contender) as server:
        _client(server, "rounds", CONNECTIONS, 1)
        before = server.cpu_seconds()
        done = _client(server, "handshakes", int(seconds * 1000), seconds=seconds + SLACK_SECONDS)
        return done / (server.cpu_seconds() - before)


@contextlib.contextmanager
def _idle(server: Server, connections: int):
    """So many connections that have asked once and now say nothing."""
    command = [BIN / "load_client", "tls" if server.contender.tls else "plain", str(server.port), server.authorization,
               "idle", str(connections)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=pinned(LOAD_CORE)) as client:
        try:
            if not client.stdout.readline():  # ends by itself: all its waits are bounded
                raise Failed(f"{server.contender.name}: idle: {client.stderr.read()[-300:].strip()} {server.errors()}")
            yield
        finally:
            client.kill()


def bytes_per_idle_connection(contender: Contender, connections: int, settle_seconds: float) -> float:
    """Growth of the server's resident memory by `connections` idle ones beside a quarter as many: what the first ones
    find in pools, and what a server needs once, drops out."""
    with running(contender) as server, _idle(server, connections // 4):
        time.sleep(settle_seconds)  # a server may give buffers back only after a while
        before = server.resident_bytes()
        with _idle(server, connections):
            time.sleep(settle_seconds)
            return (server.resident_bytes() - before) / connections


def _instructions_of(run_under) -> int:
    """All user-space instructions that callgrind counted while `run_under(tool)` ran. Counters of the processor would
    be quicker, but virtual machines seldom have them; and these repeat almost to the instruction."""
    with tempfile.TemporaryDirectory() as place:
        counted = pathlib.Path(place) / "callgrind.out"
        run_under(("valgrind", "--tool=callgrind", "-q", "--fair-sched=try", f"--callgrind-out-file={counted}"))
        for line in counted.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1])
    raise Failed("callgrind counted nothing")


def instructions_per_request(contender: Contender, rounds: int) -> float:
    """The difference between a run and one with twice the requests, so that starting and stopping drop out."""
    def ask(times: int):
        def run_under(tool):
            with running(contender, tool) as server:
                _client(server, "rounds", CONNECTIONS, times, seconds=120)
        return run_under
    return (_instructions_of(ask(2 * rounds)) - _instructions_of(ask(rounds))) / (rounds * CONNECTIONS)


def handle_nanoseconds_and_allocations(calls: int, users: int | None = None) -> tuple[float, float]:
    """Of one warm `handle` of a balance request, without a server around it; with `users`, each call is one of theirs, at random."""
    done = subprocess.run([BIN / "handle_cost", str(calls), *([str(users)] if users else [])], capture_output=True, text=True, timeout=120,
                          preexec_fn=pinned(SERVER_CORE))
    if done.returncode != 0:
        raise Failed(f"handle: {done.stderr[-300:].strip()}")
    told = json.loads(done.stdout)
    return told["nanoseconds"], told["allocations"]


def handle_calls_per_second(calls: int, users: int, threads: int) -> float:
    """By the clock: calls that wait for each other use no CPU meanwhile."""
    done = subprocess.run([BIN / "handle_cost", str(calls), str(users), str(threads)], capture_output=True, text=True, timeout=120)
    if done.returncode != 0:
        raise Failed(f"handle: {done.stderr[-300:].strip()}")
    return json.loads(done.stdout)["calls_per_second"]


def handle_instructions(calls: int) -> float:
    def call(times: int):
        return lambda tool: subprocess.run([*tool, BIN / "handle_cost", str(times)], check=True, capture_output=True,
                                           timeout=120)
    return (_instructions_of(call(2 * calls)) - _instructions_of(call(calls))) / calls


def webhook_figures() -> dict[str, float]:
    """What a dispatcher costs and how long webhooks take, by the names that the program gives its figures."""
    done = subprocess.run([BIN / "webhook_deliveries"], capture_output=True, text=True, timeout=600)
    if done.returncode != 0:
        raise Failed(f"webhooks: {done.stderr[-300:].strip()}")
    return json.loads(done.stdout)
