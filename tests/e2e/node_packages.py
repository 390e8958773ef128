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
    """Where node/*.mjs stands beside the packages that it imports: node looks for them from where a script is."""
    made = pathlib.Path(harness.program).parent.parent / "e2e-node"
    made.mkdir(exist_ok=True)
    with open(made / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run beside each other
        wanted = hashlib.sha256((SOURCES / "package-lock.json").read_bytes()).hexdigest()
        stamp = made / "installed"
        if not stamp.exists() or stamp.read_text() != wanted:
            for name in ("package.json", "package-lock.json"):
                shutil.copy(SOURCES / name, made / name)
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=made, text=True,
                                  capture_output=True, timeout=INSTALL_SECONDS)
            if done.returncode != 0:
                raise AssertionError(f"npm ci: {done.stdout}{done.stderr}")
            stamp.write_text(wanted)
        for script in SOURCES.glob("*.mjs"):
            copied = made / script.name
            if not copied.exists() or copied.read_bytes() != script.read_bytes():
                shutil.copy(script, copied)
    return made
