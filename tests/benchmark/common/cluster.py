"""Figures of nodes that share a PostgreSQL and a Redis: the cost of a request in each part."""

from __future__ import annotations

import collections
import contextlib
import dataclasses
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile
from concurrent import futures

from common import loads, report
from common.parts import Database, RoundTripProxy, Windows
from common.population import Population
from common.processes import BIN, BUILD, Failed, running
from contenders import Contender

CACHED = 16_384   # cached credentials, the default of the reference server

MEMORY = Contender("memory", "memory store, memory windows", "tollgate_memory", prints_authorization=True)


@dataclasses.dataclass(frozen=True)
class Arrangement:
    """Where a node keeps users, tokens and limits."""
    name: str
    title: str
    postgres: bool = False
    cached: int = 0
    redis: bool = False
    sqlite: bool = False

    @property
    def contender(self) -> Contender:
        return MEMORY if self.name == MEMORY.name else Contender(self.name, self.title, "tollgate_node", prints_authorization=True)


FULL = Arrangement("full", "**PostgreSQL, remembered; Redis**", postgres=True, cached=CACHED, redis=True)
BARE = Arrangement("bare", "PostgreSQL; Redis", postgres=True, redis=True)
ARRANGEMENTS = (
    Arrangement("memory", MEMORY.title),
    Arrangement("redis", "memory store; Redis", redis=True),
    Arrangement("postgres_cached", "PostgreSQL, remembered; memory windows", postgres=True, cached=CACHED),
    Arrangement("postgres", "PostgreSQL; memory windows", postgres=True),
    FULL,
    BARE,
)


class Parts:
    """The database and the Redis that nodes share in one run."""

    def __init__(self):
        self.database = Database()
        try:
            self.windows = Windows()
        except BaseException:
            self.database.stop()
            raise

    def arguments(self, arrangement: Arrangement, connection_string: str) -> tuple[str, ...]:
        if arrangement.name == MEMORY.name:
            return ()
        return (connection_string if arrangement.postgres else "memory:", str(arrangement.cached),
                self.windows.url if arrangement.redis else "memory:")

    def stop(self) -> None:
        self.windows.stop()
        self.database.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _microseconds(seconds: float) -> float:
    return seconds * 1e6


@contextlib.contextmanager
def _nodes(parts: Parts, arrangement: Arrangement, count: int, connection_string: str):
    """`count` nodes with the same user, after a warm-up."""
    with contextlib.ExitStack() as stack:
        started = [stack.enter_context(running(arrangement.contender, (), parts.arguments(arrangement, connection_string)))
                   for _ in range(count)]
        for each in started:
            each.authorization = started[0].authorization
            loads.send_rounds(each, 20)
        yield started


def costs(parts: Parts, arrangement: Arrangement, nodes: int, seconds: int) -> dict[str, float]:
    """Under load: requests for each CPU second of all nodes, and the microseconds of the other parts for each request."""
    connection_string = parts.database.fresh() if arrangement.postgres else ""
    with _nodes(parts, arrangement, nodes, connection_string) as started:
        before = [sum(each.cpu_seconds() for each in started), parts.database.cpu_seconds(),
                  parts.windows.cpu_seconds()]
        with futures.ThreadPoolExecutor(nodes) as threads:
            requests = sum(threads.map(lambda each: loads.requests_with_wrk(each, 1, seconds), started))
        after = [sum(each.cpu_seconds() for each in started), parts.database.cpu_seconds(),
                 parts.windows.cpu_seconds()]
        used = [end - start for start, end in zip(before, after)]
        return {"rate": requests / used[0], "postgres": _microseconds(used[1] / requests),
                "redis": _microseconds(used[2] / requests),
                "connections": parts.database.connections() if arrangement.postgres else 0}


def latency(parts: Parts, arrangement: Arrangement, requests: int) -> dict[str, float]:
    connection_string = parts.database.fresh() if arrangement.postgres else ""
    with _nodes(parts, arrangement, 1, connection_string) as (node,):
        median, p99 = loads.latency_microseconds(node, requests)
        return {"median": median, "p99": p99}


