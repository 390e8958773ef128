#!/usr/bin/env python3
"""Builds and runs a program that uses the library through find_package, add_subdirectory, FetchContent, or pkg-config.

The commands and CMake snippets are those of README.md and docs/installing.md. Everything is built as a release."""

import argparse
import collections
import fnmatch
import hashlib
import json
import os
import pathlib
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "tests" / "support"))
import documents  # noqa: E402
from release_build import COPY, refresh  # noqa: E402

RELEASE = "-DCMAKE_BUILD_TYPE=Release"
INSTALLING = "docs/installing.md"


def run(*command):
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            stdin=subprocess.DEVNULL, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout}")
    return result.stdout


def expect_failure(*command):
    """Runs a command that must fail, and returns its output."""
    result = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                            stdin=subprocess.DEVNULL, check=False)
    if result.returncode == 0:
        sys.exit(f"{' '.join(map(str, command))}\nsucceeded:\n{result.stdout}")
    return result.stdout


def configure(source, build, compiler, *definitions):
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", RELEASE, *definitions)


def build_and_run(method, scratch, compiler, *definitions):
    configure(HERE / method, scratch / f"built_{method}", compiler, *definitions)
    run("cmake", "--build", scratch / f"built_{method}", "--parallel", "1")
    programs = sorted(path for path in (scratch / f"built_{method}").glob("consumer*") if path.is_file())
    assert programs, "no program was built"
    for program in programs:
        print(program.name + ":", run(program).strip())


def block(page, language, start):
    """The block of a document that starts with these words."""
    (found,) = [each.text for each in documents.blocks(page, language) if each.text.startswith(start)]
    return found


def paste(text, folder, compiler, replacements=None):
    """Runs the commands of a shell block in a folder."""
    for shown, real in {"g++": compiler, **(replacements or {})}.items():
        text = text.replace(shown, str(real))
    run("bash", "-c", f"set -eu -o pipefail\ncd {shlex.quote(str(folder))}\n{text}")


def build_snippet(snippet, scratch, compiler, library, before="", sources=HERE / "each_dependency.cpp", definitions=()):
    """Builds and runs a program whose CMakeLists.txt has a snippet of a document."""
    project = scratch / "snippet"
    project.mkdir(exist_ok=True)
    (project / "CMakeLists.txt").write_text(
        f"cmake_minimum_required(VERSION 3.25)\nproject(snippet LANGUAGES CXX)\n{before}\n"
        f'add_executable(shop "{sources}")\nadd_executable(other "{sources}")\n{snippet}\n'
        f"target_link_libraries(other PRIVATE {library})\n")
    configure(project, project / "build", compiler, *definitions)
    run("cmake", "--build", project / "build", "--parallel", "1")
    return project / "build"


def find_package(scratch, compiler):
    """Installs the library from the release that users build."""
    install = block(INSTALLING, "sh", "cmake -S . -B build/install -D TOLLGATE_BUILD_COMPILED=ON")
    # The compiled library takes long to compile: the build is the one that tests/run made with the same settings.
    paste(install, COPY, compiler, {"build/install": "build/release", "/usr/local": scratch / "installed"})
    # The installation must work without its sources, and in another folder.
    moved = scratch / "moved"
    shutil.move(scratch / "installed", moved)
    for file in [*moved.rglob("*.cmake"), *moved.rglob("*.pc")]:
        for other in (ROOT, scratch):
            assert str(other) not in file.read_text(), f"{file} names {other}"
    build_and_run("find_package", scratch, compiler, f"-DCMAKE_PREFIX_PATH={moved}")

    snippets = {block(page, "cmake", "find_package(") for page in ("README.md", INSTALLING)}
    assert len({each.split("#")[0].rstrip() for each in snippets}) == 1, f"the documents show two ways: {snippets}"
    build_snippet(snippets.pop(), scratch, compiler, "tollgate::tollgate", definitions=[f"-DCMAKE_PREFIX_PATH={moved}"])


OPTIONAL = ("SQLite3", "PostgreSQL", "Hiredis", "Boost", "Catch2", "CLI11")


