#!/usr/bin/env python3
"""Rules for every file: its folder, its size, words that it must not contain, and headers that it names in messages."""

import re

import sources

TOP_LEVEL = {"CMakeLists.txt", "CMakePresets.json", "CHANGELOG.md", "LICENSE", "README.md",
             "docs", "examples", "include", "single_include", "tests"}
DOT_FILES = {".clang-format", ".clang-tidy", ".git", ".gitignore"}  # folders that start with a dot may be of an editor
LINES_MAX = 500  # without the include guard
GUARD_LINES = 4
CODE = (".hpp", ".ipp", ".cpp", ".py")
COLUMNS_MAX = 140  # 120 is the aim; tests have no limit, because of their tables, and templates have the lines of their pages
TEMPLATE = "_html.ipp"

UNFINISHED = re.compile(r"\b(" + "|".join(["TO" "DO", "FIX" "ME", "XX" "X"]) + r")\b")
# Package registries: a build that names one needs the network.
REGISTRIES = re.compile("|".join(re.escape(".".join(host)) for host in [
    ("registry", "npmjs", "org"), ("registry", "yarnpkg", "com"), ("pypi", "org"), ("files", "pythonhosted", "org"),
    ("crates", "io"), ("rubygems", "org"), ("repo", "maven", "apache", "org"), ("deb", "debian", "org"),
    ("proxy", "golang", "org"), ("conan", "io")]))
MACRO = re.compile(r"^\s*#\s*define\s+(\w+)", re.MULTILINE)
USING_NAMESPACE = re.compile(r"^using namespace ", re.MULTILINE)
# In the messages of the compiler: "read tollgate/contract/router.hpp".
READ = re.compile(r"\bread (tollgate/[\w/.]*\w)")
ANONYMOUS = re.compile(r"^\s*namespace\s*\{", re.MULTILINE)


def check_top_level(base):
    for path in sorted(base.iterdir()):
        allowed = path.name in DOT_FILES or path.is_dir() if path.name.startswith(".") else path.name in TOP_LEVEL
        if not allowed and path.name not in sources.SKIPPED:
            yield f"{path.name} does not belong at the top"


def check_text(base):
    for path in sources.files(base):
        text = sources.read(path)
        name = path.relative_to(base)
        for number, line in enumerate(text.splitlines(), 1):
            if UNFINISHED.search(line):
                yield f"{name}:{number}: unfinished: {line.strip()}"
            if REGISTRIES.search(line):
                yield f"{name}:{number}: names a package registry"
            if line != line.rstrip() and path.suffix in CODE and name.parts[0] in ("include", "examples"):
                yield f"{name}:{number}: ends in a blank"
            if (len(line) > COLUMNS_MAX and path.suffix in CODE and name.parts[0] in ("include", "examples")
                    and not name.name.endswith(TEMPLATE)):
                yield f"{name}:{number}: {len(line)} columns, {COLUMNS_MAX} at most"


def check_headers(base):
    for path in sources.files(base / "include", ".hpp", ".ipp"):
        text = sources.read(path)
        name = path.relative_to(base)
        lines = text.count("\n") - GUARD_LINES
        if lines > LINES_MAX:
            yield f"{name}: {lines} lines, {LINES_MAX} at most"
        if "#pragma once" not in text:
            yield f"{name}: no #pragma once"
        for macro in MACRO.findall(text):
            if not macro.startswith("TOLLGATE_") and f"#undef {macro}\n" not in text:
                yield f"{name}: defines {macro}, a macro without TOLLGATE_"
        for named in READ.findall(text):
            if not (base / "include" / named).exists():
                yield f"{name}: tells users to read {named}, which does not exist"
        if USING_NAMESPACE.search(text):
            yield f"{name}: a using directive reaches every program that includes it"
        if ANONYMOUS.search(text):
            yield f"{name}: an unnamed namespace in a header gives each translation unit another copy"


def check(base):
    return [*check_top_level(base), *check_text(base), *check_headers(base)]


if __name__ == "__main__":
    sources.report(check)
