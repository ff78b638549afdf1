"""The command line: chooses the parts, runs each within its budget, and keeps its result."""

import argparse
import datetime
import pathlib
import platform
import sys
import time
import traceback

from . import environment, pack
from .check import TO_RUN, Check, working_folder
from .plan import MINUTES, NAMES, PARTS
from .results import Results, default_folder, rows_of
from .tool import Failed, Overrun, Tool, repository, use_libraries

OK, SOME_FAILED, WRONG_REQUEST, NO_GPU = 0, 1, 2, 3

# The budget of a part in a dry run. It needs seconds, but a busy machine may need many times as long.
DRY_SECONDS = 600.0


def main():
    if sys.argv[1:2] == ["pack"]:
        return pack.main(sys.argv[2:])
    options = parse()
    with working_folder(options.dry_run) as folder:
        return checked(options, pathlib.Path(folder))


def checked(options, folder):
    """Runs the chosen parts. Returns the exit code."""
    started = time.monotonic()
    use_libraries()
    tool = Tool(options.binary, options.sandbox)
    try:
        device = environment.gpu(tool)
    except Failed as absent:
        print(f"gpu-check: {absent}", file=sys.stderr)
        return NO_GPU
    chosen_folder = options.out or default_folder(repository() / "bench" / "results", device["name"])
    results = Results(chosen_folder, [folder, repository()])
    stranger = results.stranger(device["name"], tool.version())
    if stranger:
        print(f"gpu-check: {results.folder} has results of {stranger}; name another folder with --out", file=sys.stderr)
        return WRONG_REQUEST
    for part in chosen(options):
        if results.part(part.name) and part.name not in options.again:
            print(f"{part.name}: kept from an earlier call")
            continue
        left = options.minutes * 60 - (time.monotonic() - started)
        budget = options.budget.get(part.name, DRY_SECONDS if options.dry_run else float(part.seconds))
        if left < budget:
            print(f"{part.name}: {budget:.0f} s do not fit into what is left of {options.minutes} minutes; call again")
            continue
        result = run_part(Check(tool, made(folder, part.name), budget, options.dry_run, options), part)
        if result is None:
            return lost(tool, results, part)
        result |= {"device": device["name"], "version": tool.version(), "host": platform.platform()}
        result["large"] = results.keep_files(part.name, result.pop("files"))
        results.write(part.name, result)
        results.summarise()
        print_part(part.name, result)
    return summary(results, options, time.monotonic() - started)


def made(folder, name):
    path = folder / name
    path.mkdir()
    return path


def chosen(options):
    names = {*options.parts, *options.again}
    return [part for part in PARTS if not names or part.name in names]


