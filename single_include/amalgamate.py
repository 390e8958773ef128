#!/usr/bin/env python3
"""Writes what is generated from include/tollgate:

    include/tollgate/tollgate.hpp           the umbrella header: includes all public ones
    single_include/tollgate/tollgate.hpp    the umbrella header and all it needs, in one file
    include/tollgate/impl/src.hpp           every body, for tollgate::compiled
    include/tollgate/impl/detail/src_<part>.hpp    the bodies of a part that has its own switch, such as SQLite
    the include guard of each file below include/tollgate, beside its `#pragma once`

    amalgamate.py                     write them
    amalgamate.py --check             write nothing, exit 1 if one is stale
    amalgamate.py --forwarders DIR    for each header whose declarations are in the single one, write DIR/tollgate/... that includes it

The rules that make it one pass over the files, each checked below:

 1. A header includes its bodies (`.ipp`) last, behind `#if !defined(TOLLGATE_SEPARATE_COMPILATION)`, and nowhere else;
    where two nouns need each other, there may stand the other's header, which brings the bodies of both.
    Bodies include headers and, where several files of bodies need what only they see, a file of bodies.
    In the single header all declarations come first, then all bodies behind one switch; headers that only bodies need
    stay behind it too, so that separate compilation spares them.
 2. Of our headers, one `#if` deep, the umbrella alone includes any: optional parts with a switch of their own
    (`TOLLGATE_WITH_SQLITE`), after everything else.
    The server brings its part on Asio along where it needs it. `TOLLGATE_SERVER_ASIO` includes `TOLLGATE_WITH_ASIO`, so the single header
    has that part then.
 3. Includes of other libraries move to the top of their part; those inside an `#if` stay where they are.
"""

import argparse
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
UMBRELLA = "tollgate/tollgate.hpp"
SINGLE = ROOT / "single_include" / UMBRELLA
IMPL = "tollgate/impl/"

# The modules, from the lowest to the highest. `testing` is for the tests of an adapter, not for the program.
MODULES = ["base", "http", "model", "contract", "limits", "policy", "account", "monitoring", "pipeline", "web", "webhooks", "oauth", "pages",
           "manual", "api", "store", "server"]
# Parts that need a library of their own stay out unless their macro is defined: how the names of their public headers begin.
SWITCHED = {
    "TOLLGATE_WITH_ASIO": "tollgate/server/asio",
    "TOLLGATE_WITH_DISPATCHER": ("tollgate/webhooks/hook_dispatcher", "tollgate/webhooks/document_fetcher"),
    "TOLLGATE_WITH_SQLITE": "tollgate/store/sqlite",
    "TOLLGATE_WITH_POSTGRES": "tollgate/store/postgres",
    "TOLLGATE_WITH_REDIS": "tollgate/limits/redis",
}

INCLUDE = re.compile(r"\s*#\s*include\s*<([^>]+)>")
OWN = re.compile(r"tollgate/.+\.(hpp|ipp)$")
CONDITION = re.compile(r"\s*#\s*(if|ifdef|ifndef|else|elif|endif)\b")
SWITCH = re.compile(r"\s*#\s*if\s+defined\((TOLLGATE_WITH_\w+)\)\s*$")
ASIO_BEGIN = "#if defined(TOLLGATE_SERVER_ASIO)"
BODIES_BEGIN = "#if !defined(TOLLGATE_SEPARATE_COMPILATION)"
BODIES_SWITCH = "#if !defined(TOLLGATE_SEPARATE_COMPILATION) || defined(TOLLGATE_SOURCE)"


def guard_of(name):
    """The macro that guards a file, so that the single header and include/, or two copies of either, may meet in one unit."""
    return re.sub(r"[^A-Z0-9]+", "_", name.upper())


def guarded(name, text):
    """The text of a file with its include guard; one that it already has is replaced."""
    lines = text.rstrip("\n").split("\n")
    at = lines.index("#pragma once") if "#pragma once" in lines else -1
    if at < 0:
        raise Stop(f"include/{name}: no `#pragma once`")
    if at + 2 < len(lines) and lines[at + 1].startswith("#ifndef TOLLGATE_") and lines[at + 2].startswith("#define TOLLGATE_"):
        if not lines[-1].startswith("#endif  // TOLLGATE_"):
            raise Stop(f"include/{name}: the include guard does not end in the last line")
        del lines[-1], lines[at + 1:at + 3]
    guard = guard_of(name)
    while lines[-1] == "":
        lines.pop()
    return "\n".join([*lines[:at + 1], f"#ifndef {guard}", f"#define {guard}", *lines[at + 1:], "", f"#endif  // {guard}"]) + "\n"


