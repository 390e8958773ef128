"""Shared by the tests of this directory: finds source files, and reports findings."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN_INCLUDE = re.compile(r"^\s*#\s*include\s*<(tollgate/[^>]+)>", re.MULTILINE)

# Created by builds and programs, and never committed.
SKIPPED = {".git", "build", "node_modules", "__pycache__", "tollgate-data"}


def files(base, *suffixes):
    """All files of the project below `base`, or those whose names end with one of `suffixes`."""
    found = []
    for path in sorted(base.iterdir()):
        if path.name in SKIPPED:
            continue
        if path.is_dir():
            found += files(path, *suffixes)
        elif path.is_file() and (not suffixes or path.name.endswith(suffixes)):
            found.append(path)
    return found


def read(path):
    """The text of a file; empty if it is not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def report(check):
    """Runs a check of the project and ends the program: prints each finding on a line, and exits with 1 if there is one."""
    findings = check(ROOT)
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
