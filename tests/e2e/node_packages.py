"""Third-party programs from npm, at the versions and digests of node/package-lock.json, in the build directory."""

import fcntl
import hashlib
import pathlib
import shutil
import subprocess

import harness

SOURCES = pathlib.Path(__file__).parent / "node"
INSTALL_SECONDS = 240


def directory():
    """The directory of copies of node/*.mjs and the packages that they import: node searches from the directory of a script."""
    folder = pathlib.Path(harness.program).parent.parent / "e2e-node"
    folder.mkdir(exist_ok=True)
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in parallel
        expected = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
        stamp = folder / "installed"
        if not stamp.exists() or stamp.read_text() != expected:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SOURCES / name, folder / name)
            result = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder, text=True,
                                    capture_output=True, timeout=INSTALL_SECONDS)
            if result.returncode != 0:
                raise AssertionError(f"npm ci: {result.stdout}{result.stderr}")
            stamp.write_text(expected)
        for script in SOURCES.glob("*.mjs"):
            copied = folder / script.name
            if not copied.exists() or copied.read_bytes() != script.read_bytes():
                shutil.copy(script, copied)
    return folder