def round_trips(parts: Parts, arrangement: Arrangement, requests: int = 500) -> dict[str, float]:
    """The round trips of one request after a warm-up. Redis counts its own, a proxy those to PostgreSQL."""
    if arrangement.postgres:
        parts.database.fresh()
    proxy = RoundTripProxy(parts.database)
    try:
        with _nodes(parts, arrangement, 1, parts.database.at(proxy.directory)) as (node,):
            before = proxy.request_round_trips(), parts.windows.scripts_run()
            loads.send_rounds(node, requests, 1)
            return {"postgres_trips": (proxy.request_round_trips() - before[0]) / requests,
                    "redis_trips": (parts.windows.scripts_run() - before[1]) / requests}
    finally:
        proxy.stop()


def population_costs(parts: Parts, arrangement: Arrangement, population: Population, seconds: int) -> dict[str, float]:
    """The same as `costs`, with a different user for each request."""
    with contextlib.ExitStack() as stack:
        if arrangement.sqlite:
            file = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir=BUILD))) / "tollgate.db"
            arguments = (f"sqlite:{file}", "0", "memory:")
        elif arrangement.postgres:
            arguments = parts.arguments(arrangement, parts.database.fresh())
        else:
            arguments = ("memory:", "0", "memory:", str(population.digests))
        contender = Contender(arrangement.name, arrangement.title, "tollgate_node", prints_authorization=True)
        node = stack.enter_context(running(contender, (), arguments))
        if arrangement.sqlite:
            population.fill_sqlite(file)
        elif arrangement.postgres:
            population.fill_postgres(parts.database)
        loads.requests_with_population(node, 1, population.authorizations)  # warm: connections, threads, statements
        counters = (node.cpu_seconds, parts.database.cpu_seconds, parts.windows.cpu_seconds)
        before = [each() for each in counters]
        requests = loads.requests_with_population(node, seconds, population.authorizations)
        used = [each() - start for each, start in zip(counters, before)]
        return {"rate": requests / used[0], "second": requests / seconds, "postgres": _microseconds(used[1] / requests),
                "redis": _microseconds(used[2] / requests), "alone": loads.median_of_one_client(node, seconds, population.authorizations)}


POPULATION_ARRANGEMENTS = (
    Arrangement("many_memory", MEMORY.title),
    Arrangement("many_sqlite", "SQLite; memory windows", sqlite=True),
    Arrangement("many_postgres", "PostgreSQL; memory windows", postgres=True),
    Arrangement("many_bare", "**PostgreSQL; Redis**", postgres=True, redis=True),
)


def population_table(parts: Parts, count: int, rounds: int, seconds: int, figures: Figures) -> str:
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        population = Population(pathlib.Path(folder), count)
        for round_number in range(rounds):
            for each in POPULATION_ARRANGEMENTS:
                figures.take(each.name, round_number, population_costs, parts, each, population, seconds)

    def row(arrangement: Arrangement) -> list[str]:
        return [arrangement.title, report.thousands(figures.median(arrangement.name, "rate")),
                report.ratio(figures.ratio(arrangement.name, "many_memory", "rate")),
                report.thousands(figures.median(arrangement.name, "second")),
                *(report.tenths(figures.median(arrangement.name, name)) for name in ("postgres", "redis")),
                report.count(figures.median(arrangement.name, "alone"))]
    return report.table([f"Each request by another of {count:,} users, {loads.POPULATION_CONNECTIONS} connections, nothing remembered",
                         "requests a CPU second of the node", "ratio", "requests a second", "PostgreSQL's CPU a request (µs)", "Redis'",
                         "one client alone: median (µs)"],
                        [row(each) for each in POPULATION_ARRANGEMENTS])


def hot_token_table(parts: Parts, count: int, rounds: int, seconds: int, figures: Figures) -> str:
    """The cost of different users for successive requests in the memory store."""
    memory = POPULATION_ARRANGEMENTS[0]
    with tempfile.TemporaryDirectory(dir=BUILD) as one_folder, tempfile.TemporaryDirectory(dir=BUILD) as many_folder:
        populations = {"one": Population(pathlib.Path(one_folder), 1), "many": Population(pathlib.Path(many_folder), count)}
        for round_number in range(rounds):
            for name, population in populations.items():
                figures.take(name, round_number, population_costs, parts, memory, population, seconds)
    return report.table([f"Memory store, {loads.POPULATION_CONNECTIONS} connections", "requests a CPU second", "ratio"],
                        [[title, report.thousands(figures.median(name, "rate")), report.ratio(figures.ratio(name, "one", "rate"))]
                         for name, title in (("one", "one hot token"), ("many", f"each request by another of {count:,} users"))])


