#!/usr/bin/env bash
# Is this machine what it seems, and what does the paper's study say on it? For two GPUs, unattended, in minutes; see
# scripts/two_gpus.sh --help. FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
export LC_ALL=C
if [[ -z ${FALCONBENCH:-} && " $* " != *" --help "* && " $* " != *" -h "* ]]; then
  "$root/scripts/run.sh" --version >/dev/null </dev/null
fi
export FALCONBENCH=${FALCONBENCH:-$root/build/bin/falconbench}
exec python3 -B "$root/scripts/two_gpus.py" "$@"
