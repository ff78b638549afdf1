//! Finds the fastest tiles for the transposition of a matrix in C.

use tunesmith::device::ScalarType::F32;
use tunesmith::{Arg, Code, Problem, Search, Session, TuningTask, tune};

const KERNEL: &str = "
    void transpose(const float *a, float *b) {
        for (int i = 0; i < N; i += TI)
            for (int j = 0; j < N; j += TJ)
                for (int ii = i; ii < i + TI; ii++)
                    for (int jj = j; jj < j + TJ; jj++)
                        b[jj * N + ii] = a[ii * N + jj];
    }";

const REFERENCE: &str = "
    void transpose(const float *a, float *b) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) b[j * N + i] = a[i * N + j];
    }";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Kernels run in a process of their own, which is this program started again.
    tunesmith::enter_if_worker();

    let problem = Problem::builder("transpose")
        .size("N", 512)
        .kernel(Code::c("transpose", KERNEL))
        .reference(Code::c("transpose", REFERENCE))
        .parameter("TI", [1, 4, 16, 64])
        .parameter("TJ", [1, 4, 16, 64])
        .constraint("a tile of a and one of b fit in the first cache", "8 * TI * TJ <= 32 * 1024")
        .argument(Arg::input("a", F32, ["N", "N"]))
        .argument(Arg::output("b", F32, ["N", "N"]))
        .build()?;

    let search = Search { stop: Some("evaluations 8".parse()?), ..Search::default() };
    let outcome = tune(&TuningTask::new(&problem).search(search), &mut Session::default())?;

    let best = outcome.best.ok_or("no configuration is correct")?;
    assert!(best.time_ms.is_some_and(|time| time > 0.0));
    Ok(())
}
