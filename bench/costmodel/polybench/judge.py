"""Judges the cost model by kernels that no calibration saw: the mathematics of the PolyBench set,
in plain C.

    judge.py FILE [--device DEVICE] [--tunesmith TUNESMITH] [--out FOLDER] [KERNEL...]

FILE is the device file of the device (`tunesmith calibrate --device DEVICE -o FILE`). Every kernel
is imported (`nest import`), verified and measured in its default configuration (`run`), and
estimated. Prints one line for each kernel, and then the errors of all. A limit above a measured time
is a fault: the script then ends with 1. Run it when the machine is quiet; it takes about two minutes.
"""

import argparse
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
# An estimate that is wrong by this factor must have said that it does not know the kernel.
WRONG = 3.0
# An error counts as at least this much in the geometric mean, as in `calibrate --judge`.
LEAST_ERROR = 0.01
# Times of a kernel differ from process to process. The least of this many is its time.
PROCESSES = 3


def command(arguments, folder):
    return subprocess.run(arguments, cwd=folder, capture_output=True, text=True)


def answer(arguments, folder):
    ran = command([*arguments, "--json"], folder)
    if ran.returncode != 0:
        raise RuntimeError(f"{' '.join(map(str, arguments))}\n{ran.stderr.strip()}")
    return json.loads(ran.stdout)


def judged(name, sizes, args, folder):
    """Returns the measured time, the estimate with its interval and what it announced, and the limit."""
    shutil.copy(HERE / "kernels" / f"{name}.c", folder)
    nest = f"{name}.nest"
    imported = answer([args.tunesmith, "nest", "import", f"{name}.c", "--function", name, "--size", sizes], folder)
    run = [args.tunesmith, "run", f"{name}.toml", "--device", args.device]
    times = [answer(run, folder)["time_ms"] for _ in range(PROCESSES)]
    values = [sizes, *(f"{own['name']}={own['default']}" for own in imported["parameters"])]
    estimate = [args.tunesmith, "estimate", nest, "--on", args.file, "--size", ",".join(values)]
    ranked = answer([args.tunesmith, "estimate", f"{name}.toml", "--on", args.file, "-n", "1"], folder)
    return min(times), answer(estimate, folder) | {"limit_ms": ranked["limit_ms"]}


def is_within(time, interval):
    if interval is None:
        return None
    return interval["low_ms"] <= time and (interval["high_ms"] is None or time <= interval["high_ms"])


def limit(time, estimated):
    own = estimated["limit_ms"]
    return "no limit" if own is None else f"limit {own / time:.2f} of the time{' ABOVE IT' if own > time else ''}"


def line(name, time, estimated):
    guess, interval = estimated["time_ms"], estimated["interval"]
    ends = "no interval"
    if interval is not None:
        high = interval["high_ms"]
        ends = f"{interval['low_ms']:8.3f} to {'any' if high is None else format(high, '8.3f')}"
    missed = "" if is_within(time, interval) in (True, None) else " MISSED"
    outside = " ".join(own["kind"] for own in estimated["outside"])
    return f"{name:20} {time:9.3f} ms  estimate {guess:9.3f} ms ({guess / time - 1:+5.0%})  {ends}{missed}  {limit(time, estimated)}  {outside}"


def summary(rows):
    errors = [max(abs(estimated["time_ms"] / time - 1), LEAST_ERROR) for time, estimated in rows.values()]
    mean = math.exp(sum(map(math.log, errors)) / len(errors))
    within = [is_within(time, estimated["interval"]) for time, estimated in rows.values()]
    known = [own for own in within if own is not None]

    def is_wrong(time, estimated):
        factor = estimated["time_ms"] / time
        return max(factor, 1 / factor) > WRONG and not estimated["outside"]

    return {
        "kernels": len(rows),
        "geometric_mean_error": mean,
        "median_error": sorted(errors)[len(errors) // 2],
        "within_interval": sum(known) / len(known) if known else None,
        "wrong_without_saying": [name for name, row in rows.items() if is_wrong(*row)],
        "limits_above": [name for name, (time, own) in rows.items() if (own["limit_ms"] or 0.0) > time],
        "announced": [name for name, (_, estimated) in rows.items() if estimated["outside"]],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("kernels", nargs="*")
    parser.add_argument("--device", default="c")
    parser.add_argument("--tunesmith", type=pathlib.Path, default=ROOT / "target/release/tunesmith")
    parser.add_argument("--out", type=pathlib.Path, help="keep the nests, and write result.json there")
    args = parser.parse_args()
    args.file, args.tunesmith = args.file.resolve(), args.tunesmith.resolve()
    sizes = dict(own.split() for own in (HERE / "kernels/sizes").read_text().splitlines())
    unknown = [name for name in args.kernels if name not in sizes]
    if unknown:
        sys.exit(f"there is no kernel {', '.join(unknown)}; there are {', '.join(sizes)}")
    with tempfile.TemporaryDirectory() as temporary:
        folder = args.out or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows, failed = {}, []
        for name in args.kernels or sizes:
            try:
                rows[name] = judged(name, sizes[name], args, folder)
                print(line(name, *rows[name]), flush=True)
            except RuntimeError as error:
                failed.append(name)
                print(f"{name:20} FAILED {error}", flush=True)
        if not rows:
            sys.exit("no kernel could be judged")
        result = summary(rows) | {"failed": failed}
        print(json.dumps(result, indent=2))
        if args.out:
            times = {name: {"measured_ms": time, "estimate": estimated} for name, (time, estimated) in rows.items()}
            (folder / "result.json").write_text(json.dumps(result | {"kernels_ms": times}, indent=2) + "\n")
    sys.exit(1 if failed or result["limits_above"] else 0)


main()
