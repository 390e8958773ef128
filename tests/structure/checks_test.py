#!/usr/bin/env python3
"""Each check of this directory accepts a valid small project and reports an invalid one."""

import importlib.util
import pathlib
import tempfile
import unittest

import compilers_test
import docs_test
import exemplars_test
import modules_test
import layout_test
import public_headers_test
import rules_test
import sources
import version_test

spec = importlib.util.spec_from_file_location("amalgamate", sources.ROOT / "single_include" / "amalgamate.py")
amalgamate = importlib.util.module_from_spec(spec)
spec.loader.exec_module(amalgamate)

SEPARATE = "#if !defined(TOLLGATE_SEPARATE_COMPILATION)\n#include <{}>\n#endif\n"


class Project(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.base = pathlib.Path(scratch.name)
        (self.base / "include" / "tollgate").mkdir(parents=True)

    def write(self, name, text):
        path = self.base / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def header(self, name, *includes, text=""):
        lines = "".join(f"#include <{include}>\n" for include in includes)
        self.write(f"include/tollgate/{name}", f"#pragma once\n{lines}{text}")

    def assert_finding(self, check, part):
        findings = check(self.base)
        self.assertEqual(len(findings), 1, findings)
        self.assertIn(part, findings[0])


class Modules(Project):
    def test_includes_of_lower_modules_and_the_same_module(self):
        self.header("base/a.hpp")
        self.header("base/b.hpp", "tollgate/base/a.hpp")
        self.header("http/c.hpp", "tollgate/base/b.hpp", "vector")
        self.header("server/d.hpp", "tollgate/http/c.hpp")
        self.header("tollgate.hpp", "tollgate/server/d.hpp")
        self.assertEqual(modules_test.check(self.base), [])

    def test_an_include_of_a_higher_module(self):
        self.header("http/c.hpp")
        self.header("base/a.hpp", "tollgate/http/c.hpp")
        self.assert_finding(modules_test.check, "includes <tollgate/http/c.hpp>")

    def test_bodies_follow_the_rule_of_headers(self):
        self.header("http/c.hpp")
        self.header("base/a.ipp", "tollgate/http/c.hpp")
        self.assert_finding(modules_test.check, "which is not below")

    def test_modules_of_one_level_do_not_include_each_other(self):
        self.header("pages/a.hpp")
        self.header("oauth/b.hpp", "tollgate/pages/a.hpp")
        self.assert_finding(modules_test.check, "which is not below")

    def test_no_module_includes_a_leaf(self):
        self.header("store/a.hpp")
        self.header("webhooks/b.hpp", "tollgate/store/a.hpp")
        self.assert_finding(modules_test.check, "which is not below")

    def test_a_leaf_includes_up_to_its_level(self):
        self.header("model/a.hpp")
        self.header("store/b.hpp", "tollgate/model/a.hpp")
        self.assertEqual(modules_test.check(self.base), [])
        self.header("server/c.hpp", "tollgate/model/a.hpp")
        self.assert_finding(modules_test.check, "which is not below")

    def test_a_cycle(self):
        self.header("base/a.hpp", "tollgate/base/b.hpp")
        self.header("base/b.hpp", "tollgate/base/c.hpp")
        self.header("base/c.hpp", "tollgate/base/a.hpp")
        self.assert_finding(modules_test.check, "a cycle of includes")

    def test_bodies_close_no_cycle(self):
        self.header("base/a.hpp", text=SEPARATE.format("tollgate/base/a.ipp"))
        self.header("base/a.ipp", "tollgate/base/a.hpp")
        self.assertEqual(modules_test.check(self.base), [])

    def test_two_headers_that_need_each_other(self):
        self.header("base/a.hpp", text=SEPARATE.format("tollgate/base/b.hpp"))
        self.header("base/b.hpp", "tollgate/base/a.hpp")
        self.assertEqual(modules_test.check(self.base), [])

    def test_bodies_need_a_header_that_includes_their_own(self):
        self.header("base/a.hpp", text="class a;\n" + SEPARATE.format("tollgate/base/a.ipp"))
        self.header("base/a.ipp", "tollgate/base/b.hpp", text="void f(b);\n")
        self.header("base/b.hpp", "tollgate/base/a.hpp", text="class b;\n")
        self.assert_finding(modules_test.check, "base/b.hpp cannot be included first: tollgate/base/a.ipp needs tollgate/base/b.hpp")

    def test_bodies_need_bodies_that_include_their_header(self):
        self.header("base/a.hpp", text="class a;\n" + SEPARATE.format("tollgate/base/a.ipp"))
        self.header("base/a.ipp", "tollgate/base/b.ipp", text="void f(b);\n")
        self.header("base/b.ipp", "tollgate/base/a.hpp", text="class b;\n")
        self.assertEqual(modules_test.check(self.base), [])

    def test_a_header_includes_another_after_its_declarations(self):
        self.header("base/a.hpp", text="// A comment.\nclass a;\n\n// The rest.\n" + SEPARATE.format("tollgate/base/b.hpp"))
        self.header("base/b.hpp", "tollgate/base/a.hpp", text="class b;\n")
        self.assertEqual(modules_test.check(self.base), [])

    def test_a_missing_header(self):
        self.header("http/a.hpp", "tollgate/base/b.hpp")
        self.assert_finding(modules_test.check, "does not exist")

    def test_the_umbrella_is_for_users(self):
        self.header("tollgate.hpp")
        self.header("http/a.hpp", "tollgate/tollgate.hpp")
        self.assert_finding(modules_test.check, "for users")

    def test_an_unknown_module(self):
        self.header("attic/a.hpp")
        self.assert_finding(modules_test.check, "is not a module")


class Layout(Project):
    def test_good(self):
        self.header("base/a.hpp", text="#define TOLLGATE_A 1\nnamespace tollgate {}\n")
        self.header("base/b.hpp", text='static_assert(true, "tollgate: no; read tollgate/base/a.hpp");\n')
        self.header("manual/a_html.ipp", text="x" * 141)
        self.write(".ci/run", "")
        self.write("build/log", "FIX" "ME")
        self.assertEqual(layout_test.check(self.base), [])

    def test_bad(self):
        for name, text, part in (
            ("src/a.cpp", "", "does not belong at the top"),
            (".json", "", "does not belong at the top"),
            ("docs/a.md", "TO" "DO: write", "unfinished"),
            ("tests/a.sh", "npm --registry https://registry" ".npmjs" ".org", "package registry"),
            ("examples/a.cpp", "x" * 141, "columns"),
            ("examples/a.cpp", "int a; ", "ends in a blank"),
            ("include/tollgate/base/a.hpp", "int a;\n", "no #pragma once"),
            ("include/tollgate/base/a.hpp", "#pragma once\n" * (501 + layout_test.GUARD_LINES), "501 lines"),
            ("include/tollgate/base/a.hpp", "#pragma once\n#define A\n", "macro without TOLLGATE_"),
            ("include/tollgate/base/a.hpp", "#pragma once\nusing namespace std;\n", "using directive"),
            ("include/tollgate/base/a.hpp", "#pragma once\nnamespace {\n}\n", "unnamed namespace"),
            ("include/tollgate/base/a.hpp", '#pragma once\nstatic_assert(true, "read tollgate/base/c.hpp");\n', "which does not exist"),
        ):
            with self.subTest(part):
                self.write(name, text)
                self.assert_finding(layout_test.check, part)
                (self.base / name).unlink()
                if name.startswith("src/"):
                    (self.base / "src").rmdir()


class Docs(Project):
    def setUp(self):
        super().setUp()
        self.write("docs/good.md", "[itself](good.md)\n\n<!-- snippet: docs/good.cpp -->\n```cpp\nint good;\n```\n")
        self.write("docs/good.cpp", "int good;\n")

    def test_something_must_be_found(self):
        self.write("docs/good.md", "[itself](good.md)\n")
        self.assert_finding(docs_test.check, "no block of C++ was found")
        self.write("docs/good.md", "<!-- snippet: docs/good.cpp -->\n```cpp\nint good;\n```\n")
        self.assert_finding(docs_test.check, "no link was found")

    def test_figures(self):
        def figures(*names):
            return "".join(f"<!-- figures: {name} -->\n| a |\n<!-- /figures -->\n\n" for name in names)

        self.write("README.md", f"{figures('machine', 'summary')}| b |\n")
        self.write("docs/benchmarks.md", figures("machine", "users"))
        self.assertEqual(docs_test.check(self.base), [])
        for page in ("README.md", "docs/benchmarks.md"):
            good = (self.base / page).read_text(encoding="utf-8")
            for text, part in ((figures("users"), "the figures"), (figures("machine", "speed"), "the figures"),
                               (figures("machine", "users", "users"), "the figures"),
                               (figures("machine").replace("| a |", "| another day |"), "not of one run")):
                with self.subTest(page=page, text=text):
                    self.write(page, text)
                    self.assert_finding(docs_test.check, part)
            self.write(page, good)
        self.write("docs/benchmarks.md", figures("machine") + "| c |\n")
        self.assert_finding(docs_test.check, "a table of figures")

    def test_properties_of_the_theme(self):
        self.write("include/tollgate/web/detail/plain_theme_style.hpp", ":root { --ink: #000; --paper: #fff; }\n")
        self.write("docs/pages.md", "| property | color of |\n|---|---|\n| `--ink`, `--paper` | text, background |\n")
        self.assertEqual(docs_test.check(self.base), [])
        self.write("docs/pages.md", "| property | color of |\n|---|---|\n| `--ink` | text |\n")
        self.assert_finding(docs_test.check, "--paper is not listed")
        self.write("docs/pages.md", "| property | color of |\n|---|---|\n| `--ink`, `--paper`, `--pen` | text |\n")
        self.assert_finding(docs_test.check, "--pen is no property of the style sheet")

    def test_plots(self):
        page = ("<!-- figures: machine -->\nToday\n<!-- /figures -->\n\n<!-- figures: users -->\n| store | ratio |\n|---|--:|\n| **a & b** | 1.00 |\n"
                "| c | – |\n| d | 1,234.5 k |\n<!-- /figures -->\n")
        shown = page + "\n![the same](images/benchmark-users.svg)\n"
        svg = docs_test.plot.plots(page)["users"]
        self.assertEqual(set(docs_test.plot.plots(page)), {"users"})
        self.assertEqual([svg.count("<rect "), svg.count('<g class="own">'), svg.count("a &amp; b")], [2, 1, 1])
        self.write("docs/benchmarks.md", shown)
        self.write("docs/images/benchmark-users.svg", svg)
        self.assertEqual(docs_test.check(self.base), [])
        self.write("docs/benchmarks.md", page)
        self.assert_finding(docs_test.check, "does not show")
        self.write("docs/benchmarks.md", shown.replace("1.00", "2.00"))
        self.assert_finding(docs_test.check, "not the plot of its table")
        docs_test.plot.write(self.base / "docs" / "benchmarks.md")
        self.assertEqual(docs_test.check(self.base), [])

    def test_links(self):
        self.write("docs/a.md", "# Some Heading\n")
        self.write("README.md", "[a](docs/a.md) [b](docs/a.md#some-heading) [c](https://example.com/x) ![d](docs)\n")
        self.assertEqual(docs_test.check(self.base), [])
        self.write("README.md", "[a](docs/b.md)\n")
        self.assert_finding(docs_test.check, "has no target")
        self.write("README.md", "[a](docs/a.md#another)\n")
        self.assert_finding(docs_test.check, "no such heading")

    def test_records(self):
        def record(number, *parts, lines=1):
            return f"# {number}. A Title\n" + "".join(f"\n## {part}\n\n" + "Text.\n" * lines for part in parts)

        parts = docs_test.RECORD_PARTS
        listed = "- [0001 A Title](0001-a.md)\n"
        self.write("docs/decisions/README.md", listed)
        self.write("docs/decisions/0001-a.md", record(1, *parts))
        self.assertEqual(docs_test.check(self.base), [])
        for text, part in ((record(2, *parts), "the number"), (record(1, *parts[1:]), "the parts"), (record(1, *parts, lines=20), "lines")):
            with self.subTest(part):
                self.write("docs/decisions/0001-a.md", text)
                self.assert_finding(docs_test.check, part)
        self.write("docs/decisions/0001-a.md", record(1, *parts))
        self.write("docs/decisions/0003-b.md", record(2, *parts))
        self.write("docs/decisions/README.md", listed + "- [0003 A Title](0003-b.md)\n")
        self.assert_finding(docs_test.check, "the number")
        (self.base / "docs/decisions/0003-b.md").rename(self.base / "docs/decisions/0002-b.md")
        self.write("docs/decisions/README.md", listed)
        self.assert_finding(docs_test.check, "the list")

    def test_snippets(self):
        self.write("examples/a/main.cpp", "int before;\n    // [part]\n    int a;\n    int b;\n    // [/part]\n")
        self.write("README.md", "<!-- snippet: examples/a/main.cpp part -->\n```cpp\nint a;\nint b;\n```\n")
        self.assertEqual(docs_test.check(self.base), [])
        for page, part in (
            ("```cpp\nint a;\n```\n", "without `<!-- snippet"),
            ("<!-- snippet: examples/a/main.cpp -->\n```cpp\nint a;\n```\n", "differs"),
            ("<!-- snippet: examples/a/main.cpp other -->\n```cpp\nint a;\n```\n", "has no part"),
            ("<!-- snippet: examples/b.cpp -->\n```cpp\nint a;\n```\n", "does not exist"),
        ):
            with self.subTest(part):
                self.write("README.md", page)
                self.assert_finding(docs_test.check, part)


class Version(Project):
    def setUp(self):
        super().setUp()
        self.good = {
            "README.md": "The current version is 0.3.1.\n",
            "CHANGELOG.md": "# Changelog\n\n## 0.3.1 - 2026-02-03\n\n## 0.3.0 - 2026-01-02\n",
            "CMakeLists.txt": "file(STRINGS include/tollgate/base/config.hpp version_line)\n",
            ".packaging/conan/conanfile.py": 'load("config.hpp")\n',
            ".packaging/vcpkg/tollgate/vcpkg.json": '{"version": "0.3.1"}\n',
            ".cmake/tollgate.pc.in": "Version: @PROJECT_VERSION@\n",
            "docs/installing.md": 'find_package(tollgate 0.3 REQUIRED)\n`"0.3.1"`\n',
            "tests/consumer/a/CMakeLists.txt": "find_package(tollgate 0.3 REQUIRED)\n",
        }
        self.set_version("0.3.1")
        for name, text in self.good.items():
            self.write(name, text)

    def set_version(self, text):
        numbers = "".join(f"#define TOLLGATE_VERSION_{name} {number}\n" for name, number in zip(("MAJOR", "MINOR", "PATCH"), text.split(".")))
        self.write("include/tollgate/base/config.hpp", f'{numbers}#define TOLLGATE_VERSION "{text}"\n')

    def test_every_copy_is_compared(self):
        self.assertEqual(version_test.check(self.base), [])
        for name, text, part in (
            ("include/tollgate/base/config.hpp",
             '#define TOLLGATE_VERSION_MAJOR 0\n#define TOLLGATE_VERSION_MINOR 2\n#define TOLLGATE_VERSION_PATCH 1\n#define TOLLGATE_VERSION "0.3.1"\n',
             "not its three numbers"),
            ("README.md", "The current version is 0.3.0.\n", "the current version is 0.3.1"),
            ("CMakeLists.txt", "project(tollgate VERSION 0.3.1)\n", "does not take its version"),
            (".packaging/conan/conanfile.py", 'load("config.hpp")\nversion = "0.3.1"\n', "does not take its version"),
            (".cmake/tollgate.pc.in", "Version: 0.3.1\n", "does not take its version"),
            (".packaging/vcpkg/tollgate/vcpkg.json", '{"version": "0.3.0"}\n', "the version is not 0.3.1"),
            ("docs/installing.md", 'find_package(tollgate 0.2 REQUIRED)\n`"0.3.1"`\n', "asks for 0.2"),
            ("docs/installing.md", '`"0.3.0"`\n', "TOLLGATE_VERSION is not 0.3.1"),
            ("tests/consumer/a/CMakeLists.txt", "find_package(tollgate 0.2 REQUIRED)\n", "asks for 0.2"),
            ("CHANGELOG.md", "## 0.3.0 - 2026-01-02\n", "the first section is not of 0.3.1"),
            ("CHANGELOG.md", "## 0.3.1 - unreleased\n", "is not `## NUMBER - DATE`"),
            ("CHANGELOG.md", "## Unreleased\n", "is not `## NUMBER - DATE`"),
            ("CHANGELOG.md", "## 0.3.1 - 2026-01-02\n\n## Unreleased\n", "is not `## NUMBER - DATE`"),
            ("CHANGELOG.md", "## 0.3.1 - 2026-01-02\n\n## 0.3.2 - 2026-01-01\n", "the newest version is not first"),
            ("CHANGELOG.md", "## 0.3.1 - 2026-01-01\n\n## 0.3.0 - 2026-01-02\n", "the newest version is not first"),
        ):
            with self.subTest(part):
                good = (self.base / name).read_text()
                self.write(name, text)
                self.assert_finding(version_test.check, part)
                self.write(name, good)

    def test_the_number_changes_with_each_break(self):
        for newest, parts, lowest, too_low in (("0.3.0", "### Fixed", "0.3.1", "0.3.0"), ("0.2.7", "### Added\n\n- A.\n\n### Breaking", "0.3.0", "0.2.8"),
                                               ("1.2.3", "### Breaking", "2.0.0", "1.3.0"), ("1.2.3", "### Added", "1.2.4", "1.2.3")):
            self.write("CHANGELOG.md", f"## Unreleased\n\n{parts}\n\n## {newest} - 2026-01-02\n\n### Breaking\n")
            for version, findings in ((lowest, 0), (too_low, 1)):
                with self.subTest(newest=newest, version=version):
                    self.set_version(version)
                    self.assertEqual(len(list(version_test.check_changelog(self.base))), findings)


class Rules(Project):
    def setUp(self):
        super().setUp()
        self.good = {
            "docs/api.md": "`GET /a/{b}`\n",
            "README.md": "Asio 1.22 CMake 3.25\n## Compilers\n" + " ".join(
                sorted({*compilers_test.WARNINGS, *compilers_test.OF_GCC} - {"-Werror"})) + "\n",
            "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\n",
            ".cmake/TollgateDependencies.cmake": "    find_package(Asio 1.22 MODULE)\n",
            "docs/contributing.md": "`base`, `http`: TOLLGATE_A\n",
            "docs/embedding.md": "tollgate/base/limits.hpp\n\n| field of `account_service_settings` | default |\n|---|---|\n| `a`, `b` | 1 |\n",
            "include/tollgate/api/service.hpp": "namespace tollgate::inline v0 {\nstruct account_service_settings {\n"
                                                "    std::string a;\n    int b = 1;  ///< text\n    int c = 2;\n};\n}\n",
            "include/tollgate/api/routes.ipp": 'on_get<"/a/{b}?{c}">(\n',
            "include/tollgate/base/limits.hpp": "inline constexpr int a_max = 1;  // reason\n// Reason.\ninline constexpr int b_max = 2;\n",
            "include/tollgate/contract/a.hpp": '/// Thread rule: any.\n"read tollgate/contract/a.hpp"\n',
            "tests/compile_fail/a.cpp": "// expect: read tollgate/contract/a.hpp\n",
            "tests/unit/CMakeLists.txt": "set(quick_under_address_sanitizer base http)\n",
            "tests/unit/base/b_test.cpp": "#include <tollgate/base/detail/a.hpp>\n#define TOLLGATE_A\n",
            "tests/unit/base/c_test.cpp": '#include "../../../examples/c.hpp"\n',
            "tests/e2e/a_test.py": 'self.skipTest("for SQLite")\n',
        }
        for name, text in self.good.items():
            self.write(name, text)

    def test_good(self):
        self.assertEqual(rules_test.check(self.base), [])

    def test_bad(self):
        for name, text, part in (
            ("docs/api.md", "`GET /a/{c}`\n", "has no `GET /a/{b}`"),
            ("README.md", self.good["README.md"].replace("1.22", "1.2"), "minimum is Asio 1.22"),
            ("README.md", self.good["README.md"].replace("3.25", "3.24"), "minimum is CMake 3.25"),
            ("README.md", self.good["README.md"].replace(" -Wshadow", ""), "-Wshadow"),
            ("README.md", self.good["README.md"] + " -Wother\n", "-Wother"),
            ("docs/contributing.md", "`http`: TOLLGATE_A\n", "does not list `base`, `http`"),
            ("docs/contributing.md", "`base`, `http`: TOLLGATE_B\n", "TOLLGATE_B is not in the code"),
            ("docs/contributing.md", "`base`, `http`: tollgate/a.hpp\n", "tollgate/a.hpp does not exist"),
            ("docs/embedding.md", self.good["docs/embedding.md"].replace("`a`, `b`", "`b`, `a`"), "are not in the order"),
            ("docs/embedding.md", self.good["docs/embedding.md"].replace("`b`", "`d`"), "are not in the order"),
            ("include/tollgate/base/a.hpp", "namespace tollgate {\n}\n", "without the inline namespace"),
            ("include/tollgate/base/a.hpp", "namespace tollgate::http {\n}\n", "without the inline namespace"),
            ("include/tollgate/base/limits.hpp", "inline constexpr int a_max = 1;\n", "a_max has no reason"),
            ("include/tollgate/contract/a.hpp", "", "no rule about threads"),
            ("include/tollgate/base/a.hpp", "::sigaction(2, &now, nullptr);\n", "signal handler"),
            ("include/tollgate/base/a.hpp", "#if defined(__linux__)\n#endif\n", "__linux__ belongs in base/detail/system/"),
            ("include/tollgate/base/a.hpp", "#include <sys/socket.h>\n", "<sys/socket.h> belongs in base/detail/system/"),
            ("include/tollgate/base/a.hpp", "::pipe2(ends, 0);\n", "pipe2 belongs in base/detail/system/"),
            ("tests/compile_fail/a.cpp", "", "does not satisfy tollgate/contract/a.hpp"),
            ("tests/unit/base/b_test.cpp", "#include <vector>\n#define TOLLGATE_A\n", "the first include"),
            ("tests/unit/base/b_test.cpp", "#include <tollgate/http/a.hpp>\n#define TOLLGATE_A\n", "the first include"),
            ("tests/e2e/a_test.py", 'self.skipTest("no PostgreSQL")\n', "skips a test"),
            ("tests/unit/base/b_test.cpp", "#include <tollgate/base/a.hpp>\n#define TOLLGATE_A\nSKIP();\n", "skips a test"),
        ):
            with self.subTest(part):
                self.write(name, text)
                self.assert_finding(rules_test.check, part)
                self.write(name, self.good.get(name, ""))

    def test_subjects(self):
        for subject, faults in (("Add a rule", 0), ("A" * 72, 0), ("A" * 73, 1), ("Add a rule.", 1), ("add a rule", 1)):
            with self.subTest(subject):
                self.assertEqual(len(list(rules_test.faults_of_subject(subject))), faults)


class Exemplars(Project):
    def test_something_must_be_found(self):
        self.header("contract/a.hpp", text="/// Example:\n///\n///     struct a {};\n")
        self.assert_finding(exemplars_test.check, "no exemplar was found")

    def test_equal_to_the_compiled_exemplar(self):
        self.header("contract/a.hpp", text="/// Exemplar:\n///\n///     struct a {\n///         int b;\n///     };\nint c;\n")
        self.write(exemplars_test.TEST, "struct a {\n    int b;\n};\n")
        self.assertEqual(exemplars_test.check(self.base), [])

    def test_different_from_the_compiled_exemplar(self):
        self.header("contract/a.hpp", text="/// Exemplar:\n///\n///     struct a {};\n")
        self.write(exemplars_test.TEST, "struct b {};\n")
        self.assert_finding(exemplars_test.check, "is not in")


class PublicHeaders(Project):
    def setUp(self):
        super().setUp()
        self.header("base/a.hpp")
        self.header("base/detail/b.hpp")
        self.write("docs/headers.md", "`tollgate/base/a.hpp`")

    def test_good(self):
        self.write("examples/a/main.cpp", "#include <tollgate/base/a.hpp>\n")
        self.assertEqual(public_headers_test.check(self.base), [])

    def test_an_example_includes_a_private_header(self):
        self.write("examples/a/main.cpp", "#include <tollgate/base/detail/b.hpp>\n")
        self.assert_finding(public_headers_test.check, "private")

    def test_a_document_includes_a_private_header(self):
        self.write("docs/b.md", "```cpp\n#include <tollgate/base/detail/b.hpp>\n```\n")
        self.assert_finding(public_headers_test.check, "private")

    def test_a_public_header_without_a_document(self):
        self.header("base/c.hpp")
        self.assert_finding(public_headers_test.check, "no document names")


class SingleHeader(Project):
    def setUp(self):
        super().setUp()
        self.header("base/config.hpp", text='#define TOLLGATE_VERSION "1.2.3"\n')

    def single(self):
        include = self.base / "include"
        return amalgamate.Amalgam(include, amalgamate.umbrella_text(include)).single_header()

    def assert_refused(self, part):
        with self.assertRaises(amalgamate.Stop) as stopped:
            self.single()
        self.assertIn(part, str(stopped.exception))

    def test_declarations_come_before_bodies(self):
        self.header("base/a.hpp", "string", text="void a();\n" + SEPARATE.format("tollgate/base/a.ipp"))
        self.header("base/a.ipp", "tollgate/base/a.hpp", "vector", text="void a() {}\n")
        self.header("http/b.hpp", "string", text="void b();\n")
        text = self.single()
        self.assertEqual(text.count("#include <string>"), 1)
        order = [text.index(part) for part in ("#include <string>", "void a();", "void b();", amalgamate.BODIES_SWITCH,
                                               "#include <vector>", "void a() {}")]
        self.assertEqual(order, sorted(order))
        self.assertNotIn("#include <tollgate/", text)

    def test_two_headers_that_need_each_other(self):
        both = "".join(f"#include <tollgate/base/{name}.ipp>\n" for name in "ab")
        self.header("base/a.hpp", text="void a();\n" + SEPARATE.format("tollgate/base/b.hpp"))
        self.header("base/b.hpp", "tollgate/base/a.hpp",
                    text=f"void b();\n#if !defined(TOLLGATE_SEPARATE_COMPILATION)\n{both}#endif\n")
        self.header("base/a.ipp", "tollgate/base/b.hpp", text="void a() { b(); }\n")
        self.header("base/b.ipp", "tollgate/base/b.hpp", text="void b() { a(); }\n")
        text = self.single()
        parts = ("void a();", "void b();", amalgamate.BODIES_SWITCH, "void a() {", "void b() {")
        order = [text.index(part) for part in parts]
        self.assertEqual(order, sorted(order))

    def test_an_optional_part_has_a_switch(self):
        self.header("store/sqlite.hpp", text="void s();\n" + SEPARATE.format("tollgate/store/sqlite.ipp"))
        self.header("store/sqlite.ipp", "tollgate/store/sqlite.hpp", "sqlite3.h", text="void s() {}\n")
        text = self.single()
        order = [text.index(part) for part in ("#if defined(TOLLGATE_WITH_SQLITE)", "void s();", "#include <sqlite3.h>",
                                               "void s() {}", "#endif  // TOLLGATE_WITH_SQLITE")]
        self.assertEqual(order, sorted(order))

    def test_bodies_that_are_not_included_at_the_end(self):
        self.header("base/a.hpp", "tollgate/base/a.ipp")
        self.header("base/a.ipp")
        self.assert_refused("at the end of their header")

    def test_bodies_that_bodies_share(self):
        both = "".join(f"#include <tollgate/base/{name}.ipp>\n" for name in "ab")
        self.header("base/a.hpp", text=f"class a;\n#if !defined(TOLLGATE_SEPARATE_COMPILATION)\n{both}#endif\n")
        self.header("base/a.ipp", "tollgate/base/shared.ipp", text="void a() {}\n")
        self.header("base/b.ipp", "tollgate/base/shared.ipp", text="void b() {}\n")
        self.header("base/shared.ipp", "tollgate/base/a.hpp", text="class shared;\n")
        text = self.single()
        self.assertEqual(text.count("class shared;"), 1)
        order = [text.index(part) for part in ("class a;", amalgamate.BODIES_SWITCH, "class shared;", "void a() {}", "void b() {}")]
        self.assertEqual(order, sorted(order))

    def test_a_header_behind_a_condition(self):
        self.header("base/a.hpp", text="#if defined(__linux__)\n#include <tollgate/base/config.hpp>\n#endif\n")
        self.assert_refused("behind a condition")


if __name__ == "__main__":
    unittest.main()
