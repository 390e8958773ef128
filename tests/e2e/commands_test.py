#!/usr/bin/env python3
"""The command line: exit codes, what is printed, configuration files."""

import contextlib
import itertools
import json
import os
import re
import sqlite3
import stat
import subprocess

import harness
from harness import DEADLINE_SECONDS, Case, Server, flags_for, main, on_postgres, run_command, temporary_directory

NEEDED = {"serve": [], "user add": ["--login", "--password-stdin"], "user list": [], "user quota": ["--user", "--per-day"],
          "user password": ["--id", "--password-stdin"], "user sign-out": ["--id"], "user disable": ["--id"],
          "user enable": ["--id"], "user delete": ["--id"], "account add": ["--user", "--service", "--name"],
          "token create": ["--user", "--description", "--scopes"], "token import": ["--file"], "token list": ["--user"], "token revoke": ["--id"],
          "app register": ["--user", "--name", "--website"], "app list": [], "app delete": ["--client-id"],
          "app new-secret": ["--client-id"], "app suspend": ["--client-id"], "app resume": ["--client-id"],
          "app grants": ["--client-id"], "app revoke-grant": ["--client-id", "--user"],
          "hook list": ["--service", "--account"], "hook import": ["--file"], "hook enable": ["--id"], "delivery list": ["--hook"],
          "delivery resend": ["--id"], "event emit": ["--service", "--account", "--event", "--payload"], "audit list": [],
          "export": ["--to"], "import": ["--from"], "check": [], "migrate": []}
COMMANDS = [each.split() for each in NEEDED]


