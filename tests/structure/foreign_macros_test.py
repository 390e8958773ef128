#!/usr/bin/env python3
"""Macros of <windows.h>, X11 and others do not break the single header, which has the text of all headers.

The headers of other projects are included first. Then each macro is defined as text that does not compile, and then
Tollgate's header is included.
"""

import re
import sys

import sources
import toolchain

# Common words among the macros of <windows.h>, then of X11, then of some C libraries.
OBJECT_LIKE = """
    ABSOLUTE ALTERNATE BOOL CALLBACK CONST CreateDirectory CreateEvent CreateFile CreateMutex CreateWindow DELETE
    DELETE_KEY DIFFERENCE DOMAIN DeleteFile ERROR FALSE FAR GET GetClassName GetCommandLine GetCurrentTime GetMessage
    GetObject GetTempPath GetUserName IGNORE IN INFINITE IN_PROGRESS InsertMenu LoadLibrary MoveFile NEAR NO_ERROR
    OPAQUE OPTIONAL OUT PASSTHROUGH PURE READ_CONTROL RELATIVE RemoveDirectory ReportEvent SYNCHRONIZE SendMessage
    SetPort StartService THIS TRANSPARENT TRUE UNICODE VOID Yield far hyper interface near pascal rad1 small cdecl
    Always Bool Complex Cursor False GrabModeSync KeyPress None Status Success True Unsorted
    BSD DEBUG FAIL LINUX OK PUT POST RELEASE VERSION WARNING major minor unix linux
""".split()
FUNCTION_LIKE = ["max(a, b)", "min(a, b)"]

POISON = ") tollgate_must_not_use_this_word ("


def poisoned(external):
    # Some headers have different paths on different machines.
    lines = [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in external]
    for macro in OBJECT_LIKE:
        lines += [f"#undef {macro}", f"#define {macro} {POISON}"]
    for macro in FUNCTION_LIKE:
        lines += [f"#undef {macro.split('(')[0]}", f"#define {macro} {POISON}"]
    return "\n".join([*lines, "#include <tollgate/tollgate.hpp>", ""])


def main():
    arguments = toolchain.parser(__doc__).parse_args()
    single = sources.ROOT / "single_include"
    text = sources.read(single / "tollgate" / "tollgate.hpp")
    external = re.findall(r"^#include <([^>]+)>", text, re.MULTILINE)
    code = poisoned([name for name in external if not name.startswith("tollgate/")])

    compiler = toolchain.Compiler(arguments.compiler, [str(single), *arguments.includes[1:]])
    compiles, output = compiler.check(code, "-DTOLLGATE_WITH_SQLITE", "-DTOLLGATE_WITH_POSTGRES", "-DTOLLGATE_WITH_REDIS",
                                      "-DTOLLGATE_WITH_ASIO", "-DTOLLGATE_WITH_DISPATCHER")
    print(f"{len(OBJECT_LIKE) + len(FUNCTION_LIKE)} macros break nothing" if compiles else
          f"the single header does not compile after the macros of others:\n{output}")
    sys.exit(0 if compiles else 1)


if __name__ == "__main__":
    main()
