#!/usr/bin/env python3
"""Starts `tollgate-server serve --demo` with the arguments given, and prints curl lines made from its ready line."""

import json
import shlex
import signal
import subprocess
import sys


def curl_lines(ready):
    demo = ready["demo"]
    api = ready["api"]
    trust = "-k " if api.startswith("https:") else ""  # the demo certificate signs itself
    curl = f"curl -w '\\n' {trust}-u {shlex.quote(demo['token_username'] + ':' + demo['token_secret'])}"
    account = f"{api}/sitesmaker/{demo['sitesmaker_account']}"
    hook = json.dumps({"event": "site.created", "target_url": "https://hooks.example.com/tollgate"})
    yield "Your balance", f"{curl} {api}/user/balance"
    yield "Your accounts at a service", f"{curl} {api}/sitesmaker/accounts"
    yield "A new webhook", f"{curl} -H 'Content-Type: application/json' -d {shlex.quote(hook)} {account}/hooks"
    yield "The webhooks of an account", f"{curl} {account}/hooks"


def main():
    # A process group of its own: Ctrl-C reaches the server once, through us, as does a signal sent to us alone.
    server = subprocess.Popen([sys.argv[1], "serve", "--demo", *sys.argv[2:]], stdout=subprocess.PIPE, text=True,
                              process_group=0)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda told, _: server.send_signal(told))
    signal.signal(signal.SIGHUP, lambda *_: server.terminate())  # the terminal is gone: nobody could stop it any more
    for line in server.stdout:
        print(line, end="", flush=True)
        if not line.startswith('{"ready"'):  # --help, for one
            continue
        ready = json.loads(line)
        for what, command in curl_lines(ready):
            print(f"\n# {what}\n{command}")
        print(f"\n# For a browser: the account's pages, {ready['auth']}/ (sign in as {ready['demo']['login']}, "
              f"{ready['demo']['password']}), and the documentation, {ready['auth']}/docs/")
        print("# Ctrl-C stops the server.", flush=True)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
