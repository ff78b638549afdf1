//! Functions of C as loop nests, and what nests do not have.

use tunesmith_import::{ImportOptions, Imported, import};
use tunesmith_loopnest::Recipe;

const KERNELS: [(&str, &str); 5] = [
    ("matmul", include_str!("../kernels/matmul.c")),
    ("stencil", include_str!("../kernels/stencil.c")),
    ("conv", include_str!("../kernels/conv.c")),
    ("mvt", include_str!("../kernels/mvt.c")),
    ("syrk", include_str!("../kernels/syrk.c")),
];

fn imported(name: &str) -> Imported {
    let (_, source) = KERNELS.iter().find(|(known, _)| *known == name).unwrap();
    import(source, name, &ImportOptions::default()).unwrap_or_else(|error| panic!("{name}: {error}"))
}

#[test]
fn kernels_become_nests_that_every_option_of_their_parameters_transforms() {
    for (name, _) in KERNELS {
        let imported = imported(name);
        let recipe = imported.nest.parse::<Recipe>().unwrap_or_else(|error| panic!("{}\n{error:?}", imported.nest));
        for parameter in &imported.tuning {
            for value in &parameter.values {
                let applied = recipe.apply(&[(parameter.name.as_str(), *value)]);
                assert!(applied.is_ok(), "{name}: {}={value}: {applied:?}", parameter.name);
            }
        }
    }
}

#[test]
fn flat_indices_become_axes_and_their_sizes_follow_from_the_loops() {
    let nest = imported("matmul").nest;
    for line in [
        "array a[n, m]: f32",
        "array b[m, l]: f32",
        "array c[n, l]: f32",
        "temporary sum: f32",
        "{[k]: 0 <= k and k < m}",
        "sum = sum + a[i, k]*b[k, j]  @ i, j, k",
    ] {
        assert!(nest.contains(line), "{line}\n{nest}");
    }
    let nest = imported("conv").nest;
    assert!(nest.contains("array image[h + 4, w + 4]: f32") && nest.contains("image[dy + y, dx + x]"), "{nest}");
    let nest = imported("stencil").nest;
    assert!(nest.contains("{[j]: 1 <= j and j < m - 1}"), "macros are numbers: {nest}");
    let nest = imported("mvt").nest;
    assert!(nest.contains("x2[i_2] = x2[i_2] + a[j_2, i_2]*y2[j_2]  @ i_2, j_2"), "{nest}");
    let nest = imported("syrk").nest;
    assert!(nest.contains("{[j]: 0 <= j and j < i + 1}") && nest.contains("argument beta: f64"), "{nest}");
}

#[test]
fn transformations_are_tuning_parameters() {
    let names = |name: &str| imported(name).tuning.iter().map(|own| own.name.clone()).collect::<Vec<_>>();
    let matmul = names("matmul");
    for name in ["rows", "columns", "depth_k", "unroll_k", "copy_a", "copy_b"] {
        assert!(matmul.iter().any(|own| own == name), "{name}: {matmul:?}");
    }
    assert!(names("stencil").contains(&"copy_u".to_string()));
    assert!(names("conv").contains(&"columns".to_string()));
    // Work-items of neighbouring rows would load whole rows apart.
    let rows = "void f(int n, int m, double a[restrict n][m], double x[restrict m], double y[restrict n]) {
        for (int i = 0; i < n; i++) {
            y[i] = 0.0;
            for (int j = 0; j < m; j++) y[i] += a[i][j] * x[j];
        }
    }";
    let rows = import(rows, "f", &ImportOptions::default()).unwrap();
    assert!(rows.tuning.iter().any(|own| own.name == "items" && own.default == 0), "{:?}", rows.tuning);
    assert!(rows.nest.contains("tag i_item local.0  when items = 1"), "{}", rows.nest);
}

#[test]
fn a_step_and_several_ends_are_bounds() {
    let source = "void f(int n, int m, float *restrict a) {
        for (int i = 2; i < n && i < m; i = i + 3) a[i] = (float)i;
    }";
    let nest = import(source, "f", &ImportOptions::default()).unwrap().nest;
    assert!(nest.contains("{[i]: 0 <= i and 3*i + 2 < n and 3*i + 2 < m}"), "{nest}");
    assert!(nest.contains("a[3*i + 2] = (3*i + 2)") || nest.contains("a[3*i + 2] = 3*i + 2"), "{nest}");
}

