#!/usr/bin/env python3
"""A header outside of detail/ is public: a document names it, and their number is limited. Users include no other headers."""

import re

import sources

# Documents and code that users read and copy.
FOR_USERS = ("README.md", "docs", "examples", "tests/consumer")
PRIVATE = re.compile(r"#\s*include\s*<(tollgate/[^>]*/detail/[^>]+)>")
NAMED = re.compile(r"tollgate/[a-z0-9_/]+\.hpp")


def public_headers(base):
    names = (path.relative_to(base / "include").as_posix() for path in sources.files(base / "include", ".hpp"))
    return [name for name in names if "/detail/" not in name]


def users_files(base):
    for name in FOR_USERS:
        path = base / name
        if path.is_dir():
            yield from sources.files(path)
        elif path.is_file():
            yield path


def check(base):
    findings = []
    for path in users_files(base):
        for name in PRIVATE.findall(sources.read(path)):
            findings.append(f"{path.relative_to(base)} includes <{name}>, which is private")
    documents = [path for path in users_files(base) if path.suffix == ".md"]
    named = {name for path in documents for name in NAMED.findall(sources.read(path))}
    public = public_headers(base)
    findings += [f"include/{name} is public, and no document names it" for name in public if name not in named]
    return findings


if __name__ == "__main__":
    sources.report(check)
