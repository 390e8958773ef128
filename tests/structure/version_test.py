#!/usr/bin/env python3
"""The version is the same everywhere, and the changelog has a dated section for each version.

`## 0.3.0 - 2026-11-28` is a version that people have. `## Unreleased` may stand above it. Then TOLLGATE_VERSION is already the number of
the next version: with a part "Breaking", another minor number (another major one from 1.0.0); else at least another patch number.
"""

import json
import re

import sources

CONFIG = "include/tollgate/base/config.hpp"
NUMBER = re.compile(r'^#define TOLLGATE_VERSION(_MAJOR|_MINOR|_PATCH|) "?([\d.]+)"?$', re.MULTILINE)
SECTION = re.compile(r"^## (.*)$", re.MULTILINE)
DATED = re.compile(r"(\d+)\.(\d+)\.(\d+) - (\d{4}-\d\d-\d\d)")
UNRELEASED = "Unreleased"
FIND_PACKAGE = re.compile(r"\bfind_package\(tollgate ([\d.]+)")
LITERAL = re.compile(r"\b\d+\.\d+\.\d+\b")


def text_of(base, name):
    path = base / name
    return sources.read(path) if path.is_file() else ""


def check_macros(base):
    numbers = dict(NUMBER.findall(text_of(base, CONFIG)))
    if numbers.get("") != ".".join(numbers.get(part, "?") for part in ("_MAJOR", "_MINOR", "_PATCH")):
        yield f"{CONFIG}: TOLLGATE_VERSION is not its three numbers"


def version_of(base):
    return dict(NUMBER.findall(text_of(base, CONFIG))).get("", "")


def minimum_after(newest, is_breaking):
    """The lowest number of the version after `newest`."""
    major, minor, patch = newest
    if not is_breaking:
        return major, minor, patch + 1
    return (0, minor + 1, 0) if major == 0 else (major + 1, 0, 0)


def check_changelog(base):
    text = text_of(base, "CHANGELOG.md")
    titles = SECTION.findall(text)
    is_unreleased = titles[:1] == [UNRELEASED]
    dated = [DATED.fullmatch(title) for title in titles[is_unreleased:]]
    if not dated or not all(dated):
        yield "CHANGELOG.md: a section is not `## NUMBER - DATE`; only the first may be `## Unreleased`"
        return
    numbers = [tuple(map(int, found.groups()[:3])) for found in dated]
    dates = [found[4] for found in dated]
    if numbers != sorted(set(numbers), reverse=True) or dates != sorted(dates, reverse=True):
        yield "CHANGELOG.md: the newest version is not first"
    version = tuple(map(int, version_of(base).split(".")))
    if not is_unreleased and version != numbers[0]:
        yield f"CHANGELOG.md: the first section is not of {version_of(base)}, the version in {CONFIG}"
    if is_unreleased:
        is_breaking = "\n### Breaking\n" in SECTION.split(text)[2]
        minimum = minimum_after(numbers[0], is_breaking)
        if version < minimum:
            yield f"{CONFIG}: the unreleased {'break needs' if is_breaking else 'changes need'} {'.'.join(map(str, minimum))} or more"


def check_copies(base):
    """The other files that name the version."""
    version = version_of(base)
    readme, installing = text_of(base, "README.md"), text_of(base, "docs/installing.md")
    if f"The current version is {version}." not in readme:
        yield f"README.md: does not say that the current version is {version}"
    if f'`"{version}"`' not in installing:
        yield f"docs/installing.md: TOLLGATE_VERSION is not {version}"
    for path in [base / "README.md", *sources.files(base / "docs", ".md"), *sources.files(base / "tests/consumer", "CMakeLists.txt")]:
        for asked in FIND_PACKAGE.findall(sources.read(path)):
            if asked != version.rpartition(".")[0]:
                yield f"{path.relative_to(base)}: find_package asks for {asked}, not for that of {version}"
    port = text_of(base, ".packaging/vcpkg/tollgate/vcpkg.json")
    if json.loads(port or "{}").get("version") != version:
        yield f".packaging/vcpkg/tollgate/vcpkg.json: the version is not {version}"
    # These read it, so they contain no number.
    for name, reads in (("CMakeLists.txt", CONFIG), (".packaging/conan/conanfile.py", "config.hpp"), (".cmake/tollgate.pc.in", "@PROJECT_VERSION@")):
        text = text_of(base, name)
        if reads not in text or LITERAL.search(text):
            yield f"{name}: does not take its version from {reads}"


def check(base):
    return [*check_macros(base), *check_changelog(base), *check_copies(base)]


if __name__ == "__main__":
    sources.report(check)
