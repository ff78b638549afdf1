//! A tuner without descriptors blames no configuration. This test stands alone, because it limits
//! its own process.

#[path = "it/common/mod.rs"]
mod common;

use common::*;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use tunesmith_core::{Evaluator, Interrupt, Request};
use tunesmith_device::LiveEvaluator;
use tunesmith_kernel::{Access, Fill};

#[test]
fn a_want_of_descriptors_is_an_error_and_no_configurations_failure() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("f.c");
    std::fs::write(&file, "void f(int *out) { out[0] = 1; }").unwrap();
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    let open = u64::try_from(std::fs::read_dir("/proc/self/fd").unwrap().count()).unwrap();
    let (mut errors, mut measured) = (0, 0);
    for more in 0..40 {
        let spec = spec(file.clone(), "f", vec![buffer("out", "i32", 1, Access::Out, Fill::Zeros)]);
        let space = space_of("P", 2);
        setrlimit(Resource::RLIMIT_NOFILE, open + more, hard).unwrap();
        let ran =
            LiveEvaluator::new(&space, options(spec)).map_err(|error| error.to_string()).and_then(|mut evaluator| {
                evaluator.submit(Request::timed(config(&space, 0))).map_err(|error| error.to_string())?;
                evaluator.next(&Interrupt::default()).map_err(|error| error.to_string())
            });
        setrlimit(Resource::RLIMIT_NOFILE, soft, hard).unwrap();
        match ran {
            Ok(completion) => {
                assert_eq!(completion.unwrap().failure, None, "{more} descriptors");
                measured += 1;
            }
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 0 && measured > 0, "{errors} {measured}");
}
