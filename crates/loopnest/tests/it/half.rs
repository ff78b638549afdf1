//! Half precision: cells of 16 bits, computed in single precision.

use crate::program;

use program::{Sample, compare, compare_with};
use tunesmith_loopnest::{Data, Dialect, LaneOrder, Nest, Value, codegen, interpret};

/// Every way in which cells in half precision are read and written.
const MIXED: &str = "
    nest mixed
    sizes n
    assume n > 0
    array a[n]: f16
    array b[n]: f16
    array copy[n]: f16
    array single[n]: f32
    array double[n]: f64
    array whole[n]: i32
    local tile[16]: f16
    temporary t: f16
    temporary pair[2]: f16
    {[g, l]: 0 <= g and 16*g < n and 0 <= l < 16 and l + 16*g < n}
    copy[l + 16*g] = a[l + 16*g]                                      @ g, l
    t = 0.1                                                           @ g, l
    t = t + a[l + 16*g]*b[l + 16*g] - 3                               @ g, l
    pair[0] = t / (a[l + 16*g] + 2.5)                                 @ g, l
    pair[1] = max(t, sqrt(abs(b[l + 16*g])))                          @ g, l
    tile[l] = -b[l + 16*g]                                            @ g, l
    single[l + 16*g] = pair[0]**2 + pair[1]*0.75 + t                  @ g, l
    double[l + 16*g] = select(t < b[l + 16*g], t, double[l + 16*g])   @ g, l
    whole[l + 16*g] = 50*t                                            @ g, l
    b[l + 16*g] = tile[l]*0.3 + whole[l + 16*g] + l                   @ g, l
";

/// Returns the nest with its work-groups and work-items.
fn mixed() -> Nest {
    let text = format!("{MIXED}\ntag g group.0\ntag l local.0");
    text.parse().unwrap_or_else(|error| panic!("{error}\n{text}"))
}

fn sample(nest: &Nest, sizes: &[i64]) -> Sample {
    Sample { nest: nest.clone(), sizes: sizes.to_vec(), data: Data::filled(nest, sizes, 3).unwrap() }
}

#[test]
fn half_precision_is_in_c_what_the_interpreter_says_with_and_without_a_type_of_the_compiler() {
    let all: Vec<Sample> = [1, 16, 41].map(|n| sample(&mixed(), &[n])).into();
    compare(&all);
    compare_with(&["-O3", "-march=native", "-ffp-contract=off"], str::to_string, &all);
    compare_with(&[], |text| text.replace("__FLT16_MANT_DIG__", "NO_HALF"), &all);
}

const CONVERSIONS: &str = "
    sizes n
    assume n > 0
    array bits[n]: f16
    array wide[n]: f32
    array near[n]: f32
    array narrow[n]: f16
    {[i]: 0 <= i < n}
    wide[i] = bits[i]
    narrow[i] = near[i]";

#[test]
fn every_number_is_converted_exactly_and_what_lies_between_two_to_the_nearer_or_the_even_one() {
    let nest: Nest = CONVERSIONS.parse().unwrap();
    let sizes = [1 << 16];
    let mut data = Data::filled(&nest, &sizes, 1).unwrap();
    let all: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
    data.set_memory(&nest, &sizes, nest.array_id("bits").unwrap(), &all).unwrap();
    let halves: Vec<f64> = data.of(nest.array_id("bits").unwrap()).iter().map(|value| value.as_f64()).collect();
    // Each finite number, and the numbers around the middle between it and the next.
    let between = |at: usize| match (halves[at], halves.get(at + 1).copied().unwrap_or(f64::NAN)) {
        (own, next) if own.is_finite() && next.is_finite() => {
            let middle = ((own + next) / 2.0) as f32;
            [own as f32, middle.next_down(), middle, middle.next_up()][at % 4]
        }
        (own, _) => own as f32,
    };
    let near = (0..halves.len()).map(|at| Value::Float(between(at).into()));
    let place = nest.arrays.iter().position(|array| array.name == "near").unwrap();
    data.cells[place] = near.collect();
    let all = [Sample { nest: nest.clone(), sizes: sizes.to_vec(), data: data.clone() }];
    compare(&all);
    compare_with(&[], |text| text.replace("__FLT16_MANT_DIG__", "NO_HALF"), &all);
    // The nearest of all numbers, found by a search.
    interpret::run(&nest, &sizes, &mut data, LaneOrder::Ascending).unwrap();
    let finite: Vec<f64> = halves[..0x7c00].to_vec();
    let found = data.of(nest.array_id("narrow").unwrap());
    for (at, (near, found)) in data.of(nest.array_id("near").unwrap()).iter().zip(found).enumerate().step_by(7) {
        let (near, found) = (near.as_f64(), found.as_f64());
        if near.abs() >= 65520.0 || near.is_nan() {
            assert!(found == near || found == near.signum() * f64::INFINITY || found.is_nan(), "{near}: {found}");
            continue;
        }
        let upper = finite.partition_point(|half| *half < near.abs()).min(finite.len() - 1);
        let lower = upper.saturating_sub(1);
        let (below, above) = (near.abs() - finite[lower], finite[upper] - near.abs());
        let is_upper = above < below || (above == below && upper % 2 == 0);
        let nearest = if is_upper { finite[upper] } else { finite[lower] };
        assert_eq!(found.abs(), nearest, "{at}: {near}");
    }
}

#[test]
fn the_languages_convert_without_extensions_and_headers() {
    let source = |dialect| codegen::source(&mixed(), dialect).unwrap().text;
    insta::assert_snapshot!("half_opencl", source(Dialect::OpenCl));
    insta::assert_snapshot!("half_cuda", source(Dialect::Cuda));
    insta::assert_snapshot!("half_c", source(Dialect::C));
}

#[test]
fn an_argument_in_half_precision_is_refused_with_its_remedy() {
    let error = "argument x: f16\narray a[1]: f32\na[0] = x".parse::<Nest>().unwrap_err();
    assert_eq!(error.message, "`x` is an argument in half precision, which OpenCL does not pass");
    assert_eq!(error.remedy.as_deref(), Some("declare it as `argument x: f32`"));
    assert_eq!(error.place.unwrap().line, 1);
}
