#!/usr/bin/env python3
"""Executes the commands of docs/oauth.md and docs/webhooks.md in order, in one shell: each prints the output that the page shows."""

import json
import pathlib
import re
import subprocess

import harness
from harness import Case, Server, main, temporary_directory
from receiver import Receiver

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_ADDRESS = "https://127.0.0.1:8443"
SHOWN_RECEIVER = "http://127.0.0.1:8099/in"
END = "-- end of a block --"
SECONDS = 120


def blocks(page):
    """Tuples of line, commands, and the format and text of the output that the page shows."""
    text = (DOCS / page).read_text()
    found = list(BLOCK.finditer(text))
    for each, following in zip(found, [*found[1:], None]):
        if each.group(1) != "sh":
            continue
        has_output = following is not None and text[each.end():following.start()].strip() == ""
        yield (text.count("\n", 0, each.start()) + 1, each.group(2),
               *((following.group(1), following.group(2)) if has_output else ("", "")))


def matches(shown, value):
    """`...` matches any non-empty text."""
    if isinstance(shown, str) and isinstance(value, str):
        return re.fullmatch(re.escape(shown).replace(r"\.\.\.", "[A-Za-z0-9_]+"), value) is not None
    return type(shown) is type(value) and shown == value


class Walkthrough(Case):
    def check(self, server, directory, all_blocks, replacements):
        program = directory / "build" / "release" / "bin" / "tollgate-server"
        program.parent.mkdir(parents=True)
        program.symlink_to(harness.program)
        script = "set -eu -o pipefail\n" + "".join(f"{each[1]}\necho; echo '{END}'\n" for each in all_blocks)
        for shown, real in replacements.items():
            script = script.replace(shown, real)
        result = subprocess.run(["bash", "-c", script], cwd=directory, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(0, result.returncode, f"{result.stderr}\n{result.stdout}")
        printed = result.stdout.split(f"\n{END}\n")
        encoded = server.ready["auth"].replace(":", "%3A").replace("/", "%2F")
        for (line, commands, kind, shown), output in zip(all_blocks, printed):
            with self.subTest(line=line, commands=commands):
                shown = shown.replace(SHOWN_ADDRESS, server.ready["auth"])
                shown = shown.replace("https%3A%2F%2F127.0.0.1%3A8443", encoded)
                if kind == "json":
                    expected, actual = json.loads(shown), json.loads(output)
                    self.assertEqual(list(expected), list(actual))
                    for name, value in expected.items():
                        self.assertTrue(matches(value, actual[name]), f"{name}: {actual[name]!r} for {value!r}")
                elif kind == "text":
                    self.assertTrue(matches(shown.strip(), output.strip()), f"{output!r} for {shown!r}")

    def test_oauth(self):
        serve, *others = blocks("oauth.md")
        self.assertIn(" serve --demo", serve[1])
        self.assertGreater(sum(1 for each in others if each[2]), 10)
        with temporary_directory() as directory, \
                Server("--demo", data=directory / "tollgate-data", tls=True) as server:
            self.check(server, directory, others, {SHOWN_ADDRESS: server.ready["auth"]})

    def test_webhooks(self):
        serve, receive, *others = blocks("webhooks.md")
        self.assertIn(" serve --demo --allow-private-targets", serve[1])
        self.assertIn("http.server", receive[1])
        self.assertGreater(len(others), 2)
        with temporary_directory() as directory, Receiver() as receiver, \
                Server("--demo", "--allow-private-targets", data=directory / "tollgate-data", tls=True) as server:
            self.check(server, directory, others, {SHOWN_ADDRESS: server.ready["auth"], SHOWN_RECEIVER: receiver.url("/in")})
            first, *again = receiver.wait(1)  # the page resends the delivery: there is one request if the first attempt has not begun, else two
            self.assertIn('"data":{"site": 7}', first.body.decode())
            self.assertTrue(all(first.id == each.id for each in again))


if __name__ == "__main__":
    main()
