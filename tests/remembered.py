"""Runs a test, unless it passed before with the same content: remembered.py STAMP INPUT... -- COMMAND...

INPUT are the files and folders that the test depends on, beside the program itself and what FALCONBENCH_ variables
of the environment name. STAMP is the file in which a pass is kept. Only scripts/test.sh without arguments asks for what
is remembered (FALCONBENCH_REMEMBER=1): whoever names a test wants to see it run. A skipped test is not remembered."""

import hashlib
import os
import pathlib
import subprocess
import sys

OWN = "FALCONBENCH_REMEMBER"
SKIPPED = "[  SKIPPED ]", "[  PASSED  ] 0 tests", "skipped="


def add_content(digest, path):
    """Names and bytes of a file, or of all files below a folder."""
    files = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
    for file in files:
        digest.update(f"{file.relative_to(path.parent)}\0{file.stat().st_size}\0".encode())
        with open(file, "rb") as content:
            while piece := content.read(1 << 20):
                digest.update(piece)


def key_of(inputs, command):
    digest = hashlib.sha256("\0".join(command).encode())
    given = {name: value for name, value in os.environ.items() if name.startswith("FALCONBENCH_") and name != OWN}
    for name, value in sorted(given.items()):
        digest.update(f"{name}={value}\0".encode())
    for path in [pathlib.Path(__file__), pathlib.Path(command[0]), *inputs, *map(pathlib.Path, given.values())]:
        if path.exists():
            add_content(digest, path)
    return digest.hexdigest()


def main():
    split = sys.argv.index("--")
    stamp, inputs, command = pathlib.Path(sys.argv[1]), sys.argv[2:split], sys.argv[split + 1 :]
    key = key_of([pathlib.Path(name) for name in inputs], command)
    if os.environ.get(OWN) == "1" and stamp.exists() and stamp.read_text() == key:
        print("passed before with the same program and data; scripts/test.sh -R NAME runs it again")
        return 0
    stamp.unlink(missing_ok=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
    sys.stdout.write(done.stdout)
    if done.returncode == 0 and not any(mark in done.stdout for mark in SKIPPED):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        stamp.write_text(key)
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
