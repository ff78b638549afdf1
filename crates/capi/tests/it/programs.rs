//! C and C++ programs use the library: the examples, wrong use, and the wrapper.
//!
//! Each is compiled by gcc and by clang, with all warnings as errors. What is not installed is left
//! out with a printed reason, but not in continuous integration (the variable CI), where everything
//! must run.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const WARNINGS: [&str; 4] = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"];

/// Compilers for C and for C++.
const COMPILERS: [(&str, &str); 2] = [("gcc", "g++"), ("clang", "clang++")];

/// The status of programs that find no device.
const NO_DEVICE: i32 = 77;

fn house() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the folder with the shared library that cargo built for this test.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("a test is a file");
    let deps = own.parent().expect("it is in a folder");
    let folders = [deps, deps.parent().unwrap_or(deps)];
    let found = folders.into_iter().find(|folder| folder.join("libtunesmith_c.so").exists());
    found.expect("cargo builds libtunesmith_c.so").to_path_buf()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr[..]].concat()).into_owned()
}

/// Returns true if `is_there`. In continuous integration it has to be: a test that runs nowhere
/// hides its fault.
#[allow(clippy::disallowed_methods, clippy::print_stderr, reason = "CI is read from the environment")]
fn needed(is_there: bool, what: &str, remedy: &str) -> bool {
    assert!(is_there || std::env::var_os("CI").is_none(), "{what} is missing; {remedy}");
    if !is_there {
        eprintln!("left out: {what} is missing; {remedy}");
    }
    is_there
}

/// Returns true if a program is installed, as it has to be in continuous integration.
fn is_installed(program: &str) -> bool {
    let is_there = Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success());
    let package = program.strip_suffix("++").filter(|name| *name == "clang").unwrap_or(program);
    needed(is_there, program, &format!("apt install {package}"))
}

/// A program that was compiled, and the folder that it lives in.
struct Program {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Program {
    fn compile(compiler: &str, source: &str, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder for the program");
        let library = library();
        // The library is found under the name that it is installed by.
        std::os::unix::fs::symlink(library.join("libtunesmith_c.so"), folder.path().join("libtunesmith.so.0")).unwrap();
        std::os::unix::fs::symlink(library.join("libtunesmith_c.so"), folder.path().join("libtunesmith.so")).unwrap();
        let path = folder.path().join("program");
        let standard = if source.ends_with(".c") { "-std=c11" } else { "-std=c++17" };
        let mut command = Command::new(compiler);
        command.args(WARNINGS).args([standard, "-O2"]).args(options);
        command.arg("-I").arg(house().join("crates/capi/include")).arg(house().join(source));
        command.arg("-o").arg(&path).arg("-L").arg(folder.path());
        command.arg(format!("-Wl,-rpath,{}", folder.path().display())).args(["-ltunesmith", "-lpthread", "-lm"]);
        let output = command.output().expect("the compiler starts");
        assert!(output.status.success(), "{compiler} {source}:\n{}", text(&output));
        Self { folder, path }
    }

