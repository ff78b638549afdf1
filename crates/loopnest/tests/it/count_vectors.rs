//! Compares counts of the paper's kernels with reference counts. Another implementation made these,
//! and brute force confirmed them.

use serde_json::Value;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use tunesmith_loopnest::count;
use tunesmith_loopnest::kernels::Kernel;

/// Names of the kernels in the reference and in this crate.
const NAMES: [(&str, &str); 34] = [
    ("mm_tiled_sq", "matmul_square"),
    ("mm_tiled_nhalf", "matmul_few_rows"),
    ("mm_tiled_mhalf", "matmul_short_sums"),
    ("mm_tiled_lhalf", "matmul_few_columns"),
    ("mm_naive", "matmul_naive"),
    ("vsa_s1", "vector_stride1"),
    ("vsa_s2", "vector_stride2"),
    ("vsa_s3", "vector_stride3"),
    ("transpose_1", "transpose_tiled"),
    ("transpose_2", "transpose_writes"),
    ("transpose_3", "transpose_reads"),
    ("gmem1_1", "copy"),
    ("gmem1_2", "sum4"),
    ("gmem1_3", "index"),
    ("filled_s2", "filled_stride2"),
    ("filled_s3", "filled_stride3"),
    ("filledk_s2", "filled_sliding_stride2"),
    ("filledk_s3", "filled_sliding_stride3"),
    ("arith_add", "arithmetic_add"),
    ("arith_mul", "arithmetic_mul"),
    ("arith_div", "arithmetic_div"),
    ("arith_pow", "arithmetic_pow"),
    ("arith_pow2", "arithmetic_square"),
    ("arith_rsqrt", "arithmetic_rsqrt"),
    ("empty", "empty"),
    ("fd5", "finite_differences"),
    ("mm_skinny", "matmul_skinny"),
    ("conv7", "convolution"),
    ("conv7_pf", "convolution_tiled"),
    ("nbody", "nbody"),
    ("arithI_mul", "independent_mul"),
    ("arithI_div", "independent_div"),
    ("arithI_pow2", "independent_square"),
    ("arithI_rsqrt", "independent_rsqrt"),
];

fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared");
    let given = option_env!("TUNESMITH_SHARED").map(PathBuf::from);
    [given, Some(beside)]
        .into_iter()
        .flatten()
        .map(|root| root.join("vectors/counts/vectors.json.gz"))
        .find(|path| path.exists())
}

/// Returns this crate's name for a property of the reference, or `None` for a property that is not
/// in the paper.
fn property(reference: &str) -> Option<String> {
    if reference.starts_with("op:int") || reference == "l:32:store" {
        return None;
    }
    Some(match reference {
        "barrier" => "barriers".to_string(),
        other => other.replace("special:func:", ""),
    })
}

#[test]
fn every_reference_count_is_met_at_every_size() {
    let Some(path) = shared() else {
        println!("skipped: the shared vectors are not there");
        return;
    };
    let mut text = String::new();
    flate2::read::GzDecoder::new(std::fs::File::open(path).unwrap()).read_to_string(&mut text).unwrap();
    let records: Value = serde_json::from_str(&text).unwrap();
    let records = records.as_array().unwrap();
    assert_eq!(records.len(), 204);
    let differences: Vec<String> = records.iter().flat_map(compare).collect();
    assert!(differences.is_empty(), "{}", differences.join("\n"));
}

/// Returns the differences in one record.
fn compare(record: &Value) -> Vec<String> {
    let id = record["id"].as_str().unwrap();
    let name = NAMES.iter().find(|(known, _)| *known == id).unwrap_or_else(|| panic!("no kernel for {id}")).1;
    let group: Vec<i64> = record["group_size"].as_array().unwrap().iter().map(|size| size.as_i64().unwrap()).collect();
    let (x, y) = (group[0], group.get(1).copied().unwrap_or(1));
    let whole = record["divisible_assumed"].as_bool().unwrap();
    let kernel = Kernel::named(name).unwrap();
    let label = format!("{id} {x}x{y} {}", if whole { "divisible" } else { "general" });
    let nest = kernel.nest(x, y, whole).unwrap_or_else(|error| panic!("{label}: {error}"));
    let counts = count::count(&nest).unwrap_or_else(|error| panic!("{label}: {error}\n{nest}"));
    let mut differences = Vec::new();
    for (at, sizes) in record["sizes"].as_array().unwrap().iter().enumerate() {
        let main = sizes["n"].as_i64().or(sizes["h"].as_i64()).unwrap();
        let values = counts.evaluate(&kernel.size_values(main, sizes["K"].as_i64().unwrap_or(0))).unwrap();
        let found = counts.properties().iter().map(ToString::to_string).zip(values);
        // The paper counts no conversions.
        let is_published = |name: &str| name != "launch" && !name.contains(":from_");
        let mut found: BTreeMap<String, i128> =
            found.filter(|(name, value)| *value != 0 && is_published(name)).collect();
        for (key, property_record) in record["properties"].as_object().unwrap() {
            let Some(key) = property(key) else { continue };
            let expected = i128::from(property_record["values"][at].as_i64().unwrap());
            let own = found.remove(&key).unwrap_or(0);
            if own != expected {
                differences.push(format!("{label} at {main}: {key} is {own}, not {expected}"));
            }
        }
        differences
            .extend(found.into_iter().map(|(key, value)| format!("{label} at {main}: {key} is {value}, not there")));
    }
    differences
}
