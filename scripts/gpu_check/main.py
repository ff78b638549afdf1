"""The command line: chooses the parts, runs each within its budget, and keeps its result."""

import argparse
import datetime
import pathlib
import platform
import signal
import sys
import time
import traceback

from . import pack, pages, preflight, take
from .check import GRACE, TO_RUN, Check, working_folder
from .plan import MINUTES, NAMES, PARTS
from .progress import Progress
from .results import Results, default_folder, rows_of
from .tool import Ended, Failed, Overrun, Tool, build, repository, use_libraries

OK, SOME_FAILED, WRONG_REQUEST, NO_GPU, ENDED = 0, 1, 2, 3, 130

# The budget of a part in a dry run. It needs seconds, but a busy machine may need many times as long.
DRY_SECONDS = 600.0
# Seconds of `--only` from start to end, and seconds at the end of a limited call in which no part runs.
ONLY_SECONDS, RESERVE = 90, 10

# Signals that end a call. The first says that its time is over.
ENDING = (signal.SIGALRM, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

# Options that are commands of their own.
COMMANDS = {"--pack": pack.main, "--take": take.main, "--pages": pages.main}


def main(arguments=None):
    arguments = sys.argv[1:] if arguments is None else arguments
    for option, command in COMMANDS.items():
        if any(argument == option or argument.startswith(f"{option}=") for argument in arguments):
            return command(arguments)
    options = parse(arguments)
    progress = Progress(options.bring)
    try:
        working = working_folder(options.dry_run)
    except OSError as error:
        progress.notes.append(f"There is no scratch space: {error}. Set TMPDIR to a folder with room.")
        progress.keep()
        print(f"gpu-check: {progress.notes[0]}", file=sys.stderr)
        return WRONG_REQUEST
    with working as folder:
        return checked(options, pathlib.Path(folder), progress)


def checked(options, folder, progress):
    """Runs the chosen parts. Returns the exit code, whatever ends them."""
    started = time.monotonic()
    progress.heading = [f"gpu-check {' '.join(sys.argv[1:])}", f"begun {now()}, {options.minutes:g} minutes"]
    progress.keep()
    end_on_signals(options.minutes * 60)
    try:
        return looked(options, folder, progress, started)
    except Ended as ended:
        for part, state in progress.states.items():
            if state == "under way":
                progress.states[part] = f"not finished: {ended}"
        progress.notes.append(f"The call ended early: {ended}.")
        print(f"gpu-check: {ended}; finished parts are kept", file=sys.stderr)
        return ENDED
    except BaseException:
        progress.notes.append("Fault of gpu-check: " + traceback.format_exc(limit=-2))
        raise
    finally:
        for number in ENDING:
            signal.signal(number, signal.SIG_IGN)
        progress.keep()


def end_on_signals(seconds):
    """Makes the end of the time and the usual signals end the part under way, so that finished ones are kept."""
    def end(number, _):
        raise Ended(f"the {seconds / 60:g} minutes are over" if number == signal.SIGALRM
                    else f"stopped by {signal.Signals(number).name}")

    for number in ENDING:
        signal.signal(number, end)
    signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.001))


def looked(options, folder, progress, started):
    """Looks for what the parts need, and runs those that have it."""
    use_libraries()
    tool = Tool(options.binary, options.sandbox)
    progress.findings, device = preflight.look(tool, options.dry_run)
    for finding in progress.findings:
        print(preflight.line(finding))
    if not device:
        progress.notes.append("No part can run.")
        absent = next(finding for finding in progress.findings if finding.name == "device")
        print(f"gpu-check: there is no CUDA device: {absent.searched[0]}", file=sys.stderr)
        return NO_GPU
    # A dry run measures nothing: its results never lie beside real ones.
    base = repository() / ("target/gpu-check" if options.dry_run else "bench/results")
    chosen_folder = options.out or default_folder(base, device["name"], options.only, options.anew)
    progress.results = results = Results(chosen_folder, [folder, repository()])
    progress.heading.append(f"{device['name']}, {tool.version()}, build {build()}")
    stranger = results.stranger(device["name"], tool.version())
    if stranger:
        print(f"gpu-check: {results.folder} has results of {stranger}; name another folder with --out", file=sys.stderr)
        progress.notes.append(f"{results.folder.name} has results of {stranger}.")
        return WRONG_REQUEST
    wanted = chosen(options)
    for part in PARTS:
        if part not in wanted:
            progress.states[part.name] = "not asked for"
    for part in wanted:
        code = one(options, folder, progress, tool, device, part, started)
        if code is not None:
            return code
    return summary(results, progress, options, time.monotonic() - started)


