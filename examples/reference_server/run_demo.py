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
    # The demo certificate signs itself, which curl refuses without -k.
    curl = "curl -k -A demo -u " + shlex.quote(f"{demo['token_username']}:{demo['token_secret']}")
    if api.startswith("http://"):
        curl = curl.replace(" -k", "", 1)
    hook = json.dumps({"event": "site.created", "target_url": "https://hooks.example.com/tollgate"})
    yield "Your balance", f"{curl} {api}/user/balance"
    yield "The accounts of a service", f"{curl} {api}/sitesmaker/accounts"
    yield "A new webhook", (f"{curl} -H 'Content-Type: application/json' -d {shlex.quote(hook)} "
                            f"{api}/sitesmaker/accounts/{demo['sitesmaker_account']}/hooks")


def main():
    server = subprocess.Popen([sys.argv[1], "serve", "--demo", *sys.argv[2:]], stdout=subprocess.PIPE, text=True)
    # Ctrl-C reaches the server by itself, as it is of the same group; a signal sent to this process is passed on.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda number, _: server.send_signal(number))
    line = server.stdout.readline()
    print(line, end="", flush=True)
    if line:
        ready = json.loads(line)
        for what, command in curl_lines(ready):
            print(f"\n# {what}\n{command}", flush=True)
        demo = ready["demo"]
        print(f"\n# Sign in at {ready['auth']}/en/user/sign_in/ as {demo['login']}, password {demo['password']}", flush=True)
    sys.exit(server.wait())


if __name__ == "__main__":
    main()
