//! Kernel Tuner's T1 files become problems: the published ones, and small ones with every kind of
//! content.

#![allow(clippy::print_stderr)] // skipped tests say why

use serde_json::{Value as Json, json};
use std::path::{Path, PathBuf};
use tunesmith::{Level, Problem, problem::ProblemError};
use tunesmith_kernel::{Access, ArgumentKind, Extent, Fill, Kernel, Memory, Shape};
use tunesmith_space::Expr;

/// Returns the folder of published problems. Without one, prints the reason and returns `None`.
#[allow(clippy::disallowed_methods)] // the environment names the test data
fn formats() -> Option<PathBuf> {
    let named = std::env::var_os("TUNESMITH_SHARED").map(PathBuf::from);
    let shared = named.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"));
    let formats = shared.join("formats");
    if formats.is_dir() {
        return Some(formats);
    }
    eprintln!("skipped: no test data in {}; set TUNESMITH_SHARED", formats.display());
    None
}

/// Returns every argument in words.
fn arguments(problem: &Problem) -> Vec<String> {
    let describe = |argument: &tunesmith_kernel::Argument| match &argument.kind {
        ArgumentKind::Scalar(value) => format!("{} {} = {}", argument.name, argument.element, value.text()),
        ArgumentKind::Object(bytes) => format!("{} {bytes:?}", argument.name),
        ArgumentKind::Local { shape } => format!("{} {} local {}", argument.name, argument.element, texts(shape)),
        ArgumentKind::Buffer { shape, fill, access, memory } => {
            let fill = match fill {
                Fill::Generator(expr) => expr.text().to_string(),
                Fill::File(path) => path.file_name().unwrap().to_string_lossy().into_owned(),
                other => format!("{other:?}"),
            };
            let memory = if *memory == Memory::Constant { " constant" } else { "" };
            let shape = match shape {
                Shape::Fixed(extents) => format!("{extents:?}"),
                Shape::Varying(extents) => format!("[{}]", texts(extents)),
            };
            format!("{} {}{shape} {access:?} {fill}{memory}", argument.name, argument.element)
        }
    };
    problem.spec().arguments().iter().map(describe).collect()
}

fn texts(exprs: &[Expr]) -> String {
    exprs.iter().map(Expr::text).collect::<Vec<_>>().join(", ")
}

/// Returns the warnings as `line: text`.
fn warnings(problem: &Problem) -> Vec<String> {
    assert!(problem.warnings().iter().all(|warning| warning.level == Level::Warning));
    problem.warnings().iter().map(|warning| format!("{}: {}", warning.line, warning.text)).collect()
}

#[track_caller]
fn assert_said(warnings: &[String], parts: &[&str]) {
    for part in parts {
        assert!(warnings.iter().any(|warning| warning.contains(part)), "`{part}` is missing in {warnings:#?}");
    }
}

