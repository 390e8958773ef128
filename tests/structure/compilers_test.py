#!/usr/bin/env python3
"""All public headers compile without a warning as C++23 and with libc++, once after the macros of others. Other compilers get
one message. Header-only, each translation unit has every body: linked twice, the linker complains about one that is not inline.

C++20, Clang 16, and Clang with libstdc++ are not in the table: the other tests compile the library that way.
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import foreign_macros
import toolchain

PARTS = ["SQLITE", "POSTGRES", "REDIS", "ASIO", "DISPATCHER"]
CODE = "#include <tollgate/tollgate.hpp>\n#include <tollgate/testing/store_suite.hpp>\n"
WARNINGS = [*toolchain.WARNINGS, "-Wsign-conversion", "-Wnon-virtual-dtor", "-Wold-style-cast"]
OF_GCC = ["-Wuseless-cast"]

SUPPORTED = [
    ("g++", ["-std=c++23", *OF_GCC]),
    ("clang++-19", ["-std=c++23", "-stdlib=libc++"]),
]
# The row whose headers come after the macros of others, and whose object is linked twice.
SPECIAL = SUPPORTED[0]
# The core without Asio, which needs RTTI itself.
CORE = [("g++", ["-std=c++20", "-fno-rtti"])]
# With Asio's executors of the Networking TS.
OLD_EXECUTORS = [("g++", ["-std=gnu++20", "-DASIO_USE_TS_EXECUTOR_AS_DEFAULT"], ["ASIO", "DISPATCHER"])]
REFUSED = [
    ("g++", ["-std=c++17"], "Tollgate needs C++20: compile with -std=c++20 or later."),
    ("clang++-16", ["-std=c++17"], "Tollgate needs C++20: compile with -std=c++20 or later."),
    ("g++", ["-std=c++20", "-fno-exceptions"], "Tollgate needs exceptions: compile without -fno-exceptions."),
]


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    missing = [name for name in ("g++", "clang++-16", "clang++-19") if not shutil.which(name)]
    if missing:
        sys.exit(f"missing: {', '.join(missing)}")

    def check(compiler, options, code):
        return toolchain.Compiler(compiler, arguments.includes).check(code, *options)

    def accept(row):
        compiler, options, parts = row
        flags = [*options, *WARNINGS, *(f"-DTOLLGATE_WITH_{part}" for part in parts)]
        if (compiler, options) == SPECIAL:
            compiles, output = link_twice(compiler, flags)
        else:
            compiles, output = check(compiler, flags, CODE)
        return None if compiles else f"{compiler} {' '.join(options)}:\n{output[:4000]}"

    def link_twice(compiler, flags):
        with tempfile.TemporaryDirectory() as scratch:
            unit = pathlib.Path(scratch) / "unit.o"
            compiles, output = toolchain.Compiler(compiler, arguments.includes).compile(foreign_macros.poison() + CODE, unit, *flags)
            if not compiles:
                return False, output
            linked = subprocess.run(["ld", "-r", "-o", f"{unit}.twice", unit, unit], capture_output=True, text=True, check=False)
            return linked.returncode == 0, linked.stderr

    def refuse(row):
        compiler, options, message = row
        compiles, output = check(compiler, options, CODE)
        errors = re.findall(r"error: (?:#error )?(.*)", output)
        expected = [f'"{message}"', errors[-1] if errors else ""]
        if not compiles and errors == expected and "compilation_ends_here" in errors[-1]:
            return None
        return f"{compiler} {' '.join(options)}: expected one message, not\n{output[:4000]}"

    rows = [(compiler, options, PARTS) for compiler, options in SUPPORTED] + [(*row, []) for row in CORE] + OLD_EXECUTORS
    findings = [*toolchain.in_parallel(arguments.jobs, accept, rows), *toolchain.in_parallel(arguments.jobs, refuse, REFUSED)]
    findings = list(filter(None, findings))
    print("\n".join(findings) if findings else f"{len(rows)} compilations without a warning")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
