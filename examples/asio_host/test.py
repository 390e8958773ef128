#!/usr/bin/env python3
"""The curl line that the example prints works as pasted."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import curl_line  # noqa: E402

curl_line.check(sys.argv[1], '"balance":12.50')
curl_line.check_taken_port(sys.argv[1])