#[test]
fn published_cuda_problems_load_and_say_what_keeps_their_kernels_from_being_run() {
    let Some(formats) = formats() else { return };
    let load = |name: &str| Problem::load(&formats.join(name), &[]).unwrap();
    let missing = |problem: &Problem, file: &str| {
        let missing = problem.warnings().iter().find(|warning| warning.text.starts_with("there is no file"));
        let missing = missing.unwrap_or_else(|| panic!("{:#?}", warnings(problem)));
        assert!(missing.text.contains(file), "{}", missing.text);
        assert!(missing.remedy.as_ref().unwrap().contains("--device synthetic:EXPR"));
    };

    let convolution = load("t1-convolution_milo.json");
    missing(&convolution, ".cu");
    assert_eq!(
        arguments(&convolution),
        [
            "output_image f32[16777216] Out Constant(0.0)",
            "input_image f32[16892100] In Between(0.0, 1.0)",
            "d_filter f32[225] In Between(0.0, 1.0) constant"
        ]
    );
    assert_eq!(convolution.warnings().len(), 1, "{:#?}", warnings(&convolution));
    assert_eq!(convolution.spec().tuning().default.as_ref().unwrap().len(), 10);

    let dedispersion = load("t1-dedispersion_milo.json");
    missing(&dedispersion, ".cu");
    assert_eq!(arguments(&dedispersion)[1], "output_arr f32[51200000] Out Constant(0.0)");
    assert_said(&warnings(&dedispersion), &["left out: it violates `tile_size_x > 1 or tile_stride_x == 0`"]);

    let hotspot = load("t1-hotspot_milo.json");
    missing(&hotspot, ".cu");
    assert_eq!(arguments(&hotspot)[2..4], ["temp_dst f32[16777216] InOut Constant(0.0)", "Rx_1 f32 = 0.1"]);
    assert_said(&warnings(&hotspot), &["left out: 1 is not a value of `max_tfactor`"]);

    let gemm = load("t1-ktt-cltune-gemm.json");
    missing(&gemm, ".cu");
    assert_eq!(
        arguments(&gemm)[..4],
        ["sizeM i32 = 2048", "sizeN i32 = 2048", "sizeK i32 = 2048", "matA f32[4194304] In Between(0.0, 1.0)"]
    );
    assert_eq!(gemm.spec().tuning().strategy, Some("exhaustive".parse().unwrap()));

    let coulomb = load("t1-ktt-coulomb.json");
    missing(&coulomb, ".cu");
    assert_eq!(arguments(&coulomb)[1..2], ["atomInfoX f32[64] In 1+i*0.1"]);
    assert_eq!(arguments(&coulomb)[6], "gridSpacing f32 = 0.49");
    let [(output, Fill::File(path))] = coulomb.spec().verify().expected.as_slice() else {
        panic!("{:?}", coulomb.spec().verify())
    };
    assert_eq!((output.as_str(), path), ("grid", &formats.join("Coulomb3d.bin")));
    let tolerance = coulomb.spec().verify().tolerances["grid"];
    assert_eq!((tolerance.relative, tolerance.absolute), (Some(0.0), Some(0.01)));
    assert_eq!(
        (coulomb.spec().tuning().strategy.clone(), coulomb.spec().tuning().stop.clone()),
        (Some("random".parse().unwrap()), Some("evaluations 10".parse().unwrap()))
    );
}

#[test]
fn the_published_opencl_problem_says_what_keeps_its_kernel_from_being_run() {
    let Some(formats) = formats() else { return };
    let problem = Problem::load(&formats.join("t1-gemm_milo.json"), &[]).unwrap();
    assert!(problem.spec().kernels().is_empty());
    assert_eq!(problem.spec().arguments().len(), 7);
    assert_said(
        &warnings(&problem),
        &[
            "`block_size_x` in LocalSize is no tuning parameter",
            "kernel `Xgemm` cannot be run",
            "gemm_milo/common.opencl",
            "`Misc` of KernelSpecification is not read",
        ],
    );
    let place = problem.warnings().iter().find(|warning| warning.text.contains("block_size_x")).unwrap();
    let line = problem.source_file().text.lines().nth(place.line - 1).unwrap();
    assert_eq!(line.trim(), "\"X\": \"block_size_x\",");
}

#[test]
fn published_spaces_are_built_and_a_default_outside_of_them_is_no_hindrance() {
    let Some(formats) = formats() else { return };
    for (name, size) in
        [("t1-convolution_milo.json", 4_362), ("t1-gemm_milo.json", 116_928), ("t1-hotspot_milo.json", 82_984)]
    {
        let problem = Problem::load(&formats.join(name), &[]).unwrap();
        let space = problem.space(&[]).unwrap().space;
        assert_eq!(space.size().to_string(), size.to_string(), "{name}");
        assert!(problem.default_configuration(&space).is_ok(), "{name}");
    }
}

