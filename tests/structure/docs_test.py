#!/usr/bin/env python3
"""In every document, relative links have a target, and each C++ snippet equals a part of a compiled file. Decision records have one form.

Each block of C++ follows `<!-- snippet: FILE -->` or `<!-- snippet: FILE NAME -->`. The block equals that file, or its part
between the comments `// [NAME]` and `// [/NAME]`, without its indentation. `docs_test.py --write` copies the text from the file.
"""

import importlib.util
import re
import sys
import textwrap

import sources

spec = importlib.util.spec_from_file_location("plot", sources.ROOT / "tests" / "benchmark" / "common" / "plot.py")
plot = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plot)

LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|^\[[^\]]+\]:\s*(\S+)", re.MULTILINE)
IMAGE = re.compile(r"!\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!--\s*snippet:\s*(\S+)(?:\s+(\S+))?\s*-->\s*\Z")
WRITTEN_FIGURES = re.compile(r"<!-- figures: \w+ -->\n.*?<!-- /figures -->", re.DOTALL)
FIGURE_PAGES = ("README.md", "docs/benchmarks.md")
MACHINE = re.compile(r"<!-- figures: machine -->\n(.*?)\n<!-- /figures -->", re.DOTALL)
FIGURES = {"machine", "summary", "plain", "tls", "handle", "threads", "webhooks", "users", "nodes", "store", "events", "build"}
HEADING = re.compile(r"^#+\s+(.*)$", re.MULTILINE)
RECORD_PARTS = ["Context", "Decision", "Alternatives", "Consequences"]
RECORD_LINES_MAX = 40  # about half a printed page


def pages(base):
    found = [path for path in (base / "README.md", base / "CHANGELOG.md") if path.is_file()]
    return found + (sources.files(base / "docs", ".md") if (base / "docs").is_dir() else [])


def anchors(page):
    """The anchors of headings as GitHub generates them: lower case, spaces to hyphens, punctuation dropped."""
    text = FENCE.sub("", sources.read(page))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-") for heading in HEADING.findall(text)}


def links(page):
    text = FENCE.sub("", sources.read(page))
    return [inline or reference for inline, reference in LINK.findall(text)] + IMAGE.findall(text)


def snippets(text):
    """The blocks of C++ of a page."""
    return [block for block in FENCE.finditer(text) if block.group(1) in ("cpp", "c++")]


def check_links(base, page):
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        if not linked.exists():
            yield f"{page.relative_to(base)}: the link to {target} has no target"
        elif anchor and linked.suffix == ".md" and anchor not in anchors(linked):
            yield f"{page.relative_to(base)}: {target}: no such heading"


def snippet(base, file, name):
    """The text of a file or of one of its parts. Raises ValueError if it does not exist."""
    path = base / file
    if not path.is_file():
        raise ValueError(f"{file} does not exist")
    text = sources.read(path)
    if name:
        found = re.search(rf"^[ \t]*// \[{re.escape(name)}\]\n(.*?)^[ \t]*// \[/{re.escape(name)}\]$", text,
                          re.MULTILINE | re.DOTALL)
        if not found:
            raise ValueError(f"{file} has no part [{name}]")
        text = found.group(1)
    return textwrap.dedent(text).strip("\n")


def check_snippets(base, page):
    text = sources.read(page)
    for block in snippets(text):
        line = text.count("\n", 0, block.start()) + 1
        where = f"{page.relative_to(base)}:{line}"
        mark = MARK.search(text[:block.start()])
        if not mark:
            yield f"{where}: a block without `<!-- snippet: FILE -->`"
            continue
        try:
            expected = snippet(base, *mark.groups())
        except ValueError as error:
            yield f"{where}: {error}"
            continue
        if block.group(2).strip("\n") != expected:
            yield f"{where}: the block differs from {' '.join(filter(None, mark.groups()))}"


