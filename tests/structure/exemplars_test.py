#!/usr/bin/env python3
"""Exemplars in comments of headers compile: each is, line by line, also in tests/unit/contract/exemplars_test.cpp."""

import re

import sources

TEST = "tests/unit/contract/exemplars_test.cpp"
CODE = re.compile(r"/// Exemplar:\n///\n((?:///(?:     .*)?\n)+)")


def check(base):
    test = base / TEST
    compiled = sources.read(test) if test.is_file() else ""
    findings, found = [], 0
    headers = sources.files(base / "include" / "tollgate" / "contract", ".hpp") + [base / "include/tollgate/http/handler.hpp"]
    for header in filter(lambda path: path.is_file(), headers):
        for comment in CODE.findall(sources.read(header)):
            found += 1
            code = "\n".join(line.removeprefix("///     ").removeprefix("///") for line in comment.splitlines()).strip()
            if code not in compiled:
                findings.append(f"{header.relative_to(base)}: the exemplar is not in {TEST}")
    return findings if found else ["no exemplar was found"]


if __name__ == "__main__":
    sources.report(check)