def install_plainly(scratch, *definitions):
    """Installs by the two commands of docs/installing.md, as on a machine without optional dependencies."""
    folder = scratch / "tracked files"
    refresh(folder)
    options = [*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in OPTIONAL), *definitions]
    paste(block(INSTALLING, "sh", "cmake -S . -B build/install\n"), folder, "g++",
          {"build/install\n": f"build/install {shlex.join(options)}\n", "/usr/local": scratch / "installed"})
    return scratch / "installed"


def plain_install(scratch, compiler):
    installed = install_plainly(scratch, f"-DCMAKE_CXX_COMPILER={compiler}")
    for file in ("include/tollgate/tollgate.hpp", "share/cmake/tollgate/tollgate-config.cmake", "share/pkgconfig/tollgate.pc",
                 "share/doc/tollgate/LICENSE"):
        assert (installed / file).is_file(), f"{file} is not installed"

    # pkg-config, after the installation was moved to another folder.
    moved = scratch / "moved"
    shutil.move(installed, moved)
    os.environ["PKG_CONFIG_PATH"] = str(moved / "share/pkgconfig")
    version_of_package = run("pkg-config", "--modversion", "tollgate").strip()
    project = scratch / "project"
    project.mkdir()
    shutil.copy(HERE / "each_dependency.cpp", project / "main.cpp")
    commands = [each.text for each in documents.shell_blocks(INSTALLING) if "pkg-config" in each.text]
    assert len(commands) == 2
    lines = "".join(commands).strip().splitlines()
    assert len(lines) == 4
    for line in lines:
        paste(line, project, compiler)
        if line.startswith("g++"):
            assert version_of_package in run(project / "a.out")
            (project / "a.out").unlink()

    # Errors name a component that is missing, and a missing dependency of a component.
    for component, message in (("sqlite", "no component 'sqlite'"), ("compiled_redis", "no component 'compiled_redis'"),
                               ("nonsense", "no component 'nonsense'")):
        output = expect_failure("cmake", "-G", "Ninja", "-S", HERE / "component", "-B", scratch / component, f"-DCMAKE_CXX_COMPILER={compiler}",
                                f"-DCMAKE_PREFIX_PATH={moved}", f"-DCOMPONENT={component}", "-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=OFF")
        assert message in " ".join(output.split()), f"{component}: expected `{message}`, not\n{output}"


def version():
    return re.search(r'#define TOLLGATE_VERSION "([^"]+)"', (ROOT / "include/tollgate/base/config.hpp").read_text()).group(1)


class PackageInfo:
    """The `cpp_info` of a package or component in a recipe."""

    def __init__(self):
        self.properties, self.components = {}, collections.defaultdict(PackageInfo)
        self.requires, self.defines, self.system_libs, self.libs, self.libdirs = [], [], [], [], []

    def set_property(self, name, value):
        self.properties[name] = value


def run_conan_recipe(path, scratch, options, compiler):
    """Runs a recipe like `conan create`, with replacements for Conan's functions: CMake finds the packages of the system."""
    def copy(_, pattern, src, dst):
        for file in pathlib.Path(src).rglob("*"):
            if file.is_file() and fnmatch.fnmatch(str(file.relative_to(src)), pattern):
                target = pathlib.Path(dst) / file.relative_to(src)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, target)

    class Options(dict):
        __getattr__ = dict.__getitem__
        get_safe = dict.get

    class Toolchain:
        def __init__(self, _):
            self.cache_variables = {}

        def generate(self):
            variables.update(self.cache_variables)

    class CMake:
        def __init__(self, conanfile):
            self.folder, self.source = scratch / "build", conanfile.source_folder

        def configure(self):  # not optimized: this tests the recipe, and other tests compile a release
            configure(self.source, self.folder, compiler, "-DCMAKE_CXX_FLAGS_RELEASE=-O0", f"-DCMAKE_INSTALL_PREFIX={scratch / 'packaged'}",
                      *(f"-D{name}={'ON' if value else 'OFF'}" for name, value in variables.items()))

        def build(self):
            run("cmake", "--build", self.folder, "--parallel", "1")

        def install(self):
            run("cmake", "--install", self.folder)

    variables = {}
    for name, functions in (("conan", {"ConanFile": object}), ("conan.tools", {}),
                            ("conan.tools.build", {"check_min_cppstd": lambda *_: None}),
                            ("conan.tools.cmake", {"CMake": CMake, "CMakeToolchain": Toolchain, "cmake_layout": lambda _: None,
                                                   "CMakeDeps": lambda _: types.SimpleNamespace(generate=lambda: None)}),
                            ("conan.tools.files", {"copy": copy, "load": lambda _, file: pathlib.Path(file).read_text(),
                                                   "rmdir": lambda _, folder: shutil.rmtree(folder, ignore_errors=True)})):
        sys.modules[name] = types.ModuleType(name)
        vars(sys.modules[name]).update(functions)
    recipe = runpy.run_path(str(path))["TollgateConan"]()
    assert options.keys() == type(recipe).options.keys() == type(recipe).default_options.keys()
    recipe.recipe_folder, recipe.options, recipe.cpp_info, required = str(path.parent), Options(options), PackageInfo(), []
    recipe.requires = lambda reference, **_: required.append(reference.partition("/")[0])
    recipe.tool_requires = lambda reference: None
    recipe.export_sources_folder, recipe.package_folder = str(scratch / "exported"), str(scratch / "packaged")
    recipe.set_version()
    recipe.export_sources()
    recipe.source_folder = recipe.export_sources_folder
    recipe.layout()
    recipe.requirements()
    recipe.build_requirements()
    recipe.validate()
    recipe.generate()
    recipe.build()
    recipe.package()
    recipe.package_info()
    return recipe, required, variables


