//! Conversions between types, counted where an operation or a store needs another type.

use std::collections::BTreeMap;
use tunesmith_loopnest::{Counts, Lanes, Nest, count};

const ARRAYS: &str = "array f[n]: f32\narray d[n]: f64\narray h[n]: f16\narray w[n]: i32\narray l[n]: i64\n\
                      array b[n]: u8\narray s[n]: i16\nargument x: f32\n";

/// Returns the conversions of one instruction at one point.
fn conversions(counts: &Counts, prefix: &str) -> Vec<String> {
    let values = counts.evaluate(&[1]).unwrap();
    let counted = counts.properties().iter().map(ToString::to_string).zip(values);
    let own = counted.filter_map(|(name, times)| Some((name.strip_prefix(prefix)?.to_string(), times)));
    let named: BTreeMap<String, i128> = own.filter(|(name, times)| name.contains(":from_") && *times > 0).collect();
    named.into_iter().map(|(name, times)| if times == 1 { name } else { format!("{times} {name}") }).collect()
}

#[test]
fn a_conversion_counts_where_a_value_of_another_type_is_needed() {
    let cases: [(&str, &[&str]); 24] = [
        // Stores.
        ("d[i] = f[i]", &["f64:from_f32"]),
        ("f[i] = d[i]", &["f32:from_f64"]),
        ("w[i] = f[i]", &["i32:from_f32"]),
        ("f[i] = w[i]", &["f32:from_i32"]),
        ("l[i] = w[i]", &["i64:from_i32"]),
        ("b[i] = w[i]", &["u8:from_i32"]),
        ("h[i] = d[i]", &["f16:from_f64"]),
        // Copies, numbers and sums of sizes are free.
        ("h[i] = h[i]", &[]),
        ("b[i] = b[i]", &[]),
        ("h[i] = 0.5", &[]),
        ("f[i] = n + 1", &[]),
        ("w[i] = i", &[]),
        ("l[i] = l[i] + i", &[]),
        // Indices in floating point.
        ("f[i] = i", &["f32:from_i32"]),
        ("f[i] = f[i]*(i + 1) + i", &["2 f32:from_i32"]),
        ("d[i] = d[i]*2 + n", &[]),
        // Operands: the operation decides the type.
        ("f[i] = f[i] + w[i]", &["f32:from_i32"]),
        ("d[i] = d[i]*f[i]", &["f64:from_f32"]),
        ("f[i] = d[i]*f[i]", &["f32:from_f64", "f64:from_f32"]),
        ("w[i] = b[i] + s[i]", &["i32:from_i16", "i32:from_u8"]),
        ("b[i] = b[i] + 1", &["i32:from_u8", "u8:from_i32"]),
        ("h[i] = h[i]*h[i] + x", &["f16:from_f32", "2 f32:from_f16"]),
        ("h[i] = -h[i]", &["f16:from_f32", "f32:from_f16"]),
        ("f[i] = select(w[i] < b[i], f[i], 1.0)", &["f32:from_i32", "f32:from_u8"]),
    ];
    for (line, expected) in cases {
        let text = format!("sizes n\nassume n > 0\n{ARRAYS}{{[i]: 0 <= i < n}}\n{line}");
        let nest = text.parse::<Nest>().unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(conversions(&count::count(&nest).unwrap(), "op:"), expected, "{line}");
        assert_eq!(conversions(&count::count_modern(&nest).unwrap().counts, "arith:"), expected, "{line}");
        let lanes = count::count_lanes(&nest, Lanes::InRows(1)).unwrap();
        assert_eq!(conversions(&lanes, "arith:"), expected, "{line}");
    }
}

#[test]
fn lower_bounds_of_work_have_no_conversions() {
    let text = format!("sizes n\nassume n > 0\n{ARRAYS}{{[i]: 0 <= i < n}}\nf[i] = f[i] + w[i]*2.0");
    let least = count::count_least(&text.parse().unwrap()).unwrap().at(&[64]).unwrap();
    let names: Vec<String> = least.iter().map(|(operation, kind, _)| format!("{kind}:{operation}")).collect();
    assert!(!names.is_empty() && names.iter().all(|name| !name.contains("from_")), "{names:?}");
}