/// Loads a T1 file with a kernel beside it. `edit` changes its KernelSpecification.
fn load(edit: impl FnOnce(&mut Json)) -> Result<Problem, ProblemError> {
    let mut spec = json!({
        "Language": "OpenCL",
        "KernelName": "scale",
        "KernelFile": "scale.cl",
        "ProblemSize": [1000, 30],
        "GlobalSize": { "X": "64 * block_x", "Y": 30 },
        "LocalSize": { "X": "block_x" },
        "Arguments": []
    });
    edit(&mut spec);
    let document = json!({
        "ConfigurationSpace": { "TuningParameters": [
            { "Name": "block_x", "Type": "int", "Values": "[16, 64, 32]" },
            { "Name": "tile", "Type": "int", "Values": "[1, 2]" }
        ] },
        "KernelSpecification": spec
    });
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("scale.cl"), "").unwrap();
    let path = folder.path().join("scale.json");
    std::fs::write(&path, serde_json::to_string_pretty(&document).unwrap()).unwrap();
    Problem::load(&path, &[])
}

fn kernel(edit: impl FnOnce(&mut Json)) -> Kernel {
    let problem = load(edit).unwrap();
    assert_eq!(problem.spec().kernels().len(), 1, "{:#?}", problem.warnings());
    problem.spec().kernels()[0].clone()
}

/// Returns extents and local sizes in words.
fn work(kernel: &Kernel) -> String {
    let work = kernel.work.as_ref().unwrap();
    let extent = match &work.extent {
        Extent::Global(exprs) => format!("items {}", texts(exprs)),
        Extent::Groups(exprs) => format!("groups {}", texts(exprs)),
    };
    format!("{extent} by {}", texts(work.local.as_deref().unwrap_or_default()))
}

#[test]
fn sizes_count_work_items_or_work_groups_as_the_file_says() {
    assert_eq!(work(&kernel(|_| ())), "items 64 * block_x, 30 by block_x, 1");
    let groups = kernel(|spec| spec["GlobalSizeType"] = "CUDA".into());
    assert_eq!(work(&groups), "groups 64 * block_x, 30 by block_x, 1");
    let listed = kernel(|spec| {
        spec["GlobalSize"] = json!(["1024", "ProblemSize[1]", 1]);
        spec["LocalSize"] = json!(["block_x", "max(tile)"]);
    });
    assert_eq!(work(&listed), "items 1024, 30, 1 by block_x, 2, 1");
}

#[test]
fn grid_divisors_go_before_the_global_size() {
    let divide = |spec: &mut Json| {
        spec["GridDivX"] = json!(["block_x", "tile"]);
        spec["GridDivY"] = json!([]);
    };
    assert_eq!(work(&kernel(divide)), "items ceildiv(1000, (block_x) * (tile)) * (block_x), 30 by block_x, 1");
    let groups = kernel(|spec| {
        divide(spec);
        spec["GlobalSizeType"] = "CUDA".into();
    });
    assert_eq!(work(&groups), "groups ceildiv(1000, (block_x) * (tile)), 30 by block_x, 1");
    let problem = load(|spec| spec["GridDivZ"] = json!(["tile"])).unwrap();
    assert_said(&warnings(&problem), &["GridDivZ divides nothing"]);
}

#[test]
fn compiler_options_are_split_and_their_braces_mean_nothing() {
    let kernel = kernel(|spec| spec["CompilerOptions"] = json!(["-I include -DX={y}", ""]));
    let options: Vec<String> = kernel.options.iter().map(ToString::to_string).collect();
    assert_eq!(options, ["-Dkernel_tuner=1", "-DX={{y}}"]);
    assert!(kernel.include.iter().any(|folder| folder.ends_with("include")), "{:?}", kernel.include);
}

