"""Prepares a folder with everything that a machine without Rust and network needs: `gpu-check --pack FOLDER`."""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from .plan import NAMES
from .results import Results
from .tool import Tool, build, repository

# Kernel Tuner with what it imports to search exhaustively. The machine there has NumPy and CuPy, or they are added.
KERNEL_TUNER = ["kernel_tuner==1.5.0", "python-constraint2", "jsonschema", "jsonschema-specifications", "referencing",
                "rpds-py", "attrs", "typing_extensions", "packaging", "xmltodict"]
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64",
             "manylinux_2_12_x86_64", "manylinux2010_x86_64"]
FOLDERS = ["scripts", "suite", "examples"]
# Bytes that a pack should not exceed.
MOST = 40 << 20

RUN = """\
#!/usr/bin/env bash
# run OUT [--minutes N] [--only PART] [OPTION of gpu-check...]
#
# Checks Tunesmith on this machine's GPU for 8 minutes at most. OUT then holds results.tar.gz, for `gpu-check --take`,
# and summary.txt. Both are renewed after each part, so that a call that is cut off leaves its finished parts.
case "${1:-}" in
"" | -h | --help) sed -n '2,5s/^# \\{0,1\\}//p' "$0"; exit 2 ;;
-*) echo "run: name a folder for what comes back before the options: run OUT" >&2; exit 2 ;;
esac
out="$1"
shift
# A later --minutes counts.
exec "$(dirname "$0")/scripts/gpu-check" --bring "$out" --minutes 8 "$@"
"""


def main(arguments):
    options = parse(arguments)
    folder = options.pack
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        print(f"gpu-check: {folder} is not empty; name a new folder", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    binary(Tool(options.binary).binary, folder / "tunesmith")
    ignored = shutil.ignore_patterns("*.jsonl", "*.html", "__pycache__", "target", "*.inputs")
    for name in FOLDERS:
        shutil.copytree(repository() / name, folder / name, ignore=ignored)
    run = folder / "run"
    run.write_text(RUN)
    run.chmod(0o755)
    (folder / "BUILD").write_text(build() + "\n")
    finished = unfinished(folder / "bench" / "results")
    notes = [wheels(options, folder / "wheels"), libraries(options, folder / "nvidia"),
             recordings(options.shared, folder / "recordings")]
    notes += [f"carries the finished parts of {name}, which goes on" for name in finished]
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    notes += [f"the pack has more than {MOST >> 20} MiB"] if size > MOST else []
    for note in filter(None, notes):
        print(f"gpu-check: {note}", file=sys.stderr)
    print(f"{folder}: {size / 2**20:.1f} MiB")
    print(f"there: {folder.name}/run OUT; then, here: scripts/gpu-check --take OUT/results.tar.gz")
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(prog="gpu-check", description=__doc__)
    parser.add_argument("--pack", type=pathlib.Path, metavar="FOLDER", required=True, help="a new folder")
    parser.add_argument("--binary", help="the program, as for gpu-check")
    parser.add_argument("--python", default="3.12", help="the version of Python there [default: 3.12]")
    parser.add_argument("--with", dest="more", default="", metavar="NAME,...",
                        help="more packages with what they need, for instance numpy,cupy-cuda13x if the machine there "
                        "has none")
    parser.add_argument("--no-wheels", action="store_true", help="leave Kernel Tuner out")
    parser.add_argument("--libraries", type=pathlib.Path, metavar="FOLDER",
                        help="a folder with NVRTC and CUPTI (scripts/nvidia-wheels), if the machine there has no "
                        "toolkit")
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("TUNESMITH_SHARED"),
                        help="a folder with counters/paper-coulomb-*.csv.gz [default: $TUNESMITH_SHARED]")
    return parser.parse_args(arguments)


def binary(source, target):
    """Copies the program, without its symbols where `strip` is there."""
    shutil.copy2(shutil.which(source) or source, target)
    if shutil.which("strip"):
        subprocess.run(["strip", str(target)], check=False)


def unfinished(folder):
    """Copies the finished parts of results that lack some, so that a visit goes on with those. Returns their names."""
    names = []
    for source in sorted((repository() / "bench" / "results").glob("gpu-*")):
        finished = Results(source).finished()
        if not finished or len(finished) == len(NAMES):
            continue
        (folder / source.name).mkdir(parents=True)
        for name in finished:
            shutil.copy2(source / f"{name}.json", folder / source.name)
        names.append(source.name)
    return names


def wheels(options, folder):
    """Downloads Kernel Tuner with what it needs. Returns a note if that fails."""
    if options.no_wheels:
        return None
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", downloads,
                   "--python-version", options.python, "--implementation", "cp"]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
        requests = [["--no-deps", *KERNEL_TUNER], [name for name in options.more.split(",") if name]]
        for wanted in filter(None, requests):
            ran = subprocess.run([*command, *wanted], capture_output=True, text=True)
            if ran.returncode:
                last = ran.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
                return f"Kernel Tuner's wheels are left out: {last[0]}"
        folder.mkdir()
        for wheel in pathlib.Path(downloads).glob("*.whl"):
            shutil.copy2(wheel, folder)
    return None


def libraries(options, folder):
    """Copies NVRTC and CUPTI, for machines without a toolkit."""
    if not options.libraries:
        return None
    if not options.libraries.is_dir():
        return f"NVRTC and CUPTI are left out: {options.libraries} is no folder"
    # nvcc is large, and no part uses it.
    shutil.copytree(options.libraries, folder, ignore=shutil.ignore_patterns("bin", "nvvm"))
    return None


def recordings(shared, folder):
    """Copies the counter paper's data, if they are here."""
    found = sorted(pathlib.Path(shared).glob("counters/paper-coulomb-*.csv.gz")) if shared else []
    if not found:
        return "the counter paper's data are left out: name their folder with --shared"
    folder.mkdir()
    for file in found:
        shutil.copy2(file, folder)
    return None
