#!/usr/bin/env python3
"""What must not compile does not, and says why: each tests/compile_fail/*.cpp starts with

    // expect: text of the one message that the reader is to find

and is refused by the compiler with that text in an error or a note. A file that has `TOLLGATE_MISFIT` must compile
without it: then no other mistake is what the compiler refuses. A message of our own (`tollgate: ...`) is the only
error: nobody has to look for it among its consequences. Further lines

    // misfit 2 names peek: text of its message

stand for `-DTOLLGATE_MISFIT=2`, and the member is named within the first lines of what the compiler says.

What files include at their beginning is compiled once for all that begin so. Bodies, which are no templates, are left out.
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
FIRST_LINES = 20  # a screen shows more


def judge(compiler, options, path):
    code = path.read_text(encoding="utf-8")
    expected = EXPECT.match(code)
    if not expected:
        return f"{path.name}: the first line is no `// expect: text`"
    if "TOLLGATE_MISFIT" in code:
        good, said = compiler.check(code, *options)
        if not good:
            return f"{path.name}: does not compile without its misfit either:\n{said}"
    findings = [judge_misfit(compiler, options, path, code, "1", None, expected.group(1).strip())] if not MISFIT.search(code) else []
    for number, member, message in MISFIT.findall(code):
        findings.append(judge_misfit(compiler, options, path, code, number, member, message.strip()))
    return "\n".join(filter(None, findings)) or None


def judge_misfit(compiler, options, path, code, number, member, expected):
    where = f"{path.name}, misfit {number}"
    good, said = compiler.check(code, *options, f"-DTOLLGATE_MISFIT={number}")
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


def judge_all(compiler, includes, paths, scratch):
    options, said = compiler.precompile(includes, scratch, "-DTOLLGATE_SEPARATE_COMPILATION")
    if not options:
        return [f"{', '.join(path.name for path in paths)}: what they include does not compile:\n{said}"]
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
