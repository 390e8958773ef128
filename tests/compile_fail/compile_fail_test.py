#!/usr/bin/env python3
"""What must not compile does not, and says why: each tests/compile_fail/*.cpp starts with

    // expect: text of the one message that the reader is to find

and is refused by the compiler with that text in an error or a note. A file that has `#if defined(TOLLGATE_MISFIT)` must
compile without it: then no other mistake is what the compiler refuses. A message of our own (`tollgate: ...`) is the only
error: nobody has to look for it among its consequences.
"""

import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "structure"))
import toolchain  # noqa: E402

EXPECT = re.compile(r"// expect: (.+)")


def judge(compiler, path):
    code = path.read_text(encoding="utf-8")
    expected = EXPECT.match(code)
    if not expected:
        return f"{path.name}: the first line is no `// expect: text`"
    if "defined(TOLLGATE_MISFIT)" in code:
        good, said = compiler.check(code, directory=path.parent)
        if not good:
            return f"{path.name}: does not compile without its misfit either:\n{said}"
    good, said = compiler.check(code, "-DTOLLGATE_MISFIT", directory=path.parent)
    if good:
        return f"{path.name}: compiles, but must not"
    # What the compiler quotes from the source does not count as saying it.
    messages = [line for line in said.splitlines() if re.search(r"(error|note):", line)]
    if not any(expected.group(1).strip() in line for line in messages):
        return f"{path.name}: refused, but not with `{expected.group(1).strip()}`:\n{said}"
    errors = [line for line in messages if "error:" in line]
    if expected.group(1).startswith("tollgate:") and len(errors) != 1:
        return f"{path.name}: refused with {len(errors)} errors, not one:\n" + "\n".join(errors)
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
