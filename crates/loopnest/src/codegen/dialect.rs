//! The differences between the target languages.

use crate::ir::{Function, Type};

/// A target language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Dialect {
    /// OpenCL C 1.2.
    OpenCl,
    /// CUDA C++.
    Cuda,
    /// C11. Work-groups and work-items are loops. The loops over work-groups run in parallel if
    /// OpenMP is enabled.
    C,
}

impl Dialect {
    /// Returns the name of a type.
    pub(super) fn name(self, kind: Type) -> &'static str {
        match (kind, self) {
            (Type::I8, Dialect::OpenCl) => "char",
            (Type::I8, _) => "signed char",
            (Type::U8, _) => "unsigned char",
            (Type::I16, _) => "short",
            (Type::U16, _) => "unsigned short",
            (Type::I32, _) => "int",
            (Type::I64, Dialect::OpenCl) => "long",
            (Type::I64, Dialect::Cuda) => "long long",
            // The name that callers know: `int64_t` is `long` on one machine and `long long` on
            // another.
            (Type::I64, Dialect::C) => "int64_t",
            // In OpenCL only memory of the caller has the type `half`.
            (Type::F16, Dialect::OpenCl) => "ushort",
            (Type::F16, _) => HALF,
            (Type::F32, _) => "float",
            (Type::F64, _) => "double",
        }
    }

    /// Returns the keyword for a pointer without aliases.
    pub(super) fn restrict(self) -> &'static str {
        if self == Dialect::Cuda { "__restrict__" } else { "restrict" }
    }

    /// Returns the suffix of the names of mathematical functions for values of that type.
    pub(super) fn suffix(self, kind: Type) -> &'static str {
        if kind == Type::F32 && self != Dialect::OpenCl { "f" } else { "" }
    }

    /// Returns a call of a function whose arguments have the type `kind`.
    pub(super) fn call(self, function: Function, kind: Type, arguments: &[String]) -> String {
        let list = arguments.join(", ");
        let suffix = self.suffix(kind);
        let integer = !kind.is_float();
        match function {
            Function::Rsqrt if self == Dialect::C => {
                let one = if kind == Type::F32 { "1.0f" } else { "1.0" };
                format!("({one} / sqrt{suffix}({list}))")
            }
            Function::Abs if integer => format!("nest_abs({list})"),
            Function::Min if integer => format!("nest_min({list})"),
            Function::Max if integer => format!("nest_max({list})"),
            Function::Abs => format!("fabs{suffix}({list})"),
            // Compilers of C call `fmin` for each value: its rule for NaN is not that of the instruction.
            Function::Min if self == Dialect::C => format!("nest_fmin{suffix}({list})"),
            Function::Max if self == Dialect::C => format!("nest_fmax{suffix}({list})"),
            Function::Min => format!("fmin{suffix}({list})"),
            Function::Max => format!("fmax{suffix}({list})"),
            Function::Select(comparison) => match arguments {
                [left, right, yes, no] => format!("({left} {} {right} ? {yes} : {no})", comparison.symbol()),
                _ => list,
            },
            other => format!("{}{suffix}({list})", other.name()),
        }
    }

    /// Returns the line that asks the compiler to unroll the next loop `count` times.
    pub(super) fn unroll(self, count: i128) -> String {
        match self {
            Dialect::C => format!("#pragma GCC unroll {count}"),
            Dialect::OpenCl | Dialect::Cuda => format!("#pragma unroll {count}"),
        }
    }
}

/// The type of cells in half precision in C, CUDA and HIP.
pub(super) const HALF: &str = "nest_half";

/// Names with a meaning in one of the languages, and names that generated code uses.
pub(super) const RESERVED: &[&str] = &[
    "auto",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "constant",
    "continue",
    "default",
    "delete",
    "do",
    "double",
    "else",
    "enum",
    "event_t",
    "explicit",
    "export",
    "extern",
    "false",
    "float",
    "for",
    "friend",
    "global",
    "goto",
    "half",
    "if",
    "image2d_t",
    "image3d_t",
    "inline",
    "int",
    "kernel",
    "local",
    "long",
    "main",
    "mutable",
    "namespace",
    "new",
    "operator",
    "private",
    "protected",
    "public",
    "quad",
    "register",
    "restrict",
    "return",
    "sampler_t",
    "short",
    "signed",
    "size_t",
    "sizeof",
    "static",
    "struct",
    "switch",
    "template",
    "this",
    "throw",
    "true",
    "try",
    "typedef",
    "typename",
    "uchar",
    "uint",
    "ulong",
    "union",
    "unsigned",
    "ushort",
    "using",
    "virtual",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "linux",
    "int64_t",
    "unix",
    "barrier",
    "select",
    "rsqrt",
    "sqrt",
    "exp",
    "log",
    "sin",
    "cos",
    "tanh",
    "fabs",
    "fmin",
    "fmax",
    "pow",
    "rsqrtf",
    "sqrtf",
    "expf",
    "logf",
    "sinf",
    "cosf",
    "tanhf",
    "fabsf",
    "fminf",
    "fmaxf",
    "powf",
    "get_group_id",
    "get_local_id",
    "atomicAdd",
    "atomicCAS",
    "atomicMax",
    "atomicMin",
    "atomic_add",
    "atomic_cmpxchg",
    "atomic_max",
    "atomic_min",
    "blockIdx",
    "threadIdx",
    "nest_abs",
    "nest_fmax",
    "nest_fmaxf",
    "nest_fmin",
    "nest_fminf",
    "nest_min",
    "nest_max",
    "nest_floor",
    "first0",
    "first1",
    "gid0",
    "gid1",
    "gid2",
    "lid0",
    "lid1",
    "lid2",
];
