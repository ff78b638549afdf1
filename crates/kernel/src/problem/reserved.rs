//! The names that languages give a meaning.

use crate::problem::Language;

/// The meaning that a language gives to a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A word of the grammar, or a basic type.
    Keyword,
    /// A type, a variable or a function that sources need not declare.
    BuiltIn,
    /// A macro that the compiler defines by itself.
    Macro,
}

/// The keywords of C, with those that its compilers add.
const C: [&str; 45] = [
    "auto",
    "break",
    "case",
    "char",
    "const",
    "continue",
    "default",
    "do",
    "double",
    "else",
    "enum",
    "extern",
    "float",
    "for",
    "goto",
    "if",
    "inline",
    "int",
    "long",
    "register",
    "restrict",
    "return",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "switch",
    "typedef",
    "union",
    "unsigned",
    "void",
    "volatile",
    "while",
    "asm",
    "typeof",
    "_Alignas",
    "_Alignof",
    "_Atomic",
    "_Bool",
    "_Complex",
    "_Generic",
    "_Noreturn",
    "_Static_assert",
    "_Thread_local",
];

/// The keywords of C++ that C has not.
const CPP: [&str; 51] = [
    "alignas",
    "alignof",
    "and",
    "and_eq",
    "bitand",
    "bitor",
    "bool",
    "catch",
    "char16_t",
    "char32_t",
    "char8_t",
    "class",
    "compl",
    "concept",
    "const_cast",
    "consteval",
    "constexpr",
    "constinit",
    "co_await",
    "co_return",
    "co_yield",
    "decltype",
    "delete",
    "dynamic_cast",
    "explicit",
    "export",
    "false",
    "friend",
    "mutable",
    "namespace",
    "new",
    "noexcept",
    "not",
    "not_eq",
    "nullptr",
    "operator",
    "or",
    "or_eq",
    "private",
    "protected",
    "public",
    "reinterpret_cast",
    "requires",
    "static_assert",
    "static_cast",
    "template",
    "this",
    "thread_local",
    "throw",
    "true",
    "try",
];

/// The rest of the keywords of C++.
const CPP_MORE: [&str; 8] = ["typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq", "final"];

/// The keywords of OpenCL C that C has not.
const OPENCL: [&str; 20] = [
    "bool",
    "complex",
    "constant",
    "event_t",
    "generic",
    "global",
    "half",
    "image1d_t",
    "image2d_t",
    "image3d_t",
    "kernel",
    "local",
    "pipe",
    "private",
    "read_only",
    "read_write",
    "sampler_t",
    "uniform",
    "write_only",
    "imaginary",
];

/// Types and functions of OpenCL C that are no keywords.
const OPENCL_BUILT_IN: [&str; 66] = [
    "abs",
    "acos",
    "all",
    "any",
    "asin",
    "atan",
    "atan2",
    "barrier",
    "bitselect",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "cos",
    "cosh",
    "cross",
    "degrees",
    "distance",
    "dot",
    "erf",
    "exp",
    "exp10",
    "exp2",
    "fabs",
    "false",
    "floor",
    "fma",
    "fmax",
    "fmin",
    "fmod",
    "fract",
    "hadd",
    "hypot",
    "intptr_t",
    "isinf",
    "isnan",
    "length",
    "log",
    "log10",
    "log2",
    "mad",
    "mad24",
    "max",
    "mem_fence",
    "min",
    "mix",
    "mul24",
    "normalize",
    "popcount",
    "pow",
    "prefetch",
    "printf",
    "ptrdiff_t",
    "radians",
    "rotate",
    "round",
    "rsqrt",
    "select",
    "sign",
    "sin",
    "size_t",
    "sqrt",
    "step",
    "tan",
    "true",
    "uintptr_t",
];

/// The beginnings of families of functions of OpenCL C.
const OPENCL_FAMILIES: [&str; 17] = [
    "as_",
    "async_work_group_",
    "atom_",
    "atomic_",
    "convert_",
    "get_global_",
    "get_group_",
    "get_image_",
    "get_local_",
    "get_num_",
    "get_work_",
    "half_",
    "native_",
    "read_image",
    "vload",
    "vstore",
    "write_image",
];

/// The macros that compilers of OpenCL C define.
const OPENCL_MACROS: [&str; 37] = [
    "CHAR_BIT",
    "CHAR_MAX",
    "CHAR_MIN",
    "CLK_GLOBAL_MEM_FENCE",
    "CLK_LOCAL_MEM_FENCE",
    "FLT_DIG",
    "FLT_EPSILON",
    "FLT_MANT_DIG",
    "FLT_MAX",
    "FLT_MIN",
    "FLT_RADIX",
    "DBL_EPSILON",
    "DBL_MAX",
    "DBL_MIN",
    "HUGE_VAL",
    "HUGE_VALF",
    "INFINITY",
    "INT_MAX",
    "INT_MIN",
    "LONG_MAX",
    "LONG_MIN",
    "MAXFLOAT",
    "M_E",
    "M_E_F",
    "M_LN2",
    "M_LN2_F",
    "M_PI",
    "M_PI_2",
    "M_PI_F",
    "M_SQRT2",
    "M_SQRT2_F",
    "NAN",
    "NULL",
    "SHRT_MAX",
    "UCHAR_MAX",
    "UINT_MAX",
    "ULONG_MAX",
];

