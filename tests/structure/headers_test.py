#!/usr/bin/env python3
"""Every header and every file of bodies compiles alone, without a warning: each includes what it uses.

Separate compilation is the stricter way: it hides what bodies include from the header that they belong to. A header and
its bodies are one look, the header first.
"""

import sys

import sources
import toolchain


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    base = sources.ROOT / "include"
    names = [path.relative_to(base).as_posix() for path in sources.files(base, ".hpp")]

    def judge(name):
        bodies = name.removesuffix(".hpp") + ".ipp"
        looked_at = [name, bodies] if (base / bodies).exists() else [name]
        code = "".join(f"#include <{each}>\n" for each in looked_at)
        good, said = compiler.check(code, "-DTOLLGATE_SEPARATE_COMPILATION", *toolchain.WARNINGS)
        return None if good else f"{name} does not compile alone:\n{said}"

    findings = list(filter(None, toolchain.in_parallel(arguments.jobs, judge, names)))
    print("\n".join(findings) if findings else f"{len(names)} headers compile alone")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
