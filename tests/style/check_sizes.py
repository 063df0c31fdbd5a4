"""Files of at most 400 lines, public headers of 150, functions of 60: long ones are glue that wants to be split."""

import re

from style import numbered, run

FILE_LINES = 400
PUBLIC_HEADER_LINES = 150
FUNCTION_LINES = 60
# A body that opens on a line which starts in column 0 (Google style does not indent namespaces) ends at a lone brace.
NOT_A_FUNCTION = re.compile(r"^(namespace|extern|class|struct|enum|union|template|using)\b|^(#|//|\})")


def long_functions(text):
    opened = None
    for line, code in numbered(text):
        if code.rstrip().endswith("{") and opened is None and not NOT_A_FUNCTION.match(code):
            opened = line
        elif code.startswith("}"):
            if code.rstrip() == "}" and opened is not None and line - opened - 1 > FUNCTION_LINES:
                yield opened, f"function of {line - opened - 1} lines (at most {FUNCTION_LINES})"
            opened = None


def check(tree):
    for path, text in tree.items():
        num_lines = text.count("\n")
        limit = PUBLIC_HEADER_LINES if path.startswith("include/") else FILE_LINES
        if num_lines > limit:
            yield path, num_lines, f"{num_lines} lines (at most {limit})"
        if path.endswith((".cpp", ".h", ".cu")):
            for line, message in long_functions(text):
                yield path, line, message


def function(num_lines, head="int f(int a,\n      int b) {\n"):
    return "namespace falcon {\n" + head + "  a();\n" * num_lines + "}\n}  // namespace falcon\n"


run(
    check,
    r"^(src|include|tests|scripts|cmake)/(?!data/).*\.(h|cpp|cu|cuh|py|sh|cmake|txt)$",
    flagged=[
        ({"src/base/a.cpp": "\n" * 401}, "401 lines"),
        ({"include/falconbench/a.h": "\n" * 151}, "151 lines"),
        ({"src/base/a.cpp": function(61)}, "function of 61"),
        ({"src/base/a.cpp": function(61, "Plan make() {\n")}, "function of 61"),
    ],
    passing=[
        {"src/base/a.cpp": "\n" * 400},
        {"src/base/a.cpp": function(60)},
        {"src/base/a.cpp": function(70, "class A {\n").replace("}\n}", "};\n}")},
    ],
)
