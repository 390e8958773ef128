"""The parts of one API on several nodes: PostgreSQL, Redis, tollgate-servers, HAProxy. Each part is one process. It is started
with the settings that production needs, stopped by its process id, and ends when its parent ends."""

import contextlib
import ctypes
import glob
import hashlib
import json
import os
import pathlib
import pwd
import random
import secrets
import shutil
import signal
import socket
import subprocess
import time

NODES = 3
START_SECONDS = 60
HERE = pathlib.Path(__file__).resolve().parent


class Failure(Exception):
    """An error for the user, in one line."""


class Part:
    """A process with its own log. When started by root, it runs as `user` if one is given."""

    def __init__(self, name, folder, user=None):
        self.name = name
        self.folder = folder
        self.log = folder / f"{name}.log"
        self.process = None
        self.owner = None
        if user and os.geteuid() == 0:
            self.owner = pwd.getpwnam(user)

    def spawn(self, command, environment=None, stdin=None):
        """Starts the process. `stdin`: the text of its standard input."""
        identity = {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []} if self.owner else {}
        try:
            with open(self.log, "ab") as log:
                process = subprocess.Popen(
                    [*map(str, command)], stdin=subprocess.PIPE if stdin is not None else subprocess.DEVNULL,
                    stdout=log, stderr=log, cwd="/", start_new_session=True, preexec_fn=_stop_with_the_parent,
                    env={**os.environ, **(environment or {})}, **identity)
        except (OSError, subprocess.SubprocessError) as error:  # during an upgrade the program may be missing or busy
            raise Failure(f"{self.name} cannot be started: {error}") from None
        if stdin is not None:
            with contextlib.suppress(BrokenPipeError):  # the caller waits for the process, and sees that it ended
                process.stdin.write(stdin.encode())
                process.stdin.close()
        return process

    def run(self, command, stdin=None):
        """Runs a command and waits for its end. If this process is stopped meanwhile, the command and its children are killed."""
        process = self.spawn(command, stdin=stdin)
        try:
            if process.wait() != 0:
                raise Failure(f"{pathlib.Path(command[0]).name}: {self.last_log_line()}")
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    @property
    def stays_down(self):
        """Whether it is not restarted. By default a part that ended is restarted, regardless of its exit code."""
        return False

    def send(self, number):
        if self.is_running:
            self.process.send_signal(number)

    def kill(self):
        """Kills the process by SIGKILL."""
        self.send(signal.SIGKILL)
        self.process.wait()

    def stop(self, number=signal.SIGTERM, seconds=15):
        """Stops the process by a signal, and kills it after a timeout."""
        if not self.is_running:
            return
        self.send(number)
        self.send(signal.SIGCONT)
        try:
            self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()

    def wait_until(self, ready, seconds=START_SECONDS):
        deadline = time.monotonic() + seconds
        while not ready():
            if self.process.poll() is not None:
                raise Failure(f"{self.name} ended with {self.process.returncode}: {self.last_log_line()}")
            if time.monotonic() > deadline:
                raise Failure(f"{self.name} does not respond: {self.last_log_line()}")
            time.sleep(0.02)

    def last_log_line(self):
        try:
            lines = self.log.read_text(errors="replace").splitlines()
        except OSError:
            lines = []
        return f"{lines[-1] if lines else 'the log is empty'} (log: {self.log})"


class Postgres(Part):
    """Stores tokens, webhooks and events. Every commit waits for the disk."""

    def __init__(self, folder, port):
        super().__init__("postgres", folder, "postgres")
        self.port = port
        self.programs = postgres_programs()
        self.data = folder / "postgres"
        if self.owner and not _can_enter(self.owner, folder):
            # PostgreSQL refuses to run as root, and other users cannot read root's folders.
            name = hashlib.sha256(str(folder).encode()).hexdigest()[:8]
            self.data = pathlib.Path(self.owner.pw_dir) / f"tollgate-{name}"

    def create(self, password):
        """Creates the database for the nodes once, with a role that has no other rights."""
        marker = self.folder / "postgres.made"
        if marker.exists() and self.data.exists():
            return
        if self.data.exists():
            shutil.rmtree(self.data)  # left by an interrupted start
        self.data.mkdir(mode=0o700)
        if self.owner:
            os.chown(self.data, self.owner.pw_uid, self.owner.pw_gid)
        self.run([self.programs / "initdb", "-D", self.data, "-U", "postgres", "--auth-local=peer",
                  "--auth-host=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-instructions"])
        self.run([self.programs / "postgres", "--single", "-D", self.data, "postgres"],
                 stdin=f"CREATE ROLE tollgate LOGIN PASSWORD '{password}'\n"
                      "CREATE DATABASE tollgate OWNER tollgate\n")
        marker.touch()

    def start(self):
        expect_free(self.port)
        self.process = self.spawn([self.programs / "postgres", "-D", self.data, "-c", "listen_addresses=127.0.0.1",
                                   "-c", f"port={self.port}", "-c", "unix_socket_directories=",
                                   # Each node has 16 connections for requests, and a few that listen.
                                   "-c", "max_connections=100"])
        self.wait_until(self.is_ready)

    def is_ready(self):
        try:
            return subprocess.run([self.programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)],
                                  stdin=subprocess.DEVNULL).returncode == 0
        except OSError as error:
            raise Failure(f"{self.name} cannot be checked: {error}") from None

    def stop(self, number=signal.SIGINT, seconds=15):
        """SIGINT shuts down cleanly. SIGQUIT aborts connections, and the next start recovers."""
        super().stop(number, seconds)

    def pids(self):
        """The process ids of the server and of its connections."""
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text()
        return [self.process.pid, *map(int, children.split())]


