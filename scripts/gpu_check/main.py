"""The command line: which parts are run, the table, the JSON."""

import argparse
import datetime
import json
import pathlib
import platform
import sys
import time

from . import conformance, counters, devices, energy, guided, suite, tuning
from .tool import Check, Failed, Row, Tool, repository

# In the order run: what the others need comes first.
PARTS = {
    "devices": (devices.run, "the GPU is found, its counters are known"),
    "conformance": (conformance.run, "every kind of failure gets its status, and the run goes on"),
    "counters": (counters.run, "counters of kernels whose work is known: a copy, multiply-adds"),
    "tuning": (tuning.run, "the CUDA examples; the matrix product against cuBLAS; overhead"),
    "suite": (suite.run, "problems of the suite beside cuBLAS and cuDNN"),
    "energy": (energy.run, "energy per launch against power and time, and as an objective"),
    "guided": (guided.run, "profile-guided search against random search, within and between inputs"),
}


def main():
    options = parse()
    check = Check(Tool(options.binary), options.runs, options.seconds)
    started = time.monotonic()
    try:
        device = devices.gpu(check.tool)
    except Failed as absent:
        print(f"gpu-check: {absent}", file=sys.stderr)
        return 3
    parts = options.parts or list(PARTS)
    # The others share what this one leaves.
    reserved = {"guided": 0.55}
    results = {}
    for name in [name for name in PARTS if name in parts]:
        left = check.seconds - (time.monotonic() - started)
        share = left - (check.seconds * reserved["guided"] if name != "guided" and "guided" in parts else 0)
        results[name] = run_part(check, name, max(share, 15))
        print_table(name, results[name]["rows"])
    document = {
        "device": device,
        "host": platform.platform(),
        "version": check.tool.version(),
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - started, 1),
        "parts": {name: as_json(result) for name, result in results.items()},
    }
    path = write(document, options.out)
    rows = [row for result in results.values() for row in result["rows"]]
    failed = sum(row.passed is False for row in rows)
    skipped = sum(row.passed is None for row in rows)
    print(f"\n{len(rows)} checks: {failed} failed, {skipped} not made; {document['seconds']} s; {path}")
    return 1 if failed else 0


def parse():
    parser = argparse.ArgumentParser(
        prog="gpu-check",
        description="Checks Tunesmith on a machine with an NVIDIA GPU, prints a table and writes one JSON document.",
        epilog="parts: " + "; ".join(f"{name} ({text})" for name, (_, text) in PARTS.items())
        + ". Exit code: 0 all passed, 1 some failed, 2 wrong request, 3 there is no GPU.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to run [default: all]")
    parser.add_argument("--binary", help="the program [default: tunesmith beside this folder, in target/release or on PATH]")
    parser.add_argument("--out", type=pathlib.Path, help="the JSON [default: bench/results/DEVICE.json]")
    parser.add_argument("--runs", type=int, default=30, help="searches of each strategy in `guided` [default: 30]")
    parser.add_argument("--seconds", type=float, default=460, help="what all may take together [default: 460]")
    options = parser.parse_args()
    unknown = [part for part in options.parts if part not in PARTS]
    if unknown:
        parser.error(f"there is no part `{unknown[0]}`; parts are {', '.join(PARTS)}")
    return options


def run_part(check, name, seconds):
    """The rows and the data of a part. A part that fails is a row that says why; the others are run all the same."""
    started = time.monotonic()
    check.begin(seconds)
    try:
        PARTS[name][0](check)
    except Failed as failed:
        check.add(name, "to run", str(failed), False)
    return {"rows": check.rows, "data": check.data, "seconds": round(time.monotonic() - started, 1)}


def print_table(name, rows):
    print(f"\n{name}")
    width = max([len(row.name) for row in rows], default=0)
    for row in rows:
        verdict = {True: "ok    ", False: "FAILED", None: "-     "}[row.passed]
        print(f"  {verdict} {row.name:<{width}}  {row.found}   (expected: {row.expected})")
    sys.stdout.flush()


def as_json(result):
    return {**result, "rows": [row._asdict() for row in result["rows"]]}


def write(document, out):
    name = "".join(c if c.isalnum() else "-" for c in document["device"]["name"].lower()).strip("-")
    path = out or repository() / "bench" / "results" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=1) + "\n")
    return path


__all__ = ["Row", "main"]
