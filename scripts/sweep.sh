#!/usr/bin/env bash
# A batch of runs: every FILE with every combination of the --set lists; see scripts/sweep.sh --help.
# FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
export LC_ALL=C
if [[ -z ${FALCONBENCH:-} && " $* " != *" --help "* && " $* " != *" -h "* ]]; then
  "$root/scripts/run.sh" --version >/dev/null </dev/null
fi
export FALCONBENCH=${FALCONBENCH:-$root/build/bin/falconbench}
exec python3 -B "$root/scripts/sweep.py" "$@"
