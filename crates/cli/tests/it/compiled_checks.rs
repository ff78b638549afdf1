//! `check` of kernels that a compiler reads: what does not compile, parameters without effect, and names that
//! collide.

use crate::common;

use common::{Folder, Ran};
use serde_json::Value as Json;

const C_PROBLEM: &str = r#"
[kernel]
file = "k.c"
function = "f"

[parameters]
TILE = [16, 8, 4]
STEP = [1, 2]

[[arguments]]
name = "out"
type = "i32"
shape = [4]
access = "out"
"#;

fn check(kernel: &str) -> (Json, Ran) {
    let folder = Folder::with(&[("p.toml", C_PROBLEM), ("k.c", kernel), ("tile.h", "#define TILE 32\n")]);
    let ran = folder.run(&["check", "p.toml", "--json"]);
    (ran.json(), ran)
}

/// Returns the texts of the messages of this level.
fn texts(report: &Json, level: &str) -> Vec<String> {
    let messages = report["messages"].as_array().unwrap().iter();
    messages
        .filter(|message| message["level"] == level)
        .map(|message| message["text"].as_str().unwrap().to_string())
        .collect()
}

#[test]
fn check_refuses_a_kernel_that_does_not_compile_with_the_message_of_the_compiler() {
    let (report, ran) = check("void f(int *out) { out[0] = TILE * STEP * undeclared; }");
    assert_eq!((ran.code, &report["ok"]), (Some(2), &false.into()), "{ran:#?}");
    let errors = texts(&report, "error");
    assert!(errors.iter().any(|text| text.contains("undeclared") && text.contains("TILE=16,STEP=1")), "{errors:?}");
}

