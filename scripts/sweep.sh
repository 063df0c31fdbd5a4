#!/usr/bin/env bash
# A batch of runs: every FILE with every combination of the --set lists; see scripts/sweep.sh --help.
# FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
exec "$(dirname -- "${BASH_SOURCE[0]}")/with_program.sh" sweep.py "$@"
