//! Declarations behind the user's source that compare the sizes of objects passed by value. Some
//! drivers take an object of any size, and the kernel reads what lies behind it.

use crate::backends::compiling::functions;
use tunesmith_kernel::{Argument, ArgumentKind};

/// Returns a declaration for each object of the kernel `function`. It is a compile error if the type
/// of the parameter has another size. A kernel that a macro defines gets none.
pub(super) fn assertions(source: &str, function: &str, arguments: &[Argument]) -> String {
    if !arguments.iter().any(|argument| matches!(argument.kind, ArgumentKind::Object(_))) {
        return String::new();
    }
    let is_kernel = |name: &str, parameters: &[String]| name == function && parameters.len() == arguments.len();
    let definition = functions(source).into_iter().find(|known| is_kernel(&known.name, &known.parameters));
    let parameters = definition.map(|definition| definition.parameters).unwrap_or_default();
    let assertion = |(index, (argument, parameter)): (usize, (&Argument, &String))| {
        let ArgumentKind::Object(bytes) = &argument.kind else { return None };
        let (number, size, object) = (index + 1, bytes.len(), type_of(parameter)?);
        let name = format!("tunesmith_argument_{number}_has_{size}_bytes_and_its_type_has_not");
        Some(format!("\ntypedef char {name}[sizeof({object}) == {size} ? 1 : -1];"))
    };
    arguments.iter().zip(&parameters).enumerate().filter_map(assertion).collect()
}

/// Returns the type of a parameter that is declared as a type and a name, such as `const params p`.
fn type_of(parameter: &str) -> Option<&str> {
    let is_word = |letter: char| letter.is_alphanumeric() || letter == '_';
    let object = parameter.trim_end().trim_end_matches(is_word).trim();
    let is_plain = !object.is_empty() && object.chars().all(|letter| is_word(letter) || letter.is_whitespace());
    is_plain.then_some(object)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tunesmith_kernel::ScalarType;

    #[test]
    fn each_object_is_compared_with_the_type_that_its_parameter_has() {
        let object = |size| Argument::new("p", ScalarType::Byte.into(), ArgumentKind::Object(vec![0; size]));
        let source =
            "struct s { int a; };\nvoid g(int n) {}\n__kernel void f(const struct s a, __global s *b, params c) {}";
        let text = assertions(source, "f", &[object(4), object(8), object(12)]);
        let name = |number, size| format!("tunesmith_argument_{number}_has_{size}_bytes_and_its_type_has_not");
        let expected = [
            format!("typedef char {}[sizeof(const struct s) == 4 ? 1 : -1];", name(1, 4)),
            format!("typedef char {}[sizeof(params) == 12 ? 1 : -1];", name(3, 12)),
        ];
        assert_eq!(text.trim().lines().collect::<Vec<_>>(), expected);
        assert_eq!(assertions(source, "h", &[object(4)]), "");
    }
}
