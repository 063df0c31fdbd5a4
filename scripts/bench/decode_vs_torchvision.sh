#!/usr/bin/env bash
# Decoding with a random crop to 224 x 224: falconbench against torchvision, one thread, same files, same crops.
# Usage: scripts/bench/decode_vs_torchvision.sh FOLDER [options of decode_vs_torchvision.py]
#   FOLDER  JPEG files, e.g. made by `falconbench data make imagefolder FOLDER` (about 110 KB a file, 500 x 375)
# Exit code 1 when the ratio is below --need (1.3). Needs python3 with torchvision: where it is missing, the wheels that
# torchvision needs beside the project's own .deps/torch go to build-bench/python once.
set -euo pipefail
project=$(cd "$(dirname "$0")/../.." && pwd)
[ $# -ge 1 ] || { sed -n '2,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
packages="$project/build-bench/python"
if ! PYTHONPATH="$packages:$project/.deps" python3 -W ignore -c 'import torchvision' 2>/dev/null; then
  python3 -m pip install --quiet --no-deps --target "$packages" torchvision==0.26.0 numpy pillow typing_extensions sympy \
    mpmath networkx jinja2 fsspec filelock markupsafe setuptools
fi
cmake -S "$project" -B "$project/build-bench" -G Ninja -DCMAKE_BUILD_TYPE=Release -DFALCONBENCH_ENGINE=OFF \
  -DFALCONBENCH_TESTS=OFF >/dev/null
cmake --build "$project/build-bench" --target falcon_decode_bench >/dev/null
OMP_NUM_THREADS=1 PYTHONPATH="$packages:$project/.deps" exec python3 -W ignore \
  "$project/scripts/bench/decode_vs_torchvision.py" "$project/build-bench/src/data/falcon_decode_bench" "$@"
