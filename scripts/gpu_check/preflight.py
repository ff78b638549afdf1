"""Looks for everything that the parts need, before any of them runs, in at most ten seconds.

What is found outside of the places where Tunesmith looks is put into the environment. What is missing is told with the
places that were searched.
"""

import collections
import glob
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

from .tool import Failed

# A requirement: its name, where it was found (None if it is missing), where it was searched, and what needs it.
Finding = collections.namedtuple("Finding", "name found searched use")

DRIVER, NVRTC, COUNTERS, C_COMPILER, SCRATCH = "driver", "NVRTC", "counters", "C compiler", "scratch space"

# Seconds for the list of devices and for one library or compiler.
DEVICES_SECONDS, ONE_SECONDS = 6, 2
# Bytes that must be free for temporary files.
SCRATCH_BYTES = 256 << 20

TOOLKITS = ["/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda", "/opt/cuda-*"]
DRIVERS = ["/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/x86_64-linux-gnu",
           "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib/wsl/lib", "/usr/lib/nvidia*"]
COMPILERS = ["/opt/gcc*/bin/gcc", "/opt/*/bin/gcc", "/usr/local/bin/gcc", "/usr/local/gcc*/bin/gcc",
             "/usr/bin/gcc-*[0-9]", "/usr/bin/clang-*[0-9]", "/opt/*/bin/clang"]


def look(tool, dry):
    """Returns the findings and the GPU, as `tunesmith devices` describes it, or None."""
    findings = [compiler(), scratch()]
    if not dry:
        findings += [driver(), nvrtc(), counters(), headers(), library("cuBLAS", "libcublas", "the share of cuBLAS")]
    answer, reason = devices(tool)
    gpu = next((device for device in answer["devices"] if device["backend"] == "cuda"), None)
    absent = [f"{missing['reason']}; {missing['remedy']}" for missing in answer["missing"]
              if missing["backend"] == "cuda"]
    why = reason or "; ".join(absent) or "this build of tunesmith knows no CUDA devices"
    findings.append(Finding("device", f"{gpu['name']}, {gpu['driver']}" if gpu else None, [why], "everything"))
    sandbox = answer["sandbox"]
    findings.append(Finding("sandbox", None if sandbox.startswith("none") else sandbox, [sandbox],
                            "protection from kernels, which run as you without it"))
    return findings, gpu


def lacking(part, findings):
    """Returns the first requirement of a part that is missing, or None."""
    missing = {finding.name for finding in findings if finding.found is None}
    return next((need for need in (SCRATCH, *part.needs) if need in missing), None)


def line(finding):
    """Returns a finding as a line of text."""
    if finding.found is not None:
        return f"{finding.name}: {finding.found}"
    return f"{finding.name}: MISSING (needed for {finding.use}); searched: {', '.join(finding.searched)}"


def devices(tool):
    """Returns the answer of `tunesmith devices`, and the reason if there is none."""
    try:
        return tool.json("devices", timeout=DEVICES_SECONDS), None
    except Failed as failed:
        return {"devices": [], "missing": [], "sandbox": "none (not asked)"}, str(failed)


def python_folders(kind):
    """Returns NVIDIA's folders of that kind (`lib`, `include`, `bin`) in Python's packages."""
    return sorted({str(folder) for entry in sys.path for folder in pathlib.Path(entry).glob(f"nvidia/*/{kind}")})


def toolkits(*below):
    """Returns folders below the toolkits of this machine."""
    named = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    roots = named + [root for pattern in TOOLKITS for root in sorted(glob.glob(pattern), reverse=True)]
    return [folder for root in roots for name in below for folder in sorted(glob.glob(f"{root}/{name}"))]


def packed():
    """Returns the folder that TUNESMITH_NVIDIA names, with all below it."""
    root = os.environ.get("TUNESMITH_NVIDIA")
    return [root, *sorted(str(folder) for folder in pathlib.Path(root).rglob("*") if folder.is_dir())] if root else []


def opens(library):
    """Returns true if the system's loader opens a library. It is tried in a process of its own, which may crash."""
    program = "import ctypes, sys; ctypes.CDLL(sys.argv[1])"
    return succeeds([sys.executable, "-c", program, library])


