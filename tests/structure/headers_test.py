#!/usr/bin/env python3
"""Every header, every file of bodies and every test file compiles alone, without a warning: each includes what it uses.

Separate compilation is stricter: a header does not see the includes of its bodies. Test files need this check because `tests/run`
compiles several of them as one unit. Each .cpp file of the server and the examples is a unit of its own in the build.

All are compiled at once, as submodules of Clang modules. A submodule sees only what it includes, directly or indirectly, and each
header is parsed once.
"""

import pathlib
import re
import sys
import tempfile

import sources
import toolchain

BASE = sources.ROOT / "include"
TESTS = sources.ROOT / "tests"
EXAMPLES = sources.ROOT / "examples"
CATCH = "/usr/include/catch2/catch.hpp"
# Compiled as a unit of its own, because it defines a macro that changes Catch2's header.
OWN_UNIT = {"progress_listener.cpp"}
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# <assert.h> depends on NDEBUG each time that it is included.
TEXTUAL = {"cassert"}
# Several standard headers include it and define what it needs.
ADDITIONAL = ["bits/std_thread.h"]
# Clang 16 fails to merge the definitions of this class if two modules instantiate it.
INSTANTIATED = "#include <string>\n#include <utility>\nstatic_assert(sizeof(std::pair<const std::string, std::string>) > 0);\n"
PARTS = ["SQLITE", "POSTGRES", "REDIS", "ASIO", "DISPATCHER"]
OPTIONS = ["-DTOLLGATE_SEPARATE_COMPILATION", *(f"-DTOLLGATE_WITH_{part}" for part in PARTS),
           # Test files do not see each other, but Clang reports that one shadows a name of another.
           *(option for option in toolchain.WARNINGS if option != "-Wshadow"), "-ferror-limit=0",
           f"-I{TESTS}", "-isystem/usr/include/postgresql",
           "-fmodules", "-Xclang", "-fmodules-local-submodule-visibility",
           # Constants with internal linkage in system headers.
           "-Wno-modules-ambiguous-internal-linkage"]


TEST_METHOD = """#define TEST_METHOD_CLASS_(file, line) method_##file##_##line
#define TEST_METHOD_CLASS(file, line) TEST_METHOD_CLASS_(file, line)
#define TEST_METHOD_OF_FILE(file, base, ...) struct TEST_METHOD_CLASS(file, __LINE__) : base { void run(); }; \\
    void TEST_METHOD_CLASS(file, __LINE__)::run()"""


def module(name, paths, attributes="", in_one=False):
    """A module whose submodules are the headers at `paths`; if `in_one`, they see each other."""
    headers = [f'header "{path}"' for path in paths]
    members = [*headers, "export *"] if in_one else [f"explicit module m{i} {{ {each} export * }}" for i, each in enumerate(headers)]
    return f"module {name} {attributes} {{\n" + "\n".join(members) + "\n}\n"


def as_header(path, number, folder):
    """A copy of a test file that can be a header of a module. Unnamed namespaces get names: in a module they would be one."""
    text = re.sub(r"^( *)namespace \{", rf"\1inline namespace file_{number} {{", sources.read(path), flags=re.MULTILINE)
    text = re.sub(r'#include "(.+)"', lambda found: f'#include "{path.parent / found[1]}"', text)
    # Catch2's macro opens an unnamed namespace.
    text = re.sub(r"^TEST_CASE_METHOD\((\w+), (?=\")", rf"TEST_METHOD_OF_FILE({number}, \1, ", text, flags=re.MULTILINE)
    copy = folder / f"file_{number}.hpp"
    copy.write_text(f"{TEST_METHOD}\n#line 1 \"{path}\"\n{text}", encoding="utf-8")
    return copy


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    # impl/ is generated, and compiled alone as the library's compiled form.
    own = [path for path in sources.files(BASE, ".hpp", ".ipp") if "impl" not in path.parts]
    shared = [path for path in sources.files(TESTS / "support", ".hpp") if "catch2_3" not in path.parts]
    examples = sources.files(EXAMPLES, ".hpp")
    tests = [path for path in sources.files(TESTS / "unit", ".cpp") if path.name not in OWN_UNIT]
    everything = [*own, *shared, *examples, *tests]
    included = {name for path in everything for name in INCLUDE.findall(sources.read(path))}

    def found(pattern):
        return compiler.paths_of(sorted(name for name in included - TEXTUAL if re.fullmatch(pattern, name)))

    standard = found("[a-z_]+")
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(scratch)
        instantiated = folder / "instantiated.hpp"
        instantiated.write_text(INSTANTIATED, encoding="utf-8")
        copies = [as_header(path, number, folder) for number, path in enumerate(tests)]
        maps = [
            module("standard", [instantiated, *standard, *(pathlib.Path(standard[0]).parent / name for name in ADDITIONAL)], "[system]"),
            module("openssl", found("openssl/.*"), "[system] [extern_c]"),
            module("asio", found("asio/.*"), "[system]", in_one=True),
            module("json", found("nlohmann/.*"), "[system]", in_one=True),
            module("catch2", [CATCH], "[system]"),
            module("tollgate", own),
            module("support", shared),
            module("examples", examples),
            module("tests", copies),
        ]
        module_map = folder / "module.modulemap"
        module_map.write_text("".join(maps), encoding="utf-8")
        # Clang builds a module when a header of it is included.
        code = "".join(f'#include "{paths[0]}"\n' for paths in (own, shared, examples, copies))
        compiles, output = compiler.check(code, *OPTIONS, f"-fmodules-cache-path={scratch}/cache", f"-fmodule-map-file={module_map}")
    print(f"{len(everything)} files compile alone" if compiles else output)
    sys.exit(0 if compiles else 1)


if __name__ == "__main__":
    main()
