#!/usr/bin/env python3
"""Doxygen makes the API reference of the public headers without a warning: every public entity is documented."""

import pathlib
import subprocess
import sys

import sources


def main():
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    settings = (sources.ROOT / ".cmake" / "Doxyfile").read_text(encoding="utf-8")
    done = subprocess.run(["doxygen", "-"], input=f"{settings}\nOUTPUT_DIRECTORY = {output}\n", cwd=sources.ROOT, text=True,
                          capture_output=True, check=False)
    print(done.stdout + done.stderr)
    sys.exit(1 if done.returncode != 0 or "warning:" in done.stderr else 0)


if __name__ == "__main__":
    main()
