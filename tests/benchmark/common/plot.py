"""Draws the tables of a page of figures as SVG: `common/plot.py docs/benchmarks.md` writes docs/images/benchmark-NAME.svg.

The numbers are those of the page, so that a plot never differs from its table. Rows share their labels, and each column has a panel
with a scale of its own.
"""

from __future__ import annotations

import html
import pathlib
import re
import sys
import textwrap

FIGURES = re.compile(r"<!-- figures: (\w+) -->\n(.*?)\n<!-- /figures -->", re.DOTALL)
TABLE = re.compile(r"(?:^\|.*\|$\n?)+", re.MULTILINE)
NUMBER = re.compile(r"[\d,]+(?:\.\d+)?")
MORE_IS_BETTER = re.compile(r"ratio|(?:per|a) (?:CPU )?second\b")

WIDTH, MARGIN, LABEL_WIDTH, GAP = 960, 12, 305, 18
ROW_HEIGHT, BAR_HEIGHT, LINE_HEIGHT, VALUE_WIDTH = 24, 14, 16, 62
COLUMNS_IN_ROW = 4
STYLE = """<style>
text { font: 13px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #1f2328 }
.title { font-weight: 600 } .note { font-size: 11px; fill: #59636e } .own { font-weight: 600 }
rect { fill: #8c959f } .own rect { fill: #0a5ca8 }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .note { fill: #9198a1 } rect { fill: #656c76 } .own rect { fill: #58a6ff }
}
</style>"""


def cells_of(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def tables_of(text: str) -> list[tuple[list[str], list[list[str]]]]:
    """Header and rows of each table with several rows: a single row compares nothing."""
    found = [[cells_of(line) for line in table[0].splitlines()] for table in TABLE.finditer(text)]
    return [(lines[0], lines[2:]) for lines in found if len(lines) >= 4]


def number_in(cell: str) -> float | None:
    number = NUMBER.match(cell)
    return float(number[0].replace(",", "")) if number else None


def plain(markdown: str) -> str:
    return markdown.replace("**", "").replace("`", "")


class Drawing:
    def __init__(self):
        self.parts: list[str] = []
        self.y = MARGIN

    def text(self, x: float, y: float, text: str, kind: str = "") -> None:
        attribute = f' class="{kind}"' if kind else ""
        self.parts.append(f'<text x="{x:.0f}" y="{y:.0f}"{attribute}>{html.escape(text)}</text>')

    def panels(self, name: str, header: list[str], rows: list[list[str]]) -> None:
        """The labels of the rows, and a panel for each of at most COLUMNS_IN_ROW columns."""
        width = (WIDTH - 2 * MARGIN - LABEL_WIDTH) / (len(header) - 1) - GAP
        titles = [textwrap.wrap(plain(title), int(width / 7.4)) for title in header[1:]]
        top = self.y + LINE_HEIGHT * (max(map(len, titles)) + 1) + 8
        for number, line in enumerate(textwrap.wrap(plain(header[0]), LABEL_WIDTH // 8), 1):
            self.text(MARGIN, self.y + LINE_HEIGHT * number, line, "title")
        for column, title in enumerate(titles, 1):
            x = MARGIN + LABEL_WIDTH + (column - 1) * (width + GAP)
            for number, line in enumerate(title, 1):
                self.text(x, self.y + LINE_HEIGHT * number, line, "title")
            more = name != "build" and MORE_IS_BETTER.search(header[column])
            self.text(x, self.y + LINE_HEIGHT * (len(title) + 1), f"{'more' if more else 'less'} is better", "note")
        own = [label.startswith("**") or "Tollgate" in label for label, *_ in rows]
        largest = [max((number_in(row[column]) or 0 for row in rows), default=0) or 1 for column in range(1, len(header))]
        for index, row in enumerate(rows):
            y = top + index * ROW_HEIGHT
            self.parts.append('<g class="own">' if own[index] or not any(own) else "<g>")
            self.text(MARGIN, y + BAR_HEIGHT - 2, plain(row[0]), "own" if own[index] else "")
            for column in range(1, len(header)):
                value = number_in(row[column])
                if value is None:
                    continue
                x = MARGIN + LABEL_WIDTH + (column - 1) * (width + GAP)
                length = max(1, (width - VALUE_WIDTH) * value / largest[column - 1])
                self.parts.append(f'<rect x="{x:.0f}" y="{y:.0f}" width="{length:.1f}" height="{BAR_HEIGHT}" rx="2"/>')
                self.text(x + length + 5, y + BAR_HEIGHT - 2, row[column])
            self.parts.append("</g>")
        self.y = top + len(rows) * ROW_HEIGHT + MARGIN

    def svg(self, title: str) -> str:
        return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {self.y + MARGIN:.0f}" role="img">',
                          f"<title>{html.escape(title)}</title>", STYLE, *self.parts, "</svg>", ""])


def plots(page: str) -> dict[str, str]:
    """The plots of a page, by the name of their figures."""
    figures = dict(FIGURES.findall(page))
    found = {}
    for name, text in figures.items():
        drawing = Drawing()
        for header, rows in tables_of(text):
            columns = [column for column in range(1, len(header)) if any(number_in(row[column]) is not None for row in rows)]
            for first in range(0, len(columns), COLUMNS_IN_ROW):
                shown = [0, *columns[first:first + COLUMNS_IN_ROW]]
                drawing.panels(name, [header[each] for each in shown], [[row[each] for each in shown] for row in rows])
        if drawing.parts:
            machine = figures.get("machine", "")
            for line in textwrap.wrap(plain(machine), 140):
                drawing.text(MARGIN, drawing.y + LINE_HEIGHT, line, "note")
                drawing.y += LINE_HEIGHT
            found[name] = drawing.svg(plain(f"{tables_of(text)[0][0][0]}. {machine}"))
    return found


def path_of(page: pathlib.Path, name: str) -> pathlib.Path:
    return page.parent / "images" / f"benchmark-{name}.svg"


def write(page: pathlib.Path) -> None:
    """Writes the plots that a page shows."""
    text = page.read_text(encoding="utf-8")
    for name, svg in plots(text).items():
        if f"/{path_of(page, name).name})" in text:
            path_of(page, name).write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} PAGE")
    write(pathlib.Path(sys.argv[1]))
