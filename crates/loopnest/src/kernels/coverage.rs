//! Kernels that widen what a calibration covers: double and half precision, conversions, functions,
//! operations that wait for each other, integers, atomic updates, vectors of cells, gathers, and further
//! strides.
//!
//! The paper's kernels compute in single precision. Without these kernels, an operation in double
//! precision, a square root or an exponential would have no cost.

use super::conversions::{CONVERSIONS, HALVES};
use super::kernel::Extent::Times;
use super::kernel::Role::Added;
use super::kernel::{
    INDEPENDENT_PRODUCTS, INDEPENDENT_QUOTIENTS, INDEPENDENT_ROOTS, Kernel, PRODUCTS, QUOTIENTS, SUMS, arithmetic,
    line, local_stride, of_type, product, rectangle, strided,
};
use super::maps::{HALOS, MAPS};
use super::reductions::REDUCTIONS;
use super::updates::UPDATES;

const STORES: &str = include_str!("strided_store.nest");
const ACCUMULATE: &str = include_str!("accumulate.nest");
const RECURRENCE: &str = include_str!("recurrence.nest");
/// Chains of sums of products: as many as processors with long vectors need to be busy, and half as many for those with
/// fewer registers. The parts are the temporaries, the chains, and the sum of their results.
const MANY_CHAINS: Kernel = Kernel {
    fill: [
        "temporary one: f32\n\
temporary two: f32\n\
temporary three: f32\n\
temporary four: f32\n\
temporary five: f32\n\
temporary six: f32\n\
temporary seven: f32\n\
temporary eight: f32",
        "one = 0.125 @ i, j\n\
two = 0.225 @ i, j\n\
three = 0.325 @ i, j\n\
four = 0.425 @ i, j\n\
five = 0.525 @ i, j\n\
six = 0.625 @ i, j\n\
seven = 0.725 @ i, j\n\
eight = 0.825 @ i, j\n\
one = 0.1*one + 1.25 @ i, j, k\n\
two = 0.2*two + 1.25 @ i, j, k\n\
three = 0.3*three + 1.25 @ i, j, k\n\
four = 0.4*four + 1.25 @ i, j, k\n\
five = 0.5*five + 1.25 @ i, j, k\n\
six = 0.6*six + 1.25 @ i, j, k\n\
seven = 0.7*seven + 1.25 @ i, j, k\n\
eight = 0.8*eight + 1.25 @ i, j, k",
        "one + two + three + four + five + six + seven + eight",
    ],
    ..rectangle("peak", "peak", Added, include_str!("peak.nest"))
};
const FEW_CHAINS: Kernel = Kernel {
    name: "peak_few",
    fill: [
        "temporary one: f32\n\
temporary two: f32\n\
temporary three: f32\n\
temporary four: f32",
        "one = 0.125 @ i, j\n\
two = 0.225 @ i, j\n\
three = 0.325 @ i, j\n\
four = 0.425 @ i, j\n\
one = 0.1*one + 1.25 @ i, j, k\n\
two = 0.2*two + 1.25 @ i, j, k\n\
three = 0.3*three + 1.25 @ i, j, k\n\
four = 0.4*four + 1.25 @ i, j, k",
        "one + two + three + four",
    ],
    ..MANY_CHAINS
};
const VECTORS: &str = include_str!("vectors.nest");

const fn double(kernel: Kernel) -> Kernel {
    of_type("f64", kernel)
}

/// Returns a kernel that stores `used` neighbouring cells of every `stride`.
const fn stores(name: &'static str, used: &'static str, stride: &'static str) -> Kernel {
    Kernel { fill: [used, "", stride], ..line(name, "strided", Added, STORES) }
}

/// Returns a kernel that copies `cells` neighbouring cells at once.
const fn vectors(name: &'static str, cells: &'static str) -> Kernel {
    Kernel { fill: [cells, "", ""], ..line(name, "vectors", Added, VECTORS) }
}

/// Returns kernels in both precisions whose operations wait for each other.
macro_rules! recurrences {
    ($single:literal, $double:literal, $what:literal, $value:literal) => {{
        let body = concat!("value = ", $value, "   @ i, j, k");
        let single = Kernel { fill: [$what, body, ""], ..line($single, "recurrence", Added, RECURRENCE) };
        [single, double(Kernel { name: $double, ..single })]
    }};
}

/// Returns kernels for one kind of arithmetic in both precisions.
macro_rules! both {
    ($single:literal, $double:literal, $what:literal, $body:expr) => {
        [arithmetic($single, Added, $what, $body), double(arithmetic($double, Added, $what, $body))]
    };
}