/// Returns the nest of a function `f` with this body.
fn nest(body: &str) -> String {
    let source = format!(
        "#define SCALE 0.25f\ntypedef float real;\nvoid f(int n, int m, real *restrict a, const float *restrict b, int *restrict at)\n{{\n{body}\n}}\n"
    );
    import(&source, "f", &ImportOptions::default()).unwrap_or_else(|error| panic!("{body}\n{error}")).nest
}

#[test]
fn choices_backward_loops_pragmas_and_macros_are_read() {
    let cases = [
        (
            "for (int i = n - 1; i >= 0; i--) a[i] = b[i];",
            "{[i]: 0 <= i and -1 < n - i - 1}\na[n - i - 1] = b[n - i - 1]  @ i",
        ),
        ("for (int i = n; 2 < i; i -= 2) a[i - 1] = 0.0f;", "{[i]: 0 <= i and 2 < n - 2*i}\na[n - 2*i - 1] = 0.0  @ i"),
        (
            "for (int i = 0; i < n; i++) a[i] = b[i] > 0.5f ? b[i] : SCALE;",
            "a[i] = select(b[i] > 0.5, b[i], 0.25)  @ i",
        ),
        ("for (int i = 0; i < n; i++) if (b[i] != 0) a[i] += 1.0f;", "a[i] = select(b[i] != 0, a[i] + 1.0, a[i])  @ i"),
        (
            "for (int i = 0; i < n; i++) { if (!(i < m) || b[i] > a[i]) { a[i] = 1.0f; } else a[i] = -b[i]; }",
            "a[i] = select(i < m, select(b[i] > a[i], 1.0, -b[i]), 1.0)  @ i",
        ),
        (
            "for (int i = 0; i < n; i++) a[i] = b[i] > 0.0f && b[i] < 1.0f ? 1.0f : 0.0f;",
            "a[i] = select(b[i] > 0.0, select(b[i] < 1.0, 1.0, 0.0), 0.0)  @ i",
        ),
        ("#pragma omp parallel for\nfor (int i = 0; i < n; i++) at[i]++;", "at[i] = at[i] + 1  @ i"),
        ("for (int i = 0; i < n; i++) { int k = i + 1; real x = b[k]; a[k] = x * x; }", "a[i + 1] = x*x  @ i"),
    ];
    for (body, expected) in cases {
        let nest = nest(body);
        assert!(nest.contains(expected), "{body}\n{nest}");
    }
    let sized = nest("for (int i = n - 1; i >= 0; i--) a[i] = b[0];");
    assert!(sized.contains("array a[n]: f32") && sized.contains("array b[1]: f32"), "{sized}");
}

#[test]
fn arrays_of_narrow_integers_are_read_and_unsigned_words_are_refused() {
    let source = |element: &str| {
        format!(
            "void f(size_t n, {element} *restrict out, const uint8_t *restrict in, unsigned char least) {{
                for (size_t i = 0; i < n; i++) out[i] = in[i] < 9 ? 0 : 2*in[i];
            }}"
        )
    };
    let nest = import(&source("int16_t"), "f", &ImportOptions::default()).unwrap().nest;
    for line in ["array out[n]: i16", "array in[n]: u8", "out[i] = select(in[i] < 9, 0, 2*in[i])  @ i"] {
        assert!(nest.contains(line), "{line}\n{nest}");
    }
    let refused = import(&source("unsigned"), "f", &ImportOptions::default()).unwrap_err().to_string();
    assert!(refused.contains("nests have no arrays of `unsigned`; they have int and long"), "{refused}");
}

#[test]
fn cells_in_half_precision_are_read_and_computed_in_single_precision() {
    let source = |value: &str| {
        format!(
            "void f(int n, float alpha, _Float16 *restrict out, const _Float16 *restrict in) {{
                for (int i = 0; i < n; i++) out[i] = {value};
            }}"
        )
    };
    let nest = import(&source("alpha * (float)in[i] + 1.0f"), "f", &ImportOptions::default()).unwrap().nest;
    for line in ["array out[n]: f16", "array in[n]: f16", "out[i] = alpha*in[i] + 1.0  @ i"] {
        assert!(nest.contains(line), "{line}\n{nest}");
    }
    let refused = import(&source("(_Float16)(alpha * in[i])"), "f", &ImportOptions::default()).unwrap_err();
    assert!(refused.to_string().contains("`(_Float16)`"), "{refused}");
}

