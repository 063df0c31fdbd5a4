"""Shell scripts pass shellcheck, and start with set -euo pipefail or end in one exec."""

import os
import shutil
import subprocess
import sys

from style import SKIPPED, read_tree, report, self_test


def is_script(path, text):
    return path.endswith(".sh") or text.startswith(("#!/usr/bin/env bash", "#!/bin/bash", "#!/bin/sh"))


def check(tree):
    for path, text in tree.items():
        done = subprocess.run(
            ["shellcheck", "--format=gcc", "--shell=bash", "-"], input=text, capture_output=True, text=True
        )
        for found in done.stdout.splitlines():
            _, line, _, message = found.split(":", 3)
            yield path, int(line), message.strip()
        if "set -euo pipefail" not in text and "\nexec " not in text:
            yield path, 1, "without set -euo pipefail a failed command goes unseen"


if not shutil.which("shellcheck"):
    print("skipped: shellcheck is not here")
    sys.exit(SKIPPED)
self_test(
    check,
    flagged=[({"a.sh": "#!/bin/bash\nset -euo pipefail\ncd $1\n"}, "quote"), ({"a.sh": "#!/bin/bash\nls\n"}, "unseen")],
    passing=[{"a.sh": '#!/bin/bash\nset -euo pipefail\ncd -- "$1"\n'}, {"a.sh": "#!/bin/bash\nexec ls\n"}],
)
scripts = {
    path: text
    for path, text in read_tree(os.path.abspath(sys.argv[1]), r"^(scripts|tests|\.ci)/(?!data/)").items()
    if is_script(path, text)
}
report(list(check(scripts)), len(scripts), "scripts")
