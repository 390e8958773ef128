"""Sends load to a running contender and measures its cost. Each function is one figure of a table."""

from __future__ import annotations

import contextlib
import json
import pathlib
import statistics
import subprocess
import tempfile
import time

from common.processes import BENCHMARK, BIN, LOAD_CORE, SERVER_CORE, Failed, Server, pinned, running
from contenders import Contender

CONNECTIONS = 64
POPULATION_CONNECTIONS = 256  # of many users
DEPTH = 16               # pipelined requests that are sent at once
SLACK_SECONDS = 20       # how much longer than its duration a load may take


def _client(server: Server, *words: object, seconds: float = 60) -> int:
    """Runs `load_client`, and returns how many requests got a response."""
    return int(_client_output(server, *words, seconds=seconds))


def _client_output(server: Server, *words: object, seconds: float = 60) -> str:
    command = [BIN / "load_client", "tls" if server.contender.tls else "plain", str(server.port),
               server.authorization, *map(str, words)]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds, preexec_fn=pinned(LOAD_CORE))
    except subprocess.TimeoutExpired:
        raise Failed(f"{server.contender.name}: {words[0]} took over {seconds} s") from None
    if result.returncode != 0:
        raise Failed(f"{server.contender.name}: {words[0]}: {result.stderr[-300:].strip()} {server.errors()}")
    return result.stdout


def requests_with_wrk(server: Server, depth: int, seconds: int) -> int:
    return _wrk_figures(server, CONNECTIONS, depth, seconds)["requests"]


def requests_with_population(server: Server, seconds: int, authorizations: pathlib.Path) -> int:
    """The number of requests, each of another user. `authorizations`: a file with a line for each user."""
    return _wrk_figures(server, POPULATION_CONNECTIONS, 1, seconds, authorizations)["requests"]


def median_of_one_client(server: Server, seconds: int, authorizations: pathlib.Path) -> float:
    """The median latency of one client without other load, in microseconds. Each request is of another user."""
    return _wrk_figures(server, 1, 1, seconds, authorizations)["median"]


def _wrk_figures(server: Server, connections: int, depth: int, seconds: int, authorizations: pathlib.Path | None = None) -> dict[str, int]:
    scheme = "https" if server.contender.tls else "http"
    command = ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s",
               BENCHMARK / "common" / "load.lua", "-H", "User-Agent: benchmark",
               "-H", f"Authorization: {server.authorization}",
               *(["-H", "Connection: keep-alive"] if server.contender.needs_keep_alive else []),
               f"{scheme}://127.0.0.1:{server.port}/v1/user/balance", "--", str(depth),
               *([authorizations] if authorizations else [])]
    try:
        result = subprocess.run(command, capture_output=True, text=True, timeout=seconds + SLACK_SECONDS,
                                preexec_fn=pinned(LOAD_CORE))
    except subprocess.TimeoutExpired:
        raise Failed(f"{server.contender.name}: wrk did not end") from None
    if result.returncode != 0 or not result.stdout:
        raise Failed(f"{server.contender.name}: wrk: {result.stderr[-300:].strip()}")
    figures = json.loads(result.stdout.splitlines()[-1])
    if figures["failures"] != 0 or figures["requests"] == 0:
        raise Failed(f"{server.contender.name}: {figures['failures']} of {figures['requests']} requests failed")
    return figures


def requests_per_cpu_second(contender: Contender, depth: int, seconds: int, threads: int = 1) -> float:
    """Requests for each CPU second of the server under the load of wrk."""
    with running(contender, threads=threads) as server:
        _client(server, "rounds", CONNECTIONS, 20)  # warm-up: caches, allocator, lazy initialization
        before = server.cpu_seconds()
        requests = requests_with_wrk(server, depth, seconds)
        return requests / (server.cpu_seconds() - before)


def cost_ratio(contender: Contender, other: Contender, depth: int, pairs: int) -> float:
    """How many times the requests per CPU second of `other` a contender serves: the median of pairs of one-second loads in turn, in
    both orders, while both servers run. Differences of a few percent are lost between two runs of one server."""
    with running(contender) as server, running(other) as other_server:
        def cost(measured: Server) -> float:
            before = measured.cpu_seconds()
            requests = requests_with_wrk(measured, depth, 1)
            return (measured.cpu_seconds() - before) / requests
        for each in (server, other_server):
            _client(each, "rounds", CONNECTIONS, 20)
        ratios = []
        for pair in range(pairs):
            costs = {each: cost(each) for each in ((server, other_server) if pair % 2 else (other_server, server))}
            ratios.append(costs[other_server] / costs[server])
        return statistics.median(ratios)


