"""Prints a kernel's time beside its estimate.

    beside.py NAME MEASURED.json ESTIMATED.json
"""

import json
import sys


def main():
    name = sys.argv[1]
    measured = json.load(open(sys.argv[2]))
    estimated = json.load(open(sys.argv[3]))
    time, guess = measured["time_ms"], estimated["time_ms"]
    interval = estimated["interval"] or {"low_ms": 0, "high_ms": None}
    high = interval["high_ms"]
    is_within = interval["low_ms"] <= time and (high is None or time <= high)
    unmeasured = [own["property"] for own in estimated["outside"] if own["kind"] == "unmeasured"]
    ends = f"{interval['low_ms']:.4f} to " + (f"{high:.4f}" if high is not None else "any")
    print(
        f"{name:24} {time:9.4f} ms, estimate {guess:9.4f} ms ({(guess - time) / time:+.0%}), "
        f"interval {ends}{'' if is_within else ' MISSED'} {' '.join(unmeasured)}"
    )


main()
