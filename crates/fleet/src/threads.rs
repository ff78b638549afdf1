//! Threads of a fleet. One that the system refuses is an error, and a panic of one is a sentence: nobody waits for
//! what a thread does no more.

use crate::FleetError;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

/// Starts a thread that does `work`, for `purpose`. If it panics, `broken` gets a sentence about that.
pub(crate) fn start(
    purpose: &'static str,
    work: impl FnOnce() + Send + 'static,
    broken: impl FnOnce(String) + Send + 'static,
) -> Result<(), FleetError> {
    let work = move || {
        if let Err(sentence) = caught(purpose, work) {
            broken(sentence);
        }
    };
    thread::Builder::new().spawn(work).map(drop).map_err(|source| FleetError::Thread { purpose, source })
}

/// Does `work`. Returns a sentence if it panics.
pub(crate) fn caught<T>(purpose: &str, work: impl FnOnce() -> T) -> Result<T, String> {
    // Whatever the work left half done belongs to a run that ends now.
    catch_unwind(AssertUnwindSafe(work)).map_err(|panic| {
        let text = text_of(panic.as_ref());
        format!("the thread that {purpose} failed: {text}; this is a bug")
    })
}

/// Returns the message of a panic.
fn text_of(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a panic without a message")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn a_panic_is_told_and_an_end_is_not() {
        for (fails, told) in [(true, Ok("the thread that counts failed: 3 is odd; this is a bug")), (false, Err(()))] {
            let (heard, sentences) = channel();
            let work = move || assert!(!fails, "{} is odd", 3);
            start("counts", work, move |sentence| heard.send(sentence).unwrap()).unwrap();
            assert_eq!(sentences.recv().as_deref().map_err(drop), told);
        }
    }
}