class Stop(Exception):
    """A file that breaks one of the rules; the text names it and its line."""


class Source:
    """One of our files, taken apart: its text without includes, and what it includes where."""

    def __init__(self, name, text):
        self.name = name
        self.own = []  # headers of ours, in order
        self.optional = []  # (macro, header) of the optional parts, each behind a switch
        self.bodies = []  # what it includes last, for its bodies
        self.external = []  # headers of others that may move
        self.text = []
        guard = guard_of(name)
        self.guard = (f"#ifndef {guard}", f"#define {guard}", f"#endif  // {guard}")
        self._read(text.splitlines())

    def _read(self, lines):
        depth = 0
        switch = None
        bodies = False
        brought_along = False
        for number, line in enumerate(lines, 1):
            if line.strip() in ("#pragma once", *self.guard):
                continue
            if line.strip() == BODIES_BEGIN and number < len(lines) and "<tollgate/" in lines[number]:
                bodies = True
                continue
            if bodies and line.strip() == "#endif":
                bodies = False
                continue
            if line.strip() == ASIO_BEGIN and number < len(lines) and f"<{SWITCHED['TOLLGATE_WITH_ASIO']}" in lines[number]:
                brought_along = True
                continue
            if brought_along:
                brought_along = line.strip() != "#endif"
                continue
            included = INCLUDE.match(line)
            target = included.group(1) if included else None
            if bodies:
                if not target or not OWN.match(target):
                    self._stop(number, "the block of bodies holds nothing but includes of ours")
                self.bodies.append(target)
                continue
            if target and OWN.match(target):
                self._own_include(number, target, depth, switch)
                continue
            if target and depth == 0:
                self.external.append(target)
                continue
            condition = CONDITION.match(line)
            if condition and self.name == UMBRELLA:
                found = SWITCH.match(line)
                if condition.group(1) == "if" and found:
                    switch = found.group(1)
                elif condition.group(1) == "if" and line.strip() == "#if defined(TOLLGATE_SOURCE)":
                    switch = "TOLLGATE_SOURCE"
                elif condition.group(1) == "endif" and switch:
                    switch = None
                else:
                    self._stop(number, "the umbrella knows `#if defined(TOLLGATE_WITH_...)` and no other condition")
                continue
            if condition and condition.group(1) in ("if", "ifdef", "ifndef"):
                depth += 1
            elif condition and condition.group(1) == "endif":
                depth -= 1
            self.text.append(line.rstrip())
        if depth != 0 or bodies:
            self._stop(len(lines), "an #if without its #endif")

    def _own_include(self, number, target, depth, switch):
        if target.startswith(IMPL):
            if switch != "TOLLGATE_SOURCE":
                self._stop(number, "only the umbrella includes impl/, for TOLLGATE_SOURCE")
        elif target.endswith(".ipp") and self.name.endswith(".hpp"):
            self._stop(number, "bodies stand at the end of their header, behind TOLLGATE_SEPARATE_COMPILATION")
        elif switch:
            self.optional.append((switch, target))
        elif depth != 0:
            self._stop(number, "only the umbrella includes a header of ours behind a condition")
        elif self.optional:
            self._stop(number, "optional parts come last")
        else:
            self.own.append(target)

    def _stop(self, number, why):
        raise Stop(f"include/{self.name}:{number}: {why}")


class Part:
    """A run of files in the order in which the preprocessor would meet them."""

    def __init__(self, bodies=False):
        self.bodies = bodies
        self.files = []
        self.external = []


