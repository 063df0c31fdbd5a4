#!/usr/bin/env bash
# Builds the Torch-free code with sanitizers and runs its unit and golden tests.
#   scripts/sanitize.sh asan|tsan [ctest arguments]     (address + undefined behaviour, or threads)
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
preset=${1:-}
[[ $preset == asan || $preset == tsan ]] || { echo "sanitize: '$preset' is neither asan nor tsan" >&2; exit 2; }
shift
cd "$root"
mkdir -p "build-$preset"
exec 9>"build-$preset/sanitize.lock"
flock 9
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1   # as scripts/build.sh
[[ -e build-$preset/build.ninja ]] || cmake --preset "$preset"
cmake --build --preset "$preset"
# Both sanitizers of GCC 12 and 13 can fail on kernels that spread mappings wider than they expect.
plain=()
if setarch "$(uname -m)" -R true 2>/dev/null; then plain=(setarch "$(uname -m)" -R); fi
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1 TSAN_OPTIONS=second_deadlock_stack=1
exec "${plain[@]}" ctest --test-dir "build-$preset" --output-on-failure --no-tests=error -j "$(nproc)" \
  -L '^(unit|golden)$' "$@"
