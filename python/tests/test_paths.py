"""Paths as str, bytes and os.PathLike, as `open` takes them."""

import json
import os
from pathlib import Path

import numpy
import pytest

import tunesmith
from tunesmith.compat import kernel_tuner as compat
from tunesmith.compat.kernel_tuner import file_utils, integration
from tunesmith.compat.kernel_tuner.kernelbuilder import PythonKernel

SOURCE = "void twice(float *y, const float *x) { for (int i = 0; i < 64; i += STEP) TWICE; }"
SOURCE = SOURCE.replace("TWICE", "for (int j = i; j < i + STEP; j++) y[j] = 2 * x[j]")


class Named:
    """A path of neither str nor pathlib: its `__fspath__` returns bytes."""

    def __init__(self, path):
        self.path = path

    def __fspath__(self):
        return os.fsencode(self.path)


@pytest.fixture(params=[os.fspath, os.fsencode, Path, Named], ids=["str", "bytes", "pathlib", "PathLike of bytes"])
def form(request):
    return request.param


def tuned(folder, form):
    out = form(folder / "run.jsonl")
    return tunesmith.tune(lambda config: config["X"] * 1e-3, {"X": [1, 2, 3]}, out=out, progress=False)


def test_files_of_runs_have_any_form(tmp_path, form):
    run = tuned(tmp_path, form)
    again = tunesmith.Run.load(form(tmp_path / "run.jsonl"))
    assert again.count == run.count
    run.save(form(tmp_path / "copy.jsonl"))
    run.report(form(tmp_path / "page.html"))
    assert (tmp_path / "page.html").read_text().lstrip().startswith("<!")
    tunesmith.convert([form(tmp_path / "copy.jsonl")], form(tmp_path / "copy.csv"))
    assert tunesmith.convert(form(tmp_path / "copy.csv"), form(tmp_path / "other.json")) == 3
    document = tunesmith.compare(form(tmp_path / "copy.jsonl"), "random", repeats=1, budget=2)
    assert len(document["results"]) == 1
    history = [form(tmp_path / "copy.jsonl")]
    told = tunesmith.tune(lambda config: 1e-3, {"X": [1, 2, 3]}, history=history, progress=False)
    assert told.count == 3


def test_files_of_problems_have_any_form(tmp_path, form):
    (tmp_path / "twice.cpp").write_text(SOURCE)
    (tmp_path / "include").mkdir()
    (tmp_path / "problem.toml").write_text("[parameters]\nX = [1, 2]\n")
    assert tunesmith.Problem(form(tmp_path / "problem.toml")).space().size == 2
    assert tunesmith.Problem("\n[parameters]\nX = [1, 2]\n", folder=form(tmp_path)).space().size == 2
    kernel = tunesmith.Kernel(form(tmp_path / "twice.cpp"), "twice", include=[form(tmp_path / "include")])
    x = numpy.ones(64, numpy.float32)
    problem = tunesmith.Problem.build(
        kernel, {"y": tunesmith.Out(x), "x": x}, {"STEP": [1, 4]}, reference=2 * x, folder=form(tmp_path)
    )
    assert tunesmith.tune(problem, progress=False).verified


def test_files_of_kernel_tuner_have_any_form(tmp_path, form):
    # A source that is a path needs no suffix.
    source = tmp_path / ("twice" if form in (Path, Named) else "twice.c")
    source.write_text(SOURCE)
    x = numpy.ones(64, numpy.float32)
    given = (form(source), 64, [numpy.zeros_like(x), x])
    cache = form(tmp_path / "cache")
    options = {"answer": [2 * x, None], "lang": "C", "quiet": True, "cache": cache}
    results, env = compat.tune_kernel("twice", *given, {"STEP": [1, 4]}, **options)
    assert json.loads((tmp_path / "cache.json").read_text())["kernel_name"] == "twice"
    found, _ = compat.tune_cache(cache, quiet=True)
    assert len(found) == len(results) == 2
    file_utils.store_output_file(form(tmp_path / "out"), results, {"STEP": [1, 4]})
    file_utils.store_metadata_file(form(tmp_path / "machine.json"))
    assert (tmp_path / "out.json").is_file() and (tmp_path / "machine.json").is_file()
    stored = form(tmp_path / "stored.json")
    integration.store_results(stored, "twice", form(source), {"STEP": [1, 4]}, 64, results, env)
    assert json.loads((tmp_path / "stored.json").read_text())["kernel_string"] == SOURCE
    integration.create_device_targets(form(tmp_path / "best.h"), stored)
    assert "#define STEP" in (tmp_path / "best.h").read_text()
    assert PythonKernel("twice", *given, results_file=stored, lang="C").params["STEP"] in (1, 4)
    with_header = [form(source), form(tmp_path / "best.h")]
    assert len(compat.run_kernel("twice", with_header, 64, given[2], {"STEP": 1}, lang="C")) == 2


WRONG = {
    "out": lambda: tunesmith.tune(lambda config: 1.0, {"X": [1]}, out=3),
    "history": lambda: tunesmith.tune(lambda config: 1.0, {"X": [1]}, history=[3]),
    "model": lambda: tunesmith.tune(lambda config: 1.0, {"X": [1]}, model=3),
    "journal": lambda: tunesmith.Run.load(3),
    "recordings": lambda: tunesmith.compare(3, "random"),
    "inputs": lambda: tunesmith.convert([3], "x.csv"),
    "paths": lambda: tunesmith.Selector(3),
    "source": lambda: tunesmith.Problem(3),
    "folder": lambda: tunesmith.Problem("\n", folder=3),
    "include": lambda: tunesmith.Kernel("a.c", "f", include=3),
    "sources": lambda: tunesmith.Kernel("a.c", "f", sources=[3]),
    "kernel_source": lambda: compat.tune_kernel("f", 3, 1, [], {"X": [1]}),
    "cache": lambda: compat.tune_kernel("f", "void f() {}", 1, [], {"X": [1]}, cache=3),
    "cache_path": lambda: compat.tune_cache(3),
    "input_filepath": lambda: compat.tune_kernel_T1(3),
    "output_filename": lambda: file_utils.store_output_file(3, [], {}),
    "metadata_filename": lambda: file_utils.store_metadata_file(3),
    "results_filename": lambda: integration.TuneResults(3),
    "header_filename": lambda: integration.create_device_targets(3, 3),
    "results_file": lambda: PythonKernel("f", "", 1, [], results_file=3),
}


@pytest.mark.parametrize("argument", WRONG)
def test_what_is_no_path_is_a_type_error_that_names_the_argument(argument):
    text = f"the argument `{argument}` has the type int, which no path has; give a"
    with pytest.raises(TypeError, match=text) as caught:
        WRONG[argument]()
    assert isinstance(caught.value, tunesmith.RequestError)
