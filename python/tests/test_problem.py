"""Problems: files, texts, and kernels with arrays of NumPy."""

import os
import signal
import subprocess
import sys
import textwrap

import pytest

import tunesmith
from tunesmith import InOut, Kernel, Out, Problem, Scalar, tune

numpy = pytest.importorskip("numpy")

SCALE = """
void scale(const float *x, float factor, float *y) {
    for (long i = 0; i < N; i += STEP)
        for (long j = i; j < i + STEP; j++) y[j] = factor * x[j] + WRONG;
}
"""
N = 4096


def arguments():
    x = numpy.linspace(0, 1, N, dtype="float32")
    return {"x": x, "factor": numpy.float32(3), "y": Out(x)}


def scale(**changes):
    parts = {"reference": lambda x, factor: factor * x, "sizes": {"N": N}, "relative": 1e-6, **changes}
    given = parts.pop("arguments", arguments())
    kernel = parts.pop("kernel", Kernel(SCALE, "scale"))
    return Problem.build(kernel, given, {"STEP": [1, 2, 4, 8], "WRONG": [0, 1]}, **parts)


def test_a_c_kernel_fed_by_numpy_is_tuned_to_a_verified_winner():
    run = tune(scale(), stop=8, seed=1)
    assert run.verified is True and run.best["WRONG"] == 0 and run.device
    statuses = {(one.config["WRONG"], one.status) for one in run.evaluations}
    assert statuses == {(0, "correct"), (1, "correctness")}
    wrong = next(one for one in run.evaluations if one.status == "correctness")
    assert wrong.message.startswith("`y`[0] is wrong: wanted 0, found 1")
    assert os.path.exists(run.journal)


@pytest.mark.parametrize(
    "reference",
    [
        lambda x, factor: factor * x,
        lambda factor, x: {"y": factor * x.astype("float64")},
        lambda x, factor, y: y.__setitem__(slice(None), factor * x),
        Kernel("void right(const float *x, float f, float *y) { for (long i = 0; i < N; i++) y[i] = f * x[i]; }", "right"),
        numpy.linspace(0, 1, N, dtype="float32") * 3,
        {"y": numpy.linspace(0, 1, N, dtype="float32") * 3},
    ],
)
def test_every_form_of_a_reference_finds_the_wrong_configurations(reference):
    run = tune(scale(reference=reference), strategy="exhaustive")
    assert {one.config["WRONG"]: one.status for one in run.evaluations} == {0: "correct", 1: "correctness"}


def test_without_a_reference_a_remark_says_that_nothing_was_verified():
    with pytest.warns(tunesmith.Remark, match="unverified"):
        run = tune(scale(reference=None), stop=3)
    assert run.verified is False


def test_a_kernel_that_crashes_costs_one_evaluation():
    source = SCALE.replace("long j = i;", "long j = i + (STEP == 4 ? *(volatile int *)0 : 0);")
    run = tune(scale(kernel=Kernel(source, "scale")), strategy="exhaustive")
    crashed = [one for one in run.evaluations if one.config["STEP"] == 4]
    assert {one.status for one in crashed} == {"runtime"} and "SIGSEGV" in crashed[0].message
    assert run.best["WRONG"] == 0


def test_a_kernel_that_overflows_its_stack_or_hangs_costs_one_evaluation():
    source = """
    static int deep(int n) { volatile char room[65536]; room[n % 65536] = n; return n < 0 ? 0 : deep(n + 1) + room[0]; }
    void work(float *y) {
        if (MODE == 1) y[0] = deep(0);
        if (MODE == 2) for (volatile int i = 0; i >= 0; i = 1) ;
        y[0] = 1;
    }
    """
    # Modes 1 and 2 fail; the limit of the first run is ten seconds.
    problem = Problem.build(
        Kernel(source, "work"), {"y": Out((1,), "f32")}, {"MODE": [0, 1]}, reference={"y": numpy.ones(1, "float32")}
    )
    run = tune(problem, strategy="exhaustive")
    assert {one.config["MODE"]: one.status for one in run.evaluations} == {0: "correct", 1: "runtime"}


def test_kernels_that_read_and_write_start_from_the_array():
    x = numpy.arange(64, dtype="int32")
    kernel = Kernel("void add(int *x) { for (int i = 0; i < 64; i += S) for (int j = i; j < i + S; j++) x[j] += 5; }", "add")
    problem = Problem.build(kernel, {"x": InOut(x)}, {"S": [1, 2, 4]}, reference=lambda x: x + 5)
    run = tune(problem, strategy="exhaustive")
    assert run.verified is True and {one.status for one in run.evaluations} == {"correct"}
    assert x[0] == 0


def test_several_kernels_run_in_order():
    first = Kernel("void twice(const int *a, int *b) { for (int i = 0; i < 8; i++) b[i] = 2 * a[i]; }", "twice")
    second = Kernel("void more(const int *a, int *b) { for (int i = 0; i < 8; i++) b[i] += U; }", "more")
    a = numpy.arange(8, dtype="int32")
    problem = Problem.build([first, second], {"a": a, "b": Out(a)}, {"U": [1, 2]}, reference=2 * a + 1, name="both")
    run = tune(problem, strategy="exhaustive")
    assert {one.config["U"]: one.status for one in run.evaluations} == {1: "correct", 2: "correctness"}
    assert run.problem == "both"


