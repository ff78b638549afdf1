//! The C++ that compares a function's pointers with the problem's buffers.
//!
//! A buffer is first passed as a pointer to the problem's type, as in C. This alone lets the compiler
//! deduce the arguments of a template. If the function cannot be called so, the buffer is passed as
//! an object that converts to a pointer, or to a reference to an array, of any type with the same
//! elements: `double (*A)[64]`, `float4 *`, a pointer to a class. An object that converts to nothing
//! suitable is an error on the argument's line. So is an object by value whose class has another size.
//!
//! Parameters are macros, so no name here may equal a name that users give to a parameter.

use std::fmt::Write;
use tunesmith_kernel::{Argument, ArgumentKind, ScalarType};

/// The definitions that a call uses. They need C++11 and no headers.
pub(super) const TOOLS: &str = "\
struct tunesmith_yes { static constexpr bool tunesmith_value = true; };
struct tunesmith_no { static constexpr bool tunesmith_value = false; };
template <class TunesmithT> TunesmithT &tunesmith_make();
template <bool TunesmithIf> struct tunesmith_only {};
template <> struct tunesmith_only<true> { typedef int tunesmith_type; };
template <class TunesmithT> struct tunesmith_plain { typedef TunesmithT tunesmith_type; };
template <class TunesmithT> struct tunesmith_plain<const TunesmithT> { typedef TunesmithT tunesmith_type; };
template <class TunesmithT> struct tunesmith_plain<volatile TunesmithT> { typedef TunesmithT tunesmith_type; };
template <class TunesmithT> struct tunesmith_plain<const volatile TunesmithT> { typedef TunesmithT tunesmith_type; };
template <class TunesmithT> struct tunesmith_plain<TunesmithT &> : tunesmith_plain<TunesmithT> {};
template <class TunesmithT> struct tunesmith_real {
    static constexpr bool tunesmith_value = TunesmithT(0) < TunesmithT(1) / TunesmithT(2);
};
template <> struct tunesmith_real<bool> : tunesmith_no {};
template <class TunesmithT, class = void> struct tunesmith_lane { typedef TunesmithT tunesmith_type; };
template <class TunesmithT> struct tunesmith_lane<TunesmithT, decltype(void(tunesmith_make<TunesmithT>()[0]))>
    : tunesmith_plain<decltype(tunesmith_make<TunesmithT>()[0])> {};
template <class TunesmithT, class TunesmithE, bool = __is_class(TunesmithT) || __is_union(TunesmithT) || __is_enum(TunesmithT)>
struct tunesmith_fits {
    typedef typename tunesmith_lane<TunesmithT>::tunesmith_type tunesmith_taken;
    typedef typename tunesmith_lane<TunesmithE>::tunesmith_type tunesmith_given;
    static constexpr bool tunesmith_value = sizeof(tunesmith_taken) == sizeof(tunesmith_given)
        && bool(tunesmith_real<tunesmith_taken>::tunesmith_value) == bool(tunesmith_real<tunesmith_given>::tunesmith_value);
};
template <class TunesmithT, class TunesmithE> struct tunesmith_fits<TunesmithT, TunesmithE, true> : tunesmith_yes {};
template <class TunesmithE> struct tunesmith_fits<void, TunesmithE, false> : tunesmith_yes {};
template <class TunesmithT, class TunesmithE> struct tunesmith_fits<TunesmithT *, TunesmithE, false> : tunesmith_no {};
template <class TunesmithT, class TunesmithE, class... TunesmithP>
struct tunesmith_fits<TunesmithT(TunesmithP...), TunesmithE, false> : tunesmith_no {};
template <class TunesmithT, class TunesmithE, unsigned long tunesmith_n>
struct tunesmith_fits<TunesmithT[tunesmith_n], TunesmithE, false>
    : tunesmith_fits<typename tunesmith_plain<TunesmithT>::tunesmith_type, TunesmithE> {};
