//! Half precision in generated code: cells of 16 bits, and conversions to and from single precision.
//!
//! No language has arithmetic in half precision without an extension or a header, but all of them
//! convert. Code compiled at run time has no headers, so that CUDA converts by an instruction of its own.

use super::dialect::{Dialect, HALF};
use super::names::Names;
use super::writer::Writer;
use crate::ir::Type;

const OPENCL: &str = "\
static inline float nest_from_half(ushort bits) { return vload_half(0, (const half *)&bits); }
static inline ushort nest_to_half(float value) { ushort bits; vstore_half_rte(value, 0, (half *)&bits); return bits; }";

/// Conversions by the compiler's own type. Clang for AMD's GPUs and GCC from version 12 have it.
const OF_COMPILER: &str = "\
static inline float nest_from_half(nest_half half) { return half; }
static inline nest_half nest_to_half(float value) { return (nest_half)value; }";

const CUDA: &str = "\
struct nest_half { unsigned short bits; };
#if defined(__CUDA_ARCH__) && !defined(__HIP__)
static __device__ inline float nest_from_half(nest_half half) {
    float value;
    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(value) : \"h\"(half.bits));
    return value;
}
static __device__ inline nest_half nest_to_half(float value) {
    nest_half half;
    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(half.bits) : \"f\"(value));
    return half;
}
#elif defined(__HIP__)
static __device__ inline float nest_from_half(nest_half half) {
    union { unsigned short bits; _Float16 value; } own;
    own.bits = half.bits;
    return own.value;
}
static __device__ inline nest_half nest_to_half(float value) {
    union { unsigned short bits; _Float16 value; } own;
    own.value = (_Float16)value;
    nest_half half = {own.bits};
    return half;
}
#else";

/// Conversions by integer arithmetic, for any compiler. `{}` stands for what begins a function.
const PORTABLE: &str = "\
{} float nest_from_half(nest_half half) {
    union { unsigned bits; float value; } own;
    const unsigned size = half.bits & 0x7fffu;
    if (size < 0x400u) own.value = (float)size * 5.9604644775390625e-8f;
    else own.bits = (size << 13) + (size < 0x7c00u ? 0x38000000u : 0x70000000u);
    own.bits |= (half.bits & 0x8000u) << 16;
    return own.value;
}
{} nest_half nest_to_half(float value) {
    union { unsigned bits; float value; } own;
    own.value = value;
    const unsigned sign = own.bits >> 16 & 0x8000u, size = own.bits & 0x7fffffffu;
    nest_half half;
    if (size > 0x7f800000u) own.bits = 0x7e00u;
    else if (size >= 0x477ff000u) own.bits = 0x7c00u;
    else if (size >= 0x38800000u) own.bits = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
    else {
        own.bits = size;
        own.value += 0.5f;
        own.bits -= 0x3f000000u;
    }
    half.bits = (unsigned short)(sign | own.bits);
    return half;
}";

/// Writes the type of cells and the conversions, if the nest has cells in half precision.
pub(super) fn write(names: &Names, writer: &mut Writer) {
    if !names.known.nest.arrays.iter().any(|array| array.element == Type::F16) {
        return;
    }
    let portable = |head: &str| PORTABLE.replace("{}", head);
    let text = match names.dialect {
        Dialect::OpenCl => OPENCL.to_string(),
        Dialect::Cuda => format!("{CUDA}\n{}\n#endif", portable("static __device__ inline")),
        Dialect::C => format!(
            "#ifdef __FLT16_MANT_DIG__\ntypedef _Float16 {HALF};\n{OF_COMPILER}\n#else\n\
             typedef struct {{ unsigned short bits; }} {HALF};\n{}\n#endif",
            portable("static inline")
        ),
    };
    text.lines().for_each(|line| writer.line(line));
}
