//! Compares generated C with the interpreter. One program holds many kernels, so that the compiler
//! starts only once.

use std::fmt::Write as _;
use std::io::Write as _;
use std::process::{Command, Stdio};
use tunesmith_loopnest::{
    Array, ArrayId, CodeParameter, Data, Dialect, LaneOrder, Memory, Nest, Type, Value, codegen, interpret,
};

/// A kernel to run with these sizes on these data.
pub(crate) struct Sample {
    pub(crate) nest: Nest,
    pub(crate) sizes: Vec<i64>,
    pub(crate) data: Data,
}

/// Returns the cells of memory and, for each cell by its subscripts, its place there. Computes them
/// one subscript at a time.
fn places(array: &Array, sizes: &[i64]) -> (usize, Vec<usize>) {
    let extents: Vec<usize> = array.shape.iter().map(|extent| extent.at_sizes(sizes) as usize).collect();
    let cells = array.cells().iter().map(|extent| extent.at_sizes(sizes) as usize).product::<usize>();
    let count = extents.iter().product::<usize>();
    let place = |mut cell: usize| {
        let mut subscripts = vec![0; extents.len()];
        for axis in (0..extents.len()).rev() {
            subscripts[axis] = cell % extents[axis];
            cell /= extents[axis];
        }
        let stride =
            |axis: usize| array.stride(axis).iter().map(|factor| factor.at_sizes(sizes) as usize).product::<usize>();
        (0..extents.len()).map(|axis| subscripts[axis] * stride(axis)).sum()
    };
    (cells, (0..count).map(place).collect())
}

fn value(bytes: &[u8], kind: Type) -> Value {
    match kind {
        Type::I8 => Value::Integer((bytes[0] as i8).into()),
        Type::U8 => Value::Integer(bytes[0].into()),
        Type::I16 => Value::Integer(i16::from_ne_bytes(bytes.try_into().unwrap()).into()),
        Type::U16 => Value::Integer(u16::from_ne_bytes(bytes.try_into().unwrap()).into()),
        Type::I32 => Value::Integer(i32::from_ne_bytes(bytes.try_into().unwrap()).into()),
        Type::I64 => Value::Integer(i64::from_ne_bytes(bytes.try_into().unwrap())),
        Type::F16 => Value::Float(half(u16::from_ne_bytes(bytes.try_into().unwrap()))),
        Type::F32 => Value::Float(f32::from_ne_bytes(bytes.try_into().unwrap()).into()),
        Type::F64 => Value::Float(f64::from_ne_bytes(bytes.try_into().unwrap())),
    }
}

/// Returns the value of a number in half precision.
fn half(bits: u16) -> f64 {
    let (exponent, mantissa) = (i32::from(bits >> 10 & 31), f64::from(bits & 1023));
    let sign = if bits >> 15 == 0 { 1.0 } else { -1.0 };
    match (exponent, mantissa) {
        (31, 0.0) => sign * f64::INFINITY,
        (31, _) => f64::NAN,
        (0, _) => sign * mantissa / 1024.0 / 16384.0,
        _ => sign * (1.0 + mantissa / 1024.0) * 2_f64.powi(exponent - 15),
    }
}

fn width(kind: Type) -> usize {
    kind.bits() as usize / 8
}

fn globals(nest: &Nest) -> Vec<ArrayId> {
    nest.array_ids().filter(|id| nest.array(*id).memory == Memory::Global).collect()
}

/// Returns the memory of all global arrays.
fn memory(sample: &Sample) -> Vec<u8> {
    let of = |id| sample.data.memory(&sample.nest, &sample.sizes, id).unwrap();
    globals(&sample.nest).into_iter().flat_map(of).collect()
}

