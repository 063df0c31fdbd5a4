#!/usr/bin/env bash
# The largest batch of each strategy in a given memory, by real runs; see scripts/largest_batch.sh --help.
# FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
exec "$(dirname -- "${BASH_SOURCE[0]}")/with_program.sh" largest_batch.py "$@"
