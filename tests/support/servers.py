#!/usr/bin/env python3
"""PostgreSQL and Redis for tests: real servers with their own data, sockets and ports, stopped by their process ids.

    servers.py run COMMAND...     runs a command with one PostgreSQL for all tests that it starts
    servers.py postgres [OPTION]  runs a separate PostgreSQL for a C++ test that stops and starts it: see `control`

Processes are started and stopped by the code of examples/cluster.
"""

import argparse
import atexit
import contextlib
import hashlib
import importlib.util
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile

_PARTS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "cluster" / "parts.py"
_specification = importlib.util.spec_from_file_location("cluster_parts", _PARTS)
parts = importlib.util.module_from_spec(_specification)
_specification.loader.exec_module(parts)

# The environment variable that `run` sets for the tests: "directory port". Redis is not shared: it starts in 30 ms, and its tests
# stop it, close its clients or flush its scripts.
POSTGRES_VARIABLE = "TOLLGATE_TEST_POSTGRES"


class Database:
    """One database of a PostgreSQL that listens on a Unix socket in `directory`."""

    def __init__(self, directory, port, name):
        self.directory, self.port, self.name = directory, port, name
        self.tls = False

    @staticmethod
    def shared():
        """A new database in the PostgreSQL of this test run; without one, in a PostgreSQL that ends with this process."""
        if running := os.environ.get(POSTGRES_VARIABLE):
            directory, port = running.rsplit(" ", 1)
        else:
            server = Postgres()
            atexit.register(server.stop)
            directory, port = server.directory, server.port
        database = Database(directory, port, "postgres")
        name = f"test_{os.getpid()}"
        database.psql(f"CREATE DATABASE {name}")
        database.name = name
        return database

    def store(self, schema, more=""):
        """The value of `--store` for a schema, which is created if it does not exist."""
        name = "e2e_" + hashlib.sha256(str(schema).encode()).hexdigest()[:16]
        self.psql(f"CREATE SCHEMA IF NOT EXISTS {name}")
        host = "hostaddr=127.0.0.1 host=localhost" if self.tls else f"host={self.directory}"
        return f"postgres:{host} port={self.port} user=postgres dbname={self.name} " \
               f"options=-csearch_path={name} {more}".rstrip()

    def query(self, store, text):
        """The output of psql for a query in the schema of this store."""
        schema = store.split("search_path=")[1].split()[0]
        return self.psql(f"SET search_path = {schema}; {text}").stdout.strip()

    def psql(self, text, check=True):
        result = subprocess.run([*self._psql_command(), "-c", text], capture_output=True, text=True, timeout=parts.START_SECONDS)
        if check and result.returncode != 0:
            raise AssertionError(f"{text}: {result.stderr}")
        return result

    @contextlib.contextmanager
    def session(self):
        """A connection for a transaction of several calls of `execute`."""
        with subprocess.Popen(self._psql_command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            yield Session(process)

    def _psql_command(self):
        return ["psql", "-X", "-q", "-A", "-t", "-h", str(self.directory), "-p", str(self.port), "-U", "postgres", "-d", self.name,
                "-v", "ON_ERROR_STOP=1"]


class Session:
    def __init__(self, process):
        self._process = process

    def execute(self, text):
        """Executes statements, and waits for their end."""
        self._process.stdin.write(f"{text};\n\\echo done\n")
        self._process.stdin.flush()
        while (line := self._process.stdout.readline()) != "done\n":
            if not line:
                raise AssertionError(f"{text}: psql ended")


class Postgres(parts.Part, Database):
    """A separate PostgreSQL for one test or one test run.

    With `tls`, a pair of certificate and key files, it also listens at 127.0.0.1. `durable`: commits wait for the disk.
    """

    def __init__(self, tls=None, durable=False, settings=()):
        directory = pathlib.Path(tempfile.mkdtemp(prefix="tollgate-pg-"))
        parts.Part.__init__(self, "postgres", directory, "postgres")
        self.reserved = reserve_port() if tls else None
        Database.__init__(self, directory, self.reserved.getsockname()[1] if tls else 5432, "postgres")
        self.programs = parts.postgres_programs()
        self._give_to_owner(directory)
        self.settings = [f"port={self.port}", "max_connections=400", "deadlock_timeout=50ms"]
        self.settings += ["shared_buffers=512MB", "max_wal_size=4GB"] if durable else [
            "shared_buffers=32MB", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"]
        if tls:
            self.tls = True
            for name, source in zip(("certificate.pem", "key.pem"), tls):
                shutil.copyfile(source, directory / name)
                os.chmod(directory / name, 0o600)
                self._give_to_owner(directory / name)
            self.settings += ["ssl=on", "listen_addresses=127.0.0.1", f"ssl_cert_file={directory}/certificate.pem",
                              f"ssl_key_file={directory}/key.pem"]
        else:
            self.settings += ["listen_addresses="]
        self.settings += settings
        try:
            self.run([self.programs / "initdb", "-D", directory / "data", "-U", "postgres", "--auth=trust",
                      "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions"])
            self.start()
        except BaseException:
            self.stop()
            raise

    def start(self):
        options = [word for each in self.settings for word in ("-c", each)]
        command = [self.programs / "postgres", "-D", self.directory / "data", "-k", self.directory, *options]
        for attempt in range(100):
            self.process = self.spawn(command)
            try:
                return self.wait_until(lambda: self.psql("SELECT 1", check=False).returncode == 0)
            except parts.Failure:
                # The children of a killed server may hold its shared memory for a moment.
                if attempt == 99 or self.is_running:
                    raise

    def halt(self, number=signal.SIGINT):
        """SIGINT: disconnects clients and shuts down cleanly; SIGQUIT: stops at once, and the next start recovers."""
        self.send(number)
        self.process.wait(parts.START_SECONDS)

    def stop(self):
        if self.is_running:
            self.halt(signal.SIGQUIT)
        if self.reserved:
            self.reserved.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    def hang(self):
        """Stops every process of the server by SIGSTOP, including those of connections."""
        self._signal_all(signal.SIGSTOP)

    def resume(self):
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in [self.process.pid, *map(int, children)]:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)

    def _give_to_owner(self, path):
        if self.owner:
            os.chown(path, self.owner.pw_uid, self.owner.pw_gid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


class Redis(parts.Part):
    """A Redis at 127.0.0.1 that saves nothing."""

    def __init__(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tollgate-redis-"))
        super().__init__("redis", self.directory)
        self.reserved = reserve_port()
        self.port = self.reserved.getsockname()[1]
        self.start()

    @property
    def url(self):
        return f"redis://127.0.0.1:{self.port}/0"

    def start(self):
        self.process = self.spawn(["redis-server", "--bind", "127.0.0.1", "--port", self.port, "--save", "",
                                   "--appendonly", "no", "--dir", self.directory])
        self.wait_until(lambda: parts.is_listening(self.port))

    def close(self):
        if self.is_running:
            self.send(signal.SIGCONT)
            self.kill()
        self.reserved.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def reserve_port():
    """A socket that keeps a port of 127.0.0.1 for a program that cannot choose one itself. The system gives the port to no one
    else, and a program that sets SO_REUSEADDR, as servers do, can listen at it, again and again."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind(("127.0.0.1", 0))
    return reserved


def run(command):
    """Runs `command` with a PostgreSQL in its environment, and returns its exit code."""
    with Postgres() as postgres:
        environment = {**os.environ, POSTGRES_VARIABLE: f"{postgres.directory} {postgres.port}"}
        with subprocess.Popen(command, env=environment) as process:
            # The terminal sends SIGINT to the command, too, which decides when it ends.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            signal.signal(signal.SIGTERM, lambda number, _: process.send_signal(number))
            return process.wait()


def control(arguments):
    """Runs one PostgreSQL. Each line of standard input is a command, `start` or `stop SIGNAL`, and gets one line of output. The
    end of the input ends the server."""
    tls = (arguments.certificate, arguments.key) if arguments.certificate else None
    settings = list(arguments.setting)
    if arguments.waits_for_disk:
        settings += ["fsync=on", "synchronous_commit=on", "full_page_writes=on"]
    with Postgres(tls, settings=settings) as server:
        print(f"ready {server.port} {server.directory}", flush=True)
        for line in sys.stdin:
            verb, *rest = line.split()
            try:
                if verb == "start":
                    server.start()
                else:
                    server.halt(int(rest[0]))
                print("done", flush=True)
            except Exception as error:
                print(f"failed: {error}", flush=True)


def main():
    if len(sys.argv) > 2 and sys.argv[1] == "run":
        sys.exit(run(sys.argv[2:]))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["postgres"])
    parser.add_argument("--certificate")
    parser.add_argument("--key")
    parser.add_argument("--waits-for-disk", action="store_true")
    parser.add_argument("--setting", action="append", default=[])
    control(parser.parse_args())


if __name__ == "__main__":
    main()