#[test]
fn a_nest_that_runs_as_one_work_item_says_why() {
    let source = "void f(int n, float *restrict a) { for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1.0f; }";
    let imported = import(source, "f", &ImportOptions::default()).unwrap();
    let names: Vec<&str> = imported.tuning.iter().map(|own| own.name.as_str()).collect();
    assert_eq!(names, ["depth_i", "unroll_i"]);
    assert!(imported.nest.contains("split i depth_i -> i_block, i_item  when unroll_i = 1"), "{}", imported.nest);
    assert!(imported.alone.as_ref().is_some_and(|reason| reason.contains("`a")), "{:?}", imported.alone);
    assert_eq!(self::imported("matmul").alone, None);
}

/// Returns what the import of a function `f` with this body finds.
fn found(body: &str) -> String {
    let source =
        format!("void f(int n, int m, float *restrict a, float *restrict b, const int *restrict at)\n{{\n{body}\n}}\n");
    import(&source, "f", &ImportOptions::default()).expect_err(body).to_string()
}

#[test]
fn what_nests_do_not_have_is_refused_with_its_place() {
    let cases = [
        ("for (int i = 0; i < n; i++) a[i*i] = 0.0f;", "line 3, column 31: `i*i` is not affine"),
        ("for (int i = 0; i < n; i++) a[at[i]] = 0.0f;", "line 3, column 31: `at[i]` is not affine"),
        ("int i = 0;\nwhile (i < n) { a[i] = 0.0f; }", "line 4, column 1: `while (i < n)"),
        ("for (int i = 0; i < n; i++) *(a + i) = 0.0f;", "line 3, column 29: `*(a + i)` is pointer arithmetic"),
        ("for (int i = 0; i < n; i++) a[i] = g(b[i]);", "line 3, column 36: it calls `g`"),
        ("float *p = a;\np[0] = 1.0f;", "line 3, column 8: the pointer `p` is another name of an array"),
        (
            "for (int i = 0; i < n; i++) if (b[i] > 0.0f) { a[i] = 1.0f; b[i] = 0.0f; }",
            "column 29: `if (b[i] > 0.0f) { a[i] = 1.0f; b[i] = 0`: a condition of a nest chooses",
        ),
        ("for (int i = 0; i < n; i++) if (b[i] > 0.0f) a[i] = 1.0f; else b[i] = 1.0f;", "write `a = c ? x : y`"),
        ("for (int i = 0; i < n; i++) a[i] = at[i] > 0 ? b[i] : 0.0f;", "column 36: integers decide between numbers"),
        ("for (int i = 0; i < n; i--) a[i] = 0.0f;", "`i < n` is no bound of a loop that counts down"),
        ("for (int i = 1; i < n; i *= 2) a[i] = 0.0f;", "`i *= 2` is no constant step"),
        (
            "int i;\nfor (i = 0; i < n; i++) for (i = 0; i < m; i++) a[i] = 0.0f;",
            "the body changes its loop's variable `i`",
        ),
        (
            "int k = 0;\nfor (k = 1; k < n; k++) a[k] = 0.0f;\na[k] = 1.0f;",
            "line 5, column 3: `k` is neither a size nor a loop",
        ),
        ("int k = 1;\n{ int j = 2; a[j] = 0.0f; }\na[j] = 1.0f;", "`j` is neither a size nor a loop"),
        (
            "for (int i = 0; i < n; i++) a[i] = (double)b[i] * 0.5;",
            "`(double)b[i]` changes the type of what is computed; assign the value to a variable of type double first",
        ),
        (
            "int k;\nk = n;\na[k] = 0.0f;",
            "`k` is an integer that is set after its declaration; declare it where it gets its value",
        ),
        ("float t[n];\nfor (int i = 0; i < n; i++) t[i] = b[i];", "the shape of `t` is not constant"),
        ("for (int i = 0; i < n; i++) { a[i] = 0.0f; i = i + 1; }", "the body changes its loop's variable `i`"),
        ("for (int i = 0; i < n; i++) { a[i] = 0.0f; break; }", "column 44: `break;`"),
        ("for (int i = 0; i < n; i++) a[i] = i / 2;", "column 36: a division of integers rounds"),
        ("n = 4;\na[n] = 0.0f;", "line 3, column 1: `n` changes its value"),
        ("a[0] = 1.0f", "is not C"),
        ("struct point p;", "nests have no type `struct point`"),
        ("for (int i = 0; i < n; i++) for (int j = 0; j < n / m; j++) a[i] = 0.0f;", "`n / m` is not affine"),
    ];
    for (body, expected) in cases {
        let text = found(body);
        assert!(text.contains(expected), "{body}\n{text}");
    }
}

#[test]
fn everything_that_cannot_be_read_is_reported_at_once() {
    let text = found("for (int i = 0; i < n; i++) {\n  a[i*i] = 0.0f;\n  b[i] = g(1.0f);\n  while (1) { }\n}");
    assert_eq!(text.lines().count(), 3, "{text}");
    assert!(text.lines().zip(["line 4", "line 5", "line 6"]).all(|(line, place)| line.starts_with(place)), "{text}");
}

