#!/usr/bin/env python3
"""The suite passes, and what the store on LMDB has acknowledged survives kill -9, with several processes on one file."""

import pathlib
import subprocess
import sys
import tempfile

ROUNDS = 8
EVENTS = 100  # of each process and round, before it is killed; far fewer in total than a history keeps
PUBLISHERS = 2

program = sys.argv[1]


def start(*arguments):
    return subprocess.Popen([program, *arguments], stdout=subprocess.PIPE, text=True)


def kill_under_load(path, number):
    """Kills publishers and a worker amid their work. Returns the ids that the publishers printed."""
    publishers = [start("append", path, str(number * PUBLISHERS + i << 32)) for i in range(PUBLISHERS)]
    worker = start("deliver", path)
    printed = [publisher.stdout.readline() for publisher in publishers for _ in range(EVENTS)]
    for process in [*publishers, worker]:
        process.kill()
    for process in publishers:
        printed += process.stdout.readlines()
    for process in [*publishers, worker]:
        assert process.wait() == -9, f"a process failed: {process.args}"
    assert all(line.endswith("\n") for line in printed), "a publisher printed half a line"
    return {line.strip() for line in printed}


subprocess.run([program], check=True)
with tempfile.TemporaryDirectory() as directory:
    path = str(pathlib.Path(directory) / "events")
    acknowledged = set().union(*(kill_under_load(path, number) for number in range(ROUNDS)))
    listed = subprocess.run([program, "list", path], check=True, capture_output=True, text=True).stdout
    rows = [line.split() for line in listed.splitlines()]
    stored = [row[0] for row in rows]
    delivered = sum(row[1] == "delivered" for row in rows)
    lost = acknowledged - set(stored)
    print(f"{len(acknowledged)} events acknowledged, {len(lost)} lost, {len(stored)} stored, {delivered} delivered")
    assert len(acknowledged) >= ROUNDS * PUBLISHERS * EVENTS and not lost
    assert len(stored) == len(set(stored)), "an event is stored twice"
    assert len(stored) - len(acknowledged) <= ROUNDS * PUBLISHERS, "more events than calls"
    assert delivered > 0
