"""A kernel that fails in every way there is, one for each value of a parameter."""

from .check import FROM_A_TO_B

SOURCE = r"""
extern "C" __global__ void f(const float *a, float *b, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
#if MODE == 1
    no such thing;
#elif MODE == 2
    ((volatile float *)0)[i] = a[i];
#elif MODE == 3
    while (((volatile float *)b)[0] != 12345.0f) {}
#elif MODE == 4
    b[i] = a[i] + 1;
#elif MODE == 6
    b[i + n] = a[i];
#endif
#if MODE == 0 || MODE == 5 || MODE == 6
    if (i < n) b[i] = a[i];
#endif
}
"""

REFERENCE = "void reference(const float *a, float *b, int n) { for (int i = 0; i < n; i++) b[i] = a[i]; }\n"

PROBLEM = f"""
[problem]
name = "failures"
sizes = {{ N = 4096 }}

[kernel]
file = "f.cu"
function = "f"
global = ["8192 if MODE == 5 else N"]
local = ["2048 if MODE == 5 else 256"]

[parameters]
MODE = [0, 1, 2, 3, 4, 5, 6]

{FROM_A_TO_B}
[[arguments]]
name = "n"
type = "i32"
value = "N"

[verify]
reference = {{ file = "reference.c", function = "reference" }}

[measure]
first_limit = 5.0
launch_limit = 2.0
"""

# The status that each value of MODE must get. A stray write between buffers is found by their margins.
STATUS = ["correct", "compile", "runtime", "timeout", "correctness", "constraints", "runtime"]


def run(check):
    # The scripted device makes this copy, and fails in the same ways.
    path = check.problem("failures", PROBLEM, {"f.cu": SOURCE, "reference.c": REFERENCE}, verify="always")
    for mode, status in check.each("single configurations", enumerate(STATUS)):
        found = check.call("run", path, "--device", "cuda", "--config", f"MODE={mode}", codes=(0, 1))
        message = (found.get("message") or "").splitlines()[:1]
        check.add(f"MODE={mode}", status, " ".join([found["status"], *message])[:100], found["status"] == status)
    outcome, _ = check.tune(path, "failures", "--strategy", "exhaustive")
    expected = {kind: STATUS.count(kind) for kind in outcome["failed"]}
    check.add("all in one run", str(expected), str(outcome["failed"]), outcome["failed"] == expected)
    best = (outcome["best"] or {}).get("config")
    check.add("the run goes on", "MODE=0 wins", str(best), best == {"MODE": 0})
    check.data["failed"] = outcome["failed"]