def test_an_opencl_kernel_is_tuned():
    devices = subprocess.run([sys.executable, "-m", "tunesmith", "devices"], capture_output=True, text=True).stdout
    if "opencl:0" not in devices:
        pytest.skip("there is no OpenCL device")
    source = """
    kernel void add(global const float *x, global const float *y, global float *z) {
        for (int k = 0; k < ITEMS; k++) { int i = get_global_id(0) * ITEMS + k; z[i] = x[i] + y[i]; }
    }
    """
    x, y = (numpy.random.default_rng(seed).random(1024, dtype="float32") for seed in (1, 2))
    kernel = Kernel(source, "add", language="opencl", global_size="N / ITEMS", local_size="WORK")
    problem = Problem.build(
        kernel, {"x": x, "y": y, "z": Out(x)}, {"ITEMS": [1, 2], "WORK": [16, 32]},
        constraints=["N % (ITEMS * WORK) == 0"], sizes={"N": 1024}, reference=lambda x, y: x + y,
    )  # fmt: skip
    run = tune(problem, strategy="exhaustive")
    assert run.verified is True and {one.status for one in run.evaluations} == {"correct"}


def test_a_constraint_of_kernels_can_be_a_function():
    problem = scale(constraints=[lambda STEP, WRONG: STEP > 2 and not WRONG])
    assert problem.space().size == 2
    assert {one.config["STEP"] for one in tune(problem, strategy="exhaustive").evaluations} == {4, 8}


def test_a_file_and_a_text_are_problems(tmp_path):
    text = '[problem]\nname = "tiles"\nsizes = { N = 16 }\n[parameters]\nT = { divisors_of = "N" }\n'
    (tmp_path / "tiles.toml").write_text(text)
    for problem in (Problem(tmp_path / "tiles.toml"), Problem(str(tmp_path / "tiles.toml")), Problem(text)):
        assert problem.name == "tiles" and problem.space().size == 5
    assert Problem(text, sizes={"N": 64}).space().size == Problem(tmp_path / "tiles.toml", sizes={"N": 64}).space().size == 7
    run = tune(Problem(tmp_path / "tiles.toml"), device="synthetic:1 + abs(T - 4)", stop=5)
    assert run.best.config == {"T": 4} and run.journal == str(tmp_path / "tiles.jsonl")
    replayed = tune(Problem(text), device=f"replay:{run.journal}")
    assert replayed.best.config == {"T": 4}


def test_a_run_of_a_problem_is_resumed(tmp_path):
    settings = {"strategy": "random", "seed": 3, "out": tmp_path / "run.jsonl"}
    first = tune(scale(), stop=3, **settings)
    second = tune(scale(), stop=6, resume=True, **settings)
    assert (first.count, second.count) == (3, 6)
    assert [one.config for one in second.evaluations[:3]] == [one.config for one in first.evaluations]


def test_the_journal_of_a_problem_in_code_lives_as_long_as_its_run():
    run = tune(scale(), stop=2)
    journal = run.journal
    assert os.path.exists(journal)
    del run
    assert not os.path.exists(journal)


def test_control_c_ends_the_run_of_a_problem(tmp_path):
    program = textwrap.dedent(
        """
        import sys, tunesmith
        kernel = tunesmith.Kernel("void f(float *y) { for (volatile int i = 0; i < 30000000; i++) ; y[0] = A; }", "f")
        problem = tunesmith.Problem.build(kernel, {"y": tunesmith.Out((1,), "f32")}, {"A": range(1000)})
        seen = lambda count, *rest: count == 2 and print("go", flush=True)
        try:
            tunesmith.tune(problem, stop=1000, out=sys.argv[1], progress=seen)
        except tunesmith.Interrupted as interrupted:
            print("evaluations", interrupted.run.count, interrupted.run.stop_reason)
        """
    )
    journal = tmp_path / "run.jsonl"
    command = [sys.executable, "-W", "ignore", "-c", program, journal]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, _ = process.communicate(timeout=60)
    assert process.returncode == 0 and output.strip().endswith("interrupted")
    assert tunesmith.Run.load(journal).count == int(output.split("evaluations ")[1].split()[0]) >= 2


