#!/usr/bin/env python3
"""Every header and every file of bodies compiles alone, without a warning: each includes what it uses.

Separate compilation is stricter: a header does not see the includes of its bodies. A header and its bodies are one
translation unit, the header first.

A header that includes one of SHARED, directly or indirectly, is compiled with that one as a precompiled header. This adds no
declaration that the header does not include.
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
    "base/result", "base/time", "base/secret", "model/quota", "base/detail/text", "pipeline/detail/observed_request",
    "testing/detail/test_case", "webhooks/detail/connection", "server/detail/ticket_keys", "store/detail/sql/rows")]
DIRECTIVE = re.compile(r"\s*#\s*(?:include\s*<(tollgate/[^>]+)>|(if|endif))")


def included(name, cache):
    """The headers of Tollgate that a header includes unconditionally, directly or indirectly."""
    if name not in cache:
        cache[name], depth = set(), 0
        for found in filter(None, map(DIRECTIVE.match, sources.read(BASE / name).splitlines())):
            depth += {"if": 1, "endif": -1}.get(found.group(2), 0)
            if found.group(1) and depth == 0:
                cache[name] |= {found.group(1)} | included(found.group(1), cache)
    return cache[name]


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    # impl/ is generated, and compiled alone as the library's compiled form.
    names = [path.relative_to(BASE).as_posix() for path in sources.files(BASE, ".hpp") if "impl" not in path.parts]
    options = ["-DTOLLGATE_SEPARATE_COMPILATION", *toolchain.WARNINGS]

    cache, groups = {}, collections.defaultdict(list)
    for name in names:
        shared = [each for each in SHARED if each in included(name, cache)]
        groups[max(shared, key=lambda each: len(included(each, cache)), default=None)].append(name)

    def judge(name, options):
        bodies = name.removesuffix(".hpp") + ".ipp"
        files = [name, bodies] if (BASE / bodies).exists() else [name]
        compiles, output = compiler.check("".join(f"#include <{each}>\n" for each in files), *options)
        return None if compiles else f"{name} does not compile alone:\n{output}"

    def judge_group(group):
        shared, names = group
        with tempfile.TemporaryDirectory() as scratch:
            group_options, output = options, ""
            if shared:
                group_options, output = compiler.precompile(f"#include <{shared}>\n", pathlib.Path(scratch), *options)
            return [judge(name, group_options) for name in names] if group_options else [f"{shared} does not compile alone:\n{output}"]

    # The largest group first.
    by_work = sorted(groups.items(), key=lambda group: len(group[1]), reverse=True)
    findings = [each for group in toolchain.in_parallel(arguments.jobs, judge_group, by_work) for each in group if each]
    print("\n".join(findings) if findings else f"{len(names)} headers compile alone")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
