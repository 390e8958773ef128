#!/usr/bin/env python3
"""Doxygen generates the API reference of the public headers without a warning: every public entity is documented."""

import pathlib
import subprocess
import sys

import sources


def main():
    output = pathlib.Path(sys.argv[1])
    output.mkdir(parents=True, exist_ok=True)
    settings = (sources.ROOT / ".cmake" / "Doxyfile").read_text(encoding="utf-8")
    result = subprocess.run(["doxygen", "-"], input=f"{settings}\nOUTPUT_DIRECTORY = {output}\n", cwd=sources.ROOT, text=True,
                            capture_output=True, check=False)
    print(result.stdout + result.stderr)
    sys.exit(1 if result.returncode != 0 or "warning:" in result.stderr else 0)


if __name__ == "__main__":
    main()
