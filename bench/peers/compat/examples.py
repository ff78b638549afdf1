"""Runs Kernel Tuner's own examples with Kernel Tuner, and with Tunesmith with the import line changed alone.

    python examples.py run FOLDER OUT TOOL [EXAMPLE...]      TOOL is kernel_tuner or tunesmith
    python examples.py table OUT                             prints the table of both tools' results, in Markdown
    python examples.py one FOLDER OUT TOOL EXAMPLE           what `run` does for each example, in a process

`FOLDER` is the folder `examples` of Kernel Tuner's repository. Each example runs in a copy of its folder,
on smaller data and fewer values (`EXAMPLES`). `OUT` gets a JSON document for each example and tool.
"""

import contextlib
import importlib
import io
import json
import os
import pathlib
import re
import runpy
import shutil
import subprocess
import sys
import tempfile
import time
import traceback

MODULES = {"kernel_tuner": "kernel_tuner", "tunesmith": "tunesmith.compat.kernel_tuner"}

# What is replaced in the files of each example, so that two cores run it in minutes. NVIDIA's compiler
# becomes GCC in the examples of directives.
ON_GCC = {'"nvc++"': '"g++"', '"-fast", "-mp=gpu"': '"-O2", "-fopenmp"', '"-fast"': '"-O2"'}
EXAMPLES = {
    "c/matrix_multiply.py": {},
    # Kernel Tuner 1.5 wants an answer for each argument, and to be told of OpenMP.
    "c/vector_add.py": {
        "72*1024*1024": "72*64*1024", "None, None]": "None, None, None]", "['-O3']": "['-O3', '-fopenmp']"
    },
    "directives/histogram_c_openmp.py": {
        **ON_GCC, "range(1, 11)": "range(1, 3)", "range(1, 33)": "range(1, 3)", "1000000": "100000"
    },
    "directives/matrix_multiply_c_openmp.py": {**ON_GCC, "4096": "48", "32 * i for i in range(1, 33)": "i for i in range(1, 4)"},
    "directives/vector_add_c_openmp.py": {**ON_GCC, "teams num_threads": "teams num_teams", "32 * i for i in range(1, 33)": "i for i in range(1, 9)"},
    "opencl/convolution.py": {"4096": "256", "range(1,9)": "range(1,9,2)", "range(6)": "range(0,6,2)", "range(3)": "range(2)"},
    "opencl/convolution_correct.py": {"4096": "256", "range(1,9)": "range(1,9,2)", "range(6)": "range(0,6,2)", "range(3)": "range(2)"},
    "opencl/matmul.py": {"4096": "256", "range(4)": "range(2)", "range(3)": "range(2)"},
    "opencl/reduction.py": {"800000000": "8000000", "range(5,11)": "range(5,11,2)", "[0, 1, 8, 16, 32]": "[0, 8]"},
    "opencl/sepconv.py": {
        "4096": "512", "range(3,19,2)": "range(13,19,4)", "range(1,65)": "range(2,4)", "range(6)": "range(1,3)",
        "range(1,11)": "range(1,3)",
    },
    "opencl/stencil.py": {"4096": "1024", "2048": "512"},
    "opencl/vector_add.py": {"10000000": "1000000"},
    "opencl/vector_add_codegen.py": {"10000000": "1000000"},
    "opencl/vector_add_observers.py": {"80000000": "1000000"},
}  # fmt: skip
# Examples for a GPU whose kernels were written in C or OpenCL by hand, if the folder has them.
PORTED = "ported"


def run(folder, out, tool, chosen):
    """Runs each example in a process of its own, which it may end."""
    out.mkdir(parents=True, exist_ok=True)
    for example in chosen or [*EXAMPLES, *ported(folder)]:
        command = [sys.executable, "-W", "ignore", __file__, "one", folder, out, tool, example]
        ended = subprocess.run(command, stderr=subprocess.PIPE, text=True)
        if ended.returncode != 0:
            error = f"ended with status {ended.returncode}: {(ended.stderr.strip().splitlines() or [''])[-1]}"
            write(out, tool, example, {"calls": [], "error": error, "printed": "", "written": [], "wall": 0})


def one(folder, out, tool, example):
    """Runs an example with a tool, and writes its document."""
    with tempfile.TemporaryDirectory() as scratch:
        place = pathlib.Path(scratch) / "example"
        shutil.copytree((folder / example).parent, place)
        prepare(place, EXAMPLES.get(example, {}), tool)
        write(out, tool, example, measured(place / pathlib.Path(example).name, tool))


