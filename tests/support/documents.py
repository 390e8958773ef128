"""The blocks of code in the project's documents.

A shell block is executed by a test, as a newcomer would paste it: by tests/e2e/documents_test.py or tests/consumer/consumer_test.py.
A block that no test can run follows a comment that says why: `<!-- not run: REASON -->`.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!--\s*not run:\s*(\S[^>]*?)\s*-->\s*\Z")


@dataclasses.dataclass
class Block:
    line: int
    language: str
    text: str
    reason: str | None  # why no test runs it
    output: tuple[str, str]  # language and text of a block that follows directly; empty if there is none


def pages():
    """README.md and what is in docs/, by their names below the root."""
    return ["README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md"))]


def blocks(page, *languages):
    """The blocks of a page in one of the languages."""
    text = (ROOT / page).read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    for each, following in zip(found, [*found[1:], None]):
        if each[1] in languages:
            mark = MARK.search(text[:each.start()])
            has_output = following is not None and text[each.end():following.start()].strip() == ""
            yield Block(text.count("\n", 0, each.start()) + 1, each[1], each[2], mark and mark[1],
                        following.groups() if has_output else ("", ""))


def shell_blocks(page):
    """The shell blocks of a page that tests run."""
    return [block for block in blocks(page, "sh") if block.reason is None]
