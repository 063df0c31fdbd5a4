#!/usr/bin/env bash
# falconbench itself, built and up to date: scripts/run.sh ARGUMENTS... Keeps the caller's folder; signals and exit codes
# are the program's own.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/scripts/build.sh" app </dev/null
exec "$root/build/bin/falconbench" "$@"
