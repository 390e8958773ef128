#!/usr/bin/env python3
"""Compiles the library for other systems than this one, and runs tests of it there; `tests/run portability` installs what it needs.

    run.py [part...]    all parts, or: posix arm64 arm musl windows

Each part prints what it has run. What takes long and seldom changes, OpenSSL for musl and Windows, stays in build/portability.
"""

import argparse
import contextlib
import dataclasses
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "portability"
SECONDS = 900  # bound of a program
REQUESTS = 300

sys.path.insert(0, str(ROOT / "tests" / "support"))
import test_units  # noqa: E402
from servers import reserve_port  # noqa: E402

# Libraries that are nothing but headers, which are the same for all systems. Those of this system beside them must not be found.
HEADERS = ["asio", "asio.hpp", "catch2", "nlohmann"]
WARNINGS = ["-Wall", "-Wextra", "-Wshadow", "-Wconversion", "-Werror"]


def run(command, *, show=False, **options):
    """Runs a command; its output is shown only if it fails, or with `show`."""
    options = {"check": False, "timeout": SECONDS, "text": True, "errors": "replace", "stdout": subprocess.PIPE,
               "stderr": subprocess.STDOUT, "stdin": subprocess.DEVNULL} | options
    done = subprocess.run([str(word) for word in command], **options)
    if done.returncode != 0 or show:
        print(done.stdout or "", flush=True)
    if done.returncode != 0:
        sys.exit(f"exit {done.returncode}: {shlex.join(map(str, command))[:2000]}")
    return done.stdout


@dataclasses.dataclass
class Form:
    """How the library is compiled for a system, and its programs are run."""

    name: str
    compiler: str
    flags: list
    libraries: list
    runner: list = dataclasses.field(default_factory=list)
    environment: dict = dataclasses.field(default_factory=dict)
    suffix: str = ""

    @property
    def directory(self):
        path = BUILD / self.name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def command(self, *words, warnings=True):
        return [self.compiler, "-std=c++20", "-O0", "-pipe", *(WARNINGS if warnings else []), "-DASIO_STANDALONE", "-DASIO_NO_DEPRECATED",
                "-DTOLLGATE_WITH_ASIO", "-DTOLLGATE_WITH_DISPATCHER", "-DTOLLGATE_SEPARATE_COMPILATION", "-DCATCH_CONFIG_FAST_COMPILE",
                f"-I{ROOT / 'include'}", f"-I{ROOT / 'tests'}", *self.flags, *words]

    def compile(self, sources):
        """Compiles (name, source, flags) side by side; returns the objects."""
        def one(task):
            name, source, flags = task
            target = self.directory / f"{name}.o"
            run(self.command(*flags, "-c", source, "-o", target))
            return target
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            return list(workers.map(one, sources))

    def bodies(self, *parts):
        source = self.directory / "bodies.cpp"
        source.write_text("#include <tollgate/impl/src.hpp>\n", encoding="utf-8")
        # An object file for Windows cannot hold the names of all functions that are not inlined.
        return "bodies", source, ["-O1", *(f"-DTOLLGATE_WITH_{part}" for part in parts)]

    def link(self, name, objects):
        program = self.directory / (name + self.suffix)
        run([self.compiler, *objects, "-o", program, *self.libraries])
        return program

    def start(self, program, *arguments, **options):
        return subprocess.Popen([*self.runner, str(program), *arguments], env=os.environ | self.environment, stdin=subprocess.DEVNULL,
                                **options)

    def execute(self, program, *arguments, **options):
        return run([*self.runner, program, *arguments], env=os.environ | self.environment, **options)


def test_sources(module, left_out=()):
    """The test files of a module with their texts, without those of Redis and those that match a pattern."""
    paths = sorted((ROOT / "tests" / "unit" / module).rglob("*_test.cpp"))
    wanted = [path for path in paths if not any(path.match(pattern) for pattern in ("redis*", "redis/*", *left_out))]
    return {path: path.read_text(encoding="utf-8") for path in wanted}


def build_tests(form, modules, left_out=(), libraries=()):
    """One program of each module; (module, program)."""
    entry = form.directory / "catch_main.cpp"
    entry.write_text("#define CATCH_CONFIG_MAIN\n#include <catch2/catch.hpp>\n", encoding="utf-8")
    tasks = [form.bodies(*libraries), ("catch_main", entry, [])]
    units = {}
    for module in modules:
        texts = test_sources(module, left_out)
        for number, paths in enumerate(test_units.groups_of(texts)):
            name = f"unit_{module}_{number}"
            unit = paths[0]
            if len(paths) > 1:
                unit = form.directory / f"{name}.cpp"
                unit.write_text(test_units.unit_of(paths, texts), encoding="utf-8")
            tasks.append((name, unit, [f"-DTOLLGATE_WITH_{part}" for part in libraries]))
            units.setdefault(module, []).append(form.directory / f"{name}.o")
    bodies, main = form.compile(tasks)[:2]
    return bodies, [(module, form.link(f"unit_{module}", [*objects, main, bodies])) for module, objects in units.items()]


