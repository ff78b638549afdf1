//! Functions of C, imported as loop nests from the command line.

use crate::common;

use common::{Folder, Ran, has_opencl, repository};

/// Returns a folder with a kernel of the import's tests.
fn folder(name: &str) -> Folder {
    with_kernel(&format!("crates/import/tests/kernels/{name}.c"), name)
}

fn with_kernel(path: &str, name: &str) -> Folder {
    let source = std::fs::read_to_string(repository().join(path)).unwrap();
    Folder::with(&[(&format!("{name}.c"), &source)])
}

fn import(folder: &Folder, name: &str, size: &str) {
    let source = format!("{name}.c");
    let ran = folder.run(&["nest", "import", &source, "--function", name, "--size", size]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stdout.contains(&format!("next: tunesmith tune {name}.toml")), "{ran:#?}");
}

fn tuned(folder: &Folder, name: &str, device: &str, evaluations: usize) -> Ran {
    let (problem, out) = (format!("{name}.toml"), format!("{name}.jsonl"));
    let evaluations = format!("evaluations {evaluations}");
    let stop = ["--strategy", "random", "--stop", &evaluations, "--device", device];
    folder.run(&[&["tune", &problem, "--out", &out, "--json", "--quiet"], &stop[..]].concat())
}

/// Tunes an imported nest, and checks that every configuration computes what the function does.
fn verified(folder: &Folder, name: &str, device: &str, evaluations: usize) {
    let ran = tuned(folder, name, device, evaluations);
    assert_eq!(ran.code, Some(0), "{name} on {device}: {ran:#?}");
    let outcome = ran.json();
    let failed = outcome["failed"].as_object().unwrap();
    assert!(failed.values().all(|count| *count == 0), "{name} on {device}: {outcome:#}");
    assert_eq!(outcome["verified"], true, "{name} on {device}: {outcome:#}");
}

#[test]
fn imported_nests_compute_what_their_functions_compute() {
    let sizes = [
        ("matmul", "n=33,m=20,l=47"),
        ("stencil", "n=40,m=70"),
        ("conv", "h=21,w=50"),
        ("mvt", "n=45"),
        ("syrk", "n=37,m=19"),
    ];
    for (name, size) in sizes {
        let folder = folder(name);
        import(&folder, name, size);
        verified(&folder, name, "c", 5);
        if ["matmul", "stencil"].contains(&name) && has_opencl() {
            verified(&folder, name, "opencl", 3);
        }
    }
}

/// The kernels by which the cost model is judged.
const JUDGES: &str = "bench/costmodel/polybench/kernels";

#[test]
fn the_kernels_of_the_polybench_set_are_imported() {
    let sizes = std::fs::read_to_string(repository().join(JUDGES).join("sizes")).unwrap();
    assert!(sizes.lines().count() >= 20, "{sizes}");
    for line in sizes.lines() {
        let (name, size) = line.split_once(' ').unwrap();
        import(&with_kernel(&format!("{JUDGES}/{name}.c"), name), name, size);
    }
}

#[test]
fn kernels_with_several_loop_nests_choices_and_backward_loops_are_verified() {
    let sizes = [
        ("gemm", "ni=17,nj=23,nk=9"),
        ("two_products", "ni=9,nj=12,nk=7,nl=10"),
        ("atax", "m=20,n=31"),
        ("doitgen", "nr=4,nq=5,np=8"),
        ("correlation", "m=12,n=20"),
        ("jacobi_2d", "t=3,n=19"),
        ("floyd_warshall", "n=15"),
        ("back_substitution", "n=25"),
        ("threshold", "n=30,m=41"),
    ];
    for (name, size) in sizes {
        let folder = with_kernel(&format!("{JUDGES}/{name}.c"), name);
        import(&folder, name, size);
        verified(&folder, name, "c", 2);
    }
}

#[test]
fn a_nest_that_computes_something_else_than_the_function_is_found() {
    let folder = folder("syrk");
    import(&folder, "syrk", "n=20,m=10");
    let source = std::fs::read_to_string(folder.path("syrk.c")).unwrap();
    folder.write("syrk.c", &source.replace("j <= i", "j < i"));
    let ran = tuned(&folder, "syrk", "c", 5);
    assert_ne!(ran.code, Some(0), "{ran:#?}");
    assert!(ran.stderr.contains("correctness") || ran.stdout.contains("correctness"), "{ran:#?}");
}

#[test]
fn what_cannot_be_imported_is_listed_with_its_places() {
    let folder = Folder::with(&[(
        "k.c",
        "void k(int n, float *restrict a) {\n  for (int i = 0; i < n; i++) {\n    a[i*i] = 1.0f;\n    while (n) a[i] = f(2.0f);\n  }\n}\n",
    )]);
    let arguments = ["nest", "import", "k.c", "--function", "k"];
    folder.run(&arguments).refused(&["line 3, column 7: `i*i` is not affine", "line 4, column 5"]);
    assert!(!folder.path("k.nest").exists());
    folder.run(&["nest", "import", "k.c", "--function", "q"]).refused(&["there is no function `q`; it has k"]);
    folder.run(&["nest", "import", "none.c", "--function", "q"]).refused(&["none.c"]);
}

#[test]
fn an_import_overwrites_its_own_files_and_no_others() {
    let folder = folder("mvt");
    import(&folder, "mvt", "n=8");
    import(&folder, "mvt", "n=9");
    assert!(std::fs::read_to_string(folder.path("mvt.toml")).unwrap().contains("n = 9"));
    folder.write("mvt.nest", "nest mine\n");
    let arguments = ["nest", "import", "mvt.c", "--function", "mvt"];
    folder.run(&arguments).refused(&["mvt.nest", "did not write it"]);
    folder.run(&[&arguments[..], &["--size", "m=8"]].concat()).refused(&["no size `m`", "it has n"]);
}