def one(options, folder, progress, tool, device, part, started):
    """Runs one part if it is to run. Returns an exit code if no other can follow."""
    results = progress.results
    if results.part(part.name) and part.name not in options.again:
        print(f"{part.name}: kept from an earlier call")
        return None
    missing = preflight.lacking(part, progress.findings)
    left = options.minutes * 60 - RESERVE - (time.monotonic() - started)
    budget = options.budget.get(part.name, float(part.seconds))
    if options.only:
        budget = min(budget, left)
    if missing:
        return leave(progress, part, f"left out: there is no {missing}")
    if left < budget:
        reason = f"{budget:.0f} s do not fit into the {max(left, 0):.0f} s left"
        return leave(progress, part, f"left for the next call: {reason}")
    if options.dry_run and part.name not in options.budget:
        budget = DRY_SECONDS
    progress.set(part.name, "under way")
    check = Check(tool, made(folder, part.name), budget, options.dry_run, options)
    check.grace = max(min(GRACE, left - budget), 0)
    check.device, check.findings = device, progress.findings
    tool.failures = []
    result = run_part(check, part)
    if result is None:
        progress.states[part.name] = "the GPU was lost"
        return lost(tool, results, part, progress)
    result |= {"device": device["name"], "version": tool.version(), "build": build(), "host": platform.platform()}
    result |= {"dry_run": True} if options.dry_run else {}
    result["large"] = results.keep_files(part.name, result.pop("files"))
    results.keep_failures(part.name, tool.failures)
    results.write(part.name, result)
    results.summarise()
    progress.set(part.name, "finished")
    print_part(part.name, result)
    return None


def leave(progress, part, reason):
    print(f"{part.name}: {reason}")
    progress.set(part.name, reason)


def now():
    return datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")


def made(folder, name):
    path = folder / name
    path.mkdir()
    return path


def chosen(options):
    names = {*options.parts, *options.again}
    return [part for part in PARTS if not names or part.name in names]


def parse(arguments):
    parser = argparse.ArgumentParser(
        prog="gpu-check",
        description=f"Checks and measures Tunesmith on a machine with an NVIDIA GPU, in {MINUTES} minutes. Each "
        "finished part is kept in one folder, and the next call goes on with those that are missing.",
        epilog="parts: " + "; ".join(f"{part.name} ({part.seconds} s: {part.purpose})" for part in PARTS)
        + ". `gpu-check --pack FOLDER` prepares a folder for a machine without Rust and without a network, in which "
        "`run OUT` calls this script; `gpu-check --take ARCHIVE` puts what came back into bench/results; `gpu-check "
        "--pages` renews the lines about GPUs in the documentation. "
        "Exit code: 0 all passed, 1 some failed, 2 wrong request, 3 there is no GPU, or it is lost, 130 the time was "
        "over, or somebody stopped it.",
    )
    add_options(parser)
    options = parser.parse_args(arguments)
    try:
        options.budget = {name: float(seconds) for name, seconds in (text.split("=") for text in options.budget)}
    except ValueError:
        parser.error("--budget takes PART=SECONDS, for instance suite=300")
    if options.only:
        options.parts, options.again = [options.only], [options.only]
        options.minutes = min(options.minutes, ONLY_SECONDS / 60)
    options.anew = "all" in options.again
    if options.anew:
        options.again = options.parts or NAMES
    for name in [*options.parts, *options.again, *options.budget]:
        if name not in NAMES:
            parser.error(f"there is no part `{name}`; parts are {', '.join(NAMES)}")
    if options.samples < 1:
        parser.error("--samples takes a number of configurations from 1 on")
    if not 0 < options.minutes < float("inf"):
        parser.error("--minutes takes a number above 0")
    if options.dry_run and not options.out:
        if not options.bring:
            parser.error("a dry run measures nothing: name a folder for its results with --out")
    return options


