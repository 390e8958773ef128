#!/usr/bin/env python3
"""Executes the shell blocks of README.md and docs/ as a newcomer would paste them, in order and in one shell for each page.

Ports, folders of the system and the addresses of other machines are replaced; each test says which. Where a page shows the
output of a block, the block prints it.
"""

import json
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys

import harness
from application import Application
from harness import Case, Server, main, temporary_directory
from receiver import Receiver
from visitor import signed_in

import documents
import stall_guard

SHOWN_ADDRESS = "https://127.0.0.1:8443"
SHOWN_RECEIVER = "http://127.0.0.1:8099/in"
END = "-- end of a block --"
SECONDS = 300  # some blocks compile programs
stall_guard.allow(2 * SECONDS)
RUN_ELSEWHERE = "examples/run"  # by run_demo_test.py
# Their blocks are executed by tests/consumer/consumer_test.py.
OF_CONSUMERS = {"docs/installing.md"}
TESTED_PAGES = {"README.md", "docs/api.md", "docs/deployment.md", "docs/importing.md", "docs/monitoring.md", "docs/oauth.md", "docs/operating.md",
                "docs/webhooks.md"}


def matches(shown, value):
    """`...` matches any non-empty text."""
    if isinstance(shown, str) and isinstance(value, str):
        return re.fullmatch(re.escape(shown).replace(r"\.\.\.", "[A-Za-z0-9_]+"), value) is not None
    return type(shown) is type(value) and shown == value


def replaced(text, replacements):
    for shown, real in replacements.items():
        text = text.replace(shown, str(real))
    return text


