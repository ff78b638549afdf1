//! Objects that are passed by value, such as structs.

use tunesmith_kernel::ArgumentKind;
use tunesmith_problem::{Arg, Code, Problem};

/// Reads a problem in C++ whose argument `p` has these keys.
fn parsed(keys: &str) -> Result<Problem, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("f.cpp"), "struct s { short a, b; };\nvoid f(s p) {}\n").unwrap();
    let text = format!(
        "[kernel]\nfile = \"f.cpp\"\nfunction = \"f\"\n[parameters]\nX = [1, 2]\n[[arguments]]\nname = \"p\"\n{keys}\n"
    );
    let problem = Problem::parse(&text, folder.path());
    problem.map_err(|error| error.messages.iter().map(|message| message.text.clone()).collect())
}

fn bytes(problem: &Problem) -> Vec<u8> {
    let ArgumentKind::Object(bytes) = &problem.spec().arguments()[0].kind else {
        panic!("{:?}", problem.spec().arguments())
    };
    bytes.clone()
}

#[test]
fn a_list_of_bytes_is_an_object_passed_by_value() {
    let problem = parsed("type = \"bytes\"\nvalue = [1, 0, 255, 7]").unwrap();
    assert_eq!(bytes(&problem), [1, 0, 255, 7]);
    let other = parsed("type = \"bytes\"\nvalue = [1, 0, 255, 8]").unwrap();
    assert_ne!(problem.digest(), other.digest(), "its value decides the result");

    let built = Problem::builder("f")
        .kernel(Code::cpp("f", "struct s { short a, b; };\nvoid f(s p) {}\n"))
        .parameter("X", [1, 2])
        .argument(Arg::object("p", [1, 0, 255, 7]))
        .build()
        .unwrap();
    assert_eq!(bytes(&built), [1, 0, 255, 7]);
}

#[test]
fn what_is_no_object_is_named() {
    for (keys, text) in [
        ("type = \"i32\"\nvalue = [1, 2]", "an object passed by value, which has bytes"),
        ("type = \"bytes\"\nvalue = []", "an object of 0 bytes"),
        ("type = \"bytes\"\nvalue = [1, 256]", "256 is no byte"),
        ("type = \"bytes\"\nvalue = [1, \"N\"]", "must be a whole number"),
        ("type = \"bytes\"\nvalue = [1]\nalign = 8", "`align` has no meaning for a value"),
    ] {
        let message = parsed(keys).err().unwrap_or_default();
        assert!(message.contains(text), "{keys}: {message}");
    }
}
