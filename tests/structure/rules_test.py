#!/usr/bin/env python3
"""Rules that README.md and docs/contributing.md state, and lists in documents that have to be equal to a list in the code.

Other tests run further rules: of includes, of public headers, of layout, of messages of the compiler, of clang-tidy and Doxygen.
"""

import re
import subprocess

import compilers_test
import sources

SUBJECT_COLUMNS_MAX = 72
SUBJECTS = 20  # the newest: older ones cannot be changed

CONSTANT = re.compile(r"^inline constexpr [^=]*\b(\w+) = [^;]*;(.*)$")
SIGNAL_HANDLER = re.compile(r"\b(sigaction|std::signal|::signal)\s*\(")
FIRST_INCLUDE = re.compile(r'^#include [<"]([^>"]+)[>"]', re.MULTILINE)
# A test of one store does not run on the other one.
SKIPPED = re.compile(r'\bskipTest\((?!"for SQLite"\))|\bunittest\.skip|(?<![A-Z_])SKIP\(')
# Macros that tell the system, what only Linux has, and headers of POSIX.
OF_ONE_SYSTEM = re.compile(r"__linux__|__APPLE__|__MACH__|__\w+BSD__|_WIN(?:32|64)\b|__MINGW\w*|__GLIBC__|__unix__|TOLLGATE_SYSTEM_\w+"
                           r"|\bpipe2\b|\bSOCK_(?:NONBLOCK|CLOEXEC)\b|\baccept4\b|\bMSG_(?:NOSIGNAL|DONTWAIT)\b|\bCLOCK_BOOTTIME\b"
                           r"|/proc/|\beventfd\b|<(?:sys|linux|netinet|arpa)/[a-z]+\.h>"
                           r"|<(?:unistd|fcntl|poll|netdb|dirent|pthread|signal|windows|winsock2)\.h>")
COMMENT = re.compile(r"//.*")
SYSTEM = "base/detail/system/"
OF_LINUX = "server/detail/epoll_loop."
NAMESPACE = re.compile(r"^namespace tollgate\b(?!::inline v0\b)", re.MULTILINE)
HEADER = re.compile(r"\btollgate/[a-z0-9_/]+\.[hi]pp\b")
SETTINGS = re.compile(r"^struct account_service_settings \{\n(.*?)^\};", re.MULTILINE | re.DOTALL)
FIELD = re.compile(r"^    [\w:<>]+ (\w+)(?: = .*)?;", re.MULTILINE)
SETTINGS_TABLE = re.compile(r"^\| field of `account_service_settings` .*\n((?:\|.*\n)+)", re.MULTILINE)
MACRO = re.compile(r"\bTOLLGATE_[A-Z0-9_]*[A-Z0-9]\b")
ROUTE = re.compile(r'\bon_(get|head|post|put|patch|delete)<"([^"?]+)')
PACKAGE = re.compile(r"^\s*find_package\((\w+) ([\d.]+)", re.MULTILINE)
CMAKE = re.compile(r"^cmake_minimum_required\(VERSION ([\d.]+)", re.MULTILINE)
NAMES = {"Asio": "Asio", "nlohmann_json": "nlohmann/json", "OpenSSL": "OpenSSL", "SQLite3": "SQLite", "PostgreSQL": "libpq",
         "Hiredis": "hiredis"}
MODULES = re.compile(r"^set\((not_under_address_sanitizer|quick_under_address_sanitizer|quick_under_thread_sanitizer) (.*)\)$", re.MULTILINE)


def text_of(base, name):
    path = base / name
    return sources.read(path) if path.is_file() else ""


def documents(base):
    return [base / "README.md", *sources.files(base / "docs", ".md")]


def check_limits(base):
    """Each bound has its reason beside it."""
    lines = text_of(base, "include/tollgate/base/limits.hpp").splitlines()
    for before, line in zip([""] + lines, lines):
        constant = CONSTANT.match(line)
        if constant and "//" not in constant.group(2) and not before.startswith("//"):
            yield f"include/tollgate/base/limits.hpp: {constant.group(1)} has no reason"


def check_contracts(base):
    """Each contract says from which threads it is called, and a class that does not satisfy it is refused by name."""
    misfits = "".join(sources.read(path) for path in sources.files(base / "tests/compile_fail", ".cpp"))
    messages = "".join(sources.read(path) for path in sources.files(base / "include", ".hpp"))
    for path in sources.files(base / "include/tollgate/contract", ".hpp"):
        if "detail" in path.parts:
            continue
        name = path.relative_to(base / "include")
        if "thread" not in sources.read(path).lower():
            yield f"include/{name}: no rule about threads"
        if f"read {name}" in messages and f"read {name}" not in misfits:
            yield f"tests/compile_fail has no class that does not satisfy {name}"


def check_signals(base):
    for path in sources.files(base / "include", ".hpp", ".ipp"):
        if SIGNAL_HANDLER.search(sources.read(path)):
            yield f"{path.relative_to(base)}: installs a signal handler"


