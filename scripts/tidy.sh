#!/usr/bin/env bash
# clang-tidy on sources that include Torch (ctest does the others): 20 to 40 s of one core and 1 GB each.
#   scripts/tidy.sh          those that differ from HEAD, or from the commit in TIDY_BASE
#   scripts/tidy.sh all      every one
#   scripts/tidy.sh FILE...  these
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
if (( $# == 0 )); then
  mapfile -t files < <(cd "$root" && git diff --name-only --diff-filter=d "${TIDY_BASE:-HEAD}" -- 'src/*.cpp')
  if (( ${#files[@]} == 0 )); then echo "tidy: no changed source" >&2; exit 0; fi
elif [[ $1 == all ]]; then
  files=(--engine)
else
  mapfile -t files < <(realpath --relative-to="$root" -- "$@")
fi
exec python3 "$root/tests/style/check_tidy.py" "$root" "$root/build" "${files[@]}"