BACKENDS = {"sqlite": "sqlite3", "postgres": "libpq", "redis": "hiredis"}


def targets_of(features):
    """The names of the targets of a package with these features, which are options with the same names in Conan."""
    prefixes = ("", "compiled_") if "compiled" in features else ("",)
    return {"tollgate", *(name for name in ("compiled",) if name in features),
            *(prefix + name for name in BACKENDS if name in features for prefix in prefixes)}


def check_cmake_variables(names):
    """CMakeLists.txt or a module that it includes reads each variable, or CMake knows it by the package."""
    text = "".join(path.read_text() for path in (ROOT / "CMakeLists.txt", *(ROOT / ".cmake").glob("*.cmake")))
    for name in names:
        package = name.removeprefix("CMAKE_DISABLE_FIND_PACKAGE_")
        assert f"find_package({package} " in text if package != name else f"option({name} " in text, f"CMakeLists.txt does not know {name}"


def conan(scratch, compiler):
    """The recipe packages all that a program needs, and names targets like an installation. Conan itself is not available."""
    everything = ("compiled", *BACKENDS)
    for selected in ((), tuple(BACKENDS), ("compiled", "sqlite"), everything):
        folder = scratch / ("with_" + "_".join(selected))
        recipe, required, variables = run_conan_recipe(ROOT / ".packaging/conan/conanfile.py", folder,
                                                       {name: name in selected for name in everything}, compiler)
        check_cmake_variables(variables)
        assert all(type(recipe).default_options.values()), "an option is off by default"
        assert sorted(required) == sorted(["asio", "nlohmann_json", "openssl", *(BACKENDS[name] for name in selected if name in BACKENDS)])
        components = recipe.cpp_info.components
        for key in ("cmake_target_name", "pkg_config_name"):  # Conan links the package as a whole with each component
            names = [each.properties.get(key) for each in components.values()]
            assert recipe.cpp_info.properties[key] not in names, f"{key}: the package is named like a component"
        assert {each.properties["cmake_target_name"] for each in components.values()} == \
            {f"tollgate::{name}" for name in targets_of(selected)}
        used = {each.partition("::")[0] for component in components.values() for each in component.requires if "::" in each}
        assert used == set(required), "Conan refuses a package that no component requires"
        assert {each for component in components.values() for each in component.requires if "::" not in each} <= components.keys()
        for name in selected:
            define = f"TOLLGATE_WITH_{name.upper()}" if name in BACKENDS else "TOLLGATE_SEPARATE_COMPILATION"
            assert components[name].defines == [define]
        files = {str(path.relative_to(folder / "packaged")) for path in (folder / "packaged").rglob("*") if path.is_file()}
        assert {"licenses/LICENSE", "include/tollgate/tollgate.hpp"} <= files
        libraries = {f"lib/lib{name}.a" for component in components.values() for name in component.libs}
        assert libraries == {name for name in files if not name.startswith(("include/", "licenses/"))}
        defines = {f"-D{name}" for component in components.values() for name in component.defines}
        # A library comes before those that it requires.
        linked = [f"-l{name}" for component in reversed(components.values()) for name in component.libs]
        linked.sort(key=lambda word: word == "-ltollgate_compiled")
        program = folder / "program"
        run(compiler, "-std=c++20", *defines, "-I", folder / "packaged/include", "-isystem", "/usr/include/postgresql",
            HERE / ("backends.cpp" if selected == everything else "each_dependency.cpp"), "-o", program, "-L", folder / "packaged/lib", *linked,
            "-lsqlite3", "-lpq", "-lhiredis", "-lssl", "-lcrypto", "-pthread")
        assert recipe.version == version() and version() in run(program)


