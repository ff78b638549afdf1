//! Names the shared library as it is installed, so that programs find it under that name.

#[allow(clippy::print_stdout)] // Cargo reads what a build script prints.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if cfg!(target_os = "linux") {
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libtunesmith.so.0");
    }
}