class Documents(Case):
    def run_blocks(self, blocks, directory, replacements=None, environment=None):
        """What each block prints. The blocks run in one shell, with tollgate-server on its path."""
        for shown in replacements or {}:
            self.assertTrue(any(shown in block.text for block in blocks), f"no block has {shown!r}")
        script = "set -eu -o pipefail\n" + "".join(
            f"{replaced(block.text, replacements or {})}\necho; echo '{END}'\n" for block in blocks)
        path = f"{pathlib.Path(harness.program).parent}:{os.environ['PATH']}"
        result = subprocess.run(["bash", "-c", script], cwd=directory, capture_output=True, text=True, timeout=SECONDS,
                                env={**os.environ, "PATH": path, **(environment or {})})
        self.assertEqual(0, result.returncode, f"{script}\n{result.stderr}\n{result.stdout}")
        return result.stdout.split(f"\n{END}\n")[:-1]

    def check_serve(self, command, directory, replacements=None):
        """A command that starts a server: the server becomes ready, and Ctrl-C ends it with 0."""
        words = shlex.split(replaced(command, {**(replacements or {}), "\\\n": ""}))
        self.assertEqual(["tollgate-server", "serve"], [pathlib.Path(words[0]).name, words[1]])
        if "--listen" not in words:
            words += ["--listen", "127.0.0.1:0"]
        process = subprocess.Popen([harness.program, *words[1:]], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            line = process.stdout.readline()
            self.assertTrue(line.startswith('{"ready"'), line)
            process.send_signal(signal.SIGINT)
            self.assertEqual(0, process.wait(SECONDS))
        finally:
            process.kill()
            process.communicate()

    def checkout(self, directory):
        """A folder that looks like a clone: the tracked files, and the release that was built of them."""
        for path in harness.release_folder().iterdir():
            (directory / path.name).symlink_to(path)
        return directory

    def test_each_shell_block_is_run_or_says_why_not(self):
        for page in documents.pages():
            with self.subTest(page=page):
                if documents.shell_blocks(page):
                    self.assertIn(page, TESTED_PAGES | OF_CONSUMERS)
                else:
                    self.assertNotIn(page, TESTED_PAGES)

    def test_readme(self):
        script, single_header, shop = documents.shell_blocks("README.md")
        self.assertEqual(RUN_ELSEWHERE, script.text.strip())
        self.assertTrue(os.access(harness.release_folder() / RUN_ELSEWHERE, os.X_OK))

        with temporary_directory() as directory:
            checkout = self.checkout(directory)
            self.run_blocks([single_header], checkout)
            self.assertIn("200 ", subprocess.run([checkout / "single_header"], capture_output=True, text=True, check=True).stdout)
            self.run_blocks([shop], checkout, {" && ./shop": ""})
            self.assertTrue((checkout / "cert.pem").is_file())
            subprocess.run([sys.executable, checkout / "examples" / "shop" / "test.py", checkout / "shop"], check=True, timeout=SECONDS)

    def test_packages_that_readme_installs(self):
        """They are among those of the tests, which therefore compile with nothing else of that kind."""
        install = next(block for block in documents.blocks("README.md", "sh") if block.text.startswith("apt-get install "))
        packages = set(shlex.split(install.text)[2:])
        listed = re.search(r"^packages=\((.*?)^\)", (documents.ROOT / "tests" / "run").read_text(), re.MULTILINE | re.DOTALL)[1]
        self.assertLessEqual(packages, set(listed.split()))

    def test_api(self):
        blocks = documents.shell_blocks("docs/api.md")
        with Server("--demo", "--allow-private-targets") as server:
            demo = server.ready["demo"]
            account = demo["sitesmaker_account"]
            # The page shows the fifth webhook.
            for _ in range(4):
                server.add_hook("http://127.0.0.1:9/in", token=server.demo_token)
            visitor = signed_in(server, demo["login"], demo["password"])
            access_token = Application(server, 1).tokens(visitor)["access_token"]
            with temporary_directory() as directory:
                (directory / ".curlrc").write_text("fail-with-body\nsilent\nshow-error\n")
                printed = self.run_blocks(blocks, directory, {"sitesmaker/1/hooks": f"sitesmaker/{account}/hooks"}, {
                    "API": server.ready["api"], "TOKEN_USERNAME": demo["token_username"], "TOKEN_SECRET": demo["token_secret"],
                    "ACCESS_TOKEN": access_token, "CURL_HOME": str(directory)})
            self.assertRegex(printed[-1], r"\nX-Hook-Secret: whsec_[^\n]+\n(.*\n)*\{\"id\":5\}")

    def test_deployment(self):
        keys, new_keys, behind_proxy, secret_keys, backup = documents.shell_blocks("docs/deployment.md")
        with temporary_directory() as directory:
            self.run_blocks([keys, new_keys], directory)
            lines = (directory / "ticket-keys").read_text().splitlines()
            self.assertEqual([44, 44], [len(line) for line in lines])
            self.check_serve("tollgate-server serve --tls-ticket-keys ticket-keys", directory)
            self.check_serve(behind_proxy.text, directory, {"127.0.0.1:8080": "127.0.0.1:0"})
            generate, serve = secret_keys.text.strip().splitlines()
            secret_keys.text = generate
            folders = {"/etc/tollgate": directory}
            self.run_blocks([secret_keys], directory, {" -o tollgate": "", **folders})
            self.check_serve(serve, directory, folders)
            (directory / "backup").mkdir()
            self.run_blocks([backup], directory, {"/var/lib/tollgate": "tollgate-data", "/backup": directory / "backup"})
            self.assertEqual(b"SQLite format 3\0", (directory / "backup" / "tollgate.db").read_bytes()[:16])

    def test_importing(self):
        (commands,) = documents.shell_blocks("docs/importing.md")
        *imports, serve = commands.text.strip().splitlines()
        commands.text = "\n".join(imports)
        with temporary_directory() as directory, Server("--demo", data=directory / "tollgate-data"):
            for name, block in zip(("tokens.jsonl", "hooks.jsonl"), documents.blocks("docs/importing.md", "json")):
                (directory / name).write_text(block.text)
            (printed,) = self.run_blocks([commands], directory)
            self.assertEqual([{"created": 2, "unchanged": 0}, {"created": 1, "unchanged": 0}], [json.loads(line) for line in printed.splitlines()])
            self.check_serve(serve, directory)

    def test_monitoring(self):
        with Server("--demo", "--log", "json", "--anonymous-limit", "1/hour") as server:
            for _ in range(3):
                server.balance()
            server.stop()
            with temporary_directory() as directory:
                (directory / "log").write_bytes(server.errors)
                (printed,) = self.run_blocks(documents.shell_blocks("docs/monitoring.md"), directory,
                                             {"journalctl -u tollgate -o cat": "cat log"})
        self.assertRegex(printed, r"^\s+2 127\.0\.0\.1$")

    def test_operating(self):
        build, administer, audit = documents.shell_blocks("docs/operating.md")
        commands, serve = build.text.strip().splitlines()
        # run_demo_test.py runs these two, which examples/run has, too.
        configure, compile_ = commands.split(" && ")
        self.assertIn(f"{configure} >/dev/null && {compile_})", (harness.release_folder() / "examples" / "run").read_text())
        with temporary_directory() as directory:
            self.check_serve(serve, self.checkout(directory))
        with temporary_directory() as directory:
            printed = self.run_blocks([administer, audit], directory)
            self.assertEqual(1, json.loads(printed[0].splitlines()[0])["id"])
            listed = json.loads(printed[1])["activities"]
            self.assertEqual(["application_registered", "token_revoked"], [each["what"] for each in listed])

    def check_walkthrough(self, server, directory, blocks, replacements):
        program = directory / "build" / "release" / "bin" / "tollgate-server"
        program.parent.mkdir(parents=True)
        program.symlink_to(harness.program)
        printed = self.run_blocks(blocks, directory, replacements)
        encoded = server.ready["auth"].replace(":", "%3A").replace("/", "%2F")
        for block, output in zip(blocks, printed):
            with self.subTest(line=block.line, commands=block.text):
                language, shown = block.output
                shown = shown.replace(SHOWN_ADDRESS, server.ready["auth"])
                shown = shown.replace("https%3A%2F%2F127.0.0.1%3A8443", encoded)
                if language == "json":
                    expected, actual = json.loads(shown), json.loads(output)
                    self.assertEqual(list(expected), list(actual))
                    for name, value in expected.items():
                        self.assertTrue(matches(value, actual[name]), f"{name}: {actual[name]!r} for {value!r}")
                elif language == "text":
                    self.assertTrue(matches(shown.strip(), output.strip()), f"{output!r} for {shown!r}")

    def test_oauth(self):
        serve, *others = documents.shell_blocks("docs/oauth.md")
        self.assertGreater(sum(1 for each in others if each.output[1]), 10)
        with temporary_directory() as directory:
            self.check_serve(serve.text, directory)
        with temporary_directory() as directory, \
                Server("--demo", data=directory / "tollgate-data", tls=True) as server:
            self.check_walkthrough(server, directory, others, {SHOWN_ADDRESS: server.ready["auth"]})

    def test_webhooks(self):
        serve, receive, *others = documents.shell_blocks("docs/webhooks.md")
        self.assertIn("http.server", receive.text)
        self.assertGreater(len(others), 2)
        with temporary_directory() as directory:
            self.check_serve(serve.text, directory)
        with temporary_directory() as directory, Receiver() as receiver, \
                Server("--demo", "--allow-private-targets", data=directory / "tollgate-data", tls=True) as server:
            self.check_walkthrough(server, directory, others,
                                   {SHOWN_ADDRESS: server.ready["auth"], SHOWN_RECEIVER: receiver.url("/in")})
            first, *again = receiver.wait(1)  # the page resends the delivery: there is one request if the first attempt has not begun, else two
            self.assertIn('"data":{"site": 7}', first.body.decode())
            self.assertTrue(all(first.id == each.id for each in again))


if __name__ == "__main__":
    main()
