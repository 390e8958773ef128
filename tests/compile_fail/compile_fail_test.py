#!/usr/bin/env python3
"""Invalid code does not compile, and the message names the reason. Each tests/compile_fail/*.cpp starts with

    // expect: text of the message

and the compiler refuses it with that text in an error or a note. A file with `TOLLGATE_MISFIT` must compile without that
macro, so that the misfit is the only error of the code. A message of Tollgate (`tollgate: ...`) must be the only error. Further
lines

    // misfit 2 names peek: text of its message

describe `-DTOLLGATE_MISFIT=2`, and the first lines of the compiler's output must name the member.

All misfits are one translation unit, each in a namespace of its own; the code without misfits is another. The namespaces' names
in the compiler's output tell which misfit a message is about.
"""

import collections
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
import toolchain  # noqa: E402

EXPECT = re.compile(r"// expect: (.+)")
MISFIT = re.compile(r"^// misfit (\d+) names (\w+): (.+)$", re.MULTILINE)
INCLUDE = re.compile(r"^#include <.*>$", re.MULTILINE)
NAMESPACE = re.compile(r"\bcase_(\d+)\b")
FIRST_LINES = 20  # fewer than a screen shows
# GCC writes where a template is instantiated before the error, Clang after it.
CONTEXT = re.compile(r"In file included from|\s+from \S+:\d+|\S+: (In|At) |\S+:\s+(recursively )?required (from|by)")

Case = collections.namedtuple("Case", "name code number member message")


def cases_of(path):
    code = path.read_text(encoding="utf-8")
    expected = EXPECT.match(code)
    if not expected:
        raise ValueError(f"{path.name}: the first line is not `// expect: text`")
    misfits = MISFIT.findall(code) or [("1", None, expected.group(1))]
    return [Case(f"{path.name}.{number}", code, number, member, message.strip()) for number, member, message in misfits]


def unit_of(cases, has_misfits):
    """One translation unit of all cases. The compiler's output has the number of the case in names of files, types or functions."""
    includes = sorted({include for case in cases for include in INCLUDE.findall(case.code)})
    parts = [f"{include}\n" for include in includes]
    for i, case in enumerate(cases):
        code = INCLUDE.sub("", case.code)
        parts.append(f'#define TOLLGATE_MISFIT {case.number}\n' if has_misfits else "")
        parts.append(f'namespace case_{i} {{\n#line 1 "{case.name} (case_{i})"\n{code}\n}}\n#undef TOLLGATE_MISFIT\n')
    return "".join(parts)


def blocks_of(output):
    """The output in blocks of at most one error, each with the lines about its context before it."""
    blocks, has_message = [[]], False
    for line in output.splitlines():
        is_error = ": error:" in line
        if has_message and (is_error or CONTEXT.match(line)):
            blocks.append([])
            has_message = False
        blocks[-1].append(line)
        has_message = has_message or is_error or ": note:" in line
    return blocks


def output_by_case(cases, output):
    result, last = collections.defaultdict(list), None
    for block in blocks_of(output):
        found = NAMESPACE.search("\n".join(block))
        # A note without a case belongs to the error before it.
        last = cases[int(found.group(1))].name if found else last
        result[last] += block
    return result


def judge(case, lines):
    errors = [line for line in lines if ": error:" in line]
    if not errors:
        return f"{case.name}: compiles, but must not"
    output = "\n".join(lines)
    # Lines that the compiler quotes from the source are not messages.
    if not any(case.message in line for line in lines if re.search(r": (error|note):", line)):
        return f"{case.name}: refused, but not with `{case.message}`:\n{output}"
    if case.message.startswith("tollgate:") and len(errors) != 1:
        return f"{case.name}: refused with {len(errors)} errors, not one:\n" + "\n".join(errors)
    first = lines.index(errors[0])
    if case.member and not any(re.search(rf"\b{case.member}\b", line) for line in lines[first:first + FIRST_LINES]):
        return f"{case.name}: its first lines do not name `{case.member}`:\n{output}"
    return None


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    options = ["-DTOLLGATE_SEPARATE_COMPILATION", "-w", *(["-ferror-limit=0"] if compiler.is_clang else [])]
    cases = [case for path in arguments.arguments for case in cases_of(path)]
    fitting = [case for case in cases if "TOLLGATE_MISFIT" in case.code]

    (compiles, baseline), (_, output) = toolchain.in_parallel(
        arguments.jobs, lambda each: compiler.check(unit_of(*each), *options), [(fitting, False), (cases, True)])
    findings = [] if compiles else [f"Without its misfit, something does not compile either:\n{baseline}"]
    of_case = output_by_case(cases, output)
    findings += filter(None, (judge(case, of_case[case.name]) for case in cases))
    if None in of_case and any(": error:" in line for line in of_case[None]):
        findings.append("Of no misfit:\n" + "\n".join(of_case[None]))
    print("\n".join(findings) if findings else f"{len(cases)} misfits are refused")
    sys.exit(1 if findings or not cases else 0)


if __name__ == "__main__":
    main()
