//! Files and folders of any name: compilers find them, and digests cover them.

use crate::common;

use common::backends::{Lab, labs};
use common::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use tunesmith_backend::host::Compilers;
use tunesmith_device::{LiveEvaluator, LiveOptions};
use tunesmith_kernel::{Access, Extent, Fill, KernelSpec, Reference, Verify, WorkSize};
use tunesmith_space::Expr;

/// Signs that dependency files escape. Compilers for C take the name as it is.
const ESCAPED: &[u8] = b"a $x #y %z \\# '&;";

/// Signs that neither a source nor an option of a driver can name.
const UNNAMEABLE: &[u8] = b"a,\"b\tc\nd\\e\xff $#'??";

/// The compilers for C that this machine has.
fn compilers() -> Vec<Compilers> {
    let is_there = |cc: &&str| std::process::Command::new(cc).arg("--version").output().is_ok();
    let found: Vec<_> = ["gcc", "clang"].into_iter().filter(is_there).collect();
    assert!(!found.is_empty(), "a compiler for C must be here");
    found.into_iter().map(|cc| Compilers { cc: cc.into(), ..Compilers::default() }).collect()
}

fn name(bytes: &[u8]) -> &OsStr {
    OsStr::from_bytes(bytes)
}

fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

/// Writes a problem in C into `folder`: `y = 2 * x + 1`. The kernel is in the file `kernel` and calls a
/// function of another source. Both include files beside them and below.
fn problem(folder: &Path, kernel: &[u8]) -> KernelSpec {
    write(&folder.join("sub dir/h#.h"), "#include \"../t$1.h\"\n");
    write(&folder.join("t$1.h"), "#define TWO 2\n");
    write(&folder.join("inc,lude/one.h"), "#define ONE 1\n");
    let include = "#include \"sub dir/h#.h\"\n#include <one.h>\n";
    let calls =
        "float s(float);\nvoid f(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = TWO * s(x[i]); }";
    let mut spec = spec(write(&folder.join("f.c"), ""), "f", arguments());
    spec.kernels[0].file = write(&folder.join(name(kernel)), &format!("{include}{calls}\n"));
    let added = format!("{include}float s(float x) {{ return x + ONE / (float)TWO; }}\n");
    spec.kernels[0].sources = vec![write(&folder.join("s$1#.c"), &added)];
    spec.kernels[0].include = vec![folder.join("inc,lude")];
    let right = format!(
        "{include}void r(const float *x, float *y) {{ for (int i = 0; i < 64; i++) y[i] = TWO * x[i] + ONE; }}"
    );
    let file = write(&folder.join("r\"'.c"), &right);
    let reference = Reference::new(tunesmith_kernel::Language::C, file, "r");
    spec.verify = Verify { reference: Some(reference), ..Verify::default() };
    spec
}

fn arguments() -> Vec<tunesmith_kernel::Argument> {
    vec![buffer("x", "f32", 64, Access::In, Fill::Random), buffer("y", "f32", 64, Access::Out, Fill::Zeros)]
}

#[test]
fn a_problem_in_c_may_have_any_names() {
    for compilers in compilers() {
        for (folder_name, kernel) in [(ESCAPED, &b"k$1#.c"[..]), (UNNAMEABLE, b"k.c"), (b"plain", UNNAMEABLE)] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join(name(folder_name));
            let spec = problem(&folder, kernel);
            let open = || {
                let options = LiveOptions { compilers: compilers.clone(), ..options(spec.clone()) };
                LiveEvaluator::new(&one(), options).unwrap_or_else(|error| panic!("{folder:?} {kernel:?}: {error}"))
            };
            let mut evaluator = open();
            assert_correct(&evaluate(&mut evaluator, config(&one(), 1)));
            let before = evaluator.identity();
            write(&folder.join("t$1.h"), "#define TWO 2 /* changed */\n");
            let after = open().identity();
            let changed: Vec<&str> =
                before.iter().zip(&after).filter(|(a, b)| a != b).map(|((name, _), _)| name.as_str()).collect();
            assert_eq!(changed.len(), 2, "the kernel and the reference include the header: {changed:?}");
        }
    }
}

