//! Answers of functions: a status, and the message of the latest fault of a thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The answer of a function. `ts_message` says more about anything but `TS_OK` and `TS_END`.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ts_status {
    /// The function did what it was called for.
    TS_OK = 0,
    /// The search is over: nothing is left to ask for.
    TS_END = 1,
    /// A pointer is NULL, or a handle was never set.
    TS_NULL = 2,
    /// The handle was closed.
    TS_CLOSED = 3,
    /// The handle is of another type.
    TS_WRONG_HANDLE = 4,
    /// A text is not UTF-8.
    TS_NOT_TEXT = 5,
    /// A number, a name or an expression is refused.
    TS_BAD_VALUE = 6,
    /// There is nothing of this name or for this question.
    TS_NOT_FOUND = 7,
    /// The value is of another type.
    TS_WRONG_TYPE = 8,
    /// The configuration was told before.
    TS_TOLD_TWICE = 9,
    /// The buffer is too small. The length says how long the text is.
    TS_TOO_SMALL = 10,
    /// A bug of Tunesmith. The object of the call should be closed.
    TS_PANIC = 11,
    /// The device or its compiler refused. The message has the compiler's log.
    TS_DEVICE = 12,
}

/// A status with its message.
#[derive(Debug)]
pub(crate) struct Fault {
    status: ts_status,
    message: String,
}

/// Returns a fault of `status` explained by `message`.
pub(crate) fn fault(status: ts_status, message: impl ToString) -> Fault {
    Fault { status, message: message.to_string() }
}

/// Returns a refusal of a value, explained by `message`.
pub(crate) fn refused(message: impl ToString) -> Fault {
    fault(ts_status::TS_BAD_VALUE, message)
}

thread_local! {
    static MESSAGE: RefCell<CString> = RefCell::new(CString::default());
}

/// Returns the message of the latest fault on this thread, or an empty text. It is valid until the
/// thread calls another function of Tunesmith.
#[unsafe(no_mangle)]
pub extern "C" fn ts_message() -> *const c_char {
    // A thread that ends has no messages any more.
    MESSAGE.try_with(|message| message.borrow().as_ptr()).unwrap_or(c"".as_ptr())
}

/// Returns the version of Tunesmith.
#[unsafe(no_mangle)]
pub extern "C" fn ts_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

/// Does `work`, keeps its message if it fails, and lets no panic through.
pub(crate) fn guard(work: impl FnOnce() -> Result<(), Fault>) -> ts_status {
    let (status, message) = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(())) => return ts_status::TS_OK,
        Ok(Err(Fault { status, message })) => (status, message),
        Err(panic) => {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_string());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_default();
            (ts_status::TS_PANIC, format!("a bug of Tunesmith: {text}"))
        }
    };
    let text = CString::new(message.replace('\0', " ")).unwrap_or_default();
    let _ = MESSAGE.try_with(|message| *message.borrow_mut() = text);
    status
}
