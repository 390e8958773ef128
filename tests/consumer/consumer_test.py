#!/usr/bin/env python3
"""Builds and runs a program that uses the library through find_package, add_subdirectory, FetchContent, pkg-config, or one line."""

import argparse
import ast
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]


def run(*command):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}")
    return done.stdout


def fail(*command):
    """What a command says that must not succeed."""
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, check=False)
    if done.returncode == 0:
        sys.exit(f"{' '.join(map(str, command))}\nsucceeded:\n{done.stdout}")
    return done.stdout


def configure(source, build, compiler, *definitions):
    run("cmake", "-G", "Ninja", "-S", source, "-B", build, f"-DCMAKE_CXX_COMPILER={compiler}", *definitions)


def build_and_run(way, scratch, compiler, *definitions):
    configure(HERE / way, scratch / "consumer", compiler, *definitions)
    run("cmake", "--build", scratch / "consumer", "--parallel", "1")
    programs = sorted(path for path in (scratch / "consumer").glob("consumer*") if path.is_file())
    assert programs, "no program was built"
    for program in programs:
        print(program.name + ":", run(program).strip())


def find_package(scratch, compiler):
    configure(ROOT, scratch / "tollgate", compiler, "-DTOLLGATE_BUILD_COMPILED=ON", "-DTOLLGATE_BUILD_TESTS=OFF",
              "-DTOLLGATE_BUILD_EXAMPLES=OFF", "-DTOLLGATE_BUILD_SERVER=OFF")
    run("cmake", "--build", scratch / "tollgate", "--parallel", "1")
    run("cmake", "--install", scratch / "tollgate", "--prefix", scratch / "installed")
    # Only what was installed may be used from here on: another place must do as well.
    shutil.move(scratch / "installed", scratch / "moved")
    shutil.rmtree(scratch / "tollgate")
    build_and_run("find_package", scratch, compiler, f"-DCMAKE_PREFIX_PATH={scratch / 'moved'}")


OPTIONAL = ("SQLite3", "PostgreSQL", "Hiredis", "Boost", "Catch2", "CLI11")


def install_plainly(scratch, *definitions):
    """As on a machine with nothing but what the library needs, by the two commands of docs/installing.md."""
    run("cmake", "-S", ROOT, "-B", scratch / "plain", *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in OPTIONAL), *definitions)
    run("cmake", "--install", scratch / "plain", "--prefix", scratch / "installed")
    return scratch / "installed"


def plain_install(scratch, compiler):
    installed = install_plainly(scratch, f"-DCMAKE_CXX_COMPILER={compiler}")
    for file in ("include/tollgate/tollgate.hpp", "share/cmake/tollgate/tollgate-config.cmake", "share/pkgconfig/tollgate.pc",
                 "share/doc/tollgate/LICENSE"):
        assert (installed / file).is_file(), f"{file} is not installed"

    # pkg-config, from a place to which it was moved.
    moved = scratch / "moved"
    shutil.move(installed, moved)
    os.environ["PKG_CONFIG_PATH"] = str(moved / "share/pkgconfig")
    flags = run("pkg-config", "--cflags", "--libs", "tollgate").split()
    program = scratch / "program"
    run(compiler, "-std=c++20", HERE / "main.cpp", "-o", program, *flags)
    assert run("pkg-config", "--modversion", "tollgate").strip() in run(program)

    # A component that is not there is named, and so is what one needs.
    for component, said in (("sqlite", "no component 'sqlite'"), ("compiled_redis", "no component 'compiled_redis'"),
                            ("nonsense", "no component 'nonsense'")):
        output = fail("cmake", "-G", "Ninja", "-S", HERE / "component", "-B", scratch / component, f"-DCMAKE_CXX_COMPILER={compiler}",
                      f"-DCMAKE_PREFIX_PATH={moved}", f"-DCOMPONENT={component}", "-DCMAKE_DISABLE_FIND_PACKAGE_SQLite3=OFF")
        assert said in " ".join(output.split()), f"{component}: expected `{said}`, not\n{output}"


