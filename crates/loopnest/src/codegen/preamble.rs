//! The beginning of generated code: includes, extensions and helpers.

use super::atomic;
use super::dialect::Dialect;
use super::half;
use super::names::{Names, power};
use super::writer::Writer;
use crate::ir::Type;

impl Names<'_> {
    /// Writes includes, extensions and the helpers that the nest needs.
    pub(super) fn preamble(&self, writer: &mut Writer) {
        let doubles = self.known.nest.arrays.iter().any(|array| array.element == Type::F64);
        let inline = match self.dialect {
            Dialect::C => {
                writer.line("#include <math.h>");
                writer.line("#include <stdint.h>");
                "static inline"
            }
            Dialect::OpenCl => {
                if doubles {
                    writer.line("#pragma OPENCL EXTENSION cl_khr_fp64 : enable");
                }
                "static inline"
            }
            Dialect::Cuda => "static __device__ inline",
        };
        let long = self.dialect.name(Type::I64);
        for (name, of) in [("min", "a < b ? a : b"), ("max", "a > b ? a : b")] {
            writer.line(&format!("{inline} {long} nest_{name}({long} a, {long} b) {{ return {of}; }}"));
        }
        writer.line(&format!("{inline} {long} nest_abs({long} a) {{ return a < 0 ? -a : a; }}"));
        // Not as `a / b - (a % b < 0)`, which GCC 12 miscompiles in bounds of loops.
        writer.line(&format!("{inline} int nest_floor(int a, int b) {{ return (a < 0 ? a - b + 1 : a) / b; }}"));
        if self.dialect == Dialect::C {
            self.lesser_and_greater(writer);
        }
        half::write(self, writer);
        atomic::write(self, inline, writer);
        for (kind, times) in self.powers() {
            let kind_name = self.dialect.name(kind);
            let product = vec!["x"; times as usize].join(" * ");
            let name = power(kind, times);
            writer.line(&format!("{inline} {kind_name} {name}({kind_name} x) {{ return {product}; }}"));
        }
    }

    /// Writes the lesser and the greater of two numbers, for C. As `fmin` and `fmax`, they return the
    /// number if the other argument is none. Unlike these, they become instructions of vectors.
    fn lesser_and_greater(&self, writer: &mut Writer) {
        for kind in [Type::F32, Type::F64] {
            let (name, suffix) = (self.dialect.name(kind), self.dialect.suffix(kind));
            for (function, sign) in [("fmin", '<'), ("fmax", '>')] {
                writer.line(&format!(
                    "static inline {name} nest_{function}{suffix}({name} a, {name} b) {{ return (a {sign} b) | (b != b) ? a : b; }}"
                ));
            }
        }
    }
}