#[test]
fn messages_of_a_compiler_name_the_users_file() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("dq\"x");
    let mut spec = problem(&folder, b"k.c");
    write(&folder.join("t$1.h"), "#define TWO 2\nint f(flaot);\n");
    spec.verify = Verify::default();
    let mut evaluator = evaluator(&one(), spec);
    let header = format!("{}/sub dir/../t$1.h:2:", folder.canonicalize().unwrap().display());
    assert_failed(&evaluate(&mut evaluator, config(&one(), 1)), tunesmith_core::FailureKind::Compile, &[&header]);
}

#[test]
fn remarks_of_a_compiler_are_no_names_of_files() {
    let folder = Folder::new();
    let script =
        "#!/bin/sh\necho 'remark: /no/such/file is fast'\necho 'cc: note: /no/such/remark' >&2\nexec cc \"$@\"\n";
    let cc = folder.script("cc with remarks", script);
    let spec = problem(folder.0.path(), b"k.c");
    let compilers = Compilers { cc: format!("'{cc}'"), ..Compilers::default() };
    let mut evaluator = LiveEvaluator::new(&one(), LiveOptions { compilers, ..options(spec) }).unwrap();
    assert_correct(&evaluate(&mut evaluator, config(&one(), 1)));
}

/// Writes a problem of the lab's language into `folder`, whose kernel includes a header beside it and
/// one of another folder.
fn driver_problem(lab: &Lab, folder: &Path) -> KernelSpec {
    let expr = |text: &str| vec![Expr::parse(text).unwrap()];
    let work = WorkSize { extent: Extent::Global(expr("64")), local: None };
    let portable = std::fs::read_to_string(kernel_file("portable.h")).unwrap();
    write(&folder.join("sub dir/portable.h"), &portable);
    write(&folder.join("own folder/two.h"), "#define TWO 2\n");
    let source = "#include \"sub dir/portable.h\"\n#include <two.h>\n\
        KERNEL f(GLOBAL const float *x, GLOBAL float *y)\n{\n    ITEMS(i, 0, 64) { y[i] = TWO * x[i]; }\n}\n";
    let mut spec = lab.spec("f", source, arguments(), work);
    let text = std::fs::read_to_string(&spec.kernels[0].file).unwrap();
    spec.kernels[0].file = write(&folder.join(format!("k$1#.{}", lab.suffix())), &text);
    spec.kernels[0].include = vec![folder.join("own folder")];
    let right = "void r(const float *x, float *y) { for (int i = 0; i < 64; i++) y[i] = 2 * x[i]; }\n";
    spec.verify = reference(write(&folder.join("r.c"), right), "r");
    spec
}

#[test]
fn kernels_of_every_backend_may_lie_in_any_folder() {
    for lab in labs() {
        for folder_name in [ESCAPED, UNNAMEABLE] {
            let folder = tempfile::tempdir().unwrap();
            let spec = driver_problem(&lab, &folder.path().join(name(folder_name)));
            let mut evaluator = lab.evaluator(&one(), spec);
            assert_correct(&evaluate(&mut evaluator, config(&one(), 1)));
        }
    }
}

#[test]
fn sources_that_are_joined_may_have_any_names() {
    let Some(lab) = labs().into_iter().find(Lab::is_opencl) else { return };
    let folder = tempfile::tempdir().unwrap();
    let mut spec = driver_problem(&lab, folder.path());
    let added = write(&folder.path().join(name(UNNAMEABLE)), "int unused(void);\n");
    spec.kernels[0].sources = vec![added];
    assert_correct(&evaluate(&mut lab.evaluator(&one(), spec), config(&one(), 1)));
}

#[test]
fn data_may_have_any_names() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = problem(folder.path(), b"k.c");
    let numbers: Vec<u8> = (0..64).flat_map(|number: u8| f32::from(number).to_le_bytes()).collect();
    let data = folder.path().join(name(UNNAMEABLE));
    std::fs::write(&data, numbers).unwrap();
    if let tunesmith_kernel::ArgumentKind::Buffer { fill, .. } = &mut spec.arguments[0].kind {
        *fill = Fill::File(data);
    }
    let right: Vec<u8> = (0..64).flat_map(|number: u8| (2.0 * f32::from(number) + 1.0).to_le_bytes()).collect();
    let expected = folder.path().join(name(b"out\t\xff\"$.bin"));
    std::fs::write(&expected, right).unwrap();
    spec.verify = Verify { expected: vec![("y".to_owned(), Fill::File(expected))], ..Verify::default() };
    assert_correct(&evaluate(&mut evaluator(&one(), spec), config(&one(), 1)));
}
