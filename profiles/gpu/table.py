"""Makes the table of `check.sh`: table.py FOLDER cuda|cpu. A figure that was not measured says why; none is made up."""

import json
import pathlib
import statistics
import sys

FOLDER = pathlib.Path(sys.argv[1])
DEVICE = sys.argv[2]


class Missing(Exception):
    """Why there is no figure."""


def status(step):
    path = FOLDER / "status" / step
    return path.read_text().strip() if path.is_file() else "failed: the step was not reached"


def require(step):
    if status(step) != "ok":
        raise Missing(status(step))


def parsed(step):
    require(step)
    return json.loads((FOLDER / f"{step}.out").read_text())


def iterations(step):
    """The metrics of a run by iteration; a run that was not done has none."""
    require(step)
    lines = (FOLDER / f"{step}.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


def median(step, figure):
    """The median of `figure` over the iterations but the first, which finds nothing warm."""
    values = [figure(row) for row in iterations(step)[1:]]
    if not values:
        raise Missing("failed: the run has no second iteration")
    if any(value is None for value in values):
        raise Missing("not told: the metrics do not have it")
    return statistics.median(values)


def key(name):
    return lambda row: row.get(name)


def sum_of(*names):
    return lambda row: sum(row.get(name) or 0.0 for name in names)


FITS = sum_of("time/advantage_train_seconds", "time/strategy_train_seconds")
WALKS = key("time/traversal_seconds")
NODES = key("time/traversal_nodes_per_second")
# The last iteration that all runs of default size have.
LAST_COMMON = 3


def share_of_walks(name):
    """Part of the walks' time."""
    return lambda row: row[name] / max(row["time/traversal_seconds"], 1e-9)


ROWS = []
# The reason of the row before, which is not repeated.
LAST_REASON = None


def fail(what, reason, target):
    global LAST_REASON
    as_above = "failed: as above" if reason.startswith("failed") else "as above"
    text = as_above if reason == LAST_REASON else reason
    ROWS.append((what, text, target[0] if target else "", "no" if target else ""))
    LAST_REASON = reason


def tell(what, figure, shown, target=None):
    """A row: `figure` is called, `target` is (words, test)."""
    global LAST_REASON
    try:
        value = figure()
        text = shown(value)
    except Missing as why:
        return fail(what, str(why), target)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        return fail(what, f"failed: {type(error).__name__}: {error}", target)
    LAST_REASON = None
    met = ""
    if target:
        met = "yes" if target[1](value) else "no"
        met = met if DEVICE == "cuda" else "(dry run)"
    ROWS.append((what, text, target[0] if target else "", met))


def at_most(limit, words):
    return words, lambda value: value <= limit


def at_least(limit, words):
    return words, lambda value: value >= limit


def seconds(value):
    return f"{value:.3f} s"


def rate(value):
    return f"{value:,.0f} nodes/s"


def percent(value):
    return f"{100 * value:.0f} %"


def mib(value):
    return f"{value / 2**20:,.0f} MiB"


def doctor():
    path = FOLDER / "doctor.out"
    problems = json.loads(path.read_text())["problems"] if path.is_file() and path.read_text() else []
    if problems:
        raise Missing("failed: " + "; ".join(problems))
    tell("`doctor`", lambda: require("doctor"), lambda _: "everything needed is there")


def forward():
    ways = parsed("forward")[0]["ways"]
    on_device = ways if DEVICE == "cpu" else [way for way in ways if "CUDA" in way["way"]]
    if not on_device:
        raise Missing("failed: libtorch finds no GPU")
    for way in on_device:
        for point in way["points"][-2:]:
            tell(
                f"`profile forward`, {way['way']}, {point['batch']} rows",
                lambda point=point: point,
                lambda point: f"{point['us_per_call']:.0f} µs a call, {point['us_per_state']:.3f} µs a state",
            )


def default_iteration():
    iteration = key("time/iteration_seconds")
    tell("default iteration without evaluation", lambda: median("default", iteration), seconds, at_most(1.0, "<= 1.0 s"))
    tell("- walks", lambda: median("default", WALKS), seconds, at_most(0.25, "<= 0.25 s"))
    tell("- fits, 1,536 steps", lambda: median("default", FITS), seconds, at_most(0.7, "<= 0.7 s"))
    tell("- checkpoint and journals", lambda: median("default", key("time/checkpoint_seconds")), seconds)


def walks():
    for step, count, target in [
        ("default", "280", None),
        ("walks_1000", "1,000", None),
        ("walks_5000", "5,000", at_least(1_500_000, ">= 1,500,000 nodes/s")),
    ]:
        tell(f"walks, {count} a player", lambda step=step: median(step, NODES), rate, target)
        target = at_most(0.2, "<= 20 %") if step == "walks_5000" else None
        idle = share_of_walks("inference/idle_seconds")
        tell("- executor idle, mean of its lanes", lambda step=step: median(step, idle), percent, target)
        for name, what in [("walks", "no lane has work: waiting for walks"), ("lanes", "every lane has work: copies and forward passes")]:
            part = share_of_walks(f"inference/waiting_for_{name}_seconds")
            tell(f"- {what}", lambda step=step, part=part: median(step, part), percent)


def replay():
    for step, what in [("replay_device", "samples on the GPU"), ("replay_host", "samples on the host")]:
        tell(f"fits, {what}", lambda step=step: median(step, FITS), seconds)
        copied = key("fit/host_to_device_bytes")
        if DEVICE == "cuda":
            tell("- copied to the GPU in fits, an iteration", lambda step=step: median(step, copied), mib)


def precisions():
    for step, what in [("default", "f32"), ("bf16", "bf16"), ("f16", "f16")]:
        tell(f"{what}: walks", lambda step=step: median(step, WALKS), seconds)
        tell(f"{what}: fits", lambda step=step: median(step, FITS), seconds)
        loss = lambda step=step: iterations(step)[LAST_COMMON]["loss/advantage"]
        tell(f"{what}: advantage loss, iteration {LAST_COMMON + 1}", loss, lambda loss: f"{loss:.4g}")


def usage():
    for step, what in [("default", "a default iteration"), ("walks_5000", "5,000 walks a player")]:
        def utilisation(step=step):
            values = [row["device/utilisation"] for row in iterations(step)[1:] if "device/utilisation" in row]
            if not values:
                raise Missing("not told: " + ("the driver gave no reading" if DEVICE == "cuda" else "no GPU"))
            return statistics.mean(values)

        tell(f"GPU utilisation, {what}", utilisation, percent)
    if DEVICE == "cuda":
        tell("GPU memory of the process, default iteration", lambda: median("default", key("device/memory_process_bytes")), mib)
        tell("GPU memory free, default iteration", lambda: median("default", key("device/memory_free_bytes")), mib)


def parity():
    def difference(name):
        cpu, device = iterations("parity_cpu"), iterations("parity_device")
        if len(cpu) != len(device) or not cpu:
            raise Missing("failed: the runs have not the same iterations")
        return max(abs(there[name] - here[name]) / max(abs(here[name]), 1e-12) for here, there in zip(cpu, device))

    for name in ["advantage", "strategy"]:
        tell(
            f"{name} loss beside a CPU run of the same seed, greatest relative difference of 3 iterations",
            lambda name=name: difference(f"loss/{name}"),
            lambda value: f"{value:.2g}",
        )


def tune():
    def recommended():
        require("tune")
        found = json.loads((FOLDER / "tune" / "points.json").read_text())
        point = next(point for point in found["points"] if point["setting"] == found["recommended"])
        return found["recommended"], point["nodes_per_second"]

    def shown(found):
        setting, speed = found
        return (
            f"{setting['collect_timeout_us']} µs, max_batch {setting['max_batch']}, "
            f"in_flight {setting['in_flight']}: {rate(speed)}"
        )

    tell("`tune` recommends", recommended, shown)


def machine():
    try:
        report = json.loads((FOLDER / "doctor.out").read_text())
    except (OSError, ValueError) as why:
        return f"machine not told ({why})"
    cards = [f"{card['name']}, {card['memory_bytes'] / 2**30:.0f} GiB" for card in report["cuda_devices"]]
    where = "; ".join(cards) if cards else "no GPU"
    return f"{where}; {report['logical_cores']} logical cores; coorl-async {report['program']}, libtorch {report['libtorch']}"


def section(title, rows):
    """The rows of a section; a step that failed as a whole leaves its one row."""
    try:
        rows()
    except Missing as why:
        fail(title, str(why), None)
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        fail(title, f"failed: {type(error).__name__}: {error}", None)


def main():
    for title, rows in [
        ("`doctor`", doctor),
        ("`profile forward`", forward),
        ("default iteration", default_iteration),
        ("walks", walks),
        ("fits by place of samples", replay),
        ("number formats", precisions),
        ("GPU utilisation", usage),
        ("parity", parity),
        ("`tune`", tune),
    ]:
        section(title, rows)
    if DEVICE == "cpu":
        print("A dry run on the CPU with a tiny network: the figures mean nothing.\n")
    print(f"{machine()}. Medians over iterations but the first.\n")
    print("| what | value | target | met |\n|---|---|---|---|")
    for row in ROWS:
        print("| " + " | ".join(cell.replace("|", "/").replace("\n", " ") for cell in row) + " |")


main()
