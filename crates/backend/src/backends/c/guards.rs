//! Says which buffer a kernel was at when it touched memory that nobody may touch.

#![allow(unsafe_code)]

use crate::backends::c::memory::Block;
use crate::host::STRAY_ACCESS;
use nix::libc::{self, SA_ONSTACK, SA_SIGINFO, SIG_DFL, SIGBUS, SIGSEGV, c_int, c_void, sigaction, siginfo_t};
use std::mem::MaybeUninit;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A buffer, for the handler. Everything is ready, because a handler must not allocate.
struct Guard {
    forbidden: [Range<usize>; 2],
    start: usize,
    bytes: usize,
    name: String,
}

/// The buffers of this process. The handler may read them at any time, so they are never freed.
static GUARDS: AtomicPtr<Vec<Guard>> = AtomicPtr::new(ptr::null_mut());

/// The handler of before, which tells stack overflows.
static BEFORE: AtomicPtr<sigaction> = AtomicPtr::new(ptr::null_mut());

type Handler = extern "C" fn(c_int, *mut siginfo_t, *mut c_void);

/// Tells the handler where the buffers are now. Installs it on the first call.
pub(super) fn watch(blocks: &[Block]) {
    let guard = |block: &Block| {
        let (forbidden, own) = block.guards();
        Guard { forbidden, start: own.start, bytes: own.len(), name: block.name().to_owned() }
    };
    let is_first = GUARDS.swap(Box::into_raw(Box::new(blocks.iter().map(guard).collect())), Ordering::AcqRel).is_null();
    if is_first {
        install();
    }
}

fn install() {
    let mut before = MaybeUninit::<sigaction>::zeroed();
    // SAFETY: a zeroed action is one without flags, whose fields are then set.
    let mut action = unsafe { MaybeUninit::<sigaction>::zeroed().assume_init() };
    action.sa_sigaction = on_fault as Handler as usize;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    // SAFETY: both actions live until the calls return, and the handler calls only functions that
    // are allowed in one.
    let installed = unsafe { libc::sigaction(SIGSEGV, &raw const action, before.as_mut_ptr()) };
    if installed == 0 {
        // SAFETY: the call has filled it.
        BEFORE.store(Box::into_raw(Box::new(unsafe { before.assume_init() })), Ordering::Release);
        // The same fault has another signal on some systems.
        // SAFETY: as above.
        unsafe { libc::sigaction(SIGBUS, &raw const action, ptr::null_mut()) };
    }
}

/// Prints the buffer that the address is next to, and goes on as without this handler.
extern "C" fn on_fault(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system calls this with a valid `info`. The buffers are never freed.
    let (address, guards) = unsafe { ((*info).si_addr() as usize, GUARDS.load(Ordering::Acquire).as_ref()) };
    let near = |guard: &&Guard| guard.forbidden.iter().any(|range| range.contains(&address));
    if let Some(guard) = guards.and_then(|guards| guards.iter().find(near)) {
        report(guard, address);
    }
    // SAFETY: it was filled by the system, and is never freed.
    let before = unsafe { BEFORE.load(Ordering::Acquire).as_ref() };
    match before.filter(|before| signal == SIGSEGV && before.sa_flags & SA_SIGINFO != 0) {
        // SAFETY: with this flag, the action is a handler with this signature.
        Some(before) => unsafe {
            std::mem::transmute::<usize, Handler>(before.sa_sigaction)(signal, info, context);
        },
        // The access is repeated when the handler returns, and then ends the process.
        // SAFETY: sets the usual action.
        None => unsafe {
            libc::signal(signal, SIG_DFL);
        },
    }
}

fn report(guard: &Guard, address: usize) {
    let side = if address < guard.start { "before its start" } else { "behind its end" };
    let (sign, distance) =
        if address < guard.start { ("-", guard.start - address) } else { ("", address - guard.start) };
    let (mut place, mut size) = ([0; 20], [0; 20]);
    let (place, size) = (digits(distance, &mut place), digits(guard.bytes, &mut size));
    let words = [STRAY_ACCESS, " `", &guard.name, "`, ", side, ": at byte ", sign];
    let words = words.into_iter().map(str::as_bytes);
    for part in words.chain([place, b" of a buffer of ", size, b" bytes\n"]) {
        // SAFETY: writes bytes that live longer than the call. Nothing can be done if it fails.
        unsafe { libc::write(libc::STDERR_FILENO, part.as_ptr().cast(), part.len()) };
    }
}

/// Writes a number in decimal digits. Allocates nothing.
fn digits(mut number: usize, into: &mut [u8; 20]) -> &[u8] {
    let mut at = into.len();
    loop {
        at -= 1;
        into[at] = b'0' + u8::try_from(number % 10).unwrap_or_default();
        number /= 10;
        if number == 0 {
            return &into[at..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::digits;

    #[test]
    fn numbers_are_written_in_digits() {
        for number in [0, 7, 10, 4096, usize::MAX] {
            assert_eq!(digits(number, &mut [0; 20]), number.to_string().as_bytes());
        }
    }
}