/// Types and variables of CUDA C++ and HIP C++ that are no keywords of C++.
const GPU_BUILT_IN: [&str; 15] = [
    "threadIdx",
    "blockIdx",
    "blockDim",
    "gridDim",
    "warpSize",
    "dim3",
    "half",
    "half2",
    "__half",
    "__half2",
    "__syncthreads",
    "__syncwarp",
    "size_t",
    "printf",
    "clock64",
];

/// The beginnings of families of functions of CUDA C++ and HIP C++.
const GPU_FAMILIES: [&str; 5] = ["atomic", "__shfl", "__ballot", "__ld", "make_"];

/// The qualifiers of CUDA C++ and HIP C++, which are macros or keywords of the compilers.
const GPU_KEYWORDS: [&str; 10] = [
    "__global__",
    "__device__",
    "__host__",
    "__shared__",
    "__constant__",
    "__managed__",
    "__restrict__",
    "__launch_bounds__",
    "__forceinline__",
    "__noinline__",
];

/// The beginnings of macros of the compilers of CUDA C++ and HIP C++.
const GPU_MACROS: [&str; 5] = ["__CUDA", "__NVCC", "__HIP", "__CUDACC", "__AMDGCN"];

impl Language {
    /// Returns the meaning that the language, or its usual compiler, gives to `name`. Which macros the
    /// system's compilers of C and C++ define, they tell themselves: they are not listed here.
    pub fn meaning(self, name: &str) -> Option<Meaning> {
        let is_cpp = !matches!(self, Self::C | Self::OpenCl);
        let is_keyword = C.contains(&name)
            || (is_cpp && (CPP.contains(&name) || CPP_MORE.contains(&name)))
            || (self == Self::OpenCl && (OPENCL.contains(&name) || is_qualifier(name)))
            || (self.needs_blocks() && GPU_KEYWORDS.contains(&name));
        if is_keyword {
            return Some(Meaning::Keyword);
        }
        let starts = |families: &[&str]| families.iter().any(|start| name.starts_with(start));
        match self {
            Self::C | Self::Cpp => None,
            Self::OpenCl if OPENCL_MACROS.contains(&name) || starts(&["__OPENCL_", "CL_VERSION_"]) => {
                Some(Meaning::Macro)
            }
            Self::OpenCl => {
                let types = ["char", "short", "int", "long", "float", "double", "half"];
                let is_known = OPENCL_BUILT_IN.contains(&name) || starts(&OPENCL_FAMILIES);
                (is_known || is_vector(name, &types, &["", "2", "3", "4", "8", "16"])).then_some(Meaning::BuiltIn)
            }
            Self::Cuda | Self::Hip if starts(&GPU_MACROS) => Some(Meaning::Macro),
            Self::Cuda | Self::Hip => {
                let types = ["char", "short", "int", "long", "longlong", "float", "double"];
                let is_known = GPU_BUILT_IN.contains(&name) || starts(&GPU_FAMILIES);
                (is_known || is_vector(name, &types, &["1", "2", "3", "4"])).then_some(Meaning::BuiltIn)
            }
        }
    }
}

/// Returns true for `__kernel` and its kin.
fn is_qualifier(name: &str) -> bool {
    let qualifiers = ["kernel", "global", "local", "constant", "private", "generic", "read_only", "write_only"];
    name.strip_prefix("__").is_some_and(|rest| qualifiers.contains(&rest))
}

/// Returns true for the name of a type of `types`, or its unsigned form, followed by one of `lanes`.
fn is_vector(name: &str, types: &[&str], lanes: &[&str]) -> bool {
    let base = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_unsigned = |base: &str| base.strip_prefix('u').is_some_and(|rest| types.contains(&rest));
    (types.contains(&base) || is_unsigned(base)) && lanes.contains(&&name[base.len()..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use Language::{C, Cpp, Cuda, Hip, OpenCl};

    #[test]
    fn every_language_knows_its_own_names_and_no_parameters() {
        let known = [
            (C, "int", Meaning::Keyword),
            (C, "restrict", Meaning::Keyword),
            (Cpp, "class", Meaning::Keyword),
            (Cpp, "typename", Meaning::Keyword),
            (Cpp, "xor", Meaning::Keyword),
            (OpenCl, "half", Meaning::Keyword),
            (OpenCl, "__local", Meaning::Keyword),
            (OpenCl, "float4", Meaning::BuiltIn),
            (OpenCl, "uchar16", Meaning::BuiltIn),
            (OpenCl, "uint", Meaning::BuiltIn),
            (OpenCl, "get_global_id", Meaning::BuiltIn),
            (OpenCl, "M_PI", Meaning::Macro),
            (Cuda, "threadIdx", Meaning::BuiltIn),
            (Cuda, "blockIdx", Meaning::BuiltIn),
            (Cuda, "float4", Meaning::BuiltIn),
            (Hip, "ulonglong2", Meaning::BuiltIn),
            (Hip, "class", Meaning::Keyword),
            (Cuda, "__CUDA_ARCH__", Meaning::Macro),
        ];
        for (language, name, meaning) in known {
            assert_eq!(language.meaning(name), Some(meaning), "{language} {name}");
        }
        let free =
            [(C, "class"), (C, "float4"), (Cpp, "half"), (OpenCl, "class"), (OpenCl, "float5"), (Cuda, "float8")];
        for (language, name) in free {
            assert_eq!(language.meaning(name), None, "{language} {name}");
        }
        for language in [C, Cpp, OpenCl, Cuda, Hip] {
            for name in ["TILE", "BLOCK_SIZE", "N", "block_size_x", "UNROLL", "INT", "vector", "VW", "use_local"] {
                assert_eq!(language.meaning(name), None, "{language} {name}");
            }
        }
    }
}