class Figures:
    def __init__(self):
        self._rounds = collections.defaultdict(dict)  # (arrangement, figure) -> round -> value
        self.failures: list[str] = []

    def take(self, name: str, round_number: int, measure, *arguments) -> None:
        print(f"  {measure.__name__}: {name}", file=sys.stderr, flush=True)
        try:
            for figure, value in measure(*arguments).items():
                self._rounds[name, figure][round_number] = value
        except Failed as error:
            self.failures.append(f"{measure.__name__}: {error}")

    def median(self, name: str, figure: str) -> float | None:
        values = self._rounds.get((name, figure))
        return statistics.median(values.values()) if values else None

    def ratio(self, name: str, reference: str, figure: str) -> float | None:
        """The median of the ratios within each round."""
        values, limits = self._rounds.get((name, figure), {}), self._rounds.get((reference, figure), {})
        ratios = [values[r] / limits[r] for r in values if r in limits]
        return statistics.median(ratios) if ratios else None


def parts_table(parts: Parts, rounds: int, seconds: int, figures: Figures) -> str:
    for round_number in range(rounds):
        print(f"cluster: round {round_number + 1} of {rounds}", file=sys.stderr)
        for each in ARRANGEMENTS:
            figures.take(each.name, round_number, costs, parts, each, 1, seconds)
        for each in ARRANGEMENTS:
            figures.take(each.name, round_number, latency, parts, each, 1000 * seconds)
    for each in ARRANGEMENTS:
        figures.take(each.name, 0, round_trips, parts, each)

    def row(arrangement: Arrangement) -> list[str]:
        return [arrangement.title, report.thousands(figures.median(arrangement.name, "rate")),
                report.ratio(figures.ratio(arrangement.name, MEMORY.name, "rate")),
                *(report.tenths(figures.median(arrangement.name, name)) for name in ("postgres", "redis")),
                *(report.hundredths(figures.median(arrangement.name, name)) for name in ("postgres_trips", "redis_trips")),
                *(report.count(figures.median(arrangement.name, name)) for name in ("median", "p99"))]
    return report.table(["One node: users and tokens; windows", "requests a CPU second of the node", "ratio",
                         "PostgreSQL's CPU a request (µs)", "Redis'", "round trips to PostgreSQL a request",
                         "to Redis", "median latency (µs)", "p99"], [row(each) for each in ARRANGEMENTS])


def nodes_table(parts: Parts, rounds: int, seconds: int, figures: Figures) -> str:
    rows = []
    for arrangement in (FULL, BARE):
        for nodes in (1, 2, 3):
            name = f"{arrangement.name}, nodes: {nodes}"
            for round_number in range(rounds):
                figures.take(name, round_number, costs, parts, arrangement, nodes, seconds)
            rows.append([f"{arrangement.title}, {nodes} node{'s' if nodes > 1 else ''}",
                         report.thousands(figures.median(name, "rate")),
                         *(report.tenths(figures.median(name, each)) for each in ("postgres", "redis")),
                         report.count(figures.median(name, "connections"))])
    return report.table(["One caller at several nodes, on one core together", "requests a CPU second of the nodes",
                         "PostgreSQL's CPU a request (µs)", "Redis'", "connections to PostgreSQL"], rows)


FILL = """
SET synchronous_commit = off;
INSERT INTO tollgate_personal_tokens (user_id, username, secret_digest, description, scopes, created_at)
    SELECT i / 10 + 1, 'pt' || i, sha256(i::text::bytea), 'figures', 'user:balance', extract(epoch FROM now()) * 1000
    FROM generate_series({first}, {last}) AS i;
INSERT INTO tollgate_access_tokens (token_digest, user_id, application_id, scopes, created_at, expires_at)
    SELECT sha256(i::text::bytea), i / 10 + 1, i % 100 + 1, 'user:balance', extract(epoch FROM now()) * 1000,
        extract(epoch FROM now()) * 1000 + 86400000
    FROM generate_series({first}, {last}) AS i;
INSERT INTO tollgate_hosts (name) SELECT 'http://host' || i || '.example:80' FROM generate_series(1, 1000) AS i
    ON CONFLICT DO NOTHING;
INSERT INTO tollgate_hooks (service, account_id, event, source, type, target_url, host_id, secret, created_at)
    SELECT 'sitesmaker', i, 'site.created', 'api', 'webhook', 'http://host' || i % 1000 + 1 || '.example/hook',
        (SELECT id FROM tollgate_hosts WHERE name = 'http://host' || i % 1000 + 1 || '.example:80'),
        'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=', extract(epoch FROM now()) * 1000
    FROM generate_series({first_hook}, {last_hook}) AS i;
VACUUM ANALYZE;
"""


