//! `[device_settings]`: clocks and power limits as tuning parameters.

use tunesmith_power::Knob;
use tunesmith_problem::{Diagnostic, Problem};
use tunesmith_space::Value;

const HEAD: &str = "[kernel]\nfile = \"a.cu\"\nfunction = \"f\"\nlocal = [\"64\"]\nglobal = [\"N\"]\n[problem]\nsizes = \
                    { N = 64 }\n[parameters]\nTILE = [1, 2]\n";

fn parsed(text: &str) -> Result<(tempfile::TempDir, Problem), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cu"), "extern \"C\" __global__ void f() {}\n").unwrap();
    let line = |message: &Diagnostic| format!("{}; {}\n", message.text, message.remedy.clone().unwrap_or_default());
    let problem = Problem::parse(text, folder.path());
    problem.map(|problem| (folder, problem)).map_err(|error| error.messages.iter().map(line).collect::<String>())
}

fn with(settings: &str) -> Result<(tempfile::TempDir, Problem), String> {
    parsed(&format!("{HEAD}[device_settings]\n{settings}\n"))
}

fn problem(settings: &str) -> Problem {
    with(settings).unwrap_or_else(|error| panic!("{error}")).1
}

fn error(settings: &str) -> String {
    with(settings).map(drop).unwrap_err()
}

#[test]
fn settings_are_parameters_with_the_forms_of_values_of_other_parameters() {
    let problem = problem("clock_mhz = [1800, 900]\npower_limit_w = { range = \"100..=300\", step = 100 }");
    let names: Vec<&str> = problem.spec().parameters().iter().map(|parameter| parameter.name()).collect();
    assert_eq!(names, ["TILE", "clock_mhz", "power_limit_w"]);
    assert_eq!(problem.spec().parameters()[1].values(), [Value::Int(1800), Value::Int(900)]);
    assert_eq!(problem.spec().parameters()[2].values(), [100, 200, 300].map(Value::Int));
    assert_eq!(problem.knobs(), [Knob::Clock, Knob::PowerLimit]);
    assert_eq!(problem.space(&[]).unwrap().space.len(), Some(12));
}

#[test]
fn constraints_may_use_them() {
    let text =
        format!("{HEAD}[device_settings]\nclock_mhz = [1800, 900]\n[constraints]\nc = \"TILE * clock_mhz < 2000\"\n");
    let (_folder, problem) = parsed(&text).unwrap();
    assert_eq!(problem.space(&[]).unwrap().space.len(), Some(3));
}

#[test]
fn clocks_of_the_device_are_awaited_and_then_given_at_all_sizes() {
    for settings in ["clock_mhz = \"all\"", "clock_mhz = \"model\"", "clock_mhz = { all = 3 }"] {
        let constraint = "[constraints]\nc = \"clock_mhz < 2000\"\n[verify]\nsizes = [{ N = 128 }]\n";
        let (_folder, problem) = parsed(&format!("{HEAD}[device_settings]\n{settings}\n{constraint}")).unwrap();
        assert!(problem.awaits_device());
        let space = problem.space(&[]).unwrap();
        assert_eq!(space.space.len(), Some(2));
        assert!(space.warnings[0].text.contains("the values of `clock_mhz` come from the device"));
        let known = problem.with_values(&[1800, 900, 2100]);
        assert!(!known.awaits_device());
        assert_eq!(known.space(&[]).unwrap().space.len(), Some(4), "and the constraint counts");
        let run = serde_json::json!({ "TILE": [1, 2], "clock_mhz": [900] });
        let recorded = problem.as_recorded(run.as_object().unwrap());
        assert_eq!(recorded.spec().parameters().last().unwrap().values(), [Value::Int(900)]);
    }
}

#[test]
fn a_problem_may_tune_nothing_but_the_clock() {
    let text = HEAD.replace("[parameters]\nTILE = [1, 2]\n", "");
    let (_folder, problem) = parsed(&format!("{text}[device_settings]\nclock_mhz = [1800, 900]\n")).unwrap();
    assert_eq!(problem.space(&[]).unwrap().space.len(), Some(2));
}

#[test]
fn wrong_settings_are_refused_with_a_remedy() {
    assert!(error("clock_mz = [1]").contains("did you mean `clock_mhz`?"));
    assert!(error("clock_mhz = \"some\"").contains("write \"all\", \"model\""));
    assert!(error("clock_mhz = [1000.5]").contains("must be whole numbers of MHz above 0"));
    assert!(error("power_limit_w = [0]").contains("must be whole numbers of watts above 0"));
    assert!(error("power_limit_w = \"all\"").contains("write watts, as in"));
    let twice = parsed(&format!("{HEAD}clock_mhz = [1]\n[device_settings]\nclock_mhz = [900]\n")).unwrap_err();
    assert!(twice.contains("`clock_mhz` stands in `[parameters]`, too"), "{twice}");
    let command = "[kernel]\ncommand = [\"true\"]\n[parameters]\nA = [1]\n[device_settings]\nclock_mhz = [900]\n";
    assert!(parsed(command).unwrap_err().contains("a command runs on no device whose clock"));
}
