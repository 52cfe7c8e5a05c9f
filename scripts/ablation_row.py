"""One row of the table that ablations.sh prints: what a run learned from, and how it plays."""

import json
import sys

SCRIPTS = ["safe_heuristic_loose", "safe_heuristic_strict", "noisy_safe", "passive_discard", "random"]


def main(name, metrics, judged):
    with open(metrics) as lines:
        rows = [json.loads(line) for line in lines]
    nodes = sum(row["traversal/nodes"] for row in rows)
    with open(judged) as text:
        results = {result["opponent"]: result for result in json.load(text)["results"]}

    def percent(value):
        return f"{100 * value:.1f}"

    first = results["safe_heuristic"]
    interval = f"[{percent(first['win_rate_low'])}, {percent(first['win_rate_high'])}]"
    cells = [
        name,
        f"{nodes / 1e6:.1f} M",
        f"{percent(first['win_rate'])} {interval}",
        f"{first['mean_difference_points']:+.1f}",
        percent(first["timeouts"] / first["games"]),
    ]
    cells += [percent(results[script]["win_rate"]) for script in SCRIPTS]
    print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