/// Returns kernels for one kind of integer arithmetic in both sizes.
macro_rules! integers {
    ($short:literal, $long:literal, $what:literal, $body:expr) => {
        [
            of_type("i32", arithmetic($short, Added, $what, $body)),
            of_type("i64", arithmetic($long, Added, $what, $body)),
        ]
    };
}

/// Accesses to memory.
const MEMORY: [Kernel; 58] = [
    double(line("copy_f64", "stride1", Added, include_str!("copy.nest"))),
    double(line("sum4_f64", "stride1", Added, include_str!("sum4.nest"))),
    double(line("vector_stride1_f64", "vector_scale_add", Added, include_str!("vector_stride1.nest"))),
    double(line("vector_stride2_f64", "vector_scale_add", Added, include_str!("vector_stride2.nest"))),
    double(line("vector_stride3_f64", "vector_scale_add", Added, include_str!("vector_stride3.nest"))),
    double(rectangle("transpose_tiled_f64", "transpose", Added, include_str!("transpose_tiled.nest"))),
    double(rectangle("transpose_writes_f64", "transpose", Added, include_str!("transpose_writes.nest"))),
    double(rectangle("transpose_reads_f64", "transpose", Added, include_str!("transpose_reads.nest"))),
    double(rectangle("matmul_naive_f64", "matmul_naive", Added, include_str!("matmul_naive.nest"))),
    double(product("matmul_square_f64", "matmul_tiled", Added, &[Times(1), Times(1), Times(1)])),
    double(strided("strided_2of2_f64", "2", "2")),
    double(strided("strided_2of3_f64", "2", "3")),
    double(strided("strided_3of3_f64", "3", "3")),
    double(strided("strided_1of4_f64", "1", "4")),
    double(strided("strided_2of4_f64", "2", "4")),
    double(strided("strided_3of4_f64", "3", "4")),
    double(strided("strided_4of4_f64", "4", "4")),
    double(local_stride("local_stride1_f64", "1")),
    double(local_stride("local_stride2_f64", "2")),
    double(local_stride("local_stride3_f64", "3")),
    double(local_stride("local_stride4_f64", "4")),
    strided("strided_1of8", "1", "8"),
    strided("strided_4of8", "4", "8"),
    strided("strided_6of8", "6", "8"),
    double(strided("strided_1of8_f64", "1", "8")),
    double(strided("strided_4of8_f64", "4", "8")),
    double(strided("strided_6of8_f64", "6", "8")),
    stores("stores_2of2", "2", "2"),
    stores("stores_2of3", "2", "3"),
    stores("stores_3of3", "3", "3"),
    stores("stores_1of4", "1", "4"),
    stores("stores_2of4", "2", "4"),
    stores("stores_3of4", "3", "4"),
    stores("stores_4of4", "4", "4"),
    stores("stores_1of8", "1", "8"),
    stores("stores_4of8", "4", "8"),
    double(stores("stores_2of2_f64", "2", "2")),
    double(stores("stores_3of3_f64", "3", "3")),
    double(stores("stores_1of4_f64", "1", "4")),
    double(stores("stores_4of4_f64", "4", "4")),
    double(stores("stores_1of8_f64", "1", "8")),
    stores("stores_6of8", "6", "8"),
    double(stores("stores_4of8_f64", "4", "8")),
    double(stores("stores_6of8_f64", "6", "8")),
    line("accumulate", "accumulate", Added, ACCUMULATE),
    double(line("accumulate_f64", "accumulate", Added, ACCUMULATE)),
    vectors("vectors_2", "2"),
    vectors("vectors_4", "4"),
    double(vectors("vectors_2_f64", "2")),
    line("gather", "gather", Added, include_str!("gather.nest")),
    double(line("gather_f64", "gather", Added, include_str!("gather.nest"))),
    of_type("u8", line("copy_u8", "stride1", Added, include_str!("copy.nest"))),
    of_type("i16", line("copy_i16", "stride1", Added, include_str!("copy.nest"))),
    of_type("u8", line("sum4_u8", "stride1", Added, include_str!("sum4.nest"))),
    of_type("i16", line("sum4_i16", "stride1", Added, include_str!("sum4.nest"))),
    // Pixels of three colours.
    of_type("u8", strided("strided_3of3_u8", "3", "3")),
    of_type("u8", stores("stores_3of3_u8", "3", "3")),
    of_type("i16", strided("strided_2of2_i16", "2", "2")),
];