template <class TunesmithT> struct tunesmith_fits<TunesmithT, void, false> : tunesmith_yes {};
template <> struct tunesmith_fits<void, void, false> : tunesmith_yes {};
template <class TunesmithT> struct tunesmith_fits<TunesmithT *, void, false> : tunesmith_yes {};
template <class TunesmithT, unsigned long tunesmith_n>
struct tunesmith_fits<TunesmithT[tunesmith_n], void, false> : tunesmith_yes {};
template <class TunesmithT, class TunesmithE> using tunesmith_allowed = typename tunesmith_only<
    tunesmith_fits<typename tunesmith_plain<TunesmithT>::tunesmith_type, TunesmithE>::tunesmith_value>::tunesmith_type;
template <class TunesmithT, unsigned long tunesmith_n> using tunesmith_array = TunesmithT (&)[tunesmith_n];
template <class TunesmithE> struct tunesmith_memory {
    void *tunesmith_address;
    template <class TunesmithT, tunesmith_allowed<TunesmithT, TunesmithE> = 0>
    operator TunesmithT *() const { return static_cast<TunesmithT *>(tunesmith_address); }
    template <class TunesmithT, unsigned long tunesmith_n, tunesmith_allowed<TunesmithT, TunesmithE> = 0>
    operator tunesmith_array<TunesmithT, tunesmith_n>() const
    {
        return *static_cast<TunesmithT (*)[tunesmith_n]>(tunesmith_address);
    }
};
template <unsigned long tunesmith_n> struct tunesmith_object {
    void *tunesmith_address;
    template <class TunesmithT, typename tunesmith_only<
        sizeof(TunesmithT) == tunesmith_n && (__is_class(TunesmithT) || __is_union(TunesmithT))>::tunesmith_type = 0>
    operator TunesmithT() const { return *static_cast<TunesmithT *>(tunesmith_address); }
};
template <class TunesmithE> TunesmithE *tunesmith_pass(void *tunesmith_value, tunesmith_yes)
{
    return static_cast<TunesmithE *>(tunesmith_value);
}
template <class TunesmithE> tunesmith_memory<TunesmithE> tunesmith_pass(void *tunesmith_value, tunesmith_no)
{
    return tunesmith_memory<TunesmithE>{tunesmith_value};
}
";

/// Returns the definition of `tunesmith_typed`. It is `tunesmith_yes` if `function` can be called
/// with pointers to the problem's types. `mark` gives the lines that the compiler names in errors:
/// that of the function, and that of the first argument.
pub(super) fn typed(function: &str, arguments: &[Argument], mark: (&str, usize, usize)) -> String {
    let (file, call_line, first_line) = mark;
    if arguments.is_empty() {
        return "typedef tunesmith_yes tunesmith_typed;\n".to_owned();
    }
    let list = |item: &dyn Fn(usize) -> String, separator: &str| {
        (0..arguments.len()).map(item).collect::<Vec<_>>().join(separator)
    };
    let names = list(&|index| format!("class Tunesmith{index}"), ", ");
    let values = list(&|index| format!("tunesmith_make<Tunesmith{index}>()"), ", ");
    let types = list(&|index| passed(&arguments[index]), ",\n");
    let mut text = format!("#line {call_line} \"{file}\"\n");
    // Writing to a string cannot fail.
    let _ = write!(
        text,
        "template <{names}> auto tunesmith_probe(int) -> decltype(void({function}({values})), tunesmith_yes());\n\
         template <{names}> tunesmith_no tunesmith_probe(long);\n\
         #line {} \"{file}\"\ntypedef decltype(tunesmith_probe<\n{types}\n>(0)) tunesmith_typed;\n",
        first_line - 1
    );
    text
}

/// Returns the element type for [`tunesmith_pass`](TOOLS). Bytes have none.
pub(super) fn element(argument: &Argument) -> String {
    match argument.element.scalar() {
        ScalarType::Byte => "void".to_owned(),
        _ => argument.element.c_name(),
    }
}

/// Returns the type of the expression that is passed first.
pub(super) fn passed(argument: &Argument) -> String {
    match (&argument.kind, argument.element.scalar()) {
        (ArgumentKind::Scalar(_), _) => argument.element.c_name(),
        (ArgumentKind::Object(bytes), _) => format!("tunesmith_object<{}>", bytes.len()),
        (_, ScalarType::Byte) => "tunesmith_memory<void>".to_owned(),
        _ => format!("{} *", argument.element.c_name()),
    }
}