class Redis(Part):
    """Counts requests. Nothing is saved: windows that are lost start again."""

    def __init__(self, folder, port):
        super().__init__("redis", folder, "redis")
        self.port = port
        self.password = None

    def start(self, password=None):
        self.password = password or self.password
        expect_free(self.port)
        # noeviction: an evicted window would give its caller a new quota, so a full Redis must return an error instead.
        settings = f"""
            bind 127.0.0.1
            port {self.port}
            requirepass {self.password}
            maxmemory 256mb
            maxmemory-policy noeviction
            save ""
            appendonly no
            """
        self.process = self.spawn(["redis-server", "-"], stdin=settings)
        self.wait_until(lambda: is_listening(self.port))


class Node(Part):
    """One tollgate-server. All nodes share a configuration file and differ in their port."""

    def __init__(self, program, folder, number, port):
        super().__init__(f"node{number}", folder)
        self.program = program
        self.number = number
        self.port = port
        self.configuration = folder / "node.json"
        self.data = folder / "nodes"
        self.environment = None
        self.flags = []

    @property
    def stays_down(self):
        """A node that ended with exit code 0 was stopped on purpose; it stays down until the next upgrade."""
        return self.process is not None and self.process.poll() == 0

    def start(self):
        if not self.is_running:
            self.process = None  # a node that cannot be started is restarted later
        expect_free(self.port)
        self.process = self.spawn([self.program, "serve", "--config", self.configuration, "--data", self.data,
                                   "--listen", f"127.0.0.1:{self.port}", *self.flags], self.environment)

    def wait(self):
        self.wait_until(lambda: is_listening(self.port))


