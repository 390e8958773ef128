"""What an integrator's compiler pays: CPU seconds and bytes of the smallest program that serves the API."""

from __future__ import annotations

import pathlib
import resource
import subprocess
import tempfile
from dataclasses import dataclass

from common.processes import BENCHMARK, LOAD_CORE, Failed, pinned

ROOT = BENCHMARK.parent.parent
FLAGS = ("-std=c++20", "-O2", "-DNDEBUG", f"-I{ROOT}/include")
LIBRARIES = ("-lssl", "-lcrypto", "-pthread")
COMPILE_SECONDS_MAX = 300


@dataclass(frozen=True)
class BuildCost:
    cpu_seconds: float   # compile and link, one core
    binary_bytes: int    # stripped


def _compile(*words: object) -> float:
    """CPU seconds, which other work on the machine hardly changes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(["c++", *FLAGS, *map(str, words)], capture_output=True, text=True,
                          timeout=COMPILE_SECONDS_MAX, preexec_fn=pinned(LOAD_CORE))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise Failed(f"compiling {words[0]}: {done.stderr[:400].strip()}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _stripped_bytes(program: pathlib.Path) -> int:
    subprocess.run(["strip", program], check=True, timeout=60)
    return program.stat().st_size


def header_only(source: pathlib.Path) -> BuildCost:
    with tempfile.TemporaryDirectory() as place:
        program = pathlib.Path(place) / "program"
        return BuildCost(_compile(source, "-o", program, *LIBRARIES), _stripped_bytes(program))


def compiled_mode(source: pathlib.Path) -> BuildCost:
    """The library's bodies are compiled beforehand, once for all programs, and are not counted."""
    with tempfile.TemporaryDirectory() as place:
        bodies, library, program = (pathlib.Path(place) / name for name in ("bodies.cpp", "bodies.o", "program"))
        bodies.write_text("#include <tollgate/impl/src.hpp>\n")  # all that `tollgate::compiled` is
        separate = "-DTOLLGATE_SEPARATE_COMPILATION"
        _compile(bodies, separate, "-c", "-o", library)
        return BuildCost(_compile(source, separate, library, "-o", program, *LIBRARIES), _stripped_bytes(program))
