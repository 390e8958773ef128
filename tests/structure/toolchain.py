"""Calls the compiler for tests of what compiles: it checks syntax and types, and links nothing."""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess

WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Wpedantic", "-Werror"]
# As -I or -isystem it would move to another position of the compiler's search path.
IMPLICIT = "/usr/include"


# Collect garbage above 2 GB only, as .cmake/TollgateOwnCode.cmake says.
OF_GCC = ["--param=ggc-min-heapsize=2000000"]


class Compiler:
    def __init__(self, path, includes):
        self.path = path
        self.is_clang = "clang" in pathlib.Path(path).name
        self.includes = [f"-I{include}" for include in includes[:1]]  # only warnings of Tollgate count
        self.includes += [f"-isystem{include}" for include in includes[1:] if include != IMPLICIT]

    def check(self, code, *options):
        """Whether `code` compiles, and the output of the compiler."""
        return self._call(code, "-fsyntax-only", *options, "-x", "c++", "-")

    def compile(self, code, path, *options):
        """Compiles `code` to the object at `path`. Whether it compiles, and the output of the compiler."""
        return self._call(code, "-c", "-o", str(path), *options, "-x", "c++", "-")

    def paths_of(self, names):
        """Where the compiler finds each of the headers `names`."""
        compiles, output = self._call("".join(f"#include <{name}>\n" for name in names), "-M", "-x", "c++", "-")
        if not compiles:
            raise RuntimeError(output)
        paths = output.replace("\\\n", " ").split()
        return [min((path for path in paths if path.endswith(f"/{name}")), key=len) for name in names]

    def _call(self, code, *options):
        # A later -std among the options wins.
        command = [self.path, "-std=c++20", *([] if self.is_clang else OF_GCC), *self.includes, *options]
        result = subprocess.run(command, input=code, capture_output=True, text=True, check=False,
                                env={**os.environ, "LC_ALL": "C"})
        return result.returncode == 0, result.stdout + result.stderr


def parser(description):
    result = argparse.ArgumentParser(description=description)
    result.add_argument("--compiler", required=True)
    result.add_argument("--includes", required=True, type=lambda text: text.split(":"), help="Tollgate's first")
    result.add_argument("--jobs", type=int, default=os.cpu_count())
    result.add_argument("arguments", nargs="*", type=pathlib.Path)
    return result


def in_parallel(jobs, work, items):
    """The results of `work` for each item, in order."""
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        return list(pool.map(work, items))
