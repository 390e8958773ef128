#!/usr/bin/env python3
"""Prepares a header for Doxygen: a comment is valid for all declarations that follow it without an empty line, the members at
the head of a class included, and a comment at the end of a declaration documents it.

Declarations that end in `= default;` or `= delete;` say all there is to say and are left out, like specialisations of std::hash.
"""

import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/<)/?(?!\s*\[)\s?(.*)$")
CODE = re.compile(r"^(\s*)[A-Za-z_\[~:]")
CLASS = re.compile(r"^\s*(template <.*> )?(struct|class|enum|enum class|union) [^;]*\{$")
NOT_DECLARED = re.compile(r"\s*(#|//|namespace|template <>$|static_assert|friend (class|struct)|(public|private|protected):)")
TRAILING = re.compile(r"^(\s*[A-Za-z_\[].*[;,}]\s*)//(?!/<)\s*(.*)$")


def filtered(lines):
    doc, indent, starts = "", "", True
    fresh = False  # the comment stands right above this line, so that Doxygen sees it by itself
    hidden = 0  # braces of a specialisation that is left out
    for line in lines:
        line = line.rstrip("\n").replace("namespace tollgate::inline v0", "namespace tollgate")  # as programs write it
        code = line.split("//")[0].rstrip()
        if hidden or line.startswith("struct std::hash<"):
            hidden += line.count("{") - line.count("}")
            yield ""
            continue
        comment = COMMENT.match(line)
        if comment and (starts or doc) and not code.strip():
            doc = f"{doc} {comment.group(2)}" if fresh else comment.group(2)
            fresh, indent = True, comment.group(1)
            yield f"{indent}/// {comment.group(2)}"
            continue
        first = CODE.match(line)
        if not line.strip():
            doc = ""
        elif starts and NOT_DECLARED.match(line):
            doc = ""
        elif starts and re.search(r"= (default|delete);$", code):
            line = ""
        elif starts and first and len(first.group(1)) < len(indent):
            doc = ""
        elif starts and first and first.group(1) == indent:
            trailing = TRAILING.match(line)
            if trailing:
                line = f"{trailing.group(1)}///< {trailing.group(2)}"
            elif doc and not fresh:
                line = f"{indent}/** {doc} */ {line.lstrip()}"  # in one line, as Doxygen counts them
        if CLASS.match(code):
            indent += "    "
        fresh = False
        yield line
        if code:
            starts = code.endswith((";", "{", "}", ":", ","))  # a comma ends an enumerator


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        print("\n".join(filtered(file.readlines())))
