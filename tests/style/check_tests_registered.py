"""A test that no CMakeLists.txt names is never run: each *_test.cpp, *_test.py and check_*.py is named in its folder's."""

import os
import re

from style import run


def is_named(name, lists):
    """By its whole name, or as a word that a loop puts into a pattern: check_${topic}.py, ${_topic}_test.cpp."""
    if re.search(rf"(?<![\w/-]){re.escape(name)}\b", lists):
        return True
    for prefix, suffix in re.findall(r"(\w*)\$\{\w+\}([\w.]*)", lists):
        if prefix + suffix and name.startswith(prefix) and name.endswith(suffix):
            word = name[len(prefix) : len(name) - len(suffix)]
            if re.search(rf"(?<![\w/-]){re.escape(word)}(?![\w/-])", lists):
                return True
    return False


def check(tree):
    for path in tree:
        folder, name = os.path.split(path)
        if re.search(r"_test\.(cpp|cu|py|sh)$|^check_\w+\.py$", name):
            lists = re.sub(r"#[^\n]*", "", tree.get(f"{folder}/CMakeLists.txt", ""))
            if not is_named(name, lists):
                yield path, 1, f"{folder}/CMakeLists.txt does not name it"


run(
    check,
    r"^tests/(?!data/)",
    flagged=[
        ({"tests/plan/a_test.cpp": ""}, "does not name it"),
        ({"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "# a_test.cpp\n"}, "does not name it"),
        ({"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "beta_test.cpp extra_a_test.cpp\n"}, "does not"),
        ({"tests/style/check_a.py": "", "tests/style/CMakeLists.txt": "foreach(t ab)\n check_${t}.py\n"}, "does not"),
        ({"tests/style/check_a.py": "", "tests/style/CMakeLists.txt": "foreach(t a)\n ${t}\n"}, "does not"),
    ],
    passing=[
        {"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "SOURCES a_test.cpp\n"},
        {"tests/style/check_a.py": "", "tests/style/CMakeLists.txt": "foreach(topic a b)\n check_${topic}.py\n"},
        {"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "foreach(_t b a)\n ${_t}_test.cpp\n"},
    ],
)