#[test]
fn arrays_that_may_overlap_are_refused_unless_the_caller_knows_better() {
    let source = "void f(int n, float *a, const float *b) { for (int i = 0; i < n; i++) a[i] = b[i]; }";
    let refused = import(source, "f", &ImportOptions::default()).unwrap_err().to_string();
    assert!(refused.starts_with("line 1, column 22: `a` is written and may overlap `b`"), "{refused}");
    let options = ImportOptions { no_alias: true };
    assert!(import(source, "f", &options).is_ok());
    let own = "void f(int n, float *a) { for (int i = 1; i < n; i++) a[i] = a[i - 1] + 1.0f; }";
    let alone = import(own, "f", &ImportOptions::default()).unwrap();
    assert!(
        alone.tuning.iter().all(|own| own.name != "columns"),
        "each iteration needs the one before: {}",
        alone.nest
    );
}

#[test]
fn functions_that_are_no_kernels_are_refused_with_their_names() {
    let refused = |source: &str, name: &str| import(source, name, &ImportOptions::default()).unwrap_err().to_string();
    assert!(refused("void g(void) {}\nvoid h(void) {}", "f").contains("there is no function `f`; it has g, h"));
    assert!(refused("double f(int n) { return 0; }", "f").contains("returns `double`"));
    assert!(refused("void f(int n) { }", "f").contains("computes nothing"));
    assert!(refused("void f(int n, char *a) { a[0] = 1; }", "f").contains("nests have no type `char`"));
}

#[test]
fn the_problem_compares_the_nest_with_the_function() {
    let imported = imported("syrk");
    let sizes = [("n".to_string(), 64), ("m".to_string(), 32)];
    let problem = imported.problem("syrk.nest", "syrk.reference.c", &sizes);
    assert!(problem.contains("sizes = { n = 64, m = 32 }"), "{problem}");
    let verify = "reference = { file = \"syrk.reference.c\", function = \"syrk_reference\", arguments = [\"alpha\", \"beta\", \"c\", \"a\"] }";
    assert!(problem.contains(verify), "{problem}");
    let reference = imported.reference("syrk.c");
    assert!(reference.contains("#undef m\n#include \"syrk.c\""), "{reference}");
    assert!(reference.contains("syrk(size_of_n, size_of_m, alpha, beta, c, a);"), "{reference}");
}

#[test]
fn functions_that_would_exhaust_the_stack_the_numbers_or_the_memory_are_refused() {
    let of = |value: &str| {
        let head = "void f(int n, int m, int l, float *restrict a, const float *restrict b) {\n";
        format!("{head}for (int i = 0; i < n; i++)\n{value}\n}}")
    };
    let refusal = |value: &str| import(&of(value), "f", &ImportOptions::default()).unwrap_err().to_string();
    let nested = format!("a[i] = {}b[i]{};", "(".repeat(100_000), ")".repeat(100_000));
    assert!(refusal(&nested).contains("nested more than 300 deep"));
    assert!(refusal(&format!("a[i] = b[i]{};", " + b[i]".repeat(5_000))).contains("nested more than 300 deep"));
    assert!(refusal(&format!("{} ;", "{".repeat(10_000) + &"}".repeat(10_000))).contains("nested more than 300 deep"));
    let long = of(&format!("a[i] = b[i]{};", " + b[i]".repeat(200)));
    assert!(import(&long, "f", &ImportOptions::default()).is_ok(), "a long sum is read");

    let huge = ["3000000000"; 5].join("*");
    assert!(refusal(&format!("a[i + {huge}] = 0.0f;")).contains("line 3, column 7: "));
    assert!(refusal(&format!("a[i + {huge}] = 0.0f;")).contains("numbers beyond 64 bits"));
    let powers = ["(i + n + m + l + 1)"; 60].join("*");
    assert!(refusal(&format!("a[{powers}] = 0.0f;")).contains("too many terms"));

    let clauses = ["(b[i] > 1.0f || b[i] < 0.0f)"; 40].join(" && ");
    assert!(refusal(&format!("a[i] = {clauses} ? b[i] : 0.0f;")).contains("the choice is too long"));
    let few = of("a[i] = (b[i] > 1.0f || b[i] < 0.0f) && (b[i] > 2.0f || n > 3.0f) ? b[i] : 0.0f;");
    assert!(import(&few, "f", &ImportOptions::default()).is_ok());
}
