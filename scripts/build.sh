#!/usr/bin/env bash
# Brings build/ up to date: set-up, configure, compile. Silent when it is; the compiler's output goes to build/build.log
# and is shown when it fails.
#   scripts/build.sh [app|all]    the program and its engine, or the tests too
# Exit code 1: it does not build. 3: this host lacks what the build needs.
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd -P)
build=$root/build
log=$build/build.log
what=${1:-app}
# Two clones of the project share what ccache holds.
export CCACHE_BASEDIR=$root CCACHE_NOHASHDIR=1

say() { printf 'build: %s\n' "$*" >&2; }

failed() {
  if [[ -t 2 ]]; then printf '\r\033[K' >&2; fi
  tail -n 60 "$log" >&2
  say "$1 (whole log: $log)"
  exit 1
}

configure() {
  local place tests=OFF have=()
  place="$root $(<"$build/setup/libtorch") $(cksum < "$root/cmake/wheels.txt")"
  if [[ -e $build/setup/configured ]]; then mapfile -t have < "$build/setup/configured"; fi
  if [[ $what == all || ${have[1]:-} == ON ]]; then tests=ON; fi
  if [[ -e $build/build.ninja && ${have[0]:-} == "$place" && ${have[1]:-} == "$tests" ]]; then return; fi
  local fresh=()
  # What CMake found in another LibTorch, or another place of the project, would stay in its cache.
  if [[ ${have[0]:-} != "$place" ]]; then fresh=(--fresh); fi
  (cd "$root" && cmake --preset release "${fresh[@]}" -D FALCONBENCH_TESTS=$tests \
    -D FALCONBENCH_LIBTORCH="$(<"$build/setup/libtorch")") >"$log" 2>&1 || failed "CMake could not configure"
  printf '%s\n' "$place" "$tests" > "$build/setup/configured"
}

# Reads ninja's output. A build that is up to date still runs the two steps that look at the git revision.
show_progress() {
  local line announced=
  while IFS= read -r line; do
    printf '%s\n' "$line"
    if ! [[ $line =~ ^\[([0-9]+)/([0-9]+)\] ]] || (( BASH_REMATCH[2] <= 3 )); then continue; fi
    if [[ -t 2 ]]; then
      printf '\rbuild: %s of %s steps' "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" >&2
    elif [[ -z $announced ]]; then
      say "compiling (log: $log)"
    fi
    announced=yes
  done > "$log"
  if [[ -n $announced && -t 2 ]]; then printf '\r\033[K' >&2; fi
}

compile() {
  local targets=()
  if [[ $what == app ]]; then targets=(--target falconbench falconbench_engine); fi
  cmake --build "$build" "${targets[@]}" 2>&1 | show_progress || failed "it does not compile"
}

case $what in
  app) kind=build ;;
  all) kind="test" ;;
  *) say "'$what' is neither app nor all"; exit 2 ;;
esac
mkdir -p "$build/setup"
exec 9>"$build/setup/build.lock"
flock -n 9 || { say "waiting for another build of $root"; flock 9; }
"$root/scripts/setup.sh" "$kind"
configure
compile
