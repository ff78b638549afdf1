"""Runs the tests of Kernel Tuner, and repeats each of their calls with `tunesmith.compat.kernel_tuner`.

    python tests.py run FOLDER OUT     FOLDER is `test` of Kernel Tuner's source archive; OUT gets calls.json
    python tests.py table OUT          prints the table of both tools' results, in Markdown

A call gets copies of its arguments and of its cache, so that neither tool sees what the other changed. A
test sees the result of Kernel Tuner alone. What needs a GPU is skipped by the tests themselves.
"""

import contextlib
import copy
import importlib
import io
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import time
import warnings

NAMES = ("tune_kernel", "tune_cache", "run_kernel")


class Recorder:
    """A plugin of pytest: calls both tools, and keeps what came of it."""

    def __init__(self, out):
        self.out = out
        self.calls = []
        self.test = ""

    def pytest_configure(self):
        theirs, ours = (importlib.import_module(name) for name in ("kernel_tuner", "tunesmith.compat.kernel_tuner"))
        interface = importlib.import_module("kernel_tuner.interface")
        for name in NAMES:
            both = self.both(name, getattr(interface, name), getattr(ours, name))
            setattr(theirs, name, both)
            # `tune_cache` calls `tune_kernel` of its own module, which is no call of a test.
            setattr(interface, name, both if name == "run_kernel" else getattr(interface, name))

    def pytest_runtest_setup(self, item):
        self.test = item.nodeid.rpartition("/")[2]

    def pytest_sessionfinish(self):
        (self.out / "calls.json").write_text(json.dumps(self.calls, indent=1))

    def both(self, name, theirs, ours):
        def call(*given, **options):
            with tempfile.TemporaryDirectory() as folder:
                copied = arguments(given, options, pathlib.Path(folder))
                their_facts, result, error = outcome(theirs, given, options)
                with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    our_facts, _, _ = outcome(ours, *copied)
            whole = options.get("strategy") in (None, "brute_force")
            self.calls.append(
                {"test": self.test, "function": name, "whole": whole, "theirs": their_facts, "ours": our_facts}
            )
            if error is not None:
                raise error
            return result

        return call


def arguments(given, options, folder):
    """Copies the arguments of a call. Those that cannot be copied, such as devices, are shared."""
    copied = []
    for argument in given:
        try:
            copied.append(copy.deepcopy(argument))
        except Exception:
            copied.append(argument)
    options = {name: value if name == "observers" else shallow(value) for name, value in options.items()}
    for files, key in ((options, "cache"), (options, "cache_path")):
        if files.get(key):
            files[key] = copied_cache(files[key], folder)
    if copied and isinstance(copied[0], (str, pathlib.Path)) and str(copied[0]).endswith(".json"):
        copied[0] = copied_cache(copied[0], folder)
    return copied, options


def shallow(value):
    return copy.copy(value) if isinstance(value, (dict, list)) else value


def copied_cache(cache, folder):
    file = pathlib.Path(str(cache) if str(cache).endswith(".json") else f"{cache}.json")
    if file.is_file():
        shutil.copy(file, folder / file.name)
    return str(folder / file.name)


def outcome(function, given, options):
    """Returns facts about a call, its result and its exception."""
    start = time.perf_counter()
    try:
        result = function(*given, **options)
    except BaseException as error:
        text = re.sub(r"/\S*/| at 0x\w+", "", f"{type(error).__name__}: {error}".split("\n")[0])
        return {"seconds": time.perf_counter() - start, "error": text}, None, error
    facts = {"seconds": time.perf_counter() - start, "error": None}
    if isinstance(result, tuple) and result and isinstance(result[0], list):
        facts["rows"] = sorted({configuration(row) for row in result[0] if row})
    return facts, result, None


def configuration(row):
    """A result by what is not measured: whole numbers and texts, without the parts of the time."""
    parts = ("strategy", "framework", "compile", "verification", "benchmark")
    measured = {"time", "timestamp", *(f"{part}_time" for part in parts)}
    kept = {k: v for k, v in row.items() if k not in measured and isinstance(v, (int, str)) and not k.startswith("__")}
    return json.dumps(kept, sort_keys=True, default=str)


def table(out):
    calls = json.loads((out / "calls.json").read_text())
    tests = {}
    for call in calls:
        tests.setdefault((call["test"].partition("[")[0], call["function"]), []).append(call)
    print("| test | function | calls | ran, Kernel Tuner | ours | the same configurations | s, Kernel Tuner | ours |")
    print("|---|---|---:|---:|---:|---|---:|---:|")
    reasons = {}
    for (test, function), made in tests.items():
        ran = {tool: [call for call in made if call[tool]["error"] is None] for tool in ("theirs", "ours")}
        both = [call for call in ran["theirs"] if call["ours"]["error"] is None and "rows" in call["theirs"]]
        searched = [call for call in both if call["whole"]]
        same = sum(call["theirs"]["rows"] == call["ours"].get("rows") for call in searched)
        seconds = [sum(call[tool]["seconds"] for call in made) for tool in ("theirs", "ours")]
        shown = f"{same} of {len(searched)}" if searched else "a strategy samples" if both else ""
        print(f"| {test} | {function} | {len(made)} | {len(ran['theirs'])} | {len(ran['ours'])} | {shown} "
              f"| {seconds[0]:.1f} | {seconds[1]:.1f} |")  # fmt: skip
        for call in made:
            if call["ours"]["error"] is not None:
                reasons.setdefault((call["ours"]["error"], call["theirs"]["error"]), []).append(test.partition("::")[2])
    print("\n| not run by ours | Kernel Tuner, then | tests |\n|---|---|---|")
    for (ours, theirs), names in reasons.items():
        print(f"| {ours} | {theirs or 'ran'} | {', '.join(dict.fromkeys(names))} |".replace("\n", " "))


def main(command, *rest):
    if command == "table":
        table(pathlib.Path(rest[0]))
        return
    import pytest

    folder, out = (pathlib.Path(path).resolve() for path in rest)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        # The tests write beside themselves.
        shutil.copytree(folder, pathlib.Path(scratch) / "test")
        os.chdir(scratch)
        options = ["-q", "-p", "no:cacheprovider", "--continue-on-collection-errors"]
        pytest.main([*options, "test"], plugins=[Recorder(out)])


if __name__ == "__main__":
    main(*sys.argv[1:])
