"""Every tracked file: ASCII sources, no path of one machine, nothing large, no code that is commented out."""

import re

from style import numbered, run

MAX_BYTES = 1_000_000
MAX_BYTES_OF_NUMBERS = 2_000_000  # reference values that tests read
# Written in pieces: this file is checked too.
MACHINE_PATH = re.compile(
    r"(?<![\w.])/(" + "|".join(["wor" + "k/", "roo" + "t/", "opt/" + "torch", "home/" + r"[a-z]"]) + ")"
)
PROSE = re.compile(r"(\.md|^LICENSE)$")
SOURCE = re.compile(r"\.(h|cpp|cu|cuh)$")
DEAD_CODE = re.compile(
    r"^\s*//\s{0,2}(?!\s)("
    r"[\w:.>-]+(<[^>]*>)?\(.*\)\s*;"  # a call
    r"|[\w:<>*& ]+ [-+*/|&]?= .+;"  # an assignment
    r"|(if|for|while|switch) \(.*\)( \{)?|\} else.*|[{}]"  # control flow
    r"|(return|throw|using|break|continue)\b.*;|#\s*(include|if|define)\b.*"
    r")\s*$"
)
TODO = re.compile(r"\b(TODO|FIXME|XXX)\b(?!\(#\d+\))")
MERGE_MARK = re.compile(r"^(<{7} |>{7} )")


def check_lines(path, text):
    for line, content in numbered(text):
        if not content.isascii() and not PROSE.search(path):
            yield line, "not ASCII"
        if MACHINE_PATH.search(content):
            yield line, "a path of one machine"
        if TODO.search(content) and path != "tests/style/check_files.py":
            yield line, "a note without the number of its issue: TODO(#12)"
        if MERGE_MARK.match(content):
            yield line, "left over from a merge"
        if SOURCE.search(path) and DEAD_CODE.match(content):
            yield line, "looks like code that is commented out"


def check(tree):
    for path, text in tree.items():
        data = path.startswith("tests/data/")
        if len(text) > (MAX_BYTES_OF_NUMBERS if data else MAX_BYTES):
            yield path, 1, f"{len(text)} bytes is too large to track"
        if not data and not re.search(r"\.(png|jpg|jpeg)$", path):
            for line, message in check_lines(path, text):
                yield path, line, message


run(
    check,
    r".",
    flagged=[
        ({"src/a.cpp": "int a;  // caf\u00e9\n"}, "ASCII"),
        ({"scripts/a.sh": "cd /" + "work/main\n"}, "one machine"),
        ({"README.md": "see /" + "root/x\n"}, "one machine"),
        ({"src/a.cpp": "  // run(plan);\n"}, "commented out"),
        ({"src/a.cpp": "  // if (a > b) {\n"}, "commented out"),
        ({"src/a.h": "// TO" + "DO: later\n"}, "issue"),
        ({"src/a.cpp": "  // total += 1;\n"}, "commented out"),
        ({"src/a.cpp": "  // return plan;\n"}, "commented out"),
        ({"docs/a.md": "a" * (MAX_BYTES + 1)}, "too large"),
        ({"docs/a.md": "<" * 7 + " HEAD\n"}, "merge"),
        ({"tests/data/a.json": "1" * (MAX_BYTES_OF_NUMBERS + 1)}, "too large"),
    ],
    passing=[
        {"README.md": "2 \u00d7 H200\n"},
        {"tests/data/a.json": "\u00e9" * 3},
        {"src/a.cpp": "// A reason, with (a) call;\n// returns nothing;\n"},
        {"src/a.h": "//     auto plan = make(spec);\n"},
        {"src/a.cpp": 'open("/proc/self/root/x");\n'},
        {"tests/data/a.json": "1" * MAX_BYTES_OF_NUMBERS},
    ],
)