def recipes(scratch, compiler):
    """What package managers are told is true. They are not available where this is tested."""
    version = re.search(r'#define TOLLGATE_VERSION "([^"]+)"', (ROOT / "include/tollgate/base/config.hpp").read_text()).group(1)
    packaging = ROOT / ".packaging"
    port = json.loads((packaging / "vcpkg/tollgate/vcpkg.json").read_text())
    assert port["version"] == version, "vcpkg.json has another version"
    portfile = (packaging / "vcpkg/tollgate/portfile.cmake").read_text()
    switches = dict(re.findall(r"^    (\w+) CMAKE_DISABLE_FIND_PACKAGE_(\w+)", portfile, re.MULTILINE))
    assert switches.keys() == port["features"].keys(), "the port has other features than switches"
    targets = (ROOT / ".cmake/TollgateDependencies.cmake").read_text()
    for package in switches.values():
        assert f"find_package({package} " in targets, f"nothing finds {package}"
    up, path = (packaging / "vcpkg/tollgate"), re.search(r"CMAKE_CURRENT_LIST_DIR}/([./]+)", portfile).group(1)
    assert (up / path).resolve() == ROOT, "the port does not lead to its checkout"
    fixed_up = re.search(r"CONFIG_PATH (\S+)\)", portfile).group(1)
    installed = install_plainly(scratch, f"-DCMAKE_CXX_COMPILER={compiler}")
    assert (installed / fixed_up / "tollgate-config.cmake").is_file(), "the port looks for the CMake package elsewhere"

    recipe = ast.parse((packaging / "conan/conanfile.py").read_text())
    options = next(ast.literal_eval(node.value) for node in ast.walk(recipe)
                   if isinstance(node, ast.Assign) and node.targets[0].id == "options")
    assert options.keys() == port["features"].keys(), "the recipes have different options"
    exported = {node.value for node in ast.walk(recipe) if isinstance(node, ast.Constant) and node.value in ("include/*", "LICENSE")}
    assert exported == {"include/*", "LICENSE"}


def add_subdirectory(scratch, compiler):
    build_and_run("add_subdirectory", scratch, compiler, f"-DTOLLGATE_SOURCE={ROOT}")


def fetch_content(scratch, compiler):
    build_and_run("fetch_content", scratch, compiler, f"-DTOLLGATE_SOURCE={ROOT}",
                  "-DFETCHCONTENT_FULLY_DISCONNECTED=ON")


def fetch_dependencies(scratch, compiler):
    """As on a machine without Asio and nlohmann/json; what would be fetched is made of the installed headers."""
    for fetched, headers in (("asio/asio/include", ("asio", "asio.hpp")), ("json/include", ("nlohmann",))):
        (scratch / fetched).mkdir(parents=True)
        for name in headers:
            (scratch / fetched / name).symlink_to(pathlib.Path("/usr/include") / name)
    build_and_run("add_subdirectory", scratch, compiler, f"-DTOLLGATE_SOURCE={ROOT}",
                  "-DTOLLGATE_FETCH_DEPENDENCIES=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_Asio=ON",
                  "-DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON",
                  f"-DFETCHCONTENT_SOURCE_DIR_TOLLGATE_FETCHED_ASIO={scratch / 'asio'}",
                  f"-DFETCHCONTENT_SOURCE_DIR_TOLLGATE_FETCHED_JSON={scratch / 'json'}")


def one_line(scratch, compiler):
    """The single header needs no build system."""
    program = scratch / "consumer"
    run(compiler, "-std=c++20", "-I", ROOT / "single_include", HERE / "main.cpp", "-o", program,
        "-lssl", "-lcrypto", "-pthread")
    print(run(program).strip())


WAYS = {way.__name__: way for way in (find_package, plain_install, recipes, add_subdirectory, fetch_content, fetch_dependencies, one_line)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=WAYS)
    parser.add_argument("--compiler", required=True)
    parser.add_argument("--scratch", required=True, type=pathlib.Path, help="emptied first")
    arguments = parser.parse_args()
    shutil.rmtree(arguments.scratch, ignore_errors=True)
    arguments.scratch.mkdir(parents=True)
    WAYS[arguments.way](arguments.scratch, arguments.compiler)


if __name__ == "__main__":
    main()
