#!/bin/sh
# What the program does on a GPU, in one table and under five minutes: see README.md beside this file.
#
#   check.sh [--cpu] [BINARY]
#
# BINARY is a program that is built already (default: target/release/coorl-async of this checkout); libtorch's CUDA libraries must be on
# LD_LIBRARY_PATH. Everything it writes goes to the folder $OUT (default: gpu-check), which must be empty or new. No network, no compiler.
# --cpu goes through every step on the CPU, with a tiny network and few walks: to see that the check works. Its figures mean nothing.
set -u

here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
device=cuda
if [ "${1:-}" = --cpu ]; then
    device=cpu
    shift
fi
binary=${1:-$root/target/release/coorl-async}
out=${OUT:-gpu-check}
seconds=${CHECK_SECONDS:-285} # for everything

fail() {
    echo "check.sh: $1" >&2
    exit 2
}

[ -x "$binary" ] || fail "$binary is no program: build it first, or name another one"
mkdir -p "$out" || fail "cannot make the folder $out: set OUT to another"
[ -z "$(ls -A "$out")" ] || fail "$out is not empty: set OUT to another folder"
command -v timeout >/dev/null || fail "timeout (GNU coreutils) is missing"
out=$(cd "$out" && pwd)
mkdir "$out/status" || fail "cannot write to $out"
deadline=$(($(date +%s) + seconds))

# step NAME SECONDS COMMAND...: its output in NAME.out and NAME.log, and what became of it in status/NAME.
step() {
    name=$1 limit=$2
    shift 2
    left=$((deadline - $(date +%s)))
    [ "$left" -ge "$limit" ] || limit=$left
    if [ "$limit" -lt 3 ]; then
        echo "failed: no time was left" >"$out/status/$name"
        return
    fi
    echo "$name, at most $limit s" >&2
    timeout -k 3 "$limit" "$@" >"$out/$name.out" 2>"$out/$name.log"
    code=$?
    case $code in
        0) echo ok ;;
        124 | 137) echo "failed: not done after $limit s" ;;
        *) echo "failed: exit code $code: $(tail -n 1 "$out/$name.log" | tr '|' '/' | cut -c 1-200)" ;;
    esac >"$out/status/$name"
}

# train NAME SECONDS ITERATIONS KEY=VALUE...: the default configuration without evaluation; NAME.jsonl holds its metrics.
train() {
    run=$1 limit=$2 iterations=$3
    shift 3
    sets=
    for set in run.max_iterations="$iterations" evaluation.eval_every=0 $tiny "$@"; do
        sets="$sets --set $set"
    done
    # None of these has a blank in it.
    # shellcheck disable=SC2086
    step "$run" "$limit" "$binary" train --config "$root/configs/default.yaml" --run-dir "$out/run" $sets
    [ ! -f "$out/run/metrics.jsonl" ] || mv "$out/run/metrics.jsonl" "$out/$run.jsonl"
    # Journals of full-size runs take gigabytes.
    rm -rf "$out/run"
}

if [ "$device" = cuda ]; then
    tiny=
    walks_1000=1000 walks_5000=5000 steps=8
    shape=297,512,512,512,22 batches=1,64,256,1024,4096
    grid="--budget 35"
    need=--require-cuda
else
    tiny="network.hidden_size=8 network.num_layers=1 traversal.traversals_per_player=4 traversal.max_nodes_per_traversal=50"
    tiny="$tiny optimization.advantage_batch_size=16 optimization.strategy_batch_size=16"
    tiny="$tiny optimization.advantage_updates_per_iteration=4 optimization.strategy_updates_per_iteration=4"
    walks_1000=6 walks_5000=8 steps=4
    shape=20,8,8,3 batches=1,32
    grid="--rounds 1 --timeouts 200 --max-batches 64 --in-flight 8"
    need=
fi
nothing_saved="checkpoint.save_latest=false checkpoint.exact_resume=false"
few="optimization.advantage_updates_per_iteration=$steps optimization.strategy_updates_per_iteration=$steps"

# shellcheck disable=SC2086
step doctor 40 "$binary" doctor --json $need
step forward 40 "$binary" profile forward --shape "$shape" --batches "$batches" --json
# The first iteration finds nothing warm; the table leaves it out.
train default 60 6 run.device=$device
train walks_1000 40 4 run.device=$device $nothing_saved $few traversal.traversals_per_player=$walks_1000
train walks_5000 70 4 run.device=$device $nothing_saved $few traversal.traversals_per_player=$walks_5000
if [ "$device" = cuda ]; then
    train replay_device 40 4 run.device=$device $nothing_saved replay.device=device
else
    echo "not run: a CPU has no memory but the host's" >"$out/status/replay_device"
fi
train replay_host 40 4 run.device=$device $nothing_saved replay.device=host
for format in bf16 f16; do
    train "$format" 40 4 run.device=$device $nothing_saved run.use_amp=true run.amp_dtype=$format inference.precision=$format
done
small="$nothing_saved traversal.traversals_per_player=20"
[ "$device" = cpu ] || small="$small optimization.advantage_updates_per_iteration=32 optimization.strategy_updates_per_iteration=32"
train parity_cpu 45 3 run.device=cpu $small
train parity_device 30 3 run.device=$device $small
sets=
for set in run.device=$device $tiny; do
    sets="$sets --set $set"
done
# shellcheck disable=SC2086
step tune 60 "$binary" tune --config "$root/configs/default.yaml" --out "$out/tune" $grid $sets

command -v python3 >/dev/null || fail "python3 is missing: the figures lie in $out, and table.py makes the table of them"
python3 "$here/table.py" "$out" "$device" >"$out/table.md" || fail "the table could not be made; the figures lie in $out"
cat "$out/table.md"