def check_systems(base):
    """One folder has all that differs between systems. The loop on epoll is compiled on Linux only."""
    for path in sources.files(base / "include/tollgate", ".hpp", ".ipp"):
        name = path.relative_to(base / "include/tollgate").as_posix()
        if name.startswith(SYSTEM):
            continue
        for found in sorted(set(OF_ONE_SYSTEM.findall(COMMENT.sub("", sources.read(path))))):
            if not name.startswith(OF_LINUX):
                yield f"include/tollgate/{name}: {found} belongs in {SYSTEM}"


def check_namespaces(base):
    """Everything is in the inline namespace v0, so that symbols of incompatible versions differ."""
    for path in sources.files(base / "include/tollgate", ".hpp", ".ipp"):
        if NAMESPACE.search(sources.read(path)):
            yield f"{path.relative_to(base)}: opens the namespace tollgate without the inline namespace v0"


def check_tests(base):
    for path in sources.files(base / "tests/unit", "_test.cpp"):
        name = path.relative_to(base)
        first = FIRST_INCLUDE.search(sources.read(path))
        own = path.name.replace("_test.cpp", ".hpp")
        if first and not first.group(1).startswith(f"tollgate/{name.parts[2]}/") and not first.group(1).endswith(f"/{own}"):
            yield f"{name}: the first include is not a header of its module"
    for path in sources.files(base / "tests", ".cpp", ".py"):
        if path.parent.name != "structure" and SKIPPED.search(sources.read(path)):
            yield f"{path.relative_to(base)}: skips a test"


def check_names(base):
    """The headers, macros, options and variables that documents name exist."""
    code = "".join(sources.read(path) for folder in (".cmake", "include", "examples", "tests") if (base / folder).is_dir()
                   for path in sources.files(base / folder) if path.suffix != ".md" and path.name != "rules_test.py")
    known = set(MACRO.findall(code + text_of(base, "CMakeLists.txt") + text_of(base, "single_include/amalgamate.py")))
    for path in documents(base):
        for name in sorted(set(MACRO.findall(sources.read(path))) - known):
            yield f"{path.relative_to(base)}: {name} is not in the code"
        for name in sorted(set(HEADER.findall(sources.read(path)))):
            if not any((base / folder / name).is_file() for folder in ("include", "single_include")):
                yield f"{path.relative_to(base)}: {name} does not exist"


def check_settings(base):
    """The table of settings has their order, because designated initializers need it."""
    order = [field for path in sources.files(base / "include", ".hpp") for struct in SETTINGS.findall(sources.read(path))
             for field in FIELD.findall(struct)]
    for rows in SETTINGS_TABLE.findall(text_of(base, "docs/embedding.md")):
        named = [name for row in rows.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
        if named != [name for name in order if name in named]:
            yield f"docs/embedding.md: the fields {', '.join(named)} are not in the order of account_service_settings"


def check_routes(base):
    documented = text_of(base, "docs/api.md")
    for path in sources.files(base / "include/tollgate/api", ".hpp", ".ipp"):
        for method, route in ROUTE.findall(sources.read(path)):
            if f"`{method.upper()} {route}`" not in documented:
                yield f"docs/api.md: Endpoints has no `{method.upper()} {route}`"


def check_versions(base):
    readme = text_of(base, "README.md")
    versions = {f"{NAMES[name]} {version}" for name, version in PACKAGE.findall(text_of(base, ".cmake/TollgateDependencies.cmake"))}
    versions |= {f"CMake {version}" for version in CMAKE.findall(text_of(base, "CMakeLists.txt"))}
    for version in sorted(versions):
        if not re.search(rf"\b{re.escape(version)}\b", readme):
            yield f"README.md: does not say that the minimum is {version}"
    stated = set(re.findall(r"-W[a-z][\w-]*", readme.partition("\n## Compilers")[2].partition("\n## ")[0]))
    tested = {*compilers_test.WARNINGS, *compilers_test.OF_GCC} - {"-Werror"}
    if stated != tested:
        yield f"README.md: the warnings differ from the tested ones: {', '.join(sorted(stated ^ tested))}"


def check_sanitizers(base):
    contributing = text_of(base, "docs/contributing.md")
    for name, modules in MODULES.findall(text_of(base, "tests/unit/CMakeLists.txt")):
        listed = ", ".join(f"`{module}`" for module in modules.split())
        if listed not in contributing:
            yield f"docs/contributing.md: does not list {listed} ({name})"


def faults_of_subject(subject):
    if len(subject) > SUBJECT_COLUMNS_MAX:
        yield f"{len(subject)} characters, {SUBJECT_COLUMNS_MAX} at most"
    if subject.endswith("."):
        yield "ends in a period"
    if not subject[:1].isupper():
        yield "does not begin with a capital letter"


def check_commits(base):
    """Nothing to check in an archive of the sources."""
    log = subprocess.run(["git", "-C", base, "log", f"-{SUBJECTS}", "--format=%s"], capture_output=True, text=True, check=False)
    if (base / ".git").exists():
        for subject in log.stdout.splitlines():
            yield from (f"commit \"{subject}\": {fault}" for fault in faults_of_subject(subject))


CHECKS = [check_limits, check_contracts, check_signals, check_systems, check_namespaces, check_tests, check_names, check_settings, check_routes,
          check_versions, check_sanitizers, check_commits]


def check(base):
    return [finding for each in CHECKS for finding in each(base)]


if __name__ == "__main__":
    sources.report(check)
