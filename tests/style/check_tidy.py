"""clang-tidy 14 on sources: check_tidy.py ROOT BUILD [FILE... | --engine]; without files, on the Torch-free ones of src/.

A source that passed is not looked at again until it, a project header that it includes, the configuration or this
script changes: falconbench/tidy in the user's cache folder holds one empty file for each passed content, beside what
ccache holds, so that clones share it."""

import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile

from check_format import tool
from layers import is_engine
from style import report, self_test

# Folders that clang-tidy has nothing to say about; a folder joins when that is so. The others: give FILE.
HELD = ("base", "launch", "platform", "spec", "telemetry")

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^">]+)[">]', re.M)
FINDING = re.compile(r"^(.+?):(\d+):\d+: (?:error|warning): (.+)$", re.M)


def content(root, path, seen):
    """Texts of a source and of the project's headers that it includes, in the order of first sight."""
    if path in seen:
        return
    seen.add(path)
    with open(os.path.join(root, path), encoding="utf-8") as file:
        text = file.read()
    yield text
    for name in INCLUDE.findall(text):
        for folder in ("src", "include", os.path.dirname(path)):
            if os.path.isfile(os.path.join(root, folder, name)):
                yield from content(root, os.path.normpath(os.path.join(folder, name)), seen)
                break


def key(root, path, rules):
    return hashlib.sha256("\0".join([rules, path, *content(root, path, set())]).encode()).hexdigest()


def findings_of(command, source, root):
    """Findings as (path, line, message); one in a system header is told of the source, one without a place as it is."""
    done = subprocess.run(command, capture_output=True, text=True)
    found = set()
    for path, line, message in FINDING.findall(done.stdout):
        place = os.path.relpath(path, root)
        found.add((source, 1, f"{path}:{line}: {message}") if place.startswith("..") else (place, int(line), message))
    if done.returncode and not found:
        found.add((source, 1, (done.stderr or done.stdout).strip()))
    return sorted(found)


def sources(root, build, asked):
    with open(os.path.join(build, "compile_commands.json"), encoding="utf-8") as file:
        known = {os.path.relpath(entry["file"], root) for entry in json.load(file)}
    if asked and asked != ["--engine"]:
        unknown = [path for path in asked if path not in known]
        if unknown:
            sys.exit(f"not compiled in {build}: {' '.join(unknown)}")
        return asked
    return sorted(
        path
        for path in known
        if path.startswith("src/") and path.endswith(".cpp") and is_engine(path) == bool(asked)
        if asked or path.split("/")[1] in HELD
    )


def main():
    root, build = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    tidy = tool("clang-tidy")
    configuration = os.path.join(root, ".clang-tidy")

    def check_text(tree):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "a.cpp")
            with open(source, "w", encoding="utf-8") as file:
                file.write(tree["a.cpp"])
            command = [tidy, "--quiet", f"--config-file={configuration}", source, "--", "-std=c++20"]
            return findings_of(command, "a.cpp", folder)

    self_test(
        check_text,
        flagged=[({"a.cpp": "int BadName();\n"}, "readability-identifier-naming")],
        passing=[{"a.cpp": "int good_name();\n"}],
    )

    version = re.search(r"version \S+", subprocess.run([tidy, "--version"], capture_output=True, text=True).stdout)[0]
    texts = [open(path, encoding="utf-8").read() for path in (configuration, os.path.abspath(__file__))]
    rules = "\0".join([version, *texts])
    caches = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    passed = os.path.join(caches, "falconbench", "tidy")
    os.makedirs(passed, exist_ok=True)

    def look_at(path):
        stamp = os.path.join(passed, key(root, path, rules))
        if os.path.exists(stamp):
            return []
        found = findings_of(
            [
                tidy,
                "--quiet",
                "-p",
                build,
                f"--config-file={configuration}",
                "--extra-arg=-Wno-unknown-warning-option",
                os.path.join(root, path),
            ],
            path,
            root,
        )
        if not found:
            open(stamp, "w", encoding="utf-8").close()
        return found

    paths = sources(root, build, sys.argv[3:])
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        findings = [found for some in pool.map(look_at, paths) for found in some]
    report(sorted(set(findings)), len(paths), "sources")


if __name__ == "__main__":
    main()
