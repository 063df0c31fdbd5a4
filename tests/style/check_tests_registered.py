"""A test that no CMakeLists.txt names is never run: each *_test.cpp, *_test.py and check_*.py is named in its folder's."""
import os
import re

from style import run


def check(tree):
    for path in tree:
        folder, name = os.path.split(path)
        if not re.search(r"_test\.(cpp|cu|py|sh)$|^check_\w+\.py$", name):
            continue
        lists = re.sub(r"#[^\n]*", "", tree.get(f"{folder}/CMakeLists.txt", ""))
        stem = re.sub(r"^check_|\.py$", "", name)
        is_check = name.startswith("check_") and re.search(rf"\b{stem}\b", lists)
        if not is_check and not re.search(rf"(?<![\w/-]){re.escape(name)}\b", lists):
            yield path, 1, f"{folder}/CMakeLists.txt does not name it"


run(check, r"^tests/(?!data/)",
    flagged=[({"tests/plan/a_test.cpp": ""}, "does not name it"),
             ({"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "# a_test.cpp\n"}, "does not name it"),
             ({"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "beta_test.cpp extra_a_test.cpp\n"}, "does not"),
             ({"tests/style/check_a.py": "", "tests/style/CMakeLists.txt": "ab\n"}, "does not name it")],
    passing=[{"tests/plan/a_test.cpp": "", "tests/plan/CMakeLists.txt": "SOURCES a_test.cpp\n"},
             {"tests/style/check_a.py": "", "tests/style/CMakeLists.txt": "foreach(topic a b)\n"}])
