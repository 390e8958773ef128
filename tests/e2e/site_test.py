#!/usr/bin/env python3
"""`docs/build`: it makes a page of each document, links lead somewhere, pictures are there, and Chromium shows the pages in each size and
color scheme.

With TOLLGATE_SHOTS=folder it also takes a screenshot of each page."""

import functools
import html.parser
import http.server
import json
import os
import pathlib
import shutil
import subprocess
import threading
import urllib.parse

import harness
import node_packages
from harness import DEADLINE_SECONDS, ROOT, Case, main, temporary_directory

BUILD_SECONDS = 300
PAGES_OF_REFERENCE = ["reference/index.html", "reference/classtollgate_1_1account__service.html"]
harness.stall_guard.allow(BUILD_SECONDS)


class Page(html.parser.HTMLParser):
    """The anchors and links of a page."""

    def __init__(self, path):
        super().__init__()
        self.anchors, self.links = set(), []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name in ("id", "name"):
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.links.append((tag, value))


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def find_faults(folder):
    """Links of the documents' pages that lead nowhere, and what pages load from other hosts. Doxygen's own pages are only targets."""
    pages = {path: Page(path) for path in folder.rglob("*.html") if "reference" not in path.relative_to(folder).parts}
    for path, page in pages.items():
        for tag, link in page.links:
            to = urllib.parse.urlsplit(link)
            if to.scheme or to.netloc:
                if tag in ("img", "link", "script"):
                    yield f"{path.relative_to(folder)} loads {link}"
                continue
            name = urllib.parse.unquote(to.path)
            target = folder / name[1:] if name.startswith("/") else (path.parent / name).resolve() if name else path
            if not target.exists():
                yield f"{path.relative_to(folder)}: nothing at {link}"
            elif to.fragment and target in pages and urllib.parse.unquote(to.fragment) not in pages[target].anchors:
                yield f"{path.relative_to(folder)}: no heading at {link}"


class Site(Case):
    def test_faults_are_found(self):
        with temporary_directory() as folder:
            (folder / "b.html").write_text('<h1 id="here">b</h1>')
            for link, fault in (("b.html", None), ("b.html#here", None), ("https://c.example", None), ("b.html#there", "no heading"),
                                ("c.html", "nothing at")):
                (folder / "a.html").write_text(f'<a href="{link}">b</a>')
                faults = list(find_faults(folder))
                self.assertEqual(fault is not None, bool(faults), faults)
                self.assertIn(fault or "", "".join(faults))
            (folder / "a.html").write_text('<img src="https://c.example/d.png">')
            self.assertEqual(["a.html loads https://c.example/d.png"], list(find_faults(folder)))

    def test_the_site(self):
        with temporary_directory() as scratch:
            built = subprocess.run([ROOT / "docs" / "build", scratch], capture_output=True, text=True, timeout=BUILD_SECONDS)
            self.assertEqual(0, built.returncode, built.stderr)
            folder = pathlib.Path(scratch).resolve() / "html"
            self.assertEqual(str(folder / "index.html"), built.stdout.strip())
            harness.stall_guard.progress()

            documents = [path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")]
            pages = ["index.html", "changelog.html"]
            pages += [str((path.with_name("index.md") if path.name == "README.md" else path).with_suffix(".html")) for path in documents]
            for name in [*pages, *PAGES_OF_REFERENCE]:
                self.assertTrue((folder / name).is_file(), name)
            for picture in (ROOT / "docs" / "images").glob("*.*g"):
                self.assertEqual(picture.read_bytes(), (folder / "images" / picture.name).read_bytes())
            self.assertEqual([], list(find_faults(folder)))
            # Each document can be reached from the first page.
            linked = {link.partition("#")[0] for _, link in Page(folder / "index.html").links}
            self.assertLessEqual({name for name in pages if "/" not in name}, linked)
            self.assertIn("reference/index.html", linked)
            words = json.loads((folder / "search" / "search_index.json").read_text())["docs"]
            self.assertLessEqual(set(pages), {each["location"].partition("#")[0] for each in words})

            code = next(folder.glob("files/**/settings.cpp.html")).relative_to(folder)
            self.show(folder, [name for name in pages if "/" not in name or name.endswith("index.html")] + PAGES_OF_REFERENCE + [str(code)])

    def show(self, folder, pages):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=folder))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            config = {"site": f"http://127.0.0.1:{server.server_port}/", "pages": pages, "searched": "webhook", "chromium": shutil.which("chromium"),
                      "seconds": DEADLINE_SECONDS, "screenshots": os.environ.get("TOLLGATE_SHOTS")}
            with subprocess.Popen(["node", "site.mjs"], cwd=node_packages.directory(), text=True, stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE) as browser:
                browser.stdin.write(json.dumps(config) + "\n")
                browser.stdin.close()
                log = []
                for line in browser.stderr:  # a line for each page
                    log.append(line)
                    harness.stall_guard.progress()
                output = browser.stdout.read()
            self.assertEqual(0, browser.returncode, "".join(log[-20:]))
            self.assertEqual([], json.loads(output))
        finally:
            server.shutdown()
            server.server_close()


if __name__ == "__main__":
    main()
