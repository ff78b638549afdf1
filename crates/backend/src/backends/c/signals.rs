//! The signal handlers and the interval timers of this process.

#![allow(unsafe_code)]

use nix::libc::{self, c_int};
use std::mem::MaybeUninit;
use std::ptr::null;

/// The interval timers, by the names of their system call.
const TIMERS: [(c_int, &str); 3] =
    [(libc::ITIMER_REAL, "ITIMER_REAL"), (libc::ITIMER_VIRTUAL, "ITIMER_VIRTUAL"), (libc::ITIMER_PROF, "ITIMER_PROF")];

/// Returns the number of every signal with the address and the flags of its handler. The C library
/// keeps some signals for itself. They are not among them.
pub fn signal_handlers() -> Vec<(c_int, String)> {
    let handler = |signal| {
        let mut action = MaybeUninit::<libc::sigaction>::zeroed();
        // SAFETY: without a new action, the call only writes the present one, for which there is room.
        let is_told = unsafe { libc::sigaction(signal, null(), action.as_mut_ptr()) } == 0;
        // SAFETY: every field may be zero, and the call fills in the rest.
        let action = unsafe { action.assume_init() };
        is_told.then(|| (signal, format!("{:x} {:x}", action.sa_sigaction, action.sa_flags)))
    };
    (1..=libc::SIGRTMAX()).filter_map(handler).collect()
}

/// Returns the interval timers that run, as text, without the time that is left of them.
pub fn interval_timers() -> String {
    let timer = |(which, name): &(c_int, &str)| {
        let mut value = MaybeUninit::<libc::itimerval>::zeroed();
        // SAFETY: there is room for the value.
        let is_told = unsafe { libc::getitimer(*which, value.as_mut_ptr()) } == 0;
        // SAFETY: every field may be zero, and the call fills in the rest.
        let libc::itimerval { it_interval: interval, it_value: left } = unsafe { value.assume_init() };
        let runs = is_told && (left.tv_sec, left.tv_usec) != (0, 0);
        runs.then(|| format!("{name} every {}.{:06} s", interval.tv_sec, interval.tv_usec))
    };
    TIMERS.iter().filter_map(timer).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handlers_that_take_the_place_of_another_differ() {
        extern "C" fn one(_: c_int) {}
        extern "C" fn other(_: c_int) {
            std::process::abort();
        }
        let of_signal = || signal_handlers().into_iter().find(|(signal, _)| *signal == libc::SIGURG).unwrap().1;
        let install = |handler: extern "C" fn(c_int)| {
            // SAFETY: the handler does nothing, and nobody sends the signal.
            unsafe { libc::signal(libc::SIGURG, handler as libc::sighandler_t) };
            of_signal()
        };
        let (first, second, again) = (install(one), install(other), install(one));
        assert!(first != second && first == again, "{first} {second} {again}");
    }

    #[test]
    fn a_timer_is_told_while_it_runs() {
        let set = |seconds| {
            let time = libc::timeval { tv_sec: seconds, tv_usec: 0 };
            let value = libc::itimerval { it_interval: time, it_value: time };
            // SAFETY: the value is one, and none is asked for. The signal comes after an hour of
            // processor time.
            unsafe { libc::setitimer(libc::ITIMER_PROF, &raw const value, std::ptr::null_mut()) };
            interval_timers()
        };
        assert_eq!([set(3600), set(0)], ["ITIMER_PROF every 3600.000000 s", ""]);
    }
}
