#!/usr/bin/env bash
# Stands in for falconbench where scripts are tested: writes a report without training. `--set act=WORD` says how it
# ends; each run, not each --dry-run, adds its arguments as a line to the file FAKE_CALLS.
set -euo pipefail
arguments="$*" config='' output='' dry='' act=ok settings=''
while (( $# )); do
  case $1 in
    --config) config=$2; shift ;;
    --output) output=$2; shift ;;
    --set)
      settings+="$2 "
      if [[ $2 == act=* ]]; then act=${2#act=}; fi
      shift ;;
    --dry-run) dry=yes ;;
    --json) ;;
    *) echo "fake: $1?" >&2; exit 2 ;;
  esac
  shift
done
spec_hash=$( { cat -- "$config"; printf '%s' "$settings"; } | sha256sum | cut -d ' ' -f 1)

report() {
  printf '{"run": {"status": "%s", "spec_hash": "%s"}, "error": %s,
           "training": {"throughput": {"samples_per_s": 123.5}, "step_time_ms": {"p50": 8.1}}}\n' \
    "$1" "$spec_hash" "$2" > "$output.part"
  mv -- "$output.part" "$output"
}

stopped() {
  kill "$sleeper"
  report interrupted '{"message": "interrupted"}'
  exit "$1"
}

if [[ $act == typo ]]; then
  printf 'a.yaml:1:1: unknown key\na.yaml:2:1: wrong type\n' >&2
  exit 2
elif [[ -n $dry ]]; then
  if [[ -e $FAKE_CALLS.busy ]]; then
    printf '{"spec_hash": "%s", "findings": [{"id": "gpu_in_use", "message": "GPU 0 is held by 4711"}]}\n' "$spec_hash"
  else
    printf '{"spec_hash": "%s"}\n' "$spec_hash"
  fi
  exit
fi
printf '%s\n' "$arguments" >> "$FAKE_CALLS"
case $act in
  fail) report failed '{"message": "rank 1 ended with signal 9"}'; exit 4 ;;
  silent) ;;
  crash) echo "last words"; kill -KILL $$ ;;
  wait)
    trap 'stopped 130' INT
    trap 'stopped 143' TERM
    sleep 60 &
    sleeper=$!
    touch "$FAKE_CALLS.waiting"
    wait "$sleeper" ;;
  *) report ok null ;;
esac
