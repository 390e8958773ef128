#!/usr/bin/env python3
"""Writes translation units that hold several test files each, so that what they include is compiled once.

    test_units.py DIRECTORY file...    prints the paths of the units

A unit includes what its files include, and then each file in a namespace of its own: files may use the same names. A file
that defines a macro, specializes a template or replaces operator new is a unit by itself.
"""

import pathlib
import re
import sys

LINES_MAX = 5000  # a unit: enough to share what headers cost, and small enough for two cores
ALONE = re.compile(r"^(?:#define |template <>)|\boperator new\(", re.MULTILINE)
INCLUDE = re.compile(r"^#include .+$", re.MULTILINE)
RELATIVE = re.compile(r'"(\.\./.+)"')


def groups_of(texts):
    """Paths of files that share a unit; `texts` has what is in each."""
    shared = {path: text.count("\n") for path, text in texts.items() if not ALONE.search(text)}
    lines = sum(shared.values())
    count, before = -(-lines // LINES_MAX), 0
    groups = [[] for _ in range(count)]
    for path in shared:
        groups[before * count // lines].append(path)  # about as many lines in each
        before += shared[path]
    return [*filter(None, groups), *([path] for path in texts if path not in shared)]


def unit_of(paths, texts):
    includes = dict.fromkeys(RELATIVE.sub(rf'"{path.parent}/\1"', line) for path in paths for line in INCLUDE.findall(texts[path]))
    files = [f'namespace {path.parent.name}_{path.stem} {{\n#include "{path}"\n}}' for path in paths]
    return "\n".join([*includes, *files, ""])


def main():
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    texts = {path: path.read_text(encoding="utf-8") for path in map(pathlib.Path, sys.argv[2:])}
    for number, paths in enumerate(groups_of(texts)):
        if len(paths) == 1:
            print(paths[0])
            continue
        unit, text = directory / f"unit_{number}.cpp", unit_of(paths, texts)
        # Written only when it changes: otherwise each run of CMake would compile it again.
        if not unit.exists() or unit.read_text(encoding="utf-8") != text:
            unit.write_text(text, encoding="utf-8")
        print(unit)


if __name__ == "__main__":
    main()
