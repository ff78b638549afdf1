//! Tests of the search for parameters without effect.

use super::*;
use std::fs;
use tunesmith_kernel::{
    Access, ArgumentKind, CudaCompiler, ElementType, Extent, Fill, Language, Memory, Shape, Verify, WorkSize,
};
use tunesmith_space::Expr;

fn declares(text: &str) -> Option<usize> {
    Sources::of_text("k.cpp", text).declaration("TILE").map(|place| place.line)
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
fn a_macro_in_a_pragma_is_mentioned() {
    let text = "int x;\n  # pragma unroll UNROLL\nfor (;;) {}\n_Pragma(\"omp parallel for num_threads(COUNT)\")\n";
    let sources = Sources::of_text("k.c", text);
    assert!(sources.mention("UNROLL") && sources.mention("COUNT") && sources.mention("x"));
    assert!(!sources.mention("OTHER") && !sources.mention("UNROLL_FACTOR"));
    assert!(!Sources::of_text("k.c", "puts(\"COUNT\"); // COUNT").mention("COUNT"));
    assert!(Sources::of_text("k.c", "if (c == '\"') x = COUNT; /* \" */").mention("COUNT"));
}

#[test]
fn a_preprocessed_text_that_was_cut_says_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("preprocessed.txt");
    fs::write(&path, "int x;").unwrap();
    assert_eq!(preprocess::whole(&path, 6).as_deref(), Some("int x;"));
    assert_eq!(preprocess::whole(&path, 5), None);
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
        reading: tunesmith_kernel::Reading::default(),
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
        let definition = Sources::of_text("k.c", text).own_definition("TILE");
        definition.map(|definition| (definition.place.line, definition.is_certain))
    };
    assert_eq!(defined("int x;\n#  define TILE 16\n"), Some((2, true)));
    assert_eq!(defined("#define TILE(x) x"), Some((1, true)));
    assert_eq!(defined("// #define TILE 16\n/*\n#define TILE 3\n*/\n#define TILES 4\n#undef TILE"), None);
    assert_eq!(defined("#ifndef K_H\n#define K_H\n#undef TILE\n#define TILE 4\n#endif"), Some((4, true)));
    assert_eq!(defined("#ifndef TILE\n#define TILE 4\n#endif"), Some((2, false)));
    assert_eq!(defined("#if A == 2\n#define TILE 4\n#endif"), Some((2, false)));
    assert_eq!(defined("#if A == 2\nint a[TILE];\n#endif\n#define TILE 4"), Some((4, false)));
    assert_eq!(defined("#if A\n#define TILE 4\n#endif\n#define TILE 5"), Some((2, false)));
}

#[test]
fn files_that_sources_include_are_read_once() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let read = |text: &str| {
        write("k.c", text);
        let kernel = Kernel { file: folder.path().join("k.c"), include: vec![folder.path().into()], ..bare_kernel() };
        let sources = Sources::of_kernels(&[kernel]);
        assert_eq!(sources.have_system_headers(), text.contains("stdio.h"));
        (sources.count(), sources.is_complete(), sources.mention("TILE"))
    };
    write("a.h", "#include \"a.h\"\nint x = TILE;\n");
    fs::write(folder.path().join("latin.h"), b"// \xe9t\xe9\nint y = TILE;\n").unwrap();
    assert_eq!(read("#include \"a.h\"\n#include <stdio.h>\n# include <a.h>\n"), (2, true, true));
    assert_eq!(read("#include <latin.h>\n"), (2, true, true));
    assert_eq!(read("#include \"gone.h\"\n"), (1, false, false));
    assert_eq!(read("#include HEADER\n"), (1, false, false));
    assert_eq!(read("/*\n#include \"gone.h\"\n*/"), (1, true, false));
}

#[test]
fn a_number_is_neither_called_nor_followed_by_a_name() {
    let applies = |text: &str| Sources::of_text("k.cl", text).apply("float4");
    assert!(applies("float4 x;") && applies("x = float4(1);") && applies("float4.x"));
    assert!(!applies("x = float4 + 1; f(float4); // float4 y;") && !applies("#define A float4 x"));
}

#[test]
fn lines_of_a_trace_know_their_places() {
    let trace = "# 0 \"<built-in>\"\n#define linux 1\n# 3 \"/usr/include/v\" 1 3 4\n\nint size();\n\
        #define M(x) x\n# 7 \"k.c\" 2\nint y;\n";
    let lines: Vec<_> = traced(trace).collect();
    let of = |at: usize| (lines[at].file, lines[at].line, lines[at].is_system, lines[at].definition());
    assert_eq!(of(0), ("<built-in>", 0, false, Some(("linux", "1"))));
    assert_eq!(of(2), ("/usr/include/v", 4, true, None));
    assert_eq!(of(3), ("/usr/include/v", 5, true, Some(("M", "(x) x"))));
    assert_eq!(of(4), ("k.c", 7, false, None));
}