    fn run(&self, arguments: &[&str]) -> String {
        let output = Command::new(&self.path).args(arguments).current_dir(self.folder.path()).output();
        let output = output.expect("the program starts");
        assert!(output.status.success(), "{:?}:\n{}", output.status, text(&output));
        text(&output)
    }
}

/// Calls `test` with the program of each compiler for the language of `source`.
fn with_every_compiler(source: &str, options: &[&str], test: impl Fn(&Program)) {
    let of = |(c, cpp): (&'static str, &'static str)| if source.ends_with(".c") { c } else { cpp };
    let installed: Vec<&str> = COMPILERS.map(of).into_iter().filter(|compiler| is_installed(compiler)).collect();
    assert!(!installed.is_empty(), "neither gcc nor clang is installed");
    installed.into_iter().for_each(|compiler| test(&Program::compile(compiler, source, options)));
}

#[test]
fn wrong_use_is_answered_with_errors() {
    with_every_compiler("crates/capi/tests/programs/wrong_use.c", &[], |program| {
        program.run(&[]);
    });
}

#[test]
fn the_wrapper_closes_what_it_opens_and_passes_exceptions_on() {
    with_every_compiler("crates/capi/tests/programs/wrapper.cpp", &[], |program| {
        program.run(&[]);
    });
}

#[test]
fn three_hundred_rounds_leave_no_memory_and_no_descriptor() {
    with_every_compiler("crates/capi/tests/programs/leaks.c", &[], |program| {
        program.run(&["300"]);
    });
}

#[test]
fn valgrind_finds_no_fault_where_it_is_installed() {
    if !is_installed("valgrind") {
        return;
    }
    for (compiler, source) in
        [("gcc", "crates/capi/tests/programs/wrong_use.c"), ("g++", "crates/capi/tests/programs/wrapper.cpp")]
    {
        if !is_installed(compiler) {
            continue;
        }
        let program = Program::compile(compiler, source, &[]);
        let output = Command::new("valgrind")
            .args(["--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=definite", "-q"])
            .arg(&program.path)
            .current_dir(program.folder.path())
            .output()
            .expect("valgrind starts");
        assert!(output.status.success(), "{source}:\n{}", text(&output));
    }
}

#[test]
fn kernels_run_on_the_applications_own_opencl_queue() {
    let header = Path::new("/usr/include/CL/cl.h");
    // The loader is named by its file: the link for `-lOpenCL` is in a package of its own.
    let loader = Command::new("cc").arg("-print-file-name=libOpenCL.so.1").output().expect("a compiler starts");
    let loader = PathBuf::from(text(&loader).trim());
    if !needed(header.exists(), "CL/cl.h", "apt install opencl-c-headers")
        || !needed(loader.is_absolute(), "libOpenCL.so.1", "apt install ocl-icd-libopencl1")
    {
        return;
    }
    let options = ["-Wl,--no-as-needed", "-l:libOpenCL.so.1"];
    with_every_compiler("crates/capi/tests/programs/opencl_launch.c", &options, |program| {
        let run = Command::new(&program.path).current_dir(program.folder.path()).output();
        let output = run.expect("the program starts");
        let has_device = output.status.code() != Some(NO_DEVICE);
        if needed(has_device, "a device of OpenCL", "apt install pocl-opencl-icd ocl-icd-libopencl1") {
            assert!(output.status.success(), "{:?}:\n{}", output.status, text(&output));
        }
    });
}

/// Compiles `fake_cuda.c` as the library `name` in `folder`.
fn fake(folder: &Path, name: &str, define: &str) {
    let source = house().join("crates/capi/tests/programs/fake_cuda.c");
    let mut compile = Command::new("gcc");
    compile.args(WARNINGS).args(["-std=gnu11", "-O1", "-shared", "-fPIC", define]).arg(source);
    // The library that the program is linked with is the one that is found by name.
    compile.arg(format!("-Wl,-soname,{name}"));
    let output = compile.arg("-o").arg(folder.join(name)).output().expect("gcc starts");
    assert!(output.status.success(), "{}", text(&output));
}

/// The program of a CUDA application, beside a driver that takes the GPU's place.
fn cuda_application(compiler: &str, source: &str) -> Program {
    let folder = tempfile::tempdir().unwrap();
    fake(folder.path(), "libcuda.so.1", "-DCUDA");
    let driver = folder.path().join("libcuda.so.1");
    let options = ["-Wl,--no-as-needed", driver.to_str().unwrap()];
    let program = Program::compile(compiler, source, &options);
    std::fs::copy(&driver, program.folder.path().join("libcuda.so.1")).unwrap();
    program
}

fn run_cuda(program: &Program, path: &Path, variables: &[(&str, &str)]) -> Output {
    let path = format!("{}:{}", program.folder.path().display(), path.display());
    let mut command = Command::new(&program.path);
    command.env("LD_LIBRARY_PATH", path).envs(variables.iter().copied());
    command.output().expect("the program starts")
}

#[test]
fn kernels_run_on_the_applications_own_cuda_stream() {
    if !is_installed("gcc") {
        return;
    }
    let program = cuda_application("gcc", "crates/capi/tests/programs/cuda_launch.c");
    fake(program.folder.path(), "libnvrtc.so", "-DNVRTC");
    let cases = [("90", "--gpu-architecture=sm_90 "), ("89", "--gpu-architecture=compute_80 ")];
    for (capability, option) in cases {
        let variables = [("FAKE_CAPABILITY", capability), ("FAKE_OPTION", option)];
        let output = run_cuda(&program, Path::new(""), &variables);
        let printed = text(&output);
        assert!(output.status.success(), "{:?}:\n{printed}", output.status);
        let lines: Vec<&str> = printed.lines().collect();
        let wanted = [
            "the stream is refused: CUDA_ERROR_OF_THE_FAKE (400)",
            "argument 3 of the kernel was never set",
            "argument 3 of the kernel has 4 bytes, but 2 were set",
            "argument 4 of the kernel was never set; call ts_launcher_argument",
            "the kernel takes 4 arguments, but 5 were set",
            "GROUP=64",
        ];
        assert!(lines.len() == wanted.len(), "{printed}");
        lines.iter().zip(wanted).for_each(|(line, wanted)| assert!(line.contains(wanted), "{line}: {wanted}"));
    }
    let output = run_cuda(&program, Path::new(""), &[("FAKE_CAPABILITY", "75")]);
    assert!(text(&output).contains("this NVRTC is too new for the device"), "{}", text(&output));
}

#[test]
fn the_wrapper_launches_on_a_cuda_stream() {
    if !is_installed("gcc") || !is_installed("g++") {
        return;
    }
    let program = cuda_application("g++", "crates/capi/tests/programs/cuda_launch.cpp");
    fake(program.folder.path(), "libnvrtc.so", "-DNVRTC");
    let output = run_cuda(&program, Path::new(""), &[]);
    assert!(output.status.success(), "{:?}:\n{}", output.status, text(&output));
}

#[test]
#[allow(clippy::disallowed_methods)] // It asks where NVIDIA's libraries are.
fn nvidias_compiler_compiles_for_the_applications_stream() {
    let folder = std::env::var_os("TUNESMITH_NVIDIA").map(PathBuf::from);
    let library = folder.and_then(|folder| find(&folder, "libnvrtc.so"));
    let Some(library) = library.filter(|_| is_installed("gcc")) else {
        println!("skipped: TUNESMITH_NVIDIA names no folder with libnvrtc.so");
        return;
    };
    let program = cuda_application("gcc", "crates/capi/tests/programs/cuda_launch.c");
    let output = run_cuda(&program, library.parent().unwrap(), &[]);
    assert!(text(&output).contains("argument 3 of the kernel was never set"), "{}", text(&output));
    assert!(output.status.success(), "{:?}:\n{}", output.status, text(&output));
}

/// Returns a file whose name begins with `stem`, in `folder` or below it.
fn find(folder: &Path, stem: &str) -> Option<PathBuf> {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).ok()?.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    let is_it = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(stem));
    entries.iter().find_map(|path| match path.is_dir() {
        true => find(path, stem),
        false => is_it(path).then(|| path.clone()),
    })
}

