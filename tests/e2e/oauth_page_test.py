#!/usr/bin/env python3
"""docs/oauth.md keeps its word: each command on it is executed, in one shell and in order, and prints what is shown."""

import json
import pathlib
import re
import subprocess

import harness
from harness import Case, Server, main, temporary_directory

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "oauth.md"
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
SHOWN_ADDRESS = "https://127.0.0.1:8443"
END = "-- end of a block --"
SECONDS = 120


def blocks():
    """(line, commands, kind of what is shown behind them, what is shown)."""
    text = PAGE.read_text()
    found = list(BLOCK.finditer(text))
    for each, behind in zip(found, [*found[1:], None]):
        if each.group(1) != "sh":
            continue
        shows = behind is not None and text[each.end():behind.start()].strip() == ""
        yield (text.count("\n", 0, each.start()) + 1, each.group(2),
               *((behind.group(1), behind.group(2)) if shows else ("", "")))


def matches(shown, value):
    """`...` stands for anything that is something."""
    if isinstance(shown, str) and isinstance(value, str):
        return re.fullmatch(re.escape(shown).replace(r"\.\.\.", "[A-Za-z0-9_]+"), value) is not None
    return type(shown) is type(value) and shown == value


class OauthPage(Case):
    def execute(self, server, directory, commands):
        program = directory / "build" / "release" / "bin" / "tollgate-server"
        program.parent.mkdir(parents=True)
        program.symlink_to(harness.program)
        script = "set -eu -o pipefail\n" + "".join(f"{each}\necho; echo '{END}'\n" for each in commands)
        done = subprocess.run(["bash", "-c", script.replace(SHOWN_ADDRESS, server.ready["auth"])], cwd=directory,
                              capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual(0, done.returncode, f"{done.stderr}\n{done.stdout}")
        return done.stdout.split(f"\n{END}\n")

    def test_every_command_prints_what_the_page_shows(self):
        serve, *others = blocks()
        self.assertIn(" serve --demo", serve[1])
        self.assertGreater(sum(1 for each in others if each[2]), 10)
        with temporary_directory() as directory, \
                Server("--demo", data=directory / "tollgate-data", tls=True) as server:
            printed = self.execute(server, directory, [each[1] for each in others])
            for (line, commands, kind, shown), out in zip(others, printed):
                with self.subTest(line=line, commands=commands):
                    encoded = server.ready["auth"].replace(":", "%3A").replace("/", "%2F")
                    shown = shown.replace(SHOWN_ADDRESS, server.ready["auth"])
                    shown = shown.replace("https%3A%2F%2F127.0.0.1%3A8443", encoded)
                    if kind == "json":
                        wanted, told = json.loads(shown), json.loads(out)
                        self.assertEqual(list(wanted), list(told))
                        for name, value in wanted.items():
                            self.assertTrue(matches(value, told[name]), f"{name}: {told[name]!r} for {value!r}")
                    else:
                        self.assertTrue(matches(shown.strip(), out.strip()), f"{out!r} for {shown!r}")


if __name__ == "__main__":
    main()