class Usage(Case):
    def assert_refused(self, result, code, *mentions):
        self.assertEqual(code, result.returncode, result)
        self.assertEqual("", result.stdout, "a failure prints nothing to standard output")
        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z", "one line")
        for each in mentions:
            self.assertIn(each, result.stderr)

    def test_every_command_has_help(self):
        for command in [[], ["user"], ["account"], ["token"], ["app"], ["hook"], ["delivery"], ["event"], ["audit"], *COMMANDS]:
            result = run_command(*command, "--help")
            self.assertEqual((0, ""), (result.returncode, result.stderr), command)
            self.assertIn("--help", result.stdout)
        text = run_command("serve", "--help").stdout
        for flag in ("data", "store", "limits", "listen", "tls-cert", "tls-key",
                     "tls-ticket-keys", "plain", "threads", "base-url",
                     "auth-url", "cookie-name",
                     "admin-host", "trusted-proxy", "forwarded-by", "cors-origin", "anonymous-limit", "user-limit", "access-token-seconds", "accept-imported-tokens", "allow-private-targets",
                     "webhook-retry", "webhook-minute-limit",
                     "max-header-bytes", "max-body-bytes", "header-timeout", "idle-timeout", "max-connections", "demo",
                     "log", "config"):
            self.assertIn("--" + flag, text)
        self.assertEqual(0, run_command("--version").returncode)

    def test_invalid_flags(self):
        with temporary_directory() as data:
            def refused(*flags, mentions):
                with self.subTest(flags=flags):
                    self.assert_refused(run_command("serve", "--data", data / "d", *flags), 2, mentions)

            for flag, values in {
                "--listen": ["", "x", "127.0.0.1", "127.0.0.1:", ":8443", "127.0.0.1:65536", "127.0.0.1:-1",
                             "localhost:1", "::1:8443",
                             "[127.0.0.1:1", "127.0.0.1:1x", "1.2.3:4", "01.2.3.4:5"],
                "--threads": ["0", "-1", "x", "1.5", "", "1025", " 1", "1 ", "0x1", "99999999999999999999"],
                "--anonymous-limit": ["", "60", "60/", "/hour", "60/fortnight", "0/hour", "-1/hour", "60 / hour",
                                      "1e3/hour", "60/hours",
                                      "99999999999/day"],
                "--user-limit": ["x"],
                "--header-timeout": ["", "10", "s", "10x", "-1s", "0s", "1.5s", "10 s", "400d",
                                     "99999999999999999999s"],
                "--idle-timeout": ["0ms", "x"],
                "--webhook-minute-limit": ["", "x", "-1", "1000001", "5/minute"],
                "--webhook-retry": ["", ",", "5s,", ",5s", "5s,,5m", "5s;5m", "x"],
                "--max-header-bytes": ["0", "1023", "x", "999999999"],
                "--max-body-bytes": ["0", "x", "-1"],
                "--max-connections": ["0", "x", "1000001"],
                "--shutdown-grace": ["", "-1", "1s", "3601"],
                "--access-token-seconds": ["0", "x", "-1", "1h"],
                "--admin-host": ["", "a b", "node1:9464", "http://node1", "node1/"],
                "--trusted-proxy": ["", "x", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0/8", "::/129"],
                "--base-url": ["", "example.com/v1", "ftp://example.com/v1", "https://example.com", "https://v1",
                               "https://example.com/v1/", "https://example.com/v2", "https://example.com//v1",
                               "https://example.com/a/../v1",
                               "https://example.com/v1?x", "https://user@example.com/v1", "https:///v1"],
                "--cookie-name": ["", "__Host-a", "a b"],
                "--auth-url": ["", "example.com", "https://example.com/", "https://example.com/#x"],
                "--store": ["", "x", "memory", "sqlite:", "sqlite::memory:", "mysql:x", "postgres:",
                            "postgres:nonsense", "postgres:host=x nonsense=y",
                            "postgres:host=a,b port=1,2,3", "postgres://u@x@y/d"],
                "--cache-seconds": ["", "x", "-1", "3601", "30s"],
                "--limits": ["", "x", "memory", "redis:", "redis://", "redis://h:x", "redis://h/x", "redis://h:1?x",
                             "rediss://", "redis://user@h", "http://h"],
                "--limits-ca": ["", "/nowhere"],
                "--log": ["", "xml", "TEXT"],
                "--data": [""],
                "--tls-cert": ["/nowhere"],
                "--tls-key": ["/nowhere"],
                "--tls-ticket-keys": [""],
                "--config": ["", "/nowhere"],
                "--nonsense": ["x"],
            }.items():
                for value in values:
                    refused(flag, value, mentions=flag)
            for words, mentions in ((["--store", "postgres://u:hunt@er2@127.0.0.1:1/d"], "--store: .*%40"),
                                    (["--store", "postgres:host=x sslmod=hunter2"], '--store: Option 2 .* "sslmode"'),
                                    (["--limits", "redis://u@er2@h"], "--limits: .*user:password@"),
                                    (["postgres://u:hunter2@h/d"], "unexpected argument"),
                                    (["--log", "postgres://u:hunter2@h/d"], "--log"),
                                    (["--admin-listen", "password=hunter2"], "--admin-listen")):
                result = run_command("serve", *words, "--data", data / "d")
                self.assertEqual(2, result.returncode, result)
                self.assertRegex(result.stderr, mentions)
                self.assertNotIn("er2", result.stderr)
            refused("--threads", "1", "--threads", "2", mentions="--threads")
            refused("--threads", mentions="--threads")
            refused("--plain", "--tls-cert", "a", "--tls-key", "b", mentions="--plain")
            refused("--plain", "--tls-ticket-keys", "a", mentions="--tls-ticket-keys")
            refused("--plain=false", mentions="--plain does not take a value.")
            refused("extra", mentions="extra")
            refused("--log", "x\ny\x1b[2J", mentions="--log")
            self.assertFalse((data / "d").exists(), "nothing was created")

    def test_invalid_commands(self):
        with temporary_directory() as data:
            def refused(*words, mentions, stdin="a password\n"):
                with self.subTest(words=words):
                    self.assert_refused(run_command(*words, "--data", data / "d", stdin=stdin), 2, mentions)

            add = ["user", "add", "--login", "ann", "--password-stdin"]
            refused("user", "add", "--login", "ann", mentions="--password-stdin")
            refused("user", "add", "--password-stdin", mentions="--login")
            refused("user", "add", "--login", "--password-stdin", mentions="--login")
            refused("user", "add", "--login", "", "--password-stdin", mentions="--login")
            for login in ("a b", "a\x01b", "a\nb", "\x1b[2J", "a\x7f", "\u00e4", "x" * 255):
                refused("user", "add", "--login", login, "--password-stdin", mentions="--login")
            refused(*add, mentions="--password-stdin", stdin="")
            refused(*add, mentions="--password-stdin", stdin="\n")
            for short in ("7 bytes", "\u00fc" * 7):
                refused(*add, mentions="--password-stdin: the password is shorter than 8 characters", stdin=short + "\n")
            latin = subprocess.run([harness.program, *add, "--data", str(data / "d")], input=b"p\xe4ssword1\n", capture_output=True,
                                   timeout=DEADLINE_SECONDS)
            self.assertEqual((2, True), (latin.returncode, b"--password-stdin: the password is not UTF-8" in latin.stderr), latin)
            for currency in ("", "eur", "EURO", "E1R", "EU", "€"):
                refused(*add, "--currency", currency, mentions="--currency")
            for balance in ("", "x", "1,5", "1e3", "+1", ".5", "1.", "01", "0x1", " 1", "NaN", "1" * 50):
                refused(*add, "--balance", balance, mentions="--balance")
            for user in ("", "0", "-1", "x", "01", "1.0", "9223372036854775808"):
                refused("user", "quota", "--user", user, "--per-day", "1", mentions="--user")
                refused("account", "add", "--user", user, "--service", "sitesmaker", "--name", "x", mentions="--user")
                refused("token", "create", "--user", user, "--description", "x", "--scopes", "user:balance",
                        mentions="--user")
                refused("token", "revoke", "--id", user, mentions="--id")
            for count in ("", "0", "-1", "x", "1.5", "1000000001"):
                refused("user", "quota", "--user", "1", "--per-day", count, mentions="--per-day")
            for service in ("", "x", "testservice", "user", "Sitesmaker", "sitesmaker:read"):
                refused("account", "add", "--user", "1", "--service", service, "--name", "x", mentions="--service")
            for name in ("", "a\nb", "\x1b[2J", "x" * 256, "\x7f"):
                refused("account", "add", "--user", "1", "--service", "sitesmaker", "--name", name, mentions="--name")
                refused("token", "create", "--user", "1", "--description", name, "--scopes", "user:balance",
                        mentions="--description")
            for scopes in ("", ",", "x", "user:balance,x", "sitesmaker:write", "user", "*", "user:balance;sitesmaker",
                           "USER:BALANCE"):
                refused("token", "create", "--user", "1", "--description", "x", "--scopes", scopes, mentions="--scopes")
            refused(*add, "--store", "memory:", mentions="--store")
            refused(*add, "--listen", "127.0.0.1:0", mentions="--listen")
            refused("user", "remove", mentions="user: 'remove'")
            self.assertFalse((data / "d").exists(), "nothing was created")
        self.assert_refused(run_command(), 2, "serve", "user")
        self.assert_refused(run_command("user"), 2, "add", "quota")
        self.assert_refused(run_command("nonsense\n"), 2, "'nonsense\\x0a'", "serve")
        self.assert_refused(run_command("nonsense", "--help-me"), 2, "'nonsense'")

    def test_messages(self):
        """The whole line says what is wrong, in words of this program."""
        with temporary_directory() as data:
            (data / "empty.pem").touch()
            add = ["user", "add", "--login", "ann", "--password-stdin"]
            app = ["app", "register", "--user", "1", "--name", "x", "--website", "https://x.example"]
            emit = ["event", "emit", "--service", "sitesmaker", "--account", "1", "--event", "site.published"]
            for words, message in (
                (["serve", "--nonsense"], "--nonsense is not a flag of 'serve'."),
                (["user", "add", "--nonsense=1"], "--nonsense is not a flag of 'user add'."),
                (["serve", "extra"], "unexpected argument 'extra' of 'serve'."),
                (["serve", "-x"], "unexpected argument '-x' of 'serve'."),
                (["--data", data, "serve"], "--data: flags follow the command."),
                (["user", "--login", "ann", "add"], "--login: flags follow the command."),
                ([*add, "--login", "bob"], "--login is given more than once."),
                ([*add, "--currency", "EUR", "--currency", "EUR"], "--currency is given more than once."),
                (["user", "add", "--login"], "--login: a value is missing."),
                ([*add, "--config", ""], "--config: a value is missing."),
                ([*add, "--config="], "--config: a value is missing after the '='."),
                ([*app, "--redirect-url", ""], "--redirect-url: a value is missing."),
                (["app", "list", "--user", ""], "--user: a value is missing."),
                ([*app, "--public", "--redirect-url", "x:/cb"],
                 "--redirect-url: redirect_url must be an absolute http or https URL, or one with a private-use scheme such as "
                 "com.example.app:/callback, of at most 2048 bytes."),
                ([*add, "--balance", "9" * 41], f"--balance: '{'9' * 41}' is not an amount of at most 40 characters such as 1234.56 or -3.5."),
                ([*emit, "--data", data], "--payload is required (or JSON as --data, which is deprecated)."),
            ):
                with self.subTest(words=words):
                    result = run_command(*words, stdin="a password\n", cwd=data)
                    self.assert_refused(result, 2)
                    self.assertEqual(f"tollgate-server: {message}\n", result.stderr)
            self.assertEqual(["empty.pem"], [each.name for each in data.iterdir()], "nothing was created")

            store = flags_for(data / "d")
            self.assertEqual(0, run_command(*add, *store, stdin="a password\n").returncode)
            self.assertEqual(0, run_command(*app, "--description", "", *store).returncode)
            for files, message in ((("none.pem", "none.key"), "there is no file 'none.pem'."),
                                   (("empty.pem", "empty.pem"), "'empty.pem' is not a PEM certificate.")):
                result = run_command("check", "--tls-cert", files[0], "--tls-key", files[1], *store, cwd=data)
                self.assertEqual((1, f"tollgate-server: certificate: {message}\n"), (result.returncode, result.stderr))
            for number in range(100):
                create = ["token", "create", "--user", "1", "--description", str(number), "--scopes", "user:balance", *store]
                self.assertEqual(0, run_command(*create).returncode)
            self.assertEqual("tollgate-server: cannot create the token: The user has 100 personal tokens, which is the maximum.\n",
                             run_command(*create).stderr)

    def test_flags_without_a_value(self):
        """Neither another flag nor an empty text after `=` is a value: the error names the flag without a value."""
        with temporary_directory() as data:
            def refused(*words, flag):
                with self.subTest(words=words):
                    result = run_command(*words, stdin="a password\n", cwd=data)
                    self.assert_refused(result, 2)
                    self.assertRegex(result.stderr, rf"\A(?:\S+: )?{flag}: ")

            without_value = itertools.cycle([("", "--data", "d"), ("", "--admin"), ("", "--"), ("=--demo",)])
            empty_value = itertools.cycle([(), ("--data", "d"), ("5",)])
            for command in COMMANDS:
                options = re.findall(r"^  (?:-\w,)?(--[a-z-]+)(.*)", run_command(*command, "--help").stdout, re.M)
                names = {name for name, _ in options} - {"--help"}
                self.assertGreaterEqual(names, {"--data", "--config", *NEEDED[" ".join(command)]})
                switches = {"--plain", "--demo", "--accept-imported-tokens", "--allow-private-targets", "--admin", "--password-stdin",
                            "--client-metadata-documents", "--dry-run", "--public", "--resource-server"} & names
                # Each flag of each command is given in two ways, which change from flag to flag; those of one command in all ways.
                count = 4 if command == ["token", "create"] else 1
                for flag in sorted(names - switches):
                    for first, *more in itertools.islice(without_value, count):
                        refused(*command, flag + first, *more, flag=flag)
                for flag in sorted(names):
                    for more in itertools.islice(empty_value, min(count, 3)):
                        refused(*command, f"{flag}=", *more, flag=flag)
            refused("account", "add", "--user", "1", "--service", "sitesmaker", "--name", "--admin", flag="--name")
            refused("serve", "--data", "--demo", flag="--data")
            refused("serve", "--log", "--\x1b[2J", flag="--log")
            refused("event", "emit", "--data", "{}", "--data", "--demo", flag="--data")
            self.assertEqual([], list(data.iterdir()), "nothing was created")
            # A value may begin with one dash, and contain two later.
            created = run_command("user", "add", "--login=ann--b", "--balance", "-3.50", "--password-stdin", "--data", "-d",
                                  stdin="a password\n", cwd=data)
            self.assertEqual((0, '{"id": 1}\n', ""), (created.returncode, created.stdout, created.stderr))

    def test_run_time_failures(self):
        with temporary_directory() as data:
            def failed(*words, mentions, store=()):
                with self.subTest(words=words):
                    flags = store or flags_for(data / "d")
                    self.assert_refused(run_command(*words, *flags, stdin="a password\n"), 1, mentions)

            self.assertEqual(0,
                             run_command("user", "add", "--login", "ann", "--password-stdin",
                                         *flags_for(data / "d"), stdin="a password\n").returncode)
            failed("user", "add", "--login", "ann", "--password-stdin", mentions="ann")
            failed("user", "add", "--login", "ANN", "--password-stdin", mentions="ANN")
            failed("user", "quota", "--user", "7", "--per-day", "1", mentions="7")
            failed("account", "add", "--user", "7", "--service", "sitesmaker", "--name", "x", mentions="7")
            failed("token", "create", "--user", "7", "--description", "x", "--scopes", "user:balance", mentions="7")
            failed("token", "revoke", "--id", "7", mentions="7")
            (data / "file").write_text("not a database, but longer than the header of 100 bytes that SQLite reads" * 10)
            failed("token", "revoke", "--id", "7", mentions="file", store=("--store", f"sqlite:{data / 'file'}"))
            failed("token", "revoke", "--id", "7", mentions="nowhere",
                   store=("--store", f"sqlite:{data / 'nowhere' / 'x.db'}"))
            failed("serve", mentions="--data", store=("--data", data / "file", "--listen", "127.0.0.1:0"))
            with contextlib.closing(sqlite3.connect(data / "other.db")) as other:
                other.execute("CREATE TABLE directory_users (theirs TEXT)")
                other.commit()
            failed("user", "quota", "--user", "1", "--per-day", "1", mentions="--store",
                   store=("--store", f"sqlite:{data / 'other.db'}"))


    def test_a_store_that_does_not_exist(self):
        """Only `serve`, `user add` and `migrate` create a store: a mistyped path does not become a new, empty one."""
        commands = (("user", "quota", "--user", "1", "--per-day", "1"),
                    ("account", "add", "--user", "1", "--service", "sitesmaker", "--name", "x"),
                    ("token", "create", "--user", "1", "--description", "x", "--scopes", "user:balance"),
                    ("token", "revoke", "--id", "1"),
                    *(words.split() for words in (
                        "user list", "user password --id 1 --password-stdin", "user sign-out --id 1", "user disable --id 1",
                        "user enable --id 1", "user delete --id 1", "token list --user 1", "app list", "app delete --client-id x",
                        "app new-secret --client-id x", "app suspend --client-id x", "app resume --client-id x",
                        "app grants --client-id x", "app revoke-grant --client-id x --user 1",
                        "hook list --service sitesmaker --account 1", "hook enable --id 1", "delivery list --hook 1",
                        "delivery resend --id 1", "audit list", "export --to x", "import --from x", "check")),
                    ("app", "register", "--user", "1", "--name", "x", "--website", "https://x.example"),
                    ("event", "emit", "--service", "sitesmaker", "--account", "1", "--event", "site.published", "--payload", "1"))
        with temporary_directory() as data:
            if on_postgres:
                empty = flags_for(data / "nowhere")
                places = [(empty, "contains no Tollgate tables")]
            else:
                empty_file = data / "empty.db"
                empty_file.touch()
                places = [(("--data", data / "nowhere"), str(data / "nowhere")),
                          (("--store", f"sqlite:{data}/nowhere.db"), str(data / "nowhere")),
                          (("--store", f"sqlite:{empty_file}"), str(empty_file))]
            for words in commands:
                for flags, mentions in places:
                    with self.subTest(words=words, flags=flags):
                        result = run_command(*words, *flags, stdin="a password\n")
                        self.assert_refused(result, 1, mentions)
                        if words[0] != "check":
                            self.assertIn("--store", result.stderr)
                            self.assertIn(harness.postgres.name if on_postgres else mentions, result.stderr)
            self.assertEqual([] if on_postgres else [(empty_file, 0)], [(each, each.stat().st_size) for each in data.iterdir()],
                             "nothing was created or changed")
            if on_postgres:
                self.assertEqual("0", harness.postgres.query(
                    empty[-1], "SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace"))

    def test_a_data_directory_that_others_can_read_gets_a_warning(self):
        with temporary_directory() as data:
            shared = data / "shared"
            shared.mkdir()
            for number, (mode, warned) in enumerate(((0o755, True), (0o710, True), (0o700, False))):
                shared.chmod(mode)
                result = run_command("user", "add", "--login", f"user{number}", "--password-stdin", "--data", shared,
                                     stdin="a password\n")
                self.assertEqual(0, result.returncode, result)
                self.assertEqual(warned, "warning: --data: other users can access" in result.stderr, result.stderr)
                self.assertEqual(warned, result.stderr != "")


class Administration(Case):
    def test_each_prints_one_object(self):
        with temporary_directory() as data:
            def run(*words, stdin=""):
                result = run_command(*words, *flags_for(data / "a" / "b"), stdin=stdin)
                self.assertEqual((0, ""), (result.returncode, result.stderr), words)
                self.assertRegex(result.stdout, r"\A\{.*\}\n\Z")
                return json.loads(result.stdout)

            self.assertEqual({"id": 1},
                             run("user", "add", "--login", "ann@example.com", "--password-stdin", stdin="secret text\n"))
            self.assertEqual({"id": 2}, run("user", "add", "--login", "bob", "--password-stdin", "--currency", "USD",
                                            "--balance", "-3.50", stdin="päss wörd\r\nnot this"))
            self.assertEqual({"id": 1, "per_day": 5000}, run("user", "quota", "--user", "1", "--per-day", "5000"))
            self.assertEqual({"id": 1},
                             run("account", "add", "--user", "1", "--service", "sitesmaker", "--name", "Ü", "--admin"))
            self.assertEqual({"id": 2}, run("account", "add", "--user", "2", "--service", "sitesmaker", "--name", "x"))
            self.assertEqual({"id": 3},
                             run("account", "add", "--user", "2", "--service", "itemplatform", "--name", "x"))
            token = run("token", "create", "--user", "1", "--description", "d", "--scopes",
                        "user:balance, sitesmaker:read,user:balance")
            self.assertEqual(["id", "username", "secret", "scopes"], list(token))
            self.assertEqual("user:balance sitesmaker:read", token["scopes"])
            self.assertRegex(token["secret"], r"^[A-Za-z0-9_]{43,}$")
            self.assertEqual({"id": token["id"]}, run("token", "revoke", "--id", str(token["id"])))
            if on_postgres:
                self.assertFalse((data / "a").exists(), "no data directory is needed")
                return
            for path in (data / "a" / "b", *(data / "a" / "b").iterdir()):
                self.assertEqual(0, path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO), f"only the owner can access {path}")
            stored = b"".join(path.read_bytes() for path in (data / "a" / "b").iterdir())
            self.assertNotIn(token["secret"].encode(), stored)
            self.assertNotIn(b"secret\n", stored)
            self.assertNotIn("päss wörd".encode(), stored)
            self.assertIn(b"$scrypt$", stored)