def send_rounds(server: Server, rounds: int, connections: int = CONNECTIONS) -> None:
    _client(server, "rounds", connections, rounds)


def latency_microseconds(server: Server, requests: int) -> tuple[float, float]:
    """Median and 99th percentile of the latency of one client with pauses between its requests."""
    median, p99 = _client_output(server, "latency", requests).split()
    return float(median), float(p99)


def handshakes_per_cpu_second(contender: Contender, seconds: float) -> float:
    """Full TLS 1.3 handshakes, each with one request and a close, for each second of the server's CPU."""
    with running(contender) as server:
        _client(server, "rounds", CONNECTIONS, 1)
        before = server.cpu_seconds()
        handshakes = _client(server, "handshakes", int(seconds * 1000), seconds=seconds + SLACK_SECONDS)
        return handshakes / (server.cpu_seconds() - before)


@contextlib.contextmanager
def _idle(server: Server, connections: int):
    """Connections that were used for one request and are idle now."""
    command = [BIN / "load_client", "tls" if server.contender.tls else "plain", str(server.port), server.authorization,
               "idle", str(connections)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          preexec_fn=pinned(LOAD_CORE)) as client:
        try:
            if not client.stdout.readline():  # all waits of the client are bounded
                raise Failed(f"{server.contender.name}: idle: {client.stderr.read()[-300:].strip()} {server.errors()}")
            yield
        finally:
            client.kill()


def bytes_per_idle_connection(contender: Contender, connections: int, settle_seconds: float) -> float:
    """Growth of the server's resident memory by `connections` idle ones. A quarter as many are opened before, so that the memory
    of pools, and what a server needs once, do not count."""
    with running(contender) as server, _idle(server, connections // 4):
        time.sleep(settle_seconds)  # a server may free buffers later
        before = server.resident_bytes()
        with _idle(server, connections):
            time.sleep(settle_seconds)
            return (server.resident_bytes() - before) / connections


def _instructions_of(run_with) -> int:
    """All user-space instructions that callgrind counted while `run_with(tool)` ran. Hardware counters would be faster, but
    virtual machines seldom have them, and callgrind's counts are almost exactly reproducible."""
    with tempfile.TemporaryDirectory() as folder:
        output = pathlib.Path(folder) / "callgrind.out"
        run_with(("valgrind", "--tool=callgrind", "-q", "--fair-sched=try", f"--callgrind-out-file={output}"))
        for line in output.read_text().splitlines():
            if line.startswith(("summary:", "totals:")):
                return int(line.split()[1])
    raise Failed("callgrind counted nothing")


def instructions_per_request(contender: Contender, rounds: int) -> float:
    """The difference between a run and one with twice the requests, so that start and stop do not count."""
    def run(times: int):
        def run_with(tool):
            with running(contender, tool) as server:
                _client(server, "rounds", CONNECTIONS, times, seconds=120)
        return run_with
    return (_instructions_of(run(2 * rounds)) - _instructions_of(run(rounds))) / (rounds * CONNECTIONS)


def handle_nanoseconds_and_allocations(calls: int, users: int | None = None) -> tuple[float, float]:
    """One `handle` of a balance request after a warm-up, without a server. With `users`, each call is of a random user."""
    result = subprocess.run([BIN / "handle_cost", str(calls), *([str(users)] if users else [])], capture_output=True, text=True, timeout=120,
                            preexec_fn=pinned(SERVER_CORE))
    if result.returncode != 0:
        raise Failed(f"handle: {result.stderr[-300:].strip()}")
    figures = json.loads(result.stdout)
    return figures["nanoseconds"], figures["allocations"]


def handle_calls_per_second(calls: int, users: int, threads: int) -> float:
    """Calls per second of elapsed time: calls that wait for each other use no CPU."""
    result = subprocess.run([BIN / "handle_cost", str(calls), str(users), str(threads)], capture_output=True, text=True, timeout=120)
    if result.returncode != 0:
        raise Failed(f"handle: {result.stderr[-300:].strip()}")
    return json.loads(result.stdout)["calls_per_second"]


def handle_instructions(calls: int) -> float:
    def call(times: int):
        return lambda tool: subprocess.run([*tool, BIN / "handle_cost", str(times)], check=True, capture_output=True,
                                           timeout=120)
    return (_instructions_of(call(2 * calls)) - _instructions_of(call(calls))) / calls


def webhook_figures() -> dict[str, float]:
    """The cost of a dispatcher and the latency of webhooks, by the names in the program's output."""
    result = subprocess.run([BIN / "webhook_deliveries"], capture_output=True, text=True, timeout=600)
    if result.returncode != 0:
        raise Failed(f"webhooks: {result.stderr[-300:].strip()}")
    return json.loads(result.stdout)
