"""What only one place may do: catch everything, end the process, print, read a clock."""

import re

from style import code_only, numbered, run

PROGRAMS = r"^src/(cli/|main\.cpp|\w+/bench/)"
# (what, pattern, where it is allowed, advice)
RULES = [
    ("catch (...)", r"\bcatch\s*\(\s*\.\.\.\s*\)", r"^src/cli/guarded\.cpp$", "catch what you can handle"),
    (
        "ending the process",
        r"(?<![\w.>])(std\s*::\s*|::)?(quick_exit|_Exit|_exit|exit|abort|terminate)\s*\(",
        PROGRAMS,
        "throw falcon::Error",
    ),
    (
        "printing",
        r"\b(std\s*::\s*(cout|cerr|clog)\b|f?printf\s*\(|f?puts\s*\(|putchar\s*\(|perror\s*\()",
        PROGRAMS,
        "return a value, or write to the log of base/log.h",
    ),
    (
        "a clock",
        r"\b(system_clock|steady_clock|high_resolution_clock|clock_gettime|gettimeofday)\b|(?<![\w.>:])time\s*\(\s*(nullptr|NULL|0)",
        r"^(src/base/|include/falconbench/clock\.h$)",
        "use falconbench/clock.h",
    ),
]
# (file, what): why it is right there.
ALLOWED = {
    (
        "src/launch/worker_channel.cpp",
        "ending the process",
    ): "a worker without a launcher may be inside a collective that never returns: nothing can be unwound"
}


def check(tree):
    for path, text in tree.items():
        for line, code in numbered(code_only(text)):
            for what, pattern, home, advice in RULES:
                if re.search(pattern, code) and not re.search(home, path):
                    yield path, line, f"{what} has its place in {home}: {advice}"


def one(path, code):
    return {path: code + "\n"}


run(
    check,
    r"^(src|include)/.*\.(h|cpp|cu|cuh)$",
    allowed=ALLOWED,
    flagged=[
        (one("src/plan/a.cpp", "} catch (...) {"), "catch (...)"),
        (one("src/cli/a.cpp", "} catch(...) {"), "catch (...)"),
        (one("src/plan/a.cpp", "std::abort();"), "ending"),
        (one("src/ops/a.cu", "  exit(1);"), "ending"),
        (one("src/plan/a.cpp", "std::cerr << a;"), "printing"),
        (one("src/plan/a.cpp", 'printf("a");'), "printing"),
        (one("src/plan/a.cpp", "std::chrono::steady_clock::now();"), "a clock"),
        (one("src/plan/a.cpp", "const auto now = time(nullptr);"), "a clock"),
    ],
    passing=[
        one("src/cli/guarded.cpp", "} catch (...) {"),
        one("src/cli/a.cpp", "std::cout << 1; std::exit(2);"),
        one("src/plan/a.cpp", '// never exit() or printf()\nauto s = "exit(1)"; on_exit(1); a.exit(); snprintf(b);'),
        one("src/base/clock.cpp", "steady_clock::now();"),
        one("src/plan/a.cpp", "loader.time(0); run_time(0);"),
    ],
)
