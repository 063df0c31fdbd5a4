#!/usr/bin/env bash
# What scripts that run falconbench have in common: scripts/with_program.sh PYTHON_FILE [ARGUMENTS] starts that file of this
# folder with FALCONBENCH naming the program. Without it, it is built first, but for a call that only asks for help.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
export LC_ALL=C
work=$1
shift
if [[ -z ${FALCONBENCH:-} && " $* " != *" --help "* && " $* " != *" -h "* ]]; then
  "$root/scripts/run.sh" --version >/dev/null </dev/null
fi
export FALCONBENCH=${FALCONBENCH:-$root/build/bin/falconbench}
exec python3 -B "$root/scripts/$work" "$@"
