"""Macros of <windows.h>, X11, Qt, <term.h> and others, which must not break Tollgate's headers."""

import re

import sources

# Common words among the macros of <windows.h>, then of X11, then of some C libraries; Qt's keywords; <complex.h> and <term.h>.
OBJECT_LIKE = """
    ABSOLUTE ALTERNATE BOOL CALLBACK CONST CreateDirectory CreateEvent CreateFile CreateMutex CreateWindow DELETE
    DELETE_KEY DIFFERENCE DOMAIN DeleteFile ERROR FALSE FAR GET GetClassName GetCommandLine GetCurrentTime GetMessage
    GetObject GetTempPath GetUserName IGNORE IN INFINITE IN_PROGRESS InsertMenu LoadLibrary MoveFile NEAR NO_ERROR
    OPAQUE OPTIONAL OUT PASSTHROUGH PURE READ_CONTROL RELATIVE RemoveDirectory ReportEvent SYNCHRONIZE SendMessage
    SetPort StartService THIS TRANSPARENT TRUE UNICODE VOID Yield far hyper interface near pascal rad1 small cdecl
    Always Bool Complex Cursor False GrabModeSync KeyPress None Status Success True Unsorted
    BSD DEBUG FAIL LINUX OK PUT POST RELEASE VERSION WARNING major minor unix linux
    emit forever signals slots Q_EMIT Q_SIGNALS Q_SLOTS
    I complex
    auto_left_margin bell buttons can_change carriage_return columns form_feed generic_type hangup init_file lines newline pulse reset_file
    tab tone user0 user1 user2 wait_tone width_status_line xoff_character xon_character
""".split()
FUNCTION_LIKE = ["max(a, b)", "min(a, b)"]

POISON = ") tollgate_must_not_use_this_word ("


def poison():
    """Code before Tollgate's headers: the headers of other projects, and then each macro as text that does not compile."""
    text = sources.read(sources.ROOT / "single_include" / "tollgate" / "tollgate.hpp")
    # Boost.Asio takes the place of Asio.
    external = [name for name in re.findall(r"^#include <([^>]+)>", text, re.MULTILINE) if not name.startswith(("tollgate/", "boost/"))]
    # Some headers have different paths on different machines.
    lines = [f"#if __has_include(<{name}>)\n#include <{name}>\n#endif" for name in external]
    for macro in [*OBJECT_LIKE, *FUNCTION_LIKE]:
        lines += [f"#undef {macro.split('(')[0]}", f"#define {macro} {POISON}"]
    return "\n".join([*lines, ""])