def vcpkg(scratch, compiler):
    """A program uses the installed port. vcpkg itself is not available: `run_portfile.cmake` has the functions that the port calls."""
    folder = ROOT / ".packaging/vcpkg/tollgate"
    port = json.loads((folder / "vcpkg.json").read_text())
    assert port["version"] == version(), "vcpkg.json has another version"
    assert set(port["default-features"]) == port["features"].keys() == {"compiled", *BACKENDS}
    check_cmake_variables(re.findall(r"\b(?:TOLLGATE|CMAKE_DISABLE)_\w+", (folder / "portfile.cmake").read_text()))
    for features in ("", *BACKENDS, "compiled;sqlite", ";".join(port["default-features"])):
        prefix = scratch / ("packages-" + features.replace(";", "-"))
        run("cmake", "-D", f"PORTFILE={folder / 'portfile.cmake'}", "-D", f"FEATURES={features}",
            "-D", f"CURRENT_PACKAGES_DIR={prefix}", "-D", f"BUILD_DIR={scratch / 'build'}", "-D", f"COMPILER={compiler}",
            "-P", HERE / "run_portfile.cmake")
        assert (prefix / "share/tollgate/copyright").is_file()
        expected = targets_of(features.split(";"))
        libraries = {path.relative_to(prefix).as_posix() for path in (prefix / "lib").rglob("*")}
        assert libraries == {f"lib/libtollgate_{name}.a" for name in expected if name.startswith("compiled")}
        assert (prefix / "lib").exists() == bool(libraries), "an empty folder"
        targets = (prefix / "share/tollgate/tollgate-targets.cmake").read_text()
        assert set(re.findall(r"add_library\(tollgate::(\w+)", targets)) == expected
    build_and_run("find_package", scratch, compiler, f"-DCMAKE_PREFIX_PATH={prefix}")
    build_and_run("component", scratch, compiler, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCOMPONENT=compiled_sqlite")
    for name in BACKENDS:  # without COMPONENTS, each library that is there can be linked
        configure(HERE / "component", scratch / f"only_linked_{name}", compiler, f"-DCMAKE_PREFIX_PATH={prefix}", "-DCOMPONENT=",
                  f"-DLIBRARY={name}")


def add_subdirectory(scratch, compiler):
    refresh(scratch / "snippet" / "third_party" / "tollgate")
    built = build_snippet(block(INSTALLING, "cmake", "add_subdirectory("), scratch, compiler, "tollgate::tollgate")
    for program in ("shop", "other"):
        assert version() in run(built / program)


def fetch_content(scratch, compiler):
    """CMake fetches a commit of a Git repository that has the tracked files, and an archive of it."""
    repository = scratch / "repository"
    refresh(repository)
    for words in (("init", "-q"), ("add", "-A"), ("-c", "user.name=test", "-c", "user.email=test@example.com", "commit", "-q", "-m", "All")):
        run("git", "-C", repository, *words)
    commit = run("git", "-C", repository, "rev-parse", "HEAD").strip()
    archive = scratch / f"tollgate-{version()}.tar.gz"
    run("git", "-C", repository, "archive", f"--prefix=tollgate-{version()}/", "-o", archive, commit)

    # `block` returns the snippet that starts so; the part in parentheses is what its reader replaces.
    for start, shown, real in (
        ("GIT", r"GIT_REPOSITORY (\S+) GIT_TAG (\w+)", (f"file://{repository}", commit)),
        ("URL", r"URL (\S+) URL_HASH SHA256=(\w+)", (f"file://{archive}", hashlib.sha256(archive.read_bytes()).hexdigest())),
    ):
        snippet = block(INSTALLING, "cmake", f"include(FetchContent)\nFetchContent_Declare(tollgate {start}")
        for placeholder, value in zip(re.search(shown, snippet).groups(), real):
            assert snippet.count(placeholder) == 1, f"the snippet has {placeholder} more than once"
            snippet = snippet.replace(placeholder, value)
        folder = scratch / start
        folder.mkdir()
        # Not optimized: this tests the snippets, and add_subdirectory compiles a release.
        built = build_snippet(snippet, folder, compiler, "tollgate::tollgate", definitions=["-DCMAKE_CXX_FLAGS_RELEASE=-O0"])
        for program in ("shop", "other"):
            assert version() in run(built / program)


def fetch_dependencies(scratch, compiler):
    """As on a machine without Asio and nlohmann/json. Links to the installed headers replace the fetched sources."""
    for fetched, headers in (("asio/asio/include", ("asio", "asio.hpp")), ("json/include", ("nlohmann",))):
        (scratch / fetched).mkdir(parents=True)
        for name in headers:
            (scratch / fetched / name).symlink_to(pathlib.Path("/usr/include") / name)
    build_and_run("add_subdirectory", scratch, compiler, f"-DTOLLGATE_SOURCE={ROOT}", "-DLIBRARY=tollgate::tollgate",
                  "-DTOLLGATE_FETCH_DEPENDENCIES=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_Asio=ON",
                  "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON",
                  f"-DFETCHCONTENT_SOURCE_DIR_TOLLGATE_FETCHED_ASIO={scratch / 'asio'}",
                  f"-DFETCHCONTENT_SOURCE_DIR_TOLLGATE_FETCHED_JSON={scratch / 'json'}")


def unusual_settings(scratch, compiler):
    """Configures only: package files that name no target, targets without directories, and absolute directories."""
    # Conan's tool chain prefers package files. Those of Debian's hiredis, and these, define no target.
    for package in ("asio", "hiredis"):
        folder = scratch / "packages" / "lib" / "cmake" / package
        folder.mkdir(parents=True)
        (folder / f"{package}-config.cmake").write_text("")
    includes = pathlib.Path("/opt/tollgate/include")  # CMake refuses one below the sources, as the scratch folder is
    for name, fetches in (("found", "OFF"), ("fetched", "ON")):
        build = scratch / name
        configure(ROOT, build, compiler, "-DCMAKE_FIND_PACKAGE_PREFER_CONFIG=ON", f"-DCMAKE_PREFIX_PATH={scratch / 'packages'}",
                  f"-DTOLLGATE_FETCH_DEPENDENCIES={fetches}", f"-DCMAKE_INSTALL_INCLUDEDIR={includes}")
        (package,) = build.rglob("tollgate.pc")
        os.environ["PKG_CONFIG_PATH"] = str(package.parent)
        assert run("pkg-config", "--variable=includedir", "tollgate").strip() == str(includes)
        assert "Hiredis_LIBRARY:FILEPATH=/" in (build / "CMakeCache.txt").read_text(), "a package file was taken instead of hiredis"

    # The target of another project, whose headers are where the compiler looks anyway.
    project = scratch / "target"
    project.mkdir()
    (project / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.25)\nproject(target LANGUAGES CXX)\nadd_library(asio::asio INTERFACE IMPORTED GLOBAL)\n"
        f'add_subdirectory("{ROOT}" tollgate)\n')
    for fetches in ("OFF", "ON"):
        configure(project, project / f"build_{fetches}", compiler, f"-DTOLLGATE_FETCH_DEPENDENCIES={fetches}")


METHODS = {method.__name__: method for method in (
    find_package, plain_install, vcpkg, conan, add_subdirectory, fetch_content, fetch_dependencies,
    unusual_settings)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("method", choices=METHODS)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help="emptied first")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    arguments.scratch.mkdir(parents=True)
    METHODS[arguments.method](arguments.scratch, arguments.compiler)


if __name__ == "__main__":
    main()
