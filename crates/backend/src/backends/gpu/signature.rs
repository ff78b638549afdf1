//! Assertions behind the user's source. With them, the compiler itself compares the kernel's
//! parameters with the problem's arguments. A mismatch is then a compiler error that names the
//! argument.
//!
//! As for C and OpenCL, memory of the user's own types and of vectors fits any declared type. Among
//! plain types and arrays of them, size and kind must agree; the sign of integers does not matter.

use std::fmt::Write;
use tunesmith_kernel::{Argument, ArgumentKind};

/// The file name of the added lines in messages.
pub(super) const FILE: &str = "tunesmith";

/// The beginning of the message about the number of parameters.
pub(super) const COUNT: &str = "tunesmith: number of parameters";

/// The beginning of the message about a parameter, followed by the parameter's number.
pub(super) const PARAMETER: &str = "tunesmith: parameter ";

/// The definitions that the assertions use. Run-time compilers have no standard headers, and a user's source may
/// contain any names. Functions would count as host functions, so there are none. Sizes and
/// parameters are macros, so no name may equal one that users give to them. C++11 suffices, because
/// users choose the standard.
const TOOLS: &str = "namespace tunesmith_check {
template <bool tunesmith_b> struct tunesmith_truth { static const bool tunesmith_value = tunesmith_b; };
template <class TunesmithT> struct tunesmith_plain { using tunesmith_type = TunesmithT; };
template <class TunesmithT> struct tunesmith_plain<const TunesmithT> { using tunesmith_type = TunesmithT; };
template <class TunesmithT> struct tunesmith_plain<volatile TunesmithT> { using tunesmith_type = TunesmithT; };
template <class TunesmithT> struct tunesmith_plain<const volatile TunesmithT> { using tunesmith_type = TunesmithT; };
template <class TunesmithT> struct tunesmith_real : tunesmith_truth<false> {};
template <> struct tunesmith_real<float> : tunesmith_truth<true> {};
template <> struct tunesmith_real<double> : tunesmith_truth<true> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r,
          bool = __is_class(TunesmithT) || __is_union(TunesmithT) || __is_enum(TunesmithT)>
struct tunesmith_element
    : tunesmith_truth<sizeof(TunesmithT) == tunesmith_size && tunesmith_real<TunesmithT>::tunesmith_value == tunesmith_r> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r>
struct tunesmith_element<TunesmithT, tunesmith_size, tunesmith_r, true> : tunesmith_truth<true> {};
template <int tunesmith_size, bool tunesmith_r>
struct tunesmith_element<void, tunesmith_size, tunesmith_r, false> : tunesmith_truth<true> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r>
struct tunesmith_element<TunesmithT *, tunesmith_size, tunesmith_r, false> : tunesmith_truth<false> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r, class... TunesmithP>
struct tunesmith_element<TunesmithT(TunesmithP...), tunesmith_size, tunesmith_r, false> : tunesmith_truth<false> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r, unsigned long long tunesmith_n>
struct tunesmith_element<TunesmithT[tunesmith_n], tunesmith_size, tunesmith_r, false>
    : tunesmith_element<typename tunesmith_plain<TunesmithT>::tunesmith_type, tunesmith_size, tunesmith_r> {};
template <class TunesmithT> struct tunesmith_any_memory : tunesmith_truth<false> {};
template <class TunesmithT> struct tunesmith_any_memory<TunesmithT *> : tunesmith_truth<true> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r> struct tunesmith_memory : tunesmith_truth<false> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r>
struct tunesmith_memory<TunesmithT *, tunesmith_size, tunesmith_r>
    : tunesmith_element<typename tunesmith_plain<TunesmithT>::tunesmith_type, tunesmith_size, tunesmith_r> {};
template <class TunesmithT, int tunesmith_size, bool tunesmith_r> struct tunesmith_scalar
    : tunesmith_truth<sizeof(TunesmithT) == tunesmith_size
        && tunesmith_element<typename tunesmith_plain<TunesmithT>::tunesmith_type, tunesmith_size, tunesmith_r>::tunesmith_value> {};
template <int tunesmith_n, class... TunesmithP> struct tunesmith_at;
template <class TunesmithF, class... TunesmithP>
struct tunesmith_at<0, TunesmithF, TunesmithP...> { using tunesmith_type = TunesmithF; };
template <int tunesmith_n, class TunesmithF, class... TunesmithP>
struct tunesmith_at<tunesmith_n, TunesmithF, TunesmithP...> : tunesmith_at<tunesmith_n - 1, TunesmithP...> {};
template <int tunesmith_n> struct tunesmith_at<tunesmith_n> { using tunesmith_type = int; };
template <class TunesmithF> struct tunesmith_parameters;
template <class... TunesmithP> struct tunesmith_parameters<void (*)(TunesmithP...)> {
    static const int tunesmith_count = sizeof...(TunesmithP);
    template <int tunesmith_n> using tunesmith_type = typename tunesmith_at<tunesmith_n, TunesmithP...>::tunesmith_type;
};
}
";

/// Returns the arguments that are passed as parameters. Local memory is given with the launch, and
/// variables in constant memory are written before it.
pub(super) fn passed(arguments: &[Argument]) -> impl Iterator<Item = &Argument> {
    arguments
        .iter()
        .filter(|argument| argument.symbol.is_none() && !matches!(argument.kind, ArgumentKind::Local { .. }))
}

/// Returns the assertions for a kernel, by its C++ name, with these arguments.
pub(super) fn assertions(function: &str, arguments: &[Argument]) -> String {
    let count = passed(arguments).count();
    let mut text = format!("#line 1 \"{FILE}\"\n{TOOLS}");
    let parameters = format!("tunesmith_check::tunesmith_parameters<decltype(&{function})>");
    let mut assert = |condition: String, message: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "static_assert({condition}, \"{message}\");");
    };
    assert(format!("{parameters}::tunesmith_count == {count}"), COUNT);
    for (number, argument) in passed(arguments).enumerate() {
        let scalar = argument.element.scalar();
        let (size, real) = match &argument.kind {
            ArgumentKind::Scalar(_) => (argument.element.size(), scalar.is_float() && argument.element.lanes() == 1),
            ArgumentKind::Object(bytes) => (bytes.len(), false),
            _ => (scalar.size(), scalar.is_float()),
        };
        let of = format!("{parameters}::tunesmith_type<{number}>");
        let condition = match &argument.kind {
            ArgumentKind::Scalar(_) | ArgumentKind::Object(_) => {
                format!("tunesmith_check::tunesmith_scalar<{of}, {size}, {real}>::tunesmith_value")
            }
            // Textures and surfaces are objects of 64 bits.
            _ if argument.is_image() => {
                format!("tunesmith_check::tunesmith_scalar<{of}, 8, false>::tunesmith_value")
            }
            _ if scalar.name() == "bytes" => format!("tunesmith_check::tunesmith_any_memory<{of}>::tunesmith_value"),
            _ => format!("tunesmith_check::tunesmith_memory<{of}, {size}, {real}>::tunesmith_value"),
        };
        assert(format!("{parameters}::tunesmith_count <= {number} || {condition}"), &format!("{PARAMETER}{number}"));
    }
    text
}
