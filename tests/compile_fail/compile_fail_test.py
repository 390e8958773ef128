#!/usr/bin/env python3
"""What must not compile does not, and says why: each tests/compile_fail/*.cpp starts with

    // expect: text of the one message that the reader is to find

and is refused by the compiler with that text in an error or a note. A file that has `TOLLGATE_MISFIT` must compile
without it: then no other mistake is what the compiler refuses. A message of our own (`tollgate: ...`) is the only
error: nobody has to look for it among its consequences. Further lines

    // misfit 2 names peek: text of its message

stand for `-DTOLLGATE_MISFIT=2`, and the member is named within the first lines of what the compiler says.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
import toolchain  # noqa: E402

EXPECT = re.compile(r"// expect: (.+)")
MISFIT = re.compile(r"^// misfit (\d+) names (\w+): (.+)$", re.MULTILINE)
FIRST_LINES = 20  # a screen shows more


def judge(compiler, path):
    code = path.read_text(encoding="utf-8")
    expected = EXPECT.match(code)
    if not expected:
        return f"{path.name}: the first line is no `// expect: text`"
    if "TOLLGATE_MISFIT" in code:
        good, said = compiler.check(code, directory=path.parent)
        if not good:
            return f"{path.name}: does not compile without its misfit either:\n{said}"
    findings = [judge_misfit(compiler, path, code, "1", None, expected.group(1).strip())] if not MISFIT.search(code) else []
    for number, member, message in MISFIT.findall(code):
        findings.append(judge_misfit(compiler, path, code, number, member, message.strip()))
    return "\n".join(filter(None, findings)) or None


def judge_misfit(compiler, path, code, number, member, expected):
    where = f"{path.name}, misfit {number}"
    good, said = compiler.check(code, f"-DTOLLGATE_MISFIT={number}", directory=path.parent)
    if good:
        return f"{where}: compiles, but must not"
    # What the compiler quotes from the source does not count as saying it.
    messages = [line for line in said.splitlines() if re.search(r"(error|note):", line)]
    if not any(expected in line for line in messages):
        return f"{where}: refused, but not with `{expected}`:\n{said}"
    errors = [line for line in messages if "error:" in line]
    if expected.startswith("tollgate:") and len(errors) != 1:
        return f"{where}: refused with {len(errors)} errors, not one:\n" + "\n".join(errors)
    begin = next(i for i, line in enumerate(said.splitlines()) if "error:" in line)
    if member and not any(re.search(rf"\b{member}\b", line) for line in said.splitlines()[begin:begin + FIRST_LINES]):
        return f"{where}: its first lines do not name `{member}`:\n{said}"
    return None


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    compiler = toolchain.Compiler(arguments.compiler, arguments.includes)
    cases = arguments.arguments
    findings = list(filter(None, toolchain.in_parallel(arguments.jobs, lambda path: judge(compiler, path), cases)))
    print("\n".join(findings) if findings else f"{len(cases)} misfits are refused")
    sys.exit(1 if findings or not cases else 0)


if __name__ == "__main__":
    main()
