#!/usr/bin/env python3
"""Builds and runs a program that uses the library through find_package, add_subdirectory, FetchContent, or one line."""

import argparse
import pathlib
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


WAYS = {way.__name__: way for way in (find_package, add_subdirectory, fetch_content, fetch_dependencies, one_line)}


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