const FUNCTIONS: [[Kernel; 2]; 16] = [
    both!(
        "sqrt",
        "sqrt_f64",
        "square roots",
        "value = i + j + k + 1    @ i, j, k
acc = acc + sqrt(sqrt(sqrt(sqrt(sqrt(sqrt(value))))))    @ i, j, k"
    ),
    both!(
        "independent_sqrt",
        "independent_sqrt_f64",
        "independent square roots",
        "value = i + j + k + 1    @ i, j, k
acc = sqrt(value + 1.0) + sqrt(value + 1.25) + sqrt(value + 1.5) + sqrt(value + 1.75) + sqrt(value + 2.0) + sqrt(value + 2.25) + acc    @ i, j, k"
    ),
    both!(
        "exp",
        "exp_f64",
        "exponentials",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = acc + exp(-exp(-exp(-exp(-exp(-exp(-value))))))    @ i, j, k"
    ),
    both!(
        "independent_exp",
        "independent_exp_f64",
        "independent exponentials",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = exp(-value) + exp(0.25 - value) + exp(0.5 - value) + exp(0.75 - value) + exp(1.0 - value) + exp(1.25 - value) + acc    @ i, j, k"
    ),
    both!(
        "log",
        "log_f64",
        "logarithms",
        "value = i + j + k + 1    @ i, j, k
acc = acc + log(2.0 + log(2.0 + log(2.0 + log(2.0 + log(2.0 + log(2.0 + value))))))    @ i, j, k"
    ),
    both!(
        "independent_log",
        "independent_log_f64",
        "independent logarithms",
        "value = i + j + k + 1    @ i, j, k
acc = log(value + 1.0) + log(value + 1.25) + log(value + 1.5) + log(value + 1.75) + log(value + 2.0) + log(value + 2.25) + acc    @ i, j, k"
    ),
    both!(
        "sin",
        "sin_f64",
        "sines",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = acc + sin(sin(sin(sin(sin(sin(value))))))    @ i, j, k"
    ),
    both!(
        "independent_sin",
        "independent_sin_f64",
        "independent sines",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = sin(value) + sin(value + 0.25) + sin(value + 0.5) + sin(value + 0.75) + sin(value + 1.0) + sin(value + 1.25) + acc    @ i, j, k"
    ),
    both!(
        "cos",
        "cos_f64",
        "cosines",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = acc + cos(cos(cos(cos(cos(cos(value))))))    @ i, j, k"
    ),
    both!(
        "tanh",
        "tanh_f64",
        "hyperbolic tangents",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = acc + tanh(tanh(tanh(tanh(tanh(tanh(value))))))    @ i, j, k"
    ),
    both!(
        "pow",
        "pow_f64",
        "independent powers",
        "value = i + j + k + 1    @ i, j, k
acc = (value + 1.0)**0.9 + (value + 1.25)**1.1 + (value + 1.5)**0.95 + (value + 1.75)**1.05 + acc    @ i, j, k"
    ),
    both!(
        "abs",
        "abs_f64",
        "absolute values",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = abs(value - 1.0) + abs(value - 1.25) + abs(value - 1.5) + abs(value - 1.75) + abs(value - 2.0) + abs(value - 2.25) + acc    @ i, j, k"
    ),
    both!(
        "min",
        "min_f64",
        "lesser values",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = min(value, 1.0) + min(value, 1.25) + min(value, 1.5) + min(value, 1.75) + min(value, 2.0) + min(value, 2.25) + acc    @ i, j, k"
    ),
    both!(
        "max",
        "max_f64",
        "greater values",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = max(value, 1.0) + max(value, 1.25) + max(value, 1.5) + max(value, 1.75) + max(value, 2.0) + max(value, 2.25) + acc    @ i, j, k"
    ),
    both!(
        "select",
        "select_f64",
        "selections",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = select(value < 1.0, 0.5, value) + select(value < 1.25, 0.625, value) + select(value < 1.5, 0.75, value) + select(value < 1.75, 0.875, value) + select(value < 2.0, 1.0, value) + select(value < 2.25, 1.125, value) + acc    @ i, j, k"
    ),
    both!(
        "fma",
        "fma_f64",
        "sums of products",
        "value = 0.001*(i + j + k + 1)    @ i, j, k
acc = acc*0.5 + value*0.75 + 1.25    @ i, j, k"
    ),
];

