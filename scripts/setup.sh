#!/usr/bin/env bash
# Installs what building (or, with `test`, also testing) needs and is missing, and nothing else; silent when nothing is.
#   scripts/setup.sh [build|test]
# Debian packages (scripts/packages.txt) with root; without it their names and the command are printed. LibTorch, CUDA
# and the compiler for CUDA (cmake/wheels.txt) into .deps, unless FALCONBENCH_LIBTORCH names a folder that holds torch/
# and nvidia/, or python3 has the pinned torch. Tools of the tests (cmake/test_wheels.txt) into .venv.
# Leaves the folder of LibTorch in build/setup/libtorch. Exit code 3: this host lacks what the build needs.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
state=$root/build/setup
kind=${1:-build}

say() { printf 'setup: %s\n' "$*" >&2; }
lacks() { say "$@"; exit 3; }

is_there() {
  local folder
  case $1 in
    cmd:*) command -v "${1#cmd:}" >/dev/null ;;
    file:*) [[ -e ${1#file:} ]] ;;
    py:*) python3 -c "import ${1#py:}" 2>/dev/null ;;
    inc:*)
      for folder in /usr/include /usr/local/include "/usr/include/$(uname -m)-linux-gnu"; do
        [[ ! -e $folder/${1#inc:} ]] || return 0
      done
      return 1 ;;
    *) lacks "scripts/packages.txt: '$1' is no probe: cmd:, inc:, file: or py: is" ;;
  esac
}

# Names of the packages of some sets (a pattern such as build|extra) that are not there.
missing_packages() {
  local set package probes probe
  while read -r set package probes; do
    [[ $set =~ ^($1)$ ]] || continue
    for probe in $probes; do
      if is_there "$probe"; then continue 2; fi
    done
    printf '%s\n' "$package"
  done < "$root/scripts/packages.txt"
}

apt() {
  DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=300 -o Acquire::Retries=2 \
    -o Acquire::http::Timeout=30 "$@" </dev/null >>"$state/packages.log" 2>&1
}

# A set at a time: a tool that this release of the system does not have must not keep out what the build needs.
apt_install_sets() {
  local set names
  printf '' > "$state/packages.log"
  apt update || tail -n 5 "$state/packages.log" >&2
  for set in "$@"; do
    mapfile -t names < <(missing_packages "$set")
    if (( ${#names[@]} == 0 )); then continue; fi
    say "installing Debian packages: ${names[*]}"
    apt install -y --no-install-recommends "${names[@]}" || tail -n 15 "$state/packages.log" >&2
  done
}

# install_packages REQUIRED SET...: what is missing of the sets is installed, or named once (a list that was tried is
# left alone until it changes); what is then missing of the required ones (a pattern) is exit 3.
install_packages() {
  local required=$1 names list
  shift
  names=$(missing_packages "$(IFS='|'; echo "$*")" | sort -u)
  if [[ -z $names ]]; then return; fi
  list=$(paste -s -d ' ' <<< "$names")
  if [[ -e $state/tried && $(<"$state/tried") == "$list" && -z $(missing_packages "$required") ]]; then return; fi
  if ! command -v apt-get >/dev/null; then
    say "missing (Debian's names): $list"
  elif [[ $(id -u) != 0 ]]; then
    say "missing Debian packages: $list"
    say "install them with: sudo apt-get install --no-install-recommends $list"
  else
    apt_install_sets "$@"
  fi
  names=$(missing_packages "$required" | paste -s -d ' ')
  [[ -z $names ]] || lacks "cannot go on without: $names"
  names=$(missing_packages "$(IFS='|'; echo "$*")" | sort -u | paste -s -d ' ')
  printf '%s' "$names" > "$state/tried"
  [[ -z $names ]] || say "goes on without: $names (tried again once $state/tried is removed)"
}

# .venv holds the pip that fetches everything else: Debian's own refuses to install, or is not there.
make_venv() {
  [[ ! -x $root/.venv/bin/pip ]] || return 0
  python3 -m venv --clear "$root/.venv" >"$state/venv.log" 2>&1
}

pip_install() {
  local pip=("$root/.venv/bin/python" -m pip)
  make_venv || pip=(python3 -m pip)
  "${pip[@]}" install --no-deps --no-cache-dir --no-compile --disable-pip-version-check --no-input \
    --progress-bar off --retries 3 --timeout 30 "$@" </dev/null
}

# fetch_wheels STAMP PIN...: all in one pip command (pip does not merge a second set into nvidia/), beside .deps first,
# so that a broken download leaves no half set.
fetch_wheels() {
  local stamp=$1 new=$root/.deps.new
  shift
  say "fetching $# wheels with LibTorch or CUDA into .deps (up to 2.5 GB, once)"
  rm -rf "$new"
  mkdir -p "$new/tmp"
  if ! TMPDIR=$new/tmp pip_install --target "$new/site" "$@" >"$state/wheels.log" 2>&1; then
    tail -n 15 "$state/wheels.log" >&2
    rm -rf "$new"
    lacks "the wheels of cmake/wheels.txt could not be fetched (whole log: $state/wheels.log)"
  fi
  ln -s lib "$new/site/nvidia/cu13/lib64"                            # nvcc looks for lib64,
  ln -s libcudart.so.13 "$new/site/nvidia/cu13/lib/libcudart.so"     # CMake for a name without a version
  printf '%s' "$stamp" > "$new/site/.wheels"
  rm -rf "$root/.deps"
  mv "$new/site" "$root/.deps"
  rm -rf "$new"
}

has_toolkit() {
  local nvcc
  for nvcc in "$(command -v nvcc)" "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc"; do
    if [[ -x $nvcc ]] && "$nvcc" --version | grep -q 'release 13\.'; then return; fi
  done
  return 1
}

# The folder of python3's torch, when its version and those of NCCL and cuDNN are the pinned ones.
python_torch() {
  python3 - "$root/cmake/wheels.txt" 2>/dev/null <<'PY'
import importlib.metadata as metadata, re, sys
pins = dict(re.findall(r"^([\w-]+)==(\S+)", open(sys.argv[1]).read(), re.M))
for name in ("torch", "nvidia-nccl-cu13", "nvidia-cudnn-cu13"):
    if metadata.version(name).split("+")[0] != pins[name]:
        sys.exit(1)
print(metadata.distribution("torch").locate_file("").resolve())
PY
}

choose_libtorch() {
  local pins stamp site=${FALCONBENCH_LIBTORCH:-}
  mapfile -t pins < <(sed -n '/==/p' "$root/cmake/wheels.txt")
  stamp=$(printf '%s\n' "${pins[@]}" | sha256sum)
  if [[ -n $site ]]; then
    [[ -e $site/torch/include/ATen/ATen.h ]] ||
      lacks "FALCONBENCH_LIBTORCH=$site does not hold torch/include: name the folder in which torch/ and nvidia/ lie"
    if ! has_toolkit && [[ ! -x $root/.deps/nvidia/cu13/bin/nvcc ]]; then
      mapfile -t pins < <(printf '%s\n' "${pins[@]}" | grep -E '^nvidia-(cuda-(nvcc|crt|runtime|cccl)|nvvm)==')
      fetch_wheels compiler "${pins[@]}"
    fi
  elif [[ -e $root/.deps/.wheels && $(<"$root/.deps/.wheels") == "$stamp" ]]; then
    site=$root/.deps
  elif ! { has_toolkit && site=$(python_torch); }; then
    fetch_wheels "$stamp" "${pins[@]}"
    site=$root/.deps
  fi
  printf '%s' "$site" > "$state/libtorch"
}

# The tests that need these skip without them, so a failure is told and no more.
install_test_tools() {
  local stamp
  stamp=$(sha256sum < "$root/cmake/test_wheels.txt")
  if [[ -e $root/.venv/.wheels && $(<"$root/.venv/.wheels") == "$stamp" ]]; then return; fi
  say "fetching the tests' wheels into .venv"
  if make_venv && pip_install -r "$root/cmake/test_wheels.txt" >"$state/test_wheels.log" 2>&1; then
    printf '%s' "$stamp" > "$root/.venv/.wheels"
  else
    say "failed: tests against the JSON schema will be skipped (log: $state/test_wheels.log)"
  fi
}

[[ $kind == build || $kind == test ]] || { say "'$kind' is neither build nor test"; exit 2; }
mkdir -p "$state"
exec 8>"$state/setup.lock"
flock 8
if [[ $kind == test ]]; then
  install_packages 'build|test' build test extra check browser
else
  install_packages build build extra
fi
choose_libtorch
[[ $kind == build ]] || install_test_tools