#[test]
fn the_example_of_ask_and_tell_finds_a_block() {
    with_every_compiler("examples/c/ask_tell.c", &[], |program| {
        let printed = program.run(&[]);
        assert!(printed.starts_with("ROWS=") && printed.contains(" ms"), "{printed}");
    });
}

#[test]
fn the_example_of_online_tuning_begins_again_with_what_it_found() {
    with_every_compiler("examples/c/online.cpp", &[], |program| {
        let printed = program.run(&["300", "product.wisdom"]);
        assert!(printed.contains("tuning cost") && printed.contains("N=256"), "{printed}");
        let wisdom = std::fs::read_to_string(program.folder.path().join("product.wisdom")).expect("results are kept");
        let lines = wisdom.lines().count();
        program.run(&["50", "product.wisdom"]);
        let later = std::fs::read_to_string(program.folder.path().join("product.wisdom")).expect("results are kept");
        assert!(later.starts_with(&wisdom) && later.lines().count() >= lines);
    });
}

#[test]
fn an_installed_library_is_found_by_pkg_config_and_cmake() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("prefix");
    let mut install = Command::new(house().join("scripts/install-capi"));
    let output = install.arg(&prefix).arg(library()).output().expect("the script starts");
    assert!(output.status.success(), "{}", text(&output));
    if is_installed("pkg-config") {
        let mut ask = Command::new("pkg-config");
        let output = ask.args(["--cflags", "--libs", "tunesmith"]).env("PKG_CONFIG_PATH", prefix.join("lib/pkgconfig"));
        let flags = text(&output.output().expect("pkg-config starts"));
        let program = folder.path().join("ask_tell");
        let mut compile = Command::new("cc");
        compile.arg(house().join("examples/c/ask_tell.c")).args(flags.split_whitespace());
        let output = compile.arg("-o").arg(&program).output().expect("the compiler starts");
        assert!(output.status.success(), "{flags}: {}", text(&output));
        let output = Command::new(&program).env("LD_LIBRARY_PATH", prefix.join("lib")).output().expect("it starts");
        assert!(output.status.success(), "{}", text(&output));
    }
    if !is_installed("cmake") {
        return;
    }
    for target in ["Tunesmith::tunesmith", "Tunesmith::tunesmith_static"] {
        let build = folder.path().join("build").join(target.replace(':', "_"));
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(house().join("examples/c")).arg("-B").arg(&build);
        configure.arg(format!("-DCMAKE_PREFIX_PATH={}", prefix.display())).arg(format!("-DTUNESMITH={target}"));
        let output = configure.output().expect("cmake starts");
        assert!(output.status.success(), "{}", text(&output));
        let output = Command::new("cmake").arg("--build").arg(&build).output().expect("cmake starts");
        assert!(output.status.success(), "{}", text(&output));
        let output = Command::new(build.join("ask_tell")).output().expect("the example starts");
        assert!(output.status.success(), "{}", text(&output));
    }
}
