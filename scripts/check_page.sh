#!/usr/bin/env bash
# Opens pages of `falconbench report` in headless Chromium at desktop and phone width, light and dark, and checks that
# no script complains, every chart is drawn or says why not, nothing is wider than the window, and nothing is loaded.
#   scripts/check_page.sh FILE.html... [--pictures DIR]
# --pictures keeps a PNG of each. Exit code 1: a page is faulty. 77: no Chromium here.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
exec python3 -B "$root/scripts/check_page.py" "$@"
