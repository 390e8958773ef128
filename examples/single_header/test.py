#!/usr/bin/env python3
"""The command in main.cpp compiles the example with the given compiler, and the program runs."""

import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

compiler, directory = sys.argv[1:]
line = re.search(r"//     (g\+\+ .*)", (ROOT / "examples/single_header/main.cpp").read_text(encoding="utf-8")).group(1)
words = shlex.split(line)
program = str(pathlib.Path(directory) / words[words.index("-o") + 1])
words[0] = compiler
words[words.index("-o") + 1] = program
subprocess.run(words, cwd=ROOT, check=True)
subprocess.run([program], check=True, timeout=60)