/// Operations that wait for the result of the one before. All bodies have a limit in which they stay
/// normal numbers.
const RECURRENCES: [[Kernel; 2]; 16] = [
    recurrences!("next_add", "next_add_f64", "sums", "value + 0.25"),
    recurrences!("next_mul", "next_mul_f64", "products", "value*0.9999"),
    recurrences!("next_fma", "next_fma_f64", "sums of products", "0.5*value + 1.25"),
    recurrences!("next_div", "next_div_f64", "quotients", "1.5/value"),
    recurrences!("next_sqrt", "next_sqrt_f64", "square roots", "sqrt(value + 2.0)"),
    recurrences!("next_rsqrt", "next_rsqrt_f64", "inverse roots", "rsqrt(value + 1.0)"),
    recurrences!("next_exp", "next_exp_f64", "exponentials", "exp(-value)"),
    recurrences!("next_log", "next_log_f64", "logarithms", "log(value + 3.0)"),
    recurrences!("next_sin", "next_sin_f64", "sines", "sin(value + 1.0)"),
    recurrences!("next_cos", "next_cos_f64", "cosines", "cos(value)"),
    recurrences!("next_tanh", "next_tanh_f64", "hyperbolic tangents", "tanh(value + 0.5)"),
    recurrences!("next_pow", "next_pow_f64", "powers", "(value + 1.0)**0.9"),
    recurrences!("next_abs", "next_abs_f64", "absolute values", "abs(value - 0.75)"),
    recurrences!("next_min", "next_min_f64", "lesser values", "min(value + 0.25, 8.0)"),
    recurrences!("next_max", "next_max_f64", "greater values", "max(value - 0.25, 0.5)"),
    recurrences!("next_select", "next_select_f64", "selections", "select(value < 8.0, value + 0.25, 1.0)"),
];

const DOUBLES: [Kernel; 10] = [
    MANY_CHAINS,
    FEW_CHAINS,
    double(Kernel { name: "peak_f64", ..MANY_CHAINS }),
    double(Kernel { name: "peak_few_f64", ..FEW_CHAINS }),
    double(arithmetic("add_f64", Added, "sums", SUMS)),
    double(arithmetic("mul_f64", Added, "products", PRODUCTS)),
    double(arithmetic("div_f64", Added, "quotients", QUOTIENTS)),
    double(arithmetic("independent_mul_f64", Added, "independent products", INDEPENDENT_PRODUCTS)),
    double(arithmetic("independent_div_f64", Added, "independent quotients", INDEPENDENT_QUOTIENTS)),
    double(arithmetic("independent_rsqrt_f64", Added, "independent inverse roots", INDEPENDENT_ROOTS)),
];

const INTEGERS: [[Kernel; 2]; 4] = [
    integers!(
        "add_i32",
        "add_i64",
        "sums of integers",
        "value = i + j + k + 1    @ i, j, k
acc = acc + value + (value + i) + (value + j) + (value + k)    @ i, j, k"
    ),
    integers!(
        "mul_i32",
        "mul_i64",
        "products of integers",
        "value = i + j + k + 1    @ i, j, k
acc = acc*value + value*(value + 3)*(value + 5)*(value + 7)    @ i, j, k"
    ),
    integers!(
        "select_i32",
        "select_i64",
        "selections among integers",
        "value = i + j + k + 1    @ i, j, k
acc = acc + select(value < 100, i, value) + select(value < 200 + j, 7, value) + select(value <= 300, k, value)    @ i, j, k"
    ),
    integers!(
        "min_i32",
        "min_i64",
        "lesser and greater integers",
        "value = i + j + k + 1    @ i, j, k
acc = acc + min(value, 100 + j) + max(value, 200 + i) + abs(value - 300)    @ i, j, k"
    ),
];

/// The number of kernels.
const COUNT: usize = MEMORY.len()
    + 2 * FUNCTIONS.len()
    + 2 * RECURRENCES.len()
    + DOUBLES.len()
    + 2 * INTEGERS.len()
    + HALVES.len()
    + CONVERSIONS.len()
    + 11 * UPDATES.len()
    + 2 * MAPS.len()
    + HALOS.len()
    + REDUCTIONS.len();

/// Every kernel that widens what a calibration covers. They are measured in one shape of
/// work-groups.
pub static COVERAGE: [Kernel; COUNT] = all();

const fn all() -> [Kernel; COUNT] {
    let mut all = [MEMORY[0]; COUNT];
    let mut at = 0;
    at = put(&mut all, at, &MEMORY);
    at = put(&mut all, at, FUNCTIONS.as_flattened());
    at = put(&mut all, at, RECURRENCES.as_flattened());
    at = put(&mut all, at, &DOUBLES);
    at = put(&mut all, at, INTEGERS.as_flattened());
    at = put(&mut all, at, &HALVES);
    at = put(&mut all, at, &CONVERSIONS);
    at = put(&mut all, at, UPDATES.as_flattened());
    at = put(&mut all, at, MAPS.as_flattened());
    at = put(&mut all, at, &HALOS);
    put(&mut all, at, &REDUCTIONS);
    all
}

const fn put(all: &mut [Kernel; COUNT], mut at: usize, some: &[Kernel]) -> usize {
    let mut from = 0;
    while from < some.len() {
        all[at] = some[from];
        at += 1;
        from += 1;
    }
    at
}
