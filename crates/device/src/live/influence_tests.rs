//! Tests of the search for parameters without effect.

use super::*;
use crate::problem::{Access, ArgumentKind, CudaCompiler, ElementType, Extent, Fill, Memory, Shape, Verify, WorkSize};
use tunesmith_space::Expr;

fn declares(text: &str) -> Option<usize> {
    Sources(vec![("k.cpp".into(), code(text))]).declaration("TILE").map(|place| place.line)
}

#[test]
fn declarations_are_found_and_uses_are_not() {
    let declared = [
        "\ntemplate <int TILE>\nvoid f();",
        "\ntemplate <class U, unsigned TILE = 4> void f();",
        "\ntemplate<typename TILE> void f();",
        "\nconst int TILE = 16;",
        "\nenum { A, TILE = 3 };",
        "\nenum class Size : int { TILE };",
        "\nvoid f(int TILE) {}",
        "\nstatic constexpr int TILE{3};",
    ];
    for text in declared {
        assert_eq!(declares(text), Some(2), "{text}");
    }
    let used = [
        "int x = TILE;",
        "return TILE;",
        "#pragma unroll TILE\nfor (;;) {}",
        "#ifndef TILE\n#define TILE 3\n#endif",
        "#define A int \\\n TILE = 3\n",
        "// int TILE = 3;\n/* int TILE; */ char *s = \"int TILE;\";",
        "const TILE x = 0; f<const TILE>(x);",
        "f<TILE>(a, TILE); float a[TILE];",
        "int a[2] = { TILE, TILE };",
        "int TILES = 3;",
    ];
    for text in used {
        assert_eq!(declares(text), None, "{text}");
    }
}

#[test]
fn a_macro_in_a_pragma_that_the_preprocessor_left_alone_is_used() {
    let text = "int x;\n  # pragma unroll UNROLL\nfor (;;) {}\n#pragma clang loop unroll_count(COUNT)\nOTHER";
    assert!(in_pragma(text, "UNROLL") && in_pragma(text, "COUNT"));
    assert!(!in_pragma(text, "OTHER") && !in_pragma(text, "UNROLL_FACTOR") && !in_pragma(text, "x"));
}

#[test]
fn a_preprocessed_text_that_was_cut_says_nothing() {
    assert_eq!(whole("int x;".into()).as_deref(), Some("int x;"));
    assert_eq!(whole("x".repeat(KEPT)), None);
}

/// Every place where a problem names a parameter, each with another one.
#[test]
fn a_parameter_is_used_wherever_a_problem_can_name_it() {
    let expr = |text: &str| Expr::parse(text).unwrap();
    let element = ElementType::parse("f32").unwrap();
    let argument = |kind: ArgumentKind| Argument::new("a", element, kind);
    let buffer =
        |shape: Shape| ArgumentKind::Buffer { shape, fill: Fill::Zeros, access: Access::InOut, memory: Memory::Global };
    let work = |extent: Extent| Some(WorkSize { extent, local: Some(vec![expr("LOCAL_ITEMS")]) });
    let kernel = |function: &str, extent: Extent| Kernel {
        work: work(extent),
        alternative: None,
        repeat: Some(expr("REPEAT + 1")),
        function: function.into(),
        ..bare_kernel()
    };
    let spec = KernelSpec {
        problem: "p".into(),
        kernels: vec![
            kernel("ns::f<float, TEMPLATE>", Extent::Global(vec![expr("GLOBAL")])),
            kernel("g", Extent::Groups(vec![expr("GROUPS")])),
        ],
        sizes: Vec::new(),
        arguments: vec![
            argument(ArgumentKind::Scalar(expr("2 * SCALAR"))),
            argument(ArgumentKind::Local { shape: vec![expr("LOCAL")] }),
            argument(buffer(Shape::Varying(vec![expr("4"), expr("n * BUFFER")]))),
            argument(buffer(vec![4].into())),
        ],
        verify: Verify::default(),
        seed: 1,
    };
    let named = ["SCALAR", "LOCAL", "BUFFER", "GLOBAL", "GROUPS", "LOCAL_ITEMS", "REPEAT", "TEMPLATE"];
    for name in named {
        assert!(uses(&spec, name), "{name}");
    }
    for name in ["OTHER", "BUF", "TEMPLATES", "a"] {
        assert!(!uses(&spec, name), "{name}");
    }
}

fn bare_kernel() -> Kernel {
    Kernel {
        name: "k".into(),
        language: Language::Cuda,
        file: "k.cu".into(),
        generator: None,
        reading: crate::problem::Reading::default(),
        sources: Vec::new(),
        include: Vec::new(),
        function: "".into(),
        options: Vec::new(),
        arguments: Vec::new(),
        repeat: None,
        work: None,
        cuda_compiler: CudaCompiler::default(),
        alternative: None,
    }
}

#[test]
fn definitions_are_found_with_their_lines_but_not_in_comments() {
    let defined = |text: &str| {
        let place = Sources(vec![("k.c".into(), code(text))]).own_definition("TILE");
        place.map(|place| place.line)
    };
    assert_eq!(defined("int x;\n#  define TILE 16\n"), Some(2));
    assert_eq!(defined("#define TILE(x) x"), Some(1));
    assert_eq!(defined("// #define TILE 16\n/*\n#define TILE 3\n*/\n#define TILES 4\n#undef TILE"), None);
}

#[test]
fn headers_that_sources_include_by_name_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write("k.c", "#include \"a.h\"\n#include <stdio.h>\n#include \"gone.h\"\n");
    write("a.h", "#include \"a.h\"\n#define TILE 16\n");
    let texts: Vec<&str> = vec!["a.h", "gone.h"];
    assert_eq!(included("#include \"a.h\"\n # include \"gone.h\"").collect::<Vec<_>>(), texts);
}