#[test]
fn check_warns_of_a_default_that_does_not_compile_if_others_do() {
    let (report, ran) = check("#if TILE == 16\n#error too large\n#endif\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let warnings = texts(&report, "warning");
    assert!(warnings.iter().any(|text| text.contains("the default configuration does not compile")), "{warnings:?}");
}

#[test]
fn check_finds_parameters_without_effect_and_trusts_guards() {
    let (report, _) = check("#define TILE 16\nvoid f(int *out) { out[0] = TILE; }");
    let warnings = texts(&report, "warning").join("\n");
    assert!(warnings.contains("`TILE` has no effect: ") && warnings.contains("k.c:1 defines it"), "{warnings}");
    assert!(warnings.contains("nothing depends on parameter `STEP`"), "{warnings}");
    let (report, _) = check("#include \"tile.h\"\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert!(texts(&report, "warning").join("\n").contains("tile.h:1 defines it"), "{report:#}");
    let (report, _) = check("#ifndef TILE\n#define TILE 16\n#endif\nvoid f(int *out) { out[0] = TILE * STEP; }");
    assert!(!texts(&report, "warning").join("\n").contains("parameter"), "{report:#}");
}

#[test]
fn check_explains_a_macro_that_collides_with_a_declaration() {
    let problem = C_PROBLEM.replace("k.c", "k.cpp");
    let kernel =
        "template <int TILE> int g() { return TILE; }\nextern \"C\" void f(int *out) { out[0] = g<STEP>(); }\n";
    let folder = Folder::with(&[("p.toml", &problem), ("k.cpp", kernel)]);
    let report = folder.run(&["check", "p.toml", "--json"]).json();
    assert_eq!(report["ok"], false, "{report:#}");
    let warnings = texts(&report, "warning").join("\n");
    assert!(warnings.contains("`TILE` is a macro") && warnings.contains("k.cpp:1 declares"), "{warnings}");
}

/// Kernels in which every parameter matters, some in few configurations alone: `check` doubts none.
#[test]
fn check_never_doubts_a_parameter_that_a_source_uses() {
    let long: String = (0..6000).map(|at| format!("extern int variable_of_a_long_header_{at:06};\n")).collect();
    let kernels = [
        "#include \"long.h\"\nvoid f(int *out) { out[0] = TILE * STEP; }",
        "void f(int *out) {\n#if TILE == 8 && STEP == 2\nout[0] = 1;\n#endif\n}",
        "#if STEP == 2\n#define TILE 16\n#endif\nvoid f(int *out) { out[0] = TILE; }",
        "#if STEP == 2\nint a[TILE];\n#endif\n#undef TILE\n#define TILE 16\nvoid f(int *out) { out[0] = TILE; }",
        "#include <assert.h>\nvoid f(int *out) { if (out[0] == '\"') out[1] = STEP; assert(TILE); }",
        "#include <used.h>\nvoid f(int *out) { out[0] = 1; }",
    ];
    let problem = C_PROBLEM.replace("[parameters]", "include = [\".\"]\n\n[parameters]");
    let folder = Folder::with(&[("p.toml", &problem), ("long.h", &long)]);
    folder.write("used.h", "#if TILE == 4 && STEP == 2\n#error no\n#endif\n");
    for kernel in kernels {
        folder.write("k.c", kernel);
        let ran = folder.run(&["check", "p.toml", "--json"]);
        let warnings = texts(&ran.json(), "warning").join("\n");
        assert!(ran.code == Some(0) && !warnings.contains("parameter `"), "{kernel}: {warnings}");
    }
    folder.write("k.c", "void f(int *out) { out[0] = STEP; } // TILE");
    let single = problem.replace("TILE = [16, 8, 4]", "TILE = [16]");
    folder.write("p.toml", &single);
    assert!(!texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("").contains("`TILE`"));
    let constrained = problem.clone() + "[constraints]\nfits = \"TILE <= 8\"\n";
    for (problem, wanted) in
        [(&problem, "nothing depends on parameter `TILE`"), (&constrained, "besides constraints, ")]
    {
        folder.write("p.toml", problem);
        let warnings = texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("\n");
        assert!(warnings.contains(wanted), "{warnings}");
    }
    folder.write("p.toml", &problem.replace("[kernel]", "[problem]\nflops = \"TILE\"\n[kernel]"));
    let warnings = texts(&folder.run(&["check", "p.toml", "--json"]).json(), "warning").join("\n");
    assert!(!warnings.contains("parameter `TILE`"), "{warnings}");
}

/// Returns the warnings about a problem whose parameter is called `name`, and its errors.
fn collision(name: &str, file: &str, kernel: &str) -> (String, String) {
    let problem = C_PROBLEM.replace("k.c", file).replace("TILE", name);
    let folder = Folder::with(&[("p.toml", &problem), (file, kernel)]);
    let report = folder.run(&["check", "p.toml", "--json"]).json();
    (texts(&report, "warning").join("\n"), texts(&report, "error").join("\n"))
}

#[test]
fn check_names_a_parameter_that_collides_with_the_language_a_header_or_the_kernel() {
    let vector =
        "#include <vector>\nextern \"C\" void f(int *out) { std::vector<int> v(3); out[0] = STEP + v.size(); }";
    let fails = [
        ("int", "k.c", "void f(int *out) { out[0] = STEP; }", "a keyword of C"),
        ("float", "k.c", "void f(int *out) { float x = STEP; out[0] = x; }", "a keyword of C"),
        ("class", "k.cpp", "class A { int x; };\nextern \"C\" void f(int *out) { out[0] = STEP; }", "a keyword of C++"),
        ("size", "k.cpp", vector, "uses the name"),
        ("begin", "k.cpp", vector, "uses the name"),
        ("f", "k.c", "void f(int *out) { out[0] = STEP; }", "k.c:1 declares"),
        ("data", "k.c", "\nvoid f(int *data) { data[0] = STEP; }", "k.c:2 declares"),
    ];
    for (name, file, kernel, wanted) in fails {
        let (warnings, errors) = collision(name, file, kernel);
        let is_named = warnings.contains(&format!("`{name}` is ")) && warnings.contains(wanted);
        assert!(is_named, "{name}: {warnings}\n{errors}");
        assert!(errors.contains("compiles") && errors.lines().count() == 1, "{name}: {errors}");
    }
    let (warnings, errors) = collision("size", "k.cpp", "void f(int *out) { out[0] = size * STEP * typo; }");
    assert!(!warnings.contains("`size`") && errors.contains("typo"), "{warnings}\n{errors}");
}

#[test]
fn check_names_a_parameter_whose_macro_the_compiler_or_a_header_defines() {
    let redefined = [
        ("linux", "void f(int *out) { out[0] = STEP * linux; }", "the compiler defines the macro `linux` itself"),
        ("unix", "void f(int *out) { out[0] = STEP * unix; }", "the compiler defines the macro `unix` itself"),
        ("M_PI", "#include <math.h>\nvoid f(int *out) { out[0] = STEP * (int)M_PI; }", "math.h:"),
        ("EOF", "#include <stdio.h>\nvoid f(int *out) { out[0] = STEP * EOF; }", "stdio.h:"),
        ("INT_MAX", "#include <limits.h>\nvoid f(int *out) { out[0] = STEP * INT_MAX; }", "limits.h:"),
    ];
    for (name, kernel, wanted) in redefined {
        let (warnings, errors) = collision(name, "k.c", kernel);
        assert!(warnings.contains(wanted) && errors.is_empty(), "{name}: {warnings}\n{errors}");
    }
    // Nothing but the parameter defines them here, or the header asks first.
    let free = [
        ("M_PI", "void f(int *out) { out[0] = STEP * M_PI; }"),
        ("NDEBUG", "#include <assert.h>\nvoid f(int *out) { assert(out); out[0] = STEP; }"),
        ("size", "#include <stdlib.h>\nvoid f(int *out) { out[0] = STEP * size; }"),
        ("class", "void f(int *out) { out[0] = STEP * class; }"),
    ];
    for (name, kernel) in free {
        let (warnings, errors) = collision(name, "k.c", kernel);
        assert!(!warnings.contains(&format!("`{name}`")) && errors.is_empty(), "{name}: {warnings}\n{errors}");
    }
}

#[test]
fn a_failure_to_compile_names_the_parameter_that_is_called_like_a_keyword() {
    let kernel = "void f(int *out) { out[0] = STEP; }";
    let folder = Folder::with(&[("p.toml", &C_PROBLEM.replace("TILE", "int")), ("k.c", kernel)]);
    let ran = folder.run(&["run", "p.toml"]);
    let said = ran.stdout.clone() + &ran.stderr;
    assert!(said.contains("`int` is a keyword of C, and -Dint=16 replaces it"), "{ran:#?}");
}

#[test]
fn check_refuses_what_tune_refuses() {
    let folder = Folder::with(&[("p.toml", &C_PROBLEM.replace("\"f\"", "\"absent\"")), ("k.c", "void f(int *out) {}")]);
    for command in ["check", "tune"] {
        assert_eq!(folder.run(&[command, "p.toml"]).code, Some(2), "{command}");
    }
    let folder = Folder::with(&[("p.toml", "[parameters]\nX = [1, 2]\n")]);
    for command in ["check", "tune"] {
        folder.run(&[command, "p.toml"]).refused(&["no kernel"]);
    }
    assert_eq!(folder.run(&["check", "p.toml", "--device", "synthetic:X"]).code, Some(0));
}
