#!/usr/bin/env python3
"""Every header and every file of bodies compiles alone, without a warning: each includes what it uses.

Separate compilation is stricter: a header does not see the includes of its bodies.

All are compiled at once, as submodules of one Clang module. A submodule sees only what it includes, directly or indirectly, and
each header is parsed once.
"""

import pathlib
import re
import sys
import tempfile

import sources
import toolchain

BASE = sources.ROOT / "include"
INCLUDE = re.compile(r"^\s*#\s*include\s*<([^>]+)>", re.MULTILINE)
# <assert.h> depends on NDEBUG each time that it is included.
TEXTUAL = {"cassert"}
# Several standard headers include it and define what it needs.
ADDITIONAL = ["bits/std_thread.h"]
OPTIONS = ["-DTOLLGATE_SEPARATE_COMPILATION", *toolchain.WARNINGS, "-ferror-limit=0",
           "-fmodules", "-Xclang", "-fmodules-local-submodule-visibility",
           # Constants with internal linkage in system headers.
           "-Wno-modules-ambiguous-internal-linkage"]


def module(name, paths, attributes="", in_one=False):
    """A module whose submodules are the headers at `paths`; if `in_one`, they see each other."""
    headers = [f'header "{path}"' for path in paths]
    members = [*headers, "export *"] if in_one else [f"explicit module m{i} {{ {each} export * }}" for i, each in enumerate(headers)]
    return f"module {name} {attributes} {{\n" + "\n".join(members) + "\n}\n"


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    # impl/ is generated, and compiled alone as the library's compiled form.
    own = [path for path in sources.files(BASE, ".hpp", ".ipp") if "impl" not in path.parts]
    included = {name for path in own for name in INCLUDE.findall(sources.read(path))}

    def found(pattern):
        return compiler.paths_of(sorted(name for name in included - TEXTUAL if re.fullmatch(pattern, name)))

    standard = found("[a-z_]+")
    maps = [
        module("standard", [*standard, *(pathlib.Path(standard[0]).parent / name for name in ADDITIONAL)], "[system]"),
        module("openssl", found("openssl/.*"), "[system] [extern_c]"),
        module("asio", found("asio/.*"), "[system]", in_one=True),
        module("json", found("nlohmann/.*"), "[system]"),
        module("tollgate", own),
    ]
    with tempfile.TemporaryDirectory() as scratch:
        module_map = pathlib.Path(scratch) / "module.modulemap"
        module_map.write_text("".join(maps), encoding="utf-8")
        compiles, output = compiler.check("#include <tollgate/base/config.hpp>\n", *OPTIONS, f"-fmodules-cache-path={scratch}/cache",
                                          f"-fmodule-map-file={module_map}")
    print(f"{len(own)} files compile alone" if compiles else output)
    sys.exit(0 if compiles else 1)


if __name__ == "__main__":
    main()
