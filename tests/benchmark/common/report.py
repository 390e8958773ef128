"""Formats results as Markdown."""

from __future__ import annotations

import datetime
import pathlib
import platform
import re
import subprocess

FIGURES = re.compile(r"<!-- figures: (\w+) -->\n.*?<!-- /figures -->", re.DOTALL)
VERSION = pathlib.Path(__file__).resolve().parents[3] / "include" / "tollgate" / "base" / "config.hpp"
ABSENT = "–"


def machine_line() -> str:
    """Version, commit, date, processor, kernel and compiler of the measurement."""
    commit = subprocess.run(["git", "rev-parse", "--short=12", "HEAD"], cwd=VERSION.parent, capture_output=True, text=True).stdout.strip()
    version = re.search(r'#define TOLLGATE_VERSION "(.+)"', VERSION.read_text())[1]
    model = next((line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines()
                  if line.startswith("model name")), platform.machine())
    cores = sum(line.startswith("processor") for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines())
    compiler = subprocess.run(["c++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    return (f"Tollgate {version}{', commit ' + commit if commit else ''}; {datetime.date.today().isoformat()}; {model}, {cores} cores; Linux {platform.release()}; {compiler}, "
            f"`-O2 -DNDEBUG`; server on one core, load on {'another' if cores > 1 else 'the same'}.")


def count(value: float | None) -> str:
    return ABSENT if value is None else f"{value:,.0f}"


def tenths(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.1f}"


def hundredths(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"


def thousands(value: float | None) -> str:
    return ABSENT if value is None else f"{value / 1000:,.1f} k"


def ratio(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f}"


def milliseconds(value: float | None) -> str:
    return ABSENT if value is None else f"{value:.2f} ms"


def kibibytes(value: float | None) -> str:
    return ABSENT if value is None else f"{value / 1024:.1f} KiB"


def marks(text: str) -> set[str]:
    """Names of the figures that a page shows."""
    return set(FIGURES.findall(text))


def with_figures(text: str, figures: dict[str, str]) -> str:
    """The text of a page with new figures between its marks."""
    return FIGURES.sub(lambda found: f"<!-- figures: {found[1]} -->\n{figures[found[1]]}\n<!-- /figures -->", text)


def table(columns: list[str], rows: list[list[str]]) -> str:
    """The first column has text, the others numbers."""
    lines = [columns, ["---"] + ["--:"] * (len(columns) - 1), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
