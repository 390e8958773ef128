#!/usr/bin/env python3
"""The script still makes the pictures of the documents, in which they are all shown."""

import re
import struct

import pictures
from harness import ROOT, Case, main, temporary_directory


def size_of(png):
    """Width and height of a picture in PNG format."""
    header, width, height = struct.unpack(">16sII", png[:24])
    assert header.startswith(b"\x89PNG\r\n\x1a\n"), header
    return width, height


class Pictures(Case):
    def test_the_script_makes_the_pictures_of_the_documents(self):
        committed = {path.name: path.read_bytes() for path in pictures.FOLDER.glob("*.png")}
        with temporary_directory() as folder:
            names = pictures.make(folder)
            made = {name: (folder / name).read_bytes() for name in names}
        self.assertEqual(set(committed), set(made))
        for name, picture in made.items():
            with self.subTest(name):
                self.assertEqual(size_of(picture), size_of(committed[name]))
                for each in (picture, committed[name]):
                    self.assertLess(len(each), pictures.BYTES_MAX)

    def test_documents_show_all_pictures(self):
        readme = (ROOT / "README.md").read_text(encoding="utf-8")
        self.assertEqual({path.name for path in pictures.FOLDER.glob("*.png")}, set(re.findall(r"docs/images/([\w-]+\.png)", readme)))


if __name__ == "__main__":
    main()