def write(out, tool, example, document):
    path = out / f"{example.replace('/', '.')}.{tool}.json"
    path.write_text(json.dumps(document, default=str, indent=1))
    print(f"{tool} {example}: {len(document['calls'])} calls, {document['wall']:.1f} s {(document['error'] or '').partition(chr(10))[0]}", flush=True)


def ported(folder):
    return sorted(f"{PORTED}/{path.name}" for path in (folder / PORTED).glob("*.py"))


def prepare(place, smaller, tool):
    """Makes the files of an example smaller, and changes the import line."""
    for path in place.iterdir():
        if path.suffix not in (".py", ".cl"):
            continue
        text = path.read_text()
        for old, new in smaller.items():
            text = text.replace(old, new)
        if path.suffix == ".py":
            module = MODULES[tool]
            text = re.sub(r"^(\s*)import kernel_tuner$", rf"\1import {module} as kernel_tuner", text, flags=re.M)
            text = re.sub(r"^(\s*)from kernel_tuner\b", rf"\1from {module}", text, flags=re.M)
        path.write_text(text)


def measured(script, tool):
    """Runs a script, and returns what every call of `tune_kernel` returned, was printed and was written."""
    module = importlib.import_module(MODULES[tool])
    calls, tune_kernel = [], module.tune_kernel

    def watched(*arguments, **options):
        start = time.perf_counter()
        results, env = tune_kernel(*arguments, **options)
        names = list(options.get("tune_params") or arguments[4])
        calls.append({"names": names, "rows": [{**row, **_message(row)} for row in results], "env": dict(env),
                      "wall": time.perf_counter() - start})  # fmt: skip
        return results, env

    before, error, printed = set(os.listdir(script.parent)), None, io.StringIO()
    module.tune_kernel = watched
    here = os.getcwd()
    os.chdir(script.parent)
    start = time.perf_counter()
    try:
        with contextlib.redirect_stdout(printed):
            found = runpy.run_path(script.name, run_name="__main__")
            for name, function in found.items():
                if name.startswith("test_"):
                    function()
    except Exception as exception:
        error = f"{type(exception).__name__}: {exception}"
        printed.write(traceback.format_exc())
    finally:
        os.chdir(here)
        module.tune_kernel = tune_kernel
    wall = time.perf_counter() - start
    written = sorted(set(os.listdir(script.parent)) - before)
    return {"calls": calls, "error": error, "printed": printed.getvalue(), "written": written, "wall": wall}


def _message(row):
    """The reason of a failure in full, where there is one."""
    message = getattr(row.get("__error__"), "message", None)
    return {} if message is None else {"__error__": message}


def times(call):
    """The time of every configuration of a call that ran."""
    rows = (row for row in call["rows"] if "__error__" not in row)
    return {tuple(row[name] for name in call["names"]): row["time"] for row in rows}


def table(out):
    print("| example | call | ran, Kernel Tuner | ran, ours | the same | best ms, Kernel Tuner | ours "
          "| ours, by its times | s, Kernel Tuner | ours |")  # fmt: skip
    print("|---|---:|---:|---:|---|---:|---:|---:|---:|---:|")
    for path in sorted(out.glob("*.kernel_tuner.json")):
        example = path.name.removesuffix(".kernel_tuner.json")
        theirs, ours = (json.loads((out / f"{example}.{tool}.json").read_text()) for tool in MODULES)
        for number, (their, our) in enumerate(zip(theirs["calls"], ours["calls"]), 1):
            a, b = times(their), times(our)
            same = "yes" if a.keys() == b.keys() else f"{len(a.keys() & b.keys())}"
            best = min(b, key=b.get)
            share = f"{a[best] / min(a.values()):.2f}" if best in a else ""
            print(f"| {example} | {number} | {len(a)} | {len(b)} | {same} | {min(a.values()):.3f} | {b[best]:.3f} "
                  f"| {share} | {their['wall']:.1f} | {our['wall']:.1f} |")  # fmt: skip
        for tool, document in (("Kernel Tuner", theirs), ("ours", ours)):
            if document["error"]:
                print(f"| {example} | {tool}: {document['error'].splitlines()[0][:150]} ||||||||| ")
        if theirs["written"] != ours["written"]:
            print(f"| {example} | files: {theirs['written']} against {ours['written']} ||||||||| ")


if __name__ == "__main__":
    if sys.argv[1] == "table":
        table(pathlib.Path(sys.argv[2]))
    else:
        places = [pathlib.Path(argument).resolve() for argument in sys.argv[2:4]]
        if sys.argv[1] == "one":
            one(*places, *sys.argv[4:])
        else:
            run(*places, sys.argv[4], sys.argv[5:])