class Amalgam:
    def __init__(self, include_dir, umbrella_text):
        self.include_dir = include_dir
        self.sources = {UMBRELLA: Source(UMBRELLA, umbrella_text)}
        self.placed = set()
        self.hidden = set()  # what stands among the bodies, out of sight under separate compilation
        umbrella = self._source(UMBRELLA)
        self.core = Part()
        for name in umbrella.own + self._shared_by_parts():
            self._place(name, self.core)
        self.core_bodies = Part(bodies=True)
        self.core_body_names = self._place_bodies(self.core, self.core_bodies)
        # Each optional part: (macro, its headers, its bodies, the names of its bodies).
        self.optional = []
        for macro in dict.fromkeys(macro for macro, _ in umbrella.optional):
            headers, bodies = Part(), Part(bodies=True)
            for part_macro, name in umbrella.optional:
                if part_macro == macro:
                    self._place(name, headers)
            self.optional.append((macro, headers, bodies, self._place_bodies(headers, bodies)))

    def headers(self):
        """The headers whose declarations are there under separate compilation, too."""
        return [name for part in [self.core, *(headers for _, headers, _, _ in self.optional)] for name in part.files]

    def _source(self, name):
        if name not in self.sources:
            if not (self.include_dir / name).is_file():
                raise Stop(f"include/{name} is included and does not exist")
            self.sources[name] = Source(name, guarded(name, self._raw(name)))
        return self.sources[name]

    def _shared_by_parts(self):
        """Headers that more than one part needs, the core and those with a switch: they stand where all see them."""
        parts = {}
        for macro, name in self._source(UMBRELLA).optional:
            parts.setdefault(macro, []).append(name)
        reached = [self._reach(self._source(UMBRELLA).own), *(self._reach(names) for names in parts.values())]
        count = collections.Counter(name for names in reached for name in names if name.endswith(".hpp"))
        return sorted(name for name, times in count.items() if times > 1)

    def _reach(self, names):
        """All files that these include, for their bodies, too."""
        seen = set()
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name not in seen:
                seen.add(name)
                source = self._source(name)
                waiting += source.own + source.bodies
        return seen

    def _place(self, name, part):
        """Puts a file behind all that it includes."""
        if name in self.hidden and not part.bodies:
            raise Stop(f"include/{name}: a header of an optional part needs what only bodies needed: let the umbrella include it")
        if name in self.placed:
            return
        self.placed.add(name)
        if part.bodies:
            self.hidden.add(name)
        source = self._source(name)
        if name.endswith(".ipp") and source.bodies:
            raise Stop(f"include/{name}: bodies have no bodies")
        for needed in source.own:
            self._place(needed, part)
        part.files.append(name)
        part.external += source.external

    def _place_bodies(self, headers, bodies):
        """The bodies of all headers placed so far, and of the headers that these bodies bring, and so on."""
        names = []
        waiting = list(headers.files)
        while waiting:
            header = waiting.pop(0)
            for body in self._source(header).bodies:
                before = len(bodies.files)
                self._place(body, bodies)
                waiting += [name for name in bodies.files[before:] if name.endswith(".hpp")]
                if body.endswith(".ipp") and body not in names:
                    names.append(body)
        return names

    def single_header(self):
        version = re.search(r'#define TOLLGATE_VERSION "([^"]+)"', self._raw("tollgate/base/config.hpp")).group(1)
        licence = (ROOT / "LICENSE").read_text(encoding="utf-8").strip().splitlines()
        out = [f"// Tollgate {version}, the whole library in one header. Generated from include/tollgate by",
               "// single_include/amalgamate.py: change it there.", "//", "// SPDX-License-Identifier: MIT", "//"]
        out += [f"// {line}".rstrip() for line in licence]
        out += ["", "#pragma once", ""]
        seen = self._write(out, self.core, set())
        out += ["", BODIES_SWITCH, ""]
        seen_by_bodies = self._write(out, self.core_bodies, seen)
        out += ["", "#endif  // bodies"]
        for macro, headers, bodies, _ in self.optional:
            out += ["", f"#if defined({macro})", ""]
            seen_by_part = self._write(out, headers, seen)
            out += ["", BODIES_SWITCH, ""]
            self._write(out, bodies, seen_by_bodies | seen_by_part)
            out += ["", "#endif  // bodies", "", f"#endif  // {macro}"]
        text = "\n".join(out) + "\n"
        return re.sub(r"\n{3,}", "\n\n", text)

    def _raw(self, name):
        return (self.include_dir / name).read_text(encoding="utf-8")

    def _write(self, out, part, seen):
        """Appends a part; returns the headers of others that are included behind it."""
        # The standard library last: a third-party header that forgets one of its includes is found by its own users.
        external = sorted(set(part.external) - seen, key=lambda name: ("/" not in name and "." not in name, name))
        out += [f"#include <{name}>" for name in external]
        for name in part.files:
            begin, define, end = self.sources[name].guard
            out += ["", f"// <{name}>", begin, define, "", *self.sources[name].text, "", end]
        return seen | set(external)

    def compiled_sources(self):
        """The generated headers under impl/, by name."""
        note = ["// Generated by single_include/amalgamate.py."]
        guard = ["", "#if !defined(TOLLGATE_SEPARATE_COMPILATION)",
                 "#error Define TOLLGATE_SEPARATE_COMPILATION for every translation unit of the program.", "#endif"]
        files = {}
        core = ["#pragma once", "",
                "/// Every body of the library. Include it in exactly one translation unit of a program whose translation",
                "/// units all define `TOLLGATE_SEPARATE_COMPILATION`.", *note]
        core += [*guard, ""] + [f"#include <{name}>" for name in sorted(self.core_body_names)]
        for macro, _, _, _ in self.optional:
            core += ["", f"#if defined({macro})", f"#include <{self._part_source(macro)}>", "#endif"]
        files[IMPL + "src.hpp"] = core
        for macro, _, _, names in self.optional:
            text = ["#pragma once", "",
                    f"/// The bodies of what `{macro}` adds, for one translation unit, beside <{IMPL}src.hpp>.", *note]
            text += [*guard, ""] + [f"#include <{name}>" for name in sorted(names)]
            files[self._part_source(macro)] = text
        return {name: "\n".join(lines) + "\n" for name, lines in files.items()}

    @staticmethod
    def _part_source(macro):
        return f"{IMPL}detail/src_{macro.removeprefix('TOLLGATE_WITH_').lower()}.hpp"


