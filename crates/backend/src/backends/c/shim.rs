//! The source compiled for a kernel. It includes the user's file and calls the user's function.
//!
//! Every argument of the call stands on a line of its own, with the type that the problem declares.
//! The compiler thus checks the problem against the function, and the line number of its message
//! identifies the argument.
//!
//! A pointer may have any type whose elements have the right size and kind. In C++, templates decide
//! this ([`elements`]). C cannot name the type of a parameter, but its compilers tell the type when
//! they warn of another pointer, and `diagnose` reads it.

use crate::backends::c::elements;
use std::fmt::Write;
use std::path::Path;
use tunesmith_kernel::{Argument, ArgumentKind, ElementType, Language, ScalarType};

/// The symbol that the compiled library exports.
pub(super) const ENTRY: &str = "tunesmith_call";

/// The file name that the compiler is told for the lines of the call. No such file exists, so the
/// compiler's messages show no source lines from the shim, which the user has not written.
pub(super) const MARK: &str = "tunesmith-call";

/// The line of the call with the function's name, counted from [`MARK`].
pub(super) const CALL_LINE: usize = 3;

/// The line of the first argument.
const FIRST_ARGUMENT_LINE: usize = CALL_LINE + 1;

/// Returns the argument on a line of the call, counted from 0.
pub(super) fn argument_on_line(line: usize, arguments: usize) -> Option<usize> {
    line.checked_sub(FIRST_ARGUMENT_LINE).filter(|argument| *argument < arguments)
}

/// Pragmas that make the compiler check the call. Loss of digits is an error. Another pointer is a
/// warning, because its elements may be the same. Constness does not matter, because pointers are
/// passed without it. The sign of integers does not matter either: `size_t n` takes an `i32`, and
/// `unsigned *` a buffer of them.
const C_CHECKS: &str = "\
#pragma GCC diagnostic warning \"-Wincompatible-pointer-types\"
#pragma GCC diagnostic error \"-Wint-conversion\"
#pragma GCC diagnostic ignored \"-Wpointer-sign\"
#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"
";
const COMMON_CHECKS: &str = "\
#pragma GCC diagnostic error \"-Wconversion\"
#pragma GCC diagnostic error \"-Wfloat-conversion\"
#pragma GCC diagnostic ignored \"-Wsign-conversion\"
";

/// Returns the source that calls `function`, defined in `file`, with `arguments`. It is for the file
/// `shim`.
pub(super) fn source(
    language: Language,
    (shim, file): (&Path, &Path),
    function: &str,
    arguments: &[Argument],
) -> String {
    let cpp = language == Language::Cpp;
    // A file in the shim's own folder is found by its name, whatever the folder is called.
    let beside = shim.parent().and_then(|folder| file.strip_prefix(folder).ok());
    let mut text = format!("#include \"{}\"\n\n", beside.unwrap_or(file).display());
    text += if cpp { "" } else { C_CHECKS };
    text += COMMON_CHECKS;
    text += &vector_types(arguments);
    if cpp {
        text += elements::TOOLS;
        text += &elements::typed(function, arguments, (MARK, CALL_LINE, FIRST_ARGUMENT_LINE));
    }
    let (linkage, throws) = if cpp { ("extern \"C\" ", " noexcept") } else { ("", "") };
    let _ = write!(
        text,
        "#line 1 \"{MARK}\"\n{linkage}__attribute__((visibility(\"default\"))) void {ENTRY}(void **tunesmith_values){throws}\n\
         {{\n    {function}(\n"
    );
    let lines: Vec<String> = arguments
        .iter()
        .enumerate()
        .map(|(index, argument)| format!("        {}", pass(cpp, index, argument)))
        .collect();
    text += &lines.join(",\n");
    text += "\n    );\n}\n";
    text
}

/// Returns the argument at `index` as an expression of its declared type.
fn pass(cpp: bool, index: usize, argument: &Argument) -> String {
    let name = argument.element.c_name();
    match (&argument.kind, argument.element.scalar()) {
        (ArgumentKind::Scalar(_), _) => format!("*({name} *)tunesmith_values[{index}]"),
        (ArgumentKind::Object(_), _) => format!("{}{{tunesmith_values[{index}]}}", elements::passed(argument)),
        (_, ScalarType::Byte) if cpp => format!("tunesmith_memory<void>{{tunesmith_values[{index}]}}"),
        (_, ScalarType::Byte) => format!("tunesmith_values[{index}]"),
        _ if cpp => {
            format!("tunesmith_pass<{}>(tunesmith_values[{index}], tunesmith_typed())", elements::element(argument))
        }
        _ => format!("({name} *)tunesmith_values[{index}]"),
    }
}

fn vector_types(arguments: &[Argument]) -> String {
    let mut vectors: Vec<ElementType> =
        arguments.iter().map(|argument| argument.element).filter(|element| element.lanes() > 1).collect();
    vectors.sort_by_key(ElementType::to_string);
    vectors.dedup();
    let typedefs = vectors.into_iter().map(|vector| {
        let lane = vector.scalar().c_name();
        format!("typedef {lane} {} __attribute__((vector_size({})));\n", vector.c_name(), vector.size())
    });
    typedefs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::{Access, Fill, Memory};
    use tunesmith_space::Expr;

    fn argument(name: &str, element: &str, scalar: Option<&str>) -> Argument {
        let kind = match scalar {
            Some(expr) => ArgumentKind::Scalar(Expr::parse(expr).unwrap()),
            None => ArgumentKind::Buffer {
                shape: vec![8].into(),
                fill: Fill::Zeros,
                access: Access::In,
                memory: Memory::Global,
            },
        };
        Argument::new(name, ElementType::parse(element).unwrap(), kind)
    }

    fn arguments() -> [Argument; 4] {
        [
            argument("a", "f32", None),
            argument("v", "f32x3", None),
            argument("n", "i64", Some("8")),
            argument("blob", "bytes", None),
        ]
    }

    #[test]
    fn every_argument_stands_on_its_own_line_after_the_mark() {
        for language in [Language::C, Language::Cpp] {
            let source = source(language, (Path::new("/t/shim.c"), Path::new("/k.c")), "f", &arguments());
            let is_cpp = language == Language::Cpp;
            let pointer = |element: &str, index: usize| match is_cpp {
                true => format!("tunesmith_pass<{element}>(tunesmith_values[{index}], tunesmith_typed()),"),
                false => format!("({element} *)tunesmith_values[{index}],"),
            };
            let call = source.split_once("#line 1 \"tunesmith-call\"\n").unwrap().1;
            let lines: Vec<&str> = call.lines().collect();
            assert_eq!(lines[CALL_LINE - 1].trim(), "f(");
            assert_eq!(lines[3].trim(), pointer("float", 0));
            assert_eq!(lines[4].trim(), pointer("tunesmith_f32x3", 1));
            assert_eq!(lines[5].trim(), "*(__INT64_TYPE__ *)tunesmith_values[2],");
            assert!(lines[6].contains("tunesmith_values[3]") && !lines[6].ends_with(','));
        }
        assert_eq!(argument_on_line(3, 4), None);
        assert_eq!(argument_on_line(4, 4), Some(0));
        assert_eq!(argument_on_line(8, 4), None);
    }

    #[test]
    fn vectors_are_defined_once_with_their_size_in_memory() {
        let source = source(Language::C, (Path::new("/t/shim.c"), Path::new("/k.c")), "f", &arguments());
        let typedef = "typedef float tunesmith_f32x3 __attribute__((vector_size(16)));";
        assert_eq!(source.matches(typedef).count(), 1);
    }
}
