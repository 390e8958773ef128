#!/usr/bin/env python3
"""Includes only go down: reads every include under include/tollgate and names each one that climbs, and each circle."""

import re

import sources

# A directory may include itself and what stands on a lower floor.
FLOORS = {"base": 0, "http": 1, "domain": 2, "contract": 3, "policy": 4, "pipeline": 5,
          "api": 6, "oauth": 6, "pages": 6, "webhooks": 6}
# A wing may include itself and the floors up to this one; no floor and no other wing includes it.
WINGS = {"store": 3, "redis": 4, "server": 1, "dispatch": 6}
# Beside the stores, and no store: a limiter is a policy, and this one counts in the default one while Redis is away.
REDIS = ("tollgate/store/redis/", "tollgate/store/redis_windows.")
# What a header includes last, for its bodies: all declarations have been read by then, so it closes no circle.
BODIES = re.compile(r"^#if !defined\(TOLLGATE_SEPARATE_COMPILATION\)\n(?:#include <.*\n)+#endif$", re.MULTILINE)
# Made of everything on purpose.
EXEMPT = ("tollgate/tollgate.hpp", "tollgate/impl/")


def place(name):
    if name.startswith(REDIS):
        return "redis"
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def may_include(here, there):
    if here == there:
        return True
    if there not in FLOORS:
        return False
    if here in WINGS:
        return FLOORS[there] <= WINGS[here]
    return FLOORS[there] < FLOORS[here]


def includes(base):
    """name -> the headers of ours that it includes, for every file that has a floor or a wing."""
    graph = {}
    for path in sources.files(base / "include", ".hpp", ".ipp"):
        name = path.relative_to(base / "include").as_posix()
        if not name.startswith(EXEMPT):
            graph[name] = sources.OWN_INCLUDE.findall(sources.read(path))
    return graph


def circle(base, names):
    """One circle of includes among headers, or nothing."""
    headers = {}
    for name in names:
        if name.endswith(".hpp"):
            text = BODIES.sub("", sources.read(base / "include" / name))
            headers[name] = [target for target in sources.OWN_INCLUDE.findall(text) if target in names]
    done = set()

    def walk(name, above):
        if name in above:
            return [*above[above.index(name):], name]
        if name in done:
            return None
        for target in headers[name]:
            found = walk(target, [*above, name])
            if found:
                return found
        done.add(name)
        return None

    return next(filter(None, (walk(name, []) for name in headers)), None)


def check(base):
    graph = includes(base)
    findings = []
    for name, targets in graph.items():
        here = place(name)
        if here not in FLOORS and here not in WINGS:
            findings.append(f"include/{name}: `{here}` is neither a floor nor a wing")
            continue
        for target in targets:
            if target not in graph:
                why = "is for users" if target.startswith(EXEMPT) else "does not exist"
                findings.append(f"include/{name} includes <{target}>, which {why}")
            elif not may_include(here, place(target)):
                findings.append(f"include/{name} ({here}) climbs to <{target}> ({place(target)})")
    found = circle(base, graph)
    if found:
        findings.append("a circle of includes: " + " -> ".join(found))
    return findings


if __name__ == "__main__":
    sources.report(check)
