//! Fills what a function finds before it has written anything: registers, its stack and memory
//! from `malloc`.
//!
//! In a fresh process all of them hold zeros. A kernel that forgets to set a sum to zero would be
//! right here and wrong in a program.

#![allow(unsafe_code)]

/// The fill of each byte. As `f32` it is -1.7e38 and as `f64` -5.3e303, which no maximum, minimum or
/// sum of usual data hides. As `f16` it is not a number, as an integer it is negative, and as an
/// address it is invalid.
const FILL: u8 = 0xFE;

/// The size of the filled part of the stack in bytes.
const STACK: usize = 128 << 10;

/// Fills the stack below the caller's frame.
#[inline(never)]
pub(super) fn fill_stack() {
    let mut bytes = [FILL; STACK];
    std::hint::black_box(&mut bytes);
}

/// Chooses whether `malloc` fills what it gives. Does nothing if the system's `malloc` cannot.
pub(super) fn fill_heap(on: bool) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        // `malloc` fills with the complement of the lowest byte; 0 stops it.
        let byte = if on { i32::from(!FILL) } else { 0 };
        // SAFETY: the call changes one setting of the allocator.
        unsafe { nix::libc::mallopt(nix::libc::M_PERTURB, byte) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = on;
}

/// Fills the vector registers that a function may use without saving them.
#[inline(always)]
pub(super) fn fill_registers() {
    let word = u32::from_ne_bytes([FILL; 4]);
    #[cfg(target_arch = "x86_64")]
    x86::fill(word);
    #[cfg(target_arch = "aarch64")]
    // SAFETY: the instructions only change registers that are named as changed.
    unsafe {
        std::arch::asm!(
            "dup v0.4s, {0:w}", "dup v1.4s, {0:w}", "dup v2.4s, {0:w}", "dup v3.4s, {0:w}",
            "dup v4.4s, {0:w}", "dup v5.4s, {0:w}", "dup v6.4s, {0:w}", "dup v7.4s, {0:w}",
            "dup v16.4s, {0:w}", "dup v17.4s, {0:w}", "dup v18.4s, {0:w}", "dup v19.4s, {0:w}",
            in(reg) word, clobber_abi("C"), options(nomem, nostack),
        );
    }
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    let _ = word;
}

/// Sets the upper parts of vector registers to zero. Otherwise they would slow down later launches
/// of a kernel without wide vectors, which are timed.
#[inline(always)]
pub(super) fn clear_upper_parts() {
    #[cfg(target_arch = "x86_64")]
    x86::clear_upper_parts();
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::asm;

    #[inline(always)]
    pub(super) fn fill(word: u32) {
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has these instructions, which only change the named registers.
            unsafe {
                asm!(
                    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31",
                    "vpbroadcastd zmm\\n, {0:e}",
                    ".endr",
                    in(reg) word, clobber_abi("C"), options(nomem, nostack),
                );
            }
        } else if is_x86_feature_detected!("avx2") {
            // SAFETY: as above.
            unsafe {
                asm!(
                    "vmovd xmm0, {0:e}",
                    ".irp n,15,14,13,12,11,10,9,8,7,6,5,4,3,2,1,0",
                    "vpbroadcastd ymm\\n, xmm0",
                    ".endr",
                    in(reg) word, clobber_abi("C"), options(nomem, nostack),
                );
            }
        } else {
            // SAFETY: as above; every x86-64 processor has them.
            unsafe {
                asm!(
                    ".irp n,0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15",
                    "movd xmm\\n, {0:e}",
                    "pshufd xmm\\n, xmm\\n, 0",
                    ".endr",
                    in(reg) word, clobber_abi("C"), options(nomem, nostack),
                );
            }
        }
    }

    #[inline(always)]
    pub(super) fn clear_upper_parts() {
        if is_x86_feature_detected!("avx") {
            // SAFETY: the processor has this instruction, which only changes vector registers.
            unsafe { asm!("vzeroupper", clobber_abi("C"), options(nomem, nostack)) };
        }
    }
}