class Configuration(Case):
    def test_a_file_sets_flags_and_flags_win(self):
        with temporary_directory() as data:
            config = data / "tollgate.json"
            config.write_text(json.dumps({
                **dict(zip(("data", "store"), flags_for(data / "kept")[1::2])), "plain": True, "listen": ["127.0.0.1:0"], "anonymous-limit": "7/hour",
                "user-limit": "9/day",
                "threads": 1, "log": "json", "demo": True, "max-body-bytes": 2048, "header-timeout": "5s",
                "trusted-proxy": ["10.0.0.0/8"]}))
            with Server("--config", config, "--anonymous-limit", "8/hour", data=data / "kept") as server:
                self.assertEqual("8", server.request("GET", "/v1/testservice/get").get("X-RateLimit-Limit"))
                self.assertEqual("9",
                                 server.balance(server.demo_token).get("X-RateLimit-Limit"))
                self.assert_error(server.request("POST", "/v1/testservice/post", body={"x": "x" * 2048}), 413)
                server.signal(15)
                self.assertEqual(0, server.wait())
                json.loads(server.errors.splitlines()[0])
            result = run_command("user", "add", "--login", "x", "--password-stdin", "--config", config, stdin="a password\n")
            self.assertEqual({"id": 2}, json.loads(result.stdout),
                             "in the store of the configuration file, after the demo user")

    def test_a_repeatable_key_may_have_one_value_without_an_array(self):
        with temporary_directory() as data:
            config = data / "tollgate.json"
            config.write_text(json.dumps({"listen": "1.2.3.4:1", "trusted-proxy": "127.0.0.0/8"}))
            with Server("--config", config, store="memory:") as server:
                responses = [server.request("GET", "/v1/testservice/get", {"X-Forwarded-For": f"192.0.2.{n}"}) for n in (1, 2)]
                self.assertEqual(["59", "59"], [response.get("X-RateLimit-Remaining") for response in responses])

    def test_errors_name_the_invalid_setting(self):
        with temporary_directory() as data:
            config = data / "c.json"
            for text, mentions in (
                ('{"thread": 1}', '"thread"'), ('{"threads": "1"}', '"threads"'), ('{"threads": 1.5}', '"threads"'),
                ('{"threads": 0}', '"threads"'),
                ('{"threads": null}', '"threads"'), ('{"listen": "127.0.0.1"}', '"listen"'),
                ('{"listen": 8443}', '"listen"'), ('{"listen": [1]}', '"listen"'),
                ('{"listen": []}', '"listen"'), ('{"listen": ["x"]}', '"listen"'), ('{"plain": "yes"}', '"plain"'),
                ('{"plain": 1}', '"plain"'),
                ('{"log": true}', '"log"'), ('{"idle-timeout": 60}', '"idle-timeout"'), ('{"config": "x"}', '"config"'),
                ('{"idle_timeout": "60s"}', '"idle_timeout"'), ('{"--log": "off"}', '"--log"'),
                ('{"demo": true, "demo": false}', '"demo"'),
                ("[]", "object"), ("", "JSON"), ("{", "JSON"), ('{"log": "off"} x', "JSON"), ("nonsense", "JSON"),
                ('{"tls-cert": "x"}', "tls-cert"), ('{"a\\nb": 1}', "c.json"),
            ):
                config.write_text(text)
                for command in (["serve"], ["token", "revoke", "--id", "1"]):
                    with self.subTest(text=text, command=command):
                        result = run_command(*command, "--config", config, "--data", data / "d")
                        self.assertEqual((2, ""), (result.returncode, result.stdout), result)
                        self.assertRegex(result.stderr, r"\A[^\n]+\n\Z")
                        self.assertIn(mentions, result.stderr)
            self.assertFalse((data / "d").exists())
            os.truncate(config, 2 << 20)
            self.assertEqual(2, run_command("serve", "--config", config).returncode)


if __name__ == "__main__":
    main()
