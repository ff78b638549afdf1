//! Exported code of runs of the filterbank correlation beside the library.
//!
//! `fixtures/filterbank.wisdom` has what 16 inputs measured on a core of a CPU:
//!
//! ```console
//! $ tunesmith tune filterbank.toml --inputs
//! $ tunesmith export filterbank.inputs/*.grid.jsonl --as wisdom --keep 100 -o filterbank.wisdom
//! ```
//!
//! with a copy of `examples/filterbank/filterbank.toml` in which `R = [16, 32, 64, 128, 256, 512]` and
//!
//! ```toml
//! [tuning]
//! grid = [{}, { block_h = [16, 32], block_w = [8, 16], n_output_4s = [0, 2] }]
//! [inputs]
//! filter = "1e5 <= 2 * F * H * W * D * (R - H + 1) * (C - W + 1) <= 1e7"
//! count = 16
//! runs = ["grid"]
//! ```
#![allow(clippy::disallowed_methods, reason = "the compiler that CC names is used, as everywhere")]

use crate::exported;

use exported::{Asked, Field, portfolios};
use rand::seq::IndexedRandom as _;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tunesmith::choose::read_wisdom;
use tunesmith::choose::wisdom::Input;
use tunesmith::core::Rng;
use tunesmith::export::{ExportOptions, ExportedPortfolio, export};
use tunesmith::space::ValueKind;

const QUESTIONS: usize = 10_000;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/filterbank.wisdom")
}

/// Exports the runs to `out` in `folder`. Returns the one portfolio that they make.
fn exported_runs(folder: &Path, format: &str, out: &str) -> ExportedPortfolio {
    let options = ExportOptions {
        runs: vec![fixture()],
        format: format.into(),
        most: 8,
        keep: 1,
        problem_size: Vec::new(),
        out: Some(folder.join(out)),
        problem: None,
        guard: None,
        judge: None,
        seed: 0,
        // A rule that tells inputs apart, also if one configuration does as well.
        force: true,
    };
    export(&options).unwrap().unwrap().portfolios.remove(0)
}

/// The parameters of the filterbank.
fn fields() -> Vec<Field> {
    let kinds = [
        (ValueKind::Int, &["block_h", "block_w", "n_filter_rows", "n_output_4s", "maxrreg"][..]),
        (ValueKind::Bool, &["spill", "imul_fast", "pad_shared", "use_tex1d"]),
        (ValueKind::Str, &["fast_math"]),
    ];
    let field = |(kind, names): (ValueKind, &'static [&'static str])| {
        names.iter().map(move |name| Field { parameter: name, name, kind })
    };
    kinds.into_iter().flat_map(field).collect()
}

#[test]
fn exported_code_of_the_filterbank_chooses_what_the_library_chooses() {
    let folder = tempfile::tempdir().unwrap();
    let portfolio = exported_runs(folder.path(), "wisdom", "few.wisdom");
    assert_eq!(portfolio.inputs, 16);
    let mut rng = Rng::seed_from_u64(5);
    // Most questions are near a measured input; far from all of them one configuration answers.
    let measured: Vec<Input> =
        read_wisdom(&fixture()).unwrap().wisdom.entries.into_iter().map(|own| own.input).collect();
    let mut question = || {
        let near = measured.choose(&mut rng).cloned().filter(|_| rng.random_bool(0.8));
        let size = |name: &String| match &near {
            Some(input) => (input[name] * rng.random_range(0.7..1.5f64)).round(),
            None => rng.random_range(1.0..600.0f64).round(),
        };
        portfolio.features.iter().map(size).collect()
    };
    let asked = Asked {
        prefix: "filterbank",
        fields: fields(),
        questions: (0..QUESTIONS).map(|_| question()).collect(),
        of: (portfolio.kernel.clone(), portfolio.device.clone()),
        features: portfolio.features.clone(),
        constants: Vec::new(),
    };
    let answers = asked.answers(&portfolios(&folder.path().join("few.wisdom")));
    assert!(answers.iter().collect::<BTreeSet<_>>().len() > 1, "the tree chooses among several");
    exported_runs(folder.path(), "c-header", "tuned.h");
    assert!(asked.by_c(folder.path()) == answers, "another choice of the C header");
    exported_runs(folder.path(), "rust", "tuned.rs");
    assert!(asked.by_rust(folder.path()) == answers, "another choice of the Rust module");
}
