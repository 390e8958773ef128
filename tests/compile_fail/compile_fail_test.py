#!/usr/bin/env python3
"""Invalid code does not compile, and the message names the reason. Each tests/compile_fail/*.cpp starts with

    // expect: text of the message

and the compiler refuses it with that text in an error or a note. A file with `TOLLGATE_MISFIT` must compile without that
macro, so that the misfit is the only error of the code. A message of Tollgate (`tollgate: ...`) must be the only error. Further
lines

    // misfit 2 names peek: text of its message

describe `-DTOLLGATE_MISFIT=2`, and the first lines of the compiler's output must name the member.

Files that begin with the same includes share a precompiled header, without bodies of functions.
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
INCLUDES = re.compile(r"(?://.*\n)*((?:#include <.*>\n)+)")
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


def judge_all(compiler, includes, paths, scratch):
    options, output = compiler.precompile(includes, scratch, "-DTOLLGATE_SEPARATE_COMPILATION")
    if not options:
        return [f"{', '.join(path.name for path in paths)}: their includes do not compile:\n{output}"]
    return [judge(compiler, options, path) for path in paths]


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    groups = collections.defaultdict(list)
    for path in arguments.arguments:
        groups[INCLUDES.match(path.read_text(encoding="utf-8")).group(1)].append(path)

    def judge_group(group):
        with tempfile.TemporaryDirectory() as scratch:
            return judge_all(compiler, *group, pathlib.Path(scratch))

    findings = [each for group in toolchain.in_parallel(arguments.jobs, judge_group, groups.items()) for each in group if each]
    print("\n".join(findings) if findings else f"{len(arguments.arguments)} misfits are refused")
    sys.exit(1 if findings or not groups else 0)


if __name__ == "__main__":
    main()
