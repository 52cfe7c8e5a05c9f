#!/bin/sh
# What each part of `configs/strong.yaml` is worth: trains it with every file of `configs/ablations` laid over it, judges each run, prints a table.
#
#   scripts/ablations.sh                     all of them, four minutes each
#   MINUTES=1 scripts/ablations.sh 1-q …     some of them, and how long
#
# Runs stay in runs/ablations. GAMES (500) are played against every script, sampled.
set -eu
cd "$(dirname "$0")/.."

program=${PROGRAM:-target/release/coorl-async}
minutes=${MINUTES:-4}
games=${GAMES:-500}
runs=${RUNS:-runs/ablations}
[ $# -gt 0 ] || set -- $(cd configs/ablations && ls ./*.yaml | sed 's|^\./||; s|\.yaml$||' | sort -n)

mkdir -p "$runs"
echo "| what is laid over strong.yaml ($minutes minutes) | plies | safe_heuristic: win % [95 %] | difference | timeout % | loose | strict | noisy | passive | random |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for name in "$@"; do
    overlay=configs/ablations/$name.yaml
    [ -f "$overlay" ] || {
        echo "error: there is no $overlay: the names are those of the files in configs/ablations" >&2
        exit 1
    }
    run=$runs/$name
    rm -rf "$run"
    if ! "$program" train --config configs/strong.yaml --config "$overlay" --set run.max_minutes="$minutes" --set run.max_iterations=400 \
        --set evaluation.eval_every=0 --run-dir "$run" >"$runs/$name.out" 2>&1 ||
        ! "$program" evaluate "$run" --games "$games" --policy sampled --json >"$runs/$name.json" 2>>"$runs/$name.out"; then
        echo "| $name | failed: see $runs/$name.out |"
        continue
    fi
    python3 scripts/ablation_row.py "$name" "$run/metrics.jsonl" "$runs/$name.json"
done
