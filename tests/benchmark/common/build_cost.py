"""The cost of compiling: CPU seconds, memory and binary size of the smallest program that serves the API, compared to
RESTinio's hello world. Ratios are of measurements in the same round, because the speed of machines varies."""

from __future__ import annotations

import pathlib
import re
import statistics
import subprocess
import tempfile
from dataclasses import dataclass

from common.processes import BENCHMARK, LOAD_CORE, Failed, pinned

ROOT = BENCHMARK.parent.parent
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT}/include")
SEPARATE = "-DTOLLGATE_SEPARATE_COMPILATION"
LIBRARIES = ("-lssl", "-lcrypto", "-pthread")
SMALLEST_INTEGRATOR = ROOT / "examples" / "hello" / "main.cpp"
REFERENCE = (BENCHMARK / "servers" / "restinio.cpp", "-DASIO_STANDALONE", "-DASIO_HAS_STD_CHRONO",
             "-DASIO_DISABLE_STD_STRING_VIEW", "-lfmt", "-lhttp_parser", "-pthread")
COMPILE_SECONDS_MAX = 300
ROUNDS = 5


@dataclass(frozen=True)
class BuildCost:
    title: str
    cpu_seconds: float   # compile and link, one core
    ratio: float         # to the reference, median of the rounds
    peak_bytes: int      # of the compiler
    binary_bytes: int    # stripped


def _compile(*words: object) -> tuple[float, int]:
    """Compiles. Returns CPU seconds, which hardly depend on other work on the machine, and the peak memory of the largest process."""
    command = ["/usr/bin/time", "-f", "cost %U %S %M", "c++", *FLAGS, *map(str, words)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=COMPILE_SECONDS_MAX,
                            preexec_fn=pinned(LOAD_CORE))
    cost = re.search(r"^cost (\S+) (\S+) (\d+)$", result.stderr, re.MULTILINE)
    if result.returncode != 0 or cost is None:
        raise Failed(f"compiling {words[0]}: {result.stderr[:400].strip()}")
    return float(cost[1]) + float(cost[2]), int(cost[3]) * 1024


def _stripped_bytes(program: pathlib.Path) -> int:
    subprocess.run(["strip", program], check=True, timeout=60)
    return program.stat().st_size


def measure() -> list[BuildCost]:
    """The reference, header-only and compiled mode. In compiled mode the library is compiled once for all programs, which does
    not count."""
    with tempfile.TemporaryDirectory() as folder:
        bodies, library, program = (pathlib.Path(folder) / name for name in ("bodies.cpp", "bodies.o", "program"))
        bodies.write_text("#include <tollgate/impl/src.hpp>\n")  # the source of `tollgate::compiled`
        _compile(bodies, SEPARATE, "-c", "-o", library)
        commands = {"RESTinio's hello world": REFERENCE,
                    "header-only": (SMALLEST_INTEGRATOR, *LIBRARIES),
                    "compiled mode": (SMALLEST_INTEGRATOR, SEPARATE, library, *LIBRARIES)}
        seconds = {title: [] for title in commands}
        peaks, sizes = {}, {}
        for _ in range(ROUNDS):
            for title, words in commands.items():
                cpu_seconds, peaks[title] = _compile(*words, "-o", program)
                seconds[title].append(cpu_seconds)
                sizes[title] = _stripped_bytes(program)
        reference = seconds["RESTinio's hello world"]
        return [BuildCost(title, statistics.median(seconds[title]),
                          statistics.median(each / base for each, base in zip(seconds[title], reference)),
                          peaks[title], sizes[title]) for title in commands]