def refresh_snippets(base):
    """Replaces the snippets of each page by the text of their files."""
    def updated(found):
        mark = MARK.search(text[:found.start()])
        if found.group(1) not in ("cpp", "c++") or not mark:
            return found.group(0)
        return f"```{found.group(1)}\n{snippet(base, *mark.groups())}\n```\n"

    for page in pages(base):
        text = sources.read(page)
        page.write_text(FENCE.sub(updated, text), encoding="utf-8")


def check_figures(base):
    """The benchmark writes the figures of these pages together, so that one version and one date hold for all."""
    machines = set()
    for page in FIGURE_PAGES:
        text = sources.read(base / page) if (base / page).is_file() else ""
        names = re.findall(r"<!-- figures: (\w+) -->", text)
        if names and "machine" not in names or set(names) - FIGURES or len(names) != len(set(names)):
            yield f"{page}: the figures {names} are not those that the benchmark writes"
        if page != "README.md" and re.search(r"^\|", WRITTEN_FIGURES.sub("", text), re.MULTILINE):
            yield f"{page}: a table of figures that the benchmark does not write"
        machines |= set(MACHINE.findall(text))
    if len(machines) > 1:
        yield "the figures of the pages are not of one run"


def check_plots(base):
    page = base / "docs" / "benchmarks.md"
    for name, svg in plot.plots(sources.read(page) if page.is_file() else "").items():
        path = plot.path_of(page, name)
        if not path.is_file() or sources.read(path) != svg:
            yield f"{path.relative_to(base)}: not the plot of its table; run tests/benchmark/common/plot.py docs/benchmarks.md"
        if f"](images/{path.name})" not in sources.read(page):
            yield f"docs/benchmarks.md: does not show images/{path.name}"


def check_theme(base):
    """docs/pages.md lists each custom property of the default style sheet, and no other."""
    page, sheet = base / "docs" / "pages.md", base / "include/tollgate/web/detail/plain_theme_style.hpp"
    if not page.is_file() or not sheet.is_file():
        return
    listed = set(re.findall(r"`(--[a-z-]+)`(?=[^\n]*\|[^\n]*\|$)", sources.read(page), re.MULTILINE))
    defined = set(re.findall(r"(--[a-z-]+):", sources.read(sheet)))
    for name in sorted(defined ^ listed):
        yield f"docs/pages.md: {name} is {'not listed' if name in defined else 'no property of the style sheet'}"


def check_records(base):
    """Decision records are numbered from 1 without a gap, have the same four parts, and are listed with their titles."""
    folder = base / "docs" / "decisions"
    if not folder.is_dir():
        return
    listed = []
    for number, path in enumerate((path for path in sources.files(folder, ".md") if path.name != "README.md"), 1):
        name = path.relative_to(base)
        text = sources.read(path)
        title, *parts = HEADING.findall(text)
        if not path.name.startswith(f"{number:04d}-") or not title.startswith(f"{number}. "):
            yield f"{name}: the number is not {number}"
        if parts != RECORD_PARTS:
            yield f"{name}: the parts are {', '.join(parts)}, not {', '.join(RECORD_PARTS)}"
        if text.count("\n") > RECORD_LINES_MAX:
            yield f"{name}: more than {RECORD_LINES_MAX} lines"
        listed.append(f"- [{path.name[:4]} {title.partition(' ')[2]}]({path.name})")
    readme = sources.read(folder / "README.md") if (folder / "README.md").is_file() else ""
    if re.findall(r"^- \[.*$", readme, re.MULTILINE) != listed:
        yield "docs/decisions/README.md: the list of records is not theirs"


def check(base):
    found = pages(base)
    findings = [finding for page in found for finding in (*check_links(base, page), *check_snippets(base, page))]
    findings += [*check_figures(base), *check_plots(base), *check_theme(base), *check_records(base)]
    if not any(map(links, found)):
        findings.append("no link was found")
    if not any(snippets(sources.read(page)) for page in found):
        findings.append("no block of C++ was found")
    return findings


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        refresh_snippets(sources.ROOT)
    sources.report(check)
