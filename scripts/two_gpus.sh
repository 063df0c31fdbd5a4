#!/usr/bin/env bash
# Is this machine what it seems, and what does the paper's study say on it? For two GPUs, unattended, in minutes; see
# scripts/two_gpus.sh --help. FALCONBENCH names the program; without it, it is built first.
set -euo pipefail
exec "$(dirname -- "${BASH_SOURCE[0]}")/with_program.sh" two_gpus.py "$@"