def test_an_objective_can_be_a_rate():
    run = tune(scale(flops="N"), objective="maximise gflops", stop=4)
    assert run.objective == {"name": "gflops", "direction": "maximise", "unit": "GFLOP/s", "source": "metric"} and run.best.value > 0


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"arguments": {**arguments(), "x": numpy.zeros((64, 64), "float32").T}}, r"pass numpy.ascontiguousarray\(x\)"),
        ({"arguments": {**arguments(), "x": numpy.zeros(N, "complex64")}}, "convert the array with astype to one of int8"),
        ({"arguments": {**arguments(), "x": numpy.zeros(N, bool)}}, "kernels have no type bool"),
        ({"arguments": {**arguments(), "x": numpy.zeros(N, object)}}, "kernels have no type object"),
        ({"arguments": {**arguments(), "x": numpy.zeros(N, ">f4")}}, "byte order of another machine"),
        ({"arguments": {**arguments(), "factor": 3}}, r'write tunesmith.Scalar\("i32", ...\)'),
        ({"arguments": {**arguments(), "factor": 3.0}}, r'write tunesmith.Scalar\("f32", ...\)'),
        ({"arguments": {**arguments(), "x": [1.0, 2.0]}}, "give an array of NumPy"),
        ({"arguments": {**arguments(), "factor": Scalar("f31", 1)}}, "f31"),
        ({"reference": lambda z: z}, "the reference takes `z`, but the arguments are x, factor, y"),
        ({"reference": lambda x: x[:8]}, r"with the shape \(8,\), but the argument has \(4096,\)"),
        ({"reference": lambda x: x.astype("complex64")}, "as complex64, but the argument has float32"),
        ({"reference": lambda x: (x, x)}, "returns 2 arrays, but the outputs are y"),
        ({"reference": lambda x: None}, "return y"),
        ({"reference": lambda x: {"z": x}}, "gives `z`, but the outputs are y"),
        ({"reference": lambda x: x * float("nan")}, r"NaN in 4096 of 4096 elements, the first of which is `y`\[0\]; .* allow_nan"),
        ({"reference": numpy.full(N, numpy.nan, "float32")}, "Mend the reference, or pass allow_nan=True"),
        ({"constraints": ["STPE > 1"]}, "did you mean `STEP`|STPE"),
        ({"constraints": [lambda STPE: True]}, "did you mean `STEP`|STPE"),
        ({"constraints": {"fits": lambda STEP: 1 / 0}}, "constraint `fits` raised ZeroDivisionError"),
        ({"kernel": "scale.c"}, "give a tunesmith.Kernel"),
        ({"kernel": Kernel(SCALE.replace("float factor", "int factor"), "scale")}, "the problem says f32, the function takes int"),
        ({"kernel": Kernel("nowhere.c", "scale")}, "nowhere.c"),
        ({"kernel": Kernel(SCALE, "scale", language="fortran")}, "name c, c\\+\\+, opencl, cuda or hip"),
        ({"kernel": Kernel(SCALE, "scale", compiler="clang")}, 'no compiler "clang" of CUDA; name nvrtc or nvcc'),
        ({"kernel": Kernel(SCALE, "scale", compiler="nvcc")}, "`compiler` has no meaning for C"),
        ({"default": {"STEP": 3}}, "does not take 3|STEP"),
    ],
)
def test_what_is_wrong_is_said_with_a_remedy(changes, remedy):
    with pytest.raises(tunesmith.RequestError, match=remedy):
        tune(scale(**changes), stop=2)


@pytest.mark.parametrize(
    ("wrong", "remedy"),
    [
        (lambda: Problem("nothing.toml"), "nothing.toml"),
        (lambda: Problem("[parameters]\nT = [1, 'x']\n"), "one type|T"),
        (lambda: Problem("[parameters]\nT = [1]\n[constraints]\na = 'TT > 0'\n").space(), "problem.toml:4"),
        (lambda: tune(Problem("[parameters]\nT = [1]\n"), {"T": [1]}), "leave out the argument `space`"),
        (lambda: tune(Problem("[parameters]\nT = [1]\n"), device="gpu"), "there is no device `gpu`"),
        (lambda: tune(lambda config: 1.0), "values of its parameters"),
        (lambda: tune(lambda config: 1.0, {"X": [1]}, device="c"), "a function is its own device"),
        (lambda: Out((4,)), 'such as "f32"'),
    ],
)
def test_wrong_requests_say_what_to_do(wrong, remedy):
    with pytest.raises(tunesmith.RequestError, match=remedy):
        wrong()


def test_nan_is_right_where_the_user_says_so():
    kernel = Kernel("void root(const float *x, float *y) { for (int i = 0; i < 2; i++) y[i] = x[i] < 0 ? __builtin_nanf(\"\") : U - U; }", "root")
    x = numpy.array([-1, 0], "float32")
    given = [kernel, {"x": x, "y": Out(x)}, {"U": [1, 2]}]
    with pytest.raises(tunesmith.RequestError, match=r"NaN in 1 of 2 elements, the first of which is `y`\[0\]"):
        Problem.build(*given, reference=lambda x: numpy.array([numpy.nan, 0], "float32"))
    run = tune(Problem.build(*given, reference=numpy.array([numpy.nan, 0], "float32"), allow_nan=True))
    assert run.verified is True and {one.status for one in run.evaluations} == {"correct"}


def test_an_exception_of_a_reference_is_that_of_the_user():
    with pytest.raises(ZeroDivisionError):
        scale(reference=lambda x: 1 / 0)


def test_a_kernel_that_does_not_compile_fails_with_the_message_of_its_compiler():
    run = tune(scale(kernel=Kernel(SCALE.replace("y[j]", "z[j]"), "scale")), stop=2)
    assert {one.status for one in run.evaluations} == {"compile"} and run.best is None
    assert "z" in run.evaluations[0].message and "none correct" in repr(run)
