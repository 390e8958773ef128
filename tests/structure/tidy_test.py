#!/usr/bin/env python3
"""clang-tidy reports nothing for the public headers and the sources of the reference server; .clang-tidy has the checks.

All public headers are one translation unit, and the server's sources another: each source would parse the same headers again.
"""

import pathlib
import subprocess
import sys
import tempfile

import sources
import toolchain

PROGRAM = "clang-tidy-16"
DEFINES = ["ASIO_STANDALONE", "ASIO_NO_DEPRECATED"]


def units():
    base = sources.ROOT / "include"
    public = [path.relative_to(base).as_posix() for path in sources.files(base, ".hpp")
              if "detail" not in path.parts and "impl" not in path.parts]
    yield "public_headers", "".join(f"#include <{name}>\n" for name in public)
    server = sources.files(sources.ROOT / "examples" / "reference_server", ".cpp")
    yield "reference_server", "".join(f'#include "{path}"\n' for path in server)


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)

    with tempfile.TemporaryDirectory() as scratch:
        def judge(unit):
            name, code = unit
            path = pathlib.Path(scratch) / f"{name}.cpp"
            path.write_text(code, encoding="utf-8")
            result = subprocess.run(
                [PROGRAM, "--quiet", f"--config-file={sources.ROOT / '.clang-tidy'}",
                 f"--header-filter={sources.ROOT}/(include/tollgate|examples/reference_server)/", str(path), "--",
                 "-std=c++20", *compiler.includes, *(f"-D{each}" for each in DEFINES)],
                capture_output=True, text=True, check=False)
            return None if result.returncode == 0 else f"{result.stdout}{result.stderr}"

        found = list(units())
        findings = list(filter(None, toolchain.in_parallel(arguments.jobs, judge, found)))
    print("\n".join(findings) if findings else f"{len(found)} translation units are tidy")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