#[test]
fn arguments_of_every_kind_are_carried() {
    let problem = load(|spec| {
        spec["Arguments"] = json!([
            { "Name": "n", "Type": "uint64", "MemoryType": "Scalar", "FillValue": "ProblemSize[0] * tile" },
            { "Name": "a", "Type": "float4", "MemoryType": "Vector", "AccessType": "ReadOnly", "Size": "max(block_x)",
              "FillType": "Generator", "DataSource": "i * 0.5" },
            { "Name": "b", "Type": "half", "MemoryType": "Vector", "MemType": "Constant", "AccessType": "ReadOnly", "Size": 3,
              "FillType": "BinaryRaw", "DataSource": "b.bin" },
            { "Name": "t", "Type": "float", "MemoryType": "Local", "Size": "block_x * tile" },
            { "Name": "s", "Type": "custom", "TypeSize": 12, "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 5,
              "FillType": "Constant", "FillValue": 0 },
            { "Name": "o", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": "ProblemSize[0]" }
        ]);
        spec["ReferenceArguments"] = json!([
            { "Name": "r", "TargetName": "o", "FillType": "BinaryRaw", "DataSource": "o.bin",
              "ValidationMethod": "SideBySideRelativeComparison", "ValidationThreshold": 0.5 }
        ]);
    });
    let problem = problem.unwrap();
    assert_eq!(
        arguments(&problem),
        [
            "n u64 = 1000 * tile",
            "a f32x4[64] In i * 0.5",
            "b f16[3] In b.bin constant",
            "t f32 local block_x * tile",
            "s bytes[5, 12] InOut Constant(0.0)",
            "o i32[1000] Out Random",
        ]
    );
    assert_eq!(problem.warnings(), []);
    assert_eq!(problem.spec().verify().expected.len(), 1);
    assert_eq!(problem.spec().verify().tolerances["o"].relative, Some(0.5));
    assert!(problem.spec().arguments()[5].is_output());
    assert!(matches!(problem.spec().arguments()[2].kind, ArgumentKind::Buffer { access: Access::In, .. }));
}

#[test]
fn what_cannot_be_carried_is_said_with_its_line_and_a_remedy() {
    let vector = json!({ "Name": "a", "Type": "float", "MemoryType": "Vector", "AccessType": "ReadWrite", "Size": 4, "FillType": "Random" });
    let with = |changes: &[(&str, Json)]| {
        let mut argument = vector.clone();
        changes.iter().for_each(|(key, value)| argument[*key] = value.clone());
        load(|spec| spec["Arguments"] = json!([argument])).unwrap()
    };
    for (changes, text) in [
        (vec![("FillType", "BinaryHDF".into())], "a fill by BinaryHDF is not supported"),
        (vec![("FillType", "Script".into())], "a fill by Script is not supported"),
        (vec![("FillType", "Generator".into())], "its FillType needs a DataSource"),
        (vec![("FillType", "Generator".into()), ("DataSource", "i + tile".into())], "`tile` in the DataSource"),
        (vec![("MemoryType", "Symbol".into())], "(Symbol) cannot be filled"),
        (vec![("Type", "complex".into())], "there is no type `complex`"),
        (
            vec![("Size", "tile * 4".into()), ("FillType", "BinaryRaw".into()), ("DataSource", "a.bin".into())],
            "its Size depends on the parameters",
        ),
        (vec![("FillValue", "many".into())], "its FillValue is not a number of at least 0"),
        (vec![("FillValue", (-1).into())], "its FillValue is not a number of at least 0"),
        (vec![("FillValue", 1e60.into())], "f32 cannot hold random numbers up to 1"),
        (vec![("FillValue", 300.into()), ("Type", "uint8".into())], "u8 cannot hold random numbers up to 299"),
        (vec![("Size", "4 +".into())], "expression ends after `+`"),
        (vec![("Size", 0.into())], "it has 0 elements"),
        (vec![("AccessType", "ReadOnly".into()), ("Output", 1.into())], "it is ReadOnly and an Output"),
        (vec![("TypeSize", 8.into())], "its TypeSize is not that of float"),
    ] {
        let problem = with(&changes);
        assert!(problem.spec().kernels().is_empty(), "{text}");
        assert_said(&warnings(&problem), &[text, "kernel `scale` cannot be run"]);
        let warning = problem.warnings().iter().find(|warning| warning.text.contains(text)).unwrap();
        assert!(warning.line > 20 && warning.remedy.is_some(), "{warning}");
    }
    for (changes, text) in [
        (vec![("FillValue", 1.into()), ("Type", "int32".into())], "no other i32 lies in [0, 1)"),
        (vec![("RandomSeed", 7.into())], "its RandomSeed is not used"),
        (vec![("AccessType", Json::Null)], "it has no AccessType and is taken as ReadWrite"),
        (vec![("Colour", "red".into())], "`Colour` is not read"),
    ] {
        let problem = with(&changes);
        assert_eq!(problem.spec().kernels().len(), 1, "{text}");
        assert_said(&warnings(&problem), &[text]);
    }
}

#[test]
fn random_numbers_lie_between_zero_and_the_fill_value() {
    let vector = |kind: &str, value: Json| {
        let argument = json!({ "Name": "a", "Type": kind, "MemoryType": "Vector", "AccessType": "ReadOnly",
            "Size": "4 * tile", "FillType": "Random", "FillValue": value });
        load(|spec| spec["Arguments"] = json!([argument])).unwrap()
    };
    for (kind, value, wanted) in [
        ("float", json!(324), "a f32[4 * tile] In Between(0.0, 324.0)"),
        ("half", json!(0.5), "a f16[4 * tile] In Between(0.0, 0.5)"),
        ("int32", json!(324), "a i32[4 * tile] In Between(0.0, 323.0)"),
        ("int64", json!(2.5), "a i64[4 * tile] In Between(0.0, 2.0)"),
        ("uint8", json!(256), "a u8[4 * tile] In Between(0.0, 255.0)"),
        ("float4", Json::Null, "a f32x4[4 * tile] In Random"),
    ] {
        let problem = vector(kind, value);
        assert_eq!((arguments(&problem), problem.warnings()), (vec![wanted.to_string()], &[][..]), "{kind}");
    }
}

#[test]
fn a_reference_may_be_a_generator_or_a_constant_but_not_random() {
    let output = json!({ "Name": "o", "Type": "int32", "MemoryType": "Vector", "AccessType": "WriteOnly", "Size": 4 });
    let with = |reference: &[(&str, Json)]| {
        let mut item = json!({ "Name": "r", "TargetName": "o" });
        reference.iter().for_each(|(key, value)| item[*key] = value.clone());
        load(|spec| {
            spec["Arguments"] = json!([output]);
            spec["ReferenceArguments"] = json!([item]);
        })
        .unwrap()
    };
    for (reference, wanted) in [
        (vec![("FillType", "Generator".into()), ("DataSource", "i * ProblemSize[1]".into())], "i * 30"),
        (vec![("FillType", "Constant".into()), ("FillValue", 7.into())], "Constant(7.0)"),
    ] {
        let problem = with(&reference);
        assert_eq!((problem.spec().kernels().len(), problem.warnings()), (1, &[][..]));
        let [(name, fill)] = problem.spec().verify().expected.as_slice() else {
            panic!("{:?}", problem.spec().verify())
        };
        let text = if let Fill::Generator(expr) = fill { expr.text().to_string() } else { format!("{fill:?}") };
        assert_eq!((name.as_str(), text.as_str()), ("o", wanted));
    }
    for (reference, text) in [
        (vec![("FillType", "Random".into())], "its reference does not say what is correct"),
        (vec![("DataSource", "i".into())], "its reference does not say what is correct"),
        (vec![("FillType", "Generator".into()), ("DataSource", "i * tile".into())], "`tile` in the DataSource"),
        (vec![("FillType", "Script".into())], "a fill by Script is not supported"),
    ] {
        let problem = with(&reference);
        assert!(problem.spec().kernels().is_empty(), "{text}");
        assert_said(&warnings(&problem), &[text, "kernel `scale` cannot be run"]);
    }
}

#[test]
fn the_digest_of_a_problem_tells_its_references_apart() {
    let digest = |source: &str| {
        let problem = load(|spec| {
            spec["Arguments"] = json!([{ "Name": "o", "Type": "int32", "MemoryType": "Vector",
                "AccessType": "WriteOnly", "Size": 4 }]);
            spec["ReferenceArguments"] =
                json!([{ "Name": "r", "TargetName": "o", "FillType": "Generator", "DataSource": source }]);
        });
        problem.unwrap().digest()
    };
    assert_eq!(digest("i"), digest("i"));
    assert_ne!(digest("i"), digest("i + 1"));
}

#[test]
fn a_specification_that_cannot_be_run_says_why() {
    for (key, value, text) in [
        ("KernelFile", json!("other.cl"), "there is no file"),
        ("KernelName", Json::Null, "KernelSpecification has no KernelName"),
        ("Language", json!("Vulkan"), "is written in Vulkan, which this version does not compile"),
        ("GlobalSizeType", json!("Metal"), "GlobalSizeType is not known"),
        ("LocalSize", json!({ "X": "blok_x" }), "`blok_x` in LocalSize is no tuning parameter"),
        ("GlobalSize", json!("ProblemSize[2]"), "there is no `ProblemSize[2]`: ProblemSize has 2 entries"),
        ("SharedMemory", json!("blok_x * 4"), "`blok_x` in SharedMemory is no tuning parameter"),
        ("ReferenceArguments", json!([{ "TargetName": "q" }]), "the reference's target is not an argument"),
    ] {
        let problem = load(|spec| spec[key] = value).unwrap();
        assert!(problem.spec().kernels().is_empty(), "{text}");
        assert_said(&warnings(&problem), &[text]);
    }
    for (key, value, text) in [
        ("Device", json!({ "Name": "GPU" }), "`Device` of KernelSpecification is not read"),
        ("DeviceLimits", json!({ "max": 1 }), "`DeviceLimits` of KernelSpecification is not read"),
        ("Profiling", json!(true), "`Profiling` of KernelSpecification is not read"),
    ] {
        let problem = load(|spec| spec[key] = value).unwrap();
        assert_eq!(problem.spec().kernels().len(), 1, "{text}");
        assert_said(&warnings(&problem), &[text]);
    }
}

#[test]
fn shared_memory_is_local_memory_of_every_launch() {
    for (value, wanted) in [(json!(1024), "SharedMemory bytes local 1024"), (json!("4 * block_x"), "local 4 * block_x")]
    {
        let problem = load(|spec| spec["SharedMemory"] = value).unwrap();
        assert_eq!(problem.spec().kernels().len(), 1, "{:?}", warnings(&problem));
        let arguments = arguments(&problem);
        assert!(arguments.last().unwrap().ends_with(wanted), "{arguments:?}");
        assert_eq!(problem.spec().kernels()[0].arguments.len(), arguments.len());
    }
    for none in [json!(0), json!(null)] {
        let problem = load(|spec| spec["SharedMemory"] = none).unwrap();
        assert!(arguments(&problem).iter().all(|argument| !argument.contains("local")));
    }
}

#[test]
fn the_largest_value_of_a_parameter_may_stand_in_a_condition() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("space.json");
    let document = json!({ "ConfigurationSpace": {
        "TuningParameters": [{ "Name": "a", "Type": "int", "Values": "[1, 2, 5]" }],
        "Conditions": [{ "Parameters": ["a"], "Expression": "a < max(a)" }]
    } });
    std::fs::write(&path, document.to_string()).unwrap();
    let problem = Problem::load(&path, &[]).unwrap();
    assert_eq!(problem.space(&[]).unwrap().space.size().to_string(), "2");
    assert_eq!(problem.spec().constraints()[0].name(), "a < max(a)");
}