/// Returns a program that runs every sample on data that it reads, and writes the results.
fn program(samples: &[Sample]) -> String {
    let mut text = String::from("#include <stdio.h>\n#include <stdlib.h>\n");
    let mut main = String::from("int main(void) {\n");
    for (place, sample) in samples.iter().enumerate() {
        let code = codegen::source(&sample.nest, Dialect::C).unwrap_or_else(|error| panic!("{error}\n{}", sample.nest));
        // Helpers and functions have the same names in every kernel.
        let own = code.text.replace("nest_", &format!("nest{place}_"));
        text += &own.replace(&format!("void {}(", code.function), &format!("void kernel_{place}("));
        main += &call(sample, place, &code.parameters);
    }
    text + &main + "  return 0;\n}\n"
}

fn call(sample: &Sample, place: usize, parameters: &[CodeParameter]) -> String {
    let (mut before, mut after, mut arguments) = (String::new(), String::new(), Vec::new());
    for parameter in parameters {
        match parameter {
            CodeParameter::Array(id) => {
                let array = sample.nest.array(*id);
                let size = places(array, &sample.sizes).0 * width(array.element);
                let name = format!("p{place}_{}", arguments.len());
                let _ = writeln!(before, "  void *{name} = malloc({size} + 1); fread({name}, 1, {size}, stdin);");
                let _ = writeln!(after, "  fwrite({name}, 1, {size}, stdout); free({name});");
                arguments.push(name);
            }
            CodeParameter::Argument(id) => arguments.push(sample.data.of(*id)[0].as_f64().to_string()),
            CodeParameter::Size(id) => arguments.push(sample.sizes[id.place()].to_string()),
        }
    }
    format!("{before}  kernel_{place}({});\n{after}", arguments.join(", "))
}

/// Runs all samples as C and with the interpreter.
pub(crate) fn compare(samples: &[Sample]) {
    compare_with(&[], str::to_string, samples);
}

/// Runs all samples with the interpreter and as C, after changing the C or compiling it with
/// further options.
pub(crate) fn compare_with(options: &[&str], change: impl Fn(&str) -> String, samples: &[Sample]) {
    let folder = tempfile::tempdir().unwrap();
    let (source, executable) = (folder.path().join("all.c"), folder.path().join("all"));
    std::fs::write(&source, change(&program(samples))).unwrap();
    let compiled = Command::new("cc")
        .args(["-O1", "-w"])
        .args(options)
        .arg("-o")
        .arg(&executable)
        .arg(&source)
        .arg("-lm")
        .output();
    let compiled = compiled.unwrap();
    let text = || std::fs::read_to_string(&source).unwrap();
    assert!(compiled.status.success(), "{}\n{}", String::from_utf8_lossy(&compiled.stderr), text());
    let mut child = Command::new(&executable).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let input: Vec<u8> = samples.iter().flat_map(memory).collect();
    let mut pipe = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || pipe.write_all(&input));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap().unwrap();
    assert!(output.status.success(), "{}", output.status);
    let mut rest = &output.stdout[..];
    for sample in samples {
        let mut expected = sample.data.clone();
        interpret::run(&sample.nest, &sample.sizes, &mut expected, LaneOrder::Ascending)
            .unwrap_or_else(|error| panic!("{error}\n{}", sample.nest));
        rest = agree(sample, &expected, rest);
    }
}

/// Compares one sample's arrays and returns the rest of the output.
fn agree<'a>(sample: &Sample, expected: &Data, mut found: &'a [u8]) -> &'a [u8] {
    for id in globals(&sample.nest) {
        let array = sample.nest.array(id);
        let (cells, places) = places(array, &sample.sizes);
        let (own, rest) = found.split_at(cells * width(array.element));
        for (cell, (expected, place)) in expected.of(id).iter().zip(places).enumerate() {
            let at = place * width(array.element);
            let (found, expected) =
                (value(&own[at..at + width(array.element)], array.element).as_f64(), expected.as_f64());
            let near = (found - expected).abs() <= 1e-5 + 1e-4 * expected.abs();
            let same = found == expected || (found.is_nan() && expected.is_nan());
            assert!(
                near || same,
                "cell {cell} of `{}` is {found}, not {expected}, with {:?} in\n{}\n{}",
                array.name,
                sample.sizes,
                sample.nest,
                codegen::source(&sample.nest, Dialect::C).unwrap().text
            );
        }
        found = rest;
    }
    found
}
