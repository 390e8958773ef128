#!/usr/bin/env python3
"""Builds the release that users get: from the tracked files alone, with the commands of examples/run.

    release_build.py    refreshes the copy and its build in build/tracked files, and prints the path of tollgate-server

Files that git does not track are not copied, so they cannot hide that a clone does not build. The folder's name has a space.
"""

import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
COPY = ROOT / "build" / "tracked files"
# They do not change the server. Without the first, a warning would pass; the second installs the library in its compiled form.
OF_TESTS = ["-DTOLLGATE_WARNINGS_AS_ERRORS=ON", "-DTOLLGATE_BUILD_COMPILED=ON"]


def tracked_files():
    """Paths below the root, as they are in the working tree."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode != 0:
        sys.exit(f"The tests need a clone, because they build what git tracks: {listed.stderr.decode().strip()}")
    return {path for path in map(pathlib.Path, listed.stdout.decode().split("\0")[:-1]) if (ROOT / path).is_file()}


def refresh(copy):
    """Makes `copy` equal to the tracked files. Files that did not change keep their times, so that little is built again."""
    wanted = tracked_files()
    for path in copy.rglob("*"):
        name = path.relative_to(copy)
        if path.is_file() and name.parts[0] != "build" and name not in wanted:
            path.unlink()
    for name in wanted:
        source, target = ROOT / name, copy / name
        if not target.is_file() or target.read_bytes() != source.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        shutil.copymode(source, target)


def main():
    refresh(COPY)
    configure = ["cmake", "--preset", "release"]
    for command in (configure, [*configure, *OF_TESTS], ["cmake", "--build", "--preset", "release"]):
        subprocess.run(command, cwd=COPY, check=True, stdout=subprocess.DEVNULL if command[1] == "--preset" else sys.stderr)
    print(COPY / "build" / "release" / "bin" / "tollgate-server")


if __name__ == "__main__":
    main()