def add_options(parser):
    parser.add_argument("parts", nargs="*", metavar="PART", help="the parts to run [default: all]")
    parser.add_argument("--again", action="append", default=[], metavar="PART",
                        help="run this part, although it is finished; `all` begins a new folder of results")
    parser.add_argument("--only", metavar="PART",
                        help=f"run this part alone, again if it is finished, in {ONLY_SECONDS} seconds at most")
    parser.add_argument("--binary",
                        help="the program [default: tunesmith beside this folder, in target/release or on PATH]")
    parser.add_argument("--out", type=pathlib.Path,
                        help="the folder of the results [default: the latest incomplete one of this device, else "
                        "bench/results/gpu-DEVICE-DATE]")
    parser.add_argument("--bring", type=pathlib.Path, metavar="FOLDER",
                        help="also keep an archive of the results and a summary in this folder, renewed after each "
                        "part")
    parser.add_argument("--budget", action="append", default=[], metavar="PART=SECONDS",
                        help="another budget for a part than the plan's")
    parser.add_argument("--minutes", type=float, default=MINUTES + 2.0,
                        help="the most that this call takes: a part that does not fit waits for the next "
                        f"[default: {MINUTES + 2}]")
    parser.add_argument("--samples", type=int, default=3,
                        help="configurations of each problem in the part `suite` [default: 3]")
    parser.add_argument("--wheels", type=pathlib.Path, default=repository() / "wheels",
                        help="a folder with Kernel Tuner's wheel and those that it needs [default: wheels, of a pack]")
    parser.add_argument("--recordings", type=pathlib.Path, default=repository() / "recordings",
                        help="a folder with paper-coulomb-*.csv.gz, the counter paper's data [default: recordings, of "
                        "a pack]")
    parser.add_argument("--no-sandbox", dest="sandbox", action="store_false",
                        help="run kernels without the sandbox, for a driver that does not work in it")
    parser.add_argument("--dry-run", action="store_true",
                        help="run every part on a scripted device, at small sizes; needs no GPU and measures nothing")


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
        "date": now(),
        "seconds": round(time.monotonic() - started, 1),
        "budget": check.budget,
        "cuts": check.cuts,
        "rows": [row._asdict() for row in check.rows],
        "tables": [table._asdict() for table in check.tables],
        "data": check.data,
        "files": check.files,
    }


def lost(tool, results, part, progress):
    """Says that the device is gone. Finished parts are kept."""
    answer, reason = preflight.devices(tool)
    if any(device["backend"] == "cuda" for device in answer["devices"]):
        text = "the GPU was lost and is there again; the same command runs this part anew"
    else:
        text = f"the GPU is lost ({reason or 'no device answers'}); the same command goes on with this part"
    progress.notes.append(f"{part.name}: {text}")
    print(f"{part.name}: {text}", file=sys.stderr)
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


def summary(results, progress, options, seconds):
    """Prints the counts and returns the exit code."""
    parts = results.finished()
    rows = [row for result in parts.values() for row in rows_of(result)]
    failed = sum(row.passed is False for row in rows)
    skipped = sum(row.passed is None for row in rows)
    missing = [name for name in NAMES if name not in parts]
    print(f"\n{len(rows)} checks: {failed} failed, {skipped} not made; {seconds:.0f} s; {results.folder / 'README.md'}")
    if missing:
        print(f"not run: {', '.join(missing)}; the same command goes on with them")
    progress.notes.append(f"{len(rows)} checks: {failed} failed, {skipped} not made; {seconds:.0f} s")
    # A dry run measures nothing: only what could not run at all is a fault.
    faults = sum(row.passed is False and row.expected == TO_RUN for row in rows)
    return SOME_FAILED if (faults if options.dry_run else failed) else OK
