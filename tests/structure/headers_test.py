#!/usr/bin/env python3
"""Every header and every file of bodies compiles alone, without a warning: each includes what it uses.

Separate compilation is the stricter way: it hides what bodies include from the header that they belong to. A header and
its bodies are one look, the header first.

A header that includes one of SHARED, itself or through others, is compiled as if it began with it, and that is compiled
once: it has no name in reach that it does not include.
"""

import collections
import pathlib
import re
import sys
import tempfile

import sources
import toolchain

BASE = sources.ROOT / "include"
SHARED = [f"tollgate/{name}.hpp" for name in (
    "base/detail/text", "base/result", "http/request", "contract/observer", "model/delivery", "pages/detail/page",
    "store/detail/sql/rows", "testing/detail/test_case")]
DIRECTIVE = re.compile(r"\s*#\s*(?:include\s*<(tollgate/[^>]+)>|(if|endif))")


def included(name, known):
    """What a header of ours includes of ours, itself and through others, whatever is defined."""
    if name not in known:
        known[name], depth = set(), 0
        for found in filter(None, map(DIRECTIVE.match, sources.read(BASE / name).splitlines())):
            depth += {"if": 1, "endif": -1}.get(found.group(2), 0)
            if found.group(1) and depth == 0:
                known[name] |= {found.group(1)} | included(found.group(1), known)
    return known[name]


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    names = [path.relative_to(BASE).as_posix() for path in sources.files(BASE, ".hpp")]
    options = ["-DTOLLGATE_SEPARATE_COMPILATION", *toolchain.WARNINGS]

    known, groups = {}, collections.defaultdict(list)
    for name in names:
        shared = [each for each in SHARED if each in included(name, known)]
        groups[max(shared, key=lambda each: len(included(each, known)), default=None)].append(name)

    def judge(name, options):
        bodies = name.removesuffix(".hpp") + ".ipp"
        looked_at = [name, bodies] if (BASE / bodies).exists() else [name]
        good, said = compiler.check("".join(f"#include <{each}>\n" for each in looked_at), *options)
        return None if good else f"{name} does not compile alone:\n{said}"

    def judge_group(group):
        shared, names = group
        with tempfile.TemporaryDirectory() as scratch:
            of_group, said = options, ""
            if shared:
                of_group, said = compiler.precompile(f"#include <{shared}>\n", pathlib.Path(scratch), *options)
            return [judge(name, of_group) for name in names] if of_group else [f"{shared} does not compile alone:\n{said}"]

    # The longest one first.
    by_work = sorted(groups.items(), key=lambda group: len(group[1]), reverse=True)
    findings = [each for group in toolchain.in_parallel(arguments.jobs, judge_group, by_work) for each in group if each]
    print("\n".join(findings) if findings else f"{len(names)} headers compile alone")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
