#!/usr/bin/env bash
# The largest batch of each strategy in a given memory, by real runs; see scripts/largest_batch.sh --help.
# FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
export LC_ALL=C
if [[ -z ${FALCONBENCH:-} && " $* " != *" --help "* && " $* " != *" -h "* ]]; then
  "$root/scripts/run.sh" --version >/dev/null </dev/null
fi
export FALCONBENCH=${FALCONBENCH:-$root/build/bin/falconbench}
exec python3 -B "$root/scripts/largest_batch.py" "$@"
