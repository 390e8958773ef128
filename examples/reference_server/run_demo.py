#!/usr/bin/env python3
"""Starts `tollgate-server serve --demo` with further arguments, and prints curl lines with the values of its ready line."""

import json
import shlex
import signal
import subprocess
import sys
import threading

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def curl_lines(ready):
    demo = ready["demo"]
    api = ready["api"]
    trust = "-k " if api.startswith("https:") else ""  # the demo certificate is self-signed
    curl = f"curl -w '\\n' {trust}-u {shlex.quote(demo['token_username'] + ':' + demo['token_secret'])}"
    account = f"{api}/sitesmaker/{demo['sitesmaker_account']}"
    hook = json.dumps({"event": "site.created", "target_url": "https://hooks.example.com/tollgate"})
    yield "Your balance", f"{curl} {api}/user/balance"
    yield "Your accounts at a service", f"{curl} {api}/sitesmaker/accounts"
    yield "A new webhook", f"{curl} -H 'Content-Type: application/json' -d {shlex.quote(hook)} {account}/hooks"
    yield "The webhooks of an account", f"{curl} {account}/hooks"


def forward_signals(server):
    while True:
        number = signal.sigwait(SIGNALS)
        server.send_signal(signal.SIGTERM if number == signal.SIGHUP else number)  # without the terminal, no user could stop it


def main():
    # Blocked, and read by a thread: Python runs no handler for a signal that arrives just before a blocking read.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    # In its own process group: Ctrl-C, and a signal sent to this script, reach the server once.
    server = subprocess.Popen([sys.argv[1], "serve", "--demo", *sys.argv[2:]], stdout=subprocess.PIPE, text=True, process_group=0,
                              preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS))
    threading.Thread(target=forward_signals, args=(server,), daemon=True).start()
    for line in server.stdout:
        print(line, end="", flush=True)
        if not line.startswith('{"ready"'):  # for example with --help
            continue
        ready = json.loads(line)
        for title, command in curl_lines(ready):
            print(f"\n# {title}\n{command}")
        print(f"\n# In a browser: account settings at {ready['auth']}/ (sign in as {ready['demo']['login']}, "
              f"{ready['demo']['password']}), and documentation at {ready['auth']}/docs/")
        print("# Ctrl-C stops the server.", flush=True)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
