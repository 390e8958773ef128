#!/usr/bin/env python3
"""Groups test sources. Each group compiles as one translation unit, which takes a third of the time of separate compilation.

    unity_groups.py file...    prints `group file` for each

Two files do not share a group if one declares, outside of classes and functions, a name that the other one uses: names of an
anonymous namespace would conflict. A file that defines a macro is alone in its group.
"""

import pathlib
import re
import sys

LINES_MAX = 3000  # of a group: large enough to share the cost of headers, and small enough for two cores with 1 GB each

NOISE = re.compile(r'//[^\n]*|/\*.*?\*/|R"([^(\s]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'', re.DOTALL)
USED = re.compile(r"(?<![\w.:])(?<!->)([A-Za-z_]\w*)")
DECLARED = [
    re.compile(r"^(?:template <.*> )?(?:struct|class|union|enum(?: class)?) (\w+)"),
    re.compile(r"^using (\w+) ="),
    re.compile(r"^using [\w:]*::(\w+);"),
    re.compile(r"^(?!using )[A-Za-z\[][\w:<>,*&\[\] ]*?[\w>*&\]] \**&?(\w+)(?:\(|\{|\[| =|;)"),
]
KEYWORDS = {"namespace", "return", "if", "for", "operator", "static_assert", "TEST_CASE", "TEMPLATE_TEST_CASE", "SCENARIO"}


class Source:
    def __init__(self, path):
        self.path = path
        text = path.read_text(encoding="utf-8")
        self.lines = text.count("\n")
        self.alone = re.search(r"^#define ", text, re.MULTILINE) is not None
        code = NOISE.sub(" ", text)
        # Another namespace may make a name of this file ambiguous.
        self.namespaces = frozenset(re.findall(r"^using namespace (tollgate::[\w:]+|tollgate_test);", code, re.MULTILINE))
        self.used = set(USED.findall(code))
        self.imported, self.declared = set(), set()
        for line in code.splitlines():
            for index, pattern in enumerate(DECLARED):
                if found := pattern.match(line):
                    if found.group(1) not in KEYWORDS:
                        (self.imported if index == 2 else self.declared).add(found.group(1))
                    break

    def conflicts_with(self, other):
        return bool(self.declared & other.used or other.declared & self.used or self.imported & other.declared
                    or other.imported & self.declared)


def groups_of(sources):
    groups = []
    for source in sources:
        for group in groups:
            if (not source.alone and not group[0].alone and source.namespaces == group[0].namespaces
                    and sum(each.lines for each in group) + source.lines <= LINES_MAX
                    and not any(source.conflicts_with(each) for each in group)):
                group.append(source)
                break
        else:
            groups.append([source])
    return groups


def main():
    for number, group in enumerate(groups_of([Source(pathlib.Path(name)) for name in sys.argv[1:]])):
        for source in group:
            print(f"{number} {source.path}")


if __name__ == "__main__":
    main()
