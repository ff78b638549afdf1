//! A user's job: find out in continuous integration whether the winner of a run still wins.

use crate::common;

use common::{Folder, Ran};

const PROBLEM: &str = "[problem]\nname = \"bowl\"\nsizes = { N = 3 }\n[parameters]\nX = { range = \"0..=20\" }\n\
    [tuning]\ndefault = { X = 20 }\nstrategy = \"exhaustive\"\n";

const DEVICE: &str = "synthetic:1 + abs(X - N)";

/// Makes a run whose winner is X = 5.
fn tuned() -> Folder {
    let folder = Folder::with(&[("bowl.toml", PROBLEM)]);
    let ran = folder.run(&["tune", "bowl.toml", "--device", DEVICE, "--size", "N=5", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    folder
}

fn verify(folder: &Folder, device: &str, more: &[&str]) -> Ran {
    folder.run(&[&["verify-winner", "bowl.jsonl", "--device", device], more].concat())
}

/// Returns the kinds of the regressions, and what changed in the environment.
fn found(ran: &Ran) -> (Vec<String>, Vec<String>) {
    let json = ran.json();
    let texts = |list: &str, key: &str| {
        let all = json[list].as_array().unwrap().iter();
        all.map(|one| one[key].as_str().unwrap().to_string()).collect::<Vec<String>>()
    };
    (texts("regressions", "kind"), texts("environment", "what"))
}

#[test]
fn an_unchanged_winner_is_confirmed_with_its_rivals_and_the_default_at_the_sizes_of_the_run() {
    let folder = tuned();
    let ran = verify(&folder, DEVICE, &[]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    for part in ["winner     1.000 ms before  1.000 ms now", "X=5\n", "X=20\n", "ok: the winner is as fast"] {
        assert!(ran.stdout.contains(part), "{part} is missing in {}", ran.stdout);
    }
    let json = verify(&folder, DEVICE, &["--json", "--rivals", "2"]).json();
    assert_eq!(json["ok"], true, "{json:#}");
    let places: Vec<&str> =
        json["configs"].as_array().unwrap().iter().map(|one| one["place"].as_str().unwrap()).collect();
    assert_eq!(places, ["winner", "runner-up", "runner-up", "default"]);
    assert_eq!(json["configs"][0]["config"]["X"], 5);
    assert_eq!(
        (&json["configs"][3]["before"]["time_ms"], &json["configs"][3]["now"]["time_ms"]),
        (&16.0.into(), &16.0.into())
    );
    assert_eq!(std::fs::read_dir(folder.path(".")).unwrap().count(), 2, "it writes no journal");
}

#[test]
fn a_winner_that_is_slower_or_overtaken_is_a_regression() {
    let folder = tuned();
    for (device, kinds) in [
        ("synthetic:2 * (1 + abs(X - N))", &["slower"][..]),
        ("synthetic:1 + abs(X - N - 1)", &["overtaken", "slower", "less-speedup"]),
        ("synthetic:min(1 + abs(X - N), 1.5)", &["less-speedup"]),
    ] {
        let ran = verify(&folder, device, &["--json", "--any-environment"]);
        assert_eq!(
            (ran.code, found(&ran).0),
            (Some(1), kinds.iter().map(|kind| kind.to_string()).collect()),
            "{ran:#?}"
        );
    }
    let ran = verify(&folder, "synthetic:1 + abs(X - N - 1)", &[]);
    assert!(ran.stdout.contains("regression: X=6 is faster than the winner: 2.000 x"), "{ran:#?}");
    let tolerant = verify(&folder, "synthetic:2 * (1 + abs(X - N))", &["--tolerance", "120", "--any-environment"]);
    assert_eq!(tolerant.code, Some(0), "{tolerant:#?}");
}

#[test]
fn a_winner_of_another_objective_is_judged_by_it() {
    // The times of the new device are others; only the score counts.
    for (objective, better) in [("minimise score", "X=0"), ("maximise score", "X=20")] {
        let problem = format!("{PROBLEM}objective = \"{objective}\"\n[metrics]\nscore = \"X - 10 + 0 * time_ms\"\n");
        let folder = Folder::with(&[("bowl.toml", &problem)]);
        let problem = problem.replace("default = { X = 20 }", "default = { X = 10 }");
        folder.write("bowl.toml", &problem);
        let ran = folder.run(&["tune", "bowl.toml", "--device", DEVICE, "--quiet"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        let ran = verify(&folder, "synthetic:5 + X", &["--any-environment"]);
        assert_eq!(ran.code, Some(0), "{ran:#?}");
        for part in
            [&format!("{better}\n"), "10 before", "ok: the winner is as good as in the run, and nothing is better"]
        {
            assert!(ran.stdout.contains(part), "{part} is missing in {}", ran.stdout);
        }
        let sign = if objective.starts_with("min") { "+" } else { "-" };
        folder.write("bowl.toml", &problem.replace("X - 10", &format!("X - 10 {sign} 15")));
        let json = verify(&folder, DEVICE, &["--any-environment", "--json"]).json();
        assert_eq!(
            (&json["objective"]["direction"], &json["regressions"][0]["kind"]),
            (&objective.split(' ').next().unwrap().into(), &"slower".into()),
            "{json:#}"
        );
        let now = if sign == "+" { 5.0 } else { -5.0 };
        assert_eq!(json["configs"][0]["now"]["value"], now, "{json:#}");
    }
}

#[test]
fn another_environment_fails_unless_any_is_allowed() {
    let folder = tuned();
    let other = "synthetic:1.0 + abs(X - N)";
    let ran = verify(&folder, other, &["--json"]);
    assert_eq!((ran.code, found(&ran)), (Some(1), (vec![], vec!["device".to_string()])), "{ran:#?}");
    let ran = verify(&folder, other, &["--any-environment"]);
    assert!(ran.code == Some(0) && ran.stdout.contains("changed: device: "), "{ran:#?}");
    // The winner is none of the problem's configurations any more.
    folder.write("bowl.toml", &PROBLEM.replace("0..=20", "6..=20"));
    let ran = verify(&folder, DEVICE, &["--json"]);
    let (regressions, environment) = found(&ran);
    assert_eq!((ran.code, regressions), (Some(1), vec!["failed".to_string()]), "{ran:#?}");
    assert!(environment.contains(&"space".to_string()), "{environment:?}");
}

#[test]
fn changed_sources_and_data_are_another_environment() {
    let problem = "[problem]\nsizes = { N = 4 }\n[kernel]\nfile = \"twice.c\"\nfunction = \"twice\"\n[parameters]\n\
        UNROLL = [1, 2]\n[[arguments]]\nname = \"a\"\ntype = \"f32\"\nshape = [\"N\"]\nfill = \"file\"\npath = \"a.npy\"\n\
        [[arguments]]\nname = \"b\"\ntype = \"f32\"\nshape = [\"N\"]\naccess = \"out\"\n\
        [verify]\nreference = { file = \"twice.c\", function = \"twice\" }\n[tuning]\ndefault = { UNROLL = 1 }\n";
    let kernel = "void twice(const float *a, float *b) { for (int i = 0; i < N; ++i) b[i] = 2 * a[i]; }\n";
    let folder = Folder::with(&[("twice.toml", problem), ("twice.c", kernel)]);
    let data = |first: f32| {
        let mut header = "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }".to_string();
        header += &" ".repeat(117 - header.len());
        let values = [first, 1.0, 2.0, 3.0].map(f32::to_le_bytes).concat();
        let bytes = [b"\x93NUMPY\x01\x00v\x00", header.as_bytes(), b"\n", &values].concat();
        std::fs::write(folder.path("a.npy"), bytes).unwrap();
    };
    data(0.0);
    let ran = folder.run(&["tune", "twice.toml", "--device", "c", "--stop", "evaluations 2", "--quiet"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    let changed = || found(&folder.run(&["verify-winner", "twice.jsonl", "--device", "c", "--json"])).1;
    assert_eq!(changed(), [""; 0]);
    data(7.0);
    assert_eq!(changed(), ["data"]);
    folder.write("twice.c", &format!("/* changed */ {kernel}"));
    let both = changed();
    assert!(both.contains(&"data".to_string()) && both.contains(&"kernel".to_string()), "{both:?}");
}

#[test]
fn wrong_requests_are_refused_with_what_to_do() {
    let folder = tuned();
    folder.run(&["verify-winner", "nowhere.jsonl"]).refused(&["nowhere.jsonl"]);
    verify(&folder, DEVICE, &["--tolerance", "many"]).refused(&["is no number of per cent"]);
    let journal: String = std::fs::read_to_string(folder.path("bowl.jsonl")).unwrap();
    folder.write("empty.jsonl", &format!("{}\n", journal.lines().next().unwrap()));
    folder.run(&["verify-winner", "empty.jsonl"]).refused(&["no winner", "tunesmith explain"]);
    folder.write("elsewhere.jsonl", &journal);
    folder.run(&["verify-winner", "elsewhere.jsonl"]).refused(&["elsewhere.toml"]);
}