def parse():
    parser = argparse.ArgumentParser(
        prog="gpu-check",
        description=f"Checks and measures Tunesmith on a machine with an NVIDIA GPU, in {MINUTES} minutes. Each "
        "finished part is kept in one folder, and the next call goes on with those that are missing.",
        epilog="parts: " + "; ".join(f"{part.name} ({part.seconds} s: {part.purpose})" for part in PARTS)
        + ". `gpu-check pack FOLDER` prepares a folder for a machine without Rust and without a network. "
        "Exit code: 0 all passed, 1 some failed, 2 wrong request, 3 there is no GPU, or it is lost.",
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to run [default: all]")
    parser.add_argument("--again", action="append", default=[], metavar="PART",
                        help="run this part, although it is finished")
    parser.add_argument("--binary",
                        help="the program [default: tunesmith beside this folder, in target/release or on PATH]")
    parser.add_argument("--out", type=pathlib.Path,
                        help="the folder of the results [default: the latest incomplete one of this device, else "
                        "bench/results/gpu-DEVICE-DATE]")
    parser.add_argument("--budget", action="append", default=[], metavar="PART=SECONDS",
                        help="another budget for a part than the plan's")
    parser.add_argument("--minutes", type=float, default=MINUTES + 2.0,
                        help="the most that this call takes: a part that does not fit waits for the next [default: 27]")
    parser.add_argument("--wheels", type=pathlib.Path, default=repository() / "wheels",
                        help="a folder with Kernel Tuner's wheel and those that it needs [default: wheels, of a pack]")
    parser.add_argument("--recordings", type=pathlib.Path, default=repository() / "recordings",
                        help="a folder with paper-coulomb-*.csv.gz, the counter paper's data [default: recordings, of "
                        "a pack]")
    parser.add_argument("--no-sandbox", dest="sandbox", action="store_false",
                        help="run kernels without the sandbox, for a driver that does not work in it")
    parser.add_argument("--dry-run", action="store_true",
                        help="run every part on a scripted device, at small sizes; needs no GPU and measures nothing")
    options = parser.parse_args()
    try:
        options.budget = {name: float(seconds) for name, seconds in (text.split("=") for text in options.budget)}
    except ValueError:
        parser.error("--budget takes PART=SECONDS, for instance suite=300")
    for name in [*options.parts, *options.again, *options.budget]:
        if name not in NAMES:
            parser.error(f"there is no part `{name}`; parts are {', '.join(NAMES)}")
    if options.dry_run and not options.out:
        parser.error("a dry run measures nothing: name a folder for its results with --out")
    return options


def run_part(check, part):
    """Returns the result of a part, or None if the device is gone. A part that fails is a row that says why."""
    started = time.monotonic()
    try:
        part.run(check)
    except Overrun as overrun:
        check.cuts.append(str(overrun))
    except Failed as failed:
        check.add(part.name, TO_RUN, str(failed), False)
    except Exception:  # a fault of this script must not cost the other parts
        check.add(part.name, TO_RUN, "fault of gpu-check: " + traceback.format_exc(limit=-2), False)
    if any("is lost" in row.found for row in check.rows):
        return None
    return {
        "part": part.name,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - started, 1),
        "budget": check.budget,
        "cuts": check.cuts,
        "rows": [row._asdict() for row in check.rows],
        "tables": [table._asdict() for table in check.tables],
        "data": check.data,
        "files": check.files,
    }


def lost(tool, results, part):
    """Says that the device is gone. Finished parts are kept."""
    try:
        environment.gpu(tool)
        print(f"{part.name}: the GPU was lost and is there again; the same command runs this part anew",
              file=sys.stderr)
    except Failed as absent:
        print(f"{part.name}: the GPU is lost ({absent}); the same command goes on with this part", file=sys.stderr)
    print(f"kept so far: {results.summarise()}", file=sys.stderr)
    return NO_GPU


def print_part(name, result):
    print(f"\n{name}, {result['seconds']} s of {result['budget']:.0f}")
    rows = rows_of(result)
    width = max([len(row.name) for row in rows], default=0)
    for row in rows:
        verdict = {True: "ok    ", False: "FAILED", None: "-     "}[row.passed]
        print(f"  {verdict} {row.name:<{width}}  {row.found}   (expected: {row.expected})")
    for cut in result["cuts"]:
        print(f"  cut short: {cut}")
    sys.stdout.flush()


def summary(results, options, seconds):
    """Prints the counts and returns the exit code."""
    parts = results.finished()
    rows = [row for result in parts.values() for row in rows_of(result)]
    failed = sum(row.passed is False for row in rows)
    skipped = sum(row.passed is None for row in rows)
    missing = [name for name in NAMES if name not in parts]
    print(f"\n{len(rows)} checks: {failed} failed, {skipped} not made; {seconds:.0f} s; {results.folder / 'README.md'}")
    if missing and not options.parts:
        print(f"not run: {', '.join(missing)}; the same command goes on with them")
    # A dry run measures nothing: only what could not run at all is a fault.
    faults = sum(row.passed is False and row.expected == TO_RUN for row in rows)
    return SOME_FAILED if (faults if options.dry_run else failed) else OK
