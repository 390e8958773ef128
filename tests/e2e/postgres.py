"""A real PostgreSQL with data, socket and port of its own, which nobody else sees, stopped by its process id."""

import ctypes
import glob
import hashlib
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS = 30


class Postgres:
    """`url` is what `--store` takes. With `tls`, a pair of certificate and key files, it listens at 127.0.0.1, too.
    `durable`: as somebody sets it up who wants to keep what is in it."""

    def __init__(self, tls=None, durable=False):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="tollgate-pg-"))
        self.port = _free_port()
        self.process = None
        self.tls = tls is not None
        # It will not run as root.
        self.owner = next((pwd.getpwnam(name) for name in ("postgres", "nobody") if _is_user(name)), None) \
            if os.geteuid() == 0 else None
        if self.owner:
            os.chown(self.directory, self.owner.pw_uid, self.owner.pw_gid)
        self.settings = [f"port={self.port}", "max_connections=200"]
        self.settings += ["shared_buffers=512MB", "max_wal_size=4GB"] if durable else [
            "shared_buffers=32MB", "fsync=off", "synchronous_commit=off", "full_page_writes=off", "autovacuum=off"]
        if tls:
            for name, source in zip(("server.crt", "server.key"), tls):
                shutil.copyfile(source, self.directory / name)
                os.chmod(self.directory / name, 0o600)
                if self.owner:
                    os.chown(self.directory / name, self.owner.pw_uid, self.owner.pw_gid)
            self.settings += ["ssl=on", "listen_addresses=127.0.0.1", f"ssl_cert_file={self.directory}/server.crt",
                              f"ssl_key_file={self.directory}/server.key"]
        else:
            self.settings += ["listen_addresses="]
        try:
            initdb = self._run("initdb", "-D", self.directory / "data", "-U", "postgres", "--auth=trust",
                               "--encoding=UTF8", "--locale=C", "--no-sync", "--no-instructions")
            if initdb.wait() != 0:
                raise AssertionError((self.directory / "log").read_text())
            self.start()
        except BaseException:
            self.stop()
            raise

    def _run(self, program, *arguments):
        found = sorted(glob.glob(f"/usr/lib/postgresql/*/bin/{program}"))
        if not found:
            raise AssertionError(f"no {program}: install PostgreSQL (Debian: postgresql)")
        identity = {"user": self.owner.pw_uid, "group": self.owner.pw_gid, "extra_groups": []} if self.owner else {}
        with open(self.directory / "log", "ab") as log:
            return subprocess.Popen([found[-1], *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                    cwd="/", start_new_session=True, preexec_fn=_die_with_the_test, **identity)

    def start(self):
        words = [word for each in self.settings for word in ("-c", each)]
        self.process = self._run("postgres", "-D", self.directory / "data", "-k", self.directory, *words)
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline and self.process.poll() is None:
            if self._psql("SELECT 1", check=False).returncode == 0:
                return
            time.sleep(0.02)
        raise AssertionError(f"PostgreSQL does not start: {(self.directory / 'log').read_text()}")

    def halt(self, number=signal.SIGINT):
        """SIGINT: at once, in order."""
        self.process.send_signal(number)
        self.process.wait(START_SECONDS)

    def stop(self):
        if self.process and self.process.poll() is None:
            self.halt(signal.SIGQUIT)
        shutil.rmtree(self.directory, ignore_errors=True)

    def hang(self):
        """Every process of it stands still, those that serve connections too."""
        self._signal_all(signal.SIGSTOP)

    def go_on(self):
        self._signal_all(signal.SIGCONT)

    def _signal_all(self, number):
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        for pid in [self.process.pid, *map(int, children)]:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def store(self, schema, more=""):
        """A schema of its own for each name; it is made when it is not there."""
        name = "e2e_" + hashlib.sha256(str(schema).encode()).hexdigest()[:16]
        self._psql(f"CREATE SCHEMA IF NOT EXISTS {name}")
        where = f"hostaddr=127.0.0.1 host=localhost" if self.tls else f"host={self.directory}"
        return f"postgres:{where} port={self.port} user=postgres dbname=postgres options=-csearch_path={name} {more}" \
            .rstrip()

    def query(self, store, text):
        """What psql prints, of this store's schema."""
        schema = store.split("search_path=")[1].split()[0]
        return self._psql(f"SET search_path = {schema}; {text}").stdout.strip()

    def _psql(self, text, check=True):
        done = subprocess.run(["psql", "-X", "-q", "-A", "-t", "-h", str(self.directory), "-p", str(self.port), "-U",
                               "postgres", "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", text],
                              capture_output=True, text=True, timeout=START_SECONDS)
        if check and done.returncode != 0:
            raise AssertionError(f"{text}: {done.stderr}")
        return done

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()


def _is_user(name):
    try:
        return bool(pwd.getpwnam(name))
    except KeyError:
        return False


def _die_with_the_test():
    """Whatever becomes of the test. PR_SET_PDEATHSIG is 1; it is lost when the user changes, so it comes after that."""
    ctypes.CDLL(None).prctl(1, signal.SIGQUIT)


def _free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
