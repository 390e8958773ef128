#!/usr/bin/env python3
"""Starts a cluster, prints curl lines to paste, and restarts failed parts until it is stopped."""

import argparse
import json
import os
import pathlib
import shlex
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "reference_server"))

import parts  # noqa: E402
from run_demo import curl_lines  # noqa: E402

PAUSE_SECONDS = 1  # before a part is restarted: a part that cannot start must not keep the machine busy


class StopSignal(Exception):
    """The program got a signal to stop."""


def main():
    options = arguments()
    upgrades = []
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _stop)
    signal.signal(signal.SIGUSR1, lambda *_: upgrades.append("upgrade"))
    cluster = None
    try:
        cluster = parts.Cluster(options.program, options.data.resolve(), options.port, options.first_port, {"demo": True})
        cluster.start()
        show(cluster)
        supervise(cluster, upgrades)
    except StopSignal:
        pass
    except parts.Failure as error:
        sys.exit(f"{error}\n" + ("(Choose other ports with --port and --first-port.)" if str(error).startswith("port ") else ""))
    finally:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # already stopping
        if cluster:
            cluster.stop()


def arguments():
    parser = argparse.ArgumentParser(prog="examples/cluster/run", description=__doc__)
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("--data", type=pathlib.Path, default=pathlib.Path("./tollgate-data/cluster"), metavar="DIR",
                        help="databases, passwords and logs (default: %(default)s)")
    parser.add_argument("--port", type=int, default=8443, metavar="N",
                        help="port of HAProxy on 127.0.0.1; 0: any free port (default: %(default)s)")
    parser.add_argument("--first-port", type=int, default=18081, metavar="N",
                        help="first of five consecutive ports, for three nodes, PostgreSQL and Redis; 0: any free ports "
                             "(default: %(default)s)")
    return parser.parse_args()


def _stop(*_):
    raise StopSignal


def show(cluster):
    demo = json.loads((cluster.nodes[0].data / "demo.json").read_text())
    for title, command in curl_lines({"api": f"{cluster.url}/v1", "auth": cluster.url, "demo": demo}):
        print(f"# {title}\n{command}\n")
    print(f"# For a browser: {cluster.url}/ (sign in as {demo['login']}, {demo['password']})\n")
    for part in cluster.parts:
        print(f"# {part.name:9} 127.0.0.1:{part.port:<6} process {part.process.pid:<8} log {part.log}")
    node = cluster.nodes[0]
    if cluster.postgres.data.parent != cluster.folder:
        print(f"# PostgreSQL's user cannot enter {cluster.folder}: the database is in {cluster.postgres.data}")
    print(f"""
# Kill a node. It is started again after a second, like every other process
kill -9 {node.process.pid}

# Stop a node. It stays down until the next upgrade
kill {cluster.nodes[1].process.pid}

# Upgrade: each node is drained, stopped and started, one after the other. No request fails
kill -USR1 {os.getpid()}

# Show the state of the nodes in HAProxy
{state_command(cluster.proxy)}

# Run an administrative command
{quote(node.program)} user quota --config {quote(node.configuration)} --user 1 --per-day 5000

# Press Ctrl-C to stop everything.""", flush=True)


def quote(path):
    return shlex.quote(str(path))


def state_command(proxy):
    program = ("import socket, sys; to = socket.socket(socket.AF_UNIX); to.connect(sys.argv[1]); "
               "to.sendall(b'show stat\\n'); "
               "[print(row.split(',')[1], row.split(',')[17]) for row in to.makefile() if row.startswith('nodes,node')]")
    return f'python3 -c "{program}" {quote(proxy.control)}'


def supervise(cluster, upgrades):
    """Restarts parts that ended, as a service manager does. Nodes that were stopped on purpose stay down."""
    due = {}
    while True:
        time.sleep(0.1)
        if upgrades:
            upgrades.clear()
            upgrade(cluster)
        for part in cluster.parts:
            if part.is_running or part.stays_down:
                continue
            now = time.monotonic()
            if due.setdefault(part, now + PAUSE_SECONDS) <= now:
                del due[part]
                ended = f" ended with {part.process.returncode}; it" if part.process else ""
                try:
                    cluster.restart(part)
                    print(f"# {part.name}{ended} is process {part.process.pid} now", flush=True)
                except parts.Failure as error:
                    print(f"# {error}", flush=True)


def upgrade(cluster):
    """Stops at the first node that does not start: the others keep running."""
    try:
        for part in (cluster.postgres, cluster.redis, cluster.proxy):
            if not part.is_running:
                part.start()
                print(f"# {part.name} is process {part.process.pid} now", flush=True)
        for node in cluster.nodes:
            cluster.upgrade(node)
            print(f"# {node.name} is process {node.process.pid} now", flush=True)
    except parts.Failure as error:
        print(f"# {error}", flush=True)


if __name__ == "__main__":
    main()
