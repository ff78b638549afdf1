"""Prepares a folder with everything that a machine without Rust and network needs: `gpu-check pack FOLDER`."""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from .tool import Tool, repository

KERNEL_TUNER = "kernel_tuner==1.5.0"
PLATFORMS = ["manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux_2_17_x86_64", "manylinux2014_x86_64",
             "manylinux_2_12_x86_64", "manylinux2010_x86_64"]
FOLDERS = ["scripts", "suite", "examples"]


def main(arguments):
    options = parse(arguments)
    folder = options.folder
    if folder.exists() and any(folder.iterdir()):
        print(f"gpu-check: {folder} is not empty; name a new folder", file=sys.stderr)
        return 2
    folder.mkdir(parents=True, exist_ok=True)
    binary(Tool(options.binary).binary, folder / "tunesmith")
    ignored = shutil.ignore_patterns("*.jsonl", "*.html", "__pycache__", "target", "*.inputs")
    for name in FOLDERS:
        shutil.copytree(repository() / name, folder / name, ignore=ignored)
    notes = [wheels(options, folder / "wheels"), libraries(folder / "nvidia"),
             recordings(options.shared, folder / "recordings")]
    for note in filter(None, notes):
        print(f"gpu-check: {note}", file=sys.stderr)
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    print(f"{folder}: {size / 2**20:.1f} MiB. There: {folder.name}/scripts/gpu-check --out RESULTS")
    return 0


def parse(arguments):
    parser = argparse.ArgumentParser(prog="gpu-check pack", description=__doc__)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="a new folder")
    parser.add_argument("--binary", help="the program, as for gpu-check")
    parser.add_argument("--python", default="3.12", help="the version of Python there [default: 3.12]")
    parser.add_argument("--without", default="", metavar="NAME,...",
                        help="packages that the machine there has, whose wheels are left out, for instance numpy,scipy")
    parser.add_argument("--with", dest="more", default="cupy-cuda13x", metavar="NAME,...",
                        help="the module through which Kernel Tuner uses the GPU [default: cupy-cuda13x]")
    parser.add_argument("--no-wheels", action="store_true", help="leave Kernel Tuner out")
    parser.add_argument("--shared", type=pathlib.Path, default=os.environ.get("TUNESMITH_SHARED"),
                        help="a folder with counters/paper-coulomb-*.csv.gz [default: $TUNESMITH_SHARED]")
    return parser.parse_args(arguments)


def binary(source, target):
    """Copies the program, without its symbols where `strip` is there."""
    shutil.copy2(source, target)
    if shutil.which("strip"):
        subprocess.run(["strip", str(target)], check=False)


def plain(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wheels(options, folder):
    """Downloads Kernel Tuner with what it needs. Returns a note if that fails."""
    if options.no_wheels:
        return None
    left_out = {plain(name) for name in options.without.split(",") if name}
    wanted = [KERNEL_TUNER, *(name for name in options.more.split(",") if name and plain(name) not in left_out)]
    with tempfile.TemporaryDirectory() as downloads:
        command = [sys.executable, "-m", "pip", "download", "--quiet", "--only-binary=:all:", "--dest", downloads,
                   "--python-version", options.python, "--implementation", "cp"]
        command += [word for platform in PLATFORMS for word in ("--platform", platform)]
        ran = subprocess.run([*command, *wanted], capture_output=True, text=True)
        if ran.returncode:
            last = ran.stderr.strip().splitlines()[-1:] or ["pip said nothing"]
            return f"Kernel Tuner's wheels are left out: {last[0]}"
        folder.mkdir()
        for wheel in pathlib.Path(downloads).glob("*.whl"):
            if plain(wheel.name.split("-")[0]) not in left_out:
                shutil.copy2(wheel, folder)
    return None


def libraries(folder):
    """Copies NVRTC and CUPTI from the folder of TUNESMITH_NVIDIA, for machines without a toolkit."""
    source = os.environ.get("TUNESMITH_NVIDIA")
    if not source or not pathlib.Path(source).is_dir():
        return "NVRTC and CUPTI are left out: set TUNESMITH_NVIDIA if the machine there has no toolkit"
    # nvcc is large, and no part uses it.
    shutil.copytree(source, folder, ignore=shutil.ignore_patterns("bin", "nvvm"))
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
