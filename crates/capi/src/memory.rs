//! Reads and writes the memory of the caller: the only place that follows pointers.
//!
//! # Safety
//! Every pointer is NULL or points to what the header says, for as long as the call lasts.

use crate::status::{Fault, fault, refused, ts_status};
use std::ffi::{CStr, c_char};

fn null(what: &str) -> Fault {
    fault(ts_status::TS_NULL, format!("`{what}` is NULL"))
}

/// Returns the text at `pointer`.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, what: &str) -> Result<&'a str, Fault> {
    let text = unsafe { optional_text(pointer, what) }?;
    text.ok_or_else(|| null(what))
}

/// Returns the text at `pointer`, or `None` for NULL.
pub(crate) unsafe fn optional_text<'a>(pointer: *const c_char, what: &str) -> Result<Option<&'a str>, Fault> {
    if pointer.is_null() {
        return Ok(None);
    }
    let text = unsafe { CStr::from_ptr(pointer) }.to_str();
    text.map(Some).map_err(|_| fault(ts_status::TS_NOT_TEXT, format!("`{what}` is not UTF-8")))
}

/// Returns the `count` items at `pointer`, which may be NULL if there are none.
pub(crate) unsafe fn items<'a, T>(pointer: *const T, count: usize, what: &str) -> Result<&'a [T], Fault> {
    match count {
        0 => Ok(&[]),
        _ if pointer.is_null() => Err(null(what)),
        _ if count > isize::MAX as usize / size_of::<T>().max(1) => {
            Err(refused(format!("`{what}` has {count} items, more than fit into memory")))
        }
        _ => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

/// Fails if `pointer` is NULL. Call it before the work whose result goes there.
pub(crate) fn check<T>(pointer: *mut T, what: &str) -> Result<(), Fault> {
    if pointer.is_null() { Err(null(what)) } else { Ok(()) }
}

/// Writes `value` to `pointer`.
pub(crate) unsafe fn put<T>(pointer: *mut T, value: T, what: &str) -> Result<(), Fault> {
    check(pointer, what)?;
    unsafe { pointer.write(value) };
    Ok(())
}

/// Writes `value` to `pointer` unless that is NULL.
pub(crate) unsafe fn put_if<T>(pointer: *mut T, value: T) {
    if !pointer.is_null() {
        unsafe { pointer.write(value) };
    }
}

/// Writes `text` and a zero to `buffer` of `capacity` bytes, and the length of the text to `length`.
/// Both may be NULL.
pub(crate) unsafe fn put_text(
    text: &str,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> Result<(), Fault> {
    unsafe { put_if(length, text.len()) };
    if buffer.is_null() {
        return Ok(());
    }
    if text.len() >= capacity {
        let needed = text.len() + 1;
        return Err(fault(ts_status::TS_TOO_SMALL, format!("the buffer has {capacity} bytes; {needed} are needed")));
    }
    unsafe {
        std::ptr::copy_nonoverlapping(text.as_ptr(), buffer.cast(), text.len());
        buffer.add(text.len()).write(0);
    }
    Ok(())
}
