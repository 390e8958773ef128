"""Calls the compiler for tests that are about what compiles: a check of syntax and types, nothing is linked."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic", "-Werror"]
# Asking for it again, as -I or -isystem, would take it out of the place where the compiler looks for it.
IMPLICIT = "/usr/include"


class Compiler:
    def __init__(self, path, includes):
        self.path = path
        self.includes = [f"-I{include}" for include in includes[:1]]  # ours first, the others' warnings are theirs
        self.includes += [f"-isystem{include}" for include in includes[1:] if include != IMPLICIT]

    def check(self, code, *options):
        """Whether `code` compiles, and what the compiler says."""
        return self._call(code, "-fsyntax-only", *options, "-x", "c++", "-")

    def precompile(self, code, directory, *options):
        """The options with which code is checked that begins with `code`; both have `options`. Or None, and what the compiler says."""
        is_clang = "clang" in pathlib.Path(self.path).name
        name, source = directory / "precompiled.hpp", directory / "source.hpp"
        made = f"{name}.pch" if is_clang else f"{name}.gch"
        source.write_text(code, encoding="utf-8")
        # GCC takes what was made of it instead, or finds this.
        name.write_text("#error The precompiled header is not used.\n", encoding="utf-8")
        good, said = self._call(None, "-x", "c++-header", str(source), "-o", made, *options)
        return [*options, *(["-include-pch", made] if is_clang else ["-include", str(name)])] if good else None, said

    def _call(self, code, *options):
        # A later -std among the options wins.
        command = [self.path, "-std=c++20", *self.includes, *options]
        done = subprocess.run(command, input=code, capture_output=True, text=True, check=False,
                              env={**os.environ, "LC_ALL": "C"})
        return done.returncode == 0, done.stderr


def parser(description):
    made = argparse.ArgumentParser(description=description)
    made.add_argument("--compiler", required=True)
    made.add_argument("--includes", required=True, type=lambda text: text.split(":"), help="ours first")
    made.add_argument("--jobs", type=int, default=os.cpu_count())
    made.add_argument("arguments", nargs="*", type=pathlib.Path)
    return made


def in_parallel(jobs, work, items):
    """What `work` says of each item, in their order."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))
