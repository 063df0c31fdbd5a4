"""Shared by the style checks: the project's files, code without comments, and the frame that each check runs in.

A check is a function from a tree (path -> text) to findings (path, line, message). It comes with cases that it must
flag and cases that it must let pass; they run first, so a check that has stopped seeing its fault fails."""

import os
import re
import subprocess
import sys

SKIPPED = 77  # ctest's SKIP_RETURN_CODE
IGNORED = re.compile(r"^(\.git|\.deps|\.deps\.new|\.venv|build|build-.*|reports|data|\.carry|__pycache__)/")


def project_files(root):
    """Paths of the tracked files and of those that are not tracked yet, without ignored ones."""
    try:
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
    except (OSError, subprocess.CalledProcessError):  # no git, or an export without history
        listed = [
            os.path.relpath(os.path.join(folder, name), root) for folder, _, names in os.walk(root) for name in names
        ]
    return sorted(
        path for path in listed if path and not IGNORED.match(path) and os.path.isfile(os.path.join(root, path))
    )


def read_tree(root, wanted):
    """Text of the files whose path matches the pattern; bytes that are no UTF-8 become surrogates."""
    tree = {}
    for path in project_files(root):
        if re.search(wanted, path):
            with open(os.path.join(root, path), encoding="utf-8", errors="surrogateescape") as file:
                tree[path] = file.read()
    return tree


CODE_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"([^()\\ ]*)\(.*?\)\1"|"(?:\\.|[^"\\\n])*"|(?<![0-9A-Fa-f])\'(?:\\.|[^\'\\\n])+\'', re.S
)


def code_only(text, keep_strings=False):
    """C++ without comments and, unless kept, without the contents of literals; lines keep their numbers."""

    def blank(match):
        token = match.group(0)
        if keep_strings and not token.startswith("/"):
            return token
        return ('""' if token[0] in "\"R'" else " ") + "\n" * token.count("\n")

    return CODE_TOKEN.sub(blank, text)


def numbered(text):
    return enumerate(text.split("\n"), start=1)


def self_test(check, flagged, passing):
    """flagged: [(tree, part of the message)]; passing: [tree]."""
    for tree, message in flagged:
        if not any(message in found for _, _, found in check(tree)):
            sys.exit(f"self-test: not flagged as '{message}': {tree}")
    for tree in passing:
        for path, line, found in check(tree):
            sys.exit(f"self-test: wrongly flagged: {path}:{line}: {found}")


def report(findings, num_checked, what):
    """Prints the findings and ends the check."""
    for path, line, message in findings:
        print(f"{path}:{line}: {message}")
    if not num_checked:
        sys.exit(f"no {what} found: nothing was checked")
    print(f"{num_checked} {what} checked, {len(findings)} findings")
    sys.exit(1 if findings else 0)


def without_allowed(findings, allowed):
    """allowed: {(path, part of the message): why it is right there}. An entry that is not needed is a finding itself."""
    unused = dict(allowed)
    for path, line, message in findings:
        entries = [entry for entry in allowed if entry[0] == path and entry[1] in message]
        for entry in entries:
            unused.pop(entry, None)
        if not entries:
            yield path, line, message
    for path, part in unused:
        yield path, 1, f"the check allows '{part}' here, which is not needed any more"


def run(check, wanted, flagged, passing, allowed=None):
    """The whole of a check that needs nothing but the tree: `check_<topic>.py ROOT`."""
    self_test(check, flagged, passing)
    tree = read_tree(sys.argv[1], wanted)
    report(list(without_allowed(check(tree), allowed or {})), len(tree), "files")