def umbrella_text(include_dir):
    out = ["#pragma once", "",
           "/// All public headers, without the parts that need a library of their own: databases, Redis, and what includes Asio (the",
           "/// server on your executor, and the webhook dispatcher). Define a macro to add one: `TOLLGATE_WITH_SQLITE`,",
           "/// `TOLLGATE_WITH_POSTGRES`, `TOLLGATE_WITH_REDIS`, `TOLLGATE_WITH_ASIO`, `TOLLGATE_WITH_DISPATCHER`.",
           "///", "/// With `TOLLGATE_SEPARATE_COMPILATION` defined everywhere, one translation unit defines `TOLLGATE_SOURCE`",
           "/// too and gets all bodies; this holds for the single header as well.", "// Generated by single_include/amalgamate.py.", ""]
    names = [path.relative_to(include_dir).as_posix() for path in sorted(include_dir.glob("tollgate/*/*.hpp"))]
    names = [name for name in names if not name.startswith(IMPL)]
    switched = {name: macro for macro, prefix in SWITCHED.items() for name in names if name.startswith(prefix)}
    for module in MODULES:
        lines = [f"#include <{name}>" for name in names if name.startswith(f"tollgate/{module}/") and name not in switched]
        out += [*lines, ""] if lines else []
    for macro in dict.fromkeys(switched.values()):
        lines = [f"#include <{name}>" for name in names if switched.get(name) == macro]
        out += [f"#if defined({macro})", *lines, "#endif", ""]
    out += ["#if defined(TOLLGATE_SOURCE)", f"#include <{IMPL}src.hpp>", "#endif"]
    return "\n".join(out) + "\n"


def outputs(include_dir):
    umbrella = umbrella_text(include_dir)
    amalgam = Amalgam(include_dir, umbrella)
    files = {path.relative_to(include_dir).as_posix(): path.read_text(encoding="utf-8")
             for path in sorted(include_dir.glob("tollgate/**/*.[hi]pp"))}
    files |= {**amalgam.compiled_sources(), UMBRELLA: umbrella}
    wanted = {include_dir / name: guarded(name, text) for name, text in files.items()}
    wanted[SINGLE] = amalgam.single_header()
    return amalgam, wanted


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--forwarders", type=pathlib.Path, metavar="DIR")
    arguments = parser.parse_args()
    try:
        amalgam, wanted = outputs(ROOT / "include")
    except Stop as why:
        sys.exit(f"amalgamate.py: {why}")
    if arguments.forwarders:
        forwarders = {arguments.forwarders / name for name in amalgam.headers()}
        for path in forwarders:
            write(path, f"#pragma once\n#include <{UMBRELLA}>\n")
        for path in set(arguments.forwarders.rglob("*.hpp")) - forwarders:  # of headers that have moved
            path.unlink()
    elif arguments.check:
        stale = [str(path.relative_to(ROOT)) for path, text in wanted.items()
                 if not path.is_file() or path.read_text(encoding="utf-8") != text]
        if stale:
            sys.exit(f"amalgamate.py: stale: {', '.join(stale)}; run single_include/amalgamate.py and commit the result")
    else:
        for path, text in wanted.items():
            write(path, text)


if __name__ == "__main__":
    main()
