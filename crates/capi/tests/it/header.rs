//! The committed header is what cbindgen makes of the crate.
//!
//! `TUNESMITH_WRITE_HEADER=1 cargo test -p tunesmith-capi --test it header` writes it.

use std::path::Path;

#[test]
#[allow(clippy::disallowed_methods)] // It asks whether to write the header.
fn the_committed_header_is_generated_from_the_crate() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).expect("cbindgen.toml is valid");
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["status", "handle", "config", "space", "search", "selector", "online", "launch/mod"] {
        builder = builder.with_src(folder.join(format!("src/{file}.rs")));
    }
    let mut generated = Vec::new();
    builder.generate().expect("the crate can be described").write(&mut generated);
    let generated = String::from_utf8(generated).expect("a header is text");
    let path = folder.join("include/tunesmith.h");
    if std::env::var_os("TUNESMITH_WRITE_HEADER").is_some() {
        std::fs::write(&path, &generated).expect("the header can be written");
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(committed == generated, "include/tunesmith.h is out of date: run this test with TUNESMITH_WRITE_HEADER=1");
}