def store_table(parts: Parts, tokens: int) -> str:
    """The verbs that look up rows, in a small and in a large store."""
    database = parts.database
    connection_string = database.fresh()
    opened = subprocess.run([BIN / "store_lookups", connection_string, "0"], capture_output=True, text=True, timeout=60)
    if opened.returncode != 0:
        raise Failed(f"store: {opened.stderr[-300:].strip()}")
    measured, filled = [], 0
    for size in (1000, tokens):
        print(f"  store: {size}", file=sys.stderr, flush=True)
        database.query(FILL.format(first=filled + 1, last=size, first_hook=filled // 10 + 1, last_hook=size // 10))
        filled = size
        result = subprocess.run([BIN / "store_lookups", connection_string, str(size)], capture_output=True, text=True,
                                timeout=600)
        if result.returncode != 0:
            raise Failed(f"store: {result.stderr[-300:].strip()}")
        measured.append((size, json.loads(result.stdout)))
    verbs = (("personal_token", "personal token"), ("access_token", "access token"), ("hooks", "an account's webhooks"),
             ("event", "append an event, durable"))
    lookups = report.table(
        ["One verb on PostgreSQL, one caller (µs)", *(f"{title}: {part}" for _, title in verbs
                                                     for part in ("median", "p99"))],
        [[f"{size:,} tokens of each kind, {size // 10:,} webhooks",
          *(report.count(figures[f"{verb}_{part}"]) for verb, _ in verbs for part in ("median", "p99"))]
         for size, figures in measured])
    sizes = database.query(
        "SELECT relname, pg_table_size(c.oid), pg_indexes_size(c.oid), array_to_string(ARRAY(SELECT "
        "replace(i.indexrelid::regclass::text, 'tollgate_', '') || ' ' || round(pg_relation_size(i.indexrelid) / 1e6) "
        "FROM pg_index AS i WHERE i.indrelid = c.oid ORDER BY pg_relation_size(i.indexrelid) DESC), ', ') "
        "FROM pg_class AS c WHERE relkind = 'r' AND relnamespace = current_schema::regnamespace "
        "AND pg_table_size(c.oid) > 1000000 ORDER BY 2 DESC")
    return lookups + "\n\n" + report.table(
        ["Table", "its rows (MB)", "its indexes (MB)", "each"],
        [[name, report.count(int(rows) / 1e6), report.count(int(indexes) / 1e6), each]
         for name, rows, indexes, each in sizes])


def events_table(parts: Parts) -> str:
    result = subprocess.run([BIN / "webhook_deliveries", parts.database.fresh()], capture_output=True, text=True,
                            timeout=600)
    if result.returncode != 0:
        raise Failed(f"events: {result.stderr[-300:].strip()}")
    measured = json.loads(result.stdout)
    return report.table(
        ["Webhooks, PostgreSQL, durable", ""],
        [["one fdatasync of this disk: median", report.milliseconds(parts.database.flush_milliseconds())],
         ["events published a second, one after the other", report.count(measured["events_per_second"])],
         ["the same, by 8 threads", report.count(measured["parallel_events_per_second"])],
         ["deliveries a second", report.count(measured["deliveries_per_second"])],
         ["deliveries a CPU second of the node", report.count(measured["deliveries_per_cpu_second"])],
         *([f"publish to arrival, {location}: {part}", report.milliseconds(measured[f"{name}_{figure}_ms"])]
           for location, name in (("on one node", "arrival"), ("by another node", "node_to_node"))
           for part, figure in (("median", "median"), ("p99", "p99")))])
