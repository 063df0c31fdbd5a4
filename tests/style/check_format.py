"""Every C++ and CUDA file is as clang-format 14 writes it with the project's .clang-format."""

import os
import re
import shutil
import subprocess
import sys

from style import SKIPPED, project_files, report, self_test

MAJOR = "14"  # another version lays out some lines otherwise


def tool(name):
    """The pinned version of clang-format or clang-tidy, or ends as skipped."""
    for candidate in (f"{name}-{MAJOR}", name):
        path = shutil.which(candidate)
        if path and f"version {MAJOR}." in subprocess.run([path, "--version"], capture_output=True, text=True).stdout:
            return path
    print(f"skipped: {name} {MAJOR} is not here")
    sys.exit(SKIPPED)


def unformatted(formatter, arguments, text=None):
    done = subprocess.run([formatter, "--dry-run", "--Werror", *arguments], input=text, capture_output=True, text=True)
    places = re.findall(r"^(.+?):(\d+):\d+: error: code should be clang-formatted", done.stderr, re.M)
    if done.returncode and not places:
        sys.exit(done.stderr)
    return [(path, int(line), "not formatted: clang-format -i") for path, line in places]


if __name__ == "__main__":
    root = os.path.abspath(sys.argv[1])
    os.chdir(root)
    clang_format = tool("clang-format")
    self_test(
        lambda tree: unformatted(clang_format, ["--assume-filename=src/a.cpp"], tree["src/a.cpp"]),
        flagged=[({"src/a.cpp": "int  f( ){return 1;}\n"}, "not formatted")],
        passing=[{"src/a.cpp": "int f();\n"}],
    )
    files = [path for path in project_files(root) if re.search(r"^(src|include|tests)/.*\.(h|cpp|cu|cuh)$", path)]
    first = {}
    for path, line, message in unformatted(clang_format, files) if files else []:
        first.setdefault(path, (path, line, message))
    report(list(first.values()), len(files), "files")
