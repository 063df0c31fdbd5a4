#!/usr/bin/env bash
# The paper's whole matrix in small, on two GPUs without a chassis; see scripts/paper_matrix.sh --help. FALCONBENCH names the
# program; without it, it is built first.
set -euo pipefail
exec "$(dirname -- "${BASH_SOURCE[0]}")/with_program.sh" paper_matrix.py "$@"
