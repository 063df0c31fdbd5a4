#!/usr/bin/env bash
# Builds everything and runs all tests, cheapest label first; arguments go to ctest: scripts/test.sh -L unit, -R loader.
# Without arguments, tests that take long and passed with the same content are not repeated (tests/remembered.py).
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
"$root/scripts/build.sh" all </dev/null
if (( $# == 0 )); then export FALCONBENCH_REMEMBER=1; fi
exec ctest --test-dir "$root/build" --output-on-failure --no-tests=error -j "$(nproc)" "$@" </dev/null
