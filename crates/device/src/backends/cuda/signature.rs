//! Assertions behind the user's source. With them, the compiler itself compares the kernel's
//! parameters with the problem's arguments. A mismatch is then a compiler error that names the
//! argument.
//!
//! As for OpenCL, memory of the user's own types and of vectors fits any declared type. Among plain
//! types, size and kind must agree; the sign of integers does not matter.

use crate::problem::{Argument, ArgumentKind};
use std::fmt::Write;

/// The file name of the added lines in messages.
pub(super) const FILE: &str = "tunesmith";

/// The beginning of the message about the number of parameters.
pub(super) const COUNT: &str = "tunesmith: number of parameters";

/// The beginning of the message about a parameter, followed by the parameter's number.
pub(super) const PARAMETER: &str = "tunesmith: parameter ";

/// The definitions that the assertions use. NVRTC has no standard headers, and a user's source may
/// contain any names. Functions would count as host functions, so there are none.
const TOOLS: &str = "namespace tunesmith_check {
template <class T> struct plain { using type = T; };
template <class T> struct plain<const T> { using type = T; };
template <class T> struct plain<volatile T> { using type = T; };
template <class T> struct plain<const volatile T> { using type = T; };
template <class T> constexpr bool is_real = false;
template <> constexpr bool is_real<float> = true;
template <> constexpr bool is_real<double> = true;
template <class T> constexpr bool is_own = __is_class(T) || __is_union(T) || __is_enum(T);
template <class T, int size, bool real> constexpr bool element =
    is_own<T> || (sizeof(T) == size && is_real<T> == real);
template <int size, bool real> constexpr bool element<void, size, real> = true;
template <class T> constexpr bool any_memory = false;
template <class T> constexpr bool any_memory<T *> = true;
template <class T, int size, bool real> constexpr bool memory = false;
template <class T, int size, bool real> constexpr bool memory<T *, size, real> =
    element<typename plain<T>::type, size, real>;
template <class T, int size, bool real> constexpr bool value =
    sizeof(T) == size && element<typename plain<T>::type, size, real>;
template <class T, int size, bool real> constexpr bool value<T *, size, real> = false;
template <int n, class... P> struct at;
template <class F, class... P> struct at<0, F, P...> { using type = F; };
template <int n, class F, class... P> struct at<n, F, P...> { using type = typename at<n - 1, P...>::type; };
template <int n> struct at<n> { using type = int; };
template <class F> struct parameters;
template <class... P> struct parameters<void (*)(P...)> {
    static constexpr int count = sizeof...(P);
    template <int n> using type = typename at<n, P...>::type;
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
    let parameters = format!("tunesmith_check::parameters<decltype(&{function})>");
    let mut assert = |condition: String, message: &str| {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "static_assert({condition}, \"{message}\");");
    };
    assert(format!("{parameters}::count == {count}"), COUNT);
    for (number, argument) in passed(arguments).enumerate() {
        let scalar = argument.element.scalar();
        let (size, real) = match argument.kind {
            ArgumentKind::Scalar(_) => (argument.element.size(), scalar.is_float() && argument.element.lanes() == 1),
            _ => (scalar.size(), scalar.is_float()),
        };
        let of = format!("{parameters}::type<{number}>");
        let condition = match &argument.kind {
            ArgumentKind::Scalar(_) => format!("tunesmith_check::value<{of}, {size}, {real}>"),
            _ if scalar.name() == "bytes" => format!("tunesmith_check::any_memory<{of}>"),
            _ => format!("tunesmith_check::memory<{of}, {size}, {real}>"),
        };
        assert(format!("{parameters}::count <= {number} || {condition}"), &format!("{PARAMETER}{number}"));
    }
    text
}
