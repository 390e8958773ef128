#!/usr/bin/env python3
"""All public headers compile without a warning as C++23 and with libc++, once after the macros of others. Other compilers get
one message. Header-only, each translation unit has every body: linked twice, the linker complains about one that is not inline.

A program with pages compiles without the warnings that only an optimizer finds. The single header and include/ are harmless in one unit, and
so are two copies of include/. Classes of users may have an operator& and a comma of their own, and a namespace with greedy functions.

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
# The warnings of an optimizer, for a program with pages.
OPTIMIZED = [
    ["-O2", "-Wall", "-Wextra", "-Werror", "-Warray-bounds", "-Wstringop-overflow"],
    ["-O3", "-Wall", "-Wextra", "-Werror", "-Wlogical-op", "-Wcast-align=strict", "-Wnull-dereference"],
]
ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "examples/own_session/main.cpp"
UNADDRESSABLE = pathlib.Path(__file__).parent / "unaddressable.cpp"
# They cannot be names of functions.
NO_FUNCTIONS = set("""alignas alignof and asm assert auto bool case catch char co_await concept const_cast decltype defined delete do double
    dynamic_cast else errno explicit for htonl htons if int new noexcept not ntohl ntohs offsetof operator or reinterpret_cast requires return
    sizeof static_assert static_cast switch throw typeid unsigned void while""".split())
# Of the other copy, a header that includes many.
SOME = "tollgate/store/memory.hpp"
ORDERS = [
    (f'"{ROOT}/single_include/tollgate/tollgate.hpp"', f"<{SOME}>"),
    (f"<{SOME}>", f'"{ROOT}/single_include/tollgate/tollgate.hpp"'),
    ('"copy/tollgate/store/memory.hpp"', f"<{SOME}>"),
]
REFUSED = [
    ("g++", ["-std=c++17"], "Tollgate needs C++20: compile with -std=c++20 or later."),
    ("clang++-16", ["-std=c++17"], "Tollgate needs C++20: compile with -std=c++20 or later."),
    ("g++", ["-std=c++20", "-fno-exceptions"], "Tollgate needs exceptions: compile without -fno-exceptions."),
]


def greedy_functions(includes):
    """Deleted functions with the names of all that the headers call without a scope. Each takes `ours` as one of its first arguments, and
    fits better than a function of the library, or as well."""
    names = set()
    for path in includes.rglob("*.?pp"):
        text = re.sub(r'//[^\n]*|"(?:\\.|[^"\\\n])*"', "", path.read_text())
        names |= set(re.findall(r"(?<![\w.:>~])([a-z]\w*)\(", text))
    names -= NO_FUNCTIONS | {"unaddressable"}
    return "".join(f"void {name}({'auto&&, ' * place}ours auto&, auto&&...) = delete;\n" for name in sorted(names) for place in range(4))


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

    def optimize(flags):
        with tempfile.TemporaryDirectory() as scratch:
            compiles, output = toolchain.Compiler("g++", arguments.includes).compile(PROGRAM.read_text(), pathlib.Path(scratch) / "o",
                                                                                     *flags)
        return None if compiles else f"{' '.join(flags)}:\n{output[:4000]}"

    def include_two(order):
        with tempfile.TemporaryDirectory() as scratch:
            shutil.copytree(arguments.includes[0], f"{scratch}/copy")
            compiles, output = check("g++", [*toolchain.WARNINGS, f"-I{scratch}"], "".join(f"#include {name}\n" for name in order))
        return None if compiles else f"{' and '.join(order)}:\n{output[:4000]}"

    def accept_unaddressable(path):
        before, line, after = path.read_text().partition("// compilers_test.py replaces this line")
        if not line:
            return f"{path}: no line to replace"
        code = before + greedy_functions(pathlib.Path(arguments.includes[0])) + line + after
        compiles, output = check("g++", ["-DTOLLGATE_SEPARATE_COMPILATION", "-DTOLLGATE_WITH_ASIO", "-DTOLLGATE_WITH_DISPATCHER"], code)
        return None if compiles else f"{path}:\n{output[:4000]}"

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
    findings = [finding for work, items in ((accept, rows), (refuse, REFUSED), (optimize, OPTIMIZED), (include_two, ORDERS),
                                            (accept_unaddressable, [UNADDRESSABLE]))
                for finding in toolchain.in_parallel(arguments.jobs, work, items)]
    findings = list(filter(None, findings))
    print("\n".join(findings) if findings else f"{len(rows)} compilations without a warning")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
