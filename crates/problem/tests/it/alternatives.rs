//! `[[alternative]]`: kernels of which the search chooses one.

use rand::{RngExt as _, SeedableRng as _};
use tunesmith_core::Rng;
use tunesmith_kernel::{Language, Scope, Template};
use tunesmith_problem::{Diagnostic, Problem};
use tunesmith_space::Value;

const ARGUMENTS: &str =
    "[[arguments]]\nname = \"x\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"inout\"\n[problem]\nsizes = { N = 64 }\n";

/// Returns the problem, or its messages with their remedies and lines.
fn parsed(text: &str) -> Result<(tempfile::TempDir, Problem), String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.c"), "void f(float *x) {}\n").unwrap();
    let text = format!("{ARGUMENTS}{text}");
    let lines = |message: &Diagnostic| {
        let line = text[..message.span.start].lines().count();
        format!("{}: {}; {}\n", line, message.text, message.remedy.clone().unwrap_or_default())
    };
    let problem = Problem::parse(&text, folder.path());
    let problem = problem.map_err(|error| error.messages.iter().map(lines).collect::<String>())?;
    Ok((folder, problem))
}

fn error(text: &str) -> String {
    parsed(text).map(drop).unwrap_err()
}

fn size(text: &str) -> u128 {
    let (_folder, problem) = parsed(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    problem.space(&[]).unwrap_or_else(|error| panic!("{error:?}\n{text}")).space.len().unwrap()
}

/// The parameters and constraints of a random alternative, and its problem without the others.
fn random_alternative(rng: &mut Rng, at: usize, shared: &str) -> (String, u128) {
    let mut parameters = String::new();
    let mut names = Vec::new();
    for own in 0..rng.random_range(0..=3) {
        let values: Vec<String> = (1..=rng.random_range(1..=4)).map(|value| value.to_string()).collect();
        parameters += &format!("P{at}_{own} = [{}]\n", values.join(", "));
        names.push(format!("P{at}_{own}"));
    }
    let constraint = match names.as_slice() {
        [] => String::new(),
        names => format!("\"some\" = \"({}) % 3 != 1 or S == 2\"\n", names.join(" + ")),
    };
    let alone = format!(
        "[kernel]\nfile = \"a.c\"\nfunction = \"f\"\n[parameters]\n{shared}{parameters}[constraints]\n{constraint}"
    );
    let size =
        parsed(&alone).map(|(_folder, problem)| problem.space(&[]).map_or(0, |built| built.space.len().unwrap()));
    let text = format!(
        "[[alternative]]\nname = \"a{at}\"\nfunction = \"f\"\n[alternative.parameters]\n{parameters}\
         [alternative.constraints]\n{constraint}"
    );
    (text, size.unwrap())
}

#[test]
fn the_space_has_as_many_configurations_as_the_spaces_of_the_alternatives_together() {
    let mut rng = Rng::seed_from_u64(5);
    let shared = "S = [1, 2, 3]\n";
    for _ in 0..60 {
        let parts: Vec<(String, u128)> =
            (0..rng.random_range(1..=4)).map(|at| random_alternative(&mut rng, at, shared)).collect();
        let alternatives: String = parts.iter().map(|(text, _)| text.as_str()).collect();
        let text = format!("{alternatives}[kernel]\nfile = \"a.c\"\n[parameters]\n{shared}");
        assert_eq!(size(&text), parts.iter().map(|(_, size)| size).sum::<u128>(), "{text}");
    }
}

const TWO: &str = "[[alternative]]\nname = \"plain\"\nfile = \"a.c\"\nfunction = \"f\"\n\
                   [[alternative]]\nname = \"tiled\"\nfile = \"a.c\"\nfunction = \"g\"\noptions = [\"-O{OPT}\"]\n\
                   [alternative.parameters]\nTILE = [8, 16]\nOPT = [2, 3]\nKIND = ['a', \"it's\"]\n";

#[test]
fn the_choice_is_the_first_parameter_and_decides_the_kernel() {
    let (_folder, problem) = parsed(TWO).unwrap();
    let names: Vec<&str> = problem.spec().parameters().iter().map(|parameter| parameter.name()).collect();
    assert_eq!(names[0], "alternative");
    assert_eq!(problem.spec().choice(), Some("alternative"));
    let space = problem.space(&[]).unwrap().space;
    assert_eq!(space.len(), Some(1 + 2 * 2 * 2));
    let spec = problem.kernel_spec(Language::C).unwrap();
    for name in ["plain", "tiled"] {
        let scope = Scope::new([("alternative".to_owned(), Value::Str(name.into()))]);
        let chosen: Vec<&str> =
            spec.kernels.iter().filter(|kernel| kernel.is_part_of(&scope)).map(|kernel| kernel.name.as_str()).collect();
        assert_eq!(chosen, [name]);
    }
    let renamed = format!("{TWO}[kernel]\nalternative = \"WAY\"\n");
    assert_eq!(parsed(&renamed).unwrap().1.spec().choice(), Some("WAY"));
}

/// An alternative of two kernels beside one of a single kernel, with options at each level.
const STEPS: &str = "[kernel]\nfile = \"a.c\"\noptions = [\"-DALL\"]\n\
                     [[alternative]]\nname = \"steps\"\noptions = [\"-DSTEPS\"]\nparameters = { OPT = [2, 3] }\n\
                     [[alternative.kernel]]\nfunction = \"f\"\n\
                     [[alternative.kernel]]\nfunction = \"g\"\nname = \"last\"\noptions = [\"-O{OPT}\"]\n\
                     [[alternative]]\nname = \"single\"\nfunction = \"h\"\n";

#[test]
fn an_alternative_may_be_a_sequence_of_kernels_and_options_add_up() {
    let (_folder, problem) = parsed(STEPS).unwrap();
    assert_eq!(problem.space(&[]).unwrap().space.len(), Some(3));
    let spec = problem.kernel_spec(Language::C).unwrap();
    let of = |name: &str| -> Vec<(String, String)> {
        let scope = Scope::new([("alternative".to_owned(), Value::Str(name.into()))]);
        let chosen = spec.kernels.iter().filter(|kernel| kernel.is_part_of(&scope));
        let options = |options: &[Template]| options.iter().map(Template::to_string).collect::<Vec<_>>().join(" ");
        chosen.map(|kernel| (kernel.name.clone(), options(&kernel.options))).collect()
    };
    let pair = |name: &str, options: &str| (name.to_owned(), options.to_owned());
    assert_eq!(of("steps"), [pair("f", "-DALL -DSTEPS"), pair("last", "-DALL -DSTEPS -O{OPT}")]);
    assert_eq!(of("single"), [pair("single", "-DALL")]);
}

#[test]
fn alternatives_may_share_a_parameter_with_the_same_values() {
    let third =
        "[[alternative]]\nname = \"third\"\nfile = \"a.c\"\nfunction = \"h\"\nparameters = { TILE = [8, 16] }\n";
    assert_eq!(size(&format!("{TWO}{third}")), 1 + 8 + 2);
    let refused = error(&format!("{TWO}{}", third.replace("16", "32")));
    assert!(refused.contains("25: `TILE` has other values than in alternative `tiled`; give it the same"), "{refused}");
}

#[test]
fn faults_of_alternatives_have_their_line_and_a_remedy() {
    let twice = TWO.replace("tiled", "plain");
    assert!(error(&twice).contains("13: two alternatives are called `plain`; give each a name"), "{}", error(&twice));
    let cases = [
        (TWO.replace("function = \"g\"\n", ""), "`alternative.function` is missing"),
        (TWO.replacen("file = \"a.c\"\n", "", 1), "`alternative.file` is missing"),
        (TWO.replace("name = \"tiled\"\n", ""), "`alternative.name` is missing"),
        (TWO.replace("tiled", "in tiles"), "`in tiles` cannot be the name of an alternative; use letters"),
        (
            TWO.replace("a.c\"\nfunction = \"g\"", "a.nest\""),
            "alternative `tiled` is a loop nest; write a problem file",
        ),
        (format!("{TWO}[kernel]\nfile = \"a.c\"\n"), "`file` stands in `[kernel]`, too; `[kernel]` is for"),
        (
            format!("{TWO}[[alternative.kernel]]\nfunction = \"f\"\n"),
            "`function` stands in `[[alternative]]`, too; `[[alternative]]` is for what its kernels share",
        ),
        (
            STEPS.replace("function = \"g\"\nname = \"last\"", "function = \"f\""),
            "two kernels are called `f`; give each a `name`",
        ),
        (STEPS.replace("function = \"g\"\n", ""), "`alternative.kernel.function` is missing"),
        (STEPS.replace("options = [\"-O{OPT}\"]", "parameters = {}"), "`alternative.kernel` has no `parameters`"),
        (format!("{TWO}[[kernel]]\nfile = \"a.c\"\n"), "`[[kernel]]` and `[[alternative]]` exclude each other"),
        (format!("{TWO}[kernel]\ncommand = [\"true\"]\n"), "a command has no `[[alternative]]`; write a parameter"),
        (format!("{TWO}[parameters]\nTILE = [1, 2]\n"), "`TILE` stands in `[parameters]`, too; a parameter of all"),
        (format!("{TWO}[parameters]\nalternative = [1, 2]\n"), "`alternative` is the parameter that chooses; rename"),
        (TWO.replace("options", "option"), "`alternative` has no `option`; did you mean `options`?"),
        (format!("{TWO}[kernel]\nalternatve = \"WAY\"\n"), "`kernel` has no `alternatve`; did you mean `alternative`?"),
    ];
    for (text, expected) in cases {
        let found = error(&text);
        assert!(found.contains(expected), "{expected} is missing in {found}");
        assert!(!found.starts_with("0: "), "no line: {found}");
    }
}

#[test]
fn an_unknown_name_in_a_constraint_of_an_alternative_is_told_with_its_place() {
    let text = format!("{TWO}[alternative.constraints]\n\"fits\" = \"TIEL < 9\"\n");
    let (_folder, problem) = parsed(&text).unwrap();
    let error = problem.space(&[]).unwrap_err();
    assert!(error.messages[0].text.contains("TIEL"), "{error:?}");
    assert!(text.contains(&problem.source_file().text[error.messages[0].span.clone()]), "{error:?}");
}

#[test]
fn an_example_of_each_alternative_is_valid_and_the_given_one_is_the_first() {
    let (_folder, problem) = parsed(TWO).unwrap();
    let space = problem.space(&[]).unwrap().space;
    for first in space.iter() {
        let examples = problem.one_of_each_alternative(&space, first);
        assert_eq!((examples.len(), examples[0]), (2, first));
        assert_ne!(space.unrank(examples[0]).indices()[0], space.unrank(examples[1]).indices()[0]);
    }
    let (_folder, plain) = parsed("[kernel]\nfile = \"a.c\"\nfunction = \"f\"\n[parameters]\nP = [1, 2]\n").unwrap();
    let space = plain.space(&[]).unwrap().space;
    assert_eq!(plain.one_of_each_alternative(&space, space.id(1).unwrap()), [space.id(1).unwrap()]);
}
