#!/usr/bin/env python3
"""Headers below include/tollgate include only headers of lower modules, there is no cycle, and each can be included first."""

import re

import sources

# A module may include itself and those with a lower number. Modules with the same number do not include each other.
LEVELS = {"base": 0, "http": 1, "model": 2, "contract": 3, "limits": 4, "policy": 5, "account": 6, "monitoring": 6, "pipeline": 7, "web": 8,
          "webhooks": 8, "manual": 9, "oauth": 9, "pages": 9, "api": 10}
# Only the umbrella header includes these; each may include itself and the modules up to this level.
LEAVES = {"store": 3, "server": 1, "testing": 3}
# Declarations alone.
FORWARD = "tollgate/fwd.hpp"
# The last includes of a header, for its bodies and the part on Asio: they follow all declarations, so they are not part of a cycle.
BODIES = re.compile(r"^#if (?:!defined\(TOLLGATE_SEPARATE_COMPILATION\)|defined\(TOLLGATE_SERVER_ASIO\))\n(?:#include <.*\n)+#endif$",
                    re.MULTILINE)
# Lines that are neither blank nor a comment nor for the preprocessor.
CODE = re.compile(r"^(?!\s*(?://|#|$)).+$", re.MULTILINE)
# These include everything.
EXEMPT = ("tollgate/tollgate.hpp", "tollgate/impl/")


def module_of(name):
    parts = name.split("/")
    return parts[1] if len(parts) > 2 else ""


def may_include(here, there):
    if here == there:
        return True
    if there not in LEVELS:
        return False
    if here in LEAVES:
        return LEVELS[there] <= LEAVES[here]
    return LEVELS[there] < LEVELS[here]


def includes(base):
    """name -> the headers of Tollgate that it includes, for every file of a module."""
    graph = {}
    for path in sources.files(base / "include", ".hpp", ".ipp"):
        name = path.relative_to(base / "include").as_posix()
        if not name.startswith(EXEMPT):
            graph[name] = sources.OWN_INCLUDE.findall(sources.read(path))
    return graph


def cycle(base, names):
    """One cycle of includes among headers, or None."""
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


def split(text):
    """The includes before the last line of code, and those after it."""
    code = [match.end() for match in CODE.finditer(text)]
    end = code[-1] if code else 0
    return sources.OWN_INCLUDE.findall(text[:end]), sources.OWN_INCLUDE.findall(text[end:])


def included_first(header, parts):
    """What goes wrong if a program includes `header` first, header-only: pairs of a file and one that it includes, whose
    declarations follow only later because it is being read already."""
    seen = set()
    undeclared = set()
    found = []

    def read(name):
        seen.add(name)
        undeclared.add(name)
        before, after = parts[name]
        for target in before:
            if target in undeclared:
                found.append((name, target))
            elif target not in seen:
                read(target)
        undeclared.remove(name)
        for target in after:
            if target not in seen:
                read(target)

    read(header)
    return found


def not_first(base, names):
    """One finding for each header that cannot be included first, because bodies or headers need it that it includes itself."""
    parts = {name: split(sources.read(base / "include" / name)) for name in names}
    for name in names:
        if name.endswith(".hpp"):
            found = included_first(name, parts)
            if found:
                yield f"include/{name} cannot be included first: {found[0][0]} needs {found[0][1]} before its declarations"


def check(base):
    graph = includes(base)
    findings = []
    for name, targets in graph.items():
        if name == FORWARD:
            if targets:
                findings.append(f"include/{name} includes nothing")
            continue
        here = module_of(name)
        if here not in LEVELS and here not in LEAVES:
            findings.append(f"include/{name}: `{here}` is not a module")
            continue
        for target in targets:
            if target not in graph:
                reason = "is for users" if target.startswith(EXEMPT) else "does not exist"
                findings.append(f"include/{name} includes <{target}>, which {reason}")
            elif not may_include(here, module_of(target)):
                findings.append(f"include/{name} ({here}) includes <{target}> ({module_of(target)}), which is not below it")
    found = cycle(base, graph)
    if found:
        findings.append("a cycle of includes: " + " -> ".join(found))
    elif not findings:
        findings += not_first(base, graph)
    return findings


if __name__ == "__main__":
    sources.report(check)