class Proxy(Part):
    """HAProxy, with the configuration in this folder."""

    def __init__(self, folder, port, nodes):
        super().__init__("haproxy", folder)
        self.port = port
        self.url = f"https://127.0.0.1:{port}"
        # The path of a Unix socket has at most 107 bytes; the folder's path may be longer.
        self.control = folder / "haproxy.sock" if len(str(folder)) < 80 else pathlib.Path(f"/tmp/tollgate-{port}.sock")
        self.certificate = folder / "haproxy.pem"
        self.environment = {"TOLLGATE_LISTEN": f"127.0.0.1:{port}", "TOLLGATE_CERTIFICATE": str(self.certificate),
                            "TOLLGATE_CONTROL": str(self.control), "TOLLGATE_AUTH_URL": self.url,
                            **{f"TOLLGATE_NODE_{each.number}": f"127.0.0.1:{each.port}" for each in nodes}}

    def create(self):
        """Creates a self-signed certificate, and renews it before it expires."""
        valid = self.certificate.exists() and subprocess.run(
            ["openssl", "x509", "-in", self.certificate, "-noout", "-checkend", str(7 * 86400)],
            capture_output=True, stdin=subprocess.DEVNULL).returncode == 0
        if valid:
            return
        result = subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "90",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
             "-keyout", "-", "-out", "-"], capture_output=True, stdin=subprocess.DEVNULL)
        if result.returncode != 0:
            raise Failure(f"openssl: {result.stderr.decode(errors='replace')}")
        write_private(self.certificate, result.stdout.decode())

    def start(self):
        expect_free(self.port)
        self.control.unlink(missing_ok=True)
        self.process = self.spawn(["haproxy", "-db", "-f", HERE / "haproxy.cfg"], self.environment)
        self.wait_until(lambda: is_listening(self.port) and self.control.exists())

    def send_command(self, command):
        """Sends a command to the control socket, and returns the response."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(START_SECONDS)
                connection.connect(str(self.control))
                connection.sendall(command.encode() + b"\n")
                return b"".join(iter(lambda: connection.recv(65536), b"")).decode()
        except OSError as error:
            raise Failure(f"{self.name} does not respond on its control socket: {error}") from None

    def is_up(self, node):
        return self.state_of(node) == "UP"

    def state_of(self, node):
        """UP, DOWN, DRAIN, or another state of HAProxy."""
        rows = [row.split(",") for row in self.send_command("show stat").splitlines()]
        if not rows or "status" not in rows[0]:
            raise Failure(f"{self.name} does not report the state of its nodes")  # it is stopping
        status = rows[0].index("status")
        return next((row[status] for row in rows if len(row) > status and row[:2] == ["nodes", node.name]), None)

    def admit(self, node):
        """Ends the drain: the node gets requests as soon as it responds to health checks."""
        with contextlib.suppress(Failure):  # a stopped HAProxy has no drains
            self.send_command(f"set server nodes/{node.name} state ready")

    def stop(self, number=signal.SIGTERM, seconds=15):
        super().stop(number, seconds)
        self.control.unlink(missing_ok=True)


class Cluster:
    """All parts. `settings`: further settings for the nodes' configuration file."""

    def __init__(self, program, folder, port=8443, first_port=18081, settings=None):
        self.folder = folder
        create_folder(folder)
        ports = free_ports(NODES + 2) if first_port == 0 else range(first_port, first_port + NODES + 2)
        port = port or next(each for each in free_ports(NODES + 3) if each not in ports)
        self.nodes = [Node(program, folder, number + 1, ports[number]) for number in range(NODES)]
        self.postgres = Postgres(folder, ports[NODES])
        self.redis = Redis(folder, ports[NODES + 1])
        self.proxy = Proxy(folder, port, self.nodes)
        self.parts = [self.postgres, self.redis, *self.nodes, self.proxy]
        self.url = self.proxy.url
        self.settings = settings or {}

    def start(self):
        for part in self.parts:
            expect_free(part.port)
        self._configure()
        self.postgres.start()
        for node in self.nodes:
            node.start()
        for node in self.nodes:
            node.wait()
        self.proxy.start()
        self.proxy.wait_until(lambda: all(map(self.proxy.is_up, self.nodes)))

    def stop(self):
        """Stops the proxy first, and the stores last."""
        self.proxy.stop()
        for node in self.nodes:
            node.send(signal.SIGTERM)
        for part in (*self.nodes, self.redis, self.postgres):
            part.stop()

    def restart(self, part):
        """Starts a part that ended."""
        part.start()
        if part in self.nodes:
            self.proxy.admit(part)

    def upgrade(self, node):
        """Stops a node and starts it again, as for an upgrade. No request fails, because HAProxy drains the node first.
        The drain ends even if the start fails."""
        self.proxy.send_command(f"set server nodes/{node.name} state drain")
        try:
            time.sleep(0.2)  # the node responds to requests in flight before it stops
            node.stop()
            node.start()
            node.wait()
        finally:
            self.proxy.admit(node)
        self.proxy.wait_until(lambda: self.proxy.is_up(node))

    def _configure(self):
        secret = self.folder / "secrets.json"
        if not secret.exists():
            write_private(secret, json.dumps({name: secrets.token_hex(16) for name in ("postgres", "redis")}))
        passwords = json.loads(secret.read_text())
        self.postgres.create(passwords["postgres"])
        self.redis.start(passwords["redis"])
        self.proxy.create()
        write_private(self.nodes[0].configuration, json.dumps({
            "store": f"postgres:host=127.0.0.1 port={self.postgres.port} dbname=tollgate user=tollgate "
                     f"password={passwords['postgres']}",
            "limits": f"redis://:{passwords['redis']}@127.0.0.1:{self.redis.port}/0",
            "plain": True,  # HAProxy handles TLS
            "trusted-proxy": ["127.0.0.1/32"],
            "base-url": f"{self.url}/v1",
            "auth-url": self.url,
            **self.settings}, indent=2) + "\n")


def write_private(path, text):
    with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def create_folder(folder):
    """Creates a folder that other users can pass through. Its files are readable by their owner only."""
    folder.mkdir(parents=True, exist_ok=True)
    folder.chmod(0o711)
    os.umask(0o077)


def is_listening(port):
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
        return True
    except OSError:
        return False


def expect_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as all parts do
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            raise Failure(f"port {port}: {error.strerror}") from None


def free_ports(count):
    """Free ports below the ephemeral range: an outgoing connection must not take the port of a part that is down."""
    found = []
    for port in random.sample(range(20000, 32000), 1000):
        if len(found) == count:
            return found
        try:
            expect_free(port)
            found.append(port)
        except Failure:
            pass
    raise Failure("no port is free from 20000 to 32000")


def postgres_programs():
    found = sorted(glob.glob("/usr/lib/postgresql/*/bin"), key=lambda path: int(path.split("/")[4]))
    if found:
        return pathlib.Path(found[-1])
    initdb = shutil.which("initdb")
    if not initdb:
        raise Failure("no initdb: install PostgreSQL (Debian: postgresql)")
    return pathlib.Path(initdb).resolve().parent


def _can_enter(owner, folder):
    """Whether this user can enter the folder and all folders above it."""
    return subprocess.run(["test", "-x", str(folder)], user=owner.pw_uid, group=owner.pw_gid, extra_groups=[],
                          cwd="/").returncode == 0


def _stop_with_the_parent():
    """Sends SIGINT when the parent dies, even by kill -9 (PR_SET_PDEATHSIG is 1). For PostgreSQL, SIGTERM would wait for all
    clients; SIGINT is its fast shutdown, and the other programs stop on it too."""
    ctypes.CDLL(None).prctl(1, signal.SIGINT)