def succeeds(command):
    try:
        ran = subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL, timeout=ONE_SECONDS)
        return ran.returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def library(name, stem, use, names=(), folders=None):
    """Finds a library: by the loader, then in folders, of which the first that has it joins LD_LIBRARY_PATH."""
    names = names or [f"{stem}.so.{version}" for version in (13, 12, 11)] + [f"{stem}.so"]
    by_loader = next((known for known in names if opens(known)), None)
    if by_loader:
        return Finding(name, f"{by_loader}, by the loader", [], use)
    usual = packed() + toolkits("lib64", "lib", "targets/*/lib") + python_folders("lib")
    searched = usual if folders is None else folders
    for folder in searched:
        files = sorted(glob.glob(f"{folder}/{stem}.so*"))
        if files:
            append("LD_LIBRARY_PATH", folder)
            return Finding(name, files[0], [], use)
    return Finding(name, None, [f"{names[0]} by the loader", *searched], use)


def append(variable, folder):
    os.environ[variable] = ":".join(filter(None, [os.environ.get(variable, ""), folder]))


def driver():
    folders = [folder for pattern in DRIVERS for folder in sorted(glob.glob(pattern))]
    return library(DRIVER, "libcuda", "everything", ["libcuda.so.1"], folders)


def nvrtc():
    return library(NVRTC, "libnvrtc", "every part but environment")


def counters():
    """Finds CUPTI, else Nsight Compute."""
    folders = packed() + toolkits("extras/CUPTI/lib64", "lib64", "targets/*/lib") + python_folders("lib")
    names = [f"libcupti.so.{version}" for version in (13, 12)] + ["libcupti.so"]
    cupti = library(COUNTERS, "libcupti", "counters, profiles, guided, counter-paper", names, folders)
    if cupti.found:
        return cupti
    programs = [shutil.which("ncu"), *toolkits("bin/ncu"), *sorted(glob.glob("/opt/nvidia/nsight-compute/*/ncu"))]
    program = next(filter(None, programs), None)
    if program:
        os.environ.setdefault("TUNESMITH_NCU", program)
    return cupti._replace(found=program, searched=[*cupti.searched, "ncu on PATH and in /opt/nvidia/nsight-compute"])


def headers():
    folders = packed() + toolkits("include", "targets/*/include") + python_folders("include")
    found = next((folder for folder in folders if os.path.isfile(f"{folder}/cuda_fp16.h")), None)
    return Finding("headers", found, folders or ["no folder of a toolkit"], "kernels that include cuda_fp16.h or CUB")


def compiler():
    """Finds a C compiler that makes a shared library. A compiler without its headers is none."""
    named = [os.environ["CC"]] if os.environ.get("CC") else []
    searched = named or ["cc", "gcc", "clang", *(path for pattern in COMPILERS for path in sorted(glob.glob(pattern)))]
    for name in searched:
        program = shutil.which(shlex.split(name)[0])
        if program and makes_libraries(shlex.split(name)):
            # Tunesmith calls `cc` unless it is told otherwise.
            if name != "cc":
                os.environ["CC"] = name
            return Finding(C_COMPILER, program, [], "references in C")
    return Finding(C_COMPILER, None, searched, "references in C: conformance, suite, tuning, counters, kernels")


def makes_libraries(compiler):
    with tempfile.TemporaryDirectory(prefix="gpu-check-") as folder:
        source = pathlib.Path(folder) / "probe.c"
        source.write_text("#include <math.h>\n#include <stdint.h>\nfloat f(float x) { return fmaf(x, x, 1.0f); }\n")
        return succeeds([*compiler, "-shared", "-fPIC", "-o", f"{folder}/probe.so", str(source), "-lm"])


def scratch():
    """Checks that temporary files can be written and that there is room for them."""
    folder, use = tempfile.gettempdir(), "everything; set TMPDIR to a folder with room"
    try:
        with tempfile.NamedTemporaryFile(prefix="gpu-check-") as file:
            file.write(b"\0" * 4096)
            file.flush()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding(SCRATCH, None, [f"{folder}: {error}"], use)
    found = f"{folder}, {free / 2**30:.1f} GiB free" if free >= SCRATCH_BYTES else None
    return Finding(SCRATCH, found, [f"{folder}, {free / 2**20:.0f} MiB free"], use)
