#!/usr/bin/env bash
# How near `falconbench predict` comes on this machine, without a GPU: two CPU workers exchange through a loopback of
# their own that is shaped to several speeds, and each run predicts the step on the other speeds.
# Usage: scripts/bench/predict_on_cpu.sh [options of predict_on_cpu.py]
# Needs tc (Debian's iproute2), and root or a kernel that lets users make network namespaces. FALCONBENCH names the
# program; without it, it is built first.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
export LC_ALL=C
if [[ -z ${FALCONBENCH:-} ]]; then "$root/scripts/run.sh" --version >/dev/null </dev/null; fi
export FALCONBENCH=${FALCONBENCH:-$root/build/bin/falconbench}
as_root=()
if (( EUID != 0 )); then as_root=(--map-root-user); fi
exec unshare --net "${as_root[@]}" python3 -B "$root/scripts/bench/predict_on_cpu.py" "$@"
