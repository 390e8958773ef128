#!/usr/bin/env python3
"""Invalid code does not compile, and the message names the reason. Each tests/compile_fail/*.cpp starts with

    // expect: text of the message

and the compiler refuses it with that text in an error or a note. A file with `TOLLGATE_MISFIT` must compile without that
macro, so that the misfit is the only error of the code. A message of Tollgate (`tollgate: ...`) must be the only error. Further
lines

    // misfit 2 names peek: text of its message

describe `-DTOLLGATE_MISFIT=2`, and the first lines of the compiler's output must name the member.

Two precompiled headers, without bodies of functions, have what the files include: one for files that include nothing above
CORE, a large one for all others.
"""

import collections
import pathlib
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
import toolchain  # noqa: E402

EXPECT = re.compile(r"// expect: (.+)")
MISFIT = re.compile(r"^// misfit (\d+) names (\w+): (.+)$", re.MULTILINE)
INCLUDE = re.compile(r"^#include <tollgate/(\w+)/.*>\n", re.MULTILINE)
CORE = {"http", "pipeline", "policy"}
FIRST_LINES = 20  # fewer than a screen shows


def judge(compiler, options, path):
    code = path.read_text(encoding="utf-8")
    expected = EXPECT.match(code)
    if not expected:
        return f"{path.name}: the first line is not `// expect: text`"
    if "TOLLGATE_MISFIT" in code:
        compiles, output = compiler.check(code, *options)
        if not compiles:
            return f"{path.name}: does not compile without its misfit either:\n{output}"
    findings = [judge_misfit(compiler, options, path, code, "1", None, expected.group(1).strip())] if not MISFIT.search(code) else []
    for number, member, message in MISFIT.findall(code):
        findings.append(judge_misfit(compiler, options, path, code, number, member, message.strip()))
    return "\n".join(filter(None, findings)) or None


def judge_misfit(compiler, options, path, code, number, member, expected):
    where = f"{path.name}, misfit {number}"
    compiles, output = compiler.check(code, *options, f"-DTOLLGATE_MISFIT={number}")
    if compiles:
        return f"{where}: compiles, but must not"
    # Lines that the compiler quotes from the source are not messages.
    messages = [line for line in output.splitlines() if re.search(r"(error|note):", line)]
    if not any(expected in line for line in messages):
        return f"{where}: refused, but not with `{expected}`:\n{output}"
    errors = [line for line in messages if "error:" in line]
    if expected.startswith("tollgate:") and len(errors) != 1:
        return f"{where}: refused with {len(errors)} errors, not one:\n" + "\n".join(errors)
    first = next(i for i, line in enumerate(output.splitlines()) if "error:" in line)
    if member and not any(re.search(rf"\b{member}\b", line) for line in output.splitlines()[first:first + FIRST_LINES]):
        return f"{where}: its first lines do not name `{member}`:\n{output}"
    return None


def precompile(compiler, paths, directory):
    """The options with which the files at `paths` compile, or None, and the compiler's output."""
    directory.mkdir()
    includes = {found.group(0) for path in paths for found in INCLUDE.finditer(path.read_text(encoding="utf-8"))}
    return compiler.precompile("".join(sorted(includes)), directory, "-DTOLLGATE_SEPARATE_COMPILATION")


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    groups = collections.defaultdict(list)
    for path in arguments.arguments:
        groups[set(INCLUDE.findall(path.read_text(encoding="utf-8"))) <= CORE].append(path)

    with tempfile.TemporaryDirectory() as scratch:
        def precompile_group(group):
            is_core, paths = group
            return precompile(compiler, paths, pathlib.Path(scratch) / ("core" if is_core else "all"))

        precompiled = dict(zip(groups, toolchain.in_parallel(arguments.jobs, precompile_group, groups.items())))
        findings = [output for options, output in precompiled.values() if not options]
        if not findings:
            work = [(precompiled[is_core][0], path) for is_core, paths in groups.items() for path in paths]
            findings = list(filter(None, toolchain.in_parallel(arguments.jobs, lambda each: judge(compiler, *each), work)))
    print("\n".join(findings) if findings else f"{len(arguments.arguments)} misfits are refused")
    sys.exit(1 if findings or not groups else 0)


if __name__ == "__main__":
    main()
