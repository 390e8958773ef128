#!/usr/bin/env python3
"""clang-tidy reports nothing for the public headers and the sources of the reference server; .clang-tidy has the checks.

They are one translation unit: each of its own would parse the same headers again, and most of the time is theirs.
"""

import pathlib
import subprocess
import sys
import tempfile

import sources
import toolchain

PROGRAM = "clang-tidy-16"
DEFINES = ["ASIO_STANDALONE", "ASIO_NO_DEPRECATED"]


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    base = sources.ROOT / "include"
    headers = [path.relative_to(base).as_posix() for path in sources.files(base, ".hpp")
               if "detail" not in path.parts and "impl" not in path.parts]
    server = sources.files(sources.ROOT / "examples" / "reference_server", ".cpp")
    code = "".join([*(f"#include <{name}>\n" for name in headers), *(f'#include "{path}"\n' for path in server)])

    with tempfile.TemporaryDirectory() as scratch:
        unit = pathlib.Path(scratch) / "unit.cpp"
        unit.write_text(code, encoding="utf-8")
        result = subprocess.run(
            [PROGRAM, "--quiet", f"--config-file={sources.ROOT / '.clang-tidy'}",
             f"--header-filter={sources.ROOT}/(include/tollgate|examples/reference_server)/", str(unit), "--",
             "-std=c++20", *compiler.includes, *(f"-D{each}" for each in DEFINES)],
            capture_output=True, text=True, check=False)
    print(f"{result.stdout}{result.stderr}" if result.returncode else f"{len(headers)} headers and {len(server)} sources are tidy")
    sys.exit(1 if result.returncode else 0)


if __name__ == "__main__":
    main()
