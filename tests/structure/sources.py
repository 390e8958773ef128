"""What the tests of this directory share: where the sources are, and how findings are reported."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OWN_INCLUDE = re.compile(r"^\s*#\s*include\s*<(tollgate/[^>]+)>", re.MULTILINE)

# Not ours: made by builds and programs, and never committed.
SKIPPED = {".git", "build", "node_modules", "__pycache__", "tollgate-data"}


def files(base, *suffixes):
    """All files of the project under `base`, or those whose names end so."""
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
    """The file's text; empty for bytes that are no text."""
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


def report(check):
    """Runs a check of the project and ends the program: each finding on a line, exit code 1 if there is one."""
    findings = check(ROOT)
    for finding in findings:
        print(finding)
    sys.exit(1 if findings else 0)