def run_tests(form, programs, *selected):
    for module, program in programs:
        last = form.execute(program, *selected).strip().splitlines()[-1]
        print(f"{form.name}: unit tests of {module}: {last}", flush=True)


def example(form, name, bodies, *flags):
    source = ROOT / "examples" / name / "main.cpp"
    return form.link(name, [*form.compile([(f"example_{name}", source, list(flags))]), *bodies])


@contextlib.contextmanager
def serving(form, program, *arguments, directory=None):
    """Starts a server of the examples; the curl line that it prints."""
    process = form.start(program, *arguments, stdout=subprocess.PIPE, text=True, cwd=directory)
    limit = threading.Timer(SECONDS, process.kill)
    limit.start()
    try:
        line = ""
        while not line.startswith("curl "):
            line = process.stdout.readline()
            if not line:
                sys.exit(f"{form.name}: {program} has printed no curl line")
        yield shlex.split(line)
    finally:
        limit.cancel()
        process.kill()
        process.wait()


def request(form, name, curl, expected, directory=None):
    """Sends requests on kept connections, and each tenth on one of its own. All are answered with what is expected."""
    url = curl[-1]
    together = [word for _ in range(REQUESTS // 10) for word in (url, "-o", "-")]
    got = run([*curl[:-1], "-sS", "--fail", "--max-time", "60", *together], cwd=directory)
    for _ in range(REQUESTS // 10):
        got += run([*curl[:-1], "-sS", "--fail", "--parallel", *[word for _ in range(9) for word in (url, "-o", "-")]], cwd=directory)
    if (count := got.count(expected)) != REQUESTS:
        sys.exit(f"{form.name}: {name}: {count} of {REQUESTS} responses have {expected!r}:\n{got[:1000]}")
    print(f"{form.name}: {name}: {count} requests", flush=True)


def header_directory():
    """A directory that has the libraries of HEADERS and nothing else."""
    directory = BUILD / "headers"
    directory.mkdir(parents=True, exist_ok=True)
    for name in HEADERS:
        link = directory / name
        if not link.is_symlink():
            link.symlink_to(pathlib.Path("/usr/include") / name)
    return directory


# Packages and sources of Debian, without a change to this system.

def apt_options(directory, architecture=None):
    sources = directory / "sources"
    for path in (sources, directory / "lists" / "partial", directory / "cache" / "archives" / "partial"):
        path.mkdir(parents=True, exist_ok=True)
    for path in [*pathlib.Path("/etc/apt/sources.list.d").glob("debian*.sources"), pathlib.Path("/etc/apt/sources.list")]:
        if path.is_file():
            text = path.read_text(encoding="utf-8")
            if architecture is None:
                text = text.replace("Types: deb\n", "Types: deb-src\n").replace("deb ", "deb-src ")
            (sources / path.name).write_text(text, encoding="utf-8")
    settings = {"Dir::Etc::SourceList": sources / "sources.list", "Dir::Etc::SourceParts": sources,
                "Dir::State::Lists": directory / "lists", "Dir::Cache": directory / "cache"}
    if architecture:
        settings |= {"APT::Architecture": architecture, "APT::Architectures": architecture, "Dir::State::status": "/dev/null"}
    return [word for name, value in settings.items() for word in ("-o", f"{name}={value}")]


def update(options):
    """One list of several may be unavailable while a mirror is being updated. What is missing is reported when it is downloaded."""
    subprocess.run(["apt-get", *options, "update", "-q"], check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def foreign_packages(architecture, *packages):
    """A directory that has the content of packages for another architecture."""
    root = BUILD / f"root-{architecture}"
    if (root / "complete").is_file():
        return root
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    options = apt_options(BUILD / f"apt-{architecture}", architecture)
    update(options)
    with tempfile.TemporaryDirectory() as directory:
        run(["apt-get", *options, "download", *packages], cwd=directory)
        for package in pathlib.Path(directory).glob("*.deb"):
            run(["dpkg-deb", "-x", package, root])
    (root / "complete").touch()
    return root


def source_package(name):
    """The directory of the sources of a package, as its authors publish them."""
    target = BUILD / "sources" / name
    if not target.is_dir():
        options = apt_options(BUILD / "apt-sources")
        update(options)
        with tempfile.TemporaryDirectory() as directory:
            run(["apt-get", *options, "source", "--download-only", "--tar-only", name], cwd=directory)
            archive, = (path for path in pathlib.Path(directory).glob("*.orig.tar.*") if path.suffix != ".asc")
            run(["tar", "xf", archive], cwd=directory)
            unpacked, = (path for path in pathlib.Path(directory).iterdir() if path.is_dir())
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.move(unpacked, target)
    return target


def openssl(name, *configure, environment=None):
    """Builds OpenSSL's libraries once, without what the library does not use; its directory."""
    directory = BUILD / f"openssl-{name}"
    if not (directory / "complete").is_file():
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(source_package("openssl"), directory)
        left_out = ("shared tests engine dso legacy cms ts ct comp srp dtls idea seed camellia aria sm2 sm3 sm4 rc2 rc4 rc5 bf cast md4 "
                    "mdc2 whirlpool gost ec2m").split()
        options = {"cwd": directory, "env": os.environ | (environment or {}), "timeout": 3600}
        run(["./Configure", *configure, *(f"no-{part}" for part in left_out), "-O1"], **options)
        run(["make", f"-j{os.cpu_count()}", "build_generated"], **options)
        run(["make", f"-j{os.cpu_count()}", "libcrypto.a", "libssl.a"], **options)
        (directory / "complete").touch()
    return directory


def sqlite():
    """The directory of SQLite's sources in one file."""
    directory = source_package("sqlite3")
    if not (directory / "sqlite3.c").is_file():
        run(["./configure", "--disable-tcl"], cwd=directory)
        run(["make", "sqlite3.c", "sqlite3.h"], cwd=directory)
    return directory


# The parts.

def posix():
    """As on macOS and the BSDs: the names that only Linux has are hidden from the compiler."""
    postgres = run(["pg_config", "--includedir"]).strip()
    hidden = ["-DTOLLGATE_POSIX_ONLY", "-include", str(ROOT / "tests" / "portability" / "hidden_names.hpp"), "-isystem", postgres]
    form = Form("posix", "g++", ["-DTOLLGATE_POSIX_ONLY"], ["-lssl", "-lcrypto", "-pthread"])
    backends = [f"-DTOLLGATE_WITH_{part}" for part in ("SQLITE", "POSTGRES", "REDIS")]
    umbrella = form.directory / "umbrella.cpp"
    umbrella.write_text("#define TOLLGATE_SOURCE\n#include <tollgate/tollgate.hpp>\n", encoding="utf-8")
    sources = [umbrella, *sorted((ROOT / "examples" / "reference_server").glob("*.cpp"))]
    with ThreadPoolExecutor(os.cpu_count()) as workers:
        list(workers.map(lambda source: run(form.command(*hidden, *backends, "-fsyntax-only", source)), sources))
    print("posix: the library and the reference server compile without the names that only Linux has", flush=True)
    _, programs = build_tests(form, ["base", "http", "webhooks", "server"])
    # A socket of macOS has an option against this signal, which is not hidden here but missing.
    form.runner = ["sh", "-c", "trap '' PIPE; exec \"$@\"", "sh"]
    run_tests(form, programs, "~[linux]~[.]")


def arm64():
    root = foreign_packages("arm64", "libssl-dev", "libssl3")
    libraries = root / "usr" / "lib" / "aarch64-linux-gnu"
    form = Form("arm64", "aarch64-linux-gnu-g++",
                ["-isystem", str(root / "usr/include"), "-isystem", str(root / "usr/include/aarch64-linux-gnu"),
                 "-isystem", str(header_directory())],
                ["-static", f"-L{libraries}", "-lssl", "-lcrypto", "-pthread"], ["qemu-aarch64-static"])
    bodies, programs = build_tests(form, ["base", "http", "model", "server"])
    # QEMU starts no program of another architecture, and keeps a signal to itself.
    run_tests(form, programs, "~[process]~[.]~a thread of the library takes no signals*")
    with serving(form, example(form, "hello", [bodies]), "0") as curl:
        request(form, "hello", curl, '"balance":12.50')


def arm():
    """32 bits, compiled only."""
    root = foreign_packages("armhf", "libssl-dev")
    form = Form("arm", "arm-linux-gnueabihf-g++",
                ["-isystem", str(root / "usr/include"), "-isystem", str(root / "usr/include/arm-linux-gnueabihf"),
                 "-isystem", str(header_directory()), "-Wno-psabi", "-Wno-conversion"], [])  # hashes of 64 bits become indices
    form.compile([form.bodies()])
    print("arm: the library compiles with 32 bits", flush=True)


def musl():
    kernel = BUILD / "kernel"
    kernel.mkdir(exist_ok=True)
    for name, place in (("linux", ""), ("asm-generic", ""), ("asm", "x86_64-linux-gnu")):
        link = kernel / name
        if not link.is_symlink():
            link.symlink_to(pathlib.Path("/usr/include") / place / name)
    ssl = openssl("musl", "linux-x86_64", "no-async", "no-secure-memory", "-idirafter", str(kernel), environment={"CC": "musl-gcc"})
    version = run(["g++", "-dumpversion"]).strip()
    places = [f"/usr/include/c++/{version}", f"/usr/include/x86_64-linux-gnu/c++/{version}", "/usr/include/x86_64-linux-musl",
              run(["g++", "-print-file-name=include"]).strip(), ssl / "include", header_directory(), kernel]
    flags = ["-nostdinc", "-include", str(ROOT / "tests" / "portability" / "musl.hpp"),
             *[word for place in places for word in ("-isystem", str(place))]]
    form = Form("musl", "g++", flags, [])
    shim = ROOT / "tests" / "portability" / "musl_shim.cpp"
    main = ROOT / "examples" / "hello" / "main.cpp"
    objects = form.compile([form.bodies(), ("hello", main, []), ("shim", shim, [])])
    program = form.directory / "hello"
    libraries = [run(["g++", f"-print-file-name={name}"]).strip() for name in ("libstdc++.a", "libgcc_eh.a")]
    run(["musl-gcc", "-static", *objects, "-o", program, ssl / "libssl.a", ssl / "libcrypto.a", *libraries])
    with serving(form, program, "0") as curl:
        request(form, "hello, static", curl, '"balance":12.50')


def windows():
    ssl = openssl("windows", "mingw64", "--cross-compile-prefix=x86_64-w64-mingw32-")
    database = sqlite()
    object_ = database / "windows.o"
    form = Form("windows", "x86_64-w64-mingw32-g++-posix",
                ["-D_WIN32_WINNT=0x0A00", "-Wa,-mbig-obj", "-isystem", str(ssl / "include"), "-isystem", str(database),
                 "-isystem", str(header_directory())],
                ["-static", str(object_), f"-L{ssl}", "-lssl", "-lcrypto", "-lws2_32", "-lmswsock", "-lcrypt32", "-lbcrypt"],
                ["/usr/lib/wine/wine64"], {"WINEPREFIX": str(BUILD / "wine"), "WINEDEBUG": "-all"}, ".exe")
    if not object_.is_file():
        run(["x86_64-w64-mingw32-gcc-posix", "-O1", "-DSQLITE_THREADSAFE=1", "-c", database / "sqlite3.c", "-o", object_])
    # windows.h before and after, with its macros.
    around = form.directory / "around.cpp"
    for text in ("#define WIN32_LEAN_AND_MEAN\n#include <windows.h>\n#include <tollgate/tollgate.hpp>\n",
                 "#include <tollgate/tollgate.hpp>\n#include <windows.h>\n"):
        around.write_text(text, encoding="utf-8")
        run(form.command("-DTOLLGATE_WITH_SQLITE", "-fsyntax-only", around))

    # The files that are left out need what Windows does not have; each says what.
    bodies, programs = build_tests(form, ["base", "http", "model", "pipeline", "api", "oauth", "pages", "webhooks", "limits", "server"],
                                   ["*_posix_test.cpp"], ["SQLITE"])
    run_tests(form, programs, "~[posix]~[.]")
    with serving(form, example(form, "hello", [bodies]), "0") as curl:
        request(form, "hello", curl, '"balance":12.50')
    with serving(form, example(form, "asio_host", [bodies]), "0") as curl:
        request(form, "asio_host", curl, '"balance":12.50')
    form.execute(example(form, "webhooks", [bodies]))
    print("windows: webhooks: one delivery", flush=True)
    shop = example(form, "shop", [bodies], "-DTOLLGATE_WITH_SQLITE")
    with tempfile.TemporaryDirectory() as directory, reserve_port() as reserved:
        run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
             "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", "key.pem", "-out", "cert.pem"], cwd=directory)
        port = reserved.getsockname()[1]
        reserved.close()  # Windows shares no port
        with serving(form, shop, str(port), directory=directory) as curl:
            curl += ["--retry", "30", "--retry-connrefused"]
            request(form, "shop with TLS and SQLite", [*curl[:-4], *curl[-3:], curl[-4]], '"balance":12.50', directory)


PARTS = {part.__name__: part for part in (posix, arm64, arm, musl, windows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="part", choices=[*PARTS, []])
    BUILD.mkdir(parents=True, exist_ok=True)
    for name in parser.parse_args().parts or PARTS:
        PARTS[name]()


if __name__ == "__main__":
    main()
